/*
 * Sees whether a buffer changes while the screen reads it. Pure but for the memory that it reads:
 * it knows no clock and no thread; the caller hands in instants, and calls when they have come.
 *
 * Each scan-out is read three times, line by line into hashes: all of it as it begins, each band as
 * the beam has passed it, and all once more at the end. A line that differs from one reading to the
 * next has changed while the screen had it. What was read is good only if the screen still had the
 * picture afterwards (tp_watch_config.has): a thread that comes too late sees less, never something
 * that was not there. What could not be seen in time is counted as unwatched.
 *
 * The primary plane's and the overlays' buffers are read, linear ones; cursors are drawn in place
 * by those who own them.
 */
#ifndef TP_FRAMES_PANEL_SIM_WATCH_H
#define TP_FRAMES_PANEL_SIM_WATCH_H

#include "frames/panel/sim_memory.h"

#define TP_WATCH_BANDS 8u
#define TP_WATCH_SAMPLE 64u /* bytes */

enum tp_watch_how {
    TP_WATCH_OFF,
    /* Two samples of 64 bytes of each line, at places that change with line and scan-out. Lines
     * that change as a whole are seen for certain; n lines of which w of W pixels change, but for a
     * chance of about (1 − 2w/W)^n. */
    TP_WATCH_SAMPLED,
    TP_WATCH_FULL, /* every byte */
};

struct tp_tear {
    uint64_t serial, sequence; /* the picture's, the refresh's */
    int64_t time_ns;           /* of the reading that saw it */
    uint32_t line;             /* on the screen: the first that changed */
    uint32_t lines;            /* from the first to the last that changed */
    bool behind;               /* the beam had passed it: not to be seen in this scan-out */
};

struct tp_watch_counts {
    uint64_t scanouts;         /* that began, with something to read */
    uint64_t tears;            /* those in which a buffer changed */
    uint64_t bands, unwatched; /* all of theirs; those that were not seen before and after */
};

struct tp_watch_config {
    enum tp_watch_how how;
    /* Does the screen still have what was handed to the last begin? */
    bool (*has)(void *data);
    /* A tear: once a scan-out, when it is first seen. May be NULL. */
    void (*torn)(void *data, const struct tp_tear *t);
    void *data;
};

struct tp_watch_scan {
    const struct tp_kms_scanout *scanout; /* the caller's, until its end or the next begin */
    uint64_t sequence;
    uint32_t first_line,
        lines;                /* from the first, which is not 0 after an async flip; of the mode */
    int64_t start_ns, end_ns; /* of line 0 and of the last, whatever first_line is */
    int64_t limit_ns;         /* the soonest next refresh: what is read later tells nothing */
    uint32_t copied, lost;    /* bits: layers that are read from copies, which nobody draws into;
                                 those of them that came too late: all of it is unwatched */
};

struct tp_watch;

void tp_watch_create(const struct tp_watch_config *config, struct tp_watch **out);
void tp_watch_destroy(struct tp_watch *w); /* NULL is fine */

/* A scan-out has begun; the one before has ended. */
void tp_watch_begin(struct tp_watch *w, const struct tp_watch_scan *scan);
/* The picture is not the screen's any more. */
void tp_watch_end(struct tp_watch *w);
/* When there is something to read; INT64_MAX: not before the next begin. */
int64_t tp_watch_next(const struct tp_watch *w);
/* Reads one band of what is due at now_ns; there may be more. */
void tp_watch_step(struct tp_watch *w, int64_t now_ns);

void tp_watch_count(const struct tp_watch *w, struct tp_watch_counts *out);

#endif
