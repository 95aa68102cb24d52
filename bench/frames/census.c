/*
 * bench-census: what it takes a swapchain to tell of a frame (icd/census.h), CPU of this thread in
 * ns a frame: with all that is called for it, and of that what goes into the ring; and of a core at
 * 240 frames a second. Medians of BATCHES.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "frames/icd/census.h"

enum { BATCHES = 31, FRAMES = 20000, IMAGES = 4 };

static struct tp_slots *slots;
static struct tp_gate *gate;
static struct tp_icd_census *census;
static struct tp_ring *ring;
static uint64_t serial;

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool signalled(void *data, int fence)
{
    (void)data;
    return fence >= 0;
}

static void close_fence(void *data, int fence)
{
    (void)data;
    (void)fence;
}

static void make(void)
{
    static const struct tp_slots_ops ops = {signalled, close_fence};
    const struct tp_slots_config config = {.images = IMAGES, .release = true, .pipeline = 1};
    const struct tp_gate_settings settings = {.mode = TP_GATE_OFF};
    int r = tp_slots_create(&config, &ops, NULL, &slots);

    if (!r)
        r = tp_gate_create(&settings, &gate);
    const struct tp_icd_census_info info = {
        .slots = slots, .gate = gate, .images = IMAGES, .width = 1280, .height = 720};
    if (!r)
        r = tp_icd_census_create(&info, &census);
    if (!r)
        r = tp_ring_create(TP_RING_SWAPCHAIN, "bench", &ring);
    if (r)
        exit(1);
}

/* A frame's calls, as a swapchain on a window makes them; now: an instant that goes on. */
static void tell_frame(int64_t now)
{
    struct tp_acquired a = {.image = {.slot = serial % IMAGES, .ready_ns = now - 1}};

    tp_icd_census_acquired(census, &a, now, now);
    tp_icd_census_presented(census, a.image.slot, now + 1, now + 2, INT64_MIN);
    serial++;
    tp_icd_census_ready(census, serial, now + 3);
    tp_icd_census_committed(census, a.image.slot, serial, now + 4);
    tp_icd_census_shown(census, serial, now + 5, serial, 0);
    tp_icd_census_released(census, (a.image.slot + 1) % IMAGES, now + 6);
}

static void put_frame(int64_t now)
{
    struct tp_ring_entry e = {.kind = TP_RING_FRAME};

    e.frame.record.number = (uint64_t)now;
    tp_ring_put(ring, &e);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double measure(void (*one)(int64_t now))
{
    double ns[BATCHES];

    for (unsigned i = 0; i < BATCHES; i++) {
        int64_t from = cpu_ns();
        for (int64_t k = 0; k < FRAMES; k++)
            one(1000000 + 10 * (i * FRAMES + k));
        ns[i] = (double)(cpu_ns() - from) / FRAMES;
    }
    qsort(ns, BATCHES, sizeof *ns, compare);
    return ns[BATCHES / 2];
}

int main(void)
{
    make();
    double frame = measure(tell_frame), put = measure(put_frame);
    printf("a frame           %6.0f ns\n", frame);
    printf("of it, the ring   %6.0f ns\n", put);
    printf("240 frames a second: %.4f %% of a core\n", frame * 240 / 1e9 * 100);
    tp_icd_census_destroy(census);
    tp_ring_destroy(ring);
    tp_gate_destroy(gate);
    tp_slots_destroy(slots);
    return 0;
}
