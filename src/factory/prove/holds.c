/* Expectations held against what was seen. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "factory/prove/expect.h"

/* Registers that the simulator watches without asking, by Mesa's names (a6xx.xml). */
static const struct {
    const char *name;
    uint64_t number;
} registers[] = {
    {"SP_VS_CTRL_REG0", 0xa800},     {"SP_HS_CTRL_REG0", 0xa830}, {"SP_DS_CTRL_REG0", 0xa840},
    {"SP_GS_CTRL_REG0", 0xa870},     {"SP_FS_CTRL_REG0", 0xa980}, {"SP_CS_CTRL_REG0", 0xa9b0},
    {"TPL1_DBG_ECO_CNTL1", 0xb602},  {"GRAS_BIN_CONTROL", 0x80a1}, {"RB_BIN_CONTROL", 0x8800},
    {"RB_RENDER_CNTL", 0x8801},
};

static const char *const verbs[] = {"is", "has", "lacks", "from"};

static bool number_in(const char *s, uint64_t *out)
{
    char *end;
    if (!s || *s < '0' || *s > '9')
        return false;
    *out = strtoull(s, &end, 0);
    return !*end;
}

/* A number, as JSON has it or as text: the log writes "0x…" where JSON's numbers are too small. */
static bool number_of(const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value))
        return number_in(json_string_value(value), out);
    *out = (uint64_t)json_integer_value(value);
    return true;
}

bool tp_expect_knows_register(const char *name)
{
    size_t i = 0, n = sizeof registers / sizeof *registers;
    while (i < n && strcmp(registers[i].name, name) != 0)
        i++;
    return i < n;
}

/* The element of a list of registers that is about this one. */
static const json_t *of_register(const json_t *list, const char *key)
{
    uint64_t wanted, number;
    size_t i = 0, n = sizeof registers / sizeof *registers;
    while (i < n && strcmp(registers[i].name, key) != 0)
        i++;
    if (i < n)
        wanted = registers[i].number;
    else if (!number_in(key, &wanted))
        return NULL;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (number_of(json_object_get(item, "register"), &number) && number == wanted)
            return item;
    }
    return NULL;
}

/* "drm.has_render" looks into an object, "registers.SP_FS_CTRL_REG0.ever" into a list of registers. */
static const json_t *member(const json_t *object, const char *path)
{
    while (object && *path) {
        char *key = tp_strndup(path, strcspn(path, "."));
        object = json_is_array(object) ? of_register(object, key) : json_object_get(object, key);
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
    char *copy = tp_strdup(s ? s : "nothing");
    free(s);
    return copy;
}

/* 1.4.305 is not before 1.3; a number is a version of one part. */
static bool is_from(const char *have, const char *wanted)
{
    uint64_t a, b;
    if (number_in(have, &a) && number_in(wanted, &b))
        return a >= b;
    while (*wanted) {
        char *end_have, *end_wanted;
        unsigned long x = strtoul(have, &end_have, 10), y = strtoul(wanted, &end_wanted, 10);
        if (end_have == have)
            return false;
        if (x != y)
            return x > y;
        have = end_have + (*end_have == '.');
        wanted = end_wanted + (*end_wanted == '.');
        if (wanted == end_wanted)
            break;
    }
    return true;
}

static bool list_has(const json_t *list, const char *wanted)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item) && !strcmp(json_string_value(item), wanted))
            return true;
    }
    return false;
}

static bool compare(enum tp_expect_verb verb, const json_t *value, const char *wanted)
{
    uint64_t have, want;
    if (json_is_array(value))
        return list_has(value, wanted) == (verb != TP_EXPECT_LACKS);
    if (number_in(wanted, &want) && number_of(value, &have)) {
        switch (verb) {
        case TP_EXPECT_IS:
            return have == want;
        case TP_EXPECT_HAS:
            return want && (have & want) == want;
        case TP_EXPECT_LACKS:
            return !(have & want);
        case TP_EXPECT_FROM:
            return have >= want;
        }
    }
    char *text = text_of(value);
    bool holds = verb == TP_EXPECT_IS   ? !strcmp(text, wanted) :
                 verb == TP_EXPECT_FROM ? is_from(text, wanted) :
                                          (strstr(text, wanted) != NULL) == (verb == TP_EXPECT_HAS);
    free(text);
    return holds;
}

static bool count_holds(const struct tp_expect *x, uint64_t n)
{
    uint64_t wanted = 0;
    number_in(x->value, &wanted);
    return x->verb == TP_EXPECT_FROM ? n >= wanted : n == wanted;
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

static bool check_holds(const struct tp_expect *x, const json_t *checks, char **detail)
{
    size_t i;
    const json_t *check;
    json_array_foreach(checks, i, check)
    {
        const char *id = json_string_value(json_object_get(check, "id"));
        if (!id || strcmp(id, x->name) != 0)
            continue;
        bool ok = json_is_true(json_object_get(check, "ok"));
        const char *why = json_string_value(json_object_get(check, "detail"));
        *detail = tp_asprintf("%s %s%s%s", id, ok ? "holds" : "fails", why && *why ? ": " : "",
                              why ? why : "");
        return ok == !strcmp(x->value, "ok");
    }
    *detail = tp_asprintf("there was no check %s", x->name);
    return false;
}

static bool is_call(const json_t *line, const char *name)
{
    const char *call = json_string_value(json_object_get(line, "call"));
    return call && !strcmp(call, name);
}

static bool calls_hold(const struct tp_expect *x, const json_t *calls, char **detail)
{
    size_t i, n = 0, right = 0;
    const json_t *line, *value;
    json_array_foreach(calls, i, line)
    {
        if (!is_call(line, x->name) || !(value = member(line, x->field)))
            continue;
        n++;
        right += compare(x->verb, value, x->value);
    }
    *detail = tp_asprintf("%zu of %zu calls of %s: %s %s %s", right, n, x->name, x->field,
                          verbs[x->verb], x->value);
    return right > 0 && (x->subject == TP_EXPECT_SOME || right == n);
}

static bool sum_holds(const struct tp_expect *x, const json_t *calls, char **detail)
{
    size_t i, n = 0;
    uint64_t sum = 0, one = 0;
    const json_t *line;
    json_array_foreach(calls, i, line)
    {
        if (!is_call(line, x->name) || (x->field && !number_of(member(line, x->field), &one)))
            continue;
        n++;
        sum += one;
    }
    if (!x->field) { /* a log without a line was not written: that proves nothing */
        *detail = tp_asprintf("%zu calls of %s", n, x->name);
        return json_array_size(calls) && count_holds(x, n);
    }
    *detail = tp_asprintf("%s of %zu calls of %s: %llu in all", x->field, n, x->name,
                          (unsigned long long)sum);
    return n > 0 && count_holds(x, sum);
}

/* A context's life: from its first line to DRAWCTXT_DESTROY. */
struct life {
    json_int_t pid, context;
    uint64_t others;      /* so many of the other call went by */
    struct tp_buf places; /* "0,999" */
    bool over;
};

static struct life *life_of(struct life **lives, int *n, int *cap, const json_t *line)
{
    json_int_t pid = json_integer_value(json_object_get(line, "pid"));
    json_int_t context = json_integer_value(json_object_get(line, "context"));
    for (int i = 0; i < *n; i++) {
        struct life *one = &(*lives)[i];
        if (!one->over && one->pid == pid && one->context == context)
            return one;
    }
    TP_PUSH(*lives, *n, *cap) = (struct life){.pid = pid, .context = context};
    return &(*lives)[*n - 1];
}

/* Is it at the places that such a life has come to? One that is due before the next of the other
 * calls is not yet. */
static bool is_at_places(const char *wanted, const struct life *l)
{
    struct tp_buf due = {0};
    for (const char *s = wanted; *s;) {
        char *end;
        uint64_t place = strtoull(s, &end, 10);
        if (!place || place < l->others)
            tp_buf_addf(&due, "%s%.*s", due.len ? "," : "", (int)(end - s), s);
        s = end + (*end == ',');
    }
    bool same = !strcmp(tp_buf_str(&due), tp_buf_str(&l->places));
    tp_buf_finish(&due);
    return same;
}

static bool places_hold(const struct tp_expect *x, const json_t *calls, char **detail)
{
    struct life *lives = NULL;
    int n = 0, cap = 0, wrong = -1;
    size_t i;
    const json_t *line;
    json_array_foreach(calls, i, line)
    {
        bool is_one = is_call(line, x->name), is_other = is_call(line, x->field);
        bool ends = is_call(line, "DRAWCTXT_DESTROY");
        if ((!is_one && !is_other && !ends) || !json_object_get(line, "context"))
            continue;
        struct life *l = life_of(&lives, &n, &cap, line);
        if (is_one)
            tp_buf_addf(&l->places, "%s%llu", l->places.len ? "," : "",
                        (unsigned long long)l->others);
        l->others += is_other;
        l->over = ends;
    }
    for (int k = 0; k < n && wrong < 0; k++)
        wrong = is_at_places(x->value, &lives[k]) ? -1 : k;
    if (wrong >= 0)
        *detail = tp_asprintf("%s at %s of %llu %s of context %lld", x->name,
                              lives[wrong].places.len ? tp_buf_str(&lives[wrong].places) : "none",
                              (unsigned long long)lives[wrong].others, x->field,
                              (long long)lives[wrong].context);
    else
        *detail = tp_asprintf("%s among %s at %s, in %d contexts", x->name, x->field, x->value, n);
    for (int k = 0; k < n; k++)
        tp_buf_finish(&lives[k].places);
    free(lives);
    return n > 0 && wrong < 0;
}

static bool said_holds(const struct tp_expect *x, const char *said, char **detail)
{
    uint64_t n = 0;
    for (const char *s = said; *x->name && s && (s = strstr(s, x->name)); s += strlen(x->name))
        n++;
    *detail = tp_asprintf("\"%s\" was said %llu times", x->name, (unsigned long long)n);
    return said && count_holds(x, n);
}

static bool symbols_hold(const struct tp_expect *x, const struct tp_elf *elf, char **detail)
{
    for (size_t i = 0; elf && i < elf->n_symbols; i++) {
        const struct tp_elf_symbol *s = &elf->symbols[i];
        if (s->undefined && !s->weak && fnmatch(x->value, s->name, 0) == 0) {
            *detail = tp_asprintf("it needs %s", s->name);
            return false;
        }
    }
    *detail = tp_asprintf("it needs no %s", x->value);
    return elf != NULL;
}

static bool chip_holds(const struct tp_expect *x, const json_t *note, char **detail)
{
    size_t i;
    const json_t *chip;
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
    *detail = known ? tp_asprintf("%s %s %s", x->name,
                                  (x->verb == TP_EXPECT_LACKS) == all ? "lacks" : "has", x->value) :
                      tp_asprintf("there is no %s in the driver's table", x->name);
    return known && all;
}

static bool text_holds(const struct tp_expect *x, const struct tp_seen *seen, char **detail)
{
    bool there =
        seen->file && memmem(seen->file, seen->file_len, x->value, strlen(x->value)) != NULL;
    *detail = tp_asprintf("the file %s \"%s\"", there ? "has" : "lacks", x->value);
    return seen->file && there == (x->verb != TP_EXPECT_LACKS);
}

bool tp_expect_holds(const struct tp_expect *x, const struct tp_seen *seen, char **detail)
{
    switch (x->subject) {
    case TP_EXPECT_FACT:
        return fact_holds(x, seen->facts, detail);
    case TP_EXPECT_CHECK:
        return check_holds(x, seen->checks, detail);
    case TP_EXPECT_CALL:
    case TP_EXPECT_SOME:
        return calls_hold(x, seen->calls, detail);
    case TP_EXPECT_CALLS:
    case TP_EXPECT_SUM:
        return sum_holds(x, seen->calls, detail);
    case TP_EXPECT_PLACES:
        return places_hold(x, seen->calls, detail);
    case TP_EXPECT_SAID:
        return said_holds(x, seen->said, detail);
    case TP_EXPECT_SYMBOL:
        return symbols_hold(x, seen->elf, detail);
    case TP_EXPECT_TEXT:
        return text_holds(x, seen, detail);
    case TP_EXPECT_CHIP:
        return chip_holds(x, seen->note, detail);
    }
    return false;
}
