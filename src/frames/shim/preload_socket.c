/* Calls of libudev's monitor (uevent.h); and descriptors that come in messages. */
#include "frames/shim/preload.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "frames/shim/real.h"
#include "frames/shim/uevent.h"

static int answer(int result)
{
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

static int is_uevent(int fd)
{
    return tp_fds_get(fd).kind == TP_FD_UEVENT;
}

TP_EXPORT int socket(int domain, int type, int protocol)
{
    int fd;

    if (tp_uevent_wanted(domain, protocol))
        return answer(tp_uevent_open(type));
    fd = TP_REAL(socket)(domain, type, protocol);
    tp_forget(fd);
    return fd;
}

/* As the C library declares them: glibc's are transparent unions. */
#if defined(__GLIBC__)
typedef __CONST_SOCKADDR_ARG address_in;
typedef __SOCKADDR_ARG address_out;
#define PLAIN(address) ((address).__sockaddr__)
#else
typedef const struct sockaddr *address_in;
typedef struct sockaddr *address_out;
#define PLAIN(address) (address)
#endif

TP_EXPORT int bind(int fd, address_in address, socklen_t bytes)
{
    return is_uevent(fd) ? 0 : TP_REAL(bind)(fd, address, bytes);
}

/* Filters, credentials, the length of the queue: all is as wished. */
TP_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
    return is_uevent(fd) ? 0 : TP_REAL(setsockopt)(fd, level, name, value, bytes);
}

TP_EXPORT int getsockname(int fd, address_out address, socklen_t *bytes)
{
    if (!is_uevent(fd))
        return TP_REAL(getsockname)(fd, address, bytes);
    tp_uevent_address(PLAIN(address), bytes);
    return 0;
}

/* What has come is new, whatever bore its number before. */
static void forget_received(struct msghdr *msg)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
            tp_forget(fd);
        }
    }
}

TP_EXPORT ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
    if (!is_uevent(fd)) {
        ssize_t n = TP_REAL(recvmsg)(fd, msg, flags);
        int kept = errno;

        if (n >= 0 && msg->msg_controllen > 0)
            forget_received(msg);
        errno = kept;
        return n;
    }
    return answer((int)tp_uevent_receive(fd, msg, flags));
}

TP_EXPORT ssize_t recv(int fd, void *out, size_t bytes, int flags)
{
    struct iovec part = {out, bytes};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};

    if (!is_uevent(fd))
        return TP_REAL(recv)(fd, out, bytes, flags);
    return answer((int)tp_uevent_receive(fd, &msg, flags));
}
