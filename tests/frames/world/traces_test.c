/*
 * Recorded traces, at the highest cap that each holds for 95 % of its frames, on the slowest panel
 * that is as fast: how many frames are late, against the oracle. TURNPIKE_TRACES: the folder with
 * the recordings (*.txt); without it, traces of the same kinds from seeds.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "frames/world/costs.h"
#include "frames/world/oracle.h"
#include "frames/world/world.h"

static struct tp_world_result result;

static int64_t whole(const struct tp_world_cost *c)
{
    return c->cpu_ns + c->gpu_ns;
}

static int compare(const void *a, const void *b)
{
    int64_t x = whole(a), y = whole(b);
    return (x > y) - (x < y);
}

static int64_t quantile_95(const struct tp_costs *c)
{
    struct tp_world_cost *sorted = tp_calloc(c->n, sizeof *sorted);
    memcpy(sorted, c->at, c->n * sizeof *sorted);
    qsort(sorted, c->n, sizeof *sorted, compare);
    int64_t ns = whole(&sorted[c->n * 95 / 100]);
    free(sorted);
    return ns;
}

static struct tp_world_config make_config(const struct tp_costs *costs, bool late)
{
    static const uint32_t rates[] = {60000, 72000, 90000, 120000, 144000};
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = costs->at;
    c.n_costs = c.frames = costs->n;
    c.images = 4;
    c.late_guest = late;
    c.run_ahead = late;
    c.gate = (struct tp_gate_settings){
        TP_GATE_CAP, (uint32_t)(INT64_C(1000000000000) / quantile_95(costs))};
    for (unsigned i = 0; i < 5; i++) {
        c.refresh_mhz = rates[i];
        if (rates[i] >= c.gate.cap_mhz)
            break;
    }
    return c;
}

/* 1: it is late more often than may be. Of one with generated frames the intervals are no costs. */
static unsigned judge(const char *name, const struct tp_costs *costs, bool late)
{
    struct tp_world_config c = make_config(costs, late);
    struct tp_oracle o;
    if (tp_oracle_run(&c, &o, NULL) < 0 || tp_world_run(&c, &result, NULL) < 0)
        return 1;
    double most = 0.002 * (double)costs->n;
    most = 1.05 * (double)o.late + (most > 3 ? most : 3);
    bool generated = strstr(name, "-fg-") != NULL;
    bool bad = *result.broken || ((double)result.late > most && !generated);
    printf("| %s | %s | %zu | %.2f | %u | %llu | %llu | %.2f | %.2f | %.1f | %.1f | %s |\n", name,
        late ? "late:1" : "early:0", costs->n, c.gate.cap_mhz / 1000.0, c.refresh_mhz / 1000,
        (unsigned long long)o.late, (unsigned long long)result.late, o.fps,
        (double)(result.frames - 1) / ((double)result.span_ns / 1e9),
        (double)o.latency.p50_ns / 1e6, (double)result.latency.p50_ns / 1e6,
        (double)result.late <= most ? "yes" : "no");
    return bad;
}

static unsigned judge_both(const char *name, struct tp_costs *costs)
{
    unsigned bad = judge(name, costs, false) + judge(name, costs, true);
    tp_costs_finish(costs);
    return bad;
}

static unsigned judge_file(const char *folder, const char *name)
{
    struct tp_buf text = {0};
    struct tp_costs costs;
    struct tp_error e = {0};
    char *path = tp_asprintf("%s/%s", folder, name);
    unsigned bad = 1;
    if (tp_read_file(path, 0, &text, &e) < 0 ||
        tp_costs_read(tp_buf_str(&text), text.len, name, &costs, &e) < 0)
        printf("%s: %s\n", e.where, e.what);
    else
        bad = judge_both(name, &costs);
    tp_buf_finish(&text);
    free(path);
    return bad;
}

static int is_trace(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".txt") == 0;
}

static unsigned judge_folder(const char *folder)
{
    struct dirent **files;
    unsigned bad = 0;
    int n = scandir(folder, &files, is_trace, alphasort);
    if (n <= 0) {
        printf("%s: there are no traces\n", folder);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        bad += judge_file(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    return bad;
}

/* Steady with noise, alternating, level shifts, rare long stalls. */
static unsigned judge_seeded(void)
{
    static const char *const names[] = {"steady", "alternating", "levels", "stalls"};
    unsigned bad = 0;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct tp_costs costs = {0};
        uint64_t seed = kind + 1;
        int64_t level = 13000;
        for (unsigned i = 0; i < 6000; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int64_t us = level + (int64_t)(seed >> 33) % 1500 - 750;
            if (kind == 1)
                us += i % 2 ? 2000 : -2000;
            if (kind == 2 && i % 400 == 0)
                level = 9000 + (int64_t)(seed >> 40) % 7000;
            if (kind == 3 && i % 509 == 0)
                us += 60000;
            TP_PUSH(costs.at, costs.n, costs.cap) =
                (struct tp_world_cost){.cpu_ns = us * 400, .gpu_ns = us * 600};
        }
        bad += judge_both(names[kind], &costs);
    }
    return bad;
}

int main(void)
{
    const char *folder = getenv("TURNPIKE_TRACES");
    printf(folder ? "recordings from %s\n" : "no TURNPIKE_TRACES: traces from seeds\n", folder);
    puts("| trace | guest | frames | cap | refresh | oracle late | late | oracle fps | fps "
         "| oracle ms | ms | within |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    return (folder ? judge_folder(folder) : judge_seeded()) > 0;
}
