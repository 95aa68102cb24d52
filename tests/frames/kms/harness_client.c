/* What clients do with a card, by its ioctls alone. */
#include <stdlib.h>

#include "harness.h"

int set_client_cap(struct file *f, uint64_t cap, uint64_t value)
{
    struct drm_set_client_cap arg = {cap, value};
    return drm(f, DRM_IOCTL_SET_CLIENT_CAP, &arg);
}

int get_cap(struct file *f, uint64_t cap, uint64_t *value)
{
    struct drm_get_cap arg = {.capability = cap};
    int r = drm(f, DRM_IOCTL_GET_CAP, &arg);
    *value = arg.value;
    return r;
}

void get_lineup(struct file *f, struct lineup *l)
{
    struct drm_mode_card_res res = {
        .crtc_id_ptr = PTR(l->crtcs),
        .connector_id_ptr = PTR(l->connectors),
        .encoder_id_ptr = PTR(l->encoders),
        .count_crtcs = COUNT(l->crtcs),
        .count_connectors = COUNT(l->connectors),
        .count_encoders = COUNT(l->encoders),
    };
    assert_ok(drm(f, DRM_IOCTL_MODE_GETRESOURCES, &res));
    assert_in_range(res.count_crtcs, 1, COUNT(l->crtcs));
    assert_in_range(res.count_connectors, 1, COUNT(l->connectors));
    assert_in_range(res.count_encoders, 1, COUNT(l->encoders));
    l->n_crtcs = res.count_crtcs;
    l->n_connectors = res.count_connectors;
    l->n_encoders = res.count_encoders;
    struct drm_mode_get_plane_res planes = {.plane_id_ptr = PTR(l->planes),
                                            .count_planes = COUNT(l->planes)};
    assert_ok(drm(f, DRM_IOCTL_MODE_GETPLANERESOURCES, &planes));
    assert_in_range(planes.count_planes, 0, COUNT(l->planes));
    l->n_planes = planes.count_planes;
}

static void find_planes(struct file *f, const struct lineup *l, struct output *o)
{
    for (unsigned i = 0; i < l->n_planes; i++) {
        struct drm_mode_get_plane p;
        assert_ok(get_plane(f, l->planes[i], &p));
        if (!(p.possible_crtcs & 1u << o->index))
            continue;
        uint64_t type;
        assert_true(get_property(f, p.plane_id, DRM_MODE_OBJECT_PLANE, "type", NULL, &type));
        /* DRM_PLANE_TYPE_*: xf86drmMode.h */
        uint32_t *slot = type == 1 ? &o->primary : type == 2 ? &o->cursor : &o->overlay;
        if (*slot == 0)
            *slot = p.plane_id;
    }
}

bool find_output(struct file *f, unsigned n, struct output *o)
{
    struct lineup l;
    get_lineup(f, &l);
    for (unsigned i = 0; i < l.n_connectors; i++) {
        memset(o, 0, sizeof *o);
        uint32_t encoders[8];
        struct drm_mode_modeinfo modes[64];
        struct drm_mode_get_connector c = {.connector_id = l.connectors[i],
                                           .modes_ptr = PTR(modes),
                                           .count_modes = COUNT(modes),
                                           .encoders_ptr = PTR(encoders),
                                           .count_encoders = COUNT(encoders)};
        assert_ok(drm(f, DRM_IOCTL_MODE_GETCONNECTOR, &c));
        if (c.connection != 1 || n-- > 0) /* DRM_MODE_CONNECTED */
            continue;
        assert_in_range(c.count_modes, 1, COUNT(modes));
        o->n_modes = c.count_modes < COUNT(o->modes) ? c.count_modes : COUNT(o->modes);
        memcpy(o->modes, modes, o->n_modes * sizeof *modes);
        o->connector = c.connector_id;
        o->encoder = encoders[0];
        struct drm_mode_get_encoder e = {.encoder_id = o->encoder};
        assert_ok(drm(f, DRM_IOCTL_MODE_GETENCODER, &e));
        /* The CRTCs that others have are theirs. */
        uint32_t mine = e.possible_crtcs;
        while (o->index < l.n_crtcs && !(mine & 1u << o->index))
            o->index++;
        assert_true(o->index < l.n_crtcs);
        o->crtc = l.crtcs[o->index];
        find_planes(f, &l, o);
        return true;
    }
    return false;
}

bool get_property(struct file *f, uint32_t object, uint32_t type, const char *name, uint32_t *id,
                  uint64_t *value)
{
    uint32_t ids[128];
    uint64_t values[128];
    struct drm_mode_obj_get_properties arg = {.obj_id = object,
                                              .obj_type = type,
                                              .props_ptr = PTR(ids),
                                              .prop_values_ptr = PTR(values),
                                              .count_props = COUNT(ids)};
    assert_ok(drm(f, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &arg));
    assert_in_range(arg.count_props, 0, COUNT(ids));
    for (unsigned i = 0; i < arg.count_props; i++) {
        struct drm_mode_get_property p = {.prop_id = ids[i]};
        assert_ok(drm(f, DRM_IOCTL_MODE_GETPROPERTY, &p));
        if (strncmp(p.name, name, sizeof p.name))
            continue;
        if (id)
            *id = ids[i];
        if (value)
            *value = values[i];
        return true;
    }
    return false;
}

static void must_have(struct file *f, uint32_t object, const char *name, uint32_t *id,
                      uint64_t *value)
{
    if (!get_property(f, object, DRM_MODE_OBJECT_ANY, name, id, value))
        fail_msg("object %u has no property %s", object, name);
}

uint32_t property_id(struct file *f, uint32_t object, const char *name)
{
    uint32_t id = 0;
    must_have(f, object, name, &id, NULL);
    return id;
}

uint64_t property_value(struct file *f, uint32_t object, const char *name)
{
    uint64_t value = 0;
    must_have(f, object, name, NULL, &value);
    return value;
}

int set_property(struct file *f, uint32_t object, uint32_t type, const char *name, uint64_t value)
{
    struct drm_mode_obj_set_property arg = {.value = value,
                                            .prop_id = property_id(f, object, name),
                                            .obj_id = object,
                                            .obj_type = type};
    return drm(f, DRM_IOCTL_MODE_OBJ_SETPROPERTY, &arg);
}

void *read_blob(struct file *f, uint32_t id, uint32_t *length)
{
    struct drm_mode_get_blob arg = {.blob_id = id};
    assert_ok(drm(f, DRM_IOCTL_MODE_GETPROPBLOB, &arg));
    void *data = test_calloc(1, arg.length + 1);
    arg.data = PTR(data);
    assert_ok(drm(f, DRM_IOCTL_MODE_GETPROPBLOB, &arg));
    *length = arg.length;
    return data;
}

uint32_t create_blob(struct file *f, const void *data, uint32_t length)
{
    struct drm_mode_create_blob arg = {.data = PTR(data), .length = length};
    assert_ok(drm(f, DRM_IOCTL_MODE_CREATEPROPBLOB, &arg));
    assert_int_not_equal(arg.blob_id, 0);
    return arg.blob_id;
}

int destroy_blob(struct file *f, uint32_t id)
{
    struct drm_mode_destroy_blob arg = {id};
    return drm(f, DRM_IOCTL_MODE_DESTROYPROPBLOB, &arg);
}

struct drm_mode_create_dumb create_dumb(struct file *f, uint32_t width, uint32_t height,
                                        uint32_t bpp)
{
    struct drm_mode_create_dumb arg = {.width = width, .height = height, .bpp = bpp};
    assert_ok(drm(f, DRM_IOCTL_MODE_CREATE_DUMB, &arg));
    assert_int_not_equal(arg.handle, 0);
    return arg;
}

int close_handle(struct file *f, uint32_t handle)
{
    struct drm_gem_close arg = {.handle = handle};
    return drm(f, DRM_IOCTL_GEM_CLOSE, &arg);
}

uint32_t fb_of(struct file *f, uint32_t width, uint32_t height, uint32_t fourcc)
{
    uint32_t bpp = fourcc == DRM_FORMAT_RGB565 ? 16 : 32;
    struct drm_mode_create_dumb b = create_dumb(f, width, height, bpp);
    struct drm_mode_fb_cmd2 arg = {.width = width,
                                   .height = height,
                                   .pixel_format = fourcc,
                                   .handles = {b.handle},
                                   .pitches = {b.pitch}};
    assert_ok(drm(f, DRM_IOCTL_MODE_ADDFB2, &arg));
    assert_ok(close_handle(f, b.handle));
    assert_int_not_equal(arg.fb_id, 0);
    return arg.fb_id;
}

int remove_fb(struct file *f, uint32_t id)
{
    return drm(f, DRM_IOCTL_MODE_RMFB, &id);
}

void add(struct request *r, struct file *f, uint32_t object, const char *property, uint64_t value)
{
    assert_true(r->n < COUNT(r->objects));
    r->objects[r->n] = object;
    r->counts[r->n] = 1;
    r->properties[r->n] = property_id(f, object, property);
    r->values[r->n++] = value;
}

void add_plane(struct request *r, struct file *f, uint32_t plane, uint32_t crtc, uint32_t fb,
               int32_t x, int32_t y, uint32_t width, uint32_t height)
{
    add(r, f, plane, "FB_ID", fb);
    add(r, f, plane, "CRTC_ID", crtc);
    add(r, f, plane, "SRC_X", 0);
    add(r, f, plane, "SRC_Y", 0);
    add(r, f, plane, "SRC_W", (uint64_t)width << 16);
    add(r, f, plane, "SRC_H", (uint64_t)height << 16);
    add(r, f, plane, "CRTC_X", (uint64_t)(int64_t)x);
    add(r, f, plane, "CRTC_Y", (uint64_t)(int64_t)y);
    add(r, f, plane, "CRTC_W", width);
    add(r, f, plane, "CRTC_H", height);
}

struct drm_mode_atomic atomic_arg(struct request *r, uint32_t flags, uint64_t user_data)
{
    return (struct drm_mode_atomic){.flags = flags,
                                    .count_objs = r->n,
                                    .objs_ptr = PTR(r->objects),
                                    .count_props_ptr = PTR(r->counts),
                                    .props_ptr = PTR(r->properties),
                                    .prop_values_ptr = PTR(r->values),
                                    .user_data = user_data};
}

int commit(struct file *f, struct request *r, uint32_t flags, uint64_t user_data)
{
    struct drm_mode_atomic arg = atomic_arg(r, flags, user_data);
    return drm(f, DRM_IOCTL_MODE_ATOMIC, &arg);
}

uint32_t light_up(struct file *f, const struct output *o, unsigned mode)
{
    const struct drm_mode_modeinfo *m = &o->modes[mode];
    uint32_t fb = fb_of(f, m->hdisplay, m->vdisplay, DRM_FORMAT_XRGB8888);
    uint32_t blob = create_blob(f, m, sizeof *m);
    struct request r = {0};
    add(&r, f, o->connector, "CRTC_ID", o->crtc);
    add(&r, f, o->crtc, "MODE_ID", blob);
    add(&r, f, o->crtc, "ACTIVE", 1);
    add_plane(&r, f, o->primary, o->crtc, fb, 0, 0, m->hdisplay, m->vdisplay);
    assert_ok(commit(f, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    assert_ok(destroy_blob(f, blob));
    return fb;
}

int switch_off(struct file *f, const struct output *o)
{
    struct request r = {0};
    add(&r, f, o->connector, "CRTC_ID", 0);
    add(&r, f, o->crtc, "MODE_ID", 0);
    add(&r, f, o->crtc, "ACTIVE", 0);
    const uint32_t planes[] = {o->primary, o->cursor, o->overlay};
    for (unsigned i = 0; i < COUNT(planes); i++)
        if (planes[i]) {
            add(&r, f, planes[i], "FB_ID", 0);
            add(&r, f, planes[i], "CRTC_ID", 0);
        }
    return commit(f, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0);
}

int page_flip(struct file *f, uint32_t crtc, uint32_t fb, uint32_t flags, uint64_t user_data)
{
    struct drm_mode_crtc_page_flip arg = {.crtc_id = crtc, .fb_id = fb, .flags = flags,
                                          .user_data = user_data};
    return drm(f, DRM_IOCTL_MODE_PAGE_FLIP, &arg);
}

int set_crtc(struct file *f, uint32_t crtc, uint32_t fb, uint32_t x, uint32_t y,
             const uint32_t *connectors, uint32_t n, const struct drm_mode_modeinfo *mode)
{
    struct drm_mode_crtc arg = {.set_connectors_ptr = PTR(connectors), .count_connectors = n,
                                .crtc_id = crtc, .fb_id = fb, .x = x, .y = y};
    if (mode) {
        arg.mode = *mode;
        arg.mode_valid = 1;
    }
    return drm(f, DRM_IOCTL_MODE_SETCRTC, &arg);
}

int get_crtc(struct file *f, uint32_t crtc, struct drm_mode_crtc *out)
{
    *out = (struct drm_mode_crtc){.crtc_id = crtc};
    return drm(f, DRM_IOCTL_MODE_GETCRTC, out);
}

int get_plane(struct file *f, uint32_t plane, struct drm_mode_get_plane *out)
{
    *out = (struct drm_mode_get_plane){.plane_id = plane};
    return drm(f, DRM_IOCTL_MODE_GETPLANE, out);
}

uint32_t refresh_mhz(const struct drm_mode_modeinfo *m)
{
    /* As wlroots and weston: clock (kHz) * 1000000 / htotal / vtotal, rounded. */
    uint64_t total = (uint64_t)m->htotal * m->vtotal;
    uint64_t mhz = ((uint64_t)m->clock * 1000000 + total / 2) / total;
    if (m->flags & DRM_MODE_FLAG_INTERLACE)
        mhz *= 2;
    if (m->flags & DRM_MODE_FLAG_DBLSCAN)
        mhz /= 2;
    return (uint32_t)mhz;
}
