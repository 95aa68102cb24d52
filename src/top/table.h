/* The table of guests. */
#ifndef TP_TOP_TABLE_H
#define TP_TOP_TABLE_H

#include "top/draw_internal.h"

/* Its header, where it is wanted, and as many guests as there are lines for; the chosen one (its
 * place in the snapshot) is among them. */
void tp_top_table(struct area a, bool header, const struct tp_top_snapshot *s, unsigned chosen);

#endif
