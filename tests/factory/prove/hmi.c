/* A driver that is entered as Android's are, by HMI: the one that TP_HMI_DRIVER names, which exports
 * vk_icdGetInstanceProcAddr. With TP_HMI_SPOILED its instances do not begin with the loader's word. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include <vulkan/vulkan_core.h>

struct hmi_device {
    uint32_t tag, version;
    void *module;
    uint64_t reserved[12];
    int (*close)(struct hmi_device *device);
    PFN_vkEnumerateInstanceExtensionProperties enumerate_extensions;
    PFN_vkCreateInstance create_instance;
    PFN_vkGetInstanceProcAddr get_proc;
};

static PFN_vkCreateInstance create;

static VkResult VKAPI_CALL create_spoiled(const VkInstanceCreateInfo *info,
                                          const VkAllocationCallbacks *allocator, VkInstance *out)
{
    VkResult result = create(info, allocator, out);
    if (result == VK_SUCCESS)
        *(void **)*out = NULL;
    return result;
}

static int open_device(const void *module, const char *id, struct hmi_device **out)
{
    static struct hmi_device device;
    const char *driver = getenv("TP_HMI_DRIVER");
    void *library = driver ? dlopen(driver, RTLD_NOW | RTLD_LOCAL) : NULL;
    (void)module;
    (void)id;
    if (!library)
        return -1;
    *(void **)&device.get_proc = dlsym(library, "vk_icdGetInstanceProcAddr");
    create = (PFN_vkCreateInstance)device.get_proc(NULL, "vkCreateInstance");
    device.create_instance = getenv("TP_HMI_SPOILED") ? create_spoiled : create;
    *out = &device;
    return 0;
}

static struct {
    int (*open)(const void *module, const char *id, struct hmi_device **out);
} methods = {open_device};

extern const struct hmi_module {
    uint32_t tag;
    uint16_t module_api_version, hal_api_version;
    const char *id, *name, *author;
    void *methods;
} HMI;
const struct hmi_module HMI = {
    .tag = 0x48574d54, .id = "vulkan", .name = "", .author = "", .methods = &methods};
