/* The stat family: the card's nodes and their open descriptors are character devices. */
#include "frames/shim/preload.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "frames/shim/card.h"
#include "frames/shim/fds.h"
#include "frames/shim/real.h"
#include "frames/shim/tree.h"

#define TTY_MAJOR 4
#define NODE_MODE (S_IFCHR | 0660)

/* The call is about the descriptor that it gives as a folder. */
static bool is_empty(const char *path)
{
    return path && !*path;
}

/* The device that a descriptor is for the client: true for one of ours. socket: it is one. */
static bool fd_device(int fd, bool socket, unsigned *major_out, unsigned *minor_out)
{
    struct tp_fd f = tp_fds_get(fd);
    struct tp_card *card;

    if (f.kind == TP_FD_TTY) {
        *major_out = TTY_MAJOR;
        *minor_out = f.number;
        return true;
    }
    if (!socket || !(card = tp_card_get(fd)))
        return false;
    *major_out = TP_CARD_MAJOR;
    *minor_out = tp_card_is_render(card) ? TP_RENDER_MINOR : TP_CARD_MINOR;
    tp_card_put(card);
    return true;
}

#define STAT_CALLS(type, stat_name, lstat_name, fstat_name, fstatat_name)                          \
    static void make_##type##_node(struct type *out, unsigned major_n, unsigned minor_n)           \
    {                                                                                              \
        uint64_t device, inode;                                                                    \
                                                                                                   \
        out->st_mode = NODE_MODE;                                                                  \
        out->st_rdev = makedev(major_n, minor_n);                                                  \
        out->st_nlink = 1;                                                                         \
        out->st_size = 0;                                                                          \
        out->st_blocks = 0;                                                                        \
        if (major_n == TP_CARD_MAJOR && tp_tree_node(minor_n, &device, &inode)) {                  \
            out->st_dev = (__typeof__(out->st_dev))device;                                         \
            out->st_ino = (__typeof__(out->st_ino))inode;                                          \
        }                                                                                          \
    }                                                                                              \
    TP_EXPORT int fstat_name(int fd, struct type *out)                                             \
    {                                                                                              \
        int r = TP_REAL(fstat_name)(fd, out), kept = errno;                                        \
        unsigned major_n, minor_n;                                                                 \
                                                                                                   \
        if (r < 0)                                                                                 \
            return r;                                                                              \
        if (fd_device(fd, S_ISSOCK(out->st_mode), &major_n, &minor_n))                             \
            make_##type##_node(out, major_n, minor_n);                                             \
        else if (tp_tree_is_node(out->st_dev, out->st_ino, &minor_n))                              \
            make_##type##_node(out, TP_CARD_MAJOR, minor_n);                                       \
        errno = kept;                                                                              \
        return 0;                                                                                  \
    }                                                                                              \
    TP_EXPORT int fstatat_name(int dir, const char *path, struct type *out, int flags)             \
    {                                                                                              \
        char place[PATH_MAX];                                                                      \
        enum tp_path where = tp_tree_find(dir, path, false, place);                                \
        unsigned minor_n;                                                                          \
        int r;                                                                                     \
                                                                                                   \
        if (is_empty(path) && (flags & AT_EMPTY_PATH) && dir >= 0)                                 \
            return fstat_name(dir, out);                                                           \
        if (where == TP_PATH_TREE || where == TP_PATH_CARD || where == TP_PATH_RENDER)             \
            r = TP_REAL(fstatat_name)(AT_FDCWD, place, out, flags);                                \
        else if (where == TP_PATH_TTY)                                                             \
            r = TP_REAL(fstatat_name)(AT_FDCWD, "/dev/null", out, flags);                          \
        else                                                                                       \
            r = TP_REAL(fstatat_name)(dir, path, out, flags);                                      \
        if (r == 0 && where == TP_PATH_TTY)                                                        \
            make_##type##_node(out, TTY_MAJOR, (unsigned char)place[0]);                           \
        else if (r == 0 && tp_tree_is_node(out->st_dev, out->st_ino, &minor_n))                    \
            make_##type##_node(out, TP_CARD_MAJOR, minor_n);                                       \
        return r;                                                                                  \
    }                                                                                              \
    TP_EXPORT int stat_name(const char *path, struct type *out)                                    \
    {                                                                                              \
        return fstatat_name(AT_FDCWD, path, out, 0);                                               \
    }                                                                                              \
    TP_EXPORT int lstat_name(const char *path, struct type *out)                                   \
    {                                                                                              \
        return fstatat_name(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);                             \
    }

STAT_CALLS(stat, stat, lstat, fstat, fstatat)
STAT_CALLS(stat64, stat64, lstat64, fstat64, fstatat64)

/* What programs call that were built with glibc before 2.33; there is one version for each machine. */
#if defined(__GLIBC__)
#define OLD_STAT_CALLS(type, xstat, lxstat, fxstat, fxstatat, fstat_name, fstatat_name)            \
    int xstat(int version, const char *path, struct type *out);                                    \
    TP_EXPORT int xstat(int version, const char *path, struct type *out)                           \
    {                                                                                              \
        (void)version;                                                                             \
        return fstatat_name(AT_FDCWD, path, out, 0);                                               \
    }                                                                                              \
    int lxstat(int version, const char *path, struct type *out);                                   \
    TP_EXPORT int lxstat(int version, const char *path, struct type *out)                          \
    {                                                                                              \
        (void)version;                                                                             \
        return fstatat_name(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);                             \
    }                                                                                              \
    int fxstat(int version, int fd, struct type *out);                                             \
    TP_EXPORT int fxstat(int version, int fd, struct type *out)                                    \
    {                                                                                              \
        (void)version;                                                                             \
        return fstat_name(fd, out);                                                                \
    }                                                                                              \
    int fxstatat(int version, int dir, const char *path, struct type *out, int flags);             \
    TP_EXPORT int fxstatat(int version, int dir, const char *path, struct type *out, int flags)    \
    {                                                                                              \
        (void)version;                                                                             \
        return fstatat_name(dir, path, out, flags);                                                \
    }

OLD_STAT_CALLS(stat, __xstat, __lxstat, __fxstat, __fxstatat, fstat, fstatat)
OLD_STAT_CALLS(stat64, __xstat64, __lxstat64, __fxstat64, __fxstatat64, fstat64, fstatat64)
#endif

#ifdef STATX_TYPE
TP_EXPORT int statx(int dir, const char *path, int flags, unsigned mask, struct statx *out)
{
    char place[PATH_MAX];
    enum tp_path where = tp_tree_find(dir, path, false, place);
    unsigned major_n = TP_CARD_MAJOR, minor_n = TP_CARD_MINOR;
    uint64_t device, inode;
    bool node;
    int r, kept;

    if (where == TP_PATH_TREE || where == TP_PATH_CARD || where == TP_PATH_RENDER)
        r = TP_REAL(statx)(AT_FDCWD, place, flags, mask, out);
    else if (where == TP_PATH_TTY)
        r = TP_REAL(statx)(AT_FDCWD, "/dev/null", flags, mask, out);
    else
        r = TP_REAL(statx)(dir, path, flags, mask, out);
    kept = errno;
    if (r < 0)
        return r;
    if (where == TP_PATH_TTY) {
        major_n = TTY_MAJOR;
        minor_n = (unsigned char)place[0];
        node = true;
    } else {
        node = tp_tree_is_node(makedev(out->stx_dev_major, out->stx_dev_minor), out->stx_ino,
                               &minor_n) ||
               (dir >= 0 && is_empty(path) &&
                fd_device(dir, S_ISSOCK(out->stx_mode), &major_n, &minor_n));
    }
    if (node) {
        out->stx_mode = NODE_MODE;
        out->stx_rdev_major = major_n;
        out->stx_rdev_minor = minor_n;
        out->stx_nlink = 1;
        out->stx_size = out->stx_blocks = 0;
        if (major_n == TP_CARD_MAJOR && tp_tree_node(minor_n, &device, &inode)) {
            out->stx_dev_major = major(device);
            out->stx_dev_minor = minor(device);
            out->stx_ino = inode;
        }
    }
    errno = kept;
    return 0;
}
#endif
