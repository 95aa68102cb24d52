/* What a screen has shown: counted refresh by refresh, in memory of a fixed size. */
#ifndef TP_FRAMES_SERVER_SHOWN_H
#define TP_FRAMES_SERVER_SHOWN_H

#include "frames/server/server.h"

#define TP_SHOWN_BINS 10000u  /* of 10 µs */
#define TP_SHOWN_AHEAD 8u     /* pictures between their publish and their first line */
#define TP_SHOWN_SETTLING 10u /* pictures at first that are in no share */

/* {0} to begin with. No lock: the caller's. */
struct tp_shown_record {
    struct tp_server_shown sums; /* but for the percentiles and the deviation */
    uint64_t intervals, late;
    double squares;                     /* of the differences from the mean: Welford's */
    uint32_t bins[TP_SHOWN_BINS];       /* of intervals; the last: all longer ones */
    uint64_t published[TP_SHOWN_AHEAD]; /* serials, the oldest first */
    unsigned n_published;
};

/* The picture of this serial went to the screen. */
void tp_shown_published(struct tp_shown_record *r, uint64_t serial);
/* It did not, after all. */
void tp_shown_withdraw(struct tp_shown_record *r, uint64_t serial);
/* Its first line is shown; those that were published before it and were not shown never will be.
 * period_ns: between refreshes, the shortest. */
void tp_shown_first_line(
    struct tp_shown_record *r, uint64_t serial, int64_t time_ns, int64_t period_ns);
void tp_shown_get(const struct tp_shown_record *r, struct tp_server_shown *out);

#endif
