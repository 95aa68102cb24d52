/*
 * bench-panel [SECONDS]: what the simulated screen sees, on the real clock with two cores busy, and
 * what that costs. 1280x720, buffers that are drawn anew as soon as they are released.
 *
 *   planted    at 60 Hz: a line is written into a buffer while it is scanned out; how many of those
 *              were told of, by when, and with their own line. Those that the writer, which has to
 *              share the cores, had not written before the scan-out's end are not counted
 *   clean      at 240 Hz, 10000 frames: tears told of, of which there are none
 *   unwatched  the share of the picture that was not read in time, and of which nothing is said
 *   cost       share of a core at 60 Hz, without others: the screen's threads alone, by what is
 * read
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <drm_fourcc.h>
#include <drm_mode.h>

#include "base/proc.h"
#include "frames/panel/sim.h"

#define WIDTH 1280u
#define LINES 720u
#define BUFFERS 4u
#define PLANTED 300u
#define CLEAN 10000u

struct tp_kms_fb {
    struct tp_kms_fb_info info;
    uint32_t *pixels;
    bool busy; /* the screen has it */
};

static struct tp_kms_fb fbs[BUFFERS];
static struct tp_panel *panel;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static uint64_t ticks, shown_serial, n_shown;
static int64_t shown_ns;
static uint64_t serial_of[BUFFERS];
static struct tp_tear tear;
static uint64_t n_tears;
static atomic_bool done;

struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb)
{
    return fb;
}

void tp_kms_fb_unref(struct tp_kms_fb *fb)
{
    (void)fb;
}

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = fb->info;
}

static void make_buffers(void)
{
    size_t bytes = (size_t)WIDTH * LINES * 4;
    for (unsigned i = 0; i < BUFFERS; i++) {
        int fd = memfd_create("fb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0 ||
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
            perror("panel: a buffer");
            exit(1);
        }
        fbs[i].pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        fbs[i].info = (struct tp_kms_fb_info){.width = WIDTH,
            .height = LINES,
            .fourcc = DRM_FORMAT_XRGB8888,
            .n_planes = 1,
            .fds = {fd, -1, -1, -1},
            .pitches = {WIDTH * 4},
            .inode = i + 1};
    }
}

static void on_tick(void *data, const struct tp_panel_tick *t)
{
    (void)data;
    (void)t;
    pthread_mutex_lock(&mutex);
    ticks++;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&mutex);
}

static void on_released(void *data, uint64_t serial, unsigned layer, int fence)
{
    (void)data;
    (void)layer;
    (void)fence;
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < BUFFERS; i++)
        if (serial_of[i] == serial)
            fbs[i].busy = false;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&mutex);
}

static void on_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    (void)data;
    pthread_mutex_lock(&mutex);
    n_shown++;
    shown_serial = serial;
    shown_ns = first_line_ns;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&mutex);
}

static void on_away(void *data, bool away)
{
    (void)data;
    (void)away;
}

static void on_torn(void *data, const struct tp_tear *t)
{
    (void)data;
    pthread_mutex_lock(&mutex);
    tear = *t;
    n_tears++;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&mutex);
}

static void start(uint32_t mhz, enum tp_watch_how how)
{
    static const struct tp_panel_events events = {on_tick, on_released, on_shown, on_away, NULL};
    const struct tp_panel_sim_config c = {.mode = {WIDTH, LINES, mhz},
        .lead_ns = 1000000,
        .pipeline = 1,
        .watch = how,
        .torn = on_torn};
    struct tp_error e = {0};
    ticks = n_shown = n_tears = shown_serial = 0;
    for (unsigned i = 0; i < BUFFERS; i++) {
        fbs[i].busy = false;
        serial_of[i] = 0;
    }
    if (tp_panel_sim_create(&c, &panel, &e) < 0 ||
        panel->ops->start(panel, &events, NULL, &e) < 0) {
        fprintf(stderr, "panel: %s\n", e.what);
        exit(1);
    }
}

static double stop(struct tp_panel_sim_counts *counts)
{
    tp_panel_sim_count(panel, counts);
    panel->ops->destroy(panel);
    const struct tp_watch_counts *w = &counts->beam.watch;
    return w->bands ? 100.0 * (double)w->unwatched / (double)w->bands : 0;
}

/* Draws all of a buffer that the screen does not have, once there is one, and publishes it; once a
 * refresh. */
static void show_next(uint64_t serial, bool draw)
{
    unsigned i = 0;
    pthread_mutex_lock(&mutex);
    uint64_t tick = ticks;
    while (fbs[i].busy || (serial > 1 && ticks == tick)) {
        i = fbs[i].busy ? (i + 1) % BUFFERS : i;
        if (i == 0 || !fbs[i].busy)
            pthread_cond_wait(&news, &mutex);
    }
    fbs[i].busy = true;
    serial_of[i] = serial;
    pthread_mutex_unlock(&mutex);
    if (draw)
        for (size_t k = 0; k < (size_t)WIDTH * LINES; k++)
            fbs[i].pixels[k] = (uint32_t)(serial * 0x9e3779b9 + k);
    struct tp_kms_scanout s = {
        .serial = serial, .active = true, .mode = {WIDTH, LINES, 60000}, .n_layers = 1};
    s.layers[0] = (struct tp_kms_layer){.fb = &fbs[i],
        .src_w = WIDTH << 16,
        .src_h = LINES << 16,
        .width = WIDTH,
        .height = LINES,
        .rotation = DRM_MODE_ROTATE_0,
        .alpha = 0xffff,
        .in_fence = -1};
    while (panel->ops->publish(panel, &s) < 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void *keep_busy(void *data)
{
    volatile uint64_t n = 0;
    (void)data;
    while (!atomic_load(&done))
        n++;
    return NULL;
}

static struct tp_kms_fb *await_shown(uint64_t serial, int64_t *first_line)
{
    struct tp_kms_fb *fb = NULL;
    pthread_mutex_lock(&mutex);
    while (shown_serial < serial)
        pthread_cond_wait(&news, &mutex);
    *first_line = shown_ns;
    for (unsigned i = 0; i < BUFFERS; i++)
        if (serial_of[i] == serial)
            fb = &fbs[i];
    pthread_mutex_unlock(&mutex);
    return fb;
}

/* True: it was told of, within a period of its writing. */
static bool was_told(uint64_t before, uint64_t serial, int64_t until_ns)
{
    pthread_mutex_lock(&mutex);
    while (n_tears == before && tp_now_ns() < until_ns + 100000000) {
        pthread_mutex_unlock(&mutex);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        pthread_mutex_lock(&mutex);
    }
    bool told = n_tears == before + 1 && tear.serial == serial;
    pthread_mutex_unlock(&mutex);
    return told;
}

static void plant(void)
{
    const int64_t period = 16666666, scan = period - 460000;
    struct tp_panel_sim_counts counts;
    unsigned planted = 0, found = 0, in_a_frame = 0, right = 0, late = 0, unseen = 0;
    int64_t longest = 0;
    srandom(1);
    start(60000, TP_WATCH_SAMPLED);
    for (uint64_t serial = 1; planted < PLANTED; serial++) {
        int64_t first_line;
        show_next(serial, true);
        struct tp_kms_fb *fb = await_shown(serial, &first_line);
        /* While the screen reads any line, some line. */
        int64_t at = first_line + 1000000 + random() % (scan - 2000000);
        uint32_t line = (uint32_t)random() % LINES;
        const struct timespec t = {at / 1000000000, at % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        tp_panel_sim_count(panel, &counts);
        uint64_t before = n_tears, missed = counts.beam.watch.unwatched;
        int64_t began = tp_now_ns();
        if (began > first_line + scan - 500000) {
            late++;
            continue;
        }
        for (uint32_t x = 0; x < WIDTH; x++)
            fb->pixels[(size_t)line * WIDTH + x] ^= 0x00ffffff;
        int64_t ended = tp_now_ns();
        if (ended > first_line + scan) {
            late++;
            nanosleep(&(struct timespec){0, 30000000}, NULL); /* may be told of, or not */
            continue;
        }
        planted++;
        if (!was_told(before, serial, first_line + period)) {
            tp_panel_sim_count(panel, &counts);
            unseen += counts.beam.watch.unwatched > missed;
            continue;
        }
        found++;
        right += tear.line == line && tear.lines == 1;
        in_a_frame += tear.time_ns - began <= period;
        if (tear.time_ns - began > longest)
            longest = tear.time_ns - began;
    }
    double unwatched = stop(&counts);
    printf(
        "planted   %u of %u found, %u with their own line, %u within a frame (longest %.1f ms); of "
        "those not found, %u were in scan-outs that the screen says it did not see in time; %u "
        "not written in time; unwatched %.2f %%\n",
        found, planted, right, in_a_frame, (double)longest / 1e6, unseen, late, unwatched);
}

static void stay_clean(void)
{
    struct tp_panel_sim_counts counts;
    start(240000, TP_WATCH_SAMPLED);
    uint64_t serial = 0;
    do
        show_next(++serial, true);
    while (n_shown < CLEAN);
    double unwatched = stop(&counts);
    printf("clean     %" PRIu64 " tears in %" PRIu64 " frames (%" PRIu64
           " scan-outs); unwatched %.2f %%\n",
        counts.beam.watch.tears, n_shown, counts.beam.watch.scanouts, unwatched);
}

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
        (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure_cost(const char *what, enum tp_watch_how how, double seconds)
{
    struct tp_panel_sim_counts counts;
    start(60000, how);
    show_next(1, false);
    double from = cpu_s();
    int64_t until = tp_now_ns() + (int64_t)(seconds * 1e9), began = tp_now_ns();
    for (uint64_t serial = 2; tp_now_ns() < until; serial++)
        show_next(serial, false);
    double share = (cpu_s() - from) / ((double)(tp_now_ns() - began) / 1e9);
    double unwatched = stop(&counts);
    printf("cost      %-8s %.2f %% of a core; unwatched %.2f %%\n", what, 100 * share, unwatched);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    pthread_t busy[2];
    make_buffers();
    measure_cost("off", TP_WATCH_OFF, seconds);
    measure_cost("sampled", TP_WATCH_SAMPLED, seconds);
    measure_cost("full", TP_WATCH_FULL, seconds);
    for (int i = 0; i < 2; i++)
        pthread_create(&busy[i], NULL, keep_busy, NULL);
    plant();
    stay_clean();
    atomic_store(&done, true);
    for (int i = 0; i < 2; i++)
        pthread_join(busy[i], NULL);
    return 0;
}
