#include "cli/namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "frames/shim/tree_make.h"

int tp_namespace_prepare(const struct tp_namespace *n, struct tp_error *e)
{
    char made[PATH_MAX];
    int r = tp_tree_make(n->tree, "", n->render, made, sizeof made);
    if (r < 0)
        return tp_fail_errno(e, r, n->tree, "cannot be made");
    if (mkdir(n->mount, 0755) < 0 && errno != EEXIST)
        return tp_fail_errno(e, errno, n->mount, "cannot be made");
    return 0;
}

static int put_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    int r = n < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    return r;
}

/* A user namespace in which we are who we were. */
static int become_nobody_else(void)
{
    char uid_map[64], gid_map[64];
    snprintf(uid_map, sizeof uid_map, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    snprintf(gid_map, sizeof gid_map, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -errno;
    int r = put_text("/proc/self/setgroups", "deny");
    if (r == 0 || r == -ENOENT)
        r = put_text("/proc/self/uid_map", uid_map);
    return r < 0 ? r : put_text("/proc/self/gid_map", gid_map);
}

static int bind(const char *from, const char *to, bool folder)
{
    int fd = -1;
    if (folder ? mkdir(to, 0755) < 0
               : (fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) < 0)
        return -errno;
    if (fd >= 0)
        close(fd);
    /* All below it comes along: in a user namespace it must. */
    return mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0 ? -errno : 0;
}

static int copy_link(const char *from, const char *to)
{
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    target[n] = 0;
    return symlink(target, to) < 0 ? -errno : 0;
}

/* Paths of one name in three places. */
struct place {
    char real[PATH_MAX], tree[PATH_MAX], out[PATH_MAX];
};

static int compose(const struct place *at);

/* Puts what is real, or else what is the tree's, under one name. */
static int put_entry(const struct place *at)
{
    struct stat real, tree;
    bool is_real = lstat(at->real, &real) == 0, is_ours = lstat(at->tree, &tree) == 0;
    const char *end = strstr(at->real, "/class/drm");
    if (is_real && is_ours && S_ISDIR(real.st_mode) && S_ISDIR(tree.st_mode) && !(end && !end[10]))
        return mkdir(at->out, 0755) < 0 ? -errno : compose(at);
    if (is_real && !(end && !end[10])) /* other cards are not shown */
        return S_ISLNK(real.st_mode) ? copy_link(at->real, at->out)
                                     : bind(at->real, at->out, S_ISDIR(real.st_mode));
    return S_ISLNK(tree.st_mode) ? copy_link(at->tree, at->out)
                                 : bind(at->tree, at->out, S_ISDIR(tree.st_mode));
}

/* All names of one of the two folders. theirs: those that the other has are done already. */
static int compose_names(const struct place *at, const char *folder, bool theirs)
{
    DIR *d = opendir(folder);
    int r = 0;
    if (!d)
        return errno == ENOENT ? 0 : -errno;
    for (struct dirent *e; r == 0 && (e = readdir(d));) {
        struct place next;
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if ((size_t)snprintf(next.real, PATH_MAX, "%s/%s", at->real, e->d_name) >= PATH_MAX ||
            (size_t)snprintf(next.tree, PATH_MAX, "%s/%s", at->tree, e->d_name) >= PATH_MAX ||
            (size_t)snprintf(next.out, PATH_MAX, "%s/%s", at->out, e->d_name) >= PATH_MAX)
            r = -ENAMETOOLONG;
        else if (!theirs || lstat(next.out, &st) < 0)
            r = put_entry(&next);
    }
    closedir(d);
    return r;
}

static int compose(const struct place *at)
{
    int r = compose_names(at, at->real, false);
    return r < 0 ? r : compose_names(at, at->tree, true);
}

static int enter(const struct tp_namespace *n)
{
    static struct place sys;
    char dri[PATH_MAX];
    int r = 0;
    if (unshare(CLONE_NEWNS) < 0)
        r = n->mode == TP_NAMESPACE_YES ? become_nobody_else() : -errno;
    if (r < 0)
        return r;
    snprintf(sys.real, sizeof sys.real, "/sys");
    if ((size_t)snprintf(sys.tree, PATH_MAX, "%s/sys", n->tree) >= PATH_MAX ||
        (size_t)snprintf(sys.out, PATH_MAX, "%s", n->mount) >= PATH_MAX ||
        (size_t)snprintf(dri, PATH_MAX, "%s/dev/dri", n->tree) >= PATH_MAX)
        return -ENAMETOOLONG;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("turnpike", n->mount, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
        return -errno;
    r = compose(&sys);
    if (r == 0 && mount(n->mount, "/sys", NULL, MS_MOVE, NULL) < 0)
        r = -errno;
    if (r < 0) {
        umount2(n->mount, MNT_DETACH);
        return r;
    }
    if (tp_is_dir("/dev/dri") && mount(dri, "/dev/dri", NULL, MS_BIND | MS_REC, NULL) < 0)
        return -errno;
    return 0;
}

int tp_namespace_enter(const void *data)
{
    const struct tp_namespace *n = data;
    int r = n->mode == TP_NAMESPACE_NO ? 0 : enter(n);
    return n->mode == TP_NAMESPACE_AUTO ? 0 : r;
}
