/*
 * Every pair of settings, in as few worlds as that takes: refresh, cap, images, pipeline, guest,
 * gate, costs, what goes wrong, compositor. No invariant may break in any.
 *
 *     matrix_test [--total FRAMES] [--table | --special]
 *
 * Each world shows at least 2,000 frames, and all of them that many in total. --table: the table of
 * docs/matrix.md; --special: that of pairs that cannot be, or are not what they seem. Costs are of
 * the kinds that games make, from a seed; with TURNPIKE_TRACES, a folder, they are its recordings
 * (*.txt).
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

#define FACTORS 9
#define LEVELS 24
#define CELLS 1024
#define COSTS 6 /* which factor they are */
#define COMPOSES 8
#define LEAST 2000u /* frames that each world shows */
#define TRACE 4000u

static const char *const factors[FACTORS] = {
    "refresh", "cap", "images", "pipeline", "guest", "gate", "costs", "goes wrong", "compositor"};
static const char *names[FACTORS][LEVELS] = {
    {"60", "72", "90", "120", "144", "48-120"},
    {"none", "30", "40", "45", "60", "72", "90"},
    {"2", "3", "4", "5"},
    {"0", "1", "2"},
    {"early:0", "early:1", "early:3", "late:0", "late:1", "late:3"},
    {"off", "vsync", "cap", "latency"},
    {"light", "heavy", "steady", "alternating", "levels", "stalls"},
    {"nothing", "lost-note", "late-fence", "dup-note", "reorder", "truncated-fds", "server-crash",
        "compositor-crash", "compositor-stall", "panel-off", "refresh-switch", "clock-jitter",
        "slow-reader", "fd-exhaustion", "silent-fence", "dvfs", "all"},
    {"direct", "composes"},
};
static unsigned levels[FACTORS] = {6, 7, 4, 3, 6, 4, 6, 17, 2};

static bool covered[FACTORS][LEVELS][FACTORS][LEVELS];
static struct tp_world_cost costs[TRACE];
static struct tp_costs recordings[LEVELS];
static bool recorded;
static struct tp_world_result result;
static uint64_t seed = 1;

static unsigned dice(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

static unsigned count_new(const unsigned *cell)
{
    unsigned n = 0;
    for (unsigned a = 0; a < FACTORS; a++)
        for (unsigned b = a + 1; b < FACTORS; b++)
            n += !covered[a][cell[a]][b][cell[b]];
    return n;
}

/* Pairs of which there is something to say. */
static const struct special {
    unsigned a, i, b, k;
    bool never;
    const char *why;
} specials[] = {
    {0, 5, COMPOSES, 1, true, "a compositor composes at a fixed rate only"},
    {0, 5, 7, 10, false, "the mode of a variable rate is not switched: nothing goes wrong"},
    {1, 0, 5, 2, false, "a gate that caps needs a cap: it is the refresh"},
};

static bool cannot_be(unsigned a, unsigned i, unsigned b, unsigned k)
{
    for (unsigned s = 0; s < sizeof specials / sizeof *specials; s++) {
        const struct special *p = &specials[s];
        if (p->never && p->a == a && p->i == i && p->b == b && p->k == k)
            return true;
    }
    return false;
}

static void print_specials(void)
{
    puts("| | with | in the table | |\n|---|---|---|---|");
    for (unsigned s = 0; s < sizeof specials / sizeof *specials; s++) {
        const struct special *p = &specials[s];
        printf("| %s: %s | %s: %s | %s | %s |\n", factors[p->a], names[p->a][p->i], factors[p->b],
            names[p->b][p->k], p->never ? "no" : "yes", p->why);
    }
}

/* A pair that is not covered yet, in out; its other factors are any. False: there is none. */
static bool find_pair(unsigned *out)
{
    for (unsigned a = 0; a < FACTORS; a++)
        for (unsigned b = a + 1; b < FACTORS; b++)
            for (unsigned i = 0; i < levels[a]; i++)
                for (unsigned k = 0; k < levels[b]; k++) {
                    if (covered[a][i][b][k] || cannot_be(a, i, b, k))
                        continue;
                    for (unsigned f = 0; f < FACTORS; f++)
                        out[f] = dice(levels[f]);
                    out[a] = i;
                    out[b] = k;
                    if (cannot_be(0, out[0], COMPOSES, out[COMPOSES]))
                        out[a == 0 ? COMPOSES : 0] = a == 0 ? 0 : dice(5);
                    return true;
                }
    return false;
}

/* The best of some that have that pair. */
static bool next_cell(unsigned *out)
{
    unsigned best = 0;
    for (int i = 0; i < 40; i++) {
        unsigned cell[FACTORS];
        if (!find_pair(cell))
            return false;
        unsigned n = count_new(cell);
        if (n <= best)
            continue;
        best = n;
        memcpy(out, cell, sizeof cell);
    }
    for (unsigned a = 0; a < FACTORS; a++)
        for (unsigned b = a + 1; b < FACTORS; b++)
            covered[a][out[a]][b][out[b]] = true;
    return true;
}

/* Shares of a period, with traces of the kinds that games make. */
static void make_costs(unsigned kind, int64_t period_ns)
{
    int64_t level = period_ns * 6 / 10;
    for (unsigned i = 0; i < TRACE; i++) {
        int64_t ns = level;
        if (kind == 0)
            ns = period_ns * 3 / 10;
        else if (kind == 1)
            ns = period_ns * 88 / 100;
        else
            ns += period_ns * ((int64_t)dice(100) + dice(100) - 100) / 1000;
        if (kind == 3)
            ns += i % 2 ? period_ns / 5 : -period_ns / 5;
        if (kind == 4 && i % 300 == 0)
            level = period_ns * (3 + dice(15)) / 10;
        if (kind == 5 && i % 250 == 0)
            ns += 60000000;
        costs[i] = (struct tp_world_cost){.cpu_ns = ns * 4 / 10, .gpu_ns = ns - ns * 4 / 10};
    }
}

static struct tp_world_config make_config(const unsigned *cell, uint64_t frames)
{
    static const uint32_t rates[] = {60000, 72000, 90000, 120000, 144000, 120000};
    static const uint32_t caps[] = {0, 30000, 40000, 45000, 60000, 72000, 90000};
    static const unsigned ahead[] = {0, 1, 3};
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.refresh_mhz = rates[cell[0]];
    c.slowest_mhz = cell[0] == 5 ? 48000 : 0;
    c.gate.cap_mhz = caps[cell[1]];
    c.compose_ns = cell[COMPOSES] > 0 ? 2000000 : 0;
    c.images = 2 + cell[2];
    c.pipeline = cell[3];
    c.late_guest = cell[4] >= 3;
    c.run_ahead = ahead[cell[4] % 3];
    c.gate.mode = (enum tp_gate_mode)cell[5];
    if (c.gate.mode == TP_GATE_CAP && c.gate.cap_mhz == 0)
        c.gate.cap_mhz = c.refresh_mhz;
    for (unsigned f = 0; f < TP_FAULTS; f++)
        if (cell[7] == f + 1 || cell[7] == TP_FAULTS + 1)
            c.per_mille[f] = 5;
    if (recorded) {
        c.costs = recordings[cell[COSTS]].at;
        c.n_costs = recordings[cell[COSTS]].n;
    } else {
        make_costs(cell[COSTS], INT64_C(1000000000000) / c.refresh_mhz);
        c.costs = costs;
        c.n_costs = TRACE;
    }
    c.frames = frames;
    return c;
}

static void print_row(const unsigned *cell, const struct tp_world_config *c)
{
    struct tp_oracle o = {0};
    double seconds = (double)result.span_ns / 1e9;
    for (unsigned f = 0; f < FACTORS; f++)
        printf("| %s ", names[f][cell[f]]);
    printf("| %llu | %.2f ", (unsigned long long)result.frames,
        seconds > 0 ? (double)(result.frames - 1) / seconds : 0);
    if (cell[7] == 0 && c->slowest_mhz == 0 && tp_oracle_run(c, &o, NULL) == 0)
        printf("| %.2f ", o.fps);
    else
        printf("| ");
    printf("| %llu | %llu | %.3f | %.1f | %llu |\n", (unsigned long long)result.tears,
        (unsigned long long)result.late, result.on_vblank, (double)result.latency.p50_ns / 1e6,
        (unsigned long long)result.slots.release_timeouts);
}

static int is_trace(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".txt") == 0;
}

/* The folder's recordings are the levels of what frames cost. */
static bool read_recordings(const char *folder)
{
    struct dirent **files;
    int n = scandir(folder, &files, is_trace, alphasort);
    bool ok = n > 0 && n <= (int)LEVELS;
    for (int i = 0; i < n; i++) {
        char *path = tp_asprintf("%s/%s", folder, files[i]->d_name);
        struct tp_buf text = {0};
        if (ok)
            ok = tp_read_file(path, 0, &text, NULL) >= 0 &&
                tp_costs_read(tp_buf_str(&text), text.len, path, &recordings[i], NULL) >= 0;
        if (ok)
            names[COSTS][i] =
                tp_asprintf("%.*s", (int)strlen(files[i]->d_name) - 4, files[i]->d_name);
        tp_buf_finish(&text);
        free(path);
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    levels[COSTS] = n > 0 ? (unsigned)n : 0;
    recorded = true;
    return ok;
}

static void forget_recordings(void)
{
    for (unsigned i = 0; recorded && i < levels[COSTS]; i++) {
        tp_costs_finish(&recordings[i]);
        free((char *)names[COSTS][i]);
    }
}

/* True: nothing broke. Pictures that are dropped do not count, so that some more have to come. */
static bool run_cell(const unsigned *cell, uint64_t frames, bool table)
{
    struct tp_world_config c = make_config(cell, frames * 3 / 2);
    bool ok = tp_world_run(&c, &result, NULL) == 0 && !*result.broken && result.tears == 0 &&
        result.slots.unsafe == 0 && result.frames >= frames;
    if (!ok) {
        for (unsigned f = 0; f < FACTORS; f++)
            fprintf(stderr, "%s ", names[f][cell[f]]);
        fprintf(stderr, "%llu frames; %s\n", (unsigned long long)result.frames, result.broken);
    }
    if (table)
        print_row(cell, &c);
    return ok;
}

/* How many cells broke something. */
static unsigned run(uint64_t total, bool table)
{
    static unsigned cells[CELLS][FACTORS];
    unsigned n = 0, bad = 0;
    uint64_t shown = 0;
    while (n < CELLS && next_cell(cells[n]))
        n++;
    uint64_t each = total / n > LEAST ? total / n + 1 : LEAST;
    for (unsigned i = 0; i < n; i++) {
        bad += !run_cell(cells[i], each, table);
        shown += result.frames;
    }
    fprintf(stderr, "%u worlds, %llu frames, %u broken\n", n, (unsigned long long)shown, bad);
    return bad;
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TURNPIKE_TRACES");
    uint64_t total = 0;
    bool table = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--table") == 0) {
            table = true;
        } else if (strcmp(argv[i], "--special") == 0) {
            print_specials();
            return 0;
        } else if (strcmp(argv[i], "--total") == 0 && i + 1 < argc) {
            total = strtoull(argv[++i], NULL, 10);
        }
    }
    if (folder && !read_recordings(folder)) {
        fprintf(stderr, "%s: there are no recordings\n", folder);
        return 1;
    }
    if (table)
        puts("| refresh | cap | images | pipeline | guest | gate | costs | goes wrong | compositor "
             "| frames "
             "| fps | oracle's | tears | late | on vblank | latency ms | timeouts |\n"
             "|---|---|---|---|---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    unsigned bad = run(total, table);
    forget_recordings();
    return bad > 0;
}
