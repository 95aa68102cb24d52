#include "factory/prove/promises.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "factory/edit/patchfile.h"
#include "factory/kgsl/chips.h"

struct reader {
    const json_t *note;
    struct tp_patch_set set;
    struct tp_promises *out;
    struct tp_error *e;
};

/* ---- the note ---- */

static const json_t *note_patch(const json_t *note, const char *id)
{
    return tp_json_find(json_object_get(note, "patches"), "id", id);
}

static const char *generation_of(const json_t *note, const char *chip)
{
    const json_t *one = tp_json_find(json_object_get(note, "chips"), "name", chip);
    return json_string_value(json_object_get(one, "generation"));
}

/* Is such a line about a driver of this target and variant? edit: NULL: the patch's own line. */
static bool is_meant(const json_t *note, const struct tp_patch *patch, const struct tp_edit *edit,
                     const struct tp_expect *x)
{
    const char *target = json_string_value(json_object_get(note, "target"));
    const char *variant = json_string_value(json_object_get(note, "variant"));
    if (!target || !variant)
        return false;
    unsigned bit = *variant == 'p' ? TP_VARIANT_P : TP_VARIANT_B;
    unsigned variants = edit ? edit->variants : patch->variants;
    bool of_variant = x->variant ? x->variant == *variant : (variants & bit) != 0;
    return of_variant && ((edit ? edit->targets : patch->targets) & tp_target_bit(target));
}

/* Was it made, as the note says? A patch that the note does not name, but that belongs to the driver,
 * ought to have been. A note of other edits than these knows of the patch alone. */
static bool is_made(const json_t *note, const struct tp_patch *patch, const struct tp_edit *edit)
{
    const json_t *named = note_patch(note, patch->id);
    if (!named)
        return !patch->off;
    const json_t *states = json_object_get(named, "edits");
    const char *state = json_string_value(json_object_get(named, "state"));
    if (edit && json_array_size(states) == (size_t)patch->n_edits)
        state = json_string_value(json_array_get(states, (size_t)(edit - patch->edits)));
    return state && !strcmp(state, "applied");
}

/* "@DRIVER_VERSION@" in a proof line is this driver's own. */
static char *fill_in(const json_t *note, const char *line)
{
    static const char word[] = "@DRIVER_VERSION@";
    const char *at = strstr(line, word);
    const char *version = json_string_value(json_object_get(note, "driver"));
    if (!at || !version)
        return tp_strdup(line);
    return tp_asprintf("%.*s%s%s", (int)(at - line), line, version, at + sizeof word - 1);
}

/* ---- reading ---- */

static int parse(const struct reader *r, const char *text, const char *where, struct tp_expect *x)
{
    char *line = fill_in(r->note, text);
    int err = tp_expect_parse(line, where, x, r->e);
    free(line);
    return err;
}

/* Is one of this shape, or of this generation, known to the simulator or to the driver? */
static bool is_known(const json_t *note, const char *glob)
{
    size_t i, n;
    const struct tp_kgsl_chip *chips = tp_kgsl_chips(&n);
    const json_t *chip;
    bool known = false;
    for (i = 0; i < n && !known; i++) {
        const char generation[] = {'A', (char)('0' + chips[i].generation), 'X', 'X', 0};
        known = !fnmatch(glob, chips[i].name, 0) || !strcmp(glob, generation);
    }
    json_array_foreach(json_object_get(note, "chips"), i, chip)
    {
        const char *name = json_string_value(json_object_get(chip, "name"));
        const char *generation = json_string_value(json_object_get(chip, "generation"));
        known = known || (name && !fnmatch(glob, name, 0)) ||
                (generation && !strcmp(glob, generation));
    }
    return known;
}

/* A chip that nobody knows is misspelt: its promise would be about nothing. */
static int check_on(const struct reader *r, const struct tp_expect *x, const char *where)
{
    for (int i = 0; i < x->n_on; i++) {
        if (!is_known(r->note, x->on[i]))
            return tp_fail(r->e, TP_STATUS_INPUT, -EINVAL, where,
                           "names are those of `turnpike chips TREE` (FD740, FD7*, \"Adreno X1-85\", "
                           "A7XX), in this case",
                           "there is no chip '%s', on which `proof` is to hold", x->on[i]);
    }
    return 0;
}

/* Takes what was parsed: once for each chip that a run is to be made on. Text that is parsed already
 * has nothing wrong with it. */
static void promise(const struct reader *r, const char *id, const char *text, struct tp_expect *x)
{
    if (!x->n_on) {
        TP_PUSH(r->out->at, r->out->n, r->out->cap) =
            (struct tp_promise){.patch = tp_strdup(id), .expect = *x};
        return;
    }
    const json_t *table = json_object_get(r->note, "chips"), *chip;
    size_t i;
    bool known = !table;
    json_array_foreach(table, i, chip)
    {
        const char *name = json_string_value(json_object_get(chip, "name"));
        if (!name ||
            !tp_expect_is_on(x, name, json_string_value(json_object_get(chip, "generation"))))
            continue;
        known = true;
        struct tp_expect copy;
        struct tp_kgsl_chip simulated;
        if (x->run && !tp_kgsl_chip_find(name, &simulated) && !parse(r, text, id, &copy))
            TP_PUSH(r->out->at, r->out->n, r->out->cap) =
                (struct tp_promise){tp_strdup(id), tp_strdup(name), copy};
    }
    if (known && !x->run)
        TP_PUSH(r->out->at, r->out->n, r->out->cap) =
            (struct tp_promise){.patch = tp_strdup(id), .expect = *x};
    else
        tp_expect_finish(x);
}

static int read_line(const struct reader *r, const struct tp_patch *patch,
                     const struct tp_edit *edit, const char *text)
{
    struct tp_expect x;
    int err = parse(r, text, patch->file, &x);
    bool meant = !err && is_meant(r->note, patch, edit, &x) && is_made(r->note, patch, edit);
    if (meant)
        err = check_on(r, &x, patch->file);
    if (meant && !err)
        promise(r, patch->id, text, &x);
    else
        tp_expect_finish(&x);
    return err;
}

static int read_patch(const struct reader *r, const struct tp_patch *patch)
{
    int err = 0;
    for (int k = 0; k < patch->n_proofs && !err; k++)
        err = read_line(r, patch, NULL, patch->proofs[k]);
    for (int i = 0; i < patch->n_edits && !err; i++) {
        const struct tp_edit *edit = &patch->edits[i];
        for (int k = 0; k < edit->n_proofs && !err; k++)
            err = read_line(r, patch, edit, edit->proofs[k]);
    }
    return err;
}

static const struct tp_patch *find_patch(const struct tp_patch_set *set, const char *id, size_t len)
{
    for (int i = 0; i < set->n; i++) {
        if (strlen(set->patches[i].id) == len && !memcmp(set->patches[i].id, id, len))
            return &set->patches[i];
    }
    return NULL;
}

/* "[because PATCH] PROOF" */
static int read_chip_line(const struct reader *r, const char *line, const char *where)
{
    static const char because[] = "because ";
    struct tp_expect x;
    if (!strncmp(line, because, sizeof because - 1)) {
        line += sizeof because - 1;
        line += strspn(line, " ");
        size_t len = strcspn(line, " ");
        const struct tp_patch *patch = find_patch(&r->set, line, len);
        if (!patch)
            return tp_fail(r->e, TP_STATUS_INPUT, -EINVAL, where, "name a patch of this folder",
                           "no patch is called '%.*s'", (int)len, line);
        return read_line(r, patch, NULL, line + len + strspn(line + len, " "));
    }
    int err = parse(r, line, where, &x);
    const char *variant = json_string_value(json_object_get(r->note, "variant"));
    if (!err && variant)
        err = check_on(r, &x, where);
    if (!err && variant && (!x.variant || x.variant == *variant))
        promise(r, TP_CHIPS_PROMISE, line, &x);
    else
        tp_expect_finish(&x);
    return err;
}

static int read_chips(const struct reader *r, const char *patches_dir)
{
    struct tp_buf text = {0};
    char *path = tp_join(patches_dir, TP_CHIPS_FILE);
    int err = 0, number = 1;
    r->out->has_chips = tp_exists(path);
    if (r->out->has_chips)
        err = tp_read_file(path, 1 << 20, &text, r->e);
    for (const char *s = tp_buf_str(&text); *s && !err; number++) {
        const char *end = strchrnul(s, '\n');
        char *line = tp_strndup(s, (size_t)(end - s));
        char *where = tp_asprintf("%s:%d", TP_CHIPS_FILE, number);
        if (*line && *line != '#')
            err = read_chip_line(r, line, where);
        free(where);
        free(line);
        s = *end ? end + 1 : end;
    }
    free(path);
    tp_buf_finish(&text);
    return err;
}

int tp_promises_read(const char *patches_dir, const json_t *note, struct tp_promises *out,
                     struct tp_error *e)
{
    *out = (struct tp_promises){0};
    struct reader r = {.note = note, .out = out, .e = e};
    int err = tp_patch_set_read(patches_dir, &r.set, e);
    for (int i = 0; i < r.set.n && !err; i++)
        err = read_patch(&r, &r.set.patches[i]);
    if (!err)
        err = read_chips(&r, patches_dir);
    tp_patch_set_finish(&r.set);
    return err;
}

void tp_promises_excuse(struct tp_promises *p, const char *const *ids)
{
    int kept = 0;
    for (int i = 0; i < p->n; i++) {
        bool out = false;
        for (int k = 0; ids && ids[k]; k++)
            out = out || !strcmp(ids[k], p->at[i].patch);
        if (out)
            tp_promise_finish(&p->at[i]);
        else
            p->at[kept++] = p->at[i];
    }
    p->n = kept;
}

void tp_promises_finish(struct tp_promises *p)
{
    for (int i = 0; i < p->n; i++)
        tp_promise_finish(&p->at[i]);
    free(p->at);
    *p = (struct tp_promises){0};
}

void tp_promise_finish(struct tp_promise *promise)
{
    free(promise->patch);
    free(promise->chip);
    tp_expect_finish(&promise->expect);
}

/* ---- keeping ---- */

/* What the client itself found wrong; caller frees, NULL: nothing. */
static char *first_failure(const json_t *checks)
{
    size_t i;
    const json_t *check;
    json_array_foreach(checks, i, check)
    {
        if (!json_is_true(json_object_get(check, "ok")))
            return tp_asprintf("%s: %s", json_string_value(json_object_get(check, "id")),
                               json_string_value(json_object_get(check, "detail")));
    }
    return NULL;
}

bool tp_promise_keep(const struct tp_promise *promise, const struct tp_seen *seen, json_t *checks)
{
    const char *run = promise->expect.run;
    bool all_well = run && !strstr(run, "TURNPIKE_KGSL_FAULTS=");
    char *detail = all_well ? first_failure(seen->checks) : NULL;
    bool ok = !detail && tp_expect_holds(&promise->expect, seen, &detail);
    json_array_append_new(checks, json_pack("{s:s, s:b, s:s}", "id", promise->patch, "ok", ok,
                                            "detail", detail ? detail : ""));
    free(detail);
    return ok;
}

bool tp_promises_keep(const struct tp_promises *p, const struct tp_seen *seen, bool of_runs,
                      json_t *checks)
{
    bool all = true;
    for (int i = 0; i < p->n; i++) {
        const struct tp_expect *x = &p->at[i].expect;
        if (x->run || tp_expect_needs_run(x) != of_runs)
            continue;
        if (x->n_on && (!seen->chip ||
                        !tp_expect_is_on(x, seen->chip, generation_of(seen->note, seen->chip))))
            continue;
        all = tp_promise_keep(&p->at[i], seen, checks) && all;
    }
    return all;
}

static bool is_same_run(const struct tp_promise *a, const struct tp_promise *b)
{
    if (!a->expect.run || !b->expect.run || strcmp(a->expect.run, b->expect.run) != 0)
        return false;
    return a->chip && b->chip ? !strcmp(a->chip, b->chip) : a->chip == b->chip;
}

bool tp_promises_is_run(const struct tp_promises *p, int i)
{
    for (int k = 0; k < i; k++) {
        if (is_same_run(&p->at[k], &p->at[i]))
            return false;
    }
    return p->at[i].expect.run != NULL;
}

bool tp_promises_keep_run(const struct tp_promises *p, int i, const struct tp_seen *seen,
                          json_t *checks)
{
    bool all = true;
    for (int k = i; k < p->n; k++) {
        if (is_same_run(&p->at[k], &p->at[i]))
            all = tp_promise_keep(&p->at[k], seen, checks) && all;
    }
    return all;
}
