#include "factory/edit/text.h"

#include <stdlib.h>
#include <string.h>

const TSLanguage *tree_sitter_c(void);
const TSLanguage *tree_sitter_cpp(void);
const TSLanguage *tree_sitter_python(void);

static const TSLanguage *grammar(enum tp_language lang)
{
    switch (lang) {
    case TP_LANG_C:
        return tree_sitter_c();
    case TP_LANG_CPP:
        return tree_sitter_cpp();
    case TP_LANG_PYTHON:
        return tree_sitter_python();
    default:
        return NULL;
    }
}

bool tp_text_has_trees(const struct tp_text *t)
{
    return grammar(t->lang) != NULL;
}

const char *tp_token_text(const struct tp_text *t, int token, size_t *len)
{
    const struct tp_token *tok = &t->tokens.at[token];
    *len = tok->end - tok->start;
    return t->bytes.data + tok->start;
}

bool tp_token_is(const struct tp_text *t, int token, const char *text)
{
    if (token < 0 || token >= t->tokens.n)
        return false;
    size_t len, want = strlen(text);
    const char *s = tp_token_text(t, token, &len);
    return len == want && !memcmp(s, text, len);
}

/* Does the declaration that began at first end with the brace token at i? `struct x { … } y;` and
 * `= { … };` go on; a function's body, after ')' or a word behind one, does not. */
static bool brace_ends(const struct tp_text *t, int first, int open, int close)
{
    if (tp_token_is(t, close + 1, ";") || tp_token_is(t, close + 1, ",") ||
        tp_token_is(t, close + 1, ")"))
        return false;
    int before = open - 1;
    while (before > first && t->tokens.at[before].directive)
        before--;
    while (before > first && (tp_token_is(t, before, "const") || tp_token_is(t, before, "noexcept") ||
                              tp_token_is(t, before, "override") || tp_token_is(t, before, "final")))
        before--;
    return before >= first && tp_token_is(t, before, ")");
}

/* Does a statement of a Python module begin here: in the first column, and not as the next part of
 * the one before (`else:`, what is decorated, a line that a backslash continues)? */
static bool begins_statement(const struct tp_text *t, int token, bool decorated)
{
    static const char *const parts[] = {"else", "elif", "except", "finally"};
    size_t at = t->tokens.at[token].start;
    if (decorated || at == 0 || t->bytes.data[at - 1] != '\n' ||
        (at > 1 && t->bytes.data[at - 2] == '\\'))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (tp_token_is(t, token, parts[i]))
            return false;
    }
    return true;
}

static void split_python(struct tp_text *t)
{
    int cap = 0, first = 0;
    bool decorated = false;
    const struct tp_tokens *k = &t->tokens;
    for (int i = 0; i < k->n; i++) {
        if (i > first && begins_statement(t, i, decorated)) {
            TP_PUSH(t->chunks, t->n_chunks, cap) = (struct tp_chunk){.first = first, .last = i - 1};
            first = i;
        }
        if (i == first)
            decorated = tp_token_is(t, i, "@");
        else if (tp_token_is(t, i, "def") || tp_token_is(t, i, "class"))
            decorated = false;
        if (k->at[i].partner > i)
            i = k->at[i].partner;
    }
    if (k->n)
        TP_PUSH(t->chunks, t->n_chunks, cap) = (struct tp_chunk){.first = first, .last = k->n - 1};
}

static void split_chunks(struct tp_text *t)
{
    int cap = 0, first = -1;
    const struct tp_tokens *k = &t->tokens;
    if (t->lang == TP_LANG_PYTHON) {
        split_python(t);
        return;
    }
    if (t->lang != TP_LANG_C && t->lang != TP_LANG_CPP) {
        if (k->n)
            TP_PUSH(t->chunks, t->n_chunks, cap) = (struct tp_chunk){.last = k->n - 1};
        return;
    }
    for (int i = 0; i < k->n; i++) {
        bool ends = false;
        if (first < 0) {
            first = i;
            if (k->at[i].directive) {
                while (i + 1 < k->n && k->at[i].kind != TP_TOKEN_LINE_END)
                    i++;
                ends = true;
            }
        }
        if (!ends && !k->at[i].directive) {
            if (tp_token_is(t, i, ";")) {
                ends = true;
            } else if (k->at[i].partner > i) {
                bool brace = tp_token_is(t, i, "{");
                int open = i;
                i = k->at[i].partner;
                ends = brace && brace_ends(t, first, open, i);
            }
        }
        if (ends || i == k->n - 1) {
            TP_PUSH(t->chunks, t->n_chunks, cap) = (struct tp_chunk){.first = first, .last = i};
            first = -1;
        }
    }
}

/* A header's name does not say which language it is in. */
static bool looks_like_cpp(const struct tp_text *t)
{
    for (int i = 0; i + 1 < t->tokens.n; i++) {
        bool word_follows = t->tokens.at[i + 1].kind == TP_TOKEN_WORD;
        if (tp_token_is(t, i, "::") || (tp_token_is(t, i, "template") && tp_token_is(t, i + 1, "<")) ||
            (word_follows && (tp_token_is(t, i, "namespace") || tp_token_is(t, i, "class"))))
            return true;
    }
    return false;
}

static void read_text(struct tp_text *t)
{
    tp_lex(tp_buf_str(&t->bytes), t->bytes.len, t->lang, false, &t->tokens);
    if (t->lang == TP_LANG_C && looks_like_cpp(t))
        t->lang = TP_LANG_CPP;
    split_chunks(t);
}

static void free_chunks(struct tp_chunk *chunks, int n)
{
    for (int i = 0; i < n; i++) {
        if (chunks[i].tree)
            ts_tree_delete(chunks[i].tree);
    }
    free(chunks);
}

void tp_text_init(struct tp_text *t, enum tp_language lang, const char *bytes, size_t len)
{
    *t = (struct tp_text){.lang = lang};
    tp_buf_add(&t->bytes, bytes, len);
    read_text(t);
}

void tp_text_finish(struct tp_text *t)
{
    free_chunks(t->chunks, t->n_chunks);
    t->chunks = NULL;
    t->n_chunks = 0;
    tp_tokens_finish(&t->tokens);
    tp_buf_finish(&t->bytes);
}

/* Bytes of the text. A Python statement takes its last line's end along, and the directive, too. */
static uint32_t chunk_base(const struct tp_text *t, const struct tp_chunk *c)
{
    return t->tokens.at[c->first].start;
}

static uint32_t chunk_end(const struct tp_text *t, const struct tp_chunk *c)
{
    uint32_t end = t->tokens.at[c->last].end;
    bool line = t->lang == TP_LANG_PYTHON || t->tokens.at[c->last].kind == TP_TOKEN_LINE_END;
    return line && end < t->bytes.len && t->bytes.data[end] == '\n' ? end + 1 : end;
}

/* Trees count bytes from their declaration's start, so those of declarations that lie wholly in front
 * of a change, or behind it, hold on. */
static void keep_trees(struct tp_text *t, struct tp_text *old, size_t from, size_t to, size_t n)
{
    if (t->lang != old->lang)
        return;
    int front = 0;
    while (front < t->n_chunks && front < old->n_chunks) {
        struct tp_chunk *a = &t->chunks[front], *b = &old->chunks[front];
        /* not the last one in front: what follows may decide where it ends */
        if (chunk_end(old, b) >= from || chunk_base(t, a) != chunk_base(old, b) ||
            chunk_end(t, a) != chunk_end(old, b))
            break;
        a->tree = b->tree;
        a->unreadable = b->unreadable;
        b->tree = NULL;
        front++;
    }
    for (int i = t->n_chunks - 1, k = old->n_chunks - 1; i >= front && k >= front; i--, k--) {
        struct tp_chunk *a = &t->chunks[i], *b = &old->chunks[k];
        if (chunk_base(old, b) <= to || chunk_base(t, a) != chunk_base(old, b) - to + from + n ||
            chunk_end(t, a) != chunk_end(old, b) - to + from + n)
            break;
        a->tree = b->tree;
        a->unreadable = b->unreadable;
        b->tree = NULL;
    }
}

void tp_text_replace(struct tp_text *t, size_t offset, size_t len, const char *with, size_t n)
{
    struct tp_text old = *t;
    *t = (struct tp_text){.lang = old.lang};
    tp_buf_add(&t->bytes, tp_buf_str(&old.bytes), offset);
    tp_buf_add(&t->bytes, with, n);
    tp_buf_add(&t->bytes, tp_buf_str(&old.bytes) + offset + len, old.bytes.len - offset - len);
    read_text(t);
    keep_trees(t, &old, offset, offset + len, n);
    tp_text_finish(&old);
}

int tp_text_line_at(const struct tp_text *t, size_t offset)
{
    int line = 1;
    const char *s = tp_buf_str(&t->bytes), *end = s + (offset < t->bytes.len ? offset : t->bytes.len);
    while ((s = memchr(s, '\n', (size_t)(end - s)))) {
        line++;
        s++;
    }
    return line;
}

int tp_text_line(const struct tp_text *t, int token)
{
    if (token < 0 || token >= t->tokens.n)
        return 0;
    return tp_text_line_at(t, t->tokens.at[token].start);
}

static struct tp_chunk *chunk_of(struct tp_text *t, int token)
{
    int lo = 0, hi = t->n_chunks - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (t->chunks[mid].last < token)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo <= hi ? &t->chunks[lo] : NULL;
}

/* Directives inside brackets (`#ifdef` around an element of an initialiser, around half a condition)
 * are not in the grammars, or split lists of siblings: the parser sees blanks there, and where code is
 * dead. */
static void blank_directives(const struct tp_text *t, const struct tp_chunk *c, char *copy)
{
    uint32_t base = t->tokens.at[c->first].start;
    for (int i = c->first; i <= c->last; i++) {
        if (t->tokens.at[i].directive || t->tokens.at[i].dead)
            memset(copy + (t->tokens.at[i].start - base), ' ',
                   t->tokens.at[i].end - t->tokens.at[i].start);
    }
}

/* Climbing a tree costs its depth squared, and what could not be parsed is a flat list that costs its
 * length at every look. Compilers nest 256 brackets, and real sources stay far below this; nothing is
 * found in what is worse. */
enum { MAX_DEPTH = 1000, MAX_BROKEN = 2000 };

static bool is_unreadable(const TSTree *tree)
{
    int depth = 0;
    bool broken = false;
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    for (bool down = true; depth <= MAX_DEPTH && !broken;) {
        if (down) {
            TSNode node = ts_tree_cursor_current_node(&cursor);
            broken = ts_node_has_error(node) && !strcmp(ts_node_type(node), "ERROR") &&
                     ts_node_child_count(node) > MAX_BROKEN;
        }
        if (down && ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
        } else if (ts_tree_cursor_goto_next_sibling(&cursor)) {
            down = true;
        } else if (ts_tree_cursor_goto_parent(&cursor)) {
            depth--;
            down = false;
        } else {
            break;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return depth > MAX_DEPTH || broken;
}

/* A node of the library (0.20) has fewer than 65536 children, and where it does not understand a
 * text, each token, comment, escape and line end may become a child of one error: beyond that it
 * corrupts its memory. */
static bool is_too_large(const struct tp_text *t, const struct tp_chunk *c)
{
    enum { MAX_LEAVES = 60000 };
    uint32_t base = chunk_base(t, c), end = chunk_end(t, c);
    size_t leaves = 0;
    if (end - base < MAX_LEAVES)
        return false;
    for (int i = c->first; i <= c->last; i++)
        leaves += t->tokens.at[i].kind == TP_TOKEN_STRING ? 3 : 1;
    for (uint32_t i = base; i < end && leaves <= MAX_LEAVES; i++) {
        char b = t->bytes.data[i];
        leaves += b == '\\' || b == '/' || b == '#' || b == '{' || b == '}' || b == '\n';
    }
    return leaves > MAX_LEAVES;
}

static TSTree *tree_of(struct tp_text *t, struct tp_chunk *c)
{
    if (!c->tree && !c->unreadable && grammar(t->lang) && !(c->unreadable = is_too_large(t, c))) {
        TSParser *parser = ts_parser_new();
        if (ts_parser_set_language(parser, grammar(t->lang))) {
            uint32_t base = chunk_base(t, c), len = chunk_end(t, c) - base;
            char *copy = tp_strndup(t->bytes.data + base, len);
            if (!t->tokens.at[c->first].directive)
                blank_directives(t, c, copy);
            c->tree = ts_parser_parse_string(parser, NULL, copy, len);
            free(copy);
            if (c->tree && c->last - c->first > MAX_DEPTH && is_unreadable(c->tree)) {
                ts_tree_delete(c->tree);
                c->tree = NULL;
            }
        }
        ts_parser_delete(parser);
        c->unreadable = !c->tree;
    }
    return c->tree;
}

TSNode tp_text_node_over(struct tp_text *t, int first, int last)
{
    struct tp_chunk *c = chunk_of(t, first);
    TSTree *tree = c && last <= c->last ? tree_of(t, c) : NULL;
    if (!tree)
        return (TSNode){0};
    uint32_t base = chunk_base(t, c);
    const struct tp_token *a = &t->tokens.at[first], *b = &t->tokens.at[last];
    return ts_node_descendant_for_byte_range(ts_tree_root_node(tree), a->start - base,
                                             b->end - base);
}

TSNode tp_text_node_at(struct tp_text *t, int token)
{
    return tp_text_node_over(t, token, token);
}

struct tp_span tp_text_span(const struct tp_text *t, TSNode node, int near)
{
    struct tp_chunk *c = chunk_of((struct tp_text *)t, near);
    uint32_t base = chunk_base(t, c);
    uint32_t start = ts_node_start_byte(node) + base, end = ts_node_end_byte(node) + base;
    int lo = c->first, hi = c->last + 1;
    while (lo < hi) { /* first token that starts at or behind start */
        int mid = (lo + hi) / 2;
        if (t->tokens.at[mid].start < start)
            lo = mid + 1;
        else
            hi = mid;
    }
    struct tp_span s = {.first = lo};
    hi = c->last + 1;
    while (lo < hi) { /* first token that ends behind end */
        int mid = (lo + hi) / 2;
        if (t->tokens.at[mid].end <= end)
            lo = mid + 1;
        else
            hi = mid;
    }
    s.last = lo - 1;
    return s;
}

static bool inside(struct tp_span inner, struct tp_span outer)
{
    return inner.first >= outer.first && inner.last <= outer.last;
}

static bool balanced(const struct tp_text *t, int first, int last, struct tp_span *parent)
{
    const struct tp_token *k = t->tokens.at;
    for (int i = first; i <= last; i++) {
        if (k[i].partner >= 0 && (k[i].partner < first || k[i].partner > last))
            return false;
    }
    if (parent) {
        *parent = (struct tp_span){0, t->tokens.n - 1};
        for (int i = first - 1; i >= 0; i--) {
            if (k[i].partner > last) {
                *parent = (struct tp_span){i, k[i].partner};
                break;
            }
            if (k[i].partner >= 0 && k[i].partner < i)
                i = k[i].partner;
        }
    }
    return true;
}

bool tp_text_aligned(struct tp_text *t, int first, int last, struct tp_span *parent,
                     const char **parent_type)
{
    if (parent_type)
        *parent_type = "";
    if (first > last)
        return false;
    if (!tp_text_has_trees(t))
        return balanced(t, first, last, parent);
    struct tp_chunk *c = chunk_of(t, first);
    if (!t->tokens.at[c->first].directive) {
        /* Directives around the run are no nodes. */
        struct tp_span run = {first, last};
        while (run.first < run.last && t->tokens.at[run.first].directive)
            run.first++;
        while (run.last > run.first && t->tokens.at[run.last].directive)
            run.last--;
        if (t->tokens.at[run.first].directive)
            return balanced(t, first, last, parent);
        first = run.first;
        last = run.last;
        c = chunk_of(t, first);
    }
    if (last > c->last) { /* several declarations: whole ones */
        if (parent)
            *parent = (struct tp_span){0, t->tokens.n - 1};
        struct tp_chunk *d = chunk_of(t, last);
        return first == c->first && last == d->last;
    }
    TSNode node = tp_text_node_over(t, first, last);
    if (ts_node_is_null(node))
        return false;
    struct tp_span s = tp_text_span(t, node, first);
    if (ts_node_child_count(node) == 0 && s.last - s.first > last - first) {
        /* A leaf of many tokens, such as a macro's body: the grammar does not look into it. */
        if (parent_type)
            *parent_type = ts_node_type(node);
        bool whole = balanced(t, first, last, parent);
        if (parent && !inside(*parent, s))
            *parent = s;
        return whole;
    }
    if (s.first == first && s.last == last) {
        /* The node itself: climb to the outermost with the same tokens, then one more. */
        TSNode up = ts_node_parent(node);
        while (!ts_node_is_null(up)) {
            s = tp_text_span(t, up, first);
            if (s.first != first || s.last != last)
                break;
            up = ts_node_parent(up);
        }
        if (ts_node_is_null(up) || ts_node_is_null(ts_node_parent(up))) {
            if (parent)
                *parent = (struct tp_span){0, t->tokens.n - 1};
            return true;
        }
        if (parent)
            *parent = s;
        if (parent_type)
            *parent_type = ts_node_type(up);
        return true;
    }
    bool starts = false, ends = false;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    /* from the child that reaches beyond the run's first byte: a table has a hundred thousand */
    uint32_t from = t->tokens.at[first].start - chunk_base(t, c);
    for (bool more = ts_tree_cursor_goto_first_child_for_byte(&cursor, from) >= 0; more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        struct tp_span child = tp_text_span(t, ts_tree_cursor_current_node(&cursor), first);
        if (child.last < child.first)
            continue;
        starts = starts || child.first == first;
        ends = ends || child.last == last;
        if (child.first > last)
            break;
    }
    ts_tree_cursor_delete(&cursor);
    bool root = ts_node_is_null(ts_node_parent(node));
    if (parent)
        *parent = root ? (struct tp_span){0, t->tokens.n - 1} : s;
    if (parent_type)
        *parent_type = root ? "" : ts_node_type(node);
    return starts && ends;
}

static int count_faults(TSNode root)
{
    int n = 0;
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    for (bool down = true;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (down) {
            if (ts_node_is_missing(node) || !strcmp(ts_node_type(node), "ERROR"))
                n++;
            if (ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor))
                continue;
        }
        if (ts_tree_cursor_goto_next_sibling(&cursor)) {
            down = true;
            continue;
        }
        if (!ts_tree_cursor_goto_parent(&cursor))
            break;
        down = false;
    }
    ts_tree_cursor_delete(&cursor);
    return n;
}

int tp_text_faults(struct tp_text *t, size_t from_byte, size_t to_byte)
{
    int n = 0;
    /* Unpaired brackets, which the split into declarations would otherwise hide. */
    for (int i = 0; i < t->tokens.n; i++) {
        if (t->tokens.at[i].partner < 0 && t->tokens.at[i].kind == TP_TOKEN_PUNCT &&
            t->tokens.at[i].end - t->tokens.at[i].start == 1 &&
            strchr("()[]{}", t->bytes.data[t->tokens.at[i].start]))
            n++;
    }
    for (int i = 0; i < t->n_chunks; i++) {
        struct tp_chunk *c = &t->chunks[i];
        if (t->tokens.at[c->last].end < from_byte || t->tokens.at[c->first].start > to_byte)
            continue;
        TSTree *tree = tree_of(t, c);
        if (tree)
            n += count_faults(ts_tree_root_node(tree));
    }
    return n;
}
