/* Finding the driver in a file: the library itself, or an Adrenotools archive that holds it. */
#ifndef TP_BASE_DRIVER_FILE_H
#define TP_BASE_DRIVER_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* No driver is larger; an archive's lying sizes end here. */
#define TP_DRIVER_MAX_BYTES ((size_t)128 << 20)

/*
 * Reads the driver that path names into *out (emptied first; the caller's): an ELF file as it is, or
 * out of a zip the entry that its meta.json calls libraryName, else its only *.so. Folders in front of
 * an entry's name are accepted. in_archive: receives whether it was a zip; may be NULL.
 * Errors: those of tp_read_file; -EINVAL (status INPUT) for a file of another kind, an archive without
 * a driver or with several, a damaged one.
 */
int tp_driver_read(const char *path, struct tp_buf *out, bool *in_archive, struct tp_error *e);

/*
 * The text of the meta.json of the archive at path, into *out (emptied first; the caller's). Errors:
 * those of tp_read_file; -ENOENT (status FAILED) where the archive has none, -EINVAL (status INPUT) where
 * it has several, one too large or a damaged one, or is no archive.
 */
int tp_driver_read_meta(const char *path, struct tp_buf *out, struct tp_error *e);

#endif
