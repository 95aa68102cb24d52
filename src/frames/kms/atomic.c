/* The atomic ioctl, and what each property sets: drm_atomic_uapi.c. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <stddef.h>

#include "frames/kms/property.h"

#define ATOMIC_FLAGS                                                                               \
    (DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_PAGE_FLIP_ASYNC | DRM_MODE_ATOMIC_TEST_ONLY |             \
     DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_ATOMIC_ALLOW_MODESET)

/* Replaces a blob. each: its length must be a multiple; whole: must be this. 0: any. */
static int set_blob(struct tp_kms *kms, struct tp_blob **to, uint64_t id, size_t whole, size_t each)
{
    struct tp_blob *b = id ? tp_blob_find(kms, id) : NULL;
    if (id && (!b || (whole && b->length != whole) || (each && b->length % each)))
        return -EINVAL;
    tp_blob_assign(kms, to, b);
    return 0;
}

static int crtc_of(const struct tp_kms *kms, uint64_t id)
{
    return id ? tp_object_find(kms, id, DRM_MODE_OBJECT_CRTC) : TP_KMS_NONE;
}

static int set_on_crtc(struct tp_kms *kms, unsigned i, enum tp_property p, uint64_t *value)
{
    struct tp_crtc_state *s = tp_state_crtc(kms, i);
    switch (p) {
    case TP_PROP_ACTIVE:
        s->active = *value;
        return 0;
    case TP_PROP_MODE_ID:
        return tp_state_mode_blob(kms, s, *value ? tp_blob_find(kms, *value) : NULL);
    case TP_PROP_VRR_ENABLED:
        s->vrr = *value;
        return 0;
    case TP_PROP_GAMMA_LUT:
        return set_blob(kms, &s->gamma, *value, 0, sizeof(struct drm_color_lut));
    case TP_PROP_OUT_FENCE_PTR:
        if (*value)
            kms->state.out_fence[i] = value;
        return 0;
    default:
        return -EINVAL;
    }
}

static int set_on_connector(struct tp_kms *kms, unsigned i, enum tp_property p, uint64_t value)
{
    struct tp_connector_state *s = tp_state_connector(kms, i);
    switch (p) {
    case TP_PROP_CRTC_ID:
        tp_state_connector_crtc(kms, i, crtc_of(kms, value));
        return 0;
    case TP_PROP_LINK_STATUS:
        if (s->link_status != DRM_MODE_LINK_STATUS_GOOD)
            s->link_status = (uint32_t)value;
        return 0;
    case TP_PROP_MAX_BPC:
        s->max_bpc = (uint32_t)value;
        return 0;
    case TP_PROP_COLORSPACE:
        s->colorspace = (uint32_t)value;
        return 0;
    case TP_PROP_CONTENT_TYPE:
        s->content_type = (uint32_t)value;
        return 0;
    case TP_PROP_HDR:
        return set_blob(kms, &s->hdr, value, sizeof(struct hdr_output_metadata), 0);
    default: /* DPMS is not for atomic clients */
        return -EINVAL;
    }
}

static int set_on_plane(struct tp_kms *kms, unsigned i, enum tp_property p, uint64_t value)
{
    struct tp_plane_state *s = tp_state_plane(kms, i);
    switch (p) {
    case TP_PROP_FB_ID:
        tp_fb_assign(kms, &s->fb, value ? tp_fb_find(kms, value) : NULL);
        return 0;
    case TP_PROP_CRTC_ID:
        tp_state_plane_crtc(kms, i, crtc_of(kms, value));
        return 0;
    case TP_PROP_IN_FENCE_FD:
        if (s->fence >= 0)
            return -EINVAL;
        if ((int64_t)value == -1)
            return 0;
        if (!kms->state.call || !tp_is_fence(tp_call_fd(kms->state.call, (int64_t)value)))
            return -EINVAL;
        s->fence = (int)value;
        return 0;
    case TP_PROP_CRTC_X:
        s->crtc_x = (int32_t)value;
        return 0;
    case TP_PROP_CRTC_Y:
        s->crtc_y = (int32_t)value;
        return 0;
    case TP_PROP_CRTC_W:
        s->crtc_w = (uint32_t)value;
        return 0;
    case TP_PROP_CRTC_H:
        s->crtc_h = (uint32_t)value;
        return 0;
    case TP_PROP_SRC_X:
        s->src_x = (uint32_t)value;
        return 0;
    case TP_PROP_SRC_Y:
        s->src_y = (uint32_t)value;
        return 0;
    case TP_PROP_SRC_W:
        s->src_w = (uint32_t)value;
        return 0;
    case TP_PROP_SRC_H:
        s->src_h = (uint32_t)value;
        return 0;
    case TP_PROP_ALPHA:
        s->alpha = (uint16_t)value;
        return 0;
    case TP_PROP_BLEND:
        s->blend = (uint8_t)value;
        return 0;
    case TP_PROP_ROTATION: {
        uint64_t rotate = value & DRM_MODE_ROTATE_MASK;
        if (!rotate || rotate & (rotate - 1))
            return -EINVAL;
        s->rotation = (uint32_t)value;
        return 0;
    }
    case TP_PROP_DAMAGE:
        return set_blob(kms, &s->damage, value, 0, sizeof(struct drm_mode_rect));
    default:
        return -EINVAL;
    }
}

static uint64_t id_of_crtc(const struct tp_kms *kms, int crtc)
{
    return crtc == TP_KMS_NONE ? 0 : kms->crtcs[crtc].id;
}

static uint64_t get_of_plane(const struct tp_kms *kms, const struct tp_plane_state *s, unsigned i,
                             enum tp_property p)
{
    const struct tp_plane *plane = &kms->planes[i];
    switch (p) {
    case TP_PROP_TYPE:
        return plane->kind == TP_KMS_PRIMARY ? 1 : plane->kind == TP_KMS_CURSOR ? 2 : 0;
    case TP_PROP_FB_ID:
        return s->fb ? s->fb->id : 0;
    case TP_PROP_IN_FENCE_FD:
        return (uint64_t)-1;
    case TP_PROP_CRTC_ID:
        return id_of_crtc(kms, s->crtc);
    case TP_PROP_CRTC_X:
        return (uint64_t)(int64_t)s->crtc_x;
    case TP_PROP_CRTC_Y:
        return (uint64_t)(int64_t)s->crtc_y;
    case TP_PROP_CRTC_W:
        return s->crtc_w;
    case TP_PROP_CRTC_H:
        return s->crtc_h;
    case TP_PROP_SRC_X:
        return s->src_x;
    case TP_PROP_SRC_Y:
        return s->src_y;
    case TP_PROP_SRC_W:
        return s->src_w;
    case TP_PROP_SRC_H:
        return s->src_h;
    case TP_PROP_IN_FORMATS:
        return plane->kind == TP_KMS_CURSOR ? kms->cursor_in_formats->id : kms->in_formats->id;
    case TP_PROP_ALPHA:
        return s->alpha;
    case TP_PROP_BLEND:
        return s->blend;
    case TP_PROP_ROTATION:
        return s->rotation;
    case TP_PROP_DAMAGE:
        return s->damage ? s->damage->id : 0;
    default:
        return p >= TP_PROP_ZPOS && p <= TP_PROP_ZPOS_TOP ? plane->zpos : 0;
    }
}

static uint64_t get_of_crtc(const struct tp_crtc_state *s, enum tp_property p)
{
    switch (p) {
    case TP_PROP_ACTIVE:
        return s->active;
    case TP_PROP_MODE_ID:
        return s->mode_blob ? s->mode_blob->id : 0;
    case TP_PROP_VRR_ENABLED:
        return s->vrr;
    case TP_PROP_GAMMA_LUT:
        return s->gamma ? s->gamma->id : 0;
    case TP_PROP_GAMMA_LUT_SIZE:
        return TP_KMS_GAMMA;
    default: /* OUT_FENCE_PTR */
        return 0;
    }
}

static uint64_t get_of_connector(const struct tp_kms *kms, const struct tp_connector_state *s,
                                 unsigned i, enum tp_property p)
{
    const struct tp_connector *c = &kms->connectors[i];
    switch (p) {
    case TP_PROP_EDID:
        return c->edid ? c->edid->id : 0;
    case TP_PROP_DPMS:
        return c->dpms;
    case TP_PROP_LINK_STATUS:
        return s->link_status;
    case TP_PROP_CRTC_ID:
        return id_of_crtc(kms, s->crtc);
    case TP_PROP_VRR_CAPABLE:
        return c->output.connected && c->output.vrr_max_mhz != 0;
    case TP_PROP_MAX_BPC:
        return s->max_bpc;
    case TP_PROP_COLORSPACE:
        return s->colorspace;
    case TP_PROP_HDR:
        return s->hdr ? s->hdr->id : 0;
    case TP_PROP_CONTENT_TYPE:
        return s->content_type;
    default: /* a desktop, upright, in one tile */
        return 0;
    }
}

uint64_t tp_atomic_get(const struct tp_kms *kms, enum tp_object_kind kind, unsigned i,
                       enum tp_property p)
{
    switch (kind) {
    case TP_ON_CRTC:
        return get_of_crtc(&kms->crtcs[i].state, p);
    case TP_ON_CONNECTOR:
        return get_of_connector(kms, &kms->connectors[i].state, i, p);
    case TP_ON_PLANE:
        return get_of_plane(kms, &kms->planes[i].state, i, p);
    }
    return 0;
}

/* With an async flip nothing may change but the primary plane's picture. */
static int set_async(struct tp_kms *kms, enum tp_object_kind kind, unsigned i, enum tp_property p,
                     uint64_t *value)
{
    uint64_t old;
    switch (kind) {
    case TP_ON_CRTC:
        old = get_of_crtc(tp_state_crtc(kms, i), p);
        break;
    case TP_ON_CONNECTOR:
        old = get_of_connector(kms, tp_state_connector(kms, i), i, p);
        break;
    default:
        if (kms->planes[i].kind == TP_KMS_PRIMARY &&
            (p == TP_PROP_FB_ID || p == TP_PROP_IN_FENCE_FD || p == TP_PROP_DAMAGE))
            return set_on_plane(kms, i, p, *value);
        old = get_of_plane(kms, tp_state_plane(kms, i), i, p);
    }
    return old == *value ? 0 : -EINVAL;
}

int tp_atomic_set(struct tp_kms *kms, enum tp_object_kind kind, unsigned i, enum tp_property p,
                  uint64_t *value, bool async)
{
    if (!tp_property_takes(kms, p, *value))
        return -EINVAL;
    if (async)
        return set_async(kms, kind, i, p, value);
    switch (kind) {
    case TP_ON_CRTC:
        return set_on_crtc(kms, i, p, value);
    case TP_ON_CONNECTOR:
        return set_on_connector(kms, i, p, *value);
    case TP_ON_PLANE:
        return set_on_plane(kms, i, p, *value);
    }
    return -EINVAL;
}

static int set_all(struct tp_kms *kms, const struct drm_mode_atomic *a, bool async)
{
    const uint32_t *objects = TP_ARRAY(uint32_t, a->objs_ptr);
    const uint32_t *counts = TP_ARRAY(uint32_t, a->count_props_ptr);
    const uint32_t *properties = TP_ARRAY(uint32_t, a->props_ptr);
    uint64_t *values = TP_ARRAY(uint64_t, a->prop_values_ptr);
    for (unsigned k = 0; k < a->count_objs; k++) {
        enum tp_object_kind kind;
        unsigned place;
        if (!objects || !counts)
            return -EFAULT;
        int i = tp_property_object(kms, objects[k], &kind, &place);
        if (i < 0)
            return -ENOENT;
        for (unsigned n = counts[k]; n; n--, properties++, values++) {
            if (!a->props_ptr || !a->prop_values_ptr)
                return -EFAULT;
            int p = tp_property_find(kms, place, *properties);
            if (p < 0)
                return -ENOENT;
            int r = tp_atomic_set(kms, kind, (unsigned)i, (enum tp_property)p, values, async);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* prepare_signaling */
static int make_events(struct tp_kms *kms, const struct drm_mode_atomic *a)
{
    struct tp_state *st = &kms->state;
    if (!(a->flags & DRM_MODE_PAGE_FLIP_EVENT))
        return 0;
    if (!st->crtcs)
        return -EINVAL;
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (!(st->crtcs >> i & 1))
            continue;
        st->events[i] = tp_event_reserve(st->file, i, DRM_EVENT_FLIP_COMPLETE, a->user_data);
        if (!st->events[i])
            return -ENOMEM;
    }
    return 0;
}

int tp_ioctl_atomic(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_atomic *a = arg;
    struct tp_kms *kms = c->kms;
    if (!c->file->view.atomic)
        return -EINVAL;
    if (a->flags & ~(uint32_t)ATOMIC_FLAGS || a->reserved)
        return -EINVAL;
    bool test = a->flags & DRM_MODE_ATOMIC_TEST_ONLY;
    if (test && a->flags & DRM_MODE_PAGE_FLIP_EVENT)
        return -EINVAL;
    tp_state_begin(kms, c->file, c->call);
    kms->state.allow_modeset = a->flags & DRM_MODE_ATOMIC_ALLOW_MODESET;
    kms->state.async = a->flags & DRM_MODE_PAGE_FLIP_ASYNC;
    int r = set_all(kms, a, kms->state.async);
    if (r == 0 && !test)
        r = make_events(kms, a);
    if (r == 0 && !test)
        return tp_atomic_commit(
            kms, a->flags & DRM_MODE_ATOMIC_NONBLOCK ? TP_COMMIT_NONBLOCK : TP_COMMIT_BLOCKING,
            c->waiter);
    if (r == 0)
        r = tp_atomic_check(kms);
    /* A test gives no fence. */
    for (unsigned i = 0; i < kms->n_outputs; i++)
        if (kms->state.out_fence[i])
            *kms->state.out_fence[i] = (uint64_t)-1;
    tp_state_clear(kms);
    return r;
}
