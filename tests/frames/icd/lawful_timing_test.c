/*
 * When pictures were shown, by VK_KHR_present_id, VK_KHR_present_wait and VK_GOOGLE_display_timing,
 * on every kind of surface.
 *   lawful_timing_test PLACE
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "lawful_place.h"

#define NOBODY_WAITS_SO_LONG UINT64_C(60000000000)

static void open_here(struct chain *ch, VkPresentModeKHR mode, uint32_t images)
{
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);

    info.presentMode = mode;
    info.minImageCount = images;
    chain_open(ch, &client, &info);
}

static VkResult wait_for_id(const struct chain *ch, uint64_t id, uint64_t timeout)
{
    CLIENT_GET(&client, vkWaitForPresentKHR);

    return vkWaitForPresentKHR(client.device, ch->swapchain, id, timeout);
}

static void present_id(struct chain *ch, uint64_t id)
{
    VkPresentIdKHR ids = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &id};

    assert_int_equal(chain_round(ch, &ids), VK_SUCCESS);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- ids --- */

static void a_wait_without_a_present_of_that_id_times_out(void **state)
{
    VkPresentIdKHR none = {.sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1};
    struct chain ch;

    (void)state;
    open_here(&ch, VK_PRESENT_MODE_FIFO_KHR, 2);
    for (int i = 0; i < 4; i++) {
        uint64_t before = now_ns();
        assert_int_equal(wait_for_id(&ch, 1, 0), VK_TIMEOUT);
        assert_int_equal(wait_for_id(&ch, 1, 3000000), VK_TIMEOUT);
        assert_true(now_ns() - before >= 3000000);
        /* None yet, one without, one whose id is 0, one whose ids are left out. */
        if (i == 0)
            assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        else if (i == 1)
            present_id(&ch, 0);
        else
            assert_int_equal(chain_round(&ch, &none), VK_SUCCESS);
    }
    present_id(&ch, 1);
    assert_int_equal(wait_for_id(&ch, 1, NOBODY_WAITS_SO_LONG), VK_SUCCESS);
    assert_int_equal(wait_for_id(&ch, 2, 0), VK_TIMEOUT);
    assert_int_equal(wait_for_id(&ch, UINT64_MAX, 1000), VK_TIMEOUT);
    chain_close(&ch);
}

static void ids_may_have_gaps_and_be_as_high_as_numbers_go(void **state)
{
    static const uint64_t ids[] = {1, 2, 40, UINT64_C(1) << 40, UINT64_MAX - 1, UINT64_MAX};
    struct chain ch;

    (void)state;
    open_here(&ch, VK_PRESENT_MODE_FIFO_KHR, 2);
    for (size_t i = 0; i < COUNT(ids); i++) {
        present_id(&ch, ids[i]);
        assert_int_equal(wait_for_id(&ch, ids[i], NOBODY_WAITS_SO_LONG), VK_SUCCESS);
        for (size_t k = 0; k <= i; k++)
            assert_int_equal(wait_for_id(&ch, ids[k], 0), VK_SUCCESS);
        if (i + 1 < COUNT(ids))
            assert_int_equal(wait_for_id(&ch, ids[i] + 1, 0), VK_TIMEOUT);
    }
    /* There is none above, but more pictures. */
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    present_id(&ch, 0);
    chain_close(&ch);
}

static void a_wait_is_for_its_own_swapchain(void **state)
{
    struct chain here, other;

    (void)state;
    open_here(&here, VK_PRESENT_MODE_FIFO_KHR, 2);
    open_chain(&other);
    present_id(&here, 7);
    assert_int_equal(wait_for_id(&here, 7, NOBODY_WAITS_SO_LONG), VK_SUCCESS);
    assert_int_equal(wait_for_id(&other, 1, 1000000), VK_TIMEOUT);
    present_id(&other, 3);
    assert_int_equal(wait_for_id(&other, 3, NOBODY_WAITS_SO_LONG), VK_SUCCESS);
    assert_int_equal(wait_for_id(&here, 8, 0), VK_TIMEOUT);
    close_chain(&other);
    chain_close(&here);
}

static void what_is_replaced_ends_no_later_than_what_replaced_it(void **state)
{
    struct chain ch;

    (void)state;
    open_here(&ch, VK_PRESENT_MODE_MAILBOX_KHR, 4);
    for (uint64_t id = 1; id <= 60; id++) {
        present_id(&ch, id);
        if (id % 20)
            continue;
        assert_int_equal(wait_for_id(&ch, id, NOBODY_WAITS_SO_LONG), VK_SUCCESS);
        for (uint64_t before = 1; before < id; before++)
            assert_int_equal(wait_for_id(&ch, before, 0), VK_SUCCESS);
    }
    chain_close(&ch);
}

static void *wait_for_ten(void *data)
{
    return (void *)(intptr_t)wait_for_id(data, 10, NOBODY_WAITS_SO_LONG);
}

static void another_thread_may_wait_meanwhile(void **state)
{
    struct chain ch;
    pthread_t thread;
    void *result;

    (void)state;
    open_here(&ch, VK_PRESENT_MODE_FIFO_KHR, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ten, &ch), 0);
    for (uint64_t id = 1; id <= 10; id++)
        present_id(&ch, id);
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, VK_SUCCESS);
    chain_close(&ch);
}

/* What will never be presented is waited for in vain: but not for ever. */
static void a_wait_ends_when_its_swapchain_is_retired(void **state)
{
    struct chain old, new;
    pthread_t thread;
    void *result;

    (void)state;
    open_here(&old, VK_PRESENT_MODE_FIFO_KHR, 2);
    present_id(&old, 9);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ten, &old), 0);
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    VkSwapchainCreateInfoKHR info = old.info;
    info.oldSwapchain = old.swapchain;
    chain_open(&new, &client, &info);
    present_id(&new, 1);
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(wait_for_id(&old, 9, NOBODY_WAITS_SO_LONG), VK_SUCCESS);
    chain_close(&old);
    chain_close(&new);
}

/* --- times --- */

static void present_at(struct chain *ch, uint32_t id, uint64_t desired)
{
    VkPresentTimeGOOGLE time = {.presentID = id, .desiredPresentTime = desired};
    VkPresentTimesInfoGOOGLE times = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE, .swapchainCount = 1, .pTimes = &time};

    assert_int_equal(chain_round(ch, &times), VK_SUCCESS);
}

static void check_refresh(const struct chain *ch)
{
    CLIENT_GET(&client, vkGetRefreshCycleDurationGOOGLE);
    VkRefreshCycleDurationGOOGLE refresh = {0};

    assert_int_equal(
        vkGetRefreshCycleDurationGOOGLE(client.device, ch->swapchain, &refresh), VK_SUCCESS);
    assert_in_range(refresh.refreshDuration, 1000000, 50000000);
}

static VkResult past_of(const struct chain *ch, uint32_t *n, VkPastPresentationTimingGOOGLE *out)
{
    CLIENT_GET(&client, vkGetPastPresentationTimingGOOGLE);

    return vkGetPastPresentationTimingGOOGLE(client.device, ch->swapchain, n, out);
}

static void await_past(const struct chain *ch, uint32_t count)
{
    uint32_t n = 0;

    for (int i = 0; i < 5000 && n < count; i++) {
        assert_int_equal(past_of(ch, &n, NULL), VK_SUCCESS);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(n, count);
}

static void timings_are_told_once_and_as_far_as_there_is_room(void **state)
{
    VkPastPresentationTimingGOOGLE past[8];
    struct chain ch;
    uint32_t n = 8;

    (void)state;
    open_here(&ch, VK_PRESENT_MODE_FIFO_KHR, 2);
    assert_int_equal(past_of(&ch, &n, past), VK_SUCCESS);
    assert_int_equal(n, 0);
    for (uint32_t i = 1; i <= 5; i++)
        present_at(&ch, 100 + i, 0);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS); /* asks for none */
    await_past(&ch, 5);
    n = 0;
    assert_int_equal(past_of(&ch, &n, past), VK_INCOMPLETE);
    assert_int_equal(n, 0);
    n = 2;
    assert_int_equal(past_of(&ch, &n, past), VK_INCOMPLETE);
    assert_int_equal(n, 2);
    assert_int_equal(past[0].presentID, 101);
    assert_int_equal(past[1].presentID, 102);
    n = 8;
    assert_int_equal(past_of(&ch, &n, past), VK_SUCCESS);
    assert_int_equal(n, 3);
    assert_int_equal(past[0].presentID, 103);
    assert_int_equal(past[2].presentID, 105);
    assert_int_equal(past_of(&ch, &n, past), VK_SUCCESS);
    assert_int_equal(n, 0);
    chain_close(&ch);
}

static void pictures_are_shown_when_they_may_be_and_in_order(void **state)
{
    VkPastPresentationTimingGOOGLE past[16];
    uint64_t called[16], desired[16], last = 0;
    struct chain ch;
    uint32_t n = COUNT(past);

    (void)state;
    open_here(&ch, VK_PRESENT_MODE_FIFO_KHR, 2);
    check_refresh(&ch);
    for (uint32_t i = 0; i < COUNT(past); i++) {
        called[i] = now_ns();
        desired[i] = i % 4 == 3 ? called[i] + 20000000 : i % 4 == 2 ? 1 : 0;
        present_at(&ch, i, desired[i]);
    }
    await_past(&ch, n);
    assert_int_equal(past_of(&ch, &n, past), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++) {
        const VkPastPresentationTimingGOOGLE *p = &past[i];
        assert_int_equal(p->presentID, i);
        assert_int_equal(p->desiredPresentTime, desired[i]);
        assert_true(p->actualPresentTime >= called[i]);
        assert_true(p->actualPresentTime >= desired[i]);
        assert_true(p->earliestPresentTime <= p->actualPresentTime);
        assert_true(p->presentMargin < 50000000);
        assert_true(p->actualPresentTime >= last);
        last = p->actualPresentTime;
    }
    chain_close(&ch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_without_a_present_of_that_id_times_out),
        cmocka_unit_test(ids_may_have_gaps_and_be_as_high_as_numbers_go),
        cmocka_unit_test(a_wait_is_for_its_own_swapchain),
        cmocka_unit_test(what_is_replaced_ends_no_later_than_what_replaced_it),
        cmocka_unit_test(another_thread_may_wait_meanwhile),
        cmocka_unit_test(a_wait_ends_when_its_swapchain_is_retired),
        cmocka_unit_test(timings_are_told_once_and_as_far_as_there_is_room),
        cmocka_unit_test(pictures_are_shown_when_they_may_be_and_in_order),
    };

    if (!take_place(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, begin_place, end_place);
}
