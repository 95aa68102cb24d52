#include "frames/census/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define TURN_ENTRIES (2u * TP_RING_ENTRIES) /* of a ring, at most: a writer may be faster */

struct followed {
    uint32_t id, pid;
    struct tp_ring_view *view; /* owned */
    unsigned guest;
};

struct tp_follow {
    struct tp_join *join;                  /* owned */
    struct followed rings[TP_JOIN_RINGS]; /* by their ids */
    unsigned n;
};

struct tp_follow *tp_follow_create(const struct tp_join_sink *sink)
{
    struct tp_follow *f = tp_calloc(1, sizeof *f);
    f->join = tp_join_create(sink);
    return f;
}

void tp_follow_destroy(struct tp_follow *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < f->n; i++)
        tp_ring_close(f->rings[i].view);
    tp_join_destroy(f->join);
    free(f);
}

static void read_gauges(struct tp_follow *f, const struct followed *r)
{
    static const unsigned known[] = {TP_GAUGE_PIPELINE, TP_GAUGE_SLOWEST_MHZ};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        tp_join_gauge(f->join, r->id, known[i], tp_ring_look(r->view, known[i]));
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        tp_join_gauge(
            f->join, r->id, TP_GAUGE_COUNTS + i, tp_ring_look(r->view, TP_GAUGE_COUNTS + i));
}

static void read_entries(struct tp_follow *f, const struct followed *r)
{
    struct tp_ring_entry e;
    uint64_t lost = 0;
    read_gauges(f, r);
    for (unsigned i = 0; i < TURN_ENTRIES && tp_ring_next(r->view, &e, &lost); i++) {
        tp_join_lost(f->join, r->id, lost);
        lost = 0;
        tp_join_put(f->join, r->id, &e);
    }
    tp_join_lost(f->join, r->id, lost);
}

static void drop(struct tp_follow *f, unsigned i)
{
    read_entries(f, &f->rings[i]);
    tp_join_gone(f->join, f->rings[i].id);
    tp_ring_close(f->rings[i].view);
    f->n--;
    memmove(f->rings + i, f->rings + i + 1, (f->n - i) * sizeof *f->rings);
}

static bool is_listed(const struct tp_census_ring *rings, unsigned n, uint32_t id)
{
    for (unsigned i = 0; i < n; i++)
        if (rings[i].id == id)
            return true;
    return false;
}

/* Who is a screen is the server's word, not the ring's. */
static void open_ring(struct tp_follow *f, const struct tp_census_ring *r)
{
    struct followed new = {.id = r->id, .pid = r->pid};
    unsigned at = f->n;
    for (; at > 0 && f->rings[at - 1].id >= r->id; at--)
        if (f->rings[at - 1].id == r->id)
            return;
    if (f->n == TP_JOIN_RINGS || tp_ring_open(r->fd, &new.view) < 0)
        return;
    int guest = tp_join_add(f->join, r->id, r->pid == 0 ? TP_RING_SCREEN : TP_RING_SWAPCHAIN,
        r->pid == TP_CENSUS_NO_PID ? 0 : r->pid, tp_ring_name(new.view));
    if (guest < 0) {
        tp_ring_close(new.view);
        return;
    }
    new.guest = (unsigned)guest;
    memmove(f->rings + at + 1, f->rings + at, (f->n - at) * sizeof *f->rings);
    f->rings[at] = new;
    f->n++;
}

void tp_follow_rings(struct tp_follow *f, const struct tp_census_ring *rings, unsigned n)
{
    for (unsigned i = f->n; i-- > 0;)
        if (!is_listed(rings, n, f->rings[i].id))
            drop(f, i);
    for (unsigned i = 0; i < n; i++)
        open_ring(f, &rings[i]);
}

void tp_follow_turn(struct tp_follow *f, int64_t now_ns)
{
    for (unsigned i = 0; i < f->n; i++)
        read_entries(f, &f->rings[i]);
    tp_join_pass(f->join, now_ns);
}

void tp_follow_end(struct tp_follow *f, int64_t now_ns)
{
    tp_follow_turn(f, now_ns);
    tp_join_end(f->join);
}

void tp_follow_counts(const struct tp_follow *f, uint64_t counts[TP_COUNTERS])
{
    tp_join_counts(f->join, counts);
}

const struct tp_ring_view *tp_follow_view(
    const struct tp_follow *f, unsigned i, unsigned *guest, uint32_t *pid)
{
    if (i >= f->n)
        return NULL;
    if (guest)
        *guest = f->rings[i].guest;
    if (pid)
        *pid = f->rings[i].pid;
    return f->rings[i].view;
}
