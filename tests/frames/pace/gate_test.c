/* The gate, with a guest and a panel that are a few lines of arithmetic each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/pace/cap.h"
#include "frames/pace/cost.h"
#include "frames/pace/gate_internal.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define MHZ_NS INT64_C(1000000000000)
#define LEAD INT64_C(1650000)
#define KEPT 100000
#define SETTLED 500 /* frames: latency counts from there on */

/* An early guest that always has an image, on a panel with a queue. */
struct run {
    int64_t mhz, base;              /* the panel's */
    int64_t cpu_ns, gpu_ns;         /* of each frame; the GPU goes on where the CPU ends */
    int64_t (*more)(int64_t frame); /* what the GPU takes longer, per frame */
    int64_t sleep_late_ns;          /* how much later than asked for it wakes */
    bool in_turn;                   /* the CPU begins a frame when the GPU has ended the last */
    bool silent;                    /* the gate is not told what became of frames */
    int64_t untimed;                /* frames before it hears of the panel */
    int64_t way;                    /* refreshes from the latch to the panel, besides */
    int64_t compositor_ns;          /* before the latch */
    bool feedback;                  /* it hears of the panel from a compositor */

    struct tp_gate *gate;
    int64_t now, gpu_free, frame, told;
    int64_t shown, first, last, previous; /* refreshes, by number */
    int64_t stays[16], starts[KEPT], latency_ns;
    int64_t ready[4];
    uint64_t ids[4];
    struct {
        uint64_t id;
        int64_t at;
    } lines[64];
    int64_t told_lines;
};

static int64_t refresh(const struct run *r, int64_t n)
{
    return r->base + n / r->mhz * MHZ_NS + n % r->mhz * MHZ_NS / r->mhz;
}

/* The first refresh whose latch is not before t. */
static int64_t latched(const struct run *r, int64_t t)
{
    int64_t n = (t + LEAD - r->base) / (MHZ_NS / r->mhz) - 2;
    while (refresh(r, n) - LEAD < t)
        n++;
    return n;
}

static void begin(struct run *r, enum tp_gate_mode mode, uint32_t cap_mhz)
{
    struct tp_gate_settings s = {.mode = mode, .cap_mhz = cap_mhz};
    assert_int_equal(tp_gate_create(&s, &r->gate), 0);
    if (r->base == 0)
        r->base = SECOND;
    r->now = r->base;
    r->first = r->last = r->told = -1;
}

static void tell_timeline(struct run *r)
{
    int64_t n = (r->now - r->base) / (MHZ_NS / r->mhz) + 1;
    while (refresh(r, n) > r->now)
        n--;
    if (n <= r->told || r->frame < r->untimed)
        return;
    struct tp_timeline_frame t = {.pipeline = 1,
        .sequence = (uint64_t)n,
        .time_ns = refresh(r, n),
        .period_ns = MHZ_NS / r->mhz,
        .lead_ns = LEAD};
    if (r->feedback)
        tp_gate_feedback(r->gate, &t);
    else
        tp_gate_timeline(r->gate, &t);
    r->told = n;
}

static void tell_ready(struct run *r)
{
    for (int64_t f = r->frame > 4 ? r->frame - 4 : 0; f < r->frame && !r->silent; f++)
        if (r->ready[f % 4] <= r->now)
            tp_gate_ready(r->gate, r->ids[f % 4], r->ready[f % 4]);
    for (; r->told_lines < r->frame && r->lines[r->told_lines % 64].at <= r->now; r->told_lines++)
        if (!r->silent)
            tp_gate_shown(
                r->gate, r->lines[r->told_lines % 64].id, r->lines[r->told_lines % 64].at);
}

static void do_frame(struct run *r)
{
    struct tp_gate_plan p;
    int64_t asked = r->now;
    if (r->frame >= 4 && r->now < r->ready[r->frame % 4]) /* it has four images */
        r->now = r->ready[r->frame % 4];
    tell_timeline(r);
    tell_ready(r);
    tp_gate_plan(r->gate, asked, r->now, asked, false, &p);
    for (int again = 0; p.start_ns > r->now && again < 3; again++) {
        assert_true(p.start_ns < r->now + SECOND);
        r->now = p.start_ns + r->sleep_late_ns;
        tell_timeline(r);
        tell_ready(r);
        tp_gate_plan(r->gate, asked, r->now, asked, false, &p);
        if (p.start_ns < r->now + MS)
            break;
    }
    int64_t start = r->now, more = r->more ? r->more(r->frame) : 0;
    uint64_t id = tp_gate_book(r->gate, &p, start);
    int64_t entry = start + r->cpu_ns;
    int64_t gpu = entry > r->gpu_free ? entry : r->gpu_free;
    r->gpu_free = gpu + r->gpu_ns + more;
    r->ids[r->frame % 4] = id;
    r->ready[r->frame % 4] = r->gpu_free;
    if (!r->silent)
        tp_gate_presented(r->gate, id, entry, entry);
    struct tp_gate_frame f;
    assert_true(tp_gate_frame(r->gate, id, &f));
    int64_t from = r->gpu_free > f.commit_ns ? r->gpu_free : f.commit_ns;
    int64_t n = latched(r, from + r->compositor_ns);
    if (n <= r->last)
        n = r->last + 1;
    if (r->last >= 0 && n - r->last < 16 && r->frame > 20)
        r->stays[n - r->last]++;
    if (r->frame == 20)
        r->first = n;
    r->last = n;
    r->shown++;
    int64_t line = refresh(r, n + 1 + r->way);
    r->lines[r->frame % 64].id = id;
    r->lines[r->frame % 64].at = line;
    if (r->frame >= SETTLED)
        r->latency_ns += line - start;
    r->starts[r->frame % KEPT] = start;
    r->frame++;
    r->now = r->in_turn ? r->gpu_free : entry;
}

static void go(struct run *r, int64_t frames)
{
    for (int64_t i = 0; i < frames; i++)
        do_frame(r);
}

static double fps(const struct run *r)
{
    return (double)(r->frame - 21) / ((double)(refresh(r, r->last) - refresh(r, r->first)) / 1e9);
}

static uint64_t gate_late(const struct run *r)
{
    struct tp_gate_counts n;
    tp_gate_counts(r->gate, &n);
    return n.gate_late;
}

/* From a frame's start to its first line, once it has settled. */
static double per_frame_ms(const struct run *r)
{
    return (double)r->latency_ns / (double)(r->frame - SETTLED) / 1e6;
}

static void end(struct run *r)
{
    tp_gate_destroy(r->gate);
    free(r);
}

static struct run *make(int64_t mhz, int64_t cpu_us, int64_t gpu_us)
{
    struct run *r = calloc(1, sizeof *r);
    *r = (struct run){.mhz = mhz, .cpu_ns = cpu_us * 1000, .gpu_ns = gpu_us * 1000};
    return r;
}

static uint64_t seed;

static int64_t random_to(int64_t most)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(seed >> 33) % most;
}

static void assert_near(int64_t a, int64_t b, int64_t most)
{
    if (a - b > most || b - a > most)
        fail_msg("%lld, not %lld to %lld", (long long)a, (long long)b, (long long)most);
}

static void assert_fps(const struct run *r, double expected, double share)
{
    double is = fps(r);
    if (is < expected * (1 - share) || is > expected * (1 + share))
        fail_msg("%f fps, not %f", is, expected);
}

/* --- settings --- */

static void cap_needs_a_cap(void **data)
{
    (void)data;
    struct tp_gate *g;
    struct tp_gate_settings s = {.mode = TP_GATE_CAP};
    assert_int_equal(tp_gate_create(&s, &g), -EINVAL);
    assert_null(g);
    s.mode = (enum tp_gate_mode)9;
    assert_int_equal(tp_gate_create(&s, &g), -EINVAL);
    s = (struct tp_gate_settings){.mode = TP_GATE_VSYNC};
    assert_int_equal(tp_gate_create(&s, &g), 0);
    s.mode = TP_GATE_CAP;
    assert_int_equal(tp_gate_set(g, &s), -EINVAL);
    assert_int_equal(tp_gate_get(g).mode, TP_GATE_VSYNC);
    tp_gate_destroy(g);
}

/* --- cost --- */

static void quantiles_are_those_of_the_last_samples(void **data)
{
    (void)data;
    struct tp_cost c = {0};
    assert_int_equal(tp_cost_quantile(&c, 500), 0);
    for (int64_t i = 0; i < 5000; i++)
        tp_cost_add(&c, random_to(1000000));
    for (int64_t i = 0; i < 128; i++) /* 1 to 128, in an order of its own */
        tp_cost_add(&c, i * 37 % 128 + 1);
    assert_int_equal(tp_cost_quantile(&c, 0), 1);
    assert_int_equal(tp_cost_quantile(&c, 500), 64);
    assert_int_equal(tp_cost_quantile(&c, 990), 127);
    assert_int_equal(tp_cost_quantile(&c, 1000), 128);
}

/* --- caps --- */

static void caps_near_a_divisor_are_that_divisor(void **data)
{
    (void)data;
    static const struct {
        uint32_t cap, refresh;
        unsigned n;
    } cases[] = {
        {60000, 60000, 1},
        {60000, 59950, 1},
        {60000, 60300, 1},
        {59500, 60000, 1},
        {59400, 60000, 0},
        {30000, 60000, 2},
        {30000, 59940, 2},
        {30400, 60000, 2},
        {45000, 60000, 0},
        {40000, 60000, 0},
        {40000, 120000, 3},
        {45000, 90000, 2},
        {60000, 90000, 0},
        {72000, 144000, 2},
        {90000, 60000, 1},
        {20000, 60000, 3},
        {29400, 60000, 0},
        {60000, 120000, 2},
        {60000, 119880, 2},
        {48000, 144000, 3},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tp_cap_lock(cases[i].cap, MHZ_NS / cases[i].refresh) != cases[i].n)
            fail_msg("cap %u at %u: %u", cases[i].cap, cases[i].refresh,
                tp_cap_lock(cases[i].cap, MHZ_NS / cases[i].refresh));
}

/* 45 fps for a week: 27 million frames, counted from one instant, none early or late by half a
 * nanosecond. */
static void a_week_of_a_caps_clock_is_exact(void **data)
{
    (void)data;
    static const uint32_t caps[] = {45000, 59950, 30000, 143856, 23976};
    for (unsigned c = 0; c < sizeof caps / sizeof *caps; c++) {
        int64_t frames = 7 * 86400 * (int64_t)caps[c] / 1000;
        tp_fine t = 0, period = tp_cap_period(caps[c]);
        for (int64_t i = 0; i < frames; i++)
            t += period;
        int64_t exact = (int64_t)((tp_fine)frames * MHZ_NS / caps[c]);
        int64_t off = tp_fine_ns(t) - exact;
        assert_true(off >= -1 && off <= 1);
    }
}

/* A clock that falls halfway between two refreshes does not waver when both have some jitter. */
static void halfway_the_steps_stay_regular(void **data)
{
    (void)data;
    tp_fine period = tp_fine_of(16666667), clock = tp_fine_of(100), latch = tp_fine_of(0);
    int64_t before = 0;
    seed = 5;
    for (int i = 0; i < 100000; i++) {
        clock += tp_fine_of(25000000);
        int64_t n = tp_cap_steps(latch, clock + tp_fine_of(random_to(400001) - 200000), period);
        assert_true(n == 1 || n == 2);
        assert_true(n != before);
        before = n;
        latch += n * period;
        if (i % 2) /* what rounds 16666667 is no part of this */
            latch = clock;
    }
}

/* --- vsync --- */

static void vsync_starts_on_the_grid_and_every_refresh_shows_a_frame(void **data)
{
    (void)data;
    static const int64_t rates[] = {59950, 60000, 72000, 90000, 120000, 144000};
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++) {
        int64_t T = MHZ_NS / rates[i] / 1000; /* µs */
        struct run *r = make(rates[i], T * 30 / 100, T * 60 / 100);
        begin(r, TP_GATE_VSYNC, 0);
        go(r, 20000);
        assert_int_equal(r->stays[1], 19979);
        assert_int_equal(gate_late(r), 0);
        /* To the latch a whole period, and one through the pipeline. */
        int64_t per = r->latency_ns / (r->frame - SETTLED), expected = MHZ_NS / rates[i] * 2 + LEAD;
        assert_near(per, expected, 20000);
        end(r);
    }
}

static void a_frame_that_comes_late_starts_at_once_and_joins_the_grid_again(void **data)
{
    (void)data;
    struct run *r = make(60000, 5000, 5000);
    struct tp_gate_plan p;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 100);
    r->now += 20 * MS; /* the guest was busy */
    tell_timeline(r);
    tell_ready(r);
    tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
    assert_true(p.start_ns <= r->now);
    go(r, 3);
    int64_t T = MHZ_NS / 60000, off = (r->starts[102] + LEAD - r->base) % T;
    assert_true(off < 2000 || off > T - 2000);
    end(r);
}

static int64_t one_in_200_doubles(int64_t frame)
{
    return frame % 200 == 100 ? 20 * MS : 0;
}

static int64_t one_in_2000_doubles(int64_t frame)
{
    return frame % 2000 == 0 ? 20 * MS : 0;
}

/* A frame that takes two periods costs the refresh that it missed and nothing else, and leaves no
 * queue behind. */
static void a_slow_frame_costs_one_refresh_and_no_queue(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->more = one_in_2000_doubles;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 40021);
    assert_int_equal(r->stays[1] + r->stays[2], 40000);
    assert_int_equal(r->stays[2], 20);
    double per = (double)r->latency_ns / (double)(r->frame - SETTLED) / 1e6;
    assert_true(per < 2 * 16.667 + 1.65 + 3); /* 35 ms; a queue of one would be 52 */
    end(r);
}

/* CPU and GPU of successive frames work side by side: 20 ms a frame, and 60 of them a second. */
static void a_frame_longer_than_a_period_is_started_earlier(void **data)
{
    (void)data;
    struct run *r = make(60000, 9000, 12000);
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 20000);
    assert_fps(r, 60, 0.001);
    assert_true(gate_late(r) < 5);
    end(r);
}

/* 17.5 ms of CPU: 57 fps, not 30 and not 45. */
static void a_guest_that_is_too_slow_is_never_made_slower(void **data)
{
    (void)data;
    static const struct {
        int64_t cpu, gpu;
        double most;
    } cases[] = {{17500, 1000, 57.14}, {2000, 17500, 57.14}, {9000, 18000, 55.55},
        {21000, 1000, 47.61}, {1000, 40000, 25}};
    static const enum tp_gate_mode modes[] = {TP_GATE_VSYNC, TP_GATE_CAP, TP_GATE_LATENCY};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned m = 0; m < 3; m++) {
            struct run *r = make(60000, cases[i].cpu, cases[i].gpu);
            begin(r, modes[m], modes[m] == TP_GATE_CAP ? 60000 : 0);
            go(r, 20000);
            assert_fps(r, cases[i].most, 0.005);
            end(r);
        }
}

static int64_t one_in_forty_doubles(int64_t frame)
{
    return frame % 40 == 0 ? 18 * MS : 0;
}

/* At half the refresh there are two periods for a frame; where the guest needs them it gets them.
 */
static void a_cap_gives_a_heavy_scene_its_whole_interval(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->more = one_in_forty_doubles;
    begin(r, TP_GATE_CAP, 30000);
    go(r, 20021);
    assert_true(r->stays[2] >= 19995);
    end(r);
}

/* A queue that a mode off has left, or that was there before the gate knew of the panel. */
static void a_queue_is_taken_down(void **data)
{
    (void)data;
    for (int i = 0; i < 2; i++) {
        struct run *r = make(60000, 1000, 3000);
        struct tp_gate_settings s = {.mode = TP_GATE_VSYNC};
        r->untimed = i == 0 ? 0 : 9;
        begin(r, i == 0 ? TP_GATE_OFF : TP_GATE_VSYNC, 0);
        go(r, 9);
        assert_int_equal(tp_gate_set(r->gate, &s), 0);
        go(r, SETTLED - 9);
        int64_t before = r->stays[1];
        go(r, 1000);
        assert_int_equal(r->stays[1] - before, 1000);
        assert_true((double)r->latency_ns / 1000 / 1e6 < 2 * 16.667 + 1.65 + 0.1);
        end(r);
    }
}

/* A compositor that shows all a refresh later is no queue: two refreshes are spent to see that. */
static void a_longer_way_to_the_panel_is_no_queue(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->way = 1;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 10000);
    assert_true(r->stays[1] >= 9977);
    assert_true(per_frame_ms(r) < 3 * 16.667 + 1.65 + 0.1); /* nor is a frame begun earlier */
    end(r);
}

/* Where no server tells how long the way is, the first frame of all, which found no queue, does. */
static void a_way_that_is_shorter_than_assumed_is_learnt(void **data)
{
    (void)data;
    for (int feedback = 0; feedback < 2; feedback++) {
        struct run *r = make(60000, 1000, 3000);
        r->way = -1;
        r->untimed = 9;
        r->feedback = feedback;
        begin(r, TP_GATE_VSYNC, 0);
        go(r, 2000);
        assert_true((per_frame_ms(r) < 16.667 + 1.65 + 0.1) == feedback);
        end(r);
    }
}

/* In refreshes that a compositor which is slow, too, adds: latency starts as much earlier. */
static void latency_learns_a_compositors_time_behind_a_longer_way(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 5000);
    r->way = 1;
    r->compositor_ns = 4 * MS;
    r->feedback = true;
    begin(r, TP_GATE_LATENCY, 0);
    go(r, 10000);
    assert_true(r->stays[1] >= 9960);
    assert_true(per_frame_ms(r) < 8 + 4 + 1.65 + 2 * 16.667 + 3);
    end(r);
}

/* The GPU's backlog is not let grow: a frame waits for less than one other. */
static void a_busy_gpu_has_no_queue_of_frames(void **data)
{
    (void)data;
    struct run *r = make(60000, 1000, 25000);
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 10000);
    double per = (double)r->latency_ns / (double)(r->frame - SETTLED) / 1e6;
    assert_true(per < 26 + 2 * 16.67 + 1.65 + 5);
    end(r);
}

static void without_being_told_of_frames_the_grid_still_holds(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->silent = true;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 10000);
    assert_int_equal(r->stays[1], 9979);
    end(r);
}

static void sleeps_that_are_late_do_not_add_up(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->sleep_late_ns = 400000;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 10000);
    assert_int_equal(r->stays[1], 9979);
    assert_int_equal(gate_late(r), 0);
    end(r);
}

/* --- cap --- */

static void half_the_refresh_stays_two(void **data)
{
    (void)data;
    for (int i = 0; i < 2; i++) {
        struct run *r = make(i ? 59950 : 60000, 3000, 9000);
        begin(r, TP_GATE_CAP, 30000);
        go(r, 20000);
        assert_int_equal(r->stays[2], 19979);
        assert_int_equal(gate_late(r), 0);
        end(r);
    }
}

static void a_cap_that_is_no_divisor_stays_one_or_two_and_is_exact(void **data)
{
    (void)data;
    static const struct {
        int64_t mhz;
        uint32_t cap;
    } cases[] = {{60000, 45000}, {60000, 40000}, {59950, 45000}, {90000, 60000}, {144000, 90000},
        {120000, 72000}, {60000, 50000}, {60000, 37123}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run *r = make(cases[i].mhz, 1500, 4000);
        begin(r, TP_GATE_CAP, cases[i].cap);
        go(r, 60000);
        assert_int_equal(r->stays[1] + r->stays[2], 59979);
        assert_fps(r, cases[i].cap / 1000.0, 0.0001);
        end(r);
    }
}

static void the_pattern_of_45_on_60_is_regular(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    begin(r, TP_GATE_CAP, 45000);
    go(r, 100);
    int64_t before[2] = {0, 0};
    for (int i = 0; i < 9000; i++) {
        int64_t last = r->last;
        do_frame(r);
        int64_t stay = r->last - last;
        assert_false(stay == 2 && (before[0] == 2 || before[1] == 2));
        assert_false(stay == 1 && before[0] == 1 && before[1] == 1);
        before[1] = before[0];
        before[0] = stay;
    }
    end(r);
}

static void no_cap_beats_with_a_refresh_that_is_a_little_off(void **data)
{
    (void)data;
    for (int64_t mhz = 59500; mhz <= 60500; mhz += 50) {
        struct run *r = make(mhz, 3000, 9000);
        begin(r, TP_GATE_CAP, 60000);
        go(r, 4000);
        assert_int_equal(r->stays[1], 3979);
        end(r);
    }
}

static void what_was_missed_is_not_repaid(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->more = one_in_2000_doubles;
    begin(r, TP_GATE_CAP, 30000);
    go(r, 40021);
    assert_int_equal(r->stays[1], 0); /* would be the repayment */
    assert_int_equal(r->stays[3], 20);
    assert_int_equal(r->stays[2], 39980);
    end(r);
}

/* Where a frame is late the clock begins anew, in favour of those that follow: not one is nearer to
 * the one before it than the cap wants. */
static void a_late_frame_begins_the_clock_anew(void **data)
{
    (void)data;
    for (int64_t late = 40; late < 200; late += 7) {
        struct run *r = make(60000, 3000, 9000);
        begin(r, TP_GATE_CAP, 45000);
        go(r, 100);
        r->now += late * MS;
        do_frame(r);
        int64_t last = r->last;
        do_frame(r);
        assert_int_equal(r->last - last, 2);
        int64_t ones = r->stays[1];
        go(r, 300);
        assert_near(r->stays[1] - ones, 200, 1);
        end(r);
    }
}

/* What comes again within some hundreds of frames, and is no more than two frames' time, is given
 * to all of them. */
static void what_is_dear_again_and_again_is_on_time(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    r->more = one_in_200_doubles;
    begin(r, TP_GATE_CAP, 30000);
    go(r, 20021);
    assert_int_equal(r->stays[1], 0);
    assert_int_equal(r->stays[3], 2); /* of these it learns */
    assert_int_equal(r->stays[2], 19998);
    end(r);
    r = make(60000, 3000, 9000);
    begin(r, TP_GATE_CAP, 30000);
    go(r, 100);
    r->now += 200 * MS;
    int64_t before[16];
    memcpy(before, r->stays, sizeof before);
    go(r, 100);
    assert_int_equal(r->stays[1], before[1]);
    end(r);
}

/* A guest that waits for its GPU, and needs nearly all of a cap's interval, is hardly ever there
 * when the next frame is to start: by what it is late then, a frame needs more. */
static void a_guest_that_only_just_holds_a_cap_holds_it(void **data)
{
    (void)data;
    for (int64_t hz = 72; hz <= 144; hz += 18) {
        struct run *r = make(hz * 1000, 6700, 10000);
        r->in_turn = true;
        begin(r, TP_GATE_CAP, 59620);
        go(r, 5021);
        assert_fps(r, 59.62, 0.0005);
        end(r);
    }
}

static void a_guest_between_two_caps_keeps_its_own_rate(void **data)
{
    (void)data;
    struct run *r = make(60000, 23200, 1000); /* 43.1 fps */
    begin(r, TP_GATE_CAP, 45000);
    go(r, 20000);
    assert_fps(r, 43.1, 0.005);
    end(r);
}

static void without_a_grid_the_clock_starts_frames(void **data)
{
    (void)data;
    struct tp_gate *g;
    struct tp_gate_settings s = {.mode = TP_GATE_CAP, .cap_mhz = 45000};
    assert_int_equal(tp_gate_create(&s, &g), 0);
    for (int variable = 0; variable < 3; variable++) {
        struct tp_timeline_frame t = {.time_ns = SECOND,
            .period_ns = MHZ_NS / 120000,
            .variable = variable == 1,
            .stopped = variable == 2};
        if (variable > 0)
            tp_gate_timeline(g, &t);
        int64_t now = (10 + 1000 * variable) * SECOND, first = 0, last = 0;
        for (int i = 0; i < 45000; i++) {
            struct tp_gate_plan p;
            tp_gate_plan(g, now, now, INT64_MIN, false, &p);
            if (p.start_ns > now)
                now = p.start_ns + 100000; /* wakes late */
            tp_gate_book(g, &p, now);
            first = first ? first : now;
            last = now;
            now += 8 * MS;
        }
        int64_t off = last - first - 44999 * (MHZ_NS / 45000);
        assert_true(off > -200000 && off < 200000);
    }
    tp_gate_destroy(g);
}

static void a_variable_rate_has_a_shortest_interval(void **data)
{
    (void)data;
    struct tp_gate *g;
    struct tp_gate_settings s = {.mode = TP_GATE_VSYNC};
    struct tp_timeline_frame t = {
        .time_ns = SECOND, .period_ns = MHZ_NS / 120000, .variable = true};
    struct tp_gate_plan p;
    assert_int_equal(tp_gate_create(&s, &g), 0);
    tp_gate_timeline(g, &t);
    tp_gate_plan(g, 2 * SECOND, 2 * SECOND, INT64_MIN, false, &p);
    assert_true(p.start_ns <= 2 * SECOND);
    tp_gate_book(g, &p, 2 * SECOND);
    tp_gate_plan(g, 2 * SECOND + MS, 2 * SECOND + MS, INT64_MIN, false, &p);
    assert_int_equal(p.start_ns, 2 * SECOND + MHZ_NS / 120000);
    tp_gate_plan(g, 2 * SECOND + 20 * MS, 2 * SECOND + 20 * MS, INT64_MIN, false, &p);
    assert_true(p.start_ns <= 2 * SECOND + 20 * MS);
    tp_gate_destroy(g);
}

/* --- latency --- */

static int64_t up_to_2_ms(int64_t frame)
{
    (void)frame;
    return random_to(2 * MS);
}

static void latency_starts_as_late_as_the_cost_allows(void **data)
{
    (void)data;
    static const int64_t gpus[] = {2000, 5000, 9000};
    seed = 11;
    for (unsigned i = 0; i < 3; i++) {
        struct run *r = make(60000, 2000, gpus[i]), *v = make(60000, 2000, gpus[i]);
        r->more = v->more = up_to_2_ms;
        begin(r, TP_GATE_LATENCY, 0);
        begin(v, TP_GATE_VSYNC, 0);
        go(r, 20000);
        go(v, 20000);
        assert_true(fps(r) >= 0.995 * fps(v));
        double per = (double)r->latency_ns / (double)(r->frame - SETTLED) / 1e6;
        double q99 = 2 + (double)gpus[i] / 1000 + 1.98;
        assert_true(per <= q99 + 1.2 + 1.65 + 16.667);
        end(r);
        end(v);
    }
}

static int64_t noisy(int64_t frame)
{
    (void)frame;
    return random_to(100) < 3 ? random_to(9 * MS) : random_to(3 * MS);
}

static void latency_holds_the_rate_under_noise(void **data)
{
    (void)data;
    seed = 12;
    struct run *r = make(60000, 3000, 6000), *v = make(60000, 3000, 6000);
    r->more = v->more = noisy;
    begin(r, TP_GATE_LATENCY, 0);
    begin(v, TP_GATE_VSYNC, 0);
    go(r, 30000);
    go(v, 30000);
    if (fps(r) < 0.995 * fps(v))
        fail_msg("%f of %f fps", fps(r), fps(v));
    assert_true(r->latency_ns < v->latency_ns);
    end(r);
    end(v);
}

/* One that renders for 7 ms, acquires after 3 of them, and copies for 1. Its last frame's begin to
 * the latch that it is ready for; held: how often its present was. */
static int64_t run_late_guest(enum tp_gate_mode mode, unsigned *held)
{
    struct run *r = make(60000, 0, 0);
    int64_t begin_ns = 0, span = 0;
    begin(r, mode, 0);
    *held = 0;
    for (int i = 0; i < 300; i++) {
        struct tp_gate_plan p;
        begin_ns = r->now;
        int64_t asked = r->now += 3 * MS, rendered = asked + 4 * MS;
        tell_timeline(r);
        if (i > 0)
            tp_gate_ready(r->gate, r->ids[0], r->ready[0]);
        tp_gate_plan(r->gate, asked, r->now, INT64_MIN, false, &p);
        r->now = p.start_ns > asked ? p.start_ns : asked;
        tell_timeline(r);
        r->ids[0] = tp_gate_book(r->gate, &p, r->now);
        r->ready[0] = (rendered > r->now ? rendered : r->now) + MS;
        tp_gate_presented(r->gate, r->ids[0], r->now, r->now);
        int64_t hold = tp_gate_hold(r->gate, r->ids[0], r->now);
        span = refresh(r, latched(r, r->ready[0])) - LEAD - begin_ns;
        if (hold > r->now) {
            ++*held;
            r->now = hold;
            r->frame++;
        }
    }
    end(r);
    return span;
}

static void latency_holds_a_late_guest_in_its_present(void **data)
{
    (void)data;
    unsigned held;
    assert_near(run_late_guest(TP_GATE_LATENCY, &held), 8 * MS + MS, MS / 5);
    assert_true(held > 250);
    assert_true(run_late_guest(TP_GATE_VSYNC, &held) > 16 * MS);
    assert_int_equal(held, 0);
    run_late_guest(TP_GATE_OFF, &held);
    assert_int_equal(held, 0);
}

/* It takes 3 ms from its present's return to its acquire, and wakes late: what it is held is not
 * its need, or it would seem too slow for its own rate. */
static void what_a_late_guest_is_held_is_no_part_of_its_cycle(void **data)
{
    (void)data;
    struct run *r = make(60000, 0, 0);
    unsigned held = 0;
    begin(r, TP_GATE_LATENCY, 0);
    for (int i = 0; i < 400; i++) {
        struct tp_gate_plan p;
        r->now += 3 * MS;
        int64_t asked = r->now;
        tell_timeline(r);
        tp_gate_plan(r->gate, asked, asked, INT64_MIN, false, &p);
        r->now = p.start_ns > asked ? p.start_ns : asked;
        uint64_t id = tp_gate_book(r->gate, &p, r->now);
        tp_gate_presented(r->gate, id, r->now + MS / 10, r->now + MS / 10);
        tp_gate_ready(r->gate, id, r->now + 4 * MS);
        r->now += MS / 10;
        int64_t hold = tp_gate_hold(r->gate, id, r->now);
        if (hold > r->now) {
            held++;
            r->now = hold + MS / 5;
        }
        r->frame++;
    }
    assert_true(held > 350);
    /* 0.1 ms to its present, 3 ms from there, and what it wakes late. */
    assert_int_equal(tp_cost_quantile(&r->gate->cycle, 500), 3 * MS + MS / 10 + MS / 5);
    end(r);
}

static void latency_honours_a_cap(void **data)
{
    (void)data;
    struct run *r = make(60000, 2000, 5000);
    begin(r, TP_GATE_LATENCY, 30000);
    go(r, 5000);
    assert_int_equal(r->stays[2], 4979);
    end(r);
}

/* --- off, and live changes --- */

static void off_paces_nothing(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 1000);
    struct tp_gate_plan p;
    begin(r, TP_GATE_OFF, 30000);
    go(r, 100);
    tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
    assert_int_equal(p.start_ns, INT64_MIN);
    tp_gate_plan(r->gate, r->now, r->now, r->now + MS, false, &p);
    assert_int_equal(p.start_ns, r->now + MS);
    end(r);
}

static void changes_hold_from_the_next_plan_on(void **data)
{
    (void)data;
    struct run *r = make(60000, 2000, 5000);
    begin(r, TP_GATE_CAP, 30000);
    go(r, 1000);
    static const struct {
        enum tp_gate_mode mode;
        uint32_t cap;
        int64_t stay;
    } changes[] = {{TP_GATE_CAP, 60000, 1}, {TP_GATE_CAP, 20000, 3}, {TP_GATE_VSYNC, 0, 1},
        {TP_GATE_VSYNC, 30000, 2}, {TP_GATE_LATENCY, 0, 1}, {TP_GATE_LATENCY, 15000, 4}};
    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct tp_gate_settings s = {changes[i].mode, changes[i].cap};
        assert_int_equal(tp_gate_set(r->gate, &s), 0);
        do_frame(r); /* the first one may be long under way */
        int64_t before = r->stays[changes[i].stay];
        go(r, 300);
        assert_true(r->stays[changes[i].stay] - before >= 299);
    }
    end(r);
}

static void a_change_of_the_refresh_is_followed(void **data)
{
    (void)data;
    static const int64_t rates[] = {60000, 120000, 72000, 144000, 60000};
    struct run *r = make(60000, 1000, 3000);
    begin(r, TP_GATE_VSYNC, 0);
    for (unsigned i = 0; i < 5; i++) {
        /* From the next refresh on. */
        int64_t n = r->last + 1;
        r->base = refresh(r, n) - n / rates[i] * MHZ_NS - n % rates[i] * MHZ_NS / rates[i];
        r->mhz = rates[i];
        go(r, 20);
        int64_t before = r->stays[1];
        go(r, 1000);
        assert_true(r->stays[1] - before >= 999);
    }
    end(r);
}

static void a_panel_that_stopped_is_paced_by_period_alone(void **data)
{
    (void)data;
    struct run *r = make(60000, 2000, 5000);
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 100);
    r->told = INT64_MAX; /* no timeline any more */
    int64_t from = r->now;
    go(r, 6000);
    double took = (double)(r->now - from) / 1e9;
    assert_true(took > 99.9 && took < 100.1);
    struct tp_timeline_frame t = {
        .time_ns = r->now, .period_ns = MHZ_NS / 60000, .lead_ns = LEAD, .stopped = true};
    tp_gate_timeline(r->gate, &t);
    from = r->now;
    go(r, 600);
    took = (double)(r->now - from) / 1e9;
    assert_true(took > 9.9 && took < 10.1);
    end(r);
}

static void without_any_timeline_nothing_is_held(void **data)
{
    (void)data;
    struct tp_gate *g;
    struct tp_gate_settings s = {.mode = TP_GATE_VSYNC};
    struct tp_gate_plan p;
    assert_int_equal(tp_gate_create(&s, &g), 0);
    for (int i = 0; i < 10; i++) {
        tp_gate_plan(g, SECOND + i, SECOND + i, INT64_MIN, false, &p);
        assert_int_equal(p.start_ns, INT64_MIN);
        tp_gate_book(g, &p, SECOND + i);
    }
    tp_gate_destroy(g);
}

/* --- what a frame needs --- */

/* Frames of this cost, in thousandths of a refresh, half of it the CPU's, each as soon as it may. */
static void feed(struct run *r, int frames, int64_t cost)
{
    int64_t cost_ns = MHZ_NS / r->mhz * cost / 1000;
    for (int i = 0; i < frames; i++) {
        struct tp_gate_plan p;
        tell_timeline(r);
        tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
        if (p.start_ns > r->now)
            r->now = p.start_ns;
        uint64_t id = tp_gate_book(r->gate, &p, r->now);
        tp_gate_presented(r->gate, id, r->now + cost_ns / 2, r->now + cost_ns / 2);
        tp_gate_ready(r->gate, id, r->now + cost_ns);
        r->now += cost_ns / 2;
        r->frame++;
    }
}

/* How many refreshes before its latch the next frame is to start. */
static int64_t refreshes_given(struct run *r)
{
    struct tp_gate_plan p;
    tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
    int64_t latch = tp_vblank_latch_ns(tp_gate_vblank(r->gate), p.latch_index);
    return (latch - p.grid_ns + MHZ_NS / r->mhz / 2) * r->mhz / MHZ_NS;
}

static void a_cost_about_a_refresh_does_not_waver_between_one_and_two(void **data)
{
    (void)data;
    struct run *r = make(60000, 0, 0);
    begin(r, TP_GATE_VSYNC, 0);
    feed(r, 200, 960);
    assert_int_equal(refreshes_given(r), 1);
    feed(r, 200, 1020);
    assert_int_equal(refreshes_given(r), 2);
    feed(r, 2000, 960); /* none of the dear ones is remembered */
    assert_int_equal(refreshes_given(r), 2);
    feed(r, 2000, 920);
    assert_int_equal(refreshes_given(r), 1);
    end(r);
}

/* The next one may be dearer by a sixteenth. */
static void a_cost_just_below_two_refreshes_is_given_three(void **data)
{
    (void)data;
    static const struct {
        int64_t cost, refreshes;
    } cases[] = {{1850, 2}, {1910, 3}, {1980, 3}};
    for (unsigned i = 0; i < 3; i++) {
        struct run *r = make(60000, 0, 0);
        begin(r, TP_GATE_VSYNC, 0);
        feed(r, 500, cases[i].cost);
        assert_int_equal(refreshes_given(r), cases[i].refreshes);
        end(r);
    }
}

/* 1 ms of CPU; 9 ms until the image is free; 5 ms of GPU. */
static void what_the_gpu_waits_for_a_release_is_no_cost(void **data)
{
    (void)data;
    struct run *r = make(60000, 0, 0);
    struct tp_gate_counts n;
    begin(r, TP_GATE_VSYNC, 0);
    for (int i = 0; i < 50; i++) {
        struct tp_gate_plan p;
        tell_timeline(r);
        tp_gate_plan(r->gate, r->now, r->now, r->now + 10 * MS, true, &p);
        uint64_t id = tp_gate_book(r->gate, &p, r->now);
        tp_gate_presented(r->gate, id, r->now + MS, r->now + MS);
        tp_gate_ready(r->gate, id, r->now + 15 * MS);
        r->now += 30 * MS;
        r->frame++;
    }
    tp_gate_counts(r->gate, &n);
    assert_int_equal(n.cost_ns, 6 * MS);
    assert_int_equal(tp_cost_quantile(&r->gate->gpu, 1000), 5 * MS);
    end(r);
}

/* --- the release is a term of the start --- */

static void the_start_is_the_later_of_grid_and_release(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    struct tp_gate_plan p;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 100);
    tell_ready(r);
    tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
    int64_t grid = p.start_ns;
    tp_gate_plan(r->gate, r->now, r->now, grid - MS, false, &p);
    assert_int_equal(p.start_ns, grid);
    tp_gate_plan(r->gate, r->now, r->now, grid + 2 * MS, false, &p);
    assert_int_equal(p.start_ns, grid + 2 * MS);
    assert_int_equal(p.grid_ns, grid);
    /* With a wait of the GPU's, what the CPU does first comes before. */
    tp_gate_plan(r->gate, r->now, r->now, grid + 2 * MS, true, &p);
    assert_int_equal(p.start_ns, grid);
    tp_gate_plan(r->gate, r->now, r->now, grid + 5 * MS, true, &p);
    assert_int_equal(p.start_ns, grid + 2 * MS);
    end(r);
}

static void the_schedule_is_booked_from_the_actual_start(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    struct tp_gate_plan p;
    struct tp_gate_frame f;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 100);
    tell_ready(r);
    tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
    int64_t grid = p.start_ns, T = MHZ_NS / 60000;
    r->now = grid + 10 * MS; /* 12 ms are left of it: not to the next latch */
    uint64_t id = tp_gate_book(r->gate, &p, r->now);
    assert_true(tp_gate_frame(r->gate, id, &f));
    assert_true(f.latch_ns - (grid + 2 * T) < 1000 && f.latch_ns - (grid + 2 * T) > -1000);
    assert_int_equal(f.start_ns, grid + 10 * MS);
    /* The next frame is for the refresh after that. */
    tp_gate_presented(r->gate, id, r->now + 3 * MS, r->now + 3 * MS);
    tp_gate_plan(r->gate, r->now + 3 * MS, r->now + 3 * MS, INT64_MIN, false, &p);
    assert_true(p.start_ns - (grid + 2 * T) < 1000 && p.start_ns - (grid + 2 * T) > -1000);
    end(r);
}

static void an_abandoned_frame_leaves_its_refresh_to_the_next(void **data)
{
    (void)data;
    struct run *r = make(60000, 3000, 9000);
    struct tp_gate_plan p, q;
    struct tp_gate_frame f;
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 100);
    r->now = r->ready[99 % 4];
    tell_ready(r);
    tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
    uint64_t id = tp_gate_book(r->gate, &p, p.start_ns);
    tp_gate_abandon(r->gate, id);
    assert_false(tp_gate_frame(r->gate, id, &f));
    tp_gate_plan(r->gate, p.start_ns + MS, p.start_ns + MS, INT64_MIN, false, &q);
    assert_int_equal(q.start_ns, p.start_ns);
    end(r);
}

/* --- guests --- */

static void a_late_guests_frame_began_at_the_present_before(void **data)
{
    (void)data;
    struct run *r = make(60000, 0, 0);
    struct tp_gate_counts n;
    struct tp_gate_frame f;
    begin(r, TP_GATE_VSYNC, 0);
    int64_t returned = r->now;
    uint64_t id = 0;
    for (int i = 0; i < 200; i++) {
        struct tp_gate_plan p;
        r->now += 9 * MS; /* renders */
        tell_timeline(r);
        tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
        if (p.start_ns > r->now)
            r->now = p.start_ns;
        id = tp_gate_book(r->gate, &p, r->now);
        assert_true(tp_gate_frame(r->gate, id, &f));
        if (i > 20)
            assert_int_equal(f.begin_ns, returned);
        r->now += 200000; /* copies */
        tp_gate_presented(r->gate, id, r->now, r->now);
        tp_gate_ready(r->gate, id, r->now + 500000);
        returned = r->now;
    }
    tp_gate_counts(r->gate, &n);
    assert_true(n.late_guest);
    assert_int_equal(n.gate_late, 0);
    end(r);
    r = make(60000, 9000, 2000);
    begin(r, TP_GATE_VSYNC, 0);
    go(r, 200);
    tp_gate_counts(r->gate, &n);
    assert_false(n.late_guest);
    end(r);
}

/* A compositor that takes 3 ms between ready and the latch is learnt from what is shown. */
static void what_lies_between_ready_and_latch_is_learnt(void **data)
{
    (void)data;
    struct run *r = make(60000, 4000, 10500);
    struct tp_gate_plan p;
    begin(r, TP_GATE_VSYNC, 0);
    int64_t missed = 0, compositor = 3 * MS, last = -1;
    for (int i = 0; i < 2000; i++) {
        tell_timeline(r);
        tp_gate_plan(r->gate, r->now, r->now, INT64_MIN, false, &p);
        if (p.start_ns > r->now)
            r->now = p.start_ns;
        uint64_t id = tp_gate_book(r->gate, &p, r->now);
        int64_t entry = r->now + r->cpu_ns, ready = entry + r->gpu_ns;
        tp_gate_presented(r->gate, id, entry, entry);
        tp_gate_ready(r->gate, id, ready);
        int64_t n = latched(r, ready + compositor);
        n = n > last ? n : last + 1;
        missed += i > 100 && n != last + 1;
        last = n;
        tp_gate_shown(r->gate, id, refresh(r, n + 1));
        r->now = entry;
    }
    /* 17.5 ms do not fit; started a refresh earlier, each refresh shows a frame. */
    assert_true(missed <= 20);
    end(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cap_needs_a_cap),
        cmocka_unit_test(quantiles_are_those_of_the_last_samples),
        cmocka_unit_test(caps_near_a_divisor_are_that_divisor),
        cmocka_unit_test(a_week_of_a_caps_clock_is_exact),
        cmocka_unit_test(halfway_the_steps_stay_regular),
        cmocka_unit_test(vsync_starts_on_the_grid_and_every_refresh_shows_a_frame),
        cmocka_unit_test(a_frame_that_comes_late_starts_at_once_and_joins_the_grid_again),
        cmocka_unit_test(a_slow_frame_costs_one_refresh_and_no_queue),
        cmocka_unit_test(a_frame_longer_than_a_period_is_started_earlier),
        cmocka_unit_test(a_guest_that_is_too_slow_is_never_made_slower),
        cmocka_unit_test(a_cap_gives_a_heavy_scene_its_whole_interval),
        cmocka_unit_test(a_queue_is_taken_down),
        cmocka_unit_test(a_longer_way_to_the_panel_is_no_queue),
        cmocka_unit_test(a_way_that_is_shorter_than_assumed_is_learnt),
        cmocka_unit_test(latency_learns_a_compositors_time_behind_a_longer_way),
        cmocka_unit_test(a_busy_gpu_has_no_queue_of_frames),
        cmocka_unit_test(without_being_told_of_frames_the_grid_still_holds),
        cmocka_unit_test(sleeps_that_are_late_do_not_add_up),
        cmocka_unit_test(half_the_refresh_stays_two),
        cmocka_unit_test(a_cap_that_is_no_divisor_stays_one_or_two_and_is_exact),
        cmocka_unit_test(the_pattern_of_45_on_60_is_regular),
        cmocka_unit_test(no_cap_beats_with_a_refresh_that_is_a_little_off),
        cmocka_unit_test(what_was_missed_is_not_repaid),
        cmocka_unit_test(a_late_frame_begins_the_clock_anew),
        cmocka_unit_test(what_is_dear_again_and_again_is_on_time),
        cmocka_unit_test(a_guest_that_only_just_holds_a_cap_holds_it),
        cmocka_unit_test(a_guest_between_two_caps_keeps_its_own_rate),
        cmocka_unit_test(without_a_grid_the_clock_starts_frames),
        cmocka_unit_test(a_variable_rate_has_a_shortest_interval),
        cmocka_unit_test(latency_starts_as_late_as_the_cost_allows),
        cmocka_unit_test(latency_holds_the_rate_under_noise),
        cmocka_unit_test(latency_holds_a_late_guest_in_its_present),
        cmocka_unit_test(what_a_late_guest_is_held_is_no_part_of_its_cycle),
        cmocka_unit_test(latency_honours_a_cap),
        cmocka_unit_test(off_paces_nothing),
        cmocka_unit_test(changes_hold_from_the_next_plan_on),
        cmocka_unit_test(a_change_of_the_refresh_is_followed),
        cmocka_unit_test(a_panel_that_stopped_is_paced_by_period_alone),
        cmocka_unit_test(without_any_timeline_nothing_is_held),
        cmocka_unit_test(a_cost_about_a_refresh_does_not_waver_between_one_and_two),
        cmocka_unit_test(a_cost_just_below_two_refreshes_is_given_three),
        cmocka_unit_test(what_the_gpu_waits_for_a_release_is_no_cost),
        cmocka_unit_test(the_start_is_the_later_of_grid_and_release),
        cmocka_unit_test(the_schedule_is_booked_from_the_actual_start),
        cmocka_unit_test(an_abandoned_frame_leaves_its_refresh_to_the_next),
        cmocka_unit_test(a_late_guests_frame_began_at_the_present_before),
        cmocka_unit_test(what_lies_between_ready_and_latch_is_learnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
