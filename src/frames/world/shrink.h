/* A run that broke, made smaller: as few kinds of faults, images and frames ahead as it takes. */
#ifndef TP_FRAMES_WORLD_SHRINK_H
#define TP_FRAMES_WORLD_SHRINK_H

#include "frames/world/world.h"

/* c broke as result says. Both become the smallest world that is found and breaks too, by the same
 * seed or one of the next; its result is that with the least frames. */
void tp_world_shrink(struct tp_world_config *c, struct tp_world_result *result);

#endif
