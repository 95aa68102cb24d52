#include "client.h"

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
    VkDebugUtilsMessageTypeFlagsEXT types, const VkDebugUtilsMessengerCallbackDataEXT *data,
    void *user)
{
    struct client *c = user;

    (void)severity;
    if (!(types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT))
        return VK_FALSE;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    c->messages++;
    return VK_FALSE;
}

static void *driver;

/* So that a leak checker can still say at the end which leaks are the driver's own. */
__attribute__((constructor)) static void keep_driver(void)
{
    const char *name = getenv("TURNPIKE_DRIVER");

    if (name)
        driver = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

void client_lose_device(bool lost)
{
    void (*lose)(bool lost) = NULL;

    assert_non_null(driver);
    *(void **)&lose = dlsym(driver, "less_lose");
    assert_non_null(lose);
    lose(lost);
}

const char *client_extension, *client_device_extension;

static void open_instance(struct client *c)
{
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    const char *extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME,
        VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME, VK_KHR_GET_SURFACE_CAPABILITIES_2_EXTENSION_NAME,
        VK_EXT_SURFACE_MAINTENANCE_1_EXTENSION_NAME, VK_EXT_SWAPCHAIN_COLOR_SPACE_EXTENSION_NAME,
        VK_KHR_SURFACE_PROTECTED_CAPABILITIES_EXTENSION_NAME, VK_KHR_DISPLAY_EXTENSION_NAME,
        VK_KHR_GET_DISPLAY_PROPERTIES_2_EXTENSION_NAME, VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
        client_extension};
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
            VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = c,
    };
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &messenger,
        .pApplicationInfo = &app,
        .enabledLayerCount = c->lawless ? 0 : COUNT(layers),
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = COUNT(extensions) - !client_extension,
        .ppEnabledExtensionNames = extensions};

    assert_int_equal(vkCreateInstance(&info, NULL, &c->instance), VK_SUCCESS);
    CLIENT_GET_INSTANCE(c, vkCreateDebugUtilsMessengerEXT);
    assert_int_equal(
        vkCreateDebugUtilsMessengerEXT(c->instance, &messenger, NULL, &c->messenger), VK_SUCCESS);
}

static void open_device(struct client *c)
{
    const char *const extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME,
        VK_KHR_SWAPCHAIN_MUTABLE_FORMAT_EXTENSION_NAME, VK_KHR_PRESENT_ID_EXTENSION_NAME,
        VK_KHR_PRESENT_WAIT_EXTENSION_NAME, VK_KHR_INCREMENTAL_PRESENT_EXTENSION_NAME,
        VK_GOOGLE_DISPLAY_TIMING_EXTENSION_NAME, VK_EXT_HDR_METADATA_EXTENSION_NAME,
        VK_EXT_SWAPCHAIN_MAINTENANCE_1_EXTENSION_NAME, client_device_extension};
    VkPhysicalDeviceSwapchainMaintenance1FeaturesEXT maintenance = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT};
    VkPhysicalDevicePresentWaitFeaturesKHR wait = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR,
        .pNext = &maintenance};
    VkPhysicalDeviceVulkan13Features core = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .pNext = &wait};
    VkPhysicalDevicePresentIdFeaturesKHR id = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR, .pNext = &core};
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &id};
    static const float priorities[CLIENT_QUEUES] = {1, 1, 1, 1};
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .pQueuePriorities = priorities};
    VkQueueFamilyProperties family;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = COUNT(extensions) - !client_device_extension,
        .ppEnabledExtensionNames = extensions};
    uint32_t n = 1;

    assert_true(vkEnumeratePhysicalDevices(c->instance, &n, &c->physical) >= 0);
    assert_int_equal(n, 1);
    vkGetPhysicalDeviceQueueFamilyProperties(c->physical, &n, &family);
    queue.queueCount = family.queueCount < CLIENT_QUEUES ? family.queueCount : CLIENT_QUEUES;
    vkGetPhysicalDeviceFeatures2(c->physical, &features);
    assert_true(id.presentId && wait.presentWait && maintenance.swapchainMaintenance1);
    features.features = (VkPhysicalDeviceFeatures){0};
    assert_int_equal(vkCreateDevice(c->physical, &info, NULL, &c->device), VK_SUCCESS);
    /* The chain is as it was. */
    assert_ptr_equal(id.pNext, &core);
    assert_ptr_equal(core.pNext, &wait);
    assert_ptr_equal(wait.pNext, &maintenance);
    for (uint32_t i = 0; i < queue.queueCount; i++)
        vkGetDeviceQueue(c->device, 0, i, &c->queues[i]);
    c->queue = c->queues[0];
    vkGetPhysicalDeviceMemoryProperties(c->physical, &c->memory);
}

void client_open(struct client *c)
{
    *c = (struct client){0};
    open_instance(c);
    open_device(c);
}

void client_open_lawless(struct client *c)
{
    *c = (struct client){.lawless = true};
    open_instance(c);
    open_device(c);
}

void client_close(struct client *c)
{
    CLIENT_GET_INSTANCE(c, vkDestroyDebugUtilsMessengerEXT);

    vkDestroyDevice(c->device, NULL);
    vkDestroyDebugUtilsMessengerEXT(c->instance, c->messenger, NULL);
    vkDestroyInstance(c->instance, NULL);
    assert_int_equal(c->messages, 0);
}

VkSurfaceKHR client_headless(struct client *c)
{
    CLIENT_GET_INSTANCE(c, vkCreateHeadlessSurfaceEXT);
    VkHeadlessSurfaceCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface;
    VkBool32 can;

    assert_int_equal(vkCreateHeadlessSurfaceEXT(c->instance, &info, NULL, &surface), VK_SUCCESS);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceSupportKHR(c->physical, c->family, surface, &can), VK_SUCCESS);
    assert_true(can);
    return surface;
}

VkSwapchainCreateInfoKHR chain_info(VkSurfaceKHR surface, uint32_t width, uint32_t height)
{
    return (VkSwapchainCreateInfoKHR){
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface,
        .minImageCount = 2,
        .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
        .imageColorSpace = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
        .imageExtent = {width, height},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
        .clipped = VK_TRUE,
    };
}

/* As applications do, and as the validation layer wants it. */
static void ask_surface(struct client *c, const VkSwapchainCreateInfoKHR *info)
{
    VkSurfaceCapabilitiesKHR caps;
    VkSurfaceFormatKHR formats[64];
    VkPresentModeKHR modes[8];
    uint32_t n = COUNT(formats), m = COUNT(modes);

    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(c->physical, info->surface, &caps), VK_SUCCESS);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceFormatsKHR(c->physical, info->surface, &n, formats), VK_SUCCESS);
    assert_int_equal(
        vkGetPhysicalDeviceSurfacePresentModesKHR(c->physical, info->surface, &m, modes),
        VK_SUCCESS);
}

VkResult chain_try(struct chain *ch, struct client *c, const VkSwapchainCreateInfoKHR *info)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = c->family};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};

    *ch = (struct chain){.client = c, .surface = info->surface, .info = *info};
    ask_surface(c, info);
    VkResult r = vkCreateSwapchainKHR(c->device, info, NULL, &ch->swapchain);
    if (r != VK_SUCCESS)
        return r;
    ch->n_images = CLIENT_MAX_IMAGES;
    assert_int_equal(
        vkGetSwapchainImagesKHR(c->device, ch->swapchain, &ch->n_images, NULL), VK_SUCCESS);
    assert_int_equal(
        vkGetSwapchainImagesKHR(c->device, ch->swapchain, &ch->n_images, ch->images), VK_SUCCESS);
    assert_int_equal(vkCreateCommandPool(c->device, &pool, NULL, &ch->pool), VK_SUCCESS);
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = ch->pool,
        .commandBufferCount = CLIENT_FRAMES};
    assert_int_equal(vkAllocateCommandBuffers(c->device, &commands, ch->commands), VK_SUCCESS);
    for (uint32_t i = 0; i < ch->n_images; i++)
        assert_int_equal(vkCreateSemaphore(c->device, &semaphore, NULL, &ch->drawn[i]), VK_SUCCESS);
    for (unsigned i = 0; i < CLIENT_FRAMES; i++) {
        assert_int_equal(
            vkCreateSemaphore(c->device, &semaphore, NULL, &ch->acquired[i]), VK_SUCCESS);
        assert_int_equal(vkCreateFence(c->device, &fence, NULL, &ch->done[i]), VK_SUCCESS);
    }
    return VK_SUCCESS;
}

void chain_open(struct chain *ch, struct client *c, const VkSwapchainCreateInfoKHR *info)
{
    assert_int_equal(chain_try(ch, c, info), VK_SUCCESS);
}

void chain_close(struct chain *ch)
{
    VkDevice d = ch->client->device;

    vkDeviceWaitIdle(d);
    for (uint32_t i = 0; i < ch->n_images; i++)
        vkDestroySemaphore(d, ch->drawn[i], NULL);
    for (unsigned i = 0; i < CLIENT_FRAMES; i++) {
        vkDestroySemaphore(d, ch->acquired[i], NULL);
        vkDestroyFence(d, ch->done[i], NULL);
    }
    vkDestroyCommandPool(d, ch->pool, NULL);
    vkDestroySwapchainKHR(d, ch->swapchain, NULL);
}

static void barrier(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to,
    VkAccessFlags before, VkAccessFlags after)
{
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = before,
        .dstAccessMask = after,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};

    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
        0, 0, NULL, 0, NULL, 1, &b);
}

static void record(struct chain *ch, unsigned frame, uint32_t index)
{
    VkCommandBuffer commands = ch->commands[frame];
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkClearColorValue colour = {.float32 = {(float)(ch->frame % 256) / 255, 0.5f, 1, 1}};
    VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    barrier(commands, ch->images[index], VK_IMAGE_LAYOUT_UNDEFINED,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0, VK_ACCESS_TRANSFER_WRITE_BIT);
    vkCmdClearColorImage(
        commands, ch->images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour, 1, &range);
    barrier(commands, ch->images[index], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_ACCESS_TRANSFER_WRITE_BIT, 0);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
}

VkResult chain_present(struct chain *ch, uint32_t index, VkSemaphore after, const void *next)
{
    struct client *c = ch->client;
    unsigned frame = ch->frame++ % CLIENT_FRAMES;
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = after ? 1 : 0,
        .pWaitSemaphores = &after,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &ch->commands[frame],
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &ch->drawn[index]};
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .pNext = next,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &ch->drawn[index],
        .swapchainCount = 1,
        .pSwapchains = &ch->swapchain,
        .pImageIndices = &index};

    assert_int_equal(
        vkWaitForFences(c->device, 1, &ch->done[frame], VK_TRUE, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(vkResetFences(c->device, 1, &ch->done[frame]), VK_SUCCESS);
    record(ch, frame, index);
    assert_int_equal(vkQueueSubmit(c->queue, 1, &submit, ch->done[frame]), VK_SUCCESS);
    return vkQueuePresentKHR(c->queue, &present);
}

VkResult chain_round(struct chain *ch, const void *next)
{
    unsigned frame = ch->frame % CLIENT_FRAMES;
    uint32_t index;

    /* Its semaphore was waited for by the frame that used it. */
    assert_int_equal(
        vkWaitForFences(ch->client->device, 1, &ch->done[frame], VK_TRUE, UINT64_MAX), VK_SUCCESS);
    VkResult r = vkAcquireNextImageKHR(
        ch->client->device, ch->swapchain, UINT64_MAX, ch->acquired[frame], VK_NULL_HANDLE, &index);
    if (r < 0)
        return r;
    return chain_present(ch, index, ch->acquired[frame], next);
}

VkResult chain_acquire(struct chain *ch, uint64_t timeout, uint32_t *index)
{
    VkDevice d = ch->client->device;
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;

    assert_int_equal(vkCreateFence(d, &info, NULL, &fence), VK_SUCCESS);
    VkResult r = vkAcquireNextImageKHR(d, ch->swapchain, timeout, VK_NULL_HANDLE, fence, index);
    if (r == VK_SUCCESS || r == VK_SUBOPTIMAL_KHR)
        assert_int_equal(vkWaitForFences(d, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    else
        assert_int_equal(vkGetFenceStatus(d, fence), VK_NOT_READY);
    vkDestroyFence(d, fence, NULL);
    return r;
}

VkSemaphore client_hold_queue(struct client *c)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSemaphore semaphore;
    uint64_t one = 1;

    assert_int_equal(vkCreateSemaphore(c->device, &info, NULL, &semaphore), VK_SUCCESS);
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &one};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &semaphore,
        .pWaitDstStageMask = &stage};
    assert_int_equal(vkQueueSubmit(c->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    return semaphore;
}

void client_release_queue(struct client *c, VkSemaphore semaphore)
{
    VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = 1};

    assert_int_equal(vkSignalSemaphore(c->device, &signal), VK_SUCCESS);
}

unsigned client_count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

unsigned client_count_fds(void)
{
    return client_count_entries("/proc/self/fd");
}
