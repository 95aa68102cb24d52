/* A window on an X server: pixels in shared memory where the server takes such, else sent. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include <xcb/shm.h>
#include <xcb/xcb.h>

#include "base/buf.h"
#include "frames/panel/window_view.h"

#define ASPECT 128u /* PAspect of a window's WM_NORMAL_HINTS (ICCCM 4.1.2.3) */

struct x11 {
    struct tp_window window;
    xcb_connection_t *connection;
    xcb_window_t id;
    xcb_gcontext_t gc;
    xcb_atom_t protocols, delete_window;
    uint8_t depth;
    bool shares;            /* the server may take shared memory */
    uint8_t shm_event;      /* its ShmCompletion */
    xcb_shm_seg_t shared;   /* 0: pixels are memory of our own */
    uint32_t *pixels;       /* owned; NULL: none */
    uint32_t width, height; /* of them */
};

static struct x11 *of(struct tp_window *w)
{
    return (struct x11 *)w;
}

static xcb_screen_t *screen_of(xcb_connection_t *c, int number)
{
    xcb_screen_iterator_t i = xcb_setup_roots_iterator(xcb_get_setup(c));
    while (number-- > 0 && i.rem > 1)
        xcb_screen_next(&i);
    return i.rem > 0 ? i.data : NULL;
}

/* Its pixels are ours: 0x00rrggbb in a word of this machine's. */
static bool has_our_pixels(xcb_connection_t *c, const xcb_screen_t *screen)
{
    const xcb_setup_t *setup = xcb_get_setup(c);
    bool little = setup->image_byte_order == XCB_IMAGE_ORDER_LSB_FIRST, words = false;
    for (int i = 0; i < xcb_setup_pixmap_formats_length(setup); i++) {
        const xcb_format_t *f = &xcb_setup_pixmap_formats(setup)[i];
        words |= f->depth == screen->root_depth && f->bits_per_pixel == 32;
    }
    xcb_depth_iterator_t d = xcb_screen_allowed_depths_iterator(screen);
    for (; d.rem > 0; xcb_depth_next(&d)) {
        xcb_visualtype_iterator_t v = xcb_depth_visuals_iterator(d.data);
        for (; v.rem > 0; xcb_visualtype_next(&v))
            if (v.data->visual_id == screen->root_visual)
                return words && v.data->red_mask == 0xff0000 && v.data->green_mask == 0xff00 &&
                    v.data->blue_mask == 0xff && little == (BYTE_ORDER == LITTLE_ENDIAN);
    }
    return false;
}

/* --- pixels --- */

static void drop_pixels(struct x11 *x)
{
    if (x->shared) {
        xcb_shm_detach(x->connection, x->shared);
        shmdt(x->pixels);
    } else {
        free(x->pixels);
    }
    x->shared = 0;
    x->pixels = NULL;
}

/* Memory that the server has too; false, it does not take it (it may be on another machine). */
static bool share(struct x11 *x, size_t bytes)
{
    int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    void *pixels = id >= 0 ? shmat(id, NULL, 0) : (void *)-1;
    xcb_generic_error_t *refused = NULL;
    bool shared = pixels != (void *)-1;
    if (shared) {
        x->shared = xcb_generate_id(x->connection);
        refused = xcb_request_check(
            x->connection, xcb_shm_attach_checked(x->connection, x->shared, (uint32_t)id, true));
        shared = !refused && !xcb_connection_has_error(x->connection);
        free(refused);
    }
    if (shared)
        x->pixels = pixels;
    else
        x->shared = 0;
    if (!shared && pixels != (void *)-1)
        shmdt(pixels);
    if (id >= 0)
        shmctl(id, IPC_RMID, NULL); /* it goes with the last who has it */
    return shared;
}

static uint32_t *begin(struct tp_window *w, size_t *pitch_px)
{
    struct x11 *x = of(w);
    if (!w->asked) /* the server reads what was shown last */
        return NULL;
    if (!x->pixels || x->width != w->width || x->height != w->height) {
        size_t bytes = (size_t)w->width * w->height * 4;
        drop_pixels(x);
        x->shares = x->shares && share(x, bytes);
        if (!x->shares)
            x->pixels = tp_calloc(1, bytes);
        x->width = w->width;
        x->height = w->height;
    }
    *pitch_px = x->width;
    return x->pixels;
}

/* In as many requests as it takes. */
static void send_pixels(struct x11 *x)
{
    size_t room = (size_t)xcb_get_maximum_request_length(x->connection) * 4 - 64;
    size_t line = (size_t)x->width * 4;
    uint32_t lines = room / line > 0 ? (uint32_t)(room / line) : 1;
    for (uint32_t y = 0; y < x->height; y += lines) {
        uint32_t n = x->height - y < lines ? x->height - y : lines;
        xcb_put_image(x->connection, XCB_IMAGE_FORMAT_Z_PIXMAP, x->id, x->gc, (uint16_t)x->width,
            (uint16_t)n, 0, (int16_t)y, 0, x->depth, (uint32_t)(n * line),
            (const uint8_t *)x->pixels + y * line);
    }
}

static void show(struct tp_window *w)
{
    struct x11 *x = of(w);
    if (x->shared) {
        xcb_shm_put_image(x->connection, x->id, x->gc, (uint16_t)x->width, (uint16_t)x->height, 0,
            0, (uint16_t)x->width, (uint16_t)x->height, 0, 0, x->depth, XCB_IMAGE_FORMAT_Z_PIXMAP,
            1, x->shared, 0);
        w->asked = false;
    } else {
        send_pixels(x);
    }
}

/* --- what the server says --- */

static void resize(struct tp_window *w, uint16_t width, uint16_t height)
{
    if (width == w->width && height == w->height)
        return;
    w->width = width < TP_WINDOW_MAX_PX ? width : TP_WINDOW_MAX_PX;
    w->height = height < TP_WINDOW_MAX_PX ? height : TP_WINDOW_MAX_PX;
    w->stale = true;
}

static void hear(struct x11 *x, const xcb_generic_event_t *event)
{
    struct tp_window *w = &x->window;
    uint8_t type = event->response_type & 0x7f; /* the rest: another client sent it */
    if (type == XCB_CONFIGURE_NOTIFY) {
        const xcb_configure_notify_event_t *c = (const void *)event;
        resize(w, c->width, c->height);
    } else if (type == XCB_EXPOSE) {
        w->stale = true;
    } else if (type == XCB_CLIENT_MESSAGE) {
        const xcb_client_message_event_t *m = (const void *)event;
        w->closed |= m->type == x->protocols && m->data.data32[0] == x->delete_window;
    } else if (type == XCB_DESTROY_NOTIFY) {
        w->closed = true;
    } else if (type == x->shm_event && x->shares) {
        w->asked = true;
    }
}

static int turn(struct tp_window *w, struct tp_error *e)
{
    struct x11 *x = of(w);
    xcb_generic_event_t *event;
    xcb_flush(x->connection);
    while ((event = xcb_poll_for_event(x->connection))) {
        hear(x, event);
        free(event);
    }
    if (!xcb_connection_has_error(x->connection))
        return 0;
    return tp_fail(e, TP_STATUS_FAILED, -EPIPE, getenv("DISPLAY"),
        "is the X server that has the window still running?",
        "the X server has ended the connection");
}

/* --- the window --- */

static xcb_atom_t atom(xcb_connection_t *c, const char *name)
{
    xcb_intern_atom_reply_t *r =
        xcb_intern_atom_reply(c, xcb_intern_atom(c, 0, (uint16_t)strlen(name), name), NULL);
    xcb_atom_t a = r ? r->atom : XCB_ATOM_NONE;
    free(r);
    return a;
}

static void set_text(
    struct x11 *x, xcb_atom_t property, xcb_atom_t type, const char *text, size_t bytes)
{
    xcb_change_property(
        x->connection, XCB_PROP_MODE_REPLACE, x->id, property, type, 8, (uint32_t)bytes, text);
}

/* What the window manager is told. */
static void set_properties(struct x11 *x, const char *title)
{
    static const char class[] = "turnpike\0turnpike";
    xcb_connection_t *c = x->connection;
    uint32_t hints[18] = {[0] = ASPECT};
    x->protocols = atom(c, "WM_PROTOCOLS");
    x->delete_window = atom(c, "WM_DELETE_WINDOW");
    set_text(x, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, title, strlen(title));
    set_text(x, atom(c, "_NET_WM_NAME"), atom(c, "UTF8_STRING"), title, strlen(title));
    set_text(x, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING, class, sizeof class);
    xcb_change_property(
        c, XCB_PROP_MODE_REPLACE, x->id, x->protocols, XCB_ATOM_ATOM, 32, 1, &x->delete_window);
    hints[11] = hints[13] = x->window.width; /* the least and the largest aspect */
    hints[12] = hints[14] = x->window.height;
    xcb_change_property(c, XCB_PROP_MODE_REPLACE, x->id, XCB_ATOM_WM_NORMAL_HINTS,
        XCB_ATOM_WM_SIZE_HINTS, 32, 18, hints);
}

static void look_for_sharing(struct x11 *x)
{
    const xcb_query_extension_reply_t *shm = xcb_get_extension_data(x->connection, &xcb_shm_id);
    x->shares = shm && shm->present;
    x->shm_event = x->shares ? shm->first_event + XCB_SHM_COMPLETION : 0;
}

/* No larger than the X server's screen, and of the same shape. */
static void make_fit(struct tp_window *w, const xcb_screen_t *screen)
{
    uint64_t width = w->width, height = w->height;
    if (width > screen->width_in_pixels) {
        height = height * screen->width_in_pixels / width;
        width = screen->width_in_pixels;
    }
    if (height > screen->height_in_pixels) {
        width = width * screen->height_in_pixels / height;
        height = screen->height_in_pixels;
    }
    w->width = width > 0 ? (uint32_t)width : 1;
    w->height = height > 0 ? (uint32_t)height : 1;
}

static void make_window(struct x11 *x, const xcb_screen_t *screen, const char *title)
{
    const uint32_t values[] = {
        screen->black_pixel, XCB_EVENT_MASK_EXPOSURE | XCB_EVENT_MASK_STRUCTURE_NOTIFY};
    make_fit(&x->window, screen);
    x->depth = screen->root_depth;
    x->id = xcb_generate_id(x->connection);
    x->gc = xcb_generate_id(x->connection);
    xcb_create_window(x->connection, x->depth, x->id, screen->root, 0, 0, (uint16_t)x->window.width,
        (uint16_t)x->window.height, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
        XCB_CW_BACK_PIXEL | XCB_CW_EVENT_MASK, values);
    xcb_create_gc(x->connection, x->gc, x->id, 0, NULL);
    set_properties(x, title);
    xcb_map_window(x->connection, x->id);
    xcb_flush(x->connection);
}

static void close_window(struct tp_window *w)
{
    struct x11 *x = of(w);
    drop_pixels(x);
    xcb_disconnect(x->connection); /* the window goes with it */
    free(x);
}

int tp_window_x11_open(
    uint32_t width, uint32_t height, const char *title, struct tp_window **out, struct tp_error *e)
{
    static const struct tp_window_ops ops = {turn, begin, show, close_window};
    const char *name = getenv("DISPLAY");
    int number = 0;
    xcb_connection_t *c = xcb_connect(NULL, &number);
    xcb_screen_t *screen = xcb_connection_has_error(c) ? NULL : screen_of(c, number);
    if (!screen || !has_our_pixels(c, screen)) {
        xcb_disconnect(c);
        return screen
            ? tp_fail(e, TP_STATUS_MISSING, -ENOTSUP, name, "give it a screen of 24 bits a pixel",
                  "the X server's pixels are not 8 bits each of red, green and blue")
            : tp_fail(e, TP_STATUS_MISSING, -ECONNREFUSED, name,
                  "is the X server running, and may this user use it (xauth)?",
                  "no X server answers there");
    }
    struct x11 *x = tp_calloc(1, sizeof *x);
    x->connection = c;
    x->window = (struct tp_window){.ops = &ops,
        .fd = xcb_get_file_descriptor(c),
        .width = width,
        .height = height,
        .asked = true};
    look_for_sharing(x);
    make_window(x, screen, title);
    *out = &x->window;
    return 0;
}
