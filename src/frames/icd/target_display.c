/*
 * A screen without a compositor. One flip is under way at a time; the next one goes out when the
 * flip event of that one has come, from the card's thread. An image is released with the flip event
 * of its successor: when the panel stops reading it is told elsewhere (release.h).
 */
#include "frames/icd/target_display.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/clock.h"
#include "frames/icd/log.h"
#include "frames/icd/present_queue.h"

#define RETRY_NS 2000000 /* where somebody else's flip is still under way */

/* A framebuffer; a stream has it, and the screen, past the stream. */
struct fb {
    uint32_t id;
    unsigned refs;
};

struct stream {
    struct tp_stream base;
    struct stream *next;
    const struct tp_stream_events *events;
    void *data;
    struct tp_stream_info info;
    struct tp_present_queue queue;
    struct {
        struct fb *fb;
        uint32_t width, height;
    } images[]; /* info.n_images of them */
};

/* An image on the screen, or on its way. */
struct place {
    struct fb *fb;         /* NULL: nothing is here */
    struct stream *stream; /* NULL: closed since */
    uint32_t index;
    uint64_t serial;
};

struct display {
    struct tp_target base;
    struct tp_display_user user;
    struct tp_display_card *card; /* its lock guards the rest */
    uint32_t connector;
    struct drm_mode_modeinfo mode;
    uint32_t width, height;
    int64_t period_ns;
    struct tp_display_pipe pipe;
    bool piped;
    struct stream *streams; /* the newest first: the others are retired by it */
    struct place screen, flying;
    /* Taken out of its stream's queue, and to go out next: what needs no turn but finds a flip
     * under way, or could not go out when it was tried. */
    struct tp_queued *ready;
    struct stream *ready_stream;
    int64_t retry_ns;   /* not before that */
    bool lit;           /* the mode is set */
    bool unscaled;      /* the card does not scale: pictures are centred */
    bool lost, stale;   /* what calls answer */
    uint32_t mode_blob; /* 0: not made yet */
    uint32_t hdr_blob;
    VkHdrMetadataEXT hdr;  /* as told last; sType 0: never */
    VkColorSpaceKHR space; /* of the picture on the screen */
    int64_t flip_ns;       /* when the last one was, 0: none yet */
    uint64_t sequence;
};

static struct display *display_of(struct tp_target *t)
{
    return (struct display *)t;
}

static struct display *display_of_user(struct tp_display_user *u)
{
    return (struct display *)((char *)u - offsetof(struct display, user));
}

static void unref(struct display *d, struct fb *fb)
{
    if (!fb || --fb->refs)
        return;
    tp_display_fb_remove(&d->card->link, fb->id);
    free(fb);
}

/* --- pictures that come to nothing --- */

/* A list; freed. */
static void give_up(struct stream *s, struct tp_queued *q)
{
    while (q) {
        struct tp_queued *next = q->next;

        s->events->released(s->data, q->picture.index, -1);
        s->events->discarded(s->data, q->picture.serial);
        tp_queued_free(q);
        q = next;
    }
}

static void free_list(struct tp_queued *q)
{
    while (q) {
        struct tp_queued *next = q->next;

        tp_queued_free(q);
        q = next;
    }
}

static void give_up_waiting(struct display *d, struct stream *s)
{
    if (d->ready && d->ready_stream == s) {
        give_up(s, d->ready);
        d->ready = NULL;
    }
    give_up(s, tp_present_queue_drain(&s->queue));
}

static void tell_all(struct display *d, enum tp_target_change what)
{
    for (struct stream *s = d->streams; s; s = s->next) {
        give_up_waiting(d, s);
        s->events->changed(s->data, what);
    }
}

static void leave_place(struct place *p, bool shown)
{
    if (!p->stream)
        return;
    p->stream->events->released(p->stream->data, p->index, -1);
    if (!shown)
        p->stream->events->discarded(p->stream->data, p->serial);
    p->stream = NULL;
}

/* The screen is gone, for good. */
static void lose(struct display *d)
{
    if (d->lost)
        return;
    d->lost = true;
    leave_place(&d->flying, false);
    leave_place(&d->screen, true);
    tell_all(d, TP_TARGET_LOST);
}

/* Somebody else has it, or it has other modes. */
static void outdate(struct display *d)
{
    if (d->lost || d->stale)
        return;
    d->stale = true;
    d->lit = false;
    tell_all(d, TP_TARGET_OUT_OF_DATE);
}

/* Is the screen still there, with our mode? 0, -ENODEV, -ESTALE. */
static int check_screen(struct display *d)
{
    struct tp_display_connector c;
    int r = tp_display_connector(&d->card->link, d->connector, &c);

    if (r < 0 || !c.connected)
        return -ENODEV;
    return tp_display_has_mode(&c, &d->mode) ? 0 : -ESTALE;
}

static void screens_changed(struct tp_display_user *u)
{
    struct display *d = display_of_user(u);
    tp_display_probe(&d->card->link, d->connector);
    int r = check_screen(d);

    if (r == -ENODEV)
        lose(d);
    else if (r < 0)
        outdate(d);
}

static void card_gone(struct tp_display_user *u)
{
    lose(display_of_user(u));
}

/* --- colours --- */

static uint16_t scaled(float value, float unit)
{
    float v = value * unit + 0.5f;

    return v <= 0 ? 0 : v >= 65535 ? 65535 : (uint16_t)v;
}

/* In the units of CTA-861's static metadata type 1: chromaticities of 0.00002, and cd/m². */
static void fill_hdr(const VkHdrMetadataEXT *v, struct hdr_output_metadata *out)
{
    const VkXYColorEXT *colours[3] = {
        &v->displayPrimaryRed, &v->displayPrimaryGreen, &v->displayPrimaryBlue};
    struct hdr_metadata_infoframe *m = &out->hdmi_metadata_type1;

    *out = (struct hdr_output_metadata){0};
    m->eotf = 2; /* SMPTE ST 2084 */
    for (int i = 0; i < 3; i++) {
        m->display_primaries[i].x = scaled(colours[i]->x, 50000);
        m->display_primaries[i].y = scaled(colours[i]->y, 50000);
    }
    m->white_point.x = scaled(v->whitePoint.x, 50000);
    m->white_point.y = scaled(v->whitePoint.y, 50000);
    m->max_display_mastering_luminance = scaled(v->maxLuminance, 1);
    m->min_display_mastering_luminance = scaled(v->minLuminance, 10000);
    m->max_cll = scaled(v->maxContentLightLevel, 1);
    m->max_fall = scaled(v->maxFrameAverageLightLevel, 1);
}

/* What the flip has to say of the picture's colours, where that is news. */
static void say_colours(struct display *d, const struct stream *s, const struct tp_picture *p,
    struct tp_display_flip *f)
{
    bool hdr10 = s->info.space == VK_COLOR_SPACE_HDR10_ST2084_EXT;
    struct hdr_output_metadata metadata;

    f->colours = !d->lit || s->info.space != d->space || (hdr10 && p->hdr);
    if (!f->colours)
        return;
    if (p->hdr)
        d->hdr = *p->hdr;
    tp_display_blob_remove(&d->card->link, d->hdr_blob);
    d->hdr_blob = 0;
    if (hdr10) {
        fill_hdr(&d->hdr, &metadata);
        tp_display_blob(&d->card->link, &metadata, sizeof metadata, &d->hdr_blob);
        f->colorspace = d->pipe.bt2020;
    }
    f->hdr_blob = d->hdr_blob;
}

/* --- sending --- */

static bool is_late(const struct display *d, int64_t now)
{
    return d->flip_ns && now - d->flip_ns > d->period_ns;
}

static void fill_flip(
    struct display *d, const struct stream *s, const struct tp_queued *q, struct tp_display_flip *f)
{
    const struct tp_picture *p = &q->picture;
    uint32_t width = s->images[p->index].width, height = s->images[p->index].height;
    bool now = p->mode == VK_PRESENT_MODE_IMMEDIATE_KHR ||
        (p->mode == VK_PRESENT_MODE_FIFO_RELAXED_KHR && is_late(d, tp_icd_now_ns()));

    *f = (struct tp_display_flip){.fb = s->images[p->index].fb->id,
        .width = width,
        .height = height,
        .to_width = d->mode.hdisplay,
        .to_height = d->mode.vdisplay,
        .fence = p->fence,
        .modeset = !d->lit,
        .mode_blob = d->mode_blob,
        .user_data = d->user.cookie};
    if (d->unscaled) {
        f->x = ((int32_t)d->mode.hdisplay - (int32_t)width) / 2;
        f->y = ((int32_t)d->mode.vdisplay - (int32_t)height) / 2;
        f->to_width = width;
        f->to_height = height;
    }
    say_colours(d, s, p, f);
    f->async = now && d->pipe.async && d->screen.stream == s && !f->modeset && !f->colours;
}

/* Gives up the lock for the call: others queue their pictures meanwhile. */
static int commit(struct display *d, const struct tp_display_flip *f)
{
    pthread_mutex_unlock(&d->card->lock);
    int r = tp_display_commit(&d->card->link, &d->pipe, f);
    pthread_mutex_lock(&d->card->lock);
    return r;
}

static int try_flip(struct display *d, const struct stream *s, const struct tp_queued *q)
{
    struct tp_display_flip f;
    int r = 0;

    if (!d->mode_blob)
        r = tp_display_blob(&d->card->link, &d->mode, sizeof d->mode, &d->mode_blob);
    if (r < 0)
        return r;
    fill_flip(d, s, q, &f);
    r = commit(d, &f);
    if (r == -EINVAL && f.async) {
        f.async = false; /* this picture's change is more than this card flips at once */
        r = commit(d, &f);
    }
    if ((r == -EINVAL || r == -ERANGE || r == -ENOSPC) && !d->unscaled &&
        (f.width != f.to_width || f.height != f.to_height)) {
        d->unscaled = true;
        fill_flip(d, s, q, &f);
        r = commit(d, &f);
        d->unscaled = r == 0;
    }
    if (r == 0) {
        d->lit = true;
        d->space = s->info.space;
    }
    return r;
}

/* The picture could not go out. */
static void fail(struct display *d, struct stream *s, struct tp_queued *q, int err)
{
    bool told = !d->flying.stream; /* the card has gone meanwhile */

    d->user.cookie = 0;
    unref(d, d->flying.fb);
    d->flying = (struct place){0};
    if (told) {
        tp_queued_free(q);
        return;
    }
    switch (err) {
    case -EBUSY: /* a flip of whoever had the screen before is under way */
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
        d->ready = q;
        d->ready_stream = s;
        d->retry_ns = tp_icd_now_ns() + RETRY_NS;
        return;
    case -EACCES:
    case -EPERM:
        give_up(s, q);
        d->card->master = false;
        outdate(d);
        return;
    }
    give_up(s, q);
    int r = check_screen(d);
    if (r == 0)
        tp_icd_log_once("the screen does not take a picture of this program (%s); its display "
                        "surface is lost",
            strerror(-err));
    if (r == -ESTALE)
        outdate(d);
    else
        lose(d);
}

static void send_out(struct display *d, struct stream *s, struct tp_queued *q)
{
    struct tp_display_card *c = d->card;
    struct fb *fb = s->images[q->picture.index].fb;

    d->flying = (struct place){fb, s, q->picture.index, q->picture.serial};
    fb->refs++;
    d->user.cookie = ++c->last_cookie;
    d->user.busy = true;
    int r = try_flip(d, s, q);
    d->user.busy = false;
    pthread_cond_broadcast(&c->idle);
    if (r < 0) {
        fail(d, s, q, r);
        return;
    }
    if (d->flying.stream)
        s->events->committed(s->data, q->picture.index, q->picture.serial);
    tp_queued_free(q);
}

/* The next picture of any stream, where there is a turn for it; of a retired one only while its
 * successor has none. */
static struct tp_queued *take(struct display *d, int64_t now, struct stream **from, int64_t *until)
{
    for (struct stream *s = d->streams; s; s = s->next) {
        struct tp_queued *dropped, *q;
        int64_t at;

        q = tp_present_queue_take(&s->queue, !d->flying.fb, now, &dropped, &at);
        give_up(s, dropped);
        *until = at < *until ? at : *until;
        if (!q)
            continue;
        for (struct stream *old = s->next; old; old = old->next)
            give_up(old, tp_present_queue_drain(&old->queue));
        *from = s;
        return q;
    }
    return NULL;
}

/* A newer one takes the place of the one that is ready. */
static void make_ready(struct display *d, struct stream *s, struct tp_queued *q)
{
    if (d->ready) {
        if (d->ready->picture.hdr && !q->picture.hdr) {
            q->hdr = d->ready->hdr;
            q->picture.hdr = &q->hdr;
        }
        give_up(d->ready_stream, d->ready);
    }
    d->ready = q;
    d->ready_stream = s;
}

static int64_t work(struct tp_display_user *u)
{
    struct display *d = display_of_user(u);
    int64_t now = tp_icd_now_ns(), until = INT64_MAX;
    struct stream *s = NULL;
    struct tp_queued *q;

    if (d->lost || d->stale || !d->streams)
        return INT64_MAX;
    while (!(d->ready && !d->flying.fb) && (q = take(d, now, &s, &until)))
        make_ready(d, s, q);
    if (!d->ready || d->flying.fb)
        return until;
    if (d->retry_ns > now)
        return d->retry_ns < until ? d->retry_ns : until;
    q = d->ready;
    d->ready = NULL;
    send_out(d, d->ready_stream, q);
    /* What needs no turn may be waiting behind it; what could not go out waits for its time. */
    return d->lost || d->stale ? INT64_MAX : d->ready ? d->retry_ns : until;
}

static void flipped(struct tp_display_user *u, const struct drm_event_vblank *e)
{
    struct display *d = display_of_user(u);
    uint64_t count = (d->sequence & ~UINT64_C(0xffffffff)) | e->sequence;

    if (count < d->sequence)
        count += UINT64_C(1) << 32;
    d->sequence = count;
    d->flip_ns = (int64_t)e->tv_sec * 1000000000 + (int64_t)e->tv_usec * 1000;
    leave_place(&d->screen, true);
    unref(d, d->screen.fb);
    d->screen = d->flying;
    d->flying = (struct place){0};
    if (!d->screen.stream)
        return;
    struct tp_shown shown = {.serial = d->screen.serial,
        .time_ns = d->flip_ns,
        .period_ns = d->period_ns,
        .sequence = d->sequence,
        .exact = true};
    d->screen.stream->events->shown(d->screen.stream->data, &shown);
}

static const struct tp_display_user_ops user_ops = {work, flipped, screens_changed, card_gone};

/* --- the target --- */

/* CRTCs that drive other screens of ours. */
static uint32_t taken_crtcs(const struct display *d)
{
    uint32_t taken = 0;

    for (struct tp_display_user *u = d->card->users; u; u = u->next) {
        const struct display *other = display_of_user(u);
        if (other != d && other->piped && other->connector != d->connector)
            taken |= UINT32_C(1) << other->pipe.crtc_index;
    }
    return taken;
}

static int find_pipe(struct display *d)
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
    struct display *d = display_of(t);
    struct tp_display_card *c = d->card;
    struct tp_display_user **at = &c->users;

    pthread_mutex_lock(&c->lock);
    tp_display_card_wait_idle(c, &d->user);
    while (*at != &d->user)
        at = &(*at)->next;
    *at = d->user.next;
    if (d->lit && !d->lost)
        tp_display_off(&c->link, &d->pipe);
    unref(d, d->flying.fb);
    unref(d, d->screen.fb);
    tp_display_blob_remove(&c->link, d->mode_blob);
    tp_display_blob_remove(&c->link, d->hdr_blob);
    pthread_mutex_unlock(&c->lock);
    tp_display_pipe_finish(&d->pipe);
    tp_display_card_put(c);
    free(d);
}

static void fill_caps(const struct display *d, struct tp_target_caps *out)
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
        .period_ns = d->period_ns,
        .device = d->card->link.device,
    };
    memcpy(out->modes, modes, sizeof modes);
}

static int query(struct tp_target *t, struct tp_target_caps *out)
{
    struct display *d = display_of(t);

    pthread_mutex_lock(&d->card->lock);
    int r = find_pipe(d);
    if (r == 0)
        fill_caps(d, out);
    pthread_mutex_unlock(&d->card->lock);
    return r;
}

static int formats(struct tp_target *t, struct tp_target_format **out, uint32_t *n)
{
    struct display *d = display_of(t);

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
static int take_screen(struct display *d)
{
    for (struct tp_display_user *u = d->card->users; u; u = u->next) {
        struct display *other = display_of_user(u);
        if (other == d || other->connector != d->connector)
            continue;
        if (other->streams)
            return -EBUSY;
        if (other->lit)
            d->lit = other->lit = false;
    }
    return 0;
}

static int begin(struct display *d)
{
    int r = find_pipe(d);

    if (r == 0)
        r = check_screen(d) ? -ENODEV : take_screen(d);
    if (r == 0)
        r = tp_display_card_start(d->card);
    if (r == 0)
        d->stale = false;
    return r;
}

static int open_stream(struct tp_target *t, const struct tp_stream_info *info,
    const struct tp_stream_events *events, void *data, struct tp_stream **out)
{
    struct display *d = display_of(t);
    struct stream *s = calloc(1, sizeof *s + info->n_images * sizeof s->images[0]);

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
    struct display *d = display_of(stream->target);
    struct stream *s = (struct stream *)stream, **at = &d->streams;

    pthread_mutex_lock(&d->card->lock);
    tp_display_card_wait_idle(d->card, &d->user);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free_list(tp_present_queue_drain(&s->queue));
    if (d->ready && d->ready_stream == s) {
        free_list(d->ready);
        d->ready = NULL;
    }
    if (d->screen.stream == s)
        d->screen.stream = NULL;
    if (d->flying.stream == s)
        d->flying.stream = NULL;
    for (uint32_t i = 0; i < s->info.n_images; i++)
        unref(d, s->images[i].fb);
    pthread_mutex_unlock(&d->card->lock);
    free(s);
}

static int add(struct tp_stream *stream, uint32_t index, const struct tp_stream_image *image)
{
    struct display *d = display_of(stream->target);
    struct stream *s = (struct stream *)stream;
    struct fb *fb = calloc(1, sizeof *fb);

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
    struct display *d = display_of(stream->target);
    struct stream *s = (struct stream *)stream;
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

int tp_target_display_create(struct tp_display_card *card, uint32_t connector,
    const struct drm_mode_modeinfo *mode, uint32_t width, uint32_t height, struct tp_target **out)
{
    struct display *d = calloc(1, sizeof *d);
    uint32_t mhz = tp_display_mode_mhz(mode);

    if (!d)
        return -ENOMEM;
    d->base.ops = &ops;
    d->user.ops = &user_ops;
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
