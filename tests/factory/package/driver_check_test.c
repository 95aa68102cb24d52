#include "fixtures.h"

#include <errno.h>

static const struct tp_driver_claim linux_claim = {
    .system = "linux",
    .machine = FIXTURE_MACHINE,
    .variant = 'b',
    .target = "host",
    .driver_version = "WN-25.0.7-b",
    .mesa_version = "25.0.7",
};

static int check(const char *fixture, const struct tp_driver_claim *claim, struct tp_error *e)
{
    struct tp_elf *elf = fixture_open(fixture);
    int r = tp_driver_check(elf, claim, NULL, e);
    tp_elf_close(elf);
    return r;
}

static void a_sound_driver_passes_and_hands_out_its_note(void **state)
{
    (void)state;
    struct tp_elf *elf = fixture_open("linux-b");
    json_t *note;
    struct tp_error e = {0};
    assert_int_equal(tp_driver_check(elf, &linux_claim, &note, &e), 0);
    assert_string_equal(json_string_value(json_object_get(note, "driver")), "WN-25.0.7-b");
    json_decref(note);
    tp_elf_close(elf);
}

static void an_android_driver_passes_for_android(void **state)
{
    (void)state;
    struct tp_driver_claim claim = linux_claim;
    claim.system = "android";
    claim.target = "host-android";
    struct tp_error e = {0};
    assert_int_equal(check("android-b", &claim, &e), 0);
}

static void each_broken_rule_is_named_with_its_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *fixture, *what, *todo;
    } cases[] = {
        {"soname", "SONAME is \"libvulkan.so\"", "-soname"},
        {"no-soname", "no SONAME", "-soname"},
        {"runpath", "RUNPATH \"/nowhere/lib\"", "rpath"},
        {"rpath", "RPATH \"/nowhere/lib\"", "rpath"},
        {"debug", "section .debug_", "strip"},
        {"no-build-id", "no build-id", "--build-id"},
        {"android-b", "does not export vk_icdGetInstanceProcAddr", "-Dplatforms"},
        {"no-note", "no ELF note `turnpike`", "turnpike build"},
        {"two-notes", "more than once", "turnpike build"},
        {"linux-p", "variant p, and the archive that it is b", "this variant"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_error e = {0};
        assert_int_equal(check(cases[i].fixture, &linux_claim, &e), -EINVAL);
        assert_int_equal(e.status, TP_STATUS_FAILED);
        assert_contains(e.what, cases[i].what);
        assert_contains(e.todo, cases[i].todo);
        assert_contains(e.where, cases[i].fixture);
    }
}

static void a_note_that_disagrees_with_the_claim_is_refused(void **state)
{
    (void)state;
    struct tp_driver_claim claim = linux_claim;
    claim.driver_version = "WN-25.0.8-b";
    struct tp_error e = {0};
    assert_int_equal(check("linux-b", &claim, &e), -EINVAL);
    assert_contains(e.what, "its driver is \"WN-25.0.7-b\", not \"WN-25.0.8-b\"");
    claim = linux_claim;
    claim.target = "linux-arm64";
    e = (struct tp_error){0};
    assert_int_equal(check("linux-b", &claim, &e), -EINVAL);
    assert_contains(e.what, "its target is \"host\"");
    claim = linux_claim;
    claim.mesa_version = "25.1.0";
    e = (struct tp_error){0};
    assert_int_equal(check("linux-b", &claim, &e), -EINVAL);
    assert_contains(e.what, "its mesa is \"25.0.7\"");
}

static int check_changed(void (*change)(Elf64_Ehdr *), struct tp_error *e)
{
    struct tp_buf b = fixture_bytes("linux-b");
    Elf64_Ehdr eh;
    memcpy(&eh, b.data, sizeof eh);
    change(&eh);
    memcpy(b.data, &eh, sizeof eh);
    struct tp_elf *elf;
    assert_int_equal(tp_elf_open_memory(b.data, b.len, "changed.so", &elf, e), 0);
    int r = tp_driver_check(elf, &linux_claim, NULL, e);
    tp_elf_close(elf);
    tp_buf_finish(&b);
    return r;
}

static void make_riscv(Elf64_Ehdr *eh)
{
    eh->e_machine = EM_RISCV;
}

static void make_executable(Elf64_Ehdr *eh)
{
    eh->e_type = ET_EXEC;
}

static void drop_section_headers(Elf64_Ehdr *eh)
{
    eh->e_shoff = 0;
    eh->e_shnum = eh->e_shstrndx = 0;
}

static void a_wrong_machine_is_refused(void **state)
{
    (void)state;
    struct tp_error e = {0};
    assert_int_equal(check_changed(make_riscv, &e), -EINVAL);
    assert_contains(e.what, "ELF machine 243");
}

static void a_program_is_refused(void **state)
{
    (void)state;
    struct tp_error e = {0};
    assert_int_equal(check_changed(make_executable, &e), -EINVAL);
    assert_contains(e.what, "no shared object");
}

static void a_file_without_section_headers_is_refused(void **state)
{
    (void)state;
    struct tp_error e = {0};
    assert_int_equal(check_changed(drop_section_headers, &e), -EINVAL);
    assert_contains(e.what, "section names");
}

static void every_broken_rule_is_told_at_once(void **state)
{
    (void)state;
    struct tp_driver_claim claim = linux_claim;
    claim.system = "android";
    claim.variant = 'p';
    struct tp_error e = {0};
    assert_int_equal(check("soname", &claim, &e), -EINVAL);
    assert_contains(e.what, "SONAME");
    assert_contains(e.what, "HMI");
    assert_contains(e.what, "variant");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_driver_passes_and_hands_out_its_note),
        cmocka_unit_test(an_android_driver_passes_for_android),
        cmocka_unit_test(each_broken_rule_is_named_with_its_remedy),
        cmocka_unit_test(a_note_that_disagrees_with_the_claim_is_refused),
        cmocka_unit_test(a_wrong_machine_is_refused),
        cmocka_unit_test(a_program_is_refused),
        cmocka_unit_test(a_file_without_section_headers_is_refused),
        cmocka_unit_test(every_broken_rule_is_told_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
