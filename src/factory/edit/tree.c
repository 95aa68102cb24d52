#include "factory/edit/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"

static const char state_dir[] = ".turnpike";
static const char version_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    ".+-~_";

static int lock(struct tp_tree *t, bool exclusive, struct tp_error *e)
{
    t->lock_fd = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->lock_fd < 0)
        return tp_fail_errno(e, errno, t->root, "the tree cannot be opened");
    for (int i = 0; i < 50; i++) {
        if (flock(t->lock_fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK) /* a file system without locks */
            return 0;
        if (tp_interrupted())
            break;
        usleep(100000);
    }
    return tp_fail(e, TP_STATUS_INPUT, -EBUSY, t->root, "wait for it, or stop it",
                   "another turnpike is at work on this tree");
}

static bool is_hash(const json_t *j)
{
    const char *s = json_string_value(j);
    return json_is_null(j) || (s && strlen(s) == TP_SHA256_HEX - 1 &&
                               strspn(s, "0123456789abcdef") == TP_SHA256_HEX - 1);
}

/* What is wrong with a receipt, or NULL: a hand or another program may have been at it. */
static const char *receipt_fault(const json_t *receipt)
{
    const json_t *files = json_object_get(receipt, "files");
    if (json_integer_value(json_object_get(receipt, "schema")) != 1)
        return "it is of another version of turnpike";
    if (!json_is_string(json_object_get(receipt, "selection")) || !json_array_size(files))
        return "it has no selection or no list of files";
    size_t i;
    json_t *entry;
    json_array_foreach(files, i, entry)
    {
        const char *path = json_string_value(json_object_get(entry, "path"));
        if (!path || !tp_is_below(path))
            return "it names a file outside the tree";
        if (!is_hash(json_object_get(entry, "before")) || !is_hash(json_object_get(entry, "after")) ||
            !is_hash(json_object_get(entry, "replaced")))
            return "a file's hash is missing";
    }
    return NULL;
}

static int read_receipt(struct tp_tree *t, struct tp_error *e)
{
    char *dir = tp_join(t->root, state_dir), *path = tp_join(dir, "receipt.json");
    int r = 0;
    if (tp_exists(path)) {
        struct tp_buf text = {0};
        r = tp_read_file(path, 64 << 20, &text, e);
        json_error_t why = {.line = 1};
        const char *fault = NULL;
        if (!r && !(t->receipt = json_loadb(tp_buf_str(&text), text.len, 0, &why)))
            fault = why.text;
        else if (!r)
            fault = receipt_fault(t->receipt);
        if (fault) {
            char *where = tp_asprintf("%s:%d", path, why.line > 0 ? why.line : 1);
            r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
                        "copy .turnpike/originals back over the tree, or restore it by other means; "
                        "then remove .turnpike",
                        "the receipt of the earlier run is damaged: %s", fault);
            free(where);
        }
        tp_buf_finish(&text);
    }
    free(path);
    free(dir);
    return r;
}

/* What a killed run left in our folder: files that were not yet in their places, and all of it where
 * it had not come to a receipt. */
static int clear_state(struct tp_tree *t, bool exclusive, struct tp_error *e)
{
    char *dir = tp_join(t->root, state_dir), *staged = tp_join(dir, "staged");
    int r = 0;
    if (tp_exists(dir) && !tp_is_dir(dir))
        r = tp_fail(e, TP_STATUS_INPUT, -ENOTDIR, dir, "move it away",
                    "a file has the name of the folder that receipts are kept in");
    else if (exclusive && (t->receipt ? tp_exists(staged) : tp_exists(dir)))
        r = tp_remove_tree(t->receipt ? staged : dir, e);
    free(staged);
    free(dir);
    return r;
}

int tp_tree_open(struct tp_tree *t, const char *root, bool exclusive, struct tp_error *e)
{
    *t = (struct tp_tree){.root = tp_absolute(root), .lock_fd = -1};
    char *version = tp_join(t->root, "VERSION"), *src = tp_join(t->root, "src");
    struct tp_buf text = {0};
    int r = 0;
    if (!tp_is_dir(t->root))
        r = tp_fail(e, TP_STATUS_INPUT, -ENOTDIR, root, "name the folder of Mesa's source",
                    tp_exists(t->root) ? "it is not a folder" : "there is no such folder");
    else if (!tp_is_file(version) || !tp_is_dir(src))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, root, "name the folder of Mesa's source",
                    "it is not Mesa: it has no %s", tp_is_file(version) ? "src/" : "VERSION");
    if (!r)
        r = tp_read_file(version, 4096, &text, e);
    if (!r) {
        const char *s = tp_buf_str(&text);
        size_t n = strcspn(s, " \t\r\n");
        if (n == 0 || n > 100 || strspn(s, version_chars) != n)
            r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, version, "name the folder of Mesa's source",
                        "it does not hold a version");
        else
            t->version = tp_strndup(s, n);
    }
    if (!r)
        r = lock(t, exclusive, e);
    if (!r)
        r = read_receipt(t, e);
    if (!r)
        r = clear_state(t, exclusive, e);
    tp_buf_finish(&text);
    free(version);
    free(src);
    if (r)
        tp_tree_close(t);
    return r;
}

void tp_tree_close(struct tp_tree *t)
{
    for (int i = 0; i < t->n; i++) {
        struct tp_tree_file *f = t->files[i];
        tp_buf_finish(&f->disk);
        tp_buf_finish(&f->base);
        tp_text_finish(&f->text);
        free(f->path);
        free(f);
    }
    free(t->files);
    json_decref(t->receipt);
    free(t->version);
    free(t->root);
    if (t->lock_fd >= 0)
        close(t->lock_fd);
    *t = (struct tp_tree){.lock_fd = -1};
}

/* Does a link among the file's folders lead out of the tree? */
static bool leads_out(const struct tp_tree *t, const char *path)
{
    char *slash = strrchr(path, '/');
    char *folder = tp_strndup(path, (size_t)(slash - path));
    char *real = realpath(folder, NULL), *root = realpath(t->root, NULL);
    size_t n = root ? strlen(root) : 0;
    bool out = real && root && (strncmp(real, root, n) != 0 || (real[n] && real[n] != '/' && n > 1));
    free(root);
    free(real);
    free(folder);
    return out;
}

/* Reads a file that may be missing. */
static int read_optional(const struct tp_tree *t, const char *path, bool *found, struct tp_buf *out,
                         struct tp_error *e)
{
    struct stat st;
    *found = false;
    if (leads_out(t, path))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "put the folder itself there",
                       "a symbolic link leads out of the tree there");
    if (lstat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : tp_fail_errno(e, errno, path, "cannot be examined");
    if (!S_ISREG(st.st_mode))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "put the file itself there",
                       S_ISLNK(st.st_mode) ? "is a symbolic link; a patch would cut it" :
                                             "is not a regular file");
    *found = true;
    return tp_read_file(path, 16 << 20, out, e);
}

static char *original_path(const struct tp_tree *t, const char *path)
{
    return tp_asprintf("%s/%s/originals/%s", t->root, state_dir, path);
}

/* What the receipt says of a file, or NULL. */
static json_t *receipt_entry(const struct tp_tree *t, const char *path)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(t->receipt, "files"), i, entry)
    {
        const char *p = json_string_value(json_object_get(entry, "path"));
        if (!strcmp(p, path))
            return entry;
    }
    return NULL;
}

/* Is the file, as it is on the disk, what the receipt's field says? null means "no such file". */
static bool is_as(const struct tp_tree_file *f, const json_t *entry, const char *field)
{
    const json_t *want = json_object_get(entry, field);
    if (!f->on_disk)
        return json_is_null(want);
    char sum[TP_SHA256_HEX];
    tp_sha256(f->disk.data, f->disk.len, sum);
    return json_is_string(want) && !strcmp(json_string_value(want), sum);
}

/* "replaced": a run that was killed had not come to this file yet. */
static bool is_known(const struct tp_tree_file *f, const json_t *entry)
{
    return is_as(f, entry, "after") || is_as(f, entry, "before") || is_as(f, entry, "replaced");
}

static int read_base(struct tp_tree *t, struct tp_tree_file *f, struct tp_error *e)
{
    json_t *entry = receipt_entry(t, f->path);
    if (!entry || is_as(f, entry, "before")) {
        f->in_base = f->on_disk;
        tp_buf_add(&f->base, f->disk.data, f->disk.len);
        return 0;
    }
    f->in_base = !json_is_null(json_object_get(entry, "before"));
    if (!f->in_base)
        return 0;
    char *path = original_path(t, f->path);
    int r = tp_read_file(path, 16 << 20, &f->base, e);
    char sum[TP_SHA256_HEX];
    tp_sha256(f->base.data, f->base.len, sum);
    const char *want = json_string_value(json_object_get(entry, "before"));
    if (!r && (!want || strcmp(want, sum) != 0))
        r = tp_fail(e, TP_STATUS_FAILED, -ESTALE, path, "restore the tree by other means",
                    "the kept original is damaged: its hash is not the receipt's");
    free(path);
    return r;
}

static void begin_as(struct tp_tree_file *f, bool exists, const struct tp_buf *bytes)
{
    tp_text_finish(&f->text);
    f->exists = exists;
    tp_text_init(&f->text, tp_language_of(f->path), tp_buf_str(bytes), bytes->len);
}

static void begin(const struct tp_tree *t, struct tp_tree_file *f)
{
    begin_as(f, t->from_base ? f->in_base : f->on_disk, t->from_base ? &f->base : &f->disk);
}

void tp_tree_start_over(struct tp_tree *t)
{
    for (int i = 0; i < t->n; i++)
        begin(t, t->files[i]);
}

/* A merge that was left half way: neither side is what the file is to be. */
static int check_conflict(const char *path, const struct tp_buf *text, struct tp_error *e)
{
    int line = 1;
    for (const char *s = tp_buf_str(text); s; line++) {
        if (!strncmp(s, "<<<<<<< ", 8)) {
            char *where = tp_asprintf("%s:%d", path, line);
            int r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "resolve the conflict first",
                            "the file holds a merge's conflict marker");
            free(where);
            return r;
        }
        s = strchr(s, '\n');
        s = s ? s + 1 : NULL;
    }
    return 0;
}

int tp_tree_file(struct tp_tree *t, const char *path, struct tp_tree_file **out, struct tp_error *e)
{
    for (int i = 0; i < t->n; i++) {
        if (!strcmp(t->files[i]->path, path)) {
            *out = t->files[i];
            return 0;
        }
    }
    struct tp_tree_file *f = tp_calloc(1, sizeof *f);
    f->path = tp_strdup(path);
    TP_PUSH(t->files, t->n, t->cap) = f;
    char *full = tp_join(t->root, path);
    int r = read_optional(t, full, &f->on_disk, &f->disk, e);
    if (!r && f->on_disk)
        r = check_conflict(full, &f->disk, e);
    free(full);
    if (!r)
        r = read_base(t, f, e);
    if (!r)
        begin(t, f);
    *out = f;
    return r;
}

int tp_tree_take_back(struct tp_tree *t, struct tp_error *e)
{
    t->from_base = true;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(t->receipt, "files"), i, entry)
    {
        const char *path = json_string_value(json_object_get(entry, "path"));
        struct tp_tree_file *f;
        int r = tp_tree_file(t, path, &f, e);
        if (r)
            return r;
        if (!is_known(f, entry))
            return tp_fail(e, TP_STATUS_FAILED, -ESTALE, f->path,
                           "put your change aside, or restore the tree by other means and remove "
                           "its .turnpike folder",
                           "it was changed since it was patched");
        begin_as(f, f->in_base, &f->base);
    }
    return 0;
}

int tp_tree_was_interrupted(struct tp_tree *t, bool *interrupted, struct tp_error *e)
{
    *interrupted = false;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(t->receipt, "files"), i, entry)
    {
        const char *path = json_string_value(json_object_get(entry, "path"));
        struct tp_tree_file *f;
        int r = tp_tree_file(t, path, &f, e);
        if (r)
            return r;
        if (!is_as(f, entry, "after") && (is_as(f, entry, "before") || is_as(f, entry, "replaced")))
            *interrupted = true;
    }
    return 0;
}

static bool differs(bool a_exists, const struct tp_buf *a, bool b_exists, const struct tp_buf *b)
{
    if (a_exists != b_exists)
        return true;
    return a_exists && (a->len != b->len || (a->len && memcmp(a->data, b->data, a->len) != 0));
}

static bool from_disk(const struct tp_tree_file *f)
{
    return differs(f->exists, &f->text.bytes, f->on_disk, &f->disk);
}

static bool from_base(const struct tp_tree_file *f)
{
    return differs(f->exists, &f->text.bytes, f->in_base, &f->base);
}

bool tp_tree_is_changed(const struct tp_tree *t)
{
    for (int i = 0; i < t->n; i++) {
        if (from_disk(t->files[i]))
            return true;
    }
    return false;
}

static json_t *hash_json(bool exists, const struct tp_buf *b)
{
    char sum[TP_SHA256_HEX];
    tp_sha256(b->data, b->len, sum);
    return exists ? json_string(sum) : json_null();
}

/* A file ready to be renamed into place. */
struct pending {
    char *temp; /* NULL: the file goes away */
    char *path;
    const struct tp_tree_file *file;
};

/* number: of this file among those staged. In our own folder, so that a killed run leaves nothing
 * among the sources. */
static int stage(struct tp_tree *t, const struct tp_tree_file *f, int number, struct pending *p,
                 struct tp_error *e)
{
    *p = (struct pending){.path = tp_join(t->root, f->path), .file = f};
    if (!f->exists)
        return 0;
    struct stat st;
    mode_t mode = stat(p->path, &st) == 0 ? st.st_mode & 07777 : 0644;
    int r = tp_mkdirs_for(p->path, e);
    if (r)
        return r;
    p->temp = tp_asprintf("%s/%s/staged/%d", t->root, state_dir, number);
    r = tp_mkdirs_for(p->temp, e);
    if (!r && (r = tp_write_file(p->temp, f->text.bytes.data, f->text.bytes.len, mode, NULL)))
        tp_fail_errno(e, r, p->path, "cannot be written");
    /* its folder must take it, or it is better said before anything is replaced */
    char *slash = strrchr(p->path, '/');
    *slash = 0;
    if (!r && access(p->path, W_OK) < 0) {
        r = -errno;
        *slash = '/';
        tp_fail_errno(e, r, p->path, "cannot be replaced");
    }
    *slash = '/';
    return r;
}

static int keep_originals(struct tp_tree *t, struct tp_error *e)
{
    for (int i = 0; i < t->n; i++) {
        struct tp_tree_file *f = t->files[i];
        if (!from_base(f) || !f->in_base)
            continue;
        char *path = original_path(t, f->path);
        int r = tp_mkdirs_for(path, e);
        if (!r)
            r = tp_write_file(path, f->base.data, f->base.len, 0644, e);
        free(path);
        if (r)
            return r;
    }
    return 0;
}

static json_t *receipt_files(const struct tp_tree *t)
{
    json_t *files = json_array();
    for (int i = 0; i < t->n; i++) {
        const struct tp_tree_file *f = t->files[i];
        json_t *entry = receipt_entry(t, f->path);
        if (entry && !is_known(f, entry)) {
            json_array_append(files, entry); /* somebody else's work: a revert must not undo it */
            continue;
        }
        if (!from_base(f) && !from_disk(f))
            continue;
        json_array_append_new(files,
                              json_pack("{s:s, s:o, s:o, s:o}", "path", f->path, "before",
                                        hash_json(f->in_base, &f->base), "after",
                                        hash_json(f->exists, &f->text.bytes), "replaced",
                                        hash_json(f->on_disk, &f->disk)));
    }
    return files;
}

static int put_receipt(const struct tp_tree *t, const json_t *receipt, struct tp_error *e)
{
    char *dir = tp_join(t->root, state_dir), *path = tp_join(dir, "receipt.json");
    char *ignore = tp_join(dir, ".gitignore");
    char *text = json_dumps(receipt, JSON_INDENT(2));
    int r = tp_mkdirs(dir, e);
    if (!r && !tp_exists(ignore))
        r = tp_write_file(ignore, "*\n", 2, 0644, e);
    if (!r)
        r = tp_write_file(path, text, strlen(text), 0644, e);
    free(text);
    free(ignore);
    free(path);
    free(dir);
    return r;
}

/* Renames what was staged. Should one fail, those before it are put back from memory. */
static int commit(struct pending *p, int n, struct tp_error *e)
{
    for (int i = 0; i < n; i++) {
        int failed = p[i].temp ? rename(p[i].temp, p[i].path) : unlink(p[i].path);
        if (failed && p[i].temp && errno == EXDEV) { /* a folder of the tree is another disk */
            const struct tp_buf *text = &p[i].file->text.bytes;
            failed = tp_write_file(p[i].path, text->data, text->len, 0644, NULL);
            errno = -failed;
        }
        if (failed && !(errno == ENOENT && !p[i].temp)) {
            int r = tp_fail_errno(e, errno, p[i].path, "cannot be replaced");
            while (i--) {
                const struct tp_tree_file *f = p[i].file;
                if (f->on_disk)
                    tp_write_file(p[i].path, f->disk.data, f->disk.len, 0644, NULL);
                else
                    unlink(p[i].path);
            }
            return r;
        }
        free(p[i].temp);
        p[i].temp = NULL;
    }
    return 0;
}

/* Folders that stand empty once a new file is gone again. */
static void prune(const struct tp_tree *t, const struct tp_tree_file *f)
{
    char *path = tp_join(t->root, f->path);
    size_t root = strlen(t->root);
    for (char *slash; !f->in_base && (slash = strrchr(path, '/')) && slash > path + root;) {
        *slash = 0;
        if (rmdir(path) < 0)
            break;
    }
    free(path);
}

/* A file that was changed by others since it was patched cannot be put back later. */
static int check_foreign(const struct tp_tree *t, struct tp_error *e)
{
    for (int i = 0; i < t->n; i++) {
        const struct tp_tree_file *f = t->files[i];
        const json_t *entry = receipt_entry(t, f->path);
        if (entry && from_disk(f) && !is_known(f, entry))
            return tp_fail(e, TP_STATUS_FAILED, -ESTALE, f->path,
                           "put your change aside, or restore the tree by other means and remove "
                           "its .turnpike folder",
                           "it was changed since it was patched, and would have to be patched again");
    }
    return 0;
}

/* What killed runs left beside the files. */
static void sweep(const struct tp_tree *t, const char *dir)
{
    tp_sweep_temp(dir);
    for (int i = 0; i < t->n; i++) {
        char *path = tp_join(t->root, t->files[i]->path), *slash = strrchr(path, '/');
        *slash = 0;
        tp_sweep_temp(path);
        free(path);
        char *original = original_path(t, t->files[i]->path);
        *strrchr(original, '/') = 0;
        tp_sweep_temp(original);
        free(original);
    }
}

static void drop_unneeded_originals(struct tp_tree *t)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(t->receipt, "files"), i, entry)
    {
        const char *path = json_string_value(json_object_get(entry, "path"));
        for (int k = 0; k < t->n; k++) {
            if (!strcmp(t->files[k]->path, path) && !from_base(t->files[k])) {
                char *original = original_path(t, path);
                unlink(original);
                free(original);
            }
        }
    }
}

/* receipt NULL: the tree's own state is removed at the end. */
static int write_all(struct tp_tree *t, json_t *receipt, struct tp_error *e)
{
    struct pending *pending = tp_calloc((size_t)t->n, sizeof *pending);
    char *dir = tp_join(t->root, state_dir);
    int n = 0, r = check_foreign(t, e);
    sweep(t, dir);
    for (int i = 0; i < t->n && !r; i++) {
        if (from_disk(t->files[i]))
            r = stage(t, t->files[i], n, &pending[n], e);
        n += pending[n].path != NULL;
    }
    if (!r && receipt) {
        json_object_set_new(receipt, "files", receipt_files(t));
        r = keep_originals(t, e);
        if (!r)
            r = put_receipt(t, receipt, e);
    }
    if (!r) {
        r = commit(pending, n, e);
        if (r && t->receipt)
            put_receipt(t, t->receipt, NULL);
    }
    for (int i = 0; i < t->n && !r; i++) {
        if (!t->files[i]->exists && receipt_entry(t, t->files[i]->path))
            prune(t, t->files[i]);
    }
    if (!r && receipt)
        drop_unneeded_originals(t);
    if ((!r && !receipt) || (r && !t->receipt))
        tp_remove_tree(dir, NULL);
    for (int i = 0; i < n; i++) {
        if (pending[i].temp)
            unlink(pending[i].temp);
        if (r && !pending[i].file->on_disk)
            prune(t, pending[i].file);
        free(pending[i].temp);
        free(pending[i].path);
    }
    char *staged = tp_join(dir, "staged");
    rmdir(staged);
    free(staged);
    free(pending);
    free(dir);
    return r;
}

int tp_tree_write(struct tp_tree *t, json_t *receipt, struct tp_error *e)
{
    return write_all(t, receipt, e);
}

int tp_tree_write_base(struct tp_tree *t, struct tp_error *e)
{
    return write_all(t, NULL, e);
}
