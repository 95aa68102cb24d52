/* The Wayland target, against a compositor whose every step is the test's. */
#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <wayland-client.h>

#include "frames/icd/clock.h"
#include "frames/icd/target.h"
#include "wayland_double.h"
#include "wayland_guest.h"

#define FIFO VK_PRESENT_MODE_FIFO_KHR
#define MAILBOX VK_PRESENT_MODE_MAILBOX_KHR
#define IMMEDIATE VK_PRESENT_MODE_IMMEDIATE_KHR

/* --- the application --- */

static struct wl_display *display;
static struct wl_compositor *compositor;
static struct wl_surface *surface;
static struct tp_target *target;
static struct guest guest, second;

static void on_global(
    void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version)
{
    (void)data;
    if (strcmp(interface, "wl_compositor") == 0)
        compositor = wl_registry_bind(r, name, &wl_compositor_interface, version);
}

static void on_global_remove(void *data, struct wl_registry *r, uint32_t name)
{
    (void)data;
    (void)r;
    (void)name;
}

static void begin(const struct double_options *options)
{
    static const struct wl_registry_listener listener = {on_global, on_global_remove};
    int fd = double_start(options);

    assert_true(fd >= 0);
    display = wl_display_connect_to_fd(fd);
    assert_non_null(display);
    struct wl_registry *registry = wl_display_get_registry(display);
    wl_registry_add_listener(registry, &listener, NULL);
    assert_true(wl_display_roundtrip(display) >= 0);
    wl_registry_destroy(registry);
    surface = wl_compositor_create_surface(compositor);
    assert_int_equal(tp_target_wayland_create(display, surface, &target), 0);
}

static void end(void)
{
    target->ops->destroy(target);
    wl_surface_destroy(surface);
    wl_compositor_destroy(compositor);
    wl_display_disconnect(display);
    double_lock();
    unsigned errors = double_n_errors;
    double_unlock();
    double_stop();
    assert_int_equal(errors, 0);
}

static struct tp_target_caps caps(void)
{
    struct tp_target_caps c;

    assert_int_equal(target->ops->query(target, &c), 0);
    return c;
}

static void open_shared(struct guest *g)
{
    struct tp_stream_info info = guest_info(16, 8);

    assert_int_equal(guest_open(g, target, &info, TP_MEMORY_SHARED, DRM_FORMAT_MOD_LINEAR), 0);
}

static void open_dmabuf(struct guest *g)
{
    struct tp_stream_info info = guest_info(16, 8);

    assert_int_equal(guest_open(g, target, &info, TP_MEMORY_DMABUF, DRM_FORMAT_MOD_LINEAR), 0);
}

/* How many commits there are, once the compositor has all that was sent. */
static unsigned commits(void)
{
    assert_true(wl_display_roundtrip(display) >= 0);
    double_lock();
    unsigned n = double_n_commits;
    double_unlock();
    return n;
}

static struct double_commit commit_at(unsigned n)
{
    double_lock();
    struct double_commit c = double_commits[n];
    double_unlock();
    return c;
}

static void refresh(void)
{
    double_lock();
    double_refresh();
    double_unlock();
}

static void release(unsigned commit)
{
    double_lock();
    double_release(commit, -1);
    double_unlock();
}

static void show(unsigned commit, int64_t time_ns, uint32_t period_ns, uint64_t sequence)
{
    double_lock();
    double_shown(commit, time_ns, period_ns, sequence, true);
    double_unlock();
}

/* --- what it offers --- */

static bool has(const struct tp_target_format *f, uint32_t n, uint32_t fourcc, uint64_t modifier,
    uint32_t memory)
{
    for (uint32_t i = 0; i < n; i++) {
        if (f[i].fourcc == fourcc && f[i].modifier == modifier && f[i].memory == memory)
            return true;
    }
    return false;
}

static uint32_t formats(struct tp_target_format **out)
{
    uint32_t n = 0;

    assert_int_equal(target->ops->formats(target, out, &n), 0);
    return n;
}

static void formats_are_the_compositors_best_ones_first(void **state)
{
    struct tp_target_format *f;

    (void)state;
    begin(&(struct double_options){.dmabuf = 4});
    uint32_t n = formats(&f);
    /* The vendor's tranche, the linear one, once each; then those of shared memory. */
    assert_int_equal(n, 6);
    assert_int_equal(f[0].fourcc, DRM_FORMAT_XRGB8888);
    assert_true(f[0].modifier == DOUBLE_MODIFIER && f[0].memory == TP_MEMORY_DMABUF);
    assert_true(f[1].modifier == DOUBLE_MODIFIER && f[1].fourcc == DRM_FORMAT_ARGB8888);
    assert_true(f[2].modifier == DRM_FORMAT_MOD_LINEAR && f[2].memory == TP_MEMORY_DMABUF);
    assert_true(has(&f[4], 2, DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_SHARED));
    assert_true(has(&f[4], 2, DRM_FORMAT_ARGB8888, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_SHARED));
    free(f);
    assert_int_equal(caps().device, DOUBLE_DEVICE);
    assert_true(tp_target_wayland_supports(display));
    end();
}

static void older_compositors_tell_modifiers_or_formats_alone(void **state)
{
    struct tp_target_format *f;

    (void)state;
    begin(&(struct double_options){.dmabuf = 3, .no_shm = true});
    uint32_t n = formats(&f);
    assert_int_equal(n, 4);
    assert_true(has(f, n, DRM_FORMAT_XRGB8888, DOUBLE_MODIFIER, TP_MEMORY_DMABUF));
    free(f);
    end();
    begin(&(struct double_options){.dmabuf = 1, .no_shm = true});
    n = formats(&f);
    assert_int_equal(n, 4);
    assert_true(has(f, n, DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_INVALID, TP_MEMORY_DMABUF));
    free(f);
    open_dmabuf(&guest); /* linear: whatever that is between driver and compositor */
    guest_close(&guest);
    end();
}

static void a_compositor_without_buffers_supports_nothing(void **state)
{
    (void)state;
    begin(&(struct double_options){.no_shm = true});
    assert_false(tp_target_wayland_supports(display));
    end();
}

static bool has_mode(const struct tp_target_caps *c, VkPresentModeKHR mode)
{
    for (uint32_t i = 0; i < c->n_modes; i++) {
        if (c->modes[i] == mode)
            return true;
    }
    return false;
}

static void tearing_fences_and_times_are_offered_where_the_compositor_has_them(void **state)
{
    (void)state;
    begin(&(struct double_options){.dmabuf = 4});
    struct tp_target_caps c = caps();
    assert_true(has_mode(&c, FIFO) && has_mode(&c, MAILBOX));
    assert_false(has_mode(&c, IMMEDIATE) || has_mode(&c, VK_PRESENT_MODE_FIFO_RELAXED_KHR));
    assert_false(c.takes_fences || c.timed);
    assert_int_equal(c.width, 0);
    end();
    begin(
        &(struct double_options){.dmabuf = 4, .sync = true, .presentation = true, .tearing = true});
    c = caps();
    assert_true(has_mode(&c, IMMEDIATE) && has_mode(&c, VK_PRESENT_MODE_FIFO_RELAXED_KHR));
    assert_true(c.takes_fences && c.timed);
    end();
}

/* --- turns --- */

static void fifo_sends_one_picture_a_refresh(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(guest_present(&guest, i, FIFO), 0);
    assert_int_equal(commits(), 1);
    assert_int_equal(guest_count(&guest, GUEST_COMMITTED), 1);
    assert_int_equal(commit_at(0).first_pixel, 0x01010101);
    refresh();
    assert_true(double_await_commits(2));
    assert_int_equal(commits(), 2);
    assert_int_equal(commit_at(1).first_pixel, 0x02020202);
    release(0);
    assert_true(guest_await(&guest, GUEST_RELEASED, 1));
    assert_int_equal(guest_event(&guest, GUEST_RELEASED, 0).index, 0);
    refresh();
    assert_true(double_await_commits(3));
    refresh();
    /* Without anything under way the next one goes at once. */
    assert_true(guest_await(&guest, GUEST_SHOWN, 3));
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(commits(), 4);
    guest_close(&guest);
    end();
}

/* A window that nobody sees has no refreshes. */
static void a_hidden_window_does_not_hold_fifo_for_ever(void **state)
{
    (void)state;
    begin(&(struct double_options){.presentation = true});
    open_shared(&guest);
    int64_t from = tp_icd_now_ns();
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(guest_present(&guest, i, FIFO), 0);
    assert_true(double_await_commits(4));
    /* Half a second for the first, 100 ms each then. */
    assert_true(tp_icd_now_ns() - from >= 700000000);
    double_lock();
    assert_int_equal(double_n_frames, 1); /* they do not heap up */
    double_unlock();
    /* Seen again, it keeps turns again. */
    refresh();
    release(0);
    release(1);
    assert_true(guest_await(&guest, GUEST_RELEASED, 2));
    assert_true(guest_await(&guest, GUEST_COMMITTED, 4));
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_true(double_await_commits(5));
    assert_int_equal(guest_present(&guest, 1, FIFO), 0);
    assert_int_equal(commits(), 5);
    guest_close(&guest);
    end();
}

static void mailbox_goes_at_once_but_takes_no_fifo_pictures_turn(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
    assert_int_equal(guest_present(&guest, 1, MAILBOX), 0);
    assert_int_equal(commits(), 2);
    assert_int_equal(guest_event(&guest, GUEST_DISCARDED, 0).serial, 1);
    assert_int_equal(guest_present(&guest, 2, FIFO), 0); /* the mailbox's has its refresh first */
    assert_int_equal(commits(), 2);
    refresh();
    assert_true(double_await_commits(3));
    release(0);
    assert_true(guest_await(&guest, GUEST_RELEASED, 1));
    assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
    assert_int_equal(guest_present(&guest, 3, MAILBOX), 0);
    assert_int_equal(commits(), 3);
    assert_true(guest_await(&guest, GUEST_RELEASED, 2)); /* the newer took its place */
    assert_int_equal(guest_event(&guest, GUEST_RELEASED, 1).index, 0);
    refresh();
    assert_true(double_await_commits(4));
    assert_int_equal(commit_at(3).first_pixel, 0x04040404);
    guest_close(&guest);
    end();
}

static void immediate_goes_at_once_and_may_tear(void **state)
{
    (void)state;
    begin(&(struct double_options){.tearing = true});
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(guest_present(&guest, 1, IMMEDIATE), 0);
    assert_int_equal(commits(), 2);
    assert_int_equal(commit_at(0).hint, 0);
    assert_int_equal(commit_at(1).hint, 1);
    assert_int_equal(guest_present(&guest, 2, FIFO), 0);
    refresh();
    assert_true(double_await_commits(3));
    assert_int_equal(commit_at(2).hint, 0);
    guest_close(&guest);
    end();
}

/* FIFO_RELAXED: only a picture that missed its refresh may tear. */
static void relaxed_may_tear_where_it_is_late(void **state)
{
    (void)state;
    begin(&(struct double_options){.tearing = true, .presentation = true});
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, VK_PRESENT_MODE_FIFO_RELAXED_KHR), 0);
    assert_int_equal(guest_present(&guest, 1, VK_PRESENT_MODE_FIFO_RELAXED_KHR), 0);
    assert_int_equal(commits(), 1);
    show(0, 1000000000, 20000000, 1);
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    refresh();
    assert_true(double_await_commits(2));
    assert_int_equal(commit_at(1).hint, 0);
    refresh();
    show(1, 1020000000, 20000000, 2);
    assert_true(guest_await(&guest, GUEST_SHOWN, 2));
    nanosleep(&(struct timespec){0, 40000000}, NULL);
    assert_int_equal(guest_present(&guest, 2, VK_PRESENT_MODE_FIFO_RELAXED_KHR), 0);
    assert_int_equal(commits(), 3);
    assert_int_equal(commit_at(2).hint, 1);
    guest_close(&guest);
    end();
}

static void a_picture_waits_for_its_instant(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* the target's thread sleeps by now */
    int64_t at = tp_icd_now_ns() + 150000000;
    assert_int_equal(
        guest_present_more(&guest,
            (struct tp_picture){.index = 0, .fence = -1, .mode = FIFO, .not_before_ns = at}),
        0);
    assert_true(double_await_commits(1));
    assert_true(tp_icd_now_ns() >= at);
    guest_close(&guest);
    end();
}

/* --- fences --- */

/* Any descriptor will do for a fence here: what counts is that it arrives. */
static int some_fence(ino_t *out)
{
    int fds[2];
    struct stat st;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(fstat(fds[0], &st), 0);
    *out = st.st_ino;
    close(fds[1]);
    return fds[0];
}

static ino_t inode(int fd)
{
    struct stat st = {0};

    fstat(fd, &st);
    return st.st_ino;
}

static void fences_go_there_and_come_back(void **state)
{
    ino_t acquire, away;
    struct stat image;

    (void)state;
    begin(&(struct double_options){.dmabuf = 4, .sync = true});
    open_dmabuf(&guest);
    assert_int_equal(
        guest_present_more(
            &guest, (struct tp_picture){.index = 2, .fence = some_fence(&acquire), .mode = FIFO}),
        0);
    assert_int_equal(commits(), 1);
    struct double_commit c = commit_at(0);
    assert_int_equal(inode(c.fence), acquire);
    assert_int_equal(fstat(guest.fds[2], &image), 0);
    assert_int_equal(c.memory, image.st_ino);
    int fence = some_fence(&away);
    double_lock();
    double_release_buffer(0); /* comes as well; the fence is what counts */
    double_release(0, fence);
    double_unlock();
    close(fence);
    assert_true(guest_await(&guest, GUEST_RELEASED, 1));
    assert_int_equal(inode(guest_event(&guest, GUEST_RELEASED, 0).fence), away);
    refresh();
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    assert_int_equal(guest_present(&guest, 3, FIFO), 0);
    assert_int_equal(commits(), 2);
    assert_int_equal(commit_at(1).fence, -1);
    release(1);
    assert_true(guest_await(&guest, GUEST_RELEASED, 2));
    assert_int_equal(guest_event(&guest, GUEST_RELEASED, 1).fence, -1);
    assert_int_equal(guest_count(&guest, GUEST_RELEASED), 2);
    guest_close(&guest);
    end();
}

static void shared_memory_waits_here_for_its_fence(void **state)
{
    int fds[2];

    (void)state;
    begin(&(struct double_options){.dmabuf = 4, .sync = true});
    open_shared(&guest);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(
        guest_present_more(&guest, (struct tp_picture){.index = 0, .fence = fds[0], .mode = FIFO}),
        0);
    assert_int_equal(commits(), 0);
    close(fds[1]); /* readable from now on: it signals */
    assert_true(double_await_commits(1));
    assert_int_equal(commit_at(0).fence, -1);
    guest_close(&guest);
    end();
}

/* --- shown --- */

static void shown_times_are_the_monotonic_clocks(void **state)
{
    struct timespec t;

    (void)state;
    begin(&(struct double_options){.presentation = true, .clock = CLOCK_REALTIME});
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(commits(), 1);
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t now = tp_icd_now_ns();
    show(0, (int64_t)t.tv_sec * 1000000000 + t.tv_nsec, 8333333, UINT64_C(5) << 32 | 7);
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    struct tp_shown s = guest_event(&guest, GUEST_SHOWN, 0).shown;
    assert_true(s.time_ns > now - 50000000 && s.time_ns < now + 50000000);
    assert_int_equal(s.period_ns, 8333333);
    assert_true(s.sequence == (UINT64_C(5) << 32 | 7));
    assert_true(s.exact);
    assert_int_equal(caps().period_ns, 8333333);
    guest_close(&guest);
    end();
}

static void what_another_picture_replaced_was_not_shown(void **state)
{
    (void)state;
    begin(&(struct double_options){.presentation = true, .clock = CLOCK_MONOTONIC});
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
    assert_int_equal(guest_present(&guest, 1, MAILBOX), 0);
    assert_int_equal(commits(), 2);
    double_lock();
    double_discarded(0);
    double_shown(1, 77000000123, 0, 0, false);
    double_unlock();
    assert_true(guest_await(&guest, GUEST_SHOWN, 1) && guest_await(&guest, GUEST_DISCARDED, 1));
    assert_int_equal(guest_event(&guest, GUEST_DISCARDED, 0).serial, 1);
    struct tp_shown s = guest_event(&guest, GUEST_SHOWN, 0).shown;
    assert_true(s.serial == 2 && s.time_ns == 77000000123 && !s.exact && s.period_ns == 0);
    guest_close(&guest);
    end();
}

static void without_presentation_a_refresh_shows_the_picture(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    int64_t from = tp_icd_now_ns();
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(commits(), 1);
    assert_int_equal(guest_count(&guest, GUEST_SHOWN), 0);
    refresh();
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    struct tp_shown s = guest_event(&guest, GUEST_SHOWN, 0).shown;
    assert_true(s.serial == 1 && s.time_ns >= from && s.time_ns <= tp_icd_now_ns() && !s.exact);
    guest_close(&guest);
    end();
}

/* It has presentation, and says nothing. */
static void a_compositor_that_tells_nothing_is_not_waited_for(void **state)
{
    (void)state;
    begin(&(struct double_options){.presentation = true});
    open_shared(&guest);
    assert_true(caps().timed);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(commits(), 1);
    int64_t from = tp_icd_now_ns();
    refresh();
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    assert_true(tp_icd_now_ns() - from >= 200000000);
    assert_true(guest_event(&guest, GUEST_SHOWN, 0).shown.time_ns < from + 200000000);
    assert_false(caps().timed);
    assert_int_equal(guest_present(&guest, 1, FIFO), 0);
    assert_int_equal(commits(), 2);
    refresh();
    assert_true(guest_await(&guest, GUEST_SHOWN, 2)); /* at once now */
    /* It tells after all. */
    assert_int_equal(guest_present(&guest, 2, FIFO), 0);
    assert_int_equal(commits(), 3);
    show(2, 1000, 1, 1);
    assert_true(guest_await(&guest, GUEST_SHOWN, 3));
    assert_true(guest_event(&guest, GUEST_SHOWN, 2).shown.exact);
    assert_true(caps().timed);
    guest_close(&guest);
    end();
}

/* --- what a commit says --- */

static void damage_is_all_at_first_and_what_is_told_then(void **state)
{
    const VkRectLayerKHR two[] = {
        {.offset = {1, 2}, .extent = {3, 4}}, {.offset = {5, 6}, .extent = {1, 1}}};
    const struct tp_picture p = {
        .index = 0, .fence = -1, .mode = MAILBOX, .damage = two, .n_damage = 2};

    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    assert_int_equal(guest_present_more(&guest, p), 0);
    assert_int_equal(guest_present_more(&guest, p), 0);
    assert_int_equal(commits(), 2);
    assert_int_equal(commit_at(0).n_damage, 1);
    assert_int_equal(commit_at(0).damage[2], INT32_MAX);
    struct double_commit c = commit_at(1);
    assert_int_equal(c.n_damage, 2);
    assert_true(c.damage_in_buffer);
    assert_memory_equal(c.damage, ((int32_t[4]){1, 2, 3, 4}), sizeof c.damage);
    guest_close(&guest);
    end();
    begin(&(struct double_options){.compositor = 1}); /* no damage in the buffer's own pixels */
    assert_int_equal(caps().transforms, VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
    assert_int_equal(commits(), 1);
    assert_false(commit_at(0).damage_in_buffer);
    assert_int_equal(commit_at(0).damage[2], INT32_MAX);
    guest_close(&guest);
    end();
}

/* wl_output.transform counts the other way round. */
static void transforms_are_waylands(void **state)
{
    static const struct {
        VkSurfaceTransformFlagBitsKHR vulkan;
        int32_t wayland;
    } pairs[] = {
        {VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR, 0},
        {VK_SURFACE_TRANSFORM_ROTATE_90_BIT_KHR, 3},
        {VK_SURFACE_TRANSFORM_ROTATE_180_BIT_KHR, 2},
        {VK_SURFACE_TRANSFORM_ROTATE_270_BIT_KHR, 1},
        {VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_BIT_KHR, 4},
        {VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_90_BIT_KHR, 7},
        {VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_180_BIT_KHR, 6},
        {VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_270_BIT_KHR, 5},
        {VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR, 0},
    };

    (void)state;
    begin(&(struct double_options){0});
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct tp_stream_info info = guest_info(16, 8);
        info.transform = pairs[i].vulkan;
        assert_true(caps().transforms & info.transform);
        assert_int_equal(
            guest_open(&guest, target, &info, TP_MEMORY_SHARED, DRM_FORMAT_MOD_LINEAR), 0);
        assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
        assert_int_equal(commits(), i + 1);
        assert_int_equal(commit_at(i).transform, pairs[i].wayland);
        guest_close(&guest);
    }
    end();
}

/* Where there is no format without alpha, the region says that it does not count. */
static void what_is_opaque_is_said_to_be(void **state)
{
    static const struct {
        uint32_t fourcc;
        VkCompositeAlphaFlagBitsKHR alpha;
        bool region;
    } cases[] = {
        {DRM_FORMAT_XRGB8888, VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR, false},
        {DRM_FORMAT_ARGB8888, VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR, true},
        {DRM_FORMAT_ARGB8888, VK_COMPOSITE_ALPHA_PRE_MULTIPLIED_BIT_KHR, false},
    };

    (void)state;
    begin(&(struct double_options){0});
    for (unsigned i = 0; i < 3; i++) {
        struct tp_stream_info info = guest_info(16, 8);
        info.fourcc = cases[i].fourcc;
        info.alpha = cases[i].alpha;
        assert_int_equal(
            guest_open(&guest, target, &info, TP_MEMORY_SHARED, DRM_FORMAT_MOD_LINEAR), 0);
        assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
        assert_int_equal(commits(), i + 1);
        assert_int_equal(commit_at(i).opaque, cases[i].region);
        guest_close(&guest);
    }
    end();
}

/* --- streams --- */

static void a_retired_streams_queue_is_shown_until_the_new_ones_picture(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(guest_present(&guest, i, FIFO), 0);
    open_shared(&second);
    assert_int_equal(guest_present(&guest, 3, FIFO), -ESTALE);
    assert_int_equal(commits(), 1);
    refresh();
    assert_true(double_await_commits(2)); /* the old one's second */
    assert_int_equal(guest_count(&guest, GUEST_COMMITTED), 2);
    /* The old one's third, and then the new one's. */
    assert_int_equal(guest_present(&second, 0, FIFO), 0);
    refresh();
    assert_true(double_await_commits(3));
    refresh();
    assert_true(double_await_commits(4));
    assert_true(guest_await(&second, GUEST_COMMITTED, 1));
    assert_int_equal(guest_count(&guest, GUEST_COMMITTED), 3);
    /* What the old one holds is released as ever. */
    release(2);
    assert_true(guest_await(&guest, GUEST_RELEASED, 1));
    assert_int_equal(guest_event(&guest, GUEST_RELEASED, 0).index, 2);
    guest_close(&guest);
    guest_close(&second);
    end();
}

/* The compositor may have been told that its size has changed, and take it at its word. */
static void a_new_size_ends_what_the_old_one_still_waits_with(void **state)
{
    struct tp_stream_info larger = guest_info(32, 8);

    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(guest_present(&guest, i, FIFO), 0);
    assert_int_equal(
        guest_open(&second, target, &larger, TP_MEMORY_SHARED, DRM_FORMAT_MOD_LINEAR), 0);
    assert_int_equal(guest_count(&guest, GUEST_DISCARDED), 2);
    assert_int_equal(guest_count(&guest, GUEST_RELEASED), 2);
    assert_int_equal(guest_present(&second, 0, FIFO), 0);
    refresh();
    assert_true(guest_await(&second, GUEST_COMMITTED, 1));
    assert_int_equal(commits(), 2);
    assert_int_equal(guest_count(&guest, GUEST_COMMITTED), 1);
    guest_close(&guest);
    guest_close(&second);
    end();
}

static void the_new_streams_picture_ends_what_the_old_one_still_waits_with(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    assert_int_equal(guest_present_more(&guest,
                         (struct tp_picture){.index = 1,
                             .fence = -1,
                             .mode = FIFO,
                             .not_before_ns = tp_icd_now_ns() + 3600 * INT64_C(1000000000)}),
        0);
    open_shared(&second);
    assert_int_equal(guest_present(&second, 0, FIFO), 0);
    assert_int_equal(commits(), 1);
    assert_int_equal(guest_count(&guest, GUEST_COMMITTED), 0);
    assert_int_equal(guest_event(&guest, GUEST_RELEASED, 0).index, 1);
    assert_int_equal(guest_event(&guest, GUEST_DISCARDED, 0).serial, 1);
    guest_close(&guest);
    guest_close(&second);
    end();
}

static void what_is_on_the_screen_stays_until_the_next_streams_picture(void **state)
{
    (void)state;
    begin(&(struct double_options){.dmabuf = 4});
    open_dmabuf(&guest);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    guest_close(&guest);
    assert_int_equal(commits(), 1);
    double_lock();
    assert_int_equal(double_n_buffers, 1);
    double_unlock();
    open_dmabuf(&second);
    refresh();
    assert_int_equal(guest_present(&second, 0, MAILBOX), 0);
    assert_true(double_await_commits(2));
    wl_display_roundtrip(display);
    double_lock();
    assert_int_equal(double_n_buffers, GUEST_IMAGES);
    double_unlock();
    guest_close(&second);
    end();
}

static void a_thousand_streams_leave_nothing(void **state)
{
    (void)state;
    begin(&(struct double_options){.dmabuf = 4, .presentation = true});
    for (unsigned i = 0; i < 1000; i++) {
        if (i % 2)
            open_shared(&guest);
        else
            open_dmabuf(&guest);
        assert_int_equal(guest_present(&guest, i % GUEST_IMAGES, MAILBOX), 0);
        if (i % 3 == 0)
            refresh();
        guest_close(&guest);
    }
    assert_int_equal(commits(), 1000);
    double_lock();
    assert_true(double_n_buffers <= 1);
    assert_true(double_n_frames <= 1);
    double_unlock();
    end();
}

/* --- dma-bufs that are refused, and memory that passes for one --- */

static void a_refused_dmabuf_costs_no_connection(void **state)
{
    struct tp_stream_info info = guest_info(16, 8);

    (void)state;
    begin(&(struct double_options){.dmabuf = 4, .refuse = true});
    assert_int_equal(
        guest_open(&guest, target, &info, TP_MEMORY_DMABUF, DRM_FORMAT_MOD_LINEAR), -EOPNOTSUPP);
    guest_close(&guest);
    assert_int_equal(
        guest_open(&guest, target, &info, TP_MEMORY_DMABUF, 0x1234), -EOPNOTSUPP); /* not asked */
    guest_close(&guest);
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(commits(), 1);
    guest_close(&guest);
    end();
}

static void gamescope_gets_shared_memory_as_dmabufs(void **state)
{
    struct tp_target_format *f;

    (void)state;
    begin(&(struct double_options){.dmabuf = 4, .gamescope = true});
    uint32_t n = formats(&f);
    assert_true(
        has(f, n, DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_DMABUF | TP_MEMORY_SHARED));
    assert_true(has(f, n, DRM_FORMAT_XRGB8888, DOUBLE_MODIFIER, TP_MEMORY_DMABUF));
    free(f);
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 1, FIFO), 0);
    assert_int_equal(commits(), 1);
    assert_int_equal(commit_at(0).memory, inode(guest.fds[1]));
    guest_close(&guest);
    end();
    begin(&(struct double_options){.dmabuf = 4, .gamescope = true, .refuse = true});
    n = formats(&f);
    assert_true(has(f, n, DRM_FORMAT_XRGB8888, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_DMABUF));
    free(f);
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 1, FIFO), 0);
    assert_int_equal(commits(), 1);
    assert_int_equal(commit_at(0).memory, 0);
    guest_close(&guest);
    end();
}

static void other_layouts_that_it_likes_better_are_told_of_once(void **state)
{
    (void)state;
    begin(&(struct double_options){.dmabuf = 4});
    open_dmabuf(&guest); /* linear, though it likes the vendor's better from the start */
    double_lock();
    double_feedback(true);
    double_unlock();
    double_lock();
    double_feedback(false);
    double_unlock();
    wl_display_roundtrip(display);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    assert_int_equal(commits(), 1);
    refresh();
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    assert_int_equal(guest_count(&guest, GUEST_CHANGED), 0);
    double_lock();
    double_feedback(true);
    double_feedback(false);
    double_feedback(true);
    double_unlock();
    assert_true(guest_await(&guest, GUEST_CHANGED, 1));
    assert_int_equal(guest_event(&guest, GUEST_CHANGED, 0).change, TP_TARGET_SUBOPTIMAL);
    assert_int_equal(guest_present(&guest, 1, FIFO), 0);
    assert_int_equal(commits(), 2);
    refresh();
    assert_true(guest_await(&guest, GUEST_SHOWN, 2));
    assert_int_equal(guest_count(&guest, GUEST_CHANGED), 1);
    guest_close(&guest);
    end();
}

/* --- the connection's end --- */

static void an_ended_connection_is_a_lost_surface(void **state)
{
    struct tp_target_caps c;

    (void)state;
    begin(&(struct double_options){.presentation = true});
    open_shared(&guest);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(guest_present(&guest, i, FIFO), 0);
    double_hang_up();
    assert_true(guest_await(&guest, GUEST_CHANGED, 1));
    assert_int_equal(guest_event(&guest, GUEST_CHANGED, 0).change, TP_TARGET_LOST);
    /* Each picture has its end; those that were not sent are free. */
    assert_int_equal(guest_count(&guest, GUEST_DISCARDED), 3);
    assert_int_equal(guest_count(&guest, GUEST_RELEASED), 2);
    assert_int_equal(guest_present(&guest, 3, FIFO), -ENODEV);
    assert_int_equal(target->ops->query(target, &c), -ENODEV);
    struct tp_stream_info info = guest_info(16, 8);
    assert_int_equal(
        guest_open(&second, target, &info, TP_MEMORY_SHARED, DRM_FORMAT_MOD_LINEAR), -ENODEV);
    guest_close(&second);
    guest_close(&guest);
    end();
}

static int64_t cpu_time_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void a_lost_surface_costs_no_time(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    double_hang_up();
    assert_true(guest_await(&guest, GUEST_CHANGED, 1));
    int64_t from = cpu_time_ns();
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    assert_true(cpu_time_ns() - from < 20000000);
    guest_close(&guest);
    end();
}

/* The application has broken the protocol: its connection is ours. */
static void the_applications_error_is_survived(void **state)
{
    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, FIFO), 0);
    struct wl_surface *gone = wl_compositor_create_surface(compositor);
    struct wl_surface *copy = wl_proxy_create_wrapper(gone);
    wl_surface_destroy(gone);
    wl_surface_commit(copy);
    wl_proxy_wrapper_destroy(copy);
    wl_display_flush(display);
    assert_true(guest_await(&guest, GUEST_CHANGED, 1));
    assert_int_equal(guest_event(&guest, GUEST_CHANGED, 0).change, TP_TARGET_LOST);
    guest_close(&guest);
    target->ops->destroy(target);
    wl_surface_destroy(surface);
    wl_compositor_destroy(compositor);
    wl_display_disconnect(display);
    double_stop();
}

/* It stops reading: pictures are not heaped up in the library, which would end the connection. */
static void a_compositor_that_sleeps_is_waited_for(void **state)
{
    (void)state;
    begin(&(struct double_options){.presentation = true, .clock = CLOCK_MONOTONIC});
    open_shared(&guest);
    double_lock();
    for (unsigned i = 0; i < 20000; i++)
        assert_int_equal(guest_present(&guest, i % GUEST_IMAGES, MAILBOX), 0);
    assert_true(guest_count(&guest, GUEST_COMMITTED) < 20000);
    assert_true(guest_count(&guest, GUEST_DISCARDED) > 0);
    double_unlock();
    assert_true(guest_await(&guest, GUEST_COMMITTED, 20000 - guest_count(&guest, GUEST_DISCARDED)));
    assert_int_equal(wl_display_get_error(display), 0);
    assert_int_equal(commits(), guest_count(&guest, GUEST_COMMITTED));
    assert_int_equal(commit_at(commits() - 1).first_pixel, 0x04040404); /* the newest */
    guest_close(&guest);
    end();
}

/* Nor are buffers, new ones and old ones, and nobody waits for their being taken. */
static void streams_are_made_anew_while_the_compositor_sleeps(void **state)
{
    (void)state;
    begin(&(struct double_options){.presentation = true, .clock = CLOCK_MONOTONIC});
    open_shared(&guest);
    double_lock();
    for (unsigned i = 0; i < 2000; i++) {
        for (unsigned k = 0; k < GUEST_IMAGES; k++)
            assert_int_equal(guest_present(&guest, k, MAILBOX), 0);
        guest_close(&guest);
        open_shared(&guest);
    }
    assert_int_equal(wl_display_get_error(display), 0);
    unsigned awake = double_n_commits;
    double_unlock();
    assert_int_equal(guest_present(&guest, 2, MAILBOX), 0);
    assert_true(guest_await(&guest, GUEST_COMMITTED, 1));
    assert_true(commits() > awake);
    assert_int_equal(commit_at(commits() - 1).first_pixel, 0x03030303);
    assert_int_equal(wl_display_get_error(display), 0);
    guest_close(&guest);
    end();
}

static void a_surface_ends_while_the_compositor_sleeps(void **state)
{
    (void)state;
    begin(&(struct double_options){.presentation = true, .clock = CLOCK_MONOTONIC});
    open_shared(&guest);
    double_lock();
    for (unsigned i = 0; i < 2000; i++)
        assert_int_equal(guest_present(&guest, i % GUEST_IMAGES, MAILBOX), 0);
    guest_close(&guest);
    target->ops->destroy(target);
    assert_int_equal(wl_display_get_error(display), 0);
    double_unlock();
    assert_true(wl_display_roundtrip(display) >= 0);
    assert_int_equal(tp_target_wayland_create(display, surface, &target), 0);
    open_shared(&guest);
    assert_int_equal(guest_present(&guest, 0, MAILBOX), 0);
    assert_true(guest_await(&guest, GUEST_COMMITTED, 1));
    guest_close(&guest);
    end();
}

/* --- the application's own events --- */

static void on_done(void *data, struct wl_callback *callback, uint32_t time)
{
    (void)time;
    wl_callback_destroy(callback);
    ++*(unsigned *)data;
}

static void the_applications_events_stay_its_own(void **state)
{
    static const struct wl_callback_listener listener = {on_done};
    unsigned done = 0;

    (void)state;
    begin(&(struct double_options){0});
    open_shared(&guest);
    for (unsigned i = 0; i < 100; i++) {
        wl_callback_add_listener(wl_display_sync(display), &listener, &done);
        assert_int_equal(guest_present(&guest, i % GUEST_IMAGES, MAILBOX), 0);
        refresh();
    }
    struct wl_callback *mine = wl_surface_frame(surface);
    wl_callback_add_listener(mine, &listener, &done);
    wl_surface_commit(surface);
    assert_int_equal(commits(), 100);
    assert_int_equal(done, 100);
    refresh();
    while (done < 101)
        assert_true(wl_display_dispatch(display) >= 0);
    guest_close(&guest);
    end();
}

/* What the library would print of a broken protocol. */
static void keep_quiet(const char *fmt, va_list args)
{
    (void)fmt;
    (void)args;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_the_compositors_best_ones_first),
        cmocka_unit_test(older_compositors_tell_modifiers_or_formats_alone),
        cmocka_unit_test(a_compositor_without_buffers_supports_nothing),
        cmocka_unit_test(tearing_fences_and_times_are_offered_where_the_compositor_has_them),
        cmocka_unit_test(fifo_sends_one_picture_a_refresh),
        cmocka_unit_test(a_hidden_window_does_not_hold_fifo_for_ever),
        cmocka_unit_test(mailbox_goes_at_once_but_takes_no_fifo_pictures_turn),
        cmocka_unit_test(immediate_goes_at_once_and_may_tear),
        cmocka_unit_test(relaxed_may_tear_where_it_is_late),
        cmocka_unit_test(a_picture_waits_for_its_instant),
        cmocka_unit_test(fences_go_there_and_come_back),
        cmocka_unit_test(shared_memory_waits_here_for_its_fence),
        cmocka_unit_test(shown_times_are_the_monotonic_clocks),
        cmocka_unit_test(what_another_picture_replaced_was_not_shown),
        cmocka_unit_test(without_presentation_a_refresh_shows_the_picture),
        cmocka_unit_test(a_compositor_that_tells_nothing_is_not_waited_for),
        cmocka_unit_test(damage_is_all_at_first_and_what_is_told_then),
        cmocka_unit_test(transforms_are_waylands),
        cmocka_unit_test(what_is_opaque_is_said_to_be),
        cmocka_unit_test(a_retired_streams_queue_is_shown_until_the_new_ones_picture),
        cmocka_unit_test(a_new_size_ends_what_the_old_one_still_waits_with),
        cmocka_unit_test(the_new_streams_picture_ends_what_the_old_one_still_waits_with),
        cmocka_unit_test(what_is_on_the_screen_stays_until_the_next_streams_picture),
        cmocka_unit_test(a_thousand_streams_leave_nothing),
        cmocka_unit_test(a_refused_dmabuf_costs_no_connection),
        cmocka_unit_test(gamescope_gets_shared_memory_as_dmabufs),
        cmocka_unit_test(other_layouts_that_it_likes_better_are_told_of_once),
        cmocka_unit_test(an_ended_connection_is_a_lost_surface),
        cmocka_unit_test(a_lost_surface_costs_no_time),
        cmocka_unit_test(the_applications_error_is_survived),
        cmocka_unit_test(a_compositor_that_sleeps_is_waited_for),
        cmocka_unit_test(streams_are_made_anew_while_the_compositor_sleeps),
        cmocka_unit_test(a_surface_ends_while_the_compositor_sleeps),
        cmocka_unit_test(the_applications_events_stay_its_own),
    };

    wl_log_set_handler_client(keep_quiet);
    unsetenv("TURNPIKE_SOCKET");
    unsetenv("XDG_RUNTIME_DIR"); /* nobody's server */
    return cmocka_run_group_tests_name("wayland", tests, NULL, NULL);
}
