/*
 * Recorded traces, each game early and late. TURNPIKE_TRACES: the folder with the recordings
 * (*.txt); without it, traces of the same kinds from seeds.
 *
 * At the highest cap that a trace holds for 95 % of its frames, on each panel: how many frames are
 * late, against the oracle; and how much the time on the panel changes from frame to frame, which
 * at a cap that does not divide the refresh it does whoever paces: against the oracle, too.
 *
 * And at the highest such rate that the panel can show evenly with refreshes to spare, how much it
 * changes against other ways to pace. Some of them show more frames, of which each stall is a
 * smaller part: what counts is the change in a second.
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
#define RARE 0.001       /* of the frames a refresh late: that is as good as none */
#define UNEVEN_NS 100000 /* more than 1.05 times the oracle's change */

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

static double fps(void)
{
    return tp_world_fps(&result);
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

/* 1: it is late more often than may be, or the time on the panel changes more. */
static unsigned judge_late(const char *name, struct tp_world_config c)
{
    struct tp_oracle o;
    if (tp_oracle_run(&c, &o, NULL) < 0 || tp_world_run(&c, &result, NULL) < 0)
        return 1;
    double most = 0.002 * (double)c.frames;
    most = 1.05 * (double)o.late + (most > 3 ? most : 3);
    bool within = !*result.broken && (double)result.late <= most &&
        result.stutter.mean_ns <= 1.05 * o.stutter_ns + UNEVEN_NS;
    printf("| %s | %s | %llu | %.2f | %u | %llu | %.1f | %llu | %.2f | %.2f | %.1f | %.1f | %.2f "
           "| %.2f | %s |\n",
        name, c.late_guest ? "late:1" : "early:0", (unsigned long long)c.frames,
        c.gate.cap_mhz / 1000.0, c.refresh_mhz / 1000, (unsigned long long)o.late, most,
        (unsigned long long)result.late, o.fps, fps(), (double)o.latency.p50_ns / 1e6,
        (double)result.latency.p50_ns / 1e6, o.stutter_ns / 1e6, result.stutter.mean_ns / 1e6,
        within ? "yes" : "no");
    return !within;
}

struct way {
    double change_ns, fps;
    uint64_t late;
};

static struct way go(struct tp_world_config c, enum tp_world_policy policy, bool paced)
{
    c.policy = policy;
    if (!paced)
        c.gate = (struct tp_gate_settings){TP_GATE_OFF, 0};
    if (tp_world_run(&c, &result, NULL) < 0 || *result.broken)
        return (struct way){.change_ns = -1};
    return (struct way){result.stutter.mean_ns, fps(), result.late};
}

/* In a second. As much is no more where no schedule has fewer late frames: it is theirs. */
static bool is_no_more(
    struct way ours, struct way other, const struct tp_world_config *c, uint64_t least_late)
{
    double our_ns = ours.change_ns * ours.fps, other_ns = other.change_ns * other.fps;
    return ours.change_ns < RARE * 2e12 / c->refresh_mhz || our_ns < other_ns ||
        (ours.late <= least_late && our_ns < 1.001 * other_ns);
}

/* Less, and not only by a thousandth or where both have as good as none. */
static bool is_less(struct way ours, struct way other, const struct tp_world_config *c)
{
    double rare_ns = RARE * 2e12 / c->refresh_mhz;
    if (ours.change_ns < rare_ns && other.change_ns < rare_ns)
        return false;
    return ours.change_ns * ours.fps < 0.999 * other.change_ns * other.fps;
}

/* 1: the time on the panel changes more than that of another way to pace. */
static unsigned judge_stutter(const char *name, struct tp_world_config c)
{
    uint32_t n = 2;
    while (c.refresh_mhz / n > c.gate.cap_mhz)
        n++;
    c.gate.cap_mhz = c.refresh_mhz / n;
    struct tp_oracle o;
    if (tp_oracle_run(&c, &o, NULL) < 0)
        return 1;
    struct way ours = go(c, TP_POLICY_GATE, true);
    struct way others[] = {
        go(c, TP_POLICY_GATE, false), go(c, TP_POLICY_DIVIDER, true), go(c, TP_POLICY_DELAY, true)};
    bool no_more = ours.change_ns >= 0, less = true;
    printf("| %s | %s | %.2f | %u | %.3f | %.3f, %.2f |", name, c.late_guest ? "late:1" : "early:0",
        c.gate.cap_mhz / 1000.0, c.refresh_mhz / 1000, o.stutter_ns / 1e6, ours.change_ns / 1e6,
        ours.fps);
    for (unsigned i = 0; i < 3; i++) {
        no_more = no_more && is_no_more(ours, others[i], &c, o.late);
        less = less && is_less(ours, others[i], &c);
        printf(" %.3f, %.2f |", others[i].change_ns / 1e6, others[i].fps);
    }
    puts(!no_more ? " no |" : less ? " yes |" : " equal |");
    return !no_more;
}

static unsigned judge_all(const char *name, const struct tp_costs *costs,
    unsigned (*judge)(const char *name, struct tp_world_config c))
{
    unsigned bad = 0;
    for (int late = 0; late < 2; late++)
        for (unsigned i = 0; i < RATES; i++) {
            struct tp_world_config c = make_config(costs, late);
            c.refresh_mhz = rates[i];
            bad += judge(name, c);
        }
    return bad;
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
    puts("\n| trace | guest | frames | cap | refresh | oracle late | may be | late | oracle fps "
         "| fps | oracle ms | ms | oracle's change ms | change ms | within |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for (size_t i = 0; i < t.n; i++)
        bad += judge_all(t.at[i].name, &t.at[i].costs, judge_late);
    puts("\n| trace | guest | cap | refresh | oracle: change ms | gate: ms, fps | no pacing "
         "| fixed divider | delay after present | lower |\n"
         "|---|---|--:|--:|--:|--:|--:|--:|--:|---|");
    for (size_t i = 0; i < t.n; i++) {
        bad += judge_all(t.at[i].name, &t.at[i].costs, judge_stutter);
        tp_costs_finish(&t.at[i].costs);
        free(t.at[i].name);
    }
    free(t.at);
    return bad > 0;
}
