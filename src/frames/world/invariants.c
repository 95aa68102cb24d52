/* What must hold (frame-path's invariants), after every event and of a run as a whole. That no
 * write overlaps a scan-out is seen where one of them begins. */
#include <stdarg.h>
#include <stdio.h>

#include "frames/pace/cap.h"
#include "frames/world/internal.h"
#include "frames/world/oracle.h"

#define GATE_OPEN_NS 1000000 /* from there to the frame's start, at most */
#define FEW_FRAMES 1000u     /* too few to speak of a rate */
/* Longer than anybody is silent; where faults come on and on, they may let nothing through so long,
 * and each frame take so long. */
#define STILL_NS INT64_C(2000000000)
#define BLOCKED_NS INT64_C(20000000000)
#define FRAME_NS INT64_C(2000000000)
#define TIMES 8 /* as long as a frame takes at most */
/* Sleeps that end late, and the hops between processes. */
#define SLACK_NS 1000000

void broken(struct world *w, const char *fmt, ...)
{
    va_list args;
    if (w->over)
        return;
    va_start(args, fmt);
    vsnprintf(w->out->broken, sizeof w->out->broken, fmt, args);
    va_end(args);
    w->over = true;
}

static int64_t dearest(const struct tp_world_config *c)
{
    int64_t most = 0;
    for (size_t i = 0; i < c->n_costs; i++)
        most = max_ns(most, c->costs[i].cpu_ns + c->costs[i].gpu_ns);
    return most + c->compositor_ns;
}

/* Nothing goes wrong by chance: what is late is always so. */
static bool is_steady(const struct tp_world_config *c)
{
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (c->per_mille[i] > 0 && !(i == TP_FAULT_LATE_FENCE && c->per_mille[i] == 1000))
            return false;
    return c->strike_event == 0;
}

static unsigned late_refreshes(const struct tp_world_config *c)
{
    return c->untold + (c->per_mille[TP_FAULT_LATE_FENCE] > 0 ? c->late_refreshes : 0);
}

/* ⌈H/T⌉, for how long an image is away from its instant of the grid. */
unsigned tp_world_images(const struct tp_world_config *c)
{
    int64_t period = period_of(c->refresh_mhz);
    int64_t cost = (dearest(c) + period - 1) / period;
    if (c->compose_ns > 0) /* until it is read, for the latch after it was ready */
        return (unsigned)(((cost + 1) * period + tp_world_lead(c) + period - 1) / period);
    int64_t away = (cost + c->pipeline + 1 + late_refreshes(c)) * period + c->lead_ns;
    return (unsigned)((away + c->callback_ns + period - 1) / period);
}

/* From one frame to the next, at most, where nobody is away. */
static int64_t most_between(const struct world *w)
{
    const struct tp_world_config *c = w->c;
    int64_t most =
        2 * dearest(c) + c->callback_ns + c->compose_ns; /* DVFS may double what it costs */
    most += (int64_t)(c->pipeline + 2 + late_refreshes(c)) * w->slowest_ns;
    if (c->gate.mode != TP_GATE_OFF && c->gate.cap_mhz > 0)
        most += period_of(c->gate.cap_mhz);
    return most;
}

/* Does all that is replaced go before the ICD takes its wait for an incident? A frame that comes
 * between a latch and its refresh makes the next one queue for a refresh more. */
static bool is_within_bound(const struct world *w)
{
    const struct tp_world_config *c = w->c;
    int64_t fast = period_of(c->refresh_mhz);
    int64_t slow = c->slowest_mhz > 0 ? period_of(c->slowest_mhz) : fast;
    int64_t stays = (int64_t)(c->pipeline + (w->fits ? 1 : 2)) * slow + c->callback_ns;
    return late_refreshes(c) == 0 &&
        stays + SLACK_NS <= max_ns(TP_SLOTS_INCIDENT_NS, (int64_t)(c->pipeline + 2) * fast);
}

/* A compositor that composes draws for each refresh, and has an image for that. */
static bool composition_holds(const struct tp_world_config *c)
{
    return c->compose_ns == 0 ||
        (tp_world_own_images(c) >= 2 + c->pipeline + late_refreshes(c) &&
            tp_world_lead(c) + c->callback_ns + SLACK_NS <= period_of(c->refresh_mhz));
}

/* And frames are ready for its latch of the refresh in which they start. Else the gate, which has
 * nothing but feedback and assumes a pipeline of 1, leaves a few refreshes out to learn more. */
static bool composition_fits(const struct tp_world_config *c)
{
    int64_t period = period_of(c->refresh_mhz);
    return c->compose_ns == 0 ||
        (composition_holds(c) && c->pipeline <= 1 &&
            dearest(c) + tp_world_lead(c) + SLACK_NS <= period);
}

void start_invariants(struct world *w)
{
    const struct tp_world_config *c = w->c;
    w->steady = is_steady(c);
    /* A panel may have gone over to 60 Hz unseen: a quarantine is as long. */
    w->slowest_ns = period_of(c->slowest_mhz > 0 ? c->slowest_mhz : c->refresh_mhz);
    w->slowest_ns = max_ns(w->slowest_ns, period_of(60000));
    w->between_ns = most_between(w);
    w->still.frames_at = w->still.fault_at = w->now;
    w->first_late = -1;
    w->paced = c->policy == TP_POLICY_GATE &&
        (c->gate.mode == TP_GATE_VSYNC || c->gate.mode == TP_GATE_CAP);
    w->fits = w->steady && w->paced && c->slowest_mhz == 0 && !c->mailbox &&
        c->images >= tp_world_images(c) && dearest(c) <= period_of(c->refresh_mhz) * 9 / 10 &&
        composition_fits(c);
}

/* --- after every event --- */

/* Whoever has a descriptor is known, and there are no others. */
static void check_fences(struct world *w)
{
    const struct guest *g = &w->guest;
    struct tp_slots_counts slots;
    struct tp_notes_counts notes = {0};
    if (!g->slots)
        return;
    tp_slots_counts(w->screened.slots ? w->screened.slots : g->slots, &slots);
    if (w->server.notes)
        tp_notes_counts(w->server.notes, &notes);
    unsigned n = slots.fences + notes.fences + g->got.image.n_fences + w->n_completions +
        w->n_carried + w->n_early;
    for (unsigned i = 0; i < g->n_jobs; i++)
        n += g->jobs[(g->first_job + i) % JOBS].n_fences;
    if (n != w->n_fences)
        broken(w, "%u fences are open, and %u are somebody's", w->n_fences, n);
}

/* An acquire waits for the game's own work, for its schedule, or for who is away. */
static bool is_excused(const struct world *w)
{
    const struct guest *g = &w->guest;
    const struct frame *last = &w->frames[(g->frame - 1) % FRAMES];
    bool gate = g->acquire.plans > 0 && g->wait.until_ns == g->acquire.plan.start_ns;
    return gate || g->running || !w->server.ticks || w->compositor.away ||
        w->now < w->compositor.stalled_until || w->now < g->reads_from ||
        (g->frame > 0 && last->commit > w->now);
}

/* By how much a quarantine may be longer than the panel's way: by how late that was, as far as a
 * game can tell (slots_internal.h: TP_SLOTS_LATE_MOST). */
static int64_t most_learnt(const struct tp_world_config *c, int64_t refresh_ns)
{
    bool dies = c->strike_event > 0 || c->per_mille[TP_FAULT_SERVER_CRASH] > 0 ||
        c->per_mille[TP_FAULT_COMPOSITOR_CRASH] > 0;
    return dies ? 4 * refresh_ns : 0;
}

/* Nobody waits for more than the panel's way once all are there. */
static void check_hang(struct world *w)
{
    const struct tp_world_config *c = w->c;
    struct watch *h = &w->watch;
    if (w->guest.state != ACQUIRES || h->frame != w->guest.frame + 1) {
        h->waited = 0;
        h->frame = w->guest.state == ACQUIRES ? w->guest.frame + 1 : 0;
    } else if (!h->excused) {
        h->waited += w->now - h->at;
    }
    h->at = w->now;
    h->excused = is_excused(w);
    int64_t way = (int64_t)(c->pipeline + (w->fits ? 2 : 3)) * w->slowest_ns;
    int64_t most = way + late_refreshes(c) * w->slowest_ns + SLACK_NS;
    most += c->callback_ns + c->compositor_ns;
    if (composes(w)) /* its picture waits for the compositor's latch, and that for an image */
        most += 2 * w->slowest_ns + tp_world_lead(c);
    if (c->per_mille[TP_FAULT_SILENT_FENCE] > 0) /* and then a blank goes that way */
        most += TP_NOTES_SILENCE_NS + way;
    most += most_learnt(c, w->slowest_ns);
    if (c->no_board) /* a note is lost: one bounded wait */
        most += max_ns(TP_SLOTS_INCIDENT_NS, way);
    if (h->waited > most)
        broken(w, "an acquire hangs: %.1f ms for nobody's work", (double)h->waited / 1e6);
}

/* What was asked for to go wrong does so before frames can come. */
static void blocked(struct world *w, uint64_t frames, int64_t since)
{
    snprintf(w->out->blocked, sizeof w->out->blocked,
        "the faults asked for let too little through: %llu frames in %.1f s",
        (unsigned long long)frames, (double)(w->now - since) / 1e9);
    w->over = true;
}

void fault_comes_or_ends(struct world *w)
{
    w->still.fault_at = w->now;
}

/* Whatever is away comes back, and frames go on, unless something goes wrong again before one can.
 * A run that cannot go on ends. */
static void check_still(struct world *w)
{
    struct still *s = &w->still;
    uint64_t frames = w->out->frames + w->out->drops;
    if (frames != s->frames) {
        s->frames = frames;
        s->frames_at = w->now;
    }
    int64_t times = TIMES * w->between_ns;
    if (w->now - max_ns(s->frames_at, s->fault_at) > STILL_NS + w->between_ns)
        broken(w, "no frame has been shown for %.1f s", (double)(w->now - s->frames_at) / 1e9);
    else if (w->now - s->frames_at > BLOCKED_NS + times)
        blocked(w, 0, s->frames_at);
    else if ((w->now - START_NS - BLOCKED_NS) / (FRAME_NS + times) > (int64_t)frames)
        blocked(w, frames, START_NS);
}

void check_event(struct world *w)
{
    check_fences(w);
    check_hang(w);
    check_still(w);
}

/* A cap's clock by itself, of which nothing is lost behind the point: no frame is before it. */
static void check_clock(struct world *w, int64_t gate_ns)
{
    uint32_t cap = w->c->gate.cap_mhz;
    if (!w->steady || !w->paced || w->c->slowest_mhz == 0 || cap == 0 || cap > w->c->refresh_mhz)
        return;
    tp_fine period = tp_cap_period(cap), next = w->clock + period;
    bool first = w->clock == 0;
    if (!first && gate_ns < tp_fine_ns(next) - 1)
        broken(w, "a frame is %lld ns before its cap's clock",
            (long long)(tp_fine_ns(next) - gate_ns));
    w->clock = first || tp_fine_of(gate_ns) - next > period / 2 ? tp_fine_of(gate_ns) : next;
}

void check_acquired(struct world *w, const struct frame *f)
{
    struct tp_slots_counts n;
    if (w->c->release && w->guest.got.image.n_fences == 0 && w->images[f->image].uses > 0)
        broken(w, "an image is handed out that the panel may read");
    if (w->steady && f->acquired - f->gate > GATE_OPEN_NS)
        broken(w, "a frame waited after its gate was open");
    tp_slots_counts(w->guest.slots, &n);
    if (w->steady && n.release_timeouts > 0 && is_within_bound(w))
        broken(w, "a release was waited for past the bound");
    check_clock(w, f->gate);
}

/* The first ones come before the gate knows anything: a cap is exact from there on. */
void check_line(struct world *w, int64_t line)
{
    if (w->out->frames == TP_LEFT_OUT)
        w->settled_ns = line;
    w->last_line_ns = line;
}

void check_shown(struct world *w, int64_t sequence, int64_t wanted, int64_t stay)
{
    const struct tp_world_config *c = w->c;
    struct tp_gate_counts n;
    uint32_t cap = c->gate.cap_mhz > 0 ? c->gate.cap_mhz : c->refresh_mhz;
    if (!w->fits)
        return;
    tp_gate_counts(w->guest.gate, &n);
    if (w->first_late < 0) /* those at the start are in no share */
        w->first_late = (int64_t)n.gate_late;
    int64_t lock = tp_cap_lock(cap, period_of(c->refresh_mhz)), least = c->refresh_mhz / cap;
    if (sequence > wanted || (int64_t)n.gate_late > w->first_late)
        broken(w, "a frame that fits is late");
    else if (lock > 0 ? stay != lock : stay < least || stay > least + 1)
        broken(w, "a frame stayed for %lld refreshes", (long long)stay);
    else if (n.judged > 0 && w->out->repeats > 0)
        broken(w, "an old frame is shown again");
}

/* --- of a run --- */

/* With too few images the rate is what the best schedule has. */
static void check_few(struct world *w)
{
    const struct tp_world_config *c = w->c;
    struct tp_oracle o;
    if (!composition_holds(c)) /* its images are not the oracle's */
        return;
    if (dearest(c) > period_of(c->refresh_mhz) * 9 / 10 || tp_oracle_run(c, &o, NULL) < 0)
        return;
    if (tp_world_fps(w->out) < o.fps * 0.99)
        broken(w, "with %u images there are %.2f frames a second of %.2f", c->images,
            tp_world_fps(w->out), o.fps);
}

void check_run(struct world *w)
{
    const struct tp_world_config *c = w->c;
    const struct tp_world_result *o = w->out;
    uint32_t cap = c->gate.cap_mhz;
    int64_t period = period_of(c->refresh_mhz);
    if (*o->broken || o->frames < FEW_FRAMES)
        return;
    if (w->steady && w->paced && c->slowest_mhz == 0 && !w->fits && c->release)
        check_few(w);
    if (!w->fits || cap == 0 || cap >= c->refresh_mhz || tp_cap_lock(cap, period) > 0)
        return;
    double exact = (double)(o->frames - 1 - TP_LEFT_OUT) * 1e12 / cap;
    double off = (double)(w->last_line_ns - w->settled_ns) - exact;
    if (off > 0.0001 * exact + (double)period || off < -0.0001 * exact - (double)period)
        broken(w, "a cap is not exact");
}
