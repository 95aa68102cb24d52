/* libandroid.so: loopers, the Choreographer, and time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define SECOND INT64_C(1000000000)

typedef void frame_callback(int64_t, void *);
typedef struct AChoreographerFrameCallbackData {
    int64_t frame_ns, expected_ns[3], ids[3];
} AChoreographerFrameCallbackData;
typedef void vsync_callback(const AChoreographerFrameCallbackData *, void *);

/* One looper thread at a time. */
static struct ALooper {
    unsigned refs;
    pthread_cond_t changed;
    bool prepared, waiting, go, woken;
    int timeout_ms;
    int64_t deadline;
    /* its Choreographer's */
    frame_callback *on_frame, *on_rate;
    vsync_callback *on_vsync;
    void *frame_data, *vsync_data, *rate_data;
    bool due; /* live: a refresh is to be told of on the looper's thread */
    int64_t due_ns;
    int64_t ids;
} looper;

bool double_is_live;
static pthread_t live_thread;
static int64_t live_offset; /* the double's time is the clock's and this */

void choreographer_reset(void)
{
    memset(&looper, 0, sizeof looper);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&looper.changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The looper's thread has ended, and what was posted goes with it. */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ended(void *l)
{
    (void)l;
    pthread_mutex_lock(&double_lock);
    looper.prepared = looper.waiting = false;
    looper.on_frame = NULL;
    looper.on_vsync = NULL;
    looper.refs--;
    pthread_mutex_unlock(&double_lock);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

struct ALooper *ALooper_prepare(int options)
{
    (void)options;
    pthread_once(&once, make_key);
    pthread_setspecific(key, &looper);
    pthread_mutex_lock(&double_lock);
    looper.prepared = true;
    looper.refs++;
    pthread_mutex_unlock(&double_lock);
    return &looper;
}

void ALooper_acquire(struct ALooper *l)
{
    pthread_mutex_lock(&double_lock);
    l->refs++;
    pthread_mutex_unlock(&double_lock);
}

void ALooper_release(struct ALooper *l)
{
    pthread_mutex_lock(&double_lock);
    l->refs--;
    pthread_mutex_unlock(&double_lock);
}

void ALooper_wake(struct ALooper *l)
{
    pthread_mutex_lock(&double_lock);
    l->woken = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&double_lock);
}

struct AChoreographer *AChoreographer_getInstance(void)
{
    return looper.prepared ? (struct AChoreographer *)&looper : NULL;
}

void AChoreographer_postFrameCallback64(struct AChoreographer *c, frame_callback *f, void *data)
{
    (void)c;
    pthread_mutex_lock(&double_lock);
    looper.on_frame = f;
    looper.frame_data = data;
    pthread_mutex_unlock(&double_lock);
}

void AChoreographer_postVsyncCallback(struct AChoreographer *c, vsync_callback *f, void *data)
{
    (void)c;
    pthread_mutex_lock(&double_lock);
    looper.on_vsync = f;
    looper.vsync_data = data;
    pthread_mutex_unlock(&double_lock);
}

void AChoreographer_registerRefreshRateCallback(
    struct AChoreographer *c, frame_callback *f, void *data)
{
    (void)c;
    pthread_mutex_lock(&double_lock);
    looper.on_rate = f;
    looper.rate_data = data;
    pthread_mutex_unlock(&double_lock);
}

void AChoreographer_unregisterRefreshRateCallback(
    struct AChoreographer *c, frame_callback *f, void *data)
{
    (void)c;
    (void)f;
    (void)data;
    pthread_mutex_lock(&double_lock);
    looper.on_rate = NULL;
    pthread_mutex_unlock(&double_lock);
}

int64_t AChoreographerFrameCallbackData_getFrameTimeNanos(const AChoreographerFrameCallbackData *d)
{
    return d->frame_ns;
}

size_t AChoreographerFrameCallbackData_getFrameTimelinesLength(
    const AChoreographerFrameCallbackData *d)
{
    (void)d;
    return 3;
}

size_t AChoreographerFrameCallbackData_getPreferredFrameTimelineIndex(
    const AChoreographerFrameCallbackData *d)
{
    (void)d;
    return 0;
}

int64_t AChoreographerFrameCallbackData_getFrameTimelineVsyncId(
    const AChoreographerFrameCallbackData *d, size_t i)
{
    return d->ids[i];
}

int64_t AChoreographerFrameCallbackData_getFrameTimelineExpectedPresentationTimeNanos(
    const AChoreographerFrameCallbackData *d, size_t i)
{
    return d->expected_ns[i];
}

static unsigned every(void)
{
    return double_habit.every ? double_habit.every : 1;
}

/* The app wakes a millisecond after the refresh. Callbacks are for once. The lock is let go. */
static void call(int64_t vsync_ns)
{
    frame_callback *on_frame = looper.on_frame;
    vsync_callback *on_vsync = looper.on_vsync;
    AChoreographerFrameCallbackData d = {.frame_ns = vsync_ns + 1000000};
    looper.on_frame = NULL;
    looper.on_vsync = NULL;
    for (int i = 0; i < 3; i++) {
        d.expected_ns[i] = vsync_ns + (i + 1) * double_period * every();
        d.ids[i] = ++looper.ids;
    }
    pthread_mutex_unlock(&double_lock);
    if (on_frame)
        on_frame(vsync_ns, looper.frame_data);
    if (on_vsync)
        on_vsync(&d, looper.vsync_data);
    pthread_mutex_lock(&double_lock);
}

void choreographer_refresh(int64_t vsync_ns)
{
    if (!looper.on_frame && !looper.on_vsync)
        return;
    if (double_is_live) {
        looper.due = true;
        looper.due_ns = vsync_ns;
        pthread_cond_broadcast(&looper.changed);
        return;
    }
    while (!looper.waiting) /* the looper's thread is inside its poll: this one stands for it */
        pthread_cond_wait(&looper.changed, &double_lock);
    call(vsync_ns);
    looper.deadline = double_time + looper.timeout_ms * INT64_C(1000000);
}

void choreographer_period(void)
{
    frame_callback *f = looper.on_rate;
    void *data = looper.rate_data;
    pthread_mutex_unlock(&double_lock);
    if (f)
        f(double_period * every(), data);
    pthread_mutex_lock(&double_lock);
}

int64_t looper_deadline(void)
{
    return looper.waiting && !double_is_live ? looper.deadline : INT64_MAX;
}

/* The looper's thread gets its turn, and is waited for. */
void looper_expire(void)
{
    looper.go = true;
    looper.waiting = false;
    pthread_cond_broadcast(&looper.changed);
    while (!looper.waiting)
        pthread_cond_wait(&looper.changed, &double_lock);
}

int ALooper_pollOnce(int timeout_ms, int *fd, int *events, void **data)
{
    (void)fd;
    (void)events;
    (void)data;
    pthread_mutex_lock(&double_lock);
    looper.timeout_ms = timeout_ms;
    looper.deadline = double_time + timeout_ms * INT64_C(1000000);
    looper.waiting = true;
    pthread_cond_broadcast(&looper.changed);
    if (double_is_live) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        int64_t at = until.tv_sec * SECOND + until.tv_nsec + timeout_ms * INT64_C(1000000);
        until = (struct timespec){at / SECOND, at % SECOND};
        while (!looper.due && !looper.woken &&
            pthread_cond_timedwait(&looper.changed, &double_lock, &until) != ETIMEDOUT)
            ;
        if (looper.due) {
            looper.due = false;
            call(looper.due_ns);
        }
    } else {
        while (!looper.go && !looper.woken)
            pthread_cond_wait(&looper.changed, &double_lock);
    }
    bool woken = looper.woken;
    looper.waiting = looper.go = looper.woken = false;
    pthread_mutex_unlock(&double_lock);
    return woken ? -1 : -3; /* ALOOPER_POLL_WAKE, ALOOPER_POLL_TIMEOUT */
}

/* --- time --- */

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static bool screen_on = true;
static int64_t new_period;
static bool latched;    /* for the next refresh */
static int64_t wake_ns; /* when the Choreographer tells of the last refresh; INT64_MAX: it has */
static int64_t last_ns;
static uint64_t refreshes;

#define LEAD_NS 4000000

static int64_t next_event(int64_t *latch)
{
    int64_t next = flinger_next(), deadline = looper_deadline();
    *latch = screen_on && !latched ? double_next - LEAD_NS : INT64_MAX;
    if (double_next < next)
        next = double_next;
    if (*latch < next)
        next = *latch;
    if (wake_ns < next)
        next = wake_ns;
    return deadline < next ? deadline : next;
}

static void refresh(void)
{
    last_ns = double_next;
    if (new_period && new_period != double_period) {
        double_period = new_period;
        choreographer_period();
    }
    double_next = last_ns + double_period;
    latched = false;
    if (!screen_on)
        return;
    flinger_refresh();
    if (++refreshes % every())
        return;
    wake_ns = last_ns;
    if (double_habit.jitter_ns)
        wake_ns += (int64_t)(double_random() % double_habit.jitter_ns);
}

/* The lock is held. */
static void run_until(int64_t t)
{
    int64_t latch, next;
    while ((next = next_event(&latch)) <= t) {
        if (next > double_time)
            double_time = next;
        if (flinger_next() <= next) {
            flinger_event();
        } else if (latch <= next) {
            latched = true;
            flinger_latch();
        } else if (double_next <= next) {
            refresh();
        } else if (wake_ns <= next) {
            wake_ns = INT64_MAX;
            choreographer_refresh(last_ns);
        } else {
            looper_expire();
        }
    }
    if (t > double_time)
        double_time = t;
}

void double_run_until(int64_t t_ns)
{
    pthread_mutex_lock(&double_lock);
    run_until(t_ns);
    pthread_mutex_unlock(&double_lock);
}

int64_t double_now(void)
{
    pthread_mutex_lock(&double_lock);
    int64_t now = double_is_live ? clock_ns() + live_offset : double_time;
    pthread_mutex_unlock(&double_lock);
    return now;
}

int64_t double_next_refresh(void)
{
    pthread_mutex_lock(&double_lock);
    int64_t next = double_next;
    pthread_mutex_unlock(&double_lock);
    return next;
}

void double_screen(bool on)
{
    pthread_mutex_lock(&double_lock);
    screen_on = on;
    pthread_mutex_unlock(&double_lock);
}

void double_refresh(uint32_t mhz)
{
    pthread_mutex_lock(&double_lock);
    new_period = 1000 * SECOND / mhz;
    pthread_mutex_unlock(&double_lock);
}

static void *live(void *data)
{
    (void)data;
    pthread_mutex_lock(&double_lock);
    while (double_is_live) {
        int64_t latch, next = next_event(&latch), until = next - live_offset;
        pthread_mutex_unlock(&double_lock);
        if (next != INT64_MAX && clock_ns() < until) {
            int64_t soon = clock_ns() + 1000000; /* a transaction may come meanwhile */
            int64_t at = until < soon ? until : soon;
            clock_nanosleep(
                CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){at / SECOND, at % SECOND}, NULL);
        }
        pthread_mutex_lock(&double_lock);
        run_until(clock_ns() + live_offset);
    }
    pthread_mutex_unlock(&double_lock);
    return NULL;
}

void double_live(bool on)
{
    pthread_mutex_lock(&double_lock);
    bool was = double_is_live;
    double_is_live = on;
    if (on && !was)
        live_offset = double_time - clock_ns();
    pthread_mutex_unlock(&double_lock);
    if (on && !was)
        pthread_create(&live_thread, NULL, live, NULL);
    else if (!on && was)
        pthread_join(live_thread, NULL);
}

void double_reset(int level, uint64_t seed, uint32_t refresh_mhz, int64_t start_ns)
{
    pthread_mutex_lock(&double_lock);
    double_level = level;
    double_time = start_ns;
    double_period = 1000 * SECOND / refresh_mhz;
    double_next = start_ns + double_period;
    new_period = 0;
    screen_on = true;
    latched = false;
    wake_ns = INT64_MAX;
    choreographer_reset();
    flinger_reset(seed);
    pthread_mutex_unlock(&double_lock);
}

bool double_has(const char *name)
{
    static const struct {
        const char *name;
        int level;
    } newer[] = {
        {"ASurfaceTransaction_setFrameTimeline", 33},
        {"AChoreographer_postVsyncCallback", 33},
        {"AChoreographerFrameCallbackData_", 33},
        {"ASurfaceTransaction_setBufferWithRelease", 36},
    };
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (strncmp(name, newer[i].name, strlen(newer[i].name)) == 0)
            return double_level >= newer[i].level;
    return true;
}
