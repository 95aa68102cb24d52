/* Running other programs: whole process groups, time limits, captured or streamed output. */
#ifndef TP_BASE_PROC_H
#define TP_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct tp_cmd {
    const char *const *argv;  /* argv[0] is looked up in PATH; NULL-terminated */
    const char *cwd;          /* NULL: this process's */
    const char *const *env;   /* "NAME=value" added to the environment, "NAME" removes; may be NULL */
    int64_t timeout_ms;       /* 0: none; past it the whole group is ended and -ETIMEDOUT returned */
    size_t max_output_bytes;  /* captured output beyond this is dropped; 0 means 16 MiB */
    struct tp_buf *out;       /* standard output; NULL: into `log`, else discarded */
    struct tp_buf *err;       /* standard error; NULL: as above; may equal out to merge both */
    int log_fd;               /* -1, or a borrowed fd that receives both outputs as well */
    /* Called for each line of standard output as it comes, without its newline; may be NULL. */
    void (*on_line)(void *data, const char *line);
    /* Called with the bytes of standard output as they come; may be NULL. A negative errno ends the
     * program and is what tp_run returns; the callback has filled the error by then. */
    int (*on_bytes)(void *data, const char *bytes, size_t n);
    void *data;
};

/* Runs to the end. Returns the exit status 0…255, 128 + n when signal n ended it, or a negative
 * errno when it could not be started (-ENOENT: no such program), timed out (-ETIMEDOUT), or this
 * process was interrupted meanwhile (-EINTR; the group has been ended by then). Standard input is
 * /dev/null. Descendants that the program leaves behind in its group are ended with it. */
int tp_run(const struct tp_cmd *cmd, struct tp_error *e);

/* True when a program of this name is in PATH (or is an executable path). */
bool tp_have_program(const char *name);

/* Installs SIGINT/SIGTERM/SIGHUP handlers that set a flag; tp_interrupted says whether one came.
 * Long loops ask it and unwind with -EINTR. */
void tp_catch_interrupts(void);
bool tp_interrupted(void);
/* The signal that came, 0 for none. */
int tp_interrupt_signal(void);

/* CLOCK_MONOTONIC, nanoseconds. */
int64_t tp_now_ns(void);

#endif
