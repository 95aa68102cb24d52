/*
 * The usage bits that the driver asks of Android's allocator for an image
 * (VkAndroidHardwareBufferUsageANDROID of VK_ANDROID_external_memory_android_hardware_buffer).
 */
#include <stdio.h>
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
    VkResult result =
        r->vk->GetPhysicalDeviceImageFormatProperties2(r->client->physical, &info, &p);
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

const struct tp_check tp_android_checks[] = {
    {"ahb_usage", "what is asked of Android's allocator for an image", check_usage},
    {0},
};
