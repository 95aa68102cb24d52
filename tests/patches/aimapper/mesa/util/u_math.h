/* Stand-in for Mesa's header.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_U_MATH_H
#define STANDIN_U_MATH_H

#include <assert.h>
#include <stdint.h>

static inline uint64_t align64(uint64_t value, uint64_t alignment)
{
    assert(alignment && !(alignment & (alignment - 1)));
    return (value + alignment - 1) & ~(alignment - 1);
}

#endif
