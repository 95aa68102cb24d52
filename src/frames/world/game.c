/*
 * The game with its ICD, and the GPU. The game is a model; slots, gate and acquire are the ICD's.
 *
 * An early guest waits until its GPU is no further behind than it lets it, acquires, records, and
 * presents; its GPU writes the image from then on. A late guest records and renders elsewhere
 * first, then acquires; only its copy, an eighth of the GPU's part, writes the image.
 */
#include <string.h>

#include "frames/world/internal.h"

#define COPY 8 /* the part of the GPU's time that a late guest's copy takes */
#define CAPABILITIES                                                                               \
    (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL)

static bool is_signalled(void *data, int fence)
{
    const struct world *w = data;
    return w->fences[fence].signalled;
}

static void close_fence(void *data, int fence)
{
    drop_fence(data, fence);
}

/* --- the game --- */

static const struct tp_world_cost *cost_of(const struct world *w, uint64_t number)
{
    return &w->c->costs[number % w->c->n_costs];
}

void sleep_until(struct world *w, int64_t at)
{
    int64_t late = strikes(w, TP_FAULT_CLOCK_JITTER) ? (int64_t)dice(w, 300000) : 0;
    w->guest.asleep_until = at;
    push(w, at + late, EVENT_GUEST, ++w->guest.turn, 0);
}

/* Its GPU is too far behind for another frame. */
static bool is_behind(const struct guest *g, unsigned run_ahead)
{
    return g->done + run_ahead < g->frame;
}

static void begin_frame(struct world *w)
{
    struct guest *g = &w->guest;
    struct frame *f = frame_at(w, g->frame);
    if (f->number + FRAMES == g->frame)
        record_frame(w, f);
    if (f->published != NEVER && !f->gone && g->frame >= FRAMES)
        w->kept[w->n_kept++ % KEPT] = *f;
    *f = (struct frame){.number = g->frame,
        .begin = w->now,
        .asked = NEVER,
        .acquired = NEVER,
        .entry = NEVER,
        .ready = NEVER,
        .commit = NEVER,
        .line = NEVER,
        .computes = NEVER,
        .elsewhere = NEVER,
        .elsewhere_to = NEVER,
        .write = NEVER,
        .booked = NEVER,
        .composed = NEVER,
        .published = NEVER,
        .latched = NEVER,
        .released = NEVER,
        .told = NEVER,
        .returned = NEVER,
        .cpu = cost_of(w, g->frame)->cpu_ns,
        .gpu = cost_of(w, g->frame)->gpu_ns};
}

/* There is no compositor to present it to. */
static void return_image(struct world *w, const struct frame *f)
{
    struct guest *g = &w->guest;
    for (unsigned i = 0; i < g->got.image.n_fences; i++)
        drop_fence(w, g->got.image.fences[i]);
    g->got.image.n_fences = 0;
    tp_slots_returned(g->slots, f->image, w->now);
    tp_gate_abandon(g->gate, f->id);
    g->state = BEGINS;
}

static void present(struct world *w, struct frame *f, int64_t takes)
{
    struct guest *g = &w->guest;
    struct tp_gate_frame seen;
    if (w->compositor.away) {
        return_image(w, f);
        return;
    }
    struct job j = {.frame = f->number, .takes = takes, .writes = true};
    j.n_fences = g->got.image.n_fences;
    memcpy(j.fences, g->got.image.fences, sizeof j.fences);
    g->got.image.n_fences = 0;
    f->entry = w->now;
    count_acquire(w, f);
    f->life = w->compositor.lives;
    w->images[f->image].frame = f->number;
    tp_slots_presented(g->slots, f->image, w->now);
    tp_slots_committed(g->slots, f->image, w->now);
    if (g->gate) {
        tp_gate_presented(g->gate, f->id, w->now, w->now);
        if (tp_gate_frame(g->gate, f->id, &seen)) {
            f->commit = seen.commit_ns;
            f->booked = seen.latch_ns < INT64_MAX ? seen.latch_ns : NEVER;
        }
    }
    g->returned = max_ns(w->now, tp_gate_hold(g->gate, f->id, w->now));
    f->returned = g->returned;
    submit(w, &j);
    g->frame++;
    g->state = BEGINS;
}

static bool paces_acquire(const struct world *w)
{
    return w->c->policy == TP_POLICY_GATE && !has_bug(w, TP_BUG_WAIT_AFTER_BOOKING);
}

static void begin_acquire(struct world *w, struct frame *f)
{
    struct guest *g = &w->guest;
    f->asked = w->now;
    g->state = ACQUIRES;
    g->booked = false;
    g->asleep_until = NEVER;
    tp_acquire_begin(&g->acquire, g->slots, paces_acquire(w) ? g->gate : NULL, w->now, UINT64_MAX);
}

/* What the early guest can do at best: start when it wants to and may. */
static void judge_earliest(struct world *w, struct frame *f, int64_t takes, int64_t cpu)
{
    int64_t start = max_ns(f->asked, w->images[f->image].unheld);
    f->release = w->images[f->image].unheld;
    f->earliest = max_ns(start + cpu, w->guest.gpu_free) + takes + w->c->compositor_ns + HOP_NS;
}

static void acquired(struct world *w, struct frame *f)
{
    struct guest *g = &w->guest;
    struct tp_gate_frame seen;
    f->image = f->drawn = g->got.image.slot;
    f->acquired = w->now;
    tell(w, "frame %llu gets image %u", (unsigned long long)f->number, f->image);
    f->gate = w->now;
    if (!has_bug(w, TP_BUG_WAIT_AFTER_BOOKING))
        f->id = g->got.frame;
    if (g->gate && tp_gate_frame(g->gate, f->id, &seen))
        f->gate = seen.gate_ns;
    spoil_clock(w);
    f->slot_wait = g->got.slot_ns;
    f->release_wait = g->got.release_ns;
    f->gate_wait = g->got.gate_ns;
    check_acquired(w, f);
    if (w->c->late_guest) {
        judge_earliest(w, f, f->gpu / COPY, 0);
        present(w, f, f->gpu / COPY);
        return;
    }
    f->begin = w->now;
    judge_earliest(w, f, f->gpu, f->cpu);
    g->state = COMPUTES;
    sleep_until(w, w->now + f->cpu);
}

/* False: it waits. */
static bool acquire(struct world *w)
{
    struct guest *g = &w->guest;
    struct frame *f = frame_at(w, g->frame);
    if (w->compositor.away || !book_before(w, f))
        return false;
    if (has_bug(w, TP_BUG_FIRST_FREE_SLOT) && take_anyway(w, true)) {
        acquired(w, f);
        return true;
    }
    if (!composes(w))
        look_at_server(w);
    if (tp_acquire_step(&g->acquire, w->now, &g->wait, &g->got) == TP_ACQUIRE_TAKEN) {
        acquired(w, f);
        return true;
    }
    if (g->wait.ask && has_bug(w, TP_BUG_HANDED_OUT_AT_BOUND) && take_anyway(w, false)) {
        acquired(w, f);
        return true;
    }
    ask_server(w, &g->wait);
    if (g->wait.until_ns < INT64_MAX && g->wait.until_ns != g->asleep_until)
        sleep_until(w, g->wait.until_ns);
    return false;
}

/* Goes on as far as it can at this instant. */
void run_guest(struct world *w)
{
    struct guest *g = &w->guest;
    g->poked = false;
    while (!w->over) {
        struct frame *f = frame_at(w, g->frame);
        if (g->state == BEGINS) {
            int64_t until;
            if (w->compositor.away || is_behind(g, w->c->run_ahead))
                return;
            if (g->returned > w->now || policy_holds(w, &until)) {
                until = g->returned > w->now ? g->returned : until;
                if (until != g->asleep_until)
                    sleep_until(w, until);
                return;
            }
            begin_frame(w);
            if (!w->c->late_guest) {
                begin_acquire(w, f);
                continue;
            }
            if (g->returned != NEVER)
                f->begin = g->returned;
            f->computes = w->now;
            g->state = COMPUTES;
            sleep_until(w, w->now + f->cpu);
            return;
        }
        if (g->state != ACQUIRES || !acquire(w))
            return;
    }
}

void poke_guest(struct world *w)
{
    struct guest *g = &w->guest;
    const struct tp_slots_wait *s = &g->wait;
    poke_repaint(w);
    if (g->state == BEGINS)
        g->poked = true;
    else if (g->state == ACQUIRES && !has_bug(w, TP_BUG_WAKEUP_LOST))
        g->poked |= s->compositor || s->channel || s->board_index >= 0 || s->fence >= 0;
}

void guest_turn(struct world *w, uint64_t turn)
{
    struct guest *g = &w->guest;
    if (turn != g->turn)
        return;
    struct frame *f = frame_at(w, g->frame);
    if (g->state == COMPUTES && w->c->late_guest) {
        struct job j = {.frame = f->number, .takes = f->gpu - f->gpu / COPY};
        submit(w, &j);
        begin_acquire(w, f);
    } else if (g->state == COMPUTES) {
        present(w, f, f->gpu);
    }
    run_guest(w);
}

/* --- what reaches the ICD --- */

static void on_note(struct world *w, struct tp_scanout_frame *f)
{
    struct frame *of = frame_of(w, f->u.note.serial);
    if (of && of->serial == f->u.note.serial && of->told == NEVER &&
        f->u.note.what == TP_NOTE_FINAL)
        of->told = w->now;
    spoil_note(w, f);
    if (!tp_slots_note(
            w->screened.slots, &f->u.note, f->flags & TP_SCANOUT_RESYNC, f->fd, w->now) &&
        f->fd >= 0)
        drop_fence(w, f->fd);
}

static void receive(struct world *w, struct tp_scanout_frame *f)
{
    struct guest *g = &w->guest;
    switch (f->fourcc) {
    case TP_FRAME_NOTE:
        on_note(w, f);
        return;
    case TP_FRAME_STATE:
        if (!tp_slots_state(w->screened.slots, &f->u.state, f->fd, w->now) && f->fd >= 0)
            drop_fence(w, f->fd);
        return;
    case TP_FRAME_REGISTER:
        tp_slots_registered(w->screened.slots, &f->u.reg, w->now);
        return;
    case TP_FRAME_TIMELINE:
        tp_slots_timeline(w->screened.slots, &f->u.timeline);
        if (composes(w)) /* its clients have its feedback alone */
            return;
        if (has_bug(w, TP_BUG_GRID_AT_VBLANK))
            f->u.timeline.lead_ns = 0;
        if (g->gate)
            g->poked |= tp_gate_timeline(g->gate, &f->u.timeline);
        return;
    }
}

void guest_message(struct world *w, unsigned which, int32_t session)
{
    struct server *s = &w->server;
    struct tp_scanout_frame f;
    if (session != s->sessions) /* that connection is over */
        return;
    if (w->now < w->guest.reads_from) {
        push(w, w->guest.reads_from, EVENT_MESSAGE, which, session);
        return;
    }
    struct message m = s->messages[which];
    s->messages[which].used = false;
    s->n--;
    w->n_carried -= m.fence >= 0;
    struct tp_frame raw = {.fourcc = m.header.fourcc,
        .flags = m.header.flags,
        .sequence = m.header.sequence,
        .payload = m.bytes,
        .payload_bytes = m.n,
        .fds = {m.fence},
        .n_fds = m.fence >= 0};
    if (tp_scanout_decode(&raw, true, &f) < 0) {
        broken(w, "the ICD does not understand a frame of the server's");
        return;
    }
    receive(w, &f);
    server_drained(w);
    poke_guest(w);
}

void guest_release(struct world *w, unsigned image, int32_t life)
{
    if (life != w->compositor.lives)
        return;
    tp_slots_released(w->guest.slots, image, -1, TP_FENCE_NONE, w->now);
    poke_guest(w);
}

void guest_shown(struct world *w, uint64_t number)
{
    const struct frame *f = frame_at(w, number);
    /* As the ICD takes a compositor's feedback where it has no server. */
    struct tp_timeline_frame t = {.pipeline = 1,
        .sequence = w->scan.sequence,
        .time_ns = f->line,
        .period_ns = panel_period(w)};
    if (composes(w) && f->number == number) {
        tp_slots_timeline(w->guest.slots, &t);
        w->guest.poked |= tp_gate_feedback(w->guest.gate, &t);
    }
    if (w->guest.gate && f->number == number)
        tp_gate_shown(w->guest.gate, f->id, f->line);
}

void guest_closed(struct world *w, int32_t session)
{
    struct server *s = &w->server;
    if (session != s->sessions)
        return;
    w->guest.reads_from = w->now;
    for (unsigned i = 0; i < MESSAGES; i++)
        if (s->messages[i].used)
            guest_message(w, i, s->sessions);
    end_messages(w);
    if (w->screened.slots)
        tp_slots_disconnected(w->screened.slots, quarantine_from(w));
    if (!composes(w))
        tp_gate_untimed(w->guest.gate);
    if (s->up)
        connect_screened(w);
    poke_guest(w);
}

void look_at_server(struct world *w)
{
    struct tp_slots *s = w->screened.slots;
    if (tp_slots_doubtful(s) && w->server.ended)
        guest_closed(w, w->server.sessions);
    else if (tp_slots_doubtful(s))
        tp_slots_assured(s);
}

void guest_resume(struct world *w)
{
    struct guest *g = &w->guest;
    if (g->state == ACQUIRES)
        begin_acquire(w, frame_at(w, g->frame));
    g->poked = true;
}

void connect_screened(struct world *w)
{
    struct screened *g = &w->screened;
    struct server *s = &w->server;
    uint64_t capabilities = CAPABILITIES & ~(w->c->no_board ? TP_CAP_BOARD : 0);
    if (!g->slots) /* there is no compositor */
        return;
    if (tp_notes_connect(s->notes, capabilities, w, &s->peer) < 0 ||
        tp_board_look(s->board, sizeof *s->board, &g->view) < 0) {
        broken(w, "the ICD cannot connect");
        return;
    }
    tp_slots_connected(
        g->slots, capabilities, w->c->no_board ? NULL : &g->view, quarantine_from(w));
    for (unsigned i = 0; i < g->images; i++) {
        struct tp_buffer_name *n = &g->names[i];
        *n = (struct tp_buffer_name){.identity = {1, g->base + i + 1},
            .generation = ++g->generation,
            .index = TP_BUFFER_NO_INDEX};
        tp_slots_register(g->slots, i, n, w->now);
    }
    s->registered = 0;
    server_registers(w);
    poke_guest(w);
}

/* --- from start to end --- */

void create_slots(
    struct world *w, unsigned images, enum tp_release_wait wait, struct tp_slots **out)
{
    static const struct tp_slots_ops ops = {is_signalled, close_fence};
    struct tp_slots_config s = {.images = images,
        .release = w->c->release && !has_bug(w, TP_BUG_FREE_ON_RELEASE),
        .wait = wait,
        .period_ns = period_of(w->c->refresh_mhz),
        .pipeline = w->c->pipeline};
    tp_slots_create(&s, &ops, w, out);
}

void start_guest(struct world *w)
{
    const struct tp_world_config *c = w->c;
    struct guest *g = &w->guest;
    w->panel = composes(w) ? w->own : w->images;
    w->n_panel = composes(w) ? OWN_SETS * OWN_MOST : c->images;
    create_slots(w, c->images, c->wait, &g->slots);
    struct tp_gate_settings settings = c->gate;
    if (has_bug(w, TP_BUG_CAP_IN_MILLISECONDS) && settings.cap_mhz > 0)
        settings.cap_mhz = 1000000 / (1000000 / settings.cap_mhz);
    tp_gate_create(&settings, &g->gate);
    g->slower = 1000;
    g->clock_at = w->now;
    g->returned = NEVER;
    for (unsigned i = 0; i < c->images; i++)
        w->images[i] = NEW_IMAGE;
    if (!composes(w)) {
        w->screened.slots = g->slots;
        w->screened.images = c->images;
        connect_screened(w);
    }
    push(w, w->now, EVENT_GUEST, ++g->turn, 0);
}

void stop_guest(struct world *w)
{
    struct guest *g = &w->guest;
    for (; g->n_jobs > 0; g->n_jobs--) {
        struct job *j = &g->jobs[g->first_job];
        g->first_job = (g->first_job + 1) % JOBS;
        for (unsigned i = 0; i < j->n_fences; i++)
            drop_fence(w, j->fences[i]);
    }
    for (unsigned i = 0; i < g->got.image.n_fences; i++)
        drop_fence(w, g->got.image.fences[i]);
    count_slots(w, &w->out->slots);
    tp_slots_destroy(g->slots);
    tp_gate_destroy(g->gate);
}
