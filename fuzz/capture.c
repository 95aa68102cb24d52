/* Captures: the first byte says whether the rest is a file, or the inside of a block with a
 * checksum that is right, and how many bytes come at a time. What is read is written again, and
 * reads the same; the measures of it all harm nobody. */
#include <assert.h>
#include <string.h>

#include "frames/census/metrics.h"
#include "report/capture.h"
#include "report/capture_read.h"

#define AGAIN 6u

struct heard {
    struct tp_metrics *metrics;
    struct tp_capture_block again;
    unsigned n_again; /* of this input: a few say it all */
};

static bool same(const struct tp_frame_record *a, const struct tp_frame_record *b)
{
    return a->number == b->number && a->sequence == b->sequence && a->permitted == b->permitted &&
        a->begin_ns == b->begin_ns && a->line_ns == b->line_ns && a->told_ns == b->told_ns &&
        a->gate_wait_ns == b->gate_wait_ns && a->cap_mhz == b->cap_mhz && a->image == b->image;
}

static void on_again(void *data, const struct tp_frame_record *f)
{
    const struct tp_frame_record *wanted = data;
    assert(same(f, wanted));
}

static void on_refresh_again(void *data, const struct tp_refresh_record *r)
{
    const struct tp_refresh_record *wanted = data;
    assert(r->sequence == wanted->sequence && r->from_ns == wanted->from_ns);
    assert(r->latch_ns == wanted->latch_ns && r->torn_ns == wanted->torn_ns);
    assert(r->frame == wanted->frame && r->torn_line == wanted->torn_line);
}

static void read_again(struct tp_capture_block *b, const struct tp_capture_sink *sink)
{
    uint8_t header[TP_CAPTURE_HEADER];
    struct tp_capture_found found;
    struct tp_capture_reader *r = tp_capture_reader_create(sink);
    tp_recorder_header(header);
    tp_block_seal(b, 0);
    assert(tp_capture_push(r, header, sizeof header, "", NULL) == 0);
    assert(tp_capture_push(r, b->bytes, b->n, "", NULL) == 0);
    tp_capture_end(r, &found);
    assert(found.records == 1 && found.damaged == 0);
    tp_capture_reader_destroy(r);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct heard *h = data;
    struct tp_frame_record wanted = *f;
    struct tp_capture_sink sink = {.frame = on_again, .data = &wanted};
    tp_metrics_frame(h->metrics, f);
    if (h->n_again++ >= AGAIN)
        return;
    tp_block_begin(&h->again);
    assert(tp_block_frame(&h->again, f));
    read_again(&h->again, &sink);
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    struct heard *h = data;
    struct tp_refresh_record wanted = *r;
    struct tp_capture_sink sink = {.refresh = on_refresh_again, .data = &wanted};
    tp_metrics_refresh(h->metrics, r);
    if (h->n_again++ >= AGAIN)
        return;
    tp_block_begin(&h->again);
    assert(tp_block_refresh(&h->again, r));
    read_again(&h->again, &sink);
}

static void on_text(void *data, int64_t at_ns, const char *name, const char *value)
{
    (void)data;
    (void)at_ns;
    assert(strlen(name) <= TP_CAPTURE_NAME && strlen(value) <= TP_CAPTURE_VALUE);
}

static void on_guest(void *data, unsigned guest, const char *name)
{
    (void)data;
    assert(guest <= UINT16_MAX && strlen(name) <= TP_CAPTURE_VALUE);
}

static void on_count(void *data, const char *name, uint64_t value)
{
    (void)data;
    (void)value;
    assert(strlen(name) <= TP_CAPTURE_NAME);
}

static void push(struct tp_capture_reader *r, const uint8_t *bytes, size_t n, size_t step)
{
    for (size_t at = 0; at < n; at += step)
        if (tp_capture_push(r, bytes + at, n - at < step ? n - at : step, "", NULL) < 0)
            return;
}

/* The head of a block with these bytes, and that of the file. */
static void heads(const uint8_t *bytes, size_t n, uint8_t out[2 * TP_CAPTURE_HEADER])
{
    static struct tp_capture_block b;
    tp_recorder_header(out);
    tp_block_begin(&b);
    memcpy(b.bytes + b.n, bytes, n);
    b.n += n;
    tp_block_seal(&b, 0);
    memcpy(out + TP_CAPTURE_HEADER, b.bytes, TP_CAPTURE_HEADER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct heard h; /* its measures add up over all runs: they are large */
    struct tp_capture_sink sink = {.setting = on_text,
        .guest = on_guest,
        .frame = on_frame,
        .refresh = on_refresh,
        .count = on_count,
        .data = &h};
    struct tp_capture_found found;
    if (size == 0 || size > TP_CAPTURE_ROOM - TP_CAPTURE_HEADER)
        return 0;
    if (!h.metrics)
        h.metrics = tp_metrics_create();
    struct tp_capture_reader *r = tp_capture_reader_create(&sink);
    h.n_again = 0;
    size_t step = 1 + (size_t)(data[0] & 127) * 8;
    uint8_t head[2 * TP_CAPTURE_HEADER];
    if (data[0] & 128) {
        heads(data + 1, size - 1, head);
        push(r, head, sizeof head, step);
    }
    push(r, data + 1, size - 1, step);
    tp_capture_end(r, &found);
    tp_capture_reader_destroy(r);
    return 0;
}
