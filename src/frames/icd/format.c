#include "frames/icd/format.h"

#include <drm_fourcc.h>
#include <stddef.h>

/* Vulkan's _PACK32 formats and DRM's are numbers, those without are bytes in their order. */
const struct tp_icd_format tp_icd_formats[] = {
    {VK_FORMAT_B8G8R8A8_SRGB, DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888, 8},
    {VK_FORMAT_B8G8R8A8_UNORM, DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888, 8},
    {VK_FORMAT_R8G8B8A8_SRGB, DRM_FORMAT_ABGR8888, DRM_FORMAT_XBGR8888, 8},
    {VK_FORMAT_R8G8B8A8_UNORM, DRM_FORMAT_ABGR8888, DRM_FORMAT_XBGR8888, 8},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32, DRM_FORMAT_ARGB2101010, DRM_FORMAT_XRGB2101010, 10},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32, DRM_FORMAT_ABGR2101010, DRM_FORMAT_XBGR2101010, 10},
    {VK_FORMAT_R16G16B16A16_SFLOAT, DRM_FORMAT_ABGR16161616F, DRM_FORMAT_XBGR16161616F, 16},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, DRM_FORMAT_RGB565, DRM_FORMAT_RGB565, 5},
    {VK_FORMAT_UNDEFINED, 0, 0, 0},
};

const struct tp_icd_format *tp_icd_format_find(VkFormat format)
{
    for (const struct tp_icd_format *f = tp_icd_formats; f->format; f++) {
        if (f->format == format)
            return f;
    }
    return NULL;
}

uint32_t tp_icd_format_bytes(const struct tp_icd_format *f)
{
    return f->depth == 16 ? 8 : f->depth == 5 ? 2 : 4;
}

bool tp_icd_format_fits(const struct tp_icd_format *f, VkColorSpaceKHR space)
{
    switch (space) {
    case VK_COLOR_SPACE_SRGB_NONLINEAR_KHR:
        return f->depth <= 10;
    case VK_COLOR_SPACE_EXTENDED_SRGB_LINEAR_EXT:
        return f->depth == 16; /* scRGB */
    case VK_COLOR_SPACE_HDR10_ST2084_EXT:
    case VK_COLOR_SPACE_HDR10_HLG_EXT:
        return f->depth == 10;
    case VK_COLOR_SPACE_PASS_THROUGH_EXT:
        return true;
    default:
        return f->depth >= 8;
    }
}

static bool takes(const struct tp_target_format *formats, uint32_t n, uint32_t fourcc)
{
    for (uint32_t i = 0; i < n; i++) {
        if (formats[i].fourcc == fourcc)
            return true;
    }
    return false;
}

uint32_t tp_icd_format_fourcc(
    const struct tp_icd_format *f, bool opaque, const struct tp_target_format *formats, uint32_t n)
{
    if (opaque && takes(formats, n, f->opaque))
        return f->opaque;
    /* A target without the form that ignores alpha shows what is opaque as well, as long as the
     * guest writes its alpha. */
    return takes(formats, n, f->alpha)            ? f->alpha
        : !opaque && takes(formats, n, f->opaque) ? f->opaque
                                                  : 0;
}
