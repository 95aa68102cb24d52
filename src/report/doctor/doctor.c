#include "report/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/doctor/internal.h"
#include "report/doctor/logcat.h"
#include "report/doctor/told.h"

#define BUCKETS 8192u
#define QUOTE 400u /* bytes of a line that are kept */

struct tp_doctor *tp_doctor_create(const struct tp_rules *rules)
{
    struct tp_doctor *d = tp_calloc(1, sizeof *d);

    d->rules = rules;
    d->hits = tp_calloc(rules->n, sizeof *d->hits);
    d->bucket = tp_calloc(BUCKETS, sizeof *d->bucket);
    TP_PUSH(d->processes, d->n_processes, d->cap_processes) = (struct tp_process){TP_PID_UNKNOWN};
    return d;
}

static void finish_hit(struct tp_hit *h)
{
    free(h->quote);
    for (unsigned i = 0; i < h->n_captures; i++)
        free(h->captures[i].text);
}

static void finish_process(struct tp_process *p)
{
    free(p->name);
    for (unsigned i = 0; i < p->n_custom; i++)
        free(p->custom[i]);
}

void tp_doctor_destroy(struct tp_doctor *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < d->rules->n; i++) {
        for (unsigned k = 0; k < d->hits[i].n; k++)
            finish_hit(&d->hits[i].list[k]);
        free(d->hits[i].list);
    }
    for (unsigned i = 0; i < d->n_processes; i++)
        finish_process(&d->processes[i]);
    free(d->hits);
    free(d->processes);
    free(d->bucket);
    free(d);
}

/* --- processes --- */

/* Where a process's place in the list is kept: the last one of this number. Those that no room is
 * left for are counted as the unknown one. */
static uint16_t *bucket_of(struct tp_doctor *d, int pid)
{
    unsigned at = (unsigned)pid * 2654435761u % BUCKETS;

    while (d->bucket[at] && d->processes[d->bucket[at]].pid != pid)
        at = (at + 1) % BUCKETS;
    return &d->bucket[at];
}

static unsigned add_process(struct tp_doctor *d, uint16_t *bucket, int pid)
{
    if (d->n_processes == TP_PROCESSES)
        return 0;
    *bucket = (uint16_t)d->n_processes;
    TP_PUSH(d->processes, d->n_processes, d->cap_processes) = (struct tp_process){pid};
    return *bucket;
}

static unsigned process_of(struct tp_doctor *d, int pid)
{
    if (pid < 0)
        return 0;
    uint16_t *bucket = bucket_of(d, pid);
    return *bucket ? *bucket : add_process(d, bucket, pid);
}

/* The unknown one, where no line of it counted yet. */
static unsigned known_process(struct tp_doctor *d, int pid)
{
    return pid < 0 ? 0 : *bucket_of(d, pid);
}

/* Numbers are used again: another name is another process. */
static unsigned name_process(struct tp_doctor *d, int pid, const struct tp_captured *name)
{
    if (pid < 0)
        return 0;
    uint16_t *bucket = bucket_of(d, pid);
    unsigned at = *bucket;
    char *text = tp_clean(name->text, name->len, 100);
    if (!at || (d->processes[at].name && strcmp(d->processes[at].name, text) != 0))
        at = add_process(d, bucket, pid);
    if (at && !d->processes[at].name)
        d->processes[at].name = text;
    else
        free(text);
    return at;
}

/* --- lines --- */

char *tp_clean(const char *text, size_t len, size_t most)
{
    struct tp_buf b = {0};
    size_t n = len < most ? len : most;

    for (size_t i = 0; i < n; i++) {
        size_t run = strnlen(text + i, n - i);
        tp_buf_add(&b, text + i, run);
        i += run;
        if (i < n)
            tp_buf_adds(&b, "\\x00");
    }
    /* Not in the middle of a character. */
    if (n < len) {
        while (b.len > 0 && (b.data[b.len - 1] & 0xc0) == 0x80)
            b.len--;
        if (b.len > 0 && (b.data[b.len - 1] & 0x80))
            b.len--;
        tp_buf_adds(&b, " …");
    }
    for (size_t i = 0; i < b.len; i++) {
        if (b.data[i] == '\t')
            b.data[i] = ' ';
    }
    char *raw = tp_buf_take(&b), *shown = tp_printable_line(raw);
    free(raw);
    return shown;
}

static const struct tp_captured *captured(const struct tp_phrase_found *m, const char *name)
{
    for (unsigned i = 0; i < m->n; i++) {
        if (!strcmp(m->captured[i].name, name))
            return &m->captured[i];
    }
    return NULL;
}

/* A number as it is written: 0x is hexadecimal, and so is one with a letter in it. */
static uint64_t number_of(const struct tp_captured *c)
{
    char text[24];
    size_t n = 0;

    for (size_t i = 0; i < c->len && n < sizeof text - 1; i++) {
        if (c->text[i] != ' ')
            text[n++] = c->text[i];
    }
    text[n] = '\0';
    return strtoull(text, NULL, strpbrk(text, "abcdefABCDEFxX") ? 16 : 10);
}

/* Is it a file that this process gave libadrenotools? */
static bool is_custom(const struct tp_process *p, const struct tp_captured *c)
{
    size_t len;
    const char *name = tp_told_file(c->text, c->len, &len);

    for (unsigned i = 0; i < p->n_custom; i++) {
        if (strlen(p->custom[i]) == len && !memcmp(p->custom[i], name, len))
            return true;
    }
    return false;
}

static void keep_custom(struct tp_process *p, const struct tp_captured *c)
{
    size_t len;
    const char *name = tp_told_file(c->text, c->len, &len);

    if (is_custom(p, c) || len == 0 || len > 255 || memchr(name, '\0', len))
        return;
    if (p->n_custom == TP_CUSTOM_DRIVERS)
        free(p->custom[--p->n_custom]);
    p->custom[p->n_custom++] = tp_strndup(name, len);
}

/* "width*height": what they come to. */
static uint64_t product_of(const char *names, const struct tp_phrase_found *m)
{
    uint64_t product = 1;

    while (*names) {
        size_t n = strcspn(names, "*");
        char *name = tp_strndup(names, n);
        const struct tp_captured *c = captured(m, name);
        free(name);
        if (__builtin_mul_overflow(product, c ? number_of(c) : 0, &product))
            return UINT64_MAX;
        names += n + (names[n] == '*');
    }
    return product;
}

static bool holds(const struct tp_where *w, const struct tp_phrase_found *m,
    const struct tp_log_line *l, const struct tp_process *p)
{
    const struct tp_captured whole = {"line", l->message, l->len};
    const struct tp_captured *c = captured(m, w->capture);

    if (w->kind == TP_WHERE_ABOVE)
        return product_of(w->capture, m) > w->number;
    if (w->kind == TP_WHERE_BELOW)
        return product_of(w->capture, m) < w->number;
    if (!c && !strcmp(w->capture, whole.name))
        c = &whole;
    if (!c)
        return false;
    switch (w->kind) {
    case TP_WHERE_ALL:
        return (number_of(c) & w->number) == w->number;
    case TP_WHERE_NONE:
        return !(number_of(c) & w->number);
    case TP_WHERE_NAMES:
        return tp_told_driver(c->text, c->len, w->text) ||
            (!strcmp(w->text, "driver") && is_custom(p, c));
    case TP_WHERE_TELLS:
        return tp_told_code(c->text, c->len, w->text);
    case TP_WHERE_HAS:
        return memmem(c->text, c->len, w->text, strlen(w->text)) != NULL;
    default:
        return !memmem(c->text, c->len, w->text, strlen(w->text));
    }
}

static bool has_tag(const struct tp_rule *rule, const struct tp_log_line *l)
{
    for (unsigned i = 0; i < rule->n_tags; i++) {
        if (strlen(rule->tags[i]) == l->tag_len && !memcmp(rule->tags[i], l->tag, l->tag_len))
            return true;
    }
    return !rule->n_tags || !l->tag;
}

/* The first of a process is kept with what it says, the others are counted. */
static void add_hit(struct tp_doctor *d, unsigned rule, unsigned process,
    const struct tp_phrase_found *m, const struct tp_line *line)
{
    struct tp_hits *hits = &d->hits[rule];

    for (unsigned i = 0; i < hits->n; i++) {
        if (hits->list[i].process == process) {
            hits->list[i].count++;
            return;
        }
    }
    if (hits->n == TP_DOCTOR_HITS) {
        hits->others++;
        return;
    }
    struct tp_hit *h = &TP_PUSH(hits->list, hits->n, hits->cap);
    *h = (struct tp_hit){.process = process, .line = line->number, .count = 1};
    h->quote = tp_clean(line->text, line->len, QUOTE);
    for (unsigned i = 0; i < m->n; i++) {
        const struct tp_captured *c = &m->captured[i];
        h->captures[h->n_captures++] = (struct tp_kept){c->name, tp_clean(c->text, c->len, 160)};
    }
}

static bool matches(
    const struct tp_phrase *p, const struct tp_log_line *l, struct tp_phrase_found *m)
{
    if (!p->of_tag)
        return tp_phrase_match(p, l->message, l->len, m);
    m->n = 0;
    return l->tag && l->tag_len == p->pieces[0].len &&
        !memcmp(l->tag, p->pieces[0].text, l->tag_len);
}

static bool try_rule(struct tp_doctor *d, unsigned number, unsigned pattern,
    const struct tp_log_line *l, const struct tp_line *line)
{
    const struct tp_rule *rule = &d->rules->list[number];
    struct tp_phrase_found m;

    if (!has_tag(rule, l) || !matches(&rule->patterns[pattern], l, &m))
        return false;
    const struct tp_captured *pid = captured(&m, "pid"), *name = captured(&m, "process");
    const struct tp_captured *custom = captured(&m, "custom");
    int who = pid && pid->len < 10 ? (int)number_of(pid) : l->pid;
    unsigned process = known_process(d, who);
    for (unsigned i = 0; i < rule->n_wheres; i++) {
        if (!holds(&rule->wheres[i], &m, l, &d->processes[process]))
            return false;
    }
    process = name ? name_process(d, who, name) : process_of(d, who);
    if (custom)
        keep_custom(&d->processes[process], custom);
    if (!tp_rule_set_is_empty(&rule->after) &&
        !tp_rule_set_meets(&rule->after, &d->processes[process].seen))
        return false;
    tp_rule_set_add(&d->processes[process].seen, number);
    tp_rule_set_add(&d->seen, number);
    add_hit(d, number, process, &m, line);
    return true;
}

void tp_doctor_line(struct tp_doctor *d, const struct tp_line *line)
{
    struct tp_word_set found;
    struct tp_log_line l;
    int last = -1;

    bool some = line->len > 0 && tp_words_find(d->rules->words, line->text, line->len, &found);
    /* A header of the format long has its message behind it. */
    bool header = line->len > 0 && (*line->text == '[' || *line->text == '\033');
    if (!some && !header && !d->reader.in_long)
        return;
    if (!tp_log_read(&d->reader, line->text, line->len, &l))
        return;
    /* Of the format long the tag is on a line of its own. */
    struct tp_word_set tags;
    if (d->reader.in_long && l.tag && tp_words_find(d->rules->words, l.tag, l.tag_len, &tags)) {
        for (unsigned i = 0; i < sizeof tags.bits / sizeof tags.bits[0]; i++)
            found.bits[i] = tags.bits[i] | (some ? found.bits[i] : 0);
        some = true;
    }
    if (!some)
        return;
    for (unsigned i = 0; i < d->rules->n_keys; i++) {
        if (!(found.bits[i / 64] >> i % 64 & 1) || d->rules->keys[i].rule == last)
            continue;
        if (try_rule(d, d->rules->keys[i].rule, d->rules->keys[i].pattern, &l, line))
            last = d->rules->keys[i].rule;
    }
}
