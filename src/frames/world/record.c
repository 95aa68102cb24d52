/* What is kept of each frame and scan-out for whoever looks on. */
#include "frames/world/internal.h"

#define COUNTS_EVERY 256u /* refreshes */

static bool is_watched(const struct world *w)
{
    return w->c->watch != NULL;
}

void make_record(const struct world *w, const struct frame *f, struct tp_frame_record *out)
{
    *out = (struct tp_frame_record){.number = f->number,
        .image = f->image,
        .repeats = f->repeats,
        .dropped = f->gone && f->line == NEVER,
        .late = f->ready != NEVER && f->booked != NEVER && f->ready > f->booked,
        .torn = f->tore,
        .variable = w->scan.mode.slowest_mhz > 0,
        .sequence = f->sequence,
        .permitted = f->permitted,
        .refresh_mhz = f->refresh_mhz > 0 ? f->refresh_mhz : w->scan.mode.refresh_mhz,
        .cap_mhz = w->c->gate.mode != TP_GATE_OFF ? w->c->gate.cap_mhz : 0,
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
}

void record_frame(struct world *w, const struct frame *f)
{
    struct tp_frame_record out;
    if (!is_watched(w))
        return;
    make_record(w, f, &out);
    for (const struct tp_world_watch *k = w->c->watch; k; k = k->next)
        k->frame(k->data, &out);
}

/* Who is killed, or whose file is cut, has told what it came to by then. */
static void tell_counts(struct world *w)
{
    count_slots(w, &w->out->slots);
    for (const struct tp_world_watch *k = w->c->watch; k; k = k->next)
        if (k->counts)
            k->counts(k->data, w->out);
}

static void end_scan(struct world *w)
{
    if (w->reads.sequence % COUNTS_EVERY == 0)
        tell_counts(w);
    for (const struct tp_world_watch *k = w->c->watch; k && w->reads.to_ns > 0; k = k->next)
        k->scan(k->data, &w->reads);
}

void record_scan(struct world *w, const struct tp_scan_event *e)
{
    if (!is_watched(w))
        return;
    end_scan(w);
    const struct frame *f = frame_of(w, e->serial);
    w->reads = (struct tp_refresh_record){.sequence = e->sequence,
        .refresh_mhz = w->scan.mode.refresh_mhz,
        .latch_ns = e->time_ns - w->c->lead_ns,
        .from_ns = e->time_ns,
        .to_ns = e->end_ns,
        .shows = f != NULL,
        .frame = f ? f->number : 0,
        .torn_ns = NEVER};
}

void record_tear(struct world *w, uint64_t number, int64_t from)
{
    const struct tp_scan_mode *m = &w->scan.mode;
    int64_t in = from - w->reads.from_ns, lasts = w->reads.to_ns - w->reads.from_ns;
    struct frame *f = frame_at(w, number);
    f->tore |= f->number == number;
    w->reads.torn_ns = from;
    w->reads.torn_line = in > 0 && lasts > 0 ? (uint32_t)(in * m->active_lines / lasts) : 0;
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
