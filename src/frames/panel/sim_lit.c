#include "frames/panel/sim_lit.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/proc.h"

#define SECOND INT64_C(1000000000)

void tp_lit_init(struct tp_lit *l)
{
    pthread_condattr_t attributes;
    *l = (struct tp_lit){.turn = 0};
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->news, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&l->mutex, NULL);
}

void tp_lit_finish(struct tp_lit *l)
{
    tp_lit_let_go(&l->scan);
    pthread_cond_destroy(&l->news);
    pthread_mutex_destroy(&l->mutex);
}

static void hold(struct tp_lit_scan *to, const struct tp_lit_scan *from)
{
    *to = *from;
    to->scanout.gamma = to->scanout.hdr_metadata = NULL; /* the commit's own; not shown here */
    for (unsigned i = 0; i < to->scanout.n_layers; i++)
        tp_kms_fb_ref(to->scanout.layers[i].fb);
    tp_copy_hold(&to->copies);
}

void tp_lit_let_go(struct tp_lit_scan *scan)
{
    for (unsigned i = 0; i < scan->scanout.n_layers; i++)
        tp_kms_fb_unref(scan->scanout.layers[i].fb);
    scan->scanout.n_layers = 0;
    tp_copy_let_go(&scan->copies);
}

void tp_lit_show(struct tp_lit *l, const struct tp_lit_scan *scan)
{
    struct tp_lit_scan before;
    pthread_mutex_lock(&l->mutex);
    before = l->scan;
    hold(&l->scan, scan);
    l->turn++;
    atomic_store(&l->serial, scan->scanout.serial);
    pthread_cond_broadcast(&l->news);
    pthread_mutex_unlock(&l->mutex);
    tp_lit_let_go(&before);
}

void tp_lit_stop(struct tp_lit *l)
{
    pthread_mutex_lock(&l->mutex);
    l->stop = true;
    pthread_cond_broadcast(&l->news);
    pthread_mutex_unlock(&l->mutex);
}

enum tp_lit_wait tp_lit_wait(
    struct tp_lit *l, uint64_t *turn, int64_t until_ns, struct tp_lit_scan *out)
{
    const struct timespec until = {until_ns / SECOND, until_ns % SECOND};
    enum tp_lit_wait what = TP_LIT_NEWS;
    pthread_mutex_lock(&l->mutex);
    while (!l->stop && l->turn == *turn && what == TP_LIT_NEWS) {
        if (until_ns == INT64_MAX)
            pthread_cond_wait(&l->news, &l->mutex);
        else if (tp_now_ns() >= until_ns)
            what = TP_LIT_TIME;
        else
            pthread_cond_timedwait(&l->news, &l->mutex, &until);
    }
    if (l->stop) {
        what = TP_LIT_STOP;
    } else if (l->turn != *turn) {
        what = TP_LIT_NEWS;
        *turn = l->turn;
        hold(out, &l->scan);
    }
    pthread_mutex_unlock(&l->mutex);
    return what;
}

bool tp_lit_has(struct tp_lit *l, uint64_t serial)
{
    /* An exchange of nothing: what the caller has read before stays before it. */
    return atomic_fetch_add(&l->serial, 0) == serial;
}

void tp_lit_hurry(const char *name)
{
    const struct sched_param first = {.sched_priority = 1};
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_TIMERSLACK, 1ul);
    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}
