#include "factory/edit/patchfile.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bits;
} targets[] = {
    {"host", TP_ON_HOST},
    {"linux-arm64", TP_ON_LINUX_ARM64},
    {"host-android", TP_ON_HOST_ANDROID},
    {"android-arm64", TP_ON_ANDROID_ARM64},
    {"linux", TP_ON_HOST | TP_ON_LINUX_ARM64},
    {"android", TP_ON_HOST_ANDROID | TP_ON_ANDROID_ARM64},
};
enum { ALL_TARGETS = 15, ALL_VARIANTS = TP_VARIANT_B | TP_VARIANT_P };

unsigned tp_target_bit(const char *name)
{
    for (size_t i = 0; i < 4; i++) {
        if (!strcmp(targets[i].name, name))
            return targets[i].bits;
    }
    return 0;
}

/* A line of the file, its indentation counted and taken off. */
struct line {
    const char *s;
    size_t len;
    int indent;
    bool blank;
};

struct reader {
    const char *file;
    const char *dir;
    struct line *lines;
    int n, cap, at;
    struct tp_error *e;
};

static int bad(const struct reader *r, int line, const char *todo, const char *what)
{
    char where[1100];
    snprintf(where, sizeof where, "%s:%d", r->file, line);
    return tp_fail(r->e, TP_STATUS_INPUT, -EINVAL, where, todo, "%s", what);
}

static int bad_word(const struct reader *r, int line, const char *what, const char *s, size_t len,
                    const char *todo)
{
    char text[200];
    snprintf(text, sizeof text, "%s '%.*s'", what, (int)(len < 100 ? len : 100), s);
    return bad(r, line, todo, text);
}

static bool is_utf8(const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s, *end = p + len;
    while (p < end) {
        int more = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 : (*p & 0xf0) == 0xe0 ? 2 :
                   *p >= 0xf0 && *p < 0xf5 ? 3 : -1;
        if (more < 0 || end - p <= more)
            return false;
        if (more > 1) { /* overlong, a surrogate, or past U+10FFFF */
            unsigned two = (unsigned)p[0] << 8 | p[1];
            if (two < 0xe0a0 || (two >= 0xeda0 && two < 0xee00) || (two >= 0xf000 && two < 0xf090) ||
                two >= 0xf490)
                return false;
        }
        for (p++; more > 0; more--, p++) {
            if ((*p & 0xc0) != 0x80)
                return false;
        }
    }
    return true;
}

static int split_lines(struct reader *r, const char *text, size_t len)
{
    const char *s = text, *end = text + len;
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        const char *stop = nl ? nl : end;
        size_t n = (size_t)(stop - s);
        if (n && s[n - 1] == '\r')
            n--;
        struct line l = {.s = s, .len = n};
        while ((size_t)l.indent < n && s[l.indent] == ' ')
            l.indent++;
        l.s += l.indent;
        l.len -= (size_t)l.indent;
        while (l.len && (l.s[l.len - 1] == ' ' || l.s[l.len - 1] == '\t'))
            l.len--;
        l.blank = l.len == 0;
        TP_PUSH(r->lines, r->n, r->cap) = l;
        if (!l.blank && l.s[0] == '\t' && l.indent < 6)
            return bad(r, r->n, "indent with two spaces a level", "this line is indented by a tab");
        if (l.len && memchr(l.s, 0, l.len))
            return bad(r, r->n, "a patch is plain text", "this line holds a NUL byte");
        if (!is_utf8(l.s, l.len))
            return bad(r, r->n, "save the file as UTF-8", "this line is not UTF-8");
        s = nl ? nl + 1 : end;
    }
    return 0;
}

/* The next line that is neither blank nor a comment, at most this deep; NULL at the end of the block.
 * Comments stand at the depth of the block, not inside fragments. */
static const struct line *next(struct reader *r, int indent)
{
    while (r->at < r->n && (r->lines[r->at].blank ||
                            (r->lines[r->at].s[0] == '#' && r->lines[r->at].indent < 6)))
        r->at++;
    if (r->at == r->n || r->lines[r->at].indent < indent)
        return NULL;
    return &r->lines[r->at++];
}

/* Splits "keyword rest". */
static bool keyword(const struct line *l, const char *word, const char **rest, size_t *len)
{
    size_t n = strlen(word);
    if (l->len < n || memcmp(l->s, word, n) != 0 || (l->len > n && l->s[n] != ' '))
        return false;
    *rest = l->s + n;
    *len = l->len - n;
    while (*len && **rest == ' ') {
        (*rest)++;
        (*len)--;
    }
    return true;
}

static int quoted(const struct reader *r, const char *s, size_t len, char **out)
{
    if (len < 2 || s[0] != '"' || s[len - 1] != '"')
        return bad(r, r->at, "write it as \"…\"", "a name or reason in double quotes is missing");
    if (len == 2)
        return bad(r, r->at, "write it as \"…\"", "this name or reason is empty");
    free(*out);
    *out = tp_strndup(s + 1, len - 2);
    return 0;
}

static int read_mask(const struct reader *r, const char *s, size_t len, bool variants, unsigned *mask)
{
    *mask = 0;
    while (len) {
        size_t n = 0;
        while (n < len && s[n] != ' ')
            n++;
        unsigned bits = 0;
        if (variants && n == 1)
            bits = *s == 'b' ? TP_VARIANT_B : *s == 'p' ? TP_VARIANT_P : 0;
        for (size_t i = 0; i < sizeof targets / sizeof *targets && !variants; i++) {
            if (strlen(targets[i].name) == n && !memcmp(targets[i].name, s, n))
                bits = targets[i].bits;
        }
        if (!bits && !variants && n == 3 && !memcmp(s, "all", 3))
            bits = ALL_TARGETS;
        if (!bits)
            return bad_word(r, r->at, variants ? "no such variant:" : "no such target:", s, n,
                            variants ? "variants are b and p"
                                     : "targets are host, linux-arm64, host-android, "
                                       "android-arm64, linux, android, all");
        *mask |= bits;
        s += n;
        len -= n;
        while (len && *s == ' ') {
            s++;
            len--;
        }
    }
    return *mask ? 0 : bad(r, r->at, "name at least one", "an empty list");
}

/* The lines deeper than `indent`, their common indentation taken off. */
static int read_fragment(struct reader *r, int indent, enum tp_language lang, struct tp_pattern *out)
{
    int first = r->at, last = first, common = INT32_MAX;
    for (int i = first; i < r->n && (r->lines[i].blank || r->lines[i].indent > indent); i++) {
        if (r->lines[i].blank)
            continue;
        last = i + 1;
        if (r->lines[i].indent < common)
            common = r->lines[i].indent;
    }
    while (first < last && r->lines[first].blank)
        first++;
    if (first == last)
        return bad(r, r->at, "put it on the next line, two spaces deeper", "a fragment is missing");
    if (out->text)
        return bad(r, r->at, "one form has one", "this fragment stands here a second time");
    struct tp_buf text = {0};
    for (int i = first; i < last; i++) {
        const struct line *l = &r->lines[i];
        if (!l->blank) {
            for (int k = common; k < l->indent; k++)
                tp_buf_addc(&text, ' ');
            tp_buf_add(&text, l->s, l->len);
        }
        if (i + 1 < last)
            tp_buf_addc(&text, '\n');
    }
    r->at = last;
    int err = tp_pattern_init(out, tp_buf_str(&text), first + 1, lang, r->file, r->e);
    tp_buf_finish(&text);
    return err;
}

static int read_scope(struct reader *r, const char *s, size_t len, enum tp_language lang,
                      struct tp_scope *scope)
{
    static const struct {
        const char *word;
        enum tp_scope_kind kind;
    } kinds[] = {
        {"function ", TP_SCOPE_FUNCTION},        {"struct ", TP_SCOPE_STRUCT},
        {"class ", TP_SCOPE_STRUCT},             {"enum ", TP_SCOPE_ENUM},
        {"initialiser of ", TP_SCOPE_INITIALISER}, {"call ", TP_SCOPE_CALL},
    };
    *scope = (struct tp_scope){.line = r->at};
    if (len == 4 && !memcmp(s, "file", 4))
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].word);
        if (len <= n || memcmp(s, kinds[i].word, n) != 0)
            continue;
        s += n;
        len -= n;
        scope->kind = kinds[i].kind;
        static const char with[] = " with argument ";
        size_t name = 0, skip = sizeof with - 1;
        while (name < len && s[name] != ' ')
            name++;
        bool argument = len - name > skip && !memcmp(s + name, with, skip);
        if (!name || (name < len && !argument))
            return bad(r, r->at, "give one name", "the name of a scope is one word");
        if (argument && scope->kind != TP_SCOPE_CALL)
            return bad(r, r->at, "leave it out", "only a call has arguments");
        scope->name = tp_strndup(s, name);
        if (!argument)
            return 0;
        char *fragment = tp_strndup(s + name + skip, len - name - skip);
        scope->has_argument = true;
        int err = tp_pattern_init(&scope->argument, fragment, r->at, lang, r->file, r->e);
        free(fragment);
        scope->has_argument = !err;
        return err;
    }
    return bad_word(r, r->at, "no such scope:", s, len,
                    "in file, function NAME, struct NAME, class NAME, enum NAME, "
                    "initialiser of NAME, call NAME [with argument FRAGMENT]");
}

static int add_scope(struct reader *r, const char *s, size_t len, enum tp_language lang,
                     struct tp_scope **scopes, int *n, int *cap)
{
    struct tp_scope scope;
    int err = read_scope(r, s, len, lang, &scope);
    if (err) {
        tp_scope_finish(&scope);
        return err;
    }
    TP_PUSH(*scopes, *n, *cap) = scope;
    return 0;
}

static int check_names(const struct reader *r, const struct tp_form *f)
{
    for (int i = 0; i < f->result.n_names; i++) {
        bool known = false;
        for (int k = 0; k < f->anchor.n_names && !known; k++)
            known = !strcmp(f->result.names[i], f->anchor.names[k]);
        if (!known)
            return bad_word(r, f->result.line, "the result uses a metavariable that the match does "
                                               "not bind:", f->result.names[i],
                            strlen(f->result.names[i]), "bind it in the match");
    }
    for (int i = 0; i < f->result.n; i++) {
        if (f->result.items[i].kind == TP_ITEM_DOTS && f->action != TP_ACTION_REPLACE)
            return bad(r, f->result.line, "write the text out",
                       f->action == TP_ACTION_REMOVE ? "what is left cannot hold '...'" :
                                                       "inserted text cannot hold '...'");
    }
    return 0;
}

static bool same_items(const struct tp_pattern *a, const struct tp_pattern *b)
{
    if (!a->text || !b->text || a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        const struct tp_item *x = &a->items[i], *y = &b->items[i];
        if (x->end - x->start != y->end - y->start ||
            memcmp(a->text + x->start, b->text + y->start, x->end - x->start) != 0)
            return false;
    }
    return true;
}

static int read_form(struct reader *r, const struct tp_edit *edit, struct tp_form *f)
{
    static const struct {
        const char *word;
        enum tp_action action;
    } actions[] = {{"replace", TP_ACTION_REPLACE}, {"before", TP_ACTION_BEFORE},
                   {"after", TP_ACTION_AFTER},     {"append", TP_ACTION_APPEND},
                   {"leaving", TP_ACTION_REMOVE}};
    enum tp_language lang = tp_language_of(edit->path);
    f->line = r->at;
    bool acts = false;
    const struct line *l;
    while ((l = next(r, 4))) {
        const char *rest;
        size_t len;
        int err = 0;
        if (l->indent != 4)
            return bad(r, r->at, "a form's lines are indented by four spaces", "wrong indentation");
        if (keyword(l, "in", &rest, &len)) {
            err = add_scope(r, rest, len, lang, &f->scopes, &f->n_scopes, &f->cap_scopes);
        } else if (keyword(l, "every", &rest, &len) && !len) {
            f->every = true;
        } else if (keyword(l, "match", &rest, &len) && !len) {
            err = read_fragment(r, 4, lang, &f->anchor);
        } else if (keyword(l, "remove", &rest, &len) && !len) {
            err = read_fragment(r, 4, lang, &f->anchor);
        } else {
            size_t i = 0, n = sizeof actions / sizeof *actions;
            while (i < n && !(keyword(l, actions[i].word, &rest, &len) && !len))
                i++;
            if (i == n)
                return bad_word(r, r->at, "a form has no line", l->s, l->len,
                                "in …, every, match, then replace, before, after or append; or "
                                "remove and leaving");
            if (acts)
                return bad(r, r->at, "write a second edit", "a form has one action");
            acts = true;
            f->action = actions[i].action;
            err = read_fragment(r, 4, lang, &f->result);
        }
        if (err)
            return err;
    }
    if (f->action == TP_ACTION_APPEND && f->result.n > 1) {
        /* the comma behind an element is the list's, not the element's */
        const struct tp_item *comma = &f->result.items[f->result.n - 1];
        if (comma->kind == TP_ITEM_TOKEN && f->result.text[comma->start] == ',') {
            f->result.text[comma->start] = 0;
            f->result.n--;
        }
    }
    if (f->action == TP_ACTION_REPLACE && acts && same_items(&f->anchor, &f->result))
        return bad(r, f->result.line, "say what becomes different",
                   "the result is the match: this form changes nothing");
    if (acts && f->result.open_groups != (f->action == TP_ACTION_REPLACE ? f->anchor.open_groups : 0) &&
        f->action != TP_ACTION_REMOVE)
        return bad(r, f->result.line, "hold whole groups",
                   "#if and #endif of the result do not pair as those of the match");
    if (!acts)
        return bad(r, f->line, "add replace, before, after, append or remove",
                   "this form does nothing");
    if (!f->anchor.text && f->action != TP_ACTION_APPEND)
        return bad(r, f->line, "add a match", "this form has no fragment to look for");
    if (f->action == TP_ACTION_APPEND && (f->anchor.text || !f->n_scopes || f->every))
        return bad(r, f->line, "give it `in …` and no match", "append goes to the end of a scope");
    return check_names(r, f);
}

/* One spelling a file: the same one under two names would be changed twice, once in vain. */
static int read_path(const struct reader *r, const char *s, size_t len, char **out)
{
    free(*out);
    *out = tp_strndup(s, len);
    if (!tp_is_below(*out) || !strncmp(*out, ".turnpike/", 10))
        return bad_word(r, r->at, "this is no path below the tree:", s, len,
                        "write it as src/folder/file");
    return 0;
}

static int read_evidence(struct reader *r, const struct tp_edit *edit, struct tp_evidence *ev)
{
    ev->line = r->at;
    struct tp_condition c = {0};
    const struct line *l;
    int err = 0;
    while (!err && (l = next(r, 4))) {
        const char *rest;
        size_t len;
        if (l->indent != 4) {
            err = bad(r, r->at, "conditions are indented by four spaces", "wrong indentation");
        } else if (keyword(l, "file", &rest, &len)) {
            const char *missing = len > 8 ? rest + len - 8 : "";
            bool is_missing = (len == 7 && !memcmp(rest, "missing", 7)) ||
                              (len > 8 && !memcmp(missing, " missing", 8));
            if (len == 7 && is_missing) {
                free(c.file);
                c.file = NULL;
            } else {
                err = read_path(r, rest, is_missing ? len - 8 : len, &c.file);
            }
            if (is_missing && !err) {
                c.kind = TP_FILE_MISSING;
                c.line = r->at;
                TP_PUSH(ev->conditions, ev->n, ev->cap) = c;
                c = (struct tp_condition){0};
            }
        } else if (keyword(l, "in", &rest, &len)) {
            err = add_scope(r, rest, len, tp_language_of(c.file ? c.file : edit->path), &c.scopes,
                            &c.n_scopes, &c.cap_scopes);
        } else if ((keyword(l, "has", &rest, &len) || keyword(l, "lacks", &rest, &len)) && !len) {
            c.kind = l->s[0] == 'h' ? TP_HAS : TP_LACKS;
            c.line = r->at;
            err = read_fragment(r, 4, tp_language_of(c.file ? c.file : edit->path), &c.fragment);
            TP_PUSH(ev->conditions, ev->n, ev->cap) = c;
            c = (struct tp_condition){0};
        } else {
            err = bad_word(r, r->at, "a condition has no line", l->s, l->len,
                           "file PATH [missing], in …, has or lacks and a fragment");
        }
    }
    bool dangling = c.file || c.n_scopes;
    free(c.file);
    for (int i = 0; i < c.n_scopes; i++)
        tp_scope_finish(&c.scopes[i]);
    free(c.scopes);
    if (!err && (dangling || !ev->n))
        err = bad(r, ev->line, "add has or lacks and a fragment, or `file missing`",
                  "this evidence says nothing");
    return err;
}

static int read_content(struct reader *r, struct tp_edit *edit)
{
    if (!edit->content_path)
        return bad(r, edit->line, "add `from FILE`", "where does this new file come from?");
    if (!r->dir)
        return bad(r, edit->line, NULL, "this patch adds files and has no folder");
    char *path = tp_join(r->dir, edit->content_path);
    int err = tp_read_file(path, 4 << 20, &edit->content, r->e);
    free(path);
    return err;
}

static int read_edit(struct reader *r, const struct tp_patch *patch, struct tp_edit *edit)
{
    edit->variants = patch->variants;
    edit->targets = patch->targets;
    const struct line *l;
    while ((l = next(r, 2))) {
        const char *rest;
        size_t len;
        int err;
        if (l->indent != 2)
            return bad(r, r->at, "an edit's lines are indented by two spaces", "wrong indentation");
        unsigned mask;
        if (keyword(l, "variants", &rest, &len)) {
            err = read_mask(r, rest, len, true, &mask);
            edit->variants &= mask;
        } else if (keyword(l, "targets", &rest, &len)) {
            err = read_mask(r, rest, len, false, &mask);
            edit->targets &= mask;
        } else if (keyword(l, "from", &rest, &len) && edit->is_new_file) {
            err = read_path(r, rest, len, &edit->content_path);
        } else if (keyword(l, "template", &rest, &len) && edit->is_new_file && !len) {
            edit->is_template = true;
            err = 0;
        } else if (keyword(l, "proof", &rest, &len)) {
            TP_PUSH(edit->proofs, edit->n_proofs, edit->cap_proofs) = tp_strndup(rest, len);
            TP_PUSH(edit->proof_lines, edit->n_proof_lines, edit->cap_proof_lines) = r->at;
            err = len ? 0 : bad(r, r->at, "say what is seen of a driver with it",
                                "this proof line is empty");
        } else if (keyword(l, "absorbed-if", &rest, &len) || keyword(l, "absent-when", &rest, &len)) {
            struct tp_evidence *ev;
            if (l->s[2] == 's' && l->s[3] == 'o')
                ev = &TP_PUSH(edit->absorbed, edit->n_absorbed, edit->cap_absorbed);
            else
                ev = &TP_PUSH(edit->absent, edit->n_absent, edit->cap_absent);
            *ev = (struct tp_evidence){0};
            err = quoted(r, rest, len, &ev->reason);
            if (!err)
                err = read_evidence(r, edit, ev);
        } else if (keyword(l, "form", &rest, &len) && !edit->is_new_file) {
            struct tp_form *f = &TP_PUSH(edit->forms, edit->n_forms, edit->cap_forms);
            *f = (struct tp_form){0};
            err = quoted(r, rest, len, &f->name);
            if (!err)
                err = read_form(r, edit, f);
        } else {
            err = bad_word(r, r->at, "an edit has no line", l->s, l->len,
                           "variants, targets, proof, absorbed-if, absent-when, form; a new file: "
                           "from, template");
        }
        if (err)
            return err;
    }
    if (!edit->variants || !edit->targets)
        return bad(r, edit->line, "an edit's variants and targets are among its patch's",
                   "this edit would never be made");
    if (edit->is_new_file)
        return read_content(r, edit);
    if (!edit->n_forms && !edit->n_absent && !edit->n_absorbed)
        return bad(r, edit->line, "add a form", "this edit has no form");
    return 0;
}

static bool is_id(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '-'))
            return false;
    }
    return len > 0 && len < 64;
}

/* "needed 2026-11-29 25.0.7: …" */
static bool is_review(const char *s, size_t len)
{
    static const char *const words[] = {"needed ", "absorbed ", "retired "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (len < n + 12 || memcmp(s, words[i], n) != 0)
            continue;
        int year, month, day, used = 0;
        char date[11];
        memcpy(date, s + n, 10);
        date[10] = 0;
        return sscanf(date, "%4d-%2d-%2d%n", &year, &month, &day, &used) == 3 && used == 10 &&
               year > 2000 && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
               s[n + 10] == ' ';
    }
    return false;
}

static void set(char **field, const char *s, size_t len)
{
    if (*field) { /* a second line goes on where the first ended */
        char *joined = tp_asprintf("%s %.*s", *field, (int)len, s);
        free(*field);
        *field = joined;
    } else {
        *field = tp_strndup(s, len);
    }
}

static int read_top(struct reader *r, struct tp_patch *p, const struct line *l)
{
    const char *rest;
    size_t len;
    if (l->indent)
        return bad(r, r->at, "a patch's lines are not indented", "wrong indentation");
    if (keyword(l, "patch", &rest, &len)) {
        if (!is_id(rest, len) || p->id)
            return bad(r, r->at, "lower-case letters, digits and '-', once",
                       "a patch has one identifier");
        p->id = tp_strndup(rest, len);
    } else if (!p->id) {
        return bad(r, r->at, "begin with `patch ID`", "the file does not begin with its identifier");
    } else if (keyword(l, "title", &rest, &len)) {
        set(&p->title, rest, len);
    } else if (keyword(l, "why", &rest, &len)) {
        set(&p->why, rest, len);
    } else if (keyword(l, "upstream", &rest, &len)) {
        if (!p->upstream && !is_review(rest, len))
            return bad(r, r->at, "upstream needed|absorbed|retired YYYY-MM-DD REVISION: why",
                       "this review has no verdict, date and revision");
        set(&p->upstream, rest, len);
    } else if (keyword(l, "off", &rest, &len)) {
        if (!len)
            return bad(r, r->at, "say why it is off", "a reason is missing");
        set(&p->off, rest, len);
    } else if (keyword(l, "optional", &rest, &len) && !len) {
        p->optional = true;
    } else if (keyword(l, "proof", &rest, &len)) {
        TP_PUSH(p->proofs, p->n_proofs, p->cap_proofs) = tp_strndup(rest, len);
        TP_PUSH(p->proof_lines, p->n_proof_lines, p->cap_proof_lines) = r->at;
        if (!len)
            return bad(r, r->at, "say what is seen of a driver with it", "this proof line is empty");
    } else if (keyword(l, "needs", &rest, &len)) {
        if (!is_id(rest, len))
            return bad(r, r->at, "one identifier a line", "needs names another patch");
        TP_PUSH(p->needs, p->n_needs, p->cap_needs) = tp_strndup(rest, len);
    } else if (keyword(l, "variants", &rest, &len)) {
        return read_mask(r, rest, len, true, &p->variants);
    } else if (keyword(l, "targets", &rest, &len)) {
        return read_mask(r, rest, len, false, &p->targets);
    } else if (keyword(l, "edit", &rest, &len) || keyword(l, "new-file", &rest, &len)) {
        struct tp_edit *edit = &TP_PUSH(p->edits, p->n_edits, p->cap_edits);
        *edit = (struct tp_edit){.line = r->at, .is_new_file = l->s[0] == 'n'};
        int err = read_path(r, rest, len, &edit->path);
        return err ? err : read_edit(r, p, edit);
    } else {
        return bad_word(r, r->at, "a patch has no line", l->s, l->len,
                        "patch, title, why, variants, targets, upstream, needs, off, optional, "
                        "proof, edit, new-file");
    }
    return 0;
}

static void hash_patch(struct tp_patch *p, const char *text, size_t len)
{
    struct tp_buf all = {0};
    tp_buf_add(&all, text, len);
    for (int i = 0; i < p->n_edits; i++)
        tp_buf_add(&all, p->edits[i].content.data, p->edits[i].content.len);
    tp_sha256(all.data, all.len, p->sha256);
    tp_buf_finish(&all);
}

int tp_patch_parse(const char *text, size_t len, const char *file, const char *dir,
                   struct tp_patch *patch, struct tp_error *e)
{
    *patch = (struct tp_patch){.file = tp_strdup(tp_base_name(file)),
                               .variants = ALL_VARIANTS,
                               .targets = ALL_TARGETS};
    struct reader r = {.file = file, .dir = dir, .e = e};
    int err = len > (4 << 20) ? bad(&r, 1, NULL, "the file is larger than 4 MiB") :
                                split_lines(&r, text, len);
    const struct line *l;
    while (!err && (l = next(&r, 0)))
        err = read_top(&r, patch, l);
    if (!err && !patch->id)
        err = bad(&r, 1, "begin with `patch ID`", "the file is empty");
    if (!err && !patch->title)
        err = bad(&r, 1, "add `title …`", "the patch has no title");
    if (!err && !patch->n_edits)
        err = bad(&r, 1, "add `edit PATH` and a form", "the patch changes nothing");
    if (!err && !patch->upstream)
        err = bad(&r, 1, "add `upstream needed DATE REVISION`",
                  "the patch does not say when upstream was last looked at");
    if (!err)
        hash_patch(patch, text, len);
    free(r.lines);
    if (err)
        tp_patch_finish(patch);
    return err;
}

static void finish_scopes(struct tp_scope *scopes, int n)
{
    for (int i = 0; i < n; i++)
        tp_scope_finish(&scopes[i]);
    free(scopes);
}

static void finish_evidence(struct tp_evidence *ev, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < ev[i].n; k++) {
            free(ev[i].conditions[k].file);
            finish_scopes(ev[i].conditions[k].scopes, ev[i].conditions[k].n_scopes);
            tp_pattern_finish(&ev[i].conditions[k].fragment);
        }
        free(ev[i].conditions);
        free(ev[i].reason);
    }
    free(ev);
}

void tp_patch_finish(struct tp_patch *p)
{
    for (int i = 0; i < p->n_edits; i++) {
        struct tp_edit *edit = &p->edits[i];
        for (int k = 0; k < edit->n_forms; k++) {
            finish_scopes(edit->forms[k].scopes, edit->forms[k].n_scopes);
            tp_pattern_finish(&edit->forms[k].anchor);
            tp_pattern_finish(&edit->forms[k].result);
            free(edit->forms[k].name);
        }
        free(edit->forms);
        for (int k = 0; k < edit->n_proofs; k++)
            free(edit->proofs[k]);
        free(edit->proofs);
        free(edit->proof_lines);
        finish_evidence(edit->absorbed, edit->n_absorbed);
        finish_evidence(edit->absent, edit->n_absent);
        tp_buf_finish(&edit->content);
        free(edit->content_path);
        free(edit->path);
    }
    free(p->edits);
    for (int i = 0; i < p->n_needs; i++)
        free(p->needs[i]);
    free(p->needs);
    for (int i = 0; i < p->n_proofs; i++)
        free(p->proofs[i]);
    free(p->proofs);
    free(p->proof_lines);
    free(p->file);
    free(p->id);
    free(p->title);
    free(p->why);
    free(p->upstream);
    free(p->off);
    *p = (struct tp_patch){0};
}

static int is_edit_file(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return d->d_name[0] != '.' && dot && !strcmp(dot, ".edit");
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Every `needs` names a patch that stands earlier, and no identifier is used twice. */
static int check_set(const struct tp_patch_set *set, struct tp_error *e)
{
    for (int i = 0; i < set->n; i++) {
        const struct tp_patch *p = &set->patches[i];
        for (int k = 0; k < i; k++) {
            if (!strcmp(p->id, set->patches[k].id))
                return tp_fail(e, TP_STATUS_INPUT, -EINVAL, p->file, "rename one of them",
                               "the identifier %s is already that of %s", p->id,
                               set->patches[k].file);
        }
        for (int n = 0; n < p->n_needs; n++) {
            bool known = false;
            for (int k = 0; k < i; k++)
                known = known || !strcmp(p->needs[n], set->patches[k].id);
            if (!known)
                return tp_fail(e, TP_STATUS_INPUT, -EINVAL, p->file,
                               "name one that stands earlier in the folder",
                               "it needs %s, and no earlier patch is called that", p->needs[n]);
        }
    }
    return 0;
}

int tp_patch_set_read(const char *dir, struct tp_patch_set *set, struct tp_error *e)
{
    *set = (struct tp_patch_set){.dir = tp_strdup(dir)};
    struct dirent **names = NULL;
    int n = scandir(dir, &names, is_edit_file, by_bytes);
    int err = n < 0 ? tp_fail_errno(e, errno, dir, "the folder of patches cannot be read") : 0;
    struct tp_buf text = {0}, hashes = {0};
    for (int i = 0; i < n; i++) {
        char *path = tp_join(dir, names[i]->d_name);
        struct tp_patch patch;
        if (!err)
            err = tp_read_file(path, 4 << 20, &text, e);
        if (!err && !(err = tp_patch_parse(tp_buf_str(&text), text.len, path, dir, &patch, e))) {
            TP_PUSH(set->patches, set->n, set->cap) = patch;
            tp_buf_addf(&hashes, "%s %s\n", patch.file, patch.sha256);
        }
        free(path);
        free(names[i]);
    }
    free(names);
    if (!err && !set->n)
        err = tp_fail(e, TP_STATUS_INPUT, -ENOENT, dir, "name a folder that holds *.edit files",
                      "there is no patch in this folder");
    if (!err)
        err = check_set(set, e);
    tp_sha256(hashes.data, hashes.len, set->sha256);
    tp_buf_finish(&text);
    tp_buf_finish(&hashes);
    if (err)
        tp_patch_set_finish(set);
    return err;
}

void tp_patch_set_finish(struct tp_patch_set *set)
{
    for (int i = 0; i < set->n; i++)
        tp_patch_finish(&set->patches[i]);
    free(set->patches);
    free(set->dir);
    *set = (struct tp_patch_set){0};
}
