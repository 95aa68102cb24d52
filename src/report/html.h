/*
 * What a capture comes to, for people: a page that explains itself, a few lines of text, JSON.
 *
 * The capture is read once, in memory that does not grow with it: what happened to a frame is kept
 * in full for a quarter of a million of them, those around events first; figures, histogram,
 * overview and findings are of all.
 */
#ifndef TP_REPORT_HTML_H
#define TP_REPORT_HTML_H

#include <jansson.h>

#include "base/buf.h"
#include "report/capture_read.h"

struct tp_report;

/* Errors: as tp_capture_read; *out is NULL then. The caller destroys it. */
int tp_report_read(const char *capture, struct tp_report **out, struct tp_error *e);
/* NULL is fine. */
void tp_report_destroy(struct tp_report *r);

/* What is missing of the capture, a sentence a line, each with its end; empty: it is all there. */
void tp_report_missing(const struct tp_report *r, struct tp_buf *out);
/* The page's head in words: verdict, figures, findings. Lines, as out is UTF-8 for a terminal. */
void tp_report_text(const struct tp_report *r, struct tp_buf *out);
/* tp_summary_json's fields for the guest that showed most, and "verdict", "findings", "guests",
 * "capture". The caller owns it. */
json_t *tp_report_json(const struct tp_report *r);
/* One file of HTML that needs nothing else. name: of the capture, for its title. */
void tp_report_html(const struct tp_report *r, const char *name, struct tp_buf *out);

#endif
