/* Properties, one by one and of each object (drm_property.c, drm_mode_object.c; IGT's
 * kms_properties). */
#include <stdio.h>

#include "harness.h"

struct property {
    struct drm_mode_get_property info;
    uint64_t values[64];
    struct drm_mode_property_enum enums[64];
};

static void read_property(struct file *f, uint32_t id, struct property *p)
{
    memset(p, 0x5c, sizeof *p);
    p->info = (struct drm_mode_get_property){.prop_id = id};
    assert_ok(drm(f, DRM_IOCTL_MODE_GETPROPERTY, &p->info));
    assert_true(p->info.count_values <= 64 && p->info.count_enum_blobs <= 64);
    p->info.values_ptr = PTR(p->values);
    p->info.enum_blob_ptr = PTR(p->enums);
    assert_ok(drm(f, DRM_IOCTL_MODE_GETPROPERTY, &p->info));
    for (unsigned i = 0; i < p->info.count_values; i++)
        assert_true(p->values[i] != UINT64_C(0x5c5c5c5c5c5c5c5c));
    for (unsigned i = 0; i < p->info.count_enum_blobs; i++)
        assert_true(p->enums[i].value != UINT64_C(0x5c5c5c5c5c5c5c5c));
}

/* The kernel's documentation says of these that they are immutable: Documentation/gpu/drm-kms.rst.
 * */
static bool must_be_immutable(const char *name)
{
    static const char *const names[] = {
        "EDID", "PATH", "TILE", "WRITEBACK_PIXEL_FORMATS", "non-desktop", "panel orientation",
        "privacy-screen hw-state", "subconnector", "suggested X", "suggested Y", "vrr_capable",
        "DEGAMMA_LUT_SIZE", "GAMMA_LUT_SIZE", "IN_FORMATS", "IN_FORMATS_ASYNC", "SIZE_HINTS",
        "type",
    };
    for (unsigned i = 0; i < COUNT(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static void check_enums(const struct property *p)
{
    assert_true(p->info.count_values >= 1);
    assert_int_equal(p->info.count_enum_blobs, p->info.count_values);
    for (unsigned i = 0; i < p->info.count_values; i++) {
        size_t n = strnlen(p->enums[i].name, sizeof p->enums[i].name);
        assert_in_range(n, 1, sizeof p->enums[i].name - 1);
        assert_true(p->values[i] == p->enums[i].value);
    }
}

static void check_value(struct file *f, const struct property *p, uint64_t value)
{
    uint64_t mask = 0;
    unsigned i;
    switch (p->info.flags & (DRM_MODE_PROP_LEGACY_TYPE | DRM_MODE_PROP_EXTENDED_TYPE)) {
    case DRM_MODE_PROP_RANGE:
        assert_int_equal(p->info.count_values, 2);
        assert_int_equal(p->info.count_enum_blobs, 0);
        assert_true(p->values[0] <= value && value <= p->values[1]);
        break;
    case DRM_MODE_PROP_SIGNED_RANGE:
        assert_int_equal(p->info.count_values, 2);
        assert_int_equal(p->info.count_enum_blobs, 0);
        assert_true((int64_t)p->values[0] <= (int64_t)value &&
                    (int64_t)value <= (int64_t)p->values[1]);
        break;
    case DRM_MODE_PROP_ENUM:
        check_enums(p);
        for (i = 0; i < p->info.count_values && p->values[i] != value; i++)
            ;
        assert_true(i < p->info.count_values);
        break;
    case DRM_MODE_PROP_BITMASK:
        check_enums(p);
        for (i = 0; i < p->info.count_values; i++) {
            assert_true(p->values[i] <= 63);
            mask |= UINT64_C(1) << p->values[i];
        }
        assert_true((value & ~mask) == 0 && value != 0);
        break;
    case DRM_MODE_PROP_BLOB:
        assert_int_equal(p->info.count_values | p->info.count_enum_blobs, 0);
        if (value) {
            struct drm_mode_get_blob get = {.blob_id = (uint32_t)value};
            assert_ok(drm(f, DRM_IOCTL_MODE_GETPROPBLOB, &get));
        }
        break;
    case DRM_MODE_PROP_OBJECT:
        assert_int_equal(p->info.count_values, 1);
        assert_int_equal(p->info.count_enum_blobs, 0);
        assert_true(value <= UINT32_MAX);
        assert_true(p->values[0] == DRM_MODE_OBJECT_CRTC || p->values[0] == DRM_MODE_OBJECT_FB);
        struct drm_mode_crtc crtc;
        struct drm_mode_fb_cmd2 fb = {.fb_id = (uint32_t)value};
        if (value && p->values[0] == DRM_MODE_OBJECT_CRTC)
            assert_ok(get_crtc(f, (uint32_t)value, &crtc));
        else if (value)
            assert_ok(drm(f, DRM_IOCTL_MODE_GETFB2, &fb));
        for (i = 0; i < 4; i++)
            if (value && p->values[0] == DRM_MODE_OBJECT_FB && fb.handles[i])
                close_handle(f, fb.handles[i]);
        break;
    default:
        fail_msg("%s has flags %#x", p->info.name, p->info.flags);
    }
}

static unsigned get_properties(struct file *f, uint32_t object, uint32_t type, uint32_t *ids,
                               uint64_t *values, unsigned room)
{
    struct drm_mode_obj_get_properties get = {.obj_id = object, .obj_type = type};
    assert_ok(drm(f, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get));
    assert_true(get.count_props <= room);
    uint32_t n = get.count_props;
    get.props_ptr = PTR(ids);
    get.prop_values_ptr = PTR(values);
    assert_ok(drm(f, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get));
    assert_int_equal(get.count_props, n);
    return n;
}

static void check_object(struct file *f, uint32_t object, uint32_t type, bool atomic)
{
    uint32_t ids[64];
    uint64_t values[64];
    unsigned n = get_properties(f, object, type, ids, values, 64);
    for (unsigned i = 0; i < n; i++) {
        struct property p;
        read_property(f, ids[i], &p);
        uint32_t flags = p.info.flags;
        uint32_t known = DRM_MODE_PROP_LEGACY_TYPE | DRM_MODE_PROP_EXTENDED_TYPE |
                         DRM_MODE_PROP_IMMUTABLE | DRM_MODE_PROP_ATOMIC;
        assert_int_equal(flags & ~known, 0);
        assert_true(atomic || !(flags & DRM_MODE_PROP_ATOMIC));
        bool immutable = flags & DRM_MODE_PROP_IMMUTABLE;
        if (must_be_immutable(p.info.name))
            assert_true(immutable);
        else if (immutable && strcmp(p.info.name, "zpos"))
            fail_msg("%s is immutable", p.info.name);
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(ids[i], ids[j]);
        check_value(f, &p, values[i]);
    }
}

static void check_all(struct file *f, bool atomic)
{
    struct lineup l;
    get_lineup(f, &l);
    for (unsigned i = 0; i < l.n_planes; i++)
        check_object(f, l.planes[i], DRM_MODE_OBJECT_PLANE, atomic);
    for (unsigned i = 0; i < l.n_crtcs; i++)
        check_object(f, l.crtcs[i], DRM_MODE_OBJECT_CRTC, atomic);
    for (unsigned i = 0; i < l.n_connectors; i++)
        check_object(f, l.connectors[i], DRM_MODE_OBJECT_CONNECTOR, atomic);
    for (unsigned i = 0; i < l.n_encoders; i++) {
        struct drm_mode_obj_get_properties get = {.obj_id = l.encoders[i],
                                                  .obj_type = DRM_MODE_OBJECT_ENCODER};
        assert_errno(drm(f, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get), EINVAL);
    }
}

static void every_property_is_sane_for_an_atomic_client(void **state)
{
    (void)state;
    check_all(card, true);
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    check_all(card, true);
}

static void every_property_is_sane_for_a_legacy_client(void **state)
{
    (void)state;
    struct file *f = card_open();
    assert_ok(set_client_cap(f, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1));
    check_all(f, false);
}

static bool settable(const struct property *p, uint32_t type, bool atomic)
{
    if (p->info.flags & DRM_MODE_PROP_IMMUTABLE)
        return false;
    return !(atomic && type == DRM_MODE_OBJECT_CONNECTOR && !strcmp(p->info.name, "DPMS"));
}

/* Each property takes the value that it has. */
static void set_what_is(uint32_t object, uint32_t type, bool atomic)
{
    uint32_t ids[64];
    uint64_t values[64];
    unsigned n = get_properties(card, object, type, ids, values, 64);
    struct request r = {0};
    for (unsigned i = 0; i < n; i++) {
        struct property p;
        read_property(card, ids[i], &p);
        if (!settable(&p, type, atomic))
            continue;
        if (!atomic) {
            struct drm_mode_obj_set_property set = {values[i], ids[i], object, type};
            int got = drm(card, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set);
            if (got)
                fail_msg("%s of %u does not take %#llx: %d", p.info.name, object,
                         (unsigned long long)values[i], got);
            continue;
        }
        r.objects[r.n] = object;
        r.counts[r.n] = 1;
        r.properties[r.n] = ids[i];
        r.values[r.n++] = values[i];
        int got = commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0);
        if (got)
            fail_msg("%s of %u does not take %#llx: %d", p.info.name, object,
                     (unsigned long long)values[i], got);
    }
    if (atomic)
        assert_ok(commit(card, &r, 0, 0));
}

static void set_of_outputs(uint32_t type, bool atomic)
{
    struct output o;
    for (unsigned i = 0; find_output(card, i, &o); i++) {
        light_up(card, &o, 0);
        const uint32_t planes[] = {o.primary, o.cursor, o.overlay};
        if (type == DRM_MODE_OBJECT_CRTC)
            set_what_is(o.crtc, type, atomic);
        else if (type == DRM_MODE_OBJECT_CONNECTOR)
            set_what_is(o.connector, type, atomic);
        else
            for (unsigned j = 0; j < COUNT(planes); j++)
                if (planes[j])
                    set_what_is(planes[j], type, atomic);
    }
}

static void plane_properties_are_set_by_legacy_calls(void **state)
{
    (void)state;
    set_of_outputs(DRM_MODE_OBJECT_PLANE, false);
}

static void plane_properties_are_set_atomically(void **state)
{
    (void)state;
    set_of_outputs(DRM_MODE_OBJECT_PLANE, true);
}

static void crtc_properties_are_set_by_legacy_calls(void **state)
{
    (void)state;
    set_of_outputs(DRM_MODE_OBJECT_CRTC, false);
}

static void crtc_properties_are_set_atomically(void **state)
{
    (void)state;
    set_of_outputs(DRM_MODE_OBJECT_CRTC, true);
}

static void connector_properties_are_set_by_legacy_calls(void **state)
{
    (void)state;
    set_of_outputs(DRM_MODE_OBJECT_CONNECTOR, false);
}

static void connector_properties_are_set_atomically(void **state)
{
    (void)state;
    set_of_outputs(DRM_MODE_OBJECT_CONNECTOR, true);
}

static void the_old_connector_call_sets_too(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    struct drm_mode_connector_set_property set = {
        .value = 0, .prop_id = property_id(card, o.connector, "DPMS"), .connector_id = o.connector};
    assert_ok(drm(card, DRM_IOCTL_MODE_SETPROPERTY, &set));
    set.prop_id = 0xffffff;
    assert_errno(drm(card, DRM_IOCTL_MODE_SETPROPERTY, &set), EINVAL);
    set.connector_id = o.crtc;
    assert_errno(drm(card, DRM_IOCTL_MODE_SETPROPERTY, &set), ENOENT);
}

/* Properties of one kind of object are not taken by another. */
static void foreign_properties(bool atomic)
{
    struct lineup l;
    get_lineup(card, &l);
    struct {
        uint32_t id, type;
    } objects[80];
    unsigned n = 0;
    for (unsigned i = 0; i < l.n_crtcs; i++)
        objects[n].id = l.crtcs[i], objects[n++].type = DRM_MODE_OBJECT_CRTC;
    for (unsigned i = 0; i < l.n_connectors; i++)
        objects[n].id = l.connectors[i], objects[n++].type = DRM_MODE_OBJECT_CONNECTOR;
    for (unsigned i = 0; i < l.n_planes; i++)
        objects[n].id = l.planes[i], objects[n++].type = DRM_MODE_OBJECT_PLANE;
    for (unsigned a = 0; a < n; a++) {
        uint32_t mine[64], theirs[64];
        uint64_t values[64];
        unsigned n_mine = get_properties(card, objects[a].id, objects[a].type, mine, values, 64);
        for (unsigned b = 0; b < n; b++) {
            unsigned n_theirs =
                get_properties(card, objects[b].id, objects[b].type, theirs, values, 64);
            for (unsigned i = 0; i < n_theirs; i++) {
                bool found = false;
                for (unsigned j = 0; j < n_mine; j++)
                    found |= mine[j] == theirs[i];
                if (found)
                    continue;
                struct drm_mode_obj_set_property set = {values[i], theirs[i], objects[a].id,
                                                        objects[a].type};
                struct request r = {.objects = {objects[a].id}, .counts = {1},
                                    .properties = {theirs[i]}, .values = {values[i]}, .n = 1};
                if (atomic)
                    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0), ENOENT);
                else
                    assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set), EINVAL);
            }
        }
    }
}

static void foreign_properties_are_refused_by_legacy_calls(void **state)
{
    (void)state;
    foreign_properties(false);
}

static void foreign_properties_are_refused_atomically(void **state)
{
    (void)state;
    foreign_properties(true);
}

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    const struct {
        uint32_t object, type;
    } objects[] = {{o.primary, DRM_MODE_OBJECT_PLANE}, {o.crtc, DRM_MODE_OBJECT_CRTC},
                   {o.connector, DRM_MODE_OBJECT_CONNECTOR}};
    for (unsigned i = 0; i < COUNT(objects); i++) {
        uint32_t ids[64];
        uint64_t values[64];
        unsigned n = get_properties(card, objects[i].object, objects[i].type, ids, values, 64);
        for (unsigned j = 0; j < n; j++) {
            struct property p;
            read_property(card, ids[j], &p);
            uint64_t bad;
            switch (p.info.flags & (DRM_MODE_PROP_LEGACY_TYPE | DRM_MODE_PROP_EXTENDED_TYPE)) {
            case DRM_MODE_PROP_RANGE:
                if (p.values[1] == UINT64_MAX)
                    continue;
                bad = p.values[1] + 1;
                break;
            case DRM_MODE_PROP_SIGNED_RANGE:
                bad = p.values[0] - 1;
                break;
            case DRM_MODE_PROP_BITMASK:
                bad = UINT64_C(1) << 40;
                break;
            default:
                bad = 0xfffffff0; /* neither an enum's value, nor an object's id */
            }
            if (!strcmp(p.info.name, "DPMS"))
                continue; /* any value that is not ON is OFF: drm_atomic_connector_commit_dpms */
            struct drm_mode_obj_set_property set = {bad, ids[j], objects[i].object,
                                                    objects[i].type};
            int got = drm(card, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set);
            if (got != -EINVAL)
                fail_msg("%s takes %#llx: %d", p.info.name, (unsigned long long)bad, got);
        }
    }
}

static void immutable_properties_are_not_set(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    assert_errno(set_property(card, o.primary, DRM_MODE_OBJECT_PLANE, "type", 1), EINVAL);
    struct request r = {0};
    add(&r, card, o.primary, "type", 1);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), EINVAL);
}

/* drm_plane_create_zpos_immutable_property: compositors that find room between its ends set it. */
static void a_planes_level_is_the_only_one_that_it_has(void **state)
{
    struct lineup l;
    (void)state;
    get_lineup(card, &l);
    for (unsigned i = 0; i < l.n_planes; i++) {
        struct property p;
        uint32_t id;
        uint64_t value, type;
        assert_true(get_property(card, l.planes[i], DRM_MODE_OBJECT_PLANE, "type", NULL, &type));
        bool has = get_property(card, l.planes[i], DRM_MODE_OBJECT_PLANE, "zpos", &id, &value);
        if (!has && is_kernels())
            skip(); /* not every driver has levels */
        assert_true(has);
        read_property(card, id, &p);
        assert_true(p.info.flags & DRM_MODE_PROP_IMMUTABLE);
        assert_int_equal(p.values[0], value);
        assert_int_equal(p.values[1], value);
        assert_true(type == 1 ? value == 0 : value > 0);
    }
}

static void ids_that_are_none_are_not_found(void **state)
{
    (void)state;
    struct lineup l;
    get_lineup(card, &l);
    struct drm_mode_get_property get = {.prop_id = 0};
    assert_errno(drm(card, DRM_IOCTL_MODE_GETPROPERTY, &get), ENOENT);
    get.prop_id = l.crtcs[0];
    assert_errno(drm(card, DRM_IOCTL_MODE_GETPROPERTY, &get), ENOENT);
    struct drm_mode_obj_get_properties all = {.obj_id = 0xffffff};
    assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &all), ENOENT);
    all = (struct drm_mode_obj_get_properties){.obj_id = l.crtcs[0],
                                               .obj_type = DRM_MODE_OBJECT_PLANE};
    assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &all), ENOENT);
    struct drm_mode_obj_set_property set = {.prop_id = 1, .obj_id = l.crtcs[0],
                                            .obj_type = DRM_MODE_OBJECT_PLANE};
    assert_errno(drm(card, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set), ENOENT);
}

static void short_arrays_are_filled_as_far_as_they_go(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t all[64], ids[64];
    uint64_t values[64];
    unsigned n = get_properties(card, o.primary, DRM_MODE_OBJECT_PLANE, all, values, 64);
    memset(ids, 0x77, sizeof ids);
    struct drm_mode_obj_get_properties get = {.obj_id = o.primary,
                                              .props_ptr = PTR(ids),
                                              .prop_values_ptr = PTR(values),
                                              .count_props = 2};
    assert_ok(drm(card, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get));
    assert_int_equal(get.count_props, n);
    assert_int_equal(ids[0], all[0]);
    assert_int_equal(ids[1], all[1]);
    assert_int_equal(ids[2], 0x77777777);
}

static void atomic_properties_are_hidden_from_legacy_clients(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    struct file *f = card_open();
    assert_ok(set_client_cap(f, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1));
    assert_false(get_property(f, o.primary, DRM_MODE_OBJECT_PLANE, "FB_ID", NULL, NULL));
    assert_false(get_property(f, o.crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", NULL, NULL));
    assert_true(get_property(f, o.primary, DRM_MODE_OBJECT_PLANE, "type", NULL, NULL));
    assert_true(get_property(f, o.connector, DRM_MODE_OBJECT_CONNECTOR, "DPMS", NULL, NULL));
    assert_ok(set_client_cap(f, DRM_CLIENT_CAP_ATOMIC, 1));
    assert_true(get_property(f, o.primary, DRM_MODE_OBJECT_PLANE, "FB_ID", NULL, NULL));
}

static void the_connector_call_lists_the_same_properties(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t a[64], b[64];
    uint64_t va[64], vb[64];
    struct drm_mode_modeinfo modes[64];
    unsigned n = get_properties(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, a, va, 64);
    struct drm_mode_get_connector c = {.connector_id = o.connector,
                                       .props_ptr = PTR(b),
                                       .prop_values_ptr = PTR(vb),
                                       .count_props = 64,
                                       .modes_ptr = PTR(modes),
                                       .count_modes = 64};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &c));
    assert_int_equal(c.count_props, n);
    assert_memory_equal(a, b, n * sizeof *a);
    assert_memory_equal(va, vb, n * sizeof *va);
}

static void dpms_is_not_set_atomically(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    struct request r = {0};
    add(&r, card, o.connector, "DPMS", 0);
    assert_errno(commit(card, &r, DRM_MODE_ATOMIC_TEST_ONLY, 0), EINVAL);
}

/* "Never downgrade from GOOD to BAD on userspace's request": silently. */
static void a_good_link_is_not_made_bad(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    assert_int_equal(property_value(card, o.connector, "link-status"), 0);
    assert_ok(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "link-status", 1));
    assert_int_equal(property_value(card, o.connector, "link-status"), 0);
    assert_errno(set_property(card, o.connector, DRM_MODE_OBJECT_CONNECTOR, "link-status", 2),
                 EINVAL);
}

/* What the kernel's clients look for on a card that they may use (drm_mode_config.c, drm_plane.c).
 * */
static void the_properties_of_compositors_are_there(void **state)
{
    (void)state;
    static const char *const plane[] = {"type",   "FB_ID",  "IN_FENCE_FD", "CRTC_ID", "CRTC_X",
                                        "CRTC_Y", "CRTC_W", "CRTC_H",      "SRC_X",   "SRC_Y",
                                        "SRC_W",  "SRC_H",  "rotation",    "IN_FORMATS"};
    static const char *const crtc[] = {"ACTIVE", "MODE_ID", "OUT_FENCE_PTR", "VRR_ENABLED",
                                       "GAMMA_LUT", "GAMMA_LUT_SIZE"};
    static const char *const connector[] = {"EDID", "DPMS", "link-status", "non-desktop", "TILE",
                                            "CRTC_ID"};
    struct output o;
    assert_true(find_output(card, 0, &o));
    for (unsigned i = 0; i < COUNT(plane); i++)
        if (!(is_real() && !strcmp(plane[i], "IN_FORMATS")))
            property_id(card, o.primary, plane[i]);
    for (unsigned i = 0; i < COUNT(crtc); i++)
        property_id(card, o.crtc, crtc[i]);
    for (unsigned i = 0; i < COUNT(connector); i++)
        if (!(is_kernels() && !strcmp(connector[i], "EDID"))) /* a driver without a real screen */
            property_id(card, o.connector, connector[i]);
    static const char *const ours[] = {"alpha", "pixel blend mode", "FB_DAMAGE_CLIPS"};
    for (unsigned i = 0; !is_real() && i < COUNT(ours); i++)
        property_id(card, o.primary, ours[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(every_property_is_sane_for_an_atomic_client),
        test(every_property_is_sane_for_a_legacy_client),
        test(plane_properties_are_set_by_legacy_calls),
        test(plane_properties_are_set_atomically),
        test(crtc_properties_are_set_by_legacy_calls),
        test(crtc_properties_are_set_atomically),
        test(connector_properties_are_set_by_legacy_calls),
        test(connector_properties_are_set_atomically),
        test(the_old_connector_call_sets_too),
        test(foreign_properties_are_refused_by_legacy_calls),
        test(foreign_properties_are_refused_atomically),
        test(values_out_of_range_are_refused),
        test(immutable_properties_are_not_set),
        test(a_planes_level_is_the_only_one_that_it_has),
        test(ids_that_are_none_are_not_found),
        test(short_arrays_are_filled_as_far_as_they_go),
        test(atomic_properties_are_hidden_from_legacy_clients),
        test(the_connector_call_lists_the_same_properties),
        test(dpms_is_not_set_atomically),
        test(a_good_link_is_not_made_bad),
        test(the_properties_of_compositors_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
