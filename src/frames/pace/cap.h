/*
 * A cap's clock: exact at any rate. It says *which* refresh a frame is for; when that is, the grid
 * says. Pure.
 */
#ifndef TP_FRAMES_PACE_CAP_H
#define TP_FRAMES_PACE_CAP_H

#include "frames/pace/vblank.h"

#define TP_CAP_LOCK_MHZ 500 /* so near to a divisor of the refresh, the cap is that divisor */

/* From frame to frame. mhz: above 0. Right to 2^-32 ns. */
tp_fine tp_cap_period(uint32_t mhz);

/* How many refreshes of this period a frame stays: a cap within half a frame a second of refresh/n
 * is n, so that the two never beat. 0: it is none of those, the clock counts. A cap at or above the
 * refresh: 1. */
unsigned tp_cap_lock(uint32_t mhz, int64_t period_ns);

/* The refresh, counted from that of from, which is an instant of its grid, for a frame whose
 * instant is at: the nearest one; but one that is late by half a refresh, and a little, still is
 * for the earlier one, so that a clock which falls in the midst between two does not waver. At
 * least 1. */
int64_t tp_cap_steps(tp_fine from, tp_fine at, tp_fine period);

#endif
