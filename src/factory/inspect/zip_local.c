#include <stdlib.h>
#include <string.h>

#include "factory/inspect/zip_internal.h"

/* What the entry's own header says otherwise than the directory; NULL: nothing. */
static const char *difference(
    const struct tp_zip_entry *e, const uint8_t *local, const uint8_t *extra, size_t extra_len)
{
    if (zip_u16(local + 26) != e->name_len || memcmp(local + ZIP_LOCAL_BYTES, e->name, e->name_len))
        return "its own header has another name than the directory";
    uint16_t flags = zip_u16(local + 6), both = ZIP_FLAG_ENCRYPTED | ZIP_FLAG_DESCRIBED;
    if (zip_u16(local + 8) != e->method || (flags & both) != (e->flags & both))
        return "its own header and the directory disagree in how it is packed";
    if (e->described) /* readers pass over the numbers then, and writers leave them open */
        return NULL;
    uint64_t packed = zip_u32(local + 18), size = zip_u32(local + 22);
    size_t len = 0;
    const uint8_t *wide = zip_extra64(extra, extra_len, &len);
    if (size == UINT32_MAX && wide && len >= 8)
        size = zip_u64(wide);
    if (packed == UINT32_MAX && wide && len >= 16)
        packed = zip_u64(wide + 8);
    if (zip_u32(local + 14) != e->crc || packed != e->packed_bytes || size != e->size_bytes)
        return "its own header and the directory disagree in its size or checksum";
    return NULL;
}

/* The bytes of the data descriptor in n bytes behind the data; 0: none that tells the same. */
static size_t descriptor(const struct tp_zip_entry *e, const uint8_t *p, uint64_t n)
{
    for (int form = 0; form < 4; form++) {
        size_t marked = form & 1 ? 4 : 0, width = form & 2 ? 8 : 4, len = marked + 4 + 2 * width;
        if (len > n || (marked && zip_u32(p) != ZIP_DESCRIPTOR_SIGNATURE))
            continue;
        const uint8_t *q = p + marked + 4;
        uint64_t packed = width == 8 ? zip_u64(q) : zip_u32(q);
        uint64_t size = width == 8 ? zip_u64(q + 8) : zip_u32(q + 4);
        if (zip_u32(p + marked) == e->crc && packed == e->packed_bytes && size == e->size_bytes)
            return len;
    }
    return 0;
}

static void read_local(struct tp_zip_view *z, struct tp_zip_entry *e, struct tp_findings *f)
{
    uint64_t end = z->directory_offset;
    e->end_offset = e->local_offset;
    if (e->local_offset > end || end - e->local_offset < ZIP_LOCAL_BYTES ||
        zip_u32(z->bytes + e->local_offset) != ZIP_LOCAL_SIGNATURE) {
        zip_tell(f, TP_RULE_ZIP_DAMAGED, e, "it does not lie where the directory says");
        return;
    }
    const uint8_t *local = z->bytes + e->local_offset;
    size_t name_len = zip_u16(local + 26), extra_len = zip_u16(local + 28);
    uint64_t at = e->local_offset + ZIP_LOCAL_BYTES + name_len + extra_len;
    if (at > end) {
        zip_tell(f, TP_RULE_ZIP_DAMAGED, e, "its own header runs into the directory");
        return;
    }
    const char *differs = difference(e, local, local + ZIP_LOCAL_BYTES + name_len, extra_len);
    e->end_offset = at;
    if (e->packed_bytes > end - at) {
        zip_tell(
            f, TP_RULE_ZIP_SIZE_LIES, e, "it says that it has more packed bytes than there are");
        return;
    }
    e->data = z->bytes + at;
    e->end_offset = at + e->packed_bytes;
    if (!differs && e->described) {
        size_t n = descriptor(e, z->bytes + e->end_offset, end - e->end_offset);
        if (!n)
            differs = "what follows its data and the directory disagree in its size or checksum";
        e->end_offset += n;
    }
    if (differs)
        zip_tell(f, TP_RULE_ZIP_LOCAL_DIFFERS, e, differs);
    if (e->described && e->method == ZIP_STORED)
        zip_tell(f, TP_RULE_ZIP_STORED_DESCRIPTOR, e,
            "it is stored, and its size is told only behind its data");
}

void zip_read_locals(struct tp_zip_view *z, struct tp_findings *f)
{
    for (size_t i = 0; i < z->n; i++)
        read_local(z, &z->entries[i], f);
}

static int by_place(const void *a, const void *b)
{
    const struct tp_zip_entry *const *x = a, *const *y = b;
    if ((*x)->local_offset != (*y)->local_offset)
        return (*x)->local_offset < (*y)->local_offset ? -1 : 1;
    return (*x)->end_offset < (*y)->end_offset ? -1 : (*x)->end_offset > (*y)->end_offset;
}

static void hole(const struct tp_zip_view *z, uint64_t from, uint64_t to, struct tp_findings *f)
{
    bool last = to == z->directory_offset;
    bool entry = to - from >= ZIP_LOCAL_BYTES && zip_u32(z->bytes + from) == ZIP_LOCAL_SIGNATURE;
    if (!from)
        tp_findings_add(f, TP_RULE_ZIP_PREFIX, NULL, NULL, "%llu bytes stand in front of it",
            (unsigned long long)to);
    else
        /* Behind the last entry, where nothing looks, signatures and padding are harmless. */
        tp_findings_add_as(f, TP_RULE_ZIP_GAP,
            last && !entry ? TP_SEVERITY_WARNING : TP_SEVERITY_ERROR, NULL, NULL,
            "%llu bytes at %llu belong to no entry%s", (unsigned long long)(to - from),
            (unsigned long long)from, entry ? ", and begin with an entry's header" : "");
}

void zip_check_layout(const struct tp_zip_view *z, struct tp_findings *f)
{
    /* Holes are only where every entry's extent is known. */
    bool known = z->whole && z->n < TP_ZIP_MAX_ENTRIES;
    for (size_t i = 0; i < z->n; i++)
        known = known && z->entries[i].data;
    known = known && !tp_findings_has(f, TP_RULE_ZIP_LOCAL_DIFFERS);
    const struct tp_zip_entry **order = tp_calloc(z->n ? z->n : 1, sizeof *order);
    for (size_t i = 0; i < z->n; i++)
        order[i] = &z->entries[i];
    qsort(order, z->n, sizeof *order, by_place);
    uint64_t end = 0;
    for (size_t i = 0; i < z->n; i++) {
        if (order[i]->data && order[i]->local_offset < end)
            zip_tell(f, TP_RULE_ZIP_OVERLAP, order[i], "it shares bytes with another entry");
        else if (known && order[i]->local_offset > end)
            hole(z, end, order[i]->local_offset, f);
        if (order[i]->data && order[i]->end_offset > end)
            end = order[i]->end_offset;
    }
    if (known && z->n && z->directory_offset > end && !tp_findings_has(f, TP_RULE_ZIP_OVERLAP))
        hole(z, end, z->directory_offset, f);
    free(order);
}
