/* What the patches promise of one driver. */
#ifndef TP_FACTORY_PROVE_PROMISES_H
#define TP_FACTORY_PROVE_PROMISES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "factory/prove/expect.h"

struct tp_promise {
    char *patch; /* whose it is */
    struct tp_expect expect;
};

struct tp_promises {
    struct tp_promise *at;
    int n, cap;
};

/*
 * Reads the `proof` lines of patches_dir that are about the driver with this note (NULL: a driver that
 * turnpike did not build, which promises nothing). Errors: those of the files; -EINVAL (INPUT) for a
 * line that is wrong.
 */
int tp_promises_read(const char *patches_dir, const json_t *note, struct tp_promises *out,
                     struct tp_error *e);
void tp_promises_finish(struct tp_promises *p);

/* Holds one promise against what was seen, and adds {"id", "ok", "detail"} to checks. */
bool tp_promise_keep(const struct tp_promise *promise, const struct tp_seen *seen, json_t *checks);

/* Holds those about the file, or those about every chip's run; the ones that ask for a run of their
 * own are left out. */
bool tp_promises_keep(const struct tp_promises *p, const struct tp_seen *seen, bool of_runs,
                      json_t *checks);

#endif
