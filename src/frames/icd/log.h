/*
 * What the ICD tells people: on standard error, a line each, as "turnpike: …". TURNPIKE_LOG: a path
 * to append to instead; "0": nothing at all.
 */
#ifndef TP_FRAMES_ICD_LOG_H
#define TP_FRAMES_ICD_LOG_H

#include <stdatomic.h>

#include "base/error.h"

void tp_icd_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* With what to do about it. */
void tp_icd_log_error(const struct tp_error *e);

/* Once at this place of the program. */
#define tp_icd_log_once(...)                                                                       \
    do {                                                                                           \
        static _Atomic int tp_said_;                                                               \
        if (!atomic_exchange_explicit(&tp_said_, 1, memory_order_relaxed))                         \
            tp_icd_log(__VA_ARGS__);                                                               \
    } while (0)

#endif
