/*
 * How others pace, to compare the gate with: nothing of this ships. They hold a frame's begin, as a
 * limiter does that sits in the present before it. No pacing, which in a FIFO is a naive one, is
 * the gate's mode off.
 */
#include "frames/pace/cap.h"
#include "frames/world/internal.h"

/* Every n-th refresh, with the refresh divided by the cap, rounded down. */
static int64_t after_refreshes(const struct world *w)
{
    uint32_t cap = w->c->gate.cap_mhz;
    int64_t n = cap > 0 && cap < w->c->refresh_mhz ? w->c->refresh_mhz / cap : 1;
    int64_t at = (int64_t)w->policy_refresh + n;
    int64_t next = (int64_t)w->scan.sequence + (w->now > w->scan.time_ns);
    at = at > next ? at : next;
    return w->scan.time_ns + (at - (int64_t)w->scan.sequence) * panel_period(w);
}

/* A time after the last frame began, wherever the refresh is. */
static int64_t after_delay(const struct world *w)
{
    uint32_t cap = w->c->gate.cap_mhz > 0 ? w->c->gate.cap_mhz : w->c->refresh_mhz;
    return w->policy_start == NEVER ? w->now : w->policy_start + tp_fine_ns(tp_cap_period(cap));
}

bool policy_holds(struct world *w, int64_t *until)
{
    if (w->c->policy == TP_POLICY_GATE)
        return false;
    *until = w->c->policy == TP_POLICY_DIVIDER ? after_refreshes(w) : after_delay(w);
    if (*until > w->now)
        return true;
    w->policy_start = w->now;
    w->policy_refresh = w->scan.sequence;
    return false;
}
