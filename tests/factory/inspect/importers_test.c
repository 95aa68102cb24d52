/* Each importer's answers: what its public source does with an archive, case by case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive_writer.h"
#include "factory/inspect/importers.h"
#include "factory/inspect/inspect.h"

static enum tp_outcome ask(struct archive *a, const char *name, int api, char **why)
{
    struct tp_buf bytes = archive_write(a);
    struct tp_inspection found = {0};
    tp_inspect_memory(bytes.data, bytes.len, a->file_name, api, &found);
    const struct tp_importer *importer = tp_importer_find(name);
    assert_non_null(importer);
    enum tp_outcome o = tp_importer_ask(importer, &found.contents, &found.findings, api, why);
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
    return o;
}

static void sound_archives_are_taken_by_every_importer_of_their_platform(void **state)
{
    (void)state;
    for (const struct tp_importer *i = tp_importers; i->name; i++) {
        char *why;
        struct archive a = archive_android();
        if (ask(&a, i->name, 0, &why) != TP_OUTCOME_TAKES)
            fail_msg("%s: %s", i->name, why);
        free(why);
        a = archive_qualcomm();
        a.entries[1].name = "vulkan.ad0615.so";
        a.elf.soname = "vulkan.ad0615.so";
        a.meta = archive_meta_with("\"libraryName\"", "\"vulkan.ad0615.so\"");
        if (ask(&a, i->name, 0, &why) != TP_OUTCOME_TAKES)
            fail_msg("%s, Qualcomm's driver: %s", i->name, why);
        free(why);
        a = archive_linux();
        bool taken = ask(&a, i->name, 0, &why) == TP_OUTCOME_TAKES;
        if (taken != i->linux_too)
            fail_msg("%s, Linux: %s", i->name, why);
        free(why);
    }
}

static void described(struct archive *a)
{
    a->entries[0].deflated = a->entries[0].described = true;
    a->entries[1].deflated = a->entries[1].described = true;
}
static void stored_described(struct archive *a) { a->entries[0].described = true; }
static void prefixed(struct archive *a) { a->entries[0].gap = "#!/bin/sh\n"; }
static void in_folder(struct archive *a)
{
    a->entries[0].name = "Turnip/meta.json";
    a->entries[1].name = "Turnip/libvulkan_freedreno.so";
}
static void readme_in_folder(struct archive *a) { archive_add(a, "doc/README", "x"); }
static void no_meta(struct archive *a) { archive_remove(a, 0); }
static void other_json(struct archive *a)
{
    archive_add(a, "a.JSON.bak", "{}");
    archive_swap(a, 0, 2);
}
static void twice(struct archive *a)
{
    archive_add(a, "README", "x");
    archive_add(a, "README", "y");
}
static void hidden(struct archive *a) { archive_add(a, ".x", "x"); }
static void many(struct archive *a)
{
    static char names[31][4];
    for (int i = 0; i < 31; i++) {
        names[i][0] = (char)('a' + i / 10);
        names[i][1] = (char)('0' + i % 10);
        archive_add(a, names[i], "x");
    }
}
static void outside(struct archive *a) { archive_add(a, "../x", "x"); }
static void unknown_key(struct archive *a)
{
    a->meta = archive_meta_with("\"author\"", "\"a\", \"homepage\": \"x\"");
}
static void no_description(struct archive *a)
{
    a->meta = archive_meta_with("\"description\"", NULL);
}
static void no_library(struct archive *a)
{
    a->meta = archive_meta_with("\"libraryName\"", "\"\"");
}
static void other_library(struct archive *a)
{
    a->meta = archive_meta_with("\"libraryName\"", "\"libvulkan.so\"");
}
static void schema(struct archive *a) { a->meta = archive_meta_with("\"schemaVersion\"", "2"); }
static void no_name(struct archive *a) { a->meta = archive_meta_with("\"name\"", "\"\""); }
static void slash(struct archive *a) { a->meta = archive_meta_with("\"name\"", "\"a/b\""); }
static void called_tmp(struct archive *a) { a->meta = archive_meta_with("\"name\"", "\"tmp\""); }
static void called_system(struct archive *a)
{
    a->meta = archive_meta_with("\"name\"", "\"System\"");
}
static void bom(struct archive *a) { a->meta = "\xef\xbb\xbf" ARCHIVE_META; }
static void large_meta(struct archive *a)
{
    a->meta = archive_meta_with("\"description\"", archive_long_text());
}
static void no_entry_point(struct archive *a) { a->elf.symbols[0].name = "x"; }
static void unloved_name(struct archive *a)
{
    a->entries[1].name = "driver.so";
    a->elf.soname = "driver.so";
    a->meta = archive_meta_with("\"libraryName\"", "\"driver.so\"");
}
static void glibc(struct archive *a) { a->elf = elf_linux(); }
static void x86(struct archive *a) { a->elf.machine = EM_X86_64; }
static void beside_module(struct archive *a) { archive_add(a, "module.prop", "id=x\n"); }
static void meta_alone(struct archive *a) { archive_remove(a, 1); }
static void unread(struct archive *a) { archive_add_zeros(a, "libother.so", (size_t)97 << 20); }
static void unread_and_x86(struct archive *a)
{
    unread(a);
    x86(a);
}
/* As Qualcomm's, whose own libraries name the C library. */
static void no_libc(struct archive *a) { a->elf.needed[0] = "libdl.so"; }
static void escaped_surrogate(struct archive *a)
{
    a->meta = archive_meta_with("\"description\"", "\"\\ud800\"");
}
static void nothing(struct archive *a) { (void)a; }

static const struct answer {
    void (*make)(struct archive *a);
    const char *importer;
    int api;
    enum tp_outcome outcome;
    const char *words;
} answers[] = {
    /* Readers from front to back, and of the directory. */
    {described, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {described, "citra", 0, TP_OUTCOME_REFUSES, "size behind its data"},
    {described, "yuzu", 0, TP_OUTCOME_TAKES, ""},
    {stored_described, "gamenative", 0, TP_OUTCOME_NOTHING, "behind its data"},
    {stored_described, "winnative", 0, TP_OUTCOME_REFUSES, "behind its data"},
    {stored_described, "yuzu", 0, TP_OUTCOME_TAKES, ""},
    {prefixed, "winlator", 0, TP_OUTCOME_NOTHING, "in front"},
    {prefixed, "ppsspp", 0, TP_OUTCOME_TAKES, ""},
    {outside, "dolphin", 0, TP_OUTCOME_REFUSES, "out of its folder"},
    {outside, "vita3k", 0, TP_OUTCOME_TAKES, ""},
    /* Folders. */
    {in_folder, "gamenative", 0, TP_OUTCOME_NOTHING, "folder"},
    {in_folder, "winnative", 0, TP_OUTCOME_REFUSES, "may be called"},
    {in_folder, "strato", 0, TP_OUTCOME_REFUSES, "missing"},
    {in_folder, "yuzu", 0, TP_OUTCOME_SYSTEM, "no meta.json then"},
    {in_folder, "vita3k", 0, TP_OUTCOME_TAKES, ""},
    {readme_in_folder, "gamenative", 0, TP_OUTCOME_NOTHING, "folder"},
    {readme_in_folder, "dolphin", 0, TP_OUTCOME_TAKES, ""},
    {readme_in_folder, "ppsspp", 0, TP_OUTCOME_REFUSES, "folder"},
    /* meta.json. */
    {no_meta, "gamenative", 0, TP_OUTCOME_NOTHING, "no meta.json"},
    {no_meta, "micewine", 0, TP_OUTCOME_REFUSES, "no name"},
    {no_meta, "vita3k", 0, TP_OUTCOME_TAKES, ""},
    {other_json, "eden", 0, TP_OUTCOME_REFUSES, "a.JSON.bak"},
    {other_json, "winnative", 0, TP_OUTCOME_TAKES, ""},
    {unknown_key, "strato", 0, TP_OUTCOME_REFUSES, "homepage"},
    {unknown_key, "rpcsx", 0, TP_OUTCOME_REFUSES, "homepage"},
    {unknown_key, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {no_description, "dolphin", 0, TP_OUTCOME_REFUSES, "description"},
    {no_description, "yuzu", 0, TP_OUTCOME_SYSTEM, "description"},
    {no_description, "winnative", 0, TP_OUTCOME_TAKES, ""},
    {schema, "strato", 0, TP_OUTCOME_REFUSES, "schemaVersion"},
    {schema, "ppsspp", 0, TP_OUTCOME_REFUSES, "schemaVersion"},
    {schema, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {bom, "rpcsx", 0, TP_OUTCOME_REFUSES, "well-formed"},
    {bom, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {large_meta, "winnative", 0, TP_OUTCOME_REFUSES, "64 KiB"},
    {large_meta, "strato", 0, TP_OUTCOME_TAKES, ""},
    {no_name, "gamenative", 0, TP_OUTCOME_NOTHING, "no name"},
    {no_name, "ppsspp", 0, TP_OUTCOME_REFUSES, "no name"},
    {slash, "gamenative", 0, TP_OUTCOME_NOTHING, "a/b"},
    {slash, "strato", 0, TP_OUTCOME_REFUSES, "folder"},
    {called_tmp, "gamenative", 0, TP_OUTCOME_NOTHING, "tmp"},
    {called_system, "winlator", 0, TP_OUTCOME_SYSTEM, "phone's own"},
    {nothing, "strato", 28, TP_OUTCOME_REFUSES, "Android 9"},
    {nothing, "winnative", 28, TP_OUTCOME_REFUSES, "API 29"},
    {nothing, "gamenative", 29, TP_OUTCOME_TAKES, ""},
    {nothing, "strato", 0, TP_OUTCOME_TAKES, "Turnip 25.0.7-v1"},
    /* WinNative's bounds. */
    {twice, "winnative", 0, TP_OUTCOME_REFUSES, "twice"},
    {twice, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {hidden, "winnative", 0, TP_OUTCOME_REFUSES, ".x"},
    {many, "winnative", 0, TP_OUTCOME_REFUSES, "32"},
    {many, "dolphin", 0, TP_OUTCOME_TAKES, ""},
    /* The driver. */
    {no_library, "gamenative", 0, TP_OUTCOME_SYSTEM, "no libraryName"},
    {other_library, "gamenative", 0, TP_OUTCOME_SYSTEM, "libvulkan.so"},
    {other_library, "winnative", 0, TP_OUTCOME_REFUSES, "no .so in the archive"},
    {no_entry_point, "adrenotools", 0, TP_OUTCOME_SYSTEM, "elf-exports"},
    {no_entry_point, "gamenative", 0, TP_OUTCOME_SYSTEM, "elf-exports"},
    {unloved_name, "vita3k", 0, TP_OUTCOME_REFUSES, "vulkan"},
    {unloved_name, "winnative", 0, TP_OUTCOME_TAKES, ""},
    {glibc, "gamenative", 0, TP_OUTCOME_SYSTEM, "glibc"},
    {x86, "winnative", 0, TP_OUTCOME_REFUSES, "arm64"},
    {x86, "ppsspp", 0, TP_OUTCOME_SYSTEM, "processor"},
    {no_libc, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {no_libc, "winnative", 0, TP_OUTCOME_REFUSES, "libc.so.6"},
    /* A module's file beside an archive's two is nothing to apps. */
    {beside_module, "gamenative", 0, TP_OUTCOME_TAKES, ""},
    {beside_module, "strato", 0, TP_OUTCOME_TAKES, ""},
    {beside_module, "winnative", 0, TP_OUTCOME_TAKES, ""},
    {meta_alone, "gamenative", 0, TP_OUTCOME_SYSTEM, "libvulkan_freedreno.so"},
    {meta_alone, "strato", 0, TP_OUTCOME_SYSTEM, "libvulkan_freedreno.so"},
    /* What is not looked into is neither taken nor refused, but for what is seen from outside. */
    {unread, "gamenative", 0, TP_OUTCOME_UNKNOWN, "libother.so"},
    {unread, "winnative", 0, TP_OUTCOME_UNKNOWN, "too large"},
    {unread, "vita3k", 0, TP_OUTCOME_UNKNOWN, "too large"},
    {unread_and_x86, "gamenative", 0, TP_OUTCOME_SYSTEM, "processor"},
    {unread, "strato", 28, TP_OUTCOME_REFUSES, "Android 9"},
    {escaped_surrogate, "gamenative", 0, TP_OUTCOME_TAKES, ""},
};

static void each_answers_as_its_app_does(void **state)
{
    (void)state;
    int other = 0;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct archive a = archive_android();
        char *why;
        answers[i].make(&a);
        enum tp_outcome o = ask(&a, answers[i].importer, answers[i].api, &why);
        if (o != answers[i].outcome || !strstr(why, answers[i].words)) {
            print_error("%zu, %s: %s: %s\n", i, answers[i].importer, tp_outcome_name(o), why);
            other++;
        }
        free(why);
    }
    assert_int_equal(other, 0);
}

static void relatives_are_found_by_their_names(void **state)
{
    (void)state;
    assert_string_equal(tp_importer_find("eden")->name, "yuzu");
    assert_string_equal(tp_importer_find("skyline")->name, "strato");
    assert_null(tp_importer_find("yuz"));
    assert_null(tp_importer_find(""));
    assert_null(tp_importer_find("eden citron"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_archives_are_taken_by_every_importer_of_their_platform),
        cmocka_unit_test(each_answers_as_its_app_does),
        cmocka_unit_test(relatives_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
