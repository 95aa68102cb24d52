/* What the compositor of a Wayland target offers. */
#include <errno.h>
#include <string.h>

#include "frames/icd/wayland.h"

static uint32_t at_most(uint32_t version, uint32_t ours)
{
    return version < ours ? version : ours;
}

static bool is(const char *name, const struct wl_interface *interface)
{
    return strcmp(name, interface->name) == 0;
}

static void on_global(
    void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version)
{
    struct tp_wayland *w = data;

    if (is(interface, &wl_compositor_interface) && !w->compositor) {
        w->compositor = wl_registry_bind(r, name, &wl_compositor_interface, 1);
    } else if (is(interface, &wl_shm_interface) && !w->shm) {
        w->shm = wl_registry_bind(r, name, &wl_shm_interface, 1);
        tp_wayland_listen_shm(w);
    } else if (is(interface, &zwp_linux_dmabuf_v1_interface) && !w->dmabuf) {
        w->dmabuf = wl_registry_bind(r, name, &zwp_linux_dmabuf_v1_interface, at_most(version, 4));
        tp_wayland_listen_dmabuf(w);
    } else if (is(interface, &zwp_linux_explicit_synchronization_v1_interface) && !w->sync) {
        w->sync = wl_registry_bind(
            r, name, &zwp_linux_explicit_synchronization_v1_interface, at_most(version, 2));
    } else if (is(interface, &wp_presentation_interface) && !w->presentation) {
        w->presentation = wl_registry_bind(r, name, &wp_presentation_interface, 1);
        tp_wayland_listen_presentation(w);
    } else if (is(interface, &wp_tearing_control_manager_v1_interface) && !w->tearing) {
        w->tearing = wl_registry_bind(r, name, &wp_tearing_control_manager_v1_interface, 1);
    } else if (strcmp(interface, "gamescope_xwayland") == 0) {
        w->gamescope = true;
    }
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
    (void)data;
    (void)registry;
    (void)name;
}

static int make_queue(struct tp_wayland *w)
{
    w->queue = wl_display_create_queue(w->display);
    struct wl_display *display = w->queue ? wl_proxy_create_wrapper(w->display) : NULL;

    if (!display)
        return -ENOMEM;
    wl_proxy_set_queue((struct wl_proxy *)display, w->queue);
    tp_wayland_make_room(w->display, -1);
    w->registry = wl_display_get_registry(display);
    wl_proxy_wrapper_destroy(display);
    if (w->app_surface) {
        w->surface = wl_proxy_create_wrapper(w->app_surface);
        if (!w->surface)
            return -ENOMEM;
        wl_proxy_set_queue((struct wl_proxy *)w->surface, w->queue);
    }
    return w->registry ? 0 : -ENOMEM;
}

static int round_trip(struct tp_wayland *w)
{
    return wl_display_roundtrip_queue(w->display, w->queue) < 0 ? -ENODEV : 0;
}

int tp_wayland_bind(struct tp_wayland *w)
{
    static const struct wl_registry_listener listener = {on_global, on_global_remove};
    int r = make_queue(w);

    if (r)
        return r;
    w->clock = CLOCK_MONOTONIC;
    wl_registry_add_listener(w->registry, &listener, w);
    r = round_trip(w);
    if (!r) /* what was bound in the first one answers */
        r = round_trip(w);
    if (!r && (w->dmabuf_formats.failed || w->shm_formats.failed))
        r = -ENOMEM;
    return r;
}

void tp_wayland_unbind(struct tp_wayland *w)
{
    tp_wayland_finish_formats(w);
    if (w->tearing)
        wp_tearing_control_manager_v1_destroy(w->tearing);
    if (w->presentation)
        wp_presentation_destroy(w->presentation);
    if (w->sync)
        zwp_linux_explicit_synchronization_v1_destroy(w->sync);
    if (w->dmabuf)
        zwp_linux_dmabuf_v1_destroy(w->dmabuf);
    if (w->shm)
        wl_shm_destroy(w->shm);
    if (w->compositor)
        wl_compositor_destroy(w->compositor);
    if (w->registry)
        wl_registry_destroy(w->registry);
    if (w->surface)
        wl_proxy_wrapper_destroy(w->surface);
    if (w->queue)
        wl_event_queue_destroy(w->queue);
    w->tearing = NULL;
    w->presentation = NULL;
    w->sync = NULL;
    w->dmabuf = NULL;
    w->shm = NULL;
    w->compositor = NULL;
    w->registry = NULL;
    w->surface = NULL;
    w->queue = NULL;
    w->gamescope = false;
}
