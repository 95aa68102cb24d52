/* What the backend makes of each kind of buffer. Numbers are those of 1216x2688: lines of 1216
 * pixels (a multiple of 64), flags for 76 x 672 tiles in lines of 128, so 86016 bytes of flags. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support.h"

#define COMPRESSED DRM_FORMAT_MOD_QCOM_COMPRESSED
#define LINEAR DRM_FORMAT_MOD_LINEAR
#define INVALID DRM_FORMAT_MOD_INVALID

#define COLLAPSED(evidence)                                                                        \
    "aimapper: compressed layout detected via " evidence ", collapsing to 1 compressed plane\n"

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

static void expect_one(int kind, uint64_t modifier, int stride)
{
    struct buffer buffer = buffer_make(kind);
    struct u_gralloc_buffer_basic_info info;
    print_message("kind %d\n", kind);
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_true(info.modifier == modifier);
    assert_int_equal(info.drm_fourcc, DRM_FORMAT_ABGR8888);
    assert_int_equal(info.num_planes, 1);
    assert_int_equal(info.fds[0], FIRST_FD);
    assert_int_equal(info.offsets[0], 0);
    assert_int_equal(info.strides[0], stride);
}

static void expect_refused(int kind)
{
    struct buffer buffer = buffer_make(kind);
    struct u_gralloc_buffer_basic_info info;
    print_message("kind %d\n", kind);
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
}

static void expect_planes(int kind, uint32_t fourcc, uint64_t modifier, int count,
    const int offsets[], const int strides[])
{
    struct buffer buffer = buffer_make(kind);
    struct u_gralloc_buffer_basic_info info;
    print_message("kind %d\n", kind);
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.drm_fourcc, fourcc);
    assert_true(info.modifier == modifier);
    assert_int_equal(info.num_planes, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(info.offsets[i], offsets[i]);
        assert_int_equal(info.strides[i], strides[i]);
        assert_int_equal(info.fds[i], FIRST_FD);
    }
}

static void the_measured_layout_is_one_compressed_plane(void **state)
{
    expect_one(DOUBLE_QTI_840, COMPRESSED, 4864);
    assert_int_equal(backend_logged(*state, COLLAPSED("PLANE_LAYOUTS")), 1);
}

static void compression_tells_it_whatever_the_planes_are(void **state)
{
    expect_one(DOUBLE_QTI, COMPRESSED, 4864);
    expect_one(DOUBLE_QTI_ONE_PLANE, COMPRESSED, 4864);
    expect_one(DOUBLE_QTI_NO_PLANES, COMPRESSED, 4864);
    expect_one(DOUBLE_QTI_SECOND_FD, COMPRESSED, 4864);
    expect_one(DOUBLE_QTI_SWAPPED, COMPRESSED, 4864);
    assert_int_equal(backend_logged(*state, COLLAPSED("COMPRESSION")), 1);
    assert_int_equal(backend_logged(*state, "collapsing"), 1);
}

static void a_modifier_tells_it_where_compression_does_not(void **state)
{
    expect_one(DOUBLE_QTI_MODIFIER, COMPRESSED, 4864);
    assert_int_equal(backend_logged(*state, COLLAPSED("PIXEL_FORMAT_MODIFIER")), 1);
}

static void each_evidence_is_told_once(void **state)
{
    for (int i = 0; i < 3; i++) {
        expect_one(DOUBLE_QTI_840, COMPRESSED, 4864);
        expect_one(DOUBLE_QTI, COMPRESSED, 4864);
        expect_one(DOUBLE_QTI_MODIFIER, COMPRESSED, 4864);
    }
    assert_int_equal(backend_logged(*state, COLLAPSED("COMPRESSION")), 1);
    assert_int_equal(backend_logged(*state, COLLAPSED("PIXEL_FORMAT_MODIFIER")), 1);
    assert_int_equal(backend_logged(*state, COLLAPSED("PLANE_LAYOUTS")), 1);
    assert_int_equal(backend_logged(*state, "collapsing"), 3);
}

/* Flags' lines and their number are rounded up (64, 16, and 4096 for the whole), or not at all.
 * Stride: the width rounded up to 64 pixels. */
static void the_signature_holds_for_other_sizes(void **state)
{
    static const struct {
        int width, height, format, stride;
        uint32_t fourcc;
    } sizes[] = {
        {1080, 2400, DOUBLE_RGBA_8888, 1088 * 4, DRM_FORMAT_ABGR8888},
        {1440, 3200, DOUBLE_RGBX_8888, 1472 * 4, DRM_FORMAT_XBGR8888},
        {2688, 1216, DOUBLE_RGBA_1010102, 2688 * 4, DRM_FORMAT_ABGR2101010},
        {1116, 2480, DOUBLE_RGB_565, 1152 * 2, DRM_FORMAT_RGB565},
        {1920, 1080, DOUBLE_RGBA_FP16, 1920 * 8, DRM_FORMAT_ABGR16161616F},
        {100, 101, DOUBLE_RGBA_8888, 128 * 4, DRM_FORMAT_ABGR8888},
        {1, 1, DOUBLE_RGBA_8888, 64 * 4, DRM_FORMAT_ABGR8888},
        {8192, 68, DOUBLE_RGBA_8888, 8192 * 4, DRM_FORMAT_ABGR8888},
        {16384, 16384, DOUBLE_RGBA_FP16, 16384 * 8, DRM_FORMAT_ABGR16161616F},
        {1216, 2688, DOUBLE_IMPLEMENTATION_DEFINED, 4864, DRM_FORMAT_XBGR8888},
    };
    (void)state;
    for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
        struct u_gralloc_buffer_basic_info info;
        struct buffer buffer = buffer_sized(i % 2 ? DOUBLE_QTI_EXACT : DOUBLE_QTI_840,
            sizes[i / 2].width, sizes[i / 2].height, sizes[i / 2].format);
        print_message("%dx%d\n", sizes[i / 2].width, sizes[i / 2].height);
        assert_int_equal(ask(gralloc, &buffer, &info), 0);
        assert_true(info.modifier == COMPRESSED);
        assert_int_equal(info.num_planes, 1);
        assert_int_equal(info.offsets[0], 0);
        assert_int_equal(info.strides[0], sizes[i / 2].stride);
        assert_int_equal(info.drm_fourcc, sizes[i / 2].fourcc);
    }
}

/* Pixels 4096 bytes later than flags of this size would have them: another layout. */
static void another_place_of_the_pixels_is_no_signature(void **state)
{
    static const int offsets[] = {90112, 0}, strides[] = {4864, 128};
    static const int flags_offsets[] = {86016, 4096};
    expect_planes(DOUBLE_NEAR_MISS, DRM_FORMAT_ABGR8888, LINEAR, 2, offsets, strides);
    expect_planes(DOUBLE_NEAR_MISS_FLAGS, DRM_FORMAT_ABGR8888, LINEAR, 2, flags_offsets, strides);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

static void linear_buffers_stay_linear(void **state)
{
    expect_one(DOUBLE_LINEAR, LINEAR, 4864);
    expect_one(DOUBLE_LINEAR_UNSAID, LINEAR, 4864);
    expect_one(DOUBLE_LINEAR_CPU, LINEAR, 4864);
    expect_one(DOUBLE_LINEAR_NO_MODIFIER, LINEAR, 4864);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

static void other_compressions_are_not_qualcomms(void **state)
{
    static const int offsets[] = {86016, 0}, strides[] = {4864, 128};
    expect_one(DOUBLE_DSC, INVALID, 4864);
    expect_one(DOUBLE_FOREIGN, INVALID, 4864);
    expect_one(DOUBLE_FOREIGN_NONE, INVALID, 4864);
    expect_planes(DOUBLE_QTI_OTHER, DRM_FORMAT_ABGR8888, INVALID, 2, offsets, strides);
    assert_int_equal(backend_logged(*state, "a compression that is not known here, 1\n"), 1);
    assert_int_equal(backend_logged(*state, "layout is not known (INVALID), HAL format 0x1"), 1);
    expect_planes(DOUBLE_CONTRADICTION, DRM_FORMAT_ABGR8888, INVALID, 2, offsets, strides);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

static void lossy_compression_is_not_known(void **state)
{
    static const int offsets[] = {86016, 0}, strides[] = {4864, 128};
    expect_planes(DOUBLE_QTI_LOSSY, DRM_FORMAT_ABGR8888, INVALID, 2, offsets, strides);
    expect_one(DOUBLE_OTHER_MODIFIER, INVALID, 4864);
    expect_planes(DOUBLE_QTI_LOSSY_2, DRM_FORMAT_ABGR8888, INVALID, 1, offsets, strides);
    assert_int_equal(backend_logged(*state, "lossy UBWC (QTI, 11)"), 1);
    assert_int_equal(backend_logged(*state, "lossy"), 1);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

/* Luma of 1280x2688 bytes, 1280 being a multiple of 128: 3440640. */
static void ycbcr_keeps_its_planes(void **state)
{
    static const int nv12[] = {0, 3440640}, nv12_strides[] = {1280, 1280};
    static const int p010[] = {0, 6881280}, p010_strides[] = {2560, 2560};
    static const int cb_cr[] = {0, 4300800, 3440640}, thirds[] = {1280, 640, 640};
    static const int cr_cb[] = {0, 3440640, 4300800};
    expect_planes(DOUBLE_NV12, DRM_FORMAT_NV12, LINEAR, 2, nv12, nv12_strides);
    expect_planes(DOUBLE_NV12_UNSAID, DRM_FORMAT_NV12, LINEAR, 2, nv12, nv12_strides);
    expect_planes(DOUBLE_P010, DRM_FORMAT_P010, LINEAR, 2, p010, p010_strides);
    /* DRM's YVU420 has Cr before Cb, in whatever order they are listed. */
    expect_planes(DOUBLE_YCBCR_3, DRM_FORMAT_YVU420, LINEAR, 3, cb_cr, thirds);
    expect_planes(DOUBLE_YV12, DRM_FORMAT_YVU420, LINEAR, 3, cr_cb, thirds);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

static void a_plane_of_another_buffer_has_the_next_fd(void **state)
{
    struct buffer buffer = buffer_make(DOUBLE_NV12_DISJOINT);
    struct u_gralloc_buffer_basic_info info;
    (void)state;
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.num_planes, 2);
    assert_int_equal(info.fds[0], FIRST_FD);
    assert_int_equal(info.fds[1], SECOND_FD);
    assert_int_equal(info.offsets[1], 0);
    /* The same handle with one fd: ints move up. */
    buffer.ints[1] = 1;
    for (int i = 0; i < DOUBLE_INTS; i++)
        buffer.ints[4 + i] = buffer.ints[5 + i];
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
}

/* Flags for luma: 38 x 336 tiles of 32x8, 64 a line, so 21504, rounded up to 24576; then luma;
 * flags for chroma: 38 x 168 tiles of 16x8, 168 rounded up to 176, so 11264, rounded up to 12288.
 */
static void compressed_ycbcr_is_not_collapsed(void **state)
{
    static const int offsets[] = {24576, 24576 + 3440640 + 12288, 0, 24576 + 3440640};
    static const int strides[] = {1280, 1280, 64, 64};
    expect_planes(DOUBLE_NV12_UBWC, DRM_FORMAT_NV12, INVALID, 4, offsets, strides);
    expect_planes(DOUBLE_NV12_UBWC_HIDDEN, DRM_FORMAT_NV12, INVALID, 4, offsets, strides);
    expect_planes(DOUBLE_NV12_UBWC_2, DRM_FORMAT_NV12, INVALID, 2, offsets, strides);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

/* A vendor's format that neither Mesa nor AOSP knows: the fourcc or the components still say what
 * it is. */
static void ycbcr_is_known_by_fourcc_and_components_too(void **state)
{
    static const int kinds[] = {DOUBLE_NV12_UBWC_BARE, DOUBLE_NV12_UBWC_UNSAID};
    static const int formats[] = {0x7fa30c06, DOUBLE_IMPLEMENTATION_DEFINED, DOUBLE_RGBA_8888};
    for (unsigned i = 0; i < 6; i++) {
        struct u_gralloc_buffer_basic_info info;
        struct buffer buffer = buffer_sized(kinds[i % 2], 1216, 2688, formats[i / 2]);
        assert_int_equal(ask(gralloc, &buffer, &info), 0);
        assert_true(info.modifier == INVALID);
        assert_int_equal(info.drm_fourcc, DRM_FORMAT_NV12);
    }
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

/* Nothing of use in the answers: what the HAL format, the stride and the handle say. */
static void useless_answers_leave_the_handle(void **state)
{
    static const int kinds[] = {DOUBLE_SILENT, DOUBLE_NEGATIVE, DOUBLE_EMPTY, DOUBLE_SHORT_HEADER,
        DOUBLE_SHORT_PAYLOAD, DOUBLE_HUGE, DOUBLE_GARBAGE, DOUBLE_GROWING, DOUBLE_MUTE,
        DOUBLE_WRONG_NAME, DOUBLE_WRONG_TYPE, DOUBLE_BAD_BUFFER};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct u_gralloc_buffer_basic_info info;
        struct buffer buffer = buffer_make(kinds[i]);
        expect_one(DOUBLE_QTI, COMPRESSED, 4864); /* an older answer lies about */
        expect_one(kinds[i], COMPRESSED, 4864);
        buffer.ints[3 + DOUBLE_FDS + DOUBLE_FLAGS] = ~DOUBLE_FLAG_UBWC;
        assert_int_equal(ask(gralloc, &buffer, &info), 0);
        assert_true(info.modifier == LINEAR);
        assert_int_equal(info.strides[0], 4864);
        buffer.ints[2] = 1; /* too few ints for flags */
        assert_int_equal(ask(gralloc, &buffer, &info), 0);
        assert_true(info.modifier == INVALID);
    }
    expect_one(DOUBLE_BAD_LINEAR, LINEAR, 4864);
    assert_int_equal(backend_logged(*state, "collapsing"), 1);
    assert_int_equal(backend_logged(*state, "its handle's flags say UBWC"), 1);
    assert_int_equal(backend_logged(*state, "layout is not known (INVALID)"), 1);
}

/* Neither the flags nor a guess: several planes are nothing that flags could tell. */
static void ycbcr_that_the_mapper_does_not_know_is_refused(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer = buffer_sized(DOUBLE_BAD_BUFFER, 1216, 2688, DOUBLE_YCBCR_420_888);
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
    assert_int_equal(backend_logged(*state, "a buffer is refused, HAL format 0x23\n"), 1);
    assert_int_equal(backend_logged(*state, "the mapper answers with error -2"), 1);
}

/* The planes alone are beyond reading; the rest is said. */
static void unreadable_planes_leave_what_else_is_said(void **state)
{
    static const int kinds[] = {DOUBLE_MANY_PLANES, DOUBLE_NEGATIVE_PLANES, DOUBLE_MANY_COMPONENTS,
        DOUBLE_NEGATIVE_COMPONENTS, DOUBLE_LONG_NAME};
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        expect_one(kinds[i], LINEAR, 4864);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

static void long_answers_are_read_whole(void **state)
{
    (void)state;
    expect_one(DOUBLE_LONG, COMPRESSED, 4864);
    expect_one(DOUBLE_OUTGROWING, LINEAR, 4864);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    expect_refused(DOUBLE_OFFSET_64);
    expect_refused(DOUBLE_OFFSET_64_QTI);
    expect_refused(DOUBLE_OFFSET_NEGATIVE);
    expect_refused(DOUBLE_STRIDE_ZERO);
    expect_refused(DOUBLE_STRIDE_NEGATIVE);
    expect_refused(DOUBLE_STRIDE_64);
}

static void answers_that_change_are_taken_as_they_come(void **state)
{
    struct buffer buffer = buffer_make(DOUBLE_CHANGING);
    struct u_gralloc_buffer_basic_info info;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        if (ask(gralloc, &buffer, &info))
            continue;
        assert_true(info.num_planes == 1 || info.modifier != COMPRESSED);
        assert_in_range(info.num_planes, 1, 2);
        if (i % 3 == 0) /* an odd number of questions */
            gralloc->ops.get_buffer_color_info(
                gralloc, buffer_handle(&buffer), &(struct u_gralloc_buffer_color_info){0});
    }
}

static void nothing_can_be_said_of_nothing(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer = buffer_make(DOUBLE_SILENT);
    (void)state;
    buffer.hnd.pixel_stride = 0; /* no stride from anywhere */
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
    buffer = buffer_make(DOUBLE_SILENT);
    buffer.hnd.hal_format = 0x7fa30c06; /* no format */
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
    buffer = buffer_make(DOUBLE_LINEAR);
    buffer.hnd.hal_format = 0x7fa30c06;
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
    buffer = buffer_make(DOUBLE_QTI); /* no fds: ints move up */
    buffer.ints[1] = 0;
    for (int i = 0; i < DOUBLE_INTS; i++)
        buffer.ints[3 + i] = buffer.ints[5 + i];
    assert_int_equal(ask(gralloc, &buffer, &info), -EINVAL);
    buffer = buffer_make(DOUBLE_LINEAR);
    buffer_handle(&buffer)->handle = NULL;
    assert_int_equal(gralloc->ops.get_buffer_basic_info(gralloc, &buffer.hnd, &info), -EINVAL);
}

static void a_format_that_the_app_does_not_know_is_asked_for(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer = buffer_make(DOUBLE_QTI);
    (void)state;
    buffer.hnd.hal_format = 0;
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.drm_fourcc, DRM_FORMAT_ABGR8888);
}

/* The HAL's format goes before the mapper's, but for the one that leaves it open. */
static void a_format_that_the_allocator_chose_is_the_mappers(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer =
        buffer_sized(DOUBLE_QTI_FOURCC, 1216, 2688, DOUBLE_IMPLEMENTATION_DEFINED);
    (void)state;
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.drm_fourcc, DRM_FORMAT_ABGR2101010);
    assert_true(info.modifier == COMPRESSED);
    expect_one(DOUBLE_QTI_FOURCC, COMPRESSED, 4864);
}

static void several_planes_of_pixels_are_not_collapsed(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer = buffer_make(DOUBLE_QTI_3_PLANES);
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.num_planes, 3);
    assert_true(info.modifier == INVALID);
    assert_int_equal(backend_logged(*state, "collapsing"), 0);
}

static void a_buffer_of_another_allocator_is_the_mappers_to_refuse(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer = buffer_make(DOUBLE_QTI);
    (void)state;
    buffer.ints[3 + DOUBLE_FDS + DOUBLE_MAGIC] = 0;
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_true(info.modifier == COMPRESSED); /* by the handle's flags */
}

#ifdef U_GRALLOC_LATER
/* 86016 of flags, and 4864 x 2688 of pixels: 13160448. */
static void size_and_layers_are_told(void **state)
{
    struct u_gralloc_buffer_basic_info info;
    struct buffer buffer = buffer_make(DOUBLE_QTI_840);
    (void)state;
    buffer.ints[3 + DOUBLE_FDS + DOUBLE_LAYERS] = 6;
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.alloc_size, 86016 + 4864 * 2688);
    assert_int_equal(info.layer_count, 6);
    buffer.ints[3 + DOUBLE_FDS + DOUBLE_LAYERS] = -1;
    assert_int_equal(ask(gralloc, &buffer, &info), 0);
    assert_int_equal(info.layer_count, 0);
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_measured_layout_is_one_compressed_plane),
        TEST(compression_tells_it_whatever_the_planes_are),
        TEST(a_modifier_tells_it_where_compression_does_not),
        TEST(each_evidence_is_told_once),
        TEST(the_signature_holds_for_other_sizes),
        TEST(another_place_of_the_pixels_is_no_signature),
        TEST(linear_buffers_stay_linear),
        TEST(other_compressions_are_not_qualcomms),
        TEST(lossy_compression_is_not_known),
        TEST(ycbcr_keeps_its_planes),
        TEST(a_plane_of_another_buffer_has_the_next_fd),
        TEST(compressed_ycbcr_is_not_collapsed),
        TEST(ycbcr_is_known_by_fourcc_and_components_too),
        TEST(useless_answers_leave_the_handle),
        TEST(ycbcr_that_the_mapper_does_not_know_is_refused),
        TEST(unreadable_planes_leave_what_else_is_said),
        TEST(long_answers_are_read_whole),
        TEST(what_does_not_fit_is_refused),
        TEST(answers_that_change_are_taken_as_they_come),
        TEST(nothing_can_be_said_of_nothing),
        TEST(a_format_that_the_app_does_not_know_is_asked_for),
        TEST(a_format_that_the_allocator_chose_is_the_mappers),
        TEST(several_planes_of_pixels_are_not_collapsed),
        TEST(a_buffer_of_another_allocator_is_the_mappers_to_refuse),
#ifdef U_GRALLOC_LATER
        TEST(size_and_layers_are_told),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
