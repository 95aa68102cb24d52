/* Fixture: an autotuner made of classes. */
#include "tu_autotune.h"

struct tu_autotune::rp_history {
   struct bandwidth_algo {
      render_mode get_optimal_mode(const tu_render_pass *pass, uint64_t pixels, uint64_t draws)
      {
         uint64_t sysmem_bandwidth = (uint64_t) pass->sysmem_bandwidth_per_pixel * pixels;
         uint64_t gmem_bandwidth = (uint64_t) pass->gmem_bandwidth_per_pixel * pixels;
         uint64_t total_draw_call_bandwidth = draws;

         sysmem_bandwidth += total_draw_call_bandwidth;

         /* both numbers are guesses */
         gmem_bandwidth = (gmem_bandwidth * 11 + total_draw_call_bandwidth) / 10;

         bool select_sysmem = sysmem_bandwidth <= gmem_bandwidth;
         return select_sysmem ? render_mode::SYSMEM : render_mode::GMEM;
      }
   } bandwidth;
};

tu_autotune::render_mode
tu_autotune::get_optimal_mode(struct tu_cmd_buffer *cmd_buffer, rp_ctx_t *rp_ctx, rp_key_opt key_opt)
{
   const auto *rp_state = &cmd_buffer->state.rp;
   bool ignore_small_rp = rp_state->drawcall_count < 5;

   if (!enabled || ignore_small_rp)
      return default_mode;

   auto early_return_mode = [&]() -> std::optional<render_mode> {
      if (rp_state->drawcall_count >= 10)
         return render_mode::GMEM;
      return std::nullopt;
   }();

   return early_return_mode ? *early_return_mode : default_mode;
}
