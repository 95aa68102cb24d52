/*
 * Adding to a client's eventfd as the kernel does, which never blocks: by the end of an
 * asynchronous read. A write would wait while the count is full, and the client may fill it, and
 * clear O_NONBLOCK, between any look and the write.
 */
#include "frames/kms/eventfd.h"

#include <stdbool.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void tp_eventfds_init(struct tp_eventfds *t)
{
    *t = (struct tp_eventfds){.file = memfd_create("turnpike-eventfd", MFD_CLOEXEC)};
    if (t->file >= 0 && syscall(SYS_io_setup, 1u, &t->context) < 0)
        t->context = 0;
}

void tp_eventfds_finish(struct tp_eventfds *t)
{
    if (t->file < 0)
        return;
    if (t->context)
        syscall(SYS_io_destroy, t->context);
    close(t->file);
    *t = (struct tp_eventfds){.file = -1};
}

static bool add_by_read(struct tp_eventfds *t, int fd)
{
    char nothing;
    struct iocb read = {
        .aio_lio_opcode = IOCB_CMD_PREAD,
        .aio_fildes = (uint32_t)t->file,
        .aio_buf = (uintptr_t)&nothing,
        .aio_nbytes = 1, /* of an empty file */
        .aio_flags = IOCB_FLAG_RESFD,
        .aio_resfd = (uint32_t)fd,
    };
    struct iocb *list[] = {&read};
    struct io_event done;
    if (!t->context || syscall(SYS_io_submit, t->context, 1l, list) != 1)
        return false;
    syscall(SYS_io_getevents, t->context, 0l, 1l, &done, &(struct timespec){0}); /* done already */
    return true;
}

void tp_eventfds_add(struct tp_eventfds *t, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (add_by_read(t, fd))
        return;
    if (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT))
        eventfd_write(fd, 1);
}
