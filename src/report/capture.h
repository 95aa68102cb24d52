/*
 * A capture: the records of a run in a compact file, which is whole up to wherever it ends. Its
 * format is docs/capture.md. This is the side that writes.
 *
 * Records are put into a block, which allocates nothing and calls nobody; a block that is full is
 * sealed, and its bytes go to the file. Each block can be read without the others.
 */
#ifndef TP_REPORT_CAPTURE_H
#define TP_REPORT_CAPTURE_H

#include <stddef.h>

#include "base/error.h"
#include "frames/census/record.h"

#define TP_CAPTURE_VERSION 1u
#define TP_CAPTURE_HEADER 16u   /* bytes of a file, and of a block, before what is in them */
#define TP_CAPTURE_ROOM 16384u  /* of a block that is written, with its header */
#define TP_CAPTURE_INSTANTS 20u /* of a frame */
#define TP_CAPTURE_NAME 63u     /* bytes of the longest name */
#define TP_CAPTURE_VALUE 255u

/* --- blocks --- */

/* What the next records of a block are told by their difference from. {0} at its start. */
struct tp_capture_last {
    struct {
        uint64_t number, sequence, before, begin, step, after_begin[TP_CAPTURE_INSTANTS], waits[3];
        uint32_t refresh_mhz, cap_mhz;
    } frame;
    struct {
        uint64_t sequence, from, step, lead, lasts, frame;
        uint32_t refresh_mhz;
    } refresh;
};

struct tp_capture_block {
    uint8_t bytes[TP_CAPTURE_ROOM];
    size_t n; /* of them, with the header's */
    struct tp_capture_last last;
};

/* The first bytes of a file. */
void tp_recorder_header(uint8_t out[TP_CAPTURE_HEADER]);
/* Empties it. */
void tp_block_begin(struct tp_capture_block *b);
/* Nothing was put into it. */
bool tp_block_is_empty(const struct tp_capture_block *b);
/* These put one record into it. False: it does not fit, and nothing was changed; a block that is
 * empty has room for any. What is longer than names and values are allowed to be is cut. */
bool tp_block_frame(struct tp_capture_block *b, const struct tp_frame_record *f);
bool tp_block_refresh(struct tp_capture_block *b, const struct tp_refresh_record *r);
/* From this instant on it is so (0: from the start). A number is written in decimal. */
bool tp_block_setting(
    struct tp_capture_block *b, int64_t at_ns, const char *name, const char *value);
bool tp_block_guest(struct tp_capture_block *b, unsigned guest, const char *name);
/* So many by now, since the start. */
bool tp_block_count(struct tp_capture_block *b, const char *name, uint64_t value);
/* The run ended, and all is told. */
bool tp_block_end(struct tp_capture_block *b);
/* Makes its bytes [0, n) fit to be written, as the block with this number from 0. */
void tp_block_seal(struct tp_capture_block *b, uint32_t number);

/* --- a file --- */

struct tp_recorder;

/* Makes the file anew. The path is copied. Errors: those of open and write. */
int tp_recorder_create(const char *path, struct tp_recorder **out, struct tp_error *e);
/* Into what is open already, from its beginning; fd: moved. */
struct tp_recorder *tp_recorder_begin(int fd, const char *path);
/* These keep what they are given until a block is full; the first error stays until the end. */
void tp_recorder_frame(struct tp_recorder *c, const struct tp_frame_record *f);
void tp_recorder_refresh(struct tp_recorder *c, const struct tp_refresh_record *r);
void tp_recorder_setting(struct tp_recorder *c, int64_t at_ns, const char *name, const char *fmt,
    ...) __attribute__((format(printf, 4, 5)));
void tp_recorder_guest(struct tp_recorder *c, unsigned guest, const char *name);
void tp_recorder_count(struct tp_recorder *c, const char *name, uint64_t value);
/* What is kept goes to the file: for a program that may be killed, once a second or so. */
void tp_recorder_flush(struct tp_recorder *c);
/* Writes what is left, closes and frees. The first error of all; the file keeps what was written.
 * NULL is fine. */
int tp_recorder_finish(struct tp_recorder *c, struct tp_error *e);

#endif
