/*
 * glfw FRAMES: a window of GLFW's with so many frames of one colour, which grows when a third of
 * them are drawn. With 0 frames it goes on until it is ended. Status 3: there is no window system,
 * or no driver for it.
 */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

static void begin_anew(GLFWwindow *window, VkSurfaceKHR surface)
{
    int width, height;

    glfwGetFramebufferSize(window, &width, &height);
    draw_on(surface, (VkExtent2D){(uint32_t)width, (uint32_t)height}, VK_PRESENT_MODE_FIFO_KHR);
}

int main(int argc, char **argv)
{
    uint64_t frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned chains = 1;
    VkSurfaceKHR surface;
    uint32_t n = 0;

    draw.name = "glfw";
    if (!glfwInit() || !glfwVulkanSupported())
        draw_die(3, "GLFW finds no window system here, or no Vulkan");
    const char **extensions = glfwGetRequiredInstanceExtensions(&n);
    draw_open("glfw", extensions, n);
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    GLFWwindow *window = glfwCreateWindow(320, 240, "glfw", NULL, NULL);
    if (!window)
        draw_die(3, "GLFW makes no window here");
    draw_must(glfwCreateWindowSurface(draw.instance, window, NULL, &surface), "the surface");
    begin_anew(window, surface);
    while (!glfwWindowShouldClose(window) && (frames == 0 || draw.n_frames < frames)) {
        glfwPollEvents();
        if (draw.n_frames == (frames ? frames / 3 : 30)) {
            glfwSetWindowSize(window, 400, 300);
            begin_anew(window, surface);
            chains++;
        }
        if (!draw_frame(1, 0, 1)) {
            begin_anew(window, surface);
            chains++;
        }
    }
    printf("glfw: %s: %llu frames, %u swapchains\n", glfwGetVersionString(),
        (unsigned long long)draw.n_frames, chains);
    draw_close();
    glfwDestroyWindow(window);
    glfwTerminate();
    return 0;
}
