/* A framebuffer's pixels, copied to where the phone shows them from. */
#ifndef TP_FRAMES_PANEL_ANDROID_PIXELS_H
#define TP_FRAMES_PANEL_ANDROID_PIXELS_H

#include <stddef.h>
#include <stdint.h>

#include "frames/kms/kms.h"

/* Copies line by line; red and blue change places for XRGB8888 and ARGB8888. Memory is read, never
 * mapped, unless it is a dma-buf: what a guest has shrunk is -EIO. row: room for a line. */
int tp_android_copy_pixels(const struct tp_kms_fb_info *fb, uint32_t bytes_per_pixel, uint8_t *row,
    uint8_t *out, size_t out_pitch);

#endif
