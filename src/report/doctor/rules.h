/*
 * What the doctor knows, as data: data/doctor.rules, a text of its own format, which docs/doctor.md
 * lays down. The text is built in.
 */
#ifndef TP_REPORT_DOCTOR_RULES_H
#define TP_REPORT_DOCTOR_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/doctor/phrase.h"
#include "report/doctor/words.h"

#define TP_RULES_MOST 160u

enum tp_doctor_severity {
    TP_DOCTOR_FACT, /* told to nobody: other rules ask for it */
    TP_DOCTOR_NOTE,
    TP_DOCTOR_WARNING,
    TP_DOCTOR_ERROR,
};

/* In the order of the road. */
enum tp_doctor_stage {
    TP_STAGE_DRIVER,  /* which one was loaded, and why not another */
    TP_STAGE_MAPPER,  /* how it learns of buffers' layouts */
    TP_STAGE_BUFFERS, /* allocation, import */
    TP_STAGE_GPU,     /* the kernel's driver, the device */
    TP_STAGE_DISPLAY, /* SurfaceFlinger, queues of buffers */
    TP_STAGE_FRAMES,  /* turnpike's own ICD and server */
    TP_STAGES,
};

/* A set of rules, by their number. */
struct tp_rule_set {
    uint64_t bits[(TP_RULES_MOST + 63) / 64];
};

enum tp_where_kind {
    TP_WHERE_ALL,   /* all of these bits */
    TP_WHERE_NONE,  /* none of them */
    TP_WHERE_ABOVE, /* more than this; the capture may be a product: "width*height" */
    TP_WHERE_BELOW, /* less */
    TP_WHERE_HAS,   /* this text is in it */
    TP_WHERE_LACKS, /* it is not */
    TP_WHERE_NAMES, /* it names a driver for Adreno, or not (told.h) */
    TP_WHERE_TELLS, /* this code is told as what happened, where it is in it at all (told.h) */
};

/* What a capture must be for the line to count; "line": all of the message. */
struct tp_where {
    char *capture, *text; /* owned */
    enum tp_where_kind kind;
    uint64_t number;
};

/* Lines of an example, and what else they are an example of. */
struct tp_example {
    char *text; /* owned; several lines, each with its end */
    bool fires;
    char **also; /* ids of other rules that it fires, owned */
    unsigned n_also;
};

struct tp_rule {
    char *id, *group; /* group: "" for none */
    enum tp_doctor_severity severity;
    enum tp_doctor_stage stage;
    char *title, *text, *fix, *matters, *source; /* "" where there is none */
    struct tp_phrase *patterns; /* alternatives; none: it is told of other rules alone */
    unsigned n_patterns;
    char **tags; /* of logcat; none: any */
    unsigned n_tags;
    struct tp_where *wheres;
    unsigned n_wheres;
    /* Of the same process: `after` has one that was seen before this line; each of `needs` has one
     * that was seen at all; none of `without` was. In any process: one of `present` was seen, and
     * none of `absent`. Where the process is known, `shows` has one that was seen in it. */
    struct tp_rule_set after, without, present, absent, shows;
    struct tp_rule_set *needs;
    unsigned n_needs;
    bool once;  /* of the first process only */
    bool alone; /* only where nothing else is told */
    bool known; /* only of processes that the log tells the number of */
    struct tp_example *examples;
    unsigned n_examples;
    unsigned line; /* in the file */
};

struct tp_rules {
    struct tp_rule *list;
    unsigned n, cap;
    struct tp_words *words; /* the keys of all patterns */
    struct {
        uint16_t rule, pattern;
    } keys[TP_WORDS_MOST]; /* whose the words are */
    unsigned n_keys;
};

extern const char *const tp_doctor_severities[]; /* "fact", "note", … */
extern const char *const tp_doctor_stages[];     /* "driver", … */

/* Reads rules. file: the name for what is said of errors (status INPUT, with the line). The caller
 * finishes out, also after an error. */
int tp_rules_read(const char *text, const char *file, struct tp_rules *out, struct tp_error *e);
/* The rules that are built in. */
int tp_rules_builtin(struct tp_rules *out, struct tp_error *e);
void tp_rules_finish(struct tp_rules *r);
/* The rule with this id; -1: there is none. */
int tp_rules_find(const struct tp_rules *r, const char *id);

static inline bool tp_rule_set_has(const struct tp_rule_set *s, unsigned rule)
{
    return s->bits[rule / 64] >> rule % 64 & 1;
}
static inline void tp_rule_set_add(struct tp_rule_set *s, unsigned rule)
{
    s->bits[rule / 64] |= UINT64_C(1) << rule % 64;
}
static inline bool tp_rule_set_is_empty(const struct tp_rule_set *s)
{
    for (unsigned i = 0; i < sizeof s->bits / sizeof s->bits[0]; i++) {
        if (s->bits[i])
            return false;
    }
    return true;
}
static inline bool tp_rule_set_meets(const struct tp_rule_set *a, const struct tp_rule_set *b)
{
    for (unsigned i = 0; i < sizeof a->bits / sizeof a->bits[0]; i++) {
        if (a->bits[i] & b->bits[i])
            return true;
    }
    return false;
}

#endif
