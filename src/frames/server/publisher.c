#include "frames/server/publisher.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "frames/server/screen_ring.h"

#define QUEUE 8u /* the core has at most four pictures of a CRTC under way */
#define SILENCE_NS INT64_C(1000000000)

struct queued {
    const struct tp_kms_scanout *scanout; /* the core's */
    int64_t since_ns;
};

struct tp_publisher {
    struct tp_panel *panel; /* owned */
    struct tp_releases *releases;
    unsigned output;
    void (*notify)(void *data);
    void *notify_data;
    int wake; /* owned eventfd: the thread is to look again */
    pthread_t thread;
    pthread_mutex_t mutex; /* all below */
    bool running, stop;
    bool publishing; /* somebody is in the panel's publish, with the mutex let go; out is his */
    struct tp_kms_scanout out; /* what the panel was given last */
    int64_t committed_ns;      /* when that came */
    uint64_t blank_serial;     /* of the last picture of nothing */
    bool blank;                /* one is asked for */
    bool notified;             /* somebody was told that there is something to take, or will be */
    bool to_notify;
    struct queued queue[QUEUE]; /* the oldest first */
    unsigned queued;
    struct tp_panel_tick tick;
    int64_t told_ns;        /* when the panel's thread told of it */
    bool ticking;           /* there was a first refresh */
    uint64_t used_sequence; /* the refresh that has had its picture */
    struct tp_kms_mode mode;
    bool vrr;
    struct tp_publisher_report report;
    struct tp_server_shown shown;
    struct tp_screen_ring ring; /* its descriptor and its gauges: without the mutex */
};

static void write_event(int fd)
{
    ssize_t n = write(fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)n; /* full: then it is readable already */
}

static void notify(struct tp_publisher *p)
{
    p->to_notify |= !p->notified;
    p->notified = true;
}

/* Lets the mutex go, and tells what there is to tell. */
static void unlock(struct tp_publisher *p)
{
    bool tell = p->to_notify;
    p->to_notify = false;
    pthread_mutex_unlock(&p->mutex);
    if (tell)
        p->notify(p->notify_data);
}

/* tick: in which it went to the panel. */
static void tell_flip(
    struct tp_publisher *p, uint64_t serial, const struct tp_panel_tick *tick, int error)
{
    struct tp_publisher_report *r = &p->report;
    if (r->n_flips == TP_PUBLISHER_FLIPS) { /* the later one speaks for those before it */
        memmove(r->flips, r->flips + 1, (TP_PUBLISHER_FLIPS - 1) * sizeof *r->flips);
        r->n_flips--;
    }
    r->flips[r->n_flips++] =
        (struct tp_publisher_flip){serial, tick->sequence, tick->time_ns, error};
    notify(p);
}

/* Puts the fences that a picture still waits for into fds; answers how many. */
static unsigned pending_fences(
    const struct tp_publisher *p, const struct tp_kms_scanout *s, struct pollfd fds[TP_KMS_LAYERS])
{
    unsigned n = 0, open = 0;
    if (p->panel->waits_fences)
        return 0;
    for (unsigned i = 0; i < s->n_layers; i++)
        if (s->layers[i].in_fence >= 0)
            fds[n++] = (struct pollfd){.fd = s->layers[i].in_fence, .events = POLLIN};
    if (n == 0 || poll(fds, n, 0) < 0)
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (!fds[i].revents)
            fds[open++] = fds[i];
    return open;
}

static void drop(struct tp_publisher *p, unsigned first, unsigned n)
{
    p->queued -= n;
    memmove(p->queue + first, p->queue + first + n, (p->queued - first) * sizeof *p->queue);
}

/* Pictures whose fences were silent for too long are given up: what was shown before stays. */
static void give_up(struct tp_publisher *p, int64_t now)
{
    struct pollfd fds[TP_KMS_LAYERS];
    for (unsigned i = 0; i < p->queued;) {
        const struct queued *q = &p->queue[i];
        if (now - q->since_ns < SILENCE_NS || pending_fences(p, q->scanout, fds) == 0) {
            i++;
            continue;
        }
        uint64_t serial = q->scanout->serial;
        drop(p, i, 1);
        tell_flip(p, serial, &p->tick, -ETIMEDOUT);
    }
}

static bool may_publish(const struct tp_publisher *p, const struct tp_kms_scanout *s)
{
    if (!p->ticking || p->publishing)
        return false;
    return p->tick.sequence != p->used_sequence || (s->async && p->panel->can_async);
}

/* The boards and the pending notes go before the panel hears of the picture, and so before anybody
 * hears that it did. */
static int hand_over(struct tp_publisher *p, bool blank)
{
    const struct tp_panel_ops *ops = p->panel->ops;
    const struct tp_kms_scanout *s = &p->out;
    int r = 0;
    if (s->active && (memcmp(&s->mode, &p->mode, sizeof s->mode) != 0 || s->vrr != p->vrr)) {
        r = ops->set_mode(p->panel, &s->mode, s->vrr);
        pthread_mutex_lock(&p->mutex);
        p->mode = s->mode;
        p->vrr = s->vrr;
        tp_screen_ring_mode(&p->ring, &s->mode);
        pthread_mutex_unlock(&p->mutex);
    }
    if (r < 0)
        return r;
    struct tp_buffer_name layers[TP_KMS_LAYERS];
    tp_releases_before(p->releases, p->output, s, blank, layers);
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&p->mutex);
    tp_screen_ring_publish(
        &p->ring, s->serial, s->async, p->committed_ns, now, layers, s->n_layers);
    pthread_mutex_unlock(&p->mutex);
    r = ops->publish(p->panel, s);
    tp_releases_after(p->releases, p->output, s->serial, r);
    return r;
}

/* Publishes the latest picture that is ready, if there may be one now. The mutex is held, and let
 * go meanwhile. */
static void publish(struct tp_publisher *p)
{
    struct pollfd fds[TP_KMS_LAYERS];
    unsigned i = p->queued;
    while (i > 0 && pending_fences(p, p->queue[i - 1].scanout, fds) > 0)
        i--;
    if (i == 0 || !may_publish(p, p->queue[i - 1].scanout))
        return;
    const struct tp_kms_scanout *s = p->queue[i - 1].scanout;
    uint64_t serial = s->serial;
    /* The next refresh may begin meanwhile; it has its own picture. */
    const struct tp_panel_tick tick = p->tick;
    p->publishing = true;
    p->out = *s;
    p->committed_ns = p->queue[i - 1].since_ns;
    p->out.serial = tp_releases_serial(p->releases);
    pthread_mutex_unlock(&p->mutex);
    int r = hand_over(p, false);
    pthread_mutex_lock(&p->mutex);
    p->publishing = false;
    p->used_sequence = tick.sequence;
    if (r < 0)
        tp_screen_ring_withdraw(&p->ring, p->out.serial);
    if (p->blank)
        write_event(p->wake);
    if (r == -EAGAIN) /* with the next refresh */
        return;
    for (i = 0; i < p->queued && p->queue[i].scanout->serial != serial; i++)
        ;
    drop(p, 0, i < p->queued ? i + 1 : 0);
    /* A screen that is away shows nothing, and its clients go on as if it did. */
    tell_flip(p, serial, &tick, r == -ENODEV ? 0 : r);
}

/* The mutex is held, and let go meanwhile. */
static void publish_blank(struct tp_publisher *p)
{
    if (!p->blank || p->publishing)
        return;
    p->blank = false;
    p->publishing = true;
    p->out.serial = p->blank_serial = tp_releases_serial(p->releases);
    p->out.n_layers = 0;
    p->out.async = p->out.modeset = false;
    p->out.hdr_metadata = p->out.gamma = NULL;
    p->out.hdr_metadata_bytes = p->out.gamma_entries = 0;
    p->used_sequence = p->tick.sequence;
    pthread_mutex_unlock(&p->mutex);
    int r = hand_over(p, true);
    pthread_mutex_lock(&p->mutex);
    p->publishing = false;
    if (r < 0)
        tp_screen_ring_withdraw(&p->ring, p->out.serial);
}

int tp_publisher_blank(struct tp_publisher *p)
{
    pthread_mutex_lock(&p->mutex);
    bool shows = p->out.serial != 0;
    p->blank = shows;
    write_event(p->wake);
    pthread_mutex_unlock(&p->mutex);
    return shows ? 0 : -ENODEV;
}

/* All outputs' together, so that one ring has them. */
static void count_notes(struct tp_publisher *p, const struct tp_notes_counts *c)
{
    if (!p->ring.ring || p->output != 0)
        return;
    tp_ring_gauge(p->ring.ring, TP_GAUGE_COUNTS + TP_COUNT_NOTES_PENDING, c->pending);
    tp_ring_gauge(p->ring.ring, TP_GAUGE_COUNTS + TP_COUNT_NOTES_FINAL, c->final);
    tp_ring_gauge(p->ring.ring, TP_GAUGE_COUNTS + TP_COUNT_NOTES_LOST, tp_notes_lost(c));
    tp_ring_gauge(p->ring.ring, TP_GAUGE_COUNTS + TP_COUNT_NOTES_RESYNCED, c->resync);
}

static void on_tick(void *data, const struct tp_panel_tick *t)
{
    struct tp_publisher *p = data;
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&p->mutex);
    p->told_ns = now;
    p->tick = p->report.tick = *t;
    p->ticking = p->report.ticked = true;
    tp_screen_ring_tick(&p->ring, t);
    if (p->panel->never_blocks)
        publish(p);
    notify(p);
    if (p->queued > 0)
        write_event(p->wake);
    bool variable = p->vrr;
    unlock(p);
    struct tp_notes_counts counts;
    tp_releases_tick(p->releases, p->output, t, p->panel, variable, &counts);
    count_notes(p, &counts);
}

static void on_released(void *data, uint64_t serial, unsigned layer, int fence)
{
    struct tp_publisher *p = data;
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&p->mutex);
    tp_screen_ring_released(&p->ring, serial, fence >= 0, now);
    pthread_mutex_unlock(&p->mutex);
    tp_releases_released(p->releases, p->output, serial, layer, fence);
}

static void on_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    struct tp_publisher *p = data;
    pthread_mutex_lock(&p->mutex);
    if (serial != p->blank_serial && p->shown.frames++ == 0)
        p->shown.first_ns = first_line_ns;
    tp_screen_ring_shown(&p->ring, serial, first_line_ns);
    pthread_mutex_unlock(&p->mutex);
    tp_releases_shown(p->releases, p->output, serial);
}

static void on_away(void *data, bool away)
{
    struct tp_publisher *p = data;
    tp_releases_away(p->releases, p->output, away);
    if (!away)
        return;
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&p->mutex);
    tp_screen_ring_away(&p->ring, now);
    pthread_mutex_unlock(&p->mutex);
}

static void on_torn(void *data, uint64_t sequence, int64_t time_ns, uint32_t line)
{
    struct tp_publisher *p = data;
    pthread_mutex_lock(&p->mutex);
    tp_screen_ring_torn(&p->ring, sequence, time_ns, line);
    pthread_mutex_unlock(&p->mutex);
}

void tp_publisher_commit(struct tp_publisher *p, const struct tp_kms_scanout *s)
{
    pthread_mutex_lock(&p->mutex);
    if (p->queued == QUEUE) {
        uint64_t serial = p->queue[0].scanout->serial;
        drop(p, 0, 1);
        tell_flip(p, serial, &p->tick, -EBUSY);
    }
    p->queue[p->queued++] = (struct queued){s, tp_now_ns()};
    if (p->panel->never_blocks)
        publish(p);
    /* With no picture to be had before the next refresh, that one will see to it. */
    if (p->queued > 0 && may_publish(p, s))
        write_event(p->wake);
    unlock(p);
}

bool tp_publisher_take(struct tp_publisher *p, struct tp_publisher_report *out)
{
    pthread_mutex_lock(&p->mutex);
    bool some = p->report.ticked || p->report.n_flips > 0;
    *out = p->report;
    p->report.ticked = false;
    p->report.n_flips = 0;
    p->notified = false;
    pthread_mutex_unlock(&p->mutex);
    return some;
}

/* Sleeps until there is something to do. The mutex is held, and let go meanwhile. */
static void wait_for_work(struct tp_publisher *p)
{
    struct pollfd fds[1 + QUEUE * TP_KMS_LAYERS] = {{.fd = p->wake, .events = POLLIN}};
    unsigned n = 1;
    int64_t until = INT64_MAX;
    for (unsigned i = 0; i < p->queued; i++) {
        unsigned more = pending_fences(p, p->queue[i].scanout, fds + n);
        if (more > 0 && p->queue[i].since_ns + SILENCE_NS < until)
            until = p->queue[i].since_ns + SILENCE_NS;
        n += more;
    }
    /* Which fences are through does not matter before the next refresh, which wakes this thread. */
    if (p->queued > 0 && !may_publish(p, p->queue[p->queued - 1].scanout))
        n = 1;
    unlock(p);
    int64_t left = until == INT64_MAX ? 0 : until - tp_now_ns();
    const struct timespec limit = {
        left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
    if (ppoll(fds, n, until == INT64_MAX ? NULL : &limit, NULL) > 0 && fds[0].revents) {
        uint64_t count;
        ssize_t got = read(p->wake, &count, sizeof count);
        (void)got;
    }
    pthread_mutex_lock(&p->mutex);
}

static void *run(void *data)
{
    struct tp_publisher *p = data;
    prctl(PR_SET_NAME, "publisher");
    prctl(PR_SET_TIMERSLACK, 1ul);
    pthread_mutex_lock(&p->mutex);
    while (!p->stop) {
        give_up(p, tp_now_ns());
        publish_blank(p);
        publish(p);
        wait_for_work(p);
    }
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

void tp_publisher_last_tick(struct tp_publisher *p, struct tp_panel_tick *tick, int64_t *told_ns)
{
    pthread_mutex_lock(&p->mutex);
    *tick = p->tick;
    *told_ns = p->told_ns;
    pthread_mutex_unlock(&p->mutex);
}

void tp_publisher_shown(struct tp_publisher *p, struct tp_server_shown *out)
{
    pthread_mutex_lock(&p->mutex);
    *out = p->shown;
    pthread_mutex_unlock(&p->mutex);
}

int tp_publisher_census(const struct tp_publisher *p)
{
    return tp_screen_ring_fd(&p->ring);
}

void tp_publisher_settle(struct tp_publisher *p)
{
    struct tp_notes_counts counts;
    pthread_mutex_lock(&p->mutex);
    tp_screen_ring_settle(&p->ring);
    pthread_mutex_unlock(&p->mutex);
    tp_releases_count(p->releases, &counts);
    count_notes(p, &counts);
}

int tp_publisher_look(struct tp_publisher *p, struct tp_image *out, struct tp_error *e)
{
    if (!p->panel->ops->look)
        return tp_fail(e, TP_STATUS_FAILED, -ENOTSUP, NULL, NULL, "this screen cannot be read");
    return p->panel->ops->look(p->panel, out, e);
}

int tp_publisher_create(struct tp_panel *panel, const char *name, struct tp_releases *releases,
    unsigned output, void (*notify)(void *data), void *data, struct tp_publisher **out, struct tp_error *e)
{
    static const struct tp_panel_events events = {
        on_tick, on_released, on_shown, on_away, on_torn};
    struct tp_publisher *p = tp_calloc(1, sizeof *p);
    *out = NULL;
    p->panel = panel;
    p->releases = releases;
    p->output = output;
    p->notify = notify;
    p->notify_data = data;
    tp_screen_ring_init(&p->ring, name, output, panel);
    pthread_mutex_init(&p->mutex, NULL);
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = p->wake < 0 ? tp_fail_errno(e, errno, NULL, "an eventfd") : 0;
    if (r == 0) {
        r = pthread_create(&p->thread, NULL, run, p);
        if (r)
            r = tp_fail_errno(e, r, NULL, "the publishing thread cannot start");
        else
            p->running = true;
    }
    if (r == 0)
        r = panel->ops->start(panel, &events, p, e);
    if (r < 0) {
        tp_publisher_destroy(p);
        return r;
    }
    *out = p;
    return 0;
}

void tp_publisher_destroy(struct tp_publisher *p)
{
    if (!p)
        return;
    if (p->running) {
        pthread_mutex_lock(&p->mutex);
        p->stop = true;
        write_event(p->wake);
        pthread_mutex_unlock(&p->mutex);
        pthread_join(p->thread, NULL);
    }
    p->panel->ops->destroy(p->panel);
    tp_screen_ring_finish(&p->ring);
    if (p->wake >= 0)
        close(p->wake);
    pthread_mutex_destroy(&p->mutex);
    free(p);
}
