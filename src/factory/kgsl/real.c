#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void (*function)(void);

/* The next definition of NAME after this library's: the C library's, or another preloaded one's. */
static function find(_Atomic(function) *kept, const char *name)
{
    function f = atomic_load_explicit(kept, memory_order_acquire);
    if (!f) {
        *(void **)&f = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(kept, f, memory_order_release);
    }
    return f;
}

#define FIND(type, name)                                                                           \
    static _Atomic(function) kept;                                                                 \
    __typeof__(type) *next = (__typeof__(type) *)find(&kept, name)

int tp_real_openat(int dirfd, const char *path, int flags, mode_t mode)
{
    /* Preloaded libraries that come after this one more often define open than openat. */
    if (dirfd == AT_FDCWD) {
        FIND(int(const char *, int, ...), "open");
        if (next)
            return next(path, flags, mode);
    }
    FIND(int(int, const char *, int, ...), "openat");
    if (next)
        return next(dirfd, path, flags, mode);
    return (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

int tp_real_close(int fd)
{
    FIND(int(int), "close");
    return next ? next(fd) : (int)syscall(SYS_close, fd);
}

int tp_real_dup3(int from, int to, int flags)
{
    FIND(int(int, int, int), "dup3");
    return next ? next(from, to, flags) : (int)syscall(SYS_dup3, from, to, flags);
}

int tp_real_fcntl(int fd, int command, void *argument)
{
    FIND(int(int, int, ...), "fcntl");
    return next ? next(fd, command, argument) : (int)syscall(SYS_fcntl, fd, command, argument);
}

int tp_real_ioctl(int fd, unsigned long request, void *argument)
{
#if defined(__GLIBC__)
    FIND(int(int, unsigned long, ...), "ioctl");
#else
    FIND(int(int, int, ...), "ioctl");
#endif
    if (!next)
        return (int)syscall(SYS_ioctl, fd, request, argument);
#if defined(__GLIBC__)
    return next(fd, request, argument);
#else
    return next(fd, (int)request, argument);
#endif
}

void *tp_real_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    FIND(void *(void *, size_t, int, int, int, off_t), "mmap");
    if (next)
        return next(address, length, protection, flags, fd, offset);
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

int tp_real_fstat(int fd, struct stat *out)
{
    FIND(int(int, struct stat *), "fstat");
    if (next)
        return next(fd, out);
    errno = ENOSYS; /* glibc before 2.33 has it under another name only */
    return -1;
}

int tp_real_fstatat(int dirfd, const char *path, struct stat *out, int flags)
{
    FIND(int(int, const char *, struct stat *, int), "fstatat");
    if (next)
        return next(dirfd, path, out, flags);
    errno = ENOSYS;
    return -1;
}

int tp_real_access(const char *path, int mode)
{
    FIND(int(const char *, int), "access");
    return next ? next(path, mode) : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}
