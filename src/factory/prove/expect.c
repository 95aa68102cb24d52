#include "factory/prove/expect.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define BIT(verb) (1u << TP_EXPECT_##verb)
enum { ANY_VERB = BIT(IS) | BIT(HAS) | BIT(LACKS) | BIT(FROM), NUMBER_VERBS = BIT(IS) | BIT(FROM) };

static const struct subject {
    const char *word;
    enum tp_expect_subject subject;
    bool named, fielded, of_a_run;
    unsigned verbs;
} subjects[] = {
    {"fact", TP_EXPECT_FACT, true, false, true, ANY_VERB},
    {"check", TP_EXPECT_CHECK, true, false, true, BIT(IS)},
    {"call", TP_EXPECT_CALL, true, true, true, ANY_VERB},
    {"some", TP_EXPECT_SOME, true, true, true, ANY_VERB},
    {"calls", TP_EXPECT_CALLS, true, false, true, NUMBER_VERBS},
    {"sum", TP_EXPECT_SUM, true, true, true, NUMBER_VERBS},
    {"places", TP_EXPECT_PLACES, true, true, true, BIT(IS)},
    {"said", TP_EXPECT_SAID, true, false, true, NUMBER_VERBS},
    {"symbol", TP_EXPECT_SYMBOL, false, false, false, BIT(LACKS)},
    {"text", TP_EXPECT_TEXT, false, false, false, BIT(HAS) | BIT(LACKS)},
    {"chip", TP_EXPECT_CHIP, true, false, false, BIT(IS) | BIT(HAS) | BIT(LACKS)},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const char *const verbs[] = {"is", "has", "lacks", "from"};

/* The next word up to one of `stops`, or "…" in quotes; NULL at the end. Caller frees. */
static char *next_word(const char **s, const char *stops)
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
        n = strcspn(start, stops);
        *s = start + n;
    }
    return tp_strndup(start, n);
}

/* Is this the next word? Then it is taken. */
static bool take(const char **s, const char *word)
{
    const char *at = *s + strspn(*s, " ");
    size_t n = strlen(word);
    if (strncmp(at, word, n) != 0 || (at[n] && at[n] != ' '))
        return false;
    *s = at + n + strspn(at + n, " ");
    return true;
}

static int verb_of(const char *word)
{
    for (int i = 0; word && i < 4; i++) {
        if (!strcmp(word, verbs[i]))
            return i;
    }
    return -1;
}

/* GLOB[,GLOB…]; a name with spaces stands in quotes. */
static const char *parse_on(const char **s, struct tp_expect *out)
{
    do {
        char *glob = next_word(s, " ,");
        if (!glob || !*glob) {
            free(glob);
            return "a chip is missing behind on";
        }
        TP_PUSH(out->on, out->n_on, out->cap_on) = glob;
    } while (**s == ',' && ++*s && **s != ' ');
    return (*s)[-1] == ',' || (**s && **s != ' ') ? "something hangs on a chip's name" : NULL;
}

static bool is_number(const char *s)
{
    char *end;
    if (*s < '0' || *s > '9')
        return false;
    strtoull(s, &end, 0);
    return !*end;
}

/* 0,999,1999 */
static bool is_places(const char *s)
{
    long long last = -1;
    while (*s >= '0' && *s <= '9') {
        char *end;
        long long n = strtoll(s, &end, 10);
        if (n < last || (*end && *end != ','))
            return false;
        if (!*end)
            return true;
        last = n;
        s = end + 1;
    }
    return false;
}

/* What stands behind [b|p] [on …] [run … :]; NULL, or what is wrong with it. */
static const char *parse_expectation(const char *s, struct tp_expect *out)
{
    char *word = next_word(&s, " ");
    const struct subject *kind = subjects;
    while (word && kind < subjects + SUBJECTS && strcmp(word, kind->word) != 0)
        kind++;
    bool known = word && kind < subjects + SUBJECTS;
    free(word);
    if (!known)
        return "no such subject";
    out->subject = kind->subject;
    if ((out->run || out->n_on) && !kind->of_a_run)
        return "a run or a chip, and an expectation that is about the file alone,";
    if (kind->named && !(out->name = next_word(&s, " ")))
        return "a name is missing";
    if (kind->subject == TP_EXPECT_PLACES && !take(&s, "among"))
        return "among is missing";
    if (kind->fielded && !(out->field = next_word(&s, " ")))
        return "a field is missing";
    word = next_word(&s, " ");
    int verb = verb_of(word);
    free(word);
    if (verb < 0)
        return "no is, has, lacks or from";
    if (!(kind->verbs & 1u << verb))
        return "a verb that this subject does not take";
    out->verb = (enum tp_expect_verb)verb;
    s += strspn(s, " ");
    if (*s == '"')
        out->value = next_word(&s, " ");
    else if (*s)
        out->value = tp_strdup(s); /* to the end of the line */
    if (!out->value)
        return "a value is missing";
    if (kind->verbs == NUMBER_VERBS && !is_number(out->value))
        return "no number";
    if (verb == TP_EXPECT_FROM && (*out->value < '0' || *out->value > '9'))
        return "no number or version";
    if (kind->subject == TP_EXPECT_CHECK && strcmp(out->value, "ok") != 0 &&
        strcmp(out->value, "failed") != 0)
        return "neither ok nor failed";
    if (kind->subject == TP_EXPECT_PLACES && !is_places(out->value))
        return "no ascending numbers with commas between";
    return NULL;
}

int tp_expect_parse(const char *line, const char *where, struct tp_expect *out, struct tp_error *e)
{
    *out = (struct tp_expect){0};
    const char *s = line, *wrong = NULL;
    if (take(&s, "b"))
        out->variant = 'b';
    else if (take(&s, "p"))
        out->variant = 'p';
    if (take(&s, "on"))
        wrong = parse_on(&s, out);
    if (!wrong && take(&s, "run")) {
        const char *end = strstr(s, " : ");
        if (end && end > s) {
            out->run = tp_strndup(s, (size_t)(end - s));
            s = end + 3;
        } else {
            wrong = "no arguments and ' : ' behind run";
        }
    }
    if (!wrong)
        wrong = parse_expectation(s, out);
    if (!wrong)
        return 0;
    tp_expect_finish(out);
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
                   "[b|p] [on CHIP,…] [run ARGUMENTS :] fact NAME is|has|lacks|from VALUE; check ID is "
                   "ok|failed; call or some NAME FIELD is|has|lacks|from VALUE; calls NAME is|from N; sum NAME FIELD "
                   "is|from N; places NAME among NAME is N,…; said \"TEXT\" is|from N; symbol lacks "
                   "GLOB; text has|lacks \"TEXT\"; chip NAME has|lacks SETTING",
                   "%s in `proof %s`", wrong, line);
}

void tp_expect_finish(struct tp_expect *x)
{
    for (int i = 0; i < x->n_on; i++)
        free(x->on[i]);
    free(x->on);
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
    for (int i = 0; i < SUBJECTS; i++) {
        if (subjects[i].subject == x->subject)
            return subjects[i].of_a_run;
    }
    return false;
}

bool tp_expect_is_on(const struct tp_expect *x, const char *chip, const char *generation)
{
    for (int i = 0; i < x->n_on; i++) {
        if (!fnmatch(x->on[i], chip, 0) || (generation && !strcmp(x->on[i], generation)))
            return true;
    }
    return !x->n_on;
}
