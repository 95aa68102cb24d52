#include "frames/server/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <drm.h>

#include "base/buf.h"
#include "base/proc.h"

#define EVENTS 64
#define OWN_FDS 128u /* descriptors that the server itself and its surroundings need */

void tp_server_log(struct tp_server *s, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    if (!s->log)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    s->log(s->log_data, line);
}

int tp_server_watch(struct tp_server *s, struct tp_source *source, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = source};
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, source->fd, &ev) < 0 ? -errno : 0;
}

void tp_server_close(struct tp_server *s, struct tp_source *source)
{
    if (source->fd < 0)
        return;
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, source->fd, NULL);
    close(source->fd);
    source->fd = -1;
}

void tp_server_settle(struct tp_server *s)
{
    if (!s->changed)
        return;
    s->changed = false;
    tp_snapshot_write(s->snapshot.block, s->kms);
    if (s->plugged)
        tp_connections_plugged(s);
    s->plugged = false;
}

/* --- what the device asks --- */

static int create_memory(void *data, uint64_t bytes)
{
    (void)data;
    return tp_memory_create(bytes);
}

static void send_event(void *data, struct tp_kms_file *file, const void *e, size_t bytes)
{
    tp_connection_event(data, tp_kms_file_data(file), e, bytes);
}

static size_t events_unread(void *data, struct tp_kms_file *file)
{
    return tp_connection_unread(data, tp_kms_file_data(file));
}

static int blank(void *data, unsigned output)
{
    struct tp_server *s = data;
    return tp_publisher_blank(s->publishers[output]);
}

static void commit(void *data, const struct tp_kms_scanout *scanout)
{
    struct tp_server *s = data;
    tp_publisher_commit(s->publishers[scanout->crtc], scanout);
}

static void finish(void *data, void *waiter, struct tp_drm_call *call, int result)
{
    (void)call; /* the channel's */
    tp_channel_finish_call(data, waiter, result);
}

static int fence_make(void *data, int ends[2])
{
    (void)data;
    return tp_fence_pair(ends);
}

static void changed(void *data)
{
    ((struct tp_server *)data)->changed = true;
}

static void hotplug(void *data)
{
    ((struct tp_server *)data)->plugged = true;
}

/* --- the loop --- */

static void drain(int fd)
{
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n;
}

static void take_report(struct tp_server *s, unsigned output)
{
    struct tp_publisher_report r;
    if (!tp_publisher_take(s->publishers[output], &r))
        return;
    /* What was published with this refresh hears of it first: it has something to do. */
    for (unsigned i = 0; i < r.n_flips; i++) {
        const struct tp_publisher_flip *f = &r.flips[i];
        if (f->error == -ETIMEDOUT)
            tp_server_log(
                s, "output %u: a picture was given up: its fence was silent for a second", output);
        tp_kms_flipped(s->kms, output, f->serial, f->sequence, f->time_ns, f->error);
    }
    if (r.ticked)
        tp_kms_vblank(s->kms, output, r.tick.sequence, r.tick.time_ns);
}

static void tell_device(struct tp_server *s)
{
    do {
        s->more = false;
        for (unsigned i = 0; i < s->n_outputs; i++)
            take_report(s, i);
    } while (s->more);
}

/* The server that this thread works for, having its lock. */
static _Thread_local const struct tp_server *inside;

static void enter(struct tp_server *s)
{
    pthread_mutex_lock(&s->lock);
    inside = s;
}

static void leave(struct tp_server *s)
{
    inside = NULL;
    pthread_mutex_unlock(&s->lock);
}

static void wake(struct tp_server *s)
{
    ssize_t n = write(s->notified.fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)n; /* full: readable all the same */
}

/* A panel has news. They go on to clients on this very thread, which is awake; the loop is asked
 * only where it is at work, or has something to free. */
static void on_news(void *data)
{
    struct tp_server *s = data;
    if (inside == s) {
        s->more = true;
        return;
    }
    if (pthread_mutex_trylock(&s->lock)) {
        wake(s);
        return;
    }
    inside = s;
    tell_device(s);
    tp_server_settle(s);
    if (s->some_dead)
        wake(s);
    leave(s);
}

static void on_notified(struct tp_server *s, struct tp_source *self, uint32_t events)
{
    (void)events;
    (void)s; /* each turn hears the panels' news */
    drain(self->fd);
}

static void on_timer(struct tp_server *s, struct tp_source *self, uint32_t events)
{
    (void)events;
    drain(self->fd);
    s->timer_ns = INT64_MAX;
    tp_kms_expire(s->kms, tp_now_ns());
}

static void on_releasing(struct tp_server *s, struct tp_source *self, uint32_t events)
{
    (void)self;
    (void)events;
    tp_releases_ready(s->releases);
}

static void on_sync(struct tp_server *s, struct tp_source *self, uint32_t events)
{
    (void)self;
    (void)events;
    tp_kms_fds_ready(s->kms);
}

static void set_timer(struct tp_server *s)
{
    int64_t at = tp_kms_deadline(s->kms);
    if (at == s->timer_ns)
        return;
    int64_t ns = at == INT64_MAX ? 0 : at > 0 ? at : 1;
    const struct itimerspec t = {.it_value = {ns / 1000000000, ns % 1000000000}};
    timerfd_settime(s->timer.fd, TFD_TIMER_ABSTIME, &t, NULL);
    s->timer_ns = at;
}

/* The set of fences is made anew each turn: the same number may be another fence by now, and closed
 * ones would stay in it as long as somebody else has them open. */
static void watch_fences(struct tp_server *s)
{
    int fds[TP_SYNC_FDS];
    unsigned n = tp_kms_poll_fds(s->kms, fds, TP_SYNC_FDS);
    tp_server_close(s, &s->sync);
    if (n == 0)
        return;
    s->sync.fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->sync.fd < 0)
        return;
    for (unsigned i = 0; i < n && i < TP_SYNC_FDS; i++) {
        struct epoll_event ev = {.events = EPOLLIN};
        epoll_ctl(s->sync.fd, EPOLL_CTL_ADD, fds[i], &ev);
    }
    tp_server_watch(s, &s->sync, EPOLLIN);
}

int tp_server_fd(const struct tp_server *s)
{
    return s->epoll;
}

static void handle(struct tp_server *s, const struct epoll_event *events, int n, bool gone)
{
    for (int i = 0; i < n; i++) {
        struct tp_source *source = events[i].data.ptr;
        if (source->fd >= 0 && !!(events[i].events & EPOLLHUP) == gone)
            source->ready(s, source, events[i].events);
    }
}

int tp_server_dispatch(struct tp_server *s, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(s->epoll, events, EVENTS, timeout_ms);
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    enter(s);
    s->turn++;
    /* Who has gone comes first: what was closed before a call is gone before it, as in a kernel. */
    handle(s, events, n, true);
    tp_connections_close(s);
    handle(s, events, n, false);
    tell_device(s);
    tp_connections_reap(s);
    tp_server_settle(s);
    watch_fences(s);
    set_timer(s);
    leave(s);
    return 0;
}

/* --- beginning and end --- */

/* What one unread event weighs in a socket's account of what was sent and not read. */
static size_t weigh_event(void)
{
    struct drm_event_vblank e;
    int ends[2], queued = 0;
    memset(&e, 0, sizeof e);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return 0;
    if (send(ends[0], &e, sizeof e, MSG_NOSIGNAL) != sizeof e ||
        ioctl(ends[0], SIOCOUTQ, &queued) < 0)
        queued = 0;
    close(ends[0]);
    close(ends[1]);
    return queued > 0 ? (size_t)queued : 0;
}

static unsigned at_most(uint64_t n, unsigned low, unsigned high)
{
    return n < low ? low : n > high ? high : (unsigned)n;
}

/* Each open of the card gets a share of the descriptors that this process may have. */
static void set_limits(struct tp_server *s, struct tp_server_config *c)
{
    struct tp_kms_limits *k = &c->kms.limits;
    struct rlimit fds = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &fds);
    uint64_t room = fds.rlim_cur > 2 * OWN_FDS ? fds.rlim_cur - OWN_FDS : OWN_FDS;
    s->limits = c->limits;
    if (s->limits.connections == 0)
        s->limits.connections = at_most(room / 8, 16, 256);
    if (s->limits.per_process == 0)
        s->limits.per_process = at_most(s->limits.connections / 4, 4, 64);
    if (s->limits.channels == 0)
        s->limits.channels = at_most(room / 8, 16, 64);
    if (s->limits.guests == 0)
        s->limits.guests = at_most(room / 32, 8, 32);
    if (s->limits.registered == 0)
        s->limits.registered = at_most(room / 16, 16, 64);
    if (s->limits.rings == 0)
        s->limits.rings = at_most(room / 16, 16, 128);
    if (s->limits.frames == 0)
        s->limits.frames = 16;
    if (k->files == 0)
        k->files = at_most(room / 16, 8, 128);
    if (k->buffers == 0)
        k->buffers = at_most(room / 4, 64, 4096);
    if (k->syncobjs == 0)
        k->syncobjs = at_most(room / 8, 64, 4096);
}

static int make_releases(struct tp_server *s)
{
    const struct tp_releases_config config = {
        .limits = TP_NOTES_LIMITS, .epoll = s->epoll, .blank = blank, .data = s};
    struct tp_releases_config c = config;
    c.limits.peers = s->limits.guests;
    c.limits.buffers = s->limits.registered;
    int r = tp_releases_create(&c, &s->releases);
    if (r < 0)
        return r;
    s->releasing = (struct tp_source){on_releasing, tp_releases_fd(s->releases)};
    return tp_releases_watch(s->releases, &s->releasing);
}

static int make_sources(struct tp_server *s, struct tp_error *e)
{
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->notified = (struct tp_source){on_notified, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    s->timer =
        (struct tp_source){on_timer, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (s->epoll < 0 || s->notified.fd < 0 || s->timer.fd < 0)
        return tp_fail_errno(e, errno, NULL, "the loop's descriptors");
    int r = tp_server_watch(s, &s->notified, EPOLLIN);
    if (r == 0)
        r = tp_server_watch(s, &s->timer, EPOLLIN);
    if (r == 0)
        r = tp_shared_snapshot_init(&s->snapshot);
    if (r == 0)
        r = make_releases(s);
    return r < 0 ? tp_fail_errno(e, r, NULL, "the loop's descriptors") : 0;
}

static int make(struct tp_server *s, struct tp_server_config *c, struct tp_error *e)
{
    static const struct tp_kms_ops ops = {
        .create_memory = create_memory,
        .send_event = send_event,
        .commit = commit,
        .finish = finish,
        .fence_make = fence_make,
        .changed = changed,
        .hotplug = hotplug,
        .events_unread = events_unread,
    };
    int r = make_sources(s, e);
    if (r == 0)
        r = tp_kms_create(&c->kms, &ops, s, &s->kms, e);
    for (; r == 0 && s->n_outputs < c->kms.n_outputs; s->n_outputs++) {
        struct tp_panel *panel = c->panels[s->n_outputs];
        c->panels[s->n_outputs] = NULL;
        if (!panel)
            return tp_fail(
                e, TP_STATUS_INPUT, -EINVAL, NULL, NULL, "output %u has no panel", s->n_outputs);
        const char *name = c->kms.outputs[s->n_outputs].name;
        r = tp_publisher_create(panel, *name ? name : "screen", s->releases, s->n_outputs, on_news,
            s, &s->publishers[s->n_outputs], e);
        if (r < 0)
            return r;
    }
    if (r < 0)
        return r;
    tp_snapshot_write(s->snapshot.block, s->kms);
    s->changed = false;
    if (!c->path)
        return 0;
    r = tp_listen(c->path, c->n_uids > 0, &s->listener, e);
    s->accepting = (struct tp_source){tp_connection_accept, s->listener.fd};
    if (r == 0)
        r = tp_server_watch(s, &s->accepting, EPOLLIN);
    return r;
}

int tp_server_create(
    const struct tp_server_config *config, struct tp_server **out, struct tp_error *e)
{
    struct tp_server_config c = *config;
    struct tp_server *s = tp_calloc(1, sizeof *s);
    *out = NULL;
    s->log = c.log;
    s->log_data = c.log_data;
    s->vote = c.vote;
    s->vote_data = c.vote_data;
    s->listener.fd = s->listener.lock = s->accepting.fd = s->releasing.fd = -1;
    s->sync = (struct tp_source){on_sync, -1};
    s->timer_ns = INT64_MAX;
    s->next_ring = TP_KMS_OUTPUTS + 1; /* those before it are the screens' */
    s->event_cost = weigh_event();
    if (c.n_uids > 0) {
        s->uids = tp_calloc(c.n_uids, sizeof *s->uids);
        memcpy(s->uids, c.uids, c.n_uids * sizeof *s->uids);
        s->n_uids = c.n_uids;
    }
    set_limits(s, &c);
    pthread_mutex_init(&s->lock, NULL);
    enter(s);
    int r = make(s, &c, e);
    leave(s);
    for (unsigned i = 0; i < TP_KMS_OUTPUTS; i++)
        if (c.panels[i])
            c.panels[i]->ops->destroy(c.panels[i]);
    if (r < 0) {
        tp_server_destroy(s);
        return r;
    }
    *out = s;
    return 0;
}

int tp_server_adopt(struct tp_server *s, int fd)
{
    enter(s);
    int r = tp_connection_add(s, fd);
    leave(s);
    return r;
}

int tp_server_look(struct tp_server *s, unsigned output, struct tp_image *out, struct tp_error *e)
{
    if (output >= s->n_outputs)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, NULL, "there is no output %u", output);
    return tp_publisher_look(s->publishers[output], out, e);
}

int tp_server_plug(
    struct tp_server *s, unsigned output, const struct tp_kms_output *o, struct tp_error *e)
{
    int r = tp_kms_set_output(s->kms, output, o, e);
    tp_server_settle(s);
    return r;
}

int tp_server_set_output(
    struct tp_server *s, unsigned output, const struct tp_kms_output *o, struct tp_error *e)
{
    enter(s);
    int r = tp_server_plug(s, output, o, e);
    leave(s);
    wake(s); /* who does not listen any more is let go by the loop */
    return r;
}

void tp_server_shown(const struct tp_server *s, unsigned output, struct tp_server_shown *out)
{
    *out = (struct tp_server_shown){0};
    if (output < s->n_outputs)
        tp_publisher_shown(s->publishers[output], out);
}

void tp_server_count(struct tp_server *s, struct tp_server_counts *out)
{
    enter(s);
    tp_kms_count(s->kms, &out->kms);
    out->connections = s->n_connections;
    out->channels = s->n_channels;
    leave(s);
    struct tp_notes_counts notes;
    tp_releases_count(s->releases, &notes);
    out->guests = notes.peers;
    out->registered = notes.registrations;
    out->read = notes.uses;
    out->release_fences = notes.fences;
}

unsigned tp_server_census(struct tp_server *s, struct tp_census_ring *out, unsigned most)
{
    unsigned n = 0;
    enter(s);
    unsigned all = tp_census_list(s, out, most);
    for (unsigned i = 0; i < all; i++) {
        int fd = fcntl(out[i].fd, F_DUPFD_CLOEXEC, 0);
        out[n] = out[i];
        out[n].fd = fd;
        n += fd >= 0;
    }
    leave(s);
    return n;
}

void tp_server_census_settle(struct tp_server *s)
{
    for (unsigned i = 0; i < s->n_outputs; i++)
        tp_publisher_settle(s->publishers[i]);
}

void tp_server_notes(struct tp_server *s, struct tp_server_notes *out)
{
    struct tp_notes_counts notes;
    tp_releases_count(s->releases, &notes);
    *out = (struct tp_server_notes){.pending = notes.pending,
        .final = notes.final,
        .lost = tp_notes_lost(&notes),
        .resynced = notes.resync};
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void tp_server_destroy(struct tp_server *s)
{
    if (!s)
        return;
    enter(s);
    tp_listener_finish(&s->listener);
    while (s->connections) {
        for (struct tp_connection *c = s->connections; c; c = c->next)
            tp_connection_drop(s, c, NULL);
        tp_connections_reap(s);
    }
    tp_control_finish(&s->look);
    for (unsigned i = 0; i < s->n_outputs; i++)
        tp_publisher_destroy(s->publishers[i]);
    tp_releases_destroy(s->releases);
    tp_kms_destroy(s->kms);
    tp_shared_snapshot_finish(&s->snapshot);
    leave(s);
    pthread_mutex_destroy(&s->lock);
    close_fd(s->sync.fd);
    close_fd(s->timer.fd);
    close_fd(s->notified.fd);
    close_fd(s->spare);
    close_fd(s->epoll);
    free(s->uids);
    free(s);
}
