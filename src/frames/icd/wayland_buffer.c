/* The images of a Wayland target as wl_buffers. */
#include <drm_fourcc.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/icd/log.h"
#include "frames/icd/wayland.h"

int tp_wayland_make_room(struct wl_display *display, int timeout_ms)
{
    struct pollfd fd = {.fd = wl_display_get_fd(display), .events = POLLOUT};

    while (wl_display_flush(display) < 0 && errno == EAGAIN) {
        if (poll(&fd, 1, timeout_ms) == 0)
            return -EAGAIN;
    }
    return 0; /* a connection that has ended says so to whoever reads */
}

/* --- linux-dmabuf: asked, so that a no does not cost the connection --- */

struct answer {
    struct wl_buffer *buffer;
    bool is_there;
};

static void on_created(
    void *data, struct zwp_linux_buffer_params_v1 *params, struct wl_buffer *buffer)
{
    (void)params;
    *(struct answer *)data = (struct answer){buffer, true};
}

static void on_failed(void *data, struct zwp_linux_buffer_params_v1 *params)
{
    (void)params;
    ((struct answer *)data)->is_there = true;
}

static void ask(struct zwp_linux_buffer_params_v1 *params, const struct tp_stream_image *image,
    uint64_t modifier)
{
    for (uint32_t i = 0; i < image->n_planes; i++)
        zwp_linux_buffer_params_v1_add(params, image->fd, i, image->offsets[i], image->pitches[i],
            (uint32_t)(modifier >> 32), (uint32_t)modifier);
    zwp_linux_buffer_params_v1_create(
        params, (int32_t)image->width, (int32_t)image->height, image->fourcc, 0);
}

/* In a queue of its own: the target's thread reads on, and does not take the answer. */
static int make_dmabuf(struct tp_wayland *w, const struct tp_stream_image *image, uint64_t modifier,
    struct wl_buffer **out)
{
    static const struct zwp_linux_buffer_params_v1_listener listener = {on_created, on_failed};
    struct wl_event_queue *queue = wl_display_create_queue(w->display);
    struct zwp_linux_dmabuf_v1 *dmabuf = queue ? wl_proxy_create_wrapper(w->dmabuf) : NULL;
    struct zwp_linux_buffer_params_v1 *params = NULL;
    struct answer answer = {0};
    int r = 0;

    if (dmabuf) {
        wl_proxy_set_queue((struct wl_proxy *)dmabuf, queue);
        params = zwp_linux_dmabuf_v1_create_params(dmabuf);
        wl_proxy_wrapper_destroy(dmabuf);
    }
    if (params) {
        tp_wayland_make_room(w->display, -1);
        zwp_linux_buffer_params_v1_add_listener(params, &listener, &answer);
        ask(params, image, modifier);
        while (!answer.is_there && !r)
            r = wl_display_dispatch_queue(w->display, queue) < 0 ? -ENODEV : 0;
        zwp_linux_buffer_params_v1_destroy(params);
    }
    if (answer.buffer)
        wl_proxy_set_queue((struct wl_proxy *)answer.buffer, w->queue);
    if (queue)
        wl_event_queue_destroy(queue);
    *out = answer.buffer;
    return r ? r : !params ? -ENOMEM : answer.buffer ? 0 : -EOPNOTSUPP;
}

/* --- wl_shm: with an image's first picture, so that a compositor which does not read holds up no
 * swapchain; nothing is answered --- */

static bool can_share(const struct tp_wayland *w, const struct tp_stream_image *image)
{
    return image->memory == TP_MEMORY_SHARED && image->bytes <= INT32_MAX && image->n_planes == 1 &&
        tp_wayland_takes(&w->shm_formats, image->fourcc, DRM_FORMAT_MOD_LINEAR);
}

int tp_wayland_make_shared(struct tp_wayland *w, struct tp_wayland_image *image)
{
    const struct tp_stream_image *i = &image->shared;
    uint32_t format = i->fourcc == DRM_FORMAT_ARGB8888 ? WL_SHM_FORMAT_ARGB8888
        : i->fourcc == DRM_FORMAT_XRGB8888             ? WL_SHM_FORMAT_XRGB8888
                                                       : i->fourcc;
    struct wl_shm_pool *pool = wl_shm_create_pool(w->shm, i->fd, (int32_t)i->bytes);

    if (!pool)
        return -ENOMEM;
    image->buffer = wl_shm_pool_create_buffer(pool, (int32_t)i->offsets[0], (int32_t)i->width,
        (int32_t)i->height, (int32_t)i->pitches[0], format);
    wl_shm_pool_destroy(pool);
    if (!image->buffer)
        return -ENOMEM;
    tp_wayland_listen_release(image);
    return 0;
}

/* --- which of them --- */

static int try_dmabuf(
    struct tp_wayland *w, const struct tp_stream_image *image, struct wl_buffer **out)
{
    uint64_t modifier = image->modifier;

    pthread_mutex_lock(&w->lock);
    bool takes = tp_wayland_takes(&w->dmabuf_formats, image->fourcc, modifier);
    if (!takes) { /* linear, where only the driver and the compositor know what that is */
        modifier = DRM_FORMAT_MOD_INVALID;
        takes = tp_wayland_takes(&w->dmabuf_formats, image->fourcc, modifier);
    }
    pthread_mutex_unlock(&w->lock);
    return w->dmabuf && takes ? make_dmabuf(w, image, modifier, out) : -EOPNOTSUPP;
}

int tp_wayland_add(
    struct tp_wayland *w, struct tp_wayland_image *out, const struct tp_stream_image *image)
{
    int r = -EOPNOTSUPP;

    out->dmabuf = image->memory == TP_MEMORY_DMABUF || w->shared_dmabuf;
    if (out->dmabuf)
        r = try_dmabuf(w, image, &out->buffer);
    if (r == -EOPNOTSUPP && can_share(w, image)) {
        out->dmabuf = false;
        out->shared = *image;
        r = 0;
    }
    if (r == -EOPNOTSUPP)
        tp_icd_log_once("the Wayland compositor does not take images of %ux%u (%.4s, modifier "
                        "0x%llx, %s)",
            image->width, image->height, (const char *)&image->fourcc,
            (unsigned long long)image->modifier,
            image->memory == TP_MEMORY_DMABUF ? "a dma-buf" : "shared memory");
    return r;
}

void tp_wayland_bury(struct tp_wayland *w, bool silent)
{
    struct tp_wayland_stream *s = wl_container_of(w->closed.next, s, link);

    wl_list_remove(&s->link);
    for (uint32_t i = 0; i < s->info.n_images; i++) {
        struct wl_buffer *buffer = s->images[i].buffer;
        if (buffer && silent)
            wl_proxy_destroy((struct wl_proxy *)buffer);
        else if (buffer)
            wl_buffer_destroy(buffer);
    }
    free(s);
}

bool tp_wayland_probe_shared(struct tp_wayland *w)
{
    enum { SIDE = 64, BYTES = SIDE * SIDE * 4 };
    struct tp_stream_image image = {.memory = TP_MEMORY_SHARED,
        .fd = memfd_create("probe", MFD_CLOEXEC),
        .bytes = BYTES,
        .width = SIDE,
        .height = SIDE,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_planes = 1,
        .pitches = {SIDE * 4}};
    struct wl_buffer *buffer = NULL;

    if (!tp_wayland_takes(&w->dmabuf_formats, image.fourcc, DRM_FORMAT_MOD_LINEAR))
        image.fourcc = DRM_FORMAT_ARGB8888;
    if (image.fd >= 0 && ftruncate(image.fd, BYTES) == 0 &&
        tp_wayland_takes(&w->dmabuf_formats, image.fourcc, DRM_FORMAT_MOD_LINEAR))
        make_dmabuf(w, &image, DRM_FORMAT_MOD_LINEAR, &buffer);
    if (image.fd >= 0)
        close(image.fd);
    if (buffer)
        wl_buffer_destroy(buffer);
    return buffer;
}
