/* Tokens of C, C++, Python, Meson and plain text, and which bracket belongs to which. */
#ifndef TP_EDIT_LEX_H
#define TP_EDIT_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_language { TP_LANG_C, TP_LANG_CPP, TP_LANG_PYTHON, TP_LANG_MESON, TP_LANG_TEXT };

/* By the file's name: .c .h / .cc .cpp .hh .hpp / .py / meson.build meson_options.txt / the rest. */
enum tp_language tp_language_of(const char *path);

enum tp_token_kind {
    TP_TOKEN_WORD,      /* identifier or keyword */
    TP_TOKEN_NUMBER,
    TP_TOKEN_STRING,    /* one string or character literal, quotes and prefix included */
    TP_TOKEN_PUNCT,
    TP_TOKEN_LINE_END,  /* zero bytes: where a preprocessor directive ends */
};

struct tp_token {
    uint32_t start, end; /* bytes */
    uint32_t hash;       /* of its text */
    int32_t partner;     /* for a bracket: the index of the other one, else -1 */
    uint8_t kind;
    bool directive;      /* inside a preprocessor directive */
    bool dead;           /* in a branch that `#if 0` or its like shuts out */
};

/* The tokens of one text; comments and white space are none. Owns tokens. */
struct tp_tokens {
    struct tp_token *at;
    int n;
};

/* text: len bytes, need not be NUL-terminated, at most 2^31. metavariables: `$name` is one word and
 * `...` one punctuator in every language (for fragments of patches). Never fails: what no rule
 * takes is a one-byte punctuator. */
void tp_lex(const char *text, size_t len, enum tp_language lang, bool metavariables,
            struct tp_tokens *out);
void tp_tokens_finish(struct tp_tokens *t);

/* FNV-1a, the hash that tokens carry. */
uint32_t tp_token_hash(const char *s, size_t len);

#endif
