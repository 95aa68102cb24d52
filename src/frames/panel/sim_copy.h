/*
 * Copies of what the simulated screen shows from memory of the server's own (dumb buffers). On a
 * phone such memory cannot be imported and is copied as it is published; so here, too, its owner
 * may draw into it from the next picture's flip event on. The copying is off the flip's path: a
 * timer, which publishing sets, wakes a thread a little later; who is to read before that copies
 * himself. A copy that is not whole when the next picture is published is lost: nobody knows any
 * more what it would have shown.
 */
#ifndef TP_FRAMES_PANEL_SIM_COPY_H
#define TP_FRAMES_PANEL_SIM_COPY_H

#include "base/error.h"
#include "frames/panel/compose.h"

#define TP_COPIES 32u     /* at once; past that they are lost */
#define TP_COPIES_KEPT 8u /* whose memory stays for the next ones */

struct tp_copies;
struct tp_copy;

/* The layers of a picture: whoever holds one holds a reference of each. NULL: it is read in place.
 */
struct tp_copy_set {
    struct tp_copy *of[TP_KMS_LAYERS];
    uint32_t none; /* bits of layers that there was no copy left for */
};

typedef void (*tp_copies_released)(void *data, uint64_t serial, unsigned layer);

/* released: on a thread of its own: of each layer that was copied, once a later picture was
 * published; as the phone's panel tells of those. */
int tp_copies_start(
    tp_copies_released released, void *data, struct tp_copies **out, struct tp_error *e);
/* Copies nothing and tells nothing any more; what is whole can still be read. NULL is fine. */
void tp_copies_stop(struct tp_copies *c);
/* After stop, with every set let go. NULL is fine. */
void tp_copies_destroy(struct tp_copies *c);

/* A picture that was just published: out has what of it is to be copied, the caller's. What is not
 * whole of earlier ones is lost. Takes no longer than a lock. */
void tp_copies_publish(
    struct tp_copies *c, const struct tp_kms_scanout *s, struct tp_copy_set *out);

void tp_copy_hold(struct tp_copy_set *set);
void tp_copy_let_go(struct tp_copy_set *set);
/* Whole, here and now if it has not been copied yet; answers the bits of the layers that are
 * copies, and in lost those of them that cannot be had. views: where they are, while the set is
 * held; those that are not copies, or lost, have no rows. */
uint32_t tp_copy_settle(
    const struct tp_copy_set *set, struct tp_compose_copy views[TP_KMS_LAYERS], uint32_t *lost);
/* Whether the screen's thread is to tell of this layer's release; false: that was told. */
bool tp_copy_tells(struct tp_copy *copy);

#endif
