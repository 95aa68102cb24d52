/*
 * The best schedule there is for given costs, refresh and cap, if one knows what each frame will
 * cost: as few late frames as can be, with all images filled beforehand where that spares one, then
 * each as late to start as that allows. What a gate lacks of it is what it does not know. A run's
 * own count of late frames takes any phase of a cap's clock for right that explains what was shown.
 */
#ifndef TP_FRAMES_WORLD_ORACLE_H
#define TP_FRAMES_WORLD_ORACLE_H

#include "frames/world/world.h"

struct tp_oracle {
    uint64_t frames;
    uint64_t late;            /* frames that stayed away longer than the cap wanted */
    double fps;               /* as for a run */
    double stutter_ns;        /* how much two intervals in a row differ, in the mean */
    struct tp_spread latency; /* start to first line; the mean and the quantiles */
};

/* For a fixed rate. What is left out at the start is as for a run. -EINVAL (INPUT): a variable
 * rate, and as tp_world_check. */
int tp_oracle_run(const struct tp_world_config *c, struct tp_oracle *out, struct tp_error *e);

#endif
