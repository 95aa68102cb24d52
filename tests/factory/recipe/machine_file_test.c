/* The text of meson's cross and native files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/recipe/internal.h"

static const struct tp_places places = {"/src/mesa", "/out/b/arm64", NULL};

/* The value of a key, without the brackets of a list. Caller frees. */
static char *value(const char *text, const char *key)
{
    char *start = tp_asprintf("\n%s = ", key);
    const char *at = strstr(text, start);
    assert_non_null(at);
    at += strlen(start);
    at += *at == '[';
    size_t n = strcspn(at, "\n");
    n -= at[n - 1] == ']';
    free(start);
    return tp_strndup(at, n);
}

static void says(const char *text, const char *key, const char *want)
{
    char *got = value(text, key);
    assert_string_equal(got, want);
    free(got);
}

static void holds(const char *text, const char *key, const char *part)
{
    char *got = value(text, key);
    if (!strstr(got, part))
        fail_msg("%s = [%s] lacks %s", key, got, part);
    free(got);
}

static void lacks(const char *text, const char *key, const char *part)
{
    char *got = value(text, key);
    if (strstr(got, part))
        fail_msg("%s = [%s] has %s", key, got, part);
    free(got);
}

static char *linux_arm64(char *launcher)
{
    struct tp_tools t = {.cc = "aarch64-linux-gnu-gcc", .cxx = "aarch64-linux-gnu-g++",
                         .ar = "aarch64-linux-gnu-gcc-ar", .strip = "aarch64-linux-gnu-strip",
                         .sysroot = "/cache/sys", .launcher = launcher};
    return tp_machine_file(tp_target_find("linux-arm64"), &t, &places);
}

static void a_launcher_goes_before_both_compilers_word_by_word(void **state)
{
    (void)state;
    char *text = linux_arm64("ccache  distcc");
    says(text, "c", "'ccache', 'distcc', 'aarch64-linux-gnu-gcc', "
                    "'-B/cache/sys/usr/lib/aarch64-linux-gnu'");
    holds(text, "cpp", "'ccache', 'distcc', 'aarch64-linux-gnu-g++'");
    says(text, "ar", "'aarch64-linux-gnu-gcc-ar'");
    free(text);
}

static void the_arm64_sysroot_answers_for_pkg_config_and_for_the_linker(void **state)
{
    (void)state;
    char *text = linux_arm64(NULL);
    says(text, "sys_root", "'/cache/sys'");
    says(text, "pkg_config_libdir", "'/cache/sys/usr/lib/aarch64-linux-gnu/pkgconfig', "
                                    "'/cache/sys/usr/share/pkgconfig'");
    says(text, "system", "'linux'");
    says(text, "cpu_family", "'aarch64'");
    holds(text, "cpp_link_args", "'-Wl,--build-id=sha1'");
    /* A search path in the link arguments would become a RUNPATH. */
    lacks(text, "cpp_link_args", "'-L");
    free(text);
}

static void every_place_of_this_machine_is_mapped(void **state)
{
    (void)state;
    char *text = linux_arm64(NULL);
    static const char *const keys[] = {"c_args", "cpp_args"};
    for (size_t i = 0; i < 2; i++) {
        holds(text, keys[i], "'-ffile-prefix-map=/src/mesa=/mesa'");
        holds(text, keys[i], "'-ffile-prefix-map=../../../src/mesa=/mesa'");
        holds(text, keys[i], "'-ffile-prefix-map=/out/b/arm64=/build'");
        holds(text, keys[i], "'-ffile-prefix-map=/cache/sys=/sysroot'");
    }
    free(text);
}

/* GCC takes the last map that fits. */
static void the_inner_of_two_nested_folders_is_mapped_last(void **state)
{
    (void)state;
    struct tp_tools t = {.cc = "gcc", .cxx = "g++", .ar = "gcc-ar", .strip = "strip"};
    const struct tp_places inside = {"/src/mesa", "/src/mesa/build", NULL};
    const struct tp_places outside = {"/work/b/mesa", "/work/b", NULL};
    const struct tp_target *host = tp_target_find("host");
    char *text = tp_machine_file(host, &t, &inside);
    holds(text, "c_args", "'-ffile-prefix-map=/src/mesa=/mesa', "
                          "'-ffile-prefix-map=/src/mesa/build=/build'");
    free(text);
    text = tp_machine_file(host, &t, &outside);
    holds(text, "c_args", "'-ffile-prefix-map=/work/b=/build', "
                          "'-ffile-prefix-map=/work/b/mesa=/mesa'");
    free(text);
}

static char *android(bool ndk, bool builtins)
{
    struct tp_tools t = {.cc = "/ndk/bin/clang", .cxx = "/ndk/bin/clang++",
                         .ar = "/ndk/bin/llvm-ar", .strip = "/ndk/bin/llvm-strip",
                         .triple = "aarch64-linux-android29", .sysroot = "/ndk/sysroot",
                         .builtins = builtins, .ndk = ndk ? "26.1.10909125" : NULL};
    return tp_machine_file(tp_target_find("android-arm64"), &t, &places);
}

static void android_is_built_for_api_29_with_lld_and_16_kib_pages(void **state)
{
    (void)state;
    for (int ndk = 0; ndk < 2; ndk++) {
        char *text = android(ndk, ndk);
        holds(text, "c", "'--target=aarch64-linux-android29'");
        holds(text, "cpp", "'--target=aarch64-linux-android29'");
        says(text, "system", "'android'");
        says(text, "c_ld", "'lld'");
        says(text, "cpp_ld", "'lld'");
        holds(text, "cpp_args", "'-stdlib=libc++'");
        lacks(text, "c_args", "libc++");
        char *got = value(text, "cpp_link_args");
        const char *last = "'-Wl,-z,max-page-size=16384'";
        assert_string_equal(got + strlen(got) - strlen(last), last);
        free(got);
        /* The simulated bionic's defines are not for the real one. */
        lacks(text, "c_args", "__ANDROID__");
        free(text);
    }
}

/* In the compiler's command they make every one of meson's checks fail. */
static void flags_for_linking_alone_stay_out_of_the_compilers_command(void **state)
{
    (void)state;
    char *text = android(false, false);
    static const char *const keys[] = {"c", "cpp", "c_args", "cpp_args"};
    static const char *const flags[] = {"-Wl,", "nostdlib", "rtlib", "unwindlib", "-lc",
                                        "nodefaultlibs", "fuse-ld"};
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            lacks(text, keys[i], flags[k]);
    }
    free(text);
}

static void an_ndk_finds_its_own_sysroot_and_builtins(void **state)
{
    (void)state;
    char *text = android(true, true);
    lacks(text, "c", "--sysroot");
    holds(text, "c_link_args", "'--rtlib=compiler-rt'");
    lacks(text, "c_args", "outline-atomics");
    free(text);
}

static void a_sysroot_without_builtins_gets_along_without(void **state)
{
    (void)state;
    char *text = android(false, false);
    holds(text, "c", "'--sysroot=/ndk/sysroot'");
    holds(text, "c_args", "'-mno-outline-atomics'");
    holds(text, "cpp_link_args", "'-nodefaultlibs', '-lc', '-lm', '-ldl'");
    lacks(text, "cpp_link_args", "rtlib");
    free(text);
}

static void this_machines_libraries_are_out_of_androids_sight(void **state)
{
    (void)state;
    char *text = android(true, true);
    says(text, "pkg_config_libdir", "'/nonexistent'");
    free(text);
}

static void host_android_is_native_and_includes_what_glibc_lacks(void **state)
{
    (void)state;
    struct tp_tools t = {.cc = "clang", .cxx = "clang++", .ar = "ar", .strip = "strip"};
    const struct tp_places p = {"/src/mesa", "/out/b", "/out/b/turnpike/compat.h"};
    char *text = tp_machine_file(tp_target_find("host-android"), &t, &p);
    assert_null(strstr(text, "[host_machine]"));
    holds(text, "c_args", "'-D__ANDROID__=1', '-D__INTRODUCED_IN(n)=', '-include', "
                          "'/out/b/turnpike/compat.h'");
    says(text, "c_ld", "'lld'");
    free(text);
}

static bool has(char **env, const char *entry)
{
    for (; *env; env++) {
        if (!strcmp(*env, entry))
            return true;
    }
    return false;
}

static void the_environment_is_the_same_on_every_day_and_in_every_place(void **state)
{
    (void)state;
    struct tp_build_request req = {.target = tp_target_find("host"), .build_dir = "/out/b"};
    struct tp_tools t = {.path = "/usr/bin:/bin"};
    char **env = tp_recipe_env(&req, &t, false);
    static const char *const fixed[] = {
        "LC_ALL=C", "TZ=UTC", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
        "SOURCE_DATE_EPOCH=315532800", "MESA_GIT_SHA1_OVERRIDE=", "PATH=/usr/bin:/bin",
        "MESON_PACKAGE_CACHE_DIR=/out/b/turnpike/packagecache",
        /* Removed: no "=". */
        "CFLAGS", "LDFLAGS", "CC", "PKG_CONFIG_PATH", "DESTDIR", "CPATH",
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        assert_true(has(env, fixed[i]));
    tp_env_free(env);
    req.source_date_epoch = 1746000000;
    req.revision = "0123456789abcdef";
    env = tp_recipe_env(&req, &t, false);
    assert_true(has(env, "SOURCE_DATE_EPOCH=1746000000"));
    assert_true(has(env, "MESA_GIT_SHA1_OVERRIDE=0123456789abcdef"));
    tp_env_free(env);
}

static void mesons_checks_stay_on_this_machine(void **state)
{
    (void)state;
    struct tp_build_request req = {.target = tp_target_find("host"), .build_dir = "/out/b"};
    struct tp_tools t = {0};
    char **env = tp_recipe_env(&req, &t, true);
    assert_true(has(env, "DISTCC_HOSTS=localhost"));
    assert_true(has(env, "DISTCC_FALLBACK"));
    assert_true(has(env, "ICECC=no"));
    tp_env_free(env);
    env = tp_recipe_env(&req, &t, false);
    assert_false(has(env, "DISTCC_HOSTS=localhost"));
    assert_false(has(env, "ICECC=no"));
    tp_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launcher_goes_before_both_compilers_word_by_word),
        cmocka_unit_test(the_arm64_sysroot_answers_for_pkg_config_and_for_the_linker),
        cmocka_unit_test(every_place_of_this_machine_is_mapped),
        cmocka_unit_test(the_inner_of_two_nested_folders_is_mapped_last),
        cmocka_unit_test(android_is_built_for_api_29_with_lld_and_16_kib_pages),
        cmocka_unit_test(flags_for_linking_alone_stay_out_of_the_compilers_command),
        cmocka_unit_test(an_ndk_finds_its_own_sysroot_and_builtins),
        cmocka_unit_test(a_sysroot_without_builtins_gets_along_without),
        cmocka_unit_test(this_machines_libraries_are_out_of_androids_sight),
        cmocka_unit_test(host_android_is_native_and_includes_what_glibc_lacks),
        cmocka_unit_test(mesons_checks_stay_on_this_machine),
        cmocka_unit_test(the_environment_is_the_same_on_every_day_and_in_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
