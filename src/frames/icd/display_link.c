#include "frames/icd/display_link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "frames/wire/hello.h"

#define DRIVER "turnpike"
#define CONNECTORS 16u
#define CARDS 16u /* of the kernel's that are looked at */

static int say_hello(const struct sockaddr *address, socklen_t bytes, uint32_t kind)
{
    struct tp_hello hello = {.version = TP_WIRE_VERSION, .oldest = TP_WIRE_OLDEST, .kind = kind};
    struct iovec part = {&hello, sizeof hello};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int r;

    if (fd < 0)
        return -errno;
    do
        r = connect(fd, address, bytes);
    while (r < 0 && errno == EINTR);
    if (r < 0)
        r = errno == EACCES || errno == EPERM ? -EACCES : -ENODEV;
    else
        r = tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
    if (r < 0) {
        close(fd);
        return r == -EACCES ? r : -ENODEV;
    }
    return fd;
}

/* The server's greeting on a channel, or what it refuses the card with. */
static int take_greeting(struct tp_display_link *l)
{
    struct tp_frame f;
    struct tp_hello hello;
    uint32_t version;
    int32_t refused = 0;
    int r = tp_frame_recv(l->channel, l->in, &f);

    if (r < 0)
        return -ENODEV;
    if (f.fourcc == TP_FRAME_REPLY && f.payload_bytes >= sizeof refused) {
        memcpy(&refused, f.payload, sizeof refused);
        r = refused < 0 && refused >= -4095 ? refused : -ENODEV;
    } else if (tp_hello_parse(&f, &hello, &version) < 0) {
        r = -ENODEV;
    }
    tp_frame_finish(&f);
    return r;
}

static int open_channel(struct tp_display_link *l)
{
    int ends[2], r;

    l->out = malloc(2 * (size_t)TP_FRAME_BYTES);
    if (!l->out)
        return -ENOMEM;
    l->in = l->out + TP_FRAME_BYTES;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    r = tp_frame_send(l->fd, TP_FRAME_CHANNEL, 0, 0, NULL, 0, &ends[1], 1);
    close(ends[1]);
    l->channel = ends[0];
    return r < 0 ? -ENODEV : take_greeting(l);
}

static void init(struct tp_display_link *l)
{
    *l = (struct tp_display_link){.fd = -1, .hotplug = -1, .channel = -1};
    pthread_mutex_init(&l->lock, NULL);
}

/* A descriptor may be the server's card, too, where the shim is. */
static bool is_servers(struct tp_display_link *l)
{
    char name[sizeof DRIVER] = "";
    struct drm_version v = {.name = name, .name_len = sizeof name - 1};

    return tp_display_ioctl(l, DRM_IOCTL_VERSION, &v) == 0 && !strcmp(name, DRIVER);
}

static int ask_for_all(struct tp_display_link *l)
{
    struct drm_set_client_cap universal = {DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1};
    struct drm_set_client_cap atomic = {DRM_CLIENT_CAP_ATOMIC, 1};
    int r = tp_display_ioctl(l, DRM_IOCTL_SET_CLIENT_CAP, &universal);

    if (r == 0)
        r = tp_display_ioctl(l, DRM_IOCTL_SET_CLIENT_CAP, &atomic);
    l->shared = is_servers(l);
    return r < 0 ? -ENODEV : 0;
}

static int open_server(struct tp_display_link *l, const struct sockaddr *address, socklen_t bytes)
{
    int r;

    l->server = true;
    l->fd = say_hello(address, bytes, TP_HELLO_CARD);
    if (l->fd < 0) {
        r = l->fd;
        l->fd = -1;
        return r;
    }
    r = open_channel(l);
    if (r == 0)
        r = ask_for_all(l);
    if (r == 0)
        l->hotplug = say_hello(address, bytes, TP_HELLO_HOTPLUG);
    if (l->hotplug < 0)
        l->hotplug = -1;
    return r;
}

/* The kernel's own word of uevents; nobody need have a udev. */
static int listen_to_kernel(void)
{
    struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = 1};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&all, sizeof all) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Looks at its connectors, too: nobody may have done so yet, and it is master now. */
static bool has_screens(struct tp_display_link *l)
{
    uint32_t ids[CONNECTORS];
    struct drm_mode_card_res res = {
        .connector_id_ptr = (uintptr_t)ids, .count_connectors = CONNECTORS};

    if (tp_display_ioctl(l, DRM_IOCTL_MODE_GETRESOURCES, &res) < 0 || res.count_connectors == 0 ||
        res.count_crtcs == 0 || ask_for_all(l) < 0)
        return false;
    for (uint32_t i = 0; i < res.count_connectors && i < CONNECTORS; i++)
        tp_display_probe(l, ids[i]);
    return true;
}

static int open_kernel(struct tp_display_link *l)
{
    int r = -ENODEV;

    for (unsigned i = 0; i < CARDS; i++) {
        char path[32];
        struct stat st;

        snprintf(path, sizeof path, "/dev/dri/card%u", i);
        l->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (l->fd < 0) {
            r = errno == EACCES || errno == EPERM ? -EACCES : r;
            continue;
        }
        if (has_screens(l)) {
            l->device = fstat(l->fd, &st) == 0 ? st.st_rdev : 0;
            l->hotplug = listen_to_kernel();
            return 0;
        }
        close(l->fd);
        l->fd = -1;
    }
    return r;
}

int tp_display_link_open(
    struct tp_display_link *l, const struct sockaddr *address, socklen_t address_bytes)
{
    init(l);
    int r = address ? open_server(l, address, address_bytes) : open_kernel(l);
    if (r < 0)
        tp_display_link_finish(l);
    return r;
}

int tp_display_link_wrap(struct tp_display_link *l, int fd)
{
    struct stat st;
    int r;

    init(l);
    l->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (l->fd < 0) {
        r = -errno;
    } else {
        l->device = fstat(l->fd, &st) == 0 ? st.st_rdev : 0;
        l->hotplug = listen_to_kernel();
        r = ask_for_all(l);
    }
    if (r < 0)
        tp_display_link_finish(l);
    return r;
}

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void tp_display_link_finish(struct tp_display_link *l)
{
    shut(&l->channel);
    shut(&l->hotplug);
    shut(&l->fd);
    free(l->out);
    l->out = l->in = NULL;
    pthread_mutex_destroy(&l->lock);
}

/* With the lock held. */
static int ask_server(struct tp_display_link *l, unsigned long request, void *arg)
{
    int fds[TP_FRAME_FDS], r;
    unsigned n_fds;
    struct tp_frame reply;
    ssize_t n = tp_drm_call_encode(request, arg, &l->fences, l->out,
        TP_FRAME_BYTES - sizeof(struct tp_frame_header), fds, &n_fds);

    if (n < 0)
        return (int)n;
    if (l->channel < 0)
        return -ENODEV;
    struct iovec part = {l->out, (size_t)n};
    uint32_t sequence = ++l->sequence;
    r = tp_frame_send(l->channel, TP_FRAME_CALL, 0, sequence, &part, 1, fds, n_fds);
    if (r == -ETOOMANYREFS)
        return -EMFILE;
    if (r == 0)
        r = tp_frame_recv(l->channel, l->in, &reply);
    if (r == -ENOBUFS) /* carried out, but what came finds no place here */
        return -EMFILE;
    if (r == 0 && (reply.sequence != sequence || reply.fourcc != TP_FRAME_REPLY)) {
        tp_frame_finish(&reply);
        r = -EBADMSG;
    }
    if (r < 0) {
        shut(&l->channel);
        return -ENODEV;
    }
    r = tp_drm_reply_decode(request, arg, &l->fences, &reply);
    tp_frame_finish(&reply);
    return r;
}

int tp_display_ioctl(struct tp_display_link *l, unsigned long request, void *arg)
{
    int r;

    if (l->server) {
        pthread_mutex_lock(&l->lock);
        r = ask_server(l, request, arg);
        pthread_mutex_unlock(&l->lock);
        return r;
    }
    do
        r = ioctl(l->fd, request, arg);
    while (r < 0 && (errno == EINTR || errno == EAGAIN));
    return r < 0 ? -errno : r;
}

void tp_display_probe(struct tp_display_link *l, uint32_t connector)
{
    struct drm_mode_get_connector c = {.connector_id = connector};

    if (!l->server)
        tp_display_ioctl(l, DRM_IOCTL_MODE_GETCONNECTOR, &c);
}

bool tp_display_link_drain(struct tp_display_link *l)
{
    char bytes[4096];
    ssize_t n;

    do
        n = recv(l->hotplug, bytes, sizeof bytes, MSG_DONTWAIT);
    while (n > 0 || (n < 0 && (errno == EINTR || errno == ENOBUFS)));
    return n < 0 && errno == EAGAIN;
}
