#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

int world_setup(void **state)
{
    struct world *w = tp_calloc(1, sizeof *w);
    const char *tmp = getenv("TMPDIR");
    w->dir = tp_asprintf("%s/tp-edit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(w->dir))
        return -1;
    w->tree = tp_join(w->dir, "mesa");
    w->patches = tp_join(w->dir, "patches");
    w->sel = (struct tp_selection){.target = "host", .variant = 'b'};
    w->s.tree.lock_fd = -1;
    *state = w;
    put(w, "VERSION", "25.0.7\n");
    put(w, "src/empty.txt", "");
    return tp_mkdirs(w->patches, NULL);
}

int world_teardown(void **state)
{
    struct world *w = *state;
    tp_editing_finish(&w->s);
    tp_remove_tree(w->dir, NULL);
    free(w->dir);
    free(w->tree);
    free(w->patches);
    free(w);
    return 0;
}

const char *at(struct world *w, const char *path)
{
    static char places[4][4096];
    static int next;
    char *place = places[next++ % 4];
    snprintf(place, sizeof places[0], "%s/%s", w->tree, path);
    return place;
}

static void write_text(const char *path, const char *text)
{
    struct tp_error e = {0};
    if (tp_mkdirs_for(path, &e) || tp_write_file(path, text, strlen(text), 0644, &e))
        fail_msg("%s: %s", e.where, e.what);
}

void put(struct world *w, const char *path, const char *text)
{
    write_text(at(w, path), text);
}

void assert_file(struct world *w, const char *path, const char *text)
{
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(at(w, path), 0, &b, NULL), 0);
    if (strcmp(tp_buf_str(&b), text) != 0) {
        char *got = tp_buf_take(&b);
        assert_string_equal(got, text);
    }
    tp_buf_finish(&b);
}

bool is_there(struct world *w, const char *path)
{
    return tp_exists(at(w, path));
}

void put_patch(struct world *w, const char *name, const char *text)
{
    char *path = tp_join(w->patches, name);
    write_text(path, text);
    free(path);
}

void add_patch(struct world *w, const char *id, const char *rest)
{
    char *text = tp_asprintf("patch %s\ntitle A test\nupstream needed 2026-11-29 25.0.7\n%s", id, rest);
    char *name = tp_asprintf("%s.edit", id);
    put_patch(w, name, text);
    free(name);
    free(text);
}

void no_patches(struct world *w)
{
    tp_remove_tree(w->patches, NULL);
    assert_int_equal(tp_mkdirs(w->patches, NULL), 0);
}

static int run_for(struct world *w, bool write)
{
    tp_editing_finish(&w->s);
    w->e = (struct tp_error){0};
    return tp_editing_run(&w->s, w->tree, w->patches, &w->sel, write, &w->e);
}

int run(struct world *w)
{
    return run_for(w, false);
}

int run_and_write(struct world *w)
{
    int r = run_for(w, true);
    if (!r && w->s.clean)
        r = tp_editing_write(&w->s, &w->e);
    /* the lock goes, the outcome stays */
    if (w->s.tree.lock_fd >= 0) {
        close(w->s.tree.lock_fd);
        w->s.tree.lock_fd = -1;
    }
    return r;
}

enum tp_state state_of(struct world *w, int patch)
{
    assert_true(patch < w->s.n);
    return w->s.patches[patch].state;
}

struct tp_outcome *outcome(struct world *w, int patch, int edit)
{
    assert_true(patch < w->s.n && edit < w->s.patches[patch].n);
    return &w->s.patches[patch].edits[edit];
}

char *edited(struct world *w, const char *path, const char *source, const char *lines)
{
    char *dir = tp_join(w->tree, ".turnpike");
    tp_remove_tree(dir, NULL);
    free(dir);
    put(w, path, source);
    no_patches(w);
    char *rest = tp_asprintf("edit %s\n%s", path, lines);
    add_patch(w, "one", rest);
    free(rest);
    if (run_and_write(w))
        return tp_asprintf("error: %s: %s", w->e.where, w->e.what);
    struct tp_outcome *o = outcome(w, 0, 0);
    if (o->state != TP_APPLIED)
        return tp_asprintf("%s: %s", tp_state_name(o->state), o->reason ? o->reason : "");
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(at(w, path), 0, &b, NULL), 0);
    return tp_buf_take(&b);
}

void assert_edited(struct world *w, const char *path, const char *source, const char *lines,
                   const char *want)
{
    char *got = edited(w, path, source, lines);
    if (strcmp(got, want) != 0)
        print_error("edit of:\n%s\nby:\n%s", source, lines);
    assert_string_equal(got, want);
    free(got);
    /* from the disk, without the receipt's help */
    char *dir = tp_join(w->tree, ".turnpike");
    tp_remove_tree(dir, NULL);
    free(dir);
    assert_int_equal(run_and_write(w), 0);
    if (state_of(w, 0) != TP_ALREADY)
        print_error("%s", outcome(w, 0, 0)->reason ? outcome(w, 0, 0)->reason : "");
    assert_string_equal(tp_state_name(state_of(w, 0)), "already");
    assert_file(w, path, want);
}

void assert_refused(struct world *w, const char *path, const char *source, const char *lines,
                    enum tp_state state, const char *words)
{
    char *got = edited(w, path, source, lines);
    const char *name = tp_state_name(state);
    if (strncmp(got, name, strlen(name)) != 0 || !strstr(got, words))
        fail_msg("want %s, %s; got: %s\nedit of:\n%s\nby:\n%s", name, words, got, source, lines);
    free(got);
    assert_file(w, path, source);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void list_tree(const char *dir, const char *name, struct tp_buf *out)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        const char *entry = entries[i]->d_name;
        if (strcmp(entry, ".") != 0 && strcmp(entry, "..") != 0 && strcmp(entry, ".turnpike") != 0) {
            char *path = tp_join(dir, entry), *below = tp_join(name, entry);
            char sum[TP_SHA256_HEX] = "";
            struct stat st;
            assert_int_equal(lstat(path, &st), 0);
            if (S_ISREG(st.st_mode))
                assert_int_equal(tp_sha256_file(path, sum, NULL), 0);
            tp_buf_addf(out, "%s %o %s\n", below, (unsigned)st.st_mode, sum);
            if (S_ISDIR(st.st_mode))
                list_tree(path, below, out);
            free(path);
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
}

void hash_tree(const char *dir, char out[TP_SHA256_HEX])
{
    struct tp_buf all = {0};
    list_tree(dir, "", &all);
    tp_sha256(all.data, all.len, out);
    tp_buf_finish(&all);
}
