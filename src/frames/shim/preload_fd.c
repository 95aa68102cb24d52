/* Calls by descriptor. */
#include "frames/shim/preload.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <drm.h>

#include "frames/shim/card.h"
#include "frames/shim/fds.h"
#include "frames/shim/real.h"
#include "frames/shim/tty.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4u
#endif

static int ioctl_any(int fd, unsigned long request, void *arg)
{
    int kept = errno, r;
    struct tp_fd f = tp_fds_get(fd);

    if (f.kind == TP_FD_TTY) {
        r = tp_tty_ioctl(f.number, request, arg);
        if (r != -ENOSYS)
            return tp_answer(r, kept);
    } else if (_IOC_TYPE(request) == DRM_IOCTL_BASE) {
        struct tp_card *card = tp_card_get(fd);

        if (card) {
            r = tp_card_ioctl(card, fd, request, arg);
            tp_card_put(card);
            return tp_answer(r, kept);
        }
        errno = kept;
    }
#if defined(__GLIBC__)
    return TP_REAL(ioctl)(fd, request, arg);
#else
    return TP_REAL(ioctl)(fd, (int)request, arg);
#endif
}

/* What is above 32 bits is nothing to the kernel, and anything where bionic's int comes in. */
#if defined(__GLIBC__)
TP_EXPORT int ioctl(int fd, unsigned long request, ...)
#else
TP_EXPORT int ioctl(int fd, int request, ...)
#endif
{
    va_list arguments;
    void *arg;

    va_start(arguments, request);
    arg = va_arg(arguments, void *);
    va_end(arguments);
    return ioctl_any(fd, (unsigned)request, arg);
}

/* The buffer's memory, mapped in the place of the card. False: it is no card's mapping. */
static bool map_card(void *address, size_t length, int protection, int flags, int fd,
                     uint64_t offset, void **out)
{
    struct tp_card *card = tp_card_get(fd);
    int memory, r, kept = errno;
    uint64_t bytes;

    if (!card)
        return false;
    if (!tp_card_is_still(card, fd)) {
        tp_card_put(card);
        return false;
    }
    r = tp_card_map(card, fd, offset, &memory, &bytes);
    tp_card_put(card);
    *out = MAP_FAILED;
    if (r < 0) {
        errno = -r;
        return true;
    }
    if (length > ((bytes + 4095) & ~UINT64_C(4095))) {
        errno = EINVAL;
    } else {
        *out = TP_REAL(mmap)(address, length, protection, flags, memory, 0);
        if (*out != MAP_FAILED)
            errno = kept;
    }
    kept = errno;
    TP_REAL(close)(memory);
    errno = kept;
    return true;
}

/* A socket that nobody has looked at yet may be a card: the kernel maps no socket. */
static bool may_be_card(int fd, int flags, const void *mapped)
{
    enum tp_fd_kind kind = tp_fds_get(fd).kind;

    if (fd < 0 || flags & MAP_ANONYMOUS)
        return false;
    return kind == TP_FD_CARD ||
           (kind == TP_FD_UNKNOWN && mapped == MAP_FAILED && errno == ENODEV);
}

#define MAP_CALL(name, offset_type)                                                                \
    TP_EXPORT void *name(void *address, size_t length, int protection, int flags, int fd,          \
                         offset_type offset)                                                       \
    {                                                                                              \
        void *mapped = NULL;                                                                       \
                                                                                                   \
        if (!may_be_card(fd, flags, mapped)) {                                                     \
            mapped = TP_REAL(name)(address, length, protection, flags, fd, offset);                \
            if (mapped != MAP_FAILED || !may_be_card(fd, flags, mapped))                           \
                return mapped;                                                                     \
        }                                                                                          \
        if (map_card(address, length, protection, flags, fd, (uint64_t)offset, &mapped))           \
            return mapped;                                                                         \
        return TP_REAL(name)(address, length, protection, flags, fd, offset);                      \
    }

MAP_CALL(mmap, off_t)
MAP_CALL(mmap64, off64_t)

TP_EXPORT int close(int fd)
{
    if (tp_fds_get(fd).kind == TP_FD_OWN) {
        errno = EBADF; /* it is not the client's */
        return -1;
    }
    tp_forget(fd);
    return TP_REAL(close)(fd);
}

/* A card has no end: an event is never empty, so that this is the server's. An unplugged device's
 * errno is what makes compositors give it up, where they would take 0 for no news for ever. */
TP_EXPORT ssize_t read(int fd, void *out, size_t bytes)
{
    ssize_t n = TP_REAL(read)(fd, out, bytes);
    bool ended = n == 0 ? bytes > 0 : n < 0 && errno == ECONNRESET;

    if (ended && tp_card_read_end(fd)) {
        errno = ENODEV;
        return -1;
    }
    return n;
}

/* Bionic has it since API 34. */
int close_range(unsigned first, unsigned last, int flags);

static int real_close_range(unsigned first, unsigned last, int flags)
{
    __typeof__(&close_range) next = TP_REAL(close_range);

    if (next)
        return next(first, last, flags);
#ifdef SYS_close_range
    return (int)syscall(SYS_close_range, first, last, flags);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/* All but the shim's own, which lie between. */
static int close_others(unsigned first, unsigned last, int flags)
{
    unsigned end = (unsigned)tp_fds_end(), from = first;
    int r = 0;

    for (unsigned fd = first; fd < end && fd <= last && r == 0; fd++) {
        if (tp_fds_get((int)fd).kind == TP_FD_OWN) {
            if (fd > from)
                r = real_close_range(from, fd - 1, flags);
            from = fd + 1;
        } else if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC)) {
            tp_forget((int)fd);
        }
    }
    return r == 0 && from <= last ? real_close_range(from, last, flags) : r;
}

TP_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (first > last) {
        errno = EINVAL;
        return -1;
    }
    return close_others(first, last, flags);
}

#if defined(__GLIBC__)
TP_EXPORT void closefrom(int lowest)
{
    if (close_others(lowest < 0 ? 0 : (unsigned)lowest, ~0u, 0) == 0)
        return;
    for (int fd = lowest < 0 ? 0 : lowest; fd < TP_FDS; fd++)
        close(fd); /* a kernel without close_range */
}
#endif

static int copied(int from, int to)
{
    int kept = errno;

    bool known = tp_fds_get(from).kind != TP_FD_UNKNOWN || tp_fds_get(to).kind != TP_FD_UNKNOWN;

    if (to >= 0 && to != from && known && !tp_process_is_borrowed())
        tp_card_copy_fd(from, to);
    errno = kept;
    return to;
}

TP_EXPORT int dup(int fd)
{
    return copied(fd, TP_REAL(dup)(fd));
}

static bool refuse_own(int fd)
{
    if (tp_fds_get(fd).kind != TP_FD_OWN)
        return false;
    errno = EBADF;
    return true;
}

TP_EXPORT int dup2(int from, int to)
{
    if (refuse_own(to))
        return -1;
    return copied(from, TP_REAL(dup2)(from, to));
}

TP_EXPORT int dup3(int from, int to, int flags)
{
    if (refuse_own(to))
        return -1;
    return copied(from, TP_REAL(dup3)(from, to, flags));
}

#define FCNTL_CALL(name)                                                                           \
    TP_EXPORT int name(int fd, int command, ...)                                                   \
    {                                                                                              \
        va_list arguments;                                                                         \
        void *arg;                                                                                 \
        int r;                                                                                     \
                                                                                                   \
        va_start(arguments, command);                                                              \
        arg = va_arg(arguments, void *);                                                           \
        va_end(arguments);                                                                         \
        r = TP_REAL(name)(fd, command, arg);                                                       \
        return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, r) : r;               \
    }

FCNTL_CALL(fcntl)
#if defined(__GLIBC__)
FCNTL_CALL(fcntl64)
#endif
