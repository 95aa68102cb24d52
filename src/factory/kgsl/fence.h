/*
 * Sync files as the simulator makes them: eventfds, which poll as sync files do, marked by their
 * O_APPEND flag. The mark belongs to the open file, so that it is seen on duplicates and in other
 * processes.
 */
#ifndef TP_FACTORY_KGSL_FENCE_H
#define TP_FACTORY_KGSL_FENCE_H

#include <stdbool.h>

#include "factory/kgsl/uapi.h"

/* A fence for the client in *FD, and the end to signal it by in *SIGNAL (both the caller's).
 * -errno. */
int tp_kgsl_fence_create(int *fd, int *signal);

/* Signals and closes the end. */
void tp_kgsl_fence_signal(int signal);

/* Whether FD is a fence of ours or a sync file. */
bool tp_kgsl_fence_is(int fd);

/* Whether the fence FD has been signalled. */
bool tp_kgsl_fence_is_signalled(int fd);

/* SYNC_IOC_FILE_INFO. -errno. */
int tp_kgsl_fence_info(int fd, struct tp_sync_file_info *info);

/* A duplicate of FD above the descriptors that a client is likely to count. -errno. */
int tp_kgsl_dup_high(int fd);

#endif
