/* Manifests as the loader's documentation shows them, and as they should not be. */
#include "frames/icd/manifest.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char found[64];

static int look(const char *text)
{
    memset(found, 0, sizeof found);
    return tp_manifest_library(text, strlen(text), found, sizeof found);
}

static void a_librarys_path_is_found(void **state)
{
    (void)state;
    assert_int_equal(look("{\n \"file_format_version\": \"1.0.1\",\n \"ICD\": {\n"
                          "  \"library_path\": \"path to driver library\",\n"
                          "  \"api_version\": \"1.2.205\",\n  \"library_arch\" : \"64\",\n"
                          "  \"is_portability_driver\": false\n }\n}\n"),
        0);
    assert_string_equal(found, "path to driver library");
    assert_int_equal(look("{\"a\":[1,{\"ICD\":{\"library_path\":\"x\"}},null],\"b\":{},"
                          "\"ICD\":{\"c\":[],\"d\":-1.5e3,\"library_path\":\"./y.so\"}}"),
        0);
    assert_string_equal(found, "./y.so");
    assert_int_equal(look("{\"ICD\":{\"library_path\":\"a\\\\\\\"\\/\\u0041\\u00e9\\u20ac\"}}"), 0);
    assert_string_equal(found, "a\\\"/A\xc3\xa9\xe2\x82\xac");
}

static void what_is_none_is_refused(void **state)
{
    static const char *const wrong[] = {"", "{", "[]", "{}", "null", "{\"ICD\"}",
        "{\"ICD\":", "{\"ICD\":{}}", "{\"ICD\":[]}", "{\"ICD\":{\"library_path\":1}}",
        "{\"ICD\":{\"library_path\":\"\"}}", "{\"ICD\":{\"library_path\":\"x",
        "{\"ICD\":{\"library_path\":\"\\q\"}}", "{\"ICD\":{\"library_path\":\"\\u00",
        "{\"ICD\":{\"library_path\":\"\\u0000\"}}", "{\"library_path\":\"x\"}", "{\"a\":}",
        "{\"a\":{\"b\":]}}", "{\"ICD\":{\"library_path\":\"a\nb\"}}"};
    char deep[4000];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(look(wrong[i]), -EINVAL);
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{\"a\":", 5);
    assert_int_equal(tp_manifest_library(deep, sizeof deep, found, sizeof found), -EINVAL);
    memset(deep, 'x', sizeof deep);
    memcpy(deep, "{\"ICD\":{\"library_path\":\"", 24);
    memcpy(deep + sizeof deep - 3, "\"}}", 3);
    assert_int_equal(tp_manifest_library(deep, sizeof deep, found, sizeof found), -ENAMETOOLONG);
    /* Each beginning of a good one is none. */
    const char *good = "{\"b\":[{\"c\":\"\\u0041\"}],\"ICD\":{\"library_path\":\"./y.so\"";
    for (size_t n = 0; n + 1 < strlen(good); n++)
        assert_int_equal(tp_manifest_library(good, n, found, sizeof found), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_librarys_path_is_found),
        cmocka_unit_test(what_is_none_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
