/* What a screen shows of a scanout: its layers read from their buffers and laid over one another.
 */
#ifndef TP_FRAMES_PANEL_COMPOSE_H
#define TP_FRAMES_PANEL_COMPOSE_H

#include "frames/panel/image.h"
#include "frames/panel/sim_memory.h"

/*
 * Composes lines first_line up to, not including, end_line of the scanout into image, which has the
 * mode's size: position, scaling (nearest pixel), rotation, plane alpha and the pixel's. Where a
 * foreign file ends too early, it is black. Buffers that cannot be read (a tiled format, a device's
 * memory that cannot be mapped) are left out, and counted in the answer. memory: mappings that are
 * kept for the next time; NULL: none.
 */
unsigned tp_compose(const struct tp_kms_scanout *s, struct tp_image *image, uint32_t first_line,
    uint32_t end_line, struct tp_memory *memory);

/* Rows of a framebuffer as they were once. rows NULL: there are none. */
struct tp_compose_copy {
    const uint8_t *rows; /* the framebuffer's row `top` first, n of them */
    uint32_t top, n;
    size_t pitch; /* bytes; of a row that has all the framebuffer's pixels */
};
/* As tp_compose, from the layers' copies where there are such. copies: TP_KMS_LAYERS, or NULL. */
unsigned tp_compose_copied(const struct tp_kms_scanout *s, const struct tp_compose_copy *copies,
    struct tp_image *image, uint32_t first_line, uint32_t end_line, struct tp_memory *memory);

/* Of a pixel of a framebuffer that can be composed; 0: it cannot. */
unsigned tp_compose_pixel_bytes(const struct tp_kms_fb_info *fb);

#endif
