#include "zip_writer.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put(struct tp_buf *b, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        tp_buf_addc(b, (char)(value >> (8 * i)));
}

static struct tp_buf deflated(const void *data, size_t len, int level)
{
    struct tp_buf out = {0};
    z_stream s = {0};
    if (deflateInit2(&s, level, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    s.next_in = (Bytef *)(uintptr_t)data;
    s.avail_in = (uInt)len;
    uint8_t piece[65536];
    int state;
    do {
        s.next_out = piece;
        s.avail_out = sizeof piece;
        state = deflate(&s, Z_FINISH);
        tp_buf_add(&out, piece, sizeof piece - s.avail_out);
    } while (state == Z_OK);
    deflateEnd(&s);
    return out;
}

struct tp_buf zip_zeros(size_t n)
{
    void *zeros = tp_calloc(n, 1);
    struct tp_buf b = deflated(zeros, n, 9);
    free(zeros);
    return b;
}

/* Version to method, or to time and date: APPNOTE.TXT 4.3.7, 4.3.12. */
static void put_common(struct tp_buf *b, const struct zip_numbers *n, bool wide, bool open)
{
    put(b, wide ? 45 : 20, 2);
    put(b, n->flags, 2);
    put(b, n->method, 2);
    put(b, 12 << 11, 2);
    put(b, 1 << 5 | 1, 2);
    put(b, open ? 0 : n->crc, 4);
    put(b, open ? 0 : wide ? UINT32_MAX : n->packed, 4);
    put(b, open ? 0 : wide ? UINT32_MAX : n->size, 4);
}

static void put_wide(struct tp_buf *b, const struct zip_numbers *n)
{
    put(b, 1, 2);
    put(b, 16, 2);
    put(b, n->size, 8);
    put(b, n->packed, 8);
}

void zip_add(struct zip_writer *w, const struct zip_shape *e)
{
    struct tp_buf packed = {0};
    if (e->packed)
        tp_buf_add(&packed, e->packed->data, e->packed->len);
    else if (e->deflated || e->blocks)
        packed = deflated(e->data, e->len, e->blocks ? 0 : 9);
    else
        tp_buf_add(&packed, e->data ? e->data : "", e->len);
    const struct zip_numbers own = {
        .crc = (uint32_t)crc32_z(crc32(0, NULL, 0), e->data ? e->data : "", e->len) ^ e->crc_lie,
        .packed = packed.len + (uint64_t)e->packed_lie,
        .size = e->len + (uint64_t)e->size_lie,
        .method = e->method                         ? e->method
            : e->packed || e->deflated || e->blocks ? 8
                                                    : 0,
        .flags = (uint16_t)(e->flags | (e->described ? 8 : 0)),
    };
    const struct zip_numbers n = w->last = e->same_place ? w->last : own;
    size_t name_len = e->name_len ? e->name_len : strlen(e->name);
    const char *local = e->local_name ? e->local_name : e->name;
    size_t local_len = e->local_name ? strlen(e->local_name) : name_len;
    tp_buf_adds(&w->file, e->gap ? e->gap : "");
    uint64_t offset = e->same_place ? w->last_offset : w->file.len;
    if (!e->same_place) {
        put(&w->file, 0x04034b50, 4);
        put_common(&w->file, &n, e->wide, e->described);
        put(&w->file, local_len, 2);
        put(&w->file, e->wide && !e->described ? 20 : 0, 2);
        tp_buf_add(&w->file, local, local_len);
        if (e->wide && !e->described)
            put_wide(&w->file, &n);
        tp_buf_add(&w->file, tp_buf_str(&packed), packed.len);
    }
    if (e->described) {
        put(&w->file, 0x08074b50, 4);
        put(&w->file, n.crc, 4);
        put(&w->file, n.packed, e->wide ? 8 : 4);
        put(&w->file, n.size, e->wide ? 8 : 4);
    }
    w->last_offset = offset;
    struct tp_buf *d = &w->directory;
    put(d, 0x02014b50, 4);
    put(d, 3 << 8 | 20, 2);
    put_common(d, &n, e->wide, false);
    put(d, name_len, 2);
    put(d, e->wide ? 20 : 0, 2);
    put(d, 0, 2 + 2 + 2);
    put(d, (uint64_t)(e->mode ? e->mode : 0100644) << 16, 4);
    put(d, offset, 4);
    tp_buf_add(d, e->name, name_len);
    if (e->wide)
        put_wide(d, &n);
    w->entries++;
    tp_buf_finish(&packed);
}

struct tp_buf zip_end(struct zip_writer *w, const struct zip_ending *ending)
{
    static const struct zip_ending plain;
    const struct zip_ending *e = ending ? ending : &plain;
    struct tp_buf *b = &w->file;
    uint64_t offset = b->len, size = w->directory.len;
    tp_buf_add(b, tp_buf_str(&w->directory), size);
    if (e->wide) {
        uint64_t at = b->len;
        put(b, 0x06064b50, 4);
        put(b, 44, 8);
        put(b, 45, 2);
        put(b, 45, 2);
        put(b, 0, 8);
        put(b, w->entries, 8);
        put(b, w->entries, 8);
        put(b, size, 8);
        put(b, offset, 8);
        put(b, 0x07064b50, 4);
        put(b, 0, 4);
        put(b, at, 8);
        put(b, 1, 4);
    }
    put(b, 0x06054b50, 4);
    put(b, e->disk, 2);
    put(b, e->disk, 2);
    put(b, e->wide ? UINT16_MAX : w->entries, 2);
    put(b, e->wide ? UINT16_MAX : w->entries, 2);
    put(b, e->wide ? UINT32_MAX : size, 4);
    put(b, e->wide ? UINT32_MAX : offset, 4);
    size_t comment = e->comment ? strlen(e->comment) : 0;
    put(b, comment, 2);
    tp_buf_add(b, e->comment ? e->comment : "", comment);
    tp_buf_adds(b, e->trailing ? e->trailing : "");
    tp_buf_finish(&w->directory);
    struct tp_buf out = w->file;
    *w = (struct zip_writer){0};
    return out;
}
