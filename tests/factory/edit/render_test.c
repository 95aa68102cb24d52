#include "support.h"

/* `in` lines and fragments of a form, as they stand in an edit. */
#define REPLACE(in, a, b) "  form \"f\"\n" in "    match\n      " a "\n    replace\n      " b "\n"
#define BEFORE(in, a, b) "  form \"f\"\n" in "    match\n      " a "\n    before\n      " b "\n"
#define AFTER(in, a, b) "  form \"f\"\n" in "    match\n      " a "\n    after\n      " b "\n"
#define REMOVE(in, a, b) "  form \"f\"\n" in "    remove\n      " a "\n    leaving\n      " b "\n"
#define APPEND(in, b) "  form \"f\"\n    in " in "\n    append\n      " b "\n"

struct row {
    const char *path, *source, *lines, *want;
};

static void check(void **state, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_edited(*state, rows[i].path, rows[i].source, rows[i].lines, rows[i].want);
}
#define CHECK(rows) check(state, rows, sizeof rows / sizeof *rows)

static void a_replacement_writes_only_the_difference(void **state)
{
    static const struct row rows[] = {
        {"a.c", "int f(void) { return g( a /* why */,  b ); }\n", REPLACE("", "g(a, b)", "g(a, b, c)"),
         "int f(void) { return g( a /* why */,  b, c); }\n"},
        {"a.c", "void f(void)\n{\n   g(a, /* one */\n     b); // end\n}\n", REPLACE("", "g(a, b)", "h(a, b)"),
         "void f(void)\n{\n   h(a, /* one */\n     b); // end\n}\n"},
        {"a.c", "struct s x = {\n   .flags = A |\n      B, /* c */\n};\n",
         REPLACE("", ".flags = $f", ".flags = $f | C"),
         "struct s x = {\n   .flags = A |\n      B | C, /* c */\n};\n"},
        {"a.c", "void f(void) { g(a, b /* keep */, c); }\n", REPLACE("", "g(a ... c)", "g(a ... c, d)"),
         "void f(void) { g(a, b /* keep */, c, d); }\n"},
        {"a.c", "void f(void) { g(a); }\n", REPLACE("", "g(a ... )", "g(a ..., b)"),
         "void f(void) { g(a, b); }\n"},
        {"a.c", "void f(void)\n{\n\tg();\n}\n", REPLACE("", "g();", "if (x) {\n         g();\n      }"),
         "void f(void)\n{\n\tif (x) {\n\t   g();\n\t}\n}\n"},
        {"a.py", "x = f(a,  # one\n      b)\n", REPLACE("", "f(a, b)", "f(a, b, c)"),
         "x = f(a,  # one\n      b, c)\n"},
        {"meson.build", "x = f('a', # one\n  'b')\n", REPLACE("", "f('a', 'b')", "f('a', 'b', 'c')"),
         "x = f('a', # one\n  'b', 'c')\n"},
    };
    CHECK(rows);
}

static void inserted_lines_have_the_indentation_of_their_place(void **state)
{
    static const struct row rows[] = {
        {"a.c", "void f(void)\n{\n      g();\n}\n", BEFORE("", "g();", "if (x) {\n         h();\n      }"),
         "void f(void)\n{\n      if (x) {\n         h();\n      }\n      g();\n}\n"},
        {"a.c", "void f(void)\n{\n\tg(); /* c */\n\th();\n}\n", AFTER("", "g();", "i();\n      j();"),
         "void f(void)\n{\n\tg(); /* c */\n\ti();\n\tj();\n\th();\n}\n"},
        {"a.py", "class C:\n    def f(self):\n        g()\n", AFTER("", "g()", "h()\n      i()"),
         "class C:\n    def f(self):\n        g()\n        h()\n        i()\n"},
        {"meson.build", "x = files(\n  'a',\n  'b',\n)\n", BEFORE("", "'b'", "'n',"),
         "x = files(\n  'a',\n  'n',\n  'b',\n)\n"},
        {"a.c", "#include \"a.h\"\n#include \"b.h\"\n\nint x;\n", AFTER("", "#include \"b.h\"", "#include \"c.h\""),
         "#include \"a.h\"\n#include \"b.h\"\n#include \"c.h\"\n\nint x;\n"},
        {"a.c", "#include \"a.h\"\nint x;\n", BEFORE("", "#include \"a.h\"", "#include \"0.h\""),
         "#include \"0.h\"\n#include \"a.h\"\nint x;\n"},
        {"a.c", "int a;\nint b;\n", AFTER("", "int a;", "int n;"), "int a;\nint n;\nint b;\n"},
        {"a.c", "int a;", AFTER("", "int a;", "int n;"), "int a;\nint n;"},
        {"notes.txt", "one\ntwo\n", AFTER("", "one", "and"), "one\nand\ntwo\n"},
    };
    CHECK(rows);
}

static void a_comment_stays_with_what_it_speaks_of(void **state)
{
    static const struct row rows[] = {
        {"a.c", "void f(void)\n{\n   a();\n\n   /* About g.\n    * More. */\n   g();\n}\n",
         BEFORE("", "g();", "h();"),
         "void f(void)\n{\n   a();\n\n   h();\n   /* About g.\n    * More. */\n   g();\n}\n"},
        {"a.c", "/* licence */\n\n/* About f. */\nvoid f(void)\n{\n}\n",
         BEFORE("", "void f(void) { }", "void n(void)\n      {\n      }"),
         "/* licence */\n\nvoid n(void)\n{\n}\n\n/* About f. */\nvoid f(void)\n{\n}\n"},
        {"a.c", "void f(void)\n{\n   a(); // about a\n   g();\n}\n", BEFORE("", "g();", "h();"),
         "void f(void)\n{\n   a(); // about a\n   h();\n   g();\n}\n"},
        {"a.c", "void f(void)\n{\n   a(); // see /* here\n   g(); /* c */\n}\n", BEFORE("", "g();", "h();"),
         "void f(void)\n{\n   a(); // see /* here\n   h();\n   g(); /* c */\n}\n"},
        {"a.c", "void f(void)\n{\n   g(); /* one\n             two */\n   i();\n}\n", AFTER("", "g();", "h();"),
         "void f(void)\n{\n   g(); /* one\n             two */\n   h();\n   i();\n}\n"},
        {"a.py", "# about x\nx = 1\n\n# about y\ny = 2\n", BEFORE("", "y = 2", "n = 3"),
         "# about x\nx = 1\n\nn = 3\n# about y\ny = 2\n"},
    };
    CHECK(rows);
}

static void on_a_shared_line_the_text_goes_in_line(void **state)
{
    static const struct row rows[] = {
        {"a.c", "void f(void) { g(); i(); }\n", AFTER("", "g();", "h();"), "void f(void) { g(); h(); i(); }\n"},
        {"a.c", "void f(void) { g(); i(); }\n", BEFORE("", "i();", "h();"), "void f(void) { g(); h(); i(); }\n"},
        {"meson.build", "x = ['a', 'b']\n", BEFORE("", "'b'", "'n',"), "x = ['a', 'n', 'b']\n"},
        {"a.c", "void f(void) { g(); i(); }\n", AFTER("", "g();", "if (x)\n        h();"),
         "void f(void) { g();\nif (x)\n  h();\n i(); }\n"},
    };
    CHECK(rows);
}

static void a_list_is_appended_to_in_its_own_manner(void **state)
{
    static const struct row rows[] = {
        {"a.c", "enum e {\n   A,\n   B,\n};\n", APPEND("enum e", "C,"), "enum e {\n   A,\n   B,\n   C,\n};\n"},
        {"a.c", "enum e {\n   A,\n   B\n};\n", APPEND("enum e", "C"), "enum e {\n   A,\n   B,\n   C\n};\n"},
        {"a.c", "enum e { A, B };\n", APPEND("enum e", "C"), "enum e { A, B, C };\n"},
        {"a.c", "enum e { A, B, };\n", APPEND("enum e", "C"), "enum e { A, B, C };\n"},
        {"a.c", "enum e {\n   A,\n   B /* last */\n};\n", APPEND("enum e", "C"),
         "enum e {\n   A,\n   B, /* last */\n   C\n};\n"},
        {"a.c", "enum e {\n   A, // last\n};\n", APPEND("enum e", "C"), "enum e {\n   A, // last\n   C,\n};\n"},
        {"a.c", "struct s {\n   int a;\n};\n", APPEND("struct s", "int b;"),
         "struct s {\n   int a;\n   int b;\n};\n"},
        {"a.c", "struct s { int a; };\n", APPEND("struct s", "int b;"), "struct s { int a; int b; };\n"},
        {"a.c", "struct s { };\n", APPEND("struct s", "int b;"), "struct s { int b;  };\n"},
        {"a.c", "int x[] = {};\n", APPEND("initialiser of x", "1"), "int x[] = {1};\n"},
        {"a.c", "int x[] = {\n};\n", APPEND("initialiser of x", "1"), "int x[] = {\n   1\n};\n"},
        {"a.c", "void f(void) { g(a); }\n", APPEND("call g", "b"), "void f(void) { g(a, b); }\n"},
        {"a.c", "void f(void) { g(); }\n", APPEND("call g", "b"), "void f(void) { g(b); }\n"},
        {"a.c", "void f(void) { x = (struct s) { .a = 1 }; }\n", APPEND("initialiser of x", ".b = 2"),
         "void f(void) { x = (struct s) { .a = 1, .b = 2 }; }\n"},
        {"a.c", "void f(void)\n{\n   g();\n}\n", APPEND("function f", "h();"),
         "void f(void)\n{\n   g();\n   h();\n}\n"},
        {"a.c", "struct s x = {\n   .a = 1,\n#ifdef B\n   .b = 2\n#endif\n};\n", APPEND("initialiser of x", ".c = 3"),
         "struct s x = {\n   .a = 1,\n#ifdef B\n   .b = 2,\n#endif\n   .c = 3\n};\n"},
        {"a.py", "x = [\n    1,\n    2,\n]\n", APPEND("initialiser of x", "3"), "x = [\n    1,\n    2,\n    3,\n]\n"},
        {"a.py", "x = [1, 2]\n", APPEND("initialiser of x", "3"), "x = [1, 2, 3]\n"},
        {"a.py", "f(\n    a = 1\n)\n", APPEND("call f", "b = 2"), "f(\n    a = 1,\n    b = 2\n)\n"},
        {"meson.build", "x = files(\n  'a',\n  'b',\n)\n", APPEND("initialiser of x", "'c'"),
         "x = files(\n  'a',\n  'b',\n  'c',\n)\n"},
        {"meson.build", "x = ['a'] # c\n", APPEND("initialiser of x", "'c'"), "x = ['a', 'c'] # c\n"},
    };
    CHECK(rows);
}

static void what_is_removed_takes_its_line_along(void **state)
{
    static const struct row rows[] = {
        {"a.c", "void f(void)\n{\n   a();\n   b();\n   c();\n}\n", REMOVE("    in function f\n", "b();", "a(); c();"),
         "void f(void)\n{\n   a();\n   c();\n}\n"},
        {"a.c", "void f(void) { a(); b(); c(); }\n", REMOVE("", "b();", "a(); c();"),
         "void f(void) { a(); c(); }\n"},
        {"a.c", "void f(void) { a(); b();\n}\n", REMOVE("", "b();", "a();"), "void f(void) { a();\n}\n"},
        {"a.c", "void f(void) { a(); b(); }\n", REMOVE("", "b();", "a();"), "void f(void) { a(); }\n"},
        {"a.py", "x = 1\ny = 2\nz = 3\n", REMOVE("", "y = 2", "x = 1\n      z = 3"), "x = 1\nz = 3\n"},
    };
    CHECK(rows);
}

static void a_file_keeps_its_own_line_breaks(void **state)
{
    static const struct row rows[] = {
        {"a.c", "void f(void)\r\n{\r\n   a();\r\n   g();\r\n}\r\n", AFTER("", "a();", "b();\n      c();"),
         "void f(void)\r\n{\r\n   a();\r\n   b();\r\n   c();\r\n   g();\r\n}\r\n"},
        {"a.c", "void f(void)\r\n{\r\n   a();\r\n\r\n   // c\r\n   g();\r\n}\r\n", BEFORE("", "g();", "b();"),
         "void f(void)\r\n{\r\n   a();\r\n\r\n   b();\r\n   // c\r\n   g();\r\n}\r\n"},
        {"a.c", "void f(void)\r\n{\r\n   g(a,\r\n     b);\r\n}\r\n", REPLACE("", "g(a, b);", "if (x)\n        g(a, b);"),
         "void f(void)\r\n{\r\n   if (x)\r\n     g(a,\r\n     b);\r\n}\r\n"},
        {"a.c", "enum e {\r\n   A,\r\n};\r\n", APPEND("enum e", "B"), "enum e {\r\n   A,\r\n   B,\r\n};\r\n"},
        {"a.c", "#include \"a.h\"\r\nint x;\r\n", AFTER("", "#include \"a.h\"", "#include \"b.h\""),
         "#include \"a.h\"\r\n#include \"b.h\"\r\nint x;\r\n"},
        {"a.c", "void f(void)\r\n{\r\n   a();\r\n   b();\r\n}\r\n", REMOVE("", "b();", "a();"),
         "void f(void)\r\n{\r\n   a();\r\n}\r\n"},
        {"a.py", "x = 1\r\ny = 2\r\n", AFTER("", "x = 1", "n = 3"), "x = 1\r\nn = 3\r\ny = 2\r\n"},
        {"meson.build", "x = [\r\n  'a',\r\n]\r\n", APPEND("initialiser of x", "'b'"),
         "x = [\r\n  'a',\r\n  'b',\r\n]\r\n"},
    };
    CHECK(rows);
}

static void a_file_without_a_last_newline_stays_so(void **state)
{
    static const struct row rows[] = {
        {"a.c", "int a;\nint f(void) { return g(a); }", REPLACE("", "g(a)", "h(a)"),
         "int a;\nint f(void) { return h(a); }"},
        {"meson.build", "x = ['a']", APPEND("initialiser of x", "'b'"), "x = ['a', 'b']"},
    };
    CHECK(rows);
}

static void bytes_that_are_no_text_survive(void **state)
{
    struct world *w = *state;
    static const char source[] = "void f(void) { g(a, /* \0 \xff */ b); }\n";
    static const char want[] = "void f(void) { g(a, /* \0 \xff */ b, c); }\n";
    add_patch(w, "one", "edit a.c\n" REPLACE("", "g(a ... b)", "g(a ... b, c)"));
    assert_int_equal(tp_write_file(at(w, "a.c"), source, sizeof source - 1, 0644, NULL), 0);
    assert_int_equal(run_and_write(w), 0);
    assert_string_equal(tp_state_name(state_of(w, 0)), "applied");
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(at(w, "a.c"), 0, &b, NULL), 0);
    assert_int_equal(b.len, sizeof want - 1);
    assert_memory_equal(b.data, want, b.len);
    tp_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(a_replacement_writes_only_the_difference),
        in_world(inserted_lines_have_the_indentation_of_their_place),
        in_world(a_comment_stays_with_what_it_speaks_of),
        in_world(on_a_shared_line_the_text_goes_in_line),
        in_world(a_list_is_appended_to_in_its_own_manner),
        in_world(what_is_removed_takes_its_line_along),
        in_world(a_file_keeps_its_own_line_breaks),
        in_world(a_file_without_a_last_newline_stays_so),
        in_world(bytes_that_are_no_text_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
