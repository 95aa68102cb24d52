#include "frames/kms/internal.h"

#include <stdlib.h>

#include "base/buf.h"

uint32_t tp_table_add(struct tp_table *t, void *p, uintptr_t tag)
{
    while (t->lowest < t->n && t->entries[t->lowest].p)
        t->lowest++;
    if (t->lowest == t->n) {
        if (t->n == t->cap)
            t->entries =
                tp_realloc(t->entries, t->cap = t->cap ? 2 * t->cap : 32, sizeof *t->entries);
        t->n++;
    }
    t->entries[t->lowest] = (struct tp_entry){p, tag};
    t->used++;
    return ++t->lowest;
}

struct tp_entry *tp_table_get(const struct tp_table *t, uint64_t id)
{
    if (id < 1 || id > t->n || !t->entries[id - 1].p)
        return NULL;
    return &t->entries[id - 1];
}

void *tp_table_remove(struct tp_table *t, uint64_t id)
{
    struct tp_entry *e = tp_table_get(t, id);
    if (!e)
        return NULL;
    void *p = e->p;
    e->p = NULL;
    t->used--;
    if (id - 1 < t->lowest)
        t->lowest = id - 1;
    return p;
}

void tp_table_finish(struct tp_table *t)
{
    free(t->entries);
    *t = (struct tp_table){0};
}
