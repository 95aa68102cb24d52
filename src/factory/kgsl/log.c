#include "log.h"

#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Room that is kept for a line's end. */
#define TAIL 160
/* Descriptors of the simulator's own lie above those that a client is likely to count. */
#define HIGH_FD 200

static atomic_int log_fd = -1;
static atomic_bool lost; /* a line could not be written, and that was said */

int tp_kgsl_log_open(const char *path)
{
    int fd = -1;
    if (path) {
        fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                          0644);
        if (fd < 0)
            return -errno;
        int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_FD);
        if (high >= 0) {
            syscall(SYS_close, fd);
            fd = high;
        }
    }
    atomic_store(&log_fd, fd);
    return 0;
}

int tp_kgsl_log_fd(void)
{
    return atomic_load(&log_fd);
}

static void put(struct tp_kgsl_line *line, const char *text, size_t length)
{
    if (length > sizeof line->text - line->length)
        length = sizeof line->text - line->length;
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void put_text(struct tp_kgsl_line *line, const char *text)
{
    put(line, text, strlen(text));
}

static void put_number(struct tp_kgsl_line *line, uint64_t value, unsigned base)
{
    char digits[24];
    size_t n = sizeof digits;
    do {
        digits[--n] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    put(line, digits + n, sizeof digits - n);
}

/* A comma where one is needed, and the key; false when the line is full. */
static bool put_key(struct tp_kgsl_line *line, const char *key)
{
    if (!line->on || line->length > sizeof line->text - TAIL - strlen(key))
        return false;
    if (line->text[line->length - 1] != '{')
        put(line, ",", 1);
    put(line, "\"", 1);
    put_text(line, key);
    put(line, "\":", 2);
    return true;
}

void tp_kgsl_line_begin(struct tp_kgsl_line *line, const char *call)
{
    struct timespec now;
    int saved = errno;
    line->length = 0;
    line->open_list = false;
    line->on = atomic_load(&log_fd) >= 0;
    if (!line->on)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    put(line, "{", 1);
    tp_kgsl_line_number(line, "t", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    tp_kgsl_line_number(line, "pid", (uint64_t)syscall(SYS_getpid));
    tp_kgsl_line_number(line, "tid", (uint64_t)syscall(SYS_gettid));
    tp_kgsl_line_text(line, "call", call);
    errno = saved;
}

void tp_kgsl_line_number(struct tp_kgsl_line *line, const char *key, uint64_t value)
{
    if (put_key(line, key))
        put_number(line, value, 10);
}

void tp_kgsl_line_signed(struct tp_kgsl_line *line, const char *key, int64_t value)
{
    if (!put_key(line, key))
        return;
    if (value < 0)
        put(line, "-", 1);
    put_number(line, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

void tp_kgsl_line_hex(struct tp_kgsl_line *line, const char *key, uint64_t value)
{
    if (!put_key(line, key))
        return;
    put_text(line, "\"0x");
    put_number(line, value, 16);
    put(line, "\"", 1);
}

void tp_kgsl_line_text(struct tp_kgsl_line *line, const char *key, const char *value)
{
    if (!put_key(line, key))
        return;
    put(line, "\"", 1);
    for (; *value && line->length < sizeof line->text - TAIL; value++) {
        unsigned char c = (unsigned char)*value;
        if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f) {
            put_text(line, "\\u00");
            put(line, &"0123456789abcdef"[c >> 4], 1);
            put(line, &"0123456789abcdef"[c & 15], 1);
        } else {
            put(line, value, 1);
        }
    }
    put(line, "\"", 1);
}

void tp_kgsl_line_list(struct tp_kgsl_line *line, const char *key)
{
    if (!put_key(line, key))
        return;
    put(line, "[{", 2);
    line->open_list = true;
}

bool tp_kgsl_line_item(struct tp_kgsl_line *line)
{
    if (!line->open_list || line->length > sizeof line->text - 2 * TAIL)
        return false;
    if (line->text[line->length - 1] != '{')
        put_text(line, "},{");
    return true;
}

void tp_kgsl_line_list_end(struct tp_kgsl_line *line)
{
    if (!line->open_list)
        return;
    line->open_list = false;
    if (line->text[line->length - 1] == '{') { /* nothing came */
        line->length--;
        put(line, "]", 1);
        return;
    }
    if (line->length > sizeof line->text - 2 * TAIL)
        put_text(line, ",\"cut\":1");
    put(line, "}]", 2);
}

static void say_lost(void)
{
    static const char text[] = "turnpike-kgsl: " TP_KGSL_LOG_LOST "\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n; /* there is nobody else to tell */
}

void tp_kgsl_line_end(struct tp_kgsl_line *line)
{
    int saved = errno, fd = atomic_load(&log_fd);
    tp_kgsl_line_list_end(line);
    if (line->on && fd >= 0) {
        put(line, "}\n", 2);
        /* A line that cannot be written is lost: the client must not notice, its user must. */
        ssize_t n = write(fd, line->text, line->length);
        if (n != (ssize_t)line->length && !atomic_exchange(&lost, true))
            say_lost();
    }
    errno = saved;
}

void tp_kgsl_line_result(struct tp_kgsl_line *line, int64_t result)
{
    if (!line->on)
        return;
    tp_kgsl_line_list_end(line); /* of a call that failed within it */
    /* The end has its room, whatever came before. */
    put_text(line, ",\"ret\":");
    if (result < 0)
        put_text(line, "-1");
    else
        put_number(line, (uint64_t)result, 10);
    if (result < 0) {
        const char *name = tp_kgsl_errno_name((int)-result);
        put_text(line, ",\"errno\":");
        put_number(line, (uint64_t)-result, 10);
        put_text(line, ",\"error\":\"");
        put_text(line, name ? name : "?");
        put(line, "\"", 1);
    }
    tp_kgsl_line_end(line);
}
