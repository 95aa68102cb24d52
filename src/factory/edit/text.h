/* One source file in memory: its bytes, its tokens, and the syntax trees over them. */
#ifndef TP_EDIT_TEXT_H
#define TP_EDIT_TEXT_H

#include <tree_sitter/api.h>

#include "base/buf.h"
#include "factory/edit/lex.h"

/*
 * C, C++ and Python are parsed one top-level declaration or statement at a time, and only those that
 * are asked about: a patch set looks at some thirty functions of a source of megabytes. An unusual
 * macro elsewhere in the file then cannot disturb the tree of the function at hand, and after a
 * change only the changed declaration is parsed anew. Meson and plain text have tokens only.
 */
struct tp_chunk {
    int first, last; /* tokens, inclusive */
    TSTree *tree;    /* NULL until asked for; its bytes count from the first token's start */
    bool unreadable; /* it has none: too large, too deep, or nothing but errors */
};

struct tp_text {
    enum tp_language lang;
    struct tp_buf bytes;
    struct tp_tokens tokens;
    struct tp_chunk *chunks;
    int n_chunks;
};

/* A node and the text it belongs to, in tokens; valid while the text is unchanged. */
struct tp_span {
    int first, last; /* tokens, inclusive; last < first is "none" */
};

/* Copies the bytes; the caller calls tp_text_finish. */
void tp_text_init(struct tp_text *t, enum tp_language lang, const char *bytes, size_t len);
void tp_text_finish(struct tp_text *t);

/* Replaces len bytes at offset, and reads the text anew. */
void tp_text_replace(struct tp_text *t, size_t offset, size_t len, const char *with, size_t n);

bool tp_text_has_trees(const struct tp_text *t);
/* 1-based line of a token or byte. */
int tp_text_line(const struct tp_text *t, int token);
int tp_text_line_at(const struct tp_text *t, size_t offset);

/* A token's text; not NUL-terminated. */
const char *tp_token_text(const struct tp_text *t, int token, size_t *len);
bool tp_token_is(const struct tp_text *t, int token, const char *text);

/* The smallest node that starts with this token. A null node (ts_node_is_null) in a language
 * without trees. */
TSNode tp_text_node_at(struct tp_text *t, int token);
/* The smallest node that holds both tokens; null when they lie in different declarations. */
TSNode tp_text_node_over(struct tp_text *t, int first, int last);
/* The tokens of a node of the declaration that `near` lies in. */
struct tp_span tp_text_span(const struct tp_text *t, TSNode node, int near);

/* True if [first, last] is a node or a run of whole sibling nodes (brackets balanced, where there
 * are no trees). parent: receives the tokens of the node that holds the run, and its type's name
 * (static; "" for the file itself). May be NULL. */
bool tp_text_aligned(struct tp_text *t, int first, int last, struct tp_span *parent,
                     const char **parent_type);

/* How badly the declarations that these bytes touch parse: number of ERROR and MISSING nodes. */
int tp_text_faults(struct tp_text *t, size_t from_byte, size_t to_byte);

#endif
