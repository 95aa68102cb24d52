/*
 * Whatever options are legal, nothing that must hold is said to be broken, and it ends. Random
 * worlds, from a seed:
 *
 *     world_options_test [WORLDS [SEED [FRAMES]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/pace/profile.h"
#include "frames/world/world.h"

#define COSTS 6
#define REFRESHES 20e3
#define EXTREME 100      /* per mille: where more goes wrong, it may be that nothing comes through */
#define EVENTS 20000000u /* that a world has at most: some seconds */

static uint64_t state;
static struct tp_world_result result;

static uint64_t dice(uint64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % n;
}

/* From low to high, each order of magnitude as often as another. */
static int64_t wide(int64_t low, int64_t high)
{
    int64_t to = low + 1;
    unsigned steps = 0;
    for (int64_t at = to; at < high; at *= 2)
        steps++;
    to <<= dice(steps + 1);
    to = to < high ? to : high;
    return low + (int64_t)dice((uint64_t)(to - low + 1));
}

static void choose_costs(struct tp_world_config *c, struct tp_world_cost *costs)
{
    c->costs = costs;
    c->n_costs = 1 + dice(COSTS);
    int64_t most = dice(20) == 0 ? 10000000 : 40000;
    for (unsigned i = 0; i < c->n_costs; i++) {
        int64_t us = i == 0 || dice(2) ? wide(0, most) : costs[i - 1].cpu_ns / 400;
        costs[i] = (struct tp_world_cost){us * 400, us * 600};
    }
}

static void choose_screen(struct tp_world_config *c)
{
    static const uint32_t usual[] = {60000, 59940, 72000, 90000, 120000, 144000};
    c->refresh_mhz = dice(2) ? usual[dice(6)] : (uint32_t)wide(1000, 1000000);
    c->slowest_mhz = dice(5) == 0 ? (uint32_t)wide(1000, c->refresh_mhz) : 0;
    if (c->slowest_mhz == c->refresh_mhz)
        c->slowest_mhz = 0;
    c->pipeline = (unsigned)dice(3);
    if (dice(2))
        c->lead_ns = 1000 * wide(0, 1000000000 / c->refresh_mhz - 1);
    else if (c->lead_ns >= INT64_C(1000000000000) / c->refresh_mhz)
        c->lead_ns = 0;
    if (dice(2))
        c->callback_ns = 1000 * wide(0, 1000000);
    if (dice(2))
        c->compositor_ns = 1000 * wide(0, 1000000);
    if (c->slowest_mhz == 0 && dice(3) == 0) {
        c->compose_ns = 1000 * wide(1, dice(4) ? 10000 : 1000000);
        c->own_images = 2 + (unsigned)dice(4);
    }
}

static void choose_faults(struct tp_world_config *c)
{
    if (dice(2))
        return;
    bool all = dice(3) == 0;
    uint32_t rate = (uint32_t)(dice(4) ? wide(1, EXTREME) : wide(EXTREME, 1000));
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (all || dice(6) == 0)
            c->per_mille[i] = rate;
    if (dice(3) == 0)
        c->per_mille[TP_FAULT_LATE_FENCE] = 1000;
    c->late_refreshes = 1 + (unsigned)dice(16);
}

static void choose(struct tp_world_config *c, struct tp_world_cost *costs)
{
    tp_world_defaults(c);
    choose_costs(c, costs);
    choose_screen(c);
    choose_faults(c);
    c->late_guest = dice(2);
    c->run_ahead = (unsigned)dice(4);
    c->images = (unsigned)(dice(3) ? 2 + dice(5) : 2 + dice(63));
    c->gate.mode = (enum tp_gate_mode)dice(4);
    if (c->gate.mode == TP_GATE_CAP || dice(3) == 0)
        c->gate.cap_mhz = dice(2) ? 1000 * (20 + 5 * (uint32_t)dice(30)) : (uint32_t)wide(50, 1000000);
    c->seed = dice(1000);
}

/* As many frames as there are in so many refreshes, where they are far apart. */
static uint64_t frames_of(const struct tp_world_config *c, uint64_t frames)
{
    double apart = c->gate.cap_mhz > 0 ? 1e3 / c->gate.cap_mhz : 0, refresh = c->refresh_mhz / 1e3;
    for (size_t i = 0; i < c->n_costs; i++) {
        double cost = (double)(c->costs[i].cpu_ns + c->costs[i].gpu_ns) / 1e9;
        apart = cost > apart ? cost : apart;
    }
    double n = REFRESHES / (apart * refresh + 1);
    return n < 8 ? 8 : n < (double)frames ? (uint64_t)n : frames;
}

/* The options that do it again. */
static void print_options(const struct tp_world_config *c)
{
    printf("simulate --frames %llu --cost ", (unsigned long long)c->frames);
    for (size_t i = 0; i < c->n_costs; i++)
        printf("%s%lld+%lld", i > 0 ? "," : "", (long long)c->costs[i].cpu_ns / 1000,
            (long long)c->costs[i].gpu_ns / 1000);
    printf(" --guest %s:%u --refresh ", c->late_guest ? "late" : "early", c->run_ahead);
    if (c->slowest_mhz > 0)
        printf("%.3f-", c->slowest_mhz / 1e3);
    printf("%.3f --gate %s --images %u --pipeline %u --latch %lld --compositor-us %lld "
           "--callback %lld --seed %llu",
        c->refresh_mhz / 1e3, tp_gate_mode_name(c->gate.mode), c->images, c->pipeline,
        (long long)c->lead_ns / 1000, (long long)c->compositor_ns / 1000,
        (long long)c->callback_ns / 1000, (unsigned long long)c->seed);
    if (c->gate.cap_mhz > 0)
        printf(" --cap %.3f", c->gate.cap_mhz / 1e3);
    if (c->compose_ns > 0)
        printf(" --compose %lld:%u", (long long)c->compose_ns / 1000, c->own_images);
    const char *before = " --faults ";
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (c->per_mille[i] > 0) {
            printf("%s%s:%u", before, tp_world_fault_names[i], c->per_mille[i]);
            if (i == TP_FAULT_LATE_FENCE)
                printf(":%u", c->late_refreshes);
            before = ",";
        }
    printf("\n");
}

/* What is wrong with its run, or NULL. */
static const char *what_is_wrong(const struct tp_world_config *c)
{
    uint32_t most = 0;
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (i != TP_FAULT_LATE_FENCE && c->per_mille[i] > most)
            most = c->per_mille[i];
    if (tp_world_run(c, &result, NULL) < 0)
        return "it does not run";
    if (*result.broken)
        return result.broken;
    if (*result.blocked && most <= EXTREME)
        return result.blocked;
    if (result.events > EVENTS)
        return "it goes on and on";
    return result.tears > 0 ? "it tears" : NULL;
}

int main(int argc, char **argv)
{
    unsigned long worlds = argc > 1 ? strtoul(argv[1], NULL, 10) : 400;
    uint64_t seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    uint64_t frames = argc > 3 ? strtoul(argv[3], NULL, 10) : 500;
    unsigned long ran = 0, refused = 0, failed = 0;
    for (; ran < worlds; seed++) {
        struct tp_world_cost costs[COSTS];
        struct tp_world_config c;
        state = seed * 977;
        choose(&c, costs);
        c.frames = frames_of(&c, frames);
        if (tp_world_check(&c, NULL) < 0) {
            refused++;
            continue;
        }
        ran++;
        const char *wrong = what_is_wrong(&c);
        if (!wrong)
            continue;
        failed++;
        printf("%s: ", wrong);
        print_options(&c);
    }
    printf("%lu worlds, %lu of them broken; %lu refused\n", ran, failed, refused);
    return failed > 0 || refused > ran;
}
