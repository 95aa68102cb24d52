/*
 * The patch language and its engine on a text in memory. The first byte picks the language; then the
 * lines of one edit, a line "---", and the source.
 *
 * What was applied must be found again, by the engine itself, in the bytes that came out, and be
 * left alone; what was not applied must have left the text alone. The edit's proof lines are read, and
 * held against a few things that were seen.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "factory/edit/evaluate.h"
#include "factory/prove/expect.h"

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

static const char seen_text[] =
    "{\"facts\": {\"api\": \"1.4.305\", \"list\": [\"x\"], \"drm\": {\"a\": 3}}, \"calls\": ["
    "{\"call\": \"a\", \"pid\": 1, \"context\": 1, \"n\": 5, \"registers\": [{\"register\": \"0xb602\","
    "\"ever\": \"0x40000\"}]}, {\"call\": \"b\", \"pid\": 1, \"context\": 1, \"n\": \"0x9\"},"
    "{\"call\": \"DRAWCTXT_DESTROY\", \"pid\": 1, \"context\": 1}],"
    "\"chips\": [{\"name\": \"FD7\", \"quirks\": [\"x = True\"]}]}";

static void try_proof(const char *line)
{
    struct tp_expect x;
    struct tp_error e = {0};
    if (tp_expect_parse(line, "x.edit", &x, &e)) {
        if (!*e.what || !*e.where || !*e.todo)
            abort();
        return;
    }
    json_t *seen_json = json_loads(seen_text, 0, NULL);
    struct tp_seen seen = {
        .facts = json_object_get(seen_json, "facts"),
        .calls = json_object_get(seen_json, "calls"),
        .note = seen_json,
        .said = "a b a",
        .file = "bytes",
        .file_len = 5,
    };
    char *detail = NULL;
    tp_expect_holds(&x, &seen, &detail);
    if (!detail)
        abort();
    free(detail);
    tp_expect_is_on(&x, "FD7", "A7XX");
    if (x.run) {
        struct tp_client_words words;
        tp_expect_split_run(&x, &words);
        tp_client_words_finish(&words);
    }
    json_decref(seen_json);
    tp_expect_finish(&x);
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
        for (int i = 0; i < patch.n_edits; i++) {
            for (int k = 0; k < patch.edits[i].n_proofs; k++)
                try_proof(patch.edits[i].proofs[k]);
        }
        if (cut && !strcmp(patch.edits[0].path, path))
            try_edit(&patch.edits[0], path, cut + 5, size - lines - 4);
        tp_patch_finish(&patch);
    } else if (!*e.what || !*e.where) {
        abort();
    }
    tp_buf_finish(&text);
    return 0;
}
