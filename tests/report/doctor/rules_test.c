/* The rules as they are shipped: each example is a test, and what a rule must have is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/doctor/doctor.h"

static struct tp_rules rules;

static int read_rules(void **state)
{
    struct tp_error e = {0};

    (void)state;
    if (tp_rules_builtin(&rules, &e))
        print_error("%s: %s\n", e.where, e.what);
    return e.err;
}

static int drop_rules(void **state)
{
    (void)state;
    tp_rules_finish(&rules);
    return 0;
}

static void diagnose(const char *text, struct tp_diagnosis *out)
{
    struct tp_doctor *d = tp_doctor_create(&rules);

    for (uint64_t number = 1; *text; number++) {
        size_t n = strcspn(text, "\n");
        struct tp_line line = {text, n, number};
        tp_doctor_line(d, &line);
        text += n + (text[n] == '\n');
    }
    tp_doctor_conclude(d, out);
    tp_doctor_destroy(d);
}

static bool is_also(const struct tp_example *x, const char *id)
{
    for (unsigned i = 0; i < x->n_also; i++) {
        if (!strcmp(x->also[i], id))
            return true;
    }
    return false;
}

/* Facts are told to nobody: theirs is asked of a rule that is made to need them. */
static bool fact_fires(const struct tp_rule *rule, const char *text)
{
    struct tp_doctor *d = tp_doctor_create(&rules);
    struct tp_rule *asks = &rules.list[rule - rules.list];
    struct tp_diagnosis found;
    bool fires = false;

    asks->severity = TP_DOCTOR_NOTE;
    diagnose(text, &found);
    asks->severity = TP_DOCTOR_FACT;
    for (size_t i = 0; i < found.n; i++)
        fires = fires || !strcmp(found.list[i].id, rule->id);
    tp_diagnosis_finish(&found);
    tp_doctor_destroy(d);
    return fires;
}

static unsigned check_example(const struct tp_rule *rule, const struct tp_example *x)
{
    struct tp_diagnosis found;
    bool fired = false;
    unsigned wrong = 0, also = 0;

    if (rule->severity == TP_DOCTOR_FACT) {
        if (fact_fires(rule, x->text) == x->fires)
            return 0;
        print_error("%s: %s:\n%s", rule->id, x->fires ? "does not fire" : "fires", x->text);
        return 1;
    }
    diagnose(x->text, &found);
    for (size_t i = 0; i < found.n; i++) {
        const char *id = found.list[i].id;
        if (!strcmp(found.list[i].id, rule->id)) {
            fired = true;
        } else if (is_also(x, id)) {
            also++;
        } else if (x->fires) {
            print_error("%s: %s fires as well:\n%s", rule->id, id, x->text);
            wrong++;
        }
    }
    if (fired != x->fires || (x->fires && also != x->n_also)) {
        print_error("%s: %s:\n%s", rule->id,
            fired == x->fires ? "what it names as well does not fire"
                : x->fires    ? "does not fire"
                              : "fires",
            x->text);
        wrong++;
    }
    tp_diagnosis_finish(&found);
    return wrong;
}

static void every_example_makes_its_rule_fire_or_not(void **state)
{
    unsigned wrong = 0, n = 0;

    (void)state;
    for (unsigned i = 0; i < rules.n; i++) {
        for (unsigned k = 0; k < rules.list[i].n_examples; k++, n++)
            wrong += check_example(&rules.list[i], &rules.list[i].examples[k]);
    }
    print_message("%u rules, %u examples\n", rules.n, n);
    assert_int_equal(wrong, 0);
    assert_true(n > 2 * rules.n);
}

static void every_rule_has_both_kinds_of_examples(void **state)
{
    (void)state;
    for (unsigned i = 0; i < rules.n; i++) {
        unsigned yes = 0, no = 0;
        for (unsigned k = 0; k < rules.list[i].n_examples; k++) {
            yes += rules.list[i].examples[k].fires;
            no += !rules.list[i].examples[k].fires;
        }
        if (!yes || !no)
            fail_msg("%s lacks a %s", rules.list[i].id, yes ? "no" : "yes");
    }
}

/* A rule that only shares its examples with another is tested by them; one whose line is in no
 * other format than its own would be found in the first one tried. */
static void every_example_fires_in_every_format(void **state)
{
    static const char *const formats[] = {
        "11-30 12:00:02.600  4242  4300 E %s: %s\n",
        "11-30 12:00:02.600 10123  4242  4300 E %s: %s\n",
        "2026-11-30 12:00:02.600123 +0100  4242  4300 E %s: %s\n",
        "         1780000000.123  4242  4300 E %s: %s\n",
        "11-30 12:00:02.600 E/%-8s( 4242): %s\n",
        "E/%-8s( 4242): %s\n",
        "E/%-8s: %s\n",
        "[ 11-30 12:00:02.600  4242: 4300 E/%-8s ]\n%s\n\n",
        "2024-03-22 20:49:56.744  4242-4300  %-23s com.winlator   E  %s\n",
        "2024-03-22 20:49:56.744 4242-4300/com.winlator E/%s: %s\n",
    };
    static const struct {
        const char *id, *tag, *message;
    } lines[] = {
        {"driver-custom", "hook_impl", "hook_android_dlopen_ext: loading custom driver: /d/v.so"},
        {"symbol-missing", "linker",
            "cannot locate symbol \"f\" referenced by \"/d/vulkan.ad.so\"..."},
        {"mapper-guesses", "MESA", "Using fallback gralloc implementation"},
        {"release-timeout", "turnpike", "turnpike: the panel holds an image longer than it may"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
            struct tp_diagnosis found;
            char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, formats[i], lines[k].tag, lines[k].message);
#pragma GCC diagnostic pop
            diagnose(text, &found);
            if (found.n != 1 || strcmp(found.list[0].id, lines[k].id) != 0)
                fail_msg("%s is not found in: %s", lines[k].id, text);
            if (i != 6 && found.list[0].pid != 4242)
                fail_msg("process %d in: %s", found.list[0].pid, text);
            tp_diagnosis_finish(&found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_makes_its_rule_fire_or_not),
        cmocka_unit_test(every_rule_has_both_kinds_of_examples),
        cmocka_unit_test(every_example_fires_in_every_format),
    };

    return cmocka_run_group_tests(tests, read_rules, drop_rules);
}
