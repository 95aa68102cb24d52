/* Which buffer a callback lets go. Fences are numbers here: a copy of n is n + 100. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frames/panel/android_ledger.h"

static struct tp_ledger l;
static int open_fences; /* given or copied, less those closed and taken */
static int closed[16];
static unsigned n_closed;

static int copy_of(int fence)
{
    open_fences++;
    return fence + 100;
}

static void close_fence(int fence)
{
    open_fences--;
    closed[n_closed++ % 16] = fence;
}

static int setup(void **s)
{
    static const struct tp_ledger_fences fences = {copy_of, close_fence};
    (void)s;
    tp_ledger_init(&l, &fences);
    open_fences = 0;
    n_closed = 0;
    return 0;
}

static int teardown(void **s)
{
    (void)s;
    tp_ledger_finish(&l);
    return open_fences;
}

/* A picture of one layer with this tag, set by the transaction of the same number at that time. */
static void picture(uint64_t tag, int64_t now, bool own)
{
    tp_ledger_supersede(&l);
    tp_ledger_show(&l, tag, true);
    tp_ledger_set(&l, 0, tag, tag, now, own);
}

static void complete(uint64_t transaction, int64_t latched, int fence)
{
    open_fences += fence >= 0;
    tp_ledger_complete(&l, 0, transaction, latched, fence);
}

static void told(uint64_t tag, int fence)
{
    uint64_t got = 0;
    int got_fence = -2;
    assert_true(tp_ledger_take(&l, &got, &got_fence));
    assert_int_equal(got, tag);
    assert_int_equal(got_fence, fence);
    open_fences -= got_fence >= 0;
}

static void nothing_told(void)
{
    uint64_t tag;
    int fence;
    assert_false(tp_ledger_take(&l, &tag, &fence));
}

static void completion_releases_what_was_replaced(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    nothing_told();
    picture(2, 30, false);
    nothing_told();
    complete(2, 40, 7);
    told(1, 107);
    nothing_told();
}

static void no_fence_means_free(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    complete(2, 40, -1);
    told(1, -1);
}

static void a_transaction_without_a_latch_releases_nothing(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    picture(3, 31, false);
    complete(2, -1, -1);
    nothing_told();
    complete(3, 40, 7);
    told(1, 107);
    told(2, -1);
    nothing_told();
}

static void the_earliest_of_a_latch_may_bear_the_fence(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    picture(3, 31, false);
    complete(2, 40, 7);
    told(1, 107);
    complete(3, 40, -1);
    told(2, -1);
    nothing_told();
}

static void minus_one_is_not_believed_while_the_same_latch_may_have_a_fence(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    picture(3, 31, false);
    complete(2, 40, -1);
    nothing_told();
    complete(3, 40, 7);
    told(1, 107);
    told(2, -1);
}

static void minus_one_is_believed_once_the_later_one_had_a_later_latch(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    picture(3, 31, false); /* applied before the latch, and not ready for it */
    complete(2, 40, -1);
    nothing_told();
    complete(3, 56, 7);
    told(1, -1);
    told(2, 107);
}

static void a_completion_that_overtakes_waits_for_the_one_before(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    picture(3, 45, false);
    complete(3, 56, 9);
    nothing_told();
    complete(2, 40, 7);
    told(1, 107);
    told(2, 109);
}

static void an_overtaken_one_that_was_dropped_leaves_the_fence_to_its_successor(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    picture(3, 31, false);
    complete(3, 40, 9);
    complete(2, -1, -1);
    told(1, 109);
    told(2, -1);
}

static void a_buffer_with_a_callback_of_its_own_is_released_by_that_alone(void **s)
{
    (void)s;
    picture(1, 10, true);
    complete(1, 20, -1);
    picture(2, 30, true);
    picture(3, 31, true);
    tp_ledger_release(&l, 0, 2, -1); /* overwritten */
    told(2, -1);
    complete(2, 40, -1);
    complete(3, 40, 7);
    nothing_told();
    open_fences++;
    tp_ledger_release(&l, 0, 1, 8);
    told(1, 8);
    tp_ledger_release(&l, 0, 1, -1); /* twice: ignored */
    nothing_told();
}

static void the_newest_picture_is_kept_though_a_blank_has_replaced_it(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    tp_ledger_set(&l, 0, 2, 0, 30, false);
    complete(2, 40, 7);
    nothing_told();
    tp_ledger_supersede(&l);
    tp_ledger_show(&l, 3, true);
    told(1, 107);
}

static void a_repaint_is_a_reference_more(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    tp_ledger_set(&l, 0, 2, 1, 30, false);
    complete(2, 40, 7);
    picture(3, 50, false);
    nothing_told();
    complete(3, 60, 8);
    told(1, 108);
    nothing_told();
}

static void a_layer_that_is_gone_frees_all_of_it(void **s)
{
    (void)s;
    picture(1, 10, false);
    picture(2, 20, false);
    picture(3, 30, false);
    tp_ledger_clear(&l, 0);
    told(1, -1);
    told(2, -1);
    nothing_told();
    complete(3, 40, 7); /* unknown by now */
    assert_int_equal(closed[0], 7);
}

static int no_copy(int fence)
{
    (void)fence;
    return -1;
}

static void without_descriptors_a_release_waits(void **s)
{
    (void)s;
    picture(1, 10, false);
    complete(1, 20, -1);
    picture(2, 30, false);
    l.fences.dup = no_copy;
    complete(2, 40, 7);
    nothing_told();
    l.fences.dup = copy_of;
    picture(3, 50, false);
    complete(3, 60, 8);
    told(1, 107);
    told(2, 108);
}

static void the_oldest_that_has_not_completed_is_known(void **s)
{
    (void)s;
    assert_true(tp_ledger_oldest(&l, false) == INT64_MAX);
    picture(1, 10, false);
    picture(2, 20, false);
    assert_int_equal(tp_ledger_oldest(&l, false), 10);
    complete(1, 15, -1);
    assert_int_equal(tp_ledger_oldest(&l, false), 20);
    tp_ledger_latch(&l, 0, 2);
    assert_int_equal(tp_ledger_oldest(&l, false), 20);
    assert_true(tp_ledger_oldest(&l, true) == INT64_MAX);
    complete(2, 25, -1);
    assert_true(tp_ledger_oldest(&l, false) == INT64_MAX);
}

static void room_ends_before_entries_do(void **s)
{
    unsigned n = 0;
    (void)s;
    while (tp_ledger_room(&l)) {
        n++;
        picture(n, n, false);
    }
    assert_int_equal(n, TP_LEDGER_DEPTH - TP_LEDGER_RESERVE);
    tp_ledger_clear(&l, 0);
    for (unsigned i = 1; i < n; i++)
        told(i, -1);
    assert_true(tp_ledger_room(&l));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(completion_releases_what_was_replaced),
        TEST(no_fence_means_free),
        TEST(a_transaction_without_a_latch_releases_nothing),
        TEST(the_earliest_of_a_latch_may_bear_the_fence),
        TEST(minus_one_is_not_believed_while_the_same_latch_may_have_a_fence),
        TEST(minus_one_is_believed_once_the_later_one_had_a_later_latch),
        TEST(a_completion_that_overtakes_waits_for_the_one_before),
        TEST(an_overtaken_one_that_was_dropped_leaves_the_fence_to_its_successor),
        TEST(a_buffer_with_a_callback_of_its_own_is_released_by_that_alone),
        TEST(the_newest_picture_is_kept_though_a_blank_has_replaced_it),
        TEST(a_repaint_is_a_reference_more),
        TEST(a_layer_that_is_gone_frees_all_of_it),
        TEST(without_descriptors_a_release_waits),
        TEST(the_oldest_that_has_not_completed_is_known),
        TEST(room_ends_before_entries_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
