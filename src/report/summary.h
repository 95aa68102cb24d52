/* The one object that simulate, play and report write as JSON, and how it comes out of a capture.
 */
#ifndef TP_REPORT_SUMMARY_H
#define TP_REPORT_SUMMARY_H

#include <jansson.h>

#include "frames/census/figures.h"
#include "report/capture_read.h"

/* With "turnpike" and "schema"; what is not known is null. The caller owns it. */
json_t *tp_summary_json(const struct tp_summary *s);

/* What a guest's records in this capture come to; TP_FIGURES_MAIN: of the one that play and report
 * tell of. found says whether that is all of it. Errors: as
 * tp_capture_read. */
int tp_summary_read(const char *path, unsigned guest, struct tp_summary *out,
    struct tp_capture_found *found, struct tp_error *e);

#endif
