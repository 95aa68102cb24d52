/* A picture in memory, and as a PNG file. */
#ifndef TP_FRAMES_PANEL_IMAGE_H
#define TP_FRAMES_PANEL_IMAGE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct tp_image {
    uint32_t width, height;
    uint32_t *pixels; /* 0x00rrggbb, row by row, no gaps; owned */
};

/* Black. Sizes up to 16384; memory exhaustion aborts, as everywhere (base/buf.h). */
void tp_image_init(struct tp_image *image, uint32_t width, uint32_t height);
void tp_image_finish(struct tp_image *image);

/* Appends the picture as a PNG file (8 bits, RGB) to out. -EIO where libpng refuses. */
int tp_image_to_png(const struct tp_image *image, struct tp_buf *out, struct tp_error *e);

#endif
