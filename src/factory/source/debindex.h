/* The source packages that an archive's index lists. */
#ifndef TP_FACTORY_SOURCE_DEBINDEX_H
#define TP_FACTORY_SOURCE_DEBINDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/fs.h"

struct tp_debsource {
    char *version;              /* owned: "25.0.7-2+deb13u1" */
    char *file;                 /* owned: "mesa_25.0.7.orig.tar.xz"; no '/' in it */
    char sha256[TP_SHA256_HEX]; /* of file, from the signed index */
    uint64_t size;              /* of file, bytes */
};

/* Reads what `apt-cache --only-source showsrc mesa` prints; entries without a hashed upstream
 * tarball are left out. Newest first. *list is allocated, tp_debindex_finish frees it. Returns the
 * number. */
size_t tp_debindex_parse(const char *text, struct tp_debsource **list);
void tp_debindex_finish(struct tp_debsource *list, size_t n);

/* True when `version` is the one asked for: the same, or of that upstream version ("25.0.7"). */
bool tp_debindex_is(const char *version, const char *asked);

#endif
