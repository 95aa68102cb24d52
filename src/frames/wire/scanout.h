/*
 * Frames of the scan-out channel, between a guest's ICD and the server. docs/protocol.md lays every
 * payload down byte by byte. Knows no socket: takes received frames apart, and writes payloads.
 *
 *   THLO   both ways, first (hello.h). The server's comes with the board as descriptor 0 where both
 *          sides have TP_CAP_BOARD and there is one.
 *   TREG   a buffer of the guest's, with its memory as descriptor 0; the answer says its index on
 *          the board and its state
 *   TUNR   the guest gives a buffer up; no answer
 *   TBST   asks for a buffer's state, or for that of all; an answer may have a fence beside it
 *   GNRF   the server's release notes
 *   TVBL   the server's timeline: a refresh began
 *   TCTL   cap, gate or refresh are now so. From the server: live, for the ICD; from the ICD: what
 *          it runs with, for the server's choice of the refresh
 *   TCEN   the guest's live records, with their memory (census/ring.h) as descriptor 0; or their end
 *
 * A payload longer than it is here is a later version's, and what follows is left alone. A shorter
 * one, and a wrong count of descriptors, is -EBADMSG; -ENOTSUP is what a later version says and can
 * be left alone as a whole.
 */
#ifndef TP_FRAMES_WIRE_SCANOUT_H
#define TP_FRAMES_WIRE_SCANOUT_H

#include <stdbool.h>

#include "frames/wire/hello.h"

#define TP_FRAME_REGISTER TP_FOURCC('T', 'R', 'E', 'G')
#define TP_FRAME_UNREGISTER TP_FOURCC('T', 'U', 'N', 'R')
#define TP_FRAME_STATE TP_FOURCC('T', 'B', 'S', 'T')
#define TP_FRAME_NOTE TP_FOURCC('G', 'N', 'R', 'F')
#define TP_FRAME_TIMELINE TP_FOURCC('T', 'V', 'B', 'L')
#define TP_FRAME_SETTING TP_FOURCC('T', 'C', 'T', 'L')
#define TP_FRAME_CENSUS TP_FOURCC('T', 'C', 'E', 'N')

/* Flags of the header. */
#define TP_SCANOUT_ANSWER 1u /* it answers the request of the same sequence */
#define TP_SCANOUT_RESYNC 2u /* a note that stands for those that did not go */

#define TP_BUFFER_NO_INDEX UINT32_MAX
#define TP_SCANOUT_BYTES 64u /* no payload is longer */
#define TP_CENSUS_RINGS 16u  /* of a connection, at most */

/* What tells apart the memory of two buffers that exist at the same time: stat's numbers. */
struct tp_identity {
    uint64_t device, inode;
};

/* A buffer's name on the wire. The generation, not 0, is the guest's choice and differs from that
 * of any buffer that it had before; numbers of memory are used again. */
struct tp_buffer_name {
    struct tp_identity identity;
    uint32_t generation;
    uint32_t index; /* on the board; TP_BUFFER_NO_INDEX in a request to register */
};

enum tp_fence_kind {
    TP_FENCE_NONE,      /* there is nothing to wait for */
    TP_FENCE_SYNC_FILE, /* descriptor 0: a sync file */
    TP_FENCE_POLL,      /* descriptor 0: polls readable once it is signalled */
    TP_FENCE_LOST,      /* there is one, unsent; a note follows once it has signalled */
};

enum tp_note_what {
    TP_NOTE_PENDING = 1, /* replaced on the layer; its fence will follow */
    TP_NOTE_FINAL = 2,   /* the panel stops reading it with this fence, or has stopped */
};

enum tp_setting {
    TP_SETTING_CAP = 1,     /* millihertz; 0: none */
    TP_SETTING_GATE = 2,    /* enum tp_gate_mode */
    TP_SETTING_REFRESH = 3, /* millihertz, of the output; 0: its own choice */
};

enum tp_gate_mode { TP_GATE_OFF, TP_GATE_VSYNC, TP_GATE_CAP, TP_GATE_LATENCY };

struct tp_note {
    struct tp_buffer_name buffer;
    uint64_t serial; /* of the picture in which it was shown */
    uint32_t layer;  /* of that picture */
    enum tp_note_what what;
    enum tp_fence_kind kind; /* of a final one */
    /* As the board's low half is after it. The buffer is free when this says so, or says fenced and
     * all its fences have signalled; also for those who have no board. */
    uint32_t low;
};

struct tp_state_frame {
    struct tp_buffer_name buffer; /* a request of all zeros but the index, NO_INDEX: all */
    uint32_t low;                 /* an answer's, as in a note */
    bool known;                   /* an answer's; false: the buffer is not registered */
    enum tp_fence_kind kind;      /* an answer's */
};

struct tp_register_frame {
    struct tp_buffer_name buffer;
    int32_t result; /* an answer's: 0, -EINVAL, -ENOSPC: as many as there may be */
    uint32_t low;   /* an answer's, as in a note */
};

struct tp_timeline_frame {
    uint32_t output;
    bool stopped;  /* the screen is off; no refresh comes until the next frame of this kind */
    bool variable; /* the period is the shortest */
    uint32_t pipeline;
    uint64_t sequence;
    int64_t time_ns, period_ns, lead_ns;
};

struct tp_setting_frame {
    enum tp_setting setting;
    uint32_t output; /* of a refresh */
    int64_t value;
};

/* A ring of the guest's, by a number of its choice; the same number again takes its place. */
struct tp_census_frame {
    uint32_t number;
    bool ended; /* there is nothing of this number any more; it comes without memory */
};

/* One frame of the channel, past the hello. */
struct tp_scanout_frame {
    uint32_t fourcc, flags, sequence;
    union {
        struct tp_register_frame reg;
        struct tp_buffer_name unregister;
        struct tp_state_frame state;
        struct tp_note note;
        struct tp_timeline_frame timeline;
        struct tp_setting_frame setting;
        struct tp_census_frame census;
    } u;
    int fd; /* -1: none. Received: owned, tp_scanout_finish; to be sent: borrowed */
};

/*
 * Takes apart what a peer sent; from_server says who. Its descriptor is moved into out; others, and
 * those of a frame that is refused, stay the frame's (tp_frame_finish closes them). -EBADMSG for
 * what cannot be, also in this direction; -ENOTSUP for a FourCC or a setting that is not known
 * here.
 */
int tp_scanout_decode(struct tp_frame *f, bool from_server, struct tp_scanout_frame *out);
/* Closes its descriptor. */
void tp_scanout_finish(struct tp_scanout_frame *f);

/* Writes the payload and answers its length. fd and header are the caller's to send. */
size_t tp_scanout_encode(const struct tp_scanout_frame *f, uint8_t out[TP_SCANOUT_BYTES]);

/* The first frame of a scan-out connection. version: to speak. board: from the server, its board's
 * descriptor, moved; or -1. -EBADMSG, -EPROTO as tp_hello_parse. */
int tp_scanout_hello(
    struct tp_frame *f, bool from_server, struct tp_hello *out, uint32_t *version, int *board);

static inline bool tp_identity_equal(const struct tp_identity *a, const struct tp_identity *b)
{
    return a->device == b->device && a->inode == b->inode;
}
static inline bool tp_buffer_name_equal(
    const struct tp_buffer_name *a, const struct tp_buffer_name *b)
{
    return tp_identity_equal(&a->identity, &b->identity) && a->generation == b->generation &&
        a->index == b->index;
}

#endif
