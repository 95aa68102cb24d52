/* Parts of the picture: draw.c lays them out, panes.c and words.c draw them. */
#ifndef TP_TOP_DRAW_INTERNAL_H
#define TP_TOP_DRAW_INTERNAL_H

#include "top/draw.h"

struct area {
    struct tp_canvas *c;
    unsigned x, y, w, h;
};

/* One of the panes of a guest. */
struct pane {
    /* Lines that it likes to have in this width: at most; at least 0, where it has nothing to say.
     */
    unsigned (*wants)(const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w);
    void (*draw)(struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s);
    unsigned least;    /* lines; with fewer it is left out */
    unsigned priority; /* 0 is served first */
    enum tp_pane_growth {
        TP_GROWS,
        TP_GROWS_WHOLE, /* to all that it wants, or not */
        TP_GROWS_FIRST,
    } growth;
};

#define TP_PANE_SPARE 10u /* from this priority on: where all others have what they like */

extern const struct pane tp_pane_strip, tp_pane_stays, tp_pane_intervals, tp_pane_waits,
    tp_pane_late, tp_pane_latency, tp_pane_slots, tp_pane_shares, tp_pane_notes, tp_pane_columns,
    tp_pane_findings;

/* What is drawn in words, in lines of fields. */
struct field {
    const char *label;
    char value[40];
    unsigned ink; /* of the value */
};
/* As many as there is room for, line by line; without c nothing is drawn. Answers the lines. */
unsigned tp_fields(struct area a, const char *heading, const struct field *f, unsigned n);
void tp_field_set(struct field *f, const char *label, unsigned ink, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Draws a pane's heading and takes its room away; in narrow areas there is none. */
struct area tp_heading(struct area a, const char *heading);

/* How a guest's frames are to be spaced; 0: not known. */
int64_t tp_spacing_ns(const struct tp_top_guest *g, const struct tp_top_snapshot *s);
int64_t tp_period_ns(const struct tp_top_guest *g, const struct tp_top_snapshot *s);

#endif
