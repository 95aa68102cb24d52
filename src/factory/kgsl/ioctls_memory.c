/* Requests about memory, properties and counters. */
#include "ioctls.h"

#include "fence.h"
#include "process.h"
#include "uapi.h"

#include <errno.h>
#include <string.h>

#define TICKS(ns) ((uint64_t)(ns) * 12 / 625)

static int alloc_id(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpumem_alloc_id *a = call->argument;
    struct tp_kgsl_buffer *buffer = NULL;
    tp_kgsl_line_number(call->line, "size", a->size);
    tp_kgsl_line_hex(call->line, "flags", a->flags);
    int r = tp_kgsl_alloc(tp_process_device(), a->size, a->flags, &buffer);
    if (r)
        return r;
    a->id = buffer->id;
    a->flags = (uint32_t)buffer->flags;
    a->size = a->mmapsize = buffer->size;
    a->gpuaddr = buffer->gpuaddr;
    tp_kgsl_line_number(call->line, "id", a->id);
    tp_kgsl_line_hex(call->line, "gpuaddr", a->gpuaddr);
    return 0;
}

static int free_id(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpumem_free_id *f = call->argument;
    tp_kgsl_line_number(call->line, "id", f->id);
    return tp_kgsl_free(tp_process_device(), f->id);
}

static int get_info(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpumem_get_info *info = call->argument;
    struct tp_kgsl_buffer *buffer = info->id ? tp_kgsl_find(tp_process_device(), info->id)
                                             : tp_kgsl_find_address(tp_process_device(),
                                                                    info->gpuaddr);
    tp_kgsl_line_number(call->line, "id", info->id);
    if (!buffer)
        return -EINVAL;
    info->gpuaddr = buffer->gpuaddr;
    info->id = buffer->id;
    info->flags = (uint32_t)buffer->flags;
    info->size = info->mmapsize = buffer->size;
    info->useraddr = buffer->flags & TP_KGSL_MEMFLAGS_USE_CPU_MAP ? buffer->gpuaddr : 0;
    return 0;
}

static int sync_cache(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpumem_sync_cache *s = call->argument;
    tp_kgsl_line_number(call->line, "id", s->id);
    bool found = s->id ? tp_kgsl_find(tp_process_device(), s->id) != NULL
                       : tp_kgsl_find_address(tp_process_device(), s->gpuaddr) != NULL;
    return found ? 0 : -EINVAL;
}

static int gpuobj_alloc(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpuobj_alloc *a = call->argument;
    struct tp_kgsl_buffer *buffer = NULL;
    tp_kgsl_line_number(call->line, "size", a->size);
    tp_kgsl_line_hex(call->line, "flags", a->flags);
    int r = tp_kgsl_alloc(tp_process_device(), a->size, a->flags, &buffer);
    if (r)
        return r;
    a->id = buffer->id;
    a->flags = buffer->flags;
    a->size = a->mmapsize = buffer->size;
    tp_kgsl_line_number(call->line, "id", a->id);
    tp_kgsl_line_hex(call->line, "gpuaddr", buffer->gpuaddr);
    return 0;
}

static int free_on_event(const struct tp_kgsl_gpuobj_free *f)
{
    struct tp_kgsl_syncpoint_timestamp ts;
    struct tp_kgsl_syncpoint_fence fence;
    if (!f->priv)
        return -EFAULT;
    if (f->type == TP_KGSL_GPU_EVENT_TIMESTAMP && f->len >= sizeof ts) {
        memcpy(&ts, (const void *)(uintptr_t)f->priv, sizeof ts);
        return tp_kgsl_free_after(tp_process_device(), f->id, ts.context_id, ts.timestamp);
    }
    if (f->type == TP_KGSL_GPU_EVENT_FENCE && f->len >= sizeof fence) {
        memcpy(&fence, (const void *)(uintptr_t)f->priv, sizeof fence);
        return tp_process_free_after_fence(f->id, fence.fd);
    }
    return -EINVAL;
}

static int gpuobj_free(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpuobj_free *f = call->argument;
    tp_kgsl_line_number(call->line, "id", f->id);
    tp_kgsl_line_hex(call->line, "flags", f->flags);
    if (f->flags & TP_KGSL_GPUOBJ_FREE_ON_EVENT)
        return free_on_event(f);
    return tp_kgsl_free(tp_process_device(), f->id);
}

static int gpuobj_info(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpuobj_info *info = call->argument;
    struct tp_kgsl_buffer *buffer = tp_kgsl_find(tp_process_device(), info->id);
    tp_kgsl_line_number(call->line, "id", info->id);
    if (!buffer)
        return -EINVAL;
    info->gpuaddr = buffer->gpuaddr;
    info->flags = buffer->flags;
    info->size = info->va_len = buffer->size;
    info->va_addr = buffer->flags & TP_KGSL_MEMFLAGS_USE_CPU_MAP ? buffer->gpuaddr : 0;
    tp_kgsl_line_number(call->line, "size", info->size);
    tp_kgsl_line_hex(call->line, "gpuaddr", info->gpuaddr);
    return 0;
}

static int gpuobj_import(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpuobj_import *import = call->argument;
    struct tp_kgsl_gpuobj_import_dma_buf dma_buf;
    struct tp_kgsl_buffer *buffer = NULL;
    tp_kgsl_line_number(call->line, "type", import->type);
    if (import->type != TP_KGSL_USER_MEM_TYPE_DMABUF)
        return -EOPNOTSUPP;
    if (!import->priv || import->priv_len < sizeof dma_buf)
        return -EINVAL;
    memcpy(&dma_buf, (const void *)(uintptr_t)import->priv, sizeof dma_buf);
    tp_kgsl_line_signed(call->line, "dmabuf", dma_buf.fd);
    int r = tp_process_import(dma_buf.fd, import->flags, &buffer);
    if (r)
        return r;
    import->id = buffer->id;
    tp_kgsl_line_number(call->line, "id", import->id);
    tp_kgsl_line_number(call->line, "size", buffer->size);
    return 0;
}

static int gpuobj_sync(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpuobj_sync *s = call->argument;
    tp_kgsl_line_number(call->line, "count", s->count);
    return s->count && !s->objs ? -EFAULT : 0; /* caches are coherent here */
}

static int set_info(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpuobj_set_info *info = call->argument;
    tp_kgsl_line_number(call->line, "id", info->id);
    return tp_kgsl_find(tp_process_device(), info->id) ? 0 : -EINVAL;
}

static int bind_ranges(struct tp_kgsl_call *call)
{
    struct tp_kgsl_gpumem_bind_ranges *b = call->argument;
    struct tp_kgsl_gpumem_bind_range range;
    const char *at = (const char *)(uintptr_t)b->ranges;
    tp_kgsl_line_number(call->line, "id", b->id);
    tp_kgsl_line_number(call->line, "ranges", b->ranges_nents);
    tp_kgsl_line_hex(call->line, "flags", b->flags);
    if (!b->ranges_nents || b->ranges_nents > TP_KGSL_MAX_LIST || b->ranges_size < sizeof range ||
        b->flags & ~(TP_KGSL_GPUMEM_BIND_ASYNC | TP_KGSL_GPUMEM_BIND_FENCE_OUT))
        return -EINVAL;
    if (!at)
        return -EFAULT;
    for (uint32_t i = 0; i < b->ranges_nents; i++, at += b->ranges_size) {
        memcpy(&range, at, sizeof range);
        int r = tp_kgsl_bind(tp_process_device(), b->id, &range);
        if (r)
            return r;
    }
    b->fence_id = -1;
    if (b->flags & TP_KGSL_GPUMEM_BIND_FENCE_OUT) {
        int fd, signal, r = tp_kgsl_fence_create(&fd, &signal);
        if (r)
            return r;
        tp_kgsl_fence_signal(signal); /* binding is over already */
        b->fence_id = fd;
    }
    return 0;
}

static int get_property(struct tp_kgsl_call *call)
{
    struct tp_kgsl_property *p = call->argument;
    uint64_t value = 0;
    tp_kgsl_line_hex(call->line, "type", p->type);
    if (!p->value)
        return -EFAULT;
    if (p->type == TP_KGSL_PROP_GPU_RESET_STAT && p->sizebytes == 4) {
        memcpy(&value, p->value, 4);
        tp_kgsl_line_number(call->line, "context", value);
    }
    int r = tp_kgsl_get_property(tp_process_device(), p->type, p->value, p->sizebytes);
    if (!r && p->sizebytes <= sizeof value) {
        value = 0;
        memcpy(&value, p->value, (size_t)p->sizebytes);
        tp_kgsl_line_hex(call->line, "value", value);
    }
    return r;
}

static int set_property(struct tp_kgsl_call *call)
{
    struct tp_kgsl_property *p = call->argument;
    struct tp_kgsl_constraint c;
    uint32_t level;
    tp_kgsl_line_hex(call->line, "type", p->type);
    if (!p->value)
        return -EFAULT;
    tp_kgsl_line_number(call->line, "size", p->sizebytes);
    if (p->type == TP_KGSL_PROP_PWR_CONSTRAINT && p->sizebytes == sizeof c) {
        memcpy(&c, p->value, sizeof c);
        tp_kgsl_line_number(call->line, "constraint", c.type);
        tp_kgsl_line_number(call->line, "context", c.context_id);
        if (c.data && c.size == sizeof level) {
            memcpy(&level, c.data, sizeof level);
            tp_kgsl_line_number(call->line, "level", level);
        }
    } else if (p->sizebytes == sizeof level) {
        memcpy(&level, p->value, sizeof level);
        tp_kgsl_line_number(call->line, "value", level);
    }
    return tp_kgsl_set_property(tp_process_device(), p->type, p->value, p->sizebytes);
}

/* Counters can be had, and stand at 0. */
static int perfcounter_get(struct tp_kgsl_call *call)
{
    struct tp_kgsl_perfcounter_get *g = call->argument;
    tp_kgsl_line_number(call->line, "group", g->groupid);
    tp_kgsl_line_number(call->line, "countable", g->countable);
    g->offset = g->offset_hi = 0;
    return 0;
}

static int perfcounter_put(struct tp_kgsl_call *call)
{
    struct tp_kgsl_perfcounter_put *p = call->argument;
    tp_kgsl_line_number(call->line, "group", p->groupid);
    tp_kgsl_line_number(call->line, "countable", p->countable);
    return 0;
}

static int perfcounter_read(struct tp_kgsl_call *call)
{
    struct tp_kgsl_perfcounter_read *r = call->argument;
    tp_kgsl_line_number(call->line, "count", r->count);
    if (!r->reads)
        return -EFAULT;
    if (!r->count || r->count > 100)
        return -EINVAL;
    for (uint32_t i = 0; i < r->count; i++) {
        bool always_on = r->reads[i].groupid == TP_KGSL_PERFCOUNTER_GROUP_ALWAYSON;
        r->reads[i].value = always_on ? TICKS(tp_process_now()) : 0;
    }
    return 0;
}

const struct tp_kgsl_request tp_kgsl_memory_requests[] = {
    {TP_KGSL_GETPROPERTY, "GETPROPERTY", TP_KGSL_SITE_PROPERTY, false, get_property},
    {TP_KGSL_SETPROPERTY, "SETPROPERTY", TP_KGSL_SITE_SETPROPERTY, false, set_property},
    {TP_KGSL_GPUMEM_ALLOC_ID, "GPUMEM_ALLOC_ID", TP_KGSL_SITE_ALLOC, false, alloc_id},
    {TP_KGSL_GPUMEM_FREE_ID, "GPUMEM_FREE_ID", TP_KGSL_SITE_FREE, false, free_id},
    {TP_KGSL_GPUMEM_GET_INFO, "GPUMEM_GET_INFO", TP_KGSL_SITE_PROPERTY, false, get_info},
    {TP_KGSL_GPUMEM_SYNC_CACHE, "GPUMEM_SYNC_CACHE", TP_KGSL_SITE_ANY, false, sync_cache},
    {TP_KGSL_GPUOBJ_ALLOC, "GPUOBJ_ALLOC", TP_KGSL_SITE_ALLOC, false, gpuobj_alloc},
    {TP_KGSL_GPUOBJ_FREE, "GPUOBJ_FREE", TP_KGSL_SITE_FREE, false, gpuobj_free},
    {TP_KGSL_GPUOBJ_INFO, "GPUOBJ_INFO", TP_KGSL_SITE_PROPERTY, false, gpuobj_info},
    {TP_KGSL_GPUOBJ_IMPORT, "GPUOBJ_IMPORT", TP_KGSL_SITE_IMPORT, false, gpuobj_import},
    {TP_KGSL_GPUOBJ_SYNC, "GPUOBJ_SYNC", TP_KGSL_SITE_ANY, false, gpuobj_sync},
    {TP_KGSL_GPUOBJ_SET_INFO, "GPUOBJ_SET_INFO", TP_KGSL_SITE_ANY, false, set_info},
    {TP_KGSL_GPUMEM_BIND_RANGES, "GPUMEM_BIND_RANGES", TP_KGSL_SITE_BIND, true, bind_ranges},
    {TP_KGSL_PERFCOUNTER_GET, "PERFCOUNTER_GET", TP_KGSL_SITE_ANY, false, perfcounter_get},
    {TP_KGSL_PERFCOUNTER_PUT, "PERFCOUNTER_PUT", TP_KGSL_SITE_ANY, false, perfcounter_put},
    {TP_KGSL_PERFCOUNTER_READ, "PERFCOUNTER_READ", TP_KGSL_SITE_ANY, false, perfcounter_read},
};
const size_t tp_kgsl_memory_request_count =
    sizeof tp_kgsl_memory_requests / sizeof tp_kgsl_memory_requests[0];
