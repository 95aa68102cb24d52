/* The tables of docs/pacing.md: tables NAME prints one of them. Virtual time: the same everywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/world/oracle.h"
#include "frames/world/world.h"

static struct tp_world_result result;

/* 40 % of the cost are the CPU's. */
static struct tp_world_cost cost_of(int64_t us)
{
    return (struct tp_world_cost){.cpu_ns = us * 400, .gpu_ns = us * 600};
}

static struct tp_world_config config(const struct tp_world_cost *cost, unsigned images)
{
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = cost;
    c.n_costs = 1;
    c.frames = 10000;
    c.images = images;
    return c;
}

static void go(const struct tp_world_config *c)
{
    if (tp_world_run(c, &result, NULL) < 0 || *result.broken) {
        fprintf(stderr, "%s\n", result.broken);
        exit(1);
    }
}

static double fps(void)
{
    return tp_world_fps(&result);
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

/* Both orders of an acquire. The wrong one breaks an invariant; that one note in a thousand comes
 * twice changes nothing, but the run is none in which that ends it. */
static void question(void)
{
    static const struct {
        int64_t us;
        unsigned images, late;
    } cases[] = {{8000, 4, 0}, {15000, 4, 0}, {8000, 3, 0}, {12000, 3, 0}, {15000, 3, 0},
        {15000, 4, 1}, {8000, 2, 0}};
    puts("| cost ms | images | fences late | order | gate to first command ms: p50 | p99 "
         "| ready by the next grid point, % | fps | start to first line ms |\n"
         "|--:|--:|--:|---|--:|--:|--:|--:|--:|");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int right = 0; right < 2; right++) {
            struct tp_world_cost cost = cost_of(cases[i].us);
            struct tp_world_config c = config(&cost, cases[i].images);
            c.gate = (struct tp_gate_settings){TP_GATE_CAP, 60000};
            c.per_mille[TP_FAULT_DUP_NOTE] = 1;
            c.per_mille[TP_FAULT_LATE_FENCE] = cases[i].late > 0 ? 1000 : 0;
            c.bug = right ? TP_BUG_NONE : TP_BUG_WAIT_AFTER_BOOKING;
            go(&c);
            printf("| %.0f | %u | %u | %s | %.2f | %.2f | %.1f | %.2f | %.2f |\n",
                (double)cases[i].us / 1000, cases[i].images, cases[i].late,
                right ? "start = max(grid, release)" : "release waited for after booking",
                ms(result.gate_to_start.p50_ns), ms(result.gate_to_start.p99_ns),
                100 * result.in_period, fps(), ms(result.latency.p50_ns));
        }
}

static void latency(void)
{
    static const int64_t costs[] = {4000, 8000, 12000, 15000};
    puts("| guest | cost ms | FIFO, 3 images: ms | 5 images | vsync | latency | at most "
         "| saved against FIFO with 3, with 5 | rate against vsync's |\n"
         "|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (unsigned i = 0; i < 8; i++) {
        struct tp_world_cost cost = cost_of(costs[i % 4]);
        struct tp_world_config c = config(&cost, 3);
        int64_t p50[4];
        double rate[4];
        c.late_guest = i / 4;
        for (unsigned k = 0; k < 4; k++) {
            c.images = k == 0 ? 3 : k == 1 ? 5 : 4;
            c.gate.mode = k < 2 ? TP_GATE_OFF : k == 2 ? TP_GATE_VSYNC : TP_GATE_LATENCY;
            c.run_ahead = k < 2 ? 3 : c.late_guest; /* in a FIFO it runs as far ahead as it can */
            go(&c);
            p50[k] = result.latency.p50_ns;
            rate[k] = fps();
        }
        double most = ms(cost.cpu_ns + cost.gpu_ns + 1200000 + c.lead_ns) + 1000.0 / 60;
        printf("| %s | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f, %.2f | %.4f |\n",
            c.late_guest ? "late" : "early", (double)costs[i % 4] / 1000, ms(p50[0]), ms(p50[1]),
            ms(p50[2]), ms(p50[3]), most, ms(p50[0] - p50[3]), ms(p50[1] - p50[3]),
            rate[3] / rate[2]);
    }
}

static void tears(void)
{
    static const struct {
        unsigned images;
        int64_t us;
        enum tp_gate_mode mode;
        uint32_t cap;
    } cases[] = {{2, 8000, TP_GATE_OFF, 0}, {2, 8000, TP_GATE_CAP, 60000},
        {2, 8000, TP_GATE_CAP, 45000}, {2, 8000, TP_GATE_CAP, 40000}, {2, 8000, TP_GATE_CAP, 36000},
        {2, 8000, TP_GATE_CAP, 30000}, {3, 8000, TP_GATE_OFF, 0}, {3, 8000, TP_GATE_CAP, 60000},
        {3, 15000, TP_GATE_CAP, 60000}, {4, 15000, TP_GATE_CAP, 60000}};
    puts("| images | cost ms | gate | without fences: torn, % | fps | with: torn, % | fps "
         "| oracle's fps |\n|--:|--:|---|--:|--:|--:|--:|--:|");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_world_cost cost = cost_of(cases[i].us);
        struct tp_world_config c = config(&cost, cases[i].images);
        struct tp_oracle o;
        double torn[2], rate[2];
        c.gate = (struct tp_gate_settings){cases[i].mode, cases[i].cap};
        for (int with = 0; with < 2; with++) {
            c.release = with;
            go(&c);
            torn[with] = 100 * (double)result.tears / (double)result.frames;
            rate[with] = fps();
        }
        if (tp_oracle_run(&c, &o, NULL) < 0)
            exit(1);
        char gate[16] = "off";
        if (cases[i].cap > 0)
            snprintf(gate, sizeof gate, "cap %u", cases[i].cap / 1000);
        printf("| %u | %.0f | %s | %.1f | %.2f | %.1f | %.2f | %.2f |\n", cases[i].images,
            (double)cases[i].us / 1000, gate, torn[0], rate[0], torn[1], rate[1], o.fps);
    }
}

/* Where a compositor composes, against direct scan-out; own images: of the compositor. */
static void composed(void)
{
    static const struct {
        enum tp_gate_mode mode;
        const char *gate;
        int64_t us;
        unsigned pipeline, own;
    } cases[] = {{TP_GATE_VSYNC, "vsync", 8000, 1, 3}, {TP_GATE_VSYNC, "vsync", 15000, 1, 3},
        {TP_GATE_LATENCY, "latency", 8000, 1, 3}, {TP_GATE_OFF, "off", 8000, 1, 3},
        {TP_GATE_VSYNC, "vsync", 8000, 0, 2}, {TP_GATE_VSYNC, "vsync", 8000, 1, 2},
        {TP_GATE_VSYNC, "vsync", 8000, 2, 3}};
    puts("| gate | cost ms | pipeline | own images | direct: fps | start to first line ms "
         "| composed: fps | start to first line ms | torn without fences, % |\n"
         "|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_world_cost cost = cost_of(cases[i].us);
        struct tp_world_config c = config(&cost, 3 + cases[i].pipeline);
        c.gate.mode = cases[i].mode;
        c.pipeline = cases[i].pipeline;
        go(&c);
        printf("| %s | %.0f | %u | %u | %.2f | %.2f ", cases[i].gate, (double)cases[i].us / 1000,
            c.pipeline, cases[i].own, fps(), ms(result.latency.p50_ns));
        c.compose_ns = 2000000;
        c.own_images = cases[i].own;
        go(&c);
        printf("| %.2f | %.2f ", fps(), ms(result.latency.p50_ns));
        c.release = false;
        go(&c);
        printf("| %.1f |\n", 100 * (double)result.tears / (double)result.frames);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } tables[] = {{"question", question}, {"latency", latency}, {"tears", tears},
        {"composed", composed}};
    for (unsigned i = 0; argc == 2 && i < sizeof tables / sizeof *tables; i++)
        if (strcmp(argv[1], tables[i].name) == 0) {
            tables[i].print();
            return 0;
        }
    fprintf(stderr, "usage: tables question|latency|tears|composed\n");
    return 2;
}
