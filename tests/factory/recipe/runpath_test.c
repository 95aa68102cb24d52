/* RUNPATH's removal, on small ELF images made here after elf(5). */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "factory/recipe/internal.h"

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Dyn dynamic[6];
};

static struct image sound(void)
{
    struct image i = {
        .header = {.e_type = ET_DYN, .e_machine = EM_AARCH64, .e_phnum = 1,
                   .e_phoff = offsetof(struct image, segment), .e_phentsize = sizeof(Elf64_Phdr)},
        .segment = {.p_type = PT_DYNAMIC, .p_offset = offsetof(struct image, dynamic),
                    .p_filesz = sizeof i.dynamic},
        .dynamic = {{DT_RUNPATH, {7}}, {DT_NEEDED, {1}}, {DT_RPATH, {9}}, {DT_SONAME, {2}}},
    };
    memcpy(i.header.e_ident, ELFMAG, SELFMAG);
    i.header.e_ident[EI_CLASS] = ELFCLASS64;
    i.header.e_ident[EI_DATA] = ELFDATA2LSB;
    return i;
}

struct fixture {
    char *dir, *path;
};

static int set_up(void **state)
{
    struct fixture *f = tp_calloc(1, sizeof *f);
    f->dir = tp_temp_dir("/tmp", NULL);
    f->path = tp_join(f->dir, "x.so");
    *state = f;
    return f->dir ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tp_remove_tree(f->dir, NULL);
    free(f->dir);
    free(f->path);
    free(f);
    return 0;
}

static int drop(struct fixture *f, const void *data, size_t len, struct tp_buf *after)
{
    assert_int_equal(tp_write_file(f->path, data, len, 0644, NULL), 0);
    struct tp_error e = {0};
    int r = tp_drop_runpath(f->path, &e);
    assert_int_equal(tp_read_file(f->path, 0, after, NULL), 0);
    return r;
}

static void both_forms_go_and_the_others_move_up(void **state)
{
    struct tp_buf after = {0};
    struct image i = sound();
    assert_int_equal(drop(*state, &i, sizeof i, &after), 0);
    assert_int_equal(after.len, sizeof i);
    memcpy(&i, after.data, sizeof i);
    assert_int_equal(i.dynamic[0].d_tag, DT_NEEDED);
    assert_int_equal(i.dynamic[1].d_tag, DT_SONAME);
    for (size_t k = 2; k < 6; k++)
        assert_int_equal(i.dynamic[k].d_tag, DT_NULL);
    tp_buf_finish(&after);
}

static void a_file_without_one_keeps_its_bytes(void **state)
{
    struct tp_buf after = {0};
    struct image i = sound();
    i.dynamic[0].d_tag = DT_HASH;
    i.dynamic[2].d_tag = DT_STRTAB;
    assert_int_equal(drop(*state, &i, sizeof i, &after), 0);
    assert_memory_equal(after.data, &i, sizeof i);
    tp_buf_finish(&after);
}

static void damaged_files_are_refused_and_kept(void **state)
{
    struct image cases[6];
    for (size_t k = 0; k < 6; k++)
        cases[k] = sound();
    cases[0].header.e_ident[0] = 'M';
    cases[1].header.e_ident[EI_CLASS] = ELFCLASS32;
    cases[2].header.e_ident[EI_DATA] = ELFDATA2MSB;
    cases[3].header.e_phoff = UINT64_MAX - 8;
    cases[4].segment.p_offset = sizeof(struct image) - 8;
    cases[5].segment.p_filesz = UINT64_MAX;
    for (size_t k = 0; k < 6; k++) {
        struct tp_buf after = {0};
        assert_int_equal(drop(*state, &cases[k], sizeof cases[k], &after), -EBADMSG);
        assert_memory_equal(after.data, &cases[k], sizeof cases[k]);
        tp_buf_finish(&after);
    }
    for (size_t len = 0; len < sizeof(Elf64_Ehdr); len += 7) {
        struct tp_buf after = {0};
        assert_int_equal(drop(*state, &cases[5], len, &after), -EBADMSG);
        tp_buf_finish(&after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_forms_go_and_the_others_move_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_without_one_keeps_its_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_files_are_refused_and_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
