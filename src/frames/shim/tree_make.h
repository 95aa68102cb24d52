/* Making the tree of tree.h. */
#ifndef TP_FRAMES_SHIM_TREE_MAKE_H
#define TP_FRAMES_SHIM_TREE_MAKE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the tree, or makes it whole in one step (so that two processes may do so at once). given: its
 * folder, "": a folder of this user's alone in place, or else in /tmp. render: with a render node; a
 * tree that is there already stays as it is. out: receives the canonical path. 0, or a negative errno;
 * -EPERM where the folder belongs to somebody else.
 */
int tp_tree_make(const char *given, const char *place, bool render, char *out, size_t room);

#endif
