#include "factory/source/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/proc.h"
#include "factory/source/room.h"

void tp_source_finish(struct tp_source *s)
{
    free(s->tree);
    free(s->kind);
    free(s->spec);
    free(s->version);
    free(s->revision);
    free(s->sha256);
    *s = (struct tp_source){0};
}

void tp_job_note(const struct tp_job *job, const char *fmt, ...)
{
    if (!job->req->note)
        return;
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) >= 0) {
        job->req->note(job->req->data, text);
        free(text);
    }
    va_end(ap);
}

static int check_dest(const char *dest, struct tp_error *e)
{
    DIR *d = opendir(dest);
    if (!d) {
        if (errno == ENOENT && !tp_exists(dest))
            return 0;
        if (errno == ENOTDIR || errno == ENOENT)
            return tp_fail(e, TP_STATUS_INPUT, -ENOTDIR, dest, "choose another folder",
                "is no folder, and is in the way of Mesa's source");
        return tp_fail_errno(e, errno, dest, "cannot take Mesa's source");
    }
    bool empty = true;
    for (struct dirent *it; empty && (it = readdir(d));)
        empty = !strcmp(it->d_name, ".") || !strcmp(it->d_name, "..");
    closedir(d);
    if (empty)
        return 0;
    return tp_fail(e, TP_STATUS_INPUT, -ENOTEMPTY, dest, "empty it, or choose another folder",
        "is not empty: Mesa's source would mix with what is in it");
}

/* auto: git when it answers, else Debian's package. Fills job->out->kind like get_kind. */
static int get_auto(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    int64_t limit = job->req->git_timeout_ms ? job->req->git_timeout_ms : 10000;
    struct tp_error why = {0};
    int r = tp_git_answers(spec, limit, &why);
    if (r == -EINTR)
        return tp_fail(e, TP_STATUS_FAILED, r, why.where, NULL, "%s", why.what);
    if (!r) {
        job->out->kind = tp_strdup("git");
        return tp_git_get(job, spec, e);
    }
    tp_job_note(job, "%s: %s; using Debian's source package", why.where, why.what);
    job->out->kind = tp_strdup("debian");
    return tp_debian_get(job, spec, e);
}

static int get_kind(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    static const char *const names[] = {NULL, "git", "directory", "tarball", "debian"};
    if (names[spec->kind])
        job->out->kind = tp_strdup(names[spec->kind]);
    int64_t limit = job->req->git_timeout_ms ? job->req->git_timeout_ms : 10000;
    int r;
    switch (spec->kind) {
    case TP_SOURCE_GIT:
        r = tp_git_answers(spec, 6 * limit, e);
        return r ? r : tp_git_get(job, spec, e);
    case TP_SOURCE_DIRECTORY:
        return tp_copy_get(job, spec, e);
    case TP_SOURCE_TARBALL:
        return tp_unpack_get(job, spec, e);
    case TP_SOURCE_DEBIAN:
        return tp_debian_get(job, spec, e);
    default:
        return get_auto(job, spec, e);
    }
}

/* The tree is in the stage: looks at it, and moves it to its place. name: what to call it. */
static int settle(struct tp_job *job, const char *name, struct tp_error *e)
{
    struct tp_source *out = job->out;
    int r = tp_tree_check_links(job->root, name, e);
    if (r)
        return r;
    out->version = tp_tree_version(job->root, name, e);
    if (!out->version)
        return e->err;
    out->epoch = tp_tree_epoch(job->root, out->version, job->commit_date, job->newest);
    if (!out->revision)
        out->revision = tp_strdup("");
    if (!out->sha256)
        out->sha256 = tp_strdup("");
    if (rename(job->root, job->dest) < 0)
        return tp_fail_errno(e, errno, job->dest, "cannot take Mesa's source");
    out->tree = tp_strdup(job->dest);
    return 0;
}

int tp_source_get(const struct tp_source_request *req, struct tp_source *out, struct tp_error *e)
{
    struct tp_error own = {0};
    if (!e)
        e = &own;
    *out = (struct tp_source){0};
    struct tp_spec spec = {0};
    struct tp_job job = {.req = req, .out = out, .commit_date = -1, .newest = -1};
    char *dest = tp_absolute(req->dest), *parent = NULL, *stage = NULL;
    char *cache = req->cache ? tp_absolute(req->cache) : tp_cache_dir(e);
    int r = cache ? 0 : e->err;
    if (!r)
        r = tp_spec_parse(req->spec ? req->spec : "auto", req->git_url, &spec, e);
    if (!r)
        r = check_dest(dest, e);
    if (!r)
        r = tp_mkdirs_for(dest, e);
    if (r)
        goto out;
    parent = tp_parent(dest);
    tp_sweep_temp(parent);
    if (!(stage = tp_temp_dir(parent, e))) {
        r = e->err;
        goto out;
    }
    job.cache = cache;
    job.dest = dest;
    job.stage = stage;
    r = get_kind(&job, &spec, e);
    if (!r && tp_interrupted())
        r = tp_fail(e, TP_STATUS_FAILED, -EINTR, dest, NULL, "interrupted");
    if (!r)
        r = settle(&job, out->spec, e);
out:
    if (stage)
        tp_remove_tree(stage, NULL); /* what resists is swept by a later call */
    if (r)
        tp_source_finish(out);
    tp_spec_finish(&spec);
    free(job.root);
    free(stage);
    free(parent);
    free(dest);
    free(cache);
    return r;
}
