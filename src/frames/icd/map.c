#include "frames/icd/map.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct entry {
    _Atomic(const void *) key; /* NULL: never used; GONE: removed */
    _Atomic(void *) value;
};

struct tp_map_table {
    struct tp_map_table *older;
    size_t used; /* entries that are not NULL */
    size_t size; /* a power of two */
    struct entry entries[];
};

static const char gone_key;
#define GONE ((const void *)&gone_key)

static size_t hash(const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(h >> 32);
}

/* The key's entry, or the empty one where it would be. There is always an empty one. */
static struct entry *find(struct tp_map_table *t, const void *key)
{
    for (size_t i = hash(key);; i++) {
        struct entry *e = &t->entries[i & (t->size - 1)];
        const void *k = atomic_load_explicit(&e->key, memory_order_acquire);
        if (k == key || !k)
            return e;
    }
}

void *tp_map_get(struct tp_map *m, const void *key)
{
    struct tp_map_table *t = atomic_load_explicit(&m->table, memory_order_acquire);
    struct entry *e = t && key ? find(t, key) : NULL;

    return e && atomic_load_explicit(&e->key, memory_order_relaxed)
        ? atomic_load_explicit(&e->value, memory_order_acquire)
        : NULL;
}

static void put(struct tp_map_table *t, const void *key, void *value)
{
    struct entry *e = find(t, key);

    if (!atomic_load_explicit(&e->key, memory_order_relaxed))
        t->used++;
    atomic_store_explicit(&e->value, value, memory_order_release);
    atomic_store_explicit(&e->key, key, memory_order_release);
}

static int grow(struct tp_map *m, struct tp_map_table *old)
{
    size_t size = 16;

    while (size < m->n * 4)
        size *= 2;
    struct tp_map_table *t = calloc(1, sizeof *t + size * sizeof t->entries[0]);
    if (!t)
        return -ENOMEM;
    t->size = size;
    t->older = old;
    for (size_t i = 0; old && i < old->size; i++) {
        const void *key = old->entries[i].key;
        if (key && key != GONE)
            put(t, key, old->entries[i].value);
    }
    atomic_store_explicit(&m->table, t, memory_order_release);
    return 0;
}

int tp_map_put(struct tp_map *m, const void *key, void *value)
{
    int r = 0;

    pthread_mutex_lock(&m->lock);
    struct tp_map_table *t = m->table;
    if (!t || (t->used + 1) * 2 > t->size)
        r = grow(m, t);
    if (!r) {
        t = m->table;
        m->n += !find(t, key)->key;
        put(t, key, value);
    }
    pthread_mutex_unlock(&m->lock);
    return r;
}

void *tp_map_remove(struct tp_map *m, const void *key)
{
    void *value = NULL;

    pthread_mutex_lock(&m->lock);
    struct entry *e = m->table && key ? find(m->table, key) : NULL;
    if (e && e->key) {
        value = e->value;
        atomic_store_explicit(&e->key, GONE, memory_order_release);
        m->n--;
    }
    pthread_mutex_unlock(&m->lock);
    return value;
}

void tp_map_finish(struct tp_map *m)
{
    for (struct tp_map_table *t = m->table, *older; t; t = older) {
        older = t->older;
        free(t);
    }
    m->table = NULL;
    m->n = 0;
}
