#include "factory/origin/rebuild.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/driver_file.h"
#include "base/fs.h"
#include "base/json.h"
#include "factory/package/archive.h"
#include "factory/package/driver_check.h"
#include "factory/package/elf_file.h"
#include "factory/package/meta.h"

/* No archive is larger; base/driver_file.h bounds what is in it. */
#define MOST_BYTES ((size_t)512 << 20)
/* Sections told by name; of more, how many. */
#define MOST_TOLD 24u

void tp_differences_finish(struct tp_differences *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->at[i].where);
        free(d->at[i].text);
    }
    free(d->at);
    *d = (struct tp_differences){0};
}

bool tp_differences_decide(const struct tp_differences *d)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->at[i].decides)
            return true;
    }
    return false;
}

void tp_differences_add(struct tp_differences *d, bool decides, const char *where, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    TP_PUSH(d->at, d->n, d->cap) = (struct tp_difference){decides, tp_strdup(where), text};
}

/* ---- before ---- */

static const struct tp_patch *patch_here(const struct tp_patch_set *here, const char *id)
{
    for (int i = 0; i < here->n; i++) {
        if (!strcmp(here->patches[i].id, id))
            return &here->patches[i];
    }
    return NULL;
}

static void add_patch(struct tp_differences *out, const char *id, const char *what)
{
    char *where = tp_asprintf("patch %s", id);
    tp_differences_add(out, true, where, "%s", what);
    free(where);
}

void tp_rebuild_compare_patches(const json_t *receipt, const struct tp_plan *plan,
                                const struct tp_patch_set *here, struct tp_differences *out)
{
    size_t i;
    json_t *patch;
    const struct tp_selection selection = {.target = plan->target,
                                           .variant = plan->variant,
                                           .with = plan->with,
                                           .without = plan->without};
    const json_t *patches = json_object_get(receipt, "patches");
    json_array_foreach(patches, i, patch)
    {
        const char *id = tp_json_text(patch, "id");
        const struct tp_patch *p = patch_here(here, id);
        if (!p)
            add_patch(out, id, "is in the receipt, and not here");
        else if (strcmp(p->sha256, tp_json_text(patch, "sha256")))
            add_patch(out, id, "is another one here: its SHA-256 differs from the receipt's");
    }
    for (int k = 0; k < here->n; k++) {
        if (tp_selection_has(&selection, &here->patches[k]) &&
            !tp_json_find(patches, "id", here->patches[k].id))
            add_patch(out, here->patches[k].id, "is made here, and is not in the receipt");
    }
}

void tp_rebuild_compare_tools(const json_t *receipt, const json_t *here, struct tp_differences *out)
{
    const char *name;
    json_t *was;
    json_object_foreach(json_object_get(receipt, "toolchain"), name, was)
    {
        const json_t *is = json_object_get(here, name);
        /* a sysroot that is yet to be fetched has no libraries to compare; how a compiler is started,
         * of which old receipts tell, is none of what it makes */
        if (json_equal(was, is) || (!is && !json_is_string(was)) || !strcmp(name, "launcher"))
            continue;
        if (json_is_string(was))
            tp_differences_add(out, false, name, "was %s; here it is %s", json_string_value(was),
                               json_is_string(is) ? json_string_value(is) : "not there");
        else
            tp_differences_add(out, false, name, "differ from the receipt's");
    }
}

static void compare_text(struct tp_differences *out, const char *what, const char *was, const char *is)
{
    if (*was && strcmp(was, is))
        tp_differences_add(out, true, "Mesa", "its %s was %s; here it is %s", what, was,
                           *is ? is : "not known");
}

void tp_rebuild_compare_mesa(const struct tp_plan *plan, const char *version, const char *revision,
                             const char *sha256, struct tp_differences *out)
{
    compare_text(out, "version", plan->mesa.version, version);
    /* Each says it all; a folder may have neither. */
    if (*plan->mesa.revision && *revision)
        compare_text(out, "revision", plan->mesa.revision, revision);
    if (*plan->mesa.sha256 && *sha256)
        compare_text(out, "tarball's SHA-256", plan->mesa.sha256, sha256);
}

/* ---- after ---- */

static const struct tp_elf_section *find_section(const struct tp_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->n_sections; i++) {
        if (!strcmp(elf->sections[i].name, name))
            return &elf->sections[i];
    }
    return NULL;
}

/* A section's bytes in the file; empty for one that has none (SHT_NOBITS). */
static const char *bytes_of(const struct tp_elf_section *s, const struct tp_buf *file, size_t *n)
{
    *n = 0;
    if (s->type == SHT_NOBITS || s->offset_bytes > file->len || s->size_bytes > file->len - s->offset_bytes)
        return "";
    *n = (size_t)s->size_bytes;
    return tp_buf_str(file) + s->offset_bytes;
}

/* What is otherwise in a section, or NULL. Caller frees. */
static char *compare_section(const struct tp_elf_section *a, const struct tp_buf *file_a,
                             const struct tp_elf_section *b, const struct tp_buf *file_b)
{
    if (a->size_bytes != b->size_bytes)
        return tp_asprintf("has %llu bytes; again it has %llu", (unsigned long long)a->size_bytes,
                           (unsigned long long)b->size_bytes);
    size_t n, m, differ = 0, first = 0;
    const char *x = bytes_of(a, file_a, &n), *y = bytes_of(b, file_b, &m);
    for (size_t i = 0; i < n && i < m; i++) {
        if (x[i] != y[i] && !differ++)
            first = i;
    }
    if (n != m)
        return tp_strdup("is in one of the files only");
    return differ ? tp_asprintf("%zu of %zu bytes differ, the first at 0x%zx", differ, n, first) : NULL;
}

static void compare_sections(const struct tp_elf *a, const struct tp_buf *file_a, const struct tp_elf *b,
                             const struct tp_buf *file_b, struct tp_differences *out)
{
    size_t differ = 0;
    for (size_t i = 0; i < a->n_sections; i++) {
        const struct tp_elf_section *s = &a->sections[i], *t = find_section(b, s->name);
        char *text = t ? compare_section(s, file_a, t, file_b) : tp_strdup("is not there again");
        if (text && differ++ < MOST_TOLD)
            tp_differences_add(out, true, s->name, "%s", text);
        free(text);
    }
    for (size_t i = 0; i < b->n_sections; i++) {
        if (!find_section(a, b->sections[i].name) && differ++ < MOST_TOLD)
            tp_differences_add(out, true, b->sections[i].name, "was not there before");
    }
    if (differ > MOST_TOLD)
        tp_differences_add(out, true, "the driver", "%zu more sections differ", differ - MOST_TOLD);
    if (!differ)
        tp_differences_add(out, true, "the driver",
                           "differs outside its sections: in its headers or between them");
}

static void compare_drivers(const struct tp_buf *a, const struct tp_buf *b, struct tp_differences *out)
{
    char was[TP_SHA256_HEX], is[TP_SHA256_HEX];
    tp_sha256(a->data, a->len, was);
    tp_sha256(b->data, b->len, is);
    tp_differences_add(out, true, "the driver", "had the SHA-256 %s; again it has %s", was, is);
    struct tp_elf *x = NULL, *y = NULL;
    if (!tp_elf_open_memory(tp_buf_str(a), a->len, "the driver", &x, NULL) &&
        !tp_elf_open_memory(tp_buf_str(b), b->len, "the driver", &y, NULL))
        compare_sections(x, a, y, b, out);
    tp_elf_close(y);
    tp_elf_close(x);
}

static char *shown(const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL, *copy;
    copy = text ? tp_asprintf("%.200s", text) : tp_strdup("missing");
    free(text);
    return copy;
}

static void compare_meta(const struct tp_buf *a, const struct tp_buf *b, struct tp_differences *out)
{
    json_t *x = json_loadb(tp_buf_str(a), a->len, 0, NULL), *y = json_loadb(tp_buf_str(b), b->len, 0, NULL);
    size_t before = out->n;
    const char *key;
    json_t *value;
    json_object_foreach(x, key, value)
    {
        const json_t *other = json_object_get(y, key);
        if (json_equal(value, other))
            continue;
        char *was = shown(value), *is = shown(other);
        tp_differences_add(out, true, "meta.json", "%.80s was %s; again it is %s", key, was, is);
        free(was);
        free(is);
    }
    json_object_foreach(y, key, value)
    {
        if (!json_object_get(x, key))
            tp_differences_add(out, true, "meta.json", "%.80s was not there", key);
    }
    if (out->n == before)
        tp_differences_add(out, true, "meta.json", "says the same in another form");
    json_decref(x);
    json_decref(y);
}

static bool same(const struct tp_buf *a, const struct tp_buf *b)
{
    return a->len == b->len && !memcmp(tp_buf_str(a), tp_buf_str(b), a->len);
}

/* One of the archives' two entries, from both; false where one of them cannot be had. */
static bool read_both(int (*read)(const char *, struct tp_buf *, struct tp_error *), const char *archive,
                      const char *again, struct tp_buf *a, struct tp_buf *b, struct tp_differences *out)
{
    const char *const paths[] = {archive, again};
    struct tp_buf *const into[] = {a, b};
    for (int i = 0; i < 2; i++) {
        struct tp_error why = {0};
        if (read(paths[i], into[i], &why)) {
            tp_differences_add(out, true, why.where, "%s", why.what);
            return false;
        }
    }
    return true;
}

static int read_driver(const char *path, struct tp_buf *out, struct tp_error *e)
{
    return tp_driver_read(path, out, NULL, e);
}

int tp_rebuild_compare(const char *archive, const char *again, bool *equal, struct tp_differences *out,
                       struct tp_error *e)
{
    struct tp_buf a = {0}, b = {0}, driver_a = {0}, driver_b = {0}, meta_a = {0}, meta_b = {0};
    size_t before = out->n;
    *equal = false;
    int r = tp_read_file(archive, MOST_BYTES, &a, e);
    if (!r)
        r = tp_read_file(again, MOST_BYTES, &b, e);
    if (r || (*equal = same(&a, &b)))
        goto out;
    if (read_both(read_driver, archive, again, &driver_a, &driver_b, out) && !same(&driver_a, &driver_b))
        compare_drivers(&driver_a, &driver_b, out);
    if (read_both(tp_driver_read_meta, archive, again, &meta_a, &meta_b, out) && !same(&meta_a, &meta_b))
        compare_meta(&meta_a, &meta_b, out);
    if (out->n == before)
        tp_differences_add(out, true, "the archive",
                           "driver and meta.json are the same; what holds them differs: order, times, "
                           "compression or other entries");
out:
    tp_buf_finish(&meta_b);
    tp_buf_finish(&meta_a);
    tp_buf_finish(&driver_b);
    tp_buf_finish(&driver_a);
    tp_buf_finish(&b);
    tp_buf_finish(&a);
    return r;
}

bool tp_rebuild_only_commit(const char *archive, const char *again, char **commit)
{
    struct tp_buf a = {0}, b = {0}, driver = {0}, meta_a = {0}, meta_b = {0};
    json_t *x = NULL, *y = NULL;
    bool only = false;
    *commit = NULL;
    if (tp_read_file(archive, MOST_BYTES, &a, NULL) || tp_driver_read(again, &driver, NULL, NULL) ||
        tp_driver_read_meta(archive, &meta_a, NULL) || tp_driver_read_meta(again, &meta_b, NULL))
        goto out;
    x = json_loadb(tp_buf_str(&meta_a), meta_a.len, 0, NULL);
    y = json_loadb(tp_buf_str(&meta_b), meta_b.len, 0, NULL);
    json_t *was = json_object_get(x, "buildCommit");
    if (!json_is_string(was) || !json_object_get(y, "buildCommit"))
        goto out;
    /* the archive that would have been made under the other's revision */
    json_object_set(y, "buildCommit", was);
    tp_meta_print(y, &meta_b);
    const struct tp_archive_entry entries[] = {
        {"meta.json", meta_b.data, meta_b.len},
        {TP_DRIVER_LIBRARY, driver.data, driver.len},
    };
    only = !tp_archive_build(entries, 2, again, &b, NULL) && same(&a, &b);
    if (only)
        *commit = tp_strdup(json_string_value(was));
out:
    json_decref(y);
    json_decref(x);
    tp_buf_finish(&meta_b);
    tp_buf_finish(&meta_a);
    tp_buf_finish(&driver);
    tp_buf_finish(&b);
    tp_buf_finish(&a);
    return only;
}
