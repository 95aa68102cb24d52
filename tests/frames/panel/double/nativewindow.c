/* libnativewindow.so: windows and AHardwareBuffers, of memfds. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static atomic_uint buffers, windows;
static atomic_bool refuses;

void double_refuse_import(bool refuse)
{
    refuses = refuse;
}

unsigned double_buffers(void)
{
    return buffers;
}

unsigned double_windows(void)
{
    return windows;
}

static uint32_t pixel_bytes(uint32_t format)
{
    return format == 4 ? 2 : format == 0x16 ? 8 : 4;
}

static AHardwareBuffer *make(const struct buffer_desc *desc, int pixels, int about)
{
    AHardwareBuffer *b = calloc(1, sizeof *b);
    struct stat st;
    b->refs = 1;
    b->desc = *desc;
    b->bytes = (size_t)desc->stride * desc->height * pixel_bytes(desc->format);
    b->fds[0] = pixels;
    b->fds[1] = about;
    if (fstat(pixels, &st) == 0)
        b->inode = st.st_ino;
    buffers++;
    return b;
}

int AHardwareBuffer_allocate(const struct buffer_desc *desc, AHardwareBuffer **out)
{
    struct buffer_desc d = *desc;
    int pixels = memfd_create("pixels", MFD_CLOEXEC), about = memfd_create("about", MFD_CLOEXEC);
    d.stride = (d.width + 15) & ~15u;
    off_t bytes = (off_t)d.stride * d.height * pixel_bytes(d.format);
    *out = NULL;
    if (pixels < 0 || about < 0 || ftruncate(pixels, bytes) < 0 || ftruncate(about, 512) < 0) {
        close(pixels);
        close(about);
        return -ENOMEM;
    }
    *out = make(&d, pixels, about);
    return 0;
}

void AHardwareBuffer_acquire(AHardwareBuffer *b)
{
    b->refs++;
}

void AHardwareBuffer_release(AHardwareBuffer *b)
{
    if (--b->refs > 0)
        return;
    close(b->fds[0]);
    close(b->fds[1]);
    free(b);
    buffers--;
}

void AHardwareBuffer_describe(const AHardwareBuffer *b, struct buffer_desc *out)
{
    *out = b->desc;
}

int AHardwareBuffer_lock(
    AHardwareBuffer *b, uint64_t usage, int32_t fence, const void *rect, void **out)
{
    (void)usage;
    (void)rect;
    if (fence >= 0) {
        struct pollfd p = {.fd = fence, .events = POLLIN};
        poll(&p, 1, 1000);
        close(fence);
    }
    b->map = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fds[0], 0);
    if (b->map == MAP_FAILED)
        return -errno;
    *out = b->map;
    return 0;
}

int AHardwareBuffer_unlock(AHardwareBuffer *b, int32_t *fence)
{
    munmap(b->map, b->bytes);
    if (fence)
        *fence = -1;
    return 0;
}

int AHardwareBuffer_sendHandleToUnixSocket(const AHardwareBuffer *b, int socket)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec iov = {(void *)&b->desc, sizeof b->desc};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(c), b->fds, 2 * sizeof(int));
    return sendmsg(socket, &msg, 0) < 0 ? -errno : 0;
}

int AHardwareBuffer_recvHandleFromUnixSocket(int socket, AHardwareBuffer **out)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct buffer_desc desc;
    struct iovec iov = {&desc, sizeof desc};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control};
    int fds[2] = {-1, -1};
    struct stat st;
    if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof desc)
        return -EINVAL;
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (!c || c->cmsg_len != CMSG_LEN(2 * sizeof(int)))
        return -EINVAL;
    memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
    if (refuses || fstat(fds[0], &st) < 0 ||
        st.st_size < (off_t)desc.stride * desc.height * pixel_bytes(desc.format)) {
        close(fds[0]);
        close(fds[1]);
        return -EINVAL;
    }
    *out = make(&desc, fds[0], fds[1]);
    (*out)->foreign = true;
    return 0;
}

void *double_window_create(int32_t width, int32_t height)
{
    ANativeWindow *w = calloc(1, sizeof *w);
    w->refs = 1;
    w->width = width;
    w->height = height;
    windows++;
    return w;
}

void double_window_resize(void *window, int32_t width, int32_t height)
{
    ((ANativeWindow *)window)->width = width;
    ((ANativeWindow *)window)->height = height;
}

void ANativeWindow_acquire(ANativeWindow *w)
{
    w->refs++;
    windows++;
}

void ANativeWindow_release(ANativeWindow *w)
{
    windows--;
    if (--w->refs == 0)
        free(w);
}

void double_window_destroy(void *window)
{
    ANativeWindow_release(window);
}

int32_t ANativeWindow_getWidth(ANativeWindow *w)
{
    return w->width;
}

int32_t ANativeWindow_getHeight(ANativeWindow *w)
{
    return w->height;
}
