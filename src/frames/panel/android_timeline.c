/* The Choreographer: a thread with a looper, on which each refresh is told. */
#include <errno.h>
#include <sys/prctl.h>

#include "base/proc.h"
#include "frames/panel/android_internal.h"

/* A refresh is known. */
static void tick(struct tp_android *a, const struct tp_panel_tick *t)
{
    if (tp_android_begin_event(a)) {
        a->events->tick(a->data, t);
        tp_android_end_event(a);
    }
    tp_android_tell_shown(a, t);
}

static void heard(struct tp_android *a, int64_t vsync_ns, int64_t period_ns, int64_t vsync_id)
{
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&a->mutex);
    bool news = tp_android_clock_vsync(
        &a->clock, vsync_ns, period_ns ? period_ns : a->announced_period_ns, now);
    a->vsync_id = vsync_id;
    struct tp_panel_tick t = a->clock.tick;
    pthread_mutex_unlock(&a->mutex);
    if (news)
        tick(a, &t);
    tp_android_housekeep(a, now);
}

static void on_frame(int64_t frame_ns, void *data)
{
    struct tp_android *a = data;
    a->api.AChoreographer_postFrameCallback64(a->choreographer, on_frame, a);
    heard(a, frame_ns, 0, -1);
}

/* The frame's time is the app's wake-up; presentation times lie on the screen's own grid. */
static void on_vsync(const AChoreographerFrameCallbackData *frame, void *data)
{
    struct tp_android *a = data;
    const struct tp_android_api *api = &a->api;
    int64_t time = api->AChoreographerFrameCallbackData_getFrameTimeNanos(frame), period = 0;
    size_t n = api->AChoreographerFrameCallbackData_getFrameTimelinesLength(frame);
    size_t best = api->AChoreographerFrameCallbackData_getPreferredFrameTimelineIndex(frame);
    int64_t id = -1;
    api->AChoreographer_postVsyncCallback(a->choreographer, on_vsync, a);
    if (n > 1) {
        int64_t first =
            api->AChoreographerFrameCallbackData_getFrameTimelineExpectedPresentationTimeNanos(
                frame, 0);
        period = api->AChoreographerFrameCallbackData_getFrameTimelineExpectedPresentationTimeNanos(
                     frame, 1) -
            first;
        if (period > 0 && first > time)
            time = first - (first - time + period - 1) / period * period;
    }
    if (best < n)
        id = api->AChoreographerFrameCallbackData_getFrameTimelineVsyncId(frame, best);
    heard(a, time, period, id);
}

static void on_rate(int64_t period_ns, void *data)
{
    struct tp_android *a = data;
    pthread_mutex_lock(&a->mutex);
    if (period_ns > 0)
        a->announced_period_ns = period_ns;
    pthread_mutex_unlock(&a->mutex);
}

/* All the calls that belong to API level 33's are there. */
static bool has_timelines(const struct tp_android_api *api)
{
    return api->AChoreographer_postVsyncCallback &&
        api->AChoreographerFrameCallbackData_getFrameTimeNanos &&
        api->AChoreographerFrameCallbackData_getFrameTimelinesLength &&
        api->AChoreographerFrameCallbackData_getPreferredFrameTimelineIndex &&
        api->AChoreographerFrameCallbackData_getFrameTimelineVsyncId &&
        api->AChoreographerFrameCallbackData_getFrameTimelineExpectedPresentationTimeNanos;
}

/* Whoever starts the thread waits for this. */
static bool set_up(struct tp_android *a)
{
    ALooper *looper = a->api.ALooper_prepare(0);
    if (looper) {
        a->api.ALooper_acquire(looper);
        a->choreographer = a->api.AChoreographer_getInstance();
    }
    bool works = looper && a->choreographer;
    if (works) {
        a->api.AChoreographer_registerRefreshRateCallback(a->choreographer, on_rate, a);
        if (has_timelines(&a->api))
            a->api.AChoreographer_postVsyncCallback(a->choreographer, on_vsync, a);
        else
            a->api.AChoreographer_postFrameCallback64(a->choreographer, on_frame, a);
    }
    pthread_mutex_lock(&a->mutex);
    a->looper = looper;
    a->state = works ? STARTED : CANNOT_START;
    pthread_cond_broadcast(&a->quiet);
    pthread_mutex_unlock(&a->mutex);
    return works;
}

/* While the Choreographer is silent (the app hidden, the screen off) refreshes are counted on, so
 * that guests go on. */
static void count_on(struct tp_android *a)
{
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&a->mutex);
    bool due = tp_android_clock_count_on(&a->clock, now);
    struct tp_panel_tick t = a->clock.tick;
    if (due)
        a->vsync_id = -1;
    pthread_mutex_unlock(&a->mutex);
    if (!due)
        return;
    tick(a, &t);
    tp_android_housekeep(a, now);
}

/* Until when to sleep, in ms; -1: not any more. */
static int patience(struct tp_android *a)
{
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&a->mutex);
    int64_t left = tp_android_clock_next_ns(&a->clock, now) - now;
    bool stop = a->stop;
    pthread_mutex_unlock(&a->mutex);
    if (stop)
        return -1;
    return left > 0 ? (int)((left + 999999) / 1000000) : 0;
}

static void *run(void *data)
{
    struct tp_android *a = data;
    int ms;
    prctl(PR_SET_NAME, "panel");
    if (!set_up(a))
        return NULL;
    while ((ms = patience(a)) >= 0) {
        a->api.ALooper_pollOnce(ms, NULL, NULL, NULL);
        count_on(a);
    }
    a->api.AChoreographer_unregisterRefreshRateCallback(a->choreographer, on_rate, a);
    return NULL;
}

int tp_android_timeline_start(struct tp_android *a, struct tp_error *e)
{
    a->state = STARTING;
    a->clock.heard_ns = tp_now_ns();
    int r = pthread_create(&a->thread, NULL, run, a);
    if (r)
        return tp_fail_errno(e, r, NULL, "the panel's thread cannot start");
    a->running = true;
    pthread_mutex_lock(&a->mutex);
    while (a->state == STARTING)
        pthread_cond_wait(&a->quiet, &a->mutex);
    bool works = a->state == STARTED;
    pthread_mutex_unlock(&a->mutex);
    return works ? 0
                 : tp_fail(e, TP_STATUS_MISSING, -ENODEV, NULL, NULL,
                       "the phone has no Choreographer for this thread");
}

void tp_android_timeline_stop(struct tp_android *a)
{
    if (!a->running)
        return;
    pthread_mutex_lock(&a->mutex);
    a->stop = true;
    ALooper *looper = a->looper;
    pthread_mutex_unlock(&a->mutex);
    if (looper)
        a->api.ALooper_wake(looper);
    pthread_join(a->thread, NULL);
    if (looper)
        a->api.ALooper_release(looper);
    a->running = false;
}
