/*
 * Pictures that wait in a target for their turn, in the order of Vulkan's present modes. Pure: no
 * clock, no lock; the target calls it with its own lock held.
 *
 * FIFO, FIFO_RELAXED: each has its turn. MAILBOX, FIFO_LATEST_READY, IMMEDIATE: a newer one takes
 * the place of those of the same mode that wait directly before it; IMMEDIATE needs no turn. A
 * picture with an instant (not_before_ns) waits for it, takes nobody's place before it, and what
 * comes after it waits behind it.
 */
#ifndef TP_FRAMES_ICD_PRESENT_QUEUE_H
#define TP_FRAMES_ICD_PRESENT_QUEUE_H

#include "frames/icd/target.h"

/* One that waits; what it points at is its own. */
struct tp_queued {
    struct tp_picture picture; /* damage and hdr point into this */
    VkHdrMetadataEXT hdr;
    struct tp_queued *next;
    VkRectLayerKHR damage[];
};

/* {0} is an empty one. */
struct tp_present_queue {
    struct tp_queued *first, *last;
    uint32_t n;
};

/* Puts a copy in; the fence is moved. -ENOMEM: nothing changed, the fence stays the caller's. */
int tp_present_queue_put(struct tp_present_queue *q, const struct tp_picture *p);
/*
 * The next one to go out, the caller's; NULL: none yet. turn: the other side has begun a refresh
 * since the last one went out, or nothing is under way.
 * *dropped: those whose place it has taken, or that others took, a list, the caller's: tell
 * "released" and "discarded" of each, then free it. To be called after each put.
 * *until_ns: when to ask again at the latest; INT64_MAX: when there is a turn or another picture.
 */
struct tp_queued *tp_present_queue_take(struct tp_present_queue *q, bool turn, int64_t now_ns,
    struct tp_queued **dropped, int64_t *until_ns);
/* All of them, a list, the caller's. */
struct tp_queued *tp_present_queue_drain(struct tp_present_queue *q);
/* Closes its fence, if that is still there; does not follow next. NULL is fine. */
void tp_queued_free(struct tp_queued *p);
/* A list of them comes to nothing, in silence. */
void tp_queued_free_all(struct tp_queued *list);
/* The same, and their stream is told: each image comes back with its picture's fence, for its last
 * writer may still be at work; and the picture is never shown. */
void tp_queued_give_up(
    struct tp_queued *list, const struct tp_stream_events *events, void *data);

#endif
