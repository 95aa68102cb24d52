/* A zip with a log in it, as `adb bugreport` makes one: the largest text of it, as it is unpacked.
 */
#ifndef TP_REPORT_DOCTOR_BUGREPORT_H
#define TP_REPORT_DOCTOR_BUGREPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct tp_bugreport;

/* Does the file begin as a zip does? */
bool tp_bugreport_is(const char *path);
/* Errors: it cannot be read, or no text is in it (status INPUT). The caller closes it. */
int tp_bugreport_open(const char *path, struct tp_bugreport **out, struct tp_error *e);
/* As read(2); -EBADMSG where the zip is damaged. */
ssize_t tp_bugreport_read(struct tp_bugreport *b, void *out, size_t room);
/* NULL is fine. */
void tp_bugreport_close(struct tp_bugreport *b);

#endif
