/* What the two sides of a capture agree on: docs/capture.md in C. */
#ifndef TP_REPORT_CAPTURE_INTERNAL_H
#define TP_REPORT_CAPTURE_INTERNAL_H

#include <stddef.h>

#include "base/crc32.h"
#include "report/capture.h"

#define CAPTURE_MAGIC "TPCAP\r\n\x1a" /* 8 bytes, which a transfer as text spoils */
#define CAPTURE_MAGIC_BYTES 8u
#define BLOCK_MARK 0x4b4c4254u          /* "TBLK" */
#define BLOCK_MOST 65536u               /* bytes of a block's records */
#define INSTANT_MOST (INT64_C(1) << 60) /* so far from 0 may an instant be, and a number */

enum record_type {
    RECORD_SETTING = 1,
    RECORD_GUEST = 2,
    RECORD_FRAME = 3,
    RECORD_REFRESH = 4,
    RECORD_COUNT = 5,
    RECORD_END = 6,
};

enum frame_flag {
    FRAME_DROPPED = 1,
    FRAME_LATE = 2,
    FRAME_TORN = 4,
    FRAME_VARIABLE = 8,
};

enum refresh_flag {
    REFRESH_SHOWS = 1,
    REFRESH_ASYNC = 2,
    REFRESH_TORN = 4,
};

#define LINE_INSTANT 17u /* line_ns, in the order below */

/* A frame's instants in the order of the format: bit i of a record's mask is that of the i-th. */
#define FRAME_INSTANTS TP_CAPTURE_INSTANTS
static const size_t frame_instants[FRAME_INSTANTS] = {offsetof(struct tp_frame_record, begin_ns),
    offsetof(struct tp_frame_record, asked_ns), offsetof(struct tp_frame_record, gate_ns),
    offsetof(struct tp_frame_record, acquired_ns), offsetof(struct tp_frame_record, cpu_ns),
    offsetof(struct tp_frame_record, cpu_to_ns), offsetof(struct tp_frame_record, presented_ns),
    offsetof(struct tp_frame_record, returned_ns), offsetof(struct tp_frame_record, elsewhere_ns),
    offsetof(struct tp_frame_record, elsewhere_to_ns), offsetof(struct tp_frame_record, write_ns),
    offsetof(struct tp_frame_record, ready_ns), offsetof(struct tp_frame_record, booked_ns),
    offsetof(struct tp_frame_record, committed_ns), offsetof(struct tp_frame_record, composed_ns),
    offsetof(struct tp_frame_record, published_ns), offsetof(struct tp_frame_record, latched_ns),
    offsetof(struct tp_frame_record, line_ns), offsetof(struct tp_frame_record, released_ns),
    offsetof(struct tp_frame_record, told_ns)};

/* Differences wrap around: no two numbers are too far apart to be told. */
static inline uint64_t zigzag(uint64_t d)
{
    return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}
static inline uint64_t unzigzag(uint64_t z)
{
    return z >> 1 ^ (z & 1 ? UINT64_MAX : 0);
}

/* Of a block's bytes, its head's with them. */
static inline uint32_t block_sum(const uint8_t *bytes, size_t n)
{
    return tp_crc32(tp_crc32(0, bytes + 4, 8), bytes + TP_CAPTURE_HEADER, n - TP_CAPTURE_HEADER);
}

static inline int64_t *frame_instant(struct tp_frame_record *f, unsigned i)
{
    return (int64_t *)(void *)((char *)f + frame_instants[i]);
}

#endif
