/* A run of the simulated world, as a capture has it, fed to top's model. */
#ifndef TP_TESTS_TOP_REPLAY_H
#define TP_TESTS_TOP_REPLAY_H

#include "frames/world/world.h"
#include "report/summary.h"
#include "top/model.h"

/* 60 Hz, four images, frames that fit: healthy. */
struct tp_world_config replay_config(uint64_t frames);
/* Runs it into a capture, and the capture into the model. summary: of the same capture, as report
 * reads it; may be NULL. Answers the instant at which the run ended. */
int64_t replay(struct tp_world_config *c, struct tp_top_model *m, struct tp_summary *summary);

#endif
