/* The format: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Interchange Format"; GNU's
 * long names: GNU tar manual, "Basic Tar Format". */
#include "factory/source/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 512, MAX_TEXT = 1 << 20 };

static const char damaged[] = "get it again, and compare its SHA-256 with the publisher's";
static const char hostile[] = "do not use it: a tarball of Mesa has no such member";

/* A number in octal or, with the top bit set, in base 256. UINT64_MAX when it is neither. */
static uint64_t number(const unsigned char *field, size_t n)
{
    uint64_t value = 0;
    if (*field & 0x80) {
        if (*field != 0x80)
            return UINT64_MAX;
        for (size_t i = 1; i < n; i++) {
            if (value >> 55)
                return UINT64_MAX;
            value = value << 8 | field[i];
        }
        return value;
    }
    size_t i = 0;
    while (i < n && field[i] == ' ')
        i++;
    for (; i < n && field[i] && field[i] != ' '; i++) {
        if (field[i] < '0' || field[i] > '7' || value >> 60)
            return UINT64_MAX;
        value = value << 3 | (uint64_t)(field[i] - '0');
    }
    return value;
}

static bool checksum_holds(const unsigned char *block)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : block[i];
    return sum == number(block + 148, 8);
}

/* A member's name made plain: "a/b", "" for the top. NULL when it is one that is refused. */
static char *plain_name(const char *name)
{
    if (*name == '/')
        return NULL;
    struct tp_buf b = {0};
    while (*name) {
        size_t n = strcspn(name, "/");
        bool dot = n == 1 && name[0] == '.';
        if (n == 2 && name[0] == '.' && name[1] == '.') {
            tp_buf_finish(&b);
            return NULL;
        }
        for (size_t i = 0; i < n; i++) {
            if ((unsigned char)name[i] < ' ' || name[i] == 127) {
                tp_buf_finish(&b);
                return NULL;
            }
        }
        if (n && !dot) {
            if (b.len)
                tp_buf_addc(&b, '/');
            tp_buf_add(&b, name, n);
        }
        name += n + (name[n] == '/');
    }
    return tp_buf_take(&b);
}

/* A name fit for a message. */
static char *printable(const char *name)
{
    char *copy = tp_strndup(name, strnlen(name, 300));
    for (char *s = copy; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 127)
            *s = '?';
    }
    return copy;
}

static int refuse(struct tp_tar *t, struct tp_error *e, const char *what)
{
    char *name = printable(t->member ? t->member : "");
    tp_fail(e, TP_STATUS_INPUT, -EINVAL, t->name, hostile, "its member '%s' %s", name, what);
    free(name);
    return -EINVAL;
}

static int fail_here(struct tp_tar *t, struct tp_error *e, int err)
{
    if (err == EEXIST)
        return refuse(t, e, "occurs twice");
    if (err == ENOTDIR || err == ELOOP)
        return refuse(t, e, "lies in what another member made a file");
    char *name = printable(t->member);
    tp_fail_errno(e, err, t->place, "cannot take '%s'", name);
    free(name);
    return -err;
}

int tp_tar_init(
    struct tp_tar *t, const char *name, const char *root, const char *place, struct tp_error *e)
{
    *t = (struct tp_tar){.name = name,
        .place = place,
        .newest = -1,
        .next_size = -1,
        .next_mtime = -1,
        .fd = -1,
        .parent_fd = -1};
    t->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return t->root_fd < 0 ? tp_fail_errno(e, errno, place, "cannot be opened") : 0;
}

void tp_tar_finish(struct tp_tar *t)
{
    if (t->fd >= 0)
        close(t->fd);
    if (t->parent_fd >= 0)
        close(t->parent_fd);
    if (t->root_fd >= 0)
        close(t->root_fd);
    for (size_t i = 0; i < t->n_links; i++) {
        free(t->links[i].path);
        free(t->links[i].target);
    }
    free(t->links);
    free(t->comment);
    free(t->next_path);
    free(t->next_link);
    free(t->member);
    free(t->parent);
    tp_buf_finish(&t->text);
    *t = (struct tp_tar){.root_fd = -1, .fd = -1, .parent_fd = -1};
}

/* A descriptor of the folder `path`, made if need be; no link is followed. Negative errno. */
static int open_folder(struct tp_tar *t, const char *path)
{
    int at = dup(t->root_fd);
    if (at < 0)
        return -errno;
    while (*path) {
        size_t n = strcspn(path, "/");
        char *part = tp_strndup(path, n);
        int next = mkdirat(at, part, 0777) < 0 && errno != EEXIST
            ? -1
            : openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int err = errno;
        free(part);
        close(at);
        if (next < 0)
            return -err;
        at = next;
        path += n + (path[n] == '/');
    }
    return at;
}

/* Points parent_fd at the folder that the member stands in; returns the member's last part. */
static const char *enter_parent(struct tp_tar *t, const char *path, int *err)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    *err = 0;
    if (t->parent_fd < 0 || strlen(t->parent) != n || strncmp(t->parent, path, n)) {
        if (t->parent_fd >= 0)
            close(t->parent_fd);
        free(t->parent);
        t->parent = tp_strndup(path, n);
        t->parent_fd = open_folder(t, t->parent);
        if (t->parent_fd < 0)
            *err = -t->parent_fd;
    }
    return slash ? slash + 1 : path;
}

static int start_file(struct tp_tar *t, uint64_t mode, struct tp_error *e)
{
    int err;
    const char *last = enter_parent(t, t->member, &err);
    if (!err) {
        t->fd = openat(t->parent_fd, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
            mode & 0111 ? 0777 : 0666);
        err = t->fd < 0 ? errno : 0;
    }
    return err ? fail_here(t, e, err) : 0;
}

static int write_file(struct tp_tar *t, const char *data, size_t n, struct tp_error *e)
{
    while (n) {
        ssize_t done = write(t->fd, data, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_here(t, e, errno);
        data += done;
        n -= (size_t)done;
    }
    return 0;
}

static int close_file(struct tp_tar *t, struct tp_error *e)
{
    int fd = t->fd;
    t->fd = -1;
    return fd >= 0 && close(fd) < 0 ? fail_here(t, e, errno) : 0;
}

/* A hard link becomes a copy: files of the tree are patched one by one. */
static int copy_member(struct tp_tar *t, const char *target, struct tp_error *e)
{
    char *from = plain_name(target);
    if (!from || !*from) {
        free(from);
        return refuse(t, e, "is a link to a file outside");
    }
    int in = openat(t->root_fd, from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    free(from);
    struct stat st;
    if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode)) {
        if (in >= 0)
            close(in);
        return refuse(t, e, "is a link to a file that did not come before it");
    }
    int r = start_file(t, st.st_mode, e);
    t->bytes += (uint64_t)st.st_size;
    if (!r && t->bytes > TP_TAR_MAX_BYTES)
        r = refuse(t, e, "makes it larger than any Mesa");
    char chunk[65536];
    ssize_t n;
    while (!r && (n = read(in, chunk, sizeof chunk)) != 0) {
        if (n > 0)
            r = write_file(t, chunk, (size_t)n, e);
        else if (errno != EINTR)
            r = fail_here(t, e, errno);
    }
    close(in);
    int closed = close_file(t, e);
    return r ? r : closed;
}

static void forget_next(struct tp_tar *t)
{
    free(t->next_path);
    free(t->next_link);
    t->next_path = t->next_link = NULL;
    t->next_size = t->next_mtime = -1;
}

/* Records "LENGTH KEY=VALUE\n", LENGTH counting itself and the newline. */
static int read_pax(struct tp_tar *t, bool global, struct tp_error *e)
{
    const char *s = tp_buf_str(&t->text), *end = s + t->text.len;
    while (s < end) {
        char *after;
        unsigned long n = strtoul(s, &after, 10);
        const char *key = after + 1;
        const char *equals = n <= (size_t)(end - s) && n && *after == ' ' && key < s + n
            ? memchr(key, '=', (size_t)(s + n - key))
            : NULL;
        if (!equals || s[n - 1] != '\n')
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, t->name, damaged,
                "is damaged: one of its extended headers makes no sense");
        const char *value = equals + 1;
        size_t key_len = (size_t)(equals - key), value_len = (size_t)(s + n - 1 - value);
        char *text = tp_strndup(value, value_len);
        s += n;
#define IS(word) (key_len == sizeof word - 1 && !memcmp(key, word, key_len))
        bool refused = strlen(text) != value_len ||
            (key_len > 11 && !memcmp(key, "GNU.sparse.", 11)) ||
            (global && (IS("path") || IS("linkpath") || IS("size")));
        char **into = IS("path")      ? &t->next_path
            : IS("linkpath")          ? &t->next_link
            : IS("comment") && global ? &t->comment
                                      : NULL;
        if (!refused && IS("size")) {
            char *stop;
            errno = 0;
            t->next_size = strtoll(text, &stop, 10);
            refused = *stop || stop == text || t->next_size < 0 || errno;
        } else if (!refused && IS("mtime") && !global) {
            t->next_mtime = strtoll(text, NULL, 10);
        }
#undef IS
        if (!refused && into) {
            free(*into);
            *into = text;
        } else {
            free(text);
        }
        if (refused)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, t->name, hostile,
                "uses an extended header '%.*s' in a way that Mesa's tarballs do not",
                (int)(key_len < 60 ? key_len : 60), key);
    }
    return 0;
}

static int take_text(struct tp_tar *t, struct tp_error *e)
{
    switch (t->text_type) {
    case 'L':
        free(t->next_path);
        t->next_path = tp_strdup(tp_buf_str(&t->text));
        return 0;
    case 'K':
        free(t->next_link);
        t->next_link = tp_strdup(tp_buf_str(&t->text));
        return 0;
    default:
        return read_pax(t, t->text_type == 'g', e);
    }
}

/* The member's name as the header has it. */
static char *header_name(const unsigned char *block)
{
    const char *name = (const char *)block, *prefix = (const char *)block + 345;
    size_t n = strnlen(name, 100), p = memcmp(block + 257, "ustar\0", 6) ? 0 : strnlen(prefix, 155);
    return p ? tp_asprintf("%.*s/%.*s", (int)p, prefix, (int)n, name) : tp_strndup(name, n);
}

static int make_member(
    struct tp_tar *t, char type, const char *target, uint64_t mode, struct tp_error *e)
{
    if (type == '5') {
        int fd = open_folder(t, t->member);
        if (fd < 0)
            return fail_here(t, e, -fd);
        close(fd);
        return 0;
    }
    if (!*t->member)
        return refuse(t, e, "has no name");
    if (type == '0')
        return start_file(t, mode, e);
    if (type == '1')
        return copy_member(t, target, e);
    if (!*target)
        return refuse(t, e, "is a link to nothing");
    TP_PUSH(t->links, t->n_links, t->cap_links) =
        (struct tp_tar_link){tp_strdup(t->member), tp_strdup(target)};
    return 0;
}

static int read_header(struct tp_tar *t, struct tp_error *e)
{
    const unsigned char *block = t->block;
    static const unsigned char zero[BLOCK];
    if (!memcmp(block, zero, BLOCK)) {
        t->state = TP_TAR_END;
        return 0;
    }
    if (!checksum_holds(block))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, t->name, damaged,
            t->members ? "is damaged behind its member '%s'" : "is no tar archive%s",
            t->member ? t->member : "");
    uint64_t size = number(block + 124, 12), mtime = number(block + 136, 12);
    char type = block[156] ? (char)block[156] : '0';
    if (type == '7')
        type = '0';
    if (++t->members > TP_TAR_MAX_MEMBERS)
        return refuse(t, e, "is followed by more members than any Mesa has");
    if (type == 'x' || type == 'g' || type == 'L' || type == 'K') {
        if (size > MAX_TEXT)
            return refuse(t, e, "is followed by a header of unbelievable length");
        t->state = TP_TAR_TEXT;
        t->text_type = type;
        tp_buf_clear(&t->text);
        t->left = size;
        t->padding = (unsigned)(-size & (BLOCK - 1));
        return 0;
    }

    if (t->next_size >= 0)
        size = (uint64_t)t->next_size;
    char *name = t->next_path ? tp_strdup(t->next_path) : header_name(block);
    char *target = t->next_link
        ? tp_strdup(t->next_link)
        : tp_strndup((const char *)block + 157, strnlen((const char *)block + 157, 100));
    if (type == '0' && *name && name[strlen(name) - 1] == '/')
        type = '5'; /* as v7 wrote folders */
    free(t->member);
    t->member = plain_name(name);
    int r = 0;
    if (!t->member) {
        t->member = name;
        name = NULL;
        r = refuse(
            t, e, *t->member == '/' ? "has an absolute name" : "has a name that leads astray");
    } else if (!strchr("0125", type)) {
        r = refuse(t, e,
            type == '3' || type == '4' || type == '6' ? "is a device or a pipe"
                                                      : "is of an unknown kind");
    } else if (size == UINT64_MAX || t->bytes + size < size ||
        (t->bytes += type == '0' ? size : 0) > TP_TAR_MAX_BYTES) {
        r = refuse(t, e, "makes it larger than any Mesa");
    }
    if (!r) {
        int64_t when = t->next_mtime >= 0 ? t->next_mtime : mtime >> 62 ? -1 : (int64_t)mtime;
        t->newest = when > t->newest ? when : t->newest;
        r = make_member(t, type, target, number(block + 100, 8), e);
    }
    free(name);
    free(target);
    forget_next(t);
    /* Only files have data; a size that a folder or a link states is not followed by any. */
    t->left = type == '0' ? size : 0;
    t->padding = (unsigned)(-t->left & (BLOCK - 1));
    t->state = TP_TAR_DATA;
    return r;
}

/* Behind a header or data: what comes next when nothing is left of it. */
static int step(struct tp_tar *t, struct tp_error *e)
{
    int r = 0;
    if (t->state == TP_TAR_DATA && !t->left) {
        r = close_file(t, e);
        t->state = TP_TAR_PADDING;
    } else if (t->state == TP_TAR_TEXT && !t->left) {
        r = take_text(t, e);
        t->state = TP_TAR_PADDING;
    }
    if (t->state == TP_TAR_PADDING && !t->padding) {
        t->state = TP_TAR_HEADER;
        t->have = 0;
    }
    return r;
}

int tp_tar_feed(struct tp_tar *t, const char *data, size_t n, struct tp_error *e)
{
    int r = 0;
    while (n && !r && t->state != TP_TAR_END) {
        size_t take = n;
        switch (t->state) {
        case TP_TAR_HEADER:
            take = take < BLOCK - t->have ? take : BLOCK - t->have;
            memcpy(t->block + t->have, data, take);
            t->have += take;
            if (t->have == BLOCK)
                r = read_header(t, e);
            break;
        case TP_TAR_DATA:
            take = take < t->left ? take : (size_t)t->left;
            r = write_file(t, data, take, e);
            t->left -= take;
            break;
        case TP_TAR_TEXT:
            take = take < t->left ? take : (size_t)t->left;
            tp_buf_add(&t->text, data, take);
            t->left -= take;
            break;
        default:
            take = take < t->padding ? take : t->padding;
            t->padding -= (unsigned)take;
            break;
        }
        data += take;
        n -= take;
        if (!r)
            r = step(t, e);
    }
    return r;
}

int tp_tar_end(struct tp_tar *t, struct tp_error *e)
{
    if (t->state != TP_TAR_END && !t->members)
        return tp_fail(
            e, TP_STATUS_INPUT, -EINVAL, t->name, damaged, "is no tar archive, or an empty one");
    if (t->state != TP_TAR_END)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, t->name, damaged,
            "is truncated: it ends with its member '%s'", t->member ? t->member : "");
    for (size_t i = 0; i < t->n_links; i++) {
        int err;
        free(t->member);
        t->member = tp_strdup(t->links[i].path);
        const char *last = enter_parent(t, t->member, &err);
        if (!err && symlinkat(t->links[i].target, t->parent_fd, last) < 0)
            err = errno;
        if (err)
            return fail_here(t, e, err);
    }
    return 0;
}
