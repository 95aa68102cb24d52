/* Fixture: hardware buffers, answered for every driver; the answer stands in a block. */
#include "vk_android.h"

#include "vk_physical_device.h"
#include "vk_util.h"

#if ANDROID_API_LEVEL >= 26
#include <vndk/hardware_buffer.h>

static int
dup_first_fd(const VkNativeBufferANDROID *anb)
{
   assert(anb->handle && anb->handle->numFds > 0);

   return os_dupfd_cloexec(anb->handle->data[0]);
}

uint64_t
vk_image_usage_to_ahb_usage(const VkImageCreateFlags2KHR vk_create,
                            const VkImageUsageFlags2KHR vk_usage)
{
   uint64_t ahb_usage = 0;
   if (vk_usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)
      ahb_usage |= AHARDWAREBUFFER_USAGE_GPU_FRAMEBUFFER;

   return ahb_usage;
}

VkResult
vk_android_get_ahb_image_properties(
   VkPhysicalDevice pdev_handle,
   const VkPhysicalDeviceImageFormatInfo2 *info,
   VkImageFormatProperties2 *props)
{
   VK_FROM_HANDLE(vk_physical_device, pdevice, pdev_handle);
   VkAndroidHardwareBufferUsageANDROID *ahb_usage;

   if (info->type != VK_IMAGE_TYPE_2D)
      return vk_errorf(pdevice, VK_ERROR_FORMAT_NOT_SUPPORTED, "type (%u)", info->type);

   ahb_usage =
      vk_find_struct(props->pNext, ANDROID_HARDWARE_BUFFER_USAGE_ANDROID);
   if (ahb_usage) {
      ahb_usage->androidHardwareBufferUsage =
         vk_image_usage_to_ahb_usage(info->flags, info->usage);
   }

   return VK_SUCCESS;
}

#endif
