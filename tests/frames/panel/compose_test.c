/* Pictures from layers. Expected pixels are worked out by hand beside each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <drm_fourcc.h>
#include <drm_mode.h>

#include "frames/panel/compose.h"

/* Framebuffers as the test makes them; the device is not there. */
struct tp_kms_fb {
    struct tp_kms_fb_info info;
};

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = fb->info;
}

static struct tp_kms_fb make(
    uint32_t fourcc, uint32_t width, uint32_t height, const void *bytes, size_t n)
{
    struct tp_kms_fb fb = {{.width = width, .height = height, .fourcc = fourcc, .n_planes = 1}};
    fb.info.fds[0] = memfd_create("fb", MFD_CLOEXEC);
    fb.info.pitches[0] = (uint32_t)(n / height);
    assert_int_equal(pwrite(fb.info.fds[0], bytes, n, 0), n);
    return fb;
}

static struct tp_kms_layer layer_of(struct tp_kms_fb *fb)
{
    return (struct tp_kms_layer){
        .fb = fb,
        .src_w = fb->info.width << 16,
        .src_h = fb->info.height << 16,
        .width = fb->info.width,
        .height = fb->info.height,
        .rotation = DRM_MODE_ROTATE_0,
        .alpha = 0xffff,
        .in_fence = -1,
    };
}

/* Composes onto a picture of that size and checks all of it. */
static void check(const struct tp_kms_layer *layers, unsigned n, uint32_t width, uint32_t height,
    const uint32_t *want)
{
    struct tp_kms_scanout s = {.active = true, .n_layers = n};
    struct tp_image image;
    memcpy(s.layers, layers, n * sizeof *layers);
    tp_image_init(&image, width, height);
    assert_int_equal(tp_compose(&s, &image, 0, height, NULL), 0);
    assert_memory_equal(image.pixels, want, (size_t)width * height * 4);
    tp_image_finish(&image);
}

static void one_pixel(uint32_t fourcc, uint32_t value, size_t bytes, uint32_t want)
{
    struct tp_kms_fb fb = make(fourcc, 1, 1, &value, bytes);
    struct tp_kms_layer l = layer_of(&fb);
    check(&l, 1, 1, 1, &want);
    close(fb.info.fds[0]);
}

static void formats_are_read_as_drm_fourcc_defines_them(void **state)
{
    (void)state;
    one_pixel(DRM_FORMAT_XRGB8888, 0xff102030, 4, 0x102030);
    one_pixel(DRM_FORMAT_XBGR8888, 0xff102030, 4, 0x302010);
    one_pixel(DRM_FORMAT_RGBX8888, 0x102030ff, 4, 0x102030);
    one_pixel(DRM_FORMAT_BGRX8888, 0x102030ff, 4, 0x302010);
    one_pixel(DRM_FORMAT_ARGB8888, 0xff102030, 4, 0x102030);
    /* 5, 6 and 5 bits: 31, 0, 31 */
    one_pixel(DRM_FORMAT_RGB565, 0xf81f, 2, 0xff00ff);
    /* 16 of 31: 10000 and its upper three bits again: 10000100 = 0x84; 32 of 63: 10000010 = 0x82 */
    one_pixel(DRM_FORMAT_RGB565, 16u << 11 | 32u << 5 | 16, 2, 0x848284);
    /* ten bits: the upper eight of 1023, 512, 4 */
    one_pixel(DRM_FORMAT_XRGB2101010, 1023u << 20 | 512u << 10 | 4, 4, 0xff8001);
    one_pixel(DRM_FORMAT_XBGR2101010, 1023u << 20 | 512u << 10 | 4, 4, 0x0180ff);
    one_pixel(DRM_FORMAT_RGB888, 0x102030, 3, 0x102030);
}

static void alpha_is_premultiplied_unless_coverage_is_asked_for(void **state)
{
    static const uint32_t white = 0xffffffff, half_red = 0x80800000, red_half = 0x80ff0000;
    struct tp_kms_fb under = make(DRM_FORMAT_XRGB8888, 1, 1, &white, 4);
    struct tp_kms_fb pre = make(DRM_FORMAT_ARGB8888, 1, 1, &half_red, 4);
    struct tp_kms_fb cover = make(DRM_FORMAT_ARGB8888, 1, 1, &red_half, 4);
    struct tp_kms_layer l[2] = {layer_of(&under), layer_of(&pre)};
    (void)state;
    /* 0x80 + 255 * (255 - 128) / 255 = 0xff; 0 + 127 = 0x7f */
    check(l, 2, 1, 1, &(uint32_t){0xff7f7f});
    l[1] = layer_of(&cover);
    l[1].coverage = true;
    /* 255 * 128 / 255 + 127 = 0xff */
    check(l, 2, 1, 1, &(uint32_t){0xff7f7f});
    /* An opaque plane at half alpha: (0xffff / 2) >> 8 = 127; white 255 * 127 / 255 = 127 on black
     */
    l[0].alpha = 0x7fff;
    check(l, 1, 1, 1, &(uint32_t){0x7f7f7f});
    close(under.info.fds[0]);
    close(pre.info.fds[0]);
    close(cover.info.fds[0]);
}

static void layers_lie_over_one_another_where_they_are_put(void **state)
{
    static const uint32_t back[6] = {1, 2, 3, 4, 5, 6}, front[4] = {7, 8, 9, 10};
    struct tp_kms_fb a = make(DRM_FORMAT_XRGB8888, 3, 2, back, sizeof back);
    struct tp_kms_fb b = make(DRM_FORMAT_XRGB8888, 2, 2, front, sizeof front);
    struct tp_kms_layer l[2] = {layer_of(&a), layer_of(&b)};
    (void)state;
    l[1].x = 2; /* half of it is past the right edge */
    l[1].y = 1; /* and half past the lower one */
    check(l, 2, 3, 2, (uint32_t[]){1, 2, 3, 4, 5, 7});
    l[1].x = l[1].y = -1;
    check(l, 2, 3, 2, (uint32_t[]){10, 2, 3, 4, 5, 6});
    close(a.info.fds[0]);
    close(b.info.fds[0]);
}

static void a_source_rectangle_is_cut_out_and_scaled(void **state)
{
    static const uint32_t pixels[4] = {1, 2, 3, 4};
    struct tp_kms_fb fb = make(DRM_FORMAT_XRGB8888, 2, 2, pixels, sizeof pixels);
    struct tp_kms_layer l = layer_of(&fb);
    (void)state;
    l.width = l.height = 4;
    check(&l, 1, 4, 4, (uint32_t[]){1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
    l.src_x = 1 << 16;
    l.src_w = 1 << 16;
    l.width = 1;
    l.height = 2;
    check(&l, 1, 1, 2, (uint32_t[]){2, 4});
    close(fb.info.fds[0]);
}

static void rotation_is_counter_clockwise(void **state)
{
    /* 1 2      2 4      4 3      3 1
     * 3 4  90: 1 3 180: 2 1 270: 4 2 */
    static const uint32_t pixels[4] = {1, 2, 3, 4};
    struct tp_kms_fb fb = make(DRM_FORMAT_XRGB8888, 2, 2, pixels, sizeof pixels);
    struct tp_kms_layer l = layer_of(&fb);
    (void)state;
    l.rotation = DRM_MODE_ROTATE_90;
    check(&l, 1, 2, 2, (uint32_t[]){2, 4, 1, 3});
    l.rotation = DRM_MODE_ROTATE_180;
    check(&l, 1, 2, 2, (uint32_t[]){4, 3, 2, 1});
    l.rotation = DRM_MODE_ROTATE_270;
    check(&l, 1, 2, 2, (uint32_t[]){3, 1, 4, 2});
    l.rotation = DRM_MODE_ROTATE_0 | DRM_MODE_REFLECT_X;
    check(&l, 1, 2, 2, (uint32_t[]){2, 1, 4, 3});
    close(fb.info.fds[0]);
}

static void memory_that_ends_too_early_is_black(void **state)
{
    static const uint32_t pixels[4] = {1, 2, 3, 4};
    struct tp_kms_fb fb = make(DRM_FORMAT_XRGB8888, 2, 2, pixels, sizeof pixels);
    struct tp_kms_layer l = layer_of(&fb);
    (void)state;
    assert_int_equal(ftruncate(fb.info.fds[0], 4), 0);
    check(&l, 1, 2, 2, (uint32_t[]){1, 0, 0, 0});
    close(fb.info.fds[0]);
}

static void what_cannot_be_read_is_counted(void **state)
{
    static const uint32_t pixels[4] = {1, 2, 3, 4};
    struct tp_kms_fb fb = make(DRM_FORMAT_XRGB8888, 2, 2, pixels, sizeof pixels);
    struct tp_kms_scanout s = {.active = true, .n_layers = 1, .layers = {layer_of(&fb)}};
    struct tp_image image;
    (void)state;
    fb.info.modifier = I915_FORMAT_MOD_X_TILED;
    tp_image_init(&image, 2, 2);
    assert_int_equal(tp_compose(&s, &image, 0, 2, NULL), 1);
    assert_int_equal(image.pixels[0], 0);
    tp_image_finish(&image);
    close(fb.info.fds[0]);
}

static void a_screen_that_is_off_is_black(void **state)
{
    static const uint32_t pixel = 5;
    struct tp_kms_fb fb = make(DRM_FORMAT_XRGB8888, 1, 1, &pixel, sizeof pixel);
    struct tp_kms_scanout s = {.n_layers = 1, .layers = {layer_of(&fb)}};
    struct tp_image image;
    (void)state;
    tp_image_init(&image, 1, 1);
    image.pixels[0] = 1;
    assert_int_equal(tp_compose(&s, &image, 0, 1, NULL), 0);
    assert_int_equal(image.pixels[0], 0);
    tp_image_finish(&image);
    close(fb.info.fds[0]);
}

static void only_the_asked_lines_are_composed(void **state)
{
    static const uint32_t pixels[3] = {1, 2, 3};
    struct tp_kms_fb fb = make(DRM_FORMAT_XRGB8888, 1, 3, pixels, sizeof pixels);
    struct tp_kms_scanout s = {.active = true, .n_layers = 1, .layers = {layer_of(&fb)}};
    struct tp_image image;
    (void)state;
    tp_image_init(&image, 1, 3);
    assert_int_equal(tp_compose(&s, &image, 1, 2, NULL), 0);
    assert_memory_equal(image.pixels, ((uint32_t[]){0, 2, 0}), 12);
    tp_image_finish(&image);
    close(fb.info.fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_read_as_drm_fourcc_defines_them),
        cmocka_unit_test(alpha_is_premultiplied_unless_coverage_is_asked_for),
        cmocka_unit_test(layers_lie_over_one_another_where_they_are_put),
        cmocka_unit_test(a_source_rectangle_is_cut_out_and_scaled),
        cmocka_unit_test(rotation_is_counter_clockwise),
        cmocka_unit_test(memory_that_ends_too_early_is_black),
        cmocka_unit_test(what_cannot_be_read_is_counted),
        cmocka_unit_test(a_screen_that_is_off_is_black),
        cmocka_unit_test(only_the_asked_lines_are_composed),
    };
    return cmocka_run_group_tests_name("compose", tests, NULL, NULL);
}
