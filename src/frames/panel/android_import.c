#include "frames/panel/android_import.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "frames/panel/android_buffer.h"

#define DMA_BUF_MAGIC 0x444d4142 /* linux/magic.h */
#define MESSAGE_BYTES 8192u      /* what libnativewindow receives at the most */
#define MESSAGE_FDS 32u

/* A buffer on its way through a socket. */
struct message {
    char bytes[MESSAGE_BYTES];
    size_t n;
    int fds[MESSAGE_FDS]; /* owned */
    unsigned n_fds;
};

bool tp_android_is_dmabuf(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == DMA_BUF_MAGIC;
}

static bool receive(int socket, struct message *m)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof m->fds)];
    } control;
    struct iovec iov = {m->bytes, sizeof m->bytes};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control};
    ssize_t n;
    do
        n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); n >= 0 && c; c = CMSG_NXTHDR(&msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        m->n_fds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(m->fds, CMSG_DATA(c), m->n_fds * sizeof(int));
    }
    m->n = n > 0 ? (size_t)n : 0;
    return n > 0 && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

static bool transmit(int socket, const struct message *m)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof m->fds)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec iov = {(void *)m->bytes, m->n};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(m->n_fds * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(m->n_fds * sizeof(int));
    memcpy(CMSG_DATA(c), m->fds, m->n_fds * sizeof(int));
    return sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)m->n;
}

/* Which descriptor is the pixels': the largest. The others describe it. -1: none has a size. */
static int pixels_of(const struct message *m, off_t *bytes)
{
    int found = -1;
    *bytes = 0;
    for (unsigned i = 0; i < m->n_fds; i++) {
        off_t size = lseek(m->fds[i], 0, SEEK_END);
        if (size > *bytes) {
            *bytes = size;
            found = (int)i;
        }
    }
    return found;
}

/* Puts the guest's memory in the place of the template's. */
static const char *swap(struct message *m, int fd)
{
    off_t theirs, ours = lseek(fd, 0, SEEK_END);
    int i = pixels_of(m, &theirs);
    if (i < 0)
        return "the allocator's buffers have no memory that shows";
    if (ours < theirs)
        return "it is smaller than what the display would read";
    int copy = dup(fd);
    if (copy < 0)
        return "there are no descriptors left";
    close(m->fds[i]);
    m->fds[i] = copy;
    return NULL;
}

/* The template, with the guest's memory in it. */
static const char *through_sockets(
    const struct tp_android_api *api, AHardwareBuffer *template, int fd, AHardwareBuffer **out)
{
    int a[2] = {-1, -1}, b[2] = {-1, -1};
    struct message m;
    const char *why = "there are no descriptors left";
    m.n_fds = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a) == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, b) == 0) {
        if (api->AHardwareBuffer_sendHandleToUnixSocket(template, a[0]) != 0 || !receive(a[1], &m))
            why = "the allocator's buffers cannot be passed on";
        else if (!(why = swap(&m, fd)) &&
            (!transmit(b[0], &m) ||
                api->AHardwareBuffer_recvHandleFromUnixSocket(b[1], out) != 0)) {
            *out = NULL;
            why = "the allocator does not take it";
        }
    }
    for (unsigned i = 0; i < m.n_fds; i++)
        close(m.fds[i]);
    for (unsigned i = 0; i < 2; i++) {
        if (a[i] >= 0)
            close(a[i]);
        if (b[i] >= 0)
            close(b[i]);
    }
    return why;
}

const char *tp_android_import_fb(
    const struct tp_android_api *api, const struct tp_kms_fb_info *fb, AHardwareBuffer **out)
{
    uint32_t bytes, format = tp_android_format(fb->fourcc, &bytes);
    bool linear = fb->modifier == DRM_FORMAT_MOD_LINEAR || fb->modifier == DRM_FORMAT_MOD_INVALID;
    struct tp_a_buffer_desc desc = {.width = fb->width,
        .height = fb->height,
        .layers = 1,
        .format = format,
        .usage = TP_A_GPU_SAMPLED_IMAGE | TP_A_GPU_FRAMEBUFFER | TP_A_COMPOSER_OVERLAY};
    AHardwareBuffer *template;
    *out = NULL;
    if (!format)
        return "Android has no such pixel format";
    if (!linear && fb->modifier != DRM_FORMAT_MOD_QCOM_COMPRESSED)
        return "Android has no such layout";
    if (!tp_android_is_dmabuf(fb->fds[0]))
        return "it is not a dma-buf";
    if (fb->offsets[0] != 0)
        return "it begins inside its memory";
    if (linear) /* what the processor reads is not compressed */
        desc.usage |= TP_A_CPU_READ_RARELY | TP_A_CPU_WRITE_RARELY;
    if (api->AHardwareBuffer_allocate(&desc, &template) != 0)
        return "the allocator has no such buffers";
    api->AHardwareBuffer_describe(template, &desc);
    const char *why = desc.stride * bytes != fb->pitches[0] && linear
        ? "its lines are not as far apart as the display has them"
        : through_sockets(api, template, fb->fds[0], out);
    api->AHardwareBuffer_release(template);
    return why;
}
