/* What a person needs to see when an edit's subject is not where it was. */
#include <stdlib.h>
#include <string.h>

#include "factory/edit/evaluate.h"
#include "factory/edit/render.h"

/* How much of two words is common: twice the longest common subsequence over both lengths, in %. */
static int likeness(const char *a, size_t na, const char *b, size_t nb)
{
    if (na > 80 || nb > 80 || !na || !nb)
        return 0;
    unsigned char row[81] = {0};
    for (size_t i = 0; i < na; i++) {
        unsigned char diagonal = 0;
        for (size_t k = 1; k <= nb; k++) {
            unsigned char above = row[k];
            if (a[i] == b[k - 1])
                row[k] = (unsigned char)(diagonal + 1);
            else if (row[k - 1] > row[k])
                row[k] = row[k - 1];
            diagonal = above;
        }
    }
    return (int)(200 * row[nb] / (na + nb));
}

static void add_candidate(struct tp_outcome *out, int line, char *text, char *differs)
{
    TP_PUSH(out->candidates, out->n_candidates, out->cap_candidates) =
        (struct tp_candidate){.line = line, .text = text, .differs = differs};
}

/* Names in the file that a scope of this kind could mean, the likest first. */
static void similar_scopes(const struct tp_scope *s, struct tp_text *t, struct tp_outcome *out)
{
    enum { MOST = 3 };
    struct {
        int token, like;
    } best[MOST] = {{0, 0}};
    size_t len = strlen(s->name);
    for (int i = 0; i < t->tokens.n; i++) {
        size_t n;
        const char *word = tp_token_text(t, i, &n);
        if (t->tokens.at[i].kind != TP_TOKEN_WORD)
            continue;
        int like = likeness(s->name, len, word, n);
        if (like < 60 || like <= best[MOST - 1].like || like == 100)
            continue;
        char *name = tp_strndup(word, n);
        struct tp_scope other = {.kind = s->kind, .name = name};
        struct tp_places places;
        tp_scopes_find(&other, 1, t, &places, NULL);
        bool known = places.n == 0;
        for (int k = 0; k < MOST && !known; k++) {
            size_t m;
            const char *there = tp_token_text(t, best[k].token, &m);
            known = best[k].like && m == n && !memcmp(there, word, n);
        }
        if (!known) {
            int k = MOST - 1;
            for (; k > 0 && best[k - 1].like < like; k--)
                best[k] = best[k - 1];
            best[k].token = i;
            best[k].like = like;
        }
        tp_places_finish(&places);
        free(name);
    }
    for (int k = 0; k < MOST && best[k].like; k++) {
        size_t n;
        const char *word = tp_token_text(t, best[k].token, &n);
        add_candidate(out, tp_text_line(t, best[k].token),
                      tp_asprintf("%s %.*s", tp_scope_kind_name(s->kind), (int)n, word),
                      tp_asprintf("named %.*s instead of %s", (int)n, word, s->name));
    }
}

/* Of a table of a megabyte, the first part is searched for something alike. */
enum { MAX_WINDOW = 160, MAX_CELLS = 100000000 };

struct window {
    int first, last; /* tokens */
    int score;       /* literal tokens of the anchor found in order */
};

static bool item_is(const struct tp_pattern *p, int item, const struct tp_text *t, int token)
{
    size_t n;
    const char *s = tp_token_text(t, token, &n);
    const struct tp_item *it = &p->items[item];
    return it->hash == t->tokens.at[token].hash && it->end - it->start == n &&
           !memcmp(p->text + it->start, s, n);
}

/* The literals of the anchor that stand in this window, in order: a longest common subsequence.
 * taken (p->n) receives the token of each item or -1, if not NULL. */
static int common(const struct tp_pattern *p, const struct tp_text *t, int first, int count,
                  int *taken)
{
    int n = p->n < MAX_WINDOW ? p->n : MAX_WINDOW;
    static _Thread_local short len[MAX_WINDOW + 1][MAX_WINDOW + 1];
    for (int i = n; i >= 0; i--) {
        for (int k = count; k >= 0; k--) {
            if (i == n || k == count) {
                len[i][k] = 0;
                continue;
            }
            short skip = len[i + 1][k] > len[i][k + 1] ? len[i + 1][k] : len[i][k + 1];
            bool same = p->items[i].kind == TP_ITEM_TOKEN && item_is(p, i, t, first + k);
            short take = same ? (short)(len[i + 1][k + 1] + 1) : 0;
            len[i][k] = take > skip ? take : skip;
        }
    }
    for (int i = 0, k = 0; taken && i < p->n; i++) {
        taken[i] = -1;
        while (i < n && k < count && len[i][k] > len[i + 1][k]) {
            if (p->items[i].kind == TP_ITEM_TOKEN && item_is(p, i, t, first + k) &&
                len[i][k] == len[i + 1][k + 1] + 1) {
                taken[i] = first + k++;
                break;
            }
            k++;
        }
    }
    return len[0][0];
}

static int literals(const struct tp_pattern *p)
{
    int n = 0;
    for (int i = 0; i < p->n; i++)
        n += p->items[i].kind == TP_ITEM_TOKEN;
    return n;
}

static struct window nearest(const struct tp_pattern *p, const struct tp_text *t,
                             struct tp_span scope, const struct window *but)
{
    struct window best = {0};
    int size = p->n + p->n / 2 + 6;
    if (size > MAX_WINDOW)
        size = MAX_WINDOW;
    int64_t cells = MAX_CELLS;
    for (int i = scope.first; i <= scope.last && cells > 0; i++) {
        bool starts = false;
        for (int k = 0; k < p->n && k < 6 && !starts; k++)
            starts = p->items[k].kind == TP_ITEM_TOKEN && item_is(p, k, t, i);
        if (!starts || (but->score && i >= but->first && i <= but->last))
            continue;
        int count = scope.last - i + 1 < size ? scope.last - i + 1 : size;
        if (but->score && i < but->first && i + count > but->first)
            count = but->first - i;
        cells -= (int64_t)count * (p->n < MAX_WINDOW ? p->n : MAX_WINDOW);
        int score = common(p, t, i, count, NULL);
        if (score > best.score)
            best = (struct window){i, i + count - 1, score};
    }
    return best;
}

static void add_words(struct tp_buf *b, const char *label, const struct tp_buf *words)
{
    if (words->len)
        tp_buf_addf(b, "%s%s%s", b->len ? "; " : "", label, words->data);
}

/* What the anchor wants and the window lacks, and what the window has in its stead. */
static char *difference(const struct tp_pattern *p, const struct tp_text *t, const int *taken,
                        int first, int last)
{
    struct tp_buf want = {0}, have = {0}, out = {0};
    for (int i = 0; i < p->n; i++) {
        if (taken[i] < 0 && p->items[i].kind == TP_ITEM_TOKEN)
            tp_buf_addf(&want, " %.*s", (int)(p->items[i].end - p->items[i].start),
                        p->text + p->items[i].start);
    }
    bool metavariables = false;
    for (int i = 0; i < p->n; i++)
        metavariables = metavariables || p->items[i].kind != TP_ITEM_TOKEN;
    for (int k = first; k <= last && have.len < 200; k++) {
        bool used = false;
        for (int i = 0; i < p->n && !used; i++)
            used = taken[i] == k;
        size_t n;
        const char *s = tp_token_text(t, k, &n);
        if (!used)
            tp_buf_addf(&have, " %.*s", (int)n, s);
    }
    add_words(&out, "not found there:", &want);
    add_words(&out, metavariables ? "there instead, or bound by metavariables:" : "there instead:",
              &have);
    if (!out.len)
        tp_buf_adds(&out, "all its tokens are there, but not as whole nodes of the tree");
    tp_buf_finish(&want);
    tp_buf_finish(&have);
    return tp_buf_take(&out);
}

static void add_block(struct tp_buf *out, const char *text, const char *indent)
{
    for (const char *s = text; *s;) {
        const char *end = strchrnul(s, '\n');
        if (end > s)
            tp_buf_addf(out, "%s%.*s\n", indent, (int)(end - s), s);
        else
            tp_buf_addc(out, '\n');
        s = *end ? end + 1 : end;
    }
}

/* The lines of the source that hold these tokens, their common indentation taken off. */
static char *source_lines(const struct tp_text *t, int first, int last)
{
    size_t from = t->tokens.at[first].start, to = t->tokens.at[last].end, indent = 0;
    const char *s = t->bytes.data;
    while (from > 0 && s[from - 1] != '\n')
        from--;
    while (s[from + indent] == ' ' || s[from + indent] == '\t')
        indent++;
    while (to < t->bytes.len && s[to] != '\n')
        to++;
    struct tp_buf out = {0};
    for (size_t i = from; i < to;) {
        const char *nl = memchr(s + i, '\n', to - i);
        size_t end = nl ? (size_t)(nl - s) : to, skip = 0;
        while (skip < indent && i + skip < end && (s[i + skip] == ' ' || s[i + skip] == '\t'))
            skip++;
        tp_buf_add(&out, s + i + skip, end - i - skip);
        tp_buf_addc(&out, '\n');
        i = end + 1;
    }
    return tp_buf_take(&out);
}

static const char *verb(enum tp_action action)
{
    static const char *const verbs[] = {"replace", "before", "after", "leaving", "append"};
    return verbs[action];
}

static char *starting_point(const struct tp_form *f, const char *source)
{
    struct tp_buf out = {0};
    tp_buf_addf(&out, "  form \"%s, as of this Mesa\"\n", f->name);
    for (int i = 0; i < f->n_scopes; i++) {
        tp_buf_adds(&out, "    in ");
        tp_scope_describe(&f->scopes[i], &out);
        tp_buf_addc(&out, '\n');
    }
    if (f->every)
        tp_buf_adds(&out, "    every\n");
    if (f->action != TP_ACTION_APPEND) {
        tp_buf_addf(&out, "    %s\n", f->action == TP_ACTION_REMOVE ? "remove" : "match");
        add_block(&out, source ? source : f->anchor.text, "      ");
    }
    tp_buf_addf(&out, "    %s\n", verb(f->action));
    add_block(&out, f->result.text, "      ");
    return tp_buf_take(&out);
}

/* The smallest run of whole nodes around these tokens. */
static struct tp_span whole_nodes(struct tp_text *t, struct tp_span span)
{
    while (!tp_text_aligned(t, span.first, span.last, NULL, NULL)) {
        struct tp_span wider = span;
        TSNode node = tp_text_node_over(t, span.first, span.last);
        if (!ts_node_is_null(node))
            wider = tp_text_span(t, node, span.first);
        for (int i = span.first; i <= span.last && !tp_text_has_trees(t); i++) {
            int partner = t->tokens.at[i].partner;
            wider.first = partner >= 0 && partner < wider.first ? partner : wider.first;
            wider.last = partner > wider.last ? partner : wider.last;
        }
        if (wider.first >= span.first && wider.last <= span.last)
            break;
        span = wider;
    }
    return span;
}

/* The tokens that a metavariable or dots would stand for, between its neighbours; false where the
 * neighbours are not there. */
static bool stands_for(const struct tp_pattern *p, int item, const int *taken, struct tp_span span,
                       struct tp_span *out)
{
    bool begins = item == 0, ends = item + 1 == p->n;
    if (p->items[item].kind == TP_ITEM_TOKEN || (!begins && taken[item - 1] < 0) ||
        (!ends && taken[item + 1] < 0))
        return false;
    out->first = begins ? span.first : taken[item - 1] + 1;
    out->last = ends ? span.last : taken[item + 1] - 1;
    return true;
}

/* The source of this window as a fragment (or NULL), with the anchor's metavariables where it has them. */
static char *window_fragment(const struct tp_pattern *p, struct tp_text *t, const int *taken,
                             struct tp_span window)
{
    struct tp_span span = whole_nodes(t, window);
    if (span.last - span.first > 3 * (window.last - window.first) + 60)
        return NULL; /* a whole function is no place to start from: the old anchor is a better one */
    struct tp_buf out = {0};
    const char *s = t->bytes.data;
    size_t line = t->tokens.at[span.first].start, indent = 0;
    while (line > 0 && s[line - 1] != '\n')
        line--;
    while (s[line + indent] == ' ' || s[line + indent] == '\t')
        indent++;
    size_t at = t->tokens.at[span.first].start;
    for (int k = span.first; k <= span.last + 1; k++) {
        for (int i = 0; i < p->n; i++) {
            struct tp_span here;
            if (!stands_for(p, i, taken, span, &here) || here.first != k)
                continue;
            const struct tp_item *it = &p->items[i];
            bool dots = it->kind == TP_ITEM_DOTS;
            if (!dots && (here.last < k || !tp_text_aligned(t, k, here.last, NULL, NULL)))
                continue;
            if (k <= span.last && here.last >= k)
                tp_buf_add(&out, s + at, t->tokens.at[k].start - at);
            tp_buf_addf(&out, dots ? " %.*s " : "%.*s", (int)(it->end - it->start),
                        p->text + it->start);
            if (here.last >= k) {
                at = t->tokens.at[here.last].end;
                k = here.last + 1;
            }
            break;
        }
        if (k <= span.last) {
            tp_buf_add(&out, s + at, t->tokens.at[k].end - at);
            at = t->tokens.at[k].end;
        }
    }
    /* lines after the first lose the indentation that the first one has */
    struct tp_buf text = {0};
    for (size_t i = 0; i < out.len; i++) {
        tp_buf_addc(&text, out.data[i]);
        for (size_t n = 0; out.data[i] == '\n' && n < indent && i + 1 < out.len &&
                           (out.data[i + 1] == ' ' || out.data[i + 1] == '\t'); n++)
            i++;
    }
    tp_buf_finish(&out);
    return tp_buf_take(&text);
}

static void explain_windows(const struct tp_form *f, struct tp_text *t, const struct tp_look *look,
                            struct tp_outcome *out)
{
    const struct tp_pattern *p = &f->anchor;
    struct window first = {0};
    int *taken = tp_calloc((size_t)p->n, sizeof *taken);
    for (int round = 0; round < 2; round++) {
        struct window best = {0};
        for (int i = 0; i < look->places.n; i++) {
            struct window w = nearest(p, t, look->places.at[i].span, &first);
            if (w.score > best.score)
                best = w;
        }
        if (!best.score || best.score * 5 < literals(p) * 2)
            break; /* a pattern without literals is near nothing in particular */
        common(p, t, best.first, best.last - best.first + 1, taken);
        int lo = -1, hi = -1;
        for (int i = 0; i < p->n; i++) {
            if (taken[i] < 0)
                continue;
            lo = lo < 0 ? taken[i] : lo;
            hi = taken[i];
        }
        best.first = lo;
        best.last = hi;
        char *source = source_lines(t, lo, hi);
        if (!out->starting_point) {
            char *fragment = window_fragment(p, t, taken, (struct tp_span){lo, hi});
            out->starting_point = starting_point(f, fragment);
            free(fragment);
        }
        add_candidate(out, tp_text_line(t, lo), source, difference(p, t, taken, lo, hi));
        if (round == 0)
            first = best;
    }
    free(taken);
}

static void describe_scopes(const struct tp_form *f, int n, struct tp_buf *out)
{
    for (int i = 0; i < n; i++) {
        tp_buf_adds(out, i ? ", in " : " in ");
        tp_scope_describe(&f->scopes[i], out);
    }
}

static void list_lines(struct tp_buf *out, const struct tp_text *t, const struct tp_matches *m)
{
    for (int i = 0; i < m->n && i < 8; i++)
        tp_buf_addf(out, "%s %d", i ? "," : "", tp_text_line(t, m->at[i].span.first));
}

/* What one form saw, in a sentence. */
static void explain_form(const struct tp_form *f, const struct tp_text *t,
                         const struct tp_look *look, struct tp_buf *out)
{
    tp_buf_addf(out, "%sform \"%s\": ", out->len ? "; " : "", f->name);
    if (look->matched_scopes < f->n_scopes) {
        tp_buf_adds(out, "there is no ");
        tp_scope_describe(&f->scopes[look->matched_scopes], out);
        describe_scopes(f, look->matched_scopes, out);
    } else if (look->unfit) {
        tp_buf_adds(out, look->unfit);
    } else if (look->anchors.gave_up || look->results.gave_up) {
        tp_buf_adds(out, "the fragment is too loose to be searched for");
    } else if (look->n_anchors + look->n_results > 1) {
        tp_buf_addf(out, "%s stands %d times",
                    f->action == TP_ACTION_APPEND ? "its scope" : "its anchor",
                    look->n_anchors + look->n_results);
        describe_scopes(f, f->n_scopes, out);
        if (look->anchors.n) {
            tp_buf_adds(out, ", line");
            list_lines(out, t, &look->anchors);
        }
        if (look->n_results)
            tp_buf_addf(out, "%s%d of them with the change made", look->anchors.n ? "; " : ", ",
                        look->n_results);
    } else {
        tp_buf_adds(out, "its anchor is not");
        if (f->n_scopes)
            describe_scopes(f, f->n_scopes, out);
        else
            tp_buf_adds(out, " in the file");
    }
}

void tp_drift_explain(const struct tp_edit *edit, struct tp_text *t, struct tp_outcome *out)
{
    struct tp_buf reason = {0};
    for (int i = 0; i < edit->n_forms; i++) {
        const struct tp_form *f = &edit->forms[i];
        struct tp_look look;
        tp_look(f, t, &look);
        explain_form(f, t, &look, &reason);
        if (look.matched_scopes < f->n_scopes) {
            if (f->scopes[look.matched_scopes].name && !out->n_candidates)
                similar_scopes(&f->scopes[look.matched_scopes], t, out);
            if (f->anchor.n) {
                /* the subject may have moved to another scope */
                struct tp_look file = {0};
                TP_PUSH(file.places.at, file.places.n, file.places.cap) =
                    (struct tp_place){.span = {0, t->tokens.n - 1}, .open = -1, .close = -1};
                explain_windows(f, t, &file, out);
                tp_places_finish(&file.places);
            }
        } else if (look.n_anchors + look.n_results == 0 && f->anchor.n) {
            explain_windows(f, t, &look, out);
        }
        if (!out->line && look.places.n && f->n_scopes)
            out->line = tp_text_line(t, look.places.at[0].span.first);
        tp_look_finish(&look);
    }
    if (!out->starting_point && edit->n_forms)
        out->starting_point = starting_point(&edit->forms[edit->n_forms - 1], NULL);
    out->reason = tp_buf_take(&reason);
}
