/* A simulated screen: refreshes by the clock, a latch before each, and SurfaceFlinger's rules. */
#ifndef TP_FRAMES_PANEL_SIM_H
#define TP_FRAMES_PANEL_SIM_H

#include "frames/panel/panel.h"

struct tp_panel_sim_config {
    struct tp_kms_mode mode;           /* until another is set */
    uint32_t vrr_min_mhz, vrr_max_mhz; /* the range with variable refresh on; 0: there is none */
    int64_t lead_ns;                   /* the latch lies so long before the refresh */
    unsigned pipeline;                 /* 0 to 2 */
};

/*
 * The screen, stopped; ops->start runs it on a thread of its own, which wakes at each refresh:
 * refresh n of a mode is at a fixed phase of its start, however late the thread wakes; those slept
 * through are skipped. -EINVAL (INPUT) for what no screen can be.
 */
int tp_panel_sim_create(
    const struct tp_panel_sim_config *config, struct tp_panel **out, struct tp_error *e);

#endif
