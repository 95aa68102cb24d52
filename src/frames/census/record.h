/*
 * What is kept of each frame and each scan-out, from the game to the panel: the world and the live
 * path make these records, captures hold them, metrics are computed from them. Instants are ns of
 * CLOCK_MONOTONIC, or of the world's clock; TP_NEVER: it did not come to that, or nobody knows.
 */
#ifndef TP_FRAMES_CENSUS_RECORD_H
#define TP_FRAMES_CENSUS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define TP_NEVER INT64_MIN

/* From one to the next, at a rate in thousandths of a hertz; 0: it is not known, or none. */
static inline int64_t tp_mhz_period_ns(uint32_t mhz)
{
    return mhz > 0 ? INT64_C(1000000000000) / mhz : 0;
}

/* What became of a frame: when it was so, not when somebody heard of it. */
struct tp_frame_record {
    uint64_t number; /* from 0, of its guest */
    unsigned guest, image;
    bool dropped;      /* given up, and never shown */
    bool late;         /* ready after the latch that was booked at its acquire */
    bool torn;         /* its image was written while the panel had it */
    bool variable;     /* the panel has no fixed rate */
    uint64_t repeats;  /* refreshes before its first that should have shown it by the cap */
    uint64_t sequence; /* the refresh that first showed it; counts where line_ns does */
    int64_t permitted; /* the first refresh that could have, had it waited for nothing but what it
                          had to; as sequence */
    uint32_t refresh_mhz, cap_mhz;                       /* that held for it; cap 0: none */
    int64_t begin_ns;                                    /* the guest began it */
    int64_t asked_ns;                                    /* an image was asked for */
    int64_t gate_ns;                                     /* it was to start by the gate */
    int64_t acquired_ns;                                 /* it had its image */
    int64_t slot_wait_ns, release_wait_ns, gate_wait_ns; /* what it waited for until then */
    int64_t cpu_ns,
        cpu_to_ns; /* the game's CPU works on it; a late guest's does so before it asks */
    int64_t presented_ns, returned_ns;     /* the present was called, and returned */
    int64_t elsewhere_ns, elsewhere_to_ns; /* a late guest's GPU renders, not into the image */
    int64_t write_ns, ready_ns;            /* its GPU writes the image */
    int64_t booked_ns;                     /* the latch that the gate wants it to be ready for */
    int64_t committed_ns, composed_ns; /* it went to the compositor, and that was done with it */
    int64_t published_ns;              /* it went to the panel */
    int64_t latched_ns, line_ns;       /* the panel took it, and showed its first line */
    int64_t released_ns; /* its fence signalled: the panel does not read it any more */
    int64_t told_ns;     /* the guest had the note of that fence */
};

/* So far behind the gate's instant nobody wakes who is not asleep for another reason. */
#define TP_OVERSLEPT_NS INT64_C(100000000)

/* What the gate has to answer for of a frame's gate_wait_ns: not that its process was stopped. */
static inline int64_t tp_frame_gate_wait(const struct tp_frame_record *f)
{
    bool known = f->gate_ns != TP_NEVER && f->asked_ns != TP_NEVER && f->acquired_ns != TP_NEVER;
    if (!known || f->gate_ns > f->acquired_ns || f->acquired_ns - f->gate_ns < TP_OVERSLEPT_NS)
        return f->gate_wait_ns;
    int64_t gate = f->gate_ns > f->asked_ns ? f->gate_ns - f->asked_ns : 0;
    return gate < f->gate_wait_ns ? gate : f->gate_wait_ns;
}

/* A scan-out of the panel. */
struct tp_refresh_record {
    uint64_t sequence;
    uint32_t refresh_mhz;             /* that holds; the highest, where it varies */
    int64_t latch_ns, from_ns, to_ns; /* the latch for it, its first line, its last */
    bool shows;                       /* a frame; of this guest, with this number */
    bool async_torn;                  /* another one took over in its midst, as was asked for */
    unsigned guest;
    uint64_t frame;
    int64_t torn_ns;    /* the frame's image was written, since its latch or while it is read */
    uint32_t torn_line; /* what is read at that instant; 0: before the first */
};

/* What is counted, but not found in these records. */
enum tp_counter {
    TP_COUNT_UNSAFE,
    TP_COUNT_RELEASE_WAITS,
    TP_COUNT_RELEASE_TIMEOUTS,
    TP_COUNT_SLOT_WAITS,
    TP_COUNT_NOTES_PENDING,
    TP_COUNT_NOTES_FINAL,
    TP_COUNT_NOTES_LOST,
    TP_COUNT_NOTES_RESYNCED,
    TP_COUNTERS
};
/* As captures name them. */
extern const char *const tp_counter_names[TP_COUNTERS];

#endif
