/* A patch set on a tree of Mesa: decided in memory, reported, written all or nothing, put back. */
#ifndef TP_EDIT_EDIT_H
#define TP_EDIT_EDIT_H

#include <jansson.h>

#include "factory/edit/patchfile.h"
#include "factory/edit/tree.h"

/* In the order that decides a patch's state: the first that one of its edits has. */
enum tp_state {
    TP_FAILED,
    TP_DRIFTED,
    TP_APPLIED,
    TP_ALREADY,
    TP_ABSORBED,
    TP_NOT_APPLICABLE,
};
const char *tp_state_name(enum tp_state state); /* "not-applicable", … */

/* Which patches, for what. Borrowed strings. */
struct tp_selection {
    const char *target; /* "host", … */
    char variant;       /* 'b' or 'p' */
    const char *const *with;    /* ids switched on; NULL or NULL-terminated */
    const char *const *without; /* ids left out */
    const char *driver_version; /* "WN-1.05-b"; NULL: made of Mesa's version */
    /* Adds to the ELF note's JSON what it shall say besides the patches; may be NULL. */
    void (*add_to_note)(struct tp_tree *tree, json_t *note);
};

/* Is the patch one of those that a tree gets, for this target and variant? */
bool tp_selection_has(const struct tp_selection *sel, const struct tp_patch *p);

/* The nearest thing to an anchor that was not found. Owns its strings. */
struct tp_candidate {
    int line;
    char *text;    /* the source there */
    char *differs; /* what would have to be otherwise */
};

/* What became of one edit. Owns its strings; edit is borrowed from the patch set. */
struct tp_outcome {
    const struct tp_edit *edit;
    enum tp_state state;
    const struct tp_form *form; /* NULL where none was used */
    int line;                   /* of the file, when the edit was made or found; 0: none */
    char *reason;
    bool withdrawn; /* its patch drifted in another edit */
    struct tp_candidate *candidates;
    int n_candidates, cap_candidates;
    char *starting_point; /* of a new form, in the patch language; NULL unless drifted */
};

struct tp_patch_outcome {
    const struct tp_patch *patch;
    enum tp_state state;
    struct tp_outcome *edits;
    int n;
    bool late;     /* it did not fit when later patches had been made already */
    bool left_out; /* therefore all was decided anew without it (optional patches only) */
};

/* A patch set on a tree. Owns all of it. */
struct tp_editing {
    struct tp_tree tree;
    struct tp_patch_set set;
    char *target, *driver_version;
    char variant;
    void (*add_to_note)(struct tp_tree *tree, json_t *note);
    char selection[TP_SHA256_HEX]; /* hash of all that decides the outcome besides the tree */
    struct tp_patch_outcome *patches;
    int n;
    bool clean; /* no patch that is not optional failed or drifted */
};

/*
 * Decides everything in memory. patches_dir: the folder of *.edit files. for_writing: takes the
 * tree's lock exclusively. A tree that was patched with another selection is taken back (in memory)
 * first. Drift is not an error: look at clean. The caller calls tp_editing_finish whatever comes.
 */
int tp_editing_run(struct tp_editing *s, const char *root, const char *patches_dir,
                   const struct tp_selection *sel, bool for_writing, struct tp_error *e);

/* Writes the files and the receipt, if anything changed. -EINVAL unless clean. */
int tp_editing_write(struct tp_editing *s, struct tp_error *e);

/* Puts a patched tree back, to the byte. -ENOENT: it has no receipt. */
int tp_editing_revert(const char *root, struct tp_error *e);

void tp_editing_finish(struct tp_editing *s);

/* cli.md's `patch` object; also what a receipt and `build`'s summary hold. Caller owns it. */
json_t *tp_editing_json(const struct tp_editing *s);

/* What travels with a driver: as above without the tree's place, each edit with the hash of its
 * file before any patch and after all (null: no such file). Caller owns it. */
json_t *tp_editing_receipt(const struct tp_editing *s);

/* The unified diff from the disk to what would be written, through diff(1). */
int tp_editing_diff(const struct tp_editing *s, struct tp_buf *out, struct tp_error *e);

/* The table for people, one line a patch; details of each edit that needs a person. */
void tp_editing_table(const struct tp_editing *s, struct tp_buf *out);

#endif
