/* On which chips a driver is started, by its own table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "factory/chips/chips.h"
#include "factory/kgsl/chips.h"
#include "factory/prove/lineup.h"

static json_t *table(const char *text)
{
    json_t *t = json_loads(text, 0, NULL);
    assert_non_null(t);
    return t;
}

static const struct tp_lineup_chip *find(const struct tp_lineup *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++) {
        if (!strcmp(l->at[i].name, name))
            return &l->at[i];
    }
    return NULL;
}

/* Entries as 25.0.7 has them: a patch level, a speed bin, any of both, none of either. */
static const char usual[] =
    "[{'name': 'FD505', 'generation': 'A5XX', 'chip_ids': ['0x050005ff']},"
    " {'name': 'FD650', 'generation': 'A6XX', 'chip_ids': ['0x060500ff']},"
    " {'name': 'FD643', 'generation': 'A6XX', 'chip_ids': ['0xac06030500']},"
    " {'name': 'FD690', 'generation': 'A6XX', 'chip_ids': ['0x060900ff', '0xffff06090000']},"
    " {'name': 'Adreno X1-85', 'generation': 'A7XX', 'chip_ids': ['0xffff43050c01']},"
    " {'name': 'FD777', 'generation': 'A7XX', 'chip_ids': ['0x07070707']},"
    " {'name': 'FD778', 'generation': 'A7XX', 'chip_ids': ['0xffff07070707', '0x07070707']}]";

static json_t *usual_table(void)
{
    char *text = tp_strdup(usual);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *t = table(text);
    free(text);
    return t;
}

static void the_first_entry_that_claims_an_id_is_the_match(void **state)
{
    (void)state;
    json_t *t = usual_table();
    assert_string_equal(tp_chips_match(t, 0x06050002), "FD650");
    assert_string_equal(tp_chips_match(t, 0x43050c01), "Adreno X1-85");
    assert_string_equal(tp_chips_match(t, 0x07070707), "FD777");
    assert_null(tp_chips_match(t, 0x06030500));
    assert_null(tp_chips_match(t, 0x060501ff + 1));
    assert_null(tp_chips_match(NULL, 0x06050002));
    json_decref(t);
}

static void kgsl_says_no_speed_bin(void **state)
{
    (void)state;
    json_t *t = usual_table();
    assert_int_equal(tp_chips_kgsl_id(json_array_get(t, 1), 0), 0x06050000);
    assert_int_equal(tp_chips_kgsl_id(json_array_get(t, 2), 0), 0);
    assert_int_equal(tp_chips_kgsl_id(json_array_get(t, 4), 0), 0x43050c01);
    assert_int_equal(tp_chips_kgsl_id(json_array_get(t, 4), 9), 0);
    json_decref(t);
}

static void each_chip_is_told_once_and_why(void **state)
{
    (void)state;
    json_t *t = usual_table();
    struct tp_lineup l;
    tp_lineup_make(t, &l);
    assert_int_equal(find(&l, "FD650")->what, TP_LINEUP_RUNS);
    assert_int_equal(find(&l, "FD643")->what, TP_LINEUP_NO_KGSL_ID);
    assert_int_equal(find(&l, "FD777")->what, TP_LINEUP_RUNS);
    assert_int_equal(find(&l, "FD777")->chip_id, 0x07070707);
    assert_int_equal(find(&l, "FD778")->what, TP_LINEUP_SAME_AS);
    assert_string_equal(find(&l, "FD778")->same_as, "FD777");
    assert_int_equal(find(&l, "FD740")->what, TP_LINEUP_NO_SUPPORT);
    assert_string_equal(find(&l, "FD740")->why, "this Mesa does not know it");
    assert_string_equal(find(&l, "Adreno (TM) 830")->why, "this Mesa has no A8xx");
    assert_null(find(&l, "FD505"));
    for (size_t i = 0; i < l.n; i++)
        assert_ptr_equal(find(&l, l.at[i].name), &l.at[i]);
    tp_lineup_finish(&l);
    json_decref(t);
}

static void a_chip_that_is_another_in_this_table_is_told_so(void **state)
{
    (void)state;
    json_t *t = table("[{\"name\": \"Adreno 740 family\", \"generation\": \"A7XX\","
                      "  \"chip_ids\": [\"0x43050aff\"]}]");
    struct tp_lineup l;
    tp_lineup_make(t, &l);
    assert_int_equal(find(&l, "FD740")->what, TP_LINEUP_SAME_AS);
    assert_string_equal(find(&l, "FD740")->same_as, "Adreno 740 family");
    assert_int_equal(find(&l, "Adreno 740 family")->what, TP_LINEUP_RUNS);
    tp_lineup_finish(&l);
    json_decref(t);
}

static void without_a_table_every_chip_of_the_simulator_runs(void **state)
{
    (void)state;
    struct tp_lineup l;
    size_t n;
    tp_kgsl_chips(&n);
    tp_lineup_make(NULL, &l);
    assert_int_equal(l.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(l.at[i].what, TP_LINEUP_RUNS);
    tp_lineup_finish(&l);
}

static void a_chip_is_called_as_reports_print_it(void **state)
{
    (void)state;
    struct tp_lineup l;
    tp_lineup_make(NULL, &l);
    const struct tp_lineup_chip *chip = find(&l, "FD740");
    static const char *const names[] = {"FD740",      "fd740", "740", "A740", "Adreno 740",
                                        "0x43050a01", "Adreno (TM) 740", "Turnip Adreno (TM) 740"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(tp_lineup_is_called(chip, names[i]));
    static const char *const others[] = {"FD740v3", "A74", "74", "0x43050a00", "0x", "A", "AA740"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tp_lineup_is_called(chip, others[i]));
    assert_true(tp_lineup_is_called(find(&l, "FDA32"), "Turnip Adreno (TM) A32"));
    assert_true(tp_lineup_is_called(find(&l, "Adreno X1-85"), "x1-85"));
    assert_true(tp_lineup_is_called(find(&l, "Adreno (TM) 830"), "A830"));
    tp_lineup_finish(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_entry_that_claims_an_id_is_the_match),
        cmocka_unit_test(kgsl_says_no_speed_bin),
        cmocka_unit_test(each_chip_is_told_once_and_why),
        cmocka_unit_test(a_chip_that_is_another_in_this_table_is_told_so),
        cmocka_unit_test(without_a_table_every_chip_of_the_simulator_runs),
        cmocka_unit_test(a_chip_is_called_as_reports_print_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
