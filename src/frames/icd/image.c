/* Images that the application makes of a swapchain's memory: vkCreateImage and vkBindImageMemory2.
 */
#include "frames/icd/dmabuf.h"
#include "frames/icd/swapchain.h"

static VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice handle, const VkImageCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkImage *out)
{
    const VkImageSwapchainCreateInfoKHR *of =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR);

    struct tp_icd_device *d = tp_icd_device_get(handle);

    if (tp_icd_dmabuf_is_shared(d, info))
        return tp_icd_dmabuf_create_image(d, info, allocator, out);
    if (!of || !of->swapchain)
        return d->vk.CreateImage(handle, info, allocator, out);
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(of->swapchain);
    return tp_icd_buffer_alias(&c->pool, info, &c->images[0].buffer, allocator, out);
}

static VkResult bind_one(struct tp_icd_device *d, const VkBindImageMemoryInfo *info)
{
    const VkBindImageMemorySwapchainInfoKHR *to =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR);
    const struct tp_vk_bind_memory_status *status =
        tp_icd_find(info->pNext, TP_VK_BIND_MEMORY_STATUS);

    if (!to || !to->swapchain)
        return d->vk.BindImageMemory2(d->handle, 1, info);
    VkResult r = d->vk.BindImageMemory(d->handle, info->image,
        tp_icd_swapchain_of(to->swapchain)->images[to->imageIndex].buffer.memory, 0);
    if (status && status->pResult)
        *status->pResult = r;
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_memory(
    VkDevice handle, uint32_t n, const VkBindImageMemoryInfo *infos)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    bool ours = false;
    VkResult r = VK_SUCCESS;

    for (uint32_t i = 0; i < n; i++)
        ours = ours ||
            tp_icd_find(infos[i].pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR);
    if (!ours)
        return d->vk.BindImageMemory2(handle, n, infos);
    /* Each is tried, also after one has failed. */
    for (uint32_t i = 0; i < n; i++) {
        VkResult one = bind_one(d, &infos[i]);
        if (r == VK_SUCCESS)
            r = one;
    }
    return r;
}

#define SWAPCHAIN TP_BIT(TP_EXT_SWAPCHAIN)
const struct tp_icd_entry tp_icd_image_entries[] = {
    TP_ENTRY("CreateImage", create_image, TP_LEVEL_DEVICE,
        SWAPCHAIN | TP_BIT(TP_EXT_DMABUF) | TP_BIT(TP_EXT_MODIFIER) | TP_ELSE_DRIVER),
    TP_ENTRY("BindImageMemory2", bind_memory, TP_LEVEL_DEVICE, SWAPCHAIN | TP_ELSE_DRIVER),
    TP_ENTRY("BindImageMemory2KHR", bind_memory, TP_LEVEL_DEVICE, SWAPCHAIN | TP_ELSE_DRIVER),
    {0},
};
