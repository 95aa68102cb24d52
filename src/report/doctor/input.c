#include "report/doctor/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/proc.h"

#define ROOM (64u << 10)

struct tp_input {
    int fd; /* owned */
    enum { UNKNOWN, PLAIN, PACKED } kind;
    z_stream z; /* PACKED: it reads from `bytes` */
    bool in_member, ended, damaged;
    size_t from, to;
    unsigned char bytes[ROOM];
};

struct tp_input *tp_input_create(int fd)
{
    struct tp_input *in = tp_calloc(1, sizeof *in);

    in->fd = fd;
    return in;
}

void tp_input_destroy(struct tp_input *in)
{
    if (!in)
        return;
    if (in->kind == PACKED)
        inflateEnd(&in->z);
    close(in->fd);
    free(in);
}

bool tp_input_is_damaged(const struct tp_input *in)
{
    return in->damaged;
}

/* More behind what is there. 0: there is no more. */
static ssize_t take(struct tp_input *in)
{
    if (in->from == in->to)
        in->from = in->to = 0;
    /* Packed bytes may come for ever, and nothing come out of them. */
    if (tp_interrupted())
        return -EINTR;
    ssize_t n = read(in->fd, in->bytes + in->to, ROOM - in->to);
    if (n < 0)
        return -errno;
    in->to += (size_t)n;
    return n;
}

/* By its first two bytes (RFC 1952). */
static ssize_t find_kind(struct tp_input *in)
{
    ssize_t n = 1;

    while (in->to < 2 && (n = take(in)) > 0)
        ;
    if (n < 0)
        return n;
    if (in->to < 2 || in->bytes[0] != 0x1f || in->bytes[1] != 0x8b) {
        in->kind = PLAIN;
        return 0;
    }
    if (inflateInit2(&in->z, 15 + 16) != Z_OK)
        return -ENOMEM;
    in->kind = PACKED;
    in->in_member = true;
    return 0;
}

static ssize_t read_plain(struct tp_input *in, void *out, size_t room)
{
    size_t n = in->to - in->from;

    if (n == 0) {
        ssize_t r = read(in->fd, out, room);
        return r < 0 ? -errno : r;
    }
    n = n < room ? n : room;
    memcpy(out, in->bytes + in->from, n);
    in->from += n;
    return (ssize_t)n;
}

static ssize_t give_up(struct tp_input *in)
{
    in->ended = in->damaged = true;
    return 0;
}

/* Members stand one behind the other; what is none ends them. */
static ssize_t read_packed(struct tp_input *in, void *out, size_t room)
{
    while (!in->ended) {
        if (in->from == in->to) {
            ssize_t n = take(in);
            if (n < 0)
                return n;
            if (n == 0 && in->in_member)
                return give_up(in);
            in->ended = n == 0;
            continue;
        }
        if (!in->in_member) {
            if (in->bytes[in->from] != 0x1f || inflateReset(&in->z) != Z_OK)
                return give_up(in);
            in->in_member = true;
        }
        in->z.next_in = in->bytes + in->from;
        in->z.avail_in = (unsigned)(in->to - in->from);
        in->z.next_out = out;
        in->z.avail_out = (unsigned)room;
        int r = inflate(&in->z, Z_NO_FLUSH);
        in->from = in->to - in->z.avail_in;
        size_t got = room - in->z.avail_out;
        in->in_member = r != Z_STREAM_END;
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
            give_up(in);
        if (got > 0)
            return (ssize_t)got;
    }
    return 0;
}

ssize_t tp_input_read(struct tp_input *in, void *out, size_t room)
{
    if (in->kind == UNKNOWN) {
        ssize_t r = find_kind(in);
        if (r < 0)
            return r;
    }
    return in->kind == PLAIN ? read_plain(in, out, room) : read_packed(in, out, room);
}
