/*
 * Clients of a server, as the input says: they come, say things, pass descriptors, let refreshes
 * happen and go. Nothing of it may leave an object or a descriptor. The input is a list of steps of
 * at least four bytes: what, who, and the length of what follows (u16).
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames/server/server.h"
#include "frames/wire/hello.h"

#define CLIENTS 3u
#define STEPS 200u

enum step {
    COME,
    HELLO,
    CHANNEL,
    CALL,
    MAP,
    RAW_CARD,
    RAW_CHANNEL,
    READ,
    GO,
    TICK,
    LEAVE_CHANNEL,
    N_STEPS
};

struct client {
    int card, channel;
};

static struct {
    struct tp_panel panel;
    const struct tp_panel_events *events;
    void *data;
    uint64_t sequence;
} screen;
static struct tp_server *server;
static struct client clients[CLIENTS];
static int memory = -1; /* something to pass on */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    (void)p;
    (void)e;
    screen.events = events;
    screen.data = data;
    return 0;
}

static int publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    (void)p;
    for (unsigned i = 0; i < s->n_layers; i++) {
        struct tp_kms_fb_info info;
        tp_kms_fb_info(s->layers[i].fb, &info);
        assert(info.n_planes > 0 && info.fds[0] >= 0);
    }
    return 0;
}

static int set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    (void)p;
    (void)vrr;
    assert(mode->refresh_mhz > 0);
    return 0;
}

static void destroy(struct tp_panel *p)
{
    (void)p;
}

static unsigned n_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static void pump(void)
{
    struct pollfd p = {.fd = tp_server_fd(server), .events = POLLIN};
    for (unsigned i = 0; i < 1000; i++) {
        assert(tp_server_dispatch(server, 0) == 0);
        if (poll(&p, 1, 0) <= 0)
            return;
    }
    assert(!"the loop never comes to rest");
}

static void tick(void)
{
    screen.sequence++;
    const struct tp_panel_tick t = {screen.sequence, (int64_t)screen.sequence * 16666666, 16666666};
    screen.events->tick(screen.data, &t);
    pump();
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void come(struct client *c)
{
    int ends[2];
    close_fd(&c->card);
    close_fd(&c->channel);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return;
    c->card = ends[0];
    tp_server_adopt(server, ends[1]);
}

static void send_frame(int sock, uint32_t fourcc, const void *bytes, size_t n, int fd)
{
    const struct iovec part = {(void *)(uintptr_t)bytes, n};
    if (sock >= 0)
        tp_frame_send(sock, fourcc, 0, 1, &part, 1, &fd, fd >= 0);
}

static void open_channel(struct client *c)
{
    int ends[2];
    close_fd(&c->channel);
    if (c->card < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return;
    c->channel = ends[0];
    send_frame(c->card, TP_FRAME_CHANNEL, NULL, 0, ends[1]);
    close(ends[1]);
}

/* Takes what is there, descriptors too. */
static void drain(int sock)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    struct tp_frame f;
    while (sock >= 0) {
        int r = tp_frame_recv(sock, buffer, &f);
        if (r == 0)
            tp_frame_finish(&f);
        else if (r != -EBADMSG)
            return;
    }
}

static void go(struct client *c, enum step step, const uint8_t *bytes, size_t n)
{
    static const struct tp_hello hello = {
        TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD, 0, TP_CAP_SNAPSHOT};
    int fd = n > 0 && bytes[n - 1] & 1 ? memory : n > 0 && bytes[n - 1] & 2 ? c->card : -1;
    switch (step) {
    case COME:
        come(c);
        break;
    case HELLO:
        send_frame(c->card, TP_FRAME_HELLO, &hello, sizeof hello, -1);
        break;
    case CHANNEL:
        open_channel(c);
        break;
    case CALL:
        send_frame(c->channel, TP_FRAME_CALL, bytes, n, -1);
        break;
    case MAP:
        send_frame(c->channel, TP_FRAME_MAP, bytes, n, -1);
        break;
    case RAW_CARD:
    case RAW_CHANNEL:
        if (n >= 4) {
            uint32_t fourcc;
            memcpy(&fourcc, bytes, sizeof fourcc);
            send_frame(step == RAW_CARD ? c->card : c->channel, fourcc, bytes + 4, n - 4, fd);
        }
        break;
    case READ:
        drain(c->channel);
        drain(c->card);
        break;
    case GO:
        close_fd(&c->card);
        close_fd(&c->channel);
        break;
    case TICK:
        tick();
        break;
    case LEAVE_CHANNEL:
        close_fd(&c->channel);
        break;
    case N_STEPS:
        break;
    }
    pump();
    drain(c->channel);
}

static void make_server(void)
{
    static const struct tp_panel_ops ops = {start, publish, set_mode, NULL, destroy};
    struct tp_server_config c = {
        .kms = {.n_outputs = 1,
            .n_overlays = 1,
            .outputs = {{.connected = true, .modes = {{64, 48, 60000}}, .n_modes = 1}},
            .limits = {.fbs = 16, .buffers = 16, .blobs = 16, .syncobjs = 16}},
        .limits = {.connections = CLIENTS + 1, .channels = 4},
        .panels = {&screen.panel},
    };
    struct tp_error e = {0};
    screen.panel = (struct tp_panel){.ops = &ops, .never_blocks = true};
    screen.sequence = 0;
    if (tp_server_create(&c, &server, &e) < 0)
        abort();
    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = (struct client){-1, -1};
    tick();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tp_server_counts c;
    if (memory < 0) {
        memory = memfd_create("fuzz", MFD_CLOEXEC);
        if (memory < 0 || ftruncate(memory, 64 * 48 * 4) < 0)
            abort();
    }
    unsigned before = n_descriptors();
    make_server();
    for (unsigned i = 0; i < STEPS && size >= 4; i++) {
        size_t n = data[2] | (size_t)data[3] << 8;
        n = n < size - 4 ? n : size - 4;
        go(&clients[data[1] % CLIENTS], data[0] % N_STEPS, data + 4, n);
        data += 4 + n;
        size -= 4 + n;
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        close_fd(&clients[i].card);
        close_fd(&clients[i].channel);
    }
    pump();
    tick();
    tick();
    tp_server_count(server, &c);
    assert(c.connections == 0 && c.channels == 0 && c.kms.files == 0 && c.kms.fbs == 0);
    assert(
        c.kms.buffers == 0 && c.kms.waiters == 0 && c.kms.syncobjs == 0 && c.kms.buffer_bytes == 0);
    tp_server_destroy(server);
    assert(n_descriptors() == before);
    return 0;
}
