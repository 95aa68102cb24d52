/* Files that no linker made: a finding, never a crash. Run under the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf_writer.h"
#include "factory/inspect/elf_check.h"

/* How many findings a copy has that ends exactly where its bytes end. */
static size_t findings_of(const void *data, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, data, len);
    struct tp_elf_ask ask = {.min_api = 29, .library_name = "libvulkan_freedreno.so"};
    struct tp_findings f = {0};
    struct tp_elf_facts facts = {0};
    elf_check_bytes(copy, len, "x.so", &ask, &f, &facts);
    size_t n = f.n;
    tp_findings_finish(&f);
    tp_elf_facts_finish(&facts);
    free(copy);
    return n;
}

static struct tp_buf sound(void)
{
    struct elf_shape shape = elf_android();
    shape.tls = true;
    shape.relocation = R_AARCH64_RELATIVE;
    shape.note =
        "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-b\", \"variant\": \"b\", "
        "\"target\": \"android-arm64\", \"mesa\": \"25.0.7\", \"patches\": []}";
    return elf_write(&shape);
}

/* The fields of Elf64_Ehdr but its magic and padding. */
static const struct {
    const char *name;
    size_t at, size;
} fields[] = {
    {"EI_CLASS", EI_CLASS, 1},
    {"EI_DATA", EI_DATA, 1},
    {"EI_VERSION", EI_VERSION, 1},
    {"EI_OSABI", EI_OSABI, 1},
    {"EI_ABIVERSION", EI_ABIVERSION, 1},
    {"e_type", offsetof(Elf64_Ehdr, e_type), 2},
    {"e_machine", offsetof(Elf64_Ehdr, e_machine), 2},
    {"e_version", offsetof(Elf64_Ehdr, e_version), 4},
    {"e_entry", offsetof(Elf64_Ehdr, e_entry), 8},
    {"e_phoff", offsetof(Elf64_Ehdr, e_phoff), 8},
    {"e_shoff", offsetof(Elf64_Ehdr, e_shoff), 8},
    {"e_flags", offsetof(Elf64_Ehdr, e_flags), 4},
    {"e_ehsize", offsetof(Elf64_Ehdr, e_ehsize), 2},
    {"e_phentsize", offsetof(Elf64_Ehdr, e_phentsize), 2},
    {"e_phnum", offsetof(Elf64_Ehdr, e_phnum), 2},
    {"e_shentsize", offsetof(Elf64_Ehdr, e_shentsize), 2},
    {"e_shnum", offsetof(Elf64_Ehdr, e_shnum), 2},
    {"e_shstrndx", offsetof(Elf64_Ehdr, e_shstrndx), 2},
};

static void every_header_field_at_its_extremes_is_a_finding(void **state)
{
    (void)state;
    struct tp_buf file = sound();
    assert_int_equal(findings_of(file.data, file.len), 0);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        unsigned bits = (unsigned)(8 * fields[i].size);
        const uint64_t max = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        const uint64_t extremes[] = {0,       1,   max / 2,      max / 2 + 1,
                                     max - 1, max, file.len - 1, file.len};
        for (size_t j = 0; j < sizeof extremes / sizeof *extremes; j++) {
            uint64_t was = 0, value = extremes[j] & max;
            memcpy(&was, file.data + fields[i].at, fields[i].size);
            /* An entry point within a segment is one. */
            bool within = !strcmp(fields[i].name, "e_entry") && value < file.len;
            if (value == was || within)
                continue;
            memcpy(file.data + fields[i].at, &value, fields[i].size);
            if (!findings_of(file.data, file.len))
                fail_msg("%s = %#llx: no finding", fields[i].name, (unsigned long long)value);
            memcpy(file.data + fields[i].at, &was, fields[i].size);
        }
    }
    tp_buf_finish(&file);
}

static void a_file_cut_short_at_any_byte_is_a_finding(void **state)
{
    (void)state;
    struct tp_buf file = sound();
    for (size_t len = 0; len < file.len; len++) {
        if (!findings_of(file.data, len))
            fail_msg("cut to %zu of %zu bytes: no finding", len, file.len);
    }
    tp_buf_finish(&file);
}

static void no_byte_anywhere_makes_the_reader_fall(void **state)
{
    (void)state;
    struct tp_buf file = sound();
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < file.len; i++) {
        unsigned char was = (unsigned char)file.data[i];
        for (size_t j = 0; j < sizeof values; j++) {
            file.data[i] = (char)values[j];
            findings_of(file.data, file.len);
        }
        file.data[i] = (char)was;
    }
    tp_buf_finish(&file);
}

/* Every word, aligned or not, at the ends of its range: addresses, sizes, counts and offsets. */
static void no_word_anywhere_makes_the_reader_fall(void **state)
{
    (void)state;
    struct elf_shape shape = elf_linux();
    struct tp_buf android = sound(), linux_file = elf_write(&shape);
    struct tp_buf *files[] = {&android, &linux_file};
    for (size_t k = 0; k < 2; k++) {
        for (size_t at = 0; at + 8 <= files[k]->len; at += 4) {
            const uint64_t extremes[] = {
                0,          INT64_MAX,    (uint64_t)INT64_MAX + 1, UINT64_MAX, UINT64_MAX - 7,
                UINT32_MAX, files[k]->len};
            char was[8];
            memcpy(was, files[k]->data + at, 8);
            for (size_t j = 0; j < sizeof extremes / sizeof *extremes; j++) {
                memcpy(files[k]->data + at, &extremes[j], 8);
                findings_of(files[k]->data, files[k]->len);
            }
            memcpy(files[k]->data + at, was, 8);
        }
        tp_buf_finish(files[k]);
    }
}

static void what_is_no_elf_file_is_called_so(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "\177", "\177ELF", "PK\3\4 a zip in a library's place",
        "#!/bin/sh\necho a script of more than a header's sixty-four bytes\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(findings_of(texts[i], strlen(texts[i])), 1);
}

/* The one finding's id and whether its text holds the words. */
static void expect(const struct tp_buf *file, enum tp_platform platform, const char *id,
                   const char *words)
{
    struct tp_elf_ask ask = {.platform = platform, .library_name = "libvulkan_freedreno.so"};
    struct tp_findings f = {0};
    struct tp_elf_facts facts = {0};
    elf_check_bytes(file->data, file->len, "x.so", &ask, &f, &facts);
    assert_int_equal(f.n, 1);
    assert_string_equal(tp_rule_of(f.list[0].rule)->id, id);
    if (!strstr(f.list[0].text, words))
        fail_msg("\"%s\" does not say \"%s\"", f.list[0].text, words);
    tp_findings_finish(&f);
    tp_elf_facts_finish(&facts);
}

/* The number at a place of the file becomes another, and that is told. */
static void expect_changed(size_t at, size_t size, uint64_t value, const char *id, const char *words)
{
    struct tp_buf file = sound();
    memcpy(file.data + at, &value, size);
    expect(&file, TP_PLATFORM_ANDROID, id, words);
    tp_buf_finish(&file);
}

static void what_is_wrong_with_a_header_is_told(void **state)
{
    (void)state;
    expect_changed(EI_CLASS, 1, ELFCLASS32, "elf-machine", "32-bit");
    expect_changed(EI_DATA, 1, ELFDATA2MSB, "elf-machine", "big-endian");
    expect_changed(EI_CLASS, 1, 9, "elf-header", "EI_CLASS");
    expect_changed(EI_DATA, 1, 9, "elf-header", "EI_DATA");
    expect_changed(EI_OSABI, 1, ELFOSABI_FREEBSD, "elf-header", "EI_OSABI");
    expect_changed(offsetof(Elf64_Ehdr, e_type), 2, ET_EXEC, "elf-type", "ELF type 2");
    expect_changed(offsetof(Elf64_Ehdr, e_machine), 2, EM_ARM, "elf-machine", "32-bit Arm");
    expect_changed(offsetof(Elf64_Ehdr, e_entry), 8, 1 << 20, "elf-header", "e_entry");
    expect_changed(offsetof(Elf64_Ehdr, e_phnum), 2, 0, "elf-header", "no program headers");
    expect_changed(offsetof(Elf64_Ehdr, e_shnum), 2, 0, "elf-header", "no section headers");
    expect_changed(offsetof(Elf64_Ehdr, e_shentsize), 2, 40, "elf-header", "e_shentsize");
    expect_changed(offsetof(Elf64_Ehdr, e_shstrndx), 2, 0, "elf-header", "e_shstrndx");
    expect_changed(offsetof(Elf64_Ehdr, e_shstrndx), 2, 1, "elf-header", "holds no names");
}

static void what_is_wrong_with_a_segment_is_told(void **state)
{
    (void)state;
    enum { FIRST = sizeof(Elf64_Ehdr), DYNAMIC = FIRST + 2 * sizeof(Elf64_Phdr) };
    expect_changed(FIRST + offsetof(Elf64_Phdr, p_memsz), 8, 16, "elf-damaged", "longer in the file");
    expect_changed(FIRST + offsetof(Elf64_Phdr, p_align), 8, 16385, "elf-damaged", "power of two");
    expect_changed(FIRST + offsetof(Elf64_Phdr, p_vaddr) + sizeof(Elf64_Phdr), 8, 4096 + 8,
                   "elf-damaged", "do not fit");
    /* patchelf leaves such files: older phones load them, those with larger pages do not. */
    struct tp_buf file = sound();
    Elf64_Phdr second;
    memcpy(&second, file.data + FIRST + sizeof second, sizeof second);
    tp_buf_finish(&file);
    expect_changed(FIRST + offsetof(Elf64_Phdr, p_vaddr) + sizeof(Elf64_Phdr), 8,
                   second.p_vaddr + 4096, "elf-page-size", "fit 4 KiB alone");
    expect_changed(FIRST + offsetof(Elf64_Phdr, p_filesz) + sizeof(Elf64_Phdr), 8, 1 << 20,
                   "elf-damaged", "outside of the file");
    expect_changed(DYNAMIC, 4, PT_NULL, "elf-damaged", "no dynamic section");
    expect_changed(DYNAMIC + offsetof(Elf64_Phdr, p_offset), 8, UINT64_MAX, "elf-damaged",
                   "the dynamic section");
}

static void a_lying_table_of_versions_is_told(void **state)
{
    (void)state;
    struct elf_shape shape = elf_linux();
    struct tp_buf file = elf_write(&shape);
    const Elf64_Verneed need = {.vn_version = VER_NEED_CURRENT, .vn_cnt = 3};
    char *at = memmem(file.data, file.len, &need, 4);
    assert_non_null(at);
    uint32_t far = 0xffffff00;
    memcpy(at + offsetof(Elf64_Verneed, vn_file), &far, 4);
    expect(&file, TP_PLATFORM_LINUX, "elf-damaged", "needed versions names a library");
    tp_buf_finish(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_header_field_at_its_extremes_is_a_finding),
        cmocka_unit_test(a_file_cut_short_at_any_byte_is_a_finding),
        cmocka_unit_test(no_byte_anywhere_makes_the_reader_fall),
        cmocka_unit_test(no_word_anywhere_makes_the_reader_fall),
        cmocka_unit_test(what_is_no_elf_file_is_called_so),
        cmocka_unit_test(what_is_wrong_with_a_header_is_told),
        cmocka_unit_test(what_is_wrong_with_a_segment_is_told),
        cmocka_unit_test(a_lying_table_of_versions_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
