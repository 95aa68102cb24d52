/* A window on a Wayland compositor: xdg-shell, with pixels in shared memory. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <wayland-client.h>

#include "base/buf.h"
#include "frames/panel/window_view.h"
#include "xdg-decoration-client.h"
#include "xdg-shell-client.h"

#define BUFFERS 3u /* one shown, one on its way, one to draw */

struct buffer {
    struct wl_buffer *buffer; /* NULL: none */
    uint32_t *pixels;
    uint32_t width, height;
    bool busy; /* the compositor reads it */
};

struct wayland {
    struct tp_window window;
    struct wl_display *display;
    struct wl_registry *registry;
    struct wl_compositor *compositor;
    struct wl_shm *shm;
    struct xdg_wm_base *base;
    struct zxdg_decoration_manager_v1 *decorations; /* NULL: it has none */
    struct zxdg_toplevel_decoration_v1 *decoration;
    struct wl_surface *surface;
    struct xdg_surface *xdg;
    struct xdg_toplevel *toplevel;
    struct wl_callback *frame; /* NULL: none is awaited */
    uint32_t usual_width, usual_height, next_width, next_height;
    bool configured;
    struct buffer buffers[BUFFERS], *drawing;
};

static struct wayland *of(struct tp_window *w)
{
    return (struct wayland *)w;
}

/* --- buffers --- */

static void on_buffer_release(void *data, struct wl_buffer *b)
{
    (void)b;
    ((struct buffer *)data)->busy = false;
}

static void drop(struct buffer *b)
{
    if (!b->buffer)
        return;
    wl_buffer_destroy(b->buffer);
    munmap(b->pixels, (size_t)b->width * b->height * 4);
    memset(b, 0, sizeof *b);
}

static bool make(struct wayland *y, struct buffer *b)
{
    static const struct wl_buffer_listener listener = {on_buffer_release};
    uint32_t width = y->window.width, height = y->window.height;
    size_t bytes = (size_t)width * height * 4;
    int fd = memfd_create("window", MFD_CLOEXEC);
    void *pixels = MAP_FAILED;
    if (fd >= 0 && bytes <= INT32_MAX && ftruncate(fd, (off_t)bytes) == 0)
        pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pixels != MAP_FAILED) {
        struct wl_shm_pool *pool = wl_shm_create_pool(y->shm, fd, (int32_t)bytes);
        *b = (struct buffer){.pixels = pixels, .width = width, .height = height};
        b->buffer = wl_shm_pool_create_buffer(
            pool, 0, (int32_t)width, (int32_t)height, (int32_t)width * 4, WL_SHM_FORMAT_XRGB8888);
        wl_shm_pool_destroy(pool);
        wl_buffer_add_listener(b->buffer, &listener, b);
    }
    if (fd >= 0)
        close(fd);
    return pixels != MAP_FAILED;
}

static uint32_t *begin(struct tp_window *w, size_t *pitch_px)
{
    struct wayland *y = of(w);
    struct buffer *b = NULL;
    if (!y->configured)
        return NULL;
    for (unsigned i = 0; i < BUFFERS && !b; i++)
        if (!y->buffers[i].busy)
            b = &y->buffers[i];
    if (!b)
        return NULL;
    if (b->width != w->width || b->height != w->height)
        drop(b);
    if (!b->buffer && !make(y, b))
        return NULL;
    y->drawing = b;
    *pitch_px = b->width;
    return b->pixels;
}

/* --- what the compositor says --- */

static void on_frame(void *data, struct wl_callback *callback, uint32_t time_ms)
{
    struct wayland *y = data;
    (void)time_ms;
    wl_callback_destroy(callback);
    y->frame = NULL;
    y->window.asked = true;
}

static void show(struct tp_window *w)
{
    static const struct wl_callback_listener listener = {on_frame};
    struct wayland *y = of(w);
    if (!y->frame) {
        y->frame = wl_surface_frame(y->surface);
        wl_callback_add_listener(y->frame, &listener, y);
    }
    w->asked = false;
    wl_surface_attach(y->surface, y->drawing->buffer, 0, 0);
    wl_surface_damage(y->surface, 0, 0, INT32_MAX, INT32_MAX);
    wl_surface_commit(y->surface);
    y->drawing->busy = true;
}

static void on_ping(void *data, struct xdg_wm_base *base, uint32_t serial)
{
    (void)data;
    xdg_wm_base_pong(base, serial);
}

static uint32_t at_most(uint32_t px)
{
    return px < TP_WINDOW_MAX_PX ? px : TP_WINDOW_MAX_PX;
}

static void on_surface_configure(void *data, struct xdg_surface *xdg, uint32_t serial)
{
    struct wayland *y = data;
    xdg_surface_ack_configure(xdg, serial);
    y->window.stale |=
        !y->configured || y->window.width != y->next_width || y->window.height != y->next_height;
    y->window.width = y->next_width;
    y->window.height = y->next_height;
    y->configured = true;
}

/* 0: the compositor leaves it to us. */
static void on_toplevel_configure(void *data, struct xdg_toplevel *toplevel, int32_t width,
    int32_t height, struct wl_array *states)
{
    struct wayland *y = data;
    (void)toplevel;
    (void)states;
    y->next_width = width > 0 ? at_most((uint32_t)width) : y->usual_width;
    y->next_height = height > 0 ? at_most((uint32_t)height) : y->usual_height;
}

static void on_toplevel_close(void *data, struct xdg_toplevel *toplevel)
{
    (void)toplevel;
    ((struct wayland *)data)->window.closed = true;
}

static void on_global(void *data, struct wl_registry *registry, uint32_t name,
    const char *interface, uint32_t version)
{
    static const struct xdg_wm_base_listener base_listener = {on_ping};
    struct wayland *y = data;
    (void)version;
    if (strcmp(interface, wl_compositor_interface.name) == 0 && !y->compositor) {
        y->compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 1);
    } else if (strcmp(interface, wl_shm_interface.name) == 0 && !y->shm) {
        y->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    } else if (strcmp(interface, xdg_wm_base_interface.name) == 0 && !y->base) {
        y->base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
        xdg_wm_base_add_listener(y->base, &base_listener, y);
    } else if (strcmp(interface, zxdg_decoration_manager_v1_interface.name) == 0 &&
        !y->decorations) {
        y->decorations = wl_registry_bind(registry, name, &zxdg_decoration_manager_v1_interface, 1);
    }
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
    (void)data;
    (void)registry;
    (void)name;
}

/* --- the connection --- */

static int lost(struct wayland *y, struct tp_error *e)
{
    int err = wl_display_get_error(y->display);
    return tp_fail(e, TP_STATUS_FAILED, err > 0 ? -err : -EPIPE, getenv("WAYLAND_DISPLAY"),
        "is the compositor that has the window still running?",
        "the Wayland compositor has ended the connection");
}

static int turn(struct tp_window *w, struct tp_error *e)
{
    struct wayland *y = of(w);
    while (wl_display_prepare_read(y->display) != 0)
        if (wl_display_dispatch_pending(y->display) < 0)
            return lost(y, e);
    int r = wl_display_flush(y->display);
    w->wants_out = r < 0 && errno == EAGAIN;
    if (r < 0 && errno != EAGAIN && errno != EPIPE) { /* EPIPE: it may have said why */
        wl_display_cancel_read(y->display);
        return lost(y, e);
    }
    if (wl_display_read_events(y->display) < 0 || wl_display_dispatch_pending(y->display) < 0)
        return lost(y, e);
    r = wl_display_flush(y->display); /* answers */
    w->wants_out = r < 0 && errno == EAGAIN;
    return 0;
}

static void close_window(struct tp_window *w)
{
    struct wayland *y = of(w);
    for (unsigned i = 0; i < BUFFERS; i++)
        drop(&y->buffers[i]);
    if (y->frame)
        wl_callback_destroy(y->frame);
    if (y->decoration)
        zxdg_toplevel_decoration_v1_destroy(y->decoration);
    if (y->toplevel)
        xdg_toplevel_destroy(y->toplevel);
    if (y->xdg)
        xdg_surface_destroy(y->xdg);
    if (y->surface)
        wl_surface_destroy(y->surface);
    if (y->decorations)
        zxdg_decoration_manager_v1_destroy(y->decorations);
    if (y->base)
        xdg_wm_base_destroy(y->base);
    if (y->shm)
        wl_shm_destroy(y->shm);
    if (y->compositor)
        wl_compositor_destroy(y->compositor);
    if (y->registry)
        wl_registry_destroy(y->registry);
    wl_display_flush(y->display);
    wl_display_disconnect(y->display);
    free(y);
}

static void make_surface(struct wayland *y, const char *title)
{
    static const struct xdg_surface_listener on_surface = {on_surface_configure};
    static const struct xdg_toplevel_listener on_toplevel = {
        .configure = on_toplevel_configure, .close = on_toplevel_close};
    y->surface = wl_compositor_create_surface(y->compositor);
    y->xdg = xdg_wm_base_get_xdg_surface(y->base, y->surface);
    xdg_surface_add_listener(y->xdg, &on_surface, y);
    y->toplevel = xdg_surface_get_toplevel(y->xdg);
    xdg_toplevel_add_listener(y->toplevel, &on_toplevel, y);
    xdg_toplevel_set_title(y->toplevel, title);
    xdg_toplevel_set_app_id(y->toplevel, "turnpike");
    if (y->decorations) {
        y->decoration =
            zxdg_decoration_manager_v1_get_toplevel_decoration(y->decorations, y->toplevel);
        zxdg_toplevel_decoration_v1_set_mode(
            y->decoration, ZXDG_TOPLEVEL_DECORATION_V1_MODE_SERVER_SIDE);
    }
    wl_surface_commit(y->surface);
    wl_display_flush(y->display);
}

/* What the library would print is told by an error. */
static void keep_quiet(const char *fmt, va_list args)
{
    (void)fmt;
    (void)args;
}

int tp_window_wayland_open(
    uint32_t width, uint32_t height, const char *title, struct tp_window **out, struct tp_error *e)
{
    static const struct tp_window_ops ops = {turn, begin, show, close_window};
    static const struct wl_registry_listener listener = {on_global, on_global_remove};
    const char *name = getenv("WAYLAND_DISPLAY");
    wl_log_set_handler_client(keep_quiet);
    struct wl_display *display = wl_display_connect(NULL);
    if (!display)
        return tp_fail(e, TP_STATUS_MISSING, -ECONNREFUSED, name,
            "is the compositor running, and XDG_RUNTIME_DIR its own?",
            "no Wayland compositor answers there: %s", strerror(errno));
    struct wayland *y = tp_calloc(1, sizeof *y);
    y->display = display;
    y->window = (struct tp_window){.ops = &ops,
        .fd = wl_display_get_fd(display),
        .width = width,
        .height = height,
        .asked = true};
    y->usual_width = y->next_width = width;
    y->usual_height = y->next_height = height;
    y->registry = wl_display_get_registry(display);
    wl_registry_add_listener(y->registry, &listener, y);
    int r = wl_display_roundtrip(display) < 0 ? lost(y, e) : 0;
    if (r == 0 && (!y->compositor || !y->shm || !y->base))
        r = tp_fail(e, TP_STATUS_MISSING, -ENOTSUP, name, "use another compositor, or DISPLAY",
            "this compositor has no windows for programs (%s)",
            !y->base      ? "xdg_wm_base"
                : !y->shm ? "wl_shm"
                          : "wl_compositor");
    if (r < 0) {
        close_window(&y->window);
        return r;
    }
    make_surface(y, title);
    *out = &y->window;
    return 0;
}
