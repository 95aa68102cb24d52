#include "support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"

/* repo.git: main at 26.0.0-devel, branch staging/25.1, annotated tag mesa-25.0.7 on the first
 * commit. The tag's tree stays in `first`, main's in `last`. */
static void make_repository(struct world *w)
{
    mini_mesa(w, "work", "25.0.7");
    sh(w,
        "cd work; git init -q -b main; git add .; git commit -qm one; git tag -a mesa-25.0.7 -m t;"
        "git rev-parse HEAD >../first.rev; cp -a . ../first; rm -rf ../first/.git;"
        "git branch staging/25.1; echo 26.0.0-devel >VERSION; echo 'int n;' >src/n.c; git add .;"
        "GIT_COMMITTER_DATE=2026-04-01T00:00:00Z git commit -qm two;"
        "git rev-parse HEAD >../last.rev; cp -a . ../last; rm -rf ../last/.git; cd ..;"
        "git clone -q --bare work repo.git");
}

static char *revision(struct world *w, const char *name)
{
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(at(w, name), 0, &b, NULL), 0);
    b.data[40] = 0;
    return tp_buf_take(&b);
}

static void git_gives_branch_tag_and_commit(void **state)
{
    struct world *w = *state;
    make_repository(w);
    char *first = revision(w, "first.rev"), *last = revision(w, "last.rev");
    const struct {
        const char *rev, *tree, *commit, *version;
        int64_t epoch;
    } rows[] = {
        {"", "last", last, "26.0.0-devel", 1775001600}, /* 2026-04-01T00:00:00Z */
        {"@main", "last", last, "26.0.0-devel", 1775001600},
        {"@staging/25.1", "first", first, "25.0.7", 1772600767}, /* 2026-03-04T05:06:07Z */
        {"@mesa-25.0.7", "first", first, "25.0.7", 1772600767},
        {"@", "first", first, "25.0.7", 1772600767}, /* the full commit is added below */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool full = !strcmp(rows[i].rev, "@");
        char *spec =
            tp_asprintf("git:file://%s/repo.git%s%s", w->dir, rows[i].rev, full ? first : "");
        if (world_get(w, spec))
            fail_msg("%s: %s: %s", spec, w->e.where, w->e.what);
        assert_same_tree(w, rows[i].tree, "out/mesa");
        assert_string_equal(w->got.kind, "git");
        assert_string_equal(w->got.revision, rows[i].commit);
        assert_string_equal(w->got.version, rows[i].version);
        assert_string_equal(w->got.sha256, "");
        assert_int_equal(w->got.epoch, rows[i].epoch);
        if (*rows[i].rev)
            assert_string_equal(w->got.spec, spec);
        else
            assert_non_null(strstr(w->got.spec, "repo.git@main"));
        free(spec);
        sh(w, "rm -r out/mesa");
    }
    assert_nothing_left(w);
    free(first);
    free(last);
}

static void a_plain_path_and_the_default_url_are_git_too(void **state)
{
    struct world *w = *state;
    make_repository(w);
    char *spec = tp_asprintf("git:%s/repo.git@mesa-25.0.7", w->dir);
    assert_int_equal(world_get(w, spec), 0);
    free(spec);
    sh(w, "rm -r out/mesa");
    char *url = tp_asprintf("file://%s/repo.git", w->dir);
    w->req.git_url = url;
    assert_int_equal(world_get(w, "git@staging/25.1"), 0);
    assert_string_equal(w->got.version, "25.0.7");
    sh(w, "rm -r out/mesa");
    assert_int_equal(world_get(w, "auto"), 0);
    assert_string_equal(w->got.kind, "git");
    assert_string_equal(w->got.version, "26.0.0-devel");
    assert_string_equal(tp_buf_str(&w->notes), "");
    free(url);
}

static void the_users_git_environment_does_not_leak_in(void **state)
{
    struct world *w = *state;
    make_repository(w);
    put(w, "config", "[core]\n\tautocrlf = true\n\thooksPath = hooks\n");
    setenv("GIT_CONFIG_GLOBAL", at(w, "config"), 1);
    setenv("GIT_DIR", at(w, "work/.git"), 1);
    setenv("GIT_INDEX_FILE", at(w, "work/.git/index"), 1);
    char *spec = tp_asprintf("git:file://%s/repo.git@mesa-25.0.7", w->dir);
    assert_int_equal(world_get(w, spec), 0);
    unsetenv("GIT_DIR");
    unsetenv("GIT_INDEX_FILE");
    assert_same_tree(w, "first", "out/mesa");
    sh(w, "git -C work diff --quiet HEAD");
    free(spec);
}

static void a_revision_or_repository_that_is_not_there_is_named(void **state)
{
    struct world *w = *state;
    make_repository(w);
    char *first = revision(w, "first.rev");
    const struct {
        const char *rev, *said;
    } rows[] = {
        {"repo.git@no-such-branch", "no branch, tag or commit 'no-such-branch'"},
        {"repo.git@0123456789012345678901234567890123456789", "no branch, tag or commit '0123"},
        {"repo.git@SHORT", "give the commit in full"},
        {"absent.git@main", "is no git repository"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *spec = tp_asprintf("git:file://%s/%s", w->dir, rows[i].rev);
        char *hole = strstr(spec, "SHORT");
        if (hole)
            memcpy(hole, first, 5);
        assert_true(world_get(w, spec) < 0);
        assert_error(w, TP_STATUS_INPUT, rows[i].said, w->dir, NULL);
        assert_nothing_left(w);
        free(spec);
    }
    free(first);
}

static void a_repository_of_something_else_is_refused(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir x; cd x; git init -q -b main; echo hi >README; git add .; git commit -qm x");
    char *spec = tp_asprintf("git:file://%s/x", w->dir);
    assert_true(world_get(w, spec) < 0);
    assert_error(w, TP_STATUS_INPUT, "holds no Mesa at 'main'", NULL);
    assert_nothing_left(w);
    free(spec);
}

static void a_link_in_a_repository_that_leads_out_is_refused(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "work", "25.0.7");
    sh(w, "cd work; ln -s /etc/passwd src/p; git init -q -b main; git add .; git commit -qm x");
    char *spec = tp_asprintf("git:file://%s/work", w->dir);
    assert_true(world_get(w, spec) < 0);
    assert_error(w, TP_STATUS_INPUT, "'src/p' leads out", NULL);
    assert_nothing_left(w);
    free(spec);
}

static void a_silent_server_is_given_up_in_time(void **state)
{
    struct world *w = *state;
    int port, fd = silent_server(&port);
    char *spec = tp_asprintf("git:git://127.0.0.1:%d/mesa@main", port);
    w->req.git_timeout_ms = 50;
    int64_t start = tp_now_ns();
    assert_int_equal(world_get(w, spec), -ETIMEDOUT);
    assert_true(tp_now_ns() - start < (int64_t)20 * 1000000000);
    assert_error(w, TP_STATUS_MISSING, "127.0.0.1", "no answer in 0.3 s", NULL);
    assert_nothing_left(w);
    close(fd);
    free(spec);
}

static void a_dead_address_is_a_matter_of_the_network(void **state)
{
    struct world *w = *state;
    int port, fd = silent_server(&port);
    close(fd);
    char *spec = tp_asprintf("git:git://me:secret@127.0.0.1:%d/mesa@main", port);
    assert_true(world_get(w, spec) < 0);
    assert_error(w, TP_STATUS_MISSING, "127.0.0.1", "network", NULL);
    assert_null(strstr(w->e.what, "secret"));
    assert_null(strstr(w->e.where, "secret"));
    free(spec);
}

static void a_folder_is_copied_and_stays_as_it_was(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w,
        "cp -a mesa plain; mkdir -p mesa/build/meson-private mesa/b2 mesa/src/__pycache__ "
        "mesa/venv;"
        "touch mesa/b2/CMakeCache.txt mesa/src/__pycache__/x.pyc mesa/venv/pyvenv.cfg;"
        "ln -s /usr/bin/python3 mesa/venv/python; mkfifo mesa/pipe; touch -d @1 mesa/src/a.c;"
        "find mesa -printf '%%p %%T@ %%C@\\n' | sort >before");
    assert_int_equal(world_get(w, at(w, "mesa")), 0);
    assert_same_tree(w, "plain", "out/mesa");
    assert_string_equal(w->got.kind, "directory");
    assert_string_equal(w->got.spec, at(w, "mesa"));
    assert_string_equal(w->got.revision, "");
    assert_false(w->got.dirty);
    /* Writing to the copy does not reach the original. */
    sh(w,
        "echo changed >>out/mesa/src/a.c; echo changed >>out/mesa/src/sub/b.c;"
        "find mesa -printf '%%p %%T@ %%C@\\n' | sort | cmp - before; cmp mesa/src/a.c "
        "plain/src/a.c");
}

static void a_checkout_tells_its_commit_and_whether_it_differs(void **state)
{
    struct world *w = *state;
    make_repository(w);
    char *last = revision(w, "last.rev");
    assert_int_equal(world_get(w, at(w, "work")), 0);
    assert_same_tree(w, "last", "out/mesa");
    assert_string_equal(w->got.revision, last);
    assert_false(w->got.dirty);
    assert_int_equal(w->got.epoch, 1775001600);
    sh(w, "rm -r out/mesa; echo 'int b;' >>work/src/a.c");
    assert_int_equal(world_get(w, at(w, "work")), 0);
    assert_string_equal(w->got.revision, last);
    assert_true(w->got.dirty);
    /* What was changed comes along. */
    sh(w,
        "cmp work/src/a.c out/mesa/src/a.c; rm -r out/mesa; git -C work checkout -q .; touch "
        "work/src/new.c");
    assert_int_equal(world_get(w, at(w, "work")), 0);
    assert_true(w->got.dirty);
    free(last);
}

static void a_folder_in_another_repository_has_no_commit_of_its_own(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "outer/mesa", "25.0.7");
    sh(w, "cd outer; git init -q; git add .; git commit -qm x");
    assert_int_equal(world_get(w, at(w, "outer/mesa")), 0);
    assert_string_equal(w->got.revision, "");
}

static void the_destination_may_lie_in_the_folder_that_is_copied(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w, "cp -a mesa plain; mkdir -p mesa/out/work; touch mesa/out/older");
    w->req.dest = at(w, "mesa/out/work/tree");
    assert_int_equal(world_get(w, at(w, "mesa")), 0);
    assert_same_tree(w, "plain", "mesa/out/work/tree");
    w->req.dest = at(w, "mesa/src/tree");
    assert_true(world_get(w, at(w, "mesa")) < 0);
    assert_error(w, TP_STATUS_INPUT, "mesa/src/tree", "elsewhere", NULL);
    sh(w, "diff -r --no-dereference plain/src mesa/src");
}

static void a_folder_that_is_no_mesa_is_named(void **state)
{
    struct world *w = *state;
    sh(w, "mkdir -p empty half/src");
    assert_true(world_get(w, at(w, "empty")) < 0);
    assert_error(w, TP_STATUS_INPUT, "empty", "no VERSION", NULL);
    assert_true(world_get(w, at(w, "half")) < 0);
    assert_error(w, TP_STATUS_INPUT, "half", "no VERSION", NULL);
    assert_nothing_left(w);
}

static void a_destination_with_something_in_it_is_left_alone(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    put(w, "out/mesa/mine", "x");
    assert_int_equal(world_get(w, at(w, "mesa")), -ENOTEMPTY);
    assert_error(w, TP_STATUS_INPUT, w->dest, "not empty", NULL);
    sh(w,
        "test \"$(ls -A out)\" = mesa; test \"$(ls -A out/mesa)\" = mine; rm -r out/mesa; touch "
        "out/mesa");
    assert_true(world_get(w, at(w, "mesa")) < 0);
    assert_error(w, TP_STATUS_INPUT, w->dest, NULL);
    sh(w, "test -f out/mesa");
}

static int be_interrupted(void *unused)
{
    (void)unused;
    tp_catch_interrupts();
    return raise(SIGTERM);
}

static void an_interrupt_unwinds_every_kind(void **state)
{
    struct world *w = *state;
    make_repository(w);
    sh(w, "tar cf t.tar first; tar cJf t.tar.xz first");
    char *git = tp_asprintf("git:file://%s/repo.git", w->dir);
    const char *const specs[] = {
        at(w, "t.tar"), at(w, "t.tar.xz"), at(w, "work"), at(w, "first"), git};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(world_get_in_child(w, specs[i], be_interrupted, NULL), -EINTR);
        assert_error(w, TP_STATUS_FAILED, "interrupted", NULL);
        assert_nothing_left(w);
    }
    free(git);
}

/* A child that waits for a silent server, with its temporary folder already there. */
static pid_t waiting_child(struct world *w, const char *spec)
{
    pid_t pid = fork();
    if (!pid) {
        struct tp_source got;
        tp_catch_interrupts();
        w->req.spec = spec;
        w->req.note = NULL;
        _exit(tp_source_get(&w->req, &got, NULL) == -EINTR ? 0 : 1);
    }
    char *ready = tp_asprintf("test -n \"$(ls -A '%s' 2>/dev/null)\"", w->out);
    while (system(ready) != 0)
        usleep(10000);
    free(ready);
    return pid;
}

static void ctrl_c_while_waiting_leaves_nothing(void **state)
{
    struct world *w = *state;
    int port, status, fd = silent_server(&port);
    char *spec = tp_asprintf("git:git://127.0.0.1:%d/mesa@main", port);
    pid_t pid = waiting_child(w, spec);
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_nothing_left(w);
    close(fd);
    free(spec);
}

static void what_a_killed_process_left_is_swept_by_the_next(void **state)
{
    struct world *w = *state;
    int port, fd = silent_server(&port);
    char *spec = tp_asprintf("git:git://127.0.0.1:%d/mesa@main", port);
    pid_t pid = waiting_child(w, spec);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(fd);
    free(spec);
    sh(w, "ls -A out | grep -q '^.tp-'");
    mini_mesa(w, "mesa", "25.0.7");
    assert_int_equal(world_get(w, at(w, "mesa")), 0);
    sh(w, "test \"$(ls -A out)\" = mesa");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(git_gives_branch_tag_and_commit),
        T(a_plain_path_and_the_default_url_are_git_too),
        T(the_users_git_environment_does_not_leak_in),
        T(a_revision_or_repository_that_is_not_there_is_named),
        T(a_repository_of_something_else_is_refused),
        T(a_link_in_a_repository_that_leads_out_is_refused),
        T(a_silent_server_is_given_up_in_time),
        T(a_dead_address_is_a_matter_of_the_network),
        T(a_folder_is_copied_and_stays_as_it_was),
        T(a_checkout_tells_its_commit_and_whether_it_differs),
        T(a_folder_in_another_repository_has_no_commit_of_its_own),
        T(the_destination_may_lie_in_the_folder_that_is_copied),
        T(a_folder_that_is_no_mesa_is_named),
        T(a_destination_with_something_in_it_is_left_alone),
        T(an_interrupt_unwinds_every_kind),
        T(ctrl_c_while_waiting_leaves_nothing),
        T(what_a_killed_process_left_is_swept_by_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
