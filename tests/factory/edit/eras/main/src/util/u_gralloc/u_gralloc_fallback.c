/* Fixture: the last resort. */
#include "u_gralloc_internal.h"

#include <hardware/gralloc.h>

static int
fallback_gralloc_get_yuv_info(gralloc_module_t *gr_mod, struct u_gralloc_buffer_handle *hnd,
                              struct android_ycbcr *ycbcr)
{
   int ret = gr_mod->lock_ycbcr(gr_mod, hnd->handle, 0, 0, 0, 0, 0, ycbcr);
   if (ret)
      return ret;
   gr_mod->unlock(gr_mod, hnd->handle);

   return 0;
}

static int
fallback_gralloc_get_buffer_info(struct u_gralloc *gralloc,
                                 struct u_gralloc_buffer_handle *hnd,
                                 struct u_gralloc_buffer_basic_info *out)
{
   out->modifier = DRM_FORMAT_MOD_INVALID;
   out->num_planes = 1;

#ifdef HAS_FREEDRENO
   uint32_t gmsm = ('g' << 24) | ('m' << 16) | ('s' << 8) | 'm';
   if (hnd->handle->numInts >= 2 && hnd->handle->data[hnd->handle->numFds] == gmsm) {
      /* compressed? */
      bool ubwc = hnd->handle->data[hnd->handle->numFds + 1] & 0x08000000;
      out->modifier = ubwc ? DRM_FORMAT_MOD_QCOM_COMPRESSED : DRM_FORMAT_MOD_LINEAR;
   }
#endif

   return 0;
}
