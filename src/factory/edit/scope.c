#include "factory/edit/scope.h"

#include <stdlib.h>
#include <string.h>

void tp_scope_finish(struct tp_scope *s)
{
    free(s->name);
    if (s->has_argument)
        tp_pattern_finish(&s->argument);
    *s = (struct tp_scope){0};
}

const char *tp_scope_kind_name(enum tp_scope_kind kind)
{
    static const char *const names[] = {"file",          "function", "struct", "enum",
                                        "initialiser of", "call"};
    return names[kind];
}

void tp_scope_describe(const struct tp_scope *s, struct tp_buf *out)
{
    tp_buf_addf(out, "%s%s%s", tp_scope_kind_name(s->kind), s->name ? " " : "",
                s->name ? s->name : "");
    if (s->has_argument)
        tp_buf_addf(out, " with argument %s", s->argument.text);
}

static bool type_is(TSNode node, const char *const *types)
{
    for (; *types; types++) {
        if (!strcmp(ts_node_type(node), *types))
            return true;
    }
    return false;
}

static TSNode field(TSNode node, const char *name)
{
    return ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}

static bool holds(TSNode outer, TSNode inner)
{
    return !ts_node_is_null(outer) && ts_node_start_byte(outer) <= ts_node_start_byte(inner) &&
           ts_node_end_byte(outer) >= ts_node_end_byte(inner);
}

/* The name of a declarator: through pointers, arrays, parameter lists and qualifications, the last
 * identifier that is not a parameter's. */
static bool names(TSNode declarator, TSNode ident)
{
    while (!ts_node_is_null(declarator)) {
        if (ts_node_eq(declarator, ident))
            return true;
        TSNode next = field(declarator, "declarator");
        if (ts_node_is_null(next))
            next = field(declarator, "name");
        if (ts_node_is_null(next)) {
            /* reference_declarator and parenthesized_declarator have no field for it */
            static const char *const plain[] = {"reference_declarator", "parenthesized_declarator",
                                                "attributed_declarator", NULL};
            next = type_is(declarator, plain) ? ts_node_named_child(declarator, 0) : next;
        }
        declarator = next;
    }
    return false;
}

/* The bracket that a body, a list of arguments or a value ends with: `{…}`, `(…)`, `(T){…}`,
 * `f(…)`; a body in Python has none. */
static void set_brackets(const struct tp_text *t, struct tp_span span, bool is_value,
                         struct tp_place *p)
{
    int open = span.last >= span.first ? t->tokens.at[span.last].partner : -1;
    if (open < span.first || open >= span.last || (!is_value && open != span.first))
        return;
    p->open = open;
    p->close = span.last;
}

static void add(struct tp_text *t, struct tp_places *out, TSNode whole, TSNode body, int near,
                bool is_value)
{
    struct tp_place p = {.span = tp_text_span(t, whole, near), .open = -1, .close = -1};
    if (!ts_node_is_null(body))
        set_brackets(t, tp_text_span(t, body, near), is_value, &p);
    for (int i = 0; i < out->n; i++) {
        if (out->at[i].span.first == p.span.first && out->at[i].span.last == p.span.last)
            return;
    }
    TP_PUSH(out->at, out->n, out->cap) = p;
}

/* The node of one of these types that `ident` is the name of. */
static bool definition(TSNode ident, const char *const *types, TSNode *whole)
{
    for (TSNode n = ts_node_parent(ident); !ts_node_is_null(n); n = ts_node_parent(n)) {
        if (!type_is(n, types))
            continue;
        TSNode name = field(n, "name");
        TSNode declarator = field(n, "declarator");
        if (names(name, ident) || names(declarator, ident)) {
            *whole = n;
            return true;
        }
        if (!holds(declarator, ident) && !holds(name, ident))
            return false; /* used inside it, not its name */
    }
    return false;
}

static bool argument_stands(const struct tp_scope *s, struct tp_text *t, struct tp_span args)
{
    if (!s->has_argument)
        return true;
    struct tp_matches m = {0};
    tp_pattern_find(&s->argument, t, args, &m);
    bool stands = m.n > 0;
    tp_matches_finish(&m);
    return stands;
}

/* Meson and plain text: `name ( … )` and `name = …` by tokens. */
static void find_by_tokens(const struct tp_scope *s, struct tp_text *t, int token,
                           struct tp_places *out)
{
    struct tp_place p = {.span = {token, token}, .open = -1, .close = -1};
    if (s->kind == TP_SCOPE_CALL) {
        p.open = token + 1;
        if (!tp_token_is(t, p.open, "("))
            return;
    } else if (s->kind == TP_SCOPE_INITIALISER) {
        int i = token + 1;
        if (!tp_token_is(t, i++, "=")) /* `+=` adds to what was initialised elsewhere */
            return;
        p.span.first = i;
        if (i < t->tokens.n && t->tokens.at[i].kind == TP_TOKEN_WORD && tp_token_is(t, i + 1, "("))
            i++;
        p.open = i;
    } else {
        return;
    }
    if (p.open >= t->tokens.n || t->tokens.at[p.open].partner < p.open)
        return;
    p.close = t->tokens.at[p.open].partner;
    p.span.last = p.close;
    if (argument_stands(s, t, (struct tp_span){p.open, p.close}))
        TP_PUSH(out->at, out->n, out->cap) = p;
}

static void find_initialiser(struct tp_text *t, TSNode ident, int token, struct tp_places *out)
{
    static const char *const types[] = {"init_declarator", "assignment", "assignment_expression",
                                        "initializer_pair", NULL};
    for (TSNode n = ts_node_parent(ident); !ts_node_is_null(n); n = ts_node_parent(n)) {
        if (!type_is(n, types))
            continue;
        TSNode left = field(n, "declarator");
        if (ts_node_is_null(left))
            left = field(n, "left");
        if (ts_node_is_null(left))
            left = field(n, "designator");
        TSNode value = field(n, "value");
        if (ts_node_is_null(value))
            value = field(n, "right");
        bool named = names(left, ident) ||
                     (!strcmp(ts_node_type(n), "initializer_pair") && holds(left, ident));
        if (named && !ts_node_is_null(value))
            add(t, out, value, value, token, true);
        return;
    }
}

static void find_call(const struct tp_scope *s, struct tp_text *t, TSNode ident, int token,
                      struct tp_places *out)
{
    static const char *const types[] = {"call_expression", "call", NULL};
    TSNode n = ts_node_parent(ident);
    while (!ts_node_is_null(n) && !type_is(n, types)) {
        static const char *const path[] = {"field_expression", "qualified_identifier", "attribute",
                                           "template_function", NULL};
        if (!type_is(n, path))
            return;
        if (!strcmp(ts_node_type(n), "template_function") && ts_node_eq(field(n, "name"), ident))
            ident = n; /* g of g<CHIP>(…) */
        n = ts_node_parent(n);
    }
    if (ts_node_is_null(n))
        return;
    TSNode function = field(n, "function"), args = field(n, "arguments");
    /* the last name of a path is the function's: tu_x in a::tu_x(…) */
    if (ts_node_is_null(args) || ts_node_end_byte(function) != ts_node_end_byte(ident))
        return;
    if (argument_stands(s, t, tp_text_span(t, args, token)))
        add(t, out, n, args, token, false);
}

static void find_at(const struct tp_scope *s, struct tp_text *t, int token, struct tp_places *out)
{
    static const char *const functions[] = {"function_definition", NULL};
    static const char *const structs[] = {"struct_specifier", "class_specifier", "union_specifier",
                                          "class_definition", NULL};
    static const char *const enums[] = {"enum_specifier", "class_definition", NULL};
    if (!tp_text_has_trees(t)) {
        find_by_tokens(s, t, token, out);
        return;
    }
    TSNode ident = tp_text_node_at(t, token), whole;
    if (ts_node_is_null(ident))
        return;
    switch (s->kind) {
    case TP_SCOPE_FILE:
        break;
    case TP_SCOPE_FUNCTION:
        if (definition(ident, functions, &whole))
            add(t, out, whole, field(whole, "body"), token, false);
        break;
    case TP_SCOPE_STRUCT:
    case TP_SCOPE_ENUM:
        if (definition(ident, s->kind == TP_SCOPE_ENUM ? enums : structs, &whole) &&
            !ts_node_is_null(field(whole, "body")))
            add(t, out, whole, field(whole, "body"), token, false);
        break;
    case TP_SCOPE_INITIALISER:
        find_initialiser(t, ident, token, out);
        break;
    case TP_SCOPE_CALL:
        find_call(s, t, ident, token, out);
        break;
    }
}

static void find_one(const struct tp_scope *s, struct tp_text *t, const struct tp_place *within,
                     struct tp_places *out)
{
    if (s->kind == TP_SCOPE_FILE) {
        TP_PUSH(out->at, out->n, out->cap) = *within;
        return;
    }
    /* a::b is looked up by its last name */
    const char *name = s->name;
    for (const char *c; (c = strstr(name, "::"));)
        name = c + 2;
    size_t len = strlen(name);
    uint32_t hash = tp_token_hash(name, len);
    for (int i = within->span.first; i <= within->span.last; i++) {
        const struct tp_token *tok = &t->tokens.at[i];
        if (tok->hash != hash || tok->kind != TP_TOKEN_WORD || tok->end - tok->start != len ||
            tok->dead)
            continue;
        if (name != s->name) {
            /* …and the whole path must stand before it */
            struct tp_buf path = {0};
            int k = i;
            while (k >= 2 && tp_token_is(t, k - 1, "::"))
                k -= 2;
            for (; k <= i; k++) {
                size_t n;
                const char *text = tp_token_text(t, k, &n);
                tp_buf_add(&path, text, n);
            }
            bool same = !strcmp(tp_buf_str(&path), s->name);
            tp_buf_finish(&path);
            if (!same)
                continue;
        }
        find_at(s, t, i, out);
    }
}

void tp_scopes_find(const struct tp_scope *scopes, int n, struct tp_text *t, struct tp_places *out,
                    int *matched)
{
    *out = (struct tp_places){0};
    TP_PUSH(out->at, out->n, out->cap) =
        (struct tp_place){.span = {0, t->tokens.n - 1}, .open = -1, .close = -1};
    int i = 0;
    for (; i < n; i++) {
        struct tp_places inner = {0};
        for (int k = 0; k < out->n; k++)
            find_one(&scopes[i], t, &out->at[k], &inner);
        tp_places_finish(out);
        *out = inner;
        if (!out->n)
            break;
    }
    if (matched)
        *matched = i;
}

void tp_places_finish(struct tp_places *p)
{
    free(p->at);
    *p = (struct tp_places){0};
}
