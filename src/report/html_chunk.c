/*
 * Frames and refreshes in columns of varints, as web/columns.js reads them: each column is one
 * quantity of all rows, told by the difference from the row before. What is not known is 0, and a
 * difference d is 1 + its zigzag there. Times are microseconds since the page's origin.
 */
#include <stdlib.h>
#include <string.h>

#include "report/capture_internal.h"
#include "report/html_model.h"

/* Numbers stay exact in a double, sums and differences of them, too. */
#define US_MOST (INT64_C(1) << 49)
#define REFRESHES (2 * REPORT_ROWS)

/* --- time --- */

void report_set_origin(struct report_chunks *c, int64_t ns)
{
    if (ns == TP_NEVER || c->has_origin)
        return;
    c->origin_ns = ns;
    c->has_origin = true;
}

int64_t report_us(const struct report_chunks *c, int64_t ns)
{
    int64_t us = ns / 1000 - c->origin_ns / 1000;
    return us > US_MOST ? US_MOST : us < -US_MOST ? -US_MOST : us;
}

int64_t report_frame_instant(const struct tp_frame_record *f)
{
    struct tp_frame_record copy = *f;
    for (unsigned i = 0; i < FRAME_INSTANTS; i++) {
        int64_t at = *frame_instant(&copy, i);
        if (at != TP_NEVER)
            return at;
    }
    return TP_NEVER;
}

int64_t report_start_us(const struct report_chunks *c)
{
    int64_t start = c->n > 0 ? c->at[0].from_us : 0;
    for (unsigned i = 1; i < c->n; i++)
        start = c->at[i].from_us < start ? c->at[i].from_us : start;
    return start;
}

/* --- numbers --- */

static void put(struct tp_buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        tp_buf_addc(b, (char)(v | 0x80));
    tp_buf_addc(b, (char)v);
}

static void put_difference(struct tp_buf *b, int64_t v, int64_t *last)
{
    put(b, zigzag((uint64_t)(v - *last)));
    *last = v;
}

/* 0: not known. */
static void put_known(struct tp_buf *b, bool known, int64_t v, int64_t *last)
{
    if (!known) {
        put(b, 0);
        return;
    }
    put(b, 1 + zigzag((uint64_t)(v - *last)));
    *last = v;
}

int64_t report_bounded(uint64_t v)
{
    return v < (uint64_t)US_MOST ? (int64_t)v : US_MOST;
}

/* --- frames --- */

static void frame_numbers(struct tp_buf *b, const struct report_chunks *c)
{
    int64_t last[REPORT_GUESTS] = {0}, rate = 0, cap = 0, sequence = 0;
    for (unsigned i = 0; i < c->n_frames; i++)
        put(b, c->guests[i]);
    for (unsigned i = 0; i < c->n_frames; i++)
        put_difference(b, report_bounded(c->frames[i].number), &last[c->guests[i]]);
    for (unsigned i = 0; i < c->n_frames; i++)
        put(b, c->frames[i].image);
    for (unsigned i = 0; i < c->n_frames; i++)
        put(b, c->flags[i]);
    for (unsigned i = 0; i < c->n_frames; i++)
        put(b, (uint64_t)report_bounded(c->frames[i].repeats));
    for (unsigned i = 0; i < c->n_frames; i++)
        put_difference(b, c->frames[i].refresh_mhz, &rate);
    for (unsigned i = 0; i < c->n_frames; i++)
        put_difference(b, c->frames[i].cap_mhz, &cap);
    for (unsigned i = 0; i < c->n_frames; i++)
        put_known(b, c->frames[i].line_ns != TP_NEVER, report_bounded(c->frames[i].sequence), &sequence);
}

static void frame_instants_of(struct tp_buf *b, struct report_chunks *c)
{
    int64_t last[FRAME_INSTANTS] = {0}, anchors[REPORT_ROWS], anchor = 0;
    for (unsigned i = 0; i < c->n_frames; i++) {
        anchors[i] = report_us(c, report_frame_instant(&c->frames[i]));
        put_difference(b, anchors[i], &anchor);
    }
    for (unsigned k = 0; k < FRAME_INSTANTS; k++)
        for (unsigned i = 0; i < c->n_frames; i++) {
            int64_t at = *frame_instant(&c->frames[i], k);
            bool known = at != TP_NEVER;
            put_known(b, known, known ? report_us(c, at) - anchors[i] : 0, &last[k]);
        }
}

static void frame_waits(struct tp_buf *b, const struct report_chunks *c)
{
    const size_t waits[] = {offsetof(struct tp_frame_record, slot_wait_ns),
        offsetof(struct tp_frame_record, release_wait_ns),
        offsetof(struct tp_frame_record, gate_wait_ns)};
    for (unsigned k = 0; k < 3; k++) {
        int64_t last = 0;
        for (unsigned i = 0; i < c->n_frames; i++) {
            int64_t ns;
            memcpy(&ns, (const char *)&c->frames[i] + waits[k], sizeof ns);
            int64_t us = ns / 1000 > US_MOST ? US_MOST : ns / 1000;
            put_known(b, ns != TP_NEVER, us > -US_MOST ? us : -US_MOST, &last);
        }
    }
}

/* --- refreshes --- */

static void refreshes_of(struct tp_buf *b, const struct report_chunks *c)
{
    int64_t sequence = 0, from = 0, lead = 0, lasts = 0, rate = 0, frame = 0;
    const struct tp_refresh_record *r = c->refreshes;
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put_difference(b, report_bounded(r[i].sequence), &sequence);
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put_difference(b, report_us(c, r[i].from_ns), &from);
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put_difference(b, report_us(c, r[i].from_ns) - report_us(c, r[i].latch_ns), &lead);
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put_difference(b, report_us(c, r[i].to_ns) - report_us(c, r[i].from_ns), &lasts);
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put_difference(b, r[i].refresh_mhz, &rate);
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put(b, (r[i].shows ? 1u : 0) | (r[i].async_torn ? 2u : 0) | (r[i].torn_ns != TP_NEVER ? 4u : 0));
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put(b, c->refresh_guests[i]);
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put_known(b, r[i].shows, report_bounded(r[i].frame), &frame);
    for (unsigned i = 0; i < c->n_refreshes; i++) {
        int64_t none = 0;
        bool torn = r[i].torn_ns != TP_NEVER;
        put_known(b, torn, torn ? report_us(c, r[i].torn_ns) - report_us(c, r[i].from_ns) : 0, &none);
    }
    for (unsigned i = 0; i < c->n_refreshes; i++)
        put(b, r[i].torn_line);
}

/* --- chunks --- */

static void widen(struct report_chunk *one, int64_t us, bool *any)
{
    one->from_us = !*any || us < one->from_us ? us : one->from_us;
    one->to_us = !*any || us > one->to_us ? us : one->to_us;
    *any = true;
}

static void set_span(struct report_chunk *one, struct report_chunks *c)
{
    bool any = false;
    for (unsigned i = 0; i < c->n_frames; i++)
        for (unsigned k = 0; k < FRAME_INSTANTS; k++) {
            int64_t at = *frame_instant(&c->frames[i], k);
            if (at != TP_NEVER)
                widen(one, report_us(c, at), &any);
        }
    for (unsigned i = 0; i < c->n_refreshes; i++) {
        widen(one, report_us(c, c->refreshes[i].from_ns), &any);
        widen(one, report_us(c, c->refreshes[i].to_ns), &any);
    }
}

/* The one that is missed least: nothing much happened in it, and its neighbours are near. The first
 * and the last ones stay. */
static void drop_one(struct report_chunks *c)
{
    unsigned least = 1;
    for (unsigned i = 2; i + 1 < c->n; i++) {
        const struct report_chunk *a = &c->at[i], *b = &c->at[least];
        uint64_t gap = a[1].place - a[-1].place, least_gap = b[1].place - b[-1].place;
        if (a->weight < b->weight || (a->weight == b->weight && gap < least_gap))
            least = i;
    }
    c->frames_kept -= c->at[least].frames;
    free(c->at[least].bytes);
    memmove(&c->at[least], &c->at[least + 1], (c->n - least - 1) * sizeof *c->at);
    c->n--;
}

void report_chunks_end(struct report_chunks *c)
{
    if (c->n_frames == 0 && c->n_refreshes == 0)
        return;
    struct tp_buf b = {0};
    struct report_chunk *one = &c->at[c->n++];
    *one = (struct report_chunk){.frames = c->n_frames,
        .refreshes = c->n_refreshes,
        .place = c->all++,
        .weight = c->weight};
    set_span(one, c);
    frame_numbers(&b, c);
    frame_instants_of(&b, c);
    frame_waits(&b, c);
    refreshes_of(&b, c);
    while (b.len % 3 != 0) /* each is a text of its own in base64 */
        tp_buf_addc(&b, 0);
    one->n = b.len;
    one->bytes = (uint8_t *)tp_buf_take(&b);
    c->frames_kept += c->n_frames;
    c->n_frames = c->n_refreshes = c->weight = 0;
    if (c->n > REPORT_CHUNKS)
        drop_one(c);
}

void report_chunks_frame(struct report_chunks *c, const struct tp_frame_record *f, unsigned guest,
    unsigned flags, unsigned weight)
{
    if (report_frame_instant(f) == TP_NEVER)
        return;
    if (c->n_frames == REPORT_ROWS)
        report_chunks_end(c);
    c->frames[c->n_frames] = *f;
    c->frames[c->n_frames].gate_wait_ns = tp_frame_gate_wait(f);
    c->guests[c->n_frames] = (uint8_t)guest;
    c->flags[c->n_frames++] = (uint8_t)flags;
    c->frames_all++;
    c->weight = weight > c->weight ? weight : c->weight;
}

void report_chunks_refresh(
    struct report_chunks *c, const struct tp_refresh_record *r, unsigned guest)
{
    if (r->from_ns == TP_NEVER || r->to_ns == TP_NEVER || r->latch_ns == TP_NEVER)
        return;
    if (c->n_refreshes == REFRESHES)
        report_chunks_end(c);
    c->refreshes[c->n_refreshes] = *r;
    c->refresh_guests[c->n_refreshes++] = (uint8_t)guest;
}

void report_chunks_finish(struct report_chunks *c)
{
    for (unsigned i = 0; i < c->n; i++)
        free(c->at[i].bytes);
}
