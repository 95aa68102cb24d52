#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "factory/kgsl/faults.h"
#include "factory/kgsl/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct tp_kgsl_faults parsed(const char *text)
{
    struct tp_kgsl_faults f;
    assert_int_equal(tp_kgsl_faults_parse(&f, text, NULL), 0);
    return f;
}

static void the_third_allocation_fails_and_no_other_call(void **state)
{
    struct tp_kgsl_faults f = parsed("enomem@alloc:3");
    (void)state;
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_SUBMIT).error, 0);
        assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_ALLOC).error, i == 3 ? -ENOMEM : 0);
    }
}

static void a_plus_means_from_then_on(void **state)
{
    struct tp_kgsl_faults f = parsed("eio@wait:2+");
    (void)state;
    for (int i = 1; i <= 4; i++)
        assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_WAIT).error, i >= 2 ? -EIO : 0);
}

static void setproperty_is_refused_always(void **state)
{
    struct tp_kgsl_faults f = parsed("refuse-setproperty");
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_SETPROPERTY).error, -EINVAL);
    assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_PROPERTY).error, 0);
}

static void a_lost_device_and_a_hang_come_at_their_submits(void **state)
{
    struct tp_kgsl_faults f = parsed("lost@submit:2,hang@submit:3");
    (void)state;
    for (int i = 1; i <= 4; i++) {
        struct tp_kgsl_verdict v = tp_kgsl_faults_next(&f, TP_KGSL_SITE_SUBMIT);
        assert_int_equal(v.lost, i == 2);
        assert_int_equal(v.hang, i == 3);
        assert_int_equal(v.error, 0);
    }
}

/* A thousand calls at one half: within five standard deviations, 79, of 500. */
static void a_probability_strikes_about_as_often_the_same_for_one_seed_other_for_another(void **state)
{
    struct tp_kgsl_faults a = parsed("eintr:0.5,seed:1"), b = parsed("eintr:0.5,seed:1");
    struct tp_kgsl_faults c = parsed("eintr:0.5,seed:2");
    int struck = 0, differ = 0;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        int error = tp_kgsl_faults_next(&a, TP_KGSL_SITE_PROPERTY).error;
        assert_int_equal(error, tp_kgsl_faults_next(&b, TP_KGSL_SITE_PROPERTY).error);
        differ += error != tp_kgsl_faults_next(&c, TP_KGSL_SITE_PROPERTY).error;
        struck += error == -EINTR;
    }
    assert_in_range(struck, 421, 579);
    assert_true(differ > 300);
}

static void a_fault_at_any_call_spares_open(void **state)
{
    struct tp_kgsl_faults f = parsed("eintr");
    (void)state;
    assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_OPEN).error, 0);
    assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_ANY).error, -EINTR);
    f = parsed("eacces@open");
    assert_int_equal(tp_kgsl_faults_next(&f, TP_KGSL_SITE_OPEN).error, -EACCES);
}

static void slowness_has_its_unit(void **state)
{
    (void)state;
    assert_int_equal(parsed("slow:5ms").slow_ns, 5000000);
    assert_int_equal(parsed("slow:1.5us").slow_ns, 1500);
    assert_int_equal(parsed("slow:2s,seed:9").slow_ns, 2000000000);
}

static void what_cannot_be_read_is_named(void **state)
{
    static const struct {
        const char *text, *bad;
    } cases[] = {
        {"enomem@alloc:3,nonsense", "nonsense"}, {"enomem@nowhere:1", "enomem@nowhere:1"},
        {"enomem@alloc:0", "enomem@alloc:0"},    {"eintr:1.5", "eintr:1.5"},
        {"eintr:x", "eintr:x"},                  {"slow", "slow"},
        {"slow:5", "slow:5"},                    {"lost@alloc:1", "lost@alloc:1"},
        {"seed:", "seed:"},                      {"eintr:", "eintr:"},
        {",", ","},                              {"eintr:3x", "eintr:3x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tp_kgsl_faults f;
        const char *bad = NULL;
        assert_int_equal(tp_kgsl_faults_parse(&f, cases[i].text, &bad), -EINVAL);
        assert_non_null(bad);
        assert_string_equal(bad, cases[i].bad);
    }
}

static void every_random_schedule_can_be_read(void **state)
{
    char text[128], again[128];
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct tp_kgsl_faults f;
        tp_kgsl_faults_random(seed, text, sizeof text);
        tp_kgsl_faults_random(seed, again, sizeof again);
        assert_string_equal(text, again);
        assert_int_equal(tp_kgsl_faults_parse(&f, text, NULL), 0);
        assert_true(f.count > 0 || f.slow_ns > 0);
    }
}

static const char *variable, *value;

static char *get(const char *name)
{
    return variable && !strcmp(name, variable) ? (char *)value : NULL;
}

static void settings_have_their_usual_values(void **state)
{
    struct tp_kgsl_settings s;
    char why[240];
    (void)state;
    variable = NULL;
    assert_int_equal(tp_kgsl_settings_read(&s, get, why, sizeof why), 0);
    assert_string_equal(s.config.chip.name, "FD750");
    assert_int_equal(s.config.retire_ns, 20000);
    assert_int_equal(s.config.hang_ns, 2000000000);
    assert_false(s.config.old_kernel);
    variable = "TURNPIKE_KGSL_FAULTS", value = "slow:1ms";
    assert_int_equal(tp_kgsl_settings_read(&s, get, why, sizeof why), 0);
    assert_int_equal(s.config.retire_ns, 1020000);
    variable = "TURNPIKE_KGSL_WATCH", value = "b600,0xb604";
    assert_int_equal(tp_kgsl_settings_read(&s, get, why, sizeof why), 0);
    assert_int_equal(s.watches[s.watch_count - 1], 0xb604);
}

static void a_setting_that_cannot_be_read_is_named(void **state)
{
    static const char *const wrong[][2] = {
        {"TURNPIKE_KGSL_CHIP", "no such"},    {"TURNPIKE_KGSL_KERNEL", "older"},
        {"TURNPIKE_KGSL_RETIRE_US", "-1"},    {"TURNPIKE_KGSL_HANG_MS", "1s"},
        {"TURNPIKE_KGSL_MEMORY_MB", "99999"}, {"TURNPIKE_KGSL_FAULTS", "what"},
        {"TURNPIKE_KGSL_WATCH", "b600 b601"}, {"TURNPIKE_KGSL_WATCH", "1,2,3,4,5,6,7"},
    };
    struct tp_kgsl_settings s;
    char why[240];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        variable = wrong[i][0];
        value = wrong[i][1];
        assert_int_equal(tp_kgsl_settings_read(&s, get, why, sizeof why), -EINVAL);
        assert_non_null(strstr(why, variable));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_third_allocation_fails_and_no_other_call),
        cmocka_unit_test(a_plus_means_from_then_on),
        cmocka_unit_test(setproperty_is_refused_always),
        cmocka_unit_test(a_lost_device_and_a_hang_come_at_their_submits),
        cmocka_unit_test(
            a_probability_strikes_about_as_often_the_same_for_one_seed_other_for_another),
        cmocka_unit_test(a_fault_at_any_call_spares_open),
        cmocka_unit_test(slowness_has_its_unit),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(every_random_schedule_can_be_read),
        cmocka_unit_test(settings_have_their_usual_values),
        cmocka_unit_test(a_setting_that_cannot_be_read_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
