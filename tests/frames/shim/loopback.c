/*
 * loopback SOCKET [HZ]: a server for the shim's tests: the real device model behind a socket, with a timer
 * for a panel that shows every commit at its next tick. One loop with poll; prints "ready" once it
 * listens. On SIGUSR1 the second output comes or goes. On SIGTERM it waits a little for its clients to go, and says how many opens are left.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#include "frames/kms/kms.h"
#include "frames/kms/snapshot.h"
#include "frames/kms/uapi.h"
#include "frames/wire/drm_call.h"
#include "frames/wire/hello.h"

#define CONNECTIONS 2048
#define OUTPUTS 2
#define EXTRA 16 /* what a poll watches besides connections */

enum kind { NOBODY = 0, NEW, CARD, CHANNEL, LISTENER };

struct connection {
    enum kind kind;
    int fd;
    struct tp_kms_file *file;  /* a card's */
    uint32_t client_caps;      /* a card's, as in a tp_hello */
    struct connection *card;   /* a channel's */
    struct tp_drm_call call;   /* a channel's */
    uint32_t sequence;         /* of that call */
    bool waiting;
};

static struct connection connections[CONNECTIONS];
static struct tp_kms *kms;
static int snapshot_fd; /* read-only */
static struct tp_snapshot *snapshot;
static struct {
    uint64_t serial; /* of the commit that the next tick shows; 0: none */
} outputs[OUTPUTS];
static uint64_t sequence;
static int64_t last_tick;
static uint8_t in[TP_FRAME_BYTES], out[TP_FRAME_BYTES];
static volatile sig_atomic_t ended, replugged;
static sigset_t unblocked; /* signals come while it sleeps, and at no other time */

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static void replug(int signal)
{
    (void)signal;
    replugged = 1;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int create_memory(void *data, uint64_t bytes)
{
    int fd = memfd_create("buffer", MFD_CLOEXEC);

    (void)data;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) < 0) {
        close(fd);
        fd = -1;
    }
    return fd < 0 ? -ENOMEM : fd;
}

static void send_event(void *data, struct tp_kms_file *file, const void *e, size_t bytes)
{
    struct connection *c = tp_kms_file_data(file);

    (void)data;
    send(c->fd, e, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void commit(void *data, const struct tp_kms_scanout *s)
{
    (void)data;
    for (unsigned i = 0; i < s->n_layers; i++) {
        if (s->layers[i].in_fence >= 0)
            close(s->layers[i].in_fence);
    }
    outputs[s->crtc].serial = s->serial;
}

static void answer(struct connection *c, int result)
{
    ssize_t n = tp_drm_reply_encode(&c->call, result, out, sizeof out - 16);
    struct iovec part = {out, (size_t)n};

    tp_frame_send(c->fd, TP_FRAME_REPLY, 0, c->sequence, &part, 1, c->call.out_fds,
                  c->call.n_out_fds);
    tp_drm_call_reset(&c->call);
}

static void finish(void *data, void *waiter, struct tp_drm_call *call, int result)
{
    struct connection *c = waiter;

    (void)data;
    (void)call;
    c->waiting = false;
    answer(c, result);
}

static int fence_make(void *data, int ends[2])
{
    (void)data;
    return tp_fence_pair(ends);
}

static void changed(void *data)
{
    (void)data;
    if (kms)
        tp_snapshot_write(snapshot, kms);
}

static void hotplug(void *data)
{
    (void)data;
    for (int i = 0; i < CONNECTIONS; i++) {
        if (connections[i].kind == LISTENER)
            tp_frame_send(connections[i].fd, TP_FRAME_HOTPLUG, 0, 0, NULL, 0, NULL, 0);
    }
}

static void drop(struct connection *c)
{
    if (c->kind == CARD) {
        for (int i = 0; i < CONNECTIONS; i++) {
            if (connections[i].kind == CHANNEL && connections[i].card == c)
                drop(&connections[i]);
        }
        tp_kms_close(c->file);
    }
    if (c->waiting)
        tp_kms_cancel(kms, c);
    tp_drm_call_finish(&c->call);
    close(c->fd);
    *c = (struct connection){0};
}

static struct connection *add(enum kind kind, int fd)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        if (connections[i].kind == NOBODY) {
            connections[i] = (struct connection){.kind = kind, .fd = fd};
            return &connections[i];
        }
    }
    close(fd);
    return NULL;
}

static int greet(struct connection *c, struct tp_frame *f)
{
    struct ucred peer = {0};
    socklen_t bytes = sizeof peer;
    struct tp_hello hello;
    uint32_t version;
    int r = tp_hello_parse(f, &hello, &version);

    if (r < 0)
        return r;
    if (hello.kind == TP_HELLO_HOTPLUG) {
        c->kind = LISTENER;
        return 0;
    }
    getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
    r = tp_kms_open(kms, true, peer.pid, c, &c->file);
    if (r == 0)
        c->kind = CARD;
    return r;
}

static int add_channel(struct connection *card, struct tp_frame *f)
{
    struct tp_hello hello = {.version = TP_WIRE_VERSION, .oldest = TP_WIRE_OLDEST,
                             .kind = TP_HELLO_CARD, .client_caps = card->client_caps,
                             .capabilities = TP_CAP_SNAPSHOT};
    struct iovec part = {&hello, sizeof hello};
    int fd = tp_frame_take_fd(f, 0);
    struct connection *c;

    if (f->fourcc != TP_FRAME_CHANNEL || fd < 0)
        return -EBADMSG;
    c = add(CHANNEL, fd);
    if (!c)
        return -EMFILE;
    c->card = card;
    return tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, &snapshot_fd, 1);
}

static void note(struct connection *card, const struct tp_drm_call *call)
{
    const struct drm_set_client_cap *cap = call->arg;

    if (call->request == DRM_IOCTL_MODE_ADDFB || call->request == DRM_IOCTL_MODE_ADDFB2)
        card->client_caps |= 1;
    if (call->request == DRM_IOCTL_SET_CLIENT_CAP && cap->capability < 32)
        card->client_caps |= (uint32_t)!!cap->value << cap->capability;
}

static int serve_map(struct connection *c, const struct tp_frame *f)
{
    struct {
        int32_t result;
        uint32_t zero;
        uint64_t bytes;
    } said = {0};
    struct iovec part = {&said, sizeof said};
    uint64_t offset;
    int fd = -1;

    if (f->payload_bytes != sizeof offset)
        return -EBADMSG;
    memcpy(&offset, f->payload, sizeof offset);
    said.result = tp_kms_map(c->card->file, offset, &fd, &said.bytes);
    return tp_frame_send(c->fd, TP_FRAME_REPLY, 0, f->sequence, &part, 1, &fd, said.result == 0);
}

static int serve_call(struct connection *c, struct tp_frame *f)
{
    int r;

    if (c->waiting)
        return -EBADMSG;
    if (f->fourcc == TP_FRAME_MAP)
        return serve_map(c, f);
    c->sequence = f->sequence;
    r = tp_drm_call_decode(f, &c->call);
    if (r == -EBADMSG)
        return r;
    if (r == 0)
        r = tp_kms_ioctl(c->card->file, &c->call, c);
    if (r == TP_KMS_WAITS) {
        c->waiting = true;
        return 0;
    }
    if (r >= 0)
        note(c->card, &c->call);
    answer(c, r);
    return 0;
}

static void serve(struct connection *c)
{
    struct tp_frame f;
    int r = tp_frame_recv(c->fd, in, &f);

    if (r == 0) {
        if (c->kind == NEW)
            r = greet(c, &f);
        else if (c->kind == LISTENER)
            r = -EBADMSG;
        else if (c->kind == CARD)
            r = add_channel(c, &f);
        else
            r = serve_call(c, &f);
        tp_frame_finish(&f);
    }
    if (r < 0)
        drop(c);
}

static void tick(int timer)
{
    uint64_t times;

    if (read(timer, &times, sizeof times) != sizeof times)
        return;
    sequence += times;
    last_tick = now_ns();
    for (unsigned i = 0; i < OUTPUTS; i++) {
        uint64_t serial = outputs[i].serial;

        outputs[i].serial = 0;
        tp_kms_vblank(kms, i, sequence, last_tick);
        if (serial)
            tp_kms_flipped(kms, i, serial, sequence, last_tick, 0);
    }
}

static int listen_at(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 64) < 0)
        die(path);
    return fd;
}

static void make_snapshot(void)
{
    char path[64];
    int fd = memfd_create("snapshot", MFD_CLOEXEC);

    if (fd < 0 || ftruncate(fd, TP_SNAPSHOT_BYTES) < 0)
        die("snapshot");
    snapshot = mmap(NULL, TP_SNAPSHOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snapshot_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (snapshot == MAP_FAILED || snapshot_fd < 0)
        die("snapshot");
    close(fd);
}

static void make_device(unsigned hz)
{
    static const struct tp_kms_ops ops = {create_memory, send_event, commit, finish, fence_make,
                                          changed, hotplug, NULL};
    struct tp_kms_config config = {
        .outputs = {{.connected = true, .modes = {{1920, 1080, hz * 1000}, {1280, 720, hz * 1000}},
                     .n_modes = 2},
                    {.connector_type = DRM_MODE_CONNECTOR_HDMIA, .connected = false}},
        .n_outputs = OUTPUTS,
        .n_overlays = 1,
    };
    struct tp_error e = {0};

    if (tp_kms_create(&config, &ops, NULL, &kms, &e) < 0) {
        fprintf(stderr, "loopback: %s: %s\n", e.where, e.what);
        exit(1);
    }
    tp_snapshot_write(snapshot, kms);
}

static bool anybody(void)
{
    struct tp_kms_counts counts;

    tp_kms_count(kms, &counts);
    return counts.files > 0;
}

/* The second output comes or goes. */
static void plug_second(void)
{
    static struct tp_kms_output o = {.connector_type = DRM_MODE_CONNECTOR_HDMIA,
                                     .modes = {{1280, 720, 60000}}, .n_modes = 1};
    struct tp_error e = {0};

    replugged = 0;
    o.connected = !o.connected;
    if (tp_kms_set_output(kms, 1, &o, &e) < 0)
        fprintf(stderr, "loopback: %s: %s\n", e.where, e.what);
}

static void run(int listener, int timer)
{
    static struct pollfd polls[CONNECTIONS + EXTRA];
    static struct connection *whose[CONNECTIONS + EXTRA];
    int64_t until = INT64_MAX;

    while (!ended || (anybody() && now_ns() < until)) {
        int64_t deadline = tp_kms_deadline(kms), wait = -1;
        int fences[EXTRA - 2], n = 2;
        unsigned n_fences;

        polls[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        polls[1] = (struct pollfd){.fd = timer, .events = POLLIN};
        n_fences = tp_kms_poll_fds(kms, fences, EXTRA - 2);
        for (unsigned i = 0; i < n_fences && i < EXTRA - 2; i++)
            polls[n++] = (struct pollfd){.fd = fences[i], .events = POLLIN};
        n_fences = (unsigned)n - 2;
        for (int i = 0; i < CONNECTIONS; i++) {
            if (connections[i].kind == NOBODY)
                continue;
            whose[n] = &connections[i];
            polls[n++] = (struct pollfd){.fd = connections[i].fd, .events = POLLIN};
        }
        if (deadline != INT64_MAX) {
            wait = (deadline - now_ns()) / 1000000 + 1;
            wait = wait < 0 ? 0 : wait > 1000 ? 1000 : wait;
        }
        if (replugged)
            plug_second();
        struct timespec t = {wait / 1000, wait % 1000 * 1000000};
        if (ppoll(polls, (nfds_t)n, wait < 0 ? NULL : &t, &unblocked) < 0)
            continue;
        if (ended && until == INT64_MAX)
            until = now_ns() + 2000000000;
        tp_kms_expire(kms, now_ns());
        if (polls[1].revents)
            tick(timer);
        for (unsigned i = 0; i < n_fences; i++) {
            if (polls[2 + i].revents)
                tp_kms_fds_ready(kms);
        }
        for (int i = 2 + (int)n_fences; i < n; i++) {
            if (polls[i].revents && whose[i]->kind != NOBODY && whose[i]->fd == polls[i].fd)
                serve(whose[i]);
        }
        if (polls[0].revents) {
            int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

            if (fd >= 0)
                add(NEW, fd);
        }
    }
}

int main(int argc, char **argv)
{
    struct sigaction a = {.sa_handler = end};
    unsigned hz = argc > 2 ? (unsigned)atoi(argv[2]) : 60;
    struct itimerspec period;
    struct tp_kms_counts counts;
    int listener, timer;

    if (argc < 2 || hz < 1 || hz > 1000) {
        fprintf(stderr, "usage: loopback SOCKET [HZ]\n");
        return 2;
    }
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGTERM);
    sigaddset(&a.sa_mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &a.sa_mask, &unblocked);
    sigaction(SIGTERM, &a, NULL);
    a.sa_handler = replug;
    sigaction(SIGUSR1, &a, NULL);
    make_snapshot();
    make_device(hz);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    period.it_value = period.it_interval =
        (struct timespec){.tv_sec = hz == 1, .tv_nsec = hz == 1 ? 0 : 1000000000L / hz};
    if (timer < 0 || timerfd_settime(timer, 0, &period, NULL) < 0)
        die("timer");
    listener = listen_at(argv[1]);
    printf("ready\n");
    fflush(stdout);
    run(listener, timer);
    tp_kms_count(kms, &counts);
    printf("left %u\n", counts.files);
    for (int i = 0; i < CONNECTIONS; i++) {
        if (connections[i].kind != NOBODY && connections[i].kind != CHANNEL)
            drop(&connections[i]);
    }
    tp_kms_destroy(kms);
    munmap(snapshot, TP_SNAPSHOT_BYTES);
    unlink(argv[1]);
    return 0;
}
