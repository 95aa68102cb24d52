/* Proof lines: what they say, and when they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "factory/edit/patchfile.h"
#include "factory/prove/expect.h"

static const char facts_text[] =
    "{\"driver_info\": \"Mesa 25.0.7 (WN-1-b)\", \"drm\": {\"has_render\": true, \"has_primary\": false},"
    " \"extensions\": [\"VK_A\", \"VK_AB\"], \"usage\": 512, \"big\": \"0x10000200\"}";
static const char calls_text[] =
    "[{\"call\": \"CREATE\", \"flags\": \"0x813\"}, {\"call\": \"CREATE\", \"flags\": \"0x812\"},"
    " {\"call\": \"gpu\", \"tiles\": 3}, {\"call\": \"gpu\", \"tiles\": 0}, {\"call\": \"other\"}]";
static const char note_text[] =
    "{\"chips\": [{\"name\": \"FD7\", \"quirks\": [\"x = True\"]}, {\"name\": \"A (TM) 8\", \"quirks\": []}]}";

static bool holds(const char *line)
{
    struct tp_expect x;
    struct tp_error e = {0};
    if (tp_expect_parse(line, "test", &x, &e))
        fail_msg("%s: %s", line, e.what);
    json_t *facts = json_loads(facts_text, 0, NULL), *calls = json_loads(calls_text, 0, NULL);
    json_t *note = json_loads(note_text, 0, NULL);
    struct tp_seen seen = {.facts = facts, .calls = calls, .note = note, .file = "some bytes",
                           .file_len = 10};
    char *detail = NULL;
    bool yes = tp_expect_holds(&x, &seen, &detail);
    assert_non_null(detail);
    assert_true(*detail);
    free(detail);
    json_decref(facts);
    json_decref(calls);
    json_decref(note);
    tp_expect_finish(&x);
    return yes;
}

static void a_line_holds_where_what_was_seen_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool yes;
    } rows[] = {
        {"fact driver_info has WN-1-b", true},
        {"fact driver_info has WN-1-p", false},
        {"fact drm.has_render is true", true},
        {"fact drm.has_primary is true", false},
        {"fact drm.none is true", false},
        {"fact none lacks x", false}, /* what was not seen proves nothing */
        {"fact extensions has VK_A", true},
        {"fact extensions has VK_", false}, /* a whole name */
        {"fact extensions lacks VK_B", true},
        {"fact extensions lacks VK_AB", false},
        {"fact usage is 0x200", true},
        {"fact big is 0x10000200", true},
        {"fact big has 0x200", true},
        {"fact big lacks 0x100", true},
        {"call CREATE flags has 0x10", true},
        {"call CREATE flags has 0x1", false}, /* not in each */
        {"call CREATE flags lacks 0x4", true},
        {"call NEVER flags lacks 0x4", false}, /* no call proves nothing */
        {"sum gpu tiles is 3", true},
        {"sum gpu tiles is 0", false},
        {"sum never tiles is 0", false},
        {"text has \"me by\"", true},
        {"text lacks \"me by\"", false},
        {"text has \"absent\"", false},
        {"chip FD7 has x = True", true},
        {"chip FD7 lacks x = True", false},
        {"chip \"A (TM) 8\" lacks x = True", true},
        {"chip FD8 lacks x = True", false}, /* an unknown chip proves nothing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (holds(rows[i].line) != rows[i].yes)
            fail_msg("%s", rows[i].line);
    }
}

static void a_run_of_its_own_and_a_variant_are_read(void **state)
{
    (void)state;
    struct tp_expect x;
    assert_int_equal(tp_expect_parse("b run --only a --n 5 X=1 : sum gpu tiles is 0", "t", &x, NULL), 0);
    assert_int_equal(x.variant, 'b');
    assert_string_equal(x.run, "--only a --n 5 X=1");
    assert_int_equal(x.subject, TP_EXPECT_SUM);
    assert_true(tp_expect_needs_run(&x));
    tp_expect_finish(&x);
}

static void a_line_that_says_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "colour is red", "fact", "fact x", "fact x was y", "fact x is",
                                      "call x", "call x y", "text has", "run --x", "run --x fact a is b",
                                      "b", "b run : ", "chip", "sum a b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tp_expect x;
        struct tp_error e = {0};
        if (tp_expect_parse(bad[i], "60-a.edit", &x, &e) != -EINVAL)
            fail_msg("'%s' is taken", bad[i]);
        assert_string_equal(e.where, "60-a.edit");
        assert_true(*e.todo);
    }
}

static void every_proof_line_of_the_patches_is_one(void **state)
{
    (void)state;
    struct tp_patch_set set;
    struct tp_error e = {0};
    const char *dir = getenv("TP_PATCHES");
    assert_non_null(dir);
    assert_int_equal(tp_patch_set_read(dir, &set, &e), 0);
    int n = 0;
    for (int i = 0; i < set.n; i++) {
        for (int k = 0; k < set.patches[i].n_proofs; k++, n++) {
            struct tp_expect x;
            if (tp_expect_parse(set.patches[i].proofs[k], set.patches[i].file, &x, &e))
                fail_msg("%s: %s", set.patches[i].file, e.what);
            tp_expect_finish(&x);
        }
    }
    assert_true(n > 15);
    tp_patch_set_finish(&set);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_holds_where_what_was_seen_says_so),
        cmocka_unit_test(a_run_of_its_own_and_a_variant_are_read),
        cmocka_unit_test(a_line_that_says_nothing_is_refused),
        cmocka_unit_test(every_proof_line_of_the_patches_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
