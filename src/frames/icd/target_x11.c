/* A window on an X server: by Present where the server has pixmaps of the images, else drawn. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/log.h"
#include "frames/icd/x11.h"
#include "frames/icd/x11_gamescope.h"

static struct tp_x11 *of(struct tp_target *t)
{
    return (struct tp_x11 *)t;
}

/* With the lock held: connects, once. The application may not have sent yet what makes the window:
 * a round trip of its own connection does. */
static int ask(struct tp_x11 *x)
{
    if (x->lost)
        return -ENODEV;
    if (x->asked)
        return 0;
    free(xcb_get_geometry_reply(x->app, xcb_get_geometry(x->app, x->window.id), NULL));
    int r = tp_x11_link_open(&x->link, x->app);
    if (r < 0)
        tp_icd_log_once("there is no second connection to the X server to be had; windows of this "
                        "program cannot be shown: DISPLAY and XAUTHORITY must be its own");
    if (r == 0)
        r = tp_x11_window_get(&x->link, x->window.id, &x->window);
    x->asked = r == 0;
    if (r < 0)
        x->lost = true;
    return r;
}

static int query(struct tp_target *t, struct tp_target_caps *out)
{
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR,
        VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
        VK_PRESENT_MODE_IMMEDIATE_KHR, TP_VK_FIFO_LATEST_READY};
    struct tp_x11 *x = of(t);

    pthread_mutex_lock(&x->lock);
    int r = ask(x);
    if (r == 0) {
        r = tp_x11_window_get(&x->link, x->window.id, &x->window);
        if (r < 0)
            tp_x11_lose(x);
    }
    if (r == 0) {
        *out = (struct tp_target_caps){
            .width = x->window.width,
            .height = x->window.height,
            .min_images = 2,
            .n_modes = sizeof modes / sizeof *modes,
            .n_spaces = 1,
            .spaces = {VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
            .transforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
            .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
            .alphas = VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR |
                (x->window.alpha ? VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR
                                 : VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR),
            .timed = x->link.present != 0,
            .period_ns = x->period_ns,
            .device = tp_x11_device(&x->link, &x->window),
        };
        memcpy(out->modes, modes, sizeof modes);
    }
    if (x->loop)
        tp_loop_wake(x->loop); /* the answers' reader may have read its events */
    pthread_mutex_unlock(&x->lock);
    return r;
}

static int formats(struct tp_target *t, struct tp_target_format **out, uint32_t *n)
{
    struct tp_x11 *x = of(t);

    pthread_mutex_lock(&x->lock);
    int r = ask(x);
    if (r == 0)
        r = tp_x11_formats(&x->link, &x->window, out, n);
    if (x->loop)
        tp_loop_wake(x->loop);
    pthread_mutex_unlock(&x->lock);
    return r;
}

/* With the lock held: hears of the window from now on. */
static int start(struct tp_x11 *x)
{
    uint32_t mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
    xcb_connection_t *c = x->link.c;

    if (x->loop)
        return 0;
    xcb_change_window_attributes(c, x->window.id, XCB_CW_EVENT_MASK, &mask);
    if (x->link.present) {
        x->present_id = xcb_generate_id(c);
        xcb_present_select_input(c, x->present_id, x->window.id,
            XCB_PRESENT_EVENT_MASK_COMPLETE_NOTIFY | XCB_PRESENT_EVENT_MASK_IDLE_NOTIFY);
    }
    x->gc = xcb_generate_id(c);
    xcb_create_gc(c, x->gc, x->window.id, 0, NULL);
    return tp_loop_create(
        "turnpike-x11", xcb_get_file_descriptor(c), &tp_x11_loop_ops, x, &x->loop);
}

static int open_stream(struct tp_target *t, const struct tp_stream_info *info,
    const struct tp_stream_events *events, void *data, struct tp_stream **out)
{
    struct tp_x11 *x = of(t);
    struct tp_x11_stream *s = calloc(1, sizeof *s + info->n_images * sizeof s->images[0]);

    if (!s)
        return -ENOMEM;
    s->base.target = t;
    s->info = *info;
    s->events = events;
    s->data = data;
    pthread_mutex_lock(&x->lock);
    int r = ask(x);
    if (r == 0)
        r = start(x);
    if (r == 0) {
        s->next = x->streams;
        x->streams = s;
    }
    pthread_mutex_unlock(&x->lock);
    if (r < 0) {
        free(s);
        return r;
    }
    *out = &s->base;
    return 0;
}

static void close_stream(struct tp_stream *stream)
{
    struct tp_x11 *x = of(stream->target);
    struct tp_x11_stream *s = (struct tp_x11_stream *)stream, **at = &x->streams;

    pthread_mutex_lock(&x->lock);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    tp_queued_free_all(tp_present_queue_drain(&s->queue));
    for (struct tp_x11_flight *f = x->flights; f; f = f->next) {
        if (f->stream == s)
            f->stream = NULL;
    }
    for (uint32_t i = 0; i < s->info.n_images; i++)
        tp_x11_image_remove(&x->link, &s->images[i]);
    tp_loop_wake(x->loop); /* sends that */
    pthread_mutex_unlock(&x->lock);
    free(s);
}

static int add(struct tp_stream *stream, uint32_t index, const struct tp_stream_image *image)
{
    struct tp_x11 *x = of(stream->target);
    struct tp_x11_stream *s = (struct tp_x11_stream *)stream;

    int r = tp_x11_image_add(&x->link, &x->window, image, &s->images[index]);
    tp_loop_wake(x->loop); /* the answer's reader may have read its events */
    return r;
}

static bool waits_its_turn(VkPresentModeKHR mode)
{
    return mode == VK_PRESENT_MODE_FIFO_KHR || mode == VK_PRESENT_MODE_FIFO_RELAXED_KHR;
}

static int present(struct tp_stream *stream, const struct tp_picture *p)
{
    struct tp_x11 *x = of(stream->target);
    struct tp_x11_stream *s = (struct tp_x11_stream *)stream;

    pthread_mutex_lock(&x->lock);
    int r = x->lost ? -ENODEV : x->streams != s ? -ESTALE : 0;
    if (r == 0)
        r = tp_present_queue_put(&s->queue, p);
    /* In its turn: what the server says of those under way wakes the thread. */
    if (r == 0 && !(x->flights && x->link.present && waits_its_turn(p->mode)))
        tp_loop_wake(x->loop);
    pthread_mutex_unlock(&x->lock);
    if (r < 0 && p->fence >= 0)
        close(p->fence);
    return r;
}

static void destroy(struct tp_target *t)
{
    struct tp_x11 *x = of(t);

    tp_loop_destroy(x->loop);
    for (struct tp_x11_flight *f = x->flights, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    tp_x11_link_close(&x->link);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

static const struct tp_target_ops ops = {
    .name = "x11",
    .destroy = destroy,
    .query = query,
    .formats = formats,
    .open = open_stream,
    .close = close_stream,
    .add = add,
    .present = present,
};

int tp_target_x11_create(xcb_connection_t *connection, xcb_window_t window, struct tp_target **out)
{
#ifdef TP_ICD_WAYLAND
    if (tp_x11_gamescope_has(connection) && tp_x11_gamescope_create(connection, window, out) == 0)
        return 0;
#endif
    struct tp_x11 *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->base.ops = &ops;
    x->app = connection;
    x->window.id = window;
    pthread_mutex_init(&x->lock, NULL);
    *out = &x->base;
    return 0;
}

bool tp_target_x11_supports(xcb_connection_t *connection, xcb_visualid_t visual)
{
    uint8_t depth;
    bool alpha;

    return tp_x11_visual_fourcc(connection, visual, &depth, &alpha) != 0;
}

xcb_connection_t *tp_target_xlib_connection(Display *display)
{
    /* A program with an Xlib display and without this library has an Xlib that is not on xcb. */
    static void *library;
    xcb_connection_t *(*get)(Display *);

    if (!library)
        library = dlopen("libX11-xcb.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    *(void **)&get = dlsym(library, "XGetXCBConnection");
    return get ? get(display) : NULL;
}
