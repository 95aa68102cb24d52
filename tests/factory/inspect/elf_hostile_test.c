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
    assert_int_equal(tp_elf_check_memory(copy, len, "x.so", &ask, &f, &facts), 0);
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
    shape.note = "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-b\", \"variant\": \"b\", "
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
        const uint64_t extremes[] = {0, 1, max / 2, max / 2 + 1, max - 1, max, file.len - 1, file.len};
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
            const uint64_t extremes[] = {0, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX,
                                         UINT64_MAX - 7, UINT32_MAX, files[k]->len};
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
    static const char *const texts[] = {"", "\177", "\177ELF", "PK\3\4 a zip in a library's place",
                                        "#!/bin/sh\necho a script of more than a header's sixty-four bytes\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(findings_of(texts[i], strlen(texts[i])), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_header_field_at_its_extremes_is_a_finding),
        cmocka_unit_test(a_file_cut_short_at_any_byte_is_a_finding),
        cmocka_unit_test(no_byte_anywhere_makes_the_reader_fall),
        cmocka_unit_test(no_word_anywhere_makes_the_reader_fall),
        cmocka_unit_test(what_is_no_elf_file_is_called_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
