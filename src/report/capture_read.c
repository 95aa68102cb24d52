#include "report/capture_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "report/capture_decode.h"

#define CHUNK 65536u

struct tp_capture_reader {
    struct tp_capture_sink sink;
    struct tp_capture_found found;
    bool has_header;
    int err;
    uint8_t bytes[TP_CAPTURE_HEADER + BLOCK_MOST]; /* the file's header, or a block */
    size_t n;                                      /* of them are there */
};

struct tp_capture_reader *tp_capture_reader_create(const struct tp_capture_sink *sink)
{
    struct tp_capture_reader *r = tp_calloc(1, sizeof *r);
    r->sink = *sink;
    return r;
}

void tp_capture_reader_destroy(struct tp_capture_reader *r)
{
    free(r);
}

static uint32_t get_u32(const uint8_t *b)
{
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The file's first bytes, or some of them, are a capture's. */
static int check_header(const struct tp_capture_reader *r, const char *name, struct tp_error *e)
{
    size_t magic = r->n < CAPTURE_MAGIC_BYTES ? r->n : CAPTURE_MAGIC_BYTES;
    if (memcmp(r->bytes, CAPTURE_MAGIC, magic) != 0)
        return tp_fail(e, TP_STATUS_INPUT, -EPROTO, name,
            "make one with turnpike simulate --capture; one that was sent as text is spoilt",
            "this is no capture");
    uint32_t version =
        r->n < TP_CAPTURE_HEADER ? TP_CAPTURE_VERSION : get_u32(r->bytes + CAPTURE_MAGIC_BYTES);
    if (version != TP_CAPTURE_VERSION)
        return tp_fail(e, TP_STATUS_INPUT, -EPROTONOSUPPORT, name,
            "read it with the turnpike that made it, or a later one",
            "this is a capture of version %u, and this program reads version %u", version,
            TP_CAPTURE_VERSION);
    return 0;
}

static bool is_block(const struct tp_capture_reader *r)
{
    return get_u32(r->bytes) == BLOCK_MARK && get_u32(r->bytes + 4) <= BLOCK_MOST;
}

static void take_block(struct tp_capture_reader *r)
{
    size_t length = r->n - TP_CAPTURE_HEADER;
    bool whole = block_sum(r->bytes, r->n) == get_u32(r->bytes + 12);
    whole = whole && capture_decode(r->bytes + TP_CAPTURE_HEADER, length, &r->sink, &r->found);
    r->found.blocks += whole;
    r->found.damaged += !whole;
}

/* Bytes that what is under way lacks; it has its head. */
static size_t lacks(const struct tp_capture_reader *r)
{
    if (r->n < TP_CAPTURE_HEADER || !r->has_header)
        return TP_CAPTURE_HEADER - r->n;
    return TP_CAPTURE_HEADER + get_u32(r->bytes + 4) - r->n;
}

/* The head that was waited for is there, and more may follow. */
static int take_head(struct tp_capture_reader *r, const char *name, struct tp_error *e)
{
    if (!r->has_header) {
        int err = check_header(r, name, e);
        r->has_header = true;
        r->n = 0;
        return err;
    }
    if (!is_block(r)) {
        r->found.damaged++;
        r->found.lost = true;
    }
    return 0;
}

int tp_capture_push(
    struct tp_capture_reader *r, const void *bytes, size_t n, const char *name, struct tp_error *e)
{
    const uint8_t *at = bytes;
    while (n > 0 && r->err == 0 && !r->found.lost) {
        size_t some = lacks(r);
        bool head = r->n < TP_CAPTURE_HEADER;
        some = some < n ? some : n;
        memcpy(r->bytes + r->n, at, some);
        r->n += some;
        at += some;
        n -= some;
        if (head && r->n == TP_CAPTURE_HEADER)
            r->err = take_head(r, name, e);
        else if (!r->has_header)
            r->err = check_header(r, name, e);
        if (r->err == 0 && r->n >= TP_CAPTURE_HEADER && !r->found.lost && lacks(r) == 0) {
            take_block(r);
            r->n = 0;
        }
    }
    return r->err;
}

void tp_capture_end(struct tp_capture_reader *r, struct tp_capture_found *out)
{
    if (r->err == 0 && !r->found.lost && r->has_header && r->n > TP_CAPTURE_HEADER)
        capture_decode(r->bytes + TP_CAPTURE_HEADER, r->n - TP_CAPTURE_HEADER, &r->sink, &r->found);
    r->n = 0;
    *out = r->found;
}

int tp_capture_read(const char *path, const struct tp_capture_sink *sink,
    struct tp_capture_found *out, struct tp_error *e)
{
    uint8_t *chunk = tp_calloc(1, CHUNK);
    struct tp_capture_reader *r = tp_capture_reader_create(sink);
    int err = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        err = tp_fail_errno(e, errno, path, "the capture cannot be read");
    while (err >= 0) {
        ssize_t n = read(fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            err = tp_fail_errno(e, errno, path, "the capture cannot be read");
        if (n <= 0)
            break;
        err = tp_capture_push(r, chunk, (size_t)n, path, e);
    }
    if (err >= 0 && !r->has_header)
        err = tp_fail(e, TP_STATUS_INPUT, -EPROTO, path,
            "make one with turnpike play --capture or simulate --capture", "this is no capture: it %s",
            r->n > 0 ? "ends within its first 16 bytes" : "is empty");
    if (fd >= 0)
        close(fd);
    tp_capture_end(r, out);
    tp_capture_reader_destroy(r);
    free(chunk);
    return err;
}
