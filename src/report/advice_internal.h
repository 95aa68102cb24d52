/* What the causes of advice_*.c share. Each of them adds its finding where it is seen. */
#ifndef TP_REPORT_ADVICE_INTERNAL_H
#define TP_REPORT_ADVICE_INTERNAL_H

#include <stdio.h>
#include <string.h>

#include "report/advice.h"

struct advice {
    const struct tp_summary *sum;
    const struct tp_measures *m;
    const struct tp_setup *setup;
    const struct tp_signs *signs;
    int64_t period_ns, spacing_ns; /* of the panel; from frame to frame as it is wanted. 0: unknown */
    bool counted;                  /* what only the game's side counts is known */
    struct tp_finding *out;
    unsigned n;
};

static inline double mean(const struct tp_sign *s)
{
    return s->n > 0 ? s->sum / (double)s->n : 0;
}

static inline double share(uint64_t part, uint64_t of)
{
    return of > 0 ? (double)part / (double)of : 0;
}

static inline uint64_t count(const struct advice *a, enum tp_counter c)
{
    return a->counted ? a->sum->counts[c] : 0;
}

static inline const char *s_of(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static inline const char *es_of(uint64_t n)
{
    return n == 1 ? "" : "es";
}

static inline unsigned images_of(const struct advice *a)
{
    return a->setup->images > 0 ? a->setup->images : a->signs->most_image;
}

/* The rate is lower than it should be, by more than one frame in a hundred. */
static inline bool is_slow(const struct advice *a)
{
    return a->spacing_ns > 0 && a->m->interval.mean_ns > 1.01 * (double)a->spacing_ns;
}

static inline bool has_gate(const struct advice *a, const char *name)
{
    return strcmp(a->setup->gate, name) == 0;
}

static inline struct tp_finding *find(struct advice *a, enum tp_severity severity, const char *id,
    const char *title)
{
    struct tp_finding *f = &a->out[a->n++];
    *f = (struct tp_finding){.severity = severity};
    snprintf(f->id, sizeof f->id, "%s", id);
    snprintf(f->title, sizeof f->title, "%s", title);
    return f;
}

/* Behind what is in it already; size: of to. */
__attribute__((format(printf, 3, 4))) void advice_add(char *to, size_t size, const char *fmt, ...);

#define say(f, ...) advice_add((f)->text, sizeof(f)->text, __VA_ARGS__)
#define try(f, ...) advice_add((f)->todo, sizeof(f)->todo, __VA_ARGS__)

/* advice_release.c: images and their way back. */
void advice_tears(struct advice *a);
void advice_unsafe(struct advice *a);
void advice_timeouts(struct advice *a);
void advice_late_fences(struct advice *a);
void advice_silent_fences(struct advice *a);
void advice_lost_notes(struct advice *a);
void advice_few_images(struct advice *a);
/* advice_pace.c: when frames come. */
void advice_cap_beats(struct advice *a);
void advice_over_budget(struct advice *a);
void advice_composition(struct advice *a);
void advice_held(struct advice *a);
void advice_left_lying(struct advice *a);
void advice_gate_off(struct advice *a);
void advice_clocks(struct advice *a);
void advice_stops(struct advice *a);
void advice_rates(struct advice *a);
void advice_drops(struct advice *a);
void advice_async_tears(struct advice *a);
void advice_uneven(struct advice *a);
void advice_one_side(struct advice *a);
void advice_nothing(struct advice *a);
/* advice_still.c: a picture that does not change. */
void advice_stands_still(struct advice *a);
void advice_stood_still(struct advice *a);
/* So long did the run go on behind its last frame, where that is worth a word; else 0. */
int64_t advice_still_ns(const struct advice *a);
/* There are intervals to judge by. */
bool advice_is_judged(const struct advice *a);

#endif
