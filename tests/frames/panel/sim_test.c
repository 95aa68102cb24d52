/* The simulated screen's timeline and what it shows when. No assertion is on how late a thread
 * wakes: refreshes bear the instants that they are due at. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <drm_fourcc.h>

#include "base/proc.h"
#include "frames/panel/sim.h"

/* Framebuffers that count who holds them; some have memory. */
struct tp_kms_fb {
    int refs;
    struct tp_kms_fb_info info;
    uint32_t *pixels;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb)
{
    pthread_mutex_lock(&mutex);
    fb->refs++;
    pthread_mutex_unlock(&mutex);
    return fb;
}

void tp_kms_fb_unref(struct tp_kms_fb *fb)
{
    pthread_mutex_lock(&mutex);
    fb->refs--;
    pthread_mutex_unlock(&mutex);
}

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = fb->info;
}

#define LOG 4096
static struct {
    unsigned n_ticks, n_shown, n_released;
    struct tp_panel_tick ticks[LOG];
    struct {
        uint64_t serial;
        int64_t time_ns;
        unsigned n_shown; /* pictures by then */
    } shown[LOG], released[LOG];
} seen;

static void on_tick(void *data, const struct tp_panel_tick *t)
{
    (void)data;
    pthread_mutex_lock(&mutex);
    if (seen.n_ticks < LOG)
        seen.ticks[seen.n_ticks++] = *t;
    pthread_mutex_unlock(&mutex);
}

static void on_released(void *data, uint64_t serial, unsigned layer, int fence)
{
    (void)data;
    pthread_mutex_lock(&mutex);
    if (layer == 0 && fence == -1 && seen.n_released < LOG) {
        seen.released[seen.n_released].serial = serial;
        seen.released[seen.n_released].n_shown = seen.n_shown;
        seen.released[seen.n_released++].time_ns = tp_now_ns();
    }
    pthread_mutex_unlock(&mutex);
}

static void on_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    (void)data;
    pthread_mutex_lock(&mutex);
    if (seen.n_shown < LOG) {
        seen.shown[seen.n_shown].serial = serial;
        seen.shown[seen.n_shown++].time_ns = first_line_ns;
    }
    pthread_mutex_unlock(&mutex);
}

static void on_away(void *data, bool away)
{
    (void)data;
    (void)away;
}

static const struct tp_panel_events events = {on_tick, on_released, on_shown, on_away, NULL};
static struct tp_panel *panel;
static struct tp_kms_fb fbs[8];

static enum tp_watch_how watch;

static void start(uint32_t mhz, unsigned pipeline)
{
    const struct tp_panel_sim_config c = {
        .mode = {64, 48, mhz},
        .vrr_min_mhz = mhz < 40000 ? mhz : 40000,
        .vrr_max_mhz = mhz,
        .lead_ns = 500000,
        .pipeline = pipeline,
        .watch = watch,
    };
    struct tp_error e = {0};
    memset(&seen, 0, sizeof seen);
    memset(fbs, 0, sizeof fbs);
    assert_int_equal(tp_panel_sim_create(&c, &panel, &e), 0);
    assert_int_equal(panel->ops->start(panel, &events, NULL, &e), 0);
}

static void stop(void)
{
    panel->ops->destroy(panel);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(fbs[i].refs, 0);
}

static unsigned ticks(void)
{
    pthread_mutex_lock(&mutex);
    unsigned n = seen.n_ticks;
    pthread_mutex_unlock(&mutex);
    return n;
}

static unsigned shown(void)
{
    pthread_mutex_lock(&mutex);
    unsigned n = seen.n_shown;
    pthread_mutex_unlock(&mutex);
    return n;
}

static void await(unsigned (*count)(void), unsigned n)
{
    while (count() < n)
        nanosleep(&(struct timespec){0, 500000}, NULL);
}

static void publish(uint64_t serial)
{
    struct tp_kms_scanout s = {
        .serial = serial, .active = true, .mode = {64, 48, 60000}, .n_layers = 1};
    s.layers[0] = (struct tp_kms_layer){.fb = &fbs[serial % 8],
        .src_w = 64 << 16,
        .src_h = 48 << 16,
        .width = 64,
        .height = 48,
        .alpha = 0xffff,
        .in_fence = -1};
    assert_int_equal(panel->ops->publish(panel, &s), 0);
}

static void refreshes_lie_on_an_exact_grid(void **state)
{
    (void)state;
    start(59940, 1); /* a period that is no whole number of nanoseconds */
    await(ticks, 12);
    stop();
    const struct tp_panel_tick *first = &seen.ticks[0];
    for (unsigned i = 1; i < seen.n_ticks; i++) {
        int64_t n = (int64_t)(seen.ticks[i].sequence - first->sequence);
        assert_true(n > 0);
        /* n periods of 1e12 / 59940 ns, each end cut to a nanosecond */
        int64_t want = n * 1000000000000 / 59940, got = seen.ticks[i].time_ns - first->time_ns;
        assert_in_range(got, want - 1, want + 1);
    }
}

static void a_new_rate_begins_with_the_next_refresh(void **state)
{
    (void)state;
    start(50000, 1);
    await(ticks, 3);
    const struct tp_kms_mode fast = {64, 48, 200000};
    assert_int_equal(panel->ops->set_mode(panel, &fast, false), 0);
    await(ticks, 9);
    stop();
    const struct tp_panel_tick *last = &seen.ticks[seen.n_ticks - 1], *before = last - 1;
    assert_int_equal(last->period_ns, 5000000);
    assert_int_equal((last->time_ns - before->time_ns) % 5000000, 0);
}

static void a_picture_is_shown_after_its_latch_and_the_pipeline(void **state)
{
    (void)state;
    for (unsigned pipeline = 0; pipeline < 3; pipeline++) {
        const int64_t period = 10000000, lead = 500000;
        start(100000, pipeline);
        await(ticks, 2);
        int64_t before = tp_now_ns();
        publish(1);
        int64_t after = tp_now_ns();
        await(shown, 1);
        stop();
        int64_t base = seen.ticks[0].time_ns, at = seen.shown[0].time_ns;
        /* The first refresh whose latch is not before the publish, and the pipeline. */
        int64_t early =
            base + (before + lead - base + period - 1) / period * period + pipeline * period;
        int64_t late =
            base + (after + lead - base + period - 1) / period * period + pipeline * period;
        if (at > late) /* this thread slept through that one: still on the grid */
            assert_int_equal((at - base) % period, 0);
        else
            assert_in_range(at, early, late);
    }
}

static void a_replaced_buffer_is_released_when_its_successor_is_shown(void **state)
{
    (void)state;
    start(100000, 1);
    await(ticks, 1);
    publish(1);
    await(shown, 1);
    pthread_mutex_lock(&mutex);
    assert_int_equal(seen.n_released, 0);
    assert_int_equal(fbs[1].refs, 1);
    pthread_mutex_unlock(&mutex);
    publish(2);
    await(shown, 2);
    await(ticks, ticks() + 2);
    stop();
    assert_int_equal(seen.n_released, 1);
    assert_int_equal(seen.released[0].serial, 1);
    assert_true(seen.released[0].time_ns >= seen.shown[1].time_ns);
}

static void of_two_for_one_latch_the_later_waits_for_the_next(void **state)
{
    (void)state;
    start(100000, 0);
    await(ticks, 1);
    publish(1);
    publish(2);
    await(shown, 2);
    await(ticks, ticks() + 1);
    stop();
    assert_int_equal(seen.n_shown, 2);
    assert_int_equal(seen.shown[0].serial, 1);
    assert_int_equal(seen.shown[1].serial, 2);
    assert_int_equal(seen.shown[1].time_ns - seen.shown[0].time_ns, 10000000);
    assert_int_equal(seen.n_released, 1);
}

static void what_is_async_is_shown_at_once(void **state)
{
    struct tp_panel_sim_counts counts;
    (void)state;
    start(10000, 1);
    publish(1);
    await(shown, 1);
    struct tp_kms_scanout s = {.serial = 2, .active = true, .async = true, .n_layers = 1};
    s.layers[0] = (struct tp_kms_layer){.fb = &fbs[2], .in_fence = -1};
    nanosleep(&(struct timespec){0, 20000000}, NULL); /* into the picture */
    int64_t before = tp_now_ns();
    assert_int_equal(panel->ops->publish(panel, &s), 0);
    int64_t after = tp_now_ns();
    await(shown, 2);
    await(ticks, ticks() + 1);
    tp_panel_sim_count(panel, &counts);
    stop();
    int64_t in = seen.shown[1].time_ns - seen.shown[0].time_ns;
    if (in < 70000000) { /* this thread was not late for it: 48 of 63 lines are active */
        assert_in_range(seen.shown[1].time_ns, before, after);
        assert_int_equal(counts.async_tears, 1);
    }
    assert_int_equal(seen.released[0].serial, 1);
}

static void with_variable_refresh_the_screen_waits_for_a_picture(void **state)
{
    (void)state;
    start(1000000, 0); /* 1 ms at the least, 25 ms at the most */
    const struct tp_kms_mode mode = {64, 48, 1000000};
    assert_int_equal(panel->ops->set_mode(panel, &mode, true), 0);
    unsigned n = ticks();
    await(ticks, n + 4);
    stop();
    const struct tp_panel_tick *last = &seen.ticks[seen.n_ticks - 1];
    assert_true(last->time_ns - last[-1].time_ns >= 25000000);
}

static void give_memory(void)
{
    for (unsigned i = 0; i < 8; i++) {
        int fd = memfd_create("fb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        assert_int_equal(ftruncate(fd, 64 * 48 * 4), 0);
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        fbs[i].pixels = mmap(NULL, 64 * 48 * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        fbs[i].info = (struct tp_kms_fb_info){.width = 64,
            .height = 48,
            .fourcc = DRM_FORMAT_XRGB8888,
            .fds = {fd},
            .pitches = {64 * 4},
            .inode = i};
    }
}

static void take_memory(void)
{
    watch = TP_WATCH_OFF;
    for (unsigned i = 0; i < 8; i++) {
        munmap(fbs[i].pixels, 64 * 48 * 4);
        close(fbs[i].info.fds[0]);
    }
}

static void draw(unsigned i, uint32_t colour)
{
    for (unsigned k = 0; k < 64 * 48; k++)
        fbs[i].pixels[k] = colour;
}

static unsigned released(void)
{
    pthread_mutex_lock(&mutex);
    unsigned n = seen.n_released;
    pthread_mutex_unlock(&mutex);
    return n;
}

/* However late any thread is, and whoever draws as soon as he may. */
static void what_is_drawn_when_it_is_released_never_tears(void **state)
{
    struct tp_panel_sim_counts counts;
    (void)state;
    watch = TP_WATCH_FULL;
    start(500000, 0);
    give_memory();
    for (unsigned i = 1; i <= 200; i++) { /* eight buffers, in turn; those but two are back */
        await(released, i > 7 ? i - 7 : 0);
        draw(i % 8, i * 0x10305);
        publish(i);
    }
    await(shown, 200);
    tp_panel_sim_count(panel, &counts);
    stop();
    take_memory();
    assert_int_equal(counts.beam.watch.tears, 0);
    assert_true(counts.beam.watch.scanouts > 0);
}

static void what_is_drawn_into_while_it_is_shown_tears(void **state)
{
    struct tp_panel_sim_counts counts;
    (void)state;
    watch = TP_WATCH_SAMPLED;
    start(100000, 0);
    give_memory();
    publish(1);
    await(shown, 1);
    uint32_t colour = 0;
    do {
        draw(1, ++colour);
        nanosleep(&(struct timespec){0, 1500000}, NULL);
        tp_panel_sim_count(panel, &counts);
    } while (counts.beam.watch.tears < 3);
    stop();
    take_memory();
    assert_int_equal(counts.beam.n_tears, counts.beam.watch.tears);
    assert_int_equal(counts.beam.tears[0].serial, 1);
}

static void give_own_memory(bool own)
{
    give_memory();
    for (unsigned i = 0; i < 8; i++)
        fbs[i].info.own = own;
}

/* Two buffers; the one that is not the newest is drawn into as soon as the publish returned. */
static void flip_two(unsigned pictures)
{
    for (unsigned i = 1; i <= pictures; i++) {
        publish(i);
        unsigned n = ticks();
        draw((i + 1) % 8, i * 0x10305); /* which was serial i - 1's, too */
        await(ticks, n + 1);
    }
}

/* Serials' buffers in turn are the same two. */
static void share_two(void)
{
    for (unsigned i = 2; i < 8; i++) {
        munmap(fbs[i].pixels, 64 * 48 * 4);
        close(fbs[i].info.fds[0]);
        fbs[i].pixels = fbs[i % 2].pixels;
        fbs[i].info = fbs[i % 2].info;
    }
}

static void take_two(void)
{
    for (unsigned i = 2; i < 8; i++) {
        fbs[i].info.fds[0] = -1;
        fbs[i].pixels = NULL;
    }
    take_memory();
}

static void own_memory_is_its_clients_again_with_the_next_publish(void **state)
{
    struct tp_panel_sim_counts counts;
    (void)state;
    for (unsigned pipeline = 0; pipeline < 3; pipeline++) {
        watch = TP_WATCH_FULL;
        start(200000, pipeline);
        give_own_memory(true);
        share_two();
        await(ticks, 1);
        flip_two(100);
        tp_panel_sim_count(panel, &counts);
        stop();
        take_two();
        assert_true(counts.beam.watch.scanouts > 0);
        assert_int_equal(counts.beam.watch.tears, 0);
    }
}

static void imported_memory_is_not(void **state)
{
    struct tp_panel_sim_counts counts = {.refreshes = 0};
    (void)state;
    watch = TP_WATCH_FULL;
    start(100000, 2);
    give_own_memory(false);
    share_two();
    await(ticks, 1);
    for (uint64_t i = 1; counts.beam.watch.tears == 0; i += 2) {
        publish(i);
        draw(0, (uint32_t)i);
        unsigned n = ticks();
        await(ticks, n + 1);
        publish(i + 1);
        draw(1, (uint32_t)i);
        n = ticks();
        await(ticks, n + 1);
        tp_panel_sim_count(panel, &counts);
    }
    stop();
    take_two();
}

static uint32_t looked_at(unsigned x, unsigned y)
{
    struct tp_image image;
    struct tp_error e = {0};
    assert_int_equal(panel->ops->look(panel, &image, &e), 0);
    uint32_t pixel = image.pixels[y * image.width + x];
    tp_image_finish(&image);
    return pixel;
}

static void own_memory_is_shown_as_it_was_when_it_was_published(void **state)
{
    (void)state;
    for (unsigned watched = 0; watched < 2; watched++) {
        watch = watched ? TP_WATCH_SAMPLED : TP_WATCH_OFF;
        start(100000, 0);
        give_own_memory(true);
        draw(1, 0x112233);
        publish(1);
        await(shown, 1);
        assert_int_equal(looked_at(63, 47), 0x112233);
        draw(1, 0x445566);
        assert_int_equal(looked_at(63, 47), watched ? 0x112233 : 0x445566);
        draw(1, 0x778899);
        publish(1 + 8); /* the same one anew */
        await(shown, 2);
        assert_int_equal(looked_at(0, 0), 0x778899);
        stop();
        take_memory();
    }
}

static void a_copied_buffer_is_released_once_when_a_later_one_comes(void **state)
{
    (void)state;
    watch = TP_WATCH_SAMPLED;
    start(10000, 2);
    give_own_memory(true);
    publish(1);
    await(shown, 1);
    looked_at(0, 0); /* it is copied now */
    publish(2);
    await(released, 1);
    assert_int_equal(seen.released[0].serial, 1);
    assert_int_equal(seen.released[0].n_shown, 1); /* and not the second */
    publish(3);
    await(shown, 3);
    await(ticks, ticks() + 1);
    stop();
    take_memory();
    assert_int_equal(seen.n_released, 2);
    assert_int_equal(seen.released[1].serial, 2);
}

static void a_screen_that_is_off_is_black(void **state)
{
    const struct tp_kms_scanout off = {.serial = 2};
    (void)state;
    watch = TP_WATCH_OFF;
    start(100000, 0);
    give_own_memory(true);
    draw(1, 0x112233);
    publish(1);
    await(shown, 1);
    assert_int_equal(looked_at(63, 47), 0x112233);
    assert_int_equal(panel->ops->publish(panel, &off), 0);
    await(released, 1);
    assert_int_equal(looked_at(63, 47), 0);
    stop();
    take_memory();
}

static void what_no_screen_can_be_is_refused(void **state)
{
    const struct tp_panel_sim_config wrong[] = {
        {.mode = {64, 48, 0}},
        {.mode = {64, 48, 60000}, .pipeline = 3},
        {.mode = {64, 48, 60000}, .lead_ns = 17000000},
        {.mode = {64, 48, 60000}, .lead_ns = -1},
        {.mode = {64, 48, 60000}, .vrr_min_mhz = 60000, .vrr_max_mhz = 40000},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tp_error e = {0};
        assert_int_equal(tp_panel_sim_create(&wrong[i], &panel, &e), -EINVAL);
        assert_int_equal(e.status, TP_STATUS_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refreshes_lie_on_an_exact_grid),
        cmocka_unit_test(a_new_rate_begins_with_the_next_refresh),
        cmocka_unit_test(a_picture_is_shown_after_its_latch_and_the_pipeline),
        cmocka_unit_test(a_replaced_buffer_is_released_when_its_successor_is_shown),
        cmocka_unit_test(of_two_for_one_latch_the_later_waits_for_the_next),
        cmocka_unit_test(what_is_async_is_shown_at_once),
        cmocka_unit_test(with_variable_refresh_the_screen_waits_for_a_picture),
        cmocka_unit_test(what_is_drawn_when_it_is_released_never_tears),
        cmocka_unit_test(what_is_drawn_into_while_it_is_shown_tears),
        cmocka_unit_test(own_memory_is_its_clients_again_with_the_next_publish),
        cmocka_unit_test(imported_memory_is_not),
        cmocka_unit_test(own_memory_is_shown_as_it_was_when_it_was_published),
        cmocka_unit_test(a_copied_buffer_is_released_once_when_a_later_one_comes),
        cmocka_unit_test(a_screen_that_is_off_is_black),
        cmocka_unit_test(what_no_screen_can_be_is_refused),
    };
    return cmocka_run_group_tests_name("sim", tests, NULL, NULL);
}
