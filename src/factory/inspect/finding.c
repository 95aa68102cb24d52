#include "factory/inspect/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

void tp_findings_finish(struct tp_findings *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->list[i].where);
        free(f->list[i].text);
        free(f->list[i].fix);
    }
    free(f->list);
    *f = (struct tp_findings){0};
}

static void add(struct tp_findings *f, enum tp_rule_id id, enum tp_severity severity,
                const char *where, const char *fix, const char *fmt, va_list ap)
{
    if (f->count[id]++ >= TP_FINDINGS_A_RULE)
        return;
    const struct tp_rule *rule = tp_rule_of(id);
    /* Names out of a hostile file are cut: a phrase stays one. */
    char what[2048];
    vsnprintf(what, sizeof what, fmt, ap);
    char *text = rule->why ? tp_asprintf("%s: %s", what, rule->why) : tp_strdup(what);
    TP_PUSH(f->list, f->n, f->cap) = (struct tp_finding){
        .rule = id,
        .severity = severity,
        .where = tp_printable_line(where ? where : ""),
        .text = tp_printable_line(text),
        .fix = tp_printable_line(fix ? fix : rule->fix),
    };
    free(text);
}

void tp_findings_add(struct tp_findings *f, enum tp_rule_id rule, const char *where,
                     const char *fix, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(f, rule, tp_rule_of(rule)->severity, where, fix, fmt, ap);
    va_end(ap);
}

void tp_findings_add_as(struct tp_findings *f, enum tp_rule_id rule, enum tp_severity severity,
                        const char *where, const char *fix, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(f, rule, severity, where, fix, fmt, ap);
    va_end(ap);
}

size_t tp_findings_count(const struct tp_findings *f, enum tp_severity at_least)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->list[i].severity >= at_least;
    return n;
}

bool tp_findings_has(const struct tp_findings *f, enum tp_rule_id rule)
{
    return f->count[rule] > 0;
}

size_t tp_findings_left_out(const struct tp_findings *f, enum tp_rule_id rule)
{
    return f->count[rule] > TP_FINDINGS_A_RULE ? f->count[rule] - TP_FINDINGS_A_RULE : 0;
}
