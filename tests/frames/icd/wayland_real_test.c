/* The Wayland target on compositors that nobody here wrote, without a screen: weston and sway. */
#include <drm_fourcc.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>

#include "base/proc.h"
#include "frames/icd/target.h"
#include "wayland_guest.h"
#include "wayland_window.h"

/* --- compositors --- */

struct compositor {
    const char *program, *options, *socket, *shot;
    bool not_root;
};
static const struct compositor weston = {"weston",
    "--backend=headless-backend.so --use-pixman --debug --idle-time=0 --no-config "
    "--socket=icd-0 --width=400 --height=320",
    "icd-0", "weston-screenshooter", false};
static const struct compositor sway = {
    "sway", "--config config", "wayland-1", "grim shot.png", true};

static char folder[64];
static pid_t running;

static void nap(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/turnpike-icd-XXXXXX");
    if (!mkdtemp(folder) || chdir(folder) < 0)
        return -1;
    setenv("XDG_RUNTIME_DIR", folder, 1);
    setenv("WLR_BACKENDS", "headless", 1);
    setenv("WLR_RENDERER", "pixman", 1);
    setenv("WLR_LIBINPUT_NO_DEVICES", "1", 1);
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    return 0;
}

static void stop(int signal)
{
    if (running > 0) {
        kill(running, signal);
        kill(running, SIGCONT); /* a stopped one hears nothing */
        waitpid(running, NULL, 0);
    }
    running = 0;
}

static int teardown(void **state)
{
    char command[96];

    (void)state;
    stop(SIGTERM);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") < 0 || system(command) != 0 ? -1 : 0;
}

static void start(const struct compositor *c)
{
    static const char config[] = "output HEADLESS-1 resolution 400x320\ndefault_border none\n"
                                 "for_window [app_id=icd] floating enable\n";
    bool other = c->not_root && geteuid() == 0;
    char command[512];
    struct stat st;

    assert_true(tp_have_program(c->program));
    FILE *f = fopen("config", "w");
    fputs(config, f);
    fclose(f);
    if (other)
        assert_int_equal(chown(folder, 1000, 1000), 0);
    snprintf(command, sizeof command, "exec %s %s %s >log 2>&1",
        other ? "setpriv --reuid 1000 --regid 1000 --clear-groups" : "", c->program, c->options);
    running = fork();
    if (running == 0) {
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    for (unsigned i = 0; i < 1500 && stat(c->socket, &st) < 0; i++)
        nap();
    setenv("WAYLAND_DISPLAY", c->socket, 1);
}

/* --- what is on its screen --- */

static uint32_t *shot;
static uint32_t shot_width, shot_height;

static void take_shot(const struct compositor *c)
{
    char command[160];
    png_image png = {.version = PNG_IMAGE_VERSION};

    snprintf(command, sizeof command,
        "rm -f *.png; %s >shot.log 2>&1; [ -f shot.png ] || mv wayland-screenshot*.png shot.png",
        c->shot);
    assert_int_equal(system(command), 0);
    assert_true(png_image_begin_read_from_file(&png, "shot.png"));
    png.format = PNG_FORMAT_BGRA;
    free(shot);
    shot = malloc(PNG_IMAGE_SIZE(png));
    assert_true(png_image_finish_read(&png, NULL, shot, 0, NULL));
    shot_width = png.width;
    shot_height = png.height;
}

static uint32_t pixel(uint32_t x, uint32_t y)
{
    assert_true(x < shot_width && y < shot_height);
    return shot[y * shot_width + x] & 0xffffff;
}

/* Waits for the colour; its first pixel. */
static void await_colour(const struct compositor *c, uint32_t colour, uint32_t *x, uint32_t *y)
{
    for (unsigned i = 0; i < 100; i++, nap()) {
        take_shot(c);
        for (uint32_t at = 0; at < shot_width * shot_height; at++) {
            if ((shot[at] & 0xffffff) == colour) {
                *x = at % shot_width;
                *y = at / shot_width;
                return;
            }
        }
    }
    fail_msg("%s does not show the picture", c->program);
}

/* The window's quarters, row by row, where it is width x height. */
static void assert_shows(
    const struct compositor *c, uint32_t width, uint32_t height, const uint32_t quarters[4])
{
    uint32_t x = 0, y = 0;

    await_colour(c, quarters[0], &x, &y);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t left = x + (i & 1) * width / 2, top = y + (i >> 1) * height / 2;
        assert_int_equal(pixel(left, top), quarters[i]);
        assert_int_equal(pixel(left + width / 2 - 1, top + height / 2 - 1), quarters[i]);
    }
    free(shot);
    shot = NULL;
}

/* --- the application --- */

static struct wayland_app app;
static struct wayland_window window;
static struct tp_target *target;
static struct guest guest;

static void begin(const struct compositor *c)
{
    struct wl_display *display = NULL;

    start(c);
    for (unsigned i = 0; i < 500 && !(display = wl_display_connect(NULL)); i++)
        nap();
    assert_non_null(display);
    wayland_app_open(&app, display);
    assert_non_null(app.base);
    wayland_window_open(&app, &window, "icd");
    assert_int_equal(tp_target_wayland_create(display, window.surface, &target), 0);
}

static void end(void)
{
    target->ops->destroy(target);
    wayland_window_close(&app, &window);
    wayland_app_close(&app);
}

static void open_guest(VkSurfaceTransformFlagBitsKHR transform)
{
    struct tp_stream_info info = guest_info(160, 96);

    info.transform = transform;
    assert_int_equal(guest_open(&guest, target, &info, TP_MEMORY_SHARED, DRM_FORMAT_MOD_LINEAR), 0);
}

static void present_next(const uint32_t colours[4])
{
    int image = guest_free_image(&guest);

    assert_true(image >= 0);
    guest_paint(&guest, (uint32_t)image, colours);
    assert_int_equal(guest_present(&guest, (uint32_t)image, VK_PRESENT_MODE_FIFO_KHR), 0);
}

static const uint32_t first[4] = {0xff0102, 0x00ff03, 0x0405ff, 0x123456};

static void shows_pictures(const struct compositor *c)
{
    uint32_t next[4] = {0xfe0000, 1, 2, 3};

    begin(c);
    open_guest(VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    present_next(first);
    assert_shows(c, 160, 96, first);
    for (uint32_t i = 1; i < 50; i++) {
        next[0] = i << 16 | 0x77;
        present_next(next);
    }
    assert_shows(c, 160, 96, next);
    assert_int_equal(guest_count(&guest, GUEST_CHANGED), 0);
    guest_close(&guest);
    /* Turned clockwise by the guest: the top left of what is meant is its top right. */
    open_guest(VK_SURFACE_TRANSFORM_ROTATE_90_BIT_KHR);
    present_next(first);
    assert_shows(c, 96, 160, (uint32_t[4]){first[1], first[3], first[0], first[2]});
    guest_close(&guest);
    open_guest(VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_90_BIT_KHR);
    present_next(first);
    /* Undone: turned back, and then mirrored. */
    assert_shows(c, 96, 160, (uint32_t[4]){first[3], first[1], first[2], first[0]});
    guest_close(&guest);
    end();
}

/* Until the compositor has found a place for the window, whose new size is acknowledged meanwhile:
 * sway shows no new pictures before that. */
static unsigned find_a_place(void)
{
    enum { PICTURES = 30 };

    for (unsigned i = 0; i < PICTURES; i++) {
        assert_true(wl_display_roundtrip(app.display) >= 0);
        present_next(first);
        nap();
    }
    for (unsigned i = 0; i < 500; i++) {
        unsigned shown = guest_count(&guest, GUEST_SHOWN);
        if (shown + guest_count(&guest, GUEST_DISCARDED) == PICTURES)
            return shown;
        nap();
    }
    fail_msg("the compositor shows nothing");
    return 0;
}

static void shows_each_picture_in_a_refresh_of_its_own(const struct compositor *c)
{
    enum { PICTURES = 120 };

    begin(c);
    open_guest(VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    unsigned before = find_a_place(), lost = guest_count(&guest, GUEST_DISCARDED);
    for (uint32_t i = 0; i < PICTURES; i++)
        present_next(first);
    assert_true(guest_await(&guest, GUEST_SHOWN, before + PICTURES));
    assert_int_equal(guest_count(&guest, GUEST_DISCARDED), lost);
    int64_t from = guest_event(&guest, GUEST_SHOWN, before).shown.time_ns, last = from;
    for (unsigned i = 1; i < PICTURES; i++) {
        struct guest_event e = guest_event(&guest, GUEST_SHOWN, before + i);
        assert_int_equal(e.serial, before + lost + i + 1);
        assert_true(e.shown.time_ns > last);
        last = e.shown.time_ns;
    }
    /* By the compositor's own clock, where it tells: none is shown before its time. */
    assert_true(
        last - from >= (PICTURES - 2) * guest_event(&guest, GUEST_SHOWN, before).shown.period_ns);
    guest_close(&guest);
    end();
}

static void on_weston_pictures_are_right(void **state)
{
    (void)state;
    shows_pictures(&weston);
}

static void on_sway_pictures_are_right(void **state)
{
    (void)state;
    assert_true(tp_have_program("grim"));
    shows_pictures(&sway);
}

static void on_weston_fifo_has_a_refresh_for_each(void **state)
{
    (void)state;
    shows_each_picture_in_a_refresh_of_its_own(&weston);
}

static void on_sway_fifo_has_a_refresh_for_each(void **state)
{
    (void)state;
    shows_each_picture_in_a_refresh_of_its_own(&sway);
}

static void swapchains_are_made_anew_a_thousand_times(void **state)
{
    (void)state;
    begin(&weston);
    for (unsigned i = 0; i < 1000; i++) {
        open_guest(VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
        present_next(first);
        if (i % 100 == 0)
            assert_true(guest_await(&guest, GUEST_SHOWN, 1));
        guest_close(&guest);
    }
    assert_true(wl_display_roundtrip(app.display) >= 0);
    assert_int_equal(wl_display_get_error(app.display), 0);
    end();
}

static void a_stopped_compositor_costs_no_connection(void **state)
{
    (void)state;
    begin(&weston);
    open_guest(VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    kill(running, SIGSTOP);
    for (unsigned i = 0; i < 2000; i++) {
        for (uint32_t k = 0; k < GUEST_IMAGES; k++)
            assert_int_equal(guest_present(&guest, k, VK_PRESENT_MODE_MAILBOX_KHR), 0);
        guest_close(&guest);
        open_guest(VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    }
    assert_int_equal(wl_display_get_error(app.display), 0);
    kill(running, SIGCONT);
    guest_paint(&guest, 0, first);
    assert_int_equal(guest_present(&guest, 0, VK_PRESENT_MODE_MAILBOX_KHR), 0);
    assert_shows(&weston, 160, 96, first);
    assert_int_equal(guest_count(&guest, GUEST_CHANGED), 0);
    guest_close(&guest);
    end();
}

static void a_killed_compositor_is_a_lost_surface(void **state)
{
    (void)state;
    begin(&weston);
    open_guest(VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR);
    present_next(first);
    assert_true(guest_await(&guest, GUEST_SHOWN, 1));
    stop(SIGKILL);
    assert_true(guest_await(&guest, GUEST_CHANGED, 1));
    assert_int_equal(guest_event(&guest, GUEST_CHANGED, 0).change, TP_TARGET_LOST);
    assert_int_equal(guest_present(&guest, 0, VK_PRESENT_MODE_FIFO_KHR), -ENODEV);
    guest_close(&guest);
    end();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(on_weston_pictures_are_right),
        TEST(on_weston_fifo_has_a_refresh_for_each),
        TEST(swapchains_are_made_anew_a_thousand_times),
        TEST(a_stopped_compositor_costs_no_connection),
        TEST(a_killed_compositor_is_a_lost_surface),
        TEST(on_sway_pictures_are_right),
        TEST(on_sway_fifo_has_a_refresh_for_each),
    };

    unsetenv("TURNPIKE_SOCKET"); /* nobody's server */
    return cmocka_run_group_tests_name("wayland compositors", tests, NULL, NULL);
}
