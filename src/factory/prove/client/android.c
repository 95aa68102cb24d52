/*
 * What a driver and Android's allocator of buffers say to each other: the usage bits that it is asked
 * for (VkAndroidHardwareBufferUsageANDROID of VK_ANDROID_external_memory_android_hardware_buffer), and
 * what is read of a buffer that a swapchain hands over (VK_ANDROID_native_buffer).
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

#include <vulkan/vulkan_android.h>

#include "client.h"

/* The answer for a colour attachment, written as a fact. Answers false where there is none. */
static bool ask(struct tp_run *r, const char *fact, VkImageTiling tiling, const void *input_next)
{
    VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .pNext = (void *)input_next,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID,
    };
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = tiling,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    VkAndroidHardwareBufferUsageANDROID usage = {
        .sType = VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_USAGE_ANDROID,
    };
    VkImageFormatProperties2 p = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
        .pNext = &usage,
    };
    /* Not through the layer: those of Linux distributions are built without Android's platform, and
     * take the handle type for one of an extension that the device lacks
     * (VUID-VkPhysicalDeviceExternalImageFormatInfo-handleType-parameter, from 1.4 on). */
    VkResult result = tp_layers_below(r->client)->GetPhysicalDeviceImageFormatProperties2(
        r->client->physical, &info, &p);
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED) {
        tp_print_string(fact, "not supported");
        return false;
    }
    tp_called(r, "vkGetPhysicalDeviceImageFormatProperties2", result);
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)usage.androidHardwareBufferUsage);
    tp_print_string(fact, text);
    return true;
}

static void check_usage(struct tp_run *r)
{
    if (!r->client->caps.android_buffers)
        tp_skipped(r, "VK_ANDROID_external_memory_android_hardware_buffer is not offered");
    VkImageCompressionControlEXT disabled = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT,
        .flags = VK_IMAGE_COMPRESSION_DISABLED_EXT,
    };
    if (!ask(r, "ahb_usage_plain", VK_IMAGE_TILING_OPTIMAL, NULL))
        tp_failed(r, "vkGetPhysicalDeviceImageFormatProperties2: no AHardwareBuffer for a plain "
                     "colour attachment");
    ask(r, "ahb_usage_disabled", VK_IMAGE_TILING_OPTIMAL, &disabled);
    ask(r, "ahb_usage_linear", VK_IMAGE_TILING_LINEAR, NULL);
}

/* AOSP's native_handle_t with one fd and two ints. */
struct handle {
    int version, fd_count, int_count;
    int fd, ints[2];
};

/* vk_android_native_buffer.h, as far as it goes here: what is behind is not looked at. */
#define STRUCTURE_TYPE_NATIVE_BUFFER ((VkStructureType)1000010000)
struct native_buffer {
    VkStructureType sType;
    const void *pNext;
    const struct handle *handle;
    int stride_px, format, usage;
    uint64_t consumer, producer;
};

/* linux/dma-heap.h */
struct heap_allocation {
    uint64_t bytes;
    uint32_t fd, fd_flags;
    uint64_t heap_flags;
};
#define HEAP_ALLOCATE _IOWR('H', 0, struct heap_allocation)

static int make_dma_buf(struct tp_run *r, uint64_t bytes)
{
    struct heap_allocation a = {.bytes = bytes, .fd_flags = O_RDWR | O_CLOEXEC};
    int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
    int failed = heap < 0 ? -1 : ioctl(heap, HEAP_ALLOCATE, &a);
    if (heap >= 0)
        close(heap);
    if (failed)
        tp_skipped(r, "/dev/dma_heap/system gives no buffer");
    tp_own(r, TP_KIND_Fd, a.fd);
    return (int)a.fd;
}

/* FLAGS: the second of the handle's ints, as Qualcomm's gralloc has them; the first is no mark. Writes
 * the layout that the driver takes the buffer to have as a fact. */
static void wrap(struct tp_run *r, const char *fact, int flags)
{
    enum { SIDE = 256, PIXEL_BYTES = 4, RGBA_8888 = 1 };
    PFN_vkGetImageDrmFormatModifierPropertiesEXT get_modifier =
        (PFN_vkGetImageDrmFormatModifierPropertiesEXT)r->client->entry.get_proc(
            r->client->instance, "vkGetImageDrmFormatModifierPropertiesEXT");
    if (!get_modifier)
        tp_skipped(r, "vkGetImageDrmFormatModifierPropertiesEXT is not there");
    struct handle handle = {
        .version = 12, /* sizeof(native_handle_t) */
        .fd_count = 1,
        .int_count = 2,
        .fd = make_dma_buf(r, 2 * SIDE * SIDE * PIXEL_BYTES), /* with room for flags */
        .ints = {0, flags},
    };
    struct native_buffer native = {
        .sType = STRUCTURE_TYPE_NATIVE_BUFFER,
        .handle = &handle,
        .stride_px = SIDE,
        .format = RGBA_8888,
    };
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &native,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {SIDE, SIDE, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    VkImage image;
    TP_MAKE(r, Image, &info, &image);
    VkImageDrmFormatModifierPropertiesEXT p = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT,
    };
    tp_called(r, "vkGetImageDrmFormatModifierPropertiesEXT", get_modifier(r->device, image, &p));
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)p.drmFormatModifier);
    tp_print_string(fact, text);
}

/* Vulkan's own rules know neither such an image nor the question about it. */
static void check_native_buffer(struct tp_run *r)
{
    if (!tp_has_extension(r->client, "VK_ANDROID_native_buffer"))
        tp_skipped(r, "VK_ANDROID_native_buffer is not offered");
    if (r->client->options.layers)
        tp_skipped(r, "not under the validation layer");
    wrap(r, "native_buffer_compressed", 0x08000000); /* UBWC, since the A5xx */
    wrap(r, "native_buffer_plain", 0);
}

const struct tp_check tp_android_checks[] = {
    {"ahb_usage", "what is asked of Android's allocator for an image", check_usage},
    {"native_buffer", "what is read of a buffer of Android's allocator", check_native_buffer},
    {0},
};
