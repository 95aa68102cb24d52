/* Descriptors that the server makes: memory, the snapshot's block. */
#ifndef TP_FRAMES_SERVER_MEMORY_H
#define TP_FRAMES_SERVER_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "frames/kms/snapshot.h"

/* Memory of so many bytes that nobody can shrink or grow: a dma-buf, which other devices take, where
 * /dev/udmabuf may be used (whole pages, by default up to 64 MB), else a memfd. Negative errno. */
int tp_memory_create(uint64_t bytes);
/* A memfd that holds these bytes, and nothing can change. Negative errno. */
int tp_memory_of(const void *bytes, size_t n);

/* A block that this process writes, and whoever has the descriptor only reads. */
struct tp_shared_snapshot {
    struct tp_snapshot *block; /* owned mapping */
    int fd;                    /* owned */
};
int tp_shared_snapshot_init(struct tp_shared_snapshot *s);
void tp_shared_snapshot_finish(struct tp_shared_snapshot *s);

#endif
