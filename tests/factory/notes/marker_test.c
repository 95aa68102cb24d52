/* The line that bounds the next range, in texts that passed through a web page. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/notes/marker.h"

#define HASH "0123456789abcdef0123456789abcdef01234567"

static int reads(const char *text, struct tp_marker *m)
{
    struct tp_error e = {0};
    int r = tp_marker_read(text, strlen(text), m, &e);
    assert_true(!r || (*e.what && *e.todo));
    return r;
}

static void holds(const char *text, const char *revision, const char *version)
{
    struct tp_marker m;
    assert_int_equal(reads(text, &m), 0);
    assert_string_equal(m.revision, revision);
    assert_string_equal(m.version, version);
}

static void refuses(const char *text, int err)
{
    struct tp_marker m;
    assert_int_equal(reads(text, &m), err);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const struct tp_marker all[] = {
        {HASH, "25.0.7"}, {"", "25.1.0-devel"}, {HASH, ""}, {"0123456", "25.0.0-rc2"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct tp_buf b = {0};
        tp_buf_adds(&b, "# notes\n\n");
        tp_marker_add(&b, &all[i]);
        holds(tp_buf_str(&b), all[i].revision, all[i].version);
        tp_buf_finish(&b);
    }
    struct tp_buf none = {0};
    tp_marker_add(&none, &(struct tp_marker){0});
    assert_int_equal(none.len, 0);
}

static void any_line_end_will_do(void **state)
{
    (void)state;
    holds("a\r\n<!-- turnpike-mesa revision=" HASH " version=25.0.7 -->\r\nb\r\n", HASH, "25.0.7");
    holds("<!-- turnpike-mesa revision=- version=25.0.7 -->", "", "25.0.7");
    holds("<!-- turnpike-mesa revision=- version=25.0.7 -->  \n", "", "25.0.7");
}

static void a_commit_that_looks_like_one_is_not_believed(void **state)
{
    (void)state;
    refuses("- `abc` `<!-- turnpike-mesa revision=" HASH " version=1.0 -->`\n", -ENOENT);
    holds("- <!-- turnpike-mesa revision=- version=1.0 -->\n"
          "<!-- turnpike-mesa revision=- version=25.0.7 -->\n",
        "", "25.0.7");
}

static void two_that_differ_are_refused_and_two_that_agree_are_not(void **state)
{
    (void)state;
    refuses("<!-- turnpike-mesa revision=- version=25.0.6 -->\n<!-- turnpike-mesa revision=- "
            "version=25.0.7 -->\n",
        -EINVAL);
    holds("<!-- turnpike-mesa revision=- version=25.0.7 -->\n<!-- turnpike-mesa revision=- "
          "version=25.0.7 -->\n",
        "", "25.0.7");
}

static void nothing_that_could_become_an_option_or_a_path_is_taken(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "<!-- turnpike-mesa -->",
        "<!-- turnpike-mesa revision=- version=- -->",
        "<!-- turnpike-mesa revision=--upload-pack=x version=1.0 -->",
        "<!-- turnpike-mesa revision=abc version=1.0 -->",
        "<!-- turnpike-mesa revision=" HASH " version=--x -->",
        "<!-- turnpike-mesa revision=" HASH " version=../x -->",
        "<!-- turnpike-mesa revision=" HASH " version=a b -->",
        "<!-- turnpike-mesa revision=main version=1.0 -->",
        "<!-- turnpike-mesa revision=" HASH "\nversion=1.0 -->",
        "<!-- turnpike-mesa revision=" HASH " version=1.0 --> more",
        "<!-- turnpike-mesa revision=" HASH HASH " version=1.0 -->",
        "<!-- turnpike-mesa revision=" HASH " version="
        "1111111111111111111111111111111111111111111111111111111111111111111 -->"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(bad[i], -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(any_line_end_will_do),
        cmocka_unit_test(a_commit_that_looks_like_one_is_not_believed),
        cmocka_unit_test(two_that_differ_are_refused_and_two_that_agree_are_not),
        cmocka_unit_test(nothing_that_could_become_an_option_or_a_path_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
