/* Fixture: how a render pass comes to be rendered. */
#include "tu_cmd_buffer.h"

static bool
use_sysmem_rendering(struct tu_cmd_buffer *cmd,
                     struct tu_renderpass_result **autotune_result)
{
   if (TU_DEBUG(SYSMEM)) {
      cmd->state.rp.gmem_disable_reason = "TU_DEBUG(SYSMEM)";
      return true;
   }

   /* can't fit attachments into gmem */
   if (!cmd->state.tiling->possible) {
      cmd->state.rp.gmem_disable_reason = "Attachments do not fit";
      return true;
   }

   if (cmd->state.rp.disable_gmem) {
      /* the reason was given where it was set */
      return true;
   }

   if (TU_DEBUG(GMEM))
      return false;

   return tu_autotune_use_bypass(&cmd->device->autotune, cmd, autotune_result);
}
