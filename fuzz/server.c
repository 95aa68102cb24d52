/*
 * Clients of a server, as the input says: they come, say things, pass descriptors, let refreshes
 * happen and go; guests register what a compositor shows, and the panel lets it go, or does not.
 * Nothing of it may leave an object or a descriptor. The input is a list of steps of at least four
 * bytes: what, who, and the length of what follows (u16).
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
#include <sys/stat.h>
#include <unistd.h>

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#include "frames/server/server.h"
#include "frames/wire/drm_call.h"
#include "frames/wire/scanout.h"

#define PTR(p) ((uint64_t)(uintptr_t)(p))
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
    GUEST,      /* says a guest's hello: capabilities */
    REGISTER,   /* a name whose memory is right: generation */
    GUEST_SAYS, /* one of a guest's frames, any payload */
    SHOW,       /* a card sets the mode on the memory, or on another: which */
    RELEASE,    /* the panel lets a picture go: how old, layer, fence */
    SHOWN,
    AWAY,
    SIGNAL,
    N_STEPS
};

struct client {
    int card, channel;
};

static struct {
    struct tp_panel panel;
    const struct tp_panel_events *events;
    void *data;
    uint64_t sequence, serial;
    int answers;
} screen;
static struct tp_server *server;
static struct client clients[CLIENTS];
static int memory = -1, memory2 = -1; /* something to pass on, and to show */
static int signals[8];                /* fences of the panel's are signalled by closing these */
static unsigned n_signals;

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
    screen.serial = s->serial;
    return screen.answers;
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
    const struct tp_panel_tick t = {.sequence = screen.sequence,
        .time_ns = (int64_t)screen.sequence * 16666666,
        .period_ns = 16666666};
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

/* --- guests and the panel --- */

static void guest_hello(const struct client *c, uint8_t capabilities)
{
    const struct tp_hello hello = {
        TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_SCANOUT, 0, capabilities};
    send_frame(c->card, TP_FRAME_HELLO, &hello, sizeof hello, -1);
}

static void register_memory(const struct client *c, uint8_t generation)
{
    struct stat st;
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_REGISTER};
    uint8_t payload[TP_SCANOUT_BYTES];
    int fd = generation & 1 ? memory : memory2;
    if (fstat(fd, &st) < 0)
        abort();
    f.u.reg.buffer =
        (struct tp_buffer_name){{st.st_dev, st.st_ino}, generation, TP_BUFFER_NO_INDEX};
    size_t n = tp_scanout_encode(&f, payload);
    send_frame(c->card, TP_FRAME_REGISTER, payload, n, fd);
}

static void guest_says(const struct client *c, uint8_t what, const uint8_t *bytes, size_t n)
{
    static const uint32_t kinds[4] = {
        TP_FRAME_REGISTER, TP_FRAME_UNREGISTER, TP_FRAME_STATE, TP_FRAME_SETTING};
    send_frame(c->card, kinds[what % 4], bytes, n, what & 4 ? memory : -1);
}

static int call(const struct client *c, unsigned long request, void *arg)
{
    static const struct tp_drm_fences none;
    static uint8_t bytes[TP_FRAME_BYTES];
    int fds[TP_FRAME_FDS];
    unsigned n_fds;
    struct tp_frame f;
    ssize_t n = tp_drm_call_encode(request, arg, &none, bytes, sizeof bytes - 16, fds, &n_fds);
    const struct iovec part = {bytes, n < 0 ? 0 : (size_t)n};
    if (n < 0 || c->channel < 0 ||
        tp_frame_send(c->channel, TP_FRAME_CALL, 0, 1, &part, 1, fds, n_fds) < 0)
        return -EBADF;
    pump();
    tick();
    tick();
    int r = tp_frame_recv(c->channel, bytes, &f);
    if (r < 0)
        return r;
    r = f.fourcc == TP_FRAME_REPLY ? tp_drm_reply_decode(request, arg, &none, &f) : -EBADMSG;
    tp_frame_finish(&f);
    return r;
}

static void show(const struct client *c, int fd)
{
    uint32_t crtc = 0, connector = 0;
    struct drm_mode_modeinfo mode;
    struct drm_prime_handle h = {.fd = fd};
    struct drm_mode_fb_cmd2 f = {
        .width = 64, .height = 48, .pixel_format = DRM_FORMAT_XRGB8888, .pitches = {256}};
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(&connector),
        .count_connectors = 1};
    if (call(c, DRM_IOCTL_PRIME_FD_TO_HANDLE, &h) < 0)
        return;
    f.handles[0] = h.handle;
    if (call(c, DRM_IOCTL_MODE_ADDFB2, &f) < 0 || call(c, DRM_IOCTL_MODE_GETRESOURCES, &res) < 0)
        return;
    struct drm_mode_get_connector get = {
        .connector_id = connector, .modes_ptr = PTR(&mode), .count_modes = 1};
    if (call(c, DRM_IOCTL_MODE_GETCONNECTOR, &get) < 0)
        return;
    struct drm_mode_crtc set = {.crtc_id = crtc,
        .fb_id = f.fb_id,
        .set_connectors_ptr = PTR(&connector),
        .count_connectors = 1,
        .mode = mode,
        .mode_valid = 1};
    call(c, DRM_IOCTL_MODE_SETCRTC, &set);
}

static void signal_fences(void)
{
    while (n_signals > 0)
        close_fd(&signals[--n_signals]);
}

static void let_go(uint64_t serial, unsigned layer, bool fenced)
{
    int ends[2] = {-1, -1};
    if (fenced && n_signals < sizeof signals / sizeof *signals && tp_fence_pair(ends) == 0)
        signals[n_signals++] = ends[0];
    screen.events->released(screen.data, serial, layer, ends[1]);
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
    case GUEST:
        guest_hello(c, n > 0 ? bytes[0] : 0xff);
        break;
    case REGISTER:
        register_memory(c, n > 0 ? bytes[0] : 1);
        break;
    case GUEST_SAYS:
        if (n > 0)
            guest_says(c, bytes[0], bytes + 1, n - 1);
        break;
    case SHOW:
        show(c, n > 0 && bytes[0] & 1 ? memory : memory2);
        break;
    case RELEASE:
        if (n > 1)
            let_go(screen.serial - bytes[0] % 8, bytes[1] % 4, bytes[1] & 4);
        break;
    case SHOWN:
        screen.events->shown(screen.data, screen.serial, 1);
        break;
    case AWAY:
        screen.events->away(screen.data, n > 0 && bytes[0] & 1);
        screen.answers = n > 0 && bytes[0] & 2 ? -ENODEV : n > 0 && bytes[0] & 4 ? -EAGAIN : 0;
        break;
    case SIGNAL:
        signal_fences();
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
        .limits = {.connections = CLIENTS + 1, .channels = 4, .guests = 2, .registered = 3},
        .panels = {&screen.panel},
    };
    struct tp_error e = {0};
    screen.panel = (struct tp_panel){.ops = &ops, .never_blocks = true};
    screen.sequence = screen.serial = 0;
    screen.answers = 0;
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
        memory2 = memfd_create("fuzz", MFD_CLOEXEC);
        if (memory < 0 || ftruncate(memory, 64 * 48 * 4) < 0 || memory2 < 0 ||
            ftruncate(memory2, 64 * 48 * 4) < 0)
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
    screen.answers = 0;
    signal_fences();
    pump();
    tick();
    tick();
    tp_server_count(server, &c);
    assert(c.guests == 0 && c.registered == 0);
    assert(c.connections == 0 && c.channels == 0 && c.kms.files == 0 && c.kms.fbs == 0);
    assert(
        c.kms.buffers == 0 && c.kms.waiters == 0 && c.kms.syncobjs == 0 && c.kms.buffer_bytes == 0);
    tp_server_destroy(server);
    assert(n_descriptors() == before);
    return 0;
}
