/* Fences that others signal: jobs and merged fences wait for them. */
#include "process_internal.h"

#include "fence.h"
#include "real.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* More are looked at when the next thing is due. */
#define POLLED 128

void tp_process_arrivals(void)
{
    int fds[POLLED];
    size_t n = tp_kgsl_awaited(tp_process.device, fds, POLLED);
    for (size_t i = 0; i < n; i++) {
        if (tp_kgsl_fence_is_signalled(fds[i]))
            tp_kgsl_arrived(tp_process.device, fds[i]);
    }
}

static void come(int *fd)
{
    if (*fd >= 0 && tp_kgsl_fence_is_signalled(*fd)) {
        tp_real_close(*fd);
        *fd = -1;
    }
}

void tp_process_joins(void)
{
    struct tp_process *p = &tp_process;
    /* Merged fences are often merged again: one pass in their order settles them. */
    for (size_t i = 0; i < p->join_count;) {
        struct tp_join *join = &p->joins[i];
        come(&join->a);
        come(&join->b);
        if (join->a >= 0 || join->b >= 0) {
            i++;
            continue;
        }
        if (join->signal >= 0)
            tp_kgsl_fence_signal(join->signal);
        if (join->buffer && tp_kgsl_find(p->device, join->buffer))
            tp_kgsl_free(p->device, join->buffer);
        for (size_t k = i + 1; k < p->join_count; k++)
            p->joins[k - 1] = p->joins[k];
        p->join_count--;
    }
}

/* Takes over JOIN's descriptors. */
static int add_join(struct tp_join join)
{
    struct tp_process *p = &tp_process;
    if (p->join_count == p->join_capacity) {
        size_t capacity = p->join_capacity ? 2 * p->join_capacity : 16;
        struct tp_join *grown = realloc(p->joins, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        p->joins = grown;
        p->join_capacity = capacity;
    }
    p->joins[p->join_count++] = join;
    tp_process_kick();
    return 0;
}

static void close_join(const struct tp_join *join)
{
    const int fds[] = {join->a, join->b, join->signal};
    for (size_t i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            tp_real_close(fds[i]);
    }
}

int tp_process_merge(int a, int b)
{
    struct tp_join join = {.a = tp_kgsl_dup_high(a), .b = tp_kgsl_dup_high(b), .signal = -1};
    int fd = -1;
    int r = join.a < 0 ? join.a : join.b < 0 ? join.b : tp_kgsl_fence_create(&fd, &join.signal);
    if (!r)
        r = add_join(join);
    if (!r)
        return fd;
    close_join(&join);
    if (fd >= 0)
        tp_real_close(fd);
    return r;
}

int tp_process_free_after_fence(uint32_t id, int fd)
{
    struct tp_join join = {.a = tp_kgsl_dup_high(fd), .b = -1, .signal = -1, .buffer = id};
    if (!tp_kgsl_find(tp_process.device, id) || !tp_kgsl_fence_is(fd)) {
        close_join(&join);
        return -EINVAL;
    }
    int r = join.a < 0 ? join.a : add_join(join);
    if (r)
        close_join(&join);
    return r;
}

void tp_process_poll(void)
{
    struct tp_process *p = &tp_process;
    struct pollfd polled[2 * POLLED + 1] = {{.fd = p->wake_fd, .events = POLLIN}};
    nfds_t count = 1;
    int fds[POLLED];
    uint64_t woken;
    size_t n = p->device ? tp_kgsl_awaited(p->device, fds, POLLED) : 0;
    for (size_t i = 0; i < n; i++)
        polled[count++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    for (size_t i = 0; i < p->join_count && count + 2 < 2 * POLLED; i++) {
        int fd = p->joins[i].a >= 0 ? p->joins[i].a : p->joins[i].b;
        polled[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    int64_t left = p->again - tp_process_now();
    if (left < 0)
        left = 0;
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    bool forever = !p->device || p->again == INT64_MAX;
    tp_process_unlock();
    /* What this finds is looked at again under the lock: descriptors may change their meaning. */
    ppoll(polled, count, forever ? NULL : &timeout, NULL);
    tp_process_lock();
    if (read(p->wake_fd, &woken, sizeof woken) < 0)
        woken = 0;
}
