#include "top/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

void tp_canvas_init(struct tp_canvas *c, unsigned width, unsigned height, bool utf8)
{
    width = width > TP_CANVAS_MOST ? TP_CANVAS_MOST : width;
    height = height > TP_CANVAS_MOST ? TP_CANVAS_MOST : height;
    *c =
        (struct tp_canvas){.width = width ? width : 1, .height = height ? height : 1, .utf8 = utf8};
    size_t n = (size_t)c->width * c->height;
    c->cells = tp_calloc(n, sizeof *c->cells);
    for (size_t i = 0; i < n; i++)
        c->cells[i].character = ' ';
}

void tp_canvas_finish(struct tp_canvas *c)
{
    free(c->cells);
    *c = (struct tp_canvas){0};
}

static struct tp_cell *cell(const struct tp_canvas *c, unsigned x, unsigned y)
{
    return x < c->width && y < c->height ? &c->cells[(size_t)y * c->width + x] : NULL;
}

void tp_canvas_set(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned ink, uint32_t character, char ascii)
{
    struct tp_cell *at = cell(c, x, y);
    if (at)
        *at = (struct tp_cell){c->utf8 ? character : (unsigned char)ascii, (uint8_t)ink};
}

/* --- text --- */

/* The next character of text that is UTF-8 (tp_printable has seen to that). */
static uint32_t next(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    unsigned more = s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    uint32_t u = more == 0 ? s[0] : s[0] & (0x3fu >> more);
    for (unsigned i = 1; i <= more; i++)
        u = u << 6 | (s[i] & 0x3fu);
    *at += 1 + more;
    return u;
}

/* What our own words have beyond ASCII. */
static const char *plain(uint32_t u)
{
    static const struct {
        uint32_t u;
        const char *ascii;
    } table[] = {{0xb5, "u"}, {0xb7, "-"}, {0xd7, "x"}, {0x2013, "-"}, {0x2014, "-"}, {0x2018, "'"},
        {0x2019, "'"}, {0x201c, "\""}, {0x201d, "\""}, {0x2026, "..."}, {0x2190, "<-"},
        {0x2191, "Up"}, {0x2192, "->"}, {0x2193, "Down"}, {0x2212, "-"}, {0x2264, "<="},
        {0x2265, ">="}, {0x2308, "ceil("}, {0x2309, ")"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].u == u)
            return table[i].ascii;
    return "?";
}

/* What a text comes to, cell by cell. */
struct glyphs {
    struct tp_cell *at;
    unsigned n, cap;
};

static void add(struct glyphs *g, uint32_t character)
{
    TP_PUSH(g->at, g->n, g->cap) = (struct tp_cell){.character = character};
}

static void add_wide(struct glyphs *g, uint32_t u)
{
    int columns = iswprint((wint_t)u) ? wcwidth((wchar_t)u) : -1;
    if (columns != 1 && columns != 2) { /* marks, directions and the like change their neighbours */
        add(g, '?');
        return;
    }
    add(g, u);
    if (columns == 2)
        add(g, 0);
}

static struct glyphs glyphs_of(const struct tp_canvas *c, const char *text)
{
    struct glyphs g = {0};
    char *printable = tp_printable_line(text);
    for (const char *at = printable; *at;) {
        uint32_t u = next(&at);
        if (u < 0x80)
            add(&g, u);
        else if (c->utf8)
            add_wide(&g, u);
        else
            for (const char *s = plain(u); *s; s++)
                add(&g, (unsigned char)*s);
    }
    free(printable);
    return g;
}

/* Draws cells [from, from + n). */
static void draw(struct tp_canvas *c, unsigned x, unsigned y, unsigned ink, const struct glyphs *g,
    unsigned from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct tp_cell *at = cell(c, x + i, y);
        if (!at)
            return;
        *at = (struct tp_cell){g->at[from + i].character, (uint8_t)ink};
    }
}

static unsigned draw_cut(struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink,
    const struct glyphs *g, unsigned from)
{
    unsigned n = g->n - from;
    if (x >= c->width)
        return 0;
    if (room > c->width - x)
        room = c->width - x;
    if (n <= room) {
        draw(c, x, y, ink, g, from, n);
        return n;
    }
    if (room == 0)
        return 0;
    draw(c, x, y, ink, g, from, room - 1);
    /* Half of a wide character is none. */
    if (room > 1 && g->at[from + room - 1].character == 0)
        tp_canvas_set(c, x + room - 2, y, ink, ' ', ' ');
    tp_canvas_set(c, x + room - 1, y, ink, 0x2026, '~');
    return room;
}

unsigned tp_canvas_put(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink, const char *text)
{
    struct glyphs g = glyphs_of(c, text);
    unsigned n = draw_cut(c, x, y, room, ink, &g, 0);
    free(g.at);
    return n;
}

unsigned tp_canvas_printf(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return tp_canvas_put(c, x, y, room, ink, text);
}

unsigned tp_canvas_right(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink, const char *text)
{
    unsigned n = tp_canvas_columns(c, text);
    n = n < room ? n : room;
    n = n < x ? n : x;
    return tp_canvas_put(c, x - n, y, n, ink, text);
}

/* Where the line that begins at from ends, and where the next one begins. */
static unsigned break_line(const struct glyphs *g, unsigned from, unsigned room, unsigned *follows)
{
    unsigned end = from + room;
    if (end >= g->n) {
        *follows = g->n;
        return g->n;
    }
    while (end > from && g->at[end].character != ' ')
        end--;
    if (end == from) { /* a word that is longer than the line */
        end = from + room;
        if (g->at[end].character == 0 && room > 1)
            end--;
    }
    *follows = end;
    while (*follows < g->n && g->at[*follows].character == ' ')
        ++*follows;
    return end;
}

unsigned tp_canvas_wrap(struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned lines,
    unsigned ink, const char *text)
{
    struct glyphs g = glyphs_of(c, text);
    unsigned from = 0, n = 0;
    if (room > 0)
        for (; n < lines && from < g.n; n++) {
            unsigned follows, end = break_line(&g, from, room, &follows);
            if (n + 1 == lines)
                draw_cut(c, x, y + n, room, ink, &g, from);
            else
                draw(c, x, y + n, ink, &g, from, end - from);
            from = follows;
        }
    free(g.at);
    return n;
}

unsigned tp_canvas_columns(const struct tp_canvas *c, const char *text)
{
    struct glyphs g = glyphs_of(c, text);
    free(g.at);
    return g.n;
}

/* --- lines and bars --- */

void tp_canvas_rule(struct tp_canvas *c, unsigned x, unsigned y, unsigned n, unsigned ink)
{
    for (unsigned i = 0; i < n; i++)
        tp_canvas_set(c, x + i, y, ink, 0x2500, '-');
}

static unsigned eighths(double share, unsigned n)
{
    double most = 8.0 * n, of = share * most;
    if (!(of > 0))
        return 0;
    return of >= most ? 8 * n : of < 1 ? 1 : (unsigned)(of + 0.5);
}

void tp_canvas_bar(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned n, unsigned ink, double share)
{
    unsigned e = eighths(share, n);
    for (unsigned i = 0; i < n && e > 0; i++) {
        unsigned here = e < 8 ? e : 8;
        tp_canvas_set(c, x + i, y, ink, 0x2590 - here, i == 0 || here >= 4 ? '#' : ' ');
        e -= here;
    }
}

void tp_canvas_column(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned height, unsigned ink, double share)
{
    unsigned e = eighths(share, height);
    for (unsigned i = 0; i < height && i <= y && e > 0; i++) {
        unsigned here = e < 8 ? e : 8;
        tp_canvas_set(c, x, y - i, ink, 0x2580 + here, here >= 6 ? '#' : here >= 3 ? ':' : '.');
        e -= here;
    }
}

/* --- out --- */

static void add_utf8(struct tp_buf *b, uint32_t u)
{
    if (u < 0x80) {
        tp_buf_addc(b, (char)u);
    } else if (u < 0x800) {
        tp_buf_addc(b, (char)(0xc0 | u >> 6));
        tp_buf_addc(b, (char)(0x80 | (u & 0x3f)));
    } else if (u < 0x10000) {
        tp_buf_addc(b, (char)(0xe0 | u >> 12));
        tp_buf_addc(b, (char)(0x80 | (u >> 6 & 0x3f)));
        tp_buf_addc(b, (char)(0x80 | (u & 0x3f)));
    } else {
        tp_buf_addc(b, (char)(0xf0 | u >> 18));
        tp_buf_addc(b, (char)(0x80 | (u >> 12 & 0x3f)));
        tp_buf_addc(b, (char)(0x80 | (u >> 6 & 0x3f)));
        tp_buf_addc(b, (char)(0x80 | (u & 0x3f)));
    }
}

/* SGR numbers of the sixteen colours that every terminal has. */
static void add_ink(struct tp_buf *b, unsigned ink, bool colours)
{
    static const char *const colour[TP_INK_COLOURS] = {
        "", ";32", ";33", ";31", ";36", ";34", ";35"};
    tp_buf_adds(b, "\033[0");
    if (ink & TP_INK_BOLD)
        tp_buf_adds(b, ";1");
    if (ink & TP_INK_DIM)
        tp_buf_adds(b, ";2");
    if (ink & TP_INK_REVERSE)
        tp_buf_adds(b, ";7");
    if (colours)
        tp_buf_adds(b, colour[ink & TP_INK_COLOUR]);
    tp_buf_addc(b, 'm');
}

static char letter(const struct tp_cell *at)
{
    static const char letters[] = ".gwbcam";
    char l = letters[at->ink & TP_INK_COLOUR];
    if (at->ink & TP_INK_REVERSE)
        return '@';
    if (at->ink & TP_INK_BOLD)
        return l == '.' ? '*' : (char)(l - 'a' + 'A');
    if (at->ink & TP_INK_DIM)
        return '-';
    return at->character == ' ' ? ' ' : l;
}

static bool is_blank(const struct tp_cell *at)
{
    return at->character == ' ' && !(at->ink & TP_INK_REVERSE);
}

static void write_line(
    const struct tp_canvas *c, unsigned y, enum tp_canvas_form form, struct tp_buf *out)
{
    const struct tp_cell *line = cell(c, 0, y);
    unsigned n = c->width, ink = 0;
    bool escapes = form == TP_CANVAS_ANSI || form == TP_CANVAS_PLAIN;
    while (n > 0 && (escapes ? is_blank(&line[n - 1]) : line[n - 1].character == ' '))
        n--;
    for (unsigned x = 0; x < n; x++) {
        if (form == TP_CANVAS_INKS) {
            tp_buf_addc(out, letter(&line[x]));
            continue;
        }
        if (escapes && line[x].ink != ink)
            add_ink(out, ink = line[x].ink, form == TP_CANVAS_ANSI);
        if (line[x].character)
            add_utf8(out, line[x].character);
    }
    if (ink)
        tp_buf_adds(out, "\033[0m");
    tp_buf_addc(out, '\n');
}

static bool is_empty(const struct tp_canvas *c, unsigned y)
{
    for (unsigned x = 0; x < c->width; x++)
        if (!is_blank(cell(c, x, y)))
            return false;
    return true;
}

void tp_canvas_write(const struct tp_canvas *c, enum tp_canvas_form form, struct tp_buf *out)
{
    unsigned n = c->height;
    while (n > 0 && is_empty(c, n - 1))
        n--;
    for (unsigned y = 0; y < n; y++)
        write_line(c, y, form, out);
}
