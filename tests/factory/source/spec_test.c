#include "base/cache.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "factory/source/debindex.h"
#include "factory/source/room.h"

static void git_specs_split_into_url_and_revision(void **state)
{
    (void)state;
    static const struct {
        const char *text, *url, *rev;
    } rows[] = {
        {"auto", TP_SOURCE_GIT_URL, "main"},
        {"git", TP_SOURCE_GIT_URL, "main"},
        {"git:", TP_SOURCE_GIT_URL, "main"},
        {"git@25.1", TP_SOURCE_GIT_URL, "25.1"},
        {"git:@staging/25.1", TP_SOURCE_GIT_URL, "staging/25.1"},
        {"git:https://example.org/m.git", "https://example.org/m.git", "main"},
        {"git:https://example.org/m.git@mesa-25.0.7", "https://example.org/m.git", "mesa-25.0.7"},
        {"git:https://me@example.org/m.git", "https://me@example.org/m.git", "main"},
        {"git:https://me:secret@example.org/m.git@a/b", "https://me:secret@example.org/m.git",
            "a/b"},
        {"git:ssh://git@example.org:22/m@v1", "ssh://git@example.org:22/m", "v1"},
        {"git:git@example.org:mesa/mesa.git", "git@example.org:mesa/mesa.git", "main"},
        {"git:git@example.org:mesa/mesa.git@v1", "git@example.org:mesa/mesa.git", "v1"},
        {"git:/srv/mesa.git@v1", "/srv/mesa.git", "v1"},
        {"git:file:///srv/mesa.git", "file:///srv/mesa.git", "main"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_spec s;
        struct tp_error e = {0};
        assert_int_equal(tp_spec_parse(rows[i].text, NULL, &s, &e), 0);
        assert_int_equal(s.kind, i ? TP_SOURCE_GIT : TP_SOURCE_AUTO);
        assert_string_equal(s.url, rows[i].url);
        assert_string_equal(s.rev, rows[i].rev);
        tp_spec_finish(&s);
    }
}

static void what_is_no_spec_is_named_and_told_how_to_write(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "git@",
        "git@-x",
        "git@a..b",
        "git@a b",
        "git@main~1",
        "git:-upload@main",
        "git:ext::sh -c x",
        "debian:",
        "debian:;rm",
        "debian:-1",
        "/no/such/folder",
        "https://example.org/mesa.tar.xz",
        "/dev/null",
        "/no/such.tar.xz@sha256:12",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_spec s;
        struct tp_error e = {0};
        if (tp_spec_parse(rows[i], NULL, &s, &e) >= 0)
            fail_msg("'%s' was taken", rows[i]);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        assert_true(*e.where && *e.what && *e.todo);
        tp_spec_finish(&s);
    }
}

static void passwords_are_left_out_of_what_is_shown(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"https://me:secret@example.org/m@x", "https://example.org/m@x"},
        {"https://token@example.org/m", "https://example.org/m"},
        {"ssh://git:secret@example.org/m", "ssh://git@example.org/m"},
        {"ssh://git@example.org/m", "ssh://git@example.org/m"},
        {"https://example.org:8080/m", "https://example.org:8080/m"},
        {"git@example.org:m", "git@example.org:m"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *shown = tp_spec_public_url(rows[i][0]);
        assert_string_equal(shown, rows[i][1]);
        free(shown);
    }
}

/* Ascending by Debian Policy 5.6.12; dpkg is asked too, where it is. */
static void debian_versions_order_as_the_policy_says(void **state)
{
    (void)state;
    static const char *const rising[] = {
        "1.0~~",
        "1.0~~a",
        "1.0~",
        "1.0~rc1-1",
        "1.0",
        "1.0-0.1",
        "1.0-1",
        "1.0a-1",
        "1.0+b-1",
        "1.2",
        "1.10",
        "22.3.6-1+deb12u2",
        "25.0.7-2",
        "25.0.7-2+deb13u1",
        "25.0.7-10",
        "25.1.0~rc1-1",
        "25.1.0-1",
        "26.2.6-1",
        "1:0.1",
    };
    size_t n = sizeof rising / sizeof *rising;
    bool dpkg = tp_have_program("dpkg");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            int got = tp_debversion_compare(rising[i], rising[k]);
            int want = i < k ? -1 : i > k;
            if ((got > 0) - (got < 0) != want)
                fail_msg("%s and %s: %d", rising[i], rising[k], got);
        }
        const char *const argv[] = {
            "dpkg", "--compare-versions", rising[i], "lt", rising[i + 1 < n ? i + 1 : i], NULL};
        if (dpkg && i + 1 < n)
            assert_int_equal(tp_run(&(struct tp_cmd){.argv = argv, .log_fd = -1}, NULL), 0);
    }
    assert_int_equal(tp_debversion_compare("1.0", "0:1.00"), 0);
}

static void an_index_gives_hashed_upstream_tarballs_newest_first(void **state)
{
    (void)state;
    static const char sum[] = "592272df3cf01e85e7db300c449df5061092574d099da275d19e97ef0510f8a6";
    char *text = tp_asprintf(
        "Package: mesa\nBinary: a,\n b\nVersion: 1.0-1\nFiles:\n %.32s 5 mesa_1.0.orig.tar.gz\n"
        "Checksums-Sha256:\n %s 7 mesa_1.0.orig.tar.gz\n %s 488 mesa_1.0.orig.tar.gz.asc\n"
        " %s 9 mesa_1.0-1.debian.tar.xz\n\n"
        "Package: mesa\nVersion: 1.1-1\nChecksums-Sha256:\n %s 8 mesa_1.1.orig.tar.xz\n\n"
        "Package: mesa\nVersion: 1.2-1\nFiles:\n %s 8 mesa_1.2.orig.tar.xz\n\n"
        "Package: mesa-demos\nVersion: 9-1\nChecksums-Sha256:\n %s 8 mesa_9.orig.tar.xz\n\n"
        "Package: mesa\nVersion: 8-1\nChecksums-Sha256:\n %s 8 mesa_8/../../x.orig.tar.xz\n",
        sum, sum, sum, sum, sum, sum, sum, sum);
    struct tp_debsource *list;
    size_t n = tp_debindex_parse(text, &list);
    assert_int_equal(n, 2);
    assert_string_equal(list[0].version, "1.1-1");
    assert_string_equal(list[0].file, "mesa_1.1.orig.tar.xz");
    assert_int_equal(list[0].size, 8);
    assert_string_equal(list[1].file, "mesa_1.0.orig.tar.gz");
    assert_string_equal(list[1].sha256, sum);
    assert_int_equal(list[1].size, 7);
    tp_debindex_finish(list, n);
    free(text);
    assert_int_equal(tp_debindex_parse("", &list), 0);
    tp_debindex_finish(list, 0);
    assert_true(tp_debindex_is("25.0.7-2+deb13u1", "25.0.7"));
    assert_true(tp_debindex_is("25.0.7-2+deb13u1", "25.0.7-2+deb13u1"));
    assert_false(tp_debindex_is("25.0.7-2+deb13u1", "25.0"));
    assert_false(tp_debindex_is("25.0.7-2+deb13u1", "25.0.7-2"));
}

static void the_cache_folder_follows_the_environment(void **state)
{
    (void)state;
    static const char *const rows[][4] = {
        /* TURNPIKE_CACHE, XDG_CACHE_HOME, HOME, expected */
        {"/t", "/x", "/h", "/t"},
        {"", "/x", "/h", "/x/turnpike"},
        {"", "relative", "/usr", "/usr/.cache/turnpike"},
        {"", "", "/no-such-home", NULL},
        {"", "", "", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("TURNPIKE_CACHE", rows[i][0], 1);
        setenv("XDG_CACHE_HOME", rows[i][1], 1);
        setenv("HOME", rows[i][2], 1);
        struct tp_error e = {0};
        char *dir = tp_cache_dir(&e);
        if (rows[i][3])
            assert_string_equal(dir, rows[i][3]);
        else
            assert_true(!dir && e.status == TP_STATUS_MISSING && *e.todo);
        free(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(git_specs_split_into_url_and_revision),
        cmocka_unit_test(what_is_no_spec_is_named_and_told_how_to_write),
        cmocka_unit_test(passwords_are_left_out_of_what_is_shown),
        cmocka_unit_test(debian_versions_order_as_the_policy_says),
        cmocka_unit_test(an_index_gives_hashed_upstream_tarballs_newest_first),
        cmocka_unit_test(the_cache_folder_follows_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
