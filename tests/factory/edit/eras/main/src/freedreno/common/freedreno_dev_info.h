/* Fixture: the shape of a device's description with flat properties. */
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
   uint32_t num_slices;

   struct {
      uint32_t RB_DBG_ECO_CNTL;
   } magic;

   struct {
      uint32_t reg_size_vec4;
      bool has_gmem_fast_clear;
      uint32_t sysmem_per_ccu_depth_cache_size;
      uint32_t sysmem_ccu_depth_cache_fraction;
      bool has_scalar_predicates;
      bool has_early_preamble;
      bool enable_tp_ubwc_flag_hint;
      bool has_persistent_counter;
      bool has_image_processing;
      bool has_64b_image_atomics;
   } props;
};

#ifdef __cplusplus
}
#endif

#endif
