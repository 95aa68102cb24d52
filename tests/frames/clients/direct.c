/*
 * direct SECONDS [fifo|mailbox|immediate]: a game without a compositor. The first screen by VK_KHR_display, in its
 * first mode; frames of one colour each, another one each time, as fast as they can be had. At the end it tells how
 * many there were. Status 3: there is no driver, or no screen.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vulkan/vulkan.h>

enum { FRAMES = 2, IMAGES = 64 };

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkSurfaceKHR surface;
static VkSwapchainKHR swapchain;
static VkExtent2D extent;
static uint32_t n_images;
static VkImage images[IMAGES];
static VkSemaphore drawn[IMAGES], acquired[FRAMES];
static VkFence done[FRAMES];
static VkCommandBuffer commands[FRAMES];

static void die(int status, const char *format, ...)
{
    va_list args;

    fputs("direct: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(status);
}

static void must(VkResult r, const char *what)
{
    if (r < 0)
        die(1, "%s: VkResult %d", what, r);
}

static void open_device(void)
{
    static const char *const of_instance[] = {
        VK_KHR_SURFACE_EXTENSION_NAME, VK_KHR_DISPLAY_EXTENSION_NAME};
    static const char *const of_device[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &app,
        .enabledExtensionCount = 2,
        .ppEnabledExtensionNames = of_instance};
    float priority = 1;
    VkDeviceQueueCreateInfo q = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkDeviceCreateInfo d = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &q,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = of_device};
    uint32_t n = 1;

    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS ||
        vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || n == 0)
        die(3, "there is no Vulkan driver here that has screens");
    must(vkCreateDevice(physical, &d, NULL, &device), "the device");
    vkGetDeviceQueue(device, 0, 0, &queue);
}

static void open_screen(void)
{
    VkDisplayPropertiesKHR display;
    VkDisplayModePropertiesKHR mode;
    VkBool32 can = VK_FALSE;
    uint32_t n = 1;

    if (vkGetPhysicalDeviceDisplayPropertiesKHR(physical, &n, &display) < 0 || n == 0)
        die(3, "there is no screen here");
    n = 1;
    must(vkGetDisplayModePropertiesKHR(physical, display.display, &n, &mode), "the screen's modes");
    extent = mode.parameters.visibleRegion;
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .displayMode = mode.displayMode,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .imageExtent = extent};
    must(vkCreateDisplayPlaneSurfaceKHR(instance, &info, NULL, &surface), "the surface");
    must(vkGetPhysicalDeviceSurfaceSupportKHR(physical, 0, surface, &can), "the surface's support");
    if (!can)
        die(1, "the screen cannot be presented to");
    printf("direct: %ux%u at %u mHz\n", extent.width, extent.height, mode.parameters.refreshRate);
}

static void open_swapchain(VkPresentModeKHR mode)
{
    VkSurfaceCapabilitiesKHR caps;
    VkSurfaceFormatKHR format;
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    uint32_t n = 1;

    must(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, &caps), "capabilities");
    must(vkGetPhysicalDeviceSurfaceFormatsKHR(physical, surface, &n, &format), "formats");
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface,
        .minImageCount = caps.minImageCount,
        .imageFormat = format.format,
        .imageColorSpace = format.colorSpace,
        .imageExtent = extent,
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = mode};
    must(vkCreateSwapchainKHR(device, &info, NULL, &swapchain), "the swapchain");
    n_images = IMAGES;
    must(vkGetSwapchainImagesKHR(device, swapchain, &n_images, images), "its images");
    for (uint32_t i = 0; i < n_images; i++)
        must(vkCreateSemaphore(device, &semaphore, NULL, &drawn[i]), "a semaphore");
}

static void open_frames(void)
{
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandPool pool;

    must(vkCreateCommandPool(device, &info, NULL, &pool), "the command pool");
    VkCommandBufferAllocateInfo some = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = FRAMES};
    must(vkAllocateCommandBuffers(device, &some, commands), "command buffers");
    for (int i = 0; i < FRAMES; i++) {
        must(vkCreateSemaphore(device, &semaphore, NULL, &acquired[i]), "a semaphore");
        must(vkCreateFence(device, &fence, NULL, &done[i]), "a fence");
    }
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

static void record(VkCommandBuffer to, VkImage image, uint64_t number)
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkClearColorValue colour = {
        .float32 = {(float)(number % 199) / 198, (float)(number % 101) / 100, 0.5f, 1}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

    must(vkBeginCommandBuffer(to, &begin), "a command buffer");
    turn(to, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdClearColorImage(to, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour, 1, &range);
    turn(to, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    must(vkEndCommandBuffer(to), "a command buffer");
}

static void draw(uint64_t number)
{
    unsigned f = number % FRAMES;
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    uint32_t index;

    must(vkWaitForFences(device, 1, &done[f], VK_TRUE, UINT64_MAX), "a frame");
    must(vkAcquireNextImageKHR(device, swapchain, UINT64_MAX, acquired[f], VK_NULL_HANDLE, &index),
        "an image");
    must(vkResetFences(device, 1, &done[f]), "a fence");
    record(commands[f], images[index], number);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &acquired[f],
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands[f],
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &drawn[index]};
    must(vkQueueSubmit(queue, 1, &submit, done[f]), "a submit");
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &drawn[index],
        .swapchainCount = 1,
        .pSwapchains = &swapchain,
        .pImageIndices = &index};
    must(vkQueuePresentKHR(queue, &present), "a present");
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        VkPresentModeKHR mode;
    } modes[] = {{"fifo", VK_PRESENT_MODE_FIFO_KHR}, {"mailbox", VK_PRESENT_MODE_MAILBOX_KHR},
        {"immediate", VK_PRESENT_MODE_IMMEDIATE_KHR}};
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    unsigned m = 0;
    uint64_t n = 0;

    while (argc > 2 && m < 3 && strcmp(argv[2], modes[m].name) != 0)
        m++;
    if (seconds <= 0 || m == 3)
        die(2, "usage: direct SECONDS [fifo|mailbox|immediate]");
    open_device();
    open_screen();
    open_swapchain(modes[m].mode);
    open_frames();
    double begin = now(), end;
    while ((end = now()) < begin + seconds)
        draw(n++);
    must(vkDeviceWaitIdle(device), "the end");
    printf("direct: %s, %u images, %llu frames, %.0f a second\n", modes[m].name, n_images,
        (unsigned long long)n, (double)n / (end - begin));
    vkDestroySwapchainKHR(device, swapchain, NULL);
    vkDestroySurfaceKHR(instance, surface, NULL);
    return 0;
}
