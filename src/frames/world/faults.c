/*
 * What goes wrong all at once: who dies, stalls or goes away, and how it comes back. It happens at
 * any instant of a refresh, or between any two events. (What goes wrong with a single note or fence
 * happens where that is sent.)
 */
#include "frames/world/internal.h"

#define MS INT64_C(1000000)
#define NOTICE_NS 2000000 /* until the guest sees that its server's end is closed, at most */

static const enum tp_world_fault rolled[] = {TP_FAULT_SERVER_CRASH, TP_FAULT_COMPOSITOR_CRASH,
    TP_FAULT_COMPOSITOR_STALL, TP_FAULT_SLOW_READER, TP_FAULT_REFRESH_SWITCH, TP_FAULT_PANEL_OFF};

/* It is away for as long as a start takes. */
static void come_back(struct world *w, enum tp_world_fault f)
{
    int64_t most = f == TP_FAULT_SERVER_CRASH ? w->c->restart_ns : 0;
    int64_t away =
        most > 0 ? (int64_t)dice(w, (uint64_t)most) : 20 * MS + (int64_t)dice(w, 130 * MS);
    push(w, w->now + away, EVENT_FAULT, f, 0);
}

/* It dies, and its layers with it: what the panel has been given it still shows, until that. */
static bool crash_server(struct world *w)
{
    struct server *s = &w->server;
    if (!s->up)
        return false;
    tell(w, "the server dies");
    s->dead = dice(w, 2); /* else it ends in order, and takes its words back */
    tp_notes_destroy(s->notes);
    s->notes = NULL;
    s->ended = s->peer != NULL || s->ended;
    if (s->peer)
        push(w, w->now + HOP_NS + (int64_t)dice(w, NOTICE_NS), EVENT_CLOSED, 0, s->sessions);
    s->peer = NULL;
    s->up = s->ticks = s->dead = false;
    count_uses(w, w->forgotten);
    uint64_t serial = ++s->serial;
    w->serials[serial % FRAMES] = 0;
    w->panel_has[serial % FRAMES] = false;
    tp_scan_publish(&w->scan, serial, TP_SCAN_MAILBOX, true, w->now);
    s->published = 0;
    w->watch = (struct watch){.at = w->now}; /* what is long is counted from here on */
    come_back(w, TP_FAULT_SERVER_CRASH);
    return true;
}

/* It dies, with all that the panel does not have yet; its picture stays, or goes with it. */
static bool crash_compositor(struct world *w)
{
    struct compositor *c = &w->compositor;
    struct server *s = &w->server;
    if (c->away)
        return false;
    tell(w, "the compositor dies");
    for (; c->n > 0; c->n--) {
        lose_frame(w, frame_at(w, c->queue[c->first]));
        c->first = (c->first + 1) % FRAMES;
    }
    if (s->has_commit)
        lose_frame(w, frame_at(w, s->commit));
    s->has_commit = c->flipping = false;
    c->away = true;
    c->lives++;
    c->showing = -1;
    c->stalled_until = w->now;
    if (s->up && w->scan.on && dice(w, 2))
        show_blank(w);
    if (composes(w))
        die_composing(w);
    tp_slots_compositor_gone(w->guest.slots, w->now);
    come_back(w, TP_FAULT_COMPOSITOR_CRASH);
    return true;
}

static bool stall_compositor(struct world *w)
{
    struct compositor *c = &w->compositor;
    if (w->now < c->stalled_until || c->away)
        return false;
    tell(w, "the compositor stalls");
    c->stalled_until = w->now + 50 * MS + (int64_t)dice(w, 400 * MS);
    push(w, c->stalled_until, EVENT_FAULT, TP_FAULT_COMPOSITOR_STALL, 0);
    return true;
}

static bool switch_rate(struct world *w)
{
    static const uint32_t rates[] = {60000, 72000, 90000, 120000, 144000};
    struct tp_scan_mode m = w->scan.mode;
    m.refresh_mhz = rates[dice(w, sizeof rates / sizeof *rates)];
    if (m.slowest_mhz > 0 || !w->scan.on)
        return false;
    tp_scan_set_mode(&w->scan, &m, w->now);
    w->slowest_ns = max_ns(w->slowest_ns, period_of(m.refresh_mhz));
    return true;
}

static bool switch_off(struct world *w)
{
    struct server *s = &w->server;
    if (!s->up || !w->scan.on)
        return false;
    tell(w, "the screen goes off");
    tp_scan_set_power(&w->scan, false, w->now);
    for (struct tp_scan_event e; tp_scan_step(&w->scan, w->now, &e);)
        scan_event(w, &e);
    w->screens++;
    for (unsigned i = 0; i < w->n_panel; i++) {
        struct image *m = &w->panel[i];
        m->uses = 0;
        if (m->read_to > w->now)
            m->read_to = w->now;
    }
    tp_notes_away(s->notes, 0, true);
    tell_timeline(w, w->now, true);
    push(w, w->now + 50 * MS + (int64_t)dice(w, 300 * MS), EVENT_FAULT, TP_FAULT_PANEL_OFF, 0);
    if (s->has_commit)
        publish(w, s->commit);
    return true;
}

static bool slow_reader(struct world *w)
{
    if (w->now < w->guest.reads_from)
        return false;
    w->guest.reads_from = w->now + (int64_t)dice(w, 400 * MS);
    return true;
}

void begin_fault(struct world *w, enum tp_world_fault f)
{
    bool happens = false;
    switch (f) {
    case TP_FAULT_SERVER_CRASH:
        happens = crash_server(w);
        break;
    case TP_FAULT_COMPOSITOR_CRASH:
        happens = crash_compositor(w);
        break;
    case TP_FAULT_COMPOSITOR_STALL:
        happens = stall_compositor(w);
        break;
    case TP_FAULT_PANEL_OFF:
        happens = switch_off(w);
        break;
    case TP_FAULT_REFRESH_SWITCH:
        happens = switch_rate(w);
        break;
    case TP_FAULT_SLOW_READER:
        happens = slow_reader(w);
        break;
    default:
        break;
    }
    w->out->injected[f] += happens;
    if (happens)
        fault_comes_or_ends(w);
}

void roll_faults(struct world *w)
{
    for (unsigned i = 0; i < sizeof rolled / sizeof *rolled; i++)
        if (falls(w, rolled[i]))
            push(w, w->now + (int64_t)dice(w, (uint64_t)panel_period(w)), EVENT_STRIKE, rolled[i],
                0);
}

void end_fault(struct world *w, enum tp_world_fault f)
{
    struct server *s = &w->server;
    struct compositor *c = &w->compositor;
    fault_comes_or_ends(w);
    switch (f) {
    case TP_FAULT_SERVER_CRASH:
        tell(w, "the server is back");
        start_server(w);
        if (!s->ended) /* else it is connected to yet, and has not noticed */
            connect_screened(w);
        if (!w->scan.on)
            tp_notes_away(s->notes, 0, true);
        if (s->has_commit) /* the compositor sets its mode anew, with what it has */
            publish(w, s->commit);
        break;
    case TP_FAULT_COMPOSITOR_CRASH:
        tell(w, "the compositor is back");
        c->away = false;
        if (composes(w))
            start_composing(w);
        guest_resume(w);
        break;
    case TP_FAULT_COMPOSITOR_STALL:
        commit_next(w);
        break;
    case TP_FAULT_PANEL_OFF:
        tell(w, "the screen is on again");
        tp_scan_set_power(&w->scan, true, w->now);
        if (s->up)
            tp_notes_away(s->notes, 0, false);
        break;
    default:
        break;
    }
}
