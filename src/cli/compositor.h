/* How compositors are started on a card of ours. */
#ifndef TP_CLI_COMPOSITOR_H
#define TP_CLI_COMPOSITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct tp_compositor {
    const char *name;    /* of --compositor, and of its program */
    const char *package; /* Debian's, for who lacks it */
    int from_version;    /* of the program; the highest one that is not above it counts */
    const char *args[12];
    const char *env[8]; /* "NAME=value" */
    const char *config; /* written into a file, whose path follows the args; NULL: none */
    bool never_as_root, only_as_root;
    bool runs_command; /* it ends with a command of its own: a placeholder follows its arguments */
};

/* The row for the oldest version; NULL: there is no such compositor in the table. */
const struct tp_compositor *tp_compositor_find(const char *name);
/* The row for the version that is installed: asks the program where there is more than one. */
const struct tp_compositor *tp_compositor_for_installed(const struct tp_compositor *c);
/* "none, cage, …" */
void tp_compositor_names(char *out, size_t room);

#endif
