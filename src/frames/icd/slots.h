/*
 * The slots of a swapchain: which image may be rendered into, and when. One for each swapchain,
 * pure: knows no Vulkan, no socket, no clock. Callers bring events with their instants
 * (CLOCK_MONOTONIC, ns), one thread at a time; the board is memory that is read. The same object
 * runs in the ICD and in the simulated world.
 *
 * An image is ready when all of this holds: it is not the guest's (acquired) nor on its way to the
 * compositor (queued); the compositor has given it back (held) and its fences have signalled; the
 * server says that no panel reads it, or every fence that came for that has signalled; it is not in
 * quarantine. What the panel may still read is never handed out, however long it takes. The one
 * exception is a server without board and state query, where nothing better can be known.
 *
 * The truth is the board's; notes bring fences, and stand for the board where there is none. So
 * that nothing is judged by what is old, a caller takes what came from the compositor *first*, then
 * what came on the scan-out channel, the server's end above all, and then acquires.
 *
 * Fences are the caller's numbers (an fd in the ICD). One that is handed in is the slots': it is
 * closed, once, by ops.close_fence, or moved to the caller that takes the image. It is waited for
 * at most once to its end; one that comes late is kept and used.
 */
#ifndef TP_FRAMES_ICD_SLOTS_H
#define TP_FRAMES_ICD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

#define TP_SLOTS_MAX 64u
#define TP_SLOTS_INCIDENT_NS INT64_C(33000000) /* or pipeline + 2 refreshes, if they are longer */
#define TP_SLOTS_FENCES 4u                     /* of one image, that may be handed to the GPU */

struct tp_slots;

enum tp_slot_state {
    TP_SLOT_READY,
    TP_SLOT_REPLACED,    /* not on the panel's list any more, its fence is on its way; or the server
                            has not said yet what became of it */
    TP_SLOT_FENCED,      /* a fence is in hand, unsignalled */
    TP_SLOT_ACQUIRED,    /* the guest's */
    TP_SLOT_QUEUED,      /* presented, not yet with the compositor */
    TP_SLOT_HELD,        /* the compositor's */
    TP_SLOT_QUARANTINED, /* the server is gone: until its panel must have stopped reading */
};

/* TURNPIKE_RELEASE_WAIT. */
enum tp_release_wait {
    TP_RELEASE_WAIT_AUTO, /* gpu where it can be, else cpu */
    TP_RELEASE_WAIT_CPU,
    TP_RELEASE_WAIT_GPU,      /* the fence goes to the guest's semaphore; needs import of SYNC_FD */
    TP_RELEASE_WAIT_IMPLICIT, /* the server put the fence into the dma-buf; needs export from it */
};
/* What it comes to with what driver and kernel can: never AUTO; CPU where what was asked cannot be.
 */
enum tp_release_wait tp_release_wait_choose(
    enum tp_release_wait asked, bool can_import_sync_fd, bool can_export_sync_file);

/* FIFO's default count of images: as many as a panel with this pipeline keeps busy, at least those
 * asked for. override: TURNPIKE_MIN_IMAGES, 0: none. At most TP_SLOTS_MAX. */
unsigned tp_slots_image_count(unsigned asked, unsigned pipeline, unsigned override);

struct tp_slots_ops {
    /* True: it has signalled, without a wait. */
    bool (*signalled)(void *data, int fence);
    void (*close_fence)(void *data, int fence);
};

struct tp_slots_config {
    unsigned images; /* 1 to TP_SLOTS_MAX */
    bool release;    /* TURNPIKE_RELEASE_FENCE; false: what the compositor gives back is ready */
    enum tp_release_wait wait; /* as tp_release_wait_choose has it */
    /* Until the timeline says: the panel's period and pipeline. 0 ns: 60 Hz. */
    int64_t period_ns;
    unsigned pipeline;
};

/* -EINVAL: no such count of images; -ENOMEM. */
int tp_slots_create(const struct tp_slots_config *c, const struct tp_slots_ops *ops, void *data,
    struct tp_slots **out);
/* Closes the fences that it has. NULL is fine. */
void tp_slots_destroy(struct tp_slots *s);

/* --- the server --- */

/* A connection, with these capabilities in common. board: NULL: none; stays until disconnected.
 * Slots are registered with it one by one. What the compositor has is in quarantine, and so is what
 * came back in doubt: another server, which this one knows nothing of, may have shown it. */
void tp_slots_connected(
    struct tp_slots *s, uint64_t capabilities, const struct tp_board_view *board, int64_t now_ns);
/* The server's end closed, and it is tried again: what was on the panel or bound for it, or came
 * back in doubt, is in quarantine, and so is what the compositor gives back until there is a server
 * again. From none: one is coming. That is (pipeline + 2) of the slowest refreshes that any screen
 * was told to have, or of 60 Hz, and as many more as the panel was seen to let go later than it
 * should, four at most (two, until it was seen to let go of anything, and without a board). The
 * panel's fences in hand are waited for besides, for a second at most. */
void tp_slots_disconnected(struct tp_slots *s, int64_t now_ns);
/* It is not tried any more: as towards no server. */
void tp_slots_alone(struct tp_slots *s, int64_t now_ns);

/* A registration of this image's memory goes out under this name; its index comes with the answer.
 */
void tp_slots_register(
    struct tp_slots *s, unsigned slot, const struct tp_buffer_name *name, int64_t now_ns);
/* These three: false: of a buffer that is none of these, or is no longer; nothing was changed and
 * the fence stays the caller's. Else the fence (-1: none) is the slots'. */
bool tp_slots_registered(
    struct tp_slots *s, const struct tp_register_frame *answer, int64_t now_ns);
bool tp_slots_note(
    struct tp_slots *s, const struct tp_note *note, bool resync, int fence, int64_t now_ns);
bool tp_slots_state(
    struct tp_slots *s, const struct tp_state_frame *answer, int fence, int64_t now_ns);
/* The timeline of any screen that the server has: for how long a quarantine lasts. */
void tp_slots_screen(struct tp_slots *s, const struct tp_timeline_frame *t);
/* Of the screen that it is on: for bounds and predictions too. */
void tp_slots_timeline(struct tp_slots *s, const struct tp_timeline_frame *t);

/* --- the way of an image --- */

/* The guest presented it. -EINVAL: it is not acquired. */
int tp_slots_presented(struct tp_slots *s, unsigned slot, int64_t now_ns);
/* It is with the compositor now; also when a target commits before presented is told. */
void tp_slots_committed(struct tp_slots *s, unsigned slot, int64_t now_ns);
/* It came back unused: released by the guest without a present, or the present failed before the
 * commit. */
void tp_slots_returned(struct tp_slots *s, unsigned slot, int64_t now_ns);
/* The compositor gave it back; with a fence of its own reading (moved), or -1. */
void tp_slots_released(
    struct tp_slots *s, unsigned slot, int fence, enum tp_fence_kind kind, int64_t now_ns);
/*
 * True: something came back since the server was last known to be there. The words of one that was
 * killed stay as they were, while the next one's panel may read the image: before the choice the
 * caller looks, without a lock that keeps news away, whether the server is (still) there, and says
 * so or tells that it is not.
 */
bool tp_slots_doubtful(const struct tp_slots *s);
/* The server's end was open, or none was to be found, after all that the compositor has said. */
void tp_slots_assured(struct tp_slots *s);
/* The compositor is gone: so is its hold on all of them. */
void tp_slots_compositor_gone(struct tp_slots *s, int64_t now_ns);

/* --- acquire; slots_acquire.h has it whole --- */

/* What may change the answer, when no image can be had now. Each that is set is to be woken by. */
struct tp_slots_wait {
    int64_t until_ns; /* ask again then at the latest; INT64_MAX: no instant is known */
    bool compositor;  /* it holds images */
    bool channel;     /* notes and answers are due */
    bool presents;    /* images are queued: what commits them wakes too */
    int board_index;  /* -1, or a word of the board, to sleep on while its low half is board_low */
    uint32_t board_low;
    int fence; /* -1, or the first to be waited for; borrowed until the next call that takes now */
    /* Past the bound: ask the server for the state of this buffer (TBST). Said once a bound. */
    bool ask;
    struct tp_buffer_name ask_name;
};

struct tp_slots_choice {
    int slot;           /* -1: none can be had now */
    int64_t release_ns; /* when it became or will become free, as far as known; INT64_MIN: long ago
                         */
    bool gpu;           /* it can be had now, and the GPU waits for its fences */
    bool unsafe;        /* it is past the bound, and nothing better can be known */
    bool for_release;   /* none: because of the panel; else because of guest and compositor */
    struct tp_slots_wait wait; /* none */
};
/*
 * The image to take: ready, longest idle first; then fenced and signalled; then what is predicted
 * to be free first. since_ns: when the acquire began to wait, for the bound. An image that was
 * answered can be had until it is taken or the server or the compositor goes.
 */
void tp_slots_choose(
    struct tp_slots *s, int64_t since_ns, int64_t now_ns, struct tp_slots_choice *out);

struct tp_slots_taken {
    unsigned slot;
    unsigned n_fences;           /* for the GPU to wait for, moved; 0: nothing */
    int fences[TP_SLOTS_FENCES]; /* sync files */
    bool implicit;               /* wait for, or import, what the dma-buf has */
    bool unsafe;
    int64_t ready_ns; /* since when it was known to be ready; INT64_MIN: it is not, or always was */
};
/* The guest has it now. choice: of the last call, with a slot. */
void tp_slots_take(struct tp_slots *s, const struct tp_slots_choice *choice, int64_t now_ns,
    struct tp_slots_taken *out);

/* --- for presents' own rules, tests and `top` --- */

enum tp_slot_state tp_slots_look(struct tp_slots *s, unsigned slot, int64_t now_ns);
/* As far as it is known without a look at its fences: changes nothing, and makes no call. */
enum tp_slot_state tp_slots_glance(const struct tp_slots *s, unsigned slot, int64_t now_ns);
/* How many the guest has. With minImageCount m of N images, an infinite wait ends while it has no
 * more than N - m. */
unsigned tp_slots_acquired(const struct tp_slots *s);

struct tp_slots_counts {
    uint64_t release_waits;    /* acquires that waited for the panel */
    uint64_t release_timeouts; /* of these, past the bound: incidents */
    uint64_t slot_waits;       /* acquires that waited for compositor or guest */
    uint64_t unsafe;           /* handed out at the bound */
    uint64_t pending, final;   /* notes */
    uint64_t lost;             /* final ones without the fence that there was */
    uint64_t resynced;         /* notes and answers that stood for others */
    unsigned fences;           /* in hand now */
};
void tp_slots_counts(const struct tp_slots *s, struct tp_slots_counts *out);
/* True once, after the first incident: it is to be logged. */
bool tp_slots_incident(struct tp_slots *s);

#endif
