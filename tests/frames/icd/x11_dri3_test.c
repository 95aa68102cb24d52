/* The X11 target on a server that takes dma-bufs, by DRI3 and Present. */
#include "target_guest.h"
#include "x11_double.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <xcb/present.h>
#include <xcb/xcb.h>

#define TILED UINT64_C(0x0500000000000001) /* somebody's */

static const uint64_t of_window[] = {TILED, DRM_FORMAT_MOD_LINEAR};
static const uint64_t of_screen[] = {DRM_FORMAT_MOD_LINEAR, TILED + 1};

/* A test's server, application and target. */
struct place {
    struct x11_double server;
    xcb_connection_t *app;
    unsigned descriptors;
    struct guest guest;
    struct tp_target *target;
};

static struct place *begin_as(uint32_t dri3_minor, bool names_modifiers, bool refuses)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    p->descriptors = n_descriptors();
    p->server = (struct x11_double){.dri3_minor = dri3_minor, .refuses = refuses};
    if (names_modifiers) {
        p->server.of_window = of_window;
        p->server.of_screen = of_screen;
        p->server.n_of_window = p->server.n_of_screen = 2;
    }
    x11_double_begin(&p->server);
    p->app = xcb_connect(p->server.name, NULL);
    assert_int_equal(xcb_connection_has_error(p->app), 0);
    assert_int_equal(tp_target_x11_create(p->app, xcb_generate_id(p->app), &p->target), 0);
    return p;
}

static struct place *begin(uint32_t dri3_minor, bool refuses)
{
    return begin_as(dri3_minor, true, refuses);
}

/* How many pixmaps it was asked to free. */
static unsigned end(struct place *p)
{
    p->target->ops->destroy(p->target);
    xcb_disconnect(p->app);
    x11_double_end(&p->server);
    assert_int_equal(n_descriptors(), p->descriptors);
    unsigned freed = p->server.n_freed;
    free(p);
    return freed;
}

static void open_stream(struct place *p, uint32_t n, VkPresentModeKHR mode)
{
    struct guest *g = &p->guest;

    g->target = p->target;
    g->info = (struct tp_stream_info){.width = DOUBLE_WIDTH,
        .height = DOUBLE_HEIGHT,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_images = n,
        .mode = mode};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->told, NULL);
    assert_int_equal(p->target->ops->open(p->target, &g->info, &guest_events, g, &g->stream), 0);
}

static void close_stream(struct place *p)
{
    p->target->ops->close(p->guest.stream);
    pthread_cond_destroy(&p->guest.told);
    pthread_mutex_destroy(&p->guest.lock);
}

/* To the server one file is as good as another. */
static struct tp_stream_image image_of(uint64_t modifier, uint32_t n_planes)
{
    struct tp_stream_image image = {.memory = TP_MEMORY_DMABUF,
        .fd = memfd_create("dma-buf", MFD_CLOEXEC),
        .bytes = 65536,
        .width = DOUBLE_WIDTH,
        .height = DOUBLE_HEIGHT,
        .fourcc = DRM_FORMAT_XRGB8888,
        .modifier = modifier,
        .n_planes = n_planes,
        .offsets = {0, 32768},
        .pitches = {512, 128}};

    assert_true(image.fd >= 0);
    return image;
}

static int add(struct place *p, uint32_t index, struct tp_stream_image image, ino_t *inode)
{
    struct stat st;

    assert_int_equal(fstat(image.fd, &st), 0);
    if (inode)
        *inode = st.st_ino;
    int r = p->target->ops->add(p->guest.stream, index, &image);
    close(image.fd);
    return r;
}

static uint32_t memory_of(struct place *p, uint64_t modifier, uint32_t *n)
{
    struct tp_target_format *formats;
    uint32_t memory = 0;

    assert_int_equal(p->target->ops->formats(p->target, &formats, n), 0);
    for (uint32_t i = 0; i < *n; i++) {
        assert_int_equal(formats[i].fourcc, DRM_FORMAT_XRGB8888);
        if (formats[i].modifier == modifier)
            memory |= formats[i].memory;
    }
    free(formats);
    return memory;
}

static void it_takes_what_window_and_screen_take_each_once(void **state)
{
    struct place *p = begin(2, false);
    struct tp_target_caps caps;
    struct stat st;
    uint32_t n;

    (void)state;
    assert_int_equal(memory_of(p, TILED, &n), TP_MEMORY_DMABUF);
    assert_int_equal(n, 3);
    assert_int_equal(memory_of(p, TILED + 1, &n), TP_MEMORY_DMABUF);
    assert_int_equal(memory_of(p, DRM_FORMAT_MOD_LINEAR, &n), TP_MEMORY_DMABUF | TP_MEMORY_SHARED);
    assert_int_equal(p->target->ops->query(p->target, &caps), 0);
    assert_int_equal(caps.width, DOUBLE_WIDTH);
    assert_true(caps.timed);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_int_equal(caps.device, st.st_rdev); /* the one that the server opens */
    end(p);
}

static void an_old_server_takes_what_the_driver_agrees_on(void **state)
{
    struct place *p = begin(0, false);
    uint32_t n;

    (void)state;
    assert_int_equal(memory_of(p, DRM_FORMAT_MOD_INVALID, &n), TP_MEMORY_DMABUF);
    assert_int_equal(n, 2);
    end(p);
}

static void an_image_goes_with_its_modifier_and_a_file_for_each_plane(void **state)
{
    struct place *p = begin(2, false);
    struct double_pixmap *got = p->server.pixmaps;
    ino_t inode;

    (void)state;
    open_stream(p, 1, VK_PRESENT_MODE_FIFO_KHR);
    assert_int_equal(add(p, 0, image_of(TILED, 2), &inode), 0);
    assert_int_equal(p->server.n_pixmaps, 1);
    assert_true(got->modified);
    assert_int_equal(got->modifier, TILED);
    assert_int_equal(got->n_files, 2);
    assert_int_equal(got->files[0], inode);
    assert_int_equal(got->files[1], inode);
    assert_int_equal(got->width, DOUBLE_WIDTH);
    assert_int_equal(got->height, DOUBLE_HEIGHT);
    assert_int_equal(got->pitches[0], 512);
    assert_int_equal(got->pitches[1], 128);
    assert_int_equal(got->offsets[1], 32768);
    assert_int_equal(got->depth, 24);
    assert_int_equal(got->bits, 32);
    close_stream(p);
    x11_double_wait(&p->server, &p->server.n_freed, 1);
    assert_true(got->freed);
    end(p);
}

static void without_a_modifier_it_goes_the_old_way(void **state)
{
    struct place *p = begin(0, false);
    struct double_pixmap *got = p->server.pixmaps;
    struct tp_stream_image image;
    ino_t inode;

    (void)state;
    open_stream(p, 3, VK_PRESENT_MODE_FIFO_KHR);
    assert_int_equal(add(p, 0, image_of(DRM_FORMAT_MOD_INVALID, 1), &inode), 0);
    assert_int_equal(p->server.n_pixmaps, 1);
    assert_false(got->modified);
    assert_int_equal(got->n_files, 1);
    assert_int_equal(got->files[0], inode);
    assert_int_equal(got->size, 65536);
    assert_int_equal(got->pitches[0], 512);
    /* What that request has no room for is not sent as something else. */
    image = image_of(DRM_FORMAT_MOD_INVALID, 1);
    image.pitches[0] = 65536 + 512;
    assert_int_equal(add(p, 1, image, NULL), -EOPNOTSUPP);
    image = image_of(DRM_FORMAT_MOD_INVALID, 1);
    image.offsets[0] = 4096;
    assert_int_equal(add(p, 2, image, NULL), -EOPNOTSUPP);
    assert_int_equal(p->server.n_pixmaps, 1);
    close_stream(p);
    end(p);
}

static void linear_images_go_the_old_way_to_a_server_that_names_no_modifier(void **state)
{
    const struct {
        uint32_t dri3_minor;
        bool names_modifiers, modified;
    } servers[] = {{0, true, false}, {2, false, false}, {2, true, true}};
    uint32_t n;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct place *p = begin_as(servers[i].dri3_minor, servers[i].names_modifiers, false);
        memory_of(p, DRM_FORMAT_MOD_INVALID, &n);
        open_stream(p, 1, VK_PRESENT_MODE_FIFO_KHR);
        assert_int_equal(add(p, 0, image_of(DRM_FORMAT_MOD_LINEAR, 1), NULL), 0);
        assert_int_equal(p->server.pixmaps[0].modified, servers[i].modified);
        close_stream(p);
        end(p);
    }
}

static void what_the_server_refuses_is_not_taken(void **state)
{
    struct place *p = begin(2, true);

    (void)state;
    open_stream(p, 1, VK_PRESENT_MODE_FIFO_KHR);
    assert_int_equal(add(p, 0, image_of(TILED, 1), NULL), -EOPNOTSUPP);
    assert_int_equal(add(p, 0, image_of(DRM_FORMAT_MOD_INVALID, 1), NULL), -EOPNOTSUPP);
    close_stream(p);
    assert_int_equal(end(p), 0);
}

static void wait_presents(struct place *p, unsigned n)
{
    x11_double_wait(&p->server, &p->server.n_presents, n);
}

static void pictures_take_turns_and_images_come_back_when_they_are_idle(void **state)
{
    struct place *p = begin(2, false);
    struct double_present *sent = p->server.presents;
    struct guest *g = &p->guest;

    (void)state;
    open_stream(p, 3, VK_PRESENT_MODE_FIFO_KHR);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(add(p, i, image_of(DRM_FORMAT_MOD_LINEAR, 1), NULL), 0);
    for (uint32_t i = 0; i < 3; i++)
        guest_present(g, i, i + 1, g->info.mode);
    wait_presents(p, 1);
    assert_int_equal(sent[0].pixmap, p->server.pixmaps[0].id);
    assert_int_equal(sent[0].options & XCB_PRESENT_OPTION_ASYNC, 0);
    usleep(20000);
    assert_int_equal(p->server.n_presents, 1); /* the first is not shown yet */
    x11_double_complete(&p->server, sent[0].serial, XCB_PRESENT_COMPLETE_MODE_FLIP, 1000000, 60);
    wait_presents(p, 2);
    wait_for(g, &g->n_shown, 1);
    assert_int_equal(g->shown[1].time_ns, INT64_C(1000000000));
    assert_int_equal(g->shown[1].sequence, 60);
    assert_true(g->shown[1].exact);
    assert_int_equal(g->released[0], 0); /* it is on the screen */
    x11_double_complete(&p->server, sent[1].serial, XCB_PRESENT_COMPLETE_MODE_FLIP, 1016667, 61);
    x11_double_idle(&p->server, sent[0].serial, sent[0].pixmap);
    wait_for(g, &g->released[0], 1);
    wait_for(g, &g->n_shown, 2);
    assert_int_equal(g->shown[2].period_ns, 16667000);
    assert_int_equal(g->released[1], 0);
    /* Its note may come before the word that it was shown. */
    wait_presents(p, 3);
    x11_double_idle(&p->server, sent[2].serial, sent[2].pixmap);
    wait_for(g, &g->released[2], 1);
    x11_double_complete(&p->server, sent[2].serial, XCB_PRESENT_COMPLETE_MODE_COPY, 1033334, 62);
    wait_for(g, &g->n_shown, 3);
    close_stream(p);
    end(p);
}

static void a_picture_that_the_server_skips_is_discarded(void **state)
{
    struct place *p = begin(2, false);
    struct double_present *sent = p->server.presents;
    struct guest *g = &p->guest;

    (void)state;
    open_stream(p, 2, VK_PRESENT_MODE_IMMEDIATE_KHR);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(add(p, i, image_of(DRM_FORMAT_MOD_LINEAR, 1), NULL), 0);
    guest_present(g, 0, 1, g->info.mode);
    wait_presents(p, 1);
    guest_present(g, 1, 2, g->info.mode); /* does not wait for the first */
    wait_presents(p, 2);
    assert_int_equal(sent[0].options, XCB_PRESENT_OPTION_ASYNC);
    x11_double_complete(&p->server, sent[0].serial, XCB_PRESENT_COMPLETE_MODE_SKIP, 1000000, 60);
    x11_double_idle(&p->server, sent[0].serial, sent[0].pixmap);
    wait_for(g, &g->n_discarded, 1);
    wait_for(g, &g->released[0], 1);
    x11_double_complete(&p->server, sent[1].serial, XCB_PRESENT_COMPLETE_MODE_FLIP, 1000000, 60);
    wait_for(g, &g->n_shown, 1);
    assert_int_equal(g->shown[1].serial, 2);
    /* Of a stream that has ended nothing is told any more. */
    close_stream(p);
    x11_double_idle(&p->server, sent[1].serial, sent[1].pixmap);
    x11_double_idle(&p->server, 12345, 54321);
    x11_double_wait(&p->server, &p->server.n_freed, 2);
    end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_what_window_and_screen_take_each_once),
        cmocka_unit_test(an_old_server_takes_what_the_driver_agrees_on),
        cmocka_unit_test(an_image_goes_with_its_modifier_and_a_file_for_each_plane),
        cmocka_unit_test(without_a_modifier_it_goes_the_old_way),
        cmocka_unit_test(linear_images_go_the_old_way_to_a_server_that_names_no_modifier),
        cmocka_unit_test(what_the_server_refuses_is_not_taken),
        cmocka_unit_test(pictures_take_turns_and_images_come_back_when_they_are_idle),
        cmocka_unit_test(a_picture_that_the_server_skips_is_discarded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
