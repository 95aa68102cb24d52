/* A driver under fault schedules: each is to end in success or in an error of Vulkan's. */
#ifndef TP_FACTORY_PROVE_FAULTS_H
#define TP_FACTORY_PROVE_FAULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "factory/prove/runner.h"

enum tp_fault_outcome {
    TP_FAULT_SUCCESS,
    TP_FAULT_ERROR, /* a Vulkan call said that it failed, and all came to its end */
    TP_FAULT_CRASH,
    TP_FAULT_HANG,  /* not at its end in time */
    TP_FAULT_LEAK,  /* something is left in the simulator's books, or file descriptors are */
    TP_FAULT_WRONG, /* no error was told, and what was seen is not right */
    TP_FAULT_OUTCOMES,
};

/* What a run came to. detail: receives the error's name (VK_ERROR_…), the signal, what was left; the
 * caller frees it. */
enum tp_fault_outcome tp_fault_judge(const struct tp_run_result *run, char **detail);

/* Success and errors are what a driver may answer with. */
bool tp_fault_is_failure(enum tp_fault_outcome outcome);

struct tp_faults_request {
    unsigned schedules;
    uint64_t first_seed;      /* seeds count up from it (tp_kgsl_faults_random) */
    const char *const *chips; /* names that the simulator knows, taken in turn; borrowed */
    size_t n_chips;           /* at least one */
    void (*on_schedule)(void *data, unsigned done, unsigned of); /* may be NULL */
    void *data;
};

/*
 * Runs the schedules. driver, work: as for tp_runner_run. report: a new reference for the caller:
 * {"schedules", "struck" (in which a fault was met), "success", "errors", "crashes", "hangs", "leaks",
 * "wrong", "results": {name of an error: how often}, "failed": [{"seed", "schedule", "chip",
 * "outcome", "detail"}], "ok"}. What fails under a schedule is no error. Errors: those of
 * tp_runner_run; -EINTR when interrupted.
 */
int tp_prove_faults(const struct tp_runner *runner, const char *driver, const char *work,
                    const struct tp_faults_request *req, json_t **report, struct tp_error *e);

#endif
