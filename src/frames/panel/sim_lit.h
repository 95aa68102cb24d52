/*
 * What the simulated screen is scanning out, for threads that read along: the one that watches for
 * tears, the one that records. The screen's own thread tells, and never waits for them. They hold
 * the picture's framebuffers, so that memory stays; whether it is still the screen's to read is
 * asked after reading (tp_lit_has).
 */
#ifndef TP_FRAMES_PANEL_SIM_LIT_H
#define TP_FRAMES_PANEL_SIM_LIT_H

#include <pthread.h>
#include <stdatomic.h>

#include "frames/panel/sim_copy.h"

struct tp_lit_scan {
    struct tp_kms_scanout scanout; /* holds its framebuffers; serial 0: nothing was ever shown */
    struct tp_copy_set copies;     /* held */
    uint64_t sequence;
    uint32_t first_line, lines; /* first_line is not 0 after an async flip */
    int64_t start_ns, end_ns, limit_ns;
    bool fresh; /* the picture's first line */
};

struct tp_lit {
    _Atomic uint64_t serial; /* of the picture that the screen has */
    pthread_mutex_t mutex;   /* all below */
    pthread_cond_t news;
    uint64_t turn; /* how often there was a new scan */
    struct tp_lit_scan scan;
    bool stop;
};

void tp_lit_init(struct tp_lit *l);
void tp_lit_finish(struct tp_lit *l);

/* The screen's: a scan-out, or the rest of one, began. The scanout is copied; the one before is not
 * the screen's any more when this returns. */
void tp_lit_show(struct tp_lit *l, const struct tp_lit_scan *scan);
/* Ends everybody's waiting. */
void tp_lit_stop(struct tp_lit *l);

/* A reader's: waits for a turn other than *turn, for until_ns or the end. NEWS: *turn is the
 * newest, and out the caller's, to be let go. */
enum tp_lit_wait { TP_LIT_NEWS, TP_LIT_TIME, TP_LIT_STOP };
enum tp_lit_wait tp_lit_wait(
    struct tp_lit *l, uint64_t *turn, int64_t until_ns, struct tp_lit_scan *out);
void tp_lit_let_go(struct tp_lit_scan *scan);
/* Is the picture the screen's still? What was read before the call was, then. */
bool tp_lit_has(struct tp_lit *l, uint64_t serial);

/* Best for a thread that is to be on time: before all that is not real-time, where that is allowed.
 */
void tp_lit_hurry(const char *name);

#endif
