/*
 * VK_EXT_swapchain_maintenance1 and VK_KHR_incremental_present, on a headless surface, without the
 * validation layer: that of 1.3.239 does not know of images that are given back, of fences and
 * regions that are left out, nor of what a present's fence ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lawful.h"

/* --- fences and modes --- */

/* Once a present's fence has signalled, its semaphores and its swapchain may go. */
static void presents_signal_their_fences(void **state)
{
    VkSemaphore semaphore = make_semaphore();
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore};
    VkFence fence = make_fence();
    struct chain ch;
    uint32_t index;

    (void)state;
    open_chain(&ch);
    for (int i = 0; i < 10; i++) {
        VkSwapchainPresentFenceInfoEXT fences = {
            .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT,
            .swapchainCount = 1,
            .pFences = &fence};
        acquire_all(&ch, &index, 1);
        assert_int_equal(vkQueueSubmit(client.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
        assert_int_equal(present_all(&ch, &index, 1, semaphore, NULL, &fences), VK_SUCCESS);
        assert_int_equal(
            vkWaitForFences(client.device, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(vkResetFences(client.device, 1, &fence), VK_SUCCESS);
    }
    vkDestroySemaphore(client.device, semaphore, NULL);
    vkDestroyFence(client.device, fence, NULL);
    close_chain(&ch);
}

static void fences_of_presents_signal_in_their_order_and_may_be_left_out(void **state)
{
    enum { PRESENTS = 24, CHAINS = 2 };
    VkFence fences[PRESENTS][CHAINS];
    struct chain ch[CHAINS];
    uint32_t indices[CHAINS];

    (void)state;
    for (int i = 0; i < CHAINS; i++)
        open_chain(&ch[i]);
    for (int i = 0; i < PRESENTS; i++) {
        for (int k = 0; k < CHAINS; k++)
            fences[i][k] = (i + k) % 3 ? make_fence() : VK_NULL_HANDLE;
        VkSwapchainPresentFenceInfoEXT said = {
            .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT,
            .swapchainCount = CHAINS,
            .pFences = fences[i]};
        acquire_all(ch, indices, CHAINS);
        assert_int_equal(present_all(ch, indices, CHAINS, VK_NULL_HANDLE, NULL, &said), VK_SUCCESS);
        for (int k = 0; k < CHAINS; k++) {
            bool later = false;
            for (int p = i; p >= 0; p--) {
                if (!fences[p][k])
                    continue;
                bool signalled = vkGetFenceStatus(client.device, fences[p][k]) == VK_SUCCESS;
                assert_true(signalled || !later);
                later = later || signalled;
            }
        }
    }
    for (int i = 0; i < PRESENTS; i++) {
        for (int k = 0; k < CHAINS; k++) {
            if (!fences[i][k])
                continue;
            assert_int_equal(
                vkWaitForFences(client.device, 1, &fences[i][k], VK_TRUE, UINT64_MAX), VK_SUCCESS);
            vkDestroyFence(client.device, fences[i][k], NULL);
        }
    }
    for (int i = 0; i < CHAINS; i++)
        close_chain(&ch[i]);
}

static void each_present_may_have_another_mode(void **state)
{
    static const VkPresentModeKHR modes[] = {
        VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR};
    VkSwapchainPresentModesCreateInfoEXT may_be = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODES_CREATE_INFO_EXT,
        .presentModeCount = 3,
        .pPresentModes = modes};
    struct chain ch;

    (void)state;
    open_modes(&ch, VK_PRESENT_MODE_FIFO_KHR, &may_be, 3);
    for (int i = 0; i < 24; i++) {
        VkSwapchainPresentModeInfoEXT mode = {
            .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODE_INFO_EXT,
            .swapchainCount = 1,
            .pPresentModes = &modes[i % 3]};
        /* Where none is said it is as before. */
        assert_int_equal(chain_round(&ch, i % 5 ? &mode : NULL), VK_SUCCESS);
    }
    close_chain(&ch);
}

/* --- images that are given back --- */

static void give_back(struct chain *ch, const uint32_t *indices, uint32_t n)
{
    CLIENT_GET(&client, vkReleaseSwapchainImagesEXT);
    VkReleaseSwapchainImagesInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_RELEASE_SWAPCHAIN_IMAGES_INFO_EXT,
        .swapchain = ch->swapchain,
        .imageIndexCount = n,
        .pImageIndices = indices};

    assert_int_equal(vkReleaseSwapchainImagesEXT(client.device, &info), VK_SUCCESS);
}

static void all_images_can_be_given_back(void **state)
{
    struct chain ch;
    uint32_t index[CLIENT_MAX_IMAGES];

    (void)state;
    open_chain(&ch);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < ch.n_images; i++)
            assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index[i]), VK_SUCCESS);
        give_back(&ch, index, ch.n_images);
    }
    give_back(&ch, index, 0);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    close_chain(&ch);
}

static void what_is_in_an_image_that_is_given_back_stays(void **state)
{
    unsigned colours[CLIENT_MAX_IMAGES] = {0}, kept = 0;
    struct chain ch;
    uint32_t index;

    (void)state;
    open_modes(&ch, VK_PRESENT_MODE_FIFO_KHR, NULL, 2);
    for (unsigned round = 1; round < 40; round++) {
        assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_SUCCESS);
        if (colours[index]) {
            assert_int_equal(read_image(&ch, index), colours[index]);
            kept++;
        }
        colours[index] = round;
        draw_image(&ch, index, round);
        if (round % 4)
            give_back(&ch, &index, 1);
        else
            assert_int_equal(present_all(&ch, &index, 1, VK_NULL_HANDLE, NULL, NULL), VK_SUCCESS);
    }
    assert_true(kept > 20);
    close_chain(&ch);
}

static void images_of_a_retired_swapchain_can_be_given_back(void **state)
{
    struct chain old, new;
    uint32_t index[2];

    (void)state;
    open_modes(&old, VK_PRESENT_MODE_FIFO_KHR, NULL, 3);
    for (int i = 0; i < 2; i++)
        assert_int_equal(chain_acquire(&old, UINT64_MAX, &index[i]), VK_SUCCESS);
    VkSwapchainCreateInfoKHR info = old.info;
    info.oldSwapchain = old.swapchain;
    chain_open(&new, &client, &info);
    give_back(&old, index, 2);
    assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    chain_close(&old);
    close_chain(&new);
}

/* --- maintenance 6: bindings say what became of each, which headers of 1.3.239 do not know --- */

struct binding_status {
    VkStructureType type;
    const void *next;
    VkResult *result;
};

static void bindings_to_a_swapchain_tell_their_result(void **state)
{
    VkResult results[2] = {VK_ERROR_UNKNOWN, VK_ERROR_UNKNOWN};
    VkBindImageMemorySwapchainInfoKHR to[2];
    struct binding_status status[2];
    VkBindImageMemoryInfo bind[2];
    VkImage images[2];
    struct chain ch;

    (void)state;
    open_chain(&ch);
    for (uint32_t i = 0; i < 2; i++) {
        images[i] = image_of(&ch);
        status[i] = (struct binding_status){(VkStructureType)1000545002, NULL, &results[i]};
        to[i] = (VkBindImageMemorySwapchainInfoKHR){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR,
            .pNext = &status[i],
            .swapchain = ch.swapchain,
            .imageIndex = i};
        bind[i] = (VkBindImageMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, .pNext = &to[i], .image = images[i]};
    }
    assert_int_equal(vkBindImageMemory2(client.device, 2, bind), VK_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(results[i], VK_SUCCESS);
        vkDestroyImage(client.device, images[i], NULL);
    }
    close_chain(&ch);
}

/* --- regions --- */

static void regions_may_be_empty_or_left_out(void **state)
{
    VkRectLayerKHR rectangle = {.extent = {8, 8}};
    VkPresentRegionKHR some = {.rectangleCount = 1, .pRectangles = &rectangle}, none = {0},
                       nothing = {.rectangleCount = 3};
    const VkPresentRegionKHR *regions[] = {&some, &none, &nothing, NULL};
    struct chain ch;

    (void)state;
    open_chain(&ch);
    for (size_t i = 0; i < 2 * COUNT(regions); i++) {
        VkPresentRegionsKHR said = {.sType = VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR,
            .swapchainCount = 1,
            .pRegions = regions[i % COUNT(regions)]};
        assert_int_equal(chain_round(&ch, &said), VK_SUCCESS);
    }
    close_chain(&ch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presents_signal_their_fences),
        cmocka_unit_test(fences_of_presents_signal_in_their_order_and_may_be_left_out),
        cmocka_unit_test(each_present_may_have_another_mode),
        cmocka_unit_test(all_images_can_be_given_back),
        cmocka_unit_test(what_is_in_an_image_that_is_given_back_stays),
        cmocka_unit_test(images_of_a_retired_swapchain_can_be_given_back),
        cmocka_unit_test(bindings_to_a_swapchain_tell_their_result),
        cmocka_unit_test(regions_may_be_empty_or_left_out),
    };

    return cmocka_run_group_tests(tests, open_client_lawless, close_client);
}
