/*
 * DRM ioctls over a channel: TIOC asks, TIOR answers, one at a time on each channel.
 *
 * An ioctl's argument is a struct of the kernel's uapi, some of whose members point at arrays. A table
 * (drm_call.c) says where; a call carries the struct as 64-bit Linux has it, then the arrays that the
 * caller gives; the answer carries the struct, then the arrays that it asked for, cut to the room that
 * it has, as the kernel does. Values of structs that are not the same on 32 bit (drm_version,
 * drm_wait_vblank, …) are translated by the encoder.
 *
 * Descriptors: those that go in (PRIME_FD_TO_HANDLE, SYNCOBJ_FD_TO_HANDLE, values of the property
 * IN_FENCE_FD) travel beside the frame and stand in the struct as their index in in_fds; those that come
 * out (PRIME_HANDLE_TO_FD, …) as their index in out_fds. The value of an OUT_FENCE_PTR is 0, or some other
 * number that the core replaces by the index of its fence; where no fence came the caller gets -1, as
 * from the kernel.
 */
#ifndef TP_FRAMES_WIRE_DRM_CALL_H
#define TP_FRAMES_WIRE_DRM_CALL_H

#include <stdbool.h>
#include <sys/types.h>

#include "frames/wire/frame.h"

#define TP_FRAME_CALL TP_FOURCC('T', 'I', 'O', 'C')   /* u32 request, u32 0, struct, arrays */
#define TP_FRAME_REPLY TP_FOURCC('T', 'I', 'O', 'R')  /* i32 result, u32 request, struct, arrays; each padded to 8 */
#define TP_FRAME_MAP TP_FOURCC('T', 'M', 'A', 'P')    /* u64 mmap offset */

/* A TMAP is answered by a TIOR of i32 result, u32 0, u64 size of the buffer, with its memory as
 * descriptor 0. */

/* Which properties of an atomic commit hold descriptors and addresses; 0: none. */
struct tp_drm_fences {
    uint32_t in_fence_fd, out_fence_ptr;
};

/* Is this request known to the table? Others are answered -EINVAL, as by a kernel without them. */
bool tp_drm_call_known(unsigned long request);

/*
 * The client's side. Allocates nothing; async-signal-safe.
 *
 * Writes the payload of a TIOC into out and answers its length; fds: receives borrowed descriptors to
 * send along, at most TP_FRAME_FDS. -EFAULT for a null array with a count, -E2BIG where it does not fit,
 * -EBADF, -EINVAL for an unknown request.
 */
ssize_t tp_drm_call_encode(unsigned long request, const void *arg,
                           const struct tp_drm_fences *fences, uint8_t *out, size_t room, int *fds,
                           unsigned *n_fds);
/* Writes what a TIOR says into arg and the arrays that it points at, and answers the ioctl's result: 0 or
 * more, or a negative errno. Descriptors that the caller gets are taken out of the frame. -EIO for an
 * answer that does not belong to this call. */
int tp_drm_reply_decode(unsigned long request, void *arg, const struct tp_drm_fences *fences,
                        struct tp_frame *reply);

/*
 * The server's side. A call as the core gets it: arg is the struct, and its pointers point into memory of
 * this call: arrays that go in are there, arrays that come out are zeroed and as long as the caller's
 * room. Owns that memory and the descriptors.
 */
struct tp_drm_call {
    unsigned long request;
    void *arg;
    size_t arg_bytes;
    int in_fds[TP_FRAME_FDS];  /* -1: taken */
    unsigned n_in_fds;
    int out_fds[TP_FRAME_FDS]; /* what the core gives, without gaps; moved */
    unsigned n_out_fds;
    uint8_t *memory; /* one block, kept between calls */
    size_t memory_bytes;
};

/* Takes a TIOC apart; takes the frame's descriptors. -EBADMSG for a frame that is not what the table
 * says, -EINVAL for a request that is unknown, -ENOMEM. out is kept from call to call, so that steady
 * work allocates nothing; {0} to begin with. */
int tp_drm_call_decode(struct tp_frame *f, struct tp_drm_call *out);
/* Writes the payload of the TIOR into out and answers its length. fds: out_fds, which stay the call's. */
ssize_t tp_drm_reply_encode(const struct tp_drm_call *call, int result, uint8_t *out, size_t room);
/* Closes descriptors that were not taken; keeps the memory. */
void tp_drm_call_reset(struct tp_drm_call *call);
void tp_drm_call_finish(struct tp_drm_call *call);

#endif
