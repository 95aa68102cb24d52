/*
 * The patch language and its engine on a text in memory. The first byte picks the language; then the
 * lines of one edit, a line "---", and the source.
 *
 * What was applied must be found again, by the engine itself, in the bytes that came out, and be
 * left alone; what was not applied must have left the text alone.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "factory/edit/evaluate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const paths[] = {"a.c", "a.cc", "a.py", "meson.build", "a.txt"};

static struct tp_tree tree_of(const char *path, const char *text, size_t len)
{
    struct tp_tree tree = {.root = tp_strdup("/nonexistent"), .lock_fd = -1};
    struct tp_tree_file *f = tp_calloc(1, sizeof *f);
    f->path = tp_strdup(path);
    f->exists = f->on_disk = f->in_base = true;
    tp_text_init(&f->text, tp_language_of(path), text, len);
    TP_PUSH(tree.files, tree.n, tree.cap) = f;
    return tree;
}

static void forget(struct tp_outcome *o)
{
    for (int i = 0; i < o->n_candidates; i++) {
        free(o->candidates[i].text);
        free(o->candidates[i].differs);
    }
    free(o->candidates);
    free(o->starting_point);
    free(o->reason);
}

static void try_edit(const struct tp_edit *edit, const char *path, const char *text, size_t len)
{
    struct tp_tree tree = tree_of(path, text, len);
    struct tp_outcome o;
    if (tp_evaluate(edit, NULL, &tree, &o, NULL))
        goto done;
    const struct tp_buf *now = &tree.files[0]->text.bytes;
    if (o.state == TP_APPLIED) {
        struct tp_tree again = tree_of(path, tp_buf_str(now), now->len);
        struct tp_outcome second;
        if (tp_evaluate(edit, NULL, &again, &second, NULL) || second.state != TP_ALREADY)
            abort();
        const struct tp_buf *then = &again.files[0]->text.bytes;
        if (then->len != now->len || (now->len && memcmp(then->data, now->data, now->len) != 0))
            abort();
        forget(&second);
        tp_tree_close(&again);
    } else if (o.state != TP_FAILED) {
        if (now->len != len || (len && memcmp(now->data, text, len) != 0))
            abort();
    }
    forget(&o);
done:
    tp_tree_close(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const char *path = paths[data[0] % 5], *in = (const char *)data + 1;
    size--;
    const char *cut = memmem(in, size, "\n---\n", 5);
    size_t lines = cut ? (size_t)(cut - in) + 1 : size;
    struct tp_buf text = {0};
    tp_buf_addf(&text, "patch x\ntitle t\nupstream needed 2026-11-29 x\nedit %s\n", path);
    tp_buf_add(&text, in, lines);
    struct tp_patch patch;
    struct tp_error e = {0};
    if (tp_patch_parse(tp_buf_str(&text), text.len, "x.edit", NULL, &patch, &e) == 0) {
        if (cut && !strcmp(patch.edits[0].path, path))
            try_edit(&patch.edits[0], path, cut + 5, size - lines - 4);
        tp_patch_finish(&patch);
    } else if (!*e.what || !*e.where) {
        abort();
    }
    tp_buf_finish(&text);
    return 0;
}
