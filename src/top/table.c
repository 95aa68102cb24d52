/* The table of guests: as many columns as there is room for. */
#include <stdio.h>
#include <string.h>

#include "frames/pace/profile.h"
#include "top/table.h"

#define NAME_LEAST 12u /* columns of a guest's name, where there are 40 */

struct number {
    char text[24];
    unsigned ink;
};

static void set_ms(struct number *n, double ns)
{
    snprintf(n->text, sizeof n->text, "%.2f", ns / 1e6);
}

static void pid(const struct tp_top_guest *g, struct number *n)
{
    if (g->pid > 0)
        snprintf(n->text, sizeof n->text, "%d", (int)g->pid);
}

static void fps(const struct tp_top_guest *g, struct number *n)
{
    snprintf(n->text, sizeof n->text, "%.2f", g->fps);
    n->ink = g->stopped ? TP_INK_WARN | TP_INK_BOLD : TP_INK_BOLD;
}

static void cap(const struct tp_top_guest *g, struct number *n)
{
    if (!g->has_gauges)
        return;
    if (g->cap_mhz == 0)
        strcpy(n->text, "off");
    else
        snprintf(n->text, sizeof n->text, "%.5g", g->cap_mhz / 1000.0);
}

static void gate(const struct tp_top_guest *g, struct number *n)
{
    if (g->has_gauges)
        strcpy(n->text, tp_gate_mode_name(g->gate));
}

static void images(const struct tp_top_guest *g, struct number *n)
{
    if (g->has_gauges)
        snprintf(n->text, sizeof n->text, "%u", g->images);
}

static void p50(const struct tp_top_guest *g, struct number *n)
{
    set_ms(n, (double)g->summary.measures.interval.p50_ns);
}

static void p99(const struct tp_top_guest *g, struct number *n)
{
    set_ms(n, (double)g->summary.measures.interval.p99_ns);
}

static void most(const struct tp_top_guest *g, struct number *n)
{
    set_ms(n, (double)g->summary.measures.interval.max_ns);
}

static void tail(const struct tp_top_guest *g, struct number *n)
{
    double t = g->summary.measures.spacing_tail;
    snprintf(n->text, sizeof n->text, "%.1f%%", 100 * t);
    n->ink = t >= 0.005 ? TP_INK_WARN | TP_INK_BOLD : TP_INK_PLAIN;
}

static void latency(const struct tp_top_guest *g, struct number *n)
{
    if (g->summary.has_guest)
        set_ms(n, (double)g->summary.measures.latency.p50_ns);
}

static void late(const struct tp_top_guest *g, struct number *n)
{
    uint64_t l = g->summary.measures.gate_late;
    if (!g->summary.has_guest)
        return;
    snprintf(n->text, sizeof n->text, "%llu", (unsigned long long)l);
    n->ink = l > 0 ? TP_INK_WARN | TP_INK_BOLD : TP_INK_PLAIN;
}

static void so_far(const struct tp_top_guest *g, enum tp_counter c, struct number *n)
{
    if (!g->summary.has_counts)
        return;
    snprintf(n->text, sizeof n->text, "%llu", (unsigned long long)g->so_far[c]);
    n->ink = g->so_far[c] > 0 ? TP_INK_BAD | TP_INK_BOLD : TP_INK_PLAIN;
}

static void timeouts(const struct tp_top_guest *g, struct number *n)
{
    so_far(g, TP_COUNT_RELEASE_TIMEOUTS, n);
}

static void unsafe(const struct tp_top_guest *g, struct number *n)
{
    so_far(g, TP_COUNT_UNSAFE, n);
}

static void lost(const struct tp_top_guest *g, struct number *n)
{
    so_far(g, TP_COUNT_NOTES_LOST, n);
}

/* In the order in which they stand; rank: those with the lowest come first where room is scarce. */
static const struct column {
    const char *title;
    unsigned width, rank;
    void (*say)(const struct tp_top_guest *g, struct number *n);
} columns[] = {
    {"PID", 7, 7, pid},
    {"FPS", 7, 0, fps},
    {"CAP", 6, 1, cap},
    {"GATE", 8, 2, gate},
    {"IMG", 4, 6, images},
    {"P50", 7, 8, p50},
    {"P99", 7, 3, p99},
    {"MAX", 8, 9, most},
    {"TAIL", 6, 5, tail},
    {"LATENCY", 8, 10, latency},
    {"LATE", 6, 11, late},
    {"T-OUTS", 7, 4, timeouts},
    {"UNSAFE", 7, 12, unsafe},
    {"LOST", 6, 13, lost},
};
#define COLUMNS (sizeof columns / sizeof *columns)

/* Which of them fit; answers the width that they take. */
static unsigned choose(unsigned width, bool shown[COLUMNS])
{
    unsigned used = 0, least = width < 40 ? NAME_LEAST / 2 : NAME_LEAST;
    for (unsigned rank = 0; rank < COLUMNS; rank++)
        for (size_t i = 0; i < COLUMNS; i++) {
            if (columns[i].rank != rank)
                continue;
            if (2 + least + used + columns[i].width > width)
                return used;
            shown[i] = true;
            used += columns[i].width;
        }
    return used;
}

static void draw_line(struct area a, const struct tp_top_guest *g, const bool shown[COLUMNS],
    unsigned used, bool chosen)
{
    unsigned x = a.x + a.w - used;
    if (chosen)
        tp_canvas_set(a.c, a.x, a.y, TP_INK_COOL | TP_INK_BOLD, 0x25b6, '>');
    if (a.w > used + 2)
        tp_canvas_put(a.c, a.x + 2, a.y, a.w - used - 2,
            chosen ? TP_INK_COOL | TP_INK_BOLD : TP_INK_PLAIN, g->name);
    for (size_t i = 0; i < COLUMNS; i++) {
        struct number n = {"-", TP_INK_PLAIN};
        if (!shown[i])
            continue;
        columns[i].say(g, &n);
        x += columns[i].width;
        tp_canvas_right(a.c, x, a.y, columns[i].width - 1, n.ink, n.text);
    }
}

void tp_top_table(struct area a, bool header, const struct tp_top_snapshot *s, unsigned chosen)
{
    bool shown[COLUMNS] = {false};
    unsigned used = choose(a.w, shown), x = a.x + a.w - used, first = 0;
    if (header) {
        tp_canvas_put(a.c, a.x + 2, a.y, a.w - used - 2, TP_INK_DIM, "GUEST");
        for (size_t i = 0; i < COLUMNS; i++)
            if (shown[i])
                tp_canvas_right(a.c, x += columns[i].width, a.y, columns[i].width - 1, TP_INK_DIM,
                    columns[i].title);
        a.y++;
        a.h--;
    }
    if (chosen >= a.h)
        first = chosen - a.h + 1;
    for (unsigned i = first; i < s->n_guests && i < first + a.h; i++)
        draw_line((struct area){a.c, a.x, a.y + i - first, a.w, 1}, s->guests[i], shown, used,
            i == chosen);
}
