/* The records of a block, read. */
#include <string.h>

#include "report/capture_decode.h"

struct cursor {
    const uint8_t *at;
    size_t left;
    bool bad;
};

static uint64_t take(struct cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && c->left > 0; shift += 7) {
        uint8_t byte = *c->at++;
        c->left--;
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return v;
    }
    c->bad = true;
    return 0;
}

static uint64_t take_off(struct cursor *c, uint64_t expected)
{
    return unzigzag(take(c)) + expected;
}

/* No more than most; else the record is none. */
static uint64_t take_most(struct cursor *c, uint64_t most)
{
    uint64_t v = take(c);
    c->bad |= v > most;
    return v;
}

static uint32_t take_off_u32(struct cursor *c, uint32_t expected)
{
    uint64_t v = take_off(c, expected);
    c->bad |= v > UINT32_MAX;
    return (uint32_t)v;
}

static int64_t checked(struct cursor *c, uint64_t v)
{
    c->bad |= (int64_t)v > INSTANT_MOST || (int64_t)v < -INSTANT_MOST;
    return (int64_t)v;
}

/* out: of most + 1 bytes. */
static void take_text(struct cursor *c, char *out, size_t most)
{
    uint64_t n = take(c);
    c->bad |= n > most || n > c->left;
    if (c->bad)
        n = 0;
    memcpy(out, c->at, n);
    out[n] = 0;
    c->at += n;
    c->left -= n;
}

static void take_instants(
    struct cursor *c, struct tp_capture_last *last, struct tp_frame_record *f, uint32_t mask)
{
    if (mask & 1) {
        last->frame.step = take_off(c, last->frame.step);
        last->frame.begin += last->frame.step;
    }
    f->begin_ns = mask & 1 ? checked(c, last->frame.begin) : TP_NEVER;
    for (unsigned i = 1; i < FRAME_INSTANTS; i++) {
        int64_t *instant = frame_instant(f, i);
        *instant = TP_NEVER;
        if (!(mask >> i & 1))
            continue;
        last->frame.after_begin[i] = take_off(c, last->frame.after_begin[i]);
        *instant = checked(c, last->frame.begin + last->frame.after_begin[i]);
    }
}

static bool frame(struct cursor *c, struct tp_capture_last *last, const struct tp_capture_sink *s)
{
    struct tp_frame_record f = {0};
    int64_t *waits[] = {&f.slot_wait_ns, &f.release_wait_ns, &f.gate_wait_ns};
    uint64_t flags = take(c);
    f.dropped = flags & FRAME_DROPPED;
    f.late = flags & FRAME_LATE;
    f.torn = flags & FRAME_TORN;
    f.variable = flags & FRAME_VARIABLE;
    f.guest = (unsigned)take_most(c, UINT16_MAX);
    f.number = last->frame.number = take_off(c, last->frame.number + 1);
    f.image = (unsigned)take_most(c, UINT16_MAX);
    f.refresh_mhz = last->frame.refresh_mhz = take_off_u32(c, last->frame.refresh_mhz);
    f.cap_mhz = last->frame.cap_mhz = take_off_u32(c, last->frame.cap_mhz);
    uint32_t mask = (uint32_t)take_most(c, (1u << FRAME_INSTANTS) - 1);
    take_instants(c, last, &f, mask);
    for (unsigned i = 0; i < 3; i++) {
        last->frame.waits[i] = take_off(c, last->frame.waits[i]);
        *waits[i] = checked(c, last->frame.waits[i]);
    }
    if (mask >> LINE_INSTANT & 1) {
        f.sequence = last->frame.sequence = take_off(c, last->frame.sequence + 1);
        last->frame.before = take_off(c, last->frame.before);
        f.permitted = checked(c, f.sequence - last->frame.before);
        f.repeats = take(c);
        c->bad |= f.sequence > (uint64_t)INSTANT_MOST;
    }
    if (!c->bad && s->frame)
        s->frame(s->data, &f);
    return !c->bad;
}

static bool refresh(struct cursor *c, struct tp_capture_last *last, const struct tp_capture_sink *s)
{
    struct tp_refresh_record r = {.torn_ns = TP_NEVER};
    uint64_t flags = take(c);
    r.sequence = last->refresh.sequence = take_off(c, last->refresh.sequence + 1);
    last->refresh.step = take_off(c, last->refresh.step);
    last->refresh.from += last->refresh.step;
    last->refresh.lead = take_off(c, last->refresh.lead);
    last->refresh.lasts = take_off(c, last->refresh.lasts);
    r.refresh_mhz = last->refresh.refresh_mhz = take_off_u32(c, last->refresh.refresh_mhz);
    r.from_ns = checked(c, last->refresh.from);
    r.latch_ns = checked(c, last->refresh.from - last->refresh.lead);
    r.to_ns = checked(c, last->refresh.from + last->refresh.lasts);
    r.shows = flags & REFRESH_SHOWS;
    r.async_torn = flags & REFRESH_ASYNC;
    if (r.shows) {
        r.guest = (unsigned)take_most(c, UINT16_MAX);
        r.frame = last->refresh.frame = take_off(c, last->refresh.frame);
    }
    if (flags & REFRESH_TORN) {
        r.torn_ns = checked(c, take_off(c, last->refresh.from));
        r.torn_line = (uint32_t)take_most(c, UINT32_MAX);
    }
    c->bad |= r.sequence > (uint64_t)INSTANT_MOST;
    if (!c->bad && s->refresh)
        s->refresh(s->data, &r);
    return !c->bad;
}

static bool setting(struct cursor *c, const struct tp_capture_sink *s)
{
    char name[TP_CAPTURE_NAME + 1], value[TP_CAPTURE_VALUE + 1];
    int64_t at_ns = checked(c, take(c));
    take_text(c, name, TP_CAPTURE_NAME);
    take_text(c, value, TP_CAPTURE_VALUE);
    if (!c->bad && s->setting)
        s->setting(s->data, at_ns, name, value);
    return !c->bad;
}

static bool guest(struct cursor *c, const struct tp_capture_sink *s)
{
    char name[TP_CAPTURE_VALUE + 1];
    unsigned which = (unsigned)take_most(c, UINT16_MAX);
    take_text(c, name, TP_CAPTURE_VALUE);
    if (!c->bad && s->guest)
        s->guest(s->data, which, name);
    return !c->bad;
}

static bool count(struct cursor *c, const struct tp_capture_sink *s)
{
    char name[TP_CAPTURE_NAME + 1];
    take_text(c, name, TP_CAPTURE_NAME);
    uint64_t value = take(c);
    if (!c->bad && s->count)
        s->count(s->data, name, value);
    return !c->bad;
}

static bool record(uint64_t type, struct cursor *c, struct tp_capture_last *last,
    const struct tp_capture_sink *s, struct tp_capture_found *found)
{
    switch (type) {
    case RECORD_SETTING:
        return setting(c, s);
    case RECORD_GUEST:
        return guest(c, s);
    case RECORD_FRAME:
        return frame(c, last, s);
    case RECORD_REFRESH:
        return refresh(c, last, s);
    case RECORD_COUNT:
        return count(c, s);
    case RECORD_END:
        found->ended = true;
        return true;
    case 0: /* what a file system leaves of a block that did not reach the disk */
        return false;
    }
    found->unknown++;
    return true;
}

bool capture_decode(
    const uint8_t *bytes, size_t n, const struct tp_capture_sink *s, struct tp_capture_found *found)
{
    struct tp_capture_last last = {0};
    struct cursor c = {.at = bytes, .left = n};
    while (c.left > 0) {
        uint64_t type = take(&c), length = take(&c);
        if (c.bad || length > c.left)
            return false;
        struct cursor in = {.at = c.at, .left = length};
        if (!record(type, &in, &last, s, found))
            return false;
        found->records++;
        c.at += length;
        c.left -= length;
    }
    return true;
}
