/* Mesa's release notes. The forms are those of docs/relnotes from 22.3 to 25.0. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"
#include "factory/notes/relnotes.h"

static void add(void *data, enum tp_relnote_kind kind, const char *entry)
{
    tp_buf_addf(data, "%d %s\n", (int)kind, entry);
}

static void parses(const char *text, const char *want)
{
    struct tp_buf b = {0};
    tp_relnotes_parse(text, strlen(text), add, &b);
    assert_string_equal(tp_buf_str(&b), want);
    tp_buf_finish(&b);
}

static void three_sections_are_read_and_others_are_not(void **state)
{
    (void)state;
    parses("Mesa 1.0.0 Release Notes / 2025-01-01\n=====\n\n- no section\n\nNew "
           "features\n------------\n\n- f1\n\n- f2\n\n"
           "Bug fixes\n---------\n\n- b1\n\n\nChanges\n-------\n\nSome One (2):\n\n- c1\n- "
           "c2\n\nOther\n-----\n\n- x\n",
        "0 f1\n0 f2\n1 b1\n2 c1\n2 c2\n");
}

static void an_entry_goes_on_in_indented_lines(void **state)
{
    (void)state;
    parses("Changes\n-------\n- one\n  two\n   three\nSomeone (1):\n- four\n\n  apart\n",
        "2 one two three\n2 four\n");
}

static void backslashes_of_rst_go_and_none_is_no_entry(void **state)
{
    (void)state;
    parses("Changes\n-------\n- Use \\`x\\` in a\\_b\n- None\n-\n- \n", "2 Use `x` in a_b\n");
}

static void a_title_after_an_entry_is_no_part_of_it(void **state)
{
    (void)state;
    parses("Bug fixes\n---------\n- a\nChanges\n-------\n- b\n", "1 a\n2 b\n");
}

static void windows_lines_and_a_missing_last_end_are_taken(void **state)
{
    (void)state;
    parses("Changes\r\n-------\r\n- a\r\n- b", "2 a\n2 b\n");
    parses("", "");
    parses("-------", "");
}

static void names(const char *entry, bool want)
{
    if (tp_relnotes_names_driver(entry) != want)
        fail_msg("'%s': %d", entry, !want);
}

static void what_the_driver_is_made_of_is_known_by_whole_words(void **state)
{
    (void)state;
    static const char *const ours[] = {"tu: x", "tu/kgsl: x", "turnip: x", "Turnip: x",
        "freedreno/a6xx: x", "ir3: x", "ir3,tu: x", "vulkan/runtime: x", "vk/runtime: x",
        "Revert \"tu: x\"", "zink+turnip/ci: x", "Adreno 740v3 (Quest 3) Image Corruption",
        "VK_KHR_present_wait on ANV, RADV, Turnip", "u_gralloc: x", "VK_KHR_x on anv, tu, lvp"};
    static const char *const others[] = {"radv: x", "nvk: TU104 x", "TU: a card", "status: x",
        "tungsten: x", "vulkan/wsi: x", "vulkan: x", "virtu: x", "tu_x", "ir32: x", ""};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        names(ours[i], true);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        names(others[i], false);
}

static int compare(const char *a, const char *b)
{
    struct tp_mesa_release x, y;
    assert_true(tp_mesa_release_parse(a, &x));
    assert_true(tp_mesa_release_parse(b, &y));
    return tp_mesa_release_compare(&x, &y);
}

static void releases_are_compared_as_numbers(void **state)
{
    (void)state;
    assert_true(compare("22.3.6", "25.0.7") < 0);
    assert_true(compare("24.10.0", "24.9.9") > 0);
    assert_int_equal(compare("25.0.7", "mesa-25.0.7"), 0);
    assert_int_equal(compare("25.0.7-2+deb13u1", "25.0.7"), 0);
    assert_int_equal(compare("6.4", "6.4.0"), 0);
    assert_true(compare("25.0.0-rc2", "25.0.0") < 0);
    assert_true(compare("25.0.0-rc10", "25.0.0-rc9") > 0);
    assert_true(compare("25.1.0-devel", "25.1.0-rc1") < 0);
    struct tp_mesa_release r;
    static const char *const bad[] = {"", "25", "main", "0123456789abcdef0123456789abcdef01234567",
        "25.x", "25.0.7x", "999999999.1", "25.0.0-rc", "v25.0", ".5", "versions"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tp_mesa_release_parse(bad[i], &r));
}

/* A folder of release notes in *state. */
static void put(const char *dir, const char *version, const char *entries)
{
    char *name = tp_asprintf("%s/%s.rst", dir, version),
         *text = tp_asprintf("Changes\n-------\n\nA (1):\n\n%s", entries);
    assert_int_equal(tp_write_file(name, text, strlen(text), 0644, NULL), 0);
    free(name);
    free(text);
}

static int setup(void **state)
{
    char *dir = tp_temp_dir("/tmp", NULL);
    if (!dir)
        return -1;
    put(dir, "20.0.0", "- tu: same words, long ago\n");
    put(dir, "24.3.3", "- tu: old fix\n");
    put(dir, "24.3.4", "- tu: fix a\n- radv: x\n");
    put(dir, "24.10.0", "- tu: ten\n");
    put(dir, "25.0.0", "- tu: new\n- tu: old fix\n- tu: fix a\n- ir3: new too\n");
    put(dir, "25.0.1", "- tu: same words, long ago\n");
    put(dir, "25.0.2", "- tu: later\n");
    put(dir, "versions", "- tu: no release\n");
    *state = dir;
    return 0;
}

static int teardown(void **state)
{
    int r = tp_remove_tree(*state, NULL);
    free(*state);
    return r;
}

static void a_range_holds_each_entry_once_newest_release_first(void **state)
{
    struct tp_relnotes r;
    struct tp_buf got = {0};
    assert_int_equal(tp_relnotes_read(*state, "24.3.3", "25.0.1", &r, NULL), 0);
    for (size_t i = 0; i < r.n; i++)
        tp_buf_addf(&got, "%s %s\n", r.at[i].version, r.at[i].text);
    /* `old fix` is in 24.3.3 already; `fix a` counts for 24.3.4; 20.0.0 is too old to be the same.
     */
    assert_string_equal(tp_buf_str(&got),
        "25.0.1 tu: same words, long ago\n25.0.0 tu: new\n25.0.0 ir3: new too\n"
        "24.10.0 tu: ten\n24.3.4 tu: fix a\n");
    assert_int_equal(r.n_releases, 4);
    assert_string_equal(r.releases[1], "24.10.0");
    assert_int_equal(r.all, 8);
    assert_int_equal(r.again, 2);
    assert_int_equal(r.of_kind[TP_RELNOTE_CHANGE], 5);
    assert_true(r.reaches);
    tp_buf_finish(&got);
    tp_relnotes_finish(&r);
}

static void notes_that_end_too_early_say_so(void **state)
{
    struct tp_relnotes r;
    assert_int_equal(tp_relnotes_read(*state, "25.0.1", "25.0.9", &r, NULL), 0);
    assert_false(r.reaches);
    assert_int_equal(r.n, 1);
    tp_relnotes_finish(&r);
    struct tp_error e = {0};
    assert_int_equal(tp_relnotes_read(*state, "25.0.2", "25.0.9", &r, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_FAILED);
}

static void the_same_release_twice_is_an_empty_range(void **state)
{
    struct tp_relnotes r;
    assert_int_equal(tp_relnotes_read(*state, "25.0.1", "25.0.1", &r, NULL), 0);
    assert_int_equal(r.n + r.n_releases, 0);
    tp_relnotes_finish(&r);
}

static void what_is_no_range_is_refused(void **state)
{
    static const char *const pairs[][2] = {
        {"25.0.1", "24.3.4"}, {"main", "25.0.1"}, {"25.0.0", "abcdef0"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct tp_relnotes r;
        struct tp_error e = {0};
        assert_int_equal(tp_relnotes_read(*state, pairs[i][0], pairs[i][1], &r, &e), -EINVAL);
        assert_int_equal(e.status, TP_STATUS_INPUT);
    }
    struct tp_relnotes r;
    struct tp_error e = {0};
    assert_int_equal(tp_relnotes_read("/nowhere", "24.0.0", "25.0.0", &r, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_sections_are_read_and_others_are_not),
        cmocka_unit_test(an_entry_goes_on_in_indented_lines),
        cmocka_unit_test(backslashes_of_rst_go_and_none_is_no_entry),
        cmocka_unit_test(a_title_after_an_entry_is_no_part_of_it),
        cmocka_unit_test(windows_lines_and_a_missing_last_end_are_taken),
        cmocka_unit_test(what_the_driver_is_made_of_is_known_by_whole_words),
        cmocka_unit_test(releases_are_compared_as_numbers),
        cmocka_unit_test_setup_teardown(
            a_range_holds_each_entry_once_newest_release_first, setup, teardown),
        cmocka_unit_test_setup_teardown(notes_that_end_too_early_say_so, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_release_twice_is_an_empty_range, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_range_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
