/* vkCreateInstance and what is asked before there is an instance. */
#include <stdlib.h>
#include <string.h>

#include "frames/icd/driver.h"
#include "frames/icd/enumerate.h"
#include "frames/icd/internal.h"
#include "frames/icd/log.h"
#include "frames/icd/map.h"

static struct tp_map instances = TP_MAP_INIT;

struct tp_icd_instance *tp_icd_instance_get(VkInstance handle)
{
    return tp_map_get(&instances, handle);
}

/* The driver's instance extensions, the caller's to free. */
static VkResult driver_extensions(
    const struct tp_icd_driver *d, VkExtensionProperties **out, uint32_t *n)
{
    VkResult r;

    *out = NULL;
    do {
        free(*out);
        *out = NULL;
        r = d->enumerate_extensions(NULL, n, NULL);
        if (r != VK_SUCCESS || *n == 0)
            return r;
        *out = calloc(*n, sizeof **out);
        r = *out ? d->enumerate_extensions(NULL, n, *out) : VK_ERROR_OUT_OF_HOST_MEMORY;
    } while (r == VK_INCOMPLETE);
    if (r != VK_SUCCESS) {
        free(*out);
        *out = NULL;
    }
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(
    const char *layer, uint32_t *count, VkExtensionProperties *out)
{
    const struct tp_icd_driver *d = tp_icd_driver_get();
    VkExtensionProperties *theirs;
    uint32_t n = 0;

    if (!d)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    if (layer)
        return VK_ERROR_LAYER_NOT_PRESENT;
    VkResult r = driver_extensions(d, &theirs, &n);
    if (r != VK_SUCCESS)
        return r;
    r = tp_icd_merge_extensions(theirs, n, tp_icd_instance_offers(), count, out);
    free(theirs);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_layers(uint32_t *count, VkLayerProperties *out)
{
    (void)out;
    *count = 0;
    return VK_SUCCESS;
}

static uint32_t driver_version(const struct tp_icd_driver *d)
{
    uint32_t version = VK_API_VERSION_1_0;

    if (d->enumerate_version)
        d->enumerate_version(&version);
    return version;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_version(uint32_t *version)
{
    const struct tp_icd_driver *d = tp_icd_driver_get();

    if (!d)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    *version = driver_version(d);
    return VK_SUCCESS;
}

static bool find_functions(struct tp_icd_instance *i, const struct tp_icd_driver *d)
{
    bool all = true;

#define FIND(name)                                                                                 \
    i->vk.name = (PFN_vk##name)d->get(i->handle, "vk" #name);                                      \
    all = all && i->vk.name;
#define FIND_MAYBE(name) i->vk.name = (PFN_vk##name)d->get(i->handle, "vk" #name);
#define FIND_KHR(name)                                                                             \
    if (!i->vk.name)                                                                               \
        i->vk.name = (PFN_vk##name)d->get(i->handle, "vk" #name "KHR");
    TP_ICD_INSTANCE_FUNCTIONS(FIND)
    TP_ICD_INSTANCE_FUNCTIONS_MAYBE(FIND_MAYBE)
    TP_ICD_INSTANCE_FUNCTIONS_MAYBE(FIND_KHR)
    return all;
}

/* The list of extensions as the driver is to get it: without ours, with what we need. *enabled:
 * those of ours. Caller frees. */
static VkResult translate(const VkInstanceCreateInfo *info, const struct tp_icd_driver *d,
    const char ***out, uint32_t *n_out, uint64_t *enabled)
{
    VkExtensionProperties *theirs = NULL;
    uint32_t n = 0;
    VkResult r = driver_extensions(d, &theirs, &n);

    if (r == VK_SUCCESS)
        r = tp_icd_translate_extensions(info->ppEnabledExtensionNames, info->enabledExtensionCount,
            theirs, n, tp_icd_instance_offers(), 0, TP_NEED_N_INSTANCE, out, n_out, enabled);
    free(theirs);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(
    const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator, VkInstance *out)
{
    const struct tp_icd_driver *d = tp_icd_driver_get();
    VkInstanceCreateInfo changed = *info;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    const char **names = NULL;

    if (!d)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    struct tp_icd_instance *i = calloc(1, sizeof *i);
    if (!i)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&i->lock, NULL);
    VkResult r = translate(info, d, &names, &changed.enabledExtensionCount, &i->enabled);
    if (r != VK_SUCCESS)
        goto fail;
    changed.ppEnabledExtensionNames = names;
    if (info->pApplicationInfo)
        app = *info->pApplicationInfo;
    if (app.apiVersion == 0)
        app.apiVersion = VK_API_VERSION_1_0;
    /* From interface 5 on a driver takes any version; a driver of before does not, and refuses. */
    if (!d->enumerate_version)
        app.apiVersion = VK_API_VERSION_1_0;
    changed.pApplicationInfo = &app;
    i->is_gamescope = app.pApplicationName && !strcmp(app.pApplicationName, "gamescope");
    i->api_version = app.apiVersion;
    if (i->api_version > driver_version(d))
        i->api_version = driver_version(d);
    r = d->create_instance(&changed, allocator, &i->handle);
    if (r != VK_SUCCESS)
        goto fail;
    if (!find_functions(i, d)) {
        tp_icd_log("the driver lacks functions of Vulkan 1.0");
        r = VK_ERROR_INCOMPATIBLE_DRIVER;
    } else if (tp_map_put(&instances, i->handle, i)) {
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (r != VK_SUCCESS) {
        if (i->vk.DestroyInstance)
            i->vk.DestroyInstance(i->handle, allocator);
        goto fail;
    }
    *out = i->handle;
    free(names);
    return VK_SUCCESS;

fail:
    free(names);
    pthread_mutex_destroy(&i->lock);
    free(i);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(
    VkInstance handle, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_instance *i = tp_map_remove(&instances, handle);

    if (!i)
        return;
    tp_icd_instance_finish(i);
    i->vk.DestroyInstance(handle, allocator);
    pthread_mutex_destroy(&i->lock);
    free(i);
}

__attribute__((destructor)) static void finish(void)
{
    tp_map_finish(&instances);
}

const struct tp_icd_entry tp_icd_instance_entries[] = {
    TP_ENTRY("EnumerateInstanceExtensionProperties", enumerate_extensions, TP_LEVEL_GLOBAL, 0),
    TP_ENTRY("EnumerateInstanceLayerProperties", enumerate_layers, TP_LEVEL_GLOBAL, 0),
    TP_ENTRY("EnumerateInstanceVersion", enumerate_version, TP_LEVEL_GLOBAL, 0),
    TP_ENTRY("CreateInstance", create_instance, TP_LEVEL_GLOBAL, 0),
    TP_ENTRY("DestroyInstance", destroy_instance, TP_LEVEL_INSTANCE, 0),
    {0},
};
