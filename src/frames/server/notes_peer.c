/* Who is told: peers, their buffers, what they are sent and what they are owed. */
#include "frames/server/notes_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

/* --- the board --- */

static void write_word(struct tp_notes *n, struct tp_notes_peer *p, unsigned index,
    uint32_t generation, enum tp_board_state state)
{
    uint32_t low = tp_board_low(++p->sequences[index], state);
    if (p->capabilities & TP_CAP_BOARD)
        n->ops.board(n->data, p->data, index, tp_board_word(generation, low));
}

static void write_state(
    struct tp_notes *n, struct tp_notes_registration *r, enum tp_board_state state)
{
    r->written = state;
    write_word(n, r->peer, r->name.index, r->name.generation, state);
}

void tp_notes_write_boards(struct tp_notes *n, struct tp_notes_buffer *b)
{
    enum tp_board_state state = tp_notes_state_of(b);
    for (struct tp_notes_registration *r = b->registrations; r; r = r->next)
        if (r->written != state)
            write_state(n, r, state);
}

/* What a note may promise: with a fence that the peer does not have it is not fenced, to it. */
static uint32_t low_of(const struct tp_notes_registration *r)
{
    enum tp_board_state state = r->written;
    if (state == TP_BOARD_FENCED && r->follow)
        state = TP_BOARD_REPLACED;
    return tp_board_low(r->peer->sequences[r->name.index], state);
}

/* --- sending --- */

/* False: there is no room. Who is broken takes all. */
static bool send_frame(
    struct tp_notes *n, struct tp_notes_peer *p, const struct tp_scanout_frame *f)
{
    int r = p->broken ? 0 : n->ops.send(n->data, p->data, f);
    if (r == -EAGAIN) {
        p->full = true;
        return false;
    }
    p->broken |= r < 0;
    return true;
}

/* Sends a frame that may have a fence: where that cannot go, the rest does. kind, low: inside f. */
static bool send_fence(struct tp_notes *n, struct tp_notes_registration *r,
    struct tp_scanout_frame *f, enum tp_fence_kind *kind, uint32_t *low)
{
    struct tp_notes_peer *p = r->peer;
    if (f->fd >= 0 && !p->broken) {
        int err = n->ops.send(n->data, p->data, f);
        if (err == 0)
            return true;
        if (err != -ETOOMANYREFS && err != -EMFILE && err != -ENFILE && err != -ENOBUFS) {
            p->full = err == -EAGAIN;
            p->broken = err != -EAGAIN;
            return !p->full;
        }
        n->counts.lost_fences++;
        r->follow = true;
        f->fd = -1;
        *kind = TP_FENCE_LOST;
        *low = low_of(r);
    }
    return send_frame(n, p, f);
}

static bool has_continued(const struct tp_notes_buffer *b)
{
    for (const struct tp_notes_use *u = b->first; u; u = u->sibling)
        if (u->continued)
            return true;
    return false;
}

/* Of what is told at once: with this fence the peer does not have them all yet. */
static bool has_later_fence(const struct tp_notes_use *u)
{
    while ((u = u->sibling))
        if (u->phase == TP_NOTES_FENCED)
            return true;
    return false;
}

/* u: NULL for a buffer that no use is left of. */
static bool send_note(struct tp_notes *n, struct tp_notes_registration *r,
    const struct tp_notes_use *u, enum tp_note_what what, uint32_t flags)
{
    const struct tp_notes_buffer *b = r->buffer;
    bool fenced = u && what == TP_NOTE_FINAL && u->fence >= 0;
    if (what == TP_NOTE_FINAL)
        r->follow |= has_continued(b);
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_NOTE,
        .flags = flags,
        .fd = fenced ? u->fence : -1,
        .u.note = {.buffer = r->name,
            .serial = u ? u->serial : b->last_serial,
            .layer = u ? u->layer : b->last_layer,
            .what = what,
            .kind = fenced ? u->kind : TP_FENCE_NONE,
            .low = low_of(r)}};
    if (fenced && (flags & TP_SCANOUT_RESYNC) && r->written == TP_BOARD_FENCED &&
        has_later_fence(u))
        f.u.note.low = tp_board_low(r->peer->sequences[r->name.index], TP_BOARD_REPLACED);
    if (!send_fence(n, r, &f, &f.u.note.kind, &f.u.note.low))
        return false;
    if (what == TP_NOTE_FINAL && r->written == TP_BOARD_FREE)
        r->follow = false; /* said */
    if (flags & TP_SCANOUT_RESYNC)
        n->counts.resync++;
    else if (what == TP_NOTE_PENDING)
        n->counts.pending++;
    else
        n->counts.final++;
    return true;
}

void tp_notes_say(struct tp_notes *n, const struct tp_notes_use *u, enum tp_note_what what)
{
    for (struct tp_notes_registration *r = u->buffer->registrations; r; r = r->next) {
        if (!(r->peer->capabilities & TP_CAP_RELEASE_FENCE))
            continue;
        if (!r->peer->full && !r->dirty && send_note(n, r, u, what, 0))
            continue;
        r->dirty = true;
        n->counts.coalesced++;
    }
}

/* --- what is owed --- */

static bool send_state(struct tp_notes *n, struct tp_notes_registration *r)
{
    const struct tp_notes_use *u = r->buffer->first;
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_STATE,
        .flags = TP_SCANOUT_ANSWER,
        .sequence = r->asked_sequence,
        .fd = -1,
        .u.state = {.buffer = r->name, .low = low_of(r), .known = true}};
    if (r->written == TP_BOARD_FENCED && u == r->buffer->last) {
        f.fd = u->fence;
        f.u.state.kind = u->kind;
    } else if (r->written == TP_BOARD_FENCED) { /* several: each comes in a note of its own */
        r->dirty = true;
        f.u.state.low = tp_board_low(r->peer->sequences[r->name.index], TP_BOARD_REPLACED);
    }
    return send_fence(n, r, &f, &f.u.state.kind, &f.u.state.low);
}

/* How a buffer stands, in notes: each fence, each use that is waited for, or that it is free. */
static bool send_standing(struct tp_notes *n, struct tp_notes_registration *r)
{
    bool said = false;
    r->follow |= has_continued(r->buffer);
    for (const struct tp_notes_use *u = r->buffer->first; u; u = u->sibling) {
        /* One that is shown again, since the next picture was refused, has had its pending note. */
        if ((u->phase == TP_NOTES_SHOWN && !u->pending_said) || u->continued)
            continue;
        enum tp_note_what what = u->phase == TP_NOTES_FENCED ? TP_NOTE_FINAL : TP_NOTE_PENDING;
        if (!send_note(n, r, u, what, TP_SCANOUT_RESYNC))
            return false;
        said = true;
    }
    if (r->written == TP_BOARD_FREE)
        return send_note(n, r, NULL, TP_NOTE_FINAL, TP_SCANOUT_RESYNC);
    return said || r->written != TP_BOARD_REPLACED || /* by uses of which nothing is told */
        send_note(n, r, NULL, TP_NOTE_PENDING, TP_SCANOUT_RESYNC);
}

static bool send_owed(struct tp_notes *n, struct tp_notes_registration *r)
{
    if (r->peer->full || (r->asked && !send_state(n, r)))
        return false;
    r->asked = false;
    if (!(r->peer->capabilities & TP_CAP_RELEASE_FENCE))
        r->dirty = false;
    if (r->dirty && !send_standing(n, r))
        return false;
    r->dirty = false;
    return true;
}

void tp_notes_settle(struct tp_notes *n, struct tp_notes_buffer *b)
{
    for (struct tp_notes_registration *r = b->registrations; r; r = r->next) {
        if (!r->follow || r->written != TP_BOARD_FREE)
            continue;
        r->dirty = true;
        send_owed(n, r);
    }
}

static bool send_timelines(struct tp_notes *n, struct tp_notes_peer *p)
{
    for (unsigned i = 0; p->timelines_owed; i++) {
        if (!(p->timelines_owed & 1u << i))
            continue;
        const struct tp_scanout_frame f = {
            .fourcc = TP_FRAME_TIMELINE, .fd = -1, .u.timeline = n->outputs[i].timeline};
        if (p->full || !send_frame(n, p, &f))
            return false;
        p->timelines_owed &= ~(1u << i);
    }
    return true;
}

static bool send_settings(struct tp_notes *n, struct tp_notes_peer *p)
{
    for (unsigned i = 0; p->settings_owed; i++) {
        if (!(p->settings_owed & 1u << i))
            continue;
        const struct tp_scanout_frame f = {
            .fourcc = TP_FRAME_SETTING, .fd = -1, .u.setting = p->settings[i]};
        if (p->full || !send_frame(n, p, &f))
            return false;
        p->settings_owed &= ~(1u << i);
    }
    return true;
}

void tp_notes_drained(struct tp_notes *n, struct tp_notes_peer *p)
{
    p->full = false;
    if (p->answer_owed && !send_frame(n, p, &p->answer))
        return;
    p->answer_owed = false;
    for (unsigned i = 0; i < n->limits.buffers; i++) {
        struct tp_notes_registration *r = p->registrations[i];
        if (r && (r->dirty || r->asked) && !send_owed(n, r))
            return;
    }
    if (send_settings(n, p))
        send_timelines(n, p);
}

bool tp_notes_may_read(const struct tp_notes_peer *p)
{
    return !p->full;
}

static void answer(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_scanout_frame *f)
{
    if (!p->full && send_frame(n, p, f))
        return;
    p->answer = *f;
    p->answer_owed = true;
}

/* --- a peer's buffers --- */

static struct tp_notes_registration *find(
    const struct tp_notes *n, const struct tp_notes_peer *p, const struct tp_buffer_name *name)
{
    struct tp_notes_registration *r =
        name->index < n->limits.buffers ? p->registrations[name->index] : NULL;
    return r && tp_buffer_name_equal(&r->name, name) ? r : NULL;
}

static void forget(struct tp_notes *n, struct tp_notes_registration *r)
{
    struct tp_notes_peer *p = r->peer;
    struct tp_notes_buffer *b = r->buffer;
    write_word(n, p, r->name.index, 0, TP_BOARD_FREE);
    *(r->prev ? &r->prev->next : &b->registrations) = r->next;
    if (r->next)
        r->next->prev = r->prev;
    p->registrations[r->name.index] = NULL;
    p->n_registrations--;
    n->counts.registrations--;
    if (r->memory >= 0)
        n->ops.close_memory(n->data, r->memory);
    free(r);
    tp_notes_buffer_done(n, b);
}

static struct tp_notes_registration *registration_of(
    struct tp_notes_peer *p, struct tp_notes_buffer *b)
{
    struct tp_notes_registration *r = b->registrations;
    while (r && r->peer != p)
        r = r->next;
    return r;
}

/* A free index is there. */
static struct tp_notes_registration *add(
    struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name, int memory)
{
    struct tp_notes_registration *r = tp_calloc(1, sizeof *r);
    struct tp_notes_buffer *b = tp_notes_buffer_of(n, &name->identity);
    *r = (struct tp_notes_registration){
        .peer = p, .buffer = b, .next = b->registrations, .name = *name, .memory = memory};
    if (r->next)
        r->next->prev = r;
    b->registrations = r;
    for (r->name.index = 0; p->registrations[r->name.index];)
        r->name.index++;
    p->registrations[r->name.index] = r;
    p->n_registrations++;
    n->counts.registrations++;
    return r;
}

static int take(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name,
    int memory, struct tp_notes_registration **out)
{
    static const struct tp_identity none;
    *out = NULL;
    if (name->generation == 0 || tp_identity_equal(&name->identity, &none))
        return -EINVAL;
    struct tp_notes_buffer *b = tp_notes_buffer_of(n, &name->identity);
    struct tp_notes_registration *r = registration_of(p, b);
    if (r && r->name.generation == name->generation) {
        if (memory >= 0)
            n->ops.close_memory(n->data, memory);
        *out = r;
        return 0;
    }
    if (r)
        forget(n, r);
    if (p->n_registrations == n->limits.buffers) {
        tp_notes_buffer_done(n, b);
        return -ENOSPC;
    }
    *out = add(n, p, name, memory);
    write_state(n, *out, tp_notes_state_of((*out)->buffer));
    return 0;
}

void tp_notes_register(struct tp_notes *n, struct tp_notes_peer *p,
    const struct tp_buffer_name *name, int memory, uint32_t sequence)
{
    struct tp_notes_registration *r;
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_REGISTER,
        .flags = TP_SCANOUT_ANSWER,
        .sequence = sequence,
        .fd = -1,
        .u.reg = {.buffer = *name}};
    f.u.reg.result = take(n, p, name, memory, &r);
    if (!r) {
        if (memory >= 0)
            n->ops.close_memory(n->data, memory);
        answer(n, p, &f);
        return;
    }
    f.u.reg.buffer = r->name;
    f.u.reg.low = low_of(r);
    answer(n, p, &f);
    if (r->written == TP_BOARD_FREE)
        return;
    r->dirty = true;
    send_owed(n, r);
}

void tp_notes_refuse(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name,
    uint32_t sequence)
{
    const struct tp_scanout_frame f = {.fourcc = TP_FRAME_REGISTER,
        .flags = TP_SCANOUT_ANSWER,
        .sequence = sequence,
        .fd = -1,
        .u.reg = {.buffer = *name, .result = -EINVAL}};
    answer(n, p, &f);
}

void tp_notes_unregister(
    struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name)
{
    struct tp_notes_registration *r = find(n, p, name);
    if (r)
        forget(n, r);
    else
        n->counts.ignored++;
}

void tp_notes_ask(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name,
    uint32_t sequence)
{
    static const struct tp_buffer_name all = {.index = TP_BUFFER_NO_INDEX};
    struct tp_notes_registration *only = find(n, p, name);
    bool every = tp_buffer_name_equal(name, &all);
    if (!only && !every) {
        const struct tp_scanout_frame f = {.fourcc = TP_FRAME_STATE,
            .flags = TP_SCANOUT_ANSWER,
            .sequence = sequence,
            .fd = -1,
            .u.state = {.buffer = *name}};
        n->counts.ignored++;
        answer(n, p, &f);
        return;
    }
    for (unsigned i = 0; i < n->limits.buffers; i++) {
        struct tp_notes_registration *r = p->registrations[i];
        if (!r || (!every && r != only))
            continue;
        r->asked = true;
        r->asked_sequence = sequence;
        send_owed(n, r);
    }
}

/* --- peers --- */

int tp_notes_connect(
    struct tp_notes *n, uint64_t capabilities, void *peer_data, struct tp_notes_peer **out)
{
    *out = NULL;
    if (n->counts.peers >= n->limits.peers)
        return -EMFILE;
    struct tp_notes_peer *p = tp_calloc(1, sizeof *p);
    p->data = peer_data;
    p->capabilities = capabilities;
    p->registrations = tp_calloc(n->limits.buffers, sizeof(struct tp_notes_registration *));
    p->sequences = tp_calloc(n->limits.buffers, sizeof *p->sequences);
    p->next = n->peers;
    if (p->next)
        p->next->prev = p;
    n->peers = p;
    n->counts.peers++;
    *out = p;
    for (unsigned i = 0; i < TP_NOTES_OUTPUTS; i++)
        if (n->outputs[i].ticked && (capabilities & TP_CAP_TIMELINE))
            p->timelines_owed |= 1u << i;
    send_timelines(n, p);
    return 0;
}

void tp_notes_disconnect(struct tp_notes *n, struct tp_notes_peer *p)
{
    for (unsigned i = 0; i < n->limits.buffers; i++)
        if (p->registrations[i])
            forget(n, p->registrations[i]);
    *(p->prev ? &p->prev->next : &n->peers) = p->next;
    if (p->next)
        p->next->prev = p->prev;
    n->counts.peers--;
    free(p->registrations);
    free(p->sequences);
    free(p);
}

/* --- the rest --- */

void tp_notes_timeline(struct tp_notes *n, const struct tp_timeline_frame *t)
{
    n->outputs[t->output].timeline = *t;
    n->outputs[t->output].ticked = true;
    for (struct tp_notes_peer *p = n->peers; p; p = p->next) {
        if (!(p->capabilities & TP_CAP_TIMELINE))
            continue;
        p->timelines_owed |= 1u << t->output;
        send_timelines(n, p);
    }
}

static void set(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_setting_frame *s)
{
    if (!(p->capabilities & TP_CAP_CONTROL))
        return;
    p->settings[s->setting] = *s;
    p->settings_owed |= 1u << s->setting;
    send_settings(n, p);
}

void tp_notes_setting(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_setting_frame *s)
{
    if (p) {
        set(n, p, s);
        return;
    }
    for (p = n->peers; p; p = p->next)
        set(n, p, s);
}
