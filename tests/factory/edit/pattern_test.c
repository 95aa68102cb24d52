#include <errno.h>
#include <time.h>

#include "support.h"

#include "factory/edit/pattern.h"

/* The source of each match, joined by '|'; "?" when the search was given up. */
static char *found(enum tp_language lang, const char *source, const char *fragment)
{
    struct tp_text t;
    struct tp_pattern p;
    struct tp_error e = {0};
    struct tp_matches m = {0};
    struct tp_buf out = {0};
    tp_text_init(&t, lang, source, strlen(source));
    if (tp_pattern_init(&p, fragment, 1, lang, "f", &e))
        fail_msg("%s: %s", fragment, e.what);
    tp_pattern_find(&p, &t, (struct tp_span){0, t.tokens.n - 1}, &m);
    for (int i = 0; i < m.n; i++) {
        struct tp_span s = m.at[i].span;
        tp_buf_adds(&out, i ? "|" : "");
        tp_buf_add(&out, source + t.tokens.at[s.first].start,
                   t.tokens.at[s.last].end - t.tokens.at[s.first].start);
    }
    if (m.gave_up)
        tp_buf_adds(&out, "?");
    tp_matches_finish(&m);
    tp_pattern_finish(&p);
    tp_text_finish(&t);
    return tp_buf_take(&out);
}

struct row {
    enum tp_language lang;
    const char *source, *fragment, *want;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *got = found(rows[i].lang, rows[i].source, rows[i].fragment);
        if (strcmp(got, rows[i].want) != 0)
            print_error("in %s\nof %s\n", rows[i].source, rows[i].fragment);
        assert_string_equal(got, rows[i].want);
        free(got);
    }
}
#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)

static void only_whole_nodes_match(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "int f(void) { return a + b; }", "a + b", "a + b"},
        {TP_LANG_C, "int f(void) { return x * a + b; }", "a + b", ""},
        {TP_LANG_C, "int f(void) { return a + b * c; }", "a + b", ""},
        {TP_LANG_C, "int f(void) { return (a + b) * c; }", "a + b", "a + b"},
        {TP_LANG_C, "int f(void) { return a + b + c; }", "a + b", "a + b"},
        {TP_LANG_C, "int f(void) { return a + b + c; }", "b + c", ""},
        {TP_LANG_C, "int f(void) { x = a; y = b; z = c; }", "x = a; y = b;", "x = a; y = b;"},
        {TP_LANG_C, "int f(void) { x = a; y = b; }", "x = a; y", ""},
        {TP_LANG_C, "int f(void) { if (a) x = 1; y = 2; }", "x = 1; y = 2;", ""},
        {TP_LANG_C, "int f(void) { g(a, b, c); }", "a, b", "a, b"},
        {TP_LANG_C, "int f(void) { g(a, b, c); }", "g(a, b)", ""},
        {TP_LANG_C, "struct s { int a; int b; };", "int b;", "int b;"},
        {TP_LANG_C, "struct s x = { .a = 1, .b = 2 };", ".b = 2", ".b = 2"},
        {TP_LANG_C, "int a; int b; int c;", "int a; int b;", "int a; int b;"},
        {TP_LANG_CPP, "void f() { x = a<b<c>> (1); y = a + b; }", "a + b", "a + b"},
        {TP_LANG_CPP, "int f() { return x * a + b; }", "a + b", ""},
        {TP_LANG_PYTHON, "z = x * a + b\n", "a + b", ""},
        {TP_LANG_PYTHON, "z = a + b\nf(a + b)\n", "a + b", "a + b|a + b"},
        {TP_LANG_PYTHON, "def f():\n    x = 1\n    y = 2\n", "x = 1\ny = 2", "x = 1\n    y = 2"},
        {TP_LANG_PYTHON, "if q:\n    x = 1\ny = 2\n", "x = 1\ny = 2", ""},
        {TP_LANG_MESON, "files('a', 'b')", "'b'", "'b'"},
        {TP_LANG_MESON, "x = [ 'a', ( 'b' ]", "'a'", "'a'"},
    };
    CHECK(rows);
}

static void space_breaks_and_comments_mean_nothing(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "int f(void) { g(a,/* c */\n\tb); }", "g( a , b )", "g(a,/* c */\n\tb)"},
        {TP_LANG_C, "int f(void) { g(a, \\\n b); }", "g(a, b)", "g(a, \\\n b)"},
        {TP_LANG_PYTHON, "f(a, # c\n  b)\n", "f(a, b)", "f(a, # c\n  b)"},
        {TP_LANG_MESON, "f('a', # c\n  'b')\n", "f('a', 'b')", "f('a', # c\n  'b')"},
        {TP_LANG_C, "int f(void) { g(\"a b\"); }", "g(\"a  b\")", ""},
    };
    CHECK(rows);
}

static void a_metavariable_binds_one_whole_node(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "int f(void) { g(a + b); g(c, d); }", "g($x)", "g(a + b)"},
        {TP_LANG_C, "int f(void) { g(a + b, h(c)); }", "g($x, $y)", "g(a + b, h(c))"},
        {TP_LANG_C, "int f(void) { x = a * b + c; }", "x = $v;", "x = a * b + c;"},
        {TP_LANG_C, "int f(void) { x = a * b + c; }", "x = $v + c;", "x = a * b + c;"},
        {TP_LANG_C, "int f(void) { if (a) { b; } }", "if ($c) $body", "if (a) { b; }"},
        {TP_LANG_C, "struct s x = { .a = f(1, 2), };", ".a = $v", ".a = f(1, 2)"},
        {TP_LANG_PYTHON, "f(a, b=c + 1)\n", "f($x, b=$y)", "f(a, b=c + 1)"},
        {TP_LANG_MESON, "f(a, b: c + 1)", "f($x, b: $y)", "f(a, b: c + 1)"},
        {TP_LANG_MESON, "f([a, b], c)", "f($x, c)", "f([a, b], c)"},
    };
    CHECK(rows);
}

static void a_name_used_twice_binds_the_same_tokens(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "int f(void) { g(a, a); g(a, b); g(h( 1 ), h(1)); }", "g($x, $x)",
         "g(a, a)|g(h( 1 ), h(1))"},
        {TP_LANG_C, "int f(void) { x = y; y = x; }", "$a = $b; $b = $a;", "x = y; y = x;"},
        {TP_LANG_C, "int f(void) { x = y; y = z; }", "$a = $b; $b = $a;", ""},
        {TP_LANG_PYTHON, "f(a, a)\nf(a, b)\n", "f($x, $x)", "f(a, a)"},
        {TP_LANG_MESON, "f(a, a)\nf(a, b)\n", "f($x, $x)", "f(a, a)"},
    };
    CHECK(rows);
}

static void dots_skip_as_few_siblings_as_they_can(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "int f(void) { g(a); h(); g(b); i(); }", "g(a); ... g(b);", "g(a); h(); g(b);"},
        {TP_LANG_C, "int f(void) { g(a); g(b); }", "g(a); ... g(b);", "g(a); g(b);"},
        {TP_LANG_C, "int f(void) { g(); a; h(); b; h(); }", "g(); ... h();", "g(); a; h();"},
        {TP_LANG_C, "int f(void) { { g(); } h(); }", "g(); ... h();", ""},
        {TP_LANG_C, "int f(void) { g(a, b, c, d); }", "g(a ... )", "g(a, b, c, d)"},
        {TP_LANG_C, "int f(void) { g(a); }", "g(a ... )", "g(a)"},
        {TP_LANG_C, "int f(void) { g(); { h(); } }", "g(); ... h();", ""},
        {TP_LANG_PYTHON, "f(a, b, c)\n", "f(a ... c)", "f(a, b, c)"},
        {TP_LANG_MESON, "f(a, [b, c], d)", "f(a ... d)", "f(a, [b, c], d)"},
    };
    CHECK(rows);
}

static void directives_inside_a_list_do_not_split_it(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "struct s x = {\n .a = 1,\n#ifdef B\n .b = 2,\n#endif\n .c = 3,\n};", ".b = 2", ".b = 2"},
        {TP_LANG_C, "struct s x = {\n .a = 1,\n#ifdef B\n .b = 2,\n#endif\n .c = 3,\n};", ".c = 3", ".c = 3"},
        {TP_LANG_C, "int f(void) {\n#if A\n if (x) {\n#else\n if (y) {\n#endif\n g(a, b);\n }\n h(c); }\n",
         "h(c);", "h(c);"},
        {TP_LANG_C, "#include <a.h>\n#include \"b.h\"\nint x;\n", "#include \"b.h\"",
         "#include \"b.h\""},
        {TP_LANG_C, "#define M(x) do { f(x); g(a, x); } while (0)\n", "g(a, x)", "g(a, x)"},
    };
    CHECK(rows);
}

static void a_broken_neighbour_does_not_disturb(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, "MACRO_WITHOUT_SEMICOLON(x)\nint f(void) { g(a); }", "g(a);", "g(a);"},
        {TP_LANG_C, "int broken(void) { x +* ; }\nint f(void) { g(a); }", "g(a);", "g(a);"},
        {TP_LANG_CPP, "template <chip CHIP>\nstatic void f(struct x *y) { g<CHIP>(y, 1); }\n"
                      "TU_GENX(f);\n", "g<CHIP>(y, 1)", "g<CHIP>(y, 1)"},
    };
    CHECK(rows);
}

static void fragments_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct tp_buf many = {0}, dots = {0}, large = {0};
    for (int i = 0; i <= TP_MAX_NAMES; i++)
        tp_buf_addf(&many, "$n%d ", i);
    for (int i = 0; i <= TP_MAX_DOTS; i++)
        tp_buf_adds(&dots, "a ... ");
    tp_buf_adds(&dots, "a");
    for (int i = 0; i <= TP_MAX_ITEMS; i++)
        tp_buf_adds(&large, "a ");
    const struct {
        const char *text, *words;
    } rows[] = {
        {"", "is empty"},          {"/* c */", "is empty"},      {"f(", "no partner"},
        {"a]", "no partner"},      {"... a", "begin or end"},    {"a ...", "begin or end"},
        {"...", "begin or end"},   {many.data, "metavariables"}, {dots.data, "too many '...'"},
        {large.data, "too large"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_pattern p;
        struct tp_error e = {0};
        assert_int_equal(tp_pattern_init(&p, rows[i].text, 7, TP_LANG_C, "p.edit", &e), -EINVAL);
        assert_non_null(strstr(e.what, rows[i].words));
        assert_string_equal(e.where, "p.edit:7");
        assert_true(*e.todo);
    }
    struct tp_pattern p;
    struct tp_error e = {0};
    assert_int_equal(tp_pattern_init(&p, "a\nb\n(", 7, TP_LANG_C, "p.edit", &e), -EINVAL);
    assert_string_equal(e.where, "p.edit:9");
    tp_buf_finish(&many);
    tp_buf_finish(&dots);
    tp_buf_finish(&large);
}

static void a_loose_fragment_is_given_up_not_searched_for_ever(void **state)
{
    (void)state;
    struct tp_buf source = {0};
    tp_buf_adds(&source, "void f(void) { g(");
    for (int i = 0; i < 3000; i++)
        tp_buf_adds(&source, "a, ");
    tp_buf_adds(&source, "z); }");
    char *got = found(TP_LANG_C, tp_buf_str(&source), "a ... a ... a ... a ... a ... b");
    assert_string_equal(got, "?");
    free(got);
    /* more places than anybody means */
    for (int i = 0; i < TP_MAX_MATCHES; i++)
        tp_buf_adds(&source, "int x;");
    got = found(TP_LANG_C, tp_buf_str(&source), "int x;");
    assert_int_equal(got[strlen(got) - 1], '?');
    free(got);
    tp_buf_finish(&source);
}

/* What takes long when a step costs more than it should: deep nests, wide lists, long chains. */
static void a_large_source_is_searched_in_seconds(void **state)
{
    (void)state;
    static const struct {
        enum tp_language lang;
        const char *head, *piece, *tail;
    } rows[] = {
        {TP_LANG_C, "int x = ", "(", ";"},
        {TP_LANG_C, "int x = ", "a + ", "a;"},
        {TP_LANG_C, "int x[] = {", "a, ", "};"},
        {TP_LANG_C, "void f(void) {", "g(a, b); ", "}"},
        {TP_LANG_C, "void f(void) {", "(a, b ", "}"},
        {TP_LANG_C, "", "int f(void) { return g(a, b); }\n", ""},
        {TP_LANG_C, "", "} ) ", ""},
        {TP_LANG_C, "void f(void) {", "if (a) b; else ", ";}"},
        {TP_LANG_CPP, "void f() {", "a<b<", ";}"},
        {TP_LANG_C, "int x = ", "!", "a;"},
        {TP_LANG_PYTHON, "", "x = g(a, b)\n", ""},
        {TP_LANG_PYTHON, "x = ", "[", ""},
        {TP_LANG_PYTHON, "x = ", "a + ", "a"},
        {TP_LANG_MESON, "x = [", "'a', ", "]"},
        {TP_LANG_MESON, "x = ", "[", "]"},
        {TP_LANG_TEXT, "", "a b c\n", ""},
    };
    static const char *const fragments[] = {"$x", "g($x, b)", "a, a", "a ... c", "b"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_buf b = {0};
        tp_buf_adds(&b, rows[i].head);
        while (b.len < 1 << 18)
            tp_buf_adds(&b, rows[i].piece);
        tp_buf_adds(&b, rows[i].tail);
        for (size_t k = 0; k < sizeof fragments / sizeof *fragments; k++) {
            struct timespec from, to;
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
            free(found(rows[i].lang, b.data, fragments[k]));
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
            double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
            if (seconds > 20) /* a quadratic step would take hours */
                fail_msg("'%s' in '%s%s…' took %.1f s", fragments[k], rows[i].head, rows[i].piece,
                         seconds);
        }
        tp_buf_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_whole_nodes_match),
        cmocka_unit_test(space_breaks_and_comments_mean_nothing),
        cmocka_unit_test(a_metavariable_binds_one_whole_node),
        cmocka_unit_test(a_name_used_twice_binds_the_same_tokens),
        cmocka_unit_test(dots_skip_as_few_siblings_as_they_can),
        cmocka_unit_test(directives_inside_a_list_do_not_split_it),
        cmocka_unit_test(a_broken_neighbour_does_not_disturb),
        cmocka_unit_test(fragments_that_cannot_be_are_refused),
        cmocka_unit_test(a_loose_fragment_is_given_up_not_searched_for_ever),
        cmocka_unit_test(a_large_source_is_searched_in_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
