/*
 * bench-game-loop [-i] [-s WxH] [-t SECONDS] [-r ROUNDS] [COST_US…]: frames a second of one loop in
 * four places, each a process of its own. In each round each has its turn alone, so that what else
 * the machine does meets all of them.
 *
 *   off-screen       the driver itself, into images of its own
 *   through the ICD  the same, by the ICD
 *   headless         the ICD's swapchain on a headless surface
 *   screen           the ICD's swapchain on the server's screen, no compositor
 *
 * MAILBOX, or with -i IMMEDIATE; no gate, no cap. COST_US: what a frame costs the GPU off-screen
 * (200 1000 4000), found at the start. To be run below tests/frames/icd/with_icd.sh, or with
 * VK_DRIVER_FILES the ICD's manifest and TURNPIKE_DRIVER a library; the last place is left out
 * without a TURNPIKE_SOCKET.
 *
 * For each: the median frame and its quartiles, CPU of the process in a frame, and frames a second
 * relative to off-screen in the same round: median, least and most.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "game.h"

enum { MAX_ROUNDS = 99 };

static struct place {
    const char *name;
    enum game_target target;
    bool ours;
    pid_t pid;
    int orders, answers;
    double frame_us[MAX_ROUNDS], cpu_us[MAX_ROUNDS], rate[MAX_ROUNDS];
} places[] = {
    {.name = "off-screen", .target = GAME_OFF_SCREEN},
    {.name = "through the ICD", .target = GAME_OFF_SCREEN, .ours = true},
    {.name = "headless", .target = GAME_HEADLESS, .ours = true},
    {.name = "screen", .target = GAME_DISPLAY, .ours = true},
};
static unsigned n_places = sizeof places / sizeof *places;
static unsigned width = 1280, height = 720, rounds = 11;
static double seconds = 0.5;
static bool at_once;

struct order {
    uint32_t turns, frames;
};
struct answer {
    int64_t wall_ns, cpu_ns;
};

static int64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- a place's process --- */

/* The driver's own manifest, for the loader. */
static void without_icd(void)
{
    const char *driver = getenv("TURNPIKE_DRIVER");
    char path[] = "/tmp/bench-game-loop-XXXXXX.json";
    int fd = mkstemps(path, 5);

    if (!driver || fd < 0) {
        fprintf(stderr, "bench-game-loop: TURNPIKE_DRIVER names the driver's library\n");
        exit(2);
    }
    dprintf(fd,
        "{\"file_format_version\": \"1.0.0\","
        " \"ICD\": {\"library_path\": \"%s\", \"api_version\": \"1.3.0\"}}\n",
        driver);
    close(fd);
    setenv("VK_DRIVER_FILES", path, 1);
    setenv("VK_ICD_FILENAMES", path, 1);
}

static void serve(const struct place *p, int orders, int answers)
{
    struct answer ready = {0};
    struct order o;

    if (!p->ours)
        without_icd();
    struct game *g = game_open(p->target, width, height, at_once);
    if (!p->ours)
        unlink(getenv("VK_DRIVER_FILES"));
    if (write(answers, &ready, sizeof ready) != sizeof ready)
        exit(1);
    while (read(orders, &o, sizeof o) == sizeof o) {
        int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
        game_run(g, o.turns, o.frames);
        struct answer a = {now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu};
        if (write(answers, &a, sizeof a) != sizeof a)
            exit(1);
    }
    game_close(g);
    exit(0);
}

static struct answer answer_of(const struct place *p)
{
    struct answer a;

    if (read(p->answers, &a, sizeof a) != sizeof a) {
        fprintf(stderr, "bench-game-loop: %s has ended\n", p->name);
        exit(1);
    }
    return a;
}

static void start(struct place *p)
{
    int down[2], up[2];

    if (pipe(down) || pipe(up) || (p->pid = fork()) < 0) {
        perror("bench-game-loop");
        exit(1);
    }
    if (p->pid == 0) {
        close(down[1]);
        close(up[0]);
        for (struct place *other = places; other < p; other++)
            close(other->orders);
        serve(p, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    p->orders = down[1];
    p->answers = up[0];
    answer_of(p);
}

static struct answer run(const struct place *p, uint32_t turns, uint32_t frames)
{
    struct order o = {turns, frames};

    if (write(p->orders, &o, sizeof o) != sizeof o)
        exit(1);
    return answer_of(p);
}

/* --- measuring --- */

/* How many turns make a frame of so long, off-screen. */
static uint32_t turns_of(double cost_us)
{
    double turns = 100;

    for (unsigned i = 0; i < 8; i++) {
        uint32_t n = (uint32_t)(100000 / cost_us) + 10;
        double base = (double)run(&places[0], 1, n).wall_ns / n / 1000;
        double with = (double)run(&places[0], (uint32_t)turns, n).wall_ns / n / 1000;
        double each = (with - base) / turns;
        turns = each > 0 && cost_us > base ? (cost_us - base) / each : 1;
        turns = turns < 1 ? 1 : turns > 1e8 ? 1e8 : turns;
    }
    return (uint32_t)turns;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void measure(double cost_us)
{
    uint32_t turns = turns_of(cost_us);
    uint32_t frames = (uint32_t)(seconds * 1e6 / cost_us) + 1;

    printf("%.0f us a frame off-screen (%u turns), %u rounds of %u frames of %ux%u\n", cost_us,
        turns, rounds, frames, width, height);
    for (unsigned r = 0; r < rounds; r++) {
        for (unsigned i = 0; i < n_places; i++) {
            struct place *p = &places[(i + r) % n_places];
            run(p, turns, frames / 10 + 1);
            struct answer a = run(p, turns, frames);
            p->frame_us[r] = (double)a.wall_ns / frames / 1000;
            p->cpu_us[r] = (double)a.cpu_ns / frames / 1000;
        }
        for (unsigned i = 0; i < n_places; i++)
            places[i].rate[r] = places[0].frame_us[r] / places[i].frame_us[r];
    }
    for (unsigned i = 0; i < n_places; i++) {
        struct place *p = &places[i];
        qsort(p->frame_us, rounds, sizeof(double), by_value);
        qsort(p->cpu_us, rounds, sizeof(double), by_value);
        qsort(p->rate, rounds, sizeof(double), by_value);
        printf("  %-16s %8.1f us (%.1f to %.1f) %8.1f fps   CPU %6.1f us   %.3f (%.3f to %.3f)\n",
            p->name, p->frame_us[rounds / 2], p->frame_us[rounds / 4], p->frame_us[rounds * 3 / 4],
            1e6 / p->frame_us[rounds / 2], p->cpu_us[rounds / 2], p->rate[rounds / 2], p->rate[0],
            p->rate[rounds - 1]);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const double costs[] = {200, 1000, 4000};
    int o;

    while ((o = getopt(argc, argv, "is:t:r:")) != -1) {
        if (o == 'i' && (at_once = true))
            continue;
        if (o == 's' && sscanf(optarg, "%ux%u", &width, &height) == 2)
            continue;
        if (o == 't' && (seconds = atof(optarg)) > 0)
            continue;
        if (o == 'r' && (rounds = (unsigned)atoi(optarg)) > 0 && rounds <= MAX_ROUNDS)
            continue;
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    setenv("TURNPIKE_GATE", "off", 1);
    if (!getenv("TURNPIKE_SOCKET"))
        n_places--;
    for (unsigned i = 0; i < n_places; i++)
        start(&places[i]);
    if (optind < argc) {
        for (int i = optind; i < argc; i++)
            measure(atof(argv[i]));
    } else {
        for (unsigned i = 0; i < sizeof costs / sizeof *costs; i++)
            measure(costs[i]);
    }
    for (unsigned i = 0; i < n_places; i++)
        close(places[i].orders);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    return 0;
}
