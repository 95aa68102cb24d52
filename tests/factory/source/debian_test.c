/* Debian's source package, with stand-ins for apt: they know one index a suite and a pool, and
 * answer 404 for what is listed but not in the pool, as a real mirror does. */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"

static const char private_apt[] =
    "#!/bin/sh\n"
    "echo \"private-apt $*\" >>'%1$s/calls'\n"
    "[ \"$1\" != -f ] || { shift; [ ! -d '%1$s/newer' ] || cp '%1$s'/newer/* '%1$s/index/'; }\n"
    "[ \"$1 $2\" = 'deb-src native' ] || exit 2\n"
    "[ \"$TURNPIKE_CACHE\" = '%1$s/cache' ] || exit 2\n"
    "[ ! -f '%1$s/unusable-'$3 ] || { cat '%1$s/unusable-'$3 >&2; exit 2; }\n"
    "[ -f '%1$s/index/'$3 ] || { echo \"private-apt: no $3 here\" >&2; exit 3; }\n"
    "echo '--config-file=%1$s/index/'$3\n";

static const char apt_cache[] = "#!/bin/sh\n"
                                "[ \"$2 $3 $4\" = '--only-source showsrc mesa' ] || exit 2\n"
                                "cat \"${1#--config-file=}\"\n";

static const char apt_get[] =
    "#!/bin/sh\n"
    "for last; do :; done\n"
    "echo \"apt-get $last\" >>'%1$s/calls'\n"
    "case \" $* \" in *' source '*' --download-only '*) ;; *) exit 2 ;; esac\n"
    "v=${last#mesa=}; up=${v%%-*}; f=mesa_$up.orig.tar.xz\n"
    "if [ -f '%1$s/failure' ]; then cat '%1$s/failure' >&2; exit 100; fi\n"
    "if [ -f '%1$s/pool/'$f ]; then cp '%1$s/pool/'$f .; exit; fi\n"
    "echo \"Err:1 http://mirror.test x/main mesa $v (tar)\"\n"
    "echo \"E: Failed to fetch http://mirror.test/$f  404  Not Found [IP: 192.0.2.1 80]\" >&2\n"
    "exit 100\n";

/* The two newest suites that are asked, in that order. */
static const char *suites[2] = {"sid", "forky"};

static void script(struct world *w, const char *name, const char *text)
{
    char *full = tp_asprintf(text, w->dir);
    put(w, name, full);
    chmod(at(w, name), 0755);
    free(full);
}

static int apt_setup(void **state)
{
    static char updates[64], release[64];
    struct tp_buf os = {0};
    if (tp_read_file("/etc/os-release", 65536, &os, NULL) == 0 &&
        strstr(tp_buf_str(&os), "\nID=ubuntu\n")) {
        sscanf(strstr(tp_buf_str(&os), "\nVERSION_CODENAME="), "\nVERSION_CODENAME=%50s", release);
        snprintf(updates, sizeof updates, "%s-updates", release);
        suites[0] = updates;
        suites[1] = release;
    }
    tp_buf_finish(&os);
    if (world_setup(state))
        return -1;
    struct world *w = *state;
    script(w, "tools/private-apt", private_apt);
    script(w, "bin/apt-get", apt_get);
    script(w, "bin/apt-cache", apt_cache);
    sh(w, "mkdir index pool; : >calls");
    w->req.private_apt = tp_asprintf("%s/tools/private-apt", w->dir);
    char *path = tp_asprintf("%s/bin:%s", w->dir, getenv("PATH"));
    setenv("PATH", path, 1);
    free(path);
    return 0;
}

static int apt_teardown(void **state)
{
    struct world *w = *state;
    setenv("PATH", strchr(getenv("PATH"), ':') + 1, 1);
    free((char *)w->req.private_apt);
    return world_teardown(state);
}

/* Makes the tarball of that version, lists it in folder/suite, and puts it into the pool. */
static void publish(struct world *w, const char *folder, const char *suite, const char *version)
{
    int up = (int)strcspn(version, "-");
    char *mesa = tp_asprintf("mesa-%.*s", up, version);
    char *upstream = tp_strndup(version, (size_t)up);
    mini_mesa(w, mesa, upstream);
    sh(w,
        "mkdir -p %s; f=mesa_%s.orig.tar.xz; [ -f pool/$f ] || tar cJf pool/$f %s;"
        "printf 'Package: mesa\\nVersion: %s\\nChecksums-Sha256:\\n %%s %%s %%s\\n\\n' "
        "\"$(sha256sum <pool/$f | cut -d' ' -f1)\" \"$(stat -c %%s pool/$f)\" $f >>%s/%s",
        folder, upstream, mesa, version, folder, suite);
    free(mesa);
    free(upstream);
}

/* How many times the stand-ins were called with a line that begins like this. */
static int calls(struct world *w, const char *start)
{
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(at(w, "calls"), 0, &b, NULL), 0);
    int n = 0;
    for (const char *s = tp_buf_str(&b); *s; s = strchrnul(s, '\n') + 1)
        n += !strncmp(s, start, strlen(start));
    tp_buf_finish(&b);
    sh(w, ": >calls");
    return n;
}

static void the_newest_package_comes_and_is_kept(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.1.6-1");
    publish(w, "index", suites[0], "26.2.6-1");
    publish(w, "index", suites[1], "25.0.7-2+deb13u1");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_same_tree(w, "mesa-26.2.6", "out/mesa");
    assert_string_equal(w->got.kind, "debian");
    assert_string_equal(w->got.spec, "debian:26.2.6-1");
    assert_string_equal(w->got.version, "26.2.6");
    char sum[TP_SHA256_HEX];
    tp_sha256_file(at(w, "pool/mesa_26.2.6.orig.tar.xz"), sum, NULL);
    assert_string_equal(w->got.sha256, sum);
    assert_int_equal(calls(w, "apt-get"), 1);
    /* Again: from the cache, and its temporary folders are gone. */
    sh(w, "rm -r out/mesa; test \"$(ls -A cache/mesa)\" = mesa_26.2.6.orig.tar.xz");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_int_equal(calls(w, "apt-get"), 0);
    assert_string_equal(tp_buf_str(&w->notes), "");
}

static void what_answers_404_gives_way_to_the_next_older(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.1.6-1");
    publish(w, "index", suites[0], "26.2.6-1");
    publish(w, "index", suites[1], "25.0.7-2+deb13u1");
    publish(w, "index", suites[1], "26.1.6-1");
    sh(w, "rm pool/mesa_26*");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_string_equal(w->got.spec, "debian:25.0.7-2+deb13u1");
    assert_string_equal(w->got.version, "25.0.7");
    assert_noted(w,
        "does not serve, 26.2.6-1 (404 Not Found), 26.1.6-1 (404 Not Found): using mesa "
        "25.0.7-2+deb13u1");
    assert_int_equal(calls(w, "apt-get"), 3); /* 26.1.6 is asked for once */
}

static void a_version_may_be_asked_for(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    publish(w, "index", suites[1], "25.0.7-2+deb13u1");
    static const char *const specs[] = {"debian:25.0.7", "debian:25.0.7-2+deb13u1"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(world_get(w, specs[i]), 0);
        assert_string_equal(w->got.spec, "debian:25.0.7-2+deb13u1");
        sh(w, "rm -r out/mesa");
    }
    assert_true(world_get(w, "debian:24.3.1") < 0);
    assert_error(w, TP_STATUS_INPUT, "no mesa 24.3.1", "26.2.6-1", "25.0.7-2+deb13u1", NULL);
    assert_nothing_left(w);
}

static void a_download_with_the_wrong_hash_is_not_used_nor_kept(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    publish(w, "index", suites[1], "25.0.7-2");
    sh(w, "echo >>pool/mesa_26.2.6.orig.tar.xz");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_string_equal(w->got.version, "25.0.7");
    assert_noted(w, "26.2.6-1 (arrived damaged)");
    sh(w, "test \"$(ls -A cache/mesa)\" = mesa_25.0.7.orig.tar.xz; rm -r out/mesa");
    assert_true(world_get(w, "debian:26.2.6") < 0);
    assert_error(w, TP_STATUS_MISSING, "26.2.6-1 (arrived damaged)", NULL);
    assert_nothing_left(w);
}

static void a_damaged_file_in_the_cache_is_fetched_again(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    put(w, "cache/mesa/mesa_26.2.6.orig.tar.xz", "half of it");
    put(w, "cache/mesa/.tp-999999999-abc/x", "of a process that is gone");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_noted(w, "getting it again");
    sh(w,
        "cmp cache/mesa/mesa_26.2.6.orig.tar.xz pool/mesa_26.2.6.orig.tar.xz;"
        "test \"$(ls -A cache/mesa)\" = mesa_26.2.6.orig.tar.xz");
}

static void indexes_that_went_stale_are_fetched_anew_once(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.5-1");
    publish(w, "newer", suites[0], "26.2.6-1");
    sh(w, "rm pool/mesa_26.2.5*");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_string_equal(w->got.version, "26.2.6");
    sh(w, "rm -r out/mesa newer cache pool/*");
    assert_int_equal(calls(w, "private-apt -f"), 1);
    assert_true(world_get(w, "debian") < 0);
    assert_error(w, TP_STATUS_MISSING, "does not serve it: 26.2.6-1 (404 Not Found)", NULL);
    assert_nothing_left(w);
}

static void without_a_network_the_cache_still_serves(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[1], "25.0.7-2");
    assert_int_equal(world_get(w, "debian"), 0);
    publish(w, "index", suites[0], "26.2.6-1");
    put(w, "failure", "E: Failed to fetch http://mirror.test/x  Could not resolve 'mirror.test'\n");
    sh(w, "rm -r out/mesa");
    assert_int_equal(world_get(w, "debian"), 0);
    assert_string_equal(w->got.version, "25.0.7");
    assert_noted(w, "Could not resolve 'mirror.test'");
    assert_noted(w, "using mesa 25.0.7-2, which is here");
    sh(w, "rm -r out/mesa cache");
    assert_true(world_get(w, "debian") < 0);
    assert_error(w, TP_STATUS_MISSING, "does not answer", "Could not resolve 'mirror.test'", NULL);
    assert_nothing_left(w);
}

static void a_full_cache_disk_is_named(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    put(w, "failure", "E: You don't have enough free space in /x\n");
    assert_int_equal(world_get(w, "debian"), -ENOSPC);
    assert_error(
        w, TP_STATUS_FAILED, "cache/mesa", "mesa_26.2.6.orig.tar.xz", "MB are free", "TURNPIKE_CACHE", NULL);
    assert_nothing_left(w);
    sh(w, "test -z \"$(ls -A cache/mesa)\"");
}

/* The lists of a newer suite may fit, and those of the one that has the version not. */
static void a_cache_that_cannot_hold_the_lists_is_not_a_missing_version(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    char *name = tp_asprintf("unusable-%s", suites[1]);
    put(w, name, "W: of apt\nprivate-apt: /c has too little room: 3 MB are free; free some space\n");
    free(name);
    assert_int_equal(world_get(w, "debian:25.0.7"), -EIO);
    assert_error(w, TP_STATUS_INPUT, at(w, "cache"), suites[1], "/c has too little room: 3 MB are free",
        "free some space there", "TURNPIKE_CACHE", NULL);
    assert_null(strstr(w->e.what, "W: of apt"));
    assert_null(strstr(w->e.what, "; free"));
    assert_nothing_left(w);
}

static void a_version_that_is_not_listed_may_be_in_a_suite_that_could_not_be_looked_at(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    assert_true(world_get(w, "debian:25.0.7") < 0);
    char *other = tp_asprintf("not looked at: %s: no %s here", suites[1], suites[1]);
    assert_error(w, TP_STATUS_INPUT, "no mesa 25.0.7", "26.2.6-1", other, NULL);
    free(other);
}

static void a_machine_without_archive_or_apt_is_told(void **state)
{
    struct world *w = *state;
    assert_true(world_get(w, "debian") < 0);
    char *first = tp_asprintf("no %s here", suites[0]);
    assert_error(w, TP_STATUS_MISSING, first, "tarball", NULL);
    free(first);
    char *path = tp_strdup(getenv("PATH"));
    setenv("PATH", at(w, "pool"), 1);
    int r = world_get(w, "debian");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(r, -ENOENT);
    assert_error(w, TP_STATUS_MISSING, "apt-get", "is needed", NULL);
    assert_nothing_left(w);
}

static void auto_falls_back_when_git_is_silent_and_says_so(void **state)
{
    struct world *w = *state;
    publish(w, "index", suites[0], "26.2.6-1");
    int port, fd = silent_server(&port);
    char *url = tp_asprintf("git://127.0.0.1:%d/mesa", port);
    w->req.git_url = url;
    w->req.git_timeout_ms = 200;
    int64_t start = tp_now_ns();
    assert_int_equal(world_get(w, NULL), 0);
    assert_true(tp_now_ns() - start < (int64_t)20 * 1000000000);
    assert_string_equal(w->got.kind, "debian");
    assert_string_equal(w->got.spec, "debian:26.2.6-1");
    assert_noted(w, "no answer in 0.2 s; using Debian's source package");
    close(fd);
    /* A refused connection, and a URL with no repository behind it, are no better. */
    sh(w, "rm -r out/mesa");
    assert_int_equal(world_get(w, "auto"), 0);
    assert_noted(w, "using Debian's source package");
    free(url);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, apt_setup, apt_teardown)
    const struct CMUnitTest tests[] = {
        T(the_newest_package_comes_and_is_kept),
        T(what_answers_404_gives_way_to_the_next_older),
        T(a_version_may_be_asked_for),
        T(a_download_with_the_wrong_hash_is_not_used_nor_kept),
        T(a_damaged_file_in_the_cache_is_fetched_again),
        T(indexes_that_went_stale_are_fetched_anew_once),
        T(without_a_network_the_cache_still_serves),
        T(a_full_cache_disk_is_named),
        T(a_cache_that_cannot_hold_the_lists_is_not_a_missing_version),
        T(a_version_that_is_not_listed_may_be_in_a_suite_that_could_not_be_looked_at),
        T(a_machine_without_archive_or_apt_is_told),
        T(auto_falls_back_when_git_is_silent_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
