/* What each kind of buffer answers. */
#ifndef DOUBLE_REPLIES_H
#define DOUBLE_REPLIES_H

#include "abi.h"

/* As getStandardMetadata; kind: as in kinds.h, not DEFAULT. call: how many times this process has
 * asked before, for kinds that change their mind. */
int32_t double_reply(
    const int32_t *ints, int kind, unsigned call, int64_t type, void *out, size_t room);

#endif
