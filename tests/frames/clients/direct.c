/*
 * direct SECONDS [fifo|mailbox|immediate] [over]: a game without a compositor. The first screen by
 * VK_KHR_display, in its first mode; frames of one colour each, another one each time, as fast as
 * they can be had. With over each is drawn once more after its present, as no program may. At the
 * end it tells how many there were. Status 3: there is no driver, or no screen.
 */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static VkSurfaceKHR open_screen(VkExtent2D *extent)
{
    VkDisplayPropertiesKHR display;
    VkDisplayModePropertiesKHR mode;
    VkSurfaceKHR surface;
    uint32_t n = 1;

    if (vkGetPhysicalDeviceDisplayPropertiesKHR(draw.physical, &n, &display) < 0 || n == 0)
        draw_die(3, "there is no screen here");
    n = 1;
    draw_must(vkGetDisplayModePropertiesKHR(draw.physical, display.display, &n, &mode), "modes");
    *extent = mode.parameters.visibleRegion;
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .displayMode = mode.displayMode,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .imageExtent = *extent};
    draw_must(vkCreateDisplayPlaneSurfaceKHR(draw.instance, &info, NULL, &surface), "the surface");
    return surface;
}

int main(int argc, char **argv)
{
    static const char *const extensions[] = {
        VK_KHR_SURFACE_EXTENSION_NAME, VK_KHR_DISPLAY_EXTENSION_NAME};
    const char *mode = argc > 2 ? argv[2] : "fifo";
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    VkExtent2D extent;

    draw.name = "direct";
    if (seconds <= 0)
        draw_die(2, "usage: direct SECONDS [fifo|mailbox|immediate] [over]");
    draw.over = argc > 3 && !strcmp(argv[3], "over");
    VkPresentModeKHR present = draw_mode(mode);
    draw_open("direct", extensions, 2);
    VkSurfaceKHR surface = open_screen(&extent);
    draw_on(surface, extent, present);
    double begin = draw_now(), end;
    while ((end = draw_now()) < begin + seconds) {
        uint64_t n = draw.n_frames;
        if (!draw_frame((float)(n % 199) / 198, (float)(n % 101) / 100, 0.5f))
            draw_on(surface, extent, present);
    }
    printf("direct: %ux%u, %s, %u images, %llu frames, %.0f a second\n", extent.width,
        extent.height, mode, draw.n_images, (unsigned long long)draw.n_frames,
        (double)draw.n_frames / (end - begin));
    draw_close();
    return 0;
}
