/*
 * One frame on a SOCK_SEQPACKET socket: a header of four little-endian words, a payload, and up to
 * TP_FRAME_FDS file descriptors beside it. Every socket of the frame path carries these, but for one
 * direction of one kind: what the server sends on a card's own socket are raw drm_events, for
 * clients that read them.
 */
#ifndef TP_FRAMES_WIRE_FRAME_H
#define TP_FRAMES_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define TP_FRAME_BYTES (128u << 10) /* the longest, header included */
#define TP_FRAME_FDS 16u            /* the most of one frame */

struct tp_frame_header {
    uint32_t fourcc, size, flags, sequence; /* size: of the whole, this included */
};

#define TP_FOURCC(a, b, c, d)                                                                      \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* A frame that came. Owns the descriptors that are still in it. */
struct tp_frame {
    uint32_t fourcc, flags, sequence;
    const uint8_t *payload; /* borrowed from the buffer that it was read into */
    size_t payload_bytes;
    int fds[TP_FRAME_FDS];
    unsigned n_fds;
};

/* Takes a datagram apart. -EBADMSG where its length and its header disagree. Does not touch fds. */
int tp_frame_parse(const void *bytes, size_t n, struct tp_frame *out);

/*
 * Sends one frame whole, with SIGPIPE off. parts: the payload. fds: borrowed. Async-signal-safe, and
 * allocates nothing. -EAGAIN where the socket is full and does not block, -EMSGSIZE, -EPIPE, …
 */
int tp_frame_send(int sock, uint32_t fourcc, uint32_t flags, uint32_t sequence,
                  const struct iovec *parts, int n_parts, const int *fds, unsigned n_fds);
/* The same, but -EAGAIN where the socket is full, whether it blocks or not: O_NONBLOCK belongs to the
 * open file, which the other process may hold too, and clear. */
int tp_frame_send_now(int sock, uint32_t fourcc, uint32_t flags, uint32_t sequence,
                      const struct iovec *parts, int n_parts, const int *fds, unsigned n_fds);

/*
 * Receives one frame into buffer (TP_FRAME_BYTES of it); received descriptors are close-on-exec. A
 * frame that is wrong (-EBADMSG), or whose descriptors did not all arrive (-ENOBUFS: the table of
 * this process is full), leaves none open. 0 bytes: -EPIPE. Async-signal-safe. -EINTR is retried.
 */
int tp_frame_recv(int sock, void *buffer, struct tp_frame *out);
/* The same, but a signal ends it: -EINTR. */
int tp_frame_recv_once(int sock, void *buffer, struct tp_frame *out);
/* Like that, and -EAGAIN where nothing is there, whether the socket blocks or not. */
int tp_frame_recv_now(int sock, void *buffer, struct tp_frame *out);

/* Takes descriptor i out of the frame; -1 where it has none. The caller owns it then. */
int tp_frame_take_fd(struct tp_frame *f, unsigned i);

/* Closes what was not taken. */
void tp_frame_finish(struct tp_frame *f);

#endif
