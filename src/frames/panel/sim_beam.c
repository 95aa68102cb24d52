#include "frames/panel/sim_beam.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/proc.h"

struct tp_beam {
    struct tp_lit *lit;
    struct tp_watch *watch;  /* owned */
    struct tp_lit_scan scan; /* what is read */
    void (*torn)(void *data, const struct tp_tear *t);
    void *data;
    pthread_t thread;
    pthread_mutex_t mutex; /* all below */
    struct tp_beam_counts counts;
};

static bool has(void *data)
{
    struct tp_beam *b = data;
    return tp_lit_has(b->lit, b->scan.scanout.serial);
}

static void on_torn(void *data, const struct tp_tear *t)
{
    struct tp_beam *b = data;
    pthread_mutex_lock(&b->mutex);
    tp_watch_count(b->watch, &b->counts.watch);
    if (b->counts.n_tears < TP_BEAM_TEARS)
        b->counts.tears[b->counts.n_tears++] = *t;
    pthread_mutex_unlock(&b->mutex);
    if (b->torn)
        b->torn(b->data, t);
}

static void begin(struct tp_beam *b, const struct tp_lit_scan *scan)
{
    tp_watch_end(b->watch);
    tp_lit_let_go(&b->scan);
    b->scan = *scan;
    struct tp_compose_copy views[TP_KMS_LAYERS];
    uint32_t lost, copied = tp_copy_settle(&b->scan.copies, views, &lost);
    const struct tp_watch_scan s = {
        .scanout = &b->scan.scanout,
        .sequence = b->scan.sequence,
        .first_line = b->scan.first_line,
        .lines = b->scan.lines,
        .start_ns = b->scan.start_ns,
        .end_ns = b->scan.end_ns,
        .limit_ns = b->scan.limit_ns,
        .copied = copied,
        .lost = lost,
    };
    tp_watch_begin(b->watch, &s);
    pthread_mutex_lock(&b->mutex);
    tp_watch_count(b->watch, &b->counts.watch);
    pthread_mutex_unlock(&b->mutex);
}

static void *run(void *data)
{
    struct tp_beam *b = data;
    struct tp_lit_scan next;
    uint64_t turn = 0;
    tp_lit_hurry("beam");
    for (;;) {
        switch (tp_lit_wait(b->lit, &turn, tp_watch_next(b->watch), &next)) {
        case TP_LIT_NEWS:
            begin(b, &next);
            break;
        case TP_LIT_TIME:
            tp_watch_step(b->watch, tp_now_ns());
            break;
        case TP_LIT_STOP:
            tp_watch_end(b->watch);
            tp_lit_let_go(&b->scan);
            return NULL;
        }
    }
}

int tp_beam_start(struct tp_lit *lit, enum tp_watch_how how,
    void (*torn)(void *data, const struct tp_tear *t), void *data, struct tp_beam **out,
    struct tp_error *e)
{
    struct tp_beam *b = tp_calloc(1, sizeof *b);
    *b = (struct tp_beam){.lit = lit, .torn = torn, .data = data};
    tp_watch_create(&(struct tp_watch_config){how, has, on_torn, b}, &b->watch);
    pthread_mutex_init(&b->mutex, NULL);
    int r = pthread_create(&b->thread, NULL, run, b);
    *out = b;
    if (r == 0)
        return 0;
    *out = NULL;
    tp_watch_destroy(b->watch);
    pthread_mutex_destroy(&b->mutex);
    free(b);
    return tp_fail_errno(e, r, NULL, "the thread that watches for tears cannot start");
}

void tp_beam_end(struct tp_beam *b)
{
    if (!b)
        return;
    pthread_join(b->thread, NULL);
    tp_watch_destroy(b->watch);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

void tp_beam_count(struct tp_beam *b, struct tp_beam_counts *out)
{
    pthread_mutex_lock(&b->mutex);
    *out = b->counts;
    pthread_mutex_unlock(&b->mutex);
}
