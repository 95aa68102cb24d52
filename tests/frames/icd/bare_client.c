/*
 * A game that needs no library but the C library's: it loads the ICD itself, as the loader would,
 * says which surfaces are to be had, and shows pictures.
 *   bare_client ICD headless|display FRAMES
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>

static PFN_vkGetInstanceProcAddr get;
static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;

#define CALL(name) ((PFN_vk##name)get(instance, "vk" #name))
#define MUST(call)                                                                                 \
    do {                                                                                           \
        VkResult result_ = (call);                                                                 \
        if (result_ < 0) {                                                                         \
            fprintf(stderr, "%s: %d\n", #call, result_);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void list_surfaces(void)
{
    VkExtensionProperties all[64];
    uint32_t n = 64;

    MUST(CALL(EnumerateInstanceExtensionProperties)(NULL, &n, all));
    for (uint32_t i = 0; i < n; i++) {
        size_t end = strlen(all[i].extensionName);
        if (end > 8 && !strcmp(all[i].extensionName + end - 8, "_surface"))
            printf("%s\n", all[i].extensionName);
    }
}

static void open_device(void)
{
    static const char *const of_instance[] = {VK_KHR_SURFACE_EXTENSION_NAME,
        VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME, VK_KHR_DISPLAY_EXTENSION_NAME};
    static const char *const of_device[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .enabledExtensionCount = 3,
        .ppEnabledExtensionNames = of_instance};
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkDeviceCreateInfo of = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = of_device};
    uint32_t one = 1;

    MUST(CALL(CreateInstance)(&info, NULL, &instance));
    MUST(CALL(EnumeratePhysicalDevices)(instance, &one, &physical));
    MUST(CALL(CreateDevice)(physical, &of, NULL, &device));
}

static VkSurfaceKHR headless(void)
{
    VkHeadlessSurfaceCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface;

    MUST(CALL(CreateHeadlessSurfaceEXT)(instance, &info, NULL, &surface));
    return surface;
}

static VkSurfaceKHR display(void)
{
    VkDisplayPropertiesKHR displays;
    VkDisplayModePropertiesKHR modes;
    uint32_t one = 1;
    VkSurfaceKHR surface;

    MUST(CALL(GetPhysicalDeviceDisplayPropertiesKHR)(physical, &one, &displays));
    if (one != 1)
        exit(3);
    MUST(CALL(GetDisplayModePropertiesKHR)(physical, displays.display, &one, &modes));
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .displayMode = modes.displayMode,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .imageExtent = modes.parameters.visibleRegion};
    MUST(CALL(CreateDisplayPlaneSurfaceKHR)(instance, &info, NULL, &surface));
    return surface;
}

static VkSwapchainKHR make_swapchain(VkSurfaceKHR surface)
{
    VkSurfaceCapabilitiesKHR caps;
    VkSurfaceFormatKHR format;
    VkSwapchainKHR swapchain;
    uint32_t one = 1;

    MUST(CALL(GetPhysicalDeviceSurfaceCapabilitiesKHR)(physical, surface, &caps));
    MUST(CALL(GetPhysicalDeviceSurfaceFormatsKHR)(physical, surface, &one, &format));
    if (caps.currentExtent.width == UINT32_MAX)
        caps.currentExtent = (VkExtent2D){640, 480};
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface,
        .minImageCount = caps.minImageCount,
        .imageFormat = format.format,
        .imageColorSpace = format.colorSpace,
        .imageExtent = caps.currentExtent,
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = caps.currentTransform,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    MUST(CALL(CreateSwapchainKHR)(device, &info, NULL, &swapchain));
    return swapchain;
}

static void show(VkSwapchainKHR swapchain, int frames)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    VkQueue queue;
    uint32_t index;

    MUST(CALL(CreateFence)(device, &info, NULL, &fence));
    CALL(GetDeviceQueue)(device, 0, 0, &queue);
    VkPresentInfoKHR picture = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .swapchainCount = 1,
        .pSwapchains = &swapchain,
        .pImageIndices = &index};
    for (int i = 0; i < frames; i++) {
        MUST(CALL(AcquireNextImageKHR)(
            device, swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, &index));
        MUST(CALL(WaitForFences)(device, 1, &fence, VK_TRUE, UINT64_MAX));
        MUST(CALL(ResetFences)(device, 1, &fence));
        MUST(CALL(QueuePresentKHR)(queue, &picture));
    }
    CALL(DestroyFence)(device, fence, NULL);
}

int main(int argc, char **argv)
{
    PFN_vkNegotiateLoaderICDInterfaceVersion negotiate;
    uint32_t version = 5;

    if (argc != 4)
        return 2;
    void *icd = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!icd) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&negotiate = dlsym(icd, "vk_icdNegotiateLoaderICDInterfaceVersion");
    *(void **)&get = dlsym(icd, "vk_icdGetInstanceProcAddr");
    MUST(negotiate(&version));
    list_surfaces();
    open_device();
    VkSurfaceKHR surface = strcmp(argv[2], "display") ? headless() : display();
    VkSwapchainKHR swapchain = make_swapchain(surface);
    show(swapchain, atoi(argv[3]));
    CALL(DestroySwapchainKHR)(device, swapchain, NULL);
    CALL(DestroySurfaceKHR)(instance, surface, NULL);
    CALL(DestroyDevice)(device, NULL);
    CALL(DestroyInstance)(instance, NULL);
    printf("%s frames\n", argv[3]);
    return 0;
}
