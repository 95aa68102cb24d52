/* What went wrong, in a list that does not grow with the capture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_model.h"

#define APART 8u /* frames between two of a row at most */
#define APART_NS INT64_C(1000000000)

const char *report_kind_name(enum report_kind k)
{
    static const char *const names[] = {
        "tear", "wait", "stop", "drop", "repeat", "late", "release", "rate", "change"};
    return names[k];
}

/* --- the list --- */

static bool is_worse(const struct report_event *a, const struct report_event *b)
{
    return a->worst > b->worst || (a->worst == b->worst && a->n > b->n);
}

static void keep(struct report_events *e, const struct report_event *one)
{
    enum report_kind k = one->kind;
    e->rows[k]++;
    if (e->n[k] < REPORT_EVENTS) {
        e->kept[k][e->n[k]++] = *one;
        return;
    }
    unsigned least = 0;
    for (unsigned i = 1; i < REPORT_EVENTS; i++)
        if (is_worse(&e->kept[k][least], &e->kept[k][i]))
            least = i;
    if (is_worse(one, &e->kept[k][least]))
        e->kept[k][least] = *one;
}

static bool follows(const struct report_event *row, const struct report_event *one)
{
    bool frames = one->kind != EVENT_STOP && one->kind != EVENT_RATE && one->kind != EVENT_CHANGE;
    return frames && one->first > row->last && one->first - row->last <= APART &&
        one->from_ns - row->to_ns <= APART_NS;
}

void report_event_add(struct report_events *e, const struct report_event *one)
{
    struct report_event *row = &e->open[one->kind][one->guest];
    e->all[one->kind] += one->n;
    if (row->n > 0 && follows(row, one)) {
        row->n += one->n;
        row->last = one->last;
        row->to_ns = one->to_ns > row->to_ns ? one->to_ns : row->to_ns;
        row->worst = one->worst > row->worst ? one->worst : row->worst;
        return;
    }
    if (row->n > 0)
        keep(e, row);
    *row = *one;
}

void report_events_end(struct report_events *e)
{
    for (unsigned k = 0; k < EVENT_KINDS; k++)
        for (unsigned g = 0; g < REPORT_GUESTS; g++) {
            if (e->open[k][g].n > 0)
                keep(e, &e->open[k][g]);
            e->open[k][g].n = 0;
        }
}

static int by_time(const void *a, const void *b)
{
    const struct report_event *x = a, *y = b;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

size_t report_events_sorted(const struct report_events *e, struct report_event **out)
{
    size_t n = 0;
    *out = tp_calloc((size_t)EVENT_KINDS * REPORT_EVENTS, sizeof **out);
    for (unsigned k = 0; k < EVENT_KINDS; k++) {
        memcpy(*out + n, e->kept[k], e->n[k] * sizeof **out);
        n += e->n[k];
    }
    qsort(*out, n, sizeof **out, by_time);
    return n;
}

/* --- in words --- */

static void frames_of(struct tp_buf *b, const struct report_event *e)
{
    if (e->first == e->last)
        tp_buf_addf(b, "frame %" PRIu64, e->first);
    else
        tp_buf_addf(b, "frames %" PRIu64 " to %" PRIu64, e->first, e->last);
}

void report_add_time(struct tp_buf *out, int64_t us)
{
    int64_t ms = us > 0 ? us / 1000 : 0;
    tp_buf_addf(out, "%" PRId64 ":%02d.%03d", ms / 60000, (int)(ms / 1000 % 60), (int)(ms % 1000));
}

char *report_event_text(const struct tp_report *r, const struct report_event *e)
{
    struct tp_buf b = {0};
    bool many = e->n > 1;
    switch (e->kind) {
    case EVENT_TEAR:
        tp_buf_adds(&b, many ? "Torn: " : "Torn: the image of ");
        frames_of(&b, e);
        if (many)
            tp_buf_addf(&b, ", %" PRIu64 " refreshes: each image was written while the panel read it",
                e->n);
        else
            tp_buf_addf(&b, " was written while the panel read line %" PRId64, e->worst);
        break;
    case EVENT_WAIT:
        tp_buf_adds(&b, "Waited too long for a release: ");
        frames_of(&b, e);
        tp_buf_addf(&b, ", %.1f ms%s", tp_ms((double)e->worst), many ? " at most" : "");
        break;
    case EVENT_STOP:
        tp_buf_addf(&b, "The panel stopped: no refresh for %.0f ms", tp_ms((double)e->worst));
        break;
    case EVENT_DROP:
        tp_buf_adds(&b, "Never shown: ");
        frames_of(&b, e);
        if (many)
            tp_buf_addf(&b, ", %" PRIu64 " of them", e->n);
        break;
    case EVENT_REPEAT:
        tp_buf_adds(&b, "Shown late: before ");
        frames_of(&b, e);
        if (e->first == e->last)
            tp_buf_addf(&b, " the older picture stayed %" PRId64 " refresh%s too long", e->worst,
                e->worst == 1 ? "" : "es");
        else
            tp_buf_addf(&b, " an older picture stayed, %" PRIu64 " refreshes in all, up to %" PRId64
                            " at once",
                e->n, e->worst);
        break;
    case EVENT_LATE:
        tp_buf_adds(&b, "Missed the latch: ");
        frames_of(&b, e);
        tp_buf_addf(&b, ", ready %s%.2f ms after the one it was booked for", many ? "up to " : "",
            tp_ms((double)e->worst));
        break;
    case EVENT_RELEASE:
        tp_buf_adds(&b, "Released late: the image of ");
        frames_of(&b, e);
        tp_buf_addf(&b, ", %s%" PRId64 " refresh%s after the panel had left it", many ? "up to " : "",
            e->worst, e->worst == 1 ? "" : "es");
        break;
    case EVENT_RATE:
        tp_buf_addf(&b, "The panel's rate is %.4g Hz from here", (double)e->worst / 1000);
        break;
    default:
        tp_buf_addf(&b, "Set: %s = %s", r->changes[e->change].name, r->changes[e->change].value);
    }
    return tp_buf_take(&b);
}
