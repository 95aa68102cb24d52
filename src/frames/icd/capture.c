#include "frames/icd/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "frames/census/figures.h"
#include "frames/census/follow.h"
#include "frames/icd/clock.h"
#include "frames/icd/fence.h"
#include "frames/icd/log.h"
#include "frames/icd/loop.h"
#include "frames/icd/settings.h"
#include "frames/pace/profile.h"
#include "report/capture.h"

#define TURN_NS INT64_C(50000000) /* a ring's entries last for longer */
#define TURNS_A_FLUSH 5u
#define TURNS_A_COUNT 80u
#define DISPLAYED 4u /* gauges that are settings of a capture */

struct ring {
    struct ring *next;
    uint32_t number;
    int fd; /* its own */
    bool ended;
    bool last; /* it had ended before it was read: nothing more comes of it */
};

/* Of the process. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct ring *rings; /* the last one first */
    uint32_t numbers;
    pthread_t thread;
    bool started, threaded, failed, ends;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic pid_t owner; /* a process that is forked off has no thread */

/* The thread's. */
struct writer {
    struct tp_recorder *to;
    struct tp_follow *follow;
    uint64_t told[DISPLAYED];
    int64_t set[4]; /* by setting */
    uint64_t lost;
    unsigned turns;
};

/* --- where to --- */

/* The path, with the process's number for each %p. */
static char *path_of(const char *pattern)
{
    struct tp_buf b = {0};

    for (const char *at = pattern; *at; at++) {
        if (at[0] == '%' && at[1] == 'p') {
            tp_buf_addf(&b, "%d", (int)getpid());
            at++;
        } else {
            tp_buf_addc(&b, *at);
        }
    }
    return tp_buf_take(&b);
}

/* -EBUSY: another process writes it. */
static int open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);

    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        close(fd);
        return -EBUSY;
    }
    if (ftruncate(fd, 0) < 0 && errno != EINVAL) { /* a pipe has no end to be moved */
        int err = -errno;
        close(fd);
        return err;
    }
    fcntl(fd, F_SETFL, 0);
    return fd;
}

/* Who comes first has the name, who comes while that one is there has a longer one. */
static struct tp_recorder *open_recorder(void)
{
    char *path = path_of(tp_icd_settings()->capture);
    int fd = open_file(path);

    if (fd == -EBUSY) {
        char *longer = tp_asprintf("%s.%d", path, (int)getpid());
        free(path);
        path = longer;
        fd = open_file(path);
    }
    struct tp_recorder *to = fd < 0 ? NULL : tp_recorder_begin(fd, path);
    if (fd < 0)
        tp_icd_log("TURNPIKE_CAPTURE=%s: %s; going on without", path, strerror(-fd));
    free(path);
    return to;
}

/* --- what is written --- */

static void on_guest(void *data, unsigned guest, const char *name, uint32_t pid)
{
    const struct writer *w = data;

    (void)pid;
    tp_recorder_guest(w->to, guest, name);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    const struct writer *w = data;

    tp_recorder_frame(w->to, f);
}

static void on_setting(void *data, unsigned guest, const struct tp_ring_setting *s)
{
    struct writer *w = data;

    (void)guest;
    if (w->set[s->what] == s->value)
        return; /* of another swapchain of the same settings */
    w->set[s->what] = s->value;
    if (s->what == TP_SETTING_GATE)
        tp_recorder_setting(
            w->to, s->at_ns, "gate", "%s", tp_gate_mode_name((enum tp_gate_mode)s->value));
    else
        tp_recorder_setting(w->to, s->at_ns, s->what == TP_SETTING_CAP ? "cap-mhz" : "refresh-mhz",
            "%lld", (long long)s->value);
}

static void on_lost(void *data, unsigned guest, uint64_t entries)
{
    struct writer *w = data;

    (void)guest;
    w->lost += entries;
}

/* What the newest swapchain has. */
static void write_gauges(struct writer *w, int64_t at_ns)
{
    static const struct {
        unsigned gauge;
        const char *name;
    } known[DISPLAYED] = {{TP_GAUGE_PIPELINE, "pipeline"}, {TP_GAUGE_LEAD_NS, "lead-ns"},
        {TP_GAUGE_IMAGES, "images"}, {TP_GAUGE_RELEASE_FENCE, "release-fence"}};
    const struct tp_ring_view *view, *newest = NULL;

    for (unsigned i = 0; (view = tp_follow_view(w->follow, i, NULL, NULL)); i++)
        newest = view;
    for (unsigned i = 0; newest && i < DISPLAYED; i++) {
        uint64_t value = tp_ring_look(newest, known[i].gauge);
        if (value == w->told[i])
            continue;
        w->told[i] = value;
        if (known[i].gauge == TP_GAUGE_RELEASE_FENCE)
            tp_recorder_setting(w->to, at_ns, known[i].name, "%s", value ? "on" : "off");
        else
            tp_recorder_setting(w->to, at_ns, known[i].name, "%llu", (unsigned long long)value);
    }
}

static void write_counts(struct writer *w)
{
    uint64_t counts[TP_COUNTERS];

    tp_follow_counts(w->follow, counts);
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        tp_recorder_count(w->to, tp_counter_names[i], counts[i]);
}

/* Takes one out of the list, with the lock held. */
static void forget(struct ring **at)
{
    struct ring *r = *at;

    *at = r->next;
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

static void forget_read(void)
{
    pthread_mutex_lock(&all.lock);
    for (struct ring **at = &all.rings; *at;) {
        if ((*at)->last)
            forget(at);
        else
            at = &(*at)->next;
    }
    pthread_mutex_unlock(&all.lock);
}

/* Answers whether more is to come. */
static bool turn(struct writer *w)
{
    struct tp_census_ring rings[TP_JOIN_RINGS];
    unsigned n = 0;

    pthread_mutex_lock(&all.lock);
    bool ends = all.ends;
    for (struct ring *r = all.rings; r && n < TP_JOIN_RINGS; r = r->next) {
        rings[n++] = (struct tp_census_ring){r->number, (uint32_t)getpid(), r->fd};
        r->last = r->ended;
    }
    pthread_mutex_unlock(&all.lock);
    int64_t now = tp_icd_now_ns();
    tp_follow_rings(w->follow, rings, n);
    tp_follow_turn(w->follow, now);
    write_gauges(w, now);
    forget_read();
    w->turns++;
    if (w->turns % TURNS_A_COUNT == 0)
        write_counts(w);
    if (w->turns % TURNS_A_FLUSH == 0)
        tp_recorder_flush(w->to);
    return !ends;
}

static void rest(void)
{
    int64_t until = tp_icd_now_ns() + TURN_NS;
    struct timespec t = {until / 1000000000, until % 1000000000};

    pthread_mutex_lock(&all.lock);
    while (!all.ends &&
        (all.rings ? pthread_cond_timedwait(&all.change, &all.lock, &t)
                   : pthread_cond_wait(&all.change, &all.lock)) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&all.lock);
}

static void *run(void *data)
{
    struct writer w = {.set = {-1, -1, -1, -1}};
    struct tp_error e = {0};

    (void)data;
    pthread_setname_np(pthread_self(), "tp-capture");
    w.to = open_recorder();
    if (!w.to) {
        pthread_mutex_lock(&all.lock);
        all.failed = true;
        while (all.rings)
            forget(&all.rings);
        pthread_mutex_unlock(&all.lock);
        return NULL;
    }
    memset(w.told, 0xff, sizeof w.told);
    w.follow = tp_follow_create(&(struct tp_join_sink){
        .guest = on_guest, .frame = on_frame, .setting = on_setting, .lost = on_lost, .data = &w});
    tp_recorder_setting(w.to, 0, "made-by", "turnpike %s driver", TP_VERSION);
    tp_recorder_setting(w.to, 0, TP_SETTING_WATCHED, "off");
    while (turn(&w))
        rest();
    tp_follow_end(w.follow, tp_icd_now_ns());
    write_counts(&w);
    tp_follow_destroy(w.follow);
    if (w.lost > 0)
        tp_icd_log("TURNPIKE_CAPTURE: %llu records came too fast to be written",
            (unsigned long long)w.lost);
    if (tp_recorder_finish(w.to, &e))
        tp_icd_log_error(&e);
    return NULL;
}

/* --- the game's side --- */

static void start(void)
{
    pthread_condattr_t clock;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&all.change, &clock);
    pthread_condattr_destroy(&clock);
    owner = getpid();
    all.started = true;
    all.threaded = tp_thread_start(&all.thread, run, NULL) == 0;
    all.failed = !all.threaded;
    if (all.failed)
        tp_icd_log("TURNPIKE_CAPTURE: there is no thread to be had; going on without");
}

uint32_t tp_icd_capture_add(int fd)
{
    if (!tp_icd_settings()->capture || (owner && owner != getpid()))
        return 0;
    pthread_mutex_lock(&all.lock);
    if (!all.started)
        start();
    struct ring *r = all.failed || all.ends ? NULL : calloc(1, sizeof *r);
    if (r) {
        *r = (struct ring){.next = all.rings, .number = ++all.numbers, .fd = tp_fence_copy(fd)};
        all.rings = r;
        pthread_cond_signal(&all.change);
    }
    uint32_t number = r ? r->number : 0;
    pthread_mutex_unlock(&all.lock);
    return number;
}

void tp_icd_capture_end(uint32_t number)
{
    if (number == 0 || owner != getpid())
        return;
    pthread_mutex_lock(&all.lock);
    for (struct ring *r = all.rings; r; r = r->next)
        r->ended |= r->number == number;
    pthread_mutex_unlock(&all.lock);
}

/* A process that ends in order has its file to the end. */
__attribute__((destructor)) static void finish(void)
{
    if (owner != getpid())
        return;
    pthread_mutex_lock(&all.lock);
    all.ends = true;
    pthread_cond_signal(&all.change);
    pthread_mutex_unlock(&all.lock);
    if (all.threaded)
        pthread_join(all.thread, NULL);
}
