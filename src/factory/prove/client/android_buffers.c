/*
 * Buffers of Android's allocator in a driver: imported (VK_ANDROID_external_memory_android_hardware_
 * buffer), handed over by a swapchain (VK_ANDROID_native_buffer), and allocated by the driver itself.
 * What it takes a buffer's layout to be is a fact, "MODIFIER OFFSET+STRIDE", a comma before each
 * further plane; or the error, and the function that gave it. That nothing is left of a buffer,
 * whether it was taken or refused, is a check.
 */
#include <string.h>
#include <vulkan/vulkan_core.h>

#include <vulkan/vulkan_android.h>

#include "android.h"
#include "android_host.h"

#define PLANES_MAX 3

/* What came of a buffer. */
struct outcome {
    const char *at; /* the function that refused it; NULL: it was taken */
    VkResult result;
    uint64_t modifier;
    unsigned planes;
    VkSubresourceLayout layouts[PLANES_MAX];
    /* What the driver suggests for an external format. */
    bool is_external;
    VkSamplerYcbcrModelConversion model;
    VkSamplerYcbcrRange range;
};

/* Functions that the client's table does not have. */
struct functions {
    PFN_vkGetAndroidHardwareBufferPropertiesANDROID get_properties;
    PFN_vkGetMemoryAndroidHardwareBufferANDROID get_buffer;
    PFN_vkGetImageDrmFormatModifierPropertiesEXT get_modifier;
};

static void find(struct tp_run *r, struct functions *out)
{
    PFN_vkGetInstanceProcAddr get = r->client->entry.get_proc;
    VkInstance instance = r->client->instance;
    out->get_properties = (PFN_vkGetAndroidHardwareBufferPropertiesANDROID)get(
        instance, "vkGetAndroidHardwareBufferPropertiesANDROID");
    out->get_buffer = (PFN_vkGetMemoryAndroidHardwareBufferANDROID)get(
        instance, "vkGetMemoryAndroidHardwareBufferANDROID");
    out->get_modifier = (PFN_vkGetImageDrmFormatModifierPropertiesEXT)get(
        instance, "vkGetImageDrmFormatModifierPropertiesEXT");
    if (!out->get_modifier)
        tp_skipped(r, "vkGetImageDrmFormatModifierPropertiesEXT is not there");
}

/* Vulkan's own rules know neither an image of a swapchain's buffer nor the question for the modifier
 * of an image that was not made with one; the layers of Linux know no Android at all. */
static void need(struct tp_run *r, const char *extension, struct functions *out)
{
    struct tp_vendor_buffer first;
    if (!tp_has_extension(r->client, extension))
        tp_skipped(r, "%s is not offered", extension);
    if (r->client->options.layers)
        tp_skipped(r, "not under the validation layer");
    if (!tp_vendor_buffer(0, &first))
        tp_skipped(r, "no " TP_VENDOR_LIBRARY " says how buffers are laid out");
    find(r, out);
    if (strstr(extension, "hardware_buffer") && (!out->get_properties || !out->get_buffer))
        tp_failed(r, "functions of %s are not there", extension);
}

static void read_layout(struct tp_run *r, const struct functions *f, VkImage image, unsigned planes,
                        struct outcome *o)
{
    static const VkImageAspectFlagBits of_planes[PLANES_MAX] = {
        VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT, VK_IMAGE_ASPECT_PLANE_2_BIT};
    VkImageDrmFormatModifierPropertiesEXT p = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT,
    };
    o->result = f->get_modifier(r->device, image, &p);
    if (o->result != VK_SUCCESS) {
        o->at = "vkGetImageDrmFormatModifierPropertiesEXT";
        return;
    }
    o->modifier = p.drmFormatModifier;
    o->planes = planes;
    for (unsigned i = 0; i < planes; i++) {
        VkImageSubresource part = {.aspectMask = planes > 1 ? of_planes[i]
                                                            : VK_IMAGE_ASPECT_COLOR_BIT};
        r->vk->GetImageSubresourceLayout(r->device, image, &part, &o->layouts[i]);
    }
}

/* As a fact, "MODEL RANGE": 601 narrow. */
static void print_color(const char *kind, const struct outcome *o)
{
    static const char *const models[] = {"rgb", "identity", "709", "601", "2020"};
    char fact[64], text[64];
    if (!o->is_external)
        return;
    snprintf(fact, sizeof fact, "ycbcr_%s", kind);
    snprintf(text, sizeof text, "%s %s", (unsigned)o->model < 5 ? models[o->model] : "?",
             o->range == VK_SAMPLER_YCBCR_RANGE_ITU_NARROW ? "narrow" : "full");
    tp_print_string(fact, text);
}

static void print_outcome(const char *prefix, const char *kind, const struct outcome *o)
{
    char fact[64], text[200];
    int n;
    snprintf(fact, sizeof fact, "%s_%s", prefix, kind);
    if (o->at) {
        snprintf(text, sizeof text, "%s by %s", tp_vk_result(o->result), o->at);
        tp_print_string(fact, text);
        return;
    }
    n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)o->modifier);
    for (unsigned i = 0; i < o->planes; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%c%llu+%llu", i ? ',' : ' ',
                      (unsigned long long)o->layouts[i].offset,
                      (unsigned long long)o->layouts[i].rowPitch);
    tp_print_string(fact, text);
}

/* Mesa's external formats are VkFormats. */
static unsigned planes_of(uint64_t format)
{
    switch (format) {
    case VK_FORMAT_G8_B8R8_2PLANE_420_UNORM:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16:
        return 2;
    case VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM:
        return 3;
    default:
        return 1;
    }
}

static bool refused(struct outcome *o, const char *at, VkResult result)
{
    o->result = result;
    o->at = result == VK_SUCCESS ? NULL : at;
    return o->at;
}

static VkImageUsageFlags image_usage(uint64_t usage, bool is_external)
{
    enum { GPU_FRAMEBUFFER = 0x200 };
    VkImageUsageFlags flags = VK_IMAGE_USAGE_SAMPLED_BIT;
    return !is_external && usage & GPU_FRAMEBUFFER ? flags | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
                                                   : flags;
}

static bool allocate(struct tp_run *r, VkImage image, struct AHardwareBuffer *buffer,
                     const VkAndroidHardwareBufferPropertiesANDROID *p, VkDeviceMemory *memory,
                     struct outcome *o)
{
    VkImportAndroidHardwareBufferInfoANDROID import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID,
        .buffer = buffer,
    };
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = &import,
        .image = image,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &dedicated,
        .allocationSize = p->allocationSize,
    };
    while (info.memoryTypeIndex < 31 && !(p->memoryTypeBits >> info.memoryTypeIndex & 1))
        info.memoryTypeIndex++;
    return !refused(o, "vkAllocateMemory", r->vk->AllocateMemory(r->device, &info, NULL, memory)) &&
           !refused(o, "vkBindImageMemory",
                    r->vk->BindImageMemory(r->device, image, *memory, 0));
}

/* Imports BUFFER as an app does; all that is made goes again. */
static struct outcome import(struct tp_run *r, const struct functions *f,
                             struct AHardwareBuffer *buffer)
{
    struct outcome o = {0};
    struct AHardwareBuffer_Desc desc;
    AHardwareBuffer_describe(buffer, &desc);
    VkAndroidHardwareBufferFormatPropertiesANDROID format = {
        .sType = VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_FORMAT_PROPERTIES_ANDROID,
    };
    VkAndroidHardwareBufferPropertiesANDROID p = {
        .sType = VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_PROPERTIES_ANDROID,
        .pNext = &format,
    };
    if (refused(&o, "vkGetAndroidHardwareBufferPropertiesANDROID",
                f->get_properties(r->device, buffer, &p)))
        return o;
    bool is_external = format.format == VK_FORMAT_UNDEFINED;
    o.is_external = is_external;
    o.model = format.suggestedYcbcrModel;
    o.range = format.suggestedYcbcrRange;
    VkExternalFormatANDROID external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_FORMAT_ANDROID,
        .externalFormat = is_external ? format.externalFormat : 0,
    };
    VkExternalMemoryImageCreateInfo handles = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .pNext = &external,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID,
    };
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &handles,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format.format,
        .extent = {desc.width, desc.height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = image_usage(desc.usage, is_external),
    };
    VkImage image = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    if (!refused(&o, "vkCreateImage", r->vk->CreateImage(r->device, &info, NULL, &image)) &&
        allocate(r, image, buffer, &p, &memory, &o))
        read_layout(r, f, image, planes_of(is_external ? format.externalFormat : 0), &o);
    r->vk->DestroyImage(r->device, image, NULL);
    r->vk->FreeMemory(r->device, memory, NULL);
    return o;
}

/* vk_android_native_buffer.h, as far as it goes here: what is behind is not looked at. */
#define STRUCTURE_TYPE_NATIVE_BUFFER ((VkStructureType)1000010000)
struct native_buffer {
    VkStructureType sType;
    const void *pNext;
    const struct tp_native_handle *handle;
    int stride_px, format, usage;
    uint64_t consumer, producer;
};

/* An image of a swapchain's buffer, as Android's libvulkan makes it. */
static struct outcome wrap(struct tp_run *r, const struct functions *f,
                           struct AHardwareBuffer *buffer)
{
    struct outcome o = {0};
    struct AHardwareBuffer_Desc desc;
    AHardwareBuffer_describe(buffer, &desc);
    struct native_buffer native = {
        .sType = STRUCTURE_TYPE_NATIVE_BUFFER,
        .handle = AHardwareBuffer_getNativeHandle(buffer),
        .stride_px = (int)desc.stride,
        .format = (int)desc.format,
    };
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &native,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {desc.width, desc.height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    VkImage image = VK_NULL_HANDLE;
    if (!refused(&o, "vkCreateImage", r->vk->CreateImage(r->device, &info, NULL, &image)))
        read_layout(r, f, image, 1, &o);
    r->vk->DestroyImage(r->device, image, NULL);
    return o;
}

typedef struct outcome (*take)(struct tp_run *r, const struct functions *f,
                               struct AHardwareBuffer *buffer);

/* Has the driver take a buffer, and looks at what is left of it. */
static void look_at(struct tp_run *r, const struct functions *f, take function, const char *prefix,
                    const struct tp_vendor_buffer *like)
{
    unsigned before = tp_open_fds(), alive = tp_buffers_alive();
    struct AHardwareBuffer *buffer = tp_buffer_make(like);
    if (!buffer)
        tp_skipped(r, "/dev/dma_heap/system gives no buffer");
    struct outcome o = function(r, f, buffer);
    unsigned references = tp_buffer_references(buffer);
    print_outcome(prefix, like->kind, &o);
    print_color(like->kind, &o);
    AHardwareBuffer_release(buffer);
    if (references != 1)
        tp_failed(r, "%s: %u references to the buffer are left", like->kind, references - 1);
    if (tp_buffers_alive() != alive)
        tp_failed(r, "%s: other buffers are left", like->kind);
    if (tp_open_fds() != before)
        tp_failed(r, "%s: %u file descriptors, where %u were before", like->kind, tp_open_fds(),
                  before);
    r->lost |= o.result == VK_ERROR_DEVICE_LOST;
    if (o.result > 0 || r->lost) /* no refusal of a buffer */
        tp_failed(r, "%s: %s: %s", like->kind, o.at ? o.at : "", tp_vk_result(o.result));
}

/* Answers how many there were. */
static unsigned look_at_all(struct tp_run *r, const struct functions *f, take function,
                            const char *prefix, bool of_windows)
{
    enum { RGBA_8888 = 1 };
    struct tp_vendor_buffer like;
    unsigned count = 0;
    for (unsigned n = 0; tp_vendor_buffer(n, &like); n++) {
        if (of_windows && like.format != RGBA_8888)
            continue;
        look_at(r, f, function, prefix, &like);
        count++;
    }
    return count;
}

#define AHB_EXTENSION "VK_ANDROID_external_memory_android_hardware_buffer"

void tp_check_ahb_import(struct tp_run *r)
{
    struct functions f;
    need(r, AHB_EXTENSION, &f);
    tp_note(r, "%u kinds", look_at_all(r, &f, import, "ahb", false));
}

void tp_check_native_buffer(struct tp_run *r)
{
    struct functions f;
    need(r, "VK_ANDROID_native_buffer", &f);
    tp_note(r, "%u kinds", look_at_all(r, &f, wrap, "native_buffer", true));
}

/* The whole way: the driver says what it wants, the vendor allocates that, the driver reads it. */
static void go_round(struct tp_run *r, const struct functions *f, const char *kind,
                     const void *input_next)
{
    enum { SIDE = 256, RGBA_8888 = 1 };
    struct AHardwareBuffer_Desc desc = {
        .width = SIDE, .height = SIDE, .layers = 1, .format = RGBA_8888};
    struct AHardwareBuffer *buffer;
    if (!tp_ahb_ask(r, VK_IMAGE_TILING_OPTIMAL, 0, input_next, &desc.usage))
        return;
    if (AHardwareBuffer_allocate(&desc, &buffer))
        tp_skipped(r, "/dev/dma_heap/system gives no buffer");
    struct outcome o = import(r, f, buffer);
    AHardwareBuffer_release(buffer);
    print_outcome("ahb_swapchain", kind, &o);
}

void tp_check_ahb_swapchain(struct tp_run *r)
{
    struct functions f;
    VkImageCompressionControlEXT disabled = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT,
        .flags = VK_IMAGE_COMPRESSION_DISABLED_EXT,
    };
    need(r, AHB_EXTENSION, &f);
    go_round(r, &f, "plain", NULL);
    go_round(r, &f, "disabled", &disabled);
}

void tp_check_ahb_export(struct tp_run *r)
{
    enum { SIDE = 256 };
    struct functions f;
    need(r, AHB_EXTENSION, &f);
    unsigned alive = tp_buffers_alive();
    VkImage image = tp_make_ahb_image(r, SIDE);
    VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID,
    };
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = &export,
        .image = image,
    };
    VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &dedicated,
    };
    VkDeviceMemory memory;
    TP_CALL(r, AllocateMemory, r->device, &allocation, NULL, &memory);
    tp_own(r, TP_KIND_DeviceMemory, TP_HANDLE(memory));
    TP_CALL(r, BindImageMemory, r->device, image, memory, 0);
    VkMemoryGetAndroidHardwareBufferInfoANDROID get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_ANDROID_HARDWARE_BUFFER_INFO_ANDROID,
        .memory = memory,
    };
    struct AHardwareBuffer *buffer;
    tp_called(r, "vkGetMemoryAndroidHardwareBufferANDROID", f.get_buffer(r->device, &get, &buffer));
    struct AHardwareBuffer_Desc desc;
    AHardwareBuffer_describe(buffer, &desc);
    unsigned references = tp_buffer_references(buffer);
    AHardwareBuffer_release(buffer);
    TP_DESTROY(r, Image, image);
    TP_DESTROY(r, DeviceMemory, memory);
    tp_print_bits("ahb_export_usage", desc.usage);
    if (references != 2)
        tp_failed(r, "an exported buffer has %u references, where the driver's and the client's are "
                     "right", references);
    if (tp_buffers_alive() != alive)
        tp_failed(r, "the buffer outlives its memory");
}
