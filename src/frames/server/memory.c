#include "frames/server/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1 */
#endif

static int make(const char *name, uint64_t bytes)
{
    if (bytes == 0 || bytes > INT64_MAX)
        return -EINVAL;
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)bytes) < 0) {
        int err = errno;
        close(fd);
        return -err;
    }
    return fd;
}

/* The same memory as a dma-buf, where the kernel makes one of it; -1. */
static int udmabuf_of(int memfd, uint64_t bytes)
{
    struct udmabuf_create of = {
        .memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes};
    int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return -1;
    int fd = ioctl(device, UDMABUF_CREATE, &of);
    close(device);
    return fd;
}

int tp_memory_create(uint64_t bytes)
{
    int fd = make("turnpike-buffer", bytes);
    if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int err = errno;
        close(fd);
        return -err;
    }
    int dma_buf = fd >= 0 ? udmabuf_of(fd, bytes) : -1;
    if (dma_buf < 0)
        return fd;
    close(fd);
    return dma_buf;
}

int tp_memory_of(const void *bytes, size_t n)
{
    int fd = make("turnpike-file", n);
    for (size_t done = 0; fd >= 0 && done < n;) {
        ssize_t w = pwrite(fd, (const char *)bytes + done, n - done, (off_t)done);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0) {
            int err = errno;
            close(fd);
            return -err;
        }
        done += (size_t)w;
    }
    if (fd >= 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    return fd;
}

int tp_shared_snapshot_init(struct tp_shared_snapshot *s)
{
    char self[40];
    *s = (struct tp_shared_snapshot){.fd = -1};
    int fd = make("turnpike-snapshot", TP_SNAPSHOT_BYTES);
    if (fd < 0)
        return fd;
    void *p = mmap(NULL, TP_SNAPSHOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        int err = errno;
        close(fd);
        return -err;
    }
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) < 0)
        fcntl(fd, F_ADD_SEALS, seals);
    /* A second open of it that cannot be written, even where the kernel knows no such seal. */
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int only_read = open(self, O_RDONLY | O_CLOEXEC);
    if (only_read >= 0) {
        close(fd);
        fd = only_read;
    }
    s->block = p;
    s->fd = fd;
    return 0;
}

void tp_shared_snapshot_finish(struct tp_shared_snapshot *s)
{
    if (s->block)
        munmap(s->block, TP_SNAPSHOT_BYTES);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct tp_shared_snapshot){.fd = -1};
}
