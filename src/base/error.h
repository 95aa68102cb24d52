/* What went wrong, for a person: where, what, and what to do about it. */
#ifndef TP_BASE_ERROR_H
#define TP_BASE_ERROR_H

/* Exit statuses of the command line's contract (docs: turnpike(1), EXIT STATUS). */
enum tp_status {
    TP_STATUS_OK = 0,      /* it holds, or it was done */
    TP_STATUS_FAILED = 1,  /* the check failed: a drifted patch, a step of the build */
    TP_STATUS_INPUT = 2,   /* wrong usage or a bad input file */
    TP_STATUS_MISSING = 3, /* the machine lacks something */
};

/* Owned by the caller, usually on its stack; {0} is "no error". Nothing in it is allocated. */
struct tp_error {
    enum tp_status status;
    int err;          /* negative errno, 0 when there is no error */
    char where[1024]; /* a file, "file:line", a device, a command; may be empty */
    char what[2048];
    char todo[1024];  /* may be empty */
};

/*
 * Records a failure and returns err (negative errno), so that a function can end in
 * `return tp_fail(...)`. Only the first failure is kept: a later call on the same struct leaves it
 * alone, since what fails during clean-up is a consequence. e may be NULL.
 * where, todo: may be NULL. fmt: the sentence that says what was wrong, no full stop.
 */
int tp_fail(struct tp_error *e, enum tp_status status, int err, const char *where, const char *todo,
            const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* As tp_fail, for a failed system call: appends strerror(err); ENOSPC, EACCES and the like have a
 * remedy of their own. The status is FAILED for a full disk, a reader that has gone and the like,
 * MISSING for memory and descriptors, else INPUT. err is a positive or negative errno. */
int tp_fail_errno(struct tp_error *e, int err, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
