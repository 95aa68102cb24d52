/* What a screen shows of a scanout: its layers read from their buffers and laid over one another.
 */
#ifndef TP_FRAMES_PANEL_COMPOSE_H
#define TP_FRAMES_PANEL_COMPOSE_H

#include "frames/kms/kms.h"
#include "frames/panel/image.h"

/*
 * Composes lines first_line up to, not including, end_line of the scanout into image, which has the
 * mode's size: position, scaling (nearest pixel), rotation, plane alpha and the pixel's. Memory is
 * read, never mapped: a foreign memfd that shrinks reads as black. Buffers that cannot be read (a
 * tiled format, a device's memory without read) are shown as black too, and counted in the answer.
 */
unsigned tp_compose(
    const struct tp_kms_scanout *s, struct tp_image *image, uint32_t first_line, uint32_t end_line);

#endif
