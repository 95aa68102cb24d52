/* What a screen's ring says of pictures and refreshes: 100 Hz, one refresh from latch to line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "frames/server/screen_ring.h"

#define MS INT64_C(1000000)
#define PERIOD (10 * MS)
#define LEAD (2 * MS)
#define KEPT 512u

static struct tp_screen_ring screen;
static struct tp_ring_view *view;
static struct tp_ring_picture pictures[KEPT];
static struct tp_ring_refresh refreshes[KEPT];
static struct tp_ring_setting setting;
static unsigned n_pictures, n_refreshes, n_settings;

static const struct tp_buffer_name guests = {{1, 2}, 3, TP_BUFFER_NO_INDEX},
                                   others = {{4, 5}, 0, TP_BUFFER_NO_INDEX};

static int begin(void **state)
{
    const struct tp_panel panel = {.lead_ns = LEAD, .pipeline = 1, .watches = true};
    (void)state;
    n_pictures = n_refreshes = n_settings = 0;
    tp_screen_ring_init(&screen, "test", 0, &panel);
    tp_screen_ring_mode(&screen, &(struct tp_kms_mode){640, 100, 100000});
    return tp_ring_open(tp_screen_ring_fd(&screen), &view);
}

static int end(void **state)
{
    (void)state;
    tp_ring_close(view);
    tp_screen_ring_finish(&screen);
    return 0;
}

static void hear(void)
{
    struct tp_ring_entry e;
    uint64_t lost = 0;
    while (tp_ring_next(view, &e, &lost)) {
        if (e.kind == TP_RING_PICTURE)
            pictures[n_pictures++ % KEPT] = e.picture;
        else if (e.kind == TP_RING_REFRESH)
            refreshes[n_refreshes++ % KEPT] = e.refresh;
        else if (e.kind == TP_RING_SETTING && ++n_settings)
            setting = e.setting;
    }
    assert_int_equal(lost, 0);
}

static void tick_at(uint64_t n, int64_t ns, int64_t period_ns)
{
    tp_screen_ring_tick(&screen,
        &(struct tp_panel_tick){.sequence = n,
            .time_ns = ns,
            .period_ns = period_ns,
            .active_ns = period_ns * 8 / 10});
}

static void tick(uint64_t n)
{
    tick_at(n, (int64_t)n * PERIOD, PERIOD);
}

static void publish(uint64_t serial, int64_t ns)
{
    tp_screen_ring_publish(&screen, serial, false, ns - MS, ns, &guests, 1);
}

/* Picture 5, in refresh 3. */
static void show_first(void)
{
    tick(1);
    publish(5, 13 * MS);
    tick(2);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
}

static void a_picture_is_told_when_it_is_shown_and_when_it_has_left(void **state)
{
    (void)state;
    tick(1);
    publish(5, 13 * MS);
    tick(2);
    hear();
    assert_int_equal(n_pictures, 0);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
    hear();
    assert_int_equal(n_pictures, 1);
    const struct tp_ring_picture *p = &pictures[0];
    assert_true(p->serial == 5 && p->sequence == 3 && !p->dropped);
    assert_int_equal(p->committed_ns, 12 * MS);
    assert_int_equal(p->published_ns, 13 * MS);
    assert_int_equal(p->latched_ns, 2 * PERIOD - LEAD);
    assert_int_equal(p->line_ns, 3 * PERIOD);
    assert_true(p->released_ns == TP_NEVER && p->n_layers == 1);
    assert_true(tp_buffer_name_equal(&p->layers[0], &guests));
    publish(6, 33 * MS);
    tick(5);
    tp_screen_ring_shown(&screen, 6, 5 * PERIOD);
    tp_screen_ring_released(&screen, 5, false, 5 * PERIOD + MS / 2);
    hear();
    assert_int_equal(n_pictures, 3);
    assert_true(pictures[1].serial == 6 && pictures[1].released_ns == TP_NEVER);
    assert_true(pictures[2].serial == 5 && pictures[2].line_ns == 3 * PERIOD);
    assert_int_equal(pictures[2].released_ns, 5 * PERIOD);
}

/* Its fence comes with the transaction, and signals when the next picture is on the screen. */
static void with_a_fence_it_leaves_as_the_next_ones_first_line_comes(void **state)
{
    (void)state;
    tick(1);
    publish(5, 13 * MS);
    publish(6, 23 * MS);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
    tp_screen_ring_released(&screen, 5, true, 3 * PERIOD + 7 * MS);
    hear();
    assert_int_equal(n_pictures, 1);
    tick(4);
    tp_screen_ring_shown(&screen, 6, 4 * PERIOD);
    hear();
    assert_int_equal(n_pictures, 3);
    assert_true(pictures[2].serial == 5 && pictures[2].released_ns == 4 * PERIOD);
}

/* Of a buffer that was copied the guest hears before its picture is shown. */
static void a_copied_picture_has_left_when_it_was_copied(void **state)
{
    (void)state;
    tick(1);
    publish(5, 13 * MS);
    tp_screen_ring_released(&screen, 5, false, 14 * MS);
    hear();
    assert_int_equal(n_pictures, 0);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
    hear();
    assert_int_equal(n_pictures, 2);
    assert_int_equal(pictures[1].released_ns, 14 * MS);
    assert_false(pictures[1].dropped);
}

static void what_is_passed_over_is_dropped_before_the_next_is_shown(void **state)
{
    (void)state;
    tick(1);
    publish(5, 12 * MS);
    publish(6, 13 * MS);
    publish(7, 14 * MS);
    tp_screen_ring_released(&screen, 5, false, 18 * MS);
    tick(3);
    tp_screen_ring_shown(&screen, 7, 3 * PERIOD);
    hear();
    assert_int_equal(n_pictures, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_true(pictures[i].serial == 5 + i && pictures[i].dropped == (i < 2));
    assert_true(pictures[0].line_ns == TP_NEVER);
}

static void what_the_panel_refused_never_was(void **state)
{
    (void)state;
    tick(1);
    publish(5, 12 * MS);
    tp_screen_ring_withdraw(&screen, 5);
    publish(6, 13 * MS);
    tick(3);
    tp_screen_ring_shown(&screen, 6, 3 * PERIOD);
    hear();
    assert_int_equal(n_pictures, 1);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_PRESENTED), 1);
}

static void each_refresh_says_what_it_showed(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 10; n++) {
        tick(n);
        if (n == 3 || n == 6)
            tp_screen_ring_shown(&screen, n, (int64_t)n * PERIOD);
        if (n == 6)
            tp_screen_ring_released(&screen, 3, false, 6 * PERIOD + 1);
        if (n == 1 || n == 4)
            publish(n + 2, (int64_t)n * PERIOD + 3 * MS);
        hear();
        assert_int_equal(n_refreshes, n < 3 ? 0 : n - 2);
    }
    tp_screen_ring_settle(&screen);
    hear();
    assert_int_equal(n_refreshes, 9);
    for (unsigned i = 0; i < 9; i++) {
        const struct tp_refresh_record *r = &refreshes[i].record;
        uint64_t serial = i + 1 < 3 ? 0 : i + 1 < 6 ? 3 : 6;
        assert_true(r->sequence == i + 1 && r->refresh_mhz == 100000);
        assert_int_equal(r->from_ns, (int64_t)(i + 1) * PERIOD);
        assert_int_equal(r->to_ns, r->from_ns + 8 * MS);
        assert_int_equal(r->latch_ns, r->from_ns - LEAD);
        assert_int_equal(refreshes[i].serial, serial);
        assert_true(r->shows == (serial != 0) && r->torn_ns == TP_NEVER && !r->async_torn);
    }
}

/* The panel's thread woke at refresh 7 again; what 5 to 7 showed it says afterwards. */
static void refreshes_that_were_slept_through_are_told(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 5; n++)
        tick(n);
    publish(1, 41 * MS);
    publish(2, 42 * MS);
    tick(7);
    tp_screen_ring_shown(&screen, 1, 5 * PERIOD);
    tp_screen_ring_shown(&screen, 2, 6 * PERIOD);
    tick(8);
    tick(9);
    hear();
    assert_int_equal(n_refreshes, 7);
    static const uint64_t serials[] = {0, 0, 0, 0, 1, 2, 2};
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(refreshes[i].record.sequence, i + 1);
        assert_int_equal(refreshes[i].record.from_ns, (int64_t)(i + 1) * PERIOD);
        assert_int_equal(refreshes[i].serial, serials[i]);
    }
    assert_true(pictures[0].sequence == 5 && pictures[1].sequence == 6);
}

static void a_tear_is_in_its_refresh_with_its_place(void **state)
{
    (void)state;
    show_first();
    tp_screen_ring_torn(&screen, 3, 3 * PERIOD + 2 * MS, 25);
    tp_screen_ring_torn(&screen, 3, 3 * PERIOD + 3 * MS, 40); /* the first is told */
    tick(4);
    tp_screen_ring_torn(&screen, 3, 4 * PERIOD + MS, 7);
    tick(5);
    hear();
    assert_int_equal(n_refreshes, 3);
    assert_int_equal(refreshes[2].record.torn_ns, 3 * PERIOD + 2 * MS);
    assert_int_equal(refreshes[2].record.torn_line, 25);
    tp_screen_ring_torn(&screen, 3, 5 * PERIOD + MS, 7); /* too late: not lost */
    tick(6);
    tick(7);
    hear();
    unsigned tears = 0;
    for (unsigned i = 0; i < n_refreshes; i++)
        tears += refreshes[i].record.torn_ns != TP_NEVER;
    assert_int_equal(tears, 2);
}

static void what_is_shown_at_once_takes_over_in_the_midst_of_a_scan_out(void **state)
{
    (void)state;
    show_first();
    tp_screen_ring_publish(&screen, 6, true, 34 * MS, 34 * MS, &guests, 1);
    tp_screen_ring_shown(&screen, 6, 34 * MS);
    tp_screen_ring_released(&screen, 5, false, 34 * MS + 1);
    tick(4);
    tp_screen_ring_publish(&screen, 7, true, 49 * MS, 49 * MS, &guests, 1); /* in the blanking */
    tick(5);
    tp_screen_ring_shown(&screen, 7, 5 * PERIOD);
    tick(6);
    tick(7);
    hear();
    assert_int_equal(n_refreshes, 5);
    static const uint64_t serials[] = {0, 0, 5, 6, 7};
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(refreshes[i].serial, serials[i]);
        assert_true(refreshes[i].record.async_torn == (i + 1 == 3));
    }
    assert_int_equal(pictures[1].sequence, 3);
    assert_int_equal(pictures[1].latched_ns, 34 * MS);
    assert_int_equal(pictures[2].released_ns, 34 * MS);
}

/* Uncapped: more than are kept, in one refresh. */
static void many_flips_in_a_refresh_do_no_harm(void **state)
{
    (void)state;
    tick(1);
    tp_screen_ring_publish(&screen, 1, true, 11 * MS, 11 * MS, &guests, 1);
    tp_screen_ring_shown(&screen, 1, 11 * MS);
    tick(2);
    for (uint64_t i = 2; i < 200; i++) {
        int64_t at = 2 * PERIOD + (int64_t)i * MS / 25;
        tp_screen_ring_publish(&screen, i, true, at, at, &guests, 1);
        tp_screen_ring_shown(&screen, i, at);
        tp_screen_ring_released(&screen, i - 1, false, at);
    }
    tick(3);
    tick(4);
    tick(5);
    hear();
    assert_int_equal(n_pictures, 199 + 198);
    assert_true(refreshes[1].serial == 1 && refreshes[1].record.async_torn);
    assert_true(refreshes[2].serial == 199);
}

static void a_picture_of_nothing_is_none_and_shows_nothing(void **state)
{
    (void)state;
    tick(1);
    publish(5, 13 * MS);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
    tp_screen_ring_publish(&screen, 6, false, 33 * MS, 33 * MS, NULL, 0);
    tick(5);
    tp_screen_ring_shown(&screen, 6, 5 * PERIOD);
    tp_screen_ring_released(&screen, 5, false, 5 * PERIOD + 1);
    tick(6);
    tick(7);
    hear();
    assert_int_equal(n_pictures, 2);
    assert_int_equal(pictures[1].released_ns, 5 * PERIOD);
    assert_true(refreshes[3].record.sequence == 4 && refreshes[3].serial == 5);
    assert_true(refreshes[4].record.sequence == 5 && !refreshes[4].record.shows);
}

static void a_screen_that_goes_away_ends_what_it_had(void **state)
{
    (void)state;
    tick(1);
    publish(5, 13 * MS);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
    publish(6, 33 * MS);
    tp_screen_ring_away(&screen, 36 * MS);
    hear();
    assert_int_equal(n_pictures, 3);
    assert_true(pictures[1].serial == 5 && pictures[1].released_ns == 36 * MS);
    assert_true(pictures[2].serial == 6 && pictures[2].dropped);
    tick(4);
    tick(5);
    tick(6);
    hear();
    assert_false(refreshes[n_refreshes - 1].record.shows);
}

static void a_change_of_the_rate_is_told_and_stands_beside(void **state)
{
    (void)state;
    tick(1);
    tick(2);
    hear();
    assert_int_equal(n_settings, 1);
    tick_at(3, 3 * PERIOD, 5 * MS);
    tick_at(4, 3 * PERIOD + 5 * MS, 5 * MS);
    tick_at(5, 3 * PERIOD + 10 * MS, 5 * MS);
    hear();
    assert_int_equal(n_settings, 2);
    assert_true(setting.what == TP_SETTING_REFRESH && setting.value == 200000);
    assert_int_equal(setting.at_ns, 3 * PERIOD);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_REFRESH_MHZ), 200000);
    assert_int_equal(refreshes[1].record.refresh_mhz, 100000);
    assert_int_equal(refreshes[2].record.refresh_mhz, 200000);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_PIPELINE), 1);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_LEAD_NS), LEAD);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_WATCHED), 1);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_WIDTH), 640);
    assert_int_equal(tp_ring_look(view, TP_GAUGE_PRODUCER), TP_RING_SCREEN);
}

/* There is room for five layers of eight. */
static void of_many_layers_the_guests_are_told(void **state)
{
    (void)state;
    struct tp_buffer_name layers[8] = {
        others, others, others, others, others, guests, others, guests};
    tick(1);
    tp_screen_ring_publish(&screen, 5, false, 0, 13 * MS, layers, 8);
    tick(3);
    tp_screen_ring_shown(&screen, 5, 3 * PERIOD);
    hear();
    assert_int_equal(pictures[0].n_layers, 5);
    unsigned n = 0;
    for (unsigned i = 0; i < 5; i++)
        n += pictures[0].layers[i].generation != 0;
    assert_int_equal(n, 2);
    for (unsigned i = 0; i < 8; i++)
        tp_screen_ring_released(&screen, 5, false, 40 * MS + i);
    hear();
    assert_int_equal(n_pictures, 2);
    assert_int_equal(pictures[1].released_ns, 40 * MS + 7);
}

static void a_screen_without_a_ring_says_nothing(void **state)
{
    struct tp_screen_ring none = {0};
    (void)state;
    tp_screen_ring_mode(&none, &(struct tp_kms_mode){1, 1, 1});
    tp_screen_ring_publish(&none, 1, false, 0, 0, &guests, 1);
    tp_screen_ring_tick(&none, &(struct tp_panel_tick){.sequence = 1, .period_ns = 1});
    tp_screen_ring_shown(&none, 1, 1);
    tp_screen_ring_released(&none, 1, false, 1);
    tp_screen_ring_torn(&none, 1, 1, 1);
    tp_screen_ring_away(&none, 1);
    tp_screen_ring_settle(&none);
    tp_screen_ring_withdraw(&none, 1);
    assert_int_equal(tp_screen_ring_fd(&none), -1);
    tp_screen_ring_finish(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_picture_is_told_when_it_is_shown_and_when_it_has_left),
        TEST(with_a_fence_it_leaves_as_the_next_ones_first_line_comes),
        TEST(a_copied_picture_has_left_when_it_was_copied),
        TEST(what_is_passed_over_is_dropped_before_the_next_is_shown),
        TEST(what_the_panel_refused_never_was),
        TEST(each_refresh_says_what_it_showed),
        TEST(refreshes_that_were_slept_through_are_told),
        TEST(a_tear_is_in_its_refresh_with_its_place),
        TEST(what_is_shown_at_once_takes_over_in_the_midst_of_a_scan_out),
        TEST(many_flips_in_a_refresh_do_no_harm),
        TEST(a_picture_of_nothing_is_none_and_shows_nothing),
        TEST(a_screen_that_goes_away_ends_what_it_had),
        TEST(a_change_of_the_rate_is_told_and_stands_beside),
        TEST(of_many_layers_the_guests_are_told),
        cmocka_unit_test(a_screen_without_a_ring_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
