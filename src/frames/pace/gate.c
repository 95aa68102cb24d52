/* The gate's books: settings, the timeline, and what became of each frame. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames/pace/cap.h"
#include "frames/pace/gate_internal.h"

#define BOOKED 990u        /* per mille of frames that are ready by the latch that is booked */
#define MOST_REFRESHES 32u /* that a frame is given */
#define HITCH 2 /* times what lies between frames: no time given to all of them makes that good */
#define LATE_GUEST 8u
#define COMPOSITOR_SLACK_NS 500000
#define COMPOSITOR_FRAMES 8192 /* after so many without a miss a third of it is expected */
#define COMPOSITOR_LESS_NS 512 /* a frame, at most */
#define COMPOSITOR_SLOWER 16   /* times, where that has been too little */
#define PATIENCE 16            /* frames */
#define QUEUE 8                /* frames that are taken out of one at once */

int tp_gate_check(const struct tp_gate_settings *s)
{
    if ((unsigned)s->mode > TP_GATE_LATENCY)
        return -EINVAL;
    return s->mode == TP_GATE_CAP && s->cap_mhz == 0 ? -EINVAL : 0;
}

int tp_gate_create(const struct tp_gate_settings *s, struct tp_gate **out)
{
    *out = NULL;
    int r = tp_gate_check(s);
    if (r < 0)
        return r;
    struct tp_gate *g = calloc(1, sizeof *g);
    if (!g)
        return -ENOMEM;
    g->settings = *s;
    g->refreshes = 1;
    g->last_latch_ns = g->last_ready_ns = g->last_start_ns = g->last_return_ns = TP_GATE_NEVER;
    *out = g;
    return 0;
}

void tp_gate_destroy(struct tp_gate *g)
{
    free(g);
}

int tp_gate_set(struct tp_gate *g, const struct tp_gate_settings *s)
{
    int r = tp_gate_check(s);
    if (r == 0)
        g->settings = *s;
    return r;
}

struct tp_gate_settings tp_gate_get(const struct tp_gate *g)
{
    return g->settings;
}

/* True: the grid is another one now. */
static bool sample(struct tp_gate *g, const struct tp_timeline_frame *t)
{
    unsigned before = g->vblank.grids;
    tp_vblank_sample(&g->vblank, t);
    return g->vblank.grids != before;
}

bool tp_gate_timeline(struct tp_gate *g, const struct tp_timeline_frame *t)
{
    g->learns = false;
    g->way = tp_gate_max(g->way, 0);
    return sample(g, t);
}

bool tp_gate_feedback(struct tp_gate *g, const struct tp_timeline_frame *t)
{
    g->learns = true;
    return sample(g, t);
}

const struct tp_vblank *tp_gate_vblank(const struct tp_gate *g)
{
    return &g->vblank;
}

void tp_gate_untimed(struct tp_gate *g)
{
    /* What comes next is right, however far it is from what was. */
    g->vblank.samples = 0;
}

static struct tp_gate_frame *frame_of(struct tp_gate *g, uint64_t id)
{
    struct tp_gate_frame *f = &g->frames[id % TP_GATE_MEMORY];
    return id > 0 && f->id == id ? f : NULL;
}

bool tp_gate_frame(const struct tp_gate *g, uint64_t frame, struct tp_gate_frame *out)
{
    const struct tp_gate_frame *f = &g->frames[frame % TP_GATE_MEMORY];
    if (frame == 0 || f->id != frame)
        return false;
    *out = *f;
    return true;
}

void tp_gate_counts(const struct tp_gate *g, struct tp_gate_counts *out)
{
    *out = g->counts;
    out->cost_ns = tp_cost_quantile(&g->cost, BOOKED);
}

/* --- the schedule --- */

/* Latency alone starts so late that a miss may be its own doing: each makes it start earlier for a
 * while, as far as the grid, where vsync starts. */
static void judge_latency(struct tp_gate *g, bool late)
{
    if (!late) {
        g->extra_ns -= g->extra_ns / 256;
        return;
    }
    int64_t period = tp_vblank_period_ns(&g->vblank);
    g->extra_ns = g->extra_ns * 2 + period / 64;
    if (g->extra_ns > period)
        g->extra_ns = period;
}

/* The oldest frame's latch is as well known as it will ever be. */
static void settle(struct tp_gate *g, int64_t ready_ns)
{
    if (tp_gate_has_grid(g)) {
        int64_t before = INT64_MIN;
        if (g->last_latch_ns != TP_GATE_NEVER)
            before = tp_vblank_nearest(&g->vblank, g->last_latch_ns);
        int64_t at = tp_gate_latch_of(g, &g->flights[0], ready_ns, before);
        int64_t planned_ns = g->flights[0].latch_ns;
        g->last_latch_ns = tp_vblank_latch_ns(&g->vblank, at);
        if (planned_ns != TP_GATE_NEVER)
            judge_latency(g, at > tp_vblank_nearest(&g->vblank, planned_ns));
        g->scheduled_ns[g->flights[0].id % TP_GATE_MEMORY] = g->last_latch_ns;
    }
    g->last_ready_ns = ready_ns;
    g->n_flights--;
    memmove(g->flights, g->flights + 1, g->n_flights * sizeof *g->flights);
}

static struct tp_gate_flight *flight_of(struct tp_gate *g, uint64_t id)
{
    for (unsigned i = 0; i < g->n_flights; i++)
        if (g->flights[i].id == id)
            return &g->flights[i];
    return NULL;
}

uint64_t tp_gate_book(struct tp_gate *g, const struct tp_gate_plan *p, int64_t now_ns)
{
    if (g->n_flights == TP_GATE_FLIGHT) /* it was never told of */
        settle(g, tp_gate_max(g->flights[0].start_ns, g->last_ready_ns));
    uint64_t id = ++g->ids;
    int64_t release = p->release_ns, due = p->grid_ns;
    if (release > p->asked_ns) /* else nobody waited for it */
        due = tp_gate_max(due, release);
    struct tp_gate_frame *f = &g->frames[id % TP_GATE_MEMORY];
    *f = (struct tp_gate_frame){.id = id,
        .begin_ns = now_ns,
        .gate_ns = tp_gate_max(tp_gate_max(p->grid_ns, release), p->asked_ns),
        .start_ns = now_ns,
        .latch_ns = INT64_MAX,
        .commit_ns = TP_GATE_NEVER,
        .entry_ns = TP_GATE_NEVER,
        .return_ns = TP_GATE_NEVER,
        .ready_ns = TP_GATE_NEVER,
        .shown_ns = TP_GATE_NEVER};
    g->scheduled_ns[id % TP_GATE_MEMORY] = TP_GATE_NEVER;
    if (g->counts.late_guest && g->last_return_ns != TP_GATE_NEVER)
        f->begin_ns = g->last_return_ns;
    g->flights[g->n_flights++] = (struct tp_gate_flight){.id = id,
        .latch_ns = p->on_grid ? tp_vblank_latch_ns(&g->vblank, p->latch_index) : TP_GATE_NEVER,
        .due_ns = p->on_time ? due : now_ns,
        .begin_ns = f->begin_ns,
        .asked_ns = p->asked_ns,
        .start_ns = now_ns,
        .release_ns = release,
        .entry_ns = TP_GATE_NEVER,
        .ready_ns = TP_GATE_NEVER};
    if (tp_gate_has_grid(g)) {
        int64_t latch, ready_ns, cost = tp_cost_quantile(&g->cost, BOOKED);
        tp_gate_outlook(g, now_ns, &latch, &ready_ns);
        latch = tp_gate_max(latch, tp_gate_latch_from(g, tp_gate_max(now_ns, release) + cost));
        if (p->on_grid) {
            latch = tp_gate_max(latch, p->latch_index);
            f->commit_ns =
                tp_vblank_latch_ns(&g->vblank, p->latch_index - 1) + 1 - g->compositor_ns;
        }
        if (!p->on_grid && cost == 0)
            latch = tp_gate_max(latch, tp_gate_latch_from(g, now_ns + 1));
        f->latch_ns = tp_vblank_latch_ns(&g->vblank, latch);
    }
    if (g->last_start_ns != TP_GATE_NEVER)
        tp_cost_add(&g->cycle, tp_gate_max(p->asked_ns - g->held_ns - g->last_start_ns, 0));
    g->held_ns = 0;
    g->clock = p->clock;
    g->has_clock = g->settings.mode != TP_GATE_OFF && (p->on_grid || g->settings.cap_mhz > 0);
    g->last_start_ns = now_ns;
    g->counts.frames++;
    return id;
}

void tp_gate_abandon(struct tp_gate *g, uint64_t frame)
{
    struct tp_gate_flight *f = flight_of(g, frame);
    struct tp_gate_frame *m = frame_of(g, frame);
    if (m)
        m->id = 0;
    if (!f)
        return;
    unsigned at = (unsigned)(f - g->flights);
    g->n_flights--;
    memmove(f, f + 1, (g->n_flights - at) * sizeof *f);
}

/* --- what became of a frame --- */

/* A late guest renders first: between one present and the next it spends more time before it
 * acquires than after. */
static void judge_guest(
    struct tp_gate *g, const struct tp_gate_frame *f, int64_t asked_ns, int64_t entry_ns)
{
    if (g->last_return_ns == TP_GATE_NEVER || f->start_ns < g->last_return_ns)
        return;
    bool late = asked_ns - g->last_return_ns > 4 * (entry_ns - f->start_ns);
    if (late && g->late_acquires < 2 * LATE_GUEST)
        g->late_acquires++;
    else if (!late && g->late_acquires > 0)
        g->late_acquires--;
    g->counts.late_guest = g->late_acquires >= LATE_GUEST;
}

void tp_gate_presented(struct tp_gate *g, uint64_t frame, int64_t entry_ns, int64_t return_ns)
{
    struct tp_gate_frame *f = frame_of(g, frame);
    struct tp_gate_flight *fl = flight_of(g, frame);
    if (f) {
        judge_guest(g, f, fl ? fl->asked_ns : f->start_ns, entry_ns);
        f->entry_ns = entry_ns;
        f->return_ns = return_ns;
    }
    if (fl)
        fl->entry_ns = entry_ns;
    g->last_return_ns = return_ns;
}

/* From one frame to the next. */
static int64_t spacing_ns(const struct tp_gate *g)
{
    int64_t period = tp_vblank_period_ns(&g->vblank);
    if (g->settings.cap_mhz == 0)
        return period;
    return tp_gate_max(period, tp_fine_ns(tp_cap_period(g->settings.cap_mhz)));
}

/* One refresh more or less is given to a frame, with a little to spare so that it does not waver.
 * The dearest of the last two seconds' frames counts, unless it stands alone: that was a stall,
 * which no time given to all the others makes good; and what comes again within some hundreds. */
static void fit_refreshes(struct tp_gate *g)
{
    int64_t period = tp_vblank_period_ns(&g->vblank);
    int64_t most = tp_cost_quantile(&g->need, 1000), cost = tp_cost_quantile(&g->need, BOOKED);
    int64_t rare = tp_peaks_second(&g->peaks);
    if (most < cost + cost / 2)
        cost = most;
    if (rare <= HITCH * spacing_ns(g))
        cost = tp_gate_max(cost, rare);
    cost += g->compositor_ns;
    if (period <= 0)
        return;
    if (cost > g->refreshes * period) /* the next one may be a little dearer */
        cost += cost / 16;
    while (g->refreshes < MOST_REFRESHES && cost > g->refreshes * period)
        g->refreshes++;
    while (g->refreshes > 1 && cost < (g->refreshes - 1) * (period - period / 16))
        g->refreshes--;
}

static void count_cost(struct tp_gate *g, const struct tp_gate_flight *f, int64_t ready_ns)
{
    int64_t entry = f->entry_ns != TP_GATE_NEVER ? f->entry_ns : f->start_ns;
    int64_t from = tp_gate_max(tp_gate_max(entry, f->release_ns), g->last_ready_ns);
    int64_t gpu = tp_gate_max(ready_ns - from, 0);
    int64_t cost = entry - f->start_ns + gpu;
    tp_cost_add(&g->cpu, entry - f->start_ns);
    tp_cost_add(&g->gpu, gpu);
    tp_cost_add(&g->cost, cost);
    int64_t need = ready_ns - (f->due_ns < f->start_ns ? f->due_ns : f->start_ns);
    tp_cost_add(&g->need, need);
    /* What it rendered elsewhere may have gone on while it waited for its image. */
    bool held = f->release_ns < f->due_ns;
    if (f->begin_ns < f->asked_ns)
        tp_cost_add(&g->span, ready_ns - f->begin_ns - (held ? f->start_ns - f->asked_ns : 0));
    /* What stood behind another dear one is not dear. */
    bool counts = need <= HITCH * spacing_ns(g) && need - cost < spacing_ns(g) / 2;
    tp_peaks_add(&g->peaks, counts ? need : 0);
    fit_refreshes(g);
}

void tp_gate_ready(struct tp_gate *g, uint64_t frame, int64_t ready_ns)
{
    struct tp_gate_flight *fl = flight_of(g, frame);
    struct tp_gate_frame *f = frame_of(g, frame);
    if (f && f->ready_ns == TP_GATE_NEVER) {
        bool late = ready_ns > f->latch_ns;
        f->ready_ns = ready_ns;
        g->counts.judged++;
        g->counts.gate_late += late;
    }
    if (frame > g->last_told)
        g->last_told = frame;
    if (!fl)
        return;
    fl->ready_ns = ready_ns;
    while (g->n_flights > 0 && g->flights[0].ready_ns != TP_GATE_NEVER) {
        count_cost(g, &g->flights[0], g->flights[0].ready_ns);
        settle(g, g->flights[0].ready_ns);
    }
}

/* It may need less by now, which only a frame that is late can tell. */
static void try_less(struct tp_gate *g)
{
    int64_t less = g->compositor_ns / COMPOSITOR_FRAMES;
    less = less < COMPOSITOR_LESS_NS ? less : COMPOSITOR_LESS_NS;
    g->compositor_ns -= g->compositor_ns < g->too_little_ns ? less / COMPOSITOR_SLOWER : less;
}

/* Who had it between ready and the latch took so long that it missed the one that it was in time
 * for, or did not. One that follows the frame before without a gap may have waited for that; one
 * that is later by more met something else. had: what was left from ready to the latch. */
static void judge_compositor(
    struct tp_gate *g, const struct tp_gate_frame *f, int64_t had, int64_t late)
{
    int64_t period = tp_vblank_period_ns(&g->vblank), step = period / 8;
    if (late < 0)
        had += late * period; /* it did with a refresh less */
    const struct tp_gate_frame *before = frame_of(g, f->id - 1);
    bool queued = before && before->shown_ns != TP_GATE_NEVER &&
        f->shown_ns - before->shown_ns < period + period / 2;
    try_less(g);
    if (late <= 0 && had >= 0) { /* that was enough */
        g->compositor_ns = had < g->compositor_ns ? had : g->compositor_ns;
        g->too_little_ns = had < g->too_little_ns ? 0 : g->too_little_ns;
    }
    if (late != 1 || queued || had <= g->compositor_ns || had >= 2 * period)
        return;
    g->too_little_ns = had;
    had += COMPOSITOR_SLACK_NS;
    g->compositor_ns = had < g->compositor_ns + step ? had : g->compositor_ns + step;
}

/*
 * Frames that are shown later than scheduled, one like the other, stand in a queue, which would
 * stay for ever: as many refreshes are left out. If that does not help, whoever has them between
 * ready and the latch may need longer than was thought; and if it is not that either, the way to
 * the panel is longer. had_ns: as above. queued: frames that were begun since.
 */
static void judge_queue(struct tp_gate *g, int64_t late, int64_t had_ns, int64_t queued)
{
    int64_t period = tp_vblank_period_ns(&g->vblank);
    if (late < g->way)
        g->way = late > 0 || g->learns ? late : 0;
    g->least = g->behind <= 0 || late < g->least ? late : g->least;
    if (late <= g->way && g->behind >= 0)
        g->behind = 0;
    else if (++g->behind == PATIENCE)
        g->behind = -PATIENCE; /* till then what was under way has been shown */
    if (g->behind == 0)
        g->probes = late <= g->way ? 0 : g->probes;
    if (g->behind != -PATIENCE)
        return;
    if (late != g->probed)
        g->probes = 0;
    g->probed = late;
    if (g->probes++ == 0) {
        int64_t last = tp_vblank_nearest(&g->vblank, g->last_latch_ns), n = g->least - g->way;
        n = n < queued ? n : queued;
        g->last_latch_ns = tp_vblank_latch_ns(&g->vblank, last + (n < QUEUE ? n : QUEUE));
    } else if (late == g->way + 1 && had_ns >= 0 && had_ns < period - period / 8) {
        g->too_little_ns = had_ns;
        g->compositor_ns = had_ns + period / 8;
    } else {
        g->way++;
        g->compositor_ns = g->too_little_ns = 0;
    }
}

void tp_gate_shown(struct tp_gate *g, uint64_t frame, int64_t first_line_ns)
{
    struct tp_gate_frame *f = frame_of(g, frame);
    if (!f || f->shown_ns != TP_GATE_NEVER)
        return;
    f->shown_ns = first_line_ns;
    if (!tp_vblank_ticks(&g->vblank) || f->ready_ns == TP_GATE_NEVER)
        return;
    int64_t latch = tp_vblank_nearest(&g->vblank, first_line_ns - g->vblank.lead_ns) -
        (int64_t)g->vblank.pipeline;
    int64_t scheduled_ns = g->scheduled_ns[frame % TP_GATE_MEMORY];
    if (scheduled_ns == TP_GATE_NEVER) {
        /* Of the first frames, which no grid started, the very first found no queue. */
        int64_t late = latch - tp_gate_latch_from(g, f->ready_ns);
        if (g->learns && late < g->way)
            g->way = late;
        return;
    }
    int64_t late = latch - tp_vblank_nearest(&g->vblank, scheduled_ns);
    int64_t had = scheduled_ns - tp_gate_max(f->ready_ns, f->commit_ns);
    judge_compositor(g, f, had, late - g->way);
    judge_queue(g, late, had, tp_gate_max((int64_t)(g->ids - frame), 1));
}
