/* Clauses are those of the SPDX specification 2.3. */
#include "factory/origin/spdx.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/driver_file.h"
#include "base/fs.h"
#include "base/json.h"
#include "factory/origin/receipt.h"
#include "factory/origin/sha1.h"
#include "factory/package/meta.h"

#define NOT_SAID "NOASSERTION"

/* A document under way. */
struct document {
    json_t *root, *packages, *files, *relationships;
};

/* "SPDXRef-Patch-driver-label": letters, digits, dots and dashes alone (clause 3.2). Caller frees. */
static char *id_of(const char *kind, const char *name)
{
    char *id = tp_asprintf("SPDXRef-%s%s%s", kind, *name ? "-" : "", name);
    for (char *s = id; *s; s++) {
        if (!isalnum((unsigned char)*s) && *s != '.' && *s != '-')
            *s = '-';
    }
    return id;
}

static void relate(struct document *d, const char *from, const char *type, const char *to)
{
    json_array_append_new(d->relationships,
                          json_pack("{s:s, s:s, s:s}", "spdxElementId", from, "relationshipType", type,
                                    "relatedSpdxElement", to));
}

static json_t *checksum(const char *algorithm, const char *value)
{
    return json_pack("{s:s, s:s}", "algorithm", algorithm, "checksumValue", value);
}

/* A package that nothing is said of yet but its name. licence: "" for none known. Borrowed. */
static json_t *add_package(struct document *d, const char *id, const char *name, const char *version,
                           const char *purpose, const char *licence)
{
    json_t *p = json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s}", "SPDXID", id, "name", name,
                          "downloadLocation", NOT_SAID, "filesAnalyzed", 0, "licenseConcluded", NOT_SAID,
                          "licenseDeclared", *licence ? licence : NOT_SAID, "copyrightText", NOT_SAID,
                          "primaryPackagePurpose", purpose);
    if (p && *version)
        json_object_set_new(p, "versionInfo", json_string(version));
    json_array_append_new(d->packages, p);
    return p;
}

static void set_sha256(json_t *package, const char *sum)
{
    if (*sum)
        json_object_set_new(package, "checksums", json_pack("[o]", checksum("SHA256", sum)));
}

static void set_text(json_t *package, const char *key, char *text)
{
    json_object_set_new(package, key, json_string(text));
    free(text);
}

/* ---- the archive, its files, the driver ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Clause 7.9: the SHA-1 of all files' SHA-1 in order, without separators. */
static void set_analyzed(json_t *package, const struct tp_spdx_file *files, size_t n)
{
    json_object_set_new(package, "filesAnalyzed", json_true());
    char(*sums)[TP_SHA1_HEX] = tp_calloc(n + 1, sizeof *sums), all[TP_SHA1_HEX];
    struct tp_buf text = {0};
    for (size_t i = 0; i < n; i++)
        tp_sha1(files[i].data, files[i].len, sums[i]);
    qsort(sums, n, sizeof *sums, by_text);
    for (size_t i = 0; i < n; i++)
        tp_buf_adds(&text, sums[i]);
    tp_sha1(tp_buf_str(&text), text.len, all);
    json_object_set_new(package, "packageVerificationCode",
                        json_pack("{s:s}", "packageVerificationCodeValue", all));
    tp_buf_finish(&text);
    free(sums);
}

static bool is_driver(const struct tp_spdx_file *f)
{
    return strstr(f->name, ".so") != NULL;
}

static void add_files(struct document *d, const struct tp_spdx_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tp_spdx_file *f = &files[i];
        char sha1[TP_SHA1_HEX], sha256[TP_SHA256_HEX];
        tp_sha1(f->data, f->len, sha1);
        tp_sha256(f->data, f->len, sha256);
        bool binary = is_driver(f);
        char *id = id_of("File", f->name), *name = tp_asprintf("./%s", f->name);
        json_array_append_new(
            d->files, json_pack("{s:s, s:s, s:[s], s:[o, o], s:s, s:[s], s:s}", "SPDXID", id, "fileName",
                                name, "fileTypes", binary ? "BINARY" : "TEXT", "checksums",
                                checksum("SHA1", sha1), checksum("SHA256", sha256), "licenseConcluded",
                                NOT_SAID, "licenseInfoInFiles", NOT_SAID, "copyrightText", NOT_SAID));
        relate(d, "SPDXRef-Archive", "CONTAINS", id);
        if (binary)
            relate(d, "SPDXRef-Driver", "CONTAINS", id);
        free(name);
        free(id);
    }
}

static void add_lines(struct tp_buf *out, const char *title, const json_t *lines)
{
    size_t i;
    json_t *line;
    if (json_array_size(lines))
        tp_buf_addf(out, "%s%s:", out->len ? "\n" : "", title);
    json_array_foreach(lines, i, line)
        tp_buf_addf(out, "%s%s", i ? "\n" : " ", json_string_value(line) ? json_string_value(line) : "");
}

static void add_archive(struct document *d, const json_t *receipt, const char *author,
                        const struct tp_spdx_file *files, size_t n)
{
    const json_t *archive = json_object_get(receipt, "archive"), *driver = json_object_get(receipt, "driver");
    const json_t *meta = json_object_get(receipt, "meta"), *tools = json_object_get(receipt, "toolchain");
    const char *version = tp_json_text(receipt, "driver_version"), *name = tp_json_text(meta, "name");
    json_t *p = add_package(d, "SPDXRef-Archive", *name ? name : tp_json_text(archive, "file"), version,
                            "ARCHIVE", "MIT");
    json_object_set(p, "packageFileName", json_object_get(archive, "file"));
    set_sha256(p, tp_json_text(archive, "sha256"));
    if (*author)
        set_text(p, "supplier", tp_asprintf("Organization: %s", author));
    if (*tp_json_text(meta, "description"))
        json_object_set(p, "summary", json_object_get(meta, "description"));
    set_analyzed(p, files, n);
    relate(d, "SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Archive");

    p = add_package(d, "SPDXRef-Driver", tp_json_text(driver, "file"), version, "LIBRARY", "MIT");
    set_sha256(p, tp_json_text(driver, "sha256"));
    struct tp_buf flags = {0};
    add_lines(&flags, "options of meson", json_object_get(tools, "options"));
    add_lines(&flags, "machine file of meson", json_object_get(tools, "machine_file"));
    if (flags.len)
        json_object_set_new(p, "sourceInfo", json_string(tp_buf_str(&flags)));
    tp_buf_finish(&flags);
    for (size_t i = 0; i < n; i++) {
        if (is_driver(&files[i]))
            set_analyzed(p, &files[i], 1);
    }
    relate(d, "SPDXRef-Archive", "CONTAINS", "SPDXRef-Driver");
    add_files(d, files, n);
}

/* ---- what they are made from ---- */

static void add_reference(json_t *package, const char *category, const char *type, char *locator)
{
    json_t *all = json_object_get(package, "externalRefs");
    if (!all)
        json_object_set_new(package, "externalRefs", all = json_array());
    json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "referenceCategory", category, "referenceType",
                                         type, "referenceLocator", locator));
    free(locator);
}

/* As a package URL spells it: all but letters, digits and ".-_~" by their codes. Caller frees. */
static char *percent(const char *text)
{
    struct tp_buf b = {0};
    for (const char *s = text; *s; s++) {
        if (isalnum((unsigned char)*s) || strchr(".-_~", *s))
            tp_buf_addc(&b, *s);
        else
            tp_buf_addf(&b, "%%%02X", (unsigned char)*s);
    }
    return tp_buf_take(&b);
}

/* Where it is to be had, from what --mesa takes: "git:URL@REV", "debian:VERSION". */
static void locate_mesa(json_t *p, const json_t *mesa)
{
    const char *spec = tp_json_text(mesa, "spec"), *revision = tp_json_text(mesa, "revision");
    char *version = percent(tp_json_text(mesa, "version"));
    if (!strncmp(spec, "git:", 4)) {
        const char *url = spec + 4, *at = strrchr(url, '@');
        size_t n = at && !strchr(at, '/') ? (size_t)(at - url) : strlen(url);
        char *where = tp_asprintf("git+%.*s%s%s", (int)n, url, *revision ? "@" : "", revision);
        char *code = percent(where);
        if (strstr(url, "://"))
            set_text(p, "downloadLocation", tp_strdup(where));
        add_reference(p, "PACKAGE-MANAGER", "purl",
                      tp_asprintf("pkg:generic/mesa@%s?vcs_url=%s", version, code));
        free(code);
        free(where);
    } else if (!strncmp(spec, "debian:", 7)) {
        char *debian = percent(spec + 7);
        set_text(p, "downloadLocation",
                 tp_asprintf("https://snapshot.debian.org/package/mesa/%s/", debian));
        add_reference(p, "PACKAGE-MANAGER", "purl",
                      tp_asprintf("pkg:deb/debian/mesa@%s?arch=source", debian));
        free(debian);
    } else {
        add_reference(p, "PACKAGE-MANAGER", "purl", tp_asprintf("pkg:generic/mesa@%s", version));
    }
    if (!strchr(version, '%'))
        add_reference(p, "SECURITY", "cpe23Type",
                      tp_asprintf("cpe:2.3:a:mesa3d:mesa:%s:*:*:*:*:*:*:*", version));
    free(version);
}

static void add_mesa(struct document *d, const json_t *receipt)
{
    const json_t *mesa = json_object_get(receipt, "mesa");
    const char *revision = tp_json_text(mesa, "revision");
    json_t *p = add_package(d, "SPDXRef-Mesa", "mesa", tp_json_text(mesa, "version"), "SOURCE", "MIT");
    set_sha256(p, tp_json_text(mesa, "sha256"));
    set_text(p, "sourceInfo", tp_asprintf("%s%s%s", tp_json_text(mesa, "source"),
                                          *revision ? ", revision " : "", revision));
    locate_mesa(p, mesa);
    relate(d, "SPDXRef-Driver", "GENERATED_FROM", "SPDXRef-Mesa");
}

static void add_patches(struct document *d, const json_t *receipt)
{
    size_t i;
    json_t *patch;
    json_array_foreach(json_object_get(receipt, "patches"), i, patch)
    {
        const char *state = tp_json_text(patch, "state");
        char *id = id_of("Patch", tp_json_text(patch, "id"));
        json_t *p = add_package(d, id, tp_json_text(patch, "id"), tp_json_text(receipt, "turnpike"),
                                "SOURCE", "MIT");
        set_sha256(p, tp_json_text(patch, "sha256"));
        if (*tp_json_text(patch, "title"))
            json_object_set(p, "summary", json_object_get(patch, "title"));
        set_text(p, "comment", tp_asprintf("a patch of turnpike's; state on this Mesa: %s", state));
        relate(d, id, "PATCH_FOR", "SPDXRef-Mesa");
        if (!strcmp(state, "applied") || !strcmp(state, "already"))
            relate(d, id, "PATCH_APPLIED", "SPDXRef-Mesa");
        free(id);
    }
}

/* ---- what they are made with ---- */

static void add_tools(struct document *d, const json_t *receipt)
{
    const char *commit = tp_json_text(receipt, "build_commit");
    json_t *p = add_package(d, "SPDXRef-Turnpike", "turnpike", tp_json_text(receipt, "turnpike"),
                            "APPLICATION", "MIT");
    if (*commit)
        set_text(p, "sourceInfo", tp_asprintf("revision %s", commit));
    relate(d, "SPDXRef-Turnpike", "BUILD_TOOL_OF", "SPDXRef-Archive");
    const char *name;
    json_t *value, *tools = json_object_get(receipt, "toolchain");
    json_object_foreach(tools, name, value)
    {
        if (!json_is_string(value))
            continue;
        char *id = id_of("Tool", name);
        p = add_package(d, id, name, json_string_value(value), "APPLICATION", "");
        relate(d, id, "BUILD_TOOL_OF", "SPDXRef-Driver");
        free(id);
    }
    json_object_foreach(json_object_get(tools, "libraries"), name, value)
    {
        char *id = id_of("Library", name);
        p = add_package(d, id, name, "", "LIBRARY", "");
        set_sha256(p, json_string_value(value) ? json_string_value(value) : "");
        relate(d, "SPDXRef-Driver", "STATIC_LINK", id);
        free(id);
    }
}

/* The build's own time, for the document is a result of the build. */
static void set_creation(json_t *root, const json_t *receipt)
{
    time_t epoch = (time_t)json_integer_value(json_object_get(receipt, "source_date_epoch"));
    struct tm tm;
    char created[32] = "1980-01-01T00:00:00Z";
    if (epoch > 0 && gmtime_r(&epoch, &tm) && tm.tm_year < 8100)
        strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &tm);
    char *tool = tp_asprintf("Tool: turnpike-%s", tp_json_text(receipt, "turnpike"));
    json_object_set_new(root, "creationInfo",
                        json_pack("{s:s, s:[s]}", "created", created, "creators", tool));
    free(tool);
}

json_t *tp_spdx_make(const json_t *receipt, const char *author, const struct tp_spdx_file *files, size_t n)
{
    const json_t *archive = json_object_get(receipt, "archive");
    const char *file = tp_json_text(archive, "file"), *sum = tp_json_text(archive, "sha256");
    if (!*file || !*sum || !*tp_json_text(json_object_get(receipt, "driver"), "file") ||
        !*tp_json_text(json_object_get(receipt, "mesa"), "version"))
        return NULL;
    char *code = percent(file);
    char *namespace = tp_asprintf("https://spdx.org/spdxdocs/%s-%s", code, sum);
    struct document d = {
        .root = json_pack("{s:s, s:s, s:s, s:s, s:s}", "spdxVersion", "SPDX-2.3", "dataLicense", "CC0-1.0",
                          "SPDXID", "SPDXRef-DOCUMENT", "name", file, "documentNamespace", namespace),
        .packages = json_array(),
        .files = json_array(),
        .relationships = json_array(),
    };
    free(namespace);
    free(code);
    set_creation(d.root, receipt);
    add_archive(&d, receipt, author, files, n);
    add_mesa(&d, receipt);
    add_patches(&d, receipt);
    add_tools(&d, receipt);
    json_object_set_new(d.root, "packages", d.packages);
    json_object_set_new(d.root, "files", d.files);
    json_object_set_new(d.root, "relationships", d.relationships);
    return d.root;
}

int tp_spdx_write(const char *archive, const char *author, struct tp_error *e)
{
    struct tp_buf driver = {0}, meta = {0};
    char *receipt_path = tp_asprintf("%s.receipt.json", archive);
    char *path = tp_asprintf("%s.spdx.json", archive);
    json_t *receipt = NULL, *document = NULL;
    int r = tp_receipt_read(receipt_path, &receipt, e);
    if (!r)
        r = tp_driver_read(archive, &driver, NULL, e);
    if (!r)
        r = tp_driver_read_meta(archive, &meta, e);
    if (!r) {
        const struct tp_spdx_file files[] = {
            {"meta.json", tp_buf_str(&meta), meta.len},
            {tp_json_text(json_object_get(receipt, "driver"), "file"), tp_buf_str(&driver), driver.len},
        };
        document = tp_spdx_make(receipt, author, files, 2);
        if (!document)
            r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, receipt_path, NULL,
                        "lacks the archive, the driver or Mesa");
    }
    if (!r) {
        struct tp_buf text = {0};
        tp_meta_print(document, &text);
        r = tp_write_file(path, text.data, text.len, 0644, e);
        tp_buf_finish(&text);
    }
    json_decref(document);
    json_decref(receipt);
    free(path);
    free(receipt_path);
    tp_buf_finish(&meta);
    tp_buf_finish(&driver);
    return r;
}
