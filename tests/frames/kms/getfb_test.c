/* What a framebuffer is made of (drm_framebuffer.c; IGT's kms_getfb). */
#include "harness.h"

static uint32_t fb, handle, pitch;

static int setup_fb(void **state)
{
    setup_card(state);
    struct drm_mode_create_dumb b = create_dumb(card, 1024, 1024, 32);
    struct drm_mode_fb_cmd2 f = {.width = 1024,
                                 .height = 1024,
                                 .pixel_format = DRM_FORMAT_XRGB8888,
                                 .handles = {b.handle},
                                 .pitches = {b.pitch}};
    assert_ok(drm(card, DRM_IOCTL_MODE_ADDFB2, &f));
    fb = f.fb_id;
    handle = b.handle;
    pitch = b.pitch;
    return 0;
}

static int get(struct file *f, uint32_t id, struct drm_mode_fb_cmd *out)
{
    *out = (struct drm_mode_fb_cmd){.fb_id = id};
    return drm(f, DRM_IOCTL_MODE_GETFB, out);
}

static int get2(struct file *f, uint32_t id, struct drm_mode_fb_cmd2 *out)
{
    *out = (struct drm_mode_fb_cmd2){.fb_id = id};
    return drm(f, DRM_IOCTL_MODE_GETFB2, out);
}

static uint32_t any_property(void)
{
    struct lineup l;
    get_lineup(card, &l);
    return property_id(card, l.connectors[0], "DPMS");
}

static void getfb_of_0_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    assert_errno(get(card, 0, &g), ENOENT);
}

static void getfb_tells_size_depth_and_a_handle(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    assert_ok(get(card, fb, &g));
    assert_int_not_equal(g.handle, 0);
    assert_int_equal(g.width, 1024);
    assert_int_equal(g.height, 1024);
    assert_int_equal(g.pitch, pitch);
    assert_int_equal(g.depth, 24);
    assert_int_equal(g.bpp, 32);
    assert_ok(close_handle(card, g.handle));
}

static void getfb_of_a_removed_one_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    assert_ok(remove_fb(card, fb));
    assert_errno(get(card, fb, &g), ENOENT);
}

static void getfb_of_another_object_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    assert_errno(get(card, any_property(), &g), ENOENT);
    struct lineup l;
    get_lineup(card, &l);
    assert_errno(get(card, l.crtcs[0], &g), ENOENT);
}

static void getfb_gives_another_handle_than_it_was_made_of(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    assert_ok(get(card, fb, &g));
    assert_int_not_equal(g.handle, handle);
    assert_ok(close_handle(card, g.handle));
}

static void getfb_gives_another_handle_each_time(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd a, b;
    assert_ok(get(card, fb, &a));
    assert_ok(get(card, fb, &b));
    assert_int_not_equal(a.handle, b.handle);
    assert_ok(close_handle(card, a.handle));
    assert_ok(close_handle(card, b.handle));
}

static uint32_t nv12_fb(uint32_t *of)
{
    struct drm_mode_create_dumb b = create_dumb(card, 1024, 1536, 8);
    struct drm_mode_fb_cmd2 f = {.width = 1024,
                                 .height = 1024,
                                 .flags = DRM_MODE_FB_MODIFIERS,
                                 .pixel_format = DRM_FORMAT_NV12,
                                 .handles = {b.handle, b.handle},
                                 .pitches = {b.pitch, b.pitch},
                                 .offsets = {0, b.pitch * 1024}};
    assert_ok(drm(card, DRM_IOCTL_MODE_ADDFB2, &f));
    *of = b.handle;
    return f.fb_id;
}

static void getfb_refuses_several_planes(void **state)
{
    (void)state;
    only_ours();
    uint32_t of;
    struct drm_mode_fb_cmd g;
    assert_errno(get(card, nv12_fb(&of), &g), EINVAL);
}

static void getfb2_of_0_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 g;
    assert_errno(get2(card, 0, &g), ENOENT);
}

static void getfb2_of_a_removed_one_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 g;
    assert_ok(remove_fb(card, fb));
    assert_errno(get2(card, fb, &g), ENOENT);
}

static void getfb2_of_another_object_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 g;
    assert_errno(get2(card, any_property(), &g), ENOENT);
}

static void getfb2_tells_all(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 g;
    memset(&g, 0xff, sizeof g);
    g.fb_id = fb;
    assert_ok(drm(card, DRM_IOCTL_MODE_GETFB2, &g));
    assert_int_equal(g.width, 1024);
    assert_int_equal(g.height, 1024);
    assert_int_equal(g.pixel_format, DRM_FORMAT_XRGB8888);
    assert_int_equal(g.flags, DRM_MODE_FB_MODIFIERS);
    assert_int_not_equal(g.handles[0], 0);
    assert_int_equal(g.pitches[0], pitch);
    assert_int_equal(g.modifier[0], DRM_FORMAT_MOD_LINEAR);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(g.handles[i] | g.pitches[i] | g.offsets[i] | g.modifier[i], 0);
    assert_ok(close_handle(card, g.handles[0]));
}

static void getfb2_takes_several_planes(void **state)
{
    (void)state;
    only_ours();
    uint32_t of;
    struct drm_mode_fb_cmd2 g;
    assert_ok(get2(card, nv12_fb(&of), &g));
    assert_int_equal(g.width, 1024);
    assert_int_equal(g.height, 1024);
    assert_true(g.flags & DRM_MODE_FB_MODIFIERS);
    assert_int_not_equal(g.handles[0], 0);
    assert_int_not_equal(g.handles[0], of);
    assert_int_equal(g.handles[1], g.handles[0]); /* one buffer, one handle */
    assert_int_equal(g.pitches[1], 1024);
    assert_int_equal(g.offsets[1], 1024 * 1024);
    assert_int_equal(g.handles[2] | g.handles[3] | g.pitches[2], 0);
    assert_ok(close_handle(card, g.handles[0]));
}

static void what_getfb2_says_makes_another_one(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 g;
    assert_ok(get2(card, fb, &g));
    assert_ok(drm(card, DRM_IOCTL_MODE_ADDFB2, &g));
    assert_int_not_equal(g.fb_id, fb);
    assert_ok(remove_fb(card, g.fb_id));
    assert_ok(close_handle(card, g.handles[0]));
}

/* Neither root nor master: the call succeeds, and there is no handle. */
static void users_get_no_handle(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    assert_ok(get(card_open_user(), fb, &g));
    assert_int_equal(g.handle, 0);
    assert_int_equal(g.width, 1024);
}

static void users_get_no_handles_of_getfb2(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 g;
    assert_ok(get2(card_open_user(), fb, &g));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(g.handles[i], 0);
    assert_int_equal(g.pitches[0], pitch);
}

static void a_user_sees_no_handle_of_its_own_fb_either(void **state)
{
    (void)state;
    struct file *user = card_open_user();
    struct drm_mode_fb_cmd g;
    assert_ok(get(user, fb_of(user, 64, 64, DRM_FORMAT_XRGB8888), &g));
    assert_int_equal(g.handle, 0);
}

static void root_gets_handles_without_being_master(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd g;
    struct file *root = card_open();
    assert_ok(get(root, fb, &g));
    assert_int_not_equal(g.handle, 0);
    assert_ok(close_handle(root, g.handle));
}

#define fb_test(name) cmocka_unit_test_setup_teardown(name, setup_fb, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fb_test(getfb_of_0_is_not_found),
        fb_test(getfb_tells_size_depth_and_a_handle),
        fb_test(getfb_of_a_removed_one_is_not_found),
        fb_test(getfb_of_another_object_is_not_found),
        fb_test(getfb_gives_another_handle_than_it_was_made_of),
        fb_test(getfb_gives_another_handle_each_time),
        fb_test(getfb_refuses_several_planes),
        fb_test(getfb2_of_0_is_not_found),
        fb_test(getfb2_of_a_removed_one_is_not_found),
        fb_test(getfb2_of_another_object_is_not_found),
        fb_test(getfb2_tells_all),
        fb_test(getfb2_takes_several_planes),
        fb_test(what_getfb2_says_makes_another_one),
        fb_test(users_get_no_handle),
        fb_test(users_get_no_handles_of_getfb2),
        fb_test(a_user_sees_no_handle_of_its_own_fb_either),
        fb_test(root_gets_handles_without_being_master),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
