/* A zip as it lies in memory, read by a reader that believes nothing. It is told twice, by the
 * directory at its end and by a header in front of each entry, and apps differ in which of the two
 * they read. */
#ifndef TP_FACTORY_INSPECT_ZIP_VIEW_H
#define TP_FACTORY_INSPECT_ZIP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "factory/inspect/finding.h"

/* What an importer takes at most: WinNative, runtime/content/DriverPackages.java. */
#define TP_ZIP_IMPORT_ENTRIES 32
#define TP_ZIP_IMPORT_BYTES ((uint64_t)128 << 20)
#define TP_ZIP_IMPORT_NAME 180
/* How many entries are looked at; of more, the first ones. */
#define TP_ZIP_MAX_ENTRIES 200000

struct tp_zip_entry {
    const char *name;    /* in the file: name_len bytes, not NUL-terminated */
    const uint8_t *data; /* the packed bytes, in the file; NULL: they are not there */
    uint64_t packed_bytes, size_bytes, local_offset;
    uint64_t end_offset; /* behind its data and its data descriptor */
    uint32_t crc;
    uint16_t name_len, method, flags;
    uint16_t mode;  /* Unix file type and bits, 0 where it is not known */
    bool folder;    /* it stands for a folder itself */
    bool described; /* its sizes follow its data */
    bool checked;   /* it has been unpacked, and held against its size and checksum */
};

/* Borrows the bytes. Read-only for callers. */
struct tp_zip_view {
    const uint8_t *bytes;
    size_t len;
    struct tp_zip_entry *entries; /* in the directory's order */
    size_t n;
    uint64_t directory_offset;
    bool whole; /* the directory was read to its end: what is absent is absent */
    uint64_t work_bytes; /* what may still be read and unpacked of it */
};

/*
 * Reads the directory and each entry's own header; breaches of the format become findings. Never
 * fails: what cannot be read is left out. *out: closed by the caller.
 */
void tp_zip_view_open(
    const void *bytes, size_t len, struct tp_findings *findings, struct tp_zip_view **out);
/* NULL is accepted. */
void tp_zip_view_close(struct tp_zip_view *zip);

/* Holds names, kinds, number and sum of the entries against what importers take. hostile_only: for
 * an archive that is not for them: folders and numbers are its own affair. */
void tp_zip_view_check_names(
    const struct tp_zip_view *zip, bool hostile_only, struct tp_findings *findings);

/* Unpacks every entry that was not read yet into nothing and holds it against its size and
 * checksum, up to a bound on the work: what goes beyond is a bomb. Breaches become findings. */
void tp_zip_view_check_data(struct tp_zip_view *zip, struct tp_findings *findings);

/* An entry's bytes; {0} before tp_zip_view_read, tp_zip_bytes_finish after it. */
struct tp_zip_bytes {
    const void *
        data; /* in the zip where they are stored, else in unpacked; NULL: they could not be read */
    size_t len;
    struct tp_buf unpacked;
};

/*
 * Gets the bytes of an entry of the zip, of each once, and holds them against its size and
 * checksum: breaches become findings. Errors: -ENODATA when they are not there, -ENOTSUP for
 * another method or an encrypted one, -EFBIG when they are more than max_bytes, which makes no
 * finding, or than may be unpacked of the whole, -EBADMSG when they are not what it says.
 */
int tp_zip_view_read(struct tp_zip_view *zip, const struct tp_zip_entry *entry, size_t max_bytes,
    struct tp_zip_bytes *out, struct tp_findings *findings);
void tp_zip_bytes_finish(struct tp_zip_bytes *bytes);

bool tp_zip_name_is(const struct tp_zip_entry *entry, const char *name);
/* Is that its name behind all folders? */
bool tp_zip_base_is(const struct tp_zip_entry *entry, const char *name);
/* Does the name end so? ASCII letters of either case are the same. */
bool tp_zip_name_ends(const struct tp_zip_entry *entry, const char *tail);
/* Is that text in its name? ASCII letters of either case are the same. */
bool tp_zip_name_holds(const struct tp_zip_entry *entry, const char *text);
/* The name for a person: cut to some hundred bytes. Caller frees. */
char *tp_zip_label(const struct tp_zip_entry *entry);

#endif
