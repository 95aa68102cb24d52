/* Rings as a server lists them, read into records; and which guest's figures a run has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "frames/census/figures.h"
#include "frames/census/follow.h"

static unsigned n_guests, n_gone, n_frames, last_guest;
static uint64_t n_lost;

static void on_guest(void *data, unsigned guest, const char *name, uint32_t pid)
{
    (void)data;
    (void)name;
    (void)pid;
    n_guests++;
    last_guest = guest;
}

static void on_gone(void *data, unsigned guest)
{
    (void)data;
    (void)guest;
    n_gone++;
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    (void)data;
    n_frames++;
    last_guest = f->guest;
}

static void on_lost(void *data, unsigned guest, uint64_t entries)
{
    (void)data;
    (void)guest;
    n_lost += entries;
}

static struct tp_follow *begin(void)
{
    const struct tp_join_sink sink = {
        .guest = on_guest, .gone = on_gone, .frame = on_frame, .lost = on_lost};
    n_guests = n_gone = n_frames = 0;
    n_lost = 0;
    return tp_follow_create(&sink);
}

static struct tp_ring *new_ring(enum tp_ring_producer producer)
{
    struct tp_ring *r;
    assert_int_equal(tp_ring_create(producer, "one", &r), 0);
    return r;
}

/* Given up: told at once. */
static void put(struct tp_ring *r, uint64_t number)
{
    struct tp_ring_entry e = {.kind = TP_RING_FRAME};
    e.frame.record.number = number;
    e.frame.record.dropped = true;
    e.frame.record.presented_ns = TP_NEVER;
    tp_ring_put(r, &e);
}

static void what_a_ring_says_is_told_also_what_it_said_last(void **state)
{
    struct tp_follow *f = begin();
    struct tp_ring *r = new_ring(TP_RING_SWAPCHAIN);
    struct tp_census_ring list = {.id = 9, .pid = 1, .fd = tp_ring_fd(r)};
    uint64_t counts[TP_COUNTERS];
    (void)state;
    put(r, 0);
    tp_follow_rings(f, &list, 1);
    tp_follow_rings(f, &list, 1); /* known */
    assert_int_equal(n_guests, 1);
    put(r, 1);
    tp_follow_turn(f, 1);
    assert_int_equal(n_frames, 2);
    assert_non_null(tp_follow_view(f, 0, NULL, NULL));
    put(r, 2);
    tp_ring_gauge(r, TP_GAUGE_COUNTS + TP_COUNT_UNSAFE, 5);
    tp_ring_destroy(r);
    tp_follow_rings(f, NULL, 0);
    assert_null(tp_follow_view(f, 0, NULL, NULL));
    tp_follow_turn(f, 2);
    assert_int_equal(n_frames, 3);
    assert_int_equal(n_gone, 1);
    tp_follow_counts(f, counts);
    assert_int_equal(counts[TP_COUNT_UNSAFE], 5);
    tp_follow_destroy(f);
}

/* Who is a screen is the server's word: it has no process. */
static void a_guest_is_no_screen_whatever_its_ring_says(void **state)
{
    struct tp_follow *f = begin();
    struct tp_ring *r = new_ring(TP_RING_SCREEN), *own = new_ring(TP_RING_SWAPCHAIN);
    struct tp_census_ring list[2] = {
        {.id = 1, .pid = 0, .fd = tp_ring_fd(own)}, {.id = 9, .pid = 1, .fd = tp_ring_fd(r)}};
    unsigned guest;
    uint32_t pid;
    (void)state;
    tp_follow_rings(f, list, 2);
    assert_non_null(tp_follow_view(f, 0, &guest, &pid));
    assert_true(guest == TP_JOIN_SCREEN && pid == 0);
    assert_non_null(tp_follow_view(f, 1, &guest, &pid));
    assert_true(guest == 0 && pid == 1);
    tp_ring_destroy(r);
    tp_ring_destroy(own);
    tp_follow_destroy(f);
}

static void what_is_no_ring_is_left_out(void **state)
{
    struct tp_follow *f = begin();
    struct tp_census_ring list = {.id = 9, .pid = 1, .fd = open("/dev/null", O_RDONLY)};
    (void)state;
    tp_follow_rings(f, &list, 1);
    close(list.fd);
    list = (struct tp_census_ring){.id = 10, .pid = 1, .fd = -1};
    tp_follow_rings(f, &list, 1);
    assert_int_equal(n_guests, 0);
    tp_follow_end(f, 1);
    tp_follow_destroy(f);
}

static void what_came_too_fast_is_counted(void **state)
{
    struct tp_follow *f = begin();
    struct tp_ring *r = new_ring(TP_RING_SWAPCHAIN);
    struct tp_census_ring list = {.id = 9, .pid = 1, .fd = tp_ring_fd(r)};
    (void)state;
    tp_follow_rings(f, &list, 1);
    for (uint64_t i = 0; i < TP_RING_ENTRIES + 100; i++)
        put(r, i);
    tp_follow_end(f, 1);
    assert_int_equal(n_lost, 100);
    assert_int_equal(n_frames, TP_RING_ENTRIES);
    tp_ring_destroy(r);
    tp_follow_destroy(f);
}

/* --- figures --- */

static void show(struct tp_figures *f, unsigned guest, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct tp_frame_record r = {.guest = guest, .number = i, .sequence = i, .line_ns = i};
        r.begin_ns = r.acquired_ns = TP_NEVER;
        r.presented_ns = TP_NEVER;
        r.refresh_mhz = 60000;
        tp_figures_frame(f, &r);
    }
}

static void the_figures_are_of_the_swapchain_with_most_frames(void **state)
{
    struct tp_figures *f = tp_figures_create();
    struct tp_summary s;
    (void)state;
    assert_int_equal(tp_figures_guest(f), TP_JOIN_SCREEN);
    show(f, TP_JOIN_SCREEN, 100);
    assert_int_equal(tp_figures_guest(f), TP_JOIN_SCREEN);
    show(f, 3, 20);
    show(f, 5, 30);
    show(f, 2, 30);
    assert_int_equal(tp_figures_guest(f), 2); /* the first of equals */
    tp_figures_get(f, TP_FIGURES_MAIN, &s);
    assert_int_equal(s.measures.frames, 30);
    tp_figures_get(f, TP_JOIN_SCREEN, &s);
    assert_int_equal(s.measures.frames, 100);
    tp_figures_get(f, 77, &s);
    assert_int_equal(s.measures.frames, 0);
    tp_figures_destroy(f);
}

static void of_many_guests_the_one_with_most_is_never_lost(void **state)
{
    struct tp_figures *f = tp_figures_create();
    struct tp_summary s;
    (void)state;
    show(f, 1, 500);
    for (unsigned i = 2; i < 5000; i++)
        show(f, i, 1 + i % 7);
    assert_int_equal(tp_figures_guest(f), 1);
    tp_figures_get(f, TP_FIGURES_MAIN, &s);
    assert_int_equal(s.measures.frames, 500);
    tp_figures_destroy(f);
}

static void tears_are_null_where_nobody_looked(void **state)
{
    struct tp_figures *f = tp_figures_create();
    struct tp_refresh_record r = {.torn_ns = 5};
    struct tp_summary s;
    (void)state;
    tp_figures_get(f, TP_FIGURES_MAIN, &s);
    assert_false(s.has_tears || s.has_counts);
    tp_figures_refresh(f, &r);
    tp_figures_count(f, "slot_waits", 4);
    tp_figures_count(f, "fault.dvfs", 2);
    tp_figures_get(f, TP_FIGURES_MAIN, &s);
    assert_true(s.has_tears && s.measures.tears == 1 && s.has_counts);
    assert_true(s.counts[TP_COUNT_SLOT_WAITS] == 4 && s.n_faults == 1);
    assert_string_equal(s.faults[0].name, "dvfs");
    tp_figures_setting(f, TP_SETTING_WATCHED, "off");
    tp_figures_get(f, TP_FIGURES_MAIN, &s);
    assert_false(s.has_tears);
    tp_figures_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_ring_says_is_told_also_what_it_said_last),
        cmocka_unit_test(a_guest_is_no_screen_whatever_its_ring_says),
        cmocka_unit_test(what_is_no_ring_is_left_out),
        cmocka_unit_test(what_came_too_fast_is_counted),
        cmocka_unit_test(the_figures_are_of_the_swapchain_with_most_frames),
        cmocka_unit_test(of_many_guests_the_one_with_most_is_never_lost),
        cmocka_unit_test(tears_are_null_where_nobody_looked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
