/*
 * The X11 target on an X server that takes dma-bufs: Xorg with glamor on the card
 * TURNPIKE_TEST_CARD. The images are buffers of that card: a server that renders on the processor
 * cannot map another device's.
 */
#include "../frames/icd/x11_picture.h"

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define WIDTH 100u
#define HEIGHT 60u
#define IMAGES 3u

static int card;
static xcb_connection_t *app;
static xcb_window_t window;

static int begin(void **state)
{
    const char *name = getenv("TURNPIKE_TEST_CARD");

    (void)state;
    assert_non_null(name);
    card = open(name, O_RDWR | O_CLOEXEC);
    assert_true(card >= 0);
    app = xcb_connect(NULL, NULL);
    assert_int_equal(xcb_connection_has_error(app), 0);
    window = x11_window(app, WIDTH, HEIGHT);
    return 0;
}

static int end(void **state)
{
    (void)state;
    xcb_disconnect(app);
    close(card);
    return 0;
}

static void add_image(struct guest *g, uint32_t index, uint64_t modifier)
{
    struct drm_mode_create_dumb dumb = {.width = WIDTH, .height = HEIGHT, .bpp = 32};

    assert_int_equal(ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
    struct drm_prime_handle prime = {.handle = dumb.handle, .flags = DRM_CLOEXEC | DRM_RDWR};
    assert_int_equal(ioctl(card, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
    struct tp_stream_image image = {.memory = TP_MEMORY_DMABUF,
        .fd = prime.fd,
        .bytes = dumb.size,
        .width = WIDTH,
        .height = HEIGHT,
        .fourcc = DRM_FORMAT_XRGB8888,
        .modifier = modifier,
        .n_planes = 1,
        .pitches = {dumb.pitch}};
    g->memory[index] = prime.fd;
    g->row = dumb.pitch / 4;
    g->pixels[index] = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
    assert_ptr_not_equal(g->pixels[index], MAP_FAILED);
    assert_int_equal(g->target->ops->add(g->stream, index, &image), 0);
}

static void paint(struct guest *g, uint32_t index, uint32_t seed)
{
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE};

    ioctl(g->memory[index], DMA_BUF_IOCTL_SYNC, &sync);
    x11_paint(g, index, seed);
    sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE;
    ioctl(g->memory[index], DMA_BUF_IOCTL_SYNC, &sync);
}

/* The first modifier of dma-bufs that the server names. */
static uint64_t modifier_of(struct tp_target *t)
{
    struct tp_target_format *formats;
    uint64_t modifier = 0;
    uint32_t n, found = 0;

    assert_int_equal(t->ops->formats(t, &formats, &n), 0);
    for (uint32_t i = 0; i < n && !found; i++) {
        found = formats[i].memory & TP_MEMORY_DMABUF;
        modifier = formats[i].modifier;
    }
    free(formats);
    assert_true(found);
    return modifier == DRM_FORMAT_MOD_INVALID ? modifier : DRM_FORMAT_MOD_LINEAR;
}

static void an_x_server_shows_dma_bufs_and_gives_them_back(void **state)
{
    struct guest g = {0};

    (void)state;
    assert_int_equal(tp_target_x11_create(app, window, &g.target), 0);
    struct tp_target_caps caps;
    assert_int_equal(g.target->ops->query(g.target, &caps), 0);
    assert_int_not_equal(caps.device, 0); /* the card's */
    g.info = (struct tp_stream_info){.width = WIDTH,
        .height = HEIGHT,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_images = IMAGES,
        .mode = VK_PRESENT_MODE_FIFO_KHR};
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.told, NULL);
    assert_int_equal(g.target->ops->open(g.target, &g.info, &guest_events, &g, &g.stream), 0);
    for (uint32_t i = 0; i < IMAGES; i++)
        add_image(&g, i, modifier_of(g.target));
    for (uint64_t serial = 1; serial <= 12; serial++) {
        uint32_t index = (uint32_t)(serial - 1) % IMAGES;
        if (serial > IMAGES) /* free again */
            wait_for(&g, &g.released[index], (serial - 1) / IMAGES);
        paint(&g, index, (uint32_t)serial * 11);
        guest_present(&g, index, serial, g.info.mode);
        if (serial % 4 == 0) {
            wait_for(&g, &g.n_shown, serial);
            assert_int_equal(x11_differing_pixels(app, window, &g, index), 0);
        }
    }
    assert_int_equal(g.n_discarded, 0);
    for (uint64_t i = 2; i <= 12; i++) {
        assert_int_equal(g.shown[i].serial, i);
        assert_true(g.shown[i].exact);
        assert_true(g.shown[i].sequence > g.shown[i - 1].sequence);
    }
    guest_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_x_server_shows_dma_bufs_and_gives_them_back),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
