/* Blobs (drm_property.c; IGT's kms_prop_blob). */
#include "harness.h"

static const struct drm_mode_modeinfo mode = {
    .clock = 25175,
    .hdisplay = 640,
    .hsync_start = 656,
    .hsync_end = 752,
    .htotal = 800,
    .vdisplay = 480,
    .vsync_start = 490,
    .vsync_end = 492,
    .vtotal = 525,
    .vrefresh = 60,
    .name = "a mode",
};

static uint32_t make(struct file *f)
{
    return create_blob(f, &mode, sizeof mode);
}

/* 0: it is there, and is the mode. */
static int look(struct file *f, uint32_t id)
{
    struct drm_mode_get_blob get = {.blob_id = id};
    int r = drm(f, DRM_IOCTL_MODE_GETPROPBLOB, &get);
    if (r < 0)
        return r;
    assert_int_equal(get.length, sizeof mode);
    struct drm_mode_modeinfo read;
    get.data = PTR(&read);
    r = drm(f, DRM_IOCTL_MODE_GETPROPBLOB, &get);
    assert_memory_equal(&read, &mode, sizeof mode);
    return r;
}

static void one_is_made_and_destroyed(void **state)
{
    (void)state;
    assert_ok(destroy_blob(card, make(card)));
}

static void one_is_read_as_it_was_written(void **state)
{
    (void)state;
    uint32_t id = make(card);
    assert_ok(look(card, id));
    assert_ok(destroy_blob(card, id));
}

static void ids_that_are_none_are_not_found(void **state)
{
    (void)state;
    assert_errno(look(card, 0), ENOENT);
    assert_errno(look(card, UINT32_MAX), ENOENT);
    assert_errno(destroy_blob(card, 0), ENOENT);
    assert_errno(destroy_blob(card, UINT32_MAX), ENOENT);
    struct lineup l;
    get_lineup(card, &l);
    assert_errno(look(card, l.crtcs[0]), ENOENT);
    assert_errno(destroy_blob(card, l.crtcs[0]), ENOENT);
}

static void an_empty_one_is_refused(void **state)
{
    (void)state;
    struct drm_mode_create_blob c = {.data = PTR(&mode), .length = 0};
    assert_errno(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &c), EINVAL);
}

static void no_address_is_a_fault(void **state)
{
    (void)state;
    struct drm_mode_create_blob c = {.length = sizeof mode};
    assert_errno(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &c), EFAULT);
    struct drm_mode_get_blob get = {.blob_id = make(card), .length = sizeof mode};
    assert_errno(drm(card, DRM_IOCTL_MODE_GETPROPBLOB, &get), EFAULT);
}

/* Only a kernel can look before it reads. */
static void a_bad_address_is_a_fault(void **state)
{
    (void)state;
    if (!is_kernels())
        skip();
    struct drm_mode_create_blob c = {.data = 0xdeadbee0, .length = sizeof mode};
    assert_errno(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &c), EFAULT);
}

static void a_wrong_length_is_corrected_and_nothing_is_read(void **state)
{
    (void)state;
    uint8_t room[sizeof mode + 8];
    static const uint32_t lengths[] = {1, sizeof mode - 1, sizeof mode + 1, sizeof mode + 8};
    uint32_t id = make(card);
    for (unsigned i = 0; i < COUNT(lengths); i++) {
        memset(room, 0xa5, sizeof room);
        struct drm_mode_get_blob get = {.blob_id = id, .length = lengths[i], .data = PTR(room)};
        assert_ok(drm(card, DRM_IOCTL_MODE_GETPROPBLOB, &get));
        assert_int_equal(get.length, sizeof mode);
        for (unsigned j = 0; j < sizeof room; j++)
            assert_int_equal(room[j], 0xa5);
    }
}

static void everyone_reads_but_only_its_maker_destroys(void **state)
{
    (void)state;
    struct file *other = card_open();
    uint32_t id = make(card);
    assert_ok(look(other, id));
    assert_errno(destroy_blob(other, id), EPERM);
    assert_ok(destroy_blob(card, id));
    assert_errno(look(other, id), ENOENT);
    assert_errno(look(card, id), ENOENT);
    assert_errno(destroy_blob(card, id), ENOENT);
}

static void one_goes_with_its_file(void **state)
{
    (void)state;
    struct file *other = card_open();
    uint32_t id = make(other);
    assert_ok(look(card, id));
    card_close(other);
    assert_errno(look(card, id), ENOENT);
}

static void several_are_destroyed_one_by_one(void **state)
{
    (void)state;
    uint32_t ids[5];
    struct file *other = card_open();
    for (unsigned i = 0; i < 5; i++) {
        ids[i] = make(other);
        assert_ok(look(card, ids[i]));
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(ids[i], ids[j]);
    }
    for (unsigned i = 0; i < 5; i++) {
        assert_ok(destroy_blob(other, ids[i]));
        assert_errno(look(other, ids[i]), ENOENT);
    }
}

static void several_go_with_their_file(void **state)
{
    (void)state;
    uint32_t ids[5];
    struct file *other = card_open();
    for (unsigned i = 0; i < 5; i++)
        ids[i] = make(other);
    card_close(other);
    for (unsigned i = 0; i < 5; i++)
        assert_errno(look(card, ids[i]), ENOENT);
}

static void one_in_use_outlives_its_name(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0); /* destroys the blob of its mode */
    uint64_t id = property_value(card, o.crtc, "MODE_ID");
    assert_int_not_equal(id, 0);
    struct drm_mode_get_blob get = {.blob_id = (uint32_t)id};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPROPBLOB, &get));
    assert_int_equal(get.length, sizeof mode);
    assert_ok(switch_off(card, &o));
    tick(o.index);
    assert_errno(drm(card, DRM_IOCTL_MODE_GETPROPBLOB, &get), ENOENT);
}

static void get_properties_of(uint32_t type)
{
    uint32_t id;
    uint64_t value;
    struct drm_mode_obj_get_properties get = {.props_ptr = PTR(&id),
                                              .prop_values_ptr = PTR(&value),
                                              .count_props = 1,
                                              .obj_id = make(card),
                                              .obj_type = type};
    assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get), EINVAL);
}

static void set_property_of(uint32_t type)
{
    struct drm_mode_obj_set_property set = {.prop_id = 1, .obj_id = make(card), .obj_type = type};
    assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set), EINVAL);
}

static void one_has_no_properties_to_get(void **state)
{
    (void)state;
    get_properties_of(DRM_MODE_OBJECT_BLOB);
}

static void one_has_no_properties_to_get_as_any_object(void **state)
{
    (void)state;
    get_properties_of(DRM_MODE_OBJECT_ANY);
}

static void one_has_no_properties_to_set(void **state)
{
    (void)state;
    set_property_of(DRM_MODE_OBJECT_BLOB);
}

static void one_has_no_properties_to_set_as_any_object(void **state)
{
    (void)state;
    set_property_of(DRM_MODE_OBJECT_ANY);
}

static void sixty_four_kibibytes_go_through(void **state)
{
    (void)state;
    enum { N = 64 << 10 };
    uint8_t *data = test_malloc(N);
    for (unsigned i = 0; i < N; i++)
        data[i] = (uint8_t)(i * 7 ^ i >> 8);
    uint32_t id = create_blob(card, data, N), length;
    uint8_t *read = read_blob(card, id, &length);
    assert_int_equal(length, N);
    assert_memory_equal(read, data, N);
    test_free(read);
    test_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(one_is_made_and_destroyed),
        test(one_is_read_as_it_was_written),
        test(ids_that_are_none_are_not_found),
        test(an_empty_one_is_refused),
        test(no_address_is_a_fault),
        test(a_bad_address_is_a_fault),
        test(a_wrong_length_is_corrected_and_nothing_is_read),
        test(everyone_reads_but_only_its_maker_destroys),
        test(one_goes_with_its_file),
        test(several_are_destroyed_one_by_one),
        test(several_go_with_their_file),
        test(one_in_use_outlives_its_name),
        test(one_has_no_properties_to_get),
        test(one_has_no_properties_to_get_as_any_object),
        test(one_has_no_properties_to_set),
        test(one_has_no_properties_to_set_as_any_object),
        test(sixty_four_kibibytes_go_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
