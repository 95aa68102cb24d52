/*
 * A driver that is less than it was: lavapipe (LESS_OF names its library) without the extensions
 * whose names contain a word of LESS_EXTENSIONS, and whose device is lost after LESS_SUBMITS
 * submits.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default"))) VKAPI_ATTR

static PFN_vkGetInstanceProcAddr real;
static PFN_vkNegotiateLoaderICDInterfaceVersion real_negotiate;
static PFN_vkEnumerateDeviceExtensionProperties real_enumerate;
static PFN_vkGetDeviceProcAddr real_get_device;
static PFN_vkQueueSubmit real_submit;
static atomic_long submits;
static long lost_after;
static atomic_bool busy; /* there is one queue */

__attribute__((constructor)) static void load(void)
{
    const char *path = getenv("LESS_OF"), *n = getenv("LESS_SUBMITS");
    void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);

    lost_after = n ? atol(n) : 0;
    if (!library)
        abort();
    *(void **)&real = dlsym(library, "vk_icdGetInstanceProcAddr");
    *(void **)&real_negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
}

static bool is_away(const char *name)
{
    char words[256];
    const char *all = getenv("LESS_EXTENSIONS");

    strncpy(words, all ? all : "", sizeof words - 1);
    words[sizeof words - 1] = 0;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (strstr(name, word))
            return true;
    }
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(
    VkPhysicalDevice physical, const char *layer, uint32_t *count, VkExtensionProperties *out)
{
    VkExtensionProperties all[512];
    uint32_t n = 512, kept = 0;
    VkResult r = real_enumerate(physical, layer, &n, all);

    for (uint32_t i = 0; i < n; i++) {
        if (is_away(all[i].extensionName))
            continue;
        if (out && kept < *count)
            out[kept] = all[i];
        kept++;
    }
    if (out && kept > *count)
        r = VK_INCOMPLETE;
    else
        *count = kept;
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(
    VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
    if (lost_after > 0 && atomic_fetch_add(&submits, 1) >= lost_after)
        return VK_ERROR_DEVICE_LOST;
    if (atomic_exchange(&busy, true))
        abort();
    sched_yield();
    VkResult r = real_submit(queue, n, infos, fence);
    atomic_store(&busy, false);
    return r;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    PFN_vkVoidFunction f = real_get_device(device, name);

    if (strcmp(name, "vkQueueSubmit") != 0)
        return f;
    real_submit = (PFN_vkQueueSubmit)f;
    return (PFN_vkVoidFunction)submit;
}

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(
    VkInstance instance, const char *name);

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    return real_negotiate(version);
}

EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(
    VkInstance instance, const char *name)
{
    PFN_vkVoidFunction f = real(instance, name);

    if (f && !strcmp(name, "vkEnumerateDeviceExtensionProperties")) {
        real_enumerate = (PFN_vkEnumerateDeviceExtensionProperties)f;
        return (PFN_vkVoidFunction)enumerate;
    }
    if (f && !strcmp(name, "vkGetDeviceProcAddr")) {
        real_get_device = (PFN_vkGetDeviceProcAddr)f;
        return (PFN_vkVoidFunction)get_device;
    }
    return f;
}
