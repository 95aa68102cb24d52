#include "frames/census/spacing.h"

#include "frames/pace/cap.h"

#define GAP 1000000u /* refreshes: longer is a stop, not a stay */

struct phase {
    tp_fine least, most;
};

static tp_fine period_of(const struct tp_frame_record *f)
{
    return tp_fine_of(INT64_C(1000000000000)) / f->refresh_mhz;
}

/*
 * From the last frame's refresh to the latest that the cap allows for this one, at least 1. A cap's
 * clock that is no divisor of the refresh has some phase to it, of which an outsider knows no more
 * than that all frames so far were right by it: off is how far the last frame's instant was from
 * its refresh, at least and at most.
 */
static int64_t spacing(
    const struct tp_spacing *s, const struct tp_frame_record *f, struct phase *off)
{
    tp_fine period = period_of(f);
    off->most = 0;
    if (f->cap_mhz == 0)
        return 1;
    unsigned n = tp_cap_lock(f->cap_mhz, tp_fine_ns(period));
    if (n > 0)
        return n;
    tp_fine edge = period / 2 + period / 16;
    *off = (struct phase){s->least, s->most};
    if (off->most == 0) /* nothing is known */
        *off = (struct phase){-edge, edge};
    off->least += tp_cap_period(f->cap_mhz);
    off->most += tp_cap_period(f->cap_mhz);
    int64_t latest = (int64_t)((off->most + edge) / period);
    return latest > 1 ? latest : 1;
}

/* What that frame has shown of the clock. */
static void narrow(struct tp_spacing *s, tp_fine period, struct phase off, int64_t stay)
{
    tp_fine edge = period / 2 + period / 16;
    s->least = s->most = 0;
    if (off.most == 0)
        return;
    off.least -= stay * period;
    off.most -= stay * period;
    if (off.least > edge || off.most < -edge)
        return; /* it was late, and begins anew */
    off.least = off.least > -edge ? off.least : -edge;
    off.most = off.most < edge ? off.most : edge;
    if (off.most == 0)
        return;
    s->least = off.least;
    s->most = off.most;
}

static void judge(
    struct tp_spacing *s, const struct tp_frame_record *f, struct tp_shown_verdict *out)
{
    struct phase off = {0, 0};
    tp_fine period = period_of(f);
    int64_t at_most = spacing(s, f, &off), stay = (int64_t)(f->sequence - s->last_sequence);
    uint64_t wanted = s->last_sequence + (uint64_t)at_most;
    *out = (struct tp_shown_verdict){.judged = true,
        .wanted = wanted,
        .stay = stay,
        .repeats = f->sequence > wanted ? f->sequence - wanted : 0,
        .spacing_ns = at_most * tp_fine_ns(period)};
    narrow(s, period, off, stay);
}

/* What a record says of a rate is to be judged: a panel that has one, and goes on. */
static bool is_judged(const struct tp_spacing *s, const struct tp_frame_record *f)
{
    return s->frames >= TP_LEFT_OUT && !f->variable && f->refresh_mhz > 0 &&
        f->sequence > s->last_sequence && f->sequence - s->last_sequence <= GAP;
}

void tp_spacing_shown(
    struct tp_spacing *s, const struct tp_frame_record *f, struct tp_shown_verdict *out)
{
    *out = (struct tp_shown_verdict){0};
    if (is_judged(s, f))
        judge(s, f, out);
    s->frames++;
    s->last_sequence = f->sequence;
}
