/*
 * The calls that reach the simulated devices: open and its kin by path, the others by descriptor.
 * Everything else goes to the C library. What a client maps is the device's memory itself (a
 * buffer's id is its page), so that mmap is only listened to: USE_CPU_MAP buffers take their GPU
 * address from it.
 */
/* Or else glibc's headers make one symbol of open and open64. */
#undef _FILE_OFFSET_BITS
#ifndef BIONIC_IOCTL_NO_SIGNEDNESS_OVERLOAD
#define BIONIC_IOCTL_NO_SIGNEDNESS_OVERLOAD /* Bionic declares ioctl twice, but for this */
#endif

#include "fds.h"
#include "fence.h"
#include "ioctls.h"
#include "log.h"
#include "process.h"
#include "real.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* What stat tells of the device: a character device of a number that no driver has here. */
#define KGSL_MAJOR 508
#define KGSL_MINOR 0
#define HEAP_MINOR 1

/* As C answers. */
static int answer(int result)
{
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

static enum tp_fd_kind path_kind(const char *path)
{
    if (!path || strncmp(path, "/dev/", 5))
        return TP_FD_OTHER;
    return !strcmp(path, TP_KGSL_PATH) ? TP_FD_KGSL
           : !strcmp(path, TP_DMA_HEAP_PATH) ? TP_FD_HEAP : TP_FD_OTHER;
}

static void log_open(const char *path, int result)
{
    struct tp_kgsl_line line;
    tp_kgsl_line_begin(&line, "open");
    tp_kgsl_line_text(&line, "path", path);
    tp_kgsl_line_result(&line, result);
}

static int open_kgsl(int flags)
{
    tp_process_lock();
    int fd = tp_process_open(flags & O_CLOEXEC);
    if (fd >= 0) {
        int r = tp_fds_set(fd, TP_FD_KGSL, tp_kgsl_file_open(tp_process_device()));
        if (r) {
            tp_kgsl_file_close(tp_process_device(), 0, NULL);
            tp_real_close(fd);
            fd = r;
        }
    }
    tp_process_unlock();
    log_open(TP_KGSL_PATH, fd);
    return answer(fd);
}

static int open_heap(int flags)
{
    int fd = (int)syscall(SYS_memfd_create, "dma_heap", flags & O_CLOEXEC ? 1u : 0u);
    if (fd < 0)
        return -1;
    tp_process_lock();
    int r = tp_fds_set(fd, TP_FD_HEAP, 0);
    tp_process_unlock();
    if (r) {
        tp_real_close(fd);
        fd = r;
    }
    log_open(TP_DMA_HEAP_PATH, fd);
    return answer(fd);
}

/* A descriptor that the C library hands out is none of ours, whatever it was before: one may have
 * been closed past us. */
static int fresh(int fd)
{
    if (tp_fds_kind(fd) != TP_FD_OTHER) {
        tp_process_lock();
        tp_fds_clear(fd);
        tp_process_unlock();
    }
    return fd;
}

static int open_any(int dirfd, const char *path, int flags, mode_t mode)
{
    enum tp_fd_kind kind = path_kind(path);
    if (kind == TP_FD_KGSL)
        return open_kgsl(flags);
    if (kind == TP_FD_HEAP)
        return open_heap(flags);
    if (path && !strcmp(path, "/dev/ion"))
        return answer(-ENOENT); /* the heap is there instead */
    return fresh(tp_real_openat(dirfd, path, flags, mode));
}

static mode_t read_mode(int flags, va_list arguments)
{
    bool has_mode = flags & O_CREAT;
#ifdef O_TMPFILE
    has_mode |= (flags & O_TMPFILE) == O_TMPFILE;
#endif
    return has_mode ? va_arg(arguments, mode_t) : 0;
}

#define WITH_MODE(flags)                                                                           \
    va_list arguments;                                                                             \
    va_start(arguments, flags);                                                                    \
    mode_t mode = read_mode(flags, arguments);                                                     \
    va_end(arguments)

EXPORT int open(const char *path, int flags, ...)
{
    WITH_MODE(flags);
    return open_any(AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    WITH_MODE(flags);
    return open_any(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
    WITH_MODE(flags);
    return open_any(dirfd, path, flags, mode);
}

EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
    WITH_MODE(flags);
    return open_any(dirfd, path, flags, mode);
}

/* What fortified programs call. */
int __open_2(const char *path, int flags);
EXPORT int __open_2(const char *path, int flags)
{
    return open_any(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags)
{
    return open_any(AT_FDCWD, path, flags, 0);
}

int __openat_2(int dirfd, const char *path, int flags);
EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
    return open_any(dirfd, path, flags, 0);
}

int __openat64_2(int dirfd, const char *path, int flags);
EXPORT int __openat64_2(int dirfd, const char *path, int flags)
{
    return open_any(dirfd, path, flags, 0);
}

/* The last descriptor of an open file goes: so do the file and, with the last, what was left. */
static void forget(int fd)
{
    struct tp_kgsl_books leaks;
    if (tp_fds_kind(fd) == TP_FD_OTHER)
        return;
    tp_process_lock();
    enum tp_fd_kind kind = tp_fds_kind(fd);
    uint32_t file = tp_fds_file(fd);
    if (!tp_fds_clear(fd) && kind == TP_FD_KGSL && tp_process_device()) {
        tp_kgsl_file_close(tp_process_device(), file, &leaks);
        tp_process_log_books("close", &leaks);
        tp_process_kick();
    }
    tp_process_unlock();
}

EXPORT int close(int fd)
{
    if (tp_fds_kind(fd) == TP_FD_OWN)
        return answer(-EBADF); /* it is not the client's */
    forget(fd);
    return tp_real_close(fd);
}

/* TO is another descriptor of what FROM is. */
static int duplicated(int from, int to)
{
    if (to >= 0 && (tp_fds_kind(from) != TP_FD_OTHER || tp_fds_kind(to) != TP_FD_OTHER)) {
        tp_process_lock();
        tp_fds_set(to, tp_fds_kind(from), tp_fds_file(from));
        tp_process_unlock();
    }
    return to;
}

EXPORT int dup(int fd)
{
    return duplicated(fd, tp_real_fcntl(fd, F_DUPFD, NULL));
}

EXPORT int dup3(int from, int to, int flags)
{
    if (tp_fds_kind(to) == TP_FD_OWN)
        return answer(-EBADF);
    if (from != to)
        forget(to);
    return duplicated(from, tp_real_dup3(from, to, flags));
}

EXPORT int dup2(int from, int to)
{
    if (from == to)
        return tp_real_fcntl(from, F_GETFD, NULL) < 0 ? -1 : to;
    return dup3(from, to, 0);
}

static int fcntl_any(int fd, int command, void *argument)
{
    int r = tp_real_fcntl(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, r) : r;
}

EXPORT int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl_any(fd, command, argument);
}

#if defined(__GLIBC__)
EXPORT int fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl_any(fd, command, argument);
}
#endif

/* What is above 32 bits is nothing to the kernel, and anything where bionic's int comes in. */
static int ioctl_any(int fd, unsigned request, void *argument)
{
    enum tp_fd_kind kind = tp_fds_kind(fd);
    unsigned type = _IOC_TYPE(request);
    if (kind == TP_FD_KGSL && type == TP_KGSL_IOC_TYPE)
        return answer(tp_kgsl_ioctl(tp_fds_file(fd), fd, request, argument));
    if (kind == TP_FD_HEAP && type == 'H')
        return answer(tp_kgsl_heap_ioctl(fd, request, argument));
    if (kind == TP_FD_DEAD && type == TP_KGSL_IOC_TYPE)
        return answer(-ENODEV);
    if (type == '>' && tp_kgsl_fence_is(fd)) {
        int r = tp_kgsl_sync_ioctl(fd, request, argument);
        if (r != -ENOTTY)
            return answer(r);
    }
    int r = tp_real_ioctl(fd, request, argument);
    /* A memfd stands for a dma-buf: its caches need no flushing, its name does not matter. */
    bool coherent = type == TP_DMA_BUF_IOC_TYPE && (_IOC_NR(request) == 0 || _IOC_NR(request) == 1);
    if (r < 0 && errno == ENOTTY && coherent && tp_real_fcntl(fd, F_GET_SEALS, NULL) >= 0)
        return 0;
    return r;
}

#if defined(__GLIBC__)
EXPORT int ioctl(int fd, unsigned long request, ...)
#else
EXPORT int ioctl(int fd, int request, ...)
#endif
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return ioctl_any(fd, (unsigned)request, argument);
}

static void *mmap_any(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    void *at = tp_real_mmap(address, length, protection, flags, fd, offset);
    if (tp_fds_kind(fd) == TP_FD_KGSL && at != MAP_FAILED) {
        struct tp_kgsl_line line;
        tp_kgsl_line_begin(&line, "mmap");
        tp_kgsl_line_signed(&line, "fd", fd);
        tp_kgsl_line_number(&line, "id", (uint64_t)offset / TP_KGSL_PAGE);
        tp_kgsl_line_number(&line, "size", length);
        tp_kgsl_line_hex(&line, "address", (uintptr_t)at);
        tp_kgsl_line_result(&line, 0);
        tp_process_lock();
        if (tp_process_device())
            tp_kgsl_mapped(tp_process_device(), (uint32_t)((uint64_t)offset / TP_KGSL_PAGE),
                           (uintptr_t)at);
        tp_process_unlock();
    }
    return at;
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return mmap_any(address, length, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return mmap_any(address, length, protection, flags, fd, offset);
}

/* What the device's node looks like. */
static void device_node(enum tp_fd_kind kind, struct stat *out)
{
    out->st_mode = S_IFCHR | 0666;
    out->st_rdev = makedev(KGSL_MAJOR, kind == TP_FD_HEAP ? HEAP_MINOR : KGSL_MINOR);
    out->st_size = out->st_blocks = 0;
    out->st_nlink = 1;
}

static int fstat_any(int fd, struct stat *out)
{
    enum tp_fd_kind kind = tp_fds_kind(fd);
    int r = tp_real_fstat(fd, out);
    if (!r && (kind == TP_FD_KGSL || kind == TP_FD_HEAP))
        device_node(kind, out);
    return r;
}

static int stat_any(int dirfd, const char *path, struct stat *out, int flags)
{
    enum tp_fd_kind kind = path_kind(path);
    if (kind == TP_FD_OTHER)
        return tp_real_fstatat(dirfd, path, out, flags);
    memset(out, 0, sizeof *out);
    device_node(kind, out);
    return 0;
}

EXPORT int fstat(int fd, struct stat *out)
{
    return fstat_any(fd, out);
}

EXPORT int stat(const char *path, struct stat *out)
{
    return stat_any(AT_FDCWD, path, out, 0);
}

EXPORT int lstat(const char *path, struct stat *out)
{
    return stat_any(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

/* For 64 bits both structures are one. */
EXPORT int fstat64(int fd, struct stat64 *out)
{
    return fstat_any(fd, (struct stat *)out);
}

EXPORT int stat64(const char *path, struct stat64 *out)
{
    return stat_any(AT_FDCWD, path, (struct stat *)out, 0);
}

#if defined(__GLIBC__)
/* What programs linked with glibc before 2.33 call. */
int __fxstat(int version, int fd, struct stat *out);
EXPORT int __fxstat(int version, int fd, struct stat *out)
{
    (void)version;
    return fstat_any(fd, out);
}

int __fxstat64(int version, int fd, struct stat64 *out);
EXPORT int __fxstat64(int version, int fd, struct stat64 *out)
{
    (void)version;
    return fstat_any(fd, (struct stat *)out);
}

int __xstat(int version, const char *path, struct stat *out);
EXPORT int __xstat(int version, const char *path, struct stat *out)
{
    (void)version;
    return stat_any(AT_FDCWD, path, out, 0);
}
#endif

EXPORT int access(const char *path, int mode)
{
    return path_kind(path) == TP_FD_OTHER ? tp_real_access(path, mode) : 0;
}
