/*
 * Real dma-bufs and sync files on a card: on a kernel's, and on ours behind the preload library
 * (TURNPIKE_TEST_CARD, see frames/kms/harness.h). What the screen shows is looked at on ours, over
 * a control connection to TURNPIKE_SOCKET. TURNPIKE_TEST_OTHER is a kernel's card besides.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <png.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "../frames/kms/harness.h"
#include "frames/server/control.h"
#include "frames/wire/hello.h"
#include "real.h"

#define DMA_BUF_MAGIC 0x444d4142
#define RED 0xffff0000u
#define GREEN 0xff00ff00u
#define BLUE 0xff0000ffu

static struct output o;
static uint32_t first_fb; /* on the screen to begin with; black */
static uint32_t width, height;

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    width = o.modes[0].hdisplay;
    height = o.modes[0].vdisplay;
    first_fb = light_up(card, &o, 0);
    return 0;
}

/* --- memory --- */

static size_t picture_bytes(void)
{
    return ((size_t)width * height * 4 + 4095) / 4096 * 4096;
}

/* Between the calls that dma-buf.rst asks for. */
static void paint(int fd, uint32_t colour)
{
    size_t bytes = picture_bytes();
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE};
    assert_int_equal(ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync), 0);
    uint32_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    for (size_t i = 0; i < (size_t)width * height; i++)
        p[i] = colour;
    munmap(p, bytes);
    sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE;
    assert_int_equal(ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync), 0);
}

static uint32_t import(struct file *f, int fd)
{
    struct drm_prime_handle h = {.fd = fd};
    assert_ok(drm(f, DRM_IOCTL_PRIME_FD_TO_HANDLE, &h));
    return h.handle;
}

static int export(struct file *f, uint32_t handle)
{
    struct drm_prime_handle h = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR};
    assert_ok(drm(f, DRM_IOCTL_PRIME_HANDLE_TO_FD, &h));
    return h.fd;
}

static uint32_t fb_in(struct file *f, uint32_t handle)
{
    struct drm_mode_fb_cmd2 add = {.width = width,
        .height = height,
        .pixel_format = DRM_FORMAT_XRGB8888,
        .handles = {handle},
        .pitches = {width * 4}};
    assert_ok(drm(f, DRM_IOCTL_MODE_ADDFB2, &add));
    return add.fb_id;
}

static void same_memory(int a, int b)
{
    struct stat x, y;
    struct statfs fs;
    assert_int_equal(fstat(a, &x) | fstat(b, &y), 0);
    assert_true(x.st_dev == y.st_dev && x.st_ino == y.st_ino);
    assert_int_equal(fstatfs(a, &fs), 0);
    assert_int_equal((uint32_t)fs.f_type, DMA_BUF_MAGIC);
}

/* --- what is on the screen --- */

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static int ask_server(void)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    struct tp_frame answer;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *path = getenv("TURNPIKE_SOCKET");
    assert_true(path && strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path));
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(s, (struct sockaddr *)&a, sizeof a), 0);
    struct tp_hello hello = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL, 0, 0};
    uint32_t output = 0;
    const struct iovec parts[] = {{&hello, sizeof hello}, {&output, sizeof output}};
    assert_int_equal(tp_frame_send(s, TP_FRAME_HELLO, 0, 0, &parts[0], 1, NULL, 0), 0);
    assert_int_equal(tp_frame_send(s, TP_FRAME_LOOK, 0, 1, &parts[1], 1, NULL, 0), 0);
    do
        assert_int_equal(tp_frame_recv(s, buffer, &answer), 0);
    while (answer.fourcc != TP_FRAME_LOOK);
    close(s);
    return tp_frame_take_fd(&answer, 0);
}

/* The colour that the whole screen has; 0: it has several. */
static uint32_t look(void)
{
    int fd = ask_server();
    for (int i = 0; i < 100 && fd < 0; i++) { /* another one is being made */
        wait_ms(20);
        fd = ask_server();
    }
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "rb");
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(file && png_image_begin_read_from_stdio(&image, file));
    image.format = PNG_FORMAT_BGRA;
    uint32_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(pixels);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    fclose(file);
    uint32_t colour = pixels[0];
    for (size_t i = 0; i < (size_t)image.width * image.height; i++)
        if (pixels[i] != colour)
            colour = 0;
    free(pixels);
    return colour;
}

/* A picture is latched, and then on the screen with a later refresh: not at once. */
static void shows(uint32_t colour)
{
    if (is_kernels())
        return;
    for (int i = 0; i < 100 && look() != colour; i++)
        wait_ms(20);
    assert_int_equal(look(), colour);
}

/* Blocking, or with an event that has this number. */
static void flip_to(uint32_t fb, int in_fence, uint64_t number)
{
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", fb);
    if (in_fence >= 0)
        add(&r, card, o.primary, "IN_FENCE_FD", (uint64_t)in_fence);
    assert_ok(
        commit(card, &r, number ? DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT : 0, number));
}

static void event_comes(uint64_t number)
{
    struct drm_event_vblank e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_int_equal(e.user_data, number);
}

/* --- fences --- */

static bool signalled(int fence)
{
    struct pollfd p = {.fd = fence, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

/* --- tests --- */

static void shown_and_written_again(int fd)
{
    paint(fd, RED);
    uint32_t handle = import(card, fd), fb = fb_in(card, handle);
    flip_to(fb, -1, 0);
    shows(RED);
    paint(fd, GREEN);
    shows(GREEN);
    flip_to(first_fb, -1, 0);
    assert_ok(remove_fb(card, fb));
    assert_ok(close_handle(card, handle));
    close(fd);
}

static void a_udmabuf_is_shown(void **state)
{
    (void)state;
    shown_and_written_again(real_udmabuf(picture_bytes()));
}

static void a_heaps_buffer_is_shown(void **state)
{
    (void)state;
    shown_and_written_again(real_heap_buffer(picture_bytes()));
}

static void a_framebuffer_outlives_the_clients_descriptor(void **state)
{
    (void)state;
    int fd = real_udmabuf(picture_bytes());
    paint(fd, BLUE);
    uint32_t handle = import(card, fd), fb = fb_in(card, handle);
    assert_ok(close_handle(card, handle));
    close(fd);
    flip_to(fb, -1, 0);
    shows(BLUE);
}

static void what_comes_in_goes_out_as_the_same(void **state)
{
    (void)state;
    int fd = real_heap_buffer(65536);
    uint32_t handle = import(card, fd);
    assert_int_equal(import(card, fd), handle);
    int again = export(card, handle);
    same_memory(again, fd);
    close(again);
    assert_ok(close_handle(card, handle));
    close(fd);
}

static void too_small_a_buffer_makes_no_framebuffer(void **state)
{
    (void)state;
    int fd = real_udmabuf(picture_bytes() - 4096);
    struct drm_mode_fb_cmd2 add = {.width = width,
        .height = height,
        .pixel_format = DRM_FORMAT_XRGB8888,
        .handles = {import(card, fd)},
        .pitches = {width * 4}};
    assert_errno(drm(card, DRM_IOCTL_MODE_ADDFB2, &add), EINVAL);
    close(fd);
}

static void dumb_buffers_are_dma_bufs(void **state)
{
    (void)state;
    struct drm_mode_create_dumb d = create_dumb(card, width, height, 32);
    int fd = export(card, d.handle), same = export(card, d.handle);
    same_memory(fd, same);
    assert_int_equal(lseek(fd, 0, SEEK_END), d.size);
    uint32_t fb = fb_in(card, d.handle);
    paint(fd, GREEN);
    flip_to(fb, -1, 0);
    shows(GREEN);
    close(fd);
    close(same);
}

static struct file *open_other(void)
{
    const char *other = getenv("TURNPIKE_TEST_OTHER");
    if (!other)
        skip();
    char *ours = strdup(getenv("TURNPIKE_TEST_CARD"));
    setenv("TURNPIKE_TEST_CARD", other, 1);
    struct file *f = card_open();
    setenv("TURNPIKE_TEST_CARD", ours, 1);
    free(ours);
    return f;
}

static void a_kernels_card_takes_our_buffers(void **state)
{
    (void)state;
    struct file *f = open_other();
    struct drm_mode_create_dumb d = create_dumb(card, width, height, 32);
    int fd = export(card, d.handle);
    uint32_t handle = import(f, fd), fb = fb_in(f, handle);
    int again = export(f, handle);
    same_memory(again, fd);
    assert_ok(remove_fb(f, fb));
    close(again);
    close(fd);
}

static void we_take_a_kernels_cards_buffers(void **state)
{
    (void)state;
    struct file *f = open_other();
    struct drm_mode_create_dumb d = create_dumb(f, width, height, 32);
    int fd = export(f, d.handle);
    paint(fd, RED);
    uint32_t fb = fb_in(card, import(card, fd));
    flip_to(fb, -1, 0);
    shows(RED);
    close(fd);
}

static uint32_t painted_fb(int fd, uint32_t colour)
{
    paint(fd, colour);
    return fb_in(card, import(card, fd));
}

static void a_sync_file_holds_the_picture_back(void **state)
{
    (void)state;
    int before = real_udmabuf(picture_bytes()), fd = real_udmabuf(picture_bytes()),
        fence = make_fence();
    flip_to(painted_fb(before, BLUE), -1, 0);
    shows(BLUE);
    flip_to(painted_fb(fd, RED), fence, 7);
    wait_ms(100);
    assert_int_equal(real_status(fence), 0);
    assert_false(has_event(card));
    shows(BLUE);
    signal_fence(fence);
    assert_int_equal(real_status(fence), 1);
    event_comes(7);
    shows(RED);
    close(fence);
    close(fd);
    close(before);
}

static void a_writer_in_the_memory_holds_the_picture_back(void **state)
{
    (void)state;
    int fd = real_udmabuf(picture_bytes()), fence = make_fence();
    uint32_t fb = painted_fb(fd, RED);
    assert_int_equal(real_put_fence(fd, fence, DMA_BUF_SYNC_WRITE), 0);
    flip_to(fb, -1, 7);
    wait_ms(100);
    assert_false(has_event(card));
    assert_false(signalled(fd));
    signal_fence(fence);
    event_comes(7);
    shows(RED);
    close(fence);
    close(fd);
}

static void a_writer_in_another_plane_of_it_does_so_too(void **state)
{
    (void)state;
    if (!o.overlay)
        skip();
    int fd = real_udmabuf(picture_bytes()), fence = make_fence();
    uint32_t fb = painted_fb(fd, RED);
    assert_int_equal(real_put_fence(fd, fence, DMA_BUF_SYNC_WRITE), 0);
    struct request r = {0};
    add_plane(&r, card, o.overlay, o.crtc, fb, 0, 0, width, height);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 3));
    wait_ms(100);
    assert_false(has_event(card));
    signal_fence(fence);
    event_comes(3);
    close(fence);
    close(fd);
}

static void a_reader_in_the_memory_holds_nothing_back(void **state)
{
    (void)state;
    int fd = real_udmabuf(picture_bytes()), fence = make_fence();
    uint32_t fb = painted_fb(fd, RED);
    assert_int_equal(real_put_fence(fd, fence, DMA_BUF_SYNC_READ), 0);
    flip_to(fb, -1, 0);
    shows(RED);
    /* Who would write has to wait for it. */
    int writers = real_take_fence(fd, DMA_BUF_SYNC_WRITE);
    assert_int_equal(real_status(writers), 0);
    signal_fence(fence);
    assert_int_equal(real_status(writers), 1);
    close(writers);
    close(fence);
    close(fd);
}

/* drm_gem_plane_helper_prepare_fb: "explicit fencing". */
static void the_commits_fence_takes_the_place_of_the_memorys(void **state)
{
    (void)state;
    int fd = real_udmabuf(picture_bytes()), writer = make_fence(), fence = make_fence();
    uint32_t fb = painted_fb(fd, RED);
    assert_int_equal(real_put_fence(fd, writer, DMA_BUF_SYNC_WRITE), 0);
    signal_fence(fence);
    flip_to(fb, fence, 9);
    event_comes(9);
    signal_fence(writer);
    shows(RED);
    close(fence);
    close(writer);
    close(fd);
}

static void an_out_fence_signals_with_the_picture(void **state)
{
    (void)state;
    int fd = real_udmabuf(picture_bytes()), in = make_fence();
    int32_t out = -1;
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", painted_fb(fd, GREEN));
    add(&r, card, o.primary, "IN_FENCE_FD", (uint64_t)in);
    add(&r, card, o.crtc, "OUT_FENCE_PTR", PTR(&out));
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT, 5));
    assert_true(out >= 0);
    assert_false(signalled(out));
    if (is_kernels()) /* ours is no sync file: docs/kms.md */
        assert_int_equal(real_status(out), 0);
    signal_fence(in);
    event_comes(5);
    for (int i = 0; i < 50 && !signalled(out); i++)
        wait_ms(10);
    assert_true(signalled(out));
    close(out);
    close(in);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with(a_udmabuf_is_shown, setup_lit),
        test_with(a_heaps_buffer_is_shown, setup_lit),
        test_with(a_framebuffer_outlives_the_clients_descriptor, setup_lit),
        test_with(what_comes_in_goes_out_as_the_same, setup_lit),
        test_with(too_small_a_buffer_makes_no_framebuffer, setup_lit),
        test_with(dumb_buffers_are_dma_bufs, setup_lit),
        test_with(a_kernels_card_takes_our_buffers, setup_lit),
        test_with(we_take_a_kernels_cards_buffers, setup_lit),
        test_with(a_sync_file_holds_the_picture_back, setup_lit),
        test_with(a_writer_in_the_memory_holds_the_picture_back, setup_lit),
        test_with(a_writer_in_another_plane_of_it_does_so_too, setup_lit),
        test_with(a_reader_in_the_memory_holds_nothing_back, setup_lit),
        test_with(the_commits_fence_takes_the_place_of_the_memorys, setup_lit),
        test_with(an_out_fence_signals_with_the_picture, setup_lit),
    };
    if (!getenv("TURNPIKE_TEST_CARD")) {
        fputs("buffers_test: TURNPIKE_TEST_CARD names no card\n", stderr);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
