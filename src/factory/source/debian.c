#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "factory/source/debindex.h"
#include "factory/source/room.h"

/* Newest first. An index may list what the archive no longer, or not yet, serves. */
static const char *const debian_suites[] = {"sid", "forky", "trixie", "bookworm", NULL};

struct fetch {
    struct tp_job *job;
    const char *asked;       /* a version, or NULL for the newest */
    char *script;            /* owned: tools/private-apt */
    char *store;             /* owned: where tarballs are kept */
    char *path;              /* owned: the tarball that came, or NULL */
    struct tp_debsource got; /* owned strings: its entry */
    struct tp_buf listed;    /* every version seen, for the error */
    struct tp_buf refused;   /* "VERSION (why), …": those that did not come */
    struct tp_buf offline;   /* why nothing can be downloaded; "" while it can */
    struct tp_buf no_list;   /* "SUITE: why", the first whose index is not there */
};

static bool mentions(const struct tp_buf *b, const char *version)
{
    char *entry = tp_asprintf(" %s ", version);
    bool found = strstr(tp_buf_str(b), entry) != NULL;
    free(entry);
    return found;
}

/* The first line of an apt program's output that states an error, without what comes before. */
static char *complaint(const struct tp_buf *said)
{
    const char *s = tp_buf_str(said), *at = strstr(s, "E: ");
    if (at)
        s = at + 3;
    else if (!strncmp(s, "private-apt: ", 13))
        s += 13;
    return tp_strndup(s, strcspn(s, "\n"));
}

/* The suites of this machine's distribution. Ubuntu's are its release's; NULL-terminated; the
 * caller frees the list and its strings. */
static char **suites(void)
{
    struct tp_buf os = {0};
    char **list = tp_calloc(8, sizeof *list);
    size_t n = 0;
    if (tp_read_file("/etc/os-release", 65536, &os, NULL) == 0 &&
        strstr(tp_buf_str(&os), "\nID=ubuntu\n")) {
        const char *code = strstr(tp_buf_str(&os), "\nVERSION_CODENAME=");
        if (code) {
            code += 18;
            int len = (int)strcspn(code, "\n");
            list[n++] = tp_asprintf("%.*s-updates", len, code);
            list[n++] = tp_asprintf("%.*s", len, code);
        }
    }
    tp_buf_finish(&os);
    for (size_t i = 0; !n && debian_suites[i]; i++)
        list[i] = tp_strdup(debian_suites[i]);
    return list;
}

/* The last line of what tools/private-apt said, without its name and its advice: why it gave up. */
static char *verdict(const struct tp_buf *said)
{
    const char *s = tp_buf_str(said), *line = s, *end;
    while ((end = strchr(line, '\n')) && end[1])
        line = end + 1;
    line += strncmp(line, "private-apt: ", 13) ? 0 : 13;
    const char *advice = strstr(line, "; ");
    return tp_strndup(line, advice ? (size_t)(advice - line) : strcspn(line, "\n"));
}

/* The options that make apt use a suite's index, one a line. 0, -ENODATA when there is no such
 * index (no_list says why), or another errno with the error. */
static int prepare(
    struct fetch *f, const char *suite, bool again, struct tp_buf *options, struct tp_error *e)
{
    const char *const any[] = {f->script, "deb-src", "native", suite, NULL};
    const char *const fresh[] = {f->script, "-f", "deb-src", "native", suite, NULL};
    char *cache = tp_asprintf("TURNPIKE_CACHE=%s", f->job->cache);
    const char *const env[] = {"LC_ALL=C", cache, NULL};
    struct tp_buf said = {0};
    struct tp_cmd cmd = {
        .argv = again ? fresh : any, .env = env, .out = options, .err = &said, .log_fd = -1};
    int r = tp_run(&cmd, e);
    if (r == 2) { /* by the script's contract: the cache folder cannot be used */
        char *why = verdict(&said);
        r = tp_fail(e, TP_STATUS_INPUT, -EIO, f->job->cache,
            "free some space there, or set TURNPIKE_CACHE to a folder of yours on another disk",
            "cannot hold the package lists of %s: %s", suite, why);
        free(why);
    } else if (r > 0) {
        char *why = complaint(&said);
        if (!f->no_list.len)
            tp_buf_addf(&f->no_list, "%s: %s", suite, *why ? why : "private-apt failed");
        free(why);
        r = -ENODATA;
    } else if (!r && said.len) {
        char *text = complaint(&said);
        tp_job_note(f->job, "%s", text);
        free(text);
    }
    tp_buf_finish(&said);
    free(cache);
    return r;
}

/* Runs an apt program with the prepared options, both outputs into one. */
static int run_apt(const char *program, const struct tp_buf *options, const char *const *args,
    const char *cwd, struct tp_buf *said, struct tp_error *e)
{
    const char *argv[64] = {program};
    char *copy = tp_strdup(tp_buf_str(options)), *save = NULL;
    size_t n = 1;
    for (char *word = strtok_r(copy, "\n", &save); word && n < 48;
         word = strtok_r(NULL, "\n", &save))
        argv[n++] = word;
    while (*args)
        argv[n++] = *args++;
    argv[n] = NULL;
    const char *const env[] = {"LC_ALL=C", "APT_CONFIG", NULL};
    struct tp_cmd cmd = {
        .argv = argv, .env = env, .cwd = cwd, .out = said, .err = said, .log_fd = -1};
    int r = tp_run(&cmd, e);
    free(copy);
    return r;
}

/* Why a download failed, in a few words for `refused`; sets offline when the network is the cause.
 */
static int judge(
    struct fetch *f, const struct tp_debsource *s, const struct tp_buf *said, struct tp_error *e)
{
    static const char *const network[] = {"Could not connect", "Could not resolve",
        "Temporary failure", "Connection timed out", "Connection failed", "Unable to connect",
        NULL};
    const char *text = tp_buf_str(said);
    if (strstr(text, "No space left") || strstr(text, "enough free space") ||
        strstr(text, "quota exceeded"))
        return tp_fail(e, TP_STATUS_FAILED, -ENOSPC, f->store,
            "free some space there, or set TURNPIKE_CACHE to a folder on another disk",
            "has no room for %s (%.1f MB; %.1f MB are free)", s->file, (double)s->size / 1e6,
            (double)tp_free_bytes(f->store) / 1e6);
    for (size_t i = 0; network[i] && !f->offline.len; i++) {
        if (strstr(text, network[i])) {
            char *why = complaint(said);
            tp_buf_adds(&f->offline, why);
            free(why);
        }
    }
    if (!f->offline.len) {
        const char *why = strstr(text, "404")   ? "404 Not Found"
            : strstr(text, "Hash Sum mismatch") ? "arrived damaged"
                                                : NULL;
        char *other = complaint(said);
        tp_buf_addf(&f->refused, " %s (%s),", s->version, why ? why : other);
        free(other);
    }
    return 0;
}

/* A file with the hash that the index states? -EBADMSG when not. */
static int check(const char *path, const struct tp_debsource *s, struct tp_error *e)
{
    char sum[TP_SHA256_HEX];
    int r = tp_sha256_file(path, sum, e);
    return r ? r : strcmp(sum, s->sha256) ? -EBADMSG : 0;
}

static int download(struct fetch *f, const struct tp_debsource *s, const struct tp_buf *options,
    const char *kept, struct tp_error *e)
{
    char *temp = tp_temp_dir(f->store, e);
    if (!temp)
        return e->err;
    tp_job_note(f->job, "asking the package archive for mesa %s (%.1f MB)", s->version,
        (double)s->size / 1e6);
    char *package = tp_asprintf("mesa=%s", s->version), *file = tp_join(temp, s->file);
    const char *const args[] = {
        "-q", "source", "--only-source", "--download-only", "--tar-only", package, NULL};
    struct tp_buf said = {0};
    struct stat st;
    int r = run_apt("apt-get", options, args, temp, &said, e);
    if (r > 0) {
        r = judge(f, s, &said, e);
    } else if (!r && (lstat(file, &st) < 0 || !S_ISREG(st.st_mode))) {
        tp_buf_addf(&f->refused, " %s (apt-get left no %s),", s->version, s->file);
    } else if (!r && (r = check(file, s, e)) == -EBADMSG) {
        tp_buf_addf(&f->refused, " %s (arrived damaged),", s->version);
        r = 0;
    } else if (!r) {
        if (rename(file, kept) < 0)
            r = tp_fail_errno(e, errno, kept, "cannot be written");
        else
            f->path = tp_strdup(kept);
    }
    tp_remove_tree(temp, NULL);
    tp_buf_finish(&said);
    free(package);
    free(file);
    free(temp);
    return r;
}

/* Sets f->path when the tarball is in the cache or came. */
static int try_source(
    struct fetch *f, const struct tp_debsource *s, const struct tp_buf *options, struct tp_error *e)
{
    char *kept = tp_join(f->store, s->file);
    int r = 0;
    if (tp_is_file(kept)) {
        r = check(kept, s, e);
        if (!r) {
            f->path = tp_strdup(kept);
        } else if (r == -EBADMSG) {
            tp_job_note(f->job, "%s is not what the index describes: getting it again", kept);
            r = 0;
        }
    }
    if (!r && !f->path && !f->offline.len)
        r = download(f, s, options, kept, e);
    if (!r && f->path)
        f->got =
            (struct tp_debsource){.version = tp_strdup(s->version), .file = tp_strdup(s->file)};
    free(kept);
    return r;
}

static int try_suite(struct fetch *f, const char *suite, bool again, struct tp_error *e)
{
    struct tp_buf options = {0}, index = {0};
    struct tp_debsource *list = NULL;
    size_t n = 0;
    int r = prepare(f, suite, again, &options, e);
    if (!r) {
        const char *const args[] = {"--only-source", "showsrc", "mesa", NULL};
        r = run_apt("apt-cache", &options, args, NULL, &index, e);
        /* It fails where the suite has no mesa. */
        n = r == 0 ? tp_debindex_parse(tp_buf_str(&index), &list) : 0;
        r = r > 0 ? 0 : r;
    }
    for (size_t i = 0; !r && !f->path && i < n; i++) {
        if (!mentions(&f->listed, list[i].version))
            tp_buf_addf(&f->listed, " %s ", list[i].version);
        if ((!f->asked || tp_debindex_is(list[i].version, f->asked)) &&
            !mentions(&f->refused, list[i].version))
            r = try_source(f, &list[i], &options, e);
    }
    tp_debindex_finish(list, n);
    tp_buf_finish(&index);
    tp_buf_finish(&options);
    return r == -ENODATA ? 0 : r;
}

/* No tarball came: which of the reasons is it? */
static int explain(struct fetch *f, struct tp_error *e)
{
    static const char other[] = "use --mesa git, a folder or a tarball";
    char *refused = tp_strndup(tp_buf_str(&f->refused), f->refused.len ? f->refused.len - 1 : 0);
    int r;
    if (f->offline.len)
        r = tp_fail(e, TP_STATUS_MISSING, -EHOSTUNREACH, "debian",
            "check the network, or use --mesa with a folder or a tarball",
            "the package archive does not answer (%s)", tp_buf_str(&f->offline));
    else if (f->refused.len)
        r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, "debian", other,
            "the package archive lists Mesa's source but does not serve it:%s", refused);
    else if (f->asked && f->listed.len)
        r = tp_fail(e, TP_STATUS_INPUT, -ENOENT, "debian", "ask for one of those, or for debian",
            "the package archive has no mesa %s; it lists%s%s%s%s", f->asked,
            tp_buf_str(&f->listed), f->no_list.len ? "(not looked at: " : "",
            tp_buf_str(&f->no_list), f->no_list.len ? ")" : "");
    else
        r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, "debian", other,
            "no source package of Mesa is to be had (%s)",
            f->no_list.len ? tp_buf_str(&f->no_list) : "no index lists one");
    free(refused);
    return r;
}

static int fetch(struct fetch *f, struct tp_error *e)
{
    char **list = suites();
    int r = 0;
    /* An index may be a day old, and what it lists gone: then once more with new ones. */
    for (int pass = 0; pass < 2 && !r && !f->path; pass++) {
        if (pass && (f->offline.len || !f->listed.len))
            break;
        tp_buf_clear(&f->refused);
        for (size_t i = 0; list[i] && !r && !f->path; i++)
            r = try_suite(f, list[i], pass > 0, e);
    }
    for (size_t i = 0; list[i]; i++)
        free(list[i]);
    free(list);
    if (!r && !f->path)
        r = explain(f, e);
    if (!r && f->offline.len)
        tp_job_note(f->job,
            "the package archive does not answer (%s): using mesa %s, which is here",
            tp_buf_str(&f->offline), f->got.version);
    else if (!r && f->refused.len)
        tp_job_note(f->job, "the package archive lists, but does not serve,%.*s: using mesa %s",
            (int)f->refused.len - 1, tp_buf_str(&f->refused), f->got.version);
    return r;
}

int tp_debian_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    static const char *const needed[] = {"apt-get", "apt-cache"};
    for (size_t i = 0; i < 2; i++) {
        if (!tp_have_program(needed[i]))
            return tp_fail(e, TP_STATUS_MISSING, -ENOENT, needed[i],
                "use --mesa git, a folder or a tarball", "is needed for Debian's source package");
    }
    struct fetch f = {.job = job, .asked = spec->version};
    f.script = job->req->private_apt ? tp_absolute(job->req->private_apt)
                                     : tp_data_path("tools/private-apt", e);
    f.store = tp_join(job->cache, "mesa");
    int r = f.script ? tp_mkdirs(f.store, e) : e->err;
    if (!r) {
        tp_sweep_temp(f.store);
        r = fetch(&f, e);
    }
    if (!r) {
        struct tp_spec tarball = {.kind = TP_SOURCE_TARBALL, .path = f.path};
        r = tp_unpack_get(job, &tarball, e);
        free(job->out->spec);
        job->out->spec = tp_asprintf("debian:%s", f.got.version);
    }
    free(f.script);
    free(f.store);
    free(f.path);
    free(f.got.version);
    free(f.got.file);
    tp_buf_finish(&f.listed);
    tp_buf_finish(&f.refused);
    tp_buf_finish(&f.offline);
    tp_buf_finish(&f.no_list);
    return r;
}
