/* Waking before an instant, as long as waking takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/punctual.h"

#define DUE   INT64_C(1000000000)
#define SPARE TP_PUNCTUAL_SPARE_NS

/* Sleeps for n instants on a clock of its own, waking so late each time; answers how long before
 * the last of them it was awake (less than 0: after it). */
static int64_t awake_before(struct tp_punctual *p, unsigned n, int64_t late_ns)
{
    int64_t before = 0;
    for (unsigned i = 0; i < n; i++) {
        int64_t asked = tp_punctual_sleep_ns(p, DUE);
        before = DUE - (asked + late_ns);
        tp_punctual_woke(p, asked, asked + late_ns);
    }
    return before;
}

static void it_is_awake_a_little_before(void **state)
{
    struct tp_punctual p = {0};
    (void)state;
    for (int64_t late = 0; late <= 120000; late += 20000)
        assert_in_range(awake_before(&p, 100, late), SPARE - 8, SPARE + 8);
}

static void an_unquiet_machine_costs_no_more_than_the_bound(void **state)
{
    struct tp_punctual p = {0};
    (void)state;
    awake_before(&p, 100, 20000000);
    assert_int_equal(DUE - tp_punctual_sleep_ns(&p, DUE), TP_PUNCTUAL_MOST_NS);
    assert_in_range(awake_before(&p, 100, 30000), SPARE - 8, SPARE + 8);
}

/* One wake-up that was late counts an eighth of the bound, not for ever. */
static void one_late_wake_up_is_forgotten(void **state)
{
    struct tp_punctual p = {0};
    (void)state;
    awake_before(&p, 100, 40000);
    awake_before(&p, 1, 20000000);
    assert_in_range(awake_before(&p, 1, 40000), SPARE, SPARE + 14000);
    assert_in_range(awake_before(&p, 60, 40000), SPARE - 8, SPARE + 8);
}

static void nobody_is_let_go_before_the_instant(void **state)
{
    int64_t due = tp_now_ns() + 2000000;
    (void)state;
    tp_punctual_wait(due);
    assert_true(tp_now_ns() >= due);
    tp_punctual_wait(due - 1); /* over: at once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_awake_a_little_before),
        cmocka_unit_test(an_unquiet_machine_costs_no_more_than_the_bound),
        cmocka_unit_test(one_late_wake_up_is_forgotten),
        cmocka_unit_test(nobody_is_let_go_before_the_instant),
    };
    return cmocka_run_group_tests_name("punctual", tests, NULL, NULL);
}
