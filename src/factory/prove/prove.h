/* Proving a driver without a phone: it is started on simulated chips, and what it does is held
 * against what the patches promise. */
#ifndef TP_FACTORY_PROVE_H
#define TP_FACTORY_PROVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct tp_prove_request {
    const char *file;        /* a driver, or an archive with one; borrowed */
    const char *chip;        /* a name or an alias of the table; NULL or "all": every chip */
    const char *patches_dir; /* whose `proof` lines are held against it */
    const char *const *excused; /* patches left out on purpose, NULL-terminated; may be NULL */
    const char *bionic_root; /* Android's C library, for drivers that need it (bionic_root.h); or NULL */
    unsigned faults;         /* how many fault schedules (faults.h); 0: none */
    uint64_t first_seed;     /* of the schedules */
    /* Called when a chip is done; may be NULL. */
    void (*on_chip)(void *data, const char *name, const char *status);
    void (*on_schedule)(void *data, unsigned done, unsigned of); /* may be NULL */
    void *data;
};

/*
 * report: cli.md's `prove` object, a new reference for the caller; its "ok" says whether the driver
 * holds, "static" lists the checks of the file itself, "faults" is what tp_prove_faults says. What does not hold is no error. Errors: those
 * of reading the file; a chip that nobody knows (INPUT); a part or program that is not there (MISSING).
 */
int tp_prove(const struct tp_prove_request *req, json_t **report, struct tp_error *e);

#endif
