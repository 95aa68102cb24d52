/*
 * world [FRAMES]: how many frames a second the simulated world runs on one core: healthy, with all
 * faults, and with a recording's kind of costs. The least of them has to be above 200,000.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "frames/world/world.h"

#define COSTS 4096u
#define NEEDED 200000.0

static struct tp_world_cost costs[COSTS];
static struct tp_world_result result;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Frames a second; negative: an invariant broke. */
static double measure(const char *name, struct tp_world_config c)
{
    double from = seconds();
    if (tp_world_run(&c, &result, NULL) < 0 || *result.broken) {
        fprintf(stderr, "%s: %s\n", name, result.broken);
        return -1;
    }
    double rate = (double)(result.frames + result.drops) / (seconds() - from);
    printf("%-28s %8.0f frames/s, %5.1f events a frame\n", name, rate,
        (double)result.events / (double)(result.frames + result.drops));
    return rate;
}

int main(int argc, char **argv)
{
    struct tp_world_config c;
    uint64_t seed = 1;
    tp_world_defaults(&c);
    for (unsigned i = 0; i < COSTS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t ns = 9000000 + (int64_t)(seed >> 33) % 4000000;
        costs[i] = (struct tp_world_cost){.cpu_ns = ns * 4 / 10, .gpu_ns = ns * 6 / 10};
    }
    c.costs = costs;
    c.n_costs = COSTS;
    c.frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 500000;
    c.images = 4;
    double rates[4];
    rates[0] = measure("vsync", c);
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 45000};
    rates[1] = measure("cap 45", c);
    c.gate = (struct tp_gate_settings){TP_GATE_LATENCY, 0};
    c.late_guest = true;
    c.run_ahead = 1;
    rates[2] = measure("latency, a late guest", c);
    for (unsigned f = 0; f < TP_FAULTS; f++)
        c.per_mille[f] = 1;
    rates[3] = measure("and all faults", c);
    for (unsigned i = 0; i < 4; i++)
        if (rates[i] < NEEDED)
            return 1;
    return 0;
}
