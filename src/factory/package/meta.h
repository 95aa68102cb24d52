/* The JSON files of an archive: meta.json inside it, the receipt beside it. */
#ifndef TP_FACTORY_PACKAGE_META_H
#define TP_FACTORY_PACKAGE_META_H

#include <jansson.h>

#include "base/buf.h"
#include "factory/package/package.h"

/* The receipt's `schema`, raised when a field changes its meaning. */
#define TP_RECEIPT_SCHEMA 1

/*
 * meta.json. For android exactly the nine keys that every importer knows: one of them refuses any
 * other. For linux, minApi gives way to what WinNative's importer compares. Returns a new reference,
 * or NULL when a text of the request is not UTF-8.
 */
json_t *tp_meta_make(const struct tp_package_request *request, const char *driver_sha256);

/* What else the receipt records, beside the request. */
struct tp_receipt_facts {
    const char *archive_sha256, *driver_sha256, *build_id;
    json_t *note; /* the driver's own; borrowed */
};

/* The receipt. Returns a new reference, or NULL when a text of the request is not UTF-8. */
json_t *tp_receipt_make(const struct tp_package_request *request,
                        const struct tp_receipt_facts *facts);

/* Indented text in the order of insertion, with a closing newline. */
void tp_meta_print(const json_t *json, struct tp_buf *out);

#endif
