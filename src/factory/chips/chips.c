#include "factory/chips/chips.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "factory/edit/scope.h"

/* Settings that patches are about, and the value worth telling. */
static const struct {
    const char *name, *value;
} quirks[] = {
    {"disable_gmem", "True"},
    {"has_early_preamble", "False"},
    {"has_scalar_predicates", "False"},
    {"enable_tp_ubwc_flag_hint", "True"},
};
enum { QUIRKS = sizeof quirks / sizeof *quirks };

static struct tp_places find(struct tp_text *t, enum tp_scope_kind kind, char *name,
                             struct tp_span within)
{
    struct tp_scope scope = {.kind = kind, .name = name};
    struct tp_places all, inside = {0};
    tp_scopes_find(&scope, 1, t, &all, NULL);
    for (int i = 0; i < all.n; i++) {
        if (all.at[i].span.first >= within.first && all.at[i].span.last <= within.last)
            TP_PUSH(inside.at, inside.n, inside.cap) = all.at[i];
    }
    tp_places_finish(&all);
    return inside;
}

static char *word(const struct tp_text *t, int token)
{
    size_t n;
    const char *s = tp_token_text(t, token, &n);
    return tp_strndup(s, n);
}

/* A string literal without its quotes. */
static char *unquoted(const struct tp_text *t, int token)
{
    size_t n;
    const char *s = tp_token_text(t, token, &n);
    return n >= 2 ? tp_strndup(s + 1, n - 2) : tp_strdup("");
}

static uint64_t number(const struct tp_text *t, int token)
{
    char *s = word(t, token);
    uint64_t value = strtoull(s, NULL, 0);
    free(s);
    return value;
}

/* GPUId's own rule for an old three-digit number: FD650 is 0x060500ff. */
static uint64_t id_of_number(uint64_t n)
{
    return (n / 100) << 24 | (n / 10 % 10) << 16 | (n % 10) << 8 | 0xff;
}

/* GPUId(650), GPUId(chip_id = 0x…, name = "…") */
static void read_id(const struct tp_text *t, const struct tp_place *call, char **name, uint64_t *id)
{
    uint64_t gpu = 0;
    bool has_id = false;
    *name = NULL;
    for (int i = call->open + 1; i < call->close; i++) {
        bool named = tp_token_is(t, i + 1, "=") && i + 2 < call->close;
        if (t->tokens.at[i].kind == TP_TOKEN_NUMBER) {
            gpu = number(t, i);
        } else if (named && tp_token_is(t, i, "chip_id")) {
            *id = number(t, i + 2);
            has_id = true;
        } else if (named && tp_token_is(t, i, "gpu_id")) {
            gpu = number(t, i + 2);
        } else if (named && tp_token_is(t, i, "name") &&
                   t->tokens.at[i + 2].kind == TP_TOKEN_STRING) {
            free(*name);
            *name = unquoted(t, i + 2);
        }
        i += named ? 2 : 0;
    }
    if (!has_id)
        *id = id_of_number(gpu);
    if (!*name)
        *name = tp_asprintf("FD%llu", (unsigned long long)gpu);
}

/* Notes each `quirk = value` in a run of tokens; a later one overrides. */
static void read_settings(const struct tp_text *t, struct tp_span span, char *values[QUIRKS])
{
    for (int i = span.first; i + 2 <= span.last; i++) {
        for (int q = 0; q < QUIRKS; q++) {
            if (tp_token_is(t, i, quirks[q].name) && tp_token_is(t, i + 1, "=")) {
                free(values[q]);
                values[q] = word(t, i + 2);
            }
        }
    }
}

/* The settings of one add_gpus call: its templates in order, those defined elsewhere first looked up
 * by their names. */
static json_t *read_quirks(struct tp_text *t, const struct tp_place *call)
{
    char *values[QUIRKS] = {0};
    int list = -1;
    for (int i = call->open + 1; i < call->close && list < 0; i++) {
        /* CHIP.A7XX, [templates] */
        if (tp_token_is(t, i, "CHIP") && tp_token_is(t, i + 3, ",") && tp_token_is(t, i + 4, "["))
            list = i + 4;
    }
    int end = list >= 0 ? t->tokens.at[list].partner : -1;
    for (int i = list + 1; list >= 0 && i < end; i++) {
        int partner = t->tokens.at[i].partner;
        if (partner > i) { /* GPUProps( … ) written here */
            read_settings(t, (struct tp_span){i, partner}, values);
            i = partner;
        } else if (t->tokens.at[i].kind == TP_TOKEN_WORD && !tp_token_is(t, i + 1, "(")) {
            char *name = word(t, i);
            struct tp_places places = find(t, TP_SCOPE_INITIALISER, name,
                                           (struct tp_span){0, t->tokens.n - 1});
            for (int k = 0; k < places.n; k++)
                read_settings(t, places.at[k].span, values);
            tp_places_finish(&places);
            free(name);
        }
    }
    json_t *out = json_array();
    for (int q = 0; q < QUIRKS; q++) {
        if (values[q] && !strcmp(values[q], quirks[q].value))
            json_array_append_new(out, json_sprintf("%s = %s", quirks[q].name, values[q]));
        free(values[q]);
    }
    return out;
}

static json_t *chip_called(json_t *chips, const char *name, const char *generation, json_t *settings)
{
    size_t i;
    json_t *chip;
    json_array_foreach(chips, i, chip)
    {
        if (!strcmp(json_string_value(json_object_get(chip, "name")), name) &&
            !strcmp(json_string_value(json_object_get(chip, "generation")), generation) &&
            json_equal(json_object_get(chip, "quirks"), settings))
            return chip;
    }
    chip = json_pack("{s:s, s:[], s:s, s:O}", "name", name, "chip_ids", "generation", generation,
                     "quirks", settings);
    if (chip)
        json_array_append_new(chips, chip);
    return chip;
}

json_t *tp_chips_read(struct tp_text *t)
{
    json_t *chips = json_array();
    char add_gpus[] = "add_gpus", gpu_id[] = "GPUId";
    struct tp_places calls = find(t, TP_SCOPE_CALL, add_gpus, (struct tp_span){0, t->tokens.n - 1});
    for (int i = 0; i < calls.n; i++) {
        const struct tp_place *call = &calls.at[i];
        char *generation = tp_strdup("");
        for (int k = call->open; k + 2 < call->close; k++) {
            if (tp_token_is(t, k, "CHIP") && tp_token_is(t, k + 1, ".")) {
                free(generation);
                generation = word(t, k + 2);
                break;
            }
        }
        json_t *settings = read_quirks(t, call);
        struct tp_places ids = find(t, TP_SCOPE_CALL, gpu_id, call->span);
        for (int k = 0; k < ids.n; k++) {
            char *name;
            uint64_t id = 0;
            read_id(t, &ids.at[k], &name, &id);
            json_t *chip = chip_called(chips, name, generation, settings);
            if (chip)
                json_array_append_new(json_object_get(chip, "chip_ids"),
                                      json_sprintf("0x%08llx", (unsigned long long)id));
            free(name);
        }
        tp_places_finish(&ids);
        json_decref(settings);
        free(generation);
    }
    tp_places_finish(&calls);
    return chips;
}

/* "FD650" says 6, 5, 0; an id of the old kind says the same in three bytes. */
static bool name_disagrees(const char *name, const char *id_text)
{
    unsigned digits;
    int used = 0;
    if (sscanf(name, "FD%3u%n", &digits, &used) != 1 || used != 5 || name[5])
        return false;
    uint64_t id = strtoull(id_text, NULL, 16) & 0xffffffff;
    unsigned core = id >> 24 & 0xff, major = id >> 16 & 0xff, minor = id >> 8 & 0xff;
    if (core > 9 || major > 9 || minor > 9)
        return false; /* newer ids are not made of the number's digits */
    return core != digits / 100 || major != digits / 10 % 10;
}

json_t *tp_chips_warnings(const json_t *chips)
{
    json_t *out = json_array(), *owners = json_object(), *chip, *id;
    size_t i, k;
    json_array_foreach(chips, i, chip)
    {
        const char *name = json_string_value(json_object_get(chip, "name"));
        json_array_foreach(json_object_get(chip, "chip_ids"), k, id)
        {
            const char *text = json_string_value(id);
            const char *owner = json_string_value(json_object_get(owners, text ? text : ""));
            if (!name || !text)
                continue;
            if (owner)
                json_array_append_new(out, json_sprintf("%s is claimed by %s and by %s", text, owner,
                                                        name));
            json_object_set_new(owners, text, json_string(name));
            if (name_disagrees(name, text))
                json_array_append_new(out, json_sprintf("%s is called %s, and its digits say another "
                                                        "GPU", text, name));
        }
    }
    json_decref(owners);
    return out;
}

void tp_chips_add_to_note(struct tp_tree *tree, json_t *note)
{
    struct tp_tree_file *file;
    if (tp_tree_file(tree, TP_CHIPS_PATH, &file, NULL) == 0 && file->exists)
        json_object_set_new(note, "chips", tp_chips_read(&file->text));
}

/* The first chip_id that is no number; NULL: none is. Caller frees. */
static char *wrong_id(const struct tp_text *t)
{
    for (int i = 0; i + 2 < t->tokens.n; i++) {
        if (!tp_token_is(t, i, "chip_id") || !tp_token_is(t, i + 1, "=") ||
            t->tokens.at[i + 2].kind != TP_TOKEN_NUMBER)
            continue;
        char *text = word(t, i + 2), *end;
        strtoull(text, &end, 0);
        if (*end)
            return text;
        free(text);
    }
    return NULL;
}

int tp_chips_of_tree(const char *tree, char **mesa_version, json_t **chips, struct tp_error *e)
{
    char *path = tp_join(tree, TP_CHIPS_PATH), *version = tp_join(tree, "VERSION");
    struct tp_buf table = {0}, text = {0};
    *mesa_version = NULL;
    *chips = NULL;
    int r = 0;
    if (!tp_is_file(version) || !tp_is_file(path))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, tree, "name the folder of Mesa's source",
                    "is no tree of Mesa: it lacks %s",
                    tp_is_file(version) ? TP_CHIPS_PATH : "VERSION");
    if (!r)
        r = tp_read_file(version, 4096, &text, e);
    if (!r)
        r = tp_read_file(path, 16 << 20, &table, e);
    if (!r) {
        struct tp_text t;
        tp_text_init(&t, TP_LANG_PYTHON, tp_buf_str(&table), table.len);
        *chips = tp_chips_read(&t);
        char *wrong = wrong_id(&t);
        if (wrong)
            r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "unpack Mesa's source anew",
                        "the chip id %s is no number", wrong);
        free(wrong);
        tp_text_finish(&t);
        *mesa_version = tp_strndup(tp_buf_str(&text), strcspn(tp_buf_str(&text), " \t\r\n"));
        if (!r && !json_array_size(*chips))
            r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "name the folder of Mesa's source",
                        "it has no table of GPUs (add_gpus)");
    }
    tp_buf_finish(&table);
    tp_buf_finish(&text);
    free(path);
    free(version);
    return r;
}
