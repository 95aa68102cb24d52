/* SHA-1, which SPDX 2.3 wants of every file beside stronger sums (clauses 7.9 and 8.4). libsodium has
 * none, nor has any other library that turnpike is linked with; these lines spare one more. */
#ifndef TP_FACTORY_ORIGIN_SHA1_H
#define TP_FACTORY_ORIGIN_SHA1_H

#include <stddef.h>

#define TP_SHA1_HEX 41

/* Lower-case hex with a NUL into out. FIPS 180-4, clause 6.1. Good for telling files apart, not against
 * those who choose them. */
void tp_sha1(const void *data, size_t len, char out[TP_SHA1_HEX]);

#endif
