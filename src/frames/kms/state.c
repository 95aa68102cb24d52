/* A commit while it is put together: copies of the states of those objects that it touches. Copies
 * hold uses and references of their own. drm_atomic.c and the state helpers. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <string.h>

static void drop_plane(struct tp_kms *kms, struct tp_plane_state *s)
{
    tp_fb_unuse(kms, s->fb);
    tp_blob_put(kms, s->damage);
}

static void drop_crtc(struct tp_kms *kms, struct tp_crtc_state *s)
{
    tp_blob_put(kms, s->mode_blob);
    tp_blob_put(kms, s->gamma);
}

static void drop_connector(struct tp_kms *kms, struct tp_connector_state *s)
{
    tp_blob_put(kms, s->hdr);
}

void tp_state_begin(struct tp_kms *kms, struct tp_kms_file *file, struct tp_drm_call *call)
{
    struct tp_state *st = &kms->state;
    st->planes = st->crtcs = st->connectors = 0;
    st->allow_modeset = true;
    st->async = st->cursor = false;
    st->file = file;
    st->call = call;
    memset(st->events, 0, sizeof st->events);
    memset(st->out_fence, 0, sizeof st->out_fence);
}

void tp_state_clear(struct tp_kms *kms)
{
    struct tp_state *st = &kms->state;
    for (unsigned i = 0; i < kms->n_planes; i++)
        if (st->planes >> i & 1)
            drop_plane(kms, &st->plane[i]);
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (st->crtcs >> i & 1)
            drop_crtc(kms, &st->crtc[i]);
        if (st->connectors >> i & 1)
            drop_connector(kms, &st->connector[i]);
        tp_event_cancel(kms, st->events[i]);
    }
    tp_state_begin(kms, NULL, NULL);
}

struct tp_crtc_state *tp_state_crtc(struct tp_kms *kms, unsigned i)
{
    struct tp_state *st = &kms->state;
    struct tp_crtc_state *s = &st->crtc[i];
    if (st->crtcs >> i & 1)
        return s;
    st->crtcs |= 1u << i;
    *s = kms->crtcs[i].state;
    if (s->mode_blob)
        s->mode_blob->refs++;
    if (s->gamma)
        s->gamma->refs++;
    s->mode_changed = s->active_changed = s->connectors_changed = false;
    return s;
}

struct tp_plane_state *tp_state_plane(struct tp_kms *kms, unsigned i)
{
    struct tp_state *st = &kms->state;
    struct tp_plane_state *s = &st->plane[i];
    if (st->planes >> i & 1)
        return s;
    st->planes |= 1u << i;
    *s = kms->planes[i].state;
    if (s->fb)
        s->fb->uses++;
    s->damage = NULL; /* of one commit only */
    s->fence = -1;
    if (s->crtc != TP_KMS_NONE)
        tp_state_crtc(kms, (unsigned)s->crtc);
    return s;
}

struct tp_connector_state *tp_state_connector(struct tp_kms *kms, unsigned i)
{
    struct tp_state *st = &kms->state;
    struct tp_connector_state *s = &st->connector[i];
    if (st->connectors >> i & 1)
        return s;
    st->connectors |= 1u << i;
    *s = kms->connectors[i].state;
    if (s->hdr)
        s->hdr->refs++;
    if (s->crtc != TP_KMS_NONE)
        tp_state_crtc(kms, (unsigned)s->crtc);
    return s;
}

void tp_state_plane_crtc(struct tp_kms *kms, unsigned plane, int crtc)
{
    struct tp_plane_state *s = tp_state_plane(kms, plane);
    if (s->crtc == crtc)
        return;
    if (s->crtc != TP_KMS_NONE)
        tp_state_crtc(kms, (unsigned)s->crtc)->plane_mask &= ~(1u << plane);
    s->crtc = crtc;
    if (crtc != TP_KMS_NONE)
        tp_state_crtc(kms, (unsigned)crtc)->plane_mask |= 1u << plane;
}

void tp_state_connector_crtc(struct tp_kms *kms, unsigned connector, int crtc)
{
    struct tp_connector_state *s = tp_state_connector(kms, connector);
    if (s->crtc == crtc)
        return;
    if (s->crtc != TP_KMS_NONE)
        tp_state_crtc(kms, (unsigned)s->crtc)->connector_mask &= ~(1u << connector);
    s->crtc = crtc;
    if (crtc != TP_KMS_NONE)
        tp_state_crtc(kms, (unsigned)crtc)->connector_mask |= 1u << connector;
}

int tp_state_mode_blob(struct tp_kms *kms, struct tp_crtc_state *s, struct tp_blob *blob)
{
    if (blob == s->mode_blob)
        return 0;
    tp_blob_assign(kms, &s->mode_blob, NULL);
    memset(&s->mode, 0, sizeof s->mode);
    s->enable = false;
    if (!blob)
        return 0;
    if (blob->length != sizeof(struct drm_mode_modeinfo))
        return -EINVAL;
    struct drm_mode_modeinfo in;
    memcpy(&in, blob->data, sizeof in);
    if (tp_mode_convert(&s->mode, &in) < 0)
        return -EINVAL;
    tp_blob_assign(kms, &s->mode_blob, blob);
    s->enable = true;
    return 0;
}

int tp_state_mode(struct tp_kms *kms, struct tp_crtc_state *s, const struct drm_mode_modeinfo *mode)
{
    if (!mode)
        return tp_state_mode_blob(kms, s, NULL);
    if (s->enable && !memcmp(&s->mode, mode, sizeof *mode))
        return 0;
    struct tp_blob *b = tp_blob_create(kms, mode, sizeof *mode);
    if (!b)
        return -ENOMEM;
    tp_blob_put(kms, s->mode_blob);
    s->mode_blob = b;
    s->mode = *mode;
    s->enable = true;
    return 0;
}

void tp_state_swap(struct tp_kms *kms)
{
    struct tp_state *st = &kms->state;
    for (unsigned i = 0; i < kms->n_planes; i++) {
        if (!(st->planes >> i & 1))
            continue;
        struct tp_plane_state old = kms->planes[i].state;
        kms->planes[i].state = st->plane[i];
        drop_plane(kms, &old);
        tp_image_plane(kms, i);
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (!(st->crtcs >> i & 1))
            continue;
        struct tp_crtc_state old = kms->crtcs[i].state;
        kms->crtcs[i].state = st->crtc[i];
        drop_crtc(kms, &old);
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (!(st->connectors >> i & 1))
            continue;
        struct tp_connector *c = &kms->connectors[i];
        struct tp_connector_state old = c->state;
        c->state = st->connector[i];
        /* As the kernel's helpers do after a modeset: DPMS says what was asked for. */
        if (c->state.crtc == TP_KMS_NONE && old.crtc != TP_KMS_NONE) {
            c->dpms = DRM_MODE_DPMS_OFF;
        } else if (c->state.crtc != TP_KMS_NONE) {
            const struct tp_crtc_state *s = &kms->crtcs[c->state.crtc].state;
            if (s->mode_changed || s->active_changed || s->connectors_changed)
                c->dpms = s->active ? DRM_MODE_DPMS_ON : DRM_MODE_DPMS_OFF;
        }
        drop_connector(kms, &old);
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (st->crtcs >> i & 1)
            tp_image_crtc(kms, i);
        if ((st->connectors | st->crtcs) >> i & 1)
            tp_image_connector(kms, i);
    }
    st->planes = st->crtcs = st->connectors = 0;
    tp_kms_changed(kms);
}
