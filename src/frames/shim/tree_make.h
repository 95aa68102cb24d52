/* Making the tree of tree.h. */
#ifndef TP_FRAMES_SHIM_TREE_MAKE_H
#define TP_FRAMES_SHIM_TREE_MAKE_H

#include <stddef.h>

/*
 * Finds the tree, or makes it whole in one step (so that two processes may do so at once). given: its
 * folder, "": a folder of this user's alone in place, or else in /tmp. out: receives the canonical path. 0, or a negative
 * errno; -EPERM where the folder belongs to somebody else.
 */
int tp_tree_make(const char *given, const char *place, char *out, size_t room);

#endif
