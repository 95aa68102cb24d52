/*
 * The lines of a log, one after the other, in constant memory: plain text, gzip or a bug report's
 * zip, UTF-8 or UTF-16 with its mark (as PowerShell's > writes it), whatever bytes are in it,
 * however long a line is.
 */
#ifndef TP_REPORT_DOCTOR_LINES_H
#define TP_REPORT_DOCTOR_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Of a longer line this much is looked at. */
#define TP_LINE_BYTES 65536u

struct tp_line {
    const char *text; /* not terminated, valid until the next call; without its line end */
    size_t len;
    uint64_t number; /* from 1 */
};

/* What was met on the way. Read-only for others. */
struct tp_lines_found {
    uint64_t bytes, lines; /* unpacked bytes */
    uint64_t cut;          /* lines that were longer than TP_LINE_BYTES */
    bool utf16;
    bool is_capture; /* it is no log: see docs/capture.md */
    bool damaged; /* gzip or zip that ends or breaks in the middle: what came before it was read */
};

struct tp_lines;

/* As read(2): the bytes that were put there, 0 at the end, or a negative errno. */
typedef ssize_t tp_lines_source(void *data, void *out, size_t room);

/* From a file, which may be gzip's or a bug report (bugreport.h); NULL or "-": standard input.
 * Errors: it cannot be opened, or is a folder (status INPUT). The caller closes it. */
int tp_lines_open(const char *path, struct tp_lines **out, struct tp_error *e);
/* From a function that hands out plain text; data is borrowed. */
struct tp_lines *tp_lines_from(tp_lines_source *source, void *data);

/* 1 and the next line, 0 at the end, or a negative errno with the reason; -EINTR: a signal came
 * (base/proc.h), which is looked at before each read. */
int tp_lines_next(struct tp_lines *l, struct tp_line *out, struct tp_error *e);
const struct tp_lines_found *tp_lines_found(const struct tp_lines *l);
/* NULL is fine. */
void tp_lines_close(struct tp_lines *l);

#endif
