#include "factory/edit/evaluate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "factory/edit/render.h"

static bool inside(struct tp_span inner, struct tp_span outer)
{
    return inner.first >= outer.first && inner.last <= outer.last;
}

static bool same_span(struct tp_span a, struct tp_span b)
{
    return a.first == b.first && a.last == b.last;
}

static void find_all(const struct tp_pattern *p, struct tp_text *t, const struct tp_places *places,
                     struct tp_matches *out)
{
    for (int i = 0; i < places->n; i++)
        tp_pattern_find(p, t, places->at[i].span, out);
}

static void drop_match(struct tp_matches *m, int i)
{
    free(m->at[i].items);
    memmove(&m->at[i], &m->at[i + 1], (size_t)(m->n - i - 1) * sizeof *m->at);
    m->n--;
}

static void drop_anchors_inside(struct tp_matches *anchors, struct tp_span span)
{
    for (int i = anchors->n - 1; i >= 0; i--) {
        if (inside(anchors->at[i].span, span))
            drop_match(anchors, i);
    }
}

/* APPEND: a place that holds the text as one of its own elements is a result. */
static void look_for_element(const struct tp_form *f, struct tp_text *t, struct tp_look *look)
{
    for (int i = 0; i < look->places.n; i++) {
        const struct tp_place *p = &look->places.at[i];
        if (p->open < 0) {
            look->unfit = "its scope has no brackets to append in";
            continue;
        }
        struct tp_matches m = {0};
        tp_pattern_find(&f->result, t, (struct tp_span){p->open, p->close}, &m);
        look->results.gave_up = look->results.gave_up || m.gave_up;
        int there = 0;
        for (int k = 0; k < m.n; k++)
            there += m.at[k].parent.first == p->open && m.at[k].parent.last == p->close;
        look->n_results += there;
        if (there == 0)
            TP_PUSH(look->open.at, look->open.n, look->open.cap) = *p;
        tp_matches_finish(&m);
    }
    look->n_anchors = look->open.n;
}

/* BEFORE and AFTER: the text and the nearest anchor behind (in front of) it among the same siblings
 * are one result. */
static void look_for_inserted(const struct tp_form *f, struct tp_text *t, struct tp_look *look)
{
    find_all(&f->result, t, &look->places, &look->results);
    for (int i = look->results.n - 1; i >= 0; i--) {
        struct tp_match *text = &look->results.at[i];
        int nearest = -1;
        for (int k = 0; k < look->anchors.n; k++) {
            const struct tp_match *a = &look->anchors.at[k];
            bool side = f->action == TP_ACTION_BEFORE ? a->span.first > text->span.last :
                                                        a->span.last < text->span.first;
            if (!side || !same_span(a->parent, text->parent))
                continue;
            if (nearest < 0 || (f->action == TP_ACTION_BEFORE ?
                                    a->span.first < look->anchors.at[nearest].span.first :
                                    a->span.last > look->anchors.at[nearest].span.last))
                nearest = k;
        }
        if (nearest < 0) {
            drop_match(&look->results, i);
            continue;
        }
        drop_match(&look->anchors, nearest);
        look->n_results++;
    }
    look->n_anchors = look->anchors.n;
}

/* Kinds of nodes that hold one statement which is not a list: an insertion there would change what
 * the if or the loop governs. */
static const char *single_body(const char *parent)
{
    static const char *const types[] = {"if_statement",  "else_clause",  "for_statement",
                                        "while_statement", "do_statement", "for_range_loop",
                                        "labeled_statement"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(parent, types[i]))
            return "the anchor is the unbraced body of an if or a loop; text inserted beside it "
                   "would fall outside";
    }
    return NULL;
}

void tp_look(const struct tp_form *f, struct tp_text *t, struct tp_look *look)
{
    *look = (struct tp_look){0};
    tp_scopes_find(f->scopes, f->n_scopes, t, &look->places, &look->matched_scopes);
    if (f->action == TP_ACTION_APPEND) {
        look_for_element(f, t, look);
        return;
    }
    find_all(&f->anchor, t, &look->places, &look->anchors);
    if (f->action == TP_ACTION_REPLACE || f->action == TP_ACTION_REMOVE) {
        find_all(&f->result, t, &look->places, &look->results);
        for (int i = look->results.n - 1; i >= 0 && f->action == TP_ACTION_REMOVE; i--) {
            /* what is left may stand inside what is to be removed */
            for (int k = 0; k < look->anchors.n; k++) {
                if (inside(look->results.at[i].span, look->anchors.at[k].span)) {
                    drop_match(&look->results, i);
                    break;
                }
            }
        }
        for (int i = 0; i < look->results.n; i++)
            drop_anchors_inside(&look->anchors, look->results.at[i].span);
        look->n_results = look->results.n;
        look->n_anchors = look->anchors.n;
        if (f->action == TP_ACTION_REMOVE && look->n_anchors)
            look->n_results = 0;
    } else {
        look_for_inserted(f, t, look);
        for (int i = 0; i < look->anchors.n && tp_text_has_trees(t); i++) {
            if (!look->unfit)
                look->unfit = single_body(look->anchors.at[i].parent_type);
        }
    }
}

void tp_look_finish(struct tp_look *look)
{
    tp_places_finish(&look->places);
    tp_places_finish(&look->open);
    tp_matches_finish(&look->results);
    tp_matches_finish(&look->anchors);
}

enum tp_fit tp_look_fit(const struct tp_form *f, const struct tp_look *look)
{
    if (look->anchors.gave_up || look->results.gave_up || look->unfit)
        return TP_FIT_UNCLEAR;
    if (f->every)
        return look->n_anchors ? TP_FIT_APPLIES : look->n_results ? TP_FIT_ALREADY : TP_FIT_NONE;
    int all = look->n_anchors + look->n_results;
    return all == 0 ? TP_FIT_NONE :
           all > 1  ? TP_FIT_UNCLEAR :
           look->n_results ? TP_FIT_ALREADY : TP_FIT_APPLIES;
}

static int place_line(const struct tp_form *f, const struct tp_text *t, const struct tp_look *look)
{
    if (look->results.n)
        return tp_text_line(t, look->results.at[0].span.first);
    if (look->anchors.n)
        return tp_text_line(t, look->anchors.at[0].span.first);
    if (f->action == TP_ACTION_APPEND && look->places.n)
        return tp_text_line(t, look->places.at[0].span.first);
    return 0;
}

static int condition_holds(const struct tp_condition *c, const struct tp_edit *edit,
                           struct tp_tree *tree, bool *holds, int *line, struct tp_error *e)
{
    struct tp_tree_file *file;
    int r = tp_tree_file(tree, c->file ? c->file : edit->path, &file, e);
    if (r)
        return r;
    *line = 0;
    if (c->kind == TP_FILE_MISSING || !file->exists) {
        *holds = c->kind == TP_FILE_MISSING && !file->exists;
        return 0;
    }
    struct tp_places places;
    struct tp_matches m = {0};
    tp_scopes_find(c->scopes, c->n_scopes, &file->text, &places, NULL);
    find_all(&c->fragment, &file->text, &places, &m);
    *holds = c->kind == TP_HAS ? m.n > 0 : places.n > 0;
    for (int i = 0; i < places.n && c->kind == TP_LACKS; i++)
        *holds = *holds && !tp_pattern_stands(&c->fragment, &file->text, places.at[i].span);
    if (m.n)
        *line = tp_text_line(&file->text, m.at[0].span.first);
    else if (places.n)
        *line = tp_text_line(&file->text, places.at[0].span.first);
    tp_matches_finish(&m);
    tp_places_finish(&places);
    return 0;
}

/* True for the first evidence all of whose conditions hold; reason says where it was seen. */
static int evidence_holds(const struct tp_evidence *list, int n, const struct tp_edit *edit,
                          struct tp_tree *tree, char **reason, int *at, struct tp_error *e)
{
    for (int i = 0; i < n; i++) {
        bool all = true;
        struct tp_buf where = {0};
        *at = 0;
        for (int k = 0; k < list[i].n && all; k++) {
            const struct tp_condition *c = &list[i].conditions[k];
            int line;
            int r = condition_holds(c, edit, tree, &all, &line, e);
            if (r) {
                tp_buf_finish(&where);
                return r;
            }
            static const char *const what[] = {"does not exist", "has", "lacks"};
            const char *file = c->file ? c->file : edit->path;
            tp_buf_addf(&where, "%s%s", where.len ? "; " : "", file);
            if (line)
                tp_buf_addf(&where, ":%d", line);
            tp_buf_addf(&where, " %s", what[c->kind]);
            if (c->fragment.text)
                tp_buf_addf(&where, " `%.*s`", (int)strcspn(c->fragment.text, "\n"),
                            c->fragment.text);
            if (!*at && !c->file)
                *at = line;
        }
        if (all)
            *reason = tp_asprintf("%s (%s)", list[i].reason, tp_buf_str(&where));
        tp_buf_finish(&where);
        if (all)
            return 1;
    }
    return 0;
}

static void add_range(struct tp_byte_range *all, struct tp_byte_range one, bool first)
{
    if (first || one.from < all->from)
        all->from = one.from;
    if (first || one.to > all->to)
        all->to = one.to;
}

/* What the first form says that says anything. */
static enum tp_fit first_fit(const struct tp_edit *edit, struct tp_text *t,
                             const struct tp_form **form, int *line)
{
    enum tp_fit fit = TP_FIT_NONE;
    for (int i = 0; i < edit->n_forms && fit == TP_FIT_NONE; i++) {
        struct tp_look look;
        *form = &edit->forms[i];
        tp_look(*form, t, &look);
        fit = tp_look_fit(*form, &look);
        *line = place_line(*form, t, &look);
        tp_look_finish(&look);
    }
    return fit;
}

/* Changes every anchor, from the end, so that the rest stays put. One that reaches into another that
 * was just changed has to be looked up anew; returns how many were left for that. */
static int change_anchors(const struct tp_form *f, struct tp_text *t, const struct tp_look *look,
                          struct tp_byte_range *changed, bool *first)
{
    int left = 0, next = t->tokens.n;
    for (int i = look->anchors.n - 1; i >= 0; i--) {
        struct tp_span span = look->anchors.at[i].span;
        if (span.last >= next) {
            left++;
            continue;
        }
        next = span.first;
        size_t len = t->bytes.len;
        struct tp_byte_range one;
        tp_render_match(f, t, &look->anchors.at[i], &one);
        if (!*first)
            changed->to += t->bytes.len - len;
        add_range(changed, one, *first);
        *first = false;
    }
    return left;
}

/* The bytes that the looked-up anchors cover. */
static struct tp_byte_range anchored(const struct tp_text *t, const struct tp_look *look)
{
    struct tp_byte_range all = {0, 0};
    for (int i = 0; i < look->anchors.n; i++) {
        struct tp_span span = look->anchors.at[i].span;
        struct tp_byte_range one = {t->tokens.at[span.first].start, t->tokens.at[span.last].end};
        add_range(&all, one, i == 0);
    }
    return all;
}

/* Makes the change, then looks again: only what is found in the text afterwards counts. */
static void apply(const struct tp_edit *edit, const struct tp_form *f, struct tp_text *t,
                  struct tp_outcome *out)
{
    enum { MAX_NESTED = 32 }; /* anchors within anchors of an `every` form */
    struct tp_look look;
    tp_look(f, t, &look);
    struct tp_byte_range changed = {0, 0}, was;
    int faults;
    if (f->action == TP_ACTION_APPEND) {
        was.from = t->tokens.at[look.open.at[0].open].start;
        was.to = t->tokens.at[look.open.at[0].close].end;
        faults = tp_text_faults(t, was.from, was.to);
        tp_render_append(f, t, &look.open.at[0], &changed);
    } else {
        bool first = true;
        was = anchored(t, &look);
        faults = tp_text_faults(t, was.from, was.to);
        for (int i = 0; i < MAX_NESTED && change_anchors(f, t, &look, &changed, &first); i++) {
            tp_look_finish(&look);
            tp_look(f, t, &look);
        }
    }
    tp_look_finish(&look);
    tp_look(f, t, &look);
    const struct tp_form *other = f;
    int line;
    out->form = f;
    out->state = TP_APPLIED;
    if (tp_look_fit(f, &look) != TP_FIT_ALREADY) {
        out->state = TP_FAILED;
        out->reason = tp_strdup("after the change its result is not found in the file's tree; the "
                                "form's two fragments do not fit each other");
    } else if (first_fit(edit, t, &other, &line) != TP_FIT_ALREADY) {
        out->state = TP_FAILED;
        out->reason = tp_asprintf("after the change the form \"%s\" fits as well: the edit would be "
                                  "made again and again", other->name);
    } else if (tp_text_faults(t, changed.from, changed.to) > faults) {
        out->state = TP_FAILED;
        out->reason = tp_strdup("the changed declaration does not parse as well as before");
    }
    out->line = place_line(f, t, &look);
    tp_look_finish(&look);
}

static int new_file(const struct tp_edit *edit, const struct tp_buf *content,
                    struct tp_tree_file *file, struct tp_outcome *out)
{
    out->line = 1;
    if (!file->exists) {
        tp_text_finish(&file->text);
        tp_text_init(&file->text, tp_language_of(edit->path), tp_buf_str(content), content->len);
        file->exists = true;
        out->state = TP_APPLIED;
    } else if (file->text.bytes.len == content->len &&
               (!content->len || !memcmp(file->text.bytes.data, content->data, content->len))) {
        out->state = TP_ALREADY;
    } else {
        out->state = TP_DRIFTED;
        out->reason = tp_strdup("another file stands at this path");
    }
    return 0;
}

int tp_evaluate(const struct tp_edit *edit, const struct tp_buf *content, struct tp_tree *tree,
                struct tp_outcome *out, struct tp_error *e)
{
    *out = (struct tp_outcome){.edit = edit, .state = TP_DRIFTED};
    struct tp_tree_file *file;
    int r = tp_tree_file(tree, edit->path, &file, e);
    if (r)
        return r;
    const struct tp_form *form = NULL;
    int line = 0;
    enum tp_fit fit = file->exists ? first_fit(edit, &file->text, &form, &line) : TP_FIT_NONE;
    if (fit == TP_FIT_ALREADY)
        *out = (struct tp_outcome){.edit = edit, .state = TP_ALREADY, .form = form, .line = line};
    if (fit == TP_FIT_ALREADY)
        return 0;
    r = evidence_holds(edit->absorbed, edit->n_absorbed, edit, tree, &out->reason, &out->line, e);
    if (r > 0)
        out->state = TP_ABSORBED;
    if (r)
        return r < 0 ? r : 0;
    r = evidence_holds(edit->absent, edit->n_absent, edit, tree, &out->reason, &out->line, e);
    if (r > 0)
        out->state = TP_NOT_APPLICABLE;
    if (r)
        return r < 0 ? r : 0;
    out->line = 0;
    if (edit->is_new_file)
        return new_file(edit, content, file, out);
    if (fit == TP_FIT_APPLIES)
        apply(edit, form, &file->text, out);
    else if (!file->exists)
        out->reason = tp_strdup("this Mesa has no such file");
    else
        tp_drift_explain(edit, &file->text, out);
    return 0;
}

bool tp_evaluate_holds(const struct tp_outcome *o, const struct tp_buf *content,
                       struct tp_tree *tree)
{
    struct tp_tree_file *file;
    if (tp_tree_file(tree, o->edit->path, &file, NULL) || !file->exists)
        return false;
    if (o->edit->is_new_file)
        return file->text.bytes.len == content->len &&
               (!content->len || !memcmp(file->text.bytes.data, content->data, content->len));
    const struct tp_form *form;
    int line;
    return first_fit(o->edit, &file->text, &form, &line) == TP_FIT_ALREADY;
}
