/* What a chart keeps of a run while that goes on, and which part of it is drawn. */
#include "frames/world/chart.h"

#include <stdlib.h>
#include <string.h>

#include "frames/world/chart_internal.h"

/* What lies too far back for the picture goes. */
static void forget(struct tp_chart *c)
{
    c->n_frames -= CHART_KEEP;
    memmove(c->frames, c->frames + CHART_KEEP, c->n_frames * sizeof *c->frames);
    size_t old = 0;
    while (old < c->n_scans && c->scans[old].to_ns < c->frames[0].begin_ns)
        old++;
    c->n_scans -= old;
    if (c->n_scans > 0)
        memmove(c->scans, c->scans + old, c->n_scans * sizeof *c->scans);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct tp_chart *c = data;
    if (c->full)
        return;
    if (f->number < c->from && c->n_frames == 2 * CHART_KEEP)
        forget(c);
    c->frames[c->n_frames++] = *f;
    c->full = f->number >= c->from &&
        (f->number - c->from + 1 == CHART_MORE || c->n_frames == CHART_FRAMES);
}

static void on_scan(void *data, const struct tp_refresh_record *s)
{
    struct tp_chart *c = data;
    if (!c->full)
        TP_PUSH(c->scans, c->n_scans, c->cap_scans) = *s;
}

struct tp_chart *tp_chart_create(uint64_t from)
{
    struct tp_chart *c = tp_calloc(1, sizeof *c);
    c->from = from;
    c->watch = (struct tp_world_watch){.frame = on_frame, .scan = on_scan, .data = c};
    return c;
}

void tp_chart_destroy(struct tp_chart *c)
{
    if (!c)
        return;
    free(c->scans);
    free(c);
}

const struct tp_world_watch *tp_chart_watch(const struct tp_chart *c)
{
    return &c->watch;
}

const struct tp_frame_record *chart_frame(const struct tp_chart *c, uint64_t number)
{
    if (c->n_frames == 0 || number < c->frames[0].number ||
        number - c->frames[0].number >= c->n_frames)
        return NULL;
    return &c->frames[number - c->frames[0].number];
}

/* From a little before the latch at or before that frame's start. */
void chart_window(const struct tp_chart *c, struct window *out)
{
    *out = (struct window){.from = 0, .to = 1};
    if (c->n_scans < 2)
        return;
    const struct tp_frame_record *f = chart_frame(c, c->from);
    size_t last = c->n_scans - 1, first = last;
    if (f)
        for (first = 0; first < last && c->scans[first + 1].latch_ns <= f->acquired_ns;)
            first++;
    size_t room = last < CHART_REFRESHES ? last : CHART_REFRESHES;
    bool ends = first > last - room;
    if (ends)
        first = last - room;
    int64_t before = (c->scans[first + 1].from_ns - c->scans[first].from_ns) / 8;
    out->from = c->scans[first].latch_ns - before;
    out->to = ends ? c->scans[last].to_ns : c->scans[first + room].latch_ns - before;
    out->first_scan = first;
}
