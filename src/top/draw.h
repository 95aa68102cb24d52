/* A snapshot as text: what top shows, at any size. Pure. */
#ifndef TP_TOP_DRAW_H
#define TP_TOP_DRAW_H

#include "top/canvas.h"
#include "top/ui.h"

/* Fills the canvas, which is empty. */
void tp_top_draw(struct tp_canvas *c, const struct tp_top_snapshot *s, const struct tp_top_ui *ui);
/* The lines that show all there is of this guest, for a canvas that may be as high as it likes. */
unsigned tp_top_lines(const struct tp_top_snapshot *s, const struct tp_top_ui *ui, unsigned width);

#endif
