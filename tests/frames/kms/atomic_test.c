/* Atomic commits, what they change and what they refuse (drm_atomic_uapi.c, drm_atomic.c; IGT's
 * kms_atomic). Fences are in fence_test.c. */
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

static struct output o;
static uint32_t fb; /* on the screen */
static uint32_t width, height;

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    fb = light_up(card, &o, 0);
    width = o.modes[0].hdisplay;
    height = o.modes[0].vdisplay;
    return 0;
}

static int setup_dark(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    return 0;
}

/* Commits one property. */
static int one(uint32_t object, const char *property, uint64_t value, uint32_t flags)
{
    struct request r = {0};
    add(&r, card, object, property, value);
    return commit(card, &r, flags, 0);
}

static void plane_is(uint32_t plane, uint32_t crtc, uint32_t of, int32_t x, int32_t y, uint32_t w,
                     uint32_t h)
{
    struct drm_mode_get_plane p;
    assert_ok(get_plane(card, plane, &p));
    assert_int_equal(p.crtc_id, crtc);
    assert_int_equal(p.fb_id, of);
    assert_int_equal(property_value(card, plane, "FB_ID"), of);
    assert_int_equal(property_value(card, plane, "CRTC_ID"), crtc);
    if (!crtc)
        return;
    assert_int_equal((int64_t)property_value(card, plane, "CRTC_X"), x);
    assert_int_equal((int64_t)property_value(card, plane, "CRTC_Y"), y);
    assert_int_equal(property_value(card, plane, "CRTC_W"), w);
    assert_int_equal(property_value(card, plane, "CRTC_H"), h);
    assert_int_equal(property_value(card, plane, "SRC_W"), (uint64_t)w << 16);
    assert_int_equal(property_value(card, plane, "SRC_H"), (uint64_t)h << 16);
}

static int set_plane(uint32_t plane, uint32_t crtc, uint32_t of, int32_t x, int32_t y, uint32_t w,
                     uint32_t h)
{
    struct drm_mode_set_plane s = {.plane_id = plane, .crtc_id = crtc, .fb_id = of, .crtc_x = x,
                                   .crtc_y = y, .crtc_w = w, .crtc_h = h, .src_w = w << 16,
                                   .src_h = h << 16};
    return drm(card, DRM_IOCTL_MODE_SETPLANE, &s);
}

static void lighting_up_shows_the_mode_and_the_picture(void **state)
{
    (void)state;
    struct drm_mode_crtc c;
    assert_ok(get_crtc(card, o.crtc, &c));
    assert_int_equal(c.fb_id, fb);
    assert_int_equal(c.mode_valid, 1);
    assert_memory_equal(&c.mode, &o.modes[0], offsetof(struct drm_mode_modeinfo, vrefresh));
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
    assert_int_equal(property_value(card, o.connector, "CRTC_ID"), o.crtc);
    struct drm_mode_get_encoder e = {.encoder_id = o.encoder};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETENCODER, &e));
    assert_int_equal(e.crtc_id, o.crtc);
    struct drm_mode_modeinfo modes[64];
    struct drm_mode_get_connector conn = {.connector_id = o.connector, .modes_ptr = PTR(modes),
                                          .count_modes = 64};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &conn));
    assert_int_equal(conn.encoder_id, o.encoder);
    if (is_real())
        return;
    const struct tp_kms_scanout *s = shown(o.index);
    assert_non_null(s);
    assert_true(s->active && s->modeset);
    assert_int_equal(s->n_layers, 1);
    assert_int_equal(s->layers[0].kind, TP_KMS_PRIMARY);
    struct tp_kms_fb_info info;
    tp_kms_fb_info(s->layers[0].fb, &info);
    assert_int_equal(info.id, fb);
    assert_int_equal(info.width, width);
    assert_int_equal(info.fourcc, DRM_FORMAT_XRGB8888);
}

static void an_overlay_goes_on_and_off_atomically(void **state)
{
    (void)state;
    if (!o.overlay)
        skip();
    uint32_t w = width / 2, h = height / 2;
    uint32_t over = fb_of(card, w, h, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, over, (int32_t)w / 2, (int32_t)h / 2, w, h);
    assert_ok(commit(card, &r, 0, 0));
    plane_is(o.overlay, o.crtc, over, (int32_t)w / 2, (int32_t)h / 2, w, h);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    if (!is_real()) {
        assert_int_equal(shown(o.index)->n_layers, 2);
        assert_int_equal(shown(o.index)->layers[1].kind, TP_KMS_OVERLAY);
        assert_int_equal(shown(o.index)->layers[1].x, w / 2);
        assert_false(shown(o.index)->modeset);
    }
    r.n = 0;
    add(&r, card, o.overlay, "FB_ID", 0);
    add(&r, card, o.overlay, "CRTC_ID", 0);
    assert_ok(commit(card, &r, 0, 0));
    plane_is(o.overlay, 0, 0, 0, 0, 0, 0);
}

static void an_overlay_goes_on_and_off_by_legacy_calls(void **state)
{
    (void)state;
    if (!o.overlay)
        skip();
    uint32_t w = width / 2, h = height / 2;
    uint32_t over = fb_of(card, w, h, DRM_FORMAT_ARGB8888);
    assert_ok(set_plane(o.overlay, o.crtc, over, 10, 20, w, h));
    plane_is(o.overlay, o.crtc, over, 10, 20, w, h);
    assert_ok(set_plane(o.overlay, 0, 0, 0, 0, 0, 0));
    plane_is(o.overlay, 0, 0, 0, 0, 0, 0);
}

static void the_primary_plane_flips_by_every_call(void **state)
{
    (void)state;
    uint32_t second = fb_of(card, width, height, DRM_FORMAT_XRGB8888);
    struct request r = {0};
    add_plane(&r, card, o.primary, o.crtc, second, 0, 0, width, height);
    assert_ok(commit(card, &r, 0, 0));
    plane_is(o.primary, o.crtc, second, 0, 0, width, height);
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]));
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_ok(set_plane(o.primary, o.crtc, second, 0, 0, width, height));
    plane_is(o.primary, o.crtc, second, 0, 0, width, height);
    assert_ok(page_flip(card, o.crtc, fb, 0, 0));
    tick(o.index);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
}

static void set_plane_refuses_what_atomic_refuses(void **state)
{
    (void)state;
    assert_errno(set_plane(o.primary, o.crtc, 0x7fff0000, 0, 0, width, height), ENOENT);
    assert_errno(set_plane(0x7fff0000, o.crtc, fb, 0, 0, width, height), ENOENT);
    assert_errno(set_plane(o.primary, 0x7fff0000, fb, 0, 0, width, height), ENOENT);
    assert_errno(set_plane(o.primary, o.crtc, fb, 0, 0, width + 1, height), ENOSPC);
    assert_errno(set_plane(o.primary, o.crtc, fb, INT32_MAX, 0, width, height), ERANGE);
    struct output second;
    if (find_output(card, 1, &second))
        assert_errno(set_plane(o.primary, second.crtc, fb, 0, 0, width, height), EINVAL);
}

static void a_test_touches_nothing(void **state)
{
    (void)state;
    uint64_t mode = property_value(card, o.crtc, "MODE_ID");
    assert_int_equal(mode, 0);
    uint32_t of = fb_of(card, o.modes[0].hdisplay, o.modes[0].vdisplay, DRM_FORMAT_XRGB8888);
    uint32_t blob = create_blob(card, &o.modes[0], sizeof o.modes[0]);
    struct request r = {0};
    add(&r, card, o.connector, "CRTC_ID", o.crtc);
    add(&r, card, o.crtc, "MODE_ID", blob);
    add(&r, card, o.crtc, "ACTIVE", 1);
    add_plane(&r, card, o.primary, o.crtc, of, 0, 0, o.modes[0].hdisplay, o.modes[0].vdisplay);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    assert_int_equal(property_value(card, o.crtc, "MODE_ID"), 0);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 0);
    plane_is(o.primary, 0, 0, 0, 0, 0, 0);
    if (!is_real())
        assert_int_equal(n_commits(), 0);
    /* The same again, for good. */
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
}

static void a_test_of_switching_off_leaves_it_on(void **state)
{
    (void)state;
    struct request r = {0};
    add(&r, card, o.connector, "CRTC_ID", 0);
    add(&r, card, o.crtc, "MODE_ID", 0);
    add(&r, card, o.crtc, "ACTIVE", 0);
    add(&r, card, o.primary, "FB_ID", 0);
    add(&r, card, o.primary, "CRTC_ID", 0);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 3));
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 0));
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    plane_is(o.primary, 0, 0, 0, 0, 0, 0);
    assert_int_equal(property_value(card, o.crtc, "MODE_ID"), 0);
}

static void dpms_is_active_by_another_name(void **state)
{
    (void)state;
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 3));
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 0);
    assert_int_equal(property_value(card, o.connector, "DPMS"), 3);
    assert_int_not_equal(property_value(card, o.crtc, "MODE_ID"), 0);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 0));
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
    assert_int_equal(property_value(card, o.connector, "DPMS"), 0);
    /* And the other way round: drm_atomic_helper_update_legacy_modeset_state. */
    assert_ok(one(o.crtc, "ACTIVE", 0, DRM_MODE_ATOMIC_ALLOW_MODESET));
    assert_int_equal(property_value(card, o.connector, "DPMS"), 3);
}

static void other_objects_are_no_framebuffers(void **state)
{
    (void)state;
    assert_errno(one(o.primary, "FB_ID", o.primary, 0), EINVAL);
    assert_errno(one(o.primary, "FB_ID", o.crtc, 0), EINVAL);
    assert_errno(one(o.primary, "FB_ID", o.connector, 0), EINVAL);
    assert_errno(one(o.primary, "FB_ID", property_value(card, o.crtc, "MODE_ID"), 0), EINVAL);
    assert_errno(one(o.primary, "FB_ID", UINT64_MAX, 0), EINVAL);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
}

static void other_objects_are_no_crtcs(void **state)
{
    (void)state;
    assert_errno(one(o.primary, "CRTC_ID", o.primary, 0), EINVAL);
    assert_errno(one(o.primary, "CRTC_ID", fb, 0), EINVAL);
    assert_errno(one(o.primary, "CRTC_ID", o.connector, 0), EINVAL);
    assert_errno(one(o.primary, "CRTC_ID", property_value(card, o.crtc, "MODE_ID"), 0), EINVAL);
    assert_errno(one(o.primary, "CRTC_ID", UINT64_MAX, 0), EINVAL);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
}

static void a_plane_needs_both_or_none(void **state)
{
    (void)state;
    assert_errno(one(o.primary, "FB_ID", 0, 0), EINVAL);
    assert_errno(one(o.primary, "CRTC_ID", 0, 0), EINVAL);
}

static void a_framebuffer_that_is_too_small_is_no_space(void **state)
{
    (void)state;
    uint32_t less = fb_of(card, width - 1, height - 1, DRM_FORMAT_XRGB8888);
    assert_errno(one(o.primary, "FB_ID", less, 0), ENOSPC);
    assert_errno(one(o.primary, "SRC_X", 1 << 16, 0), ENOSPC);
    assert_errno(one(o.primary, "SRC_Y", 1, 0), ENOSPC);
    assert_errno(one(o.primary, "SRC_W", (uint64_t)(width + 1) << 16, 0), ENOSPC);
    assert_errno(one(o.primary, "SRC_H", UINT32_MAX, 0), ENOSPC);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
}

static void coordinates_that_overflow_are_out_of_range(void **state)
{
    (void)state;
    assert_errno(one(o.primary, "CRTC_X", INT32_MAX, 0), ERANGE);
    assert_errno(one(o.primary, "CRTC_Y", INT32_MAX - 1, 0), ERANGE);
    /* These properties end at INT_MAX. */
    assert_errno(one(o.primary, "CRTC_W", UINT32_MAX, 0), EINVAL);
    assert_errno(one(o.primary, "CRTC_X", (uint64_t)INT32_MAX + 1, 0), EINVAL);
}

static void a_plane_belongs_to_its_crtcs(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    assert_errno(one(o.primary, "CRTC_ID", second.crtc, 0), EINVAL);
}

static void a_plane_takes_its_formats_only(void **state)
{
    (void)state;
    only_ours();
    struct drm_mode_create_dumb b = create_dumb(card, 64, 64, 32);
    struct drm_mode_fb_cmd2 f = {.width = 64, .height = 64, .flags = DRM_MODE_FB_MODIFIERS,
                                 .pixel_format = DRM_FORMAT_ABGR8888, .handles = {b.handle},
                                 .pitches = {b.pitch},
                                 .modifier = {DRM_FORMAT_MOD_QCOM_COMPRESSED}};
    assert_ok(drm(card, DRM_IOCTL_MODE_ADDFB2, &f));
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, f.fb_id, 0, 0, 64, 64);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
}

static void mode_blobs_of_other_objects_are_refused(void **state)
{
    (void)state;
    uint64_t mode = property_value(card, o.crtc, "MODE_ID");
    assert_errno(one(o.crtc, "MODE_ID", o.primary, DRM_MODE_ATOMIC_ALLOW_MODESET), EINVAL);
    assert_errno(one(o.crtc, "MODE_ID", o.crtc, DRM_MODE_ATOMIC_ALLOW_MODESET), EINVAL);
    assert_errno(one(o.crtc, "MODE_ID", fb, DRM_MODE_ATOMIC_ALLOW_MODESET), EINVAL);
    assert_ok(one(o.crtc, "MODE_ID", mode, DRM_MODE_ATOMIC_TEST_ONLY));
    assert_int_equal(property_value(card, o.crtc, "MODE_ID"), mode);
}

static void mode_blobs_of_a_wrong_size_are_refused(void **state)
{
    (void)state;
    uint8_t room[sizeof(struct drm_mode_modeinfo) + 1] = {0};
    memcpy(room, &o.modes[0], sizeof o.modes[0]);
    uint32_t less = create_blob(card, room, sizeof room - 2);
    uint32_t more = create_blob(card, room, sizeof room);
    assert_errno(one(o.crtc, "MODE_ID", less, DRM_MODE_ATOMIC_ALLOW_MODESET), EINVAL);
    assert_errno(one(o.crtc, "MODE_ID", more, DRM_MODE_ATOMIC_ALLOW_MODESET), EINVAL);
    uint32_t same = create_blob(card, room, sizeof room - 1);
    assert_ok(one(o.crtc, "MODE_ID", same, 0)); /* the same mode: no modeset */
    assert_int_equal(property_value(card, o.crtc, "MODE_ID"), same);
}

/* drm_mode_validate_basic. */
static void modes_that_are_none_are_refused(void **state)
{
    (void)state;
    struct drm_mode_modeinfo bad[10];
    for (unsigned i = 0; i < COUNT(bad); i++)
        bad[i] = o.modes[0];
    bad[0].clock = 0;
    bad[1].hdisplay = 0;
    bad[2].hsync_start = (uint16_t)(bad[2].hdisplay - 1);
    bad[3].hsync_end = (uint16_t)(bad[3].hsync_start - 1);
    bad[4].htotal = (uint16_t)(bad[4].hsync_end - 1);
    bad[5].vdisplay = 0;
    bad[6].vsync_start = (uint16_t)(bad[6].vdisplay - 1);
    bad[7].vsync_end = (uint16_t)(bad[7].vsync_start - 1);
    bad[8].vtotal = (uint16_t)(bad[8].vsync_end - 1);
    bad[9].flags |= 1u << 31;
    for (unsigned i = 0; i < COUNT(bad); i++) {
        uint32_t blob = create_blob(card, &bad[i], sizeof bad[i]);
        int r = one(o.crtc, "MODE_ID", blob,
                    DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_TEST_ONLY);
        if (r != -EINVAL)
            fail_msg("bad mode %u: %d", i, r);
    }
}

static void a_modeset_needs_leave(void **state)
{
    (void)state;
    assert_errno(one(o.crtc, "ACTIVE", 0, 0), EINVAL);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
    if (o.n_modes > 1) {
        uint32_t blob = create_blob(card, &o.modes[1], sizeof o.modes[1]);
        assert_errno(one(o.crtc, "MODE_ID", blob, 0), EINVAL);
    }
    assert_ok(one(o.crtc, "ACTIVE", 1, 0));
    assert_ok(one(o.crtc, "ACTIVE", 0, DRM_MODE_ATOMIC_ALLOW_MODESET));
    assert_errno(one(o.crtc, "ACTIVE", 1, 0), EINVAL);
}

static void mode_active_and_connector_go_together(void **state)
{
    (void)state;
    uint32_t flags = DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_TEST_ONLY;
    uint32_t blob = create_blob(card, &o.modes[0], sizeof o.modes[0]);
    assert_errno(one(o.crtc, "ACTIVE", 1, flags), EINVAL);         /* without a mode */
    assert_errno(one(o.crtc, "MODE_ID", blob, flags), EINVAL);     /* without a connector */
    assert_errno(one(o.connector, "CRTC_ID", o.crtc, flags), EINVAL); /* without a mode */
    struct request r = {0};
    add(&r, card, o.crtc, "MODE_ID", blob);
    add(&r, card, o.connector, "CRTC_ID", o.crtc);
    assert_ok(commit(card, &r, flags, 0)); /* enabled, not active */
    add(&r, card, o.crtc, "ACTIVE", 1);
    assert_ok(commit(card, &r, flags, 0)); /* and black */
}

static void taking_the_connector_away_needs_the_mode_gone(void **state)
{
    (void)state;
    uint32_t flags = DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_TEST_ONLY;
    assert_errno(one(o.connector, "CRTC_ID", 0, flags), EINVAL);
    assert_errno(one(o.crtc, "MODE_ID", 0, flags), EINVAL);
    struct request r = {0};
    add(&r, card, o.connector, "CRTC_ID", 0);
    add(&r, card, o.crtc, "MODE_ID", 0);
    assert_errno(commit(card, &r, flags, 0), EINVAL); /* still active */
    add(&r, card, o.crtc, "ACTIVE", 0);
    assert_ok(commit(card, &r, flags, 0));
}

static void a_connector_goes_to_its_own_crtcs(void **state)
{
    (void)state;
    struct output second;
    if (is_real() || !find_output(card, 1, &second))
        skip();
    uint32_t blob = create_blob(card, &o.modes[0], sizeof o.modes[0]);
    struct request r = {0};
    add(&r, card, second.crtc, "MODE_ID", blob);
    add(&r, card, second.crtc, "ACTIVE", 1);
    add(&r, card, o.connector, "CRTC_ID", second.crtc);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_TEST_ONLY, 0),
                 EINVAL);
    assert_errno(one(o.connector, "CRTC_ID", o.primary, DRM_MODE_ATOMIC_ALLOW_MODESET), EINVAL);
}

static void a_test_has_no_event(void **state)
{
    (void)state;
    assert_errno(one(o.crtc, "ACTIVE", 1, DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_PAGE_FLIP_EVENT),
                 EINVAL);
}

static void a_crtc_that_stays_off_has_no_event(void **state)
{
    (void)state;
    assert_errno(one(o.crtc, "ACTIVE", 0, DRM_MODE_PAGE_FLIP_EVENT), EINVAL);
    assert_ok(one(o.crtc, "ACTIVE", 0, 0));
    assert_false(has_event(card));
}

static void an_empty_request_does_nothing(void **state)
{
    (void)state;
    struct request r = {0};
    assert_ok(commit(card, &r, 0, 0));
    struct drm_mode_atomic arg = {0};
    assert_ok(drm(card, DRM_IOCTL_MODE_ATOMIC, &arg));
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0));
}

static void an_empty_request_has_no_event(void **state)
{
    (void)state;
    struct request r = {0};
    assert_errno(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 0), EINVAL);
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    struct request r = {0};
    assert_errno(commit(card, &r, 0xdeadbeef, 0), EINVAL);
    for (unsigned bit = 0; bit < 32; bit++)
        if (!(1u << bit & DRM_MODE_ATOMIC_FLAGS))
            assert_errno(commit(card, &r, 1u << bit, 0), EINVAL);
    assert_ok(commit(card, &r, 0, 0));
}

static void the_reserved_member_must_be_zero(void **state)
{
    (void)state;
    struct drm_mode_atomic arg = {.reserved = 1};
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &arg), EINVAL);
    arg.reserved = 0;
    assert_ok(drm(card, DRM_IOCTL_MODE_ATOMIC, &arg));
}

static void the_capability_is_needed(void **state)
{
    (void)state;
    struct request r = {0};
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 0));
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1));
    assert_ok(commit(card, &r, 0, 0));
}

static int raw(uint32_t object, uint32_t property, uint64_t value)
{
    struct request r = {.objects = {object}, .counts = {1}, .properties = {property},
                        .values = {value}, .n = 1};
    return commit(card, &r, 0, 0);
}

static void objects_without_properties_are_not_found(void **state)
{
    (void)state;
    uint32_t active = property_id(card, o.crtc, "ACTIVE");
    assert_errno(raw(0, active, 1), ENOENT);
    assert_errno(raw(0x7fff0000, active, 1), ENOENT);
    assert_errno(raw((uint32_t)property_value(card, o.crtc, "MODE_ID"), active, 1), ENOENT);
    assert_errno(raw(fb, active, 1), ENOENT);
    assert_errno(raw(o.encoder, active, 1), ENOENT);
}

static void other_objects_are_no_properties(void **state)
{
    (void)state;
    assert_errno(raw(o.crtc, 0, 1), ENOENT);
    assert_errno(raw(o.crtc, o.crtc, 1), ENOENT);
    assert_errno(raw(o.crtc, o.primary, 1), ENOENT);
    assert_errno(raw(o.crtc, o.connector, 1), ENOENT);
    assert_errno(raw(o.crtc, (uint32_t)property_value(card, o.crtc, "MODE_ID"), 1), ENOENT);
    assert_errno(raw(o.crtc, property_id(card, o.primary, "FB_ID"), 1), ENOENT);
}

static void an_object_may_come_often_and_without_properties(void **state)
{
    (void)state;
    struct request r = {.n = 16};
    uint32_t id = property_id(card, o.crtc, "MODE_ID");
    uint64_t mode = property_value(card, o.crtc, "MODE_ID");
    for (unsigned i = 0; i < 16; i++)
        r.objects[i] = o.crtc;
    assert_ok(commit(card, &r, 0, 0));
    for (unsigned i = 0; i < 64; i++) {
        r.properties[i] = id;
        r.values[i] = mode;
    }
    for (unsigned i = 0; i < 16; i++)
        r.counts[i] = 4;
    assert_ok(commit(card, &r, 0, 0));
}

/* Later values win, and only the sum of them is checked. */
static void the_last_value_of_a_property_counts(void **state)
{
    (void)state;
    struct request r = {0};
    add(&r, card, o.primary, "CRTC_X", (uint64_t)INT32_MAX);
    add(&r, card, o.primary, "CRTC_X", 0);
    assert_ok(commit(card, &r, 0, 0));
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
}

static void arrays_without_an_address_are_a_fault(void **state)
{
    (void)state;
    struct request r = {0};
    add(&r, card, o.crtc, "ACTIVE", 1);
    struct drm_mode_atomic good = atomic_arg(&r, 0, 0), bad;
    bad = good;
    bad.objs_ptr = 0;
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &bad), EFAULT);
    bad = good;
    bad.count_props_ptr = 0;
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &bad), EFAULT);
    bad = good;
    bad.props_ptr = 0;
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &bad), EFAULT);
    bad = good;
    bad.prop_values_ptr = 0;
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &bad), EFAULT);
    assert_ok(drm(card, DRM_IOCTL_MODE_ATOMIC, &good));
}

/* Only a kernel can look before it reads. */
static void outlandish_addresses_and_counts_are_refused(void **state)
{
    (void)state;
    if (!is_kernels())
        skip();
    struct request r = {0};
    add(&r, card, o.crtc, "ACTIVE", 1);
    struct drm_mode_atomic arg = atomic_arg(&r, 0, 0);
    arg.objs_ptr = UINT64_MAX - 4;
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &arg), EFAULT);
    arg = atomic_arg(&r, 0, 0);
    arg.props_ptr = 0xdeadbee0;
    assert_errno(drm(card, DRM_IOCTL_MODE_ATOMIC, &arg), EFAULT);
}

static void a_refused_commit_changes_nothing(void **state)
{
    (void)state;
    uint32_t second = fb_of(card, width, height, DRM_FORMAT_XRGB8888);
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", second);
    add(&r, card, o.primary, "CRTC_X", 7);
    add(&r, card, o.crtc, "MODE_ID", 0xffffff);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), EINVAL);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    r.n--;
    add(&r, card, o.primary, "SRC_X", 1 << 16);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), ENOSPC);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_int_equal(property_value(card, o.primary, "SRC_X"), 0);
}

static int damage(const struct drm_mode_rect *rects, unsigned n, uint32_t less)
{
    uint32_t blob = create_blob(card, rects, (uint32_t)(n * sizeof *rects) - less);
    int r = one(o.primary, "FB_DAMAGE_CLIPS", blob, 0);
    assert_ok(destroy_blob(card, blob));
    return r;
}

static void damage_may_lie_anywhere_in_the_framebuffer(void **state)
{
    (void)state;
    if (!get_property(card, o.primary, DRM_MODE_OBJECT_PLANE, "FB_DAMAGE_CLIPS", NULL, NULL))
        skip();
    int32_t w = (int32_t)width, h = (int32_t)height;
    const struct drm_mode_rect rects[] = {
        {0, 0, w / 2, h / 2}, {w / 4, h / 4, w, h}, {w - 1, h - 1, w, h}};
    assert_ok(damage(rects, 1, 0));
    assert_ok(damage(rects, 3, 0)); /* overlapping */
}

static void damage_that_is_none_is_refused(void **state)
{
    (void)state;
    if (!get_property(card, o.primary, DRM_MODE_OBJECT_PLANE, "FB_DAMAGE_CLIPS", NULL, NULL))
        skip();
    const struct drm_mode_rect rects[] = {{5, 0, 5, 9}, {0, 9, 5, 8}, {-1, 0, 4, 4}, {0, -1, 4, 4}};
    for (unsigned i = 0; i < COUNT(rects); i++)
        assert_errno(damage(&rects[i], 1, 0), EINVAL);
    const struct drm_mode_rect good = {0, 0, 4, 4};
    assert_errno(damage(&good, 1, 1), EINVAL); /* no whole number of them */
}

/* __drm_atomic_helper_plane_duplicate_state: damage is of one commit. */
static void damage_is_forgotten_with_its_commit(void **state)
{
    (void)state;
    if (!get_property(card, o.primary, DRM_MODE_OBJECT_PLANE, "FB_DAMAGE_CLIPS", NULL, NULL))
        skip();
    const struct drm_mode_rect good = {0, 0, 4, 4};
    assert_ok(damage(&good, 1, 0));
    assert_ok(one(o.primary, "FB_ID", fb, 0));
    assert_int_equal(property_value(card, o.primary, "FB_DAMAGE_CLIPS"), 0);
}

static void two_screens_change_in_one_commit(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    light_up(card, &second, 0);
    uint32_t a = fb_of(card, width, height, DRM_FORMAT_XRGB8888);
    uint32_t b = fb_of(card, second.modes[0].hdisplay, second.modes[0].vdisplay,
                       DRM_FORMAT_XRGB8888);
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", a);
    add(&r, card, second.primary, "FB_ID", b);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 77));
    uint32_t crtcs = 0;
    for (int i = 0; i < 2; i++) {
        struct drm_event_vblank e;
        assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
        assert_int_equal(e.base.type, DRM_EVENT_FLIP_COMPLETE);
        assert_int_equal(e.user_data, 77);
        crtcs |= e.crtc_id == o.crtc ? 1 : e.crtc_id == second.crtc ? 2 : 4;
    }
    assert_int_equal(crtcs, 3);
    assert_false(has_event(card));
}

static void a_commit_with_a_bad_half_changes_neither_screen(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    uint32_t other = light_up(card, &second, 0);
    uint32_t a = fb_of(card, width, height, DRM_FORMAT_XRGB8888);
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", a);
    add(&r, card, second.primary, "SRC_W", UINT32_MAX);
    assert_errno(commit(card, &r, 0, 0), ENOSPC);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_int_equal(property_value(card, second.primary, "FB_ID"), other);
}

static void opaque_and_blended_planes_say_so(void **state)
{
    (void)state;
    only_ours();
    uint32_t over = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, over, -10, -20, 64, 64);
    add(&r, card, o.overlay, "alpha", 0x8000);
    assert_ok(commit(card, &r, 0, 0));
    const struct tp_kms_layer *l = &shown(o.index)->layers[1];
    assert_int_equal(l->alpha, 0x8000);
    assert_int_equal(l->x, -10);
    assert_int_equal(l->y, -20);
    assert_int_equal(shown(o.index)->layers[0].alpha, 0xffff);
    assert_errno(one(o.overlay, "alpha", 0x10000, 0), EINVAL);
}

static void another_clients_framebuffer_may_be_shown_while_it_lives(void **state)
{
    (void)state;
    struct file *other = card_open();
    uint32_t theirs = fb_of(other, width, height, DRM_FORMAT_XRGB8888);
    assert_ok(one(o.primary, "FB_ID", theirs, 0));
    plane_is(o.primary, o.crtc, theirs, 0, 0, width, height);
    card_close(other);
    tick(o.index);
    plane_is(o.primary, 0, 0, 0, 0, 0, 0);
}

static void removing_an_overlays_framebuffer_leaves_the_rest(void **state)
{
    (void)state;
    if (!o.overlay)
        skip();
    uint32_t over = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, over, 0, 0, 64, 64);
    assert_ok(commit(card, &r, 0, 0));
    assert_ok(remove_fb(card, over));
    plane_is(o.overlay, 0, 0, 0, 0, 0, 0);
    plane_is(o.primary, o.crtc, fb, 0, 0, width, height);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
}

static void what_lies_outside_the_screen_is_no_layer(void **state)
{
    (void)state;
    only_ours();
    uint32_t over = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    static const struct {
        int32_t x, y;
        unsigned layers;
    } places[] = {{5000, 0, 1}, {0, 5000, 1},   {-64, 0, 1},
                  {0, -64, 1},  {-63, -63, 2}, {1279, 719, 2}};
    for (unsigned i = 0; i < COUNT(places); i++) {
        struct request r = {0};
        add_plane(&r, card, o.overlay, o.crtc, over, places[i].x, places[i].y, 64, 64);
        assert_ok(commit(card, &r, 0, 0));
        assert_int_equal(shown(o.index)->n_layers, places[i].layers);
    }
    assert_ok(one(o.overlay, "CRTC_W", 0, 0));
    assert_int_equal(shown(o.index)->n_layers, 1);
}

static void overlays_are_scaled(void **state)
{
    (void)state;
    only_ours(); /* vkms does not */
    uint32_t over = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, over, 0, 0, 64, 64);
    add(&r, card, o.overlay, "CRTC_W", 320);
    add(&r, card, o.overlay, "CRTC_H", 32);
    assert_ok(commit(card, &r, 0, 0));
    const struct tp_kms_layer *l = &shown(o.index)->layers[1];
    assert_int_equal(l->width, 320);
    assert_int_equal(l->height, 32);
    assert_int_equal(l->src_w, 64 << 16);
}

static void a_black_screen_is_a_screen(void **state)
{
    (void)state;
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", 0);
    add(&r, card, o.primary, "CRTC_ID", 0);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 1));
    struct drm_event_vblank e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
    if (!is_real())
        assert_true(shown(o.index)->active && shown(o.index)->n_layers == 0);
    assert_errno(page_flip(card, o.crtc, fb, 0, 0), EBUSY); /* what it would replace is not there */
}

static void an_inactive_crtc_takes_pictures_at_once_and_shows_the_last(void **state)
{
    (void)state;
    uint32_t second = fb_of(card, width, height, DRM_FORMAT_XRGB8888);
    assert_ok(one(o.crtc, "ACTIVE", 0, DRM_MODE_ATOMIC_ALLOW_MODESET));
    for (int i = 0; i < 3; i++) {
        assert_ok(one(o.primary, "FB_ID", i % 2 ? fb : second, DRM_MODE_ATOMIC_NONBLOCK));
        assert_errno(one(o.primary, "FB_ID", fb,
                         DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT),
                     EINVAL);
    }
    assert_ok(one(o.crtc, "ACTIVE", 1, DRM_MODE_ATOMIC_ALLOW_MODESET));
    plane_is(o.primary, o.crtc, second, 0, 0, width, height);
    if (!is_real()) {
        struct tp_kms_fb_info info;
        tp_kms_fb_info(shown(o.index)->layers[0].fb, &info);
        assert_int_equal(info.id, second);
    }
}

static void dpms_of_an_unused_connector_is_only_noted(void **state)
{
    (void)state;
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 3));
    assert_int_equal(property_value(card, o.connector, "DPMS"), 3);
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 0));
    assert_int_equal(property_value(card, o.connector, "DPMS"), 0);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 0);
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)
#define dark(name) cmocka_unit_test_setup_teardown(name, setup_dark, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(lighting_up_shows_the_mode_and_the_picture),
        lit(an_overlay_goes_on_and_off_atomically),
        lit(an_overlay_goes_on_and_off_by_legacy_calls),
        lit(the_primary_plane_flips_by_every_call),
        lit(set_plane_refuses_what_atomic_refuses),
        dark(a_test_touches_nothing),
        lit(a_test_of_switching_off_leaves_it_on),
        lit(dpms_is_active_by_another_name),
        lit(other_objects_are_no_framebuffers),
        lit(other_objects_are_no_crtcs),
        lit(a_plane_needs_both_or_none),
        lit(a_framebuffer_that_is_too_small_is_no_space),
        lit(coordinates_that_overflow_are_out_of_range),
        lit(a_plane_belongs_to_its_crtcs),
        lit(a_plane_takes_its_formats_only),
        lit(mode_blobs_of_other_objects_are_refused),
        lit(mode_blobs_of_a_wrong_size_are_refused),
        lit(modes_that_are_none_are_refused),
        lit(a_modeset_needs_leave),
        dark(mode_active_and_connector_go_together),
        lit(taking_the_connector_away_needs_the_mode_gone),
        dark(a_connector_goes_to_its_own_crtcs),
        lit(a_test_has_no_event),
        dark(a_crtc_that_stays_off_has_no_event),
        lit(an_empty_request_does_nothing),
        lit(an_empty_request_has_no_event),
        lit(unknown_flags_are_refused),
        lit(the_reserved_member_must_be_zero),
        lit(the_capability_is_needed),
        lit(objects_without_properties_are_not_found),
        lit(other_objects_are_no_properties),
        lit(an_object_may_come_often_and_without_properties),
        lit(the_last_value_of_a_property_counts),
        lit(arrays_without_an_address_are_a_fault),
        lit(outlandish_addresses_and_counts_are_refused),
        lit(a_refused_commit_changes_nothing),
        lit(damage_may_lie_anywhere_in_the_framebuffer),
        lit(damage_that_is_none_is_refused),
        lit(damage_is_forgotten_with_its_commit),
        lit(two_screens_change_in_one_commit),
        lit(a_commit_with_a_bad_half_changes_neither_screen),
        lit(opaque_and_blended_planes_say_so),
        lit(another_clients_framebuffer_may_be_shown_while_it_lives),
        lit(removing_an_overlays_framebuffer_leaves_the_rest),
        lit(what_lies_outside_the_screen_is_no_layer),
        lit(overlays_are_scaled),
        lit(a_black_screen_is_a_screen),
        lit(an_inactive_crtc_takes_pictures_at_once_and_shows_the_last),
        dark(dpms_of_an_unused_connector_is_only_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
