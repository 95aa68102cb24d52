/* Which slot an acquire gets, or what it waits for. */
#include <string.h>

#include "frames/icd/slots_internal.h"
#include "frames/wire/hello.h"

#define NEVER INT64_MIN

/* How far a slot is from being ready. */
enum reach {
    READY,
    GPU_WAITS, /* can be had now: the GPU waits for the rest */
    BY_FENCE,  /* all its fences are in hand */
    BY_SERVER, /* the server has to say something */
    BY_CLOCK,  /* in quarantine */
    BY_OTHERS, /* compositor or guest has it */
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool has_signalled(const struct tp_slots *s, const struct tp_slot_fence *f)
{
    return s->ops.signalled(s->data, f->fence);
}

/* Lets go of those that have signalled, each looked at until it has. True: there is none left. */
static bool poll_fences(struct tp_slots *s, struct tp_slot *t)
{
    tp_slot_drop_fences(s, t, has_signalled);
    return t->n_fences == 0;
}

static bool has_orphan(const struct tp_slot *t)
{
    for (unsigned i = 0; i < t->n_fences; i++)
        if (t->fences[i].orphan)
            return true;
    return false;
}

static bool is_orphan(const struct tp_slots *s, const struct tp_slot_fence *f)
{
    (void)s;
    return f->orphan;
}

static bool gpu_can_wait(const struct tp_slots *s, const struct tp_slot *t)
{
    if (s->config.wait != TP_RELEASE_WAIT_GPU || t->n_fences > TP_SLOTS_FENCES)
        return false;
    if (has_orphan(t)) /* should it be silent, nobody is left to make it signal */
        return false;
    for (unsigned i = 0; i < t->n_fences; i++)
        if (t->fences[i].kind != TP_FENCE_SYNC_FILE)
            return false;
    return true;
}

/* The dma-buf has the panel's fence: the server put it there before it said so. What came from the
 * compositor has to be waited for as ever. */
static bool is_implicit(const struct tp_slots *s, const struct tp_slot *t)
{
    if (s->config.wait != TP_RELEASE_WAIT_IMPLICIT)
        return false;
    for (unsigned i = 0; i < t->n_fences; i++)
        if (t->fences[i].compositor)
            return false;
    return true;
}

static enum reach reach_of(
    struct tp_slots *s, struct tp_slot *t, enum tp_slot_panel panel, int64_t now_ns)
{
    if (t->place != TP_PLACE_IDLE)
        return BY_OTHERS;
    if (t->quarantine_ns != NEVER) {
        if (now_ns < tp_slot_quarantined_until_ns(s, t))
            return BY_CLOCK;
        t->quarantine_ns = NEVER;
    }
    if (has_orphan(t) && now_ns >= t->orphans_ns)
        tp_slot_drop_fences(s, t, is_orphan);
    switch (panel) {
    case TP_PANEL_FREE:
        break;
    case TP_PANEL_FENCED:
    case TP_PANEL_FENCE_AWAY:
        if (is_implicit(s, t))
            return GPU_WAITS;
        if (panel == TP_PANEL_FENCE_AWAY)
            return BY_SERVER;
        break;
    case TP_PANEL_REPLACED:
    case TP_PANEL_SHOWN:
        return BY_SERVER;
    }
    if (t->n_fences == 0)
        return READY;
    return gpu_can_wait(s, t) ? GPU_WAITS : BY_FENCE;
}

/* What of the panel's fences is void is closed; what is seen for the first time gets its instant.
 */
static enum reach look(struct tp_slots *s, struct tp_slot *t, int64_t now_ns)
{
    enum tp_slot_panel panel = tp_slot_panel(s, t);
    if (t->place == TP_PLACE_IDLE && panel == TP_PANEL_FREE && t->n_fences > 0)
        tp_slot_drop_fences(s, t, tp_slot_fence_is_servers);
    enum reach r = reach_of(s, t, panel, now_ns);
    if (r == READY && t->ready_ns == NEVER && t->order > 0)
        t->ready_ns = later(t->given_ns, now_ns);
    if (r == BY_SERVER && panel != TP_PANEL_SHOWN && t->replaced_ns == NEVER)
        t->replaced_ns = now_ns;
    if (t->place == TP_PLACE_IDLE)
        tp_slot_watch_release(s, t, panel, now_ns);
    return r;
}

enum tp_slot_state tp_slots_look(struct tp_slots *s, unsigned slot, int64_t now_ns)
{
    struct tp_slot *t = &s->slots[slot];
    switch (t->place) {
    case TP_PLACE_ACQUIRED:
        return TP_SLOT_ACQUIRED;
    case TP_PLACE_QUEUED:
        return TP_SLOT_QUEUED;
    case TP_PLACE_HELD:
        return TP_SLOT_HELD;
    case TP_PLACE_IDLE:
        break;
    }
    switch (look(s, t, now_ns)) {
    case READY:
        return TP_SLOT_READY;
    case BY_CLOCK:
        return TP_SLOT_QUARANTINED;
    case GPU_WAITS:
    case BY_FENCE:
        return poll_fences(s, t) && look(s, t, now_ns) == READY ? TP_SLOT_READY : TP_SLOT_FENCED;
    case BY_SERVER:
    case BY_OTHERS:
        break;
    }
    return TP_SLOT_REPLACED;
}

enum tp_slot_state tp_slots_glance(const struct tp_slots *s, unsigned slot, int64_t now_ns)
{
    static const enum tp_slot_state away[] = {[TP_PLACE_ACQUIRED] = TP_SLOT_ACQUIRED,
        [TP_PLACE_QUEUED] = TP_SLOT_QUEUED,
        [TP_PLACE_HELD] = TP_SLOT_HELD};
    const struct tp_slot *t = &s->slots[slot];
    if (t->place != TP_PLACE_IDLE)
        return away[t->place];
    if (t->quarantine_ns != NEVER && now_ns < tp_slot_quarantined_until_ns(s, t))
        return TP_SLOT_QUARANTINED;
    enum tp_slot_panel panel = tp_slot_panel(s, t);
    bool fenced = panel == TP_PANEL_FENCED || panel == TP_PANEL_FENCE_AWAY;
    if (fenced && is_implicit(s, t))
        return TP_SLOT_FENCED;
    if (panel != TP_PANEL_FREE && panel != TP_PANEL_FENCED)
        return TP_SLOT_REPLACED;
    for (unsigned i = 0; i < t->n_fences; i++) {
        const struct tp_slot_fence *f = &t->fences[i];
        bool given_up = f->orphan && now_ns >= t->orphans_ns;
        bool is_void = panel == TP_PANEL_FREE && tp_slot_fence_is_servers(s, f);
        if (!given_up && !is_void)
            return TP_SLOT_FENCED;
    }
    return TP_SLOT_READY;
}

/* --- the choice --- */

/* Buffers leave the panel in the order in which they came to it. */
static bool is_sooner(const struct tp_slot *a, const struct tp_slot *b)
{
    return !b || a->order < b->order;
}

static bool is_idler(const struct tp_slot *a, const struct tp_slot *b)
{
    if (!b || a->ready_ns != b->ready_ns)
        return !b || a->ready_ns < b->ready_ns;
    return a->order < b->order;
}

struct standing {
    struct tp_slot *ready;                        /* longest */
    struct tp_slot *gpu, *fence, *server, *clock; /* the first of each, as predicted */
    bool held, queued;
};

static void survey(struct tp_slots *s, int64_t now_ns, struct standing *o)
{
    *o = (struct standing){0};
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i], **at = NULL;
        switch (look(s, t, now_ns)) {
        case READY:
            if (is_idler(t, o->ready))
                o->ready = t;
            break;
        case GPU_WAITS:
            at = &o->gpu;
            break;
        case BY_FENCE:
            at = &o->fence;
            break;
        case BY_SERVER:
            at = &o->server;
            break;
        case BY_CLOCK:
            if (!o->clock || t->quarantine_ns < o->clock->quarantine_ns)
                o->clock = t;
            break;
        case BY_OTHERS:
            o->held |= t->place == TP_PLACE_HELD;
            o->queued |= t->place == TP_PLACE_QUEUED;
            break;
        }
        if (at && is_sooner(t, *at))
            *at = t;
    }
}

/* Of those with all their fences in hand, the first whose have signalled. */
static struct tp_slot *find_signalled(struct tp_slots *s, int64_t now_ns)
{
    struct tp_slot *best = NULL;
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        if (t->place != TP_PLACE_IDLE || t->n_fences == 0)
            continue;
        enum reach r = look(s, t, now_ns);
        if ((r != GPU_WAITS && r != BY_FENCE) || !poll_fences(s, t))
            continue;
        if (look(s, t, now_ns) == READY && is_sooner(t, best))
            best = t;
    }
    return best;
}

static int64_t predict(const struct tp_slots *s, const struct tp_slot *t, int64_t now_ns)
{
    if (t->replaced_ns == NEVER)
        return now_ns;
    return later(now_ns, tp_vblank_first_line_ns(&s->vblank, t->replaced_ns));
}

static void wait_for_panel(struct tp_slots *s, const struct standing *o, struct tp_slots_wait *w)
{
    /* Whichever comes first of those two wakes; the predicted one may be on a word of the board. */
    const struct tp_slot *first = o->fence;
    if (!first || (o->server && is_sooner(o->server, first)))
        first = o->server;
    w->channel = true;
    if (o->fence)
        w->fence = o->fence->fences[0].fence;
    if (o->fence && has_orphan(o->fence) && o->fence->orphans_ns < w->until_ns)
        w->until_ns = o->fence->orphans_ns;
    if (tp_slot_word(s, first, &w->board_low))
        w->board_index = (int)first->name.index;
}

/* Past the bound. True: towards this server nothing better can be known than that. */
static bool incident(struct tp_slots *s, const struct tp_slot *first, int64_t since_ns,
    int64_t now_ns, struct tp_slots_wait *w)
{
    int64_t bound = later(TP_SLOTS_INCIDENT_NS, tp_slots_pass_ns(s));
    bool same = s->in_incident && s->incident_since_ns == since_ns;
    int64_t from_ns = same ? s->asked_ns : since_ns;
    if (now_ns - from_ns < bound) {
        w->until_ns = from_ns + bound < w->until_ns ? from_ns + bound : w->until_ns;
        return false;
    }
    s->counts.release_timeouts += !same;
    s->incident = s->in_incident = true;
    s->incident_since_ns = since_ns;
    s->asked_ns = now_ns;
    w->until_ns = now_ns + bound < w->until_ns ? now_ns + bound : w->until_ns;
    if (s->capabilities & TP_CAP_STATE) {
        w->ask = true;
        w->ask_name = first->name;
        if (first->registration != TP_REG_KNOWN)
            w->ask_name = (struct tp_buffer_name){.index = TP_BUFFER_NO_INDEX}; /* of all */
    }
    return !s->has_board && !(s->capabilities & TP_CAP_STATE) && !has_orphan(first);
}

static void choose(struct tp_slots *s, const struct tp_slot *t, struct tp_slots_choice *out)
{
    out->slot = (int)(t - s->slots);
    out->release_ns = t->ready_ns;
}

void tp_slots_choose(
    struct tp_slots *s, int64_t since_ns, int64_t now_ns, struct tp_slots_choice *out)
{
    struct standing o;
    *out = (struct tp_slots_choice){.slot = -1,
        .release_ns = NEVER,
        .wait = {.until_ns = INT64_MAX, .board_index = -1, .fence = -1}};
    survey(s, now_ns, &o);
    if (!o.ready && (o.gpu || o.fence)) {
        o.ready = find_signalled(s, now_ns);
        if (!o.ready)
            survey(s, now_ns, &o); /* some of their fences are gone */
    }
    if (o.ready) {
        choose(s, o.ready, out);
        return;
    }
    if (o.gpu) {
        choose(s, o.gpu, out);
        out->gpu = true;
        out->release_ns = predict(s, o.gpu, now_ns);
        return;
    }
    struct tp_slots_wait *w = &out->wait;
    w->compositor = o.held;
    w->presents = o.queued;
    if (o.clock)
        w->until_ns = later(tp_slot_quarantined_until_ns(s, o.clock), now_ns);
    out->for_release = o.fence || o.server || o.clock;
    struct tp_slot *first = o.server ? o.server : o.fence;
    if (!first)
        return;
    wait_for_panel(s, &o, w);
    if (!incident(s, first, since_ns, now_ns, w))
        return;
    choose(s, first, out);
    out->unsafe = true;
    out->release_ns = now_ns;
}

void tp_slots_take(struct tp_slots *s, const struct tp_slots_choice *choice, int64_t now_ns,
    struct tp_slots_taken *out)
{
    struct tp_slot *t = &s->slots[choice->slot];
    bool implicit = choice->gpu && is_implicit(s, t) && tp_slot_panel(s, t) != TP_PANEL_FREE;
    *out = (struct tp_slots_taken){
        .slot = (unsigned)choice->slot,
        .implicit = implicit,
        .unsafe = choice->unsafe,
        .ready_ns = t->ready_ns};
    s->counts.unsafe += choice->unsafe;
    if (choice->gpu && !implicit && !poll_fences(s, t)) {
        for (unsigned i = 0; i < t->n_fences; i++)
            out->fences[out->n_fences++] = t->fences[i].fence;
        s->counts.fences -= t->n_fences;
        t->n_fences = 0;
    }
    /* Those of one that is not waited for are kept. */
    if (!choice->unsafe)
        tp_slot_drop_fences(s, t, tp_slot_fence_is_any);
    t->place = TP_PLACE_ACQUIRED;
    t->ready_ns = t->replaced_ns = t->kept_ns = t->quarantine_ns = NEVER;
    t->spent = true;
    t->doubt = t->incomplete = false;
    t->n_open = 0;
    s->in_incident = false;
    (void)now_ns;
}
