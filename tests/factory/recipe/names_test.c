/* Targets, versions and names. Expected values: the contract's own examples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/recipe/recipe.h"

static const char *const names[] = {"host", "linux-arm64", "host-android", "android-arm64"};
#define TARGETS (sizeof names / sizeof *names)

static void takes(char *got, const char *want)
{
    assert_string_equal(got, want);
    free(got);
}

static const struct tp_target *target(const char *name)
{
    const struct tp_target *t = tp_target_find(name);
    assert_non_null(t);
    return t;
}

static void every_target_is_found_by_its_name_and_listed(void **state)
{
    (void)state;
    assert_string_equal(tp_target_names(), "host, linux-arm64, host-android, android-arm64");
    for (size_t i = 0; i < TARGETS; i++)
        assert_string_equal(target(names[i])->name, names[i]);
    assert_null(tp_target_find("linux"));
    assert_null(tp_target_find(""));
    assert_null(tp_target_find(NULL));
}

static void android_targets_export_hmi_and_linux_ones_the_icd_entry(void **state)
{
    (void)state;
    assert_string_equal(target("android-arm64")->entry, "HMI");
    assert_string_equal(target("host-android")->entry, "HMI");
    assert_string_equal(target("linux-arm64")->entry, "vk_icdGetInstanceProcAddr");
    assert_string_equal(target("host")->entry, "vk_icdGetInstanceProcAddr");
    assert_string_equal(target("linux-arm64")->arch, "aarch64");
    assert_string_equal(target("host-android")->arch, "x86_64");
    assert_string_equal(target("android-arm64")->system, "android");
}

static void the_default_is_android_only_where_something_to_build_it_with_is_named(void **state)
{
    (void)state;
    unsetenv("ANDROID_NDK_HOME");
    assert_string_equal(tp_target_default(NULL, NULL), "linux-arm64");
    assert_string_equal(tp_target_default("/opt/ndk", NULL), "android-arm64");
    assert_string_equal(tp_target_default(NULL, "/opt/bionic"), "android-arm64");
    setenv("ANDROID_NDK_HOME", "", 1);
    assert_string_equal(tp_target_default(NULL, NULL), "linux-arm64");
    setenv("ANDROID_NDK_HOME", "/opt/ndk", 1);
    assert_string_equal(tp_target_default(NULL, NULL), "android-arm64");
    unsetenv("ANDROID_NDK_HOME");
}

static void archives_bear_the_agreed_names(void **state)
{
    (void)state;
    takes(tp_archive_name(target("android-arm64"), "v1.04", 'b'), "WN-Turnip-v1.04-b_Axxx.zip");
    takes(tp_archive_name(target("android-arm64"), "v1.04", 'p'), "WN-Turnip-v1.04-p_Axxx.zip");
    takes(tp_archive_name(target("linux-arm64"), "25.0.7", 'b'),
          "WN-Linux-Turnip-25.0.7-b_Axxx.zip");
    takes(tp_driver_name(target("android-arm64"), "v1.04", 'b'), "WN-Turnip-v1.04-b Axxx");
    takes(tp_driver_version("25.0.7", 'p'), "WN-25.0.7-p");
}

static void a_linux_release_tag_does_not_say_linux_twice(void **state)
{
    (void)state;
    takes(tp_archive_name(target("linux-arm64"), "linux-v0.1.0", 'p'),
          "WN-Linux-Turnip-v0.1.0-p_Axxx.zip");
    takes(tp_driver_version("linux-v0.1.0", 'b'), "WN-v0.1.0-b");
}

static void no_two_targets_share_an_archive_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        for (size_t k = 0; k < i; k++) {
            char *a = tp_archive_name(target(names[i]), "1", 'b');
            char *b = tp_archive_name(target(names[k]), "1", 'b');
            assert_string_not_equal(a, b);
            free(a);
            free(b);
        }
    }
}

static void a_version_that_could_leave_the_folder_is_refused(void **state)
{
    (void)state;
    static const char *const good[] = {"25.0.7", "v1.03", "linux-v0.1.0", "26.1.0-devel", "a_b+c"};
    static const char *const bad[] = {"", "../x", "a/b", ".hidden", "-o", "a b", "a\nb", "v1\"",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(tp_version_check(good[i], NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tp_error e = {0};
        assert_true(tp_version_check(bad[i], &e) < 0);
        assert_int_equal(e.status, TP_STATUS_INPUT);
    }
    assert_true(tp_version_check(NULL, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_is_found_by_its_name_and_listed),
        cmocka_unit_test(android_targets_export_hmi_and_linux_ones_the_icd_entry),
        cmocka_unit_test(the_default_is_android_only_where_something_to_build_it_with_is_named),
        cmocka_unit_test(archives_bear_the_agreed_names),
        cmocka_unit_test(a_linux_release_tag_does_not_say_linux_twice),
        cmocka_unit_test(no_two_targets_share_an_archive_name),
        cmocka_unit_test(a_version_that_could_leave_the_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
