/*
 * every_edit TREE PATCHES TARGET VARIANT SEED
 *
 * Takes each edit that the patch set makes on TREE (a copy that may be written to) in turn, and
 *   - deletes, alters and duplicates its anchor, so that no form fits: it must drift, the run must
 *     not be clean, and nothing may be written;
 *   - swaps the anchor's element with its neighbour in front and behind: all states must stay.
 * Then reformats every patched file (space, line breaks, comments): all states must stay.
 * The edits come from the patch files, so a new patch is covered unasked. New files have no anchor,
 * and forms with `every` may match any number of times: these two are excepted, by the rules.
 * Prints TAP.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/edit/edit.h"
#include "factory/edit/evaluate.h"

static const char *root, *patches;
static struct tp_selection sel;
static int tests, failures;
static unsigned seed;

static void ok(bool good, const char *name, const char *detail)
{
    tests++;
    failures += !good;
    printf("%sok %d - %s%s%s\n", good ? "" : "not ", tests, name, good ? "" : ": ",
           good ? "" : detail);
}

static unsigned next_random(void)
{
    seed = seed * 1103515245u + 12345u;
    return seed >> 16 & 0x7fff;
}

static bool run(struct tp_editing *s)
{
    struct tp_error e = {0};
    if (tp_editing_run(s, root, patches, &sel, true, &e) == 0)
        return true;
    fprintf(stderr, "every_edit: %s: %s\n", e.where, e.what);
    return false;
}

static void write_text(const char *path, const char *data, size_t len)
{
    struct tp_error e = {0};
    char *full = tp_join(root, path);
    if (tp_write_file(full, data, len, 0644, &e)) {
        fprintf(stderr, "every_edit: %s: %s\n", e.where, e.what);
        exit(2);
    }
    free(full);
}

/* ---- elements: the member of a list that a run of tokens belongs to ---- */

static bool is_comma_list(const char *type)
{
    static const char *const types[] = {"enumerator_list", "initializer_list", "argument_list",
                                        "list", "tuple", "dictionary", "parameter_list"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(type, types[i]))
            return true;
    }
    return false;
}

static bool is_list(const char *type)
{
    static const char *const types[] = {"", "compound_statement", "field_declaration_list",
                                        "declaration_list", "case_statement", "block", "module",
                                        "preproc_ifdef", "preproc_if", "preproc_else"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(type, types[i]))
            return true;
    }
    return is_comma_list(type);
}

struct element {
    struct tp_span span;
    struct tp_span list;
    bool commas;
};

/* In Meson and plain text: what stands between two commas of a bracket. */
static struct element token_element(struct tp_text *t, struct tp_span span, struct tp_span list)
{
    struct element el = {span, list, true};
    while (el.span.first > list.first + 1 && !tp_token_is(t, el.span.first - 1, ",")) {
        int p = t->tokens.at[el.span.first - 1].partner;
        el.span.first = p >= 0 ? p : el.span.first - 1;
    }
    while (el.span.last < list.last - 1 && !tp_token_is(t, el.span.last + 1, ",")) {
        int p = t->tokens.at[el.span.last + 1].partner;
        el.span.last = p >= 0 ? p : el.span.last + 1;
    }
    return el;
}

static bool element_of(struct tp_text *t, struct tp_span span, struct element *out)
{
    for (int depth = 0; depth < 200; depth++) {
        struct tp_span parent;
        const char *type;
        if (!tp_text_aligned(t, span.first, span.last, &parent, &type))
            return false;
        if (!tp_text_has_trees(t)) {
            bool file = parent.first == 0 && parent.last == t->tokens.n - 1;
            *out = file ? (struct element){span, parent, false} : token_element(t, span, parent);
            return true;
        }
        if (is_list(type)) {
            /* `struct x { … };`: the semicolon is the declaration's */
            if (!is_comma_list(type) && tp_token_is(t, span.last + 1, ";"))
                span.last++;
            *out = (struct element){span, parent, is_comma_list(type)};
            return true;
        }
        if (parent.first == span.first && parent.last == span.last)
            return false;
        span = parent;
    }
    return false;
}

/* ---- changing the source on the disk ---- */

/* The bytes of these tokens. Caller frees. */
static char *source_of(const struct tp_text *t, struct tp_span span)
{
    size_t from = t->tokens.at[span.first].start;
    return tp_strndup(t->bytes.data + from, t->tokens.at[span.last].end - from);
}

static void replace_tokens(struct tp_text *t, struct tp_span span, const char *with)
{
    size_t from = t->tokens.at[span.first].start, to = t->tokens.at[span.last].end;
    tp_text_replace(t, from, to - from, with, strlen(with));
}

static void duplicate(struct tp_text *t, const struct element *el)
{
    char *source = source_of(t, el->span);
    size_t line = t->tokens.at[el->span.first].start;
    while (line > 0 && t->bytes.data[line - 1] != '\n')
        line--;
    size_t indent = line;
    while (t->bytes.data[indent] == ' ' || t->bytes.data[indent] == '\t')
        indent++;
    bool own_comma = tp_token_is(t, el->span.last, ",");
    char *copy = tp_asprintf("%s%s\n%.*s%s", source, el->commas && !own_comma ? "," : "",
                             (int)(indent - line), t->bytes.data + line, source);
    replace_tokens(t, el->span, copy);
    free(copy);
    free(source);
}

enum mutation { DELETE, ALTER_FIRST, ALTER_LAST, DUPLICATE, MUTATIONS };
static const char *const mutation_names[] = {"deleted", "first word altered", "last word altered",
                                             "duplicated"};

/* A literal word or number of the anchor, in the source; -1: it has none. */
static int literal_token(const struct tp_form *f, const struct tp_match *m, const struct tp_text *t,
                         bool last)
{
    int found = -1;
    for (int i = 0; i < f->anchor.n; i++) {
        int token = m->items[i].first;
        if (f->anchor.items[i].kind != TP_ITEM_TOKEN ||
            (t->tokens.at[token].kind != TP_TOKEN_WORD &&
             t->tokens.at[token].kind != TP_TOKEN_NUMBER))
            continue;
        if (found < 0 || last)
            found = token;
    }
    return found;
}

static void alter(struct tp_text *t, int token)
{
    size_t n;
    const char *s = tp_token_text(t, token, &n);
    char *altered = t->tokens.at[token].kind == TP_TOKEN_NUMBER ?
                        tp_asprintf("%.*s1", (int)n, s) :
                        tp_asprintf("%.*s_altered", (int)n, s);
    replace_tokens(t, (struct tp_span){token, token}, altered);
    free(altered);
}

/* The token that names a form's innermost scope. */
static int scope_name_token(const struct tp_form *f, struct tp_text *t, const struct tp_place *p)
{
    const struct tp_scope *s = &f->scopes[f->n_scopes - 1];
    for (int i = p->span.first < 4 ? 0 : p->span.first - 4; s->name && i <= p->span.last; i++) {
        if (tp_token_is(t, i, s->name))
            return i;
    }
    return -1;
}

/* Changes the text so that this form fits no more. False: this mutation says nothing here. */
static bool mutate(const struct tp_form *f, struct tp_text *t, enum mutation how)
{
    struct tp_look look;
    tp_look(f, t, &look);
    bool done = false;
    struct tp_span span = {0, -1};
    int token = -1;
    if (f->action == TP_ACTION_APPEND && look.open.n) {
        span = look.open.at[0].span;
        token = scope_name_token(f, t, &look.open.at[0]);
        if (token >= 0 && token < span.first)
            span.first = token; /* `name = files(…)`: the initialiser without its name is not it */
    } else if (look.anchors.n) {
        span = look.anchors.at[0].span;
        token = literal_token(f, &look.anchors.at[0], t, how == ALTER_LAST);
    }
    if (span.last >= span.first && how == DELETE) {
        replace_tokens(t, span, "");
        done = true;
    } else if (how == DUPLICATE && span.last >= span.first) {
        struct element el = {0};
        bool whole = element_of(t, span, &el);
        /* the copy must lie in the scope, too */
        for (int i = 0; whole && i < look.places.n && f->action != TP_ACTION_APPEND; i++) {
            struct tp_span place = look.places.at[i].span;
            if (place.first <= span.first && place.last >= span.last &&
                (el.span.first < place.first || el.span.last > place.last))
                whole = element_of(t, place, &el);
        }
        if (whole)
            duplicate(t, &el);
        done = whole;
    } else if (token >= 0 && (how == ALTER_FIRST || how == ALTER_LAST)) {
        alter(t, token);
        done = true;
    }
    tp_look_finish(&look);
    return done;
}

static const struct tp_form *fitting(const struct tp_edit *edit, struct tp_text *t)
{
    for (int i = 0; i < edit->n_forms; i++) {
        struct tp_look look;
        tp_look(&edit->forms[i], t, &look);
        enum tp_fit fit = tp_look_fit(&edit->forms[i], &look);
        tp_look_finish(&look);
        if (fit != TP_FIT_NONE)
            return fit == TP_FIT_APPLIES ? &edit->forms[i] : NULL;
    }
    return NULL;
}

/* ---- the checks ---- */

static void list_states(const struct tp_editing *s, char ***out, int *n, int *cap)
{
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < s->patches[i].n; k++) {
            const struct tp_outcome *o = &s->patches[i].edits[k];
            TP_PUSH(*out, *n, *cap) =
                tp_asprintf("%s, edit %d (%s): %s%s%s", s->patches[i].patch->id, k + 1,
                            o->edit->path, tp_state_name(o->state), o->form ? " by " : "",
                            o->form ? o->form->name : "");
        }
    }
}

static void free_states(char **list, int n)
{
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void check_same(const char *name, char *const *expected, int n_expected)
{
    struct tp_editing s;
    char **now = NULL;
    int n = 0, cap = 0;
    if (!run(&s)) {
        ok(false, name, "the run ended with an error");
        tp_editing_finish(&s);
        return;
    }
    list_states(&s, &now, &n, &cap);
    struct tp_buf detail = {0};
    for (int i = 0; i < n && i < n_expected; i++) {
        if (strcmp(now[i], expected[i]) != 0) {
            tp_buf_addf(&detail, "%s, was: %s", now[i], expected[i]);
            break;
        }
    }
    ok(!detail.len && n == n_expected, name, tp_buf_str(&detail));
    tp_buf_finish(&detail);
    free_states(now, n);
    tp_editing_finish(&s);
}

static bool file_is(const char *path, const struct tp_text *t)
{
    char *full = tp_join(root, path);
    struct tp_buf b = {0};
    bool same = tp_read_file(full, 0, &b, NULL) == 0 && b.len == t->bytes.len &&
                !memcmp(b.data, t->bytes.data, b.len);
    tp_buf_finish(&b);
    free(full);
    return same;
}

/* The source was changed so that no form of this edit fits: is that seen? */
static void check_drift(const char *name, const struct tp_edit *edit, const char *id,
                        const struct tp_text *source)
{
    struct tp_editing s;
    struct tp_error e = {0};
    if (!run(&s)) {
        ok(false, name, "the run ended with an error");
        tp_editing_finish(&s);
        return;
    }
    const char *wrong = "the edit is not in the report";
    for (int i = 0; i < s.n; i++) {
        for (int k = 0; k < s.patches[i].n; k++) {
            const struct tp_outcome *o = &s.patches[i].edits[k];
            if (strcmp(s.patches[i].patch->id, id) != 0 || o->edit->line != edit->line)
                continue;
            if (o->state != TP_DRIFTED)
                wrong = tp_state_name(o->state);
            else if (s.patches[i].state > TP_DRIFTED || s.clean)
                wrong = "the patch or the run counts as clean";
            else if (!o->reason || !*o->reason)
                wrong = "no reason is given";
            else if (tp_editing_write(&s, &e) == 0 || !file_is(edit->path, source))
                wrong = "the tree was written to";
            else
                wrong = NULL;
        }
    }
    ok(!wrong, name, wrong ? wrong : "");
    tp_editing_finish(&s);
}

static void check_mutations(const struct tp_edit *edit, const char *id, const char *label,
                            const struct tp_buf *pristine)
{
    for (int how = 0; how < MUTATIONS; how++) {
        struct tp_text t;
        tp_text_init(&t, tp_language_of(edit->path), tp_buf_str(pristine), pristine->len);
        const struct tp_form *f;
        bool done = false;
        /* one form's place may be gone and another's form fit: go on until none does */
        for (int round = 0; round < 8 && (f = fitting(edit, &t)); round++) {
            if (!mutate(f, &t, (enum mutation)how))
                break;
            done = true;
            if (how == DUPLICATE)
                break;
        }
        char *name = tp_asprintf("%s: anchor %s", label, mutation_names[how]);
        if (done) {
            write_text(edit->path, t.bytes.data, t.bytes.len);
            check_drift(name, edit, id, &t);
            write_text(edit->path, pristine->data, pristine->len);
        } else if (how == DELETE || how == DUPLICATE) {
            ok(false, name, "the test found no way to do this");
        }
        free(name);
        tp_text_finish(&t);
    }
}

static bool neighbour(struct tp_text *t, const struct element *el, bool behind, struct element *out)
{
    int token = behind ? el->span.last + 1 : el->span.first - 1;
    if (el->commas && tp_token_is(t, token, ","))
        token += behind ? 1 : -1;
    if (token < el->list.first || token > el->list.last || token < 0 || token >= t->tokens.n ||
        t->tokens.at[token].directive)
        return false;
    if (!tp_text_has_trees(t)) {
        if (token <= el->list.first || token >= el->list.last)
            return false;
        int p = t->tokens.at[token].partner;
        struct tp_span one = {p >= 0 && p < token ? p : token, p > token ? p : token};
        *out = token_element(t, one, el->list);
        return true;
    }
    for (TSNode node = tp_text_node_at(t, token); !ts_node_is_null(node);
         node = ts_node_parent(node)) {
        struct tp_span span = tp_text_span(t, node, token), parent;
        const char *type;
        if (!tp_text_aligned(t, span.first, span.last, &parent, &type))
            return false;
        if (parent.first == el->list.first && parent.last == el->list.last) {
            if (!el->commas && tp_token_is(t, span.last + 1, ";"))
                span.last++;
            out->span = span;
            return ts_node_is_named(node) && strncmp(ts_node_type(node), "preproc", 7) != 0 &&
                   (behind ? span.first > el->span.last : span.last < el->span.first);
        }
    }
    return false;
}

static void check_reordered(const struct tp_edit *edit, const struct tp_form *used,
                            const char *label, const struct tp_buf *pristine, char *const *expected,
                            int n)
{
    for (int behind = 0; behind < 2; behind++) {
        struct tp_text t;
        tp_text_init(&t, tp_language_of(edit->path), tp_buf_str(pristine), pristine->len);
        struct tp_look look;
        tp_look(used, &t, &look);
        struct element el, other;
        struct tp_span span = look.anchors.n ? look.anchors.at[0].span :
                              look.open.n    ? look.open.at[0].span :
                                               (struct tp_span){0, -1};
        bool can = span.last >= span.first && element_of(&t, span, &el);
        if (can && el.commas && tp_token_is(&t, el.span.last, ",") && el.span.last > el.span.first)
            el.span.last--;
        can = can && neighbour(&t, &el, behind, &other);
        tp_look_finish(&look);
        if (can) {
            struct tp_span a = behind ? el.span : other.span, b = behind ? other.span : el.span;
            char *first = source_of(&t, a), *second = source_of(&t, b);
            size_t to = t.tokens.at[a.last].end, back = t.tokens.at[b.first].start;
            char *swapped = tp_asprintf("%s%.*s%s", second, (int)(back - to), t.bytes.data + to,
                                        first);
            replace_tokens(&t, (struct tp_span){a.first, b.last}, swapped);
            write_text(edit->path, t.bytes.data, t.bytes.len);
            char *name = tp_asprintf("%s: swapped with the neighbour %s", label,
                                     behind ? "behind" : "in front");
            check_same(name, expected, n);
            free(name);
            free(swapped);
            free(first);
            free(second);
            write_text(edit->path, pristine->data, pristine->len);
        }
        tp_text_finish(&t);
    }
}

/* ---- reformatting ---- */

static bool keeps_together(const struct tp_text *t, int token)
{
    /* `> >` and `>>` are the same tokens here, yet not in C++ */
    return tp_token_is(t, token, ">") || tp_token_is(t, token + 1, ">");
}

/* Replaces the space between tokens, keeping what means something: directives' lines, Python's and
 * Meson's lines outside brackets. */
static void reformat(const struct tp_text *t, struct tp_buf *out)
{
    bool c = t->lang == TP_LANG_C || t->lang == TP_LANG_CPP;
    int depth = 0;
    size_t at = 0;
    for (int i = 0; i < t->tokens.n; i++) {
        const struct tp_token *tok = &t->tokens.at[i];
        const char *gap = t->bytes.data + at;
        size_t n = tok->start - at;
        bool line = memchr(gap, '\n', n) != NULL;
        bool directive = tok->directive || (i && t->tokens.at[i - 1].directive);
        bool may_break = c ? !directive && i : depth > 0;
        if (may_break && !(n == 0 && c && i && keeps_together(t, i - 1))) {
            static const char *const c_gaps[] = {" ", "\n", "\t\t", " /* a\n remark */ ",
                                                 " // a remark\n      ", "\n\n  "};
            static const char *const hash_gaps[] = {" ", "\n", "\n        ", " # a remark\n  ",
                                                    "  ", "\n\n"};
            unsigned pick = next_random() % 6;
            tp_buf_adds(out, c ? c_gaps[pick] : hash_gaps[pick]);
        } else if (c && directive && !tok->directive) {
            tp_buf_adds(out, "\n/* behind a directive */\n\n");
        } else if (c && tok->directive && (i == 0 || !t->tokens.at[i - 1].directive ||
                                           t->tokens.at[i - 1].kind == TP_TOKEN_LINE_END)) {
            tp_buf_adds(out, "\n");
        } else if (!c && line && depth == 0) {
            /* lines and indentation mean something here; add a remark above */
            size_t last = n;
            while (last > 0 && gap[last - 1] != '\n')
                last--;
            tp_buf_add(out, gap, last);
            tp_buf_adds(out, "# a remark\n\n");
            tp_buf_add(out, gap + last, n - last);
        } else {
            tp_buf_add(out, gap, n);
        }
        tp_buf_add(out, t->bytes.data + tok->start, tok->end - tok->start);
        if (tok->partner > i)
            depth++;
        else if (tok->partner >= 0)
            depth--;
        at = tok->end;
    }
    tp_buf_adds(out, "\n");
}

static void check_reformatted(char **paths, int n_paths, char *const *expected, int n)
{
    for (int round = 0; round < 2; round++) {
        struct tp_buf *pristine = tp_calloc((size_t)n_paths, sizeof *pristine);
        for (int i = 0; i < n_paths; i++) {
            char *full = tp_join(root, paths[i]);
            struct tp_buf out = {0};
            struct tp_text t;
            if (tp_read_file(full, 0, &pristine[i], NULL))
                exit(2);
            tp_text_init(&t, tp_language_of(paths[i]), pristine[i].data, pristine[i].len);
            reformat(&t, &out);
            write_text(paths[i], out.data, out.len);
            tp_text_finish(&t);
            tp_buf_finish(&out);
            free(full);
        }
        char *name = tp_asprintf("every patched file reformatted, round %d: all states stay",
                                 round + 1);
        check_same(name, expected, n);
        free(name);
        for (int i = 0; i < n_paths; i++) {
            write_text(paths[i], pristine[i].data, pristine[i].len);
            tp_buf_finish(&pristine[i]);
        }
        free(pristine);
    }
}

int main(int argc, char **argv)
{
    if (argc != 6 || sodium_init() < 0) {
        fprintf(stderr, "usage: every_edit TREE PATCHES TARGET VARIANT SEED\n");
        return 2;
    }
    root = argv[1];
    patches = argv[2];
    sel = (struct tp_selection){.target = argv[3], .variant = argv[4][0]};
    seed = (unsigned)strtoul(argv[5], NULL, 10);
    struct tp_editing base;
    if (!run(&base))
        return 2;
    struct tp_buf table = {0};
    tp_editing_table(&base, &table);
    ok(base.clean, "the patch set fits the tree", tp_buf_str(&table));
    tp_buf_finish(&table);
    char **expected = NULL, **paths = NULL;
    int n = 0, cap = 0, n_paths = 0, cap_paths = 0;
    list_states(&base, &expected, &n, &cap);
    close(base.tree.lock_fd); /* the runs below lock the tree themselves */
    base.tree.lock_fd = -1;
    for (int i = 0; i < base.n && base.clean; i++) {
        for (int k = 0; k < base.patches[i].n; k++) {
            const struct tp_outcome *o = &base.patches[i].edits[k];
            if (o->state != TP_APPLIED || o->edit->is_new_file)
                continue;
            char *full = tp_join(root, o->edit->path);
            struct tp_buf pristine = {0};
            if (tp_read_file(full, 0, &pristine, NULL))
                return 2;
            free(full);
            char *label = tp_asprintf("%s, edit %d (%s, %s)", base.patches[i].patch->id, k + 1,
                                      o->edit->path, o->form->name);
            bool known = false;
            for (int p = 0; p < n_paths && !known; p++)
                known = !strcmp(paths[p], o->edit->path);
            if (!known)
                TP_PUSH(paths, n_paths, cap_paths) = o->edit->path;
            if (!o->form->every)
                check_mutations(o->edit, base.patches[i].patch->id, label, &pristine);
            check_reordered(o->edit, o->form, label, &pristine, expected, n);
            free(label);
            tp_buf_finish(&pristine);
        }
    }
    check_reformatted(paths, n_paths, expected, n);
    free(paths);
    free_states(expected, n);
    tp_editing_finish(&base);
    printf("1..%d\n", tests);
    return failures ? 1 : 0;
}
