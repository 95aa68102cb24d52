#include "frames/panel/sim_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142 /* linux/magic.h */
#endif

static void let_go(struct tp_memory_map *map)
{
    if (map->bytes)
        munmap((void *)(uintptr_t)map->bytes, map->size);
    *map = (struct tp_memory_map){0};
}

void tp_memory_finish(struct tp_memory *m)
{
    for (unsigned i = 0; i < TP_MEMORY_MAPS; i++)
        let_go(&m->maps[i]);
}

/* A file's place in it is left alone; a dma-buf has none. */
static off_t size_of(int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    return S_ISREG(st.st_mode) && st.st_size > 0 ? st.st_size : lseek(fd, 0, SEEK_END);
}

static bool open_map(struct tp_memory_map *map, const struct tp_kms_fb_info *fb)
{
    struct statfs fs;
    off_t size = size_of(fb->fds[0]);
    int seals = fcntl(fb->fds[0], F_GET_SEALS);
    if (size <= 0 || fstatfs(fb->fds[0], &fs) < 0)
        return false;
    *map = (struct tp_memory_map){.device = fb->device, .inode = fb->inode, .size = (size_t)size};
    map->dma_buf = (uint32_t)fs.f_type == DMA_BUF_MAGIC;
    if (!map->dma_buf && (seals < 0 || !(seals & F_SEAL_SHRINK)))
        return true;
    void *p = mmap(NULL, map->size, PROT_READ, MAP_SHARED, fb->fds[0], 0);
    if (p == MAP_FAILED)
        return !map->dma_buf; /* has no read */
    map->bytes = p;
    return true;
}

const struct tp_memory_map *tp_memory_open(struct tp_memory *m, const struct tp_kms_fb_info *fb)
{
    struct tp_memory_map *oldest = &m->maps[0];
    m->uses++;
    for (unsigned i = 0; i < TP_MEMORY_MAPS; i++) {
        struct tp_memory_map *map = &m->maps[i];
        bool same = map->used && map->inode == fb->inode && map->device == fb->device;
        if (same && map->bytes) { /* while it is mapped, its inode is nobody else's */
            map->used = m->uses;
            return map;
        }
        if (same || m->uses - map->used > TP_MEMORY_KEEP)
            let_go(map);
        if (map->used < oldest->used)
            oldest = map;
    }
    let_go(oldest);
    if (!open_map(oldest, fb))
        return NULL;
    oldest->used = m->uses;
    return oldest;
}

static void sync_map(const struct tp_memory_map *map, int fd, uint64_t flags)
{
    struct dma_buf_sync sync = {flags | DMA_BUF_SYNC_READ};
    if (map->dma_buf)
        while (ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN))
            ;
}

void tp_memory_begin(const struct tp_memory_map *map, int fd)
{
    sync_map(map, fd, DMA_BUF_SYNC_START);
}

void tp_memory_end(const struct tp_memory_map *map, int fd)
{
    sync_map(map, fd, DMA_BUF_SYNC_END);
}

const uint8_t *tp_memory_at(
    const struct tp_memory_map *map, int fd, uint64_t at, size_t bytes, uint8_t *scratch)
{
    if (at > map->size || bytes > map->size - at)
        return NULL;
    if (map->bytes)
        return map->bytes + at;
    return pread(fd, scratch, bytes, (off_t)at) == (ssize_t)bytes ? scratch : NULL;
}
