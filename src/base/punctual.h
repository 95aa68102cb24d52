/*
 * A thread that is to be awake at an instant: it sleeps until some time before, as long as its
 * wake-ups lately took, and spends the rest awake. What a sleeping processor and a timer need (tens
 * of microseconds) is then no part of what it does at the instant; the price is
 * TP_PUNCTUAL_SPARE_NS and the scatter of the wake-ups, of a core, each time.
 */
#ifndef TP_BASE_PUNCTUAL_H
#define TP_BASE_PUNCTUAL_H

#include <stdint.h>

#include "base/proc.h"

#define TP_PUNCTUAL_SPARE_NS 15000
#define TP_PUNCTUAL_MOST_NS  150000 /* never earlier than so long before */

/* All 0 at first. */
struct tp_punctual {
    int64_t late_ns; /* how late it woke lately: a running mean */
};

/* Until when to sleep for an instant (CLOCK_MONOTONIC). */
static inline int64_t tp_punctual_sleep_ns(const struct tp_punctual *p, int64_t due_ns)
{
    int64_t early = p->late_ns + TP_PUNCTUAL_SPARE_NS;
    return due_ns - (early < TP_PUNCTUAL_MOST_NS ? early : TP_PUNCTUAL_MOST_NS);
}

/* It was to sleep until asked_ns, and nothing else woke it. */
static inline void tp_punctual_woke(struct tp_punctual *p, int64_t asked_ns, int64_t woke_ns)
{
    int64_t late = woke_ns - asked_ns;
    if (late > TP_PUNCTUAL_MOST_NS)
        late = TP_PUNCTUAL_MOST_NS;
    p->late_ns += ((late > 0 ? late : 0) - p->late_ns) / 8;
}

/* Awake until then; with no lock held. */
static inline void tp_punctual_wait(int64_t due_ns)
{
    while (tp_now_ns() < due_ns)
        ;
}

#endif
