/*
 * The terminal that top has for itself while it runs, by ncurses: it knows how each kind of
 * terminal places a cursor and names its keys, sends only what has changed, and follows a new size.
 * However the program ends, by a fault of its own too, the terminal is left as it was found.
 */
#ifndef TP_TOP_TERMINAL_H
#define TP_TOP_TERMINAL_H

#include "base/error.h"
#include "top/canvas.h"

struct tp_terminal;

/* Of standard input and output. colours: where it has them. One at a time. -ENOTSUP (MISSING): one
 * that cannot place a cursor. */
int tp_terminal_open(bool colours, struct tp_terminal **out, struct tp_error *e);
void tp_terminal_size(const struct tp_terminal *t, unsigned *width, unsigned *height);
/* Its size may have changed since. */
void tp_terminal_show(struct tp_terminal *t, const struct tp_canvas *c);
/* The next key that was pressed, a character or an enum tp_top_key (ui.h). False: none. resized: it
 * has another size now. */
bool tp_terminal_key(struct tp_terminal *t, uint32_t *key, bool *resized);
/* NULL is fine. */
void tp_terminal_close(struct tp_terminal *t);

#endif
