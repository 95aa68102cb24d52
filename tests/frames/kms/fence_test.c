/* When commits happen: blocking and not, IN_FENCE_FD and OUT_FENCE_PTR, async flips
 * (drm_atomic_uapi.c, drm_atomic_helper.c; IGT's kms_atomic, its fences). */
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

static struct output o;
static uint32_t fbs[2]; /* the first is on the screen */

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    fbs[0] = light_up(card, &o, 0);
    fbs[1] = fb_of(card, o.modes[0].hdisplay, o.modes[0].vdisplay, DRM_FORMAT_XRGB8888);
    return 0;
}

/* A flip to the other framebuffer, with these fences; 0 and -1: without. */
static struct request flip_with(unsigned to, int32_t *out_fence, int64_t in_fence)
{
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", fbs[to]);
    if (in_fence != -1)
        add(&r, card, o.primary, "IN_FENCE_FD", (uint64_t)in_fence);
    if (out_fence)
        add(&r, card, o.crtc, "OUT_FENCE_PTR", PTR(out_fence));
    return r;
}

static struct drm_event_vblank next_event(void)
{
    struct drm_event_vblank e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    return e;
}

static void a_blocking_commit_waits_for_its_refresh(void **state)
{
    (void)state;
    only_ours();
    struct request r = flip_with(1, NULL, -1);
    struct drm_mode_atomic arg = atomic_arg(&r, 0, 0);
    struct pending *p = drm_start(card, DRM_IOCTL_MODE_ATOMIC, &arg);
    assert_false(drm_done(p));
    tick(o.index);
    assert_true(drm_done(p));
    assert_ok(drm_wait(p));
}

static void a_nonblocking_commit_does_not_wait(void **state)
{
    (void)state;
    only_ours();
    struct request r = flip_with(1, NULL, -1);
    struct drm_mode_atomic arg = atomic_arg(&r, DRM_MODE_ATOMIC_NONBLOCK, 0);
    struct pending *p = drm_start(card, DRM_IOCTL_MODE_ATOMIC, &arg);
    assert_true(drm_done(p));
    assert_ok(drm_wait(p));
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[1]);
}

static void a_second_nonblocking_commit_is_busy(void **state)
{
    (void)state;
    if (is_real()) {
        /* As in flip_test: ours may show one before the refresh that is to come. */
        struct request each[2] = {flip_with(1, NULL, -1), flip_with(0, NULL, -1)};
        int got = 0;
        for (unsigned i = 0; i < 5 && got == 0; i++)
            got = commit(card, &each[i % 2], DRM_MODE_ATOMIC_NONBLOCK, 0);
        assert_errno(got, EBUSY);
        return;
    }
    struct request r = flip_with(1, NULL, -1);
    uint32_t flags = DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT;
    assert_ok(commit(card, &r, flags, 1));
    r = flip_with(0, NULL, -1);
    assert_errno(commit(card, &r, flags, 2), EBUSY);
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[1]);
    assert_errno(page_flip(card, o.crtc, fbs[0], 0, 0), EBUSY);
    struct request off = {0};
    add(&off, card, o.crtc, "ACTIVE", 0);
    assert_errno(commit(card, &off, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_ATOMIC_ALLOW_MODESET, 0),
                 EBUSY);
    /* A test is never busy. */
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    assert_ok(commit(card, &r, flags, 3));
    tick(o.index);
    assert_int_equal(next_event().user_data, 3);
    assert_false(has_event(card));
}

static void a_blocking_commit_waits_for_the_one_before(void **state)
{
    (void)state;
    struct request r = flip_with(1, NULL, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    r = flip_with(0, NULL, -1);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 2));
    struct drm_event_vblank a = next_event(), b = next_event();
    assert_int_equal(a.user_data, 1);
    assert_int_equal(b.user_data, 2);
    assert_true((int32_t)(b.sequence - a.sequence) >= 0);
}

static void other_crtcs_are_not_busy(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    uint32_t there = light_up(card, &second, 0);
    struct request r = flip_with(1, NULL, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    struct request q = {0};
    add(&q, card, second.primary, "FB_ID", there);
    assert_ok(commit(card, &q, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 2));
    tick(o.index);
    tick(second.index);
    next_event();
    next_event();
}

static void a_modeset_may_be_nonblocking(void **state)
{
    (void)state;
    if (o.n_modes < 2 || is_real())
        skip();
    uint32_t blob = create_blob(card, &o.modes[1], sizeof o.modes[1]);
    struct request r = {0};
    add(&r, card, o.crtc, "MODE_ID", blob);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_ATOMIC_NONBLOCK |
                                   DRM_MODE_PAGE_FLIP_EVENT,
                     4));
    tick(o.index);
    assert_int_equal(next_event().user_data, 4);
    assert_true(shown(o.index)->modeset);
    assert_int_equal(shown(o.index)->mode.refresh_mhz, 120000);
}

/* Not only the event of what is shown: a screen that goes off has one, too. */
static void switching_off_has_an_event(void **state)
{
    (void)state;
    struct request r = {0};
    add(&r, card, o.crtc, "ACTIVE", 0);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_PAGE_FLIP_EVENT, 8));
    assert_int_equal(next_event().user_data, 8);
}

static void an_in_fence_holds_the_picture_back(void **state)
{
    (void)state;
    int fence = make_fence();
    struct request r = flip_with(1, NULL, fence);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    for (int i = 0; i < 3; i++)
        tick(o.index);
    assert_false(has_event(card));
    r = flip_with(0, NULL, -1);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0), EBUSY);
    signal_fence(fence);
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    close(fence);
}

static void a_blocking_commit_waits_for_its_fence(void **state)
{
    (void)state;
    int fence = make_fence();
    struct request r = flip_with(1, NULL, fence);
    struct drm_mode_atomic arg = atomic_arg(&r, 0, 0);
    struct pending *p = drm_start(card, DRM_IOCTL_MODE_ATOMIC, &arg);
    for (int i = 0; i < 3; i++)
        if (!is_real())
            tick(o.index);
    assert_false(drm_done(p));
    signal_fence(fence);
    assert_ok(drm_wait(p));
    close(fence);
}

static void every_planes_fence_is_waited_for(void **state)
{
    (void)state;
    if (!o.overlay)
        skip();
    int a = make_fence(), b = make_fence();
    struct request r = flip_with(1, NULL, a);
    add_plane(&r, card, o.overlay, o.crtc, fb_of(card, 64, 64, DRM_FORMAT_ARGB8888), 0, 0, 64, 64);
    add(&r, card, o.overlay, "IN_FENCE_FD", (uint64_t)b);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    signal_fence(a);
    tick(o.index);
    assert_false(has_event(card));
    signal_fence(b);
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    close(a);
    close(b);
}

static void a_signalled_in_fence_holds_nothing_back(void **state)
{
    (void)state;
    int fence = make_fence();
    signal_fence(fence);
    struct request r = flip_with(1, NULL, fence);
    assert_ok(commit(card, &r, 0, 0));
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[1]);
    close(fence);
}

static void the_fence_may_be_closed_after_the_call(void **state)
{
    (void)state;
    only_ours(); /* a real timeline signals what is closed as well, but not by its number */
    int fence = make_fence(), mine = dup(fence);
    struct request r = flip_with(1, NULL, fence);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    close(fence);
    tick(o.index);
    assert_false(has_event(card));
    signal_fence(mine);
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    close(mine);
}

static void what_is_no_fence_is_refused(void **state)
{
    (void)state;
    struct request r = flip_with(1, NULL, 9999);
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    r = flip_with(1, NULL, INT32_MAX);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), EINVAL);
    int memory = memfd_create("no fence", MFD_CLOEXEC);
    r = flip_with(1, NULL, memory);
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    close(memory);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    r = flip_with(1, NULL, null);
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    close(null);
    r = flip_with(1, NULL, -2); /* under the property's range */
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[0]);
}

static void one_plane_takes_one_fence(void **state)
{
    (void)state;
    int fence = make_fence();
    struct request r = flip_with(1, NULL, fence);
    add(&r, card, o.primary, "IN_FENCE_FD", (uint64_t)fence);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), EINVAL);
    signal_fence(fence);
    close(fence);
}

static void a_test_takes_a_fence_and_waits_for_nothing(void **state)
{
    (void)state;
    int fence = make_fence();
    struct request r = flip_with(1, NULL, fence);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
    assert_int_equal((int64_t)property_value(card, o.primary, "IN_FENCE_FD"), -1);
    signal_fence(fence);
    close(fence);
}

static void a_fence_and_no_crtc_is_refused(void **state)
{
    (void)state;
    int fence = make_fence();
    struct request r = flip_with(1, NULL, fence);
    add(&r, card, o.primary, "CRTC_ID", 0xffffffff);
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    signal_fence(fence);
    close(fence);
}

static void an_out_fence_signals_when_it_is_shown(void **state)
{
    (void)state;
    int32_t out = 99;
    struct request r = flip_with(1, &out, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0));
    assert_true(out >= 0 && out != 99);
    assert_true(fcntl(out, F_GETFD) & FD_CLOEXEC);
    if (!is_real())
        assert_false(fence_signalled(out));
    tick(o.index);
    assert_true(fence_signalled(out));
    close(out);
    assert_false(has_event(card)); /* it needs no event */
}

static void an_out_fence_and_an_event_come_together(void **state)
{
    (void)state;
    int32_t out = -1;
    struct request r = flip_with(1, &out, -1);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_EVENT, 3));
    assert_int_equal(next_event().user_data, 3);
    assert_true(fence_signalled(out));
    close(out);
}

/* A flip with an out-fence, whose refresh has not come. */
static int pending_fence(unsigned to)
{
    int32_t out = -1;
    struct request r = flip_with(to, &out, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    assert_true(out >= 0);
    assert_false(fence_signalled(out));
    return out;
}

/* As an event loop sees it. */
static bool fence_wakes(int fd)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC);
    assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev), 0);
    bool woke = epoll_wait(set, &ev, 1, 0) == 1 && (ev.events & EPOLLIN);
    close(set);
    return woke;
}

static void nothing_that_is_written_to_a_fence_counts(void **state)
{
    (void)state;
    only_ours();
    int out = pending_fence(1), mine = dup(out);
    alarm(60);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(send(mine, &(uint64_t){UINT64_MAX - 1}, 8, MSG_NOSIGNAL), -1);
    fcntl(mine, F_SETFL, 0);
    shutdown(mine, SHUT_WR);
    assert_false(fence_signalled(out));
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    assert_true(fence_signalled(out) && fence_wakes(out));
    alarm(0);
    close(out);
    close(mine);
}

static void nobody_takes_a_signal_back(void **state)
{
    (void)state;
    only_ours();
    char bytes[64];
    int out = pending_fence(1), mine = dup(out);
    tick(o.index);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(read(mine, bytes, sizeof bytes), 0);
    shutdown(mine, SHUT_RDWR);
    assert_int_equal(connect(mine, &(struct sockaddr){.sa_family = AF_UNSPEC}, 2), -1);
    assert_int_equal(listen(mine, 1), -1);
    close(mine);
    assert_true(fence_signalled(out) && fence_wakes(out));
    close(out);
}

/* Too early, for those whom it gave the fence to: nothing that is shown hangs on it. */
static void who_shuts_a_fence_down_signals_it_for_itself(void **state)
{
    (void)state;
    only_ours();
    int out = pending_fence(1), mine = dup(out);
    shutdown(mine, SHUT_RDWR);
    assert_true(fence_signalled(out));
    assert_false(has_event(card));
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
    assert_true(fence_signalled(out));
    close(out);
    close(mine);
}

static void an_out_fence_is_an_in_fence(void **state)
{
    (void)state;
    if (is_real())
        skip();
    int out = pending_fence(1);
    tick(o.index);
    next_event();
    struct request r = flip_with(0, NULL, out);
    assert_ok(commit(card, &r, 0, 0));
    close(out);
    out = pending_fence(1);
    r = flip_with(0, NULL, out);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
    tick(o.index);
    close(out);
}

/* A socket that another process has made. */
static int foreign_socket(void)
{
    int way[2], ends[2], fd = -1;
    char control[CMSG_SPACE(sizeof fd)], byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, way), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
            _exit(1);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &ends[1], sizeof fd);
        _exit(sendmsg(way[0], &m, 0) == 1 ? 0 : 1);
    }
    assert_int_equal(recvmsg(way[1], &m, MSG_CMSG_CLOEXEC), 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(way[0]);
    close(way[1]);
    return fd;
}

/* What is looked at might ask its maker, and wait for him; the end to write is never readable. */
static void what_only_looks_like_a_fence_is_refused(void **state)
{
    (void)state;
    if (is_real())
        skip();
    int pipes[2], packets[2];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, packets), 0);
    const int wrong[] = {epoll_create1(EPOLL_CLOEXEC), foreign_socket(), packets[0], pipes[1],
                         timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        assert_true(wrong[i] >= 0);
        struct request r = flip_with(1, NULL, wrong[i]);
        assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), EINVAL);
        close(wrong[i]);
    }
    struct request r = flip_with(1, NULL, pipes[0]);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
    close(pipes[0]);
    close(packets[1]);
}

static void no_out_fence_is_made_for_an_address_of_0(void **state)
{
    (void)state;
    struct request r = flip_with(1, NULL, -1);
    add(&r, card, o.crtc, "OUT_FENCE_PTR", 0);
    unsigned before = n_descriptors();
    assert_ok(commit(card, &r, 0, 0));
    assert_int_equal(n_descriptors(), before);
    assert_int_equal(property_value(card, o.crtc, "OUT_FENCE_PTR"), 0);
}

static void a_test_leaves_the_out_fence_at_minus_1(void **state)
{
    (void)state;
    int32_t out = 99;
    struct request r = flip_with(1, &out, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0));
    assert_int_equal(out, -1);
}

static void a_refused_commit_leaves_the_out_fence_at_minus_1(void **state)
{
    (void)state;
    int32_t out = 99;
    struct request r = {0};
    add(&r, card, o.crtc, "OUT_FENCE_PTR", PTR(&out));
    add(&r, card, o.primary, "FB_ID", 0);
    unsigned before = n_descriptors();
    assert_errno(commit(card, &r, 0, 0), EINVAL);
    assert_int_equal(out, -1);
    assert_int_equal(n_descriptors(), before);
}

static void a_busy_commit_gives_no_out_fence(void **state)
{
    (void)state;
    only_ours();
    struct request r = flip_with(1, NULL, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0));
    int32_t out = 99;
    r = flip_with(0, &out, -1);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0), EBUSY);
    assert_int_equal(out, -1);
}

static void a_dark_crtc_gives_no_out_fence(void **state)
{
    (void)state;
    int32_t out = 99;
    assert_ok(switch_off(card, &o));
    struct request r = {0};
    add(&r, card, o.crtc, "OUT_FENCE_PTR", PTR(&out));
    assert_errno(commit(card, &r, 0, 0), EINVAL); /* requesting event but off */
    assert_int_equal(out, -1);
}

static void a_fence_of_the_second_crtc_is_waited_for(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    light_up(card, &second, 0);
    uint32_t fb = fb_of(card, second.modes[0].hdisplay, second.modes[0].vdisplay,
                        DRM_FORMAT_XRGB8888);
    int fence = make_fence();
    struct request r = flip_with(1, NULL, -1);
    add(&r, card, second.primary, "FB_ID", fb);
    add(&r, card, second.primary, "IN_FENCE_FD", (uint64_t)fence);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    for (int i = 0; i < 3; i++) {
        tick(o.index);
        tick(second.index);
    }
    assert_int_equal(next_event().crtc_id, o.crtc);
    assert_false(has_event(card));
    signal_fence(fence);
    tick(second.index);
    assert_int_equal(next_event().crtc_id, second.crtc);
    close(fence);
}

static void two_crtcs_give_two_out_fences(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    uint32_t there = light_up(card, &second, 0);
    int32_t a = -1, b = -1;
    struct request r = flip_with(1, &a, -1);
    add(&r, card, second.primary, "FB_ID", there);
    add(&r, card, second.crtc, "OUT_FENCE_PTR", PTR(&b));
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0));
    assert_true(a >= 0 && b >= 0 && a != b);
    tick(o.index);
    if (!is_real())
        assert_true(fence_signalled(a) && !fence_signalled(b));
    tick(second.index);
    assert_true(fence_signalled(b));
    close(a);
    close(b);
}

/* The one's out-fence is the other's in-fence. */
static void an_out_fence_is_good_for_an_in_fence(void **state)
{
    (void)state;
    int32_t out = -1;
    struct request r = flip_with(1, &out, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0));
    tick(o.index);
    r = flip_with(0, NULL, out);
    assert_ok(commit(card, &r, 0, 0));
    close(out);
}

static void out_fences_of_what_could_not_be_shown_signal(void **state)
{
    (void)state;
    only_ours();
    break_screen(o.index, -EIO);
    int32_t out = -1;
    struct request r = flip_with(1, &out, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0));
    tick(o.index);
    assert_true(fence_signalled(out));
    close(out);
    break_screen(o.index, 0);
    assert_ok(switch_off(card, &o));
}

static void no_fence_to_give_is_told_and_changes_nothing(void **state)
{
    (void)state;
    only_ours();
    int32_t out = 99;
    struct request r = flip_with(1, &out, -1);
    unsigned before = n_descriptors(), commits = n_commits();
    break_fences(true);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK, 0), EMFILE);
    break_fences(false);
    assert_int_equal(out, -1);
    assert_int_equal(n_descriptors(), before);
    assert_int_equal(n_commits(), commits);
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[0]);
    assert_ok(commit(card, &r, 0, 0));
    assert_true(out >= 0);
    close(out);
}

static bool async_flips(uint64_t cap)
{
    uint64_t value = 0;
    return get_cap(card, cap, &value) == 0 && value == 1;
}

static void an_async_flip_does_not_wait_for_the_refresh(void **state)
{
    (void)state;
    if (!async_flips(DRM_CAP_ASYNC_PAGE_FLIP))
        skip();
    assert_ok(page_flip(card, o.crtc, fbs[1], DRM_MODE_PAGE_FLIP_ASYNC | DRM_MODE_PAGE_FLIP_EVENT,
                        1));
    if (!is_real())
        assert_true(shown(o.index)->async);
    assert_int_equal(next_event().user_data, 1);
}

static void an_atomic_async_flip_does_not_wait_either(void **state)
{
    (void)state;
    if (!async_flips(DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP))
        skip();
    struct request r = flip_with(1, NULL, -1);
    assert_ok(commit(card, &r,
                     DRM_MODE_PAGE_FLIP_ASYNC | DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT,
                     2));
    if (!is_real())
        assert_true(shown(o.index)->async);
    assert_int_equal(next_event().user_data, 2);
}

/* drm_atomic_check_prop_changes: "No prop can be changed during async flip". */
static void an_async_flip_changes_the_framebuffer_alone(void **state)
{
    (void)state;
    if (!async_flips(DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP))
        skip();
    struct request r = flip_with(1, NULL, -1);
    add(&r, card, o.primary, "CRTC_ID", o.crtc); /* what it is already */
    add(&r, card, o.primary, "CRTC_X", 0);
    add(&r, card, o.primary, "SRC_W", (uint64_t)o.modes[0].hdisplay << 16);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_ASYNC | DRM_MODE_ATOMIC_TEST_ONLY, 0));
    add(&r, card, o.primary, "CRTC_X", 1);
    assert_errno(commit(card, &r, DRM_MODE_PAGE_FLIP_ASYNC, 0), EINVAL);
    r = flip_with(1, NULL, -1);
    add(&r, card, o.crtc, "VRR_ENABLED", 1);
    assert_errno(commit(card, &r, DRM_MODE_PAGE_FLIP_ASYNC, 0), EINVAL);
    r = flip_with(1, NULL, -1);
    add(&r, card, o.connector, "CRTC_ID", o.crtc);
    assert_ok(commit(card, &r, DRM_MODE_PAGE_FLIP_ASYNC | DRM_MODE_ATOMIC_TEST_ONLY, 0));
    add(&r, card, o.connector, "CRTC_ID", 0);
    assert_errno(commit(card, &r, DRM_MODE_PAGE_FLIP_ASYNC, 0), EINVAL);
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[0]);
}

static void an_async_flip_is_of_the_primary_plane(void **state)
{
    (void)state;
    if (!async_flips(DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP) || !o.overlay)
        skip();
    uint32_t a = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    uint32_t b = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, a, 0, 0, 64, 64);
    assert_ok(commit(card, &r, 0, 0));
    r.n = 0;
    add(&r, card, o.overlay, "FB_ID", b);
    assert_errno(commit(card, &r, DRM_MODE_PAGE_FLIP_ASYNC, 0), EINVAL);
}

static void a_client_that_dies_leaves_its_commit_to_end(void **state)
{
    (void)state;
    only_ours();
    int fence = make_fence();
    struct request r = flip_with(1, NULL, fence);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    card_close(card);
    signal_fence(fence);
    tick(o.index);
    tick(o.index);
    close(fence);
    card = card_open();
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1));
    assert_int_equal(property_value(card, o.primary, "FB_ID"), 0);
}

static void a_flip_ends_though_its_client_is_master_no_more(void **state)
{
    (void)state;
    struct request r = flip_with(1, NULL, -1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 1));
    assert_ok(drm(card, DRM_IOCTL_DROP_MASTER, NULL));
    assert_errno(commit(card, &r, 0, 0), EACCES);
    tick(o.index);
    assert_int_equal(next_event().user_data, 1);
}

static void a_waiting_call_may_be_abandoned(void **state)
{
    (void)state;
    only_ours();
    struct request r = flip_with(1, NULL, -1);
    struct drm_mode_atomic arg = atomic_arg(&r, 0, 0);
    struct pending *p = drm_start(card, DRM_IOCTL_MODE_ATOMIC, &arg);
    assert_false(drm_done(p));
    drm_abandon(p);
    tick(o.index);
    struct tp_kms_counts c;
    tp_kms_count(own_kms(), &c);
    assert_int_equal(c.waiters, 0);
    assert_int_equal(property_value(card, o.primary, "FB_ID"), fbs[1]);
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(a_blocking_commit_waits_for_its_refresh),
        lit(a_nonblocking_commit_does_not_wait),
        lit(a_second_nonblocking_commit_is_busy),
        lit(a_blocking_commit_waits_for_the_one_before),
        lit(other_crtcs_are_not_busy),
        lit(a_modeset_may_be_nonblocking),
        lit(switching_off_has_an_event),
        lit(an_in_fence_holds_the_picture_back),
        lit(a_blocking_commit_waits_for_its_fence),
        lit(every_planes_fence_is_waited_for),
        lit(a_signalled_in_fence_holds_nothing_back),
        lit(the_fence_may_be_closed_after_the_call),
        lit(what_is_no_fence_is_refused),
        lit(one_plane_takes_one_fence),
        lit(a_test_takes_a_fence_and_waits_for_nothing),
        lit(a_fence_and_no_crtc_is_refused),
        lit(an_out_fence_signals_when_it_is_shown),
        lit(nothing_that_is_written_to_a_fence_counts),
        lit(nobody_takes_a_signal_back),
        lit(who_shuts_a_fence_down_signals_it_for_itself),
        lit(an_out_fence_is_an_in_fence),
        lit(what_only_looks_like_a_fence_is_refused),
        lit(an_out_fence_and_an_event_come_together),
        lit(no_out_fence_is_made_for_an_address_of_0),
        lit(a_test_leaves_the_out_fence_at_minus_1),
        lit(a_refused_commit_leaves_the_out_fence_at_minus_1),
        lit(a_busy_commit_gives_no_out_fence),
        lit(a_dark_crtc_gives_no_out_fence),
        lit(a_fence_of_the_second_crtc_is_waited_for),
        lit(two_crtcs_give_two_out_fences),
        lit(an_out_fence_is_good_for_an_in_fence),
        lit(out_fences_of_what_could_not_be_shown_signal),
        lit(no_fence_to_give_is_told_and_changes_nothing),
        lit(an_async_flip_does_not_wait_for_the_refresh),
        lit(an_atomic_async_flip_does_not_wait_either),
        lit(an_async_flip_changes_the_framebuffer_alone),
        lit(an_async_flip_is_of_the_primary_plane),
        lit(a_client_that_dies_leaves_its_commit_to_end),
        lit(a_flip_ends_though_its_client_is_master_no_more),
        lit(a_waiting_call_may_be_abandoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
