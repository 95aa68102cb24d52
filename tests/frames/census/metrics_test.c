/* The measures of a run, of records made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/census/metrics.h"

#define T INT64_C(16666667)
#define MS INT64_C(1000000)

static struct tp_metrics *metrics;
static struct tp_measures got;

static int begin(void **state)
{
    (void)state;
    metrics = tp_metrics_create();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tp_metrics_destroy(metrics);
    return 0;
}

/* Shown by this refresh of 60 Hz, 30 ms after it began; it waited for 3 ms: 1, 0.5 and 1.5. */
static struct tp_frame_record frame(uint64_t number, uint64_t sequence)
{
    int64_t line = (int64_t)(sequence * (uint64_t)T); /* a later one wraps */
    return (struct tp_frame_record){.number = number,
        .sequence = sequence,
        .permitted = (int64_t)sequence,
        .refresh_mhz = 60000,
        .begin_ns = line - 30 * MS,
        .asked_ns = line - 30 * MS,
        .gate_ns = line - 28 * MS,
        .acquired_ns = line - 27 * MS,
        .presented_ns = line - 20 * MS,
        .line_ns = line,
        .slot_wait_ns = MS,
        .release_wait_ns = MS / 2,
        .gate_wait_ns = 3 * MS / 2};
}

static void show(uint64_t number, uint64_t sequence, uint32_t cap_mhz)
{
    struct tp_frame_record f = frame(number, sequence);
    f.cap_mhz = cap_mhz;
    f.permitted = 0;
    tp_metrics_frame(metrics, &f);
}

static bool near(double a, double b)
{
    return a - b < 1 && b - a < 1; /* ns */
}

static void an_even_run_is_even(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 111; i++)
        show(i, 100 + i, 0);
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.frames, 111);
    assert_int_equal(got.span_ns, 110 * T);
    assert_int_equal(got.cadence[1], 101); /* the first ten are left out */
    assert_true(near(got.interval.mean_ns, T) && near(got.interval.stddev_ns, 0));
    assert_true(near(got.latency.mean_ns, 30 * MS));
    assert_true(near(got.acquire_wait.mean_ns, 3 * MS));
    assert_true(near(got.gate_to_start.mean_ns, MS));
    assert_true(near(got.slot_wait_ns, MS) && near(got.release_wait_ns, MS / 2.0));
    assert_true(near(got.gate_wait_ns, 1.5 * MS));
    assert_true(got.on_vblank == 1 && got.spacing_tail == 0);
    assert_int_equal(got.repeats + got.late + got.drops + got.gate_late + got.tears, 0);
}

static void a_frame_that_comes_late_is_counted_once_with_its_repeats(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 60; i++)
        show(i, 100 + i + (i >= 50 ? 2 : 0), 0); /* one stays for three */
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.repeats, 2);
    assert_int_equal(got.late, 1);
    assert_int_equal(got.cadence[1], 49);
    assert_int_equal(got.cadence[3], 1);
    assert_true(near(got.on_vblank * 50, 49) && got.on_vblank < 1);
    assert_true(got.spacing_tail * 50 > 0.99 && got.spacing_tail * 50 < 1.01);
    assert_int_equal(got.interval.max_ns, 3 * T);
}

static void what_could_come_no_sooner_is_on_its_refresh(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        struct tp_frame_record f = frame(i, 100 + 2 * i);
        tp_metrics_frame(metrics, &f);
    }
    tp_metrics_get(metrics, &got);
    assert_true(got.on_vblank == 1);
    assert_int_equal(got.repeats, 10);
}

static void a_cap_of_half_the_refresh_repeats_nothing(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 30; i++)
        show(i, 100 + 2 * i, 30000);
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.repeats, 0);
    assert_int_equal(got.cadence[2], 20);
    assert_true(got.on_vblank == 1 && got.spacing_tail == 0);
}

static void a_cap_of_45_is_one_one_two(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 300; i++)
        show(i, 100 + i + i / 3, 45000);
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.repeats, 0);
    assert_true(got.on_vblank == 1);
    assert_true(got.cadence[1] > 190 && got.cadence[2] > 90);
}

static void what_is_not_on_a_grid_is_not_judged(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 30; i++) {
        struct tp_frame_record f = frame(i, 100 + 2 * i);
        f.variable = true;
        tp_metrics_frame(metrics, &f);
    }
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.repeats + got.late + got.cadence[2], 0);
    assert_true(near(got.interval.mean_ns, 2 * T));
}

/* Two in one refresh, as asynchronous flips are; and a server that begins to count anew. */
static void what_is_no_stay_is_not_judged(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        show(i, 100 + i, 0);
    show(20, 119, 0);
    show(21, 5, 0);
    show(22, UINT64_C(1) << 40, 0);
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.frames, 23);
    assert_int_equal(got.cadence[0] + got.cadence[16] + got.repeats, 0);
    assert_int_equal(got.cadence[1], 10);
}

static void tears_drops_and_late_frames_are_counted(void **state)
{
    (void)state;
    struct tp_frame_record f = frame(0, 1);
    struct tp_refresh_record r = {.torn_ns = TP_NEVER};
    f.line_ns = TP_NEVER;
    f.dropped = f.late = true;
    tp_metrics_frame(metrics, &f);
    tp_metrics_refresh(metrics, &r);
    r.torn_ns = 5;
    tp_metrics_refresh(metrics, &r);
    r.torn_ns = TP_NEVER;
    r.async_torn = true;
    tp_metrics_refresh(metrics, &r);
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.drops, 1);
    assert_int_equal(got.gate_late, 1);
    assert_int_equal(got.tears, 1);
    assert_int_equal(got.async_tears, 1);
    assert_int_equal(got.frames, 0);
}

static void a_reset_leaves_nothing_behind(void **state)
{
    (void)state;
    struct tp_measures first;
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 60; i++) {
            struct tp_frame_record f = frame(i, 100 + i + (i >= 50 && round == 0 ? 90 : 0));
            f.dropped = f.late = round == 0;
            tp_metrics_frame(metrics, &f);
        }
        if (round == 0)
            tp_metrics_reset(metrics);
    }
    tp_metrics_get(metrics, &got);
    struct tp_metrics *fresh = tp_metrics_create();
    for (uint64_t i = 0; i < 60; i++) {
        struct tp_frame_record f = frame(i, 100 + i);
        tp_metrics_frame(fresh, &f);
    }
    tp_metrics_get(fresh, &first);
    tp_metrics_destroy(fresh);
    assert_memory_equal(&got, &first, sizeof got);
    assert_int_equal(got.interval.max_ns, T);
}

/* Of this length; percentiles lie within 10 us of it, or within 1 % from 2 s on. */
static void assert_right(int64_t is, int64_t ns)
{
    int64_t most = ns < 2000 * MS ? 10000 : ns / 100;
    if (is < ns - most || is > ns + most)
        fail_msg("%lld is not %lld", (long long)is, (long long)ns);
}

static void frames_of_any_length_have_their_percentiles(void **state)
{
    (void)state;
    static const int64_t lengths[] = {MS, 1999 * MS, 1999999999, 2000 * MS, 2000000001, 2007 * MS,
        3999 * MS, 4000 * MS, 10000 * MS, 61234 * MS, 3600000 * MS, 86400000 * MS,
        INT64_C(1) << 60};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        tp_metrics_reset(metrics);
        for (uint64_t n = 0; n < 210; n++) { /* one in fifty takes three times as long */
            struct tp_frame_record f = frame(n, 100);
            f.line_ns = 0;
            f.begin_ns = -(n % 50 == 49 && lengths[i] < INT64_C(1) << 60 ? 3 : 1) * lengths[i];
            f.asked_ns = f.begin_ns;
            f.acquired_ns = f.gate_ns = 0;
            tp_metrics_frame(metrics, &f);
        }
        tp_metrics_get(metrics, &got);
        assert_right(got.latency.p50_ns, lengths[i]);
        assert_right(got.acquire_wait.p50_ns, lengths[i]);
        assert_true(got.latency.p50_ns <= got.latency.p99_ns);
        assert_true(got.latency.p99_ns <= got.latency.max_ns);
        if (lengths[i] < INT64_C(1) << 60)
            assert_right(got.latency.p99_ns, 3 * lengths[i]);
    }
}

/* What a hostile capture may say. */
static void numbers_at_their_bounds_do_no_harm(void **state)
{
    (void)state;
    static const int64_t instants[] = {-(INT64_C(1) << 60), INT64_C(1) << 60, 0, 1};
    static const uint32_t rates[] = {0, 1, 60000, UINT32_MAX};
    for (uint64_t i = 0; i < 4096; i++) {
        struct tp_frame_record f = frame(i, i % 7 ? i : UINT64_C(1) << 60);
        f.line_ns = instants[i % 4];
        f.begin_ns = instants[i / 4 % 4];
        f.acquired_ns = instants[i / 16 % 4];
        f.asked_ns = instants[i / 64 % 4];
        f.refresh_mhz = rates[i / 256 % 4];
        f.cap_mhz = rates[i / 1024];
        tp_metrics_frame(metrics, &f);
    }
    tp_metrics_get(metrics, &got);
    assert_int_equal(got.frames, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_even_run_is_even, begin, end),
        cmocka_unit_test_setup_teardown(
            a_frame_that_comes_late_is_counted_once_with_its_repeats, begin, end),
        cmocka_unit_test_setup_teardown(what_could_come_no_sooner_is_on_its_refresh, begin, end),
        cmocka_unit_test_setup_teardown(a_cap_of_half_the_refresh_repeats_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_cap_of_45_is_one_one_two, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_on_a_grid_is_not_judged, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_stay_is_not_judged, begin, end),
        cmocka_unit_test_setup_teardown(tears_drops_and_late_frames_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(a_reset_leaves_nothing_behind, begin, end),
        cmocka_unit_test_setup_teardown(frames_of_any_length_have_their_percentiles, begin, end),
        cmocka_unit_test_setup_teardown(numbers_at_their_bounds_do_no_harm, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
