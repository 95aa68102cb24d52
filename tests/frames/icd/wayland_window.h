/* An application's windows on a compositor, by libwayland-client: what tests share. */
#ifndef TP_TESTS_ICD_WAYLAND_WINDOW_H
#define TP_TESTS_ICD_WAYLAND_WINDOW_H

#include <stdbool.h>

#include <wayland-client.h>

struct wayland_app {
    struct wl_display *display;
    struct wl_compositor *compositor;
    struct xdg_wm_base *base; /* NULL: the compositor has none, and surfaces stay without a role */
};

struct wayland_window {
    struct wl_surface *surface;
    struct xdg_surface *xdg; /* NULL: without a role */
    struct xdg_toplevel *toplevel;
    bool configured;
};

/* Takes the connection over, and looks for what the compositor has. Asserts. */
void wayland_app_open(struct wayland_app *a, struct wl_display *display);
/* Hangs up. */
void wayland_app_close(struct wayland_app *a);

/* A window that the compositor has configured. id: of the application; NULL: none. Asserts. */
void wayland_window_open(struct wayland_app *a, struct wayland_window *w, const char *id);
void wayland_window_close(struct wayland_app *a, struct wayland_window *w);

#endif
