/* Pools: which kind of buffers a swapchain has. */
#include <drm_fourcc.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/buffer.h"
#include "frames/icd/log.h"

static const char *const kind_names[] = {
    [TP_BUFFER_DMABUF] = "dma-bufs of the driver",
    [TP_BUFFER_HOST] = "shared memory that the driver renders into",
    [TP_BUFFER_COPY] = "shared memory that they are copied into",
};

static bool on(const struct tp_icd_device *d, enum tp_icd_need need)
{
    return d->physical->driver_has & TP_BIT(need);
}

static bool takes(const struct tp_target_format *formats, uint32_t n, uint32_t fourcc,
    uint64_t modifier, uint32_t memory)
{
    for (uint32_t i = 0; i < n; i++) {
        if (formats[i].fourcc == fourcc && formats[i].modifier == modifier &&
            formats[i].memory & memory)
            return true;
    }
    return false;
}

/* May an image like this be made with the modifier, and exported? */
static bool can_export(const struct tp_icd_pool *p, uint64_t modifier)
{
    VkPhysicalDeviceImageDrmFormatModifierInfoEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT,
        .drmFormatModifier = modifier,
        .sharingMode = p->info.sharingMode,
        .queueFamilyIndexCount = p->info.queueFamilyIndexCount,
        .pQueueFamilyIndices = p->info.pQueueFamilyIndices,
    };
    VkImageFormatListCreateInfo list = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .pNext = &drm,
        .viewFormatCount = p->n_view_formats,
        .pViewFormats = p->view_formats};
    VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .pNext = p->n_view_formats ? (void *)&list : (void *)&drm,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
    };
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = p->info.format,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
        .usage = p->info.usage,
        .flags = p->info.flags,
    };
    VkExternalImageFormatProperties can = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 out = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, .pNext = &can};
    struct tp_icd_physical *physical = p->device->physical;

    return physical->instance->vk.GetPhysicalDeviceImageFormatProperties2(
               physical->handle, &info, &out) == VK_SUCCESS &&
        out.imageFormatProperties.maxExtent.width >= p->info.extent.width &&
        out.imageFormatProperties.maxExtent.height >= p->info.extent.height &&
        can.externalMemoryProperties.externalMemoryFeatures &
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
}

static void find_modifiers(
    struct tp_icd_pool *p, const struct tp_target_format *formats, uint32_t n)
{
    struct tp_icd_physical *physical = p->device->physical;
    VkDrmFormatModifierPropertiesEXT theirs[TP_BUFFER_MAX_MODIFIERS];
    VkDrmFormatModifierPropertiesListEXT list = {
        .sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT,
        .drmFormatModifierCount = TP_BUFFER_MAX_MODIFIERS,
        .pDrmFormatModifierProperties = theirs,
    };
    VkFormatProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, .pNext = &list};

    p->with_modifiers = on(p->device, TP_NEED_MODIFIER) &&
        p->device->vk.GetImageDrmFormatModifierPropertiesEXT &&
        physical->instance->vk.GetPhysicalDeviceFormatProperties2 &&
        physical->instance->vk.GetPhysicalDeviceImageFormatProperties2;
    if (!p->with_modifiers)
        return;
    physical->instance->vk.GetPhysicalDeviceFormatProperties2(
        physical->handle, p->info.format, &properties);
    for (uint32_t i = 0; i < list.drmFormatModifierCount; i++) {
        if (takes(formats, n, p->fourcc, theirs[i].drmFormatModifier, TP_MEMORY_DMABUF) &&
            theirs[i].drmFormatModifierPlaneCount <= TP_TARGET_PLANES &&
            can_export(p, theirs[i].drmFormatModifier))
            p->modifiers[p->n_modifiers++] = theirs[i].drmFormatModifier;
    }
}

/* Can the driver render into linear memory of the host's? */
static bool can_import(const struct tp_icd_pool *p)
{
    VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = p->info.format,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = VK_IMAGE_TILING_LINEAR,
        .usage = p->info.usage,
        .flags = p->info.flags,
    };
    VkExternalImageFormatProperties can = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 out = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2, .pNext = &can};
    struct tp_icd_physical *physical = p->device->physical;

    return physical->host_alignment > 0 && on(p->device, TP_NEED_MEMORY_HOST) &&
        p->device->vk.GetMemoryHostPointerPropertiesEXT &&
        physical->instance->vk.GetPhysicalDeviceImageFormatProperties2 &&
        physical->instance->vk.GetPhysicalDeviceImageFormatProperties2(
            physical->handle, &info, &out) == VK_SUCCESS &&
        out.imageFormatProperties.maxExtent.width >= p->info.extent.width &&
        out.imageFormatProperties.maxExtent.height >= p->info.extent.height &&
        can.externalMemoryProperties.externalMemoryFeatures &
        VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

/* May the driver's linear images of this format be used as asked? */
static bool can_be_linear(const struct tp_icd_pool *p)
{
    static const struct {
        VkImageUsageFlags usage;
        VkFormatFeatureFlags feature;
    } pairs[] = {
        {VK_IMAGE_USAGE_SAMPLED_BIT, VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT},
        {VK_IMAGE_USAGE_STORAGE_BIT, VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT},
        {VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT},
        {VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT},
    };
    VkFormatProperties can;

    p->device->instance->vk.GetPhysicalDeviceFormatProperties(
        p->device->physical->handle, p->info.format, &can);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (p->info.usage & pairs[i].usage && !(can.linearTilingFeatures & pairs[i].feature))
            return false;
    }
    return true;
}

static bool may_be(struct tp_icd_pool *p, enum tp_icd_buffer_kind kind,
    const struct tp_target_format *formats, uint32_t n)
{
    switch (kind) {
    case TP_BUFFER_DMABUF:
        if (!on(p->device, TP_NEED_DMABUF) || !p->device->vk.GetMemoryFdKHR)
            return false;
        find_modifiers(p, formats, n);
        if (p->with_modifiers)
            return p->n_modifiers > 0;
        return can_be_linear(p) &&
            (takes(formats, n, p->fourcc, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_DMABUF) ||
                takes(formats, n, p->fourcc, DRM_FORMAT_MOD_INVALID, TP_MEMORY_DMABUF));
    case TP_BUFFER_HOST:
        return takes(formats, n, p->fourcc, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_SHARED) &&
            can_be_linear(p) && can_import(p);
    default:
        return takes(formats, n, p->fourcc, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_SHARED);
    }
}

static VkResult take_info(struct tp_icd_pool *p, const VkSwapchainCreateInfoKHR *info)
{
    const VkImageFormatListCreateInfo *list =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);

    p->info = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = info->imageFormat,
        .extent = {info->imageExtent.width, info->imageExtent.height, 1},
        .mipLevels = 1,
        .arrayLayers = info->imageArrayLayers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = info->imageUsage,
        .sharingMode = info->imageSharingMode,
    };
    if (info->imageSharingMode == VK_SHARING_MODE_CONCURRENT) {
        uint32_t n = info->queueFamilyIndexCount;
        if (n > sizeof p->families / sizeof *p->families)
            return VK_ERROR_INITIALIZATION_FAILED;
        memcpy(p->families, info->pQueueFamilyIndices, n * sizeof *p->families);
        p->info.queueFamilyIndexCount = n;
        p->info.pQueueFamilyIndices = p->families;
    }
    if (!(info->flags & VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR))
        return VK_SUCCESS;
    p->info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
    if (!list || list->viewFormatCount == 0)
        return VK_SUCCESS;
    p->view_formats = malloc(list->viewFormatCount * sizeof *p->view_formats);
    if (!p->view_formats)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(p->view_formats, list->pViewFormats, list->viewFormatCount * sizeof *p->view_formats);
    p->n_view_formats = list->viewFormatCount;
    return VK_SUCCESS;
}

static bool in_list(const uint32_t *list, uint32_t n, uint32_t family)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] == family)
            return true;
    }
    return false;
}

/* The queue that copies reads the images as well, whichever of the application's draws them. */
static void share_with_copier(struct tp_icd_pool *p)
{
    const struct tp_icd_device *d = p->device;
    uint32_t max = sizeof p->families / sizeof *p->families, n = p->info.queueFamilyIndexCount;

    if (p->info.sharingMode == VK_SHARING_MODE_EXCLUSIVE) {
        n = 0;
        for (uint32_t i = 0; i < d->n_queues && n < max; i++) {
            if (!in_list(p->families, n, d->queues[i].family))
                p->families[n++] = d->queues[i].family;
        }
    }
    p->copier = n < max ? d->copier : NULL;
    if (!p->copier)
        return;
    if (!in_list(p->families, n, d->copier->family))
        p->families[n++] = d->copier->family;
    p->info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    p->info.queueFamilyIndexCount = n;
    p->info.pQueueFamilyIndices = p->families;
}

static VkResult try_kind(struct tp_icd_pool *p, struct tp_icd_buffer *first)
{
    VkResult r = VK_ERROR_FEATURE_NOT_PRESENT;

    p->info.usage &= ~(VkImageUsageFlags)(p->kind == TP_BUFFER_COPY ? 0 : p->added_usage);
    if (p->kind != TP_BUFFER_COPY)
        return tp_icd_buffer_init(p, first);
    p->info.usage |= p->added_usage;
    if (p->device->copier)
        share_with_copier(p);
    p->host_readable_copy = on(p->device, TP_NEED_MEMORY_HOST) &&
        p->device->physical->host_alignment > 0 && p->device->vk.GetMemoryHostPointerPropertiesEXT;
    if (p->host_readable_copy)
        r = tp_icd_buffer_init(p, first);
    if (r != VK_SUCCESS && r != VK_ERROR_OUT_OF_HOST_MEMORY) {
        p->host_readable_copy = false;
        r = tp_icd_buffer_init(p, first);
    }
    return r;
}

VkResult tp_icd_pool_init(struct tp_icd_pool *p, struct tp_icd_device *d,
    const VkSwapchainCreateInfoKHR *info, const VkAllocationCallbacks *allocator, uint32_t fourcc,
    uint32_t bytes_per_pixel, const struct tp_target_format *formats, uint32_t n_formats,
    struct tp_icd_buffer *first)
{
    *p = (struct tp_icd_pool){
        .device = d, .allocator = allocator, .fourcc = fourcc, .bytes_per_pixel = bytes_per_pixel};
    VkResult r = take_info(p, info);

    if (r != VK_SUCCESS)
        return r;
    if (!(p->info.usage & VK_IMAGE_USAGE_TRANSFER_SRC_BIT))
        p->added_usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    r = VK_ERROR_INITIALIZATION_FAILED;
    for (p->kind = 0; p->kind < TP_BUFFER_N_KINDS; p->kind++) {
        if (!may_be(p, p->kind, formats, n_formats))
            continue;
        r = try_kind(p, first);
        if (r == VK_SUCCESS) {
            tp_icd_log_once("images are %s (%s)", kind_names[p->kind],
                p->kind == TP_BUFFER_DMABUF && p->with_modifiers &&
                        first->stream.modifier != DRM_FORMAT_MOD_LINEAR
                    ? "in a layout of its own"
                    : "linear");
            return r;
        }
        /* Another kind would need no less. */
        if (r == VK_ERROR_DEVICE_LOST || r == VK_ERROR_OUT_OF_HOST_MEMORY)
            break;
    }
    tp_icd_pool_finish(p);
    return r;
}

void tp_icd_pool_finish(struct tp_icd_pool *p)
{
    free(p->view_formats);
    p->view_formats = NULL;
    p->n_view_formats = 0;
}
