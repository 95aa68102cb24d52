/* Calls by path: opening, links, folders. What is ours lies in the tree (tree.h). */
#include "frames/shim/preload.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "frames/shim/card.h"
#include "frames/shim/real.h"
#include "frames/shim/tree.h"
#include "frames/shim/tty.h"

#define CARD_PATH "/dev/dri/card0"
#define RENDER_PATH "/dev/dri/renderD128"

typedef int (*openat_call)(int dir, const char *path, int flags, ...);

static int fresh(int fd)
{
    tp_forget(fd);
    return fd;
}

static int open_any(openat_call next, int dir, const char *path, int flags, mode_t mode)
{
    char place[PATH_MAX];
    bool only_path = flags & O_PATH, folder = flags & O_DIRECTORY;
    int kept = errno;
    enum tp_path where = tp_tree_find(dir, path, folder && !only_path, place);

    switch (where) {
    case TP_PATH_CARD:
    case TP_PATH_RENDER:
        if (!only_path && !folder)
            return tp_answer(where == TP_PATH_RENDER ? tp_card_open_render(flags)
                                                     : tp_card_open(flags), kept);
        return fresh(next(AT_FDCWD, place, flags, mode));
    case TP_PATH_TTY:
        if (!only_path)
            return tp_answer(tp_tty_open((unsigned char)place[0], flags), kept);
        break;
    case TP_PATH_TREE:
        return fresh(next(AT_FDCWD, place, flags, mode));
    case TP_PATH_REAL:
        break;
    }
    return fresh(next(dir, path, flags, mode));
}

#define OPEN_CALLS(open_name, openat_name, open_2, openat_2)                                       \
    TP_EXPORT int open_name(const char *path, int flags, ...)                                      \
    {                                                                                              \
        va_list arguments;                                                                         \
        mode_t mode = 0;                                                                           \
                                                                                                   \
        va_start(arguments, flags);                                                                \
        if (takes_mode(flags))                                                                     \
            mode = (mode_t)va_arg(arguments, unsigned);                                            \
        va_end(arguments);                                                                         \
        return open_any(TP_REAL(openat_name), AT_FDCWD, path, flags, mode);                        \
    }                                                                                              \
    TP_EXPORT int openat_name(int dir, const char *path, int flags, ...)                           \
    {                                                                                              \
        va_list arguments;                                                                         \
        mode_t mode = 0;                                                                           \
                                                                                                   \
        va_start(arguments, flags);                                                                \
        if (takes_mode(flags))                                                                     \
            mode = (mode_t)va_arg(arguments, unsigned);                                            \
        va_end(arguments);                                                                         \
        return open_any(TP_REAL(openat_name), dir, path, flags, mode);                             \
    }                                                                                              \
    int open_2(const char *path, int flags); /* what fortified programs call */                    \
    TP_EXPORT int open_2(const char *path, int flags)                                              \
    {                                                                                              \
        return open_any(TP_REAL(openat_name), AT_FDCWD, path, flags, 0);                           \
    }                                                                                              \
    int openat_2(int dir, const char *path, int flags);                                            \
    TP_EXPORT int openat_2(int dir, const char *path, int flags)                                   \
    {                                                                                              \
        return open_any(TP_REAL(openat_name), dir, path, flags, 0);                                \
    }

static bool takes_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

OPEN_CALLS(open, openat, __open_2, __openat_2)
OPEN_CALLS(open64, openat64, __open64_2, __openat64_2)

/* For compositors that ask the library itself: a new open of the card, or -1 and errno. */
int turnpike_drm_fd(void);
TP_EXPORT int turnpike_drm_fd(void)
{
    int kept = errno;

    return tp_answer(tp_card_open(O_CLOEXEC), kept);
}

/* Where a call is to go that only reads: the path itself, or its place in the tree. */
static const char *lead(int *dir, const char *path, bool listing, char place[PATH_MAX])
{
    switch (tp_tree_find(*dir, path, listing, place)) {
    case TP_PATH_TREE:
    case TP_PATH_CARD:
    case TP_PATH_RENDER:
        *dir = AT_FDCWD;
        return place;
    case TP_PATH_TTY:
    case TP_PATH_REAL:
        break;
    }
    return path;
}

static const char *lead_here(const char *path, bool listing, char place[PATH_MAX])
{
    int dir = AT_FDCWD;

    return lead(&dir, path, listing, place);
}

#define FOPEN_CALL(name)                                                                           \
    TP_EXPORT FILE *name(const char *path, const char *mode)                                       \
    {                                                                                              \
        char place[PATH_MAX];                                                                      \
        FILE *f = TP_REAL(name)(lead_here(path, false, place), mode);                              \
                                                                                                   \
        if (f)                                                                                     \
            fresh(fileno(f));                                                                      \
        return f;                                                                                  \
    }

FOPEN_CALL(fopen)
FOPEN_CALL(fopen64)

TP_EXPORT DIR *opendir(const char *path)
{
    char place[PATH_MAX];
    DIR *d = TP_REAL(opendir)(lead_here(path, true, place));

    if (d)
        fresh(dirfd(d));
    return d;
}

#define SCANDIR_CALL(name, entry)                                                                  \
    TP_EXPORT int name(const char *path, struct entry ***list,                                     \
                       int (*filter)(const struct entry *),                                        \
                       int (*compare)(const struct entry **, const struct entry **))               \
    {                                                                                              \
        char place[PATH_MAX];                                                                      \
                                                                                                   \
        return TP_REAL(name)(lead_here(path, true, place), list, filter, compare);                 \
    }

SCANDIR_CALL(scandir, dirent)
SCANDIR_CALL(scandir64, dirent64)

#if defined(__GLIBC__)
/* glob opens folders by itself; asked to, it calls what it is given. */
#define GLOB_CALL(name, glob_type, entry, stat_type, readdir_name, lstat_name, stat_name)          \
    static void *open_##name(const char *path)                                                     \
    {                                                                                              \
        return opendir(path);                                                                      \
    }                                                                                              \
    static struct entry *read_##name(void *d)                                                      \
    {                                                                                              \
        return readdir_name(d);                                                                    \
    }                                                                                              \
    static void close_##name(void *d)                                                              \
    {                                                                                              \
        closedir(d);                                                                               \
    }                                                                                              \
    TP_EXPORT int name(const char *pattern, int flags, int (*failed)(const char *, int),           \
                       glob_type *out)                                                             \
    {                                                                                              \
        if (!(flags & GLOB_ALTDIRFUNC)) {                                                          \
            out->gl_opendir = open_##name;                                                         \
            out->gl_readdir = read_##name;                                                         \
            out->gl_closedir = close_##name;                                                       \
            out->gl_lstat = lstat_name;                                                            \
            out->gl_stat = stat_name;                                                              \
            flags |= GLOB_ALTDIRFUNC;                                                              \
        }                                                                                          \
        return TP_REAL(name)(pattern, flags, failed, out);                                         \
    }

GLOB_CALL(glob, glob_t, dirent, stat, readdir, lstat, stat)
GLOB_CALL(glob64, glob64_t, dirent64, stat64, readdir64, lstat64, stat64)
#endif

/* /proc/self/fd/N of one of ours says what the client opened. */
static ssize_t rename_own(const char *path, char *out, size_t room, ssize_t n)
{
    char name[PATH_MAX];
    size_t len;
    struct tp_card *card;
    int fd;

    if (n <= 0 || strncmp(path, "/proc/self/fd/", 14) || path[14] < '0' || path[14] > '9')
        return n;
    fd = atoi(path + 14);
    if (tp_card_is_known(fd) && (card = tp_card_get(fd))) {
        strcpy(name, tp_card_is_render(card) ? RENDER_PATH : CARD_PATH);
        tp_card_put(card);
    } else {
        if ((size_t)n >= sizeof name || out[0] != '/')
            return n;
        memcpy(name, out, (size_t)n);
        name[n] = 0;
        tp_tree_hide(name);
    }
    len = strlen(name);
    len = len < room ? len : room;
    memcpy(out, name, len);
    return (ssize_t)len;
}

TP_EXPORT ssize_t readlink(const char *path, char *out, size_t room)
{
    char place[PATH_MAX];

    return rename_own(path, out, room, TP_REAL(readlink)(lead_here(path, false, place), out, room));
}

TP_EXPORT ssize_t readlinkat(int dir, const char *path, char *out, size_t room)
{
    char place[PATH_MAX];
    const char *to = lead(&dir, path, false, place);

    return rename_own(path, out, room, TP_REAL(readlinkat)(dir, to, out, room));
}

/* What fortified programs call. */
ssize_t __readlink_chk(const char *path, char *out, size_t room, size_t size);
TP_EXPORT ssize_t __readlink_chk(const char *path, char *out, size_t room, size_t size)
{
    if (room > size)
        abort();
    return readlink(path, out, room);
}

ssize_t __readlinkat_chk(int dir, const char *path, char *out, size_t room, size_t size);
TP_EXPORT ssize_t __readlinkat_chk(int dir, const char *path, char *out, size_t room, size_t size)
{
    if (room > size)
        abort();
    return readlinkat(dir, path, out, room);
}

/* True: answered, with *r. The node may be read and written, whoever asks. */
static bool access_own(int *dir, const char **path, int mode, char place[PATH_MAX], int *r)
{
    switch (tp_tree_find(*dir, *path, false, place)) {
    case TP_PATH_CARD:
    case TP_PATH_RENDER:
    case TP_PATH_TTY:
        *r = mode & X_OK ? -1 : 0;
        if (*r < 0)
            errno = EACCES;
        return true;
    case TP_PATH_TREE:
        *dir = AT_FDCWD;
        *path = place;
        break;
    case TP_PATH_REAL:
        break;
    }
    return false;
}

TP_EXPORT int access(const char *path, int mode)
{
    char place[PATH_MAX];
    int dir = AT_FDCWD, r;

    return access_own(&dir, &path, mode, place, &r) ? r : TP_REAL(access)(path, mode);
}

TP_EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
    char place[PATH_MAX];
    int r;

    return access_own(&dir, &path, mode, place, &r) ? r
                                                    : TP_REAL(faccessat)(dir, path, mode, flags);
}

#if defined(__GLIBC__)
TP_EXPORT int euidaccess(const char *path, int mode)
{
    char place[PATH_MAX];
    int dir = AT_FDCWD, r;

    return access_own(&dir, &path, mode, place, &r) ? r : TP_REAL(euidaccess)(path, mode);
}

TP_EXPORT int eaccess(const char *path, int mode)
{
    return euidaccess(path, mode);
}
#endif

TP_EXPORT char *realpath(const char *path, char *out)
{
    char place[PATH_MAX];
    char *r = TP_REAL(realpath)(lead_here(path, false, place), out);

    if (r)
        tp_tree_hide(r);
    return r;
}

#if defined(__GLIBC__)
TP_EXPORT char *canonicalize_file_name(const char *path)
{
    return realpath(path, NULL);
}

char *__realpath_chk(const char *path, char *out, size_t room);
TP_EXPORT char *__realpath_chk(const char *path, char *out, size_t room)
{
    if (room < PATH_MAX)
        abort();
    return realpath(path, out);
}
#endif

/* ls asks for these. */
#define GETXATTR_CALL(call)                                                                        \
    TP_EXPORT ssize_t call(const char *path, const char *name, void *out, size_t room)             \
    {                                                                                              \
        char place[PATH_MAX];                                                                      \
                                                                                                   \
        return TP_REAL(call)(lead_here(path, false, place), name, out, room);                      \
    }
#define LISTXATTR_CALL(call)                                                                       \
    TP_EXPORT ssize_t call(const char *path, char *out, size_t room)                               \
    {                                                                                              \
        char place[PATH_MAX];                                                                      \
                                                                                                   \
        return TP_REAL(call)(lead_here(path, false, place), out, room);                            \
    }

GETXATTR_CALL(getxattr)
GETXATTR_CALL(lgetxattr)
LISTXATTR_CALL(listxattr)
LISTXATTR_CALL(llistxattr)

TP_EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    char place[PATH_MAX];

    return TP_REAL(inotify_add_watch)(fd, lead_here(path, true, place), mask);
}
