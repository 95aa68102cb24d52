/*
 * What shows pictures: SurfaceControl on a phone, a window, or a simulated screen. One CRTC's
 * worth.
 *
 * A panel has a timeline of refreshes and a latch before each: what was published in time for the
 * latch is on the screen from the refresh `pipeline` later on. A buffer is the panel's from its
 * publish until it is released: until a later one's scan-out has begun. Functions are called by one
 * thread at a time: the publishing worker's or, where never_blocks, any, also from inside the tick
 * event. What a panel tells comes on any thread, with no lock of the panel's held.
 */
#ifndef TP_FRAMES_PANEL_PANEL_H
#define TP_FRAMES_PANEL_PANEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/kms/kms.h"
#include "frames/panel/image.h"

struct tp_panel;

/* What became known of the refreshes: of one that began at time_ns, with this sequence number. */
struct tp_panel_tick {
    uint64_t sequence;
    int64_t time_ns;   /* CLOCK_MONOTONIC */
    int64_t period_ns; /* to the next; the shortest, where the refresh is variable */
    int64_t active_ns;    /* to the end of its last line; 0: not known */
    uint32_t slowest_mhz; /* of a variable refresh; else 0 */
};

struct tp_panel_events {
    void (*tick)(void *data, const struct tp_panel_tick *t);
    /* The panel has stopped reading what the scanout of this serial showed in this layer. fence: a
     * sync file that says when, moved; or -1: it is free now. */
    void (*released)(void *data, uint64_t serial, unsigned layer, int fence);
    /* Scan-out of this serial's picture began. */
    void (*shown)(void *data, uint64_t serial, int64_t first_line_ns);
    /* The screen went away (app hidden, surface lost): everything is released. Or came back, and
     * shows the newest picture that was published. */
    void (*away)(void *data, bool away);
    /* A buffer changed while it was read in this refresh: it was seen at time_ns, from this line
     * on. Once a refresh, or the rest of one. */
    void (*torn)(void *data, uint64_t sequence, int64_t time_ns, uint32_t line);
};

struct tp_panel_ops {
    /* Begins to tell of its refreshes. events and data last until destroy. */
    int (*start)(
        struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e);
    /* Takes the picture for the next latch. May block for as long as the screen's driver does. The
     * layers' in_fences have been waited for where waits_fences is false; else the panel waits for
     * them, by duplicates of its own: they stay the commit's. -ENODEV: no screen; -EAGAIN: it still has one that it may not replace. */
    int (*publish)(struct tp_panel *p, const struct tp_kms_scanout *s);
    /* Another mode of the list, or variable refresh on and off; 0, or -EINVAL. */
    int (*set_mode)(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr);
    /* What is on the screen now; the caller finishes out. Any thread, beside the others. NULL: it
     * cannot tell. */
    int (*look)(struct tp_panel *p, struct tp_image *out, struct tp_error *e);
    /* Shows nothing any more, tells nothing any more, and lets everything go. */
    void (*destroy)(struct tp_panel *p);
};

struct tp_panel {
    const struct tp_panel_ops *ops;
    bool waits_fences; /* publish takes unsignalled in_fences */
    bool can_async;    /* shows at once what is async */
    bool watches;      /* tells of tears */
    bool never_blocks; /* publish and set_mode take no longer than a lock */
    int64_t lead_ns;   /* the latch lies so long before the refresh */
    unsigned pipeline; /* refreshes from latch to first line: frame-path.md's D */
};

#endif
