/* This test's own program, which the machine's linker made, as what is read. */
#include "fixtures.h"

#include "factory/package/elf_dynamic.h"

static struct tp_elf *open_self(void)
{
    struct tp_elf *elf;
    struct tp_error e = {0};
    assert_int_equal(tp_elf_open("/proc/self/exe", &elf, &e), 0);
    return elf;
}

static void bytes_are_found_by_their_address(void **state)
{
    (void)state;
    struct tp_elf *elf = open_self();
    const GElf_Dyn *tab = tp_elf_dynamic(elf, DT_STRTAB), *size = tp_elf_dynamic(elf, DT_STRSZ);
    assert_non_null(tab);
    size_t len = 0;
    const char *strings = tp_elf_at(elf, tab->d_un.d_ptr, &len);
    assert_non_null(strings);
    assert_true(len >= size->d_un.d_val);
    assert_int_equal(strings[0], 0);
    /* A needed library's name is one of its strings. */
    assert_non_null(memmem(strings, size->d_un.d_val, "libc.so.6", 10));
    /* To the last byte of a segment, and not beyond. */
    for (size_t i = 0; i < elf->n_segments; i++) {
        const GElf_Phdr *p = &elf->segments[i];
        if (p->p_type != PT_LOAD || !p->p_filesz)
            continue;
        assert_non_null(tp_elf_at(elf, p->p_vaddr + p->p_filesz - 1, &len));
        assert_int_equal(len, 1);
    }
    assert_null(tp_elf_at(elf, UINT64_MAX, &len));
    tp_elf_close(elf);
}

static void needed_versions_are_those_of_needed_libraries(void **state)
{
    (void)state;
    struct tp_elf *elf = open_self();
    struct tp_elf_version *versions;
    size_t n = 0, of_libc = 0, libraries = 0;
    struct tp_error e = {0};
    assert_int_equal(tp_elf_versions(elf, &versions, &n, &e), 0);
    for (size_t i = 0; i < n; i++) {
        bool needed = false;
        for (size_t j = 0; j < elf->n_needed; j++)
            needed |= !strcmp(elf->needed[j], versions[i].library);
        assert_true(needed);
        libraries += !i || strcmp(versions[i].library, versions[i - 1].library) != 0;
        of_libc += !strcmp(versions[i].library, "libc.so.6");
        if (!strcmp(versions[i].library, "libc.so.6"))
            assert_true(!strncmp(versions[i].version, "GLIBC_", 6));
    }
    const GElf_Dyn *num = tp_elf_dynamic(elf, DT_VERNEEDNUM);
    assert_int_equal(libraries, num->d_un.d_val);
    assert_true(libraries >= 2); /* libc and libelf */
    assert_true(of_libc >= 1);
    free(versions);
    tp_elf_close(elf);
}

/* What a file has no table of is none. */
static void a_file_without_versions_needs_none(void **state)
{
    (void)state;
    struct tp_elf *elf = fixture_open("linux-b");
    struct tp_elf_version *versions = (void *)1;
    size_t n = 1;
    struct tp_error e = {0};
    assert_int_equal(tp_elf_versions(elf, &versions, &n, &e), 0);
    assert_null(versions);
    assert_int_equal(n, 0);
    tp_elf_close(elf);
}

static void relocations_are_told_apart_by_type(void **state)
{
    (void)state;
    struct tp_elf *elf = open_self();
#if defined(__aarch64__)
    assert_true(tp_elf_has_relocation(elf, R_AARCH64_JUMP_SLOT) ||
                tp_elf_has_relocation(elf, R_AARCH64_GLOB_DAT));
    assert_false(tp_elf_has_relocation(elf, R_AARCH64_COPY + 500));
#else
    assert_true(tp_elf_has_relocation(elf, R_X86_64_GLOB_DAT));
    assert_false(tp_elf_has_relocation(elf, R_X86_64_PC16));
#endif
    tp_elf_close(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_found_by_their_address),
        cmocka_unit_test(needed_versions_are_those_of_needed_libraries),
        cmocka_unit_test(a_file_without_versions_needs_none),
        cmocka_unit_test(relocations_are_told_apart_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
