/*
 * Names, tags and private data of objects that are ours: the driver would take our handles for its
 * own objects. Names are of no use to us; private data is kept.
 */
#include <stdlib.h>

#include "frames/icd/internal.h"

struct tp_icd_private {
    struct tp_icd_private *next;
    uint64_t object, value;
    VkPrivateDataSlot slot;
};

static bool is_ours(VkObjectType type)
{
    return type == VK_OBJECT_TYPE_SURFACE_KHR || type == VK_OBJECT_TYPE_SWAPCHAIN_KHR ||
        type == VK_OBJECT_TYPE_DISPLAY_KHR || type == VK_OBJECT_TYPE_DISPLAY_MODE_KHR;
}

static bool is_ours_report(VkDebugReportObjectTypeEXT type)
{
    return type == VK_DEBUG_REPORT_OBJECT_TYPE_SURFACE_KHR_EXT ||
        type == VK_DEBUG_REPORT_OBJECT_TYPE_SWAPCHAIN_KHR_EXT ||
        type == VK_DEBUG_REPORT_OBJECT_TYPE_DISPLAY_KHR_EXT ||
        type == VK_DEBUG_REPORT_OBJECT_TYPE_DISPLAY_MODE_KHR_EXT;
}

static VKAPI_ATTR VkResult VKAPI_CALL set_name(
    VkDevice handle, const VkDebugUtilsObjectNameInfoEXT *info)
{
    return is_ours(info->objectType)
        ? VK_SUCCESS
        : tp_icd_device_get(handle)->vk.SetDebugUtilsObjectNameEXT(handle, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL set_tag(
    VkDevice handle, const VkDebugUtilsObjectTagInfoEXT *info)
{
    return is_ours(info->objectType)
        ? VK_SUCCESS
        : tp_icd_device_get(handle)->vk.SetDebugUtilsObjectTagEXT(handle, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL marker_name(
    VkDevice handle, const VkDebugMarkerObjectNameInfoEXT *info)
{
    return is_ours_report(info->objectType)
        ? VK_SUCCESS
        : tp_icd_device_get(handle)->vk.DebugMarkerSetObjectNameEXT(handle, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL marker_tag(
    VkDevice handle, const VkDebugMarkerObjectTagInfoEXT *info)
{
    return is_ours_report(info->objectType)
        ? VK_SUCCESS
        : tp_icd_device_get(handle)->vk.DebugMarkerSetObjectTagEXT(handle, info);
}

/* With the lock held. */
static struct tp_icd_private *find(struct tp_icd_device *d, uint64_t object, VkPrivateDataSlot slot)
{
    struct tp_icd_private *p = d->privates;

    while (p && (p->object != object || p->slot != slot))
        p = p->next;
    return p;
}

static VKAPI_ATTR VkResult VKAPI_CALL set_private(
    VkDevice handle, VkObjectType type, uint64_t object, VkPrivateDataSlot slot, uint64_t value)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);

    if (!is_ours(type))
        return d->vk.SetPrivateData(handle, type, object, slot, value);
    pthread_mutex_lock(&d->private_lock);
    struct tp_icd_private *p = find(d, object, slot);
    if (!p && (p = calloc(1, sizeof *p))) {
        *p = (struct tp_icd_private){.next = d->privates, .object = object, .slot = slot};
        d->privates = p;
    }
    if (p)
        p->value = value;
    pthread_mutex_unlock(&d->private_lock);
    return p ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL get_private(
    VkDevice handle, VkObjectType type, uint64_t object, VkPrivateDataSlot slot, uint64_t *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);

    if (!is_ours(type)) {
        d->vk.GetPrivateData(handle, type, object, slot, out);
        return;
    }
    pthread_mutex_lock(&d->private_lock);
    struct tp_icd_private *p = find(d, object, slot);
    *out = p ? p->value : 0;
    pthread_mutex_unlock(&d->private_lock);
}

/* A slot's handle may be used again for a new one, whose values are 0. */
static VKAPI_ATTR void VKAPI_CALL destroy_slot(
    VkDevice handle, VkPrivateDataSlot slot, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);

    pthread_mutex_lock(&d->private_lock);
    for (struct tp_icd_private *p = d->privates; p; p = p->next) {
        if (p->slot == slot)
            p->value = 0;
    }
    pthread_mutex_unlock(&d->private_lock);
    d->vk.DestroyPrivateDataSlot(handle, slot, allocator);
}

void tp_icd_private_forget(struct tp_icd_device *d, uint64_t object)
{
    pthread_mutex_lock(&d->private_lock);
    for (struct tp_icd_private **at = &d->privates; *at;) {
        struct tp_icd_private *p = *at;
        if (object && p->object != object) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        free(p);
    }
    pthread_mutex_unlock(&d->private_lock);
}

void tp_icd_private_finish(struct tp_icd_device *d)
{
    tp_icd_private_forget(d, 0);
    pthread_mutex_destroy(&d->private_lock);
}

#define OURS(name, function) TP_ENTRY(name, function, TP_LEVEL_DEVICE, TP_WHEN_DRIVER)
const struct tp_icd_entry tp_icd_object_entries[] = {
    OURS("SetDebugUtilsObjectNameEXT", set_name),
    OURS("SetDebugUtilsObjectTagEXT", set_tag),
    OURS("DebugMarkerSetObjectNameEXT", marker_name),
    OURS("DebugMarkerSetObjectTagEXT", marker_tag),
    OURS("SetPrivateData", set_private),
    OURS("SetPrivateDataEXT", set_private),
    OURS("GetPrivateData", get_private),
    OURS("GetPrivateDataEXT", get_private),
    OURS("DestroyPrivateDataSlot", destroy_slot),
    OURS("DestroyPrivateDataSlotEXT", destroy_slot),
    {0},
};
