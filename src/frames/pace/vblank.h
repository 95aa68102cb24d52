/*
 * When refreshes are: phase and period, from the server's timeline. Pure.
 *
 * Refreshes are counted by an index that goes on through changes of the rate; between two of them
 * lies a whole period, of which fractions of a nanosecond are kept. What gates use is not the
 * refresh but the latch before it: the *grid* is refresh − lead. A sample that is missing or
 * jittered changes little, one that is far off nothing until the next ones agree with it; a stopped
 * panel, or no sample at all, leaves a grid that goes on by period alone.
 */
#ifndef TP_FRAMES_PACE_VBLANK_H
#define TP_FRAMES_PACE_VBLANK_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/wire/scanout.h"

/* Nanoseconds with 32 bits behind the point. */
__extension__ typedef __int128 tp_fine;

static inline tp_fine tp_fine_of(int64_t ns)
{
    return (tp_fine)ns * ((tp_fine)1 << 32);
}
/* To the nearest nanosecond. */
static inline int64_t tp_fine_ns(tp_fine t)
{
    return (int64_t)((t + ((tp_fine)1 << 31)) >> 32);
}

/* Owned by the caller; {0} is one that knows nothing. Read it through the functions below. */
struct tp_vblank {
    bool known, stopped, variable;
    unsigned pipeline;
    int64_t lead_ns, nominal_ns; /* as the timeline says it */
    tp_fine ref, period;         /* the refresh of ref_index, and what lies between two */
    int64_t ref_index;
    uint64_t sequence; /* the timeline's, of the last sample */
    unsigned grids;    /* goes up where the grid is another one: its rate, its phase, or whether
                          there is one */
    unsigned samples;  /* since the last start from anew, as far as they are counted */
    unsigned strange;  /* samples in a row that were far off */
    tp_fine strange_off;
};

/* A frame of the timeline came, of any age; those of another output are the caller's to leave out.
 */
void tp_vblank_sample(struct tp_vblank *v, const struct tp_timeline_frame *t);
/* What to pace by until a sample comes, and where none ever does: this period, from this instant.
 */
void tp_vblank_assume(struct tp_vblank *v, int64_t time_ns, int64_t period_ns);

/* There is a grid that frames should start on: refreshes come, at a fixed rate. */
static inline bool tp_vblank_ticks(const struct tp_vblank *v)
{
    return v->known && !v->stopped && !v->variable;
}
/* 0: nothing is known. */
static inline int64_t tp_vblank_period_ns(const struct tp_vblank *v)
{
    return tp_fine_ns(v->period);
}

/* The instant of the grid with this index, and the index of the last one that is not after t_ns.
 * Known ones only. */
int64_t tp_vblank_latch_ns(const struct tp_vblank *v, int64_t index);
int64_t tp_vblank_index(const struct tp_vblank *v, int64_t t_ns);
/* Of the nearest one. */
int64_t tp_vblank_nearest(const struct tp_vblank *v, int64_t t_ns);
/* The first line of what is published at t_ns: of the refresh after the next latch, and of so many
 * more as the pipeline is long. With a variable rate, and where nothing is known: t_ns. */
int64_t tp_vblank_first_line_ns(const struct tp_vblank *v, int64_t t_ns);

#endif
