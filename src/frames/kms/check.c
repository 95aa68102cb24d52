/* Can a commit be carried out? drm_atomic_check_only, and the checks of drm_atomic_helper.c as a
 * driver without restrictions uses them. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <limits.h>

/* A mode within this of the connector's is that one: clients round. */
#define SAME_REFRESH_MHZ 600u

static int check_plane(const struct tp_kms *kms, unsigned i, const struct tp_plane_state *s)
{
    const struct tp_plane *plane = &kms->planes[i];
    const struct tp_kms_fb *fb = s->fb;
    if ((s->crtc != TP_KMS_NONE) != (fb != NULL))
        return -EINVAL;
    if (!fb)
        return 0;
    if (s->crtc != (int)plane->crtc)
        return -EINVAL;
    const struct tp_formats *formats =
        plane->kind == TP_KMS_CURSOR ? &kms->cursor_formats : &kms->formats;
    if (!tp_formats_take(formats, fb->format->fourcc, fb->modifier))
        return -EINVAL;
    if (s->crtc_w > INT_MAX || s->crtc_x > INT_MAX - (int32_t)s->crtc_w || s->crtc_h > INT_MAX ||
        s->crtc_y > INT_MAX - (int32_t)s->crtc_h)
        return -ERANGE;
    uint32_t width = fb->width << 16, height = fb->height << 16;
    if (s->src_w > width || s->src_x > width - s->src_w || s->src_h > height ||
        s->src_y > height - s->src_h)
        return -ENOSPC;
    if (s->damage) {
        const struct drm_mode_rect *r = (const void *)s->damage->data;
        for (size_t n = s->damage->length / sizeof *r; n; n--, r++)
            if (r->x1 >= r->x2 || r->y1 >= r->y2 || r->x1 < 0 || r->y1 < 0 ||
                (uint32_t)r->x2 > width || (uint32_t)r->y2 > height)
                return -EINVAL;
    }
    return 0;
}

static int check_crtc(const struct tp_kms *kms, unsigned i, const struct tp_crtc_state *s)
{
    const struct tp_state *st = &kms->state;
    if (s->active && !s->enable)
        return -EINVAL;
    if ((st->events[i] || st->out_fence[i]) && !s->active && !kms->crtcs[i].state.active)
        return -EINVAL;
    return 0;
}

static bool needs_modeset(const struct tp_crtc_state *s)
{
    return s->mode_changed || s->active_changed || s->connectors_changed;
}

static int check_connector(struct tp_kms *kms, unsigned i)
{
    struct tp_state *st = &kms->state;
    const struct tp_connector_state *old = &kms->connectors[i].state, *new = &st->connector[i];
    /* Each encoder reaches its own CRTC only. */
    if (new->crtc != TP_KMS_NONE &&new->crtc != (int)i)
        return -EINVAL;
    if (old->crtc != new->crtc) {
        if (old->crtc != TP_KMS_NONE)
            tp_state_crtc(kms, (unsigned)old->crtc)->connectors_changed = true;
        if (new->crtc != TP_KMS_NONE)
            tp_state_crtc(kms, (unsigned)new->crtc)->connectors_changed = true;
    }
    if (old->crtc != TP_KMS_NONE &&
        (old->link_status != new->link_status || old->max_bpc != new->max_bpc))
        tp_state_crtc(kms, (unsigned)old->crtc)->connectors_changed = true;
    return 0;
}

static bool has_mode(const struct tp_connector *c, const struct drm_mode_modeinfo *m)
{
    uint32_t refresh = tp_mode_refresh_mhz(m);
    for (unsigned i = 0; i < c->output.n_modes; i++) {
        const struct tp_kms_mode *k = &c->output.modes[i];
        if (k->width_px == m->hdisplay && k->height_px == m->vdisplay &&
            k->refresh_mhz + SAME_REFRESH_MHZ > refresh &&
            refresh + SAME_REFRESH_MHZ > k->refresh_mhz)
            return true;
    }
    return false;
}

/* drm_atomic_helper_check_modeset */
static int check_modeset(struct tp_kms *kms)
{
    struct tp_state *st = &kms->state;
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (!(st->crtcs >> i & 1))
            continue;
        const struct tp_crtc_state *old = &kms->crtcs[i].state;
        struct tp_crtc_state *new = &st->crtc[i];
        if (!tp_mode_equal(&old->mode, &new->mode))
            new->mode_changed = true;
        if (old->enable != new->enable)
            new->mode_changed = new->connectors_changed = true;
        if (old->active != new->active)
            new->active_changed = true;
        if (new->enable != (new->connector_mask != 0))
            return -EINVAL;
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        int r = st->connectors >> i & 1 ? check_connector(kms, i) : 0;
        if (r < 0)
            return r;
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (!(st->crtcs >> i & 1) || !needs_modeset(&st->crtc[i]))
            continue;
        struct tp_crtc_state *s = &st->crtc[i];
        for (unsigned k = 0; k < kms->n_outputs; k++)
            if (s->connector_mask >> k & 1)
                tp_state_connector(kms, k);
        for (unsigned k = 0; k < kms->n_planes; k++)
            if (s->plane_mask >> k & 1)
                tp_state_plane(kms, k);
        if (!s->mode_changed && !s->connectors_changed)
            continue;
        for (unsigned k = 0; k < kms->n_outputs; k++)
            if (s->connector_mask >> k & 1 && !has_mode(&kms->connectors[k], &s->mode))
                return -EINVAL;
    }
    return 0;
}

/* drm_atomic_helper_check_plane_state: primary and overlays scale as they like, the cursor does
 * not. */
static int place_plane(struct tp_kms *kms, unsigned i, struct tp_plane_state *s)
{
    s->visible = false;
    if (!s->fb)
        return 0;
    const struct tp_crtc_state *crtc = tp_state_crtc(kms, (unsigned)s->crtc);
    uint32_t src_w = s->src_w, src_h = s->src_h;
    if (s->rotation & (DRM_MODE_ROTATE_90 | DRM_MODE_ROTATE_270)) {
        src_w = s->src_h;
        src_h = s->src_w;
    }
    if (kms->planes[i].kind == TP_KMS_CURSOR && s->crtc_w && s->crtc_h &&
        (src_w != (uint64_t)s->crtc_w << 16 || src_h != (uint64_t)s->crtc_h << 16))
        return -ERANGE;
    if (!crtc->enable || !src_w || !src_h || !s->crtc_w || !s->crtc_h)
        return 0;
    s->visible = s->crtc_x < crtc->mode.hdisplay && s->crtc_y < crtc->mode.vdisplay &&
                 (int64_t)s->crtc_x + s->crtc_w > 0 && (int64_t)s->crtc_y + s->crtc_h > 0;
    return 0;
}

int tp_atomic_check(struct tp_kms *kms)
{
    struct tp_state *st = &kms->state;
    int r;
    for (unsigned i = 0; i < kms->n_planes; i++)
        if (st->planes >> i & 1 && (r = check_plane(kms, i, &st->plane[i])) < 0)
            return r;
    for (unsigned i = 0; i < kms->n_outputs; i++)
        if (st->crtcs >> i & 1 && (r = check_crtc(kms, i, &st->crtc[i])) < 0)
            return r;
    r = check_modeset(kms);
    if (r < 0)
        return r;
    for (unsigned i = 0; i < kms->n_planes; i++)
        if (st->planes >> i & 1 && (r = place_plane(kms, i, &st->plane[i])) < 0)
            return r;
    if (!st->allow_modeset)
        for (unsigned i = 0; i < kms->n_outputs; i++)
            if (st->crtcs >> i & 1 && needs_modeset(&st->crtc[i]))
                return -EINVAL;
    return 0;
}
