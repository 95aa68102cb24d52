/* The target of VK_KHR_display: a screen without a compositor. */
#ifndef TP_FRAMES_ICD_TARGET_DISPLAY_H
#define TP_FRAMES_ICD_TARGET_DISPLAY_H

#include "frames/icd/display_card.h"
#include "frames/icd/display_kms.h"

/* card: held by the target as well. The screen gets this mode with the first picture, and the
 * pictures are of this size, scaled to the mode where they differ and the card can. */
int tp_target_display_create(struct tp_display_card *card, uint32_t connector,
    const struct drm_mode_modeinfo *mode, uint32_t width, uint32_t height, struct tp_target **out);

#endif
