/*
 * Recorded traces, each game early and late. TURNPIKE_TRACES: the folder with the recordings
 * (*.txt); without it, traces of the same kinds from seeds.
 *
 * At the highest cap that a trace holds for 95 % of its frames, on the slowest panel that is as
 * fast, and on one of 120 Hz: how many frames are late, against the oracle.
 *
 * And at the highest such rate that a panel can show evenly, with a refresh or more to spare: how
 * much the time on the panel changes from frame to frame, against other ways to pace. (A cap that
 * does not divide the refresh changes by a refresh whoever paces; that has the oracle, too.)
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

#define RATES 5u
#define NOTHING_NS 10000 /* a change that nobody sees */

static const uint32_t rates[RATES] = {60000, 72000, 90000, 120000, 144000};
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

static uint32_t highest_rate(const struct tp_costs *c)
{
    struct tp_world_cost *sorted = tp_calloc(c->n, sizeof *sorted);
    memcpy(sorted, c->at, c->n * sizeof *sorted);
    qsort(sorted, c->n, sizeof *sorted, compare);
    int64_t ns = whole(&sorted[c->n * 95 / 100]);
    free(sorted);
    return (uint32_t)(INT64_C(1000000000000) / ns);
}

static struct tp_world_config make_config(const struct tp_costs *costs, bool late)
{
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = costs->at;
    c.n_costs = c.frames = costs->n;
    c.images = 4;
    c.late_guest = late;
    c.run_ahead = late;
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, highest_rate(costs)};
    return c;
}

/* 1: it is late more often than may be. */
static unsigned judge_late(const char *name, struct tp_world_config c)
{
    struct tp_oracle o;
    if (tp_oracle_run(&c, &o, NULL) < 0 || tp_world_run(&c, &result, NULL) < 0)
        return 1;
    double most = 0.002 * (double)c.frames;
    most = 1.05 * (double)o.late + (most > 3 ? most : 3);
    bool within = !*result.broken && (double)result.late <= most;
    printf("| %s | %s | %llu | %.2f | %u | %llu | %llu | %.2f | %.2f | %.1f | %.1f | %.2f | %.2f "
           "| %s |\n",
        name, c.late_guest ? "late:1" : "early:0", (unsigned long long)c.frames,
        c.gate.cap_mhz / 1000.0, c.refresh_mhz / 1000, (unsigned long long)o.late,
        (unsigned long long)result.late, o.fps,
        (double)(result.frames - 1) / ((double)result.span_ns / 1e9),
        (double)o.latency.p50_ns / 1e6, (double)result.latency.p50_ns / 1e6, o.stutter_ns / 1e6,
        result.stutter.mean_ns / 1e6, within ? "yes" : "no");
    return !within;
}

/* With 120 Hz and generated frames of no even cost it is no failure: those intervals are no costs,
 * and what they would have cost nobody has recorded. */
static unsigned judge_caps(const char *name, const struct tp_costs *costs)
{
    unsigned bad = 0;
    for (int late = 0; late < 2; late++) {
        struct tp_world_config c = make_config(costs, late);
        unsigned i = 0;
        while (i + 1 < RATES && rates[i] < c.gate.cap_mhz)
            i++;
        c.refresh_mhz = rates[i];
        bad += judge_late(name, c);
        if (rates[i] >= 120000)
            continue;
        c.refresh_mhz = 120000;
        bad += judge_late(name, c) > 0 && !strstr(name, "-fg-");
    }
    return bad;
}

static double stutter_of(struct tp_world_config c, enum tp_world_policy policy, bool paced)
{
    c.policy = policy;
    if (!paced)
        c.gate = (struct tp_gate_settings){TP_GATE_OFF, 0};
    if (tp_world_run(&c, &result, NULL) < 0 || *result.broken)
        return -1;
    return result.stutter.mean_ns;
}

static bool is_lower(double ours, double other)
{
    return ours < other || ours < NOTHING_NS;
}

/* 1: the time on the panel changes more than that of another way to pace. */
static unsigned judge_stutter(const char *name, struct tp_world_config c)
{
    uint32_t most = c.gate.cap_mhz;
    c.gate.cap_mhz = 0;
    for (unsigned i = 0; i < RATES; i++)
        for (uint32_t n = 2; n <= 16; n++)
            if (rates[i] / n <= most && rates[i] / n >= c.gate.cap_mhz) {
                c.refresh_mhz = rates[i];
                c.gate.cap_mhz = rates[i] / n;
            }
    struct tp_oracle o;
    if (tp_oracle_run(&c, &o, NULL) < 0)
        return 1;
    double ours = stutter_of(c, TP_POLICY_GATE, true);
    double none = stutter_of(c, TP_POLICY_GATE, false);
    double divider = stutter_of(c, TP_POLICY_DIVIDER, true);
    double delay = stutter_of(c, TP_POLICY_DELAY, true);
    bool lower =
        ours >= 0 && is_lower(ours, none) && is_lower(ours, divider) && is_lower(ours, delay);
    printf("| %s | %s | %.2f | %u | %.3f | %.3f | %.3f | %.3f | %.3f | %s |\n", name,
        c.late_guest ? "late:1" : "early:0", c.gate.cap_mhz / 1000.0, c.refresh_mhz / 1000,
        o.stutter_ns / 1e6, ours / 1e6, none / 1e6, divider / 1e6, delay / 1e6,
        lower ? "yes" : "no");
    return !lower;
}

static unsigned judge_stutters(const char *name, const struct tp_costs *costs)
{
    return judge_stutter(name, make_config(costs, false)) +
        judge_stutter(name, make_config(costs, true));
}

/* --- traces --- */

struct trace {
    char *name;
    struct tp_costs costs;
};
struct traces {
    struct trace *at;
    size_t n, cap;
};

static int is_trace(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".txt") == 0;
}

static bool add_file(struct traces *t, const char *folder, const char *name)
{
    struct tp_buf text = {0};
    struct tp_costs costs;
    struct tp_error e = {0};
    char *path = tp_asprintf("%s/%s", folder, name);
    bool ok = tp_read_file(path, 0, &text, &e) >= 0 &&
        tp_costs_read(tp_buf_str(&text), text.len, name, &costs, &e) >= 0;
    if (ok)
        TP_PUSH(t->at, t->n, t->cap) = (struct trace){
            .name = tp_asprintf("%.*s", (int)strlen(name) - 4, name), .costs = costs};
    else
        printf("%s: %s\n", e.where, e.what);
    tp_buf_finish(&text);
    free(path);
    return ok;
}

static bool add_folder(struct traces *t, const char *folder)
{
    struct dirent **files;
    int n = scandir(folder, &files, is_trace, alphasort);
    bool ok = n > 0;
    for (int i = 0; i < n; i++) {
        ok = add_file(t, folder, files[i]->d_name) && ok;
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    return ok;
}

/* Steady with noise, alternating, level shifts, stalls, rare and long ones and not so rare ones. */
static void add_seeded(struct traces *t)
{
    static const char *const names[] = {"steady", "alternating", "levels", "stalls"};
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
            if (kind == 3)
                us += i % 509 == 0 ? 60000 : i % 127 == 0 ? 12000 : 0;
            TP_PUSH(costs.at, costs.n, costs.cap) =
                (struct tp_world_cost){.cpu_ns = us * 400, .gpu_ns = us * 600};
        }
        TP_PUSH(t->at, t->n, t->cap) = (struct trace){tp_strdup(names[kind]), costs};
    }
}

int main(void)
{
    const char *folder = getenv("TURNPIKE_TRACES");
    struct traces t = {0};
    unsigned bad = 0;
    printf(folder ? "recordings from %s\n" : "no TURNPIKE_TRACES: traces from seeds\n", folder);
    if (!folder)
        add_seeded(&t);
    else if (!add_folder(&t, folder))
        bad++;
    puts("\n| trace | guest | frames | cap | refresh | oracle late | late | oracle fps | fps "
         "| oracle ms | ms | oracle's change ms | change ms | within |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for (size_t i = 0; i < t.n; i++)
        bad += judge_caps(t.at[i].name, &t.at[i].costs);
    puts("\n| trace | guest | cap | refresh | oracle: change ms | gate | no pacing | fixed divider "
         "| delay after present | lower |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|");
    for (size_t i = 0; i < t.n; i++) {
        bad += judge_stutters(t.at[i].name, &t.at[i].costs);
        tp_costs_finish(&t.at[i].costs);
        free(t.at[i].name);
    }
    free(t.at);
    return bad > 0;
}
