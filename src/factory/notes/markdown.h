/* Texts that others wrote, fit for a page of ours. */
#ifndef TP_FACTORY_NOTES_MARKDOWN_H
#define TP_FACTORY_NOTES_MARKDOWN_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Adds the text as a code span of GitHub's Markdown, in which nothing means anything: no HTML,
 * link, image, mention or reference to an issue. It is one line of UTF-8: what is no UTF-8 becomes
 * U+FFFD; control characters, and those that are invisible or turn the writing's direction, are
 * left out; white space becomes one space. Longer ones are cut after max_chars (0: 160) and end in
 * "…". It may stand in a table's cell. An empty one becomes "(nothing)".
 */
void tp_md_code(struct tp_buf *out, const char *text, size_t max_chars);

#endif
