/*
 * What a screen's ring says (census/ring.h): what became of each picture that was handed to the
 * panel, and what each refresh showed. Pure but for the ring: no clock and no lock, the caller's;
 * on its way nothing is allocated and nobody called.
 *
 * A refresh is told two refreshes later: by then the panel's thread has said what it showed, also
 * where it woke too late, and those who read along what they saw of tears.
 */
#ifndef TP_FRAMES_SERVER_SCREEN_RING_H
#define TP_FRAMES_SERVER_SCREEN_RING_H

#include "frames/census/ring.h"
#include "frames/panel/panel.h"

#define TP_SCREEN_PICTURES 32u  /* that the panel has or had, until all of it is told */
#define TP_SCREEN_REFRESHES 64u /* that are not told yet */

struct tp_screen_refresh {
    struct tp_refresh_record record;
    uint64_t serial; /* of what it shows, where that is not kept any more; else 0 */
};

struct tp_screen_picture {
    struct tp_ring_picture picture; /* of nothing: no layers */
    bool async, shown;
    unsigned left; /* layers that the panel has not released */
    bool told_now; /* it was released with no fence that is waited for */
    int64_t released_ns; /* the last of its layers */
};

/* {0} says nothing to nobody. */
struct tp_screen_ring {
    struct tp_ring *ring; /* owned; NULL: there is no memory for it */
    unsigned output;
    int64_t lead_ns;
    unsigned pipeline;
    struct tp_kms_mode mode;
    struct tp_panel_tick tick; /* the last */
    bool ticked;
    struct tp_screen_picture pictures[TP_SCREEN_PICTURES]; /* by their serials */
    unsigned n;
    struct tp_screen_refresh refreshes[TP_SCREEN_REFRESHES]; /* by their numbers */
    unsigned n_refreshes;
    uint64_t published;
    uint32_t refresh_mhz, slowest_mhz; /* as was told */
};

/* Without memory for a ring it goes on, and says nothing. */
void tp_screen_ring_init(struct tp_screen_ring *s, const char *name, unsigned output,
    const struct tp_panel *panel);
void tp_screen_ring_finish(struct tp_screen_ring *s);
/* -1: there is none. The ring's. */
int tp_screen_ring_fd(const struct tp_screen_ring *s);

/* The panel has another mode. */
void tp_screen_ring_mode(struct tp_screen_ring *s, const struct tp_kms_mode *mode);
/* A picture goes to the panel; layers: the memory that is in them, the lowest first, with a
 * generation where it is a guest's. */
void tp_screen_ring_publish(struct tp_screen_ring *s, uint64_t serial, bool async,
    int64_t committed_ns, int64_t published_ns, const struct tp_buffer_name *layers,
    unsigned n_layers);
/* It did not, after all. */
void tp_screen_ring_withdraw(struct tp_screen_ring *s, uint64_t serial);
/* As the panel's events. fence: there is one, not signalled yet. */
void tp_screen_ring_tick(struct tp_screen_ring *s, const struct tp_panel_tick *t);
void tp_screen_ring_shown(struct tp_screen_ring *s, uint64_t serial, int64_t first_line_ns);
void tp_screen_ring_released(
    struct tp_screen_ring *s, uint64_t serial, bool fence, int64_t now_ns);
void tp_screen_ring_torn(
    struct tp_screen_ring *s, uint64_t sequence, int64_t time_ns, uint32_t line);
/* The screen went away: it shows nothing. */
void tp_screen_ring_away(struct tp_screen_ring *s, int64_t now_ns);
/* What is known of refreshes that have ended is told at once: the run is over. */
void tp_screen_ring_settle(struct tp_screen_ring *s);

#endif
