/* A growing byte string, always NUL-terminated behind its length. */
#ifndef TP_BASE_BUF_H
#define TP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

/* {0} is an empty buffer. The owner calls tp_buf_finish. Memory exhaustion aborts the program:
 * sizes are bounded by what is read (tp_read_file's limit), so it is never an input's doing. */
struct tp_buf {
    char *data; /* NULL while nothing was ever added */
    size_t len, cap;
};

void tp_buf_finish(struct tp_buf *b);
void tp_buf_clear(struct tp_buf *b);
void tp_buf_add(struct tp_buf *b, const void *data, size_t len);
void tp_buf_adds(struct tp_buf *b, const char *s);
void tp_buf_addc(struct tp_buf *b, char c);
void tp_buf_addf(struct tp_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Replaces len bytes at offset by n bytes of data. */
void tp_buf_splice(struct tp_buf *b, size_t offset, size_t len, const void *data, size_t n);
/* Never NULL. */
const char *tp_buf_str(const struct tp_buf *b);
/* Hands the allocated string to the caller (who frees it) and empties the buffer. Never NULL. */
char *tp_buf_take(struct tp_buf *b);

/* malloc and friends that never return NULL; abort() when memory is exhausted. */
void *tp_calloc(size_t n, size_t size);
void *tp_realloc(void *p, size_t n, size_t size);
char *tp_strdup(const char *s);
char *tp_strndup(const char *s, size_t n);
char *tp_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The text, fit for a terminal and for JSON: a control character other than a line's end, one that
 * turns the direction of writing, and what is no UTF-8, as "\\x1b". NULL: an empty text. Caller frees. */
char *tp_printable(const char *text);
/* The same with line ends as \x0a too: for what must not begin a line, as names out of a file. */
char *tp_printable_line(const char *text);

/* Grows an array so that one more element fits: TP_PUSH(arr, n, cap) = value. */
#define TP_PUSH(arr, n, cap)                                                                       \
    (*((n) == (cap) ? ((arr) = tp_realloc((arr), (cap) = (cap) ? (cap) * 2 : 8, sizeof *(arr)),    \
                       &(arr)[(n)++])                                                              \
                    : &(arr)[(n)++]))

#endif
