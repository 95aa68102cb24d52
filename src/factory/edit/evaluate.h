/* One edit on one tree: which of the six states, and the change itself. */
#ifndef TP_EDIT_EVALUATE_H
#define TP_EDIT_EVALUATE_H

#include "factory/edit/edit.h"

/* What a form finds in a text. */
struct tp_look {
    struct tp_places places;   /* that its scopes name */
    int matched_scopes;        /* the leading ones that name something */
    struct tp_matches results; /* where its result stands */
    struct tp_matches anchors; /* where its anchor stands outside any result */
    struct tp_places open;     /* APPEND: places that lack the text */
    int n_results, n_anchors;  /* in all */
    const char *unfit;         /* why the one anchor cannot be used, or NULL */
};
void tp_look(const struct tp_form *f, struct tp_text *t, struct tp_look *look);
void tp_look_finish(struct tp_look *look);

enum tp_fit { TP_FIT_NONE, TP_FIT_ALREADY, TP_FIT_APPLIES, TP_FIT_UNCLEAR };
enum tp_fit tp_look_fit(const struct tp_form *f, const struct tp_look *look);

/* Decides an edit and, where a form applies, makes the change in the tree's memory. content: of a
 * new file, filled in. Errors are those of reading files; drift is an outcome. */
int tp_evaluate(const struct tp_edit *edit, const struct tp_buf *content, struct tp_tree *tree,
                struct tp_outcome *out, struct tp_error *e);

/* Is an applied edit still there, now that other patches were made? */
bool tp_evaluate_holds(const struct tp_outcome *o, const struct tp_buf *content,
                       struct tp_tree *tree);

/* drift.c: fills in reason, candidates and starting point of a drifted edit. */
void tp_drift_explain(const struct tp_edit *edit, struct tp_text *t, struct tp_outcome *out);

#endif
