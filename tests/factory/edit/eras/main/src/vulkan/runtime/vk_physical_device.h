/* Fixture: the runtime's part of a physical device. */
#ifndef VK_PHYSICAL_DEVICE_H
#define VK_PHYSICAL_DEVICE_H

#include "vk_dispatch_table.h"
#include "vk_object.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wsi_device;

struct vk_physical_device {
   struct vk_object_base base;

   /** WSI device, or NULL */
   struct wsi_device *wsi_device;

   const struct vk_sync_type *const *supported_sync_types;

   /** to import pipeline caches */
   const struct vk_pipeline_cache_object_ops *const *pipeline_cache_import_ops;
};

VK_DEFINE_HANDLE_CASTS(vk_physical_device, base, VkPhysicalDevice,
                       VK_OBJECT_TYPE_PHYSICAL_DEVICE);

static inline bool
vk_physical_device_is_wsi(const struct vk_physical_device *pdevice)
{
   return pdevice->wsi_device;
}

#ifdef __cplusplus
}
#endif

#endif
