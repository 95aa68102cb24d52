/* Client capabilities, and queries that the snapshot has no answer for: drm_ioctl.c and the
 * lookups' errno. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <string.h>

int tp_ioctl_client_cap(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_set_client_cap *a = arg;
    struct tp_snapshot_view *v = &c->file->view;
    switch (a->capability) {
    case DRM_CLIENT_CAP_STEREO_3D:
    case DRM_CLIENT_CAP_UNIVERSAL_PLANES:
    case DRM_CLIENT_CAP_ASPECT_RATIO:
        if (a->value > 1)
            return -EINVAL;
        break;
    case DRM_CLIENT_CAP_ATOMIC:
        if (a->value > 2)
            return -EINVAL;
        break;
    case DRM_CLIENT_CAP_CURSOR_PLANE_HOTSPOT: /* for the screens of virtual machines */
        return -EOPNOTSUPP;
    case DRM_CLIENT_CAP_WRITEBACK_CONNECTORS:
        if (!v->atomic || a->value > 1)
            return -EINVAL;
        break;
    default:
        return -EINVAL;
    }
    tp_snapshot_view_set(v, a->capability, a->value);
    return 0;
}

static bool is(const struct tp_kms *kms, uint32_t id, uint32_t type)
{
    const struct tp_entry *e = tp_table_get(&kms->objects, id);
    return e && (type == DRM_MODE_OBJECT_ANY || e->tag == type);
}

static int get_blob(struct tp_kms *kms, struct drm_mode_get_blob *a)
{
    const struct tp_blob *b = tp_blob_find(kms, a->blob_id);
    if (!b)
        return -ENOENT;
    if (a->length == b->length) {
        if (!a->data)
            return -EFAULT;
        memcpy(TP_ARRAY(void, a->data), b->data, b->length);
    }
    a->length = b->length;
    return 0;
}

/* GETRESOURCES with the file's own framebuffers, the latest first. */
static int get_resources(struct tp_ioctl_call *c, struct drm_mode_card_res *a)
{
    struct tp_snapshot_view view = c->file->view;
    uint32_t *out = TP_ARRAY(uint32_t, a->fb_id_ptr), room = a->count_fbs, n = 0;
    for (const struct tp_kms_fb *fb = c->file->fbs; fb; fb = fb->next, n++) {
        if (n >= room)
            continue;
        if (!out)
            return -EFAULT;
        out[n] = fb->id;
    }
    view.framebuffers = false;
    int r = tp_snapshot_query(c->kms->image, &view, DRM_IOCTL_MODE_GETRESOURCES, a);
    a->count_fbs = n;
    return r;
}

int tp_ioctl_query(struct tp_ioctl_call *c, void *arg)
{
    int r = tp_snapshot_query(c->kms->image, &c->file->view, c->call->request, arg);
    if (r != -ENOSYS)
        return r;
    switch (_IOC_NR(c->call->request)) {
    case _IOC_NR(DRM_IOCTL_MODE_GETRESOURCES):
        return get_resources(c, arg);
    case _IOC_NR(DRM_IOCTL_MODE_GETPROPBLOB):
        return get_blob(c->kms, arg);
    case _IOC_NR(DRM_IOCTL_MODE_OBJ_GETPROPERTIES): {
        const struct drm_mode_obj_get_properties *a = arg;
        return is(c->kms, a->obj_id, a->obj_type) ? -EINVAL : -ENOENT;
    }
    default:
        return -EINVAL;
    }
}
