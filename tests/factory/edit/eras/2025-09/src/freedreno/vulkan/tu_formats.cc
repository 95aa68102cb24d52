/* Fixture: the runtime answers for hardware buffers. */
#include "tu_formats.h"

#include "vk_android.h"
#include "vk_util.h"

VKAPI_ATTR VkResult VKAPI_CALL
tu_GetPhysicalDeviceImageFormatProperties2(
   VkPhysicalDevice physicalDevice,
   const VkPhysicalDeviceImageFormatInfo2 *base_info,
   VkImageFormatProperties2 *base_props)
{
   VK_FROM_HANDLE(tu_physical_device, physical_device, physicalDevice);

   return vk_android_get_ahb_image_properties(physicalDevice, base_info, base_props);
}
