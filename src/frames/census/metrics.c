#include "frames/census/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define BIN_NS 10000
#define FINE 200000u /* bins of that */
#define FINE_NS ((int64_t)FINE * BIN_NS)
/* What is longer lies in bins of 1/128 of each doubling, up to all that there is. */
#define PARTS 128u
#define PART_NS (FINE_NS / PARTS)
#define DOUBLINGS 33u
#define BINS (FINE + DOUBLINGS * PARTS)

struct histogram {
    uint32_t *bins;
    uint64_t n;
    uint32_t used; /* bins: all beyond are 0 */
    int64_t max;
    double mean, squares;
};

struct tp_metrics {
    struct histogram interval, stutter, latency, acquire_wait, gate_to_start;
    double slot, release, gate;
    uint64_t acquires, judged, on_vblank, tail;
    int64_t first_line, last_line, last_interval;
    struct tp_spacing spacing;
    struct tp_measures sums; /* but for what is divided in the end */
};

static uint32_t bin_of(int64_t ns)
{
    if (ns < FINE_NS)
        return ns > 0 ? (uint32_t)(ns / BIN_NS) : 0;
    uint32_t bin = FINE;
    for (; ns >= 2 * FINE_NS; ns /= 2)
        bin += PARTS;
    return bin + (uint32_t)((ns - FINE_NS) / PART_NS);
}

/* Its middle. */
static int64_t ns_of(uint32_t bin)
{
    if (bin < FINE)
        return (int64_t)bin * BIN_NS + BIN_NS / 2;
    int64_t ns = FINE_NS + (bin - FINE) % PARTS * PART_NS + PART_NS / 2;
    uint32_t doublings = (bin - FINE) / PARTS;
    return ns <= INT64_MAX >> doublings ? ns << doublings : INT64_MAX;
}

static void add(struct histogram *h, int64_t ns)
{
    uint32_t bin = bin_of(ns);
    h->bins[bin]++;
    h->used = h->used > bin ? h->used : bin + 1;
    h->n++;
    double off = (double)ns - h->mean; /* Welford's */
    h->mean += off / (double)h->n;
    h->squares += off * ((double)ns - h->mean);
    if (ns > h->max)
        h->max = ns;
}

static int64_t quantile(const struct histogram *h, double q)
{
    uint64_t rank = (uint64_t)((double)h->n * q), seen = 0;
    for (unsigned i = 0; i < h->used; i++) {
        seen += h->bins[i];
        if (seen > rank) /* never above what there was */
            return ns_of(i) < h->max ? ns_of(i) : h->max;
    }
    return h->max;
}

static void spread(const struct histogram *h, struct tp_spread *out)
{
    *out = (struct tp_spread){.p50_ns = quantile(h, 0.5),
        .p99_ns = quantile(h, 0.99),
        .max_ns = h->max,
        .mean_ns = h->mean,
        .stddev_ns = h->n > 0 ? sqrt(h->squares / (double)h->n) : 0};
}

struct tp_metrics *tp_metrics_create(void)
{
    struct tp_metrics *m = tp_calloc(1, sizeof *m);
    struct histogram *all[] = {
        &m->interval, &m->stutter, &m->latency, &m->acquire_wait, &m->gate_to_start};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        all[i]->bins = tp_calloc(BINS, sizeof *all[i]->bins);
    return m;
}

void tp_metrics_destroy(struct tp_metrics *m)
{
    if (!m)
        return;
    free(m->interval.bins);
    free(m->stutter.bins);
    free(m->latency.bins);
    free(m->acquire_wait.bins);
    free(m->gate_to_start.bins);
    free(m);
}

static void empty(struct histogram *h)
{
    uint32_t *bins = h->bins;
    memset(bins, 0, h->used * sizeof *bins);
    *h = (struct histogram){.bins = bins};
}

void tp_metrics_reset(struct tp_metrics *m)
{
    struct tp_metrics fresh = {.interval = m->interval,
        .stutter = m->stutter,
        .latency = m->latency,
        .acquire_wait = m->acquire_wait,
        .gate_to_start = m->gate_to_start};
    struct histogram *all[] = {
        &fresh.interval, &fresh.stutter, &fresh.latency, &fresh.acquire_wait, &fresh.gate_to_start};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        empty(all[i]);
    *m = fresh;
}

void tp_metrics_acquired(struct tp_metrics *m, const struct tp_frame_record *f)
{
    if (f->number < TP_LEFT_OUT)
        return;
    m->acquires++;
    m->slot += (double)f->slot_wait_ns;
    m->release += (double)f->release_wait_ns;
    m->gate += (double)tp_frame_gate_wait(f);
    add(&m->acquire_wait, f->acquired_ns - f->asked_ns);
    add(&m->gate_to_start, f->acquired_ns - f->gate_ns);
}

static void count_verdict(struct tp_metrics *m, const struct tp_frame_record *f,
    const struct tp_shown_verdict *v, int64_t interval)
{
    bool late = v->repeats > 0;
    m->judged++;
    m->on_vblank += !late || (int64_t)f->sequence <= f->permitted;
    m->sums.late += late;
    m->sums.repeats += v->repeats;
    m->sums.cadence[v->stay < (int64_t)TP_CADENCE ? v->stay : (int64_t)TP_CADENCE]++;
    m->tail += interval > v->spacing_ns * 12 / 10;
}

void tp_metrics_shown(
    struct tp_metrics *m, const struct tp_frame_record *f, struct tp_shown_verdict *out)
{
    struct tp_shown_verdict verdict;
    int64_t interval = f->line_ns - m->last_line, change = interval - m->last_interval;
    if (m->sums.frames == 0)
        m->first_line = f->line_ns;
    tp_spacing_shown(&m->spacing, f, &verdict);
    if (m->sums.frames >= TP_LEFT_OUT) {
        add(&m->interval, interval);
        if (m->last_interval > 0)
            add(&m->stutter, change < 0 ? -change : change);
        m->last_interval = interval;
        if (f->begin_ns != TP_NEVER)
            add(&m->latency, f->line_ns - f->begin_ns);
        if (verdict.judged)
            count_verdict(m, f, &verdict, interval);
    }
    m->sums.frames++;
    m->last_line = f->line_ns;
    if (out)
        *out = verdict;
}

void tp_metrics_frame(struct tp_metrics *m, const struct tp_frame_record *f)
{
    if (f->presented_ns != TP_NEVER && f->asked_ns != TP_NEVER && f->acquired_ns != TP_NEVER &&
        f->gate_ns != TP_NEVER)
        tp_metrics_acquired(m, f);
    if (f->line_ns != TP_NEVER)
        tp_metrics_shown(m, f, NULL);
    m->sums.drops += f->dropped;
    m->sums.gate_late += f->late;
}

void tp_metrics_refresh(struct tp_metrics *m, const struct tp_refresh_record *r)
{
    m->sums.tears += r->torn_ns != TP_NEVER;
    m->sums.async_tears += r->async_torn;
}

void tp_metrics_get(const struct tp_metrics *m, struct tp_measures *out)
{
    *out = m->sums;
    out->span_ns = m->last_line - m->first_line;
    spread(&m->interval, &out->interval);
    spread(&m->stutter, &out->stutter);
    spread(&m->latency, &out->latency);
    spread(&m->acquire_wait, &out->acquire_wait);
    spread(&m->gate_to_start, &out->gate_to_start);
    out->on_vblank = m->judged > 0 ? (double)m->on_vblank / (double)m->judged : 1;
    out->spacing_tail = m->judged > 0 ? (double)m->tail / (double)m->judged : 0;
    double per = m->acquires > 0 ? 1.0 / (double)m->acquires : 0;
    out->slot_wait_ns = m->slot * per;
    out->release_wait_ns = m->release * per;
    out->gate_wait_ns = m->gate * per;
}
