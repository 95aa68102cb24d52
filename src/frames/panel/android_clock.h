/* The refreshes, from what the Choreographer tells and while it is silent. Pure. */
#ifndef TP_FRAMES_PANEL_ANDROID_CLOCK_H
#define TP_FRAMES_PANEL_ANDROID_CLOCK_H

#include "frames/panel/panel.h"

#define TP_ANDROID_SILENT_NS INT64_C(250000000) /* so long without a refresh: the screen is dark   \
                                                 */

struct tp_android_clock {
    struct tp_panel_tick tick; /* the last; sequence 0: none */
    int64_t heard_ns;          /* when the Choreographer told of one */
};

void tp_android_clock_init(struct tp_android_clock *c, int64_t period_ns, int64_t now_ns);
/* A refresh that began at vsync_ns; period_ns 0: as before. False: it was told of already. */
bool tp_android_clock_vsync(
    struct tp_android_clock *c, int64_t vsync_ns, int64_t period_ns, int64_t now_ns);
/* Nothing was heard: false, none is due (four periods of patience); else the one that is, by
 * counting on. */
bool tp_android_clock_count_on(struct tp_android_clock *c, int64_t now_ns);
/* When to look again. */
int64_t tp_android_clock_next_ns(const struct tp_android_clock *c, int64_t now_ns);
static inline bool tp_android_clock_silent(const struct tp_android_clock *c, int64_t now_ns)
{
    return now_ns - c->heard_ns >= TP_ANDROID_SILENT_NS;
}

#endif
