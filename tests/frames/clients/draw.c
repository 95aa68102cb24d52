#include "draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 2, IMAGES = 64 };

struct draw draw;
static VkQueue queue;
static VkSurfaceKHR on;
static VkSwapchainKHR swapchain;
static VkImage images[IMAGES];
static VkSemaphore drawn[IMAGES], acquired[FRAMES];
static VkFence done[FRAMES];
static VkCommandBuffer commands[FRAMES];

void draw_die(int status, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", draw.name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(status);
}

void draw_must(VkResult r, const char *what)
{
    if (r < 0)
        draw_die(1, "%s: VkResult %d", what, r);
}

VkPresentModeKHR draw_mode(const char *name)
{
    static const struct {
        const char *name;
        VkPresentModeKHR mode;
    } modes[] = {{"fifo", VK_PRESENT_MODE_FIFO_KHR}, {"mailbox", VK_PRESENT_MODE_MAILBOX_KHR},
        {"immediate", VK_PRESENT_MODE_IMMEDIATE_KHR}};

    for (int i = 0; i < 3; i++) {
        if (!strcmp(modes[i].name, name))
            return modes[i].mode;
    }
    draw_die(2, "%s is none of fifo, mailbox, immediate", name);
}

double draw_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void open_frames(void)
{
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandPool pool;

    draw_must(vkCreateCommandPool(draw.device, &info, NULL, &pool), "the command pool");
    VkCommandBufferAllocateInfo some = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = FRAMES};
    draw_must(vkAllocateCommandBuffers(draw.device, &some, commands), "command buffers");
    for (int i = 0; i < FRAMES; i++) {
        draw_must(vkCreateSemaphore(draw.device, &semaphore, NULL, &acquired[i]), "a semaphore");
        draw_must(vkCreateFence(draw.device, &fence, NULL, &done[i]), "a fence");
    }
}

void draw_open(const char *name, const char *const *extensions, uint32_t n)
{
    static const char *const of_device[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &app,
        .enabledExtensionCount = n,
        .ppEnabledExtensionNames = extensions};
    float priority = 1;
    VkDeviceQueueCreateInfo q = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkDeviceCreateInfo d = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &q,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = of_device};
    uint32_t one = 1, families = 1;
    VkQueueFamilyProperties family;

    draw.name = name;
    if (vkCreateInstance(&info, NULL, &draw.instance) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(draw.instance, &one, &draw.physical) < 0 || one == 0)
        draw_die(3, "there is no Vulkan driver here that has these surfaces");
    vkGetPhysicalDeviceQueueFamilyProperties(draw.physical, &families, &family);
    draw_must(vkCreateDevice(draw.physical, &d, NULL, &draw.device), "the device");
    vkGetDeviceQueue(draw.device, 0, 0, &queue);
    open_frames();
}

static void drop_swapchain(VkSwapchainKHR chain)
{
    draw_must(vkDeviceWaitIdle(draw.device), "the end of the frames");
    for (uint32_t i = 0; i < draw.n_images; i++)
        vkDestroySemaphore(draw.device, drawn[i], NULL);
    vkDestroySwapchainKHR(draw.device, chain, NULL);
}

void draw_on(VkSurfaceKHR surface, VkExtent2D extent, VkPresentModeKHR mode)
{
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSwapchainKHR old = swapchain;
    VkSurfaceCapabilitiesKHR caps;
    VkSurfaceFormatKHR format;
    VkPresentModeKHR modes[8];
    VkBool32 can = VK_FALSE;
    uint32_t one = 1, n_modes = 8, n = 0;

    on = surface;
    draw_must(vkGetPhysicalDeviceSurfaceSupportKHR(draw.physical, 0, surface, &can), "its support");
    draw_must(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(draw.physical, surface, &caps), "capabilities");
    draw_must(
        vkGetPhysicalDeviceSurfaceFormatsKHR(draw.physical, surface, &one, &format), "formats");
    draw_must(vkGetPhysicalDeviceSurfacePresentModesKHR(draw.physical, surface, &n_modes, modes),
        "present modes");
    while (n < n_modes && modes[n] != mode)
        n++;
    if (!can || n == n_modes)
        draw_die(3, "the surface cannot be presented to in this mode");
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface,
        .minImageCount = caps.minImageCount,
        .imageFormat = format.format,
        .imageColorSpace = format.colorSpace,
        .imageExtent = caps.currentExtent.width == UINT32_MAX ? extent : caps.currentExtent,
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .preTransform = caps.currentTransform,
        .compositeAlpha = caps.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
            ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
            : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR,
        .presentMode = mode,
        .oldSwapchain = old};
    draw_must(vkCreateSwapchainKHR(draw.device, &info, NULL, &swapchain), "the swapchain");
    if (old)
        drop_swapchain(old);
    draw.n_images = IMAGES;
    draw_must(
        vkGetSwapchainImagesKHR(draw.device, swapchain, &draw.n_images, images), "its images");
    for (uint32_t i = 0; i < draw.n_images; i++)
        draw_must(vkCreateSemaphore(draw.device, &semaphore, NULL, &drawn[i]), "a semaphore");
}

static void turn(VkCommandBuffer to, VkImage image, VkImageLayout from, VkImageLayout into)
{
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = from == VK_IMAGE_LAYOUT_UNDEFINED ? 0 : VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = from == VK_IMAGE_LAYOUT_UNDEFINED ? VK_ACCESS_TRANSFER_WRITE_BIT : 0,
        .oldLayout = from,
        .newLayout = into,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};

    vkCmdPipelineBarrier(to, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
        NULL, 0, NULL, 1, &b);
}

static void record(VkCommandBuffer to, VkImage image, const VkClearColorValue *colour)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

    draw_must(vkBeginCommandBuffer(to, &begin), "a command buffer");
    turn(to, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdClearColorImage(to, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, colour, 1, &range);
    turn(to, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    draw_must(vkEndCommandBuffer(to), "a command buffer");
}

static void draw_once_more(unsigned f, uint32_t index, const VkClearColorValue *colour)
{
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands[f]};

    draw_must(vkWaitForFences(draw.device, 1, &done[f], VK_TRUE, UINT64_MAX), "a frame");
    draw_must(vkResetFences(draw.device, 1, &done[f]), "a fence");
    record(commands[f], images[index], colour);
    draw_must(vkQueueSubmit(queue, 1, &submit, done[f]), "a submit");
}

bool draw_frame(float red, float green, float blue)
{
    unsigned f = draw.n_frames % FRAMES;
    VkClearColorValue colour = {.float32 = {red, green, blue, 1}};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    uint32_t index;

    draw_must(vkWaitForFences(draw.device, 1, &done[f], VK_TRUE, UINT64_MAX), "a frame");
    VkResult r = vkAcquireNextImageKHR(
        draw.device, swapchain, UINT64_MAX, acquired[f], VK_NULL_HANDLE, &index);
    if (r == VK_ERROR_OUT_OF_DATE_KHR)
        return false;
    draw_must(r, "an image");
    draw_must(vkResetFences(draw.device, 1, &done[f]), "a fence");
    record(commands[f], images[index], &colour);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &acquired[f],
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands[f],
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &drawn[index]};
    draw_must(vkQueueSubmit(queue, 1, &submit, done[f]), "a submit");
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &drawn[index],
        .swapchainCount = 1,
        .pSwapchains = &swapchain,
        .pImageIndices = &index};
    r = vkQueuePresentKHR(queue, &present);
    draw.n_frames++;
    if (draw.over)
        draw_once_more(f, index, &(VkClearColorValue){.float32 = {1 - red, 1 - green, blue, 1}});
    if (r == VK_ERROR_OUT_OF_DATE_KHR || r == VK_SUBOPTIMAL_KHR)
        return false;
    draw_must(r, "a present");
    return true;
}

void draw_close(void)
{
    drop_swapchain(swapchain);
    vkDestroySurfaceKHR(draw.instance, on, NULL);
}
