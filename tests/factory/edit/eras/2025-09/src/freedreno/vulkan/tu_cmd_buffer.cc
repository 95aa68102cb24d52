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

template <chip CHIP>
VkResult
tu_EndCommandBuffer(struct tu_cmd_buffer *cmd_buffer)
{
   tu_cs_end(&cmd_buffer->cs);
   tu_cs_end(&cmd_buffer->draw_cs);

   return vk_command_buffer_end(&cmd_buffer->vk);
}

static void
tu6_lazy_init_vsc(struct tu_cmd_buffer *cmd)
{
   struct tu_device *dev = cmd->device;
   struct tu_bo *vsc_bo;
   uint32_t size0 = cmd->vsc_prim_strm_pitch + cmd->vsc_draw_strm_pitch;

   tu_get_scratch_bo(dev, size0, &vsc_bo);

   cmd->vsc_prim_strm_va = vsc_bo->iova;
}
