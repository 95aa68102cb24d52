/* The target's thread: sends pictures whose turn it is, and hears what became of them. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/clock.h"
#include "frames/icd/log.h"
#include "frames/icd/x11.h"

/* Without Present the server says nothing of refreshes: this is most screens'. */
#define USUAL_NS 16666667

/* --- pictures that the server has --- */

static void tell_idle(struct tp_x11_flight *f)
{
    if (f->stream && !f->idle)
        f->stream->events->released(f->stream->data, f->index, -1);
    f->idle = true;
}

static void tell_discarded(struct tp_x11_flight *f)
{
    if (f->stream && !f->shown)
        f->stream->events->discarded(f->stream->data, f->serial);
    f->shown = true;
}

/* exact: by the server's count of refreshes; else msc is none. */
static void tell_shown(
    struct tp_x11 *x, struct tp_x11_flight *f, int64_t time_ns, uint64_t msc, bool exact)
{
    struct tp_shown shown = {
        .serial = f->serial, .time_ns = time_ns, .sequence = msc, .exact = exact};

    if (msc > x->msc && x->msc && msc - x->msc <= 8)
        x->period_ns = (time_ns - x->shown_ns) / (int64_t)(msc - x->msc);
    x->msc = msc;
    x->shown_ns = time_ns;
    shown.period_ns = x->period_ns;
    if (f->stream && !f->shown)
        f->stream->events->shown(f->stream->data, &shown);
    f->shown = true;
}

/* Those of which all has been told are forgotten. */
static void forget_done(struct tp_x11 *x)
{
    for (struct tp_x11_flight **at = &x->flights; *at;) {
        struct tp_x11_flight *f = *at;

        if (f->shown && f->idle) {
            *at = f->next;
            free(f);
        } else {
            at = &f->next;
        }
    }
}

static bool is_under_way(const struct tp_x11 *x)
{
    for (const struct tp_x11_flight *f = x->flights; f; f = f->next) {
        if (!f->shown)
            return true;
    }
    return false;
}

void tp_x11_lose(struct tp_x11 *x)
{
    if (x->lost)
        return;
    x->lost = true;
    for (struct tp_x11_flight *f = x->flights; f; f = f->next) {
        tell_idle(f);
        tell_discarded(f);
    }
    forget_done(x);
    for (struct tp_x11_stream *s = x->streams; s; s = s->next) {
        tp_queued_give_up(tp_present_queue_drain(&s->queue), s->events, s->data);
        s->events->changed(s->data, TP_TARGET_LOST);
    }
}

/* --- events --- */

static void on_complete(struct tp_x11 *x, const xcb_present_complete_notify_event_t *e)
{
    if (e->kind != XCB_PRESENT_COMPLETE_KIND_PIXMAP)
        return;
    for (struct tp_x11_flight *f = x->flights; f; f = f->next) {
        if (f->number != e->serial || f->segment)
            continue;
        if (e->mode == XCB_PRESENT_COMPLETE_MODE_SKIP)
            tell_discarded(f);
        else
            tell_shown(
                x, f, e->ust ? (int64_t)e->ust * 1000 : tp_icd_now_ns(), e->msc, e->ust != 0);
    }
}

static void on_idle(struct tp_x11 *x, const xcb_present_idle_notify_event_t *e)
{
    for (struct tp_x11_flight *f = x->flights; f; f = f->next) {
        if (f->number == e->serial && !f->segment)
            tell_idle(f);
    }
}

static void on_present(struct tp_x11 *x, const xcb_generic_event_t *e)
{
    switch (((const xcb_ge_generic_event_t *)e)->event_type) {
    case XCB_PRESENT_EVENT_COMPLETE_NOTIFY:
        on_complete(x, (const xcb_present_complete_notify_event_t *)e);
        break;
    case XCB_PRESENT_EVENT_IDLE_NOTIFY:
        on_idle(x, (const xcb_present_idle_notify_event_t *)e);
        break;
    }
}

static void on_read(struct tp_x11 *x, const xcb_shm_completion_event_t *e)
{
    for (struct tp_x11_flight *f = x->flights; f; f = f->next) {
        if (f->segment == e->shmseg) {
            tell_idle(f);
            tell_shown(x, f, tp_icd_now_ns(), 0, false);
        }
    }
}

static void on_resize(struct tp_x11 *x, const xcb_configure_notify_event_t *e)
{
    x->window.width = e->width;
    x->window.height = e->height;
    for (struct tp_x11_stream *s = x->streams; s; s = s->next) {
        bool fits = s->info.width == e->width && s->info.height == e->height;
        if (!fits && !s->told_suboptimal)
            s->events->changed(s->data, TP_TARGET_SUBOPTIMAL);
        s->told_suboptimal = !fits;
    }
}

static void on_error(struct tp_x11 *x, const xcb_generic_error_t *e)
{
    enum { BAD_WINDOW = 3, BAD_DRAWABLE = 9 };

    if ((e->error_code == BAD_WINDOW || e->error_code == BAD_DRAWABLE) &&
        e->resource_id == x->window.id)
        tp_x11_lose(x);
    else
        tp_icd_log_once("the X server refuses a request of ours: error %u of %u.%u", e->error_code,
            e->major_code, e->minor_code);
}

static void take_event(struct tp_x11 *x, const xcb_generic_event_t *e)
{
    uint8_t type = e->response_type & 0x7f;

    if (type == 0) {
        on_error(x, (const xcb_generic_error_t *)e);
    } else if (type == XCB_GE_GENERIC) {
        if (x->link.present && ((const xcb_ge_generic_event_t *)e)->extension == x->link.present)
            on_present(x, e);
    } else if (type == XCB_CONFIGURE_NOTIFY) {
        const xcb_configure_notify_event_t *c = (const xcb_configure_notify_event_t *)e;
        if (c->window == x->window.id)
            on_resize(x, c);
    } else if (type == XCB_DESTROY_NOTIFY) {
        if (((const xcb_destroy_notify_event_t *)e)->window == x->window.id)
            tp_x11_lose(x);
    } else if (x->link.shm_event && type == x->link.shm_event) {
        on_read(x, (const xcb_shm_completion_event_t *)e);
    }
}

static bool take_events(struct tp_x11 *x)
{
    xcb_generic_event_t *e;
    bool any = false;

    while (!x->lost && (e = xcb_poll_for_event(x->link.c))) {
        take_event(x, e);
        free(e);
        any = true;
    }
    if (xcb_connection_has_error(x->link.c))
        tp_x11_lose(x);
    forget_done(x);
    return any;
}

/* --- sending --- */

/* Present shows it with the next refresh, or at once; without it the server draws it now. */
static void send_image(
    struct tp_x11 *x, struct tp_x11_stream *s, struct tp_x11_flight *f, VkPresentModeKHR mode)
{
    const struct tp_x11_image *image = &s->images[f->index];
    bool async = mode == VK_PRESENT_MODE_IMMEDIATE_KHR;

    if (image->pixmap) {
        if (image->copied)
            tp_x11_image_put(&x->link, &x->window, image->pixmap, x->gc, image, false);
        xcb_present_pixmap(x->link.c, x->window.id, image->pixmap, f->number, XCB_NONE, XCB_NONE, 0,
            0, XCB_NONE, XCB_NONE, XCB_NONE,
            async ? XCB_PRESENT_OPTION_ASYNC : XCB_PRESENT_OPTION_NONE, 0, 0, 0, 0, NULL);
        s->events->committed(s->data, f->index, f->serial);
        return;
    }
    bool read_later = tp_x11_image_put(&x->link, &x->window, x->window.id, x->gc, image, true);
    f->segment = image->segment;
    s->events->committed(s->data, f->index, f->serial);
    if (!read_later) {
        tell_idle(f);
        tell_shown(x, f, tp_icd_now_ns(), 0, false);
    }
    x->turn_ns = tp_icd_now_ns() + (async ? 0 : USUAL_NS);
}

static void send_out(struct tp_x11 *x, struct tp_x11_stream *s, struct tp_queued *q)
{
    struct tp_x11_flight **end = &x->flights, *f = calloc(1, sizeof *f);

    if (!f) {
        tp_queued_give_up(q, s->events, s->data);
        return;
    }
    f->stream = s;
    f->index = q->picture.index;
    f->serial = q->picture.serial;
    f->number = ++x->last_number;
    while (*end)
        end = &(*end)->next;
    *end = f;
    send_image(x, s, f, q->picture.mode);
    tp_queued_free(q);
}

static bool has_turn(const struct tp_x11 *x, int64_t now, int64_t *until)
{
    if (is_under_way(x))
        return false;
    if (x->turn_ns > now) {
        *until = x->turn_ns < *until ? x->turn_ns : *until;
        return false;
    }
    return true;
}

/* The next picture of any stream; of a retired one only while its successor has none. */
static bool send_next(struct tp_x11 *x, int64_t *until)
{
    int64_t now = tp_icd_now_ns(), turn_at = INT64_MAX;
    bool turn = has_turn(x, now, &turn_at);

    for (struct tp_x11_stream *s = x->streams; s; s = s->next) {
        struct tp_queued *dropped, *q;
        int64_t at;

        q = tp_present_queue_take(&s->queue, turn, now, &dropped, &at);
        tp_queued_give_up(dropped, s->events, s->data);
        *until = at < *until ? at : *until;
        if (s->queue.first && turn_at < *until)
            *until = turn_at;
        if (!q)
            continue;
        for (struct tp_x11_stream *old = s->next; old; old = old->next)
            tp_queued_give_up(tp_present_queue_drain(&old->queue), old->events, old->data);
        send_out(x, s, q);
        return true;
    }
    return false;
}

static int64_t before(void *data, short *events)
{
    struct tp_x11 *x = data;
    int64_t until;

    pthread_mutex_lock(&x->lock);
    do {
        until = INT64_MAX;
        take_events(x);
        while (!x->lost && send_next(x, &until))
            ;
        if (!x->lost)
            xcb_flush(x->link.c);
        /* What has come while that was written. */
    } while (take_events(x));
    *events = POLLIN;
    if (x->lost) {
        tp_loop_set_fd(x->loop, -1);
        until = INT64_MAX;
    }
    pthread_mutex_unlock(&x->lock);
    return until;
}

static void after(void *data, short revents)
{
    (void)data;
    (void)revents;
}

const struct tp_loop_ops tp_x11_loop_ops = {before, after};
