/*
 * Images that are acquired and presented, by vkAcquireNextImageKHR and vkQueuePresentKHR, on a
 * headless surface and with the validation layer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lawful.h"

/* --- acquires --- */

static void pictures_go_round(void **state)
{
    struct chain ch;

    (void)state;
    open_chain(&ch);
    for (int i = 0; i < 200; i++)
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    close_chain(&ch);
}

static void acquire_answers_by_its_timeout(void **state)
{
    struct chain ch;
    uint32_t index, n = 0;

    (void)state;
    open_chain(&ch);
    while (chain_acquire(&ch, 0, &index) == VK_SUCCESS)
        n++;
    assert_int_equal(n, ch.n_images);
    assert_int_equal(chain_acquire(&ch, 0, &index), VK_NOT_READY);
    assert_int_equal(chain_acquire(&ch, 1000000, &index), VK_TIMEOUT);
    assert_int_equal(chain_acquire(&ch, 1, &index), VK_TIMEOUT);
    close_chain(&ch);
}

/* An acquire ends while no more images are held than there are beyond the surface's minimum. */
static void check_progress(struct chain *ch)
{
    VkSurfaceCapabilitiesKHR caps;
    uint32_t index[CLIENT_MAX_IMAGES];

    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, ch->surface, &caps), VK_SUCCESS);
    for (int round = 0; round < 10; round++) {
        uint32_t may = ch->n_images - caps.minImageCount + 1;
        for (uint32_t i = 0; i < may; i++)
            assert_int_equal(chain_acquire(ch, UINT64_MAX, &index[i]), VK_SUCCESS);
        for (uint32_t i = 0; i < may; i++)
            assert_int_equal(chain_present(ch, index[i], VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
}

static void as_many_as_may_be_held_can_be_had(void **state)
{
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR,
        VK_PRESENT_MODE_FIFO_RELAXED_KHR, VK_PRESENT_MODE_MAILBOX_KHR,
        VK_PRESENT_MODE_IMMEDIATE_KHR};
    VkSwapchainPresentModesCreateInfoEXT all = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODES_CREATE_INFO_EXT,
        .presentModeCount = COUNT(modes),
        .pPresentModes = modes};
    struct chain ch;

    (void)state;
    for (size_t i = 0; i < COUNT(modes); i++) {
        for (uint32_t images = 2; images < 6; images++) {
            open_modes(&ch, modes[i], images & 1 ? &all : NULL, images);
            check_progress(&ch);
            close_chain(&ch);
        }
    }
}

static void an_acquire_signals_both_its_semaphore_and_its_fence(void **state)
{
    VkFence fence = make_fence();
    struct chain ch;
    uint32_t index;

    (void)state;
    open_chain(&ch);
    for (int i = 0; i < 8; i++) {
        unsigned frame = ch.frame % CLIENT_FRAMES;
        vkWaitForFences(client.device, 1, &ch.done[frame], VK_TRUE, UINT64_MAX);
        assert_int_equal(vkAcquireNextImageKHR(client.device, ch.swapchain, UINT64_MAX,
                             ch.acquired[frame], fence, &index),
            VK_SUCCESS);
        assert_int_equal(
            vkWaitForFences(client.device, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(vkResetFences(client.device, 1, &fence), VK_SUCCESS);
        assert_int_equal(chain_present(&ch, index, ch.acquired[frame], NULL), VK_SUCCESS);
    }
    vkDeviceWaitIdle(client.device);
    vkDestroyFence(client.device, fence, NULL);
    close_chain(&ch);
}

static void a_device_group_of_one_presents(void **state)
{
    uint32_t mask = 1, index;
    struct chain ch;

    (void)state;
    open_chain(&ch);
    for (uint32_t count = 0; count <= 1; count++) {
        VkAcquireNextImageInfoKHR acquire = {.sType = VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR,
            .swapchain = ch.swapchain,
            .timeout = UINT64_MAX,
            .semaphore = ch.acquired[count],
            .deviceMask = 1};
        VkDeviceGroupPresentInfoKHR group = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_INFO_KHR,
            .swapchainCount = count,
            .pDeviceMasks = &mask,
            .mode = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR};
        assert_int_equal(vkAcquireNextImage2KHR(client.device, &acquire, &index), VK_SUCCESS);
        assert_int_equal(chain_present(&ch, index, ch.acquired[count], &group), VK_SUCCESS);
    }
    close_chain(&ch);
}

/* --- what is in images --- */

static void images_are_presented_in_any_order_and_keep_what_is_in_them(void **state)
{
    unsigned colours[CLIENT_MAX_IMAGES] = {0}, next = 1, kept = 0;
    uint32_t index[2];
    struct chain ch;

    (void)state;
    open_modes(&ch, VK_PRESENT_MODE_FIFO_KHR, NULL, 3);
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 2; i++) {
            assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index[i]), VK_SUCCESS);
            if (colours[index[i]]) {
                assert_int_equal(read_image(&ch, index[i]), colours[index[i]]);
                kept++;
            }
            colours[index[i]] = next++;
            draw_image(&ch, index[i], colours[index[i]]);
        }
        for (int i = 1; i >= 0; i--)
            assert_int_equal(
                present_all(&ch, &index[i], 1, VK_NULL_HANDLE, NULL, NULL), VK_SUCCESS);
    }
    assert_true(kept > 10);
    close_chain(&ch);
}

/* --- presents --- */

static void a_present_waits_for_all_its_semaphores(void **state)
{
    enum { MANY = 20 };
    VkSemaphore semaphores[MANY];
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .signalSemaphoreCount = MANY,
        .pSignalSemaphores = semaphores};
    struct chain ch;
    uint32_t index;

    (void)state;
    open_chain(&ch);
    for (int i = 0; i < MANY; i++)
        semaphores[i] = make_semaphore();
    for (int i = 0; i < 5; i++) {
        VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
            .waitSemaphoreCount = MANY,
            .pWaitSemaphores = semaphores,
            .swapchainCount = 1,
            .pSwapchains = &ch.swapchain,
            .pImageIndices = &index};
        assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_SUCCESS);
        draw_image(&ch, index, 1);
        /* The layer says so if one of them has its signal still. */
        assert_int_equal(vkQueueSubmit(client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
        assert_int_equal(vkQueuePresentKHR(client.queue, &present), VK_SUCCESS);
        assert_int_equal(vkQueueWaitIdle(client.queue), VK_SUCCESS);
    }
    for (int i = 0; i < MANY; i++)
        vkDestroySemaphore(client.device, semaphores[i], NULL);
    close_chain(&ch);
}

static void one_present_serves_several_swapchains(void **state)
{
    static const VkPresentModeKHR modes[] = {
        VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR};
    struct chain ch[3];
    uint32_t indices[3];
    VkResult results[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        open_modes(&ch[i], modes[i], NULL, 2);
    for (int round = 0; round < 20; round++) {
        acquire_all(ch, indices, 3);
        for (int i = 0; i < 3; i++)
            results[i] = VK_ERROR_UNKNOWN;
        assert_int_equal(
            present_all(ch, indices, 3, VK_NULL_HANDLE, round & 1 ? results : NULL, NULL),
            VK_SUCCESS);
        for (int i = 0; i < 3 && round & 1; i++)
            assert_int_equal(results[i], VK_SUCCESS);
    }
    for (int i = 0; i < 3; i++)
        close_chain(&ch[i]);
}

static void the_next_present_waits_for_nothing_of_the_last_one(void **state)
{
    struct chain ch;

    (void)state;
    open_chain(&ch);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        assert_int_equal(vkQueueWaitIdle(client.queue), VK_SUCCESS);
    }
    assert_int_equal(vkDeviceWaitIdle(client.device), VK_SUCCESS);
    close_chain(&ch);
}

static void damage_and_hdr_metadata_are_taken(void **state)
{
    CLIENT_GET(&client, vkSetHdrMetadataEXT);
    VkRectLayerKHR rectangles[] = {
        {.offset = {4, 4}, .extent = {8, 8}}, {.offset = {0, 0}, .extent = {64, 48}}};
    VkPresentRegionKHR region = {.rectangleCount = 2, .pRectangles = rectangles};
    VkPresentRegionsKHR regions = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR, .swapchainCount = 1, .pRegions = &region};
    VkHdrMetadataEXT hdr[2] = {{.sType = VK_STRUCTURE_TYPE_HDR_METADATA_EXT, .maxLuminance = 1000},
        {.sType = VK_STRUCTURE_TYPE_HDR_METADATA_EXT, .maxLuminance = 400}};
    struct chain ch[2];

    (void)state;
    open_chain(&ch[0]);
    open_chain(&ch[1]);
    VkSwapchainKHR both[] = {ch[0].swapchain, ch[1].swapchain};
    vkSetHdrMetadataEXT(client.device, 2, both, hdr);
    for (int i = 0; i < 6; i++)
        assert_int_equal(chain_round(&ch[i & 1], &regions), VK_SUCCESS);
    close_chain(&ch[0]);
    close_chain(&ch[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_go_round),
        cmocka_unit_test(acquire_answers_by_its_timeout),
        cmocka_unit_test(as_many_as_may_be_held_can_be_had),
        cmocka_unit_test(an_acquire_signals_both_its_semaphore_and_its_fence),
        cmocka_unit_test(a_device_group_of_one_presents),
        cmocka_unit_test(images_are_presented_in_any_order_and_keep_what_is_in_them),
        cmocka_unit_test(a_present_waits_for_all_its_semaphores),
        cmocka_unit_test(one_present_serves_several_swapchains),
        cmocka_unit_test(the_next_present_waits_for_nothing_of_the_last_one),
        cmocka_unit_test(damage_and_hdr_metadata_are_taken),
    };

    return cmocka_run_group_tests(tests, open_client, close_client);
}
