/* What becomes known of the slots: the server's words and notes, and the way of each image. */
#include "frames/icd/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "frames/icd/slots_internal.h"
#include "frames/wire/hello.h"

#define NEVER INT64_MIN

int tp_slots_create(const struct tp_slots_config *c, const struct tp_slots_ops *ops, void *data,
    struct tp_slots **out)
{
    *out = NULL;
    if (c->images < 1 || c->images > TP_SLOTS_MAX)
        return -EINVAL;
    struct tp_slots *s = calloc(1, sizeof *s + c->images * sizeof *s->slots);
    if (!s)
        return -ENOMEM;
    s->ops = *ops;
    s->data = data;
    s->config = *c;
    s->n = c->images;
    tp_vblank_assume(&s->vblank, 0, c->period_ns > 0 ? c->period_ns : TP_SLOTS_SIXTY_HZ_NS);
    s->vblank.pipeline = c->pipeline;
    s->late = TP_SLOTS_UNSEEN;
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        t->ready_ns = t->replaced_ns = t->kept_ns = t->quarantine_ns = NEVER;
        t->name.index = TP_BUFFER_NO_INDEX;
    }
    *out = s;
    return 0;
}

void tp_slots_destroy(struct tp_slots *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->n; i++) {
        tp_slot_drop_fences(s, &s->slots[i], tp_slot_fence_is_any);
        free(s->slots[i].fences);
    }
    free(s);
}

int64_t tp_slots_pass_ns(const struct tp_slots *s)
{
    return ((int64_t)s->vblank.pipeline + 2) * tp_vblank_period_ns(&s->vblank);
}

/* --- fences --- */

void tp_slot_drop_fences(struct tp_slots *s, struct tp_slot *t, tp_slot_fence_is goes)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < t->n_fences; i++) {
        if (!goes(s, &t->fences[i])) {
            t->fences[kept++] = t->fences[i];
            continue;
        }
        s->ops.close_fence(s->data, t->fences[i].fence);
        s->counts.fences--;
    }
    t->n_fences = kept;
}

bool tp_slot_fence_is_any(const struct tp_slots *s, const struct tp_slot_fence *f)
{
    (void)s;
    (void)f;
    return true;
}

bool tp_slot_fence_is_servers(const struct tp_slots *s, const struct tp_slot_fence *f)
{
    (void)s;
    return !f->compositor && !f->orphan;
}

static bool is_compositors(const struct tp_slots *s, const struct tp_slot_fence *f)
{
    (void)s;
    return f->compositor;
}

static void add_fence(
    struct tp_slots *s, struct tp_slot *t, int fence, enum tp_fence_kind kind, bool compositor)
{
    TP_PUSH(t->fences, t->n_fences, t->fence_cap) =
        (struct tp_slot_fence){.fence = fence, .kind = kind, .compositor = compositor};
    s->counts.fences++;
}

/* --- how the panel stands to it --- */

bool tp_slot_word(const struct tp_slots *s, const struct tp_slot *t, uint32_t *low)
{
    return s->config.release && s->server == TP_SERVER_UP && s->has_board &&
        t->registration == TP_REG_KNOWN &&
        tp_board_read(&s->board, t->name.index, t->name.generation, low) >= 0;
}

enum tp_slot_panel tp_slot_panel(const struct tp_slots *s, const struct tp_slot *t)
{
    uint32_t low = t->low;
    if (!s->config.release || s->server != TP_SERVER_UP || t->registration == TP_REG_NONE)
        return TP_PANEL_FREE;
    bool board = tp_slot_word(s, t, &low);
    if (!board && s->has_board && t->registration == TP_REG_KNOWN && t->presented)
        return TP_PANEL_REPLACED; /* a server that is about to go takes its words back first */
    if (!board && t->unheard)
        return TP_PANEL_REPLACED;
    if (!board && (!t->low_known || t->spent))
        return TP_PANEL_FREE;
    switch (tp_board_state_of(low)) {
    case TP_BOARD_FREE:
        return TP_PANEL_FREE;
    case TP_BOARD_REPLACED:
        return TP_PANEL_REPLACED;
    case TP_BOARD_SHOWN:
        return TP_PANEL_SHOWN;
    case TP_BOARD_FENCED:
        break;
    }
    bool whole = t->fenced_known && t->fenced_low == low && t->n_open == 0 && !t->incomplete;
    return whole ? TP_PANEL_FENCED : TP_PANEL_FENCE_AWAY;
}

/* --- the server --- */

static void forget_notes(struct tp_slot *t)
{
    t->low_known = t->spent = t->fenced_known = t->incomplete = false;
    t->n_open = 0;
}

/* What may be on the panel by the doing of a server of which nothing was heard: what the compositor
 * has, and what it gave back when no server was known to be there. */
static void quarantine(struct tp_slots *s, int64_t now_ns)
{
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        bool away = t->place == TP_PLACE_QUEUED || t->place == TP_PLACE_HELD;
        if (s->config.release && (away || t->doubt)) {
            t->quarantine_ns = now_ns;
            t->ready_ns = NEVER;
        }
        t->doubt = false;
    }
    s->doubt = false;
}

void tp_slots_connected(
    struct tp_slots *s, uint64_t capabilities, const struct tp_board_view *board, int64_t now_ns)
{
    quarantine(s, now_ns);
    s->server = TP_SERVER_UP;
    s->capabilities = capabilities;
    s->has_board = board && (capabilities & TP_CAP_BOARD);
    if (s->has_board)
        s->board = *board;
}

/* The fences in hand are the kernel's, and signal without the server: a panel that lets go late
 * still says so. One that never does is given up. */
static void keep_fences(struct tp_slot *t, int64_t now_ns)
{
    for (unsigned i = 0; i < t->n_fences; i++) {
        if (t->fences[i].compositor || t->fences[i].orphan)
            continue;
        t->fences[i].orphan = true;
        t->orphans_ns = now_ns + TP_SLOTS_SILENCE_NS;
    }
}

static void leave_server(struct tp_slots *s, int64_t now_ns)
{
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        t->doubt |= t->place == TP_PLACE_IDLE && tp_slot_panel(s, t) != TP_PANEL_FREE;
    }
    quarantine(s, now_ns);
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        keep_fences(t, now_ns);
        forget_notes(t);
        t->registration = TP_REG_NONE;
        t->unheard = false;
        t->replaced_ns = t->kept_ns = NEVER;
    }
    s->capabilities = 0;
    s->has_board = false;
}

void tp_slots_disconnected(struct tp_slots *s, int64_t now_ns)
{
    if (s->server != TP_SERVER_LOST)
        leave_server(s, now_ns);
    s->server = TP_SERVER_LOST;
}

void tp_slots_alone(struct tp_slots *s, int64_t now_ns)
{
    if (s->server == TP_SERVER_UP)
        leave_server(s, now_ns);
    s->server = TP_SERVER_NONE;
}

void tp_slots_register(
    struct tp_slots *s, unsigned slot, const struct tp_buffer_name *name, int64_t now_ns)
{
    (void)now_ns;
    struct tp_slot *t = &s->slots[slot];
    t->name = *name;
    t->name.index = TP_BUFFER_NO_INDEX;
    t->registration = TP_REG_ASKED;
    t->unheard = t->presented = t->order > 0 && t->place != TP_PLACE_ACQUIRED;
    forget_notes(t);
}

static struct tp_slot *find(struct tp_slots *s, const struct tp_buffer_name *name, bool any_index)
{
    if (s->server != TP_SERVER_UP)
        return NULL;
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        if (t->registration != TP_REG_NONE && t->name.generation == name->generation &&
            tp_identity_equal(&t->name.identity, &name->identity) &&
            (any_index || t->name.index == name->index))
            return t;
    }
    return NULL;
}

/* Sequences have 30 bits and go round. */
static bool is_older(uint32_t low, uint32_t than)
{
    uint32_t behind = ((than >> 2) - (low >> 2)) & 0x3fffffffu;
    return behind > 0 && behind < 0x20000000u;
}

static bool is_news(const struct tp_slot *t, uint32_t low)
{
    return !t->low_known || !(is_older(low, t->low) || (t->spent && low == t->low));
}

/* The state after a note or an answer, whose fences are in hand already. */
static void hear(struct tp_slots *s, struct tp_slot *t, uint32_t low, int64_t now_ns)
{
    t->unheard = false;
    if (!is_news(t, low))
        return;
    t->low = low;
    t->low_known = true;
    t->spent = false;
    switch (tp_board_state_of(low)) {
    case TP_BOARD_FREE:
        tp_slot_drop_fences(s, t, tp_slot_fence_is_servers);
        t->incomplete = t->fenced_known = false;
        t->n_open = 0;
        break;
    case TP_BOARD_FENCED:
        t->fenced_low = low;
        t->fenced_known = true;
        break;
    case TP_BOARD_REPLACED:
        if (t->replaced_ns == NEVER)
            t->replaced_ns = now_ns;
        break;
    case TP_BOARD_SHOWN:
        t->replaced_ns = NEVER;
        break;
    }
}

bool tp_slots_registered(struct tp_slots *s, const struct tp_register_frame *answer, int64_t now_ns)
{
    struct tp_slot *t = find(s, &answer->buffer, true);
    if (!t)
        return false;
    if (answer->result < 0) {
        t->registration = TP_REG_NONE;
        t->unheard = false;
        return true;
    }
    t->name.index = answer->buffer.index;
    t->registration = TP_REG_KNOWN;
    hear(s, t, answer->low, now_ns);
    t->fenced_known = false; /* its fences come in notes */
    return true;
}

static void close_use(struct tp_slot *t, uint64_t serial, uint32_t layer)
{
    for (unsigned i = 0; i < t->n_open; i++) {
        if (t->open[i].serial != serial || t->open[i].layer != layer)
            continue;
        t->open[i] = t->open[--t->n_open];
        return;
    }
}

static void open_use(struct tp_slot *t, uint64_t serial, uint32_t layer)
{
    close_use(t, serial, layer);
    if (t->n_open == TP_SLOTS_OPEN) { /* more than can be told apart: wait until it is free */
        t->incomplete = true;
        return;
    }
    t->open[t->n_open++] = (struct tp_slot_use){serial, layer};
}

bool tp_slots_note(
    struct tp_slots *s, const struct tp_note *note, bool resync, int fence, int64_t now_ns)
{
    struct tp_slot *t = find(s, &note->buffer, false);
    if (!t)
        return false;
    bool news = is_news(t, note->low);
    s->counts.resynced += resync;
    if (note->what == TP_NOTE_PENDING) {
        s->counts.pending++;
        if (!resync && news)
            open_use(t, note->serial, note->layer);
    } else {
        s->counts.final++;
        close_use(t, note->serial, note->layer);
        if (note->kind == TP_FENCE_LOST) {
            s->counts.lost++;
            t->incomplete |= news;
        }
    }
    if (fence >= 0)
        add_fence(s, t, fence, note->kind, false);
    hear(s, t, note->low, now_ns);
    return true;
}

bool tp_slots_state(
    struct tp_slots *s, const struct tp_state_frame *answer, int fence, int64_t now_ns)
{
    struct tp_slot *t = find(s, &answer->buffer, answer->buffer.index == TP_BUFFER_NO_INDEX);
    if (!t)
        return false;
    s->counts.resynced++;
    if (!answer->known) { /* it watches this buffer no longer: nothing will be heard of it */
        if (t->place == TP_PLACE_IDLE && tp_slot_panel(s, t) != TP_PANEL_FREE)
            t->quarantine_ns = now_ns;
        t->registration = TP_REG_NONE;
        t->unheard = false;
    }
    if (fence >= 0)
        add_fence(s, t, fence, answer->kind, false);
    if (!answer->known)
        return true;
    if (answer->kind == TP_FENCE_LOST) {
        t->incomplete = true;
    } else if (tp_board_state_of(answer->low) == TP_BOARD_FENCED) {
        /* The answer is the whole of it. */
        t->incomplete = false;
        t->n_open = 0;
    }
    hear(s, t, answer->low, now_ns);
    return true;
}

/* --- the way of an image --- */

int tp_slots_presented(struct tp_slots *s, unsigned slot, int64_t now_ns)
{
    (void)now_ns;
    struct tp_slot *t = &s->slots[slot];
    if (t->place != TP_PLACE_ACQUIRED)
        return -EINVAL;
    t->place = TP_PLACE_QUEUED;
    t->order = ++s->orders;
    t->presented = true;
    t->unheard = t->registration == TP_REG_ASKED;
    return 0;
}

void tp_slots_committed(struct tp_slots *s, unsigned slot, int64_t now_ns)
{
    if (s->slots[slot].place == TP_PLACE_ACQUIRED)
        tp_slots_presented(s, slot, now_ns);
    if (s->slots[slot].place == TP_PLACE_QUEUED)
        s->slots[slot].place = TP_PLACE_HELD;
}

void tp_slots_returned(struct tp_slots *s, unsigned slot, int64_t now_ns)
{
    struct tp_slot *t = &s->slots[slot];
    if (t->place != TP_PLACE_ACQUIRED && t->place != TP_PLACE_QUEUED)
        return;
    t->place = TP_PLACE_IDLE;
    t->unheard = false; /* it never was with the server */
    t->given_ns = now_ns;
}

static void given_back(struct tp_slots *s, struct tp_slot *t, int64_t now_ns)
{
    t->place = TP_PLACE_IDLE;
    t->given_ns = now_ns;
    /* Another server may have it on its panel, of which nothing is known yet. */
    if (s->config.release && s->server == TP_SERVER_LOST)
        t->quarantine_ns = now_ns;
    else
        t->doubt = s->doubt = s->config.release;
}

bool tp_slots_doubtful(const struct tp_slots *s)
{
    return s->doubt;
}

void tp_slots_assured(struct tp_slots *s)
{
    for (unsigned i = 0; i < s->n && s->doubt; i++)
        s->slots[i].doubt = false;
    s->doubt = false;
}

void tp_slots_released(
    struct tp_slots *s, unsigned slot, int fence, enum tp_fence_kind kind, int64_t now_ns)
{
    struct tp_slot *t = &s->slots[slot];
    if (fence >= 0)
        add_fence(s, t, fence, kind, true);
    if (t->place != TP_PLACE_HELD && t->place != TP_PLACE_QUEUED)
        return;
    given_back(s, t, now_ns);
    if (t->n_fences == 0) /* if nobody else reads it, it is ready since now */
        tp_slots_look(s, slot, now_ns);
}

void tp_slots_compositor_gone(struct tp_slots *s, int64_t now_ns)
{
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_slot *t = &s->slots[i];
        tp_slot_drop_fences(s, t, is_compositors);
        if (t->place != TP_PLACE_HELD && t->place != TP_PLACE_QUEUED)
            continue;
        given_back(s, t, now_ns);
        /* The last of its commits may still be on their way to the panel. */
        if (s->config.release && s->server != TP_SERVER_NONE)
            t->quarantine_ns = now_ns;
    }
}

/* --- counts --- */

unsigned tp_slots_acquired(const struct tp_slots *s)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->n; i++)
        n += s->slots[i].place == TP_PLACE_ACQUIRED;
    return n;
}

void tp_slots_counts(const struct tp_slots *s, struct tp_slots_counts *out)
{
    *out = s->counts;
}

void tp_slots_count_wait(struct tp_slots *s, bool for_release)
{
    *(for_release ? &s->counts.release_waits : &s->counts.slot_waits) += 1;
}

bool tp_slots_incident(struct tp_slots *s)
{
    bool told = s->incident_told;
    s->incident_told |= s->incident;
    return s->incident && !told;
}
