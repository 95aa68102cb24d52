/* A file that is written bit by bit, and is there whole or not at all. */
#ifndef TP_BASE_OUTPUT_H
#define TP_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct tp_output {
    FILE *file;   /* to write to; whether that worked is looked at in the end */
    /* its own: */
    char *path, *target, *temp;
};

/* path: a file, a device, a pipe, or "-": standard output. Nothing that is there changes before the
 * end; a program that dies leaves nothing. */
int tp_output_open(const char *path, struct tp_output *out, struct tp_error *e);
/* Ends it. keep: it is to be there; else nothing comes of it, as on a failure. A file that was
 * there keeps its permissions. */
int tp_output_close(struct tp_output *o, bool keep, struct tp_error *e);

#endif
