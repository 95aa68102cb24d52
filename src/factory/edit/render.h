/* Making a form's change in a text, so that it looks as if written there. */
#ifndef TP_EDIT_RENDER_H
#define TP_EDIT_RENDER_H

#include "factory/edit/patchfile.h"

struct tp_byte_range {
    size_t from, to;
};

/* Changes the text at one match (or, for APPEND, at the end of a place). Matches and places found
 * before are stale afterwards, except those that lie wholly in front. changed: receives the bytes
 * of the new text that the change touched. */
void tp_render_match(const struct tp_form *f, struct tp_text *t, const struct tp_match *m,
                     struct tp_byte_range *changed);
void tp_render_append(const struct tp_form *f, struct tp_text *t, const struct tp_place *place,
                      struct tp_byte_range *changed);

#endif
