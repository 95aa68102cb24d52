/* Calls that have not come to their end: who waits, for what, until when. */
#include "frames/kms/internal.h"

#include <errno.h>

#include "base/buf.h"

struct tp_waiter *tp_waiter_add(struct tp_kms_file *file, enum tp_wait kind,
                                struct tp_drm_call *call, void *cookie)
{
    struct tp_kms *kms = file->kms;
    struct tp_waiter *w = kms->free_waiters;
    if (w)
        kms->free_waiters = w->next;
    else
        w = tp_calloc(1, sizeof *w);
    *w = (struct tp_waiter){
        .kind = kind,
        .file = file,
        .call = call,
        .cookie = cookie,
        .deadline_ns = INT64_MAX,
    };
    struct tp_waiter **at = &kms->waiters;
    while (*at)
        at = &(*at)->next;
    *at = w;
    return w;
}

static void take_out(struct tp_kms *kms, struct tp_waiter *w)
{
    struct tp_waiter **at = &kms->waiters;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    if (w->sync)
        tp_sync_wait_free(kms, w->sync);
    w->sync = NULL;
    w->next = kms->free_waiters;
    kms->free_waiters = w;
}

void tp_waiter_end(struct tp_kms *kms, struct tp_waiter *w, int result)
{
    void *cookie = w->cookie;
    struct tp_drm_call *call = w->call;
    take_out(kms, w);
    kms->ops.finish(kms->data, cookie, call, result);
}

void tp_waiter_again(struct tp_kms *kms, struct tp_waiter *w)
{
    struct tp_kms_file *file = w->file;
    struct tp_drm_call *call = w->call;
    void *cookie = w->cookie;
    take_out(kms, w);
    int r = tp_ioctl_dispatch(file, call, cookie);
    if (r != TP_KMS_WAITS)
        kms->ops.finish(kms->data, cookie, call, r);
}

void tp_waiters_again(struct tp_kms *kms)
{
    /* Those that are there now: whoever must wait still goes to the end of the list, all in their
     * order. */
    unsigned n = 0;
    for (struct tp_waiter *w = kms->waiters; w; w = w->next)
        n += w->kind == TP_WAIT_AGAIN;
    for (; n; n--) {
        struct tp_waiter *w = kms->waiters;
        while (w && w->kind != TP_WAIT_AGAIN)
            w = w->next;
        if (!w)
            return;
        tp_waiter_again(kms, w);
    }
}

void tp_waiters_release(struct tp_kms_file *file)
{
    struct tp_kms *kms = file->kms;
    for (struct tp_waiter *w = kms->waiters, *next; w; w = next) {
        next = w->next;
        if (w->file == file)
            take_out(kms, w);
    }
}

void tp_kms_cancel(struct tp_kms *kms, void *waiter)
{
    for (struct tp_waiter *w = kms->waiters, *next; w; w = next) {
        next = w->next;
        if (w->cookie == waiter)
            take_out(kms, w);
    }
}

int64_t tp_kms_deadline(const struct tp_kms *kms)
{
    int64_t first = INT64_MAX;
    for (const struct tp_waiter *w = kms->waiters; w; w = w->next)
        if (w->deadline_ns < first)
            first = w->deadline_ns;
    return first;
}

void tp_kms_expire(struct tp_kms *kms, int64_t now_ns)
{
    if (now_ns > kms->now_ns)
        kms->now_ns = now_ns;
    for (;;) {
        struct tp_waiter *w = kms->waiters;
        while (w && w->deadline_ns > now_ns)
            w = w->next;
        if (!w)
            return;
        /* The kernel gives up on a vblank after three seconds, with another errno. */
        tp_waiter_end(kms, w, w->kind == TP_WAIT_VBLANK ? -EBUSY : -ETIME);
    }
}
