/* A Wayland surface: VK_KHR_wayland_surface. wayland.h tells its parts. */
#include <drm_fourcc.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/clock.h"
#include "frames/icd/settings.h"
#include "frames/icd/wayland.h"

/* The loop looks again this long after something went out, so that the next picture's deadline
 * needs no waking. */
#define BUSY_NS INT64_C(500000000)
/* A surface that ends tells a compositor that does not read within this time of no buffer more. */
#define FAREWELL_MS 1000

/* --- its thread --- */

static int64_t before(void *data, short *events)
{
    struct tp_wayland *w = data;
    int64_t now = tp_icd_now_ns();

    pthread_mutex_lock(&w->lock);
    while (!w->dead && wl_display_prepare_read_queue(w->display, w->queue) != 0) {
        if (wl_display_dispatch_queue_pending(w->display, w->queue) < 0)
            tp_wayland_lose(w);
        tp_wayland_pump(w);
    }
    w->reading = !w->dead;
    if (w->dead)
        tp_loop_set_fd(w->loop, -1);
    else
        tp_wayland_flush(w);
    *events = w->blocked ? POLLIN | POLLOUT : POLLIN;
    w->loop_until_ns = w->dead ? INT64_MAX : tp_wayland_until(w);
    if (!w->dead && now - w->asked_ns < BUSY_NS && w->loop_until_ns > now + BUSY_NS)
        w->loop_until_ns = now + BUSY_NS;
    int64_t until = w->loop_until_ns;
    pthread_mutex_unlock(&w->lock);
    return until;
}

static void after(void *data, short revents)
{
    struct tp_wayland *w = data;
    int r = 0;

    if (w->reading && revents & ~POLLOUT)
        r = wl_display_read_events(w->display);
    else if (w->reading)
        wl_display_cancel_read(w->display);
    pthread_mutex_lock(&w->lock);
    w->reading = false;
    w->loop_until_ns = INT64_MIN;
    if (!w->dead && (r < 0 || wl_display_dispatch_queue_pending(w->display, w->queue) < 0))
        tp_wayland_lose(w);
    if (!w->dead && w->blocked)
        tp_wayland_flush(w);
    tp_wayland_pump(w);
    pthread_mutex_unlock(&w->lock);
}

/* --- the target --- */

static void destroy(struct tp_target *t)
{
    struct tp_wayland *w = (struct tp_wayland *)t;
    bool silent = false;

    tp_loop_destroy(w->loop);
    while (!wl_list_empty(&w->closed)) {
        silent = silent || tp_wayland_make_room(w->display, FAREWELL_MS) != 0;
        tp_wayland_bury(w, silent);
    }
    if (w->frame)
        wl_callback_destroy(w->frame);
    if (w->lingering)
        wl_buffer_destroy(w->lingering);
    if (w->surface_sync)
        zwp_linux_surface_synchronization_v1_destroy(w->surface_sync);
    if (w->tearing_control)
        wp_tearing_control_v1_destroy(w->tearing_control);
    tp_wayland_unbind(w);
    wl_display_flush(w->display);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->setup);
    free(w);
}

/* Shared memory as a dma-buf is for compositors on a card of turnpike's, and for gamescope, which
 * shows nothing else rightly; others would only complain. */
static void probe(struct tp_wayland *w)
{
    if (w->dmabuf && (w->gamescope || tp_icd_settings()->server_bytes > 0))
        w->shared_dmabuf = tp_wayland_probe_shared(w);
}

static int ask(struct tp_wayland *w)
{
    int r = 0;

    pthread_mutex_lock(&w->setup);
    if (wl_display_get_error(w->display)) {
        r = -ENODEV;
    } else if (!w->asked) {
        r = tp_wayland_bind(w);
        if (r)
            tp_wayland_unbind(w);
        else
            probe(w);
        w->asked = !r;
    }
    pthread_mutex_unlock(&w->setup);
    return r;
}

static void fill_modes(const struct tp_wayland *w, struct tp_target_caps *out)
{
    out->modes[out->n_modes++] = VK_PRESENT_MODE_FIFO_KHR;
    out->modes[out->n_modes++] = VK_PRESENT_MODE_MAILBOX_KHR;
    out->modes[out->n_modes++] = TP_VK_FIFO_LATEST_READY;
    if (w->tearing) {
        out->modes[out->n_modes++] = VK_PRESENT_MODE_IMMEDIATE_KHR;
        out->modes[out->n_modes++] = VK_PRESENT_MODE_FIFO_RELAXED_KHR;
    }
}

static int query(struct tp_target *t, struct tp_target_caps *out)
{
    struct tp_wayland *w = (struct tp_wayland *)t;
    int r = ask(w);

    if (r)
        return r;
    pthread_mutex_lock(&w->lock);
    *out = (struct tp_target_caps){
        .min_images = 2,
        .spaces = {VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
        .n_spaces = 1,
        .transforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphas = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR,
        /* The window is as large as its picture. */
        .scaling = VK_PRESENT_SCALING_ONE_TO_ONE_BIT_EXT,
        .gravity_x = VK_PRESENT_GRAVITY_MIN_BIT_EXT,
        .gravity_y = VK_PRESENT_GRAVITY_MIN_BIT_EXT,
        .takes_fences = w->sync && w->dmabuf,
        .timed = w->presentation && !w->mute,
        .period_ns = w->period_ns,
        .device = w->feedback.device,
    };
    if (wl_surface_get_version(w->surface) >= WL_SURFACE_SET_BUFFER_TRANSFORM_SINCE_VERSION)
        out->transforms |= VK_SURFACE_TRANSFORM_ROTATE_90_BIT_KHR |
            VK_SURFACE_TRANSFORM_ROTATE_180_BIT_KHR | VK_SURFACE_TRANSFORM_ROTATE_270_BIT_KHR |
            VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_BIT_KHR |
            VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_90_BIT_KHR |
            VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_180_BIT_KHR |
            VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_270_BIT_KHR;
    fill_modes(w, out);
    r = w->dead ? -ENODEV : 0;
    pthread_mutex_unlock(&w->lock);
    return r;
}

static int formats(struct tp_target *t, struct tp_target_format **out, uint32_t *n)
{
    struct tp_wayland *w = (struct tp_wayland *)t;
    int r = ask(w);

    if (r)
        return r;
    pthread_mutex_lock(&w->lock);
    uint32_t first = w->dmabuf_formats.n, second = w->shm_formats.n;
    *n = first + second;
    *out = calloc(*n ? *n : 1, sizeof **out);
    if (*out && first > 0)
        memcpy(*out, w->dmabuf_formats.formats, first * sizeof **out);
    for (uint32_t i = 0; *out && w->shared_dmabuf && i < first; i++) {
        if ((*out)[i].modifier == DRM_FORMAT_MOD_LINEAR)
            (*out)[i].memory |= TP_MEMORY_SHARED;
    }
    if (*out && second > 0)
        memcpy(*out + first, w->shm_formats.formats, second * sizeof **out);
    pthread_mutex_unlock(&w->lock);
    return *out ? 0 : -ENOMEM;
}

/* --- streams --- */

/* The application may have agreed with the compositor on the new size already: a picture of the old
 * one would cost it the connection. */
static void drop_other_sizes(struct tp_wayland *w, const struct tp_stream_info *info)
{
    struct tp_wayland_stream *s;

    wl_list_for_each(s, &w->streams, link)
    {
        if (s->info.width != info->width || s->info.height != info->height ||
            s->info.transform != info->transform)
            tp_wayland_drop(s, true);
    }
}

static int open_stream(struct tp_target *t, const struct tp_stream_info *info,
    const struct tp_stream_events *events, void *data, struct tp_stream **out)
{
    static const struct tp_loop_ops ops = {before, after};
    struct tp_wayland *w = (struct tp_wayland *)t;
    int r = ask(w);

    if (r)
        return r;
    struct tp_wayland_stream *s = calloc(1, sizeof *s + info->n_images * sizeof *s->images);
    if (!s)
        return -ENOMEM;
    s->base.target = t;
    s->events = events;
    s->data = data;
    s->info = *info;
    s->modifier = DRM_FORMAT_MOD_INVALID;
    wl_list_init(&s->awaited);
    for (uint32_t i = 0; i < info->n_images; i++)
        s->images[i].stream = s;
    pthread_mutex_lock(&w->lock);
    r = w->dead ? -ENODEV : 0;
    if (!r && !w->loop)
        r = tp_loop_create("tp-wayland", wl_display_get_fd(w->display), &ops, w, &w->loop);
    if (!r) {
        drop_other_sizes(w, info);
        wl_list_insert(w->streams.prev, &s->link);
    }
    pthread_mutex_unlock(&w->lock);
    if (r)
        free(s);
    else
        *out = &s->base;
    return r;
}

/* Its buffer ends with the stream, and is heard of no more. */
static void close_image(struct tp_wayland *w, struct tp_wayland_image *image)
{
    bool on_screen = image == w->last && image->held;

    if (image == w->last)
        w->last = NULL;
    if (image->release)
        zwp_linux_buffer_release_v1_destroy(image->release);
    if (image->buffer)
        wl_buffer_set_user_data(image->buffer, NULL);
    /* What is on the screen stays there until another stream has a picture. */
    if (on_screen) {
        w->lingering = image->buffer;
        image->buffer = NULL;
    }
}

static void close_stream(struct tp_stream *stream)
{
    struct tp_wayland_stream *s = (struct tp_wayland_stream *)stream;
    struct tp_wayland *w = tp_wayland_of(s);

    pthread_mutex_lock(&w->lock);
    tp_wayland_drop(s, false);
    tp_wayland_forget_shown(s, false);
    for (uint32_t i = 0; i < s->info.n_images; i++)
        close_image(w, &s->images[i]);
    wl_list_remove(&s->link);
    wl_list_insert(w->closed.prev, &s->link);
    if (!w->dead)
        tp_wayland_flush(w);
    pthread_mutex_unlock(&w->lock);
}

static int add(struct tp_stream *stream, uint32_t index, const struct tp_stream_image *image)
{
    struct tp_wayland_stream *s = (struct tp_wayland_stream *)stream;
    struct tp_wayland *w = tp_wayland_of(s);
    struct tp_wayland_image *out = &s->images[index];
    int r = tp_wayland_add(w, out, image);

    if (r)
        return r;
    pthread_mutex_lock(&w->lock);
    if (out->buffer)
        tp_wayland_listen_release(out);
    if (out->dmabuf && image->memory == TP_MEMORY_DMABUF)
        s->modifier = image->modifier;
    tp_wayland_flush(w);
    pthread_mutex_unlock(&w->lock);
    return 0;
}

static int present(struct tp_stream *stream, const struct tp_picture *p)
{
    struct tp_wayland_stream *s = (struct tp_wayland_stream *)stream;
    struct tp_wayland *w = tp_wayland_of(s);

    pthread_mutex_lock(&w->lock);
    int r = w->dead ? -ENODEV : s->link.next != &w->streams ? -ESTALE : 0;
    if (!r)
        r = tp_present_queue_put(&s->queue, p);
    if (!r)
        tp_wayland_pump(w);
    pthread_mutex_unlock(&w->lock);
    if (r && p->fence >= 0)
        close(p->fence);
    return r;
}

static const struct tp_target_ops ops = {
    .name = "wayland",
    .destroy = destroy,
    .query = query,
    .formats = formats,
    .open = open_stream,
    .close = close_stream,
    .add = add,
    .present = present,
};

int tp_target_wayland_create(
    struct wl_display *display, struct wl_surface *surface, struct tp_target **out)
{
    struct tp_wayland *w = calloc(1, sizeof *w);

    if (!w)
        return -ENOMEM;
    w->base.ops = &ops;
    w->display = display;
    w->app_surface = surface;
    w->last_mode = VK_PRESENT_MODE_MAILBOX_KHR;
    w->loop_until_ns = INT64_MAX;
    wl_list_init(&w->streams);
    wl_list_init(&w->closed);
    pthread_mutex_init(&w->setup, NULL);
    pthread_mutex_init(&w->lock, NULL);
    *out = &w->base;
    return 0;
}

bool tp_target_wayland_supports(struct wl_display *display)
{
    struct tp_wayland w = {.display = display};

    wl_list_init(&w.streams);
    bool can = tp_wayland_bind(&w) == 0 && w.compositor && (w.shm || w.dmabuf);
    tp_wayland_unbind(&w);
    return can;
}
