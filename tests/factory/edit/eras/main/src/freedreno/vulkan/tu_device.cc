/* Fixture: what a physical device says of itself. */
#include "tu_device.h"

#include "git_sha1.h"
#include "vk_android.h"
#include "vk_util.h"

#include "tu_cmd_buffer.h"
#include "tu_rmv.h"
#include "tu_tracepoints.h"
#include "tu_wsi.h"

static bool
is_kgsl(struct tu_instance *instance)
{
   return strcmp(instance->knl->name, "kgsl") == 0;
}

static void
get_device_extensions(const struct tu_physical_device *device,
                      struct vk_device_extension_table *ext)
{
   *ext = (struct vk_device_extension_table) { .table = {
      .KHR_8bit_storage = device->info->props.storage_8bit,
      .KHR_calibrated_timestamps = device->info->props.has_persistent_counter,
#ifdef TU_USE_WSI_PLATFORM
      .KHR_swapchain = true,
#endif
      .EXT_calibrated_timestamps = device->info->props.has_persistent_counter,
      .EXT_physical_device_drm = !is_kgsl(device->instance),
#ifdef TU_USE_WSI_PLATFORM
      .EXT_present_timing = device->info->props.has_persistent_counter,
#endif
      .EXT_robustness2 = true,
      .EXT_shader_image_atomic_int64 = device->info->props.has_64b_image_atomics,
   } };
}

static void
tu_get_features(struct tu_physical_device *pdevice,
                struct vk_features *features)
{
   *features = (struct vk_features) {
      .robustBufferAccess = true,
   };

   /* VK_EXT_shader_image_atomic_int64 */
   features->shaderImageInt64Atomics = pdevice->info->props.has_64b_image_atomics;
   features->sparseImageInt64Atomics = false;

#ifdef TU_USE_WSI_PLATFORM
   /* VK_EXT_present_timing */
   features->presentTiming = true;
   features->presentAtRelativeTime = true;
   features->presentAtAbsoluteTime = true;
#endif
}

static void
tu_get_physical_device_properties_1_2(struct tu_physical_device *pdevice,
                                      struct vk_properties *p)
{
   memset(p->driverName, 0, sizeof(p->driverName));
   snprintf(p->driverName, VK_MAX_DRIVER_NAME_SIZE,
            "a driver");
   memset(p->driverInfo, 0, sizeof(p->driverInfo));
   snprintf(p->driverInfo, VK_MAX_DRIVER_INFO_SIZE,
            "Mesa " PACKAGE_VERSION MESA_GIT_SHA1);
   p->conformanceVersion = (VkConformanceVersion) {
      .major = 1,
   };
}

VkResult
tu_physical_device_init(struct tu_physical_device *device,
                        struct tu_instance *instance)
{
   VkResult result = vk_physical_device_init(&device->vk, &instance->vk, NULL, NULL, NULL, NULL);
   if (result != VK_SUCCESS)
      return result;

   get_device_extensions(device, &device->vk.supported_extensions);
   tu_get_features(device, &device->vk.supported_features);

   device->vk.supported_sync_types = device->sync_types;

#ifdef TU_USE_WSI_PLATFORM
   result = tu_wsi_init(device);
#endif

   return result;
}

VkResult
tu_CreateDevice(struct tu_physical_device *physical_device, struct tu_device *device)
{
   VkResult result = tu_bo_init_new(device, NULL, &device->global_bo, 4096, 0, "global");
   if (result != VK_SUCCESS)
      goto fail_global_bo;

   result = tu_init_empty_shaders(device);
   if (result != VK_SUCCESS)
      goto fail_empty_shaders;

   tu_cs_init(&device->sub_cs, device, TU_CS_MODE_SUB_STREAM, 1024, "device sub cs");

   result = tu_init_bin_preamble(device);
   if (result != VK_SUCCESS)
      goto fail_bin_preamble;

   tu_init_dbg_reg_stomper(device);

   return VK_SUCCESS;

fail_bin_preamble:
   tu_cs_finish(&device->sub_cs);
   tu_destroy_empty_shaders(device);
fail_empty_shaders:
   TU_RMV(resource_destroy, device, device->global_bo);
   tu_bo_finish(device, device->global_bo);
fail_global_bo:
   if (physical_device->has_set_iova)
      util_vma_heap_finish(&device->vma);
   return result;
}

void
tu_DestroyDevice(struct tu_device *device)
{
   if (device->fiber_pvtmem_bo.bo)
      tu_bo_finish(device, device->fiber_pvtmem_bo.bo);

   if (device->wave_pvtmem_bo.bo)
      tu_bo_finish(device, device->wave_pvtmem_bo.bo);

   tu_bo_finish(device, device->global_bo);
}
