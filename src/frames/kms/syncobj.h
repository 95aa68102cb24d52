/* Syncobjs: what holds fences. Inside the core. */
#ifndef TP_FRAMES_KMS_SYNCOBJ_H
#define TP_FRAMES_KMS_SYNCOBJ_H

#include "frames/kms/internal.h"

/* Signalled, or a descriptor that will poll readable, or several fences of this kind. */
struct tp_fence {
    unsigned refs;
    int fd;                     /* owned; -1: signalled */
    struct tp_account *account; /* one of its descriptors, if there is one */
    unsigned n_parts; /* 0: it is one by itself; else it is signalled when all of them are */
    struct tp_fence *parts[]; /* a reference each; they have no parts */
};

/* Nothing, a fence, or a timeline: fences for rising points, each also waiting for those before it.
 */
struct tp_syncobj {
    struct tp_kms *kms; /* told of changes: sync_changed */
    unsigned refs;      /* handles, exports, waiting calls */
    struct tp_fence *fence;
    bool timeline;
    uint64_t last, done; /* the highest point that has a fence; that is signalled */
    struct tp_point {
        uint64_t value; /* 0: the fence that was there before the first point */
        struct tp_fence *fence;
    } * points; /* owned; those not known to be signalled */
    unsigned n_points, cap_points;
    /* Descriptors that stand for it: a pipe's end to write each. It goes when those are closed. */
    struct tp_sync_export {
        struct tp_sync_export *next;
        struct tp_account *account; /* one of its descriptors */
        int fd;                     /* the end to read; owned */
        uint64_t device, inode;     /* of the pipe */
    } * exports;
    struct tp_syncobj *prev, *next;
};

/* A fence is a reference to one. */
struct tp_fence *tp_fence_signalled_one(void);
/* Takes the descriptor, for which the account has been asked. */
struct tp_fence *tp_fence_of_fd(struct tp_account *account, int fd);
void tp_fence_put(struct tp_fence *f); /* NULL is fine */
bool tp_fence_signalled(const struct tp_fence *f);

#define TP_MAX_PARTS  256u
#define TP_MAX_POINTS 1024u /* without a signal, of one timeline */
/* NULL takes the fence away. */
void tp_syncobj_replace(struct tp_syncobj *s, struct tp_fence *f);
/* -ENOMEM: too many of them are not signalled. */
int tp_syncobj_add_point(struct tp_syncobj *s, struct tp_fence *f, uint64_t point);
/* Has the point a fence? 0: the current fence. */
bool tp_syncobj_available(const struct tp_syncobj *s, uint64_t point);
bool tp_syncobj_signalled(struct tp_syncobj *s, uint64_t point);
/* The fence of an available point, which holds those before it too: a reference for the caller.
 * -ENOMEM: more than TP_MAX_PARTS of them are not signalled. */
int tp_syncobj_fence(struct tp_syncobj *s, uint64_t point, struct tp_fence **out);
/* As tp_syncobj_fds, of one fence. */
unsigned tp_fence_fds(const struct tp_fence *f, int *fds, unsigned n, unsigned have);
/* Adds to fds (have of n are there) those that the point hangs on, signalled or not; answers how
 * many there are now, with those that had no room. */
unsigned tp_syncobj_fds(const struct tp_syncobj *s, uint64_t point, int *fds, unsigned n,
                        unsigned have);
struct tp_syncobj *tp_syncobj_create(struct tp_kms *kms);
void tp_syncobj_put(struct tp_kms *kms, struct tp_syncobj *s);
struct tp_syncobj *tp_syncobj_find(struct tp_kms_file *file, uint32_t handle);
/* The syncobjs of an array of handles, as call memory; -ENOENT, -EFAULT, -ENOMEM. Not counted. */
int tp_syncobj_array(struct tp_kms_file *file, uint64_t handles, uint32_t n,
                     struct tp_syncobj ***out);
/* Charges the file for one descriptor more; false: it has too many. */
bool tp_sync_fd_room(struct tp_ioctl_call *c);
/* Gives out a descriptor for a fence that has parts: signalled when it is. Moves fd, for which the
 * account has been asked; takes a reference of the fence. */
void tp_sync_signal_later(struct tp_ioctl_call *c, struct tp_fence *f, int fd);
void tp_sync_events_finish(struct tp_kms *kms);
/* Ends with its events untold. */
void tp_sync_events_forget(struct tp_kms *kms, const struct tp_syncobj *s);
/* Makes a transfer again once the source's point has a fence. TP_KMS_WAITS. */
int tp_sync_transfer_later(struct tp_ioctl_call *c, struct tp_syncobj *from, uint64_t point);

#endif
