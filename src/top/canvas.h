/*
 * A picture of text: cells with a character and an ink each, which drawing fills and a terminal, a
 * file or a test shows. Texts come as UTF-8 from anywhere: what is not fit for a terminal is shown
 * as an escape or a '?', and nothing is drawn outside.
 */
#ifndef TP_TOP_CANVAS_H
#define TP_TOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* A colour, and bits beside it, so that without colours something is left. */
enum tp_ink {
    TP_INK_PLAIN,
    TP_INK_GOOD,
    TP_INK_WARN,
    TP_INK_BAD,
    TP_INK_COOL,
    TP_INK_GAME,
    TP_INK_WAIT,
    TP_INK_COLOURS,
    TP_INK_COLOUR = 0x0f, /* mask */
    TP_INK_BOLD = 0x10,
    TP_INK_DIM = 0x20,
    TP_INK_REVERSE = 0x40,
};

struct tp_cell {
    uint32_t character; /* 0: the right half of a wide one */
    uint8_t ink;
};

struct tp_canvas {
    unsigned width, height;
    bool utf8; /* else ASCII alone */
    struct tp_cell *cells;
};

#define TP_CANVAS_MOST 1000u /* columns, and lines */

/* Empty; sizes are brought into 1 to TP_CANVAS_MOST. The caller finishes it. */
void tp_canvas_init(struct tp_canvas *c, unsigned width, unsigned height, bool utf8);
void tp_canvas_finish(struct tp_canvas *c);

/* One character of one column; outside: nothing happens. In ASCII: what is written instead. */
void tp_canvas_set(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned ink, uint32_t character, char ascii);
/* At most `room` columns of a text; a longer one ends in "…" (ASCII: "~"). Answers the columns. */
unsigned tp_canvas_put(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink, const char *text);
unsigned tp_canvas_printf(struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink,
    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* The same to the left of column x: its last one is x - 1. */
unsigned tp_canvas_right(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned ink, const char *text);
/* In lines of `room` columns, broken at spaces; the last of at most `lines` is cut. Answers how
 * many it took. */
unsigned tp_canvas_wrap(struct tp_canvas *c, unsigned x, unsigned y, unsigned room, unsigned lines,
    unsigned ink, const char *text);
/* The columns that a text takes. */
unsigned tp_canvas_columns(const struct tp_canvas *c, const char *text);

/* A line across [x, x + n). */
void tp_canvas_rule(struct tp_canvas *c, unsigned x, unsigned y, unsigned n, unsigned ink);
/* A bar from x, of this share (0 to 1) of n columns, in eighths where there are such characters.
 * What is above 0 is seen. */
void tp_canvas_bar(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned n, unsigned ink, double share);
/* A column of this share of `height` cells that stands on line y. */
void tp_canvas_column(
    struct tp_canvas *c, unsigned x, unsigned y, unsigned height, unsigned ink, double share);

enum tp_canvas_form {
    TP_CANVAS_TEXT,  /* the characters alone */
    TP_CANVAS_ANSI,  /* with escape sequences for the inks */
    TP_CANVAS_PLAIN, /* with escape sequences, but without colours */
    TP_CANVAS_INKS,  /* an ink's letter instead of each character, for tests: .gwbcam, capitals bold
                      */
};
/* Lines of text into out; spaces at their ends and empty lines at the end are left out. */
void tp_canvas_write(const struct tp_canvas *c, enum tp_canvas_form form, struct tp_buf *out);

#endif
