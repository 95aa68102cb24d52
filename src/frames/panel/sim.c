#include "frames/panel/sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/buf.h"
#include "base/proc.h"
#include "frames/panel/compose.h"

#define QUEUE 4u /* published, not shown: one a latch, pipeline + 1 at most, and one to spare */
#define SECOND INT64_C(1000000000)

/* A picture; holds its framebuffers. */
struct picture {
    struct tp_kms_scanout scanout;
    uint64_t refresh; /* from which on it is shown */
};

struct sim {
    struct tp_panel panel;
    struct tp_panel_sim_config config;
    const struct tp_panel_events *events;
    void *data;
    pthread_t thread;
    pthread_mutex_t mutex; /* all below */
    pthread_cond_t wake;
    bool running, stop;
    struct tp_kms_mode mode;
    bool vrr;
    uint64_t sequence,
        base_sequence; /* of the last refresh; of the one that the mode's phase counts from */
    int64_t time_ns, base_ns;
    struct picture queue[QUEUE]; /* the oldest first */
    unsigned queued;
    struct picture shown; /* scanout.serial 0: none */
};

static int64_t period_ns(uint32_t mhz)
{
    return 1000 * SECOND / mhz;
}

/* When refresh n is, exactly: no period's rounding adds up. */
static int64_t refresh_ns(const struct sim *s, uint64_t n)
{
    int64_t since = (int64_t)(n - s->base_sequence), mhz = s->mode.refresh_mhz;
    return s->base_ns + since / mhz * 1000 * SECOND + since % mhz * 1000 * SECOND / mhz;
}

static void hold(struct picture *p, const struct tp_kms_scanout *scanout, uint64_t refresh)
{
    p->scanout = *scanout;
    p->scanout.gamma = p->scanout.hdr_metadata = NULL; /* the commit's own; not shown here */
    p->refresh = refresh;
    for (unsigned i = 0; i < scanout->n_layers; i++)
        tp_kms_fb_ref(scanout->layers[i].fb);
}

/* Lets a picture go; its owner hears so. No lock is held. */
static void release(struct sim *s, struct picture *p, bool tell)
{
    for (unsigned i = 0; i < p->scanout.n_layers; i++) {
        if (tell)
            s->events->released(s->data, p->scanout.serial, i, -1);
        tp_kms_fb_unref(p->scanout.layers[i].fb);
    }
    p->scanout.n_layers = 0;
}

/* The first refresh whose latch is not before t. */
static uint64_t latched_for(const struct sim *s, int64_t t)
{
    uint64_t n = s->sequence + 1;
    while (refresh_ns(s, n) - s->panel.lead_ns < t)
        n++;
    return n;
}

static int publish(struct tp_panel *p, const struct tp_kms_scanout *scanout)
{
    struct sim *s = (struct sim *)p;
    struct picture dropped = {.scanout.n_layers = 0};
    pthread_mutex_lock(&s->mutex);
    uint64_t refresh = latched_for(s, tp_now_ns()) + p->pipeline;
    if (s->queued > 0 && (s->queue[s->queued - 1].refresh >= refresh || s->queued == QUEUE))
        dropped = s->queue[--s->queued]; /* never to be shown: replaced before the latch */
    hold(&s->queue[s->queued++], scanout, refresh);
    if (s->vrr)
        pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mutex);
    release(s, &dropped, true);
    return 0;
}

static int set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    struct sim *s = (struct sim *)p;
    if (mode->refresh_mhz == 0 || (vrr && s->config.vrr_max_mhz == 0))
        return -EINVAL;
    pthread_mutex_lock(&s->mutex);
    if (mode->refresh_mhz != s->mode.refresh_mhz || vrr != s->vrr) {
        s->base_ns = s->time_ns;
        s->base_sequence = s->sequence;
    }
    s->mode = *mode;
    s->vrr = vrr;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mutex);
    return 0;
}

/* When the next refresh is due. With variable refresh it waits for a picture, as long as it may. */
static int64_t next_ns(const struct sim *s)
{
    if (!s->vrr)
        return refresh_ns(s, s->sequence + 1);
    return s->time_ns + period_ns(s->queued > 0 ? s->config.vrr_max_mhz : s->config.vrr_min_mhz);
}

/* The refresh that began last, by the clock. Held. */
static void advance(struct sim *s, int64_t now)
{
    s->time_ns = next_ns(s);
    s->sequence++;
    if (s->vrr) {
        if (s->time_ns < now)
            s->time_ns = now;
        s->base_ns = s->time_ns;
        s->base_sequence = s->sequence;
        return;
    }
    while (refresh_ns(s, s->sequence + 1) <= now)
        s->time_ns = refresh_ns(s, ++s->sequence);
}

/* What this refresh shows first. Held. */
static bool turn(struct sim *s, struct picture *gone, unsigned *n_gone)
{
    unsigned due = 0;
    while (due < s->queued && (s->vrr || s->queue[due].refresh <= s->sequence))
        due++;
    if (due == 0)
        return false;
    for (unsigned i = 0; i + 1 < due; i++) /* slept through */
        gone[(*n_gone)++] = s->queue[i];
    gone[(*n_gone)++] = s->shown;
    s->shown = s->queue[due - 1];
    s->queued -= due;
    for (unsigned i = 0; i < s->queued; i++)
        s->queue[i] = s->queue[i + due];
    return true;
}

static void refresh(struct sim *s)
{
    struct picture gone[QUEUE + 1];
    unsigned n_gone = 0;
    advance(s, tp_now_ns());
    bool turned = turn(s, gone, &n_gone);
    const struct tp_panel_tick tick = {
        s->sequence, s->time_ns, period_ns(s->vrr ? s->config.vrr_max_mhz : s->mode.refresh_mhz)};
    uint64_t serial = s->shown.scanout.serial;
    pthread_mutex_unlock(&s->mutex);
    s->events->tick(s->data, &tick);
    if (turned)
        s->events->shown(s->data, serial, tick.time_ns);
    for (unsigned i = 0; i < n_gone; i++)
        release(s, &gone[i], true);
    pthread_mutex_lock(&s->mutex);
}

static void *run(void *data)
{
    struct sim *s = data;
    prctl(PR_SET_NAME, "panel");
    prctl(PR_SET_TIMERSLACK, 1ul);
    pthread_mutex_lock(&s->mutex);
    while (!s->stop) {
        int64_t due = next_ns(s);
        if (tp_now_ns() >= due) {
            refresh(s);
            continue;
        }
        const struct timespec until = {due / SECOND, due % SECOND};
        pthread_cond_timedwait(&s->wake, &s->mutex, &until);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

static int start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    struct sim *s = (struct sim *)p;
    s->events = events;
    s->data = data;
    s->time_ns = s->base_ns = tp_now_ns();
    int r = pthread_create(&s->thread, NULL, run, s);
    if (r)
        return tp_fail_errno(e, r, NULL, "the panel's thread cannot start");
    s->running = true;
    return 0;
}

static int look(struct tp_panel *p, struct tp_image *out, struct tp_error *e)
{
    struct sim *s = (struct sim *)p;
    struct picture now;
    (void)e;
    pthread_mutex_lock(&s->mutex);
    hold(&now, &s->shown.scanout, 0);
    struct tp_kms_mode mode = now.scanout.serial ? now.scanout.mode : s->mode;
    pthread_mutex_unlock(&s->mutex);
    tp_image_init(out, mode.width_px, mode.height_px);
    tp_compose(&now.scanout, out, 0, mode.height_px);
    release(s, &now, false);
    return 0;
}

static void destroy(struct tp_panel *p)
{
    struct sim *s = (struct sim *)p;
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mutex);
    if (s->running)
        pthread_join(s->thread, NULL);
    for (unsigned i = 0; i < s->queued; i++)
        release(s, &s->queue[i], false);
    release(s, &s->shown, false);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

int tp_panel_sim_create(
    const struct tp_panel_sim_config *config, struct tp_panel **out, struct tp_error *e)
{
    static const struct tp_panel_ops ops = {start, publish, set_mode, look, destroy};
    *out = NULL;
    if (config->mode.refresh_mhz == 0 || config->pipeline > 2 || config->lead_ns < 0 ||
        config->lead_ns >= period_ns(config->mode.refresh_mhz) ||
        config->vrr_min_mhz > config->vrr_max_mhz || (config->vrr_max_mhz && !config->vrr_min_mhz))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL,
            "a latch within a period, a pipeline of 0 to 2 refreshes, a range from low to high",
            "no such panel can be simulated");
    struct sim *s = tp_calloc(1, sizeof *s);
    s->config = *config;
    s->mode = config->mode;
    s->panel = (struct tp_panel){.ops = &ops,
        .never_blocks = true,
        .lead_ns = config->lead_ns,
        .pipeline = config->pipeline};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&s->mutex, NULL);
    *out = &s->panel;
    return 0;
}
