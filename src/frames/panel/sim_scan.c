#include "frames/panel/sim_scan.h"

#include <errno.h>
#include <string.h>

#define MHZ_NS INT64_C(1000000000000) /* the period of a mHz */

static int64_t period_ns(const struct tp_scan_mode *m)
{
    return MHZ_NS / m->refresh_mhz;
}

static bool is_possible(const struct tp_scan_mode *m, int64_t lead_ns)
{
    return m->refresh_mhz > 0 && m->active_lines > 0 && m->slowest_mhz <= m->refresh_mhz &&
        lead_ns < period_ns(m);
}

int tp_scan_init(struct tp_scan *s, const struct tp_scan_mode *mode, int64_t lead_ns,
    unsigned pipeline, int64_t start_ns)
{
    if (lead_ns < 0 || pipeline > TP_SCAN_PIPELINE || !is_possible(mode, lead_ns))
        return -EINVAL;
    memset(s, 0, sizeof *s);
    s->mode = *mode;
    s->lead_ns = lead_ns;
    s->pipeline = pipeline;
    s->sequence = UINT64_MAX; /* of the one before 0 */
    tp_scan_set_power(s, true, start_ns);
    return 0;
}

/* --- the grid --- */

int64_t tp_scan_refresh_ns(const struct tp_scan *s, uint64_t sequence)
{
    int64_t n = (int64_t)(sequence - s->base_sequence), mhz = s->mode.refresh_mhz;
    return s->base_ns + n / mhz * MHZ_NS + n % mhz * MHZ_NS / mhz;
}

int64_t tp_scan_line_ns(const struct tp_scan *s, uint32_t line)
{
    int64_t lines = (int64_t)s->mode.active_lines + s->mode.blanking_lines;
    return s->time_ns + (int64_t)line * MHZ_NS / s->mode.refresh_mhz / lines;
}

/* The line that is read at t; active_lines: none any more. */
static uint32_t line_at(const struct tp_scan *s, int64_t t)
{
    int64_t lines = (int64_t)s->mode.active_lines + s->mode.blanking_lines;
    if (t >= tp_scan_line_ns(s, s->mode.active_lines))
        return s->mode.active_lines;
    return (uint32_t)((t - s->time_ns) * s->mode.refresh_mhz * lines / MHZ_NS);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- when what is next --- */

static bool is_variable(const struct tp_scan *s)
{
    return s->mode.slowest_mhz > 0;
}

/* With a variable rate: when what is shown is shown again, if nothing comes. */
static int64_t repeat_ns(const struct tp_scan *s)
{
    int64_t shortest = period_ns(&s->mode), longest = MHZ_NS / s->mode.slowest_mhz;
    int64_t at = s->time_ns + longest;
    if (s->interval_ns <= longest || s->mode.refresh_mhz < 2 * s->mode.slowest_mhz)
        return at;
    int64_t parts = (s->interval_ns + longest - 1) / longest, part = (int64_t)s->repeated + 1;
    if (part >= parts)
        return at;
    int64_t even = later(s->fresh_ns + s->interval_ns * part / parts, s->time_ns + shortest);
    return even < at ? even : at;
}

static int64_t next_refresh_ns(const struct tp_scan *s)
{
    if (!is_variable(s))
        return tp_scan_refresh_ns(s, s->sequence + 1);
    int64_t soonest = s->time_ns + period_ns(&s->mode), at = repeat_ns(s);
    if (s->n_taken > 0 && later(s->taken[0].first_ns, soonest) < at)
        at = later(s->taken[0].first_ns, soonest);
    if (s->switching && later(s->switch_ns, soonest) < at)
        at = later(s->switch_ns, soonest);
    return at;
}

static int64_t next_latch_ns(const struct tp_scan *s)
{
    if (!is_variable(s))
        return s->latched ? TP_SCAN_NEVER : tp_scan_refresh_ns(s, s->sequence + 1) - s->lead_ns;
    if (s->n_queue == 0 || s->n_taken > s->pipeline || s->queue[0].ready_ns == TP_SCAN_NEVER)
        return TP_SCAN_NEVER;
    int64_t period = period_ns(&s->mode);
    int64_t before = s->n_taken > 0 ? s->taken[s->n_taken - 1].first_ns : s->time_ns;
    int64_t at = before + period - (int64_t)s->pipeline * period - s->lead_ns;
    if (s->queue[0].kind == TP_SCAN_ASYNC) /* till then it is a flip */
        at = later(at, tp_scan_line_ns(s, s->mode.active_lines));
    return later(later(at, s->queue[0].ready_ns), s->now_ns);
}

static int64_t next_flip_ns(const struct tp_scan *s)
{
    const struct tp_scan_entry *head = &s->queue[0];
    if (s->n_queue == 0 || head->kind != TP_SCAN_ASYNC || s->n_taken > 0 ||
        head->ready_ns == TP_SCAN_NEVER)
        return TP_SCAN_NEVER;
    int64_t at = later(head->ready_ns, s->now_ns);
    if (is_variable(s) && at >= tp_scan_line_ns(s, s->mode.active_lines))
        return TP_SCAN_NEVER; /* the refresh waits for it */
    return at;
}

int64_t tp_scan_next(const struct tp_scan *s)
{
    if (s->n_events > 0)
        return s->events[s->first_event].time_ns;
    if (!s->on)
        return TP_SCAN_NEVER;
    int64_t at = next_refresh_ns(s), latch = next_latch_ns(s), flip = next_flip_ns(s);
    at = latch < at ? latch : at;
    return flip < at ? flip : at;
}

/* --- what happens then --- */

static struct tp_scan_event *tell(
    struct tp_scan *s, enum tp_scan_event_type type, uint64_t serial, int64_t at)
{
    unsigned i = (s->first_event + s->n_events++) % TP_SCAN_EVENTS;
    s->events[i] = (struct tp_scan_event){.type = type,
        .time_ns = at,
        .serial = serial,
        .sequence = s->sequence,
        .end_ns = tp_scan_line_ns(s, s->mode.active_lines),
        .period_ns = period_ns(&s->mode)};
    return &s->events[i];
}

static void drop(struct tp_scan *s, uint64_t serial, int64_t at)
{
    s->counts.dropped++;
    tell(s, TP_SCAN_DROP, serial, at);
}

static void forget(struct tp_scan_entry *list, unsigned *n, unsigned gone)
{
    *n -= gone;
    memmove(list, list + gone, *n * sizeof *list);
}

/* How many of the queue's first go together at this instant: the last of them is shown, the others
 * never are. */
static unsigned count_due(const struct tp_scan *s, int64_t at)
{
    unsigned n = 0;
    while (n < s->n_queue && s->queue[n].ready_ns <= at &&
        (n == 0 || s->queue[n].kind == TP_SCAN_MAILBOX ||
            (s->queue[n].kind == TP_SCAN_ASYNC && s->queue[0].kind == TP_SCAN_ASYNC)))
        n++;
    return n;
}

static void latch(struct tp_scan *s, int64_t at)
{
    int64_t period = period_ns(&s->mode);
    unsigned n = count_due(s, at);
    s->latched = true;
    if (n == 0 || s->n_taken == sizeof s->taken / sizeof *s->taken ||
        (!is_variable(s) && s->queue[0].kind == TP_SCAN_ASYNC))
        return;
    for (unsigned i = 0; i + 1 < n; i++)
        drop(s, s->queue[i].serial, at);
    struct tp_scan_entry e = s->queue[n - 1],
                         *before = s->n_taken ? &s->taken[s->n_taken - 1] : NULL;
    e.sequence = s->sequence + 1 + s->pipeline;
    if (is_variable(s))
        e.sequence = s->sequence + 1 + s->n_taken;
    else if (before && before->sequence >= e.sequence)
        e.sequence = before->sequence + 1;
    e.first_ns = at + s->lead_ns + (int64_t)s->pipeline * period;
    if (before)
        e.first_ns = later(e.first_ns, before->first_ns + period);
    forget(s->queue, &s->n_queue, n);
    s->taken[s->n_taken++] = e;
    tell(s, TP_SCAN_LATCH, e.serial, at)->sequence = e.sequence;
}

/* The one that was shown is not any more. */
static void let_go(struct tp_scan *s, uint64_t serial, bool unseen, int64_t at)
{
    if (serial == 0)
        return;
    if (unseen)
        drop(s, serial, at);
    else
        tell(s, TP_SCAN_RELEASE, serial, at);
}

/* Its first line is shown. */
static void begin(struct tp_scan *s, int64_t at)
{
    s->counts.shown++;
    s->interval_ns = s->counts.shown > 1 ? at - s->fresh_ns : 0;
    s->fresh_ns = at;
    s->repeated = 0;
    s->unseen = false;
}

static void switch_mode(struct tp_scan *s)
{
    s->mode = s->next_mode;
    s->switching = false;
    s->base_ns = s->time_ns;
    s->base_sequence = s->sequence;
}

static void refresh(struct tp_scan *s, int64_t at)
{
    uint64_t before = s->shown;
    bool was_unseen = s->unseen, fresh = s->unseen;
    s->sequence++;
    s->time_ns = at;
    s->latched = s->torn = false;
    s->counts.refreshes++;
    if (s->n_taken > 0 &&
        (is_variable(s) ? s->taken[0].first_ns <= at : s->taken[0].sequence <= s->sequence)) {
        s->shown = s->taken[0].serial;
        forget(s->taken, &s->n_taken, 1);
        fresh = true;
    }
    if (s->switching)
        switch_mode(s);
    if (fresh) {
        begin(s, at);
    } else if (s->shown) {
        s->repeated++;
        s->counts.repeats++;
    }
    tell(s, TP_SCAN_REFRESH, s->shown, at)->fresh = fresh;
    if (s->shown != before)
        let_go(s, before, was_unseen, at);
}

static void flip(struct tp_scan *s, int64_t at)
{
    unsigned n = count_due(s, at);
    uint64_t before = s->shown;
    bool was_unseen = s->unseen;
    for (unsigned i = 0; i + 1 < n; i++)
        drop(s, s->queue[i].serial, at);
    s->shown = s->queue[n - 1].serial;
    forget(s->queue, &s->n_queue, n);
    struct tp_scan_event *e = tell(s, TP_SCAN_FLIP, s->shown, at);
    e->line = line_at(s, at);
    e->fresh = e->line < s->mode.active_lines;
    s->unseen = true;
    if (e->fresh) {
        s->counts.async_tears += before && e->line > 0 && !s->torn;
        s->torn = s->torn || (before && e->line > 0);
        begin(s, at);
    }
    let_go(s, before, was_unseen, at);
}

bool tp_scan_step(struct tp_scan *s, int64_t now_ns, struct tp_scan_event *out)
{
    while (s->n_events == 0) {
        int64_t at = tp_scan_next(s);
        if (at > now_ns || at == TP_SCAN_NEVER)
            return false;
        if (next_latch_ns(s) == at)
            latch(s, at);
        else if (next_refresh_ns(s) == at)
            refresh(s, at);
        else
            flip(s, at);
        s->now_ns = at;
    }
    *out = s->events[s->first_event];
    s->first_event = (s->first_event + 1) % TP_SCAN_EVENTS;
    s->n_events--;
    return true;
}

/* --- orders --- */

int tp_scan_publish(
    struct tp_scan *s, uint64_t serial, enum tp_scan_kind kind, bool ready, int64_t now_ns)
{
    if (!s->on)
        return -ENODEV;
    if (s->n_queue == TP_SCAN_QUEUE)
        return -EAGAIN;
    s->queue[s->n_queue++] = (struct tp_scan_entry){
        .serial = serial, .kind = kind, .ready_ns = ready ? now_ns : TP_SCAN_NEVER};
    return 0;
}

void tp_scan_ready(struct tp_scan *s, uint64_t serial, int64_t now_ns)
{
    for (unsigned i = 0; i < s->n_queue; i++)
        if (s->queue[i].serial == serial && s->queue[i].ready_ns == TP_SCAN_NEVER)
            s->queue[i].ready_ns = now_ns;
}

int tp_scan_set_mode(struct tp_scan *s, const struct tp_scan_mode *mode, int64_t now_ns)
{
    if (!is_possible(mode, s->lead_ns))
        return -EINVAL;
    s->next_mode = *mode;
    s->switching = true;
    s->switch_ns = now_ns;
    return 0;
}

void tp_scan_set_power(struct tp_scan *s, bool on, int64_t now_ns)
{
    if (on == s->on)
        return;
    s->on = on;
    s->now_ns = now_ns;
    if (!on) {
        for (unsigned i = 0; i < s->n_taken; i++)
            drop(s, s->taken[i].serial, now_ns);
        for (unsigned i = 0; i < s->n_queue; i++)
            drop(s, s->queue[i].serial, now_ns);
        let_go(s, s->shown, s->unseen, now_ns);
        s->n_taken = s->n_queue = 0;
        s->shown = 0;
        s->unseen = false;
        s->interval_ns = 0; /* there is nothing to repeat */
        return;
    }
    if (s->switching)
        s->mode = s->next_mode;
    s->switching = false;
    /* The next refresh is now; its latch is past. */
    s->base_ns = now_ns;
    s->base_sequence = s->sequence + 1;
    s->time_ns = now_ns - (is_variable(s) ? MHZ_NS / s->mode.slowest_mhz : period_ns(&s->mode));
    s->latched = true;
}
