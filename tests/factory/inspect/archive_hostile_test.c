/* Whatever an archive is, inspecting it ends soon, with a finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive_writer.h"
#include "factory/inspect/importers.h"
#include "factory/inspect/inspect.h"
#include "factory/package/archive.h"

/* The inspection, and every importer's answer to it. */
static void inspect(const void *bytes, size_t len, struct tp_inspection *found)
{
    *found = (struct tp_inspection){0};
    tp_inspect_memory(bytes, len, "x.zip", 0, found);
    for (const struct tp_importer *i = tp_importers; i->name; i++) {
        char *why;
        enum tp_outcome o = tp_importer_ask(i, &found->contents, &found->findings, 30, &why);
        assert_true(*why != 0);
        (void)o;
        free(why);
    }
}

/* An archive as `turnpike build` writes it. */
static struct tp_buf built_archive(void)
{
    struct elf_shape shape = elf_android();
    struct tp_buf driver = elf_write(&shape), out = {0};
    struct tp_error e = {0};
    const struct tp_archive_entry entries[] = {
        {"meta.json", ARCHIVE_META, strlen(ARCHIVE_META)},
        {"libvulkan_freedreno.so", driver.data, driver.len},
    };
    assert_int_equal(tp_archive_build(entries, 2, "x.zip", &out, &e), 0);
    tp_buf_finish(&driver);
    return out;
}

static void an_archive_cut_off_anywhere_is_an_error(void **state)
{
    (void)state;
    struct tp_buf whole = built_archive();
    struct tp_inspection found;
    inspect(whole.data, whole.len, &found);
    assert_int_equal(found.findings.n, 0);
    tp_inspection_finish(&found);
    for (size_t n = 0; n < whole.len; n++) {
        /* of its own size, so that a byte read behind it is noticed */
        char *part = tp_calloc(n ? n : 1, 1);
        memcpy(part, whole.data, n);
        inspect(part, n, &found);
        if (found.findings.n != 1 ||
            found.findings.list[0].rule != (n < 4 ? TP_RULE_KIND_UNKNOWN : TP_RULE_ZIP_TRUNCATED))
            fail_msg("cut off at %zu: %zu findings", n, found.findings.n);
        tp_inspection_finish(&found);
        free(part);
    }
    tp_buf_finish(&whole);
}

static void an_archive_without_its_beginning_is_an_error(void **state)
{
    (void)state;
    struct tp_buf whole = built_archive();
    struct tp_inspection found;
    for (size_t n = 1; n < whole.len; n++) {
        inspect(whole.data + n, whole.len - n, &found);
        /* the end record, of 22 bytes, tells where the directory should be */
        if (n + 22 <= whole.len ? !tp_findings_has(&found.findings, TP_RULE_ZIP_TRUNCATED)
                                : !tp_findings_count(&found.findings, TP_SEVERITY_ERROR))
            fail_msg("without its first %zu bytes: not told", n);
        tp_inspection_finish(&found);
    }
    tp_buf_finish(&whole);
}

/* Each byte of the archive in other values: no crash; and where the file changed, it is noticed,
 * but for what carries no meaning. */
static void a_byte_changed_anywhere_is_survived(void **state)
{
    (void)state;
    struct tp_buf whole = built_archive();
    struct tp_inspection found;
    static const uint8_t values[] = {0, 0xff, 0x80, 'P'};
    size_t noticed = 0, tried = 0;
    for (size_t at = 0; at < whole.len; at++) {
        char was = whole.data[at];
        for (size_t v = 0; v < sizeof values; v++) {
            whole.data[at] = (char)values[v];
            if (whole.data[at] == was)
                continue;
            inspect(whole.data, whole.len, &found);
            tried++;
            noticed += tp_findings_count(&found.findings, TP_SEVERITY_ERROR) > 0;
            tp_inspection_finish(&found);
        }
        whole.data[at] = was;
    }
    /* Times, versions and attributes are some hundred bytes; all else is told. */
    assert_true(noticed * 10 > tried * 9);
    tp_buf_finish(&whole);
}

/* Pseudo-random changes of several bytes at once; the same in each run. */
static void many_bytes_changed_are_survived(void **state)
{
    (void)state;
    struct tp_buf whole = built_archive();
    char *copy = tp_calloc(whole.len, 1);
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        memcpy(copy, whole.data, whole.len);
        for (int k = 0; k < 1 + round % 7; k++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            /* mostly in the headers: the last 200 bytes and the first 100 */
            size_t at = seed & 1 ? whole.len - 1 - (seed >> 8) % 200 : (seed >> 8) % 100;
            copy[at] = (char)(seed >> 40);
        }
        struct tp_inspection found;
        inspect(copy, whole.len, &found);
        tp_inspection_finish(&found);
    }
    free(copy);
    tp_buf_finish(&whole);
}

static void expect(struct tp_buf *bytes, enum tp_rule_id rule)
{
    struct tp_inspection found;
    inspect(bytes->data, bytes->len, &found);
    if (!tp_findings_has(&found.findings, rule))
        fail_msg("%s is not found among %zu findings", tp_rule_of(rule)->id, found.findings.n);
    tp_inspection_finish(&found);
    tp_buf_finish(bytes);
}

/* Ten thousand entries that are one: each unpacks to 8 MiB. */
static void a_bomb_of_shared_bytes_is_named(void **state)
{
    (void)state;
    static char names[10000][8];
    enum { EACH = 8 << 20 };
    void *zeros = tp_calloc(EACH, 1);
    struct zip_writer w = {0};
    for (size_t i = 0; i < 10000; i++) {
        snprintf(names[i], sizeof names[i], "e%zu", i);
        zip_add(&w,
            &(struct zip_shape){.name = names[i],
                .data = i ? NULL : zeros,
                .len = i ? 0 : EACH,
                .deflated = true,
                .same_place = i > 0});
    }
    struct tp_buf bytes = zip_end(&w, NULL);
    free(zeros);
    struct tp_inspection found;
    inspect(bytes.data, bytes.len, &found);
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_OVERLAP));
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_BOMB));
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

/* It says ten bytes and unpacks to 400 MiB. */
static void a_bomb_that_lies_is_named(void **state)
{
    (void)state;
    struct tp_buf zeros = zip_zeros((size_t)400 << 20);
    struct zip_writer w = {0};
    zip_add(&w,
        &(struct zip_shape){.name = "x.so",
            .data = zeros.data,
            .len = zeros.len,
            .method = 8,
            .size_lie = 10 - (int64_t)zeros.len});
    struct tp_buf bytes = zip_end(&w, NULL);
    tp_buf_finish(&zeros);
    expect(&bytes, TP_RULE_ZIP_BOMB);
}

/* A zip of zips of zips: nothing but its own entries is unpacked. */
static void a_bomb_in_a_bomb_is_not_opened(void **state)
{
    (void)state;
    struct tp_buf inner = zip_zeros((size_t)64 << 20);
    for (int depth = 0; depth < 5; depth++) {
        struct zip_writer w = {0};
        zip_add(&w,
            &(struct zip_shape){
                .name = "0.zip", .data = inner.data, .len = inner.len, .deflated = true});
        zip_add(&w,
            &(struct zip_shape){
                .name = "1.zip", .data = inner.data, .len = inner.len, .deflated = true});
        tp_buf_finish(&inner);
        inner = zip_end(&w, NULL);
    }
    expect(&inner, TP_RULE_KIND_NESTED);
}

static void a_hundred_thousand_entries_are_counted(void **state)
{
    (void)state;
    struct zip_writer w = {0};
    for (int i = 0; i < 100000; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d.so", i);
        zip_add(&w, &(struct zip_shape){.name = name, .data = "x", .len = 1});
    }
    struct tp_buf bytes = zip_end(&w, &(struct zip_ending){.wide = true});
    expect(&bytes, TP_RULE_ZIP_TOO_MANY);
}

/* One name, a hundred thousand times, and its size at most. */
static void a_hundred_thousand_twins_are_named(void **state)
{
    (void)state;
    struct zip_writer w = {0};
    for (int i = 0; i < 100000; i++)
        zip_add(&w, &(struct zip_shape){.name = i & 1 ? "TWIN" : "twin", .data = "x", .len = 1});
    struct tp_buf bytes = zip_end(&w, NULL); /* counted in 16 bits, round and round */
    struct tp_inspection found;
    inspect(bytes.data, bytes.len, &found);
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_DUPLICATE));
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_CASE));
    assert_int_equal(found.findings.count[TP_RULE_ZIP_DUPLICATE], 99998);
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

static void a_deep_meta_json_costs_no_stack(void **state)
{
    (void)state;
    char *deep = tp_calloc(60001, 1);
    memset(deep, '[', 60000);
    struct archive a = archive_android();
    a.meta = deep;
    struct tp_buf bytes = archive_write(&a);
    expect(&bytes, TP_RULE_META_DEPTH);
    free(deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_cut_off_anywhere_is_an_error),
        cmocka_unit_test(an_archive_without_its_beginning_is_an_error),
        cmocka_unit_test(a_byte_changed_anywhere_is_survived),
        cmocka_unit_test(many_bytes_changed_are_survived),
        cmocka_unit_test(a_bomb_of_shared_bytes_is_named),
        cmocka_unit_test(a_bomb_that_lies_is_named),
        cmocka_unit_test(a_bomb_in_a_bomb_is_not_opened),
        cmocka_unit_test(a_hundred_thousand_entries_are_counted),
        cmocka_unit_test(a_hundred_thousand_twins_are_named),
        cmocka_unit_test(a_deep_meta_json_costs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
