/* The virtual clock, fences, faults' dice, and the run from start to end. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/proc.h"
#include "frames/world/internal.h"

#define LOOKS 4096 /* after so many events it looks whether it is interrupted */

const char *const tp_world_fault_names[TP_FAULTS] = {"lost-note", "late-fence", "dup-note",
    "reorder", "truncated-fds", "server-crash", "compositor-crash", "compositor-stall", "panel-off",
    "refresh-switch", "clock-jitter", "slow-reader", "fd-exhaustion", "silent-fence", "dvfs"};

void tp_world_defaults(struct tp_world_config *c)
{
    *c = (struct tp_world_config){.refresh_mhz = 60000,
        .gate = {.mode = TP_GATE_VSYNC},
        .pipeline = 1,
        .lead_ns = 1650000,
        .callback_ns = 500000,
        .release = true,
        .wait = TP_RELEASE_WAIT_CPU,
        .seed = 1,
        .late_refreshes = 1};
}

static int refuse(struct tp_error *e, const char *what)
{
    return tp_fail(
        e, TP_STATUS_INPUT, -EINVAL, NULL, "Give values within these bounds", "%s", what);
}

/* From a picture's replacement until it is said to be over, at most. */
static int64_t picture_ns(const struct tp_world_config *c)
{
    int64_t period = period_of(c->slowest_mhz > 0 ? c->slowest_mhz : c->refresh_mhz);
    unsigned late = c->per_mille[TP_FAULT_LATE_FENCE] > 0 ? c->late_refreshes : 0;
    return (int64_t)(c->pipeline + c->untold + 2 + late) * period + c->callback_ns;
}

int64_t tp_world_lead(const struct tp_world_config *c)
{
    return c->lead_ns + (c->compose_ns > 0 ? c->compose_ns + TP_WORLD_COMPOSE_MARGIN_NS : 0);
}

unsigned tp_world_own_images(const struct tp_world_config *c)
{
    return c->own_images > 0 ? c->own_images : 2 + c->pipeline;
}

int tp_world_check(const struct tp_world_config *c, struct tp_error *e)
{
    if (c->n_costs == 0 || c->frames == 0)
        return refuse(e, "there are no frames, or no costs of frames");
    for (size_t i = 0; i < c->n_costs; i++)
        if (c->costs[i].cpu_ns < 0 || c->costs[i].gpu_ns < 0 ||
            c->costs[i].cpu_ns + c->costs[i].gpu_ns > INT64_C(10000000000))
            return refuse(e, "a frame costs 0 to 10 s");
    if (c->refresh_mhz < 1000 || c->refresh_mhz > 1000000 || c->slowest_mhz > c->refresh_mhz)
        return refuse(e, "a refresh is 1 to 1000 Hz, and a range goes from low to high");
    if (c->images < 2 || c->images > TP_SLOTS_MAX || c->pipeline + c->untold > 2 ||
        c->run_ahead > 3)
        return refuse(e, "there are 2 to 64 images, a pipeline of 0 to 2, a run-ahead of 0 to 3");
    if (c->lead_ns < 0 || c->lead_ns >= period_of(c->refresh_mhz))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL,
            "Give a slower --refresh, or a shorter --latch",
            "the latch lies within a refresh: --latch is %lld us, and a refresh of %.3f Hz %lld us",
            (long long)c->lead_ns / 1000, c->refresh_mhz / 1e3,
            (long long)period_of(c->refresh_mhz) / 1000);
    if (c->compositor_ns < 0 || c->compositor_ns > INT64_C(1000000000) || c->callback_ns < 0 ||
        c->callback_ns > INT64_C(1000000000))
        return refuse(e, "delays are up to a second");
    if (picture_ns(c) > TP_NOTES_SILENCE_NS)
        return refuse(e,
            "the panel says later than 1 s after a picture was replaced that it is over, which the "
            "server takes for never: faster refreshes, a shorter --callback, fewer late ones");
    if (c->compose_ns < 0 || c->compose_ns > INT64_C(1000000000) ||
        (c->own_images != 0 && (c->own_images < 2 || c->own_images > OWN_MOST)))
        return refuse(e, "a compositor composes for up to a second, into 2 to 5 images");
    if (c->compose_ns > 0 && c->slowest_mhz > 0)
        return refuse(e, "a compositor composes at a fixed rate");
    if (c->compose_ns > 0 && c->per_mille[TP_FAULT_COMPOSITOR_CRASH] > 0 && c->refresh_mhz < 50000)
        return refuse(e, "with compositor-crash and composition the panel has 50 Hz or more");
    if (tp_gate_check(&c->gate) < 0)
        return refuse(e, "the gate's mode cap needs a cap");
    return 0;
}

/* --- events --- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void push(struct world *w, int64_t at, enum event_type type, uint64_t a, int32_t b)
{
    struct events *q = &w->events;
    struct event e = {.at = at, .order = q->orders++, .type = type, .a = a, .b = b};
    TP_PUSH(q->heap, q->n, q->cap) = e;
    size_t i = q->n - 1;
    for (; i > 0 && is_before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

static struct event pop(struct events *q)
{
    struct event first = q->heap[0], last = q->heap[--q->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < q->n; i = child) {
        if (child + 1 < q->n && is_before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!is_before(&q->heap[child], &last))
            break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = last;
    return first;
}

/* --- chance --- */

/* Steele, Lea and Flood's SplitMix64. */
uint64_t dice(struct world *w, uint64_t n)
{
    uint64_t z = w->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return n > 0 ? z % n : 0;
}

bool falls(struct world *w, enum tp_world_fault f)
{
    return w->c->per_mille[f] > 0 && dice(w, 1000) < w->c->per_mille[f];
}

bool strikes(struct world *w, enum tp_world_fault f)
{
    bool falls_so = falls(w, f);
    w->out->injected[f] += falls_so;
    return falls_so;
}

/* --- what is told --- */

static void add_line(struct world *w, const char *fmt, va_list args)
{
    struct tp_world_result *o = w->out;
    char *line = o->story[o->n_story++ % TP_WORLD_STORY];
    long long ns = w->now - START_NS; /* in whole numbers: it is most of what a line costs */
    int n = snprintf(line, TP_WORLD_LINE, "%5lld.%06lld ms  ", ns / 1000000, ns % 1000000);
    vsnprintf(line + n, TP_WORLD_LINE - (size_t)n, fmt, args);
}

void tell(struct world *w, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_line(w, fmt, args);
    va_end(args);
}

/* The lines that are left, the oldest first. */
static void order_story(struct tp_world_result *o)
{
    char lines[TP_WORLD_STORY][TP_WORLD_LINE];
    if (o->n_story <= TP_WORLD_STORY)
        return;
    memcpy(lines, o->story, sizeof lines);
    for (unsigned i = 0; i < TP_WORLD_STORY; i++)
        memcpy(o->story[i], lines[(o->n_story + i) % TP_WORLD_STORY], TP_WORLD_LINE);
    o->n_story = TP_WORLD_STORY;
}

/* --- fences --- */

int make_fence(struct world *w, int64_t signal)
{
    for (unsigned i = 0; i < FENCES; i++) {
        int at = (int)((unsigned)(w->free_fence + 1) % FENCES);
        w->free_fence = at;
        if (w->fences[at].refs > 0)
            continue;
        w->fences[at] = (struct fence){.signal = signal, .refs = 1};
        w->n_fences++;
        if (signal <= w->now)
            w->fences[at].signalled = true;
        else if (signal < INT64_MAX)
            push(w, signal, EVENT_SIGNAL, (uint64_t)at, 0);
        return at;
    }
    broken(w, "fences leak: there are %u", FENCES);
    return 0;
}

void hold_fence(struct world *w, int fence)
{
    w->fences[fence].refs++;
    w->n_fences++;
}

void drop_fence(struct world *w, int fence)
{
    if (w->fences[fence].refs == 0) {
        broken(w, "a fence is closed twice");
        return;
    }
    w->fences[fence].refs--;
    w->n_fences--;
}

void signal_fence(struct world *w, int fence)
{
    struct fence *f = &w->fences[fence];
    if (f->refs == 0 || f->signal > w->now)
        return; /* of one that had this number before */
    f->signalled = true;
    if (f->watched && w->server.notes) {
        f->watched = false;
        tp_notes_signalled(w->server.notes, fence);
    }
    gpu_kick(w);
    poke_guest(w);
}

/* --- the run --- */

static void happen(struct world *w, const struct event *e)
{
    switch (e->type) {
    case EVENT_GUEST:
        guest_turn(w, e->a);
        break;
    case EVENT_GPU:
        gpu_done(w);
        break;
    case EVENT_MESSAGE:
        guest_message(w, (unsigned)e->a, e->b);
        break;
    case EVENT_REQUEST:
        server_request(w, e->a);
        break;
    case EVENT_COMPOSE:
        compose(w, e->a, e->b);
        break;
    case EVENT_FLIP:
        flipped(w, e->a, e->b);
        break;
    case EVENT_RELEASE:
        guest_release(w, (unsigned)e->a, e->b);
        break;
    case EVENT_CALLBACK:
        panel_callback(w, e->a, e->b);
        break;
    case EVENT_SIGNAL:
        signal_fence(w, (int)e->a);
        break;
    case EVENT_SHOWN:
        guest_shown(w, e->a);
        break;
    case EVENT_NOTES:
        tell_notes(w, e->a);
        break;
    case EVENT_GONE:
        if (e->b == w->screens)
            w->panel[e->a].uses--;
        break;
    case EVENT_SERVER:
        server_timer(w);
        break;
    case EVENT_CLOSED:
        guest_closed(w, e->b);
        break;
    case EVENT_STRIKE:
        begin_fault(w, (enum tp_world_fault)e->a);
        break;
    case EVENT_FAULT:
        end_fault(w, (enum tp_world_fault)e->a);
        break;
    case EVENT_REPAINT:
        repaint(w, e->a);
        break;
    case EVENT_DRAWN:
        drawn(w, e->a);
        break;
    }
}

static void count_event(struct world *w, unsigned type, uint64_t a)
{
    struct tp_world_result *o = w->out;
    o->events++;
    o->digest = (o->digest ^ (uint64_t)w->now ^ a << 48 ^ type) * UINT64_C(0x100000001b3);
    o->digest ^= o->digest >> 29;
}

/* The next thing that happens, the panel's first where there are several at one instant. */
static void step(struct world *w)
{
    struct tp_scan_event s;
    int64_t scan = tp_scan_next(&w->scan);
    if (w->events.n == 0 || scan <= w->events.heap[0].at) {
        if (scan == TP_SCAN_NEVER) {
            broken(w, "nothing happens any more");
            return;
        }
        if (scan < w->now)
            broken(w, "the panel is in the past");
        w->now = scan;
        if (tp_scan_step(&w->scan, scan, &s)) {
            count_event(w, 100 + s.type, s.serial);
            scan_event(w, &s);
        }
    } else {
        struct event e = pop(&w->events);
        w->now = e.at;
        count_event(w, e.type, e.a);
        happen(w, &e);
    }
    if (w->compositor.poked)
        repaint(w, w->compositor.turn);
    if (w->guest.poked)
        run_guest(w);
    check_event(w);
    if (w->out->events == w->c->strike_event)
        begin_fault(w, w->c->strike);
}

int tp_world_run(const struct tp_world_config *c, struct tp_world_result *out, struct tp_error *e)
{
    int r = tp_world_check(c, e);
    if (r < 0)
        return r;
    struct world *w = tp_calloc(1, sizeof *w);
    *out = (struct tp_world_result){0};
    w->c = c;
    w->out = out;
    w->now = START_NS;
    w->random = c->seed;
    w->policy_start = NEVER;
    start_metrics(w);
    start_invariants(w);
    start_screen(w);
    start_guest(w);
    if (composes(w))
        start_composing(w);
    while (!w->over && out->frames + out->drops < c->frames && r >= 0) {
        step(w);
        if (out->events % LOOKS == 0 && tp_interrupted())
            r = tp_fail(e, TP_STATUS_FAILED, -EINTR, NULL, NULL, "interrupted");
    }
    out->now_ns = w->now;
    finish_metrics(w);
    if (r >= 0)
        check_run(w);
    record_rest(w);
    stop_guest(w);
    if (composes(w))
        stop_composing(w);
    stop_screen(w);
    if (w->n_fences > 0 && !*out->broken)
        broken(w, "%u fences were never closed", w->n_fences);
    order_story(out);
    free_metrics(w);
    free(w->events.heap);
    free(w);
    return r;
}
