/*
 * The server's side of the release protocol: what the panel reads, who is told of it, and when.
 * Pure: no socket, no clock, no lock. The caller brings events with their instants, one at a time,
 * and carries out what the ops ask for, in the order in which they ask. The same code runs in the
 * server and in the simulated world.
 *
 * A *use* is a buffer in a layer of a picture that was handed to the panel. Its life: shown, from
 * before the apply; replaced, from before the apply of a picture without that buffer; fenced, once
 * the panel has said with which fence it stops reading; over, once that has signalled. A buffer's
 * state is the worst of its uses': shown, replaced, fenced, free. Each change goes to the boards
 * first, then into notes: one pending and one final note for each use that was replaced. Where the
 * next picture shows the same buffer again, the use goes on in the later one, and only that is
 * told.
 *
 * A *peer* is a guest's connection. What it is sent never waits for it: for a peer without room
 * only the fact that a buffer has changed is kept, and once there is room it gets notes of how
 * things stand then (TP_SCANOUT_RESYNC). Memory is bounded by the limits.
 *
 * Every wait ends: with a screen that went away all of its uses are over; a panel that has been
 * silent for a second about a replaced use, or whose fence has, is asked to show a blank; and where
 * that is shown, or another second has passed, what was waited for is over. Nobody's screen goes
 * blank for a buffer that nobody has registered.
 *
 * No op may call back into this interface.
 */
#ifndef TP_FRAMES_SERVER_NOTES_H
#define TP_FRAMES_SERVER_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

#define TP_NOTES_OUTPUTS 4u
#define TP_NOTES_SILENCE_NS INT64_C(1000000000)

struct tp_notes;
struct tp_notes_peer;

struct tp_notes_ops {
    /* Sends one frame without waiting; its descriptor is borrowed. 0; -EAGAIN: there is no room,
     * and tp_notes_drained will tell when there is; -ETOOMANYREFS, -EMFILE, -ENFILE or -ENOBUFS:
     * not with a descriptor; else the peer is broken, and gets nothing more. */
    int (*send)(void *data, void *peer, const struct tp_scanout_frame *f);
    /* Writes a word of the peer's board, and wakes who waits for it. Only where the peer has
     * TP_CAP_BOARD. */
    void (*board)(void *data, void *peer, unsigned index, uint64_t word);
    /* A fence is the notes' now: tp_notes_signalled is to be called once it polls readable. */
    void (*watch)(void *data, int fence);
    /* Puts a sync file into the memory that somebody registered, as that of a reader: before
     * anybody is told of it. NULL: no. */
    void (*implicit)(void *data, int memory, int fence);
    /* Closes a fence, watched or not; the memory of a buffer. */
    void (*close_fence)(void *data, int fence);
    void (*close_memory)(void *data, int memory);
    /* Show a blank picture of the server's own on this output, as soon as this has returned.
     * Negative: there is no way to. */
    int (*blank)(void *data, unsigned output);
};

struct tp_notes_limits {
    unsigned peers;
    unsigned buffers; /* of one peer; at most TP_BOARD_WORDS */
    unsigned uses;    /* of one output; at least twice the layers of a picture */
};
#define TP_NOTES_LIMITS ((struct tp_notes_limits){.peers = 32, .buffers = 64, .uses = 256})

void tp_notes_create(const struct tp_notes_limits *limits, const struct tp_notes_ops *ops,
    void *data, struct tp_notes **out);
/* Closes all it has; sends nothing more. Peers are gone with it. NULL is fine. */
void tp_notes_destroy(struct tp_notes *n);

/* --- peers --- */

/* A peer's hello has been answered. capabilities: what both sides have; with none of them it is
 * sent nothing but answers. peer_data: for the ops. -EMFILE past the limit. */
int tp_notes_connect(
    struct tp_notes *n, uint64_t capabilities, void *peer_data, struct tp_notes_peer **out);
/* It died or left: its buffers go. */
void tp_notes_disconnect(struct tp_notes *n, struct tp_notes_peer *p);

/* It wants to be told of this buffer. memory: its descriptor, moved, which keeps its identity from
 * being used again; the caller has seen that it has this identity. Is answered by a frame with this
 * sequence. The same name again is the same registration; another generation of the same memory
 * takes the place of the one before. */
void tp_notes_register(struct tp_notes *n, struct tp_notes_peer *p,
    const struct tp_buffer_name *name, int memory, uint32_t sequence);
/* A name that the peer does not have is ignored, here and below. */
void tp_notes_unregister(
    struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name);
/* Its memory is not what the name says: the answer to that registration. */
void tp_notes_refuse(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name,
    uint32_t sequence);
/* It asks for a buffer's state, or all. */
void tp_notes_ask(struct tp_notes *n, struct tp_notes_peer *p, const struct tp_buffer_name *name,
    uint32_t sequence);
/* False: it has not read its answers, and no request of it is to be read before it has. */
bool tp_notes_may_read(const struct tp_notes_peer *p);
/* There is room again to send to it. */
void tp_notes_drained(struct tp_notes *n, struct tp_notes_peer *p);

/* A refresh began, or the screen stopped: to all with TP_CAP_TIMELINE, also to later ones. */
void tp_notes_timeline(struct tp_notes *n, const struct tp_timeline_frame *t);
/* A live change: to this peer, or to all (NULL), with TP_CAP_CONTROL. */
void tp_notes_setting(
    struct tp_notes *n, struct tp_notes_peer *p, const struct tp_setting_frame *s);

/* --- the panels --- */

/* A picture is about to be handed to the panel. serial: greater than all before on any output.
 * layers: the memory in each, all zeros: of no interest. The boards are written and the pending
 * notes sent when this returns. */
void tp_notes_before_apply(struct tp_notes *n, unsigned output, uint64_t serial,
    const struct tp_identity *layers, unsigned n_layers, int64_t now_ns);
/* What came of it: 0; -ENODEV: there is no screen, and nothing is on it; else what was shown before
 * still is, and the picture may come again. */
void tp_notes_after_apply(struct tp_notes *n, unsigned output, uint64_t serial, int result);
/* The panel stops reading a layer of a picture with this fence (moved), or has stopped (-1). */
void tp_notes_released(struct tp_notes *n, unsigned output, uint64_t serial, unsigned layer,
    int fence, enum tp_fence_kind kind, int64_t now_ns);
/* A fence that is watched has signalled. Others are ignored. */
void tp_notes_signalled(struct tp_notes *n, int fence);
/* The screen went away: nothing is read any more; or came back. */
void tp_notes_away(struct tp_notes *n, unsigned output, bool away);
/* The blank picture's scan-out began; it has this serial. */
void tp_notes_blanked(struct tp_notes *n, unsigned output, uint64_t serial);

/* The next instant at which tp_notes_expire has something to do; INT64_MAX: none. */
int64_t tp_notes_deadline(const struct tp_notes *n);
void tp_notes_expire(struct tp_notes *n, int64_t now_ns);

/* --- for tests and `top` --- */

struct tp_notes_counts {
    unsigned peers, buffers, registrations, uses, fences; /* now */
    uint64_t pending, final;                              /* sent */
    uint64_t resync;                                      /* notes that stood for others */
    uint64_t coalesced;                                   /* notes that did not go by themselves */
    uint64_t lost_fences;                                 /* that could not be sent */
    uint64_t silent, forced;                              /* blanks asked for; uses that ended so */
    uint64_t ignored;                                     /* what belonged to nothing here */
};
void tp_notes_counts(const struct tp_notes *n, struct tp_notes_counts *out);
/* Notes that did not go, or went without their fence. */
static inline uint64_t tp_notes_lost(const struct tp_notes_counts *c)
{
    return c->coalesced + c->lost_fences;
}
/* The generation of the buffer in this memory, as a peer has registered it; 0: none has. */
uint32_t tp_notes_generation(const struct tp_notes *n, const struct tp_identity *id);

#endif
