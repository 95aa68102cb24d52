/*
 * The live census: what becomes of frames, as it happens, in shared memory. One ring has one
 * writer, a swapchain of an ICD or a screen of the server, and any number of readers; there are no
 * locks, no system calls and no allocations on the way. A writer never waits for readers: who comes
 * too late has lost the oldest entries, and is told how many. Its bytes are in docs/protocol.md.
 *
 * What a reader finds is another process's word: sizes are checked and the memory is sealed, so
 * that it can neither shrink nor be written by who only got the descriptor; values are any.
 */
#ifndef TP_FRAMES_CENSUS_RING_H
#define TP_FRAMES_CENSUS_RING_H

#include <stddef.h>

#include "frames/census/record.h"
#include "frames/wire/scanout.h"

#define TP_RING_VERSION 1u
#define TP_RING_ENTRIES 1024u /* a power of two */
#define TP_RING_SLOTS 64u     /* TP_SLOTS_MAX */
#define TP_RING_LAYERS 5u     /* of a picture that are told of */
#define TP_RING_NAME 48u      /* bytes of a writer's name, with its end */

enum tp_ring_kind {
    TP_RING_FRAME = 1, /* an ICD's: a frame is over, or its guest has heard all it will of it */
    TP_RING_PICTURE,   /* the server's: a picture that went to the panel has left it again, or
                          never came to be shown */
    TP_RING_REFRESH,   /* the server's: a scan-out has ended */
    TP_RING_SETTING,   /* anybody's: from now on it is so */
};

/* What the guest's side knows; the panel's side of it is TP_NEVER where the guest was not told. */
struct tp_ring_frame {
    struct tp_frame_record record; /* guest, sequence, permitted, repeats, torn: not from here */
    struct tp_buffer_name buffer;  /* its image's; generation 0: no server knows it */
    bool fed_back; /* record.line_ns and sequence are a compositor's word, not the panel's */
};

/* What the panel's side knows. */
struct tp_ring_picture {
    uint64_t serial;   /* of the screen's pictures, as in release notes */
    uint64_t sequence; /* the refresh of its first line */
    bool dropped;      /* never shown */
    int64_t committed_ns, published_ns, latched_ns, line_ns, released_ns;
    unsigned n_layers;
    struct tp_buffer_name layers[TP_RING_LAYERS]; /* the lowest first; generation 0: not a guest's */
};

struct tp_ring_refresh {
    struct tp_refresh_record record; /* guest and frame: not from here */
    uint64_t serial;                 /* of the picture that was shown, where record.shows */
};

struct tp_ring_setting {
    int64_t at_ns;
    enum tp_setting what;
    uint32_t output;
    int64_t value; /* as in TCTL */
};

struct tp_ring_entry {
    enum tp_ring_kind kind;
    union {
        struct tp_ring_frame frame;
        struct tp_ring_picture picture;
        struct tp_ring_refresh refresh;
        struct tp_ring_setting setting;
    };
};

/* Numbers that stand beside the entries: the last value counts. */
enum tp_ring_gauge {
    TP_GAUGE_PRODUCER, /* enum tp_ring_producer */
    TP_GAUGE_PID,
    TP_GAUGE_GATE, /* enum tp_gate_mode */
    TP_GAUGE_CAP_MHZ,
    TP_GAUGE_REFRESH_MHZ, /* now; 0: stopped, or not known */
    TP_GAUGE_SLOWEST_MHZ, /* of a variable rate; else 0 */
    TP_GAUGE_PIPELINE,
    TP_GAUGE_LEAD_NS,
    TP_GAUGE_IMAGES,
    TP_GAUGE_RELEASE_FENCE, /* 1: it waits for the panel */
    TP_GAUGE_CONNECTED,     /* an ICD's: 0 no server, 1 there is one, 2 with a board */
    TP_GAUGE_WIDTH,
    TP_GAUGE_HEIGHT,
    TP_GAUGE_PRESENTED, /* frames so far */
    TP_GAUGE_WATCHED,   /* a screen's: 1: it sees tears */
    TP_GAUGE_ENDED,     /* 1: nothing more will come */
    TP_GAUGE_COUNTS,    /* TP_COUNTERS of them, in enum tp_counter's order */
    TP_GAUGE_SLOTS = TP_GAUGE_COUNTS + TP_COUNTERS, /* TP_RING_SLOTS: state | frame << 8 */
    TP_GAUGES = TP_GAUGE_SLOTS + TP_RING_SLOTS
};
enum tp_ring_producer { TP_RING_SWAPCHAIN, TP_RING_SCREEN };

/* --- who writes --- */

struct tp_ring;

/* name: for people, cut to its room: the program's, or the screen's. -errno: there is no memory to
 * be had, or none that can be sealed. */
int tp_ring_create(enum tp_ring_producer producer, const char *name, struct tp_ring **out);
/* The memory, to be passed on; the ring's. Who gets it can map it for reading alone. */
int tp_ring_fd(const struct tp_ring *r);
/* One thread at a time, as the next. */
void tp_ring_put(struct tp_ring *r, const struct tp_ring_entry *e);
/* Any thread. */
void tp_ring_gauge(struct tp_ring *r, unsigned gauge, uint64_t value);
/* Says that it has ended; readers keep the memory. NULL is fine. */
void tp_ring_destroy(struct tp_ring *r);

/* --- who reads --- */

struct tp_ring_view;

/* Borrows the descriptor. From here on: what is in the ring, the oldest first. -EBADMSG: it is no
 * ring, or its writer could take it away; -ENOTSUP: of another version; -ENOMEM. */
int tp_ring_open(int fd, struct tp_ring_view **out);
/* False: there is nothing new. *lost: so many more entries were overwritten before they were read,
 * or are of no kind that is known. */
bool tp_ring_next(struct tp_ring_view *v, struct tp_ring_entry *out, uint64_t *lost);
uint64_t tp_ring_look(const struct tp_ring_view *v, unsigned gauge);
/* The view's, and of this process's own memory. Any bytes, with an end. */
const char *tp_ring_name(const struct tp_ring_view *v);
/* NULL is fine. */
void tp_ring_close(struct tp_ring_view *v);

#endif
