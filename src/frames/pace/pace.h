/*
 * The gate: when a swapchain's next frame starts. One for each swapchain, pure: knows no clock, no
 * swapchain, no socket; callers bring instants (CLOCK_MONOTONIC, ns) and do the sleeping. The same
 * object runs in the ICD and in the simulated world. Not for two threads at once.
 *
 * In an acquire: the slot's release is learnt, then tp_gate_plan says when the frame may start,
 * which is max(grid, release), the caller sleeps until then, and tp_gate_book notes when it did
 * start. Nothing is noted before, so an acquire that gives up leaves no trace; nothing blocks
 * afterwards. What the frame then did comes in by tp_gate_presented, _ready and _shown, in any
 * order, late, or not at all: they only sharpen what is planned next.
 *
 * An instant that was planned is final: the caller never waits for a refresh, only for a clock.
 * icd/slots_acquire.h does all this in the right order.
 */
#ifndef TP_FRAMES_PACE_PACE_H
#define TP_FRAMES_PACE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/pace/vblank.h"
#include "frames/wire/scanout.h"

struct tp_gate;

struct tp_gate_settings {
    enum tp_gate_mode mode;
    uint32_t cap_mhz; /* 0: none. Mode off leaves it alone */
};

/* -EINVAL: mode cap without a cap; no such mode. A gate is made with these, and may be given others
 * at any time: they hold from the next plan on. */
int tp_gate_check(const struct tp_gate_settings *s);
/* -ENOMEM besides. */
int tp_gate_create(const struct tp_gate_settings *s, struct tp_gate **out);
/* NULL is fine. */
void tp_gate_destroy(struct tp_gate *g);
int tp_gate_set(struct tp_gate *g, const struct tp_gate_settings *s);
struct tp_gate_settings tp_gate_get(const struct tp_gate *g);

/* The server's timeline, of the output that this swapchain is on. Without any the gate paces by a
 * cap alone. True: the grid is another one now (a switch of the rate, a screen that goes off or
 * on), and an acquire that sleeps until an instant of the one before is to be woken: its next step
 * plans anew. */
bool tp_gate_timeline(struct tp_gate *g, const struct tp_timeline_frame *t);
/* The same where there is no server, by a compositor's feedback. What lies between a latch and the
 * first line is assumed there, and learnt from tp_gate_shown. */
bool tp_gate_feedback(struct tp_gate *g, const struct tp_timeline_frame *t);
const struct tp_vblank *tp_gate_vblank(const struct tp_gate *g);
/* The connection is gone: paces by period alone until the next frame of the timeline. */
void tp_gate_untimed(struct tp_gate *g);

struct tp_gate_plan {
    int64_t asked_ns;
    int64_t start_ns; /* may be past: start at once */
    int64_t grid_ns;  /* what the grid, the cap or latency ask for; INT64_MIN: nothing */
    int64_t release_ns;
    /* The gate's own. */
    int64_t latch_index;
    tp_fine clock;
    bool on_grid, on_time; /* on_time: at an instant that belongs to its latch */
};

/*
 * When the next frame may start. asked_ns: when the guest asked for it; now, or earlier where it
 * waited for its image or this is planned again. release_ns: when its image is or will be free,
 * INT64_MIN: it is. gpu: the GPU waits for the release, and the CPU's part of the frame may come
 * before it. Changes nothing.
 */
void tp_gate_plan(const struct tp_gate *g, int64_t asked_ns, int64_t now_ns, int64_t release_ns,
    bool gpu, struct tp_gate_plan *out);
/* The frame of this plan starts, now; with a wait of the GPU's, the effective start is taken from
 * the plan. Answers the frame's id, which is never 0. */
uint64_t tp_gate_book(struct tp_gate *g, const struct tp_gate_plan *p, int64_t now_ns);
/* It gave its image back and will not be presented. */
void tp_gate_abandon(struct tp_gate *g, uint64_t frame);
/* The guest presented it; the call came at entry_ns and returns at return_ns. */
void tp_gate_presented(struct tp_gate *g, uint64_t frame, int64_t entry_ns, int64_t return_ns);
/*
 * When the present of that frame, which tp_gate_presented was told of now, is to return; INT64_MIN:
 * at once. A late guest begins its next frame with that: in the mode latency it is held, as an
 * early one is in its acquire. The caller waits with no lock held, and returns then.
 */
int64_t tp_gate_hold(struct tp_gate *g, uint64_t frame, int64_t now_ns);
/* Its picture was complete: its last fence signalled. */
void tp_gate_ready(struct tp_gate *g, uint64_t frame, int64_t ready_ns);
/* Its first line was shown. */
void tp_gate_shown(struct tp_gate *g, uint64_t frame, int64_t first_line_ns);

/* A frame's life, for the present, captures and `top`. False: too long ago, or none. */
struct tp_gate_frame {
    uint64_t id;
    int64_t begin_ns; /* when the guest began it: its start; a late guest's, the return of the
                         present before */
    int64_t gate_ns;  /* max(grid, release), or when it was asked for: when it was to start */
    int64_t start_ns; /* when it did */
    int64_t latch_ns; /* the latch that was booked; INT64_MAX: without a grid */
    /* It is to go to the compositor no earlier: one that was given several refreshes and did not
     * need them would be shown too early. INT64_MIN, or past: at once. Nobody waits for that but
     * whoever presents; the guest does not. */
    int64_t commit_ns;
    int64_t entry_ns, return_ns, ready_ns, shown_ns; /* INT64_MIN: not known */
};
bool tp_gate_frame(const struct tp_gate *g, uint64_t frame, struct tp_gate_frame *out);

struct tp_gate_counts {
    uint64_t frames;    /* booked */
    uint64_t judged;    /* of these, became ready */
    uint64_t gate_late; /* and after the latch that was booked */
    int64_t cost_ns;    /* the estimate in use, from acquire to ready; 0: none yet */
    bool late_guest;    /* renders first, acquires then */
};
void tp_gate_counts(const struct tp_gate *g, struct tp_gate_counts *out);

#endif
