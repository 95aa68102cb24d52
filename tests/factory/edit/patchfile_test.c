#include <errno.h>

#include "support.h"

#include "factory/edit/patchfile.h"

#define HEAD "patch x\ntitle t\nupstream needed 2026-11-29 x\n" /* three lines */
#define EDIT HEAD "edit src/a.c\n"
#define FORM EDIT "  form \"f\"\n" /* the form is line 5 */

static const struct {
    const char *text;
    int line;
    const char *words;
} bad[] = {
    {"", 1, "the file is empty"},
    {"# only a comment\n", 1, "the file is empty"},
    {"title t\n", 1, "does not begin with its identifier"},
    {"patch\n", 1, "one identifier"},
    {"patch Upper\n", 1, "one identifier"},
    {"patch two words\n", 1, "one identifier"},
    {"patch a\npatch b\n", 2, "one identifier"},
    {"patch a\nnonsense here\n", 2, "'nonsense here'"},
    {"patch a\n  title t\n", 2, "wrong indentation"},
    {"patch a\n\ttitle t\n", 2, "by a tab"},
    {"patch a\ntitle \xff\n", 2, "not UTF-8"},
    {"patch a\ntitle \xc0\x80\n", 2, "not UTF-8"},
    {"patch a\ntitle \xed\xa0\x80\n", 2, "not UTF-8"},
    {"patch a\ntitle \xf4\x90\x80\x80\n", 2, "not UTF-8"},
    {"patch a\ntitle \xe2\x82\n", 2, "not UTF-8"},
    {"patch a\nupstream needed 2026-11-29 x\nedit a.c\n  form \"f\"\n    match\n      a\n    replace\n      b\n", 1, "no title"},
    {HEAD, 1, "changes nothing"},
    {"patch a\ntitle t\nupstream maybe\n", 3, "no verdict"},
    {"patch a\ntitle t\nupstream needed 2026-13-45 x\n", 3, "no verdict"},
    {"patch a\ntitle t\noff\n", 3, "reason is missing"},
    {HEAD "edit a.c\n  form \"\"\n", 5, "is empty"},
    {HEAD "proof\n", 4, "proof line is empty"},
    {HEAD "edit a.c\n  proof\n", 5, "proof line is empty"},
    {HEAD "edit a.c\n  form \"f\"\n    proof x\n", 6, "'proof x'"},
    {HEAD "edit a.c\n  form \"f\"\n    match\n      a  (b)\n    replace\n      a(b)\n", 9, "changes nothing"},
    {HEAD "edit a.c\n  form \"f\"\n    match\n      a(\"b)\n    replace\n      c\n", 7, ""},
    {HEAD "edit a.c\n  form \"f\"\n    match\n      'a\n    replace\n      c\n", 7, "does not end"},
    {HEAD "edit a.c\n  form \"f\"\n    match\n      a;\n    before\n      #if 0\n      b;\n", 9, "do not pair"},
    {"patch a\ntitle t\nedit a.c\n  form \"f\"\n    match\n      a\n    replace\n      b\n", 1, "upstream"},
    {HEAD "variants q\n", 4, "no such variant: 'q'"},
    {HEAD "variants bp\n", 4, "no such variant: 'bp'"},
    {HEAD "variants\n", 4, "an empty list"},
    {HEAD "targets windows\n", 4, "no such target: 'windows'"},
    {HEAD "targets b\n", 4, "no such target: 'b'"},
    {HEAD "needs Two Words\n", 4, "another patch"},
    {HEAD "optional maybe\n", 4, "'optional maybe'"},
    {HEAD "edit\n", 4, "no path below the tree"},
    {HEAD "edit /etc/passwd\n", 4, "no path below the tree: '/etc/passwd'"},
    {HEAD "edit ../a.c\n", 4, "no path below the tree"},
    {HEAD "edit src/../../a.c\n", 4, "no path below the tree"},
    {HEAD "edit ./src/a.c\n", 4, "no path below the tree"},
    {HEAD "edit src//a.c\n", 4, "no path below the tree"},
    {HEAD "edit src/\n", 4, "no path below the tree"},
    {HEAD "edit .turnpike/receipt.json\n", 4, "no path below the tree"},
    {EDIT, 4, "no form"},
    {EDIT "   form \"f\"\n", 5, "wrong indentation"},
    {EDIT "  form f\n", 5, "double quotes"},
    {EDIT "  form\n", 5, "double quotes"},
    {EDIT "  from x\n", 5, "'from x'"},
    {FORM, 5, "does nothing"},
    {FORM "    match\n      a\n", 5, "does nothing"},
    {FORM "     match\n", 6, "wrong indentation"},
    {FORM "    match\n    replace\n      b\n", 6, "a fragment is missing"},
    {FORM "    match\n      a\n    match\n      b\n", 8, "a second time"},
    {FORM "    match\n      a\n    replace\n      b\n    after\n      c\n", 10, "one action"},
    {FORM "    replace\n      b\n", 5, "no fragment to look for"},
    {FORM "    match a\n", 6, "'match a'"},
    {FORM "    match\n      f(\n    replace\n      b\n", 7, "no partner"},
    {FORM "    match\n      a\n    replace\n      $b\n", 9, "does not bind: 'b'"},
    {FORM "    match\n      a\n    after\n      b ... c\n", 9, "cannot hold '...'"},
    {FORM "    match\n      a\n    replace\n      ... b\n", 9, "begin or end"},
    {FORM "    remove\n      a\n    leaving\n      b ... c\n", 9, "what is left"},
    {FORM "    in function\n", 6, "no such scope"},
    {FORM "    in function two words\n", 6, "one word"},
    {FORM "    in galaxy x\n", 6, "no such scope: 'galaxy x'"},
    {FORM "    in function f with argument a\n", 6, "only a call"},
    {FORM "    in call f with argument (\n", 6, "no partner"},
    {FORM "    in call f with argument\n", 6, "one word"},
    {FORM "    append\n      b\n", 5, "end of a scope"},
    {FORM "    in struct s\n    match\n      a\n    append\n      b\n", 5, "end of a scope"},
    {FORM "    in struct s\n    every\n    append\n      b\n", 5, "end of a scope"},
    {FORM "    in struct s\n    append\n      int $b;\n", 8, "does not bind: 'b'"},
    {EDIT "  absent-when\n", 5, "double quotes"},
    {EDIT "  absent-when \"r\"\n", 5, "says nothing"},
    {EDIT "  absent-when \"r\"\n    in struct s\n", 5, "says nothing"},
    {EDIT "  absent-when \"r\"\n    file b.c\n", 5, "says nothing"},
    {EDIT "  absent-when \"r\"\n    file ../b.c missing\n", 6, "no path below the tree: '../b.c'"},
    {EDIT "  absent-when \"r\"\n    file /b.c\n    has\n      a\n", 6, "no path below the tree"},
    {EDIT "  absent-when \"r\"\n    has\n", 6, "a fragment is missing"},
    {EDIT "  absent-when \"r\"\n    is\n      a\n", 6, "'is'"},
    {EDIT "  absorbed-if \"r\"\n      has\n        a\n", 6, "wrong indentation"},
    {HEAD "variants b\nedit a.c\n  variants p\n  form \"f\"\n    match\n      a\n    replace\n      b\n", 5, "never be made"},
    {HEAD "targets linux\nedit a.c\n  targets android\n  form \"f\"\n    match\n      a\n    replace\n      b\n", 5, "never be made"},
    {HEAD "new-file src/a.c\n", 4, "where does this new file come from"},
    {HEAD "new-file src/a.c\n  from ../a.c\n", 5, "no path below the tree"},
    {HEAD "new-file src/a.c\n  from a.c\n", 4, "has no folder"},
    {HEAD "new-file src/a.c\n  form \"f\"\n", 5, "'form \"f\"'"},
};

static void what_is_wrong_is_named_with_its_line_and_a_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tp_patch p;
        struct tp_error e = {0};
        int r = tp_patch_parse(bad[i].text, strlen(bad[i].text), "dir/x.edit", NULL, &p, &e);
        if (r != -EINVAL || !strstr(e.what, bad[i].words))
            fail_msg("row %zu: want %s, got %d, %s; of:\n%s", i, bad[i].words, r, e.what, bad[i].text);
        char *where = tp_asprintf("dir/x.edit:%d", bad[i].line);
        if (strcmp(e.where, where) != 0)
            fail_msg("row %zu: want %s, got %s; of:\n%s", i, where, e.where, bad[i].text);
        free(where);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        if (!strstr(e.what, "no folder"))
            assert_true(*e.todo);
    }
    struct tp_patch p;
    struct tp_error e = {0};
    assert_int_equal(tp_patch_parse("patch a\ntitle a\0b\n", 18, "x", NULL, &p, &e), -EINVAL);
    assert_non_null(strstr(e.what, "NUL"));
}

static struct tp_patch parse(const char *text)
{
    struct tp_patch p;
    struct tp_error e = {0};
    if (tp_patch_parse(text, strlen(text), "dir/x.edit", NULL, &p, &e))
        fail_msg("%s: %s", e.where, e.what);
    return p;
}

static void a_patch_is_read_as_it_says(void **state)
{
    (void)state;
    struct tp_patch p = parse(
        "# a comment\n\npatch power-max\ntitle A title\nwhy One\nwhy two\nvariants p\n"
        "targets linux host-android\nneeds other\nproof one\nproof two\noff later\noptional\n"
        "upstream needed 2026-11-29 x\n\nedit src/a.c\n  targets linux-arm64\n  proof three four\n"
        "  absorbed-if \"up\"\n    file src/b.h\n    in struct s\n    has\n      int x;\n    lacks\n      y\n"
        "  absent-when \"no\"\n    file missing\n"
        "  form \"one\"\n    in function f\n    in call g with argument a = 1\n    every\n    match\n"
        "      a $b\n\n        c\n    replace\n      d $b\n"
        "  form \"two\"\n    in enum e\n    append\n      Y,\n"
        "  form \"three\"\n    remove\n      x;\n      y;\n    leaving\n      y;\n");
    assert_string_equal(p.file, "x.edit");
    assert_string_equal(p.id, "power-max");
    assert_string_equal(p.why, "One two");
    assert_string_equal(p.off, "later");
    assert_true(p.optional);
    assert_int_equal(p.variants, TP_VARIANT_P);
    assert_int_equal(p.targets, TP_ON_HOST | TP_ON_LINUX_ARM64 | TP_ON_HOST_ANDROID);
    assert_int_equal(p.n_needs, 1);
    assert_int_equal(p.n_proofs, 2);
    assert_int_equal(p.n_edits, 1);
    const struct tp_edit *e = &p.edits[0];
    assert_int_equal(e->targets, TP_ON_LINUX_ARM64);
    assert_int_equal(e->line, 16);
    assert_int_equal(e->n_proofs, 1);
    assert_string_equal(e->proofs[0], "three four");
    assert_int_equal(e->absorbed[0].n, 2);
    assert_string_equal(e->absorbed[0].conditions[0].file, "src/b.h");
    assert_int_equal(e->absorbed[0].conditions[0].n_scopes, 1);
    assert_null(e->absorbed[0].conditions[1].file);
    assert_int_equal(e->absorbed[0].conditions[1].kind, TP_LACKS);
    assert_int_equal(e->absent[0].conditions[0].kind, TP_FILE_MISSING);
    assert_int_equal(e->n_forms, 3);
    assert_true(e->forms[0].every);
    assert_int_equal(e->forms[0].n_scopes, 2);
    assert_string_equal(e->forms[0].anchor.text, "a $b\n\n  c");
    assert_int_equal(e->forms[0].anchor.line, 33);
    assert_int_equal(e->forms[1].action, TP_ACTION_APPEND);
    assert_string_equal(e->forms[1].result.text, "Y"); /* the comma is the list's */
    assert_int_equal(e->forms[2].action, TP_ACTION_REMOVE);
    assert_string_equal(e->forms[2].anchor.text, "x;\ny;");
    tp_patch_finish(&p);
}

static void line_breaks_may_be_those_of_windows(void **state)
{
    (void)state;
    struct tp_patch p = parse("patch x\r\ntitle t\r\nupstream needed 2026-11-29 x\r\nedit a.c\r\n  form \"f\"\r\n"
                              "    match\r\n      a\r\n      b\r\n    replace\r\n      c\r\n");
    assert_string_equal(p.edits[0].forms[0].anchor.text, "a\nb");
    tp_patch_finish(&p);
}

static void targets_have_one_name_each(void **state)
{
    (void)state;
    assert_int_equal(tp_target_bit("host"), TP_ON_HOST);
    assert_int_equal(tp_target_bit("linux-arm64"), TP_ON_LINUX_ARM64);
    assert_int_equal(tp_target_bit("host-android"), TP_ON_HOST_ANDROID);
    assert_int_equal(tp_target_bit("android-arm64"), TP_ON_ANDROID_ARM64);
    assert_int_equal(tp_target_bit("linux"), 0); /* of patches, not of builds */
    assert_int_equal(tp_target_bit(""), 0);
}

#define ANY "edit src/a.c\n  form \"f\"\n    match\n      a\n    replace\n      b\n"

static void a_folder_is_read_in_the_order_of_names(void **state)
{
    struct world *w = *state;
    put_patch(w, "20-b.edit", "patch b\ntitle t\nupstream needed 2026-11-29 x\nneeds a\n" ANY);
    put_patch(w, "10-a.edit", "patch a\ntitle t\nupstream needed 2026-11-29 x\n" ANY);
    put_patch(w, "README", "no patch");
    put_patch(w, ".30.edit", "no patch");
    struct tp_patch_set set;
    assert_int_equal(tp_patch_set_read(w->patches, &set, &w->e), 0);
    assert_int_equal(set.n, 2);
    assert_string_equal(set.patches[0].id, "a");
    assert_int_equal(strlen(set.sha256), 64);
    tp_patch_set_finish(&set);
}

static void a_set_must_hang_together(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *first, *second, *words;
    } rows[] = {
        {"patch a\ntitle t\nupstream needed 2026-11-29 x\n" ANY, "patch a\ntitle t\nupstream needed 2026-11-29 x\n" ANY, "already that of"},
        {"patch a\ntitle t\nupstream needed 2026-11-29 x\nneeds b\n" ANY, "patch b\ntitle t\nupstream needed 2026-11-29 x\n" ANY,
         "no earlier patch"},
        {"patch a\ntitle t\nupstream needed 2026-11-29 x\nneeds a\n" ANY, "patch b\ntitle t\nupstream needed 2026-11-29 x\n" ANY,
         "no earlier patch"},
        {"patch a\ntitle t\nupstream needed 2026-11-29 x\nnew-file src/n.c\n  from none.c\n",
         "patch b\ntitle t\nupstream needed 2026-11-29 x\n" ANY, "cannot be opened"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_patch(w, "1.edit", rows[i].first);
        put_patch(w, "2.edit", rows[i].second);
        struct tp_patch_set set;
        struct tp_error e = {0};
        assert_true(tp_patch_set_read(w->patches, &set, &e) < 0);
        assert_non_null(strstr(e.what, rows[i].words));
    }
    no_patches(w);
    struct tp_patch_set set;
    struct tp_error e = {0};
    assert_int_equal(tp_patch_set_read(w->patches, &set, &e), -ENOENT);
    assert_int_equal(tp_patch_set_read("/no/such/folder", &set, NULL), -ENOENT);
}

static void the_hash_covers_the_files_that_are_added(void **state)
{
    struct world *w = *state;
    char sums[2][TP_SHA256_HEX];
    put_patch(w, "a.edit", "patch a\ntitle t\nupstream needed 2026-11-29 x\nnew-file src/n.c\n  from n/n.c\n");
    for (int i = 0; i < 2; i++) {
        put_patch(w, "n/n.c", i ? "one" : "two");
        struct tp_patch_set set;
        assert_int_equal(tp_patch_set_read(w->patches, &set, NULL), 0);
        memcpy(sums[i], set.sha256, TP_SHA256_HEX);
        tp_patch_set_finish(&set);
    }
    assert_string_not_equal(sums[0], sums[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_named_with_its_line_and_a_remedy),
        cmocka_unit_test(a_patch_is_read_as_it_says),
        cmocka_unit_test(line_breaks_may_be_those_of_windows),
        cmocka_unit_test(targets_have_one_name_each),
        in_world(a_folder_is_read_in_the_order_of_names),
        in_world(a_set_must_hang_together),
        in_world(the_hash_covers_the_files_that_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
