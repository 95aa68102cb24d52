/*
 * gamescope 3.11.49, over memory of dmabuf.h, uploads the windows of X clients with a row length in
 * bytes where Vulkan counts pixels, and so reads past the buffer's end. Pixels are of four bytes
 * there; nothing else of it has rows four times as long as the picture is wide.
 */
#include <stdatomic.h>

#include "frames/icd/dmabuf.h"

enum { PIXEL_BYTES = 4, REGIONS = 16 };

/* Of all such devices: a command buffer does not tell its own. */
static _Atomic(PFN_vkCmdCopyBufferToImage) driver_copy;

void tp_icd_gamescope_start(struct tp_icd_device *d)
{
    PFN_vkCmdCopyBufferToImage none = NULL;

    if (!d->instance->is_gamescope || !tp_icd_dmabuf_on(d))
        return;
    if (atomic_compare_exchange_strong(&driver_copy, &none, d->vk.CmdCopyBufferToImage) ||
        none == d->vk.CmdCopyBufferToImage)
        d->enabled |= TP_BIT(TP_EXT_GAMESCOPE);
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkImage to,
    VkImageLayout layout, uint32_t n, const VkBufferImageCopy *regions)
{
    PFN_vkCmdCopyBufferToImage driver = atomic_load(&driver_copy);
    VkBufferImageCopy right[REGIONS];

    if (n > REGIONS) {
        driver(commands, from, to, layout, n, regions);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        right[i] = regions[i];
        if (right[i].bufferRowLength / PIXEL_BYTES >= right[i].imageExtent.width)
            right[i].bufferRowLength /= PIXEL_BYTES;
    }
    driver(commands, from, to, layout, n, right);
}

const struct tp_icd_entry tp_icd_gamescope_entries[] = {
    TP_ENTRY("CmdCopyBufferToImage", copy, TP_LEVEL_DEVICE,
        TP_BIT(TP_EXT_GAMESCOPE) | TP_ELSE_DRIVER),
    {0},
};
