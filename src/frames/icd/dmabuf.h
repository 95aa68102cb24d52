/*
 * dma-bufs of a driver that has none: memfds, whose pages it imports as the host's. With that a
 * compositor renders with a software driver on the server's card, which takes memfds as buffers,
 * and shows the buffers of its clients. On only by TURNPIKE_RENDER_NODE=1, for devices that lack
 * VK_EXT_image_drm_format_modifier and have VK_EXT_external_memory_host; all is linear.
 */
#ifndef TP_FRAMES_ICD_DMABUF_H
#define TP_FRAMES_ICD_DMABUF_H

#include "frames/icd/internal.h"

/* The extensions (TP_BIT(TP_EXT_…)) that we bring to this device; 0: it needs, or can have, none. */
uint64_t tp_icd_dmabuf_offers(const struct tp_icd_physical *p, const VkPhysicalDeviceProperties *is);

/* A device that has those on: before its functions are asked for. */
VkResult tp_icd_dmabuf_start(struct tp_icd_device *d);
void tp_icd_dmabuf_finish(struct tp_icd_device *d); /* after the driver's device has gone */

/* Is this image to be one whose memory is shared? Then makes it, as vkCreateImage. */
bool tp_icd_dmabuf_is_shared(const struct tp_icd_device *d, const VkImageCreateInfo *info);
VkResult tp_icd_dmabuf_create_image(struct tp_icd_device *d, const VkImageCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkImage *out);

/* The same for gamescope, once the device knows what it has on (gamescope.c). */
void tp_icd_gamescope_start(struct tp_icd_device *d);

static inline bool tp_icd_dmabuf_on(const struct tp_icd_device *d)
{
    return d->dmabuf != NULL;
}

#endif
