/*
 * The measures of a run, from its records: one arithmetic for simulate, play and report. What each
 * one means is said in docs/capture.md. Pure; what it needs of memory is fixed.
 *
 * Records of a guest come in the order of its frames. The first 10 frames are in no share, no
 * percentile and no mean.
 */
#ifndef TP_FRAMES_CENSUS_METRICS_H
#define TP_FRAMES_CENSUS_METRICS_H

#include "frames/census/record.h"
#include "frames/census/spacing.h"

#define TP_CADENCE 16u
#define TP_SUMMARY_FAULTS 32u
#define TP_SUMMARY_NAME 48u
#define TP_COUNT_FAULT "fault." /* before a fault's name, where captures count it */

struct tp_metrics;

struct tp_spread {
    int64_t p50_ns, p99_ns, max_ns;
    double mean_ns, stddev_ns;
};

struct tp_measures {
    uint64_t frames; /* distinct images shown */
    int64_t span_ns; /* from the first one's first line to the last one's */
    uint64_t tears, async_tears, repeats, drops, gate_late;
    uint64_t late; /* frames that came later than the cap wanted them */
    double on_vblank, spacing_tail;
    uint64_t cadence[TP_CADENCE + 1];   /* the last: that many refreshes or more */
    struct tp_spread interval, stutter, /* stutter: how much two intervals in a row differ */
        latency, acquire_wait, gate_to_start;
    double slot_wait_ns, release_wait_ns, gate_wait_ns; /* means */
};

/* Nanoseconds as figures are said, in milliseconds. */
static inline double tp_ms(double ns)
{
    return ns / 1e6;
}

/* Frames a second; 0 where there is no interval. */
static inline double tp_measures_fps(const struct tp_measures *m)
{
    return m->frames > 1 && m->span_ns > 0 ? (double)(m->frames - 1) / ((double)m->span_ns / 1e9)
                                           : 0;
}

/* The caller destroys it. */
struct tp_metrics *tp_metrics_create(void);
/* NULL is fine. */
void tp_metrics_destroy(struct tp_metrics *m);
/* As it was when it was made; costs by what was put into it. */
void tp_metrics_reset(struct tp_metrics *m);

/* A frame that was presented: number, asked, acquired, gate and the waits are looked at. */
void tp_metrics_acquired(struct tp_metrics *m, const struct tp_frame_record *f);

/* A frame that was shown: begin, line, sequence, permitted and the rates are looked at. out may be
 * NULL. */
void tp_metrics_shown(
    struct tp_metrics *m, const struct tp_frame_record *f, struct tp_shown_verdict *out);

/* All of a frame's record at once, and of a refresh's. */
void tp_metrics_frame(struct tp_metrics *m, const struct tp_frame_record *f);
void tp_metrics_refresh(struct tp_metrics *m, const struct tp_refresh_record *r);

void tp_metrics_get(const struct tp_metrics *m, struct tp_measures *out);

/* Everything that simulate, play and report say in numbers. */
struct tp_summary {
    struct tp_measures measures;
    bool has_tears; /* somebody looked */
    bool has_guest; /* what only the game's side knows is known */
    bool has_counts;
    uint64_t counts[TP_COUNTERS];
    struct tp_summary_fault {
        char name[TP_SUMMARY_NAME];
        uint64_t injected;
    } faults[TP_SUMMARY_FAULTS];
    unsigned n_faults;
};

#endif
