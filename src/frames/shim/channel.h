/* A channel: one end of a socketpair whose other end the server has, for one call at a time. */
#ifndef TP_FRAMES_SHIM_CHANNEL_H
#define TP_FRAMES_SHIM_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frames/wire/drm_call.h"
#include "frames/wire/hello.h"

struct tp_channel {
    int fd; /* ours, hidden from the client; -1: closed */
    uint32_t sequence;
    uint8_t *out, *in; /* TP_FRAME_BYTES each, of one mapping; NULL until first opened */
};

/* What the server said when a channel began. */
struct tp_channel_hello {
    struct tp_hello hello;
    int snapshot; /* the caller's; -1: none */
};

/*
 * Opens one beside the card's socket. All of these allocate by mmap alone, are async-signal-safe, and
 * answer 0 or more, or a negative errno.
 * -ENODEV: the server is gone, or speaks another version; or what the server refuses it with.
 */
int tp_channel_open(struct tp_channel *c, int card, struct tp_channel_hello *hello);
/* Closes the socket; keeps the memory. */
void tp_channel_close(struct tp_channel *c);
void tp_channel_finish(struct tp_channel *c);

/* An ioctl's way to the server and back. interruptible: -EINTR where a signal came; the channel is closed
 * then, which tells the server to give the call up. -ENODEV, with the channel closed: the server is gone.
 * -ESTALE: the client has closed the channel's descriptor behind our back; nothing was asked. */
int tp_channel_ioctl(struct tp_channel *c, unsigned long request, void *arg,
                     const struct tp_drm_fences *fences, bool interruptible);

/* The memory behind an mmap offset: a descriptor that is the caller's, and its size. */
int tp_channel_map(struct tp_channel *c, uint64_t offset, int *fd, uint64_t *bytes);

/* Moves a descriptor of ours out of the way of the client's; close-on-exec. */
int tp_channel_hide_fd(int fd);

#endif
