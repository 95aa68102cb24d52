/*
 * Fences as descriptors. What this side gives out is one end of a pair of sockets, signalled when
 * the other end, which nobody but us has, is closed: then it polls readable for ever, and for
 * everyone who has it. It holds no count that a reader could take or a writer fill, so that
 * signalling it never blocks; whoever has it can shut it down, which signals it too early, but
 * nobody can undo a signal.
 */
#include "frames/kms/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE /* Linux 6.0 */
struct dma_buf_export_sync_file {
    uint32_t flags;
    int32_t fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#endif

int tp_fence_pair(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    shutdown(ends[0], SHUT_RD); /* who writes into the other end gets EPIPE: nothing piles up */
    return 0;
}

/* One of the above: a pair that this process has made. Other sockets of its own are of other types,
 * and a client's were made by the client. */
static bool is_ours(int fd)
{
    struct ucred maker = {0};
    int type = 0, domain = 0;
    socklen_t n = sizeof type, m = sizeof domain, k = sizeof maker;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &m) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &k) == 0 && maker.pid == getpid();
}

/* The file's name, which no file system is asked for: a client's may never answer. */
static bool is_named(int fd, const char *name, bool whole)
{
    char path[32], is[32] = "";
    size_t n = strlen(name);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(path, is, sizeof is);
    return got >= (ssize_t)n && !memcmp(is, name, n) && (!whole || got == (ssize_t)n);
}

bool tp_is_eventfd(int fd)
{
    return is_named(fd, "anon_inode:[eventfd]", true);
}

bool tp_is_fence(int fd)
{
    if (fd < 0)
        return false;
    if (is_named(fd, "anon_inode:sync_file", true) || tp_is_eventfd(fd))
        return true;
    if (is_named(fd, "pipe:[", false))
        return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    return is_named(fd, "socket:[", false) && is_ours(fd);
}

/* Both are moved; -1 is none. */
static int merge(int a, int b)
{
    struct sync_merge_data m = {.name = "writers", .fd2 = b};
    if (a < 0)
        return b;
    int fd = ioctl(a, SYNC_IOC_MERGE, &m) == 0 ? m.fence : dup(a);
    close(a);
    close(b);
    return fd;
}

int tp_fence_of_writers(const struct tp_kms_fb *fb)
{
    int all = -1;
    for (unsigned i = 0; i < fb->format->n_planes; i++) {
        int memory = fb->buffers[i]->fd;
        struct pollfd p = {.fd = memory, .events = POLLIN};
        struct dma_buf_export_sync_file writers = {.flags = DMA_BUF_SYNC_READ};
        bool again = i > 0 && fb->buffers[i] == fb->buffers[i - 1];
        /* A dma-buf is readable when its writers are through, and a memfd always. */
        if (!again && poll(&p, 1, 0) == 0 &&
            ioctl(memory, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &writers) == 0)
            all = merge(all, writers.fd);
    }
    return all;
}
