#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"

/* Without a name where the file system can do that: then what is not finished is nowhere, whatever
 * becomes of this program. *temp: else its name. */
static int open_new(const char *target, char **temp)
{
    char *folder = tp_parent(target);
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    *temp = NULL;
    if (fd < 0)
        fd = -errno;
    if (fd == -EOPNOTSUPP || fd == -EISDIR || fd == -EINVAL || fd == -ENOENT)
        fd = tp_temp_file(folder, temp);
    free(folder);
    return fd;
}

static void forget(struct tp_output *o)
{
    if (o->temp)
        unlink(o->temp);
    free(o->temp);
    free(o->target);
    free(o->path);
    *o = (struct tp_output){0};
}

int tp_output_open(const char *path, struct tp_output *out, struct tp_error *e)
{
    struct stat st;
    int fd;

    *out = (struct tp_output){0};
    int named = strcmp(path, "-") ? tp_named_descriptor(path) : STDOUT_FILENO;
    if (named >= 0) {
        if (named == STDOUT_FILENO)
            fflush(stdout); /* what was said before comes before */
        fd = fcntl(named, F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return tp_fail_errno(
                e, errno, strcmp(path, "-") ? path : "standard output", "cannot be written");
    } else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        int r = tp_try_write(path, e);
        fd = r < 0 ? r : open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
            return r < 0 ? r : tp_fail_errno(e, errno, path, "cannot be written");
    } else {
        char *real = realpath(path, NULL);
        out->target = real ? real : tp_strdup(path);
        fd = open_new(out->target, &out->temp);
        if (fd < 0) {
            forget(out);
            return tp_fail_errno(e, -fd, path, "cannot be written");
        }
    }
    out->path = tp_strdup(strcmp(path, "-") ? path : "standard output");
    out->file = fdopen(fd, "w");
    if (!out->file) {
        int err = errno;
        close(fd);
        tp_fail_errno(e, err, out->path, "cannot be written");
        forget(out);
        return -err;
    }
    return 0;
}

/* In the target's place, with the rights that it had. */
static int put_in_place(struct tp_output *o)
{
    int fd = fileno(o->file), r = 0;
    mode_t mask = umask(0), mode = 0666 & ~mask;
    struct stat st;

    umask(mask);
    if (stat(o->target, &st) == 0)
        mode = st.st_mode & 07777;
    if (fchmod(fd, mode) < 0)
        return -errno;
    if (!o->temp) { /* it has no name yet */
        char from[32], *folder = tp_parent(o->target);
        snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
        o->temp = tp_asprintf("%s/.tp-%ld-%d", folder, (long)getpid(), fd);
        free(folder);
        unlink(o->temp);
        if (linkat(AT_FDCWD, from, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW) < 0)
            r = -errno;
    }
    if (r == 0 && rename(o->temp, o->target) < 0)
        r = -errno;
    if (r == 0) {
        free(o->temp);
        o->temp = NULL;
    }
    return r;
}

int tp_output_close(struct tp_output *o, bool keep, struct tp_error *e)
{
    int r = 0;

    if (!o->file)
        return 0;
    if (keep && (fflush(o->file) != 0 || ferror(o->file)))
        r = errno ? -errno : -EIO;
    if (keep && r == 0 && o->target)
        r = put_in_place(o);
    if (fclose(o->file) != 0 && keep && r == 0)
        r = -errno;
    if (r < 0)
        tp_fail_errno(e, r, o->path, "cannot be written");
    forget(o);
    return r;
}
