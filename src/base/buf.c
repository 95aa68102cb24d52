#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *tp_realloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        abort();
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        abort();
    return p;
}

void *tp_calloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        abort();
    return p;
}

char *tp_strndup(const char *s, size_t n)
{
    char *p = tp_realloc(NULL, n + 1, 1);
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

char *tp_strdup(const char *s)
{
    return tp_strndup(s, strlen(s));
}

char *tp_asprintf(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    return s;
}

void tp_buf_finish(struct tp_buf *b)
{
    free(b->data);
    *b = (struct tp_buf){0};
}

void tp_buf_clear(struct tp_buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = 0;
}

static void reserve(struct tp_buf *b, size_t more)
{
    size_t need;
    if (__builtin_add_overflow(b->len, more, &need) || need == SIZE_MAX)
        abort();
    if (need + 1 <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need + 1)
        cap = cap > SIZE_MAX / 2 ? need + 1 : cap * 2;
    b->data = tp_realloc(b->data, cap, 1);
    b->cap = cap;
}

void tp_buf_add(struct tp_buf *b, const void *data, size_t len)
{
    reserve(b, len);
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
    b->data[b->len] = 0;
}

void tp_buf_adds(struct tp_buf *b, const char *s)
{
    tp_buf_add(b, s, strlen(s));
}

void tp_buf_addc(struct tp_buf *b, char c)
{
    tp_buf_add(b, &c, 1);
}

void tp_buf_addf(struct tp_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char small[256];
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    if ((size_t)n < sizeof small) {
        tp_buf_add(b, small, (size_t)n);
    } else {
        reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void tp_buf_splice(struct tp_buf *b, size_t offset, size_t len, const void *data, size_t n)
{
    if (offset > b->len || len > b->len - offset)
        abort();
    if (n > len)
        reserve(b, n - len);
    if (!b->data)
        return;
    memmove(b->data + offset + n, b->data + offset + len, b->len - offset - len);
    if (n)
        memcpy(b->data + offset, data, n);
    b->len = b->len - len + n;
    b->data[b->len] = 0;
}

const char *tp_buf_str(const struct tp_buf *b)
{
    return b->data ? b->data : "";
}

char *tp_buf_take(struct tp_buf *b)
{
    char *s = b->data ? b->data : tp_strdup("");
    *b = (struct tp_buf){0};
    return s;
}

/* How many bytes the character at s has; 0: it is not UTF-8 (overlong, a surrogate, cut). */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = 0;
    if (s[0] >= 0xc2 && s[0] < 0xf5)
        n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* Characters of UTF-8 that end a line, or turn the direction in which a terminal shows what follows:
 * U+061C, U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool misleads(const unsigned char *s, size_t n)
{
    if (n == 2)
        return s[0] == 0xd8 && s[1] == 0x9c;
    if (n != 3 || s[0] != 0xe2)
        return false;
    return s[1] == 0x80 ? s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae)
                        : s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

static char *printable(const char *text, bool lines)
{
    struct tp_buf out = {0};
    const unsigned char *s = (const unsigned char *)(text ? text : ""), *good = s;
    while (*s) {
        if (*s >= ' ' && *s < 0x7f) { /* most of them, and fast */
            s++;
            continue;
        }
        size_t n = utf8_length(s);
        bool control = (*s < ' ' && !(lines && *s == '\n')) || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0);
        if (n && !control && !misleads(s, n)) {
            s += n;
            continue;
        }
        tp_buf_add(&out, good, (size_t)(s - good));
        for (size_t i = 0; i < (n ? n : 1); i++)
            tp_buf_addf(&out, "\\x%02x", s[i]);
        good = s += n ? n : 1;
    }
    tp_buf_add(&out, good, (size_t)(s - good));
    return tp_buf_take(&out);
}

char *tp_printable(const char *text)
{
    return printable(text, true);
}

char *tp_printable_line(const char *text)
{
    return printable(text, false);
}
