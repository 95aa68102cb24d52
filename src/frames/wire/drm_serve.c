/* The server's side of drm_call.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frames/wire/drm_call.h"
#include "frames/wire/drm_table.h"

#define HEAD 8u

/* What lies at the head of a call's memory; then the core's struct, then the arrays. */
struct asked {
    const struct tp_drm_row *row; /* NULL: a request that is not in the table */
    uint32_t request;             /* as it stood in the frame */
    uint64_t wire[TP_DRM_STRUCT_WORDS];
    struct {
        size_t offset; /* in the memory; 0: there is no such array */
        uint64_t n;
    } arrays[TP_DRM_ARRAYS];
};

#define ARG_AT tp_drm_padded(sizeof(struct asked))
#define ARRAYS_AT (ARG_AT + TP_DRM_STRUCT_WORDS * sizeof(uint64_t))

static int need_memory(struct tp_drm_call *call, size_t bytes)
{
    uint8_t *memory;

    if (bytes <= call->memory_bytes)
        return 0;
    memory = realloc(call->memory, bytes);
    if (!memory)
        return -ENOMEM;
    call->memory = memory;
    call->memory_bytes = bytes;
    return 0;
}

/* Finds how many elements an array has and where in the payload they are; *at: how far that is read. */
static int measure(const struct tp_drm_array *a, struct asked *asked, unsigned i,
                   const struct tp_frame *f, const uint8_t **from, size_t *at, size_t *memory)
{
    bool there = tp_drm_get(asked->wire, a->pointer, 8) != 0;
    uint64_t n = tp_drm_get(asked->wire, a->count, a->count_bytes);
    size_t left = f->payload_bytes - *at, bytes;

    if (a->flags & TP_DRM_SUM) {
        n = 0;
        for (uint64_t k = 0; k < asked->arrays[1].n; k++) {
            uint32_t v;

            memcpy(&v, from[1] + k * sizeof v, sizeof v);
            n += v;
        }
    }
    if ((a->flags & TP_DRM_OUT) && n > a->most)
        return -EBADMSG;
    if ((a->flags & TP_DRM_IN) && !there) {
        if (n > 0 && !(a->flags & TP_DRM_NULLABLE))
            return -EBADMSG;
        return 0;
    }
    if (!there && n == 0)
        return 0;
    if ((a->flags & TP_DRM_IN) && n > left / a->element_bytes)
        return -EBADMSG;
    bytes = tp_drm_padded((size_t)n * a->element_bytes);
    if (a->flags & TP_DRM_IN) {
        if (bytes > left)
            return -EBADMSG;
        from[i] = f->payload + *at;
        *at += bytes;
    }
    asked->arrays[i].offset = *memory;
    asked->arrays[i].n = n;
    *memory += bytes > 0 ? bytes : sizeof(uint64_t);
    return 0;
}

static int take_apart(const struct tp_frame *f, struct tp_drm_call *out)
{
    struct asked asked = {0};
    const struct tp_drm_row *row;
    const uint8_t *from[TP_DRM_ARRAYS] = {0};
    uint64_t wire[TP_DRM_STRUCT_WORDS], native[TP_DRM_STRUCT_WORDS];
    size_t at = HEAD, memory = ARRAYS_AT, struct_bytes;
    int r;

    if (f->fourcc != TP_FRAME_CALL || f->payload_bytes < HEAD)
        return -EBADMSG;
    memcpy(&asked.request, f->payload, sizeof asked.request);
    out->request = asked.request;
    row = asked.row = tp_drm_row(asked.request);
    struct_bytes = tp_drm_padded(_IOC_SIZE(asked.request));
    if (row && struct_bytes > f->payload_bytes - at)
        return -EBADMSG;
    if (row) {
        memcpy(asked.wire, f->payload + at,
               _IOC_SIZE(asked.request) < row->bytes ? _IOC_SIZE(asked.request) : row->bytes);
        at += struct_bytes;
    }
    for (unsigned i = 0; row && i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        r = measure(&row->arrays[i], &asked, i, f, from, &at, &memory);
        if (r < 0)
            return r;
    }
    if (row && at != f->payload_bytes)
        return -EBADMSG;
    if (row && row->in_fd != TP_DRM_NO_FD &&
        tp_drm_get(asked.wire, row->in_fd, 4) >= out->n_in_fds)
        return -EBADMSG;
    r = need_memory(out, memory);
    if (r < 0)
        return r;
    memset(out->memory, 0, memory);
    memcpy(out->memory, &asked, sizeof asked);
    if (!row)
        return -EINVAL;
    memcpy(wire, asked.wire, sizeof wire);
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        uint8_t *to = asked.arrays[i].offset > 0 ? out->memory + asked.arrays[i].offset : NULL;

        if (from[i])
            memcpy(to, from[i], (size_t)asked.arrays[i].n * row->arrays[i].element_bytes);
        tp_drm_set(wire, row->arrays[i].pointer, 8, (uintptr_t)to);
    }
    tp_drm_from_wire(row, wire, native);
    out->arg = memcpy(out->memory + ARG_AT, native, sizeof native);
    out->arg_bytes = row->native_bytes > row->bytes ? row->native_bytes : row->bytes;
    out->request = row->request;
    return 0;
}

int tp_drm_call_decode(struct tp_frame *f, struct tp_drm_call *out)
{
    tp_drm_call_reset(out);
    for (unsigned i = 0; i < f->n_fds; i++)
        out->in_fds[out->n_in_fds++] = tp_frame_take_fd(f, i);
    return take_apart(f, out);
}

ssize_t tp_drm_reply_encode(const struct tp_drm_call *call, int result, uint8_t *out, size_t room)
{
    const struct asked *asked = (const void *)call->memory;
    const struct tp_drm_row *row = call->arg ? asked->row : NULL;
    uint64_t wire[TP_DRM_STRUCT_WORDS];
    uint32_t request = row ? asked->request : (uint32_t)call->request;
    size_t len = HEAD, struct_bytes;

    if (room < HEAD)
        return -E2BIG;
    memcpy(out, &(int32_t){result}, sizeof(int32_t));
    memcpy(out + sizeof(int32_t), &request, sizeof request);
    if (!row)
        return (ssize_t)len;
    tp_drm_to_wire(row, call->arg, wire);
    struct_bytes = tp_drm_padded(_IOC_SIZE(request));
    if (struct_bytes > room - len)
        return -E2BIG;
    memset(out + len, 0, struct_bytes);
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++)
        tp_drm_set(wire, row->arrays[i].pointer, 8, 0);
    memcpy(out + len, wire,
           _IOC_SIZE(request) < row->bytes ? _IOC_SIZE(request) : row->bytes);
    len += struct_bytes;
    if (row->atomic && result >= 0 && call->n_out_fds > 0) { /* where the core has put indices */
        size_t bytes = (size_t)asked->arrays[3].n * row->arrays[3].element_bytes;

        if (bytes > room - len)
            return -E2BIG;
        memcpy(out + len, call->memory + asked->arrays[3].offset, bytes);
        len += bytes;
    }
    for (unsigned i = 0; result >= 0 && i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        uint64_t n = tp_drm_came_out(a, asked->arrays[i].n,
                                     tp_drm_get(wire, a->count, a->count_bytes));
        size_t bytes = (size_t)n * a->element_bytes;

        if (!(a->flags & TP_DRM_OUT) || n == 0)
            continue;
        if (tp_drm_padded(bytes) > room - len)
            return -E2BIG;
        memset(out + len, 0, tp_drm_padded(bytes));
        memcpy(out + len, call->memory + asked->arrays[i].offset, bytes);
        len += tp_drm_padded(bytes);
    }
    return (ssize_t)len;
}

static void close_all(int *fds, unsigned *n)
{
    for (unsigned i = 0; i < *n; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
    *n = 0;
}

void tp_drm_call_reset(struct tp_drm_call *call)
{
    close_all(call->in_fds, &call->n_in_fds);
    close_all(call->out_fds, &call->n_out_fds);
    call->request = 0;
    call->arg = NULL;
    call->arg_bytes = 0;
}

void tp_drm_call_finish(struct tp_drm_call *call)
{
    tp_drm_call_reset(call);
    free(call->memory);
    *call = (struct tp_drm_call){0};
}
