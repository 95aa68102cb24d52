/* The thread that reads along with the simulated screen's beam and sees tears. */
#ifndef TP_FRAMES_PANEL_SIM_BEAM_H
#define TP_FRAMES_PANEL_SIM_BEAM_H

#include "frames/panel/sim_lit.h"
#include "frames/panel/sim_watch.h"

#define TP_BEAM_TEARS 16u

struct tp_beam_counts {
    struct tp_watch_counts watch;        /* up to the scan-out before the current one */
    struct tp_tear tears[TP_BEAM_TEARS]; /* the first ones */
    unsigned n_tears;
};

struct tp_beam;

/* torn: on the thread; may be NULL. lit lasts longer than the beam. */
int tp_beam_start(struct tp_lit *lit, enum tp_watch_how how,
    void (*torn)(void *data, const struct tp_tear *t), void *data, struct tp_beam **out,
    struct tp_error *e);
/* After tp_lit_stop. NULL is fine. */
void tp_beam_end(struct tp_beam *b);
/* Any thread's. */
void tp_beam_count(struct tp_beam *b, struct tp_beam_counts *out);

#endif
