/* Fixture: an autotuner made of functions. */
#include "tu_autotune.h"

static bool
fallback_use_bypass(const struct tu_render_pass *pass,
                    const struct tu_cmd_buffer *cmd_buffer)
{
   if (cmd_buffer->state.rp.drawcall_count > 5)
      return false;

   for (unsigned i = 0; i < pass->subpass_count; i++) {
      if (pass->subpasses[i].samples != VK_SAMPLE_COUNT_1_BIT)
         return false;
   }

   return true;
}

bool
tu_autotune_use_bypass(struct tu_autotune *at,
                       struct tu_cmd_buffer *cmd_buffer,
                       struct tu_renderpass_result **autotune_result)
{
   const struct tu_render_pass *pass = cmd_buffer->state.pass;
   uint32_t avg_samples = 0;

   if (get_history(at, &avg_samples)) {
      uint64_t sysmem_bandwidth = pass->sysmem_bandwidth_per_pixel;
      uint64_t gmem_bandwidth = pass->gmem_bandwidth_per_pixel;
      const uint64_t total_draw_call_bandwidth = avg_samples;

      sysmem_bandwidth += total_draw_call_bandwidth;
      gmem_bandwidth = (gmem_bandwidth * 11 + total_draw_call_bandwidth) / 10;

      return sysmem_bandwidth <= gmem_bandwidth;
   }

   return fallback_use_bypass(pass, cmd_buffer);
}

template <chip CHIP>
void
tu_autotune_begin_renderpass(struct tu_cmd_buffer *cmd,
                             struct tu_cs *cs,
                             struct tu_renderpass_result *autotune_result)
{
   struct tu_device *dev = cmd->device;

   VkResult ret = tu_suballoc_bo_alloc(&autotune_result->bo, &dev->autotune_suballoc, 32, 32);
   if (ret != VK_SUCCESS) {
      autotune_result->bo.iova = 0;
      return;
   }

   tu_cs_emit_qw(cs, autotune_result->bo.iova);
}
