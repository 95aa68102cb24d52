/* Sync objects, binary and timeline (drm_syncobj.c). */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

#define needs_syncobj()                                                                            \
    do {                                                                                           \
        uint64_t has_ = 0;                                                                         \
        get_cap(card, DRM_CAP_SYNCOBJ_TIMELINE, &has_);                                            \
        if (!has_)                                                                                 \
            skip();                                                                                \
    } while (0)

static uint32_t create(struct file *f, uint32_t flags)
{
    struct drm_syncobj_create c = {.flags = flags};
    assert_ok(drm(f, DRM_IOCTL_SYNCOBJ_CREATE, &c));
    assert_int_not_equal(c.handle, 0);
    return c.handle;
}

static int destroy(struct file *f, uint32_t handle)
{
    struct drm_syncobj_destroy d = {.handle = handle};
    return drm(f, DRM_IOCTL_SYNCOBJ_DESTROY, &d);
}

static int array(unsigned long request, const uint32_t *handles, uint32_t n)
{
    struct drm_syncobj_array a = {.handles = PTR(handles), .count_handles = n};
    return drm(card, request, &a);
}

static int signal_one(uint32_t handle)
{
    return array(DRM_IOCTL_SYNCOBJ_SIGNAL, &handle, 1);
}

static int reset_one(uint32_t handle)
{
    return array(DRM_IOCTL_SYNCOBJ_RESET, &handle, 1);
}

static struct drm_syncobj_wait wait_arg(const uint32_t *handles, uint32_t n, uint32_t flags,
                                        int64_t timeout_ns)
{
    return (struct drm_syncobj_wait){.handles = PTR(handles), .count_handles = n, .flags = flags,
                                     .timeout_nsec = timeout_ns, .first_signaled = 77};
}

static int poll_one(uint32_t handle, uint32_t flags)
{
    struct drm_syncobj_wait w = wait_arg(&handle, 1, flags, 0);
    return drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w);
}

static int signal_point(uint32_t handle, uint64_t point)
{
    struct drm_syncobj_timeline_array a = {.handles = PTR(&handle), .points = PTR(&point),
                                           .count_handles = 1};
    return drm(card, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &a);
}

static uint64_t query(uint32_t handle, uint32_t flags)
{
    uint64_t point = 77;
    struct drm_syncobj_timeline_array a = {.handles = PTR(&handle), .points = PTR(&point),
                                           .count_handles = 1, .flags = flags};
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_QUERY, &a));
    return point;
}

static int poll_point(uint32_t handle, uint64_t point, uint32_t flags)
{
    struct drm_syncobj_timeline_wait w = {.handles = PTR(&handle), .points = PTR(&point),
                                          .count_handles = 1, .flags = flags};
    return drm(card, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w);
}

static int transfer(uint32_t from, uint64_t from_point, uint32_t to, uint64_t to_point)
{
    struct drm_syncobj_transfer t = {.src_handle = from, .dst_handle = to, .src_point = from_point,
                                     .dst_point = to_point};
    return drm(card, DRM_IOCTL_SYNCOBJ_TRANSFER, &t);
}

static int import_fence(uint32_t handle, int fd)
{
    struct drm_syncobj_handle h = {
        .handle = handle, .fd = fd, .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
    return drm(card, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &h);
}

static int export_fence(uint32_t handle, int *fd)
{
    struct drm_syncobj_handle h = {
        .handle = handle, .fd = -1, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE};
    int r = drm(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h);
    *fd = h.fd;
    return r;
}

static void they_are_created_and_destroyed(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0), b = create(card, DRM_SYNCOBJ_CREATE_SIGNALED);
    assert_int_not_equal(a, b);
    assert_ok(destroy(card, a));
    assert_errno(destroy(card, a), EINVAL);
    assert_errno(destroy(card, 0), EINVAL);
    assert_errno(destroy(card, 12345), EINVAL);
    assert_ok(destroy(card, b));
}

static void unknown_flags_and_padding_are_refused(void **state)
{
    (void)state;
    needs_syncobj();
    struct drm_syncobj_create c = {.flags = 2};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_CREATE, &c), EINVAL);
    uint32_t a = create(card, DRM_SYNCOBJ_CREATE_SIGNALED);
    struct drm_syncobj_destroy d = {.handle = a, .pad = 1};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_DESTROY, &d), EINVAL);
    struct drm_syncobj_array r = {.handles = PTR(&a), .count_handles = 1, .pad = 1};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_RESET, &r), EINVAL);
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_SIGNAL, &r), EINVAL);
    struct drm_syncobj_handle h = {.handle = a, .pad = 1};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h), EINVAL);
    h = (struct drm_syncobj_handle){.handle = a, .flags = 1u << 5};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h), EINVAL);
    struct drm_syncobj_transfer t = {.src_handle = a, .dst_handle = a, .pad = 1};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_TRANSFER, &t), EINVAL);
    t = (struct drm_syncobj_transfer){.src_handle = a, .dst_handle = a, .flags = 1};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_TRANSFER, &t), EINVAL);
    assert_errno(poll_one(a, 1u << 7), EINVAL);
    assert_errno(poll_one(a, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE), EINVAL); /* of timelines */
    assert_errno(poll_point(a, 0, 1u << 7), EINVAL);
    uint64_t point;
    struct drm_syncobj_timeline_array q = {.handles = PTR(&a), .points = PTR(&point),
                                           .count_handles = 1, .flags = 2};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_QUERY, &q), EINVAL);
    q.flags = 1;
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &q), EINVAL);
}

static void no_handles_are_refused(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_errno(array(DRM_IOCTL_SYNCOBJ_SIGNAL, &a, 0), EINVAL);
    assert_errno(array(DRM_IOCTL_SYNCOBJ_RESET, &a, 0), EINVAL);
    struct drm_syncobj_timeline_array q = {0};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_QUERY, &q), EINVAL);
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &q), EINVAL);
    assert_errno(array(DRM_IOCTL_SYNCOBJ_SIGNAL, NULL, 1), EFAULT);
    struct drm_syncobj_wait w = wait_arg(NULL, 1, 0, 0);
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w), EFAULT);
}

static void unknown_handles_are_not_found(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_errno(signal_one(12345), ENOENT);
    assert_errno(reset_one(12345), ENOENT);
    assert_errno(poll_one(12345, 0), ENOENT);
    assert_errno(poll_point(12345, 1, 0), ENOENT);
    assert_errno(signal_point(12345, 1), ENOENT);
    assert_errno(transfer(12345, 0, a, 0), ENOENT);
    assert_errno(transfer(a, 0, 12345, 1), ENOENT);
    const uint32_t both[] = {a, 12345};
    assert_errno(array(DRM_IOCTL_SYNCOBJ_SIGNAL, both, 2), ENOENT);
    assert_errno(poll_one(a, 0), EINVAL); /* and the first was not signalled */
    int fd;
    assert_errno(export_fence(12345, &fd), ENOENT);
    struct drm_syncobj_handle h = {.handle = 12345};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h), EINVAL);
}

static void handles_are_of_one_file(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_errno(destroy(card_open(), a), EINVAL);
}

static void waiting_for_what_was_not_submitted_is_invalid(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_errno(poll_one(a, 0), EINVAL);
    assert_errno(poll_one(a, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), ETIME);
}

static void a_signalled_one_is_waited_for_at_once(void **state)
{
    (void)state;
    needs_syncobj();
    assert_ok(poll_one(create(card, DRM_SYNCOBJ_CREATE_SIGNALED), 0));
    uint32_t a = create(card, 0);
    assert_ok(signal_one(a));
    assert_ok(poll_one(a, 0));
    assert_ok(reset_one(a));
    assert_errno(poll_one(a, 0), EINVAL);
}

static void a_wait_for_any_tells_the_first(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t all[] = {create(card, 0), create(card, 0), create(card, 0)};
    assert_ok(signal_one(all[1]));
    struct drm_syncobj_wait w = wait_arg(all, 3, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, 0);
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w));
    assert_int_equal(w.first_signaled, 1);
    w = wait_arg(all, 3, 0, 0);
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w), EINVAL); /* others are not submitted */
}

static void a_wait_for_all_waits_for_all(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
    uint32_t all[] = {create(card, 0), create(card, DRM_SYNCOBJ_CREATE_SIGNALED), create(card, 0)};
    struct drm_syncobj_wait w = wait_arg(all, 3, flags, 0);
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w), ETIME);
    assert_ok(signal_one(all[0]));
    assert_ok(signal_one(all[2]));
    w = wait_arg(all, 3, flags, 0);
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w));
}

static void a_wait_ends_with_the_signal(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    struct drm_syncobj_wait w = wait_arg(&a, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                                         now_ns() + INT64_C(5000000000));
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_WAIT, &w);
    assert_false(drm_done(p));
    assert_ok(signal_one(a));
    assert_ok(drm_wait(p));
    assert_int_equal(w.first_signaled, 0);
}

static void a_wait_ends_with_its_time(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    struct drm_syncobj_wait w = wait_arg(&a, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                                         now_ns() + INT64_C(50000000));
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_WAIT, &w);
    assert_false(drm_done(p));
    if (!is_real())
        assert_int_equal(tp_kms_deadline(own_kms()), w.timeout_nsec);
    advance_ns(INT64_C(60000000));
    assert_errno(drm_wait(p), ETIME);
    if (!is_real())
        assert_true(tp_kms_deadline(own_kms()) == INT64_MAX);
}

static void a_time_that_is_over_is_not_waited_for(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    static const int64_t times[] = {1, -1, INT64_MIN};
    for (unsigned i = 0; i < COUNT(times); i++) {
        struct drm_syncobj_wait w =
            wait_arg(&a, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, times[i]);
        assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_WAIT, &w), ETIME);
    }
}

static void one_is_passed_on_by_a_descriptor(void **state)
{
    (void)state;
    needs_syncobj();
    struct file *other = card_open();
    uint32_t a = create(card, 0);
    struct drm_syncobj_handle out = {.handle = a, .fd = -1};
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &out));
    assert_true(out.fd >= 0);
    assert_true(fcntl(out.fd, F_GETFD) & FD_CLOEXEC);
    struct drm_syncobj_handle in = {.fd = out.fd};
    assert_ok(drm(other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in));
    struct drm_syncobj_wait w = wait_arg(&in.handle, 1, 0, 0);
    assert_errno(drm(other, DRM_IOCTL_SYNCOBJ_WAIT, &w), EINVAL);
    assert_ok(signal_one(a));
    assert_ok(drm(other, DRM_IOCTL_SYNCOBJ_WAIT, &w));
    /* It lives as long as anyone has it. */
    assert_ok(destroy(card, a));
    assert_ok(drm(other, DRM_IOCTL_SYNCOBJ_WAIT, &w));
    assert_ok(destroy(other, in.handle));
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in));
    assert_ok(poll_one(in.handle, 0));
    close(out.fd);
}

static void other_descriptors_are_none(void **state)
{
    (void)state;
    needs_syncobj();
    int memory = memfd_create("none", MFD_CLOEXEC);
    struct drm_syncobj_handle in = {.fd = memory};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in), EINVAL);
    in.fd = 9999;
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in), EINVAL);
    int event = eventfd(0, EFD_CLOEXEC);
    in.fd = event;
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in), EINVAL);
    uint32_t a = create(card, 0);
    struct drm_syncobj_handle whole = {.handle = a};
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &whole));
    assert_errno(import_fence(a, whole.fd), EINVAL); /* a syncobj is no fence */
    close(whole.fd);
    assert_errno(import_fence(a, memory), EINVAL);
    assert_errno(import_fence(a, 9999), EINVAL);
    close(memory);
    close(event);
}

static void a_fence_is_put_in_and_waited_for(void **state)
{
    (void)state;
    needs_syncobj();
    int fence = make_fence();
    uint32_t a = create(card, 0);
    assert_errno(import_fence(12345, fence), ENOENT);
    assert_ok(import_fence(a, fence));
    assert_errno(poll_one(a, 0), ETIME); /* submitted, not signalled */
    struct drm_syncobj_wait w = wait_arg(&a, 1, 0, now_ns() + INT64_C(5000000000));
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_WAIT, &w);
    assert_false(drm_done(p));
    signal_fence(fence);
    assert_ok(drm_wait(p));
    assert_ok(poll_one(a, 0));
    close(fence);
}

static void a_fence_is_taken_out(void **state)
{
    (void)state;
    needs_syncobj();
    int fd;
    uint32_t a = create(card, 0);
    assert_errno(export_fence(a, &fd), EINVAL); /* it has none */
    assert_ok(signal_one(a));
    assert_ok(export_fence(a, &fd));
    assert_true(fd >= 0);
    assert_true(fence_signalled(fd));
    close(fd);
    int fence = make_fence();
    assert_ok(import_fence(a, fence));
    assert_ok(export_fence(a, &fd));
    assert_false(fence_signalled(fd));
    signal_fence(fence);
    assert_true(fence_signalled(fd));
    close(fd);
    close(fence);
}

/* What was taken out is of that time: later fences do not matter. */
static void what_was_taken_out_stays_what_it_was(void **state)
{
    (void)state;
    needs_syncobj();
    int fd, fence = make_fence();
    uint32_t a = create(card, DRM_SYNCOBJ_CREATE_SIGNALED);
    assert_ok(export_fence(a, &fd));
    assert_ok(import_fence(a, fence));
    assert_true(fence_signalled(fd));
    assert_errno(poll_one(a, 0), ETIME);
    signal_fence(fence);
    close(fd);
    close(fence);
}

static void a_timeline_counts(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_int_equal(query(a, 0), 0);
    for (uint64_t point = 1; point <= 10; point += 3) {
        assert_ok(signal_point(a, point));
        assert_int_equal(query(a, 0), point);
        assert_int_equal(query(a, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), point);
    }
    assert_ok(signal_point(a, UINT64_MAX - 1));
    assert_true(query(a, 0) == UINT64_MAX - 1);
}

static void points_up_to_the_last_one_are_reached(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_ok(signal_point(a, 5));
    assert_ok(poll_point(a, 1, 0));
    assert_ok(poll_point(a, 5, 0));
    assert_errno(poll_point(a, 6, 0), EINVAL);
    assert_errno(poll_point(a, 6, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), ETIME);
    assert_errno(poll_point(a, 6, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE), ETIME);
}

static void a_wait_for_a_point_ends_with_it(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    uint64_t point = 5;
    struct drm_syncobj_timeline_wait w = {.handles = PTR(&a), .points = PTR(&point),
                                          .count_handles = 1,
                                          .timeout_nsec = now_ns() + INT64_C(5000000000),
                                          .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT};
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w);
    assert_ok(signal_point(a, 4));
    assert_false(drm_done(p));
    assert_ok(signal_point(a, 7));
    assert_ok(drm_wait(p));
}

static void available_is_not_signalled(void **state)
{
    (void)state;
    needs_syncobj();
    int fence = make_fence();
    uint32_t binary = create(card, 0), a = create(card, 0);
    assert_ok(import_fence(binary, fence));
    assert_ok(transfer(binary, 0, a, 3));
    assert_int_equal(query(a, 0), 0);
    assert_int_equal(query(a, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 3);
    assert_ok(poll_point(a, 3, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE));
    assert_errno(poll_point(a, 3, 0), ETIME);
    signal_fence(fence);
    assert_ok(poll_point(a, 3, 0));
    assert_int_equal(query(a, 0), 3);
    close(fence);
}

static void a_point_waits_for_those_before_it(void **state)
{
    (void)state;
    needs_syncobj();
    int fence = make_fence();
    uint32_t binary = create(card, 0), a = create(card, 0);
    assert_ok(import_fence(binary, fence));
    assert_ok(transfer(binary, 0, a, 3));
    assert_ok(signal_point(a, 5)); /* 3 is still under way */
    assert_int_equal(query(a, 0), 0);
    assert_errno(poll_point(a, 5, 0), ETIME);
    signal_fence(fence);
    assert_int_equal(query(a, 0), 5);
    assert_ok(poll_point(a, 5, 0));
    close(fence);
}

/* Fences that signal in another order than their points: dma_fence_chain_find_seqno. */
static void points_are_reached_in_order_whatever_their_fences_do(void **state)
{
    (void)state;
    needs_syncobj();
    static const uint64_t points[] = {2, 5, 9};
    int fences[3];
    uint32_t a = create(card, 0), binary = create(card, 0);
    for (unsigned i = 0; i < 3; i++) {
        fences[i] = make_fence();
        assert_ok(import_fence(binary, fences[i]));
        assert_ok(transfer(binary, 0, a, points[i]));
    }
    assert_int_equal(query(a, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 9);
    signal_fence(fences[1]);
    assert_int_equal(query(a, 0), 0);
    assert_errno(poll_point(a, 2, 0), ETIME);
    assert_errno(poll_point(a, 5, 0), ETIME);
    signal_fence(fences[0]);
    assert_int_equal(query(a, 0), 5);
    for (uint64_t point = 1; point <= 5; point++)
        assert_ok(poll_point(a, point, 0));
    assert_errno(poll_point(a, 6, 0), ETIME);
    assert_ok(transfer(a, 3, binary, 0));
    assert_ok(poll_one(binary, 0));
    assert_ok(transfer(a, 7, binary, 0));
    assert_errno(poll_one(binary, 0), ETIME);
    assert_errno(transfer(a, 10, binary, 0), EINVAL);
    signal_fence(fences[2]);
    assert_ok(poll_one(binary, 0));
    assert_int_equal(query(a, 0), 9);
    for (unsigned i = 0; i < 3; i++)
        close(fences[i]);
}

/* What is taken of a point is its chain: all before it as well. */
static void a_points_fence_holds_those_before_it(void **state)
{
    (void)state;
    needs_syncobj();
    int first = make_fence(), second = make_fence(), taken;
    uint32_t a = create(card, 0), binary = create(card, 0), b = create(card, 0);
    assert_ok(import_fence(binary, first));
    assert_ok(transfer(binary, 0, a, 2));
    assert_ok(import_fence(binary, second));
    assert_ok(transfer(binary, 0, a, 5));
    assert_ok(transfer(a, 5, binary, 0));
    assert_ok(transfer(a, 5, b, 1));
    assert_ok(export_fence(a, &taken));
    signal_fence(second);
    assert_errno(poll_one(binary, 0), ETIME);
    assert_errno(poll_point(b, 1, 0), ETIME);
    assert_false(fence_signalled(taken));
    signal_fence(first);
    assert_ok(poll_one(binary, 0));
    assert_ok(poll_point(b, 1, 0));
    assert_true(fence_signalled(taken));
    close(taken);
    close(first);
    close(second);
}

static void a_long_timeline_stays_a_timeline(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0), binary = create(card, 0);
    for (uint64_t point = 1; point <= 3000; point++) {
        int fence = make_fence();
        assert_ok(import_fence(binary, fence));
        assert_ok(transfer(binary, 0, a, point));
        assert_int_equal(query(a, 0), point - 1);
        signal_fence(fence);
        close(fence);
    }
    assert_int_equal(query(a, 0), 3000);
}

static void a_point_becomes_a_binary_ones_fence(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0), binary = create(card, 0);
    assert_ok(signal_point(a, 2));
    assert_errno(transfer(a, 9, binary, 0), EINVAL); /* there is no such point yet */
    assert_ok(transfer(a, 2, binary, 0));
    assert_ok(poll_one(binary, 0));
}

static void a_binary_signal_starts_a_timeline_anew(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    assert_ok(signal_point(a, 5));
    assert_ok(reset_one(a));
    assert_int_equal(query(a, 0), 0);
    assert_ok(signal_one(a));
    assert_int_equal(query(a, 0), 0);
    assert_ok(poll_one(a, 0));
}

/* drm_syncobj_find_fence with WAIT_FOR_SUBMIT: five seconds for it to come. */
static void a_transfer_may_wait_for_its_source(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0), b = create(card, 0);
    struct drm_syncobj_transfer t = {.src_handle = a, .dst_handle = b, .src_point = 4,
                                     .dst_point = 9,
                                     .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT};
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_TRANSFER, &t);
    assert_false(drm_done(p));
    assert_ok(signal_point(a, 4));
    assert_ok(drm_wait(p));
    assert_int_equal(query(b, 0), 9);
    t.src_point = 5;
    p = drm_start(card, DRM_IOCTL_SYNCOBJ_TRANSFER, &t);
    assert_false(drm_done(p));
    advance_ns(INT64_C(5100000000));
    assert_errno(drm_wait(p), ETIME);
}

static void points_may_be_left_out(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    struct drm_syncobj_timeline_array s = {.handles = PTR(&a), .count_handles = 1};
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &s));
    struct drm_syncobj_timeline_wait w = {.handles = PTR(&a), .count_handles = 1};
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &w));
}

static void many_are_waited_for_at_a_time(void **state)
{
    (void)state;
    needs_syncobj();
    enum { N = 100 };
    uint32_t all[N];
    for (unsigned i = 0; i < N; i++)
        all[i] = create(card, 0);
    struct drm_syncobj_wait w =
        wait_arg(all, N, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
                 now_ns() + INT64_C(5000000000));
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_WAIT, &w);
    for (unsigned i = 0; i < N; i++) {
        if (i < 3)
            assert_false(drm_done(p));
        assert_ok(signal_one(all[i]));
    }
    assert_ok(drm_wait(p));
}

static bool event_is_set(int fd)
{
    eventfd_t value;
    return eventfd_read(fd, &value) == 0;
}

/* A real server hears of a fence in its own time. */
static bool event_comes(int fd)
{
    poll(&(struct pollfd){fd, POLLIN, 0}, 1, is_real() ? 1000 : 0);
    return event_is_set(fd);
}

static int watch(uint32_t handle, uint64_t point, int fd, uint32_t flags)
{
    struct drm_syncobj_eventfd e = {.handle = handle, .point = point, .fd = fd, .flags = flags};
    return drm(card, DRM_IOCTL_SYNCOBJ_EVENTFD, &e);
}

static void an_eventfd_is_told_of_a_point(void **state)
{
    (void)state;
    needs_syncobj();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    uint32_t a = create(card, 0);
    assert_ok(watch(a, 2, fd, 0));
    assert_ok(signal_point(a, 1));
    assert_false(event_is_set(fd));
    assert_ok(signal_point(a, 2));
    assert_true(event_comes(fd));
    assert_ok(watch(a, 1, fd, 0)); /* over already */
    assert_true(event_comes(fd));
    assert_ok(signal_point(a, 3));
    assert_false(event_is_set(fd)); /* once */
    close(fd);
}

static void an_eventfd_is_told_of_a_fence(void **state)
{
    (void)state;
    needs_syncobj();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), early = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int fence = make_fence();
    uint32_t a = create(card, 0);
    assert_ok(watch(a, 0, fd, 0));
    assert_ok(watch(a, 0, early, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE));
    assert_false(event_is_set(early));
    assert_ok(import_fence(a, fence));
    assert_true(event_comes(early));
    assert_false(event_is_set(fd));
    signal_fence(fence);
    assert_true(event_comes(fd));
    close(fd);
    close(early);
    close(fence);
}

/* As the kernel does: the count ends at a value that no write can bring it to, so that none was
 * tried, which might have blocked. */
static void a_full_eventfd_is_told_and_blocks_nobody(void **state)
{
    (void)state;
    needs_syncobj();
    eventfd_t value;
    int fd = eventfd(0, EFD_CLOEXEC);
    uint32_t a = create(card, 0);
    assert_int_equal(eventfd_write(fd, UINT64_MAX - 1), 0);
    alarm(60);
    for (unsigned i = 0; i < 20; i++) {
        assert_ok(watch(a, 0, fd, 0));
        assert_ok(signal_one(a));
        assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_RESET,
                      &(struct drm_syncobj_array){.handles = PTR(&a), .count_handles = 1}));
    }
    assert_int_equal(eventfd_read(fd, &value), 0);
    assert_true(value == UINT64_MAX);
    alarm(0);
    close(fd);
}

static void an_eventfd_is_asked_for_properly(void **state)
{
    (void)state;
    needs_syncobj();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), memory = memfd_create("none", MFD_CLOEXEC);
    uint32_t a = create(card, 0);
    assert_errno(watch(12345, 0, fd, 0), ENOENT);
    assert_errno(watch(a, 0, fd, 1), EINVAL);
    assert_errno(watch(a, 0, memory, 0), EINVAL);
    assert_errno(watch(a, 0, 9999, 0), EBADF);
    struct drm_syncobj_eventfd e = {.handle = a, .fd = fd, .pad = 1};
    assert_errno(drm(card, DRM_IOCTL_SYNCOBJ_EVENTFD, &e), EINVAL);
    close(fd);
    close(memory);
}

static void a_watched_one_may_go(void **state)
{
    (void)state;
    needs_syncobj();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    uint32_t a = create(card, 0);
    assert_ok(watch(a, 2, fd, 0));
    assert_ok(destroy(card, a));
    assert_false(event_is_set(fd));
    struct file *other = card_open();
    struct drm_syncobj_eventfd e = {.handle = create(other, 0), .point = 1, .fd = fd};
    assert_ok(drm(other, DRM_IOCTL_SYNCOBJ_EVENTFD, &e));
    card_close(other);
    close(fd);
}

static void a_waited_for_one_may_be_destroyed(void **state)
{
    (void)state;
    needs_syncobj();
    uint32_t a = create(card, 0);
    struct drm_syncobj_wait w = wait_arg(&a, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                                         now_ns() + INT64_C(50000000));
    struct pending *p = drm_start(card, DRM_IOCTL_SYNCOBJ_WAIT, &w);
    assert_false(drm_done(p));
    assert_ok(destroy(card, a));
    assert_errno(drm_wait(p), ETIME);
}

static void a_file_that_goes_ends_its_waits(void **state)
{
    (void)state;
    needs_syncobj();
    only_ours();
    struct file *other = card_open();
    uint32_t a = create(other, 0);
    struct drm_syncobj_wait w = wait_arg(&a, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                                         now_ns() + INT64_C(5000000000));
    struct pending *p = drm_start(other, DRM_IOCTL_SYNCOBJ_WAIT, &w);
    assert_false(drm_done(p));
    card_close(other);
    struct tp_kms_counts c;
    tp_kms_count(own_kms(), &c);
    assert_int_equal(c.waiters, 0);
    assert_int_equal(c.syncobjs, 0);
    assert_errno(drm_wait(p), EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(they_are_created_and_destroyed),
        test(unknown_flags_and_padding_are_refused),
        test(no_handles_are_refused),
        test(unknown_handles_are_not_found),
        test(handles_are_of_one_file),
        test(waiting_for_what_was_not_submitted_is_invalid),
        test(a_signalled_one_is_waited_for_at_once),
        test(a_wait_for_any_tells_the_first),
        test(a_wait_for_all_waits_for_all),
        test(a_wait_ends_with_the_signal),
        test(a_wait_ends_with_its_time),
        test(a_time_that_is_over_is_not_waited_for),
        test(one_is_passed_on_by_a_descriptor),
        test(other_descriptors_are_none),
        test(a_fence_is_put_in_and_waited_for),
        test(a_fence_is_taken_out),
        test(what_was_taken_out_stays_what_it_was),
        test(a_timeline_counts),
        test(points_up_to_the_last_one_are_reached),
        test(a_wait_for_a_point_ends_with_it),
        test(available_is_not_signalled),
        test(a_point_waits_for_those_before_it),
        test(points_are_reached_in_order_whatever_their_fences_do),
        test(a_points_fence_holds_those_before_it),
        test(a_long_timeline_stays_a_timeline),
        test(a_point_becomes_a_binary_ones_fence),
        test(a_binary_signal_starts_a_timeline_anew),
        test(a_transfer_may_wait_for_its_source),
        test(points_may_be_left_out),
        test(many_are_waited_for_at_a_time),
        test(an_eventfd_is_told_of_a_point),
        test(an_eventfd_is_told_of_a_fence),
        test(a_full_eventfd_is_told_and_blocks_nobody),
        test(an_eventfd_is_asked_for_properly),
        test(a_watched_one_may_go),
        test(a_waited_for_one_may_be_destroyed),
        test(a_file_that_goes_ends_its_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
