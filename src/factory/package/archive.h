/* A zip whose bytes depend on its entries alone. */
#ifndef TP_FACTORY_PACKAGE_ARCHIVE_H
#define TP_FACTORY_PACKAGE_ARCHIVE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

struct tp_archive_entry {
    const char *name; /* flat, UTF-8 */
    const void *data; /* borrowed until tp_archive_build returns */
    size_t len;
};

/*
 * Builds a zip of the entries, in their order, in memory. Every entry is deflated at level 9, dated
 * 1980-01-01 12:00:00 (the first day that a zip can hold) whatever the time zone, of mode 0644. With
 * one version of libzip and zlib, the same entries give the same bytes.
 * out: emptied first; the caller owns it. Errors: -EIO with libzip's reason; where: what e names.
 */
int tp_archive_build(const struct tp_archive_entry *entries, size_t n, const char *where,
                     struct tp_buf *out, struct tp_error *e);

#endif
