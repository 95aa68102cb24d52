/*
 * The device of our own: the core with memfds for memory, a panel that shows each commit at the next
 * tick() once its fences have signalled, and the wire between it and the tests.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames/wire/frame.h"
#include "harness_device.h"

#define EPOCH_NS INT64_C(1000000000000) /* where virtual time begins */
#define QUEUE 64

struct screen {
    const struct tp_kms_scanout *queue[QUEUE]; /* committed, not shown */
    unsigned n_queue;
    struct tp_kms_scanout committed, shown;
    bool any_committed, any_shown;
    uint64_t sequence;
    int error; /* of flips from now on */
};

static struct {
    struct tp_kms *kms;
    struct tp_snapshot *snapshot;
    struct tp_drm_fences fences;
    int socks[2]; /* client, server */
    uint8_t out[TP_FRAME_BYTES], in[TP_FRAME_BYTES];
    struct screen screens[TP_KMS_OUTPUTS];
    unsigned n_screens;
    int64_t now_ns;
    bool changed, via_snapshot, no_memory, no_fences;
    unsigned n_commits, n_hotplugs;
} dev;

static int create_memory(void *data, uint64_t bytes)
{
    (void)data;
    if (dev.no_memory)
        return -ENOMEM;
    int fd = memfd_create("buffer", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)bytes) < 0) {
        int r = -errno;
        close(fd);
        return r;
    }
    return fd;
}

static void send_event(void *data, struct tp_kms_file *file, const void *e, size_t bytes)
{
    (void)data;
    struct file *f = tp_kms_file_data(file);
    assert_true(f->n_events + bytes <= sizeof f->events);
    memcpy(f->events + f->n_events, e, bytes);
    f->n_events += bytes;
}

static void on_commit(void *data, const struct tp_kms_scanout *s)
{
    (void)data;
    assert_true(s->crtc < dev.n_screens);
    struct screen *screen = &dev.screens[s->crtc];
    assert_true(screen->n_queue < QUEUE);
    assert_true(s->active || s->n_layers == 0);
    assert_true(s->n_layers <= TP_KMS_LAYERS);
    screen->queue[screen->n_queue++] = s;
    screen->committed = *s;
    screen->any_committed = true;
    dev.n_commits++;
}

static void on_finish(void *data, void *waiter, struct tp_drm_call *call, int result)
{
    (void)data;
    struct pending *p = waiter;
    assert_ptr_equal(call, &p->call);
    assert_false(p->done);
    p->result = result;
    p->done = true;
}

static int fence_make(void *data, int ends[2])
{
    (void)data;
    return dev.no_fences ? -EMFILE : tp_fence_pair(ends);
}

static void on_change(void *data)
{
    (void)data;
    dev.changed = true;
}

static void on_hotplug(void *data)
{
    (void)data;
    dev.n_hotplugs++;
}

static const struct tp_kms_ops ops = {
    .create_memory = create_memory,
    .send_event = send_event,
    .commit = on_commit,
    .finish = on_finish,
    .fence_make = fence_make,
    .changed = on_change,
    .hotplug = on_hotplug,
};

static bool fences_signalled(const struct tp_kms_scanout *s)
{
    for (unsigned i = 0; i < s->n_layers; i++)
        if (s->layers[i].in_fence >= 0 && !fence_signalled(s->layers[i].in_fence))
            return false;
    return true;
}

/* Shows what may be shown: all of the queue at a refresh, else only what does not wait for one. */
static void run_screen(unsigned crtc, bool refresh)
{
    struct screen *s = &dev.screens[crtc];
    while (s->n_queue > 0) {
        const struct tp_kms_scanout *next = s->queue[0];
        if (!(refresh || next->async || !next->active) || !fences_signalled(next))
            return;
        memmove(s->queue, s->queue + 1, --s->n_queue * sizeof *s->queue);
        if (!s->error) {
            s->shown = *next;
            s->any_shown = true;
        }
        tp_kms_flipped(dev.kms, crtc, next->serial, s->sequence, dev.now_ns, s->error);
    }
}

void settle(void)
{
    for (unsigned i = 0; i < dev.n_screens; i++)
        run_screen(i, false);
    int fds[64];
    unsigned n = tp_kms_poll_fds(dev.kms, fds, COUNT(fds));
    for (unsigned i = 0; i < n && i < COUNT(fds); i++)
        if (fence_signalled(fds[i])) {
            tp_kms_fds_ready(dev.kms);
            break;
        }
    if (dev.changed) {
        dev.changed = false;
        tp_snapshot_write(dev.snapshot, dev.kms);
    }
}

static int64_t period_ns(const struct screen *s)
{
    uint32_t mhz = s->any_shown ? s->shown.mode.refresh_mhz : s->committed.mode.refresh_mhz;
    return INT64_C(1000000000000) / (mhz ? mhz : 60000);
}

void own_tick(unsigned crtc)
{
    struct screen *s = &dev.screens[crtc];
    if (!(s->any_shown && s->shown.active) && !(s->n_queue > 0 && s->queue[0]->active))
        return;
    dev.now_ns += period_ns(s);
    tp_kms_vblank(dev.kms, crtc, ++s->sequence, dev.now_ns);
    run_screen(crtc, true);
    settle();
}

void own_advance_ns(int64_t ns)
{
    dev.now_ns += ns;
    tp_kms_expire(dev.kms, dev.now_ns);
    settle();
}

void own_pass_time(void)
{
    int64_t before_ns = dev.now_ns;
    for (unsigned i = 0; i < dev.n_screens; i++)
        own_tick(i);
    own_advance_ns(before_ns == dev.now_ns ? 1000000 : 0);
}

int64_t own_now_ns(void)
{
    return dev.now_ns;
}

void own_create(const struct tp_kms_config *config)
{
    memset(&dev, 0, sizeof dev);
    dev.now_ns = EPOCH_NS;
    dev.n_screens = config->n_outputs;
    const char *via = getenv("TURNPIKE_TEST_VIA");
    dev.via_snapshot = via && !strcmp(via, "snapshot");
    struct tp_error e = {0};
    if (tp_kms_create(config, &ops, &dev, &dev.kms, &e) < 0)
        fail_msg("tp_kms_create: %s: %s", e.where, e.what);
    dev.snapshot = aligned_alloc(4096, TP_SNAPSHOT_BYTES);
    assert_non_null(dev.snapshot);
    memset(dev.snapshot, 0, TP_SNAPSHOT_BYTES);
    tp_snapshot_write(dev.snapshot, dev.kms);
    assert_true(tp_snapshot_valid(dev.snapshot, TP_SNAPSHOT_BYTES));
    tp_snapshot_fences(dev.snapshot, &dev.fences);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, dev.socks), 0);
}

void own_destroy(void)
{
    tp_kms_destroy(dev.kms);
    free(dev.snapshot);
    close(dev.socks[0]);
    close(dev.socks[1]);
    memset(&dev, 0, sizeof dev);
}

int own_open(bool privileged, struct file **out)
{
    struct file *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->fd = -1;
    f->privileged = privileged;
    int r = tp_kms_open(dev.kms, privileged, (int32_t)getpid(), f, &f->kms);
    if (r < 0) {
        free(f);
        return r;
    }
    settle();
    *out = f;
    return 0;
}

void own_close(struct file *f)
{
    tp_kms_close(f->kms);
    free(f);
    settle();
}

static void send_to(int sock, uint32_t fourcc, size_t n, const int *fds, unsigned n_fds)
{
    struct iovec part = {dev.out, n};
    assert_int_equal(tp_frame_send(sock, fourcc, 0, 1, &part, 1, fds, n_fds), 0);
}

/* What the shim keeps of its card, as snapshot.h says. */
static void note(struct file *f, unsigned long request, const void *arg)
{
    const struct drm_set_client_cap *cap = arg;
    if (request == DRM_IOCTL_SET_CLIENT_CAP)
        tp_snapshot_view_set(&f->view, cap->capability, cap->value);
    if (request == DRM_IOCTL_MODE_ADDFB || request == DRM_IOCTL_MODE_ADDFB2)
        f->view.framebuffers = true;
}

int own_answer(struct pending *p)
{
    int r = p->result;
    if (p->answered)
        return r;
    p->answered = true;
    if (!p->orphan) {
        ssize_t n = tp_drm_reply_encode(&p->call, r, dev.out, sizeof dev.out);
        assert_true(n >= 0);
        send_to(dev.socks[1], TP_FRAME_REPLY, (size_t)n, p->call.out_fds, p->call.n_out_fds);
        struct tp_frame reply;
        assert_int_equal(tp_frame_recv(dev.socks[0], dev.in, &reply), 0);
        r = tp_drm_reply_decode(p->request, p->arg, &dev.fences, &reply);
        tp_frame_finish(&reply);
    }
    tp_drm_call_reset(&p->call);
    tp_drm_call_finish(&p->call);
    if (r >= 0 && !p->orphan)
        note(p->file, p->request, p->arg);
    return r;
}

int own_call(struct pending *p, bool may_snapshot)
{
    if (dev.via_snapshot && may_snapshot) {
        int r = tp_snapshot_query(dev.snapshot, &p->file->view, p->request, p->arg);
        if (r != -ENOSYS)
            return r;
    }
    int fds[TP_FRAME_FDS];
    unsigned n_fds = 0;
    ssize_t n = tp_drm_call_encode(p->request, p->arg, &dev.fences, dev.out,
                                   sizeof dev.out - sizeof(struct tp_frame_header), fds, &n_fds);
    if (n < 0)
        return (int)n;
    send_to(dev.socks[0], TP_FRAME_CALL, (size_t)n, fds, n_fds);
    struct tp_frame f;
    assert_int_equal(tp_frame_recv(dev.socks[1], dev.in, &f), 0);
    assert_int_equal(tp_drm_call_decode(&f, &p->call), 0);
    tp_frame_finish(&f);
    p->result = tp_kms_ioctl(p->file->kms, &p->call, p);
    if (p->result == TP_KMS_WAITS) {
        /* What may be shown at once is shown only now: the caller is already waiting. */
        settle();
        return TP_KMS_WAITS;
    }
    settle();
    return own_answer(p);
}

void own_cancel(struct pending *p)
{
    if (p->answered)
        return;
    tp_kms_cancel(dev.kms, p);
    tp_drm_call_reset(&p->call);
    tp_drm_call_finish(&p->call);
}

struct tp_kms *own_kms(void)
{
    return dev.kms;
}

struct tp_kms_file *own_file(struct file *f)
{
    return f->kms;
}

struct tp_snapshot *own_snapshot(void)
{
    return dev.snapshot;
}

const struct tp_snapshot_view *own_view(struct file *f)
{
    return &f->view;
}

const struct tp_kms_scanout *committed(unsigned crtc)
{
    return dev.screens[crtc].any_committed ? &dev.screens[crtc].committed : NULL;
}

const struct tp_kms_scanout *shown(unsigned crtc)
{
    return dev.screens[crtc].any_shown ? &dev.screens[crtc].shown : NULL;
}

unsigned n_commits(void)
{
    return dev.n_commits;
}

unsigned n_hotplugs(void)
{
    return dev.n_hotplugs;
}

void break_memory(bool broken)
{
    dev.no_memory = broken;
}

void break_fences(bool broken)
{
    dev.no_fences = broken;
}

void break_screen(unsigned crtc, int err)
{
    dev.screens[crtc].error = err;
}
