#include "factory/edit/edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "factory/edit/evaluate.h"

const char *tp_state_name(enum tp_state state)
{
    static const char *const names[] = {"failed",  "drifted",  "applied",
                                        "already", "absorbed", "not-applicable"};
    return names[state];
}

static bool listed(const char *const *ids, const char *id)
{
    for (; ids && *ids; ids++) {
        if (!strcmp(*ids, id))
            return true;
    }
    return false;
}

static const struct tp_patch *find_patch(const struct tp_patch_set *set, const char *id)
{
    for (int i = 0; i < set->n; i++) {
        if (!strcmp(set->patches[i].id, id))
            return &set->patches[i];
    }
    return NULL;
}

static int check_ids(const struct tp_patch_set *set, const char *const *ids, const char *option,
                     struct tp_error *e)
{
    for (; ids && *ids; ids++) {
        if (find_patch(set, *ids))
            continue;
        struct tp_buf known = {0};
        for (int i = 0; i < set->n; i++)
            tp_buf_addf(&known, "%s%s", i ? ", " : "name one of: ", set->patches[i].id);
        tp_fail(e, TP_STATUS_INPUT, -EINVAL, option, tp_buf_str(&known),
                "there is no patch called '%s'", *ids);
        tp_buf_finish(&known);
        return -EINVAL;
    }
    return 0;
}

static unsigned variant_bit(char variant)
{
    return variant == 'b' ? TP_VARIANT_B : variant == 'p' ? TP_VARIANT_P : 0;
}

static bool has_edit(const struct tp_patch *p, unsigned target, unsigned variant)
{
    if (!(p->targets & target) || !(p->variants & variant))
        return false;
    for (int i = 0; i < p->n_edits; i++) {
        if ((p->edits[i].targets & target) && (p->edits[i].variants & variant))
            return true;
    }
    return false;
}

static bool wanted(const struct tp_patch *p, const struct tp_selection *sel, unsigned target)
{
    if (listed(sel->without, p->id) || (p->off && !listed(sel->with, p->id)))
        return false;
    return has_edit(p, target, variant_bit(sel->variant));
}

bool tp_selection_has(const struct tp_selection *sel, const struct tp_patch *p)
{
    return wanted(p, sel, tp_target_bit(sel->target));
}

/* A patch whose need is left out cannot be made. */
static int check_needs(const struct tp_patch_set *set, const struct tp_selection *sel,
                       unsigned target, struct tp_error *e)
{
    for (int i = 0; i < set->n; i++) {
        const struct tp_patch *p = &set->patches[i];
        for (int k = 0; wanted(p, sel, target) && k < p->n_needs; k++) {
            if (wanted(find_patch(set, p->needs[k]), sel, target))
                continue;
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--without", "leave out both, or neither",
                           "patch %s needs %s", p->id, p->needs[k]);
        }
    }
    return 0;
}

static void add_id_list(struct tp_buf *b, const char *label, const struct tp_patch_set *set,
                        const char *const *ids)
{
    tp_buf_adds(b, label);
    for (int i = 0; i < set->n; i++) { /* in file order, once each */
        if (listed(ids, set->patches[i].id))
            tp_buf_addf(b, " %s", set->patches[i].id);
    }
    tp_buf_addc(b, '\n');
}

static void hash_selection(struct tp_editing *s, const struct tp_selection *sel)
{
    struct tp_buf b = {0};
    tp_buf_addf(&b, "%s\n%s\n%c\n%s\n%s\n%s\n", TP_VERSION, sel->target, sel->variant,
                s->driver_version, s->set.sha256, s->tree.version);
    add_id_list(&b, "with", &s->set, sel->with);
    add_id_list(&b, "without", &s->set, sel->without);
    tp_sha256(b.data, b.len, s->selection);
    tp_buf_finish(&b);
}

/* Who reads the note asks what is in the driver: what was there already is as good as applied. */
static const char *note_state(enum tp_state state)
{
    return tp_state_name(state == TP_ALREADY ? TP_APPLIED : state);
}

/* The states of all the edits that a patch's file has, in order; null: not for this driver. */
static json_t *note_edits(const struct tp_patch_outcome *p)
{
    json_t *states = json_array();
    for (int k = 0, i = 0; k < p->patch->n_edits; k++) {
        bool decided = i < p->n && p->edits[i].edit == &p->patch->edits[k];
        json_array_append_new(states,
                              decided ? json_string(note_state(p->edits[i].state)) : json_null());
        i += decided;
    }
    return states;
}

/* The ELF note's JSON: which patches are in this driver. */
static char *note_json(struct tp_editing *s)
{
    json_t *patches = json_array();
    for (int i = 0; i < s->n; i++) {
        const struct tp_patch_outcome *p = &s->patches[i];
        json_array_append_new(patches,
                              json_pack("{s:s, s:s, s:o}", "id", p->patch->id, "state",
                                        note_state(p->state), "edits", note_edits(p)));
    }
    char variant[2] = {s->variant, 0};
    json_t *note = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:o}", "turnpike", TP_VERSION, "schema",
                             1, "driver", s->driver_version, "variant", variant, "target", s->target,
                             "mesa", s->tree.version, "patches", patches);
    if (s->add_to_note)
        s->add_to_note(&s->tree, note);
    char *text = json_dumps(note, JSON_COMPACT);
    json_decref(note);
    return text;
}

/* Text as the inside of a C string literal, quotes included. */
static char *c_literal(const char *text)
{
    struct tp_buf b = {0};
    tp_buf_addc(&b, '"');
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\')
            tp_buf_addf(&b, "\\%c", *s);
        else if (*s < 0x20 || *s >= 0x7f || *s == '?')
            tp_buf_addf(&b, "\\%03o", *s);
        else
            tp_buf_addc(&b, (char)*s);
    }
    tp_buf_addc(&b, '"');
    return tp_buf_take(&b);
}

/* A new file's content; @NAME@ words of a template are filled in. */
static void fill_in(struct tp_editing *s, const struct tp_edit *edit, struct tp_buf *out)
{
    tp_buf_clear(out);
    if (!edit->is_template) {
        tp_buf_add(out, edit->content.data, edit->content.len);
        return;
    }
    char *note = note_json(s), *literal = c_literal(note);
    char variant[2] = {s->variant, 0};
    const struct {
        const char *word, *value;
    } words[] = {
        {"@DRIVER_VERSION@", s->driver_version}, {"@VARIANT@", variant},
        {"@TARGET@", s->target},                 {"@MESA_VERSION@", s->tree.version},
        {"@TURNPIKE_VERSION@", TP_VERSION},      {"@NOTE_JSON_C@", literal},
    };
    const char *at = tp_buf_str(&edit->content), *end = at + edit->content.len;
    while (at < end) {
        size_t i = 0, n = sizeof words / sizeof *words;
        while (i < n && strncmp(at, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (*at == '@' && i < n) {
            tp_buf_adds(out, words[i].value);
            at += strlen(words[i].word);
        } else {
            tp_buf_addc(out, *at++);
        }
    }
    free(literal);
    free(note);
}

static enum tp_state worst(const struct tp_patch_outcome *p)
{
    enum tp_state state = TP_NOT_APPLICABLE;
    for (int i = 0; i < p->n; i++) {
        if (p->edits[i].state < state)
            state = p->edits[i].state;
    }
    return state;
}

/* The texts of all files of the tree, to go back to when a patch drifts half way. */
struct snapshot {
    struct tp_buf *texts;
    bool *exists;
    int n;
};

static struct snapshot take_snapshot(const struct tp_tree *t)
{
    struct snapshot s = {tp_calloc((size_t)t->n, sizeof *s.texts),
                         tp_calloc((size_t)t->n, sizeof *s.exists), t->n};
    for (int i = 0; i < t->n; i++) {
        tp_buf_add(&s.texts[i], t->files[i]->text.bytes.data, t->files[i]->text.bytes.len);
        s.exists[i] = t->files[i]->exists;
    }
    return s;
}

static void put_back(struct tp_tree *t, const struct snapshot *s)
{
    for (int i = 0; i < t->n; i++) {
        struct tp_tree_file *f = t->files[i];
        const struct tp_buf *b = i < s->n ? &s->texts[i] : t->from_base ? &f->base : &f->disk;
        bool exists = i < s->n ? s->exists[i] : t->from_base ? f->in_base : f->on_disk;
        if (f->exists == exists && f->text.bytes.len == b->len &&
            (!b->len || !memcmp(f->text.bytes.data, b->data, b->len)))
            continue;
        tp_text_finish(&f->text);
        tp_text_init(&f->text, tp_language_of(f->path), tp_buf_str(b), b->len);
        f->exists = exists;
    }
}

static void free_snapshot(struct snapshot *s)
{
    for (int i = 0; i < s->n; i++)
        tp_buf_finish(&s->texts[i]);
    free(s->texts);
    free(s->exists);
}

static void forget_outcome(struct tp_outcome *o)
{
    for (int c = 0; c < o->n_candidates; c++) {
        free(o->candidates[c].text);
        free(o->candidates[c].differs);
    }
    free(o->candidates);
    free(o->starting_point);
    free(o->reason);
    *o = (struct tp_outcome){.edit = o->edit, .state = TP_APPLIED};
}

/* The patch that this one needs and that does not fit, or NULL. */
static const char *missing_need(const struct tp_editing *s, const struct tp_patch_outcome *p)
{
    for (int k = 0; k < p->patch->n_needs; k++) {
        for (int i = 0; i < s->n; i++) {
            if (!strcmp(s->patches[i].patch->id, p->patch->needs[k]) &&
                s->patches[i].state <= TP_DRIFTED)
                return p->patch->needs[k];
        }
    }
    return NULL;
}

static int run_patch(struct tp_editing *s, struct tp_patch_outcome *p, bool templates,
                     struct tp_error *e)
{
    const char *need = missing_need(s, p);
    for (int i = 0; need && i < p->n; i++) {
        forget_outcome(&p->edits[i]);
        p->edits[i].state = p->state = TP_DRIFTED;
        p->edits[i].reason = tp_asprintf("it needs the patch %s, which does not fit", need);
    }
    if (need)
        return 0;
    struct snapshot before = take_snapshot(&s->tree);
    struct tp_buf content = {0};
    int r = 0;
    for (int i = 0; i < p->n && !r; i++) {
        struct tp_outcome *o = &p->edits[i];
        if (o->edit->is_template != templates)
            continue;
        const struct tp_edit *edit = o->edit;
        if (edit->is_new_file)
            fill_in(s, edit, &content);
        r = tp_evaluate(edit, &content, &s->tree, o, e);
    }
    p->state = worst(p);
    if (!r && p->state <= TP_DRIFTED) {
        put_back(&s->tree, &before);
        p->late = templates;
        for (int i = 0; i < p->n; i++)
            p->edits[i].withdrawn = p->edits[i].state == TP_APPLIED;
    }
    tp_buf_finish(&content);
    free_snapshot(&before);
    return r;
}

/* A later patch may have undone an earlier one: what counts is the final tree. */
static void check_final(struct tp_editing *s)
{
    struct tp_buf content = {0};
    for (int i = 0; i < s->n; i++) {
        struct tp_patch_outcome *p = &s->patches[i];
        for (int k = 0; k < p->n && !p->left_out; k++) {
            struct tp_outcome *o = &p->edits[k];
            if ((o->state != TP_APPLIED && o->state != TP_ALREADY) || o->withdrawn)
                continue;
            if (o->edit->is_new_file)
                fill_in(s, o->edit, &content);
            if (!tp_evaluate_holds(o, &content, &s->tree)) {
                o->state = TP_FAILED;
                p->late = true;
                free(o->reason);
                o->reason = tp_strdup("a later patch undid this edit: its result is not in the "
                                      "final tree");
            }
        }
        p->state = worst(p);
    }
    tp_buf_finish(&content);
}

static void list_patches(struct tp_editing *s, const struct tp_selection *sel, unsigned target)
{
    unsigned variant = variant_bit(sel->variant);
    s->patches = tp_calloc((size_t)s->set.n, sizeof *s->patches);
    for (int i = 0; i < s->set.n; i++) {
        const struct tp_patch *patch = &s->set.patches[i];
        if (!wanted(patch, sel, target))
            continue;
        struct tp_patch_outcome *p = &s->patches[s->n++];
        *p = (struct tp_patch_outcome){.patch = patch, .state = TP_APPLIED};
        p->edits = tp_calloc((size_t)patch->n_edits, sizeof *p->edits);
        for (int k = 0; k < patch->n_edits; k++) {
            const struct tp_edit *edit = &patch->edits[k];
            if ((edit->targets & target) && (edit->variants & variant))
                p->edits[p->n++] = (struct tp_outcome){.edit = edit, .state = TP_APPLIED};
        }
    }
}

static int settle_base(struct tp_editing *s, struct tp_error *e)
{
    if (!s->tree.receipt)
        return 0;
    const char *was = json_string_value(json_object_get(s->tree.receipt, "selection"));
    bool interrupted = false;
    int r = tp_tree_was_interrupted(&s->tree, &interrupted, e);
    if (!r && (interrupted || !was || strcmp(was, s->selection) != 0))
        r = tp_tree_take_back(&s->tree, e);
    return r;
}

static int decide(struct tp_editing *s, struct tp_error *e)
{
    int r = 0;
    for (int i = 0; i < s->n && !r; i++) {
        if (!s->patches[i].left_out)
            r = run_patch(s, &s->patches[i], false, e);
    }
    /* Templates name every patch's state, so they come last. */
    for (int i = 0; i < s->n && !r; i++) {
        bool has_template = false;
        for (int k = 0; k < s->patches[i].n; k++)
            has_template = has_template || s->patches[i].edits[k].edit->is_template;
        if (has_template && s->patches[i].state > TP_DRIFTED)
            r = run_patch(s, &s->patches[i], true, e);
    }
    if (!r)
        check_final(s);
    return r;
}

/* An optional patch that turned out not to fit when others stood on it already: once more from the
 * beginning, without it. */
static bool leave_one_out(struct tp_editing *s)
{
    int i = 0;
    while (i < s->n && !(s->patches[i].late && s->patches[i].patch->optional &&
                         !s->patches[i].left_out))
        i++;
    if (i == s->n)
        return false;
    s->patches[i].left_out = true;
    tp_tree_start_over(&s->tree);
    for (int k = 0; k < s->n; k++) {
        struct tp_patch_outcome *p = &s->patches[k];
        p->late = false;
        for (int m = 0; m < p->n; m++) {
            if (!p->left_out)
                forget_outcome(&p->edits[m]);
            else if (p->edits[m].state == TP_APPLIED)
                p->edits[m].withdrawn = true;
        }
        if (!p->left_out)
            p->state = TP_APPLIED;
    }
    return true;
}

int tp_editing_run(struct tp_editing *s, const char *root, const char *patches_dir,
                   const struct tp_selection *sel, bool for_writing, struct tp_error *e)
{
    *s = (struct tp_editing){.tree.lock_fd = -1, .variant = sel->variant};
    unsigned target = tp_target_bit(sel->target);
    if (!target)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--target",
                       "targets are host, linux-arm64, host-android and android-arm64",
                       "there is no target '%s'", sel->target);
    if (!variant_bit(sel->variant))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--variant", "variants are b and p",
                       "there is no variant '%c'", sel->variant);
    for (const char *c = sel->driver_version; c && *c; c++) {
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == '\\')
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--version", "letters, digits, '.', '-', '_'",
                           "the driver's version holds a character that has no place there");
    }
    s->target = tp_strdup(sel->target);
    s->add_to_note = sel->add_to_note;
    int r = tp_patch_set_read(patches_dir, &s->set, e);
    if (!r)
        r = check_ids(&s->set, sel->with, "--with", e);
    if (!r)
        r = check_ids(&s->set, sel->without, "--without", e);
    if (!r)
        r = check_needs(&s->set, sel, target, e);
    if (!r)
        r = tp_tree_open(&s->tree, root, for_writing, e);
    if (r)
        return r;
    s->driver_version = sel->driver_version ?
                            tp_strdup(sel->driver_version) :
                            tp_asprintf("WN-%s-%c", s->tree.version, sel->variant);
    hash_selection(s, sel);
    r = settle_base(s, e);
    if (r)
        return r;
    list_patches(s, sel, target);
    do {
        r = decide(s, e);
        if (r)
            return r;
    } while (leave_one_out(s));
    s->clean = true;
    for (int i = 0; i < s->n; i++)
        s->clean = s->clean && (s->patches[i].state > TP_DRIFTED || s->patches[i].patch->optional);
    return 0;
}

int tp_editing_write(struct tp_editing *s, struct tp_error *e)
{
    if (!s->clean)
        return tp_fail(e, TP_STATUS_FAILED, -EINVAL, s->tree.root, NULL,
                       "a patch does not fit; nothing is written");
    const char *was = json_string_value(json_object_get(s->tree.receipt, "selection"));
    if (!tp_tree_is_changed(&s->tree) && (!was || !strcmp(was, s->selection)))
        return 0;
    json_t *receipt = tp_editing_json(s);
    json_object_set_new(receipt, "selection", json_string(s->selection));
    int r = tp_tree_write(&s->tree, receipt, e);
    json_decref(receipt);
    return r;
}

int tp_editing_revert(const char *root, struct tp_error *e)
{
    struct tp_tree t;
    int r = tp_tree_open(&t, root, true, e);
    if (r)
        return r;
    if (!t.receipt)
        r = tp_fail(e, TP_STATUS_INPUT, -ENOENT, root, "name a tree that was patched by turnpike",
                    "there is nothing to revert: the tree has no .turnpike/receipt.json");
    if (!r)
        r = tp_tree_take_back(&t, e);
    if (!r)
        r = tp_tree_write_base(&t, e);
    tp_tree_close(&t);
    return r;
}

void tp_editing_finish(struct tp_editing *s)
{
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < s->patches[i].n; k++)
            forget_outcome(&s->patches[i].edits[k]);
        free(s->patches[i].edits);
    }
    free(s->patches);
    tp_patch_set_finish(&s->set);
    tp_tree_close(&s->tree);
    free(s->driver_version);
    free(s->target);
    *s = (struct tp_editing){.tree.lock_fd = -1};
}
