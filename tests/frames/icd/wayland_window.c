/* An application's windows on a compositor. */
#include "wayland_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "xdg-shell-client.h"

static void on_ping(void *data, struct xdg_wm_base *b, uint32_t serial)
{
    (void)data;
    xdg_wm_base_pong(b, serial);
}

static void on_global(
    void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version)
{
    static const struct xdg_wm_base_listener listener = {on_ping};
    struct wayland_app *a = data;

    if (strcmp(interface, "wl_compositor") == 0) {
        a->compositor =
            wl_registry_bind(r, name, &wl_compositor_interface, version < 4 ? version : 4);
    } else if (strcmp(interface, "xdg_wm_base") == 0) {
        a->base = wl_registry_bind(r, name, &xdg_wm_base_interface, 1);
        xdg_wm_base_add_listener(a->base, &listener, NULL);
    }
}

static void on_global_remove(void *data, struct wl_registry *r, uint32_t name)
{
    (void)data;
    (void)r;
    (void)name;
}

void wayland_app_open(struct wayland_app *a, struct wl_display *display)
{
    static const struct wl_registry_listener listener = {on_global, on_global_remove};
    struct wl_registry *registry = wl_display_get_registry(display);

    *a = (struct wayland_app){.display = display};
    wl_registry_add_listener(registry, &listener, a);
    assert_true(wl_display_roundtrip(display) >= 0);
    wl_registry_destroy(registry);
    assert_non_null(a->compositor);
}

void wayland_app_close(struct wayland_app *a)
{
    if (a->base)
        xdg_wm_base_destroy(a->base);
    wl_compositor_destroy(a->compositor);
    wl_display_disconnect(a->display);
}

/* --- windows --- */

static void on_configure(void *data, struct xdg_surface *xdg, uint32_t serial)
{
    struct wayland_window *w = data;

    xdg_surface_ack_configure(xdg, serial);
    w->configured = true;
}

static void on_toplevel_configure(
    void *data, struct xdg_toplevel *t, int32_t width, int32_t height, struct wl_array *states)
{
    (void)data;
    (void)t;
    (void)width;
    (void)height;
    (void)states;
}

static void on_close(void *data, struct xdg_toplevel *t)
{
    (void)data;
    (void)t;
}

void wayland_window_open(struct wayland_app *a, struct wayland_window *w, const char *id)
{
    static const struct xdg_surface_listener on_xdg = {on_configure};
    static const struct xdg_toplevel_listener on_toplevel = {
        .configure = on_toplevel_configure, .close = on_close};

    *w = (struct wayland_window){.surface = wl_compositor_create_surface(a->compositor)};
    if (!a->base)
        return;
    w->xdg = xdg_wm_base_get_xdg_surface(a->base, w->surface);
    xdg_surface_add_listener(w->xdg, &on_xdg, w);
    w->toplevel = xdg_surface_get_toplevel(w->xdg);
    xdg_toplevel_add_listener(w->toplevel, &on_toplevel, w);
    if (id)
        xdg_toplevel_set_app_id(w->toplevel, id);
    wl_surface_commit(w->surface);
    while (!w->configured)
        assert_true(wl_display_dispatch(a->display) >= 0);
}

void wayland_window_close(struct wayland_app *a, struct wayland_window *w)
{
    if (w->toplevel)
        xdg_toplevel_destroy(w->toplevel);
    if (w->xdg)
        xdg_surface_destroy(w->xdg);
    wl_surface_destroy(w->surface);
    wl_display_flush(a->display);
}
