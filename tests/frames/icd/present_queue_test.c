/* The order of pictures by their present modes (VkPresentModeKHR). */
#include "frames/icd/present_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct tp_present_queue queue;

static void put(uint64_t serial, VkPresentModeKHR mode, int64_t not_before_ns)
{
    struct tp_picture p = {
        .serial = serial, .fence = -1, .mode = mode, .not_before_ns = not_before_ns};

    assert_int_equal(tp_present_queue_put(&queue, &p), 0);
}

/* The serial that goes out, 0: none; those that are dropped, as digits. */
static uint64_t take(bool turn, int64_t now_ns, uint64_t *dropped_serials, int64_t *until_ns)
{
    struct tp_queued *dropped, *out;
    int64_t until;
    uint64_t serial;

    out = tp_present_queue_take(&queue, turn, now_ns, &dropped, until_ns ? until_ns : &until);
    *dropped_serials = 0;
    for (struct tp_queued *next; dropped; dropped = next) {
        next = dropped->next;
        *dropped_serials = *dropped_serials * 10 + dropped->picture.serial;
        tp_queued_free(dropped);
    }
    serial = out ? out->picture.serial : 0;
    tp_queued_free(out);
    return serial;
}

static void fifo_gives_each_its_turn(void **state)
{
    uint64_t dropped;

    (void)state;
    for (uint64_t i = 1; i <= 3; i++)
        put(i, VK_PRESENT_MODE_FIFO_KHR, 0);
    assert_int_equal(take(true, 0, &dropped, NULL), 1);
    assert_int_equal(take(false, 0, &dropped, NULL), 0);
    assert_int_equal(take(true, 0, &dropped, NULL), 2);
    assert_int_equal(take(true, 0, &dropped, NULL), 3);
    assert_int_equal(dropped, 0);
    assert_int_equal(take(true, 0, &dropped, NULL), 0);
}

static void mailbox_keeps_the_newest(void **state)
{
    uint64_t dropped;

    (void)state;
    put(1, VK_PRESENT_MODE_MAILBOX_KHR, 0);
    put(2, VK_PRESENT_MODE_MAILBOX_KHR, 0);
    assert_int_equal(take(false, 0, &dropped, NULL), 0);
    assert_int_equal(dropped, 1);
    put(3, VK_PRESENT_MODE_MAILBOX_KHR, 0);
    assert_int_equal(take(true, 0, &dropped, NULL), 3);
    assert_int_equal(dropped, 2);
}

static void immediate_needs_no_turn(void **state)
{
    uint64_t dropped;

    (void)state;
    put(1, VK_PRESENT_MODE_IMMEDIATE_KHR, 0);
    assert_int_equal(take(false, 0, &dropped, NULL), 1);
}

/* A change of mode takes place for nobody else: FIFO's pictures have their turns first. */
static void a_change_of_mode_waits_for_those_before_it(void **state)
{
    uint64_t dropped;

    (void)state;
    put(1, VK_PRESENT_MODE_FIFO_KHR, 0);
    put(2, VK_PRESENT_MODE_MAILBOX_KHR, 0);
    put(3, VK_PRESENT_MODE_MAILBOX_KHR, 0);
    put(4, VK_PRESENT_MODE_IMMEDIATE_KHR, 0);
    assert_int_equal(take(false, 0, &dropped, NULL), 0);
    assert_int_equal(take(true, 0, &dropped, NULL), 1);
    assert_int_equal(take(true, 0, &dropped, NULL), 3);
    assert_int_equal(dropped, 2);
    assert_int_equal(take(false, 0, &dropped, NULL), 4);
}

static void an_instant_is_waited_for(void **state)
{
    uint64_t dropped;
    int64_t until;

    (void)state;
    put(1, VK_PRESENT_MODE_FIFO_KHR, 100);
    put(2, VK_PRESENT_MODE_FIFO_KHR, 0);
    assert_int_equal(take(true, 99, &dropped, &until), 0);
    assert_int_equal(until, 100);
    assert_int_equal(take(true, 100, &dropped, &until), 1);
    assert_int_equal(take(true, 100, &dropped, &until), 2);
}

/* VK_EXT_present_mode_fifo_latest_ready: of those that are due, the last one. */
static void latest_ready_takes_the_last_that_is_due(void **state)
{
    uint64_t dropped;

    (void)state;
    put(1, TP_VK_FIFO_LATEST_READY, 10);
    put(2, TP_VK_FIFO_LATEST_READY, 20);
    put(3, TP_VK_FIFO_LATEST_READY, 30);
    assert_int_equal(take(true, 25, &dropped, NULL), 2);
    assert_int_equal(dropped, 1);
    assert_int_equal(take(true, 25, &dropped, NULL), 0);
    assert_int_equal(take(true, 30, &dropped, NULL), 3);
}

static void who_takes_a_place_takes_over_what_it_changes(void **state)
{
    VkRectLayerKHR rectangle = {.extent = {1, 1}};
    VkHdrMetadataEXT hdr = {.maxLuminance = 400};
    struct tp_picture p = {.serial = 1,
        .fence = dup(0),
        .mode = VK_PRESENT_MODE_MAILBOX_KHR,
        .damage = &rectangle,
        .n_damage = 1,
        .hdr = &hdr};
    struct tp_queued *dropped, *out;
    int64_t until;

    (void)state;
    assert_int_equal(tp_present_queue_put(&queue, &p), 0);
    p.serial = 2;
    p.fence = -1;
    p.hdr = NULL;
    assert_int_equal(tp_present_queue_put(&queue, &p), 0);
    rectangle.extent.width = 9;
    out = tp_present_queue_take(&queue, true, 0, &dropped, &until);
    assert_non_null(out);
    assert_int_equal(out->picture.n_damage, 0);
    assert_non_null(out->picture.hdr);
    assert_true(out->picture.hdr->maxLuminance == 400);
    assert_int_equal(dropped->picture.damage[0].extent.width, 1);
    tp_queued_free(dropped);
    tp_queued_free(out);
    assert_null(tp_present_queue_drain(&queue));
}

static struct {
    uint32_t index;
    int fence;
    uint64_t serial;
    unsigned n;
} given_up;

static void on_released(void *data, uint32_t index, int fence)
{
    (void)data;
    given_up.index = index;
    given_up.fence = fence;
    given_up.n++;
}

static void on_discarded(void *data, uint64_t serial)
{
    (void)data;
    given_up.serial = serial;
}

static void who_comes_to_nothing_gives_its_image_back_with_its_fence(void **state)
{
    const struct tp_stream_events events = {.released = on_released, .discarded = on_discarded};
    struct tp_picture p = {.index = 3, .serial = 7, .mode = VK_PRESENT_MODE_FIFO_KHR};
    int ends[2];
    char byte;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    p.fence = ends[0];
    put(6, VK_PRESENT_MODE_FIFO_KHR, 0);
    assert_int_equal(tp_present_queue_put(&queue, &p), 0);
    tp_queued_give_up(tp_present_queue_drain(&queue), &events, NULL);
    assert_int_equal(given_up.n, 2);
    assert_int_equal(given_up.index, 3);
    assert_int_equal(given_up.serial, 7);
    assert_int_equal(given_up.fence, ends[0]);
    assert_int_equal(write(ends[1], "x", 1), 1); /* and it is open */
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_gives_each_its_turn),
        cmocka_unit_test(mailbox_keeps_the_newest),
        cmocka_unit_test(immediate_needs_no_turn),
        cmocka_unit_test(a_change_of_mode_waits_for_those_before_it),
        cmocka_unit_test(an_instant_is_waited_for),
        cmocka_unit_test(latest_ready_takes_the_last_that_is_due),
        cmocka_unit_test(who_takes_a_place_takes_over_what_it_changes),
        cmocka_unit_test(who_comes_to_nothing_gives_its_image_back_with_its_fence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
