/* What is measured of a run: by instants that the world knows, not by what its parts say. */
#include <stdio.h>
#include <string.h>

#include "frames/world/internal.h"

void start_metrics(struct world *w)
{
    w->metrics.records = tp_metrics_create();
}

void free_metrics(struct world *w)
{
    tp_metrics_destroy(w->metrics.records);
}

void count_acquire(struct world *w, const struct frame *f)
{
    struct tp_frame_record record;
    make_record(w, f, &record);
    tp_metrics_acquired(w->metrics.records, &record);
}

void count_ready(struct world *w, const struct frame *f)
{
    struct metrics *m = &w->metrics;
    if (f->number < TP_LEFT_OUT)
        return;
    m->ready++;
    m->in_period += f->ready - f->gate <= panel_period(w);
}

/* The first refresh that could show what is ready at t. */
static int64_t first_refresh(const struct world *w, int64_t t)
{
    int64_t n = (int64_t)w->scan.sequence - 64, high = (int64_t)w->scan.sequence + 1;
    while (n < high) {
        int64_t mid = n + (high - n) / 2;
        if (tp_scan_refresh_ns(&w->scan, (uint64_t)mid) - tp_world_lead(w->c) < t)
            n = mid + 1;
        else
            high = mid;
    }
    return n + (int64_t)w->c->pipeline;
}

void count_shown(struct world *w, struct frame *f, uint64_t sequence)
{
    struct tp_frame_record record;
    struct tp_shown_verdict v;
    f->sequence = sequence;
    f->permitted = w->scan.mode.slowest_mhz == 0 ? first_refresh(w, f->earliest) : 0;
    f->refresh_mhz = w->scan.mode.refresh_mhz;
    make_record(w, f, &record);
    tp_metrics_shown(w->metrics.records, &record, &v);
    check_line(w, f->line);
    f->repeats = v.repeats;
    w->out->frames++;
    w->out->repeats += v.repeats;
    if (v.judged)
        check_shown(w, (int64_t)sequence, (int64_t)v.wanted, v.stay);
}

void finish_metrics(struct world *w)
{
    const struct metrics *m = &w->metrics;
    struct tp_world_result *o = w->out;
    struct tp_gate_counts n;
    struct tp_measures of;
    tp_gate_counts(w->guest.gate, &n);
    tp_metrics_get(m->records, &of);
    o->gate_late = n.gate_late;
    o->late = of.late;
    o->span_ns = of.span_ns;
    memcpy(o->cadence, of.cadence, sizeof o->cadence);
    o->interval = of.interval;
    o->stutter = of.stutter;
    o->latency = of.latency;
    o->acquire_wait = of.acquire_wait;
    o->gate_to_start = of.gate_to_start;
    o->in_period = m->ready > 0 ? (double)m->in_period / (double)m->ready : 1;
    o->on_vblank = of.on_vblank;
    o->spacing_tail = of.spacing_tail;
    o->slot_wait_ns = of.slot_wait_ns;
    o->release_wait_ns = of.release_wait_ns;
    o->gate_wait_ns = of.gate_wait_ns;
}

/* What the panel showed is the world's own count, not what records say. */
static void measures(const struct tp_world_result *r, struct tp_measures *out)
{
    *out = (struct tp_measures){.frames = r->frames,
        .span_ns = r->span_ns,
        .tears = r->tears,
        .repeats = r->repeats,
        .drops = r->drops,
        .gate_late = r->gate_late,
        .late = r->late,
        .on_vblank = r->on_vblank,
        .spacing_tail = r->spacing_tail,
        .interval = r->interval,
        .stutter = r->stutter,
        .latency = r->latency,
        .acquire_wait = r->acquire_wait,
        .gate_to_start = r->gate_to_start,
        .slot_wait_ns = r->slot_wait_ns,
        .release_wait_ns = r->release_wait_ns,
        .gate_wait_ns = r->gate_wait_ns};
    memcpy(out->cadence, r->cadence, sizeof out->cadence);
}

void tp_world_summary(
    const struct tp_world_config *c, const struct tp_world_result *r, struct tp_summary *out)
{
    const struct tp_slots_counts *s = &r->slots;
    *out = (struct tp_summary){.has_tears = true,
        .has_guest = true,
        .has_counts = true,
        .counts = {[TP_COUNT_UNSAFE] = s->unsafe,
            [TP_COUNT_RELEASE_WAITS] = s->release_waits,
            [TP_COUNT_RELEASE_TIMEOUTS] = s->release_timeouts,
            [TP_COUNT_SLOT_WAITS] = s->slot_waits,
            [TP_COUNT_NOTES_PENDING] = s->pending,
            [TP_COUNT_NOTES_FINAL] = s->final,
            [TP_COUNT_NOTES_LOST] =
                s->lost + r->injected[TP_FAULT_LOST_NOTE] + r->injected[TP_FAULT_TRUNCATED_FDS],
            [TP_COUNT_NOTES_RESYNCED] = s->resynced}};
    measures(r, &out->measures);
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (c->per_mille[i] > 0) {
            struct tp_summary_fault *f = &out->faults[out->n_faults++];
            snprintf(f->name, sizeof f->name, "%s", tp_world_fault_names[i]);
            f->injected = r->injected[i];
        }
}
