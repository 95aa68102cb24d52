#include <stdlib.h>
#include <string.h>

#include "factory/inspect/zip_internal.h"

void zip_tell(
    struct tp_findings *f, enum tp_rule_id rule, const struct tp_zip_entry *e, const char *what)
{
    char *label = tp_zip_label(e);
    tp_findings_add(f, rule, label, NULL, "%s", what);
    free(label);
}

/* Where the directory lies, as the record at the end of the file tells. */
struct end {
    uint64_t at;         /* of the record itself */
    uint64_t records_at; /* of the first of the records at the end: the directory ends there */
    uint64_t offset, size, entries, disk;
    bool exact; /* its comment ends with the file */
    bool wide;  /* zip64 */
};

const uint8_t *zip_extra64(const uint8_t *extra, size_t n, size_t *len)
{
    for (size_t at = 0; at + 4 <= n;) {
        size_t body = zip_u16(extra + at + 2);
        if (body > n - at - 4)
            return NULL;
        if (zip_u16(extra + at) == 1) {
            *len = body;
            return extra + at + 4;
        }
        at += 4 + body;
    }
    return NULL;
}

/* The wide record, whose place stands in front of the end record. False: there is none. */
static bool read_end64(const struct tp_zip_view *z, struct end *e)
{
    if (e->at < ZIP_LOCATOR64_BYTES)
        return false;
    const uint8_t *locator = z->bytes + e->at - ZIP_LOCATOR64_BYTES;
    if (zip_u32(locator) != ZIP_LOCATOR64_SIGNATURE)
        return false;
    uint64_t end = e->at - ZIP_LOCATOR64_BYTES, at = zip_u64(locator + 8);
    /* Where something was put in front of the zip, the record lies right before its locator. */
    if (at > end || end - at < ZIP_END64_BYTES || zip_u32(z->bytes + at) != ZIP_END64_SIGNATURE)
        at = end < ZIP_END64_BYTES ? end : end - ZIP_END64_BYTES;
    if (end - at < ZIP_END64_BYTES || zip_u32(z->bytes + at) != ZIP_END64_SIGNATURE)
        return false;
    const uint8_t *p = z->bytes + at;
    e->records_at = at;
    e->disk = zip_u32(p + 16) | zip_u32(p + 20);
    e->entries = zip_u64(p + 32);
    e->size = zip_u64(p + 40);
    e->offset = zip_u64(p + 48);
    e->wide = true;
    return true;
}

static bool begins_with_entry(const struct tp_zip_view *z, uint64_t at, uint64_t end)
{
    return at <= end && end - at >= ZIP_CENTRAL_BYTES &&
        zip_u32(z->bytes + at) == ZIP_CENTRAL_SIGNATURE;
}

/* Can there be an end record at this place, and a directory in front of it? */
static bool read_end(const struct tp_zip_view *z, uint64_t at, struct end *e)
{
    const uint8_t *p = z->bytes + at;
    uint64_t behind = z->len - at - ZIP_END_BYTES, comment = zip_u16(p + 20);
    if (zip_u32(p) != ZIP_END_SIGNATURE || comment > behind)
        return false;
    *e = (struct end){
        .at = at,
        .records_at = at,
        .disk = (uint64_t)zip_u16(p + 4) | zip_u16(p + 6),
        .entries = zip_u16(p + 10),
        .size = zip_u32(p + 12),
        .offset = zip_u32(p + 16),
        .exact = comment == behind,
    };
    read_end64(z, e);
    return true;
}

static bool is_plausible(const struct tp_zip_view *z, const struct end *e)
{
    return e->size <= e->records_at &&
        (!e->entries || begins_with_entry(z, e->records_at - e->size, e->records_at));
}

/* Where records at the end may begin that can have a comment of any length behind them. */
static uint64_t first_end(const struct tp_zip_view *z)
{
    uint64_t last = z->len - ZIP_END_BYTES;
    return last > UINT16_MAX ? last - UINT16_MAX : 0;
}

/* Records at the end that have a directory in front of them, from the file's end backwards. */
struct ends {
    struct end *list;
    size_t n, cap;
};

/* From the file's end backwards, as readers do; the record that fits best. */
static bool find_end(const struct tp_zip_view *z, struct end *best, struct ends *plausible)
{
    if (z->len < ZIP_END_BYTES)
        return false;
    uint64_t last = z->len - ZIP_END_BYTES, first = first_end(z);
    int found = 0;
    for (uint64_t at = last + 1; at-- > first;) {
        const uint8_t *p = memrchr(z->bytes + first, 'P', at - first + 1);
        if (!p)
            break;
        at = (uint64_t)(p - z->bytes);
        struct end e;
        if (!read_end(z, at, &e))
            continue;
        bool fits = is_plausible(z, &e);
        if (!found++ || (fits && !plausible->n))
            *best = e;
        if (fits)
            TP_PUSH(plausible->list, plausible->n, plausible->cap) = e;
    }
    return found > 0;
}

/* Several records claim to be the end. One within an entry's packed bytes is the entry's affair, which
 * is a zip itself, unless its comment reaches to the file's end, as some readers want it to. */
static void check_ends(
    const struct tp_zip_view *z, const struct ends *plausible, struct tp_findings *f)
{
    if (plausible->n < 2)
        return;
    /* Over the bytes from `from` on: how many entries begin less how many end there. */
    uint64_t from = first_end(z), n = z->len - from + 1;
    int *turns = tp_calloc(n, sizeof *turns), inside = 0;
    for (size_t i = 0; i < z->n; i++) {
        const struct tp_zip_entry *e = &z->entries[i];
        uint64_t begin = e->data ? (uint64_t)(e->data - z->bytes) : 0, end = begin + e->packed_bytes;
        if (!e->data || end <= from)
            continue;
        turns[begin > from ? begin - from : 0]++;
        turns[end - from]--;
    }
    size_t own = 0, k = plausible->n;
    for (uint64_t i = 0; i < n; i++) {
        inside += turns[i];
        if (k && plausible->list[k - 1].at == from + i) {
            own += !inside || plausible->list[k - 1].exact;
            k--;
        }
    }
    free(turns);
    if (own > 1)
        tp_findings_add(f, TP_RULE_ZIP_TWO_ENDS, NULL, NULL,
            "%zu records in it claim to be its end, each with a directory of its own", own);
}

/* The values that stand as 32 ones in an entry of the directory are in its extra field 1. */
static bool widen(struct tp_zip_entry *e, const uint8_t *extra, size_t n)
{
    size_t len = 0, at = 0;
    const uint8_t *wide = zip_extra64(extra, n, &len);
    uint64_t *const values[] = {&e->size_bytes, &e->packed_bytes, &e->local_offset};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (*values[i] != UINT32_MAX)
            continue;
        if (!wide || len - at < 8)
            return false;
        *values[i] = zip_u64(wide + at);
        at += 8;
    }
    return true;
}

/* One entry of the directory at *at, which is moved behind it. base: what lies in front of the zip.
 */
static bool read_entry(
    struct tp_zip_view *z, uint64_t *at, uint64_t end, uint64_t base, struct tp_zip_entry *out)
{
    if (!begins_with_entry(z, *at, end))
        return false;
    const uint8_t *p = z->bytes + *at;
    uint64_t left = end - *at - ZIP_CENTRAL_BYTES;
    uint16_t name_len = zip_u16(p + 28), extra = zip_u16(p + 30), comment = zip_u16(p + 32);
    if ((uint64_t)name_len + extra + comment > left)
        return false;
    uint32_t attributes = zip_u32(p + 38);
    uint8_t system = p[5];
    bool unix_made = system == 3 || system == 19; /* 4.4.2: Unix, macOS */
    *out = (struct tp_zip_entry){
        .name = (const char *)p + ZIP_CENTRAL_BYTES,
        .name_len = name_len,
        .flags = zip_u16(p + 8),
        .method = zip_u16(p + 10),
        .crc = zip_u32(p + 16),
        .packed_bytes = zip_u32(p + 20),
        .size_bytes = zip_u32(p + 24),
        .local_offset = zip_u32(p + 42),
        .mode = unix_made ? (uint16_t)(attributes >> 16) : 0,
    };
    out->described = out->flags & ZIP_FLAG_DESCRIBED;
    out->folder = name_len && out->name[name_len - 1] == '/';
    if (!widen(out, p + ZIP_CENTRAL_BYTES + name_len, extra))
        return false;
    if (__builtin_add_overflow(out->local_offset, base, &out->local_offset))
        return false;
    *at += ZIP_CENTRAL_BYTES + (uint64_t)name_len + extra + comment;
    return true;
}

static void read_directory(struct tp_zip_view *z, const struct end *end, struct tp_findings *f)
{
    uint64_t from = end->records_at - end->size, at = from, base = from - end->offset;
    size_t cap = 0;
    z->directory_offset = from;
    bool good = true;
    while (at < end->records_at && z->n < TP_ZIP_MAX_ENTRIES) {
        struct tp_zip_entry entry;
        good = read_entry(z, &at, end->records_at, base, &entry);
        if (!good)
            break;
        TP_PUSH(z->entries, z->n, cap) = entry;
    }
    if (!good) {
        tp_findings_add(f, TP_RULE_ZIP_DAMAGED, NULL, NULL,
            "its directory is damaged behind %zu of %llu entries", z->n,
            (unsigned long long)end->entries);
        return;
    }
    z->whole = true;
    /* Old writers count in 16 bits, round and round. */
    bool counted = z->n == end->entries || (!end->wide && (z->n & UINT16_MAX) == end->entries);
    if (!counted && z->n < TP_ZIP_MAX_ENTRIES)
        tp_findings_add(f, TP_RULE_ZIP_DAMAGED, NULL, NULL,
            "its directory has %zu entries and says %llu", z->n, (unsigned long long)end->entries);
}

static void read_zip(struct tp_zip_view *z, struct ends *plausible, struct tp_findings *f)
{
    struct end end = {0};
    if (!find_end(z, &end, plausible)) {
        tp_findings_add(f, TP_RULE_ZIP_TRUNCATED, NULL, NULL,
            "its end is missing: %zu bytes without a directory", z->len);
        return;
    }
    if (end.disk) {
        tp_findings_add(f, TP_RULE_ZIP_SPLIT, NULL, NULL, "it is a part of a zip in several files");
        return;
    }
    if (end.size > end.records_at || end.offset > end.records_at - end.size) {
        tp_findings_add(f, TP_RULE_ZIP_TRUNCATED, NULL, NULL,
            "its beginning or middle is missing: the directory should be %llu bytes at "
            "%llu, and the file has %zu bytes",
            (unsigned long long)end.size, (unsigned long long)end.offset, z->len);
        return;
    }
    if (!end.exact)
        tp_findings_add(f, TP_RULE_ZIP_TRAILING, NULL, NULL, "bytes follow its end");
    if (end.wide)
        tp_findings_add(
            f, TP_RULE_ZIP_ZIP64, NULL, NULL, "it is in zip64's form, for %zu bytes", z->len);
    read_directory(z, &end, f);
    zip_read_locals(z, f);
    zip_check_layout(z, f);
    check_ends(z, plausible, f);
}

void tp_zip_view_open(
    const void *bytes, size_t len, struct tp_findings *f, struct tp_zip_view **out)
{
    struct tp_zip_view *z = tp_calloc(1, sizeof *z);
    z->bytes = bytes;
    z->len = len;
    z->work_bytes = ZIP_WORK_BYTES;
    struct ends plausible = {0};
    read_zip(z, &plausible, f);
    free(plausible.list);
    *out = z;
}

void tp_zip_view_close(struct tp_zip_view *z)
{
    if (!z)
        return;
    free(z->entries);
    free(z);
}

bool tp_zip_name_is(const struct tp_zip_entry *e, const char *name)
{
    return e->name_len == strlen(name) && !memcmp(e->name, name, e->name_len);
}

bool tp_zip_base_is(const struct tp_zip_entry *e, const char *name)
{
    size_t n = strlen(name);
    return e->name_len >= n && !memcmp(e->name + e->name_len - n, name, n) &&
        (e->name_len == n || e->name[e->name_len - n - 1] == '/');
}

static bool same_text(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (zip_lower(a[i]) != zip_lower(b[i]))
            return false;
    }
    return true;
}

bool tp_zip_name_ends(const struct tp_zip_entry *e, const char *tail)
{
    size_t n = strlen(tail);
    return e->name_len >= n && same_text(e->name + e->name_len - n, tail, n);
}

bool tp_zip_name_holds(const struct tp_zip_entry *e, const char *text)
{
    size_t n = strlen(text);
    for (size_t at = 0; at + n <= e->name_len; at++) {
        if (same_text(e->name + at, text, n))
            return true;
    }
    return false;
}

char *tp_zip_label(const struct tp_zip_entry *e)
{
    enum { MAX = 120 };
    char *cut = tp_strndup(e->name, e->name_len < MAX ? e->name_len : MAX);
    char *label = tp_asprintf("%s%s", cut, e->name_len > MAX ? "…" : "");
    free(cut);
    char *text = tp_printable_line(label);
    free(label);
    return text;
}
