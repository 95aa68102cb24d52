/* PNG files as libpng reads them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <png.h>

#include "frames/panel/image.h"

/* Noise fills more than a chunk, and does not compress; stripes do. */
static void check(uint32_t width, uint32_t height, bool noise)
{
    struct tp_image image;
    struct tp_buf file = {0};
    png_image read = {.version = PNG_IMAGE_VERSION};
    size_t n = (size_t)width * height;
    uint32_t state = 1;
    tp_image_init(&image, width, height);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        image.pixels[i] = noise ? state >> 8 : (uint32_t)i / 7 * 0x30201 & 0xffffff;
    }
    assert_int_equal(tp_image_to_png(&image, &file, NULL), 0);
    assert_true(png_image_begin_read_from_memory(&read, file.data, file.len));
    assert_int_equal(read.width, width);
    assert_int_equal(read.height, height);
    read.format = PNG_FORMAT_RGB;
    uint8_t *got = malloc(PNG_IMAGE_SIZE(read));
    assert_true(png_image_finish_read(&read, NULL, got, 0, NULL));
    assert_int_equal(read.warning_or_error, 0);
    for (size_t i = 0; i < n; i++) {
        uint32_t pixel = (uint32_t)(got[3 * i] << 16 | got[3 * i + 1] << 8 | got[3 * i + 2]);
        assert_int_equal(pixel, image.pixels[i]);
    }
    free(got);
    tp_image_finish(&image);
    tp_buf_finish(&file);
}

static void libpng_reads_what_was_written(void **s)
{
    (void)s;
    check(1, 1, false);
    check(3, 2, true);
    check(640, 480, true);
    check(640, 480, false);
    check(16384, 2, true);
}

static void a_picture_without_pixels_is_no_png(void **s)
{
    struct tp_image image;
    struct tp_buf file = {0};
    (void)s;
    tp_image_init(&image, 0, 5);
    assert_int_equal(tp_image_to_png(&image, &file, NULL), -EINVAL);
    tp_image_finish(&image);
    tp_buf_finish(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libpng_reads_what_was_written),
        cmocka_unit_test(a_picture_without_pixels_is_no_png),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
