/* The harness's front: which device, what is open, what waits. */
#include "harness.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "harness_device.h"

struct file *card;

static struct file *files;
static struct pending *pendings;
static unsigned descriptors_before;

bool is_real(void)
{
    return getenv("TURNPIKE_TEST_CARD") != NULL;
}

bool is_kernels(void)
{
    return is_real() && !real_is_turnpike(card);
}

unsigned n_descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

struct tp_kms_config usual_config(void)
{
    static const struct tp_kms_format formats[] = {
        {DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ARGB8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_XBGR8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ABGR8888, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_RGB565, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_NV12, DRM_FORMAT_MOD_LINEAR},
        {DRM_FORMAT_ABGR8888, DRM_FORMAT_MOD_QCOM_COMPRESSED},
        {DRM_FORMAT_XBGR8888, DRM_FORMAT_MOD_QCOM_COMPRESSED},
    };
    return (struct tp_kms_config){
        .outputs =
            {
                {.name = "First", .connected = true, .width_mm = 160, .height_mm = 90,
                 .modes = {{1280, 720, 60000}, {1280, 720, 120000}, {640, 480, 59940}},
                 .n_modes = 3,
                 .vrr_min_mhz = 48000, .vrr_max_mhz = 120000, .hdr = true},
                {.connector_type = DRM_MODE_CONNECTOR_HDMIA, .name = "Second", .connected = true,
                 .width_mm = 520, .height_mm = 290,
                 .modes = {{1024, 768, 60000}, {1280, 720, 60000}}, .n_modes = 2},
            },
        .n_outputs = 2,
        .n_overlays = 1,
        .formats = formats,
        .n_formats = COUNT(formats),
        .cursor_width_px = 64,
        .cursor_height_px = 64,
    };
}

int setup_config(const struct tp_kms_config *config)
{
    descriptors_before = n_descriptors();
    if (!is_real())
        own_create(config);
    card = card_open();
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1));
    if (is_real())
        real_reset(card);
    return 0;
}

int setup_card(void **state)
{
    (void)state;
    struct tp_kms_config config = usual_config();
    return setup_config(&config);
}

int teardown_card(void **state)
{
    (void)state;
    while (files)
        card_close(files);
    card = NULL;
    while (pendings) {
        struct pending *p = pendings;
        pendings = p->next;
        if (!is_real())
            own_cancel(p);
        free(p);
    }
    if (!is_real()) {
        struct tp_kms_counts c;
        for (int i = 0; i < 4; i++)
            own_pass_time(); /* the last pictures leave the screens */
        tp_kms_count(own_kms(), &c);
        assert_int_equal(c.files + c.fbs + c.buffers + c.blobs + c.syncobjs, 0);
        assert_int_equal(c.waiters + c.events, 0);
        assert_int_equal(c.buffer_bytes, 0);
        own_destroy();
    }
    assert_int_equal(n_descriptors(), descriptors_before);
    return 0;
}

int card_try_open(bool privileged, struct file **out)
{
    struct file *f;
    int r = is_real() ? real_open(privileged, &f) : own_open(privileged, &f);
    if (r < 0)
        return r;
    f->next = files;
    files = f;
    *out = f;
    return 0;
}

struct file *card_open(void)
{
    struct file *f = NULL;
    assert_ok(card_try_open(true, &f));
    return f;
}

struct file *card_open_user(void)
{
    struct file *f = NULL;
    /* The shim's server knows a client by who connected, and root did. */
    if (is_real() && real_is_turnpike(card))
        skip();
    assert_ok(card_try_open(false, &f));
    return f;
}

void card_close(struct file *f)
{
    for (struct file **at = &files; *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    for (struct pending *p = pendings; p; p = p->next)
        if (p->file == f) {
            p->orphan = true;
            if (!p->done)
                p->result = -EBADF;
            p->done = true;
        }
    if (f == card)
        card = NULL;
    if (is_real())
        real_close(f);
    else
        own_close(f);
}

static void *call_in_thread(void *arg)
{
    struct pending *p = arg;
    p->result = real_call(p->file, p->request, p->arg);
    p->done = true;
    return NULL;
}

struct pending *drm_start(struct file *f, unsigned long request, void *arg)
{
    struct pending *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->file = f;
    p->request = request;
    p->arg = arg;
    p->next = pendings;
    pendings = p;
    if (is_real()) {
        assert_int_equal(pthread_create(&p->thread, NULL, call_in_thread, p), 0);
        return p;
    }
    int r = own_call(p, true);
    if (r != TP_KMS_WAITS) {
        p->answered = true;
        p->result = r;
        p->done = true;
    }
    return p;
}

bool drm_done(struct pending *p)
{
    if (is_real() && !p->done)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return p->done;
}

static void forget(struct pending *p)
{
    for (struct pending **at = &pendings; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    free(p);
}

int drm_wait(struct pending *p)
{
    int r;
    if (is_real()) {
        pthread_join(p->thread, NULL);
        r = p->result;
    } else {
        for (int i = 0; i < 20000 && !p->done; i++)
            own_pass_time();
        if (!p->done)
            fail_msg("ioctl %#lx never ended", p->request);
        r = own_answer(p);
    }
    forget(p);
    return r;
}

void drm_abandon(struct pending *p)
{
    own_cancel(p);
    forget(p);
}

static int call(struct file *f, unsigned long request, void *arg, bool may_snapshot)
{
    if (is_real())
        return real_call(f, request, arg);
    struct pending p = {.file = f, .request = request, .arg = arg};
    int r = own_call(&p, may_snapshot);
    if (r != TP_KMS_WAITS)
        return r;
    for (int i = 0; i < 20000 && !p.done; i++)
        own_pass_time();
    if (!p.done)
        fail_msg("ioctl %#lx never ended", request);
    return own_answer(&p);
}

int drm(struct file *f, unsigned long request, void *arg)
{
    return call(f, request, arg, true);
}

int drm_server(struct file *f, unsigned long request, void *arg)
{
    return call(f, request, arg, false);
}

void tick(unsigned crtc)
{
    if (!is_real()) {
        own_tick(crtc);
        return;
    }
    union drm_wait_vblank v = {
        .request = {.type = (enum drm_vblank_seq_type)(
                        _DRM_VBLANK_RELATIVE | crtc << _DRM_VBLANK_HIGH_CRTC_SHIFT),
                    .sequence = 1}};
    real_call(card, DRM_IOCTL_WAIT_VBLANK, &v);
}

int64_t now_ns(void)
{
    if (!is_real())
        return own_now_ns();
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void advance_ns(int64_t ns)
{
    if (is_real())
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
    else
        own_advance_ns(ns);
}

int read_event(struct file *f, void *e, size_t n)
{
    if (is_real()) {
        struct pollfd p = {f->fd, POLLIN, 0};
        if (poll(&p, 1, 500) <= 0)
            return -EAGAIN;
        ssize_t got = read(f->fd, e, n);
        return got < 0 ? -errno : (int)got;
    }
    if (f->n_events == 0)
        return -EAGAIN;
    struct drm_event head;
    memcpy(&head, f->events, sizeof head);
    assert_true(head.length >= sizeof head && head.length <= f->n_events && head.length <= n);
    memcpy(e, f->events, head.length);
    f->n_events -= head.length;
    memmove(f->events, f->events + head.length, f->n_events);
    return (int)head.length;
}

bool has_event(struct file *f)
{
    if (!is_real())
        return f->n_events > 0;
    struct pollfd p = {f->fd, POLLIN, 0};
    return poll(&p, 1, 0) > 0;
}

int make_fence(void)
{
    int fd = is_real() ? real_fence() : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(fd >= 0);
    return fd;
}

void signal_fence(int fd)
{
    if (is_real()) {
        real_signal(fd);
    } else {
        assert_int_equal(eventfd_write(fd, 1), 0);
        settle();
    }
}

bool fence_signalled(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}
