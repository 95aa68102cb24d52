#include "report/doctor/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "report/doctor/bugreport.h"
#include "report/doctor/input.h"

#define ROOM_FIRST (TP_LINE_BYTES / 4)
#define ROOM_MOST (4 * TP_LINE_BYTES) /* for the longest lines */
#define RAW (ROOM_FIRST / 2)          /* of UTF-16, before it is UTF-8 */

struct tp_lines {
    tp_lines_source *source;
    void *data;
    char *path;               /* for what is said of errors; NULL: not from a file */
    struct tp_input *input;   /* owned; NULL: not of this kind */
    struct tp_bugreport *zip; /* the same */
    struct tp_lines_found found;
    bool ended, begun;
    bool skipping; /* the rest of a line that was cut */
    bool big;      /* UTF-16's order of bytes */
    unsigned odd;  /* a byte of UTF-16 that waits for its other half; 256: none */
    unsigned high; /* a high surrogate that waits for its low one; 0: none */
    size_t from, to;
    char *buffer;       /* owned */
    size_t room;        /* bytes of it */
    unsigned char *raw; /* owned, RAW bytes; NULL: no UTF-16 */
};

static ssize_t read_input(void *data, void *out, size_t room)
{
    struct tp_lines *l = data;
    ssize_t n = tp_input_read(l->input, out, room);

    l->found.damaged = tp_input_is_damaged(l->input);
    return n;
}

static ssize_t read_zip(void *data, void *out, size_t room)
{
    struct tp_lines *l = data;
    ssize_t n = tp_bugreport_read(l->zip, out, room);

    l->found.damaged = n < 0;
    return n < 0 ? 0 : n;
}

struct tp_lines *tp_lines_from(tp_lines_source *source, void *data)
{
    struct tp_lines *l = tp_calloc(1, sizeof *l);

    l->source = source;
    l->data = data;
    l->odd = 256;
    l->room = ROOM_FIRST;
    l->buffer = tp_realloc(NULL, l->room, 1);
    return l;
}

static int open_zip(const char *path, struct tp_lines **out, struct tp_error *e)
{
    struct tp_bugreport *zip;
    int r = tp_bugreport_open(path, &zip, e);

    if (r)
        return r;
    *out = tp_lines_from(read_zip, NULL);
    (*out)->data = *out;
    (*out)->path = tp_strdup(path);
    (*out)->zip = zip;
    return 0;
}

int tp_lines_open(const char *path, struct tp_lines **out, struct tp_error *e)
{
    bool input = !path || !strcmp(path, "-");
    const char *name = input ? "standard input" : path;
    struct stat st;
    int fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st)) {
        int err = errno;
        if (fd >= 0)
            close(fd);
        return tp_fail_errno(e, err, name, "the log cannot be opened");
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return tp_fail(
            e, TP_STATUS_INPUT, -EISDIR, name, "name a file with a log in it", "is a folder");
    }
    if (!input && tp_bugreport_is(path)) {
        close(fd);
        return open_zip(path, out, e);
    }
    struct tp_lines *l = tp_lines_from(read_input, NULL);
    l->data = l;
    l->path = tp_strdup(name);
    l->input = tp_input_create(fd);
    *out = l;
    return 0;
}

void tp_lines_close(struct tp_lines *l)
{
    if (!l)
        return;
    tp_input_destroy(l->input);
    tp_bugreport_close(l->zip);
    free(l->path);
    free(l->buffer);
    free(l->raw);
    free(l);
}

const struct tp_lines_found *tp_lines_found(const struct tp_lines *l)
{
    return &l->found;
}

/* --- UTF-16 --- */

static void put_utf8(struct tp_lines *l, uint32_t c)
{
    char *at = l->buffer + l->to;

    if (c < 0x80) {
        *at++ = (char)c;
    } else if (c < 0x800) {
        *at++ = (char)(0xc0 | c >> 6);
        *at++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *at++ = (char)(0xe0 | c >> 12);
        *at++ = (char)(0x80 | (c >> 6 & 63));
        *at++ = (char)(0x80 | (c & 63));
    } else {
        *at++ = (char)(0xf0 | c >> 18);
        *at++ = (char)(0x80 | (c >> 12 & 63));
        *at++ = (char)(0x80 | (c >> 6 & 63));
        *at++ = (char)(0x80 | (c & 63));
    }
    l->to = (size_t)(at - l->buffer);
}

static void put_unit(struct tp_lines *l, uint32_t unit)
{
    bool low = unit >= 0xdc00 && unit < 0xe000, high = unit >= 0xd800 && unit < 0xdc00;

    if (l->high && low) {
        put_utf8(l, 0x10000 + ((l->high - 0xd800) << 10) + (unit - 0xdc00));
        l->high = 0;
        return;
    }
    if (l->high)
        put_utf8(l, 0xfffd);
    l->high = high ? unit : 0;
    if (!high)
        put_utf8(l, low ? 0xfffd : unit);
}

static void put_utf16(struct tp_lines *l, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (l->odd == 256) {
            l->odd = bytes[i];
            continue;
        }
        put_unit(l, l->big ? l->odd << 8 | bytes[i] : (unsigned)bytes[i] << 8 | l->odd);
        l->odd = 256;
    }
}

/* --- lines --- */

/* Is there a mark of the encoding in front? It is taken away. */
static void begin(struct tp_lines *l)
{
    const unsigned char *b = (const unsigned char *)l->buffer;

    l->begun = true;
    l->found.is_capture = l->to >= 5 && !memcmp(b, "TPCAP", 5);
    if (l->to >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf) {
        l->from = 3;
    } else if (l->to >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff))) {
        l->found.utf16 = true;
        l->big = b[0] == 0xfe;
        size_t n = l->to - 2;
        l->raw = tp_realloc(NULL, RAW, 1);
        memcpy(l->raw, b + 2, n);
        l->to = 0;
        put_utf16(l, l->raw, n);
    }
}

/* Also within a line that never ends, a signal ends the reading. */
static ssize_t take(struct tp_lines *l, void *out, size_t room)
{
    return tp_interrupted() ? -EINTR : l->source(l->data, out, room);
}

/* More bytes behind those that are there. A unit of UTF-16 becomes three bytes at most, and one
 * that waited for its other half is told besides. */
static int fill(struct tp_lines *l, struct tp_error *e)
{
    if (l->from > 0) {
        memmove(l->buffer, l->buffer + l->from, l->to - l->from);
        l->to -= l->from;
        l->from = 0;
    }
    if (l->room - l->to < l->room / 4 && l->room < ROOM_MOST) {
        l->room *= 2;
        l->buffer = tp_realloc(l->buffer, l->room, 1);
    }
    size_t room = l->room - l->to;
    ssize_t n;
    if (!l->begun) {
        /* As many as its mark and the raw bytes take. */
        n = take(l, l->buffer + l->to, RAW - l->to);
    } else if (l->found.utf16) {
        room = (room - 8) / 2;
        n = take(l, l->raw, room < RAW ? room : RAW);
    } else {
        n = take(l, l->buffer + l->to, room);
    }
    if (n == -EINTR)
        return tp_fail(e, TP_STATUS_FAILED, -EINTR, NULL, NULL, "interrupted");
    if (n < 0)
        return tp_fail_errno(e, (int)n, l->path, "the log cannot be read");
    l->ended = n == 0;
    l->found.bytes += (uint64_t)n;
    if (l->begun && l->found.utf16) {
        put_utf16(l, l->raw, (size_t)n);
        return 0;
    }
    l->to += (size_t)n;
    if (!l->begun && (l->to >= 5 || l->ended))
        begin(l);
    return 0;
}

/* Where the line ends that begins at `from`; NULL: not in what is here. */
static const char *line_end(const struct tp_lines *l, size_t searched)
{
    return memchr(l->buffer + l->from + searched, '\n', l->to - l->from - searched);
}

static void give(struct tp_lines *l, size_t len, struct tp_line *out)
{
    out->text = l->buffer + l->from;
    /* Of adb's of old there are several. */
    while (len > 0 && out->text[len - 1] == '\r')
        len--;
    out->len = len;
    out->number = ++l->found.lines;
}

int tp_lines_next(struct tp_lines *l, struct tp_line *out, struct tp_error *e)
{
    size_t searched = 0;

    for (;;) {
        size_t here = l->to - l->from;
        const char *end = line_end(l, searched);
        size_t len = end ? (size_t)(end - (l->buffer + l->from)) : here;
        if (l->skipping && (end || here)) {
            l->from += len + (end ? 1 : 0);
            l->skipping = !end;
            searched = 0;
            continue;
        }
        if (len > TP_LINE_BYTES) {
            l->found.cut++;
            give(l, TP_LINE_BYTES, out);
            l->from += TP_LINE_BYTES;
            l->skipping = true;
            return 1;
        }
        if (end || (l->ended && here)) {
            give(l, len, out);
            l->from += len + (end ? 1 : 0);
            return 1;
        }
        if (l->ended)
            return 0;
        searched = here;
        int r = fill(l, e);
        if (r)
            return r;
        /* Its mark was in front. */
        searched = l->begun && searched <= l->to - l->from ? searched : 0;
    }
}
