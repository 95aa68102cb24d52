#include "factory/prove/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/proc.h"
#include "factory/kgsl/faults.h"
#include "factory/prove/books.h"

/* What one schedule may take; an emulated processor is given longer. The client's own waits and the
 * time after which a submit is a hang are well below it. */
enum { SCHEDULE_MS = 10000, EMULATED_MS = 60000 };
#define WAIT_MS "2000"
#define HANG_MS "200"

/* ---- what a run came to ---- */

/* "VK_ERROR_OUT_OF_DEVICE_MEMORY" out of a check's detail, or NULL. */
static char *result_in(const char *detail)
{
    const char *at = detail ? strstr(detail, "VK_") : NULL;
    return at ? tp_strndup(at, strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) : NULL;
}

/* Was the driver told that the time is up for what had come? Then a fence is not ready for it. */
static bool was_timed_out(const json_t *calls)
{
    size_t i;
    json_t *line;
    json_array_foreach(calls, i, line)
    {
        const char *error = json_string_value(json_object_get(line, "error"));
        if (json_object_get(line, "fault") && error && !strcmp(error, "ETIMEDOUT"))
            return true;
    }
    return false;
}

/* Does CHECK fail with a result that says so? A success where an error is right says nothing, and no
 * more does a state that is not so (VK_NOT_READY, VK_EVENT_RESET). */
static bool tells_error(const json_t *check, bool timed_out)
{
    static const char error[] = "VK_ERROR_";
    char *result = result_in(json_string_value(json_object_get(check, "detail")));
    bool tells = result && (!strncmp(result, error, sizeof error - 1) ||
                            !strcmp(result, "VK_TIMEOUT") ||
                            (timed_out && !strcmp(result, "VK_NOT_READY")));
    free(result);
    return tells;
}

/* The first check of the run that fails; where silently is asked for, the first that tells no error. */
static const json_t *failed_check(const struct tp_run_result *run, bool silently)
{
    bool timed_out = silently && was_timed_out(run->calls);
    size_t i;
    json_t *check;
    json_array_foreach(run->checks, i, check)
    {
        if (!json_is_true(json_object_get(check, "ok")) &&
            !(silently && tells_error(check, timed_out)))
            return check;
    }
    return NULL;
}

static char *told(const json_t *check)
{
    const char *id = json_string_value(json_object_get(check, "id"));
    const char *detail = json_string_value(json_object_get(check, "detail"));
    return tp_asprintf("%s: %s", id ? id : "a check", detail ? detail : "");
}

static bool leaves_fds(const json_t *check)
{
    const char *id = json_string_value(json_object_get(check, "id"));
    const char *detail = json_string_value(json_object_get(check, "detail"));
    return id && detail && !strcmp(id, "teardown") && strstr(detail, "file descriptors");
}

enum tp_fault_outcome tp_fault_judge(const struct tp_run_result *run, char **detail)
{
    *detail = NULL;
    if (!run->done || run->status < 0 || run->status >= 128) {
        *detail = tp_run_result_how(run);
        return run->status == -ETIMEDOUT ? TP_FAULT_HANG : TP_FAULT_CRASH;
    }
    bool closed;
    if ((*detail = tp_books_left(run->calls, &closed)))
        return TP_FAULT_LEAK;
    if (!closed && tp_books_were_opened(run->facts)) {
        *detail = tp_strdup(TP_BOOKS_NOT_WHOLE);
        return TP_FAULT_WRONG;
    }
    const json_t *check = failed_check(run, true);
    if (check) {
        *detail = told(check);
        return leaves_fds(check) ? TP_FAULT_LEAK : TP_FAULT_WRONG;
    }
    check = failed_check(run, false);
    if (!check)
        return TP_FAULT_SUCCESS;
    *detail = result_in(json_string_value(json_object_get(check, "detail")));
    return TP_FAULT_ERROR;
}

bool tp_fault_is_failure(enum tp_fault_outcome outcome)
{
    return outcome != TP_FAULT_SUCCESS && outcome != TP_FAULT_ERROR;
}

/* ---- the schedules ---- */

struct tally {
    unsigned of[TP_FAULT_OUTCOMES], struck;
    json_t *results, *failed;
};

static bool was_struck(const json_t *calls)
{
    size_t i;
    json_t *line;
    json_array_foreach(calls, i, line)
    {
        if (json_object_get(line, "fault"))
            return true;
    }
    return false;
}

static void count(struct tally *t, const struct tp_run_result *run, uint64_t seed,
                  const char *schedule, const char *chip)
{
    static const char *const names[] = {"success", "vulkan-error", "crash", "hang", "leak", "wrong"};
    char *detail;
    enum tp_fault_outcome outcome = tp_fault_judge(run, &detail);
    t->of[outcome]++;
    t->struck += was_struck(run->calls);
    if (outcome == TP_FAULT_ERROR) {
        json_int_t n = json_integer_value(json_object_get(t->results, detail));
        json_object_set_new(t->results, detail, json_integer(n + 1));
    } else if (tp_fault_is_failure(outcome)) {
        json_array_append_new(t->failed,
                              json_pack("{s:I, s:s, s:s, s:s, s:s}", "seed", (json_int_t)seed,
                                        "schedule", schedule, "chip", chip, "outcome",
                                        names[outcome], "detail", detail));
    }
    free(detail);
}

static int run_one(const struct tp_runner *runner, const char *driver, const char *work,
                   uint64_t seed, const char *chip, struct tally *t, struct tp_error *e)
{
    char schedule[128];
    tp_kgsl_faults_random(seed, schedule, sizeof schedule);
    char *faults = tp_asprintf("TURNPIKE_KGSL_FAULTS=%s", schedule);
    const char *env[] = {faults, "TURNPIKE_KGSL_HANG_MS=" HANG_MS, NULL};
    const char *arguments[] = {"--timeout-ms", WAIT_MS, NULL};
    struct tp_run_result run;
    int r = tp_runner_run(runner, driver, chip, arguments, env, work, &run, e);
    if (!r)
        count(t, &run, seed, schedule, chip);
    tp_run_result_finish(&run);
    free(faults);
    return r;
}

int tp_prove_faults(const struct tp_runner *runner, const char *driver, const char *work,
                    const struct tp_faults_request *req, json_t **report, struct tp_error *e)
{
    struct tally t = {.results = json_object(), .failed = json_array()};
    struct tp_runner limited = *runner; /* borrows its strings */
    limited.run_ms = runner->how == TP_RUNS_NATIVE ? SCHEDULE_MS : EMULATED_MS;
    int r = 0;
    *report = NULL;
    for (unsigned i = 0; i < req->schedules && !r; i++) {
        if (tp_interrupted())
            r = tp_fail(e, TP_STATUS_FAILED, -EINTR, driver, NULL, "interrupted");
        if (!r)
            r = run_one(&limited, driver, work, req->first_seed + i, req->chips[i % req->n_chips],
                        &t, e);
        if (!r && req->on_schedule)
            req->on_schedule(req->data, i + 1, req->schedules);
    }
    if (!r)
        *report = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:O, s:O, s:b}", "schedules",
                            (int)req->schedules, "struck", (int)t.struck, "success",
                            (int)t.of[TP_FAULT_SUCCESS], "errors", (int)t.of[TP_FAULT_ERROR],
                            "crashes", (int)t.of[TP_FAULT_CRASH], "hangs", (int)t.of[TP_FAULT_HANG],
                            "leaks", (int)t.of[TP_FAULT_LEAK], "wrong", (int)t.of[TP_FAULT_WRONG],
                            "results", t.results, "failed", t.failed, "ok",
                            json_array_size(t.failed) == 0);
    json_decref(t.results);
    json_decref(t.failed);
    return r;
}
