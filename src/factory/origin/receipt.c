#include "factory/origin/receipt.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "factory/package/meta.h"

/* A receipt has some 100 KB. */
#define MOST_BYTES ((size_t)8 << 20)
#define MOST_IDS   256u

int tp_receipt_read(const char *path, json_t **out, struct tp_error *e)
{
    *out = NULL;
    struct tp_buf text = {0};
    json_error_t error;
    int r = tp_read_file(path, MOST_BYTES, &text, e);
    if (!r) {
        *out = json_loadb(tp_buf_str(&text), text.len, JSON_REJECT_DUPLICATES, &error);
        if (!json_is_object(*out)) {
            char *where = tp_asprintf("%s:%d", path, *out ? 1 : error.line);
            r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "name the receipt that lay beside the archive",
                        "is no receipt: %s", *out ? "it is no JSON object" : error.text);
            free(where);
            json_decref(*out);
            *out = NULL;
        }
    }
    tp_buf_finish(&text);
    return r;
}

static int bad_field(const char *where, const char *field, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
                   "name the receipt that turnpike build wrote beside the archive",
                   "is no receipt of a build: '%s' is missing, or is not what it should be", field);
}

static bool is_hex(const char *s, size_t n)
{
    return strlen(s) == n && s[strspn(s, "0123456789abcdef")] == 0;
}

/* Patch ids and the like: nothing that an option or a path could be made of. */
static bool is_word(const char *s)
{
    size_t n = strlen(s);
    return n && n <= 64 && isalnum((unsigned char)*s) &&
           !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")];
}

static bool is_file_name(const char *s)
{
    size_t n = strlen(s);
    return n > 4 && n <= 250 && *s != '.' && !strchr(s, '/') && !strcmp(s + n - 4, ".zip");
}

/* Absent: an older receipt, of a build without either. */
static int read_ids(const json_t *options, const char *key, const char *where, const char ***out,
                    struct tp_error *e)
{
    const json_t *list = json_object_get(options, key);
    size_t n = json_array_size(list), i;
    json_t *item;
    *out = tp_calloc((n <= MOST_IDS ? n : 0) + 1, sizeof **out);
    if (n > MOST_IDS || (list && !json_is_array(list)))
        return bad_field(where, key, e);
    json_array_foreach(list, i, item)
    {
        (*out)[i] = json_string_value(item);
        if (!(*out)[i] || !is_word((*out)[i]))
            return bad_field(where, key, e);
    }
    return 0;
}

int tp_plan_read(const json_t *receipt, const char *where, struct tp_plan *out, struct tp_error *e)
{
    *out = (struct tp_plan){0};
    const json_t *schema = json_object_get(receipt, "schema");
    if (json_integer_value(schema) > TP_RECEIPT_SCHEMA)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "use the turnpike that it names, or a newer one",
                       "is a receipt of schema %lld, which is newer than this turnpike knows (%d)",
                       (long long)json_integer_value(schema), TP_RECEIPT_SCHEMA);
    const json_t *archive = json_object_get(receipt, "archive"), *mesa = json_object_get(receipt, "mesa");
    const char *variant = tp_json_text(receipt, "variant");
    out->archive = tp_json_text(archive, "file");
    out->archive_sha256 = tp_json_text(archive, "sha256");
    out->target = tp_json_text(receipt, "target");
    out->version = tp_json_text(receipt, "version");
    out->build_commit = tp_json_text(receipt, "build_commit");
    out->variant = *variant;
    const json_t *epoch = json_object_get(receipt, "source_date_epoch");
    out->epoch = (int64_t)json_integer_value(epoch);
    out->mesa.version = tp_json_text(mesa, "version");
    out->mesa.kind = tp_json_text(mesa, "source");
    out->mesa.spec = tp_json_text(mesa, "spec");
    out->mesa.revision = tp_json_text(mesa, "revision");
    out->mesa.sha256 = tp_json_text(mesa, "sha256");
    const struct {
        const char *name;
        bool good;
    } fields[] = {
        {"archive.file", is_file_name(out->archive)},
        {"archive.sha256", is_hex(out->archive_sha256, 64)},
        {"target", is_word(out->target)},
        {"version", is_word(out->version)},
        {"variant", !strcmp(variant, "b") || !strcmp(variant, "p")},
        {"source_date_epoch", json_is_integer(epoch) && out->epoch >= 0},
        {"mesa.version", *out->mesa.version != 0},
        {"mesa.source", is_word(out->mesa.kind)},
        {"mesa.revision", !*out->mesa.revision || is_hex(out->mesa.revision, 40)},
        {"mesa.sha256", !*out->mesa.sha256 || is_hex(out->mesa.sha256, 64)},
        {"patches", json_is_array(json_object_get(receipt, "patches"))},
        {"schema", json_integer_value(schema) == TP_RECEIPT_SCHEMA},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].good)
            return bad_field(where, fields[i].name, e);
    }
    const json_t *options = json_object_get(receipt, "options");
    int r = read_ids(options, "with", where, &out->with, e);
    return r ? r : read_ids(options, "without", where, &out->without, e);
}

void tp_plan_finish(struct tp_plan *plan)
{
    free(plan->with);
    free(plan->without);
    *plan = (struct tp_plan){0};
}

char *tp_plan_source(const struct tp_plan *plan, const char *git_url)
{
    const char *spec = plan->mesa.spec;
    if (!strncmp(spec, "debian:", 7) && is_hex(plan->mesa.sha256, 64))
        return tp_strdup(spec);
    size_t n = strlen(git_url);
    if (!strncmp(spec, "git:", 4) && !strncmp(spec + 4, git_url, n) && spec[4 + n] == '@' &&
        *plan->mesa.revision)
        return tp_asprintf("git:%s@%s", git_url, plan->mesa.revision);
    return NULL;
}
