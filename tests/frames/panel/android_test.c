/* The phone's screen on the double, case by case. Times are the double's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#include "android_guest.h"
#include "double/double.h"
#include "frames/panel/android_pixels.h"

static struct guest g;

static ino_t inode(unsigned buffer)
{
    return g.buffers[buffer].info.inode;
}

static void steps(unsigned n)
{
    while (n-- > 0)
        guest_step(&g);
}

/* A picture a refresh, of whichever buffer is free. */
static void play(unsigned n)
{
    while (n-- > 0) {
        guest_step(&g);
        int buffer = guest_free_buffer(&g);
        if (buffer >= 0)
            guest_publish(&g, buffer, -1, false);
    }
}

static struct tp_panel_android_counts counts(void)
{
    struct tp_panel_android_counts c;
    tp_panel_android_count(g.panel, &c);
    return c;
}

static struct double_counts seen(void)
{
    struct double_counts c;
    double_count(&c);
    return c;
}

/* What every test ends with. */
static void end(void)
{
    assert_int_equal(g.twice + g.unknown + g.early + g.torn + g.backwards, 0);
    guest_finish(&g);
    assert_int_equal(seen().buffers, 0);
    assert_int_equal(seen().layers, 0);
    assert_int_equal(seen().windows, 0);
    assert_int_equal(guest_bad_closes, 0);
}

static void a_picture_is_shown_and_the_one_before_comes_back(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    steps(2);
    assert_int_equal(guest_publish(&g, 0, -1, false), 0);
    steps(3);
    assert_true(double_shown() == inode(0));
    assert_int_equal(g.last_shown, 1);
    assert_int_equal(guest_publish(&g, 1, -1, false), 0);
    assert_int_equal(g.released, 0);
    steps(3);
    assert_true(double_shown() == inode(1));
    assert_int_equal(g.released, 1);
    assert_int_equal(g.uses[0], 0);
    assert_int_equal(g.uses[1], 1);
    assert_int_equal(counts().imported, 2);
    assert_int_equal(counts().copied, 0);
    end();
}

/* Whoever bears the fence: SurfaceFlinger's earliest transaction or the one that was shown, as the
 * double's chance has it (seeds). The replaced buffer is read until its successor is shown. */
static void a_picture_that_is_dropped_unshown_does_not_release_what_it_replaced(void **s)
{
    static const int levels[] = {31, 36};
    (void)s;
    for (unsigned i = 0; i < 2; i++)
        for (uint64_t seed = 1; seed < 40; seed++) {
            guest_init(&g, levels[i], seed, 60000);
            steps(2);
            guest_publish(&g, 0, -1, true);
            steps(4);
            uint64_t dropped = seen().dropped;
            guest_publish(&g, 1, -1, true);
            guest_publish(&g, 2, -1, true);
            /* Latched, told, and not on the screen yet: latch, then a refresh, then the next. */
            double_run_until(double_next_refresh() - 1000000);
            assert_int_equal(seen().dropped, dropped + 1);
            assert_int_equal(g.uses[0], 1);
            assert_true(double_reads(inode(0)));
            steps(3);
            assert_true(double_shown() == inode(2));
            assert_int_equal(g.uses[0] + g.uses[1], 0);
            assert_int_equal(g.uses[2], 1);
            end();
        }
}

static void newer_calls_are_used_where_they_are(void **s)
{
    static const int levels[] = {31, 33, 36};
    (void)s;
    for (unsigned i = 0; i < 3; i++) {
        guest_init(&g, levels[i], 1, 60000);
        play(20);
        assert_int_equal(seen().with_release > 0, levels[i] >= 36);
        assert_int_equal(seen().frame_timelines > 0, levels[i] >= 33);
        assert_true(seen().back_pressure > 0);
        assert_float_equal(seen().voted_hz, 60.0f, 0.001f);
        assert_int_equal(seen().data_space, 142671872); /* ADATASPACE_SRGB */
        end();
    }
}

static void without_a_call_there_is_no_panel_and_it_says_which(void **s)
{
    const struct tp_panel_android_config config = {.mode = {64, 32, 60000}};
    struct tp_panel *panel;
    struct tp_error e = {.err = 0};
    (void)s;
    guest_lacks = "ASurfaceTransaction_setEnableBackPressure";
    assert_int_equal(tp_panel_android_create(&config, &panel, &e), -ENOSYS);
    guest_lacks = NULL;
    assert_null(panel);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_string_equal(e.where, "ASurfaceTransaction_setEnableBackPressure");
}

static void a_hidden_app_keeps_no_buffer_and_comes_back_with_its_picture(void **s)
{
    static const int levels[] = {31, 36};
    (void)s;
    for (unsigned i = 0; i < 2; i++) {
        guest_init(&g, levels[i], 1, 60000);
        play(10);
        unsigned last = g.given[g.serial % GUEST_RING][0].buffer;
        tp_panel_android_pause(g.panel);
        uint64_t ticks = g.ticks;
        steps(10);
        assert_true(g.is_away);
        assert_true(double_shown() == 0);
        for (unsigned b = 0; b < GUEST_BUFFERS; b++)
            assert_false(double_reads(inode(b)));
        assert_true(g.ticks >= ticks + 9);
        uint64_t transactions = seen().transactions;
        tp_panel_android_resume(g.panel);
        assert_false(g.is_away);
        assert_int_equal(g.back_after, transactions); /* told before SurfaceFlinger has it */
        assert_int_equal(seen().transactions, transactions + 1);
        steps(3);
        assert_true(double_shown() == inode(last));
        end();
    }
}

static void a_guest_goes_on_while_the_app_is_hidden(void **s)
{
    (void)s;
    guest_init(&g, 33, 1, 60000);
    play(10);
    tp_panel_android_pause(g.panel);
    uint64_t before = g.published, transactions = counts().transactions;
    play(30);
    assert_int_equal(g.published, before + 30);
    assert_int_equal(counts().transactions, transactions);
    assert_int_equal(guest_outstanding(&g), 1);
    unsigned last = g.given[g.serial % GUEST_RING][0].buffer;
    tp_panel_android_resume(g.panel);
    steps(3);
    assert_true(double_shown() == inode(last));
    end();
}

static void refreshes_go_on_while_the_screen_is_dark(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    play(10);
    double_screen(false);
    g.lenient = true;
    uint64_t ticks = g.ticks, before = g.published;
    play(120);
    assert_in_range(g.ticks - ticks, 110, 121);
    assert_true(g.published - before >= 100);
    assert_true(g.is_away);
    assert_int_equal(guest_outstanding(&g), 1);
    double_screen(true);
    play(10);
    assert_false(g.is_away);
    assert_true(double_shown() != 0 && double_shown() != (ino_t)-1);
    assert_int_equal(g.away, 1);
    assert_int_equal(g.back, 1);
    end();
}

static void a_surface_that_is_destroyed_is_left_at_once_and_the_next_one_shows_the_picture(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    play(10);
    unsigned last = g.given[g.serial % GUEST_RING][0].buffer;
    g.lenient = true;
    tp_panel_android_set_window(g.panel, NULL);
    assert_int_equal(seen().windows, 1); /* the test's own reference */
    assert_true(g.is_away);
    double_window_destroy(g.window);
    steps(3);
    assert_int_equal(guest_outstanding(&g), 1);
    assert_int_equal(seen().layers, 0);
    for (unsigned b = 0; b < GUEST_BUFFERS; b++)
        assert_false(double_reads(inode(b)));
    g.window = double_window_create(128, 64);
    tp_panel_android_set_window(g.panel, g.window);
    assert_false(g.is_away);
    steps(3);
    assert_true(double_shown() == inode(last));
    end();
}

/* No refreshes and no surface for a second; then a screen of another rate and another size. */
static void another_display_shows_the_picture_and_the_guest_has_gone_on(void **s)
{
    (void)s;
    guest_init(&g, 33, 1, 60000);
    play(10);
    g.lenient = true;
    double_screen(false);
    tp_panel_android_set_window(g.panel, NULL);
    double_window_destroy(g.window);
    uint64_t before = g.published;
    play(60);
    assert_true(g.published - before >= 50);
    assert_int_equal(guest_outstanding(&g), 1);
    unsigned last = g.given[g.serial % GUEST_RING][0].buffer;
    double_refresh(120000);
    g.window = double_window_create(320, 64);
    tp_panel_android_set_window(g.panel, g.window); /* before its first refresh */
    double_screen(true);
    steps(4);
    assert_false(g.is_away);
    assert_true(double_shown() == inode(last));
    for (unsigned b = 0; b < GUEST_BUFFERS; b++)
        assert_true(double_reads(inode(b)) == (b == last));
    assert_int_equal(seen().left, 96); /* 128x64 in 320x64 */
    assert_int_equal(seen().right, 224);
    play(30);
    assert_int_equal(g.tick.period_ns, 8333333);
    end();
}

/* 64x32 on 128x64 is twice as large; on 64x128, as it is, in the middle: (128 - 32) / 2 = 48. */
static void a_turned_surface_has_the_picture_in_its_middle(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    play(4);
    assert_int_equal(seen().left, 0);
    assert_int_equal(seen().top, 0);
    assert_int_equal(seen().right, 128);
    assert_int_equal(seen().bottom, 64);
    double_window_resize(g.window, 64, 128);
    tp_panel_android_set_window(g.panel, g.window);
    assert_int_equal(seen().left, 0);
    assert_int_equal(seen().top, 48);
    assert_int_equal(seen().right, 64);
    assert_int_equal(seen().bottom, 80);
    end();
}

static void a_change_of_the_refresh_rate_is_followed(void **s)
{
    static const uint32_t rates[] = {60000, 120000, 90000};
    static const int levels[] = {31, 33};
    (void)s;
    for (unsigned l = 0; l < 2; l++) {
        guest_init(&g, levels[l], 1, 60000);
        for (unsigned i = 0; i < 3; i++) {
            double_refresh(rates[i]);
            play(6);
            uint64_t sequence = g.tick.sequence;
            int64_t time = g.tick.time_ns, period = INT64_C(1000000000000) / rates[i];
            play(30);
            assert_int_equal(g.tick.period_ns, period);
            assert_int_equal(g.tick.sequence, sequence + 30);
            assert_int_equal(g.tick.time_ns, time + 30 * period);
            const struct tp_kms_mode mode = {64, 32, rates[i]};
            assert_int_equal(g.panel->ops->set_mode(g.panel, &mode, false), 0);
            play(1);
            assert_float_equal(seen().voted_hz, (float)rates[i] / 1000.0f, 0.001f);
        }
        end();
    }
}

/* --- which refresh a picture is for --- */

#define STAYS 64
static unsigned stays[STAYS], n_stays;

/*
 * A screen twice as fast as the Choreographer tells (120 Hz and 60), which tells late by up to 6
 * ms: either of two latches may be the next. A picture for each that is told; for how many
 * refreshes of the screen each has stayed.
 */
static void play_on_a_faster_screen(bool async)
{
    ino_t shown = 0;
    unsigned stayed = 0;
    n_stays = 0;
    guest_init(&g, 31, 7, 60000);
    double_habits(&(struct double_habits){.foreign = TAKES, .every = 2, .jitter_ns = 6000000});
    double_refresh(120000);
    for (unsigned i = 0; n_stays < STAYS && i < 1000; i++) {
        int64_t next = double_next_refresh();
        while (double_now() < next + 1000000) {
            uint64_t ticks = g.ticks;
            double_run_until(double_now() + 200000);
            if (g.ticks != ticks && guest_free_buffer(&g) >= 0)
                guest_publish(&g, guest_free_buffer(&g), -1, async);
        }
        guest_look_at_fences(&g);
        if (double_shown() == shown) {
            stayed++;
            continue;
        }
        if (shown && i > 20)
            stays[n_stays++] = stayed;
        shown = double_shown();
        stayed = 1;
    }
    assert_int_equal(n_stays, STAYS);
}

static void pictures_stay_for_equal_times_on_a_screen_that_is_faster(void **s)
{
    unsigned uneven = 0;
    (void)s;
    play_on_a_faster_screen(false);
    for (unsigned i = 0; i < STAYS; i++)
        assert_int_equal(stays[i], 2);
    assert_true(seen().desired_times > 0);
    end();
    play_on_a_faster_screen(true); /* the control: without a time they do not */
    for (unsigned i = 0; i < STAYS; i++)
        uneven += stays[i] != 2;
    assert_true(uneven > STAYS / 8);
    assert_int_equal(seen().desired_times, 0);
    end();
}

/* Where the system knows frame timelines, those say it. */
static void a_frame_timeline_takes_the_place_of_a_desired_time(void **s)
{
    (void)s;
    guest_init(&g, 33, 1, 60000);
    play(2); /* the first is published before a refresh was told of */
    uint64_t times = seen().desired_times, timelines = seen().frame_timelines;
    play(20);
    assert_int_equal(seen().desired_times, times);
    assert_int_equal(seen().frame_timelines, timelines + 20);
    end();
}

/* Completions that are late by five refreshes do not make what is shown be told late. */
static void what_was_latched_is_shown_however_late_it_is_complete(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    steps(2);
    double_habits(&(struct double_habits){
        .foreign = TAKES, .late_per_mille = 1000, .late_refreshes = 5, .out_of_order = true});
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(guest_publish(&g, (int)i, -1, false), 0);
        steps(3);
        assert_true(double_shown() == inode(i));
        assert_int_equal(g.last_shown, i + 1);
    }
    steps(10);
    end();
}

/* SurfaceFlinger is alive where it latches: that it is slow to tell of completion is no rejection,
 * until that is never told. */
static void slow_completions_are_no_reason_to_copy(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    double_habits(&(struct double_habits){
        .foreign = TAKES, .late_per_mille = 1000, .late_refreshes = 45, .out_of_order = true});
    play(200);
    assert_int_equal(counts().stalls, 0);
    assert_int_equal(counts().copied, 0);
    steps(60);
    end();
}

/* The flip's rate is the refresh's, however late buffers come back. */
static void late_releases_do_not_slow_the_refreshes(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    double_habits(&(struct double_habits){.slow_per_mille = 1000, .slow_refreshes = 2});
    play(20);
    uint64_t before = g.published;
    play(120);
    assert_int_equal(g.published - before, 120);
    end();
}

static void what_the_allocator_refuses_is_copied_and_tried_again_after_a_resume(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    double_habits(&(struct double_habits){.foreign = REFUSES_IMPORT});
    play(20);
    assert_int_equal(counts().imported, 0);
    assert_int_equal(counts().copied, 20);
    assert_true(double_shown() == (ino_t)-1);
    assert_int_equal(g.lines, 1);
    assert_non_null(strstr(g.last_line, "the allocator does not take it"));
    double_habits(&(struct double_habits){.foreign = TAKES});
    play(5);
    assert_int_equal(counts().imported, 0);
    tp_panel_android_pause(g.panel);
    tp_panel_android_resume(g.panel);
    play(10);
    assert_true(counts().imported >= 10);
    assert_true(double_shown() != (ino_t)-1);
    end();
}

static void memory_that_is_no_dmabuf_is_copied(void **s)
{
    (void)s;
    guest_init(&g, 36, 1, 60000);
    guest_plain_memory = true;
    play(50);
    assert_int_equal(counts().copied, 50);
    assert_non_null(strstr(g.last_line, "it is not a dma-buf"));
    assert_int_equal(g.lines, 1);
    steps(5);
    assert_int_equal(guest_outstanding(&g), 1);
    guest_plain_memory = false;
    end();
}

static void a_phone_that_does_not_show_guests_buffers_gets_copies(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    double_habits(&(struct double_habits){.foreign = HOLDS});
    play(60); /* a second: the watchdog's half and what it takes to show a copy */
    assert_int_equal(counts().stalls, 1);
    assert_int_equal(counts().rebuilt, 0);
    assert_false(counts().direct);
    assert_true(double_shown() == (ino_t)-1);
    assert_int_equal(g.lines, 1);
    steps(10);
    assert_int_equal(guest_outstanding(&g), 1);
    double_habits(&(struct double_habits){.foreign = TAKES});
    tp_panel_android_pause(g.panel);
    steps(10);
    tp_panel_android_resume(g.panel);
    play(10);
    assert_true(counts().direct);
    assert_true(double_shown() != (ino_t)-1 && double_shown() != 0);
    end();
}

static void a_phone_that_shows_nothing_any_more_gets_new_layers(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    play(5);
    double_habits(&(struct double_habits){.foreign = BLOCKS});
    g.lenient = true; /* what was given up is in SurfaceFlinger's queue */
    play(120);
    assert_true(counts().rebuilt >= 1);
    assert_true(double_shown() == (ino_t)-1);
    steps(10);
    assert_int_equal(guest_outstanding(&g), 1);
    assert_int_equal(g.lines, 2);
    end();
}

static void a_repaint_shows_the_picture_again_and_it_comes_back_once(void **s)
{
    static const int levels[] = {31, 36};
    (void)s;
    for (unsigned i = 0; i < 2; i++) {
        guest_init(&g, levels[i], 1, 60000);
        play(5);
        uint64_t transactions = counts().transactions, released;
        steps(5);
        released = g.released;
        tp_panel_android_repaint(g.panel);
        assert_int_equal(counts().transactions, transactions + 1);
        steps(5);
        assert_int_equal(g.released, released);
        guest_publish(&g, guest_free_buffer(&g), -1, false);
        tp_panel_android_repaint(g.panel);
        steps(6);
        assert_int_equal(g.released, released + 1);
        assert_int_equal(guest_outstanding(&g), 1);
        end();
    }
}

static void a_cursor_has_a_layer_of_its_own_and_leaves_it(void **s)
{
    (void)s;
    guest_init(&g, 31, 1, 60000);
    steps(2);
    guest_publish(&g, 0, GUEST_BUFFERS, false);
    steps(4);
    assert_int_equal(seen().layers, 2);
    assert_true(double_reads(inode(GUEST_BUFFERS)));
    assert_non_null(strstr(g.last_line, "cursor"));
    guest_publish(&g, 1, -1, false);
    steps(4);
    assert_false(double_reads(inode(GUEST_BUFFERS)));
    assert_int_equal(g.uses[GUEST_BUFFERS], 0);
    assert_int_equal(g.uses[0], 0);
    assert_int_equal(g.lines, 1);
    end();
}

/* Completions and releases that come when the panel is gone bring fences, too. */
static void callbacks_after_the_end_leave_no_descriptor(void **s)
{
    static const int levels[] = {31, 36};
    unsigned before = guest_open_descriptors();
    (void)s;
    for (unsigned i = 0; i < 8; i++) {
        guest_init(&g, levels[i % 2], i, 60000);
        double_habits(&(struct double_habits){.foreign = TAKES,
            .late_per_mille = 1000,
            .late_refreshes = 1,
            .slow_per_mille = 1000,
            .slow_refreshes = 8});
        guest_plain_memory = i & 2;
        play(10 + i);
        end();
    }
    guest_plain_memory = false;
    assert_int_equal(guest_open_descriptors(), before);
}

/* BT.2020's red is at 0.708, and a display of 1000 cd/m2, in hdr_output_metadata's units. */
static void hdr_pictures_are_passed_on_where_that_is_wanted(void **s)
{
    struct hdr_output_metadata m = {
        .hdmi_metadata_type1 = {
            .max_display_mastering_luminance = 1000, .max_cll = 800, .max_fall = 400}};
    m.hdmi_metadata_type1.display_primaries[2].x = 35400;
    (void)s;
    guest_init(&g, 31, 1, 60000);
    g.hdr = &m;
    play(3);
    assert_int_equal(seen().data_space, 142671872); /* ADATASPACE_SRGB */
    tp_panel_android_set_hdr(g.panel, true);
    memset(&m, 0, sizeof m);                        /* it is the commit's */
    assert_int_equal(seen().data_space, 163971072); /* ADATASPACE_BT2020_PQ */
    assert_float_equal(seen().red_x, 0.708f, 0.0001f);
    assert_float_equal(seen().max_luminance, 1000.0f, 0.1f);
    assert_float_equal(seen().max_content_light, 800.0f, 0.1f);
    g.hdr = NULL;
    play(3);
    assert_int_equal(seen().data_space, 142671872);
    end();
}

/* A 64x32 picture in its mode; 16x16 of it is the cursor's, opaque. */
static void a_screenshot_is_the_newest_picture_and_black_while_away(void **s)
{
    static uint32_t picture[64 * 32], cursor[16 * 16];
    struct tp_image image = {0};
    struct tp_error e = {.err = 0};
    (void)s;
    for (unsigned i = 0; i < 64 * 32; i++)
        picture[i] = 0x123456;
    for (unsigned i = 0; i < 16 * 16; i++)
        cursor[i] = 0xffabcdef;
    guest_init(&g, 31, 1, 60000);
    assert_int_equal(g.panel->ops->look(g.panel, &image, &e), 0); /* before there is any */
    assert_int_equal(image.width, 64);
    assert_int_equal(image.pixels[0], 0);
    tp_image_finish(&image);
    assert_int_equal(pwrite(g.buffers[0].info.fds[0], picture, sizeof picture, 0), sizeof picture);
    assert_int_equal(
        pwrite(g.buffers[GUEST_BUFFERS].info.fds[0], cursor, sizeof cursor, 0), sizeof cursor);
    steps(2);
    guest_publish(&g, 0, GUEST_BUFFERS, false);
    steps(3);
    assert_int_equal(g.panel->ops->look(g.panel, &image, &e), 0);
    assert_int_equal(image.pixels[15 * 64 + 15], 0xabcdef);
    assert_int_equal(image.pixels[15 * 64 + 16], 0x123456);
    assert_int_equal(image.pixels[31 * 64 + 63], 0x123456);
    tp_image_finish(&image);
    tp_panel_android_pause(g.panel);
    assert_int_equal(g.panel->ops->look(g.panel, &image, &e), 0);
    assert_int_equal(image.pixels[31 * 64 + 63], 0);
    tp_image_finish(&image);
    tp_panel_android_resume(g.panel);
    g.buffers[0].info.modifier = DRM_FORMAT_MOD_QCOM_COMPRESSED;
    assert_int_equal(g.panel->ops->look(g.panel, &image, &e), -ENOTSUP);
    assert_null(image.pixels);
    g.buffers[0].info.modifier = 0;
    end();
}

static void copied_pixels_change_red_and_blue(void **s)
{
    static const uint8_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {3, 2, 1, 4, 7, 6, 5, 8};
    struct tp_kms_fb_info fb = {
        .width = 1, .height = 2, .fourcc = DRM_FORMAT_ARGB8888, .pitches = {4}};
    uint8_t row[4], out[8];
    int pipe_fds[2];
    (void)s;
    fb.fds[0] = memfd_create("pixels", MFD_CLOEXEC);
    assert_int_equal(write(fb.fds[0], from, sizeof from), sizeof from);
    for (unsigned plain = 0; plain < 2; plain++) {
        guest_plain_memory = plain;
        memset(out, 0, sizeof out);
        assert_int_equal(tp_android_copy_pixels(&fb, 4, row, out, 4), 0);
        assert_memory_equal(out, to, sizeof to);
        assert_int_equal(ftruncate(fb.fds[0], 4), 0); /* the guest shrinks it */
        assert_int_equal(tp_android_copy_pixels(&fb, 4, row, out, 4), -EIO);
        assert_int_equal(pwrite(fb.fds[0], from, sizeof from, 0), sizeof from);
    }
    guest_plain_memory = false;
    close(fb.fds[0]);
    assert_int_equal(pipe(pipe_fds), 0); /* what has no size is no picture */
    fb.fds[0] = pipe_fds[0];
    assert_int_equal(tp_android_copy_pixels(&fb, 4, row, out, 4), -EIO);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

/* --- with the clock, and each on its own thread --- */

static atomic_uint live_ticks, live_released;

static void live_tick(void *data, const struct tp_panel_tick *t)
{
    (void)data;
    (void)t;
    live_ticks++;
}

static void live_release(void *data, uint64_t serial, unsigned layer, int fence)
{
    (void)data;
    (void)serial;
    (void)layer;
    if (fence >= 0)
        close(fence);
    live_released++;
}

static void live_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    (void)data;
    (void)serial;
    (void)first_line_ns;
}

static void live_away(void *data, bool away)
{
    (void)data;
    (void)away;
}

static void it_works_by_the_clock(void **s)
{
    static const struct tp_panel_events events = {live_tick, live_release, live_shown, live_away, NULL};
    struct tp_panel_android_config config = {.mode = {64, 32, 60000}};
    struct tp_error e = {.err = 0};
    (void)s;
    guest_init(&g, 33, 1, 60000);
    g.panel->ops->destroy(g.panel);
    double_run_until(double_now() + 100000000);
    double_live(true);
    assert_int_equal(tp_panel_android_create(&config, &g.panel, &e), 0);
    tp_panel_android_set_window(g.panel, g.window);
    assert_int_equal(g.panel->ops->start(g.panel, &events, NULL, &e), 0);
    for (unsigned i = 0; i < 30; i++) {
        unsigned before = live_ticks;
        for (unsigned wait = 0; wait < 500 && live_ticks == before; wait++)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
        assert_true(live_ticks > before);
        guest_publish(&g, (int)(i % GUEST_BUFFERS), -1, false);
    }
    for (unsigned wait = 0; wait < 1000 && live_released < 29; wait++)
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    assert_int_equal(live_released, 29);
    g.panel->ops->destroy(g.panel);
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    double_live(false);
    double_run_until(double_now() + 500000000);
    double_window_destroy(g.window);
    for (unsigned i = 0; i < GUEST_BUFFERS + GUEST_CURSORS; i++) {
        assert_int_equal(g.buffers[i].refs, 0);
        close(g.buffers[i].info.fds[0]);
    }
    assert_int_equal(seen().layers, 0);
    assert_int_equal(seen().buffers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_shown_and_the_one_before_comes_back),
        cmocka_unit_test(a_picture_that_is_dropped_unshown_does_not_release_what_it_replaced),
        cmocka_unit_test(newer_calls_are_used_where_they_are),
        cmocka_unit_test(without_a_call_there_is_no_panel_and_it_says_which),
        cmocka_unit_test(a_hidden_app_keeps_no_buffer_and_comes_back_with_its_picture),
        cmocka_unit_test(a_guest_goes_on_while_the_app_is_hidden),
        cmocka_unit_test(refreshes_go_on_while_the_screen_is_dark),
        cmocka_unit_test(
            a_surface_that_is_destroyed_is_left_at_once_and_the_next_one_shows_the_picture),
        cmocka_unit_test(another_display_shows_the_picture_and_the_guest_has_gone_on),
        cmocka_unit_test(a_turned_surface_has_the_picture_in_its_middle),
        cmocka_unit_test(a_change_of_the_refresh_rate_is_followed),
        cmocka_unit_test(late_releases_do_not_slow_the_refreshes),
        cmocka_unit_test(pictures_stay_for_equal_times_on_a_screen_that_is_faster),
        cmocka_unit_test(a_frame_timeline_takes_the_place_of_a_desired_time),
        cmocka_unit_test(what_was_latched_is_shown_however_late_it_is_complete),
        cmocka_unit_test(slow_completions_are_no_reason_to_copy),
        cmocka_unit_test(what_the_allocator_refuses_is_copied_and_tried_again_after_a_resume),
        cmocka_unit_test(memory_that_is_no_dmabuf_is_copied),
        cmocka_unit_test(a_phone_that_does_not_show_guests_buffers_gets_copies),
        cmocka_unit_test(a_phone_that_shows_nothing_any_more_gets_new_layers),
        cmocka_unit_test(a_repaint_shows_the_picture_again_and_it_comes_back_once),
        cmocka_unit_test(a_cursor_has_a_layer_of_its_own_and_leaves_it),
        cmocka_unit_test(callbacks_after_the_end_leave_no_descriptor),
        cmocka_unit_test(hdr_pictures_are_passed_on_where_that_is_wanted),
        cmocka_unit_test(a_screenshot_is_the_newest_picture_and_black_while_away),
        cmocka_unit_test(copied_pixels_change_red_and_blue),
        cmocka_unit_test(it_works_by_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
