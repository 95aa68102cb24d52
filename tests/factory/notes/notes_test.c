/* The text of a release: what decides that b and p differ by power alone, and what is listed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/notes/notes.h"

/* One variant of a summary: autotune made by this form (NULL: not applicable), and power-max in p.
 */
static json_t *variant(const char *name, const char *form)
{
    json_t *edits = json_pack("[{s:s, s:s, s:s?}]", "file", "tu_autotune.cc", "state",
        form ? "applied" : "not-applicable", "form", form);
    json_t *patches = json_pack("[{s:s, s:s, s:[]}, {s:s, s:s, s:o}]", "id", "driver-label",
        "state", "applied", "edits", "id", "autotune", "state", form ? "applied" : "not-applicable",
        "edits", edits);
    if (!strcmp(name, "p"))
        json_array_append_new(
            patches, json_pack("{s:s, s:s, s:[]}", "id", "power-max", "state", "applied", "edits"));
    return json_pack("{s:s, s:o}", "variant", name, "patches", patches);
}

static json_t *summary(const char *b, const char *p)
{
    return json_pack("{s:{s:s}, s:s, s:[{s:s, s:s, s:s, s:s}], s:[o, o]}", "mesa", "version",
        "25.0.7", "target", "linux-arm64", "archives", "path", "WN-Linux-Turnip-v0.1.0-b_Axxx.zip",
        "variant", "b", "sha256", "ab12", "driver_version", "WN-v0.1.0-b", "patches",
        variant("b", b), variant("p", p));
}

static void differs(const char *b, const char *p, const char *ids, const char *sentence)
{
    json_t *s = summary(b, p);
    char *got = tp_notes_difference(s);
    assert_string_equal(got, ids);
    free(got);
    struct tp_buf text = {0};
    tp_notes_add(&text, &(struct tp_notes){.summary = s});
    if (!strstr(tp_buf_str(&text), sentence))
        fail_msg("no '%s' in\n%s", sentence, tp_buf_str(&text));
    tp_buf_finish(&text);
    json_decref(s);
}

static void variants_with_the_same_other_edits_differ_only_by_power(void **state)
{
    (void)state;
    differs("bandwidth", "bandwidth", "power-max", "`b` and `p` differ only by power");
    differs(NULL, NULL, "power-max", "`b` and `p` differ only by power");
}

static void another_form_in_p_is_a_difference(void **state)
{
    (void)state;
    differs("draw calls, b", "draw calls, p", "autotune\npower-max",
        "`b` and `p` differ by these patches: `autotune`, `power-max`.");
}

static void one_variant_alone_is_not_compared(void **state)
{
    (void)state;
    json_t *s = summary("x", "x");
    json_array_remove(json_object_get(s, "patches"), 1);
    assert_null(tp_notes_difference(s));
    json_decref(s);
    assert_null(tp_notes_difference(NULL));
}

static size_t times(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void sixty_are_listed_and_the_rest_is_counted(void **state)
{
    (void)state;
    struct tp_commit commits[TP_NOTES_MOST];
    for (size_t i = 0; i < TP_NOTES_MOST; i++)
        commits[i] =
            (struct tp_commit){"0123456789abcdef0123456789abcdef01234567", (char *)"tu: x"};
    struct tp_history h = {.place = (char *)"/repo",
        .straight = true,
        .all = 500,
        .touching = 71,
        .commits = commits,
        .n = TP_NOTES_MOST};
    struct tp_notes n = {.range_from = "a", .range_to = "b", .mesa = &h};
    struct tp_buf text = {0};
    tp_notes_add(&text, &n);
    assert_int_equal(times(tp_buf_str(&text), "\n- "), 60);
    assert_non_null(strstr(tp_buf_str(&text),
        "71 of 500 commits touch `src/freedreno`, `src/util/u_gralloc` or "
        "`src/vulkan/runtime`."));
    assert_non_null(strstr(tp_buf_str(&text), "\nand 11 more.\n"));
    assert_null(strstr(tp_buf_str(&text), "https://"));
    tp_buf_clear(&text);
    h.place = (char *)"https://gitlab.freedesktop.org/mesa/mesa.git";
    tp_notes_add(&text, &n);
    assert_int_equal(times(tp_buf_str(&text),
                         "](https://gitlab.freedesktop.org/mesa/mesa/-/commit/0123456789abcdef"),
        60);
    tp_buf_finish(&text);
}

static void ranges_without_such_commits_are_told_in_words(void **state)
{
    (void)state;
    static const struct {
        size_t all;
        const char *words;
    } ranges[] = {
        {0, "None: the end of the range has no commit that its beginning lacks.\n"},
        {1, "The one commit does not touch `src/freedreno`, `src/util/u_gralloc` or "},
        {3, "None of the 3 commits touches `src/freedreno`, `src/util/u_gralloc` or "},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct tp_history h = {.place = (char *)"x", .straight = true, .all = ranges[i].all};
        struct tp_notes n = {.range_from = "a", .range_to = "b", .mesa = &h};
        struct tp_buf text = {0};
        tp_notes_add(&text, &n);
        assert_non_null(strstr(tp_buf_str(&text), ranges[i].words));
        assert_null(strstr(tp_buf_str(&text), "0 of"));
        tp_buf_finish(&text);
    }
}

static void the_marker_names_what_was_built_and_is_read_again(void **state)
{
    (void)state;
    struct tp_notes n = {
        .mesa_version = "25.0.7", .mesa_revision = "0123456789abcdef0123456789abcdef01234567"};
    struct tp_buf text = {0};
    struct tp_marker m;
    tp_notes_add(&text, &n);
    assert_int_equal(tp_marker_read(tp_buf_str(&text), text.len, &m, NULL), 0);
    assert_string_equal(m.revision, n.mesa_revision);
    assert_string_equal(m.version, "25.0.7");
    tp_buf_finish(&text);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    static const char *const missing[] = {"Mesa's commits: no network", NULL};
    struct tp_notes n = {.range_from = "a", .range_to = "b", .missing = missing};
    struct tp_buf text = {0};
    tp_notes_add(&text, &n);
    assert_non_null(strstr(tp_buf_str(&text), "Not known; see below."));
    assert_non_null(strstr(
        tp_buf_str(&text), "## Missing from these notes\n\n- `Mesa's commits: no network`\n"));
    tp_buf_finish(&text);
}

static void a_bar_in_a_value_does_not_end_its_cell(void **state)
{
    (void)state;
    struct tp_notes n = {.toolchain = "gcc | 12", .mesa_version = "1"};
    struct tp_buf text = {0};
    tp_notes_add(&text, &n);
    assert_non_null(strstr(tp_buf_str(&text), "| Toolchain | `gcc \\| 12` |\n"));
    tp_buf_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_with_the_same_other_edits_differ_only_by_power),
        cmocka_unit_test(another_form_in_p_is_a_difference),
        cmocka_unit_test(one_variant_alone_is_not_compared),
        cmocka_unit_test(sixty_are_listed_and_the_rest_is_counted),
        cmocka_unit_test(ranges_without_such_commits_are_told_in_words),
        cmocka_unit_test(the_marker_names_what_was_built_and_is_read_again),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(a_bar_in_a_value_does_not_end_its_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
