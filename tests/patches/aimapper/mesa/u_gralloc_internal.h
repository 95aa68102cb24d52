/* Stand-in for Mesa's header: the interface between u_gralloc and its backends, in both shapes.
 * With U_GRALLOC_LATER it is the one after buffers' sizes and layers came in, with the two macros
 * that the patch sets beside them.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_U_GRALLOC_INTERNAL_H
#define STANDIN_U_GRALLOC_INTERNAL_H

#include <cutils/native_handle.h>
#include <stdbool.h>
#include <stdint.h>

/* The numbers are EGL's. */
enum __DRIYUVColorSpace {
    __DRI_YUV_COLOR_SPACE_UNDEFINED = 0,
    __DRI_YUV_COLOR_SPACE_ITU_REC601 = 0x327f,
    __DRI_YUV_COLOR_SPACE_ITU_REC709 = 0x3280,
    __DRI_YUV_COLOR_SPACE_ITU_REC2020 = 0x3281,
};

enum __DRISampleRange {
    __DRI_YUV_RANGE_UNDEFINED = 0,
    __DRI_YUV_FULL_RANGE = 0x3282,
    __DRI_YUV_NARROW_RANGE = 0x3283,
};

enum __DRIChromaSiting {
    __DRI_YUV_CHROMA_SITING_UNDEFINED = 0,
    __DRI_YUV_CHROMA_SITING_0 = 0x3284,
    __DRI_YUV_CHROMA_SITING_0_5 = 0x3285,
};

struct u_gralloc_buffer_handle {
    const native_handle_t *handle;
    int hal_format;
    int pixel_stride;
};

struct u_gralloc_buffer_basic_info {
    uint32_t drm_fourcc;
    uint64_t modifier;
    int num_planes;
    int fds[4];
    int offsets[4];
    int strides[4];
#ifdef U_GRALLOC_LATER
    uint64_t alloc_size;
#define U_GRALLOC_HAS_ALLOC_SIZE 1
    uint32_t layer_count;
#define U_GRALLOC_HAS_LAYER_COUNT 1
#endif
};

struct u_gralloc_buffer_color_info {
    enum __DRIYUVColorSpace yuv_color_space;
    enum __DRISampleRange sample_range;
    enum __DRIChromaSiting horizontal_siting;
    enum __DRIChromaSiting vertical_siting;
};

struct u_gralloc;

struct u_gralloc_ops {
    int (*get_buffer_basic_info)(struct u_gralloc *gralloc, struct u_gralloc_buffer_handle *hnd,
        struct u_gralloc_buffer_basic_info *out);
    int (*get_buffer_color_info)(struct u_gralloc *gralloc, struct u_gralloc_buffer_handle *hnd,
        struct u_gralloc_buffer_color_info *out);
    int (*get_front_rendering_usage)(struct u_gralloc *gralloc, uint64_t *out_usage);
    int (*destroy)(struct u_gralloc *gralloc);
};

struct u_gralloc {
    struct u_gralloc_ops ops;
    int type;
};

extern struct u_gralloc *u_gralloc_aimapper_create(void);

bool is_hal_format_yuv(int native);
int get_hal_format_bpp(int native);
int get_fourcc_from_hal_format(int native);

#endif
