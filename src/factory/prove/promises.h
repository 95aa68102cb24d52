/* What the patches, and the table of chips beside them, promise of one driver. */
#ifndef TP_FACTORY_PROVE_PROMISES_H
#define TP_FACTORY_PROVE_PROMISES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "factory/prove/expect.h"

struct tp_promise {
    char *patch; /* whose it is; TP_CHIPS_PROMISE: upstream's */
    char *chip;  /* of a run of its own that is about certain chips: this one; NULL otherwise */
    struct tp_expect expect;
};

/* In the folder of patches: a line each of "[because PATCH] PROOF". */
#define TP_CHIPS_FILE "chips.expect"
#define TP_CHIPS_PROMISE "chips"

struct tp_promises {
    struct tp_promise *at;
    int n, cap;
    bool has_chips; /* there is a TP_CHIPS_FILE */
};

/*
 * Reads the `proof` lines of patches_dir and its chips.expect that are about the driver with this
 * note (NULL: a driver that turnpike did not build, which promises nothing). A patch's own line is
 * promised where the patch was applied, an edit's where that edit was; what is `on` chips that the
 * driver does not know is no promise, and a run on several chips is a promise each. Errors: those of
 * the files; -EINVAL (INPUT) for a line that is wrong, or `on` chips of which neither the simulator nor
 * the driver knows one.
 */
int tp_promises_read(const char *patches_dir, const json_t *note, struct tp_promises *out,
                     struct tp_error *e);
/* Takes out what the patches of these ids promise, which the user left out. ids: NULL-terminated; or
 * NULL. */
void tp_promises_excuse(struct tp_promises *p, const char *const *ids);
void tp_promises_finish(struct tp_promises *p);
void tp_promise_finish(struct tp_promise *promise);

/* Holds one promise against what was seen, and adds {"id", "ok", "detail"} to checks. One with a run
 * of its own, without faults, holds only where the client's checks did as well. */
bool tp_promise_keep(const struct tp_promise *promise, const struct tp_seen *seen, json_t *checks);

/* Holds those about the file, or those about every chip's run that are about seen's chip; the ones
 * that ask for a run of their own are left out. */
bool tp_promises_keep(const struct tp_promises *p, const struct tp_seen *seen, bool of_runs,
                      json_t *checks);

/* Promise i asks for a run of its own, and is the first to ask for that one. */
bool tp_promises_is_run(const struct tp_promises *p, int i);
/* Holds all that ask for the same run as promise i. */
bool tp_promises_keep_run(const struct tp_promises *p, int i, const struct tp_seen *seen,
                          json_t *checks);

/* Reads every `proof` line of patches_dir and its chips.expect, whatever driver they are about.
 * -EINVAL (INPUT) with file and line for one that is wrong, or names a check, call, field or register
 * that there is not. */
int tp_promises_check(const char *patches_dir, struct tp_error *e);

#endif
