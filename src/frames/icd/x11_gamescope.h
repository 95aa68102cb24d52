/*
 * Windows in gamescope's Xwayland: pictures go to gamescope itself, past the X server, which has no
 * dma-bufs there and copies what it is given. gamescope says where it listens
 * (GAMESCOPE_WAYLAND_DISPLAY), and takes a Wayland surface for an X window's content
 * (gamescope_xwayland.override_window_content).
 */
#ifndef TP_FRAMES_ICD_X11_GAMESCOPE_H
#define TP_FRAMES_ICD_X11_GAMESCOPE_H

#include "frames/icd/target.h"

/* Is this the server of a gamescope that can be had? */
bool tp_x11_gamescope_has(xcb_connection_t *connection);

/*
 * The window's top-level window, if it fills that: gamescope knows no others, and its content would be
 * this one's. wine draws into a child of a program's window. XCB_NONE: it is a part of it, or gone.
 * Asking also sees to it that gamescope can know the window: the application may not have sent it yet.
 */
xcb_window_t tp_x11_gamescope_top(xcb_connection_t *connection, xcb_window_t window);

int tp_x11_gamescope_create(
    xcb_connection_t *connection, xcb_window_t window, struct tp_target **out);

#endif
