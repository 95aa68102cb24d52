/* Fixture: private memory that all shaders share. */
#include "tu_shader.h"

static VkResult
tu_setup_pvtmem(struct tu_device *dev, struct tu_shader *shader, uint32_t pvtmem_bytes)
{
   struct tu_pvtmem_bo *pvtmem_bo = &dev->fiber_pvtmem_bo;
   mtx_lock(&pvtmem_bo->mtx);

   if (pvtmem_bo->per_fiber_size < pvtmem_bytes) {
      if (pvtmem_bo->bo)
         tu_bo_finish(dev, pvtmem_bo->bo);

      pvtmem_bo->per_fiber_size = pvtmem_bytes;

      VkResult result = tu_bo_init_new(dev, NULL, &pvtmem_bo->bo, pvtmem_bytes,
                                       TU_BO_ALLOC_INTERNAL_RESOURCE, "pvtmem");
      if (result != VK_SUCCESS) {
         mtx_unlock(&pvtmem_bo->mtx);
         return result;
      }
   }

   shader->pvtmem_bo = tu_bo_get_ref(pvtmem_bo->bo);
   mtx_unlock(&pvtmem_bo->mtx);

   return VK_SUCCESS;
}
