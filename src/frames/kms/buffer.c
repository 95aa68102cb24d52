/*
 * Buffers and their handles: dumb ones, and those that come and go as descriptors (PRIME). A buffer
 * is known by the (device, inode) of its descriptor: dma-bufs and memfds have one each. drm_gem.c,
 * drm_prime.c, drm_dumb_buffers.c.
 */
#include "frames/kms/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"

/* linux/magic.h; a memfd is of the latter two. */
#define DMA_BUF_MAGIC   0x444d4142
#define TMPFS_MAGIC     0x01021994
#define HUGETLBFS_MAGIC 0x958458f6
#define PAGE            4096u
#define PITCH_ALIGN     64u
/* As DRM_FILE_PAGE_OFFSET_START: beyond what 32 bits reach. */
#define FIRST_MAP (UINT64_C(1) << 32)

struct tp_buffer *tp_buffer_find(struct tp_kms_file *file, uint32_t handle)
{
    struct tp_entry *e = tp_table_get(&file->handles, handle);
    return e ? e->p : NULL;
}

void tp_buffer_unref(struct tp_buffer *b)
{
    if (atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    close(b->fd);
    free(b);
}

void tp_buffer_use(struct tp_buffer *b)
{
    b->uses++;
}

static struct tp_buffer **slot(struct tp_kms *kms, uint64_t inode)
{
    return &kms->buffers[inode % TP_KMS_BUFFER_SLOTS];
}

void tp_buffer_unuse(struct tp_kms *kms, struct tp_buffer *b)
{
    if (--b->uses)
        return;
    if (b->prev)
        b->prev->next = b->next;
    else
        *slot(kms, b->inode) = b->next;
    if (b->next)
        b->next->prev = b->prev;
    tp_buffer_unref(b);
}

uint64_t tp_buffer_bytes(const struct tp_buffer *b)
{
    struct stat st;
    if (!b->imported || fstat(b->fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return b->bytes;
    return (uint64_t)st.st_size < b->bytes ? (uint64_t)st.st_size : b->bytes;
}

/* The size and identity of what is memory: a dma-buf or a memfd. -EINVAL for anything else. */
static int look_at(int fd, uint64_t *bytes, uint64_t *device, uint64_t *inode)
{
    struct stat st;
    struct statfs fs;
    if (fstat(fd, &st) || fstatfs(fd, &fs))
        return -EBADF;
    bool dma_buf = (uint32_t)fs.f_type == DMA_BUF_MAGIC;
    bool memory = S_ISREG(st.st_mode) &&
                  ((uint32_t)fs.f_type == TMPFS_MAGIC || (uint32_t)fs.f_type == HUGETLBFS_MAGIC);
    if (!dma_buf && !memory)
        return -EINVAL;
    off_t size = dma_buf ? lseek(fd, 0, SEEK_END) : st.st_size;
    if (size <= 0)
        return -EINVAL;
    *bytes = (uint64_t)size;
    *device = st.st_dev;
    *inode = st.st_ino;
    return 0;
}

/* Takes the descriptor. One use less than its memory has references: the caller makes the first. */
static struct tp_buffer *create(struct tp_kms *kms, int fd, uint64_t bytes, uint64_t device,
                                uint64_t inode)
{
    struct tp_buffer *b = tp_calloc(1, sizeof *b);
    atomic_init(&b->refs, 1);
    b->fd = fd;
    b->bytes = bytes;
    b->device = device;
    b->inode = inode;
    if (!kms->next_map)
        kms->next_map = FIRST_MAP;
    b->map_offset = kms->next_map;
    kms->next_map += (bytes + PAGE - 1) / PAGE * PAGE;
    struct tp_buffer **head = slot(kms, inode);
    b->next = *head;
    if (b->next)
        b->next->prev = b;
    *head = b;
    return b;
}

/* Of a buffer that nobody has come to use. */
static void drop_unused(struct tp_kms *kms, struct tp_buffer *b)
{
    if (b->uses)
        return;
    tp_buffer_use(b);
    tp_buffer_unuse(kms, b);
}

/* Is it one of this file's, by a handle or by a framebuffer? */
static bool held(const struct tp_kms_file *file, const struct tp_buffer *b)
{
    if (!b->uses)
        return false;
    for (unsigned i = 0; i < file->handles.n; i++)
        if (file->handles.entries[i].p == b)
            return true;
    for (const struct tp_kms_fb *fb = file->fbs; fb; fb = fb->next)
        for (unsigned i = 0; i < fb->format->n_planes; i++)
            if (fb->buffers[i] == b)
                return true;
    return false;
}

void tp_buffer_charge(struct tp_kms_file *file, const struct tp_buffer *b)
{
    if (!held(file, b))
        file->buffer_bytes += b->bytes;
}

void tp_buffer_discharge(struct tp_kms_file *file, const struct tp_buffer *b)
{
    if (!held(file, b))
        file->buffer_bytes -= b->bytes;
}

static bool has_room(const struct tp_kms_file *file, uint64_t bytes)
{
    uint64_t limit = file->kms->limits.buffer_bytes;
    return file->buffer_bytes <= limit && bytes <= limit - file->buffer_bytes;
}

int tp_buffer_handle(struct tp_kms_file *file, struct tp_buffer *b, uintptr_t tag, uint32_t *handle)
{
    if (file->handles.used >= file->kms->limits.buffers)
        return -ENOSPC;
    if (!held(file, b)) {
        if (!has_room(file, b->bytes))
            return -ENOMEM;
        file->buffer_bytes += b->bytes;
    }
    *handle = tp_table_add(&file->handles, b, tag);
    tp_buffer_use(b);
    return 0;
}

int tp_buffer_close(struct tp_kms_file *file, uint32_t handle)
{
    struct tp_buffer *b = tp_table_remove(&file->handles, handle);
    if (!b)
        return -EINVAL;
    if (b->uses == 1)
        file->buffer_bytes -= b->bytes;
    else
        tp_buffer_discharge(file, b);
    tp_buffer_unuse(file->kms, b);
    return 0;
}

void tp_buffers_release(struct tp_kms_file *file)
{
    for (unsigned i = 1; i <= file->handles.n; i++)
        tp_buffer_close(file, i);
    tp_table_finish(&file->handles);
}

int tp_ioctl_gem_close(struct tp_ioctl_call *c, void *arg)
{
    return tp_buffer_close(c->file, ((const struct drm_gem_close *)arg)->handle);
}

int tp_ioctl_gem_flink(struct tp_ioctl_call *c, void *arg)
{
    struct drm_gem_flink *a = arg;
    struct tp_buffer *b = tp_buffer_find(c->file, a->handle);
    if (!b)
        return -ENOENT;
    if (!b->name)
        b->name = ++c->kms->next_name;
    a->name = b->name;
    return 0;
}

int tp_ioctl_gem_open(struct tp_ioctl_call *c, void *arg)
{
    struct drm_gem_open *a = arg;
    for (unsigned i = 0; i < TP_KMS_BUFFER_SLOTS; i++)
        for (struct tp_buffer *b = c->kms->buffers[i]; b; b = b->next)
            if (b->name && b->name == a->name) {
                a->size = b->bytes;
                return tp_buffer_handle(c->file, b, 0, &a->handle);
            }
    return -ENOENT;
}

int tp_ioctl_prime_export(struct tp_ioctl_call *c, void *arg)
{
    struct drm_prime_handle *a = arg;
    if (a->flags & ~(uint32_t)(DRM_CLOEXEC | DRM_RDWR))
        return -EINVAL;
    struct tp_entry *e = tp_table_get(&c->file->handles, a->handle);
    if (!e)
        return -ENOENT;
    int fd = fcntl(((struct tp_buffer *)e->p)->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int index = tp_call_give_fd(c->call, fd);
    if (index < 0)
        return index;
    e->tag |= TP_HANDLE_PRIME;
    a->fd = index;
    return 0;
}

int tp_ioctl_prime_import(struct tp_ioctl_call *c, void *arg)
{
    struct drm_prime_handle *a = arg;
    int fd = tp_call_fd(c->call, a->fd);
    uint64_t bytes, device, inode;
    if (fd < 0)
        return -EBADF;
    int r = look_at(fd, &bytes, &device, &inode);
    if (r < 0)
        return r;
    struct tp_buffer *b = *slot(c->kms, inode);
    while (b && (b->device != device || b->inode != inode))
        b = b->next;
    if (b)
        for (unsigned i = 0; i < c->file->handles.n; i++) {
            const struct tp_entry *e = &c->file->handles.entries[i];
            if (e->p == b && e->tag & TP_HANDLE_PRIME) {
                a->handle = i + 1;
                return 0;
            }
        }
    if (!b) {
        b = create(c->kms, tp_call_take_fd(c->call, a->fd), bytes, device, inode);
        b->imported = true;
    }
    r = tp_buffer_handle(c->file, b, TP_HANDLE_PRIME, &a->handle);
    drop_unused(c->kms, b);
    return r;
}

int tp_ioctl_create_dumb(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_create_dumb *a = arg;
    if (!a->width || !a->height || !a->bpp || a->bpp > UINT32_MAX - 8)
        return -EINVAL;
    uint32_t bytes = (a->bpp + 7) / 8;
    if (bytes > UINT32_MAX / a->width)
        return -EINVAL;
    uint64_t pitch = ((uint64_t)bytes * a->width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    /* What the kernel's 32-bit arithmetic has no room for. */
    if (pitch > UINT32_MAX || a->height > UINT32_MAX / pitch ||
        pitch * a->height > UINT32_MAX - PAGE + 1)
        return -EINVAL;
    uint64_t size = (pitch * a->height + PAGE - 1) / PAGE * PAGE;
    a->handle = 0;
    a->pitch = 0;
    a->size = 0;
    if (c->file->handles.used >= c->kms->limits.buffers)
        return -ENOSPC;
    if (!has_room(c->file, size))
        return -ENOMEM;
    int fd = c->kms->ops.create_memory(c->kms->data, size);
    if (fd < 0)
        return fd;
    struct stat st;
    if (fstat(fd, &st)) {
        close(fd);
        return -ENOMEM;
    }
    struct tp_buffer *b = create(c->kms, fd, size, st.st_dev, st.st_ino);
    int r = tp_buffer_handle(c->file, b, 0, &a->handle);
    drop_unused(c->kms, b);
    if (r < 0)
        return r;
    a->pitch = (uint32_t)pitch;
    a->size = size;
    return 0;
}

int tp_ioctl_map_dumb(struct tp_ioctl_call *c, void *arg)
{
    struct drm_mode_map_dumb *a = arg;
    struct tp_buffer *b = tp_buffer_find(c->file, a->handle);
    if (!b)
        return -ENOENT;
    if (b->imported)
        return -EINVAL;
    a->offset = b->map_offset;
    return 0;
}

int tp_ioctl_destroy_dumb(struct tp_ioctl_call *c, void *arg)
{
    return tp_buffer_close(c->file, ((const struct drm_mode_destroy_dumb *)arg)->handle);
}

int tp_kms_map(struct tp_kms_file *file, uint64_t offset, int *fd, uint64_t *bytes)
{
    for (unsigned i = 0; i < file->handles.n; i++) {
        const struct tp_buffer *b = file->handles.entries[i].p;
        if (!b || b->map_offset != offset || b->imported)
            continue;
        *fd = b->fd;
        *bytes = b->bytes;
        return 0;
    }
    for (unsigned i = 0; i < TP_KMS_BUFFER_SLOTS; i++)
        for (const struct tp_buffer *b = file->kms->buffers[i]; b; b = b->next)
            if (b->map_offset == offset && !b->imported)
                return -EACCES;
    return -EINVAL;
}
