/* A stand-in for what the runtime declares for Android. */
#include "vk_dispatch_table.h"
#include "vk_object.h"

typedef VkFlags64 VkImageCreateFlags2KHR;
typedef VkFlags64 VkImageUsageFlags2KHR;

typedef struct {
    const struct {
        int numFds, data[1];
    } *handle;
} VkNativeBufferANDROID;

static inline int os_dupfd_cloexec(int fd)
{
    return fd;
}

uint64_t vk_image_usage_to_ahb_usage(const VkImageCreateFlags2KHR vk_create,
                                     const VkImageUsageFlags2KHR vk_usage);
VkResult vk_android_get_ahb_image_properties(
    VkPhysicalDevice device, const VkPhysicalDeviceImageFormatInfo2 *info,
    VkImageFormatProperties2 *props);
