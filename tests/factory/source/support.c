#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void take_note(void *data, const char *text)
{
    struct world *w = data;
    tp_buf_addf(&w->notes, "%s\n", text);
}

int world_setup(void **state)
{
    struct world *w = tp_calloc(1, sizeof *w);
    const char *tmp = getenv("TMPDIR");
    w->dir = tp_asprintf("%s/tp-source-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(w->dir))
        return -1;
    w->out = tp_join(w->dir, "out");
    w->dest = tp_join(w->out, "mesa");
    w->cache = tp_join(w->dir, "cache");
    w->req = (struct tp_source_request){
        .dest = w->dest, .cache = w->cache, .note = take_note, .data = w};
    setenv("HOME", w->dir, 1);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    static const char *const who[] = {
        "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"};
    for (size_t i = 0; i < 4; i++)
        setenv(who[i], "nobody@localhost", 1);
    setenv("GIT_AUTHOR_DATE", "2026-03-04T05:06:07Z", 1);
    setenv("GIT_COMMITTER_DATE", "2026-03-04T05:06:07Z", 1);
    *state = w;
    return 0;
}

int world_teardown(void **state)
{
    struct world *w = *state;
    tp_remove_tree(w->dir, NULL);
    tp_source_finish(&w->got);
    tp_buf_finish(&w->notes);
    free(w->dir);
    free(w->out);
    free(w->dest);
    free(w->cache);
    free(w);
    return 0;
}

int world_get(struct world *w, const char *spec)
{
    tp_source_finish(&w->got);
    tp_buf_clear(&w->notes);
    w->e = (struct tp_error){0};
    w->req.spec = spec;
    int r = tp_source_get(&w->req, &w->got, &w->e);
    if (r) {
        assert_int_equal(w->e.err, r);
        assert_null(w->got.tree);
    }
    return r;
}

int world_get_in_child(struct world *w, const char *spec, int (*prepare)(void *), void *data)
{
    struct result {
        int r;
        struct tp_error e;
    } *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    pid_t pid = fork();
    if (!pid) {
        struct tp_source got;
        w->req.spec = spec;
        w->req.note = NULL;
        shared->r =
            prepare && prepare(data) ? COULD_NOT_PREPARE : tp_source_get(&w->req, &got, &shared->e);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    int r = shared->r;
    w->e = shared->e;
    munmap(shared, sizeof *shared);
    return r;
}

const char *at(struct world *w, const char *name)
{
    static char ring[8][4096];
    static unsigned next;
    char *path = ring[next++ % 8];
    snprintf(path, sizeof ring[0], "%s/%s", w->dir, name);
    return path;
}

void sh(struct world *w, const char *fmt, ...)
{
    char *command;
    va_list ap;
    va_start(ap, fmt);
    assert_true(vasprintf(&command, fmt, ap) >= 0);
    va_end(ap);
    char *full = tp_asprintf("set -e; cd '%s'; %s", w->dir, command);
    if (system(full) != 0)
        fail_msg("this failed: %s", command);
    free(full);
    free(command);
}

void put(struct world *w, const char *name, const char *text)
{
    struct tp_error e = {0};
    const char *path = at(w, name);
    if (tp_mkdirs_for(path, &e) || tp_write_file(path, text, strlen(text), 0644, &e))
        fail_msg("%s: %s", e.where, e.what);
}

void mini_mesa(struct world *w, const char *name, const char *version)
{
    sh(w,
        "mkdir -p '%s'; cd '%s'; mkdir -p src/sub bin; printf '%s\\n' >VERSION; echo 'int a;' "
        ">src/a.c;"
        "ln -sf ../a.c src/sub/b.c; echo '#!/bin/sh' >bin/run.sh; chmod 755 bin/run.sh; : >.hidden",
        name, name, version);
}

void assert_same_tree(struct world *w, const char *a, const char *b)
{
    sh(w,
        "diff -r --no-dereference '%s' '%s' >&2;"
        "(cd '%s' && find . -type f -perm -100 | sort) >.x1; (cd '%s' && find . -type f -perm -100 "
        "| "
        "sort) >.x2; cmp .x1 .x2",
        a, b, a, b);
}

void assert_nothing_left(struct world *w)
{
    assert_false(tp_exists(w->dest));
    sh(w, "test ! -d out || test -z \"$(ls -A out)\"");
}

void assert_error(struct world *w, enum tp_status status, ...)
{
    char *text = tp_asprintf("%s: %s: %s", w->e.where, w->e.what, w->e.todo);
    if (w->e.status != status)
        fail_msg("status %d, not %d: %s", w->e.status, status, text);
    va_list ap;
    va_start(ap, status);
    for (const char *word; (word = va_arg(ap, const char *));) {
        if (!strstr(text, word))
            fail_msg("'%s' is not in: %s", word, text);
    }
    va_end(ap);
    if (!*w->e.todo && w->e.err != -EINTR)
        fail_msg("says not what to do: %s", text);
    free(text);
}

void assert_noted(struct world *w, const char *words)
{
    if (!strstr(tp_buf_str(&w->notes), words))
        fail_msg("'%s' is not in: %s", words, tp_buf_str(&w->notes));
}

int silent_server(int *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *port = ntohs(a.sin_port);
    return fd;
}
