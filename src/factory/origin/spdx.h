/* What an archive is made of, as an SPDX 2.3 document in JSON. */
#ifndef TP_FACTORY_ORIGIN_SPDX_H
#define TP_FACTORY_ORIGIN_SPDX_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* A file in the archive. Borrowed. */
struct tp_spdx_file {
    const char *name; /* "meta.json" */
    const void *data;
    size_t len;
};

/*
 * The document: the archive and its files, the driver, Mesa, each patch with its SHA-256, tools, linked
 * libraries, and how they belong together. All of it comes from the receipt and the files; the same ones
 * give the same document. author: who publishes the archive. Returns a new reference, or NULL where the
 * receipt lacks what the document is about (its archive, driver, mesa).
 */
json_t *tp_spdx_make(const json_t *receipt, const char *author, const struct tp_spdx_file *files,
                     size_t n);

/* Writes ARCHIVE.spdx.json from the archive and ARCHIVE.receipt.json, whole or not at all. Errors: those
 * of reading either; -EINVAL (status INPUT) for a receipt that is none. */
int tp_spdx_write(const char *archive, const char *author, struct tp_error *e);

#endif
