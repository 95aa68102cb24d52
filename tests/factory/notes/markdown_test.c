/* What others wrote, as code of Markdown's. What GitHub makes of it is tested with cmark-gfm in
 * tests/cli/notes.test.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/notes/markdown.h"

static void code(const char *text, size_t max, const char *want)
{
    struct tp_buf b = {0};
    tp_md_code(&b, text, max);
    assert_string_equal(tp_buf_str(&b), want);
    tp_buf_finish(&b);
}

static void a_plain_subject_is_quoted(void **state)
{
    (void)state;
    code("tu: Fix a leak", 0, "`tu: Fix a leak`");
    code("", 0, "(nothing)");
    code(" \t\n", 0, "(nothing)");
}

static void the_fence_is_longer_than_any_in_the_text(void **state)
{
    (void)state;
    code("a `b` c", 0, "``a `b` c``");
    code("``", 0, "``` `` ```");
    code("`x", 0, "`` `x ``");
    code("x```y``", 0, "```` x```y`` ````");
}

static void it_stays_one_line(void **state)
{
    (void)state;
    code("a\r\n\n- b\x0b\x0c c\xe2\x80\xa8# d\xc2\x85"
         "e",
        0, "`a - b c # d e`");
    code("  a  b  ", 0, "`a b`");
}

static void control_and_hidden_characters_are_left_out(void **state)
{
    (void)state;
    code("\x1b[31mred\x1b[0m\x07\x7f\xc2\x9b", 0, "`[31mred[0m`");
    /* right-to-left override, zero width space, byte order mark, tag, isolates */
    code("a\xe2\x80\xae"
         "b\xe2\x80\x8b"
         "c\xef\xbb\xbf"
         "d\xf3\xa0\x81\x81"
         "e\xe2\x81\xa6"
         "f",
        0, "`abcdef`");
    code("\xe2\x80\xae\x01", 0, "(nothing)");
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    code("a\xff"
         "b",
        0,
        "`a\xef\xbf\xbd"
        "b`");
    code("\xc0\xaf", 0, "`\xef\xbf\xbd\xef\xbf\xbd`");   /* an overlong slash */
    code("\xed\xa0\x80", 0, "`\xef\xbf\xbd`");           /* half of a surrogate pair */
    code("x\xe2\x82", 0, "`x\xef\xbf\xbd\xef\xbf\xbd`"); /* cut off */
    code("\xf4\x90\x80\x80", 0, "`\xef\xbf\xbd`");       /* past U+10FFFF */
}

static void other_scripts_stay_as_they_are(void **state)
{
    (void)state;
    code("Marek Olšák 日本語 🎮", 0, "`Marek Olšák 日本語 🎮`");
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    code("ööööö", 3, "`ööö…`");
    code("ööö", 3, "`ööö`");
    code("öö ", 2, "`öö`");
    code("ab cd", 3, "`ab…`");
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    struct tp_buf b = {0};
    tp_md_code(&b, text, 0);
    assert_int_equal(b.len, 160 + 2 + strlen("…"));
    tp_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_subject_is_quoted),
        cmocka_unit_test(the_fence_is_longer_than_any_in_the_text),
        cmocka_unit_test(it_stays_one_line),
        cmocka_unit_test(control_and_hidden_characters_are_left_out),
        cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(other_scripts_stay_as_they_are),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
