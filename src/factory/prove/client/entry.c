/*
 * Entry points: vk_icdGetInstanceProcAddr (the loader's LoaderDriverInterface.md), or Android's HMI
 * (hardware/hardware.h, hardware/hwvulkan.h).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "entry.h"

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

static int open_hmi(struct hw_module *hmi, struct tp_entry *entry, char *why, size_t size)
{
    struct hw_device *device = NULL;
    if (hmi->tag != HW_MODULE_TAG || strcmp(hmi->id, "vulkan")) {
        snprintf(why, size, "HMI is not that of a Vulkan module");
        return -1;
    }
    int r = hmi->methods->open(hmi, "vk0", &device);
    if (r || !device) {
        snprintf(why, size, "HMI's open failed with %d", r);
        return -1;
    }
    entry->name = "HMI";
    entry->create_instance = device->create_instance;
    entry->get_proc = device->get_instance_proc_addr;
    return 0;
}

static int open_icd(PFN_vkGetInstanceProcAddr get_proc, struct tp_entry *entry, char *why,
                    size_t size)
{
    VkResult (*negotiate)(uint32_t *);
    *(void **)&negotiate = dlsym(entry->library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    uint32_t version = 5;
    /* From version 7 on it may be reached through vk_icdGetInstanceProcAddr alone. */
    if (!negotiate)
        negotiate = (VkResult(*)(uint32_t *))get_proc(NULL,
                                                      "vk_icdNegotiateLoaderICDInterfaceVersion");
    if (negotiate && negotiate(&version) != VK_SUCCESS) {
        snprintf(why, size, "vk_icdNegotiateLoaderICDInterfaceVersion refused version 5");
        return -1;
    }
    entry->name = "vk_icd";
    entry->get_proc = get_proc;
    entry->create_instance = (PFN_vkCreateInstance)get_proc(NULL, "vkCreateInstance");
    if (entry->create_instance)
        return 0;
    snprintf(why, size, "vkCreateInstance is not there");
    return -1;
}

static int enter(struct tp_entry *entry, char *why, size_t size)
{
    PFN_vkGetInstanceProcAddr get_proc;
    *(void **)&get_proc = dlsym(entry->library, "vk_icdGetInstanceProcAddr");
    if (get_proc)
        return open_icd(get_proc, entry, why, size);
    struct hw_module *hmi = dlsym(entry->library, "HMI");
    if (hmi)
        return open_hmi(hmi, entry, why, size);
    snprintf(why, size, "exports neither vk_icdGetInstanceProcAddr nor HMI");
    return -1;
}

int tp_entry_open(const char *path, struct tp_entry *entry, char *why, size_t size)
{
    memset(entry, 0, sizeof *entry);
    entry->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!entry->library) {
        const char *said = dlerror();
        snprintf(why, size, "dlopen: %s", said ? said : "failed");
        return -1;
    }
    if (!enter(entry, why, size))
        return 0;
    dlclose(entry->library);
    entry->library = NULL;
    return -1;
}
