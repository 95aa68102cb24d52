/* Configure and compile, with real meson, ninja and gcc on the small tree in tiny/. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/proc.h"
#include "factory/recipe/internal.h"

struct seen {
    unsigned configure, compile, done, total;
};

struct fixture {
    char *dir, *tree, *build, *out, *log;
    struct seen seen;
    struct tp_build_request req;
};

static void on_progress(void *data, const struct tp_progress *p)
{
    struct seen *s = data;
    if (!strcmp(p->phase, "configure"))
        s->configure++;
    if (!strcmp(p->phase, "compile")) {
        s->compile++;
        s->done = p->done;
        s->total = p->total;
    }
}

static void copy_tiny(const char *to)
{
    const char *tiny = getenv("TP_TINY");
    assert_non_null(tiny);
    assert_int_equal(tp_mkdirs(to, NULL), 0);
    char *from = tp_asprintf("%s/.", tiny);
    struct tp_cmd cmd = {.argv = (const char *const[]){"cp", "-r", from, to, NULL}, .log_fd = -1};
    assert_int_equal(tp_run(&cmd, NULL), 0);
    free(from);
}

static int set_up(void **state)
{
    struct fixture *f = tp_calloc(1, sizeof *f);
    f->dir = tp_temp_dir("/tmp", NULL);
    f->tree = tp_join(f->dir, "tree");
    f->build = tp_join(f->dir, "build");
    f->out = tp_join(f->dir, "out/b.so");
    f->log = tp_join(f->dir, "log/build.log");
    copy_tiny(f->tree);
    f->req = (struct tp_build_request){
        .tree = f->tree, .build_dir = f->build, .target = tp_target_find("host"),
        .log_path = f->log, .on_progress = on_progress, .data = &f->seen,
    };
    *state = f;
    return f->dir ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tp_remove_tree(f->dir, NULL);
    free(f->dir);
    free(f->tree);
    free(f->build);
    free(f->out);
    free(f->log);
    free(f);
    return 0;
}

static void good(int r, const struct tp_error *e)
{
    if (r)
        fail_msg("%s: %s", e->where, e->what);
}

static void build(struct fixture *f)
{
    struct tp_error e = {0};
    good(tp_recipe_configure(&f->req, NULL, &e), &e);
    good(tp_recipe_compile(&f->req, f->out, NULL, &e), &e);
}

static void replace(const struct fixture *f, const char *name, const char *from, const char *to)
{
    char *path = tp_join(f->tree, name);
    struct tp_buf text = {0};
    assert_int_equal(tp_read_file(path, 0, &text, NULL), 0);
    const char *at = strstr(tp_buf_str(&text), from);
    assert_non_null(at);
    tp_buf_splice(&text, (size_t)(at - text.data), strlen(from), to, strlen(to));
    assert_int_equal(tp_write_file(path, text.data, text.len, 0644, NULL), 0);
    tp_buf_finish(&text);
    free(path);
}

static void sha(const char *path, char out[TP_SHA256_HEX])
{
    assert_int_equal(tp_sha256_file(path, out, NULL), 0);
}

static void the_driver_comes_out_stripped_without_runpath_and_with_its_log(void **state)
{
    struct fixture *f = *state;
    build(f);
    struct tp_buf said = {0};
    struct tp_cmd cmd = {.argv = (const char *const[]){"readelf", "-dSW", f->out, NULL},
                         .out = &said, .log_fd = -1};
    assert_int_equal(tp_run(&cmd, NULL), 0);
    assert_null(strstr(said.data, "RUNPATH"));
    assert_null(strstr(said.data, ".symtab"));
    assert_non_null(strstr(said.data, "libtiny_util.so")); /* the reason of the RUNPATH */
    assert_non_null(strstr(said.data, ".note.gnu.build-id"));
    assert_true(f->seen.configure > 5);
    assert_true(f->seen.compile >= 9);
    assert_int_equal(f->seen.done, f->seen.total);
    assert_int_equal(tp_read_file(f->log, 0, &said, NULL), 0);
    assert_non_null(strstr(said.data, "Build targets in project"));
    assert_non_null(strstr(said.data, "Linking target " TP_DRIVER_TARGET));
    tp_buf_finish(&said);
}

static void another_place_gives_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    build(f);
    char first[TP_SHA256_HEX], second[TP_SHA256_HEX];
    sha(f->out, first);
    char *tree = tp_join(f->dir, "other/deeper/mesa-tree"), *inside = tp_join(tree, "build");
    copy_tiny(tree);
    f->req.tree = tree;
    f->req.build_dir = inside;
    build(f);
    sha(f->out, second);
    assert_string_equal(first, second);
    struct tp_buf bytes = {0};
    assert_int_equal(tp_read_file(f->out, 0, &bytes, NULL), 0);
    assert_null(memmem(bytes.data, bytes.len, f->dir, strlen(f->dir)));
    assert_non_null(memmem(bytes.data, bytes.len, "/mesa/src/freedreno/vulkan/tu_device.cc", 40));
    tp_buf_finish(&bytes);
    free(tree);
    free(inside);
}

static void the_second_variant_rebuilds_its_file_alone_and_equals_a_clean_build(void **state)
{
    struct fixture *f = *state;
    build(f);
    char b[TP_SHA256_HEX], p[TP_SHA256_HEX], clean[TP_SHA256_HEX];
    sha(f->out, b);
    replace(f, "src/freedreno/vulkan/tu_autotune.cc", "> 5", "> 10");
    struct tp_build_result result;
    struct tp_error e = {0};
    good(tp_recipe_compile(&f->req, f->out, &result, &e), &e);
    assert_int_equal(result.steps, 2); /* one object, one link */
    sha(f->out, p);
    assert_string_not_equal(b, p);
    assert_int_equal(tp_remove_tree(f->build, NULL), 0);
    build(f);
    sha(f->out, clean);
    assert_string_equal(p, clean);
}

/* The force-included header takes part in meson's checks: tiny's assert that it breaks none. */
static void mesas_android_side_is_built_with_clang_on_glibc(void **state)
{
    struct fixture *f = *state;
    assert_true(tp_have_program("clang") && tp_have_program("ld.lld"));
    f->req.target = tp_target_find("host-android");
    replace(f, "src/freedreno/vulkan/tu_queue.c", "int tiny_queue(int n);",
            "#ifndef __ANDROID__\n#error not Android\n#endif\n"
            "_Static_assert(PROP_NAME_MAX == 32, \"bionic's\");\nint tiny_queue(int n);");
    replace(f, "src/freedreno/vulkan/tu_device.cc", "int tiny_tune(int);",
            "int tiny_tune(int);\n"
            "unsigned long tiny_cat(char *to, const char *from);\n"
            "unsigned long tiny_cat(char *to, const char *from) { return strlcat(to, from, 8); }");
    build(f);
    assert_true(tp_is_file(f->out));
}

static void a_configured_directory_is_kept_and_one_of_another_recipe_replaced(void **state)
{
    struct fixture *f = *state;
    build(f);
    char *marker = tp_join(f->build, "marker");
    assert_int_equal(tp_write_file(marker, "", 0, 0644, NULL), 0);
    build(f);
    assert_true(tp_exists(marker));
    f->req.source_date_epoch = 1746000000;
    build(f);
    assert_false(tp_exists(marker));
    free(marker);
}

static void a_folder_of_something_else_is_left_alone(void **state)
{
    struct fixture *f = *state;
    char *precious = tp_join(f->build, "thesis.txt");
    assert_int_equal(tp_mkdirs(f->build, NULL), 0);
    assert_int_equal(tp_write_file(precious, "x", 1, 0644, NULL), 0);
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_configure(&f->req, NULL, &e), -EEXIST);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_true(tp_exists(precious));
    free(precious);
}

static void a_failing_step_is_shown_and_leaves_the_old_driver(void **state)
{
    struct fixture *f = *state;
    build(f);
    char before[TP_SHA256_HEX], after[TP_SHA256_HEX];
    sha(f->out, before);
    replace(f, "src/freedreno/vulkan/tu_queue.c", "return n", "return no_such_name");
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_compile(&f->req, f->out, NULL, &e), -EIO);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_non_null(strstr(e.what, "FAILED: "));
    assert_non_null(strstr(e.what, "tu_queue.c:4:"));
    assert_non_null(strstr(e.what, "no_such_name"));
    assert_non_null(strstr(e.todo, f->log));
    sha(f->out, after);
    assert_string_equal(before, after);
}

static void what_ninja_itself_cannot_do_is_the_reason(void **state)
{
    struct fixture *f = *state;
    build(f);
    char *ninja = tp_join(f->build, "build.ninja");
    assert_int_equal(tp_remove_tree(ninja, NULL), 0);
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_compile(&f->req, f->out, NULL, &e), -EIO);
    assert_non_null(strstr(e.what, "ninja: error: loading 'build.ninja': No such file"));
    free(ninja);
}

/* The name that the tree's own folder has counts, not that of a link to it. */
static void a_link_to_a_place_that_meson_cannot_take_is_refused(void **state)
{
    struct fixture *f = *state;
    char *real = tp_join(f->dir, "it's"), *link = tp_join(f->dir, "link");
    assert_int_equal(rename(f->tree, real), 0);
    assert_int_equal(symlink(real, link), 0);
    f->req.tree = link;
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_configure(&f->req, NULL, &e), -EINVAL);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_string_equal(e.where, real);
    free(real);
    free(link);
}

/* A strip that says what the real one says then. */
static void a_strip_that_fails_says_what_to_do(void **state)
{
    struct fixture *f = *state;
    build(f);
    char *fake = tp_join(f->dir, "bin/strip"), *old = tp_strdup(getenv("PATH"));
    char *path = tp_asprintf("%s/bin:%s", f->dir, old);
    static const struct {
        const char *said;
        int err;
        enum tp_status status;
        const char *todo;
    } rows[] = {
        {"strip: x/stAbCdEf: No space left on device", -ENOSPC, TP_STATUS_FAILED, "free some space"},
        {"strip: x: file format not recognized", -EIO, TP_STATUS_FAILED, "strip of this target's"},
    };
    assert_int_equal(tp_mkdirs_for(fake, NULL), 0);
    setenv("PATH", path, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = tp_asprintf("#!/bin/sh\necho '%s' >&2\nexit 1\n", rows[i].said);
        assert_int_equal(tp_write_file(fake, text, strlen(text), 0755, NULL), 0);
        struct tp_error e = {0};
        assert_int_equal(tp_recipe_compile(&f->req, f->out, NULL, &e), rows[i].err);
        assert_int_equal(e.status, rows[i].status);
        assert_non_null(strstr(e.todo, rows[i].todo));
        free(text);
    }
    setenv("PATH", old, 1);
    free(fake);
    free(old);
    free(path);
}

static void meson_s_reason_is_passed_on(void **state)
{
    struct fixture *f = *state;
    replace(f, "meson.build", "subdir('src/util')", "error('no such thing')");
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_configure(&f->req, NULL, &e), -EIO);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_non_null(strstr(e.what, "no such thing"));
    /* An unfinished folder is the recipe's own, and is started afresh. */
    replace(f, "meson.build", "error('no such thing')", "subdir('src/util')");
    build(f);
}

static void a_missing_library_is_named_with_its_package(void **state)
{
    struct fixture *f = *state;
    replace(f, "meson.build", "subdir('src/util')",
            "dependency('wayland-scanner', version: '>= 99')\nsubdir('src/util')");
    struct tp_error e = {0};
    assert_int_equal(tp_recipe_configure(&f->req, NULL, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_non_null(strstr(e.todo, "libwayland-dev"));
}

static void an_option_that_this_mesa_lacks_is_left_out(void **state)
{
    struct fixture *f = *state;
    struct tp_buf log = {0};
    build(f);
    assert_int_equal(tp_read_file(f->log, 0, &log, NULL), 0);
    assert_null(strstr(log.data, "shared-glapi"));
    char *options = tp_join(f->tree, "meson_options.txt");
    assert_int_equal(tp_read_file(options, 0, &log, NULL), 0);
    tp_buf_adds(&log, "option('shared-glapi', type: 'feature')\n");
    assert_int_equal(tp_write_file(options, log.data, log.len, 0644, NULL), 0);
    assert_int_equal(tp_remove_tree(f->build, NULL), 0);
    build(f);
    assert_int_equal(tp_read_file(f->log, 0, &log, NULL), 0);
    assert_non_null(strstr(log.data, "shared-glapi"));
    tp_buf_finish(&log);
    free(options);
}

static void the_tree_stays_as_it_was(void **state)
{
    struct fixture *f = *state;
    build(f);
    struct tp_buf said = {0};
    struct tp_cmd cmd = {
        .argv = (const char *const[]){"diff", "-r", getenv("TP_TINY"), f->tree, NULL},
        .out = &said, .err = &said, .log_fd = -1,
    };
    assert_int_equal(tp_run(&cmd, NULL), 0);
    tp_buf_finish(&said);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_driver_comes_out_stripped_without_runpath_and_with_its_log),
        TEST(another_place_gives_the_same_bytes),
        TEST(the_second_variant_rebuilds_its_file_alone_and_equals_a_clean_build),
        TEST(mesas_android_side_is_built_with_clang_on_glibc),
        TEST(a_configured_directory_is_kept_and_one_of_another_recipe_replaced),
        TEST(a_folder_of_something_else_is_left_alone),
        TEST(a_failing_step_is_shown_and_leaves_the_old_driver),
        TEST(what_ninja_itself_cannot_do_is_the_reason),
        TEST(a_link_to_a_place_that_meson_cannot_take_is_refused),
        TEST(a_strip_that_fails_says_what_to_do),
        TEST(meson_s_reason_is_passed_on),
        TEST(a_missing_library_is_named_with_its_package),
        TEST(an_option_that_this_mesa_lacks_is_left_out),
        TEST(the_tree_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
