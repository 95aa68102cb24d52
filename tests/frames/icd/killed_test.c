/*
 * The other side of a surface is killed while a swapchain runs on it, and so is the server: nobody
 * waits without end, and everything says what has become of it.
 *   killed_test PLACE
 */
#include "place.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char *where;
static struct client client;
static VkSurfaceKHR surface;
static struct chain chain;
static unsigned fds_before;

/* What was held up is let go, too late: the test ends instead. */
static void watch_over(unsigned seconds)
{
    alarm(seconds);
}

static VkSwapchainCreateInfoKHR make_info(VkPresentModeKHR mode)
{
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);

    info.presentMode = mode;
    return info;
}

static int begin(void **state)
{
    (void)state;
    place_begin(where);
    client_open_lawless(&client);
    /* The connection to the server is opened by the first swapchain, and stays. */
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    chain_open(&chain, &client, &info);
    chain_close(&chain);
    vkDestroySurfaceKHR(client.instance, info.surface, NULL);
    fds_before = client_count_fds();
    surface = place_surface(&client, 0);
    watch_over(60);
    return 0;
}

static int end(void **state)
{
    (void)state;
    client_close(&client);
    place_end();
    watch_over(0);
    return 0;
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* --- threads that wait --- */

struct waiter {
    pthread_t thread;
    VkSwapchainKHR swapchain;
    uint64_t id; /* 0: for an image */
    _Atomic VkResult result;
};

static void *acquire(void *data)
{
    struct waiter *w = data;
    uint32_t index;

    w->result = vkAcquireNextImageKHR(
        client.device, w->swapchain, UINT64_MAX, chain.acquired[0], VK_NULL_HANDLE, &index);
    return NULL;
}

static void *wait_for_present(void *data)
{
    struct waiter *w = data;
    CLIENT_GET(&client, vkWaitForPresentKHR);

    w->result = vkWaitForPresentKHR(client.device, w->swapchain, w->id, UINT64_MAX);
    return NULL;
}

/* For an image, where id is 0. It waits, as far as anybody can tell. */
static void start(struct waiter *w, VkSwapchainKHR swapchain, uint64_t id)
{
    *w = (struct waiter){.swapchain = swapchain, .id = id, .result = VK_EVENT_SET};
    assert_int_equal(pthread_create(&w->thread, NULL, id ? wait_for_present : acquire, w), 0);
    nap(20);
    assert_int_equal(w->result, VK_EVENT_SET);
}

static VkResult finish(struct waiter *w)
{
    pthread_join(w->thread, NULL);
    return w->result;
}

/* --- a surface whose other side is killed --- */

static VkResult present_with_id(uint32_t index, uint64_t id)
{
    VkPresentIdKHR ids = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &id};

    return chain_present(&chain, index, VK_NULL_HANDLE, &ids);
}

/* One that is so far away in time that it is under way for as long as the test is. */
static void present_for_later(uint64_t id)
{
    VkPresentTimeGOOGLE time = {.presentID = 1, .desiredPresentTime = INT64_MAX / 2};
    VkPresentTimesInfoGOOGLE times = {.sType = VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE,
        .swapchainCount = 1,
        .pTimes = &time};
    VkPresentIdKHR ids = {.sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR,
        .pNext = &times,
        .swapchainCount = 1,
        .pPresentIds = &id};

    assert_int_equal(chain_round(&chain, &ids), VK_SUCCESS);
}

static void present_and_wait(uint64_t id)
{
    CLIENT_GET(&client, vkWaitForPresentKHR);
    uint32_t index;

    assert_int_equal(chain_acquire(&chain, UINT64_MAX, &index), VK_SUCCESS);
    assert_int_equal(present_with_id(index, id), VK_SUCCESS);
    assert_int_equal(
        vkWaitForPresentKHR(client.device, chain.swapchain, id, UINT64_MAX), VK_SUCCESS);
}

/* Some at work: pictures one after another until there is an error. */
static void *play(void *data)
{
    struct waiter *w = data;
    VkResult r = VK_SUCCESS;

    while (r >= 0)
        r = chain_round(&chain, NULL);
    w->result = r;
    return NULL;
}

static bool is_known(void *data)
{
    uint32_t index;

    (void)data;
    return chain_acquire(&chain, 0, &index) == VK_ERROR_SURFACE_LOST_KHR;
}

static void everything_says_so(void)
{
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);
    VkSurfaceCapabilitiesKHR caps;
    CLIENT_GET(&client, vkWaitForPresentKHR);
    VkSwapchainKHR another;
    uint32_t index;

    assert_true(place_await(is_known, NULL));
    assert_int_equal(chain_acquire(&chain, 1000000, &index), VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(chain_acquire(&chain, UINT64_MAX, &index), VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(vkWaitForPresentKHR(client.device, chain.swapchain, 1000, UINT64_MAX),
        VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps),
        VK_ERROR_SURFACE_LOST_KHR);
    info.oldSwapchain = chain.swapchain;
    assert_int_equal(
        vkCreateSwapchainKHR(client.device, &info, NULL, &another), VK_ERROR_SURFACE_LOST_KHR);
}

static void close_all(void)
{
    chain_close(&chain);
    place_close(&client, surface, 0);
    assert_in_range(client_count_fds(), 0, fds_before);
}

static void whoever_waits_is_told(void **state)
{
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);
    uint32_t index[CLIENT_MAX_IMAGES];
    struct waiter for_image, for_picture;

    (void)state;
    chain_open(&chain, &client, &info);
    for (uint64_t id = 1; id <= 20; id++) {
        assert_int_equal(chain_acquire(&chain, UINT64_MAX, &index[0]), VK_SUCCESS);
        assert_int_equal(present_with_id(index[0], id), VK_SUCCESS);
    }
    /* All that may be had, so that there is none; and an id that nobody has presented. */
    uint32_t n = 0;
    while (chain_acquire(&chain, 200000000, &index[n]) == VK_SUCCESS)
        n++;
    assert_in_range(n, 2, chain.n_images);
    start(&for_image, chain.swapchain, 0);
    start(&for_picture, chain.swapchain, 1000);
    place_kill();
    assert_int_equal(finish(&for_image), VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(finish(&for_picture), VK_ERROR_SURFACE_LOST_KHR);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(present_with_id(index[i], 21 + i), VK_ERROR_SURFACE_LOST_KHR);
    everything_says_so();
    close_all();
}

/* Pictures that nobody has taken yet end with it: they never will be shown, or are lost, whichever is
 * seen first. */
static void queued_pictures_come_to_nothing(void **state)
{
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);
    struct waiter for_picture;

    (void)state;
    info.minImageCount = 8;
    chain_open(&chain, &client, &info);
    present_and_wait(1);
    for (uint64_t id = 2; id < 6; id++)
        present_for_later(id);
    start(&for_picture, chain.swapchain, 5);
    place_kill();
    VkResult r = finish(&for_picture);
    assert_true(r == VK_ERROR_SURFACE_LOST_KHR || r == VK_SUCCESS);
    everything_says_so();
    close_all();
}

static void a_program_at_work_is_told(void **state)
{
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR};
    VkSwapchainCreateInfoKHR info = make_info(modes[getpid() % 2]);
    struct waiter program = {.result = VK_EVENT_SET};

    (void)state;
    chain_open(&chain, &client, &info);
    assert_int_equal(pthread_create(&program.thread, NULL, play, &program), 0);
    nap(100);
    assert_int_equal(program.result, VK_EVENT_SET);
    place_kill();
    assert_int_equal(finish(&program), VK_ERROR_SURFACE_LOST_KHR);
    everything_says_so();
    close_all();
}

/* The retired one's pictures are waited for, too. */
static void who_waits_on_a_retired_swapchain_is_told(void **state)
{
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);
    struct waiter for_picture;
    struct chain old;

    (void)state;
    chain_open(&chain, &client, &info);
    present_and_wait(1);
    present_for_later(2);
    vkDeviceWaitIdle(client.device);
    nap(20); /* it is the compositor's affair now, not the driver's */
    old = chain;
    info.oldSwapchain = old.swapchain;
    chain_open(&chain, &client, &info);
    start(&for_picture, old.swapchain, 2);
    place_kill();
    VkResult r = finish(&for_picture);
    assert_true(r == VK_ERROR_SURFACE_LOST_KHR || r == VK_SUCCESS);
    chain_close(&old);
    everything_says_so();
    close_all();
}

/* --- a server beside it --- */

static bool has_fds(void *data)
{
    return client_count_fds() == *(unsigned *)data;
}

static bool has_fewer_fds(void *data)
{
    return client_count_fds() < *(unsigned *)data;
}

static void a_server_may_die_and_come_again(void **state)
{
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);

    (void)state;
    place_serve();
    chain_open(&chain, &client, &info);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
        vkDeviceWaitIdle(client.device);
        unsigned connected = client_count_fds();
        place_kill_server();
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
        vkDeviceWaitIdle(client.device);
        assert_true(place_await(has_fewer_fds, &connected));
        place_serve();
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
        assert_true(place_await(has_fds, &connected)); /* it is found again */
    }
    chain_close(&chain);
    place_close(&client, surface, 0);
}

/* The screen's own server: another one's screen is another surface's, of the same instance. */
static void a_screen_that_comes_again_is_had_anew(void **state)
{
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        chain_open(&chain, &client, &info);
        for (unsigned i = 0; i < 20; i++)
            assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
        place_kill_server();
        VkResult r = VK_SUCCESS;
        while (r >= 0)
            r = chain_round(&chain, NULL);
        assert_int_equal(r, VK_ERROR_SURFACE_LOST_KHR);
        everything_says_so();
        place_serve();
        everything_says_so(); /* that one stays lost */
        close_all();
        info.surface = surface = place_surface(&client, 0);
    }
    chain_open(&chain, &client, &info);
    assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    close_all();
}

/* Of which nobody had noticed that it went. */
static void a_screen_that_nobody_used_is_had_anew(void **state)
{
    VkSurfaceKHR unused = surface;

    (void)state;
    place_kill_server();
    place_serve();
    surface = place_surface(&client, 0);
    VkSwapchainCreateInfoKHR info = make_info(VK_PRESENT_MODE_FIFO_KHR);
    chain_open(&chain, &client, &info);
    assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    vkDestroySurfaceKHR(client.instance, unused, NULL);
    close_all();
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest of_surfaces[] = {
        T(whoever_waits_is_told),
        T(queued_pictures_come_to_nothing),
        T(a_program_at_work_is_told),
        T(who_waits_on_a_retired_swapchain_is_told),
    };
    const struct CMUnitTest of_servers[] = {T(a_server_may_die_and_come_again)};
    const struct CMUnitTest of_screens[] = {
        T(a_screen_that_comes_again_is_had_anew),
        T(a_screen_that_nobody_used_is_had_anew),
    };
    int failed = 0;

    if (argc != 2)
        return 2;
    where = argv[1];
    if (strcmp(where, "headless") != 0)
        failed += cmocka_run_group_tests_name(where, of_surfaces, NULL, NULL);
    if (strcmp(where, "display") != 0)
        failed += cmocka_run_group_tests_name(where, of_servers, NULL, NULL);
    else
        failed += cmocka_run_group_tests_name(where, of_screens, NULL, NULL);
    return failed;
}
