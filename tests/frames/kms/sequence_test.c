/* CRTC_GET_SEQUENCE and CRTC_QUEUE_SEQUENCE (drm_vblank.c; IGT's kms_sequence). */
#include "harness.h"

static struct output o;
static uint32_t fb;

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    fb = light_up(card, &o, 0);
    tick(o.index);
    return 0;
}

static struct drm_crtc_get_sequence get(void)
{
    struct drm_crtc_get_sequence g = {.crtc_id = o.crtc};
    assert_ok(drm(card, DRM_IOCTL_CRTC_GET_SEQUENCE, &g));
    return g;
}

static int queue(struct drm_crtc_queue_sequence *q)
{
    q->crtc_id = o.crtc;
    return drm(card, DRM_IOCTL_CRTC_QUEUE_SEQUENCE, q);
}

static struct drm_event_crtc_sequence next_event(void)
{
    struct drm_event_crtc_sequence e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_int_equal(e.base.type, DRM_EVENT_CRTC_SEQUENCE);
    assert_int_equal(e.base.length, sizeof e);
    return e;
}

static void getting_follows_the_refreshes(void **state)
{
    (void)state;
    uint64_t first = get().sequence, last = first;
    while (last - first < 60) {
        tick(o.index);
        struct drm_crtc_get_sequence g = get();
        assert_true(g.sequence > last);
        assert_int_equal(g.active, 1);
        if (!is_real())
            assert_int_equal(g.sequence_ns, now_ns());
        last = g.sequence;
    }
}

static void getting_goes_on_beside_a_pending_event(void **state)
{
    (void)state;
    struct drm_crtc_queue_sequence q = {.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 20};
    assert_ok(queue(&q));
    uint64_t first = get().sequence;
    while (get().sequence - first < 20)
        tick(o.index);
    next_event();
    assert_false(has_event(card));
}

static void many_files_see_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct drm_crtc_get_sequence g = {.crtc_id = o.crtc};
        assert_ok(drm(card_open(), DRM_IOCTL_CRTC_GET_SEQUENCE, &g));
        assert_in_range(get().sequence - g.sequence, 0, is_real() ? 1 : 0);
    }
}

static void queued_events_come_at_their_target(void **state)
{
    (void)state;
    enum { N = 60 };
    uint64_t target = get().sequence + N;
    for (int i = 0; i < N; i++) {
        struct drm_crtc_queue_sequence q = {.sequence = target, .user_data = (uint64_t)i};
        assert_ok(queue(&q));
        assert_int_equal(q.sequence, target);
    }
    while (get().sequence < target) {
        if (!is_real())
            assert_false(has_event(card));
        tick(o.index);
    }
    uint64_t seen = 0;
    for (int i = 0; i < N; i++) {
        struct drm_event_crtc_sequence e = next_event();
        assert_int_equal(e.sequence, target);
        seen |= UINT64_C(1) << e.user_data;
    }
    assert_true(seen == (UINT64_C(1) << N) - 1);
}

static void queueing_goes_on_beside_a_pending_event(void **state)
{
    (void)state;
    struct drm_crtc_queue_sequence far = {.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 30,
                                          .user_data = 1};
    assert_ok(queue(&far));
    for (int i = 0; i < 10; i++) {
        struct drm_crtc_queue_sequence q = {.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 1,
                                            .user_data = 2};
        assert_ok(queue(&q));
        tick(o.index);
        struct drm_event_crtc_sequence e = next_event();
        assert_int_equal(e.user_data, 2);
        assert_int_equal(e.sequence, q.sequence);
    }
    while (!has_event(card))
        tick(o.index);
    assert_int_equal(next_event().sequence, far.sequence);
}

static void a_relative_one_is_answered_with_its_target(void **state)
{
    (void)state;
    uint64_t at = get().sequence;
    struct drm_crtc_queue_sequence q = {.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 3};
    assert_ok(queue(&q));
    assert_in_range(q.sequence - at, 3, is_real() ? 5 : 3);
    while (!has_event(card))
        tick(o.index);
    next_event();
}

static void one_of_the_past_comes_at_once(void **state)
{
    (void)state;
    uint64_t at = get().sequence;
    struct drm_crtc_queue_sequence q = {.sequence = at, .user_data = 9};
    assert_ok(queue(&q));
    struct drm_event_crtc_sequence e = next_event();
    assert_true(e.sequence >= at);
    assert_int_equal(q.sequence, e.sequence);
    assert_int_equal(e.user_data, 9);
}

static void next_on_miss_comes_with_the_next(void **state)
{
    (void)state;
    uint64_t at = get().sequence;
    struct drm_crtc_queue_sequence q = {.flags = DRM_CRTC_SEQUENCE_NEXT_ON_MISS, .sequence = at};
    assert_ok(queue(&q));
    assert_in_range(q.sequence - at, 1, is_real() ? 3 : 1);
    tick(o.index);
    assert_int_equal(next_event().sequence, q.sequence);
}

static void the_time_is_that_of_the_refresh(void **state)
{
    (void)state;
    struct drm_crtc_queue_sequence q = {.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 1};
    assert_ok(queue(&q));
    tick(o.index);
    struct drm_event_crtc_sequence e = next_event();
    struct drm_crtc_get_sequence g = get();
    if (g.sequence == e.sequence)
        assert_int_equal(e.time_ns, g.sequence_ns);
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    for (unsigned bit = 2; bit < 32; bit++) {
        struct drm_crtc_queue_sequence q = {.flags = 1u << bit, .sequence = 1};
        assert_errno(queue(&q), EINVAL);
    }
}

static void crtcs_that_are_none_are_not_found(void **state)
{
    (void)state;
    struct drm_crtc_get_sequence g = {.crtc_id = 0};
    assert_errno(drm(card, DRM_IOCTL_CRTC_GET_SEQUENCE, &g), ENOENT);
    g.crtc_id = o.primary;
    assert_errno(drm(card, DRM_IOCTL_CRTC_GET_SEQUENCE, &g), ENOENT);
    struct drm_crtc_queue_sequence q = {.crtc_id = o.connector, .sequence = 1};
    assert_errno(drm(card, DRM_IOCTL_CRTC_QUEUE_SEQUENCE, &q), ENOENT);
}

static void a_dark_crtc_has_none(void **state)
{
    (void)state;
    assert_ok(switch_off(card, &o));
    struct drm_crtc_get_sequence g = {.crtc_id = o.crtc};
    assert_errno(drm(card, DRM_IOCTL_CRTC_GET_SEQUENCE, &g), EINVAL);
    struct drm_crtc_queue_sequence q = {.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 1};
    assert_errno(queue(&q), EINVAL);
}

static void unread_events_have_4096_bytes(void **state)
{
    (void)state;
    enum { N = 4096 / sizeof(struct drm_event_crtc_sequence) };
    struct drm_crtc_queue_sequence q;
    for (unsigned i = 0; i < N; i++) {
        q = (struct drm_crtc_queue_sequence){.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 10};
        assert_ok(queue(&q));
    }
    q = (struct drm_crtc_queue_sequence){.flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 10};
    assert_errno(queue(&q), ENOMEM);
    uint64_t at = get().sequence;
    while (get().sequence < at + 11)
        tick(o.index);
    for (unsigned i = 0; i < N; i++)
        next_event();
    q = (struct drm_crtc_queue_sequence){.sequence = at};
    assert_ok(queue(&q));
    next_event();
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(getting_follows_the_refreshes),
        lit(getting_goes_on_beside_a_pending_event),
        lit(many_files_see_the_same),
        lit(queued_events_come_at_their_target),
        lit(queueing_goes_on_beside_a_pending_event),
        lit(a_relative_one_is_answered_with_its_target),
        lit(one_of_the_past_comes_at_once),
        lit(next_on_miss_comes_with_the_next),
        lit(the_time_is_that_of_the_refresh),
        lit(unknown_flags_are_refused),
        lit(crtcs_that_are_none_are_not_found),
        lit(a_dark_crtc_has_none),
        lit(unread_events_have_4096_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
