/*
 * When the pictures of a Wayland target were shown: wp_presentation, else frame callbacks. Some
 * compositors have the former and never tell anything (wlroots' headless one): where a refresh has
 * begun and nothing was heard for SILENCE_NS, nothing is expected any more.
 */
#include <errno.h>
#include <stdlib.h>

#include "frames/icd/clock.h"
#include "frames/icd/log.h"
#include "frames/icd/wayland.h"

#define SILENCE_NS INT64_C(200000000)

/* A picture that is with the compositor, and was not shown yet. */
struct tp_wayland_awaited {
    struct wl_list link; /* of its stream; oldest first */
    struct tp_wayland_stream *stream;
    uint64_t serial;
    struct wp_presentation_feedback *feedback; /* NULL: its refresh shows it */
    int64_t refreshed_ns;                      /* when that began; 0: it has not */
};

static void on_clock(void *data, struct wp_presentation *presentation, uint32_t clock)
{
    (void)presentation;
    ((struct tp_wayland *)data)->clock = (clockid_t)clock;
}

void tp_wayland_listen_presentation(struct tp_wayland *w)
{
    static const struct wp_presentation_listener listener = {on_clock};

    if (w->presentation)
        wp_presentation_add_listener(w->presentation, &listener, w);
}

static int64_t monotonic(clockid_t clock, int64_t time_ns)
{
    struct timespec t;

    if (clock == CLOCK_MONOTONIC || clock_gettime(clock, &t))
        return time_ns;
    return time_ns + tp_icd_now_ns() - ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
}

static void end(struct tp_wayland_awaited *a)
{
    if (a->feedback)
        wp_presentation_feedback_destroy(a->feedback);
    wl_list_remove(&a->link);
    free(a);
}

static void discard(struct tp_wayland_awaited *a)
{
    struct tp_wayland_stream *s = a->stream;
    uint64_t serial = a->serial;

    end(a);
    s->events->discarded(s->data, serial);
}

static void on_sync_output(
    void *data, struct wp_presentation_feedback *feedback, struct wl_output *output)
{
    (void)data;
    (void)feedback;
    (void)output;
}

static void on_presented(void *data, struct wp_presentation_feedback *feedback, uint32_t sec_high,
    uint32_t sec_low, uint32_t nsec, uint32_t refresh, uint32_t sequence_high,
    uint32_t sequence_low, uint32_t flags)
{
    struct tp_wayland_awaited *a = data;
    struct tp_wayland_stream *s = a->stream;
    struct tp_wayland *w = tp_wayland_of(s);
    int64_t time = (int64_t)((uint64_t)sec_high << 32 | sec_low) * 1000000000 + nsec;
    struct tp_shown shown = {
        .serial = a->serial,
        .time_ns = monotonic(w->clock, time),
        .period_ns = refresh,
        .sequence = (uint64_t)sequence_high << 32 | sequence_low,
        .exact = flags & WP_PRESENTATION_FEEDBACK_KIND_HW_CLOCK,
    };

    (void)feedback;
    w->period_ns = refresh;
    w->answers = true;
    w->mute = false;
    end(a);
    s->events->shown(s->data, &shown);
}

static void on_discarded(void *data, struct wp_presentation_feedback *feedback)
{
    (void)feedback;
    discard(data);
}

int tp_wayland_await_shown(struct tp_wayland_stream *s, uint64_t serial)
{
    static const struct wp_presentation_feedback_listener listener = {
        on_sync_output, on_presented, on_discarded};
    struct tp_wayland *w = tp_wayland_of(s);
    struct tp_wayland_awaited *a = calloc(1, sizeof *a);

    if (!a)
        return -ENOMEM;
    a->stream = s;
    a->serial = serial;
    if (w->presentation) {
        a->feedback = wp_presentation_feedback(w->presentation, w->surface);
        wp_presentation_feedback_add_listener(a->feedback, &listener, a);
    } else {
        struct tp_wayland_stream *other;
        wl_list_for_each(other, &w->streams, link)
            tp_wayland_forget_shown(other, true); /* this one takes their place */
    }
    wl_list_insert(s->awaited.prev, &a->link);
    return 0;
}

/* Those whose refresh has begun before this. */
static void count_as_shown(struct tp_wayland *w, bool with_feedback, int64_t before_ns)
{
    struct tp_wayland_stream *s;

    wl_list_for_each(s, &w->streams, link)
    {
        struct tp_wayland_awaited *a, *next;
        wl_list_for_each_safe(a, next, &s->awaited, link)
        {
            struct tp_shown shown = {.serial = a->serial, .time_ns = a->refreshed_ns};
            if (a->refreshed_ns == 0 || a->refreshed_ns > before_ns ||
                (a->feedback && !with_feedback))
                continue;
            end(a);
            s->events->shown(s->data, &shown);
        }
    }
}

void tp_wayland_refreshed(struct tp_wayland *w, int64_t now_ns)
{
    struct tp_wayland_awaited *a;
    struct tp_wayland_stream *s;

    wl_list_for_each(s, &w->streams, link)
    {
        wl_list_for_each(a, &s->awaited, link)
        {
            if (a->refreshed_ns == 0)
                a->refreshed_ns = now_ns;
        }
    }
    count_as_shown(w, w->mute, now_ns);
}

int64_t tp_wayland_shown_until(const struct tp_wayland *w)
{
    const struct tp_wayland_awaited *a;
    const struct tp_wayland_stream *s;
    int64_t first = INT64_MAX;

    if (w->answers || w->mute)
        return first;
    wl_list_for_each(s, &w->streams, link)
    {
        wl_list_for_each(a, &s->awaited, link)
        {
            if (a->refreshed_ns > 0 && a->refreshed_ns + SILENCE_NS < first)
                first = a->refreshed_ns + SILENCE_NS;
        }
    }
    return first;
}

void tp_wayland_check_shown(struct tp_wayland *w, int64_t now_ns)
{
    if (now_ns < tp_wayland_shown_until(w))
        return;
    w->mute = true;
    tp_icd_log_once("the Wayland compositor does not tell when pictures are shown: their refresh "
                    "is taken for it");
    count_as_shown(w, true, now_ns);
}

void tp_wayland_forget_shown(struct tp_wayland_stream *s, bool tell)
{
    struct tp_wayland_awaited *a, *next;

    wl_list_for_each_safe(a, next, &s->awaited, link)
    {
        if (tell)
            discard(a);
        else
            end(a);
    }
}
