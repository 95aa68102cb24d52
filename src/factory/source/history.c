#include "factory/source/history.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "factory/source/room.h"

/* A range of some weeks comes in seconds; nobody waits for more than this. */
static const int64_t fetch_limit_ms = 600000;
/* Committers' clocks differ, and a rebased commit keeps its date. */
static const int64_t clock_margin_s = 7 * 86400;

void tp_history_finish(struct tp_history *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->commits[i].subject);
    free(h->commits);
    free(h->place);
    free(h->version);
    *h = (struct tp_history){0};
}

/* Runs git in dir; a non-zero exit is an error that quotes what it said. status: that error's. */
static int git(const char *dir, const char *const *args, int64_t limit_ms, struct tp_buf *out,
    enum tp_status status, struct tp_error *e)
{
    struct tp_buf said = {0};
    struct tp_error own = {0};
    int r = tp_git_run(dir, args, limit_ms, out, &said, &own);
    if (r == -ENOENT)
        tp_fail(
            e, TP_STATUS_MISSING, r, "git", "apt-get install git", "is needed to read a history");
    else if (r < 0)
        tp_fail(e, own.status ? own.status : TP_STATUS_MISSING, r, dir, own.todo, "git %s: %s",
            *args, *own.what ? own.what : "took too long");
    else if (r > 0) {
        const char *s = tp_buf_str(&said), *fatal = strstr(s, "fatal: ");
        s = fatal ? fatal + 7 : s;
        r = tp_fail(
            e, status, -EIO, dir, NULL, "git %s failed (%.*s)", *args, (int)strcspn(s, "\n"), s);
    }
    tp_buf_finish(&said);
    return r;
}

static bool is_plain(const char *rev)
{
    bool plain = *rev && *rev != '-';
    for (const char *s = rev; *s; s++)
        plain = plain && (unsigned char)*s > ' ' && *s != 127;
    return plain;
}

static int no_revision(const char *place, const char *rev, struct tp_error *e)
{
    char *text = tp_printable(rev);
    tp_fail(e, TP_STATUS_INPUT, -ENOENT, place, "name a commit, a tag or a branch of it",
        "has no revision '%.200s'", text);
    free(text);
    return -ENOENT;
}

/* "mesa-25.0.7" for a version; else NULL. The caller frees. */
static char *mesa_tag(const char *rev)
{
    return isdigit((unsigned char)*rev) && strchr(rev, '.') ? tp_asprintf("mesa-%s", rev) : NULL;
}

/* The commit that rev names in dir. 0, or -ENOENT without an error. */
static int look_up(const char *dir, const char *rev, char out[65], struct tp_error *e)
{
    char *commit = tp_asprintf("%s^{commit}", rev);
    const char *const args[] = {
        "rev-parse", "--verify", "--quiet", "--end-of-options", commit, NULL};
    struct tp_buf got = {0};
    int r = tp_git_run(dir, args, 0, &got, NULL, e);
    size_t n = strspn(tp_buf_str(&got), "0123456789abcdef");
    if (!r && (n == 40 || n == 64)) {
        memcpy(out, got.data, n);
        out[n] = 0;
    } else if (r >= 0) {
        r = -ENOENT;
    }
    tp_buf_finish(&got);
    free(commit);
    return r;
}

static int resolve(
    const char *dir, const char *place, const char *rev, char out[65], struct tp_error *e)
{
    if (!is_plain(rev))
        return no_revision(place, rev, e);
    int r = look_up(dir, rev, out, e);
    char *tag = r == -ENOENT ? mesa_tag(rev) : NULL;
    if (tag)
        r = look_up(dir, tag, out, e);
    free(tag);
    return r == -ENOENT ? no_revision(place, rev, e) : r;
}

/* git's arguments for a range: verb, options, "FROM..TO" or "TO", "--", paths. */
struct words {
    const char *at[40];
    size_t n;
    char *range;
};

static void say(struct words *w, const char *word)
{
    if (w->n + 1 < sizeof w->at / sizeof *w->at)
        w->at[w->n++] = word;
    w->at[w->n] = NULL;
}

static void say_range(struct words *w, const struct tp_history *h, const char *const *paths)
{
    w->range = *h->from ? tp_asprintf("%s..%s", h->from, h->to) : tp_strdup(h->to);
    say(w, "--no-merges");
    say(w, w->range);
    say(w, "--");
    for (; paths && *paths; paths++)
        say(w, *paths);
}

static int count(const char *dir, const struct tp_history *h, const char *const *paths, size_t *n,
    struct tp_error *e)
{
    struct words w = {{"rev-list", "--count", "--full-history", NULL}, 3, NULL};
    struct tp_buf got = {0};
    say_range(&w, h, paths);
    int r = git(dir, w.at, fetch_limit_ms, &got, TP_STATUS_FAILED, e);
    *n = r ? 0 : (size_t)strtoull(tp_buf_str(&got), NULL, 10);
    tp_buf_finish(&got);
    free(w.range);
    return r;
}

static int list(
    const char *dir, const struct tp_history_request *req, struct tp_history *h, struct tp_error *e)
{
    char max[32];
    snprintf(max, sizeof max, "--max-count=%zu", req->max);
    struct words w = {{"log", "-z", "--full-history", "--date-order", "--no-show-signature",
                          "--encoding=UTF-8", "--format=%H %s", max, NULL},
        8, NULL};
    struct tp_buf got = {0};
    say_range(&w, h, req->paths);
    int r = git(dir, w.at, fetch_limit_ms, &got, TP_STATUS_FAILED, e);
    const char *s = tp_buf_str(&got), *end = s + got.len;
    while (!r && s < end) {
        size_t n = strlen(s), hash = strspn(s, "0123456789abcdef");
        if (hash < sizeof h->commits->hash && (s[hash] == ' ' || !s[hash])) {
            struct tp_commit *c = &TP_PUSH(h->commits, h->n, h->cap);
            *c = (struct tp_commit){.subject = tp_strdup(s[hash] ? s + hash + 1 : "")};
            memcpy(c->hash, s, hash);
        }
        s += n + 1;
    }
    tp_buf_finish(&got);
    free(w.range);
    return r;
}

static void read_version(const char *dir, struct tp_history *h)
{
    char *object = tp_asprintf("%s:VERSION", h->to);
    const char *const args[] = {"cat-file", "blob", object, NULL};
    struct tp_buf got = {0}, said = {0};
    int r = tp_git_run(dir, args, 60000, &got, &said, NULL);
    const char *s = tp_buf_str(&got);
    size_t n = strcspn(s, " \t\r\n");
    h->version = tp_strndup(s, !r && n <= 64 ? n : 0);
    tp_buf_finish(&got);
    tp_buf_finish(&said);
    free(object);
}

/* from and to are known: the rest. */
static int measure(
    const char *dir, const struct tp_history_request *req, struct tp_history *h, struct tp_error *e)
{
    const char *const args[] = {"merge-base", "--is-ancestor", h->from, h->to, NULL};
    int r = *h->from ? tp_git_run(dir, args, fetch_limit_ms, NULL, NULL, e) : 0;
    if (r < 0)
        return r;
    h->straight = r == 0;
    r = count(dir, h, NULL, &h->all, e);
    h->touching = h->all;
    if (!r && req->paths)
        r = count(dir, h, req->paths, &h->touching, e);
    if (!r && req->max && h->touching)
        r = list(dir, req, h, e);
    if (!r)
        read_version(dir, h);
    return r;
}

static int read_local(const char *dir, const char *place, const struct tp_history_request *req,
    struct tp_history *h, struct tp_error *e)
{
    h->place = tp_strdup(place);
    int r = resolve(dir, place, req->to, h->to, e);
    if (!r && req->from)
        r = resolve(dir, place, req->from, h->from, e);
    return r ? r : measure(dir, req, h, e);
}

int tp_history_of(const char *dir, const struct tp_history_request *req, struct tp_history *out,
    struct tp_error *e)
{
    static const char *const args[] = {"rev-parse", "--git-dir", NULL};
    *out = (struct tp_history){0};
    int r = git(dir, args, 0, NULL, TP_STATUS_INPUT, e);
    r = r ? r : read_local(dir, dir, req, out, e);
    if (r)
        tp_history_finish(out);
    return r;
}

int tp_history_tags(const char *dir, const char *rev, char **tags, struct tp_error *e)
{
    const char *const args[] = {"tag", "--list", "--merged", rev, NULL};
    struct tp_buf got = {0};
    int r = is_plain(rev) ? git(dir, args, 0, &got, TP_STATUS_INPUT, e) : no_revision(dir, rev, e);
    *tags = r ? NULL : tp_buf_take(&got);
    tp_buf_finish(&got);
    return r;
}

/* Fetches one revision into dir, with what option says of its history. */
static int fetch(const char *dir, const char *option, const struct tp_spec *spec, const char *rev,
    char out[65], struct tp_error *e)
{
    char *tag = mesa_tag(rev);
    const char *const names[] = {rev, tag, NULL};
    int r = -ENOENT;
    for (size_t i = 0; names[i] && r == -ENOENT; i++) {
        const char *const args[] = {"fetch", "-q", option, "--filter=blob:none", "--no-tags",
            "--no-recurse-submodules", "--no-write-commit-graph", "mesa", names[i], NULL};
        struct tp_buf said = {0};
        r = tp_git_run(dir, args, fetch_limit_ms, NULL, &said, e);
        if (r > 0) {
            struct tp_spec one = {.url = spec->url, .rev = (char *)names[i]};
            struct tp_error own = {0};
            r = tp_git_explain(&one, &said, &own);
            if (r != -ENOENT || !names[i + 1])
                r = tp_fail(e, own.status, r, own.where, own.todo, "%s", own.what);
        } else if (!r) {
            r = look_up(dir, "FETCH_HEAD", out, e);
        }
        tp_buf_finish(&said);
    }
    free(tag);
    return r;
}

static int64_t commit_date(const char *dir, const char *rev)
{
    const char *const args[] = {"log", "-1", "--no-show-signature", "--format=%ct", rev, NULL};
    struct tp_buf got = {0};
    int r = tp_git_run(dir, args, 0, &got, NULL, NULL);
    int64_t date = r ? -1 : strtoll(tp_buf_str(&got), NULL, 10);
    tp_buf_finish(&got);
    return date;
}

/* The range into dir, an empty bare repository: `from` alone, then `to` with what is younger than
 * it. Where `to` turns out not to descend from `from`, all that the repository has of both. */
static int fetch_range(const char *dir, const struct tp_spec *spec,
    const struct tp_history_request *req, struct tp_history *h, struct tp_error *e)
{
    int r;
    if (!req->from)
        return fetch(dir, "--update-shallow", spec, req->to, h->to, e);
    if ((r = fetch(dir, "--depth=1", spec, req->from, h->from, e)) ||
        (r = fetch(dir, "--depth=1", spec, req->to, h->to, e)))
        return r;
    char *since = tp_asprintf(
        "--shallow-since=%lld", (long long)(commit_date(dir, h->from) - clock_margin_s));
    struct tp_error none = {0};
    const char *const args[] = {"merge-base", "--is-ancestor", h->from, h->to, NULL};
    r = fetch(dir, since, spec, h->to, h->to, &none);
    free(since);
    if (r == -EINTR || r == -ETIMEDOUT)
        return tp_fail(e, none.status, r, none.where, none.todo, "%s", none.what);
    if (!r && tp_git_run(dir, args, 0, NULL, NULL, NULL) == 0)
        return 0;
    if ((r = fetch(dir, "--unshallow", spec, h->to, h->to, e)))
        return r;
    return fetch(dir, "--update-shallow", spec, h->from, h->from, e);
}

static int read_remote(const struct tp_spec *spec, const struct tp_history_request *req,
    struct tp_history *h, struct tp_error *e)
{
    h->place = tp_spec_public_url(spec->url);
    if (!is_plain(req->to) || (req->from && !is_plain(req->from)))
        return no_revision(h->place, is_plain(req->to) ? req->from : req->to, e);
    char *cache = req->cache ? tp_absolute(req->cache) : tp_cache_dir(e);
    char *store = cache ? tp_join(cache, "mesa") : NULL, *dir = NULL;
    int r = store ? tp_mkdirs(store, e) : e->err;
    if (!r) {
        tp_sweep_temp(store);
        dir = tp_temp_dir(store, e);
        r = dir ? 0 : e->err;
    }
    const char *const init[] = {"init", "-q", "--bare", "--template=", "--", dir, NULL};
    const char *const remote[] = {"config", "remote.mesa.url", spec->url, NULL};
    if (!r)
        r = git(store, init, 0, NULL, TP_STATUS_FAILED, e);
    if (!r)
        r = git(dir, remote, 0, NULL, TP_STATUS_FAILED, e);
    if (!r)
        r = fetch_range(dir, spec, req, h, e);
    if (!r)
        r = measure(dir, req, h, e);
    if (dir)
        tp_remove_tree(dir, NULL);
    free(dir);
    free(store);
    free(cache);
    return r;
}

static bool is_checkout(const char *dir)
{
    char *git_dir = tp_join(dir, ".git");
    bool is = tp_exists(git_dir);
    free(git_dir);
    return is;
}

int tp_history_possible(const char *text, bool *possible, struct tp_error *e)
{
    struct tp_spec spec;
    int r = tp_spec_parse(text, NULL, &spec, e);
    *possible = !r &&
        (spec.kind == TP_SOURCE_GIT || spec.kind == TP_SOURCE_AUTO ||
            (spec.kind == TP_SOURCE_DIRECTORY && is_checkout(spec.path)));
    tp_spec_finish(&spec);
    return r;
}

int tp_history_get(const struct tp_history_request *req, struct tp_history *out, struct tp_error *e)
{
    struct tp_error own = {0};
    if (!e)
        e = &own;
    *out = (struct tp_history){0};
    struct tp_spec spec;
    int64_t limit = req->git_timeout_ms ? req->git_timeout_ms : 10000;
    int r = tp_spec_parse(req->spec ? req->spec : "auto", req->git_url, &spec, e);
    bool local = !r && spec.kind == TP_SOURCE_DIRECTORY && is_checkout(spec.path);
    if (!r && !local && spec.kind != TP_SOURCE_GIT && spec.kind != TP_SOURCE_AUTO)
        r = tp_fail(e, TP_STATUS_INPUT, -EOPNOTSUPP, req->spec, "name a git repository",
            "has no history of commits");
    if (!r && !local)
        r = tp_git_answers(&spec, spec.kind == TP_SOURCE_AUTO ? limit : 6 * limit, e);
    if (!r && !local && *spec.url == '/')
        r = read_local(spec.url, spec.url, req, out, e);
    else if (!r && !local)
        r = read_remote(&spec, req, out, e);
    else if (!r)
        r = read_local(spec.path, spec.path, req, out, e);
    tp_spec_finish(&spec);
    if (r)
        tp_history_finish(out);
    return r;
}
