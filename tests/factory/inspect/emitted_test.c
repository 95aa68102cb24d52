/* What the factory packs is what every importer of its platform takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"
#include "elf_writer.h"
#include "factory/inspect/importers.h"
#include "factory/inspect/inspect.h"
#include "factory/package/package.h"
#include "factory/recipe/recipe.h"

#define NOTE(target)                                                                               \
    "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-b\", \"variant\": \"b\", "   \
    "\"target\": \"" target "\", \"mesa\": \"25.0.7\", \"patches\": [{\"id\": \"driver-label\", "  \
    "\"state\": \"applied\"}]}"

static void pack(const char *dir, const char *target_name, struct elf_shape shape,
    struct tp_package_result *result)
{
    struct tp_error e = {0};
    const struct tp_target *target = tp_target_find(target_name);
    assert_non_null(target);
    struct tp_buf driver = elf_write(&shape);
    char *path = tp_join(dir, "driver.so");
    assert_int_equal(tp_write_file(path, driver.data, driver.len, 0644, &e), 0);
    char *name = tp_archive_name(target, "25.0.7", 'b'),
         *shown = tp_driver_name(target, "25.0.7", 'b');
    char *version = tp_driver_version("25.0.7", 'b');
    json_t *nothing = json_array();
    const struct tp_package_request request = {
        .driver = path,
        .out_dir = dir,
        .archive_name = name,
        .system = target->system,
        .target = target_name,
        .variant = 'b',
        .version = "25.0.7",
        .driver_version = version,
        .name = shown,
        .description = "Turnip from Mesa 25.0.7, balanced",
        .author = tp_brand.author,
        .vendor = tp_brand.vendor,
        .min_api = 29,
        .mesa = {.version = "25.0.7", .source = "tarball"},
        .build_commit = "unknown",
        .receipt = nothing,
        .patches = nothing,
    };
    if (tp_package_write(&request, result, &e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    json_decref(nothing);
    free(version);
    free(shown);
    free(name);
    free(path);
    tp_buf_finish(&driver);
}

static void expect_taken(const char *target, struct elf_shape shape, bool adpkg)
{
    struct tp_error e = {0};
    char *dir = tp_temp_dir("/tmp", &e);
    assert_non_null(dir);
    struct tp_package_result packed;
    pack(dir, target, shape, &packed);
    struct tp_inspection found;
    assert_int_equal(tp_inspect_file(packed.path, 0, &found, &e), 0);
    for (size_t i = 0; i < found.findings.n; i++) {
        if (!adpkg || found.findings.list[i].rule != TP_RULE_META_ADPKG)
            fail_msg("%s: %s", target, found.findings.list[i].text);
    }
    /* ADPKG wants other driver versions than ours; that is told. */
    assert_int_equal(tp_findings_has(&found.findings, TP_RULE_META_ADPKG), adpkg);
    int asked = 0;
    for (const struct tp_importer *i = tp_importers; i->name; i++) {
        if (!tp_importer_applies(i, &found.contents))
            continue;
        char *why;
        if (tp_importer_ask(i, &found.contents, &found.findings, 29, &why) != TP_OUTCOME_TAKES)
            fail_msg("%s: %s: %s", target, i->name, why);
        free(why);
        asked++;
    }
    assert_true(asked >= 1);
    assert_int_equal(json_array_size(json_object_get(found.contents.facts.note, "patches")), 1);
    tp_inspection_finish(&found);
    tp_package_result_finish(&packed);
    assert_int_equal(tp_remove_tree(dir, &e), 0);
    free(dir);
}

static void the_android_archive_is_taken_by_every_importer(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    shape.note = NOTE("android-arm64");
    expect_taken("android-arm64", shape, true);
}

static void the_linux_archive_is_taken_by_its_importer(void **state)
{
    (void)state;
    struct elf_shape shape = elf_linux();
    shape.note = NOTE("linux-arm64");
    expect_taken("linux-arm64", shape, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_android_archive_is_taken_by_every_importer),
        cmocka_unit_test(the_linux_archive_is_taken_by_its_importer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
