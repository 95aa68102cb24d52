/* Framebuffers, blobs and atomic commits. */
#include <drm_fourcc.h>
#include <errno.h>

#include "frames/icd/display_kms.h"

#define PTR(p) ((uint64_t)(uintptr_t)(p))

int tp_display_fb_add(struct tp_display_link *l, const struct tp_display_pipe *p,
    const struct tp_stream_image *image, uint32_t *out)
{
    struct drm_prime_handle prime = {.fd = image->fd};
    struct drm_mode_fb_cmd2 fb = {
        .width = image->width, .height = image->height, .pixel_format = image->fourcc};
    int r = tp_display_ioctl(l, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

    if (r < 0)
        return r;
    for (uint32_t i = 0; i < image->n_planes; i++) {
        fb.handles[i] = prime.handle;
        fb.pitches[i] = image->pitches[i];
        fb.offsets[i] = image->offsets[i];
        fb.modifier[i] = image->modifier;
    }
    if (p->modifiers && image->modifier != DRM_FORMAT_MOD_INVALID)
        fb.flags = DRM_MODE_FB_MODIFIERS;
    else
        for (uint32_t i = 0; i < image->n_planes; i++)
            fb.modifier[i] = 0;
    r = tp_display_ioctl(l, DRM_IOCTL_MODE_ADDFB2, &fb);
    /* The framebuffer keeps the memory. */
    struct drm_gem_close close = {.handle = prime.handle};
    tp_display_ioctl(l, DRM_IOCTL_GEM_CLOSE, &close);
    *out = fb.fb_id;
    return r;
}

void tp_display_fb_remove(struct tp_display_link *l, uint32_t fb)
{
    tp_display_ioctl(l, DRM_IOCTL_MODE_RMFB, &fb);
}

int tp_display_blob(struct tp_display_link *l, const void *data, uint32_t bytes, uint32_t *out)
{
    struct drm_mode_create_blob b = {.data = PTR(data), .length = bytes};
    int r = bytes ? tp_display_ioctl(l, DRM_IOCTL_MODE_CREATEPROPBLOB, &b) : 0;

    *out = r < 0 ? 0 : b.blob_id;
    return r;
}

void tp_display_blob_remove(struct tp_display_link *l, uint32_t blob)
{
    struct drm_mode_destroy_blob b = {.blob_id = blob};

    if (blob)
        tp_display_ioctl(l, DRM_IOCTL_MODE_DESTROYPROPBLOB, &b);
}

/* A commit as it is put together: objects one after the other, each with its properties. */
struct request {
    uint32_t objects[3], counts[3];
    uint32_t properties[32];
    uint64_t values[32];
    unsigned n_objects, n;
};

static void begin(struct request *r, uint32_t object)
{
    r->objects[r->n_objects] = object;
    r->counts[r->n_objects++] = 0;
}

static void set(struct request *r, uint32_t property, uint64_t value)
{
    if (!property)
        return;
    r->properties[r->n] = property;
    r->values[r->n++] = value;
    r->counts[r->n_objects - 1]++;
}

static int submit(struct tp_display_link *l, struct request *r, uint32_t flags, uint64_t user_data)
{
    struct drm_mode_atomic a = {.flags = flags,
        .count_objs = r->n_objects,
        .objs_ptr = PTR(r->objects),
        .count_props_ptr = PTR(r->counts),
        .props_ptr = PTR(r->properties),
        .prop_values_ptr = PTR(r->values),
        .user_data = user_data};

    return tp_display_ioctl(l, DRM_IOCTL_MODE_ATOMIC, &a);
}

static void place(
    struct request *r, const struct tp_display_pipe *p, const struct tp_display_flip *f)
{
    set(r, p->of_plane.crtc_id, p->crtc);
    set(r, p->of_plane.crtc_x, (uint64_t)(int64_t)f->x);
    set(r, p->of_plane.crtc_y, (uint64_t)(int64_t)f->y);
    set(r, p->of_plane.crtc_w, f->to_width);
    set(r, p->of_plane.crtc_h, f->to_height);
    set(r, p->of_plane.src_x, 0);
    set(r, p->of_plane.src_y, 0);
    set(r, p->of_plane.src_w, (uint64_t)f->width << 16);
    set(r, p->of_plane.src_h, (uint64_t)f->height << 16);
}

int tp_display_commit(
    struct tp_display_link *l, const struct tp_display_pipe *p, const struct tp_display_flip *f)
{
    uint32_t flags = DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK;
    struct request r = {.n = 0};

    if (f->modeset || f->colours) {
        flags |= DRM_MODE_ATOMIC_ALLOW_MODESET;
        begin(&r, p->connector);
        set(&r, p->of_connector.crtc_id, p->crtc);
        set(&r, p->of_connector.colorspace, f->colorspace);
        set(&r, p->of_connector.hdr, f->hdr_blob);
    }
    if (f->modeset) {
        begin(&r, p->crtc);
        set(&r, p->of_crtc.active, 1);
        set(&r, p->of_crtc.mode_id, f->mode_blob);
        set(&r, p->of_crtc.vrr, 0);
        set(&r, p->of_crtc.gamma, 0);
    }
    begin(&r, p->plane);
    set(&r, p->of_plane.fb_id, f->fb);
    if (f->fence >= 0)
        set(&r, p->of_plane.in_fence, (uint64_t)f->fence);
    if (f->async)
        flags |= DRM_MODE_PAGE_FLIP_ASYNC; /* nothing else may change */
    else
        place(&r, p, f);
    if (f->modeset) {
        set(&r, p->of_plane.rotation, DRM_MODE_ROTATE_0);
        set(&r, p->of_plane.alpha, 0xffff);
    }
    return submit(l, &r, flags, f->user_data);
}

int tp_display_power(struct tp_display_link *l, const struct tp_display_pipe *p, bool on)
{
    struct request r = {.n = 0};

    begin(&r, p->crtc);
    set(&r, p->of_crtc.active, on);
    return submit(l, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0);
}

/* Without waiting: what is under way ends with its framebuffer. */
void tp_display_off(struct tp_display_link *l, const struct tp_display_pipe *p)
{
    struct request r = {.n = 0};

    begin(&r, p->connector);
    set(&r, p->of_connector.crtc_id, 0);
    set(&r, p->of_connector.colorspace, 0);
    set(&r, p->of_connector.hdr, 0);
    begin(&r, p->crtc);
    set(&r, p->of_crtc.active, 0);
    set(&r, p->of_crtc.mode_id, 0);
    begin(&r, p->plane);
    set(&r, p->of_plane.fb_id, 0);
    set(&r, p->of_plane.crtc_id, 0);
    submit(l, &r, DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_NONBLOCK, 0);
}
