/* Framebuffers: drm_framebuffer.c and drm_gem_framebuffer_helper.c. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"

static uint32_t plane_size(uint32_t size, unsigned plane, unsigned sub)
{
    return plane ? (size + sub - 1) / sub : size;
}

/* framebuffer_check */
static int check(const struct drm_mode_fb_cmd2 *r, const struct tp_format *f)
{
    bool modifiers = r->flags & DRM_MODE_FB_MODIFIERS;
    for (unsigned i = 0; i < f->n_planes; i++) {
        uint64_t width = plane_size(r->width, i, f->hsub),
                 height = plane_size(r->height, i, f->vsub);
        uint64_t min_pitch = width * f->bytes[i];
        if (!r->handles[i])
            return -EINVAL;
        if (min_pitch > UINT32_MAX || height * r->pitches[i] + r->offsets[i] > UINT32_MAX)
            return -ERANGE;
        if (r->pitches[i] < min_pitch)
            return -EINVAL;
        if (modifiers ? r->modifier[i] != r->modifier[0] : r->modifier[i] != 0)
            return -EINVAL;
        if (r->modifier[i] == DRM_FORMAT_MOD_SAMSUNG_64_32_TILE &&
            (f->fourcc != DRM_FORMAT_NV12 || width % 128 || height % 32 || r->pitches[i] % 128))
            return -EINVAL;
    }
    for (unsigned i = f->n_planes; i < 4; i++) {
        if (r->modifier[i])
            return -EINVAL;
        if (modifiers && (r->handles[i] || r->pitches[i] || r->offsets[i]))
            return -EINVAL;
    }
    return 0;
}

int tp_fb_create(struct tp_kms_file *file, const struct drm_mode_fb_cmd2 *r, struct tp_kms_fb **out)
{
    struct tp_kms *kms = file->kms;
    if (r->flags & ~(uint32_t)(DRM_MODE_FB_INTERLACED | DRM_MODE_FB_MODIFIERS))
        return -EINVAL;
    if (!r->width || r->width > TP_KMS_MAX_SIZE || !r->height || r->height > TP_KMS_MAX_SIZE)
        return -EINVAL;
    const struct tp_format *f = tp_format_find(r->pixel_format);
    if (!f)
        return -EINVAL;
    int e = check(r, f);
    if (e < 0)
        return e;
    if (!tp_formats_take(&kms->formats, f->fourcc, r->modifier[0]) &&
        !tp_formats_take(&kms->cursor_formats, f->fourcc, r->modifier[0]))
        return -EINVAL;
    struct tp_buffer *buffers[4] = {0};
    for (unsigned i = 0; i < f->n_planes; i++) {
        buffers[i] = tp_buffer_find(file, r->handles[i]);
        if (!buffers[i])
            return -ENOENT;
        uint64_t width = plane_size(r->width, i, f->hsub),
                 height = plane_size(r->height, i, f->vsub);
        uint64_t need = (height - 1) * r->pitches[i] + width * f->bytes[i] + r->offsets[i];
        if (tp_buffer_bytes(buffers[i]) < need)
            return -EINVAL;
    }
    struct tp_kms_fb *fb = tp_calloc(1, sizeof *fb);
    atomic_init(&fb->refs, 1);
    fb->uses = 1;
    fb->width = r->width;
    fb->height = r->height;
    fb->flags = r->flags;
    fb->format = f;
    fb->modifier = r->modifier[0];
    for (unsigned i = 0; i < f->n_planes; i++) {
        fb->pitches[i] = r->pitches[i];
        fb->offsets[i] = r->offsets[i];
        fb->buffers[i] = buffers[i];
        atomic_fetch_add(&buffers[i]->refs, 1);
        tp_buffer_use(buffers[i]);
    }
    fb->id = tp_table_add(&kms->objects, fb, DRM_MODE_OBJECT_FB);
    *out = fb;
    return 0;
}

struct tp_kms_fb *tp_fb_find(struct tp_kms *kms, uint64_t id)
{
    struct tp_entry *e = tp_table_get(&kms->objects, id);
    return e && e->tag == DRM_MODE_OBJECT_FB ? e->p : NULL;
}

struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb)
{
    atomic_fetch_add(&fb->refs, 1);
    return fb;
}

void tp_kms_fb_unref(struct tp_kms_fb *fb)
{
    if (atomic_fetch_sub(&fb->refs, 1) != 1)
        return;
    for (unsigned i = 0; i < fb->format->n_planes; i++)
        tp_buffer_unref(fb->buffers[i]);
    free(fb);
}

void tp_fb_unuse(struct tp_kms *kms, struct tp_kms_fb *fb)
{
    if (!fb || --fb->uses)
        return;
    tp_table_remove(&kms->objects, fb->id);
    for (unsigned i = 0; i < fb->format->n_planes; i++)
        tp_buffer_unuse(kms, fb->buffers[i]);
    tp_kms_fb_unref(fb);
}

void tp_fb_assign(struct tp_kms *kms, struct tp_kms_fb **to, struct tp_kms_fb *fb)
{
    if (fb)
        fb->uses++;
    tp_fb_unuse(kms, *to);
    *to = fb;
}

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = (struct tp_kms_fb_info){
        .id = fb->id,
        .width = fb->width,
        .height = fb->height,
        .fourcc = fb->format->fourcc,
        .modifier = fb->modifier,
        .n_planes = fb->format->n_planes,
        .device = fb->buffers[0]->device,
        .inode = fb->buffers[0]->inode,
        .own = !fb->buffers[0]->imported,
    };
    for (unsigned i = 0; i < 4; i++) {
        out->fds[i] = fb->buffers[i] ? fb->buffers[i]->fd : -1;
        out->pitches[i] = fb->pitches[i];
        out->offsets[i] = fb->offsets[i];
    }
}

/* Is this the first plane that lies in its buffer? */
static bool is_first(const struct tp_kms_fb *fb, unsigned plane)
{
    for (unsigned i = 0; i < plane; i++)
        if (fb->buffers[i] == fb->buffers[plane])
            return false;
    return true;
}

static void unlist(struct tp_kms_fb *fb)
{
    if (fb->prev)
        fb->prev->next = fb->next;
    else
        fb->owner->fbs = fb->next;
    if (fb->next)
        fb->next->prev = fb->prev;
    for (unsigned i = 0; i < fb->format->n_planes; i++)
        if (is_first(fb, i))
            tp_buffer_discharge(fb->owner, fb->buffers[i]);
    fb->owner->n_fbs--;
    fb->owner = NULL;
    fb->prev = fb->next = NULL;
}

/* Does a plane show this framebuffer, or one of this file? A cursor set the old way is in no file's
 * list: it goes with the master. */
static bool shows(const struct tp_plane *p, const struct tp_kms_fb *fb,
                  const struct tp_kms_file *file)
{
    const struct tp_kms_fb *shown = p->state.fb;
    if (!shown || !file)
        return shown && shown == fb;
    return shown->owner == file ||
           (!shown->owner && p->kind == TP_KMS_CURSOR && tp_master_is(file));
}

/* Switches off the planes that show this framebuffer, or any of this file. */
static void hide(struct tp_kms *kms, const struct tp_kms_fb *fb, const struct tp_kms_file *file)
{
    tp_state_begin(kms, NULL, NULL);
    for (unsigned i = 0; i < kms->n_planes; i++) {
        if (!shows(&kms->planes[i], fb, file))
            continue;
        tp_fb_assign(kms, &tp_state_plane(kms, i)->fb, NULL);
        tp_state_plane_crtc(kms, i, TP_KMS_NONE);
    }
    if (kms->state.planes)
        tp_atomic_commit(kms, TP_COMMIT_NOW, NULL);
}

void tp_fbs_release(struct tp_kms_file *file)
{
    hide(file->kms, NULL, file);
    while (file->fbs) {
        struct tp_kms_fb *fb = file->fbs;
        unlist(fb);
        tp_fb_unuse(file->kms, fb);
    }
}

int tp_ioctl_add_fb2(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_fb_cmd2 *r = arg;
    struct tp_kms_fb *fb;
    if (c->file->n_fbs >= c->kms->limits.fbs)
        return -ENOSPC;
    int e = tp_fb_create(c->file, r, &fb);
    if (e < 0)
        return e;
    for (unsigned i = 0; i < fb->format->n_planes; i++)
        if (is_first(fb, i))
            tp_buffer_charge(c->file, fb->buffers[i]);
    fb->owner = c->file;
    fb->next = c->file->fbs;
    if (fb->next)
        fb->next->prev = fb;
    c->file->fbs = fb;
    c->file->n_fbs++;
    c->file->view.framebuffers = true;
    r->fb_id = fb->id;
    return 0;
}

int tp_ioctl_add_fb(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_fb_cmd *a = arg;
    struct drm_mode_fb_cmd2 r = {
        .width = a->width,
        .height = a->height,
        .pixel_format = tp_format_legacy(a->bpp, a->depth),
        .handles = {a->handle},
        .pitches = {a->pitch},
    };
    if (!r.pixel_format)
        return -EINVAL;
    int e = tp_ioctl_add_fb2(c, &r);
    if (e < 0)
        return e;
    a->fb_id = r.fb_id;
    return 0;
}

int tp_ioctl_remove_fb(struct tp_ioctl_call *c, void *arg)
{
    struct tp_kms_fb *fb = tp_fb_find(c->kms, *(const uint32_t *)arg);
    if (!fb || fb->owner != c->file)
        return -ENOENT;
    hide(c->kms, fb, NULL);
    unlist(fb);
    tp_fb_unuse(c->kms, fb);
    return 0;
}

int tp_ioctl_close_fb(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_closefb *a = arg;
    if (a->pad)
        return -EINVAL;
    struct tp_kms_fb *fb = tp_fb_find(c->kms, a->fb_id);
    if (!fb || fb->owner != c->file)
        return -ENOENT;
    unlist(fb);
    tp_fb_unuse(c->kms, fb);
    return 0;
}

static bool may_have_handles(const struct tp_kms_file *file)
{
    return tp_master_is(file) || file->privileged;
}

int tp_ioctl_get_fb(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_fb_cmd *a = arg;
    struct tp_kms_fb *fb = tp_fb_find(c->kms, a->fb_id);
    if (!fb)
        return -ENOENT;
    if (fb->format->n_planes > 1)
        return -EINVAL;
    a->height = fb->height;
    a->width = fb->width;
    a->depth = fb->format->depth;
    a->bpp = fb->format->bytes[0] * 8u;
    a->pitch = fb->pitches[0];
    a->handle = 0;
    return may_have_handles(c->file) ? tp_buffer_handle(c->file, fb->buffers[0], 0, &a->handle) : 0;
}

int tp_ioctl_get_fb2(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_fb_cmd2 *a = arg;
    struct tp_kms_fb *fb = tp_fb_find(c->kms, a->fb_id);
    if (!fb)
        return -ENOENT;
    *a = (struct drm_mode_fb_cmd2){
        .fb_id = fb->id,
        .height = fb->height,
        .width = fb->width,
        .pixel_format = fb->format->fourcc,
        .flags = DRM_MODE_FB_MODIFIERS,
    };
    for (unsigned i = 0; i < fb->format->n_planes; i++) {
        a->pitches[i] = fb->pitches[i];
        a->offsets[i] = fb->offsets[i];
        a->modifier[i] = fb->modifier;
    }
    if (!may_have_handles(c->file))
        return 0;
    /* One handle a buffer, however many planes lie in it. */
    for (unsigned i = 0; i < fb->format->n_planes; i++) {
        for (unsigned j = 0; j < i && !a->handles[i]; j++)
            if (fb->buffers[j] == fb->buffers[i])
                a->handles[i] = a->handles[j];
        if (a->handles[i])
            continue;
        int e = tp_buffer_handle(c->file, fb->buffers[i], 0, &a->handles[i]);
        if (e == 0)
            continue;
        for (unsigned j = 0; j < i; j++)
            tp_buffer_close(c->file, a->handles[j]); /* a second time is refused: harmless */
        for (unsigned j = 0; j < 4; j++)
            a->handles[j] = 0;
        return e;
    }
    return 0;
}

int tp_ioctl_dirty_fb(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_fb_dirty_cmd *a = arg;
    if (!tp_fb_find(c->kms, a->fb_id))
        return -ENOENT;
    if (!a->num_clips != !a->clips_ptr)
        return -EINVAL;
    if (a->flags & DRM_MODE_FB_DIRTY_ANNOTATE_COPY && a->num_clips % 2)
        return -EINVAL;
    if (a->num_clips > DRM_MODE_FB_DIRTY_MAX_CLIPS)
        return -EINVAL;
    /* The screen is refreshed from the buffer: what was drawn shows by itself once it is published
     * anew. */
    for (unsigned i = 0; i < c->kms->n_planes; i++) {
        const struct tp_plane_state *s = &c->kms->planes[i].state;
        if (s->fb && s->fb->id == a->fb_id && s->crtc != TP_KMS_NONE)
            c->kms->crtcs[s->crtc].dirty = true;
    }
    tp_state_begin(c->kms, c->file, c->call);
    return tp_atomic_commit(c->kms, TP_COMMIT_NOW, NULL);
}
