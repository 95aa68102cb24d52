/* What the document says of a receipt. Whether it is SPDX, tests/cli/origin.test.sh asks others. */
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "factory/origin/sha1.h"
#include "factory/origin/spdx.h"

static const char receipt_text[] =
    "{\"turnpike\": \"0.1.0\", \"build_commit\": \"abc\", \"driver_version\": \"WN-25.0.7-b\","
    " \"archive\": {\"file\": \"x y.zip\", \"sha256\": \"00ff\"},"
    " \"driver\": {\"file\": \"lib.so\", \"sha256\": \"11ee\"},"
    " \"meta\": {\"name\": \"A driver\", \"description\": \"what it is\"},"
    " \"mesa\": {\"version\": \"25.0.7\", \"source\": \"debian\", \"spec\": \"debian:25.0.7-2+deb13u1\","
    "   \"sha256\": \"22dd\"},"
    " \"source_date_epoch\": 1747958400,"
    " \"toolchain\": {\"compiler\": \"gcc 12\", \"linker\": \"ld 2.40\", \"options\": [\"-Da=b\", \"-Dc=d\"],"
    "   \"libraries\": {\"libz.a\": \"33cc\"}},"
    " \"patches\": [{\"id\": \"one\", \"title\": \"The first\", \"state\": \"applied\", \"sha256\": \"44bb\"},"
    "   {\"id\": \"two\", \"title\": \"The second\", \"state\": \"not-applicable\", \"sha256\": \"55aa\"}]}";

/* The greater sum first. */
static const struct tp_spdx_file files[] = {{"lib.so", "abc", 3}, {"meta.json", "{}\n", 3}};

static json_t *receipt(void)
{
    json_t *j = json_loads(receipt_text, 0, NULL);
    assert_non_null(j);
    return j;
}

static json_t *document_of(json_t *taken)
{
    json_t *d = tp_spdx_make(taken, "Maker", files, 2);
    json_decref(taken);
    return d;
}

static const json_t *package(const json_t *d, const char *id)
{
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(d, "packages"), i, p)
    {
        if (!strcmp(tp_json_text(p, "SPDXID"), id))
            return p;
    }
    fail_msg("no package %s", id);
    return NULL;
}

static const char *sha256_of(const json_t *d, const char *id)
{
    const json_t *sum = json_array_get(json_object_get(package(d, id), "checksums"), 0);
    assert_string_equal(tp_json_text(sum, "algorithm"), "SHA256");
    return tp_json_text(sum, "checksumValue");
}

static bool related(const json_t *d, const char *from, const char *type, const char *to)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(d, "relationships"), i, r)
    {
        if (!strcmp(tp_json_text(r, "spdxElementId"), from) && !strcmp(tp_json_text(r, "relationshipType"), type) &&
            !strcmp(tp_json_text(r, "relatedSpdxElement"), to))
            return true;
    }
    return false;
}

static void sha1_gives_the_sums_of_fips_180(void **state)
{
    (void)state;
    char sum[TP_SHA1_HEX];
    tp_sha1("abc", 3, sum);
    assert_string_equal(sum, "a9993e364706816aba3e25717850c26c9cd0d89d");
    tp_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, sum);
    assert_string_equal(sum, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    tp_sha1("", 0, sum);
    assert_string_equal(sum, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    tp_sha1(million, 1000000, sum);
    assert_string_equal(sum, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    free(million);
}

static void archive_driver_mesa_patches_tools_and_libraries_are_packages_with_their_hashes(void **state)
{
    (void)state;
    json_t *d = document_of(receipt());
    assert_string_equal(sha256_of(d, "SPDXRef-Archive"), "00ff");
    assert_string_equal(sha256_of(d, "SPDXRef-Driver"), "11ee");
    assert_string_equal(sha256_of(d, "SPDXRef-Mesa"), "22dd");
    assert_string_equal(sha256_of(d, "SPDXRef-Library-libz.a"), "33cc");
    assert_string_equal(sha256_of(d, "SPDXRef-Patch-one"), "44bb");
    assert_string_equal(sha256_of(d, "SPDXRef-Patch-two"), "55aa");
    assert_string_equal(tp_json_text(package(d, "SPDXRef-Tool-compiler"), "versionInfo"), "gcc 12");
    assert_non_null(strstr(tp_json_text(package(d, "SPDXRef-Driver"), "sourceInfo"), "-Da=b\n-Dc=d"));
    json_decref(d);
}

static void the_relations_say_what_came_from_what(void **state)
{
    (void)state;
    json_t *d = document_of(receipt());
    assert_true(related(d, "SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Archive"));
    assert_true(related(d, "SPDXRef-Archive", "CONTAINS", "SPDXRef-File-meta.json"));
    assert_true(related(d, "SPDXRef-Driver", "CONTAINS", "SPDXRef-File-lib.so"));
    assert_true(related(d, "SPDXRef-Driver", "GENERATED_FROM", "SPDXRef-Mesa"));
    assert_true(related(d, "SPDXRef-Patch-one", "PATCH_FOR", "SPDXRef-Mesa"));
    assert_true(related(d, "SPDXRef-Patch-two", "PATCH_FOR", "SPDXRef-Mesa"));
    assert_true(related(d, "SPDXRef-Patch-one", "PATCH_APPLIED", "SPDXRef-Mesa"));
    assert_false(related(d, "SPDXRef-Patch-two", "PATCH_APPLIED", "SPDXRef-Mesa"));
    assert_true(related(d, "SPDXRef-Tool-linker", "BUILD_TOOL_OF", "SPDXRef-Driver"));
    assert_true(related(d, "SPDXRef-Driver", "STATIC_LINK", "SPDXRef-Library-libz.a"));
    json_decref(d);
}

/* Every id once, and no relation to what is not there. */
static void ids_are_unique_and_relations_lead_to_elements(void **state)
{
    (void)state;
    json_t *d = document_of(receipt()), *ids = json_object(), *item;
    json_object_set_new(ids, "SPDXRef-DOCUMENT", json_true());
    static const char *const lists[] = {"packages", "files"};
    size_t i;
    for (size_t k = 0; k < 2; k++) {
        json_array_foreach(json_object_get(d, lists[k]), i, item)
        {
            assert_null(json_object_get(ids, tp_json_text(item, "SPDXID")));
            json_object_set_new(ids, tp_json_text(item, "SPDXID"), json_true());
        }
    }
    json_array_foreach(json_object_get(d, "relationships"), i, item)
    {
        assert_non_null(json_object_get(ids, tp_json_text(item, "spdxElementId")));
        assert_non_null(json_object_get(ids, tp_json_text(item, "relatedSpdxElement")));
    }
    json_decref(ids);
    json_decref(d);
}

static void time_and_namespace_come_from_the_build(void **state)
{
    (void)state;
    json_t *d = document_of(receipt());
    /* date -u -d @1747958400 */
    assert_string_equal(tp_json_text(json_object_get(d, "creationInfo"), "created"), "2025-05-23T00:00:00Z");
    assert_string_equal(tp_json_text(d, "documentNamespace"), "https://spdx.org/spdxdocs/x%20y.zip-00ff");
    json_t *again = document_of(receipt());
    char *a = json_dumps(d, 0), *b = json_dumps(again, 0);
    assert_string_equal(a, b);
    free(a);
    free(b);
    json_decref(again);
    json_decref(d);
}

static json_t *with_mesa(const char *mesa)
{
    json_t *r = receipt();
    json_object_set_new(r, "mesa", json_loads(mesa, 0, NULL));
    return document_of(r);
}

static const char *locator(const json_t *d)
{
    return tp_json_text(json_array_get(json_object_get(package(d, "SPDXRef-Mesa"), "externalRefs"), 0),
                        "referenceLocator");
}

static void the_place_of_mesa_is_told_where_the_world_knows_it(void **state)
{
    (void)state;
    json_t *d = document_of(receipt());
    assert_string_equal(locator(d), "pkg:deb/debian/mesa@25.0.7-2%2Bdeb13u1?arch=source");
    json_decref(d);
    d = with_mesa("{\"version\": \"26.3.0-devel\", \"source\": \"git\", \"revision\": \"cafe\","
                  " \"spec\": \"git:https://example.org/a@b/mesa.git@cafe\"}");
    assert_string_equal(tp_json_text(package(d, "SPDXRef-Mesa"), "downloadLocation"),
                        "git+https://example.org/a@b/mesa.git@cafe");
    json_decref(d);
    d = with_mesa("{\"version\": \"25.0.7\", \"source\": \"tarball\", \"spec\": null}");
    assert_string_equal(tp_json_text(package(d, "SPDXRef-Mesa"), "downloadLocation"), "NOASSERTION");
    assert_string_equal(locator(d), "pkg:generic/mesa@25.0.7");
    json_decref(d);
}

/* Clause 7.9: SHA-1 over the files' SHA-1 in their order: of "{}\n" and "abc", by sha1sum. */
static void the_verification_code_is_the_specifications(void **state)
{
    (void)state;
    json_t *d = document_of(receipt());
    assert_string_equal(tp_json_text(json_object_get(package(d, "SPDXRef-Archive"), "packageVerificationCode"),
                                     "packageVerificationCodeValue"), "9b12d8fe5e3cdc82511c7f04fde37839171c403f");
    json_decref(d);
}

static void a_receipt_without_the_essentials_gives_no_document(void **state)
{
    (void)state;
    static const char *const keys[] = {"archive", "driver", "mesa"};
    for (size_t i = 0; i < 3; i++) {
        json_t *r = receipt();
        json_object_del(r, keys[i]);
        assert_null(document_of(r));
    }
    assert_null(document_of(json_array()));
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha1_gives_the_sums_of_fips_180),
        cmocka_unit_test(archive_driver_mesa_patches_tools_and_libraries_are_packages_with_their_hashes),
        cmocka_unit_test(the_relations_say_what_came_from_what),
        cmocka_unit_test(ids_are_unique_and_relations_lead_to_elements),
        cmocka_unit_test(time_and_namespace_come_from_the_build),
        cmocka_unit_test(the_place_of_mesa_is_told_where_the_world_knows_it),
        cmocka_unit_test(the_verification_code_is_the_specifications),
        cmocka_unit_test(a_receipt_without_the_essentials_gives_no_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
