/* What the panels read: uses of buffers, from before their apply until they are over. */
#include "frames/server/notes_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* --- buffers --- */

static unsigned bucket_of(const struct tp_identity *id)
{
    uint64_t h = (id->inode ^ id->device << 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(h >> 56);
}
_Static_assert(TP_NOTES_BUCKETS == 256, "a byte of the hash");

/* NULL: there is none of this memory. */
static struct tp_notes_buffer *find(const struct tp_notes *n, const struct tp_identity *id)
{
    for (struct tp_notes_buffer *b = n->buckets[bucket_of(id)]; b; b = b->next)
        if (tp_identity_equal(&b->identity, id))
            return b;
    return NULL;
}

struct tp_notes_buffer *tp_notes_buffer_of(struct tp_notes *n, const struct tp_identity *id)
{
    struct tp_notes_buffer **at = &n->buckets[bucket_of(id)], *b = find(n, id);
    if (b)
        return b;
    b = n->spare_buffers;
    if (b)
        n->spare_buffers = b->next;
    else
        b = tp_calloc(1, sizeof *b);
    *b = (struct tp_notes_buffer){.next = *at, .identity = *id};
    *at = b;
    n->counts.buffers++;
    return b;
}

void tp_notes_buffer_done(struct tp_notes *n, struct tp_notes_buffer *b)
{
    if (b->first || b->registrations)
        return;
    struct tp_notes_buffer **at = &n->buckets[bucket_of(&b->identity)];
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    b->next = n->spare_buffers;
    n->spare_buffers = b;
    n->counts.buffers--;
}

enum tp_board_state tp_notes_state_of(const struct tp_notes_buffer *b)
{
    enum tp_notes_phase worst = 0;
    for (const struct tp_notes_use *u = b->first; u; u = u->sibling)
        if (u->phase > worst)
            worst = u->phase;
    switch (worst) {
    case TP_NOTES_SHOWN:
        return TP_BOARD_SHOWN;
    case TP_NOTES_REPLACED:
        return TP_BOARD_REPLACED;
    case TP_NOTES_FENCED:
        return TP_BOARD_FENCED;
    }
    return TP_BOARD_FREE;
}

/* --- uses --- */

static void add_use(struct tp_notes *n, unsigned output, uint64_t serial, unsigned layer,
    const struct tp_identity *id)
{
    struct tp_notes_output *o = &n->outputs[output];
    struct tp_notes_use *u = n->spare_uses;
    if (u)
        n->spare_uses = u->next;
    else
        u = tp_calloc(1, sizeof *u);
    struct tp_notes_buffer *b = tp_notes_buffer_of(n, id);
    *u = (struct tp_notes_use){.prev = o->last,
        .before = b->last,
        .buffer = b,
        .output = output,
        .layer = layer,
        .serial = serial,
        .phase = TP_NOTES_SHOWN,
        .fence = -1};
    *(o->last ? &o->last->next : &o->first) = u;
    o->last = u;
    *(b->last ? &b->last->sibling : &b->first) = u;
    b->last = u;
    o->n_uses++;
    n->counts.uses++;
}

static void drop_fence(struct tp_notes *n, struct tp_notes_use *u)
{
    if (u->fence < 0)
        return;
    n->ops.close_fence(n->data, u->fence);
    u->fence = -1;
    n->counts.fences--;
}

static void unlink_use(struct tp_notes *n, struct tp_notes_use *u)
{
    struct tp_notes_output *o = &n->outputs[u->output];
    struct tp_notes_buffer *b = u->buffer;
    *(u->prev ? &u->prev->next : &o->first) = u->next;
    *(u->next ? &u->next->prev : &o->last) = u->prev;
    *(u->before ? &u->before->sibling : &b->first) = u->sibling;
    *(u->sibling ? &u->sibling->before : &b->last) = u->before;
    o->n_uses--;
    n->counts.uses--;
}

static void free_use(struct tp_notes *n, struct tp_notes_use *u)
{
    u->next = n->spare_uses;
    n->spare_uses = u;
}

static void say_pending(struct tp_notes *n, struct tp_notes_use *u)
{
    if (u->continued || u->pending_said)
        return;
    u->pending_said = true;
    tp_notes_say(n, u, TP_NOTE_PENDING);
}

/* The panel does not read it any more, or is not waited for any more. */
static void end_use(struct tp_notes *n, struct tp_notes_use *u)
{
    struct tp_notes_buffer *b = u->buffer;
    if (u->phase == TP_NOTES_SHOWN) { /* nothing took its place, but it is gone */
        u->phase = TP_NOTES_REPLACED;
        tp_notes_write_boards(n, b);
    }
    say_pending(n, u);
    unlink_use(n, u);
    drop_fence(n, u);
    b->last_serial = u->serial;
    b->last_layer = u->layer;
    tp_notes_write_boards(n, b);
    if (!u->continued && !u->final_said)
        tp_notes_say(n, u, TP_NOTE_FINAL);
    tp_notes_settle(n, b);
    free_use(n, u);
    tp_notes_buffer_done(n, b);
}

/* Ends it though its fence has not signalled: who has that fence is told not to wait for it. */
static void force_use(struct tp_notes *n, struct tp_notes_use *u)
{
    for (struct tp_notes_registration *r = u->buffer->registrations; r; r = r->next)
        r->follow |= u->final_said;
    n->counts.forced++;
    end_use(n, u);
}

/* Ends all uses of an output that were replaced, of pictures before this serial and since no later
 * than that instant. */
static void force_replaced(
    struct tp_notes *n, struct tp_notes_output *o, uint64_t serial, int64_t since_ns)
{
    for (struct tp_notes_use *u = o->first, *next; u; u = next) {
        next = u->next;
        if (u->phase != TP_NOTES_SHOWN && u->serial < serial && u->since_ns <= since_ns)
            force_use(n, u);
    }
}

static void end_all(struct tp_notes *n, struct tp_notes_output *o)
{
    while (o->first) {
        struct tp_notes_use *u = o->first;
        for (struct tp_notes_registration *r = u->buffer->registrations; r; r = r->next)
            r->follow |= u->final_said;
        end_use(n, u);
    }
    o->blanking = false;
}

/* --- pictures --- */

static bool shows(const struct tp_notes_buffer *b, unsigned output, uint64_t serial)
{
    for (const struct tp_notes_use *u = b->last; u; u = u->before)
        if (u->serial == serial && u->output == output)
            return true;
    return false;
}

/* A panel that has said nothing about so many pictures will say nothing about the oldest. */
static void make_room(struct tp_notes *n, struct tp_notes_output *o, unsigned n_layers)
{
    struct tp_notes_use *u = o->first, *next;
    for (; u && o->n_uses + n_layers > n->limits.uses; u = next) {
        next = u->next;
        if (u->phase != TP_NOTES_SHOWN)
            force_use(n, u);
    }
}

void tp_notes_before_apply(struct tp_notes *n, unsigned output, uint64_t serial,
    const struct tp_identity *layers, unsigned n_layers, int64_t now_ns)
{
    struct tp_notes_output *o = &n->outputs[output];
    static const struct tp_identity none;
    if (o->away || (o->last && o->last->serial == serial))
        return;
    make_room(n, o, n_layers);
    struct tp_notes_use *last = o->last;
    for (unsigned i = 0; i < n_layers && o->n_uses < n->limits.uses; i++)
        if (!tp_identity_equal(&layers[i], &none))
            add_use(n, output, serial, i, &layers[i]);
    for (struct tp_notes_use *u = last ? last->next : o->first; u; u = u->next)
        tp_notes_write_boards(n, u->buffer);
    for (struct tp_notes_use *u = o->first; u && u->serial != serial; u = u->next) {
        if (u->phase != TP_NOTES_SHOWN)
            continue;
        u->phase = TP_NOTES_REPLACED;
        u->replaced_by = serial;
        u->since_ns = now_ns;
        /* A pending note that is out wants its final one. */
        u->continued = !u->pending_said && shows(u->buffer, output, serial);
        tp_notes_write_boards(n, u->buffer);
    }
    for (struct tp_notes_use *u = o->first; u; u = u->next)
        if (u->phase == TP_NOTES_REPLACED && u->replaced_by == serial)
            say_pending(n, u);
}

/* The picture was refused: it is as if it had never come, but that who was told so waits. */
static void undo(struct tp_notes *n, struct tp_notes_output *o, uint64_t serial)
{
    for (struct tp_notes_use *u = o->first; u; u = u->next) {
        if (u->phase != TP_NOTES_REPLACED || u->replaced_by != serial || u->fence >= 0)
            continue;
        u->phase = TP_NOTES_SHOWN;
        u->continued = false;
        tp_notes_write_boards(n, u->buffer);
    }
    for (struct tp_notes_use *u = o->first, *next; u; u = next) {
        next = u->next;
        if (u->serial != serial || u->phase != TP_NOTES_SHOWN)
            continue;
        struct tp_notes_buffer *b = u->buffer;
        unlink_use(n, u);
        tp_notes_write_boards(n, b);
        /* Who was told that it is shown hears of it when it is not. */
        for (struct tp_notes_registration *r = b->registrations; r; r = r->next)
            r->follow = true;
        tp_notes_settle(n, b);
        free_use(n, u);
        tp_notes_buffer_done(n, b);
    }
}

void tp_notes_after_apply(struct tp_notes *n, unsigned output, uint64_t serial, int result)
{
    struct tp_notes_output *o = &n->outputs[output];
    if (result == -ENODEV)
        end_all(n, o);
    else if (result < 0)
        undo(n, o, serial);
}

/* --- what the panel tells --- */

/* Any descriptor of the memory will do. */
static void fence_memory(struct tp_notes *n, const struct tp_notes_use *u)
{
    const struct tp_notes_registration *r = u->buffer->registrations;
    while (r && r->memory < 0)
        r = r->next;
    if (r && n->ops.implicit)
        n->ops.implicit(n->data, r->memory, u->fence);
}

void tp_notes_released(struct tp_notes *n, unsigned output, uint64_t serial, unsigned layer,
    int fence, enum tp_fence_kind kind, int64_t now_ns)
{
    struct tp_notes_use *u = n->outputs[output].first;
    while (u && (u->serial != serial || u->layer != layer))
        u = u->next;
    if (!u || u->fence >= 0) { /* it is over, or was told twice */
        n->counts.ignored++;
        if (fence >= 0)
            n->ops.close_fence(n->data, fence);
        return;
    }
    if (fence < 0) {
        end_use(n, u);
        return;
    }
    if (u->phase == TP_NOTES_SHOWN) {
        u->phase = TP_NOTES_REPLACED;
        tp_notes_write_boards(n, u->buffer);
        say_pending(n, u);
    }
    u->fence = fence;
    u->kind = kind;
    u->since_ns = now_ns;
    n->counts.fences++;
    if (kind == TP_FENCE_SYNC_FILE)
        fence_memory(n, u);
    n->ops.watch(n->data, fence);
    if (u->continued) /* its fence is nobody's but ours: replaced, until it has signalled */
        return;
    u->phase = TP_NOTES_FENCED;
    u->final_said = true;
    tp_notes_write_boards(n, u->buffer);
    tp_notes_say(n, u, TP_NOTE_FINAL);
}

void tp_notes_signalled(struct tp_notes *n, int fence)
{
    for (unsigned i = 0; i < TP_NOTES_OUTPUTS && fence >= 0; i++) {
        for (struct tp_notes_use *u = n->outputs[i].first; u; u = u->next) {
            if (u->fence == fence) {
                end_use(n, u);
                return;
            }
        }
    }
    n->counts.ignored++;
}

void tp_notes_away(struct tp_notes *n, unsigned output, bool away)
{
    n->outputs[output].away = away;
    if (away)
        end_all(n, &n->outputs[output]);
}

void tp_notes_blanked(struct tp_notes *n, unsigned output, uint64_t serial)
{
    struct tp_notes_output *o = &n->outputs[output];
    if (o->blanking)
        force_replaced(n, o, serial, INT64_MAX);
    o->blanking = false;
}

/* --- silence --- */

static bool overdue(const struct tp_notes_use *u, int64_t now_ns)
{
    return u->phase != TP_NOTES_SHOWN && now_ns - u->since_ns >= TP_NOTES_SILENCE_NS;
}

int64_t tp_notes_deadline(const struct tp_notes *n)
{
    int64_t until = INT64_MAX;
    for (unsigned i = 0; i < TP_NOTES_OUTPUTS; i++) {
        const struct tp_notes_output *o = &n->outputs[i];
        int64_t from = INT64_MAX;
        for (const struct tp_notes_use *u = o->first; u; u = u->next)
            if (u->phase != TP_NOTES_SHOWN && u->since_ns < from)
                from = u->since_ns;
        if (from == INT64_MAX)
            continue;
        if (o->blanking && o->blank_ns > from)
            from = o->blank_ns;
        if (from + TP_NOTES_SILENCE_NS < until)
            until = from + TP_NOTES_SILENCE_NS;
    }
    return until;
}

void tp_notes_expire(struct tp_notes *n, int64_t now_ns)
{
    for (unsigned i = 0; i < TP_NOTES_OUTPUTS; i++) {
        struct tp_notes_output *o = &n->outputs[i];
        bool silent = false;
        for (struct tp_notes_use *u = o->first, *next; u; u = next) {
            next = u->next;
            if (!overdue(u, now_ns))
                continue;
            if (u->continued) /* the later use speaks for it */
                end_use(n, u);
            else if (!u->buffer->registrations)
                force_use(n, u);
            else
                silent = true;
        }
        if (!silent)
            o->blanking = false;
        if (!silent || (o->blanking && now_ns - o->blank_ns < TP_NOTES_SILENCE_NS))
            continue;
        bool was_blanking = o->blanking;
        o->blanking = false;
        if (was_blanking)
            force_replaced(n, o, UINT64_MAX, o->blank_ns);
        else if (n->ops.blank(n->data, i) < 0)
            force_replaced(n, o, UINT64_MAX, now_ns - TP_NOTES_SILENCE_NS);
        else
            o->blanking = true;
        n->counts.silent += !was_blanking;
        o->blank_ns = now_ns;
    }
}

/* --- the whole --- */

void tp_notes_create(const struct tp_notes_limits *limits, const struct tp_notes_ops *ops,
    void *data, struct tp_notes **out)
{
    struct tp_notes *n = tp_calloc(1, sizeof *n);
    n->limits = *limits;
    if (n->limits.buffers > TP_BOARD_WORDS)
        n->limits.buffers = TP_BOARD_WORDS;
    n->ops = *ops;
    n->data = data;
    *out = n;
}

void tp_notes_destroy(struct tp_notes *n)
{
    if (!n)
        return;
    while (n->peers) {
        n->peers->broken = true;
        tp_notes_disconnect(n, n->peers);
    }
    for (unsigned i = 0; i < TP_NOTES_OUTPUTS; i++)
        end_all(n, &n->outputs[i]);
    for (struct tp_notes_use *u = n->spare_uses, *next; u; u = next) {
        next = u->next;
        free(u);
    }
    for (struct tp_notes_buffer *b = n->spare_buffers, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(n);
}

uint32_t tp_notes_generation(const struct tp_notes *n, const struct tp_identity *id)
{
    const struct tp_notes_buffer *b = find(n, id);
    return b && b->registrations ? b->registrations->name.generation : 0;
}

void tp_notes_counts(const struct tp_notes *n, struct tp_notes_counts *out)
{
    *out = n->counts;
}
