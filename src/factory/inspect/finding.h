/* What an inspection has found, in the order of finding. */
#ifndef TP_FACTORY_INSPECT_FINDING_H
#define TP_FACTORY_INSPECT_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "factory/inspect/rules.h"

/* A hostile archive can break one rule a hundred thousand times: this many are kept of each. */
#define TP_FINDINGS_A_RULE 8

struct tp_finding {
    enum tp_rule_id rule;
    enum tp_severity severity;
    char *where; /* the entry or file it is about; "" for the whole */
    char *text;  /* what is wrong and why that matters; printable */
    char *fix;   /* what to do; printable */
};

/* {0} is an empty list; the owner calls tp_findings_finish. Read-only for others. */
struct tp_findings {
    struct tp_finding *list;
    size_t n, cap;
    size_t count[TP_RULES]; /* how often each rule was broken, those not kept included */
};

void tp_findings_finish(struct tp_findings *f);

/*
 * Adds a finding with the severity of the rule's row. where: NULL for the whole file. fix: NULL for
 * the row's own. fmt: what is wrong, a phrase without full stop; the row's `why` is appended to it.
 */
void tp_findings_add(struct tp_findings *f, enum tp_rule_id rule, const char *where,
                     const char *fix, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* As tp_findings_add, with another severity than the row's. */
void tp_findings_add_as(struct tp_findings *f, enum tp_rule_id rule, enum tp_severity severity,
                        const char *where, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* How many of this severity or graver are in the list. */
size_t tp_findings_count(const struct tp_findings *f, enum tp_severity at_least);
/* Was this rule broken? */
bool tp_findings_has(const struct tp_findings *f, enum tp_rule_id rule);
/* How many of this rule are counted but not in the list. */
size_t tp_findings_left_out(const struct tp_findings *f, enum tp_rule_id rule);

#endif
