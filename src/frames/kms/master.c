/* Masters, magics and leases: drm_auth.c; drm_lease.c as far as a master without lessees goes. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

bool tp_master_is(const struct tp_kms_file *file)
{
    return file->is_master && file->master == file->kms->master;
}

static void put(struct tp_master *m)
{
    if (!m || --m->refs)
        return;
    free(m->unique);
    free(m);
}

static void make_current(struct tp_kms_file *file)
{
    file->kms->master = file->master;
    file->master->refs++;
    file->was_master = true;
}

static void new_master(struct tp_kms_file *file)
{
    struct tp_master *old = file->master;
    file->master = tp_calloc(1, sizeof *file->master);
    file->master->refs = 1;
    file->is_master = file->authenticated = true;
    make_current(file);
    put(old);
}

static void drop(struct tp_kms *kms)
{
    struct tp_master *m = kms->master;
    kms->master = NULL;
    put(m);
}

void tp_master_open(struct tp_kms_file *file)
{
    if (!file->kms->master) {
        new_master(file);
    } else {
        file->master = file->kms->master;
        file->master->refs++;
    }
}

void tp_master_release(struct tp_kms_file *file)
{
    if (tp_master_is(file))
        drop(file->kms);
    put(file->master);
    file->master = NULL;
}

static bool may(const struct tp_kms_file *file)
{
    return file->was_master || file->privileged;
}

int tp_ioctl_set_master(struct tp_ioctl_call *c, void *arg)
{
    (void)arg;
    if (!may(c->file))
        return -EACCES;
    if (tp_master_is(c->file))
        return 0;
    if (c->kms->master)
        return -EBUSY;
    if (!c->file->is_master)
        new_master(c->file);
    else
        make_current(c->file);
    return 0;
}

int tp_ioctl_drop_master(struct tp_ioctl_call *c, void *arg)
{
    (void)arg;
    if (!may(c->file))
        return -EACCES;
    if (!tp_master_is(c->file))
        return -EINVAL;
    drop(c->kms);
    return 0;
}

static struct tp_kms_file *find_magic(struct tp_kms *kms, const struct tp_master *m, uint32_t magic)
{
    for (struct tp_kms_file *f = kms->files; f; f = f->next)
        if (f->magic == magic && f->magic_master == m)
            return f;
    return NULL;
}

int tp_ioctl_get_magic(struct tp_ioctl_call *c, void *arg)
{
    struct drm_auth *a = arg;
    struct tp_kms_file *f = c->file;
    if (!f->magic) {
        uint32_t free_one = 1;
        while (find_magic(c->kms, f->master, free_one))
            free_one++;
        f->magic = free_one;
        f->magic_master = f->master;
    }
    a->magic = f->magic;
    return 0;
}

int tp_ioctl_auth_magic(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_auth *a = arg;
    struct tp_kms_file *f = a->magic ? find_magic(c->kms, c->file->master, a->magic) : NULL;
    if (!f || f->magic_used)
        return -EINVAL;
    f->authenticated = true;
    f->magic_used = true;
    return 0;
}

int tp_ioctl_get_unique(struct tp_ioctl_call *c, void *arg)
{
    struct drm_unique *u = arg;
    const char *unique = c->file->master->unique;
    size_t n = unique ? strlen(unique) : 0;
    if (n && u->unique_len >= n) {
        if (!u->unique)
            return -EFAULT;
        memcpy(u->unique, unique, n);
    }
    u->unique_len = n;
    return 0;
}

int tp_ioctl_set_version(struct tp_ioctl_call *c, void *arg)
{
    /* DRM_IF_MAJOR, DRM_IF_MINOR: the interface's version; the driver's is 1.0. */
    enum { IF_MAJOR = 1, IF_MINOR = 4, DRIVER_MAJOR = 1, DRIVER_MINOR = 0 };
    struct drm_set_version *v = arg;
    int r = 0;
    if (v->drm_di_major != -1) {
        if (v->drm_di_major != IF_MAJOR || v->drm_di_minor < 0 || v->drm_di_minor > IF_MINOR)
            r = -EINVAL;
        else if (v->drm_di_minor >= 1 && !c->file->master->unique)
            c->file->master->unique = tp_strdup(TP_KMS_DRIVER);
    }
    if (r == 0 && v->drm_dd_major != -1 &&
        (v->drm_dd_major != DRIVER_MAJOR || v->drm_dd_minor < 0 || v->drm_dd_minor > DRIVER_MINOR))
        r = -EINVAL;
    *v = (struct drm_set_version){IF_MAJOR, IF_MINOR, DRIVER_MAJOR, DRIVER_MINOR};
    return r;
}

int tp_ioctl_get_client(struct tp_ioctl_call *c, void *arg)
{
    struct drm_client *a = arg;
    if (a->idx)
        return -EINVAL;
    a->auth = c->file->authenticated;
    a->pid = (unsigned long)c->file->pid;
    a->uid = 65534; /* the overflow uid: the kernel tells nobody */
    a->magic = a->iocs = 0;
    return 0;
}

int tp_ioctl_get_stats(struct tp_ioctl_call *c, void *arg)
{
    (void)c;
    memset(arg, 0, sizeof(struct drm_stats));
    return 0;
}

/* A device that lends nothing: what is wrong in the call is told as the kernel tells it, and what
 * is right is refused as by a kernel that has no more masters to give. */
int tp_ioctl_lease(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_create_lease *a = arg;
    unsigned crtcs = 0, connectors = 0, planes = 0;
    if (a->flags & ~(uint32_t)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    const uint32_t *ids = TP_ARRAY(uint32_t, a->object_ids);
    if (a->object_count && !ids)
        return -EFAULT;
    for (unsigned i = 0; i < a->object_count; i++) {
        const struct tp_entry *e = tp_table_get(&c->kms->objects, ids[i]);
        if (!e)
            return -ENOENT;
        crtcs += e->tag == DRM_MODE_OBJECT_CRTC;
        connectors += e->tag == DRM_MODE_OBJECT_CONNECTOR;
        planes += e->tag == DRM_MODE_OBJECT_PLANE;
    }
    if (a->object_count && (!crtcs || !connectors || (c->file->view.universal_planes && !planes)))
        return -EINVAL;
    return -EOPNOTSUPP;
}

int tp_ioctl_list_lessees(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_list_lessees *a = arg;
    (void)c;
    if (a->pad)
        return -EINVAL;
    a->count_lessees = 0;
    return 0;
}

int tp_ioctl_get_lease(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_get_lease *a = arg;
    struct tp_kms *kms = c->kms;
    if (a->pad)
        return -EINVAL;
    /* An owner has all objects that there are, of every kind (drm_mode_get_lease_ioctl). */
    uint32_t *out = TP_ARRAY(uint32_t, a->objects_ptr), n = 0;
    for (unsigned id = 1; id <= kms->objects.n; id++) {
        if (!tp_table_get(&kms->objects, id))
            continue;
        if (n < a->count_objects) {
            if (!out)
                return -EFAULT;
            out[n] = id;
        }
        n++;
    }
    a->count_objects = n;
    return 0;
}

int tp_ioctl_revoke_lease(struct tp_ioctl_call *c, void *arg)
{
    (void)c;
    (void)arg;
    return -ENOENT;
}
