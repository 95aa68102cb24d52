#include "frames/icd/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vulkan/vk_layer.h>

static const struct {
    VkStructureType type;
    size_t bytes;
} sizes[] = {
#include "chain_sizes.h"
    /* The loader's own, which it leaves in the chain when there are layers. */
    {VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, sizeof(VkLayerDeviceCreateInfo)},
};

/* No struct of the registry has as much, and none needs all of it. */
enum { UNKNOWN_BYTES = 4096 };

/* 0: it is newer than chain_newer.txt, or of no device. */
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

/*
 * As much as there is of what a struct of an unknown size may be: its reader takes no more than
 * belongs to it. What the kernel reads for us may end anywhere; a pipe is to be had in every
 * sandbox, and past the C library's functions a sanitizer does not mind what is behind the struct.
 * 0: nothing was read.
 */
static size_t read_unknown(const void *from, char *to)
{
    size_t page = 4096, n = 0;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
        return 0;
    while (n < UNKNOWN_BYTES) {
        const char *at = (const char *)from + n;
        size_t part = page - (uintptr_t)at % page;
        if (part > UNKNOWN_BYTES - n)
            part = UNKNOWN_BYTES - n;
        if (syscall(SYS_write, fds[1], at, part) != (long)part ||
            read(fds[0], to + n, part) != (ssize_t)part)
            break;
        n += part;
    }
    close(fds[0]);
    close(fds[1]);
    return n;
}

/* All up to the last one that goes, into one allocation. */
static int copy(const VkBaseInStructure *first, bool (*leaves_out)(VkStructureType type),
    const VkBaseInStructure *last, size_t bytes, struct tp_chain *out)
{
    const void **link = &out->first;
    char *at = calloc(1, bytes ? bytes : 1);

    if (!at)
        return -ENOMEM;
    out->copies = at;
    for (const VkBaseInStructure *s = first; s != last; s = s->pNext) {
        if (leaves_out(s->sType))
            continue;
        size_t n = size_of(s->sType);
        if (n > 0) {
            memcpy(at, s, n);
        } else if (read_unknown(s, at) < sizeof *s) {
            free(out->copies);
            out->copies = NULL;
            return -ENOMEM;
        }
        *link = at;
        link = (const void **)(at + offsetof(VkBaseInStructure, pNext));
        at += rounded(n ? n : UNKNOWN_BYTES);
    }
    *link = last->pNext;
    return 0;
}

int tp_chain_without(
    const void *chain, bool (*leaves_out)(VkStructureType type), struct tp_chain *out)
{
    const VkBaseInStructure *last = NULL;
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
        size_t n = size_of(s->sType);
        bytes += rounded(n ? n : UNKNOWN_BYTES);
    }
    return copy(chain, leaves_out, last, bytes, out);
}

void tp_chain_finish(struct tp_chain *c)
{
    free(c->copies);
}
