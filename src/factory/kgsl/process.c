#include "process.h"

#include "fds.h"
#include "fence.h"
#include "log.h"
#include "process_internal.h"
#include "real.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#endif

struct tp_process tp_process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .arena_fd = -1,
    .wake_fd = -1,
};

int64_t tp_process_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct tp_kgsl_device *tp_process_device(void)
{
    return tp_process.device;
}

struct tp_kgsl_faults *tp_process_faults(void)
{
    return &tp_process.settings.faults;
}

void tp_process_lock(void)
{
    pthread_mutex_lock(&tp_process.lock);
}

void tp_process_unlock(void)
{
    pthread_mutex_unlock(&tp_process.lock);
}

static void init_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&tp_process.changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* A child has its parent's memory, but neither its thread nor its device: what it inherits is
 * dead, and it may open a device of its own. */
static void forked(void)
{
    struct tp_process *p = &tp_process;
    if (p->arena) {
        munmap(p->arena, TP_KGSL_ARENA_BYTES);
        tp_fds_clear(p->arena_fd);
        tp_fds_clear(p->wake_fd);
        tp_real_close(p->arena_fd);
        tp_real_close(p->wake_fd);
    }
    p->arena = NULL;
    p->arena_fd = p->wake_fd = -1;
    p->device = NULL; /* belongs to the parent's work: its fences are not the child's to signal */
    p->joins = NULL;
    p->join_count = p->join_capacity = 0;
    p->worker = p->stop = false;
    tp_fds_forget();
    init_condition(); /* whoever waited on it is not here */
    tp_process_unlock();
}

static void once(void)
{
    init_condition();
    pthread_atfork(tp_process_lock, tp_process_unlock, forked);
}

/* A wrong setting must not be passed over: the client gets no device, and its user the reason. */
static int settings(void)
{
    static pthread_once_t first = PTHREAD_ONCE_INIT;
    struct tp_process *p = &tp_process;
    char why[240], text[280];
    pthread_once(&first, once);
    if (p->settled)
        return p->settled_error;
    p->settled = true;
    p->settled_error = tp_kgsl_settings_read(&p->settings, getenv, why, sizeof why);
    const char *path = getenv("TURNPIKE_KGSL_LOG");
    if (!p->settled_error && path && *path) {
        p->settled_error = tp_kgsl_log_open(path);
        if (p->settled_error)
            snprintf(why, sizeof why, "TURNPIKE_KGSL_LOG=%.150s: cannot be opened", path);
        tp_fds_set(tp_kgsl_log_fd(), TP_FD_OWN, 0);
    }
    if (p->settled_error) {
        int n = snprintf(text, sizeof text, "turnpike-kgsl: %s\n", why);
        if (write(STDERR_FILENO, text, (size_t)n) < 0)
            return p->settled_error;
    }
    return p->settled_error;
}

static int make_arena(void)
{
    struct tp_process *p = &tp_process;
    int fd = (int)syscall(SYS_memfd_create, "kgsl-3d0", MFD_CLOEXEC);
    int r = fd < 0 ? -errno : 0;
    if (!r && ftruncate(fd, (off_t)TP_KGSL_ARENA_BYTES))
        r = -errno;
    if (!r) {
        p->arena = tp_real_mmap(NULL, TP_KGSL_ARENA_BYTES, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_NORESERVE, fd, 0);
        r = p->arena == MAP_FAILED ? -errno : 0;
    }
    if (!r) {
        p->arena_fd = tp_kgsl_dup_high(fd);
        int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        p->wake_fd = wake < 0 ? -1 : tp_kgsl_dup_high(wake);
        if (wake >= 0)
            tp_real_close(wake);
        tp_fds_set(p->arena_fd, TP_FD_OWN, 0);
        tp_fds_set(p->wake_fd, TP_FD_OWN, 0);
        r = p->arena_fd < 0 || p->wake_fd < 0 ? -EMFILE : 0;
    }
    if (fd >= 0)
        tp_real_close(fd);
    if (r)
        p->arena = NULL;
    return r;
}

static const struct tp_kgsl_hooks hooks = {
    .execute = tp_process_execute,
    .signal = tp_process_signal,
    .drop = tp_process_drop,
    .release = tp_process_release,
    .lost = tp_process_lost,
};

int tp_process_open(bool close_on_exec)
{
    struct tp_process *p = &tp_process;
    int r = settings();
    if (r)
        return r;
    struct tp_kgsl_verdict verdict = tp_kgsl_faults_next(&p->settings.faults, TP_KGSL_SITE_OPEN);
    if (verdict.error)
        return verdict.error;
    if (!p->arena)
        r = make_arena();
    if (!r && !p->device) {
        p->device = tp_kgsl_device_create(&p->settings.config, &hooks);
        r = p->device ? 0 : -ENOMEM;
    }
    if (r)
        return r;
    int fd = tp_real_fcntl(p->arena_fd, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, NULL);
    return fd < 0 ? -errno : fd;
}

void tp_process_step(void)
{
    struct tp_process *p = &tp_process;
    if (!p->device)
        return;
    const struct tp_kgsl_books *books = tp_kgsl_device_books(p->device);
    uint64_t before = books->retired + books->lost;
    tp_process_arrivals();
    p->again = tp_kgsl_step(p->device, tp_process_now());
    tp_process_joins();
    if (books->retired + books->lost != before)
        pthread_cond_broadcast(&p->changed);
}

static void *work(void *nothing)
{
    (void)nothing;
    tp_process_lock();
    while (!tp_process.stop) {
        tp_process_step();
        tp_process_poll(); /* unlocks meanwhile */
    }
    tp_process_unlock();
    return NULL;
}

/* A thread that takes no signals: they are the client's. */
static bool start_worker(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int r = pthread_create(&tp_process.thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !r;
}

void tp_process_kick(void)
{
    struct tp_process *p = &tp_process;
    uint64_t one = 1;
    int fd;
    tp_process_step();
    pthread_cond_broadcast(&p->changed);
    if (p->again == INT64_MAX && !p->join_count && !tp_kgsl_awaited(p->device, &fd, 1))
        return;
    if (!p->worker && !p->stop)
        p->worker = start_worker();
    if (write(p->wake_fd, &one, sizeof one) < 0)
        return; /* full: the thread is awake anyway */
}

void tp_process_sleep(int64_t deadline)
{
    struct tp_process *p = &tp_process;
    int64_t until = deadline < p->again ? deadline : p->again;
    struct timespec at = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    if (until == INT64_MAX)
        pthread_cond_wait(&p->changed, &p->lock);
    else
        pthread_cond_timedwait(&p->changed, &p->lock, &at);
}

static void log_counts(struct tp_kgsl_line *line, const struct tp_kgsl_books *b)
{
    const struct {
        const char *key;
        uint64_t value;
    } fields[] = {
        {"buffers_peak", b->buffers_peak},
        {"bytes_peak", b->bytes_peak},
        {"allocations", b->allocations},
        {"imports", b->imports},
        {"frees", b->frees},
        {"contexts_created", b->contexts_created},
        {"timelines_created", b->timelines_created},
        {"submits", b->submits},
        {"markers", b->markers},
        {"retired", b->retired},
        {"lost", b->lost},
        {"constraints", b->constraints},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        tp_kgsl_line_number(line, fields[i].key, fields[i].value);
}

void tp_process_log_books(const char *call, const struct tp_kgsl_books *leaks)
{
    struct tp_kgsl_line line;
    tp_kgsl_line_begin(&line, call);
    tp_kgsl_line_number(&line, "files", leaks->files);
    tp_kgsl_line_number(&line, "leaked_buffers", leaks->buffers);
    tp_kgsl_line_number(&line, "leaked_bytes", leaks->bytes);
    tp_kgsl_line_number(&line, "leaked_contexts", leaks->contexts);
    tp_kgsl_line_number(&line, "leaked_timelines", leaks->timelines);
    tp_kgsl_line_number(&line, "pending_jobs", leaks->jobs);
    tp_kgsl_line_number(&line, "pending_fences", leaks->fences);
    tp_kgsl_line_number(&line, "gpu_faults", tp_process.gpu_faults);
    tp_kgsl_line_number(&line, "bad_packets", tp_process.bad_packets);
    log_counts(&line, tp_kgsl_device_books(tp_process.device));
    tp_kgsl_line_end(&line);
}

/* The process ends: the thread too, and files that were never closed show. */
__attribute__((destructor)) static void leave(void)
{
    struct tp_process *p = &tp_process;
    uint64_t one = 1;
    tp_process_lock();
    p->stop = true;
    bool worker = p->worker;
    p->worker = false;
    if (worker && write(p->wake_fd, &one, sizeof one) < 0)
        worker = false;
    tp_process_unlock();
    if (worker)
        pthread_join(p->thread, NULL);
    tp_process_lock();
    if (p->device && tp_kgsl_device_books(p->device)->files)
        tp_process_log_books("exit", tp_kgsl_device_books(p->device));
    tp_process_unlock();
}
