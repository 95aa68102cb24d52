/* What an instance knows of screens: VkDisplayKHR and VkDisplayModeKHR. */
#ifndef TP_FRAMES_ICD_DISPLAY_H
#define TP_FRAMES_ICD_DISPLAY_H

#include <stdint.h>

#include "frames/icd/vk.h"

struct tp_display_card;
struct tp_icd_device;
struct tp_icd_displays;
struct tp_icd_instance;

/* The card that a display is on, held for the caller, and its connector. Errors: as
 * tp_display_card_get's. */
int tp_icd_display_card(struct tp_icd_instance *i, VkDisplayKHR display,
    struct tp_display_card **card, uint32_t *connector);

/* Nobody waits for its events any more (display_control.c). */
void tp_icd_display_events_finish(struct tp_icd_device *d);

/* NULL is fine. */
void tp_icd_displays_finish(struct tp_icd_displays *d);

#endif
