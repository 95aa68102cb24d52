/* Versions of releases. Expected values: the contract's own (v1.03 and linux-v0.1.0 are the first).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "factory/notes/versions.h"

static void takes(char *got, const char *want)
{
    if (!want) {
        assert_null(got);
        return;
    }
    assert_non_null(got);
    assert_string_equal(got, want);
    free(got);
}

static void android(const char *tags, const char *want)
{
    takes(tp_release_next(TP_RELEASES_ANDROID, tags), want);
}

static void linux_(const char *tags, const char *want)
{
    takes(tp_release_next(TP_RELEASES_LINUX, tags), want);
}

static void the_first_version_stands_where_nothing_is_published(void **state)
{
    (void)state;
    android("", "v1.03");
    linux_("", "linux-v0.1.0");
    android("linux-v0.4.0\n", "v1.03");
    linux_("v1.09\n", "linux-v0.1.0");
}

static void the_next_follows_the_highest_and_not_the_last(void **state)
{
    (void)state;
    android("v1.09\nv1.10\nv1.04\n", "v1.11");
    linux_("linux-v0.9.9\nlinux-v0.10.2\nlinux-v0.2.30\n", "linux-v0.10.3");
}

static void below_the_floor_the_floor_is_next(void **state)
{
    (void)state;
    android("v1.00\nv1.01\n", "v1.03");
    android("v1.02\n", "v1.03");
    android("v1.03\n", "v1.04");
    linux_("linux-v0.0.9\n", "linux-v0.1.0");
    linux_("linux-v0.1.0\n", "linux-v0.1.1");
}

static void two_digits_grow_to_three(void **state)
{
    (void)state;
    android("v1.09\n", "v1.10");
    android("v1.99\n", "v1.100");
    android("v1.100\nv1.99\n", "v1.101");
}

static void tags_of_other_shapes_are_passed_over(void **state)
{
    (void)state;
    static const char odd[] =
        "v1.7\nv2.50\nv0.90\nv1.05x\nv1.05-rc1\nV1.06\n v1.07\nv1.08 \nv1.+9\nv1.-9\nv1.009\n"
        "v01.11\nv1.\nv1\nv\n1.12\nrefs/tags/v1.13\nv1.14.0\nv1.4294967299\nv1.12345678\n"
        "v1.\xd9\xa1\xd9\xa2\n\n\n";
    android(odd, "v1.03");
    static const char odd_linux[] = "linux-v1.2\nlinux-v1.2.3.4\nlinux-v1.2.3-rc1\nlinux-v "
                                    "1.2.3\nlinux-v+1.2.3\nlinux-v1.-2.3\n"
                                    "linux-v1.02.3\nlinux-1.2.3\nLinux-v1.2.3\nxlinux-v1.2."
                                    "3\nlinux-v1..3\nlinux-v9999999.0.0\n";
    linux_(odd_linux, "linux-v0.1.0");
}

static void lines_may_end_as_windows_ends_them_and_the_last_not_at_all(void **state)
{
    (void)state;
    android("v1.07\r\nv1.08\r\n", "v1.09");
    android("v1.07\nv1.08", "v1.09");
}

static void the_release_before_is_the_highest_but_this_one(void **state)
{
    (void)state;
    takes(tp_release_latest(TP_RELEASES_ANDROID, "v1.04\nlinux-v0.2.0\nv1.06\nv1.05\n", NULL),
        "v1.06");
    takes(tp_release_latest(TP_RELEASES_ANDROID, "v1.04\nv1.06\nv1.05\n", "v1.06"), "v1.05");
    takes(tp_release_latest(TP_RELEASES_LINUX, "v1.04\nlinux-v0.2.0\n", NULL), "linux-v0.2.0");
    takes(tp_release_latest(TP_RELEASES_LINUX, "v1.04\n", NULL), NULL);
}

static void a_line_is_found_by_its_name(void **state)
{
    (void)state;
    enum tp_release_line line;
    assert_true(tp_release_line_find("android", &line));
    assert_int_equal(line, TP_RELEASES_ANDROID);
    assert_true(tp_release_line_find("linux", &line));
    assert_int_equal(line, TP_RELEASES_LINUX);
    assert_false(tp_release_line_find("linux-arm64", &line));
    assert_false(tp_release_line_find("", &line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_version_stands_where_nothing_is_published),
        cmocka_unit_test(the_next_follows_the_highest_and_not_the_last),
        cmocka_unit_test(below_the_floor_the_floor_is_next),
        cmocka_unit_test(two_digits_grow_to_three),
        cmocka_unit_test(tags_of_other_shapes_are_passed_over),
        cmocka_unit_test(lines_may_end_as_windows_ends_them_and_the_last_not_at_all),
        cmocka_unit_test(the_release_before_is_the_highest_but_this_one),
        cmocka_unit_test(a_line_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
