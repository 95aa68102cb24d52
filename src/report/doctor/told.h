/* What a line tells by a name: a driver's file, or a code as what happened and not as one that may.
 */
#ifndef TP_REPORT_DOCTOR_TOLD_H
#define TP_REPORT_DOCTOR_TOLD_H

#include <stdbool.h>
#include <stddef.h>

/* Is there such a kind of drivers: "driver", any Vulkan driver for Adreno by its usual name, or
 * "stock", the one at the place where the phone has its own? */
bool tp_told_is_kind(const char *kind);
/* Does this path (words behind it, as a backtrace has them, do not count) name one? */
bool tp_told_driver(const char *path, size_t len, const char *kind);
/* The name of the path's file: borrowed from it, not terminated. */
const char *tp_told_file(const char *path, size_t len, size_t *out);
/* Is this VkResult's name told as what happened? True as well where it is not in the line at all;
 * false in a list of names, and where it is said what may happen. */
bool tp_told_code(const char *line, size_t len, const char *code);

#endif
