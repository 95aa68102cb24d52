/* What the model keeps: who takes it in (model.c), and who works figures out (figures.c). */
#ifndef TP_TOP_MODEL_INTERNAL_H
#define TP_TOP_MODEL_INTERNAL_H

#include "top/model.h"

#define KEPT 4096u /* frames of a guest, and refreshes, at most */
#define LEAD 10u   /* frames before the window: measures leave the first ones out */
#define COUNT_SAMPLES 32u

struct kept_frame {
    struct tp_frame_record record;
    struct tp_top_beat beat; /* where it was shown */
};

/* The newest frames, the oldest first. */
struct frames {
    struct kept_frame *at;
    unsigned cap, first, n;
};

struct refreshes {
    struct tp_refresh_record *at;
    unsigned cap, first, n;
};

struct count_sample {
    int64_t at_ns;
    uint64_t counts[TP_COUNTERS];
};

struct guest {
    bool used;
    struct tp_top_guest shown; /* what the snapshot lends out */
    struct frames frames;
    struct tp_metrics *running; /* of all of its frames: judges each by the one before */
    int64_t last_line_ns, last_interval_ns;
    uint64_t counts[TP_COUNTERS];
    bool has_counts;
    bool changed;          /* cap or gate, since the last update */
    int64_t since_ns;      /* when they last did: figures begin anew; TP_NEVER: never */
    int64_t seen_ns;       /* by the first update; TP_NEVER: not yet */
    uint32_t last_cap_mhz; /* of a frame */
    struct count_sample samples[COUNT_SAMPLES]; /* the newest last */
    unsigned n_samples;
    uint8_t looks[TP_TOP_LOOKS][TP_RING_SLOTS];
    unsigned next_look, n_looks;
};

struct tp_top_model {
    int64_t window_ns;
    struct guest *guests[TP_TOP_GUESTS];
    unsigned more_guests;
    struct refreshes refreshes;
    struct tp_top_screen screens[TP_TOP_SCREENS];
    unsigned n_screens;
    uint64_t tears, async_tears; /* so far */
    struct tp_setup setup;       /* a capture's */
    struct tp_metrics *metrics;  /* of the window, one guest after the other */
    struct tp_top_snapshot snapshot;
};

static inline struct kept_frame *frame_at(const struct frames *f, unsigned i)
{
    return &f->at[(f->first + i) % f->cap];
}

static inline struct tp_refresh_record *refresh_at(const struct refreshes *r, unsigned i)
{
    return &r->at[(r->first + i) % r->cap];
}

/* When a frame was, for a window of time. */
static inline int64_t frame_instant(const struct tp_frame_record *f)
{
    return f->line_ns != TP_NEVER     ? f->line_ns
        : f->presented_ns != TP_NEVER ? f->presented_ns
                                      : f->asked_ns;
}

/* Of one guest, in its own `shown`. */
void tp_top_figures(struct tp_top_model *m, struct guest *g, int64_t now_ns);

#endif
