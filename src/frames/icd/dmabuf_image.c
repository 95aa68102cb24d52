/* Images and buffers over memory of dmabuf.h: linear ones of one plane, of the formats that screens
 * take (format.h). */
#include <drm_fourcc.h>

#include "frames/icd/dmabuf.h"
#include "frames/icd/format.h"

#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define HOST    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

bool tp_icd_dmabuf_is_shared(const struct tp_icd_device *d, const VkImageCreateInfo *info)
{
    const VkExternalMemoryImageCreateInfo *external =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO);

    return tp_icd_dmabuf_on(d) &&
        (info->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT ||
            (external && external->handleTypes & DMA_BUF));
}

/* Does the application leave it to us, or ask for what we have? */
static bool may_be_linear(const VkImageCreateInfo *info)
{
    const VkImageDrmFormatModifierListCreateInfoEXT *list = tp_icd_find(
        info->pNext, VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT);

    for (uint32_t i = 0; list && i < list->drmFormatModifierCount; i++) {
        if (list->pDrmFormatModifiers[i] == DRM_FORMAT_MOD_LINEAR)
            return true;
    }
    return !list;
}

/* The driver lays its images out itself: what was asked for must be just that. */
static bool lies_as_asked(struct tp_icd_device *d, VkImage image,
    const VkImageDrmFormatModifierExplicitCreateInfoEXT *asked)
{
    const VkImageSubresource part = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT};
    VkSubresourceLayout is;

    d->vk.GetImageSubresourceLayout(d->handle, image, &part, &is);
    return asked->drmFormatModifier == DRM_FORMAT_MOD_LINEAR &&
        asked->drmFormatModifierPlaneCount == 1 && asked->pPlaneLayouts[0].offset == is.offset &&
        asked->pPlaneLayouts[0].rowPitch == is.rowPitch;
}

VkResult tp_icd_dmabuf_create_image(struct tp_icd_device *d, const VkImageCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkImage *out)
{
    const VkImageFormatListCreateInfo *formats =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    const VkImageDrmFormatModifierExplicitCreateInfoEXT *asked = tp_icd_find(
        info->pNext, VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT);
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, .handleTypes = HOST};
    VkImageFormatListCreateInfo views;
    VkImageCreateInfo changed = *info;

    if (!may_be_linear(info))
        return VK_ERROR_INITIALIZATION_FAILED;
    changed.tiling = VK_IMAGE_TILING_LINEAR;
    changed.pNext = &external;
    if (formats) {
        views = *formats;
        views.pNext = NULL;
        external.pNext = &views;
    }
    VkResult r = d->vk.CreateImage(d->handle, &changed, allocator, out);
    if (r == VK_SUCCESS && asked && !lies_as_asked(d, *out, asked)) {
        d->vk.DestroyImage(d->handle, *out, allocator);
        *out = VK_NULL_HANDLE;
        r = VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
    }
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice handle, const VkBufferCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkBuffer *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    VkExternalMemoryBufferCreateInfo *external =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    VkExternalMemoryBufferCreateInfo host = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = HOST};
    VkBufferCreateInfo changed = *info;

    if (!tp_icd_dmabuf_on(d) || !external || !(external->handleTypes & DMA_BUF))
        return d->vk.CreateBuffer(handle, info, allocator, out);
    changed.pNext = &host;
    return d->vk.CreateBuffer(handle, &changed, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_modifier(
    VkDevice handle, VkImage image, VkImageDrmFormatModifierPropertiesEXT *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);

    if (!tp_icd_dmabuf_on(d))
        return d->vk.GetImageDrmFormatModifierPropertiesEXT(handle, image, out);
    out->drmFormatModifier = DRM_FORMAT_MOD_LINEAR;
    return VK_SUCCESS;
}

/* The driver knows colours, and no planes of memory. */
static VKAPI_ATTR void VKAPI_CALL get_layout(
    VkDevice handle, VkImage image, const VkImageSubresource *part, VkSubresourceLayout *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    VkImageSubresource changed = *part;

    if (tp_icd_dmabuf_on(d) && part->aspectMask == VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT)
        changed.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    d->vk.GetImageSubresourceLayout(handle, image, &changed, out);
}

/* --- what may be had --- */

uint64_t tp_icd_dmabuf_offers(const struct tp_icd_physical *p, const VkPhysicalDeviceProperties *is)
{
    const uint64_t must = TP_BIT(TP_NEED_MEMORY_HOST) | TP_BIT(TP_NEED_MEMORY_FD);
    bool foreign = p->driver_has & TP_BIT(TP_NEED_FOREIGN);
    /* A processor has no caches of its own to give up: its driver may be told of foreign queues. */
    bool processor = is->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;

    if (p->driver_has & TP_BIT(TP_NEED_MODIFIER) || (p->driver_has & must) != must ||
        p->host_alignment == 0 || (!foreign && !processor) ||
        !p->instance->vk.GetPhysicalDeviceImageFormatProperties2)
        return 0;
    return TP_BIT(TP_EXT_DMABUF) | TP_BIT(TP_EXT_MODIFIER) | (foreign ? 0 : TP_BIT(TP_EXT_FOREIGN));
}

static bool is_on(const struct tp_icd_physical *p)
{
    return p->offers & TP_BIT(TP_EXT_MODIFIER);
}

static VKAPI_ATTR void VKAPI_CALL get_format(
    VkPhysicalDevice handle, VkFormat format, VkFormatProperties2 *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    VkDrmFormatModifierPropertiesListEXT *list = tp_icd_find(
        out->pNext, VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT);
    VkDrmFormatModifierPropertiesList2EXT *list2 = tp_icd_find(
        out->pNext, VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_2_EXT);
    uint32_t room = list ? list->drmFormatModifierCount : 0;
    uint32_t room2 = list2 ? list2->drmFormatModifierCount : 0;

    p->instance->vk.GetPhysicalDeviceFormatProperties2(handle, format, out);
    if (!is_on(p))
        return;
    VkFormatFeatureFlags features =
        tp_icd_format_find(format) ? out->formatProperties.linearTilingFeatures : 0;
    if (list && features && list->pDrmFormatModifierProperties && room > 0)
        list->pDrmFormatModifierProperties[0] =
            (VkDrmFormatModifierPropertiesEXT){DRM_FORMAT_MOD_LINEAR, 1, features};
    if (list)
        list->drmFormatModifierCount =
            features && (!list->pDrmFormatModifierProperties || room > 0);
    if (list2 && features && list2->pDrmFormatModifierProperties && room2 > 0)
        list2->pDrmFormatModifierProperties[0] =
            (VkDrmFormatModifierProperties2EXT){DRM_FORMAT_MOD_LINEAR, 1, features};
    if (list2)
        list2->drmFormatModifierCount =
            features && (!list2->pDrmFormatModifierProperties || room2 > 0);
}

/* The same question about linear images of the host's memory. */
static VkResult ask_driver(struct tp_icd_physical *p, const VkPhysicalDeviceImageFormatInfo2 *info,
    bool external, VkImageFormatProperties *out)
{
    const VkImageFormatListCreateInfo *formats =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    VkImageFormatListCreateInfo views;
    VkPhysicalDeviceExternalImageFormatInfo host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, .handleType = HOST};
    VkExternalImageFormatProperties can = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 answer = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, .pNext = external ? &can : NULL};
    VkPhysicalDeviceImageFormatInfo2 changed = *info;

    changed.tiling = VK_IMAGE_TILING_LINEAR;
    changed.pNext = external ? &host : NULL;
    if (formats) {
        views = *formats;
        views.pNext = changed.pNext;
        changed.pNext = &views;
    }
    VkResult r =
        p->instance->vk.GetPhysicalDeviceImageFormatProperties2(p->handle, &changed, &answer);
    *out = answer.imageFormatProperties;
    if (r == VK_SUCCESS && external &&
        !(can.externalMemoryProperties.externalMemoryFeatures &
            VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT))
        r = VK_ERROR_FORMAT_NOT_SUPPORTED;
    return r;
}

static void say_shared(VkExternalMemoryProperties *out)
{
    *out = (VkExternalMemoryProperties){
        VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT,
        DMA_BUF, DMA_BUF};
}

static VKAPI_ATTR VkResult VKAPI_CALL get_image_format(VkPhysicalDevice handle,
    const VkPhysicalDeviceImageFormatInfo2 *info, VkImageFormatProperties2 *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    const VkPhysicalDeviceImageDrmFormatModifierInfoEXT *modifier = tp_icd_find(
        info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT);
    const VkPhysicalDeviceExternalImageFormatInfo *external = tp_icd_find(
        info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
    VkExternalImageFormatProperties *shared =
        tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES);
    bool with_modifier = info->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    bool dmabuf = external && external->handleType == DMA_BUF;

    if (!is_on(p) || (!with_modifier && !dmabuf))
        return p->instance->vk.GetPhysicalDeviceImageFormatProperties2(handle, info, out);
    out->imageFormatProperties = (VkImageFormatProperties){0};
    if (shared)
        shared->externalMemoryProperties = (VkExternalMemoryProperties){0};
    if (info->tiling == VK_IMAGE_TILING_OPTIMAL || (external && external->handleType && !dmabuf) ||
        (modifier && modifier->drmFormatModifier != DRM_FORMAT_MOD_LINEAR) ||
        !tp_icd_format_find(info->format))
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    VkResult r = ask_driver(p, info, dmabuf, &out->imageFormatProperties);
    if (r == VK_SUCCESS && shared && dmabuf)
        say_shared(&shared->externalMemoryProperties);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL get_external_buffer(VkPhysicalDevice handle,
    const VkPhysicalDeviceExternalBufferInfo *info, VkExternalBufferProperties *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    VkPhysicalDeviceExternalBufferInfo changed = *info;

    if (!is_on(p) || info->handleType != DMA_BUF) {
        p->instance->vk.GetPhysicalDeviceExternalBufferProperties(handle, info, out);
        return;
    }
    changed.handleType = HOST;
    p->instance->vk.GetPhysicalDeviceExternalBufferProperties(handle, &changed, out);
    if (out->externalMemoryProperties.externalMemoryFeatures &
        VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)
        say_shared(&out->externalMemoryProperties);
    else
        out->externalMemoryProperties = (VkExternalMemoryProperties){0};
}

#define SHARED (TP_BIT(TP_EXT_DMABUF) | TP_BIT(TP_EXT_MODIFIER) | TP_ELSE_DRIVER)
const struct tp_icd_entry tp_icd_dmabuf_image_entries[] = {
    TP_ENTRY("CreateBuffer", create_buffer, TP_LEVEL_DEVICE, SHARED),
    TP_ENTRY("GetImageSubresourceLayout", get_layout, TP_LEVEL_DEVICE, SHARED),
    TP_ENTRY("GetImageDrmFormatModifierPropertiesEXT", get_modifier, TP_LEVEL_DEVICE,
        SHARED | TP_WITHOUT_DRIVER),
    TP_ENTRY("GetPhysicalDeviceFormatProperties2", get_format, TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    TP_ENTRY(
        "GetPhysicalDeviceFormatProperties2KHR", get_format, TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceImageFormatProperties2", get_image_format, TP_LEVEL_PHYSICAL,
        TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceImageFormatProperties2KHR", get_image_format, TP_LEVEL_PHYSICAL,
        TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceExternalBufferProperties", get_external_buffer, TP_LEVEL_PHYSICAL,
        TP_WHEN_DRIVER),
    TP_ENTRY("GetPhysicalDeviceExternalBufferPropertiesKHR", get_external_buffer,
        TP_LEVEL_PHYSICAL, TP_WHEN_DRIVER),
    {0},
};
