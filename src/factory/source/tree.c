#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "factory/source/room.h"

bool tp_tree_is_mesa(const char *dir)
{
    char *version = tp_join(dir, "VERSION"), *src = tp_join(dir, "src");
    bool is = tp_is_file(version) && tp_is_dir(src);
    free(version);
    free(src);
    return is;
}

char *tp_tree_find(const char *dir, const char *name, struct tp_error *e)
{
    if (tp_tree_is_mesa(dir))
        return tp_strdup(dir);
    DIR *d = opendir(dir);
    if (!d) {
        tp_fail_errno(e, errno, dir, "cannot be read");
        return NULL;
    }
    char *found = NULL;
    for (struct dirent *it; (it = readdir(d));) {
        if (!strcmp(it->d_name, ".") || !strcmp(it->d_name, ".."))
            continue;
        char *path = tp_join(dir, it->d_name);
        struct stat st;
        if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || !tp_tree_is_mesa(path)) {
            free(path);
        } else if (!found) {
            found = path;
        } else {
            tp_fail(e, TP_STATUS_INPUT, -EINVAL, name, "give one Mesa tree only",
                "holds two Mesa trees, '%s' and '%s'", tp_base_name(found), it->d_name);
            free(path);
            free(found);
            closedir(d);
            return NULL;
        }
    }
    closedir(d);
    if (!found)
        tp_fail(e, TP_STATUS_INPUT, -EINVAL, name, "give Mesa's own source, whole",
            "is no Mesa source: it has no VERSION beside a folder src");
    return found;
}

/* True when the path (relative, from the tree's top) stays inside, whatever links it meets. A part
 * that does not exist is taken for a folder. left: how many more links may be followed. */
static bool stays_inside(const char *root, const char *at, const char *target, int *left)
{
    if (*target == '/' || (*left)-- <= 0)
        return false;
    struct tp_buf now = {0}; /* "a/b", the folder reached so far; "" is the top */
    tp_buf_adds(&now, at);
    bool inside = true;
    for (const char *s = target; inside && *s;) {
        size_t n = strcspn(s, "/");
        const char *part = s;
        s += n + (s[n] == '/');
        if (!n || (n == 1 && *part == '.'))
            continue;
        if (n == 2 && part[0] == '.' && part[1] == '.') {
            const char *text = tp_buf_str(&now), *slash = strrchr(text, '/');
            if (!now.len)
                inside = false;
            else
                tp_buf_splice(&now, slash ? (size_t)(slash - text) : 0,
                    now.len - (slash ? (size_t)(slash - text) : 0), "", 0);
            continue;
        }
        char *path =
            tp_asprintf("%s/%s%s%.*s", root, tp_buf_str(&now), now.len ? "/" : "", (int)n, part);
        char link[4096];
        ssize_t len = readlink(path, link, sizeof link - 1);
        free(path);
        if (len < 0) {
            tp_buf_addf(&now, "%s%.*s", now.len ? "/" : "", (int)n, part);
            continue;
        }
        /* What the link stands for, then what is left of this path. */
        link[len] = 0;
        char *rest = tp_asprintf("%s/%s", link, s);
        inside = stays_inside(root, tp_buf_str(&now), rest, left);
        free(rest);
        break;
    }
    tp_buf_finish(&now);
    return inside;
}

static int check_links(const char *root, const char *at, const char *name, struct tp_error *e)
{
    if (tp_interrupted())
        return tp_fail(e, TP_STATUS_FAILED, -EINTR, name, NULL, "interrupted");
    char *dir = *at ? tp_join(root, at) : tp_strdup(root);
    DIR *d = opendir(dir);
    int r = d ? 0 : tp_fail_errno(e, errno, dir, "cannot be read");
    for (struct dirent *it; !r && (it = readdir(d));) {
        if (!strcmp(it->d_name, ".") || !strcmp(it->d_name, ".."))
            continue;
        int type = it->d_type;
        struct stat st;
        if (type == DT_UNKNOWN && fstatat(dirfd(d), it->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            type = IFTODT(st.st_mode);
        if (type != DT_DIR && type != DT_LNK)
            continue;
        char *path = *at ? tp_join(at, it->d_name) : tp_strdup(it->d_name);
        int left = 40;
        if (type == DT_DIR)
            r = check_links(root, path, name, e);
        else if (!stays_inside(root, at, it->d_name, &left))
            r = tp_fail(e, TP_STATUS_INPUT, -EXDEV, name, "remove the link, or give a clean source",
                "its symbolic link '%s' leads out of the tree or in a circle", path);
        free(path);
    }
    if (d)
        closedir(d);
    free(dir);
    return r;
}

int tp_tree_check_links(const char *root, const char *name, struct tp_error *e)
{
    return check_links(root, "", name, e);
}

char *tp_tree_version(const char *root, const char *name, struct tp_error *e)
{
    char *path = tp_join(root, "VERSION");
    struct tp_buf b = {0};
    int r = tp_read_file(path, 4096, &b, e);
    free(path);
    if (r) {
        tp_buf_finish(&b);
        return NULL;
    }
    const char *s = tp_buf_str(&b), *end = s + strlen(s);
    while (isspace((unsigned char)*s))
        s++;
    while (end > s && isspace((unsigned char)end[-1]))
        end--;
    char *version = tp_strndup(s, (size_t)(end - s));
    /* It becomes part of file names. */
    bool good = isdigit((unsigned char)*version) && strchr(version, '.') && strlen(version) <= 64 &&
        !version[strspn(version,
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            "0123456789.+-~_")];
    tp_buf_finish(&b);
    if (good)
        return version;
    free(version);
    tp_fail(e, TP_STATUS_INPUT, -EINVAL, name, "Mesa's VERSION holds one such as 25.0.7",
        "its VERSION holds no version");
    return NULL;
}

/* The date in "Mesa 25.0.7 Release Notes / 2025-05-28", the first line; -1 when there is none. */
static int64_t release_date(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    char line[256];
    const char *got = fgets(line, sizeof line, f);
    fclose(f);
    const char *slash = got ? strrchr(line, '/') : NULL;
    struct tm tm = {0};
    if (!slash || sscanf(slash, "/ %4d-%2d-%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
        return -1;
    if (tm.tm_year < 1980 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31)
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    return timegm(&tm);
}

static int64_t newest_release(const char *notes)
{
    DIR *d = opendir(notes);
    if (!d)
        return -1;
    int64_t newest = -1;
    for (struct dirent *it; (it = readdir(d));) {
        size_t n = strlen(it->d_name);
        if (n < 4 || strcmp(it->d_name + n - 4, ".rst"))
            continue;
        char *path = tp_join(notes, it->d_name);
        int64_t date = release_date(path);
        newest = date > newest ? date : newest;
        free(path);
    }
    closedir(d);
    return newest;
}

int64_t tp_tree_epoch(const char *root, const char *version, int64_t commit_date, int64_t newest)
{
    char *own = tp_asprintf("%s/docs/relnotes/%s.rst", root, version);
    char *notes = tp_join(root, "docs/relnotes");
    int64_t epoch = release_date(own);
    if (epoch < 0)
        epoch = commit_date;
    if (epoch < 0)
        epoch = newest;
    if (epoch < 0)
        epoch = newest_release(notes);
    free(own);
    free(notes);
    return epoch < 0 ? 315532800 : epoch;
}
