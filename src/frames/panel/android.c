#include "frames/panel/android.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "frames/panel/android_internal.h"

#define SECOND INT64_C(1000000000)
#define PIPELINE                                                                                   \
    1u /* a latched picture is on the screen from the refresh after the next one on                \
        */
#define LEAD_NS INT64_C(4000000) /* SurfaceFlinger's usual wake-up before a refresh */

static void close_fence(int fence)
{
    close(fence);
}

static int dup_fence(int fence)
{
    return fcntl(fence, F_DUPFD_CLOEXEC, 0);
}

void tp_android_say(struct tp_android *a, enum tp_android_cause cause, const char *fmt, ...)
{
    char line[256];
    va_list args;
    if (!a->config.log || a->said & 1u << cause)
        return;
    a->said |= 1u << cause;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    a->config.log(a->config.log_data, line);
}

bool tp_android_begin_event(struct tp_android *a)
{
    pthread_mutex_lock(&a->mutex);
    bool go = a->events && !a->closing;
    a->telling += go;
    pthread_mutex_unlock(&a->mutex);
    return go;
}

void tp_android_end_event(struct tp_android *a)
{
    pthread_mutex_lock(&a->mutex);
    if (--a->telling == 0)
        pthread_cond_broadcast(&a->quiet);
    pthread_mutex_unlock(&a->mutex);
}

/* A copy's buffer came back. */
static void copy_back(struct tp_android *a, uint64_t tag, int fence)
{
    struct tp_android_copy *c = &a->buffers.copies[tag >> 8 & 0xff][tag & 0xff];
    if (c->fence >= 0)
        close(c->fence);
    c->fence = fence;
    atomic_store(&c->busy, false);
}

void tp_android_tell(struct tp_android *a)
{
    uint64_t tag;
    int fence;
    pthread_mutex_lock(&a->mutex);
    while (tp_ledger_take(&a->ledger, &tag, &fence)) {
        if (tag >> 63) {
            copy_back(a, tag, fence);
        } else if (!a->events || a->closing) {
            if (fence >= 0)
                close(fence);
        } else {
            a->telling++;
            pthread_mutex_unlock(&a->mutex);
            a->events->released(a->data, tag >> 4, (unsigned)(tag & 15) - 1, fence);
            pthread_mutex_lock(&a->mutex);
            if (--a->telling == 0)
                pthread_cond_broadcast(&a->quiet);
        }
    }
    pthread_mutex_unlock(&a->mutex);
}

/* The newest picture is no longer held. */
static void let_picture_go(struct tp_kms_scanout *s)
{
    for (unsigned i = 0; i < s->n_layers; i++) {
        tp_kms_fb_unref(s->layers[i].fb);
        if (s->layers[i].in_fence >= 0)
            close(s->layers[i].in_fence);
    }
    s->n_layers = 0;
}

static void hold_picture(struct tp_android *a, const struct tp_kms_scanout *s)
{
    struct tp_kms_scanout *p = &a->picture;
    *p = *s;
    p->gamma = p->hdr_metadata = NULL; /* they are the commit's */
    if (s->hdr_metadata && s->hdr_metadata_bytes >= sizeof a->hdr_metadata) {
        memcpy(&a->hdr_metadata, s->hdr_metadata, sizeof a->hdr_metadata);
        p->hdr_metadata = &a->hdr_metadata;
    }
    for (unsigned i = 0; i < p->n_layers; i++) {
        tp_kms_fb_ref(p->layers[i].fb);
        if (s->layers[i].in_fence < 0)
            continue;
        p->layers[i].in_fence = fcntl(s->layers[i].in_fence, F_DUPFD_CLOEXEC, 0);
        if (p->layers[i].in_fence < 0)
            tp_android_wait_fence(s->layers[i].in_fence);
    }
}

/* SurfaceFlinger waits for sync files alone; without descriptors to spare, nobody else can. */
static int wait_for_others(const struct tp_kms_scanout *s)
{
    for (unsigned i = 0; i < s->n_layers; i++) {
        int fence = s->layers[i].in_fence;
        if (fence < 0)
            continue;
        int copy = fcntl(fence, F_DUPFD_CLOEXEC, 0);
        bool waits = copy >= 0 && tp_android_is_sync_file(fence);
        if (copy >= 0)
            close(copy);
        if (!waits && !tp_android_wait_fence(fence))
            return -ETIMEDOUT;
    }
    return 0;
}

static int publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    struct tp_android *a = (struct tp_android *)p;
    int r = wait_for_others(s);
    if (r < 0)
        return r;
    pthread_mutex_lock(&a->commit);
    pthread_mutex_lock(&a->mutex);
    if (!tp_ledger_room(&a->ledger)) {
        pthread_mutex_unlock(&a->mutex);
        pthread_mutex_unlock(&a->commit);
        return -EAGAIN;
    }
    tp_ledger_supersede(&a->ledger);
    for (unsigned i = 0; i < s->n_layers; i++)
        tp_ledger_show(&a->ledger, s->serial << 4 | (i + 1), true);
    pthread_mutex_unlock(&a->mutex);
    struct tp_kms_scanout old = a->picture;
    hold_picture(a, s);
    if (!tp_android_is_away(a))
        tp_android_apply(a);
    pthread_mutex_unlock(&a->commit);
    let_picture_go(&old);
    tp_android_tell(a);
    return 0;
}

static int set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    struct tp_android *a = (struct tp_android *)p;
    if (mode->refresh_mhz == 0 || vrr)
        return -EINVAL;
    pthread_mutex_lock(&a->commit);
    a->mode = *mode;
    a->voted = false;
    pthread_mutex_unlock(&a->commit);
    return 0;
}

static int start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    struct tp_android *a = (struct tp_android *)p;
    pthread_mutex_lock(&a->mutex);
    a->events = events;
    a->data = data;
    pthread_mutex_unlock(&a->mutex);
    return tp_android_timeline_start(a, e);
}

static void forget_seen(struct tp_android *a)
{
    for (unsigned i = 0; i < a->n_seen; i++)
        if (a->seen[i].fence >= 0)
            close(a->seen[i].fence);
    a->n_seen = 0;
}

static void free_panel(struct tp_android *a)
{
    while (a->unused) {
        struct tp_android_transaction *t = a->unused;
        a->unused = t->next;
        free(t);
    }
    /* The last callbacks brought fences. */
    forget_seen(a);
    tp_android_buffers_finish(&a->buffers);
    tp_ledger_finish(&a->ledger);
    pthread_cond_destroy(&a->quiet);
    pthread_mutex_destroy(&a->mutex);
    pthread_mutex_destroy(&a->commit);
    free(a);
}

bool tp_android_unlock_or_free(struct tp_android *a)
{
    bool last = a->stopped && a->outstanding == 0;
    pthread_mutex_unlock(&a->mutex);
    if (last)
        free_panel(a);
    return last;
}

static void destroy(struct tp_panel *p)
{
    struct tp_android *a = (struct tp_android *)p;
    if (!a)
        return;
    tp_android_timeline_stop(a);
    pthread_mutex_lock(&a->commit);
    tp_android_drop_layers(a);
    if (a->window)
        a->api.ANativeWindow_release(a->window);
    a->window = NULL;
    let_picture_go(&a->picture);
    pthread_mutex_unlock(&a->commit);
    pthread_mutex_lock(&a->mutex);
    tp_ledger_supersede(&a->ledger);
    a->closing = true;
    while (a->telling > 0)
        pthread_cond_wait(&a->quiet, &a->mutex);
    forget_seen(a);
    pthread_mutex_unlock(&a->mutex);
    tp_android_tell(a); /* copies come back; others find nobody to tell */
    tp_android_buffers_finish(&a->buffers);
    pthread_mutex_lock(&a->mutex);
    a->stopped = true;
    /* SurfaceFlinger may still call back: then the last call frees it. */
    tp_android_unlock_or_free(a);
}

int tp_panel_android_create(
    const struct tp_panel_android_config *config, struct tp_panel **out, struct tp_error *e)
{
    static const struct tp_panel_ops ops = {start, publish, set_mode, tp_android_look, destroy};
    static const struct tp_ledger_fences fences = {dup_fence, close_fence};
    *out = NULL;
    if (config->mode.refresh_mhz == 0)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "a mode with a refresh rate",
            "there is no such screen");
    struct tp_android *a = tp_calloc(1, sizeof *a);
    int r = tp_android_api_load(&a->api, e);
    if (r < 0) {
        free(a);
        return r;
    }
    a->config = *config;
    a->mode = config->mode;
    a->hdr = config->hdr;
    a->direct = true;
    a->vsync_id = -1;
    a->panel = (struct tp_panel){
        .ops = &ops, .waits_fences = true, .lead_ns = LEAD_NS, .pipeline = PIPELINE};
    pthread_mutex_init(&a->commit, NULL);
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->quiet, NULL);
    tp_ledger_init(&a->ledger, &fences);
    tp_android_buffers_init(&a->buffers, &a->api);
    tp_android_clock_init(
        &a->clock, 1000 * SECOND / (int64_t)config->mode.refresh_mhz, tp_now_ns());
    a->announced_period_ns = a->clock.tick.period_ns;
    *out = &a->panel;
    return 0;
}

void tp_panel_android_count(struct tp_panel *p, struct tp_panel_android_counts *out)
{
    struct tp_android *a = (struct tp_android *)p;
    pthread_mutex_lock(&a->commit);
    pthread_mutex_lock(&a->mutex);
    *out = a->counts;
    out->pending = tp_ledger_pending(&a->ledger);
    out->direct = a->direct;
    pthread_mutex_unlock(&a->mutex);
    pthread_mutex_unlock(&a->commit);
}
