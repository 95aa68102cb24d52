/*
 * When the next frame may start.
 *
 * Frames go to latches, one each. The next one's is the first after the last frame's, or as much
 * later as a cap wants; its grid instant lies as many refreshes before as a frame needs. Where the
 * last frame's latch is depends on when it is ready, so as long as that is not known the least that
 * it may take is assumed: a frame that is started too early waits in a queue for a refresh, and
 * the next plan, which knows, takes it out; one that is started too late is a refresh lost.
 */
#include "frames/pace/cap.h"
#include "frames/pace/gate_internal.h"

#define OPTIMIST 100u /* per mille of frames that cost less */
#define PESSIMIST 990u
#define MARGIN_NS 1000000 /* latency's, above the pessimist's cost */

/* The frame's buffer is ready then, at the earliest that can be expected. */
static int64_t expect_ready(
    const struct tp_gate *g, const struct tp_gate_flight *f, int64_t before_ns, int64_t now_ns)
{
    if (f->ready_ns != TP_GATE_NEVER)
        return f->ready_ns;
    int64_t cpu = f->start_ns + tp_cost_quantile(&g->cpu, OPTIMIST);
    if (f->entry_ns != TP_GATE_NEVER)
        cpu = f->entry_ns;
    int64_t at = tp_gate_max(tp_gate_max(cpu, f->release_ns), before_ns) +
        tp_cost_quantile(&g->gpu, OPTIMIST);
    /* Whoever is told of each frame knows that this one is not ready yet. */
    bool told = g->last_told > 0 && f->id - g->last_told <= TP_GATE_FLIGHT;
    return told ? tp_gate_max(at, now_ns) : at;
}

int64_t tp_gate_latch_of(
    const struct tp_gate *g, const struct tp_gate_flight *f, int64_t ready_ns, int64_t before)
{
    int64_t at = tp_gate_latch_from(g, ready_ns + g->compositor_ns);
    if (f->latch_ns != TP_GATE_NEVER)
        at = tp_gate_max(at, tp_vblank_nearest(&g->vblank, f->latch_ns));
    return before != INT64_MIN && before >= at ? before + 1 : at;
}

bool tp_gate_outlook(const struct tp_gate *g, int64_t now_ns, int64_t *latch, int64_t *ready_ns)
{
    int64_t ready = g->last_ready_ns, last = INT64_MIN;
    if (g->last_latch_ns != TP_GATE_NEVER)
        last = tp_vblank_nearest(&g->vblank, g->last_latch_ns);
    for (unsigned i = 0; i < g->n_flights; i++) {
        ready = expect_ready(g, &g->flights[i], ready, now_ns);
        last = tp_gate_latch_of(g, &g->flights[i], ready, last);
    }
    *latch = last;
    *ready_ns = ready;
    return last != INT64_MIN;
}

/* Without a grid: the cap's clock alone, or the shortest interval that the panel can show. */
static int64_t plan_by_clock(const struct tp_gate *g, int64_t now_ns, struct tp_gate_plan *p)
{
    int64_t soonest = TP_GATE_NEVER;
    if (g->vblank.known && g->last_start_ns != TP_GATE_NEVER)
        soonest = g->last_start_ns + tp_vblank_period_ns(&g->vblank);
    if (g->settings.cap_mhz == 0)
        return soonest;
    tp_fine period = tp_cap_period(g->settings.cap_mhz);
    if (g->vblank.known && period < g->vblank.period)
        period = g->vblank.period;
    if (!g->has_clock) {
        p->clock = tp_fine_of(now_ns);
        return TP_GATE_NEVER;
    }
    p->clock = g->clock + period;
    if (tp_fine_of(now_ns) - p->clock > period / 2) /* missed, and not repaid */
        p->clock = tp_fine_of(now_ns);
    return tp_fine_ns(p->clock);
}

/* The latch for the next frame, after that of the last. */
static int64_t next_latch(const struct tp_gate *g, int64_t last, struct tp_gate_plan *p)
{
    uint32_t cap = g->settings.cap_mhz;
    unsigned n = cap > 0 ? tp_cap_lock(cap, g->vblank.nominal_ns) : 1;
    tp_fine from = tp_fine_of(tp_vblank_latch_ns(&g->vblank, last));
    if (n > 0) {
        p->clock = from + (tp_fine)n * g->vblank.period;
        return last + n;
    }
    /* The clock goes on from where it was. Where a frame is late it begins anew, with the half
     * refresh that it may be off in favour of those that follow: what was missed is not repaid. */
    tp_fine clock = g->has_clock ? g->clock : from;
    tp_fine edge = g->vblank.period / 2 + g->vblank.period / 16;
    if (clock < from - edge)
        clock = from + edge;
    if (clock > from + edge) /* another cap's */
        clock = from;
    p->clock = clock + tp_cap_period(cap);
    return last + tp_cap_steps(from, p->clock, g->vblank.period);
}

/* The guest, with its waits for its own GPU, or that alone need longer for a frame than there is
 * from one to the next. */
static bool cannot_hold(const struct tp_gate *g, int64_t refreshes)
{
    int64_t spacing = refreshes * tp_vblank_period_ns(&g->vblank);
    uint32_t cap = g->settings.cap_mhz;
    if (cap > 0 && tp_cap_lock(cap, g->vblank.nominal_ns) == 0)
        spacing = tp_fine_ns(tp_cap_period(cap));
    return tp_cost_quantile(&g->cycle, 500) > spacing || tp_cost_quantile(&g->gpu, 500) > spacing;
}

static int64_t margin_ns(const struct tp_gate *g)
{
    return g->compositor_ns > 0 ? MARGIN_NS / 2
                                : MARGIN_NS; /* what a compositor needs has its own */
}

static int64_t plan_by_grid(const struct tp_gate *g, int64_t now_ns, struct tp_gate_plan *p)
{
    int64_t last, ready_ns;
    if (!tp_gate_outlook(g, now_ns, &last, &ready_ns)) {
        p->latch_index = tp_gate_latch_from(g, now_ns) + g->refreshes;
        p->clock = tp_fine_of(tp_vblank_latch_ns(&g->vblank, p->latch_index));
        p->on_time = true;
        return tp_vblank_latch_ns(&g->vblank, p->latch_index - g->refreshes);
    }
    p->latch_index = next_latch(g, last, p);
    if (cannot_hold(g, p->latch_index - last)) /* it starts when the GPU is about to want it */
        return ready_ns - tp_cost_quantile(&g->cpu, 900);
    p->on_time = true;
    int64_t grid = tp_vblank_latch_ns(&g->vblank, p->latch_index - g->refreshes);
    if (g->settings.mode != TP_GATE_LATENCY || g->need.n < TP_COST_SAMPLES / 8)
        return grid;
    if (g->counts.late_guest && g->span.n >= TP_COST_SAMPLES / 8)
        return grid; /* it was held in its present */
    int64_t cost = tp_cost_quantile(&g->need, PESSIMIST) + g->compositor_ns;
    int64_t latest = tp_vblank_latch_ns(&g->vblank, p->latch_index) - cost - margin_ns(g);
    return tp_gate_max(grid, latest - g->extra_ns);
}

int64_t tp_gate_hold(struct tp_gate *g, uint64_t frame, int64_t now_ns)
{
    struct tp_gate_plan p = {.clock = g->clock};
    bool late = g->settings.mode == TP_GATE_LATENCY && g->counts.late_guest;
    if (!late || !tp_gate_has_grid(g) || g->vblank.stopped || g->span.n < TP_COST_SAMPLES / 8)
        return TP_GATE_NEVER;
    plan_by_grid(g, now_ns, &p);
    int64_t latest = tp_vblank_latch_ns(&g->vblank, p.latch_index) -
        tp_cost_quantile(&g->span, PESSIMIST) - g->compositor_ns - margin_ns(g) - g->extra_ns;
    if (!p.on_time || latest <= now_ns)
        return TP_GATE_NEVER;
    struct tp_gate_frame *f = &g->frames[frame % TP_GATE_MEMORY];
    if (f->id == frame)
        f->return_ns = latest;
    g->held_ns = latest - now_ns;
    g->last_return_ns = latest;
    return latest;
}

void tp_gate_plan(const struct tp_gate *g, int64_t asked_ns, int64_t now_ns, int64_t release_ns,
    bool gpu, struct tp_gate_plan *out)
{
    *out = (struct tp_gate_plan){.asked_ns = asked_ns,
        .start_ns = TP_GATE_NEVER,
        .grid_ns = TP_GATE_NEVER,
        .release_ns = release_ns,
        .clock = g->clock};
    bool capped = g->settings.cap_mhz > 0;
    if (g->settings.mode != TP_GATE_OFF) {
        out->on_grid = tp_gate_has_grid(g) && !(capped && g->vblank.stopped);
        out->grid_ns = out->on_grid ? plan_by_grid(g, now_ns, out) : plan_by_clock(g, now_ns, out);
        out->start_ns = out->grid_ns;
    }
    if (release_ns == TP_GATE_NEVER)
        return;
    /* What the CPU does before the GPU has to have the image comes before the release. */
    int64_t from_ns = gpu ? release_ns - tp_cost_quantile(&g->cpu, OPTIMIST) : release_ns;
    out->start_ns = tp_gate_max(out->start_ns, from_ns);
}
