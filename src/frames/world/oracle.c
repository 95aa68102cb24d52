#include "frames/world/oracle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "frames/pace/cap.h"

#define LEFT_OUT 10u
#define COPY 8

/* A frame in the schedule. Refreshes are counted from 0, at instant 0. */
struct plan {
    int64_t start, cpu_end, ready;
    int64_t latch; /* the refresh that it is latched for */
};

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t refresh_ns(const struct tp_world_config *c, int64_t n)
{
    return n / c->refresh_mhz * INT64_C(1000000000000) +
        n % c->refresh_mhz * INT64_C(1000000000000) / c->refresh_mhz;
}

/* The first refresh whose latch is not before t. */
static int64_t latched(const struct tp_world_config *c, int64_t t)
{
    int64_t n = (t + tp_world_lead(c)) / (INT64_C(1000000000000) / c->refresh_mhz) - 1;
    n = n < 0 ? 0 : n;
    while (refresh_ns(c, n) - tp_world_lead(c) < t)
        n++;
    return n;
}

/* When the image that frame k uses is free: the frame that had it is not read any more. */
static int64_t release_of(const struct tp_world_config *c, const struct plan *p, uint64_t k)
{
    if (k < c->images)
        return 0;
    if (c->compose_ns > 0) /* its composition is drawn */
        return refresh_ns(c, p[k - c->images].latch) - c->lead_ns - TP_WORLD_COMPOSE_MARGIN_NS;
    int64_t late = c->per_mille[TP_FAULT_LATE_FENCE] == 1000 ? c->late_refreshes : 0;
    int64_t at = refresh_ns(c, p[k - c->images + 1].latch + c->pipeline);
    int64_t signal = refresh_ns(c, p[k - c->images + 1].latch + c->pipeline + late);
    return max_ns(at + c->callback_ns, signal);
}

/* Of a cap. lock: every so many refreshes; 0: its clock says, and is right by edge. */
struct rhythm {
    tp_fine period, edge, spacing;
    unsigned lock;
};

static struct rhythm rhythm_of(const struct tp_world_config *c)
{
    uint32_t cap = c->gate.mode == TP_GATE_OFF ? 0 : c->gate.cap_mhz;
    struct rhythm r = {.period = tp_fine_of(INT64_C(1000000000000)) / c->refresh_mhz};
    r.lock = cap > 0 ? tp_cap_lock(cap, tp_fine_ns(r.period)) : 1;
    r.edge = r.lock > 0 ? 0 : r.period / 2 + r.period / 16;
    r.spacing = r.lock > 0 ? (tp_fine)r.lock * r.period : tp_cap_period(cap);
    return r;
}

/* As soon as it can be. Answers the first refresh that can show it. */
static int64_t work(const struct tp_world_config *c, struct plan *p, uint64_t k)
{
    const struct tp_world_cost *cost = &c->costs[k % c->n_costs];
    int64_t copy = c->late_guest ? cost->gpu_ns / COPY : cost->gpu_ns;
    int64_t release = release_of(c, p, k), before = k > 0 ? p[k - 1].ready : 0;
    p[k].start = k > 0 ? p[k - 1].cpu_end : 0;
    if (k > c->run_ahead)
        p[k].start = max_ns(p[k].start, p[k - 1 - c->run_ahead].ready);
    if (!c->late_guest)
        p[k].start = max_ns(p[k].start, release);
    p[k].cpu_end = p[k].start + cost->cpu_ns;
    int64_t rendered = max_ns(p[k].cpu_end, before) + cost->gpu_ns - copy;
    if (c->late_guest) /* it is held until it may copy */
        p[k].cpu_end = max_ns(p[k].cpu_end, release);
    p[k].ready = max_ns(rendered, release) + copy;
    return latched(c, p[k].ready + c->compositor_ns);
}

/* A frame that cannot be on time, put off by so many refreshes more, and those after it until one
 * of them is late. Answers that one. */
static uint64_t go_on(const struct tp_world_config *c, const struct rhythm *r, struct plan *p,
    uint64_t from, int64_t put_off)
{
    tp_fine off = r->edge; /* the clock, from the refresh: as the frames after it have most time */
    p[from].latch = work(c, p, from) + put_off;
    for (uint64_t k = from + 1; k < c->frames; k++) {
        int64_t wanted = p[k - 1].latch + tp_cap_steps(0, off + r->spacing, r->period);
        p[k].latch = max_ns(wanted, work(c, p, k));
        off += r->spacing - (tp_fine)(p[k].latch - p[k - 1].latch) * r->period;
        if (r->lock > 0 ? p[k].latch > wanted : off < -r->edge)
            return k;
    }
    return c->frames;
}

/*
 * A late frame may be later than it must: those after it have time then that dear ones among them
 * take, as far as there are images to hold it. Each is put off by as little as takes it furthest,
 * so that no schedule has fewer of them.
 */
static void go_forward(const struct tp_world_config *c, struct plan *p, struct tp_oracle *out)
{
    struct rhythm r = rhythm_of(c);
    int64_t most = c->images * (int64_t)(r.spacing / r.period + 1);
    for (uint64_t k = 0; k < c->frames;) {
        uint64_t furthest = go_on(c, &r, p, k, most), next = go_on(c, &r, p, k, 0);
        for (int64_t put_off = 1; next < furthest; put_off++)
            next = go_on(c, &r, p, k, put_off);
        out->late += k > LEFT_OUT;
        k = next;
    }
}

/* Each as late as its latch, and the frames after it, allow. */
static void go_backward(const struct tp_world_config *c, struct plan *p)
{
    for (uint64_t k = c->frames; k-- > 0;) {
        const struct tp_world_cost *cost = &c->costs[k % c->n_costs];
        int64_t ready = refresh_ns(c, p[k].latch) - tp_world_lead(c) - c->compositor_ns;
        int64_t cpu_end = ready - cost->gpu_ns;
        if (k + 1 < c->frames) { /* the next one's CPU and GPU come after */
            cpu_end = cpu_end < p[k + 1].start ? cpu_end : p[k + 1].start;
            int64_t gpu_end = p[k + 1].ready - c->costs[(k + 1) % c->n_costs].gpu_ns;
            ready = ready < gpu_end ? ready : gpu_end;
        }
        if (k + 1 + c->run_ahead < c->frames && ready > p[k + 1 + c->run_ahead].start)
            ready = p[k + 1 + c->run_ahead].start;
        if (ready > p[k].ready)
            p[k].ready = ready;
        if (cpu_end > p[k].ready - cost->gpu_ns)
            cpu_end = p[k].ready - cost->gpu_ns;
        if (cpu_end - cost->cpu_ns > p[k].start)
            p[k].start = cpu_end - cost->cpu_ns;
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(const struct tp_world_config *c, const struct plan *p, struct tp_oracle *out)
{
    uint64_t n = 0;
    int64_t *latency = tp_calloc(c->frames, sizeof *latency);
    int64_t before = 0;
    double changes = 0;
    for (uint64_t k = LEFT_OUT; k < c->frames; k++) {
        latency[n] = refresh_ns(c, p[k].latch + c->pipeline) - p[k].start;
        out->latency.mean_ns += (double)latency[n++];
        int64_t stay = refresh_ns(c, p[k].latch) - refresh_ns(c, p[k - 1].latch);
        changes += before > 0 ? (double)(stay > before ? stay - before : before - stay) : 0;
        before = stay;
    }
    out->stutter_ns = n > 1 ? changes / (double)(n - 1) : 0;
    if (n > 0) {
        qsort(latency, n, sizeof *latency, compare);
        out->latency.mean_ns /= (double)n;
        out->latency.p50_ns = latency[n / 2];
        out->latency.p99_ns = latency[n * 99 / 100];
        out->latency.max_ns = latency[n - 1];
    }
    free(latency);
    out->frames = c->frames;
    int64_t span = refresh_ns(c, p[c->frames - 1].latch) - refresh_ns(c, p[0].latch);
    out->fps = span > 0 ? (double)(c->frames - 1) / ((double)span / 1e9) : 0;
}

int tp_oracle_run(const struct tp_world_config *c, struct tp_oracle *out, struct tp_error *e)
{
    int r = tp_world_check(c, e);
    *out = (struct tp_oracle){0};
    if (r >= 0 && c->slowest_mhz > 0)
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "Give one rate",
            "with a variable rate each frame is shown when it is ready");
    if (r < 0)
        return r;
    struct plan *p = tp_calloc(c->frames, sizeof *p);
    go_forward(c, p, out);
    go_backward(c, p);
    measure(c, p, out);
    free(p);
    return 0;
}
