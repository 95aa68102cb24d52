/* Buffers' memory as the simulated screen reads it: mapped, where nobody can take it away under the
 * reader, else read. */
#ifndef TP_FRAMES_PANEL_SIM_MEMORY_H
#define TP_FRAMES_PANEL_SIM_MEMORY_H

#include <stdbool.h>

#include "frames/kms/kms.h"

#define TP_MEMORY_MAPS 16u
#define TP_MEMORY_KEEP 1024u /* uses of others, until a mapping is let go */

/* {0} to begin with; one thread's. */
struct tp_memory {
    struct tp_memory_map {
        uint64_t device, inode;
        uint64_t used;        /* the last use's number; 0: free */
        const uint8_t *bytes; /* owned mapping; NULL: it is read */
        size_t size;
        bool dma_buf;
    } maps[TP_MEMORY_MAPS];
    uint64_t uses;
};

/*
 * The memory of a framebuffer's first plane: a memfd, a udmabuf or another dma-buf. It is mapped
 * where its size is fixed: dma-bufs, and memfds that are sealed against shrinking; a foreign file
 * that shrinks would be the end of this process. Mappings are kept for a while, those of the last
 * TP_MEMORY_MAPS buffers at most. NULL: it can be neither mapped nor read. The answer is good until
 * the next call.
 */
const struct tp_memory_map *tp_memory_open(struct tp_memory *m, const struct tp_kms_fb_info *fb);
void tp_memory_finish(struct tp_memory *m);

/* Around what is read: the processor sees what a device has written (kernel: dma-buf.rst). The
 * former may wait for a device that is writing. fd: the framebuffer's. */
void tp_memory_begin(const struct tp_memory_map *map, int fd);
void tp_memory_end(const struct tp_memory_map *map, int fd);

/* So many bytes from `at` on, in the mapping, or read into scratch; NULL: there are not as many. */
const uint8_t *tp_memory_at(
    const struct tp_memory_map *map, int fd, uint64_t at, size_t bytes, uint8_t *scratch);

#endif
