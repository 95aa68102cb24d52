#include "report/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

struct tp_recorder {
    char *path;
    int fd; /* its own */
    struct tp_capture_block block;
    uint32_t number; /* the block's */
    int err;         /* the first one; nothing is written any more */
};

static void write_all(struct tp_recorder *c, const uint8_t *bytes, size_t n)
{
    while (n > 0 && c->err == 0) {
        ssize_t done = write(c->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            c->err = -errno;
            return;
        }
        bytes += done;
        n -= (size_t)done;
    }
}

int tp_recorder_create(const char *path, struct tp_recorder **out, struct tp_error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return tp_fail_errno(e, errno, path, "the capture cannot be written");
    *out = tp_recorder_begin(fd, path);
    return 0;
}

struct tp_recorder *tp_recorder_begin(int fd, const char *path)
{
    uint8_t header[TP_CAPTURE_HEADER];
    struct tp_recorder *c = tp_calloc(1, sizeof *c);
    c->path = tp_strdup(path);
    c->fd = fd;
    tp_block_begin(&c->block);
    tp_recorder_header(header);
    write_all(c, header, sizeof header);
    return c;
}

void tp_recorder_flush(struct tp_recorder *c)
{
    if (tp_block_is_empty(&c->block))
        return;
    tp_block_seal(&c->block, c->number++);
    write_all(c, c->block.bytes, c->block.n);
    tp_block_begin(&c->block);
}

void tp_recorder_frame(struct tp_recorder *c, const struct tp_frame_record *f)
{
    if (tp_block_frame(&c->block, f))
        return;
    tp_recorder_flush(c);
    tp_block_frame(&c->block, f);
}

void tp_recorder_refresh(struct tp_recorder *c, const struct tp_refresh_record *r)
{
    if (tp_block_refresh(&c->block, r))
        return;
    tp_recorder_flush(c);
    tp_block_refresh(&c->block, r);
}

void tp_recorder_setting(
    struct tp_recorder *c, int64_t at_ns, const char *name, const char *fmt, ...)
{
    char value[TP_CAPTURE_VALUE + 1];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    if (tp_block_setting(&c->block, at_ns, name, value))
        return;
    tp_recorder_flush(c);
    tp_block_setting(&c->block, at_ns, name, value);
}

void tp_recorder_guest(struct tp_recorder *c, unsigned guest, const char *name)
{
    if (tp_block_guest(&c->block, guest, name))
        return;
    tp_recorder_flush(c);
    tp_block_guest(&c->block, guest, name);
}

void tp_recorder_count(struct tp_recorder *c, const char *name, uint64_t value)
{
    if (tp_block_count(&c->block, name, value))
        return;
    tp_recorder_flush(c);
    tp_block_count(&c->block, name, value);
}

int tp_recorder_finish(struct tp_recorder *c, struct tp_error *e)
{
    if (!c)
        return 0;
    if (!tp_block_end(&c->block)) {
        tp_recorder_flush(c);
        tp_block_end(&c->block);
    }
    tp_recorder_flush(c);
    int err = c->err;
    if (close(c->fd) < 0 && err == 0)
        err = -errno;
    if (err < 0)
        tp_fail_errno(e, err, c->path, "the capture is not whole");
    free(c->path);
    free(c);
    return err;
}
