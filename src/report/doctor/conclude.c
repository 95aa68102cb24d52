/* What the rules that fired come to: conditions among them, words, order, one verdict. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/doctor/internal.h"

/* "com.winlator (process 4242)"; without a name it may begin a sentence. */
static void add_process(struct tp_buf *b, const struct tp_process *p)
{
    bool first = b->len == 0 || (b->len > 1 && !strcmp(b->data + b->len - 2, ". "));

    if (p->name && p->pid >= 0)
        tp_buf_addf(b, "%s (process %d)", p->name, p->pid);
    else if (p->pid >= 0)
        tp_buf_addf(b, "%crocess %d", first ? 'P' : 'p', p->pid);
    else
        tp_buf_addf(b, "%c process that this log does not name", first ? 'A' : 'a');
}

/* The words of a rule, with what its line said in the place of {name}. */
static char *expand(const char *words, const struct tp_hit *h, const struct tp_process *p)
{
    struct tp_buf b = {0};

    while (*words) {
        size_t n = strcspn(words, "{"), m;
        tp_buf_add(&b, words, n);
        words += n;
        if (!*words)
            break;
        m = strcspn(words, "}");
        if (!words[m]) {
            tp_buf_adds(&b, words);
            break;
        }
        bool known = m == 8 && !strncmp(words, "{process", m);
        if (known)
            add_process(&b, p);
        for (unsigned i = 0; h && !known && i < h->n_captures; i++) {
            known = strlen(h->captures[i].name) == m - 1 &&
                !strncmp(h->captures[i].name, words + 1, m - 1);
            if (known)
                tp_buf_adds(&b, h->captures[i].text);
        }
        if (!known)
            tp_buf_addc(&b, '?');
        words += m + 1;
    }
    return tp_buf_take(&b);
}

static bool is_met(
    const struct tp_doctor *d, const struct tp_rule *rule, const struct tp_process *p)
{
    for (unsigned i = 0; i < rule->n_needs; i++) {
        if (!tp_rule_set_meets(&rule->needs[i], &p->seen))
            return false;
    }
    bool known = p->pid > 0;
    if (rule->known && !known)
        return false;
    if (known && !tp_rule_set_is_empty(&rule->shows) && !tp_rule_set_meets(&rule->shows, &p->seen))
        return false;
    return !tp_rule_set_meets(&rule->without, &p->seen) &&
        !tp_rule_set_meets(&rule->absent, &d->seen) &&
        (tp_rule_set_is_empty(&rule->present) || tp_rule_set_meets(&rule->present, &d->seen));
}

static struct tp_doctor_finding *add(const struct tp_doctor *d, struct tp_diagnosis *out,
    const struct tp_rule *rule, const struct tp_hit *h, const struct tp_process *p)
{
    struct tp_doctor_finding *f = &TP_PUSH(out->list, out->n, out->cap);

    *f = (struct tp_doctor_finding){.severity = rule->severity,
        .stage = rule->stage,
        .rule = (unsigned)(rule - d->rules->list),
        .line = h ? h->line : 0,
        .count = h ? h->count : 0,
        .pid = p->pid,
        .id = tp_strdup(rule->id),
        .process = tp_strdup(p->name ? p->name : ""),
        .quote = tp_strdup(h ? h->quote : ""),
        .title = expand(rule->title, h, p),
        .text = expand(rule->text, h, p),
        .fix = expand(rule->fix, h, p),
        .matters = tp_strdup(rule->matters),
        .source = tp_strdup(rule->source)};
    return f;
}

/* A rule without a pattern is about the processes that have the first of what it needs. */
static void add_derived(
    const struct tp_doctor *d, const struct tp_rule *rule, struct tp_diagnosis *out)
{
    bool *told = tp_calloc(d->n_processes, sizeof *told);

    for (unsigned i = 0; rule->n_needs && i < d->rules->n; i++) {
        if (!tp_rule_set_has(&rule->needs[0], i))
            continue;
        for (unsigned k = 0; k < d->hits[i].n; k++) {
            const struct tp_hit *h = &d->hits[i].list[k];
            const struct tp_process *p = &d->processes[h->process];
            if (told[h->process] || !is_met(d, rule, p))
                continue;
            told[h->process] = true;
            add(d, out, rule, h, p)->count = 1;
        }
    }
    free(told);
}

static void add_direct(const struct tp_doctor *d, unsigned number, struct tp_diagnosis *out)
{
    const struct tp_rule *rule = &d->rules->list[number];
    const struct tp_hits *hits = &d->hits[number];
    struct tp_doctor_finding *last = NULL;
    uint64_t others = hits->others;

    for (unsigned i = 0; i < hits->n; i++) {
        const struct tp_process *p = &d->processes[hits->list[i].process];
        if (!is_met(d, rule, p))
            continue;
        if (last && rule->once)
            others += hits->list[i].count;
        else
            last = add(d, out, rule, &hits->list[i], p);
    }
    if (last)
        last->others = others;
}

static int by_road(const void *a, const void *b)
{
    const struct tp_doctor_finding *x = a, *y = b;

    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static const struct tp_doctor_finding *first(
    const struct tp_diagnosis *d, enum tp_doctor_severity severity)
{
    for (size_t i = 0; i < d->n; i++) {
        if (d->list[i].severity == severity)
            return &d->list[i];
    }
    return NULL;
}

static void add_rest(struct tp_buf *b, size_t n, const char *what)
{
    if (n > 0)
        tp_buf_addf(b, ", and %zu more %s%s", n, what, n == 1 ? "" : "s");
}

static char *verdict(const struct tp_diagnosis *d)
{
    const struct tp_doctor_finding *error = first(d, TP_DOCTOR_ERROR);
    const struct tp_doctor_finding *warning = first(d, TP_DOCTOR_WARNING);
    const struct tp_doctor_finding *note = first(d, TP_DOCTOR_NOTE);
    size_t errors = tp_diagnosis_count(d, TP_DOCTOR_ERROR);
    size_t warnings = tp_diagnosis_count(d, TP_DOCTOR_WARNING);
    struct tp_buf b = {0};

    if (error) {
        tp_buf_adds(&b, error->title);
        add_rest(&b, errors - 1, "error");
        add_rest(&b, warnings, "warning");
    } else if (warning) {
        tp_buf_addf(&b, "no error; %s", warning->title);
        add_rest(&b, warnings - 1, "warning");
    } else if (note && note->stage >= TP_STAGE_BUFFERS && note->stage <= TP_STAGE_DISPLAY) {
        /* Something went wrong, with nothing of a driver of ours to be seen. */
        tp_buf_addf(&b, "no error of Turnip's or turnpike's; %s", note->title);
    } else {
        tp_buf_addf(
            &b, "nothing wrong is in this log%s%s", note ? ": " : "", note ? note->title : "");
    }
    return tp_buf_take(&b);
}

void tp_doctor_conclude(const struct tp_doctor *d, struct tp_diagnosis *out)
{
    *out = (struct tp_diagnosis){0};
    for (unsigned i = 0; i < d->rules->n; i++) {
        const struct tp_rule *rule = &d->rules->list[i];
        if (rule->severity == TP_DOCTOR_FACT || rule->alone)
            continue;
        if (rule->n_patterns)
            add_direct(d, i, out);
        else
            add_derived(d, rule, out);
    }
    bool empty = out->n == 0;
    for (unsigned i = 0; i < d->rules->n && empty; i++) {
        const struct tp_rule *rule = &d->rules->list[i];
        if (rule->alone && is_met(d, rule, &d->processes[0]))
            add(d, out, rule, NULL, &d->processes[0]);
    }
    if (out->n)
        qsort(out->list, out->n, sizeof *out->list, by_road);
    out->verdict = verdict(out);
}

size_t tp_diagnosis_count(const struct tp_diagnosis *d, enum tp_doctor_severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += d->list[i].severity == severity;
    return n;
}

void tp_diagnosis_finish(struct tp_diagnosis *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct tp_doctor_finding *f = &d->list[i];
        char *texts[] = {
            f->id, f->process, f->quote, f->title, f->text, f->fix, f->matters, f->source};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    free(d->list);
    free(d->verdict);
    *d = (struct tp_diagnosis){0};
}
