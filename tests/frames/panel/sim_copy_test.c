/* Copies of the server's own memory: whole or lost, and what of it. The copying asks for the
 * framebuffer once more than publishing does: there the test comes in between. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <drm_fourcc.h>

#include "frames/panel/sim_copy.h"

#define WIDTH 16u
#define LINES 12u

struct tp_kms_fb {
    atomic_int refs;
    atomic_uint asked; /* for what it is */
    unsigned publish_at;
    struct tp_kms_fb_info info;
    uint32_t *pixels;
};

static struct tp_copies *copies;
static struct tp_kms_fb fbs[2];
static struct tp_copy_set later;

struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb)
{
    atomic_fetch_add(&fb->refs, 1);
    return fb;
}

void tp_kms_fb_unref(struct tp_kms_fb *fb)
{
    atomic_fetch_sub(&fb->refs, 1);
}

static void publish(uint64_t serial, unsigned fb, uint32_t top, uint32_t n, struct tp_copy_set *out)
{
    struct tp_kms_scanout s = {.serial = serial, .active = true, .n_layers = 1};
    s.layers[0] = (struct tp_kms_layer){
        .fb = &fbs[fb], .src_y = top << 16, .src_w = WIDTH << 16, .src_h = n << 16, .in_fence = -1};
    tp_copies_publish(copies, &s, out);
}

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    struct tp_kms_fb *asked = (struct tp_kms_fb *)(uintptr_t)fb;
    *out = fb->info;
    if (atomic_fetch_add(&asked->asked, 1) + 1 == fb->publish_at)
        publish(2, 1, 0, LINES, &later);
}

static void on_released(void *data, uint64_t serial, unsigned layer)
{
    (void)data;
    (void)serial;
    (void)layer;
}

static int start(void **state)
{
    struct tp_error e = {0};
    (void)state;
    memset(fbs, 0, sizeof fbs);
    memset(&later, 0, sizeof later);
    for (unsigned i = 0; i < 2; i++) {
        size_t bytes = WIDTH * LINES * 4;
        int fd = memfd_create("fb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        fbs[i].pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        for (unsigned k = 0; k < WIDTH * LINES; k++)
            fbs[i].pixels[k] = k;
        fbs[i].info = (struct tp_kms_fb_info){.width = WIDTH,
            .height = LINES,
            .fourcc = DRM_FORMAT_XRGB8888,
            .fds = {fd},
            .pitches = {WIDTH * 4},
            .inode = i + 1,
            .own = true};
    }
    return tp_copies_start(on_released, NULL, &copies, &e);
}

static int stop(void **state)
{
    (void)state;
    tp_copies_stop(copies);
    tp_copy_let_go(&later);
    tp_copies_destroy(copies);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(fbs[i].refs, 0);
        munmap(fbs[i].pixels, WIDTH * LINES * 4);
        close(fbs[i].info.fds[0]);
    }
    return 0;
}

static void the_rows_that_are_shown_are_copied(void **state)
{
    struct tp_compose_copy views[TP_KMS_LAYERS];
    struct tp_copy_set set;
    uint32_t lost;
    (void)state;
    publish(1, 0, 3, 5, &set);
    assert_int_equal(tp_copy_settle(&set, views, &lost), 1);
    assert_int_equal(lost, 0);
    assert_int_equal(fbs[0].refs, 0); /* the buffer is not needed any more */
    memset(fbs[0].pixels, 0xff, WIDTH * LINES * 4);
    assert_int_equal(views[0].top, 3);
    assert_int_equal(views[0].n, 5);
    for (uint32_t y = 3; y < 8; y++) {
        uint32_t pixel;
        memcpy(&pixel, views[0].rows + (y - 3) * views[0].pitch + 4 * 7, 4);
        assert_int_equal(pixel, y * WIDTH + 7);
    }
    publish(2, 1, 0, LINES, &later);
    assert_int_equal(tp_copy_settle(&set, views, &lost), 1); /* whole it stays */
    assert_int_equal(lost, 0);
    tp_copy_let_go(&set);
}

static void what_the_next_picture_finds_half_copied_is_lost(void **state)
{
    struct tp_compose_copy views[TP_KMS_LAYERS];
    struct tp_copy_set set;
    uint32_t lost;
    (void)state;
    fbs[0].publish_at = 2;
    publish(1, 0, 0, LINES, &set);
    assert_int_equal(tp_copy_settle(&set, views, &lost), 1);
    assert_int_equal(lost, 1);
    assert_null(views[0].rows);
    assert_int_equal(tp_copy_settle(&later, views, &lost), 1);
    assert_int_equal(lost, 0);
    tp_copy_let_go(&set);
}

static void imported_memory_is_left_alone(void **state)
{
    struct tp_compose_copy views[TP_KMS_LAYERS];
    struct tp_copy_set set;
    uint32_t lost;
    (void)state;
    fbs[0].info.own = false;
    publish(1, 0, 0, LINES, &set);
    assert_int_equal(tp_copy_settle(&set, views, &lost), 0);
    assert_int_equal(lost, 0);
    assert_null(views[0].rows);
}

static void past_the_bound_they_are_lost(void **state)
{
    struct tp_compose_copy views[TP_KMS_LAYERS];
    struct tp_copy_set sets[TP_COPIES + 1];
    uint32_t lost;
    (void)state;
    for (unsigned i = 0; i < TP_COPIES + 1; i++)
        publish(i + 1, 0, 0, LINES, &sets[i]);
    assert_int_equal(tp_copy_settle(&sets[TP_COPIES], views, &lost), 1);
    assert_int_equal(lost, 1);
    for (unsigned i = 0; i < TP_COPIES + 1; i++)
        tp_copy_let_go(&sets[i]);
    publish(TP_COPIES + 2, 0, 0, LINES, &sets[0]);
    assert_int_equal(tp_copy_settle(&sets[0], views, &lost), 1);
    assert_int_equal(lost, 0);
    tp_copy_let_go(&sets[0]);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_rows_that_are_shown_are_copied),
        CASE(what_the_next_picture_finds_half_copied_is_lost),
        CASE(imported_memory_is_left_alone),
        CASE(past_the_bound_they_are_lost),
    };
    return cmocka_run_group_tests_name("sim_copy", tests, NULL, NULL);
}
