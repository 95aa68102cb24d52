/* The inside of a block, for capture_read.c. */
#ifndef TP_REPORT_CAPTURE_DECODE_H
#define TP_REPORT_CAPTURE_DECODE_H

#include "report/capture_internal.h"
#include "report/capture_read.h"

/* Tells the records of a block's bytes, and adds up what was found. False: not all of it are such;
 * those before are told. */
bool capture_decode(const uint8_t *bytes, size_t n, const struct tp_capture_sink *s,
    struct tp_capture_found *found);

#endif
