#include "frames/icd/chain.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

static const struct {
    VkStructureType type;
    size_t bytes;
} sizes[] = {
#include "chain_sizes.h"
    /* The loader's own, which it leaves in the chain when there are layers. */
    {VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, sizeof(VkLayerDeviceCreateInfo)},
};

/* 0: it is newer than the headers, or of no device. */
static size_t size_of(VkStructureType type)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].type == type)
            return sizes[i].bytes;
    }
    return 0;
}

static size_t rounded(size_t bytes)
{
    size_t to = _Alignof(max_align_t);

    return (bytes + to - 1) / to * to;
}

/* Those of unknown size cannot be copied: the others are linked past ours, in the caller's memory.
 */
static void relink(VkBaseOutStructure *first, bool (*leaves_out)(VkStructureType type),
    const VkBaseInStructure *last, struct tp_chain *out)
{
    VkBaseOutStructure *before = NULL, *next;

    out->first = first;
    for (VkBaseOutStructure *s = first; s; s = next) {
        next = s->pNext;
        if (!leaves_out(s->sType) || out->n_taken == TP_CHAIN_RELINKED) {
            before = s;
        } else if (!before) {
            out->first = next;
        } else {
            out->before[out->n_taken] = before;
            out->taken[out->n_taken++] = s;
            before->pNext = next;
        }
        if ((const VkBaseInStructure *)s == last)
            return;
    }
}

/* All up to the last one that goes, into one allocation. */
static int copy(const VkBaseInStructure *first, bool (*leaves_out)(VkStructureType type),
    const VkBaseInStructure *last, size_t bytes, struct tp_chain *out)
{
    const void **link = &out->first;
    char *at = malloc(bytes ? bytes : 1);

    if (!at)
        return -ENOMEM;
    out->copies = at;
    for (const VkBaseInStructure *s = first; s != last; s = s->pNext) {
        if (leaves_out(s->sType))
            continue;
        memcpy(at, s, size_of(s->sType));
        *link = at;
        link = (const void **)(at + offsetof(VkBaseInStructure, pNext));
        at += rounded(size_of(s->sType));
    }
    *link = last->pNext;
    return 0;
}

int tp_chain_without(
    const void *chain, bool (*leaves_out)(VkStructureType type), struct tp_chain *out)
{
    const VkBaseInStructure *last = NULL;
    bool known = true;
    size_t bytes = 0;

    *out = (struct tp_chain){.first = chain};
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (leaves_out(s->sType))
            last = s;
    }
    if (!last)
        return 0;
    for (const VkBaseInStructure *s = chain; s != last; s = s->pNext) {
        if (leaves_out(s->sType))
            continue;
        known = known && size_of(s->sType) > 0;
        bytes += rounded(size_of(s->sType));
    }
    if (known)
        return copy(chain, leaves_out, last, bytes, out);
    relink((VkBaseOutStructure *)(uintptr_t)chain, leaves_out, last, out);
    return 0;
}

void tp_chain_finish(struct tp_chain *c)
{
    free(c->copies);
    while (c->n_taken > 0) {
        c->n_taken--;
        c->before[c->n_taken]->pNext = c->taken[c->n_taken];
    }
}
