/* Modes, and their timings. */
#ifndef TP_FRAMES_KMS_MODE_H
#define TP_FRAMES_KMS_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/kms/uapi.h"

/* CVT reduced blanking for this size, with a clock that makes clients compute the refresh. */
void tp_mode_make(struct drm_mode_modeinfo *out, uint32_t width, uint32_t height,
                  uint32_t refresh_mhz, bool preferred);
/* The same timings? Names and types do not matter. */
bool tp_mode_equal(const struct drm_mode_modeinfo *a, const struct drm_mode_modeinfo *b);
/* As drm_mode_convert_umode: 0, -ERANGE, -EINVAL. Fills in what the kernel would tell back. */
int tp_mode_convert(struct drm_mode_modeinfo *out, const struct drm_mode_modeinfo *in);
/* Of a progressive mode; 0: it has no totals. */
uint32_t tp_mode_refresh_mhz(const struct drm_mode_modeinfo *m);

#endif
