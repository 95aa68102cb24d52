/*
 * What every client may read of the device without asking the server: a block of shared memory that
 * the server writes and clients map read-only. Queries (resources, connectors, CRTCs, planes,
 * encoders, properties, blobs, capabilities, version) are answered from it, by the same function in
 * the client and in the server.
 */
#ifndef TP_FRAMES_KMS_SNAPSHOT_H
#define TP_FRAMES_KMS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames/wire/drm_call.h"

#define TP_SNAPSHOT_BYTES   (256u << 10)
#define TP_SNAPSHOT_VERSION 1u

struct tp_kms;
struct tp_snapshot; /* the block; layout in snapshot_layout.h */

/* The server: brings the block up to date with the device. Readers meanwhile read again. */
void tp_snapshot_write(struct tp_snapshot *s, const struct tp_kms *kms);

/* The client: is this a block that this version can read? bytes: of the mapping. */
bool tp_snapshot_valid(const struct tp_snapshot *s, size_t bytes);

/* What one open of the card has set about itself; the client keeps it, the server too. */
struct tp_snapshot_view {
    bool universal_planes, atomic, aspect_ratio, stereo_3d, writeback;
    /* An ADDFB has succeeded on this card: from then on GETRESOURCES is for the server, which knows
     * the framebuffers (-ENOSYS). */
    bool framebuffers;
};

/* What a SET_CLIENT_CAP that succeeded means for the view. */
void tp_snapshot_view_set(struct tp_snapshot_view *view, uint64_t capability, uint64_t value);

/* The ids of IN_FENCE_FD and OUT_FENCE_PTR, for drm_call.h. */
void tp_snapshot_fences(const struct tp_snapshot *s, struct tp_drm_fences *out);

/*
 * Answers a query from the block: 0, or the kernel's negative errno. -ENOSYS: it is no query, or
 * not to be answered from here (framebuffers, and blobs that clients made): ask the server. Writes
 * arg and its arrays as the kernel would. Allocates nothing, async-signal-safe; the block is not
 * trusted to stand still, and a torn one never makes it read or write out of bounds.
 */
int tp_snapshot_query(const struct tp_snapshot *s, const struct tp_snapshot_view *view,
                      unsigned long request, void *arg);

#endif
