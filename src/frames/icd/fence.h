/* Fences as descriptors: sync files, and others that poll readable once signalled. */
#ifndef TP_FRAMES_ICD_FENCE_H
#define TP_FRAMES_ICD_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Without a wait. What is no descriptor counts as signalled. */
bool tp_fence_signalled(int fd);
/* Until it signals. */
void tp_fence_wait(int fd);
void tp_fence_close(int fd);
/* Another descriptor of it, the caller's; -errno. */
int tp_fence_copy(int fd);
/* One sync file for both, the caller's; -errno. */
int tp_fence_merge(int a, int b);
/* When a sync file signalled, CLOCK_MONOTONIC; INT64_MIN: it did not, or does not say. */
int64_t tp_fence_time_ns(int fd);
/* A sync file of what others still do with a dma-buf, for who will write into it; the caller's;
 * -errno: the kernel has no such thing (before 6.0), or it is no dma-buf. */
int tp_fence_export(int dmabuf);
/* Has this kernel tp_fence_export? By its version. */
bool tp_fence_can_export(void);

#endif
