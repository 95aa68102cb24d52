/* The line in a release's notes that says with which Mesa the next range begins. */
#ifndef TP_FACTORY_NOTES_MARKER_H
#define TP_FACTORY_NOTES_MARKER_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct tp_marker {
    char revision[65]; /* a commit, 7 to 64 hex digits; "": the source had none */
    char version[65];  /* "25.0.7"; "": not known */
};

/* Adds the line: an HTML comment, which is not shown. Nothing where m says nothing. */
void tp_marker_add(struct tp_buf *out, const struct tp_marker *m);

/* Finds it in a release's text, whichever line ends that has. It begins its line, which no commit's
 * subject does. 0; -ENOENT (status FAILED) without one; -EINVAL (status FAILED) when two differ. */
int tp_marker_read(const char *text, size_t len, struct tp_marker *m, struct tp_error *e);

#endif
