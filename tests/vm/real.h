/* Real dma-bufs and sync files, for the tests of the virtual machine. */
#ifndef TP_TESTS_VM_REAL_H
#define TP_TESTS_VM_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* New memory as a dma-buf, of whole pages; the caller's. -1. */
int real_udmabuf(size_t bytes);
int real_heap_buffer(size_t bytes);

/* A sync file that signals once the timeline is moved on, or closed; both the caller's. -1. */
int real_sync_file(int *timeline);
void real_move_on(int timeline);

/* 0: active, 1: signalled (linux/sync_file.h); -errno: it is no sync file. */
int real_status(int sync_file);
/* Puts a fence into a dma-buf, or takes those out that somebody who reads (writes) has to wait for:
 * flags as in linux/dma-buf.h. -1. */
int real_put_fence(int dma_buf, int fence, uint64_t flags);
int real_take_fence(int dma_buf, uint64_t flags);

#endif
