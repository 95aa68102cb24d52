/*
 * What a driver asks of Android's allocator of buffers: the usage bits for an image
 * (VkAndroidHardwareBufferUsageANDROID of VK_ANDROID_external_memory_android_hardware_buffer).
 */
#include <stdio.h>
#include <vulkan/vulkan_core.h>

#include <vulkan/vulkan_android.h>

#include "android.h"
#include "android_host.h"

bool tp_ahb_ask(struct tp_run *r, VkImageTiling tiling, VkImageCreateFlags flags,
                const void *input_next, uint64_t *out)
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
        .flags = flags,
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
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED)
        return false;
    tp_called(r, "vkGetPhysicalDeviceImageFormatProperties2", result);
    *out = usage.androidHardwareBufferUsage;
    return true;
}

void tp_print_bits(const char *fact, uint64_t bits)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)bits);
    tp_print_string(fact, text);
}

/* The answer, written as a fact. Answers false where there is none. */
static bool ask(struct tp_run *r, const char *fact, VkImageTiling tiling, VkImageCreateFlags flags,
                const void *input_next)
{
    uint64_t usage;
    bool is_offered = tp_ahb_ask(r, tiling, flags, input_next, &usage);
    if (is_offered)
        tp_print_bits(fact, usage);
    else
        tp_print_string(fact, "not supported");
    return is_offered;
}

/* Images whose format may be reinterpreted: as anything; as a swapchain's pair of formats; as formats
 * that few GPUs compress alike. */
static void ask_mutable(struct tp_run *r)
{
    static const VkFormat pair[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB},
                          mixed[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT};
    VkImageFormatListCreateInfo list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .viewFormatCount = 2,
        .pViewFormats = pair,
    };
    const VkImageCreateFlags mutable = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    ask(r, "ahb_usage_mutable", VK_IMAGE_TILING_OPTIMAL, mutable, NULL);
    ask(r, "ahb_usage_pair", VK_IMAGE_TILING_OPTIMAL, mutable, &list);
    list.pViewFormats = mixed;
    ask(r, "ahb_usage_mixed", VK_IMAGE_TILING_OPTIMAL, mutable, &list);
}

static void check_usage(struct tp_run *r)
{
    if (!r->client->caps.android_buffers)
        tp_skipped(r, "VK_ANDROID_external_memory_android_hardware_buffer is not offered");
    VkImageCompressionControlEXT disabled = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT,
        .flags = VK_IMAGE_COMPRESSION_DISABLED_EXT,
    };
    tp_buffers_asked();
    if (!ask(r, "ahb_usage_plain", VK_IMAGE_TILING_OPTIMAL, 0, NULL))
        tp_failed(r, "vkGetPhysicalDeviceImageFormatProperties2: no AHardwareBuffer for a plain "
                     "colour attachment");
    ask(r, "ahb_usage_disabled", VK_IMAGE_TILING_OPTIMAL, 0, &disabled);
    ask(r, "ahb_usage_linear", VK_IMAGE_TILING_LINEAR, 0, NULL);
    ask_mutable(r);
    /* What the driver itself has asked the allocator for meanwhile: whether there could be such a
     * buffer. */
    tp_print_bits("ahb_usage_tried", tp_buffers_asked());
}

const struct tp_check tp_android_checks[] = {
    {"ahb_usage", "what is asked of Android's allocator for an image", check_usage},
    {"ahb_import", "buffers of Android's allocator, of each kind", tp_check_ahb_import},
    {"ahb_swapchain", "usage asked, a buffer allocated with it, and imported", tp_check_ahb_swapchain},
    {"ahb_export", "memory that is allocated as a buffer", tp_check_ahb_export},
    {"ahb_draw", "the same, rendered to", tp_check_ahb_draw},
    {"ahb_draw_disabled", "the same with compression disabled", tp_check_ahb_draw_disabled},
    {"native_buffer", "ahb_import's buffers, as a swapchain hands them over", tp_check_native_buffer},
    {0},
};
