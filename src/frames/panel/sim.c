#include "frames/panel/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/buf.h"
#include "base/proc.h"
#include "base/punctual.h"
#include "frames/panel/compose.h"
#include "frames/panel/sim_capture.h"
#include "frames/panel/sim_scan.h"

#define SECOND INT64_C(1000000000)
#define MHZ_NS (1000 * SECOND) /* the period of a mHz */
#define PICTURES (TP_SCAN_QUEUE + TP_SCAN_PIPELINE + 4u)
#define BATCH 32u
/* CVT's reduced blanking, version 2. */
#define BLANK_NS INT64_C(460000)
#define BLANK_LINES 15u

/* A picture that the panel has; holds its framebuffers. serial 0: none. */
struct picture {
    struct tp_kms_scanout scanout;
    struct tp_copy_set copies;
};

struct sim {
    struct tp_panel panel;
    struct tp_panel_sim_config config;
    const struct tp_panel_events *events;
    void *data;
    struct tp_lit lit;
    struct tp_beam *beam;     /* owned; NULL: nobody watches */
    struct tp_copies *copies; /* owned; NULL: nobody reads along, and look reads in place */
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* all below */
    pthread_cond_t wake;
    bool stop;
    struct tp_scan scan;
    struct picture pictures[PICTURES]; /* a slot is freed by the panel's thread only */
    struct picture *shown;             /* NULL: none */
};

static void hold(struct picture *p, const struct tp_kms_scanout *scanout)
{
    p->scanout = *scanout;
    p->scanout.gamma = p->scanout.hdr_metadata = NULL; /* the commit's own; not shown here */
    for (unsigned i = 0; i < scanout->n_layers; i++)
        tp_kms_fb_ref(scanout->layers[i].fb);
}

static void let_go(struct picture *p)
{
    for (unsigned i = 0; i < p->scanout.n_layers; i++)
        tp_kms_fb_unref(p->scanout.layers[i].fb);
    p->scanout.n_layers = 0;
    p->scanout.serial = 0;
    tp_copy_let_go(&p->copies);
}

static struct picture *find(struct sim *s, uint64_t serial)
{
    for (unsigned i = 0; i < PICTURES; i++)
        if (s->pictures[i].scanout.serial == serial)
            return &s->pictures[i];
    return NULL;
}

/* Does what is published do something before the next refresh? Held. */
static bool is_prompt(const struct sim *s)
{
    return s->scan.mode.slowest_mhz > 0 ||
        (s->scan.n_queue > 0 && s->scan.queue[0].kind == TP_SCAN_ASYNC);
}

/* --- orders --- */

static int publish(struct tp_panel *p, const struct tp_kms_scanout *scanout)
{
    struct sim *s = (struct sim *)p;
    pthread_mutex_lock(&s->mutex);
    struct picture *slot = find(s, 0);
    enum tp_scan_kind kind = scanout->async ? TP_SCAN_ASYNC : TP_SCAN_FIFO;
    int r = slot ? tp_scan_publish(&s->scan, scanout->serial, kind, true, tp_now_ns()) : -EAGAIN;
    if (r == 0) {
        hold(slot, scanout);
        if (s->copies)
            tp_copies_publish(s->copies, scanout, &slot->copies);
        if (s->scan.n_queue > 1 || is_prompt(s))
            pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->mutex);
    return r;
}

static bool make_mode(const struct tp_panel_sim_config *c, const struct tp_kms_mode *mode, bool vrr,
    struct tp_scan_mode *out)
{
    if (mode->refresh_mhz == 0 || mode->height_px == 0)
        return false;
    int64_t period = MHZ_NS / mode->refresh_mhz;
    int64_t blank =
        period > 2 * BLANK_NS ? BLANK_NS * mode->height_px / (period - BLANK_NS) + 1 : 0;
    *out = (struct tp_scan_mode){.refresh_mhz = mode->refresh_mhz,
        .active_lines = mode->height_px,
        .blanking_lines = blank > BLANK_LINES ? (uint32_t)blank : BLANK_LINES};
    if (!vrr)
        return true;
    /* A mode's own rate is the highest that it can have. */
    if (c->vrr_max_mhz < out->refresh_mhz)
        out->refresh_mhz = c->vrr_max_mhz;
    out->slowest_mhz = c->vrr_min_mhz;
    return c->vrr_min_mhz > 0 && c->vrr_min_mhz <= out->refresh_mhz;
}

static int set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    struct sim *s = (struct sim *)p;
    struct tp_scan_mode m;
    if (!make_mode(&s->config, mode, vrr, &m))
        return -EINVAL;
    pthread_mutex_lock(&s->mutex);
    int r = tp_scan_set_mode(&s->scan, &m, tp_now_ns());
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mutex);
    return r;
}

/* --- the panel's thread --- */

/* When there is something to do. With a fixed rate and one picture at most, the latch can be seen
 * to with the refresh. Held. */
static int64_t next_ns(const struct sim *s)
{
    const struct tp_scan *scan = &s->scan;
    if (scan->n_queue > 1 || is_prompt(s) || scan->n_events > 0)
        return tp_scan_next(scan);
    return tp_scan_refresh_ns(scan, scan->sequence + 1);
}

/* What has happened since the last turn. */
struct happened {
    struct tp_scan_event events[BATCH];
    struct picture *pictures[BATCH]; /* what they are about; NULL: nothing */
    unsigned n;
    const struct tp_scan_event *tick; /* the last refresh; NULL: none */
    uint32_t slowest_mhz;
    bool lit;                         /* something else is scanned out, or once more: */
    struct tp_lit_scan scan;          /* borrows its scanout and copies */
};

static void take_one(struct sim *s, struct happened *h)
{
    const struct tp_scan_event *e = &h->events[h->n];
    h->pictures[h->n] = e->serial ? find(s, e->serial) : NULL;
    if (e->type == TP_SCAN_REFRESH)
        h->tick = e;
    if (e->type == TP_SCAN_REFRESH || e->type == TP_SCAN_FLIP) {
        h->lit = true;
        s->shown = h->pictures[h->n];
        h->scan.first_line = e->type == TP_SCAN_FLIP ? e->line : 0;
        h->scan.fresh = e->fresh;
    }
    h->n++;
}

static void take(struct sim *s, int64_t now, struct happened *h)
{
    h->n = 0;
    h->tick = NULL;
    h->lit = false;
    while (h->n < BATCH && tp_scan_step(&s->scan, now, &h->events[h->n]))
        take_one(s, h);
    h->slowest_mhz = s->scan.mode.slowest_mhz;
    h->scan.sequence = s->scan.sequence;
    h->scan.lines = s->scan.mode.active_lines;
    h->scan.start_ns = s->scan.time_ns;
    h->scan.end_ns = tp_scan_line_ns(&s->scan, h->scan.lines);
    h->scan.limit_ns = s->scan.time_ns + MHZ_NS / s->scan.mode.refresh_mhz;
    h->scan.scanout = s->shown ? s->shown->scanout : (struct tp_kms_scanout){.serial = 0};
    h->scan.copies = s->shown ? s->shown->copies : (struct tp_copy_set){.none = 0};
}

static void release(struct sim *s, struct picture *p)
{
    for (unsigned i = 0; i < p->scanout.n_layers; i++) {
        if (!p->copies.of[i] || tp_copy_tells(p->copies.of[i]))
            s->events->released(s->data, p->scanout.serial, i, -1);
        tp_kms_fb_unref(p->scanout.layers[i].fb);
    }
    p->scanout.n_layers = 0;
    tp_copy_let_go(&p->copies);
}

/* On the copies' thread. */
static void on_copied(void *data, uint64_t serial, unsigned layer)
{
    const struct sim *s = data;
    s->events->released(s->data, serial, layer, -1);
}

/* On the beam's thread. */
static void on_torn(void *data, const struct tp_tear *t)
{
    const struct sim *s = data;
    if (s->events->torn)
        s->events->torn(s->data, t->sequence, t->time_ns, t->line);
    if (s->config.torn)
        s->config.torn(s->config.torn_data, t);
}

static bool is_end(const struct tp_scan_event *e)
{
    return e->type == TP_SCAN_DROP || e->type == TP_SCAN_RELEASE;
}

/* The tick comes first: it is waited for. Who reads along is told before anybody hears of a
 * release. */
static void tell(struct sim *s, const struct happened *h)
{
    if (h->tick)
        s->events->tick(s->data,
            &(struct tp_panel_tick){.sequence = h->tick->sequence,
                .time_ns = h->tick->time_ns,
                .period_ns = h->tick->period_ns,
                .active_ns = h->tick->end_ns - h->tick->time_ns,
                .slowest_mhz = h->slowest_mhz});
    if (h->lit && (s->beam || s->config.capture))
        tp_lit_show(&s->lit, &h->scan);
    for (unsigned i = 0; i < h->n; i++) {
        const struct tp_scan_event *e = &h->events[i];
        if (is_end(e))
            release(s, h->pictures[i]);
        else if (e->type != TP_SCAN_LATCH && e->fresh)
            s->events->shown(s->data, e->serial, e->time_ns);
    }
}

static void *run(void *data)
{
    struct sim *s = data;
    struct tp_punctual punctual = {0};
    struct happened h;
    /* Not before all others, as those are that read: the client whose event it sends wakes on this
     * core, and would have to wait for it, or for another core. */
    prctl(PR_SET_NAME, "panel");
    prctl(PR_SET_TIMERSLACK, 1ul);
    pthread_mutex_lock(&s->mutex);
    while (!s->stop) {
        int64_t due = next_ns(s), now = tp_now_ns(), at = tp_punctual_sleep_ns(&punctual, due);
        const struct timespec until = {at / SECOND, at % SECOND};
        if (now < at) {
            if (pthread_cond_timedwait(&s->wake, &s->mutex, &until) == ETIMEDOUT)
                tp_punctual_woke(&punctual, at, tp_now_ns());
            continue;
        }
        if (now < due) {
            pthread_mutex_unlock(&s->mutex);
            tp_punctual_wait(due);
            pthread_mutex_lock(&s->mutex);
            continue;
        }
        take(s, now, &h);
        pthread_mutex_unlock(&s->mutex);
        tell(s, &h);
        pthread_mutex_lock(&s->mutex);
        for (unsigned i = 0; i < h.n; i++)
            if (is_end(&h.events[i]))
                h.pictures[i]->scanout.serial = 0;
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* --- the panel --- */

static int start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    struct sim *s = (struct sim *)p;
    struct tp_scan_mode mode;
    struct tp_scan_event first;
    int r = 0;
    s->events = events;
    s->data = data;
    make_mode(&s->config, &s->config.mode, false, &mode);
    tp_scan_init(&s->scan, &mode, p->lead_ns, p->pipeline, tp_now_ns());
    tp_scan_step(&s->scan, s->scan.base_ns, &first); /* refresh 0: nobody had heard of it */
    if (s->config.watch != TP_WATCH_OFF || s->config.capture || s->config.looked)
        r = tp_copies_start(on_copied, s, &s->copies, e);
    if (r == 0 && s->config.watch != TP_WATCH_OFF)
        r = tp_beam_start(&s->lit, s->config.watch, on_torn, s, &s->beam, e);
    if (r == 0 && s->config.capture)
        r = tp_capture_start(s->config.capture, &s->lit, e);
    if (r < 0)
        return r;
    r = pthread_create(&s->thread, NULL, run, s);
    if (r)
        return tp_fail_errno(e, r, NULL, "the panel's thread cannot start");
    s->running = true;
    return 0;
}

static int look(struct tp_panel *p, struct tp_image *out, struct tp_error *e)
{
    struct sim *s = (struct sim *)p;
    struct picture now = {.scanout.n_layers = 0};
    struct tp_compose_copy copies[TP_KMS_LAYERS];
    uint32_t lost;
    (void)e;
    pthread_mutex_lock(&s->mutex);
    /* A screen that is off has no mode, and is black. */
    struct tp_kms_mode mode =
        s->shown && s->shown->scanout.active ? s->shown->scanout.mode : s->config.mode;
    if (s->shown) {
        now.copies = s->shown->copies;
        hold(&now, &s->shown->scanout);
        tp_copy_hold(&now.copies);
    }
    pthread_mutex_unlock(&s->mutex);
    tp_image_init(out, mode.width_px, mode.height_px);
    tp_copy_settle(&now.copies, copies, &lost); /* lost: as it is now, in place */
    tp_compose_copied(&now.scanout, copies, out, 0, mode.height_px, NULL);
    let_go(&now);
    return 0;
}

void tp_panel_sim_count(struct tp_panel *p, struct tp_panel_sim_counts *out)
{
    struct sim *s = (struct sim *)p;
    *out = (struct tp_panel_sim_counts){.refreshes = 0};
    pthread_mutex_lock(&s->mutex);
    out->refreshes = s->scan.counts.refreshes;
    out->async_tears = s->scan.counts.async_tears;
    pthread_mutex_unlock(&s->mutex);
    if (s->beam)
        tp_beam_count(s->beam, &out->beam);
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
    tp_copies_stop(s->copies);
    tp_lit_stop(&s->lit);
    tp_beam_end(s->beam);
    if (s->config.capture)
        tp_capture_stop(s->config.capture);
    for (unsigned i = 0; i < PICTURES; i++)
        let_go(&s->pictures[i]);
    tp_lit_finish(&s->lit);
    tp_copies_destroy(s->copies);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

int tp_panel_sim_create(
    const struct tp_panel_sim_config *config, struct tp_panel **out, struct tp_error *e)
{
    static const struct tp_panel_ops ops = {start, publish, set_mode, look, destroy};
    struct tp_scan_mode mode;
    struct tp_scan tried;
    *out = NULL;
    if (!make_mode(config, &config->mode, false, &mode) ||
        tp_scan_init(&tried, &mode, config->lead_ns, config->pipeline, 0) < 0 ||
        config->vrr_min_mhz > config->vrr_max_mhz || (config->vrr_max_mhz && !config->vrr_min_mhz))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL,
            "a latch within a period, a pipeline of 0 to 2 refreshes, a range from low to high",
            "no such panel can be simulated");
    struct sim *s = tp_calloc(1, sizeof *s);
    s->config = *config;
    s->panel = (struct tp_panel){.ops = &ops,
        .watches = config->watch != TP_WATCH_OFF,
        .never_blocks = true,
        .can_async = true,
        .lead_ns = config->lead_ns,
        .pipeline = config->pipeline};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&s->mutex, NULL);
    tp_lit_init(&s->lit);
    *out = &s->panel;
    return 0;
}
