/* What the pure device asks for: running command streams, signalling, giving memory back. */
#include "process_internal.h"

#include "fence.h"
#include "log.h"
#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef FALLOC_FL_KEEP_SIZE
#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#endif

/* 19.2 MHz, as the always-on counter of a real one. */
#define TICKS(ns) ((uint64_t)(ns) * 12 / 625)

/* What was imported: kept until the buffer goes, mapped when the GPU first touches it. */
struct import {
    int fd;
    void *map;
    uint64_t size;
};

static unsigned char *pointer(const struct tp_kgsl_span *span)
{
    struct import *import;
    if (span->buffer->kind == TP_KGSL_PAGES)
        return tp_process.arena + (uint64_t)span->buffer->id * TP_KGSL_PAGE + span->offset;
    import = (struct import *)(uintptr_t)span->buffer->backing;
    if (!import->map) {
        import->map = tp_real_mmap(NULL, import->size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                   import->fd, 0);
        if (import->map == MAP_FAILED)
            import->map = NULL;
    }
    return import->map ? (unsigned char *)import->map + span->offset : NULL;
}

int tp_process_read(uint64_t addr, void *out, size_t bytes)
{
    struct tp_kgsl_span span;
    for (size_t done = 0, n; done < bytes; done += n) {
        if (tp_kgsl_resolve(tp_process.device, addr + done, &span))
            return -EFAULT;
        n = span.bytes < bytes - done ? (size_t)span.bytes : bytes - done;
        if (span.buffer->kind == TP_KGSL_VIRTUAL) { /* bound to nothing: zeros */
            memset((char *)out + done, 0, n);
            continue;
        }
        const unsigned char *from = pointer(&span);
        if (!from)
            return -EFAULT;
        memcpy((char *)out + done, from, n);
    }
    return 0;
}

/* The client may read at any time: a value appears whole. */
static void store(unsigned char *to, const void *data, size_t bytes)
{
    uint64_t wide;
    uint32_t word;
    if (bytes == sizeof wide && !((uintptr_t)to & 7)) {
        memcpy(&wide, data, sizeof wide);
        __atomic_store_n((uint64_t *)(void *)to, wide, __ATOMIC_RELEASE);
    } else if (bytes == sizeof word && !((uintptr_t)to & 3)) {
        memcpy(&word, data, sizeof word);
        __atomic_store_n((uint32_t *)(void *)to, word, __ATOMIC_RELEASE);
    } else {
        memcpy(to, data, bytes);
    }
}

/* Whether all of it may be written, before any of it is. */
static bool writable(uint64_t addr, size_t bytes)
{
    struct tp_kgsl_span span;
    for (size_t done = 0; done < bytes; done += span.bytes) {
        if (tp_kgsl_resolve(tp_process.device, addr + done, &span))
            return false;
        if (span.buffer->flags & TP_KGSL_MEMFLAGS_GPUREADONLY)
            return false;
        if (span.buffer->kind != TP_KGSL_VIRTUAL && !pointer(&span))
            return false;
    }
    return true;
}

int tp_process_write(uint64_t addr, const void *data, size_t bytes)
{
    struct tp_kgsl_span span;
    if (!writable(addr, bytes))
        return -EFAULT;
    for (size_t done = 0, n; done < bytes; done += n) {
        tp_kgsl_resolve(tp_process.device, addr + done, &span);
        n = span.bytes < bytes - done ? (size_t)span.bytes : bytes - done;
        if (span.buffer->kind != TP_KGSL_VIRTUAL)
            store(pointer(&span), (const char *)data + done, n);
    }
    return 0;
}

static int read_hook(void *user, uint64_t addr, void *out, size_t bytes)
{
    (void)user;
    return tp_process_read(addr, out, bytes);
}

static int write_hook(void *user, uint64_t addr, const void *data, size_t bytes)
{
    (void)user;
    return tp_process_write(addr, data, bytes);
}

static void log_run(const struct tp_kgsl_job *job, const struct tp_gpu_record *r, const char *how)
{
    struct tp_kgsl_line line;
    tp_kgsl_line_begin(&line, "gpu");
    if (!line.on)
        return;
    tp_kgsl_line_number(&line, "context", job->context->id);
    tp_kgsl_line_number(&line, "timestamp", job->timestamp);
    tp_kgsl_line_text(&line, "end", how);
    tp_kgsl_line_number(&line, "packets", r->packets);
    tp_kgsl_line_number(&line, "draws", r->draws);
    tp_kgsl_line_number(&line, "dispatches", r->dispatches);
    tp_kgsl_line_number(&line, "blits", r->blits);
    tp_kgsl_line_number(&line, "events", r->events);
    tp_kgsl_line_number(&line, "memory_writes", r->memory_writes);
    tp_kgsl_line_number(&line, "sysmem_passes", r->sysmem_passes);
    tp_kgsl_line_number(&line, "gmem_tiles", r->gmem_tiles);
    tp_kgsl_line_number(&line, "binning_passes", r->binning_passes);
    tp_kgsl_line_number(&line, "faults", r->faults);
    tp_kgsl_line_number(&line, "bad_packets", r->bad_packets);
    tp_kgsl_line_list(&line, "registers");
    for (size_t i = 0; i < r->watch_count; i++) {
        if (!r->watches[i].writes || !tp_kgsl_line_item(&line))
            continue;
        tp_kgsl_line_hex(&line, "register", r->watches[i].reg);
        tp_kgsl_line_number(&line, "writes", r->watches[i].writes);
        tp_kgsl_line_hex(&line, "last", r->watches[i].last);
        tp_kgsl_line_hex(&line, "ever", r->watches[i].ever);
        tp_kgsl_line_hex(&line, "always", r->watches[i].always);
    }
    tp_kgsl_line_list_end(&line);
    tp_kgsl_line_end(&line);
}

static void begin(struct tp_kgsl_job *job)
{
    struct tp_gpu_record *record = &job->context->record;
    memset(record, 0, sizeof *record);
    for (size_t i = 0; i < tp_process.settings.watch_count; i++)
        tp_gpu_watch(record, tp_process.settings.watches[i]);
    tp_gpu_begin_submit(&job->context->gpu);
}

/* The profiling buffer's last two values; the others are there since the submit. */
static void profile(const struct tp_kgsl_job *job, int64_t now)
{
    struct tp_kgsl_profiling_buffer *at = NULL;
    uint64_t ticks[2] = {TICKS(job->started), TICKS(now)};
    if (job->profile)
        tp_process_write(job->profile + (uintptr_t)&at->gpu_ticks_submitted, ticks, sizeof ticks);
}

enum tp_gpu_state tp_process_execute(void *user, struct tp_kgsl_job *job, int64_t now)
{
    const struct tp_gpu_memory memory = {NULL, read_hook, write_hook};
    struct tp_kgsl_context *context = job->context;
    enum tp_gpu_state state = TP_GPU_DONE;
    (void)user;
    if (!job->begun && !job->command_next)
        begin(job);
    while (state == TP_GPU_DONE && job->command_next < job->command_count) {
        const struct tp_kgsl_command *command = &job->commands[job->command_next];
        if (!job->begun)
            tp_gpu_start(&context->gpu, command->addr, command->bytes);
        job->begun = true;
        state = tp_gpu_run(&context->gpu, &memory, TICKS(now), &context->record);
        if (state == TP_GPU_DONE) {
            job->begun = false;
            job->command_next++;
        }
    }
    if (state == TP_GPU_WAITING)
        return state;
    profile(job, now);
    tp_process.gpu_faults += context->record.faults;
    tp_process.bad_packets += context->record.bad_packets;
    log_run(job, &context->record, state == TP_GPU_DONE ? "done" : "endless");
    return state;
}

void tp_process_signal(void *user, int fd, int error)
{
    (void)user;
    (void)error; /* an eventfd can only say that it is over */
    tp_kgsl_fence_signal(fd);
}

void tp_process_drop(void *user, int fd)
{
    (void)user;
    tp_real_close(fd);
}

void tp_process_release(void *user, const struct tp_kgsl_buffer *buffer)
{
    (void)user;
    if (buffer->kind == TP_KGSL_PAGES) {
        /* Zeros for the next owner, memory for the machine. */
        off_t at = (off_t)buffer->id * TP_KGSL_PAGE;
        if (syscall(SYS_fallocate, tp_process.arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    at, (off_t)buffer->size))
            memset(tp_process.arena + at, 0, buffer->size);
    } else if (buffer->kind == TP_KGSL_IMPORTED) {
        struct import *import = (struct import *)(uintptr_t)buffer->backing;
        if (import->map)
            munmap(import->map, import->size);
        tp_real_close(import->fd);
        free(import);
    }
}

void tp_process_lost(void *user, uint32_t context, uint32_t timestamp, const char *why)
{
    struct tp_kgsl_line line;
    (void)user;
    tp_kgsl_line_begin(&line, "lost");
    tp_kgsl_line_number(&line, "context", context);
    tp_kgsl_line_number(&line, "timestamp", timestamp);
    tp_kgsl_line_text(&line, "why", why);
    tp_kgsl_line_end(&line);
}

int tp_process_import(int fd, uint64_t flags, struct tp_kgsl_buffer **out)
{
    struct import *import = calloc(1, sizeof *import);
    off_t size = lseek(fd, 0, SEEK_END);
    int r = !import ? -ENOMEM : size <= 0 ? -EINVAL : 0;
    if (!r) {
        import->fd = tp_kgsl_dup_high(fd);
        import->size = (uint64_t)size;
        r = import->fd < 0 ? import->fd : 0;
    }
    if (!r) {
        r = tp_kgsl_import(tp_process.device, (uintptr_t)import, (uint64_t)size, flags, out);
        if (r)
            tp_real_close(import->fd);
    }
    if (r)
        free(import);
    return r;
}
