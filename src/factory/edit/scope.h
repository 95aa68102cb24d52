/* Where in a file an edit may look: in a function, a struct, an initialiser, a call. */
#ifndef TP_EDIT_SCOPE_H
#define TP_EDIT_SCOPE_H

#include "factory/edit/pattern.h"

enum tp_scope_kind {
    TP_SCOPE_FILE,
    TP_SCOPE_FUNCTION,
    TP_SCOPE_STRUCT, /* struct, class, union; Python's class */
    TP_SCOPE_ENUM,
    TP_SCOPE_INITIALISER, /* what a variable is initialised or assigned with */
    TP_SCOPE_CALL,
};

/* One `in …` line of a patch. Owns its strings. */
struct tp_scope {
    enum tp_scope_kind kind;
    char *name; /* NULL for a file */
    bool has_argument;
    struct tp_pattern argument; /* `with argument …`: stands somewhere in the call's arguments */
    int line;                   /* of the patch file */
};
void tp_scope_finish(struct tp_scope *s);

/* "function tu_CreateDevice", for messages. */
void tp_scope_describe(const struct tp_scope *s, struct tp_buf *out);
const char *tp_scope_kind_name(enum tp_scope_kind kind);

/* A place that a scope names. */
struct tp_place {
    struct tp_span span; /* the whole definition or call */
    int open, close;     /* the brackets of its body or arguments; -1 where it has none */
};
struct tp_places {
    struct tp_place *at;
    int n, cap;
};

/* The places that the nested scopes name, outermost first; n == 0 names the file. matched: the
 * number of leading scopes that name at least one place (for messages), may be NULL. */
void tp_scopes_find(const struct tp_scope *scopes, int n, struct tp_text *t, struct tp_places *out,
                    int *matched);
void tp_places_finish(struct tp_places *p);

#endif
