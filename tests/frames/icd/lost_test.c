/* What becomes of a swapchain when the device is lost (less_driver.c loses it). */
#include "client.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void everything_says_that_the_device_is_lost(void **state)
{
    static struct client client;
    struct chain ch;
    VkResult r = VK_SUCCESS;
    uint32_t index;
    int rounds = 0;

    (void)state;
    client_open_lawless(&client);
    CLIENT_GET(&client, vkWaitForPresentKHR);
    CLIENT_GET(&client, vkReleaseSwapchainImagesEXT);
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    chain_open(&ch, &client, &info);
    /* The acquire needs a submit too, where it has a semaphore; here it has none. */
    for (; r == VK_SUCCESS && rounds < 1000; rounds++) {
        r = vkAcquireNextImageKHR(
            client.device, ch.swapchain, UINT64_MAX, VK_NULL_HANDLE, VK_NULL_HANDLE, &index);
        VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
            .swapchainCount = 1,
            .pSwapchains = &ch.swapchain,
            .pImageIndices = &index};
        if (r == VK_SUCCESS)
            r = vkQueuePresentKHR(client.queue, &present);
    }
    assert_int_equal(r, VK_ERROR_DEVICE_LOST);
    assert_in_range(rounds, 2, 999);
    assert_int_equal(vkAcquireNextImageKHR(client.device, ch.swapchain, UINT64_MAX, VK_NULL_HANDLE,
                         VK_NULL_HANDLE, &index),
        VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkAcquireNextImageKHR(
                         client.device, ch.swapchain, 0, ch.acquired[0], VK_NULL_HANDLE, &index),
        VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkWaitForPresentKHR(client.device, ch.swapchain, 1000000, UINT64_MAX),
        VK_ERROR_DEVICE_LOST);
    /* Which has no such error. */
    VkReleaseSwapchainImagesInfoEXT none = {
        .sType = VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT, .swapchain = ch.swapchain};
    assert_int_equal(vkReleaseSwapchainImagesEXT(client.device, &none), VK_SUCCESS);
    info.oldSwapchain = ch.swapchain;
    assert_int_equal(
        vkCreateSwapchainKHR(client.device, &info, NULL, &info.oldSwapchain), VK_ERROR_DEVICE_LOST);
    chain_close(&ch);
    vkDestroySurfaceKHR(client.instance, ch.surface, NULL);
    client_close(&client);
}

/* --- those who wait meanwhile --- */

static struct client client;

struct waiter {
    pthread_t thread;
    struct chain *chain;
    bool for_picture;
    _Atomic VkResult result;
};

static void *wait(void *data)
{
    struct waiter *w = data;
    CLIENT_GET(&client, vkWaitForPresentKHR);
    uint32_t index;

    w->result = w->for_picture
        ? vkWaitForPresentKHR(client.device, w->chain->swapchain, 1000, UINT64_MAX)
        : vkAcquireNextImageKHR(client.device, w->chain->swapchain, UINT64_MAX,
              w->chain->acquired[0], VK_NULL_HANDLE, &index);
    return NULL;
}

static void start(struct waiter *w, struct chain *ch, bool for_picture)
{
    *w = (struct waiter){.chain = ch, .for_picture = for_picture, .result = VK_EVENT_SET};
    assert_int_equal(pthread_create(&w->thread, NULL, wait, w), 0);
}

static void open_without_images(struct chain *ch)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    uint32_t index;

    chain_open(ch, &client, &info);
    for (uint32_t i = 0; i < ch->n_images; i++)
        assert_int_equal(chain_acquire(ch, UINT64_MAX, &index), VK_SUCCESS);
}

/* On its own swapchain, and on others of the device. */
static void whoever_waits_is_told(void **state)
{
    struct chain chains[2];
    struct waiter waiters[4];
    uint32_t index = 0;

    (void)state;
    alarm(30);
    client_open_lawless(&client);
    for (int i = 0; i < 2; i++)
        open_without_images(&chains[i]);
    for (int i = 0; i < 4; i++)
        start(&waiters[i], &chains[i / 2], i % 2);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(waiters[i].result, VK_EVENT_SET);
    client_lose_device(true);
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .swapchainCount = 1,
        .pSwapchains = &chains[0].swapchain,
        .pImageIndices = &index};
    assert_int_equal(vkQueuePresentKHR(client.queue, &present), VK_ERROR_DEVICE_LOST);
    for (int i = 0; i < 4; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].result, VK_ERROR_DEVICE_LOST);
    }
    for (int i = 0; i < 2; i++) {
        chain_close(&chains[i]);
        vkDestroySurfaceKHR(client.instance, chains[i].surface, NULL);
    }
    client_close(&client);
    client_lose_device(false);
    alarm(0);
}

/* Lost after the present has answered, before the picture was complete. */
static void a_picture_under_way_is_lost_with_it(void **state)
{
    VkSemaphore semaphore;
    struct chain ch;
    struct waiter waiters[2];
    uint32_t index = 0;

    (void)state;
    alarm(30);
    client_open_lawless(&client);
    open_without_images(&ch);
    semaphore = client_hold_queue(&client);
    VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .swapchainCount = 1,
        .pSwapchains = &ch.swapchain,
        .pImageIndices = &index};
    assert_int_equal(vkQueuePresentKHR(client.queue, &present), VK_SUCCESS);
    for (int i = 0; i < 2; i++)
        start(&waiters[i], &ch, i);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    client_lose_device(true);
    client_release_queue(&client, semaphore);
    for (int i = 0; i < 2; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].result, VK_ERROR_DEVICE_LOST);
    }
    chain_close(&ch);
    vkDestroySemaphore(client.device, semaphore, NULL);
    vkDestroySurfaceKHR(client.instance, ch.surface, NULL);
    client_close(&client);
    client_lose_device(false);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_waits_is_told),
        cmocka_unit_test(a_picture_under_way_is_lost_with_it),
        cmocka_unit_test(everything_says_that_the_device_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
