#include "factory/prove/expect.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static const struct {
    const char *word;
    enum tp_expect_subject subject;
    bool named;
} subjects[] = {
    {"fact", TP_EXPECT_FACT, true},      {"call", TP_EXPECT_CALL, true},
    {"symbol", TP_EXPECT_SYMBOL, false}, {"text", TP_EXPECT_TEXT, false},
    {"chip", TP_EXPECT_CHIP, true},      {"sum", TP_EXPECT_SUM, true},
};

static const char *const verbs[] = {"is", "has", "lacks"};

/* The next word, or "…" in quotes; NULL at the end. Caller frees. */
static char *next_word(const char **s)
{
    *s += strspn(*s, " ");
    if (!**s)
        return NULL;
    const char *start = *s;
    size_t n;
    if (*start == '"') {
        n = strcspn(++start, "\"");
        *s = start + n + (start[n] == '"');
    } else {
        n = strcspn(start, " ");
        *s = start + n;
    }
    return tp_strndup(start, n);
}

static int refuse(const char *where, const char *line, const char *what, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
                   "[b|p] [run ARGUMENTS :] fact NAME is|has|lacks VALUE; call NAME FIELD "
                   "is|has|lacks VALUE; sum NAME FIELD is N; symbol lacks GLOB; text has|lacks "
                   "\"TEXT\"; chip NAME has|lacks SETTING",
                   "%s in `proof %s`", what, line);
}

static int verb_of(const char *word)
{
    for (int i = 0; word && i < 3; i++) {
        if (!strcmp(word, verbs[i]))
            return i;
    }
    return -1;
}

int tp_expect_parse(const char *line, const char *where, struct tp_expect *out, struct tp_error *e)
{
    *out = (struct tp_expect){0};
    const char *s = line;
    if ((*s == 'b' || *s == 'p') && s[1] == ' ') {
        out->variant = *s;
        s += 2;
    }
    if (!strncmp(s, "run ", 4)) {
        const char *end = strstr(s, " : ");
        if (!end || end < s + 4)
            return refuse(where, line, "no arguments and ' : ' behind run", e);
        out->run = tp_strndup(s + 4, (size_t)(end - s) - 4);
        s = end + 3;
    }
    char *word = next_word(&s);
    size_t i = 0, n = sizeof subjects / sizeof *subjects;
    while (word && i < n && strcmp(word, subjects[i].word) != 0)
        i++;
    if (!word || i == n) {
        free(word);
        tp_expect_finish(out);
        return refuse(where, line, "no such subject", e);
    }
    out->subject = subjects[i].subject;
    free(word);
    if (subjects[i].named && !(out->name = next_word(&s))) {
        tp_expect_finish(out);
        return refuse(where, line, "a name is missing", e);
    }
    bool fielded = out->subject == TP_EXPECT_CALL || out->subject == TP_EXPECT_SUM;
    if (fielded && !(out->field = next_word(&s))) {
        tp_expect_finish(out);
        return refuse(where, line, "a field is missing", e);
    }
    word = next_word(&s);
    int verb = verb_of(word);
    free(word);
    s += strspn(s, " ");
    if (verb >= 0 && *s == '"')
        out->value = next_word(&s);
    else if (verb >= 0 && *s)
        out->value = tp_strdup(s); /* to the end of the line */
    if (!out->value) {
        tp_expect_finish(out);
        return refuse(where, line, verb < 0 ? "no is, has or lacks" : "a value is missing", e);
    }
    out->verb = (enum tp_expect_verb)verb;
    return 0;
}

void tp_expect_finish(struct tp_expect *x)
{
    free(x->run);
    free(x->name);
    free(x->field);
    free(x->value);
    *x = (struct tp_expect){0};
}

void tp_expect_split_run(const struct tp_expect *x, struct tp_client_words *out)
{
    int n = 0, m = 0;
    *out = (struct tp_client_words){.text = tp_strdup(x->run)};
    for (char *word = strtok(out->text, " "); word && n < TP_CLIENT_WORDS && m < TP_CLIENT_WORDS;
         word = strtok(NULL, " ")) {
        if (word[0] != '-' && strchr(word, '='))
            out->env[m++] = word;
        else
            out->arguments[n++] = word;
    }
}

void tp_client_words_finish(struct tp_client_words *w)
{
    free(w->text);
    *w = (struct tp_client_words){0};
}

bool tp_expect_needs_run(const struct tp_expect *x)
{
    return x->subject == TP_EXPECT_FACT || x->subject == TP_EXPECT_CALL ||
           x->subject == TP_EXPECT_SUM;
}

/* "drm.has_render" looks into an object. */
static const json_t *member(const json_t *object, const char *path)
{
    while (object && *path) {
        char *key = tp_strndup(path, strcspn(path, "."));
        object = json_object_get(object, key);
        free(key);
        path += strcspn(path, ".");
        path += *path == '.';
    }
    return object;
}

static char *text_of(const json_t *value)
{
    if (json_is_string(value))
        return tp_strdup(json_string_value(value));
    char *s = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (!s)
        return tp_strdup("nothing");
    char *copy = tp_strdup(s);
    free(s);
    return copy;
}

/* A number, as JSON has it or as text: the log writes "0x…" where JSON's numbers are too small. */
static bool number_of(const json_t *value, uint64_t *out)
{
    if (json_is_integer(value)) {
        *out = (uint64_t)json_integer_value(value);
        return true;
    }
    const char *s = json_string_value(value);
    char *end;
    if (!s || *s < '0' || *s > '9')
        return false;
    *out = strtoull(s, &end, 0);
    return !*end;
}

static bool compare(enum tp_expect_verb verb, const json_t *value, const char *wanted)
{
    uint64_t have, want = 0;
    char *end = NULL;
    bool numeric = *wanted >= '0' && *wanted <= '9' && (want = strtoull(wanted, &end, 0), !*end) &&
                   number_of(value, &have);
    if (numeric && verb != TP_EXPECT_IS) {
        bool all = (have & want) == want && want;
        return verb == TP_EXPECT_HAS ? all : !(have & want);
    }
    if (numeric)
        return have == want;
    bool holds = false;
    if (json_is_array(value)) {
        size_t i;
        json_t *item;
        json_array_foreach(value, i, item)
            holds = holds || (json_is_string(item) && !strcmp(json_string_value(item), wanted));
        return verb == TP_EXPECT_LACKS ? !holds : holds;
    }
    char *text = text_of(value);
    holds = verb == TP_EXPECT_IS ? !strcmp(text, wanted) : strstr(text, wanted) != NULL;
    free(text);
    return verb == TP_EXPECT_LACKS ? !holds : holds;
}

static bool fact_holds(const struct tp_expect *x, const json_t *facts, char **detail)
{
    const json_t *value = member(facts, x->name);
    if (!value) {
        *detail = tp_asprintf("the client saw no %s", x->name);
        return false;
    }
    bool holds = compare(x->verb, value, x->value);
    if (json_is_array(value)) {
        *detail = tp_asprintf("%s of %zu %s %s", x->name, json_array_size(value),
                              (x->verb == TP_EXPECT_LACKS) == holds ? "lack" : "have", x->value);
    } else {
        char *text = text_of(value);
        *detail = tp_asprintf("%s is %.200s", x->name, text);
        free(text);
    }
    return holds;
}

static bool calls_hold(const struct tp_expect *x, const json_t *calls, char **detail)
{
    size_t i, n = 0, right = 0;
    json_t *line;
    json_array_foreach(calls, i, line)
    {
        const char *name = json_string_value(json_object_get(line, "call"));
        if (!name || strcmp(name, x->name) != 0)
            continue;
        n++;
        right += compare(x->verb, json_object_get(line, x->field), x->value);
    }
    *detail = tp_asprintf("%zu of %zu calls of %s: %s %s %s", right, n, x->name, x->field,
                          verbs[x->verb], x->value);
    return n > 0 && right == n;
}

static bool sum_holds(const struct tp_expect *x, const json_t *calls, char **detail)
{
    size_t i, n = 0;
    uint64_t sum = 0, one;
    json_t *line;
    json_array_foreach(calls, i, line)
    {
        const char *name = json_string_value(json_object_get(line, "call"));
        if (!name || strcmp(name, x->name) != 0 || !number_of(json_object_get(line, x->field), &one))
            continue;
        n++;
        sum += one;
    }
    *detail = tp_asprintf("%s of %zu calls of %s: %llu in all", x->field, n, x->name,
                          (unsigned long long)sum);
    return n > 0 && sum == strtoull(x->value, NULL, 0);
}

static bool symbols_hold(const struct tp_expect *x, const struct tp_elf *elf, char **detail)
{
    for (size_t i = 0; elf && i < elf->n_symbols; i++) {
        const struct tp_elf_symbol *s = &elf->symbols[i];
        if (s->undefined && !s->weak && fnmatch(x->value, s->name, 0) == 0) {
            *detail = tp_asprintf("it needs %s", s->name);
            return x->verb != TP_EXPECT_LACKS;
        }
    }
    *detail = tp_asprintf("it needs no %s", x->value);
    return elf && x->verb == TP_EXPECT_LACKS;
}

static bool chip_holds(const struct tp_expect *x, const json_t *note, char **detail)
{
    size_t i;
    json_t *chip;
    bool known = false, all = true;
    json_array_foreach(json_object_get(note, "chips"), i, chip)
    {
        const char *name = json_string_value(json_object_get(chip, "name"));
        if (!name || strcmp(name, x->name) != 0)
            continue;
        known = true;
        all = all && compare(x->verb == TP_EXPECT_IS ? TP_EXPECT_HAS : x->verb,
                             json_object_get(chip, "quirks"), x->value);
    }
    *detail = known ? tp_asprintf("%s %s %s", x->name, (x->verb == TP_EXPECT_LACKS) == all ? "lacks" : "has",
                                  x->value) :
                      tp_asprintf("there is no %s in the driver's table", x->name);
    return known && all;
}

bool tp_expect_holds(const struct tp_expect *x, const struct tp_seen *seen, char **detail)
{
    switch (x->subject) {
    case TP_EXPECT_FACT:
        return fact_holds(x, seen->facts, detail);
    case TP_EXPECT_CALL:
        return calls_hold(x, seen->calls, detail);
    case TP_EXPECT_SUM:
        return sum_holds(x, seen->calls, detail);
    case TP_EXPECT_SYMBOL:
        return symbols_hold(x, seen->elf, detail);
    case TP_EXPECT_TEXT: {
        bool there = seen->file &&
                     memmem(seen->file, seen->file_len, x->value, strlen(x->value)) != NULL;
        *detail = tp_asprintf("the file %s \"%s\"", there ? "has" : "lacks", x->value);
        return seen->file && there == (x->verb != TP_EXPECT_LACKS);
    }
    case TP_EXPECT_CHIP:
        return chip_holds(x, seen->note, detail);
    }
    return false;
}
