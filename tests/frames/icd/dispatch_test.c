/*
 * The library as the loader uses it, without a loader: interface versions, names to functions, and
 * that what is not intercepted is the driver's own.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VK_NO_PROTOTYPES
#include <cmocka.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

static const char *icd_path, *driver_path;

struct library {
    void *handle;
    PFN_vkNegotiateLoaderICDInterfaceVersion negotiate;
    PFN_vkGetInstanceProcAddr get, get_physical;
};

static struct library open_library(const char *path)
{
    struct library l = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};

    if (!l.handle)
        fail_msg("%s", dlerror());
    *(void **)&l.negotiate = dlsym(l.handle, "vk_icdNegotiateLoaderICDInterfaceVersion");
    *(void **)&l.get = dlsym(l.handle, "vk_icdGetInstanceProcAddr");
    *(void **)&l.get_physical = dlsym(l.handle, "vk_icdGetPhysicalDeviceProcAddr");
    return l;
}

static void interface_versions_2_to_7_are_spoken(void **state)
{
    struct library l = open_library(icd_path);
    uint32_t version;

    (void)state;
    for (uint32_t v = 0; v < 2; v++) {
        version = v;
        assert_int_equal(l.negotiate(&version), VK_ERROR_INCOMPATIBLE_DRIVER);
    }
    for (uint32_t v = 2; v <= 7; v++) {
        version = v;
        assert_int_equal(l.negotiate(&version), VK_SUCCESS);
        assert_int_equal(version, v);
    }
    version = 99;
    assert_int_equal(l.negotiate(&version), VK_SUCCESS);
    assert_int_equal(version, 7);
    dlclose(l.handle);
}

struct device {
    struct library library;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    PFN_vkGetDeviceProcAddr get;
};

#define INSTANCE(d, name) ((PFN_##name)(d)->library.get((d)->instance, #name))

static void open_device(
    struct device *d, uint32_t api_version, uint32_t n, const char *const *extensions)
{
    static const char *const surface[] = {VK_KHR_SURFACE_EXTENSION_NAME};
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = api_version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = api_version ? &app : NULL,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = surface};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = n,
        .ppEnabledExtensionNames = extensions};
    uint32_t version = 7, one = 1;

    *d = (struct device){.library = open_library(icd_path)};
    assert_int_equal(d->library.negotiate(&version), VK_SUCCESS);
    assert_int_equal(INSTANCE(d, vkCreateInstance)(&info, NULL, &d->instance), VK_SUCCESS);
    assert_true(INSTANCE(d, vkEnumeratePhysicalDevices)(d->instance, &one, &d->physical) >= 0);
    assert_int_equal(
        INSTANCE(d, vkCreateDevice)(d->physical, &device, NULL, &d->device), VK_SUCCESS);
    d->get = INSTANCE(d, vkGetDeviceProcAddr);
}

static void close_device(struct device *d)
{
    ((PFN_vkDestroyDevice)d->get(d->device, "vkDestroyDevice"))(d->device, NULL);
    INSTANCE(d, vkDestroyInstance)(d->instance, NULL);
    dlclose(d->library.handle);
}

static void what_is_recorded_goes_to_the_driver_itself(void **state)
{
    static const char *const swapchain[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    static const char *const names[] = {"vkCmdDraw", "vkCmdDrawIndexed", "vkCmdDispatch",
        "vkCmdBindPipeline", "vkCmdBindDescriptorSets", "vkCmdCopyImage", "vkCmdClearColorImage",
        "vkCmdPipelineBarrier", "vkCmdPipelineBarrier2", "vkCmdBeginRenderPass",
        "vkCmdBeginRendering", "vkCmdExecuteCommands", "vkCmdPushConstants", "vkCmdSetViewport",
        "vkBeginCommandBuffer", "vkEndCommandBuffer", "vkAllocateCommandBuffers",
        "vkUpdateDescriptorSets", "vkCreateGraphicsPipelines", "vkAllocateMemory", "vkMapMemory",
        "vkCreateBuffer", "vkWaitForFences", "vkResetFences", "vkWaitSemaphores",
        "vkGetSemaphoreCounterValue"};
    struct library driver = open_library(driver_path);
    struct device d;

    (void)state;
    for (uint32_t with = 0; with < 2; with++) {
        open_device(&d, VK_API_VERSION_1_3, with, swapchain);
        PFN_vkGetDeviceProcAddr theirs =
            (PFN_vkGetDeviceProcAddr)driver.get(d.instance, "vkGetDeviceProcAddr");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            PFN_vkVoidFunction f = d.get(d.device, names[i]);
            assert_non_null(f);
            assert_true(f == theirs(d.device, names[i]));
        }
        /* Without a swapchain there is nothing to intercept in submits and images. */
        bool same = d.get(d.device, "vkQueueSubmit") == theirs(d.device, "vkQueueSubmit") &&
            d.get(d.device, "vkCreateImage") == theirs(d.device, "vkCreateImage");
        assert_true(
            with ? d.get(d.device, "vkCreateImage") != theirs(d.device, "vkCreateImage") : same);
        close_device(&d);
    }
    dlclose(driver.handle);
}

static void functions_of_extensions_come_with_them(void **state)
{
    static const char *const some[] = {
        VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_KHR_PRESENT_WAIT_EXTENSION_NAME};
    struct device d;

    (void)state;
    open_device(&d, VK_API_VERSION_1_1, 0, NULL);
    assert_null(d.get(d.device, "vkCreateSwapchainKHR"));
    assert_null(d.get(d.device, "vkWaitForPresentKHR"));
    close_device(&d);
    open_device(&d, VK_API_VERSION_1_1, 2, some);
    assert_non_null(d.get(d.device, "vkCreateSwapchainKHR"));
    assert_non_null(d.get(d.device, "vkWaitForPresentKHR"));
    assert_null(d.get(d.device, "vkGetPastPresentationTimingGOOGLE"));
    assert_null(d.get(d.device, "vkCreateInstance"));
    assert_null(d.get(d.device, "vkNoSuchThing"));
    close_device(&d);
}

static void only_what_takes_a_physical_device_is_told_as_such(void **state)
{
    struct device d;

    (void)state;
    open_device(&d, VK_API_VERSION_1_3, 0, NULL);
    static const char *const physical[] = {"vkGetPhysicalDeviceSurfaceSupportKHR",
        "vkGetPhysicalDeviceSurfaceFormats2KHR", "vkGetPhysicalDeviceFeatures2",
        "vkEnumerateDeviceExtensionProperties", "vkGetPhysicalDeviceMemoryProperties"};
    static const char *const other[] = {"vkCreateInstance", "vkDestroySurfaceKHR",
        "vkCreateSwapchainKHR", "vkQueuePresentKHR", "vkCmdDraw", "vkNoSuchThing"};
    for (size_t i = 0; i < sizeof physical / sizeof *physical; i++)
        assert_non_null(d.library.get_physical(d.instance, physical[i]));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_null(d.library.get_physical(d.instance, other[i]));
    /* From interface 7 on the exported functions are asked for by name. */
    assert_non_null(d.library.get(NULL, "vk_icdNegotiateLoaderICDInterfaceVersion"));
    assert_non_null(d.library.get(NULL, "vk_icdGetPhysicalDeviceProcAddr"));
    /* Without an instance there are only the functions that make one. */
    assert_non_null(d.library.get(NULL, "vkCreateInstance"));
    assert_non_null(d.library.get(NULL, "vkEnumerateInstanceExtensionProperties"));
    assert_non_null(d.library.get(NULL, "vkEnumerateInstanceVersion"));
    assert_null(d.library.get(NULL, "vkDestroyInstance"));
    assert_null(d.library.get(NULL, "vkCmdDraw"));
    close_device(&d);
}

static void applications_of_every_version_get_a_device(void **state)
{
    static const uint32_t versions[] = {0, VK_API_VERSION_1_0, VK_API_VERSION_1_1,
        VK_API_VERSION_1_2, VK_API_VERSION_1_3, VK_MAKE_API_VERSION(0, 1, 9, 0)};
    static const char *const swapchain[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    struct device d;

    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        open_device(&d, versions[i], 1, swapchain);
        close_device(&d);
    }
}

static void unknown_and_foreign_extensions_are_refused(void **state)
{
    static const char *const wrong[] = {
        "VK_TURNPIKE_no_such", "VK_ANDROID_native_buffer", "VK_KHR_shared_presentable_image"};
    static const char *const wrong_instance[] = {"VK_KHR_win32_surface"};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .enabledExtensionCount = 1,
        .ppEnabledExtensionNames = wrong_instance};
    VkInstance none;
    VkDevice no_device;
    struct device d;

    (void)state;
    open_device(&d, VK_API_VERSION_1_3, 0, NULL);
    assert_int_equal(
        INSTANCE(&d, vkCreateInstance)(&instance, NULL, &none), VK_ERROR_EXTENSION_NOT_PRESENT);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
            .queueCreateInfoCount = 1,
            .pQueueCreateInfos = &queue,
            .enabledExtensionCount = 1,
            .ppEnabledExtensionNames = &wrong[i]};
        assert_int_equal(INSTANCE(&d, vkCreateDevice)(d.physical, &device, NULL, &no_device),
            VK_ERROR_EXTENSION_NOT_PRESENT);
    }
    close_device(&d);
}

static void extensions_are_listed_once_and_in_parts(void **state)
{
    VkExtensionProperties all[512], part[512];
    uint32_t n = 512, few = 10, count;
    struct device d;

    (void)state;
    open_device(&d, VK_API_VERSION_1_3, 0, NULL);
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        INSTANCE(&d, vkEnumerateDeviceExtensionProperties);
    assert_int_equal(enumerate(d.physical, NULL, &count, NULL), VK_SUCCESS);
    assert_int_equal(enumerate(d.physical, NULL, &n, all), VK_SUCCESS);
    assert_int_equal(n, count);
    bool swapchain = false;
    for (uint32_t i = 0; i < n; i++) {
        swapchain = swapchain || !strcmp(all[i].extensionName, VK_KHR_SWAPCHAIN_EXTENSION_NAME);
        for (uint32_t k = i + 1; k < n; k++)
            assert_string_not_equal(all[i].extensionName, all[k].extensionName);
    }
    assert_true(swapchain);
    assert_int_equal(enumerate(d.physical, NULL, &few, part), VK_INCOMPLETE);
    assert_int_equal(few, 10);
    assert_memory_equal(all, part, 10 * sizeof *all);
    close_device(&d);
}

/* What a program asks for may lie in memory that nobody can write. */
static void chains_of_features_are_not_written_to(void **state)
{
    struct chain {
        VkPhysicalDevicePresentIdFeaturesKHR id;
        VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
        VkPhysicalDevicePresentWaitFeaturesKHR wait;
    };
    static const char *const names[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME,
        VK_KHR_PRESENT_ID_EXTENSION_NAME, VK_KHR_PRESENT_WAIT_EXTENSION_NAME};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct chain *c = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct device d;

    (void)state;
    assert_true(c != MAP_FAILED);
    open_device(&d, VK_API_VERSION_1_2, 0, NULL);
    *c = (struct chain){
        .id = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR, &c->timeline, VK_TRUE},
        .timeline = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, &c->wait,
            VK_TRUE},
        .wait = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR, NULL, VK_TRUE},
    };
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = c,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = 3,
        .ppEnabledExtensionNames = names};
    VkDevice device;
    assert_int_equal(mprotect(c, page, PROT_READ), 0);
    PFN_vkCreateDevice create = INSTANCE(&d, vkCreateDevice);
    assert_int_equal(create(d.physical, &info, NULL, &device), VK_SUCCESS);
    ((PFN_vkDestroyDevice)d.get(device, "vkDestroyDevice"))(device, NULL);
    munmap(c, page);
    close_device(&d);
}

/* The card of the server, for compositors that look for one. */
static void a_device_of_the_servers_is_shown_where_there_is_a_server(void **state)
{
    VkPhysicalDeviceDrmPropertiesEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &drm};
    static const char *const names[] = {VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME};
    struct device d;

    (void)state;
    open_device(&d, VK_API_VERSION_1_3, 1, names);
    INSTANCE(&d, vkGetPhysicalDeviceProperties2)(d.physical, &properties);
    assert_true(drm.hasPrimary);
    assert_int_equal(drm.primaryMajor, 226);
    assert_int_equal(drm.primaryMinor, 0);
    assert_false(drm.hasRender);
    close_device(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interface_versions_2_to_7_are_spoken),
        cmocka_unit_test(what_is_recorded_goes_to_the_driver_itself),
        cmocka_unit_test(functions_of_extensions_come_with_them),
        cmocka_unit_test(only_what_takes_a_physical_device_is_told_as_such),
        cmocka_unit_test(applications_of_every_version_get_a_device),
        cmocka_unit_test(unknown_and_foreign_extensions_are_refused),
        cmocka_unit_test(extensions_are_listed_once_and_in_parts),
        cmocka_unit_test(chains_of_features_are_not_written_to),
        cmocka_unit_test(a_device_of_the_servers_is_shown_where_there_is_a_server),
    };

    if (argc < 3) {
        fprintf(stderr, "usage: dispatch_test ICD DRIVER [AS]\n");
        return 2;
    }
    icd_path = argv[1];
    driver_path = argv[2];
    /* AS: by what the ICD is to reach it. */
    setenv("TURNPIKE_DRIVER", argc > 3 ? argv[3] : driver_path, 1);
    setenv("TURNPIKE_SOCKET", "@nobody-listens-here", 1); /* read once in a process */
    /* So that a leak checker can still say at the end which leaks are the driver's own. */
    dlopen(driver_path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
