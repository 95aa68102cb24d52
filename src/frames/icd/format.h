/* Which Vulkan format is which of DRM's, and which ones a surface offers a device. */
#ifndef TP_FRAMES_ICD_FORMAT_H
#define TP_FRAMES_ICD_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/icd/target.h"

struct tp_icd_format {
    VkFormat format;
    uint32_t alpha, opaque; /* DRM_FORMAT_…; opaque: the alpha does not count */
    unsigned depth;         /* bits of a channel; 16: floats */
};

/* Better ones first; ended by VK_FORMAT_UNDEFINED. */
extern const struct tp_icd_format tp_icd_formats[];

/* NULL: no surface has it. */
const struct tp_icd_format *tp_icd_format_find(VkFormat format);
/* Of a pixel. */
uint32_t tp_icd_format_bytes(const struct tp_icd_format *f);
/* May pixels of this format be meant in this colour space? */
bool tp_icd_format_fits(const struct tp_icd_format *f, VkColorSpaceKHR space);
/* The format's fourcc as these formats of a target have it: without alpha where it does not count.
 * 0: the target does not take it. */
uint32_t tp_icd_format_fourcc(
    const struct tp_icd_format *f, bool opaque, const struct tp_target_format *formats, uint32_t n);

#endif
