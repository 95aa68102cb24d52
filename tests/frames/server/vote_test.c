#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/server/vote.h"

/* A phone's: the preferred one is its fastest. */
static struct tp_kms_output screen = {
    .modes = {{1080, 2400, 120000}, {1080, 2400, 60000}, {1080, 2400, 90000}, {540, 1200, 45000}},
    .n_modes = 4};

static uint32_t with_caps(uint32_t first, uint32_t second)
{
    const struct tp_vote_wish wishes[2] = {{.cap_mhz = first}, {.cap_mhz = second}};
    return tp_vote(&screen, wishes, 2);
}

static void the_refresh_that_a_cap_divides_is_voted_for(void **state)
{
    (void)state;
    assert_int_equal(with_caps(40000, 0), 120000); /* 3 refreshes each */
    assert_int_equal(with_caps(45000, 0), 90000);  /* 2; the mode of 45 Hz has another size */
    assert_int_equal(with_caps(45000, 90000), 90000);
    assert_int_equal(with_caps(29970, 0), 120000); /* within half a hertz of 30 */
}

static void where_several_divide_the_preferred_one_stays(void **state)
{
    (void)state;
    assert_int_equal(with_caps(30000, 0), 120000);
    assert_int_equal(with_caps(60000, 0), 120000);
    screen.modes[0].refresh_mhz = 144000;
    assert_int_equal(with_caps(30000, 0), 60000); /* 90 does, too */
    screen.modes[0].refresh_mhz = 120000;
}

static void where_none_divides_the_fastest_is(void **state)
{
    (void)state;
    assert_int_equal(with_caps(50000, 0), 120000);
    assert_int_equal(with_caps(500000, 0), 120000);
}

static void a_wish_for_a_refresh_goes_first(void **state)
{
    const struct tp_vote_wish wishes[2] = {{.refresh_mhz = 59000}, {.cap_mhz = 45000}};
    (void)state;
    assert_int_equal(tp_vote(&screen, wishes, 2), 60000);
}

static void without_wishes_there_is_no_vote(void **state)
{
    const struct tp_kms_output none = {.n_modes = 0};
    const struct tp_vote_wish wish = {.cap_mhz = 30000};
    (void)state;
    assert_int_equal(with_caps(0, 0), 0);
    assert_int_equal(tp_vote(&screen, NULL, 0), 0);
    assert_int_equal(tp_vote(&none, &wish, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_refresh_that_a_cap_divides_is_voted_for),
        cmocka_unit_test(where_several_divide_the_preferred_one_stays),
        cmocka_unit_test(where_none_divides_the_fastest_is),
        cmocka_unit_test(a_wish_for_a_refresh_goes_first),
        cmocka_unit_test(without_wishes_there_is_no_vote),
    };
    return cmocka_run_group_tests_name("vote", tests, NULL, NULL);
}
