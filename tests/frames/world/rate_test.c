/*
 * The gate costs no rate: whatever the refresh, the images, the frames' cost and the compositor's
 * time, a gate shows as many frames as a game that nobody holds up. (What it takes to learn of the
 * compositor, up to 15 refreshes, is in it.)
 *
 *     world_rate_test [FRAMES]
 */
#include <stdio.h>
#include <stdlib.h>

#include "frames/world/world.h"

#define LEAST 0.997 /* of the rate with the gate off */

static unsigned runs, slower;

static double fps_of(const struct tp_world_config *c)
{
    static struct tp_world_result r;
    if (tp_world_run(c, &r, NULL) < 0 || *r.broken || r.tears > 0) {
        printf("broken: %s\n", r.broken);
        exit(1);
    }
    return tp_world_fps(&r);
}

static void compare(struct tp_world_config *c, int64_t period)
{
    static const struct {
        const char *name;
        enum tp_gate_mode mode;
        bool capped;
    } gates[] = {{"vsync", TP_GATE_VSYNC, false}, {"latency", TP_GATE_LATENCY, false},
        {"cap", TP_GATE_CAP, true}};
    c->gate = (struct tp_gate_settings){.mode = TP_GATE_OFF};
    double off = fps_of(c);
    for (unsigned i = 0; i < sizeof gates / sizeof *gates; i++) {
        c->gate.mode = gates[i].mode;
        c->gate.cap_mhz = gates[i].capped ? c->refresh_mhz : 0;
        double fps = fps_of(c);
        runs++;
        if (fps >= off * LEAST)
            continue;
        slower++;
        printf("%.2f fps, and %.2f without: simulate --cost %lld+%lld --guest %s:%u --refresh %u "
               "--images %u --compositor-us %lld --gate %s (compositor %.2f T, cost %.2f T)\n",
            fps, off, (long long)c->costs->cpu_ns / 1000, (long long)c->costs->gpu_ns / 1000,
            c->late_guest ? "late" : "early", c->run_ahead, c->refresh_mhz / 1000, c->images,
            (long long)c->compositor_ns / 1000, gates[i].name,
            (double)c->compositor_ns / (double)period,
            (double)(c->costs->cpu_ns + c->costs->gpu_ns) / (double)period);
    }
}

int main(int argc, char **argv)
{
    static const unsigned refreshes[] = {60, 90, 120, 144},
                          compositors[] = {0, 25, 50, 80, 100, 120, 150},
                          costs[] = {15, 30, 48, 72, 88};
    uint64_t frames = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    for (unsigned i = 0; i < 7 * 5 * 4 * 2; i++) {
        unsigned hz = refreshes[i % 4], percent = costs[i / 7 % 5];
        int64_t period = 1000000000 / hz;
        struct tp_world_cost cost = {period * percent / 250, period * percent * 3 / 500};
        struct tp_world_config c;
        tp_world_defaults(&c);
        c.costs = &cost;
        c.n_costs = 1;
        c.compositor_ns = period / 100000 * compositors[i % 7] * 1000;
        c.images = 2 + i / 35 % 4;
        c.late_guest = i / 140 > 0;
        c.run_ahead = i / 140;
        c.refresh_mhz = hz * 1000;
        c.frames = frames;
        compare(&c, period);
    }
    printf("%u runs, %u of them slower than without a gate\n", runs, slower);
    return slower > 0;
}
