/* Page flips: their events, times and refusals (drm_plane.c, drm_atomic_helper.c; IGT's kms_flip).
 * */
#include "harness.h"

static struct output o;
static uint32_t fbs[2]; /* the first is on the screen */

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    fbs[0] = light_up(card, &o, 0);
    fbs[1] = fb_of(card, o.modes[0].hdisplay, o.modes[0].vdisplay, DRM_FORMAT_XRGB8888);
    return 0;
}

static int flip(uint32_t fb, uint32_t flags, uint64_t user_data)
{
    return page_flip(card, o.crtc, fb, flags, user_data);
}

static struct drm_event_vblank next_event(void)
{
    struct drm_event_vblank e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    return e;
}

static uint32_t on_screen(void)
{
    struct drm_mode_crtc c;
    assert_ok(get_crtc(card, o.crtc, &c));
    return c.fb_id;
}

static void a_plain_flip_shows_the_other_one(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        assert_ok(flip(fbs[(i + 1) % 2], DRM_MODE_PAGE_FLIP_EVENT, i));
        tick(o.index);
        struct drm_event_vblank e = next_event();
        assert_int_equal(e.base.type, DRM_EVENT_FLIP_COMPLETE);
        assert_int_equal(e.base.length, sizeof e);
        assert_int_equal(e.user_data, i);
        assert_int_equal(on_screen(), fbs[(i + 1) % 2]);
        if (!is_real()) {
            struct tp_kms_fb_info info;
            tp_kms_fb_info(shown(o.index)->layers[0].fb, &info);
            assert_int_equal(info.id, fbs[(i + 1) % 2]);
        }
    }
    assert_false(has_event(card));
}

static void sequences_and_times_advance_by_a_refresh(void **state)
{
    (void)state;
    struct drm_event_vblank last = {0};
    int64_t period_ns = INT64_C(1000000000000) / refresh_mhz(&o.modes[0]);
    for (unsigned i = 0; i < 30; i++) {
        assert_ok(flip(fbs[(i + 1) % 2], DRM_MODE_PAGE_FLIP_EVENT, 0));
        tick(o.index);
        struct drm_event_vblank e = next_event();
        int64_t us = (int64_t)e.tv_sec * 1000000 + e.tv_usec;
        int64_t last_us = (int64_t)last.tv_sec * 1000000 + last.tv_usec;
        if (i > 0) {
            uint32_t n = e.sequence - last.sequence;
            assert_in_range(n, 1, is_real() ? 10 : 1);
            assert_in_range(us - last_us - n * period_ns / 1000 + 1000, 0, 2000);
        }
        if (!is_real())
            assert_int_equal(us, now_ns() / 1000);
        last = e;
    }
}

static void an_event_is_only_for_who_asked(void **state)
{
    (void)state;
    assert_ok(flip(fbs[1], 0, 0));
    tick(o.index);
    if (!is_real())
        assert_false(has_event(card));
    assert_int_equal(on_screen(), fbs[1]);
}

static void the_event_comes_with_the_refresh_not_before(void **state)
{
    (void)state;
    only_ours();
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 0));
    assert_false(has_event(card));
    assert_int_equal(on_screen(), fbs[1]); /* the software's state is the new one at once */
    tick(o.index);
    assert_true(has_event(card));
}

static void a_second_flip_before_the_first_is_busy(void **state)
{
    (void)state;
    if (is_real()) {
        /* Ours may show the first one before the refresh that is to come, and no more than that. */
        int r = 0;
        for (unsigned i = 0; i < 5 && r == 0; i++)
            r = flip(fbs[(i + 1) % 2], 0, 0);
        assert_errno(r, EBUSY);
        return;
    }
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    assert_errno(flip(fbs[0], DRM_MODE_PAGE_FLIP_EVENT, 2), EBUSY);
    assert_errno(flip(fbs[0], 0, 0), EBUSY);
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    assert_ok(flip(fbs[0], DRM_MODE_PAGE_FLIP_EVENT, 3));
    tick(o.index);
    assert_int_equal(next_event().user_data, 3);
    assert_false(has_event(card));
}

static void framebuffers_that_are_none_are_not_found(void **state)
{
    (void)state;
    assert_errno(flip(0xfffffff0, 0, 0), ENOENT);
    assert_errno(flip(0, 0, 0), ENOENT);
    assert_errno(page_flip(card, 0x7fff0000, fbs[1], 0, 0), ENOENT);
    assert_errno(set_crtc(card, o.crtc, 0xfffffff0, 0, 0, &o.connector, 1, &o.modes[0]), ENOENT);
}

static void a_dark_crtc_is_busy(void **state)
{
    (void)state;
    assert_ok(switch_off(card, &o));
    assert_errno(flip(fbs[1], 0, 0), EBUSY);
    assert_errno(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 0), EBUSY);
    assert_false(has_event(card));
}

static void with_dpms_off_it_is_invalid(void **state)
{
    (void)state;
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 3));
    assert_errno(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 0), EINVAL);
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 0));
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 0));
    tick(o.index);
    next_event();
}

static void dpms_on_when_on_is_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 0));
        assert_ok(flip(fbs[(i + 1) % 2], DRM_MODE_PAGE_FLIP_EVENT, i));
        tick(o.index);
        assert_int_equal(next_event().user_data, i);
    }
}

static void another_format_is_refused(void **state)
{
    (void)state;
    uint32_t other = fb_of(card, o.modes[0].hdisplay, o.modes[0].vdisplay, DRM_FORMAT_ARGB8888);
    assert_errno(flip(other, 0, 0), EINVAL);
}

static void a_smaller_framebuffer_is_no_space(void **state)
{
    (void)state;
    uint32_t less = fb_of(card, o.modes[0].hdisplay, o.modes[0].vdisplay - 1u, DRM_FORMAT_XRGB8888);
    assert_errno(flip(less, 0, 0), ENOSPC);
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    for (unsigned bit = 4; bit < 32; bit++)
        assert_errno(flip(fbs[1], 1u << bit, 0), EINVAL);
    /* DRM_CAP_PAGE_FLIP_TARGET is 0. */
    assert_errno(flip(fbs[1], DRM_MODE_PAGE_FLIP_TARGET_ABSOLUTE, 0), EINVAL);
    assert_errno(flip(fbs[1], DRM_MODE_PAGE_FLIP_TARGET_RELATIVE, 0), EINVAL);
    assert_errno(flip(fbs[1], DRM_MODE_PAGE_FLIP_TARGET, 0), EINVAL);
    struct drm_mode_crtc_page_flip_target t = {.crtc_id = o.crtc, .fb_id = fbs[1], .sequence = 1};
    assert_errno(drm(card, DRM_IOCTL_MODE_PAGE_FLIP, &t), EINVAL);
}

static void a_flip_survives_the_removal_of_what_it_replaced(void **state)
{
    (void)state;
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    assert_ok(remove_fb(card, fbs[0]));
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    assert_int_equal(on_screen(), fbs[1]);
}

static void a_flip_ends_though_its_framebuffer_is_removed(void **state)
{
    (void)state;
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    assert_ok(remove_fb(card, fbs[1]));
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    assert_int_equal(on_screen(), 0);
}

static void framebuffers_may_be_made_anew_for_each_flip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        uint32_t fb = fb_of(card, o.modes[0].hdisplay, o.modes[0].vdisplay, DRM_FORMAT_XRGB8888);
        assert_ok(flip(fb, DRM_MODE_PAGE_FLIP_EVENT, i));
        tick(o.index);
        next_event();
        assert_ok(remove_fb(card, fbs[0]));
        fbs[0] = fb;
    }
}

static void panning_goes_on_between_flips(void **state)
{
    (void)state;
    const struct drm_mode_modeinfo *m = &o.modes[0];
    uint32_t wide[2];
    for (unsigned i = 0; i < 2; i++)
        wide[i] = fb_of(card, m->hdisplay + 64u, m->vdisplay, DRM_FORMAT_XRGB8888);
    assert_ok(set_crtc(card, o.crtc, wide[0], 0, 0, &o.connector, 1, m));
    for (uint32_t i = 1; i < 8; i++) {
        assert_ok(flip(wide[i % 2], DRM_MODE_PAGE_FLIP_EVENT, i));
        assert_ok(set_crtc(card, o.crtc, wide[i % 2], i * 8, 0, &o.connector, 1, m));
        assert_int_equal(next_event().user_data, i);
        struct drm_mode_crtc c;
        assert_ok(get_crtc(card, o.crtc, &c));
        assert_int_equal(c.x, i * 8);
        assert_int_equal(c.fb_id, wide[i % 2]);
    }
}

static void a_modeset_waits_for_the_flip(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(flip(fbs[(i + 1) % 2], DRM_MODE_PAGE_FLIP_EVENT, i));
        assert_ok(switch_off(card, &o));
        assert_int_equal(next_event().user_data, i);
        struct request r = {0};
        uint32_t blob = create_blob(card, &o.modes[0], sizeof o.modes[0]);
        add(&r, card, o.connector, "CRTC_ID", o.crtc);
        add(&r, card, o.crtc, "MODE_ID", blob);
        add(&r, card, o.crtc, "ACTIVE", 1);
        add_plane(&r, card, o.primary, o.crtc, fbs[(i + 1) % 2], 0, 0, o.modes[0].hdisplay,
                  o.modes[0].vdisplay);
        assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
        assert_ok(destroy_blob(card, blob));
    }
}

static void the_vblank_of_a_flip_is_over_when_its_event_comes(void **state)
{
    (void)state;
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 0));
    tick(o.index);
    struct drm_event_vblank e = next_event();
    union drm_wait_vblank v = {
        .request = {.type = (enum drm_vblank_seq_type)(_DRM_VBLANK_ABSOLUTE |
                                                       o.index << _DRM_VBLANK_HIGH_CRTC_SHIFT),
                    .sequence = e.sequence}};
    assert_ok(drm(card, DRM_IOCTL_WAIT_VBLANK, &v));
    assert_true((int32_t)(v.reply.sequence - e.sequence) >= 0);
    if (v.reply.sequence == e.sequence) {
        assert_int_equal(v.reply.tval_sec, e.tv_sec);
        assert_int_equal(v.reply.tval_usec, e.tv_usec);
    }
}

static void flips_and_vblank_events_come_side_by_side(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        union drm_wait_vblank v = {
            .request = {.type = (enum drm_vblank_seq_type)(
                            _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT |
                            o.index << _DRM_VBLANK_HIGH_CRTC_SHIFT),
                        .sequence = 1}};
        assert_ok(drm(card, DRM_IOCTL_WAIT_VBLANK, &v));
        assert_ok(flip(fbs[(i + 1) % 2], DRM_MODE_PAGE_FLIP_EVENT, i));
        tick(o.index);
        struct drm_event_vblank a = next_event(), b = next_event();
        assert_int_equal(a.base.type + b.base.type, DRM_EVENT_VBLANK + DRM_EVENT_FLIP_COMPLETE);
        if (!is_real())
            assert_int_equal(a.sequence, b.sequence);
    }
}

static void two_screens_flip_by_themselves(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    uint32_t there = light_up(card, &second, 0);
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    assert_ok(page_flip(card, second.crtc, there, DRM_MODE_PAGE_FLIP_EVENT, 2));
    tick(second.index);
    struct drm_event_vblank e = next_event();
    if (!is_real()) {
        assert_int_equal(e.user_data, 2);
        assert_false(has_event(card));
        assert_errno(flip(fbs[0], 0, 0), EBUSY);
        assert_ok(page_flip(card, second.crtc, there, 0, 0));
    }
    tick(o.index);
    struct drm_event_vblank f = next_event();
    assert_int_equal(e.user_data + f.user_data, 3);
    assert_int_not_equal(e.crtc_id, f.crtc_id);
}

static void the_event_goes_to_who_flipped(void **state)
{
    (void)state;
    struct file *other = card_open();
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    tick(o.index);
    next_event();
    assert_false(has_event(other));
}

static void closing_with_a_flip_under_way_leaves_nothing(void **state)
{
    (void)state;
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    card_close(card);
    card = card_open();
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1));
    assert_int_equal(on_screen(), 0);
    assert_false(has_event(card));
}

static void nothing_to_read_is_again(void **state)
{
    (void)state;
    struct drm_event_vblank e;
    assert_false(has_event(card));
    assert_errno(read_event(card, &e, sizeof e), EAGAIN);
}

static void a_picture_that_cannot_be_shown_ends_its_flip(void **state)
{
    (void)state;
    only_ours();
    break_screen(o.index, -EIO);
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1));
    tick(o.index);
    assert_int_equal(next_event().user_data, 1); /* the client goes on */
    break_screen(o.index, 0);
    assert_ok(flip(fbs[0], DRM_MODE_PAGE_FLIP_EVENT, 2));
    tick(o.index);
    assert_int_equal(next_event().user_data, 2);
}

/* What is on the screen is read from until another picture is there, whatever its client does. */
static void what_is_shown_lives_until_it_is_replaced(void **state)
{
    (void)state;
    only_ours();
    struct tp_kms_counts c;
    struct drm_mode_closefb close = {.fb_id = fbs[0]};
    assert_ok(drm(card, DRM_IOCTL_MODE_CLOSEFB, &close));
    assert_ok(flip(fbs[1], DRM_MODE_PAGE_FLIP_EVENT, 1)); /* under way: nobody has the first now */
    struct tp_kms_fb_info info;
    tp_kms_fb_info(shown(o.index)->layers[0].fb, &info);
    assert_int_equal(info.id, fbs[0]);
    assert_true(info.inode != 0);
    tick(o.index);
    tp_kms_fb_info(shown(o.index)->layers[0].fb, &info);
    assert_int_equal(info.id, fbs[1]);
    tp_kms_count(own_kms(), &c);
    assert_int_equal(c.fbs, 1);
}

static void a_blocking_commit_tells_that_it_could_not_be_shown(void **state)
{
    (void)state;
    only_ours();
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", fbs[1]);
    break_screen(o.index, -EIO);
    assert_errno(commit(card, &r, 0, 0), EIO);
    break_screen(o.index, 0);
    assert_ok(commit(card, &r, 0, 0));
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(a_plain_flip_shows_the_other_one),
        lit(sequences_and_times_advance_by_a_refresh),
        lit(an_event_is_only_for_who_asked),
        lit(the_event_comes_with_the_refresh_not_before),
        lit(a_second_flip_before_the_first_is_busy),
        lit(framebuffers_that_are_none_are_not_found),
        lit(a_dark_crtc_is_busy),
        lit(with_dpms_off_it_is_invalid),
        lit(dpms_on_when_on_is_nothing),
        lit(another_format_is_refused),
        lit(a_smaller_framebuffer_is_no_space),
        lit(unknown_flags_are_refused),
        lit(a_flip_survives_the_removal_of_what_it_replaced),
        lit(a_flip_ends_though_its_framebuffer_is_removed),
        lit(framebuffers_may_be_made_anew_for_each_flip),
        lit(panning_goes_on_between_flips),
        lit(a_modeset_waits_for_the_flip),
        lit(the_vblank_of_a_flip_is_over_when_its_event_comes),
        lit(flips_and_vblank_events_come_side_by_side),
        lit(two_screens_flip_by_themselves),
        lit(the_event_goes_to_who_flipped),
        lit(closing_with_a_flip_under_way_leaves_nothing),
        lit(nothing_to_read_is_again),
        lit(what_is_shown_lives_until_it_is_replaced),
        lit(a_blocking_commit_tells_that_it_could_not_be_shown),
        lit(a_picture_that_cannot_be_shown_ends_its_flip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
