/* What the doctor keeps of a log, for doctor.c, which fills it, and conclude.c, which reads it. */
#ifndef TP_REPORT_DOCTOR_INTERNAL_H
#define TP_REPORT_DOCTOR_INTERNAL_H

#include "report/doctor/doctor.h"
#include "report/doctor/logcat.h"

#define TP_PROCESSES 4096u /* further ones are counted as one */
#define TP_CUSTOM_DRIVERS 4u

struct tp_kept {
    const char *name; /* the pattern's */
    char *text;       /* owned, printable */
};

struct tp_hit {
    unsigned process; /* its place in the list */
    uint64_t line, count;
    char *quote; /* owned, printable */
    struct tp_kept captures[TP_PHRASE_WORDS];
    unsigned n_captures;
};

struct tp_hits {
    struct tp_hit *list; /* owned, TP_DOCTOR_HITS at most */
    unsigned n, cap;
    uint64_t others;
};

struct tp_process {
    int pid;
    char *name; /* owned, printable; NULL: not said */
    /* The names of the files that it gave libadrenotools for a driver, owned; further ones take the
     * last one's place. */
    char *custom[TP_CUSTOM_DRIVERS];
    unsigned n_custom;
    struct tp_rule_set seen;
};

struct tp_doctor {
    const struct tp_rules *rules;
    struct tp_log_reader reader;
    struct tp_hits *hits;         /* by rule */
    struct tp_process *processes; /* the first is all those that are not known */
    unsigned n_processes, cap_processes;
    uint16_t *bucket;
    struct tp_rule_set seen; /* in any process */
};

/* At most so many bytes of a text that may hold anything, printable. The caller frees it. */
char *tp_clean(const char *text, size_t len, size_t most);

#endif
