/* The native handle of the vendor double's buffers, and how the double lays each kind out. A double
 * of AHardwareBuffer allocates double_layout's size and fills the handle with double_fill; the
 * mapper reads it again. Header only: both sides include it. */
#ifndef DOUBLE_BUFFER_H
#define DOUBLE_BUFFER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

/* Two fds, as Qualcomm's handles have: the buffer, then a metadata region (any fd will do). */
#define DOUBLE_FDS 2

/* The ints behind the fds. The first seven are where Qualcomm's handle has them (magic, flags,
 * aligned and asked size, format), so that a gralloc without IMapper finds what it looks for. */
enum double_int {
    DOUBLE_MAGIC, /* 'gmsm' */
    DOUBLE_FLAGS, /* 0x08000000: compressed with UBWC */
    DOUBLE_PADDED_WIDTH,
    DOUBLE_PADDED_HEIGHT,
    DOUBLE_WIDTH, /* pixels */
    DOUBLE_HEIGHT,
    DOUBLE_FORMAT, /* HAL_PIXEL_FORMAT_*, which are AHARDWAREBUFFER_FORMAT_*'s numbers */
    DOUBLE_KIND,   /* enum double_kind */
    DOUBLE_LAYERS,
    DOUBLE_USAGE_LOW, /* AHardwareBuffer_UsageFlags, two halves */
    DOUBLE_USAGE_HIGH,
    DOUBLE_DATASPACE,
    DOUBLE_SITING, /* ChromaSiting; -1: unsupported */
    DOUBLE_INTS,
};

#define DOUBLE_GMSM 0x676d736d
#define DOUBLE_FLAG_UBWC 0x08000000

/* HAL_PIXEL_FORMAT_* */
enum double_format {
    DOUBLE_RGBA_8888 = 1,
    DOUBLE_RGBX_8888 = 2,
    DOUBLE_RGB_565 = 4,
    DOUBLE_RGBA_FP16 = 0x16,
    DOUBLE_IMPLEMENTATION_DEFINED = 0x22,
    DOUBLE_YCBCR_420_888 = 0x23,
    DOUBLE_RGBA_1010102 = 0x2b,
    DOUBLE_YCBCR_P010 = 0x36,
    DOUBLE_FORMAT_YV12 = 0x32315659,
};

#define DOUBLE_CPU_USAGE 0x33  /* CPU_READ_OFTEN, CPU_WRITE_OFTEN */
#define DOUBLE_GPU_USAGE 0x300 /* GPU_SAMPLED_IMAGE, GPU_FRAMEBUFFER */

/* What of a plane is in it. */
enum double_content {
    DOUBLE_RGBA,
    DOUBLE_FLAGS_ONLY, /* UBWC's */
    DOUBLE_Y,
    DOUBLE_CBCR,
    DOUBLE_CB,
    DOUBLE_CR,
};

struct double_plane {
    enum double_content content;
    int64_t offset; /* bytes */
    int64_t stride; /* bytes */
    int64_t width;  /* samples */
    int64_t height;
    int64_t size; /* bytes */
    int subsampling;
    int bits; /* of a component; 0: the format has several sizes */
    int step; /* bits from sample to sample */
};

struct double_layout {
    unsigned count;
    struct double_plane planes[4];
    int64_t stride_px; /* STRIDE, and AHardwareBuffer_Desc.stride */
    int64_t size;      /* bytes of the whole */
    int ubwc;
};

static inline int64_t double_align(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static inline int double_bytes(int format)
{
    switch (format) {
    case DOUBLE_RGB_565:
        return 2;
    case DOUBLE_RGBA_FP16:
        return 8;
    default:
        return 4;
    }
}

/* UBWC's flags for a plane: a byte a tile; lines of them aligned to 64, their number to 16, the
 * whole to 4096. Tiles are 16 pixels wide, of 64-bit pixels 8; they are 4 lines high. */
static inline struct double_plane double_flags(
    int64_t width, int64_t height, int tile_width, int tile_height)
{
    struct double_plane p = {.content = DOUBLE_FLAGS_ONLY, .subsampling = 1, .bits = 8, .step = 8};
    p.width = double_align(width, tile_width) / tile_width;
    p.height = double_align(height, tile_height) / tile_height;
    p.stride = double_align(p.width, 64);
    p.size = double_align(p.stride * double_align(p.height, 16), 4096);
    return p;
}

static inline void double_put(struct double_layout *l, struct double_plane plane)
{
    plane.offset = l->size;
    l->size += plane.size;
    l->planes[l->count++] = plane;
}

static inline void double_lay_rgb(
    struct double_layout *l, int kind, int64_t w, int64_t h, int format)
{
    int linear = (kind >= DOUBLE_LINEAR && kind < DOUBLE_NV12) || kind == DOUBLE_DSC ||
        kind == DOUBLE_FOREIGN || kind == DOUBLE_FOREIGN_NONE || kind == DOUBLE_OFFSET_64 ||
        kind == DOUBLE_OFFSET_NEGATIVE || kind == DOUBLE_BAD_LINEAR ||
        kind == DOUBLE_OTHER_MODIFIER || (kind >= DOUBLE_STRIDE_ZERO && kind <= DOUBLE_STRIDE_64);
    int bytes = double_bytes(format);
    struct double_plane pixels = {
        .content = DOUBLE_RGBA, .width = w, .height = h, .subsampling = 1, .step = 8 * bytes};
    if (format == DOUBLE_RGBA_8888 || format == DOUBLE_RGBX_8888 ||
        format == DOUBLE_IMPLEMENTATION_DEFINED)
        pixels.bits = 8;
    pixels.stride = double_align(w, 64) * bytes;
    pixels.size = double_align(pixels.stride * double_align(h, 16), 4096);
    l->stride_px = pixels.stride / bytes;
    if (linear) {
        double_put(l, pixels);
        return;
    }
    l->ubwc = 1;
    /* In memory the flags come first, in the list the pixels. */
    struct double_plane flags = double_flags(w, h, bytes == 8 ? 8 : 16, 4);
    if (kind == DOUBLE_QTI_EXACT)
        flags.size = flags.stride * flags.height;
    pixels.offset = flags.size + (kind == DOUBLE_NEAR_MISS ? 4096 : 0);
    l->size = double_align(pixels.offset + pixels.size, 4096);
    l->planes[0] = pixels;
    l->planes[1] = flags;
    l->count = kind == DOUBLE_QTI_ONE_PLANE || kind == DOUBLE_QTI_LOSSY_2 ? 1 : 2;
    if (kind == DOUBLE_QTI_3_PLANES) {
        double_put(l, pixels);
    } else if (kind == DOUBLE_NEAR_MISS_FLAGS) {
        l->planes[1].offset = 4096;
    } else if (kind == DOUBLE_QTI_SWAPPED) {
        l->planes[0] = flags;
        l->planes[1] = pixels;
    } else if (kind == DOUBLE_QTI_SECOND_FD) {
        l->planes[0].offset = 0;
        l->size = pixels.size;
    }
}

static inline int double_is_ycbcr(int kind)
{
    return (kind >= DOUBLE_NV12 && kind <= DOUBLE_NV12_UBWC_BARE) ||
        kind == DOUBLE_NV12_UBWC_HIDDEN;
}

static inline void double_lay_ycbcr(struct double_layout *l, int kind, int64_t w, int64_t h)
{
    int bytes = kind == DOUBLE_P010 ? 2 : 1;
    struct double_plane y = {.content = DOUBLE_Y,
        .width = w,
        .height = h,
        .subsampling = 1,
        .bits = bytes == 2 ? 10 : 8,
        .step = 8 * bytes};
    l->ubwc =
        kind == DOUBLE_NV12_UBWC || kind == DOUBLE_NV12_UBWC_2 || kind >= DOUBLE_NV12_UBWC_UNSAID;
    l->stride_px = double_align(w, 128);
    y.stride = l->stride_px * bytes;
    y.size = double_align(y.stride * double_align(h, 32), 4096);
    struct double_plane c = y;
    c.content = DOUBLE_CBCR;
    c.width = (w + 1) / 2;
    c.height = (h + 1) / 2;
    c.subsampling = 2;
    c.step = 16 * bytes;
    c.size = double_align(c.stride * double_align(c.height, 16), 4096);
    if (kind == DOUBLE_YCBCR_3 || kind == DOUBLE_YV12) {
        c.stride = y.stride / 2;
        c.step = 8;
        c.size = double_align(c.stride * double_align(c.height, 16), 4096);
        double_put(l, y);
        c.content = kind == DOUBLE_YCBCR_3 ? DOUBLE_CB : DOUBLE_CR;
        double_put(l, c);
        c.content = kind == DOUBLE_YCBCR_3 ? DOUBLE_CR : DOUBLE_CB;
        double_put(l, c);
    } else if (l->ubwc) {
        /* In memory: Y's flags, Y, CbCr's flags, CbCr. In the list: pixels, then flags. */
        struct double_plane y_flags = double_flags(w, h, 32, 8);
        struct double_plane c_flags = double_flags(c.width, c.height, 16, 8);
        y.offset = y_flags.size;
        c_flags.offset = y.offset + y.size;
        c.offset = c_flags.offset + c_flags.size;
        l->size = c.offset + c.size;
        l->planes[0] = y;
        l->planes[1] = c;
        l->planes[2] = y_flags;
        l->planes[3] = c_flags;
        l->count = kind == DOUBLE_NV12_UBWC || kind == DOUBLE_NV12_UBWC_HIDDEN ? 4 : 2;
    } else {
        double_put(l, y);
        double_put(l, c);
        if (kind == DOUBLE_NV12_DISJOINT)
            l->planes[1].offset = 0;
    }
}

/* Where everything of such a buffer lies. Kinds whose answers are broken are laid out as QTI_840,
 * those whose offsets or strides are, as LINEAR; the broken numbers are the mapper's alone. */
static inline struct double_layout double_layout(
    int kind, int32_t width, int32_t height, int format)
{
    struct double_layout l = {0};
    if (double_is_ycbcr(kind))
        double_lay_ycbcr(&l, kind, width, height);
    else
        double_lay_rgb(&l, kind, width, height, format);
    return l;
}

/* The kind of this name; DEFAULT: there is none. */
static inline int double_kind_named(const char *name)
{
    static const struct {
        const char *name;
        int kind;
    } kinds[] = {
#define X(id, number, text) {text, number},
        DOUBLE_KINDS(X)
#undef X
    };
    for (unsigned i = 0; name && i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (!strcmp(kinds[i].name, name))
            return kinds[i].kind;
    }
    return DOUBLE_DEFAULT;
}

/* The kind of buffers that say DEFAULT. */
static inline int double_default_kind(void)
{
    int kind = double_kind_named(getenv("TURNPIKE_MAPPER"));
    return kind == DOUBLE_DEFAULT || kind >= DOUBLE_LIB_MISSING ? DOUBLE_QTI_840 : kind;
}

/* The HAL format that a kind is made for; RGBA_8888 of all kinds without YCbCr. */
static inline int double_format_of(int kind)
{
    if (kind == DOUBLE_P010)
        return DOUBLE_YCBCR_P010;
    if (kind == DOUBLE_YV12)
        return DOUBLE_FORMAT_YV12;
    if (double_is_ycbcr(kind))
        return DOUBLE_YCBCR_420_888;
    return DOUBLE_RGBA_8888;
}

/* Fills the ints of a handle with DOUBLE_FDS fds and DOUBLE_INTS ints: ints is &data[numFds]. Not
 * the fds: those are the caller's. */
static inline void double_fill(
    int32_t ints[DOUBLE_INTS], int kind, int32_t width, int32_t height, int format, uint64_t usage)
{
    struct double_layout l = double_layout(kind, width, height, format);
    memset(ints, 0, DOUBLE_INTS * sizeof(*ints));
    ints[DOUBLE_MAGIC] = DOUBLE_GMSM;
    ints[DOUBLE_FLAGS] = l.ubwc ? DOUBLE_FLAG_UBWC : 0;
    ints[DOUBLE_PADDED_WIDTH] = (int32_t)l.stride_px;
    ints[DOUBLE_PADDED_HEIGHT] = (int32_t)double_align(height, 16);
    ints[DOUBLE_WIDTH] = width;
    ints[DOUBLE_HEIGHT] = height;
    ints[DOUBLE_FORMAT] = format;
    ints[DOUBLE_KIND] = kind;
    ints[DOUBLE_LAYERS] = 1;
    ints[DOUBLE_USAGE_LOW] = (int32_t)(uint32_t)usage;
    ints[DOUBLE_USAGE_HIGH] = (int32_t)(usage >> 32);
    ints[DOUBLE_SITING] = -1;
}

#endif
