#include "report/doctor/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/doctor/builtin.h"
#include "report/doctor/told.h"

const char *const tp_doctor_severities[] = {"fact", "note", "warning", "error", NULL};
const char *const tp_doctor_stages[] = {
    "driver", "mapper", "buffers", "gpu", "display", "frames", NULL};

/* Names that rules ask for are looked up once all rules are read. */
struct reference {
    unsigned rule, line;
    char kind; /* the first letters of after, needs, without, present, shows; absent is x */
    char *name;
};

struct reading {
    struct tp_rules *rules;
    const char *file;
    unsigned line;
    struct reference *references;
    unsigned n_references, cap_references;
    struct tp_error *e;
};

static int refuse(const struct reading *r, unsigned line, const char *what, const char *name)
{
    char *where = tp_asprintf("%s:%u", r->file, line);
    int err =
        tp_fail(r->e, TP_STATUS_INPUT, -EINVAL, where, "see docs/doctor.md, how to add a rule",
            "%s%s%s%s", what, *name ? " '" : "", name, *name ? "'" : "");
    free(where);
    return err;
}

static int word_of(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], name))
            return i;
    }
    return -1;
}

/* Several lines of a text are one, with a blank between them. */
static void append(char **to, const char *value)
{
    char *joined = **to ? tp_asprintf("%s %s", *to, value) : tp_strdup(value);

    free(*to);
    *to = joined;
}

static int begin_rule(struct reading *r, const char *id)
{
    struct tp_rules *rules = r->rules;

    if (!*id || tp_rules_find(rules, id) >= 0)
        return refuse(
            r, r->line, *id ? "there is a rule already called" : "a rule has no name", id);
    if (rules->n == TP_RULES_MOST)
        return refuse(r, r->line, "there are too many rules", "");
    struct tp_rule *rule = &TP_PUSH(rules->list, rules->n, rules->cap);
    *rule = (struct tp_rule){.id = tp_strdup(id), .line = r->line};
    char **texts[] = {
        &rule->group, &rule->title, &rule->text, &rule->fix, &rule->matters, &rule->source};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = tp_strdup("");
    return 0;
}

static int add_pattern(struct reading *r, struct tp_rule *rule, const char *value, bool of_tag)
{
    struct tp_rules *rules = r->rules;
    struct tp_phrase p;
    char *where = tp_asprintf("%s:%u", r->file, r->line);
    int err = tp_phrase_parse(value, where, &p, r->e);

    free(where);
    p.of_tag = of_tag;
    if (!err && of_tag && (p.n != 1 || p.pieces[0].kind != TP_PIECE_TEXT))
        err = refuse(r, r->line, "a tag has no captures in it", value);
    if (!err && rules->n_keys == TP_WORDS_MOST)
        err = refuse(r, r->line, "there are too many patterns", "");
    if (err) {
        tp_phrase_finish(&p);
        return err;
    }
    rule->patterns = tp_realloc(rule->patterns, rule->n_patterns + 1, sizeof p);
    rules->keys[rules->n_keys].rule = (uint16_t)(rules->n - 1);
    rules->keys[rules->n_keys++].pattern = (uint16_t)rule->n_patterns;
    rule->patterns[rule->n_patterns++] = p;
    return 0;
}

static void add_tags(struct tp_rule *rule, const char *value)
{
    while (*value) {
        size_t n = strcspn(value, " ");
        rule->tags = tp_realloc(rule->tags, rule->n_tags + 1, sizeof *rule->tags);
        rule->tags[rule->n_tags++] = tp_strndup(value, n);
        value += n;
        value += strspn(value, " ");
    }
}

/* "usage none 0x10000000". */
static int add_where(struct reading *r, struct tp_rule *rule, const char *value)
{
    static const char *const kinds[] = {
        "all", "none", "above", "below", "has", "lacks", "names", "tells", NULL};
    size_t n = strcspn(value, " "), m = 0;
    const char *kind = value + n + strspn(value + n, " ");
    m = strcspn(kind, " ");
    const char *rest = kind + m + strspn(kind + m, " ");
    char *name = tp_strndup(kind, m), *end = NULL;
    int k = word_of(kinds, name);
    struct tp_where w = {.kind = (enum tp_where_kind)k};

    free(name);
    if (k >= 0 && k <= TP_WHERE_BELOW) {
        errno = 0;
        w.number = strtoull(rest, &end, 0);
    }
    bool names = k != TP_WHERE_NAMES || tp_told_is_kind(rest);
    if (!n || k < 0 || !*rest || !names || (end && (*end || errno)))
        return refuse(r, r->line,
            "a condition is NAME all|none|above|below NUMBER, NAME has|lacks TEXT, "
            "NAME names driver|stock or NAME tells CODE, not",
            value);
    w.capture = tp_strndup(value, n);
    w.text = tp_strdup(rest);
    rule->wheres = tp_realloc(rule->wheres, rule->n_wheres + 1, sizeof w);
    rule->wheres[rule->n_wheres++] = w;
    return 0;
}

static void add_references(struct reading *r, char kind, const char *value)
{
    struct reference *ref = &TP_PUSH(r->references, r->n_references, r->cap_references);

    *ref = (struct reference){r->rules->n - 1, r->line, kind, tp_strdup(value)};
}

static void add_example(struct tp_rule *rule, const char *value, bool fires)
{
    rule->examples = tp_realloc(rule->examples, rule->n_examples + 1, sizeof *rule->examples);
    rule->examples[rule->n_examples++] =
        (struct tp_example){.text = tp_asprintf("%s\n", value), .fires = fires};
}

static int extend_example(struct reading *r, struct tp_rule *rule, const char *value, bool also)
{
    if (!rule->n_examples)
        return refuse(r, r->line, "this goes behind a yes or a no", "");
    struct tp_example *x = &rule->examples[rule->n_examples - 1];
    if (also) {
        x->also = tp_realloc(x->also, x->n_also + 1, sizeof *x->also);
        x->also[x->n_also++] = tp_strdup(value);
    } else {
        char *text = tp_asprintf("%s%s\n", x->text, value);
        free(x->text);
        x->text = text;
    }
    return 0;
}

static int set_word(struct reading *r, const char *const *names, const char *value, int *out)
{
    *out = word_of(names, value);
    return *out < 0 ? refuse(r, r->line, "this is not known", value) : 0;
}

static int take_key(struct reading *r, const char *key, const char *value)
{
    if (!strcmp(key, "rule"))
        return begin_rule(r, value);
    if (!r->rules->n)
        return refuse(r, r->line, "a rule begins with its name, not with", key);
    struct tp_rule *rule = &r->rules->list[r->rules->n - 1];
    const struct {
        const char *key;
        char **text;
    } texts[] = {{"title", &rule->title}, {"text", &rule->text}, {"fix", &rule->fix},
        {"matters", &rule->matters}, {"source", &rule->source}, {"group", &rule->group}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!strcmp(texts[i].key, key)) {
            append(texts[i].text, value);
            return 0;
        }
    }
    int word = 0, err = 0;
    if (!strcmp(key, "severity")) {
        err = set_word(r, tp_doctor_severities, value, &word);
        rule->severity = (enum tp_doctor_severity)word;
    } else if (!strcmp(key, "stage")) {
        err = set_word(r, tp_doctor_stages, value, &word);
        rule->stage = (enum tp_doctor_stage)word;
    } else if (!strcmp(key, "pattern")) {
        err = add_pattern(r, rule, value, false);
    } else if (!strcmp(key, "speaker")) {
        err = add_pattern(r, rule, value, true);
    } else if (!strcmp(key, "tag")) {
        add_tags(rule, value);
    } else if (!strcmp(key, "where")) {
        err = add_where(r, rule, value);
    } else if (!strcmp(key, "after")) {
        add_references(r, 'a', value);
    } else if (!strcmp(key, "needs")) {
        add_references(r, 'n', value);
    } else if (!strcmp(key, "without")) {
        add_references(r, 'w', value);
    } else if (!strcmp(key, "present")) {
        add_references(r, 'p', value);
    } else if (!strcmp(key, "absent")) {
        add_references(r, 'x', value);
    } else if (!strcmp(key, "shows")) {
        add_references(r, 's', value);
    } else if (!strcmp(key, "once")) {
        rule->once = true;
    } else if (!strcmp(key, "alone")) {
        rule->alone = true;
    } else if (!strcmp(key, "known")) {
        rule->known = true;
    } else if (!strcmp(key, "yes") || !strcmp(key, "no")) {
        add_example(rule, value, *key == 'y');
    } else if (!strcmp(key, "and") || !strcmp(key, "also")) {
        err = extend_example(r, rule, value, key[1] == 'l');
    } else {
        err = refuse(r, r->line, "a rule has no", key);
    }
    return err;
}

/* The rules that are meant: one, or those of a group. */
static bool meant(const struct tp_rules *rules, const char *name, struct tp_rule_set *out)
{
    bool some = false;

    *out = (struct tp_rule_set){0};
    for (unsigned i = 0; i < rules->n; i++) {
        if (strcmp(rules->list[i].id, name) != 0 && strcmp(rules->list[i].group, name) != 0)
            continue;
        tp_rule_set_add(out, i);
        some = true;
    }
    return some;
}

static void join(struct tp_rule_set *to, const struct tp_rule_set *from)
{
    for (unsigned i = 0; i < sizeof to->bits / sizeof to->bits[0]; i++)
        to->bits[i] |= from->bits[i];
}

static int resolve(struct reading *r)
{
    for (unsigned i = 0; i < r->n_references; i++) {
        const struct reference *ref = &r->references[i];
        struct tp_rule *rule = &r->rules->list[ref->rule];
        struct tp_rule_set set;
        if (!meant(r->rules, ref->name, &set))
            return refuse(r, ref->line, "there is no rule or group called", ref->name);
        if (ref->kind == 'n') {
            rule->needs = tp_realloc(rule->needs, rule->n_needs + 1, sizeof *rule->needs);
            rule->needs[rule->n_needs++] = set;
        } else {
            join(ref->kind == 'a'      ? &rule->after
                    : ref->kind == 'w' ? &rule->without
                    : ref->kind == 'p' ? &rule->present
                    : ref->kind == 's' ? &rule->shows
                                       : &rule->absent,
                &set);
        }
    }
    return 0;
}

static int check_rules(const struct reading *r)
{
    for (unsigned i = 0; i < r->rules->n; i++) {
        const struct tp_rule *rule = &r->rules->list[i];
        bool told = rule->severity != TP_DOCTOR_FACT;
        if (!rule->n_patterns && !rule->n_needs && !rule->alone)
            return refuse(r, rule->line, "nothing makes this rule fire:", rule->id);
        if (!*rule->source)
            return refuse(r, rule->line, "it is not said who writes the line of", rule->id);
        if (told &&
            (!*rule->title || !*rule->text || (rule->severity > TP_DOCTOR_NOTE && !*rule->fix)))
            return refuse(r, rule->line, "a title, a text or a fix is missing of", rule->id);
    }
    return 0;
}

static void make_words(struct tp_rules *rules)
{
    const char *words[TP_WORDS_MOST];
    size_t lens[TP_WORDS_MOST];

    for (unsigned i = 0; i < rules->n_keys; i++) {
        const struct tp_phrase *p =
            &rules->list[rules->keys[i].rule].patterns[rules->keys[i].pattern];
        words[i] = p->pieces[p->key].text;
        lens[i] = p->pieces[p->key].len;
    }
    rules->words = tp_words_create(words, lens, rules->n_keys);
}

static int take_line(struct reading *r, const char *line, size_t len)
{
    while (len > 0 && (*line == ' ' || *line == '\t'))
        line++, len--;
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == ' '))
        len--;
    if (len == 0 || *line == '#')
        return 0;
    char *key = tp_strndup(line, len), *value = key + strcspn(key, " ");
    if (*value)
        *value++ = '\0';
    int err = take_key(r, key, value);
    free(key);
    return err;
}

int tp_rules_read(const char *text, const char *file, struct tp_rules *out, struct tp_error *e)
{
    struct reading r = {.rules = out, .file = file, .e = e};
    int err = 0;

    *out = (struct tp_rules){0};
    while (*text && !err) {
        size_t n = strcspn(text, "\n");
        r.line++;
        err = take_line(&r, text, n);
        text += n + (text[n] == '\n');
    }
    if (!err)
        err = resolve(&r);
    if (!err)
        err = check_rules(&r);
    if (!err)
        make_words(out);
    for (unsigned i = 0; i < r.n_references; i++)
        free(r.references[i].name);
    free(r.references);
    return err;
}

int tp_rules_builtin(struct tp_rules *out, struct tp_error *e)
{
    struct tp_buf b = {0};

    for (const char *const *line = tp_doctor_builtin; *line; line++)
        tp_buf_adds(&b, *line);
    int r = tp_rules_read(tp_buf_str(&b), "data/doctor.rules", out, e);
    tp_buf_finish(&b);
    return r;
}

static void finish_list(char **list, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

static void finish_rule(struct tp_rule *rule)
{
    char *texts[] = {
        rule->id, rule->group, rule->title, rule->text, rule->fix, rule->matters, rule->source};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (unsigned i = 0; i < rule->n_patterns; i++)
        tp_phrase_finish(&rule->patterns[i]);
    free(rule->patterns);
    finish_list(rule->tags, rule->n_tags);
    for (unsigned i = 0; i < rule->n_wheres; i++) {
        free(rule->wheres[i].capture);
        free(rule->wheres[i].text);
    }
    free(rule->wheres);
    free(rule->needs);
    for (unsigned i = 0; i < rule->n_examples; i++) {
        free(rule->examples[i].text);
        finish_list(rule->examples[i].also, rule->examples[i].n_also);
    }
    free(rule->examples);
}

void tp_rules_finish(struct tp_rules *r)
{
    for (unsigned i = 0; i < r->n; i++)
        finish_rule(&r->list[i]);
    free(r->list);
    tp_words_destroy(r->words);
    *r = (struct tp_rules){0};
}

int tp_rules_find(const struct tp_rules *r, const char *id)
{
    for (unsigned i = 0; i < r->n; i++) {
        if (!strcmp(r->list[i].id, id))
            return (int)i;
    }
    return -1;
}
