/* The driver's fences (icd/fence.h) with real ones: what a dma-buf knows of its readers, by which
 * an acquire with TURNPIKE_RELEASE_WAIT=implicit waits, and sync files that are waited for
 * together. */
#include <linux/dma-buf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/icd/fence.h"
#include "real.h"

enum { BYTES = 1 << 16 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void this_kernel_tells_who_reads(void **state)
{
    int memory = real_udmabuf(BYTES);
    (void)state;
    assert_true(tp_fence_can_export());
    int fence = tp_fence_export(memory);
    assert_true(fence >= 0);
    assert_true(tp_fence_signalled(fence)); /* nobody does */
    close(fence);
    close(memory);
}

static void who_writes_waits_for_readers_and_writers(void **state)
{
    static const uint64_t uses[] = {DMA_BUF_SYNC_READ, DMA_BUF_SYNC_WRITE};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int timeline, memory = real_heap_buffer(BYTES), use = real_sync_file(&timeline);
        assert_int_equal(real_put_fence(memory, use, uses[i]), 0);
        int fence = tp_fence_export(memory);
        assert_true(fence >= 0);
        assert_false(tp_fence_signalled(fence));
        assert_true(tp_fence_time_ns(fence) == INT64_MIN);
        int64_t before = now_ns();
        real_move_on(timeline);
        assert_true(tp_fence_signalled(fence));
        assert_in_range(tp_fence_time_ns(fence), before, now_ns());
        close(fence);
        close(use);
        close(timeline);
        close(memory);
    }
}

static void what_is_not_a_dma_buf_tells_nothing(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_true(tp_fence_export(ends[0]) < 0);
    assert_true(tp_fence_merge(ends[0], ends[1]) < 0);
    close(ends[0]);
    close(ends[1]);
}

static void two_are_over_when_both_are(void **state)
{
    int first_line, second_line;
    int first = real_sync_file(&first_line), second = real_sync_file(&second_line);
    (void)state;
    int both = tp_fence_merge(first, second);
    assert_true(both >= 0);
    real_move_on(first_line);
    assert_false(tp_fence_signalled(both));
    real_move_on(second_line);
    assert_true(tp_fence_signalled(both));
    tp_fence_wait(both);
    close(both);
    close(first);
    close(second);
    close(first_line);
    close(second_line);
}

static void *move_on(void *timeline)
{
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    real_move_on(*(int *)timeline);
    return NULL;
}

static void who_waits_is_woken(void **state)
{
    int timeline, memory = real_udmabuf(BYTES), use = real_sync_file(&timeline);
    pthread_t thread;
    (void)state;
    assert_int_equal(real_put_fence(memory, use, DMA_BUF_SYNC_READ), 0);
    int fence = tp_fence_export(memory);
    assert_int_equal(pthread_create(&thread, NULL, move_on, &timeline), 0);
    tp_fence_wait(fence);
    assert_int_equal(real_status(fence), 1);
    pthread_join(thread, NULL);
    close(fence);
    close(use);
    close(timeline);
    close(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_kernel_tells_who_reads),
        cmocka_unit_test(who_writes_waits_for_readers_and_writers),
        cmocka_unit_test(what_is_not_a_dma_buf_tells_nothing),
        cmocka_unit_test(two_are_over_when_both_are),
        cmocka_unit_test(who_waits_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
