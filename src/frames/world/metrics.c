/* What is measured of a run: by instants that the world knows, not by what its parts say. */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "frames/pace/cap.h"
#include "frames/world/internal.h"

#define BIN_NS 10000
#define BINS 200000u /* 2 s; the last: all longer */
#define LEFT_OUT 10u /* frames at the start, which are in no share */

static void start_histogram(struct histogram *h)
{
    *h = (struct histogram){.bins = tp_calloc(BINS, sizeof *h->bins)};
}

static void add(struct histogram *h, int64_t ns)
{
    int64_t bin = ns > 0 ? ns / BIN_NS : 0;
    h->bins[bin < (int64_t)BINS ? bin : (int64_t)BINS - 1]++;
    h->n++;
    double off = (double)ns - h->mean; /* Welford's */
    h->mean += off / (double)h->n;
    h->squares += off * ((double)ns - h->mean);
    h->max = max_ns(h->max, ns);
}

static int64_t quantile(const struct histogram *h, double q)
{
    uint64_t rank = (uint64_t)((double)h->n * q), seen = 0;
    for (unsigned i = 0; i < BINS; i++) {
        seen += h->bins[i];
        if (seen > rank) /* never above what there was */
            return (int64_t)i * BIN_NS + BIN_NS / 2 < h->max ? (int64_t)i * BIN_NS + BIN_NS / 2
                                                             : h->max;
    }
    return h->max;
}

static void spread(const struct histogram *h, struct tp_world_spread *out)
{
    *out = (struct tp_world_spread){.p50_ns = quantile(h, 0.5),
        .p99_ns = quantile(h, 0.99),
        .max_ns = h->max,
        .mean_ns = h->mean,
        .stddev_ns = h->n > 0 ? sqrt(h->squares / (double)h->n) : 0};
}

void start_metrics(struct world *w)
{
    struct metrics *m = &w->metrics;
    start_histogram(&m->interval);
    start_histogram(&m->stutter);
    start_histogram(&m->latency);
    start_histogram(&m->acquire_wait);
    start_histogram(&m->gate_to_start);
}

void free_metrics(struct world *w)
{
    struct metrics *m = &w->metrics;
    free(m->interval.bins);
    free(m->stutter.bins);
    free(m->latency.bins);
    free(m->acquire_wait.bins);
    free(m->gate_to_start.bins);
}

void count_acquire(struct world *w, const struct frame *f, const struct tp_acquired *a)
{
    struct metrics *m = &w->metrics;
    if (f->number < LEFT_OUT)
        return;
    m->acquires++;
    m->slot += (double)a->slot_ns;
    m->release += (double)a->release_ns;
    m->gate += (double)a->gate_ns;
    add(&m->acquire_wait, f->acquired - f->asked);
    add(&m->gate_to_start, f->acquired - f->gate);
}

void count_ready(struct world *w, const struct frame *f)
{
    struct metrics *m = &w->metrics;
    if (f->number < LEFT_OUT)
        return;
    m->ready++;
    m->in_period += f->ready - f->gate <= INT64_C(1000000000000) / w->scan.mode.refresh_mhz;
}

/*
 * From the last frame's refresh to the latest that the cap allows for this one, at least 1. A cap's
 * clock that is no divisor of the refresh has some phase to it, of which an outsider knows no more
 * than that all frames so far were right by it: off is how far the last frame's instant was from
 * its refresh, at least and at most.
 */
static int64_t spacing(struct world *w, struct phase *off)
{
    uint32_t cap = w->c->gate.mode != TP_GATE_OFF ? w->c->gate.cap_mhz : 0;
    tp_fine period = tp_fine_of(INT64_C(1000000000000)) / w->scan.mode.refresh_mhz;
    off->most = 0;
    if (cap == 0)
        return 1;
    unsigned n = tp_cap_lock(cap, tp_fine_ns(period));
    if (n > 0)
        return n;
    tp_fine edge = period / 2 + period / 16;
    *off = w->metrics.off;
    if (off->most == 0) /* nothing is known */
        *off = (struct phase){-edge, edge};
    off->least += tp_cap_period(cap);
    off->most += tp_cap_period(cap);
    int64_t latest = (int64_t)((off->most + edge) / period);
    return latest > 1 ? latest : 1;
}

/* What that frame has shown of the clock. */
static void narrow(struct world *w, struct phase off, int64_t stay)
{
    tp_fine period = tp_fine_of(INT64_C(1000000000000)) / w->scan.mode.refresh_mhz;
    tp_fine edge = period / 2 + period / 16;
    w->metrics.off = (struct phase){0, 0};
    if (off.most == 0)
        return;
    off.least -= stay * period;
    off.most -= stay * period;
    if (off.least > edge || off.most < -edge)
        return; /* it was late, and begins anew */
    off.least = off.least > -edge ? off.least : -edge;
    off.most = off.most < edge ? off.most : edge;
    if (off.most != 0)
        w->metrics.off = off;
}

/* The first refresh that could show what is ready at t. */
static int64_t first_refresh(const struct world *w, int64_t t)
{
    int64_t n = (int64_t)w->scan.sequence - 64, high = (int64_t)w->scan.sequence + 1;
    while (n < high) {
        int64_t mid = n + (high - n) / 2;
        if (tp_scan_refresh_ns(&w->scan, (uint64_t)mid) - w->c->lead_ns < t)
            n = mid + 1;
        else
            high = mid;
    }
    return n + (int64_t)w->c->pipeline;
}

static void judge(struct world *w, const struct frame *f, uint64_t sequence)
{
    struct metrics *m = &w->metrics;
    struct phase off = {0, 0};
    int64_t wanted = (int64_t)m->last_sequence + spacing(w, &off);
    int64_t permitted = max_ns(wanted, first_refresh(w, f->earliest));
    tp_fine period = tp_fine_of(INT64_C(1000000000000)) / w->scan.mode.refresh_mhz;
    int64_t stay = (int64_t)(sequence - m->last_sequence);
    m->judged++;
    m->on_vblank += (int64_t)sequence <= permitted;
    w->out->late += (int64_t)sequence > wanted;
    if ((int64_t)sequence > wanted)
        w->out->repeats += sequence - (uint64_t)wanted;
    w->out->cadence[stay < (int64_t)TP_WORLD_CADENCE ? stay : (int64_t)TP_WORLD_CADENCE]++;
    m->tail += f->line - m->last_line >
        ((int64_t)wanted - (int64_t)m->last_sequence) * tp_fine_ns(period) * 12 / 10;
    narrow(w, off, stay);
    check_shown(w, (int64_t)sequence, wanted, stay);
}

void count_shown(struct world *w, const struct frame *f, uint64_t sequence)
{
    struct metrics *m = &w->metrics;
    struct tp_world_result *o = w->out;
    if (o->frames == 0)
        m->first_line = f->line;
    if (o->frames >= LEFT_OUT) {
        int64_t interval = f->line - m->last_line, change = interval - m->last_interval;
        add(&m->interval, interval);
        if (m->last_interval > 0)
            add(&m->stutter, change < 0 ? -change : change);
        m->last_interval = interval;
        add(&m->latency, f->line - f->begin);
        if (w->scan.mode.slowest_mhz == 0)
            judge(w, f, sequence);
    }
    o->frames++;
    m->last_line = f->line;
    m->last_sequence = sequence;
}

void finish_metrics(struct world *w)
{
    struct metrics *m = &w->metrics;
    struct tp_world_result *o = w->out;
    struct tp_gate_counts n;
    tp_gate_counts(w->guest.gate, &n);
    o->gate_late = n.gate_late;
    o->span_ns = m->last_line - m->first_line;
    spread(&m->interval, &o->interval);
    spread(&m->stutter, &o->stutter);
    spread(&m->latency, &o->latency);
    spread(&m->acquire_wait, &o->acquire_wait);
    spread(&m->gate_to_start, &o->gate_to_start);
    o->in_period = m->ready > 0 ? (double)m->in_period / (double)m->ready : 1;
    o->on_vblank = m->judged > 0 ? (double)m->on_vblank / (double)m->judged : 1;
    o->spacing_tail = m->judged > 0 ? (double)m->tail / (double)m->judged : 0;
    double per = m->acquires > 0 ? 1.0 / (double)m->acquires : 0;
    o->slot_wait_ns = m->slot * per;
    o->release_wait_ns = m->release * per;
    o->gate_wait_ns = m->gate * per;
}
