/* A snapshot as JSON. */
#ifndef TP_TOP_JSON_H
#define TP_TOP_JSON_H

#include <jansson.h>

#include "top/ui.h"

/* With "turnpike" and "schema"; a guest's figures have the names that simulate's have. The caller
 * owns it. */
json_t *tp_top_json(const struct tp_top_snapshot *s, const struct tp_top_ui *ui);

#endif
