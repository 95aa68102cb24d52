/*
 * The simulated world: a game, its ICD, a compositor, the server and a panel on a virtual clock.
 * What decides is what ships: the slots and the gate of the ICD, the wire's codecs and board, the
 * server's release notes, the panel's model. Models stand in only for the game (with its GPU), the
 * compositor and the kernel (fences, sockets). The same configuration gives the same run, bit for
 * bit, on every machine.
 *
 * Tears are judged from intervals that the world keeps by itself: when a GPU writes an image, and
 * when the panel, or a compositor that composes, reads it.
 */
#ifndef TP_FRAMES_WORLD_WORLD_H
#define TP_FRAMES_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/census/metrics.h"
#include "frames/icd/slots.h"
#include "frames/pace/pace.h"

#define TP_WORLD_STORY 48u /* events that are told where an invariant broke */
#define TP_WORLD_LINE 120u
#define TP_WORLD_COMPOSE_MARGIN_NS 500000 /* a composition is drawn so long before the latch */

struct tp_world_cost {
    int64_t cpu_ns, gpu_ns;
};

enum tp_world_fault {
    TP_FAULT_LOST_NOTE,
    TP_FAULT_LATE_FENCE,
    TP_FAULT_DUP_NOTE,
    TP_FAULT_REORDER,
    TP_FAULT_TRUNCATED_FDS,
    TP_FAULT_SERVER_CRASH,
    TP_FAULT_COMPOSITOR_CRASH,
    TP_FAULT_COMPOSITOR_STALL,
    TP_FAULT_PANEL_OFF,
    TP_FAULT_REFRESH_SWITCH,
    TP_FAULT_CLOCK_JITTER,
    TP_FAULT_SLOW_READER,
    TP_FAULT_FD_EXHAUSTION,
    TP_FAULT_SILENT_FENCE, /* of the panel's; or it does not say that a picture is over */
    TP_FAULT_DVFS,
    TP_FAULTS
};
extern const char *const tp_world_fault_names[TP_FAULTS];

/* Mistakes that somebody could make. For tests: the world has to catch each of them. */
enum tp_world_bug {
    TP_BUG_NONE,
    TP_BUG_NOTE_AFTER_FLIP,     /* board and notes are written after the flip event has left */
    TP_BUG_FREE_ON_RELEASE,     /* what the compositor gives back is ready */
    TP_BUG_WAIT_AFTER_BOOKING,  /* the release is waited for once the schedule is booked */
    TP_BUG_FIRST_FREE_SLOT,     /* the first image that the compositor has given back */
    TP_BUG_FENCE_DROPPED,       /* a fence that comes is taken for none */
    TP_BUG_HANDED_OUT_AT_BOUND, /* past the bound an image goes out, whatever the server says */
    TP_BUG_RELEASED_AT_PUBLISH, /* the panel lets go of what a new picture replaces at once, be it
                                   shown or not */
    TP_BUG_NO_QUARANTINE,       /* with the server what it has on the panel is forgotten */
    TP_BUG_FENCE_LEAKED,        /* one is not closed */
    TP_BUG_FENCE_CLOSED_TWICE,
    TP_BUG_WAKEUP_LOST,          /* nobody wakes who sleeps on the board or the channel */
    TP_BUG_TWO_IN_A_REFRESH,     /* the server does not throttle */
    TP_BUG_GRID_AT_VBLANK,       /* frames start at the refresh, not at the latch before it */
    TP_BUG_BOARD_FREE_TOO_EARLY, /* the server writes free when it has the fence */
    TP_BUG_CAP_IN_MILLISECONDS,  /* the cap's interval is cut to whole ones */
    TP_BUG_WHOLE_NANOSECONDS,    /* what lies behind the point is dropped from the cap's clock */
    TP_BUG_GENERATION_IGNORED,   /* a word of the board is believed, whatever registration it is of
                                  */
    TP_BUG_DROPPED_SUCCESSOR_RELEASES, /* the panel lets go of what it shows where the next picture
                                          is dropped unshown */
    TP_BUG_RELEASED_BEFORE_READ, /* a compositor gives a client's image back as it begins to read */
    TP_BUG_FRONT_BUFFER,         /* it draws into what it shows */
    TP_BUGS
};
extern const char *const tp_world_bug_names[TP_BUGS];

/* Who decides when a frame starts. Only the gate ships; the others are there to compare it with. */
enum tp_world_policy {
    TP_POLICY_GATE,
    TP_POLICY_DIVIDER, /* every n-th refresh */
    TP_POLICY_DELAY,   /* a cap's interval after the last frame, wherever the refresh is */
};

/* Somebody who looks on. Frames come in their order, some 128 frames after they were begun, or at
 * the run's end; scan-outs come when the next one begins, or then. */
struct tp_world_result;
struct tp_world_watch {
    void (*frame)(void *data, const struct tp_frame_record *f);
    void (*scan)(void *data, const struct tp_refresh_record *s);
    /* Now and then, of a run that goes on: its slots' counts and its faults; NULL: no need. */
    void (*counts)(void *data, const struct tp_world_result *so_far);
    void *data;
    const struct tp_world_watch *next; /* another one, or NULL */
};

struct tp_world_config {
    const struct tp_world_cost *costs; /* used one after the other, again and again; borrowed */
    size_t n_costs;
    bool late_guest;    /* renders elsewhere, then acquires, copies and presents at once */
    unsigned run_ahead; /* frames that its CPU may be ahead of its GPU */
    uint32_t refresh_mhz, slowest_mhz; /* slowest: of a variable range; 0: fixed */
    struct tp_gate_settings gate;
    enum tp_world_policy policy; /* others than the gate take only its cap */
    unsigned images;             /* 2 to 64 */
    unsigned pipeline;           /* 0 to 2 */
    int64_t lead_ns, compositor_ns, callback_ns;
    /* The compositor composes: it latches a client's picture late enough for its own to be drawn in
     * this time before the panel's latch. 0: it scans the client's images out directly. */
    int64_t compose_ns;
    unsigned own_images; /* of a compositor that composes, 2 to 5; 0: 2 and the pipeline */
    bool release;              /* fences are on */
    enum tp_release_wait wait; /* CPU or GPU */
    bool no_board;             /* the server has none */
    bool early_fences; /* the panel's completions come with the latch of the next picture, before
                          the release */
    unsigned untold;   /* refreshes that the panel's pipeline is longer than it says */
    bool mailbox;      /* a newer picture takes the place of one that is not shown yet */
    enum tp_world_bug bug;
    /* This one begins after so many events; 0: never. */
    uint64_t strike_event;
    enum tp_world_fault strike;
    const struct tp_world_watch *watch; /* borrowed; NULL: nobody */
    uint64_t frames, seed;
    uint32_t per_mille[TP_FAULTS]; /* 0: it does not happen */
    unsigned late_refreshes;       /* of late-fence */
    int64_t restart_ns; /* a server that died is back before so long; 0: after 20 to 150 ms */
};
/* What `simulate` does where nothing is said, but for costs, images and frames. */
void tp_world_defaults(struct tp_world_config *c);
/* What lies between a client's picture and the refresh that latches it: the panel's lead and, of a
 * compositor that composes, its drawing and its margin. */
int64_t tp_world_lead(const struct tp_world_config *c);
/* Of a compositor that composes. */
unsigned tp_world_own_images(const struct tp_world_config *c);
/* ⌈H/T⌉: so many images hold the full rate. */
unsigned tp_world_images(const struct tp_world_config *c);
int tp_world_check(const struct tp_world_config *c, struct tp_error *e);

struct tp_world_result {
    uint64_t frames; /* distinct images shown */
    int64_t span_ns; /* from the first one's first line to the last one's */
    uint64_t tears, repeats, drops, gate_late;
    uint64_t late; /* frames that came later than the cap wanted them */
    double on_vblank, spacing_tail;
    double
        in_period; /* share of frames that are ready within a refresh of when they were to start */
    uint64_t cadence[TP_CADENCE + 1];   /* the last: that many refreshes or more */
    struct tp_spread interval, stutter, /* stutter: how much two intervals in a row differ */
        latency, acquire_wait, gate_to_start;
    double slot_wait_ns, release_wait_ns, gate_wait_ns; /* means */
    struct tp_slots_counts slots;
    uint64_t injected[TP_FAULTS];
    uint64_t events;
    int64_t now_ns;  /* of the virtual clock, at the end */
    uint64_t digest; /* of all events: equal runs have equal ones */
    /* An invariant that broke, and how it came to that; empty: none. */
    char broken[TP_WORLD_LINE];
    char blocked[TP_WORLD_LINE]; /* why the faults let it come to no end, so that it ended here */
    char story[TP_WORLD_STORY][TP_WORLD_LINE];
    unsigned n_story;
};
/* Frames a second; 0: there are too few to say. */
static inline double tp_world_fps(const struct tp_world_result *r)
{
    return r->span_ns > 0 ? (double)(r->frames - 1) / ((double)r->span_ns / 1e9) : 0;
}

/* 0: it ran, to its end, until an invariant broke or as long as its faults left hope. -EINVAL as
 * tp_world_check; -EINTR: the program was told to end (base/proc.h). */
int tp_world_run(const struct tp_world_config *c, struct tp_world_result *out, struct tp_error *e);

/* What a run says in numbers, as play and report say it. */
void tp_world_summary(
    const struct tp_world_config *c, const struct tp_world_result *r, struct tp_summary *out);

#endif
