/*
 * Many pictures, on the phone's double in virtual time: TURNPIKE_COMMITS of them at each API level.
 * Nothing is read while a guest has it back, nothing is told twice or never, and no descriptor is
 * left or closed twice, with completions late by up to five refreshes and on other threads, slow
 * releases, transactions that replace one another in a latch or are merged before they get there,
 * and the app's life in between. That all of this did happen is asserted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "android_guest.h"
#include "double/double.h"

static struct guest g;

static uint64_t wanted(void)
{
    const char *n = getenv("TURNPIKE_COMMITS");
    return n && *n ? strtoull(n, NULL, 10) : 50000;
}

static uint64_t state = 88172645463325252u;

static unsigned any(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % n);
}

static void commit(void)
{
    static int cursor = -1;
    int buffer = guest_free_buffer(&g);
    if (any(64) == 0)
        cursor = any(2) ? -1 : (int)(GUEST_BUFFERS + any(GUEST_CURSORS));
    if (buffer < 0) {
        g.short_of++;
        return;
    }
    guest_publish(&g, buffer, cursor, any(3) == 0);
}

/* So many refreshes, in which the guest goes on. */
static void go_on(unsigned refreshes)
{
    while (refreshes-- > 0) {
        guest_step(&g);
        commit();
    }
}

#define LIFE_EVENTS 7u
static void life(unsigned event)
{
    static const uint32_t rates[] = {60000, 120000, 90000};
    g.lenient = true;
    switch (event) {
    case 0: /* hidden */
        tp_panel_android_pause(g.panel);
        go_on(any(40));
        tp_panel_android_resume(g.panel);
        break;
    case 1: /* the surface is destroyed, and another comes */
        tp_panel_android_set_window(g.panel, NULL);
        double_window_destroy(g.window);
        go_on(any(20));
        g.window = double_window_create(128, 64);
        tp_panel_android_set_window(g.panel, g.window);
        break;
    case 2: /* turned */
        double_window_resize(g.window, any(2) ? 64 : 128, any(2) ? 128 : 64);
        tp_panel_android_set_window(g.panel, g.window);
        break;
    case 3:
        double_screen(false);
        go_on(any(60));
        double_screen(true);
        break;
    case 4:
        double_refresh(rates[any(3)]);
        break;
    case 5: /* another display: no refreshes and no surface, then others */
        double_screen(false);
        tp_panel_android_set_window(g.panel, NULL);
        double_window_destroy(g.window);
        go_on(any(40));
        double_refresh(rates[any(3)]);
        double_screen(true);
        g.window = double_window_create(any(2) ? 96 : 320, 64);
        tp_panel_android_set_window(g.panel, g.window);
        break;
    default:
        tp_panel_android_repaint(g.panel);
    }
    go_on(40); /* what was given up meanwhile has been let go of for sure */
    g.lenient = false;
}

static void run(int level, bool out_of_order)
{
    const struct double_habits habits = {.late_per_mille = 200,
        .late_refreshes = 5,
        .slow_per_mille = 100,
        .slow_refreshes = 2,
        .elsewhere_per_mille = 5,
        .merge_per_mille = 30,
        .jitter_ns = 2000000,
        .no_present_fence_per_mille = 50,
        .out_of_order = out_of_order};
    uint64_t commits = wanted(), at_start = 0;
    struct double_counts d;
    struct tp_panel_android_counts c;
    struct timespec from, to;
    unsigned descriptors = 0, most = 0;
    clock_gettime(CLOCK_MONOTONIC, &from);
    guest_init(&g, level, (uint64_t)level, 60000);
    double_habits(&habits);
    for (uint64_t i = 0; g.published < commits; i++) {
        guest_step(&g);
        commit();
        if (any(20) == 0) /* another for the same latch */
            commit();
        if (any(2000) == 0)
            life(any(LIFE_EVENTS));
        if (i % 4096 == 4095) {
            unsigned now = guest_open_descriptors();
            if (i == 4095)
                at_start = now;
            most = now > most ? now : most;
        }
    }
    for (unsigned i = 0; i < LIFE_EVENTS; i++) /* in a short run, too */
        life(i);
    /* All comes to rest: the newest picture alone is the panel's. */
    double_habits(&(struct double_habits){.foreign = TAKES});
    for (unsigned i = 0; i < 40; i++)
        guest_step(&g);
    tp_panel_android_count(g.panel, &c);
    double_count(&d);
    assert_int_equal(g.twice, 0);
    assert_int_equal(g.unknown, 0);
    assert_int_equal(g.early, 0);
    assert_int_equal(g.torn, 0);
    assert_int_equal(g.backwards, 0);
    assert_int_equal(c.pending, 0);
    assert_int_equal(c.stalls, 0);
    assert_true(guest_outstanding(&g) <= 2);
    assert_int_equal(g.n_waiting, 0);
    /* Each of these was in it. */
    assert_true(d.late > 0 && d.most_late == 5);
    assert_true(d.elsewhere > 0 && d.dropped > 0 && d.merged > 0 && d.overwritten > 0);
    assert_true(d.unfenced > 0 && g.fenced > 0 && g.fenced < g.released);
    assert_true(g.away > 0 && g.back == g.away);
    assert_true((d.with_release > 0) == (level >= 36) && (d.frame_timelines > 0) == (level >= 33));
    /* One final word for each layer, but for the newest picture's. */
    assert_int_equal(g.released + guest_outstanding(&g), g.given_layers);
    if (level < 36) /* with callbacks of their own, pictures that were never shown come first */
        assert_int_equal(g.out_of_order, 0);
    assert_true(g.out_of_order <= d.dropped + d.overwritten);
    descriptors = guest_open_descriptors();
    assert_true(at_start == 0 || most < at_start + 64);
    guest_finish(&g);
    double_count(&d);
    assert_int_equal(d.buffers, 0);
    assert_int_equal(d.layers, 0);
    assert_int_equal(d.windows, 0);
    assert_int_equal(guest_bad_closes, 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf(
        "API %d: %llu commits, %llu refused, %llu without a buffer; %llu released (%llu with a "
        "fence, %llu before older ones), %llu shown, %llu dropped, %llu merged; away %llu times; "
        "%llu late, by %u at most; %llu on other threads; %u descriptors; %.1f s\n",
        level, (unsigned long long)g.published, (unsigned long long)g.refused,
        (unsigned long long)g.short_of, (unsigned long long)g.released,
        (unsigned long long)g.fenced, (unsigned long long)g.out_of_order,
        (unsigned long long)g.shown, (unsigned long long)d.dropped, (unsigned long long)d.merged,
        (unsigned long long)g.away, (unsigned long long)d.late, d.most_late,
        (unsigned long long)d.elsewhere, descriptors,
        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
}

static void every_buffer_comes_back_once_at_level_31(void **s)
{
    (void)s;
    run(31, false);
}

static void every_buffer_comes_back_once_at_level_33(void **s)
{
    (void)s;
    run(33, false);
}

static void every_buffer_comes_back_once_at_level_36(void **s)
{
    (void)s;
    run(36, false);
}

static void completions_may_overtake_one_another(void **s)
{
    (void)s;
    unsigned before = guest_open_descriptors();
    setenv("TURNPIKE_COMMITS", "20000", 1);
    run(31, true);
    assert_int_equal(guest_open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_buffer_comes_back_once_at_level_31),
        cmocka_unit_test(every_buffer_comes_back_once_at_level_33),
        cmocka_unit_test(every_buffer_comes_back_once_at_level_36),
        cmocka_unit_test(completions_may_overtake_one_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
