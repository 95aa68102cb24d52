#include "peer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/proc.h"

#define WIDTH 64u
#define HEIGHT 48u
#define PERIOD INT64_C(16666666)

struct tp_server *server;
unsigned n_logged, n_published;
struct tp_kms_scanout published;
int publish_answers;
void (*on_publish)(const struct tp_kms_scanout *s);
bool panel_blocks;

static struct {
    struct tp_panel panel;
    const struct tp_panel_events *events;
    void *data;
    uint64_t sequence;
    int64_t time_ns;
    _Atomic bool publishing; /* the publisher's thread says so */
} fake;
static unsigned descriptors_before;

/* --- the panel --- */

static int fake_start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    (void)p;
    (void)e;
    fake.events = events;
    fake.data = data;
    return 0;
}

static int fake_publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    (void)p;
    fake.publishing = true; /* the server has its lock, or may */
    if (on_publish)
        on_publish(s);
    fake.publishing = false;
    if (publish_answers < 0)
        return publish_answers;
    published = *s;
    n_published++;
    return 0;
}

static int fake_set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    (void)p;
    (void)mode;
    (void)vrr;
    return 0;
}

static int fake_look(struct tp_panel *p, struct tp_image *out, struct tp_error *e)
{
    (void)p;
    (void)e;
    tp_image_init(out, 2, 1);
    out->pixels[0] = 0xff0000;
    return 0;
}

static void fake_destroy(struct tp_panel *p)
{
    (void)p;
}

static const struct tp_panel_ops fake_ops = {
    fake_start, fake_publish, fake_set_mode, fake_look, fake_destroy};

static void settle(void)
{
    if (!fake.publishing)
        pump();
}

void tick(void)
{
    const struct tp_panel_tick t = {++fake.sequence, fake.time_ns += PERIOD, PERIOD, 0, 0};
    fake.events->tick(fake.data, &t);
    settle();
}

void panel_released(uint64_t serial, unsigned layer, int fence)
{
    fake.events->released(fake.data, serial, layer, fence);
    settle();
}

void panel_shown(uint64_t serial)
{
    fake.events->shown(fake.data, serial, fake.time_ns);
    settle();
}

void panel_away(bool away)
{
    fake.events->away(fake.data, away);
    settle();
}

uint64_t last_sequence(void)
{
    return fake.sequence;
}

/* --- the server --- */

unsigned n_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 3; /* ".", ".." and the folder itself */
}

static void on_log(void *data, const char *line)
{
    (void)data;
    assert_non_null(line);
    n_logged++;
}

void start_server(const struct tp_server_config *more)
{
    struct tp_server_config c = more ? *more : (struct tp_server_config){.path = NULL};
    struct tp_error e = {0};
    fake.panel = (struct tp_panel){
        .ops = &fake_ops, .never_blocks = !panel_blocks, .lead_ns = 1000000, .pipeline = 1};
    fake.sequence = 0;
    fake.time_ns = tp_now_ns();
    n_published = n_logged = 0;
    publish_answers = 0;
    on_publish = NULL;
    c.kms.n_outputs = 1;
    c.kms.outputs[0].connected = true;
    c.kms.outputs[0].n_modes = 1;
    c.kms.outputs[0].modes[0] = (struct tp_kms_mode){WIDTH, HEIGHT, 60000};
    c.panels[0] = &fake.panel;
    c.log = on_log;
    if (tp_server_create(&c, &server, &e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    tick();
}

int setup_server(void **state)
{
    (void)state;
    descriptors_before = n_descriptors();
    start_server(NULL);
    return 0;
}

int teardown_server(void **state)
{
    struct tp_server_counts c = {0};
    (void)state;
    if (server) {
        pump();
        tick(); /* what was shown last goes when nothing is shown any more */
        tick();
        tp_server_count(server, &c);
    }
    tp_server_destroy(server);
    server = NULL;
    assert_int_equal(c.connections, 0);
    assert_int_equal(c.channels, 0);
    assert_int_equal(c.guests, 0);
    assert_int_equal(c.registered, 0);
    assert_int_equal(c.kms.files, 0);
    assert_int_equal(c.kms.fbs, 0);
    assert_int_equal(c.kms.buffers, 0);
    assert_int_equal(c.kms.waiters, 0);
    assert_int_equal(c.kms.syncobjs, 0);
    assert_int_equal(n_descriptors(), descriptors_before);
    return 0;
}

unsigned pump(void)
{
    unsigned n = 0;
    for (; n < 10000; n++) {
        struct tp_server_counts before, after;
        fd_set fds;
        struct timeval now = {0};
        FD_ZERO(&fds);
        FD_SET(tp_server_fd(server), &fds);
        tp_server_count(server, &before);
        int r = select(tp_server_fd(server) + 1, &fds, NULL, NULL, &now);
        assert_int_equal(tp_server_dispatch(server, 0), 0);
        tp_server_count(server, &after);
        if (r <= 0 && before.connections == after.connections)
            return n;
    }
    fail_msg("the loop never comes to rest");
    return n;
}

/* --- a client --- */

void peer_connect(struct peer *p)
{
    int ends[2];
    memset(p, 0, offsetof(struct peer, in));
    p->channel = -1;
    p->snapshot = NULL;
    p->fences = (struct tp_drm_fences){0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->card = ends[0];
    assert_int_equal(tp_server_adopt(server, ends[1]), 0);
}

void peer_hello(struct peer *p, uint32_t version, uint32_t oldest, uint32_t kind)
{
    struct tp_hello hello = {version, oldest, kind, 0, TP_CAP_SNAPSHOT};
    const struct iovec part = {&hello, sizeof hello};
    assert_int_equal(tp_frame_send(p->card, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0), 0);
    pump();
}

int peer_channel(struct peer *p)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    tp_frame_send(p->card, TP_FRAME_CHANNEL, 0, 0, NULL, 0, &ends[1], 1);
    close(ends[1]);
    pump();
    return ends[0];
}

int peer_greeting(struct peer *p, int channel, struct tp_hello *hello)
{
    struct tp_frame f;
    uint32_t version;
    int r = tp_frame_recv(channel, p->in, &f);
    if (r < 0)
        return r;
    if (f.fourcc == TP_FRAME_REPLY) {
        memcpy(&r, f.payload, sizeof r);
        tp_frame_finish(&f);
        return r;
    }
    r = tp_hello_parse(&f, hello, &version);
    int fd = tp_frame_take_fd(&f, 0);
    tp_frame_finish(&f);
    if (r == 0 && fd >= 0 && !p->snapshot) {
        p->snapshot = mmap(NULL, TP_SNAPSHOT_BYTES, PROT_READ, MAP_SHARED, fd, 0);
        assert_ptr_not_equal(p->snapshot, MAP_FAILED);
        tp_snapshot_fences(p->snapshot, &p->fences);
    }
    if (fd >= 0)
        close(fd);
    return r;
}

void peer_open(struct peer *p)
{
    struct tp_hello hello;
    peer_connect(p);
    peer_hello(p, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD);
    p->channel = peer_channel(p);
    assert_int_equal(peer_greeting(p, p->channel, &hello), 0);
}

void peer_close(struct peer *p)
{
    if (p->channel >= 0)
        close(p->channel);
    if (p->card >= 0)
        close(p->card);
    if (p->snapshot)
        munmap(p->snapshot, TP_SNAPSHOT_BYTES);
    p->card = p->channel = -1;
    p->snapshot = NULL;
    pump();
}

int peer_answer(struct peer *p, unsigned long request, void *arg)
{
    struct tp_frame f;
    pump();
    int r = tp_frame_recv(p->channel, p->in, &f);
    if (r < 0)
        return r;
    assert_int_equal(f.sequence, p->sequence);
    r = tp_drm_reply_decode(request, arg, &p->fences, &f);
    tp_frame_finish(&f);
    return r;
}

int peer_ioctl(struct peer *p, unsigned long request, void *arg)
{
    int fds[TP_FRAME_FDS];
    unsigned n_fds;
    ssize_t n =
        tp_drm_call_encode(request, arg, &p->fences, p->out, sizeof p->out - 16, fds, &n_fds);
    if (n < 0)
        return (int)n;
    const struct iovec part = {p->out, (size_t)n};
    int r = tp_frame_send(p->channel, TP_FRAME_CALL, 0, ++p->sequence, &part, 1, fds, n_fds);
    return r < 0 ? r : peer_answer(p, request, arg);
}

int peer_event(struct peer *p, struct drm_event_vblank *e)
{
    ssize_t n = recv(p->card, e, sizeof *e, MSG_DONTWAIT);
    return n < 0 ? -errno : (int)n;
}

bool hung_up(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return n == 0 || (n < 0 && errno != EAGAIN);
}

static uint32_t add_fb(struct peer *p, uint32_t handle)
{
    struct drm_mode_fb_cmd2 f = {.width = WIDTH,
        .height = HEIGHT,
        .pixel_format = DRM_FORMAT_XRGB8888,
        .handles = {handle},
        .pitches = {WIDTH * 4}};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_ADDFB2, &f), 0);
    struct drm_gem_close c = {.handle = handle};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_GEM_CLOSE, &c), 0);
    return f.fb_id;
}

uint32_t make_fb(struct peer *p)
{
    struct drm_mode_create_dumb d = {.width = WIDTH, .height = HEIGHT, .bpp = 32};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_CREATE_DUMB, &d), 0);
    assert_int_equal(d.pitch, WIDTH * 4);
    return add_fb(p, d.handle);
}

uint32_t import_fb(struct peer *p, int memory)
{
    struct drm_prime_handle h = {.fd = memory};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_PRIME_FD_TO_HANDLE, &h), 0);
    return add_fb(p, h.handle);
}

static void get_ids(struct peer *p, uint32_t *crtc, uint32_t *connector)
{
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(connector),
        .count_connectors = 1};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
}

uint32_t light_up(struct peer *p)
{
    uint32_t crtc, connector, fb = make_fb(p);
    struct drm_mode_modeinfo mode;
    get_ids(p, &crtc, &connector);
    struct drm_mode_get_connector c = {
        .connector_id = connector, .modes_ptr = PTR(&mode), .count_modes = 1};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    struct drm_mode_crtc set = {.crtc_id = crtc,
        .fb_id = fb,
        .set_connectors_ptr = PTR(&connector),
        .count_connectors = 1,
        .mode = mode,
        .mode_valid = 1};
    int r = peer_ioctl(p, DRM_IOCTL_MODE_SETCRTC, &set);
    while (r == -EAGAIN) {
        tick();
        r = peer_answer(p, DRM_IOCTL_MODE_SETCRTC, &set);
    }
    assert_int_equal(r, 0);
    tick();
    return fb;
}

int page_flip(struct peer *p, uint32_t fb, uint64_t user_data)
{
    uint32_t crtc, connector;
    get_ids(p, &crtc, &connector);
    struct drm_mode_crtc_page_flip f = {
        .crtc_id = crtc, .fb_id = fb, .flags = DRM_MODE_PAGE_FLIP_EVENT, .user_data = user_data};
    return peer_ioctl(p, DRM_IOCTL_MODE_PAGE_FLIP, &f);
}
