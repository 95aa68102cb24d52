#include "frames/wire/scanout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 24u
#define TIMELINE_STOPPED 1u
#define TIMELINE_VARIABLE 2u
#define STATE_KNOWN 1u
#define CENSUS_ENDED 1u

/* --- bytes --- */

/* Where the next value is read or written. Whoever reads has checked the length. */
struct cursor {
    uint8_t *to;
    const uint8_t *from;
};

static void put(struct cursor *c, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *c->to++ = (uint8_t)(v >> 8 * i);
}

static uint64_t get(struct cursor *c, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)*c->from++ << 8 * i;
    return v;
}

static uint32_t get_u32(struct cursor *c)
{
    return (uint32_t)get(c, 4);
}

static void put_name(struct cursor *c, const struct tp_buffer_name *n)
{
    put(c, n->identity.device, 8);
    put(c, n->identity.inode, 8);
    put(c, n->generation, 4);
    put(c, n->index, 4);
}

static struct tp_buffer_name get_name(struct cursor *c)
{
    struct tp_buffer_name n;
    n.identity.device = get(c, 8);
    n.identity.inode = get(c, 8);
    n.generation = get_u32(c);
    n.index = get_u32(c);
    return n;
}

/* A kind of fence that a later version sends is one that cannot be used here. */
static enum tp_fence_kind get_kind(struct cursor *c)
{
    uint32_t kind = get_u32(c);
    return kind > TP_FENCE_LOST ? TP_FENCE_LOST : (enum tp_fence_kind)kind;
}

/* --- each payload --- */

static void put_register(struct cursor *c, const struct tp_register_frame *r, bool answer)
{
    put_name(c, &r->buffer);
    if (answer) {
        put(c, (uint32_t)r->result, 4);
        put(c, r->low, 4);
    }
}

static int get_register(struct cursor *c, struct tp_scanout_frame *out)
{
    struct tp_register_frame *r = &out->u.reg;
    r->buffer = get_name(c);
    if (!(out->flags & TP_SCANOUT_ANSWER))
        return r->buffer.generation == 0 ? -EBADMSG : 0;
    r->result = (int32_t)get_u32(c);
    r->low = get_u32(c);
    return r->result > 0 ? -EBADMSG : 0;
}

static void put_state(struct cursor *c, const struct tp_state_frame *s, bool answer)
{
    put_name(c, &s->buffer);
    if (answer) {
        put(c, s->low, 4);
        put(c, s->kind, 4);
        put(c, s->known ? STATE_KNOWN : 0, 4);
        put(c, 0, 4);
    }
}

static int get_state(struct cursor *c, struct tp_scanout_frame *out)
{
    struct tp_state_frame *s = &out->u.state;
    s->buffer = get_name(c);
    if (out->flags & TP_SCANOUT_ANSWER) {
        s->low = get_u32(c);
        s->kind = get_kind(c);
        s->known = (get_u32(c) & STATE_KNOWN) != 0;
    }
    return 0;
}

static void put_note(struct cursor *c, const struct tp_note *n)
{
    put_name(c, &n->buffer);
    put(c, n->serial, 8);
    put(c, n->layer, 4);
    put(c, n->what, 4);
    put(c, n->kind, 4);
    put(c, n->low, 4);
}

static int get_note(struct cursor *c, struct tp_scanout_frame *out)
{
    struct tp_note *n = &out->u.note;
    n->buffer = get_name(c);
    n->serial = get(c, 8);
    n->layer = get_u32(c);
    uint32_t what = get_u32(c);
    n->kind = get_kind(c);
    n->low = get_u32(c);
    n->what = (enum tp_note_what)what;
    if (what == 0)
        return -EBADMSG;
    if (what > TP_NOTE_FINAL)
        return -ENOTSUP;
    return what == TP_NOTE_PENDING && n->kind != TP_FENCE_NONE ? -EBADMSG : 0;
}

static void put_timeline(struct cursor *c, const struct tp_timeline_frame *t)
{
    put(c, t->output, 4);
    put(c, (t->stopped ? TIMELINE_STOPPED : 0u) | (t->variable ? TIMELINE_VARIABLE : 0u), 4);
    put(c, t->pipeline, 4);
    put(c, 0, 4);
    put(c, t->sequence, 8);
    put(c, (uint64_t)t->time_ns, 8);
    put(c, (uint64_t)t->period_ns, 8);
    put(c, (uint64_t)t->lead_ns, 8);
}

static int get_timeline(struct cursor *c, struct tp_scanout_frame *out)
{
    struct tp_timeline_frame *t = &out->u.timeline;
    t->output = get_u32(c);
    uint32_t flags = get_u32(c);
    t->stopped = flags & TIMELINE_STOPPED;
    t->variable = flags & TIMELINE_VARIABLE;
    t->pipeline = get_u32(c);
    get_u32(c);
    t->sequence = get(c, 8);
    t->time_ns = (int64_t)get(c, 8);
    t->period_ns = (int64_t)get(c, 8);
    t->lead_ns = (int64_t)get(c, 8);
    /* What a model of the refreshes divides by and adds up. */
    if (t->time_ns < 0 || t->period_ns <= 0 || t->period_ns > INT64_C(10000000000) ||
        t->lead_ns < 0 || t->lead_ns > t->period_ns || t->pipeline > 16)
        return -EBADMSG;
    return 0;
}

static void put_setting(struct cursor *c, const struct tp_setting_frame *s)
{
    put(c, s->setting, 4);
    put(c, s->output, 4);
    put(c, (uint64_t)s->value, 8);
}

static int get_setting(struct cursor *c, struct tp_scanout_frame *out)
{
    struct tp_setting_frame *s = &out->u.setting;
    uint32_t setting = get_u32(c);
    s->setting = (enum tp_setting)setting;
    s->output = get_u32(c);
    s->value = (int64_t)get(c, 8);
    if (setting == 0)
        return -EBADMSG;
    if (setting > TP_SETTING_REFRESH)
        return -ENOTSUP;
    if (setting == TP_SETTING_GATE)
        return s->value < 0 ? -EBADMSG : s->value > TP_GATE_LATENCY ? -ENOTSUP : 0;
    return s->value < 0 || s->value > 10000000 ? -EBADMSG : 0;
}

static void put_census(struct cursor *c, const struct tp_census_frame *s)
{
    put(c, s->number, 4);
    put(c, s->ended ? CENSUS_ENDED : 0, 4);
}

static int get_census(struct cursor *c, struct tp_scanout_frame *out)
{
    out->u.census.number = get_u32(c);
    out->u.census.ended = get_u32(c) & CENSUS_ENDED;
    return 0;
}

/* --- a frame --- */

enum direction { FROM_GUEST = 1, FROM_SERVER = 2 };

static const struct row {
    uint32_t fourcc;
    unsigned requests, answers; /* who sends it so */
    size_t bytes, answer_bytes;
    int (*get)(struct cursor *c, struct tp_scanout_frame *out); /* NULL: a name alone */
} rows[] = {
    {TP_FRAME_REGISTER, FROM_GUEST, FROM_SERVER, NAME_BYTES, NAME_BYTES + 8, get_register},
    {TP_FRAME_UNREGISTER, FROM_GUEST, 0, NAME_BYTES, 0, NULL},
    {TP_FRAME_STATE, FROM_GUEST, FROM_SERVER, NAME_BYTES, NAME_BYTES + 16, get_state},
    {TP_FRAME_NOTE, FROM_SERVER, 0, NAME_BYTES + 24, 0, get_note},
    {TP_FRAME_TIMELINE, FROM_SERVER, 0, 48, 0, get_timeline},
    {TP_FRAME_SETTING, FROM_GUEST | FROM_SERVER, 0, 16, 0, get_setting},
    {TP_FRAME_CENSUS, FROM_GUEST, 0, 8, 0, get_census},
};

static const struct row *find(uint32_t fourcc)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].fourcc == fourcc)
            return &rows[i];
    return NULL;
}

/* How many descriptors belong to it: 0, 1, or -1: none or one. */
static int fds_of(const struct tp_scanout_frame *f)
{
    bool answer = f->flags & TP_SCANOUT_ANSWER;
    enum tp_fence_kind kind = TP_FENCE_NONE;
    if (f->fourcc == TP_FRAME_REGISTER)
        return !answer;
    if (f->fourcc == TP_FRAME_CENSUS)
        return !f->u.census.ended;
    if (f->fourcc == TP_FRAME_NOTE)
        kind = f->u.note.kind;
    else if (f->fourcc == TP_FRAME_STATE && answer)
        kind = f->u.state.kind;
    if (kind == TP_FENCE_LOST) /* a later version's kind may have brought one */
        return -1;
    return kind != TP_FENCE_NONE;
}

int tp_scanout_decode(struct tp_frame *f, bool from_server, struct tp_scanout_frame *out)
{
    struct cursor c = {.from = f->payload};
    const struct row *row = find(f->fourcc);
    memset(out, 0, sizeof *out);
    out->fd = -1;
    if (!row)
        return -ENOTSUP;
    out->fourcc = f->fourcc;
    out->flags = f->flags;
    out->sequence = f->sequence;
    bool answer = f->flags & TP_SCANOUT_ANSWER;
    unsigned from = from_server ? FROM_SERVER : FROM_GUEST;
    if (!((answer ? row->answers : row->requests) & from) ||
        f->payload_bytes < (answer ? row->answer_bytes : row->bytes))
        return -EBADMSG;
    int r = 0;
    if (row->get)
        r = row->get(&c, out);
    else
        out->u.unregister = get_name(&c);
    if (r < 0)
        return r;
    int fds = fds_of(out);
    if (fds >= 0 ? f->n_fds != (unsigned)fds : f->n_fds > 1)
        return -EBADMSG;
    if (fds > 0)
        out->fd = tp_frame_take_fd(f, 0);
    return 0;
}

void tp_scanout_finish(struct tp_scanout_frame *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

size_t tp_scanout_encode(const struct tp_scanout_frame *f, uint8_t out[TP_SCANOUT_BYTES])
{
    struct cursor c = {.to = out};
    bool answer = f->flags & TP_SCANOUT_ANSWER;
    switch (f->fourcc) {
    case TP_FRAME_REGISTER:
        put_register(&c, &f->u.reg, answer);
        break;
    case TP_FRAME_UNREGISTER:
        put_name(&c, &f->u.unregister);
        break;
    case TP_FRAME_STATE:
        put_state(&c, &f->u.state, answer);
        break;
    case TP_FRAME_NOTE:
        put_note(&c, &f->u.note);
        break;
    case TP_FRAME_TIMELINE:
        put_timeline(&c, &f->u.timeline);
        break;
    case TP_FRAME_SETTING:
        put_setting(&c, &f->u.setting);
        break;
    case TP_FRAME_CENSUS:
        put_census(&c, &f->u.census);
        break;
    }
    return (size_t)(c.to - out);
}

int tp_scanout_hello(
    struct tp_frame *f, bool from_server, struct tp_hello *out, uint32_t *version, int *board)
{
    *board = -1;
    int r = tp_hello_parse(f, out, version);
    if (r < 0)
        return r;
    bool may_bring = from_server && (out->capabilities & TP_CAP_BOARD);
    if (out->kind != TP_HELLO_SCANOUT || f->n_fds > (may_bring ? 1u : 0u))
        return -EBADMSG;
    if (f->n_fds == 1)
        *board = tp_frame_take_fd(f, 0);
    return 0;
}
