/*
 * A chain of structs (pNext) as somebody else is to see it: without some of them. The caller's
 * memory is not written to, which may be read by another thread at the same time, or be read-only:
 * the structs before those that are taken out are copied, as far as this build's headers know
 * their sizes.
 */
#ifndef TP_FRAMES_ICD_CHAIN_H
#define TP_FRAMES_ICD_CHAIN_H

#include <stdbool.h>

#include "frames/icd/vk.h"

enum { TP_CHAIN_RELINKED = 16 };

struct tp_chain {
    const void *first; /* what the other side gets as pNext */
    void *copies;      /* owned; NULL: none */
    /* Where a struct of an unknown size stands before one that is to go: those that were taken out
     * of the caller's own chain, and behind what. */
    VkBaseOutStructure *before[TP_CHAIN_RELINKED], *taken[TP_CHAIN_RELINKED];
    unsigned n_taken;
};

/*
 * Of a VkDeviceCreateInfo's chain, all but those of the types for which leaves_out is true. The
 * caller's chain has to stay as it is until tp_chain_finish. -ENOMEM.
 */
int tp_chain_without(
    const void *chain, bool (*leaves_out)(VkStructureType type), struct tp_chain *out);
/* The caller's chain is as it was. */
void tp_chain_finish(struct tp_chain *c);

#endif
