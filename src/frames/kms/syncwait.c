/* Waiting for syncobjs: calls that block, and eventfds that are told. */
#include "frames/kms/syncobj.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define WAIT_FOR_SUBMIT_NS INT64_C(5000000000) /* DRM_SYNCOBJ_WAIT_FOR_SUBMIT_TIMEOUT */

struct tp_sync_wait {
    struct tp_syncobj **objects; /* owned, a reference each */
    uint64_t *points;            /* owned; NULL: all 0 */
    uint32_t n, flags;
    uint32_t *first; /* in the call's struct */
    bool transfer;   /* the call is made again, not ended */
};

/* A descriptor to be told: an eventfd of a syncobj's point, or what was given out for a fence. */
struct tp_sync_event {
    struct tp_sync_event *next;
    struct tp_fence *fence;    /* a reference; NULL: an eventfd's */
    struct tp_syncobj *object; /* not counted: it takes its events with it; NULL: a fence's */
    uint64_t point;
    uint32_t flags;
    int fd;                     /* owned; a fence's is our end of it */
    struct tp_account *account; /* one of its descriptors */
};

void tp_sync_wait_free(struct tp_kms *kms, struct tp_sync_wait *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        tp_syncobj_put(kms, w->objects[i]);
    free(w->objects);
    free(w->points);
    free(w);
}

static bool over(struct tp_syncobj *s, uint64_t point, uint32_t flags)
{
    if (!tp_syncobj_available(s, point))
        return false;
    return flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE || tp_syncobj_signalled(s, point);
}

static bool wait_is_over(struct tp_sync_wait *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        if (!over(w->objects[i], w->points ? w->points[i] : 0, w->flags))
            continue;
        if (!n++ && w->first)
            *w->first = i;
    }
    return n == w->n || (n && !(w->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL));
}

static void forget(struct tp_sync_event *e)
{
    tp_fence_put(e->fence);
    close(e->fd);
    tp_account_give_back(e->account);
    free(e);
}

static void look_at_events(struct tp_kms *kms)
{
    for (struct tp_sync_event **at = &kms->sync_events, *e; (e = *at);) {
        bool now = e->fence ? tp_fence_signalled(e->fence) : over(e->object, e->point, e->flags);
        if (!now) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (!e->fence)
            tp_eventfds_add(&kms->eventfds, e->fd);
        forget(e); /* signals a fence */
    }
}

void tp_sync_look(struct tp_kms *kms)
{
    for (;;) {
        kms->sync_changed = false;
        look_at_events(kms);
        struct tp_waiter *w = kms->waiters;
        while (w && (w->kind != TP_WAIT_SYNCOBJ || !wait_is_over(w->sync)))
            w = w->next;
        if (!w)
            return;
        if (w->sync->transfer)
            tp_waiter_again(kms, w);
        else
            tp_waiter_end(kms, w, 0);
    }
}

void tp_kms_fds_ready(struct tp_kms *kms)
{
    tp_sync_look(kms);
    tp_kms_tell(kms);
}

unsigned tp_kms_poll_fds(const struct tp_kms *kms, int *fds, unsigned n)
{
    unsigned have = 0;
    for (const struct tp_waiter *w = kms->waiters; w; w = w->next)
        for (uint32_t i = 0; w->kind == TP_WAIT_SYNCOBJ && i < w->sync->n; i++)
            have = tp_syncobj_fds(w->sync->objects[i], w->sync->points ? w->sync->points[i] : 0,
                                  fds, n, have);
    for (const struct tp_sync_event *e = kms->sync_events; e; e = e->next)
        have = e->fence ? tp_fence_fds(e->fence, fds, n, have)
                        : tp_syncobj_fds(e->object, e->point, fds, n, have);
    return have;
}

void tp_sync_events_finish(struct tp_kms *kms)
{
    for (struct tp_sync_event *e; (e = kms->sync_events);) {
        kms->sync_events = e->next;
        forget(e);
    }
}

void tp_sync_signal_later(struct tp_ioctl_call *c, struct tp_fence *f, int fd)
{
    struct tp_sync_event *e = tp_calloc(1, sizeof *e);
    f->refs++;
    *e = (struct tp_sync_event){
        .next = c->kms->sync_events,
        .fence = f,
        .fd = fd,
        .account = c->file->account,
    };
    c->kms->sync_events = e;
    c->kms->sync_changed = true;
}

void tp_sync_events_forget(struct tp_kms *kms, const struct tp_syncobj *s)
{
    for (struct tp_sync_event **at = &kms->sync_events, *e; (e = *at);) {
        if (e->object != s) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        forget(e);
    }
}

/* What the waits' structs have in common. */
static int wait(struct tp_ioctl_call *c, uint64_t handles, const uint64_t *points, uint32_t n,
                uint32_t flags, int64_t timeout_ns, uint32_t *first)
{
    if (!n)
        return 0;
    struct tp_sync_wait *w = tp_calloc(1, sizeof *w);
    int r = tp_syncobj_array(c->file, handles, n, &w->objects);
    if (r < 0) {
        free(w);
        return r;
    }
    for (w->n = 0; w->n < n; w->n++)
        w->objects[w->n]->refs++;
    w->flags = flags;
    uint32_t none = *first;
    *first = ~0u;
    w->first = first;
    if (points) {
        w->points = tp_calloc(n, sizeof *points);
        memcpy(w->points, points, n * sizeof *points);
    }
    bool may_come =
        flags & (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE);
    for (uint32_t i = 0; r == 0 && !may_come && i < n; i++)
        if (!tp_syncobj_available(w->objects[i], points ? points[i] : 0))
            r = -EINVAL;
    bool done = r == 0 && wait_is_over(w);
    if (r == 0 && !done && timeout_ns <= c->kms->now_ns)
        r = -ETIME;
    if (r < 0)
        *first = none;
    if (r < 0 || done) {
        tp_sync_wait_free(c->kms, w);
        return r;
    }
    struct tp_waiter *waiter = tp_waiter_add(c->file, TP_WAIT_SYNCOBJ, c->call, c->waiter);
    waiter->sync = w;
    waiter->deadline_ns = timeout_ns;
    return TP_KMS_WAITS;
}

int tp_ioctl_syncobj_wait(struct tp_ioctl_call *c, void *arg)
{
    struct drm_syncobj_wait *a = arg;
    if (a->flags &
        ~(uint32_t)(DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                    DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE))
        return -EINVAL;
    return wait(c, a->handles, NULL, a->count_handles, a->flags, a->timeout_nsec,
                &a->first_signaled);
}

int tp_ioctl_syncobj_timeline_wait(struct tp_ioctl_call *c, void *arg)
{
    struct drm_syncobj_timeline_wait *a = arg;
    if (a->flags &
        ~(uint32_t)(DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                    DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE))
        return -EINVAL;
    return wait(c, a->handles, TP_ARRAY(uint64_t, a->points), a->count_handles, a->flags,
                a->timeout_nsec, &a->first_signaled);
}

int tp_sync_transfer_later(struct tp_ioctl_call *c, struct tp_syncobj *from, uint64_t point)
{
    struct tp_sync_wait *w = tp_calloc(1, sizeof *w);
    w->objects = tp_calloc(1, sizeof(struct tp_syncobj *));
    w->objects[0] = from;
    from->refs++;
    w->n = 1;
    w->points = tp_calloc(1, sizeof *w->points);
    w->points[0] = point;
    w->flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
    w->transfer = true;
    struct tp_waiter *waiter = tp_waiter_add(c->file, TP_WAIT_SYNCOBJ, c->call, c->waiter);
    waiter->sync = w;
    waiter->deadline_ns = c->kms->now_ns + WAIT_FOR_SUBMIT_NS;
    return TP_KMS_WAITS;
}

int tp_ioctl_syncobj_eventfd(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_eventfd *a = arg;
    if (a->flags & ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE || a->pad)
        return -EINVAL;
    struct tp_syncobj *s = tp_syncobj_find(c->file, a->handle);
    if (!s)
        return -ENOENT;
    int fd = tp_call_fd(c->call, a->fd);
    if (fd < 0)
        return -EBADF;
    if (!tp_is_eventfd(fd))
        return -EINVAL;
    if (!tp_sync_fd_room(c))
        return -EMFILE;
    if (c->kms->eventfds.file < 0)
        tp_eventfds_init(&c->kms->eventfds);
    struct tp_sync_event *e = tp_calloc(1, sizeof *e);
    *e = (struct tp_sync_event){
        .next = c->kms->sync_events,
        .object = s,
        .point = a->point,
        .flags = a->flags,
        .fd = tp_call_take_fd(c->call, a->fd),
        .account = c->file->account,
    };
    c->kms->sync_events = e;
    c->kms->sync_changed = true; /* it may be over already */
    return 0;
}
