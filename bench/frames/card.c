/*
 * card [SECONDS]: what a card costs its clients. Runs under `turnpike play` (without a compositor)
 * with the preload library; prints medians and 99th percentiles:
 *
 *   query      ioctls that are answered from the snapshot
 *   forwarded  ioctls that go to the server
 *   socket     a round trip of as many bytes between two processes on a socket of the same kind
 *   flip       from the instant at which a refresh was due to the client having its flip's event,
 * for flips that waited for their refresh; and the same of a bare timer that writes to a socket
 *   tick       to the client having its event from the instant at which the screen's own thread had
 * woken for that refresh, and what a bare socket needs one way, to a process that sleeps
 *   server     share of a core that the server used meanwhile, all its threads
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <drm.h>
#include <drm_mode.h>

#include "frames/server/control.h"
#include "frames/wire/hello.h"

#define PTR(p) ((uint64_t)(uintptr_t)(p))
#define RUNS 20000
#define SECOND INT64_C(1000000000)

static int card;
static uint32_t crtc, connector, fbs[2];
static int64_t sample[RUNS];

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void say(const char *what, size_t n)
{
    qsort(sample, n, sizeof *sample, by_value);
    printf("%-28s p50 %8.2f us   p99 %8.2f us   (%zu)\n", what, (double)sample[n / 2] / 1e3,
        (double)sample[n * 99 / 100] / 1e3, n);
}

static void must(unsigned long request, void *arg, const char *what)
{
    if (ioctl(card, request, arg) < 0) {
        fprintf(stderr, "card: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void find_output(struct drm_mode_modeinfo *mode)
{
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(&connector),
        .count_connectors = 1};
    must(DRM_IOCTL_MODE_GETRESOURCES, &res, "the resources");
    struct drm_mode_get_connector c = {
        .connector_id = connector, .modes_ptr = PTR(mode), .count_modes = 1};
    must(DRM_IOCTL_MODE_GETCONNECTOR, &c, "the connector");
    for (int i = 0; i < 2; i++) {
        struct drm_mode_create_dumb d = {
            .width = mode->hdisplay, .height = mode->vdisplay, .bpp = 32};
        must(DRM_IOCTL_MODE_CREATE_DUMB, &d, "a buffer");
        struct drm_mode_fb_cmd f = {.width = d.width,
            .height = d.height,
            .pitch = d.pitch,
            .bpp = 32,
            .depth = 24,
            .handle = d.handle};
        must(DRM_IOCTL_MODE_ADDFB, &f, "a framebuffer");
        fbs[i] = f.fb_id;
    }
    struct drm_mode_crtc set = {.crtc_id = crtc,
        .fb_id = fbs[0],
        .set_connectors_ptr = PTR(&connector),
        .count_connectors = 1,
        .mode = *mode,
        .mode_valid = 1};
    must(DRM_IOCTL_MODE_SETCRTC, &set, "the mode");
}

static void measure(const char *what, unsigned long request, const void *arg, size_t bytes)
{
    uint64_t copy[32];
    for (int i = 0; i < RUNS; i++) {
        memcpy(copy, arg, bytes);
        int64_t from = now_ns();
        must(request, copy, what);
        sample[i] = now_ns() - from;
    }
    say(what, RUNS);
}

static void measure_ioctls(void)
{
    uint32_t props[64];
    uint64_t values[64];
    struct drm_mode_crtc c = {.crtc_id = crtc};
    struct drm_get_cap cap = {.capability = DRM_CAP_DUMB_BUFFER};
    struct drm_mode_obj_get_properties o = {.props_ptr = PTR(props),
        .prop_values_ptr = PTR(values),
        .count_props = 64,
        .obj_id = connector,
        .obj_type = DRM_MODE_OBJECT_CONNECTOR};
    struct drm_crtc_get_sequence s = {.crtc_id = crtc};
    struct drm_mode_fb_cmd f = {.fb_id = fbs[0]};
    measure("query GET_CAP", DRM_IOCTL_GET_CAP, &cap, sizeof cap);
    measure("query GETCRTC", DRM_IOCTL_MODE_GETCRTC, &c, sizeof c);
    measure("query OBJ_GETPROPERTIES", DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o, sizeof o);
    measure("forwarded CRTC_GET_SEQUENCE", DRM_IOCTL_CRTC_GET_SEQUENCE, &s, sizeof s);
    struct drm_mode_fb_dirty_cmd d = {.fb_id = f.fb_id};
    measure("forwarded DIRTYFB", DRM_IOCTL_MODE_DIRTYFB, &d, sizeof d);
}

static void measure_socket(void)
{
    char bytes[48] = {0};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        while (recv(ends[1], bytes, sizeof bytes, 0) > 0)
            send(ends[1], bytes, sizeof bytes, MSG_NOSIGNAL);
        _exit(0);
    }
    close(ends[1]);
    for (int i = 0; i < RUNS; i++) {
        int64_t from = now_ns();
        if (send(ends[0], bytes, sizeof bytes, MSG_NOSIGNAL) < 0 ||
            recv(ends[0], bytes, sizeof bytes, 0) < 0)
            exit(1);
        sample[i] = now_ns() - from;
    }
    close(ends[0]);
    waitpid(pid, NULL, 0);
    say("socket round trip", RUNS);
}

/* Nanoseconds that all threads of a process have run. */
static int64_t used_ns(pid_t pid)
{
    char path[320], name[64];
    int64_t sum = 0;
    snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(name);
    for (struct dirent *d; tasks && (d = readdir(tasks));) {
        int64_t ns;
        snprintf(path, sizeof path, "%s/%s/schedstat", name, d->d_name);
        FILE *f = *d->d_name != '.' ? fopen(path, "r") : NULL;
        if (f && fscanf(f, "%" SCNd64, &ns) == 1)
            sum += ns;
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

static void flip(int i)
{
    struct drm_mode_crtc_page_flip f = {
        .crtc_id = crtc, .fb_id = fbs[i % 2], .flags = DRM_MODE_PAGE_FLIP_EVENT};
    must(DRM_IOCTL_MODE_PAGE_FLIP, &f, "a flip");
}

static int64_t read_flip(int64_t *got, uint32_t *sequence)
{
    struct drm_event_vblank e;
    if (read(card, &e, sizeof e) != sizeof e)
        exit(1);
    *got = now_ns();
    *sequence = e.sequence;
    return e.tv_sec * SECOND + e.tv_usec * 1000;
}

static void measure_flips(int64_t seconds)
{
    uint32_t sequence;
    int64_t got, start = now_ns(), used = used_ns(getppid());
    size_t n = 0;
    int i = 1;
    for (; now_ns() < start + seconds * SECOND && n < RUNS; i++) {
        int64_t asked = now_ns();
        flip(i);
        int64_t due = read_flip(&got, &sequence);
        if (due > asked)
            sample[n++] = got - due;
    }
    double share = (double)(used_ns(getppid()) - used) / (double)(now_ns() - start);
    say("flip, after its refresh", n);
    printf("%-28s %.2f %% of a core at %.1f flips a second\n", "server", share * 100,
        (double)i * 1e9 / (double)(now_ns() - start));
}

static int connect_control(void)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    const char *path = getenv("TURNPIKE_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const struct tp_hello hello = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL, 0, 0};
    const struct iovec part = {(void *)(uintptr_t)&hello, sizeof hello};
    struct tp_frame f;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || !path || *path == '@' || strlen(path) >= sizeof a.sun_path)
        return -1;
    strcpy(a.sun_path, path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0) < 0 ||
        tp_frame_recv(fd, buffer, &f) < 0)
        return -1;
    tp_frame_finish(&f);
    return fd;
}

/* When the screen's thread had woken for the last refresh; false: it is another refresh by now. */
static bool ask_tick(int control, uint32_t sequence, int64_t *told_ns)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    struct tp_control_tick t = {.result = -1};
    uint32_t output = 0;
    const struct iovec part = {&output, sizeof output};
    struct tp_frame f;
    if (tp_frame_send(control, TP_FRAME_TICK, 0, 0, &part, 1, NULL, 0) < 0 ||
        tp_frame_recv(control, buffer, &f) < 0)
        exit(1);
    if (f.payload_bytes >= sizeof t)
        memcpy(&t, f.payload, sizeof t);
    tp_frame_finish(&f);
    *told_ns = t.told_ns;
    return t.result == 0 && (uint32_t)t.sequence == sequence;
}

/* The part of it that is the server's and one wake-up: the timer's own is left out. */
static void measure_ticks(int64_t seconds)
{
    int64_t got, told, start = now_ns();
    uint32_t sequence;
    int control = connect_control();
    size_t n = 0;
    for (int i = 1; control >= 0 && now_ns() < start + seconds * SECOND && n < RUNS; i++) {
        int64_t asked = now_ns();
        flip(i);
        int64_t due = read_flip(&got, &sequence);
        if (ask_tick(control, sequence, &told) && due > asked)
            sample[n++] = got - told;
    }
    if (n > 0)
        say("flip, after its tick", n);
    if (control >= 0)
        close(control);
}

/* Sleeps to each instant of a grid, and sends it, with the one when it woke. */
static void send_instants(int sock, int64_t period_ns)
{
    prctl(PR_SET_TIMERSLACK, 1ul);
    for (int64_t due = now_ns();;) {
        due += period_ns;
        const struct timespec t = {due / SECOND, due % SECOND};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        const int64_t both[2] = {due, now_ns()};
        if (send(sock, both, sizeof both, MSG_NOSIGNAL) < 0)
            _exit(0);
    }
}

/* What this machine needs for a timer and a wake-up, with nothing of ours in between. */
static void measure_timer(int64_t period_ns, int64_t seconds)
{
    int ends[2];
    static int64_t after_waking[RUNS];
    int64_t both[2];
    size_t n = (size_t)(seconds * SECOND / period_ns);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        send_instants(ends[1], period_ns);
    }
    close(ends[1]);
    n = n < RUNS ? n : RUNS;
    for (size_t i = 0; i < n; i++) {
        if (recv(ends[0], both, sizeof both, 0) != sizeof both)
            exit(1);
        int64_t got = now_ns();
        sample[i] = got - both[0];
        after_waking[i] = got - both[1];
    }
    close(ends[0]);
    waitpid(pid, NULL, 0);
    say("a timer and a socket alone", n);
    memcpy(sample, after_waking, n * sizeof *sample);
    say("a socket alone, one way", n);
}

int main(int argc, char **argv)
{
    int64_t seconds = argc > 1 ? atoi(argv[1]) : 5;
    struct drm_mode_modeinfo mode;
    card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    if (card < 0 || seconds < 1 || seconds > 100) {
        fprintf(stderr, "usage: turnpike play -- card [SECONDS]\n");
        return 2;
    }
    find_output(&mode);
    measure_ioctls();
    measure_socket();
    measure_flips(seconds);
    measure_ticks(seconds);
    measure_timer(1000 * SECOND / ((int64_t)mode.vrefresh * 1000), seconds);
    return 0;
}
