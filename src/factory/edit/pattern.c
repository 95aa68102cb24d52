#include "factory/edit/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *where, int line, struct tp_error *e, const char *what,
                  const char *todo)
{
    char place[1100];
    snprintf(place, sizeof place, "%s:%d", where, line);
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, place, todo, "%s", what);
}

static int name_index(struct tp_pattern *p, const char *name, size_t len)
{
    for (int i = 0; i < p->n_names; i++) {
        if (strlen(p->names[i]) == len && !memcmp(p->names[i], name, len))
            return i;
    }
    if (p->n_names == TP_MAX_NAMES)
        return -1;
    p->names[p->n_names] = tp_strndup(name, len);
    return p->n_names++;
}

static int line_of(const struct tp_pattern *p, uint32_t byte)
{
    int line = p->line;
    for (uint32_t i = 0; i < byte; i++)
        line += p->text[i] == '\n';
    return line;
}

/* Literals must end. Counts the groups of #if … #endif that stay open. */
static int check_tokens(struct tp_pattern *p, const struct tp_tokens *t, const char *where,
                        struct tp_error *e)
{
    for (int i = 0; i < t->n; i++) {
        const struct tp_token *tok = &t->at[i];
        const char *s = p->text + tok->start;
        size_t len = tok->end - tok->start;
        if (tok->kind == TP_TOKEN_STRING &&
            (len < 2 || !strchr("\"'", s[len - 1]) || (len == 2 && s[0] != s[1])))
            return refuse(where, line_of(p, tok->start), e, "a literal of this fragment does not end",
                          "close it");
        if (!tok->directive || i == 0 || t->at[i - 1].end - t->at[i - 1].start != 1 ||
            p->text[t->at[i - 1].start] != '#')
            continue;
        if (len >= 2 && !memcmp(s, "if", 2))
            p->open_groups++;
        else if (len == 5 && !memcmp(s, "endif", 5))
            p->open_groups--;
    }
    return 0;
}

int tp_pattern_init(struct tp_pattern *p, const char *text, int line, enum tp_language lang,
                    const char *where, struct tp_error *e)
{
    *p = (struct tp_pattern){.text = tp_strdup(text), .line = line};
    struct tp_tokens tokens;
    tp_lex(p->text, strlen(p->text), lang, true, &tokens);
    p->items = tp_calloc((size_t)tokens.n, sizeof *p->items);
    int r = 0, dots = 0;
    if (tokens.n > TP_MAX_ITEMS)
        r = refuse(where, line, e, "this fragment is too large", "split the edit");
    for (int i = 0; i < tokens.n && !r; i++) {
        const struct tp_token *tok = &tokens.at[i];
        const char *s = p->text + tok->start;
        size_t len = tok->end - tok->start;
        struct tp_item *item = &p->items[p->n++];
        *item = (struct tp_item){.start = tok->start, .end = tok->end, .hash = tok->hash};
        if (len > 1 && s[0] == '$') {
            item->kind = TP_ITEM_META;
            item->name = name_index(p, s + 1, len - 1);
            if (item->name < 0)
                r = refuse(where, line_of(p, tok->start), e, "this fragment has too many metavariables",
                           "split the edit");
        } else if (len == 3 && !memcmp(s, "...", 3)) {
            item->kind = TP_ITEM_DOTS;
            if (++dots > TP_MAX_DOTS)
                r = refuse(where, line_of(p, tok->start), e, "this fragment has too many '...'",
                           "split the edit");
        }
        if (len == 1 && strchr("()[]{}", s[0]) && tok->partner < 0 && !r)
            r = refuse(where, line_of(p, tok->start), e, "a bracket of this fragment has no partner",
                       "match whole expressions, statements or elements");
    }
    if (!r)
        r = check_tokens(p, &tokens, where, e);
    tp_tokens_finish(&tokens);
    if (!r && !p->n)
        r = refuse(where, line, e, "this fragment is empty", "give at least one token");
    if (!r && (p->items[0].kind == TP_ITEM_DOTS || p->items[p->n - 1].kind == TP_ITEM_DOTS))
        r = refuse(where, line, e, "a fragment cannot begin or end with '...'", "leave them out");
    if (r)
        tp_pattern_finish(p);
    return r;
}

void tp_pattern_finish(struct tp_pattern *p)
{
    for (int i = 0; i < p->n_names; i++)
        free(p->names[i]);
    free(p->items);
    free(p->text);
    *p = (struct tp_pattern){0};
}

bool tp_spans_equal(const struct tp_text *t, struct tp_span a, struct tp_span b)
{
    if (a.last - a.first != b.last - b.first)
        return false;
    for (int i = 0; a.first + i <= a.last; i++) {
        size_t na, nb;
        const char *sa = tp_token_text(t, a.first + i, &na), *sb = tp_token_text(t, b.first + i, &nb);
        if (na != nb || memcmp(sa, sb, na) != 0)
            return false;
    }
    return true;
}

/* The search is exponential in the number of dots at worst; fragments of reviewable size need a
 * few thousand steps a place, and next to none at most places. */
enum { MAX_STEPS = 200000, STEPS_PER_TOKEN = 20, MAX_SUBTREES = 64 };

struct search {
    const struct tp_pattern *p;
    struct tp_text *t;
    struct tp_span scope;
    struct tp_match *m;
    bool anywhere;  /* not only whole nodes */
    uint32_t bound; /* bit a name */
    int64_t steps;  /* that are left */
};

/* Without a tree, a subtree is an element: up to a comma, a colon or the end of the bracket. */
static int elements(const struct search *s, int token, int last, int ends[MAX_SUBTREES])
{
    int n = 0;
    const struct tp_text *t = s->t;
    for (int i = token; i <= last && n < MAX_SUBTREES; i++) {
        if (tp_token_is(t, i, ",") || tp_token_is(t, i, ":") ||
            t->tokens.at[i].kind == TP_TOKEN_LINE_END ||
            (t->tokens.at[i].partner >= 0 && t->tokens.at[i].partner < i))
            break;
        if (t->tokens.at[i].partner > i)
            i = t->tokens.at[i].partner;
        if (i <= last)
            ends[n++] = i;
    }
    return n;
}

/* Last tokens of the subtrees that start at token, smallest first. */
static int subtrees(const struct search *s, int token, int ends[MAX_SUBTREES])
{
    struct tp_text *t = s->t;
    if (!tp_text_has_trees(t))
        return elements(s, token, s->scope.last, ends);
    int n = 0;
    TSNode node = tp_text_node_at(t, token);
    if (ts_node_is_null(node)) /* an unreadable declaration */
        return elements(s, token, s->scope.last, ends);
    for (; !ts_node_is_null(node) && !ts_node_is_null(ts_node_parent(node)) && n < MAX_SUBTREES;
         node = ts_node_parent(node)) {
        struct tp_span span = tp_text_span(t, node, token);
        if (n == 0 && span.last > span.first && ts_node_child_count(node) == 0) {
            /* inside a leaf of many tokens, such as a macro's body */
            return elements(s, token, span.last < s->scope.last ? span.last : s->scope.last, ends);
        }
        if (span.first != token || span.last > s->scope.last)
            break;
        if (ts_node_is_named(node) && (n == 0 || ends[n - 1] != span.last))
            ends[n++] = span.last;
    }
    return n;
}

static bool step(struct search *s, int item, int token);

static bool match_meta(struct search *s, int item, int token)
{
    const struct tp_item *it = &s->p->items[item];
    struct tp_span *name = &s->m->names[it->name];
    int ends[MAX_SUBTREES];
    int n = subtrees(s, token, ends);
    s->bound |= 1u << it->name;
    while (n--) { /* the largest that lets the rest match */
        *name = s->m->items[item] = (struct tp_span){token, ends[n]};
        if (step(s, item + 1, ends[n] + 1))
            return true;
    }
    s->bound &= ~(1u << it->name);
    return false;
}

static bool match_dots(struct search *s, int item, int token)
{
    for (int i = token; i <= s->scope.last; i++) {
        s->m->items[item] = (struct tp_span){token, i - 1};
        if (step(s, item + 1, i))
            return true;
        int partner = s->t->tokens.at[i].partner;
        if (partner >= 0 && partner < i)
            return false; /* the bracket that holds the dots ends here */
        if (partner > i)
            i = partner;
    }
    return false;
}

static bool token_matches(const struct search *s, const struct tp_item *it, int token)
{
    const struct tp_token *tok = &s->t->tokens.at[token];
    uint32_t len = it->end - it->start;
    return tok->hash == it->hash && tok->end - tok->start == len &&
           !memcmp(s->t->bytes.data + tok->start, s->p->text + it->start, len);
}

static bool step(struct search *s, int item, int token)
{
    for (; item < s->p->n; item++, token++) {
        if (--s->steps < 0)
            return false;
        const struct tp_item *it = &s->p->items[item];
        if (it->kind == TP_ITEM_DOTS)
            return match_dots(s, item, token);
        if (token > s->scope.last)
            return false;
        if (s->t->tokens.at[token].dead && !s->anywhere)
            return false; /* never compiled: neither the subject nor the change */
        if (it->kind == TP_ITEM_META && !(s->bound & (1u << it->name)))
            return match_meta(s, item, token);
        s->m->items[item] = (struct tp_span){token, token};
        if (it->kind == TP_ITEM_META) {
            const struct tp_span *name = &s->m->names[it->name];
            struct tp_span here = {token, token + name->last - name->first};
            if (here.last > s->scope.last || !tp_spans_equal(s->t, here, *name))
                return false;
            s->m->items[item] = here;
            token = here.last;
        } else if (!token_matches(s, it, token)) {
            return false;
        }
    }
    s->m->span.last = token - 1;
    return s->anywhere || tp_text_aligned(s->t, s->m->span.first, s->m->span.last, &s->m->parent,
                                          &s->m->parent_type);
}

static int64_t budget(struct tp_span scope)
{
    return MAX_STEPS + (int64_t)STEPS_PER_TOKEN * (scope.last - scope.first + 1);
}

void tp_pattern_find(const struct tp_pattern *p, struct tp_text *t, struct tp_span scope,
                     struct tp_matches *out)
{
    int before = out->n;
    int64_t steps = budget(scope);
    for (int token = scope.first; token <= scope.last && !out->gave_up; token++) {
        if (p->items[0].kind == TP_ITEM_TOKEN && p->items[0].hash != t->tokens.at[token].hash)
            continue;
        struct tp_match m = {.span = {token, token - 1}};
        m.items = tp_calloc((size_t)p->n, sizeof *m.items);
        struct search s = {.p = p, .t = t, .scope = scope, .m = &m, .steps = steps};
        bool found = step(&s, 0, token);
        steps = s.steps;
        for (int i = 0; i < before && found; i++)
            found = out->at[i].span.first != m.span.first || out->at[i].span.last != m.span.last;
        if (found)
            TP_PUSH(out->at, out->n, out->cap) = m;
        else
            free(m.items);
        out->gave_up = steps < 0 || out->n >= TP_MAX_MATCHES;
    }
}

bool tp_pattern_stands(const struct tp_pattern *p, struct tp_text *t, struct tp_span scope)
{
    struct tp_span *items = tp_calloc((size_t)p->n, sizeof *items);
    int64_t steps = budget(scope);
    bool found = false;
    for (int token = scope.first; token <= scope.last && !found; token++) {
        struct tp_match m = {.span = {token, token - 1}, .items = items};
        struct search s = {
            .p = p, .t = t, .scope = scope, .m = &m, .anywhere = true, .steps = steps};
        found = step(&s, 0, token) || s.steps < 0;
        steps = s.steps;
    }
    free(items);
    return found;
}

void tp_matches_finish(struct tp_matches *m)
{
    for (int i = 0; i < m->n; i++)
        free(m->at[i].items);
    free(m->at);
    *m = (struct tp_matches){0};
}
