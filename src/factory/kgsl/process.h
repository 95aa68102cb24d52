/*
 * This process's device: its lock, its memory, the thread that lets submits retire, and the hooks
 * of the pure device. One a process; several open files share it, as with KGSL.
 */
#ifndef TP_FACTORY_KGSL_PROCESS_H
#define TP_FACTORY_KGSL_PROCESS_H

#include "factory/kgsl/device.h"
#include "factory/kgsl/faults.h"

struct tp_kgsl_device *tp_process_device(void);
struct tp_kgsl_faults *tp_process_faults(void);

/* CLOCK_MONOTONIC, nanoseconds. */
int64_t tp_process_now(void);

/* The lock, without which nothing of the device may be touched. */
void tp_process_lock(void);
void tp_process_unlock(void);

/* Makes the device if there is none, and a descriptor of its memory, which is what the client's
 * open answers. Locked. -errno. */
int tp_process_open(bool close_on_exec);

/* Lets what is due happen, wakes those whose wait is over. Locked. */
void tp_process_step(void);

/* After a submit: the thread must know of it. Locked. */
void tp_process_kick(void);

/* Waits until something has happened, or DEADLINE (ns; INT64_MAX: none) at the latest. Locked, not
 * meanwhile. */
void tp_process_sleep(int64_t deadline);

/* Copies from and to GPU memory. Locked. -EFAULT. */
int tp_process_read(uint64_t addr, void *out, size_t bytes);
int tp_process_write(uint64_t addr, const void *data, size_t bytes);

/* Makes the dma-buf FD (borrowed) a buffer. Locked. -errno. */
int tp_process_import(int fd, uint64_t flags, struct tp_kgsl_buffer **out);

/* A fence that is signalled when both A and B (borrowed) are. Locked. -errno. */
int tp_process_merge(int a, int b);

/* Frees the buffer of ID when the fence FD (borrowed) is signalled. Locked. -errno. */
int tp_process_free_after_fence(uint32_t id, int fd);

/* Writes the books to the log as CALL ("closed", "exit"). */
void tp_process_log_books(const char *call, const struct tp_kgsl_books *leaks);

#endif
