/* A game without a compositor: the server's screen by VK_KHR_display, under the loader. */
#include "client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WIDTH 320u
#define HEIGHT 200u

/* The one display, and its mode of this refresh. */
static VkDisplayModeKHR find_mode(struct client *c, uint32_t mhz, VkDisplayKHR *display)
{
    VkDisplayPropertiesKHR d;
    VkDisplayModePropertiesKHR modes[4];
    uint32_t n = 1, n_modes = 4;
    CLIENT_GET_INSTANCE(c, vkGetPhysicalDeviceDisplayPropertiesKHR);
    CLIENT_GET_INSTANCE(c, vkGetDisplayModePropertiesKHR);

    assert_int_equal(vkGetPhysicalDeviceDisplayPropertiesKHR(c->physical, &n, &d), VK_SUCCESS);
    assert_int_equal(n, 1);
    *display = d.display;
    assert_int_equal(
        vkGetDisplayModePropertiesKHR(c->physical, d.display, &n_modes, modes), VK_SUCCESS);
    for (uint32_t i = 0; i < n_modes; i++) {
        if (modes[i].parameters.refreshRate == mhz)
            return modes[i].displayMode;
    }
    fail_msg("no mode has %u mHz", mhz);
    return VK_NULL_HANDLE;
}

static VkSurfaceKHR make_surface(struct client *c, uint32_t mhz)
{
    VkDisplayKHR display;
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .displayMode = find_mode(c, mhz, &display),
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .imageExtent = {WIDTH, HEIGHT}};
    VkSurfaceKHR surface;
    VkBool32 can;
    CLIENT_GET_INSTANCE(c, vkCreateDisplayPlaneSurfaceKHR);

    assert_int_equal(
        vkCreateDisplayPlaneSurfaceKHR(c->instance, &info, NULL, &surface), VK_SUCCESS);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceSupportKHR(c->physical, c->family, surface, &can), VK_SUCCESS);
    assert_true(can);
    return surface;
}

static void the_screen_is_a_display_with_a_plane_and_modes(void **state)
{
    struct client c;
    VkDisplayKHR display, of_plane;
    VkDisplayPropertiesKHR d[2];
    VkDisplayProperties2KHR d2 = {.sType = VK_STRUCTURE_TYPE_DISPLAY_PROPERTIES_2_KHR};
    VkDisplayPlanePropertiesKHR plane;
    VkDisplayPlaneCapabilitiesKHR caps;
    VkDisplayModeKHR mode, made;
    uint32_t n = 2;

    (void)state;
    client_open(&c);
    CLIENT_GET_INSTANCE(&c, vkGetPhysicalDeviceDisplayPropertiesKHR);
    CLIENT_GET_INSTANCE(&c, vkGetPhysicalDeviceDisplayProperties2KHR);
    CLIENT_GET_INSTANCE(&c, vkGetPhysicalDeviceDisplayPlanePropertiesKHR);
    CLIENT_GET_INSTANCE(&c, vkGetDisplayPlaneSupportedDisplaysKHR);
    CLIENT_GET_INSTANCE(&c, vkGetDisplayPlaneCapabilitiesKHR);
    CLIENT_GET_INSTANCE(&c, vkCreateDisplayModeKHR);
    assert_int_equal(vkGetPhysicalDeviceDisplayPropertiesKHR(c.physical, &n, d), VK_SUCCESS);
    assert_int_equal(n, 1);
    assert_string_equal(d[0].displayName, "eDP-1");
    assert_int_equal(d[0].physicalResolution.width, WIDTH);
    assert_int_equal(d[0].physicalResolution.height, HEIGHT);
    n = 0;
    assert_int_equal(vkGetPhysicalDeviceDisplayPropertiesKHR(c.physical, &n, d), VK_INCOMPLETE);
    n = 1;
    assert_int_equal(vkGetPhysicalDeviceDisplayProperties2KHR(c.physical, &n, &d2), VK_SUCCESS);
    assert_true(d2.displayProperties.display == d[0].display); /* the same handle each time */
    assert_int_equal(
        vkGetPhysicalDeviceDisplayPlanePropertiesKHR(c.physical, &n, &plane), VK_SUCCESS);
    assert_int_equal(
        vkGetDisplayPlaneSupportedDisplaysKHR(c.physical, 0, &n, &of_plane), VK_SUCCESS);
    assert_true(of_plane == d[0].display);

    mode = find_mode(&c, 120000, &display);
    assert_int_equal(vkGetDisplayPlaneCapabilitiesKHR(c.physical, mode, 0, &caps), VK_SUCCESS);
    assert_int_equal(caps.maxDstExtent.width, WIDTH);
    VkDisplayModeCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_DISPLAY_MODE_CREATE_INFO_KHR,
        .parameters = {{WIDTH, HEIGHT}, 120000}};
    assert_int_equal(vkCreateDisplayModeKHR(c.physical, display, &info, NULL, &made), VK_SUCCESS);
    /* Layers give each creation a handle of its own: it is that mode's by what it can. */
    assert_int_equal(vkGetDisplayPlaneCapabilitiesKHR(c.physical, made, 0, &caps), VK_SUCCESS);
    assert_int_equal(caps.maxDstExtent.height, HEIGHT);
    info.parameters.refreshRate = 75000;
    assert_int_equal(vkCreateDisplayModeKHR(c.physical, display, &info, NULL, &made),
        VK_ERROR_INITIALIZATION_FAILED);
    client_close(&c);
}

/* A hundred frames; each is on the screen for a refresh of the mode or more, by its own word. */
static void play(uint32_t mhz, uint64_t period_ns)
{
    VkPastPresentationTimingGOOGLE past[128];
    VkSwapchainCreateInfoKHR info;
    VkRefreshCycleDurationGOOGLE cycle;
    struct client c;
    struct chain ch;
    uint32_t n = 128;

    client_open(&c);
    CLIENT_GET(&c, vkGetPastPresentationTimingGOOGLE);
    CLIENT_GET(&c, vkGetRefreshCycleDurationGOOGLE);
    info = chain_info(make_surface(&c, mhz), WIDTH, HEIGHT);
    chain_open(&ch, &c, &info);
    for (uint32_t i = 1; i <= 100; i++) {
        VkPresentTimeGOOGLE time = {.presentID = i};
        VkPresentTimesInfoGOOGLE times = {.sType = VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE,
            .swapchainCount = 1,
            .pTimes = &time};
        assert_int_equal(chain_round(&ch, &times), VK_SUCCESS);
    }
    assert_int_equal(vkGetRefreshCycleDurationGOOGLE(c.device, ch.swapchain, &cycle), VK_SUCCESS);
    assert_in_range(cycle.refreshDuration, period_ns - 1000, period_ns + 1000);
    vkDeviceWaitIdle(c.device);
    assert_true(vkGetPastPresentationTimingGOOGLE(c.device, ch.swapchain, &n, past) >= VK_SUCCESS);
    assert_true(n > 20);
    /* The screen changes its mode with the first picture: that one's refresh is of the mode before.
     */
    for (uint32_t i = 3; i < n; i++) {
        uint64_t step = past[i].actualPresentTime - past[i - 1].actualPresentTime;
        uint64_t off = (step + 2000) % period_ns;
        assert_int_equal(past[i].presentID, past[i - 1].presentID + 1);
        /* A server that is late tells two flips with one refresh's time, after a gap. */
        if (step == 0)
            step = past[i].actualPresentTime - past[i - 2].actualPresentTime - period_ns;
        assert_true(step >= period_ns - 2000);
        assert_true(
            off < 4000 + step / period_ns * 200); /* events tell µs; the period is rounded */
    }
    chain_close(&ch);
    vkDestroySurfaceKHR(c.instance, info.surface, NULL);
    client_close(&c);
}

static void frames_have_the_refresh_of_the_chosen_mode(void **state)
{
    (void)state;
    play(60000, 16666666);
    play(120000, 8333333);
}

static void two_surfaces_of_a_screen_take_turns(void **state)
{
    VkSwapchainCreateInfoKHR info, other;
    struct client c;
    struct chain ch, second;

    (void)state;
    client_open(&c);
    info = chain_info(make_surface(&c, 60000), WIDTH, HEIGHT);
    other = chain_info(make_surface(&c, 120000), WIDTH, HEIGHT);
    chain_open(&ch, &c, &info);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    assert_int_equal(chain_try(&second, &c, &other), VK_ERROR_NATIVE_WINDOW_IN_USE_KHR);
    chain_close(&ch);
    chain_open(&second, &c, &other);
    for (int i = 0; i < 10; i++)
        assert_int_equal(chain_round(&second, NULL), VK_SUCCESS);
    chain_close(&second);
    vkDestroySurfaceKHR(c.instance, info.surface, NULL);
    vkDestroySurfaceKHR(c.instance, other.surface, NULL);
    client_close(&c);
}

/* The last one: there is no server afterwards. */
static void a_server_that_dies_is_a_lost_surface(void **state)
{
    VkSwapchainCreateInfoKHR info;
    VkResult r = VK_SUCCESS;
    struct client c;
    struct chain ch;

    (void)state;
    client_open_lawless(&c); /* its semaphores are left as the error leaves them */
    info = chain_info(make_surface(&c, 60000), WIDTH, HEIGHT);
    chain_open(&ch, &c, &info);
    for (int i = 0; i < 10; i++)
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    assert_int_equal(kill(atoi(getenv("SERVER_PID")), SIGKILL), 0);
    for (int i = 0; i < 1000 && r >= 0; i++)
        r = chain_round(&ch, NULL);
    assert_int_equal(r, VK_ERROR_SURFACE_LOST_KHR);
    chain_close(&ch);
    vkDestroySurfaceKHR(c.instance, info.surface, NULL);
    client_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_screen_is_a_display_with_a_plane_and_modes),
        cmocka_unit_test(frames_have_the_refresh_of_the_chosen_mode),
        cmocka_unit_test(two_surfaces_of_a_screen_take_turns),
        cmocka_unit_test(a_server_that_dies_is_a_lost_surface),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
