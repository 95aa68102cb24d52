#include "factory/package/meta.h"

#include <stdlib.h>
#include <string.h>

#define META_SCHEMA 1

static const char *machine_of(const struct tp_package_request *q)
{
    return q->machine ? q->machine : "aarch64";
}

json_t *tp_meta_make(const struct tp_package_request *q, const char *driver_sha256)
{
    json_t *meta = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "schemaVersion", META_SCHEMA,
                             "name", q->name, "description", q->description, "author", q->author,
                             "packageVersion", "1", "vendor", q->vendor, "driverVersion",
                             q->driver_version);
    if (!meta)
        return NULL;
    json_t *rest;
    if (!strcmp(q->system, "android")) {
        rest = json_pack("{s:i, s:s}", "minApi", q->min_api, "libraryName", TP_DRIVER_LIBRARY);
    } else {
        const char variant[] = {q->variant, 0};
        rest = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "libraryName",
                         TP_DRIVER_LIBRARY, "platform", q->system, "architecture", machine_of(q),
                         "libc", "glibc", "variant", variant, "mesaVersion", q->mesa.version,
                         "mesaCommit", q->mesa.revision ? q->mesa.revision : "unknown",
                         "mesaSource", q->mesa.source, "buildCommit", q->build_commit,
                         "librarySha256", driver_sha256);
    }
    if (!rest || json_object_update(meta, rest) < 0) {
        json_decref(meta);
        meta = NULL;
    }
    json_decref(rest);
    return meta;
}

json_t *tp_receipt_make(const struct tp_package_request *q, const struct tp_receipt_facts *facts)
{
    const char variant[] = {q->variant, 0};
    return json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:O},"
        " s:o, s:{s:s, s:s, s:s?, s:s?, s:s?}, s:I, s:O?, s:O?, s:O, s:O}",
        "turnpike", TP_VERSION, "schema", TP_RECEIPT_SCHEMA, "build_commit", q->build_commit,
        "system", q->system, "machine", machine_of(q), "target", q->target, "variant", variant,
        "version", q->version, "driver_version", q->driver_version,
        "archive", "file", q->archive_name, "sha256", facts->archive_sha256,
        "driver", "file", TP_DRIVER_LIBRARY, "sha256", facts->driver_sha256, "build_id",
        facts->build_id, "note", facts->note,
        "meta", tp_meta_make(q, facts->driver_sha256),
        "mesa", "version", q->mesa.version, "source", q->mesa.source, "revision", q->mesa.revision,
        "sha256", q->mesa.sha256, "spec", q->mesa.spec,
        "source_date_epoch", (json_int_t)q->epoch, "toolchain", q->toolchain, "options", q->options,
        "patches", q->patches, "patch_receipt", q->receipt);
}

void tp_meta_print(const json_t *json, struct tp_buf *out)
{
    char *text = json_dumps(json, JSON_INDENT(2));
    tp_buf_clear(out);
    tp_buf_adds(out, text ? text : "");
    tp_buf_addc(out, '\n');
    free(text);
}
