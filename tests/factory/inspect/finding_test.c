#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "factory/inspect/finding.h"

static void every_rule_has_its_row_and_a_word_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < TP_RULES; i++) {
        const struct tp_rule *rule = tp_rule_of((enum tp_rule_id)i);
        if (!rule->id || !rule->holds || !rule->fix)
            fail_msg("rule %d has no row, or an empty one", i);
        assert_true(strspn(rule->id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(rule->id));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(rule->id, tp_rule_of((enum tp_rule_id)j)->id);
    }
}

static void a_finding_says_what_why_and_what_to_do(void **state)
{
    (void)state;
    struct tp_findings f = {0};
    tp_findings_add(&f, TP_RULE_ELF_TYPE, "lib\x1b.so", NULL, "ELF type %d", 2);
    tp_findings_add_as(&f, TP_RULE_ELF_NEEDED, TP_SEVERITY_NOTE, NULL, "do this", "as it is");
    assert_int_equal(f.n, 2);
    const struct tp_rule *type = tp_rule_of(TP_RULE_ELF_TYPE);
    assert_string_equal(f.list[0].where, "lib\\x1b.so");
    assert_true(!strncmp(f.list[0].text, "ELF type 2: ", 12));
    assert_string_equal(f.list[0].text + 12, type->why);
    assert_string_equal(f.list[0].fix, type->fix);
    assert_int_equal(f.list[0].severity, TP_SEVERITY_ERROR);
    assert_string_equal(f.list[1].text, "as it is");
    assert_string_equal(f.list[1].fix, "do this");
    assert_string_equal(f.list[1].where, "");
    assert_int_equal(tp_findings_count(&f, TP_SEVERITY_NOTE), 2);
    assert_int_equal(tp_findings_count(&f, TP_SEVERITY_ERROR), 1);
    tp_findings_finish(&f);
    assert_int_equal(f.n, 0);
}

static void a_rule_broken_without_end_costs_no_memory(void **state)
{
    (void)state;
    struct tp_findings f = {0};
    for (int i = 0; i < 100000; i++)
        tp_findings_add(&f, TP_RULE_ELF_API, "x", NULL, "symbol %d", i);
    assert_int_equal(f.n, TP_FINDINGS_A_RULE);
    assert_int_equal(tp_findings_left_out(&f, TP_RULE_ELF_API), 100000 - TP_FINDINGS_A_RULE);
    assert_true(tp_findings_has(&f, TP_RULE_ELF_API));
    assert_false(tp_findings_has(&f, TP_RULE_ELF_TLS));
    assert_int_equal(tp_findings_left_out(&f, TP_RULE_ELF_TLS), 0);
    tp_findings_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_its_row_and_a_word_of_its_own),
        cmocka_unit_test(a_finding_says_what_why_and_what_to_do),
        cmocka_unit_test(a_rule_broken_without_end_costs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
