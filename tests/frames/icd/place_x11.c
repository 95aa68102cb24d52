/* Windows of an Xvfb of the test's own. */
#include "place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <xcb/xcb.h>

#include <vulkan/vulkan_xcb.h>

#include "base/proc.h"

static pid_t server;
static xcb_connection_t *connection;
static xcb_window_t windows[PLACE_WINDOWS];

static void begin(void)
{
    const char *argv[] = {"Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten",
        "tcp", "-noreset", NULL};
    char name[16] = ":";
    int ends[2];

    assert_true(tp_have_program("Xvfb"));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    server = place_spawn(argv, ends[1]);
    close(ends[1]);
    for (size_t n = 1; n < sizeof name - 1; n++) {
        assert_int_equal(read(ends[0], name + n, 1), 1);
        if (name[n] == '\n') {
            name[n] = 0;
            break;
        }
    }
    close(ends[0]);
    setenv("DISPLAY", name, 1);
    unsetenv("GAMESCOPE_WAYLAND_DISPLAY");
    connection = xcb_connect(NULL, NULL);
    assert_int_equal(xcb_connection_has_error(connection), 0);
}

static VkSurfaceKHR again(struct client *c, unsigned i)
{
    VkSurfaceKHR out;
    CLIENT_GET_INSTANCE(c, vkCreateXcbSurfaceKHR);
    VkXcbSurfaceCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_XCB_SURFACE_CREATE_INFO_KHR,
        .connection = connection,
        .window = windows[i]};

    assert_int_equal(vkCreateXcbSurfaceKHR(c->instance, &info, NULL, &out), VK_SUCCESS);
    return out;
}

static VkSurfaceKHR surface(struct client *c, unsigned i)
{
    xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;
    const uint32_t override = 1; /* there is no manager */

    windows[i] = xcb_generate_id(connection);
    xcb_create_window(connection, XCB_COPY_FROM_PARENT, windows[i], screen->root,
        (int16_t)(i * 100), 0, PLACE_WIDTH, PLACE_HEIGHT, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
        XCB_COPY_FROM_PARENT, XCB_CW_OVERRIDE_REDIRECT, &override);
    xcb_map_window(connection, windows[i]);
    xcb_flush(connection);
    return again(c, i);
}

static void close_window(unsigned i)
{
    xcb_destroy_window(connection, windows[i]);
    xcb_flush(connection);
}

static void resize(unsigned i, uint32_t width, uint32_t height)
{
    const uint32_t size[] = {width, height};

    xcb_configure_window(
        connection, windows[i], XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
    xcb_flush(connection);
}

static void end_server(void)
{
    if (server <= 0)
        return;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    server = 0;
}

/* One that is killed leaves its lock and socket behind. */
static void end(void)
{
    xcb_disconnect(connection);
    if (server <= 0)
        return;
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    server = 0;
}

const struct place_kind place_x11 = {.name = "x11",
    .extension = VK_KHR_XCB_SURFACE_EXTENSION_NAME,
    .has_size = true,
    .begin = begin,
    .surface = surface,
    .again = again,
    .close = close_window,
    .resize = resize,
    .kill = end_server,
    .end = end};
