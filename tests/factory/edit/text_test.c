/* How a text is cut into declarations, and that trees kept over a change are those of a fresh text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/edit/text.h"

static void assert_pieces(enum tp_language lang, const char *source, const char *const *firsts)
{
    struct tp_text t;
    tp_text_init(&t, lang, source, strlen(source));
    int n = 0;
    for (; firsts[n]; n++) {
        assert_true(n < t.n_chunks);
        if (!tp_token_is(&t, t.chunks[n].first, firsts[n]))
            fail_msg("piece %d does not begin with %s", n, firsts[n]);
    }
    assert_int_equal(t.n_chunks, n);
    tp_text_finish(&t);
}

static void python_is_cut_at_statements_of_the_first_column(void **state)
{
    (void)state;
    assert_pieces(TP_LANG_PYTHON, "import a\nx = f(\n1,\n2)\nclass C:\n    y = 1\n\n    z = 2\nlast()\n",
                  (const char *const[]){"import", "x", "class", "last", NULL});
}

static void python_keeps_the_parts_of_a_statement_together(void **state)
{
    (void)state;
    assert_pieces(TP_LANG_PYTHON,
                  "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n"
                  "try:\n    f()\nexcept X:\n    g()\nfinally:\n    h()\n"
                  "@one\n@two(3)\ndef i():\n    pass\nj = 1 + \\\n2\n\"\"\"text\nmore\n\"\"\"\nk()\n",
                  (const char *const[]){"if", "try", "@", "j", "\"\"\"text\nmore\n\"\"\"", "k", NULL});
}

static void c_is_cut_at_declarations_and_directives(void **state)
{
    (void)state;
    assert_pieces(TP_LANG_C,
                  "#include <a.h>\nstruct s { int x; } v;\nint f(void) { return 1; }\n"
                  "static const int t[] = { 1, 2 };\n#define M 1\nint g(void);\n",
                  (const char *const[]){"#", "struct", "int", "static", "#", "int", NULL});
}

/* Every tree of a text, as the grammar's own notation. */
static char *all_trees(struct tp_text *t)
{
    struct tp_buf b = {0};
    for (int i = 0; i < t->n_chunks; i++) {
        TSNode node = tp_text_node_over(t, t->chunks[i].first, t->chunks[i].last);
        while (!ts_node_is_null(node) && !ts_node_is_null(ts_node_parent(node)))
            node = ts_node_parent(node);
        char *s = ts_node_is_null(node) ? NULL : ts_node_string(node);
        tp_buf_addf(&b, "%d-%d %s\n", t->chunks[i].first, t->chunks[i].last, s ? s : "none");
        free(s);
    }
    return tp_buf_take(&b);
}

static void trees_kept_over_changes_are_those_of_a_fresh_text(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "int a(void) { return 1; }\n#if X\nint b(int y) { if (y) { return 2; } return 3; }\n#else\n"
        "int b(int y);\n#endif\nstruct c { int d; };\nenum e { F, G };\nint h = sizeof(struct c);\n",
        "import a\nif x:\n    y()\nelse:\n    z()\nadd([\n    A(1),\n    B(name = \"c\"),\n], C(\n    d = 1,\n))\n"
        "@dec\ndef f(x):\n    return x\nlast = {1: 2}\n",
    };
    static const char *const inserts[] = {"", " ", "\n", "{", "}", "(", ")", ";", "x", "if", "else:\n",
                                          "/*", "*/", "#if Y\n", "#endif\n", "\"", "@", "\\\n", "    "};
    unsigned seed = 1;
    for (int round = 0; round < 1000; round++) {
        enum tp_language lang = round % 2 ? TP_LANG_PYTHON : TP_LANG_C;
        struct tp_text t, fresh;
        tp_text_init(&t, lang, sources[round % 2], strlen(sources[round % 2]));
        for (int change = 0; change < 4; change++) {
            free(all_trees(&t)); /* so that there are trees to keep */
            seed = seed * 1103515245u + 12345u;
            size_t at = (seed >> 8) % (t.bytes.len + 1), len = (seed >> 4) % 4;
            const char *with = inserts[(seed >> 16) % (sizeof inserts / sizeof *inserts)];
            if (len > t.bytes.len - at)
                len = t.bytes.len - at;
            tp_text_replace(&t, at, len, with, strlen(with));
            tp_text_init(&fresh, lang, tp_buf_str(&t.bytes), t.bytes.len);
            char *kept = all_trees(&t), *anew = all_trees(&fresh);
            if (strcmp(kept, anew) != 0)
                fail_msg("round %d, change %d:\n%s\n%s---\n%s", round, change,
                         tp_buf_str(&t.bytes), kept, anew);
            free(kept);
            free(anew);
            tp_text_finish(&fresh);
        }
        tp_text_finish(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_is_cut_at_statements_of_the_first_column),
        cmocka_unit_test(python_keeps_the_parts_of_a_statement_together),
        cmocka_unit_test(c_is_cut_at_declarations_and_directives),
        cmocka_unit_test(trees_kept_over_changes_are_those_of_a_fresh_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
