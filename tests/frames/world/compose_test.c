/* The world with a compositor that composes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frames/world/world.h"

#define MS INT64_C(1000000)
#define PERIOD INT64_C(16666666)

static struct tp_world_result result;
static const struct tp_world_cost cost = {.cpu_ns = 3200000, .gpu_ns = 4800000};

static struct tp_world_config config(unsigned pipeline, uint64_t frames)
{
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = &cost;
    c.n_costs = 1;
    c.frames = frames;
    c.images = 3;
    c.pipeline = pipeline;
    c.compose_ns = 2 * MS;
    return c;
}

static void go(const struct tp_world_config *c)
{
    assert_int_equal(tp_world_run(c, &result, NULL), 0);
    if (*result.broken)
        fail_msg("seed %llu: %s", (unsigned long long)c->seed, result.broken);
}

static double fps(void)
{
    return tp_world_fps(&result);
}

static void every_refresh_shows_a_composition(void **data)
{
    (void)data;
    for (unsigned pipeline = 0; pipeline <= 1; pipeline++) {
        struct tp_world_config c = config(pipeline, 3000);
        go(&c);
        assert_int_equal(result.cadence[1], result.frames - 10);
        assert_int_equal(result.repeats, 0);
        assert_int_equal(result.tears, 0);
        assert_int_equal(result.slots.release_waits, 0); /* the panel reads none of the client's */
        assert_true(result.slots.final > 2900);          /* all of its own */
        int64_t way = (1 + pipeline) * PERIOD;
        assert_in_range(result.latency.p50_ns, way - MS / 10, way + MS / 10);
    }
}

/* Nobody tells the client how long the way to the panel is: it finds out. */
static void the_way_to_the_panel_is_learnt_from_what_was_shown(void **data)
{
    (void)data;
    for (unsigned i = 0; i < 3 * 2; i++) {
        struct tp_world_config c = config(i % 3, 6000);
        c.images = 4;
        c.gate.mode = i / 3 ? TP_GATE_LATENCY : TP_GATE_VSYNC;
        go(&c);
        int64_t most = (1 + c.pipeline) * PERIOD + MS / 10;
        if (i / 3)
            most = cost.cpu_ns + cost.gpu_ns + tp_world_lead(&c) + c.pipeline * PERIOD + 2 * MS;
        assert_true(result.latency.p50_ns < most);
        assert_true(fps() > 60 * 0.999);
    }
}

static void latency_starts_as_late_as_the_compositor_lets_it(void **data)
{
    (void)data;
    struct tp_world_config c = config(1, 6000);
    c.gate.mode = TP_GATE_LATENCY;
    go(&c);
    int64_t most = cost.cpu_ns + cost.gpu_ns + 1200000 + tp_world_lead(&c) + PERIOD;
    assert_in_range(result.latency.p50_ns, most - 1200000, most);
    assert_true(fps() > 60 * 0.995);
}

static void its_own_images_are_waited_for_or_tear(void **data)
{
    (void)data;
    struct tp_world_config c = config(1, 3000);
    c.own_images = 2;
    go(&c);
    assert_int_equal(result.tears, 0);
    assert_true(fps() < 31);
    c.release = false;
    go(&c);
    assert_true(result.tears > 2900);
    c.own_images = 3;
    go(&c);
    assert_int_equal(result.tears, 0);
}

static void mailbox_gives_back_what_it_does_not_draw(void **data)
{
    (void)data;
    struct tp_world_config c = config(1, 5000);
    c.mailbox = true;
    c.gate.mode = TP_GATE_OFF;
    c.images = 4;
    go(&c);
    assert_true(result.drops > 1000);
    assert_true(fps() > 59.9);
}

static void nothing_tears_whatever_goes_wrong(void **data)
{
    (void)data;
    for (unsigned i = 0; i < 36; i++) {
        struct tp_world_config c = config(i % 3, 1500);
        c.seed = i + 1;
        c.images = 2 + i % 4;
        c.late_guest = i % 2;
        c.gate.mode = i % 5 == 0 ? TP_GATE_OFF : TP_GATE_VSYNC;
        for (unsigned f = 0; f < TP_FAULTS; f++)
            c.per_mille[f] = 5;
        go(&c);
        assert_int_equal(result.tears, 0);
    }
}

/* Server, compositor or panel, after each event of the first half second. */
static void whoever_is_killed_at_any_event_nothing_tears_or_hangs(void **data)
{
    (void)data;
    static const enum tp_world_fault faults[] = {
        TP_FAULT_SERVER_CRASH, TP_FAULT_COMPOSITOR_CRASH, TP_FAULT_PANEL_OFF};
    struct tp_world_config c = config(2, 60);
    for (unsigned i = 0; i < 3; i++)
        for (uint64_t event = 1; event < 700; event++) {
            c.strike = faults[i];
            c.strike_event = event;
            go(&c);
            assert_int_equal(result.tears, 0);
        }
}

/* While the compositor stands still the game fills its images; they are used up in a few frames. */
static void what_a_stall_has_left_in_the_queue_is_taken_down_at_once(void **data)
{
    (void)data;
    struct tp_world_config c = config(1, 600);
    c.images = 4;
    go(&c);
    double before = result.latency.mean_ns;
    c.strike = TP_FAULT_COMPOSITOR_STALL;
    c.strike_event = 2000;
    go(&c);
    double frames = (result.latency.mean_ns - before) * (double)result.frames / (3 * PERIOD);
    assert_true(frames > 16 && frames < 30);
}

/* The refresh that a slow composition is for is an instant: it has no number at another rate. */
static void a_switch_of_the_rate_does_not_hold_up_a_slow_composition(void **data)
{
    (void)data;
    struct tp_world_config c = config(1, 200);
    c.compose_ns = 500 * MS;
    c.own_images = 3;
    c.images = 6;
    c.refresh_mhz = 144000;
    c.per_mille[TP_FAULT_REFRESH_SWITCH] = 20;
    go(&c);
    assert_true(result.injected[TP_FAULT_REFRESH_SWITCH] > 100);
    assert_true(result.interval.max_ns < 500 * MS + 3 * PERIOD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refresh_shows_a_composition),
        cmocka_unit_test(the_way_to_the_panel_is_learnt_from_what_was_shown),
        cmocka_unit_test(latency_starts_as_late_as_the_compositor_lets_it),
        cmocka_unit_test(its_own_images_are_waited_for_or_tear),
        cmocka_unit_test(mailbox_gives_back_what_it_does_not_draw),
        cmocka_unit_test(nothing_tears_whatever_goes_wrong),
        cmocka_unit_test(whoever_is_killed_at_any_event_nothing_tears_or_hangs),
        cmocka_unit_test(what_a_stall_has_left_in_the_queue_is_taken_down_at_once),
        cmocka_unit_test(a_switch_of_the_rate_does_not_hold_up_a_slow_composition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
