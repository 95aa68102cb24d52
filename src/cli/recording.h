/* A simulated run's capture. */
#ifndef TP_CLI_RECORDING_H
#define TP_CLI_RECORDING_H

#include "frames/world/world.h"
#include "report/capture.h"

struct tp_recording;

/* Begins the file. The configuration is borrowed until the end; its watch is the recording's, with
 * the one that it had behind it. Errors: as tp_recorder_create. */
int tp_recording_begin(
    const char *path, struct tp_world_config *c, struct tp_recording **out, struct tp_error *e);
/* Adds what was counted, ends the file, and gives the watch back. r: NULL: the run failed. The
 * recording NULL: nothing happens. Errors: as tp_recorder_finish. */
int tp_recording_end(struct tp_recording *rec, const struct tp_world_result *r, struct tp_error *e);

#endif
