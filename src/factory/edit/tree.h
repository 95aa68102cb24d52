/* A tree of Mesa's source: read as needed, changed in memory, written all or nothing, put back. */
#ifndef TP_EDIT_TREE_H
#define TP_EDIT_TREE_H

#include <jansson.h>

#include "base/fs.h"
#include "factory/edit/text.h"

/* A file of the tree that somebody asked about. */
struct tp_tree_file {
    char *path;          /* below the tree */
    bool on_disk, in_base, exists;
    struct tp_buf disk;  /* as it is on the disk */
    struct tp_buf base;  /* as it was before any patch, by the receipt */
    struct tp_text text; /* as it is to become; valid while exists */
};

struct tp_tree {
    char *root;
    char *version; /* content of VERSION, trimmed */
    struct tp_tree_file **files;
    int n, cap;
    json_t *receipt;   /* of an earlier run, or NULL */
    bool from_base;    /* files begin as their base: the earlier run is taken back first */
    int lock_fd;
};

/* Opens a tree: it must have VERSION and src/. exclusive: to write; another process at work on it is
 * waited for (5 s), then named. Reads the receipt of an earlier run, if there is one. */
int tp_tree_open(struct tp_tree *t, const char *root, bool exclusive, struct tp_error *e);
void tp_tree_close(struct tp_tree *t);

/* The file at path, read at the first call; it need not exist. The tree owns it. Refused: what is
 * not a regular file, or is larger than 16 MiB. */
int tp_tree_file(struct tp_tree *t, const char *path, struct tp_tree_file **out, struct tp_error *e);

/* Makes every file that the receipt names begin as it was before (in memory). Refuses, naming it, a
 * file that was changed since it was patched. */
int tp_tree_take_back(struct tp_tree *t, struct tp_error *e);

/* Forgets what was changed in memory. */
void tp_tree_start_over(struct tp_tree *t);

/* Does the receipt name a file that an interrupted run had not written yet? */
int tp_tree_was_interrupted(struct tp_tree *t, bool *interrupted, struct tp_error *e);

/* Does any file differ from what is on the disk? */
bool tp_tree_is_changed(const struct tp_tree *t);

/* Writes what differs, the originals, and the receipt (borrowed; "files" is filled in). On failure
 * the tree is as before. */
int tp_tree_write(struct tp_tree *t, json_t *receipt, struct tp_error *e);

/* Writes what tp_tree_take_back made, and removes receipt and originals. */
int tp_tree_write_base(struct tp_tree *t, struct tp_error *e);

#endif
