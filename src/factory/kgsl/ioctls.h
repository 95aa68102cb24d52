/* The requests that the device answers. */
#ifndef TP_FACTORY_KGSL_IOCTLS_H
#define TP_FACTORY_KGSL_IOCTLS_H

#include "factory/kgsl/faults.h"
#include "factory/kgsl/log.h"

#include <stdint.h>

/* One call of a request: its handler adds the decoded fields to LINE. */
struct tp_kgsl_call {
    uint32_t file;
    void *argument;
    struct tp_kgsl_verdict verdict;
    struct tp_kgsl_line *line;
};

struct tp_kgsl_request {
    unsigned long number;
    const char *name;
    enum tp_kgsl_site site;
    bool new_only; /* an old kernel has it not */
    int (*handle)(struct tp_kgsl_call *call);
};

/* KGSL's requests, in two files. */
extern const struct tp_kgsl_request tp_kgsl_memory_requests[], tp_kgsl_submit_requests[];
extern const size_t tp_kgsl_memory_request_count, tp_kgsl_submit_request_count;

/* Carries out a request on a device's open file: 0 or more, or a negative errno. */
int tp_kgsl_ioctl(uint32_t file, int fd, unsigned long request, void *argument);

/* DMA_HEAP_IOCTL_ALLOC on the heap. */
int tp_kgsl_heap_ioctl(int fd, unsigned long request, void *argument);

/* SYNC_IOC_* on a fence of ours. */
int tp_kgsl_sync_ioctl(int fd, unsigned long request, void *argument);

#endif
