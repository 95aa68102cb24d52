/*
 * Loads a Vulkan driver by its path, as a loader would, and prints what it enumerates as JSON:
 *   {"entry": "vk_icd", "devices": [{"name", "driver_name", "driver_info", "api"}]}
 * Compiled for each target when it is needed; needs only the Vulkan headers.
 * Entry points: vk_icdGetInstanceProcAddr (LoaderDriverInterface.md), or Android's HMI
 * (hardware/hardware.h, hardware/hwvulkan.h).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

struct hw_device;

/* AOSP's hw_module_t and hw_device_t for 64 bits, as far as they are used. */
struct hw_module {
    uint32_t tag;
    uint16_t module_api_version, hal_api_version;
    const char *id, *name, *author;
    struct {
        int (*open)(const struct hw_module *module, const char *id, struct hw_device **device);
    } *methods;
};

struct hw_device {
    uint32_t tag, version;
    struct hw_module *module;
    uint64_t reserved[12];
    int (*close)(struct hw_device *device);
    /* hwvulkan_device_t goes on: */
    PFN_vkEnumerateInstanceExtensionProperties enumerate_extensions;
    PFN_vkCreateInstance create_instance;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
};

/* The driver looks for the machine's gralloc through libhardware; there is none here. Defined in the
 * program (linked with -rdynamic), it goes before a library's: a stub that answers 0 with no module
 * makes the driver crash. */
int hw_get_module(const char *id, const struct hw_module **module);
int hw_get_module(const char *id, const struct hw_module **module)
{
    (void)id;
    *module = NULL;
    return -ENOENT;
}

#define HW_MODULE_TAG 0x48574d54u /* 'HWMT' */

struct driver {
    const char *entry;
    PFN_vkCreateInstance create_instance;
    PFN_vkGetInstanceProcAddr get_proc;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why ? why : "failed");
    return 1;
}

static int fail_code(const char *what, int code)
{
    fprintf(stderr, "%s: failed with %d\n", what, code);
    return 1;
}

static int open_hmi(struct hw_module *hmi, struct driver *d)
{
    struct hw_device *device = NULL;
    if (hmi->tag != HW_MODULE_TAG || strcmp(hmi->id, "vulkan"))
        return fail("HMI", "is not that of a Vulkan module");
    int r = hmi->methods->open(hmi, "vk0", &device);
    if (r || !device)
        return fail_code("HMI open", r);
    d->entry = "HMI";
    d->create_instance = device->create_instance;
    d->get_proc = device->get_instance_proc_addr;
    return 0;
}

static int open_icd(void *library, PFN_vkGetInstanceProcAddr get_proc, struct driver *d)
{
    VkResult (*negotiate)(uint32_t *);
    *(void **)&negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    uint32_t version = 5;
    /* From version 7 on it may be reached through vk_icdGetInstanceProcAddr alone. */
    if (!negotiate)
        negotiate = (VkResult(*)(uint32_t *))get_proc(NULL,
                                                      "vk_icdNegotiateLoaderICDInterfaceVersion");
    if (negotiate && negotiate(&version) != VK_SUCCESS)
        return fail("vk_icdNegotiateLoaderICDInterfaceVersion", "refused version 5");
    d->entry = "vk_icd";
    d->get_proc = get_proc;
    d->create_instance = (PFN_vkCreateInstance)get_proc(NULL, "vkCreateInstance");
    return d->create_instance ? 0 : fail("vkCreateInstance", "is not there");
}

static int open_driver(const char *path, struct driver *d)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail("dlopen", dlerror());
    PFN_vkGetInstanceProcAddr get_proc;
    *(void **)&get_proc = dlsym(library, "vk_icdGetInstanceProcAddr");
    if (get_proc)
        return open_icd(library, get_proc, d);
    struct hw_module *hmi = dlsym(library, "HMI");
    return hmi ? open_hmi(hmi, d) : fail(path, "exports neither vk_icdGetInstanceProcAddr nor HMI");
}

static void print_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
            printf("\\u%04x", (unsigned char)*s);
        else
            putchar(*s);
    }
    putchar('"');
}

static void print_device(const struct driver *d, VkInstance instance, VkPhysicalDevice device)
{
    PFN_vkGetPhysicalDeviceProperties2 get =
        (PFN_vkGetPhysicalDeviceProperties2)d->get_proc(instance, "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 p = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    get(device, &p);
    printf("{\"name\": ");
    print_string(p.properties.deviceName);
    printf(", \"driver_name\": ");
    print_string(driver.driverName);
    printf(", \"driver_info\": ");
    print_string(driver.driverInfo);
    printf(", \"api\": %u}", p.properties.apiVersion);
}

int main(int argc, char **argv)
{
    struct driver d = {0};
    if (argc != 2)
        return fail("usage", "smoke-client DRIVER.so");
    if (open_driver(argv[1], &d))
        return 1;
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &app,
    };
    VkInstance instance;
    VkResult r = d.create_instance(&info, NULL, &instance);
    if (r != VK_SUCCESS)
        return fail_code("vkCreateInstance", r);
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)d.get_proc(instance, "vkEnumeratePhysicalDevices");
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    r = enumerate(instance, &count, devices);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE)
        return fail_code("vkEnumeratePhysicalDevices", r);
    printf("{\"entry\": \"%s\", \"devices\": [", d.entry);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            printf(", ");
        print_device(&d, instance, devices[i]);
    }
    printf("]}\n");
    PFN_vkDestroyInstance destroy =
        (PFN_vkDestroyInstance)d.get_proc(instance, "vkDestroyInstance");
    destroy(instance, NULL);
    return 0;
}
