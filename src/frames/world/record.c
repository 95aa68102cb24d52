/* What is kept of each frame and scan-out for whoever looks on. */
#include "frames/world/internal.h"

static bool is_watched(const struct world *w)
{
    return w->c->watch != NULL;
}

void record_frame(struct world *w, const struct frame *f)
{
    if (!is_watched(w))
        return;
    struct tp_world_frame out = {.number = f->number,
        .image = f->image,
        .repeats = f->repeats,
        .dropped = f->gone && f->line == NEVER,
        .begin_ns = f->begin,
        .asked_ns = f->asked,
        .gate_ns = f->gate,
        .acquired_ns = f->acquired,
        .slot_wait_ns = f->slot_wait,
        .release_wait_ns = f->release_wait,
        .gate_wait_ns = f->gate_wait,
        .cpu_ns = w->c->late_guest ? f->computes : f->acquired,
        .cpu_to_ns = w->c->late_guest ? f->asked : f->entry,
        .presented_ns = f->entry,
        .returned_ns = f->returned,
        .elsewhere_ns = f->elsewhere,
        .elsewhere_to_ns = f->elsewhere_to,
        .write_ns = f->write,
        .ready_ns = f->ready,
        .booked_ns = f->booked,
        .committed_ns = f->ready != NEVER ? f->commit : NEVER,
        .composed_ns = f->composed,
        .published_ns = f->published,
        .latched_ns = f->latched,
        .line_ns = f->line,
        .released_ns = f->released,
        .told_ns = f->told};
    w->c->watch->frame(w->c->watch->data, &out);
}

static void end_scan(struct world *w)
{
    if (w->reads.to_ns > 0)
        w->c->watch->scan(w->c->watch->data, &w->reads);
}

void record_scan(struct world *w, const struct tp_scan_event *e)
{
    if (!is_watched(w))
        return;
    end_scan(w);
    const struct frame *f = frame_of(w, e->serial);
    w->reads = (struct tp_world_scan){.sequence = e->sequence,
        .latch_ns = e->time_ns - w->c->lead_ns,
        .from_ns = e->time_ns,
        .to_ns = e->end_ns,
        .shows = f != NULL,
        .frame = f ? f->number : 0,
        .torn_ns = NEVER};
}

void record_tear(struct world *w, int64_t from)
{
    w->reads.torn_ns = from;
}

void record_rest(struct world *w)
{
    if (!is_watched(w))
        return;
    end_scan(w);
    uint64_t last = w->guest.frame;
    for (uint64_t i = last < FRAMES ? 0 : last - FRAMES; i <= last; i++) {
        const struct frame *f = frame_at(w, i);
        bool has_image = i < last || (w->guest.state == COMPUTES && !w->c->late_guest);
        if (f->number == i && has_image) /* else its place is another one's */
            record_frame(w, f);
    }
}
