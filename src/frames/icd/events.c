/* What a swapchain hears: from its target, and from the server. Each takes its lock. */
#include "frames/icd/swapchain.h"

void tp_icd_swapchain_wake(struct tp_icd_swapchain *c)
{
    tp_waker_wake(&c->waker);
    pthread_cond_broadcast(&c->told);
}

/* --- the target's --- */

static void committed(void *data, uint32_t index, uint64_t serial)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    int64_t now = tp_icd_now_ns();
    c->images[index].committed = true;
    tp_slots_committed(c->slots, index, now);
    tp_icd_census_committed(c->census, index, serial, now);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

static void released(void *data, uint32_t index, int fence)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    int64_t now = tp_icd_now_ns();
    if (c->images[index].committed)
        tp_slots_released(
            c->slots, index, fence, fence >= 0 ? TP_FENCE_SYNC_FILE : TP_FENCE_NONE, now);
    else
        tp_slots_returned(c->slots, index, now);
    tp_icd_census_released(c->census, index, now);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

/* Without a server the screen's refreshes are known from what was shown. */
static void time_by(struct tp_icd_swapchain *c, const struct tp_shown *s)
{
    struct tp_timeline_frame t = {
        .pipeline = 1, .sequence = s->sequence, .time_ns = s->time_ns, .period_ns = s->period_ns};

    if ((c->server_timed && c->hears) || !s->exact || s->period_ns <= 0)
        return;
    tp_slots_timeline(c->slots, &t);
    if (c->gate) {
        tp_gate_feedback(c->gate, &t);
        t.period_ns = tp_vblank_period_ns(tp_gate_vblank(c->gate));
    }
    if (!c->server_timed)
        tp_icd_census_timed(c->census, &t);
}

static void shown(void *data, const struct tp_shown *s)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    struct tp_icd_record *r = tp_icd_record_find(c, s->serial);
    time_by(c, s);
    /* A screen of the server's tells a flip in the refresh that takes the picture. */
    if (r && c->server_timed && s->exact)
        r->line_ns = c->line_ns;
    if (c->gate && r && r->frame)
        tp_gate_shown(c->gate, r->frame, s->time_ns);
    tp_icd_record_end(c, s->serial, s);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

static void discarded(void *data, uint64_t serial)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    tp_icd_record_end(c, serial, NULL);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

static void changed(void *data, enum tp_target_change what)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    if (what == TP_TARGET_SUBOPTIMAL) {
        c->suboptimal = true;
    } else if (what == TP_TARGET_OUT_OF_DATE) {
        c->out_of_date = true;
    } else {
        atomic_store(&c->surface->lost, VK_ERROR_SURFACE_LOST_KHR);
        tp_slots_compositor_gone(c->slots, tp_icd_now_ns());
    }
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

const struct tp_stream_events tp_icd_stream_events = {
    .committed = committed,
    .released = released,
    .shown = shown,
    .discarded = discarded,
    .changed = changed,
};

/* --- the server's --- */

static void connected(void *data, uint64_t capabilities, const struct tp_board_view *board)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    c->board = board;
    tp_slots_connected(c->slots, capabilities, board, tp_icd_now_ns());
    tp_icd_census_connected(c->census, board ? 2 : 1);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

static void disconnected(void *data, bool for_good)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    int64_t now = tp_icd_now_ns();
    if (for_good)
        tp_slots_alone(c->slots, now);
    else
        tp_slots_disconnected(c->slots, now);
    c->board = NULL;
    c->server_timed = false;
    tp_icd_census_connected(c->census, 0);
    if (c->gate && c->hears)
        tp_gate_untimed(c->gate);
    tp_icd_swapchain_wake(c);
    tp_waker_leave_board(&c->waker, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void registering(void *data, unsigned slot, const struct tp_buffer_name *name)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    tp_slots_register(c->slots, slot, name, tp_icd_now_ns());
    tp_icd_census_named(c->census, slot, name);
    pthread_mutex_unlock(&c->lock);
}

static bool registered(void *data, const struct tp_register_frame *answer)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    bool ours = tp_slots_registered(c->slots, answer, tp_icd_now_ns());
    if (ours) {
        tp_icd_census_registered(c->census, answer);
        tp_icd_swapchain_wake(c);
    }
    pthread_mutex_unlock(&c->lock);
    return ours;
}

static bool note(void *data, const struct tp_note *n, bool resync, int fence)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    int64_t now = tp_icd_now_ns();
    bool ours = tp_slots_note(c->slots, n, resync, fence, now);
    if (ours) {
        tp_icd_census_note(c->census, n, now);
        tp_icd_swapchain_wake(c);
    }
    pthread_mutex_unlock(&c->lock);
    return ours;
}

static bool state(void *data, const struct tp_state_frame *answer, int fence)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    bool ours = tp_slots_state(c->slots, answer, fence, tp_icd_now_ns());
    if (ours) {
        tp_icd_census_counted(c->census);
        tp_icd_swapchain_wake(c);
    }
    pthread_mutex_unlock(&c->lock);
    return ours;
}

/* Of several screens the first that runs: which one a window is on is the compositor's secret. */
static void timeline(void *data, const struct tp_timeline_frame *t)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    tp_slots_screen(c->slots, t);
    if (!c->server_timed && !t->stopped) {
        c->server_timed = true;
        c->output = t->output;
    }
    if (c->server_timed && t->output == c->output) {
        if (c->hears)
            tp_slots_timeline(c->slots, t);
        if (c->hears && c->gate && tp_gate_timeline(c->gate, t))
            tp_icd_swapchain_wake(c);
        c->line_ns = (1 + (int64_t)t->pipeline) * t->period_ns;
        c->server_timed = !t->stopped;
        tp_icd_census_timed(c->census, t);
    }
    pthread_mutex_unlock(&c->lock);
}

static void setting(void *data, const struct tp_setting_frame *s)
{
    struct tp_icd_swapchain *c = data;

    pthread_mutex_lock(&c->lock);
    if (s->setting == TP_SETTING_CAP) {
        c->settings.cap_mhz = (uint32_t)s->value;
    } else if (s->setting == TP_SETTING_GATE) {
        c->settings.mode = (enum tp_gate_mode)s->value;
        c->settings_said = true;
    }
    tp_icd_swapchain_pace(c);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

const struct tp_scanout_events tp_icd_scanout_events = {
    .connected = connected,
    .disconnected = disconnected,
    .registering = registering,
    .registered = registered,
    .note = note,
    .state = state,
    .timeline = timeline,
    .setting = setting,
};
