#include "factory/edit/lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"

enum tp_language tp_language_of(const char *path)
{
    const char *base = tp_base_name(path);
    if (!strcmp(base, "meson.build") || !strcmp(base, "meson_options.txt") ||
        !strcmp(base, "meson.options"))
        return TP_LANG_MESON;
    const char *dot = strrchr(base, '.');
    if (!dot)
        return TP_LANG_TEXT;
    static const struct {
        const char *ext;
        enum tp_language lang;
    } table[] = {
        {".c", TP_LANG_C},     {".h", TP_LANG_C},     {".cc", TP_LANG_CPP}, {".cpp", TP_LANG_CPP},
        {".hh", TP_LANG_CPP},  {".hpp", TP_LANG_CPP}, {".py", TP_LANG_PYTHON},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!strcmp(dot, table[i].ext))
            return table[i].lang;
    }
    return TP_LANG_TEXT;
}

uint32_t tp_token_hash(const char *s, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

struct lexer {
    const char *s;
    size_t len, i;
    enum tp_language lang;
    bool metavariables;
    bool directive;
    struct tp_tokens *out;
    int cap;
};

static bool is_c(const struct lexer *x)
{
    return x->lang == TP_LANG_C || x->lang == TP_LANG_CPP;
}

static bool word_start(unsigned char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static bool digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct lexer *x, size_t ahead)
{
    return x->len - x->i > ahead ? x->s[x->i + ahead] : 0;
}

static void emit(struct lexer *x, size_t start, size_t end, enum tp_token_kind kind)
{
    TP_PUSH(x->out->at, x->out->n, x->cap) = (struct tp_token){
        .start = (uint32_t)start,
        .end = (uint32_t)end,
        .hash = tp_token_hash(x->s + start, end - start),
        .partner = -1,
        .kind = (uint8_t)kind,
        .directive = x->directive,
    };
}

/* White space and comments. In a directive, a bare newline ends it. */
static bool skip_blank(struct lexer *x)
{
    char c = peek(x, 0);
    if (c == '\\' && (peek(x, 1) == '\n' || (peek(x, 1) == '\r' && peek(x, 2) == '\n')) &&
        x->lang != TP_LANG_TEXT) {
        x->i += peek(x, 1) == '\r' ? 3 : 2;
        return true;
    }
    if (c == '\n' && x->directive) {
        emit(x, x->i, x->i, TP_TOKEN_LINE_END);
        x->directive = false;
        return true;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
        x->i++;
        return true;
    }
    if (is_c(x) && c == '/' && peek(x, 1) == '*') {
        const char *end = memmem(x->s + x->i + 2, x->len - x->i - 2, "*/", 2);
        x->i = end ? (size_t)(end - x->s) + 2 : x->len;
        return true;
    }
    if ((is_c(x) && c == '/' && peek(x, 1) == '/') ||
        ((x->lang == TP_LANG_PYTHON || x->lang == TP_LANG_MESON) && c == '#')) {
        while (x->i < x->len && x->s[x->i] != '\n')
            x->i += is_c(x) && x->s[x->i] == '\\' && peek(x, 1) == '\n' ? 2 : 1;
        if (x->i > x->len)
            x->i = x->len;
        return true;
    }
    return false;
}

/* A literal that opens at quote (an index); raw: backslashes mean nothing. */
static void literal(struct lexer *x, size_t start, size_t quote, bool raw)
{
    char q = x->s[quote];
    bool triple = !is_c(x) && x->lang != TP_LANG_TEXT && x->len - quote >= 3 &&
                  x->s[quote + 1] == q && x->s[quote + 2] == q;
    size_t i = quote + (triple ? 3 : 1);
    for (; i < x->len; i++) {
        char c = x->s[i];
        if (c == '\\' && !raw) {
            i++;
        } else if (c == '\n' && !triple) {
            break; /* unterminated: ends with its line */
        } else if (c == q && (!triple || (x->len - i >= 3 && x->s[i + 1] == q && x->s[i + 2] == q))) {
            i += triple ? 3 : 1;
            break;
        }
    }
    if (i > x->len)
        i = x->len;
    emit(x, start, i, TP_TOKEN_STRING);
    x->i = i;
}

/* R"delimiter( … )delimiter" */
static bool raw_literal(struct lexer *x, size_t start, size_t quote)
{
    size_t open = quote + 1;
    while (open < x->len && open - quote <= 17 && x->s[open] != '(' && x->s[open] != '\n')
        open++;
    if (open >= x->len || x->s[open] != '(')
        return false;
    size_t n = open - quote - 1;
    char close[20];
    close[0] = ')';
    memcpy(close + 1, x->s + quote + 1, n);
    close[n + 1] = '"';
    const char *end = memmem(x->s + open, x->len - open, close, n + 2);
    x->i = end ? (size_t)(end - x->s) + n + 2 : x->len;
    emit(x, start, x->i, TP_TOKEN_STRING);
    return true;
}

static void word(struct lexer *x)
{
    size_t start = x->i;
    while (x->i < x->len && (word_start((unsigned char)x->s[x->i]) || digit((unsigned char)x->s[x->i])))
        x->i++;
    size_t n = x->i - start;
    char q = peek(x, 0);
    if ((q == '"' || q == '\'') && n <= 3 && x->lang != TP_LANG_TEXT) {
        bool prefix = true, raw = false;
        const char *letters = is_c(x) ? "uUL8R" : x->lang == TP_LANG_PYTHON ? "rRbBuUfF" : "f";
        for (size_t k = start; k < x->i; k++) {
            prefix = prefix && strchr(letters, x->s[k]);
            raw = raw || x->s[k] == 'R' || x->s[k] == 'r';
        }
        if (prefix && raw && x->lang == TP_LANG_CPP && q == '"' && raw_literal(x, start, x->i))
            return;
        if (prefix) {
            literal(x, start, x->i, raw && x->lang == TP_LANG_PYTHON);
            return;
        }
    }
    emit(x, start, x->i, TP_TOKEN_WORD);
}

static void number(struct lexer *x)
{
    size_t start = x->i;
    while (x->i < x->len) {
        char c = x->s[x->i];
        bool exponent = x->i > start && (c == '+' || c == '-') &&
                        strchr("eEpP", x->s[x->i - 1]) && x->s[start + 1] != 'x' &&
                        x->s[start + 1] != 'X';
        bool separator = c == '\'' && is_c(x) && digit((unsigned char)peek(x, 1));
        if (!word_start((unsigned char)c) && !digit((unsigned char)c) && c != '.' && !exponent &&
            !separator)
            break;
        x->i++;
    }
    emit(x, start, x->i, TP_TOKEN_NUMBER);
}

static void punctuator(struct lexer *x)
{
    /* Longest first. No '>>' in C and C++, since two template lists may end there; a header is C or
     * C++, and a fragment is lexed before that is known. */
    static const char *const c_long[] = {"<<=", "...", "->*", "##", "->", "++", "--", "<<",
                                         "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                         "*=",  "/=",  "%=",  "&=", "|=", "^=", "::"};
    static const char *const py_long[] = {"**=", "//=", "<<=", ">>=", "...", "->", ":=", "**",
                                          "//",  "<<",  ">>",  "<=",  ">=",  "==", "!=", "+=",
                                          "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@="};
    const char *const *table = is_c(x) ? c_long : py_long;
    size_t n = is_c(x) ? sizeof c_long / sizeof *c_long : sizeof py_long / sizeof *py_long;
    for (size_t k = 0; k < n && x->lang != TP_LANG_TEXT; k++) {
        size_t len = strlen(table[k]);
        if (x->len - x->i >= len && !memcmp(x->s + x->i, table[k], len)) {
            emit(x, x->i, x->i + len, TP_TOKEN_PUNCT);
            x->i += len;
            return;
        }
    }
    size_t len = x->metavariables && x->len - x->i >= 3 && !memcmp(x->s + x->i, "...", 3) ? 3 : 1;
    emit(x, x->i, x->i + len, TP_TOKEN_PUNCT);
    x->i += len;
}

static bool at_line_start(const struct lexer *x)
{
    for (size_t i = x->i; i > 0; i--) {
        char c = x->s[i - 1];
        if (c == '\n')
            return true;
        if (c != ' ' && c != '\t' && c != '\r')
            return false;
    }
    return true;
}

static bool is_text(const char *s, const struct tp_token *t, const char *text)
{
    size_t n = strlen(text);
    return t->end - t->start == n && !memcmp(s + t->start, text, n);
}

/* The branches of #if … #else open the same brackets twice: each branch starts from the stack as it
 * was at the #if. */
static void pair_brackets(const char *s, struct tp_tokens *t)
{
    int *stack = NULL, *branches = NULL;
    int n = 0, cap = 0, depth = 0, depth_cap = 0;
    for (int i = 0; i < t->n; i++) {
        struct tp_token *tok = &t->at[i];
        if (tok->kind != TP_TOKEN_PUNCT || tok->end - tok->start != 1)
            continue;
        char c = s[tok->start];
        if (c == '#' && tok->directive && i + 1 < t->n) {
            const struct tp_token *name = tok + 1;
            if (is_text(s, name, "if") || is_text(s, name, "ifdef") || is_text(s, name, "ifndef")) {
                TP_PUSH(branches, depth, depth_cap) = n;
            } else if ((is_text(s, name, "else") || is_text(s, name, "elif")) && depth) {
                if (n > branches[depth - 1])
                    n = branches[depth - 1];
            } else if (is_text(s, name, "endif") && depth) {
                depth--;
            }
        }
        if (c == '(' || c == '[' || c == '{') {
            TP_PUSH(stack, n, cap) = i;
        } else if (c == ')' || c == ']' || c == '}') {
            char want = c == ')' ? '(' : c == ']' ? '[' : '{';
            int k = n;
            while (k > 0 && n - k < 4 && s[t->at[stack[k - 1]].start] != want)
                k--;
            if (k > 0 && n - k < 4) { /* past a stray opener or two */
                tok->partner = stack[k - 1];
                t->at[stack[k - 1]].partner = i;
                n = k - 1;
            }
        }
    }
    free(branches);
    free(stack);
}

/* A branch of #if … #endif: does it count, did an earlier one surely, did the group around it? */
struct branch {
    bool dead, taken, outer;
};

/* 0: surely false, 1: surely true, -1: who knows. The condition's tokens begin at i. */
static int constant(const char *s, const struct tp_tokens *t, int i)
{
    if (i >= t->n || !t->at[i].directive || t->at[i].kind == TP_TOKEN_LINE_END)
        return -1;
    bool zero = is_text(s, &t->at[i], "0"), one = is_text(s, &t->at[i], "1");
    bool alone = i + 1 >= t->n || t->at[i + 1].kind == TP_TOKEN_LINE_END;
    if (zero && (alone || is_text(s, &t->at[i + 1], "&&")))
        return 0;
    if (one && (alone || is_text(s, &t->at[i + 1], "||")))
        return 1;
    return -1;
}

/* `#if 0`, and `#else` of `#if 1`: nothing in there is ever compiled. Directives themselves are not
 * dead where the group that they belong to is not. */
static void mark_dead(const char *s, struct tp_tokens *t)
{
    struct branch *stack = NULL;
    int n = 0, cap = 0;
    for (int i = 0; i < t->n; i++) {
        struct tp_token *tok = &t->at[i];
        bool opens = tok->directive && is_text(s, tok, "#") && i + 1 < t->n &&
                     (i == 0 || !t->at[i - 1].directive || t->at[i - 1].kind == TP_TOKEN_LINE_END);
        bool dead = n && stack[n - 1].dead;
        if (opens) {
            const struct tp_token *name = tok + 1;
            struct branch *b = n ? &stack[n - 1] : NULL;
            if (is_text(s, name, "if") || is_text(s, name, "ifdef") || is_text(s, name, "ifndef")) {
                int value = is_text(s, name, "if") ? constant(s, t, i + 2) : -1;
                TP_PUSH(stack, n, cap) = (struct branch){dead || value == 0, value == 1, dead};
            } else if (b && (is_text(s, name, "elif") || is_text(s, name, "else"))) {
                int value = is_text(s, name, "elif") ? constant(s, t, i + 2) : -1;
                dead = b->outer;
                b->dead = b->outer || b->taken || value == 0;
                b->taken = b->taken || value == 1;
            } else if (b && is_text(s, name, "endif")) {
                dead = b->outer;
                n--;
            }
            for (; i < t->n && t->at[i].directive; i++) {
                t->at[i].dead = dead;
                if (t->at[i].kind == TP_TOKEN_LINE_END)
                    break;
            }
            continue;
        }
        tok->dead = dead;
    }
    free(stack);
}

void tp_lex(const char *text, size_t len, enum tp_language lang, bool metavariables,
            struct tp_tokens *out)
{
    *out = (struct tp_tokens){0};
    struct lexer x = {.s = text, .len = len, .lang = lang, .metavariables = metavariables, .out = out};
    if (len > INT32_MAX)
        return;
    while (x.i < x.len) {
        if (skip_blank(&x))
            continue;
        unsigned char c = (unsigned char)peek(&x, 0);
        if (metavariables && c == '$' && word_start((unsigned char)peek(&x, 1))) {
            size_t start = x.i++;
            while (x.i < x.len &&
                   (word_start((unsigned char)x.s[x.i]) || digit((unsigned char)x.s[x.i])))
                x.i++;
            emit(&x, start, x.i, TP_TOKEN_WORD);
        } else if (is_c(&x) && c == '#' && !x.directive && at_line_start(&x)) {
            x.directive = true;
            emit(&x, x.i, x.i + 1, TP_TOKEN_PUNCT);
            x.i++;
        } else if (word_start(c)) {
            word(&x);
        } else if (digit(c) || (c == '.' && digit((unsigned char)peek(&x, 1)) && lang != TP_LANG_TEXT)) {
            number(&x);
        } else if (c == '"' || (c == '\'' && lang != TP_LANG_TEXT)) {
            literal(&x, x.i, x.i, false);
        } else {
            punctuator(&x);
        }
    }
    if (x.directive)
        emit(&x, x.len, x.len, TP_TOKEN_LINE_END);
    pair_brackets(text, out);
    if (is_c(&x))
        mark_dead(text, out);
}

void tp_tokens_finish(struct tp_tokens *t)
{
    free(t->at);
    *t = (struct tp_tokens){0};
}
