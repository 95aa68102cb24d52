#include "frames/server/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

/* Takes the lock; whoever held it before may have removed its file meanwhile: then again. */
static int take_lock(struct tp_listener *l, struct tp_error *e)
{
    for (;;) {
        struct stat ours, there;
        l->lock = open(l->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (l->lock < 0)
            return tp_fail_errno(e, errno, l->path, "its lock cannot be opened");
        if (flock(l->lock, LOCK_EX | LOCK_NB) < 0) {
            int err = errno;
            close(l->lock);
            l->lock = -1;
            if (err != EWOULDBLOCK)
                return tp_fail_errno(e, err, l->path, "its lock cannot be taken");
            return tp_fail(e, TP_STATUS_INPUT, -EADDRINUSE, l->path,
                "end that server, or give this one another --socket",
                "another server is running there");
        }
        if (fstat(l->lock, &ours) == 0 && stat(l->lock_path, &there) == 0 &&
            ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
            return 0;
        close(l->lock);
        l->lock = -1;
    }
}

/* A socket that nobody listens at any more goes. */
static int make_room(const struct tp_listener *l, const struct sockaddr_un *address,
    socklen_t bytes, struct tp_error *e)
{
    struct stat st;
    if (lstat(l->path, &st) < 0)
        return errno == ENOENT ? 0 : tp_fail_errno(e, errno, l->path, "cannot be looked at");
    if (!S_ISSOCK(st.st_mode))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, l->path, "give the server another --socket",
            "is there, and is no socket");
    int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return tp_fail_errno(e, errno, NULL, "a socket");
    int err = connect(probe, (const struct sockaddr *)address, bytes) < 0 ? errno : 0;
    close(probe);
    if (err != ECONNREFUSED)
        return tp_fail(e, TP_STATUS_INPUT, -EADDRINUSE, l->path,
            "end that program, or give this one another --socket", "another program listens there");
    if (unlink(l->path) < 0 && errno != ENOENT)
        return tp_fail_errno(e, errno, l->path, "cannot be removed, though nobody listens there");
    return 0;
}

static int bind_to(struct tp_listener *l, const char *name, struct sockaddr_un *address,
    socklen_t bytes, bool for_all, struct tp_error *e)
{
    struct stat st;
    l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return tp_fail_errno(e, errno, NULL, "a socket");
    /* The file gets its mode in the same step as its name. */
    fchmod(l->fd, for_all ? 0666 : 0600);
    if (bind(l->fd, (struct sockaddr *)address, bytes) < 0)
        return errno == EADDRINUSE ? tp_fail(e, TP_STATUS_INPUT, -EADDRINUSE, name,
                                         "end that program, or give this one another --socket",
                                         "another program listens there")
                                   : tp_fail_errno(e, errno, name, "cannot be listened at");
    if (*l->path) {
        if (for_all)
            chmod(l->path, 0666); /* past the umask */
        if (lstat(l->path, &st) == 0) {
            l->device = st.st_dev;
            l->inode = st.st_ino;
        }
    }
    if (listen(l->fd, BACKLOG) < 0)
        return tp_fail_errno(e, errno, name, "cannot be listened at");
    return 0;
}

int tp_listen(const char *path, bool for_all, struct tp_listener *out, struct tp_error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    bool abstract = *path == '@';
    int r;
    *out = (struct tp_listener){.fd = -1, .lock = -1};
    if (n < (abstract ? 2 : 1) || n >= sizeof address.sun_path)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "give a path of 1 to 107 bytes",
            "no socket can have this name");
    memcpy(address.sun_path, path, n + 1);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + !abstract);
    if (abstract) {
        address.sun_path[0] = 0;
        r = bind_to(out, path, &address, bytes, for_all, e);
    } else {
        snprintf(out->path, sizeof out->path, "%s", path);
        snprintf(out->lock_path, sizeof out->lock_path, "%s.lock", path);
        r = take_lock(out, e);
        if (r == 0)
            r = make_room(out, &address, bytes, e);
        if (r == 0)
            r = bind_to(out, path, &address, bytes, for_all, e);
    }
    if (r < 0)
        tp_listener_finish(out);
    return r;
}

void tp_listener_finish(struct tp_listener *l)
{
    struct stat st;
    if (l->inode && lstat(l->path, &st) == 0 && st.st_dev == l->device && st.st_ino == l->inode)
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    if (l->lock >= 0) {
        unlink(l->lock_path);
        close(l->lock);
    }
    *l = (struct tp_listener){.fd = -1, .lock = -1};
}
