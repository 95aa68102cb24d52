/* The versions of releases: Android's "v1.NN" from v1.03 on, Linux' "linux-vX.Y.Z" from 0.1.0 on.
 */
#ifndef TP_FACTORY_NOTES_VERSIONS_H
#define TP_FACTORY_NOTES_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

enum tp_release_line { TP_RELEASES_ANDROID, TP_RELEASES_LINUX };

/* "android" or "linux". */
bool tp_release_line_find(const char *name, enum tp_release_line *line);

/* The highest version of this line among the tags, one a line of the text; tags of other shapes are
 * passed over, as is `but` (may be NULL). NULL when there is none. The caller frees. */
char *tp_release_latest(enum tp_release_line line, const char *tags, const char *but);

/* The version after the highest: "v1.NN" counts on, of "linux-vX.Y.Z" the last part does. Without
 * one, or below it, the line's first. The caller frees. */
char *tp_release_next(enum tp_release_line line, const char *tags);

#endif
