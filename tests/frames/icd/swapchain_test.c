/*
 * Swapchains as the specification has them (chapter "WSI Swapchain" and its return codes), on a
 * headless surface, under the loader and the validation layer.
 */
#include "client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct client client;

static int open_client(void **state)
{
    (void)state;
    client_open(&client);
    return 0;
}

static int close_client(void **state)
{
    (void)state;
    client_close(&client);
    return 0;
}

static void open_chain(struct chain *ch)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);

    chain_open(ch, &client, &info);
}

static void close_chain(struct chain *ch)
{
    chain_close(ch);
    vkDestroySurfaceKHR(client.instance, ch->surface, NULL);
}

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

/* "If an application acquires N - m + 1 images, an infinite acquire ends" (vkAcquireNextImageKHR).
 */
static void as_many_as_may_be_held_can_be_had(void **state)
{
    struct chain ch;
    VkSurfaceCapabilitiesKHR caps;
    uint32_t index[CLIENT_MAX_IMAGES];

    (void)state;
    open_chain(&ch);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, ch.surface, &caps), VK_SUCCESS);
    for (int round = 0; round < 10; round++) {
        uint32_t may = ch.n_images - caps.minImageCount + 1;
        for (uint32_t i = 0; i < may; i++)
            assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index[i]), VK_SUCCESS);
        for (uint32_t i = 0; i < may; i++)
            assert_int_equal(chain_present(&ch, index[i], VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
    close_chain(&ch);
}

static void the_old_swapchain_is_retired(void **state)
{
    struct chain old, new, other;
    uint32_t held;

    (void)state;
    open_chain(&old);
    assert_int_equal(chain_round(&old, NULL), VK_SUCCESS);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &held), VK_SUCCESS);
    VkSwapchainCreateInfoKHR info = old.info;
    info.imageExtent.width = 80;
    info.oldSwapchain = old.swapchain;
    chain_open(&new, &client, &info);
    for (int i = 0; i < 10; i++)
        assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    /* A surface has one that is not retired. */
    info.oldSwapchain = VK_NULL_HANDLE;
    VkResult r = vkCreateSwapchainKHR(client.device, &info, NULL, &other.swapchain);
    assert_int_equal(r, VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
    chain_close(&old);
    assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    close_chain(&new);
}

static void a_present_of_a_retired_one_waits_for_its_semaphores(void **state)
{
    struct chain old, new;
    uint32_t held;

    (void)state;
    open_chain(&old);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &held), VK_SUCCESS);
    VkSwapchainCreateInfoKHR info = old.info;
    info.oldSwapchain = old.swapchain;
    chain_open(&new, &client, &info);
    assert_int_equal(chain_present(&old, held, VK_NULL_HANDLE, NULL), VK_ERROR_OUT_OF_DATE_KHR);
    chain_close(&old);
    close_chain(&new);
}

static void ids_can_be_waited_for(void **state)
{
    CLIENT_GET(&client, vkWaitForPresentKHR);
    struct chain ch;

    (void)state;
    open_chain(&ch);
    for (uint64_t id = 1; id < 100; id += 3) {
        VkPresentIdKHR ids = {
            .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &id};
        assert_int_equal(vkWaitForPresentKHR(client.device, ch.swapchain, id, 0), VK_TIMEOUT);
        assert_int_equal(vkWaitForPresentKHR(client.device, ch.swapchain, id, 1000), VK_TIMEOUT);
        assert_int_equal(chain_round(&ch, &ids), VK_SUCCESS);
        assert_int_equal(
            vkWaitForPresentKHR(client.device, ch.swapchain, id, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(vkWaitForPresentKHR(client.device, ch.swapchain, id - 1, 0), VK_SUCCESS);
    }
    close_chain(&ch);
}

static void timing_tells_each_once(void **state)
{
    CLIENT_GET(&client, vkGetPastPresentationTimingGOOGLE);
    CLIENT_GET(&client, vkGetRefreshCycleDurationGOOGLE);
    CLIENT_GET(&client, vkWaitForPresentKHR);
    VkPastPresentationTimingGOOGLE past[8];
    VkRefreshCycleDurationGOOGLE refresh;
    struct chain ch;
    uint32_t n = 8;

    (void)state;
    open_chain(&ch);
    assert_int_equal(
        vkGetRefreshCycleDurationGOOGLE(client.device, ch.swapchain, &refresh), VK_SUCCESS);
    assert_in_range(refresh.refreshDuration, 1000000, 50000000);
    for (uint32_t i = 1; i <= 3; i++) {
        uint64_t id = i;
        VkPresentTimeGOOGLE time = {.presentID = 100 + i};
        VkPresentIdKHR ids = {
            .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &id};
        VkPresentTimesInfoGOOGLE times = {.sType = VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE,
            .pNext = &ids,
            .swapchainCount = 1,
            .pTimes = &time};
        assert_int_equal(chain_round(&ch, &times), VK_SUCCESS);
        assert_int_equal(
            vkWaitForPresentKHR(client.device, ch.swapchain, id, UINT64_MAX), VK_SUCCESS);
    }
    assert_int_equal(
        vkGetPastPresentationTimingGOOGLE(client.device, ch.swapchain, &n, NULL), VK_SUCCESS);
    assert_int_equal(n, 3);
    n = 2;
    assert_int_equal(
        vkGetPastPresentationTimingGOOGLE(client.device, ch.swapchain, &n, past), VK_INCOMPLETE);
    assert_int_equal(n, 2);
    assert_int_equal(past[0].presentID, 101);
    assert_int_equal(past[1].presentID, 102);
    assert_true(past[0].actualPresentTime < past[1].actualPresentTime);
    assert_true(past[0].earliestPresentTime <= past[0].actualPresentTime);
    n = 8;
    assert_int_equal(
        vkGetPastPresentationTimingGOOGLE(client.device, ch.swapchain, &n, past), VK_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(past[0].presentID, 103);
    assert_int_equal(
        vkGetPastPresentationTimingGOOGLE(client.device, ch.swapchain, &n, past), VK_SUCCESS);
    assert_int_equal(n, 0);
    close_chain(&ch);
}

static void presents_signal_their_fences(void **state)
{
    VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    struct chain ch;
    VkFence fence;

    (void)state;
    open_chain(&ch);
    assert_int_equal(vkCreateFence(client.device, &fence_info, NULL, &fence), VK_SUCCESS);
    for (int i = 0; i < 10; i++) {
        VkSwapchainPresentFenceInfoEXT fences = {
            .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT,
            .swapchainCount = 1,
            .pFences = &fence};
        assert_int_equal(chain_round(&ch, &fences), VK_SUCCESS);
        assert_int_equal(
            vkWaitForFences(client.device, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(vkResetFences(client.device, 1, &fence), VK_SUCCESS);
    }
    vkDestroyFence(client.device, fence, NULL);
    close_chain(&ch);
}

static void each_present_may_have_another_mode(void **state)
{
    static const VkPresentModeKHR modes[] = {
        VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR};
    VkSwapchainPresentModesCreateInfoEXT may_be = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODES_CREATE_INFO_EXT,
        .presentModeCount = 3,
        .pPresentModes = modes};
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    struct chain ch;

    (void)state;
    info.pNext = &may_be;
    info.minImageCount = 3;
    chain_open(&ch, &client, &info);
    for (int i = 0; i < 12; i++) {
        VkSwapchainPresentModeInfoEXT mode = {
            .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODE_INFO_EXT,
            .swapchainCount = 1,
            .pPresentModes = &modes[i % 3]};
        assert_int_equal(chain_round(&ch, &mode), VK_SUCCESS);
    }
    close_chain(&ch);
}

static void compatible_modes_are_told(void **state)
{
    CLIENT_GET_INSTANCE(&client, vkGetPhysicalDeviceSurfaceCapabilities2KHR);
    VkSurfacePresentModeEXT mode = {.sType = VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR};
    VkPhysicalDeviceSurfaceInfo2KHR info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SURFACE_INFO_2_KHR,
        .pNext = &mode,
        .surface = client_headless(&client)};
    VkPresentModeKHR modes[8];
    VkSurfacePresentModeCompatibilityEXT compatible = {
        .sType = VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT};
    VkSurfacePresentScalingCapabilitiesEXT scaling = {
        .sType = VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT, .pNext = &compatible};
    VkSurfaceProtectedCapabilitiesKHR protected = {
        .sType = VK_STRUCTURE_TYPE_SURFACE_PROTECTED_CAPABILITIES_KHR,
        .pNext = &scaling,
        .supportsProtected = VK_TRUE};
    VkSurfaceCapabilities2KHR caps = {
        .sType = VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR, .pNext = &protected};

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilities2KHR(client.physical, &info, &caps), VK_SUCCESS);
    assert_true(compatible.presentModeCount >= 4);
    compatible.pPresentModes = modes;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilities2KHR(client.physical, &info, &caps), VK_SUCCESS);
    bool itself = false;
    for (uint32_t i = 0; i < compatible.presentModeCount; i++)
        itself = itself || modes[i] == VK_PRESENT_MODE_FIFO_KHR;
    assert_true(itself);
    assert_false(protected.supportsProtected);
    assert_int_equal(caps.surfaceCapabilities.currentExtent.width, UINT32_MAX);
    assert_int_equal(scaling.supportedPresentScaling, 0);
    vkDestroySurfaceKHR(client.instance, info.surface, NULL);
}

static void one_present_serves_several_swapchains(void **state)
{
    struct chain ch[3];
    VkSwapchainKHR swapchains[3];
    VkSemaphore semaphores[3];
    uint32_t indices[3];
    VkResult results[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        open_chain(&ch[i]);
        swapchains[i] = ch[i].swapchain;
    }
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++) {
            semaphores[i] = ch[i].acquired[0];
            assert_int_equal(vkAcquireNextImageKHR(client.device, swapchains[i], UINT64_MAX,
                                 semaphores[i], VK_NULL_HANDLE, &indices[i]),
                VK_SUCCESS);
            /* Once, so that the image has its layout; then again, for all. */
            if (round < 10) {
                assert_int_equal(
                    chain_present(&ch[i], indices[i], semaphores[i], NULL), VK_SUCCESS);
                vkQueueWaitIdle(client.queue);
            }
        }
        if (round < 10)
            continue;
        VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
            .waitSemaphoreCount = 3,
            .pWaitSemaphores = semaphores,
            .swapchainCount = 3,
            .pSwapchains = swapchains,
            .pImageIndices = indices,
            .pResults = results};
        assert_int_equal(vkQueuePresentKHR(client.queue, &present), VK_SUCCESS);
        for (int i = 0; i < 3; i++)
            assert_int_equal(results[i], VK_SUCCESS);
        vkQueueWaitIdle(client.queue);
    }
    for (int i = 0; i < 3; i++)
        close_chain(&ch[i]);
}

static void a_device_group_of_one_presents(void **state)
{
    VkDeviceGroupPresentCapabilitiesKHR caps = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_CAPABILITIES_KHR};
    VkDeviceGroupPresentModeFlagsKHR modes;
    uint32_t mask = 1, index, n = 1;
    VkRect2D rectangle;
    struct chain ch;

    (void)state;
    open_chain(&ch);
    assert_int_equal(vkGetDeviceGroupPresentCapabilitiesKHR(client.device, &caps), VK_SUCCESS);
    assert_int_equal(caps.presentMask[0], 1);
    assert_int_equal(caps.presentMask[1], 0);
    assert_int_equal(caps.modes, VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR);
    assert_int_equal(
        vkGetDeviceGroupSurfacePresentModesKHR(client.device, ch.surface, &modes), VK_SUCCESS);
    assert_int_equal(modes, VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR);
    assert_int_equal(
        vkGetPhysicalDevicePresentRectanglesKHR(client.physical, ch.surface, &n, &rectangle),
        VK_SUCCESS);
    assert_int_equal(n, 1);
    VkAcquireNextImageInfoKHR acquire = {.sType = VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR,
        .swapchain = ch.swapchain,
        .timeout = UINT64_MAX,
        .semaphore = ch.acquired[0],
        .deviceMask = 1};
    VkDeviceGroupPresentInfoKHR group = {.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_INFO_KHR,
        .swapchainCount = 1,
        .pDeviceMasks = &mask,
        .mode = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR};
    assert_int_equal(vkAcquireNextImage2KHR(client.device, &acquire, &index), VK_SUCCESS);
    assert_int_equal(chain_present(&ch, index, ch.acquired[0], &group), VK_SUCCESS);
    close_chain(&ch);
}

static void an_image_of_the_applications_shares_a_swapchains_memory(void **state)
{
    struct chain ch;
    VkImage image;

    (void)state;
    open_chain(&ch);
    VkImageSwapchainCreateInfoKHR of = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR, .swapchain = ch.swapchain};
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &of,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = ch.info.imageFormat,
        .extent = {ch.info.imageExtent.width, ch.info.imageExtent.height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = ch.info.imageUsage};
    assert_int_equal(vkCreateImage(client.device, &info, NULL, &image), VK_SUCCESS);
    VkBindImageMemorySwapchainInfoKHR to = {
        .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR,
        .swapchain = ch.swapchain,
        .imageIndex = 1};
    VkBindImageMemoryInfo bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, .pNext = &to, .image = image};
    assert_int_equal(vkBindImageMemory2(client.device, 1, &bind), VK_SUCCESS);
    vkDestroyImage(client.device, image, NULL);
    close_chain(&ch);
}

static void a_mutable_format_has_views_of_both(void **state)
{
    static const VkFormat formats[] = {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB};
    VkImageFormatListCreateInfo list = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .viewFormatCount = 2,
        .pViewFormats = formats};
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    struct chain ch;

    (void)state;
    info.flags = VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR;
    info.pNext = &list;
    chain_open(&ch, &client, &info);
    for (int i = 0; i < 2; i++) {
        VkImageViewCreateInfo view_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = ch.images[0],
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = formats[i],
            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
        VkImageView view;
        assert_int_equal(vkCreateImageView(client.device, &view_info, NULL, &view), VK_SUCCESS);
        vkDestroyImageView(client.device, view, NULL);
    }
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    close_chain(&ch);
}

static void every_format_and_mode_that_is_offered_can_be_had(void **state)
{
    VkSurfaceKHR surface = client_headless(&client);
    VkSurfaceFormatKHR formats[64];
    VkPresentModeKHR modes[8];
    uint32_t n = 64, m = 8;

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceFormatsKHR(client.physical, surface, &n, formats), VK_SUCCESS);
    assert_int_equal(
        vkGetPhysicalDeviceSurfacePresentModesKHR(client.physical, surface, &m, modes), VK_SUCCESS);
    assert_true(n >= 6 && m >= 4);
    for (uint32_t i = 0; i < n; i++) {
        /* The layer of 1.3.239 does not know the newest mode. */
        VkSwapchainCreateInfoKHR info = chain_info(surface, 33, 17);
        struct chain ch;
        info.imageFormat = formats[i].format;
        info.imageColorSpace = formats[i].colorSpace;
        info.presentMode = modes[i % 4];
        chain_open(&ch, &client, &info);
        for (int k = 0; k < 5; k++)
            assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        chain_close(&ch);
    }
    vkDestroySurfaceKHR(client.instance, surface, NULL);
}

static void damage_and_hdr_metadata_are_taken(void **state)
{
    CLIENT_GET(&client, vkSetHdrMetadataEXT);
    VkRectLayerKHR rectangle = {.offset = {4, 4}, .extent = {8, 8}};
    VkPresentRegionKHR region = {.rectangleCount = 1, .pRectangles = &rectangle};
    VkPresentRegionsKHR regions = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR, .swapchainCount = 1, .pRegions = &region};
    VkHdrMetadataEXT hdr = {.sType = VK_STRUCTURE_TYPE_HDR_METADATA_EXT, .maxLuminance = 1000};
    struct chain ch;

    (void)state;
    open_chain(&ch);
    vkSetHdrMetadataEXT(client.device, 1, &ch.swapchain, &hdr);
    for (int i = 0; i < 5; i++)
        assert_int_equal(chain_round(&ch, &regions), VK_SUCCESS);
    close_chain(&ch);
}

/* Names and private data of objects that the driver has never seen. */
static void swapchains_can_be_named_and_carry_data(void **state)
{
    CLIENT_GET_INSTANCE(&client, vkSetDebugUtilsObjectNameEXT);
    VkPrivateDataSlotCreateInfo slot_info = {
        .sType = VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
    VkPrivateDataSlot slot;
    struct chain ch;
    uint64_t value;

    (void)state;
    open_chain(&ch);
    VkDebugUtilsObjectNameInfoEXT name = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_SWAPCHAIN_KHR,
        .objectHandle = (uint64_t)(uintptr_t)ch.swapchain,
        .pObjectName = "the screen"};
    assert_int_equal(vkSetDebugUtilsObjectNameEXT(client.device, &name), VK_SUCCESS);
    name.objectType = VK_OBJECT_TYPE_SURFACE_KHR;
    name.objectHandle = (uint64_t)(uintptr_t)ch.surface;
    assert_int_equal(vkSetDebugUtilsObjectNameEXT(client.device, &name), VK_SUCCESS);
    assert_int_equal(vkCreatePrivateDataSlot(client.device, &slot_info, NULL, &slot), VK_SUCCESS);
    vkGetPrivateData(client.device, VK_OBJECT_TYPE_SWAPCHAIN_KHR, (uint64_t)(uintptr_t)ch.swapchain,
        slot, &value);
    assert_int_equal(value, 0);
    assert_int_equal(vkSetPrivateData(client.device, VK_OBJECT_TYPE_SWAPCHAIN_KHR,
                         (uint64_t)(uintptr_t)ch.swapchain, slot, 42),
        VK_SUCCESS);
    vkGetPrivateData(client.device, VK_OBJECT_TYPE_SWAPCHAIN_KHR, (uint64_t)(uintptr_t)ch.swapchain,
        slot, &value);
    assert_int_equal(value, 42);
    vkDestroyPrivateDataSlot(client.device, slot, NULL);
    close_chain(&ch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_go_round),
        cmocka_unit_test(acquire_answers_by_its_timeout),
        cmocka_unit_test(as_many_as_may_be_held_can_be_had),
        cmocka_unit_test(the_old_swapchain_is_retired),
        cmocka_unit_test(a_present_of_a_retired_one_waits_for_its_semaphores),
        cmocka_unit_test(ids_can_be_waited_for),
        cmocka_unit_test(timing_tells_each_once),
        cmocka_unit_test(presents_signal_their_fences),
        cmocka_unit_test(each_present_may_have_another_mode),
        cmocka_unit_test(compatible_modes_are_told),
        cmocka_unit_test(one_present_serves_several_swapchains),
        cmocka_unit_test(a_device_group_of_one_presents),
        cmocka_unit_test(an_image_of_the_applications_shares_a_swapchains_memory),
        cmocka_unit_test(a_mutable_format_has_views_of_both),
        cmocka_unit_test(every_format_and_mode_that_is_offered_can_be_had),
        cmocka_unit_test(damage_and_hdr_metadata_are_taken),
        cmocka_unit_test(swapchains_can_be_named_and_carry_data),
    };

    return cmocka_run_group_tests(tests, open_client, close_client);
}
