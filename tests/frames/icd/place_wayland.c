/* Windows of a Wayland compositor: the test's double, or weston. */
#include "place.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <wayland-client.h>

#include <vulkan/vulkan_wayland.h>

#include "base/proc.h"
#include "wayland_double.h"
#include "wayland_window.h"

static struct wayland_app app;
static struct wayland_window windows[PLACE_WINDOWS];

static VkSurfaceKHR again(struct client *c, unsigned i)
{
    VkSurfaceKHR out;
    CLIENT_GET_INSTANCE(c, vkCreateWaylandSurfaceKHR);
    VkWaylandSurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_WAYLAND_SURFACE_CREATE_INFO_KHR,
        .display = app.display,
        .surface = windows[i].surface};

    assert_int_equal(vkCreateWaylandSurfaceKHR(c->instance, &info, NULL, &out), VK_SUCCESS);
    return out;
}

static VkSurfaceKHR surface(struct client *c, unsigned i)
{
    wayland_window_open(&app, &windows[i], NULL);
    return again(c, i);
}

static void close_window(unsigned i)
{
    wayland_window_close(&app, &windows[i]);
}

/* --- the double --- */

static pthread_t refresher;
static atomic_bool ends;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *refresh(void *data)
{
    unsigned done = 0, told = 0;

    while (!ends) {
        double_lock();
        double_refresh();
        /* What is replaced is given back; the newest stays on the screen. */
        for (; done + 1 < double_n_commits; done++) {
            if (double_commits[done].release)
                double_release(done, -1);
        }
        for (; told < double_n_commits; told++) {
            if (double_commits[told].feedback)
                double_shown(told, now_ns(), 2000000, told + 1, true);
        }
        double_unlock();
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return data;
}

static void begin_double(void)
{
    int fd = double_start(&(struct double_options){
        .dmabuf = 4, .sync = true, .presentation = true, .clock = CLOCK_MONOTONIC});

    assert_true(fd >= 0);
    wayland_app_open(&app, wl_display_connect_to_fd(fd));
    ends = false;
    assert_int_equal(pthread_create(&refresher, NULL, refresh, NULL), 0);
}

static void end_refresher(void)
{
    if (ends)
        return;
    ends = true;
    pthread_join(refresher, NULL);
}

static void kill_double(void)
{
    end_refresher();
    double_hang_up();
}

static void end_double(void)
{
    end_refresher();
    wayland_app_close(&app);
    double_stop();
}

const struct place_kind place_double = {.name = "double",
    .extension = VK_KHR_WAYLAND_SURFACE_EXTENSION_NAME,
    .begin = begin_double,
    .surface = surface,
    .again = again,
    .close = close_window,
    .kill = kill_double,
    .end = end_double};

/* --- weston --- */

static pid_t weston;

static struct wl_display *display;

static bool connects(void *name)
{
    display = wl_display_connect(name);
    return display;
}

static void begin_weston(void)
{
    const char *argv[] = {"weston", "--backend=headless-backend.so", "--use-pixman",
        "--idle-time=0", "--no-config", "--socket=weston", "--width=640", "--height=480", NULL};
    char name[] = "weston";

    assert_true(tp_have_program("weston"));
    setenv("XDG_RUNTIME_DIR", place_folder(), 1);
    unlink(name); /* a killed one leaves it */
    weston = place_spawn(argv, -1);
    assert_true(weston > 0);
    assert_true(place_await(connects, name));
    wayland_app_open(&app, display);
    assert_non_null(app.base);
}

static void kill_weston(void)
{
    if (weston <= 0)
        return;
    kill(weston, SIGKILL);
    waitpid(weston, NULL, 0);
    weston = 0;
}

static void end_weston(void)
{
    wayland_app_close(&app);
    kill_weston();
}

const struct place_kind place_weston = {.name = "weston",
    .extension = VK_KHR_WAYLAND_SURFACE_EXTENSION_NAME,
    .begin = begin_weston,
    .surface = surface,
    .again = again,
    .close = close_window,
    .kill = kill_weston,
    .end = end_weston};
