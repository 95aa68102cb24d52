/* Stand-in for Mesa's header.
 * SPDX-License-Identifier: MIT */
#ifndef STANDIN_MACROS_H
#define STANDIN_MACROS_H

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define DIV_ROUND_UP(a, b) (((a) + (b) - 1) / (b))
#define UNUSED __attribute__((unused))

#endif
