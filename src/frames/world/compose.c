/*
 * A compositor that composes. It latches a client's picture so long before the panel's latch as its
 * drawing takes: the oldest that is ready, or with mailbox the newest. It reads the client's image
 * while it draws into one of its own, and gives it back then. Its own images are a swapchain's on
 * the ICD that ships, with the server's notes; its clients have no server, and are paced by its
 * feedback. A picture of which nothing is new it does not draw again.
 */
#include "frames/world/internal.h"

/* When it begins to draw for that refresh. */
static int64_t begin_of(const struct world *w, uint64_t sequence)
{
    return tp_scan_refresh_ns(&w->scan, sequence) - tp_world_lead(w->c);
}

void arm_repaint(struct world *w)
{
    struct compositor *c = &w->compositor;
    if (c->away || c->flipping || c->n == 0 || c->state != RESTS || c->armed ||
        w->now < c->stalled_until)
        return;
    c->armed = true;
    if (!w->scan.on) {
        push(w, w->now + panel_period(w), EVENT_REPAINT, ++c->turn, 0);
        return;
    }
    uint64_t next = w->scan.sequence + 1;
    int64_t later = c->target_ns + panel_period(w) / 2;
    while (begin_of(w, next) < w->now || tp_scan_refresh_ns(&w->scan, next) < later)
        next++;
    c->target_ns = tp_scan_refresh_ns(&w->scan, next);
    push(w, begin_of(w, next), EVENT_REPAINT, ++c->turn, 0);
}

/* The client's picture that it draws; those that a newer one replaces go back. */
static uint64_t latch_client(struct world *w)
{
    struct compositor *c = &w->compositor;
    for (;; c->n--) {
        uint64_t number = c->queue[c->first];
        struct frame *f = frame_at(w, number);
        c->first = (c->first + 1) % FRAMES;
        if (c->n == 1 || !w->c->mailbox) {
            c->n--;
            return number;
        }
        lose_frame(w, f);
        w->images[f->image].unheld = w->now + HOP_NS;
        push(w, w->now + HOP_NS, EVENT_RELEASE, f->image, c->lives);
    }
}

/* It reads the client's image from now on. */
static void begin_client_read(struct world *w, struct frame *f)
{
    struct image *m = &w->images[f->image];
    m->read_from = w->now;
    m->read_to = w->now + w->c->compose_ns;
    m->read_frame = f->number;
    m->torn = m->write_to > w->now;
    if (!m->torn)
        return;
    w->out->tears++;
    f->tore = true;
    broken(w, "the compositor read an image while the GPU wrote it");
}

static void begin_drawing(struct world *w, unsigned slot)
{
    struct compositor *c = &w->compositor;
    unsigned image = w->screened.base + slot;
    c->state = DRAWS;
    c->slot = slot;
    c->drawing = latch_client(w);
    struct frame *f = frame_at(w, c->drawing);
    f->drawn = image;
    tell(w, "the compositor draws frame %llu, image %u, into its %u", (unsigned long long)f->number,
        f->image, image);
    if (w->c->release && w->own[image].uses > 0)
        broken(w, "the compositor has an image that the panel may read");
    if (has_bug(w, TP_BUG_FRONT_BUFFER) && c->showing >= 0)
        image = (unsigned)c->showing;
    begin_client_read(w, f);
    begin_writing(w, &w->own[image], w->now + w->c->compose_ns);
    if (has_bug(w, TP_BUG_RELEASED_BEFORE_READ))
        push(w, w->now + HOP_NS, EVENT_RELEASE, f->image, c->lives);
    push(w, w->now + w->c->compose_ns, EVENT_DRAWN, ++c->turn, 0);
}

void repaint(struct world *w, uint64_t turn)
{
    struct compositor *c = &w->compositor;
    struct tp_slots_wait wait;
    struct tp_acquired got;
    c->poked = false;
    if (turn != c->turn || c->away || c->state == DRAWS)
        return;
    c->armed = false;
    if (w->now < c->stalled_until || c->n == 0 || c->flipping) {
        c->state = RESTS;
        return;
    }
    if (c->state == RESTS)
        tp_acquire_begin(&c->acquire, w->screened.slots, NULL, w->now, UINT64_MAX);
    c->state = REPAINTS;
    look_at_server(w);
    if (tp_acquire_step(&c->acquire, w->now, &wait, &got) == TP_ACQUIRE_TAKEN) {
        begin_drawing(w, got.image.slot);
        return;
    }
    ask_server(w, &wait);
    if (wait.until_ns < INT64_MAX)
        push(w, max_ns(wait.until_ns, w->now), EVENT_REPAINT, ++c->turn, 0);
}

void poke_repaint(struct world *w)
{
    w->compositor.poked |= w->compositor.state == REPAINTS;
}

void drawn(struct world *w, uint64_t turn)
{
    struct compositor *c = &w->compositor;
    if (turn != c->turn || c->state != DRAWS)
        return;
    struct frame *f = frame_at(w, c->drawing);
    tp_slots_presented(w->screened.slots, c->slot, w->now);
    tp_slots_committed(w->screened.slots, c->slot, w->now);
    w->images[f->image].unheld = w->now + HOP_NS;
    if (!has_bug(w, TP_BUG_RELEASED_BEFORE_READ))
        push(w, w->now + HOP_NS, EVENT_RELEASE, f->image, c->lives);
    c->state = RESTS;
    c->flipping = c->has_shown = true;
    commit_frame(w, c->drawing);
}

/* --- from its start to its end --- */

void start_composing(struct world *w)
{
    struct screened *s = &w->screened;
    s->images = tp_world_own_images(w->c);
    s->base = w->compositor.set * OWN_MOST;
    create_slots(w, s->images, TP_RELEASE_WAIT_CPU, &s->slots);
    for (unsigned i = 0; i < s->images; i++)
        w->own[s->base + i] = NEW_IMAGE;
    if (w->server.up)
        connect_screened(w);
}

static void add_counts(struct tp_slots_counts *to, const struct tp_slots_counts *n)
{
    to->pending += n->pending;
    to->final += n->final;
    to->lost += n->lost;
    to->resynced += n->resynced;
}

void count_slots(const struct world *w, struct tp_slots_counts *out)
{
    struct tp_slots_counts own;
    tp_slots_counts(w->guest.slots, out);
    if (!composes(w))
        return;
    add_counts(out, &w->screened.past);
    if (!w->screened.slots)
        return;
    tp_slots_counts(w->screened.slots, &own);
    add_counts(out, &own);
}

void stop_composing(struct world *w)
{
    tp_slots_destroy(w->screened.slots);
    w->screened.slots = NULL;
}

void die_composing(struct world *w)
{
    struct compositor *c = &w->compositor;
    struct server *s = &w->server;
    struct tp_slots_counts n;
    if (c->state == DRAWS) {
        struct frame *f = frame_at(w, c->drawing);
        lose_frame(w, f);
        w->images[f->image].read_to = w->now;
        w->own[w->screened.base + c->slot].write_to = w->now;
    }
    tp_slots_counts(w->screened.slots, &n);
    add_counts(&w->screened.past, &n);
    stop_composing(w);
    if (s->up && s->peer)
        tp_notes_disconnect(s->notes, s->peer);
    s->peer = NULL;
    end_messages(w);
    c->set = c->has_shown ? (c->set + 1) % OWN_SETS : c->set;
    c->turn++;
    c->state = RESTS;
    c->armed = c->poked = c->has_shown = false;
}
