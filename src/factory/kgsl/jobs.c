/* Submits and what follows them: waits, retirement, events, timelines, lost contexts. */
#include "device_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How often a wait in a command stream is tried again. */
#define RETRY_NS 100000

struct tp_kgsl_job *tp_kgsl_job_new(size_t commands, size_t waits, size_t binds, size_t signals)
{
    struct tp_kgsl_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->commands = calloc(commands + 1, sizeof *job->commands);
    job->waits = calloc(waits + 1, sizeof *job->waits);
    job->binds = calloc(binds + 1, sizeof *job->binds);
    job->signals = calloc(signals + 1, sizeof *job->signals);
    job->started = -1;
    if (job->commands && job->waits && job->binds && job->signals)
        return job;
    tp_kgsl_job_free(NULL, job);
    return NULL;
}

void tp_kgsl_job_free(struct tp_kgsl_device *dev, struct tp_kgsl_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; dev && i < job->wait_count; i++) {
        if (job->waits[i].type == TP_KGSL_SYNCPOINT_FENCE && job->waits[i].fd >= 0)
            dev->hooks.drop(dev->hooks.user, job->waits[i].fd);
    }
    free(job->commands);
    free(job->waits);
    free(job->binds);
    free(job->signals);
    free(job);
}

static struct timeline *find_timeline(struct tp_kgsl_device *dev, uint32_t id)
{
    for (size_t i = 0; i < dev->books.timelines; i++) {
        if (dev->timelines[i].id == id)
            return &dev->timelines[i];
    }
    return NULL;
}

/* Whether what WAIT names has come; what does not exist holds nobody up. */
static bool has_come(struct tp_kgsl_device *dev, const struct tp_kgsl_wait *wait)
{
    if (wait->type == TP_KGSL_SYNCPOINT_FENCE)
        return wait->fd < 0;
    if (wait->type == TP_KGSL_SYNCPOINT_TIMELINE) {
        struct timeline *timeline = find_timeline(dev, wait->id);
        return !timeline || timeline->value >= wait->value;
    }
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, wait->id);
    return !context || tp_kgsl_reached(context->retired, (uint32_t)wait->value);
}

static bool may_run(struct tp_kgsl_device *dev, const struct tp_kgsl_job *job)
{
    for (size_t i = 0; i < job->wait_count; i++) {
        if (!has_come(dev, &job->waits[i]))
            return false;
    }
    return true;
}

static bool event_due(struct tp_kgsl_device *dev, const struct event *event)
{
    struct tp_kgsl_wait wait = {
        .type = event->of_timeline ? TP_KGSL_SYNCPOINT_TIMELINE : TP_KGSL_SYNCPOINT_TIMESTAMP,
        .id = event->id,
        .value = event->value,
    };
    return has_come(dev, &wait);
}

/* Lets happen what was waiting for a timestamp or a timeline. */
static void run_events(struct tp_kgsl_device *dev, int error)
{
    for (size_t i = 0; i < dev->event_count;) {
        struct event event = dev->events[i];
        if (!event_due(dev, &event)) {
            i++;
            continue;
        }
        memmove(&dev->events[i], &dev->events[i + 1],
                (dev->event_count - i - 1) * sizeof dev->events[0]);
        dev->event_count--;
        if (event.fd >= 0) {
            dev->books.fences--;
            dev->hooks.signal(dev->hooks.user, event.fd, error);
        }
        if (event.buffer && tp_kgsl_find(dev, event.buffer))
            tp_kgsl_free(dev, event.buffer);
    }
}

static int add_event(struct tp_kgsl_device *dev, struct event event)
{
    if (event_due(dev, &event)) {
        if (event.fd >= 0)
            dev->hooks.signal(dev->hooks.user, event.fd, 0);
        return event.buffer ? tp_kgsl_free(dev, event.buffer) : 0;
    }
    if (!tp_kgsl_grow((void **)&dev->events, dev->event_count, &dev->event_capacity,
                      sizeof dev->events[0])) {
        if (event.fd >= 0)
            dev->hooks.drop(dev->hooks.user, event.fd);
        return -ENOMEM;
    }
    dev->events[dev->event_count++] = event;
    dev->books.fences += event.fd >= 0;
    return 0;
}

int tp_kgsl_submit(struct tp_kgsl_device *dev, uint32_t id, struct tp_kgsl_job *job,
                   uint32_t wanted, uint32_t *timestamp)
{
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, id);
    int r = !context ? -EINVAL : context->lost ? -EDEADLK : 0;
    if (!r && context->flags & TP_KGSL_CONTEXT_USER_GENERATED_TS &&
        tp_kgsl_reached(context->queued, wanted))
        r = -ERANGE;
    if (r) {
        tp_kgsl_job_free(dev, job);
        return r;
    }
    if (context->flags & TP_KGSL_CONTEXT_USER_GENERATED_TS)
        context->queued = wanted;
    else
        context->queued++;
    job->context = context;
    job->timestamp = context->queued;
    if (context->last)
        context->last->next = job;
    else
        context->first = job;
    context->last = job;
    if (job->command_count) {
        dev->books.submits++;
        context->submits++;
        context->power_submits += !!(job->flags & TP_KGSL_CMDBATCH_PWR_CONSTRAINT);
    } else {
        dev->books.markers++;
    }
    dev->books.jobs++;
    *timestamp = context->queued;
    return 0;
}

void tp_kgsl_context_abandon(struct tp_kgsl_device *dev, struct tp_kgsl_context *context, int error)
{
    while (context->first) {
        struct tp_kgsl_job *job = context->first;
        context->first = job->next;
        dev->books.jobs--;
        tp_kgsl_job_free(dev, job);
    }
    context->last = NULL;
    context->retired = context->queued;
    run_events(dev, error);
}

void tp_kgsl_lose(struct tp_kgsl_device *dev, struct tp_kgsl_context *context, const char *why)
{
    uint32_t timestamp = context->first ? context->first->timestamp : context->queued;
    if (context->lost)
        return;
    context->lost = true;
    context->reset_status = TP_KGSL_CTX_STAT_GUILTY;
    dev->books.lost++;
    for (struct tp_kgsl_context *c = dev->contexts; c; c = c->next) {
        if (c != context && c->reset_status == TP_KGSL_CTX_STAT_NO_ERROR)
            c->reset_status = TP_KGSL_CTX_STAT_INNOCENT;
    }
    dev->hooks.lost(dev->hooks.user, context->id, timestamp, why);
    tp_kgsl_context_abandon(dev, context, -EPROTO);
}

static void retire(struct tp_kgsl_device *dev, struct tp_kgsl_job *job)
{
    struct tp_kgsl_context *context = job->context;
    for (size_t i = 0; i < job->bind_count; i++)
        tp_kgsl_bind(dev, job->bind_target, &job->binds[i]);
    for (size_t i = 0; i < job->signal_count; i++)
        tp_kgsl_timeline_signal(dev, job->signals[i].timeline, job->signals[i].seqno);
    context->retired = job->timestamp;
    context->first = job->next;
    if (!context->first)
        context->last = NULL;
    dev->books.jobs--;
    dev->books.retired++;
    tp_kgsl_job_free(dev, job);
    run_events(dev, 0);
}

/* Moves the head of a context's queue on; true when that may let others go on. */
static bool advance(struct tp_kgsl_device *dev, struct tp_kgsl_context *context, int64_t now,
                    int64_t *again)
{
    struct tp_kgsl_job *job = context->first;
    if (!job || !may_run(dev, job))
        return false;
    if (job->started < 0) {
        job->started = now;
        job->due = now + (job->command_count ? dev->config.retire_ns : 0);
    }
    if (now >= job->due) {
        enum tp_gpu_state state = TP_GPU_DONE;
        if (job->hang)
            state = TP_GPU_WAITING;
        else if (job->command_count)
            state = dev->hooks.execute(dev->hooks.user, job, now);
        if (state == TP_GPU_DONE) {
            retire(dev, job);
            return true;
        }
        if (state == TP_GPU_STUCK || now - job->started >= dev->config.hang_ns) {
            tp_kgsl_lose(dev, context, state == TP_GPU_STUCK ? "endless" : "hang");
            return true;
        }
        job->due = job->hang ? job->started + dev->config.hang_ns : now + RETRY_NS;
    }
    if (job->due < *again)
        *again = job->due;
    return false;
}

int64_t tp_kgsl_step(struct tp_kgsl_device *dev, int64_t now)
{
    int64_t again;
    bool moved;
    do {
        moved = false;
        again = INT64_MAX;
        for (struct tp_kgsl_context *c = dev->contexts; c; c = c->next)
            moved |= advance(dev, c, now, &again);
    } while (moved);
    return again;
}

size_t tp_kgsl_awaited(struct tp_kgsl_device *dev, int *fds, size_t max)
{
    size_t n = 0;
    for (struct tp_kgsl_context *c = dev->contexts; c; c = c->next) {
        for (size_t i = 0; c->first && i < c->first->wait_count && n < max; i++) {
            if (c->first->waits[i].type == TP_KGSL_SYNCPOINT_FENCE && c->first->waits[i].fd >= 0)
                fds[n++] = c->first->waits[i].fd;
        }
    }
    return n;
}

void tp_kgsl_arrived(struct tp_kgsl_device *dev, int fd)
{
    for (struct tp_kgsl_context *c = dev->contexts; c; c = c->next) {
        for (size_t i = 0; c->first && i < c->first->wait_count; i++) {
            struct tp_kgsl_wait *wait = &c->first->waits[i];
            if (wait->type != TP_KGSL_SYNCPOINT_FENCE || wait->fd != fd)
                continue;
            wait->fd = -1;
            dev->hooks.drop(dev->hooks.user, fd);
            return;
        }
    }
}

int tp_kgsl_timestamp(struct tp_kgsl_device *dev, uint32_t id, uint32_t timestamp)
{
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, id);
    if (!context)
        return -EINVAL;
    if (context->lost)
        return -EDEADLK;
    if (tp_kgsl_reached(context->retired, timestamp))
        return 0;
    bool known = tp_kgsl_reached(context->queued, timestamp) ||
                 context->flags & TP_KGSL_CONTEXT_USER_GENERATED_TS;
    return known ? -EAGAIN : -EINVAL;
}

int tp_kgsl_timestamp_fence(struct tp_kgsl_device *dev, uint32_t context, uint32_t timestamp, int fd)
{
    int r = tp_kgsl_timestamp(dev, context, timestamp);
    if (r == -EINVAL) {
        dev->hooks.drop(dev->hooks.user, fd);
        return r;
    }
    return add_event(dev, (struct event){.id = context, .value = timestamp, .fd = fd});
}

int tp_kgsl_free_after(struct tp_kgsl_device *dev, uint32_t id, uint32_t context,
                       uint32_t timestamp)
{
    if (!tp_kgsl_find(dev, id))
        return -EINVAL;
    if (tp_kgsl_timestamp(dev, context, timestamp) == -EINVAL)
        return -EINVAL;
    return add_event(dev,
                     (struct event){.id = context, .value = timestamp, .fd = -1, .buffer = id});
}

int tp_kgsl_timeline_create(struct tp_kgsl_device *dev, uint64_t value, uint32_t *id)
{
    if (!tp_kgsl_grow((void **)&dev->timelines, dev->books.timelines, &dev->timeline_capacity,
                      sizeof dev->timelines[0]))
        return -ENOMEM;
    *id = ++dev->next_timeline;
    dev->timelines[dev->books.timelines++] = (struct timeline){*id, value};
    dev->books.timelines_created++;
    return 0;
}

int tp_kgsl_timeline_destroy(struct tp_kgsl_device *dev, uint32_t id)
{
    struct timeline *timeline = find_timeline(dev, id);
    if (!timeline)
        return -ENODEV;
    *timeline = dev->timelines[--dev->books.timelines];
    run_events(dev, -ENOENT);
    return 0;
}

int tp_kgsl_timeline_query(struct tp_kgsl_device *dev, uint32_t id, uint64_t *value)
{
    struct timeline *timeline = find_timeline(dev, id);
    if (!timeline)
        return -ENODEV;
    *value = timeline->value;
    return 0;
}

int tp_kgsl_timeline_signal(struct tp_kgsl_device *dev, uint32_t id, uint64_t value)
{
    struct timeline *timeline = find_timeline(dev, id);
    if (!timeline)
        return -ENODEV;
    if (value > timeline->value)
        timeline->value = value;
    run_events(dev, 0);
    return 0;
}

int tp_kgsl_timeline_fence(struct tp_kgsl_device *dev, uint32_t id, uint64_t value, int fd)
{
    if (!find_timeline(dev, id)) {
        dev->hooks.drop(dev->hooks.user, fd);
        return -EINVAL;
    }
    return add_event(dev, (struct event){.of_timeline = true, .id = id, .value = value, .fd = fd});
}

void tp_kgsl_timelines_finish(struct tp_kgsl_device *dev)
{
    dev->books.timelines = 0;
    run_events(dev, -ENOENT);
}
