#include "frames/shim/fds.h"

#include <stdatomic.h>

#define KIND_BITS 3

static _Atomic(uint32_t) table[TP_FDS];
static atomic_int end;

static uint32_t pack(struct tp_fd f)
{
    return (uint32_t)f.kind | f.number << KIND_BITS;
}

static struct tp_fd unpack(uint32_t v)
{
    return (struct tp_fd){(enum tp_fd_kind)(v & ((1u << KIND_BITS) - 1)), v >> KIND_BITS};
}

static void raise_end(int fd)
{
    int seen = atomic_load(&end);

    while (seen <= fd && !atomic_compare_exchange_weak(&end, &seen, fd + 1))
        ;
}

struct tp_fd tp_fds_get(int fd)
{
    if (fd < 0 || fd >= TP_FDS)
        return (struct tp_fd){fd < 0 ? TP_FD_UNKNOWN : TP_FD_OTHER, 0};
    return unpack(atomic_load_explicit(&table[fd], memory_order_acquire));
}

bool tp_fds_set(int fd, struct tp_fd was, struct tp_fd now)
{
    uint32_t expected = pack(was);

    if (fd < 0 || fd >= TP_FDS)
        return false;
    raise_end(fd);
    return atomic_compare_exchange_strong(&table[fd], &expected, pack(now));
}

struct tp_fd tp_fds_take(int fd)
{
    if (fd < 0 || fd >= TP_FDS || atomic_load_explicit(&table[fd], memory_order_relaxed) == 0)
        return (struct tp_fd){TP_FD_UNKNOWN, 0};
    return unpack(atomic_exchange(&table[fd], 0));
}

void tp_fds_set_own(int fd)
{
    if (fd < 0 || fd >= TP_FDS)
        return;
    raise_end(fd);
    atomic_store(&table[fd], pack((struct tp_fd){TP_FD_OWN, 0}));
}

void tp_fds_clear_own(int fd)
{
    tp_fds_set(fd, (struct tp_fd){TP_FD_OWN, 0}, (struct tp_fd){TP_FD_UNKNOWN, 0});
}

int tp_fds_end(void)
{
    return atomic_load(&end);
}
