/* The parts of the page, each added to the end of out. */
#ifndef TP_REPORT_HTML_PAGE_H
#define TP_REPORT_HTML_PAGE_H

#include "report/html_model.h"

/* Pictures that need no script: how long intervals are, how long frames stay, where a frame's time
 * goes. Each is a <figure>. */
void page_histogram(struct tp_buf *out, const struct report_guest *g);
void page_cadence(struct tp_buf *out, const struct report_guest *g);
void page_stages(struct tp_buf *out, const struct report_guest *g);

/* Tables of figures, counts and settings. */
void page_figures(struct tp_buf *out, const struct tp_report *r, const struct report_guest *g);
void page_setup(struct tp_buf *out, const struct tp_report *r);

/* What the script draws: <script>s of data. */
void page_data(struct tp_buf *out, const struct tp_report *r);

/* "16.67", at most so many digits behind the point. */
void page_ms(struct tp_buf *out, double ns);

#endif
