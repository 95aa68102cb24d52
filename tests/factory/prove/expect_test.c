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
    "{\"api\": \"1.4.305\", \"driver_info\": \"Mesa 25.0.7 (WN-1-b)\", \"drm\": {\"has_render\": true, \"has_primary\": false},"
    " \"extensions\": [\"VK_A\", \"VK_AB\"], \"usage\": 512, \"big\": \"0x10000200\"}";
static const char calls_text[] =
    "[{\"call\": \"CREATE\", \"flags\": \"0x813\"}, {\"call\": \"CREATE\", \"flags\": \"0x812\"},"
    " {\"call\": \"gpu\", \"tiles\": 3, \"registers\": [{\"register\": \"0xa980\", \"ever\": \"0x11\"},"
    "   {\"register\": \"0xb602\", \"ever\": \"0x40000\"}]},"
    " {\"call\": \"gpu\", \"tiles\": 0, \"registers\": [{\"register\": \"0xa980\", \"ever\": \"0x1\"}]},"
    " {\"call\": \"other\"}]";
/* Two contexts, the second's number is taken anew; a third that comes to one command. */
static const char places_text[] =
    "[{\"call\": \"SET\", \"pid\": 1, \"context\": 1}, {\"call\": \"SET\", \"pid\": 1, \"context\": 2},"
    " {\"call\": \"GO\", \"pid\": 1, \"context\": 1}, {\"call\": \"GO\", \"pid\": 1, \"context\": 2},"
    " {\"call\": \"SET\", \"pid\": 1, \"context\": 1}, {\"call\": \"GO\", \"pid\": 1, \"context\": 1},"
    " {\"call\": \"DRAWCTXT_DESTROY\", \"pid\": 1, \"context\": 2}, {\"call\": \"GO\"},"
    " {\"call\": \"SET\", \"pid\": 1, \"context\": 2}, {\"call\": \"GO\", \"pid\": 1, \"context\": 2}]";
static const char note_text[] =
    "{\"chips\": [{\"name\": \"FD7\", \"quirks\": [\"x = True\"]}, {\"name\": \"A (TM) 8\", \"quirks\": []}]}";

static bool holds(const char *line)
{
    struct tp_expect x;
    struct tp_error e = {0};
    if (tp_expect_parse(line, "test", &x, &e))
        fail_msg("%s: %s", line, e.what);
    bool places = x.subject == TP_EXPECT_PLACES;
    json_t *facts = json_loads(facts_text, 0, NULL), *note = json_loads(note_text, 0, NULL);
    json_t *calls = json_loads(places ? places_text : calls_text, 0, NULL);
    json_t *checks = json_loads("[{\"id\": \"fence\", \"ok\": true},"
                                " {\"id\": \"late\", \"ok\": false, \"detail\": \"why\"}]", 0, NULL);
    assert_non_null(calls);
    struct tp_seen seen = {.facts = facts, .calls = calls, .checks = checks, .note = note, .said = "no: no. not",
                           .file = "some bytes", .file_len = 10};
    char *detail = NULL;
    bool yes = tp_expect_holds(&x, &seen, &detail);
    assert_non_null(detail);
    assert_true(*detail);
    free(detail);
    json_decref(facts);
    json_decref(checks);
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
        {"call gpu registers.SP_FS_CTRL_REG0.ever has 0x1", true},
        {"call gpu registers.SP_FS_CTRL_REG0.ever has 0x10", false}, /* in one of two */
        {"some gpu registers.SP_FS_CTRL_REG0.ever has 0x10", true},
        {"some gpu registers.SP_FS_CTRL_REG0.ever has 0x100", false},
        {"call gpu registers.SP_FS_CTRL_REG0.ever lacks 0x100", true},
        {"call gpu registers.0xb602.ever has 0x40000", true}, /* those without it do not count */
        {"call gpu registers.SP_VS_CTRL_REG0.ever lacks 0x1", false}, /* never written */
        {"call gpu registers.NO_REGISTER.ever lacks 0x1", false},
        {"call gpu registers.SP_FS_CTRL_REG0.never lacks 0x1", false},
        {"call gpu tiles from 0", true},
        {"call gpu tiles from 1", false},
        {"calls CREATE is 2", true},
        {"calls CREATE from 2", true},
        {"calls CREATE from 3", false},
        {"calls NEVER is 0", true},
        {"places SET among GO is 0,1", true},
        {"places SET among GO is 0,1,9", true}, /* as far as each comes */
        {"places SET among GO is 0", false},
        {"places SET among GO is 1", false},
        {"places SET among NEVER is 0", false},
        {"places NEVER among GO is 0", false},
        {"places NEVER among NONE is 0", false},
        {"said \"no\" is 3", true},
        {"said \"no\" is 2", false},
        {"said no. from 1", true},
        {"said yes is 0", true},
        {"check fence is ok", true},
        {"check fence is failed", false},
        {"check late is failed", true},
        {"check late is ok", false},
        {"check none is ok", false}, /* one that was not run proves nothing */
        {"check none is failed", false},
        {"fact api from 1.4", true},
        {"fact api from 1.4.305", true},
        {"fact api from 1.5", false},
        {"fact api from 1.4.306", false},
        {"fact api from 1.4.305.1", false},
        {"fact api from 0.9", true},
        {"fact usage from 512", true},
        {"fact usage from 513", false},
        {"fact driver_info from 1", false},
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

static void a_line_is_on_the_chips_that_it_names(void **state)
{
    (void)state;
    struct tp_expect x;
    assert_int_equal(tp_expect_parse("p on FD7[34]0,\"A (TM) 8*\",A6XX   fact a is b", "t", &x, NULL), 0);
    assert_int_equal(x.variant, 'p');
    assert_int_equal(x.n_on, 3);
    assert_string_equal(x.value, "b");
    assert_true(tp_expect_is_on(&x, "FD740", "A7XX"));
    assert_true(tp_expect_is_on(&x, "FD730", NULL));
    assert_false(tp_expect_is_on(&x, "FD750", "A7XX"));
    assert_true(tp_expect_is_on(&x, "A (TM) 830", "A8XX"));
    assert_true(tp_expect_is_on(&x, "FD650", "A6XX"));
    assert_false(tp_expect_is_on(&x, "FD650", NULL));
    tp_expect_finish(&x);
    assert_int_equal(tp_expect_parse("on FD740 run --n 1 : calls a is 1", "t", &x, NULL), 0);
    assert_string_equal(x.run, "--n 1");
    tp_expect_finish(&x);
    assert_int_equal(tp_expect_parse("fact a is b", "t", &x, NULL), 0);
    assert_true(tp_expect_is_on(&x, "whatever", NULL));
    tp_expect_finish(&x);
}

static void a_line_that_says_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "colour is red", "fact", "fact x", "fact x was y", "fact x is",
                                      "call x", "call x y", "text has", "run --x", "run --x fact a is b",
                                      "b", "b run : ", "chip", "sum a b", "on", "on FD7", "on FD7, fact a is b",
                                      "on \"FD7\"x fact a is b", "on FD7 chip FD7 has x", "on FD7 text has x",
                                      "run a : symbol lacks x", "sum a b has 1", "sum a b is x", "calls a is",
                                      "calls a is many", "calls a lacks 1", "places a b is 0", "places a among",
                                      "places a among b is x", "places a among b is 2,1",
                                      "places a among b is 1,", "places a among b from 1", "said x has y",
                                      "fact a from b", "symbol has x", "check a is b", "check a has ok", "text is x", "chip a from 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tp_expect x;
        struct tp_error e = {0};
        if (tp_expect_parse(bad[i], "60-a.edit", &x, &e) != -EINVAL)
            fail_msg("'%s' is taken", bad[i]);
        assert_string_equal(e.where, "60-a.edit");
        assert_true(*e.todo);
    }
}

static void assert_is_proof(const char *line, const char *file)
{
    struct tp_expect x;
    struct tp_error e = {0};
    if (tp_expect_parse(line, file, &x, &e))
        fail_msg("%s: %s", file, e.what);
    tp_expect_finish(&x);
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
        const struct tp_patch *p = &set.patches[i];
        for (int k = 0; k < p->n_proofs; k++, n++)
            assert_is_proof(p->proofs[k], p->file);
        for (int j = 0; j < p->n_edits; j++) {
            for (int k = 0; k < p->edits[j].n_proofs; k++, n++)
                assert_is_proof(p->edits[j].proofs[k], p->file);
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
        cmocka_unit_test(a_line_is_on_the_chips_that_it_names),
        cmocka_unit_test(a_line_that_says_nothing_is_refused),
        cmocka_unit_test(every_proof_line_of_the_patches_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
