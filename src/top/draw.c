#include "top/draw.h"

#include <stdio.h>
#include <string.h>

#include "top/draw_internal.h"
#include "top/table.h"

#define WIDE 108u /* from here on panes stand in two columns */
#define PANES 16u

/* Takes lines off the top of what is left. */
static struct area cut_top(struct area *a, unsigned rows)
{
    struct area top = *a;
    rows = rows < a->h ? rows : a->h;
    top.h = rows;
    a->y += rows;
    a->h -= rows;
    return top;
}

/* --- the first lines --- */

static const char *state_of(const struct tp_top_ui *ui)
{
    if (ui->link == TP_TOP_LOST)
        return "SERVER ENDED";
    if (ui->link == TP_TOP_WAITING)
        return "NO SERVER";
    return ui->paused ? "PAUSED" : "live";
}

static void draw_title(struct area a, const struct tp_top_ui *ui)
{
    unsigned ink = TP_INK_REVERSE | (ui->link == TP_TOP_LIVE ? TP_INK_COOL : TP_INK_BAD);
    const char *state = state_of(ui);
    unsigned room = (unsigned)strlen(state) + 2;
    for (unsigned x = 0; x < a.w; x++)
        tp_canvas_set(a.c, a.x + x, a.y, ink, ' ', ' ');
    unsigned x = 1 +
        tp_canvas_put(
            a.c, a.x + 1, a.y, a.w, ink | TP_INK_BOLD, a.w >= 30 ? "turnpike top" : "top");
    if (a.w >= 60 && a.w > x + room + 4 && ui->socket) {
        x += 2;
        unsigned left = a.w - x - room;
        x += tp_canvas_put(a.c, a.x + x, a.y, left, ink, ui->socket);
        if (ui->server > 0 && a.w > x + room + 14)
            tp_canvas_printf(a.c, a.x + x + 2, a.y, 14, ink, "pid %d", (int)ui->server);
    }
    tp_canvas_right(a.c, a.x + a.w - 1, a.y, a.w, ink | TP_INK_BOLD, state);
}

static void name_rate(const struct tp_top_screen *s, char *to, size_t n)
{
    if (s->refresh_mhz == 0)
        snprintf(to, n, "off");
    else if (s->slowest_mhz > 0)
        snprintf(to, n, "%.6g-%.6g Hz", s->slowest_mhz / 1000.0, s->refresh_mhz / 1000.0);
    else
        snprintf(to, n, "%.2f Hz", s->refresh_mhz / 1000.0);
}

/* Of several the first alone has records: what was seen on the others nobody knows. */
static unsigned draw_screen(
    struct area a, const struct tp_top_screen *s, unsigned place, unsigned of)
{
    struct field f[7];
    unsigned n = 0;
    char rate[40];
    if (of > 1)
        tp_field_set(&f[n++], "", TP_INK_BOLD, "%u of %u", place + 1, of);
    name_rate(s, rate, sizeof rate);
    if (s->width_px > 0)
        tp_field_set(&f[n++], "", TP_INK_PLAIN, "%ux%u", s->width_px, s->height_px);
    else
        tp_field_set(&f[n++], "", TP_INK_PLAIN, "no mode set");
    tp_field_set(&f[n++], "", TP_INK_BOLD, "%s", rate);
    if (place > 0)
        tp_field_set(&f[n++], "tears", TP_INK_DIM, "unheard");
    else if (s->watched)
        tp_field_set(&f[n++], "tears", s->tears > 0 ? TP_INK_BAD | TP_INK_BOLD : TP_INK_BOLD,
            "%llu", (unsigned long long)s->tears);
    else
        tp_field_set(&f[n++], "tears", TP_INK_DIM, "unwatched");
    tp_field_set(&f[n++], "pipeline", TP_INK_PLAIN, "%u", s->pipeline);
    tp_field_set(&f[n++], "latch", TP_INK_PLAIN, "%.2f ms before", (double)s->lead_ns / 1e6);
    if (s->refreshes > 0)
        tp_field_set(&f[n++], "new in", TP_INK_PLAIN, "%.0f %% of refreshes",
            100.0 * (double)s->fresh / (double)s->refreshes);
    return tp_fields(a, "screen", f, n);
}

/* --- how it is, in a sentence --- */

static unsigned ink_of(enum tp_severity s)
{
    return TP_INK_BOLD |
        (s == TP_FINDING_ERROR            ? TP_INK_BAD
                : s == TP_FINDING_WARNING ? TP_INK_WARN
                                          : TP_INK_GOOD);
}

static void draw_verdict(struct area *a, const struct tp_top_guest *g, const struct tp_top_ui *ui)
{
    char text[400];
    unsigned ink;
    if (ui->link != TP_TOP_LIVE) {
        snprintf(text, sizeof text, "%s",
            ui->link == TP_TOP_LOST
                ? "The server has ended: these are its last numbers. Waiting for another one…"
                : "Waiting for a server…");
        ink = TP_INK_BAD | TP_INK_BOLD;
    } else if (!g) {
        snprintf(text, sizeof text, "No guest yet.");
        ink = TP_INK_COOL | TP_INK_BOLD;
    } else if (g->is_new) {
        snprintf(text, sizeof text, "Waiting for its frames…");
        ink = TP_INK_COOL | TP_INK_BOLD;
    } else if (g->stopped && g->still_ns > 0) {
        snprintf(text, sizeof text, "It stands still: no new frame for %.0f s.",
            (double)g->still_ns / 1e9);
        ink = TP_INK_WARN | TP_INK_BOLD;
    } else {
        snprintf(text, sizeof text, "%s", g->verdict.text);
        ink = ink_of(g->verdict.severity);
    }
    unsigned needs =
        tp_canvas_wrap(&(struct tp_canvas){.utf8 = a->c->utf8}, 0, 0, a->w, 3, ink, text);
    struct area at = cut_top(a, needs > 1 && a->h > 4 ? 2 : 1);
    tp_canvas_wrap(at.c, at.x, at.y, at.w, at.h, ink, text);
}

/* Of whom and of when everything below it is. */
static void draw_rule(struct area a, const struct tp_top_guest *g)
{
    char text[TP_TOP_NAME + 40];
    tp_canvas_rule(a.c, a.x, a.y, a.w, TP_INK_DIM);
    if (!g)
        return;
    snprintf(text, sizeof text, " %s, last %.0f s ", g->name, (double)g->window_ns / 1e9);
    tp_canvas_put(a.c, a.x + 2, a.y, a.w - 4, TP_INK_COOL | TP_INK_BOLD, text);
}

/* --- panes, by what there is room for --- */

struct placed {
    const struct pane *pane;
    unsigned wants, rows;
};

/* Each pane of these priorities gets what it needs at least, as long as there is room. */
static unsigned give_least(struct placed *p, unsigned n, unsigned from, unsigned to, unsigned rows)
{
    for (unsigned order = from; order < to; order++)
        for (unsigned i = 0; i < n; i++) {
            unsigned least = p[i].pane->least;
            least = least < p[i].wants ? least : p[i].wants;
            if (p[i].pane->priority != order || least > rows)
                continue;
            p[i].rows = least;
            rows -= least;
        }
    return rows;
}

static unsigned grow(struct placed *p, unsigned rows)
{
    unsigned more = p->rows > 0 ? p->wants - p->rows : 0;
    if (more > rows)
        more = p->pane->growth == TP_GROWS_WHOLE ? 0 : rows;
    p->rows += more;
    return rows - more;
}

static unsigned give_more(struct placed *p, unsigned n, unsigned rows)
{
    for (unsigned i = 0; i < n; i++)
        if (p[i].pane->growth == TP_GROWS_FIRST)
            rows = grow(&p[i], rows);
    for (unsigned order = 0; order < PANES; order++)
        for (unsigned i = 0; i < n; i++)
            if (p[i].pane->priority == order)
                rows = grow(&p[i], rows);
    return rows;
}

static void allot(struct placed *p, unsigned n, unsigned rows)
{
    rows = give_least(p, n, 0, TP_PANE_SPARE, rows);
    rows = give_more(p, n, rows);
    rows = give_least(p, n, TP_PANE_SPARE, PANES, rows);
    give_more(p, n, rows);
}

static void draw_panes(struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s,
    const struct pane *const *list, unsigned n)
{
    struct placed p[PANES];
    for (unsigned i = 0; i < n; i++)
        p[i] = (struct placed){list[i], list[i]->wants(g, s, a.w), 0};
    allot(p, n, a.h);
    for (unsigned i = 0; i < n; i++) {
        if (p[i].rows > 0)
            p[i].pane->draw((struct area){a.c, a.x, a.y, a.w, p[i].rows}, g, s);
        a.y += p[i].rows;
    }
}

static const struct pane *const all[] = {&tp_pane_strip, &tp_pane_stays, &tp_pane_intervals,
    &tp_pane_columns, &tp_pane_waits, &tp_pane_late, &tp_pane_latency, &tp_pane_slots,
    &tp_pane_shares, &tp_pane_notes, &tp_pane_findings};
static const struct pane *const left[] = {
    &tp_pane_stays, &tp_pane_intervals, &tp_pane_columns, &tp_pane_latency};
static const struct pane *const right[] = {
    &tp_pane_waits, &tp_pane_late, &tp_pane_notes, &tp_pane_slots, &tp_pane_shares};

static unsigned wanted(const struct pane *const *list, unsigned n, const struct tp_top_guest *g,
    const struct tp_top_snapshot *s, unsigned w)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < n; i++)
        rows += list[i]->wants(g, s, w);
    return rows;
}

#define COUNT(a) (unsigned)(sizeof(a) / sizeof *(a))

/* In two columns: the strip above both, findings below both. */
static void draw_wide(struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    unsigned half = (a.w - 3) / 2, strip = a.h >= 28 ? 5 : a.h >= 12 ? 3 : 1;
    struct area l = {a.c, a.x, a.y + strip, half, a.h - strip};
    struct area r = {a.c, a.x + half + 3, a.y + strip, a.w - half - 3, a.h - strip};
    tp_pane_strip.draw((struct area){a.c, a.x, a.y, a.w, strip}, g, s);
    unsigned needs = wanted(left, COUNT(left), g, s, l.w),
             other = wanted(right, COUNT(right), g, s, r.w);
    unsigned found = tp_pane_findings.wants(g, s, a.w);
    needs = needs > other ? needs : other;
    unsigned rows = a.h - strip, least = found == 0 ? 0 : found < rows / 2 ? found : rows / 2;
    if (needs > rows - least)
        needs = rows - least;
    l.h = r.h = needs;
    draw_panes(l, g, s, left, COUNT(left));
    draw_panes(r, g, s, right, COUNT(right));
    struct area below = {a.c, a.x, l.y + needs, a.w, rows - needs};
    if (below.h > found && found > 0) { /* a line between */
        below.y++;
        below.h--;
    }
    if (below.h > 0)
        tp_pane_findings.draw(below, g, s);
}

/* --- what else is to be read --- */

static void draw_nobody(struct area a, const struct tp_top_ui *ui)
{
    static const char *const lines[] = {
        "No game draws through turnpike's Vulkan driver yet, and nothing else on this screen.",
        "Start one with `turnpike play`, or in a program's environment set TURNPIKE_SOCKET to this "
        "server's socket and VK_ICD_FILENAMES to turnpike's ICD (docs/icd.md)."};
    if (ui->link != TP_TOP_LIVE)
        return;
    for (unsigned i = 0; i < 2 && a.h > 0; i++) {
        unsigned n = tp_canvas_wrap(a.c, a.x, a.y, a.w, a.h, TP_INK_PLAIN, lines[i]);
        a.y += n;
        a.h -= n;
    }
}

static void draw_help(struct area a)
{
    static const struct {
        const char *key, *text;
    } lines[] = {
        {"Tab, Up, Down", "choose a guest"},
        {"Left, Right", "choose a screen, where there are several"},
        {"c  C", "the next cap, the one before: off, 30, 40, 45, 60, 72, 90, 120"},
        {"4 5 Enter", "a cap of 45; 0: none; with r in Enter's place: a refresh of 45 Hz"},
        {"g", "the next gate: off, vsync, cap (where there is one), latency"},
        {"r  R", "the next refresh, the one before; the nearest that there is"},
        {"p", "pause: what is shown stays as it is"},
        {"q, Ctrl-C", "the end"},
        {"", "Cap, gate and refresh change for all guests, from their next frame on."},
        {"", ""},
        {"frames",
            "one column a frame, as high as the refreshes it stayed; yellow: late, red: torn"},
        {"stays", "for how many refreshes frames were on the screen"},
        {"waits",
            "of an acquire, on average: until the panel had let go of the image (release), "
            "until there was any (slot), until it was to start (gate)"},
        {"slots",
            "R ready, A acquired by the game, Q queued, H held by compositor or panel, P "
            "replaced and F fenced: the panel is still to let go, X quarantine"},
        {"the table", "time-outs, unsafe, lost: so far; all else: the last seconds"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines && a.h > 0; i++) {
        unsigned at = *lines[i].key ? 15 : 0, n = 1;
        tp_canvas_put(a.c, a.x, a.y, a.w, TP_INK_BOLD, lines[i].key);
        if (a.w > at + 8)
            n = tp_canvas_wrap(a.c, a.x + at, a.y, a.w - at, a.h, TP_INK_PLAIN, lines[i].text);
        n = n > 0 ? n : 1;
        a.y += n;
        a.h -= n;
    }
}

static void draw_keys(struct area a)
{
    static const struct {
        const char *key, *text;
    } keys[] = {{"q", "quit"}, {"?", "help"}, {"c", "cap"}, {"g", "gate"}, {"r", "refresh"},
        {"p", "pause"}, {"Tab", "next guest"}};
    unsigned x = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        unsigned needs = (unsigned)(strlen(keys[i].key) + 1 + strlen(keys[i].text));
        if (x + needs > a.w)
            break;
        x += tp_canvas_put(a.c, a.x + x, a.y, a.w, TP_INK_BOLD | TP_INK_COOL, keys[i].key) + 1;
        x += tp_canvas_put(a.c, a.x + x, a.y, a.w, TP_INK_DIM, keys[i].text);
        x += a.w < 60 ? 1 : 3;
    }
}

/* A number that is typed, or what became of a change. False: there is nothing to say. */
static bool draw_message(struct area a, const struct tp_top_ui *ui)
{
    if (ui->n_entry > 0) {
        char number[sizeof ui->entry + 1] = "";
        memcpy(number, ui->entry, ui->n_entry);
        unsigned x = tp_canvas_printf(a.c, a.x, a.y, a.w, TP_INK_BOLD, "%s_", number);
        if (a.w > x + 8)
            tp_canvas_put(a.c, a.x + x + 2, a.y, a.w - x - 2, TP_INK_PLAIN,
                "Enter: cap   r: refresh in Hz   Esc: neither");
        return true;
    }
    if (!ui->message[0])
        return false;
    tp_canvas_put(a.c, a.x, a.y, a.w, TP_INK_BOLD | (ui->message_is_bad ? TP_INK_BAD : TP_INK_GOOD),
        ui->message);
    return true;
}

/* --- all of it --- */

static unsigned place_of(const struct tp_top_snapshot *s, const struct tp_top_guest *g)
{
    unsigned i = 0;
    while (i < s->n_guests && s->guests[i] != g)
        i++;
    return i;
}

static void draw_guests(
    struct area *a, const struct tp_top_snapshot *s, const struct tp_top_guest *g)
{
    bool header = a->h >= 6;
    unsigned most = a->h / 4 > 0 ? a->h / 4 : 1, n = s->n_guests < most ? s->n_guests : most;
    if (n > 0)
        tp_top_table(cut_top(a, n + header), header, s, place_of(s, g));
}

void tp_top_draw(struct tp_canvas *c, const struct tp_top_snapshot *s, const struct tp_top_ui *ui)
{
    struct area a = {c, 0, 0, c->width, c->height};
    const struct tp_top_guest *g = tp_top_chosen(ui, s);
    draw_title(cut_top(&a, 1), ui);
    if (ui->once) {
        ;                  /* nobody has keys */
    } else if (a.h >= 7) { /* the last line is for them, or what is said instead */
        struct area last = {c, 0, c->height - 1, c->width, 1};
        if (!draw_message(last, ui))
            draw_keys(last);
        a.h--;
    } else if (ui->n_entry > 0 || ui->message[0]) {
        draw_message((struct area){c, 0, c->height - 1, c->width, 1}, ui);
        a.h -= a.h > 0;
    }
    if (ui->help) {
        draw_help(a);
        return;
    }
    const struct tp_top_screen *screen = tp_top_chosen_screen(ui, s);
    if (screen && a.h >= 6)
        draw_screen(cut_top(&a, 1), screen, (unsigned)(screen - s->screens), s->n_screens);
    draw_guests(&a, s, g);
    if (a.h > 4)
        draw_rule(cut_top(&a, 1), g);
    draw_verdict(&a, g, ui);
    if (!g)
        draw_nobody(a, ui);
    else if (c->width >= WIDE && a.h > 4)
        draw_wide(a, g, s);
    else
        draw_panes(a, g, s, all, COUNT(all));
}

unsigned tp_top_lines(const struct tp_top_snapshot *s, const struct tp_top_ui *ui, unsigned width)
{
    const struct tp_top_guest *g = tp_top_chosen(ui, s);
    unsigned head = 6 + 4 * s->n_guests; /* a table gets a quarter of what is there */
    unsigned panes = g ? wanted(all, COUNT(all), g, s, width) : 4;
    return head + panes + s->n_guests;
}
