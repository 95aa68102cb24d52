/*
 * Copyright © 2026 The turnpike authors
 * SPDX-License-Identifier: MIT
 */

#ifndef VK_AHB_COMPRESSION_H
#define VK_AHB_COMPRESSION_H

#include "vk_physical_device.h"
#include "vk_util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* AHARDWAREBUFFER_USAGE_CPU_READ_MASK | AHARDWAREBUFFER_USAGE_CPU_WRITE_MASK */
#define VK_AHB_USAGE_CPU_MASK UINT64_C(0xff)

/**
 * The usage to answer in VkAndroidHardwareBufferUsageANDROID: with the driver's vendor bits for a
 * compressed layout, unless the image may not be compressed.
 *
 * A buffer that the CPU reads or writes must be linear. So must one whose creator asked for linear
 * tiling or switched compression off.
 */
static inline uint64_t
vk_ahb_usage_compressed(const struct vk_physical_device *pdevice,
                        const VkPhysicalDeviceImageFormatInfo2 *info,
                        uint64_t usage)
{
   const VkImageCompressionControlEXT *control =
      vk_find_struct_const(info->pNext, IMAGE_COMPRESSION_CONTROL_EXT);

   if ((usage & VK_AHB_USAGE_CPU_MASK) ||
       info->tiling == VK_IMAGE_TILING_LINEAR ||
       (control && (control->flags & VK_IMAGE_COMPRESSION_DISABLED_EXT)))
      return usage;

   return usage | pdevice->ahb_vendor_usage_compressed;
}

#ifdef __cplusplus
}
#endif

#endif /* VK_AHB_COMPRESSION_H */
