/*
 * Reads a capture (docs/capture.md): in one go, in memory of a fixed size, whatever is in it. What
 * it finds it tells one by one. Bytes may come from anywhere and be anything.
 */
#ifndef TP_REPORT_CAPTURE_READ_H
#define TP_REPORT_CAPTURE_READ_H

#include <stddef.h>

#include "base/error.h"
#include "frames/census/record.h"

/* Who is told; each may be NULL. What is handed over is there until the call returns. Instants and
 * waits are TP_NEVER or within 2^60 ns of 0, and so is what refreshes are counted by; texts may be
 * no UTF-8. */
struct tp_capture_sink {
    void (*setting)(void *data, int64_t at_ns, const char *name, const char *value);
    void (*guest)(void *data, unsigned guest, const char *name);
    void (*frame)(void *data, const struct tp_frame_record *f);
    void (*refresh)(void *data, const struct tp_refresh_record *r);
    void (*count)(void *data, const char *name, uint64_t value);
    void *data;
};

struct tp_capture_found {
    uint64_t blocks, records; /* whole ones */
    uint64_t unknown;         /* of these records: of types that a later version has */
    uint64_t damaged; /* blocks that are not what was written; what follows in them is left out */
    bool lost;        /* behind such a one no other could be found */
    bool ended;       /* to the end of the run: nothing was cut off */
};

struct tp_capture_reader;

/* The sink is copied. The caller destroys it. */
struct tp_capture_reader *tp_capture_reader_create(const struct tp_capture_sink *sink);
/* NULL is fine. */
void tp_capture_reader_destroy(struct tp_capture_reader *r);
/* The file's next bytes. -EPROTO: this is no capture; -EPROTONOSUPPORT: it is of a later version.
 * After an error nothing more is taken. name: for errors. */
int tp_capture_push(
    struct tp_capture_reader *r, const void *bytes, size_t n, const char *name, struct tp_error *e);
/* There are no more: of a block that was cut, tells the records that are whole. */
void tp_capture_end(struct tp_capture_reader *r, struct tp_capture_found *out);

/* All of these for a file, or a pipe. Also: the errors of open and read; and what ends within its
 * header is -EPROTO. */
int tp_capture_read(const char *path, const struct tp_capture_sink *sink,
    struct tp_capture_found *out, struct tp_error *e);

#endif
