/* Ninja's output, as ninja 1.11 writes it with the recipe's NINJA_STATUS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/recipe/internal.h"

struct seen {
    unsigned calls;
    struct tp_progress last;
    char text[256];
};

static void on_progress(void *data, const struct tp_progress *p)
{
    struct seen *s = data;
    s->calls++;
    s->last = *p;
    strncpy(s->text, p->text, sizeof s->text - 1);
}

static void feed(struct tp_ninja *n, const char *lines, int64_t now_ns)
{
    char *copy = tp_strdup(lines);
    for (char *save = NULL, *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
        tp_ninja_line(n, l, now_ns);
    free(copy);
}

static void counts_and_text_come_from_the_status_line(void **state)
{
    (void)state;
    struct seen s = {0};
    struct tp_ninja n = {.on_progress = on_progress, .data = &s};
    feed(&n, "ninja: Entering directory `b'\n[12/640] Compiling C object a.p/x.c.o", 0);
    assert_int_equal(s.calls, 1);
    assert_string_equal(s.last.phase, "compile");
    assert_int_equal(s.last.done, 12);
    assert_int_equal(s.last.total, 640);
    assert_string_equal(s.text, "Compiling C object a.p/x.c.o");
    tp_ninja_finish(&n);
}

static void the_estimate_is_the_mean_of_the_steps_done(void **state)
{
    (void)state;
    struct seen s = {0};
    struct tp_ninja n = {.on_progress = on_progress, .data = &s, .start_ns = 1000000000};
    /* 160 of 640 in 40 s: 250 ms a step, 480 to go, 120 s. */
    feed(&n, "[160/640] x", 41000000000);
    assert_int_equal(s.last.eta_ms, 120000);
    feed(&n, "[640/640] x", 161000000000);
    assert_int_equal(s.last.eta_ms, 0);
    tp_ninja_finish(&n);
}

static void nothing_is_estimated_from_the_first_few_steps_of_many(void **state)
{
    (void)state;
    struct seen s = {0};
    struct tp_ninja n = {.on_progress = on_progress, .data = &s};
    feed(&n, "[9/640] x", 1000000000);
    assert_int_equal(s.last.eta_ms, -1);
    feed(&n, "[0/640] x", 1000000000);
    assert_int_equal(s.last.eta_ms, -1);
    feed(&n, "[1/2] x", 1000000000);
    assert_int_equal(s.last.eta_ms, 1000);
    tp_ninja_finish(&n);
}

static void lines_that_only_look_like_a_status_are_output(void **state)
{
    (void)state;
    struct seen s = {0};
    struct tp_ninja n = {.on_progress = on_progress, .data = &s};
    feed(&n, "[-Wunused]\n[5] x\n[7/3] more than all\n[a/b] c\n[", 0);
    assert_int_equal(s.calls, 0);
    tp_ninja_finish(&n);
}

static void a_failure_shows_its_errors_and_not_the_long_command(void **state)
{
    (void)state;
    struct tp_ninja n = {0};
    feed(&n,
         "[1/3] Compiling C object ok.c.o\n"
         "[2/3] Compiling C object bad.c.o\n"
         "FAILED: bad.c.o \n"
         "cc -I. -c a very long command\n"
         "In file included from other.h:1:\n"
         "bad.c:3:5: warning: unused\n"
         "bad.c:7:1: error: unknown type name 'foo'\n"
         "    7 | foo bar;\n"
         "[3/3] Compiling C object late.c.o\n"
         "late.c: warning: something\n"
         "FAILED: late.c.o\n"
         "cc late\n"
         "ninja: build stopped: subcommand failed.\n", 0);
    char *text = tp_ninja_failure(&n, 1000);
    assert_string_equal(text, "FAILED: bad.c.o \n"
                              "bad.c:7:1: error: unknown type name 'foo'\n"
                              "    7 | foo bar;");
    free(text);
    tp_ninja_finish(&n);
}

static void a_failure_without_errors_shows_the_last_lines_that_fit(void **state)
{
    (void)state;
    struct tp_ninja n = {0};
    feed(&n, "FAILED: x.h\npython3 gen.py\nTraceback (most recent call last):\n", 0);
    for (int i = 0; i < 200; i++)
        feed(&n, "  File \"gen.py\", somewhere", 0);
    feed(&n, "KeyError: 'gone'", 0);
    char *text = tp_ninja_failure(&n, 300);
    assert_true(strlen(text) <= 300);
    assert_memory_equal(text, "FAILED: x.h\n  File", 18);
    assert_non_null(strstr(text, "KeyError: 'gone'"));
    free(text);
    tp_ninja_finish(&n);
}

static void ninjas_own_error_stands_alone(void **state)
{
    (void)state;
    struct tp_ninja n = {0};
    feed(&n, "ninja: error: unknown target 'x.so'\n", 0);
    char *text = tp_ninja_failure(&n, 300);
    assert_string_equal(text, "ninja: error: unknown target 'x.so'");
    free(text);
    tp_ninja_finish(&n);
    /* Without a shell in its place, for one, ninja cannot start a step at all. */
    struct tp_ninja fatal = {0};
    feed(&fatal,
         "ninja: Entering directory `b'\n"
         "[0/3] Compiling C object a.c.o\n"
         "ninja: fatal: posix_spawn: No such file or directory\n", 0);
    text = tp_ninja_failure(&fatal, 300);
    assert_string_equal(text, "ninja: fatal: posix_spawn: No such file or directory");
    free(text);
    tp_ninja_finish(&fatal);
    struct tp_ninja silent = {0};
    text = tp_ninja_failure(&silent, 300);
    assert_string_equal(text, "ninja said nothing");
    free(text);
}

static void an_endless_failure_is_kept_within_bounds(void **state)
{
    (void)state;
    struct tp_ninja n = {0};
    feed(&n, "FAILED: x\ncommand", 0);
    for (int i = 0; i < 100000; i++)
        tp_ninja_line(&n, "x.c:1:1: error: again and again and again", 0);
    assert_true(n.failed.len < 300000);
    char *text = tp_ninja_failure(&n, 1800);
    assert_true(strlen(text) <= 1800);
    free(text);
    tp_ninja_finish(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_text_come_from_the_status_line),
        cmocka_unit_test(the_estimate_is_the_mean_of_the_steps_done),
        cmocka_unit_test(nothing_is_estimated_from_the_first_few_steps_of_many),
        cmocka_unit_test(lines_that_only_look_like_a_status_are_output),
        cmocka_unit_test(a_failure_shows_its_errors_and_not_the_long_command),
        cmocka_unit_test(a_failure_without_errors_shows_the_last_lines_that_fit),
        cmocka_unit_test(ninjas_own_error_stands_alone),
        cmocka_unit_test(an_endless_failure_is_kept_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
