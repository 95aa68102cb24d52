#include "frames/shim/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum mark { FRESH = 0, SETTLING, SETTLED };

/* A page that the kernel (4.14 and later) clears in a child; else a word beside the process's id. */
static _Atomic(atomic_int *) page;
static atomic_int plain;
static atomic_int owner;

/* Emulators of a kernel accept the advice and do nothing. */
static void in_child(void)
{
    atomic_int *mark = atomic_load(&page);

    if (mark)
        atomic_store(mark, FRESH);
}

void tp_process_load(void)
{
    pthread_atfork(NULL, NULL, in_child);
    tp_process_check();
}

static atomic_int *make_page(void)
{
    atomic_int *none = NULL, *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (made == MAP_FAILED)
        return &plain;
    if (madvise(made, sizeof *made, MADV_WIPEONFORK) < 0) {
        munmap(made, sizeof *made);
        made = &plain;
    }
    atomic_store(made, SETTLED);
    atomic_store(&owner, getpid());
    if (atomic_compare_exchange_strong(&page, &none, made))
        return made;
    if (made != &plain)
        munmap(made, sizeof *made);
    return none;
}

enum tp_process tp_process_check(void)
{
    atomic_int *mark = atomic_load_explicit(&page, memory_order_acquire);
    int state;

    if (!mark)
        mark = make_page();
    if (mark == &plain) { /* a child of vfork is taken for one of fork here */
        int pid = getpid(), was = atomic_load(&owner);

        if (was != pid && atomic_compare_exchange_strong(&owner, &was, pid))
            atomic_store(mark, FRESH);
    }
    state = atomic_load_explicit(mark, memory_order_acquire);
    if (state == SETTLED)
        return TP_PROCESS_KNOWN;
    if (state == FRESH && atomic_compare_exchange_strong(mark, &state, SETTLING))
        return TP_PROCESS_FORKED;
    return TP_PROCESS_SETTLING;
}

void tp_process_settle(void)
{
    atomic_store(&owner, getpid());
    atomic_store_explicit(atomic_load(&page), SETTLED, memory_order_release);
}

bool tp_process_is_borrowed(void)
{
    atomic_int *mark = atomic_load(&page);

    return mark && atomic_load(mark) == SETTLED && atomic_load(&owner) != getpid();
}
