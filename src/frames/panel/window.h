/*
 * A screen in a window of the desktop's (Wayland or X11), so that a person sees what it shows.
 *
 * The window is a view: refreshes, latches and releases are the screen's own, whatever the desktop
 * does, so that what is measured with a window is what is measured without. At each picture's first
 * line the window takes a copy of what the screen shows, and hands that to the desktop, as often as
 * the desktop asks for one. It never keeps a guest's buffer.
 */
#ifndef TP_FRAMES_PANEL_WINDOW_H
#define TP_FRAMES_PANEL_WINDOW_H

#include "frames/panel/panel.h"

struct tp_panel_window_config {
    struct tp_panel *screen;      /* what is shown; it can look. Moved, on failure too */
    uint32_t width_px, height_px; /* the window's at first; 16384 at most */
    const char *title;
};

/*
 * Opens the window: on WAYLAND_DISPLAY where that is set and answers, else on DISPLAY. A person may
 * give it any size: the picture is as large as fits, in the middle.
 * MISSING: neither is set (-ENOENT), no such desktop answers (-ECONNREFUSED), it lacks something
 * (-ENOTSUP), or this program was built without what it needs (-ENOSYS).
 */
int tp_panel_window_create(
    const struct tp_panel_window_config *config, struct tp_panel **out, struct tp_error *e);

/* A descriptor that polls readable once the window has gone; the panel's own. */
int tp_panel_window_fd(const struct tp_panel *p);
/* 0: the window is there; 1: a person closed it; or a negative errno: the desktop went away. The
 * screen goes on in each case. Any thread. */
int tp_panel_window_gone(struct tp_panel *p, struct tp_error *e);

#endif
