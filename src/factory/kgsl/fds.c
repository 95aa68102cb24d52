#include "fds.h"

#include <errno.h>
#include <stdatomic.h>

#define FDS 65536

static _Atomic unsigned char kinds[FDS];
static uint32_t files[FDS];
static int highest;

enum tp_fd_kind tp_fds_kind(int fd)
{
    if (fd < 0 || fd >= FDS)
        return TP_FD_OTHER;
    return (enum tp_fd_kind)atomic_load_explicit(&kinds[fd], memory_order_acquire);
}

int tp_fds_set(int fd, enum tp_fd_kind kind, uint32_t file)
{
    if (fd < 0 || fd >= FDS)
        return -EMFILE;
    files[fd] = file;
    if (fd > highest)
        highest = fd;
    atomic_store_explicit(&kinds[fd], (unsigned char)kind, memory_order_release);
    return 0;
}

uint32_t tp_fds_file(int fd)
{
    return fd < 0 || fd >= FDS ? 0 : files[fd];
}

unsigned tp_fds_clear(int fd)
{
    unsigned others = 0;
    if (fd < 0 || fd >= FDS)
        return 0;
    for (int i = 0; i <= highest; i++)
        others += i != fd && tp_fds_kind(i) == TP_FD_KGSL && files[i] == files[fd];
    atomic_store_explicit(&kinds[fd], TP_FD_OTHER, memory_order_release);
    return others;
}

void tp_fds_forget(void)
{
    for (int i = 0; i <= highest; i++) {
        if (tp_fds_kind(i) == TP_FD_KGSL)
            tp_fds_set(i, TP_FD_DEAD, 0);
    }
}
