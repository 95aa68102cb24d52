/*
 * How long each frame of a guest was to stay by the cap, and did: what repeats, cadence and
 * on_vblank are judged by. Pure.
 */
#ifndef TP_FRAMES_CENSUS_SPACING_H
#define TP_FRAMES_CENSUS_SPACING_H

#include "frames/census/record.h"
#include "frames/pace/vblank.h"

#define TP_LEFT_OUT 10u /* frames at the start, which are in no share */

/* {0} at the start. */
struct tp_spacing {
    uint64_t frames, last_sequence;
    tp_fine least, most; /* of the cap's clock, as an outsider reads it; most 0: nothing is known */
};

struct tp_shown_verdict {
    bool judged;        /* else the rest is 0 */
    uint64_t wanted;    /* the latest refresh that the cap allows for it */
    int64_t stay;       /* refreshes for which the frame before it stayed */
    uint64_t repeats;   /* refreshes behind wanted */
    int64_t spacing_ns; /* from the frame before it to wanted */
};

/* A frame that was shown: line, sequence and the rates are looked at. */
void tp_spacing_shown(
    struct tp_spacing *s, const struct tp_frame_record *f, struct tp_shown_verdict *out);

#endif
