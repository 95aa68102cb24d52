#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frames/server/shown.h"

#define PERIOD INT64_C(16666666)

static struct tp_shown_record record;
static struct tp_server_shown shown;

static int reset(void **state)
{
    (void)state;
    memset(&record, 0, sizeof record);
    return 0;
}

static void show(uint64_t serial, int64_t refresh)
{
    tp_shown_published(&record, serial);
    tp_shown_first_line(&record, serial, refresh * 50000000 / 3, PERIOD); /* 60 Hz, exactly */
}

static void nothing_shown_is_all_zeros(void **state)
{
    const struct tp_server_shown zero = {0};
    (void)state;
    tp_shown_get(&record, &shown);
    assert_memory_equal(&shown, &zero, sizeof zero);
}

static void each_refresh_a_new_picture(void **state)
{
    (void)state;
    for (int i = 0; i < 101; i++)
        show((uint64_t)i + 1, i);
    tp_shown_get(&record, &shown);
    assert_int_equal(shown.frames, 101);
    assert_int_equal(shown.cadence[1], 100);
    assert_int_equal(shown.repeats, 0);
    assert_int_equal(shown.drops, 0);
    assert_int_equal(shown.p50_ns, 16670000);
    assert_int_equal(shown.p99_ns, 16670000);
    assert_in_range(shown.max_ns, PERIOD, PERIOD + 1);
    assert_true(shown.mean_ns > 16666666 && shown.mean_ns < 16666667);
    assert_true(shown.stddev_ns < 1);
    assert_true(shown.spacing_tail < 0.0001);
}

static void pictures_that_stay_are_repeats(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++)
        show((uint64_t)i + 1, i < 6 ? i : 2 * i - 5); /* five at 60, five at 30, as it were */
    tp_shown_get(&record, &shown);
    assert_int_equal(shown.cadence[1], 5);
    assert_int_equal(shown.cadence[2], 5);
    assert_int_equal(shown.repeats, 5);
    assert_true(shown.spacing_tail == 0); /* the first ten are not judged */
    assert_true(shown.stddev_ns > 8300000 && shown.stddev_ns < 8400000);
    assert_int_equal(shown.p99_ns, 33330000);
    show(12, 1000);
    tp_shown_get(&record, &shown);
    assert_int_equal(shown.cadence[TP_SHOWN_CADENCE], 1);
}

static void the_first_ten_are_in_no_share(void **state)
{
    int64_t at = 0;
    (void)state;
    for (int i = 0; i < 10; i++)
        show((uint64_t)i + 1, at += 3);
    for (int i = 0; i < 5; i++) /* the eleventh interval is the eleventh picture's */
        show((uint64_t)i + 11, at += i == 0 ? 3 : i % 2 ? 2 : 1);
    tp_shown_get(&record, &shown);
    /* Of the four from the eleventh on, two stayed for two. */
    assert_true(shown.spacing_tail > 0.4999 && shown.spacing_tail < 0.5001);
}

static void what_is_published_and_not_shown_is_a_drop(void **state)
{
    (void)state;
    show(1, 0);
    tp_shown_published(&record, 2);
    tp_shown_published(&record, 3);
    tp_shown_first_line(&record, 3, PERIOD, PERIOD);
    tp_shown_published(&record, 4);
    tp_shown_withdraw(&record, 4); /* the screen did not take it */
    show(5, 2);
    tp_shown_published(&record, 6); /* still on its way */
    tp_shown_get(&record, &shown);
    assert_int_equal(shown.drops, 1);
    for (uint64_t i = 7; i < 7 + TP_SHOWN_AHEAD; i++)
        tp_shown_published(&record, i);
    tp_shown_get(&record, &shown);
    assert_int_equal(shown.drops, 2);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup(f, reset)
    const struct CMUnitTest tests[] = {
        CASE(nothing_shown_is_all_zeros),
        CASE(each_refresh_a_new_picture),
        CASE(pictures_that_stay_are_repeats),
        CASE(the_first_ten_are_in_no_share),
        CASE(what_is_published_and_not_shown_is_a_drop),
    };
    return cmocka_run_group_tests_name("shown", tests, NULL, NULL);
}
