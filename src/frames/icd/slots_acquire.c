#include "frames/icd/slots_acquire.h"

#include "frames/icd/slots_internal.h"

#define PLANS 4u /* a sleep that is prolonged more often would be without end */
#define WORTH_NS 1000000

enum { BEGUN, ON_SLOT, ON_RELEASE, ON_GATE };

void tp_acquire_begin(struct tp_acquire *a, struct tp_slots *s, struct tp_gate *g, int64_t now_ns,
    uint64_t timeout_ns)
{
    *a = (struct tp_acquire){.slots = s,
        .gate = g,
        .begun_ns = now_ns,
        .deadline_ns = INT64_MAX,
        .since_ns = now_ns,
        .poll = timeout_ns == 0,
        .doing = BEGUN};
    if (timeout_ns < (uint64_t)(INT64_MAX - now_ns))
        a->deadline_ns = now_ns + (int64_t)timeout_ns;
}

/* Another part of the wait begins; the one before is over. */
static void turn_to(struct tp_acquire *a, int doing, int64_t now_ns)
{
    int64_t *spent[] = {NULL, &a->slot_ns, &a->release_ns, &a->gate_ns};
    if (a->doing == doing)
        return;
    if (spent[a->doing])
        *spent[a->doing] += now_ns - a->since_ns;
    a->doing = doing;
    a->since_ns = now_ns;
}

static enum tp_acquire_end wait_until(
    struct tp_acquire *a, int64_t now_ns, struct tp_slots_wait *w, int doing)
{
    if (a->poll)
        return TP_ACQUIRE_NOT_READY;
    if (now_ns >= a->deadline_ns)
        return TP_ACQUIRE_TIMEOUT;
    turn_to(a, doing, now_ns);
    if (w->until_ns > a->deadline_ns)
        w->until_ns = a->deadline_ns;
    if (doing == ON_SLOT && !a->waited_slot) {
        a->waited_slot = true;
        tp_slots_count_wait(a->slots, false);
    } else if (doing == ON_RELEASE && !a->waited_release) {
        a->waited_release = true;
        tp_slots_count_wait(a->slots, true);
    }
    return TP_ACQUIRE_WAIT;
}

/* True: it is to start later. Once the instant that was slept to has come, what became known in the
 * meantime counts, frames that are late above all; not that the grid has moved a little. With
 * another grid that instant is none, and the plan's latch is counted at another rate. */
static bool plan(struct tp_acquire *a, const struct tp_slots_choice *c, int64_t now_ns)
{
    struct tp_gate_plan p;
    unsigned grids = tp_gate_vblank(a->gate)->grids;
    if (grids != a->grids)
        a->plans = 0;
    a->grids = grids;
    if (a->plans > 0 && a->plan.start_ns > now_ns)
        return true;
    tp_gate_plan(a->gate, a->begun_ns, now_ns, c->release_ns, c->gpu, &p);
    bool later = a->plans < PLANS && p.start_ns > a->plan.start_ns + WORTH_NS;
    if (a->plans > 0 && !later) { /* now, and for the latch that is seen now */
        p.start_ns = a->plan.start_ns;
        p.grid_ns = a->plan.grid_ns;
    }
    a->plan = p;
    a->plans++;
    return p.start_ns > now_ns;
}

enum tp_acquire_end tp_acquire_step(
    struct tp_acquire *a, int64_t now_ns, struct tp_slots_wait *wait, struct tp_acquired *out)
{
    struct tp_slots_choice c;
    /* The bound is for the panel: what was waited for before counts for nothing. */
    int64_t since_ns = a->doing == ON_RELEASE ? a->since_ns : now_ns;
    tp_slots_choose(a->slots, since_ns, now_ns, &c);
    if (c.slot < 0) {
        *wait = c.wait;
        return wait_until(a, now_ns, wait, c.for_release ? ON_RELEASE : ON_SLOT);
    }
    if (a->gate && plan(a, &c, now_ns)) {
        *wait =
            (struct tp_slots_wait){.until_ns = a->plan.start_ns, .board_index = -1, .fence = -1};
        return wait_until(a, now_ns, wait, ON_GATE);
    }
    turn_to(a, BEGUN, now_ns);
    *out = (struct tp_acquired){
        .slot_ns = a->slot_ns, .release_ns = a->release_ns, .gate_ns = a->gate_ns};
    tp_slots_take(a->slots, &c, now_ns, &out->image);
    if (a->gate)
        out->frame = tp_gate_book(a->gate, &a->plan, now_ns);
    return TP_ACQUIRE_TAKEN;
}
