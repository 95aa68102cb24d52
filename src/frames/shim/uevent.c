#include "frames/shim/uevent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "frames/shim/card.h"
#include "frames/shim/channel.h"
#include "frames/shim/config.h"
#include "frames/shim/fds.h"
#include "frames/shim/real.h"
#include "frames/wire/hello.h"

#define UDEV_GROUP 2 /* of its multicast messages, in systemd's sd-device */
#define DEVPATH "/devices/platform/turnpike/drm/card0"

bool tp_uevent_wanted(int domain, int protocol)
{
    const struct tp_shim_config *c = tp_shim_config();

    return domain == AF_NETLINK && protocol == NETLINK_KOBJECT_UEVENT && c &&
           c->server_bytes > 0 && TP_REAL(access)("/run/udev/control", F_OK) < 0;
}

/* A socket on which nothing ever comes; its other end stays open, hidden. */
static int quiet_socket(int type)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0, ends) < 0)
        return -errno;
    tp_channel_hide_fd(ends[1]);
    return ends[0];
}

int tp_uevent_open(int type)
{
    const struct tp_shim_config *c = tp_shim_config();
    struct tp_hello hello = {.version = TP_WIRE_VERSION, .oldest = TP_WIRE_OLDEST,
                             .kind = TP_HELLO_HOTPLUG};
    struct iovec part = {&hello, sizeof hello};
    int fd = TP_REAL(socket)(AF_UNIX, SOCK_SEQPACKET | (type & SOCK_CLOEXEC), 0);

    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&c->server, c->server_bytes) < 0 ||
        tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0) < 0) {
        TP_REAL(close)(fd);
        fd = quiet_socket(type);
        if (fd < 0)
            return fd;
    }
    if (type & SOCK_NONBLOCK)
        TP_REAL(fcntl)(fd, F_SETFL, O_NONBLOCK);
    tp_card_forget_fd(fd);
    tp_fds_set(fd, (struct tp_fd){TP_FD_UNKNOWN, 0}, (struct tp_fd){TP_FD_UEVENT, 0});
    return fd;
}

/* The server is gone: the client, which expects its socket to live for ever, would never sleep again. */
static void silence(int fd)
{
    int quiet = quiet_socket(TP_REAL(fcntl)(fd, F_GETFL) & O_NONBLOCK ? SOCK_NONBLOCK : 0);

    if (quiet < 0)
        return;
    TP_REAL(dup3)(quiet, fd, TP_REAL(fcntl)(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    TP_REAL(close)(quiet);
}

/* As the kernel writes it: a heading, then properties, each with its end. last: the next is another one. */
static size_t write_change(char *out, size_t room, bool last)
{
    static _Atomic(uint64_t) sequence = 100000; /* always as long */
    int n = snprintf(out, room,
                     "change@" DEVPATH "%cACTION=change%cDEVPATH=" DEVPATH "%cSUBSYSTEM=drm%c"
                     "HOTPLUG=1%cDEVNAME=dri/card0%cDEVTYPE=drm_minor%cSEQNUM=%llu%cMAJOR=226%c"
                     "MINOR=0",
                     0, 0, 0, 0, 0, 0, 0, (unsigned long long)atomic_load(&sequence), 0, 0);


    if (last)
        atomic_fetch_add(&sequence, 1);
    return (size_t)n + 1;
}

static void write_sender(struct msghdr *msg)
{
    struct sockaddr_nl from = {.nl_family = AF_NETLINK, .nl_pid = 1, .nl_groups = UDEV_GROUP};
    struct ucred root = {.pid = 1};
    struct cmsghdr *c = msg->msg_control;

    if (msg->msg_name) {
        memcpy(msg->msg_name, &from,
               msg->msg_namelen < sizeof from ? msg->msg_namelen : sizeof from);
        msg->msg_namelen = sizeof from;
    }
    if (!c || msg->msg_controllen < CMSG_SPACE(sizeof root)) {
        msg->msg_controllen = 0;
        return;
    }
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_CREDENTIALS;
    c->cmsg_len = CMSG_LEN(sizeof root);
    memcpy(CMSG_DATA(c), &root, sizeof root);
    msg->msg_controllen = CMSG_SPACE(sizeof root);
}

ssize_t tp_uevent_receive(int fd, struct msghdr *msg, int flags)
{
    char frame[64], text[512];
    size_t bytes, at = 0;
    ssize_t n;

    do
        n = TP_REAL(recv)(fd, frame, sizeof frame, flags & (MSG_PEEK | MSG_DONTWAIT));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    if (n == 0) {
        silence(fd);
        return -EAGAIN;
    }
    bytes = write_change(text, sizeof text, !(flags & MSG_PEEK));
    for (size_t i = 0; i < (size_t)msg->msg_iovlen && at < bytes; i++) {
        size_t part = msg->msg_iov[i].iov_len < bytes - at ? msg->msg_iov[i].iov_len : bytes - at;

        if (part > 0)
            memcpy(msg->msg_iov[i].iov_base, text + at, part);
        at += part;
    }
    msg->msg_flags = at < bytes ? MSG_TRUNC : 0;
    write_sender(msg);
    return (ssize_t)(flags & MSG_TRUNC ? bytes : at);
}

void tp_uevent_address(struct sockaddr *out, socklen_t *bytes)
{
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_pid = (uint32_t)getpid(),
                              .nl_groups = UDEV_GROUP};

    memcpy(out, &own, *bytes < (socklen_t)sizeof own ? *bytes : sizeof own);
    *bytes = sizeof own;
}
