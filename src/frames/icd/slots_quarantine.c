/* How long the panel may read what a server that is gone gave it, and what is learnt of that. */
#include "frames/icd/slots_internal.h"

#define NEVER INT64_MIN

static int64_t slowest_ns(const struct tp_slots *s)
{
    int64_t period_ns = tp_vblank_period_ns(&s->vblank);
    return s->slowest_ns > period_ns ? s->slowest_ns : period_ns;
}

/* A server's layers leave the panel with the first latch after its end, which is at most a refresh
 * away, and are read until what was latched there is shown. The panel may have gone over to a
 * slower rate just before, and lets go as late as it was seen to, which may be learnt only now. */
int64_t tp_slot_quarantined_until_ns(const struct tp_slots *s, const struct tp_slot *t)
{
    unsigned pipeline = s->vblank.pipeline > s->deepest ? s->vblank.pipeline : s->deepest;
    int64_t refresh_ns = slowest_ns(s);
    int64_t told_ns =
        (pipeline + 2) * (refresh_ns > TP_SLOTS_SIXTY_HZ_NS ? refresh_ns : TP_SLOTS_SIXTY_HZ_NS);
    return t->quarantine_ns + told_ns + s->late * refresh_ns;
}

void tp_slots_screen(struct tp_slots *s, const struct tp_timeline_frame *t)
{
    if (t->period_ns > s->slowest_ns)
        s->slowest_ns = t->period_ns;
    if (t->pipeline > s->deepest)
        s->deepest = t->pipeline;
}

void tp_slots_timeline(struct tp_slots *s, const struct tp_timeline_frame *t)
{
    tp_vblank_sample(&s->vblank, t);
    tp_slots_screen(s, t);
}

/* --- how late it lets go --- */

/* The refresh with which it went, which was seen only now; with a variable rate now itself. */
static int64_t last_refresh_ns(const struct tp_slots *s, int64_t now_ns)
{
    const struct tp_vblank *v = &s->vblank;
    if (!tp_vblank_ticks(v))
        return now_ns;
    int64_t slack = tp_vblank_period_ns(v) / 8; /* the grid is not as exact as that */
    return tp_vblank_latch_ns(v, tp_vblank_index(v, now_ns + slack - v->lead_ns)) + v->lead_ns;
}

/* In whole refreshes, of what was replaced at replaced_ns and let go at gone_ns. */
static unsigned count_late(const struct tp_slots *s, int64_t replaced_ns, int64_t gone_ns)
{
    const struct tp_vblank *v = &s->vblank;
    int64_t period = tp_vblank_period_ns(v), late;
    if (tp_vblank_ticks(v)) { /* what is heard just after a latch may have been before it */
        late = gone_ns - tp_vblank_first_line_ns(v, replaced_ns - v->lead_ns / 2) + period / 2;
    } else {
        late = gone_ns - replaced_ns - (v->pipeline + 1) * period;
        period = slowest_ns(s);
        late += period - 1;
    }
    return late > 0 ? (unsigned)(late / period) : 0;
}

void tp_slot_watch_release(
    struct tp_slots *s, struct tp_slot *t, enum tp_slot_panel panel, int64_t now_ns)
{
    uint32_t low;
    if (t->replaced_ns == NEVER || !tp_slot_word(s, t, &low))
        return; /* without a board nobody tells when it goes */
    if (panel != TP_PANEL_FREE) {
        t->kept_ns = now_ns;
        return;
    }
    int64_t kept_ns = t->kept_ns > t->replaced_ns ? t->kept_ns : t->replaced_ns;
    int64_t gone_ns = last_refresh_ns(s, now_ns);
    if (gone_ns < kept_ns)
        gone_ns = kept_ns;
    /* One that was given up was not late; and it may have gone long before anybody looked. */
    if (gone_ns - t->replaced_ns < TP_SLOTS_SILENCE_NS && now_ns - kept_ns <= tp_slots_pass_ns(s)) {
        unsigned late = count_late(s, t->replaced_ns, gone_ns);
        late = late < TP_SLOTS_LATE_MOST ? late : TP_SLOTS_LATE_MOST;
        if (!s->watched || late > s->late)
            s->late = late;
        s->watched = true;
    }
    t->replaced_ns = t->kept_ns = NEVER;
}
