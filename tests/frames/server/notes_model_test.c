/*
 * Release notes under random events, beside a simple model of what the panels read. After every
 * event: every board says what the model says; every replaced use had one pending note, before its
 * apply, and one final one after it; whoever goes by notes alone takes no buffer for free that is
 * being read, and does not wait for one that is free; every fence and all memory is closed once;
 * nothing piles up.
 *
 * TURNPIKE_NOTES_EVENTS and TURNPIKE_NOTES_SEED ask for another run than the usual one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/server/notes.h"

#define PEERS 6u
#define BUFFERS 8u   /* of a peer, at most; all peers have the same */
#define MEMORIES 10u /* the last two are never registered */
#define OUTPUTS 2u
#define LAYERS 3u
#define USES 512u
#define RECENT 4096u /* pictures whose notes are remembered */
#define FDS 4096u    /* numbers are used again, as a kernel does */
#define MS INT64_C(1000000)

#define ALL (TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_TIMELINE | TP_CAP_CONTROL)

static const struct kind {
    uint64_t capabilities;
    bool slow, poor; /* its socket fills up; descriptors often cannot be sent to it */
} kinds[PEERS] = {
    {ALL, false, false},
    {ALL, true, false},
    {ALL & ~TP_CAP_BOARD, false, false},
    {TP_CAP_RELEASE_FENCE | TP_CAP_BOARD, true, true},
    {TP_CAP_BOARD, false, false},
    {0, false, false},
};

static uint64_t seed;
static uint64_t event;

static uint32_t dice(uint32_t sides)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % sides);
}

#define check(c)                                                                                   \
    do {                                                                                           \
        if (!(c))                                                                                  \
            fail_msg("event %llu, line %d: %s", (unsigned long long)event, __LINE__, #c);          \
    } while (0)

/* --- the model: uses of memory --- */

struct use {
    unsigned output, layer, memory;
    uint64_t serial, replaced_by;
    bool on, continued, pending, fenced; /* on: in the picture that is shown */
    int fence;
    int64_t since_ns;
};
static struct use uses[USES];
static unsigned n_uses;

/* Which peers were to get a note of a use, and which did: a bit each. */
struct told {
    uint8_t pending_due, pending, final_due, final;
};
static struct told told[RECENT][LAYERS];

static struct output {
    bool away, blanking;
    int64_t blank_ns;
} outputs[OUTPUTS];

static uint64_t serial;
static int64_t now_ns;
static struct tp_notes *notes;
static bool blank_fails, blank_expected[OUTPUTS];

/* --- descriptors --- */

static enum { CLOSED, FENCE, SIGNALLED, MEMORY } fds[FDS];
static unsigned open_fences, open_memory;
static int next_fd;

static int open_fd(bool fence)
{
    while (fds[next_fd = (next_fd + 1) % (int)FDS] != CLOSED)
        continue;
    fds[next_fd] = fence ? FENCE : MEMORY;
    open_fences += fence;
    open_memory += !fence;
    return next_fd;
}

static void on_close_fence(void *data, int fd)
{
    (void)data;
    check(fds[fd] == FENCE || fds[fd] == SIGNALLED);
    fds[fd] = CLOSED;
    open_fences--;
}

static void on_close_memory(void *data, int fd)
{
    (void)data;
    check(fds[fd] == MEMORY);
    fds[fd] = CLOSED;
    open_memory--;
}

static void on_watch(void *data, int fd)
{
    (void)data;
    check(fds[fd] == FENCE);
}

/* --- peers, as they see it --- */

struct seen {
    uint32_t generation; /* 0: not registered */
    unsigned memory;
    uint64_t word;  /* the board's */
    bool told;      /* the notes said something */
    uint32_t state; /* the last they said */
    unsigned n_fences;
    uint64_t fences[64]; /* serials of fences: those of fences that are kept in `signalled` */
};
static struct peer {
    unsigned number;
    const struct kind *kind;
    struct tp_notes_peer *peer;
    int room;
    bool full;
    struct seen seen[BUFFERS];
    uint32_t answered;
    unsigned states; /* answers of the request that is under way */
} peers[PEERS];

/* A duplicate in a peer's hands: what it would poll. The number of a fence may be used again while
 * the peer still has it, so each fence has a serial of its own. */
static uint64_t fence_serial[FDS], fence_serials;
static uint8_t signalled[1 << 16];

static struct seen *seen_of(struct peer *p, const struct tp_buffer_name *name)
{
    check(name->index < BUFFERS);
    struct seen *s = &p->seen[name->index];
    check(s->generation == name->generation && s->memory + 100 == name->identity.inode);
    return s;
}

static void hear(struct seen *s, uint32_t low, const struct tp_scanout_frame *f)
{
    s->told = true;
    s->state = tp_board_state_of(low);
    if (f->fd >= 0 && s->n_fences < 64)
        s->fences[s->n_fences++] = fence_serial[f->fd];
    if (s->state == TP_BOARD_FREE)
        s->n_fences = 0;
}

/* Would this peer render into it, going by notes alone? */
static bool believes_free(struct seen *s)
{
    for (unsigned i = 0; i < s->n_fences;) {
        if (signalled[s->fences[i] % sizeof signalled])
            s->fences[i] = s->fences[--s->n_fences];
        else
            i++;
    }
    return s->state == TP_BOARD_FREE || (s->state == TP_BOARD_FENCED && s->n_fences == 0);
}

static void hear_note(struct peer *p, const struct tp_scanout_frame *f)
{
    const struct tp_note *m = &f->u.note;
    struct seen *s = seen_of(p, &m->buffer);
    check(p->kind->capabilities & TP_CAP_RELEASE_FENCE);
    check((m->kind == TP_FENCE_SYNC_FILE || m->kind == TP_FENCE_POLL) == (f->fd >= 0));
    if (p->kind->capabilities & TP_CAP_BOARD) { /* the board was first */
        enum tp_board_state state = tp_board_state_of((uint32_t)s->word);
        check(m->low >> 2 == (uint32_t)s->word >> 2);
        check(tp_board_state_of(m->low) == state ||
            (state == TP_BOARD_FENCED && tp_board_state_of(m->low) == TP_BOARD_REPLACED));
    }
    if (!(f->flags & TP_SCANOUT_RESYNC)) {
        struct told *t = &told[m->serial % RECENT][m->layer];
        uint8_t bit = (uint8_t)(1u << p->number);
        check(serial - m->serial < RECENT);
        if (m->what == TP_NOTE_PENDING) {
            check(!(t->pending & bit) && !(t->final & bit));
            t->pending |= bit;
        } else {
            check(!(t->final & bit));
            check((t->pending & bit) || !(t->pending_due & bit) || p->kind->slow);
            t->final |= bit;
        }
    }
    hear(s, m->low, f);
}

static int on_send(void *data, void *arg, const struct tp_scanout_frame *f)
{
    struct peer *p = arg;
    (void)data;
    check(!p->full);
    if (p->kind->poor && f->fd >= 0 && dice(2))
        return -EMFILE;
    if (p->kind->slow && p->room == 0) {
        p->full = true;
        return -EAGAIN;
    }
    p->room -= p->room > 0;
    if (f->fd >= 0)
        check(fds[f->fd] == FENCE || fds[f->fd] == SIGNALLED);
    switch (f->fourcc) {
    case TP_FRAME_NOTE:
        hear_note(p, f);
        break;
    case TP_FRAME_REGISTER:
        check(f->sequence == p->answered + 1);
        p->answered++;
        if (f->u.reg.result == 0 && (p->kind->capabilities & TP_CAP_BOARD)) {
            check(p->seen[f->u.reg.buffer.index].word >> 32 == f->u.reg.buffer.generation);
        }
        if (f->u.reg.result == 0) {
            struct seen *s = &p->seen[f->u.reg.buffer.index];
            if (s->generation != f->u.reg.buffer.generation)
                s->n_fences = 0;
            s->generation = f->u.reg.buffer.generation;
            s->memory = (unsigned)f->u.reg.buffer.identity.inode - 100;
            hear(s, f->u.reg.low, f);
        }
        break;
    case TP_FRAME_STATE:
        check(f->sequence == p->answered + 1);
        if (f->u.state.known)
            hear(seen_of(p, &f->u.state.buffer), f->u.state.low, f);
        p->states++;
        break;
    default:
        check(f->fourcc == TP_FRAME_TIMELINE || f->fourcc == TP_FRAME_SETTING);
    }
    return 0;
}

static void on_board(void *data, void *arg, unsigned index, uint64_t word)
{
    struct peer *p = arg;
    (void)data;
    check(p->kind->capabilities & TP_CAP_BOARD);
    check(((uint32_t)word >> 2) == (((uint32_t)p->seen[index].word >> 2) + 1) << 2 >> 2);
    p->seen[index].word = word;
}

static int on_blank(void *data, unsigned output)
{
    (void)data;
    check(blank_expected[output]);
    blank_expected[output] = false;
    return blank_fails ? -ENODEV : 0;
}

/* --- the model's rules --- */

static enum tp_board_state state_of(unsigned memory)
{
    enum tp_board_state state = TP_BOARD_FREE;
    for (unsigned i = 0; i < n_uses; i++) {
        const struct use *u = &uses[i];
        if (u->memory != memory)
            continue;
        enum tp_board_state one = u->on ? TP_BOARD_SHOWN
            : u->fenced                 ? TP_BOARD_FENCED
                                        : TP_BOARD_REPLACED;
        if (one > state || (one == TP_BOARD_REPLACED && state == TP_BOARD_FENCED))
            state = one == TP_BOARD_FENCED && state == TP_BOARD_REPLACED ? state : one;
    }
    return state;
}

/* Who takes notes of this memory now. */
static uint8_t takers(unsigned memory)
{
    uint8_t bits = 0;
    for (unsigned i = 0; i < PEERS; i++) {
        struct peer *p = &peers[i];
        for (unsigned k = 0; p->peer && k < BUFFERS; k++)
            if (p->seen[k].generation && p->seen[k].memory == memory &&
                (p->kind->capabilities & TP_CAP_RELEASE_FENCE))
                bits |= (uint8_t)(1u << i);
    }
    return bits;
}

static bool registered(unsigned memory)
{
    for (unsigned i = 0; i < PEERS; i++)
        for (unsigned k = 0; peers[i].peer && k < BUFFERS; k++)
            if (peers[i].seen[k].generation && peers[i].seen[k].memory == memory)
                return true;
    return false;
}

static struct told *told_of(const struct use *u)
{
    return &told[u->serial % RECENT][u->layer];
}

static void due_pending(struct use *u)
{
    if (!u->continued && !u->pending)
        told_of(u)->pending_due |= takers(u->memory);
    u->pending |= !u->continued;
}

static void due_final(struct use *u)
{
    if (!u->continued && !u->fenced)
        told_of(u)->final_due |= takers(u->memory);
}

static void drop_use(unsigned i)
{
    memmove(&uses[i], &uses[i + 1], (--n_uses - i) * sizeof *uses);
}

static void end_use(unsigned i)
{
    if (uses[i].on)
        due_pending(&uses[i]);
    due_final(&uses[i]);
    if (uses[i].fence >= 0) /* what peers hold may never signal: they are to be told */
        fence_serial[uses[i].fence] = ++fence_serials;
    drop_use(i);
}

static void end_output(unsigned output)
{
    for (unsigned i = 0; i < n_uses;) {
        if (uses[i].output == output)
            end_use(i);
        else
            i++;
    }
    outputs[output].blanking = false;
}

static bool in_picture(unsigned memory, uint64_t of)
{
    for (unsigned i = 0; i < n_uses; i++)
        if (uses[i].serial == of && uses[i].memory == memory)
            return true;
    return false;
}

/* --- events --- */

static void check_notes_of(const struct use *u)
{
    const struct told *t = told_of(u);
    for (unsigned i = 0; i < PEERS; i++) {
        uint8_t bit = (uint8_t)(1u << i);
        if (kinds[i].slow)
            continue;
        check((t->pending & bit) == (t->pending_due & bit));
        check((t->final & bit) == (t->final_due & bit));
    }
}

static void apply(unsigned output, const unsigned *memories, unsigned n, int result)
{
    struct tp_identity ids[LAYERS];
    struct output *o = &outputs[output];
    serial++;
    memset(told[serial % RECENT], 0, sizeof told[0]);
    unsigned old = n_uses;
    for (unsigned i = 0; i < n; i++) {
        ids[i] = (struct tp_identity){memories[i] < MEMORIES, memories[i] + 100};
        if (memories[i] == MEMORIES) { /* nothing that the protocol is about */
            ids[i].inode = 0;
            continue;
        }
        if (!o->away)
            uses[n_uses++] = (struct use){.output = output,
                .layer = i,
                .memory = memories[i],
                .serial = serial,
                .on = true,
                .fence = -1};
    }
    for (unsigned i = 0; i < old && !o->away; i++) {
        struct use *u = &uses[i];
        if (u->output != output || !u->on)
            continue;
        u->on = false;
        u->replaced_by = serial;
        u->since_ns = now_ns;
        u->continued = !u->pending && in_picture(u->memory, serial);
        due_pending(u);
    }
    tp_notes_before_apply(notes, output, serial, ids, n, now_ns);
    for (unsigned i = 0; i < n_uses; i++)
        check_notes_of(&uses[i]);
    if (result == -ENODEV) {
        end_output(output);
    } else if (result < 0) {
        for (unsigned i = 0; i < n_uses;) {
            struct use *u = &uses[i];
            if (u->output == output && u->replaced_by == serial && !u->on) {
                u->on = true;
                u->continued = false;
            }
            if (u->serial == serial)
                drop_use(i);
            else
                i++;
        }
        for (unsigned i = 0; i < n_uses; i++)
            if (uses[i].replaced_by == serial)
                uses[i].replaced_by = 0;
    }
    tp_notes_after_apply(notes, output, serial, result);
}

static void publish(void)
{
    unsigned memories[LAYERS], n = dice(LAYERS + 1);
    uint32_t luck = dice(100);
    for (unsigned i = 0; i < n; i++)
        memories[i] = dice(MEMORIES + 1);
    apply(dice(OUTPUTS), memories, n,
        luck < 3       ? -EAGAIN
            : luck < 5 ? -EINVAL
            : luck < 6 ? -ENODEV
                       : 0);
}

static void release(void)
{
    if (n_uses == 0)
        return;
    unsigned i = dice(4) ? 0 : dice(n_uses);
    while (i + 1 < n_uses && (uses[i].on || uses[i].fence >= 0) && dice(20))
        i++;
    struct use u = uses[i];
    int fence = dice(10) < 6 ? open_fd(true) : -1;
    enum tp_fence_kind kind = fence < 0 ? TP_FENCE_NONE : 1 + dice(2);
    if (fence >= 0) {
        fence_serial[fence] = ++fence_serials;
        signalled[fence_serials % sizeof signalled] = 0;
    }
    if (dice(30) == 0) /* of a picture that never was */
        u.serial += 1000000;
    else if (uses[i].fence < 0 && fence < 0) {
        end_use(i);
    } else if (uses[i].fence < 0) {
        struct use *at = &uses[i];
        if (at->on) {
            due_pending(at);
            at->on = false;
        }
        due_final(at);
        at->fence = fence;
        at->fenced = !at->continued;
        at->since_ns = now_ns;
    }
    tp_notes_released(notes, u.output, u.serial, u.layer, fence, kind, now_ns);
}

static void signal_one(void)
{
    for (unsigned i = 0; i < n_uses; i++) {
        int fence = uses[i].fence;
        if (fence < 0 || dice(3) == 0)
            continue;
        fds[fence] = SIGNALLED;
        signalled[fence_serial[fence] % sizeof signalled] = 1;
        end_use(i);
        tp_notes_signalled(notes, fence);
        check(fds[fence] == CLOSED);
        return;
    }
    tp_notes_signalled(notes, (int)FDS + 1);
}

static bool overdue(const struct use *u)
{
    return !u->on && now_ns - u->since_ns >= TP_NOTES_SILENCE_NS;
}

static void expire_output(unsigned output)
{
    struct output *o = &outputs[output];
    bool silent = false;
    for (unsigned i = 0; i < n_uses;) {
        if (uses[i].output != output || !overdue(&uses[i])) {
            i++;
        } else if (uses[i].continued || !registered(uses[i].memory)) {
            end_use(i);
        } else {
            silent = true;
            i++;
        }
    }
    if (!silent) {
        o->blanking = false;
        return;
    }
    if (o->blanking && now_ns - o->blank_ns < TP_NOTES_SILENCE_NS)
        return;
    bool force = o->blanking || blank_fails;
    int64_t since = o->blanking ? o->blank_ns : now_ns - TP_NOTES_SILENCE_NS;
    blank_expected[output] = !o->blanking;
    o->blanking = !force;
    for (unsigned i = 0; force && i < n_uses;) {
        if (uses[i].output == output && !uses[i].on && uses[i].since_ns <= since)
            end_use(i);
        else
            i++;
    }
    o->blank_ns = now_ns;
}

static void pass_time(void)
{
    now_ns += dice(200) ? dice(20) * MS : dice(1500) * MS;
    blank_fails = dice(8) == 0;
    while (tp_notes_deadline(notes) <= now_ns) {
        for (unsigned i = 0; i < OUTPUTS; i++)
            expire_output(i);
        tp_notes_expire(notes, now_ns);
        for (unsigned i = 0; i < OUTPUTS; i++)
            check(!blank_expected[i]);
    }
    for (unsigned i = 0; i < n_uses; i++) /* every wait ends */
        check(uses[i].on || now_ns - uses[i].since_ns < 2 * TP_NOTES_SILENCE_NS + 1500 * MS);
}

static void blank(void)
{
    unsigned output = dice(OUTPUTS);
    bool was = outputs[output].blanking;
    apply(output, NULL, 0, 0);
    if (!was)
        return;
    for (unsigned i = 0; i < n_uses;) {
        if (uses[i].output == output && !uses[i].on && uses[i].serial < serial)
            end_use(i);
        else
            i++;
    }
    outputs[output].blanking = false;
    tp_notes_blanked(notes, output, serial);
}

static void go_away(void)
{
    unsigned output = dice(OUTPUTS);
    bool away = !outputs[output].away;
    outputs[output].away = away;
    if (away)
        end_output(output);
    tp_notes_away(notes, output, away);
}

/* --- events of peers --- */

static void forget_bits(unsigned number)
{
    uint8_t keep = (uint8_t) ~(1u << number);
    for (unsigned i = 0; i < RECENT; i++)
        for (unsigned k = 0; k < LAYERS; k++) {
            told[i][k].pending_due &= keep;
            told[i][k].pending &= keep;
            told[i][k].final_due &= keep;
            told[i][k].final &= keep;
        }
}

static void join(struct peer *p)
{
    unsigned number = (unsigned)(p - peers);
    *p = (struct peer){.number = number, .kind = &kinds[number], .room = 3};
    forget_bits(number);
    assert_int_equal(tp_notes_connect(notes, p->kind->capabilities, p, &p->peer), 0);
}

static void leave(struct peer *p)
{
    tp_notes_disconnect(notes, p->peer);
    for (unsigned i = 0; i < BUFFERS; i++)
        check(!(p->kind->capabilities & TP_CAP_BOARD) || p->seen[i].word >> 32 == 0);
    p->peer = NULL;
}

static struct seen *seen_memory(struct peer *p, unsigned memory)
{
    for (unsigned i = 0; i < BUFFERS; i++)
        if (p->seen[i].generation && p->seen[i].memory == memory)
            return &p->seen[i];
    return NULL;
}

static void enrol(struct peer *p)
{
    static uint32_t generations;
    unsigned memory = dice(MEMORIES - 2);
    struct seen *s = seen_memory(p, memory);
    struct tp_buffer_name name = {{1, memory + 100}, ++generations, TP_BUFFER_NO_INDEX};
    if (s && dice(2))
        name.generation = s->generation; /* once more */
    else if (s)                          /* the old one ends */
        s->generation = 0;
    if (s && !s->generation) {
        /* What it was told and what is due to it belongs to the old one. */
        for (unsigned i = 0; i < n_uses; i++)
            if (uses[i].memory == memory) {
                told_of(&uses[i])->final &= (uint8_t) ~(1u << p->number);
                told_of(&uses[i])->final_due &= (uint8_t) ~(1u << p->number);
            }
    }
    tp_notes_register(notes, p->peer, &name, open_fd(false), p->answered + 1);
    if (p->full) /* answered with the next drain; what is told until then is of a name it knows */
        return;
    check(seen_memory(p, memory) != NULL);
}

static void give_up(struct peer *p)
{
    unsigned i = dice(BUFFERS);
    struct seen *s = &p->seen[i];
    struct tp_buffer_name name = {{1, s->memory + 100}, s->generation, i};
    uint32_t wrong = dice(10);
    if (wrong == 0)
        name.generation += 7;
    else if (wrong == 1)
        name.identity.inode++;
    else if (wrong == 2)
        name.index = dice(2) ? UINT32_MAX : BUFFERS;
    bool real = s->generation && wrong > 2;
    if (real)
        s->generation = 0;
    tp_notes_unregister(notes, p->peer, &name);
    if (real && (p->kind->capabilities & TP_CAP_BOARD))
        check(s->word >> 32 == 0);
}

static void ask(struct peer *p)
{
    unsigned i = dice(BUFFERS), expected = 1;
    struct seen *s = &p->seen[i];
    struct tp_buffer_name name = {{1, s->memory + 100}, s->generation, i};
    if (dice(3) == 0) {
        name = (struct tp_buffer_name){.index = TP_BUFFER_NO_INDEX};
        expected = 0;
        for (unsigned k = 0; k < BUFFERS; k++)
            expected += p->seen[k].generation != 0;
    }
    p->states = 0;
    tp_notes_ask(notes, p->peer, &name, p->answered + 1);
    while (p->full) {
        p->room = 3;
        p->full = false;
        tp_notes_drained(notes, p->peer);
    }
    check(p->states == expected);
    p->answered++;
}

static void drain(struct peer *p)
{
    p->room = dice(3) ? 100000 : (int)dice(4);
    if (!p->full)
        return;
    p->full = false;
    tp_notes_drained(notes, p->peer);
}

static void peer_event(void)
{
    struct peer *p = &peers[dice(PEERS)];
    if (!p->peer) {
        join(p);
        return;
    }
    check(tp_notes_may_read(p->peer) == !p->full);
    uint32_t what = dice(1000);
    if (what < 2) {
        leave(p);
    } else if (what < 700 || p->full) {
        drain(p);
    } else if (what < 850) {
        if (p->kind->slow) /* no answer is under way when it asks: see tp_notes_may_read */
            p->room = 100000;
        enrol(p);
    } else if (what < 920) {
        give_up(p);
    } else if (what < 990) {
        ask(p);
    } else {
        const struct tp_timeline_frame tick = {.output = dice(OUTPUTS), .sequence = event};
        const struct tp_setting_frame cap = {TP_SETTING_CAP, 0, (int64_t)event};
        tp_notes_timeline(notes, &tick);
        tp_notes_setting(notes, dice(2) ? NULL : p->peer, &cap);
    }
}

/* --- after each --- */

static void check_peer(struct peer *p)
{
    for (unsigned i = 0; p->peer && i < BUFFERS; i++) {
        struct seen *s = &p->seen[i];
        if (!s->generation)
            continue;
        enum tp_board_state state = state_of(s->memory);
        if (p->kind->capabilities & TP_CAP_BOARD) {
            check(s->word >> 32 == s->generation);
            check(tp_board_state_of((uint32_t)s->word) == state);
        }
        if (!(p->kind->capabilities & TP_CAP_RELEASE_FENCE) || p->full)
            continue;
        if (state == TP_BOARD_REPLACED || state == TP_BOARD_FENCED)
            check(!believes_free(s));
        else if (state == TP_BOARD_FREE)
            check(believes_free(s));
    }
}

static void check_all(void)
{
    struct tp_notes_counts counts;
    unsigned fences = 0;
    for (unsigned i = 0; i < n_uses; i++) {
        check_notes_of(&uses[i]);
        fences += uses[i].fence >= 0;
    }
    for (unsigned i = 0; i < PEERS; i++)
        check_peer(&peers[i]);
    tp_notes_counts(notes, &counts);
    check(counts.uses == n_uses);
    check(counts.fences == fences && open_fences == fences);
    check(counts.registrations == open_memory);
    check(counts.buffers <= MEMORIES);
}

static void run(uint64_t events, uint64_t from)
{
    static const struct tp_notes_ops ops = {
        .send = on_send,
        .board = on_board,
        .watch = on_watch,
        .close_fence = on_close_fence,
        .close_memory = on_close_memory,
        .blank = on_blank};
    const struct tp_notes_limits limits = {.peers = PEERS, .buffers = BUFFERS, .uses = USES};
    seed = from;
    n_uses = 0;
    serial = 0;
    now_ns = 0;
    memset(outputs, 0, sizeof outputs);
    memset(told, 0, sizeof told);
    memset(peers, 0, sizeof peers);
    tp_notes_create(&limits, &ops, NULL, &notes);
    for (event = 0; event < events; event++) {
        uint32_t what = dice(100);
        if (n_uses > 60 && what < 30)
            what += 30; /* the panel catches up */
        if (what < 30)
            publish();
        else if (what < 52)
            release();
        else if (what < 70)
            signal_one();
        else if (what < 82)
            pass_time();
        else if (what < 98)
            peer_event();
        else if (what < 99)
            blank();
        else if (dice(outputs[0].away || outputs[1].away ? 2 : 20) == 0)
            go_away();
        check_all();
    }
    struct tp_notes_counts counts;
    tp_notes_counts(notes, &counts);
    tp_notes_destroy(notes);
    check(open_fences == 0 && open_memory == 0);
    printf("%llu events: %llu pending, %llu final, %llu resync, %llu coalesced, %llu fences lost, "
           "%llu silent, %llu forced\n",
        (unsigned long long)events, (unsigned long long)counts.pending,
        (unsigned long long)counts.final, (unsigned long long)counts.resync,
        (unsigned long long)counts.coalesced, (unsigned long long)counts.lost_fences,
        (unsigned long long)counts.silent, (unsigned long long)counts.forced);
    if (events >= 100000)
        check(counts.pending > 0 && counts.final > 0 && counts.resync > 0 && counts.coalesced > 0 &&
            counts.lost_fences > 0 && counts.silent > 0 && counts.forced > 0);
}

static void every_use_is_told_once_whatever_happens(void **state)
{
    const char *events = getenv("TURNPIKE_NOTES_EVENTS"), *from = getenv("TURNPIKE_NOTES_SEED");
    (void)state;
    if (from) {
        run(events ? strtoull(events, NULL, 10) : 1000000, strtoull(from, NULL, 10));
        return;
    }
    for (uint64_t i = 1; i <= 4; i++)
        run(events ? strtoull(events, NULL, 10) : 250000, i * UINT64_C(0x9e3779b97f4a7c15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_use_is_told_once_whatever_happens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
