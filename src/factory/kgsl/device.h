/*
 * The simulated device's state: files, buffers, contexts, timestamps, timelines, submits that
 * retire, and the books of all that. Pure: no system calls, no clock, no globals; callers hand in
 * CLOCK_MONOTONIC nanoseconds and do what the hooks ask. Not locked. Functions return 0 or the
 * negative errno that KGSL answers.
 */
#ifndef TP_FACTORY_KGSL_DEVICE_H
#define TP_FACTORY_KGSL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "factory/kgsl/chips.h"
#include "factory/kgsl/gpu.h"
#include "factory/kgsl/uapi.h"

struct tp_kgsl_device;
struct tp_kgsl_job;

struct tp_kgsl_config {
    struct tp_kgsl_chip chip;
    bool old_kernel;       /* without timelines, binding of ranges and the newest properties */
    int64_t retire_ns;     /* how long a submit takes once nothing holds it up */
    int64_t hang_ns;       /* after how long a submit that does not end is a hang */
    uint64_t memory_bytes; /* how much can be allocated, imports not counted */
};

/* The arena: a buffer's id is its page's index there, which is also what mmap gets. A driver
 * shifts ids within 32 bits, so that no index may go beyond. Virtual and imported buffers take one
 * page's index each at the end. */
#define TP_KGSL_PAGE 4096u
#define TP_KGSL_ARENA_BYTES (UINT64_C(1) << 32)
#define TP_KGSL_OTHER_PAGES 0x20000u
#define TP_KGSL_MEMORY_MAX (TP_KGSL_ARENA_BYTES - TP_KGSL_OTHER_PAGES * (uint64_t)TP_KGSL_PAGE)

enum tp_kgsl_kind { TP_KGSL_PAGES, TP_KGSL_IMPORTED, TP_KGSL_VIRTUAL };

struct tp_kgsl_buffer {
    uint32_t id;
    enum tp_kgsl_kind kind;
    uint64_t flags;   /* KGSL_MEMFLAGS_* as granted */
    uint64_t size;    /* bytes, whole pages */
    uint64_t gpuaddr; /* 0: none yet (USE_CPU_MAP, until it is mapped) */
    uint64_t backing; /* IMPORTED: what the importer gave, for its own use */
    uint64_t reserved; /* the GPU address that was taken for it, or 0 */
    unsigned references; /* 1 for its id, 1 a binding */
    struct tp_kgsl_binding {
        uint64_t at, length, child_offset;
        struct tp_kgsl_buffer *child;
    } *bindings; /* VIRTUAL: sorted, not overlapping */
    size_t binding_count;
};

/* A stretch of GPU memory that lies in one buffer. */
struct tp_kgsl_span {
    struct tp_kgsl_buffer *buffer;
    uint64_t offset, bytes;
};

struct tp_kgsl_hooks {
    void *user;
    /* Carries out the job's commands; WAITING: to be tried again. */
    enum tp_gpu_state (*execute)(void *user, struct tp_kgsl_job *job, int64_t now);
    /* Signals the fence FD (moved to the hook). ERROR: 0, or the negative errno it ends with. */
    void (*signal)(void *user, int fd, int error);
    /* A waited-for fence FD is no longer needed (moved to the hook). */
    void (*drop)(void *user, int fd);
    /* BUFFER's memory is given up: zero its pages, unmap what was imported. */
    void (*release)(void *user, const struct tp_kgsl_buffer *buffer);
    /* A context is lost (a hang, a fault). */
    void (*lost)(void *user, uint32_t context, uint32_t timestamp, const char *why);
};

/* HOOKS are copied; USER must live as long as the device. NULL: out of memory. */
struct tp_kgsl_device *tp_kgsl_device_create(const struct tp_kgsl_config *config,
                                             const struct tp_kgsl_hooks *hooks);
void tp_kgsl_device_destroy(struct tp_kgsl_device *dev);

const struct tp_kgsl_config *tp_kgsl_device_config(const struct tp_kgsl_device *dev);

/* What is there now, and what was asked for in all. */
struct tp_kgsl_books {
    uint64_t files, buffers, bytes, contexts, timelines, jobs, fences; /* now */
    uint64_t buffers_peak, bytes_peak;
    uint64_t allocations, imports, frees, contexts_created, timelines_created;
    uint64_t submits, markers, retired, lost; /* submits: with commands */
    uint64_t constraints;                     /* SETPROPERTY of a power level */
};
const struct tp_kgsl_books *tp_kgsl_device_books(const struct tp_kgsl_device *dev);

/* Files: what open gave. A closed file takes its contexts along, the last one everything; what it
 * takes along is a leak of the client's, written to LEAKS (not NULL). */
uint32_t tp_kgsl_file_open(struct tp_kgsl_device *dev);
void tp_kgsl_file_close(struct tp_kgsl_device *dev, uint32_t file, struct tp_kgsl_books *leaks);

/* --- memory (memory.c) --- */

/* ALLOC: of SIZE bytes, rounded up to pages; flags with an alignment. The buffer stays the
 * device's. -EINVAL, -ENOMEM. */
int tp_kgsl_alloc(struct tp_kgsl_device *dev, uint64_t size, uint64_t flags,
                  struct tp_kgsl_buffer **out);
/* Makes memory that the caller keeps (BACKING, of SIZE bytes) a buffer. */
int tp_kgsl_import(struct tp_kgsl_device *dev, uint64_t backing, uint64_t size, uint64_t flags,
                   struct tp_kgsl_buffer **out);
/* The buffer of ID, or NULL. */
struct tp_kgsl_buffer *tp_kgsl_find(struct tp_kgsl_device *dev, uint32_t id);
/* The buffer that GPU address ADDR lies in, or NULL. */
struct tp_kgsl_buffer *tp_kgsl_find_address(struct tp_kgsl_device *dev, uint64_t addr);
int tp_kgsl_free(struct tp_kgsl_device *dev, uint32_t id);
/* The client has mapped a USE_CPU_MAP buffer at ADDRESS: that is its GPU address from now on. */
void tp_kgsl_mapped(struct tp_kgsl_device *dev, uint32_t id, uint64_t address);
/* Binds pages of CHILD into, or unbinds them from, the virtual buffer TARGET. -EINVAL. */
int tp_kgsl_bind(struct tp_kgsl_device *dev, uint32_t target,
                 const struct tp_kgsl_gpumem_bind_range *range);
/* Where GPU address ADDR lies, through bindings. -EFAULT. */
int tp_kgsl_resolve(struct tp_kgsl_device *dev, uint64_t addr, struct tp_kgsl_span *out);

/* --- contexts and properties (device.c) --- */

struct tp_kgsl_context {
    uint32_t id, file, flags;
    uint32_t queued, retired; /* timestamps */
    bool lost;
    uint32_t reset_status;
    uint32_t constraint_type, constraint_level;
    uint64_t submits, power_submits, power_max; /* power_max: how often PWR_MAX was asked for */
    struct tp_gpu gpu;
    struct tp_gpu_record record; /* for the execute hook: what the job that is run has done */
    struct tp_kgsl_job *first, *last;
    struct tp_kgsl_context *next;
};

/* FLAGS: asked for; granted in the context. */
int tp_kgsl_context_create(struct tp_kgsl_device *dev, uint32_t file, uint32_t flags,
                           struct tp_kgsl_context **out);
int tp_kgsl_context_destroy(struct tp_kgsl_device *dev, uint32_t id);
struct tp_kgsl_context *tp_kgsl_context_find(struct tp_kgsl_device *dev, uint32_t id);

/* GETPROPERTY and SETPROPERTY of TYPE with BYTES at VALUE. */
int tp_kgsl_get_property(struct tp_kgsl_device *dev, uint32_t type, void *value, uint64_t bytes);
int tp_kgsl_set_property(struct tp_kgsl_device *dev, uint32_t type, const void *value,
                         uint64_t bytes);

/* --- submits, timestamps, timelines (jobs.c) --- */

struct tp_kgsl_wait {
    uint32_t type; /* TP_KGSL_SYNCPOINT_* */
    uint32_t id;   /* context or timeline */
    uint64_t value;
    int fd; /* FENCE; owned by the job, moved to the drop hook. -1: has come */
};

struct tp_kgsl_job {
    struct tp_kgsl_context *context;
    uint32_t timestamp, flags;
    struct tp_kgsl_command {
        uint64_t addr, bytes;
    } *commands;
    size_t command_count, command_next; /* the one that is run */
    bool begun;                         /* commands[command_next] has begun */
    struct tp_kgsl_wait *waits;
    size_t wait_count;
    struct tp_kgsl_gpumem_bind_range *binds;
    size_t bind_count;
    uint32_t bind_target;
    struct tp_kgsl_timeline_val *signals;
    size_t signal_count;
    uint64_t profile; /* GPU address of a profiling buffer, or 0 */
    bool hang;        /* never ends by itself */
    int64_t started, due; /* ns; -1: not started */
    struct tp_kgsl_job *next;
};

/* An empty job whose arrays have room for that many; free with tp_kgsl_job_free (its fence fds go
 * to the drop hook). NULL: out of memory. */
struct tp_kgsl_job *tp_kgsl_job_new(size_t commands, size_t waits, size_t binds, size_t signals);
void tp_kgsl_job_free(struct tp_kgsl_device *dev, struct tp_kgsl_job *job);

/* Queues JOB (moved, also when it fails) in the context of ID and answers its timestamp; WANTED is
 * taken instead of the next where the context makes its own. -EINVAL, -EDEADLK (lost). */
int tp_kgsl_submit(struct tp_kgsl_device *dev, uint32_t id, struct tp_kgsl_job *job,
                   uint32_t wanted, uint32_t *timestamp);

/* Carries out what is due. Answers when it wants to be called again: INT64_MAX when only a call or
 * a fence can change anything. */
int64_t tp_kgsl_step(struct tp_kgsl_device *dev, int64_t now);

/* Loses a context now, as a GPU fault does. */
void tp_kgsl_lose(struct tp_kgsl_device *dev, struct tp_kgsl_context *context, const char *why);

/* Whether a job waits for the fence FDS, at most MAX of them, written in no order. */
size_t tp_kgsl_awaited(struct tp_kgsl_device *dev, int *fds, size_t max);
/* The fence FD has come (it goes to the drop hook). */
void tp_kgsl_arrived(struct tp_kgsl_device *dev, int fd);

/* 0: TIMESTAMP has retired; -EAGAIN: not yet; -EINVAL: no such context, or never submitted;
 * -EDEADLK: the context is lost. */
int tp_kgsl_timestamp(struct tp_kgsl_device *dev, uint32_t context, uint32_t timestamp);
/* FD (moved) is signalled when TIMESTAMP retires, perhaps at once. */
int tp_kgsl_timestamp_fence(struct tp_kgsl_device *dev, uint32_t context, uint32_t timestamp,
                            int fd);
/* The buffer goes when TIMESTAMP has retired. */
int tp_kgsl_free_after(struct tp_kgsl_device *dev, uint32_t id, uint32_t context,
                       uint32_t timestamp);

int tp_kgsl_timeline_create(struct tp_kgsl_device *dev, uint64_t value, uint32_t *id);
int tp_kgsl_timeline_destroy(struct tp_kgsl_device *dev, uint32_t id);
int tp_kgsl_timeline_query(struct tp_kgsl_device *dev, uint32_t id, uint64_t *value);
int tp_kgsl_timeline_signal(struct tp_kgsl_device *dev, uint32_t id, uint64_t value);
/* FD (moved) is signalled when the timeline comes to VALUE, perhaps at once. */
int tp_kgsl_timeline_fence(struct tp_kgsl_device *dev, uint32_t id, uint64_t value, int fd);

#endif
