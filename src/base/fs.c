#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* That a pipe's reader has to come, or to take something. */
#define PIPE_TURN_MS 20
#define PIPE_TURNS 150

int tp_open_regular(const char *path, uint64_t *size_bytes, struct tp_error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return tp_fail(e, TP_STATUS_INPUT, -errno, path, "make it readable for this user",
                       "cannot be opened: %s", strerror(errno));
    if (fd < 0)
        return tp_fail_errno(e, errno, path, "cannot be opened");
    struct stat st;
    int r = 0;
    if (fstat(fd, &st) < 0) {
        r = tp_fail_errno(e, errno, path, "cannot be examined");
    } else if (!S_ISREG(st.st_mode)) {
        r = tp_fail(e, TP_STATUS_INPUT, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL, path,
                    "name a regular file", "is %s, not a regular file",
                    S_ISDIR(st.st_mode) ? "a folder" : "a device or a pipe");
    }
    if (r) {
        close(fd);
        return r;
    }
    if (size_bytes)
        *size_bytes = (uint64_t)st.st_size;
    return fd;
}

int tp_read_file(const char *path, size_t max_bytes, struct tp_buf *out, struct tp_error *e)
{
    if (!max_bytes)
        max_bytes = (size_t)1 << 30;
    tp_buf_clear(out);
    uint64_t size;
    int r = 0, fd = tp_open_regular(path, &size, e);
    if (fd < 0)
        return fd;
    if (size > max_bytes)
        r = tp_fail(e, TP_STATUS_INPUT, -EFBIG, path, "check that it is the file that is meant",
                    "has %llu bytes, more than the %zu that such a file may have",
                    (unsigned long long)size, max_bytes);
    char chunk[65536];
    while (!r) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            r = tp_fail_errno(e, errno, path, "cannot be read");
        if (n <= 0)
            break;
        if (out->len + (size_t)n > max_bytes)
            r = tp_fail(e, TP_STATUS_INPUT, -EFBIG, path, "check that it is the file that is meant",
                        "grew beyond %zu bytes", max_bytes);
        else
            tp_buf_add(out, chunk, (size_t)n);
    }
    close(fd);
    return r;
}

/* Did a signal come that ends this process, though it is blocked? */
static bool is_to_end(void)
{
    sigset_t waiting;
    return sigpending(&waiting) == 0 && (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
                                         sigismember(&waiting, SIGHUP));
}

/* Waits a moment for room in a pipe; -1: for a reader. -EINTR: this process is to end. */
static int wait_for_pipe(int fd, int *turns)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n = poll(&p, 1, PIPE_TURN_MS);
    if ((n < 0 && errno == EINTR) || is_to_end())
        return -EINTR;
    return n > 0 || ++*turns < PIPE_TURNS ? 0 : -ETIMEDOUT;
}

static int write_all(int fd, const char *data, size_t len)
{
    int turns = 0;
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int r = errno == EAGAIN ? wait_for_pipe(fd, &turns) : -errno;
            if (r < 0)
                return r;
            continue;
        }
        turns = 0;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

int tp_open_pipe(const char *path, struct tp_error *e)
{
    struct stat st;
    bool named = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    for (int turns = 0;;) {
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        int err = errno;
        if (fd >= 0)
            return fd;
        if (err != ENXIO || !named)
            return tp_fail_errno(e, err, path, "cannot be written");
        int r = wait_for_pipe(-1, &turns);
        if (r == -ETIMEDOUT)
            return tp_fail(e, TP_STATUS_FAILED, -err, path, "start the program that reads it first",
                           "nobody reads this pipe");
        if (r < 0)
            return tp_fail_errno(e, r, path, "nobody reads this pipe");
    }
}

int tp_named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    char *end;

    if (!strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(path, folders[i], n) != 0 || path[n] < '0' || path[n] > '9')
            continue;
        long fd = strtol(path + n, &end, 10);
        if (!*end && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

/* Devices, pipes and descriptors are written to; a rename would put a file in their place. */
static int write_into(const char *path, const void *data, size_t len, struct tp_error *e)
{
    int named = tp_named_descriptor(path);
    if (named == STDOUT_FILENO)
        fflush(stdout); /* what was said before comes before */
    int fd = named < 0 ? tp_open_pipe(path, e) : fcntl(named, F_DUPFD_CLOEXEC, 0);
    if (named >= 0 && fd < 0)
        return tp_fail_errno(e, errno, path, "cannot be written");
    int r = fd < 0 ? fd : write_all(fd, data, len);
    if (fd >= 0 && close(fd) < 0 && !r)
        r = -errno;
    return r ? tp_fail_errno(e, r, path, "cannot be written") : 0;
}

int tp_write_file(const char *path, const void *data, size_t len, mode_t mode, struct tp_error *e)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (tp_named_descriptor(path) >= 0 || (there && !S_ISREG(st.st_mode)))
        return write_into(path, data, len, e);
    if (there)
        mode = st.st_mode & 07777;
    char *real = realpath(path, NULL);
    char *target = real ? real : tp_strdup(path);
    char *dir = tp_parent(target);
    char *temp;
    int r = 0, fd = tp_temp_file(dir, &temp);
    if (fd < 0) {
        r = tp_fail_errno(e, fd, path, "cannot be written");
        goto out;
    }
    r = write_all(fd, data, len);
    if (!r && fchmod(fd, mode) < 0)
        r = -errno;
    if (close(fd) < 0 && !r)
        r = -errno;
    if (!r && rename(temp, target) < 0)
        r = -errno;
    if (r) {
        unlink(temp);
        tp_fail_errno(e, r, path, "cannot be written");
    }
out:
    free(temp);
    free(dir);
    free(target);
    return r;
}

int tp_try_write(const char *path, struct tp_error *e)
{
    struct stat st;
    int named = tp_named_descriptor(path);
    if (named >= 0) {
        int flags = fcntl(named, F_GETFL);
        int err = flags < 0 ? errno : (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
        return err ? tp_fail_errno(e, err, path, "cannot be written") : 0;
    }
    bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) {
        if (S_ISDIR(st.st_mode))
            return tp_fail(e, TP_STATUS_INPUT, -EISDIR, path, "name a file in it",
                           "is a folder");
        return access(path, W_OK) < 0 ? tp_fail_errno(e, errno, path, "cannot be written") : 0;
    }
    char *real = realpath(path, NULL);
    char *dir = tp_parent(real ? real : path);
    char *temp;
    int fd = tp_temp_file(dir, &temp);
    int r = fd < 0 ? tp_fail_errno(e, fd, path, "cannot be written") : 0;
    if (fd >= 0) {
        close(fd);
        unlink(temp);
    }
    free(temp);
    free(dir);
    free(real);
    return r;
}

bool tp_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int tp_copy_file(const char *from, const char *to, struct tp_error *e)
{
    struct tp_buf b = {0};
    struct stat st;
    int r = tp_read_file(from, 0, &b, e);
    if (!r)
        r = tp_write_file(to, tp_buf_str(&b), b.len,
                          stat(from, &st) == 0 ? st.st_mode & 0777 : 0644, e);
    tp_buf_finish(&b);
    return r;
}

int tp_mkdirs(const char *path, struct tp_error *e)
{
    if (!*path)
        return tp_fail_errno(e, ENOENT, "", "a folder without a name cannot be made");
    char *p = tp_strdup(path);
    int r = 0;
    for (char *s = p + 1; !r; s++) {
        if (*s && *s != '/')
            continue;
        char c = *s;
        *s = 0;
        if (*p && mkdir(p, 0777) < 0 && !(errno == EEXIST && tp_is_dir(p)))
            r = tp_fail_errno(e, errno == EEXIST ? ENOTDIR : errno, p, "cannot be made a folder");
        *s = c;
        if (!c)
            break;
    }
    free(p);
    return r;
}

int tp_mkdirs_for(const char *path, struct tp_error *e)
{
    char *dir = tp_parent(path);
    int r = tp_mkdirs(dir, e);
    free(dir);
    return r;
}

static int remove_at(int at, const char *name)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return 0;
    int first = errno;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -first;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return -ENOMEM;
    }
    int r = 0;
    for (struct dirent *it; (it = readdir(d));) {
        if (!strcmp(it->d_name, ".") || !strcmp(it->d_name, ".."))
            continue;
        int one = remove_at(fd, it->d_name);
        if (one && !r)
            r = one;
    }
    closedir(d);
    if (!r && unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        r = -errno;
    return r;
}

int tp_remove_tree(const char *path, struct tp_error *e)
{
    int r = remove_at(AT_FDCWD, path);
    return r ? tp_fail_errno(e, r, path, "cannot be removed") : 0;
}

char *tp_temp_dir(const char *dir, struct tp_error *e)
{
    char *path = tp_asprintf("%s/.tp-%ld-XXXXXX", dir, (long)getpid());
    if (mkdtemp(path))
        return path;
    tp_fail_errno(e, errno, dir, "no temporary folder can be made in it");
    free(path);
    return NULL;
}

int tp_temp_file(const char *dir, char **path)
{
    *path = tp_asprintf("%s/.tp-%ld-XXXXXX", dir, (long)getpid());
    int fd = mkostemp(*path, O_CLOEXEC);
    if (fd >= 0)
        return fd;
    fd = -errno;
    free(*path);
    *path = NULL;
    return fd;
}

void tp_sweep_temp(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *it; (it = readdir(d));) {
        long pid;
        struct stat st;
        if (sscanf(it->d_name, ".tp-%ld-", &pid) == 1 && pid > 0 && pid != getpid() &&
            kill((pid_t)pid, 0) < 0 && errno == ESRCH &&
            !fstatat(dirfd(d), it->d_name, &st, AT_SYMLINK_NOFOLLOW) && st.st_uid == geteuid())
            remove_at(dirfd(d), it->d_name);
    }
    closedir(d);
}

/* Why no library can be loaded out of dir by a path in LD_PRELOAD or in qemu's -E; NULL: it can. */
static const char *not_runnable(const char *dir)
{
    struct statvfs fs;
    if (strpbrk(dir, " \t\n:;,$"))
        return "its path has a space, a colon, a semicolon, a comma or a $";
    if (!statvfs(dir, &fs) && (fs.f_flag & ST_NOEXEC))
        return "it is mounted noexec";
    return NULL;
}

char *tp_run_dir(struct tp_error *e)
{
    const char *tmp = getenv("TMPDIR");
    char *first = tp_absolute(tmp && *tmp ? tmp : "/tmp"), *made = NULL;
    const char *why = not_runnable(first);
    const char *const others[] = {"/tmp", "/dev/shm", "/var/tmp"};
    const char *place = why ? NULL : first;
    for (size_t i = 0; i < sizeof others / sizeof *others && !place; i++) {
        if (!not_runnable(others[i]) && !access(others[i], W_OK | X_OK))
            place = others[i];
    }
    if (place) {
        tp_sweep_temp(place);
        made = tp_temp_dir(place, e);
    } else {
        tp_fail(e, TP_STATUS_MISSING, -ENOEXEC, first,
                "set TMPDIR to a folder of a plain name from which programs may be run",
                "no library can be loaded from there (%s), nor from /tmp, /dev/shm or /var/tmp", why);
    }
    free(first);
    return made;
}

bool tp_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool tp_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool tp_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *tp_join(const char *a, const char *b)
{
    if (b[0] == '/' || !*a)
        return tp_strdup(b);
    size_t n = strlen(a);
    return tp_asprintf("%s%s%s", a, a[n - 1] == '/' ? "" : "/", b);
}

char *tp_absolute(const char *path)
{
    char cwd[PATH_MAX];
    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        return tp_strdup(path); /* the current folder is gone: nothing relative can be opened */
    char *joined = path[0] == '/' ? tp_strdup(path) : tp_join(cwd, path);
    /* Fold "." and ".." by name. */
    size_t out = 0;
    for (char *s = joined; *s;) {
        while (*s == '/')
            s++;
        char *end = strchrnul(s, '/');
        size_t n = (size_t)(end - s);
        if (n == 2 && s[0] == '.' && s[1] == '.') {
            while (out && joined[--out] != '/')
                ;
        } else if (n && !(n == 1 && s[0] == '.')) {
            joined[out] = '/';
            memmove(joined + out + 1, s, n);
            out += n + 1;
        }
        s = end;
    }
    if (!out)
        joined[out++] = '/';
    joined[out] = 0;
    return joined;
}

const char *tp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *tp_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return tp_strdup(".");
    return slash == path ? tp_strdup("/") : tp_strndup(path, (size_t)(slash - path));
}

char *tp_relative(const char *path, const char *from)
{
    size_t common = 0, i = 0;
    for (; path[i] && path[i] == from[i]; i++) {
        if (path[i] == '/')
            common = i + 1;
    }
    if (!from[i] && (path[i] == '/' || !path[i]))
        common = path[i] ? i + 1 : i;
    else if (!path[i] && from[i] == '/')
        common = i;
    struct tp_buf b = {0};
    const char *rest = from + (strlen(from) < common ? strlen(from) : common);
    while (*rest) {
        while (*rest == '/')
            rest++;
        if (*rest)
            tp_buf_adds(&b, "../");
        while (*rest && *rest != '/')
            rest++;
    }
    tp_buf_adds(&b, path + common);
    while (b.len && b.data[b.len - 1] == '/')
        b.data[--b.len] = 0;
    if (!b.len)
        tp_buf_addc(&b, '.');
    return tp_buf_take(&b);
}

int64_t tp_free_bytes(const char *path)
{
    struct statvfs fs;
    return statvfs(path, &fs) < 0 ? -1 : (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

bool tp_is_below(const char *path)
{
    for (const char *s = path;; s++) {
        const char *end = strchrnul(s, '/');
        size_t n = (size_t)(end - s);
        if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
            return false;
        if (!*end)
            return true;
        s = end;
    }
}

static void hex(const unsigned char *bytes, char out[TP_SHA256_HEX])
{
    sodium_bin2hex(out, TP_SHA256_HEX, bytes, crypto_hash_sha256_BYTES);
}

void tp_sha256(const void *data, size_t len, char out[TP_SHA256_HEX])
{
    unsigned char sum[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(sum, data ? data : "", len);
    hex(sum, out);
}

int tp_sha256_file(const char *path, char out[TP_SHA256_HEX], struct tp_error *e)
{
    int fd = tp_open_regular(path, NULL, e);
    if (fd < 0)
        return fd;
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    unsigned char chunk[65536];
    int r = 0;
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            r = tp_fail_errno(e, errno, path, "cannot be read");
        if (n <= 0)
            break;
        crypto_hash_sha256_update(&state, chunk, (size_t)n);
    }
    close(fd);
    unsigned char sum[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&state, sum);
    hex(sum, out);
    return r;
}

char *tp_program_dir(void)
{
    char *self = realpath("/proc/self/exe", NULL);
    char *slash = self ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = 0;
    return self;
}

char *tp_data_path(const char *name, struct tp_error *e)
{
    const char *env = getenv("TURNPIKE_DATADIR");
    struct tp_buf tried = {0};
    char *self = tp_program_dir();
    char *shared = self ? tp_join(self, "../share/turnpike") : NULL, *installed = NULL;
    if (shared)
        installed = tp_absolute(shared);
    free(shared);
    const char *places[] = {env && *env ? env : NULL, self, installed, TP_SOURCE_DIR};
    char *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        if (!places[i])
            continue;
        char *path = tp_join(places[i], name);
        if (tp_exists(path)) {
            found = path;
            break;
        }
        tp_buf_addf(&tried, "%s%s", tried.len ? ", " : "", path);
        free(path);
        if (i == 0)
            break; /* named outright: nothing else is meant */
    }
    if (!found)
        tp_fail(e, TP_STATUS_MISSING, -ENOENT, name,
                "set TURNPIKE_DATADIR to the folder that holds it", "not found; looked for %s",
                tp_buf_str(&tried));
    tp_buf_finish(&tried);
    free(installed);
    free(self);
    return found;
}
