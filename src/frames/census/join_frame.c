/* A guest's frames: which pictures showed them, and what that makes of their records. */
#include <string.h>

#include "frames/census/join_internal.h"

#define MHZ_NS INT64_C(1000000000000) /* the period of a mHz */

/* What the panel did with a frame. */
struct shown {
    struct join_picture *first; /* the first that came to be shown; NULL: none did */
    struct join_picture *last;  /* that has the frame's buffer; NULL: none */
    bool over;                  /* all of these have left the panel */
};

static int64_t began_ns(const struct tp_ring_frame *f)
{
    return f->record.presented_ns != TP_NEVER ? f->record.presented_ns : f->record.committed_ns;
}

/* When the buffer of frame i is used for another one; INT64_MAX: not as far as is known. */
static int64_t used_again_ns(const struct join_source *s, unsigned i)
{
    const struct tp_buffer_name *b = &s->frames[i].f.buffer;
    for (unsigned k = i + 1; k < s->n; k++) {
        const struct tp_buffer_name *other = &s->frames[k].f.buffer;
        if (other->generation == b->generation &&
            tp_identity_equal(&other->identity, &b->identity) &&
            began_ns(&s->frames[k].f) != TP_NEVER)
            return began_ns(&s->frames[k].f);
    }
    return INT64_MAX;
}

static bool belongs(const struct join_picture *p, const struct join_frame *f, int64_t until_ns)
{
    const struct tp_frame_record *r = &f->f.record;
    int64_t at = p->p.committed_ns != TP_NEVER ? p->p.committed_ns : p->p.published_ns;
    bool others = p->owner.known && p->owner.guest == TP_JOIN_SCREEN;
    if (others || !join_has_buffer(&f->f.buffer, &p->p) || at < began_ns(&f->f) || at >= until_ns)
        return false;
    /* A release from before it was committed is another frame's. */
    return r->released_ns == TP_NEVER || r->released_ns < r->committed_ns || at <= r->released_ns;
}

static struct shown look(struct tp_join *j, const struct join_source *s, unsigned i)
{
    struct shown out = {.over = true};
    const struct join_frame *f = &s->frames[i];
    if (f->f.buffer.generation == 0 || began_ns(&f->f) == TP_NEVER || !j->screen.heard)
        return out;
    int64_t until_ns = used_again_ns(s, i);
    for (unsigned k = 0; k < j->screen.n; k++) {
        struct join_picture *p = &j->screen.pictures[k];
        if (!belongs(p, f, until_ns))
            continue;
        if (!out.first && p->p.line_ns != TP_NEVER)
            out.first = p;
        out.last = p;
        out.over &= join_is_over(j, p);
    }
    return out;
}

static bool is_complete(struct tp_join *j, const struct join_source *s, unsigned i)
{
    const struct join_frame *f = &s->frames[i];
    const struct tp_frame_record *r = &f->f.record;
    int64_t waited = j->now_ns - f->came_ns;
    if (f->f.buffer.generation == 0 || r->presented_ns == TP_NEVER || !j->screen.heard ||
        waited >= TP_JOIN_WAIT_NS)
        return true;
    struct shown seen = look(j, s, i);
    if (r->dropped && !seen.first)
        return true;
    if (!seen.last) /* a compositor's word is all that there will be */
        return f->f.fed_back && waited >= JOIN_SETTLE_NS;
    /* One whose pictures were all dropped may be in a later one. */
    if (!seen.first && j->screen.shown <= seen.last->p.serial)
        return false;
    return seen.over && j->pass > f->pass;
}

/* --- what is said of it --- */

/* The first tick of this latch or a later one; n_ticks: there is none. */
static unsigned find_latch(const struct join_screen *s, int64_t ns)
{
    unsigned low = 0, high = s->n_ticks;
    while (low < high) {
        unsigned mid = low + (high - low) / 2;
        if (join_tick(s, mid)->latch_ns < ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The last tick that began by then; NULL: none did. */
static const struct join_tick *find_tick(const struct join_screen *s, int64_t ns)
{
    unsigned low = 0, high = s->n_ticks;
    while (low < high) {
        unsigned mid = low + (high - low) / 2;
        if (join_tick(s, mid)->from_ns <= ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? join_tick(s, low - 1) : NULL;
}

static int64_t period_ns(uint32_t mhz)
{
    return mhz > 0 ? MHZ_NS / mhz : MHZ_NS;
}

/* The first refresh whose latch is not before ns. Of some that are not known, by those around. */
static int64_t first_latched(const struct join_screen *s, int64_t ns)
{
    unsigned i = find_latch(s, ns);
    const struct join_tick *before = i > 0 ? join_tick(s, i - 1) : NULL;
    if (i == s->n_ticks) {
        int64_t period = period_ns(before->refresh_mhz), since = ns - before->latch_ns;
        return (int64_t)before->sequence + (since + period - 1) / period;
    }
    const struct join_tick *t = join_tick(s, i);
    int64_t sooner = (t->latch_ns - ns) / period_ns(t->refresh_mhz);
    int64_t missing = before ? (int64_t)(t->sequence - before->sequence) - 1 : sooner;
    return (int64_t)t->sequence - (sooner < missing ? sooner : missing);
}

/* The first refresh that can show what is ready at ns; by, where refreshes are not known. */
static int64_t permit(const struct tp_join *j, int64_t ns, uint64_t by)
{
    const struct join_screen *s = &j->screen;
    if (!s->heard || s->n_ticks == 0 || ns == TP_NEVER)
        return (int64_t)by;
    int64_t first = first_latched(s, ns) + (int64_t)s->pipeline;
    return first < -JOIN_BOUND || first > JOIN_BOUND ? (int64_t)by : first;
}

static int64_t periods(int64_t ns, uint32_t mhz)
{
    return (ns + period_ns(mhz) / 2) / period_ns(mhz);
}

/* A compositor counts as it likes: the refresh is found by its instant. */
static uint64_t count_refreshes(
    const struct tp_join *j, const struct join_source *s, const struct tp_frame_record *f)
{
    const struct join_tick *t =
        j->screen.heard ? find_tick(&j->screen, f->line_ns) : NULL;
    uint64_t n = f->sequence;
    if (t)
        n = t->sequence + (uint64_t)periods(f->line_ns - t->from_ns, t->refresh_mhz);
    else if (s->spacing.frames > 0 && n <= s->last_sequence && f->line_ns > s->last_line_ns)
        n = s->last_sequence + (uint64_t)periods(f->line_ns - s->last_line_ns, f->refresh_mhz);
    return n < (uint64_t)JOIN_BOUND ? n : (uint64_t)JOIN_BOUND;
}

/* The rate that holds for it. */
static uint32_t rate_of(const struct tp_join *j, const struct tp_frame_record *f)
{
    const struct join_screen *s = &j->screen;
    if (!s->heard || s->n_ticks == 0)
        return f->refresh_mhz;
    const struct join_tick *t = f->line_ns != TP_NEVER ? find_tick(s, f->line_ns) : NULL;
    return t ? t->refresh_mhz : join_tick(s, s->n_ticks - 1)->refresh_mhz;
}

/* When it would have been ready, had it waited for nothing but its image's release and the frame
 * before it. */
static int64_t earliest_ns(const struct join_source *s, const struct tp_frame_record *f)
{
    if (f->asked_ns == TP_NEVER || f->acquired_ns == TP_NEVER || f->ready_ns == TP_NEVER)
        return TP_NEVER;
    int64_t at = f->asked_ns + f->release_wait_ns + (f->ready_ns - f->acquired_ns);
    return s->last_ready_ns > at ? s->last_ready_ns : at;
}

static void take_picture(struct tp_frame_record *f, const struct tp_ring_picture *p)
{
    f->published_ns = p->published_ns;
    f->latched_ns = p->latched_ns;
    f->line_ns = p->line_ns;
    f->sequence = p->sequence;
}

/* Its picture's, or a guest's: what is judged by all that is known. */
static void judge(struct tp_join *j, struct tp_spacing *spacing, struct tp_frame_record *f,
    int64_t earliest)
{
    struct tp_shown_verdict v;
    f->refresh_mhz = rate_of(j, f);
    f->variable |= j->screen.heard && j->screen.slowest_mhz > 0;
    if (f->line_ns == TP_NEVER) {
        f->sequence = 0;
        f->permitted = 0;
        return;
    }
    f->permitted = f->variable ? 0 : permit(j, earliest, f->sequence);
    tp_spacing_shown(spacing, f, &v);
    f->repeats = v.repeats;
}

/* The pictures are this frame's from now on. */
static void claim(struct tp_join *j, const struct join_source *s, unsigned i,
    const struct tp_frame_record *f)
{
    const struct join_frame *waiting = &s->frames[i];
    int64_t until_ns = used_again_ns(s, i);
    for (unsigned k = 0; k < j->screen.n && waiting->f.buffer.generation != 0; k++) {
        struct join_picture *p = &j->screen.pictures[k];
        if (belongs(p, waiting, until_ns) && !p->owner.known)
            p->owner = (struct join_owner){true, f->guest, f->number};
    }
}

static void complete(
    struct tp_join *j, struct join_source *s, const struct shown *seen, struct tp_frame_record *f)
{
    if (seen->first) {
        take_picture(f, &seen->first->p);
        if (seen->last->p.released_ns != TP_NEVER)
            f->released_ns = seen->last->p.released_ns;
        f->dropped = false;
        if (f->composed_ns == TP_NEVER)
            f->composed_ns = seen->first->p.committed_ns;
    } else if (seen->last) {
        f->published_ns = seen->last->p.published_ns;
        f->line_ns = TP_NEVER;
        f->dropped = true;
    } else if (f->line_ns != TP_NEVER) {
        f->sequence = count_refreshes(j, s, f);
    }
    judge(j, &s->spacing, f, earliest_ns(s, f));
}

static bool is_torn(const struct tp_join *j, const struct tp_frame_record *f)
{
    for (unsigned i = 0; i < j->screen.n; i++) {
        const struct join_picture *p = &j->screen.pictures[i];
        if (p->torn && p->owner.known && p->owner.guest == f->guest && p->owner.frame == f->number)
            return true;
    }
    return false;
}

void join_tell_first(struct tp_join *j, struct join_source *s)
{
    struct tp_frame_record f = s->frames[0].f.record;
    struct shown seen = look(j, s, 0);
    if (j->screen.heard)
        claim(j, s, 0, &f);
    complete(j, s, &seen, &f);
    f.torn = j->screen.heard && is_torn(j, &f);
    if (f.ready_ns != TP_NEVER)
        s->last_ready_ns = f.ready_ns;
    if (f.line_ns != TP_NEVER) {
        s->last_line_ns = f.line_ns;
        s->last_sequence = f.sequence;
    }
    s->told = true;
    s->last_number = f.number;
    s->n--;
    s->frames++;
    if (j->sink.frame)
        j->sink.frame(j->sink.data, &f);
}

void join_tell_frames(struct tp_join *j, struct join_source *s, bool all)
{
    while (s->n > 0 && (all || is_complete(j, s, 0)))
        join_tell_first(j, s);
}

void join_tell_picture(struct tp_join *j, const struct join_picture *p, uint64_t number)
{
    struct tp_frame_record f = {.number = number,
        .guest = TP_JOIN_SCREEN,
        .dropped = p->p.line_ns == TP_NEVER && p->ended,
        .torn = p->torn,
        .committed_ns = p->p.committed_ns,
        .released_ns = p->p.released_ns};
    int64_t *const unknown[] = {&f.begin_ns, &f.asked_ns, &f.gate_ns, &f.acquired_ns, &f.cpu_ns,
        &f.cpu_to_ns, &f.presented_ns, &f.returned_ns, &f.elsewhere_ns, &f.elsewhere_to_ns,
        &f.write_ns, &f.ready_ns, &f.booked_ns, &f.composed_ns, &f.told_ns};
    for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++)
        *unknown[i] = TP_NEVER;
    take_picture(&f, &p->p);
    judge(j, &j->screen_spacing, &f, p->p.committed_ns);
    if (j->sink.frame)
        j->sink.frame(j->sink.data, &f);
}
