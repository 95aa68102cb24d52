/* Events to clients, and the room that each client has for those that it has not read (drm_file.c).
 */
#include "frames/kms/internal.h"

#include "base/buf.h"

struct tp_event *tp_event_reserve(struct tp_kms_file *file, unsigned crtc, uint32_t type,
                                  uint64_t user_data)
{
    struct tp_kms *kms = file->kms;
    size_t bytes = type == DRM_EVENT_CRTC_SEQUENCE ? sizeof(struct drm_event_crtc_sequence)
                                                   : sizeof(struct drm_event_vblank);
    size_t taken = file->events_pending;
    if (kms->ops.events_unread)
        taken += kms->ops.events_unread(kms->data, file);
    if (taken + bytes > kms->limits.event_bytes)
        return NULL;
    file->events_pending += bytes;
    struct tp_event *e = kms->free_events;
    if (e)
        kms->free_events = e->next;
    else
        e = tp_calloc(1, sizeof *e);
    *e = (struct tp_event){.file = file, .crtc = crtc};
    e->e.base.type = type;
    e->e.base.length = (uint32_t)bytes;
    if (type == DRM_EVENT_CRTC_SEQUENCE) {
        e->e.sequence.user_data = user_data;
    } else {
        e->e.vblank.user_data = user_data;
        e->e.vblank.crtc_id = kms->crtcs[crtc].id;
    }
    return e;
}

void tp_event_cancel(struct tp_kms *kms, struct tp_event *e)
{
    if (!e)
        return;
    if (e->file)
        e->file->events_pending -= e->e.base.length;
    e->next = kms->free_events;
    kms->free_events = e;
}

void tp_event_send(struct tp_kms *kms, struct tp_event *e, uint64_t sequence, int64_t time_ns)
{
    if (e->e.base.type == DRM_EVENT_CRTC_SEQUENCE) {
        e->e.sequence.sequence = sequence;
        e->e.sequence.time_ns = time_ns;
    } else {
        e->e.vblank.sequence = (uint32_t)sequence;
        e->e.vblank.tv_sec = (uint32_t)(time_ns / 1000000000);
        e->e.vblank.tv_usec = (uint32_t)(time_ns % 1000000000 / 1000);
    }
    if (e->file)
        kms->ops.send_event(kms->data, e->file, &e->e, e->e.base.length);
    tp_event_cancel(kms, e);
}
