/*
 * A target on the server's screen, without Vulkan: the whole server on a thread of its own, with a
 * panel whose refreshes the test makes.
 */
#include "display_screen.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static void the_servers_connector_is_a_screen_with_its_modes(void **state)
{
    struct tp_display_connector c[TP_DISPLAY_CONNECTORS];
    struct tp_display_card *card;

    (void)state;
    assert_int_equal(tp_display_card_get(&card), 0);
    assert_int_equal(tp_display_connectors(&card->link, c), 1);
    assert_true(c[0].connected);
    assert_string_equal(c[0].name, "eDP-1");
    assert_int_equal(c[0].n_modes, 3);
    assert_int_equal(c[0].modes[0].hdisplay, WIDTH);
    assert_int_equal(tp_display_mode_mhz(&c[0].modes[0]), 60000);
    assert_int_equal(tp_display_mode_mhz(&c[0].modes[1]), 120000);
    assert_int_equal(c[0].modes[2].vdisplay, 2 * HEIGHT);
    tp_display_card_put(card);
}

static void who_only_looks_is_not_master(void **state)
{
    struct tp_display_card *card;
    struct tp_display_link other;
    struct drm_mode_card_res res = {0};

    (void)state;
    assert_int_equal(tp_display_card_get(&card), 0);
    assert_int_equal(tp_display_ioctl(&card->link, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
    assert_int_equal(open_other(&other), 0); /* becomes master, as a compositor would */
    assert_int_equal(tp_display_ioctl(&other, DRM_IOCTL_DROP_MASTER, NULL), 0);
    tp_display_link_finish(&other);
    tp_display_card_put(card);
}

static void it_says_what_the_screen_can(void **state)
{
    struct tp_target *t = make_target(0, 0);
    struct tp_target_format *formats;
    struct tp_target_caps caps;
    uint32_t n;
    bool linear = false;

    (void)state;
    assert_int_equal(t->ops->query(t, &caps), 0);
    assert_int_equal(caps.width, WIDTH);
    assert_int_equal(caps.height, HEIGHT);
    assert_int_equal(caps.modes[0], VK_PRESENT_MODE_FIFO_KHR);
    assert_int_equal(caps.spaces[0], VK_COLOR_SPACE_SRGB_NONLINEAR_KHR);
    assert_int_equal(caps.n_spaces, 2); /* its EDID says PQ */
    assert_true(caps.takes_fences);
    assert_true(caps.timed);
    assert_in_range(caps.period_ns, 16666600, 16666700);
    assert_int_equal(t->ops->formats(t, &formats, &n), 0);
    for (uint32_t i = 0; i < n; i++)
        linear |= formats[i].fourcc == DRM_FORMAT_XRGB8888 &&
            formats[i].modifier == DRM_FORMAT_MOD_LINEAR &&
            formats[i].memory == (TP_MEMORY_DMABUF | TP_MEMORY_SHARED);
    assert_true(linear);
    free(formats);
    t->ops->destroy(t);
}

static void fifo_shows_each_picture_for_a_refresh(void **state)
{
    struct guest g;

    (void)state;
    guest_open(&g, make_target(0, 0), 3, VK_PRESENT_MODE_FIFO_KHR);
    for (uint64_t serial = 1; serial <= 60; serial++) {
        uint32_t index = (serial - 1) % 3;
        if (serial > 3) /* the image is free again */
            wait_for(&g, &g.released[index], serial / 3 - (serial % 3 ? 0 : 1));
        guest_present(&g, index, serial, g.info.mode);
        wait_for(&g, &g.n_committed, serial);
        tick();
        wait_for(&g, &g.n_shown, serial);
        assert_int_equal(g.shown[serial].serial, serial);
        assert_true(g.shown[serial].exact);
        if (serial > 1) {
            int64_t step = g.shown[serial].time_ns - g.shown[serial - 1].time_ns;
            assert_in_range(step, PERIOD - 1000, PERIOD + 1000); /* events tell µs */
            assert_int_equal(g.shown[serial].sequence, g.shown[serial - 1].sequence + 1);
        }
        assert_int_equal(published_refresh_mhz(), 60000);
    }
    assert_int_equal(g.n_discarded, 0);
    guest_close(&g);
}

static void an_image_is_released_by_the_flip_of_its_successor(void **state)
{
    struct guest g;

    (void)state;
    guest_begin(&g, make_target(0, 0), 3, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 1, 2, g.info.mode);
    wait_for(&g, &g.n_committed, 2);
    assert_int_equal(g.released[0], 0);
    tick();
    wait_for(&g, &g.n_shown, 2);
    assert_int_equal(g.released[0], 1);
    assert_int_equal(g.released[1], 0);
    guest_close(&g);
}

static void mailbox_gives_back_what_was_replaced(void **state)
{
    struct guest g;

    (void)state;
    guest_begin(&g, make_target(0, 0), 4, VK_PRESENT_MODE_MAILBOX_KHR);
    guest_present(&g, 1, 2, g.info.mode);
    wait_for(&g, &g.n_committed, 2);
    guest_present(&g, 2, 3, g.info.mode);
    guest_present(&g, 3, 4, g.info.mode);
    wait_for(&g, &g.released[2], 1); /* without a refresh */
    guest_present(&g, 2, 5, g.info.mode);
    wait_for(&g, &g.n_discarded, 2);
    assert_int_equal(g.released[3], 1);
    tick();
    wait_for(&g, &g.n_committed, 3);
    tick();
    wait_for(&g, &g.n_shown, 3);
    assert_int_equal(g.shown[2].serial, 2);
    assert_int_equal(g.shown[3].serial, 5);
    guest_close(&g);
}

static void immediate_flips_at_once_where_the_card_can(void **state)
{
    struct tp_picture p = {.index = 2, .serial = 3, .mode = VK_PRESENT_MODE_IMMEDIATE_KHR};
    struct guest g;
    int fence = eventfd(0, EFD_CLOEXEC);

    (void)state;
    guest_begin(&g, make_target(0, 0), 4, VK_PRESENT_MODE_IMMEDIATE_KHR);
    assert_false(published_async()); /* it set the mode */
    guest_present(&g, 1, 2, g.info.mode);
    wait_for(&g, &g.n_shown, 2); /* without a refresh */
    assert_true(published_async());
    p.fence = dup(fence);
    assert_int_equal(g.target->ops->present(g.stream, &p), 0);
    wait_for(&g, &g.n_committed, 3);
    guest_present(&g, 0, 4, g.info.mode);
    guest_present(&g, 3, 5, g.info.mode);
    wait_for(&g, &g.n_discarded, 1);
    assert_int_equal(eventfd_write(fence, 1), 0);
    tick_until(&g, &g.n_shown, 4);
    assert_int_equal(g.shown[4].serial, 5);
    close(fence);
    guest_close(&g);
}

static void the_chosen_mode_is_set(void **state)
{
    struct guest g;

    (void)state;
    guest_open(&g, make_target(1, 0), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    tick();
    wait_for(&g, &g.n_shown, 1);
    assert_int_equal(published_refresh_mhz(), 120000);
    assert_in_range(g.shown[1].period_ns, 8333300, 8333400);
    guest_close(&g);
}

static void pictures_of_another_size_are_scaled_to_the_mode(void **state)
{
    struct guest g;

    (void)state;
    guest_open(&g, make_target(2, HEIGHT), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    tick();
    wait_for(&g, &g.n_shown, 1);
    assert_int_equal(published_layer_height(), 2 * HEIGHT);
    guest_close(&g);
}

static void a_picture_waits_for_its_fence_and_its_instant(void **state)
{
    struct tp_picture p = {.index = 0, .serial = 1, .mode = VK_PRESENT_MODE_FIFO_KHR};
    struct guest g;
    int fence = eventfd(0, EFD_CLOEXEC);

    (void)state;
    guest_open(&g, make_target(0, 0), 3, VK_PRESENT_MODE_FIFO_KHR);
    p.fence = dup(fence);
    assert_int_equal(g.stream->target->ops->present(g.stream, &p), 0);
    wait_for(&g, &g.n_committed, 1);
    tick();
    tick();
    assert_int_equal(g.n_shown, 0);
    assert_int_equal(eventfd_write(fence, 1), 0);
    tick_until(&g, &g.n_shown, 1);
    p = (struct tp_picture){.index = 1,
        .serial = 2,
        .mode = VK_PRESENT_MODE_FIFO_KHR,
        .fence = -1,
        .not_before_ns = tp_icd_now_ns() + SECOND / 10};
    assert_int_equal(g.stream->target->ops->present(g.stream, &p), 0);
    wait_for(&g, &g.n_committed, 2);
    assert_true(tp_icd_now_ns() >= p.not_before_ns);
    close(fence);
    guest_close(&g);
}

static void hdr_pictures_are_told_as_such(void **state)
{
    const VkHdrMetadataEXT hdr = {
        .maxLuminance = 600, .minLuminance = 0.03f, .maxContentLightLevel = 500};
    struct tp_picture p = {
        .index = 0, .serial = 1, .mode = VK_PRESENT_MODE_FIFO_KHR, .fence = -1, .hdr = &hdr};
    struct hdr_output_metadata told;
    struct guest g;

    (void)state;
    guest_open_in(
        &g, make_target(0, 0), 2, VK_PRESENT_MODE_FIFO_KHR, VK_COLOR_SPACE_HDR10_ST2084_EXT);
    assert_int_equal(g.stream->target->ops->present(g.stream, &p), 0);
    wait_for(&g, &g.n_committed, 1);
    tick();
    wait_for(&g, &g.n_shown, 1);
    assert_int_equal(published_colorspace(), 9); /* BT2020_RGB */
    assert_true(published_hdr(&told));
    assert_int_equal(told.hdmi_metadata_type1.eotf, 2);
    assert_int_equal(told.hdmi_metadata_type1.max_display_mastering_luminance, 600);
    assert_int_equal(told.hdmi_metadata_type1.min_display_mastering_luminance, 300);
    assert_int_equal(told.hdmi_metadata_type1.max_cll, 500);
    guest_close(&g);
}

static void a_retired_streams_queue_is_shown_until_the_next_ones_first(void **state)
{
    struct tp_picture p = {.index = 0, .serial = 9, .fence = -1};
    struct guest old, new;

    (void)state;
    guest_begin(&old, make_target(0, 0), 4, VK_PRESENT_MODE_FIFO_KHR);
    for (uint32_t i = 1; i < 4; i++)
        guest_present(&old, i, i + 1, old.info.mode);
    wait_for(&old, &old.n_committed, 2);
    guest_open(&new, old.target, 2, VK_PRESENT_MODE_FIFO_KHR);
    assert_int_equal(old.stream->target->ops->present(old.stream, &p), -ESTALE);
    tick();
    wait_for(&old, &old.n_committed, 3);
    guest_present(&new, 0, 1, new.info.mode);
    tick();
    wait_for(&new, &new.n_committed, 1);
    assert_int_equal(old.n_shown, 3);
    assert_int_equal(old.n_discarded, 1);
    tick();
    wait_for(&new, &new.n_shown, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(old.released[i], 1);
    guest_close_stream(&old);
    guest_close(&new);
}

static void a_screen_that_goes_is_lost_at_once(void **state)
{
    struct tp_picture p = {.index = 1, .serial = 3, .fence = -1};
    struct tp_target_caps caps;
    struct guest g;

    (void)state;
    guest_open(&g, make_target(0, 0), 3, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    guest_present(&g, 1, 2, g.info.mode);
    plug(false, 3);
    wait_for(&g, &g.n_lost, 1);
    assert_int_equal(g.n_shown + g.n_discarded, 2); /* the server ends what is under way */
    assert_int_equal(g.stream->target->ops->present(g.stream, &p), -ENODEV);
    assert_int_equal(g.target->ops->query(g.target, &caps), -ENODEV);
    guest_close(&g);
    plug(true, 3);
}

static void a_screen_without_our_mode_is_out_of_date(void **state)
{
    struct tp_picture p = {.index = 0, .serial = 2, .fence = -1};
    struct guest g;

    (void)state;
    guest_open(&g, make_target(2, 0), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    plug(true, 2);
    wait_for(&g, &g.n_out_of_date, 1);
    assert_int_equal(g.stream->target->ops->present(g.stream, &p), -ESTALE);
    guest_close(&g);
    plug(true, 3);
}

static void somebody_elses_screens_are_busy(void **state)
{
    struct tp_target *t = make_target(0, 0);
    struct tp_stream_info info = {.width = WIDTH, .height = HEIGHT, .n_images = 2};
    struct tp_display_link other;
    struct tp_stream *s;

    (void)state;
    assert_int_equal(open_other(&other), 0);
    assert_int_equal(t->ops->open(t, &info, &guest_events, NULL, &s), -EBUSY);
    tp_display_link_finish(&other);
    for (int i = 0; i < 500 && t->ops->open(t, &info, &guest_events, NULL, &s) == -EBUSY; i++)
        usleep(10000); /* the server has to notice that they are gone */
    t->ops->close(s);
    t->ops->destroy(t);
}

static void who_loses_the_screens_to_another_is_out_of_date(void **state)
{
    struct tp_display_link other;
    struct guest g;

    (void)state;
    guest_open(&g, make_target(0, 0), 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    tick();
    wait_for(&g, &g.n_shown, 1);
    assert_int_equal(tp_display_ioctl(card_link(), DRM_IOCTL_DROP_MASTER, NULL), 0);
    assert_int_equal(open_other(&other), 0);
    guest_present(&g, 1, 2, g.info.mode);
    wait_for(&g, &g.n_out_of_date, 1);
    assert_int_equal(g.n_discarded, 1);
    tp_display_link_finish(&other);
    guest_close(&g);
}

static void a_server_that_dies_leaves_nobody_waiting(void **state)
{
    struct tp_picture p = {.index = 2, .serial = 4, .fence = -1};
    struct guest g;

    (void)state;
    guest_open(&g, make_target(0, 0), 3, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    tick();
    wait_for(&g, &g.n_shown, 1);
    guest_present(&g, 1, 2, g.info.mode);
    wait_for(&g, &g.n_committed, 2);
    guest_present(&g, 2, 3, g.info.mode);
    screen_stop();
    wait_for(&g, &g.n_lost, 1);
    assert_int_equal(g.n_shown + g.n_discarded, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(g.released[i], 1);
    assert_int_equal(g.stream->target->ops->present(g.stream, &p), -ENODEV);
    guest_close(&g);
    screen_start();
    guest_open(&g, make_target(0, 0), 2, VK_PRESENT_MODE_FIFO_KHR); /* the next one is found */
    guest_present(&g, 0, 1, g.info.mode);
    wait_for(&g, &g.n_committed, 1);
    guest_close(&g);
}

static void a_thousand_streams_leave_nothing_behind(void **state)
{
    struct tp_target *t = make_target(0, 0);
    struct guest a, b;
    unsigned before;

    (void)state;
    guest_open(&a, t, 2, VK_PRESENT_MODE_FIFO_KHR);
    guest_present(&a, 0, 1, a.info.mode);
    wait_for(&a, &a.n_committed, 1);
    before = n_descriptors();
    for (int i = 0; i < 500; i++) {
        guest_open(&b, t, 2, VK_PRESENT_MODE_FIFO_KHR);
        guest_close_stream(&a);
        tick();
        guest_present(&b, 0, 1, b.info.mode);
        wait_for(&b, &b.n_committed, 1);
        guest_open(&a, t, 2, VK_PRESENT_MODE_FIFO_KHR);
        guest_close_stream(&b);
        tick();
        guest_present(&a, 0, 1, a.info.mode);
        wait_for(&a, &a.n_committed, 1);
    }
    /* The server, in this process too, closes what we have let go a little later. */
    for (int i = 0; i < 500 && (n_descriptors() > before || n_framebuffers() > 4); i++)
        usleep(10000);
    assert_int_equal(n_descriptors(), before);
    assert_in_range(n_framebuffers(), 2, 4); /* a's two, and what is on the screen */
    guest_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, screen_setup, screen_teardown)
        T(the_servers_connector_is_a_screen_with_its_modes),
        T(who_only_looks_is_not_master),
        T(it_says_what_the_screen_can),
        T(fifo_shows_each_picture_for_a_refresh),
        T(an_image_is_released_by_the_flip_of_its_successor),
        T(mailbox_gives_back_what_was_replaced),
        T(immediate_flips_at_once_where_the_card_can),
        T(the_chosen_mode_is_set),
        T(pictures_of_another_size_are_scaled_to_the_mode),
        T(a_picture_waits_for_its_fence_and_its_instant),
        T(hdr_pictures_are_told_as_such),
        T(a_retired_streams_queue_is_shown_until_the_next_ones_first),
        T(a_screen_that_goes_is_lost_at_once),
        T(a_screen_without_our_mode_is_out_of_date),
        T(somebody_elses_screens_are_busy),
        T(who_loses_the_screens_to_another_is_out_of_date),
        T(a_server_that_dies_leaves_nobody_waiting),
        T(a_thousand_streams_leave_nothing_behind),
    };

    screen_address();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
