#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "factory/kgsl/chips.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void no_two_chips_share_a_name_or_an_id(void **state)
{
    size_t count;
    const struct tp_kgsl_chip *chips = tp_kgsl_chips(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(chips[i].name, chips[k].name);
            assert_int_not_equal(chips[i].chip_id, chips[k].chip_id);
        }
    }
}

/* Turnip takes the number from the id's bytes: core, major and minor. */
static void an_id_of_the_old_kind_spells_the_number_of_its_name(void **state)
{
    size_t count, checked = 0;
    const struct tp_kgsl_chip *chips = tp_kgsl_chips(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = chips[i].chip_id;
        /* 644 is an A662 to KGSL; 725 and 730 have ids of their own. */
        if (strncmp(chips[i].name, "FD6", 3) || !strcmp(chips[i].name, "FD644"))
            continue;
        assert_int_equal(strtol(chips[i].name + 2, NULL, 10),
                         (id >> 24) * 100 + (id >> 16 & 255) * 10 + (id >> 8 & 255));
        checked++;
    }
    assert_true(checked > 15);
}

static void a_chip_is_found_by_its_name_and_by_what_is_left_of_it(void **state)
{
    struct tp_kgsl_chip chip;
    (void)state;
    const char *const names[][2] = {
        {"FD650", "650"},        {"Adreno X1-85", "x1-85"}, {"Adreno (TM) 830", "830"},
        {"FD740v3", "740V3"},    {"FDA32", "a32"},          {"Adreno 7c+ Gen 3", "7c+ gen 3"},
        {"Adreno623", "623"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int k = 0; k < 2; k++) {
            assert_int_equal(tp_kgsl_chip_find(names[i][k], &chip), 0);
            assert_string_equal(chip.name, names[i][0]);
        }
    }
}

static void an_id_names_its_chip_and_may_give_another_gmem(void **state)
{
    struct tp_kgsl_chip chip;
    (void)state;
    assert_int_equal(tp_kgsl_chip_find("0x43050a01", &chip), 0);
    assert_string_equal(chip.name, "FD740");
    assert_int_equal(chip.gmem_bytes, 3 << 20);
    assert_int_equal(tp_kgsl_chip_find("0x43050A01:1536K", &chip), 0);
    assert_int_equal(chip.gmem_bytes, 1536 << 10);
}

static void an_unknown_id_gets_what_its_generation_usually_has(void **state)
{
    const struct {
        const char *id;
        unsigned generation, ubwc;
    } cases[] = {{"0x06990000", 6, 4}, {"0x43059900", 7, 4}, {"0x44990000", 8, 5}};
    struct tp_kgsl_chip chip;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tp_kgsl_chip_find(cases[i].id, &chip), 0);
        assert_int_equal(chip.generation, cases[i].generation);
        assert_int_equal(chip.ubwc_mode, cases[i].ubwc);
        assert_int_equal(chip.chip_id, strtoul(cases[i].id, NULL, 16));
    }
}

static void what_is_neither_is_refused(void **state)
{
    static const char *const wrong[] = {"",      "65",           "FD",          "0x",
                                        "0x1g",  "0x143050a01",  "0x43050a01:", "0x43050a01:-1",
                                        "0x1:0", "0x43050a01:3X", "750 "};
    struct tp_kgsl_chip chip;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(tp_kgsl_chip_find(wrong[i], &chip), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_chips_share_a_name_or_an_id),
        cmocka_unit_test(an_id_of_the_old_kind_spells_the_number_of_its_name),
        cmocka_unit_test(a_chip_is_found_by_its_name_and_by_what_is_left_of_it),
        cmocka_unit_test(an_id_names_its_chip_and_may_give_another_gmem),
        cmocka_unit_test(an_unknown_id_gets_what_its_generation_usually_has),
        cmocka_unit_test(what_is_neither_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
