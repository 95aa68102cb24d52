/* A window of the desktop's, as the panel has it: pixels in, and what a person does with it out.
 * All on one thread. */
#ifndef TP_FRAMES_PANEL_WINDOW_VIEW_H
#define TP_FRAMES_PANEL_WINDOW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/panel/image.h"

#define TP_WINDOW_MAX_PX 16384u

struct tp_window;

struct tp_window_ops {
    /* Sends what is to be sent, takes what has come without waiting, and acts on it: sets the
     * fields below. Negative errno: the connection is lost. */
    int (*turn)(struct tp_window *w, struct tp_error *e);
    /* Memory for a picture of the window's size, rows pitch_px pixels apart (0xffrrggbb); NULL: not
     * now, a later turn will have some. */
    uint32_t *(*begin)(struct tp_window *w, size_t *pitch_px);
    /* Shows what begin's memory has now. */
    void (*show)(struct tp_window *w);
    void (*close)(struct tp_window *w);
};

struct tp_window {
    const struct tp_window_ops *ops;
    int fd;                 /* polls readable when a turn has something to do; borrowed */
    bool wants_out;         /* and writable, until what is queued has left */
    uint32_t width, height; /* as the desktop has it */
    bool stale;             /* it has another size, or lost its pixels: to be drawn again */
    bool asked;             /* the desktop would show another picture now */
    bool closed;            /* a person closed it */
};

/* Open it: -ENOENT, -ECONNREFUSED, -ENOTSUP, -ENOSYS (MISSING), with what to do. */
int tp_window_wayland_open(
    uint32_t width, uint32_t height, const char *title, struct tp_window **out, struct tp_error *e);
int tp_window_x11_open(
    uint32_t width, uint32_t height, const char *title, struct tp_window **out, struct tp_error *e);

/* The picture as large as fits, in the middle of the window, black around it. */
void tp_window_draw(const struct tp_image *image, uint32_t *pixels, size_t pitch_px, uint32_t width,
    uint32_t height);

#endif
