/* Requests about contexts, submits, timestamps and timelines. */
#include "ioctls.h"

#include "fence.h"
#include "process.h"
#include "real.h"
#include "uapi.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define TICKS(ns) ((uint64_t)(ns) * 12 / 625)

/* Element INDEX of a client's list: what it has of it, the rest 0, as the kernel copies. */
static void element(void *out, size_t size, uint64_t list, uint32_t stride, uint32_t index)
{
    memset(out, 0, size);
    memcpy(out, (const char *)(uintptr_t)list + (size_t)stride * index,
           stride < size ? stride : size);
}

static int context_create(struct tp_kgsl_call *call)
{
    struct tp_kgsl_drawctxt_create *c = call->argument;
    struct tp_kgsl_context *context = NULL;
    tp_kgsl_line_hex(call->line, "flags", c->flags);
    int r = tp_kgsl_context_create(tp_process_device(), call->file, c->flags, &context);
    if (r)
        return r;
    c->flags = context->flags;
    c->drawctxt_id = context->id;
    tp_kgsl_line_number(call->line, "context", context->id);
    return 0;
}

static int context_destroy(struct tp_kgsl_call *call)
{
    struct tp_kgsl_drawctxt_destroy *d = call->argument;
    struct tp_kgsl_context *context = tp_kgsl_context_find(tp_process_device(), d->drawctxt_id);
    tp_kgsl_line_number(call->line, "context", d->drawctxt_id);
    if (context) {
        tp_kgsl_line_number(call->line, "submits", context->submits);
        tp_kgsl_line_number(call->line, "power_submits", context->power_submits);
        tp_kgsl_line_number(call->line, "power_max", context->power_max);
    }
    int r = tp_kgsl_context_destroy(tp_process_device(), d->drawctxt_id);
    tp_process_kick(); /* whoever waited for it */
    return r;
}

/* One sync point of the client's; a fence is duplicated into WAIT. */
static int read_wait(const struct tp_kgsl_command_syncpoint *point, struct tp_kgsl_wait *wait)
{
    struct tp_kgsl_syncpoint_timestamp ts;
    struct tp_kgsl_syncpoint_fence fence;
    const void *from = (const void *)(uintptr_t)point->priv;
    wait->type = point->type;
    wait->fd = -1;
    if (!from)
        return -EFAULT;
    if (point->type == TP_KGSL_SYNCPOINT_TIMESTAMP && point->size >= sizeof ts) {
        memcpy(&ts, from, sizeof ts);
        wait->id = ts.context_id;
        wait->value = ts.timestamp;
        return 0;
    }
    if (point->type == TP_KGSL_SYNCPOINT_FENCE && point->size >= sizeof fence) {
        memcpy(&fence, from, sizeof fence);
        if (!tp_kgsl_fence_is(fence.fd))
            return -EINVAL;
        wait->fd = tp_kgsl_dup_high(fence.fd);
        return wait->fd < 0 ? wait->fd : 0;
    }
    return -EINVAL;
}

/* A timeline sync point is several waits: all of its timelines. */
static int read_timeline_waits(const struct tp_kgsl_command_syncpoint *point,
                               struct tp_kgsl_job *job, size_t room)
{
    struct tp_kgsl_syncpoint_timeline list;
    struct tp_kgsl_timeline_val val;
    if (!point->priv || point->size < sizeof list)
        return -EINVAL;
    memcpy(&list, (const void *)(uintptr_t)point->priv, sizeof list);
    if (!list.timelines || !list.timelines_size || job->wait_count + list.count > room)
        return -EINVAL;
    for (uint32_t i = 0; i < list.count; i++) {
        element(&val, sizeof val, list.timelines, list.timelines_size, i);
        job->waits[job->wait_count++] = (struct tp_kgsl_wait){
            .type = TP_KGSL_SYNCPOINT_TIMELINE, .id = val.timeline, .value = val.seqno, .fd = -1};
    }
    return 0;
}

/* Waits that a job has room for: each sync point may name this many timelines. */
#define WAITS_MAX (4 * TP_KGSL_MAX_SYNCPOINTS)

static int read_waits(struct tp_kgsl_call *call, struct tp_kgsl_job *job, uint64_t list,
                      uint32_t stride, uint32_t count)
{
    struct tp_kgsl_command_syncpoint point;
    if (count && !list)
        return -EFAULT;
    tp_kgsl_line_list(call->line, "waits");
    for (uint32_t i = 0; i < count; i++) {
        element(&point, sizeof point, list, stride, i);
        int r = 0;
        if (point.type == TP_KGSL_SYNCPOINT_TIMELINE) {
            r = read_timeline_waits(&point, job, WAITS_MAX);
        } else {
            r = read_wait(&point, &job->waits[job->wait_count]);
            job->wait_count += !r;
        }
        if (r)
            return r;
    }
    for (size_t i = 0; i < job->wait_count && tp_kgsl_line_item(call->line); i++) {
        tp_kgsl_line_number(call->line, "type", job->waits[i].type);
        tp_kgsl_line_number(call->line, "of", job->waits[i].id);
        tp_kgsl_line_number(call->line, "value", job->waits[i].value);
    }
    tp_kgsl_line_list_end(call->line);
    return 0;
}

static int read_commands(struct tp_kgsl_call *call, struct tp_kgsl_job *job,
                         const struct tp_kgsl_gpu_command *g)
{
    struct tp_kgsl_command_object object;
    if (g->numcmds && !g->cmdlist)
        return -EFAULT;
    tp_kgsl_line_list(call->line, "commands");
    for (uint32_t i = 0; i < g->numcmds; i++) {
        element(&object, sizeof object, g->cmdlist, g->cmdsize, i);
        const uint32_t kinds = TP_KGSL_CMDLIST_IB | TP_KGSL_CMDLIST_CTXTSWITCH_PREAMBLE |
                               TP_KGSL_CMDLIST_IB_PREAMBLE;
        struct tp_kgsl_buffer *b = object.id
                                       ? tp_kgsl_find(tp_process_device(), object.id)
                                       : tp_kgsl_find_address(tp_process_device(), object.gpuaddr);
        if (tp_kgsl_line_item(call->line)) {
            tp_kgsl_line_hex(call->line, "gpuaddr", object.gpuaddr);
            tp_kgsl_line_number(call->line, "size", object.size);
            tp_kgsl_line_number(call->line, "id", object.id);
            tp_kgsl_line_hex(call->line, "flags", object.flags);
        }
        if (!(object.flags & kinds) || !object.size || (object.size | object.gpuaddr) & 3 || !b ||
            object.gpuaddr < b->gpuaddr || object.gpuaddr - b->gpuaddr >= b->size ||
            object.size > b->size - (object.gpuaddr - b->gpuaddr)) {
            tp_kgsl_line_list_end(call->line);
            return -EINVAL;
        }
        job->commands[job->command_count++] =
            (struct tp_kgsl_command){object.gpuaddr, object.size};
    }
    tp_kgsl_line_list_end(call->line);
    return 0;
}

/* The profiling buffer, of which the client may at once read when the submit was queued. */
static int read_profile(struct tp_kgsl_job *job, const struct tp_kgsl_gpu_command *g)
{
    struct tp_kgsl_command_object object;
    struct timespec wall;
    if (g->numobjs && !g->objlist)
        return -EFAULT;
    for (uint32_t i = 0; i < g->numobjs; i++) {
        element(&object, sizeof object, g->objlist, g->objsize, i);
        if (!(object.flags & TP_KGSL_OBJLIST_PROFILE) || !(g->flags & TP_KGSL_CMDBATCH_PROFILING))
            continue;
        clock_gettime(CLOCK_MONOTONIC, &wall);
        struct tp_kgsl_profiling_buffer p = {
            .wall_clock_s = (uint64_t)wall.tv_sec,
            .wall_clock_ns = (uint64_t)wall.tv_nsec,
            .gpu_ticks_queued = TICKS(tp_process_now()),
        };
        job->profile = object.gpuaddr + object.offset;
        if (tp_process_write(job->profile, &p, sizeof p))
            return -EINVAL;
    }
    return 0;
}

/* Queues JOB (moved), with what the fault schedule has for it. */
static int submit(struct tp_kgsl_call *call, struct tp_kgsl_job *job, uint32_t context,
                  uint32_t *timestamp)
{
    struct tp_kgsl_device *dev = tp_process_device();
    uint32_t given = 0;
    job->hang = call->verdict.hang;
    int r = tp_kgsl_submit(dev, context, job, *timestamp, &given);
    if (r)
        return r;
    *timestamp = given;
    tp_kgsl_line_number(call->line, "timestamp", given);
    if (call->verdict.lost)
        tp_kgsl_lose(dev, tp_kgsl_context_find(dev, context), "fault");
    tp_process_kick();
    return 0;
}

static int gpu_command(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpu_command *g = call->argument;
    tp_kgsl_line_number(call->line, "context", g->context_id);
    tp_kgsl_line_hex(call->line, "flags", g->flags);
    if (g->numcmds > TP_KGSL_MAX_LIST || g->numobjs > TP_KGSL_MAX_LIST ||
        g->numsyncs > TP_KGSL_MAX_SYNCPOINTS || (g->numcmds && !g->cmdsize) ||
        (g->numobjs && !g->objsize) || (g->numsyncs && !g->syncsize))
        return -EINVAL;
    struct tp_kgsl_job *job = tp_kgsl_job_new(g->numcmds, WAITS_MAX, 0, 0);
    if (!job)
        return -ENOMEM;
    job->flags = (uint32_t)g->flags;
    int r = read_waits(call, job, g->synclist, g->syncsize, g->numsyncs);
    if (!r)
        r = read_commands(call, job, g);
    if (!r)
        r = read_profile(job, g);
    if (r) {
        tp_kgsl_job_free(tp_process_device(), job);
        return r;
    }
    return submit(call, job, g->context_id, &g->timestamp);
}

static int read_aux_bind(struct tp_kgsl_job **job, const struct tp_kgsl_aux_generic *aux)
{
    struct tp_kgsl_aux_bind bind;
    if (!aux->priv || aux->size < sizeof bind)
        return -EINVAL;
    memcpy(&bind, (const void *)(uintptr_t)aux->priv, sizeof bind);
    if (!bind.numranges || bind.numranges > TP_KGSL_MAX_LIST || !bind.rangeslist ||
        bind.rangesize < sizeof(*job)->binds[0])
        return -EINVAL;
    *job = tp_kgsl_job_new(0, WAITS_MAX, (size_t)bind.numranges, 0);
    if (!*job)
        return -ENOMEM;
    for (uint32_t i = 0; i < bind.numranges; i++)
        element(&(*job)->binds[(*job)->bind_count++], sizeof(*job)->binds[0], bind.rangeslist,
                (uint32_t)bind.rangesize, i);
    (*job)->bind_target = bind.target;
    return 0;
}

static int read_aux_timeline(struct tp_kgsl_job **job, const struct tp_kgsl_aux_generic *aux)
{
    struct tp_kgsl_aux_timeline list;
    if (!aux->priv || aux->size < sizeof list)
        return -EINVAL;
    memcpy(&list, (const void *)(uintptr_t)aux->priv, sizeof list);
    if (!list.count || list.count > TP_KGSL_MAX_LIST || !list.timelines || !list.timelines_size)
        return -EINVAL;
    *job = tp_kgsl_job_new(0, WAITS_MAX, 0, list.count);
    if (!*job)
        return -ENOMEM;
    for (uint32_t i = 0; i < list.count; i++)
        element(&(*job)->signals[(*job)->signal_count++], sizeof(*job)->signals[0], list.timelines,
                list.timelines_size, i);
    return 0;
}

static int aux_command(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpu_aux_command *a = call->argument;
    struct tp_kgsl_aux_generic aux;
    struct tp_kgsl_job *job = NULL;
    tp_kgsl_line_number(call->line, "context", a->context_id);
    tp_kgsl_line_hex(call->line, "flags", a->flags);
    const uint64_t kinds = TP_KGSL_GPU_AUX_COMMAND_BIND | TP_KGSL_GPU_AUX_COMMAND_TIMELINE;
    bool syncs = a->flags & TP_KGSL_GPU_AUX_COMMAND_SYNC;
    /* As the kernel: one command a call. */
    if (a->numcmds != 1 || !a->cmdlist || !a->cmdsize || !(a->flags & kinds) ||
        (a->flags & kinds) == kinds ||
        (syncs && (a->numsyncs > TP_KGSL_MAX_SYNCPOINTS || !a->syncsize)))
        return -EINVAL;
    element(&aux, sizeof aux, a->cmdlist, a->cmdsize, 0);
    if (aux.type != (uint32_t)(a->flags & kinds))
        return -EINVAL;
    tp_kgsl_line_number(call->line, "type", aux.type);
    int r = aux.type == TP_KGSL_GPU_AUX_COMMAND_BIND ? read_aux_bind(&job, &aux)
                                                     : read_aux_timeline(&job, &aux);
    if (!r && syncs)
        r = read_waits(call, job, a->synclist, a->syncsize, a->numsyncs);
    if (r) {
        tp_kgsl_job_free(tp_process_device(), job);
        return r;
    }
    return submit(call, job, a->context_id, &a->timestamp);
}

/* MS from now on; UINT32_MAX: for ever. */
static int64_t deadline_ms(uint32_t ms)
{
    return ms == UINT32_MAX ? INT64_MAX : tp_process_now() + (int64_t)ms * 1000000;
}

static int wait_timestamp(struct tp_kgsl_call *call)
{
    struct tp_kgsl_waittimestamp_ctxtid w;
    memcpy(&w, call->argument, sizeof w);
    tp_kgsl_line_number(call->line, "context", w.context_id);
    tp_kgsl_line_number(call->line, "timestamp", w.timestamp);
    tp_kgsl_line_number(call->line, "timeout_ms", w.timeout_ms);
    int64_t deadline = deadline_ms(w.timeout_ms);
    for (;;) {
        if (!tp_process_device())
            return -ENODEV;
        tp_process_step();
        int r = tp_kgsl_timestamp(tp_process_device(), w.context_id, w.timestamp);
        if (r != -EAGAIN)
            return r;
        if (tp_process_now() >= deadline)
            return -ETIMEDOUT;
        tp_process_sleep(deadline);
    }
}

static int read_timestamp(struct tp_kgsl_call *call)
{
    struct tp_kgsl_readtimestamp_ctxtid *t = call->argument;
    tp_process_step();
    struct tp_kgsl_context *context = tp_kgsl_context_find(tp_process_device(), t->context_id);
    tp_kgsl_line_number(call->line, "context", t->context_id);
    tp_kgsl_line_number(call->line, "type", t->type);
    if (!context || t->type < TP_KGSL_TIMESTAMP_CONSUMED || t->type > TP_KGSL_TIMESTAMP_QUEUED)
        return -EINVAL;
    t->timestamp = t->type == TP_KGSL_TIMESTAMP_QUEUED ? context->queued : context->retired;
    tp_kgsl_line_number(call->line, "timestamp", t->timestamp);
    return 0;
}

static int timestamp_event(struct tp_kgsl_call *call)
{
    struct tp_kgsl_timestamp_event *e = call->argument;
    int fd, signal;
    tp_kgsl_line_number(call->line, "context", e->context_id);
    tp_kgsl_line_number(call->line, "timestamp", e->timestamp);
    if (e->type != TP_KGSL_TIMESTAMP_EVENT_FENCE || e->len != sizeof fd)
        return -EINVAL;
    if (!e->priv)
        return -EFAULT;
    int r = tp_kgsl_fence_create(&fd, &signal);
    if (r)
        return r;
    r = tp_kgsl_timestamp_fence(tp_process_device(), e->context_id, e->timestamp, signal);
    if (r) {
        tp_real_close(fd);
        return r;
    }
    memcpy(e->priv, &fd, sizeof fd);
    tp_kgsl_line_signed(call->line, "fence", fd);
    return 0;
}

static int timeline_create(struct tp_kgsl_call *call)
{
    struct tp_kgsl_timeline_create *t = call->argument;
    tp_kgsl_line_number(call->line, "value", t->seqno);
    int r = tp_kgsl_timeline_create(tp_process_device(), t->seqno, &t->id);
    if (!r)
        tp_kgsl_line_number(call->line, "timeline", t->id);
    return r;
}

static int timeline_destroy(struct tp_kgsl_call *call)
{
    uint32_t id;
    memcpy(&id, call->argument, sizeof id);
    tp_kgsl_line_number(call->line, "timeline", id);
    int r = tp_kgsl_timeline_destroy(tp_process_device(), id);
    tp_process_kick();
    return r;
}

static int timeline_query(struct tp_kgsl_call *call)
{
    struct tp_kgsl_timeline_val *v = call->argument;
    tp_process_step();
    tp_kgsl_line_number(call->line, "timeline", v->timeline);
    int r = tp_kgsl_timeline_query(tp_process_device(), v->timeline, &v->seqno);
    if (!r)
        tp_kgsl_line_number(call->line, "value", v->seqno);
    return r;
}

static int timeline_signal(struct tp_kgsl_call *call)
{
    struct tp_kgsl_timeline_signal *s = call->argument;
    struct tp_kgsl_timeline_val val;
    int r = 0;
    tp_kgsl_line_number(call->line, "count", s->count);
    if (!s->count || s->count > TP_KGSL_MAX_LIST || !s->timelines || !s->timelines_size)
        return -EINVAL;
    for (uint32_t i = 0; i < s->count && !r; i++) {
        element(&val, sizeof val, s->timelines, s->timelines_size, i);
        r = tp_kgsl_timeline_signal(tp_process_device(), val.timeline, val.seqno);
    }
    tp_process_kick();
    return r;
}

/* 1: the wait is over; 0: not yet; or -errno. */
static int timelines_reached(const struct tp_kgsl_timeline_wait *w)
{
    struct tp_kgsl_timeline_val val;
    uint32_t reached = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        uint64_t value;
        element(&val, sizeof val, w->timelines, w->timelines_size, i);
        int r = tp_kgsl_timeline_query(tp_process_device(), val.timeline, &value);
        if (r)
            return -EINVAL;
        reached += value >= val.seqno;
    }
    return w->flags == TP_KGSL_TIMELINE_WAIT_ANY ? reached > 0 : reached == w->count;
}

static int timeline_wait(struct tp_kgsl_call *call)
{
    struct tp_kgsl_timeline_wait w;
    memcpy(&w, call->argument, sizeof w);
    tp_kgsl_line_number(call->line, "count", w.count);
    tp_kgsl_line_signed(call->line, "tv_sec", w.tv_sec);
    tp_kgsl_line_signed(call->line, "tv_nsec", w.tv_nsec);
    if ((w.flags != TP_KGSL_TIMELINE_WAIT_ALL && w.flags != TP_KGSL_TIMELINE_WAIT_ANY) ||
        !w.count || w.count > TP_KGSL_MAX_LIST || !w.timelines || !w.timelines_size ||
        w.tv_sec < 0 || w.tv_nsec < 0 || w.tv_nsec >= 1000000000)
        return -EINVAL;
    bool poll = !w.tv_sec && !w.tv_nsec;
    /* Some hundred years are for ever. */
    int64_t deadline = w.tv_sec > INT64_MAX / 4000000000
                           ? INT64_MAX
                           : tp_process_now() + w.tv_sec * 1000000000 + w.tv_nsec;
    for (;;) {
        if (!tp_process_device())
            return -ENODEV;
        tp_process_step();
        int r = timelines_reached(&w);
        if (r)
            return r < 0 ? r : 0;
        if (tp_process_now() >= deadline)
            return poll ? -EBUSY : -ETIMEDOUT;
        tp_process_sleep(deadline);
    }
}

static int timeline_fence(struct tp_kgsl_call *call)
{
    struct tp_kgsl_timeline_fence_get *f = call->argument;
    int fd, signal;
    tp_kgsl_line_number(call->line, "timeline", f->timeline);
    tp_kgsl_line_number(call->line, "value", f->seqno);
    int r = tp_kgsl_fence_create(&fd, &signal);
    if (r)
        return r;
    r = tp_kgsl_timeline_fence(tp_process_device(), f->timeline, f->seqno, signal);
    if (r) {
        tp_real_close(fd);
        return r;
    }
    f->handle = fd;
    tp_kgsl_line_signed(call->line, "fence", fd);
    return 0;
}

const struct tp_kgsl_request tp_kgsl_submit_requests[] = {
    {TP_KGSL_GPU_COMMAND, "GPU_COMMAND", TP_KGSL_SITE_SUBMIT, false, gpu_command},
    {TP_KGSL_WAITTIMESTAMP_CTXTID, "WAITTIMESTAMP_CTXTID", TP_KGSL_SITE_WAIT, false,
     wait_timestamp},
    {TP_KGSL_READTIMESTAMP_CTXTID, "READTIMESTAMP_CTXTID", TP_KGSL_SITE_ANY, false,
     read_timestamp},
    {TP_KGSL_TIMESTAMP_EVENT, "TIMESTAMP_EVENT", TP_KGSL_SITE_FENCE, false, timestamp_event},
    {TP_KGSL_DRAWCTXT_CREATE, "DRAWCTXT_CREATE", TP_KGSL_SITE_CONTEXT, false, context_create},
    {TP_KGSL_DRAWCTXT_DESTROY, "DRAWCTXT_DESTROY", TP_KGSL_SITE_ANY, false, context_destroy},
    {TP_KGSL_GPU_AUX_COMMAND, "GPU_AUX_COMMAND", TP_KGSL_SITE_SUBMIT, true, aux_command},
    {TP_KGSL_TIMELINE_CREATE, "TIMELINE_CREATE", TP_KGSL_SITE_TIMELINE, true, timeline_create},
    {TP_KGSL_TIMELINE_WAIT, "TIMELINE_WAIT", TP_KGSL_SITE_WAIT, true, timeline_wait},
    {TP_KGSL_TIMELINE_QUERY, "TIMELINE_QUERY", TP_KGSL_SITE_TIMELINE, true, timeline_query},
    {TP_KGSL_TIMELINE_SIGNAL, "TIMELINE_SIGNAL", TP_KGSL_SITE_TIMELINE, true, timeline_signal},
    {TP_KGSL_TIMELINE_FENCE_GET, "TIMELINE_FENCE_GET", TP_KGSL_SITE_FENCE, true, timeline_fence},
    {TP_KGSL_TIMELINE_DESTROY, "TIMELINE_DESTROY", TP_KGSL_SITE_TIMELINE, true, timeline_destroy},
};
const size_t tp_kgsl_submit_request_count =
    sizeof tp_kgsl_submit_requests / sizeof tp_kgsl_submit_requests[0];
