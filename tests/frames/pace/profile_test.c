/* Per-game profiles. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frames/pace/profile.h"

static int read_for(
    const char *text, const char *program, struct tp_profile *out, struct tp_error *e)
{
    *e = (struct tp_error){0};
    return tp_profile_read(text, strlen(text), program, "games.conf", out, e);
}

static void a_section_is_for_the_programs_that_match(void **data)
{
    (void)data;
    static const char text[] = "# mine\n"
                               "[*]\n"
                               "images = 5\n"
                               "\n"
                               " [ha?es*.exe] \r\n"
                               "gate = latency\r\n"
                               "\tcap=59.94\n"
                               "[other]\n"
                               "cap = none\n"
                               "gate = off";
    struct tp_profile p;
    struct tp_error e;
    assert_int_equal(read_for(text, "Hades2.EXE", &p, &e), 0);
    assert_true(p.has_mode && p.has_cap && p.has_images);
    assert_int_equal(p.gate.mode, TP_GATE_LATENCY);
    assert_int_equal(p.gate.cap_mhz, 59940);
    assert_int_equal(p.images, 5);
    assert_int_equal(read_for(text, "other", &p, &e), 0);
    assert_true(p.has_cap);
    assert_int_equal(p.gate.cap_mhz, 0);
    assert_int_equal(p.gate.mode, TP_GATE_OFF);
    assert_int_equal(read_for(text, "third", &p, &e), 0);
    assert_false(p.has_mode || p.has_cap);
    assert_int_equal(read_for("", "third", &p, &e), 0);
    assert_false(p.has_images);
}

static void what_comes_later_wins(void **data)
{
    (void)data;
    struct tp_profile p;
    struct tp_error e;
    assert_int_equal(read_for("[a]\ncap = 30\n[*]\ncap = 40.5\n", "a", &p, &e), 0);
    assert_int_equal(p.gate.cap_mhz, 40500);
}

static void errors_name_file_and_line(void **data)
{
    (void)data;
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"cap = 30\n", "games.conf:1"},
        {"[a]\n\ncap = -1\n", "games.conf:3"},
        {"[a]\ncap = 30.\n", "games.conf:2"},
        {"[a]\ncap = 30.1234\n", "games.conf:2"},
        {"[a]\ncap = 10001\n", "games.conf:2"},
        {"[a]\ncap = 99999999999999999999\n", "games.conf:2"},
        {"[other]\ngate = fast\n", "games.conf:2"},
        {"[a]\nimages = 1\n", "games.conf:2"},
        {"[a]\nimages = 2.5\n", "games.conf:2"},
        {"[a]\nimages = 65\n", "games.conf:2"},
        {"[a]\nspeed = 1\n", "games.conf:2"},
        {"[a]\nwhat\n", "games.conf:2"},
        {"[a\n", "games.conf:1"},
        {"[]\n", "games.conf:1"},
    };
    struct tp_profile p;
    struct tp_error e;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_for(cases[i].text, "a", &p, &e), -EINVAL);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        assert_string_equal(e.where, cases[i].where);
    }
    char line[300];
    memset(line, 'x', sizeof line);
    e = (struct tp_error){0};
    assert_int_equal(tp_profile_read(line, sizeof line, "a", "f", &p, &e), -EINVAL);
    e = (struct tp_error){0};
    assert_int_equal(tp_profile_read("[a]\n\0", 5, "a", "f", &p, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_is_for_the_programs_that_match),
        cmocka_unit_test(what_comes_later_wins),
        cmocka_unit_test(errors_name_file_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
