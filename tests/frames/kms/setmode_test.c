/* Legacy modesetting and what is there to set (drm_crtc.c, drm_connector.c, drm_mode_config.c;
 * IGT's kms_setmode). */
#include "harness.h"

static struct output o;

static int setup_dark(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    return 0;
}

static uint32_t fb_for(const struct drm_mode_modeinfo *m)
{
    return fb_of(card, m->hdisplay, m->vdisplay, DRM_FORMAT_XRGB8888);
}

static void crtc_shows(uint32_t crtc, uint32_t fb, const struct drm_mode_modeinfo *m)
{
    struct drm_mode_crtc c;
    assert_ok(get_crtc(card, crtc, &c));
    assert_int_equal(c.fb_id, fb);
    assert_int_equal(c.mode_valid, m != NULL);
    if (!m)
        return;
    assert_int_equal(c.mode.clock, m->clock);
    assert_int_equal(c.mode.hdisplay, m->hdisplay);
    assert_int_equal(c.mode.vdisplay, m->vdisplay);
    assert_int_equal(c.mode.htotal, m->htotal);
    assert_int_equal(c.mode.vtotal, m->vtotal);
    assert_string_equal(c.mode.name, m->name);
}

static void every_mode_of_every_connector_is_set(void **state)
{
    (void)state;
    struct output out;
    for (unsigned n = 0; find_output(card, n, &out); n++)
        for (unsigned i = 0; i < out.n_modes && i < 8; i++) {
            uint32_t fb = fb_for(&out.modes[i]);
            assert_ok(set_crtc(card, out.crtc, fb, 0, 0, &out.connector, 1, &out.modes[i]));
            crtc_shows(out.crtc, fb, &out.modes[i]);
            if (!is_real()) {
                assert_int_equal(shown(out.index)->mode.width_px, out.modes[i].hdisplay);
                assert_int_equal(shown(out.index)->mode.refresh_mhz, refresh_mhz(&out.modes[i]));
            }
            assert_ok(set_crtc(card, out.crtc, 0, 0, 0, NULL, 0, NULL));
            crtc_shows(out.crtc, 0, NULL);
            assert_ok(remove_fb(card, fb));
        }
}

static void two_screens_show_their_own(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    uint32_t a = fb_for(&o.modes[0]), b = fb_for(&second.modes[0]);
    assert_ok(set_crtc(card, o.crtc, a, 0, 0, &o.connector, 1, &o.modes[0]));
    assert_ok(set_crtc(card, second.crtc, b, 0, 0, &second.connector, 1, &second.modes[0]));
    crtc_shows(o.crtc, a, &o.modes[0]);
    crtc_shows(second.crtc, b, &second.modes[0]);
    assert_ok(set_crtc(card, o.crtc, 0, 0, 0, NULL, 0, NULL));
    crtc_shows(o.crtc, 0, NULL);
    crtc_shows(second.crtc, b, &second.modes[0]);
}

/* Each encoder has its own CRTC, and none is a clone of another. */
static void a_crtc_drives_no_second_connector(void **state)
{
    (void)state;
    struct output second;
    if (!find_output(card, 1, &second))
        skip();
    uint32_t fb = fb_for(&o.modes[0]);
    const uint32_t both[] = {o.connector, second.connector};
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, both, 2, &o.modes[0]), EINVAL);
    assert_errno(set_crtc(card, second.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]), EINVAL);
    crtc_shows(o.crtc, 0, NULL);
}

static void a_mode_needs_connectors(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, NULL, 0, &o.modes[0]), EINVAL);
}

static void connectors_need_a_mode(void **state)
{
    (void)state;
    assert_errno(set_crtc(card, o.crtc, 0, 0, 0, &o.connector, 1, NULL), EINVAL);
}

static void more_connectors_than_there_are_is_refused(void **state)
{
    (void)state;
    uint32_t ids[9];
    for (unsigned i = 0; i < COUNT(ids); i++)
        ids[i] = o.connector;
    uint32_t fb = fb_for(&o.modes[0]);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, ids, COUNT(ids), &o.modes[0]), EINVAL);
}

static void connectors_without_an_address_are_a_fault(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, NULL, 1, &o.modes[0]), EFAULT);
}

static void objects_that_are_none_are_not_found(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]), none = 0x7fff0000;
    assert_errno(set_crtc(card, none, fb, 0, 0, &o.connector, 1, &o.modes[0]), ENOENT);
    assert_errno(set_crtc(card, o.primary, fb, 0, 0, &o.connector, 1, &o.modes[0]), ENOENT);
    assert_errno(set_crtc(card, o.crtc, none, 0, 0, &o.connector, 1, &o.modes[0]), ENOENT);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &none, 1, &o.modes[0]), ENOENT);
    struct drm_mode_crtc c;
    assert_errno(get_crtc(card, none, &c), ENOENT);
    assert_errno(get_crtc(card, o.connector, &c), ENOENT);
    struct drm_mode_get_encoder e = {.encoder_id = none};
    assert_errno(drm(card, DRM_IOCTL_MODE_GETENCODER, &e), ENOENT);
    struct drm_mode_get_connector conn = {.connector_id = none};
    assert_errno(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &conn), ENOENT);
    conn.connector_id = o.crtc;
    assert_errno(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &conn), ENOENT);
    struct drm_mode_get_plane p;
    assert_errno(get_plane(card, none, &p), ENOENT);
    assert_errno(get_plane(card, o.crtc, &p), ENOENT);
}

static void the_current_framebuffer_may_be_kept(void **state)
{
    (void)state;
    unsigned smaller = 1;
    while (smaller < o.n_modes && (o.modes[smaller].hdisplay > o.modes[0].hdisplay ||
                                   o.modes[smaller].vdisplay > o.modes[0].vdisplay))
        smaller++;
    if (smaller >= o.n_modes)
        skip();
    assert_errno(set_crtc(card, o.crtc, UINT32_MAX, 0, 0, &o.connector, 1, &o.modes[0]), EINVAL);
    uint32_t fb = fb_for(&o.modes[0]);
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]));
    assert_ok(set_crtc(card, o.crtc, UINT32_MAX, 0, 0, &o.connector, 1, &o.modes[smaller]));
    crtc_shows(o.crtc, fb, &o.modes[smaller]);
}

static void a_framebuffer_smaller_than_the_mode_is_no_space(void **state)
{
    (void)state;
    const struct drm_mode_modeinfo *m = &o.modes[0];
    uint32_t less = fb_of(card, m->hdisplay - 1u, m->vdisplay, DRM_FORMAT_XRGB8888);
    assert_errno(set_crtc(card, o.crtc, less, 0, 0, &o.connector, 1, m), ENOSPC);
    uint32_t fb = fb_for(m);
    assert_errno(set_crtc(card, o.crtc, fb, 1, 0, &o.connector, 1, m), ENOSPC);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 1, &o.connector, 1, m), ENOSPC);
}

static void a_larger_one_is_panned_over(void **state)
{
    (void)state;
    const struct drm_mode_modeinfo *m = &o.modes[0];
    uint32_t fb = fb_of(card, m->hdisplay + 64u, m->vdisplay + 32u, DRM_FORMAT_XRGB8888);
    for (uint32_t x = 0; x <= 64; x += 32) {
        assert_ok(set_crtc(card, o.crtc, fb, x, x / 2, &o.connector, 1, m));
        struct drm_mode_crtc c;
        assert_ok(get_crtc(card, o.crtc, &c));
        assert_int_equal(c.x, x);
        assert_int_equal(c.y, x / 2);
        if (!is_real())
            assert_int_equal(shown(o.index)->layers[0].src_x, x << 16);
    }
    assert_errno(set_crtc(card, o.crtc, fb, 65, 0, &o.connector, 1, m), ENOSPC);
}

static void panning_over_65535_is_out_of_range(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    assert_errno(set_crtc(card, o.crtc, fb, 1 << 16, 0, &o.connector, 1, &o.modes[0]), ERANGE);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 1 << 16, &o.connector, 1, &o.modes[0]), ERANGE);
}

static void modes_that_are_none_are_refused(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    struct drm_mode_modeinfo bad = o.modes[0];
    bad.clock = 0;
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &bad), EINVAL);
    bad = o.modes[0];
    bad.htotal = (uint16_t)(bad.hdisplay - 1);
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &bad), EINVAL);
    bad = o.modes[0];
    bad.flags |= 1u << 31;
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &bad), EINVAL);
    bad = o.modes[0];
    bad.clock = (uint32_t)INT32_MAX + 1;
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &bad), ERANGE);
}

/* A panel has the modes that it lists (its driver's mode_valid). */
static void modes_that_are_not_listed_are_refused(void **state)
{
    (void)state;
    only_ours(); /* vkms takes any */
    uint32_t fb = fb_for(&o.modes[0]);
    struct drm_mode_modeinfo other = o.modes[0];
    other.clock += 1000;
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &other), EINVAL);
    /* Timings make it, not its name: drm_mode_equal. */
    other = o.modes[0];
    strcpy(other.name, "mine");
    other.type = DRM_MODE_TYPE_USERDEF;
    other.vrefresh = 0;
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &other));
}

static void aspect_ratio_bits_need_their_capability(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    struct drm_mode_modeinfo m = o.modes[0];
    m.flags |= DRM_MODE_FLAG_PIC_AR_16_9;
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ASPECT_RATIO, 0));
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &m), EINVAL);
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ASPECT_RATIO, 1));
    m.flags |= 15 << 19; /* none that there is */
    assert_errno(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &m), EINVAL);
}

static void a_format_that_the_primary_plane_lacks_is_refused(void **state)
{
    (void)state;
    struct drm_mode_get_plane p;
    assert_ok(get_plane(card, o.primary, &p));
    uint32_t formats[64];
    p.format_type_ptr = PTR(formats);
    p.count_format_types = COUNT(formats);
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPLANE, &p));
    assert_in_range(p.count_format_types, 1, COUNT(formats));
    bool xrgb = false;
    for (unsigned i = 0; i < p.count_format_types; i++)
        xrgb |= formats[i] == DRM_FORMAT_XRGB8888;
    assert_true(xrgb);
}

static void switching_off_needs_nothing(void **state)
{
    (void)state;
    assert_ok(set_crtc(card, o.crtc, 0, 0, 0, NULL, 0, NULL));
    uint32_t fb = fb_for(&o.modes[0]);
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]));
    assert_ok(set_crtc(card, o.crtc, 0, 0, 0, NULL, 0, NULL));
    crtc_shows(o.crtc, 0, NULL);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 0);
    assert_int_equal(property_value(card, o.connector, "CRTC_ID"), 0);
    struct drm_mode_get_encoder e = {.encoder_id = o.encoder};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETENCODER, &e));
    assert_int_equal(e.crtc_id, 0);
    if (!is_real())
        assert_false(shown(o.index)->active);
}

static void setting_a_mode_switches_dpms_on(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]));
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", 3));
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]));
    assert_int_equal(property_value(card, o.connector, "DPMS"), 0);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
}

static void the_screen_goes_dark_with_its_client(void **state)
{
    (void)state;
    uint32_t fb = fb_for(&o.modes[0]);
    assert_ok(set_crtc(card, o.crtc, fb, 0, 0, &o.connector, 1, &o.modes[0]));
    struct file *other = card_open();
    card_close(card);
    card = other;
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1));
    struct drm_mode_crtc c;
    assert_ok(get_crtc(card, o.crtc, &c));
    assert_int_equal(c.fb_id, 0);
    struct drm_mode_get_plane p;
    assert_ok(get_plane(card, o.primary, &p));
    assert_int_equal(p.fb_id, 0);
}

static void resources_are_told_as_far_as_there_is_room(void **state)
{
    (void)state;
    struct drm_mode_card_res counts = {0};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETRESOURCES, &counts));
    assert_in_range(counts.count_crtcs, 1, 8);
    assert_int_equal(counts.count_fbs, 0);
    uint32_t ids[2] = {0, 0x77777777};
    struct drm_mode_card_res one = {.crtc_id_ptr = PTR(ids), .count_crtcs = 1};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETRESOURCES, &one));
    assert_int_equal(one.count_crtcs, counts.count_crtcs);
    assert_int_not_equal(ids[0], 0);
    assert_int_equal(ids[1], 0x77777777);
    assert_true(counts.max_width >= o.modes[0].hdisplay && counts.min_width <= 640);
}

static void modes_are_told_only_if_all_have_room(void **state)
{
    (void)state;
    if (o.n_modes < 2)
        skip();
    struct drm_mode_modeinfo modes[64];
    memset(modes, 0x77, sizeof modes);
    struct drm_mode_get_connector c = {.connector_id = o.connector, .modes_ptr = PTR(modes),
                                       .count_modes = 1};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &c));
    assert_true(c.count_modes > 1);
    assert_int_equal(modes[0].clock, 0x77777777);
    c = (struct drm_mode_get_connector){.connector_id = o.connector, .modes_ptr = PTR(modes),
                                        .count_modes = COUNT(modes)};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &c));
    assert_int_not_equal(modes[0].clock, 0x77777777);
    assert_true(modes[0].type & DRM_MODE_TYPE_PREFERRED || is_real());
}

static void a_probe_is_anyones_and_tells_the_same(void **state)
{
    (void)state;
    struct drm_mode_get_connector a = {.connector_id = o.connector}, b = a;
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &a));
    assert_ok(drm(card_open(), DRM_IOCTL_MODE_GETCONNECTOR, &b));
    assert_int_equal(a.count_modes, b.count_modes);
    assert_int_equal(a.connection, b.connection);
    assert_int_equal(a.connector_type, b.connector_type);
    assert_int_equal(a.connector_type_id, 1);
    assert_int_equal(a.count_encoders, 1);
}

static void planes_tell_their_crtcs_and_formats(void **state)
{
    (void)state;
    struct drm_mode_get_plane p;
    assert_ok(get_plane(card, o.primary, &p));
    assert_int_equal(p.possible_crtcs, 1u << o.index);
    assert_int_equal(p.gamma_size, 0);
    uint32_t n = p.count_format_types, formats[64];
    assert_in_range(n, 1, 64);
    memset(formats, 0x77, sizeof formats);
    p.format_type_ptr = PTR(formats);
    p.count_format_types = n - 1;
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPLANE, &p));
    assert_int_equal(p.count_format_types, n);
    assert_int_equal(formats[0], 0x77777777); /* all or none */
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPLANE, &p));
    for (unsigned i = 0; i < n; i++)
        assert_int_not_equal(formats[i], 0x77777777);
}

#define dark(name) cmocka_unit_test_setup_teardown(name, setup_dark, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        dark(every_mode_of_every_connector_is_set),
        dark(two_screens_show_their_own),
        dark(a_crtc_drives_no_second_connector),
        dark(a_mode_needs_connectors),
        dark(connectors_need_a_mode),
        dark(more_connectors_than_there_are_is_refused),
        dark(connectors_without_an_address_are_a_fault),
        dark(objects_that_are_none_are_not_found),
        dark(the_current_framebuffer_may_be_kept),
        dark(a_framebuffer_smaller_than_the_mode_is_no_space),
        dark(a_larger_one_is_panned_over),
        dark(panning_over_65535_is_out_of_range),
        dark(modes_that_are_none_are_refused),
        dark(modes_that_are_not_listed_are_refused),
        dark(aspect_ratio_bits_need_their_capability),
        dark(a_format_that_the_primary_plane_lacks_is_refused),
        dark(switching_off_needs_nothing),
        dark(setting_a_mode_switches_dpms_on),
        dark(the_screen_goes_dark_with_its_client),
        dark(resources_are_told_as_far_as_there_is_room),
        dark(modes_are_told_only_if_all_have_room),
        dark(a_probe_is_anyones_and_tells_the_same),
        dark(planes_tell_their_crtcs_and_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
