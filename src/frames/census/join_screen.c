/* The panel's side: which picture is whose, and what its refreshes show. */
#include <string.h>

#include "frames/census/join_internal.h"

/* --- refreshes --- */

const struct join_tick *join_tick(const struct join_screen *s, unsigned i)
{
    return &s->grid[(s->first_tick + i) % JOIN_GRID];
}

static bool fits(const struct join_screen *s, const struct tp_refresh_record *r)
{
    const struct join_tick *last = s->n_ticks > 0 ? join_tick(s, s->n_ticks - 1) : NULL;
    if (!join_is_instant(r->latch_ns) || !join_is_instant(r->from_ns) ||
        !join_is_instant(r->to_ns) || r->sequence > (uint64_t)JOIN_BOUND)
        return false;
    return !last ||
        (r->sequence > last->sequence && r->from_ns > last->from_ns &&
            r->latch_ns >= last->latch_ns);
}

static void add_tick(struct join_screen *s, const struct tp_refresh_record *r)
{
    if (s->n_ticks == JOIN_GRID) {
        s->first_tick = (s->first_tick + 1) % JOIN_GRID;
        s->n_ticks--;
    }
    s->grid[(s->first_tick + s->n_ticks++) % JOIN_GRID] =
        (struct join_tick){r->sequence, r->refresh_mhz, r->latch_ns, r->from_ns};
}

static struct join_picture *find(struct join_screen *s, uint64_t serial)
{
    for (unsigned i = s->n; i-- > 0;)
        if (s->pictures[i].p.serial == serial)
            return &s->pictures[i];
    return NULL;
}

static struct join_owner owner_of(struct join_screen *s, uint64_t serial)
{
    const struct join_picture *p = find(s, serial);
    if (p)
        return p->owner;
    for (unsigned i = 0; i < JOIN_DECIDED; i++)
        if (s->decided[i].serial == serial && s->decided[i].owner.known)
            return s->decided[i].owner;
    return (struct join_owner){0};
}

/* Whose it is that it shows is not known: then it is told as one that shows nothing. */
static void tell_first_refresh(struct tp_join *j, struct join_owner owner)
{
    struct join_screen *s = &j->screen;
    struct tp_refresh_record *r = &s->refreshes[s->first_refresh].r.record;
    r->shows = owner.known;
    r->guest = owner.guest;
    r->frame = owner.frame;
    if (j->sink.refresh)
        j->sink.refresh(j->sink.data, r);
    s->first_refresh = (s->first_refresh + 1) % JOIN_REFRESHES;
    s->n_refreshes--;
}

void join_put_refresh(struct tp_join *j, const struct tp_ring_refresh *r)
{
    struct join_screen *s = &j->screen;
    if (!fits(s, &r->record)) {
        join_lose(j, TP_JOIN_SCREEN, 1);
        return;
    }
    add_tick(s, &r->record);
    if (s->n_refreshes == JOIN_REFRESHES)
        tell_first_refresh(j, owner_of(s, s->refreshes[s->first_refresh].r.serial));
    unsigned at = (s->first_refresh + s->n_refreshes++) % JOIN_REFRESHES;
    s->refreshes[at].r = *r;
    s->refreshes[at].came_ns = j->now_ns;
    struct tp_refresh_record *kept = &s->refreshes[at].r.record;
    join_check_instant(&kept->torn_ns);
    struct join_picture *p = r->record.shows ? find(s, r->serial) : NULL;
    if (p && kept->torn_ns != TP_NEVER)
        p->torn = true;
    if (r->record.shows && r->serial > s->shown)
        s->shown = r->serial;
}

/* --- pictures --- */

static bool has_guest(const struct tp_ring_picture *p)
{
    for (unsigned i = 0; i < p->n_layers; i++)
        if (p->layers[i].generation != 0)
            return true;
    return false;
}

bool join_is_over(const struct tp_join *j, const struct join_picture *p)
{
    if (p->ended && p->p.dropped)
        return true;
    if (p->ended && j->now_ns - p->ended_ns >= JOIN_SETTLE_NS) /* the screen is off */
        return true;
    return p->passed_ns != TP_NEVER && (p->ended || j->now_ns - p->passed_ns >= JOIN_SETTLE_NS);
}

static bool has_swapchains(const struct tp_join *j)
{
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        if (j->sources[i].used && j->sources[i].guest != TP_JOIN_SCREEN)
            return true;
    return false;
}

/* No guest will claim it any more. Where none is heard, one may be in a moment. */
static bool is_nobodys(const struct tp_join *j, const struct join_picture *p, bool guests)
{
    int64_t wait_ns = guests ? TP_JOIN_WAIT_NS : JOIN_SETTLE_NS;
    if (!has_guest(&p->p))
        return true;
    return (p->ended && j->now_ns - p->ended_ns >= wait_ns) ||
        (p->passed_ns != TP_NEVER && j->now_ns - p->passed_ns >= wait_ns);
}

static void own(struct tp_join *j, struct join_picture *p)
{
    if (p->owner.known)
        return;
    p->owner = (struct join_owner){true, TP_JOIN_SCREEN, j->next_number++};
    j->screen.numbered = p->p.serial;
}

static void tell_picture(struct tp_join *j, const struct join_picture *p)
{
    struct join_screen *s = &j->screen;
    if (p->owner.known && p->owner.guest == TP_JOIN_SCREEN)
        join_tell_picture(j, p, p->owner.frame);
    s->last_decided = (s->last_decided + 1) % JOIN_DECIDED;
    s->decided[s->last_decided].serial = p->p.serial;
    s->decided[s->last_decided].owner = p->owner;
    s->popped = p->p.serial;
}

/* So many of the first. */
static void pop(struct join_screen *s, unsigned n)
{
    s->n -= n;
    memmove(s->pictures, s->pictures + n, s->n * sizeof *s->pictures);
}

static void pop_crowd(struct tp_join *j)
{
    struct join_screen *s = &j->screen;
    for (unsigned i = 0; i < JOIN_CROWD; i++) {
        own(j, &s->pictures[i]);
        tell_picture(j, &s->pictures[i]);
    }
    pop(s, JOIN_CROWD);
}

static void check_picture(struct tp_ring_picture *p)
{
    join_check_instant(&p->committed_ns);
    join_check_instant(&p->published_ns);
    join_check_instant(&p->latched_ns);
    join_check_instant(&p->line_ns);
    join_check_instant(&p->released_ns);
    if (p->sequence > (uint64_t)JOIN_BOUND || p->dropped)
        p->line_ns = TP_NEVER;
    if (p->n_layers > TP_RING_LAYERS)
        p->n_layers = TP_RING_LAYERS;
}

void join_put_picture(struct tp_join *j, const struct tp_ring_picture *p)
{
    struct join_screen *s = &j->screen;
    struct join_picture *old = find(s, p->serial);
    if (!old && p->serial <= s->popped && p->released_ns != TP_NEVER)
        return; /* it was told when it had been waited for long enough */
    if (!old && (p->serial <= s->popped || p->serial <= s->numbered)) {
        join_lose(j, TP_JOIN_SCREEN, 1);
        return;
    }
    if (!old) {
        if (s->n == JOIN_PICTURES)
            pop_crowd(j);
        unsigned at = s->n++;
        for (; at > 0 && s->pictures[at - 1].p.serial > p->serial; at--)
            s->pictures[at] = s->pictures[at - 1];
        old = &s->pictures[at];
        *old = (struct join_picture){.passed_ns = TP_NEVER};
    }
    bool was_ended = old->ended;
    old->p = *p;
    check_picture(&old->p);
    old->ended = was_ended || p->dropped || old->p.released_ns != TP_NEVER;
    if (old->ended && !was_ended)
        old->ended_ns = j->now_ns;
}

/* --- what is told --- */

/* The screen's frames are numbered in the order of its pictures: one that may still be a guest's
 * holds up those after it. In the end such a one is nobody's: its frame was not told. */
static void own_nobodys(struct tp_join *j, bool all)
{
    struct join_screen *s = &j->screen;
    bool guests = has_swapchains(j);
    for (unsigned i = 0; i < s->n; i++) {
        struct join_picture *p = &s->pictures[i];
        if (p->owner.known)
            continue;
        if (is_nobodys(j, p, guests))
            own(j, p);
        else if (!all)
            return;
    }
}

static void tell_refreshes(struct tp_join *j, bool all)
{
    struct join_screen *s = &j->screen;
    while (s->n_refreshes > 0) {
        const struct tp_ring_refresh *r = &s->refreshes[s->first_refresh].r;
        struct join_owner owner = {0};
        if (r->record.shows)
            owner = owner_of(s, r->serial);
        bool waits = r->record.shows && !owner.known &&
            j->now_ns - s->refreshes[s->first_refresh].came_ns < TP_JOIN_WAIT_NS;
        if (waits && !all)
            return;
        tell_first_refresh(j, owner);
    }
}

void join_note_passed(struct tp_join *j)
{
    struct join_screen *s = &j->screen;
    for (unsigned i = 0; i < s->n; i++)
        if (s->pictures[i].passed_ns == TP_NEVER && s->pictures[i].p.serial < s->shown)
            s->pictures[i].passed_ns = j->now_ns;
}

void join_tell_screen(struct tp_join *j, bool all)
{
    struct join_screen *s = &j->screen;
    if (!s->heard)
        return;
    own_nobodys(j, all);
    unsigned told = 0;
    for (; told < s->n; told++) {
        const struct join_picture *p = &s->pictures[told];
        if (!all && !(p->owner.known && join_is_over(j, p)))
            break;
        tell_picture(j, p);
    }
    pop(s, told);
    tell_refreshes(j, all);
}
