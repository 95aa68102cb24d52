/* The canvas: what may come into a terminal, where texts are cut, and how it is written. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "top/canvas.h"

static struct tp_canvas canvas;
static struct tp_buf out;

static void begin(unsigned width, unsigned height, bool utf8)
{
    tp_canvas_finish(&canvas);
    tp_canvas_init(&canvas, width, height, utf8);
}

static int end(void **state)
{
    (void)state;
    tp_canvas_finish(&canvas);
    tp_buf_finish(&out);
    return 0;
}

static const char *written(enum tp_canvas_form form)
{
    tp_buf_clear(&out);
    tp_canvas_write(&canvas, form, &out);
    return tp_buf_str(&out);
}

static void texts_are_cut_at_their_room_and_at_the_edge(void **state)
{
    (void)state;
    begin(10, 2, true);
    assert_int_equal(tp_canvas_put(&canvas, 0, 0, 5, 0, "frames"), 5);
    assert_int_equal(tp_canvas_put(&canvas, 7, 1, 100, 0, "frames"), 3);
    assert_int_equal(tp_canvas_put(&canvas, 10, 1, 5, 0, "x"), 0);
    assert_int_equal(tp_canvas_put(&canvas, 0, 7, 5, 0, "x"), 1); /* nowhere */
    assert_string_equal(written(TP_CANVAS_TEXT), "fram…\n       fr…\n");
    begin(10, 1, false);
    tp_canvas_put(&canvas, 0, 0, 5, 0, "frames");
    assert_string_equal(written(TP_CANVAS_TEXT), "fram~\n");
}

static void what_is_no_text_is_made_printable(void **state)
{
    (void)state;
    begin(60, 1, true);
    tp_canvas_put(&canvas, 0, 0, 60, 0, "a\033[31mb\xff\ncd\u0301");
    assert_string_equal(written(TP_CANVAS_TEXT), "a\\x1b[31mb\\xff\\x0acd?\n");
    begin(60, 1, false);
    tp_canvas_put(&canvas, 0, 0, 60, 0, "1920×1080 → 60 Hz… é");
    assert_string_equal(written(TP_CANVAS_TEXT), "1920x1080 -> 60 Hz... ?\n");
}

static void wide_characters_take_two_columns_and_are_never_halved(void **state)
{
    (void)state;
    begin(5, 3, true);
    assert_int_equal(tp_canvas_columns(&canvas, "原神"), 4);
    tp_canvas_put(&canvas, 0, 0, 5, 0, "原神");
    tp_canvas_put(&canvas, 4, 0, 1, 0, "|");
    tp_canvas_put(&canvas, 0, 1, 3, 0, "原神");
    tp_canvas_put(&canvas, 0, 2, 2, 0, "a神");
    assert_string_equal(written(TP_CANVAS_TEXT), "原神|\n原…\na…\n");
}

static void lines_break_at_spaces_and_the_last_is_cut(void **state)
{
    (void)state;
    begin(12, 4, true);
    assert_int_equal(tp_canvas_wrap(&canvas, 0, 0, 12, 4, 0, "a panel that has stopped"), 2);
    assert_int_equal(
        tp_canvas_wrap(&canvas, 0, 2, 12, 2, 0, "releasewithoutend comes late too"), 2);
    assert_string_equal(
        written(TP_CANVAS_TEXT), "a panel that\nhas stopped\nreleasewitho\nutend comes…\n");
}

static void what_is_to_the_right_ends_there(void **state)
{
    (void)state;
    begin(8, 2, true);
    assert_int_equal(tp_canvas_right(&canvas, 8, 0, 5, 0, "60.0"), 4);
    assert_int_equal(tp_canvas_right(&canvas, 3, 1, 5, 0, "60.00"), 3);
    assert_string_equal(written(TP_CANVAS_TEXT), "    60.0\n60…\n");
}

static void a_bar_is_as_long_as_its_share_and_never_nothing(void **state)
{
    (void)state;
    begin(8, 4, true);
    tp_canvas_bar(&canvas, 0, 0, 8, 0, 1);
    tp_canvas_bar(&canvas, 0, 1, 8, 0, 0.5625); /* 4 1/2 of 8 */
    tp_canvas_bar(&canvas, 0, 2, 8, 0, 1e-9);
    tp_canvas_bar(&canvas, 0, 3, 8, 0, 0);
    assert_string_equal(written(TP_CANVAS_TEXT), "████████\n████▌\n▏\n");
    begin(8, 2, false);
    tp_canvas_bar(&canvas, 0, 0, 8, 0, 0.5);
    tp_canvas_bar(&canvas, 0, 1, 8, 0, 2);
    assert_string_equal(written(TP_CANVAS_TEXT), "####\n########\n");
}

static void a_column_stands_on_its_line(void **state)
{
    (void)state;
    begin(4, 2, true);
    tp_canvas_column(&canvas, 0, 1, 2, 0, 0.25);
    tp_canvas_column(&canvas, 1, 1, 2, 0, 0.75);
    tp_canvas_column(&canvas, 2, 1, 2, 0, 5);
    tp_canvas_column(&canvas, 3, 0, 9, 0, 1); /* higher than there is room */
    assert_string_equal(written(TP_CANVAS_TEXT), " ▄██\n▄██\n");
}

static void inks_become_escapes_or_none(void **state)
{
    (void)state;
    begin(6, 2, true);
    tp_canvas_put(&canvas, 0, 0, 6, TP_INK_BAD | TP_INK_BOLD, "no");
    tp_canvas_put(&canvas, 2, 0, 4, TP_INK_GOOD, "yes");
    tp_canvas_put(&canvas, 0, 1, 6, TP_INK_REVERSE, " ");
    assert_string_equal(written(TP_CANVAS_TEXT), "noyes\n\n");
    assert_string_equal(
        written(TP_CANVAS_ANSI), "\033[0;1;31mno\033[0;32myes\033[0m\n\033[0;7m \033[0m\n");
    assert_string_equal(
        written(TP_CANVAS_PLAIN), "\033[0;1mno\033[0myes\033[0m\n\033[0;7m \033[0m\n");
}

static void sizes_are_brought_into_bounds(void **state)
{
    (void)state;
    begin(0, 0, true);
    assert_int_equal(canvas.width * canvas.height, 1);
    begin(1000000, 1000000, true);
    assert_int_equal(canvas.width, TP_CANVAS_MOST);
    assert_int_equal(canvas.height, TP_CANVAS_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(texts_are_cut_at_their_room_and_at_the_edge, end),
        cmocka_unit_test_teardown(what_is_no_text_is_made_printable, end),
        cmocka_unit_test_teardown(wide_characters_take_two_columns_and_are_never_halved, end),
        cmocka_unit_test_teardown(lines_break_at_spaces_and_the_last_is_cut, end),
        cmocka_unit_test_teardown(what_is_to_the_right_ends_there, end),
        cmocka_unit_test_teardown(a_bar_is_as_long_as_its_share_and_never_nothing, end),
        cmocka_unit_test_teardown(a_column_stands_on_its_line, end),
        cmocka_unit_test_teardown(inks_become_escapes_or_none, end),
        cmocka_unit_test_teardown(sizes_are_brought_into_bounds, end),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
