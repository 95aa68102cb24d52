/* Patches as their files say them. The language is described in docs/patching.md. */
#ifndef TP_EDIT_PATCHFILE_H
#define TP_EDIT_PATCHFILE_H

#include "base/fs.h"
#include "factory/edit/scope.h"

enum { TP_VARIANT_B = 1, TP_VARIANT_P = 2 };
enum {
    TP_ON_HOST = 1,
    TP_ON_LINUX_ARM64 = 2,
    TP_ON_HOST_ANDROID = 4,
    TP_ON_ANDROID_ARM64 = 8,
};

/* 0: no such target. */
unsigned tp_target_bit(const char *name);

enum tp_action {
    TP_ACTION_REPLACE,
    TP_ACTION_BEFORE,
    TP_ACTION_AFTER,
    TP_ACTION_REMOVE,
    TP_ACTION_APPEND,
};

/* One way to make an edit, for one era of Mesa. */
struct tp_form {
    char *name;
    int line;
    struct tp_scope *scopes;
    int n_scopes, cap_scopes;
    bool every;
    enum tp_action action;
    struct tp_pattern anchor; /* APPEND has none: its scope is the anchor */
    struct tp_pattern result; /* REPLACE: what stands there then; REMOVE: what is left;
                                 otherwise: the inserted text */
};

enum tp_condition_kind { TP_FILE_MISSING, TP_HAS, TP_LACKS };
struct tp_condition {
    enum tp_condition_kind kind;
    char *file; /* NULL: the edit's own */
    struct tp_scope *scopes;
    int n_scopes, cap_scopes;
    struct tp_pattern fragment;
    int line;
};

/* Why an edit need not be made: every condition holds. */
struct tp_evidence {
    char *reason;
    int line;
    struct tp_condition *conditions;
    int n, cap;
};

struct tp_edit {
    char *path;
    int line;
    unsigned variants, targets; /* narrowed from the patch's */
    bool is_new_file;
    char *content_path; /* of a new file, below the folder of patches */
    struct tp_buf content;
    bool is_template;   /* @NAME@ words are filled in */
    struct tp_evidence *absorbed, *absent;
    int n_absorbed, cap_absorbed, n_absent, cap_absent;
    struct tp_form *forms;
    int n_forms, cap_forms;
    char **proofs; /* promised where this edit was made */
    int n_proofs, cap_proofs;
    int *proof_lines; /* where each stands */
    int n_proof_lines, cap_proof_lines;
};

struct tp_patch {
    char *file; /* its name, "10-aimapper-gralloc.edit" */
    char *id, *title, *why, *upstream;
    char *off;  /* why it is switched off; NULL: it is on */
    bool optional;
    unsigned variants, targets;
    char **needs; /* ids of patches without which this one cannot be */
    int n_needs, cap_needs;
    char **proofs; /* promised where the patch was applied */
    int n_proofs, cap_proofs;
    int *proof_lines; /* where each stands */
    int n_proof_lines, cap_proof_lines;
    struct tp_edit *edits;
    int n_edits, cap_edits;
    char sha256[TP_SHA256_HEX]; /* of its file and the files that it adds */
};

struct tp_patch_set {
    char *dir;
    struct tp_patch *patches; /* in file order */
    int n, cap;
    char sha256[TP_SHA256_HEX]; /* of all of it */
};

/* Reads every *.edit file of a folder, in name order. Errors name file and line (status 2). */
int tp_patch_set_read(const char *dir, struct tp_patch_set *set, struct tp_error *e);
void tp_patch_set_finish(struct tp_patch_set *set);

/* One patch from text; dir: where its new files are read (NULL: a patch that has some is refused). */
int tp_patch_parse(const char *text, size_t len, const char *file, const char *dir,
                   struct tp_patch *patch, struct tp_error *e);
void tp_patch_finish(struct tp_patch *patch);

#endif
