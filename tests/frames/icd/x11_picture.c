/* Pictures in an X server's window. */
#include "x11_picture.h"

#include <stdlib.h>
#include <string.h>

xcb_window_t x11_window(xcb_connection_t *c, uint16_t width, uint16_t height)
{
    const uint32_t values[] = {0, 1}; /* background, override-redirect */
    xcb_window_t window = xcb_generate_id(c);

    xcb_create_window(c, XCB_COPY_FROM_PARENT, window,
        xcb_setup_roots_iterator(xcb_get_setup(c)).data->root, 10, 20, width, height, 0,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
        XCB_CW_BACK_PIXEL | XCB_CW_OVERRIDE_REDIRECT, values);
    xcb_map_window(c, window);
    return window;
}

void x11_paint(struct guest *g, uint32_t index, uint32_t seed)
{
    for (uint32_t y = 0; y < g->info.height; y++) {
        for (uint32_t x = 0; x < g->row; x++)
            g->pixels[index][y * g->row + x] =
                x < g->info.width ? ((x * 7 + seed) << 16 | y << 8 | (x ^ y)) & 0xffffff : 0xff00ff;
    }
}

uint32_t x11_differing_pixels(
    xcb_connection_t *c, xcb_window_t window, struct guest *g, uint32_t index)
{
    uint16_t width = (uint16_t)g->info.width, height = (uint16_t)g->info.height;
    xcb_get_image_reply_t *r = xcb_get_image_reply(
        c, xcb_get_image(c, XCB_IMAGE_FORMAT_Z_PIXMAP, window, 0, 0, width, height, ~0u), NULL);
    uint32_t n = 0;

    assert_non_null(r);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t pixel;
            memcpy(&pixel, xcb_get_image_data(r) + 4 * (y * width + x), 4);
            n += (pixel & 0xffffff) != g->pixels[index][y * g->row + x];
        }
    }
    free(r);
    return n;
}
