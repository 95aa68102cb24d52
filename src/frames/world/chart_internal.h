/* What a chart's files share. */
#ifndef TP_FRAMES_WORLD_CHART_INTERNAL_H
#define TP_FRAMES_WORLD_CHART_INTERNAL_H

#include "frames/world/chart.h"

#define CHART_KEEP 128u    /* frames before the first one that is wanted */
#define CHART_MORE 64u     /* and behind it */
#define CHART_REFRESHES 8u /* in the picture */
#define CHART_FRAMES (2 * CHART_KEEP + CHART_MORE)

struct tp_chart {
    struct tp_world_watch watch;
    uint64_t from;
    bool full;
    struct tp_frame_record frames[CHART_FRAMES];
    unsigned n_frames;
    struct tp_refresh_record *scans;
    size_t n_scans, cap_scans;
};

/* The part of a run that is in the picture. */
struct window {
    int64_t from, to;
    size_t first_scan; /* the first whose first line is in it */
};
void chart_window(const struct tp_chart *c, struct window *out);
const struct tp_frame_record *chart_frame(const struct tp_chart *c, uint64_t number);

/* --- chart_svg.c: marks on the paper. Places are in hundredths of a pixel --- */

void svg_begin(struct tp_buf *b, int width_px, int height_px, const char *title, const char *desc);
void svg_end(struct tp_buf *b);
/* The class says how it looks; tip: shown when pointed at, or NULL. */
void svg_rect(struct tp_buf *b, const char *class, int64_t x, int64_t y, int64_t w, int64_t h,
    const char *tip);
void svg_line(struct tp_buf *b, const char *class, int64_t x1, int64_t y1, int64_t x2, int64_t y2);
void svg_text(struct tp_buf *b, const char *class, int64_t x, int64_t y, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Marks of what went wrong; each has a shape of its own. A triangle whose tip is at x, y; a ring
 * around x, y; a zigzag from y to y + h; a cross around x, y. */
void svg_late(struct tp_buf *b, int64_t x, int64_t y);
void svg_repeat(struct tp_buf *b, int64_t x, int64_t y);
void svg_torn(struct tp_buf *b, int64_t x, int64_t y, int64_t h);
void svg_dropped(struct tp_buf *b, int64_t x, int64_t y);

#endif
