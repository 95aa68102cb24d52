#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "factory/inspect/zip_internal.h"

/* What an inspection may read and unpack in all: some two seconds. An archive of the largest kind
 * that is imported needs 256 MiB at most. */
#define WORK_BYTES ((uint64_t)384 << 20)

/* Takes unpacked bytes; false: no more. */
typedef bool (*take_fn)(void *data, const uint8_t *bytes, size_t n);

/* Unpacks the entry piece by piece. used: packed bytes read; those behind the stream's end are
 * left. -EBADMSG: damaged; -ENODATA: it ends too early; -EFBIG: the taker has enough. */
static int unpack(const struct tp_zip_entry *e, take_fn take, void *data, uint64_t *used)
{
    enum { PIECE = 1 << 16, INPUT = 1 << 20 };
    *used = 0;
    if (e->method == ZIP_STORED) {
        while (*used < e->packed_bytes) {
            size_t n = e->packed_bytes - *used < INPUT ? (size_t)(e->packed_bytes - *used) : INPUT;
            if (!take(data, e->data + *used, n))
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
        if (!take(data, piece, n))
            r = -EFBIG;
    }
    *used -= s.avail_in;
    inflateEnd(&s);
    return r;
}

struct check {
    uint64_t size, left; /* so far; what may still be unpacked */
    uLong crc;
};

static bool take_check(void *data, const uint8_t *bytes, size_t n)
{
    struct check *c = data;
    if (n > c->left)
        return false;
    c->left -= n;
    c->size += n;
    c->crc = crc32(c->crc, bytes, (uInt)n);
    return true;
}

static bool is_readable(const struct tp_zip_entry *e)
{
    return e->data && !(e->flags & ZIP_FLAG_ENCRYPTED) &&
        (e->method == ZIP_STORED || e->method == ZIP_DEFLATED);
}

/* One entry; false: the work is up. */
static bool check_entry(const struct tp_zip_entry *e, uint64_t *work, struct tp_findings *f)
{
    struct check c = {.left = *work, .crc = crc32(0, NULL, 0)};
    uint64_t used;
    if (e->packed_bytes > *work)
        return false;
    int r = unpack(e, take_check, &c, &used);
    uint64_t spent = c.size + used;
    *work = spent < *work ? *work - spent : 0;
    if (r == -EFBIG)
        return false;
    if (r == -ENODATA)
        zip_tell(f, TP_RULE_ZIP_SIZE_LIES, e, "its packed bytes end before it is whole");
    else if (r == -EBADMSG)
        zip_tell(f, TP_RULE_ZIP_CRC, e, "its packed bytes are damaged");
    else if (c.size != e->size_bytes) {
        char *label = tp_zip_label(e);
        tp_findings_add(f, TP_RULE_ZIP_SIZE_LIES, label, NULL,
            "it says that it has %llu bytes, and has %llu", (unsigned long long)e->size_bytes,
            (unsigned long long)c.size);
        free(label);
    } else if (used != e->packed_bytes)
        zip_tell(
            f, TP_RULE_ZIP_SIZE_LIES, e, "bytes that belong to nothing follow its packed ones");
    else if (c.crc != e->crc)
        zip_tell(f, TP_RULE_ZIP_CRC, e, "its checksum does not hold");
    return true;
}

void tp_zip_view_check_data(const struct tp_zip_view *z, struct tp_findings *f)
{
    uint64_t work = WORK_BYTES;
    for (size_t i = 0; i < z->n; i++) {
        if (!is_readable(&z->entries[i]) || check_entry(&z->entries[i], &work, f))
            continue;
        if (!tp_findings_has(f, TP_RULE_ZIP_BOMB) && !tp_findings_has(f, TP_RULE_ZIP_TOO_LARGE))
            tp_findings_add(f, TP_RULE_ZIP_BOMB, NULL, NULL,
                "its %zu bytes unpack to hundreds of MiB, whatever it says", z->len);
        return;
    }
}

struct read {
    struct tp_buf *out;
    size_t max;
};

static bool take_read(void *data, const uint8_t *bytes, size_t n)
{
    struct read *r = data;
    if (n > r->max - r->out->len)
        return false;
    tp_buf_add(r->out, bytes, n);
    return true;
}

int tp_zip_view_read(const struct tp_zip_entry *e, size_t max_bytes, struct tp_zip_bytes *out)
{
    struct tp_buf *b = &out->unpacked;
    uint64_t used = 0;
    int r = 0;
    out->data = NULL;
    out->len = 0;
    if (!e->data)
        return -ENODATA;
    if (!is_readable(e))
        return -ENOTSUP;
    if (e->size_bytes > max_bytes)
        return -EFBIG;
    if (e->method == ZIP_STORED) {
        used = e->packed_bytes;
    } else {
        /* At once, for a buffer that grows holds its bytes twice meanwhile. */
        size_t need = (size_t)e->size_bytes + 1;
        if (b->cap < need)
            b->data = tp_realloc(b->data, b->cap = need, 1);
        tp_buf_clear(b);
        struct read taker = {b, (size_t)e->size_bytes};
        r = unpack(e, take_read, &taker, &used);
    }
    const void *data = e->method == ZIP_STORED ? (const void *)e->data : b->data;
    size_t len = e->method == ZIP_STORED ? (size_t)e->packed_bytes : b->len;
    if (r == -EFBIG)
        return r;
    if (r || len != e->size_bytes || crc32_z(crc32(0, NULL, 0), data, len) != e->crc)
        return -EBADMSG;
    out->data = data;
    out->len = len;
    return 0;
}

void tp_zip_bytes_finish(struct tp_zip_bytes *bytes)
{
    tp_buf_finish(&bytes->unpacked);
    *bytes = (struct tp_zip_bytes){0};
}
