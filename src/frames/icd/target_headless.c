/*
 * VK_EXT_headless_surface: nobody looks. A picture counts as shown when it is presented, or at the
 * instant that was asked for, and keeps its image until the next one, as on a screen.
 */
#include <drm_fourcc.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/clock.h"
#include "frames/icd/target.h"

struct headless {
    struct tp_target base;
    pthread_mutex_t lock;
    uint64_t sequence;
    int64_t last_ns; /* when the last picture was shown */
    struct stream *newest;
};

struct stream {
    struct tp_stream base;
    const struct tp_stream_events *events;
    void *data;
    int64_t shown; /* an index; -1: none */
};

static const uint32_t fourccs[] = {DRM_FORMAT_ARGB8888, DRM_FORMAT_XRGB8888, DRM_FORMAT_ABGR8888,
    DRM_FORMAT_XBGR8888, DRM_FORMAT_ARGB2101010, DRM_FORMAT_XRGB2101010, DRM_FORMAT_ABGR2101010,
    DRM_FORMAT_XBGR2101010, DRM_FORMAT_ABGR16161616F, DRM_FORMAT_XBGR16161616F, DRM_FORMAT_RGB565};
enum { N_FOURCCS = sizeof fourccs / sizeof fourccs[0] };

static void destroy(struct tp_target *t)
{
    struct headless *h = (struct headless *)t;

    pthread_mutex_destroy(&h->lock);
    free(h);
}

static int query(struct tp_target *t, struct tp_target_caps *out)
{
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR,
        VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
        VK_PRESENT_MODE_IMMEDIATE_KHR, TP_VK_FIFO_LATEST_READY};
    static const VkColorSpaceKHR spaces[] = {VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
        VK_COLOR_SPACE_HDR10_ST2084_EXT, VK_COLOR_SPACE_EXTENDED_SRGB_LINEAR_EXT};

    (void)t;
    *out = (struct tp_target_caps){
        .min_images = 2,
        .n_modes = sizeof modes / sizeof *modes,
        .n_spaces = sizeof spaces / sizeof *spaces,
        .transforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphas = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR | VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR,
        .takes_fences = true,
    };
    memcpy(out->modes, modes, sizeof modes);
    memcpy(out->spaces, spaces, sizeof spaces);
    return 0;
}

static int formats(struct tp_target *t, struct tp_target_format **out, uint32_t *n)
{
    (void)t;
    *out = calloc(N_FOURCCS, sizeof **out);
    if (!*out)
        return -ENOMEM;
    for (uint32_t i = 0; i < N_FOURCCS; i++)
        (*out)[i] = (struct tp_target_format){
            fourccs[i], DRM_FORMAT_MOD_LINEAR, TP_MEMORY_DMABUF | TP_MEMORY_SHARED};
    *n = N_FOURCCS;
    return 0;
}

static int open_stream(struct tp_target *t, const struct tp_stream_info *info,
    const struct tp_stream_events *events, void *data, struct tp_stream **out)
{
    struct headless *h = (struct headless *)t;
    struct stream *s = calloc(1, sizeof *s);

    (void)info;
    if (!s)
        return -ENOMEM;
    *s = (struct stream){.base.target = t, .events = events, .data = data, .shown = -1};
    pthread_mutex_lock(&h->lock);
    h->newest = s;
    pthread_mutex_unlock(&h->lock);
    *out = &s->base;
    return 0;
}

static void close_stream(struct tp_stream *stream)
{
    struct headless *h = (struct headless *)stream->target;

    pthread_mutex_lock(&h->lock);
    if (h->newest == (struct stream *)stream)
        h->newest = NULL;
    pthread_mutex_unlock(&h->lock);
    free(stream);
}

static int add(struct tp_stream *stream, uint32_t index, const struct tp_stream_image *image)
{
    (void)stream;
    (void)index;
    (void)image;
    return 0;
}

static int present(struct tp_stream *stream, const struct tp_picture *p)
{
    struct headless *h = (struct headless *)stream->target;
    struct stream *s = (struct stream *)stream;
    struct tp_shown shown = {.serial = p->serial};

    if (p->fence >= 0)
        close(p->fence);
    pthread_mutex_lock(&h->lock);
    if (h->newest != s) {
        pthread_mutex_unlock(&h->lock);
        return -ESTALE;
    }
    s->events->committed(s->data, p->index, p->serial);
    shown.sequence = ++h->sequence;
    shown.time_ns = tp_icd_now_ns();
    if (shown.time_ns < p->not_before_ns)
        shown.time_ns = p->not_before_ns;
    if (shown.time_ns < h->last_ns)
        shown.time_ns = h->last_ns;
    h->last_ns = shown.time_ns;
    if (s->shown >= 0)
        s->events->released(s->data, (uint32_t)s->shown, -1);
    s->shown = p->index;
    s->events->shown(s->data, &shown);
    pthread_mutex_unlock(&h->lock);
    return 0;
}

static const struct tp_target_ops ops = {
    .name = "headless",
    .destroy = destroy,
    .query = query,
    .formats = formats,
    .open = open_stream,
    .close = close_stream,
    .add = add,
    .present = present,
};

int tp_target_headless_create(struct tp_target **out)
{
    struct headless *h = calloc(1, sizeof *h);

    if (!h)
        return -ENOMEM;
    h->base.ops = &ops;
    pthread_mutex_init(&h->lock, NULL);
    *out = &h->base;
    return 0;
}
