/*
 * Which errors there are, and what they leave behind, by the chapters of each command: windows with
 * two surfaces, swapchains that are retired, surfaces that are lost. On every kind of surface.
 *   lawful_errors_test PLACE
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lawful_place.h"

static VkSwapchainCreateInfoKHR info_of(VkSurfaceKHR of)
{
    return chain_info(of, PLACE_WIDTH, PLACE_HEIGHT);
}

static VkResult try_chain(const VkSwapchainCreateInfoKHR *info)
{
    VkSwapchainKHR swapchain;
    VkResult r = vkCreateSwapchainKHR(client.device, info, NULL, &swapchain);

    if (r == VK_SUCCESS)
        vkDestroySwapchainKHR(client.device, swapchain, NULL);
    return r;
}

/* --- windows --- */

static void a_window_has_one_swapchain_whatever_its_surfaces(void **state)
{
    struct chain ch;

    (void)state;
    if (!place()->again)
        skip();
    VkSurfaceKHR second = place_again(&client, 0);
    VkSwapchainCreateInfoKHR info = info_of(surface), other = info_of(second), wrong = other;
    chain_open(&ch, &client, &info);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    assert_int_equal(try_chain(&other), VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    chain_close(&ch);
    /* One that fails has it no longer. */
    wrong.imageFormat = VK_FORMAT_R32_UINT;
    assert_int_equal(try_chain(&wrong), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(try_chain(&info), VK_SUCCESS);
    chain_open(&ch, &client, &other);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    assert_int_equal(try_chain(&info), VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
    chain_close(&ch);
    vkDestroySurfaceKHR(client.instance, second, NULL);
    assert_int_equal(try_chain(&info), VK_SUCCESS);
}

static void a_surface_has_one_swapchain(void **state)
{
    VkSwapchainCreateInfoKHR info = info_of(surface);
    struct chain ch;

    (void)state;
    chain_open(&ch, &client, &info);
    assert_int_equal(try_chain(&info), VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    chain_close(&ch);
    assert_int_equal(try_chain(&info), VK_SUCCESS);
}

/* --- the retired --- */

static void retire(struct chain *old, struct chain *new)
{
    VkSwapchainCreateInfoKHR info = old->info;

    info.oldSwapchain = old->swapchain;
    chain_open(new, &client, &info);
}

static void a_retired_swapchain_gives_no_images(void **state)
{
    VkSwapchainCreateInfoKHR info = info_of(surface);
    struct chain old, new;
    uint32_t index, held;

    (void)state;
    chain_open(&old, &client, &info);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &held), VK_SUCCESS);
    retire(&old, &new);
    index = 77;
    assert_int_equal(chain_acquire(&old, 0, &index), VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(chain_acquire(&old, 1000, &index), VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &index), VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(index, 77);
    assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    chain_close(&old);
    chain_close(&new);
}

/* "Even if creation of the new swapchain fails". */
static void a_swapchain_is_retired_even_where_the_new_one_fails(void **state)
{
    VkSwapchainCreateInfoKHR info = info_of(surface), wrong = info;
    struct chain old, new;
    uint32_t index;

    (void)state;
    chain_open(&old, &client, &info);
    assert_int_equal(chain_round(&old, NULL), VK_SUCCESS);
    wrong.oldSwapchain = old.swapchain;
    wrong.imageFormat = VK_FORMAT_R32_UINT;
    assert_int_equal(try_chain(&wrong), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &index), VK_ERROR_OUT_OF_DATE_KHR);
    chain_open(&new, &client, &info);
    assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    chain_close(&old);
    chain_close(&new);
}

/* Its semaphore was waited for, its fence signals, and its image is not held any more. */
static void a_present_that_is_refused_has_happened_all_the_same(void **state)
{
    VkSwapchainCreateInfoKHR info = info_of(surface);
    VkSemaphore semaphore = make_semaphore();
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore};
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &semaphore,
        .pWaitDstStageMask = &stage};
    VkFence fence = make_fence();
    VkSwapchainPresentFenceInfoEXT fences = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT,
        .swapchainCount = 1,
        .pFences = &fence};
    struct chain old, new;
    uint32_t held;

    (void)state;
    chain_open(&old, &client, &info);
    acquire_all(&old, &held, 1);
    retire(&old, &new);
    assert_int_equal(vkQueueSubmit(client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(
        present_all(&old, &held, 1, semaphore, NULL, &fences), VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(vkWaitForFences(client.device, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    /* The semaphore goes round again. */
    assert_int_equal(vkQueueSubmit(client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(client.queue, 1, &wait, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(client.queue), VK_SUCCESS);
    chain_close(&old);
    chain_close(&new);
    vkDestroyFence(client.device, fence, NULL);
    vkDestroySemaphore(client.device, semaphore, NULL);
}

static void of_several_presents_each_has_its_result(void **state)
{
    VkPresentIdKHR ids = {.sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR,
        .swapchainCount = 3,
        .pPresentIds = (const uint64_t[]){5, 6, 7}};
    VkFence fences[3] = {make_fence(), make_fence(), make_fence()};
    VkSwapchainPresentFenceInfoEXT said = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT,
        .pNext = &ids,
        .swapchainCount = 3,
        .pFences = fences};
    VkSwapchainCreateInfoKHR info = info_of(surface);
    VkResult results[3] = {VK_INCOMPLETE, VK_INCOMPLETE, VK_INCOMPLETE};
    struct chain ch[3], new;
    uint32_t indices[3];
    CLIENT_GET(&client, vkWaitForPresentKHR);

    (void)state;
    open_chain(&ch[0]);
    chain_open(&ch[1], &client, &info);
    open_chain(&ch[2]);
    acquire_all(ch, indices, 3);
    retire(&ch[1], &new);
    assert_int_equal(
        present_all(ch, indices, 3, VK_NULL_HANDLE, results, &said), VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(results[0], VK_SUCCESS);
    assert_int_equal(results[1], VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(results[2], VK_SUCCESS);
    assert_int_equal(vkWaitForFences(client.device, 3, fences, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    /* The others are shown. */
    assert_int_equal(
        vkWaitForPresentKHR(client.device, ch[0].swapchain, 5, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(
        vkWaitForPresentKHR(client.device, ch[2].swapchain, 7, UINT64_MAX), VK_SUCCESS);
    for (int i = 0; i < 3; i++)
        vkDestroyFence(client.device, fences[i], NULL);
    close_chain(&ch[0]);
    chain_close(&ch[1]);
    close_chain(&ch[2]);
    chain_close(&new);
}

/* --- the lost: the last ones, there is nobody on the other side then --- */

/* Until a round of it fails. */
static void lose(struct chain *ch)
{
    VkResult r = VK_SUCCESS;

    place_kill();
    for (int i = 0; i < 10000 && r >= 0; i++)
        r = chain_round(ch, NULL);
    assert_int_equal(r, VK_ERROR_SURFACE_LOST_KHR);
}

static void check_queries(void)
{
    VkSurfaceCapabilitiesKHR caps;
    VkSurfaceFormatKHR formats[64];
    VkPresentModeKHR modes[8];
    VkRect2D rectangles[4];
    uint32_t n = 64, m = 8, k = 4;

    assert_int_equal(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps),
        VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(vkGetPhysicalDeviceSurfaceFormatsKHR(client.physical, surface, &n, formats),
        VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(vkGetPhysicalDeviceSurfacePresentModesKHR(client.physical, surface, &m, modes),
        VK_ERROR_SURFACE_LOST_KHR);
    /* Which has no such error. */
    assert_int_equal(
        vkGetPhysicalDevicePresentRectanglesKHR(client.physical, surface, &k, rectangles),
        VK_SUCCESS);
    assert_int_equal(k, 0);
}

/* A lost surface comes before one that is out of date, and both before what is well. */
static void check_order(struct chain *lost, uint32_t held)
{
    VkResult results[3];
    struct chain ch[3], new;
    uint32_t indices[3];

    open_chain(&ch[0]);
    open_chain(&ch[2]);
    acquire_all(&ch[0], &indices[0], 1);
    acquire_all(&ch[2], &indices[2], 1);
    retire(&ch[0], &new);
    ch[1] = *lost;
    indices[1] = held;
    assert_int_equal(
        present_all(ch, indices, 3, VK_NULL_HANDLE, results, NULL), VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(results[0], VK_ERROR_OUT_OF_DATE_KHR);
    assert_int_equal(results[1], VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(results[2], VK_SUCCESS);
    chain_close(&ch[0]);
    close_chain(&ch[2]);
    close_chain(&new);
}

static void a_lost_surface_is_told_by_every_command_that_can(void **state)
{
    VkSwapchainCreateInfoKHR info = info_of(surface);
    VkRefreshCycleDurationGOOGLE refresh;
    struct chain ch;
    uint32_t held[2], index;
    CLIENT_GET(&client, vkWaitForPresentKHR);
    CLIENT_GET(&client, vkReleaseSwapchainImagesEXT);
    CLIENT_GET(&client, vkGetRefreshCycleDurationGOOGLE);

    (void)state;
    if (strcmp(place()->name, "headless") == 0)
        skip(); /* nobody is there to be lost */
    info.minImageCount = 4;
    chain_open(&ch, &client, &info);
    for (int i = 0; i < 2; i++)
        assert_int_equal(chain_acquire(&ch, UINT64_MAX, &held[i]), VK_SUCCESS);
    draw_image(&ch, held[0], 1);
    lose(&ch);
    assert_int_equal(chain_acquire(&ch, 0, &index), VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_ERROR_SURFACE_LOST_KHR);
    assert_int_equal(
        vkWaitForPresentKHR(client.device, ch.swapchain, 1, UINT64_MAX), VK_ERROR_SURFACE_LOST_KHR);
    VkResult r = vkGetRefreshCycleDurationGOOGLE(client.device, ch.swapchain, &refresh);
    assert_true(r == VK_SUCCESS || r == VK_ERROR_SURFACE_LOST_KHR);
    check_queries();
    check_order(&ch, held[0]);
    VkReleaseSwapchainImagesInfoEXT release = {
        .sType = VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT,
        .swapchain = ch.swapchain,
        .imageIndexCount = 1,
        .pImageIndices = &held[1]};
    assert_int_equal(
        vkReleaseSwapchainImagesEXT(client.device, &release), VK_ERROR_SURFACE_LOST_KHR);
    info.oldSwapchain = ch.swapchain;
    assert_int_equal(try_chain(&info), VK_ERROR_SURFACE_LOST_KHR);
    chain_close(&ch);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_has_one_swapchain_whatever_its_surfaces),
        cmocka_unit_test(a_surface_has_one_swapchain),
        cmocka_unit_test(a_retired_swapchain_gives_no_images),
        cmocka_unit_test(a_swapchain_is_retired_even_where_the_new_one_fails),
        cmocka_unit_test(a_present_that_is_refused_has_happened_all_the_same),
        cmocka_unit_test(of_several_presents_each_has_its_result),
        cmocka_unit_test(a_lost_surface_is_told_by_every_command_that_can),
    };

    if (!take_place(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, begin_place, end_place);
}
