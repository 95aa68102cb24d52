/* What a run of the patch set decided: as JSON, as a table, as a diff. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "factory/edit/edit.h"

/* A string of JSON is UTF-8; a source, a path or VERSION may hold anything. */
static json_t *text_json(const char *text)
{
    if (!text)
        return json_null();
    json_t *j = json_string(text);
    if (j)
        return j;
    struct tp_buf b = {0};
    for (const char *s = text; *s; s++)
        tp_buf_addc(&b, (unsigned char)*s < 0x80 ? *s : '?');
    j = json_string(tp_buf_str(&b));
    tp_buf_finish(&b);
    return j;
}

static json_t *edit_json(const struct tp_outcome *o)
{
    json_t *j = json_pack("{s:s, s:i, s:s, s:s?, s:o}", "file", o->edit->path, "line", o->line,
                          "state", tp_state_name(o->state), "form", o->form ? o->form->name : NULL,
                          "reason", text_json(o->reason));
    if (o->withdrawn)
        json_object_set_new(j, "withdrawn", json_true());
    if (o->state != TP_DRIFTED || o->edit->is_new_file)
        return j;
    json_t *candidates = json_array();
    for (int i = 0; i < o->n_candidates; i++)
        json_array_append_new(candidates, json_pack("{s:i, s:o, s:o}", "line", o->candidates[i].line,
                                                    "text", text_json(o->candidates[i].text),
                                                    "differs", text_json(o->candidates[i].differs)));
    json_object_set_new(j, "candidates", candidates);
    if (o->starting_point)
        json_object_set_new(j, "starting_point", text_json(o->starting_point));
    return j;
}

json_t *tp_editing_json(const struct tp_editing *s)
{
    char variant[2] = {s->variant, 0};
    json_t *patches = json_array();
    for (int i = 0; i < s->n; i++) {
        const struct tp_patch_outcome *p = &s->patches[i];
        json_t *edits = json_array();
        for (int k = 0; k < p->n; k++)
            json_array_append_new(edits, edit_json(&p->edits[k]));
        json_array_append_new(
            patches, json_pack("{s:s, s:s, s:s, s:b, s:s, s:o}", "id", p->patch->id, "title",
                               p->patch->title, "state", tp_state_name(p->state), "optional",
                               p->patch->optional, "sha256", p->patch->sha256, "edits", edits));
    }
    return json_pack("{s:s, s:i, s:o, s:o, s:s, s:s, s:o, s:b, s:o}", "turnpike", TP_VERSION,
                     "schema", 1, "tree", text_json(s->tree.root), "mesa_version",
                     text_json(s->tree.version), "target", s->target, "variant", variant,
                     "driver_version", text_json(s->driver_version), "clean", s->clean, "patches",
                     patches);
}

static json_t *hash_or_null(bool exists, const struct tp_buf *b)
{
    char sum[TP_SHA256_HEX];
    tp_sha256(b->data, b->len, sum);
    return exists ? json_string(sum) : json_null();
}

json_t *tp_editing_receipt(const struct tp_editing *s)
{
    json_t *receipt = tp_editing_json(s);
    json_object_del(receipt, "tree"); /* a place on one machine */
    json_t *patches = json_object_get(receipt, "patches");
    for (int i = 0; i < s->n; i++) {
        json_t *edits = json_object_get(json_array_get(patches, (size_t)i), "edits");
        for (int k = 0; k < s->patches[i].n; k++) {
            json_t *edit = json_array_get(edits, (size_t)k);
            const char *path = s->patches[i].edits[k].edit->path;
            for (int f = 0; f < s->tree.n; f++) {
                const struct tp_tree_file *file = s->tree.files[f];
                if (strcmp(file->path, path) != 0)
                    continue;
                json_object_set_new(edit, "before_sha256", hash_or_null(file->in_base, &file->base));
                json_object_set_new(edit, "after_sha256",
                                    hash_or_null(file->exists, &file->text.bytes));
            }
        }
    }
    return receipt;
}

static void add_lines(struct tp_buf *out, const char *text, const char *prefix)
{
    for (const char *s = text; *s;) {
        const char *end = strchrnul(s, '\n');
        tp_buf_addf(out, "%s%.*s\n", prefix, (int)(end - s), s);
        s = *end ? end + 1 : end;
    }
}

static void add_trouble(struct tp_buf *out, const struct tp_patch_outcome *p,
                        const struct tp_outcome *o)
{
    tp_buf_addf(out, "\n%s: %s:%d: %s\n", p->patch->file, o->edit->path, o->line,
                tp_state_name(o->state));
    tp_buf_addf(out, "  %s\n", o->reason ? o->reason : "");
    for (int i = 0; i < o->n_candidates; i++) {
        tp_buf_addf(out, "  near, line %d: %s\n", o->candidates[i].line, o->candidates[i].differs);
        add_lines(out, o->candidates[i].text, "    | ");
    }
    if (o->starting_point) {
        tp_buf_addf(out, "  a starting point for a new form (line %d of %s; docs/patching.md):\n",
                    o->edit->line, p->patch->file);
        add_lines(out, o->starting_point, "  ");
    }
}

void tp_editing_table(const struct tp_editing *s, struct tp_buf *out)
{
    size_t width = 5;
    for (int i = 0; i < s->n; i++) {
        if (strlen(s->patches[i].patch->id) > width)
            width = strlen(s->patches[i].patch->id);
    }
    tp_buf_addf(out, "Mesa %s, target %s, variant %c\n", s->tree.version, s->target, s->variant);
    tp_buf_addf(out, "%-*s  %-14s  %s\n", (int)width, "patch", "state", "place, form");
    for (int i = 0; i < s->n; i++) {
        const struct tp_patch_outcome *p = &s->patches[i];
        for (int k = 0; k < p->n; k++) {
            const struct tp_outcome *o = &p->edits[k];
            const char *shown = k ? "" : p->patch->id;
            tp_buf_addf(out, "%-*s  %-14s  %s", (int)width, shown, tp_state_name(o->state),
                        o->edit->path);
            if (o->line)
                tp_buf_addf(out, ":%d", o->line);
            if (o->form)
                tp_buf_addf(out, " (%s)", o->form->name);
            else if (o->edit->is_new_file)
                tp_buf_adds(out, " (new file)");
            if (o->withdrawn)
                tp_buf_adds(out, ", not made: another edit of this patch does not fit");
            if (o->reason && o->state > TP_DRIFTED)
                tp_buf_addf(out, ": %s", o->reason);
            tp_buf_addc(out, '\n');
        }
    }
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < s->patches[i].n; k++) {
            if (s->patches[i].edits[k].state <= TP_DRIFTED)
                add_trouble(out, &s->patches[i], &s->patches[i].edits[k]);
        }
    }
}

static int diff_file(const struct tp_tree_file *f, const char *dir, struct tp_buf *out,
                     struct tp_error *e)
{
    char *a = tp_join(dir, "a"), *b = tp_join(dir, "b");
    char *from = f->on_disk ? tp_asprintf("a/%s", f->path) : tp_strdup("/dev/null");
    char *to = f->exists ? tp_asprintf("b/%s", f->path) : tp_strdup("/dev/null");
    const char *argv[] = {"diff", "-u", "--label", from, "--label", to, a, b, NULL};
    struct tp_cmd cmd = {.argv = argv, .out = out, .log_fd = -1};
    int r = tp_write_file(a, f->disk.data, f->on_disk ? f->disk.len : 0, 0600, e);
    if (!r)
        r = tp_write_file(b, f->text.bytes.data, f->exists ? f->text.bytes.len : 0, 0600, e);
    if (!r)
        r = tp_run(&cmd, e);
    free(from);
    free(to);
    free(a);
    free(b);
    if (r == 0 || r == 1)
        return 0;
    return r < 0 ? r : tp_fail(e, TP_STATUS_MISSING, -EIO, "diff", NULL, "ended with status %d", r);
}

int tp_editing_diff(const struct tp_editing *s, struct tp_buf *out, struct tp_error *e)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = tp_temp_dir(tmp && *tmp ? tmp : "/tmp", e);
    int r = dir ? 0 : -EIO;
    for (int i = 0; i < s->tree.n && !r; i++) {
        const struct tp_tree_file *f = s->tree.files[i];
        bool same = f->exists == f->on_disk && f->text.bytes.len == f->disk.len &&
                    (!f->disk.len || !memcmp(f->text.bytes.data, f->disk.data, f->disk.len));
        if (!same)
            r = diff_file(f, dir, out, e);
    }
    if (dir)
        tp_remove_tree(dir, NULL);
    free(dir);
    return r;
}
