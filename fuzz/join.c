/* Entries of two guests' rings and a screen's, as hostile ones have them. Whatever comes, what the
 * join tells is fit for a capture, each guest's frames by their numbers and refreshes by theirs. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frames/census/figures.h"
#include "report/capture.h"
#include "report/capture_read.h"

#define RINGS 3u

struct input {
    const uint8_t *at;
    size_t left;
};

static uint64_t last_number[4];
static bool had_number[4], had_refresh;
static uint64_t last_refresh;
static struct tp_figures *figures;
static struct tp_capture_block block;

/* The block's records can all be read. */
static void check_block(void)
{
    uint8_t header[TP_CAPTURE_HEADER];
    struct tp_capture_found found;
    const struct tp_capture_sink none = {.data = NULL};
    struct tp_capture_reader *r = tp_capture_reader_create(&none);
    tp_recorder_header(header);
    tp_block_seal(&block, 0);
    assert(tp_capture_push(r, header, sizeof header, "here", NULL) == 0);
    assert(tp_capture_push(r, block.bytes, block.n, "here", NULL) == 0);
    tp_capture_end(r, &found);
    assert(found.damaged == 0 && !found.lost && found.unknown == 0);
    tp_capture_reader_destroy(r);
    tp_block_begin(&block);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    unsigned g = f->guest == TP_JOIN_SCREEN ? 3 : f->guest % 3;
    (void)data;
    if (f->guest < 3 || g == 3) {
        assert(!had_number[g] || f->number > last_number[g]);
        last_number[g] = f->number;
        had_number[g] = true;
    }
    assert(!(f->dropped && f->line_ns != TP_NEVER));
    tp_figures_frame(figures, f);
    if (!tp_block_frame(&block, f)) {
        check_block();
        assert(tp_block_frame(&block, f));
    }
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    (void)data;
    assert(!had_refresh || r->sequence > last_refresh);
    last_refresh = r->sequence;
    had_refresh = true;
    tp_figures_refresh(figures, r);
    if (!tp_block_refresh(&block, r)) {
        check_block();
        assert(tp_block_refresh(&block, r));
    }
}

static uint8_t byte(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

/* A byte says how long the number is: most are short. */
static uint64_t number(struct input *in)
{
    unsigned kind = byte(in), n = kind < 192 ? 1 : kind < 240 ? 4 : 8;
    uint64_t v = 0;
    if (kind == 255)
        return (uint64_t)TP_NEVER;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)byte(in) << 8 * i;
    return kind < 128 ? v * 1000000 : v;
}

static struct tp_buffer_name name(struct input *in)
{
    uint8_t b = byte(in);
    return (struct tp_buffer_name){{1, b & 3}, b >> 2 & 3, b >> 4};
}

static void fill_frame(struct input *in, struct tp_ring_frame *f)
{
    struct tp_frame_record *r = &f->record;
    uint8_t flags = byte(in);
    for (int64_t *at = &r->begin_ns; at <= &r->told_ns; at++)
        *at = (int64_t)number(in);
    r->dropped = flags & 1;
    r->late = flags & 2;
    r->variable = flags & 4;
    f->fed_back = flags & 8;
    r->number = number(in);
    r->sequence = number(in);
    r->image = (unsigned)number(in);
    r->refresh_mhz = (uint32_t)number(in);
    r->cap_mhz = (uint32_t)number(in);
    f->buffer = name(in);
}

static void fill_picture(struct input *in, struct tp_ring_picture *p)
{
    *p = (struct tp_ring_picture){.serial = number(in),
        .sequence = number(in),
        .dropped = byte(in) & 1,
        .committed_ns = (int64_t)number(in),
        .published_ns = (int64_t)number(in),
        .latched_ns = (int64_t)number(in),
        .line_ns = (int64_t)number(in),
        .released_ns = (int64_t)number(in),
        .n_layers = byte(in)};
    for (unsigned i = 0; i < TP_RING_LAYERS; i++)
        p->layers[i] = name(in);
}

static void fill_refresh(struct input *in, struct tp_ring_refresh *r)
{
    uint8_t flags = byte(in);
    r->record = (struct tp_refresh_record){.sequence = number(in),
        .refresh_mhz = (uint32_t)number(in),
        .latch_ns = (int64_t)number(in),
        .from_ns = (int64_t)number(in),
        .to_ns = (int64_t)number(in),
        .shows = flags & 1,
        .async_torn = flags & 2,
        .torn_ns = flags & 4 ? (int64_t)number(in) : TP_NEVER,
        .torn_line = (uint32_t)number(in)};
    r->serial = number(in);
}

static void put(struct tp_join *j, struct input *in, uint32_t id)
{
    struct tp_ring_entry e = {.kind = (enum tp_ring_kind)(byte(in) % 5)};
    if (e.kind == TP_RING_FRAME)
        fill_frame(in, &e.frame);
    else if (e.kind == TP_RING_PICTURE)
        fill_picture(in, &e.picture);
    else if (e.kind == TP_RING_REFRESH)
        fill_refresh(in, &e.refresh);
    else
        e.setting = (struct tp_ring_setting){(int64_t)number(in), (enum tp_setting)byte(in),
            byte(in), (int64_t)number(in)};
    tp_join_put(j, id, &e);
}

static void act(struct tp_join *j, struct input *in, int64_t *now_ns)
{
    uint8_t what = byte(in);
    uint32_t id = what >> 6;
    switch (what & 15) {
    case 0:
        *now_ns += byte(in) * INT64_C(10000000);
        tp_join_pass(j, *now_ns);
        break;
    case 1:
        tp_join_gauge(j, id, byte(in), number(in));
        break;
    case 2:
        tp_join_gone(j, id);
        had_refresh = had_refresh && id != 0;
        break;
    case 3:
        tp_join_add(j, id, id == 0 ? TP_RING_SCREEN : TP_RING_SWAPCHAIN, 1, "\xff\x1b");
        break;
    case 4:
        tp_join_lost(j, id, number(in));
        break;
    default:
        put(j, in, id);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tp_join_sink sink = {.frame = on_frame, .refresh = on_refresh};
    struct input in = {data, size};
    struct tp_join *j = tp_join_create(&sink);
    struct tp_summary summary;
    int64_t now_ns = 0;
    memset(had_number, 0, sizeof had_number);
    had_refresh = false;
    figures = tp_figures_create();
    tp_block_begin(&block);
    for (uint32_t id = 0; id < RINGS; id++)
        tp_join_add(j, id, id == 0 ? TP_RING_SCREEN : TP_RING_SWAPCHAIN, 1, "ring");
    while (in.left > 0)
        act(j, &in, &now_ns);
    tp_join_end(j);
    check_block();
    tp_figures_get(figures, TP_FIGURES_MAIN, &summary);
    tp_figures_destroy(figures);
    tp_join_destroy(j);
    return 0;
}
