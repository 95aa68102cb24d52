#include "frames/icd/x11_gamescope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "frames/icd/clock.h"
#include "frames/icd/log.h"
#include "frames/icd/wayland_library.h"
#include "frames/icd/window_library.h"
#include "frames/icd/xcb_library.h"

#define TAKE_NS INT64_C(300000000)  /* how long gamescope may take to ask for a frame */
#define LOOK_NS INT64_C(5000000)    /* how often it is looked */
#define GONE_NS INT64_C(1200000000) /* more than its X server's delay */

/* gamescope_xwayland, version 1, as gamescope describes it: destroy; override_window_content, of a
 * wl_surface and the window's id. No events. */
enum { GAMESCOPE_DESTROY, GAMESCOPE_OVERRIDE };
static const struct wl_interface *override_types[] = {&wl_surface_interface, NULL};
static const struct wl_message gamescope_requests[] = {
    {"destroy", "", NULL}, {"override_window_content", "ou", override_types}};
static const struct wl_interface gamescope_interface = {
    "gamescope_xwayland", 1, 2, gamescope_requests, 0, NULL};

struct gamescope {
    struct tp_target base;
    struct tp_target *inner; /* of the surface; owned; its streams are the streams */
    xcb_connection_t *app;
    xcb_window_t window, top; /* top: itself, or the one that gamescope knows and that it fills */
    struct wl_display *display; /* owned, with all below */
    struct wl_registry *registry;
    struct wl_compositor *compositor;
    struct wl_proxy *xwayland;
    struct wl_surface *surface;
};

/* The number of a display's name, ":1" or "unix:1.0"; -1: none. */
static long number_of(const char *name)
{
    const char *colon = name ? strrchr(name, ':') : NULL;
    char *end;

    if (!colon || !colon[1])
        return -1;
    long n = strtol(colon + 1, &end, 10);
    return *end == 0 || *end == '.' ? n : -1;
}

/* By the socket that the connection leads to. */
static long number_of_server(xcb_connection_t *c)
{
    struct sockaddr_un peer = {0};
    socklen_t bytes = sizeof peer - 1;

    if (getpeername(xcb_get_file_descriptor(c), (struct sockaddr *)&peer, &bytes) < 0 ||
        peer.sun_family != AF_UNIX)
        return -1;
    const char *name = strrchr(peer.sun_path[0] ? peer.sun_path : peer.sun_path + 1, 'X');
    char *end;
    if (!name || !name[1])
        return -1;
    long n = strtol(name + 1, &end, 10);
    return *end ? -1 : n;
}

/* gamescope calls its first X server STEAM_GAME_DISPLAY_0; only windows of that one can be named.
 */
bool tp_x11_gamescope_has(xcb_connection_t *connection)
{
    const char *socket = getenv("GAMESCOPE_WAYLAND_DISPLAY");
    const char *first = getenv("STEAM_GAME_DISPLAY_0");
    long server = number_of_server(connection);

    return tp_wayland_there() && socket && *socket && server >= 0 &&
        number_of(first ? first : getenv("DISPLAY")) == server;
}

static void on_global(
    void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version)
{
    struct gamescope *g = data;

    (void)version;
    if (!strcmp(interface, wl_compositor_interface.name) && !g->compositor)
        g->compositor = wl_registry_bind(r, name, &wl_compositor_interface, 1);
    else if (!strcmp(interface, gamescope_interface.name) && !g->xwayland)
        g->xwayland = wl_registry_bind(r, name, &gamescope_interface, 1);
}

static void on_global_remove(void *data, struct wl_registry *r, uint32_t name)
{
    (void)data;
    (void)r;
    (void)name;
}

static void destroy(struct tp_target *t)
{
    struct gamescope *g = (struct gamescope *)t;

    if (g->inner)
        g->inner->ops->destroy(g->inner);
    if (g->surface)
        wl_surface_destroy(g->surface);
    if (g->xwayland)
        wl_proxy_marshal_flags(g->xwayland, GAMESCOPE_DESTROY, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
    if (g->compositor)
        wl_compositor_destroy(g->compositor);
    if (g->registry)
        wl_registry_destroy(g->registry);
    if (g->display) {
        wl_display_flush(g->display);
        wl_display_disconnect(g->display);
    }
    free(g);
}

xcb_window_t tp_x11_gamescope_top(xcb_connection_t *c, xcb_window_t window)
{
    uint16_t width = 0, height = 0;

    for (xcb_window_t at = window, parent; at != XCB_NONE; at = parent) {
        xcb_get_geometry_cookie_t asked = xcb_get_geometry(c, at);
        xcb_query_tree_cookie_t asked_too = xcb_query_tree(c, at);
        xcb_get_geometry_reply_t *g = xcb_get_geometry_reply(c, asked, NULL);
        xcb_query_tree_reply_t *tree = xcb_query_tree_reply(c, asked_too, NULL);
        bool is_filled = g && (at == window || (g->width == width && g->height == height));
        bool is_top = tree && tree->parent == tree->root;
        bool is_in_corner = g && g->x == 0 && g->y == 0 && g->border_width == 0;

        parent = is_filled && is_in_corner && tree ? tree->parent : XCB_NONE;
        width = g ? g->width : 0;
        height = g ? g->height : 0;
        free(g);
        free(tree);
        if (is_filled && is_top)
            return at;
    }
    return XCB_NONE;
}

/* The X window's size counts, not the surface's. */
static int query(struct tp_target *t, struct tp_target_caps *out)
{
    struct gamescope *g = (struct gamescope *)t;
    xcb_get_geometry_reply_t *geometry =
        xcb_get_geometry_reply(g->app, xcb_get_geometry(g->app, g->window), NULL);
    int r = geometry ? g->inner->ops->query(g->inner, out) : -ENODEV;

    if (r == 0) {
        out->width = geometry->width;
        out->height = geometry->height;
        out->scaling = 0;
        out->gravity_x = out->gravity_y = 0;
    }
    free(geometry);
    return r;
}

static int formats(struct tp_target *t, struct tp_target_format **out, uint32_t *n)
{
    struct gamescope *g = (struct gamescope *)t;

    return g->inner->ops->formats(g->inner, out, n);
}

static int open_stream(struct tp_target *t, const struct tp_stream_info *info,
    const struct tp_stream_events *events, void *data, struct tp_stream **out)
{
    struct gamescope *g = (struct gamescope *)t;

    return g->inner->ops->open(g->inner, info, events, data, out);
}

static void close_stream(struct tp_stream *s)
{
    s->target->ops->close(s);
}

static int add(struct tp_stream *s, uint32_t index, const struct tp_stream_image *image)
{
    return s->target->ops->add(s, index, image);
}

static int present(struct tp_stream *s, const struct tp_picture *p)
{
    return s->target->ops->present(s, p);
}

static const struct tp_target_ops ops = {
    .name = "gamescope",
    .destroy = destroy,
    .query = query,
    .formats = formats,
    .open = open_stream,
    .close = close_stream,
    .add = add,
    .present = present,
};

static int connect_to(struct gamescope *g)
{
    static const struct wl_registry_listener listener = {on_global, on_global_remove};

    g->display = wl_display_connect(getenv("GAMESCOPE_WAYLAND_DISPLAY"));
    if (!g->display)
        return -ENODEV;
    g->registry = wl_display_get_registry(g->display);
    if (!g->registry || wl_registry_add_listener(g->registry, &listener, g) < 0 ||
        wl_display_roundtrip(g->display) < 0 || !g->compositor || !g->xwayland)
        return -ENODEV;
    g->surface = wl_compositor_create_surface(g->compositor);
    return g->surface ? 0 : -ENOMEM;
}

static void rest(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

static bool is_on_screen(struct gamescope *g)
{
    xcb_get_window_attributes_reply_t *is = xcb_get_window_attributes_reply(
        g->app, xcb_get_window_attributes(g->app, g->top), NULL);
    bool on = is && is->map_state != XCB_MAP_STATE_UNMAPPED;

    free(is);
    return on;
}

static void on_frame(void *data, struct wl_callback *callback, uint32_t time_ms)
{
    (void)callback;
    (void)time_ms;
    *(bool *)data = true;
}

/* Does gamescope take the surface for the window's content? Then it asks for frames. */
static bool is_taken(struct gamescope *g)
{
    static const struct wl_callback_listener listener = {on_frame};
    struct wl_event_queue *queue = wl_display_create_queue(g->display);
    struct wl_surface *surface = queue ? wl_proxy_create_wrapper(g->surface) : NULL;
    int64_t until_ns = tp_icd_now_ns() + TAKE_NS;
    struct wl_callback *frame = NULL;
    bool taken = false;

    if (surface) {
        wl_proxy_set_queue((struct wl_proxy *)surface, queue);
        frame = wl_surface_frame(surface);
    }
    if (frame) {
        wl_callback_add_listener(frame, &listener, &taken);
        wl_surface_commit(surface);
    }
    while (frame && !taken && tp_icd_now_ns() < until_ns) {
        if (wl_display_roundtrip_queue(g->display, queue) < 0)
            break;
        if (!taken)
            rest(LOOK_NS);
    }
    if (frame)
        wl_callback_destroy(frame);
    if (surface)
        wl_proxy_wrapper_destroy(surface);
    if (queue)
        wl_event_queue_destroy(queue);
    return taken;
}

/*
 * gamescope asks for a window's content when the window comes, and only then (3.11.49: set_wl_id):
 * one that was there before goes and comes again. Its X server takes a second (since 22.1) to tell
 * that the old content is gone.
 */
static void come_again(struct gamescope *g)
{
    if (!is_on_screen(g) || is_taken(g) || !is_on_screen(g))
        return;
    tp_icd_log("gamescope had this window already: it is mapped again");
    xcb_unmap_window(g->app, g->top);
    xcb_flush(g->app);
    rest(GONE_NS);
    xcb_map_window(g->app, g->top);
    xcb_flush(g->app);
}

int tp_x11_gamescope_create(
    xcb_connection_t *connection, xcb_window_t window, struct tp_target **out)
{
    struct gamescope *g = calloc(1, sizeof *g);
    int r;

    if (!g)
        return -ENOMEM;
    g->base.ops = &ops;
    g->app = connection;
    g->window = window;
    g->top = tp_x11_gamescope_top(connection, window);
    r = g->top == XCB_NONE ? -ENODEV : connect_to(g);
    if (r == 0)
        r = tp_target_wayland_create(g->display, g->surface, &g->inner);
    if (r < 0) {
        destroy(&g->base);
        return r;
    }
    wl_proxy_marshal_flags(
        g->xwayland, GAMESCOPE_OVERRIDE, NULL, 1, 0, (struct wl_object *)g->surface, g->top);
    wl_display_roundtrip(g->display); /* it knows of it before the window comes */
    come_again(g);
    *out = &g->base;
    return 0;
}
