/*
 * What a client sees below /dev/dri, /sys and /run/udev: a small tree of files in a private folder, which
 * path-taking calls are led to. It is the same for every server. With TURNPIKE_TREE it is the given
 * folder's (made there if need be); else it is made once for a user, in XDG_RUNTIME_DIR.
 */
#ifndef TP_FRAMES_SHIM_TREE_H
#define TP_FRAMES_SHIM_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TP_CARD_MAJOR 226
#define TP_CARD_MINOR 0
#define TP_RENDER_MINOR 128

enum tp_path {
    TP_PATH_REAL, /* not ours */
    TP_PATH_TREE, /* in the tree: out */
    TP_PATH_CARD, /* the card's node; out: what stands for it in the tree */
    TP_PATH_RENDER, /* the same of its render node, where one is asked for */
    TP_PATH_TTY,  /* a console that is played; out: its number at [0] */
};

/*
 * Where a path leads that a call was given. listing: the call reads a folder; then folders count of which
 * only some entries are ours. Async-signal-safe; errno is kept. dir: AT_FDCWD or a descriptor.
 */
enum tp_path tp_tree_find(int dir, const char *path, bool listing, char out[PATH_MAX]);

/* Is this file one that stands for a node of the card? Then *minor is the node's. */
bool tp_tree_is_node(uint64_t device, uint64_t inode, unsigned *minor);

/* The device and inode of the file that stands for a node; false: there is none. */
bool tp_tree_node(unsigned minor, uint64_t *device, uint64_t *inode);

/* Takes the tree's own place out of the front of an absolute path, in place: what the client knows. */
void tp_tree_hide(char *path);

#endif
