/* Fragments of source with metavariables, and where they match a text. */
#ifndef TP_EDIT_PATTERN_H
#define TP_EDIT_PATTERN_H

#include "base/error.h"
#include "factory/edit/text.h"

enum tp_item_kind {
    TP_ITEM_TOKEN, /* this token, literally */
    TP_ITEM_META,  /* $name: one subtree; a name's second use must have the same tokens */
    TP_ITEM_DOTS,  /* ...: any run of siblings, the shortest that lets the rest match */
};

struct tp_item {
    enum tp_item_kind kind;
    uint32_t start, end; /* bytes of the fragment */
    uint32_t hash;
    int name;            /* META: index into the pattern's names */
};

#define TP_MAX_NAMES 16
#define TP_MAX_DOTS 16
#define TP_MAX_ITEMS 4000
#define TP_MAX_MATCHES 5000

/* A fragment as a patch file has it. Owns its text and items. */
struct tp_pattern {
    char *text; /* lines joined by '\n', common indentation taken off; "" when there is none */
    int line;   /* of the patch file, where it starts */
    struct tp_item *items;
    int n;
    char *names[TP_MAX_NAMES]; /* without the '$' */
    int n_names;
    int open_groups; /* #if without their #endif; below 0: the other way round */
};

/* text is copied. Refused (-EINVAL): no token at all, brackets that do not pair, more than
 * TP_MAX_ITEMS tokens, TP_MAX_NAMES metavariables or TP_MAX_DOTS dots, dots at an end. where: "file" for errors, with the line added. */
int tp_pattern_init(struct tp_pattern *p, const char *text, int line, enum tp_language lang,
                    const char *where, struct tp_error *e);
void tp_pattern_finish(struct tp_pattern *p);

/* One match: the tokens of the whole, of each item, and of each metavariable. */
struct tp_match {
    struct tp_span span;
    struct tp_span *items;              /* owned, p->n of them; dots may be empty (last < first) */
    struct tp_span names[TP_MAX_NAMES]; /* by the pattern's names */
    struct tp_span parent;              /* the node that holds the matched run of siblings */
    const char *parent_type;
};

struct tp_matches {
    struct tp_match *at;
    int n, cap;
    bool gave_up; /* the fragment is so loose that the search was ended: n is no count */
};

/* Adds each place within scope where the fragment matches whole sibling nodes, in order, to out
 * (which may hold matches already; the same place is not added twice). */
void tp_pattern_find(const struct tp_pattern *p, struct tp_text *t, struct tp_span scope,
                     struct tp_matches *out);
/* Does the fragment stand anywhere in scope, whole nodes or not? For saying that it does not. */
bool tp_pattern_stands(const struct tp_pattern *p, struct tp_text *t, struct tp_span scope);
void tp_matches_finish(struct tp_matches *m);

/* Do these two runs have the same tokens? */
bool tp_spans_equal(const struct tp_text *t, struct tp_span a, struct tp_span b);

#endif
