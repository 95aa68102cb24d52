/* The world as a whole: what must hold in it, and that it can fail. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/world/costs.h"
#include "frames/world/oracle.h"
#include "frames/world/shrink.h"
#include "frames/world/world.h"

#define MS INT64_C(1000000)

static struct tp_world_result result;

/* 40 % of the cost are the CPU's. */
static struct tp_world_cost cost_of(int64_t us)
{
    return (struct tp_world_cost){.cpu_ns = us * 400, .gpu_ns = us * 600};
}

static struct tp_world_config config(const struct tp_world_cost *cost, uint64_t frames)
{
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = cost;
    c.n_costs = 1;
    c.frames = frames;
    c.images = 4;
    return c;
}

static double fps(void)
{
    return tp_world_fps(&result);
}

/* Runs it; nothing may break. */
static void go(const struct tp_world_config *c)
{
    assert_int_equal(tp_world_run(c, &result, NULL), 0);
    if (*result.broken) {
        for (unsigned i = 0; i < result.n_story; i++)
            fprintf(stderr, "%s\n", result.story[i]);
        fail_msg("seed %llu: %s", (unsigned long long)c->seed, result.broken);
    }
    if (*result.blocked)
        fail_msg("seed %llu: %s", (unsigned long long)c->seed, result.blocked);
}

static void assert_between(double is, double low, double high)
{
    if (!(is >= low && is <= high))
        fail_msg("%f is not between %f and %f", is, low, high);
}

/* ⌈H/T⌉ for a frame that costs up to a refresh. */
static unsigned enough_images(unsigned pipeline, unsigned late)
{
    return 3 + pipeline + late;
}

/* --- what must hold --- */

static void every_refresh_shows_a_frame(void **data)
{
    (void)data;
    static const uint32_t rates[] = {60000, 72000, 90000, 120000, 144000, 59940};
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        for (unsigned pipeline = 0; pipeline <= 2; pipeline++)
            for (int late = 0; late < 2; late++) {
                int64_t period_us = 1000000000 / rates[i];
                struct tp_world_cost cost = cost_of(period_us * 88 / 100);
                struct tp_world_config c = config(&cost, 2000);
                c.refresh_mhz = rates[i];
                c.pipeline = pipeline;
                c.images = enough_images(pipeline, 0);
                c.late_guest = late;
                go(&c);
                assert_int_equal(result.cadence[1], result.frames - 10);
                assert_int_equal(result.gate_late, 0);
                assert_int_equal(result.slots.release_timeouts, 0);
                assert_int_equal(result.repeats, 0);
                assert_true(result.on_vblank == 1);
                assert_int_equal(result.tears, 0);
            }
}

static void half_the_refresh_stays_two_and_45_on_60_one_or_two(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 20000);
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 30000};
    go(&c);
    assert_int_equal(result.cadence[2], result.frames - 10);
    c.gate.cap_mhz = 45000;
    go(&c);
    assert_int_equal(result.cadence[1] + result.cadence[2], result.frames - 10);
    assert_between(fps(), 45 * 0.9999, 45 * 1.0001);
    assert_true(result.on_vblank == 1);
}

static void assert_equal_figures(const struct tp_world_result *with)
{
    assert_int_equal(with->frames, result.frames);
    assert_int_equal(with->span_ns, result.span_ns);
    assert_int_equal(with->gate_late, result.gate_late);
    assert_int_equal(with->repeats, result.repeats);
    assert_true(with->on_vblank == result.on_vblank);
    assert_memory_equal(with->cadence, result.cadence, sizeof result.cadence);
    assert_memory_equal(&with->interval, &result.interval, sizeof result.interval);
    assert_memory_equal(&with->latency, &result.latency, sizeof result.latency);
    assert_memory_equal(&with->gate_to_start, &result.gate_to_start, sizeof result.gate_to_start);
}

/* Cap 30 on 60, and any half of a refresh, is the control: the gate's figures are the same with and
 * without fences. So they are at the whole refresh, where there are enough images. */
static void fences_cost_nothing_where_there_are_enough_images(void **data)
{
    (void)data;
    static const uint32_t rates[] = {60000, 72000, 90000, 120000, 144000};
    static struct tp_world_result with;
    for (unsigned i = 0; i < 5 * 3 * 2 * 2; i++) {
        uint32_t rate = rates[i % 5];
        struct tp_world_cost cost = cost_of(1000000000 / rate * 48 / 100);
        struct tp_world_config c = config(&cost, 2000);
        c.refresh_mhz = rate;
        c.pipeline = i / 5 % 3;
        c.images = enough_images(c.pipeline, 0);
        c.late_guest = i / 15 % 2;
        c.gate = (struct tp_gate_settings){TP_GATE_VSYNC, i / 30 ? rate / 2 : 0};
        go(&c);
        with = result;
        c.release = false;
        go(&c);
        assert_equal_figures(&with);
        if (c.gate.cap_mhz > 0) /* else some of it is for the release */
            assert_true(with.gate_wait_ns == result.gate_wait_ns);
    }
}

/* Away from its instant until its successor's first line, which comes a cap's interval later: with
 * fewer images than that takes the rate is the same, and a frame starts at its release, which is
 * the lead and the completion's delay behind the latch. */
static void with_two_images_the_control_starts_at_its_release(void **data)
{
    (void)data;
    static struct tp_world_result with;
    struct tp_world_cost cost = cost_of(8000);
    for (unsigned i = 0; i < 4 * 2; i++) {
        struct tp_world_config c = config(&cost, 2000);
        c.gate = (struct tp_gate_settings){TP_GATE_CAP, 30000};
        c.images = 2 + i % 4;
        c.pipeline = i / 4;
        go(&c);
        with = result;
        c.release = false;
        go(&c);
        int64_t later = c.images == 2 && c.pipeline == 1 ? c.lead_ns + c.callback_ns : 0;
        assert_int_equal(with.frames, result.frames);
        assert_int_equal(with.gate_late, result.gate_late);
        assert_int_equal(with.repeats, result.repeats);
        assert_true(with.on_vblank == result.on_vblank);
        assert_memory_equal(with.cadence, result.cadence, sizeof result.cadence);
        assert_between((double)(result.latency.p50_ns - with.latency.p50_ns),
            (double)later - 100000, (double)later + 100000);
        if (later == 0)
            assert_equal_figures(&with);
    }
}

static void late_fences_cost_nothing_either(void **data)
{
    (void)data;
    static const uint32_t rates[] = {60000, 90000, 144000};
    for (unsigned i = 0; i < 3 * 3 * 2 * 2; i++) {
        unsigned late = 1 + i / 9 % 2;
        uint32_t rate = rates[i % 3];
        struct tp_world_cost cost = cost_of(1000000000 / rate * 88 / 100);
        struct tp_world_config c = config(&cost, 2000);
        c.refresh_mhz = rate;
        c.pipeline = i / 3 % 3;
        c.late_guest = i / 18;
        c.per_mille[TP_FAULT_LATE_FENCE] = 1000;
        c.late_refreshes = late;
        c.images = enough_images(c.pipeline, late);
        assert_int_equal(tp_world_images(&c), c.images);
        go(&c);
        assert_true(result.injected[TP_FAULT_LATE_FENCE] > 1900);
        assert_int_equal(result.cadence[1], result.frames - 10);
        assert_int_equal(result.gate_late, 0);
        assert_int_equal(result.repeats, 0);
        assert_true(result.on_vblank == 1);
    }
}

/* The world judges a run with too few images by the oracle's rate. */
static void with_fewer_images_late_fences_leave_the_oracles_rate(void **data)
{
    (void)data;
    for (unsigned i = 0; i < 3 * 2 * 3 * 3 * 2; i++) {
        static const int64_t costs[] = {4000, 8000, 14500};
        struct tp_world_cost cost = cost_of(costs[i % 3]);
        struct tp_world_config c = config(&cost, 2000);
        struct tp_oracle o;
        c.images = 2 + i / 3 % 2;
        c.pipeline = i / 6 % 3;
        c.late_refreshes = i / 18 % 3;
        c.per_mille[TP_FAULT_LATE_FENCE] = c.late_refreshes > 0 ? 1000 : 0;
        c.late_guest = i / 54;
        assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
        go(&c);
        assert_between(fps(), o.fps * 0.99, o.fps * 1.01);
        assert_int_equal(result.tears, 0);
    }
}

/* Two images, and a picture that is a refresh on its way: each is away for two refreshes from its
 * latch on, so that one frame in two refreshes is all that can be; with three, two in three. */
static void fewer_images_have_the_rate_that_they_can_have(void **data)
{
    (void)data;
    static const struct {
        unsigned images;
        int64_t cost_us;
        double fps;
    } cases[] = {{2, 8000, 30}, {2, 15000, 20}, {3, 8000, 60}, {3, 15000, 40}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tp_world_cost cost = cost_of(cases[i].cost_us);
        struct tp_world_config c = config(&cost, 5000);
        c.images = cases[i].images;
        go(&c);
        assert_between(fps(), cases[i].fps * 0.99, cases[i].fps * 1.01);
        assert_int_equal(result.tears, 0);
    }
}

/* Of early and of late guests, from their begin to the first line: their cost, 1.2 ms, the lead,
 * the pipeline and the compositor. */
static void latency_is_lower_at_the_same_rate(void **data)
{
    (void)data;
    static const uint32_t rates[] = {60000, 90000, 120000};
    for (unsigned i = 0; i < 3 * 3 * 3 * 2 * 2; i++) {
        uint32_t rate = rates[i % 3];
        int64_t period = INT64_C(1000000000000) / rate;
        struct tp_world_cost cost = cost_of(period / 1000 * (25 + 25 * (i / 3 % 3)) / 100);
        struct tp_world_config c = config(&cost, 5000);
        c.refresh_mhz = rate;
        c.pipeline = i / 9 % 3;
        c.images = enough_images(c.pipeline, 0);
        c.late_guest = i / 27 % 2;
        c.run_ahead = i / 27 % 2;
        c.compositor_ns = i / 54 * MS;
        go(&c);
        double vsync = fps();
        c.gate.mode = TP_GATE_LATENCY;
        go(&c);
        assert_true(fps() >= 0.995 * vsync);
        int64_t most =
            cost.cpu_ns + cost.gpu_ns + 1200000 + c.lead_ns + c.pipeline * period + c.compositor_ns;
        if (result.latency.p50_ns > most)
            fail_msg("%u: %.2f ms, not %.2f", i, (double)result.latency.p50_ns / 1e6,
                (double)most / 1e6);
    }
}

/* A GPU that clocks down when it idles is not driven down by starting late. */
static void latency_has_no_spiral(void **data)
{
    (void)data;
    static const int64_t costs[] = {5000, 8000, 10000, 14000};
    for (unsigned i = 0; i < 8; i++) {
        struct tp_world_cost cost = cost_of(costs[i % 4]);
        struct tp_world_config c = config(&cost, 10000);
        c.late_guest = i / 4;
        c.per_mille[TP_FAULT_DVFS] = 1000;
        go(&c);
        double vsync = fps();
        c.gate.mode = TP_GATE_LATENCY;
        go(&c);
        assert_true(fps() >= 0.995 * vsync);
    }
}

static void a_variable_rate_takes_each_frame_as_it_comes(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(15000);
    struct tp_world_config c = config(&cost, 5000);
    c.refresh_mhz = 120000;
    c.slowest_mhz = 48000;
    go(&c);
    assert_between(fps(), 66, 67); /* 15 ms, and no refresh to wait for */
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 57000};
    go(&c);
    assert_between(fps(), 57 * 0.9999, 57 * 1.0001);
    assert_true(result.interval.stddev_ns < 100000);
}

/* At its fastest the panel is 70 times as fast as at its slowest; frames come below even that. */
static void a_variable_screen_that_was_off_goes_on(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(300000);
    struct tp_world_config c = config(&cost, 300);
    c.refresh_mhz = 354671;
    c.slowest_mhz = 4000;
    c.per_mille[TP_FAULT_PANEL_OFF] = 63;
    go(&c);
    assert_true(result.injected[TP_FAULT_PANEL_OFF] > 10);
}

/* --- faults --- */

static void nothing_tears_whatever_goes_wrong(void **data)
{
    (void)data;
    static const struct tp_world_cost costs[] = {
        {3 * MS, 5 * MS}, {6 * MS, 9 * MS}, {2 * MS, 3 * MS}, {4 * MS, 20 * MS}};
    for (unsigned f = 0; f <= TP_FAULTS; f++)
        for (unsigned i = 0; i < 12; i++) {
            struct tp_world_config c = config(costs, 1500);
            c.n_costs = 4;
            c.seed = 100 * f + i;
            c.images = 2 + i % 4;
            c.pipeline = i % 3;
            c.late_guest = i / 2 % 2;
            c.run_ahead = i / 3 % 4;
            c.gate.mode = (enum tp_gate_mode)(i % 4);
            c.gate.cap_mhz = i % 4 == TP_GATE_CAP ? 45000 : 0;
            c.wait = i % 5 == 0 ? TP_RELEASE_WAIT_GPU : TP_RELEASE_WAIT_CPU;
            c.early_fences = i % 2;
            for (unsigned k = 0; k < TP_FAULTS; k++)
                if (k == f || f == TP_FAULTS)
                    c.per_mille[k] = 10;
            go(&c);
            assert_int_equal(result.tears, 0);
            assert_int_equal(result.slots.unsafe, 0);
        }
}

/* Fences that signal up to three refreshes after the panel has let go, from servers that die all
 * the time: what a lost fence said is void, what the panel reads is not. */
static void nothing_tears_where_fences_are_late_and_servers_die(void **data)
{
    (void)data;
    static const struct tp_world_cost costs[] = {{3 * MS, 5 * MS}, {1 * MS, 2 * MS}};
    static const int64_t leads[] = {1650000, 8 * MS, 15 * MS};
    for (unsigned i = 0; i < 3 * 3 * 3 * 4; i++) {
        struct tp_world_config c = config(costs, 1500);
        c.n_costs = 2;
        c.seed = i;
        c.late_refreshes = 1 + i % 3;
        c.pipeline = i / 3 % 3;
        c.lead_ns = leads[i / 9 % 3];
        c.images = 2 + i / 27 % 4;
        c.late_guest = i % 2;
        c.run_ahead = i / 2 % 4;
        c.early_fences = i / 4 % 2;
        c.wait = i / 8 % 2 ? TP_RELEASE_WAIT_GPU : TP_RELEASE_WAIT_CPU;
        c.per_mille[TP_FAULT_LATE_FENCE] = i % 5 == 0 ? 300 : 1000;
        c.per_mille[TP_FAULT_SERVER_CRASH] = 20;
        go(&c);
        assert_true(result.injected[TP_FAULT_SERVER_CRASH] > 0);
        assert_int_equal(result.tears, 0);
        assert_int_equal(result.slots.unsafe, 0);
    }
}

/* A server that is back at once, within the refresh in which it died, or later; at rates at which a
 * refresh is longer than a start, and at those that go over. */
static void nothing_tears_however_soon_a_server_is_back(void **data)
{
    (void)data;
    static const struct {
        uint32_t refresh_mhz, slowest_mhz;
    } modes[] = {{24000}, {30000}, {60000}, {120000, 48000}, {5000}};
    static const int64_t away[] = {1, 1 * MS, 30 * MS, 100 * MS, 0};
    static const struct tp_world_cost costs[] = {{0, 0}, {3 * MS, 5 * MS}};
    for (unsigned i = 0; i < 5 * 5 * 12; i++) {
        struct tp_world_config c = config(&costs[i % 2], 300);
        c.seed = i;
        c.refresh_mhz = modes[i % 5].refresh_mhz;
        c.slowest_mhz = modes[i % 5].slowest_mhz;
        c.restart_ns = away[i / 5 % 5];
        c.pipeline = i / 25 % 3;
        c.lead_ns = i / 75 % 2 ? 8 * MS : 1650000;
        c.lead_ns = c.refresh_mhz < 60000 && i / 75 % 2 ? 30 * MS : c.lead_ns;
        c.images = i / 150 % 2 ? 20 : 3; /* many that wait for the panel; few */
        c.gate.mode = i / 150 % 2 ? TP_GATE_OFF : TP_GATE_VSYNC;
        c.late_guest = i % 3 == 0;
        c.per_mille[TP_FAULT_SERVER_CRASH] = 150;
        go(&c);
        assert_true(result.injected[TP_FAULT_SERVER_CRASH] > 0);
        assert_int_equal(result.tears, 0);
        assert_int_equal(result.slots.unsafe, 0);
    }
}

/* Its fences come one or two refreshes later than it says, for so long it reads; of what a killed
 * server gave it nothing is known but that. */
static void nothing_tears_on_a_panel_that_reads_longer_than_it_says(void **data)
{
    (void)data;
    static const uint32_t rates[] = {24000, 60000, 90000, 144000};
    static const struct tp_world_cost costs[] = {{0, 0}, {3 * MS, 5 * MS}};
    for (unsigned i = 0; i < 4 * 3 * 16; i++) {
        struct tp_world_config c = config(&costs[i % 2], 600);
        c.seed = i;
        c.refresh_mhz = rates[i / 2 % 4];
        c.untold = i % 3 == 2 ? 2 : 1;
        c.pipeline = i % 3 == 1;
        c.images = 2 + i / 12 % 5;
        c.early_fences = i / 24 % 2;
        c.late_guest = i / 48 % 2;
        c.gate.mode = i / 96 % 2 ? TP_GATE_OFF : TP_GATE_VSYNC;
        c.restart_ns = i / 8 % 2 ? 20 * MS : 0;
        c.per_mille[TP_FAULT_SERVER_CRASH] = 60;
        go(&c);
        assert_true(result.injected[TP_FAULT_SERVER_CRASH] > 0);
        assert_int_equal(result.tears, 0);
    }
}

/* With fences that come before the release the GPU can wait for them, and the CPU works meanwhile:
 * three images are enough where the CPU would need four. */
static void a_gpu_that_waits_needs_fewer_images(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(14900);
    struct tp_world_config c = config(&cost, 5000);
    c.images = 3;
    go(&c);
    assert_between(fps(), 39, 41);
    c.early_fences = true;
    c.wait = TP_RELEASE_WAIT_GPU;
    go(&c);
    assert_between(fps(), 59.9, 60.1);
}

static void without_a_board_notes_are_enough(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(12000);
    struct tp_world_config c = config(&cost, 5000);
    c.no_board = true;
    go(&c);
    assert_int_equal(result.cadence[1], result.frames - 10);
    assert_int_equal(result.slots.unsafe, 0);
    /* A final note that is lost costs one bounded wait. */
    c.per_mille[TP_FAULT_TRUNCATED_FDS] = 5;
    c.images = 2;
    go(&c);
    assert_int_equal(result.tears, 0);
    assert_true(result.injected[TP_FAULT_TRUNCATED_FDS] > 0);
    assert_true(result.acquire_wait.max_ns < 2 * 3 * 16666667 + 20 * MS);
}

static void a_lost_note_costs_nothing_with_a_board(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(12000);
    struct tp_world_config c = config(&cost, 5000);
    go(&c);
    int64_t span = result.span_ns;
    c.per_mille[TP_FAULT_LOST_NOTE] = 500;
    go(&c);
    assert_true(result.injected[TP_FAULT_LOST_NOTE] > 4000);
    assert_int_equal(result.span_ns, span);
    assert_int_equal(result.slots.release_timeouts, 0);
}

/* Server, compositor or panel, killed after each event of a run's first second, and back. */
static void whoever_is_killed_at_any_event_nothing_tears_or_hangs(void **data)
{
    (void)data;
    static const enum tp_world_fault killed[] = {
        TP_FAULT_SERVER_CRASH, TP_FAULT_COMPOSITOR_CRASH, TP_FAULT_PANEL_OFF};
    struct tp_world_cost cost = cost_of(9000);
    struct tp_world_config c = config(&cost, 40);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned k = 0; k < 3; k++)
            for (uint64_t at = 1; at < 400; at++) {
                c.images = i & 1 ? 4 : 2;
                c.pipeline = i & 1 ? 1 : 2;
                c.late_guest = i & 2;
                c.run_ahead = i & 4 ? 2 : 0;
                c.early_fences = i & 4;
                c.wait = i & 4 ? TP_RELEASE_WAIT_GPU : TP_RELEASE_WAIT_CPU;
                c.strike = killed[k];
                c.strike_event = at;
                c.seed = at;
                go(&c);
                assert_int_equal(result.tears, 0);
                assert_int_equal(result.injected[killed[k]], 1);
            }
}

/* A sleep of a second is planned in refreshes of the rate that was: it is planned anew. */
static void a_switch_of_the_rate_moves_a_slow_caps_frame_by_refreshes_at_most(void **data)
{
    (void)data;
    static const uint32_t caps[] = {1000, 2000, 4000};
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 400);
    c.per_mille[TP_FAULT_REFRESH_SWITCH] = 20;
    for (unsigned i = 0; i < 3 * 2 * 2; i++) {
        int64_t interval = INT64_C(1000000000000) / caps[i % 3];
        c.gate = (struct tp_gate_settings){TP_GATE_CAP, caps[i % 3]};
        c.late_guest = i / 3 % 2;
        c.compose_ns = i / 6 * 2 * MS;
        go(&c);
        assert_true(result.injected[TP_FAULT_REFRESH_SWITCH] > 100);
        assert_true(result.interval.max_ns < interval + (c.compose_ns > 0 ? 3 : 2) * 16666667);
        assert_between(fps(), caps[i % 3] * 0.99e-3, caps[i % 3] * 1.01e-3);
    }
}

/* A stall of the GPU's while the CPU is ahead, twice: what follows it keeps its distance. */
static void a_hitch_leaves_no_short_frame_behind_it(void **data)
{
    (void)data;
    static const int64_t stalls_ms[] = {40, 60, 80};
    static struct tp_world_cost costs[300];
    for (unsigned i = 0; i < 3 * 3 * 2; i++) {
        struct tp_world_config c = config(costs, 900);
        c.n_costs = 300;
        for (unsigned k = 0; k < 300; k++)
            costs[k] = (struct tp_world_cost){.cpu_ns = 3 * MS, .gpu_ns = 5 * MS};
        costs[150].gpu_ns = stalls_ms[i % 3] * MS;
        c.gate = (struct tp_gate_settings){TP_GATE_CAP, 30000};
        c.run_ahead = i / 3 % 3;
        c.late_guest = i / 9;
        go(&c);
        assert_int_equal(result.cadence[1], 0);
        assert_in_range(result.cadence[2], result.frames - 10 - 3, result.frames - 10);
    }
}

static void equal_seeds_are_equal_runs(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(12000);
    struct tp_world_config c = config(&cost, 3000);
    for (unsigned k = 0; k < TP_FAULTS; k++)
        c.per_mille[k] = 5;
    go(&c);
    uint64_t first = result.digest;
    go(&c);
    assert_int_equal(result.digest, first);
    c.seed++;
    go(&c);
    assert_int_not_equal(result.digest, first);
}

/* --- the world can fail --- */

/* Two images, 8 ms, 60 Hz, a pipeline of 1, no fences. */
static void without_fences_it_tears_at_60_and_not_at_30(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 2000);
    c.images = 2;
    c.release = false;
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 60000};
    go(&c);
    assert_true(result.tears > 1900);
    c.gate = (struct tp_gate_settings){TP_GATE_OFF, 0};
    go(&c);
    assert_true(result.tears > 1900);
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 45000};
    go(&c);
    assert_true(result.tears > 500);
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 30000};
    go(&c);
    assert_int_equal(result.tears, 0);
    c.release = true;
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 60000};
    go(&c);
    assert_int_equal(result.tears, 0);
}

/* The question that the gate was derived anew for: the time from the gate's instant to the guest's
 * first command. */
static void waiting_after_booking_eats_the_period(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(15000);
    struct tp_world_config c = config(&cost, 2000);
    c.images = 3;
    go(&c);
    assert_true(result.gate_to_start.p99_ns < 50000);
    c.bug = TP_BUG_WAIT_AFTER_BOOKING;
    c.per_mille[TP_FAULT_DUP_NOTE] = 1; /* else it would be caught */
    go(&c);
    assert_true(result.gate_to_start.p99_ns > 15 * MS);
}

/* Each mistake, where it shows: what differs from a healthy world of 60 Hz with enough images. The
 * table is docs/pacing.md's. */
static void each_planted_bug_is_caught(void **data)
{
    (void)data;
    static const struct {
        enum tp_world_bug bug;
        unsigned images;
        bool no_board, early_fences, mailbox;
        enum tp_world_fault fault;
        uint32_t per_mille;
        unsigned late_refreshes;
        int64_t cost_us, other_us, lead_ns, compose_us;
        uint32_t cap_mhz, refresh_mhz, slowest_mhz;
        unsigned pipeline;
        bool off;
    } bugs[] = {
        {TP_BUG_NOTE_AFTER_FLIP, 2, .no_board = true},
        {TP_BUG_FREE_ON_RELEASE, 2},
        {TP_BUG_WAIT_AFTER_BOOKING, 3, .cost_us = 15000},
        {TP_BUG_FIRST_FREE_SLOT, 3},
        {TP_BUG_FENCE_DROPPED, 3, .no_board = true, .early_fences = true},
        {TP_BUG_HANDED_OUT_AT_BOUND, 2, .fault = TP_FAULT_LATE_FENCE, .per_mille = 100,
            .late_refreshes = 6},
        {TP_BUG_RELEASED_AT_PUBLISH, 2},
        {TP_BUG_NO_QUARANTINE, 3, .fault = TP_FAULT_SERVER_CRASH, .per_mille = 20, .pipeline = 2},
        {TP_BUG_FENCE_LEAKED, 4},
        {TP_BUG_FENCE_CLOSED_TWICE, 4},
        {TP_BUG_WAKEUP_LOST, 2},
        {TP_BUG_TWO_IN_A_REFRESH, 4, .cost_us = 4000, .off = true},
        {TP_BUG_GRID_AT_VBLANK, 4, .cost_us = 12000, .lead_ns = 8 * MS},
        {TP_BUG_BOARD_FREE_TOO_EARLY, 3, .early_fences = true},
        {TP_BUG_CAP_IN_MILLISECONDS, 4, .cap_mhz = 45000},
        {TP_BUG_WHOLE_NANOSECONDS, 4, .cap_mhz = 45000, .refresh_mhz = 120000,
            .slowest_mhz = 48000},
        {TP_BUG_GENERATION_IGNORED, 3, .fault = TP_FAULT_SERVER_CRASH, .per_mille = 20,
            .pipeline = 2, .cost_us = 4000},
        {TP_BUG_DROPPED_SUCCESSOR_RELEASES, 4, .cost_us = 5000, .other_us = 26000,
            .lead_ns = 8 * MS, .mailbox = true, .off = true},
        {TP_BUG_RELEASED_BEFORE_READ, 2, .compose_us = 2000, .cost_us = 3000, .off = true},
        {TP_BUG_FRONT_BUFFER, 3, .compose_us = 2000},
    };
    assert_int_equal(sizeof bugs / sizeof *bugs, TP_BUGS - 1);
    for (unsigned i = 0; i < sizeof bugs / sizeof *bugs; i++)
        for (int planted = 0; planted < 2; planted++) {
            int64_t us = bugs[i].cost_us > 0 ? bugs[i].cost_us : 8000;
            int64_t other_us = bugs[i].other_us > 0 ? bugs[i].other_us : us;
            const struct tp_world_cost costs[] = {cost_of(us), cost_of(other_us)};
            struct tp_world_config c = config(costs, 10000);
            c.n_costs = 2;
            c.bug = planted ? bugs[i].bug : TP_BUG_NONE;
            c.images = bugs[i].images;
            c.pipeline = bugs[i].pipeline > 0 ? bugs[i].pipeline : 1;
            c.no_board = bugs[i].no_board;
            c.early_fences = bugs[i].early_fences;
            c.mailbox = bugs[i].mailbox;
            c.compose_ns = bugs[i].compose_us * 1000;
            c.per_mille[bugs[i].fault] = bugs[i].per_mille;
            if (bugs[i].late_refreshes > 0)
                c.late_refreshes = bugs[i].late_refreshes;
            if (bugs[i].lead_ns > 0)
                c.lead_ns = bugs[i].lead_ns;
            if (bugs[i].cap_mhz > 0)
                c.gate = (struct tp_gate_settings){TP_GATE_CAP, bugs[i].cap_mhz};
            if (bugs[i].refresh_mhz > 0)
                c.refresh_mhz = bugs[i].refresh_mhz;
            c.slowest_mhz = bugs[i].slowest_mhz;
            if (bugs[i].off)
                c.gate.mode = TP_GATE_OFF;
            assert_int_equal(tp_world_run(&c, &result, NULL), 0);
            if (planted && !*result.broken)
                fail_msg("%s: is not caught", tp_world_bug_names[bugs[i].bug]);
            if (!planted && *result.broken)
                fail_msg("where it is planted it is no healthy world: %s: %s",
                    tp_world_bug_names[bugs[i].bug], result.broken);
            if (planted)
                printf("| %s | %s | %llu |\n", tp_world_bug_names[bugs[i].bug], result.broken,
                    (unsigned long long)(result.frames + result.drops));
        }
}

/* A mistake that only a crash shows, among all faults: the others are no part of the story. */
static void what_broke_shrinks_to_what_it_takes(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 5000);
    c.bug = TP_BUG_NO_QUARANTINE;
    c.pipeline = 2;
    c.images = 3;
    c.run_ahead = 2;
    for (unsigned k = 0; k < TP_FAULTS; k++)
        c.per_mille[k] = 20;
    assert_int_equal(tp_world_run(&c, &result, NULL), 0);
    assert_true(*result.broken);
    uint64_t before = result.frames + result.drops;
    tp_world_shrink(&c, &result);
    assert_true(*result.broken);
    assert_true(result.frames + result.drops <= before);
    assert_true(result.n_story > 0);
    assert_int_equal(c.run_ahead, 0);
    for (unsigned k = 0; k < TP_FAULTS; k++)
        assert_int_equal(c.per_mille[k] > 0, k == TP_FAULT_SERVER_CRASH);
    struct tp_world_result again;
    assert_int_equal(tp_world_run(&c, &again, NULL), 0);
    assert_string_equal(again.broken, result.broken);
}

/* Its socket is written to again once there is room for more than a note or two: what stands of a
 * buffer is never told in part, again and again. */
static void a_slow_readers_notes_are_as_many_as_there_are_pictures(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(10000);
    struct tp_world_config c = config(&cost, 1000);
    c.callback_ns = 100 * MS;
    c.release = false;
    c.per_mille[TP_FAULT_SLOW_READER] = 100;
    assert_int_equal(tp_world_run(&c, &result, NULL), 0);
    assert_true(result.injected[TP_FAULT_SLOW_READER] > 10);
    assert_true(result.slots.pending < 4000);
    assert_true(result.events < 100000);
}

/* Those come before the gate knows of any refresh, two or three of them in short intervals. */
static void a_cap_is_exact_from_the_frames_that_count(void **data)
{
    (void)data;
    static const struct {
        uint32_t refresh_mhz, cap_mhz;
        int64_t us[2];
    } runs[] = {{90000, 40000, {0, 0}}, {90000, 40000, {1, 1}}, {72000, 30000, {0, 12000}}};
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct tp_world_cost costs[] = {cost_of(runs[i].us[0]), cost_of(runs[i].us[1])};
        struct tp_world_config c = config(costs, 2000);
        c.n_costs = 2;
        c.refresh_mhz = runs[i].refresh_mhz;
        c.gate.cap_mhz = runs[i].cap_mhz;
        go(&c);
    }
}

/* Who dies in each refresh shows nothing: the run ends, and says so. */
static void what_goes_wrong_on_and_on_ends(void **data)
{
    (void)data;
    static const struct {
        uint32_t server, compositor;
        uint64_t frames;
    } runs[] = {{1000, 1000, 5}, {0, 1000, 700}, {0, 1000, INT64_MAX}};
    struct tp_world_cost cost = cost_of(50000);
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct tp_world_config c = config(&cost, runs[i].frames);
        c.per_mille[TP_FAULT_SERVER_CRASH] = runs[i].server;
        c.per_mille[TP_FAULT_COMPOSITOR_CRASH] = runs[i].compositor;
        assert_int_equal(tp_world_run(&c, &result, NULL), 0);
        assert_string_equal(result.broken, "");
        assert_true(strstr(result.blocked, "0 frames in 2") != NULL);
        assert_true(result.events < 1000000);
    }
}

/* A game that hangs does so where much goes wrong, too, and that is not said of the faults. */
static void a_hang_among_faults_is_no_fault(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 10000);
    c.bug = TP_BUG_WAKEUP_LOST;
    c.images = 2;
    for (unsigned k = 0; k < TP_FAULTS; k++)
        c.per_mille[k] = 5;
    assert_int_equal(tp_world_run(&c, &result, NULL), 0);
    assert_true(*result.broken && !*result.blocked);
}

static void what_cannot_be_is_refused(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 10), d;
    struct tp_error e;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        e = (struct tp_error){0};                                                                  \
        d = c;                                                                                     \
        d.change;                                                                                  \
        assert_int_equal(tp_world_run(&d, &result, &e), -EINVAL);                                  \
        assert_int_equal(e.status, TP_STATUS_INPUT);                                               \
    } while (0)
    REFUSED(n_costs = 0);
    REFUSED(frames = 0);
    REFUSED(images = 1);
    REFUSED(images = 65);
    REFUSED(pipeline = 3);
    REFUSED(run_ahead = 4);
    REFUSED(refresh_mhz = 0);
    REFUSED(slowest_mhz = 61000);
    REFUSED(lead_ns = 17 * MS);
    REFUSED(lead_ns = -1);
    REFUSED(compositor_ns = 2000 * MS);
    REFUSED(compose_ns = 2000 * MS);
    REFUSED(compose_ns = -1);
    REFUSED(own_images = 6);
    REFUSED(own_images = 1);
    REFUSED(callback_ns = -1);
    REFUSED(gate.mode = TP_GATE_CAP);
    cost.cpu_ns = -1;
    REFUSED(seed = 1);
}

/* --- the oracle --- */

/* 18 ms of work do not fit into 16.7, but every second one has 6 ms only: who knows that starts the
 * long ones early. */
static void the_oracle_starts_early_where_it_helps(void **data)
{
    (void)data;
    static const struct tp_world_cost costs[] = {{6 * MS, 12 * MS}, {2 * MS, 4 * MS}};
    struct tp_world_config c = config(costs, 1000);
    struct tp_oracle o;
    c.n_costs = 2;
    assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
    assert_int_equal(o.late, 0);
    assert_between(o.fps, 59.99, 60.01);
    c.images = 2; /* two on the panel's way: a frame in two refreshes */
    c.n_costs = 1;
    c.costs = &costs[1];
    assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
    assert_between(o.fps, 29.9, 30.1);
}

/* 15 ms fit, until three of 30 come in a row: one refresh too few. With images that are filled
 * before, or by one frame that is late by more than it must, they are on time. */
static void the_oracle_puts_off_one_frame_to_spare_others(void **data)
{
    (void)data;
    struct tp_world_cost costs[100];
    for (unsigned i = 0; i < 100; i++)
        costs[i] = i % 50 >= 30 && i % 50 < 33 ? cost_of(30000) : cost_of(15000);
    struct tp_world_config c = config(costs, 1000);
    struct tp_oracle o;
    c.n_costs = 100;
    c.images = 6;
    assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
    assert_int_equal(o.late, 0);
    c.images = 4; /* hold less: each time the first of the three is late, and not the others */
    assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
    assert_between((double)o.late, 19, 21);
}

static void the_oracle_waits_as_long_as_it_may(void **data)
{
    (void)data;
    struct tp_world_cost cost = cost_of(8000);
    struct tp_world_config c = config(&cost, 1000);
    struct tp_oracle o;
    assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
    assert_int_equal(o.late, 0);
    /* The cost, the latch's lead and the pipeline. */
    assert_between((double)o.latency.p50_ns, 8e6 + 1.65e6 + 16.66e6, 8e6 + 1.65e6 + 16.67e6);
    c.slowest_mhz = 40000;
    struct tp_error e = {0};
    assert_int_equal(tp_oracle_run(&c, &o, &e), -EINVAL);
}

/* Traces of the kinds that games make, from a seed: steady with noise, alternating, level shifts,
 * rare long stalls. */
static size_t make_trace(unsigned kind, struct tp_world_cost *out, size_t n)
{
    uint64_t seed = kind * 77 + 5;
    int64_t level = 13000;
    for (size_t i = 0; i < n; i++) {
        int64_t noise = 0;
        for (int k = 0; k < 4; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            noise += (int64_t)(seed >> 33) % 1000 - 500;
        }
        if (kind == 2 && i % 400 == 0)
            level = 9000 + (int64_t)(seed >> 40) % 7000;
        int64_t us = level + noise;
        if (kind == 1)
            us += i % 2 ? 2500 : -2500;
        if (kind == 3 && i % 347 == 0)
            us += 60000;
        out[i] = cost_of(us);
    }
    return n;
}

static int compare_costs(const void *a, const void *b)
{
    const struct tp_world_cost *x = a, *y = b;
    int64_t s = x->cpu_ns + x->gpu_ns, t = y->cpu_ns + y->gpu_ns;
    return (s > t) - (s < t);
}

static void pacing_is_late_hardly_more_often_than_the_oracle(void **data)
{
    (void)data;
    static struct tp_world_cost costs[8000], sorted[8000];
    for (unsigned kind = 0; kind < 4; kind++)
        for (int late = 0; late < 2; late++) {
            struct tp_world_config c = config(costs, 8000);
            struct tp_oracle o;
            c.n_costs = make_trace(kind, costs, 8000);
            memcpy(sorted, costs, sizeof costs);
            qsort(sorted, 8000, sizeof *sorted, compare_costs);
            /* The highest rate that it holds for 95 % of the time. */
            int64_t q95 = sorted[7600].cpu_ns + sorted[7600].gpu_ns;
            c.gate.mode = TP_GATE_CAP;
            c.gate.cap_mhz = (uint32_t)(INT64_C(1000000000000) / q95);
            c.refresh_mhz = 90000;
            c.images = 5;
            c.late_guest = late;
            c.run_ahead = late;
            assert_int_equal(tp_oracle_run(&c, &o, NULL), 0);
            go(&c);
            assert_between((double)result.late, 0, 1.05 * (double)o.late + 0.002 * 8000);
        }
}

/* --- costs --- */

static void costs_are_split_and_cycled(void **data)
{
    (void)data;
    struct tp_costs c;
    assert_int_equal(tp_costs_parse("8000,3000+5000,0", &c, NULL), 0);
    assert_int_equal(c.n, 3);
    assert_int_equal(c.at[0].cpu_ns, 3200000);
    assert_int_equal(c.at[0].gpu_ns, 4800000);
    assert_int_equal(c.at[1].cpu_ns, 3000000);
    assert_int_equal(c.at[1].gpu_ns, 5000000);
    assert_int_equal(c.at[2].gpu_ns, 0);
    tp_costs_finish(&c);
    static const char *const wrong[] = {
        "", "8000,", ",1", "x", "8000x", "1+", "+1", "10000001", "9999999+2", "-5", "1.5"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tp_error e = {0};
        assert_int_equal(tp_costs_parse(wrong[i], &c, &e), -EINVAL);
        assert_null(c.at);
    }
}

static void traces_have_a_number_a_line(void **data)
{
    (void)data;
    static const char text[] = "# a game\n16000\r\n\n80 00\n";
    static const char good[] = "# a game\n16000\r\n\n 8000 # a menu";
    struct tp_costs c;
    struct tp_error e = {0};
    assert_int_equal(tp_costs_read(good, sizeof good - 1, "t", &c, &e), 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.at[0].cpu_ns + c.at[0].gpu_ns, 16 * MS);
    tp_costs_finish(&c);
    assert_int_equal(tp_costs_read(text, sizeof text - 1, "t", &c, &e), -EINVAL);
    assert_string_equal(e.where, "t:4");
    e = (struct tp_error){0};
    assert_int_equal(tp_costs_read("# none\n", 7, "t", &c, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refresh_shows_a_frame),
        cmocka_unit_test(half_the_refresh_stays_two_and_45_on_60_one_or_two),
        cmocka_unit_test(fences_cost_nothing_where_there_are_enough_images),
        cmocka_unit_test(with_two_images_the_control_starts_at_its_release),
        cmocka_unit_test(late_fences_cost_nothing_either),
        cmocka_unit_test(with_fewer_images_late_fences_leave_the_oracles_rate),
        cmocka_unit_test(fewer_images_have_the_rate_that_they_can_have),
        cmocka_unit_test(latency_is_lower_at_the_same_rate),
        cmocka_unit_test(latency_has_no_spiral),
        cmocka_unit_test(a_variable_rate_takes_each_frame_as_it_comes),
        cmocka_unit_test(a_variable_screen_that_was_off_goes_on),
        cmocka_unit_test(nothing_tears_whatever_goes_wrong),
        cmocka_unit_test(nothing_tears_where_fences_are_late_and_servers_die),
        cmocka_unit_test(nothing_tears_however_soon_a_server_is_back),
        cmocka_unit_test(nothing_tears_on_a_panel_that_reads_longer_than_it_says),
        cmocka_unit_test(a_gpu_that_waits_needs_fewer_images),
        cmocka_unit_test(without_a_board_notes_are_enough),
        cmocka_unit_test(a_lost_note_costs_nothing_with_a_board),
        cmocka_unit_test(whoever_is_killed_at_any_event_nothing_tears_or_hangs),
        cmocka_unit_test(a_switch_of_the_rate_moves_a_slow_caps_frame_by_refreshes_at_most),
        cmocka_unit_test(a_hitch_leaves_no_short_frame_behind_it),
        cmocka_unit_test(equal_seeds_are_equal_runs),
        cmocka_unit_test(without_fences_it_tears_at_60_and_not_at_30),
        cmocka_unit_test(waiting_after_booking_eats_the_period),
        cmocka_unit_test(each_planted_bug_is_caught),
        cmocka_unit_test(what_broke_shrinks_to_what_it_takes),
        cmocka_unit_test(a_slow_readers_notes_are_as_many_as_there_are_pictures),
        cmocka_unit_test(a_cap_is_exact_from_the_frames_that_count),
        cmocka_unit_test(what_goes_wrong_on_and_on_ends),
        cmocka_unit_test(a_hang_among_faults_is_no_fault),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_oracle_starts_early_where_it_helps),
        cmocka_unit_test(the_oracle_puts_off_one_frame_to_spare_others),
        cmocka_unit_test(the_oracle_waits_as_long_as_it_may),
        cmocka_unit_test(pacing_is_late_hardly_more_often_than_the_oracle),
        cmocka_unit_test(costs_are_split_and_cycled),
        cmocka_unit_test(traces_have_a_number_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
