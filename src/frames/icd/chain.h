/*
 * A chain of structs (pNext) as somebody else is to see it: without some of them. The caller's
 * memory is not written to, which may be read by another thread at the same time, or be read-only:
 * the structs before those that are taken out are copied. Their sizes are those of this build's
 * headers, and of chain_newer.txt; of one that is in neither as much is copied as any may have.
 */
#ifndef TP_FRAMES_ICD_CHAIN_H
#define TP_FRAMES_ICD_CHAIN_H

#include <stdbool.h>

#include "frames/icd/vk.h"

struct tp_chain {
    const void *first; /* what the other side gets as pNext */
    void *copies;      /* owned; NULL: none */
};

/*
 * Of a VkDeviceCreateInfo's chain, all but those of the types for which leaves_out is true. The
 * caller's chain has to stay as it is until tp_chain_finish. -ENOMEM: no memory, or no descriptors.
 */
int tp_chain_without(
    const void *chain, bool (*leaves_out)(VkStructureType type), struct tp_chain *out);
/* Frees the copies. */
void tp_chain_finish(struct tp_chain *c);

#endif
