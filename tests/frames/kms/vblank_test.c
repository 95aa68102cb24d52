/* DRM_IOCTL_WAIT_VBLANK (drm_vblank.c; IGT's kms_vblank). */
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

static union drm_wait_vblank request(uint32_t type, uint32_t sequence)
{
    return (union drm_wait_vblank){
        .request = {.type = (enum drm_vblank_seq_type)(type | o.index
                                                                  << _DRM_VBLANK_HIGH_CRTC_SHIFT),
                    .sequence = sequence}};
}

static int wait_vblank(union drm_wait_vblank *v)
{
    return drm(card, DRM_IOCTL_WAIT_VBLANK, v);
}

static uint32_t now(void)
{
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 0);
    assert_ok(wait_vblank(&v));
    return v.reply.sequence;
}

static struct drm_event_vblank next_event(void)
{
    struct drm_event_vblank e;
    memset(&e, 0xee, sizeof e);
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_int_equal(e.base.length, sizeof e);
    return e;
}

static void unknown_types_are_refused(void **state)
{
    (void)state;
    uint32_t known = _DRM_VBLANK_TYPES_MASK | _DRM_VBLANK_FLAGS_MASK | _DRM_VBLANK_HIGH_CRTC_MASK;
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | ~known, 0);
    assert_errno(wait_vblank(&v), EINVAL);
    for (unsigned bit = 0; bit < 32; bit++) {
        if (known & 1u << bit)
            continue;
        v = request(_DRM_VBLANK_RELATIVE | 1u << bit, 0);
        assert_errno(wait_vblank(&v), EINVAL);
    }
    v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_SIGNAL, 0);
    assert_errno(wait_vblank(&v), EINVAL);
    now();
}

static void crtcs_that_are_none_are_refused(void **state)
{
    (void)state;
    struct lineup l;
    get_lineup(card, &l);
    union drm_wait_vblank v = {
        .request.type = (enum drm_vblank_seq_type)(_DRM_VBLANK_RELATIVE |
                                                   l.n_crtcs << _DRM_VBLANK_HIGH_CRTC_SHIFT)};
    assert_errno(wait_vblank(&v), EINVAL);
    v = (union drm_wait_vblank){.request.type = (enum drm_vblank_seq_type)(
                                    _DRM_VBLANK_RELATIVE | _DRM_VBLANK_HIGH_CRTC_MASK)};
    assert_errno(wait_vblank(&v), EINVAL);
    v = (union drm_wait_vblank){.request.type = (enum drm_vblank_seq_type)(
                                    _DRM_VBLANK_RELATIVE | _DRM_VBLANK_SECONDARY |
                                    _DRM_VBLANK_FLAGS_MASK)};
    assert_errno(wait_vblank(&v), EINVAL);
}

static void a_dark_crtc_has_no_vblanks(void **state)
{
    (void)state;
    assert_ok(switch_off(card, &o));
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 0);
    assert_errno(wait_vblank(&v), EINVAL);
    v = request(_DRM_VBLANK_RELATIVE, 1);
    assert_errno(wait_vblank(&v), EINVAL);
    v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 1);
    assert_errno(wait_vblank(&v), EINVAL);
    light_up(card, &o, 0);
    now();
}

static void the_second_crtc_goes_by_two_names(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    light_up(card, &second, 0);
    for (int i = 0; i < 3; i++)
        tick(second.index);
    union drm_wait_vblank a = {.request.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_SECONDARY};
    assert_ok(wait_vblank(&a));
    union drm_wait_vblank b = {.request.type = (enum drm_vblank_seq_type)(
                                   _DRM_VBLANK_RELATIVE | 1 << _DRM_VBLANK_HIGH_CRTC_SHIFT)};
    assert_ok(wait_vblank(&b));
    assert_in_range(b.reply.sequence - a.reply.sequence, 0, is_real() ? 5 : 0);
}

static void events_say_their_crtc(void **state)
{
    (void)state;
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 1);
    v.request.signal = 0x1234abcd;
    assert_ok(wait_vblank(&v));
    tick(o.index);
    struct drm_event_vblank e = next_event();
    assert_int_equal(e.base.type, DRM_EVENT_VBLANK);
    assert_int_equal(e.crtc_id, o.crtc);
    assert_int_equal(e.user_data, 0x1234abcd);
    assert_ok(page_flip(card, o.crtc, fb, DRM_MODE_PAGE_FLIP_EVENT, 5));
    tick(o.index);
    e = next_event();
    assert_int_equal(e.base.type, DRM_EVENT_FLIP_COMPLETE);
    assert_int_equal(e.crtc_id, o.crtc);
    assert_int_equal(e.user_data, 5);
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", fb);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 6));
    e = next_event();
    assert_int_equal(e.base.type, DRM_EVENT_FLIP_COMPLETE);
    assert_int_equal(e.crtc_id, o.crtc);
    assert_int_equal(e.user_data, 6);
}

static void a_query_does_not_wait(void **state)
{
    (void)state;
    uint32_t a = now();
    if (!is_real())
        assert_int_equal(now(), a);
    tick(o.index);
    assert_true((int32_t)(now() - a) >= 1);
    if (!is_real())
        assert_int_equal(now() - a, 1);
}

static void a_relative_wait_ends_after_so_many(void **state)
{
    (void)state;
    uint32_t a = now();
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 3);
    assert_ok(wait_vblank(&v));
    assert_true((int32_t)(v.reply.sequence - a) >= 3);
    if (!is_real())
        assert_int_equal(v.reply.sequence - a, 3);
}

static void a_wait_waits(void **state)
{
    (void)state;
    only_ours();
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 2);
    struct pending *p = drm_start(card, DRM_IOCTL_WAIT_VBLANK, &v);
    assert_false(drm_done(p));
    tick(o.index);
    assert_false(drm_done(p));
    tick(o.index);
    assert_true(drm_done(p));
    assert_ok(drm_wait(p));
}

static void an_absolute_wait_ends_there(void **state)
{
    (void)state;
    uint32_t target = now() + 4;
    union drm_wait_vblank v = request(_DRM_VBLANK_ABSOLUTE, target);
    assert_ok(wait_vblank(&v));
    assert_int_equal(v.reply.sequence, target);
}

static void an_absolute_wait_for_the_past_ends_at_once(void **state)
{
    (void)state;
    uint32_t at = now();
    union drm_wait_vblank v = request(_DRM_VBLANK_ABSOLUTE, at - 1);
    assert_ok(wait_vblank(&v));
    if (!is_real())
        assert_int_equal(v.reply.sequence, at);
    v = request(_DRM_VBLANK_ABSOLUTE, at);
    assert_ok(wait_vblank(&v));
    /* Up to 2^23 behind: drm_vblank_passed. */
    v = request(_DRM_VBLANK_ABSOLUTE, at - (1u << 22));
    assert_ok(wait_vblank(&v));
}

static void next_on_miss_waits_for_the_next(void **state)
{
    (void)state;
    uint32_t at = now();
    union drm_wait_vblank v = request(_DRM_VBLANK_ABSOLUTE | _DRM_VBLANK_NEXTONMISS, at);
    assert_ok(wait_vblank(&v));
    assert_true((int32_t)(v.reply.sequence - at) >= 1);
    if (!is_real())
        assert_int_equal(v.reply.sequence - at, 1);
    /* Not missed: as asked. */
    at = now() + 3;
    v = request(_DRM_VBLANK_ABSOLUTE | _DRM_VBLANK_NEXTONMISS, at);
    assert_ok(wait_vblank(&v));
    assert_int_equal(v.reply.sequence, at);
}

static void an_event_for_the_past_comes_at_once(void **state)
{
    (void)state;
    uint32_t at = now();
    union drm_wait_vblank v = request(_DRM_VBLANK_ABSOLUTE | _DRM_VBLANK_EVENT, at);
    assert_ok(wait_vblank(&v));
    assert_true(has_event(card));
    struct drm_event_vblank e = next_event();
    assert_true((int32_t)(e.sequence - at) >= 0);
    assert_int_equal(e.sequence, v.reply.sequence);
}

static void an_events_reply_tells_when_it_will_be(void **state)
{
    (void)state;
    uint32_t at = now();
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 2);
    assert_ok(wait_vblank(&v));
    uint32_t target = v.reply.sequence;
    assert_true((int32_t)(target - at) >= 2);
    if (!is_real()) {
        assert_int_equal(target - at, 2);
        assert_false(has_event(card));
        tick(o.index);
        assert_false(has_event(card));
        tick(o.index);
        assert_true(has_event(card));
    }
    assert_int_equal(next_event().sequence, target);
}

/* IGT's accuracy: waits of one, and as many events for one target. */
static void events_and_waits_agree(void **state)
{
    (void)state;
    enum { N = 60 };
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 1);
    assert_ok(wait_vblank(&v));
    uint32_t target = v.reply.sequence + N;
    for (int i = 0; i < N; i++) {
        v = request(_DRM_VBLANK_RELATIVE, 1);
        assert_ok(wait_vblank(&v));
        v = request(_DRM_VBLANK_ABSOLUTE | _DRM_VBLANK_EVENT, target);
        assert_ok(wait_vblank(&v));
    }
    /* A busy machine may miss a real refresh, and then asks for what is over. */
    assert_in_range(now() - target, 0, is_real() ? N : 0);
    for (int i = 0; i < N; i++)
        assert_in_range(next_event().sequence - target, 0, is_real() ? N : 0);
    assert_false(has_event(card));
}

static void queries_go_on_beside_a_pending_event(void **state)
{
    (void)state;
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 30);
    assert_ok(wait_vblank(&v));
    uint32_t first = now(), last = first;
    while (last - first < 29) {
        tick(o.index);
        uint32_t at = now();
        assert_true((int32_t)(at - last) >= 1);
        last = at;
    }
    while (!has_event(card))
        tick(o.index);
    next_event();
}

static void waits_go_on_beside_a_pending_event(void **state)
{
    (void)state;
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 30);
    assert_ok(wait_vblank(&v));
    uint32_t last = now();
    for (int i = 0; i < 30; i++) {
        v = request(_DRM_VBLANK_RELATIVE, 1);
        assert_ok(wait_vblank(&v));
        assert_true((int32_t)(v.reply.sequence - last) >= 1);
        last = v.reply.sequence;
    }
    next_event();
    assert_false(has_event(card));
}

static void many_wait_at_a_time(void **state)
{
    (void)state;
    enum { N = 8 };
    struct file *files[N];
    struct pending *waits[N];
    union drm_wait_vblank v[N];
    uint32_t at = now();
    for (unsigned i = 0; i < N; i++) {
        files[i] = card_open();
        v[i] = request(_DRM_VBLANK_ABSOLUTE, at + 5 + i % 2);
        waits[i] = drm_start(files[i], DRM_IOCTL_WAIT_VBLANK, &v[i]);
    }
    for (unsigned i = 0; i < N; i++) {
        assert_ok(drm_wait(waits[i]));
        assert_int_equal(v[i].reply.sequence, at + 5 + i % 2);
    }
}

static void the_time_is_that_of_the_refresh(void **state)
{
    (void)state;
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 1);
    assert_ok(wait_vblank(&v));
    int64_t a_us = v.reply.tval_sec * INT64_C(1000000) + v.reply.tval_usec;
    uint32_t first = v.reply.sequence;
    assert_in_range(v.reply.tval_usec, 0, 999999);
    assert_in_range(now_ns() / 1000 - a_us, 0, is_real() ? 50000 : 1);
    v = request(_DRM_VBLANK_RELATIVE, 10);
    assert_ok(wait_vblank(&v));
    int64_t b_us = v.reply.tval_sec * INT64_C(1000000) + v.reply.tval_usec;
    uint32_t n = v.reply.sequence - first;
    int64_t expected_us = n * INT64_C(1000000000) / refresh_mhz(&o.modes[0]);
    assert_in_range(b_us - a_us - expected_us + 20, 0, is_real() ? 4000 : 40);
}

static void an_events_time_is_that_of_its_refresh(void **state)
{
    (void)state;
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 1);
    assert_ok(wait_vblank(&v));
    tick(o.index);
    struct drm_event_vblank e = next_event();
    union drm_wait_vblank q = request(_DRM_VBLANK_RELATIVE, 0);
    assert_ok(wait_vblank(&q));
    if (q.reply.sequence == e.sequence) {
        assert_int_equal(q.reply.tval_sec, e.tv_sec);
        assert_int_equal(q.reply.tval_usec, e.tv_usec);
    }
}

static void the_count_goes_on_over_a_modeset(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        tick(o.index);
    uint32_t before = now();
    int64_t before_ns = now_ns();
    assert_ok(switch_off(card, &o));
    light_up(card, &o, 0);
    uint32_t after = now();
    assert_true((int32_t)(after - before) >= 0);
    int64_t estimate = (now_ns() - before_ns) * refresh_mhz(&o.modes[0]) / INT64_C(1000000000000);
    assert_true((int64_t)(after - before) <= estimate + 5);
}

/* drm_crtc_vblank_off: what was awaited comes now. */
static void switching_off_ends_waits_and_sends_events(void **state)
{
    (void)state;
    only_ours();
    struct file *other = card_open();
    union drm_wait_vblank e = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 100);
    union drm_wait_vblank w = request(_DRM_VBLANK_RELATIVE, 100);
    assert_ok(wait_vblank(&e));
    struct pending *p = drm_start(other, DRM_IOCTL_WAIT_VBLANK, &w);
    assert_false(drm_done(p));
    assert_ok(switch_off(card, &o));
    assert_true(has_event(card));
    assert_int_equal(next_event().base.type, DRM_EVENT_VBLANK);
    assert_true(drm_done(p));
    assert_ok(drm_wait(p));
}

/* wait_event_interruptible_timeout(…, 3000 ms): -EBUSY. */
static void a_wait_for_a_refresh_that_never_comes_is_busy(void **state)
{
    (void)state;
    only_ours();
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 1);
    struct pending *p = drm_start(card, DRM_IOCTL_WAIT_VBLANK, &v);
    advance_ns(INT64_C(1000000));
    assert_false(drm_done(p));
    for (int i = 0; i < 4 && !drm_done(p); i++)
        advance_ns(INT64_C(1000000000));
    assert_true(drm_done(p));
    assert_errno(drm_wait(p), EBUSY);
}

static void unread_events_have_4096_bytes(void **state)
{
    (void)state;
    enum { N = 4096 / sizeof(struct drm_event_vblank) };
    union drm_wait_vblank v;
    for (unsigned i = 0; i < N; i++) {
        v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 10);
        assert_ok(wait_vblank(&v));
    }
    v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 10);
    assert_errno(wait_vblank(&v), ENOMEM);
    assert_errno(page_flip(card, o.crtc, fb, DRM_MODE_PAGE_FLIP_EVENT, 0), ENOMEM);
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", fb);
    assert_errno(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 0), ENOMEM);
    assert_ok(page_flip(card, o.crtc, fb, 0, 0)); /* without an event */
    union drm_wait_vblank w = request(_DRM_VBLANK_RELATIVE, 11);
    assert_ok(wait_vblank(&w));
    for (unsigned i = 0; i < N; i++)
        next_event();
    v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 1);
    assert_ok(wait_vblank(&v));
    tick(o.index);
    next_event();
}

static void anyone_may_wait(void **state)
{
    (void)state;
    struct file *user = card_open_user();
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE, 1);
    assert_ok(drm(user, DRM_IOCTL_WAIT_VBLANK, &v));
}

static void the_files_events_are_its_own(void **state)
{
    (void)state;
    struct file *other = card_open();
    union drm_wait_vblank v = request(_DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, 1);
    assert_ok(drm(other, DRM_IOCTL_WAIT_VBLANK, &v));
    tick(o.index);
    struct drm_event_vblank e;
    assert_int_equal(read_event(other, &e, sizeof e), sizeof e);
    assert_false(has_event(card));
}

static void the_sequence_wraps_at_32_bits(void **state)
{
    (void)state;
    only_ours();
    /* The core's count is 64 bits wide: events and replies tell the low half. */
    tp_kms_vblank(own_kms(), o.index, UINT64_C(0xfffffffe), now_ns());
    union drm_wait_vblank v = request(_DRM_VBLANK_ABSOLUTE | _DRM_VBLANK_EVENT, 1);
    assert_ok(wait_vblank(&v));
    assert_false(has_event(card));
    tp_kms_vblank(own_kms(), o.index, UINT64_C(0xffffffff), now_ns());
    tp_kms_vblank(own_kms(), o.index, UINT64_C(0x100000000), now_ns());
    assert_false(has_event(card));
    tp_kms_vblank(own_kms(), o.index, UINT64_C(0x100000001), now_ns());
    assert_int_equal(next_event().sequence, 1);
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(unknown_types_are_refused),
        lit(crtcs_that_are_none_are_refused),
        lit(a_dark_crtc_has_no_vblanks),
        lit(the_second_crtc_goes_by_two_names),
        lit(events_say_their_crtc),
        lit(a_query_does_not_wait),
        lit(a_relative_wait_ends_after_so_many),
        lit(a_wait_waits),
        lit(an_absolute_wait_ends_there),
        lit(an_absolute_wait_for_the_past_ends_at_once),
        lit(next_on_miss_waits_for_the_next),
        lit(an_event_for_the_past_comes_at_once),
        lit(an_events_reply_tells_when_it_will_be),
        lit(events_and_waits_agree),
        lit(queries_go_on_beside_a_pending_event),
        lit(waits_go_on_beside_a_pending_event),
        lit(many_wait_at_a_time),
        lit(the_time_is_that_of_the_refresh),
        lit(an_events_time_is_that_of_its_refresh),
        lit(the_count_goes_on_over_a_modeset),
        lit(switching_off_ends_waits_and_sends_events),
        lit(a_wait_for_a_refresh_that_never_comes_is_busy),
        lit(unread_events_have_4096_bytes),
        lit(anyone_may_wait),
        lit(the_files_events_are_its_own),
        lit(the_sequence_wraps_at_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
