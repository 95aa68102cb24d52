#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "factory/prove/validation.h"

static void add(struct tp_validation *v, const char *facts, const char *checks)
{
    struct tp_run_result run = {.facts = json_loads(facts, 0, NULL),
                                .checks = json_loads(checks, 0, NULL)};
    tp_validation_add(v, &run);
    tp_run_result_finish(&run);
}

static void expect(struct tp_validation *v, int ok, const char *detail)
{
    json_t *check = tp_validation_check(v);
    assert_int_equal(json_is_true(json_object_get(check, "ok")), ok);
    assert_string_equal(json_string_value(json_object_get(check, "detail")), detail);
    json_decref(check);
    tp_validation_finish(v);
}

static void nothing_is_said_when_no_run_came_to_a_device(void **state)
{
    (void)state;
    struct tp_validation v = {0};
    add(&v, "{\"validation_layer\": \"L\"}", "[]");
    assert_null(tp_validation_check(&v));
    tp_validation_finish(&v);
}

static void messages_are_counted(void **state)
{
    (void)state;
    struct tp_validation v = {0};
    add(&v, "{\"entry\": \"HMI\", \"validation_layer\": \"L\"}", "[{\"id\": \"fence\", \"ok\": true}]");
    add(&v, "{\"entry\": \"HMI\", \"validation_layer\": \"L\"}",
        "[{\"id\": \"validation\", \"ok\": false}, {\"id\": \"fence\", \"ok\": false}]");
    add(&v, "{\"entry\": \"HMI\"}", "[]");
    expect(&v, 0, "L watched 2 of 3 chips: 1 message");
}

static void runs_without_the_layer_hold_and_say_so(void **state)
{
    (void)state;
    struct tp_validation v = {0};
    add(&v, "{\"entry\": \"HMI\", \"no_validation_layer\": \"it is not there\"}", "[]");
    expect(&v, 1, "no chip was watched by the validation layer: it is not there");
    add(&v, "{\"entry\": \"HMI\"}", "[]");
    expect(&v, 1,
           "no chip was watched by the validation layer: there is none for this driver's C library");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_when_no_run_came_to_a_device),
        cmocka_unit_test(messages_are_counted),
        cmocka_unit_test(runs_without_the_layer_hold_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
