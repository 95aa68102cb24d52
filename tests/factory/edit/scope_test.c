#include "support.h"

#include "factory/edit/scope.h"

static struct tp_scope scope(enum tp_scope_kind kind, const char *name, enum tp_language lang,
                             const char *argument)
{
    struct tp_scope s = {.kind = kind, .name = name ? tp_strdup(name) : NULL};
    if (argument) {
        s.has_argument = true;
        assert_int_equal(tp_pattern_init(&s.argument, argument, 1, lang, "f", NULL), 0);
    }
    return s;
}

/* The source of each place, joined by "|". */
static char *places(enum tp_language lang, const char *source, struct tp_scope *scopes, int n)
{
    struct tp_text t;
    struct tp_places p;
    struct tp_buf out = {0};
    tp_text_init(&t, lang, source, strlen(source));
    tp_scopes_find(scopes, n, &t, &p, NULL);
    for (int i = 0; i < p.n; i++) {
        struct tp_span s = p.at[i].span;
        tp_buf_adds(&out, i ? "|" : "");
        tp_buf_add(&out, source + t.tokens.at[s.first].start,
                   t.tokens.at[s.last].end - t.tokens.at[s.first].start);
        if (p.at[i].open >= 0)
            assert_int_equal(t.tokens.at[p.at[i].open].partner, p.at[i].close);
    }
    tp_places_finish(&p);
    tp_text_finish(&t);
    for (int i = 0; i < n; i++)
        tp_scope_finish(&scopes[i]);
    return tp_buf_take(&out);
}

struct row {
    enum tp_language lang;
    enum tp_scope_kind kind;
    const char *name, *argument, *source, *want;
};

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct tp_scope s = scope(rows[i].kind, rows[i].name, rows[i].lang, rows[i].argument);
        char *got = places(rows[i].lang, rows[i].source, &s, 1);
        if (strcmp(got, rows[i].want) != 0)
            print_error("%s in:\n%s\n", rows[i].name, rows[i].source);
        assert_string_equal(got, rows[i].want);
        free(got);
    }
}
#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)

static void a_function_is_its_definition(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, TP_SCOPE_FUNCTION, "f", NULL, "void f(void);\nvoid f(void) { g(); }\nvoid g(void) { f(); }",
         "void f(void) { g(); }"},
        {TP_LANG_C, TP_SCOPE_FUNCTION, "f", NULL, "static struct x **f(int a) { return 0; }",
         "static struct x **f(int a) { return 0; }"},
        {TP_LANG_C, TP_SCOPE_FUNCTION, "f", NULL, "VKAPI_ATTR int VKAPI_CALL\nf(int a)\n{\n}\n",
         "VKAPI_CALL\nf(int a)\n{\n}"}, /* the macro in front is none of the grammar's */
        {TP_LANG_C, TP_SCOPE_FUNCTION, "a", NULL, "void f(int a) { a = 1; }", ""},
        {TP_LANG_C, TP_SCOPE_FUNCTION, "f", NULL, "int (*f)(void);", ""},
        {TP_LANG_C, TP_SCOPE_FUNCTION, "f", NULL,
         "DEFINE_THING(x)\n\nint f(void)\n{\n   return 0;\n}\n",
         "DEFINE_THING(x)\n\nint f(void)\n{\n   return 0;\n}"}, /* without a semicolon, a type */
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "f", NULL, "template <chip CHIP>\nvoid f(int a) { }\nTU_GENX(f);",
         "void f(int a) { }"},
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "A::f", NULL, "void f() { }\nvoid A::f() { x; }\nvoid B::f() { }",
         "void A::f() { x; }"},
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "n::A::f", NULL, "void A::f() { }\nvoid n::A::f() { x; }",
         "void n::A::f() { x; }"},
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "f", NULL, "void A::f() { }\nvoid B::f() { }",
         "void A::f() { }|void B::f() { }"},
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "f", NULL, "class A { int f() const { return 1; } };",
         "int f() const { return 1; }"},
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "f", NULL, "extern \"C\" {\nint f(void) { return 1; }\n}",
         "int f(void) { return 1; }"},
        {TP_LANG_CPP, TP_SCOPE_FUNCTION, "f", NULL, "namespace n {\nint f() { return 1; }\n}",
         "int f() { return 1; }"},
        {TP_LANG_PYTHON, TP_SCOPE_FUNCTION, "f", NULL, "def g():\n  f()\ndef f(a):\n  return a\nx = 1\n",
         "def f(a):\n  return a"},
    };
    CHECK(rows);
}

static void types_are_their_definitions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, TP_SCOPE_STRUCT, "s", NULL, "struct s;\nstruct s { int a; };\nstruct s x;", "struct s { int a; }"},
        {TP_LANG_C, TP_SCOPE_STRUCT, "s", NULL, "struct s *f(struct s *x) { struct s y; }", ""},
        {TP_LANG_C, TP_SCOPE_STRUCT, "u", NULL, "union u { int a; };", "union u { int a; }"},
        {TP_LANG_CPP, TP_SCOPE_STRUCT, "c", NULL, "class c : public b { int a; };",
         "class c : public b { int a; }"},
        {TP_LANG_C, TP_SCOPE_ENUM, "e", NULL, "enum e { A, B };\nenum e x;", "enum e { A, B }"},
        {TP_LANG_C, TP_SCOPE_ENUM, "s", NULL, "struct s { int a; };", ""},
        {TP_LANG_C, TP_SCOPE_STRUCT, "in", NULL, "struct out { struct in { int a; } x; };",
         "struct in { int a; }"},
        {TP_LANG_PYTHON, TP_SCOPE_STRUCT, "C", NULL, "class B: pass\nclass C(B):\n  x = 1\n", "class C(B):\n  x = 1"},
        {TP_LANG_PYTHON, TP_SCOPE_ENUM, "C", NULL, "class C(Enum):\n  x = 1\n", "class C(Enum):\n  x = 1"},
    };
    CHECK(rows);
}

static void an_initialiser_is_what_a_name_is_set_to(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, TP_SCOPE_INITIALISER, "x", NULL, "struct s x = { .a = 1 };", "{ .a = 1 }"},
        {TP_LANG_C, TP_SCOPE_INITIALISER, "x", NULL, "static const int x[] = { 1, 2 };", "{ 1, 2 }"},
        {TP_LANG_C, TP_SCOPE_INITIALISER, "a", NULL, "struct s x = { .a = { 1 }, .b = { 2 } };", "{ 1 }"},
        {TP_LANG_C, TP_SCOPE_INITIALISER, "I", NULL, "int x[] = { [I] = 3, [J] = 4 };", "3"},
        {TP_LANG_C, TP_SCOPE_INITIALISER, "x", NULL, "void f(void) { x = g(1); y = x; }", "g(1)"},
        {TP_LANG_C, TP_SCOPE_INITIALISER, "x", NULL, "void f(void) { x = (struct s){ 1 }; }",
         "(struct s){ 1 }"},
        {TP_LANG_PYTHON, TP_SCOPE_INITIALISER, "x", NULL, "x = [1, 2]\ny = x\n", "[1, 2]"},
        {TP_LANG_MESON, TP_SCOPE_INITIALISER, "x", NULL, "x = ['a', 'b']\nx += ['c']\n", "['a', 'b']"},
        {TP_LANG_MESON, TP_SCOPE_INITIALISER, "x", NULL, "x = files('a', 'b')\n", "files('a', 'b')"},
        {TP_LANG_MESON, TP_SCOPE_INITIALISER, "x", NULL, "x += ['c']\n", ""},
        {TP_LANG_MESON, TP_SCOPE_INITIALISER, "x", NULL, "y = x\nf(x)\n", ""},
        {TP_LANG_MESON, TP_SCOPE_INITIALISER, "x", NULL, "x =", ""},
    };
    CHECK(rows);
}

static void a_call_can_be_told_by_an_argument(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {TP_LANG_C, TP_SCOPE_CALL, "g", NULL, "void f(void) { g(1); h(g(2)); }", "g(1)|g(2)"},
        {TP_LANG_C, TP_SCOPE_CALL, "g", "2", "void f(void) { g(1); h(g(2)); }", "g(2)"},
        {TP_LANG_C, TP_SCOPE_CALL, "g", "a + b", "void f(void) { g(a); g(x, h(a + b)); }", "g(x, h(a + b))"},
        {TP_LANG_C, TP_SCOPE_CALL, "g", NULL, "void f(void) { p->g(1); q.g(2); }", "p->g(1)|q.g(2)"},
        {TP_LANG_C, TP_SCOPE_CALL, "p", NULL, "void f(void) { p->g(1); }", ""},
        {TP_LANG_C, TP_SCOPE_CALL, "g", NULL, "void g(int a) { }", ""},
        {TP_LANG_CPP, TP_SCOPE_CALL, "g", NULL, "void f() { a::g<X>(1); }", "a::g<X>(1)"},
        {TP_LANG_CPP, TP_SCOPE_CALL, "g", NULL, "void f() { g<X>(1); h<g>(2); }", "g<X>(1)"},
        {TP_LANG_CPP, TP_SCOPE_CALL, "a::g", NULL, "void f() { a::g(1); b::g(2); g(3); }", "a::g(1)"},
        {TP_LANG_PYTHON, TP_SCOPE_CALL, "g", "name = \"x\"", "g(name=\"y\")\nm.g([1], name = \"x\")\n",
         "m.g([1], name = \"x\")"},
        {TP_LANG_MESON, TP_SCOPE_CALL, "g", "'x'", "g('y')\nm.g('x', k: 'v')\n", "g('x', k: 'v')"},
        {TP_LANG_MESON, TP_SCOPE_CALL, "g", NULL, "g = (1)\ng", ""},
    };
    CHECK(rows);
}

static void scopes_nest(void **state)
{
    (void)state;
    const char *source = "void f(void) { g(a, h(1)); g(b, h(2)); }\nvoid k(void) { g(a, h(3)); }";
    struct tp_scope s[] = {scope(TP_SCOPE_FUNCTION, "f", TP_LANG_C, NULL),
                           scope(TP_SCOPE_CALL, "g", TP_LANG_C, "a"),
                           scope(TP_SCOPE_FILE, NULL, TP_LANG_C, NULL),
                           scope(TP_SCOPE_CALL, "h", TP_LANG_C, NULL)};
    char *got = places(TP_LANG_C, source, s, 4);
    assert_string_equal(got, "h(1)");
    free(got);
    struct tp_scope none[] = {scope(TP_SCOPE_FUNCTION, "f", TP_LANG_C, NULL),
                              scope(TP_SCOPE_CALL, "nothing", TP_LANG_C, NULL)};
    struct tp_text t;
    struct tp_places p;
    int matched = -1;
    tp_text_init(&t, TP_LANG_C, source, strlen(source));
    tp_scopes_find(none, 2, &t, &p, &matched);
    assert_int_equal(matched, 1);
    assert_int_equal(p.n, 0);
    tp_places_finish(&p);
    tp_text_finish(&t);
    for (int i = 0; i < 2; i++)
        tp_scope_finish(&none[i]);
}

static void without_scopes_the_place_is_the_file(void **state)
{
    (void)state;
    struct tp_text t;
    struct tp_places p;
    tp_text_init(&t, TP_LANG_C, "", 0);
    tp_scopes_find(NULL, 0, &t, &p, NULL);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.at[0].span.last, -1);
    tp_places_finish(&p);
    tp_text_finish(&t);
}

static void a_scope_is_described_for_people(void **state)
{
    (void)state;
    struct tp_scope s = scope(TP_SCOPE_CALL, "g", TP_LANG_C, "a = 1");
    struct tp_buf b = {0};
    tp_scope_describe(&s, &b);
    assert_string_equal(tp_buf_str(&b), "call g with argument a = 1");
    tp_buf_finish(&b);
    tp_scope_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_is_its_definition),
        cmocka_unit_test(types_are_their_definitions),
        cmocka_unit_test(an_initialiser_is_what_a_name_is_set_to),
        cmocka_unit_test(a_call_can_be_told_by_an_argument),
        cmocka_unit_test(scopes_nest),
        cmocka_unit_test(without_scopes_the_place_is_the_file),
        cmocka_unit_test(a_scope_is_described_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
