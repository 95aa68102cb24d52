/* The target of VK_KHR_display: a screen without a compositor. */
#ifndef TP_FRAMES_ICD_TARGET_DISPLAY_H
#define TP_FRAMES_ICD_TARGET_DISPLAY_H

#include "frames/icd/display_card.h"
#include "frames/icd/display_kms.h"

/* card: held by the target as well. The screen gets this mode with the first picture, and the
 * pictures are of this size, scaled to the mode where they differ and the card can. */
int tp_target_display_create(struct tp_display_card *card, uint32_t connector,
    const struct drm_mode_modeinfo *mode, uint32_t width, uint32_t height, struct tp_target **out);

/* With the card's lock held: an event with this cookie comes with the next refresh of the screen.
 * -ENOENT: it is dark; -EAGAIN: the card cannot say. */
int tp_target_display_next(struct tp_display_card *c, uint32_t connector, uint64_t cookie);
/* A screen that shows pictures of ours goes dark, or shows the last one again; so does the next
 * picture have it. */
void tp_target_display_power(struct tp_display_card *c, uint32_t connector, bool on);
/* How many refreshes the screen has had. -EOPNOTSUPP: the target is no screen; it is dark. */
int tp_target_display_count(struct tp_target *t, uint64_t *out);

#endif
