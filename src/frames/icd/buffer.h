/*
 * Pool buffers: the images of a swapchain, each with memory of its own that the other side of the
 * surface and the panel read.
 *
 *   dma-buf   the driver's memory, exported; with modifiers where both sides have them
 *   host      a memfd, whose pages the driver takes as a linear image's memory
 *   copy      an optimal image, and a memfd that each picture is copied into
 *
 * One kind for a swapchain: the first of these that works, tried with its first image.
 */
#ifndef TP_FRAMES_ICD_BUFFER_H
#define TP_FRAMES_ICD_BUFFER_H

#include "frames/icd/internal.h"

enum tp_icd_buffer_kind { TP_BUFFER_DMABUF, TP_BUFFER_HOST, TP_BUFFER_COPY, TP_BUFFER_N_KINDS };

enum { TP_BUFFER_MAX_MODIFIERS = 128 };

/* What the images of a swapchain have in common. */
struct tp_icd_pool {
    struct tp_icd_device *device;
    const VkAllocationCallbacks *allocator; /* of the swapchain; NULL: none. Borrowed */
    enum tp_icd_buffer_kind kind;
    VkImageCreateInfo info; /* as asked for, without a chain; its lists are this struct's */
    uint32_t families[16];
    VkFormat *view_formats; /* of a mutable format; NULL: none. Owned */
    uint32_t n_view_formats;
    uint32_t fourcc;
    uint32_t bytes_per_pixel;
    VkImageUsageFlags added_usage; /* copy: that it needs besides */
    bool host_readable_copy;       /* copy: the GPU writes into the memfd itself */
    struct tp_icd_queue *copier;   /* copy: who does it; NULL: the queue that presents */
    /* dma-buf: those that both sides have, and whether the driver knows any. */
    uint64_t modifiers[TP_BUFFER_MAX_MODIFIERS];
    uint32_t n_modifiers;
    bool with_modifiers;
};

struct tp_icd_buffer {
    VkImage image;
    VkDeviceMemory memory;
    struct tp_stream_image stream; /* as the target gets it; its fd is owned */
    void *pages;                   /* host, copy: the memfd's; NULL: none */
    /* copy */
    VkBuffer copy;
    VkDeviceMemory copy_memory;
    void *mapped; /* the copy's, where the GPU does not write into the memfd; NULL: it does */
};

/*
 * Chooses the kind, and makes the first image with it. formats: the target's. info: with the
 * format, extent, usage and sharing that the application asked for. allocator: borrowed as long as
 * the pool lives.
 */
VkResult tp_icd_pool_init(struct tp_icd_pool *p, struct tp_icd_device *d,
    const VkSwapchainCreateInfoKHR *info, const VkAllocationCallbacks *allocator, uint32_t fourcc,
    uint32_t bytes_per_pixel, const struct tp_target_format *formats, uint32_t n_formats,
    struct tp_icd_buffer *first);
void tp_icd_pool_finish(struct tp_icd_pool *p);

/* Another image. Nothing is left where it fails. */
VkResult tp_icd_buffer_init(struct tp_icd_pool *p, struct tp_icd_buffer *b);
/* {0} is fine. */
void tp_icd_buffer_finish(struct tp_icd_pool *p, struct tp_icd_buffer *b);

/* An image that shares a buffer's memory; for vkCreateImage with a swapchain. The caller's. */
VkResult tp_icd_buffer_alias(struct tp_icd_pool *p, const VkImageCreateInfo *info,
    const struct tp_icd_buffer *of, const VkAllocationCallbacks *allocator, VkImage *out);

/* copy: records it, for a command buffer that is begun and ended here. */
VkResult tp_icd_buffer_record(
    struct tp_icd_pool *p, const struct tp_icd_buffer *b, VkCommandBuffer commands);
/* copy: after the GPU, the rest of the way into the memfd. */
void tp_icd_buffer_flush(struct tp_icd_pool *p, const struct tp_icd_buffer *b);

#endif
