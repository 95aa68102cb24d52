/* Panes that are drawn: the strip of frames, how long each stayed, intervals, slots. */
#include <stdio.h>
#include <string.h>

#include "top/draw_internal.h"

#define TIMES 4 /* what a full bar of the strip stands for, in spacings of a refresh */

int64_t tp_period_ns(const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    uint32_t mhz = s->n_screens > 0 ? s->screens[0].refresh_mhz : g->refresh_mhz;
    return tp_mhz_period_ns(mhz);
}

int64_t tp_spacing_ns(const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    int64_t period = tp_period_ns(g, s);
    bool capped = g->has_gauges && g->gate != TP_GATE_OFF;
    int64_t cap = capped ? tp_mhz_period_ns(g->cap_mhz) : 0;
    return cap > period ? cap : period;
}

/* --- the strip --- */

static unsigned strip_wants(
    const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)
{
    (void)s;
    (void)w;
    return g->n_beats > 0 ? 2 : 1;
}

static unsigned ink_of_beat(const struct tp_top_beat *b)
{
    return b->torn ? TP_INK_BAD | TP_INK_BOLD : b->late ? TP_INK_WARN | TP_INK_BOLD : TP_INK_GOOD;
}

static void draw_beat(struct area a, unsigned x, const struct tp_top_beat *b, int64_t unit_ns)
{
    double stays = b->stay > 0 ? b->stay
        : unit_ns > 0          ? (double)b->interval_ns / (double)unit_ns
                               : 1;
    unsigned n = stays < 9 ? (unsigned)(stays + 0.5) : 9;
    if (a.c->utf8 || a.h > 1)
        tp_canvas_column(a.c, a.x + x, a.y + a.h - 1, a.h, ink_of_beat(b), stays / TIMES);
    else
        tp_canvas_set(a.c, a.x + x, a.y, ink_of_beat(b), '0' + n, b->torn ? '!' : (char)('0' + n));
}

static void strip_draw(struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    int64_t unit = tp_period_ns(g, s);
    unit = unit > 0 ? unit : g->summary.measures.interval.p50_ns;
    a = tp_heading(a, "frames");
    unsigned n = g->n_beats < a.w ? g->n_beats : a.w;
    for (unsigned i = 0; i < n; i++)
        draw_beat(a, a.w - n + i, &g->beats[g->n_beats - n + i], unit);
}

const struct pane tp_pane_strip = {strip_wants, strip_draw, 1, 0, TP_GROWS};

/* --- for how many refreshes frames stayed --- */

/* The longest stay that there was; 0: nothing is judged by refreshes. */
static unsigned longest(const struct tp_top_guest *g)
{
    unsigned most = 0;
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        if (g->summary.measures.cadence[i] > 0)
            most = i;
    return most;
}

static unsigned stays_wants(
    const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)
{
    unsigned n = longest(g);
    (void)s;
    (void)w;
    return n == 0 ? 0 : n < 2 ? 2 : n < 6 ? n : 6;
}

static void draw_stay(struct area a, unsigned y, const char *name, double of_ms, uint64_t n,
    uint64_t all, unsigned ink)
{
    char share[32];
    bool wide = a.w >= 48;
    double part = all > 0 ? (double)n / (double)all : 0;
    unsigned at = tp_canvas_put(a.c, a.x, a.y + y, a.w, TP_INK_PLAIN, name), from = wide ? 24 : 3;
    if (wide) {
        at += tp_canvas_put(a.c, a.x + at, a.y + y, a.w - at, TP_INK_PLAIN,
            strcmp(name, "1") == 0 ? " refresh" : " refreshes");
        snprintf(share, sizeof share, "%6.2f ms", of_ms);
        tp_canvas_right(a.c, a.x + 23, a.y + y, 9, TP_INK_DIM, share);
    }
    snprintf(share, sizeof share, "%5.1f %%", 100 * part);
    tp_canvas_right(a.c, a.x + a.w, a.y + y, 8, n > 0 ? TP_INK_BOLD : TP_INK_DIM, share);
    if (wide) {
        snprintf(share, sizeof share, "%llu", (unsigned long long)n);
        tp_canvas_right(a.c, a.x + a.w - 8, a.y + y, 6, TP_INK_DIM, share);
    }
    unsigned right = wide ? 15 : 9;
    if (a.w > from + right)
        tp_canvas_bar(a.c, a.x + from, a.y + y, a.w - from - right, ink, part);
}

static void stays_draw(struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    const uint64_t *cadence = g->summary.measures.cadence;
    int64_t period = tp_period_ns(g, s), spacing = tp_spacing_ns(g, s);
    uint64_t all = 0, done = 0;
    a = tp_heading(a, "stays");
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        all += cadence[i];
    for (unsigned y = 0; y < a.h; y++) {
        char name[16];
        uint64_t n = cadence[y + 1];
        bool rest = y + 1 == a.h && y + 1 < longest(g);
        bool as_wanted = (int64_t)y * period < spacing;
        snprintf(name, sizeof name, "%u%s", y + 1, rest || y + 1 == TP_CADENCE ? "+" : "");
        n = rest ? all - done : n;
        done += n;
        draw_stay(a, y, name, (double)period * (y + 1) / 1e6, n, all,
            as_wanted ? TP_INK_GOOD : TP_INK_WARN);
    }
}

const struct pane tp_pane_stays = {stays_wants, stays_draw, 2, 5, TP_GROWS};

/* --- intervals by the millisecond --- */

static unsigned columns_wants(
    const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)
{
    (void)s;
    return g->n_beats > 0 && w >= 40 ? 8 : 0;
}

/* The longest interval that is as wanted: a cap between two divisors of the refresh takes turns. */
static double limit_ms(const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    int64_t period = tp_period_ns(g, s), spacing = tp_spacing_ns(g, s);
    if (spacing == 0)
        return TP_TOP_BINS;
    bool fixed = s->n_screens > 0 && s->screens[0].slowest_mhz == 0 && period > 0;
    int64_t stays = fixed ? (spacing - period / 32 + period - 1) / period : 0;
    return (double)(fixed ? stays * period : spacing) * 1.2 / 1e6;
}

static void columns_draw(
    struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    uint64_t most = 1;
    double limit = limit_ms(g, s);
    a = tp_heading(a, "ms");
    unsigned n = a.w < TP_TOP_BINS ? a.w : TP_TOP_BINS, wide = a.w >= 2 * TP_TOP_BINS ? 2 : 1;
    for (unsigned i = 0; i < TP_TOP_BINS; i++)
        most = g->bins[i] > most ? g->bins[i] : most;
    for (unsigned i = 0; i < n; i++) {
        uint64_t count = g->bins[i];
        for (unsigned k = i; i + 1 == n && k + 1 < TP_TOP_BINS; k++)
            count += g->bins[k + 1]; /* the last stands for all that are longer */
        unsigned ink = i > limit ? TP_INK_WARN : TP_INK_GOOD;
        for (unsigned k = 0; k < wide; k++)
            tp_canvas_column(
                a.c, a.x + i * wide + k, a.y + a.h - 2, a.h - 1, ink, (double)count / (double)most);
    }
    for (unsigned i = 0; i < n; i++) {
        bool tick = i % 10 == 0;
        for (unsigned k = 0; k < wide; k++)
            if (!tick && (i % 10 > 1 || wide > 1))
                tp_canvas_set(a.c, a.x + i * wide + k, a.y + a.h - 1, TP_INK_DIM, 0x2500, '-');
    }
    for (unsigned i = 0; i < n; i += 10)
        tp_canvas_printf(a.c, a.x + i * wide, a.y + a.h - 1, 3, TP_INK_DIM, "%u", i);
}

const struct pane tp_pane_columns = {columns_wants, columns_draw, 4, 11, TP_GROWS};

/* --- slots --- */

static const struct {
    char letter;
    const char *name;
    unsigned ink;
} states[TP_TOP_STATES] = {
    {'R', "ready", TP_INK_GOOD},
    {'P', "replaced", TP_INK_WAIT},
    {'F', "fenced", TP_INK_WAIT},
    {'A', "acquired", TP_INK_GAME},
    {'Q', "queued", TP_INK_COOL},
    {'H', "held", TP_INK_COOL},
    {'X', "quarantine", TP_INK_BAD},
    {'?', "unknown", TP_INK_BAD},
};

const char *tp_top_state_name(unsigned state)
{
    return states[state].name;
}

static unsigned slots_wants(
    const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)
{
    (void)s;
    return g->n_slots == 0 ? 0 : g->n_looks > 1 && w >= 56 && g->n_slots <= 8 ? g->n_slots : 1;
}

/* Some of all of a slot's states lately, the newest at the end. */
static void draw_looks(struct area a, const struct tp_top_guest *g, unsigned slot)
{
    unsigned n = g->n_looks < a.w ? g->n_looks : a.w;
    const uint8_t *looks = g->slots[slot].looks + g->n_looks - n;
    for (unsigned k = 0; k < n; k++)
        tp_canvas_set(a.c, a.x + k, a.y, states[looks[k]].ink,
            (unsigned char)states[looks[k]].letter, states[looks[k]].letter);
}

static unsigned draw_cell(struct area a, const struct tp_top_guest *g, unsigned slot)
{
    unsigned state = g->slots[slot].state;
    return tp_canvas_printf(a.c, a.x, a.y, a.w, states[state].ink | TP_INK_REVERSE | TP_INK_BOLD,
        " %c ", states[state].letter);
}

/* One line a slot, with what it was lately. */
static void slots_in_lines(struct area a, const struct tp_top_guest *g)
{
    for (unsigned i = 0; i < g->n_slots && i < a.h; i++) {
        struct area line = {a.c, a.x, a.y + i, a.w, 1};
        tp_canvas_printf(a.c, line.x, line.y, 3, TP_INK_DIM, "%u", i);
        line.x += 3;
        draw_cell(line, g, i);
        tp_canvas_printf(a.c, line.x + 4, line.y, 9, TP_INK_DIM, "#%llu",
            (unsigned long long)(g->slots[i].frame % 1000000));
        if (a.w <= 18)
            continue;
        line.x += 13;
        line.w = a.w - 18;
        draw_looks(line, g, i);
    }
}

static void slots_in_a_line(struct area a, const struct tp_top_guest *g)
{
    unsigned x = 0;
    if (a.w < 45)
        x = 1 + tp_canvas_put(a.c, a.x, a.y, a.w, TP_INK_PLAIN, "slots");
    for (unsigned i = 0; i < g->n_slots && x + 3 <= a.w; i++) {
        struct area cell = {a.c, a.x + x, a.y, a.w - x, 1};
        x += draw_cell(cell, g, i) + 1;
    }
}

static void slots_draw(struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    (void)s;
    a = tp_heading(a, "slots");
    if (a.h >= g->n_slots && a.h > 1)
        slots_in_lines(a, g);
    else
        slots_in_a_line(a, g);
}

const struct pane tp_pane_slots = {slots_wants, slots_draw, 1, 4, TP_GROWS_WHOLE};

/* --- where slots spend their time --- */

static uint64_t all_looks(const struct tp_top_guest *g)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < TP_TOP_STATES; i++)
        n += g->states[i];
    return n;
}

static unsigned share_fields(
    const struct tp_top_guest *g, struct field f[TP_TOP_STATES], char names[TP_TOP_STATES][16])
{
    uint64_t all = all_looks(g);
    unsigned n = 0;
    bool told[TP_TOP_STATES] = {false};
    for (unsigned round = 0; round < TP_TOP_STATES && all > 0; round++) { /* the longest first */
        unsigned i = TP_TOP_STATES;
        for (unsigned k = 0; k < TP_TOP_STATES; k++)
            if (!told[k] && g->states[k] > 0 && (i == TP_TOP_STATES || g->states[k] > g->states[i]))
                i = k;
        if (i == TP_TOP_STATES)
            break;
        told[i] = true;
        snprintf(names[n], sizeof names[n], "%c %s", states[i].letter, states[i].name);
        tp_field_set(&f[n], names[n], states[i].ink | TP_INK_BOLD, "%.0f %%",
            100.0 * (double)g->states[i] / (double)all);
        n++;
    }
    return n;
}

static unsigned shares(struct area a, const struct tp_top_guest *g)
{
    struct field f[TP_TOP_STATES];
    char names[TP_TOP_STATES][16];
    unsigned n = share_fields(g, f, names);
    return n > 0 ? tp_fields(a, "", f, n) : 0;
}

static unsigned shares_wants(
    const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)
{
    (void)s;
    return shares((struct area){.w = w}, g);
}

static void shares_draw(
    struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    (void)s;
    shares(a, g);
}

const struct pane tp_pane_shares = {shares_wants, shares_draw, 1, 8, TP_GROWS};
