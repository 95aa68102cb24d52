/*
 * Pictures at sizes from a phone's to a large window's, as text in tests/top/golden, whose folder
 * is the argument. TOP_GOLDEN=write in the environment writes those that differ anew.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fs.h"
#include "made.h"
#include "top/draw.h"
#include "top/json.h"

static const char *golden;
static struct made m;

static struct tp_buf draw(unsigned width, unsigned height, bool utf8, enum tp_canvas_form form)
{
    struct tp_canvas c;
    struct tp_buf out = {0};
    tp_canvas_init(&c, width, height, utf8);
    tp_top_draw(&c, &m.s, &m.ui);
    tp_canvas_write(&c, form, &out);
    tp_canvas_finish(&c);
    return out;
}

static void compare(const char *name, struct tp_buf *out)
{
    struct tp_buf wanted = {0};
    char *path = tp_asprintf("%s/%s.txt", golden, name);
    const char *how = getenv("TOP_GOLDEN");
    int r = tp_read_file(path, 0, &wanted, NULL);
    bool same = r == 0 && strcmp(tp_buf_str(&wanted), tp_buf_str(out)) == 0;
    if (!same && how && strcmp(how, "write") == 0)
        assert_int_equal(tp_write_file(path, out->data, out->len, 0644, NULL), 0);
    else
        assert_string_equal(tp_buf_str(out), tp_buf_str(&wanted));
    tp_buf_finish(&wanted);
    tp_buf_finish(out);
    free(path);
}

static void as(
    const char *name, unsigned width, unsigned height, bool utf8, enum tp_canvas_form form)
{
    struct tp_buf out = draw(width, height, utf8, form);
    compare(name, &out);
}

static void at_each_size(const char *state)
{
    static const struct {
        unsigned width, height;
    } sizes[] = {{20, 5}, {40, 12}, {80, 24}, {132, 43}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%ux%u", state, sizes[i].width, sizes[i].height);
        as(name, sizes[i].width, sizes[i].height, true, TP_CANVAS_TEXT);
        strcat(name, "-ascii");
        as(name, sizes[i].width, sizes[i].height, false, TP_CANVAS_TEXT);
    }
}

static void a_healthy_guest_looks_so_at_each_size(void **state)
{
    (void)state;
    made_healthy(&m);
    at_each_size("healthy");
}

static void an_unhealthy_guest_says_what_is_wrong_at_each_size(void **state)
{
    (void)state;
    made_unhealthy(&m);
    at_each_size("unhealthy");
}

static void what_is_wrong_stands_out_by_colour_and_by_weight(void **state)
{
    (void)state;
    made_unhealthy(&m);
    as("unhealthy-80x24-inks", 80, 24, true, TP_CANVAS_INKS);
    as("unhealthy-80x24-colour", 80, 24, true, TP_CANVAS_ANSI);
    as("unhealthy-80x24-no-colour", 80, 24, true, TP_CANVAS_PLAIN);
}

static void who_is_alone_is_told_how_to_begin(void **state)
{
    (void)state;
    made_empty(&m);
    as("empty-80x24", 80, 24, true, TP_CANVAS_TEXT);
}

static void help_fits(void **state)
{
    (void)state;
    made_healthy(&m);
    m.ui.help = true;
    as("help-80x24", 80, 24, true, TP_CANVAS_TEXT);
}

static void shows(const char *words)
{
    struct tp_buf out = draw(80, 24, true, TP_CANVAS_TEXT);
    if (!strstr(tp_buf_str(&out), words))
        fail_msg("'%s' is not in:\n%s", words, tp_buf_str(&out));
    tp_buf_finish(&out);
}

static void states_of_the_server_are_told(void **state)
{
    (void)state;
    made_healthy(&m);
    shows(" live\n");
    m.ui.paused = true;
    shows(" PAUSED\n");
    m.ui.link = TP_TOP_LOST;
    shows(" SERVER ENDED\n");
    shows("The server has ended");
    made_empty(&m);
    m.ui.link = TP_TOP_WAITING;
    shows("Waiting for a server");
}

static void screens_of_other_kinds_are_told(void **state)
{
    (void)state;
    made_healthy(&m);
    m.s.screens[0].watched = false;
    shows("tears unwatched");
    m.s.screens[0].slowest_mhz = 48000;
    shows("48-60 Hz");
    m.s.screens[0].refresh_mhz = 0;
    shows("   off   ");
    m.s.screens[0].width_px = 0;
    shows("no mode set");
    m.s.n_screens = 2;
    m.s.screens[1] = (struct tp_top_screen){.id = 1, .width_px = 800, .height_px = 600};
    m.ui.screen = 1;
    shows("2 of 2   800x600");
    shows("tears unheard");
}

static void what_is_typed_and_said_stands_on_the_last_line(void **state)
{
    (void)state;
    made_healthy(&m);
    m.ui.n_entry = 2;
    memcpy(m.ui.entry, "45", 2);
    shows("\n45_  Enter: cap");
    m.ui.n_entry = 0;
    strcpy(m.ui.message, "cap 45, for all guests.");
    shows("\ncap 45, for all guests.\n");
}

static void a_guest_that_stands_still_is_told(void **state)
{
    (void)state;
    made_healthy(&m);
    m.guests[0].stopped = true;
    m.guests[0].still_ns = INT64_C(12000000000);
    shows("It stands still: no new frame for 12 s.");
}

static void a_hostile_name_does_no_harm(void **state)
{
    (void)state;
    made_healthy(&m);
    strcpy(m.guests[0].name, "\033]0;x\a\xff\n");
    shows("\n▶ \\x1b]0;x\\x07\\xff\\x…");
    struct tp_buf out = draw(80, 24, true, TP_CANVAS_ANSI);
    assert_null(strstr(tp_buf_str(&out), "\033]"));
    tp_buf_finish(&out);
}

static void the_chosen_guest_is_among_those_that_fit(void **state)
{
    (void)state;
    made_healthy(&m);
    for (unsigned i = 0; i < 40; i++)
        m.s.guests[i] = i == 37 ? &m.guests[1] : &m.guests[0];
    m.s.n_guests = 40;
    m.ui.has_guest = true;
    m.ui.guest = 1;
    shows("\n▶ DOOM Eternal");
}

/* With everything that can be, and nothing. */
static void every_size_can_be_drawn(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++)
        for (unsigned width = 1; width < 150; width += width < 30 ? 1 : 7)
            for (unsigned height = 1; height < 60; height += height < 20 ? 1 : 5) {
                if (kind == 0)
                    made_unhealthy(&m);
                else if (kind == 1)
                    made_empty(&m);
                else
                    made_healthy(&m);
                m.ui.help = kind == 2;
                m.guests[0].images = m.guests[0].n_slots = kind == 3 ? TP_RING_SLOTS : 4;
                struct tp_buf out = draw(width, height, true, TP_CANVAS_TEXT);
                tp_buf_finish(&out);
            }
}

static void all_of_it_fits_where_height_is_free(void **state)
{
    (void)state;
    made_unhealthy(&m);
    m.ui.once = true;
    as("unhealthy-once", 80, tp_top_lines(&m.s, &m.ui, 80), true, TP_CANVAS_TEXT);
}

static void json_has_what_is_shown(void **state)
{
    (void)state;
    made_unhealthy(&m);
    strcpy(m.guests[1].name, "\xff");
    json_t *j = tp_top_json(&m.s, &m.ui);
    assert_non_null(j);
    assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
    json_t *guests = json_object_get(j, "guests"), *g = json_array_get(guests, 0);
    json_t *screen = json_array_get(json_object_get(j, "screens"), 0);
    assert_int_equal(json_integer_value(json_object_get(screen, "tears")), 3);
    assert_int_equal(json_array_size(guests), 2);
    assert_string_equal(json_string_value(json_object_get(g, "name")), "vkcube");
    assert_int_equal(json_integer_value(json_object_get(g, "release_timeouts")), 4);
    assert_int_equal(json_array_size(json_object_get(g, "findings")), 2);
    assert_int_equal(json_array_size(json_object_get(g, "slots")), 4);
    g = json_array_get(guests, 1);
    assert_string_equal(json_string_value(json_object_get(g, "name")), "\\xff");
    assert_true(json_real_value(json_object_get(g, "cap")) == 30);
    json_decref(j);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_guest_looks_so_at_each_size),
        cmocka_unit_test(an_unhealthy_guest_says_what_is_wrong_at_each_size),
        cmocka_unit_test(what_is_wrong_stands_out_by_colour_and_by_weight),
        cmocka_unit_test(who_is_alone_is_told_how_to_begin),
        cmocka_unit_test(help_fits),
        cmocka_unit_test(states_of_the_server_are_told),
        cmocka_unit_test(screens_of_other_kinds_are_told),
        cmocka_unit_test(what_is_typed_and_said_stands_on_the_last_line),
        cmocka_unit_test(a_guest_that_stands_still_is_told),
        cmocka_unit_test(a_hostile_name_does_no_harm),
        cmocka_unit_test(the_chosen_guest_is_among_those_that_fit),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(all_of_it_fits_where_height_is_free),
        cmocka_unit_test(json_has_what_is_shown),
    };
    if (argc != 2) {
        fputs("draw_test: which folder are the pictures in?\n", stderr);
        return 2;
    }
    golden = argv[1];
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
