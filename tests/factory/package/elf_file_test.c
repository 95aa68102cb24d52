#include "fixtures.h"

#include <errno.h>

static const struct tp_elf_symbol *symbol(const struct tp_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->n_symbols; i++) {
        if (!strcmp(elf->symbols[i].name, name))
            return &elf->symbols[i];
    }
    return NULL;
}

static bool has_section(const struct tp_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->n_sections; i++) {
        if (!strcmp(elf->sections[i].name, name))
            return true;
    }
    return false;
}

static void a_shared_object_tells_what_it_is(void **state)
{
    (void)state;
    struct tp_elf *elf = fixture_open("linux-b");
    assert_int_equal(elf->class_bits, 64);
    assert_true(elf->little_endian);
    assert_int_equal(elf->type, ET_DYN);
    assert_int_equal(elf->machine, FIXTURE_MACHINE);
    assert_string_equal(elf->soname, "libvulkan_freedreno.so");
    assert_null(elf->runpath);
    assert_null(elf->rpath);
    assert_int_equal(elf->n_needed, 1);
    assert_int_equal(strlen(elf->build_id), 40); /* SHA-1: 20 bytes */
    assert_true(elf->load_align >= 4096);
    assert_true(elf->has_section_names);
    assert_true(has_section(elf, ".note.turnpike"));
    assert_false(has_section(elf, ".debug_info"));
    assert_non_null(tp_elf_dynamic(elf, DT_STRTAB));
    assert_null(tp_elf_dynamic(elf, DT_TEXTREL));
    tp_elf_close(elf);
}

static void symbols_are_told_apart_by_direction_and_strength(void **state)
{
    (void)state;
    struct tp_elf *elf = fixture_open("linux-b");
    assert_true(tp_elf_exports(elf, "vk_icdGetInstanceProcAddr"));
    assert_false(tp_elf_exports(elf, "HMI"));
    assert_false(tp_elf_exports(elf, "fixture_needs_this"));
    const struct tp_elf_symbol *strong = symbol(elf, "fixture_needs_this");
    const struct tp_elf_symbol *weak = symbol(elf, "fixture_may_use_this");
    assert_non_null(strong);
    assert_true(strong->undefined);
    assert_false(strong->weak);
    assert_non_null(weak);
    assert_true(weak->undefined);
    assert_true(weak->weak);
    tp_elf_close(elf);
}

static void a_search_path_of_either_kind_is_seen(void **state)
{
    (void)state;
    struct tp_elf *elf = fixture_open("runpath");
    assert_string_equal(elf->runpath, "/nowhere/lib");
    assert_null(elf->rpath);
    tp_elf_close(elf);
    elf = fixture_open("rpath");
    assert_string_equal(elf->rpath, "/nowhere/lib");
    assert_null(elf->runpath);
    tp_elf_close(elf);
}

/* The real thing beside the fixtures: this test's own program needs the C library. */
static void needed_libraries_are_listed(void **state)
{
    (void)state;
    struct tp_elf *elf;
    struct tp_error e = {0};
    assert_int_equal(tp_elf_open("/proc/self/exe", &elf, &e), 0);
    bool libc = false;
    for (size_t i = 0; i < elf->n_needed; i++)
        libc = libc || !strcmp(elf->needed[i], "libc.so.6");
    assert_true(libc);
    tp_elf_close(elf);
}

static void what_is_no_elf_file_is_named_as_such(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\177ELF", "#!/bin/sh\necho a shell script\n",
                                        "!<arch>\nnot quite an archive"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tp_elf *elf = (void *)1;
        struct tp_error e = {0};
        assert_int_equal(tp_elf_open_memory(texts[i], strlen(texts[i]), "x.so", &elf, &e),
                         -EBADMSG);
        assert_null(elf);
        assert_string_equal(e.where, "x.so");
        assert_contains(e.what, "not an ELF file");
        assert_int_equal(e.status, TP_STATUS_INPUT);
    }
}

static void other_kinds_of_elf_files_are_named_before_they_are_called_damaged(void **state)
{
    (void)state;
    static const struct {
        unsigned char class, data;
        const char *what;
    } rows[] = {
        {1, 1, "32-bit"}, {1, 2, "32-bit"}, {2, 2, "big-endian"},
        {3, 1, "neither a 32-bit"}, {2, 0, "neither a little-"}, {2, 1, "cut short"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[40] = "\177ELF";
        text[4] = (char)rows[i].class;
        text[5] = (char)rows[i].data;
        struct tp_elf *elf = (void *)1;
        struct tp_error e = {0};
        assert_int_equal(tp_elf_open_memory(text, sizeof text, "x.so", &elf, &e), -EBADMSG);
        assert_null(elf);
        assert_contains(e.what, rows[i].what);
        assert_int_equal(e.status, TP_STATUS_INPUT);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct tp_elf *elf;
    struct tp_error e = {0};
    assert_int_equal(tp_elf_open("/nowhere/x.so", &elf, &e), -ENOENT);
    assert_string_equal(e.where, "/nowhere/x.so");
}

/* Reads a copy that ends exactly where its bytes end, so that the sanitizer sees one byte too far. */
static int read_copy(const char *data, size_t len, struct tp_error *e)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, data, len);
    struct tp_elf *elf;
    int r = tp_elf_open_memory(copy, len, "copy", &elf, e);
    tp_elf_close(elf);
    free(copy);
    return r;
}

static void a_file_cut_anywhere_gives_an_error(void **state)
{
    (void)state;
    struct tp_buf b = fixture_bytes("linux-b");
    /* The section headers stand at the end: every cut takes some of them. */
    for (size_t len = 0; len < b.len; len += len < 1024 ? 1 : 61) {
        struct tp_error e = {0};
        int r = read_copy(b.data, len, &e);
        assert_true(r == -EBADMSG || r == -EFBIG);
        assert_true(*e.what != 0);
    }
    struct tp_error e = {0};
    assert_int_equal(read_copy(b.data, b.len, &e), 0);
    tp_buf_finish(&b);
}

static void a_file_with_any_byte_changed_never_harms(void **state)
{
    (void)state;
    struct tp_buf b = fixture_bytes("linux-b");
    static const unsigned char values[] = {0x00, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < b.len; i += i < 1024 || i + 4096 > b.len ? 1 : 7) {
        char kept = b.data[i];
        for (size_t v = 0; v < sizeof values; v++) {
            struct tp_error e = {0};
            b.data[i] = (char)values[v];
            int r = read_copy(b.data, b.len, &e);
            assert_true(r == 0 || (r < 0 && *e.what));
        }
        b.data[i] = kept;
    }
    tp_buf_finish(&b);
}

static void noise_behind_an_elf_header_never_harms(void **state)
{
    (void)state;
    struct tp_buf b = fixture_bytes("linux-b");
    uint32_t x = 1;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 16 + (size_t)round % 48; i < b.len && i < 4096; i++) {
            x = x * 1664525 + 1013904223; /* Numerical Recipes' generator */
            b.data[i] = (char)(x >> 24);
        }
        struct tp_error e = {0};
        int r = read_copy(b.data, b.len < 4096 ? b.len : 4096, &e);
        assert_true(r == 0 || (r < 0 && *e.what));
    }
    tp_buf_finish(&b);
}

static void more_segments_than_a_driver_has_are_refused(void **state)
{
    (void)state;
    struct tp_buf b = {0};
    Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                     .e_type = ET_DYN,
                     .e_machine = EM_AARCH64,
                     .e_version = EV_CURRENT,
                     .e_phoff = sizeof eh,
                     .e_ehsize = sizeof eh,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = 1000};
    tp_buf_add(&b, &eh, sizeof eh);
    Elf64_Phdr ph = {.p_type = PT_NOTE, .p_filesz = 4096};
    for (int i = 0; i < 1000; i++)
        tp_buf_add(&b, &ph, sizeof ph);
    struct tp_error e = {0};
    assert_int_equal(read_copy(b.data, b.len, &e), -EFBIG);
    assert_contains(e.what, "has 1000 segments");
    tp_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_object_tells_what_it_is),
        cmocka_unit_test(symbols_are_told_apart_by_direction_and_strength),
        cmocka_unit_test(a_search_path_of_either_kind_is_seen),
        cmocka_unit_test(needed_libraries_are_listed),
        cmocka_unit_test(what_is_no_elf_file_is_named_as_such),
        cmocka_unit_test(other_kinds_of_elf_files_are_named_before_they_are_called_damaged),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(a_file_cut_anywhere_gives_an_error),
        cmocka_unit_test(a_file_with_any_byte_changed_never_harms),
        cmocka_unit_test(noise_behind_an_elf_header_never_harms),
        cmocka_unit_test(more_segments_than_a_driver_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
