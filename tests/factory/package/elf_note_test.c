#include "fixtures.h"

#include <errno.h>

#include "factory/package/elf_note.h"

static const char *text(const json_t *note, const char *key)
{
    return json_string_value(json_object_get(note, key));
}

static void the_note_of_a_driver_is_read(void **state)
{
    (void)state;
    char *path = fixture_path("linux-p");
    json_t *note;
    struct tp_error e = {0};
    assert_int_equal(tp_note_read(path, &note, &e), 0);
    assert_string_equal(text(note, "driver"), "WN-25.0.7-p");
    assert_string_equal(text(note, "variant"), "p");
    assert_string_equal(text(note, "target"), "host");
    assert_string_equal(text(note, "mesa"), "25.0.7");
    const json_t *patch = json_array_get(json_object_get(note, "patches"), 0);
    assert_string_equal(text(patch, "id"), "driver-label");
    assert_string_equal(text(patch, "state"), "applied");
    json_decref(note);
    free(path);
}

static int read_fixture(const char *name, struct tp_error *e)
{
    struct tp_buf b = fixture_bytes(name);
    json_t *note = (void *)1;
    int r = tp_note_read_memory(b.data, b.len, name, &note, e);
    assert_null(note);
    tp_buf_finish(&b);
    return r;
}

static void a_file_without_a_note_fails_the_check(void **state)
{
    (void)state;
    struct tp_error e = {0};
    assert_int_equal(read_fixture("no-note", &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_contains(e.todo, "turnpike build");
}

static void a_note_that_is_not_the_promised_object_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *fixture, *why;
    } cases[] = {
        {"two-notes", "more than once"}, {"note-syntax", "not JSON"},
        {"note-array", "not a JSON object"}, {"note-fields", "no string \"turnpike\""},
        {"note-schema", "schema 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_error e = {0};
        assert_int_equal(read_fixture(cases[i].fixture, &e), -EBADMSG);
        assert_contains(e.what, cases[i].why);
        assert_true(*e.todo != 0);
    }
}

/* The note of a sound driver, with one place of it written over. */
static void a_note_that_says_what_there_is_not_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *place, *instead, *why;
    } cases[] = {
        {"\"variant\": \"b\"", "\"variant\": \"q\"", "neither b nor p"},
        {"\"target\": \"host\"", "\"target\": \"hosx\"", "target"},
        {"\"target\": \"host\"", "\"target\": \"h\xffst\"", "not JSON"},
        {"\"applied\"", "\"bananas\"", "state"},
        {"\"schema\": 1", "\"schema\": 9", "schema 9"},
        {"\"patches\"", "\"petches\"", "no array"},
        {"\"turnpike\": ", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "not JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_error e = {0};
        struct tp_buf b = fixture_bytes("linux-b");
        char *at = memmem(b.data, b.len, cases[i].place, strlen(cases[i].place));
        assert_non_null(at);
        memcpy(at, cases[i].instead, strlen(cases[i].instead));
        json_t *note;
        assert_int_equal(tp_note_read_memory(b.data, b.len, "x.so", &note, &e), -EBADMSG);
        assert_null(note);
        assert_contains(e.what, cases[i].why);
        tp_buf_finish(&b);
    }
}

static void a_note_is_found_without_section_headers(void **state)
{
    (void)state;
    struct tp_buf b = fixture_bytes("linux-b");
    Elf64_Ehdr eh;
    memcpy(&eh, b.data, sizeof eh);
    eh.e_shoff = 0;
    eh.e_shnum = eh.e_shstrndx = 0;
    memcpy(b.data, &eh, sizeof eh);
    json_t *note;
    struct tp_error e = {0};
    assert_int_equal(tp_note_read_memory(b.data, b.len, "stripped of headers", &note, &e), 0);
    assert_string_equal(text(note, "driver"), "WN-25.0.7-b");
    json_decref(note);
    tp_buf_finish(&b);
}

/* Sections are the second way: here no PT_NOTE segment remains. */
static void a_note_is_found_without_a_note_segment(void **state)
{
    (void)state;
    struct tp_buf b = fixture_bytes("linux-b");
    Elf64_Ehdr eh;
    memcpy(&eh, b.data, sizeof eh);
    for (size_t i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;
        char *at = b.data + eh.e_phoff + i * sizeof ph;
        memcpy(&ph, at, sizeof ph);
        if (ph.p_type == PT_NOTE)
            ph.p_type = PT_NULL;
        memcpy(at, &ph, sizeof ph);
    }
    json_t *note;
    struct tp_error e = {0};
    assert_int_equal(tp_note_read_memory(b.data, b.len, "no PT_NOTE", &note, &e), 0);
    assert_string_equal(text(note, "driver"), "WN-25.0.7-b");
    json_decref(note);
    tp_buf_finish(&b);
}

static void a_note_with_a_length_beyond_its_place_gives_an_error(void **state)
{
    (void)state;
    struct tp_buf b = fixture_bytes("linux-b");
    /* namesz 9, descsz, type 1, "turnpike": the description's length stands 8 before the name. */
    char *owner = memmem(b.data, b.len, "turnpike\0\0\0\0{", 13);
    assert_non_null(owner);
    static const uint32_t lengths[] = {0x7fffffff, 0xffffffff, 0xfffffff0, 0x10000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memcpy(owner - 8, &lengths[i], 4);
        json_t *note;
        struct tp_error e = {0};
        assert_int_equal(tp_note_read_memory(b.data, b.len, "x.so", &note, &e), -EBADMSG);
        assert_null(note);
        assert_contains(e.what, "note");
    }
    tp_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_note_of_a_driver_is_read),
        cmocka_unit_test(a_file_without_a_note_fails_the_check),
        cmocka_unit_test(a_note_that_is_not_the_promised_object_says_why),
        cmocka_unit_test(a_note_that_says_what_there_is_not_is_refused),
        cmocka_unit_test(a_note_is_found_without_section_headers),
        cmocka_unit_test(a_note_is_found_without_a_note_segment),
        cmocka_unit_test(a_note_with_a_length_beyond_its_place_gives_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
