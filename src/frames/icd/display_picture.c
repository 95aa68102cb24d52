/*
 * One flip is under way at a time; the next one goes out when the flip event of that one has come,
 * from the card's thread. An image is released with the flip event of its successor: when the panel
 * stops reading it is told elsewhere (release.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/clock.h"
#include "frames/icd/display_target.h"
#include "frames/icd/log.h"

#define RETRY_NS 2000000 /* where somebody else's flip is still under way */

void tp_display_unref(struct tp_display *d, struct tp_display_fb *fb)
{
    if (!fb || --fb->refs)
        return;
    tp_display_fb_remove(&d->card->link, fb->id);
    free(fb);
}

/* --- pictures that come to nothing --- */

static void give_up_waiting(struct tp_display *d, struct tp_display_stream *s)
{
    if (d->ready && d->ready_stream == s) {
        tp_queued_give_up(d->ready, s->events, s->data);
        d->ready = NULL;
    }
    tp_queued_give_up(tp_present_queue_drain(&s->queue), s->events, s->data);
}

static void tell_all(struct tp_display *d, enum tp_target_change what)
{
    for (struct tp_display_stream *s = d->streams; s; s = s->next) {
        give_up_waiting(d, s);
        s->events->changed(s->data, what);
    }
}

static void leave_place(struct tp_display_place *p, bool shown)
{
    if (!p->stream)
        return;
    p->stream->events->released(p->stream->data, p->index, -1);
    if (!shown)
        p->stream->events->discarded(p->stream->data, p->serial);
    p->stream = NULL;
}

/* The screen is gone, for good. */
static void lose(struct tp_display *d)
{
    if (d->lost)
        return;
    d->lost = true;
    leave_place(&d->flying, false);
    leave_place(&d->screen, true);
    tell_all(d, TP_TARGET_LOST);
}

/* Somebody else has it, or it has other modes. */
static void outdate(struct tp_display *d)
{
    if (d->lost || d->stale)
        return;
    d->stale = true;
    d->lit = false;
    tell_all(d, TP_TARGET_OUT_OF_DATE);
}

int tp_display_check_screen(struct tp_display *d)
{
    struct tp_display_connector c;
    int r = tp_display_connector(&d->card->link, d->connector, &c);

    if (r < 0 || !c.connected)
        return -ENODEV;
    return tp_display_has_mode(&c, &d->mode) ? 0 : -ESTALE;
}

static void screens_changed(struct tp_display_user *u)
{
    struct tp_display *d = tp_display_of_user(u);
    tp_display_probe(&d->card->link, d->connector);
    int r = tp_display_check_screen(d);

    if (r == -ENODEV)
        lose(d);
    else if (r < 0)
        outdate(d);
}

static void card_gone(struct tp_display_user *u)
{
    lose(tp_display_of_user(u));
}

/* --- sending --- */

static bool is_late(const struct tp_display *d, int64_t now)
{
    return d->flip_ns && now - d->flip_ns > d->period_ns;
}

static void fill_flip(struct tp_display *d, const struct tp_display_stream *s,
    const struct tp_queued *q, struct tp_display_flip *f)
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
    tp_display_say_colours(d, s, p, f);
    f->async = now && d->pipe.async && d->screen.stream == s && !f->modeset && !f->colours;
}

/* Gives up the lock for the call: others queue their pictures meanwhile. */
static int commit(struct tp_display *d, const struct tp_display_flip *f)
{
    pthread_mutex_unlock(&d->card->lock);
    int r = tp_display_commit(&d->card->link, &d->pipe, f);
    pthread_mutex_lock(&d->card->lock);
    return r;
}

static int try_flip(
    struct tp_display *d, const struct tp_display_stream *s, const struct tp_queued *q)
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
        d->dark = false;
        d->space = s->info.space;
    }
    return r;
}

/* The picture could not go out. */
static void fail(struct tp_display *d, struct tp_display_stream *s, struct tp_queued *q, int err)
{
    bool told = !d->flying.stream; /* the card has gone meanwhile */

    d->user.cookie = 0;
    tp_display_unref(d, d->flying.fb);
    d->flying = (struct tp_display_place){0};
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
        tp_queued_give_up(q, s->events, s->data);
        d->card->master = false;
        outdate(d);
        return;
    }
    tp_queued_give_up(q, s->events, s->data);
    int r = tp_display_check_screen(d);
    if (r == 0)
        tp_icd_log_once("the screen does not take a picture of this program (%s); its display "
                        "surface is lost",
            strerror(-err));
    if (r == -ESTALE)
        outdate(d);
    else
        lose(d);
}

static void send_out(struct tp_display *d, struct tp_display_stream *s, struct tp_queued *q)
{
    struct tp_display_card *c = d->card;
    struct tp_display_fb *fb = s->images[q->picture.index].fb;

    d->flying = (struct tp_display_place){fb, s, q->picture.index, q->picture.serial};
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
static struct tp_queued *take(
    struct tp_display *d, int64_t now, struct tp_display_stream **from, int64_t *until)
{
    for (struct tp_display_stream *s = d->streams; s; s = s->next) {
        struct tp_queued *dropped, *q;
        int64_t at;

        q = tp_present_queue_take(&s->queue, !d->flying.fb, now, &dropped, &at);
        tp_queued_give_up(dropped, s->events, s->data);
        *until = at < *until ? at : *until;
        if (!q)
            continue;
        for (struct tp_display_stream *old = s->next; old; old = old->next)
            tp_queued_give_up(tp_present_queue_drain(&old->queue), old->events, old->data);
        *from = s;
        return q;
    }
    return NULL;
}

/* A newer one takes the place of the one that is ready. */
static void make_ready(struct tp_display *d, struct tp_display_stream *s, struct tp_queued *q)
{
    if (d->ready) {
        if (d->ready->picture.hdr && !q->picture.hdr) {
            q->hdr = d->ready->hdr;
            q->picture.hdr = &q->hdr;
        }
        tp_queued_give_up(d->ready, d->ready_stream->events, d->ready_stream->data);
    }
    d->ready = q;
    d->ready_stream = s;
}

static int64_t work(struct tp_display_user *u)
{
    struct tp_display *d = tp_display_of_user(u);
    int64_t now = tp_icd_now_ns(), until = INT64_MAX;
    struct tp_display_stream *s = NULL;
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
    struct tp_display *d = tp_display_of_user(u);
    uint64_t count = (d->sequence & ~UINT64_C(0xffffffff)) | e->sequence;

    if (count < d->sequence)
        count += UINT64_C(1) << 32;
    d->sequence = count;
    d->flip_ns = (int64_t)e->tv_sec * 1000000000 + (int64_t)e->tv_usec * 1000;
    leave_place(&d->screen, true);
    tp_display_unref(d, d->screen.fb);
    d->screen = d->flying;
    d->flying = (struct tp_display_place){0};
    if (!d->screen.stream)
        return;
    struct tp_shown shown = {.serial = d->screen.serial,
        .time_ns = d->flip_ns,
        .period_ns = d->period_ns,
        .sequence = d->sequence,
        .exact = true};
    d->screen.stream->events->shown(d->screen.stream->data, &shown);
}

const struct tp_display_user_ops tp_display_target_ops = {
    work, flipped, screens_changed, card_gone};
