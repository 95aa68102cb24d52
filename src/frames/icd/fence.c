#include "frames/icd/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Of Linux 6.0 (include/uapi/linux/dma-buf.h). */
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file {
    uint32_t flags;
    int32_t fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#endif

static bool wait_for(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n;

    do
        n = poll(&p, 1, timeout_ms);
    while (n < 0 && (errno == EINTR || errno == EAGAIN));
    return n != 0;
}

bool tp_fence_signalled(int fd)
{
    return fd < 0 || wait_for(fd, 0);
}

void tp_fence_wait(int fd)
{
    if (fd >= 0)
        wait_for(fd, -1);
}

void tp_fence_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

int tp_fence_copy(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    return copy < 0 ? -errno : copy;
}

int tp_fence_merge(int a, int b)
{
    struct sync_merge_data data = {.name = "turnpike", .fd2 = b};

    return ioctl(a, SYNC_IOC_MERGE, &data) ? -errno : data.fence;
}

int64_t tp_fence_time_ns(int fd)
{
    struct sync_fence_info fences[16];
    struct sync_file_info info = {.num_fences = 16, .sync_fence_info = (uintptr_t)fences};
    int64_t last = INT64_MIN;

    memset(fences, 0, sizeof fences);
    if (ioctl(fd, SYNC_IOC_FILE_INFO, &info) || info.status != 1)
        return INT64_MIN;
    for (uint32_t i = 0; i < info.num_fences && i < 16; i++) {
        if ((int64_t)fences[i].timestamp_ns > last)
            last = (int64_t)fences[i].timestamp_ns;
    }
    return last;
}

int tp_fence_export(int dmabuf)
{
    struct dma_buf_export_sync_file export = {.flags = DMA_BUF_SYNC_WRITE, .fd = -1};

    return ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export) ? -errno : export.fd;
}

bool tp_fence_can_export(void)
{
    struct utsname u;
    unsigned major = 0;

    return !uname(&u) && sscanf(u.release, "%u", &major) == 1 && major >= 6;
}
