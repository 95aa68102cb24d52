/* The video of what a screen shows, read back byte by byte. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <drm_fourcc.h>
#include <drm_mode.h>

#include "base/buf.h"
#include "base/fs.h"
#include "frames/panel/sim_capture.h"

#define WIDTH 6u
#define LINES 3u
#define HEAD "YUV4MPEG2 W6 H3 F59940:1000 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n"
#define FRAME (6 + 18 + 2 * 6) /* FRAME, 6 × 3 of luma, 3 × 2 each of blue and red */

struct tp_kms_fb {
    struct tp_kms_fb_info info;
};

struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb)
{
    return fb;
}

void tp_kms_fb_unref(struct tp_kms_fb *fb)
{
    (void)fb;
}

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = fb->info;
}

static char path[] = "/tmp/tp-capture-XXXXXX";
static struct tp_kms_fb fb;
static struct tp_lit lit;
static struct tp_capture *capture;
static unsigned n_lines;
static uint64_t serial, sequence;

static void on_log(void *data, const char *line)
{
    (void)data;
    (void)line;
    n_lines++;
}

static int setup(void **state)
{
    (void)state;
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int fd = mkstemp(path);
    close(fd);
    fb.info = (struct tp_kms_fb_info){.width = WIDTH,
        .height = LINES,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_planes = 1,
        .fds = {memfd_create("fb", MFD_CLOEXEC), -1, -1, -1},
        .pitches = {WIDTH * 4},
        .inode = 1};
    n_lines = 0;
    sequence = 1;
    tp_lit_init(&lit);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tp_capture_destroy(capture);
    tp_lit_finish(&lit);
    close(fb.info.fds[0]);
    unlink(path);
    return 0;
}

static void start(void)
{
    const struct tp_capture_config c = {
        .path = path, .width_px = WIDTH, .height_px = LINES, .refresh_mhz = 59940, .log = on_log};
    struct tp_error e = {0};
    assert_int_equal(tp_capture_create(&c, &capture, &e), 0);
    assert_int_equal(tp_capture_start(capture, &lit, &e), 0);
    assert_int_equal(tp_capture_keep(capture, &e), 0);
}

static void stop(void)
{
    tp_lit_stop(&lit);
    tp_capture_stop(capture);
}

static struct tp_capture_counts counts(void)
{
    struct tp_capture_counts c;
    tp_capture_count(capture, &c);
    return c;
}

static void show(uint32_t colour)
{
    uint32_t pixels[WIDTH * LINES];
    struct tp_lit_scan scan = {.sequence = ++sequence, .lines = LINES, .fresh = true};
    for (unsigned i = 0; i < WIDTH * LINES; i++)
        pixels[i] = colour;
    assert_int_equal(pwrite(fb.info.fds[0], pixels, sizeof pixels, 0), sizeof pixels);
    scan.scanout = (struct tp_kms_scanout){.serial = ++serial, .active = true, .n_layers = 1};
    scan.scanout.layers[0] = (struct tp_kms_layer){.fb = &fb,
        .src_w = WIDTH << 16,
        .src_h = LINES << 16,
        .width = WIDTH,
        .height = LINES,
        .rotation = DRM_MODE_ROTATE_0,
        .alpha = 0xffff};
    tp_lit_show(&lit, &scan);
}

/* Shows it, and waits until it is written or dropped. */
static void show_and_await(uint32_t colour)
{
    struct tp_capture_counts before = counts(), now;
    show(colour);
    do {
        nanosleep(&(struct timespec){0, 200000}, NULL);
        now = counts();
    } while (now.frames + now.dropped == before.frames + before.dropped);
}

static void each_refresh_is_a_frame(void **state)
{
    /* JFIF 1.02: Y = 0.299 R + 0.587 G + 0.114 B; Cb = (B − Y) / 1.772 + 128; Cr = (R − Y) / 1.402
     * + 128, rounded; 255.5 is 255. */
    static const struct {
        uint32_t rgb;
        uint8_t y, cb, cr;
    } colours[] = {{0x808080, 128, 128, 128}, {0xff0000, 76, 85, 255}, {0x00ff00, 150, 44, 21},
        {0x0000ff, 29, 255, 107}, {0xffffff, 255, 128, 128}};
    struct tp_buf file = {0};
    struct tp_error e = {0};
    (void)state;
    start();
    for (unsigned i = 0; i < 5; i++)
        show_and_await(colours[i].rgb);
    stop();
    assert_int_equal(counts().frames, 5);
    assert_int_equal(counts().dropped, 0);
    assert_int_equal(tp_read_file(path, 0, &file, &e), 0);
    assert_int_equal(file.len, strlen(HEAD) + 5 * FRAME);
    assert_memory_equal(file.data, HEAD, strlen(HEAD));
    for (unsigned i = 0; i < 5; i++) {
        const uint8_t *at = (const uint8_t *)file.data + strlen(HEAD) + (size_t)i * FRAME;
        assert_memory_equal(at, "FRAME\n", 6);
        for (unsigned k = 0; k < 18; k++)
            assert_int_equal(at[6 + k], colours[i].y);
        for (unsigned k = 0; k < 6; k++) {
            assert_int_equal(at[24 + k], colours[i].cb);
            assert_int_equal(at[30 + k], colours[i].cr);
        }
    }
    tp_buf_finish(&file);
}

static void refreshes_that_went_by_are_counted(void **state)
{
    (void)state;
    start();
    show_and_await(1);
    sequence += 3;
    struct tp_capture_counts before = counts();
    show(2);
    while (counts().frames == before.frames)
        nanosleep(&(struct timespec){0, 200000}, NULL);
    stop();
    assert_int_equal(counts().frames, 2);
    assert_int_equal(counts().dropped, 3);
}

/* A limit of the file's size is met as a full disk is: in the midst of a frame. */
static void a_full_disk_is_said_once_and_leaves_whole_frames(void **state)
{
    struct rlimit before, limit;
    struct stat st;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){strlen(HEAD) + 2 * FRAME + 17, before.rlim_max};
    start();
    setrlimit(RLIMIT_FSIZE, &limit);
    for (unsigned i = 0; i < 6; i++)
        show_and_await(i);
    stop();
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(n_lines, 1);
    assert_int_equal(counts().frames, 2);
    assert_int_equal(counts().dropped, 4);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, strlen(HEAD) + 2 * FRAME);
}

/* Nobody reads: the pipe fills, then the ring; the rest is dropped, and the end is not waited for.
 */
static void a_reader_that_sleeps_costs_frames_and_nothing_else(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    fcntl(reader, F_SETPIPE_SZ, 4096);
    start();
    for (unsigned i = 0; i < 4096 / FRAME + 40; i++) {
        show(i);
        nanosleep(&(struct timespec){0, 300000}, NULL);
    }
    stop();
    assert_true(counts().frames >= 4000 / FRAME && counts().frames <= 4096 / FRAME);
    assert_true(counts().dropped > 0);
    close(reader);
}

static void a_reader_that_goes_is_said_once(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    start();
    show_and_await(1);
    close(reader);
    show_and_await(2);
    show_and_await(3);
    stop();
    assert_int_equal(n_lines, 1);
    assert_int_equal(counts().frames, 1);
    assert_int_equal(counts().dropped, 2);
}

static void one_that_is_not_kept_leaves_the_file_that_was_there(void **state)
{
    const struct tp_capture_config c = {
        .path = path, .width_px = WIDTH, .height_px = LINES, .refresh_mhz = 59940};
    struct tp_buf file = {0};
    struct tp_error e = {0};
    (void)state;
    assert_int_equal(tp_write_file(path, "earlier", 7, 0644, &e), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tp_capture_create(&c, &capture, &e), 0);
        assert_int_equal(tp_capture_start(capture, &lit, &e), 0);
        show_and_await(1);
        stop();
        tp_capture_destroy(capture);
        capture = NULL;
        if (i == 1)
            break;
        assert_int_equal(tp_read_file(path, 0, &file, &e), 0);
        assert_string_equal(tp_buf_str(&file), "earlier");
        unlink(path);
        tp_lit_finish(&lit);
        tp_lit_init(&lit);
    }
    assert_false(tp_exists(path));
    tp_buf_finish(&file);
}

static void a_longer_file_that_was_there_is_replaced(void **state)
{
    static char earlier[2 * FRAME + sizeof HEAD];
    struct stat st;
    struct tp_error e = {0};
    (void)state;
    assert_int_equal(tp_write_file(path, earlier, sizeof earlier, 0644, &e), 0);
    start();
    show_and_await(1);
    stop();
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, strlen(HEAD) + FRAME);
}

static void a_pipe_that_nobody_reads_is_refused(void **state)
{
    const struct tp_capture_config c = {
        .path = path, .width_px = 2, .height_px = 2, .refresh_mhz = 60000};
    struct tp_error e = {0};
    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tp_capture_create(&c, &capture, &e), -ENXIO);
    assert_null(capture);
}

static void a_place_that_cannot_be_written_is_refused_at_once(void **state)
{
    const struct tp_capture_config c = {
        .path = "/nowhere/v.y4m", .width_px = 2, .height_px = 2, .refresh_mhz = 60000};
    struct tp_error e = {0};
    (void)state;
    assert_int_equal(tp_capture_create(&c, &capture, &e), -ENOENT);
    assert_null(capture);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(each_refresh_is_a_frame),
        CASE(refreshes_that_went_by_are_counted),
        CASE(a_full_disk_is_said_once_and_leaves_whole_frames),
        CASE(a_reader_that_sleeps_costs_frames_and_nothing_else),
        CASE(a_reader_that_goes_is_said_once),
        CASE(one_that_is_not_kept_leaves_the_file_that_was_there),
        CASE(a_longer_file_that_was_there_is_replaced),
        CASE(a_pipe_that_nobody_reads_is_refused),
        CASE(a_place_that_cannot_be_written_is_refused_at_once),
    };
    return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
