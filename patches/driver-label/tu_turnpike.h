/*
 * Copyright © 2026 The turnpike authors
 * SPDX-License-Identifier: MIT
 */

#ifndef TU_TURNPIKE_H
#define TU_TURNPIKE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Adds this build's version and variant, as in " (WN-25.0.7-b)", to a text in a buffer of this
 * size. What does not fit is left out.
 */
void tu_turnpike_add_label(char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TU_TURNPIKE_H */
