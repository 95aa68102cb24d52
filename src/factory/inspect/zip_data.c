#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "factory/inspect/zip_internal.h"

struct taken {
    struct tp_buf *keep; /* gets the bytes up to the size that the entry says; NULL: nobody does */
    uint64_t keep_bytes;
    uint64_t size, left; /* so far; what may still be unpacked */
    uLong crc;
};

/* False: no more. */
static bool take(struct taken *t, const uint8_t *bytes, size_t n)
{
    if (n > t->left)
        return false;
    t->left -= n;
    t->size += n;
    t->crc = crc32(t->crc, bytes, (uInt)n);
    if (t->keep && t->size <= t->keep_bytes)
        tp_buf_add(t->keep, bytes, n);
    return true;
}

/* Unpacks the entry piece by piece. used: packed bytes read; those behind the stream's end are
 * left. -EBADMSG: damaged; -ENODATA: it ends too early; -EFBIG: the taker has enough. */
static int unpack(const struct tp_zip_entry *e, struct taken *t, uint64_t *used)
{
    enum { PIECE = 1 << 16, INPUT = 1 << 20 };
    *used = 0;
    if (e->method == ZIP_STORED) {
        while (*used < e->packed_bytes) {
            size_t n = e->packed_bytes - *used < INPUT ? (size_t)(e->packed_bytes - *used) : INPUT;
            if (!take(t, e->data + *used, n))
                return -EFBIG;
            *used += n;
        }
        return 0;
    }
    z_stream s = {0};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return -EBADMSG;
    uint8_t piece[PIECE];
    int r = 0, state = Z_OK;
    while (!r && state != Z_STREAM_END) {
        if (!s.avail_in) {
            s.next_in = (Bytef *)(uintptr_t)(e->data + *used);
            s.avail_in = e->packed_bytes - *used < INPUT ? (uInt)(e->packed_bytes - *used) : INPUT;
            *used += s.avail_in;
        }
        s.next_out = piece;
        s.avail_out = sizeof piece;
        state = inflate(&s, Z_NO_FLUSH);
        size_t n = sizeof piece - s.avail_out;
        if (state != Z_OK && state != Z_STREAM_END)
            r = state == Z_BUF_ERROR ? -ENODATA : -EBADMSG;
        if (!take(t, piece, n))
            r = -EFBIG;
    }
    *used -= s.avail_in;
    inflateEnd(&s);
    return r;
}

static bool is_readable(const struct tp_zip_entry *e)
{
    return e->data && !(e->flags & ZIP_FLAG_ENCRYPTED) &&
        (e->method == ZIP_STORED || e->method == ZIP_DEFLATED);
}

/* The work is up, and so it stays. */
static int stop(struct tp_zip_view *z, struct tp_findings *f)
{
    z->work_bytes = 0;
    if (!tp_findings_has(f, TP_RULE_ZIP_BOMB) && !tp_findings_has(f, TP_RULE_ZIP_TOO_LARGE))
        tp_findings_add(f, TP_RULE_ZIP_BOMB, NULL, NULL,
            "its %zu bytes unpack to hundreds of MiB, whatever it says", z->len);
    return -EFBIG;
}

/* Unpacks an entry and tells what is wrong with it. keep: NULL, or gets its bytes. -EFBIG: the work
 * is up; -EBADMSG: they are not what it says. */
static int check_entry(
    struct tp_zip_view *z, const struct tp_zip_entry *e, struct tp_buf *keep, struct tp_findings *f)
{
    struct taken t = {
        .keep = keep,
        .keep_bytes = e->size_bytes,
        .left = z->work_bytes,
        .crc = crc32(0, NULL, 0),
    };
    uint64_t used;
    if (e->packed_bytes > z->work_bytes)
        return stop(z, f);
    int r = unpack(e, &t, &used);
    uint64_t spent = t.size + used;
    if (r == -EFBIG)
        return stop(z, f);
    z->work_bytes -= spent < z->work_bytes ? spent : z->work_bytes;
    z->entries[e - z->entries].checked = true;
    if (r == -ENODATA)
        zip_tell(f, TP_RULE_ZIP_SIZE_LIES, e, "its packed bytes end before it is whole");
    else if (r == -EBADMSG)
        zip_tell(f, TP_RULE_ZIP_CRC, e, "its packed bytes are damaged");
    else if (t.size != e->size_bytes) {
        char *label = tp_zip_label(e);
        tp_findings_add(f, TP_RULE_ZIP_SIZE_LIES, label, NULL,
            "it says that it has %llu bytes, and has %llu", (unsigned long long)e->size_bytes,
            (unsigned long long)t.size);
        free(label);
    } else if (t.crc != e->crc)
        zip_tell(f, TP_RULE_ZIP_CRC, e, "its checksum does not hold");
    else if (used != e->packed_bytes)
        zip_tell(
            f, TP_RULE_ZIP_SIZE_LIES, e, "bytes that belong to nothing follow its packed ones");
    return r || t.size != e->size_bytes || t.crc != e->crc ? -EBADMSG : 0;
}

void tp_zip_view_check_data(struct tp_zip_view *z, struct tp_findings *f)
{
    for (size_t i = 0; i < z->n; i++) {
        const struct tp_zip_entry *e = &z->entries[i];
        if (!e->checked && is_readable(e) && check_entry(z, e, NULL, f) == -EFBIG)
            return;
    }
}

int tp_zip_view_read(struct tp_zip_view *z, const struct tp_zip_entry *e, size_t max_bytes,
    struct tp_zip_bytes *out, struct tp_findings *f)
{
    struct tp_buf *b = &out->unpacked;
    out->data = NULL;
    out->len = 0;
    if (!e->data)
        return -ENODATA;
    if (!is_readable(e))
        return -ENOTSUP;
    if (e->size_bytes > max_bytes)
        return -EFBIG;
    bool stored = e->method == ZIP_STORED;
    /* At once, for a buffer that grows holds its bytes twice meanwhile. */
    size_t need = (size_t)e->size_bytes + 1;
    if (!stored && b->cap < need)
        b->data = tp_realloc(b->data, b->cap = need, 1);
    tp_buf_clear(b);
    int r = check_entry(z, e, stored ? NULL : b, f);
    if (r)
        return r;
    out->data = stored ? (const void *)e->data : b->data;
    out->len = (size_t)e->size_bytes;
    return 0;
}

void tp_zip_bytes_finish(struct tp_zip_bytes *bytes)
{
    tp_buf_finish(&bytes->unpacked);
    *bytes = (struct tp_zip_bytes){0};
}
