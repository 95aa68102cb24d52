/* Windows of a Wayland compositor: the test's double, or weston. */
#include "place.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <wayland-client.h>

#include <vulkan/vulkan_wayland.h>

#include "base/proc.h"
#include "wayland_double.h"
#include "xdg-shell-client.h"

static struct wl_display *display;
static struct wl_compositor *compositor;
static struct xdg_wm_base *base;
static struct window {
    struct wl_surface *surface;
    struct xdg_surface *xdg;
    struct xdg_toplevel *toplevel;
    bool configured;
} windows[PLACE_WINDOWS];

static void on_ping(void *data, struct xdg_wm_base *b, uint32_t serial)
{
    (void)data;
    xdg_wm_base_pong(b, serial);
}

static void on_global(
    void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version)
{
    static const struct xdg_wm_base_listener listener = {on_ping};

    (void)data;
    if (strcmp(interface, "wl_compositor") == 0) {
        compositor = wl_registry_bind(r, name, &wl_compositor_interface, version < 4 ? version : 4);
    } else if (strcmp(interface, "xdg_wm_base") == 0) {
        base = wl_registry_bind(r, name, &xdg_wm_base_interface, 1);
        xdg_wm_base_add_listener(base, &listener, NULL);
    }
}

static void on_global_remove(void *data, struct wl_registry *r, uint32_t name)
{
    (void)data;
    (void)r;
    (void)name;
}

static void look_around(void)
{
    static const struct wl_registry_listener listener = {on_global, on_global_remove};
    struct wl_registry *registry = wl_display_get_registry(display);

    compositor = NULL;
    base = NULL;
    wl_registry_add_listener(registry, &listener, NULL);
    assert_true(wl_display_roundtrip(display) >= 0);
    wl_registry_destroy(registry);
    assert_non_null(compositor);
}

/* --- windows --- */

static void on_configure(void *data, struct xdg_surface *xdg, uint32_t serial)
{
    struct window *w = data;

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

static void await_configure(struct window *w)
{
    w->configured = false;
    while (!w->configured)
        assert_true(wl_display_dispatch(display) >= 0);
}

static void make_toplevel(struct window *w)
{
    static const struct xdg_surface_listener on_xdg = {on_configure};
    static const struct xdg_toplevel_listener on_toplevel = {
        .configure = on_toplevel_configure, .close = on_close};

    w->xdg = xdg_wm_base_get_xdg_surface(base, w->surface);
    xdg_surface_add_listener(w->xdg, &on_xdg, w);
    w->toplevel = xdg_surface_get_toplevel(w->xdg);
    xdg_toplevel_add_listener(w->toplevel, &on_toplevel, w);
    wl_surface_commit(w->surface);
    await_configure(w);
}

static VkSurfaceKHR again(struct client *c, unsigned i)
{
    VkSurfaceKHR out;
    CLIENT_GET_INSTANCE(c, vkCreateWaylandSurfaceKHR);
    VkWaylandSurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_WAYLAND_SURFACE_CREATE_INFO_KHR,
        .display = display,
        .surface = windows[i].surface};

    assert_int_equal(vkCreateWaylandSurfaceKHR(c->instance, &info, NULL, &out), VK_SUCCESS);
    return out;
}

static VkSurfaceKHR surface(struct client *c, unsigned i)
{
    struct window *w = &windows[i];

    *w = (struct window){.surface = wl_compositor_create_surface(compositor)};
    if (base)
        make_toplevel(w);
    return again(c, i);
}

static void close_window(unsigned i)
{
    struct window *w = &windows[i];

    if (w->toplevel)
        xdg_toplevel_destroy(w->toplevel);
    if (w->xdg)
        xdg_surface_destroy(w->xdg);
    wl_surface_destroy(w->surface);
    wl_display_flush(display);
}

static void leave(void)
{
    if (base)
        xdg_wm_base_destroy(base);
    wl_compositor_destroy(compositor);
    wl_display_disconnect(display);
}

/* --- the double --- */

static pthread_t refresher;
static atomic_bool ends;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *refresh(void *data)
{
    unsigned done = 0, told = 0;

    while (!ends) {
        double_lock();
        double_refresh();
        /* What is replaced is given back; the newest stays on the screen. */
        for (; done + 1 < double_n_commits; done++) {
            if (double_commits[done].release)
                double_release(done, -1);
        }
        for (; told < double_n_commits; told++) {
            if (double_commits[told].feedback)
                double_shown(told, now_ns(), 2000000, told + 1, true);
        }
        double_unlock();
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return data;
}

static bool begin_double(void)
{
    int fd = double_start(&(struct double_options){
        .dmabuf = 4, .sync = true, .presentation = true, .clock = CLOCK_MONOTONIC});

    assert_true(fd >= 0);
    display = wl_display_connect_to_fd(fd);
    look_around();
    ends = false;
    assert_int_equal(pthread_create(&refresher, NULL, refresh, NULL), 0);
    return true;
}

static void end_refresher(void)
{
    if (ends)
        return;
    ends = true;
    pthread_join(refresher, NULL);
}

static void kill_double(void)
{
    end_refresher();
    double_hang_up();
}

static void end_double(void)
{
    end_refresher();
    leave();
    double_stop();
}

const struct place_kind place_double = {.name = "double",
    .extension = VK_KHR_WAYLAND_SURFACE_EXTENSION_NAME,
    .begin = begin_double,
    .surface = surface,
    .again = again,
    .close = close_window,
    .kill = kill_double,
    .end = end_double};

/* --- weston --- */

static pid_t weston;

static bool connects(void *name)
{
    display = wl_display_connect(name);
    return display;
}

static bool begin_weston(void)
{
    const char *argv[] = {"weston", "--backend=headless-backend.so", "--use-pixman",
        "--idle-time=0", "--no-config", "--socket=weston", "--width=640", "--height=480", NULL};
    char name[] = "weston";

    if (!tp_have_program("weston"))
        return false;
    setenv("XDG_RUNTIME_DIR", place_folder(), 1);
    unlink(name); /* a killed one leaves it */
    weston = place_spawn(argv, -1);
    assert_true(weston > 0);
    assert_true(place_await(connects, name));
    look_around();
    assert_non_null(base);
    return true;
}

static void kill_weston(void)
{
    if (weston <= 0)
        return;
    kill(weston, SIGKILL);
    waitpid(weston, NULL, 0);
    weston = 0;
}

static void end_weston(void)
{
    leave();
    kill_weston();
}

const struct place_kind place_weston = {.name = "weston",
    .extension = VK_KHR_WAYLAND_SURFACE_EXTENSION_NAME,
    .begin = begin_weston,
    .surface = surface,
    .again = again,
    .close = close_window,
    .kill = kill_weston,
    .end = end_weston};
