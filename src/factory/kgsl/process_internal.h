/* What process.c, hooks.c and poll.c share. */
#ifndef TP_FACTORY_KGSL_PROCESS_INTERNAL_H
#define TP_FACTORY_KGSL_PROCESS_INTERNAL_H

#include "process.h"
#include "settings.h"

#include <pthread.h>

/* What waits for fences: a merged fence to signal, or a buffer to free. */
struct tp_join {
    int a, b;   /* owned; -1: has come */
    int signal; /* owned, or -1 */
    uint32_t buffer;
};

struct tp_process {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a timestamp, a timeline or a context */
    bool settled;
    int settled_error;
    struct tp_kgsl_settings settings;
    struct tp_kgsl_device *device;
    unsigned char *arena; /* all of it, mapped */
    int arena_fd, wake_fd;
    pthread_t thread;
    bool worker, stop;
    int64_t again; /* when something is due next */
    struct tp_join *joins;
    size_t join_count, join_capacity;
    uint64_t gpu_faults, bad_packets;
};

extern struct tp_process tp_process;

/* hooks.c */
enum tp_gpu_state tp_process_execute(void *user, struct tp_kgsl_job *job, int64_t now);
void tp_process_signal(void *user, int fd, int error);
void tp_process_drop(void *user, int fd);
void tp_process_release(void *user, const struct tp_kgsl_buffer *buffer);
void tp_process_lost(void *user, uint32_t context, uint32_t timestamp, const char *why);

/* poll.c: takes note of fences that have come; signals merged ones; sleeps until any comes, the
 * thread is woken or something is due. Locked. */
void tp_process_arrivals(void);
void tp_process_joins(void);
void tp_process_poll(void);

#endif
