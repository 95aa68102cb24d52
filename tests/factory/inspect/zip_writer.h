/* Writes zips byte by byte, sound but for what a test asks to be otherwise. */
#ifndef TESTS_FACTORY_INSPECT_ZIP_WRITER_H
#define TESTS_FACTORY_INSPECT_ZIP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* {0} but for name and data is a sound stored file. */
struct zip_shape {
    const char *name; /* NULL ends a list */
    size_t name_len;  /* 0: up to the name's NUL */
    const void *data;
    size_t len;
    const struct tp_buf *packed; /* the data, deflated already; NULL: it is packed here */
    bool deflated;
    bool blocks; /* deflated, though without being made smaller */
    bool described; /* sizes follow the data; those in front are 0 */
    bool wide;      /* zip64's form */
    uint16_t method, flags, mode; /* where not 0, in place of what is true */
    uint32_t crc_lie;    /* exclusive-or of the checksum, in both places */
    int64_t size_lie;    /* added to the size, in both places */
    int64_t packed_lie;  /* added to the packed size, in both places */
    const char *local_name; /* what its own header calls it */
    const char *gap;        /* bytes that stand in front of it */
    bool same_place;        /* the directory leads to the entry before it, with its numbers */
};

struct zip_ending {
    const char *comment, *trailing; /* texts; NULL: none */
    uint16_t disk;
    bool wide; /* zip64's record */
};

/* A zip being written; {0} is an empty one. */
struct zip_writer {
    struct tp_buf file, directory;
    size_t entries;
    uint64_t last_offset;
    struct zip_numbers {
        uint32_t crc;
        uint64_t packed, size;
        uint16_t method, flags;
    } last;
};

void zip_add(struct zip_writer *w, const struct zip_shape *shape);
/* The file's bytes; the caller finishes the buffer. ending: NULL for a plain one. */
struct tp_buf zip_end(struct zip_writer *w, const struct zip_ending *ending);

/* One of n bytes 0 that is deflated: n / 1000 bytes or so. The caller finishes the buffer. */
struct tp_buf zip_zeros(size_t n);

#endif
