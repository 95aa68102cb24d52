/* Vblanks: waits and events for one of them, by sequence number (drm_vblank.c). */
#include "frames/kms/internal.h"

#include <errno.h>

#define WAIT_NS INT64_C(3000000000) /* how long the kernel waits for one */

static bool passed(uint64_t sequence, uint64_t target)
{
    return sequence - target <= UINT64_C(1) << 23;
}

static void reply(const struct tp_crtc *c, union drm_wait_vblank *w)
{
    w->reply.sequence = (uint32_t)c->sequence;
    w->reply.tval_sec = c->time_ns / 1000000000;
    w->reply.tval_usec = c->time_ns % 1000000000 / 1000;
}

/* Ends what waited for this vblank or an earlier one; all: whatever it waited for. */
static void fire(struct tp_kms *kms, unsigned crtc, bool all)
{
    const struct tp_crtc *c = &kms->crtcs[crtc];
    for (struct tp_event **at = &kms->vblank_events, *e; (e = *at);) {
        if (e->crtc != crtc || (!all && !passed(c->sequence, e->sequence))) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        tp_event_send(kms, e, c->sequence, c->time_ns);
    }
    for (struct tp_waiter *w = kms->waiters, *next; w; w = next) {
        next = w->next;
        if (w->kind != TP_WAIT_VBLANK || w->crtc != crtc ||
            (!all && !passed(c->sequence, w->sequence)))
            continue;
        reply(c, w->call->arg);
        tp_waiter_end(kms, w, 0);
    }
}

void tp_vblank_off(struct tp_kms *kms, unsigned crtc)
{
    fire(kms, crtc, true);
}

void tp_kms_vblank(struct tp_kms *kms, unsigned crtc, uint64_t sequence, int64_t time_ns)
{
    if (crtc >= kms->n_outputs)
        return;
    struct tp_crtc *c = &kms->crtcs[crtc];
    c->sequence = sequence;
    c->time_ns = time_ns;
    if (time_ns > kms->now_ns)
        kms->now_ns = time_ns;
    fire(kms, crtc, false);
}

void tp_vblanks_release(struct tp_kms_file *file)
{
    struct tp_kms *kms = file->kms;
    for (struct tp_event **at = &kms->vblank_events, *e; (e = *at);) {
        if (e->file != file) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        tp_event_cancel(kms, e);
    }
}

/* An event for a vblank; at once where it has been. Answers the sequence that it is for. */
static int queue(struct tp_ioctl_call *c, unsigned crtc, uint32_t type, uint64_t user_data,
                 uint64_t target, uint64_t *sequence)
{
    struct tp_kms *kms = c->kms;
    const struct tp_crtc *k = &kms->crtcs[crtc];
    struct tp_event *e = tp_event_reserve(c->file, crtc, type, user_data);
    if (!e)
        return -ENOMEM;
    e->sequence = target;
    if (passed(k->sequence, target)) {
        *sequence = k->sequence;
        tp_event_send(kms, e, k->sequence, k->time_ns);
        return 0;
    }
    *sequence = target;
    struct tp_event **at = &kms->vblank_events;
    while (*at)
        at = &(*at)->next;
    *at = e;
    e->next = NULL;
    return 0;
}

int tp_ioctl_wait_vblank(struct tp_ioctl_call *c, void *arg)
{
    union drm_wait_vblank *w = arg;
    struct tp_kms *kms = c->kms;
    uint32_t type = w->request.type;
    if (type & _DRM_VBLANK_SIGNAL)
        return -EINVAL;
    if (type &
        ~(uint32_t)(_DRM_VBLANK_TYPES_MASK | _DRM_VBLANK_FLAGS_MASK | _DRM_VBLANK_HIGH_CRTC_MASK))
        return -EINVAL;
    uint32_t high = type & _DRM_VBLANK_HIGH_CRTC_MASK;
    unsigned crtc = high                           ? high >> _DRM_VBLANK_HIGH_CRTC_SHIFT
                    : type & _DRM_VBLANK_SECONDARY ? 1
                                                   : 0;
    if (crtc >= kms->n_outputs)
        return -EINVAL;
    struct tp_crtc *k = &kms->crtcs[crtc];
    if (!k->state.active)
        return -EINVAL;
    uint64_t target;
    switch (type & _DRM_VBLANK_TYPES_MASK) {
    case _DRM_VBLANK_RELATIVE:
        target = k->sequence + w->request.sequence;
        break;
    case _DRM_VBLANK_ABSOLUTE:
        target =
            k->sequence + (uint64_t)(int64_t)(int32_t)(w->request.sequence - (uint32_t)k->sequence);
        break;
    default:
        return -EINVAL;
    }
    if (type & _DRM_VBLANK_NEXTONMISS && passed(k->sequence, target))
        target = k->sequence + 1;
    if (type & _DRM_VBLANK_EVENT) {
        uint64_t sequence;
        int r = queue(c, crtc, DRM_EVENT_VBLANK, w->request.signal, target, &sequence);
        if (r == 0)
            w->reply.sequence = (uint32_t)sequence;
        return r;
    }
    if (passed(k->sequence, target)) {
        reply(k, w);
        return 0;
    }
    struct tp_waiter *waiter = tp_waiter_add(c->file, TP_WAIT_VBLANK, c->call, c->waiter);
    waiter->crtc = crtc;
    waiter->sequence = target;
    waiter->deadline_ns = kms->now_ns + WAIT_NS;
    return TP_KMS_WAITS;
}

int tp_ioctl_get_sequence(struct tp_ioctl_call *c, void *arg)
{
    struct drm_crtc_get_sequence *a = arg;
    int i = tp_object_find(c->kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
    if (i < 0)
        return -ENOENT;
    const struct tp_crtc *k = &c->kms->crtcs[i];
    if (!k->state.active)
        return -EINVAL;
    a->active = k->state.enable;
    a->sequence = k->sequence;
    a->sequence_ns = k->time_ns;
    return 0;
}

int tp_ioctl_queue_sequence(struct tp_ioctl_call *c, void *arg)
{
    struct drm_crtc_queue_sequence *a = arg;
    int i = tp_object_find(c->kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
    if (i < 0)
        return -ENOENT;
    if (a->flags & ~(uint32_t)(DRM_CRTC_SEQUENCE_RELATIVE | DRM_CRTC_SEQUENCE_NEXT_ON_MISS))
        return -EINVAL;
    const struct tp_crtc *k = &c->kms->crtcs[i];
    if (!k->state.active)
        return -EINVAL;
    uint64_t target = a->sequence;
    if (a->flags & DRM_CRTC_SEQUENCE_RELATIVE)
        target += k->sequence;
    if (a->flags & DRM_CRTC_SEQUENCE_NEXT_ON_MISS && passed(k->sequence, target))
        target = k->sequence + 1;
    uint64_t sequence;
    int r = queue(c, (unsigned)i, DRM_EVENT_CRTC_SEQUENCE, a->user_data, target, &sequence);
    if (r == 0)
        a->sequence = sequence;
    return r;
}
