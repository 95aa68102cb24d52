/* Which refresh suits those who draw: what guests say of their caps, against a screen's modes. */
#ifndef TP_FRAMES_SERVER_VOTE_H
#define TP_FRAMES_SERVER_VOTE_H

#include "frames/kms/kms.h"

struct tp_vote_wish {
    uint32_t cap_mhz;     /* pictures in a second; 0: no cap */
    uint32_t refresh_mhz; /* of the screen; 0: no wish */
};

/*
 * The refresh, in millihertz, of a mode as large as the preferred one; 0: nobody wishes anything.
 * A wish for a refresh goes first: the nearest to the highest of them. Else the one that most caps
 * divide, within half a hertz, as the gate locks to it (frame-path.md); of those the preferred
 * mode's own where it is as good, else the slowest. Where no cap divides any, the fastest: its
 * uneven steps are the shortest.
 */
uint32_t tp_vote(const struct tp_kms_output *o, const struct tp_vote_wish *wishes, size_t n);

#endif
