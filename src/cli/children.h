/* Programs that a command starts and answers for: none outlives it. */
#ifndef TP_CLI_CHILDREN_H
#define TP_CLI_CHILDREN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct tp_child {
    const char *const *argv; /* argv[0] is looked up in PATH */
    const char *const *env;  /* "NAME=value" added, "NAME" removed; may be NULL */
    uid_t uid; /* become this user, with this group and no others; 0: stay who we are */
    gid_t gid;
    bool apart; /* a session of its own, with no standard input */
    bool quiet; /* its output goes to log_fd */
    int log_fd;
    /* In the child, before it becomes that user: 0, or a negative errno that ends it. NULL: none. */
    int (*prepare)(const void *data);
    const void *data;
    const sigset_t *signals; /* blocked ones for it */
};

/* Starts it; it is killed when this process dies. What cannot be started is MISSING; -ENOENT: there
 * is no such program. */
pid_t tp_child_start(const struct tp_child *c, struct tp_error *e);

/*
 * From here on a process of its own does the work: returns 0 in it, with SIGTERM on the way when
 * its keeper dies. The keeper, which is the process that called, passes signals on, and when the
 * worker has gone, however that came, it kills all that came from it, removes that folder and
 * returns the exit status in *status (128 + n for signal n), with 1; or says that the worker was
 * killed by a signal that ends no command, with -ECHILD.
 */
int tp_child_keep(const char *folder, int *status, struct tp_error *e);

/* Kills and reaps every child that there is, and theirs. */
void tp_children_kill(void);

/* 0–255 from waitpid's status: 128 + n for signal n. */
int tp_child_status(int status);

#endif
