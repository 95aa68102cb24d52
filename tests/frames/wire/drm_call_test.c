#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <drm.h>
#include <drm_mode.h>

#include "frames/wire/drm_call.h"
#include "frames/wire/drm_table.h"

#define IN_FENCE 71u
#define OUT_FENCE 72u

static const struct tp_drm_fences fences = {IN_FENCE, OUT_FENCE};
static int ends[2];
static uint8_t *buffer, *payload;
static struct tp_drm_call call; /* the server's, kept from test to test */

static int start(void **state)
{
    (void)state;
    buffer = malloc(TP_FRAME_BYTES);
    payload = malloc(TP_FRAME_BYTES);
    return !buffer || !payload || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0;
}

static int stop(void **state)
{
    (void)state;
    free(buffer);
    free(payload);
    close(ends[0]);
    close(ends[1]);
    tp_drm_call_finish(&call);
    return 0;
}

/* The client's half of a call: 0, or what the encoder says. */
static int ask(unsigned long request, const void *arg)
{
    int fds[TP_FRAME_FDS];
    unsigned n_fds;
    ssize_t n = tp_drm_call_encode(request, arg, &fences, payload, TP_FRAME_BYTES - 16, fds, &n_fds);
    struct iovec part = {payload, (size_t)n};
    struct tp_frame f;
    int r;

    if (n < 0)
        return (int)n;
    assert_int_equal(tp_frame_send(ends[0], TP_FRAME_CALL, 0, 1, &part, 1, fds, n_fds), 0);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), 0);
    r = tp_drm_call_decode(&f, &call);
    tp_frame_finish(&f);
    return r;
}

/* The server's answer, as the client sees it. */
static int answer(unsigned long request, void *arg, int result)
{
    ssize_t n = tp_drm_reply_encode(&call, result, payload, TP_FRAME_BYTES - 16);
    struct iovec part = {payload, (size_t)n};
    int fds[TP_FRAME_FDS];
    unsigned n_fds = 0;
    struct tp_frame f;
    int r;

    assert_true(n >= 8);
    for (unsigned i = 0; i < call.n_out_fds; i++) {
        if (call.out_fds[i] >= 0)
            fds[n_fds++] = call.out_fds[i];
    }
    assert_int_equal(tp_frame_send(ends[1], TP_FRAME_REPLY, 0, 1, &part, 1, fds, n_fds), 0);
    tp_drm_call_reset(&call);
    assert_int_equal(tp_frame_recv(ends[0], buffer, &f), 0);
    r = tp_drm_reply_decode(request, arg, &fences, &f);
    tp_frame_finish(&f);
    return r;
}

static void fill(void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)p)[i] = (uint8_t)(rand() >> 7);
}

/* One random call of a row and its random answer. Arrays have room_n elements, and now_n come back. */
static void round_trip(const struct tp_drm_row *row, uint64_t room_n, uint64_t now_n)
{
    uint64_t wire[TP_DRM_STRUCT_WORDS], native[TP_DRM_STRUCT_WORDS], before[TP_DRM_STRUCT_WORDS];
    uint64_t seen[TP_DRM_STRUCT_WORDS], given[TP_DRM_STRUCT_WORDS];
    uint64_t elements[TP_DRM_ARRAYS] = {0};
    uint8_t *mine[TP_DRM_ARRAYS] = {0}, *sent[TP_DRM_ARRAYS] = {0};
    bool in = _IOC_DIR(row->request) & _IOC_WRITE, out = _IOC_DIR(row->request) & _IOC_READ;
    unsigned n_arrays = 0;

    fill(wire, sizeof wire);
    while (n_arrays < TP_DRM_ARRAYS && row->arrays[n_arrays].count_bytes > 0)
        n_arrays++;
    for (unsigned i = 0; i < n_arrays; i++)
        tp_drm_set(wire, row->arrays[i].count, row->arrays[i].count_bytes, room_n);
    for (unsigned i = 0; i < n_arrays; i++) {
        const struct tp_drm_array *a = &row->arrays[i];

        elements[i] = room_n;
        if (a->flags & TP_DRM_SUM) {
            elements[i] = 0;
            for (uint64_t k = 0; k < room_n; k++)
                elements[i] += ((uint32_t *)(void *)mine[1])[k];
        }
        mine[i] = malloc((size_t)elements[i] * a->element_bytes + 1);
        sent[i] = malloc((size_t)elements[i] * a->element_bytes + 1);
        assert_non_null(mine[i]);
        assert_non_null(sent[i]);
        fill(mine[i], (size_t)elements[i] * a->element_bytes);
        if (row->atomic && i == 1) {
            for (uint64_t k = 0; k < room_n; k++)
                ((uint32_t *)(void *)mine[i])[k] = (uint32_t)rand() % 5;
        }
        if (row->atomic && i == 2) { /* none is a fence */
            for (uint64_t k = 0; k < elements[i]; k++)
                ((uint32_t *)(void *)mine[i])[k] |= 1u << 20;
        }
        memcpy(sent[i], mine[i], (size_t)elements[i] * a->element_bytes);
        tp_drm_set(wire, a->pointer, 8, (uintptr_t)mine[i]);
    }
    if (row->in_fd != TP_DRM_NO_FD)
        tp_drm_set(wire, row->in_fd, 4, (uint64_t)ends[0]);
    tp_drm_from_wire(row, wire, native);
    memcpy(before, native, sizeof native);
    assert_int_equal(ask(row->request, native), 0);
    assert_memory_equal(native, before, sizeof native);
    assert_int_equal(call.request, row->request);

    /* What the core sees. */
    memset(seen, 0, sizeof seen);
    memcpy(seen, call.arg, call.arg_bytes);
    tp_drm_to_wire(row, seen, given);
    tp_drm_to_wire(row, native, wire);
    for (unsigned i = 0; i < n_arrays; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        uint8_t *theirs = (uint8_t *)(uintptr_t)tp_drm_get(given, a->pointer, 8);
        size_t bytes = (size_t)elements[i] * a->element_bytes;

        assert_non_null(theirs);
        assert_true(theirs >= call.memory && theirs + bytes <= call.memory + call.memory_bytes);
        if (a->flags & TP_DRM_IN) {
            assert_memory_equal(theirs, sent[i], bytes);
        } else {
            for (size_t k = 0; k < bytes; k++)
                assert_int_equal(theirs[k], 0);
            fill(theirs, bytes);
            memcpy(sent[i], theirs, bytes);
        }
        tp_drm_set(given, a->pointer, 8, 0);
        tp_drm_set(wire, a->pointer, 8, 0);
    }
    if (row->in_fd != TP_DRM_NO_FD) {
        assert_int_equal(tp_drm_get(given, row->in_fd, 4), 0);
        tp_drm_set(given, row->in_fd, 4, (uint64_t)ends[0]);
    }
    if (in)
        assert_memory_equal(given, wire, row->native_bytes < row->bytes ? row->native_bytes
                                                                        : row->bytes);

    /* What the core says: other counts, and the rest random. */
    tp_drm_to_wire(row, seen, given);
    for (unsigned at = 0; at < row->bytes; at += 4) {
        bool keep = false;

        for (unsigned i = 0; i < n_arrays; i++)
            keep |= at - row->arrays[i].pointer < 8 || at - row->arrays[i].count < 8;
        if (!keep && at != row->in_fd && at != row->out_fd)
            tp_drm_set(given, at, 4, (uint64_t)rand());
    }
    for (unsigned i = 0; i < n_arrays; i++) {
        if ((row->arrays[i].flags & (TP_DRM_OUT | TP_DRM_FIXED)) == TP_DRM_OUT)
            tp_drm_set(given, row->arrays[i].count, row->arrays[i].count_bytes, now_n);
    }
    if (row->out_fd != TP_DRM_NO_FD) {
        tp_drm_set(given, row->out_fd, 4, 0);
        call.out_fds[call.n_out_fds++] = dup(ends[0]);
    }
    tp_drm_from_wire(row, given, seen);
    memcpy(call.arg, seen, call.arg_bytes);
    tp_drm_to_wire(row, seen, given);
    assert_int_equal(answer(row->request, native, 3), 3);

    /* What the client has then. */
    tp_drm_to_wire(row, native, wire);
    for (unsigned i = 0; i < n_arrays; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        uint64_t now = tp_drm_get(given, a->count, a->count_bytes);
        uint64_t came = now < elements[i] ? now : elements[i];

        if (out)
            assert_int_equal(tp_drm_get(wire, a->pointer, 8), (uintptr_t)mine[i]);
        tp_drm_set(wire, a->pointer, 8, 0);
        tp_drm_set(given, a->pointer, 8, 0);
        if (((a->flags & TP_DRM_WHOLE) && now > elements[i]) ||
            ((a->flags & TP_DRM_EXACT) && now != elements[i]))
            came = 0;
        if (a->flags & TP_DRM_OUT)
            assert_memory_equal(mine[i], sent[i], (size_t)came * a->element_bytes);
        free(mine[i]);
        free(sent[i]);
    }
    if (row->in_fd != TP_DRM_NO_FD)
        tp_drm_set(given, row->in_fd, 4, (uint64_t)ends[0]);
    if (row->out_fd != TP_DRM_NO_FD) {
        int fd = (int)tp_drm_get(wire, row->out_fd, 4);

        assert_int_equal(close(fd), 0);
        tp_drm_set(given, row->out_fd, 4, (uint64_t)fd);
    }
    if (out)
        assert_memory_equal(wire, given, row->native_bytes < row->bytes ? row->native_bytes
                                                                        : row->bytes);
    else
        assert_memory_equal(native, before, sizeof native);
}

static void every_request_arrives_as_it_was_asked_and_its_answer_as_it_was_given(void **state)
{
    static const uint64_t sizes[][2] = {{0, 0}, {0, 9}, {1, 1}, {5, 5}, {7, 3}, {3, 7}, {100, 61}};
    unsigned rows = 0;

    (void)state;
    srand(1);
    for (unsigned nr = 0; nr < 256; nr++) {
        const struct tp_drm_row *row = tp_drm_row(_IOC(0, 'd', nr, 0));

        if (!row)
            continue;
        rows++;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            round_trip(row, sizes[i][0], sizes[i][1]);
    }
    assert_true(rows >= 64);
}

static void a_steady_stream_of_calls_keeps_its_memory(void **state)
{
    struct drm_mode_get_connector c = {0};
    uint8_t *memory;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    memory = call.memory;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(answer(DRM_IOCTL_MODE_GETCONNECTOR, &c, 0), 0);
        assert_int_equal(ask(DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
        assert_ptr_equal(call.memory, memory);
    }
}

static void version_fills_strings_up_to_their_room(void **state)
{
    char name[4] = "____", date[8] = "_______";
    struct drm_version v = {.name_len = 3, .name = name, .date_len = 8, .date = date,
                            .desc_len = 100, .desc = NULL};
    struct drm_version *s;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_VERSION, &v), 0);
    s = call.arg;
    memcpy(s->name, "tur", 3);
    memcpy(s->date, "2025", 4);
    s->version_major = 2;
    s->name_len = 8;
    s->date_len = 4;
    s->desc_len = 11;
    assert_int_equal(answer(DRM_IOCTL_VERSION, &v, 0), 0);
    assert_memory_equal(name, "tur_", 4);
    assert_memory_equal(date, "2025___", 8);
    assert_int_equal(v.version_major, 2);
    assert_int_equal(v.name_len, 8);
    assert_int_equal(v.date_len, 4);
    assert_int_equal(v.desc_len, 11);
    assert_ptr_equal(v.name, name);
}

static void modes_come_whole_or_not_at_all(void **state)
{
    struct drm_mode_modeinfo modes[3] = {{.clock = 1}, {.clock = 2}, {.clock = 3}};
    struct drm_mode_get_connector c = {.modes_ptr = (uintptr_t)modes, .count_modes = 2};
    struct drm_mode_get_connector *s;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    s = call.arg;
    s->count_modes = 3;
    assert_int_equal(answer(DRM_IOCTL_MODE_GETCONNECTOR, &c, 0), 0);
    assert_int_equal(c.count_modes, 3);
    assert_int_equal(modes[0].clock, 1);
    assert_int_equal(ask(DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    s = call.arg;
    ((struct drm_mode_modeinfo *)(uintptr_t)s->modes_ptr)[2].clock = 30;
    assert_int_equal(answer(DRM_IOCTL_MODE_GETCONNECTOR, &c, 0), 0);
    assert_int_equal(modes[2].clock, 30);
}

static void a_null_array_faults_only_when_there_is_something_to_write(void **state)
{
    struct drm_mode_card_res r = {.count_fbs = 4, .count_crtcs = 4};
    struct drm_mode_card_res *s;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_MODE_GETRESOURCES, &r), 0);
    s = call.arg;
    s->count_fbs = s->count_crtcs = 0;
    assert_int_equal(answer(DRM_IOCTL_MODE_GETRESOURCES, &r, 0), 0);
    r.count_crtcs = 4;
    assert_int_equal(ask(DRM_IOCTL_MODE_GETRESOURCES, &r), 0);
    s = call.arg;
    s->count_crtcs = 1;
    assert_int_equal(answer(DRM_IOCTL_MODE_GETRESOURCES, &r, 0), -EFAULT);
}

static void a_null_array_that_goes_in_is_a_fault(void **state)
{
    struct drm_mode_create_blob b = {.length = 1};
    struct drm_mode_fb_dirty_cmd d = {.num_clips = 1};
    struct drm_syncobj_timeline_array t = {.count_handles = 1, .handles = (uintptr_t)&t};

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_MODE_CREATEPROPBLOB, &b), -EFAULT);
    assert_int_equal(ask(DRM_IOCTL_MODE_DIRTYFB, &d), -EINVAL);
    assert_int_equal(ask(DRM_IOCTL_VERSION, NULL), -EFAULT);
    assert_int_equal(ask(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &t), 0); /* points: all 0 */
    assert_int_equal(((struct drm_syncobj_timeline_array *)call.arg)->points, 0);
}

static void counts_beyond_all_room_are_cut_or_refused(void **state)
{
    uint32_t id = 0;
    uint8_t byte = 0;
    struct drm_mode_card_res r = {.count_crtcs = UINT32_MAX, .crtc_id_ptr = (uintptr_t)&id};
    struct drm_mode_create_blob b = {.length = UINT32_MAX, .data = (uintptr_t)&byte};
    struct drm_mode_crtc c = {.count_connectors = UINT32_MAX, .set_connectors_ptr = (uintptr_t)&id};
    uint32_t counts[2] = {UINT32_MAX, UINT32_MAX}, objs[2] = {1, 2};
    struct drm_mode_atomic a = {.count_objs = 2, .objs_ptr = (uintptr_t)objs,
                                .count_props_ptr = (uintptr_t)counts, .props_ptr = (uintptr_t)&id,
                                .prop_values_ptr = (uintptr_t)&id};
    struct drm_mode_card_res *s;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_MODE_GETRESOURCES, &r), 0);
    s = call.arg;
    s->count_crtcs = 1;
    ((uint32_t *)(uintptr_t)s->crtc_id_ptr)[0] = 44;
    assert_int_equal(answer(DRM_IOCTL_MODE_GETRESOURCES, &r, 0), 0);
    assert_int_equal(id, 44);
    assert_int_equal(r.count_crtcs, 1);
    r.count_crtcs = UINT32_MAX;
    assert_int_equal(ask(DRM_IOCTL_MODE_GETRESOURCES, &r), 0);
    assert_int_equal(answer(DRM_IOCTL_MODE_GETRESOURCES, &r, -EINVAL), -EINVAL);
    assert_int_equal(r.count_crtcs, UINT32_MAX);
    assert_int_equal(ask(DRM_IOCTL_MODE_CREATEPROPBLOB, &b), -E2BIG);
    assert_int_equal(ask(DRM_IOCTL_MODE_SETCRTC, &c), -EINVAL);
    assert_int_equal(ask(DRM_IOCTL_MODE_ATOMIC, &a), -E2BIG);
}

static void older_and_newer_structs_are_cut_and_padded(void **state)
{
    struct {
        struct drm_mode_get_plane_res r;
        uint64_t more;
    } later = {.r.count_planes = 3, .more = 77};
    struct drm_mode_cursor2 cursor = {.flags = 1, .hot_x = 5, .hot_y = 6};
    struct drm_mode_get_plane_res *s;

    (void)state;
    assert_int_equal(ask(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xB5, sizeof later), &later), 0);
    assert_int_equal(call.request, DRM_IOCTL_MODE_GETPLANERESOURCES);
    s = call.arg;
    assert_int_equal(s->count_planes, 3);
    s->count_planes = 0;
    assert_int_equal(answer(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xB5, sizeof later), &later, 0), 0);
    assert_int_equal(later.r.count_planes, 0);
    /* The older one: without its last words. */
    assert_int_equal(ask(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xBB, 28), &cursor), 0);
    assert_int_equal(((struct drm_mode_cursor2 *)call.arg)->flags, 1);
    assert_int_equal(((struct drm_mode_cursor2 *)call.arg)->hot_x, 0);
    ((struct drm_mode_cursor2 *)call.arg)->hot_x = 9;
    assert_int_equal(answer(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0xBB, 28), &cursor, 0), 0);
    assert_int_equal(cursor.hot_x, 5);
}

static void a_request_that_only_reads_sends_nothing(void **state)
{
    struct drm_auth auth = {.magic = 1234};

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_GET_MAGIC, &auth), 0);
    assert_int_equal(((struct drm_auth *)call.arg)->magic, 0);
    ((struct drm_auth *)call.arg)->magic = 8;
    assert_int_equal(answer(DRM_IOCTL_GET_MAGIC, &auth, 0), 0);
    assert_int_equal(auth.magic, 8);
}

static void unknown_requests_are_invalid_on_both_sides(void **state)
{
    uint8_t bytes[32] = {0};
    struct tp_frame f = {.fourcc = TP_FRAME_CALL, .payload = bytes, .payload_bytes = 8};
    uint32_t request = _IO('d', 0x40);

    (void)state;
    assert_false(tp_drm_call_known(DRM_IOWR(0x40, struct drm_auth)));
    assert_false(tp_drm_call_known(_IO('T', 0x00)));
    assert_true(tp_drm_call_known(DRM_IOCTL_MODE_ATOMIC));
    assert_int_equal(ask(DRM_IOWR(0x40, struct drm_auth), bytes), -EINVAL);
    memcpy(bytes, &request, sizeof request);
    assert_int_equal(tp_drm_call_decode(&f, &call), -EINVAL);
    assert_int_equal(call.request, request);
    assert_null(call.arg);
    assert_int_equal(tp_drm_reply_encode(&call, -EINVAL, payload, 100), 8);
}

static void frames_that_are_not_what_the_table_says_are_refused(void **state)
{
    struct drm_mode_create_blob b = {.length = 16, .data = (uintptr_t)"0123456789abcdef"};
    int fds[TP_FRAME_FDS];
    unsigned n_fds;
    ssize_t n = tp_drm_call_encode(DRM_IOCTL_MODE_CREATEPROPBLOB, &b, &fences, payload, 4096, fds,
                                   &n_fds);
    struct tp_frame f = {.fourcc = TP_FRAME_CALL, .payload = payload};
    uint32_t length = 17;

    (void)state;
    assert_int_equal(n, 8 + 16 + 16);
    for (size_t cut = 0; cut < (size_t)n; cut++) {
        f.payload_bytes = cut;
        assert_int_equal(tp_drm_call_decode(&f, &call), -EBADMSG);
    }
    f.payload_bytes = (size_t)n + 8;
    assert_int_equal(tp_drm_call_decode(&f, &call), -EBADMSG);
    f.payload_bytes = (size_t)n;
    assert_int_equal(tp_drm_call_decode(&f, &call), 0);
    memcpy(payload + 8 + offsetof(struct drm_mode_create_blob, length), &length, sizeof length);
    assert_int_equal(tp_drm_call_decode(&f, &call), -EBADMSG);
    f.fourcc = TP_FRAME_REPLY;
    assert_int_equal(tp_drm_call_decode(&f, &call), -EBADMSG);
}

static void answers_to_something_else_are_refused(void **state)
{
    struct drm_get_cap cap = {.capability = 1};
    struct drm_mode_get_blob blob = {.length = 64, .data = (uintptr_t)payload};
    struct tp_frame f = {.fourcc = TP_FRAME_REPLY, .payload = payload};

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_GET_CAP, &cap), 0);
    f.payload_bytes = (size_t)tp_drm_reply_encode(&call, 0, payload, 4096);
    assert_int_equal(tp_drm_reply_decode(DRM_IOCTL_MODE_GETPROPBLOB, &blob, &fences, &f), -EIO);
    for (size_t cut = 0; cut < f.payload_bytes; cut++) {
        struct tp_frame part = f;

        part.payload_bytes = cut;
        assert_int_equal(tp_drm_reply_decode(DRM_IOCTL_GET_CAP, &cap, &fences, &part), -EIO);
    }
    f.fourcc = TP_FRAME_CALL;
    assert_int_equal(tp_drm_reply_decode(DRM_IOCTL_GET_CAP, &cap, &fences, &f), -EIO);
}

static bool same_file(int a, int b)
{
    struct stat x, y;

    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static void prime_descriptors_travel_both_ways(void **state)
{
    struct drm_prime_handle in = {.fd = ends[0]}, out = {.handle = 5, .flags = DRM_CLOEXEC};

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_PRIME_FD_TO_HANDLE, &in), 0);
    assert_int_equal(((struct drm_prime_handle *)call.arg)->fd, 0);
    assert_int_equal(call.n_in_fds, 1);
    assert_true(same_file(call.in_fds[0], ends[0]));
    ((struct drm_prime_handle *)call.arg)->handle = 12;
    assert_int_equal(answer(DRM_IOCTL_PRIME_FD_TO_HANDLE, &in, 0), 0);
    assert_int_equal(in.handle, 12);
    assert_int_equal(in.fd, ends[0]);
    for (int cloexec = 0; cloexec < 2; cloexec++) {
        out.flags = cloexec ? DRM_CLOEXEC : 0;
        assert_int_equal(ask(DRM_IOCTL_PRIME_HANDLE_TO_FD, &out), 0);
        ((struct drm_prime_handle *)call.arg)->fd = 0;
        call.out_fds[call.n_out_fds++] = dup(ends[1]);
        assert_int_equal(answer(DRM_IOCTL_PRIME_HANDLE_TO_FD, &out, 0), 0);
        assert_true(same_file(out.fd, ends[1]));
        assert_int_equal(fcntl(out.fd, F_GETFD), cloexec ? FD_CLOEXEC : 0);
        close(out.fd);
    }
}

static void a_bad_descriptor_is_what_the_kernel_calls_it(void **state)
{
    struct drm_prime_handle prime = {.fd = 9999};
    struct drm_syncobj_handle sync = {.fd = -1};

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), -EBADF);
    assert_int_equal(ask(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &sync), -EINVAL);
}

static void fences_of_an_atomic_commit_travel_in_and_out(void **state)
{
    int32_t out_a = 77, out_b = 78;
    uint32_t objs[2] = {10, 11}, counts[2] = {3, 3};
    uint32_t props[6] = {IN_FENCE, 5, OUT_FENCE, OUT_FENCE, IN_FENCE, OUT_FENCE};
    uint64_t values[6] = {(uint64_t)ends[0], 1ull << 40, (uintptr_t)&out_a, 0, (uint64_t)-1,
                          (uintptr_t)&out_b};
    struct drm_mode_atomic a = {.count_objs = 2, .objs_ptr = (uintptr_t)objs,
                                .count_props_ptr = (uintptr_t)counts, .props_ptr = (uintptr_t)props,
                                .prop_values_ptr = (uintptr_t)values, .user_data = 4};
    uint64_t *seen;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_MODE_ATOMIC, &a), 0);
    seen = (uint64_t *)(uintptr_t)((struct drm_mode_atomic *)call.arg)->prop_values_ptr;
    assert_int_equal(call.n_in_fds, 1);
    assert_int_equal(seen[0], 0);
    assert_int_equal(seen[1], 1ull << 40);
    assert_true(seen[2] != 0);
    assert_int_equal(seen[3], 0);
    assert_true(seen[4] == UINT64_MAX);
    assert_true(seen[5] != 0);
    seen[2] = 1;
    seen[5] = 0;
    call.out_fds[call.n_out_fds++] = dup(ends[1]);
    call.out_fds[call.n_out_fds++] = dup(ends[0]);
    assert_int_equal(answer(DRM_IOCTL_MODE_ATOMIC, &a, 0), 0);
    assert_true(same_file(out_a, ends[0]));
    assert_true(same_file(out_b, ends[1]));
    close(out_a);
    close(out_b);
    assert_int_equal(values[2], (uintptr_t)&out_a);
    /* A test gives none. */
    assert_int_equal(ask(DRM_IOCTL_MODE_ATOMIC, &a), 0);
    assert_int_equal(answer(DRM_IOCTL_MODE_ATOMIC, &a, -EINVAL), -EINVAL);
    assert_int_equal(out_b, -1);
    values[0] = 9999;
    assert_int_equal(ask(DRM_IOCTL_MODE_ATOMIC, &a), -EINVAL);
}

static void the_vblank_unions_two_shapes_both_arrive(void **state)
{
    union drm_wait_vblank v = {.request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT,
                                           .sequence = 1, .signal = ~0ul}};
    union drm_wait_vblank *s;

    (void)state;
    assert_int_equal(ask(DRM_IOCTL_WAIT_VBLANK, &v), 0);
    s = call.arg;
    assert_int_equal(s->request.sequence, 1);
    assert_true(s->request.signal == ~0ul);
    s->reply.tval_sec = 1234567;
    s->reply.tval_usec = 999999;
    assert_int_equal(answer(DRM_IOCTL_WAIT_VBLANK, &v, 0), 0);
    assert_int_equal(v.reply.tval_sec, 1234567);
    assert_int_equal(v.reply.tval_usec, 999999);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_arrives_as_it_was_asked_and_its_answer_as_it_was_given),
        cmocka_unit_test(a_steady_stream_of_calls_keeps_its_memory),
        cmocka_unit_test(version_fills_strings_up_to_their_room),
        cmocka_unit_test(modes_come_whole_or_not_at_all),
        cmocka_unit_test(a_null_array_faults_only_when_there_is_something_to_write),
        cmocka_unit_test(a_null_array_that_goes_in_is_a_fault),
        cmocka_unit_test(counts_beyond_all_room_are_cut_or_refused),
        cmocka_unit_test(older_and_newer_structs_are_cut_and_padded),
        cmocka_unit_test(a_request_that_only_reads_sends_nothing),
        cmocka_unit_test(unknown_requests_are_invalid_on_both_sides),
        cmocka_unit_test(frames_that_are_not_what_the_table_says_are_refused),
        cmocka_unit_test(answers_to_something_else_are_refused),
        cmocka_unit_test(prime_descriptors_travel_both_ways),
        cmocka_unit_test(a_bad_descriptor_is_what_the_kernel_calls_it),
        cmocka_unit_test(fences_of_an_atomic_commit_travel_in_and_out),
        cmocka_unit_test(the_vblank_unions_two_shapes_both_arrive),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
