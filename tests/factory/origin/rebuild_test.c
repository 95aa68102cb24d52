/* Receipts as anybody may have written them; differences before and after a build. */
#include <errno.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/origin/rebuild.h"
#include "factory/package/archive.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define URL "https://git.example/mesa.git"

static const char receipt_text[] =
    "{\"schema\": 1, \"target\": \"host\", \"variant\": \"b\", \"version\": \"25.0.7\", \"build_commit\": \"abc\","
    " \"archive\": {\"file\": \"x.zip\", \"sha256\": \"" HASH "\"},"
    " \"mesa\": {\"version\": \"25.0.7\", \"source\": \"git\", \"spec\": \"git:" URL "@main\","
    "   \"revision\": \"" COMMIT "\", \"sha256\": null},"
    " \"source_date_epoch\": 7, \"options\": {\"with\": [\"one\"], \"without\": [\"two\", \"three\"]},"
    " \"toolchain\": {\"compiler\": \"gcc 12\", \"options\": [\"-Da=b\"], \"libraries\": {\"libz.a\": \"1\"}},"
    " \"patches\": [{\"id\": \"a\", \"sha256\": \"1\"}, {\"id\": \"gone\", \"sha256\": \"2\"}]}";

struct world {
    char *dir;
    json_t *receipt;
    struct tp_plan plan;
    struct tp_differences d;
    struct tp_error e;
};

static int set_up(void **state)
{
    struct world *w = tp_calloc(1, sizeof *w);
    w->dir = tp_temp_dir("/tmp", NULL);
    w->receipt = json_loads(receipt_text, 0, NULL);
    assert_non_null(w->dir);
    assert_non_null(w->receipt);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    tp_differences_finish(&w->d);
    tp_plan_finish(&w->plan);
    json_decref(w->receipt);
    tp_remove_tree(w->dir, NULL);
    free(w->dir);
    free(w);
    return 0;
}

static int plan(struct world *w)
{
    tp_plan_finish(&w->plan);
    w->e = (struct tp_error){0};
    return tp_plan_read(w->receipt, "x.receipt.json", &w->plan, &w->e);
}

static bool told(const struct world *w, const char *where, const char *words)
{
    for (size_t i = 0; i < w->d.n; i++) {
        if (!strcmp(w->d.at[i].where, where) && strstr(w->d.at[i].text, words))
            return true;
    }
    return false;
}

/* ---- receipts ---- */

static void a_receipt_says_what_to_build(void **state)
{
    struct world *w = *state;
    assert_int_equal(plan(w), 0);
    assert_string_equal(w->plan.target, "host");
    assert_int_equal(w->plan.variant, 'b');
    assert_int_equal(w->plan.epoch, 7);
    assert_string_equal(w->plan.with[0], "one");
    assert_string_equal(w->plan.without[1], "three");
    assert_null(w->plan.without[2]);
}

static void each_field_that_is_not_what_it_should_be_is_named(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *object, *key, *value, *named;
    } bad[] = {
        {NULL, "schema", "0", "schema"},
        {NULL, "schema", "2", "schema 2, which is newer"},
        {"archive", "file", "\"../x.zip\"", "archive.file"},
        {"archive", "file", "\".zip\"", "archive.file"},
        {"archive", "sha256", "\"0123\"", "archive.sha256"},
        {NULL, "target", "\"--with\"", "target"},
        {NULL, "variant", "\"bp\"", "variant"},
        {NULL, "version", "\"../../x\"", "version"},
        {NULL, "version", "7", "version"},
        {NULL, "source_date_epoch", "-1", "source_date_epoch"},
        {NULL, "patches", "{}", "patches"},
        {"mesa", "revision", "\"--upload-pack=x\"", "mesa.revision"},
        {"mesa", "sha256", "\"zz\"", "mesa.sha256"},
        {"options", "with", "[\"--json\"]", "with"},
        {"options", "without", "[[]]", "without"},
        {"options", "without", "\"a\"", "without"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_decref(w->receipt);
        w->receipt = json_loads(receipt_text, 0, NULL);
        json_t *in = bad[i].object ? json_object_get(w->receipt, bad[i].object) : w->receipt;
        json_object_set_new(in, bad[i].key, json_loads(bad[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(plan(w), -EINVAL);
        assert_int_equal(w->e.status, TP_STATUS_INPUT);
        assert_non_null(strstr(w->e.what, bad[i].named));
    }
}

static void a_receipt_that_is_no_object_is_refused_with_its_line(void **state)
{
    struct world *w = *state;
    static const char *const texts[] = {"", "[]", "{\n\"a\": 1,\n\"a\": 2}", "{", "\xff"};
    char *path = tp_join(w->dir, "r");
    json_t *j;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        w->e = (struct tp_error){0};
        assert_int_equal(tp_write_file(path, texts[i], strlen(texts[i]), 0644, NULL), 0);
        assert_int_equal(tp_receipt_read(path, &j, &w->e), -EINVAL);
        assert_null(j);
        assert_non_null(strchr(w->e.where, ':'));
    }
    free(path);
}

/* Building runs what the source says. */
static void no_source_is_taken_unasked_but_mesas_own_and_debians(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *spec, *taken;
    } specs[] = {
        {"git:" URL "@main", "git:" URL "@" COMMIT}, /* at the commit, wherever the branch is by now */
        {"git:" URL ".evil/x@main", NULL},
        {"git:https://evil.example/mesa.git@main", NULL},
        {"git:ext::sh -c id@main", NULL},
        {"/etc", NULL},
        {"", NULL},
        {"debian:25.0.7-2", NULL}, /* without the tarball's hash nothing tells whether it is the one */
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        json_object_set_new(json_object_get(w->receipt, "mesa"), "spec", json_string(specs[i].spec));
        assert_int_equal(plan(w), 0);
        char *taken = tp_plan_source(&w->plan, URL);
        if (specs[i].taken)
            assert_string_equal(taken, specs[i].taken);
        else
            assert_null(taken);
        free(taken);
    }
    json_object_set_new(json_object_get(w->receipt, "mesa"), "sha256", json_string(HASH));
    assert_int_equal(plan(w), 0);
    char *taken = tp_plan_source(&w->plan, URL);
    assert_string_equal(taken, "debian:25.0.7-2");
    free(taken);
}

/* ---- before ---- */

static void patches_that_are_gone_changed_or_new_decide(void **state)
{
    struct world *w = *state;
    assert_int_equal(plan(w), 0);
    struct tp_edit edit = {.targets = TP_ON_HOST, .variants = TP_VARIANT_B};
    struct tp_patch patches[] = {
        {.id = "a", .sha256 = "9", .targets = TP_ON_HOST, .variants = TP_VARIANT_B, .edits = &edit, .n_edits = 1},
        {.id = "new", .targets = TP_ON_HOST, .variants = TP_VARIANT_B, .edits = &edit, .n_edits = 1},
        {.id = "two", .targets = TP_ON_HOST, .variants = TP_VARIANT_B, .edits = &edit, .n_edits = 1},
        {.id = "off", .off = "retired", .targets = TP_ON_HOST, .variants = TP_VARIANT_B, .edits = &edit,
         .n_edits = 1},
        {.id = "phone", .targets = TP_ON_ANDROID_ARM64, .variants = TP_VARIANT_B, .edits = &edit, .n_edits = 1},
    };
    struct tp_patch_set here = {.patches = patches, .n = 5};
    tp_rebuild_compare_patches(w->receipt, &w->plan, &here, &w->d);
    assert_int_equal(w->d.n, 3);
    assert_true(told(w, "patch a", "SHA-256 differs"));
    assert_true(told(w, "patch gone", "not here"));
    assert_true(told(w, "patch new", "not in the receipt"));
    assert_true(tp_differences_decide(&w->d));
}

static void other_tools_are_told_and_decide_nothing(void **state)
{
    struct world *w = *state;
    json_object_set_new(json_object_get(w->receipt, "toolchain"), "launcher", json_string("ccache"));
    json_t *here = json_loads("{\"compiler\": \"gcc 13\", \"options\": [\"-Da=c\"], \"linker\": \"ld\"}", 0, NULL);
    tp_rebuild_compare_tools(w->receipt, here, &w->d);
    json_decref(here);
    assert_int_equal(w->d.n, 2); /* neither libraries that are yet to be fetched nor the launcher are of them */
    assert_true(told(w, "compiler", "was gcc 12; here it is gcc 13"));
    assert_true(told(w, "options", "differ"));
    assert_false(tp_differences_decide(&w->d));
}

static void another_mesa_is_told_by_what_both_know_of_it(void **state)
{
    struct world *w = *state;
    assert_int_equal(plan(w), 0);
    tp_rebuild_compare_mesa(&w->plan, "25.0.7", "", HASH, &w->d);
    assert_int_equal(w->d.n, 0);
    tp_rebuild_compare_mesa(&w->plan, "25.0.7", COMMIT, "", &w->d);
    assert_int_equal(w->d.n, 0);
    tp_rebuild_compare_mesa(&w->plan, "25.0.8", "beef", "", &w->d);
    assert_true(told(w, "Mesa", "version was 25.0.7; here it is 25.0.8"));
    assert_true(told(w, "Mesa", "revision"));
}

/* ---- after ---- */

static void read_fixture(const char *name, struct tp_buf *out)
{
    char *path = tp_asprintf("%s/%s.so", getenv("TP_FIXTURES"), name);
    assert_int_equal(tp_read_file(path, 0, out, NULL), 0);
    free(path);
}

/* An archive with this driver, the byte at `flip` inverted unless it is 0, and this metadata. */
static char *archive(const struct world *w, const char *name, const char *fixture, size_t flip,
                     const char *meta, bool metadata_first)
{
    struct tp_buf driver = {0}, zip = {0};
    read_fixture(fixture, &driver);
    if (flip)
        driver.data[flip] ^= 0x7f;
    struct tp_archive_entry entries[] = {{"meta.json", meta, strlen(meta)},
                                         {"libvulkan_freedreno.so", driver.data, driver.len}};
    if (!metadata_first) {
        struct tp_archive_entry first = entries[0];
        entries[0] = entries[1];
        entries[1] = first;
    }
    assert_int_equal(tp_archive_build(entries, 2, name, &zip, NULL), 0);
    char *path = tp_join(w->dir, name);
    assert_int_equal(tp_write_file(path, zip.data, zip.len, 0644, NULL), 0);
    tp_buf_finish(&zip);
    tp_buf_finish(&driver);
    return path;
}

static const char meta_text[] = "{\"name\": \"x\", \"libraryName\": \"libvulkan_freedreno.so\"}\n";

static bool compare(struct world *w, char *a, char *b)
{
    bool equal;
    tp_differences_finish(&w->d);
    assert_int_equal(tp_rebuild_compare(a, b, &equal, &w->d, &w->e), 0);
    assert_true(equal ? !w->d.n : w->d.n > 0);
    free(a);
    free(b);
    return equal;
}

static void equal_archives_have_no_difference(void **state)
{
    struct world *w = *state;
    assert_true(compare(w, archive(w, "a.zip", "linux-b", 0, meta_text, true),
                        archive(w, "b.zip", "linux-b", 0, meta_text, true)));
}

static void a_byte_of_the_driver_is_found_in_its_section(void **state)
{
    struct world *w = *state;
    struct tp_buf driver = {0};
    read_fixture("linux-b", &driver);
    char *at = memmem(driver.data, driver.len, "\"variant\"", 9); /* in the note */
    assert_non_null(at);
    size_t flip = (size_t)(at - driver.data);
    tp_buf_finish(&driver);
    assert_false(compare(w, archive(w, "a.zip", "linux-b", 0, meta_text, true),
                         archive(w, "b.zip", "linux-b", flip, meta_text, true)));
    assert_int_equal(w->d.n, 2);
    assert_true(told(w, "the driver", "SHA-256"));
    assert_true(told(w, ".note.turnpike", "1 of "));
}

static void a_driver_of_another_variant_differs_in_sections_by_name(void **state)
{
    struct world *w = *state;
    assert_false(compare(w, archive(w, "a.zip", "linux-b", 0, meta_text, true),
                         archive(w, "b.zip", "linux-p", 0, meta_text, true)));
    assert_true(told(w, ".note.turnpike", "differ"));
    assert_true(told(w, ".note.gnu.build-id", "differ"));
}

static void fields_of_the_metadata_are_told_with_both_values(void **state)
{
    struct world *w = *state;
    assert_false(compare(w, archive(w, "a.zip", "linux-b", 0, meta_text, true),
                         archive(w, "b.zip", "linux-b", 0,
                                 "{\"name\": \"y\", \"libraryName\": \"libvulkan_freedreno.so\", \"more\": 1}\n",
                                 true)));
    assert_int_equal(w->d.n, 2);
    assert_true(told(w, "meta.json", "name was \"x\"; again it is \"y\""));
    assert_true(told(w, "meta.json", "more was not there"));
}

static void another_order_alone_is_a_difference_of_the_container(void **state)
{
    struct world *w = *state;
    assert_false(compare(w, archive(w, "a.zip", "linux-b", 0, meta_text, true),
                         archive(w, "b.zip", "linux-b", 0, meta_text, false)));
    assert_int_equal(w->d.n, 1);
    assert_true(told(w, "the archive", "order"));
}

static void what_is_no_archive_is_a_difference_too(void **state)
{
    struct world *w = *state;
    char *none = tp_join(w->dir, "none.zip");
    assert_int_equal(tp_write_file(none, "PK", 2, 0644, NULL), 0);
    assert_false(compare(w, none, archive(w, "b.zip", "linux-b", 0, meta_text, true)));
}

static void the_revision_alone_is_told_from_more(void **state)
{
    struct world *w = *state;
    static const char was[] = "{\n  \"name\": \"x\",\n  \"buildCommit\": \"a\"\n}\n",
                      is[] = "{\n  \"name\": \"x\",\n  \"buildCommit\": \"b\"\n}\n",
                      more[] = "{\n  \"name\": \"y\",\n  \"buildCommit\": \"b\"\n}\n";
    const struct {
        const char *fixture, *meta;
        bool first, only;
    } again[] = {
        {"linux-b", is, true, true},
        {"linux-b", more, true, false},
        {"linux-p", is, true, false},
        {"linux-b", meta_text, true, false},
    };
    char *a = archive(w, "a.zip", "linux-b", 0, was, true), *commit;
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        char *b = archive(w, "b.zip", again[i].fixture, 0, again[i].meta, again[i].first);
        assert_int_equal(tp_rebuild_only_commit(a, b, &commit), again[i].only);
        if (again[i].only)
            assert_string_equal(commit, "a");
        else
            assert_null(commit);
        free(commit);
        free(b);
    }
    free(a);
    /* another order of the entries is more */
    a = archive(w, "c.zip", "linux-b", 0, was, false);
    char *b = archive(w, "b.zip", "linux-b", 0, is, true);
    assert_false(tp_rebuild_only_commit(a, b, &commit));
    free(b);
    free(a);
}

/* ---- the receipt's claims ---- */

/* The receipt against itself with one field set to another value, or taken away. */
static void claim(struct world *w, const char *object, const char *key, const char *value,
                  struct tp_rebuild_known known)
{
    json_t *was = json_deep_copy(w->receipt), *in = object ? json_object_get(was, object) : was;
    if (value)
        assert_int_equal(json_object_set_new(in, key, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
    else
        assert_int_equal(json_object_del(in, key), 0);
    tp_differences_finish(&w->d);
    tp_rebuild_compare_receipts(was, w->receipt, &known, &w->d);
    json_decref(was);
}

static void a_receipt_is_what_its_rebuild_says(void **state)
{
    struct world *w = *state;
    tp_rebuild_compare_receipts(w->receipt, w->receipt, &(struct tp_rebuild_known){0}, &w->d);
    assert_int_equal(w->d.n, 0);
}

static void each_false_claim_is_named_by_its_path(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *object, *key, *value, *path;
    } claims[] = {
        {NULL, "target", "\"x\"", "target"},
        {NULL, "version", "null", "version"},
        {NULL, "version", NULL, "version"},
        {NULL, "more", "1", "more"},
        {"archive", "sha256", "\"0\"", "archive.sha256"},
        {"mesa", "version", "7", "mesa.version"},
        {"options", "without", "[\"two\", \"four\"]", "options.without[1]"},
        {"options", "without", "[]", "options.without"},
        {NULL, "source_date_epoch", "8", "source_date_epoch"},
        {NULL, "patches", "{}", "patches"},
        {"mesa", "revision", "\"0\"", "mesa.revision"},
    };
    const struct tp_rebuild_known known = {true, true, true};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        claim(w, claims[i].object, claims[i].key, claims[i].value, known);
        assert_int_equal(w->d.n, 1);
        assert_string_equal(w->d.at[0].where, claims[i].path);
        assert_true(w->d.at[0].decides);
    }
}

static void what_cannot_be_told_here_decides_nothing(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *object, *key, *value;
    } claims[] = {
        {"toolchain", "compiler", "\"gcc 1\""},
        {"mesa", "spec", "\"x\""},
        {"mesa", "source", "\"x\""},
        {"mesa", "revision", "\"0\""},
        {"mesa", "sha256", "\"0\""},
        {NULL, "source_date_epoch", "8"},
        {NULL, "build_commit", "\"0\""},
        {NULL, "more", "1"}, /* of another revision, which may tell more */
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        claim(w, claims[i].object, claims[i].key, claims[i].value, (struct tp_rebuild_known){0});
        assert_int_equal(w->d.n, 1);
        assert_false(w->d.at[0].decides);
    }
    claim(w, "toolchain", "launcher", "\"ccache\"", (struct tp_rebuild_known){true, true, true});
    assert_int_equal(w->d.n, 0);
    claim(w, NULL, "options", NULL, (struct tp_rebuild_known){0}); /* an older one is silent */
    assert_int_equal(w->d.n, 0);
    /* the archive itself tells which turnpike made it */
    json_object_set_new(w->receipt, "meta", json_pack("{s:s}", "buildCommit", "abc"));
    claim(w, NULL, "build_commit", "\"0\"", (struct tp_rebuild_known){0});
    assert_true(tp_differences_decide(&w->d));
}

static void of_many_false_claims_some_are_named_and_the_rest_counted(void **state)
{
    struct world *w = *state;
    json_t *was = json_deep_copy(w->receipt);
    for (int i = 0; i < 1000; i++) {
        char *key = tp_asprintf("key %d", i);
        json_object_set_new(was, key, json_integer(i));
        free(key);
    }
    tp_rebuild_compare_receipts(was, w->receipt, &(struct tp_rebuild_known){true, true, true}, &w->d);
    assert_int_equal(w->d.n, 25);
    assert_true(told(w, "the receipt", "976 more"));
    json_decref(was);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_receipt_says_what_to_build),
        T(each_field_that_is_not_what_it_should_be_is_named),
        T(a_receipt_that_is_no_object_is_refused_with_its_line),
        T(no_source_is_taken_unasked_but_mesas_own_and_debians),
        T(patches_that_are_gone_changed_or_new_decide),
        T(other_tools_are_told_and_decide_nothing),
        T(another_mesa_is_told_by_what_both_know_of_it),
        T(equal_archives_have_no_difference),
        T(a_byte_of_the_driver_is_found_in_its_section),
        T(a_driver_of_another_variant_differs_in_sections_by_name),
        T(fields_of_the_metadata_are_told_with_both_values),
        T(another_order_alone_is_a_difference_of_the_container),
        T(what_is_no_archive_is_a_difference_too),
        T(the_revision_alone_is_told_from_more),
        T(a_receipt_is_what_its_rebuild_says),
        T(each_false_claim_is_named_by_its_path),
        T(what_cannot_be_told_here_decides_nothing),
        T(of_many_false_claims_some_are_named_and_the_rest_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
