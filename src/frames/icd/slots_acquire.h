/*
 * An acquire from call to end: choose the slot, learn its release, start = max(grid, release),
 * sleep to it, book from the actual start, return. Pure: each step says what to wait for, the
 * caller waits and calls again. Until its last step it changes nothing but counters: an acquire
 * that ends without an image leaves slots, fences and schedule as they were.
 *
 *     tp_acquire_begin(&a, slots, gate, tp_now_ns(), timeout);
 *     do {
 *         take what the compositor says; then what the channel says; tell the gate which frames
 *         are ready
 *         end = tp_acquire_step(&a, tp_now_ns(), &wait, &image);
 *         if (end == TP_ACQUIRE_WAIT)
 *             sleep, with no lock, until something of wait
 *     } while (end == TP_ACQUIRE_WAIT);
 */
#ifndef TP_FRAMES_ICD_SLOTS_ACQUIRE_H
#define TP_FRAMES_ICD_SLOTS_ACQUIRE_H

#include "frames/icd/slots.h"
#include "frames/pace/pace.h"

enum tp_acquire_end {
    TP_ACQUIRE_TAKEN, /* VK_SUCCESS, or VK_SUBOPTIMAL_KHR */
    TP_ACQUIRE_WAIT,
    TP_ACQUIRE_NOT_READY, /* VK_NOT_READY: a timeout of 0, and none can be had now */
    TP_ACQUIRE_TIMEOUT,   /* VK_TIMEOUT: a finite one ended */
};

/* The caller's, on its stack; nothing in it is owned. */
struct tp_acquire {
    struct tp_slots *slots;
    struct tp_gate *gate;
    int64_t begun_ns, deadline_ns; /* INT64_MAX: none */
    int64_t since_ns;              /* when the part of the wait that runs began */
    int64_t slot_ns, release_ns, gate_ns;
    bool poll, waited_slot, waited_release;
    unsigned plans, grids; /* grids: tp_vblank's, of the last plan */
    int doing;
    struct tp_gate_plan plan;
};

struct tp_acquired {
    struct tp_slots_taken image;
    uint64_t frame; /* the gate's id, for tp_gate_presented and so on; 0: there is no gate */
    /* How long it waited for compositor or guest, for the panel, and for the gate. */
    int64_t slot_ns, release_ns, gate_ns;
};

/* gate: NULL: this swapchain is not paced. timeout_ns: Vulkan's; UINT64_MAX: without end. */
void tp_acquire_begin(struct tp_acquire *a, struct tp_slots *s, struct tp_gate *g, int64_t now_ns,
    uint64_t timeout_ns);
/* wait: of TP_ACQUIRE_WAIT; until_ns is then no later than the timeout's end, and nothing but the
 * instant is set while only the gate is waited for. out: of TP_ACQUIRE_TAKEN. */
enum tp_acquire_end tp_acquire_step(
    struct tp_acquire *a, int64_t now_ns, struct tp_slots_wait *wait, struct tp_acquired *out);

#endif
