/* Where the parts are that run beside the program: clients, preload libraries. */
#ifndef TP_BASE_PARTS_H
#define TP_BASE_PARTS_H

#include "base/error.h"

/*
 * in_build: the part's path in the build folder, "src/factory/kgsl/libturnpike-kgsl.so". It is looked for
 * there, beside the program, and then where it was installed. Caller frees; NULL (status MISSING) where it
 * is not.
 */
char *tp_part_path(const char *in_build, struct tp_error *e);

#endif
