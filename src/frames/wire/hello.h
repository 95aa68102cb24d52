/*
 * What is said first on a connection, and how two versions of this program get along.
 *
 * A client connects to the server's socket and sends THLO. Versions: each side says the one it speaks
 * and the oldest it still understands; the connection lives on the lower of the two, or ends with
 * -EPROTO. Capabilities: each side says its own, and uses those that both have.
 *
 *   THLO  struct tp_hello; to a scan-out or control connection the server answers with a THLO of its
 *         own. On a card's socket nothing comes back but drm_events: the answer comes on the channels.
 *   TCHN  on a card's socket, with one end of a socketpair: a new channel for calls (drm_call.h). The
 *         first frame on it is the server's THLO, with the snapshot (kms/snapshot.h) as descriptor 0;
 *         or a TIOR with the negative errno that the open is refused with.
 */
#ifndef TP_FRAMES_WIRE_HELLO_H
#define TP_FRAMES_WIRE_HELLO_H

#include "frames/wire/frame.h"

#define TP_FRAME_HELLO TP_FOURCC('T', 'H', 'L', 'O')
#define TP_FRAME_HOTPLUG TP_FOURCC('T', 'H', 'P', 'L') /* no payload */
#define TP_FRAME_CHANNEL TP_FOURCC('T', 'C', 'H', 'N')

#define TP_WIRE_VERSION 1u
#define TP_WIRE_OLDEST 1u

enum tp_hello_kind {
    TP_HELLO_CARD = 1,    /* an open /dev/dri/card0 */
    TP_HELLO_SCANOUT = 2, /* a guest's ICD: board, notes, timeline */
    TP_HELLO_CONTROL = 3, /* top, and other tools */
    TP_HELLO_HOTPLUG = 4, /* gets a THPL whenever an output came, went or has other modes; says nothing */
    TP_HELLO_RENDER = 5,  /* an open /dev/dri/renderD128: as a card, without snapshot */
};

/* Bits of capabilities. */
#define TP_CAP_SNAPSHOT (UINT64_C(1) << 0)      /* queries are answered from shared memory */
#define TP_CAP_TIMELINE (UINT64_C(1) << 1)      /* scan-out: refreshes are told (TVBL) */
#define TP_CAP_BOARD (UINT64_C(1) << 2)         /* scan-out: states in shared memory (board.h) */
#define TP_CAP_RELEASE_FENCE (UINT64_C(1) << 3) /* scan-out: release notes (GNRF) */
#define TP_CAP_STATE (UINT64_C(1) << 4)         /* scan-out: a buffer's state on request (TBST) */
#define TP_CAP_CONTROL (UINT64_C(1) << 5)       /* scan-out: live changes (TCTL) */
#define TP_CAP_CENSUS (UINT64_C(1) << 6)        /* live records in shared memory (TCEN) */

struct tp_hello {
    uint32_t version, oldest;
    uint32_t kind;
    /* From the server, on a channel: bit N for each DRM_CLIENT_CAP N that the file has set; bit 0: it has
     * made a framebuffer. Else 0. */
    uint32_t client_caps;
    uint64_t capabilities;
};

/* Reads a THLO's payload: longer ones, of later versions, are fine. -EBADMSG; -EPROTO where there is no
 * version that both understand. version: the one to speak. */
int tp_hello_parse(const struct tp_frame *f, struct tp_hello *out, uint32_t *version);

#endif
