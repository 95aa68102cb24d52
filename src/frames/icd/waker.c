#include "frames/icd/waker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "frames/icd/clock.h"

/* futex_waitv, of Linux 5.16 (include/uapi/linux/futex.h). */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define WAIT_32_BITS 2u
struct wait_word {
    uint64_t value, address;
    uint32_t flags, reserved;
};

/* How often a word is looked at where the kernel cannot sleep on two, and beside a fence. */
#define SLICE_NS INT64_C(500000)
#define FENCE_SLICE_NS INT64_C(20000000)

void tp_waker_init(struct tp_waker *w)
{
    *w = (struct tp_waker){.event = -1};
    pthread_cond_init(&w->awake, NULL);
}

void tp_waker_finish(struct tp_waker *w)
{
    if (w->event >= 0)
        close(w->event);
    pthread_cond_destroy(&w->awake);
}

static long futex(const _Atomic uint32_t *word, int op, uint32_t value, const struct timespec *t)
{
    return syscall(
        SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, t, NULL, FUTEX_BITSET_MATCH_ANY);
}

void tp_waker_wake(struct tp_waker *w)
{
    uint64_t one = 1;

    atomic_fetch_add_explicit(&w->count, 1, memory_order_release);
    if (!w->asleep)
        return;
    w->asleep = false; /* once will do: it looks again with the lock */
    if (!w->on_event)
        futex(&w->count, FUTEX_WAKE, 1, NULL);
    else if (write(w->event, &one, sizeof one) < 0)
        return; /* full: it is readable all the same */
}

void tp_waker_leave_board(struct tp_waker *w, pthread_mutex_t *lock)
{
    while (w->on_board) {
        tp_waker_wake(w);
        pthread_cond_wait(&w->awake, lock);
    }
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

static void sleep_on_fence(struct tp_waker *w, int fence, int64_t until_ns)
{
    struct pollfd fds[2] = {{.fd = fence, .events = POLLIN}, {.fd = w->event, .events = POLLIN}};
    int64_t left = until_ns == INT64_MAX ? INT64_MAX : until_ns - tp_icd_now_ns();
    struct timespec t = timespec_of(left < 0 ? 0 : left);
    uint64_t woken;

    if (ppoll(fds, 2, left == INT64_MAX ? NULL : &t, NULL) > 0 && fds[1].revents &&
        read(w->event, &woken, sizeof woken) < 0)
        return;
}

static void sleep_on_words(const _Atomic uint32_t *own, uint32_t count,
    const _Atomic uint32_t *board, uint32_t low, int64_t until_ns)
{
    struct wait_word words[2] = {
        {.value = count, .address = (uintptr_t)own, .flags = WAIT_32_BITS | FUTEX_PRIVATE_FLAG},
        {.value = low, .address = (uintptr_t)board, .flags = WAIT_32_BITS},
    };
    struct timespec t = timespec_of(until_ns);
    const struct timespec *until = until_ns == INT64_MAX ? NULL : &t;

    if (board) {
        if (syscall(SYS_futex_waitv, words, 2, 0, until, CLOCK_MONOTONIC) >= 0 || errno != ENOSYS)
            return;
        int64_t slice = tp_icd_now_ns() + SLICE_NS;
        if (slice < until_ns) {
            t = timespec_of(slice);
            until = &t;
        }
    }
    futex(own, FUTEX_WAIT_BITSET, count, until);
}

void tp_waker_sleep(struct tp_waker *w, pthread_mutex_t *lock, const struct tp_slots_wait *wait,
    const struct tp_board_view *board)
{
    /* The fence may be closed by whoever brings news of it. */
    int fence = wait->fence >= 0 ? fcntl(wait->fence, F_DUPFD_CLOEXEC, 3) : -1;
    const _Atomic uint32_t *word =
        board && wait->board_index >= 0 && (unsigned)wait->board_index < board->n_words
        ? &board->halves[wait->board_index * 2]
        : NULL;
    int64_t until = wait->until_ns;
    uint32_t count = atomic_load_explicit(&w->count, memory_order_relaxed);

    if (fence >= 0 && w->event < 0)
        w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->asleep = true;
    w->on_event = fence >= 0 && w->event >= 0;
    w->on_board = !w->on_event && word;
    bool on_event = w->on_event;
    pthread_mutex_unlock(lock);
    if (on_event) {
        int64_t slice = tp_icd_now_ns() + FENCE_SLICE_NS;
        sleep_on_fence(w, fence, word && slice < until ? slice : until);
    } else {
        /* A fence that could not be kept is looked at now and then. */
        int64_t slice = tp_icd_now_ns() + SLICE_NS;
        sleep_on_words(&w->count, count, word, wait->board_low,
            wait->fence >= 0 && slice < until ? slice : until);
    }
    if (fence >= 0)
        close(fence);
    pthread_mutex_lock(lock);
    w->asleep = w->on_event = w->on_board = false;
    pthread_cond_broadcast(&w->awake);
}
