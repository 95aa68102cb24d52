/* Text that came out of a capture, which may be anything, made fit to be shown. */
#ifndef TP_REPORT_HTML_TEXT_H
#define TP_REPORT_HTML_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* UTF-8 in which nothing acts on what is around it: control characters, marks of direction, breaks
 * and bytes that are no UTF-8 become "\u{202e}" and "\x{ff}". Caller frees. */
char *html_visible(const char *text);
/* Adds UTF-8 with the five characters escaped that mean something in HTML. */
void html_escape(struct tp_buf *out, const char *text);
/* Adds JSON that can stand in a <script>. */
void html_json(struct tp_buf *out, const json_t *j);
/* Adds bytes in base64. */
void html_base64(struct tp_buf *out, const uint8_t *bytes, size_t n);
/* Adds the CSP source of an inline script or style: 'sha256-…'. */
void html_hash(struct tp_buf *out, const void *bytes, size_t n);

#endif
