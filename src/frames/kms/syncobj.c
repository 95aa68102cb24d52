/* The syncobj calls: drm_syncobj.c. */
#include "frames/kms/syncobj.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define COLLECT_AT  64u
#define MAX_HANDLES 4096u /* of one call: each is polled when something is signalled */

struct tp_syncobj *tp_syncobj_create(struct tp_kms *kms)
{
    struct tp_syncobj *s = tp_calloc(1, sizeof *s);
    s->kms = kms;
    s->refs = 1;
    s->next = kms->syncobjs;
    if (s->next)
        s->next->prev = s;
    kms->syncobjs = s;
    return s;
}

/* Does not let go of its reference of the syncobj. */
static void drop_export(struct tp_kms *kms, struct tp_sync_export **at)
{
    struct tp_sync_export *x = *at;
    *at = x->next;
    close(x->fd);
    tp_account_give_back(x->account);
    free(x);
    kms->n_exports--;
}

static void destroy(struct tp_kms *kms, struct tp_syncobj *s)
{
    tp_sync_events_forget(kms, s);
    tp_syncobj_replace(s, NULL);
    while (s->exports)
        drop_export(kms, &s->exports);
    if (s->prev)
        s->prev->next = s->next;
    else
        kms->syncobjs = s->next;
    if (s->next)
        s->next->prev = s->prev;
    free(s->points);
    free(s);
}

void tp_syncobj_put(struct tp_kms *kms, struct tp_syncobj *s)
{
    if (!--s->refs)
        destroy(kms, s);
}

/* Descriptors of syncobjs that everyone has closed: they held a reference each. */
static void collect_exports(struct tp_kms *kms)
{
    unsigned n = kms->n_exports, k = 0;
    if (!n)
        return;
    struct pollfd *p = tp_calloc(n, sizeof *p);
    for (struct tp_syncobj *s = kms->syncobjs; s; s = s->next)
        for (struct tp_sync_export *x = s->exports; x; x = x->next)
            p[k++] = (struct pollfd){.fd = x->fd};
    bool any = poll(p, n, 0) > 0;
    k = 0;
    for (struct tp_syncobj *s = kms->syncobjs, *next; any && s; s = next) {
        next = s->next;
        unsigned gone = 0;
        for (struct tp_sync_export **at = &s->exports; *at; k++) {
            if (!(p[k].revents & (POLLHUP | POLLERR))) {
                at = &(*at)->next;
                continue;
            }
            drop_export(kms, at);
            gone++;
        }
        for (; gone; gone--)
            tp_syncobj_put(kms, s);
    }
    free(p);
}

bool tp_sync_fd_room(struct tp_ioctl_call *c)
{
    struct tp_account *a = c->file->account;
    if (c->kms->n_exports >= c->kms->collect_at || a->fds >= a->limit) {
        collect_exports(c->kms);
        c->kms->collect_at = 2 * c->kms->n_exports + COLLECT_AT;
    }
    return tp_account_take(a);
}

void tp_syncobjs_release(struct tp_kms_file *file)
{
    for (unsigned i = 1; i <= file->syncobjs.n; i++) {
        struct tp_syncobj *s = tp_table_remove(&file->syncobjs, i);
        if (s)
            tp_syncobj_put(file->kms, s);
    }
    tp_table_finish(&file->syncobjs);
    collect_exports(file->kms);
}

void tp_syncobjs_finish(struct tp_kms *kms)
{
    while (kms->syncobjs)
        destroy(kms, kms->syncobjs);
    tp_sync_events_finish(kms);
}

unsigned tp_syncobjs_count(const struct tp_kms *kms)
{
    unsigned n = 0;
    for (const struct tp_syncobj *s = kms->syncobjs; s; s = s->next)
        n++;
    return n;
}

struct tp_syncobj *tp_syncobj_find(struct tp_kms_file *file, uint32_t handle)
{
    struct tp_entry *e = tp_table_get(&file->syncobjs, handle);
    return e ? e->p : NULL;
}

int tp_syncobj_array(struct tp_kms_file *file, uint64_t handles, uint32_t n,
                     struct tp_syncobj ***out)
{
    const uint32_t *h = TP_ARRAY(uint32_t, handles);
    if (n > MAX_HANDLES)
        return -ENOMEM;
    if (!h)
        return -EFAULT;
    struct tp_syncobj **a = tp_calloc(n, sizeof(struct tp_syncobj *));
    for (uint32_t i = 0; i < n; i++) {
        a[i] = tp_syncobj_find(file, h[i]);
        if (!a[i]) {
            free(a);
            return -ENOENT;
        }
    }
    *out = a;
    return 0;
}

/* A new handle, with a reference of its own. */
static int add_handle(struct tp_kms_file *file, struct tp_syncobj *s, uint32_t *handle)
{
    if (file->syncobjs.used >= file->kms->limits.syncobjs)
        return -ENOSPC;
    s->refs++;
    *handle = tp_table_add(&file->syncobjs, s, 0);
    return 0;
}

int tp_ioctl_syncobj_create(struct tp_ioctl_call *c, void *arg)
{
    struct drm_syncobj_create *a = arg;
    if (a->flags & ~(uint32_t)DRM_SYNCOBJ_CREATE_SIGNALED)
        return -EINVAL;
    struct tp_syncobj *s = tp_syncobj_create(c->kms);
    if (a->flags & DRM_SYNCOBJ_CREATE_SIGNALED)
        s->fence = tp_fence_signalled_one();
    int r = add_handle(c->file, s, &a->handle);
    tp_syncobj_put(c->kms, s);
    return r;
}

int tp_ioctl_syncobj_destroy(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_destroy *a = arg;
    if (a->pad)
        return -EINVAL;
    struct tp_syncobj *s = tp_table_remove(&c->file->syncobjs, a->handle);
    if (!s)
        return -EINVAL;
    tp_syncobj_put(c->kms, s);
    return 0;
}

static int give(struct tp_ioctl_call *c, int fd, int *out)
{
    if (fd < 0)
        return -errno;
    int r = tp_call_give_fd(c->call, fd);
    if (r < 0)
        return r;
    *out = r;
    return 0;
}

static int export_sync_file(struct tp_ioctl_call *c, struct drm_syncobj_handle *a)
{
    struct tp_syncobj *s = tp_syncobj_find(c->file, a->handle);
    if (!s)
        return -ENOENT;
    if (!tp_syncobj_available(s, 0))
        return -EINVAL;
    struct tp_fence *f;
    int r = tp_syncobj_fence(s, 0, &f);
    if (r < 0)
        return r;
    bool signalled = tp_fence_signalled(f);
    if (!signalled && !f->n_parts) {
        r = give(c, fcntl(f->fd, F_DUPFD_CLOEXEC, 0), &a->fd);
        goto put;
    }
    /* One of our own, signalled now, or when all that it stands for are. */
    r = -EMFILE;
    if (!signalled && !tp_sync_fd_room(c))
        goto put;
    int ends[2] = {-1, -1};
    r = c->kms->ops.fence_make(c->kms->data, ends);
    if (r == 0)
        r = give(c, ends[1], &a->fd);
    if (ends[0] >= 0 && (signalled || r < 0))
        close(ends[0]);
    if (!signalled && r == 0)
        tp_sync_signal_later(c, f, ends[0]);
    else if (!signalled)
        tp_account_give_back(c->file->account);
put:
    tp_fence_put(f);
    return r;
}

int tp_ioctl_syncobj_export(struct tp_ioctl_call *c, void *arg)
{
    struct drm_syncobj_handle *a = arg;
    if (a->pad || (a->flags && a->flags != DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE))
        return -EINVAL;
    if (a->flags)
        return export_sync_file(c, a);
    struct tp_syncobj *s = tp_syncobj_find(c->file, a->handle);
    int ends[2];
    struct stat st;
    if (!s)
        return -EINVAL;
    if (!tp_sync_fd_room(c))
        return -EMFILE;
    int r;
    /* Whoever has the other end can do nothing to ours but close it. */
    if (pipe2(ends, O_CLOEXEC)) {
        r = -errno;
        goto give_back;
    }
    r = fstat(ends[1], &st) ? -errno : 0;
    if (r < 0)
        close(ends[1]);
    else
        r = give(c, ends[1], &a->fd);
    if (r < 0)
        goto close_ours;
    struct tp_sync_export *x = tp_calloc(1, sizeof *x);
    *x = (struct tp_sync_export){s->exports, c->file->account, ends[0], st.st_dev, st.st_ino};
    s->exports = x;
    s->refs++;
    c->kms->n_exports++;
    return 0;

close_ours:
    close(ends[0]);
give_back:
    tp_account_give_back(c->file->account);
    return r;
}

static struct tp_syncobj *of_descriptor(struct tp_kms *kms, int fd)
{
    struct stat st;
    if (fd < 0 || fstat(fd, &st) || !S_ISFIFO(st.st_mode))
        return NULL;
    for (struct tp_syncobj *s = kms->syncobjs; s; s = s->next)
        for (const struct tp_sync_export *x = s->exports; x; x = x->next)
            if (x->device == st.st_dev && x->inode == st.st_ino)
                return s;
    return NULL;
}

int tp_ioctl_syncobj_import(struct tp_ioctl_call *c, void *arg)
{
    struct drm_syncobj_handle *a = arg;
    if (a->pad || (a->flags && a->flags != DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE))
        return -EINVAL;
    int fd = tp_call_fd(c->call, a->fd);
    if (!a->flags) {
        struct tp_syncobj *s = of_descriptor(c->kms, fd);
        return s ? add_handle(c->file, s, &a->handle) : -EINVAL;
    }
    if (!tp_is_fence(fd))
        return -EINVAL;
    struct tp_syncobj *s = tp_syncobj_find(c->file, a->handle);
    if (!s)
        return -ENOENT;
    if (!tp_sync_fd_room(c))
        return -EMFILE;
    struct tp_fence *f = tp_fence_of_fd(c->file->account, tp_call_take_fd(c->call, a->fd));
    tp_syncobj_replace(s, f);
    tp_fence_put(f);
    return 0;
}

int tp_ioctl_syncobj_transfer(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_transfer *a = arg;
    if (a->pad)
        return -EINVAL;
    struct tp_syncobj *to = tp_syncobj_find(c->file, a->dst_handle);
    if (!to)
        return -ENOENT;
    if (a->flags & ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT)
        return -EINVAL;
    struct tp_syncobj *from = tp_syncobj_find(c->file, a->src_handle);
    if (!from)
        return -ENOENT;
    if (!tp_syncobj_available(from, a->src_point)) {
        if (!(a->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT))
            return -EINVAL;
        return tp_sync_transfer_later(c, from, a->src_point);
    }
    struct tp_fence *f;
    int r = tp_syncobj_fence(from, a->src_point, &f);
    if (r < 0)
        return r;
    if (a->dst_point)
        r = tp_syncobj_add_point(to, f, a->dst_point);
    else
        tp_syncobj_replace(to, f);
    tp_fence_put(f);
    return r;
}

int tp_ioctl_syncobj_reset(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_array *a = arg;
    struct tp_syncobj **s;
    if (a->pad || !a->count_handles)
        return -EINVAL;
    int r = tp_syncobj_array(c->file, a->handles, a->count_handles, &s);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < a->count_handles; i++)
        tp_syncobj_replace(s[i], NULL);
    free(s);
    return 0;
}

int tp_ioctl_syncobj_signal(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_array *a = arg;
    struct tp_syncobj **s;
    if (a->pad || !a->count_handles)
        return -EINVAL;
    int r = tp_syncobj_array(c->file, a->handles, a->count_handles, &s);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < a->count_handles; i++) {
        struct tp_fence *f = tp_fence_signalled_one();
        tp_syncobj_replace(s[i], f);
        tp_fence_put(f);
    }
    free(s);
    return 0;
}

int tp_ioctl_syncobj_timeline_signal(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_timeline_array *a = arg;
    const uint64_t *points = TP_ARRAY(uint64_t, a->points);
    struct tp_syncobj **s;
    if (a->flags || !a->count_handles)
        return -EINVAL;
    int r = tp_syncobj_array(c->file, a->handles, a->count_handles, &s);
    if (r < 0)
        return r;
    for (uint32_t i = 0; r == 0 && i < a->count_handles; i++) {
        struct tp_fence *f = tp_fence_signalled_one();
        r = tp_syncobj_add_point(s[i], f, points ? points[i] : 0);
        tp_fence_put(f);
    }
    free(s);
    return r;
}

int tp_ioctl_syncobj_query(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_syncobj_timeline_array *a = arg;
    uint64_t *points = TP_ARRAY(uint64_t, a->points);
    struct tp_syncobj **s;
    if (a->flags & ~(uint32_t)DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED || !a->count_handles)
        return -EINVAL;
    int r = tp_syncobj_array(c->file, a->handles, a->count_handles, &s);
    if (r < 0)
        return r;
    for (uint32_t i = 0; points && i < a->count_handles; i++) {
        bool last = a->flags & DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED;
        tp_syncobj_signalled(s[i], 0);
        points[i] = !s[i]->timeline ? 0 : last ? s[i]->last : s[i]->done;
    }
    free(s);
    return points ? 0 : -EFAULT;
}
