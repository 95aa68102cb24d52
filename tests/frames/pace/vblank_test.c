/* The model of the refreshes, fed with timelines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frames/pace/vblank.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define MHZ_NS INT64_C(1000000000000)

static uint64_t seed;

/* -1 to 1. */
static double noise(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(seed >> 11) / (double)(INT64_C(1) << 52) - 1.0;
}

/* Refresh n of a screen with this many mHz, exact to the nanosecond. */
static int64_t refresh(int64_t base, int64_t n, int64_t mhz)
{
    return base + n / mhz * MHZ_NS + n % mhz * MHZ_NS / mhz;
}

static struct tp_timeline_frame sample(int64_t n, int64_t time_ns, int64_t period_ns)
{
    return (struct tp_timeline_frame){.pipeline = 1,
        .sequence = (uint64_t)n,
        .time_ns = time_ns,
        .period_ns = period_ns,
        .lead_ns = 1650000};
}

static void feed(struct tp_vblank *v, int64_t base, int64_t from, int64_t to, int64_t mhz)
{
    for (int64_t n = from; n < to; n++) {
        struct tp_timeline_frame t = sample(n, refresh(base, n, mhz), MHZ_NS / mhz);
        tp_vblank_sample(v, &t);
    }
}

static void assert_near(int64_t a, int64_t b, int64_t most)
{
    if (a - b > most || b - a > most)
        fail_msg("%lld and %lld differ by %lld ns", (long long)a, (long long)b, (long long)(a - b));
}

static void one_sample_makes_a_grid(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    assert_false(tp_vblank_ticks(&v));
    feed(&v, 5 * SECOND, 0, 1, 60000);
    assert_true(tp_vblank_ticks(&v));
    assert_int_equal(tp_vblank_latch_ns(&v, 0), 5 * SECOND - 1650000);
    assert_near(tp_vblank_latch_ns(&v, 600), 15 * SECOND - 1650000, 400);
}

static void an_instant_of_the_grid_has_its_own_index(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, 12345, 0, 100, 59951);
    for (int64_t i = -1000; i < 100000; i += 7) {
        int64_t t = tp_vblank_latch_ns(&v, i);
        assert_int_equal(tp_vblank_index(&v, t), i);
        assert_int_equal(tp_vblank_index(&v, t - 1), i - 1);
        assert_int_equal(tp_vblank_nearest(&v, t + 8 * MS), i);
        assert_int_equal(tp_vblank_nearest(&v, t - 8 * MS), i);
    }
}

/* 59.94 Hz cut to whole nanoseconds would be off by more than a refresh after a week. */
static void a_week_has_no_drift(void **data)
{
    (void)data;
    static const int64_t rates[] = {60000, 59951, 59940, 90000, 144000};
    for (unsigned r = 0; r < sizeof rates / sizeof *rates; r++) {
        struct tp_vblank v = {0};
        feed(&v, SECOND, 0, 200, rates[r]);
        /* A timeline with gaps of a second, for a week. */
        int64_t week = 7 * 86400 * rates[r] / 1000, n;
        for (n = 200; n < week; n += 60) {
            struct tp_timeline_frame t = sample(n, refresh(SECOND, n, rates[r]), MHZ_NS / rates[r]);
            tp_vblank_sample(&v, &t);
        }
        int64_t last = n - 60;
        int64_t at = refresh(SECOND, last, rates[r]) - 1650000;
        assert_int_equal(tp_vblank_nearest(&v, at), last);
        assert_near(tp_vblank_latch_ns(&v, last), at, 2);
        /* Without any, the period alone holds for a minute to 10 µs. */
        assert_near(tp_vblank_latch_ns(&v, last + 3600),
            refresh(SECOND, last + 3600, rates[r]) - 1650000, 10000);
    }
}

static void jitter_is_smoothed(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    seed = 7;
    for (int64_t n = 0; n < 20000; n++) {
        int64_t at = refresh(SECOND, n, 60000);
        struct tp_timeline_frame t = sample(n, at + (int64_t)(noise() * 1e6), MHZ_NS / 60000);
        tp_vblank_sample(&v, &t);
        if (n > 200)
            assert_near(tp_vblank_latch_ns(&v, n + 1), at + 16666667 - 1650000, 500000);
    }
}

/* The timeline's clock and the panel's differ by 100 ppm, which the nominal period does not say. */
static void the_true_rate_is_learnt(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    for (int64_t n = 0; n < 600; n++) {
        struct tp_timeline_frame t = sample(n, SECOND + n * 16668333, 16666667);
        tp_vblank_sample(&v, &t);
    }
    assert_near(tp_vblank_period_ns(&v), 16668333, 20);
}

static void lost_samples_and_outliers_change_nothing(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    seed = 3;
    feed(&v, SECOND, 0, 8, 60000);
    for (int64_t n = 8; n < 10000; n++) {
        int64_t at = refresh(SECOND, n, 60000);
        double dice = noise();
        if (dice < 0)
            continue; /* half of them */
        struct tp_timeline_frame t = sample(n, at, MHZ_NS / 60000);
        if (dice > 0.95)
            t.time_ns += 5 * MS;
        tp_vblank_sample(&v, &t);
        assert_near(tp_vblank_latch_ns(&v, n + 1), at + 16666667 - 1650000, 1000);
    }
}

static void a_grid_that_moved_is_believed_after_three_samples(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, SECOND, 0, 100, 60000);
    feed(&v, SECOND + 6 * MS, 100, 102, 60000);
    assert_near(tp_vblank_latch_ns(&v, 200), refresh(SECOND, 200, 60000) - 1650000, 10000);
    feed(&v, SECOND + 6 * MS, 102, 103, 60000);
    assert_near(tp_vblank_latch_ns(&v, 200), refresh(SECOND + 6 * MS, 200, 60000) - 1650000, 10000);
}

static void another_rate_holds_at_once_and_indices_go_on(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, SECOND, 0, 61, 60000);
    int64_t at = refresh(SECOND, 60, 60000);
    struct tp_timeline_frame t = sample(61, at + 8333333, 8333333);
    tp_vblank_sample(&v, &t);
    int64_t i = tp_vblank_nearest(&v, at + 8333333 - 1650000);
    assert_true(i == 60 || i == 61);
    assert_int_equal(tp_vblank_latch_ns(&v, i), at + 8333333 - 1650000);
    assert_near(tp_vblank_latch_ns(&v, i + 12), at + 13 * 8333333 - 1650000, 20);
}

static void a_stopped_panel_leaves_a_grid_that_does_not_tick(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, SECOND, 0, 61, 60000);
    struct tp_timeline_frame t = sample(61, 2 * SECOND, MHZ_NS / 60000);
    t.stopped = true;
    tp_vblank_sample(&v, &t);
    assert_false(tp_vblank_ticks(&v));
    assert_near(tp_vblank_period_ns(&v), 16666667, 1);
    int64_t i = tp_vblank_index(&v, 10 * SECOND);
    assert_true(tp_vblank_latch_ns(&v, i) <= 10 * SECOND);
    /* It comes back at another phase, and that is right at once. */
    t = sample(62, 20 * SECOND + 3 * MS, MHZ_NS / 60000);
    tp_vblank_sample(&v, &t);
    assert_true(tp_vblank_ticks(&v));
    i = tp_vblank_nearest(&v, 20 * SECOND);
    assert_int_equal(tp_vblank_latch_ns(&v, i), 20 * SECOND + 3 * MS - 1650000);
}

static void samples_of_the_past_are_left_alone(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, SECOND, 0, 61, 60000);
    int64_t at = tp_vblank_latch_ns(&v, 100);
    struct tp_timeline_frame t = sample(10, refresh(SECOND, 10, 60000) + MS, MHZ_NS / 60000);
    tp_vblank_sample(&v, &t);
    assert_int_equal(tp_vblank_latch_ns(&v, 100), at);
}

static void what_was_assumed_ends_with_the_first_sample(void **data)
{
    (void)data;
    struct tp_vblank v;
    tp_vblank_assume(&v, 0, 16666667);
    assert_int_equal(tp_vblank_latch_ns(&v, 6), 100000002);
    feed(&v, SECOND + 5 * MS, 0, 1, 60000);
    int64_t i = tp_vblank_nearest(&v, SECOND);
    assert_int_equal(tp_vblank_latch_ns(&v, i), SECOND + 5 * MS - 1650000);
}

static void the_first_line_is_after_the_next_latch_and_the_pipeline(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, SECOND, 0, 1, 60000);
    int64_t T = 16666666;
    assert_near(tp_vblank_first_line_ns(&v, SECOND + MS), SECOND + 2 * T, 3);
    assert_near(tp_vblank_first_line_ns(&v, SECOND + T - 1650000), SECOND + 2 * T, 3);
    assert_near(tp_vblank_first_line_ns(&v, SECOND + T - 1600000), SECOND + 3 * T, 3);
}

/* What an acquire that sleeps asks: is that still the grid that it was planned by? */
static void another_grid_is_counted_and_a_little_jitter_is_none(void **data)
{
    (void)data;
    struct tp_vblank v = {0};
    feed(&v, SECOND, 0, 61, 60000);
    assert_int_equal(v.grids, 1);
    struct tp_timeline_frame t = sample(61, refresh(SECOND, 61, 60000) + MS, MHZ_NS / 60000);
    tp_vblank_sample(&v, &t);
    assert_int_equal(v.grids, 1);
    int64_t at = refresh(SECOND, 62, 60000);
    feed(&v, at, 0, 10, 144000);
    assert_int_equal(v.grids, 2); /* the rate */
    feed(&v, at + 3 * MS, 10, 13, 144000);
    assert_int_equal(v.grids, 3); /* the phase */
    t = sample(13, refresh(at + 3 * MS, 13, 144000), MHZ_NS / 144000);
    t.stopped = true;
    tp_vblank_sample(&v, &t);
    tp_vblank_sample(&v, &t);
    assert_int_equal(v.grids, 4); /* off */
    t.stopped = false;
    t.variable = true;
    tp_vblank_sample(&v, &t);
    tp_vblank_sample(&v, &t);
    assert_int_equal(v.grids, 5); /* on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_makes_a_grid),
        cmocka_unit_test(an_instant_of_the_grid_has_its_own_index),
        cmocka_unit_test(a_week_has_no_drift),
        cmocka_unit_test(jitter_is_smoothed),
        cmocka_unit_test(the_true_rate_is_learnt),
        cmocka_unit_test(lost_samples_and_outliers_change_nothing),
        cmocka_unit_test(a_grid_that_moved_is_believed_after_three_samples),
        cmocka_unit_test(another_rate_holds_at_once_and_indices_go_on),
        cmocka_unit_test(a_stopped_panel_leaves_a_grid_that_does_not_tick),
        cmocka_unit_test(samples_of_the_past_are_left_alone),
        cmocka_unit_test(another_grid_is_counted_and_a_little_jitter_is_none),
        cmocka_unit_test(what_was_assumed_ends_with_the_first_sample),
        cmocka_unit_test(the_first_line_is_after_the_next_latch_and_the_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
