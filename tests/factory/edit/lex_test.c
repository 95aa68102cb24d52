#include <time.h>

#include "support.h"

#include "factory/edit/lex.h"

/* Tokens joined by '|'; a directive's end is '$'. */
static char *tokens_of(const char *text, size_t len, enum tp_language lang, bool metavariables)
{
    struct tp_tokens t;
    char *copy = malloc(len + 1); /* exactly the bytes, so that a step beyond is seen */
    memcpy(copy, text, len);
    copy = realloc(copy, len ? len : 1);
    tp_lex(copy, len, lang, metavariables, &t);
    struct tp_buf out = {0};
    uint32_t at = 0;
    for (int i = 0; i < t.n; i++) {
        const struct tp_token *k = &t.at[i];
        assert_true(k->start >= at && k->end >= k->start && k->end <= len);
        assert_true(k->end > k->start || k->kind == TP_TOKEN_LINE_END);
        assert_int_equal(k->hash, tp_token_hash(copy + k->start, k->end - k->start));
        if (k->partner >= 0)
            assert_int_equal(t.at[k->partner].partner, i);
        at = k->end;
        if (i)
            tp_buf_addc(&out, '|');
        if (k->kind == TP_TOKEN_LINE_END)
            tp_buf_addc(&out, '$');
        tp_buf_add(&out, copy + k->start, k->end - k->start);
    }
    tp_tokens_finish(&t);
    free(copy);
    return tp_buf_take(&out);
}

struct row {
    enum tp_language lang;
    const char *text, *want;
};

static void check(const struct row *rows, size_t n, bool metavariables)
{
    for (size_t i = 0; i < n; i++) {
        char *got = tokens_of(rows[i].text, strlen(rows[i].text), rows[i].lang, metavariables);
        assert_string_equal(got, rows[i].want);
        free(got);
    }
}
#define CHECK(rows, meta) check(rows, sizeof rows / sizeof *rows, meta)

static void the_language_is_told_by_the_name(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum tp_language lang;
    } rows[] = {
        {"a.c", TP_LANG_C},
        {"src/x.y/a.h", TP_LANG_C},
        {"a.cc", TP_LANG_CPP},
        {"a.cpp", TP_LANG_CPP},
        {"a.hh", TP_LANG_CPP},
        {"a.hpp", TP_LANG_CPP},
        {"dir.c/a.py", TP_LANG_PYTHON},
        {"src/meson.build", TP_LANG_MESON},
        {"meson_options.txt", TP_LANG_MESON},
        {"meson.options", TP_LANG_MESON},
        {"notes.txt", TP_LANG_TEXT},
        {"dir.c/Makefile", TP_LANG_TEXT},
        {"VERSION", TP_LANG_TEXT},
        {"", TP_LANG_TEXT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tp_language_of(rows[i].path), rows[i].lang);
}

static void strings_are_one_token_each(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "f(\"a\\\"b\", 'c', '\\'')", "f|(|\"a\\\"b\"|,|'c'|,|'\\''|)"},
        {TP_LANG_C, "u8\"x\" L'y' U\"z\" x\"w\"", "u8\"x\"|L'y'|U\"z\"|x|\"w\""},
        {TP_LANG_C, "\"a\\\nb\" c", "\"a\\\nb\"|c"},
        {TP_LANG_C, "\"// no /* comment\" x", "\"// no /* comment\"|x"},
        {TP_LANG_CPP, "R\"(a\"b)\" c", "R\"(a\"b)\"|c"},
        {TP_LANG_CPP, "R\"xy(a)\")xy\" c", "R\"xy(a)\")xy\"|c"},
        {TP_LANG_CPP, "u8R\"(\\)\" c", "u8R\"(\\)\"|c"},
        {TP_LANG_PYTHON, "'a' \"b\" '''c'\nd''' \"\"\"e\"\"\"", "'a'|\"b\"|'''c'\nd'''|\"\"\"e\"\"\""},
        {TP_LANG_PYTHON, "r'\\' + 1", "r'\\'|+|1"},
        {TP_LANG_PYTHON, "rb'x' f\"y\" Z'x'", "rb'x'|f\"y\"|Z|'x'"},
        {TP_LANG_MESON, "'a' f'b' '''c\nd'''", "'a'|f'b'|'''c\nd'''"},
        {TP_LANG_TEXT, "don't \"quote\"", "don|'|t|\"quote\""},
    };
    CHECK(rows, false);
}

static void comments_and_space_are_none(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "a /* b \n c */ d // e\nf", "a|d|f"},
        {TP_LANG_C, "a // b \\\n still\nc", "a|c"},
        {TP_LANG_C, "a \\\n b \\\r\n c", "a|b|c"},
        {TP_LANG_C, "a /* // */ b", "a|b"},
        {TP_LANG_PYTHON, "a # b 'c\nd", "a|d"},
        {TP_LANG_MESON, "a # b\nd // e", "a|d|//|e"},
        {TP_LANG_TEXT, "a # b // c", "a|#|b|/|/|c"},
        {TP_LANG_C, "", ""},
        {TP_LANG_C, " \t\r\n\f\v", ""},
    };
    CHECK(rows, false);
}

static void operators_and_numbers_are_whole(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "a<<=b->c++", "a|<<=|b|->|c|++"},
        {TP_LANG_CPP, "A<B<C>> x", "A|<|B|<|C|>|>|x"},
        {TP_LANG_C, "a>>b", "a|>|>|b"}, /* a header may be C++ */
        {TP_LANG_PYTHON, "a>>b**c//d", "a|>>|b|**|c|//|d"},
        {TP_LANG_C, "1.5e-3f 0x1E+2 1'000 .5 0b1u", "1.5e-3f|0x1E|+|2|1'000|.5|0b1u"},
        {TP_LANG_C, "x.y...z", "x|.|y|...|z"},
        {TP_LANG_C, "\xc3\xa4 = 1", "\xc3\xa4|=|1"},
        {TP_LANG_C, "@`", "@|`"},
        {TP_LANG_TEXT, "a->b", "a|-|>|b"},
    };
    CHECK(rows, false);
}

static void metavariables_are_words_in_fragments_only(void **state)
{
    (void)state;
    static const struct row in[] = {
        {TP_LANG_C, "$a + $b_1", "$a|+|$b_1"},
        {TP_LANG_MESON, "[ ... ]", "[|...|]"},
        {TP_LANG_TEXT, "$x...", "$x|..."},
        {TP_LANG_C, "$ $1", "$|$|1"},
    };
    static const struct row out[] = {
        {TP_LANG_C, "$a", "$|a"},
        {TP_LANG_MESON, "$a", "$|a"},
        {TP_LANG_TEXT, "...", ".|.|."},
    };
    CHECK(in, true);
    CHECK(out, false);
}

static void directives_end_with_their_line(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "#define A 1\nb", "#|define|A|1|$|b"},
        {TP_LANG_C, "#define A \\\n 1\nb", "#|define|A|1|$|b"},
        {TP_LANG_C, "  #if 1 /* a\n b */ c\nd", "#|if|1|c|$|d"},
        {TP_LANG_C, "#if 1", "#|if|1|$"},
        {TP_LANG_C, "a # b", "a|#|b"},
        {TP_LANG_C, "#if 1\r\nx", "#|if|1|$|x"},
        {TP_LANG_PYTHON, "#define A\nb", "b"},
    };
    CHECK(rows, false);
}

static void what_is_not_closed_ends_somewhere(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "\"abc",  "'",       "\"\\",   "R\"(",      "R\"",    "R\"0123456789abcdefgh(x)",
        "R\"x(a)y\"", "/*",  "/* a *", "//",        "// \\",  "\\",
        "#",      "#if",     "'''a''", "\"\"\"",    "1e",     "1e+",
        "0x",     "1'",      ".",      "..",        "$",      "$a",
        "\"a\nb", "u8R",     "u8R\"",  "'''",       "''",     "'\\",
        "\\\r",   "\\\r\n",  "<<",     "(",         ")",      "([)]",
    };
    static const enum tp_language langs[] = {TP_LANG_C, TP_LANG_CPP, TP_LANG_PYTHON, TP_LANG_MESON,
                                             TP_LANG_TEXT};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t l = 0; l < 5; l++) {
            free(tokens_of(rows[i], strlen(rows[i]), langs[l], false));
            free(tokens_of(rows[i], strlen(rows[i]), langs[l], true));
        }
    }
    char *got = tokens_of("a\0b", 3, TP_LANG_C, false);
    free(got);
    got = tokens_of("\"abc\nd", 6, TP_LANG_C, false);
    assert_string_equal(got, "\"abc|d");
    free(got);
}

static int partner_of(const char *text, const char *where)
{
    struct tp_tokens t;
    tp_lex(text, strlen(text), TP_LANG_C, false, &t);
    int partner = -2;
    for (int i = 0; i < t.n; i++) {
        if (t.at[i].start == (uint32_t)(where - text))
            partner = t.at[i].partner < 0 ? -1 : (int)t.at[t.at[i].partner].start;
    }
    tp_tokens_finish(&t);
    return partner;
}

static void brackets_find_their_partners(void **state)
{
    (void)state;
    const char *text = "f(a[1], {b})";
    assert_int_equal(partner_of(text, text + 1), 11);
    assert_int_equal(partner_of(text, text + 3), 5);
    assert_int_equal(partner_of(text, text + 8), 10);
    assert_int_equal(partner_of(text, text + 10), 8);
    text = "(a ]) )";
    assert_int_equal(partner_of(text, text), 4);
    assert_int_equal(partner_of(text, text + 3), -1);
    assert_int_equal(partner_of(text, text + 6), -1);
    text = "{ ( }"; /* past a stray opener */
    assert_int_equal(partner_of(text, text), 4);
}

static void branches_of_a_directive_open_the_same_bracket(void **state)
{
    (void)state;
    const char *text = "{\n#if A\nif (x) {\n#else\nif (y) {\n#endif\n}\n}";
    int end = (int)strlen(text) - 1;
    assert_int_equal(partner_of(text, text), end);
    assert_int_equal(partner_of(text, strstr(text, "(y) {") + 4), end - 2);
    text = "{\n#ifdef A\n(\n#elif B\n(\n#else\n(\n#endif\n)\n}";
    assert_int_equal(partner_of(text, text), (int)strlen(text) - 1);
    /* directives without a beginning */
    text = "{\n#else\n#endif\n}";
    assert_int_equal(partner_of(text, text), (int)strlen(text) - 1);
}

static void a_large_text_of_anything_is_read_quickly(void **state)
{
    (void)state;
    clock_t start = clock();
    static const char *const pieces[] = {"(", ")", "[)", "\"", "/*", "R\"(", "#if 1\n(", "'''", "a ",
                                         "\\\n", "([{", "{#else\n"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct tp_buf b = {0};
        while (b.len < 1 << 18)
            tp_buf_adds(&b, pieces[i]);
        for (size_t k = 0; i < 2 && k < b.len; k++) /* many openers, then closers of another kind */
            b.data[k] = k < b.len / 2 ? '(' : ']';
        for (int lang = TP_LANG_C; lang <= TP_LANG_TEXT; lang++) {
            struct tp_tokens t;
            tp_lex(b.data, b.len, (enum tp_language)lang, true, &t);
            tp_tokens_finish(&t);
        }
        tp_buf_finish(&b);
    }
    assert_true((clock() - start) / CLOCKS_PER_SEC < 60); /* hours, were a step quadratic */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_language_is_told_by_the_name),
        cmocka_unit_test(strings_are_one_token_each),
        cmocka_unit_test(comments_and_space_are_none),
        cmocka_unit_test(operators_and_numbers_are_whole),
        cmocka_unit_test(metavariables_are_words_in_fragments_only),
        cmocka_unit_test(directives_end_with_their_line),
        cmocka_unit_test(what_is_not_closed_ends_somewhere),
        cmocka_unit_test(brackets_find_their_partners),
        cmocka_unit_test(branches_of_a_directive_open_the_same_bracket),
        cmocka_unit_test(a_large_text_of_anything_is_read_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
