#include "frames/panel/sim_copy.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "frames/panel/sim_lit.h"

#define AFTER_NS 150000 /* from publish: the flip event has left */

struct tp_copy {
    struct tp_copies *all;
    unsigned refs; /* 0: free */
    enum { WANTED, COPYING, WHOLE, LOST } state;
    bool late; /* the next picture came while it was copied */
    bool told; /* that it is released */
    uint64_t serial;
    unsigned layer;
    struct tp_kms_fb *fb; /* held while WANTED and COPYING */
    uint32_t top, rows;
    size_t pitch;
    uint8_t *bytes; /* owned */
    size_t room;
};

struct tp_copies {
    tp_copies_released released;
    void *data;
    int timer; /* owned */
    pthread_t thread;
    bool running;
    pthread_mutex_t reading; /* one copies at a time: */
    struct tp_memory memory;
    pthread_mutex_t mutex; /* all below, and the copies */
    pthread_cond_t settled;
    bool stop, armed;
    uint64_t newest; /* serial */
    struct tp_copy copies[TP_COPIES];
};

/* --- one copy; the mutex is held, but for reading --- */

static struct tp_kms_fb *settle_as(struct tp_copy *c, bool whole)
{
    struct tp_kms_fb *fb = c->fb;
    c->state = whole ? WHOLE : LOST;
    c->fb = NULL;
    return fb;
}

static void unref(struct tp_copy *c)
{
    if (--c->refs > 0)
        return;
    if (c->state == WANTED)
        tp_kms_fb_unref(settle_as(c, false));
    if (c >= &c->all->copies[TP_COPIES_KEPT]) {
        free(c->bytes);
        c->bytes = NULL;
        c->room = 0;
    }
}

static bool read_rows(struct tp_copies *all, struct tp_copy *c)
{
    struct tp_kms_fb_info fb;
    tp_kms_fb_info(c->fb, &fb);
    const struct tp_memory_map *map = tp_memory_open(&all->memory, &fb);
    size_t need = c->pitch * c->rows;
    if (!map)
        return false;
    if (c->room < need) {
        free(c->bytes);
        c->bytes = tp_calloc(need, 1);
        c->room = need;
    }
    bool whole = true;
    tp_memory_begin(map, fb.fds[0]);
    for (uint32_t i = 0; i < c->rows && whole; i++) {
        uint64_t at = fb.offsets[0] + (uint64_t)(c->top + i) * fb.pitches[0];
        uint8_t *to = c->bytes + i * c->pitch;
        const uint8_t *from = tp_memory_at(map, fb.fds[0], at, c->pitch, to);
        whole = from != NULL;
        if (from && from != to)
            memcpy(to, from, c->pitch);
    }
    tp_memory_end(map, fb.fds[0]);
    return whole;
}

/* Held; let go meanwhile. The caller has a reference. */
static bool settle(struct tp_copy *c)
{
    struct tp_copies *all = c->all;
    while (c->state == COPYING)
        pthread_cond_wait(&all->settled, &all->mutex);
    if (c->state != WANTED)
        return c->state == WHOLE;
    c->state = COPYING;
    pthread_mutex_unlock(&all->mutex);
    pthread_mutex_lock(&all->reading);
    bool whole = read_rows(all, c);
    pthread_mutex_unlock(&all->reading);
    pthread_mutex_lock(&all->mutex);
    tp_kms_fb_unref(settle_as(c, whole && !c->late));
    pthread_cond_broadcast(&all->settled);
    return c->state == WHOLE;
}

/* --- sets --- */

static void begin(
    struct tp_copies *all, const struct tp_kms_scanout *s, unsigned layer, struct tp_copy_set *out)
{
    const struct tp_kms_layer *l = &s->layers[layer];
    struct tp_kms_fb_info fb;
    tp_kms_fb_info(l->fb, &fb);
    unsigned pixel = fb.own ? tp_compose_pixel_bytes(&fb) : 0;
    uint64_t top = l->src_y >> 16, end = ((uint64_t)l->src_y + l->src_h + 0xffff) >> 16;
    struct tp_copy *c = all->copies;
    end = end < fb.height ? end : fb.height;
    if (pixel == 0 || top >= end)
        return;
    while (c < &all->copies[TP_COPIES] && c->refs > 0)
        c++;
    if (c == &all->copies[TP_COPIES]) {
        out->none |= 1u << layer;
        return;
    }
    c->refs = 1;
    c->state = WANTED;
    c->late = c->told = false;
    c->serial = s->serial;
    c->layer = layer;
    c->fb = tp_kms_fb_ref(l->fb);
    c->top = (uint32_t)top;
    c->rows = (uint32_t)(end - top);
    c->pitch = (size_t)fb.width * pixel;
    out->of[layer] = c;
}

void tp_copies_publish(struct tp_copies *c, const struct tp_kms_scanout *s, struct tp_copy_set *out)
{
    const struct itimerspec soon = {.it_value.tv_nsec = AFTER_NS};
    bool any = false;
    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&c->mutex);
    c->newest = s->serial;
    for (unsigned i = 0; i < TP_COPIES; i++) {
        struct tp_copy *copy = &c->copies[i];
        copy->late = true;
        if (copy->refs > 0 && copy->state == WANTED)
            tp_kms_fb_unref(settle_as(copy, false));
    }
    for (unsigned i = 0; i < s->n_layers && s->active && !c->stop; i++) {
        begin(c, s, i, out);
        any |= out->of[i] != NULL;
    }
    if (any && !c->armed)
        timerfd_settime(c->timer, 0, &soon, NULL);
    c->armed |= any;
    pthread_mutex_unlock(&c->mutex);
}

static struct tp_copies *all_of(const struct tp_copy_set *set)
{
    for (unsigned i = 0; i < TP_KMS_LAYERS; i++)
        if (set->of[i])
            return set->of[i]->all;
    return NULL;
}

void tp_copy_hold(struct tp_copy_set *set)
{
    struct tp_copies *all = all_of(set);
    if (!all)
        return;
    pthread_mutex_lock(&all->mutex);
    for (unsigned i = 0; i < TP_KMS_LAYERS; i++)
        if (set->of[i])
            set->of[i]->refs++;
    pthread_mutex_unlock(&all->mutex);
}

void tp_copy_let_go(struct tp_copy_set *set)
{
    struct tp_copies *all = all_of(set);
    if (!all)
        return;
    pthread_mutex_lock(&all->mutex);
    for (unsigned i = 0; i < TP_KMS_LAYERS; i++)
        if (set->of[i])
            unref(set->of[i]);
    pthread_mutex_unlock(&all->mutex);
    memset(set, 0, sizeof *set);
}

uint32_t tp_copy_settle(
    const struct tp_copy_set *set, struct tp_compose_copy views[TP_KMS_LAYERS], uint32_t *lost)
{
    struct tp_copies *all = all_of(set);
    uint32_t copied = set->none;
    *lost = set->none;
    memset(views, 0, TP_KMS_LAYERS * sizeof *views);
    if (!all)
        return copied;
    pthread_mutex_lock(&all->mutex);
    for (unsigned i = 0; i < TP_KMS_LAYERS; i++) {
        struct tp_copy *c = set->of[i];
        if (!c)
            continue;
        copied |= 1u << i;
        if (settle(c))
            views[i] = (struct tp_compose_copy){c->bytes, c->top, c->rows, c->pitch};
        else
            *lost |= 1u << i;
    }
    pthread_mutex_unlock(&all->mutex);
    return copied;
}

bool tp_copy_tells(struct tp_copy *copy)
{
    pthread_mutex_lock(&copy->all->mutex);
    bool tells = !copy->told;
    copy->told = true;
    pthread_mutex_unlock(&copy->all->mutex);
    return tells;
}

/* --- the thread --- */

/* Held; let go meanwhile. */
static void turn(struct tp_copies *c)
{
    c->armed = false;
    for (unsigned i = 0; i < TP_COPIES && !c->stop; i++) {
        struct tp_copy *copy = &c->copies[i];
        if (copy->refs == 0)
            continue;
        copy->refs++;
        if (copy->state == WANTED)
            settle(copy);
        if (copy->state == WHOLE && copy->serial < c->newest && !copy->told) {
            copy->told = true;
            pthread_mutex_unlock(&c->mutex);
            c->released(c->data, copy->serial, copy->layer);
            pthread_mutex_lock(&c->mutex);
        }
        unref(copy);
    }
}

static void *run(void *data)
{
    struct tp_copies *c = data;
    uint64_t count;
    tp_lit_hurry("copy");
    pthread_mutex_lock(&c->mutex);
    while (!c->stop) {
        pthread_mutex_unlock(&c->mutex);
        ssize_t n = read(c->timer, &count, sizeof count);
        (void)n; /* a signal: there may be nothing to do */
        pthread_mutex_lock(&c->mutex);
        turn(c);
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

int tp_copies_start(
    tp_copies_released released, void *data, struct tp_copies **out, struct tp_error *e)
{
    struct tp_copies *c = tp_calloc(1, sizeof *c);
    c->released = released;
    c->data = data;
    pthread_mutex_init(&c->reading, NULL);
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->settled, NULL);
    for (unsigned i = 0; i < TP_COPIES; i++)
        c->copies[i].all = c;
    c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int r = c->timer < 0 ? errno : pthread_create(&c->thread, NULL, run, c);
    c->running = r == 0;
    *out = c;
    if (r == 0)
        return 0;
    *out = NULL;
    tp_copies_destroy(c);
    return tp_fail_errno(e, r, NULL, "the thread that copies pictures cannot start");
}

void tp_copies_stop(struct tp_copies *c)
{
    const struct itimerspec now = {.it_value.tv_nsec = 1};
    if (!c || !c->running)
        return;
    pthread_mutex_lock(&c->mutex);
    c->stop = true;
    timerfd_settime(c->timer, 0, &now, NULL);
    pthread_mutex_unlock(&c->mutex);
    pthread_join(c->thread, NULL);
    c->running = false;
}

void tp_copies_destroy(struct tp_copies *c)
{
    if (!c)
        return;
    tp_memory_finish(&c->memory);
    for (unsigned i = 0; i < TP_COPIES; i++)
        free(c->copies[i].bytes);
    if (c->timer >= 0)
        close(c->timer);
    pthread_cond_destroy(&c->settled);
    pthread_mutex_destroy(&c->mutex);
    pthread_mutex_destroy(&c->reading);
    free(c);
}
