/* What is found, and what is said where something is lacking. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/fs.h"
#include "factory/recipe/internal.h"

struct fixture {
    char *dir, *path;
};

static int set_up(void **state)
{
    struct fixture *f = tp_calloc(1, sizeof *f);
    f->dir = tp_temp_dir("/tmp", NULL);
    f->path = tp_strdup(getenv("PATH"));
    unsetenv("ANDROID_NDK_HOME");
    setenv("TURNPIKE_CACHE", f->dir, 1);
    *state = f;
    return f->dir ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    setenv("PATH", f->path, 1);
    unsetenv("ANDROID_NDK_HOME");
    tp_remove_tree(f->dir, NULL);
    free(f->dir);
    free(f->path);
    free(f);
    return 0;
}

static void put(const struct fixture *f, const char *name, const char *text, mode_t mode)
{
    char *path = tp_join(f->dir, name);
    assert_int_equal(tp_mkdirs_for(path, NULL), 0);
    assert_int_equal(tp_write_file(path, text, strlen(text), mode, NULL), 0);
    free(path);
}

static struct tp_build_request request(const char *target)
{
    return (struct tp_build_request){.tree = "/nowhere", .build_dir = "/nowhere/b",
                                     .target = tp_target_find(target), .log_path = "/nowhere/log"};
}

static void make_ndk(const struct fixture *f)
{
    put(f, "ndk/source.properties", "Pkg.Desc = Android NDK\nPkg.Revision = 26.1.10909125\n", 0644);
    put(f, "ndk/toolchains/llvm/prebuilt/linux-x86_64/bin/clang",
        "#!/bin/sh\necho 'Android clang version 17.0.2'\n", 0755);
    put(f, "ndk/toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr/include/stdio.h", "", 0644);
}

static void an_ndk_is_found_by_argument_and_by_environment(void **state)
{
    struct fixture *f = *state;
    make_ndk(f);
    char *ndk = tp_join(f->dir, "ndk");
    struct tp_build_request req = request("android-arm64");
    for (int by_env = 0; by_env < 2; by_env++) {
        struct tp_error e = {0};
        char *said = NULL;
        req.tools.ndk = by_env ? NULL : ndk;
        if (by_env)
            setenv("ANDROID_NDK_HOME", ndk, 1);
        assert_int_equal(tp_recipe_check(&req, &said, &e), 0);
        assert_string_equal(said, "NDK 26.1.10909125, Android clang version 17.0.2");
        free(said);
    }
    free(ndk);
}

static void without_an_ndk_the_error_says_how_to_name_one(void **state)
{
    (void)state;
    struct tp_build_request req = request("android-arm64");
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_check(&req, NULL, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_non_null(strstr(e.todo, "--ndk"));
    assert_non_null(strstr(e.todo, "--sysroot"));
}

static void a_folder_that_is_no_ndk_is_bad_input(void **state)
{
    struct fixture *f = *state;
    struct tp_build_request req = request("android-arm64");
    req.tools.ndk = f->dir;
    struct tp_error e = {0};
    assert_true(tp_recipe_check(&req, NULL, &e) < 0);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_string_equal(e.where, f->dir);
    assert_non_null(strstr(e.what, "--ndk"));
}

static void an_incomplete_bionic_sysroot_names_the_file_it_lacks(void **state)
{
    struct fixture *f = *state;
    put(f, "s/usr/include/stdio.h", "", 0644);
    put(f, "s/usr/include/aarch64-linux-android/asm/types.h", "", 0644);
    put(f, "s/usr/include/c++/v1/cstddef", "", 0644);
    put(f, "s/usr/lib/aarch64-linux-android/29/crtbegin_so.o", "", 0644);
    /* The programs are checked first, and may be lacking here. */
    put(f, "bin/clang", "#!/bin/sh\n", 0755);
    put(f, "bin/clang++", "#!/bin/sh\n", 0755);
    put(f, "bin/ld.lld", "#!/bin/sh\n", 0755);
    put(f, "bin/llvm-ar", "#!/bin/sh\n", 0755);
    put(f, "bin/llvm-strip", "#!/bin/sh\n", 0755);
    char *path = tp_asprintf("%s/bin:%s", f->dir, f->path), *sysroot = tp_join(f->dir, "s");
    setenv("PATH", path, 1);
    struct tp_build_request req = request("android-arm64");
    req.tools.sysroot = sysroot;
    struct tp_error e = {0};
    assert_true(tp_recipe_check(&req, NULL, &e) < 0);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_non_null(strstr(e.what, "usr/lib/aarch64-linux-android/29/libc.so"));
    put(f, "s/usr/lib/aarch64-linux-android/29/libc.so", "", 0644);
    struct tp_error none = {0};
    assert_int_equal(tp_recipe_check(&req, NULL, &none), 0);
    free(path);
    free(sysroot);
}

static void a_missing_program_is_named_with_what_installs_it(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *target, *program, *package;
    } cases[] = {
        {"host", "gcc", "apt-get install gcc"},
        {"host-android", "clang", "apt-get install clang"},
        {"linux-arm64", "meson", "apt-get install meson"},
    };
    put(f, "bin/nothing", "", 0644);
    char *path = tp_join(f->dir, "bin");
    setenv("PATH", path, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_build_request req = request(cases[i].target);
        struct tp_error e = {0};
        assert_int_equal(tp_recipe_check(&req, NULL, &e), -ENOENT);
        assert_int_equal(e.status, TP_STATUS_MISSING);
        assert_string_equal(e.where, cases[i].program);
        assert_non_null(strstr(e.todo, cases[i].package));
    }
    free(path);
}

static void an_old_meson_is_refused_before_any_work(void **state)
{
    struct fixture *f = *state;
    put(f, "bin/meson", "#!/bin/sh\necho 1.0.1\n", 0755);
    char *path = tp_asprintf("%s/bin:%s", f->dir, f->path);
    setenv("PATH", path, 1);
    struct tp_build_request req = request("host");
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_check(&req, NULL, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_non_null(strstr(e.what, "1.0.1"));
    free(path);
}

/* pyenv's, for one: the modules that Mesa's generators want are the system's python's. */
static void a_python_without_mesas_modules_gives_way_to_the_systems(void **state)
{
    struct fixture *f = *state;
    put(f, "bin/python3", "#!/bin/sh\nexit 1\n", 0755);
    put(f, "bin/meson", "#!/bin/sh\necho 1.7.0\n", 0755);
    char *path = tp_asprintf("%s/bin:%s", f->dir, f->path);
    setenv("PATH", path, 1);
    struct tp_build_request req = request("host");
    struct tp_error e = {0};
    struct tp_tools t;
    assert_int_equal(tp_tools_find(&req, false, &t, &e), 0);
    assert_memory_equal(t.path, "/usr/bin:", 9);
    tp_tools_finish(&t);
    free(path);
}

static void a_launcher_that_is_not_there_is_missing(void **state)
{
    (void)state;
    struct tp_build_request req = request("host");
    req.tools.launcher = "no-such-launcher --fast";
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_check(&req, NULL, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_string_equal(e.where, "no-such-launcher");
}

static void only_what_looks_like_a_package_is_said_to_be_installed_with_apt(void **state)
{
    (void)state;
    struct tp_build_request req = request("host");
    req.tools.launcher = "CCACHE_DIR=x ccache";
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_check(&req, NULL, &e), -ENOENT);
    assert_string_equal(e.where, "CCACHE_DIR=x");
    assert_null(strstr(e.todo, "apt-get"));
    assert_non_null(strstr(e.todo, "--launcher"));
}

static void a_launcher_that_can_be_none_is_wrong_usage(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"/tmp", "/tmp is a folder"},        {"/no/such", "/no/such is no program"},
        {"/dev/null -x", "/dev/null is no"}, {"ccache; x", "; x"},
        {"ccache | tee", "| tee"},           {"$(ccache)", "$(ccache)"},
        {"'ccache' x", "'ccache' x"},        {" ccache", "starts with a space"},
        {"ccache\ndistcc", "a new line"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_build_request req = request("host");
        req.tools.launcher = rows[i][0];
        struct tp_error e = {0};
        assert_true(tp_recipe_check(&req, NULL, &e) < 0);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        assert_string_equal(e.where, "--launcher");
        assert_non_null(strstr(e.what, rows[i][1]));
        assert_null(strstr(e.todo, "apt-get"));
    }
}

/* Meson's machine file has no way to write them. */
static void a_path_with_a_quote_is_refused_before_any_work(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"/it's/here", "a single quote"}, {"/a\nb", "a newline"},
        {"/a\\b", "a backslash"},         {"/a\tb", "a control character"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int which = 0; which < 4; which++) {
            struct tp_build_request req = request(which < 2 ? "host" : "android-arm64");
            const char **places[] = {&req.tree, &req.build_dir, &req.tools.sysroot, &req.tools.ndk};
            *places[which] = rows[i][0];
            struct tp_error e = {0};
            assert_int_equal(tp_recipe_check(&req, NULL, &e), -EINVAL);
            assert_int_equal(e.status, TP_STATUS_INPUT);
            assert_string_equal(e.where, rows[i][0]);
            assert_non_null(strstr(e.what, rows[i][1]));
            assert_true(*e.todo);
        }
    }
}

static void a_cache_that_cannot_be_made_is_not_blamed_on_the_network(void **state)
{
    struct fixture *f = *state;
    assert_true(tp_have_program("aarch64-linux-gnu-g++"));
    assert_true(tp_have_program("wayland-scanner"));
    put(f, "file", "", 0644);
    char *cache = tp_join(f->dir, "file/cache");
    setenv("TURNPIKE_CACHE", cache, 1);
    struct tp_build_request req = request("linux-arm64");
    struct tp_tools t;
    struct tp_error e = {0};
    assert_true(tp_tools_find(&req, true, &t, &e) < 0);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_memory_equal(e.where, cache, strlen(cache));
    assert_non_null(strstr(e.what, "Not a directory"));
    assert_null(strstr(e.todo, "network"));
    assert_non_null(strstr(e.todo, "TURNPIKE_CACHE"));
    free(cache);
}

static void an_arm64_sysroot_must_hold_the_window_systems(void **state)
{
    struct fixture *f = *state;
    assert_true(tp_have_program("aarch64-linux-gnu-g++"));
    struct tp_build_request req = request("linux-arm64");
    req.tools.sysroot = f->dir;
    struct tp_error e = {0};
    assert_true(tp_recipe_check(&req, NULL, &e) < 0);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_non_null(strstr(e.what, "wayland-client.pc"));
    assert_non_null(strstr(e.todo, "tools/arm64-sysroot"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_ndk_is_found_by_argument_and_by_environment),
        TEST(without_an_ndk_the_error_says_how_to_name_one),
        TEST(a_folder_that_is_no_ndk_is_bad_input),
        TEST(an_incomplete_bionic_sysroot_names_the_file_it_lacks),
        TEST(a_missing_program_is_named_with_what_installs_it),
        TEST(an_old_meson_is_refused_before_any_work),
        TEST(a_python_without_mesas_modules_gives_way_to_the_systems),
        TEST(a_launcher_that_is_not_there_is_missing),
        TEST(only_what_looks_like_a_package_is_said_to_be_installed_with_apt),
        TEST(a_launcher_that_can_be_none_is_wrong_usage),
        TEST(a_path_with_a_quote_is_refused_before_any_work),
        TEST(a_cache_that_cannot_be_made_is_not_blamed_on_the_network),
        TEST(an_arm64_sysroot_must_hold_the_window_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
