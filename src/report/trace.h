/* A capture for Perfetto's UI and Chrome's tracing: a track for each stage of a frame, from the
 * acquire to the panel, and arrows along each frame. The format is Chrome's trace events, JSON. */
#ifndef TP_REPORT_TRACE_H
#define TP_REPORT_TRACE_H

#include <stdio.h>

#include "report/capture_read.h"

/* Streams it; whether the file took it all is the caller's to look at. Errors: as
 * tp_capture_read; what was written until then is no JSON. */
int tp_trace_write(
    const char *capture, FILE *out, struct tp_capture_found *found, struct tp_error *e);

#endif
