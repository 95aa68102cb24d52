/* The records of a block, written. */
#include <string.h>

#include "report/capture_internal.h"

#define RECORD_ROOM                                                                                \
    512u /* above what the longest one takes: 30 numbers of 10 bytes, or two texts */

struct record {
    uint8_t bytes[RECORD_ROOM];
    size_t n;
};

static void put_u32(uint8_t *out, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(v >> 8 * i);
}

static void put(struct record *r, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        r->bytes[r->n++] = (uint8_t)(v | 128);
    r->bytes[r->n++] = (uint8_t)v;
}

/* Its difference from what was to be expected. */
static void put_off(struct record *r, uint64_t v, uint64_t expected)
{
    put(r, zigzag(v - expected));
}

static void put_text(struct record *r, const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    put(r, n);
    memcpy(r->bytes + r->n, text, n);
    r->n += n;
}

void tp_recorder_header(uint8_t out[TP_CAPTURE_HEADER])
{
    memset(out, 0, TP_CAPTURE_HEADER);
    memcpy(out, CAPTURE_MAGIC, CAPTURE_MAGIC_BYTES);
    put_u32(out + CAPTURE_MAGIC_BYTES, TP_CAPTURE_VERSION);
}

void tp_block_begin(struct tp_capture_block *b)
{
    b->n = TP_CAPTURE_HEADER;
    b->last = (struct tp_capture_last){0};
}

bool tp_block_is_empty(const struct tp_capture_block *b)
{
    return b->n == TP_CAPTURE_HEADER;
}

static bool add(struct tp_capture_block *b, enum record_type type, const struct record *r)
{
    struct record head = {.n = 0};
    put(&head, type);
    put(&head, r->n);
    if (head.n + r->n > sizeof b->bytes - b->n)
        return false;
    memcpy(b->bytes + b->n, head.bytes, head.n);
    memcpy(b->bytes + b->n + head.n, r->bytes, r->n);
    b->n += head.n + r->n;
    return true;
}

static void put_instants(
    struct record *r, struct tp_capture_last *last, const struct tp_frame_record *f)
{
    struct tp_frame_record copy = *f;
    uint32_t mask = 0;
    for (unsigned i = 0; i < FRAME_INSTANTS; i++)
        mask |= (uint32_t)(*frame_instant(&copy, i) != TP_NEVER) << i;
    put(r, mask);
    if (mask & 1) {
        uint64_t step = (uint64_t)f->begin_ns - last->frame.begin;
        put_off(r, step, last->frame.step);
        last->frame.step = step;
        last->frame.begin = (uint64_t)f->begin_ns;
    }
    for (unsigned i = 1; i < FRAME_INSTANTS; i++) {
        uint64_t after = (uint64_t)*frame_instant(&copy, i) - last->frame.begin;
        if (!(mask >> i & 1))
            continue;
        put_off(r, after, last->frame.after_begin[i]);
        last->frame.after_begin[i] = after;
    }
}

bool tp_block_frame(struct tp_capture_block *b, const struct tp_frame_record *f)
{
    struct record r = {.n = 0};
    struct tp_capture_last last = b->last;
    const int64_t waits[] = {f->slot_wait_ns, f->release_wait_ns, f->gate_wait_ns};
    put(&r,
        (f->dropped ? FRAME_DROPPED : 0) | (f->late ? FRAME_LATE : 0) | (f->torn ? FRAME_TORN : 0) |
            (f->variable ? FRAME_VARIABLE : 0));
    put(&r, f->guest);
    put_off(&r, f->number, last.frame.number + 1);
    put(&r, f->image);
    put_off(&r, f->refresh_mhz, last.frame.refresh_mhz);
    put_off(&r, f->cap_mhz, last.frame.cap_mhz);
    put_instants(&r, &last, f);
    for (unsigned i = 0; i < 3; i++) {
        put_off(&r, (uint64_t)waits[i], last.frame.waits[i]);
        last.frame.waits[i] = (uint64_t)waits[i];
    }
    if (f->line_ns != TP_NEVER) {
        uint64_t before = f->sequence - (uint64_t)f->permitted;
        put_off(&r, f->sequence, last.frame.sequence + 1);
        put_off(&r, before, last.frame.before);
        put(&r, f->repeats);
        last.frame.before = before;
        last.frame.sequence = f->sequence;
    }
    last.frame.number = f->number;
    last.frame.refresh_mhz = f->refresh_mhz;
    last.frame.cap_mhz = f->cap_mhz;
    if (!add(b, RECORD_FRAME, &r))
        return false;
    b->last = last;
    return true;
}

bool tp_block_refresh(struct tp_capture_block *b, const struct tp_refresh_record *f)
{
    struct record r = {.n = 0};
    struct tp_capture_last last = b->last;
    bool torn = f->torn_ns != TP_NEVER;
    uint64_t from = (uint64_t)f->from_ns, step = from - last.refresh.from;
    uint64_t lead = from - (uint64_t)f->latch_ns, lasts = (uint64_t)f->to_ns - from;
    put(&r,
        (f->shows ? REFRESH_SHOWS : 0) | (f->async_torn ? REFRESH_ASYNC : 0) |
            (torn ? REFRESH_TORN : 0));
    put_off(&r, f->sequence, last.refresh.sequence + 1);
    put_off(&r, step, last.refresh.step);
    put_off(&r, lead, last.refresh.lead);
    put_off(&r, lasts, last.refresh.lasts);
    put_off(&r, f->refresh_mhz, last.refresh.refresh_mhz);
    if (f->shows) {
        put(&r, f->guest);
        put_off(&r, f->frame, last.refresh.frame);
        last.refresh.frame = f->frame;
    }
    if (torn) {
        put_off(&r, (uint64_t)f->torn_ns, from);
        put(&r, f->torn_line);
    }
    last.refresh.sequence = f->sequence;
    last.refresh.from = from;
    last.refresh.step = step;
    last.refresh.lead = lead;
    last.refresh.lasts = lasts;
    last.refresh.refresh_mhz = f->refresh_mhz;
    if (!add(b, RECORD_REFRESH, &r))
        return false;
    b->last = last;
    return true;
}

bool tp_block_setting(
    struct tp_capture_block *b, int64_t at_ns, const char *name, const char *value)
{
    struct record r = {.n = 0};
    put(&r, (uint64_t)at_ns);
    put_text(&r, name, TP_CAPTURE_NAME);
    put_text(&r, value, TP_CAPTURE_VALUE);
    return add(b, RECORD_SETTING, &r);
}

bool tp_block_guest(struct tp_capture_block *b, unsigned guest, const char *name)
{
    struct record r = {.n = 0};
    put(&r, guest);
    put_text(&r, name, TP_CAPTURE_VALUE);
    return add(b, RECORD_GUEST, &r);
}

bool tp_block_count(struct tp_capture_block *b, const char *name, uint64_t value)
{
    struct record r = {.n = 0};
    put_text(&r, name, TP_CAPTURE_NAME);
    put(&r, value);
    return add(b, RECORD_COUNT, &r);
}

bool tp_block_end(struct tp_capture_block *b)
{
    return add(b, RECORD_END, &(struct record){.n = 0});
}

void tp_block_seal(struct tp_capture_block *b, uint32_t number)
{
    put_u32(b->bytes, BLOCK_MARK);
    put_u32(b->bytes + 4, (uint32_t)(b->n - TP_CAPTURE_HEADER));
    put_u32(b->bytes + 8, number);
    put_u32(b->bytes + 12, block_sum(b->bytes, b->n));
}
