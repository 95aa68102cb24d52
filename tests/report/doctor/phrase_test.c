/* What a rule looks for, and how it is found among many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/doctor/phrase.h"
#include "report/doctor/words.h"

static void expect(const char *pattern, const char *text, const char *wanted)
{
    struct tp_phrase p;
    struct tp_phrase_found found;
    char got[512] = "none";

    assert_int_equal(tp_phrase_parse(pattern, "here", &p, NULL), 0);
    if (tp_phrase_match(&p, text, strlen(text), &found)) {
        got[0] = '\0';
        for (unsigned i = 0; i < found.n; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s=%.*s;",
                found.captured[i].name, (int)found.captured[i].len, found.captured[i].text);
    }
    if (strcmp(got, wanted) != 0)
        fail_msg("'%s' in '%s': %s", pattern, text, got);
    tp_phrase_finish(&p);
}

static void words_and_what_differs_are_told_apart(void **state)
{
    (void)state;
    expect("abcd", "xx abcd yy", "");
    expect("abcd", "xx abc", "none");
    expect("lib \"{lib}\" not found", "x lib \"a.so\" not found y", "lib=a.so;");
    expect("lib \"{lib}\" not found", "x lib \"a.so\" was found y", "none");
    expect("failed: {why}", "x failed: no room", "why=no room;");
    expect("failed: {why}", "x failed: ", "why=;");
    expect("Mesa {v} (WN-{w})", "Mesa driver, Mesa 25.0 (WN-1)", "v=25.0;w=1;");
    expect("{a} failed: {b}", "x y failed: z", "a=x y;b=z;");
    expect("ctx {n#} ts {m#}", "ctx a ctx 12 ts 34x", "n=12;m=34;");
    expect("ctx {n#} ts {m#}", "ctx 12 ts x", "none");
    expect("addr = {a%} pid", "addr = 5E0BF000 pid", "a=5E0BF000;");
    expect("usage {u%} end", "usage 0x     b00 end", "u=0x     b00;");
    expect("{n#} faults", "there were 12 faults", "n=12;");
    /* braces that hold no name are words */
    expect("buffer {w=1} {x}", "a buffer {w=1} b", "x=b;");
}

static void a_pattern_that_would_find_anything_is_refused(void **state)
{
    static const char *const patterns[] = {
        "", "{x}", "abc", "a{x}b", "{x}{y} abcdef", "a{b}a{b}a{b}a{b}a{b}a{b}abcdef{b}"};

    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct tp_phrase p;
        struct tp_error e = {0};
        if (!tp_phrase_parse(patterns[i], "here:3", &p, &e))
            fail_msg("taken: %s", patterns[i]);
        assert_string_equal(e.where, "here:3");
        tp_phrase_finish(&p);
    }
}

/* What would take a backtracking matcher for ever. */
static void a_hostile_line_takes_no_time(void **state)
{
    struct tp_phrase p;
    struct tp_phrase_found found;
    size_t n = 65536;
    char *text = malloc(n);

    (void)state;
    for (size_t i = 0; i + 4 <= n; i += 4)
        memcpy(text + i, "abc ", 4);
    assert_int_equal(tp_phrase_parse("abc {a}abc {b}abc {c}abc {d}abc {n#}", "", &p, NULL), 0);
    for (int i = 0; i < 200; i++)
        assert_false(tp_phrase_match(&p, text, n, &found));
    tp_phrase_finish(&p);
    free(text);
}

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u;
}

/* Words of two letters' alphabet hold and overlap each other: memmem is the oracle. */
static void every_word_is_found_in_one_pass(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 300; round++) {
        char words[24][9], text[200];
        const char *list[24];
        size_t lens[24];
        unsigned n = 1 + (next_random(&seed) >> 16) % 24;
        for (unsigned i = 0; i < n; i++) {
            lens[i] = 1 + (next_random(&seed) >> 16) % 8;
            for (size_t k = 0; k < lens[i]; k++)
                words[i][k] = (char)('a' + (next_random(&seed) >> 16) % 2);
            list[i] = words[i];
        }
        size_t len = (next_random(&seed) >> 16) % sizeof text;
        for (size_t k = 0; k < len; k++)
            text[k] = (char)('a' + (next_random(&seed) >> 16) % 3);
        struct tp_words *w = tp_words_create(list, lens, n);
        struct tp_word_set found = {0};
        tp_words_find(w, text, len, &found);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(
                found.bits[i / 64] >> i % 64 & 1, memmem(text, len, words[i], lens[i]) != NULL);
        tp_words_destroy(w);
    }
}

static void words_may_be_of_any_bytes(void **state)
{
    char all[256];
    const char *list[] = {all, all + 250};
    const size_t lens[] = {256, 6};
    struct tp_word_set found = {0};

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    struct tp_words *w = tp_words_create(list, lens, 2);
    assert_true(tp_words_find(w, all, 256, &found));
    assert_int_equal(found.bits[0], 3);
    assert_false(tp_words_find(w, all, 255, &found));
    tp_words_destroy(w);
    w = tp_words_create(NULL, NULL, 0);
    assert_false(tp_words_find(w, all, 256, &found));
    tp_words_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_what_differs_are_told_apart),
        cmocka_unit_test(a_pattern_that_would_find_anything_is_refused),
        cmocka_unit_test(a_hostile_line_takes_no_time),
        cmocka_unit_test(every_word_is_found_in_one_pass),
        cmocka_unit_test(words_may_be_of_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
