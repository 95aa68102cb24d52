#include "frames/wire/drm_call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm.h>
#include <drm_mode.h>

#include "frames/wire/drm_table.h"

#define HEAD 8u /* request or result, before the struct */

/* What is written so far of a payload. */
struct sink {
    uint8_t *out;
    size_t room, len;
};

/* The next bytes of it, zero-padded to 8; NULL: there is no room. */
static uint8_t *sink_take(struct sink *s, size_t bytes)
{
    uint8_t *p = s->out + s->len;

    if (bytes > s->room - s->len || tp_drm_padded(bytes) > s->room - s->len)
        return NULL;
    memset(p + bytes, 0, tp_drm_padded(bytes) - bytes);
    s->len += tp_drm_padded(bytes);
    return p;
}

bool tp_drm_call_known(unsigned long request)
{
    return tp_drm_row(request) != NULL;
}

/* The part of the caller's struct that a direction moves: none where its request or ours says so. */
static size_t user_bytes(const struct tp_drm_row *row, unsigned long request, unsigned long dir)
{
    size_t bytes = _IOC_SIZE(request);

    if (!(_IOC_DIR(request) & _IOC_DIR(row->request) & dir))
        return 0;
    return bytes < TP_DRM_STRUCT_WORDS * 8 ? bytes : TP_DRM_STRUCT_WORDS * 8;
}

static void read_struct(const struct tp_drm_row *row, unsigned long request, const void *arg,
                        uint64_t *wire)
{
    uint64_t native[TP_DRM_STRUCT_WORDS] = {0};
    size_t bytes = user_bytes(row, request, _IOC_WRITE);

    if (bytes > 0)
        memcpy(native, arg, bytes);
    tp_drm_to_wire(row, native, wire);
}

static const void *user_array(const uint64_t *wire, const struct tp_drm_array *a)
{
    return (const void *)(uintptr_t)tp_drm_get(wire, a->pointer, 8);
}

static uint64_t sum_u32(const void *values, uint64_t n)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t v;

        memcpy(&v, (const char *)values + i * sizeof v, sizeof v);
        sum += v;
    }
    return sum;
}

static int lend_fd(const struct tp_drm_row *row, int fd, int *fds, unsigned *n_fds)
{
    if (fd < 0 || fcntl(fd, F_GETFD) < 0)
        return row->bad_fd;
    if (*n_fds == TP_FRAME_FDS)
        return -E2BIG;
    fds[(*n_fds)++] = fd;
    return 0;
}

/* Puts indices in the place of an atomic commit's descriptors and addresses. */
static int name_fences(const struct tp_drm_row *row, const struct tp_drm_fences *fences,
                       const uint8_t *props, uint8_t *values, uint64_t n, int *fds, unsigned *n_fds)
{
    unsigned n_out = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint32_t prop;
        uint64_t value;

        memcpy(&prop, props + i * sizeof prop, sizeof prop);
        memcpy(&value, values + i * sizeof value, sizeof value);
        if (prop != 0 && prop == fences->in_fence_fd && (int64_t)value != -1) {
            int r = lend_fd(row, (int)(int64_t)value, fds, n_fds);

            if (r < 0)
                return r;
            value = *n_fds - 1;
        } else if (prop != 0 && prop == fences->out_fence_ptr && value != 0) {
            if (n_out == TP_FRAME_FDS)
                return -E2BIG;
            value = ++n_out;
        }
        memcpy(values + i * sizeof value, &value, sizeof value);
    }
    return 0;
}

/* Writes the arrays that go in, and makes the struct say what is there and how much room is asked for. */
static int put_arrays(const struct tp_drm_row *row, uint64_t *wire, struct sink *s,
                      uint8_t *places[TP_DRM_ARRAYS], uint64_t counts[TP_DRM_ARRAYS])
{
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        const void *from = user_array(wire, a);
        uint64_t n = tp_drm_get(wire, a->count, a->count_bytes);

        if (a->flags & TP_DRM_SUM)
            n = sum_u32(places[1], counts[1]);
        tp_drm_set(wire, a->pointer, 8, from != NULL);
        if ((a->flags & TP_DRM_OUT) && n > a->most) {
            if (a->flags & TP_DRM_FIXED)
                return row->too_many;
            n = a->most;
            tp_drm_set(wire, a->count, a->count_bytes, n);
        }
        counts[i] = n;
        if ((a->flags & TP_DRM_OUT) || n == 0)
            continue;
        if (!from) {
            if (!(a->flags & TP_DRM_NULLABLE))
                return row->no_array;
            continue;
        }
        places[i] = n > s->room / a->element_bytes ? NULL
                                                   : sink_take(s, (size_t)n * a->element_bytes);
        if (!places[i])
            return row->too_many;
        memcpy(places[i], from, (size_t)n * a->element_bytes);
    }
    return 0;
}

ssize_t tp_drm_call_encode(unsigned long request, const void *arg,
                           const struct tp_drm_fences *fences, uint8_t *out, size_t room, int *fds,
                           unsigned *n_fds)
{
    const struct tp_drm_row *row = tp_drm_row(request);
    uint64_t wire[TP_DRM_STRUCT_WORDS];
    uint8_t *places[TP_DRM_ARRAYS] = {0};
    uint64_t counts[TP_DRM_ARRAYS] = {0};
    struct sink s = {out, room, 0};
    uint8_t *head, *body;
    int r;

    *n_fds = 0;
    if (!row)
        return -EINVAL;
    if (!arg && _IOC_SIZE(request) > 0 && _IOC_SIZE(row->request) > 0)
        return -EFAULT;
    head = sink_take(&s, HEAD);
    body = head ? sink_take(&s, row->bytes) : NULL;
    if (!body)
        return -E2BIG;
    read_struct(row, request, arg, wire);
    r = put_arrays(row, wire, &s, places, counts);
    if (r == 0 && row->atomic && places[3])
        r = name_fences(row, fences, places[2], places[3], counts[3], fds, n_fds);
    if (r == 0 && row->in_fd != TP_DRM_NO_FD) {
        r = lend_fd(row, (int)tp_drm_get(wire, row->in_fd, 4), fds, n_fds);
        tp_drm_set(wire, row->in_fd, 4, 0);
    }
    if (r < 0)
        return r;
    memset(head, 0, HEAD);
    memcpy(head, &(uint32_t){tp_drm_wire_request(row)}, sizeof(uint32_t));
    memcpy(body, wire, row->bytes);
    return (ssize_t)s.len;
}

/* What is still unread of an answer. */
struct source {
    const uint8_t *at;
    size_t left;
};

static const uint8_t *source_take(struct source *s, size_t bytes)
{
    const uint8_t *p = s->at;

    if (bytes > s->left || tp_drm_padded(bytes) > s->left)
        return NULL;
    s->at += tp_drm_padded(bytes);
    s->left -= tp_drm_padded(bytes);
    return p;
}

/* Gives the caller the arrays that came out; asked: the struct as it was sent. */
static int get_arrays(const struct tp_drm_row *row, const uint64_t *asked, const uint64_t *now,
                      struct source *s)
{
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        void *to = (void *)(uintptr_t)tp_drm_get(asked, a->pointer, 8);
        uint64_t room = tp_drm_get(asked, a->count, a->count_bytes);
        uint64_t n = tp_drm_came_out(a, room < a->most ? room : a->most,
                                     tp_drm_get(now, a->count, a->count_bytes));
        const uint8_t *from;

        if (!(a->flags & TP_DRM_OUT) || n == 0)
            continue;
        from = source_take(s, (size_t)n * a->element_bytes);
        if (!from)
            return -EIO;
        if (to)
            memcpy(to, from, (size_t)n * a->element_bytes);
        else if (!(a->flags & TP_DRM_NULLABLE))
            return -EFAULT;
    }
    return 0;
}

/* Gives the caller an atomic commit's fences: each address gets a descriptor, or -1 as from the kernel
 * where there is none. The answer has the values again, with indices for the addresses, where any fence
 * came. */
static int get_fences(const struct tp_drm_row *row, const uint64_t *asked,
                      const struct tp_drm_fences *fences, struct source *s, struct tp_frame *reply)
{
    const char *counts = user_array(asked, &row->arrays[1]);
    const char *props = user_array(asked, &row->arrays[2]);
    const char *values = user_array(asked, &row->arrays[3]);
    uint64_t n = counts ? sum_u32(counts, tp_drm_get(asked, row->arrays[1].count, 4)) : 0;
    const uint8_t *now = NULL;

    if (!props || !values || n > TP_FRAME_BYTES)
        return 0;
    if (s->left > 0 && !(now = source_take(s, (size_t)n * sizeof(uint64_t))))
        return -EIO;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t prop;
        uint64_t value, index;
        int32_t fd = -1;

        memcpy(&prop, props + i * sizeof prop, sizeof prop);
        memcpy(&value, values + i * sizeof value, sizeof value);
        if (prop == 0 || prop != fences->out_fence_ptr || value == 0)
            continue;
        if (now) {
            memcpy(&index, now + i * sizeof index, sizeof index);
            fd = index < TP_FRAME_FDS ? tp_frame_take_fd(reply, (unsigned)index) : -1;
        }
        memcpy((void *)(uintptr_t)value, &fd, sizeof fd);
    }
    return 0;
}

/* Received descriptors are close-on-exec; these requests have a flag for it. */
static void set_fd_flags(const struct tp_drm_row *row, const uint64_t *asked, int fd)
{
    unsigned flags_at;

    switch (_IOC_NR(row->request)) {
    case _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
        flags_at = offsetof(struct drm_prime_handle, flags);
        break;
    case _IOC_NR(DRM_IOCTL_MODE_CREATE_LEASE):
        flags_at = offsetof(struct drm_mode_create_lease, flags);
        break;
    default: /* the kernel's others always are close-on-exec */
        return;
    }
    if (!(tp_drm_get(asked, flags_at, 4) & O_CLOEXEC))
        fcntl(fd, F_SETFD, 0);
}

/* A count that was cut for the wire and came back as it was is what the caller said. */
static void restore_counts(const struct tp_drm_row *row, const uint64_t *asked, uint64_t *now)
{
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        uint64_t said = tp_drm_get(asked, a->count, a->count_bytes);

        tp_drm_set(now, a->pointer, 8, tp_drm_get(asked, a->pointer, 8));
        if ((a->flags & TP_DRM_OUT) && said > a->most &&
            tp_drm_get(now, a->count, a->count_bytes) == a->most)
            tp_drm_set(now, a->count, a->count_bytes, said);
    }
}

int tp_drm_reply_decode(unsigned long request, void *arg, const struct tp_drm_fences *fences,
                        struct tp_frame *reply)
{
    const struct tp_drm_row *row = tp_drm_row(request);
    struct source s = {reply->payload, reply->payload_bytes};
    uint64_t asked[TP_DRM_STRUCT_WORDS], now[TP_DRM_STRUCT_WORDS] = {0};
    uint64_t native[TP_DRM_STRUCT_WORDS];
    const uint8_t *head, *body;
    uint32_t answered;
    int32_t result;
    int r, fd = -1;

    if (!row)
        return -EINVAL;
    if (reply->fourcc != TP_FRAME_REPLY || !(head = source_take(&s, HEAD)))
        return -EIO;
    memcpy(&result, head, sizeof result);
    memcpy(&answered, head + sizeof result, sizeof answered);
    if (result < -4095 || answered != tp_drm_wire_request(row))
        return -EIO;
    if (result < 0 && s.left == 0) /* refused as a whole: the caller's struct stays */
        return result;
    body = source_take(&s, row->bytes);
    if (!body)
        return -EIO;
    read_struct(row, request, arg, asked);
    memcpy(now, body, row->bytes);
    if (row->atomic && (r = get_fences(row, asked, fences, &s, reply)) < 0)
        return r;
    if (result >= 0 && (r = get_arrays(row, asked, now, &s)) < 0)
        return r;
    restore_counts(row, asked, now);
    if (row->in_fd != TP_DRM_NO_FD)
        tp_drm_set(now, row->in_fd, 4, tp_drm_get(asked, row->in_fd, 4));
    if (row->out_fd != TP_DRM_NO_FD) {
        if (result >= 0) {
            fd = tp_frame_take_fd(reply, (unsigned)tp_drm_get(now, row->out_fd, 4));
            if (fd < 0)
                return -EIO;
            set_fd_flags(row, asked, fd);
            tp_drm_set(now, row->out_fd, 4, (uint32_t)fd);
        } else {
            tp_drm_set(now, row->out_fd, 4, tp_drm_get(asked, row->out_fd, 4));
        }
    }
    tp_drm_from_wire(row, now, native);
    size_t bytes = user_bytes(row, request, _IOC_READ);
    if (bytes) /* a request without an argument has no place for one */
        memcpy(arg, native, bytes);
    return result;
}
