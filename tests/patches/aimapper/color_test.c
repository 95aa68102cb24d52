/* Colours: Dataspace's STANDARD is in bits 16 to 21, its RANGE in 27 to 29. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support.h"

#define STANDARD(n) ((n) << 16)
#define RANGE(n) ((n) << 27)

static struct u_gralloc *gralloc;

static int setup(void **state)
{
    if (backend_setup(state))
        return -1;
    gralloc = backend_create(*state, "default");
    return gralloc ? 0 : -1;
}

static int teardown(void **state)
{
    gralloc->ops.destroy(gralloc);
    return backend_teardown(state);
}

static struct u_gralloc_buffer_color_info color_of(int kind, int dataspace, int siting)
{
    struct buffer buffer = buffer_make(kind);
    struct u_gralloc_buffer_color_info info = {0};
    buffer.ints[3 + DOUBLE_FDS + DOUBLE_DATASPACE] = dataspace;
    buffer.ints[3 + DOUBLE_FDS + DOUBLE_SITING] = siting;
    assert_int_equal(gralloc->ops.get_buffer_color_info(gralloc, buffer_handle(&buffer), &info), 0);
    return info;
}

static void a_standard_is_a_color_space(void **state)
{
    static const enum __DRIYUVColorSpace spaces[] = {
        [0] = __DRI_YUV_COLOR_SPACE_ITU_REC601, /* nothing is said: what video usually is */
        [1] = __DRI_YUV_COLOR_SPACE_ITU_REC709,
        [2] = __DRI_YUV_COLOR_SPACE_ITU_REC601, /* 625 lines */
        [3] = __DRI_YUV_COLOR_SPACE_ITU_REC601,
        [4] = __DRI_YUV_COLOR_SPACE_ITU_REC601, /* 525 lines */
        [5] = __DRI_YUV_COLOR_SPACE_ITU_REC601,
        [6] = __DRI_YUV_COLOR_SPACE_ITU_REC2020,
        [7] = __DRI_YUV_COLOR_SPACE_ITU_REC2020,
    };
    (void)state;
    for (int i = 8; i < 64; i++) /* BT.470M, and those without a number in EGL */
        assert_int_equal(color_of(DOUBLE_NV12, STANDARD(i), -1).yuv_color_space, spaces[0]);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(color_of(DOUBLE_NV12, STANDARD(i), -1).yuv_color_space, spaces[i]);
        assert_int_equal(
            color_of(DOUBLE_NV12, STANDARD(i) | RANGE(2) | 0xffff, -1).yuv_color_space, spaces[i]);
    }
}

static void a_range_is_full_or_narrow(void **state)
{
    (void)state;
    assert_int_equal(color_of(DOUBLE_NV12, 0, -1).sample_range, __DRI_YUV_NARROW_RANGE);
    assert_int_equal(color_of(DOUBLE_NV12, RANGE(1), -1).sample_range, __DRI_YUV_FULL_RANGE);
    assert_int_equal(color_of(DOUBLE_NV12, RANGE(2), -1).sample_range, __DRI_YUV_NARROW_RANGE);
    assert_int_equal(color_of(DOUBLE_NV12, RANGE(3), -1).sample_range, __DRI_YUV_NARROW_RANGE);
    assert_int_equal(color_of(DOUBLE_NV12, RANGE(5), -1).sample_range, __DRI_YUV_NARROW_RANGE);
    /* V0_BT709 of AOSP's graphics-base: BT.709, SMPTE 170M, limited. */
    struct u_gralloc_buffer_color_info info = color_of(DOUBLE_NV12, 281083904, -1);
    assert_int_equal(info.yuv_color_space, __DRI_YUV_COLOR_SPACE_ITU_REC709);
    assert_int_equal(info.sample_range, __DRI_YUV_NARROW_RANGE);
}

/* ChromaSiting: unknown 1, between the samples 2, beside them horizontally 3, vertically 4, both 5
 */
static void a_siting_is_one_for_each_axis(void **state)
{
    static const enum __DRIChromaSiting none = __DRI_YUV_CHROMA_SITING_UNDEFINED,
                                        beside = __DRI_YUV_CHROMA_SITING_0,
                                        between = __DRI_YUV_CHROMA_SITING_0_5;
    const enum __DRIChromaSiting expected[][2] = {{between, between}, {between, between},
        {between, between}, {beside, between}, {between, beside}, {beside, beside},
        {between, between}};
    (void)state;
    for (int i = 0; i < 7; i++) {
        struct u_gralloc_buffer_color_info info = color_of(DOUBLE_NV12, STANDARD(1), i);
        assert_int_equal(info.horizontal_siting, expected[i][0]);
        assert_int_equal(info.vertical_siting, expected[i][1]);
    }
    struct u_gralloc_buffer_color_info info = color_of(DOUBLE_FOREIGN, STANDARD(1), 2);
    assert_int_equal(info.horizontal_siting, none); /* another vendor's 2 */
    info = color_of(DOUBLE_NV12, STANDARD(1), -1);
    assert_int_equal(info.horizontal_siting, between); /* nothing is said */
    assert_int_equal(info.vertical_siting, between);
}

/* Mesa takes a colour space that is not told for RGB, and a range for the full one. */
static void rgb_is_told_nothing_that_is_not_said(void **state)
{
    struct u_gralloc_buffer_color_info info = color_of(DOUBLE_LINEAR, 0, -1);
    (void)state;
    assert_int_equal(info.yuv_color_space, __DRI_YUV_COLOR_SPACE_UNDEFINED);
    assert_int_equal(info.sample_range, __DRI_YUV_RANGE_UNDEFINED);
    assert_int_equal(info.horizontal_siting, __DRI_YUV_CHROMA_SITING_UNDEFINED);
    assert_int_equal(info.vertical_siting, __DRI_YUV_CHROMA_SITING_UNDEFINED);
}

static void ycbcr_without_a_dataspace_is_what_video_usually_is(void **state)
{
    static const int kinds[] = {
        DOUBLE_SILENT, DOUBLE_BAD_BUFFER, DOUBLE_EMPTY, DOUBLE_GARBAGE, DOUBLE_MUTE};
    (void)state;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct u_gralloc_buffer_color_info info = {0};
        struct buffer buffer = buffer_sized(kinds[i], 640, 360, DOUBLE_YCBCR_420_888);
        assert_int_equal(
            gralloc->ops.get_buffer_color_info(gralloc, buffer_handle(&buffer), &info), 0);
        assert_int_equal(info.yuv_color_space, __DRI_YUV_COLOR_SPACE_ITU_REC601);
        assert_int_equal(info.sample_range, __DRI_YUV_NARROW_RANGE);
        assert_int_equal(info.horizontal_siting, __DRI_YUV_CHROMA_SITING_0_5);
        assert_int_equal(info.vertical_siting, __DRI_YUV_CHROMA_SITING_0_5);
    }
}

static void rgb_without_a_dataspace_has_no_answer(void **state)
{
    static const int kinds[] = {DOUBLE_SILENT, DOUBLE_NEGATIVE, DOUBLE_EMPTY, DOUBLE_SHORT_HEADER,
        DOUBLE_SHORT_PAYLOAD, DOUBLE_HUGE, DOUBLE_GARBAGE, DOUBLE_GROWING, DOUBLE_MUTE,
        DOUBLE_WRONG_NAME, DOUBLE_WRONG_TYPE};
    struct u_gralloc_buffer_color_info info;
    (void)state;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct buffer buffer = buffer_make(kinds[i]);
        color_of(DOUBLE_NV12, STANDARD(1), 2); /* an older answer lies about */
        assert_int_equal(
            gralloc->ops.get_buffer_color_info(gralloc, buffer_handle(&buffer), &info), -EINVAL);
    }
    struct u_gralloc_buffer_handle none = {0};
    assert_int_equal(gralloc->ops.get_buffer_color_info(gralloc, &none, &info), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_standard_is_a_color_space),
        TEST(a_range_is_full_or_narrow),
        TEST(a_siting_is_one_for_each_axis),
        TEST(rgb_is_told_nothing_that_is_not_said),
        TEST(ycbcr_without_a_dataspace_is_what_video_usually_is),
        TEST(rgb_without_a_dataspace_has_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
