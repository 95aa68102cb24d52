/* Physical devices: who they are, and what they are asked about extensions, features and
 * properties. */
#include <stdlib.h>
#include <string.h>

#include "frames/icd/display.h"
#include "frames/icd/dmabuf.h"
#include "frames/icd/enumerate.h"
#include "frames/icd/internal.h"
#include "frames/icd/map.h"
#include "frames/icd/release.h"
#include "frames/icd/settings.h"

/* The server's card (Documentation/admin-guide/devices.txt: 226, DRM; 0: card0). */
enum { DRM_MAJOR = 226, DRM_MINOR = 0, DRM_RENDER_MINOR = 128 };

static struct tp_map physicals = TP_MAP_INIT;

struct tp_icd_physical *tp_icd_physical_get(VkPhysicalDevice handle)
{
    return tp_map_get(&physicals, handle);
}

VkResult tp_icd_driver_device_extensions(
    struct tp_icd_instance *i, VkPhysicalDevice handle, VkExtensionProperties **out, uint32_t *n)
{
    VkResult r;

    *out = NULL;
    do {
        free(*out);
        *out = NULL;
        r = i->vk.EnumerateDeviceExtensionProperties(handle, NULL, n, NULL);
        if (r != VK_SUCCESS || *n == 0)
            return r;
        *out = calloc(*n, sizeof **out);
        r = *out ? i->vk.EnumerateDeviceExtensionProperties(handle, NULL, n, *out)
                 : VK_ERROR_OUT_OF_HOST_MEMORY;
    } while (r == VK_INCOMPLETE);
    if (r != VK_SUCCESS) {
        free(*out);
        *out = NULL;
    }
    return r;
}

static bool driver_has(const struct tp_icd_physical *p, enum tp_icd_need need)
{
    return p->driver_has & TP_BIT(need);
}

static void ask_sync(struct tp_icd_physical *p)
{
    VkPhysicalDeviceExternalSemaphoreInfo semaphore = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
    };
    VkExternalSemaphoreProperties sp = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    VkPhysicalDeviceExternalFenceInfo fence = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
    };
    VkExternalFenceProperties fp = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};

    if (driver_has(p, TP_NEED_SEMAPHORE_FD) &&
        p->instance->vk.GetPhysicalDeviceExternalSemaphoreProperties) {
        p->instance->vk.GetPhysicalDeviceExternalSemaphoreProperties(p->handle, &semaphore, &sp);
        p->import_semaphore_sync_fd =
            sp.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
        p->export_semaphore_sync_fd =
            sp.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT;
    }
    if (driver_has(p, TP_NEED_FENCE_FD) &&
        p->instance->vk.GetPhysicalDeviceExternalFenceProperties) {
        p->instance->vk.GetPhysicalDeviceExternalFenceProperties(p->handle, &fence, &fp);
        p->import_fence_sync_fd =
            fp.externalFenceFeatures & VK_EXTERNAL_FENCE_FEATURE_IMPORTABLE_BIT;
    }
}

static void ask_host_memory(struct tp_icd_physical *p)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};

    if (!driver_has(p, TP_NEED_MEMORY_HOST) || !p->instance->vk.GetPhysicalDeviceProperties2)
        return;
    p->instance->vk.GetPhysicalDeviceProperties2(p->handle, &all);
    p->host_alignment = host.minImportedHostPointerAlignment;
}

static VkResult ask(struct tp_icd_physical *p)
{
    VkExtensionProperties *theirs;
    VkPhysicalDeviceProperties properties;
    bool drm = false;
    uint32_t n = 0;
    VkResult r = tp_icd_driver_device_extensions(p->instance, p->handle, &theirs, &n);

    if (r != VK_SUCCESS)
        return r;
    for (uint32_t i = 0; i < n; i++) {
        int need = tp_icd_need_find(theirs[i].extensionName);
        if (need >= 0)
            p->driver_has |= TP_BIT(need);
        drm = drm || !strcmp(theirs[i].extensionName, VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME);
    }
    free(theirs);
    p->instance->vk.GetPhysicalDeviceProperties(p->handle, &properties);
    p->api_version = properties.apiVersion < p->instance->api_version ? properties.apiVersion
                                                                      : p->instance->api_version;
    p->offers = TP_BIT(TP_EXT_SWAPCHAIN) | TP_BIT(TP_EXT_MUTABLE_FORMAT) |
        TP_BIT(TP_EXT_SWAPCHAIN_MAINTENANCE1) | TP_BIT(TP_EXT_PRESENT_ID) |
        TP_BIT(TP_EXT_PRESENT_WAIT) | TP_BIT(TP_EXT_INCREMENTAL_PRESENT) |
        TP_BIT(TP_EXT_DISPLAY_TIMING) | TP_BIT(TP_EXT_HDR_METADATA) | TP_BIT(TP_EXT_LATEST_READY);
#ifdef TP_ICD_DISPLAY
    p->offers |= TP_BIT(TP_EXT_DISPLAY_CONTROL);
#endif
    if (!drm && tp_icd_settings()->server_bytes > 0)
        p->offers |= TP_BIT(TP_EXT_DRM);
    ask_sync(p);
    ask_host_memory(p);
    if (tp_icd_settings()->render_node)
        p->offers |= tp_icd_dmabuf_offers(p, &properties);
    return VK_SUCCESS;
}

/* With the instance's lock held. */
static VkResult know(struct tp_icd_instance *i, VkPhysicalDevice handle)
{
    if (tp_icd_physical_get(handle))
        return VK_SUCCESS;
    struct tp_icd_physical *p = calloc(1, sizeof *p);
    if (!p)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    p->handle = handle;
    p->instance = i;
    VkResult r = ask(p);
    if (r == VK_SUCCESS && tp_map_put(&physicals, handle, p))
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (r != VK_SUCCESS) {
        free(p);
        return r;
    }
    p->next = i->physicals;
    i->physicals = p;
    return VK_SUCCESS;
}

void tp_icd_instance_finish(struct tp_icd_instance *i)
{
    for (struct tp_icd_physical *p = i->physicals, *next; p; p = next) {
        next = p->next;
        tp_map_remove(&physicals, p->handle);
        free(p);
    }
    tp_icd_displays_finish(i->displays);
    tp_scanout_destroy(i->scanout);
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_devices(
    VkInstance handle, uint32_t *count, VkPhysicalDevice *out)
{
    struct tp_icd_instance *i = tp_icd_instance_get(handle);
    VkResult r = i->vk.EnumeratePhysicalDevices(handle, count, out), known = VK_SUCCESS;

    if (!out || r < 0)
        return r;
    pthread_mutex_lock(&i->lock);
    for (uint32_t n = 0; n < *count && known == VK_SUCCESS; n++)
        known = know(i, out[n]);
    pthread_mutex_unlock(&i->lock);
    return known != VK_SUCCESS ? known : r;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_groups(
    VkInstance handle, uint32_t *count, VkPhysicalDeviceGroupProperties *out)
{
    struct tp_icd_instance *i = tp_icd_instance_get(handle);

    if (!i->vk.EnumeratePhysicalDeviceGroups)
        return VK_ERROR_INITIALIZATION_FAILED;
    VkResult r = i->vk.EnumeratePhysicalDeviceGroups(handle, count, out), known = VK_SUCCESS;
    if (!out || r < 0)
        return r;
    pthread_mutex_lock(&i->lock);
    for (uint32_t n = 0; n < *count; n++) {
        for (uint32_t k = 0; k < out[n].physicalDeviceCount && known == VK_SUCCESS; k++)
            known = know(i, out[n].physicalDevices[k]);
    }
    pthread_mutex_unlock(&i->lock);
    return known != VK_SUCCESS ? known : r;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate_extensions(
    VkPhysicalDevice handle, const char *layer, uint32_t *count, VkExtensionProperties *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    VkExtensionProperties *theirs;
    uint32_t n = 0;

    if (layer)
        return VK_ERROR_LAYER_NOT_PRESENT;
    VkResult r = tp_icd_driver_device_extensions(p->instance, handle, &theirs, &n);
    if (r != VK_SUCCESS)
        return r;
    r = tp_icd_merge_extensions(theirs, n, p->offers, count, out);
    free(theirs);
    return r;
}

/* Features of ours that a chain asks for: all are there. */
static VKAPI_ATTR void VKAPI_CALL get_features2(
    VkPhysicalDevice handle, VkPhysicalDeviceFeatures2 *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    VkPhysicalDevicePresentIdFeaturesKHR *id;
    VkPhysicalDevicePresentWaitFeaturesKHR *wait;
    VkPhysicalDeviceSwapchainMaintenance1FeaturesEXT *maintenance;
    struct tp_vk_latest_ready_features *latest;

    p->instance->vk.GetPhysicalDeviceFeatures2(handle, out);
    id = tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR);
    wait = tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR);
    maintenance = tp_icd_find(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT);
    latest = tp_icd_find(out->pNext, TP_VK_FIFO_LATEST_READY_FEATURES);
    if (id)
        id->presentId = VK_TRUE;
    if (wait)
        wait->presentWait = VK_TRUE;
    if (maintenance)
        maintenance->swapchainMaintenance1 = VK_TRUE;
    if (latest)
        latest->presentModeFifoLatestReady = VK_TRUE;
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(
    VkPhysicalDevice handle, VkPhysicalDeviceProperties2 *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    VkPhysicalDeviceDrmPropertiesEXT *drm;

    p->instance->vk.GetPhysicalDeviceProperties2(handle, out);
    drm = tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT);
    if (!drm || !(p->offers & TP_BIT(TP_EXT_DRM)))
        return;
    drm->hasPrimary = VK_TRUE;
    drm->primaryMajor = DRM_MAJOR;
    drm->primaryMinor = DRM_MINOR;
    drm->hasRender = tp_icd_settings()->render_node;
    drm->renderMajor = drm->hasRender ? DRM_MAJOR : 0;
    drm->renderMinor = drm->hasRender ? DRM_RENDER_MINOR : 0;
}

__attribute__((destructor)) static void finish(void)
{
    tp_map_finish(&physicals);
}

const struct tp_icd_entry tp_icd_physical_entries[] = {
    TP_ENTRY("EnumeratePhysicalDevices", enumerate_devices, TP_LEVEL_INSTANCE, 0),
    TP_ENTRY("EnumeratePhysicalDeviceGroups", enumerate_groups, TP_LEVEL_INSTANCE, TP_WHEN_DRIVER),
    TP_ENTRY(
        "EnumeratePhysicalDeviceGroupsKHR", enumerate_groups, TP_LEVEL_INSTANCE, TP_WHEN_DRIVER),
    TP_ENTRY("EnumerateDeviceExtensionProperties", enumerate_extensions, TP_LEVEL_PHYSICAL, 0),
    TP_ENTRY("GetPhysicalDeviceFeatures2", get_features2, TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceFeatures2KHR", get_features2, TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceProperties2", get_properties2, TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceProperties2KHR", get_properties2, TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    {0},
};
