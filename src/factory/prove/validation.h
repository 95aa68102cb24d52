/* What Khronos's validation layer said in the runs of the client. */
#ifndef TP_FACTORY_PROVE_VALIDATION_H
#define TP_FACTORY_PROVE_VALIDATION_H

#include <jansson.h>
#include <stdbool.h>

#include "factory/prove/runner.h"

struct tp_validation {
    unsigned runs, watched, messages;
    char *layer; /* of the first run that was watched; owned */
    char *why;   /* of the first that was not; owned */
};

/* Counts a run, if it came to a device. */
void tp_validation_add(struct tp_validation *v, const struct tp_run_result *run);
/* One check for the report, a new reference. It holds without the layer too: its detail then says that
 * nothing was looked at. NULL when there was no run. */
json_t *tp_validation_check(const struct tp_validation *v);
void tp_validation_finish(struct tp_validation *v);

#endif
