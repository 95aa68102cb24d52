/* Which mapper the backend takes, and what it leaves behind where it takes none. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support.h"

#define LOADED "Using IMapper v5 stable-C API via SP-HAL"

/* A copy of the double's mapper in hw/, where the backend and libvndksupport's double look. */
static void put_mapper(const char *name)
{
    char from[4096], to[256], bytes[65536];
    mkdir("hw", 0700);
    snprintf(from, sizeof(from), "%s/mapper.qti.so", double_folder());
    snprintf(to, sizeof(to), "hw/%s", name);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(bytes, 1, sizeof(bytes), in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    setenv("TURNPIKE_MAPPER_DIR", "hw", 1);
}

static void qualcomms_mapper_is_taken_by_name(void **state)
{
    struct backend *b = *state;
    struct u_gralloc *gr = backend_create(b, "qti");
    assert_non_null(gr);
    struct double_counts counts = b->take();
    assert_string_equal(counts.order, "mapper.qti.so");
    assert_int_equal(counts.loads, 1);
    assert_int_equal(backend_logged(b, LOADED), 1);
    gr->ops.destroy(gr);
    assert_int_equal(b->take().unloads, 0);
}

static void a_process_has_one_mapper(void **state)
{
    struct backend *b = *state;
    for (int i = 0; i < 5; i++) {
        struct u_gralloc *one = backend_create(b, "qti"), *two = b->create();
        assert_true(one && two && one != two);
        one->ops.destroy(one);
        two->ops.destroy(two);
    }
    struct double_counts counts = b->take();
    assert_int_equal(counts.loads, 1);
    assert_int_equal(counts.unloads, 0);
}

static void a_newer_table_begins_as_the_fifth(void **state)
{
    struct backend *b = *state;
    struct u_gralloc *gr = backend_create(b, "table-6");
    assert_non_null(gr);
    struct buffer buffer = buffer_make(DOUBLE_QTI);
    struct u_gralloc_buffer_basic_info info;
    assert_int_equal(ask(gr, &buffer, &info), 0);
    gr->ops.destroy(gr);
}

static void what_is_no_mapper_of_version_5_is_unloaded_again(void **state)
{
    static const char *const settings[] = {
        "version-4", "version-6", "table-4", "load-error", "load-null", "hole"};
    struct backend *b = *state;
    for (unsigned i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        assert_null(backend_create(b, settings[i]));
        struct double_counts counts = b->take();
        assert_int_equal(counts.loads, 1);
        assert_int_equal(counts.unloads, 1);
        assert_false(is_loaded(double_folder(), "mapper.qti.so"));
    }
    assert_string_equal(b->lines, "");
}

static void libvndksupport_goes_where_no_mapper_stays(void **state)
{
    struct backend *b = *state;
    assert_null(backend_create(b, "version-4"));
    assert_null(backend_create(b, "missing"));
    dlclose(b->support);
    b->support = NULL;
    assert_false(is_loaded(double_folder(), "libvndksupport.so"));
}

static void a_vendor_without_mapper_is_no_error(void **state)
{
    struct backend *b = *state;
    assert_null(backend_create(b, "missing"));
    struct double_counts counts = b->take();
    assert_int_equal(counts.loads, 0);
    assert_int_equal(counts.unloads, 0);
    assert_string_equal(b->lines, "");
}

static void a_system_without_libvndksupport_is_no_error(void **state)
{
    struct backend b;
    struct backend *usual = *state;
    backend_close(usual);
    backend_open(&b, NULL);
    assert_null(b.create());
    assert_string_equal(b.lines, "");
    backend_close(&b);
    backend_open(usual, double_folder());
}

static void a_libvndksupport_that_cannot_unload_leaves_nothing(void **state)
{
    struct backend b;
    struct backend *usual = *state;
    char old[4096];
    snprintf(old, sizeof(old), "%s/old", double_folder());
    backend_close(usual);
    backend_open(&b, old);
    setenv("TURNPIKE_MAPPER_DIR", double_folder(), 1);
    assert_null(backend_create(&b, "version-4"));
    assert_int_equal(b.take().loads, 1);
    assert_false(is_loaded(double_folder(), "mapper.qti.so"));
    backend_close(&b);
    backend_open(usual, double_folder());
}

static void it_is_asked_again_after_a_failure(void **state)
{
    struct backend *b = *state;
    assert_null(backend_create(b, "load-error"));
    struct u_gralloc *gr = backend_create(b, "qti");
    assert_non_null(gr);
    gr->ops.destroy(gr);
}

static void other_mappers_are_tried_by_name(void **state)
{
    struct backend *b = *state;
    put_mapper("mapper.s.so");
    put_mapper("mapper.r.so");
    put_mapper("mapper.c.so");
    put_mapper("mapper.a.so");
    put_mapper("mapper.qti.so");
    put_mapper("mapper.b.so");
    put_mapper("mapper..so");
    put_mapper("mapper.b.so.old");
    put_mapper("libmapper.so");
    setenv("TURNPIKE_MAPPER_a", "version-4", 1);
    setenv("TURNPIKE_MAPPER_b", "load-null", 1);
    setenv("TURNPIKE_MAPPER_c", "version-6", 1);
    setenv("TURNPIKE_MAPPER_r", "qti", 1);
    struct u_gralloc *gr = backend_create(b, "load-error");
    assert_non_null(gr);
    struct double_counts counts = b->take();
    assert_string_equal(
        counts.order, "mapper.qti.so mapper.a.so mapper.b.so mapper.c.so mapper.r.so");
    assert_int_equal(counts.loads, 5);
    assert_int_equal(counts.unloads, 4);
    assert_false(is_loaded("hw", "mapper.a.so"));
    gr->ops.destroy(gr);
}

/* More than anyone would count on; the one that is good comes last. */
static void none_of_many_mappers_is_passed_over(void **state)
{
    struct backend *b = *state;
    for (int i = 39; i >= 0; i--) {
        char name[32];
        snprintf(name, sizeof(name), "mapper.m%02d.so", i);
        put_mapper(name);
    }
    setenv("TURNPIKE_MAPPER_m39", "qti", 1);
    struct u_gralloc *gr = backend_create(b, "hole");
    assert_non_null(gr);
    struct double_counts counts = b->take();
    assert_int_equal(counts.loads, 40);
    assert_int_equal(counts.unloads, 39);
    gr->ops.destroy(gr);
}

static void the_front_buffer_has_a_usage_since_android_13(void **state)
{
    struct backend *b = *state;
    struct u_gralloc *gr = backend_create(b, "qti");
    uint64_t usage = 0;
    assert_non_null(gr);
#ifdef U_GRALLOC_LATER
    assert_int_equal(gr->ops.get_front_rendering_usage(gr, &usage), 0);
    assert_true(usage == UINT64_C(0x100000000));
#else
    assert_int_equal(gr->ops.get_front_rendering_usage(gr, &usage), -ENOTSUP);
#endif
    gr->ops.destroy(gr);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, backend_setup, backend_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(qualcomms_mapper_is_taken_by_name),
        TEST(a_process_has_one_mapper),
        TEST(a_newer_table_begins_as_the_fifth),
        TEST(what_is_no_mapper_of_version_5_is_unloaded_again),
        TEST(libvndksupport_goes_where_no_mapper_stays),
        TEST(a_vendor_without_mapper_is_no_error),
        TEST(a_system_without_libvndksupport_is_no_error),
        TEST(a_libvndksupport_that_cannot_unload_leaves_nothing),
        TEST(it_is_asked_again_after_a_failure),
        TEST(other_mappers_are_tried_by_name),
        TEST(none_of_many_mappers_is_passed_over),
        TEST(the_front_buffer_has_a_usage_since_android_13),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
