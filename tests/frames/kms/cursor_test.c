/* Cursors, rotation, and what planes say that they take (drm_plane.c, drm_blend.c). */
#include "harness.h"

static struct output o;
static uint32_t cursor_size;

static int setup_lit(void **state)
{
    setup_card(state);
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    uint64_t size;
    assert_ok(get_cap(card, DRM_CAP_CURSOR_WIDTH, &size));
    cursor_size = (uint32_t)size;
    return 0;
}

#define needs_cursor()                                                                             \
    do {                                                                                           \
        if (!o.cursor)                                                                             \
            skip();                                                                                \
    } while (0)

static int set_cursor(uint32_t flags, uint32_t handle, int32_t x, int32_t y)
{
    struct drm_mode_cursor c = {.flags = flags, .crtc_id = o.crtc, .x = x, .y = y,
                                .width = cursor_size, .height = cursor_size, .handle = handle};
    return drm(card, DRM_IOCTL_MODE_CURSOR, &c);
}

static int32_t signed_property(uint32_t object, const char *name)
{
    return (int32_t)(int64_t)property_value(card, object, name);
}

static void a_cursor_goes_on_and_off_atomically(void **state)
{
    (void)state;
    needs_cursor();
    uint32_t fb = fb_of(card, cursor_size, cursor_size, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.cursor, o.crtc, fb, 100, 50, cursor_size, cursor_size);
    assert_ok(commit(card, &r, 0, 0));
    assert_int_equal(property_value(card, o.cursor, "FB_ID"), fb);
    assert_int_equal(signed_property(o.cursor, "CRTC_X"), 100);
    if (!is_real()) {
        assert_int_equal(shown(o.index)->n_layers, 2);
        assert_int_equal(shown(o.index)->layers[1].kind, TP_KMS_CURSOR);
    }
    r.n = 0;
    add(&r, card, o.cursor, "FB_ID", 0);
    add(&r, card, o.cursor, "CRTC_ID", 0);
    assert_ok(commit(card, &r, 0, 0));
    assert_int_equal(property_value(card, o.cursor, "FB_ID"), 0);
}

static void the_old_call_shows_moves_and_hides(void **state)
{
    (void)state;
    needs_cursor();
    uint32_t handle = create_dumb(card, cursor_size, cursor_size, 32).handle;
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO | DRM_MODE_CURSOR_MOVE, handle, 30, 40));
    assert_int_not_equal(property_value(card, o.cursor, "FB_ID"), 0);
    assert_int_equal(property_value(card, o.cursor, "CRTC_ID"), o.crtc);
    assert_int_equal(signed_property(o.cursor, "CRTC_X"), 30);
    assert_int_equal(property_value(card, o.cursor, "CRTC_W"), cursor_size);
    assert_ok(set_cursor(DRM_MODE_CURSOR_MOVE, 0, -7, -9));
    assert_int_equal(signed_property(o.cursor, "CRTC_X"), -7);
    assert_int_equal(signed_property(o.cursor, "CRTC_Y"), -9);
    assert_int_not_equal(property_value(card, o.cursor, "FB_ID"), 0);
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0));
    assert_int_equal(property_value(card, o.cursor, "FB_ID"), 0);
    assert_int_equal(property_value(card, o.cursor, "CRTC_ID"), 0);
}

static void a_hidden_cursor_remembers_where_it_moved(void **state)
{
    (void)state;
    needs_cursor();
    uint32_t handle = create_dumb(card, cursor_size, cursor_size, 32).handle;
    assert_ok(set_cursor(DRM_MODE_CURSOR_MOVE, 0, 11, 22));
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, handle, 0, 0));
    assert_int_equal(signed_property(o.cursor, "CRTC_X"), 11);
    assert_int_equal(signed_property(o.cursor, "CRTC_Y"), 22);
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0));
}

static void the_cursors_handle_may_be_closed(void **state)
{
    (void)state;
    needs_cursor();
    uint32_t handle = create_dumb(card, cursor_size, cursor_size, 32).handle;
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, handle, 0, 0));
    assert_ok(close_handle(card, handle));
    assert_ok(set_cursor(DRM_MODE_CURSOR_MOVE, 0, 5, 5));
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0));
}

static void moves_do_not_wait_and_do_not_keep_flips_waiting(void **state)
{
    (void)state;
    needs_cursor();
    uint32_t handle = create_dumb(card, cursor_size, cursor_size, 32).handle;
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, handle, 0, 0));
    tick(o.index);
    uint32_t fb = (uint32_t)property_value(card, o.primary, "FB_ID");
    assert_ok(page_flip(card, o.crtc, fb, DRM_MODE_PAGE_FLIP_EVENT, 1));
    struct drm_mode_cursor moves[4];
    for (int i = 0; i < 4; i++) {
        moves[i] = (struct drm_mode_cursor){.flags = DRM_MODE_CURSOR_MOVE, .crtc_id = o.crtc,
                                            .x = i, .y = i};
        struct pending *p = drm_start(card, DRM_IOCTL_MODE_CURSOR, &moves[i]);
        if (!is_real())
            assert_true(drm_done(p)); /* "Legacy cursor updates are fully unsynced." */
        assert_ok(drm_wait(p));
    }
    tick(o.index);
    struct drm_event_vblank e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_ok(page_flip(card, o.crtc, fb, DRM_MODE_PAGE_FLIP_EVENT, 2));
    tick(o.index);
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_int_equal(signed_property(o.cursor, "CRTC_X"), 3);
    if (!is_real()) {
        const struct tp_kms_scanout *s = shown(o.index);
        assert_int_equal(s->layers[s->n_layers - 1].x, 3);
    }
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0));
}

static void the_old_call_refuses_what_is_wrong(void **state)
{
    (void)state;
    needs_cursor();
    assert_errno(set_cursor(0, 0, 0, 0), EINVAL);
    assert_errno(set_cursor(4, 0, 0, 0), EINVAL);
    assert_errno(set_cursor(DRM_MODE_CURSOR_BO, 0x7fff1234, 0, 0), ENOENT);
    struct drm_mode_cursor c = {.flags = DRM_MODE_CURSOR_MOVE, .crtc_id = 0x7fff0000};
    assert_errno(drm(card, DRM_IOCTL_MODE_CURSOR, &c), ENOENT);
    uint32_t small = create_dumb(card, 8, 8, 32).handle;
    assert_errno(set_cursor(DRM_MODE_CURSOR_BO, small, 0, 0), EINVAL);
}

static void a_cursor_is_not_scaled_and_has_formats_of_its_own(void **state)
{
    (void)state;
    needs_cursor();
    uint32_t fb = fb_of(card, cursor_size, cursor_size, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.cursor, o.crtc, fb, 0, 0, cursor_size, cursor_size);
    add(&r, card, o.cursor, "CRTC_W", cursor_size * 2);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), ERANGE); /* drm_rect_calc_hscale */
    if (is_real())
        return;
    uint32_t other = fb_of(card, cursor_size, cursor_size, DRM_FORMAT_RGB565);
    r.n = 0;
    add_plane(&r, card, o.cursor, o.crtc, other, 0, 0, cursor_size, cursor_size);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), EINVAL);
}

static void the_newer_call_has_a_hot_spot(void **state)
{
    (void)state;
    needs_cursor();
    struct drm_mode_cursor2 c = {.flags = DRM_MODE_CURSOR_BO | DRM_MODE_CURSOR_MOVE,
                                 .crtc_id = o.crtc,
                                 .x = 8,
                                 .y = 9,
                                 .width = cursor_size,
                                 .height = cursor_size,
                                 .handle = create_dumb(card, cursor_size, cursor_size, 32).handle,
                                 .hot_x = 3,
                                 .hot_y = 4};
    assert_ok(drm(card, DRM_IOCTL_MODE_CURSOR2, &c));
    assert_int_equal(signed_property(o.cursor, "CRTC_X"), 8);
    assert_ok(set_cursor(DRM_MODE_CURSOR_BO, 0, 0, 0));
}

static int rotate(uint64_t value, uint32_t flags)
{
    struct request r = {0};
    add(&r, card, o.primary, "rotation", value);
    return commit(card, &r, flags, 0);
}

static uint64_t rotations(void)
{
    uint64_t values[16], mask = 0;
    struct drm_mode_property_enum enums[16];
    struct drm_mode_get_property p = {.prop_id = property_id(card, o.primary, "rotation"),
                                      .values_ptr = PTR(values),
                                      .count_values = 16,
                                      .enum_blob_ptr = PTR(enums),
                                      .count_enum_blobs = 16};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPROPERTY, &p));
    for (unsigned i = 0; i < p.count_values; i++)
        mask |= UINT64_C(1) << values[i];
    return mask;
}

static void rotation_starts_upright(void **state)
{
    (void)state;
    assert_int_equal(property_value(card, o.primary, "rotation"), DRM_MODE_ROTATE_0);
    assert_true(rotations() & DRM_MODE_ROTATE_0);
    if (!is_real())
        assert_int_equal(shown(o.index)->layers[0].rotation, DRM_MODE_ROTATE_0);
}

static void every_rotation_that_is_offered_is_taken(void **state)
{
    (void)state;
    uint64_t offered = rotations();
    for (unsigned bit = 0; bit < 6; bit++) {
        uint64_t value = UINT64_C(1) << bit;
        if (!(offered & value))
            continue;
        /* A mirror goes with an angle. */
        if (!(value & DRM_MODE_ROTATE_MASK))
            value |= DRM_MODE_ROTATE_0;
        /* A quarter turn needs a source of the other shape, or scaling: drm_rect_rotate. */
        if (value & (DRM_MODE_ROTATE_90 | DRM_MODE_ROTATE_270))
            continue;
        assert_ok(rotate(value, 0));
        assert_int_equal(property_value(card, o.primary, "rotation"), value);
        if (!is_real())
            assert_int_equal(shown(o.index)->layers[0].rotation, value);
    }
}

static void a_quarter_turn_shows_a_picture_of_the_other_shape(void **state)
{
    (void)state;
    if (!(rotations() & DRM_MODE_ROTATE_90))
        skip();
    uint32_t w = o.modes[0].hdisplay, h = o.modes[0].vdisplay;
    uint32_t fb = fb_of(card, h, w, DRM_FORMAT_XRGB8888);
    struct request r = {0};
    add(&r, card, o.primary, "FB_ID", fb);
    add(&r, card, o.primary, "SRC_W", (uint64_t)h << 16);
    add(&r, card, o.primary, "SRC_H", (uint64_t)w << 16);
    add(&r, card, o.primary, "rotation", DRM_MODE_ROTATE_90);
    assert_ok(commit(card, &r, 0, 0));
    assert_int_equal(property_value(card, o.primary, "rotation"), DRM_MODE_ROTATE_90);
}

static void one_angle_at_a_time(void **state)
{
    (void)state;
    assert_errno(rotate(0, DRM_MODE_ATOMIC_TEST_ONLY), EINVAL);
    assert_errno(rotate(DRM_MODE_ROTATE_0 | DRM_MODE_ROTATE_180, DRM_MODE_ATOMIC_TEST_ONLY),
                 EINVAL);
    assert_errno(rotate(DRM_MODE_REFLECT_X, DRM_MODE_ATOMIC_TEST_ONLY), EINVAL);
    assert_errno(rotate(1u << 9, DRM_MODE_ATOMIC_TEST_ONLY), EINVAL);
}

/* struct drm_format_modifier_blob, as drm_mode.h lays it down. */
static void in_formats_lists_every_pair(void **state)
{
    (void)state;
    if (!get_property(card, o.primary, DRM_MODE_OBJECT_PLANE, "IN_FORMATS", NULL, NULL))
        skip();
    uint32_t length;
    uint8_t *blob = read_blob(card, (uint32_t)property_value(card, o.primary, "IN_FORMATS"),
                              &length);
    struct drm_format_modifier_blob head;
    assert_true(length >= sizeof head);
    memcpy(&head, blob, sizeof head);
    assert_int_equal(head.version, FORMAT_BLOB_CURRENT);
    assert_int_equal(head.flags, 0);
    assert_true(head.formats_offset % 4 == 0 && head.modifiers_offset % 8 == 0);
    assert_true(head.formats_offset + head.count_formats * 4u <= length);
    assert_true(head.modifiers_offset +
                    head.count_modifiers * sizeof(struct drm_format_modifier) <= length);
    assert_int_equal(head.modifiers_offset +
                         head.count_modifiers * sizeof(struct drm_format_modifier), length);

    /* The formats are GETPLANE's, in its order. */
    uint32_t formats[64], listed[64];
    struct drm_mode_get_plane p = {.plane_id = o.primary, .format_type_ptr = PTR(formats),
                                   .count_format_types = 64};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETPLANE, &p));
    assert_int_equal(head.count_formats, p.count_format_types);
    memcpy(listed, blob + head.formats_offset, head.count_formats * 4u);
    assert_memory_equal(listed, formats, head.count_formats * 4u);

    unsigned pairs = 0;
    for (unsigned i = 0; i < head.count_modifiers; i++) {
        struct drm_format_modifier m;
        memcpy(&m, blob + head.modifiers_offset + i * sizeof m, sizeof m);
        assert_int_equal(m.pad, 0);
        assert_true(m.modifier != DRM_FORMAT_MOD_INVALID);
        for (unsigned bit = 0; bit < 64; bit++) {
            if (!(m.formats & UINT64_C(1) << bit))
                continue;
            assert_true(m.offset + bit < head.count_formats);
            pairs++;
            bool known = is_real();
            struct tp_kms_config c = usual_config();
            for (size_t j = 0; j < c.n_formats; j++)
                known |= c.formats[j].fourcc == listed[m.offset + bit] &&
                         c.formats[j].modifier == m.modifier;
            assert_true(known);
        }
    }
    if (!is_real())
        assert_int_equal(pairs, usual_config().n_formats);
    test_free(blob);
}

static void every_plane_says_its_type(void **state)
{
    (void)state;
    assert_int_equal(property_value(card, o.primary, "type"), 1);
    if (o.cursor)
        assert_int_equal(property_value(card, o.cursor, "type"), 2);
    if (o.overlay)
        assert_int_equal(property_value(card, o.overlay, "type"), 0);
}

static void layers_are_given_bottom_first(void **state)
{
    (void)state;
    only_ours();
    uint32_t over = fb_of(card, 64, 64, DRM_FORMAT_ARGB8888);
    uint32_t pointer = fb_of(card, cursor_size, cursor_size, DRM_FORMAT_ARGB8888);
    struct request r = {0};
    add_plane(&r, card, o.cursor, o.crtc, pointer, 0, 0, cursor_size, cursor_size);
    add_plane(&r, card, o.overlay, o.crtc, over, 0, 0, 64, 64);
    assert_ok(commit(card, &r, 0, 0));
    const struct tp_kms_scanout *s = shown(o.index);
    assert_int_equal(s->n_layers, 3);
    assert_int_equal(s->layers[0].kind, TP_KMS_PRIMARY);
    assert_int_equal(s->layers[1].kind, TP_KMS_OVERLAY);
    assert_int_equal(s->layers[2].kind, TP_KMS_CURSOR);
}

#define lit(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_card)

int main(void)
{
    const struct CMUnitTest tests[] = {
        lit(a_cursor_goes_on_and_off_atomically),
        lit(the_old_call_shows_moves_and_hides),
        lit(a_hidden_cursor_remembers_where_it_moved),
        lit(the_cursors_handle_may_be_closed),
        lit(moves_do_not_wait_and_do_not_keep_flips_waiting),
        lit(the_old_call_refuses_what_is_wrong),
        lit(a_cursor_is_not_scaled_and_has_formats_of_its_own),
        lit(the_newer_call_has_a_hot_spot),
        lit(rotation_starts_upright),
        lit(every_rotation_that_is_offered_is_taken),
        lit(a_quarter_turn_shows_a_picture_of_the_other_shape),
        lit(one_angle_at_a_time),
        lit(in_formats_lists_every_pair),
        lit(every_plane_says_its_type),
        lit(layers_are_given_bottom_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
