/*
 * Brings a CRTC's commits to its panel: waits for their in-fences, hands at most one picture over
 * in each refresh, and says when. A thread of its own waits, so that neither a fence nor a slow
 * panel ever holds up the loop; with a panel that never blocks, pictures whose fences are through
 * go over at once, on the thread that has the commit or the refresh.
 */
#ifndef TP_FRAMES_SERVER_PUBLISHER_H
#define TP_FRAMES_SERVER_PUBLISHER_H

#include "frames/panel/panel.h"
#include "frames/server/releases.h"
#include "frames/server/server.h"

struct tp_publisher;

#define TP_PUBLISHER_FLIPS 8u

/* What happened since the last look. */
struct tp_publisher_report {
    bool ticked; /* refreshes began: tick is the last */
    struct tp_panel_tick tick;
    unsigned n_flips;
    struct tp_publisher_flip { /* the picture of this serial went to the panel, or error says why
                                  not */
        uint64_t serial, sequence;
        int64_t time_ns;
        int error; /* -ETIMEDOUT: its in-fences were silent for a second */
    } flips[TP_PUBLISHER_FLIPS];
};

/*
 * Takes the panel over and starts it. notify: called, on any thread, when there is something to
 * take; tp_publisher_take and _commit may be called from inside it. On failure the panel is
 * destroyed. name: of the screen, for people. releases: borrowed; hears of the output's pictures, under serials of its own, and of
 * what the panel says of them.
 */
int tp_publisher_create(struct tp_panel *panel, const char *name, struct tp_releases *releases,
    unsigned output, void (*notify)(void *data), void *data, struct tp_publisher **out, struct tp_error *e);
/* Ends it, the panel too. No commit is told of any more. NULL is fine. */
void tp_publisher_destroy(struct tp_publisher *p);

/* The scanout stays the caller's, and as it is until it or a later one has been told of. */
void tp_publisher_commit(struct tp_publisher *p, const struct tp_kms_scanout *s);

/* A picture of nothing, of the server's own, goes to the panel as soon as its thread can: until the
 * next commit it takes the place of what is shown. Of locks the caller may have any but the
 * publisher's. -ENODEV: nothing was ever shown. */
int tp_publisher_blank(struct tp_publisher *p);

/* False: there is nothing to tell. */
bool tp_publisher_take(struct tp_publisher *p, struct tp_publisher_report *out);

/* The last refresh, and when the panel's thread told of it (CLOCK_MONOTONIC, ns): to measure by. */
void tp_publisher_last_tick(struct tp_publisher *p, struct tp_panel_tick *tick, int64_t *told_ns);

/* What the panel has shown so far. */
void tp_publisher_shown(struct tp_publisher *p, struct tp_server_shown *out);

/* The ring that says what becomes of its pictures and refreshes (census/ring.h): its memory, the
 * publisher's. -1: there is none. */
int tp_publisher_census(const struct tp_publisher *p);
/* What is known of refreshes that have ended is in the ring when this returns. */
void tp_publisher_settle(struct tp_publisher *p);

/* What is on the screen now; see panel.h. -ENOTSUP. */
int tp_publisher_look(struct tp_publisher *p, struct tp_image *out, struct tp_error *e);

#endif
