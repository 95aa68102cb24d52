/* What the files of the gate share. */
#ifndef TP_FRAMES_PACE_GATE_INTERNAL_H
#define TP_FRAMES_PACE_GATE_INTERNAL_H

#include "frames/pace/cost.h"
#include "frames/pace/pace.h"

#define TP_GATE_FLIGHT 8u  /* frames that are not known to be ready */
#define TP_GATE_MEMORY 64u /* frames that can still be asked for */
#define TP_GATE_NEVER INT64_MIN

/* What a frame stands for in the schedule. */
struct tp_gate_flight {
    uint64_t id;
    int64_t latch_ns; /* that it was started for: the schedule's, however early it is ready */
    int64_t due_ns;   /* when it was to start */
    int64_t begin_ns, asked_ns; /* its guest's begin and acquire */
    int64_t start_ns, release_ns, entry_ns, ready_ns;
}; /* TP_GATE_NEVER: not known */

struct tp_gate {
    struct tp_gate_settings settings;
    struct tp_vblank vblank;

    /* From the effective start to ready, without what it waited for; of that the part of the CPU,
     * and the rest. */
    struct tp_cost cost, cpu, gpu;
    /* From when the frame was to start, with all that it waited for: other frames, too. */
    struct tp_cost need;
    struct tp_peaks peaks; /* of that */
    struct tp_cost cycle;  /* from a start to when the guest asks for the next frame's */
    struct tp_cost span; /* of a late guest: from its begin, without what it was held in acquire */
    int64_t held_ns;     /* its last present */
    /* What lies between ready and the latch that could take it; what it had when that was last too
     * little, 0: that is not known. */
    int64_t compositor_ns, too_little_ns;
    unsigned refreshes; /* that a frame needs from its start to its latch */
    int64_t extra_ns;   /* latency's: starts earlier, since there were misses */

    /* The schedule: frames that may not be ready yet, the oldest first, and the last one before
     * them: its latch and when it was ready. */
    struct tp_gate_flight flights[TP_GATE_FLIGHT];
    unsigned n_flights;
    int64_t last_latch_ns, last_ready_ns; /* TP_GATE_NEVER: none yet */
    int64_t last_start_ns;
    tp_fine clock; /* the last frame's instant by the cap's clock */
    bool has_clock;

    /* How many refreshes later than scheduled frames are shown. What a skipped refresh does not
     * make less is not a queue, but the way to the panel. Below 0: that is shorter than the
     * pipeline that was assumed. */
    int64_t way, probed;
    bool learns;     /* the pipeline is assumed */
    unsigned probes; /* what was tried against that lateness */
    int behind;      /* so many frames in a row were later than that; below 0: not judged yet */
    int64_t least;   /* the least late of these */

    uint64_t ids, last_told; /* the last that was told to be ready */
    int64_t last_return_ns;
    struct tp_gate_frame frames[TP_GATE_MEMORY];
    int64_t scheduled_ns[TP_GATE_MEMORY]; /* their latches, as settled; TP_GATE_NEVER */
    unsigned late_acquires;               /* 0 to 16: how late the guest acquires, of late */
    struct tp_gate_counts counts;
};

/* The first latch that is not before t. A grid that is known. */
static inline int64_t tp_gate_latch_from(const struct tp_gate *g, int64_t t_ns)
{
    int64_t i = tp_vblank_index(&g->vblank, t_ns);
    return tp_vblank_latch_ns(&g->vblank, i) < t_ns ? i + 1 : i;
}
/* There is a grid, though its panel may be off. */
static inline bool tp_gate_has_grid(const struct tp_gate *g)
{
    return g->vblank.known && !g->vblank.variable;
}
/* The latch of a frame that is ready then, if that of the one before it is before (INT64_MIN: there
 * is none): each frame has one of its own. */
int64_t tp_gate_latch_of(
    const struct tp_gate *g, const struct tp_gate_flight *f, int64_t ready_ns, int64_t before);
static inline int64_t tp_gate_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Where the frames that were booked lead to, as seen at now: the latch of the last, by its index,
 * and when it is ready. False: there was none. */
bool tp_gate_outlook(const struct tp_gate *g, int64_t now_ns, int64_t *latch, int64_t *ready_ns);

#endif
