/*
 * Swapchains, their images and who may have which, by "WSI Swapchain": everything that a surface
 * offers can be had, on a headless surface and with the validation layer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lawful.h"

static VkSurfaceKHR surface;

static int begin(void **state)
{
    open_client(state);
    surface = client_headless(&client);
    return 0;
}

static int end(void **state)
{
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    return close_client(state);
}

static VkSwapchainCreateInfoKHR small(void)
{
    return chain_info(surface, 32, 24);
}

/* It can be made, has as many images as were asked for, and goes round. */
static void check_chain(const VkSwapchainCreateInfoKHR *info)
{
    struct chain ch;

    chain_open(&ch, &client, info);
    assert_true(ch.n_images >= info->minImageCount);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    chain_close(&ch);
}

/* --- what was offered --- */

static void as_many_images_as_were_asked_for_are_there(void **state)
{
    VkSwapchainCreateInfoKHR info = small();
    VkSurfaceCapabilitiesKHR caps;

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps), VK_SUCCESS);
    for (info.minImageCount = caps.minImageCount; info.minImageCount <= 18; info.minImageCount++)
        check_chain(&info);
    info.minImageCount = caps.maxImageCount;
    check_chain(&info);
}

static void every_format_and_mode_that_is_offered_can_be_had(void **state)
{
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
        VkSwapchainCreateInfoKHR info = chain_info(surface, 33, 17);
        info.imageFormat = formats[i].format;
        info.imageColorSpace = formats[i].colorSpace;
        info.presentMode = modes[i % 4]; /* the layer of 1.3.239 does not know the newest one */
        check_chain(&info);
    }
}

static void every_extent_within_the_bounds_can_be_had(void **state)
{
    static const VkExtent2D extents[] = {{1, 1}, {16, 32}, {632, 231}, {117, 998}, {1, 4096}};

    (void)state;
    for (size_t i = 0; i < COUNT(extents); i++) {
        VkSwapchainCreateInfoKHR info = small();
        info.imageExtent = extents[i];
        check_chain(&info);
    }
}

/* Both at once would be a gibibyte for each image. */
static void the_largest_width_and_height_can_be_had(void **state)
{
    VkSwapchainCreateInfoKHR info = small();
    VkSurfaceCapabilitiesKHR caps;

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps), VK_SUCCESS);
    info.imageExtent = (VkExtent2D){caps.maxImageExtent.width, 1};
    check_chain(&info);
    info.imageExtent = (VkExtent2D){1, caps.maxImageExtent.height};
    check_chain(&info);
}

static void every_usage_that_the_device_has_for_the_format_can_be_had(void **state)
{
    VkSurfaceCapabilitiesKHR caps;
    VkImageFormatProperties properties;

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps), VK_SUCCESS);
    for (VkImageUsageFlags usage = 1; usage <= caps.supportedUsageFlags; usage++) {
        VkSwapchainCreateInfoKHR info = small();
        struct chain ch;
        if (usage & ~caps.supportedUsageFlags ||
            vkGetPhysicalDeviceImageFormatProperties(client.physical, info.imageFormat,
                VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL, usage, 0, &properties) != VK_SUCCESS)
            continue;
        info.imageUsage = usage;
        chain_open(&ch, &client, &info);
        chain_close(&ch);
    }
}

static void every_alpha_can_be_had_with_and_without_clipping(void **state)
{
    VkSurfaceCapabilitiesKHR caps;

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps), VK_SUCCESS);
    for (uint32_t bit = 1; bit && bit <= caps.supportedCompositeAlpha; bit <<= 1) {
        VkSwapchainCreateInfoKHR info = small();
        if (!(bit & caps.supportedCompositeAlpha))
            continue;
        info.compositeAlpha = (VkCompositeAlphaFlagBitsKHR)bit;
        info.clipped = !info.clipped;
        check_chain(&info);
    }
}

static void families_of_an_exclusive_swapchain_do_not_count(void **state)
{
    VkSwapchainCreateInfoKHR info = small();

    (void)state;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = NULL;
    check_chain(&info);
}

/* --- images --- */

static void images_are_listed_as_far_as_there_is_room(void **state)
{
    VkSwapchainCreateInfoKHR info = small();
    VkImage images[CLIENT_MAX_IMAGES];
    struct chain ch;

    (void)state;
    chain_open(&ch, &client, &info);
    for (uint32_t room = 0; room < ch.n_images; room++) {
        uint32_t n = room;
        memset(images, 0, sizeof images);
        assert_int_equal(
            vkGetSwapchainImagesKHR(client.device, ch.swapchain, &n, images), VK_INCOMPLETE);
        assert_int_equal(n, room);
        assert_memory_equal(images, ch.images, room * sizeof *images);
        assert_true(images[room] == VK_NULL_HANDLE);
    }
    chain_close(&ch);
}

static void views_of(VkImage image, const VkFormat *formats, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = image,
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = formats[i],
            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
        VkImageView view;
        assert_int_equal(vkCreateImageView(client.device, &info, NULL, &view), VK_SUCCESS);
        vkDestroyImageView(client.device, view, NULL);
    }
}

static void a_mutable_format_has_views_of_all_that_were_listed(void **state)
{
    static const VkFormat formats[] = {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB};
    VkImageFormatListCreateInfo list = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
        .viewFormatCount = 2,
        .pViewFormats = formats};
    VkSwapchainCreateInfoKHR info = small();
    struct chain ch;

    (void)state;
    info.flags = VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR;
    info.pNext = &list;
    chain_open(&ch, &client, &info);
    views_of(ch.images[0], formats, 2);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    chain_close(&ch);
}

static void a_list_of_one_format_needs_no_flag(void **state)
{
    static const VkFormat format = VK_FORMAT_B8G8R8A8_UNORM;
    VkImageFormatListCreateInfo list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO, .pViewFormats = &format};
    VkSwapchainCreateInfoKHR info = small();

    (void)state;
    info.pNext = &list;
    for (list.viewFormatCount = 0; list.viewFormatCount <= 1; list.viewFormatCount++)
        check_chain(&info);
}

/* All of them in one call; what is drawn into one's own image is in the swapchain's. */
static void images_of_the_applications_share_the_swapchains_memory(void **state)
{
    VkBindImageMemorySwapchainInfoKHR to[CLIENT_MAX_IMAGES];
    VkBindImageMemoryInfo bind[CLIENT_MAX_IMAGES];
    VkImage own[CLIENT_MAX_IMAGES], theirs;
    VkSwapchainCreateInfoKHR info = small();
    struct chain ch;
    uint32_t index;

    (void)state;
    info.imageUsage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    chain_open(&ch, &client, &info);
    for (uint32_t i = 0; i < ch.n_images; i++) {
        own[i] = image_of(&ch);
        to[i] = (VkBindImageMemorySwapchainInfoKHR){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR,
            .swapchain = ch.swapchain,
            .imageIndex = i};
        bind[i] = (VkBindImageMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO, .pNext = &to[i], .image = own[i]};
    }
    assert_int_equal(vkBindImageMemory2(client.device, ch.n_images, bind), VK_SUCCESS);
    for (unsigned i = 1; i < 6; i++) {
        assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_SUCCESS);
        draw_image(&ch, index, 1);
        theirs = ch.images[index];
        ch.images[index] = own[index];
        draw_image(&ch, index, 40 * i);
        ch.images[index] = theirs;
        assert_int_equal(read_image(&ch, index), 40 * i);
        assert_int_equal(present_all(&ch, &index, 1, VK_NULL_HANDLE, NULL, NULL), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < ch.n_images; i++)
        vkDestroyImage(client.device, own[i], NULL);
    chain_close(&ch);
}

static void memory_that_may_come_later_is_there_when_an_image_is(void **state)
{
    VkSwapchainCreateInfoKHR info = small();

    (void)state;
    info.flags = VK_SWAPCHAIN_CREATE_DEFERRED_MEMORY_ALLOCATION_BIT_EXT;
    check_chain(&info);
}

static void a_swapchain_says_its_modes_of_groups(void **state)
{
    VkDeviceGroupSwapchainCreateInfoKHR group = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_SWAPCHAIN_CREATE_INFO_KHR,
        .modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR};
    VkSwapchainCreateInfoKHR info = small();

    (void)state;
    info.pNext = &group;
    check_chain(&info);
}

/* --- one after another --- */

static void the_old_swapchain_is_retired(void **state)
{
    VkSwapchainCreateInfoKHR info = small();
    struct chain old, new;
    VkSwapchainKHR other;
    uint32_t held;

    (void)state;
    chain_open(&old, &client, &info);
    assert_int_equal(chain_round(&old, NULL), VK_SUCCESS);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &held), VK_SUCCESS);
    info.imageExtent.width = 80;
    info.oldSwapchain = old.swapchain;
    chain_open(&new, &client, &info);
    for (int i = 0; i < 10; i++)
        assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    /* A surface has one that is not retired. */
    info.oldSwapchain = VK_NULL_HANDLE;
    assert_int_equal(vkCreateSwapchainKHR(client.device, &info, NULL, &other),
        VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
    chain_close(&old); /* with its image */
    assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
    chain_close(&new);
}

static void many_retired_swapchains_may_live(void **state)
{
    VkSwapchainCreateInfoKHR info = small();
    struct chain chains[6];

    (void)state;
    for (size_t i = 0; i < COUNT(chains); i++) {
        chain_open(&chains[i], &client, &info);
        assert_int_equal(chain_round(&chains[i], NULL), VK_SUCCESS);
        info.oldSwapchain = chains[i].swapchain;
    }
    for (size_t i = 0; i < COUNT(chains); i++)
        chain_close(&chains[i]);
    info = small();
    check_chain(&info);
}

static void no_swapchain_is_destroyed(void **state)
{
    (void)state;
    vkDestroySwapchainKHR(client.device, VK_NULL_HANDLE, NULL);
}

/* Names and private data of objects that the driver has never seen. */
static void swapchains_can_be_named_and_carry_data(void **state)
{
    CLIENT_GET_INSTANCE(&client, vkSetDebugUtilsObjectNameEXT);
    VkPrivateDataSlotCreateInfo slot_info = {
        .sType = VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
    VkSwapchainCreateInfoKHR info = small();
    VkPrivateDataSlot slot;
    struct chain ch;
    uint64_t value;

    (void)state;
    chain_open(&ch, &client, &info);
    uint64_t handle = (uint64_t)(uintptr_t)ch.swapchain;
    VkDebugUtilsObjectNameInfoEXT name = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_SWAPCHAIN_KHR,
        .objectHandle = handle,
        .pObjectName = "the screen"};
    assert_int_equal(vkSetDebugUtilsObjectNameEXT(client.device, &name), VK_SUCCESS);
    name.objectType = VK_OBJECT_TYPE_SURFACE_KHR;
    name.objectHandle = (uint64_t)(uintptr_t)ch.surface;
    assert_int_equal(vkSetDebugUtilsObjectNameEXT(client.device, &name), VK_SUCCESS);
    assert_int_equal(vkCreatePrivateDataSlot(client.device, &slot_info, NULL, &slot), VK_SUCCESS);
    vkGetPrivateData(client.device, VK_OBJECT_TYPE_SWAPCHAIN_KHR, handle, slot, &value);
    assert_int_equal(value, 0);
    assert_int_equal(
        vkSetPrivateData(client.device, VK_OBJECT_TYPE_SWAPCHAIN_KHR, handle, slot, 42),
        VK_SUCCESS);
    vkGetPrivateData(client.device, VK_OBJECT_TYPE_SWAPCHAIN_KHR, handle, slot, &value);
    assert_int_equal(value, 42);
    vkDestroyPrivateDataSlot(client.device, slot, NULL);
    chain_close(&ch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_images_as_were_asked_for_are_there),
        cmocka_unit_test(every_format_and_mode_that_is_offered_can_be_had),
        cmocka_unit_test(every_extent_within_the_bounds_can_be_had),
        cmocka_unit_test(the_largest_width_and_height_can_be_had),
        cmocka_unit_test(every_usage_that_the_device_has_for_the_format_can_be_had),
        cmocka_unit_test(every_alpha_can_be_had_with_and_without_clipping),
        cmocka_unit_test(families_of_an_exclusive_swapchain_do_not_count),
        cmocka_unit_test(images_are_listed_as_far_as_there_is_room),
        cmocka_unit_test(a_mutable_format_has_views_of_all_that_were_listed),
        cmocka_unit_test(a_list_of_one_format_needs_no_flag),
        cmocka_unit_test(images_of_the_applications_share_the_swapchains_memory),
        cmocka_unit_test(memory_that_may_come_later_is_there_when_an_image_is),
        cmocka_unit_test(a_swapchain_says_its_modes_of_groups),
        cmocka_unit_test(the_old_swapchain_is_retired),
        cmocka_unit_test(many_retired_swapchains_may_live),
        cmocka_unit_test(no_swapchain_is_destroyed),
        cmocka_unit_test(swapchains_can_be_named_and_carry_data),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
