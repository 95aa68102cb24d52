/* Stand-in for Mesa's header.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_U_MEMORY_H
#define STANDIN_U_MEMORY_H

#include <stdlib.h>

#define CALLOC_STRUCT(T) ((struct T *)calloc(1, sizeof(struct T)))
#define FREE(p) free(p)

#endif
