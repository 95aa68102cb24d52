#include "frames/icd/buffer.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A chain to make an image with. */
struct chain {
    VkImageFormatListCreateInfo formats;
    VkExternalMemoryImageCreateInfo external;
    VkImageDrmFormatModifierListCreateInfoEXT modifiers;
};

static VkResult create_image(struct tp_icd_pool *p, const uint64_t *modifiers, uint32_t n_modifiers,
    const VkAllocationCallbacks *allocator, VkImage *out)
{
    VkImageCreateInfo info = p->info;
    struct chain c = {
        .formats = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
            .viewFormatCount = p->n_view_formats,
            .pViewFormats = p->view_formats},
        .external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
            .handleTypes = p->kind == TP_BUFFER_DMABUF
                ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                : VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT},
        .modifiers = {.sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
            .drmFormatModifierCount = n_modifiers,
            .pDrmFormatModifiers = modifiers},
    };

    if (p->n_view_formats > 0)
        info.pNext = &c.formats;
    if (p->kind != TP_BUFFER_COPY) {
        c.external.pNext = info.pNext;
        info.pNext = &c.external;
        info.tiling = VK_IMAGE_TILING_LINEAR;
    }
    if (p->kind == TP_BUFFER_DMABUF && p->with_modifiers) {
        c.modifiers.pNext = info.pNext;
        info.pNext = &c.modifiers;
        info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    }
    return p->device->vk.CreateImage(p->device->handle, &info, allocator, out);
}

/* A type among these bits with these properties; -1: none. */
static int memory_type(
    const struct tp_icd_device *d, uint32_t bits, VkMemoryPropertyFlags properties)
{
    for (uint32_t i = 0; i < d->memory.memoryTypeCount; i++) {
        if (bits & 1u << i && (d->memory.memoryTypes[i].propertyFlags & properties) == properties)
            return (int)i;
    }
    return -1;
}

static VkResult allocate(const struct tp_icd_pool *p, VkDeviceSize bytes, int type,
    const void *chain, VkDeviceMemory *out)
{
    struct tp_icd_device *d = p->device;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = chain,
        .allocationSize = bytes,
        .memoryTypeIndex = (uint32_t)type};

    return type < 0 ? VK_ERROR_FEATURE_NOT_PRESENT
                    : d->vk.AllocateMemory(d->handle, &info, p->allocator, out);
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* A memfd that cannot be made shorter under its readers, mapped. */
static VkResult make_memfd(struct tp_icd_buffer *b, uint64_t bytes)
{
    int fd = memfd_create("turnpike-image", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? VK_ERROR_TOO_MANY_OBJECTS
                                                  : VK_ERROR_OUT_OF_HOST_MEMORY;
    b->stream.fd = fd;
    b->stream.bytes = bytes;
    b->stream.memory = TP_MEMORY_SHARED;
    if (ftruncate(fd, (off_t)bytes))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pages == MAP_FAILED)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    b->pages = pages;
    return VK_SUCCESS;
}

/* The memfd's pages as memory of the driver's, of a type among these bits. */
static VkResult import_pages(
    const struct tp_icd_pool *p, struct tp_icd_buffer *b, uint32_t bits, VkDeviceMemory *out)
{
    struct tp_icd_device *d = p->device;
    VkMemoryHostPointerPropertiesEXT can = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = b->pages};
    VkResult r =
        d->vk.GetMemoryHostPointerPropertiesEXT(d->handle, import.handleType, b->pages, &can);

    if (r != VK_SUCCESS)
        return r;
    int type = memory_type(d, bits & can.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    if (type < 0)
        type = memory_type(d, bits & can.memoryTypeBits, 0);
    return allocate(p, b->stream.bytes, type, &import, out);
}

static void describe(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    b->stream.width = p->info.extent.width;
    b->stream.height = p->info.extent.height;
    b->stream.fourcc = p->fourcc;
}

static void layout(
    struct tp_icd_pool *p, struct tp_icd_buffer *b, uint32_t plane, VkImageAspectFlags aspect)
{
    VkImageSubresource part = {.aspectMask = aspect};
    VkSubresourceLayout where;

    p->device->vk.GetImageSubresourceLayout(p->device->handle, b->image, &part, &where);
    b->stream.offsets[plane] = (uint32_t)where.offset;
    b->stream.pitches[plane] = (uint32_t)where.rowPitch;
}

static VkResult init_host(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    struct tp_icd_device *d = p->device;
    VkMemoryRequirements needs;
    VkResult r = create_image(p, NULL, 0, p->allocator, &b->image);

    if (r != VK_SUCCESS)
        return r;
    d->vk.GetImageMemoryRequirements(d->handle, b->image, &needs);
    b->stream.modifier = DRM_FORMAT_MOD_LINEAR;
    b->stream.n_planes = 1;
    layout(p, b, 0, VK_IMAGE_ASPECT_COLOR_BIT);
    r = make_memfd(b, round_up(needs.size, d->physical->host_alignment));
    if (r == VK_SUCCESS)
        r = import_pages(p, b, needs.memoryTypeBits, &b->memory);
    return r != VK_SUCCESS ? r : d->vk.BindImageMemory(d->handle, b->image, b->memory, 0);
}

static VkResult describe_dmabuf(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    static const VkImageAspectFlags planes[TP_TARGET_PLANES] = {
        VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT, VK_IMAGE_ASPECT_MEMORY_PLANE_1_BIT_EXT,
        VK_IMAGE_ASPECT_MEMORY_PLANE_2_BIT_EXT, VK_IMAGE_ASPECT_MEMORY_PLANE_3_BIT_EXT};
    VkImageDrmFormatModifierPropertiesEXT drm = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT};
    struct tp_icd_device *d = p->device;
    struct tp_icd_physical *physical = d->physical;
    VkDrmFormatModifierPropertiesEXT all[TP_BUFFER_MAX_MODIFIERS];
    VkDrmFormatModifierPropertiesListEXT list = {
        .sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT,
        .drmFormatModifierCount = TP_BUFFER_MAX_MODIFIERS,
        .pDrmFormatModifierProperties = all};
    VkFormatProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, .pNext = &list};

    b->stream.memory = TP_MEMORY_DMABUF;
    b->stream.n_planes = 1;
    if (!p->with_modifiers) {
        b->stream.modifier = DRM_FORMAT_MOD_LINEAR;
        layout(p, b, 0, VK_IMAGE_ASPECT_COLOR_BIT);
        return VK_SUCCESS;
    }
    VkResult r = d->vk.GetImageDrmFormatModifierPropertiesEXT(d->handle, b->image, &drm);
    if (r != VK_SUCCESS)
        return r;
    b->stream.modifier = drm.drmFormatModifier;
    physical->instance->vk.GetPhysicalDeviceFormatProperties2(
        physical->handle, p->info.format, &properties);
    for (uint32_t i = 0; i < list.drmFormatModifierCount; i++) {
        if (all[i].drmFormatModifier == drm.drmFormatModifier)
            b->stream.n_planes = all[i].drmFormatModifierPlaneCount;
    }
    for (uint32_t i = 0; i < b->stream.n_planes; i++)
        layout(p, b, i, planes[i]);
    return VK_SUCCESS;
}

static VkResult init_dmabuf(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    struct tp_icd_device *d = p->device;
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = &dedicated,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    VkMemoryGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    VkMemoryRequirements needs;
    VkResult r = create_image(p, p->modifiers, p->n_modifiers, p->allocator, &b->image);

    if (r != VK_SUCCESS)
        return r;
    d->vk.GetImageMemoryRequirements(d->handle, b->image, &needs);
    dedicated.image = b->image;
    int type = memory_type(d, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (type < 0)
        type = memory_type(d, needs.memoryTypeBits, 0);
    r = allocate(p, needs.size, type, &export, &b->memory);
    if (r == VK_SUCCESS)
        r = d->vk.BindImageMemory(d->handle, b->image, b->memory, 0);
    if (r != VK_SUCCESS)
        return r;
    get.memory = b->memory;
    r = d->vk.GetMemoryFdKHR(d->handle, &get, &b->stream.fd);
    if (r != VK_SUCCESS) {
        b->stream.fd = -1;
        return r;
    }
    b->stream.bytes = needs.size;
    return describe_dmabuf(p, b);
}

static VkResult make_copy_target(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    struct tp_icd_device *d = p->device;
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = p->host_readable_copy ? &external : NULL,
        .size = b->stream.bytes,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = p->info.sharingMode,
        .queueFamilyIndexCount = p->info.queueFamilyIndexCount,
        .pQueueFamilyIndices = p->info.pQueueFamilyIndices};
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    VkMemoryRequirements needs;
    VkResult r = d->vk.CreateBuffer(d->handle, &info, p->allocator, &b->copy);

    if (r != VK_SUCCESS)
        return r;
    d->vk.GetBufferMemoryRequirements(d->handle, b->copy, &needs);
    if (p->host_readable_copy) {
        r = needs.size > b->stream.bytes
            ? VK_ERROR_FEATURE_NOT_PRESENT
            : import_pages(p, b, needs.memoryTypeBits, &b->copy_memory);
    } else {
        int type =
            memory_type(d, needs.memoryTypeBits, visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
        if (type < 0)
            type = memory_type(d, needs.memoryTypeBits, visible);
        r = allocate(p, needs.size, type, NULL, &b->copy_memory);
    }
    if (r == VK_SUCCESS)
        r = d->vk.BindBufferMemory(d->handle, b->copy, b->copy_memory, 0);
    if (r == VK_SUCCESS && !p->host_readable_copy)
        r = d->vk.MapMemory(d->handle, b->copy_memory, 0, VK_WHOLE_SIZE, 0, &b->mapped);
    return r;
}

static VkResult init_copy(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    struct tp_icd_device *d = p->device;
    VkMemoryRequirements needs;
    uint64_t page = d->physical->host_alignment > 4096 ? d->physical->host_alignment : 4096;
    VkResult r = create_image(p, NULL, 0, p->allocator, &b->image);

    if (r != VK_SUCCESS)
        return r;
    d->vk.GetImageMemoryRequirements(d->handle, b->image, &needs);
    int type = memory_type(d, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (type < 0)
        type = memory_type(d, needs.memoryTypeBits, 0);
    r = allocate(p, needs.size, type, NULL, &b->memory);
    if (r == VK_SUCCESS)
        r = d->vk.BindImageMemory(d->handle, b->image, b->memory, 0);
    if (r != VK_SUCCESS)
        return r;
    /* Rows of whole pixels, and long enough for every display's scan-out. */
    b->stream.pitches[0] =
        (uint32_t)round_up((uint64_t)p->info.extent.width * p->bytes_per_pixel, 256);
    b->stream.modifier = DRM_FORMAT_MOD_LINEAR;
    b->stream.n_planes = 1;
    r = make_memfd(b, round_up((uint64_t)b->stream.pitches[0] * p->info.extent.height, page));
    return r != VK_SUCCESS ? r : make_copy_target(p, b);
}

VkResult tp_icd_buffer_init(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    VkResult r;

    *b = (struct tp_icd_buffer){.stream.fd = -1};
    describe(p, b);
    switch (p->kind) {
    case TP_BUFFER_DMABUF:
        r = init_dmabuf(p, b);
        break;
    case TP_BUFFER_HOST:
        r = init_host(p, b);
        break;
    default:
        r = init_copy(p, b);
        break;
    }
    if (r != VK_SUCCESS)
        tp_icd_buffer_finish(p, b);
    return r;
}

void tp_icd_buffer_finish(struct tp_icd_pool *p, struct tp_icd_buffer *b)
{
    struct tp_icd_device *d = p->device;

    if (b->copy)
        d->vk.DestroyBuffer(d->handle, b->copy, p->allocator);
    if (b->copy_memory)
        d->vk.FreeMemory(d->handle, b->copy_memory, p->allocator);
    if (b->image)
        d->vk.DestroyImage(d->handle, b->image, p->allocator);
    if (b->memory)
        d->vk.FreeMemory(d->handle, b->memory, p->allocator);
    if (b->pages)
        munmap(b->pages, b->stream.bytes);
    if (b->stream.fd >= 0 && (b->stream.memory || b->image))
        close(b->stream.fd);
    *b = (struct tp_icd_buffer){.stream.fd = -1};
}

VkResult tp_icd_buffer_alias(struct tp_icd_pool *p, const VkImageCreateInfo *info,
    const struct tp_icd_buffer *of, const VkAllocationCallbacks *allocator, VkImage *out)
{
    struct tp_icd_pool like = *p;

    /* What the application says is the swapchain's, but for flags and views. */
    like.info.flags = info->flags | p->info.flags;
    return create_image(&like, &of->stream.modifier, p->with_modifiers ? 1 : 0, allocator, out);
}
