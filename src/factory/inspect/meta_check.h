/* meta.json, held against what importers make of it. */
#ifndef TP_FACTORY_INSPECT_META_CHECK_H
#define TP_FACTORY_INSPECT_META_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "factory/inspect/finding.h"

/* What WinNative takes at most (runtime/content/DriverPackages.java). */
#define TP_META_MAX_BYTES ((size_t)64 << 10)

/*
 * Checks the text of a meta.json. linux: the archive is for Linux, whatever it says. api: the
 * phone's API level; 0: any. Returns what lenient readers see (of a key that is there twice the
 * last value, no byte order mark): a new reference to an object, or NULL where there is none.
 * Breaches become findings.
 */
json_t *tp_meta_check(
    const char *text, size_t len, bool linux_driver, int api, struct tp_findings *findings);

/* The key's whole number, in quotes too, as lenient readers have it; missing: what it is otherwise.
 */
int tp_meta_number(const json_t *meta, const char *key, int missing);

/* One of the nine keys that Android's importers know? */
bool tp_meta_is_known(const char *key);
/* The nine keys in order; ends with NULL. */
extern const char *const tp_meta_keys[];

/* What keeps a text from being one folder's name; NULL: nothing. */
const char *tp_meta_folder_fault(const char *name);

#endif
