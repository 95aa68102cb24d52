/*
 * The lanes of a chart, each from left to right in time: the game's CPU, its GPU, the compositor
 * where it takes any time, each image (above: it is written; below: the panel has it), the panel.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frames/pace/profile.h"
#include "frames/world/chart_internal.h"

#define WIDTH_PX 980
#define LEFT 8800
#define RIGHT 96800
#define TOP 7600
#define BAR 2200
#define LANE 3200
#define HALF 1200 /* of an image's */
#define THIN 20   /* what is not as wide is nothing: a message takes its time */
#define GAP 200   /* between them */
#define IMAGE (2 * HALF + GAP)

struct chart {
    const struct tp_chart *kept;
    const struct tp_world_config *c;
    struct tp_buf *svg;
    struct window w;
    int64_t y, bottom;                               /* of the lane; of the last one */
    bool held, waited, torn, late, repeats, dropped; /* what there is of it in the picture */
};

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t place(const struct chart *d, int64_t ns)
{
    ns = max_of(d->w.from, min_of(ns, d->w.to));
    return LEFT + (RIGHT - LEFT) * (ns - d->w.from) / (d->w.to - d->w.from);
}

static bool is_seen(const struct chart *d, int64_t ns)
{
    return ns > d->w.from && ns < d->w.to;
}

/* An end that did not come lies beyond the picture. */
static int64_t end_of(int64_t ns)
{
    return ns == TP_NEVER ? INT64_MAX : ns;
}

/* One span of time; false: none of it is in the picture. */
static bool bar(struct chart *d, const char *class, int64_t from, int64_t to, int64_t y, int64_t h,
    uint64_t frame, const char *what)
{
    char tip[120];
    if (from == TP_NEVER || to <= from || to <= d->w.from || from >= d->w.to)
        return false;
    int64_t x = place(d, from), wide = place(d, to) - x;
    if (wide < THIN)
        return false;
    if (to < INT64_MAX)
        snprintf(tip, sizeof tip, "frame %" PRIu64 ": %s, %.2f ms", frame, what,
            (double)(to - from) / 1e6);
    else
        snprintf(tip, sizeof tip, "frame %" PRIu64 ": %s", frame, what);
    svg_rect(d->svg, class, x, y, wide, h, tip);
    return true;
}

static const char *hue(uint64_t frame, bool open)
{
    static const char *const hues[2][4] = {
        {"f0", "f1", "f2", "f3"}, {"f0 open", "f1 open", "f2 open", "f3 open"}};
    return hues[open][frame % 4];
}

/* The frame's number in the middle of a span, where there is room for it. */
static void number(struct chart *d, uint64_t frame, int64_t from, int64_t to, int64_t y)
{
    char text[24];
    int64_t x1 = place(d, from), x2 = place(d, to);
    int64_t wide = 650 * snprintf(text, sizeof text, "%" PRIu64, frame);
    if (from != TP_NEVER && x2 - x1 >= wide)
        svg_text(d->svg, "number", (x1 + x2) / 2, y, "%s", text);
}

/* --- lanes --- */

static void begin_lane(struct chart *d, const char *name, int64_t high)
{
    svg_rect(d->svg, "lane", LEFT, d->y - 300, RIGHT - LEFT, high, NULL);
    svg_text(d->svg, "side", LEFT - 800, d->y + (high - 600) / 2 + 400, "%s", name);
}

static void work(struct chart *d, uint64_t frame, int64_t from, int64_t to, const char *what)
{
    if (bar(d, hue(frame, false), from, to, d->y, BAR, frame, what))
        number(d, frame, from, to, d->y + 1500);
}

static void draw_game(struct chart *d)
{
    begin_lane(d, "game (CPU)", BAR + 600);
    for (unsigned i = 0; i < d->kept->n_frames; i++) {
        const struct tp_frame_record *f = &d->kept->frames[i];
        int64_t gate = f->acquired_ns - f->gate_wait_ns;
        int64_t wait = gate - f->slot_wait_ns - f->release_wait_ns;
        d->held |= bar(d, "hold", f->asked_ns, wait, d->y, BAR, f->number, "held by the gate");
        d->waited |=
            bar(d, "wait", wait, gate, d->y, BAR, f->number, "waits until an image is free");
        d->held |= bar(d, "hold", gate, f->acquired_ns, d->y, BAR, f->number, "held by the gate");
        d->held |= bar(d, "hold", f->presented_ns, f->returned_ns, d->y, BAR, f->number,
            "its present is held by the gate");
        work(d, f->number, f->cpu_ns, end_of(f->cpu_to_ns), "the game's CPU");
    }
    d->y += LANE;
}

static void draw_gpu(struct chart *d)
{
    begin_lane(d, "GPU", BAR + 600);
    for (unsigned i = 0; i < d->kept->n_frames; i++) {
        const struct tp_frame_record *f = &d->kept->frames[i];
        work(d, f->number, f->elsewhere_ns, end_of(f->elsewhere_to_ns), "renders elsewhere");
        work(d, f->number, f->write_ns, end_of(f->ready_ns),
            d->c->late_guest ? "copies into the image" : "renders into the image");
    }
    d->y += LANE;
}

static void draw_compositor(struct chart *d)
{
    if (d->c->compositor_ns == 0)
        return;
    begin_lane(d, "compositor", BAR + 600);
    for (unsigned i = 0; i < d->kept->n_frames; i++) {
        const struct tp_frame_record *f = &d->kept->frames[i];
        work(d, f->number, f->committed_ns, end_of(f->composed_ns), "the compositor");
    }
    d->y += LANE;
}

/* The instant at which what is written is read, by the scan-outs of this image. */
static void draw_tears(struct chart *d, unsigned image)
{
    for (size_t i = d->w.first_scan; i < d->kept->n_scans; i++) {
        const struct tp_refresh_record *s = &d->kept->scans[i];
        const struct tp_frame_record *f = s->shows ? chart_frame(d->kept, s->frame) : NULL;
        if (f && f->image == image && s->torn_ns != TP_NEVER && is_seen(d, s->torn_ns))
            svg_torn(d->svg, place(d, s->torn_ns), d->y - 200, IMAGE + 400);
    }
}

static void draw_waits(struct chart *d, const struct tp_frame_record *f)
{
    int64_t below = d->y + HALF + GAP, over = end_of(f->released_ns);
    int64_t latch = f->latched_ns != TP_NEVER ? f->latched_ns : over;
    bar(d, hue(f->number, true), f->acquired_ns, end_of(f->write_ns), d->y, HALF, f->number,
        "the game has this image");
    bar(d, hue(f->number, false), f->write_ns, end_of(f->ready_ns), d->y, HALF, f->number,
        "the GPU writes this image");
    bar(d, hue(f->number, false), f->ready_ns, latch, below - GAP, GAP, f->number,
        "done; waits for the panel");
    bar(d, hue(f->number, true), f->latched_ns, f->line_ns != TP_NEVER ? f->line_ns : over, below,
        HALF, f->number, "the panel has this image, and will show it");
}

/* What is read lies above what waits: without fences both may be at the same time. */
static void draw_image(struct chart *d, unsigned image)
{
    char name[24];
    int64_t below = d->y + HALF + GAP;
    snprintf(name, sizeof name, "image %u", image);
    begin_lane(d, name, IMAGE + 600);
    for (unsigned i = 0; i < d->kept->n_frames; i++)
        if (d->kept->frames[i].image == image)
            draw_waits(d, &d->kept->frames[i]);
    for (unsigned i = 0; i < d->kept->n_frames; i++) {
        const struct tp_frame_record *f = &d->kept->frames[i];
        int64_t over = end_of(f->released_ns);
        if (f->image != image)
            continue;
        if (bar(d, hue(f->number, false), f->line_ns, over, below, HALF, f->number,
                "the panel reads this image"))
            number(d, f->number, f->line_ns, over, below + 1000);
        if (f->dropped && is_seen(d, over)) {
            svg_dropped(d->svg, place(d, over), below + HALF / 2);
            d->dropped = true;
        }
    }
    draw_tears(d, image);
    d->y += IMAGE + 900;
}

/* The refreshes that show an old frame where that one was due. */
static void mark_repeats(struct chart *d, const struct tp_frame_record *f)
{
    const struct tp_chart *k = d->kept;
    size_t first = 0;
    while (first < k->n_scans && k->scans[first].from_ns < f->line_ns)
        first++;
    for (size_t i = first - (f->repeats < first ? f->repeats : first); i < first; i++)
        if (is_seen(d, k->scans[i].from_ns) && is_seen(d, k->scans[i].to_ns)) {
            int64_t half = (k->scans[i].to_ns - k->scans[i].from_ns) / 2;
            svg_repeat(d->svg, place(d, k->scans[i].to_ns - half / 2), d->y + BAR / 2);
            d->repeats = true;
        }
}

static void mark_panel(struct chart *d)
{
    const struct tp_chart *k = d->kept;
    for (size_t i = 0; i < k->n_scans; i++) {
        int64_t torn = max_of(k->scans[i].torn_ns, k->scans[i].from_ns);
        if (k->scans[i].torn_ns != TP_NEVER && is_seen(d, torn)) {
            svg_torn(d->svg, place(d, torn), d->y - 200, BAR + 400);
            d->torn = true;
        }
    }
    for (unsigned i = 0; i < k->n_frames; i++) {
        const struct tp_frame_record *f = &k->frames[i];
        if (f->line_ns == TP_NEVER)
            continue;
        mark_repeats(d, f);
        if (f->late && is_seen(d, f->line_ns)) {
            svg_late(d->svg, place(d, f->line_ns), d->y + BAR - 100);
            d->late = true;
        }
    }
}

/* From a frame's first line to the next one's, and the beam from the first line to the last. */
static void draw_panel(struct chart *d)
{
    const struct tp_chart *k = d->kept;
    begin_lane(d, "panel", BAR + 600);
    for (size_t i = 0, next; i < k->n_scans; i = next) {
        const struct tp_refresh_record *s = &k->scans[i];
        for (next = i + 1; next < k->n_scans && s->shows == k->scans[next].shows &&
             s->frame == k->scans[next].frame;)
            next++;
        int64_t to = next < k->n_scans ? k->scans[next].from_ns : INT64_MAX;
        if (!s->shows)
            continue;
        if (!bar(d, hue(s->frame, false), s->from_ns, to, d->y, BAR, s->frame, "on the panel"))
            continue;
        for (size_t j = i; j < next; j++)
            if (k->scans[j].from_ns >= d->w.from && k->scans[j].to_ns <= d->w.to)
                svg_line(d->svg, "beam", place(d, k->scans[j].from_ns), d->y,
                    place(d, k->scans[j].to_ns), d->y + BAR);
        number(d, s->frame, s->from_ns, to, d->y + 1500);
    }
    mark_panel(d);
    d->y += LANE;
}

/* --- time --- */

static void draw_grid(struct chart *d)
{
    const struct tp_chart *k = d->kept;
    for (size_t i = d->w.first_scan; i < k->n_scans; i++) {
        if (is_seen(d, k->scans[i].latch_ns) && d->c->slowest_mhz == 0)
            svg_line(d->svg, "latch", place(d, k->scans[i].latch_ns), TOP - 700,
                place(d, k->scans[i].latch_ns), d->bottom);
        if (is_seen(d, k->scans[i].from_ns))
            svg_line(d->svg, "refresh", place(d, k->scans[i].from_ns), TOP - 700,
                place(d, k->scans[i].from_ns), d->bottom);
    }
    for (unsigned i = 0; d->c->slowest_mhz > 0 && i < k->n_frames; i++)
        if (k->frames[i].latched_ns != TP_NEVER && is_seen(d, k->frames[i].latched_ns))
            svg_line(d->svg, "latch", place(d, k->frames[i].latched_ns), TOP - 700,
                place(d, k->frames[i].latched_ns), d->bottom);
}

static void draw_times(struct chart *d)
{
    const struct tp_chart *k = d->kept;
    int64_t zero = TP_NEVER, last = 0;
    for (size_t i = d->w.first_scan; i < k->n_scans; i++) {
        int64_t at = k->scans[i].from_ns, x = place(d, at);
        if (!is_seen(d, at) || (zero != TP_NEVER && x - last < 4000))
            continue;
        if (zero == TP_NEVER)
            zero = at;
        int64_t tenths = (at - zero + 50000) / 100000;
        svg_text(d->svg, "number", x, TOP - 1100, "%" PRId64 ".%d%s", tenths / 10,
            (int)(tenths % 10), at == zero ? " ms" : "");
        last = x;
    }
}

/* The first frame that is in the picture from its begin to its first line. */
static void draw_latency(struct chart *d, int64_t game_y)
{
    for (unsigned i = 0; i < d->kept->n_frames; i++) {
        const struct tp_frame_record *f = &d->kept->frames[i];
        if (f->line_ns == TP_NEVER || !is_seen(d, f->begin_ns) || !is_seen(d, f->line_ns))
            continue;
        int64_t y = d->y + 500, x1 = place(d, f->begin_ns), x2 = place(d, f->line_ns);
        svg_line(d->svg, "drop", x1, game_y + BAR, x1, y);
        svg_line(d->svg, "bracket", x1, y, x2, y);
        svg_line(d->svg, "bracket", x1, y - 400, x1, y + 400);
        svg_line(d->svg, "bracket", x2, y - 400, x2, y + 400);
        bool room = x2 < RIGHT - 33000;
        svg_text(d->svg, room ? "small" : "small side", room ? x2 + 700 : x2,
            room ? y + 400 : y + 1600,
            "frame %" PRIu64 ": %.2f ms from its start to its first line", f->number,
            (double)(f->line_ns - f->begin_ns) / 1e6);
        return;
    }
}

/* --- words --- */

/* As `simulate` prints it. */
static void add_ms(struct tp_buf *b, int64_t ns)
{
    tp_buf_addf(b, "%.2f ms", (double)ns / 1e6);
}

static void add_rate(struct tp_buf *b, uint32_t mhz)
{
    tp_buf_addf(b, "%u", mhz / 1000);
    if (mhz % 1000 > 0)
        tp_buf_addf(b, ".%03u", mhz % 1000);
}

static void add_title(struct tp_buf *b, const struct tp_world_config *c)
{
    static const char *const policies[] = {"", "every n-th refresh", "a delay from frame to frame"};
    if (c->policy == TP_POLICY_GATE)
        tp_buf_addf(b, "gate %s", tp_gate_mode_name(c->gate.mode));
    else
        tp_buf_adds(b, policies[c->policy]);
    if (c->gate.cap_mhz > 0 && c->gate.mode != TP_GATE_OFF) {
        tp_buf_adds(b, ", cap ");
        add_rate(b, c->gate.cap_mhz);
    }
    tp_buf_adds(b, ", ");
    if (c->slowest_mhz > 0) {
        add_rate(b, c->slowest_mhz);
        tp_buf_adds(b, " to ");
    }
    add_rate(b, c->refresh_mhz);
    tp_buf_addf(b, " Hz, %u images", c->images);
    if (!c->release)
        tp_buf_adds(b, ", no release fences");
    if (c->bug != TP_BUG_NONE)
        tp_buf_addf(b, ", planted mistake: %s", tp_world_bug_names[c->bug]);
}

static void add_figures(
    struct tp_buf *b, const struct tp_world_config *c, const struct tp_world_result *r)
{
    if (c->n_costs == 1) {
        tp_buf_adds(b, "A frame costs ");
        add_ms(b, c->costs->cpu_ns);
        tp_buf_adds(b, " of the CPU and ");
        add_ms(b, c->costs->gpu_ns);
        tp_buf_adds(b, " of the GPU. ");
    }
    uint64_t fps = (uint64_t)(tp_world_fps(r) * 100 + 0.5);
    tp_buf_addf(b, "The whole run: %" PRIu64 ".%02u fps, ", fps / 100, (unsigned)(fps % 100));
    add_ms(b, r->latency.p50_ns);
    tp_buf_addf(b,
        " from start to first line, %" PRIu64 " tears, %" PRIu64 " late, %" PRIu64 " repeats.",
        r->tears, r->gate_late, r->repeats);
}

/* A sample and its word; x: moved on, to the next one's place. */
static void sample(struct chart *d, const char *class, int64_t *x, int64_t y, int64_t high,
    const char *word, int64_t room)
{
    svg_rect(d->svg, class, *x, y, 1800, high, NULL);
    svg_text(d->svg, "small", *x + 2300, y + 900, "%s", word);
    *x += room;
}

/* One mark of each kind that is in the picture, and what it means. */
static void draw_legend(struct chart *d, int64_t y)
{
    struct tp_buf *b = d->svg;
    int64_t x = LEFT;
    svg_line(b, "latch", x + 100, y - 1000, x + 100, y + 200);
    svg_text(b, "small", x + 700, y, "latch");
    x += 5000;
    svg_line(b, "refresh", x + 100, y - 1000, x + 100, y + 200);
    svg_text(b, "small", x + 700, y, "refresh");
    x += 6200;
    svg_line(b, "beam", x, y - 900, x + 1600, y);
    svg_text(b, "small", x + 2000, y, "scan-out");
    x += 8000;
    if (d->held)
        sample(d, "hold", &x, y - 900, 1000, "held by the gate", 12600);
    if (d->waited)
        sample(d, "wait", &x, y - 900, 1000, "waits until an image is free", 18600);
    if (d->repeats) {
        svg_repeat(b, x + 500, y - 400);
        svg_text(b, "small bad", x + 1500, y, "no new frame");
        x += 9800;
    }
    if (d->late) {
        svg_late(b, x + 500, y - 900);
        svg_text(b, "small bad", x + 1500, y, "late for its latch");
        x += 12000;
    }
    if (d->torn) {
        svg_torn(b, x + 500, y - 1000, 1300);
        svg_text(b, "small bad", x + 1500, y, "written while it is read");
        x += 16000;
    }
    if (d->dropped) {
        svg_dropped(b, x + 500, y - 400);
        svg_text(b, "small bad", x + 1500, y, "never shown");
    }
    x = LEFT;
    y += 2000;
    svg_text(b, "small side", LEFT - 800, y, "an image:");
    sample(d, "f4 open", &x, y - 900, 900, "the game has it", 12200);
    sample(d, "f4", &x, y - 900, 900, "the GPU writes it", 12800);
    svg_rect(b, "f4", x, y - 550, 1800, GAP, NULL);
    svg_text(b, "small", x + 2300, y, "it waits for the panel");
    x += 15000;
    sample(d, "f4 open", &x, y - 900, 900, "is latched", 9200);
    sample(d, "f4", &x, y - 900, 900, "the panel reads it", 0);
}

void tp_chart_draw(const struct tp_chart *chart, const struct tp_world_config *c,
    const struct tp_world_result *r, struct tp_buf *svg)
{
    struct tp_buf title = {0}, figures = {0};
    struct chart d = {.kept = chart, .c = c, .svg = svg, .y = TOP};
    chart_window(chart, &d.w);
    add_title(&title, c);
    add_figures(&figures, c, r);
    d.bottom = TOP + (c->compositor_ns > 0 ? 4 : 3) * LANE + c->images * (IMAGE + 900) - 200;
    svg_begin(svg, WIDTH_PX, (int)(d.bottom / 100) + 74, tp_buf_str(&title), tp_buf_str(&figures));
    svg_text(svg, "title", 1600, 2600, "%s", tp_buf_str(&title));
    svg_text(svg, "small", 1600, 4400, "%s", tp_buf_str(&figures));
    draw_grid(&d);
    draw_game(&d);
    draw_gpu(&d);
    draw_compositor(&d);
    for (unsigned i = 0; i < c->images; i++)
        draw_image(&d, i);
    draw_panel(&d);
    draw_times(&d);
    d.y = d.bottom + 600;
    draw_latency(&d, TOP);
    draw_legend(&d, d.bottom + 4000);
    svg_end(svg);
    tp_buf_finish(&title);
    tp_buf_finish(&figures);
}
