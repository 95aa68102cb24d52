/* The one clock of the frame path. */
#ifndef TP_FRAMES_ICD_CLOCK_H
#define TP_FRAMES_ICD_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, ns. */
static inline int64_t tp_icd_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
