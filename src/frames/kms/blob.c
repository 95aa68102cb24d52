/* Property blobs: counted; each pointer to one holds a reference, and the id lives as long as it
 * does. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct tp_blob *tp_blob_create(struct tp_kms *kms, const void *data, size_t length)
{
    struct tp_blob *b = malloc(sizeof *b + length);
    if (!b)
        return NULL;
    *b = (struct tp_blob){.length = (uint32_t)length, .refs = 1};
    memcpy(b->data, data, length);
    b->id = tp_table_add(&kms->objects, b, DRM_MODE_OBJECT_BLOB);
    return b;
}

struct tp_blob *tp_blob_find(struct tp_kms *kms, uint64_t id)
{
    struct tp_entry *e = tp_table_get(&kms->objects, id);
    return e && e->tag == DRM_MODE_OBJECT_BLOB ? e->p : NULL;
}

void tp_blob_put(struct tp_kms *kms, struct tp_blob *b)
{
    if (!b || --b->refs)
        return;
    tp_table_remove(&kms->objects, b->id);
    free(b);
}

void tp_blob_assign(struct tp_kms *kms, struct tp_blob **to, struct tp_blob *b)
{
    if (b)
        b->refs++;
    tp_blob_put(kms, *to);
    *to = b;
}

static void disown(struct tp_blob *b)
{
    struct tp_kms_file *file = b->owner;
    if (b->prev)
        b->prev->next = b->next;
    else
        file->blobs = b->next;
    if (b->next)
        b->next->prev = b->prev;
    b->owner = NULL;
    file->n_blobs--;
    file->blob_bytes -= b->length;
    tp_blob_put(file->kms, b);
}

void tp_blobs_release(struct tp_kms_file *file)
{
    while (file->blobs)
        disown(file->blobs);
}

int tp_ioctl_create_blob(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_create_blob *a = arg;
    struct tp_kms_file *file = c->file;
    if (!a->length || a->length > INT_MAX - sizeof(struct tp_blob))
        return -EINVAL;
    if (file->n_blobs >= c->kms->limits.blobs)
        return -ENOSPC;
    if (a->length > c->kms->limits.blob_bytes - file->blob_bytes)
        return -ENOMEM;
    if (!a->data)
        return -EFAULT;
    struct tp_blob *b = tp_blob_create(c->kms, TP_ARRAY(void, a->data), a->length);
    if (!b)
        return -ENOMEM;
    b->owner = file;
    b->next = file->blobs;
    if (b->next)
        b->next->prev = b;
    file->blobs = b;
    file->n_blobs++;
    file->blob_bytes += b->length;
    a->blob_id = b->id;
    return 0;
}

int tp_ioctl_destroy_blob(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_destroy_blob *a = arg;
    struct tp_blob *b = tp_blob_find(c->kms, a->blob_id);
    if (!b)
        return -ENOENT;
    if (b->owner != c->file)
        return -EPERM;
    disown(b);
    return 0;
}
