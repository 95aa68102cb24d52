/* Where a phone's C library is looked for, and what is refused. */
#include "../../base/support.h"

#include <elf.h>
#include <errno.h>
#include <unistd.h>

#include "factory/prove/bionic_root.h"

/* The least that counts: an arm64 library with one segment, of its whole file. */
struct library {
    Elf64_Ehdr head;
    Elf64_Phdr load;
};

static struct library library(void)
{
    struct library l = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                 .e_type = ET_DYN,
                 .e_machine = EM_AARCH64,
                 .e_version = EV_CURRENT,
                 .e_phoff = sizeof(Elf64_Ehdr),
                 .e_ehsize = sizeof(Elf64_Ehdr),
                 .e_phentsize = sizeof(Elf64_Phdr),
                 .e_phnum = 1,
                 .e_shentsize = sizeof(Elf64_Shdr)},
        .load = {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = sizeof(struct library),
                 .p_memsz = sizeof(struct library), .p_align = 4096},
    };
    return l;
}

static void put(const char *dir, const char *place, const struct library *l)
{
    char *path = tp_join(dir, place);
    assert_int_equal(tp_mkdirs_for(path, NULL), 0);
    assert_int_equal(tp_write_file(path, l, sizeof *l, 0755, NULL), 0);
    free(path);
}

static void fill(const char *dir, const char *const places[5])
{
    struct library good = library();
    for (int i = 0; i < 5; i++)
        put(dir, places[i], &good);
}

static void assert_link(const char *root, const char *place, const char *dir, const char *to)
{
    char *path = tp_join(root, place), *wanted = tp_join(dir, to), *real = realpath(path, NULL);
    char *wanted_real = realpath(wanted, NULL);
    assert_non_null(real);
    assert_string_equal(real, wanted_real);
    free(wanted_real);
    free(real);
    free(wanted);
    free(path);
}

static const char *const flat[] = {"linker64", "libc.so", "libm.so", "libdl.so", "libz.so"};

static void files_beside_each_other_become_a_root(void **state)
{
    struct tp_error e = {0};
    char *root = tp_join(*state, "merged");
    fill(*state, flat);
    assert_int_equal(tp_bionic_root_check(*state, &e), 0);
    assert_int_equal(tp_bionic_root_merge(*state, root, &e), 0);
    assert_link(root, "system/bin/linker64", *state, "linker64");
    assert_link(root, "system/lib64/libc.so", *state, "libc.so");
    assert_link(root, "system/lib64/libz.so", *state, "libz.so");
    free(root);
}

static void a_phone_with_android_9_has_all_in_system(void **state)
{
    static const char *const places[] = {"system/bin/linker64", "system/lib64/libc.so",
                                         "system/lib64/libm.so", "system/lib64/libdl.so",
                                         "system/lib64/libz.so"};
    struct tp_error e = {0};
    fill(*state, places);
    assert_int_equal(tp_bionic_root_check(*state, &e), 0);
}

/* On the phone /system/lib64/libc.so is a link into the package, which dangles in a copy. */
static void the_package_of_android_10_goes_before_links_to_it(void **state)
{
    static const char *const places[] = {
        "apex/com.android.runtime/bin/linker64", "apex/com.android.runtime/lib64/bionic/libc.so",
        "apex/com.android.runtime/lib64/bionic/libm.so",
        "apex/com.android.runtime/lib64/bionic/libdl.so", "system/lib64/libz.so"};
    struct tp_error e = {0};
    char *root = tp_join(*state, "merged"), *link = tp_join(*state, "system/lib64/libc.so");
    fill(*state, places);
    assert_int_equal(symlink("/apex/com.android.runtime/lib64/bionic/libc.so", link), 0);
    assert_int_equal(tp_bionic_root_check(*state, &e), 0);
    assert_int_equal(tp_bionic_root_merge(*state, root, &e), 0);
    assert_link(root, "system/lib64/libc.so", *state, places[1]);
    assert_link(root, "system/bin/linker64", *state, places[0]);
    free(link);
    free(root);
}

static void each_missing_file_is_named(void **state)
{
    for (int i = 0; i < 5; i++) {
        struct tp_error e = {0};
        fill(*state, flat);
        char *path = tp_join(*state, flat[i]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(tp_bionic_root_check(*state, &e), -ENOENT);
        assert_int_equal(e.status, TP_STATUS_MISSING);
        assert_non_null(strstr(e.what, flat[i]));
        assert_non_null(strstr(e.todo, i == 4 ? "/system/lib64/libz.so" : "/apex/com.android.runtime/"));
        free(path);
    }
}

static void a_link_that_leads_nowhere_is_named(void **state)
{
    static const char *const targets[] = {"/no/such/file", "libz.so"}; /* the second: to itself */
    for (size_t i = 0; i < 2; i++) {
        struct tp_error e = {0};
        fill(*state, flat);
        char *path = tp_join(*state, "libz.so");
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(targets[i], path), 0);
        assert_int_equal(tp_bionic_root_check(*state, &e), -ENOENT);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        assert_string_equal(e.where, path);
        assert_non_null(strstr(e.what, "leads to no file"));
        assert_int_equal(unlink(path), 0);
        free(path);
    }
}

static void assert_refused(const char *dir, const struct library *l, int err, const char *what)
{
    struct tp_error e = {0};
    put(dir, "libm.so", l);
    int r = tp_bionic_root_check(dir, &e);
    assert_true(r < 0);
    if (err)
        assert_int_equal(r, err);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_non_null(strstr(e.what, what));
    assert_non_null(strstr(e.where, "libm.so"));
}

static void other_machines_and_cut_files_are_refused(void **state)
{
    fill(*state, flat);
    struct library l = library();
    l.head.e_machine = EM_X86_64;
    assert_refused(*state, &l, -EINVAL, "arm64");
    l = library();
    l.head.e_type = ET_REL;
    assert_refused(*state, &l, -EINVAL, "arm64");
    l = library();
    l.load.p_filesz += 1;
    assert_refused(*state, &l, 0, "");
    l = library();
    l.load.p_offset = UINT64_MAX - 8;
    assert_refused(*state, &l, 0, "");
    l = library();
    l.load.p_type = PT_NOTE;
    assert_refused(*state, &l, 0, "");
    memset(&l, 'x', sizeof l);
    assert_refused(*state, &l, 0, "");
}

static void a_folder_is_needed(void **state)
{
    struct tp_error e = {0};
    char *path = tp_join(*state, "none");
    assert_int_equal(tp_bionic_root_check(path, &e), -ENOTDIR);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(files_beside_each_other_become_a_root),
        in_folder(a_phone_with_android_9_has_all_in_system),
        in_folder(the_package_of_android_10_goes_before_links_to_it),
        in_folder(each_missing_file_is_named),
        in_folder(a_link_that_leads_nowhere_is_named),
        in_folder(other_machines_and_cut_files_are_refused),
        in_folder(a_folder_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
