#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "factory/source/room.h"

int tp_git_run(const char *dir, const char *const *args, int64_t timeout_ms, struct tp_buf *out,
    struct tp_buf *err, struct tp_error *e)
{
    /* What the user set for his own work (proxies, credentials) counts; what would change the
     * files, ask for a password, or run something, does not. */
    static const char *const first[] = {
        "git",
        "-c",
        "core.autocrlf=false",
        "-c",
        "core.symlinks=true",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "gc.auto=0",
        "-c",
        "advice.detachedHead=false",
        "-c",
        "http.lowSpeedLimit=1",
        "-c",
        "http.lowSpeedTime=60",
    };
    const char *argv[48];
    size_t n = 0;
    for (; n < sizeof first / sizeof *first; n++)
        argv[n] = first[n];
    if (dir) {
        argv[n++] = "-C";
        argv[n++] = dir;
    }
    while (*args && n < sizeof argv / sizeof *argv - 1)
        argv[n++] = *args++;
    argv[n] = NULL;
    const char *env[] = {
        "LC_ALL=C",
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=true",
        "SSH_ASKPASS=true",
        "GIT_OPTIONAL_LOCKS=0",
        "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_NAMESPACE",
        "GIT_CEILING_DIRECTORIES",
        getenv("GIT_SSH_COMMAND") || getenv("GIT_SSH") ? NULL
                                                       : "GIT_SSH_COMMAND=ssh -oBatchMode=yes",
        NULL,
    };
    struct tp_cmd cmd = {
        .argv = argv, .env = env, .timeout_ms = timeout_ms, .log_fd = -1, .out = out, .err = err};
    return tp_run(&cmd, e);
}

static int no_git(struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_MISSING, -ENOENT, "git",
        "apt-get install git, or use --mesa debian or a tarball",
        "is needed to get Mesa's repository");
}

/* What git said that matters, on one line, without what gives access. The caller frees. */
static char *gist(const struct tp_buf *said, const struct tp_spec *spec)
{
    struct tp_buf b = {0};
    for (const char *s = tp_buf_str(said); *s;) {
        size_t n = strcspn(s, "\n");
        if (n > 7 && (!strncmp(s, "fatal: ", 7) || !strncmp(s, "error: ", 7))) {
            if (b.len)
                tp_buf_adds(&b, "; ");
            tp_buf_add(&b, s + 7, n - 7);
        }
        s += n + (s[n] == '\n');
    }
    if (!b.len) {
        tp_buf_add(&b, tp_buf_str(said), strcspn(tp_buf_str(said), "\n"));
    }
    /* What the public form lacks, wherever it turns up. */
    char *public = tp_spec_public_url(spec->url);
    size_t same = 0, cut = strlen(spec->url) - strlen(public);
    while (public[same] && public[same] == spec->url[same])
        same++;
    char *secret = tp_strndup(spec->url + same, cut);
    for (char *at; cut && b.data && (at = strstr(b.data, secret));)
        tp_buf_splice(&b, (size_t)(at - b.data), cut, "", 0);
    free(secret);
    free(public);
    return tp_buf_take(&b);
}

static bool says(const struct tp_buf *said, const char *const *words)
{
    for (; *words; words++) {
        if (strstr(tp_buf_str(said), *words))
            return true;
    }
    return false;
}

/* Turns what git said into an error: is it the revision, the URL, the disk or the network? */
static int explain(const struct tp_job *job, const struct tp_spec *spec, const struct tp_buf *said,
    struct tp_error *e)
{
    static const char *const revision[] = {"couldn't find remote ref", "no such remote ref",
        "not our ref", "unadvertised object", "expected old/new/ref", NULL};
    static const char *const place[] = {"does not appear to be a git repository", "not found",
        "does not exist", "no path specified", NULL};
    static const char *const access[] = {
        "Authentication failed", "could not read Username", "Permission denied",
        "returned error: 401", "returned error: 403", NULL};
    static const char *const space[] = {
        "No space left on device", "Disk quota exceeded", "File too large", NULL};
    char *url = tp_spec_public_url(spec->url), *text = gist(said, spec);
    size_t n = strlen(spec->rev);
    bool shortened = n >= 4 && n < 40 && !spec->rev[strspn(spec->rev, "0123456789abcdef")];
    int r;
    if (job && says(said, space))
        r = tp_fail(e, TP_STATUS_FAILED, -ENOSPC, job->dest,
            "free some space there, or choose another folder", "has no room for Mesa's source (%s)",
            text);
    else if (says(said, revision))
        r = tp_fail(e, TP_STATUS_INPUT, -ENOENT, url,
            shortened ? "give the commit in full, all 40 digits: a short one cannot be fetched"
                      : "see git ls-remote for its branches and tags",
            "has no branch, tag or commit '%s' (%s)", spec->rev, text);
    else if (says(said, place))
        r = tp_fail(
            e, TP_STATUS_INPUT, -ENOENT, url, "check the URL", "is no git repository (%s)", text);
    else if (says(said, access))
        r = tp_fail(e, TP_STATUS_INPUT, -EACCES, url,
            "check the URL, or set up git's credentials for it", "refuses access (%s)", text);
    else
        r = tp_fail(e, TP_STATUS_MISSING, -EHOSTUNREACH, url,
            "check the network, or use --mesa debian or a tarball", "git failed (%s)", text);
    free(url);
    free(text);
    return r;
}

int tp_git_explain(const struct tp_spec *spec, const struct tp_buf *said, struct tp_error *e)
{
    return explain(NULL, spec, said, e);
}

int tp_git_answers(const struct tp_spec *spec, int64_t timeout_ms, struct tp_error *e)
{
    if (!tp_have_program("git"))
        return no_git(e);
    struct tp_buf out = {0}, said = {0};
    struct tp_error own = {0};
    const char *const args[] = {"ls-remote", "-q", "--", spec->url, "HEAD", NULL};
    int r = tp_git_run(NULL, args, timeout_ms, &out, &said, &own);
    if (r > 0) {
        r = explain(NULL, spec, &said, e);
    } else if (r == -ETIMEDOUT) {
        char *url = tp_spec_public_url(spec->url);
        tp_fail(e, TP_STATUS_MISSING, r, url,
            "check the network, or use --mesa debian or a tarball", "git got no answer in %g s",
            (double)timeout_ms / 1e3);
        free(url);
    } else if (r < 0) {
        tp_fail(e, own.status, r, own.where, own.todo, "%s", own.what);
    }
    tp_buf_finish(&out);
    tp_buf_finish(&said);
    return r;
}

/* A git command whose failure has no cause in the spec. */
static int plain(const char *dir, const char *const *args, struct tp_buf *out,
    const struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    struct tp_buf said = {0};
    int r = tp_git_run(dir, args, 0, out, &said, e);
    if (r > 0)
        r = explain(job, spec, &said, e);
    tp_buf_finish(&said);
    return r;
}

int tp_git_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    if (!tp_have_program("git"))
        return no_git(e);
    char *root = tp_join(job->stage, "mesa"), *dot_git = tp_join(root, ".git");
    char *url = tp_spec_public_url(spec->url);
    struct tp_buf head = {0};
    const char *const init[] = {"init", "-q", "--template=", "--", root, NULL};
    const char *const fetch[] = {"fetch", "-q", "--depth", "1", "--no-tags",
        "--no-recurse-submodules", "--", spec->url, spec->rev, NULL};
    const char *const checkout[] = {"checkout", "-q", "--detach", "FETCH_HEAD", NULL};
    const char *const show[] = {"log", "-1", "--no-show-signature", "--format=%H %ct", NULL};
    int r = plain(NULL, init, NULL, job, spec, e);
    if (!r)
        r = plain(root, fetch, NULL, job, spec, e);
    if (!r)
        r = plain(root, checkout, NULL, job, spec, e);
    if (!r)
        r = plain(root, show, &head, job, spec, e);
    if (!r) {
        const char *text = tp_buf_str(&head);
        size_t n = strcspn(text, " \n");
        job->out->revision = tp_strndup(text, n);
        job->commit_date = text[n] == ' ' ? strtoll(text + n, NULL, 10) : -1;
        job->out->spec = tp_asprintf("git:%s@%s", url, spec->rev);
        r = tp_remove_tree(dot_git, e);
    }
    if (!r && !(job->root = tp_tree_is_mesa(root) ? tp_strdup(root) : NULL))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, url, "name Mesa's repository, or a branch of it",
            "holds no Mesa at '%s': no VERSION beside a folder src", spec->rev);
    tp_buf_finish(&head);
    free(url);
    free(dot_git);
    free(root);
    return r;
}
