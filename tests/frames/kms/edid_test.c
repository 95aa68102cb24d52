/* What a screen says about itself: its EDID (VESA E-EDID 1.4, CTA-861) and its modes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"

static struct output o;

static int setup_output(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    return 0;
}

static uint8_t *edid_of(uint32_t connector, uint32_t *length)
{
    uint64_t id = property_value(card, connector, "EDID");
    assert_int_not_equal(id, 0);
    return read_blob(card, (uint32_t)id, length);
}

static void each_block_sums_up_to_0(void **state)
{
    (void)state;
    only_ours(); /* vkms has none */
    struct output each;
    for (unsigned n = 0; find_output(card, n, &each); n++) {
        uint32_t length;
        uint8_t *e = edid_of(each.connector, &length);
        assert_true(length >= 128 && length % 128 == 0);
        assert_int_equal(length, 128 * (1 + e[126]));
        static const uint8_t head[8] = {0, 255, 255, 255, 255, 255, 255, 0};
        assert_memory_equal(e, head, 8);
        assert_int_equal(e[18], 1);
        assert_in_range(e[19], 3, 4);
        for (uint32_t block = 0; block < length; block += 128) {
            uint8_t sum = 0;
            for (uint32_t i = 0; i < 128; i++)
                sum = (uint8_t)(sum + e[block + i]);
            assert_int_equal(sum, 0);
        }
        test_free(e);
    }
}

static void the_first_timing_is_the_preferred_mode(void **state)
{
    (void)state;
    only_ours();
    uint32_t length;
    uint8_t *e = edid_of(o.connector, &length);
    const uint8_t *d = e + 54;
    const struct drm_mode_modeinfo *m = &o.modes[0];
    assert_true(m->type & DRM_MODE_TYPE_PREFERRED);
    assert_in_range((d[0] | d[1] << 8) * 10 + 5 - (int)m->clock, 0, 10); /* in 10 kHz */
    assert_int_equal(d[2] | (d[4] & 0xf0) << 4, m->hdisplay);
    assert_int_equal(d[3] | (d[4] & 0x0f) << 8, m->htotal - m->hdisplay);
    assert_int_equal(d[5] | (d[7] & 0xf0) << 4, m->vdisplay);
    assert_int_equal(d[6] | (d[7] & 0x0f) << 8, m->vtotal - m->vdisplay);
    assert_int_equal(d[12] | (d[14] & 0xf0) << 4, 160); /* mm */
    assert_int_equal(d[13] | (d[14] & 0x0f) << 8, 90);
    test_free(e);
}

static void its_name_is_the_configured_one(void **state)
{
    (void)state;
    only_ours();
    uint32_t length;
    uint8_t *e = edid_of(o.connector, &length);
    bool found = false;
    for (unsigned at = 54; at < 126; at += 18)
        if (e[at] == 0 && e[at + 1] == 0 && e[at + 3] == 0xfc)
            found = !memcmp(e + at + 5, "First\n", 6);
    assert_true(found);
    test_free(e);
}

/* Runs a program over each screen's EDID: its exit status, or -1 where it is not installed. What it
 * says from its warnings on goes to the log when it fails. */
static int judge(const char *program, const char *options)
{
    char command[256];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    if (system(command) != 0)
        return -1;
    int worst = 0;
    struct output each;
    for (unsigned n = 0; find_output(card, n, &each); n++) {
        uint32_t length;
        uint8_t *e = edid_of(each.connector, &length);
        char path[] = "/tmp/edid.XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, e, length), length);
        close(fd);
        test_free(e);
        snprintf(command, sizeof command, "%s %s %s >%s.txt 2>&1", program, options, path, path);
        int r = system(command);
        if (r != 0) {
            snprintf(command, sizeof command, "sed -n '/^Warnings/,$p' %s.txt >&2", path);
            assert_int_equal(system(command), 0);
            worst = 1;
        }
        unlink(path);
        snprintf(command, sizeof command, "%s.txt", path);
        unlink(command);
    }
    return worst;
}

static void edid_decode_finds_nothing_wrong(void **state)
{
    (void)state;
    only_ours();
    int r = judge("edid-decode", "--check"); /* 0: no failures */
    if (r < 0)
        skip();
    assert_int_equal(r, 0);
}

/* libdisplay-info's own program. */
static void libdisplay_info_reads_it(void **state)
{
    (void)state;
    only_ours();
    int r = judge("di-edid-decode", "");
    if (r < 0)
        skip();
    assert_int_equal(r, 0);
}

/* HDR static metadata: CTA-861's extended data block 6, with SMPTE ST 2084 in its EOTFs; CTA data
 * blocks start at byte 4 of an extension of tag 2. */
static bool offers_pq(const uint8_t *e, uint32_t length)
{
    for (uint32_t b = 128; b + 128 <= length; b += 128) {
        if (e[b] != 2)
            continue;
        for (unsigned i = 4; i < e[b + 2]; i += 1 + (e[b + i] & 0x1f))
            if (e[b + i] >> 5 == 7 && e[b + i + 1] == 6)
                return e[b + i + 2] & 1 << 2;
    }
    return false;
}

static void the_edid_says_whether_there_is_hdr(void **state)
{
    (void)state;
    only_ours();
    struct output second;
    assert_true(find_output(card, 1, &second));
    uint32_t length;
    uint8_t *e = edid_of(o.connector, &length);
    assert_true(offers_pq(e, length));
    test_free(e);
    e = edid_of(second.connector, &length);
    assert_false(offers_pq(e, length));
    test_free(e);
}

static void the_edid_says_the_range_of_refreshes(void **state)
{
    (void)state;
    only_ours();
    uint32_t length;
    uint8_t *e = edid_of(o.connector, &length);
    bool found = false;
    for (unsigned at = 54; at < 126; at += 18)
        if (e[at] == 0 && e[at + 1] == 0 && e[at + 3] == 0xfd) {
            assert_int_equal(e[at + 5] + (e[at + 4] & 1 ? 255 : 0), 48);
            assert_int_equal(e[at + 6] + (e[at + 4] & 2 ? 255 : 0), 120);
            found = true;
        }
    assert_true(found);
    test_free(e);
}

static void refreshes_are_what_was_asked_for(void **state)
{
    (void)state;
    only_ours();
    static const uint32_t mhz[] = {60000, 120000, 59940};
    assert_int_equal(o.n_modes, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct drm_mode_modeinfo *m = &o.modes[i];
        /* As modetest prints it, to two places. */
        double hz = m->clock * 1000.0 / ((double)m->htotal * m->vtotal);
        char text[16], want[16];
        snprintf(text, sizeof text, "%.2f", hz);
        snprintf(want, sizeof want, "%.2f", mhz[i] / 1000.0);
        assert_string_equal(text, want);
        /* As wlroots and weston reckon, in mHz. */
        assert_in_range(refresh_mhz(m) + 5, mhz[i], mhz[i] + 10);
        /* As the kernel rounds it: drm_mode_vrefresh. */
        assert_int_equal(m->vrefresh, (mhz[i] + 500) / 1000);
    }
}

static void every_common_refresh_comes_out(void **state)
{
    (void)state;
    only_ours();
    teardown_card(state);
    static const uint32_t mhz[] = {24000, 30000, 48000, 50000, 59940, 60000, 72000, 75000,
                                   90000, 119880, 120000, 143856, 144000, 165000};
    static const struct {
        uint32_t width, height;
    } sizes[] = {{640, 480}, {1080, 2400}, {1440, 3200}, {2560, 1600}};
    for (unsigned s = 0; s < COUNT(sizes); s++) {
        struct tp_kms_config c = usual_config();
        c.n_outputs = 1;
        c.outputs[0].vrr_min_mhz = c.outputs[0].vrr_max_mhz = 0;
        c.outputs[0].n_modes = COUNT(mhz);
        for (unsigned i = 0; i < COUNT(mhz); i++)
            c.outputs[0].modes[i] =
                (struct tp_kms_mode){sizes[s].width, sizes[s].height, mhz[i]};
        setup_config(&c);
        assert_true(find_output(card, 0, &o));
        assert_int_equal(o.n_modes, COUNT(mhz));
        for (unsigned i = 0; i < COUNT(mhz); i++) {
            double want = mhz[i] / 1000.0;
            double hz = o.modes[i].clock * 1000.0 /
                        ((double)o.modes[i].htotal * o.modes[i].vtotal);
            if (fabs(hz - want) >= 0.005)
                fail_msg("%ux%u at %.3f Hz came out as %.4f", sizes[s].width, sizes[s].height,
                         want, hz);
        }
        if (s + 1 < COUNT(sizes))
            teardown_card(state);
    }
}

static void modes_are_named_and_sane(void **state)
{
    (void)state;
    for (unsigned i = 0; i < o.n_modes; i++) {
        const struct drm_mode_modeinfo *m = &o.modes[i];
        char name[DRM_DISPLAY_MODE_LEN];
        snprintf(name, sizeof name, "%ux%u", m->hdisplay, m->vdisplay);
        assert_memory_equal(m->name, name, strlen(name));
        assert_true(m->hdisplay <= m->hsync_start && m->hsync_start < m->hsync_end &&
                    m->hsync_end <= m->htotal);
        assert_true(m->vdisplay <= m->vsync_start && m->vsync_start < m->vsync_end &&
                    m->vsync_end <= m->vtotal);
    }
}

static void the_size_in_millimetres_is_told(void **state)
{
    (void)state;
    only_ours();
    struct drm_mode_get_connector c = {.connector_id = o.connector};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &c));
    assert_int_equal(c.mm_width, 160);
    assert_int_equal(c.mm_height, 90);
    assert_int_equal(c.connector_type, DRM_MODE_CONNECTOR_eDP);
}

#define edid(name) cmocka_unit_test_setup_teardown(name, setup_output, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        edid(each_block_sums_up_to_0),
        edid(the_first_timing_is_the_preferred_mode),
        edid(its_name_is_the_configured_one),
        edid(edid_decode_finds_nothing_wrong),
        edid(libdisplay_info_reads_it),
        edid(the_edid_says_whether_there_is_hdr),
        edid(the_edid_says_the_range_of_refreshes),
        edid(refreshes_are_what_was_asked_for),
        edid(every_common_refresh_comes_out),
        edid(modes_are_named_and_sane),
        edid(the_size_in_millimetres_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
