#include "frames/shim/tree_make.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frames/shim/real.h"

#define DEVICE "sys/devices/platform/turnpike"
#define LAYOUT "turnpike-tree-1" /* the number counts up with what is below */

static const char *const folders[] = {
    "dev", "dev/dri", "run", "run/udev", "run/udev/data", "sys", "sys/bus", "sys/bus/platform",
    "sys/bus/platform/devices", "sys/class", "sys/class/drm", "sys/dev", "sys/dev/char",
    "sys/devices", "sys/devices/platform", DEVICE, DEVICE "/drm", DEVICE "/drm/card0",
    DEVICE "/drm/renderD128",
};

static const struct {
    const char *path, *text;
} files[] = {
    {"dev/dri/card0", ""},
    {"run/udev/control", ""},
    {"run/udev/data/c226:0",
     "I:1\nE:ID_PATH=platform-turnpike\nE:ID_PATH_TAG=platform-turnpike\nE:ID_SEAT=seat0\n"
     "E:ID_FOR_SEAT=drm-platform-turnpike\nG:seat\nG:master-of-seat\nG:uaccess\nQ:seat\n"
     "Q:master-of-seat\nQ:uaccess\nV:1\n"},
    {DEVICE "/uevent", "DRIVER=turnpike\nMODALIAS=platform:turnpike\n"},
    {DEVICE "/modalias", "platform:turnpike\n"},
    {DEVICE "/drm/card0/dev", "226:0\n"},
    {DEVICE "/drm/card0/uevent", "MAJOR=226\nMINOR=0\nDEVNAME=dri/card0\nDEVTYPE=drm_minor\n"},
    {"sys/class/drm/version", "drm 1.1.0 20060810\n"},
    {"dev/dri/renderD128", ""},
    {"run/udev/data/c226:128",
     "I:1\nE:ID_PATH=platform-turnpike\nE:ID_PATH_TAG=platform-turnpike\nG:uaccess\nQ:uaccess\n"
     "V:1\n"},
    {DEVICE "/drm/renderD128/dev", "226:128\n"},
    {DEVICE "/drm/renderD128/uevent",
     "MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n"},
};

static const struct {
    const char *path, *to;
} links[] = {
    {DEVICE "/subsystem", "../../../bus/platform"},
    {DEVICE "/drm/card0/device", "../../../turnpike"},
    {DEVICE "/drm/card0/subsystem", "../../../../../class/drm"},
    {"sys/bus/platform/devices/turnpike", "../../../devices/platform/turnpike"},
    {"sys/class/drm/card0", "../../devices/platform/turnpike/drm/card0"},
    {"sys/dev/char/226:0", "../../devices/platform/turnpike/drm/card0"},
    {DEVICE "/drm/renderD128/device", "../../../turnpike"},
    {DEVICE "/drm/renderD128/subsystem", "../../../../../class/drm"},
    {"sys/class/drm/renderD128", "../../devices/platform/turnpike/drm/renderD128"},
    {"sys/dev/char/226:128", "../../devices/platform/turnpike/drm/renderD128"},
};

static bool is_render(const char *path)
{
    return strstr(path, "renderD128") || strstr(path, "226:128");
}

static int write_file(int root, const char *path, const char *text)
{
    int fd = TP_REAL(openat)(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    size_t left = strlen(text);
    int r = 0;

    if (fd < 0)
        return -errno;
    while (r == 0 && left > 0) { /* a disk that fills up takes a part first, and says why then */
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno != EINTR)
            r = -errno;
        if (n > 0) {
            text += n;
            left -= (size_t)n;
        }
    }
    TP_REAL(close)(fd);
    return r;
}

/* Who lists /sys/class finds the machine's own classes as well. Read by system call: opendir takes memory
 * that a signal handler must not. */
static void link_classes(int root, bool there)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        unsigned short bytes;
        unsigned char type;
        char name[];
    };
    union {
        char bytes[4096];
        uint64_t align;
    } buffer;
    int fd = TP_REAL(open)("/sys/class", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    while (fd >= 0 && (n = syscall(SYS_getdents64, fd, buffer.bytes, sizeof buffer.bytes)) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *e = (const void *)(buffer.bytes + at);
            char from[PATH_MAX], to[PATH_MAX];

            at += e->bytes;
            if (e->name[0] == '.' || !strcmp(e->name, "drm"))
                continue;
            snprintf(from, sizeof from, "/sys/class/%s", e->name);
            snprintf(to, sizeof to, "sys/class/%s", e->name);
            if (there)
                (void)!symlinkat(from, root, to);
            else
                unlinkat(root, to, 0);
        }
    }
    if (fd >= 0)
        TP_REAL(close)(fd);
}

static int fill(int root, bool render)
{
    int r = 0;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if ((render || !is_render(folders[i])) && mkdirat(root, folders[i], 0755) < 0)
            return -errno;
    }
    for (size_t i = 0; r == 0 && i < sizeof files / sizeof *files; i++) {
        if (render || !is_render(files[i].path))
            r = write_file(root, files[i].path, files[i].text);
    }
    for (size_t i = 0; r == 0 && i < sizeof links / sizeof *links; i++) {
        if (render || !is_render(links[i].path))
            r = symlinkat(links[i].to, root, links[i].path) < 0 ? -errno : 0;
    }
    if (r == 0)
        link_classes(root, true);
    return r;
}

static void remove_tree(int root)
{
    link_classes(root, false);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        unlinkat(root, links[i].path, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlinkat(root, files[i].path, 0);
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        unlinkat(root, folders[i], AT_REMOVEDIR);
}

/* A folder that somebody else could write into is nothing to be led to. */
static int check(const char *path)
{
    struct stat st;

    if (TP_REAL(fstatat)(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
        (st.st_mode & (S_IWGRP | S_IWOTH)))
        return -EPERM;
    return 0;
}

static int make(const char *path, bool render)
{
    char fresh[PATH_MAX];
    int n, root, r;

    for (unsigned i = 0;; i++) {
        n = snprintf(fresh, sizeof fresh, "%s.%ld.%u", path, (long)getpid(), i);
        if (n >= (int)sizeof fresh)
            return -ENAMETOOLONG;
        if (mkdir(fresh, 0755) == 0)
            break;
        if (errno != EEXIST || i == 100)
            return -errno;
    }
    root = TP_REAL(open)(fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -errno;
    r = fill(root, render);
    /* Onto an empty folder this works too; where another was quicker, that one is as good. */
    if (r == 0 && rename(fresh, path) < 0 && errno != EEXIST && errno != ENOTEMPTY)
        r = -errno;
    if (r == 0 && check(fresh) == -ENOENT) {
        TP_REAL(close)(root);
        return 0;
    }
    remove_tree(root);
    TP_REAL(close)(root);
    rmdir(fresh);
    return r;
}

static int make_at(const char *given, const char *place, bool render, char *out, size_t room)
{
    char path[PATH_MAX], card[PATH_MAX];
    int n, r;

    if (*given)
        n = snprintf(path, sizeof path, "%s", given);
    else
        n = snprintf(path, sizeof path, "%s/" LAYOUT "%s-%ld", place, render ? "-render" : "",
                     (long)geteuid());
    if (n >= (int)sizeof path || snprintf(card, sizeof card, "%s/dev/dri/card0", path) >=
                                     (int)sizeof card)
        return -ENAMETOOLONG;
    r = TP_REAL(access)(card, F_OK) < 0 ? make(path, render) : 0;
    if (r == 0)
        r = check(path);
    if (r < 0)
        return r;
    if (!TP_REAL(realpath)(path, card) || strlen(card) >= room)
        return -ENAMETOOLONG;
    strcpy(out, card);
    return 0;
}

int tp_tree_make(const char *given, const char *place, bool render, char *out, size_t room)
{
    int r = make_at(given, place, render, out, room);

    return r < 0 && !*given ? make_at("", "/tmp", render, out, room) : r;
}
