#include "frames/panel/android_clock.h"

#define PATIENCE 4
#define PERIOD_MIN_NS INT64_C(2000000) /* 500 Hz */
#define PERIOD_MAX_NS INT64_C(100000000)

void tp_android_clock_init(struct tp_android_clock *c, int64_t period_ns, int64_t now_ns)
{
    *c = (struct tp_android_clock){
        .tick = {.sequence = 0, .time_ns = now_ns, .period_ns = period_ns}, .heard_ns = now_ns};
}

bool tp_android_clock_vsync(
    struct tp_android_clock *c, int64_t vsync_ns, int64_t period_ns, int64_t now_ns)
{
    struct tp_panel_tick *t = &c->tick;
    int64_t since = vsync_ns - t->time_ns;
    c->heard_ns = now_ns;
    if (period_ns >= PERIOD_MIN_NS && period_ns <= PERIOD_MAX_NS)
        t->period_ns = period_ns;
    if (t->sequence > 0 && since < t->period_ns / 2)
        return false;
    int64_t refreshes = (since + t->period_ns / 2) / t->period_ns;
    t->sequence += t->sequence > 0 && refreshes > 1 ? (uint64_t)refreshes : 1;
    t->time_ns = vsync_ns;
    return true;
}

bool tp_android_clock_count_on(struct tp_android_clock *c, int64_t now_ns)
{
    struct tp_panel_tick *t = &c->tick;
    if (now_ns - c->heard_ns < PATIENCE * t->period_ns || now_ns - t->time_ns < t->period_ns)
        return false;
    int64_t refreshes = (now_ns - t->time_ns) / t->period_ns;
    t->sequence += (uint64_t)refreshes;
    t->time_ns += refreshes * t->period_ns;
    return true;
}

int64_t tp_android_clock_next_ns(const struct tp_android_clock *c, int64_t now_ns)
{
    int64_t patience = c->heard_ns + PATIENCE * c->tick.period_ns;
    int64_t next = c->tick.time_ns + c->tick.period_ns;
    return now_ns < patience ? patience : next;
}
