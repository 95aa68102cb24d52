/* Fixture: how a command stream comes to its memory. */
#include "tu_cs.h"

static struct tu_bo *
tu_cs_current_bo(const struct tu_cs *cs)
{
   if (cs->refcount_bo)
      return cs->refcount_bo;
   return cs->read_only.bos[cs->read_only.bo_count - 1];
}

static VkResult
tu_cs_add_bo(struct tu_cs *cs, uint32_t size)
{
   struct tu_bo *new_bo;

   VkResult result =
      tu_bo_init_new(cs->device, NULL, &new_bo, size * sizeof(uint32_t),
                     TU_BO_ALLOC_ALLOW_DUMP, cs->name);
   if (result != VK_SUCCESS) {
      return result;
   }

   result = tu_bo_map(cs->device, new_bo, NULL);
   if (result != VK_SUCCESS) {
      tu_bo_finish(cs->device, new_bo);
      return result;
   }

   cs->start = cs->cur = (uint32_t *) new_bo->map;
   cs->end = cs->start + size;

   return VK_SUCCESS;
}

VkResult
tu_cs_add_entries(struct tu_cs *cs, struct tu_cs *target)
{
   for (unsigned i = 0; i < target->entry_count; i++) {
      VkResult result = tu_cs_reserve_entry(cs);
      if (result != VK_SUCCESS)
         return result;
      cs->entries[cs->entry_count++] = target->entries[i];
   }

   return VK_SUCCESS;
}

VkResult
tu_cs_reserve_space(struct tu_cs *cs, uint32_t reserved_size)
{
   return tu_cs_add_bo(cs, reserved_size);
}

void
tu_cs_reset(struct tu_cs *cs)
{
   for (uint32_t i = 0; i + 1 < cs->read_only.bo_count; ++i) {
      tu_bo_finish(cs->device, cs->read_only.bos[i]);
   }

   cs->entry_count = 0;
}
