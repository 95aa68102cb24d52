/*
 * Copyright © 2026 The turnpike authors
 * SPDX-License-Identifier: MIT
 */

/* Included where Turnip itself answers which usage an image needs; in newer Mesas the runtime does. */

#ifndef TU_AHB_COMPRESSION_H
#define TU_AHB_COMPRESSION_H

#include "tu_device.h"
#include "tu_formats.h"
#include "tu_image.h"

#include "vk_ahb_compression.h"

/* All formats of a list could be compressed; a list that is not there may have any. */
static inline bool
tu_ahb_list_could_be_compressed(struct tu_physical_device *physical_device,
                                const VkPhysicalDeviceImageFormatInfo2 *info,
                                const VkImageFormatListCreateInfo *list)
{
   if (!list || !list->viewFormatCount)
      return false;

   for (uint32_t i = 0; i < list->viewFormatCount; i++) {
      if (!ubwc_possible(NULL, list->pViewFormats[i], info->type, info->usage, info->usage,
                         physical_device->info, VK_SAMPLE_COUNT_1_BIT, 1,
                         physical_device->info->a6xx.has_z24uint_s8uint))
         return false;
   }

   return true;
}

/* Whether tu_image_init would compress such an image: where it would not, a compressed buffer is one
 * that the image cannot be.
 */
static inline bool
tu_ahb_could_be_compressed(struct tu_physical_device *physical_device,
                           const VkPhysicalDeviceImageFormatInfo2 *info)
{
   const struct fd_dev_info *gpu = physical_device->info;

   if (TU_DEBUG(NOUBWC) ||
       info->type == VK_IMAGE_TYPE_1D ||
       (info->usage & VK_IMAGE_USAGE_FRAGMENT_DENSITY_MAP_BIT_EXT) ||
       !tiling_possible(info->format) ||
       !ubwc_possible(NULL, info->format, info->type, info->usage, info->usage, gpu,
                      VK_SAMPLE_COUNT_1_BIT, 1, gpu->a6xx.has_z24uint_s8uint))
      return false;

   if (!(info->flags & VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT) ||
       vk_format_is_depth_or_stencil(info->format))
      return true;

   const VkImageFormatListCreateInfo *list =
      vk_find_struct_const(info->pNext, IMAGE_FORMAT_LIST_CREATE_INFO);
   if (tu6_mutable_format_list_ubwc_compatible(gpu, list))
      return true;

   return gpu->a7xx.ubwc_all_formats_compatible &&
          info->format != VK_FORMAT_G8_B8R8_2PLANE_420_UNORM &&
          tu_ahb_list_could_be_compressed(physical_device, info, list);
}

static inline uint64_t
tu_ahb_usage_compressed(struct tu_physical_device *physical_device,
                        const VkPhysicalDeviceImageFormatInfo2 *info,
                        uint64_t usage)
{
   return tu_ahb_could_be_compressed(physical_device, info) ?
      vk_ahb_usage_compressed(&physical_device->vk, info, usage) : usage;
}

#endif /* TU_AHB_COMPRESSION_H */
