/*
 * The log: a JSON object a line, one write(2) each to a file opened with O_APPEND, so that lines of
 * several threads and processes do not mix. Nothing is allocated or locked and errno is kept: it
 * may be called anywhere, in a signal handler or a child after fork too.
 */
#ifndef TP_FACTORY_KGSL_LOG_H
#define TP_FACTORY_KGSL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is said on standard error, once, when a line cannot be written. */
#define TP_KGSL_LOG_LOST "the log cannot be written"

struct tp_kgsl_line {
    char text[4096];
    size_t length;
    bool on, open_list;
};

/* Lines go to PATH from now on (NULL: nowhere). -errno of open. */
int tp_kgsl_log_open(const char *path);

/* The descriptor that the log is written to, or -1. */
int tp_kgsl_log_fd(void);

/* Begins the line of CALL: time, pid, tid. */
void tp_kgsl_line_begin(struct tp_kgsl_line *line, const char *call);
void tp_kgsl_line_number(struct tp_kgsl_line *line, const char *key, uint64_t value);
void tp_kgsl_line_signed(struct tp_kgsl_line *line, const char *key, int64_t value);
/* As a string "0x…": JSON's numbers do not hold 64 bits. */
void tp_kgsl_line_hex(struct tp_kgsl_line *line, const char *key, uint64_t value);
void tp_kgsl_line_text(struct tp_kgsl_line *line, const char *key, const char *value);
/* A list of objects: begin, item, its fields, item, …, end. The list is cut where the line would
 * become too long, and says so. */
void tp_kgsl_line_list(struct tp_kgsl_line *line, const char *key);
bool tp_kgsl_line_item(struct tp_kgsl_line *line);
void tp_kgsl_line_list_end(struct tp_kgsl_line *line);
/* Ends and writes the line. */
void tp_kgsl_line_end(struct tp_kgsl_line *line);
/* The same with a call's RESULT: 0 or more, or a negative errno. */
void tp_kgsl_line_result(struct tp_kgsl_line *line, int64_t result);

#endif
