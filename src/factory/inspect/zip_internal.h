/* What the files of the zip reader share: numbers in the file, and its passes. */
#ifndef TP_FACTORY_INSPECT_ZIP_INTERNAL_H
#define TP_FACTORY_INSPECT_ZIP_INTERNAL_H

#include "factory/inspect/zip_view.h"

/* Of APPNOTE.TXT: 4.3.7, 4.3.9, 4.3.12, 4.3.14 to 4.3.16, 4.4. */
#define ZIP_LOCAL_SIGNATURE 0x04034b50u
#define ZIP_DESCRIPTOR_SIGNATURE 0x08074b50u
#define ZIP_CENTRAL_SIGNATURE 0x02014b50u
#define ZIP_END_SIGNATURE 0x06054b50u
#define ZIP_END64_SIGNATURE 0x06064b50u
#define ZIP_LOCATOR64_SIGNATURE 0x07064b50u
enum {
    ZIP_LOCAL_BYTES = 30,
    ZIP_CENTRAL_BYTES = 46,
    ZIP_END_BYTES = 22,
    ZIP_END64_BYTES = 56,
    ZIP_LOCATOR64_BYTES = 20,
    ZIP_FLAG_ENCRYPTED = 1,
    ZIP_FLAG_DESCRIBED = 8,
    ZIP_STORED = 0,
    ZIP_DEFLATED = 8,
};

/* What an inspection may read and unpack in all: some two seconds. An archive of the largest kind
 * that is imported needs 256 MiB at most. */
#define ZIP_WORK_BYTES ((uint64_t)384 << 20)

static inline uint16_t zip_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t zip_u32(const uint8_t *p)
{
    return zip_u16(p) | (uint32_t)zip_u16(p + 2) << 16;
}

static inline uint64_t zip_u64(const uint8_t *p)
{
    return zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32;
}

static inline char zip_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* The body of the extra field 1 (sizes of 64 bits) in n bytes of extra fields; NULL: there is none.
 */
const uint8_t *zip_extra64(const uint8_t *extra, size_t n, size_t *len);

/* zip_view.c: adds a finding of an entry, which is named. */
void zip_tell(
    struct tp_findings *f, enum tp_rule_id rule, const struct tp_zip_entry *e, const char *what);

/* zip_local.c: each entry's own header: finds its data and holds it against the directory. */
void zip_read_locals(struct tp_zip_view *zip, struct tp_findings *findings);
/* zip_local.c: what lies between the entries, and whether they share bytes. */
void zip_check_layout(const struct tp_zip_view *zip, struct tp_findings *findings);

#endif
