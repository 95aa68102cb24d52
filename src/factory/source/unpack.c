#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "factory/source/room.h"
#include "factory/source/tar.h"

static const struct packer {
    const char *program, *package;
    const char *magic;
    size_t len;
} packers[] = {
    {"xz", "xz-utils",
        "\xfd"
        "7zXZ",
        6}, /* with the NUL behind it */
    {"gzip", "gzip", "\x1f\x8b", 2},
    {"zstd", "zstd", "\x28\xb5\x2f\xfd", 4},
};

struct feed {
    struct tp_tar *tar;
    struct tp_error *e;
};

static int feed_bytes(void *data, const char *bytes, size_t n)
{
    struct feed *f = data;
    return tp_tar_feed(f->tar, bytes, n, f->e);
}

/* The last line of what a program said, without its newline. The caller frees. */
static char *last_line(const struct tp_buf *said)
{
    const char *s = tp_buf_str(said), *end = s + said->len;
    while (end > s && isspace((unsigned char)end[-1]))
        end--;
    const char *start = end;
    while (start > s && start[-1] != '\n')
        start--;
    return tp_strndup(start, (size_t)(end - start));
}

static int unpack_packed(
    const struct packer *p, const char *file, struct tp_tar *tar, struct tp_error *e)
{
    if (!tp_have_program(p->program)) {
        char *todo = tp_asprintf("apt-get install %s", p->package);
        tp_fail(e, TP_STATUS_MISSING, -ENOENT, p->program, todo, "is needed to unpack %s", file);
        free(todo);
        return -ENOENT;
    }
    const char *const argv[] = {p->program, "-dc", "--", file, NULL};
    const char *const env[] = {"LC_ALL=C", "XZ_DEFAULTS", "XZ_OPT", "GZIP", NULL};
    struct tp_buf said = {0};
    struct feed feed = {tar, e};
    struct tp_cmd cmd = {.argv = argv,
        .env = env,
        .err = &said,
        .log_fd = -1,
        .on_bytes = feed_bytes,
        .data = &feed};
    int r = tp_run(&cmd, e);
    if (r > 0) {
        char *line = last_line(&said);
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, file,
            "get it again, and compare its SHA-256 with the publisher's",
            "is truncated or damaged (%s)", *line ? line : p->program);
        free(line);
    }
    tp_buf_finish(&said);
    return r;
}

static int unpack_plain(int fd, const char *file, struct tp_tar *tar, struct tp_error *e)
{
    char chunk[65536];
    for (;;) {
        if (tp_interrupted())
            return tp_fail(e, TP_STATUS_FAILED, -EINTR, file, NULL, "interrupted");
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tp_fail_errno(e, errno, file, "cannot be read");
        if (!n)
            return 0;
        int r = tp_tar_feed(tar, chunk, (size_t)n, e);
        if (r)
            return r;
    }
}

static int unpack(const char *file, struct tp_tar *tar, struct tp_error *e)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tp_fail_errno(e, errno, file, "cannot be opened");
    char magic[8] = {0};
    ssize_t n = pread(fd, magic, sizeof magic, 0);
    const struct packer *packer = NULL;
    for (size_t i = 0; n > 0 && i < sizeof packers / sizeof *packers; i++) {
        if ((size_t)n >= packers[i].len && !memcmp(magic, packers[i].magic, packers[i].len))
            packer = &packers[i];
    }
    int r = packer ? unpack_packed(packer, file, tar, e) : unpack_plain(fd, file, tar, e);
    close(fd);
    return r ? r : tp_tar_end(tar, e);
}

int tp_unpack_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e)
{
    char sum[TP_SHA256_HEX];
    int r = tp_sha256_file(spec->path, sum, e);
    if (r)
        return r;
    if (*spec->sha256 && strcmp(sum, spec->sha256))
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, spec->path,
            "get it again, or correct the hash behind @sha256:", "has the SHA-256 %s, not %s", sum,
            spec->sha256);
    char *dir = tp_join(job->stage, "unpacked");
    struct tp_tar tar;
    r = tp_mkdirs(dir, e);
    if (!r && !(r = tp_tar_init(&tar, spec->path, dir, job->dest, e))) {
        r = unpack(spec->path, &tar, e);
        job->newest = tar.newest;
        bool commit = tar.comment && strlen(tar.comment) == 40 &&
            !tar.comment[strspn(tar.comment, "0123456789abcdef")];
        job->out->revision = tp_strdup(commit ? tar.comment : "");
        tp_tar_finish(&tar);
    }
    if (!r && !(job->root = tp_tree_find(dir, spec->path, e)))
        r = e && e->err ? e->err : -EINVAL;
    free(dir);
    job->out->sha256 = tp_strdup(sum);
    job->out->spec = tp_asprintf("%s@sha256:%s", spec->path, sum);
    return r;
}
