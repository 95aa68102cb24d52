/* The entries of a range of releases, each once. */
#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/notes/relnotes.h"

struct file {
    struct tp_mesa_release release;
    char *version; /* owned */
};

struct gather {
    struct tp_relnotes *out;
    void *seen;    /* a tree of owned texts that an earlier release has */
    bool counts;   /* this release is in the range */
    char *version; /* of it; borrowed */
};

static int by_release(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    int r = tp_mesa_release_compare(&x->release, &y->release);
    return r ? r : strcmp(x->version, y->version);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* An entry's kind belongs to its identity: a fix may bear the name of a change. */
static bool is_new(struct gather *g, enum tp_relnote_kind kind, const char *text)
{
    char *key = tp_asprintf("%d%s", (int)kind, text);
    void **at = tsearch(key, &g->seen, by_text);
    if (!at)
        abort();
    if (*at == key)
        return true;
    free(key);
    return false;
}

static void take(void *data, enum tp_relnote_kind kind, const char *text)
{
    struct gather *g = data;
    g->out->all += g->counts && kind == TP_RELNOTE_CHANGE;
    if (!tp_relnotes_names_driver(text))
        return;
    if (!is_new(g, kind, text)) {
        g->out->again += g->counts;
    } else if (g->counts) {
        TP_PUSH(g->out->at, g->out->n, g->out->cap) =
            (struct tp_relnote){.kind = kind, .version = g->version, .text = tp_strdup(text)};
        g->out->of_kind[kind]++;
    }
}

/* Every VERSION.rst in dir, oldest first. */
static int list_files(const char *dir, struct file **files, size_t *n, struct tp_error *e)
{
    size_t cap = 0;
    DIR *d = opendir(dir);
    *files = NULL;
    *n = 0;
    if (!d)
        return tp_fail(e, TP_STATUS_FAILED, -ENOENT, dir, NULL, "this Mesa has no release notes");
    for (struct dirent *it; (it = readdir(d));) {
        size_t len = strlen(it->d_name);
        struct file f;
        if (len < 5 || strcmp(it->d_name + len - 4, ".rst"))
            continue;
        f.version = tp_strndup(it->d_name, len - 4);
        if (tp_mesa_release_parse(f.version, &f.release))
            TP_PUSH(*files, *n, cap) = f;
        else
            free(f.version);
    }
    closedir(d);
    if (*n)
        qsort(*files, *n, sizeof **files, by_release);
    return 0;
}

static int read_one(const char *dir, const struct file *f, struct gather *g, struct tp_error *e)
{
    char *name = tp_asprintf("%s/%s.rst", dir, f->version);
    struct tp_buf text = {0};
    int r = tp_read_file(name, 16 << 20, &text, e);
    if (!r)
        tp_relnotes_parse(tp_buf_str(&text), text.len, take, g);
    tp_buf_finish(&text);
    free(name);
    return r;
}

static void newest_first(struct tp_relnotes *r)
{
    /* Releases turn round; entries of one keep their order. */
    struct tp_relnote *turned = tp_calloc(r->n ? r->n : 1, sizeof *turned);
    size_t to = 0;
    for (size_t end = r->n; end;) {
        size_t first = end - 1;
        while (first && r->at[first - 1].version == r->at[end - 1].version)
            first--;
        for (size_t i = first; i < end; i++)
            turned[to++] = r->at[i];
        end = first;
    }
    free(r->at);
    r->at = turned;
    r->cap = r->n;
}

int tp_relnotes_read(
    const char *dir, const char *from, const char *to, struct tp_relnotes *out, struct tp_error *e)
{
    struct tp_mesa_release first, last;
    *out = (struct tp_relnotes){0};
    if (!tp_mesa_release_parse(from, &first) || !tp_mesa_release_parse(to, &last))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, dir,
            "give versions, as in --from 25.0.6 --to 25.0.7",
            "release notes go by versions, and '%.100s' is none",
            tp_mesa_release_parse(from, &first) ? to : from);
    if (tp_mesa_release_compare(&first, &last) > 0)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, dir, "give the older one as --from",
            "Mesa %.60s is not newer than %.60s", to, from);
    struct file *files;
    size_t n;
    int r = list_files(dir, &files, &n, e);
    struct gather g = {.out = out};
    for (size_t i = 0; !r && i < n; i++) {
        if (tp_mesa_release_compare(&files[i].release, &last) > 0)
            break;
        /* Fixes go back by a few months; of an older one that bears the same words, this is
         * another. */
        if (files[i].release.part[0] + 1 < first.part[0])
            continue;
        g.counts = tp_mesa_release_compare(&files[i].release, &first) > 0;
        if (g.counts)
            TP_PUSH(out->releases, out->n_releases, out->cap_releases) = g.version =
                tp_strdup(files[i].version);
        out->reaches = tp_mesa_release_compare(&files[i].release, &last) == 0;
        r = read_one(dir, &files[i], &g, e);
    }
    tdestroy(g.seen, free);
    newest_first(out);
    if (!r && !out->n_releases && tp_mesa_release_compare(&first, &last))
        r = tp_fail(e, TP_STATUS_FAILED, -ENOENT, dir, NULL,
            "this Mesa has no notes of a release after %.60s, up to %.60s", from, to);
    for (size_t i = 0; i < n; i++)
        free(files[i].version);
    free(files);
    if (r)
        tp_relnotes_finish(out);
    return r;
}

void tp_relnotes_finish(struct tp_relnotes *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->at[i].text);
    for (size_t i = 0; i < r->n_releases; i++)
        free(r->releases[i]);
    free(r->at);
    free(r->releases);
    *r = (struct tp_relnotes){0};
}
