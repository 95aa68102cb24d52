/* What an instance knows of screens: VkDisplayKHR and VkDisplayModeKHR. */
#ifndef TP_FRAMES_ICD_DISPLAY_H
#define TP_FRAMES_ICD_DISPLAY_H

struct tp_icd_displays;

/* NULL is fine. */
void tp_icd_displays_finish(struct tp_icd_displays *d);

#endif
