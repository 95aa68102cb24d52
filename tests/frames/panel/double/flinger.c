/* libandroid.so: SurfaceFlinger. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

#define LAYERS 8u /* that a transaction may name */

/* What a fence is until it signals; then it is nothing: descriptors of it are signalled ones. */
struct fence {
    unsigned refs;
    int64_t signal_ns;
    int fd; /* owned; -1: nobody has asked for it yet */
};

typedef void release_callback(void *, int);
typedef struct ASurfaceTransactionStats ASurfaceTransactionStats;

/* A buffer that was set on a layer. */
struct set {
    struct ASurfaceControl *layer; /* a reference */
    AHardwareBuffer *buffer;       /* a reference; NULL: no buffer was set */
    int acquire;                   /* owned */
    release_callback *on_release;
    void *data;
    bool removes;           /* the layer leaves the screen */
    signed char pressure;   /* -1: as it was */
    signed char visible;    /* -1: as it was */
    struct fence *previous; /* what its statistics bear */
    bool dropped;
};

typedef struct ASurfaceTransaction {
    struct ASurfaceTransaction *next;
    struct set sets[LAYERS];
    unsigned n;
    void (*on_commit)(void *, ASurfaceTransactionStats *);
    void (*on_complete)(void *, ASurfaceTransactionStats *);
    void *commit_data, *data;
    struct ASurfaceTransaction *merged; /* what was merged into it; its sets are here */
    int64_t desired_ns;                 /* not to be shown before */
    bool stuck;                         /* the phone does not take it */
    int64_t latch_ns;
} ASurfaceTransaction;

struct ASurfaceTransactionStats {
    ASurfaceTransaction *transaction;
    struct fence *present;
    bool commit; /* it carries no fences */
};

typedef struct ASurfaceControl {
    unsigned refs;
    struct ASurfaceControl *next;
    char name[32];
    bool visible, pressure, gone;
    bool leaves;         /* a transaction that is under way removes it */
    struct set current;  /* latched last */
    struct set incoming; /* in this latch */
    bool has_incoming;
    ino_t inode, next_shown, shown; /* of what was latched; on the screen next; on it */
} ASurfaceControl;

/* Something that is due. */
struct event {
    int64_t time_ns;
    uint64_t order;
    enum { SIGNAL, RELEASE, COMMIT, COMPLETE } kind;
    struct fence *fence;     /* SIGNAL: with what is read until then; RELEASE */
    AHardwareBuffer *buffer; /* a reference */
    release_callback *on_release;
    void *data;
    ASurfaceTransaction *batch; /* COMMIT; COMPLETE, with the present fence in `fence` */
};

pthread_mutex_t double_lock = PTHREAD_MUTEX_INITIALIZER;
int64_t double_time, double_period, double_next;
int double_level;
struct double_habits double_habit;

static uint64_t seed_state;
static ASurfaceControl *layers;
static ASurfaceTransaction *first, **last = &first; /* applied */
static ASurfaceTransaction *held; /* applied, and kept for the next one to be merged with */
static bool held_long;            /* through a latch already */
static struct event *heap;
static size_t n_events, room_events;
static uint64_t orders;
static int64_t last_complete_ns;
static struct double_counts counts;

uint64_t double_random(void)
{
    seed_state ^= seed_state << 13;
    seed_state ^= seed_state >> 7;
    seed_state ^= seed_state << 17;
    return seed_state;
}

bool double_chance(unsigned per_mille)
{
    return per_mille > 0 && double_random() % 1000 < per_mille;
}

void flinger_reset(uint64_t seed)
{
    seed_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    counts = (struct double_counts){.layers = counts.layers};
    double_habit = (struct double_habits){.foreign = TAKES};
    last_complete_ns = 0;
}

void double_habits(const struct double_habits *h)
{
    pthread_mutex_lock(&double_lock);
    double_habit = *h;
    double_refuse_import(h->foreign == REFUSES_IMPORT);
    pthread_mutex_unlock(&double_lock);
}

/* --- events --- */

static bool before(const struct event *a, const struct event *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void push(struct event e)
{
    if (n_events == room_events)
        heap = realloc(heap, (room_events = room_events ? room_events * 2 : 64) * sizeof *heap);
    e.order = ++orders;
    size_t i = n_events++;
    for (; i > 0 && before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = e;
}

static struct event pop(void)
{
    struct event top = heap[0], e = heap[--n_events];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n_events)
            break;
        if (child + 1 < n_events && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &e))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
    if (n_events == 0) {
        free(heap);
        heap = NULL;
        room_events = 0;
    }
    return top;
}

int64_t flinger_next(void)
{
    return n_events > 0 ? heap[0].time_ns : INT64_MAX;
}

/* --- fences --- */

/* Signals then; the buffer, if any, is read until then. */
static struct fence *fence_at(int64_t t, AHardwareBuffer *read)
{
    struct fence *f = calloc(1, sizeof *f);
    f->refs = 2; /* the caller's, and the event's */
    f->signal_ns = t;
    f->fd = -1;
    if (read)
        AHardwareBuffer_acquire(read);
    push((struct event){.time_ns = t, .kind = SIGNAL, .fence = f, .buffer = read});
    return f;
}

static struct fence *fence_ref(struct fence *f)
{
    if (f)
        f->refs++;
    return f;
}

static void fence_unref(struct fence *f)
{
    if (f && --f->refs == 0)
        free(f);
}

/* A descriptor of it for whoever asks; -1 or a signalled one where it has signalled. */
static int fence_fd(const struct fence *f)
{
    struct fence *g = (struct fence *)f;
    if (!f || (f->signal_ns <= double_time && double_random() % 2))
        return -1;
    if (f->signal_ns <= double_time)
        return eventfd(1, EFD_CLOEXEC);
    if (f->fd < 0)
        g->fd = eventfd(0, EFD_CLOEXEC);
    return dup(f->fd);
}

/* --- layers --- */

static void layer_unref(ASurfaceControl *l)
{
    if (--l->refs > 0)
        return;
    for (ASurfaceControl **p = &layers; *p; p = &(*p)->next)
        if (*p == l) {
            *p = l->next;
            break;
        }
    free(l);
    counts.layers--;
}

ASurfaceControl *ASurfaceControl_createFromWindow(ANativeWindow *window, const char *name)
{
    ASurfaceControl *l = calloc(1, sizeof *l);
    (void)window;
    pthread_mutex_lock(&double_lock);
    l->refs = 2; /* the caller's, and the screen's until it is removed */
    strncpy(l->name, name, sizeof l->name - 1);
    l->visible = true;
    l->next = layers;
    layers = l;
    counts.layers++;
    pthread_mutex_unlock(&double_lock);
    return l;
}

void ASurfaceControl_release(ASurfaceControl *l)
{
    pthread_mutex_lock(&double_lock);
    layer_unref(l);
    pthread_mutex_unlock(&double_lock);
}

/* --- transactions --- */

ASurfaceTransaction *ASurfaceTransaction_create(void)
{
    return calloc(1, sizeof(ASurfaceTransaction));
}

static void let_set_go(struct set *s)
{
    if (s->buffer)
        AHardwareBuffer_release(s->buffer);
    if (s->acquire >= 0)
        close(s->acquire);
    fence_unref(s->previous);
    if (s->layer)
        layer_unref(s->layer);
    *s = (struct set){.acquire = -1};
}

static void free_transaction(ASurfaceTransaction *t)
{
    if (t->merged)
        free_transaction(t->merged);
    for (unsigned i = 0; i < t->n; i++)
        let_set_go(&t->sets[i]);
    free(t);
}

void ASurfaceTransaction_delete(ASurfaceTransaction *t)
{
    pthread_mutex_lock(&double_lock);
    free_transaction(t);
    pthread_mutex_unlock(&double_lock);
}

/* What the transaction does to the layer. The lock is held. */
static struct set *set_of(ASurfaceTransaction *t, ASurfaceControl *l)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->sets[i].layer == l)
            return &t->sets[i];
    l->refs++;
    t->sets[t->n] = (struct set){.layer = l, .acquire = -1, .pressure = -1, .visible = -1};
    return &t->sets[t->n++];
}

static void set_buffer(ASurfaceTransaction *t, ASurfaceControl *l, AHardwareBuffer *buffer,
    int acquire, void *data, release_callback *f)
{
    pthread_mutex_lock(&double_lock);
    struct set *s = set_of(t, l);
    release_callback *overwritten = s->buffer ? s->on_release : NULL;
    void *its = s->data;
    if (s->buffer)
        AHardwareBuffer_release(s->buffer);
    if (s->acquire >= 0)
        close(s->acquire);
    AHardwareBuffer_acquire(buffer);
    s->buffer = buffer;
    s->acquire = acquire;
    s->on_release = f;
    s->data = data;
    counts.with_release += f != NULL;
    pthread_mutex_unlock(&double_lock);
    if (overwritten)
        overwritten(its, -1);
}

void ASurfaceTransaction_setBuffer(
    ASurfaceTransaction *t, ASurfaceControl *l, AHardwareBuffer *buffer, int acquire)
{
    set_buffer(t, l, buffer, acquire, NULL, NULL);
}

void ASurfaceTransaction_setBufferWithRelease(ASurfaceTransaction *t, ASurfaceControl *l,
    AHardwareBuffer *buffer, int acquire, void *data, release_callback *f)
{
    set_buffer(t, l, buffer, acquire, data, f);
}

static void enqueue(ASurfaceTransaction *t)
{
    *last = t;
    last = &t->next;
}

/* The older one's state goes into the newer one, where that has none. What is overwritten comes to
 * the end of `out`. */
static void merge(
    ASurfaceTransaction *older, ASurfaceTransaction *newer, struct set *out, unsigned *n_out)
{
    for (unsigned i = 0; i < older->n; i++) {
        struct set *from = &older->sets[i], *to = set_of(newer, from->layer);
        to->removes |= from->removes;
        if (to->pressure < 0)
            to->pressure = from->pressure;
        if (to->visible < 0)
            to->visible = from->visible;
        if (to->buffer && from->buffer) {
            out[(*n_out)++] = *from;
            counts.overwritten++;
        } else if (from->buffer) {
            to->buffer = from->buffer;
            to->acquire = from->acquire;
            to->on_release = from->on_release;
            to->data = from->data;
        }
        from->layer->refs--; /* the newer one has one of its own */
    }
    older->n = 0;
    if (newer->desired_ns < older->desired_ns)
        newer->desired_ns = older->desired_ns;
    newer->merged = older;
    counts.merged++;
}

void ASurfaceTransaction_apply(ASurfaceTransaction *t)
{
    ASurfaceTransaction *sent = malloc(sizeof *sent);
    struct set overwritten[LAYERS];
    unsigned n = 0;
    pthread_mutex_lock(&double_lock);
    *sent = *t; /* it is empty then, and may be filled again */
    memset(t, 0, sizeof *t);
    counts.transactions++;
    if (held) {
        merge(held, sent, overwritten, &n);
        held = NULL;
        enqueue(sent);
    } else if (double_chance(double_habit.merge_per_mille)) {
        held = sent;
        held_long = false;
    } else {
        enqueue(sent);
    }
    pthread_mutex_unlock(&double_lock);
    for (unsigned i = 0; i < n; i++) {
        AHardwareBuffer_release(overwritten[i].buffer);
        if (overwritten[i].acquire >= 0)
            close(overwritten[i].acquire);
        if (overwritten[i].on_release)
            overwritten[i].on_release(overwritten[i].data, -1);
    }
}

void ASurfaceTransaction_setOnCommit(
    ASurfaceTransaction *t, void *data, void (*f)(void *, ASurfaceTransactionStats *))
{
    t->on_commit = f;
    t->commit_data = data;
}

void ASurfaceTransaction_setDesiredPresentTime(ASurfaceTransaction *t, int64_t time_ns)
{
    t->desired_ns = time_ns;
    pthread_mutex_lock(&double_lock);
    counts.desired_times++;
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setOnComplete(
    ASurfaceTransaction *t, void *data, void (*f)(void *, ASurfaceTransactionStats *))
{
    t->on_complete = f;
    t->data = data;
}

void ASurfaceTransaction_reparent(
    ASurfaceTransaction *t, ASurfaceControl *l, ASurfaceControl *parent)
{
    pthread_mutex_lock(&double_lock);
    set_of(t, l)->removes = parent == NULL;
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setVisibility(ASurfaceTransaction *t, ASurfaceControl *l, int8_t visible)
{
    pthread_mutex_lock(&double_lock);
    set_of(t, l)->visible = visible;
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setEnableBackPressure(ASurfaceTransaction *t, ASurfaceControl *l, bool on)
{
    pthread_mutex_lock(&double_lock);
    set_of(t, l)->pressure = on;
    counts.back_pressure++;
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setZOrder(ASurfaceTransaction *t, ASurfaceControl *l, int32_t z)
{
    (void)t;
    (void)l;
    (void)z;
}

void ASurfaceTransaction_setGeometry(ASurfaceTransaction *t, ASurfaceControl *l,
    const int32_t source[4], const int32_t destination[4], int32_t transform)
{
    (void)t;
    (void)source;
    pthread_mutex_lock(&double_lock);
    if (strcmp(l->name, "turnpike") == 0) {
        counts.left = destination[0];
        counts.top = destination[1];
        counts.right = destination[2];
        counts.bottom = destination[3];
        counts.transform = transform;
    }
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setBufferTransparency(
    ASurfaceTransaction *t, ASurfaceControl *l, int8_t transparency)
{
    (void)t;
    (void)l;
    (void)transparency;
}

void ASurfaceTransaction_setBufferAlpha(ASurfaceTransaction *t, ASurfaceControl *l, float alpha)
{
    (void)t;
    (void)l;
    (void)alpha;
}

void ASurfaceTransaction_setBufferDataSpace(
    ASurfaceTransaction *t, ASurfaceControl *l, int32_t data_space)
{
    (void)t;
    (void)l;
    pthread_mutex_lock(&double_lock);
    counts.data_space = data_space;
    pthread_mutex_unlock(&double_lock);
}

/* Red, green, blue and white as x and y; the most and the least luminance. */
void ASurfaceTransaction_setHdrMetadata_smpte2086(
    ASurfaceTransaction *t, ASurfaceControl *l, const float metadata[10])
{
    (void)t;
    (void)l;
    pthread_mutex_lock(&double_lock);
    counts.red_x = metadata[0];
    counts.max_luminance = metadata[8];
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setHdrMetadata_cta861_3(
    ASurfaceTransaction *t, ASurfaceControl *l, const float metadata[2])
{
    (void)t;
    (void)l;
    pthread_mutex_lock(&double_lock);
    counts.max_content_light = metadata[0];
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setFrameRateWithChangeStrategy(
    ASurfaceTransaction *t, ASurfaceControl *l, float rate, int8_t compatibility, int8_t strategy)
{
    (void)t;
    (void)l;
    (void)compatibility;
    (void)strategy;
    pthread_mutex_lock(&double_lock);
    if (rate > 0.0f)
        counts.voted_hz = rate;
    pthread_mutex_unlock(&double_lock);
}

void ASurfaceTransaction_setFrameTimeline(ASurfaceTransaction *t, int64_t vsync_id)
{
    (void)t;
    pthread_mutex_lock(&double_lock);
    counts.frame_timelines += vsync_id > 0;
    pthread_mutex_unlock(&double_lock);
}

/* --- statistics; valid inside a callback alone --- */

int64_t ASurfaceTransactionStats_getLatchTime(ASurfaceTransactionStats *s)
{
    return s->transaction->latch_ns;
}

int ASurfaceTransactionStats_getPresentFenceFd(ASurfaceTransactionStats *s)
{
    pthread_mutex_lock(&double_lock);
    int fd = fence_fd(s->present);
    pthread_mutex_unlock(&double_lock);
    return fd;
}

void ASurfaceTransactionStats_getASurfaceControls(
    ASurfaceTransactionStats *s, ASurfaceControl ***out, size_t *n)
{
    *n = s->transaction->n;
    *out = malloc(sizeof **out * (*n + 1));
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = s->transaction->sets[i].layer;
}

void ASurfaceTransactionStats_releaseASurfaceControls(ASurfaceControl **controls)
{
    free(controls);
}

int ASurfaceTransactionStats_getPreviousReleaseFenceFd(
    ASurfaceTransactionStats *s, ASurfaceControl *l)
{
    pthread_mutex_lock(&double_lock);
    for (unsigned i = 0; i < s->transaction->n; i++)
        if (s->transaction->sets[i].layer == l) {
            int fd = s->commit ? -1 : fence_fd(s->transaction->sets[i].previous);
            counts.unfenced += fd < 0 && !s->commit;
            pthread_mutex_unlock(&double_lock);
            return fd;
        }
    abort(); /* as Android does: the layer is not in it */
}

/* --- the latch --- */

/* What is latched now is on the screen from the refresh after the next on. */
static int64_t present_ns(void)
{
    return double_next + double_period;
}

static bool signalled(int fence)
{
    struct pollfd p = {.fd = fence, .events = POLLIN};
    return fence < 0 || poll(&p, 1, 0) > 0;
}

/* The transaction may go into this latch. */
static bool ready(const ASurfaceTransaction *t)
{
    if (t->desired_ns > present_ns() && t->desired_ns < present_ns() + INT64_C(1000000000))
        return false; /* what is farther away than that is no time for it */
    for (unsigned i = 0; i < t->n; i++) {
        const struct set *s = &t->sets[i];
        if (!signalled(s->acquire) ||
            (s->buffer && s->layer->pressure && s->layer->has_incoming && !s->layer->gone))
            return false;
    }
    return true;
}

static bool rejected(const ASurfaceTransaction *t)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->sets[i].buffer && t->sets[i].buffer->foreign && !t->sets[i].layer->leaves)
            return double_habit.foreign >= HOLDS;
    return false;
}

/* Its own callback, if it has one: not later than the transaction's completion. */
static void tell_release(struct set *s, struct fence *f, int64_t t)
{
    if (s->on_release)
        push((struct event){.time_ns = t,
            .kind = RELEASE,
            .fence = fence_ref(f),
            .on_release = s->on_release,
            .data = s->data});
    s->on_release = NULL;
}

static void drop(struct set *s)
{
    s->dropped = true;
    counts.dropped++;
    tell_release(s, NULL, double_time);
}

/* A copy that stays with the layer: of the buffer and its callback. */
static struct set keep(const struct set *s)
{
    struct set k = {
        .buffer = s->buffer, .acquire = -1, .on_release = s->on_release, .data = s->data};
    AHardwareBuffer_acquire(k.buffer);
    return k;
}

static struct fence *replace(ASurfaceControl *l, int64_t present)
{
    struct fence *f = NULL;
    if (l->current.buffer) {
        int64_t free_at = present;
        if (double_chance(double_habit.slow_per_mille))
            free_at += (int64_t)(1 + double_random() % double_habit.slow_refreshes) * double_period;
        f = fence_at(free_at, l->current.buffer);
        tell_release(&l->current, f, double_time + 500000);
        AHardwareBuffer_release(l->current.buffer);
        l->current.buffer = NULL;
    }
    return f;
}

/* One transaction into the latch; its buffers become the layers' incoming ones. */
static void take(ASurfaceTransaction *t)
{
    t->latch_ns = double_time;
    for (unsigned i = 0; i < t->n; i++) {
        struct set *s = &t->sets[i];
        ASurfaceControl *l = s->layer;
        if (s->pressure >= 0)
            l->pressure = s->pressure;
        if (s->visible >= 0)
            l->visible = s->visible;
        if (s->acquire >= 0)
            close(s->acquire);
        s->acquire = -1;
        if (s->removes && !l->gone) {
            if (l->has_incoming) {
                drop(&l->incoming);
                AHardwareBuffer_release(l->incoming.buffer);
                l->has_incoming = false;
            }
            fence_unref(replace(l, present_ns()));
            l->gone = true;
            l->inode = 0;
            layer_unref(l);
        }
        if (!s->buffer)
            continue;
        if (l->gone) {
            drop(s);
            continue;
        }
        if (l->has_incoming) { /* never to be shown; whose set it was is told by the batch */
            drop(&l->incoming);
            AHardwareBuffer_release(l->incoming.buffer);
        }
        l->incoming = keep(s);
        s->on_release = NULL;
        l->has_incoming = true;
    }
}

/* Which transactions of the batch bear the fence of what the layer showed: the earliest, as
 * SurfaceFlinger does it now, or the one that replaced it. */
static void spread(ASurfaceTransaction *batch, ASurfaceControl *l, struct fence *f)
{
    bool earliest = double_random() % 2, no_latch = double_random() % 2;
    struct set *bearer = NULL, *newest = NULL;
    for (ASurfaceTransaction *t = batch; t; t = t->next)
        for (unsigned i = 0; i < t->n; i++) {
            struct set *s = &t->sets[i];
            if (s->layer != l || !s->buffer || s->dropped)
                continue;
            if (newest && !earliest && no_latch)
                newest->dropped = true;
            if (!bearer || !earliest)
                bearer = s;
            newest = s;
        }
    if (bearer)
        bearer->previous = fence_ref(f);
}

/* All that a transaction set was dropped, and says so by having no latch. */
static void mark_unlatched(ASurfaceTransaction *batch)
{
    for (ASurfaceTransaction *t = batch; t; t = t->next) {
        unsigned buffers = 0, dropped = 0;
        for (unsigned i = 0; i < t->n; i++) {
            buffers += t->sets[i].buffer != NULL;
            dropped += t->sets[i].buffer && t->sets[i].dropped;
        }
        if (buffers > 0 && buffers == dropped)
            t->latch_ns = -1;
    }
}

static void complete(ASurfaceTransaction *batch)
{
    int64_t present = present_ns(), at = double_time + 1000000;
    struct fence *f =
        double_chance(double_habit.no_present_fence_per_mille) ? NULL : fence_at(present, NULL);
    if (double_chance(double_habit.late_per_mille)) {
        unsigned by = 1 + (unsigned)(double_random() % double_habit.late_refreshes);
        at += by * double_period;
        counts.late++;
        counts.most_late = by > counts.most_late ? by : counts.most_late;
    }
    push((struct event){.time_ns = double_time + 500000, .kind = COMMIT, .batch = batch});
    if (!double_habit.out_of_order && at < last_complete_ns)
        at = last_complete_ns;
    last_complete_ns = at;
    push((struct event){.time_ns = at, .kind = COMPLETE, .fence = f, .batch = batch});
}

void flinger_latch(void)
{
    ASurfaceTransaction *batch = NULL, **end = &batch, **p = &first;
    bool took = false;
    if (held && held_long) {
        enqueue(held);
        held = NULL;
    }
    held_long = held;
    for (ASurfaceTransaction *t = first; t; t = t->next)
        for (unsigned i = 0; i < t->n; i++)
            t->sets[i].layer->leaves |= t->sets[i].removes;
    while (*p) {
        ASurfaceTransaction *t = *p;
        t->stuck = rejected(t);
        if (t->stuck) {
            if (double_habit.foreign == BLOCKS)
                break;
            p = &t->next;
            continue;
        }
        if (!ready(t))
            break;
        *p = t->next;
        t->next = NULL;
        take(t);
        *end = t;
        end = &t->next;
        took = true;
    }
    /* What was passed over is dropped by what came after it. */
    for (p = &first; took && *p;) {
        ASurfaceTransaction *t = *p;
        if (!t->stuck) {
            p = &t->next;
            continue;
        }
        *p = t->next;
        for (unsigned i = 0; i < t->n; i++)
            if (t->sets[i].buffer)
                drop(&t->sets[i]);
        t->next = batch;
        batch = t;
    }
    for (last = &first; *last; last = &(*last)->next)
        ;
    for (ASurfaceControl *l = layers; l; l = l->next) {
        if (!l->has_incoming)
            continue;
        struct fence *f = replace(l, present_ns());
        spread(batch, l, f);
        fence_unref(f);
        l->current = l->incoming;
        l->inode = l->current.buffer->foreign ? l->current.buffer->inode : (ino_t)-1;
        l->has_incoming = false;
        counts.latched++;
    }
    mark_unlatched(batch);
    if (batch)
        complete(batch);
}

void flinger_refresh(void)
{
    for (ASurfaceControl *l = layers; l; l = l->next) {
        l->shown = l->next_shown;
        l->next_shown = l->visible && !l->gone ? l->inode : 0;
    }
}

/* --- calls back --- */

static void tell_one(ASurfaceTransaction *t, ASurfaceTransactionStats *stats)
{
    if (t->merged)
        tell_one(t->merged, stats);
    if (stats->commit && t->on_commit)
        t->on_commit(t->commit_data, stats);
    if (!stats->commit && t->on_complete)
        t->on_complete(t->data, stats);
}

struct job {
    struct event e;
    int fd; /* RELEASE: the fence's */
};

static void *call_back(void *data)
{
    const struct job *j = data;
    if (j->e.kind == RELEASE)
        j->e.on_release(j->e.data, j->fd);
    for (ASurfaceTransaction *t = j->e.batch; t; t = t->next) {
        ASurfaceTransactionStats stats = {t, j->e.fence, j->e.kind == COMMIT};
        tell_one(t, &stats);
    }
    return NULL;
}

/* On this thread or another. The lock is let go meanwhile. */
static void call(struct event *e)
{
    struct job j = {*e, e->kind == RELEASE ? fence_fd(e->fence) : -1};
    bool elsewhere = double_chance(double_habit.elsewhere_per_mille);
    pthread_t thread;
    counts.callbacks++;
    counts.elsewhere += elsewhere;
    pthread_mutex_unlock(&double_lock);
    if (elsewhere && pthread_create(&thread, NULL, call_back, &j) == 0)
        pthread_join(thread, NULL);
    else
        call_back(&j);
    pthread_mutex_lock(&double_lock);
}

void flinger_event(void)
{
    struct event e = pop();
    switch (e.kind) {
    case SIGNAL:
        if (e.fence->fd >= 0) {
            ssize_t n = write(e.fence->fd, &(uint64_t){1}, 8);
            (void)n;
            close(e.fence->fd);
            e.fence->fd = -1;
        }
        if (e.buffer)
            AHardwareBuffer_release(e.buffer);
        break;
    case RELEASE:
    case COMMIT:
        call(&e);
        break;
    case COMPLETE:
        call(&e);
        for (ASurfaceTransaction *t = e.batch, *next; t; t = next) {
            next = t->next;
            free_transaction(t);
        }
        break;
    }
    fence_unref(e.fence);
}

/* --- questions --- */

static bool sets_inode(const ASurfaceTransaction *t, ino_t inode)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->sets[i].buffer && t->sets[i].buffer->inode == inode && !t->sets[i].layer->gone)
            return true;
    return false;
}

bool double_reads(ino_t inode)
{
    bool reads = false;
    pthread_mutex_lock(&double_lock);
    if (held)
        reads = sets_inode(held, inode);
    for (const ASurfaceTransaction *t = first; t && !reads; t = t->next)
        reads = sets_inode(t, inode);
    for (const ASurfaceControl *l = layers; l && !reads; l = l->next)
        reads = l->current.buffer && l->current.buffer->inode == inode;
    for (size_t i = 0; i < n_events && !reads; i++)
        reads = heap[i].kind == SIGNAL && heap[i].buffer && heap[i].buffer->inode == inode &&
            heap[i].time_ns > double_time;
    pthread_mutex_unlock(&double_lock);
    return reads;
}

ino_t double_shown(void)
{
    ino_t shown = 0;
    pthread_mutex_lock(&double_lock);
    for (const ASurfaceControl *l = layers; l; l = l->next)
        if (strcmp(l->name, "turnpike") == 0 && l->shown)
            shown = l->shown;
    pthread_mutex_unlock(&double_lock);
    return shown;
}

void double_count(struct double_counts *out)
{
    pthread_mutex_lock(&double_lock);
    *out = counts;
    pthread_mutex_unlock(&double_lock);
    out->buffers = double_buffers();
    out->windows = double_windows();
}

/* A Java Surface is the window itself here. */
ANativeWindow *ANativeWindow_fromSurface(void *env, void *surface)
{
    (void)env;
    ANativeWindow_acquire(surface);
    return surface;
}
