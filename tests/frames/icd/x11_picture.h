/* Pictures in an X server's window, and whether they are there: what tests share. */
#ifndef TP_TESTS_FRAMES_ICD_X11_PICTURE_H
#define TP_TESTS_FRAMES_ICD_X11_PICTURE_H

#include <xcb/xcb.h>

#include "target_guest.h"

/* A window without a window manager, mapped; nothing is sent yet. */
xcb_window_t x11_window(xcb_connection_t *c, uint16_t width, uint16_t height);
/* An image of the guest's, another one for every seed; what is beside it in memory is magenta. */
void x11_paint(struct guest *g, uint32_t index, uint32_t seed);
/* How many pixels of the window, which has the image's size, are not the image's. Asserts. */
uint32_t x11_differing_pixels(
    xcb_connection_t *c, xcb_window_t window, struct guest *g, uint32_t index);

#endif
