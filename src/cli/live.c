#include "cli/live.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "frames/census/figures.h"
#include "frames/pace/profile.h"
#include "report/capture.h"

#define SECOND INT64_C(1000000000)
#define TURN_NS (SECOND / 20) /* the rings hold a second at the very least */
#define COUNT_LOST "census.lost"

struct tp_live {
    struct tp_server *server;
    struct tp_follow *follow;      /* owned */
    struct tp_figures *figures;    /* owned */
    struct tp_recorder *recorder;  /* owned; NULL: nothing is captured */
    char *screen;                  /* its name, until it has a frame; owned */
    uint64_t lost;                 /* entries of rings, that came too fast */
    bool has_settings;             /* some guest's were told: */
    unsigned of;                   /* this one's */
    int64_t flushed_ns;
    pthread_t thread;
    pthread_mutex_t mutex; /* the rest */
    pthread_cond_t wake;
    bool running, stop;
};

/* --- what is told --- */

static void on_guest(void *data, unsigned guest, const char *name, uint32_t pid)
{
    struct tp_live *l = data;
    (void)pid;
    if (guest == TP_JOIN_SCREEN) {
        free(l->screen);
        l->screen = tp_strdup(name);
    } else if (l->recorder) {
        tp_recorder_guest(l->recorder, guest, name);
    }
}

static void on_gone(void *data, unsigned guest)
{
    struct tp_live *l = data;
    if (l->of == guest)
        l->has_settings = false;
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct tp_live *l = data;
    tp_figures_frame(l->figures, f);
    if (!l->recorder)
        return;
    if (f->guest == TP_JOIN_SCREEN && l->screen) {
        tp_recorder_guest(l->recorder, f->guest, l->screen);
        free(l->screen);
        l->screen = NULL;
    }
    tp_recorder_frame(l->recorder, f);
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    struct tp_live *l = data;
    tp_figures_refresh(l->figures, r);
    if (l->recorder)
        tp_recorder_refresh(l->recorder, r);
}

static void on_lost(void *data, unsigned guest, uint64_t entries)
{
    (void)guest;
    ((struct tp_live *)data)->lost += entries;
}

static void put_gate(struct tp_live *l, int64_t at_ns, uint64_t mode)
{
    if (mode <= TP_GATE_LATENCY)
        tp_recorder_setting(
            l->recorder, at_ns, "gate", "%s", tp_gate_mode_name((enum tp_gate_mode)mode));
}

/* A capture's settings are the screen's and one guest's. */
static void on_setting(void *data, unsigned guest, const struct tp_ring_setting *s)
{
    struct tp_live *l = data;
    bool is_screen = guest == TP_JOIN_SCREEN;
    if (!l->recorder || (!is_screen && !(l->has_settings && l->of == guest)))
        return;
    if (is_screen && s->what == TP_SETTING_REFRESH)
        tp_recorder_setting(l->recorder, s->at_ns, "refresh-mhz", "%lld", (long long)s->value);
    else if (!is_screen && s->what == TP_SETTING_CAP)
        tp_recorder_setting(l->recorder, s->at_ns, "cap-mhz", "%lld", (long long)s->value);
    else if (!is_screen && s->what == TP_SETTING_GATE)
        put_gate(l, s->at_ns, (uint64_t)s->value);
}

static void put_guest(struct tp_live *l, const struct tp_ring_view *v, int64_t now)
{
    put_gate(l, now, tp_ring_look(v, TP_GAUGE_GATE));
    tp_recorder_setting(l->recorder, now, "cap-mhz", "%llu",
        (unsigned long long)tp_ring_look(v, TP_GAUGE_CAP_MHZ));
    tp_recorder_setting(l->recorder, now, "images", "%llu",
        (unsigned long long)tp_ring_look(v, TP_GAUGE_IMAGES));
    tp_recorder_setting(l->recorder, now, "release-fence", "%s",
        tp_ring_look(v, TP_GAUGE_RELEASE_FENCE) ? "on" : "off");
    uint64_t connected = tp_ring_look(v, TP_GAUGE_CONNECTED);
    if (connected > 0)
        tp_recorder_setting(l->recorder, now, "board", "%s", connected > 1 ? "on" : "off");
}

static void put_screen(struct tp_live *l, const struct tp_ring_view *v)
{
    tp_recorder_setting(l->recorder, 0, "pipeline", "%llu",
        (unsigned long long)tp_ring_look(v, TP_GAUGE_PIPELINE));
    tp_recorder_setting(l->recorder, 0, "lead-ns", "%llu",
        (unsigned long long)tp_ring_look(v, TP_GAUGE_LEAD_NS));
}

/* --- turns --- */

static void take_rings(struct tp_live *l, int64_t now)
{
    struct tp_census_ring rings[TP_SERVER_RINGS];
    const struct tp_ring_view *v;
    unsigned guest, n = tp_server_census(l->server, rings, TP_SERVER_RINGS);
    tp_follow_rings(l->follow, rings, n);
    for (unsigned i = 0; i < n; i++)
        close(rings[i].fd);
    for (unsigned i = 0; l->recorder && !l->has_settings; i++) {
        v = tp_follow_view(l->follow, i, &guest, NULL);
        if (!v)
            break;
        if (guest == TP_JOIN_SCREEN)
            continue;
        put_guest(l, v, now);
        l->has_settings = true;
        l->of = guest;
    }
}

static void count(struct tp_live *l)
{
    uint64_t counts[TP_COUNTERS];
    tp_follow_counts(l->follow, counts);
    for (unsigned i = 0; i < TP_COUNTERS; i++) {
        tp_figures_count(l->figures, tp_counter_names[i], counts[i]);
        if (l->recorder)
            tp_recorder_count(l->recorder, tp_counter_names[i], counts[i]);
    }
    if (l->recorder && l->lost > 0)
        tp_recorder_count(l->recorder, COUNT_LOST, l->lost);
}

static void turn(struct tp_live *l)
{
    int64_t now = tp_now_ns();
    take_rings(l, now);
    tp_follow_turn(l->follow, now);
    if (!l->recorder || now - l->flushed_ns < SECOND)
        return;
    l->flushed_ns = now;
    count(l);
    tp_recorder_flush(l->recorder);
}

static void *run(void *data)
{
    struct tp_live *l = data;
    prctl(PR_SET_NAME, "census");
    pthread_mutex_lock(&l->mutex);
    while (!l->stop) {
        int64_t at = tp_now_ns() + TURN_NS;
        const struct timespec until = {at / SECOND, at % SECOND};
        pthread_mutex_unlock(&l->mutex);
        turn(l);
        pthread_mutex_lock(&l->mutex);
        while (!l->stop && pthread_cond_timedwait(&l->wake, &l->mutex, &until) != ETIMEDOUT)
            ;
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* --- beginning and end --- */

static int begin_capture(struct tp_live *l, const struct tp_live_options *o, struct tp_error *e)
{
    const struct tp_ring_view *v;
    unsigned guest;
    int r = tp_recorder_create(o->capture, &l->recorder, e);
    if (r < 0)
        return r;
    tp_recorder_setting(l->recorder, 0, "made-by", "turnpike %s %s", TP_VERSION, o->command);
    tp_recorder_setting(l->recorder, 0, TP_SETTING_WATCHED, "%s", o->watched ? "on" : "off");
    take_rings(l, tp_now_ns());
    for (unsigned i = 0; (v = tp_follow_view(l->follow, i, &guest, NULL)); i++)
        if (guest == TP_JOIN_SCREEN) {
            put_screen(l, v);
            break;
        }
    return 0;
}

static void free_live(struct tp_live *l)
{
    tp_follow_destroy(l->follow);
    tp_figures_destroy(l->figures);
    free(l->screen);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}

int tp_live_create(struct tp_server *server, const struct tp_live_options *o, struct tp_live **out,
    struct tp_error *e)
{
    struct tp_live *l = tp_calloc(1, sizeof *l);
    const struct tp_join_sink sink = {.frame = on_frame,
        .refresh = on_refresh,
        .guest = on_guest,
        .gone = on_gone,
        .setting = on_setting,
        .lost = on_lost,
        .data = l};
    pthread_condattr_t attributes;
    *out = NULL;
    l->server = server;
    l->follow = tp_follow_create(&sink);
    l->figures = tp_figures_create();
    tp_figures_setting(l->figures, TP_SETTING_WATCHED, o->watched ? "on" : "off");
    l->flushed_ns = tp_now_ns();
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&l->mutex, NULL);
    int r = o->capture ? begin_capture(l, o, e) : 0;
    if (r == 0) {
        r = pthread_create(&l->thread, NULL, run, l);
        if (r)
            r = tp_fail_errno(e, r, NULL, "the thread that records frames cannot start");
    }
    if (r < 0) {
        tp_recorder_finish(l->recorder, NULL);
        free_live(l);
        return r;
    }
    l->running = true;
    *out = l;
    return 0;
}

void tp_live_stop(struct tp_live *l)
{
    if (!l->running)
        return;
    pthread_mutex_lock(&l->mutex);
    l->stop = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex);
    pthread_join(l->thread, NULL);
    l->running = false;
    tp_server_census_settle(l->server);
    int64_t now = tp_now_ns();
    take_rings(l, now);
    tp_follow_turn(l->follow, now);
    count(l);
    tp_follow_end(l->follow, now);
}

void tp_live_summary(const struct tp_live *l, struct tp_summary *out)
{
    tp_figures_get(l->figures, TP_FIGURES_MAIN, out);
}

int tp_live_finish(struct tp_live *l, struct tp_error *e)
{
    if (!l)
        return 0;
    tp_live_stop(l);
    int r = tp_recorder_finish(l->recorder, e);
    free_live(l);
    return r;
}
