/* Fixture: a command stream that keeps a status. */
#include "tu_cs.h"

VkResult
tu_cs_reserve_space(struct tu_cs *cs, uint32_t reserved_size)
{
   VkResult result = tu_cs_add_bo(cs, reserved_size);
   if (result != VK_SUCCESS) {
      tu_cs_fail(cs, result);
      return cs->status;
   }

   return VK_SUCCESS;
}
