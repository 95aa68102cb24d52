/* A screen without a compositor, as a target. */
#include "frames/icd/target_display.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/display_target.h"

static struct tp_display *display_of(struct tp_target *t)
{
    return (struct tp_display *)t;
}

/* CRTCs that drive other screens of ours. */
static uint32_t taken_crtcs(const struct tp_display *d)
{
    uint32_t taken = 0;

    for (struct tp_display_user *u = d->card->users; u; u = u->next) {
        const struct tp_display *other = tp_display_of_user(u);
        if (other && other != d && other->piped && other->connector != d->connector)
            taken |= UINT32_C(1) << other->pipe.crtc_index;
    }
    return taken;
}

static int find_pipe(struct tp_display *d)
{
    if (d->card->gone || d->lost)
        return -ENODEV;
    if (d->piped)
        return 0;
    int r = tp_display_pipe_init(&d->pipe, &d->card->link, d->connector, taken_crtcs(d));
    d->piped = r == 0;
    return r == 0 || r == -ENOMEM ? r : -ENODEV;
}

static void destroy(struct tp_target *t)
{
    struct tp_display *d = display_of(t);
    struct tp_display_card *c = d->card;
    struct tp_display_user **at = &c->users;

    pthread_mutex_lock(&c->lock);
    tp_display_card_wait_idle(c, &d->user);
    while (*at != &d->user)
        at = &(*at)->next;
    *at = d->user.next;
    if ((d->lit || d->dark) && !d->lost)
        tp_display_off(&c->link, &d->pipe);
    tp_display_unref(d, d->flying.fb);
    tp_display_unref(d, d->screen.fb);
    tp_display_blob_remove(&c->link, d->mode_blob);
    tp_display_blob_remove(&c->link, d->hdr_blob);
    pthread_mutex_unlock(&c->lock);
    tp_display_pipe_finish(&d->pipe);
    tp_display_card_put(c);
    free(d);
}

static void fill_caps(const struct tp_display *d, struct tp_target_caps *out)
{
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR,
        VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
        VK_PRESENT_MODE_IMMEDIATE_KHR, TP_VK_FIFO_LATEST_READY};

    *out = (struct tp_target_caps){
        .width = d->width,
        .height = d->height,
        .min_images = 2,
        .n_modes = sizeof modes / sizeof *modes,
        .n_spaces = d->pipe.takes_hdr ? 2 : 1,
        .spaces = {VK_COLOR_SPACE_SRGB_NONLINEAR_KHR, VK_COLOR_SPACE_HDR10_ST2084_EXT},
        .transforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphas = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .takes_fences = d->pipe.of_plane.in_fence != 0,
        .timed = true,
        .counts = true,
        .period_ns = d->period_ns,
        .device = d->card->link.device,
    };
    memcpy(out->modes, modes, sizeof modes);
}

static int query(struct tp_target *t, struct tp_target_caps *out)
{
    struct tp_display *d = display_of(t);

    pthread_mutex_lock(&d->card->lock);
    int r = find_pipe(d);
    if (r == 0)
        fill_caps(d, out);
    pthread_mutex_unlock(&d->card->lock);
    return r;
}

static int formats(struct tp_target *t, struct tp_target_format **out, uint32_t *n)
{
    struct tp_display *d = display_of(t);

    pthread_mutex_lock(&d->card->lock);
    int r = find_pipe(d);
    if (r == 0) {
        *n = d->pipe.n_formats;
        *out = malloc((*n ? *n : 1) * sizeof **out);
        r = *out ? 0 : -ENOMEM;
        if (r == 0 && *n > 0)
            memcpy(*out, d->pipe.formats, *n * sizeof **out);
    }
    pthread_mutex_unlock(&d->card->lock);
    return r;
}

/* Another surface of the same screen: it is not lit as that one left it. -EBUSY: it shows on it. */
static int take_screen(struct tp_display *d)
{
    for (struct tp_display_user *u = d->card->users; u; u = u->next) {
        struct tp_display *other = tp_display_of_user(u);
        if (!other || other == d || other->connector != d->connector)
            continue;
        if (other->streams)
            return -EBUSY;
        if (other->lit)
            d->lit = other->lit = false;
    }
    return 0;
}

static int begin(struct tp_display *d)
{
    int r = find_pipe(d);

    if (r == 0)
        r = tp_display_check_screen(d) ? -ENODEV : take_screen(d);
    if (r == 0)
        r = tp_display_card_start(d->card);
    if (r == 0)
        d->stale = false;
    return r;
}

static int open_stream(struct tp_target *t, const struct tp_stream_info *info,
    const struct tp_stream_events *events, void *data, struct tp_stream **out)
{
    struct tp_display *d = display_of(t);
    struct tp_display_stream *s = calloc(1, sizeof *s + info->n_images * sizeof s->images[0]);

    if (!s)
        return -ENOMEM;
    s->base.target = t;
    s->info = *info;
    s->events = events;
    s->data = data;
    pthread_mutex_lock(&d->card->lock);
    int r = begin(d);
    if (r == 0) {
        s->next = d->streams;
        d->streams = s;
    }
    pthread_mutex_unlock(&d->card->lock);
    if (r < 0) {
        free(s);
        return r;
    }
    *out = &s->base;
    return 0;
}

static void close_stream(struct tp_stream *stream)
{
    struct tp_display *d = display_of(stream->target);
    struct tp_display_stream *s = (struct tp_display_stream *)stream, **at = &d->streams;

    pthread_mutex_lock(&d->card->lock);
    tp_display_card_wait_idle(d->card, &d->user);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    tp_queued_free_all(tp_present_queue_drain(&s->queue));
    if (d->ready && d->ready_stream == s) {
        tp_queued_free_all(d->ready);
        d->ready = NULL;
    }
    if (d->screen.stream == s)
        d->screen.stream = NULL;
    if (d->flying.stream == s)
        d->flying.stream = NULL;
    for (uint32_t i = 0; i < s->info.n_images; i++)
        tp_display_unref(d, s->images[i].fb);
    pthread_mutex_unlock(&d->card->lock);
    free(s);
}

static int add(struct tp_stream *stream, uint32_t index, const struct tp_stream_image *image)
{
    struct tp_display *d = display_of(stream->target);
    struct tp_display_stream *s = (struct tp_display_stream *)stream;
    struct tp_display_fb *fb = calloc(1, sizeof *fb);

    if (!fb)
        return -ENOMEM;
    fb->refs = 1;
    int r = tp_display_fb_add(&d->card->link, &d->pipe, image, &fb->id);
    if (r < 0) {
        free(fb);
        return r == -ENODEV || r == -ENOMEM ? r : -EOPNOTSUPP;
    }
    pthread_mutex_lock(&d->card->lock);
    s->images[index].fb = fb;
    s->images[index].width = image->width;
    s->images[index].height = image->height;
    pthread_mutex_unlock(&d->card->lock);
    return 0;
}

static bool waits_its_turn(VkPresentModeKHR mode)
{
    return mode == VK_PRESENT_MODE_FIFO_KHR || mode == VK_PRESENT_MODE_FIFO_RELAXED_KHR;
}

static int present(struct tp_stream *stream, const struct tp_picture *p)
{
    struct tp_display *d = display_of(stream->target);
    struct tp_display_stream *s = (struct tp_display_stream *)stream;
    struct tp_picture copy = *p;

    pthread_mutex_lock(&d->card->lock);
    if (p->mode == VK_PRESENT_MODE_IMMEDIATE_KHR && !d->pipe.async)
        copy.mode = VK_PRESENT_MODE_MAILBOX_KHR;
    int r = d->lost ? -ENODEV : d->stale || d->streams != s ? -ESTALE : 0;
    if (r == 0)
        r = tp_present_queue_put(&s->queue, &copy);
    /* In its turn: the flip event of the one under way wakes the thread. */
    if (r == 0 && !(d->flying.fb && waits_its_turn(p->mode)))
        tp_display_card_wake(d->card);
    pthread_mutex_unlock(&d->card->lock);
    if (r < 0 && p->fence >= 0)
        close(p->fence);
    return r;
}

/* --- what VK_EXT_display_control asks of a screen --- */

static struct tp_display *shown_on(struct tp_display_card *c, uint32_t connector)
{
    for (struct tp_display_user *u = c->users; u; u = u->next) {
        struct tp_display *d = tp_display_of_user(u);
        if (d && d->connector == connector && (d->lit || d->dark) && !d->lost)
            return d;
    }
    return NULL;
}

int tp_target_display_next(struct tp_display_card *c, uint32_t connector, uint64_t cookie)
{
    struct tp_display *d = shown_on(c, connector);
    struct drm_crtc_queue_sequence next = {
        .flags = DRM_CRTC_SEQUENCE_RELATIVE, .sequence = 1, .user_data = cookie};

    if (!d || !d->lit)
        return -ENOENT;
    next.crtc_id = d->pipe.crtc;
    int r = tp_display_ioctl(&c->link, DRM_IOCTL_CRTC_QUEUE_SEQUENCE, &next);
    return r < 0 ? -EAGAIN : 0;
}

void tp_target_display_power(struct tp_display_card *c, uint32_t connector, bool on)
{
    pthread_mutex_lock(&c->lock);
    struct tp_display *d = shown_on(c, connector);
    if (d)
        tp_display_card_wait_idle(c, &d->user);
    if (d && d->lit != on && tp_display_power(&c->link, &d->pipe, on) == 0) {
        d->lit = on;
        d->dark = !on;
    }
    tp_display_card_wake(c);
    pthread_mutex_unlock(&c->lock);
}

static const struct tp_target_ops ops = {
    .name = "display",
    .destroy = destroy,
    .query = query,
    .formats = formats,
    .open = open_stream,
    .close = close_stream,
    .add = add,
    .present = present,
};

int tp_target_display_count(struct tp_target *t, uint64_t *out)
{
    struct tp_display *d = display_of(t);
    struct drm_crtc_get_sequence now = {0};
    int r = -EOPNOTSUPP;

    if (t->ops != &ops)
        return r;
    pthread_mutex_lock(&d->card->lock);
    now.crtc_id = d->pipe.crtc;
    if (d->lit && !d->lost)
        r = tp_display_ioctl(&d->card->link, DRM_IOCTL_CRTC_GET_SEQUENCE, &now);
    pthread_mutex_unlock(&d->card->lock);
    *out = now.sequence;
    return r < 0 ? r : 0;
}

int tp_target_display_create(struct tp_display_card *card, uint32_t connector,
    const struct drm_mode_modeinfo *mode, uint32_t width, uint32_t height, struct tp_target **out)
{
    struct tp_display *d = calloc(1, sizeof *d);
    uint32_t mhz = tp_display_mode_mhz(mode);

    if (!d)
        return -ENOMEM;
    d->base.ops = &ops;
    d->user.ops = &tp_display_target_ops;
    d->card = tp_display_card_hold(card);
    d->connector = connector;
    d->mode = *mode;
    d->width = width;
    d->height = height;
    d->period_ns = mhz ? INT64_C(1000000000000) / mhz : 0;
    pthread_mutex_lock(&card->lock);
    d->user.next = card->users;
    card->users = &d->user;
    pthread_mutex_unlock(&card->lock);
    *out = &d->base;
    return 0;
}
