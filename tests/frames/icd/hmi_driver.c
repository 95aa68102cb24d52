/*
 * lavapipe (LESS_OF names its library) as Android's drivers are, and those of Adrenotools: nothing
 * of the desktop's is exported, but an HMI (hardware/hardware.h, hardware/hwvulkan.h), whose device
 * is opened once and closed again; HMI_LOG gets a letter for each.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

struct module;

struct methods {
    int (*open)(const struct module *m, const char *id, void **out);
};

struct module {
    uint32_t tag;
    uint16_t module_version, hal_version;
    const char *id, *name, *author;
    struct methods *methods;
    void *library;
#ifdef __LP64__
    uint64_t reserved[32 - 7];
#else
    uint32_t reserved[32 - 7];
#endif
};

struct device {
    uint32_t tag, version;
    const struct module *module;
#ifdef __LP64__
    uint64_t reserved[12];
#else
    uint32_t reserved[12];
#endif
    int (*close)(struct device *d);
    VKAPI_ATTR VkResult(VKAPI_CALL *enumerate)(
        const char *layer, uint32_t *count, VkExtensionProperties *out);
    VKAPI_ATTR VkResult(VKAPI_CALL *create)(
        const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *out);
    VKAPI_ATTR PFN_vkVoidFunction(VKAPI_CALL *get)(VkInstance instance, const char *name);
};

static void say(char c)
{
    const char *path = getenv("HMI_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;

    if (fd >= 0 && write(fd, &c, 1) == 1)
        close(fd);
}

static int close_device(struct device *d)
{
    say('c');
    free(d);
    return 0;
}

static int open_device(const struct module *m, const char *id, void **out)
{
    const char *path = getenv("LESS_OF");
    void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
    PFN_vkNegotiateLoaderICDInterfaceVersion negotiate;
    struct device *d = calloc(1, sizeof *d);
    uint32_t version = 5;

    if (strcmp(id, "vk0") != 0 || !library || !d)
        abort();
    *(void **)&negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    *(void **)&d->get = dlsym(library, "vk_icdGetInstanceProcAddr");
    if (negotiate(&version) != VK_SUCCESS)
        abort();
    d->tag = 0x48574454; /* HWDT */
    d->module = m;
    d->close = close_device;
    d->enumerate = (PFN_vkEnumerateInstanceExtensionProperties)d->get(
        NULL, "vkEnumerateInstanceExtensionProperties");
    d->create = (PFN_vkCreateInstance)d->get(NULL, "vkCreateInstance");
    *out = d;
    say('o');
    return 0;
}

static struct methods methods = {open_device};

__attribute__((visibility("default"))) extern const struct module HMI;
const struct module HMI = {
    .tag = 0x48574d54, /* HWMT */
    .module_version = 1,
    .id = "vulkan",
    .name = "lavapipe, Android's way",
    .methods = &methods,
};
