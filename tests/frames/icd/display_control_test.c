/* VK_EXT_display_control on the server's screen: its refreshes counted and waited for, switched off
 * and on, gone and come again. */
#include "client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_ignore_object(p) ((void)(p))
#endif

#define LONG_NS UINT64_C(10000000000)

struct screen {
    struct client c;
    struct chain ch;
    VkDisplayKHR display;
    VkSwapchainCreateInfoKHR info;
};

static void find_mode(struct screen *s, VkDisplayModePropertiesKHR *out)
{
    VkDisplayPropertiesKHR d;
    uint32_t one = 1;
    CLIENT_GET_INSTANCE(&s->c, vkGetPhysicalDeviceDisplayPropertiesKHR);
    CLIENT_GET_INSTANCE(&s->c, vkGetDisplayModePropertiesKHR);

    assert_true(vkGetPhysicalDeviceDisplayPropertiesKHR(s->c.physical, &one, &d) >= 0);
    assert_int_equal(one, 1);
    s->display = d.display;
    assert_true(vkGetDisplayModePropertiesKHR(s->c.physical, d.display, &one, out) >= 0);
}

static void open_screen(struct screen *s, bool lawless)
{
    VkDisplayModePropertiesKHR mode;
    VkSurfaceKHR surface;

    (lawless ? client_open_lawless : client_open)(&s->c);
    find_mode(s, &mode);
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .displayMode = mode.displayMode,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .imageExtent = mode.parameters.visibleRegion};
    CLIENT_GET_INSTANCE(&s->c, vkCreateDisplayPlaneSurfaceKHR);
    assert_int_equal(
        vkCreateDisplayPlaneSurfaceKHR(s->c.instance, &info, NULL, &surface), VK_SUCCESS);
    s->info = chain_info(surface, info.imageExtent.width, info.imageExtent.height);
    chain_open(&s->ch, &s->c, &s->info);
}

static void close_screen(struct screen *s)
{
    chain_close(&s->ch);
    vkDestroySurfaceKHR(s->c.instance, s->info.surface, NULL);
    client_close(&s->c);
}

static void show(struct screen *s, int frames)
{
    for (int i = 0; i < frames; i++)
        assert_int_equal(chain_round(&s->ch, NULL), VK_SUCCESS);
}

static VkResult count(struct screen *s, uint64_t *out)
{
    CLIENT_GET(&s->c, vkGetSwapchainCounterEXT);
    return vkGetSwapchainCounterEXT(
        s->c.device, s->ch.swapchain, VK_SURFACE_COUNTER_VBLANK_BIT_EXT, out);
}

static VkFence next_refresh(struct screen *s)
{
    VkDisplayEventInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DISPLAY_EVENT_INFO_EXT,
        .displayEvent = VK_DISPLAY_EVENT_TYPE_FIRST_PIXEL_OUT_EXT};
    VkFence fence;
    CLIENT_GET(&s->c, vkRegisterDisplayEventEXT);

    assert_int_equal(
        vkRegisterDisplayEventEXT(s->c.device, s->display, &info, NULL, &fence), VK_SUCCESS);
    return fence;
}

static void await(struct screen *s, VkFence fence)
{
    assert_int_equal(vkWaitForFences(s->c.device, 1, &fence, VK_TRUE, LONG_NS), VK_SUCCESS);
    vkDestroyFence(s->c.device, fence, NULL);
}

/* Until all pictures that were queued are shown. */
static void settle(struct screen *s)
{
    for (uint32_t i = 0; i < 2 * s->ch.n_images; i++)
        await(s, next_refresh(s));
}

static void power(struct screen *s, VkDisplayPowerStateEXT state)
{
    VkDisplayPowerInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_POWER_INFO_EXT, .powerState = state};
    CLIENT_GET(&s->c, vkDisplayPowerControlEXT);

    assert_int_equal(vkDisplayPowerControlEXT(s->c.device, s->display, &info), VK_SUCCESS);
}

static void a_screen_counts_its_refreshes_and_nothing_else_does(void **state)
{
    VkSurfaceCapabilities2EXT caps = {.sType = VK_STRUCTURE_TYPE_SURFACE_CAPABILITIES_2_EXT};
    VkSurfaceCapabilitiesKHR as;
    uint64_t before, after;
    struct screen s;

    (void)state;
    open_screen(&s, false);
    CLIENT_GET_INSTANCE(&s.c, vkGetPhysicalDeviceSurfaceCapabilities2EXT);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilities2EXT(s.c.physical, s.info.surface, &caps),
        VK_SUCCESS);
    assert_int_equal(caps.supportedSurfaceCounters, VK_SURFACE_COUNTER_VBLANK_BIT_EXT);
    vkGetPhysicalDeviceSurfaceCapabilitiesKHR(s.c.physical, s.info.surface, &as);
    assert_int_equal(caps.minImageCount, as.minImageCount);
    assert_int_equal(caps.currentExtent.width, as.currentExtent.width);
    assert_int_equal(caps.supportedUsageFlags, as.supportedUsageFlags);
    VkSurfaceKHR headless = client_headless(&s.c);
    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilities2EXT(s.c.physical, headless, &caps), VK_SUCCESS);
    assert_int_equal(caps.supportedSurfaceCounters, 0);
    vkDestroySurfaceKHR(s.c.instance, headless, NULL);

    show(&s, 10);
    assert_int_equal(count(&s, &before), VK_SUCCESS);
    show(&s, 30);
    assert_int_equal(count(&s, &after), VK_SUCCESS);
    assert_true(after >= before + 25); /* some wait yet to be shown */
    close_screen(&s);
}

static void a_fence_is_signalled_by_the_next_refresh(void **state)
{
    uint64_t before, after;
    struct screen s;

    (void)state;
    open_screen(&s, false);
    VkFence dark = next_refresh(&s);
    assert_int_equal(vkGetFenceStatus(s.c.device, dark), VK_NOT_READY); /* it is not lit yet */
    show(&s, 3);
    await(&s, dark);
    assert_int_equal(count(&s, &before), VK_SUCCESS);
    for (int i = 0; i < 10; i++)
        await(&s, next_refresh(&s));
    assert_int_equal(count(&s, &after), VK_SUCCESS);
    assert_true(after >= before + 10);
    /* Several at once, of which one is given up. */
    VkFence some[3] = {next_refresh(&s), next_refresh(&s), next_refresh(&s)};
    vkDestroyFence(s.c.device, some[1], NULL);
    await(&s, some[0]);
    await(&s, some[2]);
    close_screen(&s);
}

static void a_screen_that_is_off_has_no_refresh(void **state)
{
    uint64_t refreshes;
    struct screen s;

    (void)state;
    open_screen(&s, false);
    power(&s, VK_DISPLAY_POWER_STATE_OFF_EXT); /* nothing is on it yet */
    show(&s, 5);
    settle(&s);
    power(&s, VK_DISPLAY_POWER_STATE_OFF_EXT);
    power(&s, VK_DISPLAY_POWER_STATE_SUSPEND_EXT);
    assert_int_equal(count(&s, &refreshes), VK_ERROR_OUT_OF_DATE_KHR);
    VkFence fence = next_refresh(&s);
    assert_int_equal(vkWaitForFences(s.c.device, 1, &fence, VK_TRUE, 50000000), VK_TIMEOUT);
    power(&s, VK_DISPLAY_POWER_STATE_ON_EXT);
    await(&s, fence);
    assert_int_equal(count(&s, &refreshes), VK_SUCCESS);
    /* A picture switches it on, too. */
    power(&s, VK_DISPLAY_POWER_STATE_OFF_EXT);
    fence = next_refresh(&s);
    show(&s, 5);
    await(&s, fence);
    close_screen(&s);
}

static void what_nobody_waited_for_ends_with_the_device(void **state)
{
    struct screen s;

    (void)state;
    open_screen(&s, true);
    show(&s, 3);
    /* The driver's own fences are lost with the device, as the program never gave them back. */
    for (int i = 0; i < 5; i++)
        __lsan_ignore_object((const void *)next_refresh(&s));
    close_screen(&s);
}

static void a_screen_that_goes_or_comes_signals_a_fence(void **state)
{
    VkDeviceEventInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEVICE_EVENT_INFO_EXT,
        .deviceEvent = VK_DEVICE_EVENT_TYPE_DISPLAY_HOTPLUG_EXT};
    struct screen s = {0};
    VkFence fence;

    (void)state;
    client_open_lawless(&s.c); /* bookworm's layer does not know fences from there */
    CLIENT_GET(&s.c, vkRegisterDeviceEventEXT);
    for (int i = 0; i < 2; i++) { /* out, and in again */
        assert_int_equal(vkRegisterDeviceEventEXT(s.c.device, &info, NULL, &fence), VK_SUCCESS);
        assert_int_equal(vkGetFenceStatus(s.c.device, fence), VK_NOT_READY);
        assert_int_equal(kill(atoi(getenv("SERVER_PID")), SIGUSR2), 0);
        await(&s, fence);
    }
    client_close(&s.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_screen_counts_its_refreshes_and_nothing_else_does),
        cmocka_unit_test(a_fence_is_signalled_by_the_next_refresh),
        cmocka_unit_test(a_screen_that_is_off_has_no_refresh),
        cmocka_unit_test(what_nobody_waited_for_ends_with_the_device),
        cmocka_unit_test(a_screen_that_goes_or_comes_signals_a_fence),
    };

    client_extension = VK_EXT_DISPLAY_SURFACE_COUNTER_EXTENSION_NAME;
    client_device_extension = VK_EXT_DISPLAY_CONTROL_EXTENSION_NAME;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
