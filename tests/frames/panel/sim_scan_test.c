/* The screen's model: expected instants are worked out from the rates beside each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/panel/sim_scan.h"

#define MS INT64_C(1000000)
#define LEAD (2 * MS)

/* 100 Hz: a refresh each 10 ms, 9 ms of it 90 lines. */
static const struct tp_scan_mode hundred = {100000, 0, 90, 10};
/* 20 to 100 Hz: 10 ms at the least, 50 ms at the most. */
static const struct tp_scan_mode range = {100000, 20000, 90, 10};

static struct tp_scan scan;
static struct tp_scan_event event;

static void start(const struct tp_scan_mode *mode, unsigned pipeline)
{
    assert_int_equal(tp_scan_init(&scan, mode, LEAD, pipeline, 0), 0);
}

static void publish(uint64_t serial, enum tp_scan_kind kind, int64_t at)
{
    assert_int_equal(tp_scan_publish(&scan, serial, kind, true, at), 0);
}

/* The next event but for refreshes that show nothing new. */
static enum tp_scan_event_type next(void)
{
    do
        assert_true(tp_scan_step(&scan, TP_SCAN_NEVER - 1, &event));
    while (event.type == TP_SCAN_REFRESH && !event.fresh);
    return event.type;
}

static void expect(enum tp_scan_event_type type, uint64_t serial, int64_t at)
{
    assert_int_equal(next(), type);
    assert_int_equal(event.serial, serial);
    assert_int_equal(event.time_ns, at);
}

/* The next refresh, whatever else is before it. */
static int64_t next_refresh(void)
{
    do
        assert_true(tp_scan_step(&scan, TP_SCAN_NEVER - 1, &event));
    while (event.type != TP_SCAN_REFRESH);
    return event.time_ns;
}

static void refreshes_and_lines_lie_on_an_exact_grid(void **state)
{
    const struct tp_scan_mode m = {59940, 0, 1080, 45};
    (void)state;
    assert_int_equal(tp_scan_init(&scan, &m, LEAD, 1, 7), 0);
    for (int64_t n = 0; n < 1000000; n++) {
        assert_int_equal(next_refresh(), 7 + n * 1000000000000 / 59940);
        assert_int_equal(event.sequence, n);
        assert_int_equal(event.period_ns, 16683350); /* 1e12 / 59940 = 16683350.02 */
    }
    /* Line 540 of 1125: 540 * 16683350.02 / 1125 = 8008008.01; line 1080: 16016016.02 */
    assert_int_equal(tp_scan_line_ns(&scan, 540), event.time_ns + 8008008);
    assert_int_equal(event.end_ns, event.time_ns + 16016016);
}

static void a_picture_is_shown_its_latch_and_the_pipeline_later(void **state)
{
    (void)state;
    for (unsigned d = 0; d <= 2; d++) {
        start(&hundred, d);
        publish(1, TP_SCAN_FIFO, 28 * MS); /* just in time for 30 ms */
        expect(TP_SCAN_LATCH, 1, 28 * MS);
        assert_int_equal(event.sequence, 3 + d);
        expect(TP_SCAN_REFRESH, 1, (30 + 10 * d) * MS);
        assert_int_equal(event.sequence, 3 + d);
        start(&hundred, d);
        publish(1, TP_SCAN_FIFO, 28 * MS + 1); /* too late */
        expect(TP_SCAN_LATCH, 1, 38 * MS);
        expect(TP_SCAN_REFRESH, 1, (40 + 10 * d) * MS);
    }
}

static void what_is_fifo_keeps_its_order_one_a_latch(void **state)
{
    (void)state;
    start(&hundred, 1);
    for (uint64_t i = 1; i <= 3; i++)
        publish(i, TP_SCAN_FIFO, 1 * MS);
    expect(TP_SCAN_LATCH, 1, 8 * MS);
    expect(TP_SCAN_LATCH, 2, 18 * MS);
    expect(TP_SCAN_REFRESH, 1, 20 * MS);
    expect(TP_SCAN_LATCH, 3, 28 * MS);
    expect(TP_SCAN_REFRESH, 2, 30 * MS);
    expect(TP_SCAN_RELEASE, 1, 30 * MS);
    expect(TP_SCAN_REFRESH, 3, 40 * MS);
    expect(TP_SCAN_RELEASE, 2, 40 * MS);
}

static void a_newer_one_takes_the_place_of_an_unshown_one(void **state)
{
    (void)state;
    start(&hundred, 1);
    publish(1, TP_SCAN_FIFO, 1 * MS);
    publish(2, TP_SCAN_MAILBOX, 2 * MS);
    publish(3, TP_SCAN_MAILBOX, 8 * MS);
    publish(4, TP_SCAN_MAILBOX, 8 * MS + 1);
    expect(TP_SCAN_DROP, 1, 8 * MS);
    expect(TP_SCAN_DROP, 2, 8 * MS);
    expect(TP_SCAN_LATCH, 3, 8 * MS);
    expect(TP_SCAN_LATCH, 4, 18 * MS);
    expect(TP_SCAN_REFRESH, 3, 20 * MS);
    expect(TP_SCAN_REFRESH, 4, 30 * MS);
    expect(TP_SCAN_RELEASE, 3, 30 * MS);
    assert_int_equal(scan.counts.dropped, 2);
    assert_int_equal(scan.counts.shown, 2);
}

/* 2 and 3 are dropped while 1 is on the screen: neither lets it go; 4 does. */
static void a_dropped_successor_does_not_release(void **state)
{
    (void)state;
    start(&hundred, 0);
    publish(1, TP_SCAN_FIFO, 0);
    expect(TP_SCAN_LATCH, 1, 8 * MS);
    expect(TP_SCAN_REFRESH, 1, 10 * MS);
    publish(2, TP_SCAN_FIFO, 11 * MS);
    publish(3, TP_SCAN_MAILBOX, 12 * MS);
    publish(4, TP_SCAN_MAILBOX, 13 * MS);
    expect(TP_SCAN_DROP, 2, 18 * MS);
    expect(TP_SCAN_DROP, 3, 18 * MS);
    expect(TP_SCAN_LATCH, 4, 18 * MS);
    expect(TP_SCAN_REFRESH, 4, 20 * MS);
    expect(TP_SCAN_RELEASE, 1, 20 * MS);
}

static void an_unsignalled_fence_holds_up_those_behind(void **state)
{
    (void)state;
    start(&hundred, 0);
    assert_int_equal(tp_scan_publish(&scan, 1, TP_SCAN_FIFO, false, 1 * MS), 0);
    publish(2, TP_SCAN_MAILBOX, 1 * MS);
    for (int64_t n = 0; n < 3; n++)
        assert_int_equal(next_refresh(), 10 * MS * n);
    assert_int_equal(event.serial, 0);
    tp_scan_ready(&scan, 1, 28 * MS + 1); /* after the latch for 30 ms */
    expect(TP_SCAN_DROP, 1, 38 * MS);
    expect(TP_SCAN_LATCH, 2, 38 * MS);
    expect(TP_SCAN_REFRESH, 2, 40 * MS);
}

static void an_async_one_takes_over_at_the_line_that_is_read(void **state)
{
    (void)state;
    start(&hundred, 1);
    publish(1, TP_SCAN_FIFO, 0);
    expect(TP_SCAN_LATCH, 1, 8 * MS);
    expect(TP_SCAN_REFRESH, 1, 20 * MS);
    publish(2, TP_SCAN_ASYNC, 23 * MS + 50000); /* 3.05 ms into it: line 30 */
    publish(3, TP_SCAN_ASYNC, 27 * MS);
    publish(4, TP_SCAN_ASYNC, 29 * MS + 500000); /* in the blanking */
    expect(TP_SCAN_FLIP, 2, 23 * MS + 50000);
    assert_int_equal(event.line, 30);
    assert_true(event.fresh);
    assert_int_equal(event.end_ns, 29 * MS);
    expect(TP_SCAN_RELEASE, 1, 23 * MS + 50000);
    expect(TP_SCAN_FLIP, 3, 27 * MS);
    assert_int_equal(event.line, 70);
    expect(TP_SCAN_RELEASE, 2, 27 * MS);
    expect(TP_SCAN_FLIP, 4, 29 * MS + 500000);
    assert_int_equal(event.line, 90);
    assert_false(event.fresh);
    expect(TP_SCAN_RELEASE, 3, 29 * MS + 500000);
    expect(TP_SCAN_REFRESH, 4, 30 * MS);
    assert_true(event.fresh);
    assert_int_equal(scan.counts.async_tears, 1); /* scan-outs, not flips */
    publish(5, TP_SCAN_ASYNC, 31 * MS);
    expect(TP_SCAN_FLIP, 5, 31 * MS);
    assert_int_equal(scan.counts.async_tears, 2);
}

static void an_async_one_waits_for_those_ahead_of_it(void **state)
{
    (void)state;
    start(&hundred, 1);
    publish(1, TP_SCAN_FIFO, 0);
    publish(2, TP_SCAN_ASYNC, 5 * MS); /* 1 is not shown before 20 ms */
    publish(3, TP_SCAN_ASYNC, 19 * MS);
    expect(TP_SCAN_LATCH, 1, 8 * MS);
    expect(TP_SCAN_REFRESH, 1, 20 * MS);
    expect(TP_SCAN_DROP, 2, 20 * MS);
    expect(TP_SCAN_FLIP, 3, 20 * MS);
    assert_int_equal(event.line, 0);
    expect(TP_SCAN_RELEASE, 1, 20 * MS);
    assert_int_equal(scan.counts.async_tears, 0); /* nothing of 1 was to be seen */
}

static void what_came_in_the_blanking_and_went_in_it_was_never_shown(void **state)
{
    (void)state;
    start(&hundred, 0);
    publish(1, TP_SCAN_ASYNC, 9 * MS + 100000);
    publish(2, TP_SCAN_ASYNC, 9 * MS + 200000);
    expect(TP_SCAN_FLIP, 1, 9 * MS + 100000);
    expect(TP_SCAN_FLIP, 2, 9 * MS + 200000);
    expect(TP_SCAN_DROP, 1, 9 * MS + 200000);
    expect(TP_SCAN_REFRESH, 2, 10 * MS);
    /* The same with one that is latched in the blanking, too. */
    assert_int_equal(tp_scan_init(&scan, &hundred, 0, 0, 0), 0);
    publish(1, TP_SCAN_ASYNC, 9 * MS + 100000);
    publish(2, TP_SCAN_FIFO, 9 * MS + 200000);
    expect(TP_SCAN_FLIP, 1, 9 * MS + 100000);
    expect(TP_SCAN_LATCH, 2, 10 * MS);
    expect(TP_SCAN_REFRESH, 2, 10 * MS);
    expect(TP_SCAN_DROP, 1, 10 * MS);
}

static void with_a_range_the_screen_waits_for_a_picture(void **state)
{
    (void)state;
    start(&range, 0);
    assert_int_equal(next_refresh(), 0);
    publish(1, TP_SCAN_FIFO, 3 * MS); /* too early: 10 ms after the one before; lead 2 ms */
    expect(TP_SCAN_LATCH, 1, 8 * MS);
    expect(TP_SCAN_REFRESH, 1, 10 * MS);
    publish(2, TP_SCAN_FIFO, 31 * MS);
    expect(TP_SCAN_LATCH, 2, 31 * MS);
    expect(TP_SCAN_REFRESH, 2, 33 * MS);
    expect(TP_SCAN_RELEASE, 1, 33 * MS);
    assert_int_equal(next_refresh(), 83 * MS); /* the longest: 50 ms */
    assert_int_equal(event.serial, 2);
    publish(3, TP_SCAN_FIFO, 84 * MS);
    expect(TP_SCAN_LATCH, 3, 91 * MS);
    expect(TP_SCAN_REFRESH, 3, 93 * MS);
}

static void a_range_has_the_pipeline_as_well(void **state)
{
    (void)state;
    start(&range, 1);
    publish(1, TP_SCAN_FIFO, 15 * MS);
    publish(2, TP_SCAN_FIFO, 16 * MS);
    expect(TP_SCAN_LATCH, 1, 15 * MS);
    expect(TP_SCAN_LATCH, 2, 25 * MS);   /* so that it comes 10 ms after 1 */
    expect(TP_SCAN_REFRESH, 1, 27 * MS); /* lead 2 ms, and 10 ms */
    expect(TP_SCAN_REFRESH, 2, 37 * MS);
}

/* It came 1 ms before the old one was due again. */
static void a_picture_that_meets_a_repeat_waits_for_its_end(void **state)
{
    (void)state;
    start(&range, 0);
    assert_int_equal(next_refresh(), 0);
    publish(1, TP_SCAN_FIFO, 49 * MS);
    publish(2, TP_SCAN_FIFO, 59 * MS + 500000);
    publish(3, TP_SCAN_MAILBOX, 65 * MS);
    expect(TP_SCAN_LATCH, 1, 49 * MS);
    assert_int_equal(next_refresh(), 50 * MS);
    expect(TP_SCAN_REFRESH, 1, 60 * MS);
    expect(TP_SCAN_DROP, 2, 68 * MS); /* none is taken while one waits */
    expect(TP_SCAN_LATCH, 3, 68 * MS);
    expect(TP_SCAN_REFRESH, 3, 70 * MS);
}

/* 12.5 pictures a second on 20–100 Hz: one each 80 ms; each is shown twice, at 40 ms. */
static void below_the_range_each_picture_is_repeated_evenly(void **state)
{
    (void)state;
    start(&range, 0);
    for (uint64_t i = 1; i < 20; i++) {
        int64_t at = (int64_t)i * 80 * MS;
        while (tp_scan_next(&scan) < at)
            tp_scan_step(&scan, at - 1, &event);
        publish(i, TP_SCAN_FIFO, at);
        expect(TP_SCAN_LATCH, i, at);
        expect(TP_SCAN_REFRESH, i, at + LEAD);
        if (i > 2) /* the interval is known from the second on */
            assert_int_equal(next_refresh(), at + LEAD + 40 * MS);
    }
    assert_int_equal(next_refresh(), (19 * 80 + 40 + 50) * MS + LEAD); /* no more come */
    /* A range that is less than double: 60 to 100 Hz, 16.67 ms; a repeat as late as may be */
    const struct tp_scan_mode narrow = {100000, 60000, 90, 10};
    start(&narrow, 0);
    for (uint64_t i = 1; i < 10; i++) {
        int64_t at = (int64_t)i * 25 * MS + 3 * MS;
        while (tp_scan_next(&scan) < at)
            tp_scan_step(&scan, at - 1, &event);
        publish(i, TP_SCAN_FIFO, at);
        expect(TP_SCAN_LATCH, i, event.time_ns + 8 * MS > at ? event.time_ns + 8 * MS : at);
        int64_t first = event.time_ns + LEAD;
        expect(TP_SCAN_REFRESH, i, first);
        assert_int_equal(next_refresh(), first + 16666666);
    }
}

static void another_rate_begins_with_the_next_refresh(void **state)
{
    const struct tp_scan_mode odd = {59940, 0, 90, 10};
    (void)state;
    start(&hundred, 1);
    assert_int_equal(next_refresh(), 0);
    assert_int_equal(next_refresh(), 10 * MS);
    assert_int_equal(tp_scan_set_mode(&scan, &odd, 13 * MS), 0);
    publish(1, TP_SCAN_FIFO, 14 * MS);
    expect(TP_SCAN_LATCH, 1, 18 * MS);
    assert_int_equal(next_refresh(), 20 * MS);
    assert_int_equal(event.period_ns, 16683350);
    expect(TP_SCAN_REFRESH, 1, 36683350);
    for (int64_t n = 2; n < 1000; n++)
        assert_int_equal(next_refresh(), 20 * MS + n * 1000000000000 / 59940);
    const struct tp_scan_mode slow = {1000000, 0, 90, 10}; /* a period of 1 ms: lead 2 ms */
    assert_int_equal(tp_scan_set_mode(&scan, &slow, scan.time_ns), -EINVAL);
}

static void a_fixed_rate_and_a_range_follow_one_another(void **state)
{
    (void)state;
    start(&range, 1);
    assert_int_equal(next_refresh(), 0);
    publish(1, TP_SCAN_FIFO, 5 * MS);
    expect(TP_SCAN_LATCH, 1, 5 * MS);
    assert_int_equal(tp_scan_set_mode(&scan, &hundred, 6 * MS), 0);
    assert_int_equal(next_refresh(), 10 * MS); /* as early as it may be */
    expect(TP_SCAN_REFRESH, 1, 20 * MS);
    assert_int_equal(next_refresh(), 30 * MS);
    assert_int_equal(tp_scan_set_mode(&scan, &range, 31 * MS), 0);
    publish(2, TP_SCAN_FIFO, 32 * MS);
    expect(TP_SCAN_LATCH, 2, 38 * MS);
    assert_int_equal(next_refresh(), 40 * MS);
    expect(TP_SCAN_REFRESH, 2, 50 * MS);
    expect(TP_SCAN_RELEASE, 1, 50 * MS);
    assert_int_equal(next_refresh(), 100 * MS);
}

static void a_screen_that_goes_off_lets_all_go(void **state)
{
    (void)state;
    start(&hundred, 1);
    publish(1, TP_SCAN_FIFO, 0);
    publish(2, TP_SCAN_FIFO, 0);
    publish(3, TP_SCAN_FIFO, 0);
    expect(TP_SCAN_LATCH, 1, 8 * MS);
    expect(TP_SCAN_LATCH, 2, 18 * MS);
    expect(TP_SCAN_REFRESH, 1, 20 * MS);
    tp_scan_set_power(&scan, false, 23 * MS);
    expect(TP_SCAN_DROP, 2, 23 * MS);
    expect(TP_SCAN_DROP, 3, 23 * MS);
    expect(TP_SCAN_RELEASE, 1, 23 * MS);
    assert_false(tp_scan_step(&scan, TP_SCAN_NEVER, &event));
    assert_true(tp_scan_next(&scan) == TP_SCAN_NEVER);
    assert_int_equal(tp_scan_publish(&scan, 4, TP_SCAN_FIFO, true, 24 * MS), -ENODEV);
    tp_scan_set_power(&scan, true, 91 * MS);
    publish(4, TP_SCAN_FIFO, 92 * MS);
    assert_int_equal(next_refresh(), 91 * MS);
    assert_int_equal(event.sequence, 3);
    expect(TP_SCAN_LATCH, 4, 99 * MS);
    expect(TP_SCAN_REFRESH, 4, 111 * MS);
}

/* What it repeated evenly before is not repeated any more. */
static void with_a_range_a_screen_that_is_on_again_goes_on_from_there(void **state)
{
    (void)state;
    start(&range, 0);
    assert_int_equal(next_refresh(), 0);
    publish(1, TP_SCAN_FIFO, 10 * MS);
    expect(TP_SCAN_LATCH, 1, 10 * MS);
    expect(TP_SCAN_REFRESH, 1, 12 * MS);
    assert_int_equal(next_refresh(), 62 * MS);
    publish(2, TP_SCAN_FIFO, 90 * MS);
    expect(TP_SCAN_LATCH, 2, 90 * MS);
    expect(TP_SCAN_REFRESH, 2, 92 * MS);
    tp_scan_set_power(&scan, false, 95 * MS);
    expect(TP_SCAN_RELEASE, 1, 92 * MS);
    expect(TP_SCAN_RELEASE, 2, 95 * MS);
    tp_scan_set_power(&scan, true, 300 * MS);
    assert_int_equal(next_refresh(), 300 * MS);
    assert_int_equal(next_refresh(), 350 * MS);
}

static void what_no_screen_can_be_is_refused(void **state)
{
    static const struct {
        struct tp_scan_mode mode;
        int64_t lead_ns;
        unsigned pipeline;
    } wrong[] = {
        {{0, 0, 90, 10}, 0, 1},
        {{100000, 0, 0, 10}, 0, 1},
        {{100000, 0, 90, 10}, -1, 1},
        {{100000, 0, 90, 10}, 10 * MS, 1},
        {{100000, 0, 90, 10}, 0, 3},
        {{100000, 100001, 90, 10}, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            tp_scan_init(&scan, &wrong[i].mode, wrong[i].lead_ns, wrong[i].pipeline, 0), -EINVAL);
    start(&hundred, 0);
    for (uint64_t i = 1; i <= TP_SCAN_QUEUE; i++)
        publish(i, TP_SCAN_FIFO, 0);
    assert_int_equal(tp_scan_publish(&scan, 99, TP_SCAN_FIFO, true, 0), -EAGAIN);
}

/* --- at length --- */

static uint64_t seed_state;

static uint32_t random_to(uint32_t n)
{
    seed_state = seed_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed_state >> 33) % n;
}

#define PICTURES 100000u

/* A run as a table, made before the model sees any of it. */
static struct planned {
    int64_t published_ns, ready_ns;
    enum tp_scan_kind kind;
    int64_t shown_ns, gone_ns; /* 0: never */
} plan[PICTURES + 1];

static void make_plan(int64_t period)
{
    int64_t at = 0;
    for (unsigned i = 1; i <= PICTURES; i++) {
        bool late = random_to(8) == 0;
        at += random_to((uint32_t)period * 9 / 4);
        if (random_to(50) == 0)
            at += 20 * period; /* the queue has time to empty */
        plan[i] = (struct planned){.published_ns = at,
            .ready_ns = at + (late ? random_to((uint32_t)period * 2) : 0),
            .kind = random_to(3) ? TP_SCAN_FIFO : TP_SCAN_MAILBOX};
    }
}

/* What becomes of each by the rules, refresh by refresh with the whole plan in view. Answers the
 * refresh after the last. */
static void work_out(uint32_t mhz, int64_t lead, unsigned pipeline)
{
    unsigned head = 1, on = 0;
    for (int64_t n = 0; head <= PICTURES; n++) {
        int64_t latch = n * 1000000000000 / mhz - lead;
        int64_t shown = (n + pipeline) * 1000000000000 / mhz;
        if (n == 0 || plan[head].ready_ns > latch) /* the screen was off before 0 */
            continue;
        while (head < PICTURES && plan[head + 1].ready_ns <= latch &&
            plan[head + 1].kind == TP_SCAN_MAILBOX)
            plan[head++].gone_ns = latch;
        plan[head].shown_ns = shown;
        plan[on].gone_ns = shown;
        on = head++;
    }
}

static void note(void)
{
    struct planned *p = &plan[event.serial];
    if (event.type == TP_SCAN_DROP) {
        assert_int_equal(p->shown_ns, 0);
        assert_int_equal(p->gone_ns, event.time_ns);
        p->gone_ns = -1;
    } else if (event.type == TP_SCAN_REFRESH && event.fresh) {
        assert_int_equal(p->shown_ns, event.time_ns);
        p->shown_ns = -1;
    } else if (event.type == TP_SCAN_RELEASE) {
        assert_int_equal(p->shown_ns, -1);
        assert_int_equal(p->gone_ns, event.time_ns);
        p->gone_ns = -1;
    }
}

/* The model is told of each thing as it happens, and asked at odd times; every instant is that of
 * the table. */
static void a_million_events_are_as_the_rules_have_them(void **state)
{
    static const uint32_t rates[] = {60000, 59940, 72000, 90000, 120000, 144000};
    unsigned long events = 0;
    (void)state;
    for (unsigned run = 0; run < 12; run++) {
        const struct tp_scan_mode m = {rates[run % 6], 0, 1080, 30 + run};
        int64_t lead = run % 4 ? 1650000 : 0;
        unsigned pipeline = run % 3, unready[TP_SCAN_QUEUE + 1], n_unready = 0, i = 1;
        seed_state = run + 1;
        make_plan(1000000000000 / m.refresh_mhz);
        work_out(m.refresh_mhz, lead, pipeline);
        assert_int_equal(tp_scan_init(&scan, &m, lead, pipeline, 0), 0);
        while (i <= PICTURES || n_unready > 0) {
            int64_t at = i <= PICTURES ? plan[i].published_ns : TP_SCAN_NEVER;
            unsigned which = 0;
            for (unsigned k = 0; k < n_unready; k++)
                if (plan[unready[k]].ready_ns < at) {
                    at = plan[unready[k]].ready_ns;
                    which = k + 1;
                }
            if (random_to(3) || scan.n_queue > TP_SCAN_QUEUE / 2) /* else it is asked later */
                while (tp_scan_step(&scan, at - 1, &event)) {
                    note();
                    events++;
                }
            if (which) {
                tp_scan_ready(&scan, unready[which - 1], at);
                unready[which - 1] = unready[--n_unready];
                continue;
            }
            bool ready = plan[i].ready_ns == at;
            assert_int_equal(tp_scan_publish(&scan, i, plan[i].kind, ready, at), 0);
            if (!ready)
                unready[n_unready++] = i;
            i++;
        }
        while (scan.n_queue > 0 || scan.n_taken > 0 || scan.n_events > 0) {
            assert_true(tp_scan_step(&scan, TP_SCAN_NEVER - 1, &event));
            note();
            events++;
        }
        for (i = 1; i <= PICTURES; i++)
            assert_true(plan[i].gone_ns == -1 || (plan[i].gone_ns == 0 && i == scan.shown));
        assert_int_equal(scan.counts.dropped + scan.counts.shown, PICTURES);
    }
    assert_true(events > 1000000);
}

/* What must hold of any screen, with everything that can be asked of one, in any order. */
static void whatever_is_asked_of_it_the_rules_hold(void **state)
{
    static uint8_t fate[2000001]; /* 1: published; 2: its first line was shown; 3: free again */
    uint64_t serial = 0, on = 0, events = 0, last_sequence = 0;
    int64_t now = 0, last_ns = 0, refresh_ns = -1, shortest = 0;
    struct tp_scan_mode m = hundred;
    (void)state;
    seed_state = 42;
    start(&m, 1);
    for (unsigned turn = 0; turn < 2000000; turn++) {
        now += random_to(8) ? random_to(3 * MS) : random_to(80 * MS);
        while (tp_scan_step(&scan, now, &event)) {
            uint8_t *f = &fate[event.serial];
            events++;
            assert_in_range(event.time_ns, last_ns, now);
            last_ns = event.time_ns;
            switch (event.type) {
            case TP_SCAN_LATCH:
                assert_int_equal(*f, 1);
                break;
            case TP_SCAN_DROP:
                assert_int_equal(*f, 1);
                *f = 3;
                on = on == event.serial ? 0 : on;
                break;
            case TP_SCAN_RELEASE:
                assert_int_equal(*f, 2);
                assert_true(event.serial != scan.shown);
                *f = 3;
                break;
            case TP_SCAN_REFRESH:
                /* Rates may have changed between, to no less than 8 ms. */
                if (refresh_ns >= 0) {
                    assert_true(event.time_ns - refresh_ns >= shortest - 1);
                    assert_true(event.time_ns - refresh_ns <= 50 * MS);
                    assert_int_equal(event.sequence, last_sequence + 1);
                }
                refresh_ns = event.time_ns;
                shortest = event.period_ns;
                last_sequence = event.sequence;
                /* fall through */
            case TP_SCAN_FLIP:
                if (event.fresh) {
                    assert_int_equal(*f, 1);
                    *f = 2;
                } else if (event.serial && event.type == TP_SCAN_REFRESH) {
                    assert_int_equal(*f, 2);
                }
                assert_true(event.serial >= on); /* never back to an older one */
                on = event.serial;
                break;
            }
        }
        switch (random_to(1000)) {
        case 0:
            m.refresh_mhz = 60000 + random_to(60000);
            m.slowest_mhz = random_to(2) ? 20000 : 0;
            assert_int_equal(tp_scan_set_mode(&scan, &m, now), 0);
            break;
        case 1:
            tp_scan_set_power(&scan, !scan.on, now);
            refresh_ns = -1;
            on = 0;
            break;
        default:
            if (scan.on && scan.n_queue < TP_SCAN_QUEUE && random_to(3)) {
                serial++;
                fate[serial] = 1;
                assert_int_equal(tp_scan_publish(&scan, serial, (enum tp_scan_kind)random_to(3),
                                     random_to(4), now),
                    0);
            }
            for (unsigned i = 0; i < scan.n_queue; i++)
                if (random_to(3) == 0)
                    tp_scan_ready(&scan, scan.queue[i].serial, now);
            break;
        }
    }
    tp_scan_set_power(&scan, false, now);
    while (tp_scan_step(&scan, now, &event))
        fate[event.serial] = 3;
    for (uint64_t i = 1; i <= serial; i++)
        assert_int_equal(fate[i], 3);
    assert_true(events > 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refreshes_and_lines_lie_on_an_exact_grid),
        cmocka_unit_test(a_picture_is_shown_its_latch_and_the_pipeline_later),
        cmocka_unit_test(what_is_fifo_keeps_its_order_one_a_latch),
        cmocka_unit_test(a_newer_one_takes_the_place_of_an_unshown_one),
        cmocka_unit_test(a_dropped_successor_does_not_release),
        cmocka_unit_test(an_unsignalled_fence_holds_up_those_behind),
        cmocka_unit_test(an_async_one_takes_over_at_the_line_that_is_read),
        cmocka_unit_test(an_async_one_waits_for_those_ahead_of_it),
        cmocka_unit_test(what_came_in_the_blanking_and_went_in_it_was_never_shown),
        cmocka_unit_test(with_a_range_the_screen_waits_for_a_picture),
        cmocka_unit_test(a_range_has_the_pipeline_as_well),
        cmocka_unit_test(a_picture_that_meets_a_repeat_waits_for_its_end),
        cmocka_unit_test(below_the_range_each_picture_is_repeated_evenly),
        cmocka_unit_test(another_rate_begins_with_the_next_refresh),
        cmocka_unit_test(a_fixed_rate_and_a_range_follow_one_another),
        cmocka_unit_test(a_screen_that_goes_off_lets_all_go),
        cmocka_unit_test(with_a_range_a_screen_that_is_on_again_goes_on_from_there),
        cmocka_unit_test(what_no_screen_can_be_is_refused),
        cmocka_unit_test(a_million_events_are_as_the_rules_have_them),
        cmocka_unit_test(whatever_is_asked_of_it_the_rules_hold),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
