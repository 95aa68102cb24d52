#include "frames/shim/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/shim/config.h"
#include "frames/shim/real.h"
#include "frames/shim/tree_make.h"

static struct {
    char path[PATH_MAX / 2]; /* canonical, without a slash at its end */
    size_t bytes;
    uint64_t device;
    uint64_t card_inode, render_inode; /* render: 0, there is none */
} tree;
static atomic_int state; /* 0: not looked for yet, 1: being made, 2: there, 3: there cannot be one */

static bool make_tree(const struct tp_shim_config *c)
{
    char node[PATH_MAX];
    struct stat st;

    if (tp_tree_make(c->tree, c->tree_place, c->render, tree.path, sizeof tree.path) < 0)
        return false;
    tree.bytes = strlen(tree.path);
    snprintf(node, sizeof node, "%s/dev/dri/card0", tree.path);
    if (TP_REAL(fstatat)(AT_FDCWD, node, &st, 0) < 0)
        return false;
    tree.device = st.st_dev;
    tree.card_inode = st.st_ino;
    snprintf(node, sizeof node, "%s/dev/dri/renderD128", tree.path);
    if (c->render && TP_REAL(fstatat)(AT_FDCWD, node, &st, 0) == 0)
        tree.render_inode = st.st_ino;
    return true;
}

static bool ready(void)
{
    const struct tp_shim_config *c = tp_shim_config();
    int seen = atomic_load_explicit(&state, memory_order_acquire), none = 0;

    if (seen != 0)
        return seen == 2;
    if (!c || c->server_bytes == 0 || !atomic_compare_exchange_strong(&state, &none, 1))
        return false;
    seen = make_tree(c) ? 2 : 3;
    atomic_store_explicit(&state, seen, memory_order_release);
    return seen == 2;
}

/* Appends to an absolute path, by the letter: without empty parts, "." and "..". */
static bool append(char out[PATH_MAX], size_t *len, const char *path)
{
    while (*path) {
        size_t n = strcspn(path, "/");

        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (*len > 0 && out[--*len] != '/')
                ;
        } else if (n > 0 && !(n == 1 && path[0] == '.')) {
            if (*len + n + 2 > PATH_MAX)
                return false;
            out[(*len)++] = '/';
            memcpy(out + *len, path, n);
            *len += n;
        }
        path += n;
        path += *path == '/';
    }
    out[*len] = 0;
    return true;
}

/* The folder that a descriptor is, as the client knows it. False: it is none. */
static bool folder_of(int dir, char out[PATH_MAX])
{
    char link[40];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    n = TP_REAL(readlink)(link, out, PATH_MAX - 1);
    if (n <= 0 || out[0] != '/')
        return false;
    out[n] = 0;
    return true;
}

static bool starts_with(const char *path, const char *prefix)
{
    size_t n = strlen(prefix);

    return !strncmp(path, prefix, n) && (path[n] == 0 || path[n] == '/');
}

/* All other absolute paths are done with after a few comparisons. */
static bool may_be_ours(const char *path)
{
    while (path[0] == '/' && path[1] == '/')
        path++;
    return !strncmp(path, "/dev/dri", 8) || !strncmp(path, "/dev/tty", 8) ||
           !strncmp(path, "/sys/", 5) || !strncmp(path, "/run/udev/", 10) ||
           strstr(path, "/.") || strstr(path, "//");
}

static bool below_ours(const char *path)
{
    static const char *const ours[] = {
        "/sys/class/drm",
        "/sys/dev/char/226:0",
        "/sys/devices/platform/turnpike",
        "/sys/bus/platform/devices/turnpike",
        "/run/udev/data/c226:0",
        /* Where it is asked for; else they are the machine's. */
        "/sys/dev/char/226:128",
        "/run/udev/data/c226:128",
    };
    const struct tp_shim_config *c = tp_shim_config();

    for (size_t i = 0; i < sizeof ours / sizeof *ours - (c && c->render ? 0 : 2); i++) {
        if (starts_with(path, ours[i]))
            return true;
    }
    return false;
}

/* Folders on the way to ours, for who walks from one to the next, and a file without which libudev sends no
 * events: ours where there are none. */
static bool is_lacking(const char *path)
{
    static const char *const ways[] = {
        "/dev/dri", "/run/udev", "/run/udev/control", "/run/udev/data", "/sys/bus",
        "/sys/bus/platform", "/sys/bus/platform/devices", "/sys/class", "/sys/dev", "/sys/dev/char",
        "/sys/devices", "/sys/devices/platform",
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!strcmp(path, ways[i]))
            return TP_REAL(access)(path, F_OK) < 0;
    }
    return false;
}

static bool console(const char *path, char *number)
{
    const struct tp_shim_config *c = tp_shim_config();
    unsigned n = 0;

    if (!c || !c->tty || strncmp(path, "/dev/tty", 8) || !path[8] || strlen(path) > 10)
        return false;
    for (path += 8; *path; path++) {
        if (*path < '0' || *path > '9')
            return false;
        n = n * 10 + (unsigned)(*path - '0');
    }
    *number = (char)n;
    return n < 64;
}

/* Where a way by the letter leads. inside: it begins in the tree, and the kernel finds on by itself. */
static enum tp_path judge(const char *full, const char *path, bool listing, bool inside, bool lacking)
{
    if (!strcmp(full, "/dev/dri/card0"))
        return TP_PATH_CARD;
    if (!strcmp(full, "/dev/dri/renderD128") && ready() && tree.render_inode)
        return TP_PATH_RENDER;
    if (inside)
        return TP_PATH_REAL;
    if (below_ours(full) || !strcmp(full, "/dev/dri") || lacking)
        return TP_PATH_TREE;
    if (starts_with(path, "/dev/dri")) /* in and out again by "..": there is no such folder outside */
        return TP_PATH_TREE;
    return listing && !strcmp(full, "/sys/class") ? TP_PATH_TREE : TP_PATH_REAL;
}

static enum tp_path find(int dir, const char *path, bool listing, char out[PATH_MAX])
{
    char full[PATH_MAX] = "";
    size_t len = 0;
    bool inside = false, lacking;
    enum tp_path r;

    if (below_ours(path)) { /* there are links: "..", too, is the kernel's to follow */
        if (!ready() || strlen(path) + tree.bytes >= PATH_MAX)
            return TP_PATH_REAL;
        snprintf(out, PATH_MAX, "%s%s", tree.path, path);
        return TP_PATH_TREE;
    }
    if (path[0] != '/') {
        if (!folder_of(dir, full))
            return TP_PATH_REAL;
        inside = atomic_load_explicit(&state, memory_order_acquire) == 2 &&
                 starts_with(full, tree.path);
        tp_tree_hide(full);
        len = strcmp(full, "/") ? strlen(full) : 0;
    }
    if (!append(full, &len, path))
        return TP_PATH_REAL;
    if (len == 0)
        strcpy(full, "/");
    if (console(full, out))
        return TP_PATH_TTY;
    lacking = is_lacking(full);
    r = judge(full, path, listing, inside, lacking);
    if (r == TP_PATH_REAL || !ready() || strlen(full) + tree.bytes >= PATH_MAX)
        return TP_PATH_REAL;
    if (r == TP_PATH_TREE && !below_ours(full) && strcmp(full, "/dev/dri") &&
        strcmp(full, "/sys/class") && !lacking)
        strcpy(out, full); /* out again */
    else
        snprintf(out, PATH_MAX, "%s%.*s", tree.path, (int)(PATH_MAX - tree.bytes - 1), full);
    return r;
}

enum tp_path tp_tree_find(int dir, const char *path, bool listing, char out[PATH_MAX])
{
    const struct tp_shim_config *c = tp_shim_config();
    int kept = errno;
    enum tp_path r = TP_PATH_REAL;

    if (c && c->server_bytes > 0 && path &&
        (path[0] == '/' ? may_be_ours(path) : dir != AT_FDCWD && path[0]))
        r = find(dir, path, listing, out);
    errno = kept;
    return r;
}

bool tp_tree_is_node(uint64_t device, uint64_t inode, unsigned *minor)
{
    if (atomic_load_explicit(&state, memory_order_acquire) != 2 || device != tree.device)
        return false;
    if (inode == tree.card_inode)
        *minor = TP_CARD_MINOR;
    else if (tree.render_inode && inode == tree.render_inode)
        *minor = TP_RENDER_MINOR;
    else
        return false;
    return true;
}

bool tp_tree_node(unsigned minor, uint64_t *device, uint64_t *inode)
{
    if (!ready() || (minor == TP_RENDER_MINOR && !tree.render_inode))
        return false;
    *device = tree.device;
    *inode = minor == TP_RENDER_MINOR ? tree.render_inode : tree.card_inode;
    return true;
}

void tp_tree_hide(char *path)
{
    if (atomic_load_explicit(&state, memory_order_acquire) != 2 || !starts_with(path, tree.path))
        return;
    memmove(path, path + tree.bytes, strlen(path + tree.bytes) + 1);
    if (!*path)
        strcpy(path, "/");
}
