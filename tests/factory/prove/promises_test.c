/* What a folder of patches promises of a driver, as its note says what is in it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/kgsl/chips.h"
#include "factory/prove/promises.h"

#define HEAD "title t\nupstream needed 2026-11-29 x\n"
#define FORM "  form \"f\"\n    match\n      a\n    replace\n      b\n"

static const char two_edits[] =
    "patch two\n" HEAD "targets linux\n"
    "proof fact whole is 1\nproof b fact in-b is 1\nproof p fact in-p is 1\n"
    "edit a.c\n  proof fact first is 1\n" FORM
    "edit a.c\n  variants p\n  proof fact second is 1\n" FORM;
static const char switched_off[] = "patch off-one\n" HEAD "off later\nproof fact off is 1\nedit a.c\n" FORM;

struct folder {
    char *path;
    struct tp_promises promises;
    struct tp_error e;
};

static void put(struct folder *f, const char *name, const char *text)
{
    char *path = tp_join(f->path, name);
    assert_int_equal(tp_write_file(path, text, strlen(text), 0644, &f->e), 0);
    free(path);
}

static int setup(void **state)
{
    struct folder *f = tp_calloc(1, sizeof *f);
    const char *tmp = getenv("TMPDIR");
    f->path = tp_temp_dir(tmp && *tmp ? tmp : "/tmp", &f->e);
    if (!f->path)
        return -1;
    put(f, "10-two.edit", two_edits);
    put(f, "20-off.edit", switched_off);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct folder *f = *state;
    tp_promises_finish(&f->promises);
    tp_remove_tree(f->path, NULL);
    free(f->path);
    free(f);
    return 0;
}

/* patches: the note's, as JSON without quotes' backslashes: ' for ". */
static json_t *note_of(const char *target, const char *variant, const char *patches)
{
    char *text = tp_asprintf(
        "{'target': '%s', 'variant': '%s', 'driver': 'WN-1', 'patches': %s, 'chips': ["
        "{'name': 'FD650', 'generation': 'A6XX', 'quirks': []},"
        "{'name': 'FD643', 'generation': 'A6XX', 'quirks': []},"
        "{'name': 'FD740', 'generation': 'A7XX', 'quirks': []},"
        "{'name': 'FD750', 'generation': 'A7XX', 'quirks': []}]}",
        target, variant, patches);
    for (char *s = text; *s; s++)
        *s = *s == '\'' ? '"' : *s;
    json_t *note = json_loads(text, 0, NULL);
    assert_non_null(note);
    free(text);
    return note;
}

/* The names of the promised facts, in order, with chips of runs: "whole first run@FD740". */
static void expect_names(struct folder *f, json_t *note, const char *wanted)
{
    tp_promises_finish(&f->promises);
    if (tp_promises_read(f->path, note, &f->promises, &f->e))
        fail_msg("%s: %s", f->e.where, f->e.what);
    struct tp_buf got = {0};
    for (int i = 0; i < f->promises.n; i++) {
        const struct tp_promise *p = &f->promises.at[i];
        tp_buf_addf(&got, "%s%s%s%s", i ? " " : "", p->expect.name, p->chip ? "@" : "",
                    p->chip ? p->chip : "");
    }
    assert_string_equal(tp_buf_str(&got), wanted);
    tp_buf_finish(&got);
    json_decref(note);
}

static void what_the_note_calls_applied_is_promised(void **state)
{
    struct folder *f = *state;
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'applied'}]"),
                 "whole in-b first");
    expect_names(f, note_of("host", "p", "[{'id': 'two', 'state': 'applied'}]"),
                 "whole in-p first second");
    expect_names(f, note_of("host", "p", "[{'id': 'two', 'state': 'absorbed'}]"), "");
    expect_names(f, note_of("host-android", "b", "[{'id': 'two', 'state': 'applied'}]"), "");
    expect_names(f, note_of("host", "b", "[]"), "whole in-b first"); /* it ought to be there */
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'absorbed'},"
                                         " {'id': 'off-one', 'state': 'applied'}]"), "off");
    expect_names(f, NULL, "");
}

static void an_edit_promises_by_its_own_state(void **state)
{
    struct folder *f = *state;
    expect_names(f, note_of("host", "p", "[{'id': 'two', 'state': 'applied',"
                                         "  'edits': ['not-applicable', 'applied']}]"),
                 "whole in-p second");
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'applied',"
                                         "  'edits': ['applied', null]}]"), "whole in-b first");
    /* a note of other edits knows of the patch alone */
    expect_names(f, note_of("host", "p", "[{'id': 'two', 'state': 'applied',"
                                         "  'edits': ['absorbed']}]"), "whole in-p first second");
}

static void the_table_of_chips_is_held_with_the_patches(void **state)
{
    struct folder *f = *state;
    put(f, TP_CHIPS_FILE, "# a comment\n\nfact every is 1\np fact only-p is 1\n"
                          "because two fact of-two is 1\nbecause two b fact of-b is 1\n"
                          "on FD725 fact unknown is 1\non A7XX fact seventh is 1\n");
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'absorbed'}]"), "every seventh");
    expect_names(f, note_of("host", "p", "[]"),
                 "whole in-p first second every only-p of-two seventh");
    assert_string_equal(f->promises.at[0].patch, "two");
    assert_string_equal(f->promises.at[4].patch, TP_CHIPS_PROMISE);
    assert_string_equal(f->promises.at[6].patch, "two");
    expect_names(f, NULL, "");
}

static void a_wrong_line_of_the_table_is_named(void **state)
{
    struct folder *f = *state;
    static const char *const bad[] = {"\nnonsense", "\nbecause nobody fact a is b",
                                      "\nbecause two", "\non fact"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(f, TP_CHIPS_FILE, bad[i]);
        assert_int_equal(tp_promises_read(f->path, NULL, &f->promises, &f->e), -EINVAL);
        assert_true(strstr(f->e.where, ":2") || strstr(f->e.where, "10-two.edit"));
        assert_true(*f->e.todo);
        tp_promises_finish(&f->promises);
    }
}

/* FD643 is in the driver's table, and no KGSL id reaches it. */
static void a_chip_that_nobody_knows_is_an_error(void **state)
{
    struct folder *f = *state;
    static const char *const bad[] = {"\non fd740 fact a is 1", "\non 740 fact a is 1",
                                      "\non FD740,FD9* fact a is 1", "\non A5XX fact a is 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(f, TP_CHIPS_FILE, bad[i]);
        json_t *note = note_of("host", "b", "[]");
        assert_int_equal(tp_promises_read(f->path, note, &f->promises, &f->e), -EINVAL);
        assert_non_null(strstr(f->e.what, "there is no chip"));
        assert_non_null(strstr(f->e.where, ":2"));
        tp_promises_finish(&f->promises);
        json_decref(note);
    }
    put(f, TP_CHIPS_FILE, "on A8XX,FD643 fact a is 1"); /* of the simulator's, of the driver's */
    expect_names(f, note_of("host", "b", "[]"), "whole in-b first a");
    assert_true(f->promises.has_chips);
}

static void a_run_on_several_chips_is_a_promise_each(void **state)
{
    struct folder *f = *state;
    put(f, TP_CHIPS_FILE, "on FD7*,A6XX run --n 1 : fact run is 1\nrun --n 1 : fact usual is 1\n"
                          "on FD740 run --n 1 : fact again is 1\n");
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'absorbed'}]"),
                 "run@FD650 run@FD740 run@FD750 usual again@FD740");
    const bool first[] = {true, true, true, true, false};
    for (int i = 0; i < 5; i++)
        assert_int_equal(tp_promises_is_run(&f->promises, i), first[i]);
    json_t *facts = json_pack("{s:i, s:i}", "run", 1, "again", 2), *checks = json_array();
    struct tp_seen seen = {.facts = facts};
    assert_false(tp_promises_keep_run(&f->promises, 1, &seen, checks));
    assert_int_equal(json_array_size(checks), 2); /* run@FD740 and again@FD740 */
    json_decref(checks);
    json_decref(facts);
}

static void a_run_holds_only_where_the_clients_checks_do(void **state)
{
    struct folder *f = *state;
    put(f, TP_CHIPS_FILE, "run --n 1 : fact a is 1\n");
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'absorbed'}]"), "a");
    json_t *facts = json_pack("{s:i}", "a", 1), *checks = json_array();
    json_t *bad = json_pack("[{s:s, s:b, s:s}]", "id", "fence", "ok", 0, "detail", "late");
    struct tp_seen seen = {.facts = facts};
    assert_true(tp_promise_keep(&f->promises.at[0], &seen, checks));
    seen.checks = bad;
    assert_false(tp_promise_keep(&f->promises.at[0], &seen, checks));
    assert_string_equal(json_string_value(json_object_get(json_array_get(checks, 1), "detail")),
                        "fence: late");
    put(f, TP_CHIPS_FILE, "run TURNPIKE_KGSL_FAULTS=lost : fact a is 1\n");
    expect_names(f, note_of("host", "b", "[{'id': 'two', 'state': 'absorbed'}]"), "a");
    assert_true(tp_promise_keep(&f->promises.at[0], &seen, checks)); /* a fault is no check's fault */
    json_decref(bad);
    json_decref(checks);
    json_decref(facts);
}

static void a_chips_run_is_held_against_its_own_lines(void **state)
{
    struct folder *f = *state;
    put(f, TP_CHIPS_FILE, "on FD740 fact a is 1\non A6XX fact a is 2\ntext has x\n");
    tp_promises_finish(&f->promises);
    json_t *note = note_of("host", "b", "[{'id': 'two', 'state': 'absorbed'}]");
    assert_int_equal(tp_promises_read(f->path, note, &f->promises, &f->e), 0);
    json_t *facts = json_pack("{s:i}", "a", 1), *checks = json_array();
    struct tp_seen seen = {.chip = "FD740", .facts = facts, .note = note};
    assert_true(tp_promises_keep(&f->promises, &seen, true, checks));
    seen.chip = "FD650";
    assert_false(tp_promises_keep(&f->promises, &seen, true, checks));
    seen.chip = "FD750";
    assert_true(tp_promises_keep(&f->promises, &seen, true, checks));
    assert_int_equal(json_array_size(checks), 2);
    json_decref(checks);
    json_decref(facts);
    json_decref(note);
}

/* Every chip of the sixth and seventh generation that KGSL reaches. */
static void every_chip_has_its_name_and_version_checked(void **state)
{
    (void)state;
    struct tp_promises all;
    struct tp_error e = {0};
    json_t *chips = json_array();
    size_t n;
    const struct tp_kgsl_chip *known = tp_kgsl_chips(&n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(chips, json_pack("{s:s, s:o, s:[]}", "name", known[i].name, "generation",
                                               json_sprintf("A%uXX", known[i].generation), "quirks"));
    json_t *note = json_pack("{s:s, s:s, s:[], s:o}", "target", "host", "variant", "b", "patches",
                             "chips", chips);
    if (tp_promises_read(getenv("TP_PATCHES"), note, &all, &e))
        fail_msg("%s: %s", e.where, e.what);
    for (size_t i = 0; i < n; i++) {
        int names = 0, versions = 0;
        const char *generation = known[i].generation == 6 ? "A6XX" : "A7XX";
        for (int k = 0; k < all.n; k++) {
            const struct tp_expect *x = &all.at[k].expect;
            if (x->subject != TP_EXPECT_FACT || !x->n_on ||
                !tp_expect_is_on(x, known[i].name, generation))
                continue;
            names += !strcmp(x->name, "device_name") && x->verb == TP_EXPECT_IS;
            versions += !strcmp(x->name, "api") && x->verb == TP_EXPECT_FROM;
        }
        if (known[i].generation < 8 && (names != 1 || versions != 1))
            fail_msg("%s: %d names, %d versions", known[i].name, names, versions);
    }
    tp_promises_finish(&all);
    json_decref(note);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_the_note_calls_applied_is_promised),
        IN_FOLDER(an_edit_promises_by_its_own_state),
        IN_FOLDER(the_table_of_chips_is_held_with_the_patches),
        IN_FOLDER(a_chip_that_nobody_knows_is_an_error),
        IN_FOLDER(a_wrong_line_of_the_table_is_named),
        IN_FOLDER(a_run_on_several_chips_is_a_promise_each),
        IN_FOLDER(a_run_holds_only_where_the_clients_checks_do),
        IN_FOLDER(a_chips_run_is_held_against_its_own_lines),
        cmocka_unit_test(every_chip_has_its_name_and_version_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
