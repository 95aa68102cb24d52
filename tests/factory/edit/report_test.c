#include "support.h"

#define FORM(a, b) "  form \"f\"\n    match\n      " a "\n    replace\n      " b "\n"

static const char *text_at(const json_t *j, const char *name)
{
    const char *s = json_string_value(json_object_get(j, name));
    return s ? s : "(none)";
}

static void the_json_has_the_fields_of_the_contract(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "void f(void)\n{\n   a();\n}\n");
    add_patch(w, "1", "edit src/a.c\n" FORM("a();", "b();"));
    add_patch(w, "2", "edit src/b.c\n  absent-when \"no b\"\n    file missing\n" FORM("a();", "b();"));
    assert_int_equal(run(w), 0);
    json_t *j = tp_editing_json(&w->s);
    assert_string_equal(text_at(j, "turnpike"), TP_VERSION);
    assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
    assert_string_equal(text_at(j, "tree"), w->tree);
    assert_string_equal(text_at(j, "mesa_version"), "25.0.7");
    assert_string_equal(text_at(j, "target"), "host");
    assert_string_equal(text_at(j, "variant"), "b");
    assert_true(json_is_true(json_object_get(j, "clean")));
    json_t *patches = json_object_get(j, "patches");
    assert_int_equal(json_array_size(patches), 2);
    json_t *one = json_array_get(patches, 0), *two = json_array_get(patches, 1);
    assert_string_equal(text_at(one, "id"), "1");
    assert_string_equal(text_at(one, "state"), "applied");
    assert_true(json_is_false(json_object_get(one, "optional")));
    json_t *edit = json_array_get(json_object_get(one, "edits"), 0);
    assert_string_equal(text_at(edit, "file"), "src/a.c");
    assert_int_equal(json_integer_value(json_object_get(edit, "line")), 3);
    assert_string_equal(text_at(edit, "state"), "applied");
    assert_string_equal(text_at(edit, "form"), "f");
    assert_true(json_is_null(json_object_get(edit, "reason")));
    edit = json_array_get(json_object_get(two, "edits"), 0);
    assert_string_equal(text_at(edit, "state"), "not-applicable");
    assert_string_equal(text_at(edit, "reason"), "no b (src/b.c does not exist)");
    assert_true(json_is_null(json_object_get(edit, "form")));
    json_decref(j);
}

static void a_receipt_has_each_file_before_and_after(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], after[TP_SHA256_HEX];
    put(w, "src/a.c", "int a;\n");
    tp_sha256("int a;\n", 7, before);
    tp_sha256("int b;\n", 7, after);
    put_patch(w, "n.c", "int n;\n");
    add_patch(w, "1", "edit src/a.c\n" FORM("int a;", "int b;") "new-file src/n.c\n  from n.c\n");
    for (int again = 0; again < 2; again++) { /* the same from the tree that is patched already */
        assert_int_equal(run_and_write(w), 0);
        json_t *j = tp_editing_receipt(&w->s);
        assert_null(json_object_get(j, "tree"));
        json_t *edits = json_object_get(json_array_get(json_object_get(j, "patches"), 0), "edits");
        json_t *edit = json_array_get(edits, 0), *added = json_array_get(edits, 1);
        assert_string_equal(text_at(edit, "before_sha256"), before);
        assert_string_equal(text_at(edit, "after_sha256"), after);
        assert_true(json_is_null(json_object_get(added, "before_sha256")));
        assert_int_equal(strlen(text_at(added, "after_sha256")), 64);
        json_decref(j);
    }
}

static void sources_that_are_not_utf8_do_not_break_the_json(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "void f(void)\n{\n   a(\"caf\xe9\", 1, 2, x);\n}\n");
    add_patch(w, "1", "edit src/a.c\n" FORM("a($x, 1, 2, y);", "b();"));
    assert_int_equal(run(w), 0);
    assert_int_equal(state_of(w, 0), TP_DRIFTED);
    json_t *j = tp_editing_json(&w->s);
    json_t *edits = json_object_get(json_array_get(json_object_get(j, "patches"), 0), "edits");
    assert_int_equal(json_array_size(edits), 1);
    json_t *candidates = json_object_get(json_array_get(edits, 0), "candidates");
    assert_int_equal(json_array_size(candidates), 1);
    assert_non_null(strstr(text_at(json_array_get(candidates, 0), "text"), "caf?"));
    json_decref(j);
}

static void the_table_has_a_line_an_edit_and_the_trouble_below(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "void f(void)\n{\n   a(1);\n}\n");
    add_patch(w, "good", "edit src/a.c\n" FORM("a(1);", "b(1);"));
    add_patch(w, "poor", "edit src/a.c\n  form \"g\"\n    in function g\n    match\n      a(2);\n    replace\n      c();\n");
    assert_int_equal(run(w), 0);
    struct tp_buf b = {0};
    tp_editing_table(&w->s, &b);
    static const char *const words[] = {
        "Mesa 25.0.7, target host, variant b\n",
        "good   applied         src/a.c:3 (f)\n",
        "poor   drifted         src/a.c\n",
        "poor.edit: src/a.c:0: drifted",
        "form \"g\": there is no function g",
        "starting point for a new form (line 4 of poor.edit",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(tp_buf_str(&b), words[i]))
            fail_msg("no '%s' in:\n%s", words[i], tp_buf_str(&b));
    }
    tp_buf_finish(&b);
}

static void the_diff_is_what_diff_says(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "int a;\n");
    put_patch(w, "n.c", "int n;\n");
    add_patch(w, "1", "edit src/a.c\n" FORM("int a;", "int b;") "new-file src/n.c\n  from n.c\n");
    assert_int_equal(run(w), 0);
    struct tp_buf b = {0};
    assert_int_equal(tp_editing_diff(&w->s, &b, &w->e), 0);
    assert_string_equal(tp_buf_str(&b),
                        "--- a/src/a.c\n+++ b/src/a.c\n@@ -1 +1 @@\n-int a;\n+int b;\n"
                        "--- /dev/null\n+++ b/src/n.c\n@@ -0,0 +1 @@\n+int n;\n");
    tp_buf_finish(&b);
}

/* What drift shows is taken into the patch file as it is; then the set is clean. */
static void a_starting_point_applies_as_it_is(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *path, *source, *form;
    } rows[] = {
        {"src/a.c", "void f(void)\n{\n   a(x, 2);\n   d();\n}\n", FORM("a(x, 1);", "b(x);")},
        {"src/a.c", "void f(void)\n{\n   if (q)\n      a(x, 2);\n}\n",
         "  form \"f\"\n    in function f\n    match\n      a(x, 1);\n    replace\n      b(x);\n"},
        {"src/a.c", "struct s x = {\n   .flags = A | B,\n   .n = 2,\n};\n",
         FORM(".flags = A", ".flags = A | C")},
        {"src/a.c", "void f(void)\n{\n   a();\n   mid(1, 2);\n}\n",
         "  form \"f\"\n    match\n      mid(1, 3);\n    after\n      b();\n"},
        {"src/a.c", "void f(void)\n{\n   start(dev, one);\n   other();\n}\n",
         "  form \"f\"\n    match\n      start($d, two);\n    replace\n      begin($d);\n"},
        {"src/a.c", "void f(void)\n{\n   x->flags = compute(dev, A) | B;\n}\n",
         "  form \"f\"\n    match\n      x->flags = $v | D;\n    replace\n      x->flags = $v | D | E;\n"},
        {"src/a.py", "add_gpus([\n        GPUId(620),\n    ], A6xx(1, 2))\n", FORM("GPUId(621)", "GPUId(622)")},
        {"meson.build", "x = files(\n  'a.cc',\n  'tu_b.cc',\n)\n", FORM("'a.cc', 'b.cc'", "'a.cc', 'n.cc'")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_refused(w, rows[i].path, rows[i].source, rows[i].form, TP_DRIFTED, "");
        struct tp_outcome *o = outcome(w, 0, 0);
        assert_non_null(o->starting_point);
        assert_true(o->n_candidates > 0);
        char *both = tp_asprintf("%s%s", rows[i].form, o->starting_point);
        char *got = edited(w, rows[i].path, rows[i].source, both);
        if (state_of(w, 0) != TP_APPLIED)
            fail_msg("row %zu: %s\n%s", i, got, both);
        free(got);
        free(both);
    }
}

static void drift_names_what_is_like_the_scope_that_is_missing(void **state)
{
    struct world *w = *state;
    assert_refused(w, "src/a.c", "void tu_queue_submit_kgsl(void)\n{\n   a(1);\n}\n\nvoid other(void)\n{\n}\n",
                   "  form \"f\"\n    in function kgsl_queue_submit\n    match\n      a(1);\n    replace\n      b();\n",
                   TP_DRIFTED, "there is no function kgsl_queue_submit");
    struct tp_outcome *o = outcome(w, 0, 0);
    bool named = false;
    for (int i = 0; i < o->n_candidates; i++)
        named = named || strstr(o->candidates[i].text, "tu_queue_submit_kgsl");
    assert_true(named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(the_json_has_the_fields_of_the_contract),
        in_world(a_receipt_has_each_file_before_and_after),
        in_world(sources_that_are_not_utf8_do_not_break_the_json),
        in_world(the_table_has_a_line_an_edit_and_the_trouble_below),
        in_world(the_diff_is_what_diff_says),
        in_world(a_starting_point_applies_as_it_is),
        in_world(drift_names_what_is_like_the_scope_that_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
