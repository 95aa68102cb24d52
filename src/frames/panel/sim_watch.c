#include "frames/panel/sim_watch.h"

#include <drm_fourcc.h>
#include <drm_mode.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "frames/panel/compose.h"

#define SAMPLES 2u
#define LANES 4u
#define AHEAD 6u /* rows, that memory has time to answer */

/* A layer's buffer; its rows in the order in which the beam meets them. */
struct watched {
    const struct tp_kms_layer *layer;
    struct tp_kms_fb_info fb;
    bool upwards;          /* its last row is met first */
    uint32_t top, n;       /* rows of the buffer */
    uint64_t first, bytes; /* of a row, what is shown of it */
    uint64_t *sums;        /* owned; of each row, as it was read last */
    uint32_t room;
};

struct tp_watch {
    struct tp_watch_config config;
    struct tp_memory memory;
    struct tp_watch_scan scan;
    struct watched layers[TP_KMS_LAYERS];
    unsigned n_layers;
    enum { IDLE, BEFORE, UNDER, AFTER } stage;
    unsigned band, first_band;   /* the next to be read; the first of this scan-out */
    bool missed[TP_WATCH_BANDS]; /* the beam was there before the first reading */
    bool torn;                   /* this scan-out is counted */
    uint8_t *scratch;            /* owned: a row */
    size_t scratch_bytes;
    struct tp_watch_counts counts;
};

void tp_watch_create(const struct tp_watch_config *config, struct tp_watch **out)
{
    struct tp_watch *w = tp_calloc(1, sizeof *w);
    w->config = *config;
    *out = w;
}

void tp_watch_destroy(struct tp_watch *w)
{
    if (!w)
        return;
    tp_memory_finish(&w->memory);
    for (unsigned i = 0; i < TP_KMS_LAYERS; i++)
        free(w->layers[i].sums);
    free(w->scratch);
    free(w);
}

/* --- where the lines are --- */

static uint32_t first_line(const struct tp_watch *w, unsigned band)
{
    return (uint32_t)((uint64_t)w->scan.lines * band / TP_WATCH_BANDS);
}

static int64_t line_ns(const struct tp_watch *w, uint32_t line)
{
    return w->scan.start_ns + (w->scan.end_ns - w->scan.start_ns) * line / w->scan.lines;
}

/* The first of the layer's rows that is met at this line or after it. */
static uint32_t row_of(const struct watched *l, int64_t line)
{
    int64_t in = line - l->layer->y;
    if (in <= 0)
        return 0;
    if (in >= l->layer->height)
        return l->n;
    return (uint32_t)((in * l->n + l->layer->height - 1) / l->layer->height);
}

static uint32_t line_of(const struct watched *l, uint32_t row)
{
    int64_t line = l->layer->y + (int64_t)row * l->layer->height / l->n;
    return line < 0 ? 0 : (uint32_t)line;
}

/* --- reading --- */

/* A word that changes is sure to change the sum: each step is one to one. */
static uint64_t add_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static uint64_t sum_bytes(const uint8_t *at, size_t bytes)
{
    uint64_t lanes[LANES] = {1, 2, 3, 4}, words[LANES], sum = bytes;
    for (; bytes >= sizeof words; bytes -= sizeof words, at += sizeof words) {
        memcpy(words, at, sizeof words);
        for (unsigned i = 0; i < LANES; i++)
            lanes[i] = add_word(lanes[i], words[i]);
    }
    memset(words, 0, sizeof words);
    memcpy(words, at, bytes);
    for (unsigned i = 0; i < LANES; i++)
        sum = add_word(sum, add_word(lanes[i], words[i]));
    return sum;
}

/* As above, of TP_WATCH_SAMPLE bytes. */
static uint64_t sum_sample(uint64_t sum, const uint8_t *at)
{
    uint64_t words[TP_WATCH_SAMPLE / 8];
    memcpy(words, at, sizeof words);
    for (unsigned i = 0; i < LANES; i++)
        sum = add_word(sum, add_word(add_word(i + 1, words[i]), words[i + LANES]));
    return sum;
}

/* Where in n bytes is looked at: elsewhere in each row and each refresh. */
static uint64_t place(const struct tp_watch *w, uint64_t row, uint64_t n)
{
    return (add_word(w->scan.sequence, row) >> 32) * n >> 32;
}

/* A sample is a cache line: base is of a mapping's row. */
static const uint8_t *sample_at(
    const struct tp_watch *w, const struct watched *l, uintptr_t base, uint32_t row, unsigned i)
{
    uint64_t part = l->bytes / SAMPLES;
    uintptr_t at =
        base + i * part + place(w, (uint64_t)row * SAMPLES + i, part - TP_WATCH_SAMPLE + 1);
    uintptr_t line = at & ~(uintptr_t)(TP_WATCH_SAMPLE - 1);
    return (const uint8_t *)(line < base ? base : line);
}

static uint64_t sum_samples(
    const struct tp_watch *w, const struct watched *l, const uint8_t *bytes, uint32_t row)
{
    uint64_t sum = 0;
    uintptr_t base = (uintptr_t)bytes, ahead = base + (uintptr_t)AHEAD * l->fb.pitches[0];
    for (unsigned i = 0; i < SAMPLES; i++) {
        __builtin_prefetch(sample_at(w, l, ahead, row + AHEAD, i));
        sum = sum_sample(sum, sample_at(w, l, base, row, i));
    }
    return sum;
}

static bool sum_row(struct tp_watch *w, const struct watched *l, const struct tp_memory_map *map,
    uint32_t row, uint64_t *sum)
{
    uint64_t at = l->fb.offsets[0] + (uint64_t)(l->top + row) * l->fb.pitches[0] + l->first;
    uint64_t n = l->bytes, less = (uint64_t)SAMPLES * TP_WATCH_SAMPLE;
    bool sampled = w->config.how == TP_WATCH_SAMPLED && n >= less;
    if (sampled && !map->bytes) { /* a call each: one piece, of the same size */
        at += place(w, row, n - less + 1);
        n = less;
    }
    const uint8_t *bytes = tp_memory_at(map, l->fb.fds[0], at, n, w->scratch);
    if (!bytes)
        return false;
    *sum = sampled && map->bytes ? sum_samples(w, l, bytes, row) : sum_bytes(bytes, n);
    return true;
}

/* Reads the layer's rows of a band. compare: with what they were; t: takes up those that differ.
 * False: they cannot be read. */
static bool read_rows(
    struct tp_watch *w, struct watched *l, unsigned band, bool compare, struct tp_tear *t)
{
    uint32_t from = first_line(w, band), end = first_line(w, band + 1);
    if (from < w->scan.first_line)
        from = w->scan.first_line;
    uint32_t row = row_of(l, from), stop = row_of(l, end);
    if (row >= stop)
        return true;
    const struct tp_memory_map *map = tp_memory_open(&w->memory, &l->fb);
    if (!map)
        return false;
    bool whole = true;
    tp_memory_begin(map, l->fb.fds[0]);
    for (; row < stop && whole; row++) {
        uint32_t in = l->upwards ? l->n - 1 - row : row;
        uint64_t sum = 0;
        whole = sum_row(w, l, map, in, &sum);
        if (whole && compare && sum != l->sums[row]) {
            uint32_t line = line_of(l, row), last = t->line + t->lines;
            if (t->lines == 0 || line < t->line)
                t->line = line;
            last = t->lines == 0 || line + 1 > last ? line + 1 : last;
            t->lines = last - t->line;
        }
        l->sums[row] = sum;
    }
    tp_memory_end(map, l->fb.fds[0]);
    return whole;
}

/* False: the scan-out is over, as far as it can be watched. */
static bool read_band(struct tp_watch *w, unsigned band, int64_t now_ns)
{
    struct tp_tear t = {.serial = w->scan.scanout->serial,
        .sequence = w->scan.sequence,
        .time_ns = now_ns,
        .behind = w->stage == AFTER};
    bool whole = true;
    for (unsigned i = 0; i < w->n_layers && whole; i++)
        whole = read_rows(w, &w->layers[i], band, w->stage != BEFORE, &t);
    if (!whole || !w->config.has(w->config.data))
        return false;
    if (t.lines > 0 && !w->torn) {
        w->torn = true;
        w->counts.tears++;
        if (w->config.torn)
            w->config.torn(w->config.data, &t);
    }
    return true;
}

/* --- a scan-out --- */

static bool take_layer(struct watched *l, const struct tp_kms_layer *layer, uint32_t lines)
{
    tp_kms_fb_info(layer->fb, &l->fb);
    uint64_t pixel = tp_compose_pixel_bytes(&l->fb), left = layer->src_x >> 16;
    uint64_t right = ((uint64_t)layer->src_x + layer->src_w + 0xffff) >> 16;
    uint64_t bottom = ((uint64_t)layer->src_y + layer->src_h + 0xffff) >> 16;
    l->layer = layer;
    l->top = layer->src_y >> 16;
    right = right < l->fb.width ? right : l->fb.width;
    bottom = bottom < l->fb.height ? bottom : l->fb.height;
    if (layer->kind == TP_KMS_CURSOR || pixel == 0 || layer->height == 0 || left >= right ||
        l->top >= bottom || layer->y >= (int64_t)lines || layer->y + (int64_t)layer->height <= 0)
        return false;
    l->n = (uint32_t)bottom - l->top;
    l->first = left * pixel;
    l->bytes = (right - left) * pixel;
    l->upwards = !!(layer->rotation & DRM_MODE_REFLECT_Y) !=
        ((layer->rotation & DRM_MODE_ROTATE_MASK) == DRM_MODE_ROTATE_180);
    if (l->room < l->n) {
        free(l->sums);
        l->sums = tp_calloc(l->n, sizeof *l->sums);
        l->room = l->n;
    }
    return true;
}

/* Bands from this one on have not been seen. */
static void give_up(struct tp_watch *w, unsigned from)
{
    for (unsigned i = w->first_band; i < TP_WATCH_BANDS; i++)
        w->counts.unwatched += i >= from || w->missed[i];
    w->stage = IDLE;
}

void tp_watch_end(struct tp_watch *w)
{
    if (w->stage == BEFORE)
        give_up(w, w->first_band);
    else if (w->stage == UNDER)
        give_up(w, w->band);
    else if (w->stage == AFTER)
        give_up(w, TP_WATCH_BANDS);
}

void tp_watch_begin(struct tp_watch *w, const struct tp_watch_scan *scan)
{
    tp_watch_end(w);
    w->scan = *scan;
    bool copied = false, lost = false;
    w->n_layers = 0;
    w->torn = false;
    memset(w->missed, 0, sizeof w->missed);
    if (w->config.how == TP_WATCH_OFF || scan->lines < TP_WATCH_BANDS ||
        scan->first_line >= scan->lines || !scan->scanout->active)
        return;
    for (unsigned i = 0; i < scan->scanout->n_layers; i++) {
        struct watched *l = &w->layers[w->n_layers];
        bool taken = take_layer(l, &scan->scanout->layers[i], scan->lines);
        if (scan->copied >> i & 1) {
            copied |= taken;
            lost |= taken && scan->lost >> i & 1;
            continue;
        }
        w->n_layers += taken;
        if (w->scratch_bytes < l->bytes) {
            free(w->scratch);
            w->scratch = tp_calloc(l->bytes, 1);
            w->scratch_bytes = l->bytes;
        }
    }
    if (w->n_layers == 0 && !copied)
        return;
    w->first_band = 0;
    while (first_line(w, w->first_band + 1) <= scan->first_line)
        w->first_band++;
    w->band = w->first_band;
    w->stage = BEFORE;
    w->counts.scanouts++;
    w->counts.bands += TP_WATCH_BANDS - w->first_band;
    if (lost || w->n_layers == 0)
        give_up(w, lost ? w->first_band : TP_WATCH_BANDS);
}

int64_t tp_watch_next(const struct tp_watch *w)
{
    switch (w->stage) {
    case IDLE:
        return INT64_MAX;
    case BEFORE:
        return w->scan.start_ns;
    case UNDER:
        return line_ns(w, first_line(w, w->band + 1));
    case AFTER:
        break;
    }
    return w->scan.end_ns;
}

static void advance(struct tp_watch *w)
{
    w->band++;
    if (w->stage == AFTER ? w->band + 1 < TP_WATCH_BANDS : w->band < TP_WATCH_BANDS)
        return;
    w->band = w->first_band;
    if (w->stage == AFTER || (w->stage == UNDER && w->first_band + 1 == TP_WATCH_BANDS))
        give_up(w, TP_WATCH_BANDS); /* all were seen */
    else
        w->stage = w->stage == BEFORE ? UNDER : AFTER;
}

void tp_watch_step(struct tp_watch *w, int64_t now_ns)
{
    if (now_ns < tp_watch_next(w))
        return;
    if (w->stage == BEFORE)
        w->missed[w->band] = now_ns >= line_ns(w, first_line(w, w->band + 1));
    if (now_ns >= w->scan.limit_ns || !read_band(w, w->band, now_ns))
        tp_watch_end(w);
    else
        advance(w);
}

void tp_watch_count(const struct tp_watch *w, struct tp_watch_counts *out)
{
    *out = w->counts;
}
