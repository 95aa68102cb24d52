/*
 * From the driver's handles to what we know of them. Reading takes no lock: a table that has become
 * too small is kept until the map ends. Whoever reads a handle owns it or an object of it, so that
 * it is not removed meanwhile, as Vulkan's rules have it.
 */
#ifndef TP_FRAMES_ICD_MAP_H
#define TP_FRAMES_ICD_MAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct tp_map_table;

struct tp_map {
    _Atomic(struct tp_map_table *) table;
    pthread_mutex_t lock; /* of writers */
    size_t n;             /* keys in use */
};
#define TP_MAP_INIT                                                                                \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* NULL: it is not there. */
void *tp_map_get(struct tp_map *m, const void *key);
/* key: not NULL; one that is there gets the new value. -ENOMEM. */
int tp_map_put(struct tp_map *m, const void *key, void *value);
/* What it was; NULL: it was not there. */
void *tp_map_remove(struct tp_map *m, const void *key);
/* Frees its tables; when nobody reads it any more. It is empty then. */
void tp_map_finish(struct tp_map *m);

#endif
