#include "ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tp_ranges_init(struct tp_ranges *r, uint64_t first, uint64_t limit)
{
    *r = (struct tp_ranges){.first = first, .limit = limit};
}

void tp_ranges_finish(struct tp_ranges *r)
{
    free(r->used);
    *r = (struct tp_ranges){0};
}

/* Whether SIZE fit before used[i] (or the line's end), after the one before it. */
static int fits(const struct tp_ranges *r, size_t i, uint64_t size, uint64_t align, uint64_t *at)
{
    uint64_t from = i ? r->used[i - 1].at + r->used[i - 1].size : r->first;
    uint64_t to = i < r->count ? r->used[i].at : r->limit;
    from = (from + align - 1) & ~(align - 1);
    *at = from;
    return from <= to && to - from >= size;
}

int tp_ranges_take(struct tp_ranges *r, uint64_t size, uint64_t align, uint64_t *at)
{
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 64;
        struct tp_range *used = realloc(r->used, capacity * sizeof *used);
        if (!used)
            return -ENOMEM;
        r->used = used;
        r->capacity = capacity;
    }
    for (size_t n = 0; n <= r->count; n++) {
        size_t i = (r->next + n) % (r->count + 1);
        if (!fits(r, i, size, align, at))
            continue;
        memmove(&r->used[i + 1], &r->used[i], (r->count - i) * sizeof *r->used);
        r->used[i] = (struct tp_range){*at, size};
        r->count++;
        r->next = i + 1;
        return 0;
    }
    return -ENOSPC;
}

void tp_ranges_give(struct tp_ranges *r, uint64_t at)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->used[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->count || r->used[low].at != at)
        return;
    memmove(&r->used[low], &r->used[low + 1], (r->count - low - 1) * sizeof *r->used);
    r->count--;
    if (r->next > low)
        r->next--;
}
