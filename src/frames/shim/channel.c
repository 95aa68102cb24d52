#include "frames/shim/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames/shim/fds.h"
#include "frames/shim/real.h"

#define HIGH_FD 700 /* above what clients use, below the usual limit of 1024 */

int tp_channel_hide_fd(int fd)
{
    int high = TP_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high >= 0) {
        TP_REAL(close)(fd);
        fd = high;
    }
    tp_fds_set_own(fd);
    return fd;
}

/* On a socket that does not block, as the client's may be. */
static int send_all(int sock, uint32_t fourcc, uint32_t sequence, const struct iovec *part,
                    const int *fds, unsigned n_fds)
{
    int r;

    while ((r = tp_frame_send(sock, fourcc, 0, sequence, part, part ? 1 : 0, fds, n_fds)) ==
           -EAGAIN) {
        struct pollfd p = {.fd = sock, .events = POLLOUT};

        poll(&p, 1, -1);
    }
    return r;
}

static int take_hello(struct tp_channel *c, struct tp_channel_hello *hello)
{
    struct tp_frame f;
    uint32_t version;
    int32_t refused;
    int r = tp_frame_recv(c->fd, c->in, &f);

    if (r < 0)
        return -ENODEV;
    if (f.fourcc == TP_FRAME_REPLY && f.payload_bytes >= sizeof refused) {
        memcpy(&refused, f.payload, sizeof refused);
        r = refused < 0 && refused >= -4095 ? refused : -ENODEV;
    } else {
        r = tp_hello_parse(&f, &hello->hello, &version) < 0 ? -ENODEV : 0;
    }
    if (r == 0)
        hello->snapshot = tp_frame_take_fd(&f, 0);
    tp_frame_finish(&f);
    return r;
}

int tp_channel_open(struct tp_channel *c, int card, struct tp_channel_hello *hello)
{
    int ends[2], r;

    hello->snapshot = -1;
    if (!c->out) {
        void *memory = mmap(NULL, 2 * TP_FRAME_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
            return -ENOMEM;
        c->out = memory;
        c->in = c->out + TP_FRAME_BYTES;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    r = send_all(card, TP_FRAME_CHANNEL, 0, NULL, &ends[1], 1);
    TP_REAL(close)(ends[1]);
    c->fd = tp_channel_hide_fd(ends[0]);
    c->sequence = 0;
    r = r < 0 ? -ENODEV : take_hello(c, hello);
    if (r < 0)
        tp_channel_close(c);
    return r;
}

void tp_channel_close(struct tp_channel *c)
{
    if (c->fd < 0)
        return;
    tp_fds_clear_own(c->fd);
    TP_REAL(close)(c->fd);
    c->fd = -1;
}

void tp_channel_finish(struct tp_channel *c)
{
    tp_channel_close(c);
    if (c->out)
        munmap(c->out, 2 * TP_FRAME_BYTES);
    c->out = c->in = NULL;
}

/* Sends what lies in out and receives the answer, which the caller finishes. */
static int exchange(struct tp_channel *c, uint32_t fourcc, size_t bytes, const int *fds,
                    unsigned n_fds, bool interruptible, struct tp_frame *reply)
{
    struct iovec part = {c->out, bytes};
    uint32_t sequence = ++c->sequence;
    int r = send_all(c->fd, fourcc, sequence, &part, fds, n_fds);

    if (r == -EBADF || r == -ENOTSOCK || r == -ENOTCONN) {
        /* What has our number now is not ours to close. */
        tp_fds_clear_own(c->fd);
        c->fd = -1;
        return -ESTALE;
    }
    if (r == -ETOOMANYREFS)
        return -EMFILE;
    if (r == 0)
        r = interruptible ? tp_frame_recv_once(c->fd, c->in, reply)
                          : tp_frame_recv(c->fd, c->in, reply);
    if (r == -ENOBUFS) /* the call has been carried out, but what came finds no place here */
        return -EMFILE;
    if (r == 0 && (reply->sequence != sequence || reply->fourcc != TP_FRAME_REPLY)) {
        tp_frame_finish(reply);
        r = -EBADMSG;
    }
    if (r < 0) {
        tp_channel_close(c);
        r = r == -EINTR ? -EINTR : -ENODEV;
    }
    return r;
}

int tp_channel_ioctl(struct tp_channel *c, unsigned long request, void *arg,
                     const struct tp_drm_fences *fences, bool interruptible)
{
    struct tp_frame reply;
    int fds[TP_FRAME_FDS], r;
    unsigned n_fds;
    ssize_t n = tp_drm_call_encode(request, arg, fences, c->out,
                                   TP_FRAME_BYTES - sizeof(struct tp_frame_header), fds, &n_fds);

    if (n < 0)
        return (int)n;
    r = exchange(c, TP_FRAME_CALL, (size_t)n, fds, n_fds, interruptible, &reply);
    if (r < 0)
        return r;
    r = tp_drm_reply_decode(request, arg, fences, &reply);
    tp_frame_finish(&reply);
    return r;
}

int tp_channel_map(struct tp_channel *c, uint64_t offset, int *fd, uint64_t *bytes)
{
    struct tp_frame reply;
    int32_t result = -EIO;
    int r;

    memcpy(c->out, &offset, sizeof offset);
    r = exchange(c, TP_FRAME_MAP, sizeof offset, NULL, 0, false, &reply);
    if (r < 0)
        return r;
    if (reply.payload_bytes >= 16) {
        memcpy(&result, reply.payload, sizeof result);
        memcpy(bytes, reply.payload + 8, sizeof *bytes);
    }
    *fd = tp_frame_take_fd(&reply, 0);
    tp_frame_finish(&reply);
    if (result < 0 || *fd < 0) {
        if (*fd >= 0)
            TP_REAL(close)(*fd);
        return result < 0 && result >= -4095 ? result : -EIO;
    }
    return 0;
}
