/* Framebuffers from buffers (drm_framebuffer.c, drm_gem_framebuffer_helper.c; IGT's
 * kms_addfb_basic). */
#include "harness.h"

static uint32_t big, small; /* 1024 by 1024 and by 1023, 4 bytes a pixel */

static int setup_buffers(void **state)
{
    setup_card(state);
    big = create_dumb(card, 1024, 1024, 32).handle;
    small = create_dumb(card, 1024, 1023, 32).handle;
    return 0;
}

static struct drm_mode_fb_cmd2 good(void)
{
    return (struct drm_mode_fb_cmd2){.width = 512,
                                     .height = 512,
                                     .pixel_format = DRM_FORMAT_XRGB8888,
                                     .handles = {big},
                                     .pitches = {1024 * 4}};
}

static int add_fb(struct drm_mode_fb_cmd2 *f)
{
    return drm(card, DRM_IOCTL_MODE_ADDFB2, f);
}

static void accept(struct drm_mode_fb_cmd2 f)
{
    assert_ok(add_fb(&f));
    assert_int_not_equal(f.fb_id, 0);
    assert_ok(remove_fb(card, f.fb_id));
}

static void refuse(struct drm_mode_fb_cmd2 f, int err)
{
    assert_errno(add_fb(&f), err);
}

static void a_good_one_is_added_and_removed(void **state)
{
    (void)state;
    accept(good());
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    accept(f);
}

static void a_handle_is_needed(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.handles[0] = 0;
    refuse(f, EINVAL);
}

static void an_unknown_handle_is_not_found(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.handles[0] = 0x7fff1234;
    refuse(f, ENOENT);
}

static void another_files_handle_is_not_found(void **state)
{
    (void)state;
    struct file *other = card_open();
    struct drm_mode_fb_cmd2 f = good();
    assert_errno(drm(other, DRM_IOCTL_MODE_ADDFB2, &f), ENOENT);
}

static void no_size_is_refused(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.width = 0;
    refuse(f, EINVAL);
    f = good();
    f.height = 0;
    refuse(f, EINVAL);
}

static void more_than_the_largest_size_is_refused(void **state)
{
    (void)state;
    struct drm_mode_card_res res = {0};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETRESOURCES, &res));
    assert_true(res.max_width >= 1280 && res.max_height >= 720);
    struct drm_mode_fb_cmd2 f = good();
    f.width = res.max_width + 1;
    f.pitches[0] = f.width * 4;
    refuse(f, EINVAL);
    f = good();
    f.height = res.max_height + 1;
    refuse(f, EINVAL);
}

static void unused_handles_must_be_zero(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.handles[1] = small;
    refuse(f, EINVAL);
    f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.handles[3] = small;
    refuse(f, EINVAL);
}

static void unused_pitches_must_be_zero(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.pitches[1] = 512;
    refuse(f, EINVAL);
}

static void unused_offsets_must_be_zero(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.offsets[1] = 512;
    refuse(f, EINVAL);
}

static void unused_modifiers_must_be_zero(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.modifier[1] = I915_FORMAT_MOD_X_TILED;
    refuse(f, EINVAL);
    f.flags = 0;
    refuse(f, EINVAL); /* without the flag, too */
}

static void old_clients_may_leave_rubbish_in_unused_members(void **state)
{
    (void)state;
    /* "Pre-FB_MODIFIERS userspace didn't clear the structs properly." */
    struct drm_mode_fb_cmd2 f = good();
    f.handles[1] = small;
    f.pitches[2] = 77;
    f.offsets[3] = 99;
    accept(f);
}

static void a_modifier_needs_its_flag(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.modifier[0] = I915_FORMAT_MOD_X_TILED;
    refuse(f, EINVAL);
}

static void an_invalid_modifier_is_refused(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.modifier[0] = DRM_FORMAT_MOD_INVALID;
    refuse(f, EINVAL);
}

static void modifiers_that_no_plane_takes_are_refused(void **state)
{
    (void)state;
    static const uint64_t others[] = {
        I915_FORMAT_MOD_X_TILED,
        I915_FORMAT_MOD_Y_TILED,
        I915_FORMAT_MOD_Yf_TILED,
        fourcc_mod_code(INTEL, 9), /* 4-tiled */
        DRM_FORMAT_MOD_BROADCOM_VC4_T_TILED,
        DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED,
    };
    for (unsigned i = 0; i < COUNT(others); i++) {
        struct drm_mode_fb_cmd2 f = good();
        f.flags = DRM_MODE_FB_MODIFIERS;
        f.modifier[0] = others[i];
        refuse(f, EINVAL);
    }
}

static void a_modifier_goes_with_its_formats_only(void **state)
{
    (void)state;
    only_ours();
    struct drm_mode_fb_cmd2 f = good();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.modifier[0] = DRM_FORMAT_MOD_QCOM_COMPRESSED;
    f.pixel_format = DRM_FORMAT_RGB565;
    refuse(f, EINVAL);
    f.pixel_format = DRM_FORMAT_ABGR8888;
    accept(f);
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    for (unsigned bit = 2; bit < 32; bit++) {
        struct drm_mode_fb_cmd2 f = good();
        f.flags = 1u << bit;
        refuse(f, EINVAL);
    }
}

static void formats_that_are_none_are_refused(void **state)
{
    (void)state;
    static const uint32_t others[] = {0, 0xffffffff, fourcc_code('n', 'o', 'n', 'e'),
                                      fourcc_code('X', 'R', '2', '5')};
    for (unsigned i = 0; i < COUNT(others); i++) {
        struct drm_mode_fb_cmd2 f = good();
        f.pixel_format = others[i];
        refuse(f, EINVAL);
    }
}

static void formats_that_no_plane_takes_are_refused(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.pixel_format = DRM_FORMAT_XRGB4444;
    refuse(f, EINVAL);
}

/* The same table as the kernel's test has: of a buffer 512 wide, four bytes a pixel. */
static void bad_pitch(uint32_t pitch)
{
    struct drm_mode_fb_cmd2 f = good();
    f.pitches[0] = pitch;
    refuse(f, EINVAL);
}

static void pitch_0_is_bad(void **state)
{
    (void)state;
    bad_pitch(0);
}

static void pitch_32_is_bad(void **state)
{
    (void)state;
    bad_pitch(32);
}

static void pitch_63_is_bad(void **state)
{
    (void)state;
    bad_pitch(63);
}

static void pitch_128_is_bad(void **state)
{
    (void)state;
    bad_pitch(128);
}

static void pitch_256_is_bad(void **state)
{
    (void)state;
    bad_pitch(256);
}

static void pitch_1024_is_bad(void **state)
{
    (void)state;
    bad_pitch(1024);
}

static void pitch_999_is_bad(void **state)
{
    (void)state;
    bad_pitch(999);
}

static void pitch_65536_is_too_much_for_the_buffer(void **state)
{
    (void)state;
    bad_pitch(65536);
}

static void the_smallest_pitch_is_a_lines_length(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.pitches[0] = 512 * 4;
    accept(f);
    f.pitches[0] = 512 * 4 - 1;
    refuse(f, EINVAL);
}

static void over_4_gib_is_out_of_range(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    f.pitches[0] = UINT32_MAX / 256; /* times 512 lines */
    refuse(f, ERANGE);
    f = good();
    f.offsets[0] = UINT32_MAX - 4096;
    refuse(f, ERANGE);
}

static struct drm_mode_fb_cmd2 whole(uint32_t fourcc, uint32_t cpp)
{
    struct drm_mode_fb_cmd2 f = good();
    f.pixel_format = fourcc;
    f.width = 1024;
    f.height = 1024 * 4 / cpp;
    f.pitches[0] = 1024 * cpp;
    return f;
}

static void one_may_fill_its_buffer(void **state)
{
    (void)state;
    accept(whole(DRM_FORMAT_XRGB8888, 4));
    accept(whole(DRM_FORMAT_RGB565, 2));
}

static void too_wide_is_refused(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = whole(DRM_FORMAT_XRGB8888, 4);
    f.width++;
    refuse(f, EINVAL);
    f = whole(DRM_FORMAT_RGB565, 2);
    f.width++;
    refuse(f, EINVAL);
}

static void too_high_is_refused(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = whole(DRM_FORMAT_XRGB8888, 4);
    f.height++;
    refuse(f, EINVAL);
    f = whole(DRM_FORMAT_RGB565, 2);
    f.height++;
    refuse(f, EINVAL);
}

static void a_buffer_that_is_too_small_is_refused(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = whole(DRM_FORMAT_XRGB8888, 4);
    f.handles[0] = small;
    refuse(f, EINVAL);
}

static void a_small_buffer_does_for_a_small_one(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = whole(DRM_FORMAT_XRGB8888, 4);
    f.handles[0] = small;
    f.height = 1020;
    accept(f);
}

static void an_offset_counts(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = whole(DRM_FORMAT_XRGB8888, 4);
    f.height = 1023;
    f.offsets[0] = 4096;
    accept(f);
    f.offsets[0] = 4096 + 4;
    refuse(f, EINVAL);
}

/* drm_gem_fb_init_with_funcs: the last line need not be a whole pitch. */
static void the_last_line_may_be_short(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = whole(DRM_FORMAT_XRGB8888, 4);
    f.width = 512;
    f.height = 1024;
    f.offsets[0] = 512 * 4;
    accept(f);
}

static int legacy_add(uint32_t bpp, uint32_t depth)
{
    struct drm_mode_fb_cmd f = {.width = 512, .height = 512, .pitch = 1024 * 4, .bpp = bpp,
                                .depth = depth, .handle = big};
    int r = drm(card, DRM_IOCTL_MODE_ADDFB, &f);
    if (r == 0)
        assert_ok(remove_fb(card, f.fb_id));
    return r;
}

static void the_old_call_knows_depths(void **state)
{
    (void)state;
    assert_ok(legacy_add(32, 24)); /* XRGB8888 */
    assert_ok(legacy_add(32, 32)); /* ARGB8888 */
    assert_ok(legacy_add(16, 16)); /* RGB565 */
}

/* drm_mode_legacy_fb_format: all other pairs are no format. */
static void the_old_call_refuses_other_depths(void **state)
{
    (void)state;
    uint32_t seed = 0x12345678;
    for (int i = 0; i < 2000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t bpp = seed >> (i % 3 ? 26 : 8), depth = (seed >> 4) & (i % 5 ? 63 : ~0u);
        bool known = (bpp == 1 && depth == 1) || (bpp == 2 && depth == 2) ||
                     (bpp == 4 && depth == 4) || (bpp == 8 && depth == 8) ||
                     (bpp == 16 && (depth == 15 || depth == 16)) || (bpp == 24 && depth == 24) ||
                     (bpp == 32 && (depth == 24 || depth == 30 || depth == 32));
        if (!known)
            assert_errno(legacy_add(bpp, depth), EINVAL);
    }
    assert_ok(legacy_add(32, 24));
}

static void framebuffers_have_no_properties(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    assert_ok(add_fb(&f));
    uint32_t id;
    uint64_t value;
    static const uint32_t types[] = {DRM_MODE_OBJECT_ANY, DRM_MODE_OBJECT_FB};
    for (unsigned i = 0; i < 2; i++) {
        struct drm_mode_obj_get_properties get = {.props_ptr = PTR(&id),
                                                  .prop_values_ptr = PTR(&value),
                                                  .count_props = 1,
                                                  .obj_id = f.fb_id,
                                                  .obj_type = types[i]};
        assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get), EINVAL);
        struct drm_mode_obj_set_property set = {.prop_id = 1, .obj_id = f.fb_id,
                                                .obj_type = types[i]};
        assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set), EINVAL);
    }
}

static void only_its_file_removes_one(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    assert_ok(add_fb(&f));
    assert_ok(drm(card, DRM_IOCTL_DROP_MASTER, NULL));
    struct file *other = card_open();
    assert_errno(remove_fb(other, f.fb_id), ENOENT);
    card_close(other);
    assert_ok(drm(card, DRM_IOCTL_SET_MASTER, NULL));
    assert_ok(remove_fb(card, f.fb_id));
    assert_errno(remove_fb(card, f.fb_id), ENOENT);
}

static void removing_needs_no_master(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    assert_ok(add_fb(&f));
    assert_ok(drm(card, DRM_IOCTL_DROP_MASTER, NULL));
    assert_ok(remove_fb(card, f.fb_id));
}

static void it_keeps_its_buffer_after_the_handle(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    assert_ok(add_fb(&f));
    assert_ok(close_handle(card, big));
    struct drm_mode_fb_cmd get = {.fb_id = f.fb_id};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETFB, &get));
    assert_int_equal(get.width, 512);
    assert_ok(remove_fb(card, f.fb_id));
}

static void resources_list_ones_own(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    assert_ok(add_fb(&f));
    uint32_t ids[8] = {0};
    struct drm_mode_card_res res = {.fb_id_ptr = PTR(ids), .count_fbs = 8};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETRESOURCES, &res));
    assert_int_equal(res.count_fbs, 1);
    assert_int_equal(ids[0], f.fb_id);
    res = (struct drm_mode_card_res){.fb_id_ptr = PTR(ids), .count_fbs = 8};
    assert_ok(drm(card_open(), DRM_IOCTL_MODE_GETRESOURCES, &res));
    assert_int_equal(res.count_fbs, 0);
}

static struct drm_mode_fb_cmd2 nv12(void)
{
    struct drm_mode_fb_cmd2 f = good();
    f.pixel_format = DRM_FORMAT_NV12;
    f.pitches[0] = f.pitches[1] = 512;
    f.handles[1] = big;
    f.offsets[1] = 512 * 512;
    return f;
}

static void formats_of_two_planes_need_both(void **state)
{
    (void)state;
    only_ours(); /* vkms has none before Linux 6.13 */
    accept(nv12());
    struct drm_mode_fb_cmd2 f = nv12();
    f.handles[1] = 0;
    refuse(f, EINVAL);
    f = nv12();
    f.pitches[1] = 511; /* 256 pairs */
    refuse(f, EINVAL);
    f = nv12();
    f.handles[1] = 0x7fff1234;
    refuse(f, ENOENT);
    f = nv12();
    f.handles[2] = small;
    f.flags = DRM_MODE_FB_MODIFIERS;
    refuse(f, EINVAL);
    f = nv12();
    f.flags = DRM_MODE_FB_MODIFIERS;
    f.modifier[1] = DRM_FORMAT_MOD_QCOM_COMPRESSED; /* not plane 0's */
    refuse(f, EINVAL);
}

static void the_second_plane_must_fit_too(void **state)
{
    (void)state;
    only_ours();
    struct drm_mode_fb_cmd2 f = nv12();
    f.offsets[1] = 1024 * 1024 * 4 - 512 * 256;
    accept(f);
    f.offsets[1] += 2;
    refuse(f, EINVAL);
}

static void dirty_wants_clips_in_order(void **state)
{
    (void)state;
    struct drm_mode_fb_cmd2 f = good();
    assert_ok(add_fb(&f));
    static struct drm_clip_rect clips[DRM_MODE_FB_DIRTY_MAX_CLIPS + 1] = {{0, 0, 8, 8},
                                                                          {8, 8, 16, 16}};
    struct drm_mode_fb_dirty_cmd d = {.fb_id = f.fb_id, .num_clips = 2, .clips_ptr = PTR(clips)};
    if (!is_real()) /* vkms has no dirty: ENOSYS */
        assert_ok(drm(card, DRM_IOCTL_MODE_DIRTYFB, &d));
    d.clips_ptr = 0;
    assert_errno(drm(card, DRM_IOCTL_MODE_DIRTYFB, &d), EINVAL);
    d = (struct drm_mode_fb_dirty_cmd){.fb_id = f.fb_id, .clips_ptr = PTR(clips)};
    assert_errno(drm(card, DRM_IOCTL_MODE_DIRTYFB, &d), EINVAL);
    d = (struct drm_mode_fb_dirty_cmd){.fb_id = f.fb_id, .num_clips = 1, .clips_ptr = PTR(clips),
                                       .flags = DRM_MODE_FB_DIRTY_ANNOTATE_COPY};
    assert_errno(drm(card, DRM_IOCTL_MODE_DIRTYFB, &d), EINVAL);
    d = (struct drm_mode_fb_dirty_cmd){.fb_id = f.fb_id, .num_clips = COUNT(clips),
                                       .clips_ptr = PTR(clips)};
    assert_errno(drm(card, DRM_IOCTL_MODE_DIRTYFB, &d), EINVAL);
    d = (struct drm_mode_fb_dirty_cmd){.fb_id = 0x7fff1234};
    assert_errno(drm(card, DRM_IOCTL_MODE_DIRTYFB, &d), ENOENT);
}

static void close_fb_leaves_it_on_the_screen(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t fb = light_up(card, &o, 0);
    struct drm_mode_closefb bad = {.fb_id = fb, .pad = 1};
    assert_errno(drm(card, DRM_IOCTL_MODE_CLOSEFB, &bad), EINVAL);
    struct drm_mode_closefb c = {.fb_id = fb};
    assert_errno(drm(card_open(), DRM_IOCTL_MODE_CLOSEFB, &c), ENOENT);
    assert_ok(drm(card, DRM_IOCTL_MODE_CLOSEFB, &c));
    struct drm_mode_crtc crtc;
    assert_ok(get_crtc(card, o.crtc, &crtc));
    assert_int_equal(crtc.fb_id, fb);
    assert_int_equal(crtc.mode_valid, 1);
    /* It is no longer this file's to close. */
    assert_errno(drm(card, DRM_IOCTL_MODE_CLOSEFB, &c), ENOENT);
    assert_ok(switch_off(card, &o));
}

static void removing_one_takes_it_off_the_screen(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t fb = light_up(card, &o, 0);
    assert_ok(remove_fb(card, fb));
    struct drm_mode_crtc crtc;
    assert_ok(get_crtc(card, o.crtc, &crtc));
    assert_int_equal(crtc.fb_id, 0);
    struct drm_mode_get_plane p;
    assert_ok(get_plane(card, o.primary, &p));
    assert_int_equal(p.fb_id, 0);
    assert_int_equal(p.crtc_id, 0);
}

#define fb_test(name) cmocka_unit_test_setup_teardown(name, setup_buffers, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fb_test(a_good_one_is_added_and_removed),
        fb_test(a_handle_is_needed),
        fb_test(an_unknown_handle_is_not_found),
        fb_test(another_files_handle_is_not_found),
        fb_test(no_size_is_refused),
        fb_test(more_than_the_largest_size_is_refused),
        fb_test(unused_handles_must_be_zero),
        fb_test(unused_pitches_must_be_zero),
        fb_test(unused_offsets_must_be_zero),
        fb_test(unused_modifiers_must_be_zero),
        fb_test(old_clients_may_leave_rubbish_in_unused_members),
        fb_test(a_modifier_needs_its_flag),
        fb_test(an_invalid_modifier_is_refused),
        fb_test(modifiers_that_no_plane_takes_are_refused),
        fb_test(a_modifier_goes_with_its_formats_only),
        fb_test(unknown_flags_are_refused),
        fb_test(formats_that_are_none_are_refused),
        fb_test(formats_that_no_plane_takes_are_refused),
        fb_test(pitch_0_is_bad),
        fb_test(pitch_32_is_bad),
        fb_test(pitch_63_is_bad),
        fb_test(pitch_128_is_bad),
        fb_test(pitch_256_is_bad),
        fb_test(pitch_1024_is_bad),
        fb_test(pitch_999_is_bad),
        fb_test(pitch_65536_is_too_much_for_the_buffer),
        fb_test(the_smallest_pitch_is_a_lines_length),
        fb_test(over_4_gib_is_out_of_range),
        fb_test(one_may_fill_its_buffer),
        fb_test(too_wide_is_refused),
        fb_test(too_high_is_refused),
        fb_test(a_buffer_that_is_too_small_is_refused),
        fb_test(a_small_buffer_does_for_a_small_one),
        fb_test(an_offset_counts),
        fb_test(the_last_line_may_be_short),
        fb_test(the_old_call_knows_depths),
        fb_test(the_old_call_refuses_other_depths),
        fb_test(framebuffers_have_no_properties),
        fb_test(only_its_file_removes_one),
        fb_test(removing_needs_no_master),
        fb_test(it_keeps_its_buffer_after_the_handle),
        fb_test(resources_list_ones_own),
        fb_test(formats_of_two_planes_need_both),
        fb_test(the_second_plane_must_fit_too),
        fb_test(dirty_wants_clips_in_order),
        fb_test(close_fb_leaves_it_on_the_screen),
        fb_test(removing_one_takes_it_off_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
