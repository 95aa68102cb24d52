/* Starting a driver on one simulated chip, and what came of it. */
#ifndef TP_FACTORY_PROVE_RUNNER_H
#define TP_FACTORY_PROVE_RUNNER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "factory/package/elf_file.h"

/* How a driver is run on this machine. Owns its strings. */
enum tp_runs_how {
    TP_RUNS_NATIVE, /* glibc, this machine's */
    TP_RUNS_QEMU,   /* glibc of arm64, under qemu-user */
    TP_RUNS_BIONIC, /* Android's C library, the user's, under qemu-user */
    TP_RUNS_NOT,    /* bionic, without a runtime; another machine */
};
struct tp_runner {
    enum tp_runs_how how;
    char *client, *simulator, *root; /* root: the arm64 libraries that the driver needs; bionic's */
    char *stub;                      /* for the platform's libraries of Android; NULL: not needed */
    char *layers; /* the client's option for the validation layer; NULL: there is none to be had */
    char *why;                       /* TP_RUNS_NOT: a sentence */
    int run_ms;                      /* what one run may take; 0: 30 seconds, and 90 under qemu */
};

/* Decides from what the file needs. bionic_root: see bionic_root.h; NULL: a driver for bionic is not
 * run. Errors: -ENOENT (MISSING) when the client, the simulator or qemu is not there; those of
 * tp_bionic_root_check, whatever the driver is. */
int tp_runner_init(struct tp_runner *r, const struct tp_elf *elf, const char *bionic_root,
                   struct tp_error *e);
void tp_runner_finish(struct tp_runner *r);

/* One run's result. Owns the JSON. */
struct tp_run_result {
    bool done;      /* the client came to its end */
    int status;     /* its exit status; 128 + n: signal n; -ETIMEDOUT */
    json_t *facts;  /* name → value */
    json_t *checks; /* [{"id", "ok", "detail"}], skipped ones left out */
    json_t *calls;  /* the simulator's log */
    char *said;     /* the end of what it wrote to standard error */
};

/* Puts links to what is loaded into work (a folder of tp_run_dir): the simulator, the platform's
 * libraries that an Android driver needs, bionic's root; then starts the client once without a driver.
 * Errors: INPUT when it does not start with the user's bionic, MISSING when it does not start at all. */
int tp_runner_prepare(const struct tp_runner *r, const char *work, struct tp_error *e);

/* chip: a name that the simulator knows. arguments: the client's options besides the driver,
 * NULL-terminated; env: "NAME=value" for the driver, NULL-terminated; both may be NULL. Of this
 * process's environment the driver sees next to nothing; its home is work, a prepared folder, where
 * the log is. Threads may run several at once. */
int tp_runner_run(const struct tp_runner *r, const char *driver, const char *chip,
                  const char *const *arguments, const char *const *env, const char *work,
                  struct tp_run_result *out, struct tp_error *e);
/* How a run ended that did not come to its end ("Segmentation fault before its end: …"); the caller
 * frees it. */
char *tp_run_result_how(const struct tp_run_result *r);
void tp_run_result_finish(struct tp_run_result *r);

#endif
