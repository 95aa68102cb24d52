/*
 * What top shows at one moment: plain numbers of each screen and each guest, of the last seconds
 * unless it says "so far". Views and JSON are made of it, and know nothing else.
 */
#ifndef TP_TOP_SNAPSHOT_H
#define TP_TOP_SNAPSHOT_H

#include <sys/types.h>

#include "frames/census/ring.h"
#include "report/advice.h"

#define TP_TOP_GUESTS 64u /* more are not shown */
#define TP_TOP_SCREENS 8u
#define TP_TOP_STRIP 512u /* frames of the strip */
#define TP_TOP_STAYS 8u   /* refreshes for which a frame stayed; the last: or more */
#define TP_TOP_BINS 48u   /* of intervals by the millisecond; the last: longer */
#define TP_TOP_LOOKS 64u  /* at the slots */
#define TP_TOP_STATES 8u  /* enum tp_slot_state, and one for what is none */
#define TP_TOP_NAME 128u

struct tp_top_screen {
    unsigned id;
    char name[TP_TOP_NAME]; /* any bytes */
    unsigned width_px, height_px;
    uint32_t refresh_mhz, slowest_mhz; /* refresh 0: it is off; slowest 0: a fixed rate */
    unsigned pipeline;
    int64_t lead_ns;
    bool watched;                /* for tears */
    uint64_t tears, async_tears; /* since top began */
    uint64_t refreshes, fresh;   /* scan-outs, and those that showed what the one before did not */
};

/* A frame of the strip. */
struct tp_top_beat {
    int64_t interval_ns; /* to the frame before */
    unsigned stay;       /* in refreshes; 0: not known */
    bool late;           /* later than its cap wanted */
    bool torn;
};

struct tp_top_slot {
    uint8_t state; /* below TP_TOP_STATES */
    uint64_t frame;
    uint8_t looks[TP_TOP_LOOKS]; /* its states lately, the oldest first */
};

struct tp_top_guest {
    unsigned id;
    char name[TP_TOP_NAME]; /* any bytes */
    pid_t pid;              /* 0: not known */
    bool is_screen;         /* no guest told of these frames: the panel alone is known */
    bool has_gauges;        /* a ring of it is there: what follows is known */
    enum tp_gate_mode gate;
    uint32_t cap_mhz, refresh_mhz;
    unsigned images, connected; /* as in the gauges */
    bool release_fence;

    double fps;       /* of the last two seconds */
    int64_t still_ns; /* since its last frame was shown */
    bool stopped;     /* nothing came for long: fps is 0 */
    bool is_new;      /* nothing came yet, which says nothing so far */

    struct tp_summary summary; /* counts are the last seconds' as well */
    uint64_t so_far[TP_COUNTERS];
    uint64_t presented;
    int64_t window_ns; /* that these are of */
    uint64_t unheard;  /* entries of its ring that top was too late for, so far */

    unsigned n_beats; /* the oldest first */
    struct tp_top_beat beats[TP_TOP_STRIP];
    uint64_t bins[TP_TOP_BINS];

    unsigned n_slots, n_looks;
    struct tp_top_slot slots[TP_RING_SLOTS];
    uint64_t states[TP_TOP_STATES]; /* looks at a slot that found this state */

    unsigned n_findings;
    struct tp_finding findings[TP_FINDINGS];
    struct tp_verdict verdict;
};

struct tp_top_snapshot {
    int64_t now_ns;
    unsigned n_screens, n_guests;
    unsigned more_guests; /* that there was no room for */
    struct tp_top_screen screens[TP_TOP_SCREENS];
    const struct tp_top_guest *guests[TP_TOP_GUESTS]; /* the model's */
};

/* "ready", "acquired" and so on; static. state: below TP_TOP_STATES. */
const char *tp_top_state_name(unsigned state);

#endif
