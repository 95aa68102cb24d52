/* The calls from before atomic: drm_crtc.c, drm_plane.c and drm_color_mgmt.c, by the atomic
 * helpers. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* drm_framebuffer_check_src_coords */
static int fits(uint32_t x, uint32_t y, uint32_t w, uint32_t h, const struct tp_kms_fb *fb)
{
    uint32_t width = fb->width << 16, height = fb->height << 16;
    return w > width || x > width - w || h > height || y > height - h ? -ENOSPC : 0;
}

static int set_config(struct tp_ioctl_call *c, unsigned crtc, const struct drm_mode_modeinfo *mode,
                      struct tp_kms_fb *fb, uint32_t x, uint32_t y, uint32_t connectors)
{
    struct tp_kms *kms = c->kms;
    unsigned primary = kms->crtcs[crtc].primary;
    tp_state_begin(kms, c->file, c->call);
    struct tp_crtc_state *s = tp_state_crtc(kms, crtc);
    struct tp_plane_state *p = tp_state_plane(kms, primary);
    int r = tp_state_mode(kms, s, mode);
    if (r < 0) {
        tp_state_clear(kms);
        return r;
    }
    s->active = mode != NULL;
    tp_state_plane_crtc(kms, primary, mode ? (int)crtc : TP_KMS_NONE);
    tp_fb_assign(kms, &p->fb, fb);
    if (mode) {
        p->crtc_x = p->crtc_y = 0;
        p->crtc_w = mode->hdisplay;
        p->crtc_h = mode->vdisplay;
        p->src_x = x << 16;
        p->src_y = y << 16;
        bool turned = p->rotation & (DRM_MODE_ROTATE_90 | DRM_MODE_ROTATE_270);
        p->src_w = (uint32_t)(turned ? mode->vdisplay : mode->hdisplay) << 16;
        p->src_h = (uint32_t)(turned ? mode->hdisplay : mode->vdisplay) << 16;
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (s->connector_mask >> i & 1) {
            tp_state_connector(kms, i)->link_status = DRM_MODE_LINK_STATUS_GOOD;
            tp_state_connector_crtc(kms, i, TP_KMS_NONE);
        }
    }
    for (unsigned i = 0; i < kms->n_outputs; i++)
        if (connectors >> i & 1)
            tp_state_connector_crtc(kms, i, (int)crtc);
    /* A CRTC that lost its connector to this one goes off. */
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        struct tp_crtc_state *k = &kms->state.crtc[i];
        if (i == crtc || !(kms->state.crtcs >> i & 1) || k->connector_mask)
            continue;
        tp_state_mode(kms, k, NULL);
        k->active = false;
    }
    return tp_atomic_commit(kms, TP_COMMIT_BLOCKING, c->waiter);
}

int tp_ioctl_set_crtc(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_crtc *a = arg;
    struct tp_kms *kms = c->kms;
    if (a->x & 0xffff0000 || a->y & 0xffff0000)
        return -ERANGE;
    int i = tp_object_find(kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
    if (i < 0)
        return -ENOENT;
    const struct tp_plane *primary = &kms->planes[kms->crtcs[i].primary];
    struct tp_kms_fb *fb = NULL;
    struct drm_mode_modeinfo mode;
    if (a->mode_valid) {
        bool same = a->fb_id == UINT32_MAX;
        fb = same ? primary->state.fb : tp_fb_find(kms, a->fb_id);
        if (!fb)
            return same ? -EINVAL : -ENOENT;
        if (!c->file->view.aspect_ratio && a->mode.flags & DRM_MODE_FLAG_PIC_AR_MASK)
            return -EINVAL;
        int r = tp_mode_convert(&mode, &a->mode);
        if (r < 0)
            return r;
        if (!tp_formats_take(&kms->formats, fb->format->fourcc, fb->modifier))
            return -EINVAL;
        uint32_t w = mode.hdisplay, h = mode.vdisplay;
        bool turned = primary->state.rotation & (DRM_MODE_ROTATE_90 | DRM_MODE_ROTATE_270);
        r = fits(a->x << 16, a->y << 16, (turned ? h : w) << 16, (turned ? w : h) << 16, fb);
        if (r < 0)
            return r;
    }
    if (!a->count_connectors != !a->mode_valid || a->count_connectors > kms->n_outputs)
        return -EINVAL;
    uint32_t connectors = 0;
    const uint32_t *ids = TP_ARRAY(uint32_t, a->set_connectors_ptr);
    for (unsigned k = 0; k < a->count_connectors; k++) {
        if (!ids)
            return -EFAULT;
        int n = tp_object_find(kms, ids[k], DRM_MODE_OBJECT_CONNECTOR);
        if (n < 0)
            return -ENOENT;
        connectors |= 1u << n;
    }
    return set_config(c, (unsigned)i, a->mode_valid ? &mode : NULL, fb, a->x, a->y, connectors);
}

/* A plane's picture: __setplane_check and drm_atomic_helper_update_plane, or _disable_plane. */
static int set_plane(struct tp_ioctl_call *c, unsigned plane, int crtc, struct tp_kms_fb *fb,
                     const struct drm_mode_set_plane *a, bool cursor)
{
    struct tp_kms *kms = c->kms;
    const struct tp_plane *p = &kms->planes[plane];
    if (fb) {
        const struct tp_formats *formats =
            p->kind == TP_KMS_CURSOR ? &kms->cursor_formats : &kms->formats;
        if (crtc != (int)p->crtc || !tp_formats_take(formats, fb->format->fourcc, fb->modifier))
            return -EINVAL;
        if (a->crtc_w > INT_MAX || a->crtc_x > INT_MAX - (int32_t)a->crtc_w ||
            a->crtc_h > INT_MAX || a->crtc_y > INT_MAX - (int32_t)a->crtc_h)
            return -ERANGE;
        int r = fits(a->src_x, a->src_y, a->src_w, a->src_h, fb);
        if (r < 0)
            return r;
    }
    tp_state_begin(kms, c->file, c->call);
    struct tp_plane_state *s = tp_state_plane(kms, plane);
    tp_state_plane_crtc(kms, plane, fb ? crtc : TP_KMS_NONE);
    tp_fb_assign(kms, &s->fb, fb);
    s->crtc_x = fb ? a->crtc_x : 0;
    s->crtc_y = fb ? a->crtc_y : 0;
    s->crtc_w = fb ? a->crtc_w : 0;
    s->crtc_h = fb ? a->crtc_h : 0;
    s->src_x = fb ? a->src_x : 0;
    s->src_y = fb ? a->src_y : 0;
    s->src_w = fb ? a->src_w : 0;
    s->src_h = fb ? a->src_h : 0;
    return tp_atomic_commit(kms, cursor ? TP_COMMIT_NOW : TP_COMMIT_BLOCKING, c->waiter);
}

int tp_ioctl_set_plane(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_set_plane *a = arg;
    struct tp_kms *kms = c->kms;
    int plane = tp_object_find(kms, a->plane_id, DRM_MODE_OBJECT_PLANE);
    if (plane < 0)
        return -ENOENT;
    struct tp_kms_fb *fb = NULL;
    int crtc = TP_KMS_NONE;
    if (a->fb_id) {
        fb = tp_fb_find(kms, a->fb_id);
        crtc = tp_object_find(kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
        if (!fb || crtc < 0)
            return -ENOENT;
    }
    return set_plane(c, (unsigned)plane, crtc, fb, a, kms->planes[plane].kind == TP_KMS_CURSOR);
}

/* drm_mode_cursor_universal */
static int cursor(struct tp_ioctl_call *c, const struct drm_mode_cursor2 *a)
{
    struct tp_kms *kms = c->kms;
    if (!a->flags || a->flags & ~(uint32_t)DRM_MODE_CURSOR_FLAGS)
        return -EINVAL;
    int i = tp_object_find(kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
    if (i < 0)
        return -ENOENT;
    struct tp_crtc *crtc = &kms->crtcs[i];
    struct tp_plane *plane = &kms->planes[crtc->cursor];
    struct tp_kms_fb *fb = plane->state.fb;
    bool made = false;
    if (a->flags & DRM_MODE_CURSOR_BO) {
        fb = NULL;
        if (a->handle) {
            struct drm_mode_fb_cmd2 r = {
                .width = a->width,
                .height = a->height,
                .pixel_format = DRM_FORMAT_ARGB8888,
                .pitches = {a->width * 4},
                .handles = {a->handle},
            };
            int e = tp_fb_create(c->file, &r, &fb);
            if (e < 0)
                return e;
            made = true;
        }
    }
    struct drm_mode_set_plane set = {
        .crtc_x = a->flags & DRM_MODE_CURSOR_MOVE ? a->x : crtc->cursor_x,
        .crtc_y = a->flags & DRM_MODE_CURSOR_MOVE ? a->y : crtc->cursor_y,
    };
    if (fb) {
        set.crtc_w = fb->width;
        set.crtc_h = fb->height;
        set.src_w = fb->width << 16;
        set.src_h = fb->height << 16;
    }
    int r = set_plane(c, crtc->cursor, i, fb, &set, true);
    if (made)
        tp_fb_unuse(kms, fb);
    if (r == 0 && a->flags & DRM_MODE_CURSOR_MOVE) {
        crtc->cursor_x = a->x;
        crtc->cursor_y = a->y;
    }
    return r;
}

int tp_ioctl_cursor(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_cursor2 a = {0};
    memcpy(&a, arg, sizeof(struct drm_mode_cursor));
    return cursor(c, &a);
}

int tp_ioctl_cursor2(struct tp_ioctl_call *c, void *arg)
{
    return cursor(c, arg);
}

int tp_ioctl_page_flip(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_crtc_page_flip_target *a = arg;
    struct tp_kms *kms = c->kms;
    /* No target: DRM_CAP_PAGE_FLIP_TARGET is 0. */
    if (a->flags & ~(uint32_t)(DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_PAGE_FLIP_ASYNC) || a->sequence)
        return -EINVAL;
    int i = tp_object_find(kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
    if (i < 0)
        return -ENOENT;
    struct tp_crtc *crtc = &kms->crtcs[i];
    const struct tp_plane_state *old = &kms->planes[crtc->primary].state;
    if (!old->fb)
        return -EBUSY;
    struct tp_kms_fb *fb = tp_fb_find(kms, a->fb_id);
    if (!fb)
        return -ENOENT;
    int r = fits(old->src_x, old->src_y, old->src_w, old->src_h, fb);
    if (r < 0)
        return r;
    if (old->fb->format != fb->format || !crtc->state.active)
        return -EINVAL;
    tp_state_begin(kms, c->file, c->call);
    kms->state.allow_modeset = false;
    kms->state.async = a->flags & DRM_MODE_PAGE_FLIP_ASYNC;
    tp_state_crtc(kms, (unsigned)i);
    tp_fb_assign(kms, &tp_state_plane(kms, crtc->primary)->fb, fb);
    if (a->flags & DRM_MODE_PAGE_FLIP_EVENT) {
        kms->state.events[i] =
            tp_event_reserve(c->file, (unsigned)i, DRM_EVENT_FLIP_COMPLETE, a->user_data);
        if (!kms->state.events[i]) {
            tp_state_clear(kms);
            return -ENOMEM;
        }
    }
    return tp_atomic_commit(kms, TP_COMMIT_NONBLOCK, c->waiter);
}

static struct tp_crtc *gamma_of(struct tp_kms *kms, const struct drm_mode_crtc_lut *a, int *error)
{
    int i = tp_object_find(kms, a->crtc_id, DRM_MODE_OBJECT_CRTC);
    *error = i < 0                              ? -ENOENT
             : a->gamma_size != TP_KMS_GAMMA    ? -EINVAL
             : !a->red || !a->green || !a->blue ? -EFAULT
                                                : 0;
    return *error ? NULL : &kms->crtcs[i];
}

int tp_ioctl_get_gamma(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_crtc_lut *a = arg;
    int error;
    struct tp_crtc *crtc = gamma_of(c->kms, a, &error);
    const uint64_t to[3] = {a->red, a->green, a->blue};
    for (int k = 0; crtc && k < 3; k++)
        memcpy(TP_ARRAY(void, to[k]), crtc->gamma_store[k], sizeof crtc->gamma_store[k]);
    return error;
}

int tp_ioctl_set_gamma(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_crtc_lut *a = arg;
    struct tp_kms *kms = c->kms;
    int error;
    struct tp_crtc *crtc = gamma_of(kms, a, &error);
    if (!crtc)
        return error;
    const uint64_t from[3] = {a->red, a->green, a->blue};
    struct drm_color_lut lut[TP_KMS_GAMMA] = {{0}};
    for (int k = 0; k < 3; k++)
        memcpy(crtc->gamma_store[k], TP_ARRAY(void, from[k]), sizeof crtc->gamma_store[k]);
    for (unsigned i = 0; i < TP_KMS_GAMMA; i++) {
        lut[i].red = crtc->gamma_store[0][i];
        lut[i].green = crtc->gamma_store[1][i];
        lut[i].blue = crtc->gamma_store[2][i];
    }
    struct tp_blob *b = tp_blob_create(kms, lut, sizeof lut);
    if (!b)
        return -ENOMEM;
    tp_state_begin(kms, c->file, c->call);
    struct tp_crtc_state *s = tp_state_crtc(kms, (unsigned)(crtc - kms->crtcs));
    tp_blob_put(kms, s->gamma);
    s->gamma = b;
    return tp_atomic_commit(kms, TP_COMMIT_BLOCKING, c->waiter);
}
