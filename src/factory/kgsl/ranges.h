/*
 * Hands out stretches of a number line: page indexes, GPU addresses. Takes go on from the last one,
 * so that a number comes back late and use after free shows.
 */
#ifndef TP_FACTORY_KGSL_RANGES_H
#define TP_FACTORY_KGSL_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct tp_ranges {
    uint64_t first, limit; /* the line: [first, limit) */
    struct tp_range {
        uint64_t at, size;
    } *used; /* sorted, not overlapping */
    size_t count, capacity, next;
};

void tp_ranges_init(struct tp_ranges *r, uint64_t first, uint64_t limit);
void tp_ranges_finish(struct tp_ranges *r);

/* Takes SIZE (> 0) numbers that begin at a multiple of ALIGN (a power of two). -ENOSPC: no stretch
 * is that long; -ENOMEM. */
int tp_ranges_take(struct tp_ranges *r, uint64_t size, uint64_t align, uint64_t *at);

/* Gives back what was taken at AT. */
void tp_ranges_give(struct tp_ranges *r, uint64_t at);

#endif
