/* The copy of a picture from its image into its memfd, where nothing better is to be had. */
#include <string.h>

#include "frames/icd/buffer.h"

static void barrier(struct tp_icd_device *d, VkCommandBuffer commands, VkImage image,
    VkImageLayout from, VkImageLayout to, VkAccessFlags before, VkAccessFlags after)
{
    VkImageMemoryBarrier b = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = before,
        .dstAccessMask = after,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };

    d->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &b);
}

VkResult tp_icd_buffer_record(
    struct tp_icd_pool *p, const struct tp_icd_buffer *b, VkCommandBuffer commands)
{
    struct tp_icd_device *d = p->device;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkBufferImageCopy copy = {
        .bufferRowLength = b->stream.pitches[0] / p->bytes_per_pixel,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = p->info.extent,
    };
    VkBufferMemoryBarrier to_host = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = b->copy,
        .size = VK_WHOLE_SIZE,
    };
    VkResult r = d->vk.BeginCommandBuffer(commands, &begin);

    if (r != VK_SUCCESS)
        return r;
    barrier(d, commands, b->image, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
        VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_ACCESS_MEMORY_WRITE_BIT,
        VK_ACCESS_TRANSFER_READ_BIT);
    d->vk.CmdCopyImageToBuffer(
        commands, b->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, b->copy, 1, &copy);
    barrier(d, commands, b->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_ACCESS_TRANSFER_READ_BIT, 0);
    d->vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
        0, 0, NULL, 1, &to_host, 0, NULL);
    return d->vk.EndCommandBuffer(commands);
}

void tp_icd_buffer_flush(struct tp_icd_pool *p, const struct tp_icd_buffer *b)
{
    VkMappedMemoryRange range = {.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = b->copy_memory,
        .size = VK_WHOLE_SIZE};

    if (!b->mapped)
        return;
    p->device->vk.InvalidateMappedMemoryRanges(p->device->handle, 1, &range);
    memcpy(b->pages, b->mapped,
        (size_t)b->stream.pitches[0] * (p->info.extent.height - 1) +
            (size_t)p->info.extent.width * p->bytes_per_pixel);
}
