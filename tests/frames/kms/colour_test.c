/* Gamma, variable refresh, HDR and colour spaces (drm_color_mgmt.c, drm_connector.c). */
#include "harness.h"

static struct output o, second;

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    find_output(card, 1, &second);
    light_up(card, &o, 0);
    return 0;
}

static int one(uint32_t object, const char *property, uint64_t value)
{
    struct request r = {0};
    add(&r, card, object, property, value);
    return commit(card, &r, 0, 0);
}

static int gamma_call(unsigned long request, uint32_t size, uint16_t *red, uint16_t *green,
                      uint16_t *blue)
{
    struct drm_mode_crtc_lut l = {.crtc_id = o.crtc, .gamma_size = size, .red = PTR(red),
                                  .green = PTR(green), .blue = PTR(blue)};
    return drm(card, request, &l);
}

static uint32_t gamma_size(void)
{
    struct drm_mode_crtc c;
    assert_ok(get_crtc(card, o.crtc, &c));
    return c.gamma_size;
}

static void gamma_is_read_as_it_was_written(void **state)
{
    (void)state;
    uint32_t n = gamma_size();
    assert_in_range(n, 2, 4096);
    static uint16_t red[4096], green[4096], blue[4096], r[4096], g[4096], b[4096];
    for (uint32_t i = 0; i < n; i++) {
        red[i] = (uint16_t)(i * 65535 / (n - 1));
        green[i] = (uint16_t)(65535 - red[i]);
        blue[i] = (uint16_t)(i * 3);
    }
    assert_ok(gamma_call(DRM_IOCTL_MODE_SETGAMMA, n, red, green, blue));
    assert_ok(gamma_call(DRM_IOCTL_MODE_GETGAMMA, n, r, g, b));
    assert_memory_equal(r, red, n * 2);
    assert_memory_equal(g, green, n * 2);
    assert_memory_equal(b, blue, n * 2);
}

static void gamma_has_one_size(void **state)
{
    (void)state;
    static uint16_t lut[4096];
    uint32_t n = gamma_size();
    assert_errno(gamma_call(DRM_IOCTL_MODE_SETGAMMA, n - 1, lut, lut, lut), EINVAL);
    assert_errno(gamma_call(DRM_IOCTL_MODE_SETGAMMA, n + 1, lut, lut, lut), EINVAL);
    assert_errno(gamma_call(DRM_IOCTL_MODE_GETGAMMA, n - 1, lut, lut, lut), EINVAL);
    assert_errno(gamma_call(DRM_IOCTL_MODE_SETGAMMA, n, lut, NULL, lut), EFAULT);
    assert_errno(gamma_call(DRM_IOCTL_MODE_GETGAMMA, n, lut, lut, NULL), EFAULT);
    struct drm_mode_crtc_lut l = {.crtc_id = o.primary, .gamma_size = n};
    l.red = l.green = l.blue = PTR(lut);
    assert_errno(drm(card, DRM_IOCTL_MODE_SETGAMMA, &l), ENOENT);
    assert_errno(drm(card, DRM_IOCTL_MODE_GETGAMMA, &l), ENOENT);
}

/* drm_crtc_legacy_gamma_set makes a blob of it. */
static void the_old_gamma_is_the_property(void **state)
{
    (void)state;
    uint32_t n = gamma_size();
    static uint16_t lut[4096];
    for (uint32_t i = 0; i < n; i++)
        lut[i] = (uint16_t)(i * 5);
    assert_ok(gamma_call(DRM_IOCTL_MODE_SETGAMMA, n, lut, lut, lut));
    uint64_t id = property_value(card, o.crtc, "GAMMA_LUT");
    assert_int_not_equal(id, 0);
    uint32_t length;
    struct drm_color_lut *read = read_blob(card, (uint32_t)id, &length);
    assert_int_equal(length, n * sizeof *read);
    assert_int_equal(read[n - 1].green, lut[n - 1]);
    test_free(read);
    assert_ok(one(o.crtc, "GAMMA_LUT", 0));
    assert_int_equal(property_value(card, o.crtc, "GAMMA_LUT"), 0);
}

static void the_gamma_property_takes_whole_entries(void **state)
{
    (void)state;
    static struct drm_color_lut lut[4096];
    uint32_t n = (uint32_t)property_value(card, o.crtc, "GAMMA_LUT_SIZE");
    assert_in_range(n, 2, 4096);
    uint32_t good = create_blob(card, lut, (uint32_t)(n * sizeof *lut));
    uint32_t bad = create_blob(card, lut, (uint32_t)(n * sizeof *lut) - 1);
    assert_ok(one(o.crtc, "GAMMA_LUT", good));
    assert_int_equal(property_value(card, o.crtc, "GAMMA_LUT"), good);
    assert_errno(one(o.crtc, "GAMMA_LUT", bad), EINVAL);
    assert_errno(one(o.crtc, "GAMMA_LUT", o.primary), EINVAL);
    assert_int_equal(property_value(card, o.crtc, "GAMMA_LUT"), good);
    assert_ok(one(o.crtc, "GAMMA_LUT", 0));
}

static void variable_refresh_is_offered_where_there_is_a_range(void **state)
{
    (void)state;
    only_ours();
    assert_int_equal(property_value(card, o.connector, "vrr_capable"), 1);
    uint64_t value = 0;
    if (get_property(card, second.connector, DRM_MODE_OBJECT_CONNECTOR, "vrr_capable", NULL,
                     &value))
        assert_int_equal(value, 0);
    assert_errno(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "vrr_capable", 1),
                 EINVAL);
}

static void variable_refresh_is_switched_on_and_off(void **state)
{
    (void)state;
    assert_int_equal(property_value(card, o.crtc, "VRR_ENABLED"), 0);
    assert_ok(one(o.crtc, "VRR_ENABLED", 1));
    assert_int_equal(property_value(card, o.crtc, "VRR_ENABLED"), 1);
    if (!is_real()) {
        assert_true(shown(o.index)->vrr);
        assert_false(shown(o.index)->modeset);
    }
    assert_errno(one(o.crtc, "VRR_ENABLED", 2), EINVAL);
    assert_ok(one(o.crtc, "VRR_ENABLED", 0));
    if (!is_real())
        assert_false(shown(o.index)->vrr);
}

/* Every atomic CRTC has the property (drm_crtc.c); where the screen has no range it means nothing.
 * */
static void variable_refresh_without_a_range_is_only_noted(void **state)
{
    (void)state;
    only_ours();
    light_up(card, &second, 0);
    assert_ok(one(second.crtc, "VRR_ENABLED", 1));
    assert_int_equal(property_value(card, second.crtc, "VRR_ENABLED"), 1);
    assert_false(shown(second.index)->vrr);
}

static uint32_t hdr_blob(uint32_t less)
{
    struct hdr_output_metadata m = {0};
    m.metadata_type = 0; /* HDMI_STATIC_METADATA_TYPE1 */
    m.hdmi_metadata_type1.eotf = 2; /* SMPTE ST 2084 */
    m.hdmi_metadata_type1.max_display_mastering_luminance = 1000;
    m.hdmi_metadata_type1.max_cll = 800;
    return create_blob(card, &m, (uint32_t)sizeof m - less);
}

static void hdr_metadata_reaches_the_screen(void **state)
{
    (void)state;
    only_ours();
    uint32_t blob = hdr_blob(0);
    assert_ok(one(o.connector, "HDR_OUTPUT_METADATA", blob));
    assert_int_equal(property_value(card, o.connector, "HDR_OUTPUT_METADATA"), blob);
    const struct tp_kms_scanout *s = shown(o.index);
    assert_non_null(s->hdr_metadata);
    assert_int_equal(s->hdr_metadata_bytes, sizeof(struct hdr_output_metadata));
    struct hdr_output_metadata m;
    memcpy(&m, s->hdr_metadata, sizeof m);
    assert_int_equal(m.hdmi_metadata_type1.max_cll, 800);
    assert_ok(destroy_blob(card, blob)); /* the connector keeps it */
    assert_int_equal(property_value(card, o.connector, "HDR_OUTPUT_METADATA"), blob);
    assert_ok(one(o.connector, "HDR_OUTPUT_METADATA", 0));
    assert_null(shown(o.index)->hdr_metadata);
}

static void hdr_metadata_has_one_size(void **state)
{
    (void)state;
    only_ours();
    assert_errno(one(o.connector, "HDR_OUTPUT_METADATA", hdr_blob(1)), EINVAL);
    assert_errno(one(o.connector, "HDR_OUTPUT_METADATA", o.crtc), EINVAL);
    assert_int_equal(property_value(card, o.connector, "HDR_OUTPUT_METADATA"), 0);
}

static void hdr_is_only_where_the_screen_has_it(void **state)
{
    (void)state;
    only_ours();
    assert_false(get_property(card, second.connector, DRM_MODE_OBJECT_CONNECTOR,
                              "HDR_OUTPUT_METADATA", NULL, NULL));
    assert_false(get_property(card, second.connector, DRM_MODE_OBJECT_CONNECTOR, "Colorspace", NULL,
                              NULL));
}

static void colour_spaces_go_by_the_kernels_names(void **state)
{
    (void)state;
    only_ours();
    uint64_t values[32];
    struct drm_mode_property_enum enums[32];
    struct drm_mode_get_property p = {.prop_id = property_id(card, o.connector, "Colorspace"),
                                      .values_ptr = PTR(values),
                                      .count_values = 32,
                                      .enum_blob_ptr = PTR(enums),
                                      .count_enum_blobs = 32};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPROPERTY, &p));
    assert_in_range(p.count_enum_blobs, 2, 32);
    static const struct {
        const char *name;
        uint64_t value; /* enum drm_colorspace */
    } known[] = {{"Default", 0}, {"BT2020_RGB", 9}, {"BT2020_YCC", 10}};
    for (unsigned i = 0; i < COUNT(known); i++)
        for (unsigned j = 0; j < p.count_enum_blobs; j++)
            if (!strcmp(enums[j].name, known[i].name))
                assert_int_equal(enums[j].value, known[i].value);
    assert_int_equal(property_value(card, o.connector, "Colorspace"), 0);
    assert_ok(one(o.connector, "Colorspace", 9));
    assert_int_equal(shown(o.index)->colorspace, 9);
    assert_errno(one(o.connector, "Colorspace", 999), EINVAL);
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(gamma_is_read_as_it_was_written),
        lit(gamma_has_one_size),
        lit(the_old_gamma_is_the_property),
        lit(the_gamma_property_takes_whole_entries),
        lit(variable_refresh_is_offered_where_there_is_a_range),
        lit(variable_refresh_is_switched_on_and_off),
        lit(variable_refresh_without_a_range_is_only_noted),
        lit(hdr_metadata_reaches_the_screen),
        lit(hdr_metadata_has_one_size),
        lit(hdr_is_only_where_the_screen_has_it),
        lit(colour_spaces_go_by_the_kernels_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
