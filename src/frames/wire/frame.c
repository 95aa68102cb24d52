#include "frames/wire/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PARTS 7 /* of a payload; the header is one more */

/* Room for one control message with all descriptors, aligned as the kernel wants it. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(TP_FRAME_FDS * sizeof(int))];
};

static uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

int tp_frame_parse(const void *bytes, size_t n, struct tp_frame *out)
{
    const uint8_t *p = bytes;

    if (n < sizeof(struct tp_frame_header) || n > TP_FRAME_BYTES || get_u32(p + 4) != n)
        return -EBADMSG;
    out->fourcc = get_u32(p);
    out->flags = get_u32(p + 8);
    out->sequence = get_u32(p + 12);
    out->payload = p + sizeof(struct tp_frame_header);
    out->payload_bytes = n - sizeof(struct tp_frame_header);
    return 0;
}

static int send_frame(int sock, uint32_t fourcc, uint32_t flags, uint32_t sequence,
                      const struct iovec *parts, int n_parts, const int *fds, unsigned n_fds,
                      int how)
{
    uint8_t header[sizeof(struct tp_frame_header)];
    struct iovec iov[1 + PARTS] = {{header, sizeof header}};
    struct msghdr msg = {.msg_iov = iov};
    union control control;
    size_t size = sizeof header;
    ssize_t sent;

    if (n_parts < 0 || n_parts > PARTS || n_fds > TP_FRAME_FDS)
        return -EMSGSIZE;
    for (int i = 0; i < n_parts; i++) {
        if (parts[i].iov_len > TP_FRAME_BYTES - size)
            return -EMSGSIZE;
        size += parts[i].iov_len;
        iov[1 + i] = parts[i];
    }
    msg.msg_iovlen = 1 + (size_t)n_parts;
    put_u32(header, fourcc);
    put_u32(header + 4, (uint32_t)size);
    put_u32(header + 8, flags);
    put_u32(header + 12, sequence);
    if (n_fds > 0) {
        struct cmsghdr *c = &control.align;

        memset(&control, 0, sizeof control);
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    do
        sent = sendmsg(sock, &msg, MSG_NOSIGNAL | how);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int tp_frame_send(int sock, uint32_t fourcc, uint32_t flags, uint32_t sequence,
                  const struct iovec *parts, int n_parts, const int *fds, unsigned n_fds)
{
    return send_frame(sock, fourcc, flags, sequence, parts, n_parts, fds, n_fds, 0);
}

int tp_frame_send_now(int sock, uint32_t fourcc, uint32_t flags, uint32_t sequence,
                      const struct iovec *parts, int n_parts, const int *fds, unsigned n_fds)
{
    return send_frame(sock, fourcc, flags, sequence, parts, n_parts, fds, n_fds, MSG_DONTWAIT);
}

/* Collects the descriptors of all control messages; those past the table are closed. False: there were
 * such. */
static bool take_fds(struct msghdr *msg, struct tp_frame *out)
{
    bool all = true;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
            if (out->n_fds < TP_FRAME_FDS) {
                out->fds[out->n_fds++] = fd;
            } else {
                close(fd);
                all = false;
            }
        }
    }
    return all;
}

static int recv_frame(int sock, void *buffer, struct tp_frame *out, int how)
{
    struct iovec iov = {buffer, TP_FRAME_BYTES};
    union control control;
    struct msghdr msg = {
        .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes,
    };
    ssize_t n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | how);
    int r = 0;

    out->n_fds = 0;
    out->payload_bytes = 0;
    if (n < 0)
        return -errno;
    if (!take_fds(&msg, out))
        r = -EBADMSG;
    else if (msg.msg_flags & MSG_CTRUNC)
        r = out->n_fds == TP_FRAME_FDS ? -EBADMSG : -ENOBUFS;
    else if (n == 0)
        r = -EPIPE;
    else if (msg.msg_flags & MSG_TRUNC)
        r = -EBADMSG;
    else
        r = tp_frame_parse(buffer, (size_t)n, out);
    if (r < 0)
        tp_frame_finish(out);
    return r;
}

int tp_frame_recv_once(int sock, void *buffer, struct tp_frame *out)
{
    return recv_frame(sock, buffer, out, 0);
}

int tp_frame_recv_now(int sock, void *buffer, struct tp_frame *out)
{
    return recv_frame(sock, buffer, out, MSG_DONTWAIT);
}

int tp_frame_recv(int sock, void *buffer, struct tp_frame *out)
{
    int r;

    do
        r = tp_frame_recv_once(sock, buffer, out);
    while (r == -EINTR);
    return r;
}

int tp_frame_take_fd(struct tp_frame *f, unsigned i)
{
    int fd;

    if (i >= f->n_fds)
        return -1;
    fd = f->fds[i];
    f->fds[i] = -1;
    return fd;
}

void tp_frame_finish(struct tp_frame *f)
{
    for (unsigned i = 0; i < f->n_fds; i++) {
        if (f->fds[i] >= 0)
            close(f->fds[i]);
    }
    f->n_fds = 0;
}
