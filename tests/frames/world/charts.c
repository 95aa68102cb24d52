/*
 * The pictures of docs/pacing.md: what world each one is of. With a folder it draws them there; with
 * --check and a folder it says whether they are what it would draw.
 */
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "frames/world/chart.h"

#define COST(us) {(us) * 400, (us) * 600} /* as --cost US */

struct picture {
    const char *name;
    struct tp_world_cost cost;
    unsigned images;
    struct tp_gate_settings gate;
    uint32_t refresh_mhz, slowest_mhz;
    bool unfenced;
    enum tp_world_bug bug;
};

static const struct picture pictures[] = {
    {.name = "vsync", .cost = COST(8000), .gate = {.mode = TP_GATE_VSYNC}},
    {.name = "cap", .cost = COST(8000), .gate = {.mode = TP_GATE_CAP, .cap_mhz = 45000}},
    {.name = "latency", .cost = COST(8000), .gate = {.mode = TP_GATE_LATENCY}},
    {.name = "off", .cost = COST(8000), .images = 5, .gate = {.mode = TP_GATE_OFF}},
    {.name = "vrr",
        .cost = COST(8000),
        .gate = {.mode = TP_GATE_CAP, .cap_mhz = 57000},
        .refresh_mhz = 120000,
        .slowest_mhz = 48000},
    {.name = "release-first", .cost = COST(15000), .images = 3, .gate = {.mode = TP_GATE_VSYNC}},
    {.name = "booked-first",
        .cost = COST(15000),
        .images = 3,
        .gate = {.mode = TP_GATE_VSYNC},
        .bug = TP_BUG_WAIT_AFTER_BOOKING},
    {.name = "unfenced",
        .cost = COST(8000),
        .images = 2,
        .gate = {.mode = TP_GATE_OFF},
        .unfenced = true},
};

static void draw(const struct picture *p, struct tp_buf *svg)
{
    struct tp_world_config c;
    struct tp_world_result r;
    struct tp_chart *chart = tp_chart_create(TP_CHART_FROM);
    tp_world_defaults(&c);
    c.costs = &p->cost;
    c.n_costs = 1;
    c.images = p->images > 0 ? p->images : 4;
    c.gate = p->gate;
    c.release = !p->unfenced;
    c.bug = p->bug;
    c.per_mille[TP_FAULT_DUP_NOTE] = p->bug != TP_BUG_NONE; /* else it ends where that is caught */
    c.frames = 10000;
    if (p->slowest_mhz > 0) {
        c.refresh_mhz = p->refresh_mhz;
        c.slowest_mhz = p->slowest_mhz;
    }
    c.watch = tp_chart_watch(chart);
    tp_world_run(&c, &r, NULL);
    tp_chart_draw(chart, &c, &r, svg);
    tp_chart_destroy(chart);
}

/* 0: it was written, or is what would be. */
static int handle(const struct picture *p, const char *folder, bool check)
{
    struct tp_buf svg = {0}, there = {0};
    struct tp_error e = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/pacing-%s.svg", folder, p->name);
    draw(p, &svg);
    int r = check ? tp_read_file(path, 0, &there, &e)
                  : tp_write_file(path, tp_buf_str(&svg), svg.len, 0644, &e);
    if (r < 0)
        fprintf(stderr, "%s: %s\n", path, e.what);
    if (r >= 0 && check && strcmp(tp_buf_str(&svg), tp_buf_str(&there)) != 0) {
        fprintf(stderr, "%s is stale: build/tests/frames/world/world_charts docs/images\n", path);
        r = -1;
    }
    tp_buf_finish(&svg);
    tp_buf_finish(&there);
    return r < 0;
}

int main(int argc, char **argv)
{
    bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != 2 && !check) {
        fprintf(stderr, "usage: world_charts [--check] FOLDER\n");
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        failed |= handle(&pictures[i], argv[argc - 1], check);
    return failed;
}
