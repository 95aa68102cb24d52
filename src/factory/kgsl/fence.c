#include "fence.h"

#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HIGH_FD 200

int tp_kgsl_dup_high(int fd)
{
    int high = tp_real_fcntl(fd, F_DUPFD_CLOEXEC, (void *)(intptr_t)HIGH_FD);
    if (high < 0)
        high = tp_real_fcntl(fd, F_DUPFD_CLOEXEC, NULL);
    return high < 0 ? -errno : high;
}

int tp_kgsl_fence_create(int *fd, int *signal)
{
    int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0)
        return -errno;
    int r = tp_real_fcntl(made, F_SETFL, (void *)(intptr_t)(O_APPEND | O_NONBLOCK)) < 0 ? -errno : 0;
    if (!r) {
        *signal = tp_kgsl_dup_high(made);
        r = *signal < 0 ? *signal : 0;
    }
    if (r) {
        tp_real_close(made);
        return r;
    }
    *fd = made;
    return 0;
}

void tp_kgsl_fence_signal(int signal)
{
    uint64_t one = 1;
    /* Only a full counter refuses, and then it is signalled. */
    ssize_t n = write(signal, &one, sizeof one);
    (void)n;
    tp_real_close(signal);
}

bool tp_kgsl_fence_is(int fd)
{
    char path[40], target[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return false;
    target[n] = '\0';
    if (strstr(target, "sync_file"))
        return true;
    int flags = tp_real_fcntl(fd, F_GETFL, NULL);
    return strstr(target, "[eventfd]") && flags >= 0 && (flags & O_APPEND);
}

bool tp_kgsl_fence_is_signalled(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static void describe(int fd, struct tp_sync_fence_info *info)
{
    memset(info, 0, sizeof *info);
    snprintf(info->obj_name, sizeof info->obj_name, "turnpike");
    snprintf(info->driver_name, sizeof info->driver_name, "kgsl-timeline");
    info->status = tp_kgsl_fence_is_signalled(fd);
}

int tp_kgsl_fence_info(int fd, struct tp_sync_file_info *info)
{
    if (info->flags || info->pad)
        return -EINVAL;
    if (info->num_fences) {
        if (!info->sync_fence_info)
            return -EFAULT;
        describe(fd, (struct tp_sync_fence_info *)(uintptr_t)info->sync_fence_info);
    }
    memset(info->name, 0, sizeof info->name);
    snprintf(info->name, sizeof info->name, "turnpike-fence");
    info->status = tp_kgsl_fence_is_signalled(fd);
    info->num_fences = 1;
    return 0;
}
