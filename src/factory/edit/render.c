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
static struct tp_buf inserted_text(const struct tp_form *f, const struct tp_text *t,
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
    return out;
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

static struct tp_buf replacement(const struct tp_form *f, const struct tp_text *t,
                                 const struct tp_match *m)
{
    const struct tp_pattern *r = &f->result;
    char *indent = indent_of(t, start_of(t, m->span.first));
    int *kept = common_items(f);
    struct tp_buf out = {0};
    for (int i = 0; i < r->n; i++) {
        const char *gap = r->text + (i ? r->items[i - 1].end : 0);
        size_t gap_len = r->items[i].start - (i ? r->items[i - 1].end : 0);
        struct tp_span here = kept[i] >= 0 ? m->items[kept[i]] : (struct tp_span){0, -1};
        if (kept[i] >= 0 && here.last < here.first)
            continue; /* dots that matched nothing */
        bool runs_on = i && kept[i] >= 0 && kept[i - 1] >= 0 && kept[i] == kept[i - 1] + 1 &&
                       !has_comment(t->lang, gap, gap_len);
        if (runs_on) {
            /* the source's own space and comments */
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
    return out;
}

static bool is_c(const struct tp_text *t)
{
    return t->lang == TP_LANG_C || t->lang == TP_LANG_CPP;
}

/* Is there a line break in these bytes that ends a line of code, outside comments? at: where it
 * begins. */
static bool next_newline(const struct tp_text *t, size_t from, size_t to, size_t *at)
{
    const char *s = t->bytes.data;
    for (size_t i = from; i < to; i++) {
        bool comment = is_c(t) && s[i] == '/' && i + 1 < to;
        if (comment && s[i + 1] == '/') {
            const char *end = memchr(s + i, '\n', to - i);
            i = end ? (size_t)(end - s) : to;
        } else if (comment && s[i + 1] == '*') {
            const char *end = memmem(s + i + 2, to - i - 2, "*/", 2);
            if (!end)
                return false;
            i = (size_t)(end - s) + 1;
        }
        if (i < to && s[i] == '\n') {
            *at = i > 0 && s[i - 1] == '\r' ? i - 1 : i;
            return true;
        }
    }
    return false;
}

static size_t behind_newline(const struct tp_text *t, size_t at)
{
    return at + (t->bytes.data[at] == '\r') + 1;
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

/* Puts bytes in; their line breaks become those of the file. */
static void splice(struct tp_text *t, size_t at, size_t len, const struct tp_buf *with,
                   struct tp_byte_range *changed)
{
    struct tp_buf out = {0};
    const char *nl = memchr(tp_buf_str(&t->bytes), '\n', t->bytes.len);
    bool crlf = nl && nl > t->bytes.data && nl[-1] == '\r';
    for (size_t i = 0; i < with->len; i++) {
        if (crlf && with->data[i] == '\n' && (i == 0 || with->data[i - 1] != '\r'))
            tp_buf_addc(&out, '\r');
        tp_buf_addc(&out, with->data[i]);
    }
    *changed = (struct tp_byte_range){at, at + out.len};
    tp_text_replace(t, at, len, tp_buf_str(&out), out.len);
    tp_buf_finish(&out);
}

/* Adds the text between two strings. */
static void add_around(struct tp_buf *out, const char *before, const struct tp_buf *text,
                       const char *after)
{
    tp_buf_adds(out, before);
    tp_buf_add(out, text->data, text->len);
    tp_buf_adds(out, after);
}

static void insert_before(const struct tp_form *f, struct tp_text *t, const struct tp_match *m,
                          struct tp_byte_range *changed)
{
    size_t at = start_of(t, m->span.first);
    size_t prev = m->span.first ? end_of(t, m->span.first - 1) : 0;
    char *indent = indent_of(t, at);
    struct tp_buf text = inserted_text(f, t, m, indent), out = {0};
    size_t nl = 0;
    bool first_on_line = m->span.first == 0 || next_newline(t, prev, at, &nl);
    bool directive = m->span.first && t->tokens.at[m->span.first - 1].kind == TP_TOKEN_LINE_END;
    if (first_on_line || directive) {
        /* above the comment that belongs to the anchor: the last block of lines without a gap */
        size_t block = !m->span.first ? 0 : directive ? prev + 1 : behind_newline(t, nl);
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
        bool apart = at_top_level(t, m) && strchr(tp_buf_str(&text), '\n');
        add_around(&out, indent, &text, apart ? "\n\n" : "\n");
        at = block;
    } else if (needs_lines(t->lang, tp_buf_str(&text))) {
        tp_buf_addc(&out, '\n');
        add_around(&out, indent, &text, "\n");
        tp_buf_adds(&out, indent);
    } else {
        add_around(&out, "", &text, " ");
    }
    splice(t, at, 0, &out, changed);
    tp_buf_finish(&out);
    tp_buf_finish(&text);
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
    struct tp_buf text = inserted_text(f, t, m, indent), out = {0};
    size_t nl = 0;
    if (next_newline(t, at, stop, &nl) || stop == t->bytes.len) {
        at = nl ? nl : stop;
        bool apart = at_top_level(t, m) && strchr(tp_buf_str(&text), '\n');
        tp_buf_adds(&out, apart ? "\n\n" : "\n");
        add_around(&out, indent, &text, "");
    } else if (needs_lines(t->lang, tp_buf_str(&text))) {
        tp_buf_addc(&out, '\n');
        add_around(&out, indent, &text, "\n");
        tp_buf_adds(&out, indent);
    } else {
        add_around(&out, " ", &text, "");
    }
    splice(t, at, 0, &out, changed);
    tp_buf_finish(&out);
    tp_buf_finish(&text);
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
            out = replacement(f, t, m);
        } else {
            /* a removed line takes its line break along */
            size_t from = line_start(t, at), to = at + len;
            bool alone = true;
            for (size_t i = from; i < at && alone; i++)
                alone = t->bytes.data[i] == ' ' || t->bytes.data[i] == '\t';
            while (to < t->bytes.len && (t->bytes.data[to] == ' ' || t->bytes.data[to] == '\t'))
                to++;
            if (to + 1 < t->bytes.len && t->bytes.data[to] == '\r' && t->bytes.data[to + 1] == '\n')
                to++;
            if (alone && (to == t->bytes.len || t->bytes.data[to] == '\n')) {
                at = from;
                len = to + (to < t->bytes.len) - from;
            } else if (to == t->bytes.len || t->bytes.data[to] == '\n') {
                while (at > from && (t->bytes.data[at - 1] == ' ' || t->bytes.data[at - 1] == '\t')) {
                    at--;
                    len++;
                }
            } else if (at > from && (t->bytes.data[at - 1] == ' ' || t->bytes.data[at - 1] == '\t')) {
                len = to - at;
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
    int last = place->close - 1, element = last;
    while (element > place->open && t->tokens.at[element].directive)
        element--; /* an #endif may stand behind the last element */
    bool empty = element == place->open;
    bool trailing = list && !empty && tp_token_is(t, element, ",");
    size_t nl = 0;
    bool lines = next_newline(t, end_of(t, last), start_of(t, place->close), &nl);
    int model = empty ? place->close : place->open + 1; /* whose indentation to take */
    while (model < element && t->tokens.at[model].directive)
        model++;
    char *indent = indent_of(t, start_of(t, model));
    char *inner = empty ? tp_asprintf("%s   ", indent) : tp_strdup(indent);
    struct tp_buf text = inserted_text(f, t, NULL, inner), out = {0};
    size_t comma = end_of(t, element);
    size_t at = lines ? nl : start_of(t, place->close);
    bool own_line = lines ||
                    (needs_lines(t->lang, tp_buf_str(&text)) && t->lang != TP_LANG_PYTHON);
    if (own_line) {
        tp_buf_addc(&out, '\n');
        add_around(&out, inner, &text, trailing ? "," : "");
        tp_buf_adds(&out, lines ? "" : "\n");
    } else if (list) {
        at = comma;
        add_around(&out, empty ? "" : trailing ? " " : ", ", &text, "");
    } else {
        at = comma;
        add_around(&out, " ", &text, empty ? " " : "");
    }
    splice(t, at, 0, &out, changed);
    if (list && !empty && !trailing && own_line) {
        struct tp_buf c = {0};
        struct tp_byte_range ignored;
        tp_buf_addc(&c, ',');
        splice(t, comma, 0, &c, &ignored);
        changed->from = comma;
        changed->to++;
        tp_buf_finish(&c);
    }
    tp_buf_finish(&out);
    tp_buf_finish(&text);
    free(inner);
    free(indent);
}
