#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "factory/source/room.h"

struct copy {
    const char *top; /* the user's folder, for errors */
    char *skip;      /* the part of top in which our own destination lies, or NULL */
    const char *to;  /* the copy's place, for errors */
};

static bool has(int dir, const char *name)
{
    return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Folders that others made from the source: told by what their makers leave in them. */
static bool is_derived(int dir, const char *name)
{
    return !strcmp(name, "__pycache__") || has(dir, "meson-private") ||
        has(dir, "CMakeCache.txt") || has(dir, "pyvenv.cfg");
}

static int fail_at(const char *top, const char *at, const char *name, int err, const char *what,
    struct tp_error *e)
{
    char *path = tp_asprintf("%s/%s%s%s", top, at, *at ? "/" : "", name);
    tp_fail_errno(e, err, path, "%s", what);
    free(path);
    return -err;
}

/* Shares the blocks where the disk can (copy_file_range), else copies them. 0 or an errno; *reading
 * says which side failed. */
static int copy_bytes(int in, int out, bool *reading)
{
    *reading = false;
    bool range = true;
    char chunk[65536];
    for (;;) {
        ssize_t n;
        if (range) {
            n = copy_file_range(in, NULL, out, NULL, (size_t)1 << 30, 0);
            if (n > 0)
                continue;
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
                return errno;
            range = false; /* the end, or a disk that cannot: reading tells */
        }
        n = read(in, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            *reading = n < 0;
            return n < 0 ? errno : 0;
        }
        for (ssize_t done = 0; done < n;) {
            ssize_t w = write(out, chunk + done, (size_t)(n - done));
            if (w < 0 && errno != EINTR)
                return errno;
            done += w > 0 ? w : 0;
        }
    }
}

static int copy_file(
    const struct copy *c, const char *at, const char *name, int from, int to, struct tp_error *e)
{
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (in < 0 || fstat(in, &st) < 0) {
        int err = errno;
        if (in >= 0)
            close(in);
        return fail_at(c->top, at, name, err, "cannot be read", e);
    }
    int out =
        openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0111 ? 0777 : 0666);
    bool reading = false;
    int err = out < 0 ? errno : copy_bytes(in, out, &reading);
    if (out >= 0 && close(out) < 0 && !err)
        err = errno;
    close(in);
    if (err)
        return reading ? fail_at(c->top, at, name, err, "cannot be read", e)
                       : fail_at(c->to, at, name, err, "cannot be written", e);
    return 0;
}

static int copy_link(
    const struct copy *c, const char *at, const char *name, int from, int to, struct tp_error *e)
{
    char target[4097];
    ssize_t n = readlinkat(from, name, target, sizeof target - 1);
    if (n < 0)
        return fail_at(c->top, at, name, errno, "cannot be read", e);
    target[n] = 0;
    if (symlinkat(target, to, name) < 0)
        return fail_at(c->to, at, name, errno, "cannot be written", e);
    return 0;
}

/* from: moved in. to: borrowed. */
static int copy_folder(const struct copy *c, const char *at, int from, int to, struct tp_error *e)
{
    DIR *d = fdopendir(from);
    if (!d) {
        int err = errno;
        close(from);
        return fail_at(c->top, at, "", err, "cannot be read", e);
    }
    int r = 0;
    errno = 0;
    for (struct dirent *it; !r && (it = readdir(d)); errno = 0) {
        const char *name = it->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".git") ||
            !strncmp(name, ".tp-", 4) || (!*at && c->skip && !strcmp(name, c->skip)))
            continue;
        struct stat st;
        if (tp_interrupted()) {
            r = tp_fail(e, TP_STATUS_FAILED, -EINTR, c->top, NULL, "interrupted");
        } else if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            r = fail_at(c->top, at, name, errno, "cannot be examined", e);
        } else if (S_ISREG(st.st_mode)) {
            r = copy_file(c, at, name, from, to, e);
        } else if (S_ISLNK(st.st_mode)) {
            r = copy_link(c, at, name, from, to, e);
        } else if (S_ISDIR(st.st_mode)) {
            int inner = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0) {
                r = fail_at(c->top, at, name, errno, "cannot be read", e);
            } else if (is_derived(inner, name)) {
                close(inner);
            } else {
                int made = mkdirat(to, name, 0777) < 0
                    ? -1
                    : openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                char *path = *at ? tp_join(at, name) : tp_strdup(name);
                if (made < 0) {
                    r = fail_at(c->to, at, name, errno, "cannot be written", e);
                    close(inner);
                } else {
                    r = copy_folder(c, path, inner, made, e);
                    close(made);
                }
                free(path);
            }
        }
    }
    if (!r && errno)
        r = fail_at(c->top, at, "", errno, "cannot be read", e);
    closedir(d);
    return r;
}

/* Which commit the user's folder is at, and whether it differs from that. A folder inside another
 * repository has none of its own. */
static int read_head(struct tp_job *job, const char *path, struct tp_error *e)
{
    char *dot_git = tp_join(path, ".git");
    bool checkout = tp_exists(dot_git);
    free(dot_git);
    if (!checkout)
        return 0;
    if (!tp_have_program("git")) {
        tp_job_note(job, "git is not installed: the commit of %s is not recorded", path);
        return 0;
    }
    const char *const head[] = {"log", "-1", "--no-show-signature", "--format=%H %ct", NULL};
    const char *const status[] = {"status", "--porcelain", "--ignore-submodules", NULL};
    struct tp_buf out = {0}, changes = {0}, said = {0};
    int r = tp_git_run(path, head, 60000, &out, &said, e);
    if (!r)
        r = tp_git_run(path, status, 60000, &changes, &said, e);
    if (!r) {
        const char *text = tp_buf_str(&out);
        size_t n = strcspn(text, " \n");
        job->out->revision = tp_strndup(text, n);
        job->commit_date = text[n] == ' ' ? strtoll(text + n, NULL, 10) : -1;
        job->out->dirty = changes.len > 0;
    } else if (r > 0) {
        tp_job_note(job, "the commit of %s is not recorded: %.*s", path,
            (int)strcspn(tp_buf_str(&said), "\n"), tp_buf_str(&said));
        r = 0;
    }
    tp_buf_finish(&out);
    tp_buf_finish(&changes);
    tp_buf_finish(&said);
    return r;
}

int tp_copy_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    if (!tp_tree_is_mesa(spec->path))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, spec->path,
            "name the folder that holds Mesa's own source",
            "is no Mesa source: it has no VERSION beside a folder src");
    int r = read_head(job, spec->path, e);
    if (r)
        return r;
    struct copy c = {.top = spec->path, .to = job->dest};
    /* turnpike build --mesa . keeps its work below this very folder. */
    char *from_real = realpath(spec->path, NULL), *stage_real = realpath(job->stage, NULL);
    size_t n = from_real ? strlen(from_real) : 0;
    if (from_real && stage_real && !strncmp(stage_real, from_real, n) && stage_real[n] == '/')
        c.skip = tp_strndup(stage_real + n + 1, strcspn(stage_real + n + 1, "/"));
    free(from_real);
    free(stage_real);
    job->root = tp_join(job->stage, "mesa");
    job->out->spec = tp_strdup(spec->path);
    int from = -1, to = -1;
    if (c.skip && !strcmp(c.skip, "src"))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, job->dest, "choose a folder elsewhere",
            "lies inside the src of the Mesa that is to be copied there");
    if (!r)
        r = tp_mkdirs(job->root, e);
    if (!r && (from = open(spec->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        r = tp_fail_errno(e, errno, spec->path, "cannot be read");
    if (!r && (to = open(job->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        r = tp_fail_errno(e, errno, job->dest, "cannot be written");
    if (!r)
        r = copy_folder(&c, "", from, to, e);
    else if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    free(c.skip);
    return r;
}
