/*
 * What a device's log shows of the road from driver to panel. Lines go in one after the other; what
 * is kept of them does not grow with the log.
 */
#ifndef TP_REPORT_DOCTOR_DOCTOR_H
#define TP_REPORT_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/doctor/lines.h"
#include "report/doctor/rules.h"

/* Of each rule the first line of so many processes is kept; the others are counted. */
#define TP_DOCTOR_HITS 8u

struct tp_doctor_finding {
    enum tp_doctor_severity severity;
    enum tp_doctor_stage stage;
    unsigned rule;   /* its number, for the order within a stage */
    uint64_t line;   /* the first; 0: of no line */
    uint64_t count;  /* how often in this process */
    uint64_t others; /* lines of further processes, which are not listed; at the last one */
    int pid;         /* -1: the log does not say it */
    /* Owned and printable; "" where there is none: no line, no name of the process. */
    char *id, *process, *quote, *title, *text, *fix, *matters, *source;
};

struct tp_diagnosis {
    struct tp_doctor_finding *list; /* in the road's order */
    size_t n, cap;
    char *verdict; /* one line */
};

struct tp_doctor;

/* rules: borrowed, until it is destroyed. Never NULL. */
struct tp_doctor *tp_doctor_create(const struct tp_rules *rules);
void tp_doctor_line(struct tp_doctor *d, const struct tp_line *line);
/* What it comes to, of all lines so far. The caller calls tp_diagnosis_finish. */
void tp_doctor_conclude(const struct tp_doctor *d, struct tp_diagnosis *out);
/* NULL is fine. */
void tp_doctor_destroy(struct tp_doctor *d);

void tp_diagnosis_finish(struct tp_diagnosis *d);
/* How many are of this severity. */
size_t tp_diagnosis_count(const struct tp_diagnosis *d, enum tp_doctor_severity severity);

#endif
