/* What becomes of a swapchain when the device is lost (less_driver.c loses it). */
#include "client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
    chain_close(&ch);
    vkDestroySurfaceKHR(client.instance, ch.surface, NULL);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_says_that_the_device_is_lost)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
