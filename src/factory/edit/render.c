#include "factory/edit/render.h"

#include <stdlib.h>
#include <string.h>

static size_t start_of(const struct tp_text *t, int token)
{
    return t->tokens.at[token].start;
}

static size_t end_of(const struct tp_text *t, int token)
{
    return t->tokens.at[token].end;
}

char *tp_render_source(const struct tp_text *t, struct tp_span span)
{
    if (span.last < span.first)
        return tp_strdup("");
    size_t from = start_of(t, span.first);
    return tp_strndup(t->bytes.data + from, end_of(t, span.last) - from);
}

static size_t line_start(const struct tp_text *t, size_t at)
{
    while (at > 0 && t->bytes.data[at - 1] != '\n')
        at--;
    return at;
}

/* The white space that the line of this byte begins with. */
static char *indent_of(const struct tp_text *t, size_t at)
{
    size_t from = line_start(t, at), to = from;
    while (to < t->bytes.len && (t->bytes.data[to] == ' ' || t->bytes.data[to] == '\t'))
        to++;
    return tp_strndup(t->bytes.data + from, to - from);
}

/* Adds text; each line after the first begins with indent, unless it is empty. */
static void add_indented(struct tp_buf *out, const char *text, size_t len, const char *indent)
{
    for (size_t i = 0; i < len; i++) {
        tp_buf_addc(out, text[i]);
        if (text[i] == '\n' && i + 1 < len && text[i + 1] != '\n')
            tp_buf_adds(out, indent);
    }
}

/* As add_indented for the space between two items: a last newline is followed by an item. */
static void add_trivia(struct tp_buf *out, const char *text, size_t len, const char *indent)
{
    add_indented(out, text, len, indent);
    if (len && text[len - 1] == '\n')
        tp_buf_adds(out, indent);
}

static const struct tp_span *binding(const struct tp_form *f, const struct tp_match *m, int name)
{
    for (int i = 0; m && i < f->anchor.n_names; i++) {
        if (!strcmp(f->anchor.names[i], f->result.names[name]))
            return &m->names[i];
    }
    return NULL;
}

static void add_span(struct tp_buf *out, const struct tp_text *t, struct tp_span span)
{
    if (span.last >= span.first)
        tp_buf_add(out, t->bytes.data + start_of(t, span.first),
                   end_of(t, span.last) - start_of(t, span.first));
}

static void add_item(struct tp_buf *out, const struct tp_form *f, const struct tp_text *t,
                     const struct tp_match *m, int item)
{
    const struct tp_item *it = &f->result.items[item];
    const struct tp_span *bound = it->kind == TP_ITEM_META ? binding(f, m, it->name) : NULL;
    if (bound)
        add_span(out, t, *bound);
    else if (it->kind == TP_ITEM_TOKEN)
        tp_buf_add(out, f->result.text + it->start, it->end - it->start);
}

/* The inserted text with its metavariables filled in, lines indented. */
static char *inserted_text(const struct tp_form *f, const struct tp_text *t,
                           const struct tp_match *m, const char *indent)
{
    struct tp_buf out = {0};
    const struct tp_pattern *r = &f->result;
    uint32_t at = 0;
    for (int i = 0; i < r->n; i++) {
        add_trivia(&out, r->text + at, r->items[i].start - at, indent);
        add_item(&out, f, t, m, i);
        at = r->items[i].end;
    }
    add_indented(&out, r->text + at, strlen(r->text) - at, indent);
    return tp_buf_take(&out);
}

static bool same_item(const struct tp_form *f, int a, int r)
{
    const struct tp_item *x = &f->anchor.items[a], *y = &f->result.items[r];
    if (x->kind != y->kind)
        return false;
    if (x->kind == TP_ITEM_META)
        return !strcmp(f->anchor.names[x->name], f->result.names[y->name]);
    if (x->kind == TP_ITEM_DOTS)
        return true;
    return x->end - x->start == y->end - y->start &&
           !memcmp(f->anchor.text + x->start, f->result.text + y->start, x->end - x->start);
}

/* kept[r] = the anchor's item that the result's item r continues, or -1: a longest common
 * subsequence of the two. */
static int *common_items(const struct tp_form *f)
{
    int n = f->anchor.n, m = f->result.n;
    int *len = tp_calloc((size_t)(n + 1) * (size_t)(m + 1), sizeof *len);
#define LEN(a, r) len[(a) * (m + 1) + (r)]
    for (int a = n - 1; a >= 0; a--) {
        for (int r = m - 1; r >= 0; r--) {
            int skip = LEN(a + 1, r) > LEN(a, r + 1) ? LEN(a + 1, r) : LEN(a, r + 1);
            int take = same_item(f, a, r) ? LEN(a + 1, r + 1) + 1 : 0;
            LEN(a, r) = take > skip ? take : skip;
        }
    }
    int *kept = tp_calloc((size_t)m, sizeof *kept);
    for (int a = 0, r = 0; r < m;) {
        if (a < n && same_item(f, a, r) && LEN(a, r) == LEN(a + 1, r + 1) + 1) {
            kept[r++] = a++;
        } else if (a < n && LEN(a + 1, r) >= LEN(a, r + 1)) {
            a++;
        } else {
            kept[r++] = -1;
        }
    }
#undef LEN
    free(len);
    return kept;
}

static bool has_comment(enum tp_language lang, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] != ' ' && s[i] != '\t' && s[i] != '\n' && s[i] != '\r')
            return lang != TP_LANG_TEXT;
    }
    return false;
}

static char *replacement(const struct tp_form *f, const struct tp_text *t, const struct tp_match *m)
{
    const struct tp_pattern *r = &f->result;
    char *indent = indent_of(t, start_of(t, m->span.first));
    int *kept = common_items(f);
    struct tp_buf out = {0};
    for (int i = 0; i < r->n; i++) {
        const char *gap = r->text + (i ? r->items[i - 1].end : 0);
        size_t gap_len = r->items[i].start - (i ? r->items[i - 1].end : 0);
        struct tp_span here = kept[i] >= 0 ? m->items[kept[i]] : (struct tp_span){0, -1};
        bool runs_on = i && kept[i] >= 0 && kept[i - 1] >= 0 && kept[i] == kept[i - 1] + 1 &&
                       here.last >= here.first && !has_comment(t->lang, gap, gap_len);
        if (runs_on) {
            /* the source's own space and comments; dots that matched nothing have no end */
            size_t from = end_of(t, here.first - 1), to = start_of(t, here.first);
            tp_buf_add(&out, t->bytes.data + from, to - from);
        } else {
            add_trivia(&out, gap, gap_len, indent);
        }
        if (kept[i] >= 0)
            add_span(&out, t, here);
        else
            add_item(&out, f, t, m, i);
    }
    free(kept);
    free(indent);
    return tp_buf_take(&out);
}

/* Is there a newline in these bytes that ends a line of code, outside comments? */
static bool next_newline(const struct tp_text *t, size_t from, size_t to, size_t *at)
{
    const char *s = t->bytes.data;
    for (size_t i = from; i < to; i++) {
        if (s[i] == '\n') {
            *at = i;
            return true;
        }
        if (s[i] == '/' && i + 1 < to && s[i + 1] == '*') {
            const char *end = memmem(s + i + 2, to - i - 2, "*/", 2);
            if (!end)
                return false;
            i = (size_t)(end - s) + 1;
        }
    }
    return false;
}

/* Must this text stand on lines of its own? */
static bool needs_lines(enum tp_language lang, const char *text)
{
    return strchr(text, '\n') || lang == TP_LANG_PYTHON || text[0] == '#' ||
           ((lang == TP_LANG_C || lang == TP_LANG_CPP) && strstr(text, "//"));
}

static bool at_top_level(const struct tp_text *t, const struct tp_match *m)
{
    return m->parent.first == 0 && m->parent.last == t->tokens.n - 1 && tp_text_has_trees(t);
}

static void splice(struct tp_text *t, size_t at, size_t len, const struct tp_buf *with,
                   struct tp_byte_range *changed)
{
    *changed = (struct tp_byte_range){at, at + with->len};
    tp_text_replace(t, at, len, tp_buf_str(with), with->len);
}

static void insert_before(const struct tp_form *f, struct tp_text *t, const struct tp_match *m,
                          struct tp_byte_range *changed)
{
    size_t at = start_of(t, m->span.first);
    size_t prev = m->span.first ? end_of(t, m->span.first - 1) : 0;
    char *indent = indent_of(t, at);
    char *text = inserted_text(f, t, m, indent);
    struct tp_buf out = {0};
    size_t nl = 0;
    bool first_on_line = m->span.first == 0 || next_newline(t, prev, at, &nl);
    bool directive = m->span.first && t->tokens.at[m->span.first - 1].kind == TP_TOKEN_LINE_END;
    if (first_on_line || directive) {
        /* above the comment that belongs to the anchor: the last block of lines without a gap */
        size_t block = m->span.first ? (directive ? prev : nl) + 1 : 0;
        if (block > at)
            block = at;
        for (size_t i = block, line = block; i < at; i++) {
            if (t->bytes.data[i] != '\n')
                continue;
            bool blank = true;
            for (size_t k = line; k < i && blank; k++)
                blank = t->bytes.data[k] == ' ' || t->bytes.data[k] == '\t' ||
                        t->bytes.data[k] == '\r';
            line = i + 1;
            if (blank)
                block = line;
        }
        tp_buf_addf(&out, "%s%s\n%s", indent, text,
                    at_top_level(t, m) && strchr(text, '\n') ? "\n" : "");
        at = block;
    } else if (needs_lines(t->lang, text)) {
        tp_buf_addf(&out, "\n%s%s\n%s", indent, text, indent);
    } else {
        tp_buf_addf(&out, "%s ", text);
    }
    splice(t, at, 0, &out, changed);
    tp_buf_finish(&out);
    free(text);
    free(indent);
}

static void insert_after(const struct tp_form *f, struct tp_text *t, const struct tp_match *m,
                         struct tp_byte_range *changed)
{
    size_t at = end_of(t, m->span.last);
    int next = m->span.last + 1;
    while (next < t->tokens.n && t->tokens.at[next].kind == TP_TOKEN_LINE_END)
        next++;
    size_t stop = next < t->tokens.n ? start_of(t, next) : t->bytes.len;
    char *indent = indent_of(t, start_of(t, m->span.first));
    char *text = inserted_text(f, t, m, indent);
    struct tp_buf out = {0};
    size_t nl = 0;
    if (next_newline(t, at, stop, &nl) || stop == t->bytes.len) {
        at = nl ? nl : stop;
        tp_buf_addf(&out, "%s\n%s%s", at_top_level(t, m) && strchr(text, '\n') ? "\n" : "", indent,
                    text);
    } else if (needs_lines(t->lang, text)) {
        tp_buf_addf(&out, "\n%s%s\n%s", indent, text, indent);
    } else {
        tp_buf_addf(&out, " %s", text);
    }
    splice(t, at, 0, &out, changed);
    tp_buf_finish(&out);
    free(text);
    free(indent);
}

void tp_render_match(const struct tp_form *f, struct tp_text *t, const struct tp_match *m,
                     struct tp_byte_range *changed)
{
    if (f->action == TP_ACTION_BEFORE) {
        insert_before(f, t, m, changed);
    } else if (f->action == TP_ACTION_AFTER) {
        insert_after(f, t, m, changed);
    } else {
        size_t at = start_of(t, m->span.first), len = end_of(t, m->span.last) - at;
        struct tp_buf out = {0};
        if (f->action == TP_ACTION_REPLACE) {
            char *text = replacement(f, t, m);
            tp_buf_adds(&out, text);
            free(text);
        } else {
            /* a removed line takes its line break along */
            size_t from = line_start(t, at), to = at + len;
            bool alone = true;
            for (size_t i = from; i < at && alone; i++)
                alone = t->bytes.data[i] == ' ' || t->bytes.data[i] == '\t';
            while (to < t->bytes.len && (t->bytes.data[to] == ' ' || t->bytes.data[to] == '\t'))
                to++;
            if (alone && to < t->bytes.len && t->bytes.data[to] == '\n') {
                at = from;
                len = to + 1 - from;
            }
        }
        splice(t, at, len, &out, changed);
        tp_buf_finish(&out);
    }
}

void tp_render_append(const struct tp_form *f, struct tp_text *t, const struct tp_place *place,
                      struct tp_byte_range *changed)
{
    bool list = !(f->n_scopes && (f->scopes[f->n_scopes - 1].kind == TP_SCOPE_STRUCT ||
                                  f->scopes[f->n_scopes - 1].kind == TP_SCOPE_FUNCTION));
    int last = place->close - 1;
    bool empty = last == place->open;
    bool trailing = list && !empty && tp_token_is(t, last, ",");
    size_t nl = 0;
    bool lines = next_newline(t, end_of(t, last), start_of(t, place->close), &nl);
    int model = empty ? place->close : place->open + 1; /* whose indentation to take */
    char *indent = indent_of(t, start_of(t, model));
    char *inner = empty ? tp_asprintf("%s   ", indent) : tp_strdup(indent);
    char *text = inserted_text(f, t, NULL, inner);
    struct tp_buf out = {0};
    size_t comma = end_of(t, last);
    size_t at = lines ? nl : start_of(t, place->close);
    if (lines) {
        tp_buf_addf(&out, "\n%s%s%s", inner, text, trailing ? "," : "");
    } else if (needs_lines(t->lang, text) && t->lang != TP_LANG_PYTHON) {
        tp_buf_addf(&out, "\n%s%s%s\n", inner, text, trailing ? "," : "");
    } else if (list) {
        at = comma;
        tp_buf_addf(&out, "%s%s", empty ? "" : trailing ? " " : ", ", text);
    } else {
        tp_buf_addf(&out, " %s ", text);
    }
    splice(t, at, 0, &out, changed);
    if (list && !empty && !trailing && at != comma) {
        struct tp_buf c = {0};
        struct tp_byte_range ignored;
        tp_buf_addc(&c, ',');
        splice(t, comma, 0, &c, &ignored);
        changed->from = comma;
        changed->to++;
        tp_buf_finish(&c);
    }
    tp_buf_finish(&out);
    free(text);
    free(inner);
    free(indent);
}
