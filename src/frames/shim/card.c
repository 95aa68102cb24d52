#include "frames/shim/card.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <drm.h>

#include "frames/kms/snapshot.h"
#include "frames/shim/channel.h"
#include "frames/shim/config.h"
#include "frames/shim/fds.h"
#include "frames/shim/process.h"
#include "frames/shim/real.h"

#define CARDS 64u
#define PATIENCE 8u  /* reads of the end; whoever goes on has not understood it */
#define REST_NS 10000000
#define CHANNELS 16u /* kept for each; more calls at once open their own */

/* Of tp_hello's client_caps: a framebuffer; and what DRM_CLIENT_CAP_ATOMIC brings along. */
#define FRAMEBUFFERS 1u
#define ATOMIC_TOO (1u << DRM_CLIENT_CAP_UNIVERSAL_PLANES | 1u << DRM_CLIENT_CAP_ASPECT_RATIO)

enum slot_state { EMPTY = 0, IDLE, BUSY };

struct slot {
    atomic_int state;
    struct tp_channel channel;
};

struct tp_card {
    atomic_int refs; /* descriptors, and calls that use it; 0: free, -1: coming or going */
    uint64_t inode;  /* of the socket: the same open file has the same one everywhere */
    const struct tp_snapshot *snapshot; /* NULL: the server answers everything */
    struct tp_drm_fences fences;
    bool render;                        /* its render node */
    atomic_bool gone;                   /* so is the server */
    atomic_uint ends_read;              /* how often its client has read the end since */
    _Atomic(uint32_t) client_caps; /* as in a tp_hello */
    struct slot slots[CHANNELS];
};

static struct tp_card cards[CARDS];

/* A card's data live as long as somebody refers to it; the struct itself always, so that a look at one that
 * goes away meanwhile does no harm. */
static bool hold(struct tp_card *c)
{
    int refs = atomic_load(&c->refs);

    while (refs > 0) {
        if (atomic_compare_exchange_weak(&c->refs, &refs, refs + 1))
            return true;
    }
    return false;
}

static void tear_down(struct tp_card *c)
{
    for (unsigned i = 0; i < CHANNELS; i++) {
        if (c->slots[i].channel.out)
            tp_channel_finish(&c->slots[i].channel);
        atomic_store(&c->slots[i].state, EMPTY);
    }
    if (c->snapshot)
        munmap((void *)(uintptr_t)c->snapshot, TP_SNAPSHOT_BYTES);
    c->snapshot = NULL;
}

void tp_card_put(struct tp_card *c)
{
    int refs = atomic_load(&c->refs);

    while (!atomic_compare_exchange_weak(&c->refs, &refs, refs > 1 ? refs - 1 : -1))
        ;
    if (refs == 1) {
        tear_down(c);
        atomic_store(&c->refs, 0);
    }
}

/* After a fork the channels are the parent's. */
static void drop_channels(void)
{
    for (unsigned i = 0; i < CARDS; i++) {
        if (atomic_load(&cards[i].refs) <= 0)
            continue;
        for (unsigned k = 0; k < CHANNELS; k++) {
            if (atomic_load(&cards[i].slots[k].state) != EMPTY)
                tp_channel_close(&cards[i].slots[k].channel);
            atomic_store(&cards[i].slots[k].state, EMPTY);
        }
    }
}

/* False: a forked child's affairs are just being put right, and kept channels are not to be used. */
static bool settled(void)
{
    switch (tp_process_check()) {
    case TP_PROCESS_FORKED:
        drop_channels();
        tp_process_settle();
        return true;
    case TP_PROCESS_SETTLING:
        return false;
    case TP_PROCESS_KNOWN:
        break;
    }
    return true;
}

static void take_snapshot(struct tp_card *c, int fd)
{
    void *p = TP_REAL(mmap)(NULL, TP_SNAPSHOT_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    struct stat st;

    if (p == MAP_FAILED)
        return;
    if (TP_REAL(fstat)(fd, &st) < 0 || st.st_size < (off_t)TP_SNAPSHOT_BYTES ||
        !tp_snapshot_valid(p, TP_SNAPSHOT_BYTES)) {
        munmap(p, TP_SNAPSHOT_BYTES);
        return;
    }
    c->snapshot = p;
    tp_snapshot_fences(p, &c->fences);
}

/* Opens a channel; first: of this card, so that the server's greeting counts. */
static int open_channel(struct tp_card *c, int fd, struct tp_channel *channel, bool first)
{
    struct tp_channel_hello hello;
    int r = tp_channel_open(channel, fd, &hello);

    if (r == 0 && first) {
        uint32_t caps = hello.hello.client_caps;

        if (caps & 1u << DRM_CLIENT_CAP_ATOMIC)
            caps |= ATOMIC_TOO;
        atomic_store(&c->client_caps, caps);
        c->render = hello.hello.kind == TP_HELLO_RENDER;
        if (hello.snapshot >= 0 && (hello.hello.capabilities & TP_CAP_SNAPSHOT))
            take_snapshot(c, hello.snapshot);
    }
    if (hello.snapshot >= 0)
        TP_REAL(close)(hello.snapshot);
    return r;
}

static uint64_t socket_inode(int fd)
{
    struct stat st;

    return TP_REAL(fstat)(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* A card for the socket, held once: one that is there already, or a new one with its first channel. */
static int make_card(int fd, struct tp_card **out)
{
    uint64_t inode = socket_inode(fd);
    struct tp_card *c = NULL;
    int r;

    for (unsigned i = 0; i < CARDS; i++) {
        if (!hold(&cards[i]))
            continue;
        if (cards[i].inode == inode) {
            *out = &cards[i];
            return 0;
        }
        tp_card_put(&cards[i]);
    }
    for (unsigned i = 0; i < CARDS && !c; i++) {
        int none = 0;

        if (atomic_compare_exchange_strong(&cards[i].refs, &none, -1))
            c = &cards[i];
    }
    if (!c)
        return -EMFILE;
    c->inode = inode;
    c->fences = (struct tp_drm_fences){0};
    atomic_store(&c->gone, false);
    atomic_store(&c->ends_read, 0);
    for (unsigned i = 0; i < CHANNELS; i++)
        c->slots[i].channel = (struct tp_channel){.fd = -1};
    r = open_channel(c, fd, &c->slots[0].channel, true);
    if (r < 0) {
        tear_down(c);
        atomic_store(&c->refs, 0);
        return r;
    }
    atomic_store(&c->slots[0].state, IDLE);
    atomic_store(&c->refs, 1);
    *out = c;
    return 0;
}

static struct tp_fd fd_of(const struct tp_card *c)
{
    return (struct tp_fd){TP_FD_CARD, (unsigned)(c - cards)};
}

/* The descriptor's part of a card that is held: it passes to the table, or is let go. */
static bool give_to_table(int fd, struct tp_fd was, struct tp_card *c)
{
    if (tp_fds_set(fd, was, fd_of(c)))
        return true;
    tp_card_put(c);
    return false;
}

/* What a server has said that wants no more of this socket: a negative errno. */
static int read_refusal(int fd)
{
    struct {
        struct tp_frame_header header;
        int32_t result, zero;
    } m;
    ssize_t n = 0;

    for (int i = 0; i < 2; i++) { /* what it left unread counts as an error of ours, which is told first */
        n = recv(fd, &m, sizeof m, MSG_DONTWAIT);
        if (n >= 0 || errno != ECONNRESET)
            break;
    }
    if (n == (ssize_t)sizeof m && m.header.fourcc == TP_FRAME_REPLY && m.result < 0 &&
        m.result >= -4095)
        return m.result;
    return -ENODEV;
}

static int open_node(int flags, enum tp_hello_kind kind)
{
    const struct tp_shim_config *config = tp_shim_config();
    struct tp_hello hello = {.version = TP_WIRE_VERSION, .oldest = TP_WIRE_OLDEST,
                             .kind = kind, .capabilities = TP_CAP_SNAPSHOT};
    struct iovec part = {&hello, sizeof hello};
    struct tp_card *card;
    int fd, r;

    if (!config || config->server_bytes == 0)
        return -ENODEV;
    settled();
    fd = socket(AF_UNIX, SOCK_SEQPACKET | (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0), 0);
    if (fd < 0)
        return -errno;
    tp_card_forget_fd(fd); /* whatever was closed past the shim */
    do
        r = connect(fd, (const struct sockaddr *)&config->server, config->server_bytes);
    while (r < 0 && errno == EINTR);
    if (r < 0) {
        r = errno == EACCES || errno == EPERM ? -EACCES : -ENODEV;
    } else {
        r = tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
        if (r == 0)
            r = make_card(fd, &card);
        else
            r = -ENODEV;
        if (r == -ENODEV)
            r = read_refusal(fd);
    }
    if (r == 0 && !give_to_table(fd, (struct tp_fd){TP_FD_UNKNOWN, 0}, card))
        r = -EMFILE;
    if (r == 0 && (flags & O_NONBLOCK))
        TP_REAL(fcntl)(fd, F_SETFL, O_NONBLOCK);
    if (r < 0) {
        TP_REAL(close)(fd);
        return r;
    }
    return fd;
}

int tp_card_open(int flags)
{
    return open_node(flags, TP_HELLO_CARD);
}

int tp_card_open_render(int flags)
{
    return open_node(flags, TP_HELLO_RENDER);
}

bool tp_card_is_render(const struct tp_card *c)
{
    return c->render;
}

static bool leads_to_the_server(int fd)
{
    struct sockaddr_un peer;
    socklen_t bytes = sizeof peer;

    return getpeername(fd, (struct sockaddr *)&peer, &bytes) == 0 &&
           tp_shim_is_server(&peer, bytes < (socklen_t)sizeof peer ? bytes : (socklen_t)sizeof peer);
}

struct tp_card *tp_card_get(int fd)
{
    for (;;) {
        struct tp_fd f = tp_fds_get(fd);
        struct tp_card *c;

        if (f.kind == TP_FD_CARD) {
            if (!hold(&cards[f.number]))
                continue; /* it has just been closed; look again */
            if (tp_fds_get(fd).kind == TP_FD_CARD && tp_fds_get(fd).number == f.number)
                return &cards[f.number];
            tp_card_put(&cards[f.number]);
            continue;
        }
        if (f.kind != TP_FD_UNKNOWN || fd < 0)
            return NULL;
        if (!leads_to_the_server(fd)) {
            tp_fds_set(fd, f, (struct tp_fd){TP_FD_OTHER, 0});
            return NULL;
        }
        settled();
        if (make_card(fd, &c) < 0)
            return NULL;
        atomic_fetch_or(&c->client_caps, FRAMEBUFFERS); /* who knows what others have done with it */
        give_to_table(fd, f, c);
    }
}

bool tp_card_is_still(struct tp_card *c, int fd)
{
    if (socket_inode(fd) == c->inode)
        return true;
    tp_card_forget_fd(fd);
    return false;
}

bool tp_card_is_known(int fd)
{
    return tp_fds_get(fd).kind == TP_FD_CARD;
}

bool tp_card_read_end(int fd)
{
    const struct timespec rest = {0, REST_NS};
    struct tp_card *c;
    int kept = errno;
    bool still;

    if (!tp_card_is_known(fd) || !(c = tp_card_get(fd)))
        return false;
    still = tp_card_is_still(c, fd);
    if (still) {
        atomic_store(&c->gone, true);
        if (atomic_fetch_add(&c->ends_read, 1) >= PATIENCE)
            nanosleep(&rest, NULL);
    }
    tp_card_put(c);
    errno = kept;
    return still;
}

static int take_channel(struct tp_card *c, int fd, struct slot **out)
{
    for (unsigned i = 0; i < CHANNELS; i++) {
        int idle = IDLE;

        if (atomic_compare_exchange_strong(&c->slots[i].state, &idle, BUSY)) {
            *out = &c->slots[i];
            return 0;
        }
    }
    for (unsigned i = 0; i < CHANNELS; i++) {
        int empty = EMPTY, r;

        if (!atomic_compare_exchange_strong(&c->slots[i].state, &empty, BUSY))
            continue;
        r = open_channel(c, fd, &c->slots[i].channel, false);
        if (r < 0) {
            atomic_store(&c->slots[i].state, EMPTY);
            return r;
        }
        *out = &c->slots[i];
        return 0;
    }
    return -EBUSY;
}

/* What is asked over a channel: an ioctl, or a buffer's memory. */
struct question {
    unsigned long request; /* 0: memory */
    void *arg;
    uint64_t offset, *bytes;
    int *memory;
};

static int ask_over(struct tp_card *c, struct tp_channel *channel, const struct question *q)
{
    unsigned nr = _IOC_NR(q->request);
    /* Those whose wait a signal ends in the kernel too. */
    bool interruptible = nr == _IOC_NR(DRM_IOCTL_WAIT_VBLANK) ||
                         nr == _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT) ||
                         nr == _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT);

    if (!q->request)
        return tp_channel_map(channel, q->offset, q->memory, q->bytes);
    return tp_channel_ioctl(channel, q->request, q->arg, &c->fences, interruptible);
}

/* Over a channel of its own, where all are busy, or the process has just been forked. */
static int ask_alone(struct tp_card *c, int fd, const struct question *q)
{
    struct tp_channel channel = {.fd = -1};
    int r = open_channel(c, fd, &channel, false);

    if (r == 0)
        r = ask_over(c, &channel, q);
    tp_channel_finish(&channel);
    return r;
}

static int ask(struct tp_card *c, int fd, const struct question *q)
{
    struct slot *slot;
    int r;

    if (!settled())
        return ask_alone(c, fd, q);
    for (int tries = 0;; tries++) {
        r = take_channel(c, fd, &slot);
        if (r == -EBUSY)
            return ask_alone(c, fd, q);
        if (r < 0) {
            atomic_store(&c->gone, r == -ENODEV);
            return r;
        }
        r = ask_over(c, &slot->channel, q);
        if (r == -ENODEV && slot->channel.fd < 0)
            atomic_store(&c->gone, true);
        atomic_store(&slot->state, slot->channel.fd < 0 ? EMPTY : IDLE);
        /* The client closed our descriptor behind the shim's back. */
        if (r != -ESTALE || tries == 1)
            return r == -ESTALE ? -ENODEV : r;
    }
}

/* Keeps in mind what the file has said about itself: it counts in answers from the snapshot. */
static void note(struct tp_card *c, unsigned long request, const void *arg)
{
    const struct drm_set_client_cap *cap = arg;
    uint32_t bits;

    if (request == DRM_IOCTL_MODE_ADDFB || request == DRM_IOCTL_MODE_ADDFB2)
        atomic_fetch_or(&c->client_caps, FRAMEBUFFERS);
    if (request != DRM_IOCTL_SET_CLIENT_CAP || cap->capability == 0 || cap->capability >= 32)
        return;
    bits = 1u << cap->capability;
    if (cap->capability == DRM_CLIENT_CAP_ATOMIC) /* it sets these as well, and clears them */
        bits |= ATOMIC_TOO;
    if (cap->value)
        atomic_fetch_or(&c->client_caps, bits);
    else
        atomic_fetch_and(&c->client_caps, ~bits);
}

static int ask_snapshot(struct tp_card *c, unsigned long request, void *arg)
{
    uint32_t caps = atomic_load_explicit(&c->client_caps, memory_order_relaxed);
    struct tp_snapshot_view view = {.framebuffers = caps & FRAMEBUFFERS};

    if (!c->snapshot || !arg)
        return -ENOSYS;
    tp_snapshot_view_set(&view, DRM_CLIENT_CAP_ATOMIC, caps >> DRM_CLIENT_CAP_ATOMIC & 1);
    for (uint32_t cap = 1; cap < 8; cap++) {
        if (cap != DRM_CLIENT_CAP_ATOMIC)
            tp_snapshot_view_set(&view, cap, caps >> cap & 1);
    }
    return tp_snapshot_query(c->snapshot, &view, request, arg);
}

int tp_card_ioctl(struct tp_card *c, int fd, unsigned long request, void *arg)
{
    struct question q = {.request = request, .arg = arg};
    int r;

    if (!tp_drm_call_known(request))
        return -EINVAL;
    if (atomic_load_explicit(&c->gone, memory_order_relaxed))
        return -ENODEV;
    r = ask_snapshot(c, request, arg);
    if (r != -ENOSYS)
        return r;
    r = ask(c, fd, &q);
    if (r == 0)
        note(c, request, arg);
    return r;
}

int tp_card_map(struct tp_card *c, int fd, uint64_t offset, int *memory, uint64_t *bytes)
{
    struct question q = {.offset = offset, .memory = memory, .bytes = bytes};

    return ask(c, fd, &q);
}

void tp_card_forget_fd(int fd)
{
    struct tp_fd was = tp_fds_take(fd);

    if (was.kind == TP_FD_CARD)
        tp_card_put(&cards[was.number]);
}

void tp_card_copy_fd(int from, int to)
{
    struct tp_fd f = tp_fds_get(from);

    tp_card_forget_fd(to);
    if (f.kind == TP_FD_CARD && hold(&cards[f.number]))
        give_to_table(to, (struct tp_fd){TP_FD_UNKNOWN, 0}, &cards[f.number]);
    else if (f.kind == TP_FD_TTY || f.kind == TP_FD_UEVENT)
        tp_fds_set(to, (struct tp_fd){TP_FD_UNKNOWN, 0}, f);
}
