#include "factory/prove/promises.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "factory/edit/patchfile.h"

static const char *note_state(const json_t *note, const char *id)
{
    size_t i;
    json_t *patch;
    json_array_foreach(json_object_get(note, "patches"), i, patch)
    {
        const char *name = json_string_value(json_object_get(patch, "id"));
        if (name && !strcmp(name, id))
            return json_string_value(json_object_get(patch, "state"));
    }
    return NULL;
}

/* Is this promise about this driver? What the note calls absorbed or not applicable promises nothing;
 * a patch that the note does not name, but that belongs to target and variant, does. */
static bool is_promised(const json_t *note, const struct tp_patch *patch, const struct tp_expect *x)
{
    const char *target = json_string_value(json_object_get(note, "target"));
    const char *variant = json_string_value(json_object_get(note, "variant"));
    const char *state = note_state(note, patch->id);
    if (!target || !variant || (patch->off && !state))
        return false;
    if (state && strcmp(state, "applied") != 0)
        return false;
    unsigned bit = *variant == 'p' ? TP_VARIANT_P : TP_VARIANT_B;
    bool of_variant = x->variant ? x->variant == *variant : (patch->variants & bit) != 0;
    return of_variant && (patch->targets & tp_target_bit(target));
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

static int read_line(const struct tp_patch *patch, const char *text, const json_t *note,
                     struct tp_promises *out, struct tp_error *e)
{
    struct tp_expect x;
    char *line = fill_in(note, text);
    int r = tp_expect_parse(line, patch->file, &x, e);
    free(line);
    if (!r && is_promised(note, patch, &x))
        TP_PUSH(out->at, out->n, out->cap) = (struct tp_promise){tp_strdup(patch->id), x};
    else if (!r)
        tp_expect_finish(&x);
    return r;
}

int tp_promises_read(const char *patches_dir, const json_t *note, struct tp_promises *out,
                     struct tp_error *e)
{
    struct tp_patch_set set = {0};
    *out = (struct tp_promises){0};
    int r = tp_patch_set_read(patches_dir, &set, e);
    for (int i = 0; i < set.n && !r; i++) {
        for (int k = 0; k < set.patches[i].n_proofs && !r; k++)
            r = read_line(&set.patches[i], set.patches[i].proofs[k], note, out, e);
    }
    tp_patch_set_finish(&set);
    return r;
}

void tp_promises_finish(struct tp_promises *p)
{
    for (int i = 0; i < p->n; i++) {
        free(p->at[i].patch);
        tp_expect_finish(&p->at[i].expect);
    }
    free(p->at);
    *p = (struct tp_promises){0};
}

bool tp_promise_keep(const struct tp_promise *promise, const struct tp_seen *seen, json_t *checks)
{
    char *detail = NULL;
    bool ok = tp_expect_holds(&promise->expect, seen, &detail);
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
        if (tp_expect_needs_run(x) == of_runs && !x->run)
            all = tp_promise_keep(&p->at[i], seen, checks) && all;
    }
    return all;
}
