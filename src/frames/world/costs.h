/* What frames cost: from the command line, or from a recorded trace. */
#ifndef TP_FRAMES_WORLD_COSTS_H
#define TP_FRAMES_WORLD_COSTS_H

#include "frames/world/world.h"

#define TP_COSTS_MOST (1u << 24) /* frames of a trace */

/* Owned; {0} is none. */
struct tp_costs {
    struct tp_world_cost *at;
    size_t n, cap;
};

/* "US" or "CPU_US+GPU_US", several with commas: whole microseconds, 10 s at most. Of a cost without
 * a GPU's part the last 60 % are the GPU's. -EINVAL (INPUT). */
int tp_costs_parse(const char *text, struct tp_costs *out, struct tp_error *e);
/* A recording: lines with # are left out; else one whole number a line, the microseconds of a whole
 * frame. where: the file's name, for errors. -EINVAL (INPUT) with the line. */
int tp_costs_read(
    const char *text, size_t bytes, const char *where, struct tp_costs *out, struct tp_error *e);
void tp_costs_finish(struct tp_costs *c);

#endif
