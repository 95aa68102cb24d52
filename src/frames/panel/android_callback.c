/* What SurfaceFlinger tells of transactions, on any thread. */
#include <linux/sync_file.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "frames/panel/android_internal.h"

struct tp_android_transaction *tp_android_transaction_get(struct tp_android *a)
{
    struct tp_android_transaction *t = a->unused;
    if (t)
        a->unused = t->next;
    else
        t = tp_calloc(1, sizeof *t);
    memset(t, 0, sizeof *t);
    t->panel = a;
    t->id = ++a->next_id;
    for (unsigned i = 0; i < TP_KMS_LAYERS; i++)
        t->sets[i].transaction = t;
    a->outstanding++;
    return t;
}

/* One callback of it has been. mutex is held. */
static void called(struct tp_android *a, struct tp_android_transaction *t)
{
    if (--t->callbacks > 0)
        return;
    t->next = a->unused;
    a->unused = t;
    a->outstanding--;
}

/* The transaction's picture was latched, in place of all that were so at the same time. */
static void see(struct tp_android *a, uint64_t serial, int64_t latched_ns, int fence)
{
    struct tp_android_seen *last = a->n_seen > 0 ? &a->seen[a->n_seen - 1] : NULL;
    for (unsigned i = 0; i < a->n_seen && fence >= 0; i++)
        if (a->seen[i].serial == serial && a->seen[i].fence < 0) { /* known from its latch */
            a->seen[i].fence = fence;
            return;
        }
    if (serial == 0 || serial <= a->shown_serial || latched_ns <= 0 ||
        (last && serial <= last->serial)) {
        if (fence >= 0)
            close(fence);
        return;
    }
    if (last && (last->latched_ns == latched_ns || a->n_seen == TP_ANDROID_SEEN)) {
        if (last->fence >= 0)
            close(last->fence);
        a->n_seen--;
    }
    a->seen[a->n_seen++] = (struct tp_android_seen){serial, latched_ns, fence};
}

void tp_android_on_commit(void *context, ASurfaceTransactionStats *stats)
{
    struct tp_android_transaction *t = context;
    struct tp_android *a = t->panel;
    int64_t latched = a->api.ASurfaceTransactionStats_getLatchTime(stats);
    pthread_mutex_lock(&a->mutex);
    for (unsigned slot = 0; slot < TP_KMS_LAYERS && latched > 0; slot++)
        if (t->sets[slot].layer)
            tp_ledger_latch(&a->ledger, slot, t->id);
    see(a, t->serial, latched, -1);
    pthread_mutex_unlock(&a->mutex);
}

void tp_android_on_complete(void *context, ASurfaceTransactionStats *stats)
{
    struct tp_android_transaction *t = context;
    struct tp_android *a = t->panel;
    const struct tp_android_api *api = &a->api;
    struct {
        unsigned slot;
        int fence;
    } got[TP_KMS_LAYERS];
    unsigned n_got = 0;
    ASurfaceControl **controls = NULL;
    size_t n = 0;
    int64_t latched = api->ASurfaceTransactionStats_getLatchTime(stats);
    int present = api->ASurfaceTransactionStats_getPresentFenceFd(stats);
    api->ASurfaceTransactionStats_getASurfaceControls(stats, &controls, &n);
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        /* Only those that are listed may be asked for. */
        for (size_t i = 0; t->sets[slot].layer && i < n; i++) {
            if (controls[i] != t->sets[slot].layer)
                continue;
            got[n_got].slot = slot;
            got[n_got++].fence =
                api->ASurfaceTransactionStats_getPreviousReleaseFenceFd(stats, controls[i]);
            break;
        }
    }
    if (controls)
        api->ASurfaceTransactionStats_releaseASurfaceControls(controls);
    pthread_mutex_lock(&a->mutex);
    for (unsigned i = 0; i < n_got; i++)
        tp_ledger_complete(&a->ledger, got[i].slot, t->id, latched, got[i].fence);
    see(a, t->serial, latched, present);
    called(a, t);
    if (!tp_android_unlock_or_free(a) && !tp_android_handing_over)
        tp_android_tell(a);
}

void tp_android_on_release(void *context, int fence)
{
    struct tp_android_set *set = context;
    struct tp_android_transaction *t = set->transaction;
    struct tp_android *a = t->panel;
    pthread_mutex_lock(&a->mutex);
    tp_ledger_release(&a->ledger, (unsigned)(set - t->sets), t->id, fence);
    called(a, t);
    if (!tp_android_unlock_or_free(a) && !tp_android_handing_over)
        tp_android_tell(a);
}

/* When it appeared, as the fence has it; 0: not yet; -1: it does not say. */
static int64_t shown_at(int fence)
{
    struct sync_fence_info one = {.timestamp_ns = 0};
    struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uint64_t)(uintptr_t)&one};
    struct pollfd p = {.fd = fence, .events = POLLIN};
    if (fence < 0)
        return -1;
    if (poll(&p, 1, 0) == 0)
        return 0;
    if (ioctl(fence, SYNC_IOC_FILE_INFO, &info) < 0 || one.timestamp_ns == 0)
        return -1;
    return (int64_t)one.timestamp_ns;
}

void tp_android_tell_shown(struct tp_android *a, const struct tp_panel_tick *t)
{
    struct {
        uint64_t serial;
        int64_t time_ns;
    } shown[TP_ANDROID_SEEN];
    unsigned n = 0;
    pthread_mutex_lock(&a->mutex);
    while (n < a->n_seen) {
        struct tp_android_seen *s = &a->seen[n];
        int64_t at = shown_at(s->fence);
        int64_t earliest = s->latched_ns + a->panel.pipeline * t->period_ns;
        if (at < 0) /* the first refresh that can show it */
            at = s->fence >= 0 || t->time_ns > earliest ? t->time_ns : 0;
        if (at == 0)
            break;
        shown[n].serial = s->serial;
        shown[n++].time_ns = at;
        if (s->fence >= 0)
            close(s->fence);
    }
    if (n > 0)
        a->shown_serial = shown[n - 1].serial;
    memmove(a->seen, a->seen + n, (a->n_seen - n) * sizeof *a->seen);
    a->n_seen -= n;
    pthread_mutex_unlock(&a->mutex);
    for (unsigned i = 0; i < n && tp_android_begin_event(a); i++) {
        a->events->shown(a->data, shown[i].serial, shown[i].time_ns);
        tp_android_end_event(a);
    }
}
