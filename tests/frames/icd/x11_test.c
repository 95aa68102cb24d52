/* A target on an X server's window, without Vulkan. */
#include "x11_picture.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/x11_gamescope.h"

#define WIDTH 100u
#define HEIGHT 60u

static xcb_connection_t *app; /* that never reads an event */
static xcb_window_t window;

static xcb_screen_t *screen(void)
{
    return xcb_setup_roots_iterator(xcb_get_setup(app)).data;
}

static unsigned descriptors_before;

static int setup(void **state)
{
    (void)state;
    descriptors_before = n_descriptors();
    app = xcb_connect(NULL, NULL);
    assert_int_equal(xcb_connection_has_error(app), 0);
    window = x11_window(app, WIDTH, HEIGHT);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    xcb_disconnect(app);
    assert_int_equal(n_descriptors(), descriptors_before);
    return 0;
}

static bool has_present(void)
{
    return strcmp(getenv("XVFB_WITHOUT"), "none") == 0;
}

static struct tp_target *make(void)
{
    struct tp_target *t;

    assert_int_equal(tp_target_x11_create(app, window, &t), 0);
    return t;
}

static void a_window_that_was_not_sent_yet_is_known(void **state)
{
    struct tp_target *t = make();
    struct tp_target_format *formats;
    struct tp_target_caps caps;
    uint32_t n, shared = 0;

    (void)state;
    assert_int_equal(t->ops->query(t, &caps), 0);
    assert_int_equal(caps.width, WIDTH);
    assert_int_equal(caps.height, HEIGHT);
    assert_true(caps.alphas & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR);
    assert_false(caps.takes_fences);
    assert_int_equal(t->ops->formats(t, &formats, &n), 0);
    for (uint32_t i = 0; i < n; i++)
        shared += formats[i].fourcc == DRM_FORMAT_XRGB8888 &&
            formats[i].modifier == DRM_FORMAT_MOD_LINEAR && (formats[i].memory & TP_MEMORY_SHARED);
    assert_int_equal(shared, 1);
    free(formats);
    t->ops->destroy(t);
    assert_true(tp_target_x11_supports(app, screen()->root_visual));
    assert_false(tp_target_x11_supports(app, 0));
}

static void pictures_are_in_the_window_as_they_were_drawn(void **state)
{
    struct guest g;

    (void)state;
    guest_open(&g, make(), 3, VK_PRESENT_MODE_FIFO_KHR);
    for (uint64_t serial = 1; serial <= 30; serial++) {
        uint32_t index = (uint32_t)(serial - 1) % 3;
        if (serial > 3) /* free again */
            wait_for(&g, &g.released[index], (serial - 1) / 3);
        x11_paint(&g, index, (uint32_t)serial * 11);
        guest_present(&g, index, serial, g.info.mode);
        if (serial % 10 == 0) {
            wait_for(&g, &g.n_shown, serial);
            assert_int_equal(x11_differing_pixels(app, window, &g, index), 0);
        }
    }
    assert_int_equal(g.n_discarded, 0);
    for (uint64_t i = 1; i <= 30; i++) {
        assert_int_equal(g.shown[i].serial, i);
        assert_true(i == 1 || g.shown[i].time_ns > g.shown[i - 1].time_ns);
        if (has_present()) { /* each has a refresh of its own */
            assert_true(g.shown[i].exact);
            assert_true(i == 1 || g.shown[i].sequence > g.shown[i - 1].sequence);
        }
    }
    guest_close(&g);
}

static void every_picture_ends_whatever_the_mode(void **state)
{
    static const VkPresentModeKHR modes[] = {
        VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR, TP_VK_FIFO_LATEST_READY};
    struct guest g;

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        guest_open(&g, make(), 4, modes[m]);
        for (uint64_t serial = 1; serial <= 40; serial++) {
            uint32_t index = (uint32_t)(serial - 1) % 4;
            if (serial > 4)
                wait_for(&g, &g.released[index], (serial - 1) / 4);
            guest_present(&g, index, serial, modes[m]);
        }
        for (int i = 0; i < 1000 && g.n_shown + g.n_discarded < 40; i++)
            usleep(10000);
        assert_int_equal(g.n_shown + g.n_discarded, 40);
        assert_int_equal(g.shown[g.n_shown].serial, 40); /* the newest is never dropped */
        guest_close(&g);
    }
}

static void a_resized_window_wants_another_swapchain(void **state)
{
    const uint32_t size[] = {WIDTH + 20, HEIGHT};
    struct tp_target_caps caps;
    struct guest g;

    (void)state;
    guest_open(&g, make(), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_shown, 1);
    xcb_configure_window(app, window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
    xcb_flush(app);
    wait_for(&g, &g.n_suboptimal, 1);
    guest_present(&g, 1, 2, g.info.mode); /* still shown */
    wait_for(&g, &g.n_shown, 2);
    assert_int_equal(g.target->ops->query(g.target, &caps), 0);
    assert_int_equal(caps.width, WIDTH + 20);
    guest_close(&g);
}

static void a_destroyed_window_is_lost(void **state)
{
    struct tp_picture p = {.index = 0, .serial = 2, .fence = -1};
    struct tp_target_caps caps;
    struct guest g;

    (void)state;
    guest_open(&g, make(), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_shown, 1);
    xcb_destroy_window(app, window);
    xcb_flush(app);
    wait_for(&g, &g.n_lost, 1);
    assert_int_equal(g.target->ops->present(g.stream, &p), -ENODEV);
    assert_int_equal(g.target->ops->query(g.target, &caps), -ENODEV);
    assert_int_equal(g.n_shown + g.n_discarded, 1);
    guest_close(&g);
}

static void a_newer_stream_takes_over(void **state)
{
    struct tp_picture p = {.index = 0, .serial = 9, .fence = -1};
    struct tp_target *t = make();
    struct guest old, new;

    (void)state;
    guest_open(&old, t, 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&old, 0, 1, old.info.mode);
    guest_open(&new, t, 2, VK_PRESENT_MODE_FIFO_KHR);
    assert_int_equal(t->ops->present(old.stream, &p), -ESTALE);
    x11_paint(&new, 0, 5);
    guest_present(&new, 0, 1, new.info.mode);
    wait_for(&new, &new.n_shown, 1);
    assert_int_equal(x11_differing_pixels(app, window, &new, 0), 0);
    assert_int_equal(old.n_shown + old.n_discarded, 1);
    guest_close_stream(&old);
    guest_close(&new);
}

static void a_thousand_streams_leave_nothing_behind(void **state)
{
    struct tp_target *t = make();
    struct guest g;
    unsigned before = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        guest_open(&g, t, 2, VK_PRESENT_MODE_IMMEDIATE_KHR);
        guest_present(&g, 0, 1, g.info.mode);
        if (i % 100 == 0)
            wait_for(&g, &g.n_shown, 1);
        guest_close_stream(&g);
        if (i == 0)
            before = n_descriptors();
    }
    assert_int_equal(n_descriptors(), before);
    t->ops->destroy(t);
}

static xcb_window_t child(xcb_window_t of, int16_t x, uint16_t width, uint16_t border)
{
    xcb_window_t id = xcb_generate_id(app);

    xcb_create_window(app, XCB_COPY_FROM_PARENT, id, of, x, 0, width, HEIGHT, border,
        XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, 0, NULL);
    return id;
}

static void only_what_fills_its_top_level_window_is_its_content(void **state)
{
    xcb_window_t whole = child(window, 0, WIDTH, 0), gone = child(window, 0, WIDTH, 0);

    (void)state;
    assert_int_equal(tp_x11_gamescope_top(app, window), window);
    assert_int_equal(tp_x11_gamescope_top(app, whole), window);
    assert_int_equal(tp_x11_gamescope_top(app, child(whole, 0, WIDTH, 0)), window);
    assert_int_equal(tp_x11_gamescope_top(app, child(window, 0, WIDTH / 2, 0)), XCB_NONE);
    assert_int_equal(tp_x11_gamescope_top(app, child(whole, 1, WIDTH, 0)), XCB_NONE);
    assert_int_equal(tp_x11_gamescope_top(app, child(whole, 0, WIDTH, 1)), XCB_NONE);
    assert_int_equal(
        tp_x11_gamescope_top(app, child(child(window, 0, WIDTH / 2, 0), 0, WIDTH / 2, 0)), XCB_NONE);
    assert_int_equal(
        tp_x11_gamescope_top(app, child(child(window, 0, WIDTH / 2, 0), 0, WIDTH, 0)), XCB_NONE);
    xcb_destroy_window(app, gone);
    assert_int_equal(tp_x11_gamescope_top(app, gone), XCB_NONE);
}

/* The last one: there is no server afterwards. */
static void a_server_that_dies_leaves_nobody_waiting(void **state)
{
    struct tp_picture p = {.index = 0, .serial = 3, .fence = -1};
    struct guest g;

    (void)state;
    guest_open(&g, make(), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_shown, 1);
    assert_int_equal(kill(atoi(getenv("XVFB_PID")), SIGKILL), 0);
    wait_for(&g, &g.n_lost, 1);
    assert_int_equal(g.target->ops->present(g.stream, &p), -ENODEV);
    guest_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(a_window_that_was_not_sent_yet_is_known),
        T(pictures_are_in_the_window_as_they_were_drawn),
        T(every_picture_ends_whatever_the_mode),
        T(a_resized_window_wants_another_swapchain),
        T(a_destroyed_window_is_lost),
        T(a_newer_stream_takes_over),
        T(a_thousand_streams_leave_nothing_behind),
        T(only_what_fills_its_top_level_window_is_its_content),
        T(a_server_that_dies_leaves_nobody_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
