/* Pixel formats (drm_fourcc.h; the layouts are those of the kernel's drm_fourcc.c) and what a
 * device takes. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"

static const struct tp_format FORMATS[] = {
    {DRM_FORMAT_C8, 8, 1, {1}, 1, 1},
    {DRM_FORMAT_R8, 8, 1, {1}, 1, 1},
    {DRM_FORMAT_XRGB4444, 0, 1, {2}, 1, 1},
    {DRM_FORMAT_XBGR4444, 0, 1, {2}, 1, 1},
    {DRM_FORMAT_ARGB4444, 0, 1, {2}, 1, 1},
    {DRM_FORMAT_ABGR4444, 0, 1, {2}, 1, 1},
    {DRM_FORMAT_RGBA4444, 0, 1, {2}, 1, 1},
    {DRM_FORMAT_BGRA4444, 0, 1, {2}, 1, 1},
    {DRM_FORMAT_XRGB1555, 15, 1, {2}, 1, 1},
    {DRM_FORMAT_XBGR1555, 15, 1, {2}, 1, 1},
    {DRM_FORMAT_ARGB1555, 15, 1, {2}, 1, 1},
    {DRM_FORMAT_ABGR1555, 15, 1, {2}, 1, 1},
    {DRM_FORMAT_RGBA5551, 15, 1, {2}, 1, 1},
    {DRM_FORMAT_BGRA5551, 15, 1, {2}, 1, 1},
    {DRM_FORMAT_RGB565, 16, 1, {2}, 1, 1},
    {DRM_FORMAT_BGR565, 16, 1, {2}, 1, 1},
    {DRM_FORMAT_RGB888, 24, 1, {3}, 1, 1},
    {DRM_FORMAT_BGR888, 24, 1, {3}, 1, 1},
    {DRM_FORMAT_XRGB8888, 24, 1, {4}, 1, 1},
    {DRM_FORMAT_XBGR8888, 24, 1, {4}, 1, 1},
    {DRM_FORMAT_RGBX8888, 24, 1, {4}, 1, 1},
    {DRM_FORMAT_BGRX8888, 24, 1, {4}, 1, 1},
    {DRM_FORMAT_ARGB8888, 32, 1, {4}, 1, 1},
    {DRM_FORMAT_ABGR8888, 32, 1, {4}, 1, 1},
    {DRM_FORMAT_RGBA8888, 32, 1, {4}, 1, 1},
    {DRM_FORMAT_BGRA8888, 32, 1, {4}, 1, 1},
    {DRM_FORMAT_XRGB2101010, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_XBGR2101010, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_RGBX1010102, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_BGRX1010102, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_ARGB2101010, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_ABGR2101010, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_RGBA1010102, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_BGRA1010102, 30, 1, {4}, 1, 1},
    {DRM_FORMAT_XRGB16161616, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_XBGR16161616, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_ARGB16161616, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_ABGR16161616, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_XRGB16161616F, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_XBGR16161616F, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_ARGB16161616F, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_ABGR16161616F, 0, 1, {8}, 1, 1},
    {DRM_FORMAT_YUYV, 0, 1, {2}, 2, 1},
    {DRM_FORMAT_YVYU, 0, 1, {2}, 2, 1},
    {DRM_FORMAT_UYVY, 0, 1, {2}, 2, 1},
    {DRM_FORMAT_VYUY, 0, 1, {2}, 2, 1},
    {DRM_FORMAT_NV12, 0, 2, {1, 2}, 2, 2},
    {DRM_FORMAT_NV21, 0, 2, {1, 2}, 2, 2},
    {DRM_FORMAT_NV16, 0, 2, {1, 2}, 2, 1},
    {DRM_FORMAT_NV61, 0, 2, {1, 2}, 2, 1},
    {DRM_FORMAT_NV24, 0, 2, {1, 2}, 1, 1},
    {DRM_FORMAT_NV42, 0, 2, {1, 2}, 1, 1},
    {DRM_FORMAT_P010, 0, 2, {2, 4}, 2, 2},
    {DRM_FORMAT_P012, 0, 2, {2, 4}, 2, 2},
    {DRM_FORMAT_P016, 0, 2, {2, 4}, 2, 2},
    {DRM_FORMAT_YUV420, 0, 3, {1, 1, 1}, 2, 2},
    {DRM_FORMAT_YVU420, 0, 3, {1, 1, 1}, 2, 2},
    {DRM_FORMAT_YUV422, 0, 3, {1, 1, 1}, 2, 1},
    {DRM_FORMAT_YUV444, 0, 3, {1, 1, 1}, 1, 1},
};

const struct tp_format *tp_format_find(uint32_t fourcc)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (FORMATS[i].fourcc == fourcc)
            return &FORMATS[i];
    return NULL;
}

uint32_t tp_format_legacy(uint32_t bpp, uint32_t depth)
{
    static const struct {
        uint8_t bpp, depth;
        uint32_t fourcc;
    } legacy[] = {
        {8, 8, DRM_FORMAT_C8},         {16, 15, DRM_FORMAT_XRGB1555},
        {16, 16, DRM_FORMAT_RGB565},   {24, 24, DRM_FORMAT_RGB888},
        {32, 24, DRM_FORMAT_XRGB8888}, {32, 30, DRM_FORMAT_XRGB2101010},
        {32, 32, DRM_FORMAT_ARGB8888},
    };
    for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++)
        if (legacy[i].bpp == bpp && legacy[i].depth == depth)
            return legacy[i].fourcc;
    return 0;
}

/* -ENOSPC: more than there is room for. */
static int add(struct tp_formats *f, uint32_t fourcc, uint64_t modifier)
{
    unsigned i, m;
    for (i = 0; i < f->n && f->fourcc[i] != fourcc; i++)
        ;
    for (m = 0; m < f->n_modifiers && f->modifiers[m] != modifier; m++)
        ;
    if (i == TP_SNAPSHOT_FORMATS || m == sizeof f->modifiers / sizeof *f->modifiers)
        return -ENOSPC;
    if (i == f->n)
        f->fourcc[f->n++] = fourcc;
    if (m == f->n_modifiers)
        f->modifiers[f->n_modifiers++] = modifier;
    f->takes[i] |= UINT64_C(1) << m;
    return 0;
}

int tp_formats_init(struct tp_formats *f, const struct tp_kms_format *list, size_t n,
                    struct tp_error *e)
{
    static const struct tp_kms_format usual[] = {
        {DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ARGB8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_XBGR8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ABGR8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_RGB565, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_XRGB2101010, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ARGB2101010, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_XBGR2101010, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ABGR2101010, DRM_FORMAT_MOD_LINEAR},
    };
    if (!list) {
        list = usual;
        n = sizeof usual / sizeof *usual;
    }
    if (!n)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL,
                       "name at least one, or none at all for the usual ones",
                       "the list of pixel formats is empty");
    for (size_t i = 0; i < n; i++) {
        if (!tp_format_find(list[i].fourcc) || list[i].modifier == DRM_FORMAT_MOD_INVALID)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "use those of drm_fourcc.h",
                           "pixel format %.4s with modifier 0x%016llx is not known",
                           (const char *)&list[i].fourcc, (unsigned long long)list[i].modifier);
        if (add(f, list[i].fourcc, list[i].modifier) < 0)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "name fewer",
                           "more than %d pixel formats or 64 modifiers", TP_SNAPSHOT_FORMATS);
    }
    return 0;
}

bool tp_formats_take(const struct tp_formats *f, uint32_t fourcc, uint64_t modifier)
{
    for (unsigned i = 0; i < f->n; i++)
        if (f->fourcc[i] == fourcc)
            for (unsigned m = 0; m < f->n_modifiers; m++)
                if (f->modifiers[m] == modifier)
                    return f->takes[i] >> m & 1;
    return false;
}

struct tp_blob *tp_formats_blob(struct tp_kms *kms, const struct tp_formats *f)
{
    /* n is at most 64: one struct drm_format_modifier says it all of a modifier. */
    struct {
        struct drm_format_modifier_blob head;
        uint8_t rest[TP_SNAPSHOT_FORMATS * 4 + 64 * sizeof(struct drm_format_modifier)];
    } blob = {{
        .version = FORMAT_BLOB_CURRENT,
        .count_formats = f->n,
        .formats_offset = sizeof blob.head,
        .count_modifiers = f->n_modifiers,
        .modifiers_offset = (uint32_t)(sizeof blob.head + (f->n * 4 + 7) / 8 * 8),
    }};
    uint8_t *at = (uint8_t *)&blob;
    memcpy(at + blob.head.formats_offset, f->fourcc, f->n * 4);
    for (unsigned m = 0; m < f->n_modifiers; m++) {
        struct drm_format_modifier d = {.modifier = f->modifiers[m]};
        for (unsigned i = 0; i < f->n; i++)
            d.formats |= (f->takes[i] >> m & 1) << i;
        memcpy(at + blob.head.modifiers_offset + m * sizeof d, &d, sizeof d);
    }
    return tp_blob_create(kms, &blob,
                          blob.head.modifiers_offset +
                              f->n_modifiers * sizeof(struct drm_format_modifier));
}
