/*
 * What most checks need: memory, buffers, images, command buffers, submits and waits.
 */
#include <string.h>

#include "client.h"

uint32_t tp_memory_type(struct tp_run *r, uint32_t bits, VkMemoryPropertyFlags flags)
{
    const VkPhysicalDeviceMemoryProperties *m = &r->client->caps.memory;
    for (uint32_t i = 0; i < m->memoryTypeCount; i++) {
        if ((bits & 1u << i) && (m->memoryTypes[i].propertyFlags & flags) == flags)
            return i;
    }
    return UINT32_MAX;
}

VkDeviceMemory tp_make_memory(struct tp_run *r, const VkMemoryRequirements *needs,
                              VkMemoryPropertyFlags flags, const void *next)
{
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = next,
        .allocationSize = needs->size,
        .memoryTypeIndex = tp_memory_type(r, needs->memoryTypeBits, flags),
    };
    if (info.memoryTypeIndex == UINT32_MAX)
        tp_failed(r, "no memory type of 0x%x has the properties 0x%x", needs->memoryTypeBits,
                  flags);
    VkDeviceMemory memory;
    TP_CALL(r, AllocateMemory, r->device, &info, NULL, &memory);
    tp_own(r, TP_KIND_DeviceMemory, TP_HANDLE(memory));
    return memory;
}

struct tp_buffer tp_make_buffer(struct tp_run *r, VkDeviceSize bytes, VkBufferUsageFlags usage)
{
    struct tp_buffer b = {.bytes = bytes};
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = usage,
    };
    TP_MAKE(r, Buffer, &info, &b.buffer);
    VkMemoryRequirements needs;
    r->vk->GetBufferMemoryRequirements(r->device, b.buffer, &needs);
    if (needs.size < bytes)
        tp_failed(r, "vkGetBufferMemoryRequirements: %llu bytes for a buffer of %llu",
                  (unsigned long long)needs.size, (unsigned long long)bytes);
    b.memory = tp_make_memory(
        r, &needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        NULL);
    TP_CALL(r, BindBufferMemory, r->device, b.buffer, b.memory, 0);
    TP_CALL(r, MapMemory, r->device, b.memory, 0, VK_WHOLE_SIZE, 0, &b.map);
    memset(b.map, 0, bytes);
    return b;
}

static VkImageCreateInfo image_info(const struct tp_image_want *want)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = want->flags,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = want->format,
        .extent = {want->width, want->height, 1},
        .mipLevels = want->mips ? want->mips : 1,
        .arrayLayers = want->layers ? want->layers : 1,
        .samples = want->samples ? want->samples : VK_SAMPLE_COUNT_1_BIT,
        .tiling = want->tiling,
        .usage = want->usage,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
}

bool tp_image_offered(struct tp_run *r, const struct tp_image_want *want)
{
    VkImageCreateInfo image = image_info(want);
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .format = image.format,
        .type = image.imageType,
        .tiling = image.tiling,
        .usage = image.usage,
        .flags = image.flags,
    };
    VkImageFormatProperties2 p = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    VkResult result =
        r->vk->GetPhysicalDeviceImageFormatProperties2(r->client->physical, &info, &p);
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED)
        return false;
    tp_called(r, "vkGetPhysicalDeviceImageFormatProperties2", result);
    const VkImageFormatProperties *f = &p.imageFormatProperties;
    return f->maxExtent.width >= image.extent.width &&
           f->maxExtent.height >= image.extent.height && f->maxMipLevels >= image.mipLevels &&
           f->maxArrayLayers >= image.arrayLayers && (f->sampleCounts & image.samples);
}

VkImage tp_make_image(struct tp_run *r, const struct tp_image_want *want)
{
    VkImageCreateInfo info = image_info(want);
    VkImage image;
    TP_MAKE(r, Image, &info, &image);
    VkMemoryRequirements needs;
    r->vk->GetImageMemoryRequirements(r->device, image, &needs);
    VkDeviceMemory memory = tp_make_memory(r, &needs, 0, NULL);
    TP_CALL(r, BindImageMemory, r->device, image, memory, 0);
    return image;
}

VkImageView tp_make_view(struct tp_run *r, VkImage image, VkFormat format,
                         VkImageAspectFlags aspect)
{
    VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {aspect, 0, 1, 0, 1},
    };
    VkImageView view;
    TP_MAKE(r, ImageView, &info, &view);
    return view;
}

VkCommandPool tp_make_pool(struct tp_run *r, VkCommandPoolCreateFlags flags)
{
    VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = flags,
        .queueFamilyIndex = r->family,
    };
    VkCommandPool pool;
    TP_MAKE(r, CommandPool, &info, &pool);
    return pool;
}

VkCommandBuffer tp_make_commands(struct tp_run *r, VkCommandPool pool, VkCommandBufferLevel level)
{
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = level,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands;
    TP_CALL(r, AllocateCommandBuffers, r->device, &info, &commands);
    return commands;
}

VkCommandBuffer tp_begin(struct tp_run *r, VkCommandBufferUsageFlags usage)
{
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = usage,
    };
    VkCommandBuffer commands =
        tp_make_commands(r, tp_make_pool(r, 0), VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    TP_CALL(r, BeginCommandBuffer, commands, &info);
    return commands;
}

void tp_end(struct tp_run *r, VkCommandBuffer commands)
{
    TP_CALL(r, EndCommandBuffer, commands);
}

VkFence tp_make_fence(struct tp_run *r, VkFenceCreateFlags flags)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = flags};
    VkFence fence;
    TP_MAKE(r, Fence, &info, &fence);
    return fence;
}

void tp_submit(struct tp_run *r, VkCommandBuffer commands, VkFence fence)
{
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    TP_CALL(r, QueueSubmit, r->queue, commands ? 1 : 0, &info, fence);
}

void tp_wait(struct tp_run *r, VkFence fence)
{
    uint64_t ns = r->client->options.timeout_ms * UINT64_C(1000000);
    TP_CALL_FOR(r, VK_SUCCESS, WaitForFences, r->device, 1, &fence, VK_TRUE, ns);
}

void tp_finish(struct tp_run *r, VkCommandBuffer commands)
{
    VkFence fence = tp_make_fence(r, 0);
    tp_end(r, commands);
    tp_submit(r, commands, fence);
    tp_wait(r, fence);
}

void tp_barrier(struct tp_run *r, VkCommandBuffer commands, VkPipelineStageFlags from,
                VkAccessFlags wrote, VkPipelineStageFlags to, VkAccessFlags reads)
{
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = wrote,
        .dstAccessMask = reads,
    };
    r->vk->CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void tp_image_barrier(struct tp_run *r, VkCommandBuffer commands, VkImage image,
                      VkImageAspectFlags aspect, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {aspect, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    r->vk->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                              VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
                              &barrier);
}

void tp_host_barrier(struct tp_run *r, VkCommandBuffer commands)
{
    tp_barrier(r, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
               VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void tp_expect_words(struct tp_run *r, const char *what, const uint32_t *data, uint32_t count,
                     uint32_t (*wanted)(uint32_t i))
{
    if (r->client->options.effects != TP_EFFECTS_ALL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (data[i] != wanted(i))
            tp_failed(r, "%s: word %u is 0x%08x, where 0x%08x is right", what, i, data[i],
                      wanted(i));
    }
}
