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

/* A copy of the double's mapper in hw/ or odm/, where the backend looks; and libvndksupport's double
 * in the last of them. */
static void put_mapper_in(const char *folder, const char *name)
{
    char from[4096], to[256], bytes[65536];
    mkdir(folder, 0700);
    snprintf(from, sizeof(from), "%s/mapper.qti.so", double_folder());
    snprintf(to, sizeof(to), "%s/%s", folder, name);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out);
    for (size_t n; (n = fread(bytes, 1, sizeof(bytes), in)) > 0;)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    setenv("TURNPIKE_MAPPER_DIR", folder, 1);
}

static void put_mapper(const char *name)
{
    put_mapper_in("hw", name);
}

/* The double with other version symbols: "both", "stablec", "neither". */
static void set_symbols(const char *which)
{
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/symbols/%s", double_folder(), which);
    setenv("TURNPIKE_MAPPER_DIR", folder, 1);
}

static bool is_taken(struct backend *b, const char *setting)
{
    struct u_gralloc *gr = backend_create(b, setting);
    if (gr)
        gr->ops.destroy(gr);
    return gr;
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
    static const char *const lines[] = {"mapper.qti.so has version 4, not 5\n", "",
        "mapper.qti.so has a mapper of version 4, not 5\n",
        "mapper.qti.so gives no mapper, error 5\n", "",
        "mapper.qti.so has no getStandardMetadata\n"};
    struct backend *b = *state;
    for (unsigned i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        b->lines[0] = 0;
        assert_null(backend_create(b, settings[i]));
        /* Each cause once. */
        assert_int_equal(backend_logged(b, "aimapper: "), *lines[i] ? 1 : 0);
        assert_int_equal(*lines[i] ? backend_logged(b, lines[i]) : 0, *lines[i] ? 1 : 0);
        struct double_counts counts = b->take();
        assert_int_equal(counts.loads, 1);
        assert_int_equal(counts.unloads, 1);
        assert_false(is_loaded(double_folder(), "mapper.qti.so"));
    }
}

/* AOSP's text has the one name for the number, AOSP's tests and Qualcomm's mapper have the other;
 * libui asks for neither. */
static void any_version_symbol_will_do_and_none(void **state)
{
    struct backend *b = *state;
    set_symbols("stablec");
    assert_false(is_taken(b, "version-4"));
    assert_false(is_taken(b, "stablec-4"));
    assert_true(is_taken(b, "qti"));
}

static void of_two_version_symbols_the_first_is_heeded(void **state)
{
    struct backend *b = *state;
    set_symbols("both");
    assert_false(is_taken(b, "version-4"));
    assert_false(is_taken(b, "version-6"));
    assert_false(is_taken(b, "stablec-4"));
    assert_true(is_taken(b, "mapper-4"));
}

static void without_a_version_symbol_the_table_says_it(void **state)
{
    struct backend *b = *state;
    set_symbols("neither");
    assert_false(is_taken(b, "table-4"));
    assert_true(is_taken(b, "version-4"));
}

static void qualcomms_version_symbol_is_looked_at(void **state)
{
    struct backend *b = *state;
    assert_false(is_taken(b, "mapper-4"));
    assert_true(is_taken(b, "stablec-4"));
}

/* libui's instance knows the handles; Qualcomm's by name would be another one, which does not. */
static void a_mapper_that_is_loaded_already_goes_first(void **state)
{
    struct backend *b = *state;
    put_mapper("mapper.qti.so");
    put_mapper("mapper.z.so");
    setenv("TURNPIKE_MAPPER_z", "qti", 1);
    void *loaded = dlopen("hw/mapper.z.so", RTLD_LOCAL | RTLD_NOW);
    assert_non_null(loaded);
    struct u_gralloc *gr = backend_create(b, "stranger");
    assert_non_null(gr);
    assert_string_equal(b->take().order, "hw/mapper.z.so");
    struct buffer buffer = buffer_make(DOUBLE_QTI);
    struct u_gralloc_buffer_basic_info info;
    assert_int_equal(ask(gr, &buffer, &info), 0);
    assert_int_equal(backend_logged(b, "detected via COMPRESSION"), 1);
    gr->ops.destroy(gr);
    dlclose(loaded);
}

static void one_that_is_loaded_and_no_mapper_is_passed_over(void **state)
{
    struct backend *b = *state;
    put_mapper("mapper.qti.so");
    put_mapper("mapper.z.so");
    setenv("TURNPIKE_MAPPER_z", "hole", 1);
    void *loaded = dlopen("hw/mapper.z.so", RTLD_LOCAL | RTLD_NOW);
    assert_non_null(loaded);
    assert_true(is_taken(b, "qti"));
    assert_string_equal(b->take().order, "hw/mapper.z.so mapper.qti.so");
    dlclose(loaded);
}

static void an_instance_that_knows_no_handle_leaves_the_handles_flags(void **state)
{
    struct backend *b = *state;
    struct u_gralloc *gr = backend_create(b, "stranger");
    assert_non_null(gr);
    for (int i = 0; i < 3; i++) {
        struct buffer buffer = buffer_make(i ? DOUBLE_LINEAR : DOUBLE_QTI);
        struct u_gralloc_buffer_basic_info info;
        assert_int_equal(ask(gr, &buffer, &info), 0);
        assert_true(info.modifier == (i ? DRM_FORMAT_MOD_LINEAR : DRM_FORMAT_MOD_QCOM_COMPRESSED));
        assert_int_equal(info.num_planes, 1);
        assert_int_equal(info.strides[0], 4864);
    }
    assert_int_equal(backend_logged(b, "the mapper answers with error -2"), 1);
    assert_int_equal(backend_logged(b, "knows nothing of a buffer (PLANE_LAYOUTS: -2)"), 1);
    gr->ops.destroy(gr);
}

static void a_loader_that_does_not_seek_is_given_paths(void **state)
{
    struct backend *b = *state;
    setenv("TURNPIKE_MAPPER_PATHS", "only", 1);
    put_mapper_in("odm", "mapper.qti.so");
    assert_true(is_taken(b, "qti"));
    assert_string_equal(b->take().order, "mapper.qti.so hw/mapper.qti.so");
}

static void each_folder_is_tried(void **state)
{
    struct backend *b = *state;
    put_mapper("mapper.b.so");
    put_mapper_in("odm", "mapper.a.so");
    setenv("TURNPIKE_MAPPER_a", "qti", 1);
    assert_true(is_taken(b, "hole"));
    assert_string_equal(b->take().order, "mapper.qti.so hw/mapper.qti.so odm/mapper.qti.so "
                                         "hw/mapper.b.so odm/mapper.a.so");
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
    assert_null(backend_create(b, "missing"));
    assert_string_equal(
        b->lines, "aimapper: no mapper.*.so was found, or the loader refused it\n");
}

static void a_system_without_libvndksupport_is_no_error(void **state)
{
    struct backend b;
    struct backend *usual = *state;
    backend_close(usual);
    backend_open(&b, NULL);
    assert_null(b.create());
    assert_null(b.create());
    assert_string_equal(
        b.lines, "aimapper: no libvndksupport.so, which loads the vendor's libraries\n");
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
        counts.order, "mapper.qti.so hw/mapper.a.so hw/mapper.b.so hw/mapper.c.so hw/mapper.r.so");
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
        TEST(any_version_symbol_will_do_and_none),
        TEST(of_two_version_symbols_the_first_is_heeded),
        TEST(without_a_version_symbol_the_table_says_it),
        TEST(qualcomms_version_symbol_is_looked_at),
        TEST(a_mapper_that_is_loaded_already_goes_first),
        TEST(one_that_is_loaded_and_no_mapper_is_passed_over),
        TEST(an_instance_that_knows_no_handle_leaves_the_handles_flags),
        TEST(a_loader_that_does_not_seek_is_given_paths),
        TEST(each_folder_is_tried),
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
