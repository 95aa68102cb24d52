/* Fixture: the shape of a device's description with properties kept by generation. */
#ifndef FREEDRENO_DEVICE_INFO_H
#define FREEDRENO_DEVICE_INFO_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fd_dev_info {
   uint8_t chip;
   uint32_t num_ccu;

   struct {
      uint32_t reg_size_vec4;
      bool has_gmem_fast_clear;
      uint32_t sysmem_per_ccu_depth_cache_size;
      bool has_scalar_predicates;
      bool has_early_preamble;

      struct {
         uint32_t RB_DBG_ECO_CNTL;
      } magic;
   } a6xx;

   struct {
      bool cmdbuf_start_a725_quirk;
      bool enable_tp_ubwc_flag_hint;
      bool has_persistent_counter;
   } a7xx;
};

#ifdef __cplusplus
}
#endif

#endif
