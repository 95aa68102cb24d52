/*
 * What a physical device tells of a surface, by the chapters "Surface Queries" and "Device Group
 * Queries", on every kind of surface.
 *   lawful_surface_test PLACE
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lawful_place.h"

/* --- lists: how many there are, and as many as there is room for --- */

static VkPhysicalDeviceSurfaceInfo2KHR asked_for(void)
{
    return (VkPhysicalDeviceSurfaceInfo2KHR){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SURFACE_INFO_2_KHR, .surface = surface};
}

static VkResult get_modes(uint32_t *n, void *out)
{
    return vkGetPhysicalDeviceSurfacePresentModesKHR(client.physical, surface, n, out);
}

static VkResult get_formats(uint32_t *n, void *out)
{
    return vkGetPhysicalDeviceSurfaceFormatsKHR(client.physical, surface, n, out);
}

static VkResult get_formats2(uint32_t *n, void *out)
{
    CLIENT_GET_INSTANCE(&client, vkGetPhysicalDeviceSurfaceFormats2KHR);
    VkPhysicalDeviceSurfaceInfo2KHR info = asked_for();
    VkSurfaceFormat2KHR *formats = out;

    for (uint32_t i = 0; out && i < *n; i++) {
        formats[i].sType = VK_STRUCTURE_TYPE_SURFACE_FORMAT_2_KHR;
        formats[i].pNext = NULL;
    }
    return vkGetPhysicalDeviceSurfaceFormats2KHR(client.physical, &info, n, out);
}

static VkResult get_rectangles(uint32_t *n, void *out)
{
    return vkGetPhysicalDevicePresentRectanglesKHR(client.physical, surface, n, out);
}

static void check_list(VkResult (*get)(uint32_t *n, void *out), size_t size)
{
    static unsigned char all[16384], part[16384], nothing[16384];
    uint32_t n = UINT32_MAX;

    memset(nothing, 0xcd, sizeof nothing);
    memset(all, 0xcd, sizeof all);
    assert_int_equal(get(&n, NULL), VK_SUCCESS);
    assert_in_range(n, 1, sizeof all / size - 1);
    uint32_t count = n;
    assert_int_equal(get(&count, all), VK_SUCCESS);
    assert_int_equal(count, n);
    for (uint32_t room = 0; room <= n + 1; room++) {
        uint32_t given = room < n ? room : n;
        count = room;
        memset(part, 0xcd, sizeof part);
        assert_int_equal(get(&count, part), room < n ? VK_INCOMPLETE : VK_SUCCESS);
        assert_int_equal(count, given);
        assert_memory_equal(part, all, given * size);
        if (room <= n) /* formats2 initialises what there is room for */
            assert_memory_equal(part + given * size, nothing, size);
    }
}

static void lists_are_given_as_far_as_there_is_room(void **state)
{
    (void)state;
    check_list(get_modes, sizeof(VkPresentModeKHR));
    check_list(get_formats, sizeof(VkSurfaceFormatKHR));
    check_list(get_formats2, sizeof(VkSurfaceFormat2KHR));
    check_list(get_rectangles, sizeof(VkRect2D));
}

/* --- capabilities --- */

static VkSurfaceCapabilitiesKHR ask_capabilities(void)
{
    VkSurfaceCapabilitiesKHR caps;

    memset(&caps, 0xcd, sizeof caps);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps), VK_SUCCESS);
    return caps;
}

static void capabilities_are_within_their_bounds(void **state)
{
    VkSurfaceCapabilitiesKHR c = ask_capabilities();
    bool sets = c.currentExtent.width == UINT32_MAX;

    (void)state;
    assert_true(c.minImageCount >= 1);
    assert_true(c.maxImageCount == 0 || c.maxImageCount >= c.minImageCount);
    assert_int_equal(sets, c.currentExtent.height == UINT32_MAX);
    assert_int_equal(sets, !place()->has_size);
    assert_true(c.minImageExtent.width >= 1 && c.minImageExtent.height >= 1);
    assert_true(c.maxImageExtent.width >= c.minImageExtent.width);
    assert_true(c.maxImageExtent.height >= c.minImageExtent.height);
    if (!sets) {
        assert_in_range(c.currentExtent.width, c.minImageExtent.width, c.maxImageExtent.width);
        assert_in_range(c.currentExtent.height, c.minImageExtent.height, c.maxImageExtent.height);
    }
    assert_true(c.maxImageArrayLayers >= 1);
    assert_true(c.supportedTransforms & c.currentTransform);
    assert_int_equal(c.currentTransform & (c.currentTransform - 1), 0);
    assert_true(c.supportedCompositeAlpha != 0);
    assert_true(c.supportedUsageFlags & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
}

/* Of a mode, with as many compatible ones as there is room for; 0 modes: the question without one.
 */
struct answer {
    VkSurfaceCapabilities2KHR caps;
    VkSurfaceProtectedCapabilitiesKHR safety;
    VkSurfacePresentScalingCapabilitiesEXT scaling;
    VkSurfacePresentModeCompatibilityEXT compatible;
};

static void ask_mode(
    VkPresentModeKHR mode, uint32_t room, VkPresentModeKHR *modes, struct answer *a)
{
    CLIENT_GET_INSTANCE(&client, vkGetPhysicalDeviceSurfaceCapabilities2KHR);
    VkSurfacePresentModeEXT of = {
        .sType = VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT, .presentMode = mode};
    VkPhysicalDeviceSurfaceInfo2KHR info = asked_for();

    info.pNext = &of;
    memset(a, 0xcd, sizeof *a);
    a->caps.sType = VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR;
    a->caps.pNext = &a->safety;
    a->safety.sType = VK_STRUCTURE_TYPE_SURFACE_PROTECTED_CAPABILITIES_KHR;
    a->safety.pNext = &a->scaling;
    a->scaling.sType = VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT;
    a->scaling.pNext = &a->compatible;
    a->compatible = (VkSurfacePresentModeCompatibilityEXT){
        .sType = VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT,
        .presentModeCount = room,
        .pPresentModes = modes};
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilities2KHR(client.physical, &info, &a->caps), VK_SUCCESS);
    assert_ptr_equal(a->caps.pNext, &a->safety);
    assert_ptr_equal(a->scaling.pNext, &a->compatible);
}

static void both_questions_have_one_answer(void **state)
{
    CLIENT_GET_INSTANCE(&client, vkGetPhysicalDeviceSurfaceCapabilities2KHR);
    VkSurfaceCapabilities2KHR caps = {.sType = VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_KHR};
    VkPhysicalDeviceSurfaceInfo2KHR info = asked_for();
    VkSurfaceCapabilitiesKHR same = ask_capabilities();

    (void)state;
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilities2KHR(client.physical, &info, &caps), VK_SUCCESS);
    assert_memory_equal(&caps.surfaceCapabilities, &same, sizeof same);
}

static void protected_swapchains_are_not_promised(void **state)
{
    struct answer a;

    (void)state;
    ask_mode(VK_PRESENT_MODE_FIFO_KHR, 0, NULL, &a);
    assert_int_equal(a.safety.supportsProtected, VK_FALSE);
}

/* --- formats and modes --- */

static bool has_format(const VkSurfaceFormatKHR *formats, uint32_t n, VkFormat format)
{
    for (uint32_t i = 0; i < n; i++) {
        if (formats[i].format == format &&
            formats[i].colorSpace == VK_COLOR_SPACE_SRGB_NONLINEAR_KHR)
            return true;
    }
    return false;
}

static void formats_are_there_once_and_in_pairs(void **state)
{
    static const VkFormat pairs[][2] = {{VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB},
        {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB},
        {VK_FORMAT_A8B8G8R8_UNORM_PACK32, VK_FORMAT_A8B8G8R8_SRGB_PACK32}};
    VkSurfaceFormatKHR formats[256];
    uint32_t n = COUNT(formats);

    (void)state;
    assert_int_equal(get_formats(&n, formats), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_not_equal(formats[i].format, VK_FORMAT_UNDEFINED);
        for (uint32_t k = 0; k < i; k++)
            assert_memory_not_equal(&formats[i], &formats[k], sizeof formats[i]);
    }
    for (size_t i = 0; i < COUNT(pairs); i++)
        assert_int_equal(has_format(formats, n, pairs[i][0]), has_format(formats, n, pairs[i][1]));
    assert_true(has_format(formats, n, VK_FORMAT_B8G8R8A8_UNORM));
}

static uint32_t times_in(const VkPresentModeKHR *modes, uint32_t n, VkPresentModeKHR mode)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < n; i++)
        found += modes[i] == mode;
    return found;
}

static void fifo_is_among_the_modes(void **state)
{
    VkPresentModeKHR modes[16];
    uint32_t n = COUNT(modes);

    (void)state;
    assert_int_equal(get_modes(&n, modes), VK_SUCCESS);
    assert_int_equal(times_in(modes, n, VK_PRESENT_MODE_FIFO_KHR), 1);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(times_in(modes, n, modes[i]), 1);
}

static void compatible_modes_begin_with_the_one_that_was_asked_about(void **state)
{
    const VkPresentModeKHR none = (VkPresentModeKHR)0x1234;
    VkPresentModeKHR modes[16], found[16];
    uint32_t n = COUNT(modes);
    struct answer a;

    (void)state;
    assert_int_equal(get_modes(&n, modes), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++) {
        ask_mode(modes[i], 0, NULL, &a);
        uint32_t all = a.compatible.presentModeCount;
        assert_in_range(all, 1, n);
        for (uint32_t room = 0; room <= all + 1; room++) {
            uint32_t given = room < all ? room : all;
            for (size_t k = 0; k < COUNT(found); k++)
                found[k] = none;
            ask_mode(modes[i], room, found, &a);
            assert_int_equal(a.compatible.presentModeCount, given);
            assert_int_equal(times_in(found, given, modes[i]), room > 0);
            for (uint32_t k = 0; k < given; k++) {
                assert_int_equal(times_in(modes, n, found[k]), 1);
                assert_int_equal(times_in(found, given, found[k]), 1);
            }
            assert_int_equal(found[given], none);
        }
    }
}

static void check_scaling(const struct answer *a)
{
    const VkPresentScalingFlagsEXT scalings = VK_PRESENT_SCALING_ONE_TO_ONE_BIT_EXT |
        VK_PRESENT_SCALING_ASPECT_RATIO_STRETCH_BIT_EXT | VK_PRESENT_SCALING_STRETCH_BIT_EXT;
    const VkPresentGravityFlagsEXT gravities = VK_PRESENT_GRAVITY_MIN_BIT_EXT |
        VK_PRESENT_GRAVITY_MAX_BIT_EXT | VK_PRESENT_GRAVITY_CENTERED_BIT_EXT;
    const VkSurfaceCapabilitiesKHR *c = &a->caps.surfaceCapabilities;
    const VkSurfacePresentScalingCapabilitiesEXT *s = &a->scaling;

    assert_int_equal(s->supportedPresentScaling & ~scalings, 0);
    assert_int_equal(s->supportedPresentGravityX & ~gravities, 0);
    assert_int_equal(s->supportedPresentGravityY & ~gravities, 0);
    assert_int_equal(!s->supportedPresentGravityX, !s->supportedPresentGravityY);
    assert_true(s->minScaledImageExtent.width <= c->minImageExtent.width);
    assert_true(s->minScaledImageExtent.height <= c->minImageExtent.height);
    assert_true(s->maxScaledImageExtent.width >= c->maxImageExtent.width);
    assert_true(s->maxScaledImageExtent.height >= c->maxImageExtent.height);
}

static void compatible_modes_scale_alike(void **state)
{
    VkPresentModeKHR modes[16], found[16];
    uint32_t n = COUNT(modes);
    struct answer a, b;

    (void)state;
    assert_int_equal(get_modes(&n, modes), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++) {
        ask_mode(modes[i], COUNT(found), found, &a);
        check_scaling(&a);
        assert_true(a.caps.surfaceCapabilities.minImageCount >= 1);
        for (uint32_t k = 0; k < a.compatible.presentModeCount; k++) {
            ask_mode(found[k], 0, NULL, &b);
            assert_int_equal(b.scaling.supportedPresentScaling, a.scaling.supportedPresentScaling);
            assert_int_equal(
                b.scaling.supportedPresentGravityX, a.scaling.supportedPresentGravityX);
            assert_int_equal(
                b.scaling.supportedPresentGravityY, a.scaling.supportedPresentGravityY);
        }
    }
}

/* --- families and groups --- */

static void every_family_of_queues_presents(void **state)
{
    uint32_t n = 0;

    (void)state;
    vkGetPhysicalDeviceQueueFamilyProperties(client.physical, &n, NULL);
    for (uint32_t i = 0; i < n; i++) {
        VkBool32 can = 2;
        assert_int_equal(
            vkGetPhysicalDeviceSurfaceSupportKHR(client.physical, i, surface, &can), VK_SUCCESS);
        assert_int_equal(can, VK_TRUE);
    }
}

static void a_group_of_one_presents_its_own_images(void **state)
{
    struct {
        VkDeviceGroupPresentCapabilitiesKHR caps;
        unsigned char guard[32];
    } answer;
    VkDeviceGroupPresentModeFlagsKHR modes[2];

    (void)state;
    memset(&answer, 0xcd, sizeof answer);
    answer.caps.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_PRESENT_CAPABILITIES_KHR;
    answer.caps.pNext = NULL;
    assert_int_equal(
        vkGetDeviceGroupPresentCapabilitiesKHR(client.device, &answer.caps), VK_SUCCESS);
    assert_int_equal(answer.caps.presentMask[0], 1);
    for (uint32_t i = 1; i < VK_MAX_DEVICE_GROUP_SIZE; i++)
        assert_int_equal(answer.caps.presentMask[i], 0);
    assert_int_equal(answer.caps.modes, VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR);
    assert_int_equal(answer.guard[0], 0xcd);
    memset(modes, 0xcd, sizeof modes);
    assert_int_equal(
        vkGetDeviceGroupSurfacePresentModesKHR(client.device, surface, modes), VK_SUCCESS);
    assert_int_equal(modes[0], VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR);
    assert_int_equal(modes[1], 0xcdcdcdcd);
}

/* --- displays --- */

static VkDisplayKHR display;

static VkResult get_displays(uint32_t *n, void *out)
{
    CLIENT_GET_INSTANCE(&client, vkGetPhysicalDeviceDisplayPropertiesKHR);

    return vkGetPhysicalDeviceDisplayPropertiesKHR(client.physical, n, out);
}

static VkResult get_planes(uint32_t *n, void *out)
{
    CLIENT_GET_INSTANCE(&client, vkGetPhysicalDeviceDisplayPlanePropertiesKHR);

    return vkGetPhysicalDeviceDisplayPlanePropertiesKHR(client.physical, n, out);
}

static VkResult get_displays_of_plane(uint32_t *n, void *out)
{
    CLIENT_GET_INSTANCE(&client, vkGetDisplayPlaneSupportedDisplaysKHR);

    return vkGetDisplayPlaneSupportedDisplaysKHR(client.physical, 0, n, out);
}

static VkResult get_display_modes(uint32_t *n, void *out)
{
    CLIENT_GET_INSTANCE(&client, vkGetDisplayModePropertiesKHR);

    return vkGetDisplayModePropertiesKHR(client.physical, display, n, out);
}

static VkResult get_display_modes2(uint32_t *n, void *out)
{
    CLIENT_GET_INSTANCE(&client, vkGetDisplayModeProperties2KHR);
    VkDisplayModeProperties2KHR *modes = out;

    for (uint32_t i = 0; out && i < *n; i++) {
        modes[i].sType = VK_STRUCTURE_TYPE_DISPLAY_MODE_PROPERTIES_2_KHR;
        modes[i].pNext = NULL;
    }
    return vkGetDisplayModeProperties2KHR(client.physical, display, n, modes);
}

static void open_display(void)
{
    VkDisplayPropertiesKHR first;
    uint32_t n = 1;

    if (strcmp(place()->name, "display") != 0)
        skip();
    assert_true(get_displays(&n, &first) >= 0);
    display = first.display;
    assert_true(first.physicalResolution.width > 0 && first.physicalResolution.height > 0);
    assert_true(first.supportedTransforms & VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    assert_true(first.planeReorderPossible <= 1 && first.persistentContent <= 1);
}

static void displays_are_listed_as_far_as_there_is_room(void **state)
{
    (void)state;
    open_display();
    check_list(get_displays, sizeof(VkDisplayPropertiesKHR));
    check_list(get_planes, sizeof(VkDisplayPlanePropertiesKHR));
    check_list(get_displays_of_plane, sizeof(VkDisplayKHR));
    check_list(get_display_modes, sizeof(VkDisplayModePropertiesKHR));
    check_list(get_display_modes2, sizeof(VkDisplayModeProperties2KHR));
}

static void planes_of_displays_are_within_their_bounds(void **state)
{
    CLIENT_GET_INSTANCE(&client, vkGetDisplayPlaneCapabilitiesKHR);
    VkDisplayModePropertiesKHR modes[16];
    VkDisplayPlanePropertiesKHR planes[8];
    VkDisplayPlaneCapabilitiesKHR c;
    uint32_t n = COUNT(modes), n_planes = COUNT(planes);

    (void)state;
    open_display();
    assert_int_equal(get_planes(&n_planes, planes), VK_SUCCESS);
    for (uint32_t i = 0; i < n_planes; i++)
        assert_true(planes[i].currentStackIndex < n_planes);
    assert_int_equal(get_display_modes(&n, modes), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++) {
        memset(&c, 0xcd, sizeof c);
        assert_int_equal(
            vkGetDisplayPlaneCapabilitiesKHR(client.physical, modes[i].displayMode, 0, &c),
            VK_SUCCESS);
        assert_true(c.supportedAlpha & VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR);
        assert_true(c.minSrcPosition.x >= 0 && c.minSrcPosition.y >= 0);
        assert_true(c.minSrcPosition.x <= c.maxSrcPosition.x);
        assert_true(c.minSrcPosition.y <= c.maxSrcPosition.y);
        assert_true(c.minDstPosition.x <= c.maxDstPosition.x);
        assert_true(c.minDstPosition.y <= c.maxDstPosition.y);
        assert_true(c.minSrcExtent.width <= c.maxSrcExtent.width);
        assert_true(c.minSrcExtent.height <= c.maxSrcExtent.height);
        assert_true(c.minDstExtent.width <= c.maxDstExtent.width);
        assert_true(c.minDstExtent.height <= c.maxDstExtent.height);
    }
}

static void a_mode_that_a_display_has_not_is_not_made(void **state)
{
    CLIENT_GET_INSTANCE(&client, vkCreateDisplayModeKHR);
    static const VkDisplayModeParametersKHR wrong[] = {
        {{0, PLACE_HEIGHT}, 60000}, {{PLACE_WIDTH, 0}, 60000}, {{PLACE_WIDTH, PLACE_HEIGHT}, 0}};
    VkDisplayModeKHR untouched = (VkDisplayModeKHR)(uintptr_t)77, mode = untouched;
    uint32_t before = 0, after = 0;

    (void)state;
    open_display();
    assert_int_equal(get_display_modes(&before, NULL), VK_SUCCESS);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        VkDisplayModeCreateInfoKHR info = {
            .sType = VK_STRUCTURE_TYPE_DISPLAY_MODE_CREATE_INFO_KHR, .parameters = wrong[i]};
        assert_int_equal(vkCreateDisplayModeKHR(client.physical, display, &info, NULL, &mode),
            VK_ERROR_INITIALIZATION_FAILED);
        assert_true(mode == untouched);
    }
    assert_int_equal(get_display_modes(&after, NULL), VK_SUCCESS);
    assert_int_equal(before, after);
}

static void no_surface_is_destroyed(void **state)
{
    (void)state;
    vkDestroySurfaceKHR(client.instance, VK_NULL_HANDLE, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_given_as_far_as_there_is_room),
        cmocka_unit_test(capabilities_are_within_their_bounds),
        cmocka_unit_test(both_questions_have_one_answer),
        cmocka_unit_test(protected_swapchains_are_not_promised),
        cmocka_unit_test(formats_are_there_once_and_in_pairs),
        cmocka_unit_test(fifo_is_among_the_modes),
        cmocka_unit_test(compatible_modes_begin_with_the_one_that_was_asked_about),
        cmocka_unit_test(compatible_modes_scale_alike),
        cmocka_unit_test(every_family_of_queues_presents),
        cmocka_unit_test(a_group_of_one_presents_its_own_images),
        cmocka_unit_test(displays_are_listed_as_far_as_there_is_room),
        cmocka_unit_test(planes_of_displays_are_within_their_bounds),
        cmocka_unit_test(a_mode_that_a_display_has_not_is_not_made),
        cmocka_unit_test(no_surface_is_destroyed),
    };

    if (!take_place(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, begin_place, end_place);
}
