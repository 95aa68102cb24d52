/*
 * A simulated screen: refreshes by the clock, a latch before each, SurfaceFlinger's rules
 * (sim_scan.h), and eyes for tearing (sim_watch.h). What is async is shown at once.
 */
#ifndef TP_FRAMES_PANEL_SIM_H
#define TP_FRAMES_PANEL_SIM_H

#include "frames/panel/panel.h"
#include "frames/panel/sim_beam.h"

struct tp_capture;

struct tp_panel_sim_config {
    struct tp_kms_mode mode;           /* until another is set */
    uint32_t vrr_min_mhz, vrr_max_mhz; /* the range with variable refresh on; 0: there is none */
    int64_t lead_ns;                   /* the latch lies so long before the refresh */
    unsigned pipeline;                 /* 0 to 2 */
    enum tp_watch_how watch;           /* for tears */
    bool looked;                       /* somebody looks at each refresh: a window */
    /* A tear: on a thread of the panel's. NULL: nobody hears of it. */
    void (*torn)(void *data, const struct tp_tear *t);
    void *torn_data;
    struct tp_capture
        *capture; /* records each refresh; the caller's, longer than the panel. NULL */
};

/*
 * The screen, stopped; ops->start runs it on a thread of its own, which wakes at each refresh:
 * refresh n of a mode is at a fixed phase of its start, however late the thread wakes; of those
 * slept through only the last is told, but what they showed is. -EINVAL (INPUT) for what no screen
 * can be.
 */
int tp_panel_sim_create(
    const struct tp_panel_sim_config *config, struct tp_panel **out, struct tp_error *e);

/* What it has seen so far. Any thread, from create to destroy. */
struct tp_panel_sim_counts {
    uint64_t refreshes, async_tears;
    struct tp_beam_counts beam;
};
void tp_panel_sim_count(struct tp_panel *p, struct tp_panel_sim_counts *out);

#endif
