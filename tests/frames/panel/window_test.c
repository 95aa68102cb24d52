/*
 * The window, on real desktops: Xvfb, weston and sway without a screen. What they have of it is
 * asked of themselves: X11's GetImage, weston's screenshot. The panel behind it is a double, which
 * shows what the test says.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
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
#include <xcb/xcb.h>

#include "base/proc.h"
#include "frames/panel/window.h"
#include "frames/panel/window_view.h"

#define WIDTH 160u
#define HEIGHT 96u

/* --- the panel behind the window --- */

static const struct tp_panel_events *told;
static void *told_data;
static unsigned destroyed;
static _Atomic unsigned looks;
static _Atomic uint32_t colours[4]; /* of the picture's quarters, row by row */

static int screen_start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    (void)p;
    (void)e;
    told = events;
    told_data = data;
    return 0;
}

static int screen_publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    (void)p;
    return s->serial == 7 ? -EAGAIN : 0;
}

static int screen_set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    (void)p;
    (void)mode;
    return vrr ? -EINVAL : 0;
}

static int screen_look(struct tp_panel *p, struct tp_image *out, struct tp_error *e)
{
    (void)p;
    (void)e;
    looks++;
    tp_image_init(out, WIDTH, HEIGHT);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            out->pixels[y * WIDTH + x] = colours[(y >= HEIGHT / 2) * 2 + (x >= WIDTH / 2)];
    return 0;
}

static void screen_destroy(struct tp_panel *p)
{
    (void)p;
    destroyed++;
}

static const struct tp_panel_ops screen_ops = {
    screen_start, screen_publish, screen_set_mode, screen_look, screen_destroy};
static struct tp_panel screen = {
    .ops = &screen_ops, .never_blocks = true, .lead_ns = 1650000, .pipeline = 2};

/* --- who is told --- */

static uint64_t shown, released, ticks;

static void on_tick(void *data, const struct tp_panel_tick *t)
{
    (void)data;
    ticks = t->sequence;
}

static void on_released(void *data, uint64_t serial, unsigned layer, int fence)
{
    (void)data;
    assert_int_equal(layer, 1);
    assert_int_equal(fence, -1);
    released = serial;
}

static void on_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    (void)data;
    (void)first_line_ns;
    shown = serial;
}

static void on_away(void *data, bool away)
{
    (void)data;
    (void)away;
}

static const struct tp_panel_events events = {on_tick, on_released, on_shown, on_away, NULL};
static struct tp_panel *panel;

static void paint(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    colours[0] = a;
    colours[1] = b;
    colours[2] = c;
    colours[3] = d;
    told->shown(told_data, 1, 0);
}

static int open_panel(struct tp_error *e)
{
    const struct tp_panel_window_config config = {
        .screen = &screen, .width_px = WIDTH, .height_px = HEIGHT, .title = "turnpike test"};
    return tp_panel_window_create(&config, &panel, e);
}

static void begin(void)
{
    struct tp_error e = {0};
    for (unsigned i = 0; i < 4; i++)
        colours[i] = 0;
    destroyed = 0;
    if (open_panel(&e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    assert_int_equal(panel->ops->start(panel, &events, NULL, &e), 0);
}

static void end(void)
{
    panel->ops->destroy(panel);
    assert_int_equal(destroyed, 1);
}

/* --- desktops --- */

static char folder[64];
static pid_t desktop;

static void nap(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static pid_t run(const char *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        char *line = NULL;
        if (asprintf(&line, "exec %s >%s/log 2>&1", command, folder) > 0)
            execl("/bin/sh", "sh", "-c", line, NULL);
        _exit(127);
    }
    return pid;
}

static void end_desktop(int sig)
{
    if (desktop > 0) {
        kill(desktop, sig);
        waitpid(desktop, NULL, 0);
    }
    desktop = 0;
}

static int setup(void **s)
{
    (void)s;
    snprintf(folder, sizeof folder, "/tmp/turnpike-window-XXXXXX");
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    return mkdtemp(folder) ? setenv("XDG_RUNTIME_DIR", folder, 1) : -1;
}

static int teardown(void **s)
{
    char command[128];
    (void)s;
    end_desktop(SIGTERM);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* An X server of that size. */
static void start_x(const char *options)
{
    char command[256], number[16] = "";
    int ends[2];
    assert_true(tp_have_program("Xvfb"));
    assert_int_equal(pipe(ends), 0);
    snprintf(command, sizeof command,
        "Xvfb -displayfd %d -screen 0 640x480x24 -nolisten tcp -noreset %s", ends[1], options);
    desktop = run(command);
    close(ends[1]);
    for (size_t n = 0;
         n + 1 < sizeof number && read(ends[0], number + n, 1) == 1 && number[n] != '\n';)
        n++;
    close(ends[0]);
    number[strcspn(number, "\n")] = '\0';
    assert_true(*number >= '0' && *number <= '9');
    snprintf(command, sizeof command, ":%s", number);
    setenv("DISPLAY", command, 1);
}

static void start_wayland(const char *program, const char *command, const char *socket)
{
    char path[128];
    struct stat st;
    assert_true(tp_have_program(program));
    desktop = run(command);
    snprintf(path, sizeof path, "%s/%s", folder, socket);
    for (unsigned i = 0; i < 1500 && stat(path, &st) < 0; i++)
        nap();
    assert_int_equal(stat(path, &st), 0);
    setenv("WAYLAND_DISPLAY", socket, 1);
}

/* --- X11, as another client of the server has it --- */

static xcb_connection_t *x;
static xcb_window_t x_window;

static void find_window(void)
{
    x = xcb_connect(NULL, NULL);
    xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(x)).data->root;
    xcb_query_tree_reply_t *tree = xcb_query_tree_reply(x, xcb_query_tree(x, root), NULL);
    assert_int_equal(xcb_query_tree_children_length(tree), 1);
    x_window = xcb_query_tree_children(tree)[0];
    free(tree);
}

static uint32_t x_pixel(int16_t at_x, int16_t at_y)
{
    uint32_t pixel = 0x55000000; /* none */
    xcb_get_image_reply_t *r = xcb_get_image_reply(
        x, xcb_get_image(x, XCB_IMAGE_FORMAT_Z_PIXMAP, x_window, at_x, at_y, 1, 1, ~0u), NULL);
    if (r)
        memcpy(&pixel, xcb_get_image_data(r), 4);
    free(r);
    return pixel & 0xffffff;
}

/* The window's pixel becomes this one, and soon. */
static void x_has(int16_t at_x, int16_t at_y, uint32_t pixel)
{
    for (unsigned i = 0; i < 500 && x_pixel(at_x, at_y) != pixel; i++)
        nap();
    assert_int_equal(x_pixel(at_x, at_y), pixel);
}

static void x_resize(uint32_t width, uint32_t height)
{
    const uint32_t size[] = {width, height};
    xcb_configure_window(x, x_window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
    xcb_flush(x);
}

static int gone(struct tp_error *e)
{
    struct pollfd p = {.fd = tp_panel_window_fd(panel), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10000), 1);
    return tp_panel_window_gone(panel, e);
}

static void shows_pictures(const char *options)
{
    start_x(options);
    begin();
    find_window();
    paint(0xff0000, 0x00ff00, 0x0000ff, 0x123456);
    x_has(159, 95, 0x123456);
    x_has(0, 0, 0xff0000);
    x_has(79, 47, 0xff0000);
    x_has(80, 47, 0x00ff00);
    x_has(79, 48, 0x0000ff);
    for (uint32_t i = 1; i < 50; i++) /* the last of many, however many were skipped */
        paint(i, i << 8, i << 16, i * 0x10101);
    x_has(159, 95, 49 * 0x10101);
    x_has(0, 0, 49);
    end();
    xcb_disconnect(x);
}

static void on_x11_it_shows_the_picture(void **s)
{
    (void)s;
    shows_pictures("");
}

static void on_x11_without_shared_memory_it_shows_the_picture(void **s)
{
    (void)s;
    shows_pictures("-extension MIT-SHM");
}

/* 160x96 in 400x192 is 320x192, 40 from the left; in 160x200 it is as it was, 52 from the top. */
static void on_x11_another_size_has_the_picture_as_large_as_fits(void **s)
{
    (void)s;
    start_x("");
    begin();
    find_window();
    paint(0xff0000, 0x00ff00, 0x0000ff, 0xffffff);
    x_has(159, 95, 0xffffff);
    x_resize(400, 192);
    x_has(359, 191, 0xffffff);
    x_has(360, 191, 0);
    x_has(40, 0, 0xff0000);
    x_has(39, 0, 0);
    x_resize(160, 200);
    x_has(0, 52, 0xff0000);
    x_has(0, 51, 0);
    x_has(159, 147, 0xffffff);
    x_has(159, 148, 0);
    end();
    xcb_disconnect(x);
}

static void on_x11_the_close_button_ends_it_and_the_panel_goes_on(void **s)
{
    struct tp_error e = {0};
    (void)s;
    start_x("");
    begin();
    find_window();
    assert_int_equal(tp_panel_window_gone(panel, &e), 0);
    xcb_intern_atom_reply_t *protocols =
        xcb_intern_atom_reply(x, xcb_intern_atom(x, 1, 12, "WM_PROTOCOLS"), NULL);
    xcb_intern_atom_reply_t *delete =
        xcb_intern_atom_reply(x, xcb_intern_atom(x, 1, 16, "WM_DELETE_WINDOW"), NULL);
    xcb_client_message_event_t m = {.response_type = XCB_CLIENT_MESSAGE,
        .format = 32,
        .window = x_window,
        .type = protocols->atom,
        .data.data32 = {delete->atom}};
    xcb_send_event(x, 0, x_window, 0, (const char *)&m);
    xcb_flush(x);
    assert_int_equal(gone(&e), 1);
    paint(1, 2, 3, 4);
    assert_int_equal(panel->ops->set_mode(panel, &(struct tp_kms_mode){1, 1, 1}, false), 0);
    free(protocols);
    free(delete);
    xcb_disconnect(x);
    end();
}

static void a_server_that_dies_is_told_of(void **s)
{
    struct tp_error e = {0};
    (void)s;
    start_x("");
    begin();
    end_desktop(SIGTERM);
    assert_int_equal(gone(&e), -EPIPE);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_non_null(strstr(e.what, "X server has ended"));
    assert_string_equal(e.where, getenv("DISPLAY"));
    end();
}

/* --- Wayland --- */

static uint32_t *shot; /* the last screenshot */
static uint32_t shot_width, shot_height;

/* Makes one with this command, in the folder. */
static void take_shot(const char *how)
{
    char command[192], path[512] = "";
    png_image png = {.version = PNG_IMAGE_VERSION};
    struct dirent *f;
    snprintf(command, sizeof command, "cd '%s' && %s >shot.log 2>&1", folder, how);
    assert_int_equal(system(command), 0);
    DIR *d = opendir(folder);
    while ((f = readdir(d)))
        if (strstr(f->d_name, ".png"))
            snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
    closedir(d);
    assert_true(png_image_begin_read_from_file(&png, path));
    png.format = PNG_FORMAT_BGRA;
    free(shot);
    shot = malloc(PNG_IMAGE_SIZE(png));
    assert_true(png_image_finish_read(&png, NULL, shot, 0, NULL));
    shot_width = png.width;
    shot_height = png.height;
    unlink(path);
}

static uint32_t shot_pixel(uint32_t at_x, uint32_t at_y)
{
    assert_true(at_x < shot_width && at_y < shot_height);
    return shot[at_y * shot_width + at_x] & 0xffffff;
}

static void forget_shot(void)
{
    free(shot);
    shot = NULL;
}

static void start_weston(void)
{
    start_wayland("weston",
        "weston --backend=headless-backend.so --use-pixman --debug --idle-time=0 --no-config "
        "--socket=window-0 --width=400 --height=320",
        "window-0");
}

/* Where weston has put the picture: its first pixel of that colour. False: nowhere. */
static bool find_in_shot(uint32_t colour, uint32_t *at_x, uint32_t *at_y)
{
    for (uint32_t i = 0; i < shot_width * shot_height; i++)
        if ((shot[i] & 0xffffff) == colour) {
            *at_x = i % shot_width;
            *at_y = i / shot_width;
            return true;
        }
    return false;
}

static void await_in_weston(uint32_t colour, uint32_t *at_x, uint32_t *at_y)
{
    for (unsigned i = 0; i < 100; i++) {
        take_shot("weston-screenshooter");
        if (find_in_shot(colour, at_x, at_y))
            return;
        nap();
    }
    fail_msg("weston does not show the picture");
}

static void on_weston_it_shows_the_picture(void **s)
{
    uint32_t left, top, at_x, at_y;
    (void)s;
    start_weston();
    begin();
    paint(0xff0102, 0x00ff03, 0x0405ff, 0x123456);
    await_in_weston(0xff0102, &left, &top);
    assert_int_equal(shot_pixel(left + 79, top + 47), 0xff0102);
    assert_int_equal(shot_pixel(left + 80, top), 0x00ff03);
    assert_int_equal(shot_pixel(left + 159, top + 47), 0x00ff03);
    assert_int_equal(shot_pixel(left, top + 48), 0x0405ff);
    assert_int_equal(shot_pixel(left + 159, top + 95), 0x123456);
    for (uint32_t i = 1; i < 50; i++) /* the last of many, however many were skipped */
        paint(i << 16 | 0x77, i, i, i);
    await_in_weston(49 << 16 | 0x77, &at_x, &at_y);
    assert_int_equal(at_x, left);
    assert_int_equal(at_y, top);
    end();
    forget_shot();
}

static void a_compositor_that_dies_is_told_of(void **s)
{
    struct tp_error e = {0};
    (void)s;
    start_weston();
    begin();
    end_desktop(SIGKILL);
    assert_true(gone(&e) < 0);
    assert_non_null(strstr(e.what, "Wayland compositor has ended"));
    assert_string_equal(e.where, "window-0");
    end();
}

/* A picture a millisecond is not copied a thousand times a second: the desktop asks for each. */
static void pictures_are_copied_when_the_desktop_asks_for_one(void **s)
{
    uint32_t left, top;
    (void)s;
    start_weston();
    begin();
    paint(0xff0102, 0, 0, 0);
    await_in_weston(0xff0102, &left, &top);
    unsigned before = looks, pictures = 0;
    int64_t from = tp_now_ns();
    while (pictures < 1000) {
        told->shown(told_data, ++pictures, 0);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    /* weston without a screen repaints 60 times a second. */
    int64_t refreshes = (tp_now_ns() - from) * 60 / 1000000000 + 2;
    assert_true(looks - before <= (unsigned)refreshes);
    assert_true(looks - before > 5); /* and buffers come back */
    end();
    forget_shot();
}

/* sway refuses root: then as another user. */
static void start_sway(void)
{
    static const char config[] = "output HEADLESS-1 resolution 400x320\n"
                                 "default_border none\n";
    char path[96], command[256];
    snprintf(path, sizeof path, "%s/config", folder);
    FILE *f = fopen(path, "w");
    fputs(config, f);
    fclose(f);
    snprintf(command, sizeof command, "%s sway --config %s",
        geteuid() == 0 ? "setpriv --reuid 1000 --regid 1000 --clear-groups" : "", path);
    if (geteuid() == 0)
        assert_int_equal(chown(folder, 1000, 1000), 0);
    snprintf(path, sizeof path, "%s/sway.sock", folder);
    setenv("SWAYSOCK", path, 1);
    setenv("WLR_BACKENDS", "headless", 1);
    setenv("WLR_RENDERER", "pixman", 1);
    setenv("WLR_LIBINPUT_NO_DEVICES", "1", 1);
    start_wayland("sway", command, "wayland-1");
}

static void sway(const char *said)
{
    char command[256];
    snprintf(command, sizeof command, "swaymsg '%s' >/dev/null 2>&1", said);
    for (unsigned i = 0; i < 500; i++, nap())
        if (system(command) == 0)
            return;
    fail_msg("swaymsg: %s", said);
}

static void await_in_sway(uint32_t at_x, uint32_t at_y, uint32_t colour)
{
    for (unsigned i = 0; i < 100; i++, nap()) {
        take_shot("grim shot.png");
        if (shot_pixel(at_x, at_y) == colour)
            return;
    }
    assert_int_equal(shot_pixel(at_x, at_y), colour);
}

/* The one window is the whole screen: 160x96 in 400x320 is 400x240, 40 from the top; in 800x240 it
 * is 400x240, 200 from the left. */
static void on_sway_it_has_the_size_that_it_is_given(void **s)
{
    (void)s;
    assert_true(tp_have_program("grim"));
    start_sway();
    begin();
    paint(0xff0000, 0x00ff00, 0x0000ff, 0x123456);
    await_in_sway(399, 279, 0x123456);
    assert_int_equal(shot_pixel(399, 280), 0);
    assert_int_equal(shot_pixel(0, 40), 0xff0000);
    assert_int_equal(shot_pixel(0, 39), 0);
    assert_int_equal(shot_pixel(199, 159), 0xff0000);
    assert_int_equal(shot_pixel(200, 159), 0x00ff00);
    assert_int_equal(shot_pixel(199, 160), 0x0000ff);
    sway("output HEADLESS-1 resolution 800x240");
    await_in_sway(599, 239, 0x123456);
    assert_int_equal(shot_pixel(600, 239), 0);
    assert_int_equal(shot_pixel(200, 0), 0xff0000);
    assert_int_equal(shot_pixel(199, 0), 0);
    end();
    forget_shot();
}

static void on_sway_closing_it_ends_it(void **s)
{
    struct tp_error e = {0};
    (void)s;
    start_sway();
    begin();
    paint(1, 2, 3, 4);
    sway("[app_id=\"turnpike\" title=\"turnpike test\"] kill");
    assert_int_equal(gone(&e), 1);
    end();
}

/* --- elsewhere --- */

static void without_a_desktop_it_says_what_to_do(void **s)
{
    struct tp_error e = {0};
    (void)s;
    destroyed = 0;
    assert_int_equal(open_panel(&e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_true(e.todo[0]);
    assert_null(panel);
    assert_int_equal(destroyed, 1);
    memset(&e, 0, sizeof e);
    setenv("WAYLAND_DISPLAY", "nobody", 1); /* what is told is why the first did not work */
    setenv("DISPLAY", ":987654", 1);
    assert_int_equal(open_panel(&e), -ECONNREFUSED);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_string_equal(e.where, "nobody");
}

static void where_wayland_does_not_answer_x11_is_used(void **s)
{
    (void)s;
    start_x("");
    setenv("WAYLAND_DISPLAY", "nobody", 1);
    begin();
    find_window();
    paint(5, 6, 7, 8);
    x_has(0, 0, 5);
    end();
    xcb_disconnect(x);
}

static void refreshes_and_releases_are_the_panels_own(void **s)
{
    const struct tp_panel_tick tick = {.sequence = 41};
    (void)s;
    start_x("");
    begin();
    assert_true(panel->never_blocks && panel->lead_ns == 1650000 && panel->pipeline == 2);
    told->tick(told_data, &tick);
    told->released(told_data, 42, 1, -1);
    told->shown(told_data, 43, 0);
    assert_int_equal(ticks, 41);
    assert_int_equal(released, 42);
    assert_int_equal(shown, 43);
    assert_int_equal(panel->ops->publish(panel, &(struct tp_kms_scanout){.serial = 7}), -EAGAIN);
    assert_int_equal(panel->ops->set_mode(panel, NULL, true), -EINVAL);
    end();
}

static void a_picture_is_drawn_as_large_as_fits(void **s)
{
    uint32_t from[4] = {1, 2, 3, 4}, out[5 * 4];
    const struct tp_image image = {2, 2, from};
    /* 2x2 in 4x3, rows 5 apart: 3x3, 0 from the left; the middle of three lies in the second. */
    static const uint32_t want[15] = {1, 2, 2, 0, 9, 3, 4, 4, 0, 9, 3, 4, 4, 0, 9};
    (void)s;
    for (unsigned i = 0; i < 15; i++)
        out[i] = 9;
    tp_window_draw(&image, out, 5, 4, 3);
    for (unsigned i = 0; i < 15; i++) /* opaque, but for what is no pixel of the window's */
        assert_int_equal(out[i], want[i] == 9 ? 9 : want[i] | 0xff000000);
    tp_window_draw(&(struct tp_image){0}, out, 5, 4, 3);
    for (unsigned i = 0; i < 15; i++)
        assert_int_equal(out[i], want[i] == 9 ? 9 : 0xff000000);
}

int main(void)
{
#define ON_DESKTOP(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_drawn_as_large_as_fits),
        ON_DESKTOP(without_a_desktop_it_says_what_to_do),
        ON_DESKTOP(on_x11_it_shows_the_picture),
        ON_DESKTOP(on_x11_without_shared_memory_it_shows_the_picture),
        ON_DESKTOP(on_x11_another_size_has_the_picture_as_large_as_fits),
        ON_DESKTOP(on_x11_the_close_button_ends_it_and_the_panel_goes_on),
        ON_DESKTOP(a_server_that_dies_is_told_of),
        ON_DESKTOP(refreshes_and_releases_are_the_panels_own),
        ON_DESKTOP(where_wayland_does_not_answer_x11_is_used),
        ON_DESKTOP(on_weston_it_shows_the_picture),
        ON_DESKTOP(pictures_are_copied_when_the_desktop_asks_for_one),
        ON_DESKTOP(a_compositor_that_dies_is_told_of),
        ON_DESKTOP(on_sway_it_has_the_size_that_it_is_given),
        ON_DESKTOP(on_sway_closing_it_ends_it),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
