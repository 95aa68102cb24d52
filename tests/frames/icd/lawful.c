#include "lawful.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct client client;

int open_client(void **state)
{
    (void)state;
    client_open(&client);
    return 0;
}

int open_client_lawless(void **state)
{
    (void)state;
    client_open_lawless(&client);
    return 0;
}

int close_client(void **state)
{
    (void)state;
    client_close(&client);
    return 0;
}

void open_chain(struct chain *ch)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);

    chain_open(ch, &client, &info);
}

void close_chain(struct chain *ch)
{
    chain_close(ch);
    vkDestroySurfaceKHR(client.instance, ch->surface, NULL);
}

VkFence make_fence(void)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;

    assert_int_equal(vkCreateFence(client.device, &info, NULL, &fence), VK_SUCCESS);
    return fence;
}

VkSemaphore make_semaphore(void)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;

    assert_int_equal(vkCreateSemaphore(client.device, &info, NULL, &semaphore), VK_SUCCESS);
    return semaphore;
}

void open_modes(struct chain *ch, VkPresentModeKHR mode, const void *next, uint32_t images)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);

    info.presentMode = mode;
    info.pNext = next;
    info.minImageCount = images;
    info.imageUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    chain_open(ch, &client, &info);
}

VkResult present_all(struct chain *chains, const uint32_t *indices, uint32_t n,
    VkSemaphore semaphore, VkResult *results, const void *next)
{
    VkSwapchainKHR swapchains[16];

    assert_true(n <= COUNT(swapchains));
    for (uint32_t i = 0; i < n; i++)
        swapchains[i] = chains[i].swapchain;
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .pNext = next,
        .waitSemaphoreCount = semaphore ? 1 : 0,
        .pWaitSemaphores = &semaphore,
        .swapchainCount = n,
        .pSwapchains = swapchains,
        .pImageIndices = indices,
        .pResults = results};
    return vkQueuePresentKHR(client.queue, &present);
}

/* --- what is in an image --- */

static void move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};

    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &b);
}

static VkCommandBuffer begin_commands(struct chain *ch)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = ch->pool,
        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkCommandBuffer commands;

    assert_int_equal(vkAllocateCommandBuffers(client.device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

static void run_commands(struct chain *ch, VkCommandBuffer commands)
{
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands};

    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(client.queue), VK_SUCCESS);
    vkFreeCommandBuffers(client.device, ch->pool, 1, &commands);
}

void draw_image(struct chain *ch, uint32_t index, unsigned colour)
{
    VkClearColorValue value = {.float32 = {(float)colour / 255, 0, 0, 1}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer commands = begin_commands(ch);

    move(commands, ch->images[index], VK_IMAGE_LAYOUT_UNDEFINED,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdClearColorImage(
        commands, ch->images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &range);
    move(commands, ch->images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    run_commands(ch, commands);
}

static uint32_t visible_type(uint32_t bits)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t i = 0;

    while (!(bits & 1u << i) || (client.memory.memoryTypes[i].propertyFlags & wanted) != wanted)
        i++;
    return i;
}

unsigned read_image(struct chain *ch, uint32_t index)
{
    const VkDeviceSize bytes =
        (VkDeviceSize)ch->info.imageExtent.width * ch->info.imageExtent.height * 4;
    VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBufferImageCopy all = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {ch->info.imageExtent.width, ch->info.imageExtent.height, 1}};
    VkMemoryRequirements needs;
    VkDeviceMemory memory;
    VkBuffer buffer;
    const uint32_t *pixels;

    assert_int_equal(vkCreateBuffer(client.device, &buffer_info, NULL, &buffer), VK_SUCCESS);
    vkGetBufferMemoryRequirements(client.device, buffer, &needs);
    VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = visible_type(needs.memoryTypeBits)};
    assert_int_equal(vkAllocateMemory(client.device, &memory_info, NULL, &memory), VK_SUCCESS);
    assert_int_equal(vkBindBufferMemory(client.device, buffer, memory, 0), VK_SUCCESS);
    VkCommandBuffer commands = begin_commands(ch);
    move(commands, ch->images[index], VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
        VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    vkCmdCopyImageToBuffer(
        commands, ch->images[index], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &all);
    move(commands, ch->images[index], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    run_commands(ch, commands);
    assert_int_equal(
        vkMapMemory(client.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&pixels), VK_SUCCESS);
    uint32_t first = pixels[0];
    for (size_t i = 1; i < bytes / 4; i++)
        assert_int_equal(pixels[i], first);
    vkDestroyBuffer(client.device, buffer, NULL);
    vkFreeMemory(client.device, memory, NULL);
    return first >> 16 & 0xff; /* BGRA: red */
}

void acquire_all(struct chain *chains, uint32_t *indices, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(chain_acquire(&chains[i], UINT64_MAX, &indices[i]), VK_SUCCESS);
        draw_image(&chains[i], indices[i], 1);
    }
}

/* --- images of the application's --- */

VkResult try_image(const struct chain *ch, const VkAllocationCallbacks *allocator, VkImage *out)
{
    VkImageSwapchainCreateInfoKHR of = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR, .swapchain = ch->swapchain};
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &of,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = ch->info.imageFormat,
        .extent = {ch->info.imageExtent.width, ch->info.imageExtent.height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = ch->info.imageUsage};

    return vkCreateImage(client.device, &info, allocator, out);
}

VkImage image_of(const struct chain *ch)
{
    VkImage image;

    assert_int_equal(try_image(ch, NULL, &image), VK_SUCCESS);
    return image;
}
