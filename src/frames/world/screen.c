/*
 * The compositor, the server and the panel. The compositor scans each frame out directly, in the
 * order in which they are ready, one at a time between two flip events (compose.c has the other
 * kind). The server hands one picture to the panel in a refresh and tells its release notes; both
 * it and the panel are what ships, but for their sockets and threads.
 */
#include <errno.h>
#include <string.h>

#include "frames/world/internal.h"

#define ROOM 16u    /* messages that a socket holds */
#define WRITABLE 4u /* it is said to be writable from there on: a quarter (net/unix/af_unix.c) */

/* --- the server's socket to the guest --- */

static void send_one(struct world *w, const struct tp_scanout_frame *f, int64_t delay)
{
    struct server *s = &w->server;
    unsigned i = 0;
    while (s->messages[i].used)
        i++;
    struct message *m = &s->messages[i];
    *m = (struct message){.used = true,
        .header = {.fourcc = f->fourcc, .flags = f->flags, .sequence = f->sequence},
        .fence = f->fd};
    m->n = tp_scanout_encode(f, m->bytes);
    s->n++;
    if (f->fd >= 0)
        hold_fence(w, f->fd);
    w->n_carried += f->fd >= 0;
    push(w, w->now + HOP_NS + delay, EVENT_MESSAGE, i, s->sessions);
}

static int on_send(void *data, void *peer, const struct tp_scanout_frame *f)
{
    struct world *w = data;
    (void)peer;
    if (w->server.n >= ROOM)
        return -EAGAIN;
    if (f->fourcc != TP_FRAME_NOTE) {
        send_one(w, f, 0);
        return 0;
    }
    if (f->fd >= 0 && strikes(w, TP_FAULT_FD_EXHAUSTION))
        return -EMFILE;
    if (strikes(w, TP_FAULT_LOST_NOTE) || (f->fd >= 0 && strikes(w, TP_FAULT_TRUNCATED_FDS)))
        return 0;
    int64_t delay = strikes(w, TP_FAULT_REORDER) ? (int64_t)dice(w, (uint64_t)panel_period(w)) : 0;
    send_one(w, f, delay);
    if (strikes(w, TP_FAULT_DUP_NOTE))
        send_one(w, f, 0);
    return 0;
}

void server_registers(struct world *w)
{
    struct server *s = &w->server;
    while (s->registered < w->screened.images && tp_notes_may_read(s->peer)) {
        unsigned i = s->registered++;
        tp_notes_register(s->notes, s->peer, &w->screened.names[i], -1, i + 1);
    }
}

void server_drained(struct world *w)
{
    if (!w->server.notes || !w->server.peer || w->server.n > WRITABLE ||
        tp_notes_may_read(w->server.peer))
        return;
    tp_notes_drained(w->server.notes, w->server.peer);
    server_registers(w);
}

static void on_board(void *data, void *peer, unsigned index, uint64_t word)
{
    struct world *w = data;
    (void)peer;
    if (w->server.dead)
        return;
    tp_board_store(w->server.board, index, as_guest_reads(w, index, word));
    poke_guest(w);
}

static void on_watch(void *data, int fence)
{
    struct world *w = data;
    w->fences[fence].watched = true;
    if (w->fences[fence].signalled)
        push(w, w->now, EVENT_SIGNAL, (uint64_t)fence, 0);
}

static void on_close_fence(void *data, int fence)
{
    drop_fence(data, fence);
}

static void on_close_memory(void *data, int memory)
{
    (void)data;
    (void)memory;
}

static int on_blank(void *data, unsigned output)
{
    struct world *w = data;
    (void)output;
    w->server.blank_due = true;
    push(w, w->now, EVENT_SERVER, 0, 0);
    return 0;
}

void lose_frame(struct world *w, struct frame *f)
{
    f->gone = true;
    w->out->drops++;
}

/* --- the server --- */

/* Its deadline may have come nearer. */
static void arm_timer(struct world *w)
{
    struct server *s = &w->server;
    int64_t at = tp_notes_deadline(s->notes);
    if (at == INT64_MAX || (s->timer > w->now && s->timer <= at))
        return;
    s->timer = at;
    push(w, at, EVENT_SERVER, 0, 0);
}

void tell_notes(struct world *w, uint64_t serial)
{
    const struct frame *f = frame_of(w, serial);
    struct tp_identity layer = {0};
    if (f)
        layer = (struct tp_identity){1, f->drawn + 1u};
    if (!w->server.up)
        return;
    tp_notes_before_apply(w->server.notes, 0, serial, &layer, 1, w->now);
    tp_notes_after_apply(w->server.notes, 0, serial, 0);
}

static void count_publish(struct world *w, uint64_t serial, int result)
{
    struct server *s = &w->server;
    struct frame *f = frame_of(w, serial);
    if (result < 0) {
        lose_frame(w, f);
        return;
    }
    w->panel[f->drawn].uses++;
    w->panel_has[serial % FRAMES] = true;
    if (++s->published > 1)
        broken(w, "two pictures go to the panel in one refresh");
    if (has_bug(w, TP_BUG_RELEASED_AT_PUBLISH) && serial > 1)
        push(w, w->now + HOP_NS, EVENT_CALLBACK, serial - 1, -1);
}

/* frame: its number + 1; 0: a blank. */
static void apply(struct world *w, uint64_t frame)
{
    struct server *s = &w->server;
    struct tp_identity layer = {0};
    uint64_t serial = ++s->serial;
    w->serials[serial % FRAMES] = frame;
    w->panel_has[serial % FRAMES] = false;
    if (frame > 0) {
        struct frame *f = frame_at(w, frame - 1);
        f->serial = serial;
        f->published = w->now;
        layer = (struct tp_identity){1, f->drawn + 1u};
        tell(w, "frame %llu, image %u, goes to the panel", (unsigned long long)(frame - 1),
            f->drawn);
    }
    /* A server's layers are its own: what the one before left in the queue holds nothing up. */
    bool queues = frame > 0 && !w->c->mailbox && serial != s->first;
    enum tp_scan_kind kind = queues ? TP_SCAN_FIFO : TP_SCAN_MAILBOX;
    bool late = has_bug(w, TP_BUG_NOTE_AFTER_FLIP);
    if (!late)
        tp_notes_before_apply(s->notes, 0, serial, &layer, 1, w->now);
    int r = tp_scan_publish(&w->scan, serial, kind, true, w->now);
    if (late)
        push(w, w->now + 10 * HOP_NS, EVENT_NOTES, serial, 0);
    else
        tp_notes_after_apply(s->notes, 0, serial, r);
    if (frame > 0)
        count_publish(w, serial, r);
    if (frame == 0)
        s->blank = serial;
}

void show_blank(struct world *w)
{
    apply(w, 0);
}

void publish(struct world *w, uint64_t frame)
{
    struct server *s = &w->server;
    s->used_sequence = s->sequence;
    s->has_commit = false;
    apply(w, frame + 1);
    /* With the screen off nothing throttles but the time of a refresh. */
    push(w, w->now + (w->scan.on ? HOP_NS : panel_period(w)), EVENT_FLIP, frame,
        w->compositor.lives);
}

void commit_frame(struct world *w, uint64_t frame)
{
    struct server *s = &w->server;
    s->has_commit = true;
    s->commit = frame;
    bool free = s->sequence != s->used_sequence || has_bug(w, TP_BUG_TWO_IN_A_REFRESH);
    if (s->up && (free || !w->scan.on))
        publish(w, frame);
}

void ask_server(struct world *w, const struct tp_slots_wait *wait)
{
    if (!wait->ask)
        return;
    uint32_t index = wait->ask_name.index;
    push(w, w->now + HOP_NS, EVENT_REQUEST, index == TP_BUFFER_NO_INDEX ? 0 : index + 1u, 0);
}

void server_request(struct world *w, uint64_t which)
{
    static const struct tp_buffer_name all = {.index = TP_BUFFER_NO_INDEX};
    struct server *s = &w->server;
    struct tp_buffer_name name = all;
    if (!s->up || !s->peer)
        return;
    if (which > 0) {
        name = w->screened.names[which - 1];
        name.index = (uint32_t)which - 1;
    }
    tp_notes_ask(s->notes, s->peer, &name, 1);
}

void server_timer(struct world *w)
{
    struct server *s = &w->server;
    if (!s->up)
        return;
    if (s->blank_due) {
        s->blank_due = false;
        apply(w, 0);
    }
    if (tp_notes_deadline(s->notes) <= w->now)
        tp_notes_expire(s->notes, w->now);
    arm_timer(w);
}

void tell_timeline(struct world *w, int64_t time, bool stopped)
{
    int64_t jitter = strikes(w, TP_FAULT_CLOCK_JITTER) ? (int64_t)dice(w, 1000000) - 500000 : 0;
    struct tp_timeline_frame t = {.stopped = stopped,
        .variable = w->scan.mode.slowest_mhz > 0,
        .pipeline = w->c->pipeline,
        .sequence = w->scan.sequence,
        .time_ns = time + jitter,
        .period_ns = panel_period(w),
        .lead_ns = w->c->lead_ns};
    tp_notes_timeline(w->server.notes, &t);
}

void panel_callback(struct world *w, uint64_t serial, int fence)
{
    struct server *s = &w->server;
    w->n_completions -= fence >= 0;
    if (!s->up || serial > s->serial) {
        if (fence >= 0)
            drop_fence(w, fence);
        return;
    }
    tp_notes_released(
        s->notes, 0, serial, 0, fence, fence >= 0 ? TP_FENCE_SYNC_FILE : TP_FENCE_NONE, w->now);
}

void end_messages(struct world *w)
{
    struct server *s = &w->server;
    for (unsigned i = 0; i < MESSAGES; i++) {
        if (s->messages[i].used && s->messages[i].fence >= 0) {
            drop_fence(w, s->messages[i].fence);
            w->n_carried--;
        }
        s->messages[i].used = false;
    }
    s->n = 0;
    s->ended = false;
    s->sessions++;
}

void start_server(struct world *w)
{
    static const struct tp_notes_ops ops = {.send = on_send,
        .board = on_board,
        .watch = on_watch,
        .close_fence = on_close_fence,
        .close_memory = on_close_memory,
        .blank = on_blank};
    struct server *s = &w->server;
    /* Those of one that was killed stay as they were. */
    s->board = &s->boards[s->boards_used++ % BOARDS];
    memset(s->board, 0, sizeof *s->board);
    tp_board_init(s->board);
    tp_notes_create(&TP_NOTES_LIMITS, &ops, w, &s->notes);
    s->up = true;
    s->first = s->serial + 1;
    s->blank_due = false;
    s->timer = NEVER;
    s->blank = 0;
}

/* --- the compositor --- */

void commit_next(struct world *w)
{
    struct compositor *c = &w->compositor;
    if (composes(w)) {
        arm_repaint(w);
        return;
    }
    if (c->away || c->flipping || c->n == 0 || w->now < c->stalled_until)
        return;
    uint64_t frame = c->queue[c->first];
    c->first = (c->first + 1) % FRAMES;
    c->n--;
    c->flipping = true;
    commit_frame(w, frame);
}

void compose(struct world *w, uint64_t number, int32_t life)
{
    struct compositor *c = &w->compositor;
    if (life != c->lives) {
        if (frame_at(w, number)->number == number)
            frame_at(w, number)->gone = true;
        w->out->drops++;
        return;
    }
    frame_at(w, number)->composed = w->now;
    c->queue[(c->first + c->n++) % FRAMES] = number;
    commit_next(w);
}

void flipped(struct world *w, uint64_t number, int32_t life)
{
    struct compositor *c = &w->compositor;
    if (!c->flipping || life != c->lives)
        return;
    if (w->now < c->stalled_until) {
        push(w, c->stalled_until, EVENT_FLIP, number, life);
        return;
    }
    if (c->showing >= 0 && composes(w))
        tp_slots_released(
            w->screened.slots, (unsigned)c->showing - w->screened.base, -1, TP_FENCE_NONE, w->now);
    else if (c->showing >= 0)
        push(w, w->now + HOP_NS, EVENT_RELEASE, (uint64_t)c->showing, life);
    c->showing = frame_at(w, number)->drawn;
    c->flipping = false;
    poke_repaint(w);
    commit_next(w);
}

/* --- the panel --- */

struct frame *frame_of(struct world *w, uint64_t serial)
{
    uint64_t number = serial > 0 ? w->serials[serial % FRAMES] : 0;
    struct frame *f = number > 0 ? frame_at(w, number - 1) : NULL;
    for (unsigned i = 0; f && f->number != number - 1 && i < KEPT; i++)
        if (w->kept[i].number == number - 1)
            return &w->kept[i];
    return f;
}

/* The panel's side has it from the latch on: what is written from then until the end of its
 * scan-out tears. */
static void latched(struct world *w, uint64_t serial)
{
    struct frame *f = frame_of(w, serial);
    if (!f)
        return;
    f->latched = w->now;
    f->torn = w->panel[f->drawn].write_to > w->now;
    if (w->n_latched < sizeof w->latched / sizeof *w->latched)
        w->latched[w->n_latched++] = serial;
}

static void unlatched(struct world *w, uint64_t serial)
{
    for (unsigned i = 0; i < w->n_latched; i++)
        if (w->latched[i] == serial)
            w->latched[i] = w->latched[--w->n_latched];
}

static void begin_reading(struct world *w, struct frame *f, const struct tp_scan_event *e)
{
    struct image *m = &w->panel[f->drawn];
    m->read_from = e->time_ns;
    m->read_to = e->end_ns;
    m->read_frame = f->number;
    m->torn = m->write_to > e->time_ns || (e->fresh && f->torn);
    unlatched(w, e->serial);
    if (!m->torn)
        return;
    w->out->tears++;
    record_tear(w, f->number, max_ns(m->write_from, f->latched));
    tell(w, "image %u is read, and the GPU writes it, or has since its latch", f->drawn);
    if (w->c->release)
        broken(w, "the panel read an image while the GPU wrote it");
}

void count_uses(struct world *w, uint64_t after)
{
    uint64_t last = w->server.serial;
    w->screens++;
    for (unsigned i = 0; i < w->n_panel; i++)
        w->panel[i].uses = 0;
    for (uint64_t serial = last > FRAMES ? last - FRAMES + 1 : 1; serial <= last; serial++)
        if (serial > after && w->panel_has[serial % FRAMES])
            w->panel[frame_of(w, serial)->drawn].uses++;
}

static void refresh(struct world *w, const struct tp_scan_event *e)
{
    struct server *s = &w->server;
    struct frame *f = frame_of(w, e->serial);
    record_scan(w, e);
    if (f)
        begin_reading(w, f, e);
    if (f && e->fresh) {
        f->line = e->time_ns;
        count_shown(w, f, e->sequence);
        push(w, w->now + HOP_NS, EVENT_SHOWN, f->number, 0);
    }
    s->sequence = e->sequence;
    s->published = 0;
    s->ticks = s->up;
    if (s->up) {
        if (e->serial > 0 && e->serial == s->blank) {
            s->blank = 0;
            w->forgotten = e->serial; /* whatever fences say, nothing from before it is read */
            count_uses(w, e->serial);
            tp_notes_blanked(s->notes, 0, e->serial);
        }
        tell_timeline(w, e->time_ns, false);
        if (s->has_commit)
            publish(w, s->commit);
        arm_timer(w);
    }
    roll_faults(w);
}

/* Its fence, where it was given before, signals; and the image is free. */
static void let_go(struct world *w, struct frame *f, uint64_t serial, int64_t at)
{
    int *early = &w->early[serial % FRAMES];
    if (f && serial > w->forgotten)
        push(w, at, EVENT_GONE, f->drawn, w->screens);
    if (*early == 0)
        return;
    w->fences[*early - 1].signal = at;
    push(w, at, EVENT_SIGNAL, (uint64_t)*early - 1, 0);
    drop_fence(w, *early - 1);
    w->n_early--;
}

/* The panel's completion is on its way, with this fence. */
static void complete(struct world *w, uint64_t serial, int fence)
{
    w->n_completions += fence >= 0;
    push(w, w->now + w->c->callback_ns, EVENT_CALLBACK, serial, fence);
}

static void released(struct world *w, uint64_t serial, bool dropped)
{
    struct frame *f = frame_of(w, serial);
    int64_t late = 0;
    w->panel_has[serial % FRAMES] = false;
    if (f && dropped)
        w->out->drops++;
    /* Of a server that is gone nobody has a fence: what counts is what the panel does. */
    if (w->server.up && serial >= w->server.first && strikes(w, TP_FAULT_LATE_FENCE))
        late = w->c->late_refreshes * panel_period(w);
    bool told = w->early[serial % FRAMES] != 0, silent = false;
    if (w->server.up && !told && strikes(w, TP_FAULT_SILENT_FENCE))
        silent = true;
    let_go(w, f, serial, w->now + late);
    if (f) {
        f->gone = true;
        f->released = w->now + late;
    }
    w->early[serial % FRAMES] = 0;
    if (!w->server.up)
        return;
    if (f)
        w->panel[f->drawn].unheld = w->now + (told ? late : max_ns(late, w->c->callback_ns));
    /* A GPU that has a fence which never signals nobody can help: the kernel's do. */
    bool nothing = silent && (w->c->wait != TP_RELEASE_WAIT_CPU || dice(w, 2));
    if (!told && !nothing)
        complete(w, serial, make_fence(w, silent ? INT64_MAX : w->now + late));
    if (f && dropped && has_bug(w, TP_BUG_DROPPED_SUCCESSOR_RELEASES) && serial > 1)
        complete(w, serial - 1, make_fence(w, w->now));
}

/* The completion of the picture before this comes with the fence that signals at its release. */
static void complete_early(struct world *w, uint64_t serial)
{
    uint64_t before = serial - 1;
    const struct frame *f = frame_of(w, before);
    if (!w->c->early_fences || !w->server.up || !f || f->gone || w->early[before % FRAMES] != 0)
        return;
    int fence = make_fence(w, INT64_MAX);
    hold_fence(w, fence);
    w->early[before % FRAMES] = fence + 1;
    w->n_early++;
    complete(w, before, fence);
}

void scan_event(struct world *w, const struct tp_scan_event *e)
{
    switch (e->type) {
    case TP_SCAN_REFRESH:
        refresh(w, e);
        break;
    case TP_SCAN_DROP:
        unlatched(w, e->serial);
        released(w, e->serial, true);
        break;
    case TP_SCAN_RELEASE:
        released(w, e->serial, false);
        break;
    case TP_SCAN_LATCH:
        latched(w, e->serial);
        complete_early(w, e->serial);
        break;
    case TP_SCAN_FLIP:
        break;
    }
}

void start_screen(struct world *w)
{
    const struct tp_world_config *c = w->c;
    struct tp_scan_mode m = {.refresh_mhz = c->refresh_mhz,
        .slowest_mhz = c->slowest_mhz,
        .active_lines = 1080,
        .blanking_lines = 45};
    if (tp_scan_init(&w->scan, &m, c->lead_ns, c->pipeline + c->untold, w->now) < 0)
        broken(w, "there is no such screen");
    w->compositor.showing = -1;
    w->server.used_sequence = UINT64_MAX;
    start_server(w);
}

void stop_screen(struct world *w)
{
    struct server *s = &w->server;
    end_messages(w);
    tp_notes_destroy(s->notes);
    for (unsigned i = 0; i < FRAMES; i++)
        if (w->early[i] != 0)
            drop_fence(w, w->early[i] - 1);
    for (size_t i = 0; i < w->events.n; i++)
        if (w->events.heap[i].type == EVENT_CALLBACK && w->events.heap[i].b >= 0)
            drop_fence(w, w->events.heap[i].b);
}
