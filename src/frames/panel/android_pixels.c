#include "frames/panel/android_pixels.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <linux/dma-buf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/panel/android_import.h"

static void sync_dmabuf(int fd, uint64_t flags)
{
    struct dma_buf_sync sync = {.flags = flags | DMA_BUF_SYNC_READ};
    while (ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN))
        ;
}

static void put_line(
    const struct tp_kms_fb_info *fb, const uint8_t *from, uint8_t *to, size_t bytes)
{
    if (fb->fourcc != DRM_FORMAT_XRGB8888 && fb->fourcc != DRM_FORMAT_ARGB8888) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i + 3 < bytes; i += 4) {
        to[i] = from[i + 2];
        to[i + 1] = from[i + 1];
        to[i + 2] = from[i];
        to[i + 3] = from[i + 3];
    }
}

static int copy_mapped(const struct tp_kms_fb_info *fb, size_t line, uint8_t *out, size_t out_pitch)
{
    uint64_t bytes = (uint64_t)fb->pitches[0] * (fb->height - 1) + fb->offsets[0] + line;
    off_t size = lseek(fb->fds[0], 0, SEEK_END); /* a dma-buf never changes its size */
    if (size < 0 || (uint64_t)size < bytes)
        return -EIO;
    uint8_t *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fb->fds[0], 0);
    if (map == MAP_FAILED)
        return -errno;
    sync_dmabuf(fb->fds[0], DMA_BUF_SYNC_START);
    for (uint32_t y = 0; y < fb->height; y++)
        put_line(fb, map + fb->offsets[0] + (size_t)y * fb->pitches[0], out + y * out_pitch, line);
    sync_dmabuf(fb->fds[0], DMA_BUF_SYNC_END);
    munmap(map, bytes);
    return 0;
}

int tp_android_copy_pixels(const struct tp_kms_fb_info *fb, uint32_t bytes_per_pixel, uint8_t *row,
    uint8_t *out, size_t out_pitch)
{
    size_t line = (size_t)fb->width * bytes_per_pixel;
    if (tp_android_is_dmabuf(fb->fds[0]))
        return copy_mapped(fb, line, out, out_pitch);
    for (uint32_t y = 0; y < fb->height; y++) {
        off_t at = (off_t)fb->offsets[0] + (off_t)y * fb->pitches[0];
        if (pread(fb->fds[0], row, line, at) != (ssize_t)line)
            return -EIO;
        put_line(fb, row, out + y * out_pitch, line);
    }
    return 0;
}
