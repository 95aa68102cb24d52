/* Several runs of a driver at once, as many as there are processors. */
#ifndef TP_FACTORY_PROVE_BATCH_H
#define TP_FACTORY_PROVE_BATCH_H

#include <stddef.h>

#include "base/error.h"
#include "factory/prove/runner.h"

/* One run to be made; everything is borrowed until tp_batch_end. As for tp_runner_run. */
struct tp_batch_job {
    const char *chip;
    const char *const *arguments, *const *env;
};

struct tp_batch;

/* Begins to run the jobs, in their order. runner, driver, work, jobs are borrowed until tp_batch_end. */
struct tp_batch *tp_batch_begin(const struct tp_runner *runner, const char *driver,
                                const char *work, const struct tp_batch_job *jobs, size_t n);

/* Waits for job i, whose result the caller gets (and finishes); once a job. Errors: tp_runner_run's. */
int tp_batch_take(struct tp_batch *b, size_t i, struct tp_run_result *out, struct tp_error *e);

/* Starts no more jobs, waits for those that run, and frees what was not taken. */
void tp_batch_end(struct tp_batch *b);

#endif
