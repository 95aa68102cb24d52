/* Sound archives break no rule; each rule of an archive broken alone is named, and no other is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "archive_writer.h"
#include "factory/inspect/inspect.h"
#include "factory/inspect/zip_internal.h"

static void print_all(const struct tp_findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        print_error("  %s %s, %s: %s\n", tp_severity_name(f->list[i].severity),
                    tp_rule_of(f->list[i].rule)->id, f->list[i].where, f->list[i].text);
}

static void inspect(struct archive *a, int api, struct tp_buf *bytes, struct tp_inspection *found)
{
    *bytes = archive_write(a);
    *found = (struct tp_inspection){0};
    tp_inspect_memory(bytes->data, bytes->len, a->file_name, api, found);
}

/* One rule, however many findings of it, with these words; every other rule is kept. Says what else
 * it is. */
static bool is_alone(const char *name, struct archive *a, int api, enum tp_rule_id rule,
                     const char *words)
{
    struct tp_buf bytes;
    struct tp_inspection found;
    inspect(a, api, &bytes, &found);
    bool alone = found.findings.n > 0, said = false;
    for (size_t i = 0; i < found.findings.n; i++) {
        alone = alone && found.findings.list[i].rule == rule;
        said = said || strstr(found.findings.list[i].text, words);
    }
    if (!alone || !said) {
        print_error("%s: not %s alone, saying \"%s\"\n", name, tp_rule_of(rule)->id, words);
        print_all(&found.findings);
    }
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
    return alone && said;
}

static void expect_sound(const char *name, struct archive *a, enum tp_kind kind)
{
    struct tp_buf bytes;
    struct tp_inspection found;
    inspect(a, 0, &bytes, &found);
    print_all(&found.findings);
    if (found.findings.n)
        fail_msg("%s: %zu findings, not none", name, found.findings.n);
    assert_int_equal(found.contents.kind, kind);
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

static void sound_archives_break_no_rule(void **state)
{
    (void)state;
    struct archive a = archive_android();
    expect_sound("Android", &a, TP_KIND_ANDROID);
    a = archive_android();
    a.entries[0].deflated = a.entries[0].described = true;
    a.entries[1].deflated = true;
    a.ending.comment = "a comment does no harm";
    expect_sound("Android, with data descriptors and a comment", &a, TP_KIND_ANDROID);
    /* A comment that looks like an end, but leads to no directory. */
    char comment[322];
    memset(comment, 'c', sizeof comment - 1);
    comment[sizeof comment - 1] = 0;
    memcpy(comment, "PK\5\6AAAAAAAAAAAAAAAA\1\1", 22);
    a = archive_android();
    a.ending.comment = comment;
    expect_sound("Android, with an end in its comment", &a, TP_KIND_ANDROID);
    a = archive_linux();
    expect_sound("Linux", &a, TP_KIND_LINUX);
    a = archive_qualcomm();
    expect_sound("Qualcomm's", &a, TP_KIND_QUALCOMM);
}

struct fault {
    const char *name;
    void (*make)(struct archive *a);
    enum tp_rule_id rule;
    const char *words;
};

/* The archive: names and kinds of entries. */
static void parent_path(struct archive *a) { archive_add(a, "../hosts", "x"); }
static void absolute_path(struct archive *a) { archive_add(a, "/data/x", "x"); }
static void backslash_path(struct archive *a) { archive_add(a, "lib\\x", "x"); }
static void drive_path(struct archive *a) { archive_add(a, "C:x", "x"); }
static void link_entry(struct archive *a) { archive_add(a, "l", "meta.json")->mode = S_IFLNK | 0777; }
static void pipe_entry(struct archive *a) { archive_add(a, "p", "")->mode = S_IFIFO | 0666; }
static void folder_entry(struct archive *a) { archive_add(a, "doc/README", "x"); }
static void own_folder(struct archive *a)
{
    a->entries[0].name = "Turnip/meta.json";
    a->entries[1].name = "Turnip/libvulkan_freedreno.so";
}
static void dotted_name(struct archive *a) { archive_add(a, ".DS_Store", "x"); }
static void long_name(struct archive *a)
{
    static char name[182];
    memset(name, 'n', 181);
    archive_add(a, name, "x");
}
static void control_name(struct archive *a) { archive_add(a, "a\nb", "x"); }
static void nul_name(struct archive *a) { archive_add(a, "a\0b", "x")->name_len = 3; }
static void foreign_name(struct archive *a) { archive_add(a, "\xfcnicode", "x"); }
static void twice(struct archive *a)
{
    archive_add(a, "README", "x");
    archive_add(a, "README", "y");
}
static void case_twice(struct archive *a)
{
    archive_add(a, "README", "x");
    archive_add(a, "readme", "x");
}
static void too_many(struct archive *a)
{
    static char names[31][8];
    for (int i = 0; i < 31; i++) {
        snprintf(names[i], sizeof names[i], "f%d", i);
        archive_add(a, names[i], "x");
    }
}
static void encrypted(struct archive *a) { archive_add(a, "secret", "x")->flags = 1; }
static void other_method(struct archive *a) { archive_add(a, "z", "x")->method = 93; }

/* The archive: its bytes. */
static void split(struct archive *a) { a->ending.disk = 1; }
static void prefixed(struct archive *a) { a->entries[0].gap = "#!/bin/sh\n"; }
static void gap(struct archive *a) { a->entries[1].gap = "left over"; }
static void trailing(struct archive *a) { a->ending.trailing = "and more"; }
static void overlapping(struct archive *a)
{
    archive_add(a, "README", "x");
    archive_add(a, "README", "x")->same_place = true;
    a->entries[3].name = "READ2";
    a->entries[2].local_name = a->entries[3].local_name = NULL;
}
static void local_name(struct archive *a) { archive_add(a, "README", "x")->local_name = "LIESME"; }
static void stored_described(struct archive *a) { archive_add(a, "README", "x")->described = true; }
static void wide(struct archive *a) { a->ending.wide = true; }
static void size_lies(struct archive *a)
{
    struct zip_shape *e = archive_add(a, "README", "as long as this");
    e->deflated = true;
    e->size_lie = -3;
}
static void size_lies_up(struct archive *a)
{
    struct zip_shape *e = archive_add(a, "README", "as long as this");
    e->deflated = true;
    e->size_lie = 1000;
}
static void packed_lies(struct archive *a) { archive_add(a, "README", "x")->packed_lie = 1 << 30; }
static void bad_checksum(struct archive *a) { archive_add(a, "README", "x")->crc_lie = 1; }
static void bad_driver_checksum(struct archive *a) { a->entries[1].crc_lie = 1; }
static void bomb(struct archive *a) { archive_add_zeros(a, "zeros", (size_t)200 << 20); }

/* meta.json: another value for a key. */
#define META(name, key, value)                                                                     \
    static void name(struct archive *a)                                                            \
    {                                                                                              \
        a->meta = archive_meta_with(key, value);                                                   \
    }
static void no_meta(struct archive *a) { archive_remove(a, 0); }
static void other_json(struct archive *a) { archive_add(a, "icd.json", "{}"); }
static void other_json_first(struct archive *a)
{
    archive_add(a, "a.json.txt", "{}");
    archive_swap(a, 0, 2);
}
META(meta_large, "\"description\"", archive_long_text())
static void meta_bom(struct archive *a) { a->meta = "\xef\xbb\xbf" ARCHIVE_META; }
static void meta_nul(struct archive *a) { a->meta_len = sizeof ARCHIVE_META; }
META(meta_latin, "\"author\"", "\"M\xfcller\"")
META(meta_comma, "\"libraryName\"", "\"libvulkan_freedreno.so\",")
static void meta_list(struct archive *a) { a->meta = "[1]"; }
META(meta_twice, "\"author\"", "\"a\", \"author\": \"b\"")
static void meta_deep(struct archive *a) { a->meta = "{\"a\":[[[[[[[[[[]]]]]]]]]]}"; }
META(meta_no_author, "\"author\"", NULL)
META(meta_no_name, "\"name\"", NULL)
META(meta_unknown, "\"author\"", "\"a\", \"homepage\": \"x\"")
META(meta_type, "\"packageVersion\"", "1")
META(meta_type_api, "\"minApi\"", "\"29\"")
META(meta_schema, "\"schemaVersion\"", "2")
META(meta_slash_name, "\"name\"", "\"Turnip 25/7\"")
META(meta_system_name, "\"name\"", "\"system\"")
META(meta_slash_package, "\"packageVersion\"", "\"1/2\"")
META(meta_api, "\"minApi\"", "40")
META(meta_vendor, "\"vendor\"", "\"Me\"")
META(meta_version, "\"driverVersion\"", "\"Vulkan 1.3\"")
META(meta_huge_api, "\"minApi\"", "99999999999999999999")
META(meta_nul_escape, "\"description\"", "\"a\\u0000b\"")
META(meta_half_pair, "\"description\"", "\"\\ud83d\\ud83d\\ude00\"")
META(meta_bad_escape, "\"description\"", "\"\\u+000\"")
META(library_name, "\"libraryName\"", "\"vulkan.turnip.so\"")
META(library_path, "\"libraryName\"", "\"./libvulkan_freedreno.so\"")
META(library_ending, "\"libraryName\"", "\"libvulkan_freedreno\"")

/* What the file is. */
static void no_driver(struct archive *a) { archive_remove(a, 1); }
static void module(struct archive *a)
{
    a->entries[0].name = "module.prop";
    a->entries[1].name = "system/vendor/lib64/hw/vulkan.adreno.so";
}
static void nested(struct archive *a)
{
    a->entries[0].name = "Turnip.zip";
    archive_remove(a, 1);
}

/* The driver. */
static void elf_page(struct archive *a) { a->elf.align = 4096; }
static void elf_soname(struct archive *a) { a->elf.soname = "vulkan.adreno.so"; }
static void elf_machine(struct archive *a) { a->elf.machine = EM_X86_64; }
static void elf_needed_path(struct archive *a) { a->elf.needed[8] = "/vendor/lib64/libsync.so"; }
static void elf_no_entry(struct archive *a) { a->elf.symbols[0].name = "HMJ"; }
static void elf_search_path(struct archive *a) { a->elf.runpath = "/home/me/lib"; }
static void elf_glibc(struct archive *a) { a->elf = elf_linux(); }
static void elf_tls(struct archive *a)
{
    a->elf.tls = true;
    a->meta = archive_meta_with("\"minApi\"", "28");
}
static void elf_api(struct archive *a)
{
    a->elf.symbols[7] = (struct elf_symbol){"call_once", true, false};
}
static void elf_debug(struct archive *a) { a->elf.debug = true; }
static void elf_build_id(struct archive *a) { a->elf.no_build_id = true; }

static const struct fault faults[] = {
    {"..", parent_path, TP_RULE_ZIP_PATH, "leads out"},
    {"absolute", absolute_path, TP_RULE_ZIP_PATH, "absolute"},
    {"backslash", backslash_path, TP_RULE_ZIP_PATH, "backslash"},
    {"drive", drive_path, TP_RULE_ZIP_PATH, "drive"},
    {"link", link_entry, TP_RULE_ZIP_LINK, "symbolic link"},
    {"pipe", pipe_entry, TP_RULE_ZIP_LINK, "pipe"},
    {"folder", folder_entry, TP_RULE_ZIP_FOLDER, "in a folder"},
    {"packed with its folder", own_folder, TP_RULE_ZIP_FOLDER, "in a folder"},
    {"dot", dotted_name, TP_RULE_ZIP_NAME, "dot"},
    {"long name", long_name, TP_RULE_ZIP_NAME, "180"},
    {"control character", control_name, TP_RULE_ZIP_NAME, "control"},
    {"NUL in a name", nul_name, TP_RULE_ZIP_NAME, "control"},
    {"Latin-1 name", foreign_name, TP_RULE_ZIP_NAME, "UTF-8"},
    {"twice", twice, TP_RULE_ZIP_DUPLICATE, "twice"},
    {"two cases", case_twice, TP_RULE_ZIP_CASE, "case"},
    {"33 entries", too_many, TP_RULE_ZIP_TOO_MANY, "33 entries"},
    {"encrypted", encrypted, TP_RULE_ZIP_ENCRYPTED, "encrypted"},
    {"Zstandard", other_method, TP_RULE_ZIP_METHOD, "93"},
    {"split", split, TP_RULE_ZIP_SPLIT, "several files"},
    {"prefix", prefixed, TP_RULE_ZIP_PREFIX, "10 bytes"},
    {"gap", gap, TP_RULE_ZIP_GAP, "9 bytes"},
    {"trailing", trailing, TP_RULE_ZIP_TRAILING, "follow its end"},
    {"local name", local_name, TP_RULE_ZIP_LOCAL_DIFFERS, "another name"},
    {"stored, described", stored_described, TP_RULE_ZIP_STORED_DESCRIPTOR, "ZipInputStream"},
    {"zip64", wide, TP_RULE_ZIP_ZIP64, "zip64"},
    {"size lies", size_lies, TP_RULE_ZIP_SIZE_LIES, "has 12 bytes, and has 15"},
    {"size lies up", size_lies_up, TP_RULE_ZIP_SIZE_LIES, "has 1015 bytes, and has 15"},
    {"packed size lies", packed_lies, TP_RULE_ZIP_SIZE_LIES, "more packed bytes"},
    {"checksum", bad_checksum, TP_RULE_ZIP_CRC, "checksum"},
    {"the driver's checksum", bad_driver_checksum, TP_RULE_ZIP_CRC, "checksum"},
    {"bomb", bomb, TP_RULE_ZIP_BOMB, "200 MiB"},
    {"no meta.json", no_meta, TP_RULE_META_MISSING, "no meta.json"},
    {"other json behind", other_json, TP_RULE_META_OTHER_JSON, "behind"},
    {"other json in front", other_json_first, TP_RULE_META_OTHER_JSON, "in front"},
    {"large", meta_large, TP_RULE_META_SIZE, "bytes"},
    {"BOM", meta_bom, TP_RULE_META_ENCODING, "byte order mark"},
    {"NUL", meta_nul, TP_RULE_META_ENCODING, "NUL"},
    {"Latin-1", meta_latin, TP_RULE_META_ENCODING, "UTF-8"},
    {"a comma too many", meta_comma, TP_RULE_META_SYNTAX, "line 11"},
    {"a list", meta_list, TP_RULE_META_SYNTAX, "no object"},
    {"key twice", meta_twice, TP_RULE_META_DUPLICATE, "author"},
    {"deep", meta_deep, TP_RULE_META_DEPTH, "11 deep"},
    {"no author", meta_no_author, TP_RULE_META_KEY_MISSING, "no author"},
    {"no name", meta_no_name, TP_RULE_META_KEY_MISSING, "no name"},
    {"unknown key", meta_unknown, TP_RULE_META_KEY_UNKNOWN, "homepage"},
    {"a number for a text", meta_type, TP_RULE_META_TYPE, "packageVersion"},
    {"a text for a number", meta_type_api, TP_RULE_META_TYPE, "minApi"},
    {"schema", meta_schema, TP_RULE_META_SCHEMA, "is 2"},
    {"slash in the name", meta_slash_name, TP_RULE_META_NAME, "slash"},
    {"System", meta_system_name, TP_RULE_META_NAME, "phone's own"},
    {"slash in packageVersion", meta_slash_package, TP_RULE_META_NAME, "Strato"},
    {"minApi 40", meta_api, TP_RULE_META_API, "40"},
    {"a minApi of 20 digits", meta_huge_api, TP_RULE_META_API, "larger than"},
    {"an escaped NUL", meta_nul_escape, TP_RULE_META_SYNTAX, "\\u0000"},
    {"half a pair", meta_half_pair, TP_RULE_META_SYNTAX, "\\ud83d"},
    {"no escape at all", meta_bad_escape, TP_RULE_META_SYNTAX, "line 4"},
    {"vendor", meta_vendor, TP_RULE_META_ADPKG, "\"Me\""},
    {"driverVersion", meta_version, TP_RULE_META_ADPKG, "Vulkan 1.3"},
    {"libraryName", library_name, TP_RULE_LIBRARY_NAME, "not in the archive"},
    {"libraryName with a path", library_path, TP_RULE_LIBRARY_NAME, "a path"},
    {"libraryName without .so", library_ending, TP_RULE_LIBRARY_NAME, "end in .so"},
    {"no driver", no_driver, TP_RULE_KIND_NO_DRIVER, "no .so"},
    {"module", module, TP_RULE_KIND_MODULE, "Magisk"},
    {"nested", nested, TP_RULE_KIND_NESTED, "other archives"},
    {"4 KiB pages", elf_page, TP_RULE_ELF_PAGE_SIZE, "4"},
    {"SONAME", elf_soname, TP_RULE_ELF_SONAME, "vulkan.adreno.so"},
    {"x86-64", elf_machine, TP_RULE_ELF_MACHINE, "x86-64"},
    {"needed by path", elf_needed_path, TP_RULE_ELF_NEEDED_PATH, "/vendor/lib64"},
    {"no HMI", elf_no_entry, TP_RULE_ELF_EXPORTS, "HMI"},
    {"RUNPATH", elf_search_path, TP_RULE_ELF_SEARCH_PATH, "/home/me/lib"},
    {"glibc for Android", elf_glibc, TP_RULE_ELF_LIBC, "libc.so.6"},
    {"TLS at 28", elf_tls, TP_RULE_ELF_TLS, "28"},
    {"call_once at 29", elf_api, TP_RULE_ELF_API, "call_once"},
    {"debug information", elf_debug, TP_RULE_ELF_DEBUG, "debug"},
    {"no build-id", elf_build_id, TP_RULE_ELF_BUILD_ID, "build-id"},
};

static void each_rule_broken_alone_is_named_alone(void **state)
{
    (void)state;
    int other = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct archive a = archive_android();
        faults[i].make(&a);
        other += !is_alone(faults[i].name, &a, 0, faults[i].rule, faults[i].words);
    }
    assert_int_equal(other, 0);
}

/* What may be unpacked is used up by each entry's bytes, packed and unpacked, a single time. */
static void every_entry_is_unpacked_once(void **state)
{
    (void)state;
    struct archive archives[] = {archive_android(), archive_linux(), archive_qualcomm(),
                                 archive_android()};
    bad_driver_checksum(&archives[3]);
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        struct tp_buf bytes;
        struct tp_inspection found;
        uint64_t sum = 0;
        archive_add_zeros(&archives[i], "NOTES", 100000);
        inspect(&archives[i], 0, &bytes, &found);
        for (size_t k = 0; k < found.zip->n; k++)
            sum += found.zip->entries[k].packed_bytes + found.zip->entries[k].size_bytes;
        assert_true(sum > 100000);
        assert_int_equal(ZIP_WORK_BYTES - found.zip->work_bytes, sum);
        assert_int_equal(found.findings.n, i == 3);
        tp_inspection_finish(&found);
        tp_buf_finish(&bytes);
    }
}

static void two_entries_of_the_same_bytes_overlap(void **state)
{
    (void)state;
    struct archive a = archive_android();
    overlapping(&a);
    struct tp_buf bytes;
    struct tp_inspection found;
    inspect(&a, 0, &bytes, &found);
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_OVERLAP));
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

/* A comment that holds a whole empty zip: which end counts? */
static void two_ends_are_named(void **state)
{
    (void)state;
    static const char empty[22] = "PK\5\6";
    struct archive a = archive_android();
    struct tp_buf bytes = archive_write(&a);
    bytes.data[bytes.len - 2] = 22;
    tp_buf_add(&bytes, empty, sizeof empty);
    struct tp_inspection found = {0};
    tp_inspect_memory(bytes.data, bytes.len, "a.zip", 0, &found);
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_TWO_ENDS));
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

/* Its end is another one only where readers could take it for the outer one's. */
static void a_zip_in_a_zip_has_an_end_of_its_own(void **state)
{
    (void)state;
    struct archive a = archive_android(), outer = archive_android();
    struct tp_buf inner = archive_write(&a), bytes;
    nested(&outer);
    outer.entries[0].data = inner.data;
    outer.entries[0].len = inner.len;
    struct tp_inspection found;
    inspect(&outer, 0, &bytes, &found);
    print_all(&found.findings);
    assert_int_equal(found.findings.n, 1);
    assert_true(tp_findings_has(&found.findings, TP_RULE_KIND_NESTED));
    tp_inspection_finish(&found);
    char *end = memmem(bytes.data, bytes.len, "PK\5\6", 4);
    size_t comment = bytes.len - (size_t)(end - bytes.data) - ZIP_END_BYTES;
    end[20] = (char)comment;
    end[21] = (char)(comment >> 8);
    found = (struct tp_inspection){0};
    tp_inspect_memory(bytes.data, bytes.len, "a.zip", 0, &found);
    assert_true(tp_findings_has(&found.findings, TP_RULE_ZIP_TWO_ENDS));
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
    tp_buf_finish(&inner);
}

static void linux_archives_are_held_against_their_own_rules(void **state)
{
    (void)state;
    struct archive a = archive_linux();
    a.meta = archive_linux_meta("\"librarySha256\"", "\"00\"");
    assert_true(is_alone("sum", &a, 0, TP_RULE_LIBRARY_HASH, "the sum 00"));
    a = archive_linux();
    a.meta = archive_linux_meta("\"platform\"", "\"windows\"");
    assert_true(is_alone("platform", &a, 0, TP_RULE_META_PLATFORM, "windows"));
    a = archive_linux();
    a.elf = elf_android();
    a.elf.note = ARCHIVE_LINUX_NOTE;
    assert_true(is_alone("Android's driver", &a, 0, TP_RULE_META_PLATFORM, "Android's C library"));
    a = archive_linux();
    a.elf.note = NULL;
    assert_true(is_alone("no note", &a, 0, TP_RULE_ELF_NOTE, "note"));
    a = archive_linux();
    a.file_name = "WN-Linux-Turnip-25.0.7_Axxx.zip";
    assert_true(is_alone("file name", &a, 0, TP_RULE_ASSET_NAME, "25.0.7_Axxx"));
    a = archive_linux();
    a.file_name = "WN-Linux-Turnip-25.0.7-p_Axxx.zip";
    assert_true(is_alone("variant in the name", &a, 0, TP_RULE_ASSET_VARIANT, "25.0.7-p"));
    a = archive_linux();
    a.elf.note = ARCHIVE_NOTE("p");
    assert_true(is_alone("variant in the driver", &a, 0, TP_RULE_ELF_VARIANT, "variant p"));
}

static void a_phone_s_level_is_held_against_min_api(void **state)
{
    (void)state;
    struct archive a = archive_android();
    assert_true(is_alone("Android 9", &a, 28, TP_RULE_META_API, "Android 9"));
    a = archive_android();
    elf_api(&a);
    assert_true(is_alone("Android 10", &a, 29, TP_RULE_ELF_API, "and the phone has API 29: on"));
}

static void second_meta(struct archive *a) { archive_add(a, "doc/meta.json", "{}"); }
static void driver_in_folder(struct archive *a)
{
    a->entries[1].name = "lib/libvulkan_freedreno.so";
}

static void what_is_said_of_a_folder_is_for_this_archive(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct archive *a);
        const char *fix;
        bool needed; /* apps need what lies in it */
    } cases[] = {
        {folder_entry, "meta.json LIBRARY.so", false},
        {second_meta, "meta.json LIBRARY.so", false},
        {driver_in_folder, "meta.json LIBRARY.so", true},
        {own_folder, "FOLDER/*", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive a = archive_android();
        struct tp_buf bytes;
        struct tp_inspection found;
        cases[i].make(&a);
        inspect(&a, 0, &bytes, &found);
        assert_int_equal(found.findings.list[0].rule, TP_RULE_ZIP_FOLDER);
        assert_non_null(strstr(found.findings.list[0].fix, cases[i].fix));
        const char *look = strstr(found.findings.list[0].text, "most apps do not look for it");
        assert_int_equal(look != NULL, cases[i].needed);
        tp_inspection_finish(&found);
        tp_buf_finish(&bytes);
    }
}

static void libraries_for_two_platforms_are_named(void **state)
{
    (void)state;
    struct archive a = archive_qualcomm();
    struct elf_shape other = elf_linux();
    struct tp_buf bytes = elf_write(&other);
    struct zip_shape *e = archive_add(&a, "libother.so", "");
    e->data = bytes.data;
    e->len = bytes.len;
    assert_true(is_alone("glibc beside bionic", &a, 0, TP_RULE_LIBRARY_PLATFORMS, "for Linux"));
    tp_buf_finish(&bytes);
}

static void a_library_that_is_not_looked_into_is_told(void **state)
{
    (void)state;
    struct archive a = archive_android();
    archive_add_zeros(&a, "libother.so", (size_t)97 << 20);
    assert_true(is_alone("97 MiB", &a, 0, TP_RULE_FILE_TOO_LARGE, "97 MiB"));
}

static void other_files_are_told_by_what_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len;
        const char *words;
    } files[] = {
        {"", 0, "empty"},
        {"7z\xbc\xaf\x27\x1c..", 8, "7z"},
        {"Rar!\x1a\x07", 6, "RAR"},
        {"\n<!DOCTYPE html>", 16, "web page"},
        {"\x1f\x8b\x08", 3, "gzip"},
        {"\x28\xb5\x2f\xfd", 4, "Zstandard"},
        {"PK\7\x08PK\3\4", 8, "a zip in several files"},
        {"\x89PNG\r\n\x1a\n\0\0", 10, "a picture (PNG)"},
        {"hello", 5, "no known kind"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct tp_inspection found = {0};
        tp_inspect_memory(files[i].bytes, files[i].len, "x.zip", 0, &found);
        assert_int_equal(found.findings.n, 1);
        assert_int_equal(found.findings.list[0].rule, TP_RULE_KIND_UNKNOWN);
        if (!strstr(found.findings.list[0].text, files[i].words))
            fail_msg("\"%s\" does not say \"%s\"", found.findings.list[0].text, files[i].words);
        tp_inspection_finish(&found);
    }
}

static void a_library_alone_is_inspected_too(void **state)
{
    (void)state;
    struct elf_shape shape = elf_android();
    shape.align = 4096;
    struct tp_buf bytes = elf_write(&shape);
    struct tp_inspection found = {0};
    tp_inspect_memory(bytes.data, bytes.len, "x.so", 0, &found);
    assert_int_equal(found.contents.kind, TP_KIND_DRIVER);
    assert_true(tp_findings_has(&found.findings, TP_RULE_KIND_BARE));
    assert_true(tp_findings_has(&found.findings, TP_RULE_ELF_PAGE_SIZE));
    assert_int_equal(found.findings.n, 2);
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

static void a_library_alone_is_for_phones_on_linux_too(void **state)
{
    (void)state;
    struct elf_shape shape = elf_linux();
    shape.machine = EM_X86_64;
    struct tp_buf bytes = elf_write(&shape);
    struct tp_inspection found = {0};
    tp_inspect_memory(bytes.data, bytes.len, "libvulkan_radeon.so", 0, &found);
    assert_true(tp_findings_has(&found.findings, TP_RULE_KIND_BARE));
    assert_true(tp_findings_has(&found.findings, TP_RULE_ELF_MACHINE));
    assert_int_equal(found.findings.n, 2);
    tp_inspection_finish(&found);
    tp_buf_finish(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_archives_break_no_rule),
        cmocka_unit_test(each_rule_broken_alone_is_named_alone),
        cmocka_unit_test(every_entry_is_unpacked_once),
        cmocka_unit_test(two_entries_of_the_same_bytes_overlap),
        cmocka_unit_test(two_ends_are_named),
        cmocka_unit_test(a_zip_in_a_zip_has_an_end_of_its_own),
        cmocka_unit_test(linux_archives_are_held_against_their_own_rules),
        cmocka_unit_test(a_phone_s_level_is_held_against_min_api),
        cmocka_unit_test(what_is_said_of_a_folder_is_for_this_archive),
        cmocka_unit_test(libraries_for_two_platforms_are_named),
        cmocka_unit_test(a_library_that_is_not_looked_into_is_told),
        cmocka_unit_test(other_files_are_told_by_what_they_are),
        cmocka_unit_test(a_library_alone_is_inspected_too),
        cmocka_unit_test(a_library_alone_is_for_phones_on_linux_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
