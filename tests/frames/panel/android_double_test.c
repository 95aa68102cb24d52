/* The double itself: SurfaceFlinger's rules, through the calls that an app makes. Refreshes are at
 * 1 s and every 10 ms from then on; the latch lies 4 ms before. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "double/double.h"
#include "frames/panel/android_api.h"

#define MS INT64_C(1000000)
#define X(library, result, name, parameters) result name parameters;
TP_ANDROID_CALLS(X)
TP_ANDROID_NEWER_CALLS(X)
#undef X

static void *window;
static ASurfaceControl *layer;
static AHardwareBuffer *buffers[3];

/* What was told of a transaction or a buffer. */
static struct told {
    int64_t at, latched;
    int fence;
    unsigned times;
} complete[4], released[4];

static int setup(void **s)
{
    const struct tp_a_buffer_desc desc = {.width = 16, .height = 16, .layers = 1, .format = 1};
    (void)s;
    double_reset(36, 1, 100000, 990 * MS);
    window = double_window_create(16, 16);
    layer = ASurfaceControl_createFromWindow(window, "turnpike");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(AHardwareBuffer_allocate(&desc, &buffers[i]), 0);
    for (unsigned i = 0; i < 4; i++)
        complete[i] = released[i] = (struct told){.fence = -1};
    return 0;
}

static int teardown(void **s)
{
    struct double_counts c;
    ASurfaceTransaction *t = ASurfaceTransaction_create();
    (void)s;
    ASurfaceTransaction_reparent(t, layer, NULL);
    ASurfaceTransaction_apply(t);
    ASurfaceTransaction_delete(t);
    ASurfaceControl_release(layer);
    double_run_until(double_now() + 200 * MS);
    for (unsigned i = 0; i < 3; i++)
        AHardwareBuffer_release(buffers[i]);
    double_window_destroy(window);
    for (unsigned i = 0; i < 4; i++) {
        if (complete[i].fence >= 0)
            close(complete[i].fence);
        if (released[i].fence >= 0)
            close(released[i].fence);
    }
    double_count(&c);
    return c.layers + c.buffers + c.windows ? -1 : 0;
}

static void on_complete(void *data, ASurfaceTransactionStats *stats)
{
    struct told *t = data;
    t->at = double_now();
    t->latched = ASurfaceTransactionStats_getLatchTime(stats);
    t->fence = ASurfaceTransactionStats_getPreviousReleaseFenceFd(stats, layer);
    t->times++;
}

static void on_release(void *data, int fence)
{
    struct told *t = data;
    t->at = double_now();
    t->fence = fence;
    t->times++;
}

/* Sets buffer i, whose fence this is, in a transaction of its own. */
static void show(unsigned i, int acquire, bool own)
{
    ASurfaceTransaction *t = ASurfaceTransaction_create();
    if (own)
        ASurfaceTransaction_setBufferWithRelease(
            t, layer, buffers[i], acquire, &released[i], on_release);
    else
        ASurfaceTransaction_setBuffer(t, layer, buffers[i], acquire);
    ASurfaceTransaction_setOnComplete(t, &complete[i], on_complete);
    ASurfaceTransaction_apply(t);
    ASurfaceTransaction_delete(t);
}

static bool signalled(int fence)
{
    struct pollfd p = {.fd = fence, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static void what_is_replaced_is_read_until_its_successor_is_shown(void **s)
{
    (void)s;
    show(0, -1, false);
    double_run_until(1000 * MS);
    assert_int_equal(complete[0].latched, 996 * MS);
    assert_int_equal(complete[0].fence, -1); /* it replaced nothing */
    show(1, -1, false);
    double_run_until(1009 * MS);
    assert_int_equal(complete[1].latched, 1006 * MS);
    assert_int_equal(complete[1].at, 1007 * MS);
    assert_true(complete[1].fence >= 0);
    double_run_until(1020 * MS - 1);
    assert_false(signalled(complete[1].fence));
    double_run_until(1020 * MS); /* latched at 1006 for the refresh after that at 1010 */
    assert_true(signalled(complete[1].fence));
}

static void a_newer_buffer_replaces_one_of_the_same_latch(void **s)
{
    struct double_counts c;
    (void)s;
    show(0, -1, true);
    show(1, -1, true);
    double_run_until(1000 * MS);
    double_count(&c);
    assert_int_equal(c.dropped, 1);
    assert_int_equal(released[0].times, 1);
    assert_int_equal(released[0].fence, -1);
    assert_int_equal(released[1].times, 0);
    assert_int_equal(complete[0].times + complete[1].times, 2);
}

static void back_pressure_keeps_it_for_the_next_latch(void **s)
{
    ASurfaceTransaction *t = ASurfaceTransaction_create();
    struct double_counts c;
    (void)s;
    ASurfaceTransaction_setEnableBackPressure(t, layer, true);
    ASurfaceTransaction_apply(t);
    ASurfaceTransaction_delete(t);
    show(0, -1, true);
    show(1, -1, true);
    double_run_until(1000 * MS);
    assert_int_equal(complete[0].latched, 996 * MS);
    assert_int_equal(complete[1].times, 0);
    double_run_until(1010 * MS);
    assert_int_equal(complete[1].latched, 1006 * MS);
    double_count(&c);
    assert_int_equal(c.dropped, 0);
}

static void an_unsignalled_fence_holds_it_and_what_comes_after_it(void **s)
{
    int fence = eventfd(0, EFD_CLOEXEC), mine = dup(fence);
    (void)s;
    show(0, fence, false);
    show(1, -1, false);
    double_run_until(1015 * MS);
    assert_int_equal(complete[0].times + complete[1].times, 0);
    assert_int_equal(write(mine, &(uint64_t){1}, 8), 8);
    double_run_until(1020 * MS);
    assert_int_equal(complete[0].times + complete[1].times, 2);
    close(mine);
}

static void a_buffer_that_is_overwritten_before_apply_comes_back_at_once(void **s)
{
    ASurfaceTransaction *t = ASurfaceTransaction_create();
    (void)s;
    ASurfaceTransaction_setBufferWithRelease(t, layer, buffers[0], -1, &released[0], on_release);
    ASurfaceTransaction_setBufferWithRelease(t, layer, buffers[1], -1, &released[1], on_release);
    assert_int_equal(released[0].times, 1);
    assert_int_equal(released[0].fence, -1);
    ASurfaceTransaction_apply(t);
    ASurfaceTransaction_delete(t);
    double_run_until(1000 * MS);
    assert_int_equal(released[0].times, 1);
    assert_int_equal(released[1].times, 0);
}

static void a_release_callback_comes_before_completion(void **s)
{
    (void)s;
    show(0, -1, true);
    double_run_until(1000 * MS);
    show(1, -1, true);
    double_run_until(1010 * MS);
    assert_int_equal(released[0].times, 1);
    assert_true(released[0].at < complete[1].at);
    assert_true(released[0].fence >= 0);
}

/* The first comes back at once, unseen; both are told that they are complete. */
static void a_transaction_may_be_merged_with_the_next_one(void **s)
{
    struct double_counts c;
    (void)s;
    double_habits(&(struct double_habits){.foreign = 0, .merge_per_mille = 1000});
    show(0, -1, true);
    assert_int_equal(released[0].times, 0);
    show(1, -1, true);
    assert_int_equal(released[0].times, 1);
    assert_int_equal(released[0].fence, -1);
    double_run_until(1000 * MS);
    assert_int_equal(complete[0].times, 1);
    assert_int_equal(complete[1].times, 1);
    assert_int_equal(complete[0].latched, complete[1].latched);
    assert_int_equal(released[0].times, 1);
    assert_int_equal(released[1].times, 0);
    double_count(&c);
    assert_int_equal(c.merged, 1);
    assert_int_equal(c.overwritten, 1);
}

/* Nothing came to merge it with: a latch later than it would have been. */
static void a_transaction_does_not_wait_for_long_to_be_merged(void **s)
{
    (void)s;
    double_habits(&(struct double_habits){.foreign = 0, .merge_per_mille = 1000});
    show(0, -1, false);
    double_run_until(1000 * MS);
    assert_int_equal(complete[0].times, 0);
    double_run_until(1010 * MS);
    assert_int_equal(complete[0].latched, 1006 * MS);
}

/* Latched at 1006, it would be on the screen at 1020, and at 1016 at 1030. */
static void a_desired_time_is_the_earliest(void **s)
{
    static const int64_t desired[] = {1020, 1021, 1030};
    static const int64_t latched[] = {1006, 1016, 1016};
    (void)s;
    double_run_until(1000 * MS);
    for (unsigned i = 0; i < 3; i++) {
        ASurfaceTransaction *t = ASurfaceTransaction_create();
        ASurfaceTransaction_setBuffer(t, layer, buffers[i], -1);
        ASurfaceTransaction_setDesiredPresentTime(t, desired[i] * MS);
        ASurfaceTransaction_setOnComplete(t, &complete[i], on_complete);
        ASurfaceTransaction_apply(t);
        ASurfaceTransaction_delete(t);
    }
    double_run_until(1030 * MS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(complete[i].latched, latched[i] * MS);
}

static void a_commit_is_told_before_completion_and_has_no_fence(void **s)
{
    ASurfaceTransaction *t = ASurfaceTransaction_create();
    (void)s;
    show(0, -1, false);
    double_run_until(1000 * MS);
    double_habits(&(struct double_habits){.late_per_mille = 1000, .late_refreshes = 1});
    ASurfaceTransaction_setBuffer(t, layer, buffers[1], -1);
    ASurfaceTransaction_setOnCommit(t, &complete[2], on_complete);
    ASurfaceTransaction_setOnComplete(t, &complete[1], on_complete);
    ASurfaceTransaction_apply(t);
    ASurfaceTransaction_delete(t);
    double_run_until(1010 * MS);
    assert_int_equal(complete[2].latched, 1006 * MS);
    assert_int_equal(complete[2].fence, -1);
    assert_int_equal(complete[1].times, 0);
    double_run_until(1019 * MS);
    assert_int_equal(complete[1].times, 1);
    assert_true(complete[1].fence >= 0);
}

static void levels_have_their_calls(void **s)
{
    (void)s;
    double_reset(31, 1, 100000, 990 * MS);
    assert_true(double_has("ASurfaceTransaction_setBuffer"));
    assert_false(double_has("ASurfaceTransaction_setFrameTimeline"));
    assert_false(double_has("ASurfaceTransaction_setBufferWithRelease"));
    double_reset(33, 1, 100000, 990 * MS);
    assert_true(double_has("AChoreographer_postVsyncCallback"));
    assert_false(double_has("ASurfaceTransaction_setBufferWithRelease"));
    double_reset(36, 1, 100000, 990 * MS);
    assert_true(double_has("ASurfaceTransaction_setBufferWithRelease"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_replaced_is_read_until_its_successor_is_shown),
        TEST(a_newer_buffer_replaces_one_of_the_same_latch),
        TEST(back_pressure_keeps_it_for_the_next_latch),
        TEST(an_unsignalled_fence_holds_it_and_what_comes_after_it),
        TEST(a_buffer_that_is_overwritten_before_apply_comes_back_at_once),
        TEST(a_release_callback_comes_before_completion),
        TEST(a_transaction_may_be_merged_with_the_next_one),
        TEST(a_transaction_does_not_wait_for_long_to_be_merged),
        TEST(a_desired_time_is_the_earliest),
        TEST(a_commit_is_told_before_completion_and_has_no_fence),
        TEST(levels_have_their_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
