/* Fixture: how a render pass comes to be rendered. */
#include "tu_cmd_buffer.h"

static bool
use_sysmem_rendering(struct tu_cmd_buffer *cmd,
                     tu_autotune::rp_ctx_t *rp_ctx,
                     tu_autotune::rp_key_opt rp_key)
{
   if (TU_DEBUG(SYSMEM)) {
      cmd->state.rp.force_render_mode_reason = "TU_DEBUG(SYSMEM)";
      return true;
   }

   /* can't fit attachments into gmem */
   if (!cmd->state.tiling->possible) {
      cmd->state.rp.force_render_mode_reason = "Attachments do not fit";
      return true;
   }

   if (cmd->state.rp.disable_gmem) {
      /* the reason was given where it was set */
      return true;
   }

   if (TU_DEBUG(GMEM)) {
      cmd->state.rp.force_render_mode_reason = "TU_DEBUG(GMEM)";
      return false;
   }

   tu_autotune::render_mode mode = cmd->device->autotune->get_optimal_mode(cmd, rp_ctx, rp_key);
   return mode == tu_autotune::render_mode::SYSMEM;
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
   cmd->vsc_size = cmd->vsc_prim_strm_pitch + cmd->vsc_draw_strm_pitch;
   cmd->vsc_prim_strm_offset = 0;
   cmd->vsc_draw_strm_offset = cmd->vsc_prim_strm_pitch;
}
