/* The line that simulate prints where something broke: pasted, it breaks in the same way. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/simulate.h"
#include "frames/world/shrink.h"

static struct tp_world_result result, again;

/* What the program makes of such a line; the caller finishes its costs. */
static void read_line(const char *line, char *copy, struct tp_simulate *out)
{
    *out = (struct tp_simulate){0};
    tp_world_defaults(&out->config);
    out->config.frames = TP_SIMULATE_USUAL_FRAMES;
    strcpy(copy, line);
    for (char *name; (name = strsep(&copy, " "));) {
        char *value = strsep(&copy, " ");
        const struct option *o = tp_simulate_options;
        while (o->name && strcmp(o->name, name + 2) != 0)
            o++;
        assert_non_null(o->name);
        assert_non_null(value);
        if (o->val == TP_SIMULATE_COST)
            assert_int_equal(tp_costs_parse(value, &out->costs, NULL), 0);
        else
            assert_null(tp_simulate_set(o->val, value, out));
    }
    if (!out->costs.at)
        tp_costs_parse("10000", &out->costs, NULL);
    if (out->config.images == 0)
        out->config.images = tp_slots_image_count(0, out->config.pipeline, 0);
    out->config.costs = out->costs.at;
    out->config.n_costs = out->costs.n;
}

static void assert_same(const struct tp_world_config *a, const struct tp_world_config *b)
{
    struct tp_world_config x = *a, y = *b;
    x.costs = y.costs = NULL;
    x.watch = y.watch = NULL;
    x.bug = y.bug = TP_BUG_NONE;
    assert_int_equal(a->n_costs, b->n_costs);
    assert_memory_equal(a->costs, b->costs, a->n_costs * sizeof *a->costs);
    assert_memory_equal(&x, &y, sizeof x);
}

/* Options that break with this mistake: what is printed then does so, too. */
static void pastes(enum tp_world_bug bug, const char *options)
{
    struct tp_simulate o, pasted;
    char copy[1024], other[1024];
    read_line(options, copy, &o);
    o.config.bug = bug;
    assert_int_equal(tp_world_run(&o.config, &result, NULL), 0);
    if (!*result.broken)
        fail_msg("%s: nothing breaks", options);
    tp_world_shrink(&o.config, &result);
    char *line = tp_simulate_again(&o.config, NULL);
    assert_true(strlen(line) < sizeof other);
    read_line(line, other, &pasted);
    assert_same(&o.config, &pasted.config);
    pasted.config.bug = bug;
    assert_int_equal(tp_world_run(&pasted.config, &again, NULL), 0);
    assert_string_equal(again.broken, result.broken);
    assert_true(again.digest == result.digest);
    free(line);
    tp_costs_finish(&o.costs);
    tp_costs_finish(&pasted.costs);
}

static void what_broke_breaks_again_where_it_is_pasted(void **state)
{
    (void)state;
    pastes(TP_BUG_FREE_ON_RELEASE, "--seed 3 --images 2");
    pastes(TP_BUG_NO_QUARANTINE,
        "--faults all:20 --pipeline 2 --images 3 --guest early:2 --cost 8000");
    pastes(TP_BUG_FENCE_DROPPED, "--faults late-fence:1000:3,dup-note:2 --cost 3000+4000,9000");
    pastes(
        TP_BUG_CAP_IN_MILLISECONDS, "--refresh 72 --cap 43.5 --gate cap --latch 900 --cost 5000");
    pastes(TP_BUG_WHOLE_NANOSECONDS, "--refresh 48-120 --cap 57.123 --cost 4000");
    pastes(
        TP_BUG_FRONT_BUFFER, "--compose 2000:4 --guest late:1 --callback 700 --compositor-us 20");
    pastes(TP_BUG_FIRST_FREE_SLOT, "--images 6 --gate off --frames 500 --seed 77");
}

static void what_is_not_the_default_is_said(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--seed 1 --cost 10000",
        "--seed 5 --trace a/b.txt --frames 20",
        "--seed 5 --trace 'it'\\''s here' --release-fence off",
        "--seed 9223372036854775807 --cost 1,1+4,4 --guest late:0 --gate latency --cap 59.940 "
        "--images 64 --frames 1 --refresh 47.952-144 --pipeline 0 --latch 0 --callback 0 "
        "--compositor-us 12 --compose 1:2 --release-fence off "
        "--faults lost-note:1,late-fence:7:16,dvfs:1000",
    };
    struct tp_world_cost costs[] = {{400, 600}, {1000, 4000}, {1600, 2400}},
                         usual = {4000000, 6000000};
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.frames = TP_SIMULATE_USUAL_FRAMES;
    c.costs = &usual;
    c.n_costs = 1;
    c.images = 4;
    char *line = tp_simulate_again(&c, NULL);
    assert_string_equal(line, lines[0]);
    free(line);
    c.seed = 5;
    c.frames = 20;
    line = tp_simulate_again(&c, "a/b.txt");
    assert_string_equal(line, lines[1]);
    free(line);
    c.frames = TP_SIMULATE_USUAL_FRAMES;
    c.release = false;
    line = tp_simulate_again(&c, "it's here");
    assert_string_equal(line, lines[2]);
    free(line);
    c = (struct tp_world_config){.costs = costs,
        .n_costs = 3,
        .late_guest = true,
        .seed = INT64_MAX,
        .gate = {TP_GATE_LATENCY, 59940},
        .images = 64,
        .frames = 1,
        .refresh_mhz = 144000,
        .slowest_mhz = 47952,
        .compositor_ns = 12000,
        .compose_ns = 1000,
        .own_images = 2,
        .per_mille = {[TP_FAULT_LOST_NOTE] = 1, [TP_FAULT_LATE_FENCE] = 7, [TP_FAULT_DVFS] = 1000},
        .late_refreshes = 16};
    line = tp_simulate_again(&c, NULL);
    assert_string_equal(line, lines[3]);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_broke_breaks_again_where_it_is_pasted),
        cmocka_unit_test(what_is_not_the_default_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
