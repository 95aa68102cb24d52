/* DRM_IOCTL_VERSION and what else says who the card is (drm_ioctl.c; IGT's core_getversion). */
#include <stdio.h>

#include "harness.h"

static void a_version_has_a_name_a_date_and_a_description(void **state)
{
    (void)state;
    char name[64], date[64], desc[64];
    struct drm_version v = {.name = name, .name_len = sizeof name, .date = date,
                            .date_len = sizeof date, .desc = desc, .desc_len = sizeof desc};
    assert_ok(drm(card, DRM_IOCTL_VERSION, &v));
    assert_in_range(v.name_len, 1, sizeof name - 1);
    assert_in_range(v.date_len, 1, sizeof date - 1);
    assert_in_range(v.desc_len, 1, sizeof desc - 1);
    assert_true(v.version_major >= 1);
    if (!is_real()) {
        assert_int_equal(v.name_len, strlen(TP_KMS_DRIVER));
        assert_memory_equal(name, TP_KMS_DRIVER, v.name_len);
    }
}

static void every_open_says_the_same_version(void **state)
{
    (void)state;
    struct file *other = card_open_user();
    struct drm_version a = {0}, b = {0};
    assert_ok(drm(card, DRM_IOCTL_VERSION, &a));
    assert_ok(drm(other, DRM_IOCTL_VERSION, &b));
    assert_int_equal(a.version_major, b.version_major);
    assert_int_equal(a.name_len, b.name_len);
    assert_int_equal(a.desc_len, b.desc_len);
}

static void lengths_are_told_without_buffers(void **state)
{
    (void)state;
    struct drm_version v = {0};
    assert_ok(drm(card, DRM_IOCTL_VERSION, &v));
    assert_true(v.name_len > 0 && v.date_len > 0 && v.desc_len > 0);
    assert_null(v.name);
}

static void a_short_buffer_is_filled_and_the_whole_length_told(void **state)
{
    (void)state;
    struct drm_version whole = {0};
    assert_ok(drm(card, DRM_IOCTL_VERSION, &whole));
    char name[4] = {'#', '#', '#', '#'};
    struct drm_version v = {.name = name, .name_len = 3};
    assert_ok(drm(card, DRM_IOCTL_VERSION, &v));
    assert_int_equal(v.name_len, whole.name_len);
    assert_int_equal(name[3], '#');
    assert_int_not_equal(name[0], '#');
}

static void set_version_tells_interface_1_4(void **state)
{
    (void)state;
    struct drm_set_version v = {-1, -1, -1, -1};
    assert_ok(drm(card, DRM_IOCTL_SET_VERSION, &v));
    assert_int_equal(v.drm_di_major, 1);
    assert_int_equal(v.drm_di_minor, 4);
    v = (struct drm_set_version){2, 0, -1, -1};
    assert_errno(drm(card, DRM_IOCTL_SET_VERSION, &v), EINVAL);
    v = (struct drm_set_version){1, 5, -1, -1};
    assert_errno(drm(card, DRM_IOCTL_SET_VERSION, &v), EINVAL);
    v = (struct drm_set_version){-1, -1, 99, 0};
    assert_errno(drm(card, DRM_IOCTL_SET_VERSION, &v), EINVAL);
    assert_int_not_equal(v.drm_dd_major, 99); /* told all the same */
    struct file *other = card_open();
    v = (struct drm_set_version){-1, -1, -1, -1};
    assert_errno(drm(other, DRM_IOCTL_SET_VERSION, &v), EACCES);
}

static void capabilities_are_those_of_a_full_kms_driver(void **state)
{
    (void)state;
    static const struct {
        uint64_t cap, value;
        bool vkms; /* has this value there, too */
    } caps[] = {
        {DRM_CAP_DUMB_BUFFER, 1, true},
        {DRM_CAP_VBLANK_HIGH_CRTC, 1, true},
        {DRM_CAP_TIMESTAMP_MONOTONIC, 1, true},
        {DRM_CAP_ADDFB2_MODIFIERS, 1, true},
        {DRM_CAP_CRTC_IN_VBLANK_EVENT, 1, true},
        {DRM_CAP_PRIME, DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT, true},
        {DRM_CAP_PAGE_FLIP_TARGET, 0, true},
        {DRM_CAP_SYNCOBJ, 1, false},
        {DRM_CAP_SYNCOBJ_TIMELINE, 1, false},
        {DRM_CAP_ASYNC_PAGE_FLIP, 1, false},
        {DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP, 1, false},
        {DRM_CAP_CURSOR_WIDTH, 64, false},
        {DRM_CAP_CURSOR_HEIGHT, 64, false},
    };
    for (unsigned i = 0; i < COUNT(caps); i++) {
        uint64_t value = 99;
        if (is_real() && !caps[i].vkms)
            continue;
        assert_ok(get_cap(card, caps[i].cap, &value));
        if (value != caps[i].value)
            fail_msg("capability %#x: %d, not %d", (int)caps[i].cap, (int)value,
                     (int)caps[i].value);
    }
    uint64_t value;
    assert_ok(get_cap(card, DRM_CAP_DUMB_PREFERRED_DEPTH, &value));
    assert_ok(get_cap(card, DRM_CAP_DUMB_PREFER_SHADOW, &value));
}

static void an_unknown_capability_is_refused(void **state)
{
    (void)state;
    uint64_t value;
    assert_errno(get_cap(card, 0, &value), EINVAL);
    assert_errno(get_cap(card, 0xffff, &value), EINVAL);
}

static void client_capabilities_take_their_own_values(void **state)
{
    (void)state;
    struct file *f = card_open();
    assert_errno(set_client_cap(f, DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, 1), EINVAL);
    static const struct {
        uint64_t cap, most;
    } caps[] = {{DRM_CLIENT_CAP_STEREO_3D, 1}, {DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1},
                {DRM_CLIENT_CAP_ASPECT_RATIO, 1}, {DRM_CLIENT_CAP_ATOMIC, 2},
                {DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, 1}};
    for (unsigned i = 0; i < COUNT(caps); i++) {
        assert_errno(set_client_cap(f, caps[i].cap, caps[i].most + 1), EINVAL);
        assert_ok(set_client_cap(f, caps[i].cap, 0));
        for (uint64_t v = 1; v <= caps[i].most; v++)
            assert_ok(set_client_cap(f, caps[i].cap, v));
    }
    assert_errno(set_client_cap(f, 77, 1), EINVAL);
    assert_errno(set_client_cap(f, 0, 0), EINVAL);
}

static void the_cursor_hotspot_capability_is_for_virtual_machines(void **state)
{
    (void)state;
    /* Without DRIVER_CURSOR_HOTSPOT (drm_setclientcap). */
    assert_errno(set_client_cap(card, DRM_CLIENT_CAP_CURSOR_PLANE_HOTSPOT, 1), EOPNOTSUPP);
}

static void universal_planes_show_primary_and_cursor(void **state)
{
    (void)state;
    struct file *f = card_open();
    struct lineup plain, all;
    get_lineup(f, &plain);
    assert_ok(set_client_cap(f, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1));
    get_lineup(f, &all);
    assert_true(all.n_planes > plain.n_planes);
    assert_ok(set_client_cap(f, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 0));
    get_lineup(f, &all);
    assert_int_equal(all.n_planes, plain.n_planes);
    assert_ok(set_client_cap(f, DRM_CLIENT_CAP_ATOMIC, 1));
    get_lineup(f, &all);
    assert_true(all.n_planes > plain.n_planes);
}

static void unknown_ioctls_are_refused(void **state)
{
    (void)state;
    uint32_t arg[32] = {0};
    /* Numbers that drm_ioctls[] leaves empty, and one that is a driver's. */
    assert_errno(drm(card, DRM_IOW(0x0f, uint32_t), arg), EINVAL);
    assert_errno(drm(card, DRM_IOWR(0x41, uint32_t), arg), EINVAL);
}

static void get_client_says_its_own_process(void **state)
{
    (void)state;
    struct drm_client c = {.idx = 0};
    assert_ok(drm(card, DRM_IOCTL_GET_CLIENT, &c));
    assert_int_equal(c.auth, 1);
    c = (struct drm_client){.idx = 1};
    assert_errno(drm(card, DRM_IOCTL_GET_CLIENT, &c), EINVAL);
}

static void the_bus_id_may_be_asked_for(void **state)
{
    (void)state;
    char unique[64];
    struct drm_unique u = {.unique = unique, .unique_len = sizeof unique};
    assert_ok(drm(card, DRM_IOCTL_GET_UNIQUE, &u));
    assert_in_range(u.unique_len, 0, sizeof unique);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(a_version_has_a_name_a_date_and_a_description),
        test(every_open_says_the_same_version),
        test(lengths_are_told_without_buffers),
        test(a_short_buffer_is_filled_and_the_whole_length_told),
        test(set_version_tells_interface_1_4),
        test(capabilities_are_those_of_a_full_kms_driver),
        test(an_unknown_capability_is_refused),
        test(client_capabilities_take_their_own_values),
        test(the_cursor_hotspot_capability_is_for_virtual_machines),
        test(universal_planes_show_primary_and_cursor),
        test(unknown_ioctls_are_refused),
        test(get_client_says_its_own_process),
        test(the_bus_id_may_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
