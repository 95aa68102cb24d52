#include "support.h"

static void an_empty_buffer_is_an_empty_string(void **state)
{
    (void)state;
    struct tp_buf b = {0};
    assert_string_equal(tp_buf_str(&b), "");
    tp_buf_clear(&b);
    tp_buf_add(&b, NULL, 0);
    assert_int_equal(b.len, 0);
    char *s = tp_buf_take(&b);
    assert_string_equal(s, "");
    free(s);
    tp_buf_finish(&b);
}

static void what_is_added_ends_with_a_nul(void **state)
{
    (void)state;
    struct tp_buf b = {0};
    for (int i = 0; i < 1000; i++)
        tp_buf_addc(&b, 'x');
    tp_buf_add(&b, "a\0b", 3);
    tp_buf_adds(&b, "c");
    assert_int_equal(b.len, 1004);
    assert_memory_equal(b.data + 1000, "a\0bc", 5);
    char *s = tp_buf_take(&b);
    assert_int_equal(b.len, 0);
    assert_null(b.data);
    free(s);
}

static void formats_of_any_length_arrive_whole(void **state)
{
    (void)state;
    char text[700];
    struct tp_buf b = {0};
    for (size_t n = 250; n < 262; n++) { /* about the size that is formatted without allocation */
        memset(text, 'y', n);
        text[n] = 0;
        tp_buf_clear(&b);
        tp_buf_addf(&b, "<%s>", text);
        assert_int_equal(b.len, n + 2);
        assert_int_equal(b.data[0], '<');
        assert_string_equal(b.data + n + 1, ">");
    }
    tp_buf_finish(&b);
}

static void a_splice_replaces_bytes_in_the_middle(void **state)
{
    (void)state;
    static const struct {
        size_t at, len;
        const char *with, *want;
    } rows[] = {
        {0, 0, "ab", "ab0123456789"}, {10, 0, "ab", "0123456789ab"}, {2, 3, "", "0156789"},
        {0, 10, "", ""},              {4, 2, "a", "0123a6789"},      {4, 1, "abc", "0123abc56789"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_buf b = {0};
        tp_buf_adds(&b, "0123456789");
        tp_buf_splice(&b, rows[i].at, rows[i].len, rows[i].with, strlen(rows[i].with));
        assert_string_equal(tp_buf_str(&b), rows[i].want);
        assert_int_equal(b.len, strlen(rows[i].want));
        tp_buf_finish(&b);
    }
    struct tp_buf empty = {0};
    tp_buf_splice(&empty, 0, 0, "x", 1);
    assert_string_equal(tp_buf_str(&empty), "x");
    tp_buf_finish(&empty);
}

static void an_array_grows_by_pushing(void **state)
{
    (void)state;
    int *at = NULL, n = 0, cap = 0;
    for (int i = 0; i < 100; i++)
        TP_PUSH(at, n, cap) = i * i;
    assert_int_equal(n, 100);
    assert_true(cap >= 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(at[i], i * i);
    free(at);
}

static void what_is_printable_has_no_control_characters_and_is_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printable;
    } cases[] = {
        {"two\nlines", "two\nlines"},      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\x1b[31mred", "\\x1b[31mred"},   {"\xff\xfe", "\\xff\\xfe"},
        {"\xc3", "\\xc3"},                 {"\xc2\x9b" "2J", "\\xc2\\x9b2J"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, {"\xc0\x80", "\\xc0\\x80"},
        {"\x7f\t\r", "\\x7f\\x09\\x0d"},    {NULL, ""},
        /* Right-to-left override and isolate, Arabic letter mark, line separator; what is beside them. */
        {"\u202egnp", "\\xe2\\x80\\xaegnp"},  {"\u2066a", "\\xe2\\x81\\xa6a"},
        {"\u061c", "\\xd8\\x9c"},           {"\u2028", "\\xe2\\x80\\xa8"},
        {"\u200d\u2027\u202f\u2065\u206a\u061b", "\u200d\u2027\u202f\u2065\u206a\u061b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = tp_printable(cases[i].text);
        assert_string_equal(got, cases[i].printable);
        free(got);
    }
    char *line = tp_printable_line("two\nlines\x1b");
    assert_string_equal(line, "two\\x0alines\\x1b");
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_an_empty_string),
        cmocka_unit_test(what_is_added_ends_with_a_nul),
        cmocka_unit_test(formats_of_any_length_arrive_whole),
        cmocka_unit_test(a_splice_replaces_bytes_in_the_middle),
        cmocka_unit_test(an_array_grows_by_pushing),
        cmocka_unit_test(what_is_printable_has_no_control_characters_and_is_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
