#include <errno.h>

#include "support.h"

#define FORM(a, b) "  form \"f\"\n    match\n      " a "\n    replace\n      " b "\n"
#define A_TO_B "edit src/a.c\n" FORM("a();", "b();")

static const char source[] = "void f(void)\n{\n   a();\n}\n\nvoid g(void)\n{\n   c();\n}\n";

static void an_anchor_that_stands_once_is_changed(void **state)
{
    struct world *w = *state;
    assert_edited(w, "src/a.c", "void f(void) { a(); c(); }\n", FORM("a();", "b();"),
                  "void f(void) { b(); c(); }\n");
    assert_string_equal(outcome(w, 0, 0)->form->name, "f");
    assert_int_equal(outcome(w, 0, 0)->line, 1);
}

static void the_states_of_a_form_are_those_of_the_table(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *source;
        enum tp_state state;
        const char *words;
    } rows[] = {
        {"void f(void) { b(); }\n", TP_ALREADY, ""},
        {"void f(void) { }\n", TP_DRIFTED, "its anchor is not in the file"},
        {"void f(void) { a(); a(); }\n", TP_DRIFTED, "stands 2 times"},
        {"void f(void) { a(); b(); }\n", TP_DRIFTED, "1 of them with the change made"},
        {"void f(void) { b(); b(); }\n", TP_DRIFTED, "2 of them with the change made"},
        {"/* a(); */ void f(void) { x(\"a();\"); }\n", TP_DRIFTED, "its anchor is not"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(w, "src/a.c", rows[i].source, FORM("a();", "b();"), rows[i].state, rows[i].words);
}

static void code_that_is_never_compiled_counts_for_nothing(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *source;
        enum tp_state state;
        const char *words;
    } rows[] = {
        /* the anchor, the result, the scope: each in a dead branch */
        {"void f(void) {\n#if 0\n a();\n#endif\n}\n", TP_DRIFTED, "its anchor is not"},
        {"void f(void) {\n#if 0\n b();\n#else\n c();\n#endif\n}\n", TP_DRIFTED, "its anchor is not"},
        {"#if 0\nvoid f(void) { a(); }\n#else\nvoid f(void) { c(); }\n#endif\n", TP_DRIFTED,
         "its anchor is not"},
        {"void f(void) {\n#if 1\n c();\n#else\n a();\n#endif\n}\n", TP_DRIFTED, "its anchor is not"},
        {"void f(void) {\n#if 0 && X\n#if Y\n a();\n#endif\n#elif 1\n#else\n a();\n#endif\n}\n",
         TP_DRIFTED, "its anchor is not"},
        {"void f(void) {\n#if 0\n a();\n#else\n b();\n#endif\n}\n", TP_ALREADY, ""},
    };
    static const char form[] =
        "  form \"f\"\n    in function f\n    match\n      a();\n    replace\n      b();\n";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(w, "src/a.c", rows[i].source, form, rows[i].state, rows[i].words);
    assert_edited(w, "src/a.c", "void f(void) {\n#if 0\n a();\n#else\n a();\n#endif\n}\n", form,
                  "void f(void) {\n#if 0\n a();\n#else\n b();\n#endif\n}\n");
    assert_edited(w, "src/a.c", "#if 0\nvoid f(void) {\n#endif\n#if X\nvoid f(void) {\n#endif\n a();\n}\n", form,
                  "#if 0\nvoid f(void) {\n#endif\n#if X\nvoid f(void) {\n#endif\n b();\n}\n");
}

static void a_match_inside_a_result_is_no_anchor(void **state)
{
    struct world *w = *state;
    assert_edited(w, "src/a.c", "int x = A;\n", FORM("int x = $v;", "int x = $v | B;"), "int x = A | B;\n");
    assert_edited(w, "src/a.c", "void f(void) { g(x); }\n", FORM("g($a)", "h(g($a))"),
                  "void f(void) { h(g(x)); }\n");
    /* the result of a removal may stand inside what is removed */
    assert_edited(w, "src/a.c", "void f(void) { a(); b(); }\n",
                  "  form \"f\"\n    in function f\n    remove\n      b();\n    leaving\n      a();\n",
                  "void f(void) { a(); }\n");
}

static void forms_are_tried_in_order(void **state)
{
    struct world *w = *state;
    static const char forms[] =
        "  form \"new\"\n    in function f\n    match\n      n();\n    replace\n      b();\n"
        "  form \"old\"\n    in function f\n    match\n      a();\n    replace\n      b();\n";
    assert_edited(w, "src/a.c", "void f(void) { a(); }\n", forms, "void f(void) { b(); }\n");
    char *got = edited(w, "src/a.c", "void f(void) { a(); }\n", forms);
    assert_string_equal(outcome(w, 0, 0)->form->name, "old");
    free(got);
    got = edited(w, "src/a.c", "void f(void) { n(); a(); }\n", forms);
    assert_string_equal(outcome(w, 0, 0)->form->name, "new");
    free(got);
    /* the second must not make what the first would change again */
    assert_refused(w, "src/a.c", "void f(void) { a(); }\n",
                   "  form \"one\"\n    match\n      b();\n    replace\n      c();\n" FORM("a();", "b();"),
                   TP_FAILED, "form \"one\" fits as well");
    /* one that is unclear does not let the next one try */
    assert_refused(w, "src/a.c", "void f(void) { n(); n(); a(); }\n", forms, TP_DRIFTED, "stands 2 times");
}

static void every_match_is_changed_where_the_form_says_so(void **state)
{
    struct world *w = *state;
    static const char every[] = "  form \"f\"\n    every\n    match\n      g($x)\n    replace\n      h($x)\n";
    assert_edited(w, "src/a.c", "void f(void) { g(1); k(g(2), g(3)); }\n", every,
                  "void f(void) { h(1); k(h(2), h(3)); }\n");
    /* one inside another, three deep */
    assert_edited(w, "src/a.c", "void f(void) { g(g(g(1))); g(g(2) + g(3)); }\n", every,
                  "void f(void) { h(h(h(1))); h(h(2) + h(3)); }\n");
    /* those that are done already do not matter */
    assert_edited(w, "src/a.c", "void f(void) { h(1); g(2); }\n", every, "void f(void) { h(1); h(2); }\n");
    assert_refused(w, "src/a.c", "void f(void) { }\n", every, TP_DRIFTED, "its anchor is not");
    /* overlapping runs of siblings */
    assert_edited(w, "src/a.c", "void f(void) { a(); a(); a(); }\n",
                  "  form \"f\"\n    every\n    match\n      a(); a();\n    replace\n      b();\n",
                  "void f(void) { a(); b(); }\n");
}

static void nothing_is_inserted_beside_an_unbraced_body(void **state)
{
    struct world *w = *state;
    static const char after[] = "  form \"f\"\n    match\n      a();\n    after\n      b();\n";
    static const char before[] = "  form \"f\"\n    match\n      a();\n    before\n      b();\n";
    static const char *const sources[] = {
        "void f(void) { if (x) a(); }\n",          "void f(void) { if (x) c(); else a(); }\n",
        "void f(void) { for (;;) a(); }\n",        "void f(void) { while (x) a(); }\n",
        "void f(void) { do a(); while (x); }\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        assert_refused(w, "src/a.c", sources[i], after, TP_DRIFTED, "unbraced body");
        assert_refused(w, "src/a.c", sources[i], before, TP_DRIFTED, "unbraced body");
    }
    assert_edited(w, "src/a.c", "void f(void) { if (x) { a(); } }\n", after,
                  "void f(void) { if (x) { a(); b(); } }\n");
    assert_edited(w, "src/a.c", "void f(void)\n{\n   switch (x) {\n   case 1:\n      a();\n   }\n}\n", after,
                  "void f(void)\n{\n   switch (x) {\n   case 1:\n      a();\n      b();\n   }\n}\n");
    assert_refused(w, "src/a.cc", "void f() { for (auto x : y) a(); }\n", after, TP_DRIFTED, "unbraced body");
}

static void evidence_of_absorption_needs_every_condition(void **state)
{
    struct world *w = *state;
    static const char edit[] =
        "  absorbed-if \"upstream has it\"\n    in struct s\n    has\n      int own;\n"
        "    file src/b.h\n    has\n      MARK\n" FORM("a();", "b();");
    put(w, "src/b.h", "#define OTHER 1\n");
    assert_edited(w, "src/a.c", "struct s { int own; };\nvoid f(void) { a(); }\n", edit,
                  "struct s { int own; };\nvoid f(void) { b(); }\n");
    put(w, "src/b.h", "#define MARK 1\n");
    assert_refused(w, "src/a.c", "struct s { int own; };\nvoid f(void) { a(); }\n", edit, TP_ABSORBED,
                   "upstream has it (src/a.c:1 has `int own;`; src/b.h:1 has `MARK`)");
    /* a result that is there comes before any evidence */
    assert_refused(w, "src/a.c", "struct s { int own; };\nvoid f(void) { b(); }\n", edit, TP_ALREADY, "");
}

static void absence_needs_something_that_is_there(void **state)
{
    struct world *w = *state;
    static const char edit[] = "  absent-when \"no A8XX\"\n    in enum chip\n    lacks\n      A8XX\n"
                               FORM("a();", "b();");
    assert_refused(w, "src/a.c", "enum chip { A6XX, A7XX };\n", edit, TP_NOT_APPLICABLE,
                   "no A8XX (src/a.c:1 lacks `A8XX`)");
    assert_refused(w, "src/a.c", "enum chip { A6XX, A8XX };\n", edit, TP_DRIFTED, "its anchor is not");
    /* the scope is missing: that is no evidence */
    assert_refused(w, "src/a.c", "enum gpu { A6XX, A7XX };\n", edit, TP_DRIFTED, "its anchor is not");
    static const char file[] = "  absent-when \"no file\"\n    file src/none.c missing\n" FORM("a();", "b();");
    assert_refused(w, "src/a.c", "int x;\n", file, TP_NOT_APPLICABLE, "no file (src/none.c does not exist)");
    put(w, "src/none.c", "");
    assert_refused(w, "src/a.c", "int x;\n", file, TP_DRIFTED, "");
    /* another file that is not there lacks nothing */
    static const char lacks[] = "  absent-when \"r\"\n    file src/nowhere.c\n    lacks\n      A\n"
                                FORM("a();", "b();");
    assert_refused(w, "src/a.c", "int x;\n", lacks, TP_DRIFTED, "");
}

static void a_file_that_is_not_there_is_drift_without_evidence(void **state)
{
    struct world *w = *state;
    add_patch(w, "one", "edit src/gone.c\n" FORM("a();", "b();"));
    add_patch(w, "two", "edit src/gone.c\n  absent-when \"never had it\"\n    file missing\n" FORM("a();", "b();"));
    assert_int_equal(run(w), 0);
    assert_int_equal(state_of(w, 0), TP_DRIFTED);
    assert_string_equal(outcome(w, 0, 0)->reason, "this Mesa has no such file");
    assert_int_equal(state_of(w, 1), TP_NOT_APPLICABLE);
    assert_false(w->s.clean);
}

static void a_result_that_does_not_parse_is_a_failure(void **state)
{
    struct world *w = *state;
    assert_refused(w, "src/a.c", "int f(void) { return g(a); }\n", FORM("g($x)", "g($x +)"), TP_FAILED, "");
    assert_refused(w, "src/a.py", "x = g(a)\ny = 1\n", FORM("g($x)", "g($x if)"), TP_FAILED, "");
    /* a file that did not parse well before may stay so */
    assert_edited(w, "src/a.c", "int broken(void) { x +* ; }\nint f(void) { a(); }\n", FORM("a();", "b();"),
                  "int broken(void) { x +* ; }\nint f(void) { b(); }\n");
}

static void a_patch_that_drifts_in_one_edit_makes_none(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    add_patch(w, "1", "optional\n" A_TO_B "edit src/a.c\n" FORM("nothing();", "n();"));
    add_patch(w, "2", "edit src/a.c\n" FORM("c();", "d();"));
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_DRIFTED);
    assert_int_equal(outcome(w, 0, 0)->state, TP_APPLIED);
    assert_true(outcome(w, 0, 0)->withdrawn);
    assert_int_equal(state_of(w, 1), TP_APPLIED);
    assert_true(w->s.clean);
    assert_file(w, "src/a.c", "void f(void)\n{\n   a();\n}\n\nvoid g(void)\n{\n   d();\n}\n");
}

static void one_drift_leaves_the_tree_as_it_was(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], after[TP_SHA256_HEX];
    put(w, "src/a.c", source);
    add_patch(w, "1", A_TO_B);
    add_patch(w, "2", "edit src/a.c\n" FORM("nothing();", "n();"));
    hash_tree(w->tree, before);
    assert_int_equal(run_and_write(w), 0);
    assert_false(w->s.clean);
    assert_int_equal(state_of(w, 0), TP_APPLIED);
    assert_int_equal(tp_editing_write(&w->s, NULL), -EINVAL);
    hash_tree(w->tree, after);
    assert_string_equal(before, after);
    assert_false(is_there(w, ".turnpike"));
}

static void a_later_patch_that_undoes_an_earlier_one_is_seen(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    add_patch(w, "1", A_TO_B);
    add_patch(w, "2", "edit src/a.c\n" FORM("b();", "x();"));
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_FAILED);
    assert_non_null(strstr(outcome(w, 0, 0)->reason, "undid"));
    assert_false(w->s.clean);
    assert_file(w, "src/a.c", source);
    /* also when the first was there already */
    put(w, "src/a.c", "void f(void) { b(); }\n");
    assert_int_equal(run(w), 0);
    assert_int_equal(state_of(w, 0), TP_FAILED);
}

static void an_optional_patch_that_is_undone_later_is_left_out_whole(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    put(w, "src/b.c", "int one;\n");
    add_patch(w, "1", "optional\n" A_TO_B "edit src/b.c\n" FORM("int one;", "int two;"));
    add_patch(w, "2", "edit src/a.c\n" "  form \"f\"\n    in function f\n    match\n      $x();\n    replace\n      z();\n");
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_FAILED);
    assert_int_equal(state_of(w, 1), TP_APPLIED);
    assert_true(outcome(w, 0, 1)->withdrawn);
    assert_true(w->s.clean);
    assert_file(w, "src/b.c", "int one;\n");
    assert_file(w, "src/a.c", "void f(void)\n{\n   z();\n}\n\nvoid g(void)\n{\n   c();\n}\n");
}

static void a_patch_without_what_it_needs_is_not_made(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    add_patch(w, "1", "optional\nedit src/a.c\n" FORM("nothing();", "n();"));
    add_patch(w, "2", "needs 1\n" A_TO_B);
    assert_int_equal(run(w), 0);
    assert_int_equal(state_of(w, 1), TP_DRIFTED);
    assert_non_null(strstr(outcome(w, 1, 0)->reason, "it needs the patch 1"));
    assert_false(w->s.clean);
    const char *without[] = {"1", NULL};
    w->sel.without = without;
    assert_int_equal(run(w), -EINVAL);
    assert_string_equal(w->e.what, "patch 2 needs 1");
    const char *both[] = {"1", "2", NULL};
    w->sel.without = both;
    assert_int_equal(run(w), 0);
    assert_int_equal(w->s.n, 0);
    assert_true(w->s.clean);
}

static void patches_are_chosen_by_variant_target_and_name(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    add_patch(w, "b-only", "variants b\n" A_TO_B);
    add_patch(w, "off", "off not yet\nedit src/a.c\n" FORM("c();", "d();"));
    add_patch(w, "p-android", "variants p\ntargets android\nedit src/a.c\n" FORM("c();", "e();"));
    add_patch(w, "split", "edit src/a.c\n  variants p\n" FORM("a();", "p();"));
    static const struct {
        char variant;
        const char *target, *want;
    } rows[] = {
        {'b', "host", "b-only"},
        {'p', "host", "split"},
        {'p', "android-arm64", "p-android split"},
        {'b', "host-android", "b-only"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        w->sel.variant = rows[i].variant;
        w->sel.target = rows[i].target;
        assert_int_equal(run(w), 0);
        struct tp_buf ids = {0};
        for (int k = 0; k < w->s.n; k++)
            tp_buf_addf(&ids, "%s%s", k ? " " : "", w->s.patches[k].patch->id);
        assert_string_equal(tp_buf_str(&ids), rows[i].want);
        tp_buf_finish(&ids);
    }
    const char *with[] = {"off", NULL}, *unknown[] = {"nobody", NULL};
    w->sel = (struct tp_selection){.target = "host", .variant = 'b', .with = with};
    assert_int_equal(run(w), 0);
    assert_int_equal(w->s.n, 2);
    w->sel.with = unknown;
    assert_int_equal(run(w), -EINVAL);
    assert_string_equal(w->e.where, "--with");
    assert_non_null(strstr(w->e.todo, "b-only, off"));
    w->sel = (struct tp_selection){.target = "moon", .variant = 'b'};
    assert_int_equal(run(w), -EINVAL);
    w->sel = (struct tp_selection){.target = "host", .variant = 'q'};
    assert_int_equal(run(w), -EINVAL);
    w->sel = (struct tp_selection){.target = "host", .variant = 'b', .driver_version = "a\"b"};
    assert_int_equal(run(w), -EINVAL);
}

static void a_new_file_must_not_meet_another(void **state)
{
    struct world *w = *state;
    put_patch(w, "n.c", "int n;\n");
    add_patch(w, "one", "new-file src/deep/er/n.c\n  from n.c\n");
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_APPLIED);
    assert_file(w, "src/deep/er/n.c", "int n;\n");
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_ALREADY);
    tp_editing_finish(&w->s);
    assert_int_equal(tp_editing_revert(w->tree, &w->e), 0);
    assert_false(is_there(w, "src/deep"));
    put(w, "src/deep/er/n.c", "int other;\n");
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_DRIFTED);
    assert_non_null(strstr(outcome(w, 0, 0)->reason, "another file"));
    assert_file(w, "src/deep/er/n.c", "int other;\n");
}

static void a_template_is_filled_in(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    put_patch(w, "t.c", "@VARIANT@ @TARGET@ @DRIVER_VERSION@ @MESA_VERSION@ @TURNPIKE_VERSION@ @OTHER@ @\n@NOTE_JSON_C@\n");
    add_patch(w, "0", "new-file src/t.txt\n  from t.c\n  template\n");
    add_patch(w, "1", A_TO_B);
    w->sel.driver_version = "WN-9-b";
    assert_int_equal(run_and_write(w), 0);
    assert_true(w->s.clean);
    assert_file(w, "src/t.txt",
                "b host WN-9-b 25.0.7 " TP_VERSION " @OTHER@ @\n"
                "\"{\\\"turnpike\\\":\\\"" TP_VERSION "\\\",\\\"schema\\\":1,\\\"driver\\\":\\\"WN-9-b\\\","
                "\\\"variant\\\":\\\"b\\\",\\\"target\\\":\\\"host\\\",\\\"mesa\\\":\\\"25.0.7\\\","
                "\\\"patches\\\":[{\\\"id\\\":\\\"0\\\",\\\"state\\\":\\\"applied\\\",\\\"edits\\\":[\\\"applied\\\"]},"
                "{\\\"id\\\":\\\"1\\\",\\\"state\\\":\\\"applied\\\",\\\"edits\\\":[\\\"applied\\\"]}]}\"\n");
    /* the same words in a second run, where all is there already */
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_ALREADY);
    assert_int_equal(state_of(w, 1), TP_ALREADY);
}

static void an_optional_patch_whose_template_drifts_is_left_out_whole(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    put(w, "src/t.txt", "somebody else's\n");
    put_patch(w, "t.c", "@VARIANT@\n");
    add_patch(w, "1", "optional\nnew-file src/t.txt\n  from t.c\n  template\n" A_TO_B);
    add_patch(w, "2", "edit src/a.c\n" FORM("c();", "d();"));
    assert_int_equal(run_and_write(w), 0);
    assert_int_equal(state_of(w, 0), TP_DRIFTED);
    assert_true(w->s.clean);
    assert_file(w, "src/a.c", "void f(void)\n{\n   a();\n}\n\nvoid g(void)\n{\n   d();\n}\n");
}

static void the_state_of_a_patch_is_the_worst_of_its_edits(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", source);
    static const char absent[] = "edit src/a.c\n  absent-when \"r\"\n    file src/x missing\n" FORM("q();", "r();");
    static const char there[] = "edit src/a.c\n" FORM("q();", "c();");
    static const char drift[] = "edit src/a.c\n" FORM("q();", "r();");
    const struct {
        const char *one, *two;
        enum tp_state want;
    } rows[] = {
        {absent, absent, TP_NOT_APPLICABLE}, {absent, there, TP_ALREADY}, {there, A_TO_B, TP_APPLIED},
        {A_TO_B, drift, TP_DRIFTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *both = tp_asprintf("%s%s", rows[i].one, rows[i].two);
        add_patch(w, "x", both);
        free(both);
        assert_int_equal(run(w), 0);
        assert_string_equal(tp_state_name(state_of(w, 0)), tp_state_name(rows[i].want));
    }
}

static void a_scope_without_brackets_cannot_be_appended_to(void **state)
{
    assert_refused(*state, "src/a.py", "class C:\n    x = {}\n",
                   "  form \"f\"\n    in class C\n    append\n      y = 1\n", TP_DRIFTED, "no brackets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(an_anchor_that_stands_once_is_changed),
        in_world(the_states_of_a_form_are_those_of_the_table),
        in_world(code_that_is_never_compiled_counts_for_nothing),
        in_world(a_match_inside_a_result_is_no_anchor),
        in_world(forms_are_tried_in_order),
        in_world(every_match_is_changed_where_the_form_says_so),
        in_world(nothing_is_inserted_beside_an_unbraced_body),
        in_world(evidence_of_absorption_needs_every_condition),
        in_world(absence_needs_something_that_is_there),
        in_world(a_file_that_is_not_there_is_drift_without_evidence),
        in_world(a_result_that_does_not_parse_is_a_failure),
        in_world(a_patch_that_drifts_in_one_edit_makes_none),
        in_world(one_drift_leaves_the_tree_as_it_was),
        in_world(a_later_patch_that_undoes_an_earlier_one_is_seen),
        in_world(an_optional_patch_that_is_undone_later_is_left_out_whole),
        in_world(a_patch_without_what_it_needs_is_not_made),
        in_world(patches_are_chosen_by_variant_target_and_name),
        in_world(a_new_file_must_not_meet_another),
        in_world(a_template_is_filled_in),
        in_world(an_optional_patch_whose_template_drifts_is_left_out_whole),
        in_world(the_state_of_a_patch_is_the_worst_of_its_edits),
        in_world(a_scope_without_brackets_cannot_be_appended_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
