/* What top's model makes of records: of the world's, with faults planted, and of some made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frames/census/join.h"
#include "replay.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define T INT64_C(16666667)
#define WINDOW (10 * SECOND)

static struct tp_top_model *model;

static int begin(void **state)
{
    (void)state;
    model = tp_top_model_create(WINDOW);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tp_top_model_destroy(model);
    return 0;
}

/* --- runs of the world: the words name what was planted --- */

static const struct tp_top_guest *see(struct tp_world_config *c)
{
    const struct tp_top_snapshot *s = tp_top_update(model, replay(c, model, NULL));
    assert_int_equal(s->n_guests, 1);
    return s->guests[0];
}

static bool found(const struct tp_top_guest *g, const char *id)
{
    for (unsigned i = 0; i < g->n_findings; i++)
        if (strcmp(g->findings[i].id, id) == 0)
            return true;
    return false;
}

/* This alone is a warning or worse. */
static void assert_names(const struct tp_top_guest *g, const char *id)
{
    assert_true(found(g, id));
    for (unsigned i = 0; i < g->n_findings; i++)
        if (g->findings[i].severity >= TP_FINDING_WARNING)
            assert_string_equal(g->findings[i].id, id);
    assert_true(g->verdict.severity >= TP_FINDING_WARNING);
}

static void a_healthy_run_is_called_healthy(void **state)
{
    (void)state;
    struct tp_world_config c = replay_config(900);
    const struct tp_top_guest *g = see(&c);
    assert_int_equal(g->verdict.severity, TP_FINDING_NOTE);
    assert_non_null(strstr(g->verdict.text, "Healthy: 60.00 frames a second"));
    assert_true(g->fps > 59.99 && g->fps < 60.01);
    assert_int_equal(g->summary.counts[TP_COUNT_RELEASE_TIMEOUTS], 0);
    assert_int_equal(g->summary.measures.gate_late, 0);
    assert_true(g->summary.has_tears && g->summary.measures.tears == 0);
}

static void lost_notes_are_named(void **state)
{
    (void)state;
    struct tp_world_config c = replay_config(600);
    c.per_mille[TP_FAULT_LOST_NOTE] = 100;
    const struct tp_top_guest *g = see(&c);
    assert_names(g, "notes-lost");
    assert_true(g->so_far[TP_COUNT_NOTES_LOST] > 50);
    assert_non_null(strstr(g->verdict.text, "Release notes are lost"));
}

static void late_fences_are_named(void **state)
{
    (void)state;
    struct tp_world_config c = replay_config(600);
    c.per_mille[TP_FAULT_LATE_FENCE] = 200;
    c.late_refreshes = 2;
    const struct tp_top_guest *g = see(&c);
    assert_names(g, "late-fences");
    assert_non_null(strstr(g->verdict.text, "Release fences come late"));
    assert_true(g->summary.measures.release_wait_ns > 0.1 * MS);
}

static void a_cap_that_beats_is_named(void **state)
{
    (void)state;
    struct tp_world_config c = replay_config(600);
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 40000};
    const struct tp_top_guest *g = see(&c);
    assert_names(g, "cap-beats");
    assert_non_null(strstr(g->verdict.text, "The cap beats with the refresh"));
    assert_true(g->fps > 39.5 && g->fps < 40.5);
    assert_true(g->summary.measures.cadence[1] > 0 && g->summary.measures.cadence[2] > 0);
}

static void a_run_without_fences_is_seen_to_tear(void **state)
{
    (void)state;
    struct tp_world_config c = replay_config(300);
    c.images = 2;
    c.release = false;
    const struct tp_top_guest *g = see(&c);
    assert_true(found(g, "tears-fences-off"));
    assert_int_equal(g->verdict.severity, TP_FINDING_ERROR);
    bool torn = false;
    for (unsigned i = 0; i < g->n_beats; i++)
        torn |= g->beats[i].torn;
    assert_true(torn);
}

/* A run that is shorter than the window: both know all of it. */
static void its_numbers_are_those_of_report(void **state)
{
    (void)state;
    struct tp_summary s;
    struct tp_world_config c = replay_config(500);
    c.gate = (struct tp_gate_settings){TP_GATE_CAP, 45000};
    c.per_mille[TP_FAULT_LATE_FENCE] = 50;
    tp_top_model_destroy(model);
    model = tp_top_model_create(3600 * SECOND);
    const struct tp_top_guest *g = tp_top_update(model, replay(&c, model, &s))->guests[0];
    assert_true(s.measures.frames > 400);
    assert_memory_equal(&g->summary.measures, &s.measures, sizeof s.measures);
    assert_memory_equal(g->summary.counts, s.counts, sizeof s.counts);
    assert_int_equal(g->summary.has_tears, s.has_tears);
}

/* --- records that are made by hand --- */

static struct tp_frame_record frame(unsigned guest, uint64_t number, int64_t line_ns)
{
    return (struct tp_frame_record){.guest = guest,
        .number = number,
        .sequence = (uint64_t)(line_ns / T),
        .refresh_mhz = 60000,
        .begin_ns = line_ns - 30 * MS,
        .asked_ns = line_ns - 30 * MS,
        .gate_ns = line_ns - 29 * MS,
        .acquired_ns = line_ns - 28 * MS,
        .presented_ns = line_ns - 20 * MS,
        .ready_ns = line_ns - 19 * MS,
        .latched_ns = line_ns - 17 * MS,
        .released_ns = TP_NEVER,
        .told_ns = TP_NEVER,
        .line_ns = line_ns};
}

/* Frames of n refreshes from this one on, a frame each `stay` of them. */
static void show(unsigned guest, int64_t from, unsigned n, unsigned stay)
{
    for (unsigned i = 0; i < n; i += stay) {
        struct tp_frame_record f = frame(guest, (uint64_t)(from + i), (from + i) * T);
        tp_top_frame(model, &f);
    }
}

static const struct tp_top_guest *guest_of(const struct tp_top_snapshot *s, unsigned id)
{
    for (unsigned i = 0; i < s->n_guests; i++)
        if (s->guests[i]->id == id)
            return s->guests[i];
    return NULL;
}

static void figures_are_of_the_last_seconds_alone(void **state)
{
    (void)state;
    tp_top_guest(model, 0, "game", 5);
    show(0, 0, 600, 2);
    show(0, 600, 700, 1);
    const struct tp_top_snapshot *s = tp_top_update(model, 1300 * T);
    const struct tp_measures *m = &s->guests[0]->summary.measures;
    assert_int_equal(m->cadence[2], 0);
    assert_int_equal(m->cadence[1], 599); /* 600 T is more than ten seconds */
    assert_true(s->guests[0]->fps > 59.9 && s->guests[0]->fps < 60.1);
}

static void two_guests_do_not_mix(void **state)
{
    (void)state;
    tp_top_guest(model, 3, "slow", 30);
    tp_top_guest(model, 1, "fast", 10);
    for (int64_t i = 0; i < 300; i++) {
        show(1, 2 * i, 2, 1);
        show(3, 2 * i, 2, 2);
    }
    const struct tp_top_snapshot *s = tp_top_update(model, 600 * T);
    assert_int_equal(s->n_guests, 2);
    assert_string_equal(s->guests[0]->name, "fast"); /* in the order of their numbers */
    assert_true(s->guests[0]->fps > 59 && s->guests[1]->fps > 29.5 && s->guests[1]->fps < 30.5);
    assert_int_equal(s->guests[1]->pid, 30);
    tp_top_gone(model, 1);
    s = tp_top_update(model, 601 * T);
    assert_null(guest_of(s, 1));
    assert_non_null(guest_of(s, 3));
}

static void who_shows_nothing_any_more_has_no_rate(void **state)
{
    (void)state;
    tp_top_guest(model, 0, "game", 5);
    show(0, 0, 60, 1);
    assert_false(tp_top_update(model, 60 * T)->guests[0]->stopped);
    const struct tp_top_guest *g = tp_top_update(model, 60 * T + 3 * SECOND)->guests[0];
    assert_true(g->stopped && g->fps == 0);
    assert_true(g->still_ns > 3 * SECOND);
    show(0, 600, 60, 1);
    assert_false(tp_top_update(model, 660 * T)->guests[0]->stopped);
}

static void who_has_just_come_is_not_judged(void **state)
{
    (void)state;
    tp_top_guest(model, 0, "game", 5);
    assert_true(tp_top_update(model, SECOND)->guests[0]->is_new);
    assert_true(tp_top_update(model, 2 * SECOND)->guests[0]->is_new);
    assert_false(tp_top_update(model, 4 * SECOND)->guests[0]->is_new);
}

static void a_slow_guest_does_not_stand_still(void **state)
{
    (void)state;
    tp_top_guest(model, 0, "slide show", 5);
    show(0, 0, 600, 60); /* one a second */
    const struct tp_top_guest *g = tp_top_update(model, 540 * T + 3 * SECOND)->guests[0];
    assert_false(g->stopped);
    assert_true(g->fps > 0.99 && g->fps < 1.01);
}

static void the_screen_is_a_guest_while_it_shows_pictures_of_nobody(void **state)
{
    (void)state;
    tp_top_guest(model, TP_JOIN_SCREEN, "Virtual-1", 0);
    assert_int_equal(tp_top_update(model, SECOND)->n_guests, 0);
    show(TP_JOIN_SCREEN, 60, 60, 1);
    assert_true(tp_top_update(model, 2 * SECOND)->guests[0]->is_screen);
    assert_int_equal(tp_top_update(model, 6 * SECOND)->n_guests, 0);
}

static void a_frame_of_nobody_is_left_alone(void **state)
{
    (void)state;
    show(9, 0, 60, 1);
    assert_int_equal(tp_top_update(model, SECOND)->n_guests, 0);
}

static void late_and_torn_frames_are_marked_in_the_strip(void **state)
{
    (void)state;
    tp_top_guest(model, 0, "game", 5);
    show(0, 0, 30, 1);
    struct tp_frame_record f = frame(0, 40, 32 * T);
    f.torn = true;
    tp_top_frame(model, &f);
    const struct tp_top_guest *g = tp_top_update(model, SECOND)->guests[0];
    const struct tp_top_beat *last = &g->beats[g->n_beats - 1];
    assert_int_equal(last->stay, 3);
    assert_true(last->late && last->torn);
    assert_int_equal(last->interval_ns, 3 * T);
    assert_false(last[-1].late || last[-1].torn);
    assert_int_equal(g->bins[16], 29);
    assert_int_equal(g->bins[47], 1); /* 50 ms, and all that is longer */
}

/* --- gauges --- */

static void a_guests_gauges(uint64_t gauges[TP_GAUGES])
{
    memset(gauges, 0, TP_GAUGES * sizeof *gauges);
    gauges[TP_GAUGE_GATE] = TP_GATE_CAP;
    gauges[TP_GAUGE_CAP_MHZ] = 30000;
    gauges[TP_GAUGE_IMAGES] = 3;
    gauges[TP_GAUGE_CONNECTED] = 2;
    gauges[TP_GAUGE_SLOTS + 0] = 3 | 41 << 8;
    gauges[TP_GAUGE_SLOTS + 1] = 5 | 40 << 8;
}

static void slots_are_seen_as_they_move(void **state)
{
    (void)state;
    uint64_t gauges[TP_GAUGES];
    tp_top_guest(model, 0, "game", 5);
    a_guests_gauges(gauges);
    tp_top_gauges(model, 0, gauges);
    gauges[TP_GAUGE_SLOTS + 0] = 4 | 41 << 8;
    tp_top_gauges(model, 0, gauges);
    const struct tp_top_guest *g = tp_top_update(model, SECOND)->guests[0];
    assert_int_equal(g->n_slots, 3);
    assert_int_equal(g->n_looks, 2);
    assert_int_equal(g->slots[0].state, 4);
    assert_int_equal(g->slots[0].frame, 41);
    assert_int_equal(g->slots[0].looks[0], 3);
    assert_int_equal(g->slots[0].looks[1], 4);
    assert_int_equal(g->states[5], 2);
    assert_int_equal(g->states[3] + g->states[4], 2);
    for (unsigned i = 0; i < TP_TOP_LOOKS; i++)
        tp_top_gauges(model, 0, gauges);
    g = tp_top_update(model, SECOND)->guests[0];
    assert_int_equal(g->n_looks, TP_TOP_LOOKS);
    assert_int_equal(g->slots[0].looks[0], 4);
}

/* What was counted before top came is so far, and not lately. */
static void counts_are_so_far_and_of_the_last_seconds(void **state)
{
    (void)state;
    uint64_t gauges[TP_GAUGES];
    const struct tp_top_guest *g = NULL;
    tp_top_guest(model, 0, "game", 5);
    a_guests_gauges(gauges);
    for (int64_t second = 0; second < 30; second++) {
        gauges[TP_GAUGE_COUNTS + TP_COUNT_SLOT_WAITS] = 100 + (uint64_t)(second < 5 ? second : 5);
        tp_top_gauges(model, 0, gauges);
        g = tp_top_update(model, second * SECOND)->guests[0];
        if (second == 6)
            assert_int_equal(g->summary.counts[TP_COUNT_SLOT_WAITS], 5);
    }
    assert_int_equal(g->so_far[TP_COUNT_SLOT_WAITS], 105);
    assert_int_equal(g->summary.counts[TP_COUNT_SLOT_WAITS], 0);
}

/* Not to mix frames of before a change with those of after it. */
static void figures_begin_anew_with_another_cap(void **state)
{
    (void)state;
    uint64_t gauges[TP_GAUGES];
    tp_top_guest(model, 0, "game", 5);
    a_guests_gauges(gauges);
    gauges[TP_GAUGE_CAP_MHZ] = 0;
    tp_top_gauges(model, 0, gauges);
    show(0, 0, 240, 1);
    gauges[TP_GAUGE_COUNTS + TP_COUNT_SLOT_WAITS] = 7;
    tp_top_gauges(model, 0, gauges);
    const struct tp_top_guest *g = tp_top_update(model, 240 * T)->guests[0];
    assert_int_equal(g->summary.measures.cadence[1], 230);
    assert_int_equal(g->summary.counts[TP_COUNT_SLOT_WAITS], 7);
    gauges[TP_GAUGE_CAP_MHZ] = 30000;
    tp_top_gauges(model, 0, gauges);
    g = tp_top_update(model, 240 * T)->guests[0];
    assert_int_equal(g->window_ns, 0);
    show(0, 240, 120, 2);
    g = tp_top_update(model, 360 * T)->guests[0];
    assert_int_equal(g->summary.measures.cadence[1], 0);
    assert_int_equal(g->summary.measures.cadence[2], 50);
    assert_int_equal(g->summary.counts[TP_COUNT_SLOT_WAITS], 0);
    assert_int_equal(g->window_ns, 120 * T);
    assert_int_equal(g->bins[16], 0);
    assert_true(g->n_beats > 200); /* the strip goes on */
}

/* For who comes later, too: frames tell by which cap they were paced. */
static void figures_are_of_frames_with_the_cap_that_holds(void **state)
{
    (void)state;
    tp_top_guest(model, 0, "game", 5);
    show(0, 0, 240, 1);
    for (int64_t i = 240; i < 360; i += 2) {
        struct tp_frame_record f = frame(0, (uint64_t)i, i * T);
        f.cap_mhz = 30000;
        tp_top_frame(model, &f);
    }
    const struct tp_top_guest *g = tp_top_update(model, 360 * T)->guests[0];
    assert_int_equal(g->summary.measures.cadence[1], 0);
    assert_int_equal(g->summary.measures.cadence[2], 50);
    assert_int_equal(g->window_ns, 120 * T);
}

static void tears_are_known_where_the_screen_is_watched(void **state)
{
    (void)state;
    uint64_t gauges[TP_GAUGES] = {[TP_GAUGE_REFRESH_MHZ] = 60000, [TP_GAUGE_WIDTH] = 640};
    struct tp_refresh_record r = {.refresh_mhz = 60000, .from_ns = SECOND, .torn_ns = SECOND};
    tp_top_guest(model, 0, "game", 5);
    tp_top_screen_gauges(model, 0, "Virtual-1", gauges);
    tp_top_refresh(model, &r);
    assert_false(tp_top_update(model, SECOND)->guests[0]->summary.has_tears);
    gauges[TP_GAUGE_WATCHED] = 1;
    tp_top_screen_gauges(model, 0, "Virtual-1", gauges);
    const struct tp_top_snapshot *s = tp_top_update(model, SECOND);
    assert_true(s->guests[0]->summary.has_tears);
    assert_int_equal(s->guests[0]->summary.measures.tears, 1);
    assert_int_equal(s->screens[0].tears, 1);
    s = tp_top_update(model, 20 * SECOND);
    assert_int_equal(s->guests[0]->summary.measures.tears, 0);
    assert_int_equal(s->screens[0].tears, 1); /* so far */
}

/* Another process's words. */
static void numbers_of_any_size_do_no_harm(void **state)
{
    (void)state;
    uint64_t gauges[TP_GAUGES];
    static const int64_t instants[] = {-(INT64_C(1) << 60), INT64_C(1) << 60, 0, 1, TP_NEVER};
    memset(gauges, 0xff, sizeof gauges);
    for (unsigned i = 0; i < 2 * TP_TOP_GUESTS; i++) {
        tp_top_guest(model, i, "\033[2J\xff", -1);
        tp_top_gauges(model, i, gauges);
        tp_top_screen_gauges(model, i, "", gauges);
    }
    for (unsigned i = 0; i < 20000; i++) {
        struct tp_frame_record f = frame(i % 3, i, 0);
        struct tp_refresh_record r = {.from_ns = instants[i / 3 % 4], .torn_ns = TP_NEVER};
        f.line_ns = instants[i % 5];
        f.begin_ns = instants[i / 5 % 5];
        f.acquired_ns = instants[i / 25 % 5];
        f.asked_ns = instants[i / 125 % 5];
        f.released_ns = instants[i / 625 % 5];
        f.refresh_mhz = i % 7 ? 60000 : UINT32_MAX;
        f.cap_mhz = i % 11 ? 0 : UINT32_MAX;
        f.sequence = i % 13 ? i : UINT64_C(1) << 60;
        tp_top_frame(model, &f);
        tp_top_refresh(model, &r);
    }
    const struct tp_top_snapshot *s = tp_top_update(model, SECOND);
    assert_int_equal(s->n_guests, TP_TOP_GUESTS);
    assert_int_equal(s->n_screens, TP_TOP_SCREENS);
    assert_true(s->more_guests > 0);
    assert_true(s->guests[0]->n_slots <= TP_RING_SLOTS);
    assert_true(s->guests[0]->slots[0].state < TP_TOP_STATES);
}

static void a_server_that_is_forgotten_leaves_nothing(void **state)
{
    (void)state;
    uint64_t gauges[TP_GAUGES] = {0};
    struct tp_refresh_record r = {.torn_ns = 1};
    tp_top_guest(model, 0, "game", 5);
    tp_top_screen_gauges(model, 0, "Virtual-1", gauges);
    tp_top_refresh(model, &r);
    show(0, 0, 60, 1);
    tp_top_update(model, SECOND);
    tp_top_forget(model);
    const struct tp_top_snapshot *s = tp_top_update(model, SECOND);
    assert_int_equal(s->n_guests + s->n_screens, 0);
    tp_top_screen_gauges(model, 0, "Virtual-1", gauges);
    assert_int_equal(tp_top_update(model, SECOND)->screens[0].tears, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_healthy_run_is_called_healthy, begin, end),
        cmocka_unit_test_setup_teardown(lost_notes_are_named, begin, end),
        cmocka_unit_test_setup_teardown(late_fences_are_named, begin, end),
        cmocka_unit_test_setup_teardown(a_cap_that_beats_is_named, begin, end),
        cmocka_unit_test_setup_teardown(a_run_without_fences_is_seen_to_tear, begin, end),
        cmocka_unit_test_setup_teardown(its_numbers_are_those_of_report, begin, end),
        cmocka_unit_test_setup_teardown(figures_are_of_the_last_seconds_alone, begin, end),
        cmocka_unit_test_setup_teardown(two_guests_do_not_mix, begin, end),
        cmocka_unit_test_setup_teardown(who_shows_nothing_any_more_has_no_rate, begin, end),
        cmocka_unit_test_setup_teardown(who_has_just_come_is_not_judged, begin, end),
        cmocka_unit_test_setup_teardown(a_slow_guest_does_not_stand_still, begin, end),
        cmocka_unit_test_setup_teardown(
            the_screen_is_a_guest_while_it_shows_pictures_of_nobody, begin, end),
        cmocka_unit_test_setup_teardown(a_frame_of_nobody_is_left_alone, begin, end),
        cmocka_unit_test_setup_teardown(late_and_torn_frames_are_marked_in_the_strip, begin, end),
        cmocka_unit_test_setup_teardown(slots_are_seen_as_they_move, begin, end),
        cmocka_unit_test_setup_teardown(counts_are_so_far_and_of_the_last_seconds, begin, end),
        cmocka_unit_test_setup_teardown(figures_begin_anew_with_another_cap, begin, end),
        cmocka_unit_test_setup_teardown(figures_are_of_frames_with_the_cap_that_holds, begin, end),
        cmocka_unit_test_setup_teardown(tears_are_known_where_the_screen_is_watched, begin, end),
        cmocka_unit_test_setup_teardown(numbers_of_any_size_do_no_harm, begin, end),
        cmocka_unit_test_setup_teardown(a_server_that_is_forgotten_leaves_nothing, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
