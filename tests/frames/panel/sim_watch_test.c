/* Tears, seen on a clock of the test's own: it writes between two readings, and knows what of that
 * the screen has to see. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <drm_fourcc.h>
#include <drm_mode.h>

#include "frames/panel/sim_watch.h"

#define MS INT64_C(1000000)
#define WIDTH 1280u
#define LINES 720u
#define PERIOD (10 * MS)
#define END (8 * MS) /* of the last line: a band is 1 ms */

struct tp_kms_fb {
    struct tp_kms_fb_info info;
    uint32_t *pixels;
};

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = fb->info;
}

static struct tp_kms_fb fb;
static struct tp_kms_scanout scanout;
static struct tp_watch *watch;
static struct tp_watch_counts counts;
static struct tp_tear tear;
static unsigned n_tears;
static bool has_it;
static int64_t now, begun;
static uint64_t sequence, seed;
static uint32_t copied, lost;

static uint32_t random_to(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % n;
}

static bool has(void *data)
{
    (void)data;
    return has_it;
}

static void on_torn(void *data, const struct tp_tear *t)
{
    (void)data;
    tear = *t;
    n_tears++;
}

static void make_fb(bool sealed)
{
    size_t bytes = (size_t)WIDTH * LINES * 4;
    int fd = memfd_create("fb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    if (sealed)
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    fb.pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    fb.info = (struct tp_kms_fb_info){.width = WIDTH,
        .height = LINES,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_planes = 1,
        .fds = {fd, -1, -1, -1},
        .pitches = {WIDTH * 4},
        .inode = sealed ? 1 : 2};
    scanout = (struct tp_kms_scanout){.serial = 7, .active = true, .n_layers = 1};
    scanout.layers[0] = (struct tp_kms_layer){.fb = &fb,
        .src_w = WIDTH << 16,
        .src_h = LINES << 16,
        .width = WIDTH,
        .height = LINES,
        .rotation = DRM_MODE_ROTATE_0,
        .alpha = 0xffff};
}

static void start(enum tp_watch_how how)
{
    const struct tp_watch_config c = {how, has, on_torn, NULL};
    make_fb(true);
    tp_watch_create(&c, &watch);
    n_tears = 0;
    has_it = true;
    copied = lost = 0;
    sequence = 0;
    now = PERIOD;
}

static int stop(void **state)
{
    (void)state;
    tp_watch_destroy(watch);
    watch = NULL;
    if (fb.pixels) {
        munmap(fb.pixels, (size_t)WIDTH * LINES * 4);
        close(fb.info.fds[0]);
    }
    fb.pixels = NULL;
    return 0;
}

static void begin_at(uint32_t line)
{
    begun = now;
    const struct tp_watch_scan s = {.scanout = &scanout,
        .sequence = ++sequence,
        .first_line = line,
        .lines = LINES,
        .start_ns = now - END * line / LINES,
        .end_ns = now - END * line / LINES + END,
        .limit_ns = now + PERIOD,
        .copied = copied,
        .lost = lost};
    tp_watch_begin(watch, &s);
    while (tp_watch_next(watch) <= now)
        tp_watch_step(watch, now);
}

static void begin(void)
{
    begin_at(0);
}

/* On to so long after the scan-out's begin, reading at the instants at which there is something to
 * read. */
static void go(int64_t in)
{
    for (int64_t at; (at = tp_watch_next(watch)) <= begun + in;) {
        now = at > now ? at : now;
        tp_watch_step(watch, now);
    }
    now = begun + in;
}

static void scribble(uint32_t line, uint32_t x, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        fb.pixels[(size_t)line * WIDTH + x + i] ^= 0x00010101;
}

/* Line 400 is in the fifth band (360 to 450), which the beam has passed 5 ms after its begin. */
static void a_line_that_changes_ahead_of_the_beam_is_a_tear(void **state)
{
    (void)state;
    for (enum tp_watch_how how = TP_WATCH_SAMPLED; how <= TP_WATCH_FULL; how++) {
        start(how);
        begin();
        go(2 * MS);
        scribble(400, 0, WIDTH);
        go(5 * MS - 1);
        assert_int_equal(n_tears, 0);
        go(5 * MS);
        assert_int_equal(n_tears, 1);
        assert_int_equal(tear.line, 400);
        assert_int_equal(tear.lines, 1);
        assert_false(tear.behind);
        assert_int_equal(tear.serial, 7);
        assert_int_equal(tear.sequence, 1);
        assert_int_equal(tear.time_ns, begun + 5 * MS);
        go(PERIOD);
        tp_watch_count(watch, &counts);
        assert_int_equal(counts.tears, 1); /* scan-outs, not readings */
        assert_int_equal(counts.unwatched, 0);
        begin();
        go(PERIOD);
        assert_int_equal(n_tears, 1);
        stop(NULL);
    }
}

static void a_line_that_changes_behind_the_beam_is_one_as_well(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    begin();
    go(7 * MS);
    for (uint32_t y = 100; y < 180; y++)
        scribble(y, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(n_tears, 1);
    assert_true(tear.behind);
    assert_int_equal(tear.line, 100);
    assert_int_equal(tear.lines, 80);
}

static void what_changes_before_or_after_is_none(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    scribble(300, 0, WIDTH);
    begin();
    go(PERIOD - MS);
    scribble(300, 0, WIDTH); /* in the blanking, after the last reading */
    go(PERIOD);
    begin();
    go(PERIOD);
    assert_int_equal(n_tears, 0);
}

/* 8,000 scan-outs, each with a line that is written at a time of its own. */
static void each_planted_line_is_found_in_its_scan_out(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    seed = 1;
    for (unsigned i = 1; i <= 8000; i++) {
        uint32_t line = random_to(LINES);
        begin();
        go(random_to((uint32_t)END));
        scribble(line, 0, WIDTH);
        go(PERIOD);
        assert_int_equal(n_tears, i);
        assert_int_equal(tear.line, line);
        assert_int_equal(tear.lines, 1);
    }
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.scanouts, 8000);
    assert_int_equal(counts.unwatched, 0);
}

/* A small thing: 64 pixels of 20 lines. Each of a line's two samples, of 16 pixels, meets them with
 * 80/640; both miss with 0.77, and all 20 lines with 0.5 %; in full, one pixel is enough. */
static void of_parts_of_lines_most_are_found_and_in_full_all(void **state)
{
    (void)state;
    for (enum tp_watch_how how = TP_WATCH_SAMPLED; how <= TP_WATCH_FULL; how++) {
        start(how);
        seed = 2;
        for (unsigned i = 0; i < 500; i++) {
            uint32_t line = random_to(LINES - 20), x = random_to(WIDTH - 64);
            begin();
            go(2 * MS);
            for (uint32_t y = 0; y < 20; y++)
                scribble(line + y, x, how == TP_WATCH_FULL ? 1 : 64);
            go(PERIOD);
        }
        if (how == TP_WATCH_FULL)
            assert_int_equal(n_tears, 500);
        else
            assert_in_range(n_tears, 475, 500);
        stop(NULL);
    }
}

/* A thread that oversleeps, and a buffer that goes back to its owner, who writes at once: whatever
 * the order, what was not the screen's any more is never a tear. */
static void a_late_reader_sees_less_and_never_what_is_not_there(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    seed = 3;
    for (unsigned i = 0; i < 10000; i++) {
        int64_t gone = random_to((uint32_t)PERIOD), in = 0;
        has_it = true;
        begun = now;
        const struct tp_watch_scan s = {.scanout = &scanout,
            .sequence = ++sequence,
            .lines = LINES,
            .start_ns = now,
            .end_ns = now + END,
            .limit_ns = now + PERIOD};
        tp_watch_begin(watch, &s);
        while (tp_watch_next(watch) != INT64_MAX) {
            if (random_to(4) == 0)
                in += random_to(4 * MS); /* asleep */
            if (tp_watch_next(watch) > begun + in)
                in = tp_watch_next(watch) - begun;
            if (in >= gone) { /* it was given back; its owner is at it */
                has_it = false;
                scribble(random_to(LINES), 0, WIDTH);
            }
            tp_watch_step(watch, begun + in);
        }
        now = begun + (in > PERIOD ? in : PERIOD);
    }
    assert_int_equal(n_tears, 0);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.scanouts, 10000);
    assert_true(counts.unwatched > 0 && counts.unwatched < counts.bands);
    assert_int_equal(counts.bands, 80000);
}

static void bands_that_the_beam_was_at_before_are_unwatched(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    const struct tp_watch_scan s = {.scanout = &scanout,
        .lines = LINES,
        .start_ns = now,
        .end_ns = now + END,
        .limit_ns = now + PERIOD,
        .copied = copied,
        .lost = lost};
    tp_watch_begin(watch, &s);
    begun = now;
    now += 2 * MS + 500000; /* two bands are through, and a half */
    go(PERIOD);
    begin();
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.unwatched, 2);
    assert_int_equal(counts.bands, 16);
    has_it = false; /* gone within it: the third and those behind */
    go(PERIOD);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.unwatched, 2 + 8);
}

/* The picture stays on the screen, and its owner draws in the blanking, which is no tear. */
static void what_is_read_after_the_next_refresh_tells_nothing(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    begin();
    go(2 * MS);
    scribble(300, 0, WIDTH);
    tp_watch_step(watch, begun + PERIOD);
    assert_true(tp_watch_next(watch) == INT64_MAX);
    assert_int_equal(n_tears, 0);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.unwatched, 6);
}

static void a_copy_does_not_tear_and_one_that_came_too_late_is_unwatched(void **state)
{
    (void)state;
    start(TP_WATCH_FULL);
    copied = 1;
    begin();
    scribble(400, 0, WIDTH);
    go(PERIOD);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.scanouts, 1);
    assert_int_equal(counts.bands, 8);
    assert_int_equal(counts.unwatched, 0);
    lost = 1;
    begin();
    scribble(400, 0, WIDTH);
    go(PERIOD);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.scanouts, 2);
    assert_int_equal(counts.unwatched, 8);
    assert_int_equal(n_tears, 0);
    copied = lost = 2; /* another layer's, which there is not */
    begin();
    scribble(400, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(n_tears, 1);
}

static void after_an_async_flip_the_rest_is_watched(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    begin_at(400);
    scribble(395, 0, WIDTH); /* above: of this picture nothing is read there */
    go(PERIOD);
    assert_int_equal(n_tears, 0);
    begin_at(400);
    scribble(399, 0, WIDTH);
    scribble(400, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(n_tears, 1);
    assert_int_equal(tear.line, 400);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.bands, 2 * 4); /* 400 is in the fifth of eight */
    begin_at(LINES);                       /* in the blanking */
    assert_true(tp_watch_next(watch) == INT64_MAX);
}

static void lines_are_the_screens(void **state)
{
    struct tp_kms_layer *l = &scanout.layers[0];
    (void)state;
    start(TP_WATCH_SAMPLED);
    l->src_y = 100 << 16; /* 200 rows from 100 on, on lines 360 to 560, */
    l->src_h = 200 << 16;
    l->y = 360;
    l->height = 200;
    begin();
    go(2 * MS);
    scribble(99, 0, WIDTH);
    scribble(300, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(n_tears, 0);
    begin();
    scribble(150, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(tear.line, 410);
    l->height = 100; /* halved, */
    begin();
    scribble(150, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(tear.line, 385);
    l->height = 200; /* upside down */
    l->rotation = DRM_MODE_ROTATE_180;
    begin();
    scribble(150, 0, WIDTH); /* 149 rows from the lower end */
    go(PERIOD);
    assert_int_equal(tear.line, 509);
    l->rotation = DRM_MODE_ROTATE_0;
    l->y = -50; /* half above the screen */
    begin();
    scribble(120, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(n_tears, 3);
    begin();
    scribble(151, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(tear.line, 1);
}

static void cursors_and_what_cannot_be_read_are_left_out(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    scanout.layers[0].kind = TP_KMS_CURSOR;
    begin();
    assert_true(tp_watch_next(watch) == INT64_MAX);
    scanout.layers[0].kind = TP_KMS_OVERLAY;
    fb.info.modifier = I915_FORMAT_MOD_X_TILED;
    begin();
    assert_true(tp_watch_next(watch) == INT64_MAX);
    fb.info.modifier = DRM_FORMAT_MOD_LINEAR;
    scanout.active = false;
    begin();
    assert_true(tp_watch_next(watch) == INT64_MAX);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.scanouts, 0);
}

/* A file that may shrink is read by calls: when it does, that is no tear, and nobody dies. */
static void memory_that_shrinks_is_no_tear(void **state)
{
    (void)state;
    start(TP_WATCH_SAMPLED);
    int sealed = fb.info.fds[0];
    munmap(fb.pixels, (size_t)WIDTH * LINES * 4);
    make_fb(false);
    begin();
    scribble(500, 0, WIDTH);
    go(PERIOD);
    assert_int_equal(n_tears, 1);
    assert_int_equal(tear.line, 500);
    begin();
    assert_int_equal(ftruncate(fb.info.fds[0], (off_t)WIDTH * 4 * 100), 0);
    go(PERIOD);
    assert_int_equal(n_tears, 1);
    tp_watch_count(watch, &counts);
    assert_int_equal(counts.unwatched, 7); /* the first band is there */
    close(sealed);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_teardown(f, stop)
    const struct CMUnitTest tests[] = {
        CASE(a_line_that_changes_ahead_of_the_beam_is_a_tear),
        CASE(a_line_that_changes_behind_the_beam_is_one_as_well),
        CASE(what_changes_before_or_after_is_none),
        CASE(each_planted_line_is_found_in_its_scan_out),
        CASE(of_parts_of_lines_most_are_found_and_in_full_all),
        CASE(a_late_reader_sees_less_and_never_what_is_not_there),
        CASE(bands_that_the_beam_was_at_before_are_unwatched),
        CASE(what_is_read_after_the_next_refresh_tells_nothing),
        CASE(a_copy_does_not_tear_and_one_that_came_too_late_is_unwatched),
        CASE(after_an_async_flip_the_rest_is_watched),
        CASE(lines_are_the_screens),
        CASE(cursors_and_what_cannot_be_read_are_left_out),
        CASE(memory_that_shrinks_is_no_tear),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
