/*
 * bench-icd [ROUNDS [WxH]]: what the ICD adds to calls, on a headless surface. To be run below
 * tests/frames/icd/with_icd.sh; with a server (TURNPIKE_SOCKET) its board is read as well.
 *
 *   acquire        vkAcquireNextImageKHR with a ready image and nothing to signal, wall time
 *   acquire+fence  the same with a fence, less an empty submit with one: what signalling takes the
 *                  driver
 *   present        vkQueuePresentKHR, CPU of the calling thread
 *   submit         vkQueueSubmit with the same semaphore and a fence: the driver's part of it
 *   beyond         CPU of the whole process in a frame with acquire and present, less that of one
 *                  which has the submit in their place; IN_FLIGHT frames are under way in both
 *   vkCmd*         functions of commands that are ours and not the driver's: 0
 *
 * Medians; of "beyond" those of BATCHES pairs of batches, which alternate, and the quartiles.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

enum { IN_FLIGHT = 3, BATCHES = 21 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        VkResult r_ = (call);                                                                      \
        if (r_ != VK_SUCCESS) {                                                                    \
            fprintf(stderr, "bench-icd: %s: %d\n", #call, r_);                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkSurfaceKHR surface;
static VkSwapchainKHR swapchain;
static VkSemaphore semaphore;
static VkFence fence;
static unsigned rounds = 20000, width = 1280, height = 720;

static PFN_vkAcquireNextImageKHR acquire;
static PFN_vkQueuePresentKHR present;
static PFN_vkQueueSubmit submit;
static PFN_vkReleaseSwapchainImagesEXT give_back;

static int64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static double median_us(int64_t *samples, unsigned n)
{
    qsort(samples, n, sizeof *samples, by_value);
    return (double)samples[n / 2] / 1000;
}

static void open_device(void)
{
    static const char *const of_instance[] = {VK_KHR_SURFACE_EXTENSION_NAME,
        VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME, VK_KHR_GET_SURFACE_CAPABILITIES_2_EXTENSION_NAME,
        VK_EXT_SURFACE_MAINTENANCE_1_EXTENSION_NAME};
    static const char *const of_device[] = {
        VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_EXT_SWAPCHAIN_MAINTENANCE_1_EXTENSION_NAME};
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &app,
        .enabledExtensionCount = 4,
        .ppEnabledExtensionNames = of_instance};
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkPhysicalDeviceSwapchainMaintenance1FeaturesEXT maintenance = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT,
        .swapchainMaintenance1 = VK_TRUE};
    VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &maintenance,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues,
        .enabledExtensionCount = 2,
        .ppEnabledExtensionNames = of_device};
    VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    uint32_t one = 1;

    OK(vkCreateInstance(&info, NULL, &instance));
    if (vkEnumeratePhysicalDevices(instance, &one, &physical) < 0 || one == 0)
        exit(1);
    OK(vkCreateDevice(physical, &device_info, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, &queue);
    OK(vkCreateSemaphore(device, &semaphore_info, NULL, &semaphore));
    OK(vkCreateFence(device, &fence_info, NULL, &fence));
    acquire = (PFN_vkAcquireNextImageKHR)vkGetDeviceProcAddr(device, "vkAcquireNextImageKHR");
    present = (PFN_vkQueuePresentKHR)vkGetDeviceProcAddr(device, "vkQueuePresentKHR");
    submit = (PFN_vkQueueSubmit)vkGetDeviceProcAddr(device, "vkQueueSubmit");
    give_back =
        (PFN_vkReleaseSwapchainImagesEXT)vkGetDeviceProcAddr(device, "vkReleaseSwapchainImagesEXT");
}

static void open_swapchain(void)
{
    PFN_vkCreateHeadlessSurfaceEXT create = (PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(
        instance, "vkCreateHeadlessSurfaceEXT");
    VkHeadlessSurfaceCreateInfoEXT headless = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .minImageCount = 4,
        .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
        .imageExtent = {width, height},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR};

    OK(create(instance, &headless, NULL, &surface));
    info.surface = surface;
    OK(vkCreateSwapchainKHR(device, &info, NULL, &swapchain));
}

static double acquires(VkFence with, int64_t *samples)
{
    for (unsigned i = 0; i < rounds; i++) {
        uint32_t index;
        int64_t begin = now(CLOCK_MONOTONIC);
        OK(acquire(device, swapchain, UINT64_MAX, VK_NULL_HANDLE, with, &index));
        samples[i] = now(CLOCK_MONOTONIC) - begin;
        VkReleaseSwapchainImagesInfoEXT back = {
            .sType = VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT,
            .swapchain = swapchain,
            .imageIndexCount = 1,
            .pImageIndices = &index};
        if (with) {
            OK(vkWaitForFences(device, 1, &with, VK_TRUE, UINT64_MAX));
            OK(vkResetFences(device, 1, &with));
        }
        OK(give_back(device, &back));
    }
    return median_us(samples, rounds);
}

static double empty_submits(int64_t *samples)
{
    for (unsigned i = 0; i < rounds; i++) {
        int64_t begin = now(CLOCK_MONOTONIC);
        OK(submit(queue, 0, NULL, fence));
        samples[i] = now(CLOCK_MONOTONIC) - begin;
        OK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
        OK(vkResetFences(device, 1, &fence));
    }
    return median_us(samples, rounds);
}

/* What a game's frame ends with. Its fence tells when the frame is over. */
static void draw(VkFence over)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore};

    OK(submit(queue, 1, &info, over));
}

/* n frames whose semaphore is waited for by a present, or by a submit. Answers the process's CPU of
 * one, in µs. */
static double frames(bool by_present, VkFence *over, int64_t *samples, unsigned n)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &semaphore,
        .pWaitDstStageMask = &stage};
    int64_t all = now(CLOCK_PROCESS_CPUTIME_ID);

    for (unsigned i = 0; i < n; i++) {
        VkFence *oldest = &over[i % IN_FLIGHT];
        uint32_t index = 0;
        VkPresentInfoKHR show = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
            .waitSemaphoreCount = 1,
            .pWaitSemaphores = &semaphore,
            .swapchainCount = 1,
            .pSwapchains = &swapchain,
            .pImageIndices = &index};
        OK(vkWaitForFences(device, 1, oldest, VK_TRUE, UINT64_MAX));
        OK(vkResetFences(device, 1, oldest));
        if (by_present)
            OK(acquire(device, swapchain, UINT64_MAX, VK_NULL_HANDLE, VK_NULL_HANDLE, &index));
        draw(*oldest);
        int64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
        if (by_present)
            OK(present(queue, &show));
        else
            OK(submit(queue, 1, &info, VK_NULL_HANDLE));
        samples[i] = now(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    return (double)(now(CLOCK_PROCESS_CPUTIME_ID) - all) / n / 1000;
}

static void presents(int64_t *presented, int64_t *submitted)
{
    VkFenceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    VkFence over[IN_FLIGHT];
    int64_t beyond[BATCHES];
    unsigned n = rounds / BATCHES;
    double cpu = 0;

    for (unsigned i = 0; i < IN_FLIGHT; i++)
        OK(vkCreateFence(device, &info, NULL, &over[i]));
    for (unsigned i = 0; i < BATCHES; i++) {
        double with = frames(true, over, presented + i * n, n);
        double without = frames(false, over, submitted + i * n, n);
        cpu += without / BATCHES;
        beyond[i] = (int64_t)((with - without) * 1000);
    }
    OK(vkDeviceWaitIdle(device));
    for (unsigned i = 0; i < IN_FLIGHT; i++)
        vkDestroyFence(device, over[i], NULL);
    double show = median_us(presented, n * BATCHES), bare = median_us(submitted, n * BATCHES);
    printf("present        %8.2f us CPU\n", show);
    printf("submit         %8.2f us CPU   present beyond it: %.2f us\n", bare, show - bare);
    double middle = median_us(beyond, BATCHES);
    printf("beyond         %8.2f us CPU of all threads (%.2f to %.2f), a frame without: %.2f us\n",
        middle, (double)beyond[BATCHES / 4] / 1000, (double)beyond[BATCHES * 3 / 4] / 1000, cpu);
}

static unsigned foreign_commands(void)
{
    static const char *const names[] = {"vkCmdDraw", "vkCmdDrawIndexed", "vkCmdDispatch",
        "vkCmdBindPipeline", "vkCmdBindDescriptorSets", "vkCmdPushConstants", "vkCmdSetViewport",
        "vkCmdPipelineBarrier", "vkCmdBeginRendering", "vkCmdEndRendering", "vkCmdCopyBuffer"};
    Dl_info library;
    unsigned foreign = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        PFN_vkVoidFunction f = vkGetDeviceProcAddr(device, names[i]);
        foreign += !f || !dladdr((void *)(uintptr_t)f, &library) ||
            strstr(library.dli_fname, "vulkan_turnpike");
    }
    return foreign;
}

int main(int argc, char **argv)
{
    double with, without;

    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    if (argc > 2 && sscanf(argv[2], "%ux%u", &width, &height) != 2)
        return 2;
    int64_t *samples = calloc(rounds, sizeof *samples), *others = calloc(rounds, sizeof *others);
    if (!samples || !others || rounds < BATCHES)
        return 2;
    open_device();
    open_swapchain();
    acquires(VK_NULL_HANDLE, samples);
    printf("acquire        %8.2f us\n", acquires(VK_NULL_HANDLE, samples));
    with = acquires(fence, samples);
    without = empty_submits(samples);
    printf("acquire+fence  %8.2f us   %.2f us of it an empty submit\n", with, without);
    presents(samples, others);
    printf("vkCmd*         %8u\n", foreign_commands());
    vkDestroySwapchainKHR(device, swapchain, NULL);
    vkDestroySurfaceKHR(instance, surface, NULL);
    vkDestroyFence(device, fence, NULL);
    vkDestroySemaphore(device, semaphore, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    free(samples);
    free(others);
    return 0;
}
