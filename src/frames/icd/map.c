#include "frames/icd/map.h"

#include <errno.h>
#include <stdbool.h>
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

static struct entry *at(struct tp_map_table *t, size_t i)
{
    return &t->entries[i & (t->size - 1)];
}

/* The key's entry, or the empty one where it would be. There is always an empty one. */
static struct entry *find(struct tp_map_table *t, const void *key)
{
    for (size_t i = hash(key);; i++) {
        struct entry *e = at(t, i);
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

/* Where the key is; else the first place on its way that is free, or is so again. */
static struct entry *place_for(struct tp_map_table *t, const void *key)
{
    struct entry *there = find(t, key);

    if (there->key)
        return there;
    for (size_t i = hash(key);; i++) {
        const void *k = at(t, i)->key;
        if (!k || k == GONE)
            return at(t, i);
    }
}

static void put(struct tp_map_table *t, const void *key, void *value)
{
    struct entry *e = place_for(t, key);

    if (!e->key)
        t->used++;
    atomic_store_explicit(&e->value, value, memory_order_release);
    atomic_store_explicit(&e->key, key, memory_order_release);
}

/* Whether somebody's way leads over this place. */
static bool is_passed(struct tp_map_table *t, size_t i)
{
    const void *k;

    for (size_t n = 1; (k = at(t, i + n)->key) != NULL; n++) {
        /* How far that key is from where it would be best. */
        if (k != GONE && ((i + n - hash(k)) & (t->size - 1)) >= n)
            return true;
    }
    return false;
}

/* Back from i: places of removed keys that nobody's way leads over are empty again, or objects that
 * come and go would fill one table after another. */
static void clear_gone(struct tp_map_table *t, size_t i)
{
    for (; at(t, i)->key; i--) {
        if (at(t, i)->key != GONE || is_passed(t, i))
            continue;
        atomic_store_explicit(&at(t, i)->key, NULL, memory_order_release);
        t->used--;
    }
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
        clear_gone(m->table, (size_t)(e - m->table->entries));
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
